"""A scalar multiplies a sum, not its summands, on every path: 1/0 times an empty sum is NaN, 0 times NaN too.

No path multiplies out the square of a sum, which loses the digits of centred data.
"""

import numpy as np
import pytest

import matcalc as mc

LET = "A: matrix(m, n); B: matrix(n, p); S: matrix(n, n) symmetric; x: vector(m); y: vector(n); a: scalar"
MEANS = {
    "mean(A, axis=0)": "nan", "sum(A, axis=0)/m": "nan", "mean(A, axis=0)[::-1]": "nan", "var(A, axis=0)": "nan",
    "A'*A/m": "nan", "A'*x/m": "nan", "A'*x/m + y": "nan", "A'*A/m + S": "nan", "(x'*A)'/m": "nan",
    "var(A, ddof=1, axis=0)": "0", "var(A, ddof=1, axis=0)[::-1]": "0", "blkdiag(x, var(A, ddof=1, axis=0))[:, 1]": "0",
    "var([x, x], ddof=1)": "0", "sum(A, axis=0)./norm1(A, axis=0)": "nan", "sum(A.*A, axis=0)./sum(A, axis=0)": "nan",
}  # fmt: skip
"""With no rows, by the defining formulas: an empty sum of squares divided by -1 is 0."""


def on_paths(texts, declarations, data):
    """Yield each text and its value: plain, simplified, by NumPy, and by Numba with all texts in one function."""
    expressions = [mc.expression(text, declarations) for text in texts]
    together = mc.compile(expressions)
    for text, e, last in zip(texts, expressions, together(**{s: data[s] for s in together.args}), strict=True):
        given = {s: data[s] for s in e.symbols}
        for fn in (e, e.simplify(), mc.compile(e, target="numpy")):
            yield text, np.asarray(fn(**given))
        yield text, np.asarray(last)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.whole
def test_means_of_no_rows():
    data = {"A": np.zeros((0, 2)), "S": np.ones((2, 2)), "x": np.zeros(0), "y": np.ones(2)}
    for text, value in on_paths(list(MEANS), LET, data):
        np.testing.assert_array_equal(value, np.full(value.shape, float(MEANS[text])), err_msg=text)


BY_ZERO = ["a*(A*B)", "a*(A'*A)", "a*(A*y)", "a*(A'*x)", "a*(S*y)", "a*(S*B)", "a*x*x'", "a*(A*y) + x"]


def test_zero_times_nan():
    """BLAS skips factors that are 0. Sizes lie on both sides of the limit between loops and BLAS."""
    together = mc.compile([mc.expression(text, LET) for text in BY_ZERO])
    for size in (3, 80, 301):
        shapes = {s: [size] * len(mc.expression(s, LET).shape) for s in together.args}
        values = together(**{s: np.full(shape, 0.0 if s == "a" else np.nan) for s, shape in shapes.items()})
        for text, value in zip(BY_ZERO, values, strict=True):
            assert np.all(np.isnan(value)), (text, size)


CENTRED = {
    "var([x; y], ddof=1)": lambda x, y: np.var([*x, *y], ddof=1),
    "var([x, y], ddof=1)": lambda x, y: np.var([*x, *y], ddof=1),
    "var([x; y])": lambda x, y: np.var([*x, *y]),
    "var([x, y], axis=0)[::-1]": lambda x, y: np.var([y, x], axis=1),
    "blkdiag(var([x, y], axis=1), x)[:, 0]": lambda x, y: [*np.var([x, y], axis=0), *(0 * x)],
    "sum((flip(x) - mean(x)).*(flip(y) - mean(y)))": lambda x, y: np.sum((x - x.mean()) * (y - y.mean())),
}


@pytest.mark.whole
def test_what_is_centred_keeps_its_digits():
    x, y = np.arange(5.0) + 2.0**40, np.arange(5.0) ** 2 + 2.0**40
    for text, value in on_paths(list(CENTRED), "x: vector(n); y: vector(n)", {"x": x, "y": y}):
        np.testing.assert_allclose(value, CENTRED[text](x, y), rtol=1e-6, err_msg=text)
