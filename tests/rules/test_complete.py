"""Every operation has a derivative, a value, and a lowering on each target."""

import pytest

from matcalc.compiler.lowering_entries import load
from matcalc.compiler.plan.value_kernel import targets
from matcalc.rulebook import default_rulebook
from matcalc.store.data_folders import data_folder

BOOK = default_rulebook()
PRIMITIVE = [rule for rule in BOOK.rules.values() if rule.kind != "definition"]
LOWERED = load(data_folder("codegen"))


def has_entry(rule, target):
    kernels = LOWERED.operations.get(rule.name, ())
    scalars = [s for key, s in LOWERED.scalars.items() if key.split()[0] == rule.name]
    if rule.name in {*LOWERED.becomes, *LOWERED.same, *LOWERED.expands} or rule.kind == "implicit":
        return True
    return any(target in entry.templates for entry in (*kernels, *scalars))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("rule", PRIMITIVE, ids=lambda rule: rule.name)
def test_every_operation_has_a_derivative_and_a_value(rule):
    assert rule.values
    if rule.opaque is not None:
        assert len(rule.opaque) > 10, "the reason"
    elif rule.kind == "map":
        operands = [p.name for p in rule.parameters if p.kind == "entry"]
        assert {*rule.derivative, *rule.opaque_in} == set(operands)
    elif rule.linear and rule.is_linear:
        assert not rule.differentials
    else:
        assert set(rule.differentials) == set(rule.outputs) or rule.implicit is not None


@pytest.mark.parametrize("target", ["numba", pytest.param("numpy", marks=pytest.mark.whole)])
def test_every_operation_has_a_lowering(target):
    """It is an entry in codegen/; NumPy uses the rule's value where there is none."""
    without = [rule for rule in PRIMITIVE if not has_entry(rule, target)]
    assert [rule.name for rule in without if target == "numba" or target not in targets(rule, BOOK)] == []
