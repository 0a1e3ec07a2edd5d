"""Nothing is left out: every operation has a derivative, a value, and a lowering on each target, or is listed."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

import matcalc as mc
from matcalc.expressions import Expression, Names
from matcalc.paths import data_folder
from matcalc.plan.entries import load
from matcalc.plan.own import targets
from matcalc.rulebook import default_rulebook
from matcalc.verification.rule_point import points

BOOK = default_rulebook()
PRIMITIVE = [rule for rule in BOOK.rules.values() if rule.kind != "definition"]
LOWERED = load(data_folder("codegen"))
LISTED = tomllib.loads((Path(__file__).parent / "not_lowered.toml").read_text(encoding="utf-8"))["numba"]


def has_entry(rule, target):
    kernels = LOWERED.operations.get(rule.name, ())
    scalars = [s for key, s in LOWERED.scalars.items() if key.split()[0] == rule.name]
    if rule.name in LOWERED.becomes or rule.name in LOWERED.expands or rule.kind == "implicit":
        return True
    return any(target in entry.templates for entry in (*kernels, *scalars))


@pytest.mark.parametrize("rule", PRIMITIVE, ids=lambda rule: rule.name)
def test_every_operation_has_a_derivative_and_a_value(rule):
    assert rule.values
    if rule.opaque is not None:
        assert len(rule.opaque) > 10, "the reason"
    elif rule.kind == "map":
        operands = [p.name for p in rule.parameters if p.kind == "entry"]
        assert {*rule.derivative, *rule.opaque_in} == set(operands)
    else:
        assert set(rule.differentials) == set(rule.outputs) or rule.implicit is not None


def test_what_has_no_lowering_is_listed():
    missing = [rule.name for rule in PRIMITIVE if not has_entry(rule, "numba")]
    by_value = {rule.name for rule in PRIMITIVE if "numba" in targets(rule, BOOK)}
    assert sorted(LISTED["by_value"]) == sorted(n for n in missing if n in by_value)
    assert sorted(LISTED["refused"]) == sorted(n for n in missing if n not in by_value)
    assert all(has_entry(rule, "numpy") or "numpy" in targets(rule, BOOK) for rule in PRIMITIVE)


@pytest.mark.parametrize("name", [*LISTED["by_value"], *LISTED["refused"]])
def test_listed_operations_run_on_numpy_and_else_are_named(name):
    rule = BOOK.get(name)
    at = next(points(BOOK, rule, 1, {}), None) or next(points(BOOK, rule, 1, {}, [(4,)]))
    names = Names(dict(at.symbols), tuple(at.symbols))
    nodes = [Expression(node, names) for node in at.nodes().values()]
    function = mc.compile(nodes, target="numpy")
    found = function(**{n: at.data[n] for n in function.args if n in at.data})
    for value, wanted in zip(found, at.value().values(), strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-12, atol=1e-12)
    if name in LISTED["refused"]:
        with pytest.raises(mc.NotSupported, match=name):
            mc.compile(nodes, target="numba")
