"""Gradients and Hessians at ties, low rank and zero, against differences at 60 digits, on both targets.

Each function is written as a user must write it without an operation for it, through eigenvectors or singular vectors,
or as the operation. The reference uses values alone: eigenvalues and determinants by mpmath.
"""

import mpmath as mp
import numpy as np
import pytest

import matcalc as mc

BOUND = 1e-12
DIGITS = 60
STEP = mp.mpf(10) ** -15
TRUNCATION = 1e-28  # of the differences, at data of size 1
RNG = np.random.default_rng(17)
ROTATION = np.linalg.qr(RNG.standard_normal((4, 4)))[0]
WEIGHT = RNG.standard_normal((4, 4))
SPREAD = WEIGHT @ WEIGHT.T + np.eye(4)


def inner(A, B):
    return mp.fsum(A[i, j] * B[i, j] for i in range(A.rows) for j in range(A.cols))


def spectral(f):
    """Return the function of the symmetric matrix."""

    def value(S):
        w, V = mp.eigsy((S + S.T) / 2)
        return V * mp.diag([f(x) for x in w]) * V.T

    return value


def singular(f):
    """Return U*diag(f(s))*V', where f takes all singular values."""

    def value(X):
        U, s, V = mp.svd_r(X)
        return U * mp.diag(f(list(s))) * V

    return value


def on_values(f):
    return lambda X: f(list(mp.svd_r(X, compute_uv=False)))


def weighted(function):
    return lambda X: inner(function(X), mp.matrix(WEIGHT))


def trace(A):
    return mp.fsum(A[i, i] for i in range(A.rows))


def power_sum(X):
    return trace(X * X)


def bures(S):
    root = spectral(mp.sqrt)
    B = mp.matrix(SPREAD)
    return trace(S) + trace(B) - 2 * trace(root(root(S) * B * root(S)))


def affine(S):
    half = spectral(lambda x: 1 / mp.sqrt(x))(mp.matrix(SPREAD))
    return mp.fsum(mp.log(w) ** 2 for w in mp.eigsy(half * S * half, eigvals_only=True))


def adjugate(X):
    minors = mp.matrix(4, 4)
    for i in range(4):
        for j in range(4):
            rows, cols = [k for k in range(4) if k != j], [k for k in range(4) if k != i]
            minors[i, j] = (-1) ** (i + j) * mp.det(mp.matrix([[X[r, c] for c in cols] for r in rows]))
    return minors


def tie(*w):
    """Return a rotated symmetric matrix with these eigenvalues: ties are within rounding, not exact."""
    return ROTATION @ np.diag(w) @ ROTATION.T


def low(rank):
    return RNG.integers(-3, 4, (4, rank)).astype(float) @ RNG.integers(-3, 4, (rank, 4)).astype(float)


S, X = "S: matrix(n, n) symmetric", "X: matrix(n, n)"
P = "S: matrix(n, n) spd"
W = "; W: matrix(n, n)"
V, w = "eigh_V(S)", "eigh_w(S)"
U = ["svd_U(X)", "svd_s(X)", "svd_V(X)"]
ONE, TWO = np.eye(4), 2 * np.eye(4)
CASES = {
    "det, rank 3": ("det(X)", X, low(3), mp.det),
    "det, rank 2": ("det(X)", X, low(2), mp.det),
    "det, interior zero": ("det(X)", X, np.diag([1.0, 0.0, 2.0, 3.0]), mp.det),
    "det, 0": ("det(X)", X, 0 * ONE, mp.det),
    "det, tiny": ("det(X)", X, 1e-6 * ONE, mp.det),
    "det by eigenvalues": ("prod(eigvals(X))", X, np.diag([1.0, 1.0, 2.0, 3.0]) + np.eye(4, k=1), mp.det),
    "norm": ("norm2(X)^2", X, 0 * ONE, lambda A: inner(A, A)),
    "root of squares": ("sqrt(sum(X.^2))^2", X, 0 * ONE, lambda A: inner(A, A)),
    "squares of eigenvalues": (f"sum({w}.^2)", S, ONE, lambda A: inner(A, A)),
    "squares of singular values": ("sum(svdvals(X).^2)", X, ONE, lambda A: inner(A, A)),
    "powers at a Jordan block": ("sum(eigvals(X).^2)", X, ONE + np.eye(4, k=1), power_sum),
    "exp": ("tr(expm(S))", S, ONE, lambda A: trace(spectral(mp.exp)(A))),
    "sqrt": ("tr(sqrtm(S))", P, tie(2, 2, 2, 5), lambda A: trace(spectral(mp.sqrt)(A))),
    "logdet": (f"sum(log({w}))", P, TWO, lambda A: mp.log(mp.det(A))),
    "logdet by a factor": ("2*sum(log(diag(chol(S))))", P, TWO, lambda A: mp.log(mp.det(A))),
    "log": ("sum(W.*matfun(log, S))", P, TWO, weighted(spectral(mp.log))),
    "log by eigenvectors": (f"sum(W.*({V}*diag(log({w}))*{V}'))", P, tie(2, 2, 2, 5), weighted(spectral(mp.log))),
    "sqrt by eigenvectors": (f"sum(W.*({V}*diag(sqrt({w}))*{V}'))", P, 4 * ONE, weighted(spectral(mp.sqrt))),
    "inverse root": (
        f"sum(W.*({V}*diag(1 ./ sqrt({w}))*{V}'))", P, tie(1, 1, 3, 3),
        weighted(spectral(lambda x: x**-0.5)),
    ),
    "power": (f"sum(W.*({V}*diag({w}.^(5/2))*{V}'))", P, tie(1, 1, 3, 3), weighted(spectral(lambda x: x**2.5))),
    "scaled exp": (f"sum(W.*({V}*diag(exp(-2*{w}))*{V}'))", S, ONE, weighted(spectral(lambda x: mp.exp(-2 * x)))),
    "positive part": (
        f"sum(W.*({V}*diag(max({w}, 0))*{V}'))", S, tie(1, 1, -1, -1),
        weighted(spectral(lambda x: max(x, 0))),
    ),
    "projector": (f"sum(W.*({V}[:, 2:]*{V}[:, 2:]'))", S, tie(1, 1, 3, 3), weighted(spectral(lambda x: mp.mpf(x > 2)))),
    "largest": (f"max({w})", S, tie(-2, 1, 1, 3), lambda A: max(mp.eigsy(A, eigvals_only=True))),
    "last": (f"{w}[-1]", S, np.diag([-2.0, 1, 1, 3]), lambda A: max(mp.eigsy(A, eigvals_only=True))),
    "polar factor": (f"sum(W.*({U[0]}*{U[2]}'))", X, ROTATION, weighted(singular(lambda s: [1] * 4))),
    "low rank": (
        f"sum(W.*({U[0]}[:, :2]*diag({U[1]}[:2])*{U[2]}[:, :2]'))", X, tie(3, 3, 1, 1),
        weighted(singular(lambda s: [*s[:2], 0, 0])),
    ),
    "shrinkage": (
        f"sum(W.*({U[0]}*diag(max({U[1]} - 1/2, 0))*{U[2]}'))", X, 2 * ROTATION,
        weighted(singular(lambda s: [max(x - 0.5, 0) for x in s])),
    ),
    "nuclear norm": ("sum(svdvals(X))", X, 3 * ROTATION, on_values(mp.fsum)),
    "log of singular values": (
        "sum(log(1 + svdvals(X).^2))", X, ONE,
        on_values(lambda s: mp.fsum(mp.log(1 + x**2) for x in s)),
    ),
    "log of a sum": (
        f"logsumexp({w})", S, tie(1, 1, 1, 2),
        lambda A: mp.log(mp.fsum(mp.exp(x) for x in mp.eigsy(A, eigvals_only=True))),
    ),
    "ridge, rank 2": (
        f"sum(W.*({U[0]}*diag({U[1]}./({U[1]}.^2 + 1/2))*{U[2]}'))", X, low(2),
        weighted(singular(lambda s: [x / (x**2 + 0.5) for x in s])),
    ),
    "adjugate": ("sum(W.*(det(X)*inv(X)))", X, low(2), weighted(adjugate)),
    "Bures": ("tr(S) + tr(B) - 2*tr(sqrtm(sqrtm(S)*B*sqrtm(S)))", P + "; B: matrix(n, n) spd", SPREAD, bures),
    "affine-invariant": ("sum(log(eigvalsh(S, B)).^2)", P + "; B: matrix(n, n) spd", SPREAD, affine),
}  # fmt: skip


def differences(f, at, E, F):
    """Return the derivative along E, and the second along E and F, by central differences."""
    with mp.workdps(DIGITS):
        A, E, F = (mp.matrix(a) for a in (at, E, F))
        first = (f(A + STEP * E) - f(A - STEP * E)) / (2 * STEP)
        mixed = f(A + STEP * (E + F)) - f(A + STEP * (E - F)) - f(A - STEP * (E - F)) + f(A - STEP * (E + F))
        return float(first), float(mixed / (4 * STEP**2))


@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.sampled(93)
@pytest.mark.thinned(5)
def test_gradient_and_hessian(name, target):
    text, let, at, value = CASES[name]
    wrt = let[0]
    let += W if "W" in text else ""
    E, F = np.random.default_rng(3).standard_normal((2, 4, 4))
    if "X" not in wrt:
        E, F = E + E.T, F + F.T
    gradient, product = mc.gradient(text, wrt, let), mc.hvp(text, wrt, let, vector="F")
    function = mc.compile([gradient, product], target=target)
    data = {wrt: at, "W": WEIGHT, "B": SPREAD, "F": F}
    first, second = function(**{a: data[a] for a in function.args})
    wanted, mixed = differences(value, at, E, F)
    size = max(np.sum(np.abs(E * first)), abs(wanted))
    nearby = np.sum(np.abs(at)) * abs(mixed)  # how far the gradient changes at a matrix within rounding
    assert abs(np.sum(E * first) - wanted) <= BOUND * max(size, nearby)
    assert abs(np.sum(E * second) - mixed) <= BOUND * max(np.sum(np.abs(E * second)), abs(mixed), size) + TRUNCATION
