"""Gradients of the smaller or larger of two branches that agree in a region, whatever rounds there.

Both branches of `min(r.*A, clip(r, lo, hi).*A)` are equal where r is between the bounds. The shares of the branches sum
to 1 only if both compare the same two numbers.
"""

import runpy

import numpy as np
import pytest
from random_branches import DECLARED, formula, slopes
from random_branches import data as points

import matcalc as mc

RATIOS = {
    "exp(x)./p": lambda x, p, q: (np.exp(x) / p, np.exp(x) / p),
    "exp(x - log(p))": lambda x, p, q: (np.exp(x) / p, np.exp(x) / p),
    "x.*p": lambda x, p, q: (x * p, p),
    "x.*p.*q": lambda x, p, q: (x * p * q, p * q),
    "x./p./q": lambda x, p, q: (x / p / q, 1 / p / q),
    "x.^2.*p./q": lambda x, p, q: (x**2 * p / q, 2 * x * p / q),
    "sinh(x).*p/3": lambda x, p, q: (np.sinh(x) * p / 3, np.cosh(x) * p / 3),
}
CLIPPED = ["clip(r, 1 - c, 1 + c)", "min(max(r, 1 - c), 1 + c)", "max(min(r, 1 + c), 1 - c)"]
LOSSES = [
    "min(r.*A, {}.*A)",
    "min(A.*r, A.*{})",
    "-max(-r.*A, -{}.*A)",
    "min({}.*A, r.*A)",
    "where(A > 0, min(r.*A, {}.*A), min(r.*A, {}.*A))",
]


def data(n):
    rng = np.random.default_rng(n)
    x, A = rng.standard_normal((2, n))
    p, q = rng.uniform(0.2, 2, (2, n))
    return {"x": x, "A": A, "p": p, "q": q, "c": 0.4}


def truth(x, A, p, q, c, ratio):
    r, slope = RATIOS[ratio](x, p, q)
    is_cut = np.where(A > 0, r > 1 + c, r < 1 - c)
    return np.where(is_cut, 0, A * slope)


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("clipped", CLIPPED)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.whole
@pytest.mark.thinned(4)
def test_gradient(ratio, clipped, loss):
    let = "x, A: vector(n); p, q: vector(n) positive; c: scalar positive"
    formula = f"sum({loss.replace('{}', clipped)}) where r = {ratio}"
    gradient = mc.gradient(formula, "x", let)
    given = {k: v for k, v in data(300).items() if k in map(str, gradient.symbols)}
    expected = truth(**data(300), ratio=ratio)
    for function in (gradient, mc.compile(gradient, target="numpy"), mc.compile(gradient)):
        assert np.allclose(function(**given), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.thinned(3)
def test_gradient_of_one_entry(ratio):
    let = "x, A: scalar; p, q, c: scalar positive"
    gradient = mc.gradient(f"min(r*A, clip(r, 1 - c, 1 + c)*A) where r = {ratio.replace('.', '')}", "x", let)
    every, names = data(40), set(map(str, gradient.symbols))
    found = [gradient(**{k: v if k == "c" else v[i] for k, v in every.items() if k in names}) for i in range(40)]
    assert np.allclose(found, truth(**every, ratio=ratio), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("part", [pytest.param(k, marks=[pytest.mark.long] if k > 4 else []) for k in range(200)])
@pytest.mark.whole
def test_random_branches(part):
    """Gradients at points without a kink, evaluated and compiled, against differences of the NumPy code."""
    for seed in range(15 * part, 15 * part + 15):
        text, python = formula(seed)
        given = points(seed)
        wanted, is_smooth, size = slopes(python, given)
        gradient = mc.gradient(f"sum({text})", "x", DECLARED)
        arguments = {k: v for k, v in given.items() if k in map(str, gradient.symbols)}
        ways = [gradient, mc.compile(gradient, target="numpy")] + [mc.compile(gradient)] * (seed % 15 == 0)
        for function in ways:
            wrong = is_smooth & (np.abs(function(**arguments) - wanted) > 2e-4 * size)
            assert not wrong.any(), (seed, text)


@pytest.mark.parametrize("seed", [93, 124, 134, 4013, 4330, 5995])
@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.sampled(12)
def test_saved_files(seed, target, tmp_path):
    text, python = formula(seed)
    given = points(seed)
    wanted, is_smooth, size = slopes(python, given)
    fn = mc.compile(mc.gradient(f"sum({text})", "x", DECLARED), target=target)
    fn.save(tmp_path / "saved.py")
    saved = runpy.run_path(str(tmp_path / "saved.py"))[fn.spec.name]
    found = saved(**{name: given[name] for name in fn.args})
    assert not (is_smooth & (np.abs(found - wanted) > 2e-4 * size)).any()
