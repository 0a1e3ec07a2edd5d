"""A value whose complex step is wrong is found, unless its entry says that it is of real numbers only."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.evidence.numeric.sampling import generator
from matcalc.rulebook import default_rulebook
from matcalc.rulebook.oracle import reference

GRAM = {"differential": "dX'*X + X'*dX"}
SQUARE = {"differential": "dX*X + X*dX"}
VALUES = {
    "conjugate": ("matrix(m, n)", GRAM, "np.conj(X).T @ X"),
    "part": ("matrix(m, n)", GRAM, "X.real.T @ X"),
    "branch": ("matrix(n, n)", SQUARE, "X @ X if np.max(np.abs(X - X.T), initial=0) > 1e-9 else X @ np.conj(X)"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", VALUES)
def test_a_wrong_complex_step_is_found(name):
    kind, fields, value = VALUES[name]
    with pytest.raises(mc.RuleError, match=r"complex step of the value in .*X \(if it must be so: real = true\)"):
        mc.define(f"{name}_found(X: {kind}) -> matrix(n, n)", value, real=False, **fields)
    made = mc.define(f"{name}_real(X: {kind}) -> matrix(n, n)", value, **fields)
    assert made.report
    gradient = mc.gradient(f"sum({name}_real(X)*C)", "X", "X: matrix(n, n); C: matrix(n, n)")
    assert gradient.checked


def test_a_right_complex_step_passes():
    kind = "X: matrix(m, n)"
    assert mc.define(f"right_gram({kind}) -> matrix(n, n)", "X.T @ X", real=False, **GRAM).report


REAL = [rule for rule in default_rulebook().rules.values() if rule.real]


@pytest.mark.parametrize("rule", REAL, ids=lambda rule: rule.name)
def test_values_of_real_numbers_reject_complex_ones(rule):
    function = reference(default_rulebook(), rule)
    data = [generator(1).standard_normal((3, 3)) + 1e-30j for _ in rule.signature.parameters]
    with pytest.raises(TypeError, match="of real numbers only"):
        function(*data)
    assert np.isrealobj(data[0].real)
