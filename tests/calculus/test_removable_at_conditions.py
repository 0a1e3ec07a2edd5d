"""Powers of functions with a removable singularity, at conditions and other operands that are exactly 0."""

import math

import numpy as np
import pytest

import matcalc as mc

FUNCTIONS = {
    "expm1c": (lambda t: math.expm1(t) / t),
    "log1pc": (lambda t: math.log1p(t) / t),
    "sinc1": (lambda t: math.sin(t) / t),
    "sinhc": (lambda t: math.sinh(t) / t),
}
OPERANDS = {
    "when(x <= y)": lambda x, y: float(x <= y),
    "when(x > y)": lambda x, y: float(x > y),
    "when(x == y)": lambda x, y: float(x == y),
    "relu(x - y)": lambda x, y: max(x - y, 0.0),
    "step(x - y)": lambda x, y: (np.sign(x - y) + 1) / 2,
    "x.*when(x > y)": lambda x, y: x * (x > y),
}
X, Y, Z = np.array([1.0, 2.0, 0.5]), np.array([2.0, 1.0, 0.5]), np.array([0.5, 0.7, -1.3])


@pytest.mark.parametrize("power", [1, 2, 3, 4])
@pytest.mark.parametrize("operand", OPERANDS)
@pytest.mark.sampled(28)
def test_value_and_gradient(operand, power):
    """A quotient that is printed for a power has the same limit as the power: `expm1(w)^2/w^2` is no `expm1(w)^2/w`."""
    for name, function in FUNCTIONS.items():
        e = mc.expression(f"sum({name}({operand}).^{power} .* z)", "x: vector(n); y: vector(n); z: vector(n)")
        at = [OPERANDS[operand](*pair) for pair in zip(X, Y, strict=True)]
        expected = np.array([1.0 if t == 0 else function(t) for t in at]) ** power
        gradient = e.gradient("z")
        read = mc.expression(str(gradient), e.declarations)
        compiled = mc.compile(gradient, target="numpy")
        for found in (gradient(x=X, y=Y, z=Z), read(x=X, y=Y), compiled(x=X, y=Y, z=Z)):
            assert np.allclose(found, expected, rtol=1e-14, atol=0), (name, str(gradient))
        assert abs(e(x=X, y=Y, z=Z) - expected @ Z) <= 1e-14
