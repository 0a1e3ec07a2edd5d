"""The adjugate at any rank, and its derivative along one tangent.

det(X)*inv(X) from one LU is the adjugate of a nearby matrix. So it is accurate however close to singular X is (Stewart
1998, "On the adjugate matrix"); it is scaled if det(X) overflows. Only a zero or extreme pivot, or a determinant that
is too small, needs X = P*diag(s)*Q: adj(X) = det(P)*det(Q)*Q'*diag(products of the other s)*P'.
"""

import numpy as np
from numba import njit, types
from numba.types import float64, int64

from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT, PIVOTS, VECTOR
from matcalc.codegen.numba.lu import getrf, lu_det, lu_inv
from matcalc.codegen.numba.products import gemm
from matcalc.codegen.numba.spectral import gesdd


@njit(types.void(VECTOR, MATRIX_OUT), **EXACT)
def prod_without(s, W):
    """W[i,j] = the product of all entries of s except the i-th and j-th, without division."""
    n = s.shape[0]
    after = np.empty(n + 1)
    after[n] = 1.0
    for i in range(n - 1, -1, -1):
        after[i] = after[i + 1] * s[i]
    before = 1.0
    for i in range(n):
        W[i, i] = before * after[i + 1]
        between = before
        for j in range(i + 1, n):
            W[i, j] = between * after[j + 1]
            W[j, i] = W[i, j]
            between *= s[j]
        before *= s[i]


@njit(float64(MATRIX), **EXACT)
def orthogonal_sign(Q):
    """det(Q) of an orthogonal matrix: 1 or -1."""
    F = np.empty(Q.shape)
    p = np.empty(Q.shape[0], np.int32)
    getrf(Q, F, p)
    return 1.0 if lu_det(F, p) > 0.0 else -1.0


@njit(int64(MATRIX), **EXACT)
def moderate_pivots(F):
    """1 if the pivots are far enough from overflow and underflow that the inverse loses no digits, else 0."""
    for i in range(F.shape[0]):
        if not (1e-100 < abs(F[i, i]) < 1e100):
            return 0
    return 1


@njit(types.void(MATRIX, PIVOTS, MATRIX_OUT), **EXACT)
def times_large_det(F, p, C):
    """C *= det(X) for moderate pivots, where det(X) itself overflows; entries that overflow are infinite."""
    n = F.shape[0]
    d = 1.0
    count = 0
    for i in range(n):
        d *= F[i, i] if p[i] == i + 1 else -F[i, i]
        if abs(d) > 2.037035976334486e90:
            d *= 4.909093465297727e-91  # 2**-300, exactly
            count += 1
        elif abs(d) < 4.909093465297727e-91:
            d *= 2.037035976334486e90
            count -= 1
    for i in range(n):
        for j in range(n):
            entry = C[i, j] * d
            for _ in range(min(count, 8)):  # eight factors take the smallest number past the largest
                entry *= 2.037035976334486e90
            C[i, j] = entry


@njit(int64(MATRIX, MATRIX, PIVOTS, MATRIX_OUT), **EXACT)
def adj(X, F, p, C):
    """C = adj(X), from the LU factors of X."""
    n = X.shape[0]
    d = lu_det(F, p)
    if 1e-290 < abs(d) < 1e290 and lu_inv(F, p, C) == 0:
        for i in range(n):
            for j in range(n):
                C[i, j] *= d
        return 0
    if abs(d) >= 1e290 and moderate_pivots(F) and lu_inv(F, p, C) == 0:
        times_large_det(F, p, C)
        return 0
    P = np.empty((n, n))
    Q = np.empty((n, n))
    W = np.empty((n, n))
    s = np.empty(n)
    status = gesdd(1, X, P, s, Q)
    prod_without(s, W)
    sign = orthogonal_sign(P) * orthogonal_sign(Q)
    for i in range(n):
        for j in range(n):
            Q[i, j] *= sign * W[i, i]
    gemm(1, 1, 1.0, Q, P, 0.0, C)
    return status


@njit(int64(MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def adj_along(X, E, C):
    """C = the derivative of adj at X along E: a closed form in the singular bases of X."""
    n = X.shape[0]
    P = np.empty((n, n))
    Q = np.empty((n, n))
    W = np.empty((n, n))
    G = np.empty((n, n))
    H = np.empty((n, n))
    s = np.empty(n)
    status = gesdd(1, X, P, s, Q)
    prod_without(s, W)
    sign = orthogonal_sign(P) * orthogonal_sign(Q)
    gemm(1, 0, 1.0, P, E, 0.0, G)
    gemm(0, 1, 1.0, G, Q, 0.0, H)
    for i in range(n):
        for j in range(n):
            if i != j:
                G[i, j] = -sign * H[i, j] * W[i, j]
        total = 0.0
        for k in range(n):
            if k != i:
                total += H[k, k] * W[i, k]
        G[i, i] = sign * total
    gemm(1, 0, 1.0, Q, G, 0.0, H)
    gemm(0, 1, 1.0, H, P, 0.0, C)
    return status
