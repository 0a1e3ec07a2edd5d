"""Symmetric positive definite matrices: S = L*L', one factor shared by solves, inverse and log-determinant.

Row-major L is the upper factor of the transposed matrix that Fortran reads. Kernels return 0, or 1 if S is not positive
definite; NaN or infinity in S gives NaN.
"""

import math

import numpy as np
from numba import njit, types
from numba.types import float64, int64

from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT, PRODUCTS, VECTOR, VECTOR_OUT, N, R, T, U, external
from matcalc.codegen.numba.envelopes import (
    chol_by_rows,
    chol_of_toeplitz,
    has_equal_diagonals,
    inv_by_rows,
    row_starts,
    work_by_rows,
)
from matcalc.codegen.numba.products import copy_flipped

dpotrf = external("lapack", "dpotrf", 4)
dpotrs = external("lapack", "dpotrs", 7)
dpotri = external("lapack", "dpotri", 4)
dtrsm = external("blas", "dtrsm", 11)


@njit(int64(MATRIX, MATRIX_OUT), **PRODUCTS)
def small_chol(S, L):
    """Factorise in place the lower triangle in L, by rows; faster than LAPACK up to order 32."""
    for i in range(L.shape[0]):
        for j in range(i):
            s = 0.0
            for k in range(j):
                s += L[i, k] * L[j, k]
            L[i, j] = (L[i, j] - s) / L[j, j]
        s = 0.0
        for k in range(i):
            s += L[i, k] * L[i, k]
        s = S[i, i] - s
        if not (0.0 < s < math.inf):
            return 1
        L[i, i] = math.sqrt(s)
    return 0


@njit(int64(MATRIX, MATRIX_OUT), **EXACT)
def chol(S, L):
    """Compute the lower L with S = L*L' and zeros above; only the lower triangle of S is read."""
    n = S.shape[0]
    if toeplitz_chol(S, L) == 0:
        return 0
    for i in range(n):
        for j in range(i + 1):
            L[i, j] = S[i, j]
        for j in range(i + 1, n):
            L[i, j] = 0.0
    if n <= 32:
        if small_chol(S, L) == 0:
            return 0
        return nan_for_nan(S, L)
    first = np.empty(n, np.int32)
    row_starts(S, first)
    if work_by_rows(first) < n * n // 16 * n:
        if chol_by_rows(S, first, L) == 0:
            return 0
    elif dpotrf(U, n, L, n) == 0:
        largest = 0.0
        for i in range(n):
            largest = max(largest, L[i, i])
        if largest < math.inf:  # LAPACK divides by it, which gives plausible zeros
            return 0
    return nan_for_nan(S, L)


@njit(int64(MATRIX, MATRIX_OUT), **EXACT)
def toeplitz_chol(S, L):
    """L as in `chol` for a large dense Toeplitz matrix; 1 if S is no such matrix, or if Schur's algorithm fails."""
    n = S.shape[0]
    if n <= 32 or has_equal_diagonals(S) == 0:
        return 1
    reach = n - 1
    while reach > 0 and S[reach, 0] == 0.0:
        reach -= 1
    if reach * reach < n:  # a narrow band takes less work
        return 1
    return chol_of_toeplitz(S, L)


@njit(int64(MATRIX, MATRIX_OUT), **EXACT)
def nan_for_nan(S, L):
    """Return the status of a failed factorisation: 1; if the lower triangle is not finite, 0 with NaN in L."""
    bad = 0
    for i in range(S.shape[0]):
        for j in range(i + 1):
            if not (abs(S[i, j]) < math.inf):
                bad = 1
    if bad == 0:
        return 1
    for i in range(S.shape[0]):
        for j in range(i + 1):
            L[i, j] = math.nan
    return 0


@njit(types.void(MATRIX, VECTOR, VECTOR_OUT), **EXACT)
def chol_solve_vec(L, b, z):
    """z = inv(L*L')*b."""
    n = L.shape[0]
    for i in range(n):
        z[i] = b[i]
    if n > 0:
        dpotrs(U, n, 1, L, n, z, n)


@njit(types.void(MATRIX, int64, MATRIX, MATRIX_OUT), **EXACT)
def chol_solve_rows(L, t, B, Z):
    """Z = (inv(L*L')*op(B))'."""
    copy_flipped(1 - t, B, Z)
    n = L.shape[0]
    if n > 0 and Z.shape[0] > 0:
        dpotrs(U, n, Z.shape[0], L, n, Z, n)


@njit(types.void(MATRIX, int64, MATRIX, MATRIX_OUT), **EXACT)
def chol_solve(L, t, B, Z):
    """Z = inv(L*L')*op(B), by two triangular solves from the right of Z'."""
    copy_flipped(t, B, Z)
    n, q = Z.shape
    if n == 0 or q == 0:
        return
    dtrsm(R, U, N, N, q, n, 1.0, L, n, Z, q)
    dtrsm(R, U, T, N, q, n, 1.0, L, n, Z, q)


@njit(int64(MATRIX, MATRIX_OUT), **EXACT)
def banded_chol_inv(L, C):
    """C as in `chol_inv`, its lower triangle, for a large L whose rows start with many zeros; 1 for another L."""
    n = L.shape[0]
    first = np.empty(n, np.int32)
    if row_starts(L, first) < n // 8 * n:
        inv_by_rows(L, first, C)
        return 0
    return 1


@njit(types.void(MATRIX, MATRIX_OUT), **PRODUCTS)
def small_chol_inv(L, C):
    """C = inv(L*L'), by rows of inv(L)' in the upper triangle; faster than LAPACK up to order 8."""
    n = L.shape[0]
    for c in range(n):
        C[c, c] = 1.0 / L[c, c]
        for i in range(c + 1, n):
            s = 0.0
            for k in range(c, i):
                s += L[i, k] * C[c, k]
            C[c, i] = -s / L[i, i]
    for i in range(n):  # entry (i, j) reads the rows i and j from column j on
        for j in range(i, n):
            s = 0.0
            for k in range(j, n):
                s += C[i, k] * C[j, k]
            C[i, j] = s
            C[j, i] = s


@njit(types.void(MATRIX, MATRIX_OUT), **EXACT)
def chol_inv(L, C):
    """C = inv(L*L')."""
    n = L.shape[0]
    if n <= 8:
        small_chol_inv(L, C)
        return
    if n <= 32 or banded_chol_inv(L, C):
        for i in range(n):
            for j in range(i + 1):
                C[i, j] = L[i, j]
        dpotri(U, n, C, n)
    for ib in range(0, n, 32):
        for jb in range(0, ib + 1, 32):
            for i in range(ib, min(ib + 32, n)):
                for j in range(jb, min(jb + 32, i)):
                    C[j, i] = C[i, j]


@njit(float64(MATRIX), **EXACT)
def chol_logdet(L):
    """log(det(L*L'))."""
    s = 0.0
    for i in range(L.shape[0]):
        s += math.log(L[i, i])
    return 2.0 * s
