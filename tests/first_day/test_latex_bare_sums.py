r"""Sums without a subscript, \sum x_i^2: over the indices of the summand that stand nowhere else."""

import numpy as np
import pytest

import matcalc as mc

DECLARED = "x, y: vector(n); A: matrix(n, n); B: matrix(m, n); v: vector(m); c: scalar"
RNG = np.random.default_rng(5)
DATA = {"x": RNG.normal(size=4), "y": RNG.normal(size=4), "A": RNG.normal(size=(4, 4)), "B": RNG.normal(size=(3, 4))}
DATA |= {"v": RNG.normal(size=3), "c": 0.7}
READ = [
    (r"\sum x_i^2", lambda x, **k: np.sum(x**2)),
    (r"\frac{6 \sum x_i^2}{n(n^2-1)}", lambda x, **k: 6 * np.sum(x**2) / 60),
    (r"\sum x_i y_i - c", lambda x, y, c, **k: x @ y - c),
    (r"\sum (x_i - c)^2 / n", lambda x, c, **k: np.mean((x - c) ** 2)),
    (r"\sum A_{ij} x_i y_j", lambda A, x, y, **k: x @ A @ y),
    (r"\sum_i x_i \sum A_{ij} y_j", lambda A, x, y, **k: x @ A @ y),
    (r"z_j = \sum x_i A_{ij}", lambda A, x, **k: A.T @ x),
    (r"\sum v_k B_{kl} x_l + \sum y_i", lambda v, B, x, y, **k: v @ B @ x + y.sum()),
    (r"n \sum x_i y_i - \sum x_i \sum y_i", lambda x, y, **k: 4 * x @ y - x.sum() * y.sum()),
    (r"\sum x_i \sum y_i \sum x_i^2", lambda x, y, **k: x.sum() * y.sum() * (x @ x)),
    (
        r"r = \frac{\sum (x_i - \bar x)(y_i - \bar y)}{\sqrt{\sum (x_i - \bar x)^2 \sum (y_j - \bar y)^2}}, \quad "
        r"\bar x = \frac1n \sum x_i, \quad \bar y = \frac1n \sum y_i",
        lambda x, y, **k: np.corrcoef(x, y)[0, 1],
    ),
]
REFUSED = [
    (r"\sum c", r"\sum without an index"),
    (r"y_i \sum x_i", "the subscript of y is unknown"),
    (r"z_i = \sum x_i", r"\sum without an index"),
    (r"\sum_i x_i \sum y_i", r"\sum without an index"),
    (r"\prod x_i", r"\prod without an index"),
]


@pytest.mark.parametrize(("text", "truth"), READ, ids=lambda x: x if isinstance(x, str) else "")
def test_indices_are_those_of_the_summand(text, truth):
    e = mc.expression(text, DECLARED, dialect="latex")
    np.testing.assert_allclose(e(**{name: DATA[name] for name in e.symbols}), truth(**DATA), rtol=1e-12)


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_sums_without_an_index_of_their_own_are_refused(text, message):
    with pytest.raises(mc.ParseError) as caught:
        mc.expression(text, DECLARED, dialect="latex")
    assert message in str(caught.value) and r"\sum_{i=1}^{n}" in str(caught.value).replace("prod", "sum")
