"""Linear algebra by NumPy and SciPy in matcalc's conventions: fixed signs, error texts passed by the caller."""

import numpy as np
from scipy import linalg


def chol(S, fault):
    """Return the lower L with S = L*L'; only the lower triangle of S is read. NaN or infinity in it gives NaN."""
    L, info = linalg.lapack.dpotrf(S, lower=1, clean=1)
    if info != 0 or not np.all(np.isfinite(np.diagonal(L))):
        if np.all(np.isfinite(np.tril(S))):
            raise np.linalg.LinAlgError(fault)
        return np.tril(np.full(S.shape, np.nan))
    return np.ascontiguousarray(L)


def chol_solve(L, B):
    """inv(L*L')*B."""
    return linalg.solve_triangular(
        L,
        linalg.solve_triangular(L, B, lower=True, check_finite=False),
        lower=True,
        trans=1,
        check_finite=False,
    )


def chol_inv(L):
    """inv(L*L')."""
    C = linalg.solve_triangular(L, np.eye(len(L)), lower=True, check_finite=False)
    return C.T @ C


def chol_logdet(L):
    """log(det(L*L'))."""
    return 2.0 * np.sum(np.log(np.diagonal(L)))


def getrf(X):
    """Return packed LU factors of X and its row swaps, NaN throughout if X is not finite; never fails."""
    if len(X) == 0:
        return np.empty((0, 0)), np.empty(0, np.int32)
    if not np.all(np.isfinite(X)):
        return np.full(X.shape, np.nan), np.arange(len(X), dtype=np.int32)
    F, p, _ = linalg.lapack.dgetrf(X)
    return eliminated(X) if has_subnormal(F) else (F, p)


def has_subnormal(F):
    """Whether a pivot is subnormal: OpenBLAS does not divide by subnormal pivots."""
    pivots = np.abs(np.diagonal(F))
    return np.any((pivots > 0.0) & (pivots < 2.2250738585072014e-308))


def eliminated(X):
    """Return packed LU factors of X and its row swaps, one column at a time."""
    F, p = X.copy(), np.arange(min(X.shape), dtype=np.int32)
    for k in range(len(p)):
        p[k] += np.argmax(np.abs(F[k:, k]))
        F[[k, p[k]]] = F[[p[k], k]]
        F[k + 1 :, k] /= F[k, k] if F[k, k] != 0.0 else 1.0
        F[k + 1 :, k + 1 :] -= np.outer(F[k + 1 :, k], F[k, k + 1 :])
    return F, p


def lu_solve(t, F, p, B, fault):
    """inv(X)*B, or inv(X')*B where t is 1."""
    if np.any(np.diagonal(F) == 0.0):
        raise np.linalg.LinAlgError(fault)
    if B.size == 0:
        return np.empty(B.shape)
    return linalg.lapack.dgetrs(F, p, B, trans=t)[0].reshape(B.shape)


def lu_inv(F, p, fault):
    """inv(X)."""
    return lu_solve(0, F, p, np.eye(len(F)), fault)


def lu_sign(F, p):
    """Return the sign of det(X)."""
    return np.prod(np.sign(np.diagonal(F))) * (-1.0) ** np.count_nonzero(p != np.arange(len(p)))


def lu_det(F, p):
    """det(X)."""
    return np.prod(np.diagonal(F)) * (-1.0) ** np.count_nonzero(p != np.arange(len(p)))


def definite_or_lu(X):
    """Return the Cholesky factor of X and -1 for each row if X is positive definite, else the result of getrf."""
    if len(X) and np.all(np.diagonal(X) > 0.0):
        L, info = linalg.lapack.dpotrf(X, lower=1, clean=1)
        if info == 0 and np.all(np.isfinite(np.diagonal(L))):
            return L, np.full(len(X), -1, np.int32)
    return getrf(X)


def is_definite(p):
    """Whether the factor is a Cholesky factor."""
    return len(p) > 0 and p[0] < 0


def symmetric_solve(F, p, B, fault):
    """inv(X)*B."""
    return chol_solve(F, B) if is_definite(p) else lu_solve(0, F, p, B, fault)


def symmetric_inv(F, p, fault):
    """inv(X)."""
    return chol_inv(F) if is_definite(p) else lu_inv(F, p, fault)


def symmetric_logdet(F, p):
    """log(abs(det(X)))."""
    return chol_logdet(F) if is_definite(p) else tri_logdet(F)


def symmetric_sign(F, p):
    """Return the sign of det(X)."""
    return 1.0 if is_definite(p) else lu_sign(F, p)


def symmetric_det(F, p):
    """det(X)."""
    return tri_det(F) ** 2 if is_definite(p) else lu_det(F, p)


def tri_solve(lower, t, A, B, fault):
    """inv(A)*B for triangular A, or inv(A')*B where t is 1."""
    if np.any(np.diagonal(A) == 0.0):
        raise np.linalg.LinAlgError(fault)
    if B.size == 0:
        return np.empty(B.shape)
    return linalg.solve_triangular(A, B, lower=bool(lower), trans=t, check_finite=False)


def tri_logdet(A):
    """log(abs(det(A))) for triangular A, or packed LU factors."""
    return np.sum(np.log(np.abs(np.diagonal(A))))


def tri_det(A):
    """det(A) for triangular A."""
    return np.prod(np.diagonal(A))


def prod_without(s):
    """Return, for each i and j, the product of all other entries of s, without division."""
    n = len(s)
    W = np.ones((n, n))
    for i in range(n):
        for j in range(n):
            W[i, j] = np.prod(np.delete(s, [i, j]))
    return W


def adj(X, F, p):
    """Return the adjugate at any rank: det*inv, or by singular values if a pivot is zero."""
    d = lu_det(F, p)
    if 1e-290 < abs(d) < 1e290:
        return d * lu_inv(F, p, "")
    P, s, Q = finite_svd(X)
    sign = np.linalg.det(P) * np.linalg.det(Q)
    return (Q.T * (sign * np.diagonal(prod_without(s)))) @ P.T


def adj_along(X, E):
    """Return the derivative of the adjugate at X along E, in the bases of the singular vectors."""
    P, s, Q = finite_svd(X)
    H = P.T @ E @ Q.T
    W = prod_without(s)
    np.fill_diagonal(W, 0.0)  # products with one more factor, which may overflow
    D = -H * W
    D[np.diag_indices(len(s))] = W @ np.diagonal(H)
    return np.linalg.det(P) * np.linalg.det(Q) * (Q.T @ D @ P.T)


def finite_svd(X):
    """NumPy's thin svd; NaN where X is not finite."""
    k = min(X.shape)
    if k == 0 or not np.all(np.isfinite(X)):
        shapes = ((X.shape[0], k), (k,), (k, X.shape[1]))
        return tuple(np.full(shape, np.nan) for shape in shapes)
    return np.linalg.svd(X, full_matrices=False)


def signs_of_largest(V):
    """Return the sign of the entry of largest magnitude of each column."""
    if V.size == 0:
        return np.ones(V.shape[1])
    return np.where(np.take_along_axis(V, np.argmax(np.abs(V), axis=0)[None, :], axis=0)[0] < 0.0, -1.0, 1.0)


def exponent_of(X):
    """Return e so that the largest magnitude in X is between 2^(e-1) and 2^e; 0 if all entries are 0."""
    return int(np.frexp(np.max(np.abs(X), initial=0.0))[1])


def eigh(S):
    """Return eigenvalues, ascending, and eigenvectors. S is scaled to size 1, else LAPACK might not terminate."""
    if not np.all(np.isfinite(S)):
        return np.full(len(S), np.nan), np.full(S.shape, np.nan)
    exponent = exponent_of(S)
    w, V = np.linalg.eigh(np.ldexp(S, -exponent))
    return np.ldexp(w, exponent), V * signs_of_largest(V)


def eigvalsh(S):
    """Return eigenvalues, ascending."""
    return np.linalg.eigvalsh(S) if np.all(np.isfinite(S)) else np.full(len(S), np.nan)


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
    if not np.all(np.isfinite(X)):
        k = min(X.shape)
        return np.full((len(X), k), np.nan), np.full((k, X.shape[1]), np.nan)
    Q, R = np.linalg.qr(X)
    sign = np.where(np.diagonal(R) < 0.0, -1.0, 1.0)
    R = R * sign[:, None] + 0.0  # no -0 below the diagonal
    for j in range(len(sign)):
        column = np.ldexp(R[: j + 1, j], -exponent_of(R[: j + 1, j]))
        if column[j] <= 4.0 * len(X) * np.finfo(float).eps * np.linalg.norm(column):
            R[j, j] = 0.0
    return Q * sign, R


def tie_mean(zero, w, g):
    """Return means of g over neighbours where the sorted w is equal within rounding; optionally 0 where w is 0."""
    if not np.all(np.isfinite(w)):
        return np.full(w.shape, np.nan)
    close = 4.0 * len(w) * np.finfo(float).eps * np.max(np.abs(w), initial=0.0)
    starts = np.flatnonzero(~(np.abs(np.diff(w, prepend=np.nan)) <= close))
    counts = np.diff(starts, append=len(w))
    means = np.repeat(np.add.reduceat(g, starts) / counts, counts) if len(w) else np.zeros(0)
    return np.where(np.abs(w) <= 4.0 * close, 0.0, means) if zero else means


def equal_mean(w, g):
    """Return the means of g over neighbours where the sorted w is the same."""
    starts = np.flatnonzero(np.append(True, w[1:] != w[:-1]))
    counts = np.diff(starts, append=len(w))
    return np.repeat(np.add.reduceat(g, starts) / counts, counts) if len(w) else np.zeros(0)


def real_values(y, w, fault):
    """y, the values of a function at w; raise LinAlgError if one is NaN where w is not."""
    if np.any(np.isnan(y) & ~np.isnan(w)):
        raise np.linalg.LinAlgError(fault)
    return np.array(y)  # a result must not be an argument's array, because results may be overwritten


def gap_middle(w, k):
    """Return the middle between the k-th and the (k+1)-th largest entry; NaN if they are equal within rounding."""
    n = len(w)
    if n == 0:
        return 0.0
    u, k = np.sort(w)[::-1], min(k, n)
    largest = np.max(np.abs(u))
    above = u[k - 1] if k > 0 else u[0] + largest + 1.0
    below = u[k] if k < n else u[-1] - largest - 1.0
    return above / 2.0 + below / 2.0 if above - below > 4.0 * n * np.finfo(float).eps * largest else np.nan


def eig_top(w, V, k):
    """Return the projector on the last k eigenvectors; eigenvalues tied at the cut (within rounding) share it."""
    k = min(k, len(w))
    if k <= 0 or not np.all(np.isfinite(w)):
        return np.zeros(V.shape) * np.sum(w)
    close = 4.0 * len(w) * np.finfo(float).eps * np.max(np.abs(w))
    above = w - w[-k] > close
    tied = np.abs(w - w[-k]) <= close
    share = (k - np.count_nonzero(above)) / np.count_nonzero(tied)
    return (V * np.where(above, 1.0, np.where(tied, share, 0.0))) @ V.T


def svd_top(X):
    """Return the mean of u*v' over the largest singular values; 0 if they are 0."""
    return svd_end(1, *svd(X))


def svd_end(top, U, s, V):
    """Return the mean of u*v' over the largest, or smallest, singular values; 0 if they are 0, NaN if infinite."""
    close = 4.0 * (len(U) + len(V)) * np.finfo(float).eps * np.max(s, initial=0.0)
    if len(s) == 0 or (s[0] == 0.0 if top else s[-1] <= close):
        return np.zeros((len(U), len(V)))
    if not np.isfinite(s[0]):
        return np.full((len(U), len(V)), np.nan)
    chosen = ~(s[0] - s > close) if top else ~(s - s[-1] > close)
    return U[:, chosen] @ V[:, chosen].T / np.count_nonzero(chosen)


def pinv(X):
    """Return the Moore-Penrose inverse; singular values within rounding of the largest count as zero."""
    exponent = exponent_of(X)
    P, s, Q = finite_svd(np.ldexp(X, -exponent))
    close = max(X.shape) * np.finfo(float).eps * np.max(s, initial=0.0)
    return np.ldexp((Q.T * np.where(s <= close, 0.0, 1.0 / np.where(s == 0.0, 1.0, s))) @ P.T, -exponent)
