"""The Pfaffian of a skew matrix and its derivatives, correct at any rank.

An orthogonal Q makes a skew matrix tridiagonal, and its odd and even rows form a bidiagonal B. B = P*diag(s)*R gives
A = X*diag(s)*Y' - Y*diag(s)*X' with orthonormal columns. Pf(A) is, up to sign, the product of s. Its derivatives are
products of the other s, without division. The skew parts of the arguments are used. At odd sizes the Pfaffian is 0.
"""

import math

import numpy as np
from numba import njit, types
from numba.types import float64, int64

from matcalc.codegen.numba.adjugate import orthogonal_sign, prod_without
from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT, VECTOR_OUT, external
from matcalc.codegen.numba.products import gemm
from matcalc.codegen.numba.spectral import fill, gesdd, is_finite

dgehrd = external("lapack", "dgehrd", 8)
dorghr = external("lapack", "dorghr", 8)


@njit(float64(int64, MATRIX, MATRIX_OUT, VECTOR_OUT), **EXACT)
def skew_tridiagonal(vectors, A, F, k):
    """A = F'*K*F with k above the diagonal of K; F is formed if requested. Return the determinant of F."""
    n = A.shape[0]
    for i in range(n):
        for j in range(n):
            F[i, j] = A[j, i] / 2 - A[i, j] / 2
    tau = np.empty(n)
    work = np.empty(64 * n)
    dgehrd(n, 1, n, F, n, tau, work, 64 * n)
    sign = 1.0
    for i in range(n - 1):
        k[i] = F[i + 1, i] / 2 - F[i, i + 1] / 2
        if tau[i] != 0.0:
            sign = -sign
    if vectors:
        dorghr(n, 1, n, F, n, tau, work, 64 * n)
    return sign


@njit(float64(MATRIX), **EXACT)
def pfaffian(A):
    """Pf(A) (Wimmer 2012)."""
    n = A.shape[0]
    if is_finite(A) == 0:
        return math.nan
    if n % 2 or n == 0:
        return 1.0 - n % 2
    k = np.empty(n)
    F = np.empty((n, n))
    product = skew_tridiagonal(0, A, F, k)
    for i in range(0, n, 2):
        product *= k[i]
    return product


@njit(float64(MATRIX, MATRIX_OUT, MATRIX_OUT, VECTOR_OUT), **EXACT)
def skew_basis(A, X, Y, s):
    """A = X'*diag(s)*Y - Y'*diag(s)*X. Return the sign of Pf(A) as if no s were 0; NaN if s does not converge."""
    n = A.shape[0]
    h = n // 2
    F = np.empty((n, n))
    k = np.empty(n)
    sign = skew_tridiagonal(1, A, F, k)
    B = np.zeros((h, h))
    P = np.empty((h, h))
    R = np.empty((h, h))
    odd = np.empty((h, n))
    even = np.empty((h, n))
    for p in range(h):
        B[p, p] = k[2 * p]
        if p > 0:
            B[p, p - 1] = -k[2 * p - 1]
        for j in range(n):
            odd[p, j] = F[2 * p, j]
            even[p, j] = F[2 * p + 1, j]
    if gesdd(1, B, P, s, R) != 0:
        return math.nan
    gemm(1, 0, 1.0, P, odd, 0.0, X)
    gemm(0, 0, 1.0, R, even, 0.0, Y)
    return sign * orthogonal_sign(P) * orthogonal_sign(R)


@njit(types.void(float64, MATRIX, MATRIX, MATRIX, float64, MATRIX_OUT), **EXACT)
def congruent(alpha, X, M, Y, beta, C):
    """C = alpha*X'*M*Y + beta*C."""
    H = np.empty((M.shape[0], Y.shape[1]))
    gemm(0, 0, 1.0, M, Y, 0.0, H)
    gemm(1, 0, alpha, X, H, beta, C)


@njit(float64(int64, MATRIX, MATRIX_OUT, MATRIX_OUT, MATRIX_OUT, MATRIX_OUT), **EXACT)
def basis_of(finite, A, X, Y, W, C):
    """As skew_basis, with W = the products of all s except two. Return 0 if C already holds the result."""
    n = A.shape[0]
    fill(0.0 if finite else math.nan, C)
    if n % 2 or n == 0 or finite == 0:
        return 0.0
    s = np.empty(n // 2)
    sign = skew_basis(A, X, Y, s)
    if sign == sign:
        prod_without(s, W)
    return sign


@njit(int64(MATRIX, MATRIX_OUT), **EXACT)
def pfaffian_adj(A, C):
    """C[i,j] = the derivative of Pf in A[i,j] = -A[j,i]."""
    n = A.shape[0]
    h = n // 2
    X = np.empty((h, n))
    Y = np.empty((h, n))
    W = np.empty((h, h))
    sign = basis_of(is_finite(A), A, X, Y, W, C)
    if sign == 0.0:
        return 0
    if sign != sign:
        return 1
    for i in range(h):
        for j in range(n):
            Y[i, j] *= sign * W[i, i]
    gemm(1, 0, 1.0, X, Y, 0.0, C)
    skew_twice(C)
    return 0


@njit(types.void(MATRIX_OUT), **EXACT)
def skew_twice(C):
    """C = C - C'."""
    for i in range(C.shape[0]):
        C[i, i] = 0.0
        for j in range(i):
            C[i, j] -= C[j, i]
            C[j, i] = -C[i, j]


@njit(int64(MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def pfaffian_adj_along(A, E, C):
    """C = the derivative of pfaffian_adj at A along E, its skew part: Pfaffians of four rows in the basis of A."""
    n = A.shape[0]
    h = n // 2
    X = np.empty((h, n))
    Y = np.empty((h, n))
    W = np.empty((h, h))
    sign = basis_of(is_finite(A) and is_finite(E), A, X, Y, W, C)
    if sign == 0.0:
        return 0
    if sign != sign:
        return 1
    D = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            D[i, j] = E[i, j] / 2 - E[j, i] / 2
    XX = np.empty((h, h))
    XY = np.empty((h, h))
    YY = np.empty((h, h))
    H = np.empty((h, n))
    gemm(0, 0, 1.0, X, D, 0.0, H)
    gemm(0, 1, 1.0, H, X, 0.0, XX)
    gemm(0, 1, 1.0, H, Y, 0.0, XY)
    gemm(0, 0, 1.0, Y, D, 0.0, H)
    gemm(0, 1, 1.0, H, Y, 0.0, YY)
    P = np.empty((h, h))
    for i in range(h):
        total = 0.0
        for j in range(h):
            if i != j:
                total += W[i, j] * XY[j, j]
                P[i, j] = -sign * W[i, j] * XY[j, i]
        P[i, i] = sign * total
        for j in range(h):
            kept = XX[i, j]
            XX[i, j] = 0.0 if i == j else -sign * W[i, j] * YY[i, j] / 2
            YY[i, j] = 0.0 if i == j else -sign * W[i, j] * kept / 2
    congruent(1.0, X, XX, X, 0.0, C)
    congruent(1.0, Y, YY, Y, 1.0, C)
    congruent(1.0, X, P, Y, 1.0, C)
    skew_twice(C)
    return 0
