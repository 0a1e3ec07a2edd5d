"""Products of matrices and vectors. Fortran reads row-major arrays transposed: C = A*B is C' = B'*A'.

BLAS reads no operand if alpha is 0 or the sum is empty. Here alpha always multiplies the sum: 0 times NaN is NaN, and
so is infinity times an empty sum (1/m times the sum over m = 0 rows).
"""

import numpy as np
from numba import njit, types
from numba.types import float64, int64

from matcalc.codegen.numba.call import (
    EXACT,
    MATRIX,
    MATRIX_OUT,
    PRODUCTS,
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

dgemm = external("blas", "dgemm", 13)
dgemv = external("blas", "dgemv", 11)
dsyrk = external("blas", "dsyrk", 10)
dsymv = external("blas", "dsymv", 10)
dsymm = external("blas", "dsymm", 12)
dtrmm = external("blas", "dtrmm", 11)


@njit(types.void(int64, int64, float64, MATRIX, MATRIX, float64, MATRIX_OUT), **EXACT)
def gemm_narrow(ta, tb, alpha, A, B, beta, C):
    """C as in `gemm`, with few columns: OpenBLAS computes a wide C' 1.1 to 2 times faster, then transposed."""
    m, n = C.shape
    k = A.shape[0] if ta else A.shape[1]
    turned = np.empty((n, m))
    dgemm(N if ta else T, N if tb else T, m, n, k, alpha, A, A.shape[1], B, B.shape[1], 0.0, turned, m)
    for start in range(0, m, 32):
        for j in range(n):
            for i in range(start, min(start + 32, m)):
                C[i, j] = turned[j, i] + (beta * C[i, j] if beta != 0.0 else 0.0)


@njit(types.void(float64, MATRIX, MATRIX, float64, MATRIX_OUT), **EXACT)
def gemm_turned(alpha, A, B, beta, C):
    """C = alpha*A*B' + beta*C by a copy of B'; OpenBLAS takes 1.2 to 2 times as long for small products with B'."""
    n, k = B.shape
    turned = np.empty((k, n))
    rows = n - n % 4
    for j in range(0, rows, 4):
        for i in range(k):
            turned[i, j] = B[j, i]
            turned[i, j + 1] = B[j + 1, i]
            turned[i, j + 2] = B[j + 2, i]
            turned[i, j + 3] = B[j + 3, i]
    for j in range(rows, n):
        for i in range(k):
            turned[i, j] = B[j, i]
    dgemm(N, N, n, C.shape[0], k, alpha, turned, n, A, k, beta, C, n)


@njit(types.void(int64, int64, float64, MATRIX, MATRIX, float64, MATRIX_OUT), **EXACT)
def gemm_tiny(ta, tb, alpha, A, B, beta, C):
    """C as in `gemm`, by loops: below about 64 multiplications the call of BLAS alone takes longer."""
    m, n = C.shape
    k = A.shape[0] if ta else A.shape[1]
    for i in range(m):
        for j in range(n):
            s = 0.0
            for p in range(k):
                a = A[p, i] if ta else A[i, p]
                b = B[j, p] if tb else B[p, j]
                s += a * b
            C[i, j] = alpha * s + (beta * C[i, j] if beta != 0.0 else 0.0)


@njit(types.void(int64, int64, float64, MATRIX, MATRIX, float64, MATRIX_OUT), **EXACT)
def gemm(ta, tb, alpha, A, B, beta, C):
    """C = alpha*op(A)*op(B) + beta*C; op transposes where its flag is 1."""
    m, n = C.shape
    k = A.shape[0] if ta else A.shape[1]
    if m == 0 or n == 0:
        return
    if k == 0 or alpha == 0.0:
        total = np.zeros((m, n))
        if k > 0:
            gemm_narrow(ta, tb, 1.0, A, B, 0.0, total)
        for i in range(m):
            for j in range(n):
                C[i, j] = alpha * total[i, j] + (beta * C[i, j] if beta != 0.0 else 0.0)
        return
    if m * n * k <= 64:
        gemm_tiny(ta, tb, alpha, A, B, beta, C)
        return
    if n <= 200 and m > 4 * n and ((ta and 8 <= n <= 32 and m * k > 150000) or m * k > 2000000):
        gemm_narrow(ta, tb, alpha, A, B, beta, C)
        return
    if tb and not ta and m >= 8 and m * n * k <= 1000000:
        gemm_turned(alpha, A, B, beta, C)
        return
    dgemm(T if tb else N, T if ta else N, n, m, k, alpha, B, B.shape[1], A, A.shape[1], beta, C, n)


@njit(types.void(int64, float64, MATRIX, VECTOR, float64, VECTOR_OUT), **PRODUCTS)
def gemv(t, alpha, A, x, beta, y):
    """y = alpha*op(A)*x + beta*y: loops over blocks of four rows while A fits in cache, else dgemv."""
    m, n = A.shape
    if m * n > 65536 and alpha != 0.0:
        dgemv(N if t else T, n, m, alpha, A, n, x, 1, beta, y, 1)
        return
    if beta == 0.0:
        for i in range(y.shape[0]):
            y[i] = 0.0
    elif beta != 1.0:
        for i in range(y.shape[0]):
            y[i] *= beta
    if t and m == 0:
        for j in range(n):
            y[j] += alpha * 0.0
    blocks = m - m % 4
    if t:
        for i in range(0, blocks, 4):
            x0 = alpha * x[i]
            x1 = alpha * x[i + 1]
            x2 = alpha * x[i + 2]
            x3 = alpha * x[i + 3]
            for j in range(n):
                y[j] += (x0 * A[i, j] + x1 * A[i + 1, j]) + (x2 * A[i + 2, j] + x3 * A[i + 3, j])
        for i in range(blocks, m):
            x0 = alpha * x[i]
            for j in range(n):
                y[j] += x0 * A[i, j]
        return
    for i in range(0, blocks, 4):
        s0 = 0.0
        s1 = 0.0
        s2 = 0.0
        s3 = 0.0
        for j in range(n):
            s0 += A[i, j] * x[j]
            s1 += A[i + 1, j] * x[j]
            s2 += A[i + 2, j] * x[j]
            s3 += A[i + 3, j] * x[j]
        y[i] += alpha * s0
        y[i + 1] += alpha * s1
        y[i + 2] += alpha * s2
        y[i + 3] += alpha * s3
    for i in range(blocks, m):
        s0 = 0.0
        for j in range(n):
            s0 += A[i, j] * x[j]
        y[i] += alpha * s0


@njit(float64(VECTOR, VECTOR), **SUMS)
def dot(x, y):
    """x'*y."""
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * y[i]
    return s


@njit(types.void(float64, VECTOR, VECTOR, float64, MATRIX_OUT), **EXACT)
def ger(alpha, x, y, beta, C):
    """C = alpha*x*y' + beta*C."""
    for i in range(C.shape[0]):
        xi = alpha * x[i]
        if beta == 0.0:
            for j in range(C.shape[1]):
                C[i, j] = xi * y[j]
        else:
            for j in range(C.shape[1]):
                C[i, j] = xi * y[j] + beta * C[i, j]


@njit(types.void(MATRIX_OUT), **EXACT)
def mirror_upper(C):
    """Copy the upper triangle onto the lower one, in tiles that stay in cache."""
    n = C.shape[0]
    for ib in range(0, n, 32):
        for jb in range(0, ib + 1, 32):
            for i in range(ib, min(ib + 32, n)):
                for j in range(jb, min(jb + 32, i)):
                    C[i, j] = C[j, i]


@njit(types.void(int64, float64, MATRIX, float64, MATRIX_OUT), **EXACT)
def syrk(t, alpha, A, beta, C):
    """C = alpha*A'*A + beta*C, or alpha*A*A' + beta*C where t is 1; half the work of gemm, then mirrored."""
    n = C.shape[0]
    k = A.shape[1] if t else A.shape[0]
    # C need not be symmetric; mirroring would lose half of it
    if beta != 0.0 or alpha == 0.0 or k == 0 or n < 4:
        gemm(1 - t, t, alpha, A, A, beta, C)
        return
    dsyrk(L, T if t else N, n, k, alpha, A, A.shape[1], 0.0, C, n)
    mirror_upper(C)


@njit(types.void(float64, MATRIX, VECTOR, float64, VECTOR_OUT), **EXACT)
def symv(alpha, A, x, beta, y):
    """y = alpha*A*x + beta*y for symmetric A: reads one triangle once A no longer fits in cache."""
    n = A.shape[0]
    if n < 300 or alpha == 0.0:
        gemv(0, alpha, A, x, beta, y)
        return
    dsymv(L, n, alpha, A, n, x, 1, beta, y, 1)


@njit(types.void(float64, MATRIX, MATRIX, float64, MATRIX_OUT), **EXACT)
def symm(alpha, A, B, beta, C):
    """C = alpha*A*B + beta*C for symmetric A."""
    m, n = C.shape
    if m == 0 or n == 0 or alpha == 0.0:
        gemm(0, 0, alpha, A, B, beta, C)
        return
    dsymm(R, L, n, m, alpha, A, m, B, n, beta, C, n)


@njit(types.void(int64, MATRIX, MATRIX_OUT), **EXACT)
def copy_flipped(t, B, C):
    """C = B, or B' where t is 1."""
    m, n = C.shape
    if t == 0:
        for i in range(m):
            for j in range(n):
                C[i, j] = B[i, j]
        return
    for ib in range(0, m, 32):
        for jb in range(0, n, 32):
            for i in range(ib, min(ib + 32, m)):
                for j in range(jb, min(jb + 32, n)):
                    C[i, j] = B[j, i]


@njit(types.void(int64, int64, int64, MATRIX, int64, MATRIX, MATRIX_OUT), **EXACT)
def trmm(turned, lower, ta, A, tb, B, C):
    """C = op(A)*op(B), or its transpose if `turned`, for A stored as lower or upper triangular."""
    m, n = C.shape
    copy_flipped(1 - tb if turned else tb, B, C)
    if m == 0 or n == 0:
        return
    dtrmm(L if turned else R, U if lower else L, T if ta != turned else N, N, n, m, 1.0, A, A.shape[0], C, n)
