"""Diagonals of Hessians: against differences of the gradient, and at sizes whose Hessian has no room in memory."""

import numpy as np
import pytest
from scipy import sparse

import matcalc as mc
from matcalc import solvers

VECTOR = "x: vector(n)"
PAIRS = f"{VECTOR}; a: index(e); b: index(e)"


def pairs(n):
    return {"a": np.arange(n - 1), "b": np.arange(1, n)}


def design(n):
    return {"X": np.random.default_rng(n).standard_normal((7, n)) / np.sqrt(n)}


FORMULAS = {
    "chain": ("sum((x[1:] - x[:-1]).^4)", VECTOR, None),
    "rosenbrock": ("sum((1 - x[:-1]).^2 + 100*(x[1:] - x[:-1].^2).^2)", VECTOR, None),
    "norm": ("sum(exp(x).*x) + norm2(x)^4", VECTOR, None),
    "logistic": ("sum(log(1 + exp(X*x))) + x'*x", f"{VECTOR}; X: matrix(m, n)", design),
    "springs": ("sum{k: sqrt(1 + (x[a[k]] - x[b[k]])^2)}", PAIRS, pairs),
    "linear": ("sum(x)", VECTOR, None),
}


def made(name, n):
    text, declarations, data = FORMULAS[name]
    return solvers.problem(text, "x", data(n) if data else {}, sizes={"n": n}, declarations=declarations)


def by_differences(problem, x, step=1e-5):
    found = np.zeros(x.size)
    for k in range(x.size):
        ends = []
        for sign in (1, -1):
            moved = x.copy()
            moved[k] += sign * step
            ends.append(problem.jac(moved)[k])
        found[k] = (ends[0] - ends[1]) / (2 * step)
    return found


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.whole
def test_diagonals(name):
    problem = made(name, 6)
    x = np.random.default_rng(1).uniform(-1, 1, 6)
    np.testing.assert_allclose(problem.operator(x).diagonal(), by_differences(problem, x), rtol=1e-6, atol=1e-6)


@pytest.mark.whole
@pytest.mark.parametrize(
    "name", ["chain", *(pytest.param(n, marks=pytest.mark.whole) for n in FORMULAS if n != "chain")]
)
def test_large_diagonals_need_no_matrix(name):
    """A Hessian of 150,000 rows has 180 GB. Entries far from the ends depend on their neighbours alone."""
    n = 150_000
    problem, x = made(name, n), np.zeros(n)
    found = problem.operator(x).diagonal()
    few = made(name, 6) if name != "logistic" else None
    assert found.shape == (n,)
    if few is not None:
        np.testing.assert_allclose(found[:3], few.operator(np.zeros(6)).diagonal()[:3], rtol=1e-12)
    else:
        X = design(n)["X"]
        np.testing.assert_allclose(found, np.sum(X * X, axis=0) / 4 + 2, rtol=1e-12)


@pytest.mark.whole
def test_diagonals_of_several_variables():
    """Two matrices and a number."""
    text = "sum((X[1:, :] - X[:-1, :]).^4) + c^2*sum(X) + sum(S.^4) + logdet(S)"
    declarations = "X: matrix(m, n); c: scalar; S: matrix(p, p)"
    problem = solvers.problem(text, ["X", "c", "S"], {}, sizes={"m": 3, "n": 2, "p": 2}, declarations=declarations)
    rng = np.random.default_rng(2)
    x = problem.pack({"X": rng.standard_normal((3, 2)), "c": 1.3, "S": 2 * np.eye(2) + 0.1})
    np.testing.assert_allclose(problem.operator(x).diagonal(), by_differences(problem, x), rtol=1e-6, atol=1e-6)


def test_a_sparse_hessian_that_is_zero():
    function = mc.compile([mc.hessian("sum(x)", "x", VECTOR)], sparse=True)
    (found,) = function(np.zeros(4))
    assert found.shape == (4, 4)
    assert found.nnz == 0


def test_sparse_data_that_only_a_part_reads():
    """The structured part of the Hessian, that of the ridge, does not read the sparse matrix."""
    D = sparse.random_array((9, 5), density=0.5, rng=np.random.default_rng(4), format="csr")
    declarations = "x: vector(n); D: matrix(m, n) sparse; c: scalar"
    text, data = "sum(log(1 + exp(D*x))) + c*x'*x", {"D": D, "c": 0.5}
    problem = solvers.problem(text, "x", data, declarations=declarations)
    x = np.linspace(-1, 1, 5)
    np.testing.assert_allclose(problem.operator(x).diagonal(), by_differences(problem, x), rtol=1e-6, atol=1e-6)
