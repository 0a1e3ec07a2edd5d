"""The digits of low-rank forms, at conditions from 1 to 1e12, against 50 digits and beside factorisations of K."""

from functools import cache

import mpmath as mp
import numpy as np
import pytest
from scipy.linalg import lu_factor, lu_solve

import matcalc as mc

N, K = 16, 3
FORMULAS = {
    "number": ("logdet(K) + x'*inv(K)*y where K = A*A' + c*eye(n)", "A: matrix(n, k); c: scalar"),
    "different factors": (
        "logdet(K) + x'*inv(K)*y where K = A*B' + c*eye(n)",
        "A: matrix(n, k); B: matrix(n, k); c: scalar",
    ),
    "middle": (
        "logdet(K) + x'*inv(K)*y where K = A*W*A' + c*eye(n)",
        "A: matrix(n, k); W: matrix(k, k) spd; c: scalar",
    ),
    "two terms": (
        "logdet(K) + x'*inv(K)*y where K = A*A' + B*B' + c*eye(n)",
        "A: matrix(n, k); B: matrix(n, k); c: scalar",
    ),
    "diagonal": ("logdet(K) + x'*inv(K)*y where K = A*A' + diag(c)", "A: matrix(n, k); c: vector(n)"),
}
DATA = ("general", "range", "dependent")
MORE, LEAST = 10.0, 1e-14
"""How many times the largest error of factorisations is permitted, and the error that always is."""
ORDERS = 5
"""The orders of the rows in which a matrix is factorised: the error of one alone can be small by chance."""
OF_LOSS = 4e-16
"""The error that is permitted with a diagonal, relative to the loss that the call computes."""


@cache
def compiled(kind):
    formula, declarations = FORMULAS[kind]
    names = ["A", "c", "y"]
    function = mc.value_and_gradient(formula, names, f"{declarations}; x: vector(n); y: vector(n)")
    assert "low_rank" in function.source
    return function


def drawn(kind, data, exponent):
    """Return data with the condition 10^exponent; vectors may be in the range of A, its columns nearly dependent."""
    rng = np.random.default_rng([len(kind), len(data), exponent])
    A = rng.standard_normal((N, K))
    if data == "dependent":
        A = A * 10.0 ** -np.linspace(0, exponent / 2, K) @ np.linalg.qr(rng.standard_normal((K, K)))[0]
    A /= np.linalg.norm(A, 2)
    B = rng.standard_normal((N, K))
    B /= np.linalg.norm(B, 2)
    W = np.eye(K) + 0.2
    c = 10.0 ** -rng.uniform(0, exponent, N) if kind == "diagonal" else 10.0**-exponent
    right = B if kind == "different factors" else A
    y = A @ rng.standard_normal(K) if data == "range" else rng.standard_normal(N)
    x = right @ rng.standard_normal(K) if data == "range" else rng.standard_normal(N)
    if kind != "different factors":
        x = y
    return {"A": A, "B": B, "W": W, "c": c, "x": x, "y": y}


def factors(kind, d):
    """Return the factors U and V of K = U*V' + B."""
    right = {"different factors": d["B"], "middle": d["A"] @ d["W"]}.get(kind, d["A"])
    return d["A"], right


def further(kind, d):
    """Return the other terms of K."""
    return d["B"] @ d["B"].T if kind == "two terms" else np.zeros((N, N))


def further_exactly(kind, d):
    """Return the same at 50 digits."""
    B = mp.matrix(d["B"].tolist())
    return B * B.T if kind == "two terms" else mp.zeros(N)


def exact(kind, d):
    """Return the value and the gradients in A, c and y at 50 digits, as lists of numbers."""
    with mp.workdps(50):
        A, y, x = (mp.matrix(d[name].tolist()) for name in ("A", "y", "x"))
        V = {"different factors": lambda: mp.matrix(d["B"].tolist()), "middle": lambda: A * mp.matrix(d["W"].tolist())}
        V = V.get(kind, lambda: A)()
        matrix = A * V.T + further_exactly(kind, d) + mp.diag([mp.mpf(float(c)) for c in np.broadcast_to(d["c"], N)])
        inverse = mp.inverse(matrix)
        solved, turned = inverse * y, inverse.T * x
        slope = inverse.T - turned * solved.T
        value = mp.log(abs(mp.det(matrix))) + (x.T * solved)[0]
        in_A = (slope if kind == "different factors" else slope + slope.T) * V
        diagonal = [slope[i, i] for i in range(N)]
        return [[value], list(in_A), diagonal if np.ndim(d["c"]) else [mp.fsum(diagonal)], list(turned)]


def by_factorisation(kind, d, order):
    """Return the same by a factorisation of K in double precision, with its rows and columns in an order."""
    A, V = factors(kind, d)
    matrix = A @ V.T + further(kind, d) + np.diag(np.broadcast_to(d["c"], N))
    back = np.argsort(order)
    lu = lu_factor(matrix[np.ix_(order, order)])
    solved, turned = lu_solve(lu, d["y"][order])[back], lu_solve(lu, d["x"][order], trans=1)[back]
    inverse = lu_solve(lu, np.eye(N))[np.ix_(back, back)]
    slope = inverse.T - np.outer(turned, solved)
    in_A = (slope if kind == "different factors" else slope + slope.T) @ V
    in_c = np.diag(slope) if np.ndim(d["c"]) else np.trace(slope)
    return [np.sum(np.log(np.abs(np.diag(lu[0])))) + d["x"] @ solved, in_A, in_c, turned]


def error(found, expected):
    """Return the largest error, relative to the largest entry."""
    with mp.workdps(50):
        found = np.asarray(found, dtype=float).ravel()
        largest = max(map(abs, expected))
        return float(max(abs(mp.mpf(float(a)) - b) for a, b in zip(found, expected, strict=True)) / largest)


def compare(kind, data, exponent):
    d = drawn(kind, data, exponent)
    function = compiled(kind)
    value, gradients = function(**{name: d[name] for name in function.args})
    expected = exact(kind, d)
    rng = np.random.default_rng(0)
    orders = [np.arange(N), *(rng.permutation(N) for _ in range(ORDERS - 1))]
    direct = zip(*(by_factorisation(kind, d, order) for order in orders), strict=True)
    loss = np.sum(d["A"] ** 2 / np.reshape(d["c"], (-1, 1)))
    for label, mine, his, truth in zip("vAcy", (value, *gradients), direct, expected, strict=True):
        permitted = OF_LOSS * loss if kind == "diagonal" and loss <= 1e6 else 0
        bound = max(MORE * max(error(one, truth) for one in his), LEAST, permitted)
        assert error(mine, truth) <= bound, (kind, data, exponent, label)


@pytest.mark.parametrize("exponent", (0, 6, 12))
@pytest.mark.parametrize("kind", FORMULAS)
@pytest.mark.sampled(28)
def test_no_more_digits_are_lost_than_by_a_factorisation(kind, exponent):
    compare(kind, "general", exponent)


@pytest.mark.whole
@pytest.mark.parametrize("exponent", range(0, 13, 2))
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("kind", FORMULAS)
def test_digits_of_each_kind_of_data(kind, data, exponent):
    compare(kind, data, exponent)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("exponent", (4, 8, 12))
@pytest.mark.parametrize("kind", ["number", "middle"])
def test_a_factor_of_full_rank_loses_no_digits(kind, exponent):
    """A factorisation of K loses as many as its condition has."""
    d = drawn(kind, "general", exponent)
    function = compiled(kind)
    value, gradients = function(**{name: d[name] for name in function.args})
    for mine, truth in zip((value, *gradients), exact(kind, d), strict=True):
        assert error(mine, truth) <= 5e-15
