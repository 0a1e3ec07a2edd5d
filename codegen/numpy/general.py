"""Functions of the eigenvalues of general matrices, the factors P, L, U, and the Pfaffian, by NumPy and SciPy."""

import numpy as np
from scipy import linalg

from matcalc.codegen.numpy.linalg import (
    eliminated,
    exponent_of,
    finite_svd,
    has_subnormal,
    prod_without,
    signs_of_largest,
)


def eig(X, fault):
    """Return the eigenvalues, ascending, and eigenvectors of unit length, if the spectrum is real."""
    if not np.all(np.isfinite(X)):
        return np.full(len(X), np.nan), np.full(X.shape, np.nan)
    w, V = np.linalg.eig(X)
    w = real_parts(w, X, fault)
    order = np.argsort(w, kind="stable")
    V = V.real[:, order]
    V = V / np.linalg.norm(V, axis=0)
    return w[order], V * signs_of_largest(V)


def eigvals(X, fault):
    """Return the eigenvalues, ascending, if they are real."""
    if not np.all(np.isfinite(X)):
        return np.full(len(X), np.nan)
    return np.sort(real_parts(np.linalg.eigvals(X), X, fault))


def real_parts(w, X, fault):
    """Return the eigenvalues of X if real within rounding: a tie may be computed as a conjugate pair."""
    if np.max(np.abs(w.imag), initial=0.0) > 4.0 * len(w) * np.finfo(float).eps * np.max(np.abs(X), initial=0.0):
        raise np.linalg.LinAlgError(fault)
    return w.real


def spectral_radius(X):
    """Return the largest modulus of an eigenvalue."""
    return np.max(np.abs(np.linalg.eigvals(X)), initial=0.0) if np.all(np.isfinite(X)) else np.nan


def perron(X, fault=None):
    """Return the gradient of the spectral radius; with a fault the eigenvalue must be real.

    NaN if another eigenvalue, not its conjugate, is equally large within rounding.
    """
    if len(X) == 0 or not np.all(np.isfinite(X)):
        return np.full(X.shape, np.nan)
    X = np.ldexp(X, -exponent_of(X))  # beyond 1e138 some builds of LAPACK return scaled eigenvalues
    w, left, right = linalg.eig(X, left=True)
    top = np.argmax(np.abs(w))
    if fault and w[top].imag != 0.0:
        raise np.linalg.LinAlgError(fault)
    u, v = left[:, top].conj(), right[:, top]
    with np.errstate(all="ignore"):
        close = 4.0 * len(w) * np.finfo(float).eps * (np.abs(u) @ np.abs(X) @ np.abs(v)) / np.abs(u @ v)
        conjugate = (w == w[top].conj()) & (w[top].imag != 0.0)
        others = w[(np.arange(len(w)) != top) & ~conjugate]
        direction = w[top].conj() / np.abs(w[top]) if w[top] != 0.0 else 0.0
        simple = np.all(np.abs(w[top]) - np.abs(others) > close)
        return np.real(np.outer(u, v) * (direction / (u @ v) if simple else np.nan))


def lu(X):
    """Return P, L, U with X = P*L*U."""
    m, n = X.shape
    k = min(m, n)
    if not np.all(np.isfinite(X)):
        return np.full((m, m), np.nan), np.full((m, k), np.nan), np.full((k, n), np.nan)
    P, L, U = linalg.lu(X) if k > 0 else (np.eye(m), np.eye(m, k), np.zeros((k, n)))
    if has_subnormal(U):
        F, p = eliminated(X)
        order = np.arange(m)
        for i in range(k):
            order[[i, p[i]]] = order[[p[i], i]]
        P, L, U = np.eye(m)[order].T, np.tril(F[:, :k], -1) + np.eye(m, k), np.triu(F[:k])
    return P, L, U


def sort_order(x):
    """Return the indices that sort x in ascending order."""
    return np.argsort(x, kind="stable").astype(np.int32)


def scattered(p, b):
    """Return z with z[p] = b."""
    z = np.empty(len(p))
    z[p] = b
    return z


def skew_basis(A):
    """Return X, Y, s with A = X*diag(s)*Y' - Y*diag(s)*X', and the sign of Pf(A), as if no s were 0."""
    K, Q = linalg.hessenberg((A - A.T) / 2, calc_q=True)
    B = K[::2, 1::2]
    P, s, R = finite_svd(np.tril(B))
    sign = np.sign(np.linalg.det(Q) * np.linalg.det(P) * np.linalg.det(R))
    return Q[:, ::2] @ P, Q[:, 1::2] @ R.T, s, sign


def pfaffian(A):
    """Return Pf of the skew part of A."""
    n = len(A)
    if n % 2 or n == 0 or not np.all(np.isfinite(A)):
        return np.sum(0.0 * A) + 1.0 - n % 2
    K, Q = linalg.hessenberg((A - A.T) / 2, calc_q=True)
    return np.sign(np.linalg.det(Q)) * np.prod(np.diagonal(K, 1)[::2])


def pfaffian_adj(A):
    """Return the derivatives of Pf(A) in A[i,j] = -A[j,i]."""
    if len(A) % 2 or len(A) == 0 or not np.all(np.isfinite(A)):
        return np.full(A.shape, np.sum(0.0 * A))
    X, Y, s, sign = skew_basis(A)
    C = (X * (sign * np.diagonal(prod_without(s)))) @ Y.T
    return C - C.T


def pfaffian_adj_along(A, E):
    """Return the derivative of `pfaffian_adj` at A along the skew part of E."""
    if len(A) % 2 or len(A) == 0 or not (np.all(np.isfinite(A)) and np.all(np.isfinite(E))):
        return np.full(A.shape, np.sum(0.0 * A) + np.sum(0.0 * E))
    X, Y, s, sign = skew_basis(A)
    D = (E - E.T) / 2
    W = prod_without(s)
    W = sign * (W - np.diag(np.diagonal(W)))
    XX, XY, YY = X.T @ D @ X, X.T @ D @ Y, Y.T @ D @ Y
    P = np.diag(W @ np.diagonal(XY)) - W * XY.T
    C = X @ (W * -YY / 2) @ X.T + Y @ (W * -XX / 2) @ Y.T + X @ P @ Y.T
    return C - C.T
