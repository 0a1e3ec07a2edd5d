"""Linear matrix equations through real Schur forms: sylvester and lyapunov.

Row-major arrays are transposes to Fortran: A*X + X*B = C is B'*X' + X'*A' = C'. Status 1 where the spectra of
A and -B meet, so that no unique solution exists.
"""

import math

import numpy as np
from numba import njit
from numba.types import int64

from matcalc.codegen.numba.call import (
    EXACT,
    MATRIX,
    MATRIX_OUT,
    N,
    T,
    V,
    cell,
    external,
    integer,
    integer_at,
    letter,
    real_at,
)
from matcalc.codegen.numba.products import copy_flipped, gemm
from matcalc.codegen.numba.spectral import fill, is_finite

dgees = external("lapack", "dgees", 15)
dtrsyl = external("lapack", "dtrsyl", 13)


@njit(int64(MATRIX, MATRIX_OUT, MATRIX_OUT), **EXACT)
def schur(A, F, Z):
    """A' = Z'*F'*Z as stored: F and Z hold, column by column, the Schur form and vectors of A'."""
    n = A.shape[0]
    copy_flipped(0, A, F)
    if n == 0:
        return 0
    values = np.empty((2, n))
    work = np.empty(64 * n)
    booleans = np.empty(n, np.int32)
    order = integer(n)
    info = cell()
    dgees(
        letter(V),
        letter(N),
        0,
        order,
        F,
        order,
        cell(),
        values,
        (values, n),
        Z,
        order,
        work,
        integer(64 * n),
        booleans,
        info,
    )
    return 0 if integer_at(info) == 0 else 1


@njit(int64(int64, MATRIX, int64, MATRIX, MATRIX_OUT), **EXACT)
def trsyl(ta, F, tb, G, C):
    """Solve op(F)*X + X*op(G) = C in place, all arrays column by column."""
    n, m = C.shape
    scale = cell()
    info = cell()
    left = integer(m)
    right = integer(n)
    dtrsyl(
        letter(T if ta else N),
        letter(T if tb else N),
        integer(1),
        left,
        right,
        F,
        left,
        G,
        right,
        C,
        left,
        scale,
        info,
    )
    divisor = real_at(scale)
    for i in range(n):
        for j in range(m):
            C[i, j] /= divisor
    return 0 if integer_at(info) == 0 else 1


@njit(int64(MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def sylvester(A, B, C, X):
    """X with A*X + X*B = C."""
    m, n = C.shape
    if m == 0 or n == 0:
        return 0
    if is_finite(A) == 0 or is_finite(B) == 0:
        fill(math.nan, X)
        return 0
    FA = np.empty((m, m))
    ZA = np.empty((m, m))
    FB = np.empty((n, n))
    ZB = np.empty((n, n))
    H = np.empty((m, n))
    if schur(A, FA, ZA) or schur(B, FB, ZB):
        return 1
    # Fortran solves FB*Y + Y*FA = ZB'*C'*ZA; here ZA and ZB are the transposes of its vectors
    gemm(0, 1, 1.0, C, ZB, 0.0, H)
    gemm(0, 0, 1.0, ZA, H, 0.0, X)
    status = trsyl(0, FB, 0, FA, X)
    gemm(1, 0, 1.0, ZA, X, 0.0, H)
    gemm(0, 0, 1.0, H, ZB, 0.0, X)
    return status


@njit(int64(MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def lyapunov(A, C, X):
    """X with A*X + X*A' = C: one Schur form."""
    n = A.shape[0]
    if n == 0:
        return 0
    if is_finite(A) == 0:
        fill(math.nan, X)
        return 0
    F = np.empty((n, n))
    Z = np.empty((n, n))
    H = np.empty((n, n))
    if schur(A, F, Z):
        return 1
    gemm(0, 1, 1.0, C, Z, 0.0, H)
    gemm(0, 0, 1.0, Z, H, 0.0, X)
    status = trsyl(1, F, 0, F, X)
    gemm(1, 0, 1.0, Z, X, 0.0, H)
    gemm(0, 0, 1.0, H, Z, 0.0, X)
    return status
