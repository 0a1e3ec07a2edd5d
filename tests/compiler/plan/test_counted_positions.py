"""Positions along an axis are counted in one pass: `iota(n)` is the number of j below i."""

import numpy as np
import pytest

import matcalc as mc

FORMULAS = {
    "sum{i: i*x[i]}": lambda i, x: i @ x,
    "{i: (n - 1 - i)*x[i]}": lambda i, x: (len(x) - 1 - i) * x,
    "{i: (i + 1)^2*x[i]}": lambda i, x: (i + 1) ** 2 * x,
    "sum{i,j: x[i]*[i >= j]*ones(n)[j]}": lambda i, x: x @ (i + 1),
    "sum{i,j: x[j]*[i >= j]*ones(n)[i]}": lambda i, x: x @ (len(x) - i),
    "sum{i,j: x[j]*[i >= j + 1]*ones(n)[i]}": lambda i, x: x @ (len(x) - 1 - i),
    "sum{i,j: x[i]*[i >= j + 2]*ones(n)[j]}": lambda i, x: x @ np.maximum(i - 1, 0),
    "{i: x[i]*cos(i)}": lambda i, x: x * np.cos(i),
    "sum{i,j: rho^abs(i - j)*x[i]*x[j]}": lambda i, x: x @ 0.5 ** np.abs(i[:, None] - i) @ x,
}


@pytest.mark.sampled(9)
@pytest.mark.parametrize("target", ["numba", "numpy"])
@pytest.mark.parametrize("text", FORMULAS)
def test_positions(text, target):
    e = mc.expression(text, "x: vector(n); rho: scalar")
    fn = mc.compile(e, target=target)
    for n in (0, 1, 2, 5, 33):
        x = np.random.default_rng(n).standard_normal(n)
        data = {name: value for name, value in {"x": x, "rho": 0.5}.items() if name in e.symbols}
        np.testing.assert_allclose(fn(**data), FORMULAS[text](np.arange(float(n)), x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("text", ["sum{i: i*x[i]}", "{i: (i + 1)^2*x[i]}"])
def test_no_loop_over_pairs(text):
    """The entry that runs has no loop inside a loop; only the function that recomputes beside NaN may have one."""
    source = mc.compile(mc.expression(text, "x: vector(n)"), target="numba").source
    body = source[source.index("def f_into") :]
    assert "running_total(" in body
    assert "        for " not in body
