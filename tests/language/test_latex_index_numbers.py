"""Indices as numbers in LaTeX: they count from the first value of their sum, which is 1 without bounds."""

from collections.abc import Callable

import numpy as np
import pytest

import matcalc as mc

N = 5
RNG = np.random.default_rng(3)
X, A = RNG.uniform(0.5, 2, N + 1), RNG.normal(size=(N + 1, N + 1))
LET = "x: vector(n); A: matrix(n, n)"


def x(i: int) -> float:
    """Return entry i of x, counted from 1."""
    return float(X[i - 1])


def a(i: int, j: int) -> float:
    return float(A[i - 1, j - 1])


def pairs(term: Callable[[int, int], float], i0: int = 1, j0: int = 1) -> float:
    return sum(term(i, j) for i in range(i0, N + 1) for j in range(j0, N + 1))


SUMS = [
    (r"\sum_{i=1}^n i x_i", sum(i * x(i) for i in range(1, N + 1))),
    (r"\sum_i i x_i^2", sum(i * x(i) ** 2 for i in range(1, N + 1))),
    (r"\sum_{t=2}^n \frac{x_t}{t}", sum(x(t) / t for t in range(2, N + 1))),
    (r"\sum_{t=0}^{n-1} t x_{t+1}", sum(t * x(t + 1) for t in range(N))),
    (r"\sum_{t=1}^{n-1} t x_{t+1} x_t", sum(t * x(t + 1) * x(t) for t in range(1, N))),
    (r"\sum_{t=0}^{n-1} 0.9^t x_{t+1}", sum(0.9**t * x(t + 1) for t in range(N))),
    (r"\sum_{i=1}^n \sum_{j=1}^n |i - j| A_{ij}", pairs(lambda i, j: abs(i - j) * a(i, j))),
    (r"\sum_{i=1}^n \sum_{j=1}^n A_{ij} \cos(2 i j)", pairs(lambda i, j: a(i, j) * np.cos(2 * i * j))),
    (r"\sum_{i=2}^n \sum_{j=1}^n A_{ij} [i = j]", pairs(lambda i, j: a(i, j) * (i == j), 2)),
    (r"\sum_{i=2}^n \sum_{j=1}^n A_{ij} [i < j]", pairs(lambda i, j: a(i, j) * (i < j), 2)),
    (r"\sum_{i=1}^n \sum_{j=i}^n A_{ij}", pairs(lambda i, j: a(i, j) * (j >= i))),
    (r"\sum_{i=1}^{n-1} \sum_{j=i+1}^n j A_{ij}", pairs(lambda i, j: j * a(i, j) * (j > i) * (i < N))),
    (r"\sum_{i=2}^n \sum_{j=1}^{i-1} i A_{ij} x_j", pairs(lambda i, j: i * a(i, j) * x(j) * (j < i), 2)),
    (r"\sum_{i=3}^n \sum_{j=i-2}^{n} A_{ij}", pairs(lambda i, j: a(i, j) * (j >= i - 2), 3)),
    (r"\sum_{i=1}^{n-1} \sum_{j=1}^{i+1} A_{ij}", pairs(lambda i, j: a(i, j) * (j <= i + 1) * (i < N))),
    (r"\sum_{i} \sum_{j=1}^{i} A_{ij}", pairs(lambda i, j: a(i, j) * (j <= i))),
    (r"\sum_{i=1}^n \sum_{1 \le j < i} A_{ij}", pairs(lambda i, j: a(i, j) * (j < i))),
    (
        r"\sum_{i=1}^{n-1} \sum_{j=i+1}^{n} \frac{1}{x_i - x_j}",
        sum(1 / (x(i) - x(j)) for i in range(1, N) for j in range(i + 1, N + 1)),
    ),
    (r"\sum_{i=1}^n \sum_{j=3}^n A_{ij} [i \ne j - 1]", pairs(lambda i, j: a(i, j) * (i != j - 1), 1, 3)),
    (r"\sum_{i,j} A_{ij} [i j \ge 4]", pairs(lambda i, j: a(i, j) * (i * j >= 4))),
    (r"\sum_{j=2}^n \sum_{i<j} A_{ij}", pairs(lambda i, j: a(i, j) * (i < j), 1, 2)),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("latex", "expected"), SUMS)
def test_an_index_is_a_number(latex: str, expected: float) -> None:
    e = mc.expression(latex, LET, dialect="latex")
    data = {"x": X[:N], "A": A[:N, :N]}
    assert e(**{name: data[name] for name in e.symbols}) == pytest.approx(expected, rel=1e-12)
    assert mc.expression(str(e), e.declarations) == e


def test_an_index_form_counts_from_1() -> None:
    e = mc.expression(r"\left[ i A_{ij} - j \right]_{ij}", LET, dialect="latex")
    i, j = np.indices((N, N)) + 1
    np.testing.assert_allclose(e(A=A[:N, :N]), i * A[:N, :N] - j, rtol=1e-14)


def test_a_power_of_an_index_prints_and_reads() -> None:
    e = mc.expression(r"\sum_{t=1}^n \gamma^t x_t", f"{LET}; gamma: scalar", dialect="latex")
    assert e(gamma=0.5, x=X[:N]) == pytest.approx(sum(0.5**t * x(t) for t in range(1, N + 1)), rel=1e-12)
    assert mc.expression(e.latex(), e.declarations, dialect="latex") == e


REFUSED = [
    (r"\sum_{t=0}^{n} x_t", "subscripts count from 1"),
    (r"\sum_{i=1}^n \sum_{j=i-1}^n A_{ij}", "the first value of this index can be less than 1"),
    (r"\sum_{i=1}^n \sum_{j=1}^{2i} A_{ij}", "this bound is not supported"),
    (r"\sum_{i=1}^n \sum_{j=1}^n x_{i+j}", "x[i + j + 1] is outside axis 0 of x"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("latex", "message"), REFUSED)
def test_what_would_be_misread_is_refused(latex: str, message: str) -> None:
    with pytest.raises(mc.MatcalcError) as caught:
        mc.expression(latex, LET, dialect="latex")
    assert caught.value.message.startswith(message)
