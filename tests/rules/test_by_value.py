"""The derivative of an elementwise function by its value, against complex steps of the function itself."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.rulebook.load import default_rulebook

RULES = [rule for rule in default_rulebook().rules.values() if rule.by_value is not None]
VALUES = {"tanh": np.tanh, "sigmoid": lambda x: 1 / (1 + np.exp(-x))}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_derivative_by_value(rule):
    x = np.linspace(-3, 3, 13)
    slope = VALUES[rule.name](x + 1e-30j).imag / 1e-30
    found = mc.expression(rule.by_value, "Y: vector(n)")(Y=VALUES[rule.name](x))
    assert np.allclose(found, slope, rtol=1e-13)
