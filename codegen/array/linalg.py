"""Linear algebra for the arrays of any framework, written with NumPy's names.

No array is changed, and control flow does not depend on entries. A traced function cannot fail, so a result that cannot
be computed is NaN.
"""

import numpy as np

from matcalc.codegen.array.functions import prod_others
from matcalc.codegen.jax.arrays import (
    by_factors,
    cholesky,
    eps_of,
    lu_factors,
    matrix_exponential,
    run_starts,
    set_at,
    swaps,
    triangular_solution,
)


def only_finite(test, x):
    """x; all NaN if the test fails."""
    return np.where(test, x, np.nan)


def chol(S, fault):
    """Return the lower L with S = L*L', NaN if S is not positive definite; only the lower triangle of S is read."""
    L = cholesky(np.tril(S) + np.tril(S, -1).T)
    return only_finite(np.all(np.isfinite(np.diagonal(L))), L)


def columns(B):
    """Return a vector as a matrix."""
    return B[:, None] if B.ndim == 1 else B


def chol_solve(L, B):
    """inv(L*L')*B."""
    half = triangular_solution(1, 0, L, columns(B))
    return triangular_solution(1, 1, L, half).reshape(B.shape)


def chol_inv(L):
    """inv(L*L')."""
    C = triangular_solution(1, 0, L, np.eye(len(L)))
    return C.T @ C


def chol_logdet(L):
    """log(det(L*L'))."""
    return 2.0 * np.sum(np.log(np.diagonal(L)))


def getrf(X):
    """Return packed LU factors of X and its row swaps."""
    return lu_factors(X)


def lu_solve(t, F, p, B, fault):
    """inv(X)*B, or inv(X')*B where t is 1."""
    return only_finite(np.all(np.diagonal(F) != 0.0), by_factors(t, F, p, columns(B)).reshape(B.shape))


def lu_inv(F, p, fault):
    """inv(X)."""
    return lu_solve(0, F, p, np.eye(len(F)), fault)


def lu_sign(F, p):
    """Return the sign of det(X)."""
    return np.prod(np.sign(np.diagonal(F))) * (1.0 - 2.0 * (swaps(p) % 2))


def lu_det(F, p):
    """det(X)."""
    return np.prod(np.diagonal(F)) * (1.0 - 2.0 * (swaps(p) % 2))


def tri_solve(lower, t, A, B, fault):
    """inv(A)*B for triangular A, or inv(A')*B where t is 1."""
    X = triangular_solution(lower, t, A, columns(B)).reshape(B.shape)
    return only_finite(np.all(np.diagonal(A) != 0.0), X)


def tri_logdet(A):
    """log(abs(det(A))) for triangular A, or packed LU factors."""
    return np.sum(np.log(np.abs(np.diagonal(A))))


def tri_det(A):
    """det(A) for triangular A."""
    return np.prod(np.diagonal(A))


def signs_of_largest(V):
    """Return the sign of the entry of largest magnitude of each column."""
    if 0 in V.shape:
        return np.ones(V.shape[1])
    chosen = np.take_along_axis(V, np.argmax(np.abs(V), axis=0)[None, :], axis=0)[0]
    return np.where(chosen < 0.0, -1.0, 1.0)


def eigh(S):
    """Return eigenvalues, ascending, and eigenvectors; NaN where S is not finite."""
    is_finite = np.all(np.isfinite(S))
    w, V = np.linalg.eigh(np.where(is_finite, S, 0.0))
    return only_finite(is_finite, w), only_finite(is_finite, V * signs_of_largest(V))


def eigvalsh(S):
    """Return eigenvalues, ascending."""
    return eigh(S)[0]


def finite_svd(X):
    """Return the thin svd; NaN where X is not finite."""
    is_finite = np.all(np.isfinite(X))
    P, s, Q = np.linalg.svd(np.where(is_finite, X, 0.0))
    return only_finite(is_finite, P), only_finite(is_finite, s), only_finite(is_finite, Q)


def svd(X):
    """Return U, s, V with X = U*diag(s)*V', thin."""
    P, s, Q = finite_svd(X)
    sign = signs_of_largest(P)
    return P * sign, s, Q.T * sign


def svdvals(X):
    """Return singular values, descending."""
    return finite_svd(X)[1]


def qr(X):
    """Return thin Q, R with X = Q*R, diag(R) >= 0; 0 where a column depends, within rounding, on earlier ones."""
    is_finite = np.all(np.isfinite(X))
    Q, R = np.linalg.qr(np.where(is_finite, X, 0.0))
    sign = np.where(np.diagonal(R) < 0.0, -1.0, 1.0)
    R = np.triu(R * sign[:, None])
    k = len(sign)
    lengths = np.sqrt(np.sum(R * R, axis=0))[:k]
    off = np.diagonal(R) <= 4.0 * len(X) * eps_of(X) * lengths
    R = np.where(np.eye(*R.shape) * off[:, None] > 0.0, 0.0, R)
    return only_finite(is_finite, Q * sign), only_finite(is_finite, R)


def tie_mean(zero, w, g):
    """Return means of g over neighbours where the sorted w is equal within rounding; optionally 0 where w is 0."""
    if len(w) == 0:
        return g
    close = 4.0 * len(w) * eps_of(w) * np.max(np.abs(w))
    first = np.concatenate((np.ones(1) > 0.0, ~(np.abs(w[1:] - w[:-1]) <= close)))
    sums, counts = run_starts(first, g)
    means = np.where(np.abs(w) <= 4.0 * close, 0.0, sums / counts) if zero else sums / counts
    return only_finite(np.all(np.isfinite(w)), means)


def equal_mean(w, g):
    """Return the means of g over neighbours where the sorted w is the same."""
    if len(w) == 0:
        return g
    sums, counts = run_starts(np.concatenate((np.ones(1) > 0.0, w[1:] != w[:-1])), g)
    return sums / counts


def real_values(y, w, fault):
    """y, the values of a function at w; all NaN if one is NaN where w is not."""
    return only_finite(~np.any(np.isnan(y) & ~np.isnan(w)), y)


def eig_top(w, V, k):
    """Return the projector on the last k eigenvectors; eigenvalues tied at the cut (within rounding) share it."""
    k = min(k, len(w))
    if k <= 0:
        return np.zeros(V.shape) * np.sum(w)
    close = 4.0 * len(w) * eps_of(w) * np.max(np.abs(w))
    above = np.where(w - w[-k] > close, 1.0, 0.0)
    tied = np.where(np.abs(w - w[-k]) <= close, 1.0, 0.0)
    share = (k - np.sum(above)) / np.sum(tied)
    return (V * np.where(above > 0.0, 1.0, tied * share)) @ V.T


def svd_top(X):
    """Return the mean of u*v' over the largest singular values; 0 where these are 0."""
    return svd_end(1, *svd(X))


def svd_end(top, U, s, V):
    """Return the mean of u*v' over the largest singular values, or the smallest; 0 where these are 0."""
    if len(s) == 0:
        return np.zeros((len(U), len(V)))
    close = 4.0 * (len(U) + len(V)) * eps_of(s) * np.max(s)
    end = s[0] if top else s[-1]
    chosen = np.where(np.abs(end - s) > close, 0.0, 1.0)
    return np.where((s[0] == 0.0) if top else (end <= close), 0.0, (U * chosen) @ V.T / np.sum(chosen))


def over_gaps(sign, factor, w, K):
    """K[i, j]/(w[j] + sign*w[i]), NaN at gaps within rounding, 0 on the diagonal and where K is 0."""
    if len(w) == 0:
        return K
    gap = w[None, :] + sign * w[:, None]
    gap = np.where(np.abs(gap) <= factor * len(w) * eps_of(w) * np.max(np.abs(w)), np.nan, gap)
    return np.where((K == 0.0) | (np.eye(len(w)) > 0.0), 0.0, K / gap)


def columndiv(w, K):
    """K[i, j]/w[j], NaN where that is within rounding of 0, 0 where K is 0."""
    close = 4.0 * (K.shape[0] + K.shape[1]) * eps_of(w) * np.max(np.abs(w), initial=0.0)
    return np.where(K == 0.0, 0.0, K / np.where(np.abs(w) <= close, np.nan, w))


def tie_same(w, g):
    """g; NaN where neighbours have w equal within rounding, but not g."""
    if len(w) == 0:
        return g
    spread = 64.0 * len(w) * eps_of(w) * np.max(np.abs(g))
    return np.where(np.abs(g - tie_mean(0, w, g)) > spread, np.nan, g)


def gap_middle(w, k):
    """Return the middle between the k-th and the (k+1)-th largest entry; NaN if they are equal within rounding."""
    n = len(w)
    if n == 0:
        return np.zeros(())
    u, k = np.flip(np.sort(w)), min(k, n)
    largest_ = np.max(np.abs(u))
    above = u[k - 1] if k > 0 else u[0] + largest_ + 1.0
    below = u[k] if k < n else u[-1] - largest_ - 1.0
    return np.where(above - below > 4.0 * n * eps_of(w) * largest_, above / 2.0 + below / 2.0, np.nan)


def pivots_used(R, k):
    """1 where LU of k rows divides by R[j, j], 0 where that is zero or in the last row, NaN if within rounding."""
    pivots, column = np.abs(np.diagonal(R)), np.max(np.abs(np.triu(R)), axis=0, initial=0.0)
    known = np.where(pivots > 4.0 * len(R) * eps_of(R) * column, 1.0, np.nan)
    return np.where((pivots == 0.0) | (np.arange(len(R)) + 1 >= k), 0.0, known)


def pivoted(R, k):
    """R, with a column of the identity where `pivots_used` is 0, and NaN where it is NaN."""
    used = pivots_used(R, k)
    return np.where(used == 1.0, R, np.where(used == 0.0, np.eye(len(R)), np.nan))


def prod_without(s):
    """Return, for each i and j, the product of all other entries of s, without division."""
    n = len(s)
    rows = [prod_others(np.where(np.eye(n)[i] > 0.0, 1.0, s)) for i in range(n)]
    return np.stack(rows) if n else np.zeros((0, 0))


def adj(X, F, p):
    """Return the adjugate at any rank, through singular values."""
    P, s, Q = finite_svd(X)
    sign = np.linalg.det(P) * np.linalg.det(Q)
    return (Q.T * (sign * prod_others(s))) @ P.T


def adj_along(X, E):
    """Return the derivative of the adjugate at X along E, in the bases of the singular vectors."""
    P, s, Q = finite_svd(X)
    H = P.T @ E @ Q.T
    W = prod_without(s)
    off = np.where(np.eye(len(s)) > 0.0, 0.0, W)
    D = np.where(np.eye(len(s)) > 0.0, np.diag(off @ np.diagonal(H)), -H * W)
    return np.linalg.det(P) * np.linalg.det(Q) * (Q.T @ D @ P.T)


def scattered(p, b):
    """Return z with z[p] = b."""
    return set_at(b, (p,), b)


def pade(X):
    """Return X and unused values in the form of `pade`: the framework itself computes the exponential."""
    n = len(X)
    return np.concatenate((X, np.zeros((6 * n, n)))), np.arange(n), np.zeros(2)


def expm(t, P, p, h, *E):
    """Return the exponential of X, or its derivative along tangents E: a block of exp of a block matrix."""
    n = P.shape[1]
    X = P[:n].T if t else P[:n]
    A, size = X, n
    for e in E:
        zeros = np.zeros((size, size))
        step = e if size == n else diagonal_twice(e)
        A = np.concatenate((np.concatenate((A, step), 1), np.concatenate((zeros, A), 1)))
        size = 2 * size
    return matrix_exponential(A)[:n, size - n :] if n else X


def diagonal_twice(e):
    """[e, 0; 0, e]."""
    zeros = np.zeros(e.shape)
    return np.concatenate((np.concatenate((e, zeros), 1), np.concatenate((zeros, e), 1)))


def pinv(X):
    """Return the Moore-Penrose inverse; singular values within rounding of the largest count as zero."""
    P, s, Q = finite_svd(X)
    close = max(X.shape) * eps_of(X) * np.max(s, initial=0.0)
    return (Q.T * np.where(s <= close, 0.0, 1.0 / np.where(s == 0.0, 1.0, s))) @ P.T
