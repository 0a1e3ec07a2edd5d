"""General square matrices: one LU factorisation shared by solves, inverse, determinant and adjugate.

Fortran reads X', so F and p are P*L*U = X' and flags are reversed. The factorisation itself never fails. A kernel that
divides by pivots returns 1 if one is exactly zero.
"""

import math

import numpy as np
from numba import njit, types
from numba.types import boolean, float64, int64

from matcalc.codegen.numba.call import (
    EXACT,
    MATRIX,
    MATRIX_OUT,
    PIVOTS,
    PIVOTS_OUT,
    SUMS,
    VECTOR,
    VECTOR_OUT,
    L,
    N,
    R,
    T,
    U,
    external,
)
from matcalc.codegen.numba.cholesky import dtrsm
from matcalc.codegen.numba.envelopes import bandwidths, eliminate_band
from matcalc.codegen.numba.products import copy_flipped

dgetrf = external("lapack", "dgetrf", 5)
dgetrs = external("lapack", "dgetrs", 8)
dgetri = external("lapack", "dgetri", 6)


@njit(float64(MATRIX), **SUMS)
def spoilt(X):
    """Return 0, or NaN if an entry is NaN or infinite: by a sum, which takes eight entries at a time."""
    total = 0.0
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            total += X[i, j] * 0.0
    return total


@njit(types.void(MATRIX, MATRIX_OUT, PIVOTS_OUT), **EXACT)
def getrf(X, F, p):
    """F, p = the packed LU factors of X' and the row swaps, counted from 1; NaN throughout if X is not finite.

    LAPACK skips a NaN as pivot, and an infinite pivot leaves zeros: both would give plausible solutions.
    """
    n = X.shape[0]
    if spoilt(X) != 0.0:
        for i in range(n):
            p[i] = i + 1
            for j in range(n):
                F[i, j] = math.nan
        return
    copy_flipped(0, X, F)
    reach = np.empty(2, np.int32)
    if n > 32 and bandwidths(X, reach) < n // 8:
        eliminate_band(F, p, reach[1], reach[0])
        return
    if n > 0:
        dgetrf(n, n, F, n, p)
    if has_subnormal(F):
        copy_flipped(0, X, F)
        eliminate(F, p)


@njit(boolean(MATRIX), **EXACT)
def has_subnormal(F):
    """Whether a pivot is subnormal: OpenBLAS does not divide by subnormal pivots."""
    found = False
    for i in range(min(F.shape[0], F.shape[1])):
        found = found or 0.0 < abs(F[i, i]) < 2.2250738585072014e-308
    return found


@njit(types.void(MATRIX_OUT, PIVOTS_OUT), **EXACT)
def eliminate(F, p):
    """F, p = the result of dgetrf for the matrix that Fortran reads in F, one entry at a time."""
    n, m = F.shape
    for k in range(p.shape[0]):
        best = k
        for i in range(k, m):
            if abs(F[k, i]) > abs(F[k, best]):
                best = i
        p[k] = best + 1
        for j in range(n):
            kept = F[j, k]
            F[j, k] = F[j, best]
            F[j, best] = kept
        if F[k, k] == 0.0:
            continue
        for i in range(k + 1, m):
            F[k, i] /= F[k, k]
        for j in range(k + 1, n):
            for i in range(k + 1, m):
                F[j, i] -= F[k, i] * F[j, k]


@njit(int64(MATRIX), **EXACT)
def zero_pivot(F):
    """Return 1 if a diagonal entry is exactly zero, else 0."""
    for i in range(F.shape[0]):
        if F[i, i] == 0.0:
            return 1
    return 0


@njit(int64(int64, MATRIX, PIVOTS, VECTOR, VECTOR_OUT), **EXACT)
def lu_solve_vec(t, F, p, b, z):
    """z = inv(op(X))*b."""
    n = F.shape[0]
    for i in range(n):
        z[i] = b[i]
    if zero_pivot(F):
        return 1
    if n > 0:
        dgetrs(N if t else T, n, 1, F, n, p, z, n)
    return 0


@njit(int64(int64, MATRIX, PIVOTS, int64, MATRIX, MATRIX_OUT), **EXACT)
def lu_solve_rows(t, F, p, tb, B, Z):
    """Z = (inv(op(X))*op(B))'."""
    copy_flipped(1 - tb, B, Z)
    if zero_pivot(F):
        return 1
    n = F.shape[0]
    if n > 0 and Z.shape[0] > 0:
        dgetrs(N if t else T, n, Z.shape[0], F, n, p, Z, n)
    return 0


@njit(types.void(PIVOTS, int64, MATRIX_OUT), **EXACT)
def swap_rows(p, reverse, Z):
    """Apply the row swaps p to Z, first to last or last to first."""
    n = p.shape[0]
    for step in range(n):
        i = n - 1 - step if reverse else step
        k = p[i] - 1
        if k != i:
            for j in range(Z.shape[1]):
                kept = Z[i, j]
                Z[i, j] = Z[k, j]
                Z[k, j] = kept


@njit(int64(int64, MATRIX, PIVOTS, int64, MATRIX, MATRIX_OUT), **EXACT)
def lu_solve(t, F, p, tb, B, Z):
    """Z = inv(op(X))*op(B), by two triangular solves from the right of Z'."""
    copy_flipped(tb, B, Z)
    if zero_pivot(F):
        return 1
    n, q = Z.shape
    if n == 0 or q == 0:
        return 0
    if t:
        swap_rows(p, 0, Z)
        dtrsm(R, L, T, U, q, n, 1.0, F, n, Z, q)
        dtrsm(R, U, T, N, q, n, 1.0, F, n, Z, q)
        return 0
    dtrsm(R, U, N, N, q, n, 1.0, F, n, Z, q)
    dtrsm(R, L, N, U, q, n, 1.0, F, n, Z, q)
    swap_rows(p, 1, Z)
    return 0


@njit(int64(MATRIX, PIVOTS, MATRIX_OUT), **EXACT)
def lu_inv(F, p, C):
    """C = inv(X)."""
    copy_flipped(0, F, C)
    if zero_pivot(F):
        return 1
    n = F.shape[0]
    if n > 0:
        work = np.empty(64 * n)
        dgetri(n, C, n, p, work, 64 * n)
    return 0


@njit(float64(MATRIX, PIVOTS), **EXACT)
def lu_sign(F, p):
    """Return the sign of det(X); 0 if X is singular, NaN if a pivot is NaN."""
    s = 1.0
    for i in range(F.shape[0]):
        pivot = F[i, i] if p[i] == i + 1 else -F[i, i]
        s *= pivot if pivot == 0.0 or math.isnan(pivot) else math.copysign(1.0, pivot)
    return s


@njit(float64(MATRIX, PIVOTS), **EXACT)
def lu_det(F, p):
    """det(X); 0 if X is singular."""
    d = 1.0
    for i in range(F.shape[0]):
        d *= F[i, i] if p[i] == i + 1 else -F[i, i]
    return d
