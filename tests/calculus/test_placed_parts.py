"""Zeros around a part, as in `[x; 0; 0]`: steep functions of the whole have the derivatives of the part.

The expected values are complex steps of the gradient by hand of a power sum of the entries that are not 0.
"""

import itertools
import re

import numpy as np
import pytest

import matcalc as mc

X = np.array([1.0, -2.0, 0.5])
V = np.array([0.3, -1.0, 2.0])
K = np.array([3, 0, 4])
DECLARED = {
    "x": "x: vector(n)",
    "k": "k: index(n)",
    "p": "p: scalar positive",
}
WHOLES = {
    "[x; 0; 0]": np.eye(5)[:, :3],
    "[0; 0; x]": np.eye(5)[:, 2:],
    "[0; x; 0]": np.eye(5)[:, 1:4],
    "[x; zeros(2); x]": np.vstack([np.eye(3), np.zeros((2, 3)), np.eye(3)]),
    "[x; zeros(2)] + [2*x; zeros(2)]": 3 * np.eye(5)[:, :3],
    "[x; 0] + [0; 0; x[:-2]; 0]": np.eye(4)[:, :3] + np.eye(4)[:, [2]] @ np.eye(3)[[0]],
    "[x[1:]; 0] - [0; x[1:]]": np.eye(3, k=1) - np.vstack([np.zeros(3), np.eye(3)[1:]]),
    "flip([x; 0; 0])": np.eye(5)[::-1, :3],
    "diag(x)": np.eye(3),
    "vec([x, zeros(n)])": np.eye(3),
    "eye(5)[k, :]'*x": np.eye(5)[:, K],
    "eye(5)[:, k]*x": np.eye(5)[:, K],
}
FUNCTIONS = {
    "normp({w}, 1.7)": (1.7, lambda s: s ** (1 / 1.7 - 1) / 1.7),
    "normp({w}, p)": (1.5, lambda s: s ** (1 / 1.5 - 1) / 1.5),
    "sum(abs({w}).^1.7)": (1.7, lambda s: 1.0),
    "sum(abs({w}).^p)^2": (1.5, lambda s: 2 * s),
    "exp(-sum(abs({w}).^p))": (1.5, lambda s: -np.exp(-s)),
}
"""Formulas of s, the sum of powers of the entries: the power, and the derivative of the formula in s."""


def along(whole, function):
    """Return the derivative of the gradient in x along V."""
    power, slope = FUNCTIONS[function]
    rows = WHOLES[whole][np.any(WHOLES[whole], axis=1)]
    sign = np.sign(rows @ X)

    def gradient(x):
        entries = sign * (rows @ x)
        return slope(np.sum(entries**power)) * power * rows.T @ (sign * entries ** (power - 1))

    return np.imag(gradient(X + 1e-30j * V)) / 1e-30


@pytest.mark.sampled(60)
@pytest.mark.parametrize(("whole", "function"), list(itertools.product(WHOLES, FUNCTIONS)))
@pytest.mark.thinned(6)
def test_second_derivatives_of_steep_functions_beside_zeros(whole, function):
    text = function.format(w=f"({whole})")
    data = {"x": X, "k": K, "p": 1.5}
    used = [name for name in data if re.search(rf"\b{name}\b", text)]
    e = mc.expression(text, "; ".join(DECLARED[name] for name in used))
    data = {name: data[name] for name in used}
    expected = along(whole, function)
    product, hessian = e.hvp("x"), e.hessian("x")
    for call in (product, mc.compile(product), mc.compile(product, target="numpy")):
        np.testing.assert_allclose(call(**data, v=V), expected, rtol=1e-9, atol=1e-12, err_msg=text)
    np.testing.assert_allclose(hessian(**data) @ V, expected, rtol=1e-9, atol=1e-12, err_msg=text)
