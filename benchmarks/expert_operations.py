"""Hand-written code for `operations.toml`: NumPy and SciPy, one factorisation for value and gradient."""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl
from problems import FORWARD_SEED, Call, Data, Problem
from scipy.linalg import lapack


def det(X):
    factors, pivots, _ = lapack.dgetrf(X)
    value = np.prod(np.diag(factors)) * (-1.0) ** np.sum(pivots != np.arange(len(X)))
    return value, value * lapack.dgetri(factors, pivots)[0].T


def logdet(X):
    factors, pivots, _ = lapack.dgetrf(X)
    return np.sum(np.log(np.abs(np.diag(factors)))), lapack.dgetri(factors, pivots)[0].T


def logdet_spd(S):
    L = lapack.dpotrf(S, lower=1)[0]
    return 2.0 * np.sum(np.log(np.diag(L))), symmetric(lapack.dpotri(L, lower=1)[0])


def inv(X, G):
    Y = np.linalg.inv(X)
    return Y, -Y.T @ G @ Y.T


def inv_spd(S, C):
    L = lapack.dpotrf(S, lower=1)[0]
    Y = symmetric(lapack.dpotri(L, lower=1)[0])
    return np.vdot(Y, C), -Y @ C @ Y


def solve(A, b, G):
    factors = sl.lu_factor(A)
    x, w = sl.lu_solve(factors, b), sl.lu_solve(factors, G, trans=1)
    return x, -np.outer(w, x), w


def chol(S, G):
    L = np.linalg.cholesky(S)
    P = np.tril(L.T @ np.tril(G))
    np.fill_diagonal(P, np.diag(P) / 2.0)
    W = sl.solve_triangular(L, sl.solve_triangular(L, P.T, lower=True, trans=1).T, lower=True, trans=1)
    return L, (W + W.T) / 2.0


def qr(X, G):
    Q, R = np.linalg.qr(X)
    signs = np.sign(np.diag(R))
    Q, R = Q * signs, signs[:, None] * R
    T = np.triu(np.triu(G) @ R.T)
    return R, Q @ sl.solve_triangular(R, T + np.triu(T, 1).T).T


def eigenvalues(S):
    w, V = np.linalg.eigh(S)
    f = np.exp(w)
    return np.sum(f), (V * f) @ V.T


def symmetric_log(S, G):
    w, V = np.linalg.eigh(S)
    gap = w[:, None] - w
    near = np.abs(gap) < 1e-3 * w
    with np.errstate(all="ignore"):
        D = np.where(near, np.log1p(gap / w) / np.where(gap == 0, 1, gap), (np.log(w)[:, None] - np.log(w)) / gap)
    D[gap == 0] = np.broadcast_to(1.0 / w, D.shape)[gap == 0]
    return (V * np.log(w)) @ V.T, V @ (D * (V.T @ ((G + G.T) / 2) @ V)) @ V.T


def symmetric_root(S, G):
    w, V = np.linalg.eigh(S)
    r = np.sqrt(w)
    return (V * r) @ V.T, V @ ((V.T @ ((G + G.T) / 2) @ V) / (r[:, None] + r)) @ V.T


def lambda_max(S):
    w, V = np.linalg.eigh(S)
    return w[-1], np.outer(V[:, -1], V[:, -1])


def nuclear(X):
    U, s, V = np.linalg.svd(X, full_matrices=False)
    return np.sum(s), U @ V


def singular_values(X):
    U, s, V = np.linalg.svd(X, full_matrices=False)
    return np.sum(np.log1p(s**2)), (U * (2.0 * s / (1.0 + s**2))) @ V


def polar(X, G):
    U, s, V = np.linalg.svd(X, full_matrices=False)
    K = U.T @ G @ V.T
    return U @ V, U @ ((K - K.T) / (s[:, None] + s)) @ V


def pinv(X, G):
    Y = np.linalg.pinv(X)
    M = Y @ Y.T
    return Y, -Y.T @ G @ Y.T + (G.T - X @ (Y @ G.T)) @ M + Y.T @ (Y @ (G.T - (G.T @ Y) @ X))


def expm(X, G):
    return sl.expm(X), sl.expm_frechet(X.T, G, compute_expm=False)


def sylvester(A, B, C, G):
    r, u = sl.schur(A)
    s, v = sl.schur(B)
    Y, scale, _ = lapack.dtrsyl(r, s, u.T @ C @ v)
    W, other, _ = lapack.dtrsyl(r, s, u.T @ G @ v, trana="T", tranb="T")
    Y, W = u @ (Y / scale) @ v.T, u @ (W / other) @ v.T
    return Y, -W @ Y.T, -Y.T @ W, W


def symmetric(L):
    return np.tril(L) + np.tril(L, -1).T


def build(problem: Problem, data: Data) -> Call:
    """Return a function without arguments that computes the answer from `data`."""
    answer = globals()[problem.name]
    names = [*problem.shapes, *([FORWARD_SEED] if problem.gives == "pullback" else [])]
    args = [data[name] for name in names]
    return lambda: answer(*args)
