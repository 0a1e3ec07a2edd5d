"""Formulas with sparse derivatives, their data at given sizes, and the places where their entries can be nonzero."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse


class Case(NamedTuple):
    """A matrix: how it is derived, the formula, the variable, declarations, and the data at a size."""

    name: str
    derive: str
    text: str
    wrt: str
    declarations: str
    data: Callable[[np.random.Generator, int], Mapping[str, Any]]


def vectors(*names: str, positive: bool = False) -> Callable[[np.random.Generator, int], dict[str, Any]]:
    """Return a function that draws vectors of length n."""
    return lambda rng, n: {name: np.abs(rng.normal(size=n)) + 0.5 if positive else rng.normal(size=n) for name in names}


def with_pairs(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Return a vector and 2n pairs of different indices; a pair may occur twice."""
    if n == 1:
        raise ValueError
    a = rng.integers(0, max(n, 1), 2 * n)
    return {"x": rng.normal(size=n), "a": a, "b": (a + rng.integers(1, max(n, 2), 2 * n)) % max(n, 1)}


def even(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Return a vector without an entry in the middle."""
    if n % 2:
        raise ValueError
    return {"x": rng.normal(size=n)}


def looked_up(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Return a vector and indices, some of them twice."""
    return {"x": rng.normal(size=n), "a": rng.integers(0, max(n, 1), 2 * n)}


def with_matrix(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Return a vector and a sparse matrix with empty rows and columns."""
    return {"x": rng.normal(size=n), "D": sparse.random_array((n + 1, n), density=0.3, rng=rng, format="csr")}


def with_factors(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Return a matrix and two factors of rank 2."""
    return {"M": rng.normal(size=(n, n + 1)), "U": rng.normal(size=(n, 2)), "V": rng.normal(size=(n + 1, 2))}


def with_grid(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Return values on a grid."""
    return {"X": rng.normal(size=(n, n + 1))}


X, XC = "x: vector(n)", "x: vector(n); c: vector(n)"
PAIRS = "a: index(e); b: index(e); x: vector(n)"
CASES = [
    Case("diagonal", "hessian", "sum(exp(x).*log(x))", "x", "x: vector(n) positive", vectors("x", positive=True)),
    Case("chain", "hessian", "sum((x[1:] - x[:-1]).^4)", "x", X, vectors("x")),
    Case("second differences", "hessian", "sum((x[2:] - 2*x[1:-1] + x[:-2]).^4)", "x", X, vectors("x")),
    Case("rosenbrock", "hessian", "sum((1 - x[:-1]).^2 + 100*(x[1:] - x[:-1].^2).^2)", "x", X, vectors("x")),
    Case("two terms", "hessian", "sum(x.^4) + sum((x[1:] - x[:-1]).^4)", "x", X, vectors("x")),
    Case("far apart", "hessian", "sum(x[:1]'*x[-1:]) + sum(cos(x))", "x", X, vectors("x")),
    Case("backwards", "hessian", "sum((x - x[::-1]).^4)", "x", X, even),
    Case("springs", "hessian", "sum{k: sqrt(1 + (x[a[k]] - x[b[k]])^2)}", "x", PAIRS, with_pairs),
    Case("products of pairs", "hessian", "sum{k: exp(x[a[k]]*x[b[k]])}", "x", PAIRS, with_pairs),
    Case("looked up", "hessian", "sum(x[a].^4) + x'*x", "x", "a: index(e); x: vector(n)", looked_up),
    Case("sparse design", "hessian", "sum(log(1 + exp(D*x)))", "x",
         "x: vector(n); D: matrix(m, n) sparse", with_matrix),
    Case("sparse squares", "hessian", "norm2(D*x)^2 + sum(x.^4)", "x",
         "x: vector(n); D: matrix(m, n) sparse", with_matrix),
    Case("dense", "hessian", "norm2(x)^4", "x", X, vectors("x")),
    Case("diagonal weights", "hessian", "x'*diag(c)*x", "x", XC, vectors("x", "c")),
    Case("shifted jacobian", "jacobian", "x[1:].*x[:-1]", "x", X, vectors("x")),
    Case("heat equation", "jacobian",
         "x[1:-1] - x[1:-1].^3 + c[1:-1].*(x[2:] - 2*x[1:-1] + x[:-2])", "x", XC, vectors("x", "c")),
    Case("running sums", "jacobian", "cumsum(x.^2)", "x", X, vectors("x")),
    Case("elementwise", "jacobian", "tanh(x).*c", "x", XC, vectors("x", "c")),
    Case("padded", "jacobian", "[x.^2; 0*c; x.*c]", "x", XC, vectors("x", "c")),
    Case("edges", "jacobian", "sin(x[a] - x[b])", "x", PAIRS, with_pairs),
    Case("sparse map", "jacobian", "tanh(D*x)", "x", "x: vector(n); D: matrix(m, n) sparse", with_matrix),
    Case("rolled", "jacobian", "x.*circshift(x, 1)", "x", X, vectors("x")),
    Case("reversed", "jacobian", "x[::-1].^2", "x", X, vectors("x")),
    Case("grid", "hessian_vec", "sum((X[1:, :] - X[:-1, :]).^4) + sum((X[:, 1:] - X[:, :-1]).^4)",
         "X", "X: matrix(m, n)", with_grid),
    Case("factors", "hessian_vec", "norm2(M - U*V')^2", "U",
         "M: matrix(m, n); U: matrix(m, k); V: matrix(n, k)", with_factors),
    Case("rows", "jacobian_vec", "sum(X.^2, axis=1)", "X", "X: matrix(m, n)", with_grid),
    Case("transposed", "jacobian_vec", "X'.^3", "X", "X: matrix(m, n)", with_grid),
    Case("diagonal matrix", "matrix", "diag(x.*c)", "x", XC, vectors("x", "c")),
    Case("tridiagonal", "matrix", "diag(x) + eye(n)[:, 1:]*diag(c[1:])*eye(n)[:-1, :]", "x", XC, vectors("x", "c")),
    Case("blocks", "matrix", "[diag(x), zeros(n, n); zeros(n, n), c*x']", "x", XC, vectors("x", "c")),
    Case("triangle", "matrix", "tril(x*c')", "x", XC, vectors("x", "c")),
    Case("kronecker", "matrix", "kron(diag(x), c*c')", "x", XC, vectors("x", "c")),
]  # fmt: skip
