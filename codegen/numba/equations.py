"""Linear matrix equations by real Schur forms: sylvester, with lyapunov as a special case, and dlyapunov.

A Schur form is a shared factorisation: values and adjoints use the same one, because A' has that of A. Fortran reads
row-major arrays transposed: A*X + X*B = C is B'*X' + X'*A' = C'. Status 1 if eigenvalues coincide so that no unique
solution exists.
"""

import math

import numpy as np
from numba import njit, types
from numba.types import float64, int64

from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT, PRODUCTS, VECTOR, VECTOR_OUT, N, T, V, external
from matcalc.codegen.numba.products import copy_flipped, gemm
from matcalc.codegen.numba.spectral import fill, is_finite

dgees = external("lapack", "dgees", 14)
dtrsyl = external("lapack", "dtrsyl", 12)


@njit(int64(MATRIX, MATRIX_OUT, MATRIX_OUT), **EXACT)
def schur(A, F, Z):
    """A = Z'*F*Z with a lower Schur form F. By columns they are the Schur form and vectors of A'. NaN for NaN."""
    n = A.shape[0]
    copy_flipped(0, A, F)
    if n == 0:
        return 0
    if is_finite(A) == 0:
        fill(math.nan, F)
        fill(math.nan, Z)
        return 0
    values = np.empty((2, n))
    work = np.empty(64 * n)
    booleans = np.empty(n, np.int32)
    return dgees(V, N, 0, n, F, n, 0, values, (values, n), Z, n, work, 64 * n, booleans)


@njit(int64(int64, MATRIX, int64, MATRIX, MATRIX_OUT), **EXACT)
def trsyl(ta, F, tb, G, C):
    """Solve op(F)*X + X*op(G) = C in place, all arrays column by column."""
    n, m = C.shape
    scale = np.empty(1)
    info = dtrsyl(T if ta else N, T if tb else N, 1, m, n, F, m, G, n, C, m, scale)
    if scale[0] != 1.0:
        for i in range(n):
            for j in range(m):
                C[i, j] /= scale[0]
    return info


@njit(types.void(MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def turned(Z, C, W, Y):
    """Y = Z*C*W'."""
    H = np.empty(C.shape)
    gemm(0, 1, 1.0, C, W, 0.0, H)
    gemm(0, 0, 1.0, Z, H, 0.0, Y)


@njit(types.void(MATRIX, MATRIX_OUT, MATRIX, MATRIX_OUT), **EXACT)
def turned_back(Z, Y, W, X):
    """X = Z'*Y*W."""
    H = np.empty(Y.shape)
    gemm(1, 0, 1.0, Z, Y, 0.0, H)
    gemm(0, 0, 1.0, H, W, 0.0, X)


@njit(int64(int64, MATRIX, MATRIX, int64, MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def sylvester(ta, FA, ZA, tb, FB, ZB, C, X):
    """Solve op(A)*X + X*op(B) = C by the Schur forms of A and B; op transposes where its flag is 1."""
    m, n = C.shape
    if m == 0 or n == 0:
        return 0
    if is_finite(FA) == 0 or is_finite(FB) == 0 or is_finite(C) == 0:
        fill(math.nan, X)
        return 0
    Y = np.empty((m, n))
    turned(ZA, C, ZB, Y)
    status = trsyl(tb, FB, ta, FA, Y)
    turned_back(ZA, Y, ZB, X)
    return status


@njit(float64(int64, MATRIX, int64, VECTOR, int64), **PRODUCTS)
def row_times(i, U, first, v, offset):
    """Return the sum of U[i,k]*v[offset + k] from k = first on."""
    total = 0.0
    for k in range(first, U.shape[1]):
        total += U[i, k] * v[offset + k]
    return total


@njit(int64(int64, int64, MATRIX_OUT, VECTOR_OUT), **EXACT)
def small_solve(n, least, K, r):
    """r = inv(K)*r for the leading n x n part, by elimination; 1 if a pivot is within rounding of zero."""
    largest = 1.0
    for i in range(n):
        for j in range(n):
            largest = max(largest, abs(K[i, j]))
    close = least * 2.220446049250313e-16 * largest
    for j in range(n):
        p = j
        for i in range(j + 1, n):
            if abs(K[i, j]) > abs(K[p, j]):
                p = i
        if abs(K[p, j]) <= close:
            return 1
        for k in range(n):
            kept = K[j, k]
            K[j, k] = K[p, k]
            K[p, k] = kept
        kept = r[j]
        r[j] = r[p]
        r[p] = kept
        for i in range(j + 1, n):
            q = K[i, j] / K[j, j]
            for k in range(j, n):
                K[i, k] -= q * K[j, k]
            r[i] -= q * r[j]
    for back in range(n):
        i = n - 1 - back
        for k in range(i + 1, n):
            r[i] -= K[i, k] * r[k]
        r[i] /= K[i, i]
    return 0


@njit(int64(MATRIX, VECTOR_OUT), **EXACT)
def stein(U, y):
    """Solve U*Y*U' - Y = C in place for a real Schur form U; y holds C, then Y, column after column.

    Source: Barraud 1977; Kitagawa 1977.
    """
    n = U.shape[0]
    v = np.empty(2 * n)
    K = np.empty((4, 4))
    r = np.empty(4)
    j = n
    while j > 0:
        wide = 2 if j > 1 and U[j - 1, j - 2] != 0.0 else 1
        j -= wide
        # v = Y*U' from the known columns, then the rest of the right side
        for a in range(wide):
            for i in range(n):
                v[a * n + i] = 0.0
            for k in range(j + wide, n):
                share = U[j + a, k]
                for i in range(n):
                    v[a * n + i] += share * y[k * n + i]
        for a in range(wide):
            for i in range(n):
                y[(j + a) * n + i] -= row_times(i, U, max(0, i - 1), v, a * n)
        i = n
        while i > 0:
            tall = 2 if i > 1 and U[i - 1, i - 2] != 0.0 else 1
            i -= tall
            for q in range(tall):
                for a in range(wide):
                    r[q * wide + a] = y[(j + a) * n + i + q]
                for b in range(wide):
                    known = row_times(i + q, U, i + tall, y, (j + b) * n)
                    for a in range(wide):
                        r[q * wide + a] -= known * U[j + a, j + b]
                for p in range(tall):
                    for a in range(wide):
                        for b in range(wide):
                            same = 1.0 if p == q and a == b else 0.0
                            K[q * wide + a, p * wide + b] = U[i + q, i + p] * U[j + a, j + b] - same
            if small_solve(tall * wide, n, K, r):
                return 1
            for q in range(tall):
                for a in range(wide):
                    y[(j + a) * n + i + q] = r[q * wide + a]
    return 0


@njit(int64(int64, MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def dlyapunov(t, F, Z, C, X):
    """Solve op(A)*X*op(A)' - X + C = 0 by the Schur form of A."""
    n = C.shape[0]
    if n == 0:
        return 0
    if is_finite(F) == 0 or is_finite(C) == 0:
        fill(math.nan, X)
        return 0
    U = np.empty((n, n))
    Y = np.empty((n, n))
    y = np.empty(n * n)
    turned(Z, C, Z, Y)
    # F is lower: its transpose is upper, and so is F in reverse order
    last = n - 1
    for i in range(n):
        for j in range(n):
            U[i, j] = F[j, i] if t else F[last - i, last - j]
            y[j * n + i] = -(Y[i, j] if t else Y[last - i, last - j])
    status = stein(U, y)
    for i in range(n):
        for j in range(n):
            Y[i, j] = y[j * n + i] if t else y[(last - j) * n + last - i]
    turned_back(Z, Y, Z, X)
    return status
