"""Reductions, scans and sorting of empty arrays, and with NaN or infinity at each index, against NumPy on all paths."""

import numpy as np
import pytest

import matcalc as mc

FUNCTIONS = {
    "sum": np.sum, "prod": np.prod, "mean": np.mean, "median": np.median, "var": np.var, "std": np.std,
    "max": np.max, "min": np.min, "cumsum": np.cumsum, "cumprod": np.cumprod, "sort": np.sort,
    "norm1": lambda x: np.linalg.norm(x, 1), "norm2": np.linalg.norm,
    "norminf": lambda x: np.max(np.abs(x), initial=0),
    "logsumexp": lambda x: np.logaddexp.reduce(x, initial=-np.inf),
}  # fmt: skip
NONE_OF_NOTHING = ("max", "min")
BAD = (np.nan, np.inf, -np.inf)


def vectors(name):
    """Vectors of 0 to 4 entries with none, one and two of NaN and the infinities at every index."""
    for n in range(1 if name in NONE_OF_NOTHING else 0, 5):
        plain = np.array([2.0, -1.0, 3.0, 0.5])[:n]
        yield plain
        for first in range(n):
            for bad in BAD:
                x = plain.copy()
                x[first] = bad
                yield x
                for second in range(first):
                    for other in BAD:
                        y = x.copy()
                        y[second] = other
                        yield y


@pytest.mark.parametrize("path", ["plain", "numpy", pytest.param("numba", marks=pytest.mark.whole)])
@pytest.mark.parametrize("names", [tuple(n for n in FUNCTIONS if n not in NONE_OF_NOTHING), NONE_OF_NOTHING], ids=len)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(4)
def test_as_numpy_has_it(path, names):
    expressions = [mc.expression(f"{name}(x)", "x: vector(n)") for name in names]
    together = None if path == "plain" else mc.compile(expressions, target=path)
    with np.errstate(all="ignore"):
        for x in vectors(names[0]):
            found = together(x) if together else [e(x=x) for e in expressions]
            for name, value in zip(names, found, strict=True):
                assert np.allclose(value, FUNCTIONS[name](x), equal_nan=True), (name, x, value)


NOTHING = [
    ("max(x)", "x: vector(n)", (0,)), ("min(x)", "x: vector(n)", (0,)), ("max(X)", "X: matrix(m, n)", (2, 0)),
    ("min(X)", "X: matrix(m, n)", (0, 2)), ("max(X, axis=0)", "X: matrix(m, n)", (0, 2)),
    ("min(X, axis=1)", "X: matrix(m, n)", (2, 0)), ("lambda_max(X)", "X: matrix(n, n) symmetric", (0, 0)),
    ("lambda_min(X)", "X: matrix(n, n) symmetric", (0, 0)), ("sum(softmax(x))", "x: vector(n)", (0,)),
    ("softmax(X, axis=0)", "X: matrix(m, n)", (0, 2)), ("log_softmax(X, axis=1)", "X: matrix(m, n)", (2, 0)),
    ("norm(X, 1)", "X: matrix(m, n)", (2, 0)), ("norm(X, inf)", "X: matrix(m, n)", (0, 2)),
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("text", "declarations", "shape"), NOTHING)
def test_the_largest_of_nothing_is_an_error(text, declarations, shape):
    e = mc.expression(text, declarations)
    slopes = [] if e.shape else [e.gradient(e.symbols[0])]
    for fn in (e, mc.compile(e, target="numpy"), *slopes):
        with pytest.raises(
            mc.ShapeError, match=f"{text.removeprefix('sum(').split('(')[0]} of nothing: [xX] has no entries"
        ):
            fn(np.zeros(shape))


@pytest.mark.parametrize(("text", "shape"), [("max(X, axis=0)", (2, 0)), ("min(X, axis=1)", (0, 2))])
def test_no_rows_have_no_largest_entries(text, shape):
    e = mc.expression(text, "X: matrix(m, n)")
    assert e(np.zeros(shape)).shape == mc.compile(e, target="numpy")(np.zeros(shape)).shape == (0,)


SPECTRAL = {
    "lambda_max(S)": lambda S: np.linalg.eigvalsh(S)[-1], "lambda_min(S)": lambda S: np.linalg.eigvalsh(S)[0],
    "sum_largest_eig(S, 1)": lambda S: np.linalg.eigvalsh(S)[-1],
    "spectral_norm(S)": lambda S: np.linalg.norm(S, 2), "nuclear_norm(S)": lambda S: np.linalg.norm(S, "nuc"),
}  # fmt: skip


@pytest.mark.parametrize("path", ["plain", "numpy"])
@pytest.mark.parametrize("text", SPECTRAL)
def test_values_of_a_spectrum(text, path):
    """NaN where any entry is NaN or infinite: LAPACK alone may return a number."""
    e = mc.expression(text, "S: matrix(n, n) symmetric")
    fn = e if path == "plain" else mc.compile(e, target=path)
    for n in (1, 2, 3):
        S = np.diag(np.arange(1.0, n + 1)) + 0.1
        assert np.isclose(fn(S), SPECTRAL[text](S))
        for i in range(n):
            for j in range(i + 1):
                for bad in BAD:
                    ruined = S.copy()
                    ruined[i, j] = ruined[j, i] = bad
                    assert np.isnan(fn(ruined)), (i, j, bad)


@pytest.mark.whole
@pytest.mark.parametrize("path", ["plain", "numpy", "numba"])
def test_the_condition_of_what_is_not_finite_or_of_nothing(path):
    """NaN where LAPACK would fail, return inf or hang; an empty matrix has none, as in NumPy."""
    e = mc.expression("cond(X)", "X: matrix(m, n)")
    fn = e if path == "plain" else mc.compile(e, target=path)
    for bad in BAD:
        for at in np.ndindex(3, 4):
            X = np.arange(12.0).reshape(3, 4) ** 2
            X[at] = bad
            assert np.isnan(fn(X))
    assert fn(np.zeros((2, 2))) == np.inf
    for shape in ((0, 0), (0, 2), (2, 0)):
        with pytest.raises(mc.ShapeError, match="cond of nothing: X has no entries"):
            fn(np.zeros(shape))


@pytest.mark.parametrize("text", ["pinv(X)", "svd_s(X)", "svd_lowrank(X, 1)", "nuclear_norm(X)", "sum(lstsq(X, y))"])
def test_an_infinite_entry_ends(text):
    """NumPy's own SVD of a matrix with an infinite entry may not return."""
    X = np.arange(12.0).reshape(3, 4) ** 2
    X[2, 3] = np.inf
    e = mc.expression(text, "X: matrix(m, n); y: vector(m)")
    data = {s: {"X": X, "y": np.ones(3)}[s] for s in e.symbols}
    for fn in (e, mc.compile(e, target="numpy")):
        assert np.all(np.isnan(fn(**data)))


def test_factors_of_nothing():
    for shape in ((0, 0), (0, 2), (2, 0)):
        for part, expected in (("P", np.eye(shape[0])), ("L", np.zeros((shape[0], 0))), ("U", np.zeros((0, shape[1])))):
            e = mc.expression(f"lu_{part}(X)", "X: matrix(m, n)")
            for fn in (e, mc.compile(e, target="numpy")):
                np.testing.assert_array_equal(fn(np.zeros(shape)), expected)


@pytest.mark.whole
def test_rows_are_sorted_with_nan_last():
    X = np.array([[np.nan, 1, 2], [3, np.inf, -np.inf]])
    for axis in (0, 1):
        e = mc.expression(f"sort(X, axis={axis})", "X: matrix(m, n)")
        for fn in (e, mc.compile(e, target="numpy"), mc.compile(e)):
            np.testing.assert_array_equal(fn(X), np.sort(X, axis=axis))
