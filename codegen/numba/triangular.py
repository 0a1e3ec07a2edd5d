"""Solves with triangular matrices, without a factorisation. Status 1 if a diagonal entry is exactly zero."""

import math

from numba import njit
from numba.types import float64, int64

from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT, VECTOR, VECTOR_OUT, L, N, R, T, U, external
from matcalc.codegen.numba.cholesky import dtrsm
from matcalc.codegen.numba.lu import zero_pivot
from matcalc.codegen.numba.products import copy_flipped

dtrsv = external("blas", "dtrsv", 8)
dtrtri = external("lapack", "dtrtri", 5)


@njit(int64(int64, int64, MATRIX, VECTOR, VECTOR_OUT), **EXACT)
def trsv(lower, t, A, b, z):
    """z = inv(op(A))*b for A stored as lower or upper triangular."""
    n = A.shape[0]
    for i in range(n):
        z[i] = b[i]
    if zero_pivot(A):
        return 1
    if n > 0:
        dtrsv(U if lower else L, N if t else T, N, n, A, n, z, 1)
    return 0


@njit(int64(int64, int64, int64, MATRIX, int64, MATRIX, MATRIX_OUT), **EXACT)
def trsm(turned, lower, t, A, tb, B, Z):
    """Z = inv(op(A))*op(B), or its transpose if `turned`."""
    copy_flipped(1 - tb if turned else tb, B, Z)
    if zero_pivot(A):
        return 1
    m, n = Z.shape
    if m > 0 and n > 0:
        uplo = U if lower else L
        flag = T if t != turned else N
        dtrsm(L if turned else R, uplo, flag, N, n, m, 1.0, A, A.shape[0], Z, n)
    return 0


@njit(int64(int64, MATRIX, MATRIX_OUT), **EXACT)
def tri_inv(lower, A, C):
    """C = inv(A) for triangular A, zeros in the other triangle."""
    n = A.shape[0]
    for i in range(n):
        for j in range(n):
            kept = j <= i if lower else j >= i
            C[i, j] = A[i, j] if kept else 0.0
    if zero_pivot(A):
        return 1
    if n > 0:
        dtrtri(U if lower else L, N, n, C, n)
    return 0


@njit(float64(MATRIX), **EXACT)
def tri_logdet(A):
    """log(abs(det(A))) for triangular A, or packed LU factors; -inf if A is singular."""
    s = 0.0
    for i in range(A.shape[0]):
        s += math.log(abs(A[i, i]))
    return s


@njit(float64(MATRIX), **EXACT)
def tri_det(A):
    """det(A) for triangular A."""
    d = 1.0
    for i in range(A.shape[0]):
        d *= A[i, i]
    return d
