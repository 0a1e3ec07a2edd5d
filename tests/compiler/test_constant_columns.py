"""Deviations of equal entries are exactly 0, and so are variance, standard deviation and their gradients.

The mean of 1448 entries 1.81 is not 1.81 in NumPy: `x - mean(x)` is rounding error, which the gradient of a norm
divides by itself.
"""

import runpy
from functools import partial
from itertools import product

import numpy as np
import pytest

import matcalc as mc

LENGTHS = [1, 2, 3, 7, 10, 49, 1000, 1448]
LEVELS = [1.81, -0.1, 1 / 3, 1e-300, 1e300, 0.0]
VECTORS = [
    "std(x)", "var(x)", "std(x, 1)", "norm2(x - mean(x))", "sqrt(sum((x - mean(x)).^2)/n)", "x - mean(x)",
    "x - sum(x)/n", "3*x/7 - 3*mean(x)/7", "sum(abs(x - mean(x)))", "tanh(x) - mean(tanh(x))",
    "tanh(x) - cos(x)/3 - mean(tanh(x) - cos(x)/3)", "std(sin(x) - atan(x) + 1/7)",
]  # fmt: skip
ROWS = {  # for a matrix: the axis along which entries are equal
    "X - ones(m)*mean(X, axis=0)'": (0,),
    "X - mean(X, axis=1)*ones(n)'": (1,),
    "X - mean(X)": (0, 1),
    "(X - ones(m)*mean(X, axis=0)')'*(X - ones(m)*mean(X, axis=0)')/(m - 1)": (0,),
    "var(X)": (0, 1),
    "std(X)": (0, 1),
    "std(sin(X) - 3*atan(X), axis=1)": (1,),
    "std(sin(X) - 3*atan(X), axis=0)": (0,),
}
WAYS = ("plain", "numba", "numpy", pytest.param("saved", marks=pytest.mark.whole))


@pytest.fixture
def rng():
    return np.random.default_rng(31)


def run(expression, way, place, **data):
    if way == "plain":
        return np.asarray(expression(**data))
    call = mc.compile(expression, name="spread", args=list(data), target="numpy" if way == "numpy" else "numba")
    if way == "saved":
        call.save(place / "spread.py")
        quick = runpy.run_path(str(place / "spread.py"))["spread"]
        return np.asarray(quick(*data.values(), jit=True))
    return np.asarray(call(*data.values()))


def results(texts, declared, name):
    """Return the formulas, with the gradients of those that are numbers, of order 1."""
    found = {text: mc.expression(text, declared) for text in texts}
    return found | {f"gradient of {t}": mc.gradient(e, name) for t, e in found.items() if not e.shape}


@pytest.mark.whole
@pytest.mark.parametrize("way", WAYS)
def test_a_constant_vector_has_no_deviation(way, tmp_path):
    declared = "x: vector(n)"
    found = results(VECTORS, declared, "x")
    if way != "plain":
        call = mc.compile(list(found.values()), name="spread", target="numpy" if way == "numpy" else "numba")
        if way == "saved":
            call.save(tmp_path / "spread.py")
            quick = runpy.run_path(str(tmp_path / "spread.py"))["spread"]
    for n in LENGTHS:
        for level in LEVELS:
            x = np.full(n, level)
            if way == "plain":
                values = [e(x=x) for e in found.values()]
            else:
                values = quick(x, jit=True) if way == "saved" else call(x)
            for text, value in zip(found, values, strict=True):
                if n > 1 or not ("n - 1" in text or ", 1)" in text):  # 0/0
                    assert not np.any(value), (text, n, level)


@pytest.mark.whole
@pytest.mark.parametrize("way", ["plain", "numba", "numpy"])
def test_constant_columns_rows_and_matrices(way, tmp_path, rng):
    found = {text: mc.expression(text, "X: matrix(m, n)") for text in ROWS}
    for m, n in ((49, 3), (3, 49), (1, 5), (5, 1), (10, 10)):
        for (text, axes), e in zip(ROWS.items(), found.values(), strict=True):
            X = np.broadcast_to(rng.standard_normal((1 if 0 in axes else m, 1 if 1 in axes else n)), (m, n)).copy()
            if "m - 1" in text and m == 1:
                continue
            assert not np.any(run(e, way, tmp_path, X=X)), (text, m, n)


@pytest.mark.whole
@pytest.mark.parametrize("way", ["plain", "numba", "numpy"])
def test_functions_along_axes_and_batches(way, rng):
    """In NumPy's spelling: each column by itself, some constant, others not."""
    X = rng.standard_normal((49, 4))
    X[:, [0, 2]] = 1.81, -0.1
    for function in (np.std, np.var):
        e = mc.expression(lambda X, function=function: function(X, axis=0), "X: matrix(m, n)")
        total = mc.gradient(
            mc.expression(lambda X, function=function: np.sum(function(X, axis=0)), "X: matrix(m, n)"), "X"
        )
        value = e(X=X) if way == "plain" else mc.compile(e, target=way)(X)
        slope = total(X=X) if way == "plain" else mc.compile(total, target=way)(X)
        assert not np.any(value[[0, 2]]) and not np.any(slope[:, [0, 2]])
        np.testing.assert_allclose(value[[1, 3]], function(X[:, [1, 3]], axis=0), rtol=1e-14)
        assert np.all(slope[:, [1, 3]])


def test_rows_of_a_batch():
    one = mc.compile(mc.gradient("std(x)", "x", "x: vector(n)"))
    assert not np.any(mc.batch(one, ["x"])(np.full((3, 1448), 1.81)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("way", ["plain", "numba", "numpy"])
def test_deviations_of_what_is_not_finite_are_those_of_numpy(way, tmp_path, rng):
    e = mc.expression("x - mean(x)", "x: vector(n)")
    for bad in (np.inf, -np.inf, np.nan, 1.7e308):
        for places in ([0], [4], [0, 4]):
            x = rng.standard_normal(9)
            x[places] = bad
            with np.errstate(all="ignore"):
                np.testing.assert_allclose(run(e, way, tmp_path, x=x), x - np.mean(x), rtol=1e-13)


@pytest.mark.parametrize("way", ["plain", "numba", "numpy"])
def test_deviations_of_other_data(way, tmp_path, rng):
    e = mc.expression("x - mean(x)", "x: vector(n)")
    for offset in (0.0, 1e3, 1e8):
        x = rng.standard_normal(200) + offset
        exact = x - np.longdouble(x).mean()
        assert np.abs(run(e, way, tmp_path, x=x) - exact).max() <= 2e-16 * max(1.0, offset)


REPEATED = {"X: vector(m)": (4,), "X: matrix(m, n)": (4, 3), "X: tensor(m, n, p)": (4, 2, 3)}


@pytest.mark.thinned(2)
@pytest.mark.whole
@pytest.mark.parametrize("declared", REPEATED)
@pytest.mark.parametrize("way", ["plain", "numba"])
def test_deviations_of_arrays_with_repeated_rows(way, declared, rng):
    X = rng.standard_normal(REPEATED[declared])
    for rows in product((0, 1, -1), repeat=3) if way == "plain" else [(0, -1, 0), (1, 1, 1), (0, 0, 1)]:
        function = partial(deviations, rows=list(rows))
        found = mc.compile(function, declarations=declared)(X) if way == "numba" else plain(function, declared, X)
        for one, expected in zip(found, function(X), strict=True):
            np.testing.assert_allclose(one, expected, rtol=1e-12, atol=1e-14)


def deviations(X, rows):
    return X[rows] - np.mean(X[rows], axis=0), np.var(X[rows], axis=0), 2 * X[rows] - X[rows].sum(axis=0)


def plain(function, declared, X):
    return [e(X=X) for e in mc.function(declared)(function)]
