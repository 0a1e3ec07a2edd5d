"""NumPy text with index arrays, ranges and constructors: the value is that of the text run on arrays."""

import numpy as np
import pytest

import matcalc as mc

RNG = np.random.default_rng(8)
DECLARED = "X: matrix(m, n); A: matrix(n, n); w: vector(n); y: index(m)"
DATA = {
    "X": RNG.standard_normal((4, 3)),
    "A": RNG.standard_normal((3, 3)),
    "w": RNG.standard_normal(3),
    "y": np.array([2, 0, 1, 0]),
}
TEXTS = [
    "X[np.arange(m), y].sum() - np.log(np.exp(X).sum(1)).mean()",
    "X[range(X.shape[0]), y]",
    "w[[0, -1]] * w[[2, 1]]",
    "w[np.array([0, 2])]",
    "X[[0, 1]][:, [1, 0]]",
    "X[(0, 1), (1, 0)]",
    "w[y - 1] + w[y]",
    "A[y[:-1], y[1:]].sum()",
    "A[np.ix_([0, 2], [1, 0])]",
    "A[np.triu_indices(3, 1)]",
    "np.take(w, [0, 1]) @ A[:2]",
    "np.eye(n)[y] * X",
    "X[:, np.r_[0, 2]]",
    "np.r_[w, 1.0, w]",
    "np.c_[X, np.ones(m)]",
    "np.linspace(0, 1, n) * w",
    "np.arange(1, n + 1) / (2 * n) * w",
    "np.where(np.eye(n, dtype=bool), 0, A)",
    "np.where(np.arange(n) > n // 2, w, 0)",
    "np.bincount(y, minlength=n) * w",
    "np.linalg.lstsq(X, X @ w + 1, rcond=None)[0]",
    "w / float(n) + np.full(n, 0.5)",
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", TEXTS)
def test_value_is_that_of_the_text_on_arrays(text):
    e = mc.expression(text, DECLARED, dialect="numpy")
    expected = eval(text, {"np": np, "m": 4, "n": 3, **DATA})
    given = {name: DATA[name] for name in e.symbols}
    np.testing.assert_allclose(e(**given), expected, rtol=1e-11)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("X[w > 0]", "a mask that depends on a symbol"),
        ("np.arange(10000000000) * w", "so many entries"),
        ("w[X]", "a subscript that depends on a symbol's values"),
        ("[v**2 for v in w]", "write a Python function of the arrays"),
    ],
)
def test_refused_with_what_to_write(text, message):
    with pytest.raises(mc.MatcalcError, match=message):
        mc.expression(text, "X: matrix(m, n); w: vector(m)" if "X" in text else "w: vector(n)", dialect="numpy")
