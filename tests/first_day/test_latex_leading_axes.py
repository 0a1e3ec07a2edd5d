r"""Fewer subscripts than axes of a tensor: the ranges of the indices decide, also those that end or begin inside."""

import numpy as np
import pytest

import matcalc as mc

pytestmark = pytest.mark.sampled(9)
RNG = np.random.default_rng(14)
x, beta = RNG.standard_normal((4, 3, 2)), RNG.standard_normal(2)
U = x @ beta
LET = "{name}: tensor(N, J, p); beta: vector(p)"
N, J = range(4), range(3)
SUMS = [
    (r"\sum_{i=1}^N \sum_{j=1}^J {u}^2", sum(U[i, j] ** 2 for i in N for j in J)),
    (r"\sum_{i=1}^N \sum_{j=1}^{J-1} {u}^2", sum(U[i, j] ** 2 for i in N for j in J[:-1])),
    (r"\sum_{i=1}^N \sum_{j=2}^{J} {u}^2", sum(U[i, j] ** 2 for i in N for j in J[1:])),
    (r"\sum_{i=1}^{N-1} \sum_{j=2}^{J-1} {u}^2", sum(U[i, j] ** 2 for i in N[:-1] for j in J[1:-1])),
    (r"\sum_{i=1}^N \sum_{k=1}^{J-1} \sum_{j=k}^J {u}^2", sum(U[i, j] ** 2 for i in N for k in J[:-1] for j in J[k:])),
    (r"\sum_{i=1}^N \sum_{k=1}^{J} \sum_{j=k+1}^J {u}^2", sum(U[i, j] ** 2 for i in N for k in J for j in J[k + 1 :])),
    (r"\sum_{i=1}^N \max_{1 \le j \le J} {u}", sum(max(U[i]) for i in N)),
]  # fmt: skip


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("latex", "truth"), SUMS, ids=[row[0] for row in SUMS])
@pytest.mark.parametrize("subscript", ["ij", "i,j", "i j"])
@pytest.mark.parametrize(("name", "letter"), [("x", "x"), ("X", "x"), ("X", "X")])
def test_the_ranges_of_two_indices_decide(name, letter, subscript, latex, truth):
    latex = latex.replace("{u}", rf"({letter}_{{{subscript}}}^\top \beta)")
    e = mc.expression(latex, LET.format(name=name), dialect="latex")
    np.testing.assert_allclose(e(**{name: x, "beta": beta}), truth)


AMBIGUOUS = [
    (r"\sum_{i=1}^N \sum_{j=1}^{N} (x_{ij}^\top \beta)^2", "x: tensor(N, N, N); beta: vector(N)"),
    (r"\sum_{i=1}^N \sum_{j=1}^{N-1} (x_{ij}^\top \beta)^2", "x: tensor(N, N, N); beta: vector(N)"),
    (r"\sum_{i=1}^N \sum_{j=1}^{i} (x_{ij}^\top \beta)^2", "x: tensor(N, p, p); beta: vector(p)"),
    (r"\sum_{i=1}^J \sum_{j=1}^{N} (x_{ij}^\top \beta)^2", "x: tensor(N, J, p); beta: vector(p)"),
    (r"\sum_{i=1}^N \sum_{j=1}^{M-1} (x_{ij}^\top \beta)^2", "x: tensor(N, J, p); beta: vector(p); s: vector(M)"),
    (r"\sum_{i=1}^N \sum_{j=1}^{2 J} (x_{ij}^\top \beta)^2", "x: tensor(N, J, p); beta: vector(p)"),
]


@pytest.mark.parametrize(("latex", "let"), AMBIGUOUS)
def test_ranges_that_do_not_decide_are_refused(latex, let):
    with pytest.raises(mc.ParseError, match="2 subscripts for 3 axes"):
        mc.expression(latex, let, dialect="latex")
