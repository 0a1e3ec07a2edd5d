"""Arithmetic on jets: an algorithm for a matrix function, run on jets, also computes its derivatives.

A jet is X + e1*E1 + e2*E2 + ... with e1^2 = e2^2 = 0. It is a stack of 2^k matrices; the one at S is the coefficient of
the product of the e whose bits are set in S. The last matrix of a function of a jet is the k-th derivative along all
tangents, linear in each whatever its size. One product becomes 3^k.
"""

import math

import numpy as np
from numba import njit, types
from numba.types import float64, int64

from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT, PIVOTS, N
from matcalc.codegen.numba.lu import dgetrf, dgetrs
from matcalc.codegen.numba.products import dgemm
from matcalc.codegen.numba.spectral import exponent_of, fill, scale_by


@njit(int64(int64, MATRIX, int64, MATRIX_OUT), **EXACT)
def put_scaled(exponent, X, place, J):
    """Store 2^exponent*X at `place` in a stack; return 1 if an entry of X is not finite."""
    n = J.shape[1]
    first = max(-1000, min(1000, exponent))
    factor = math.ldexp(1.0, first)
    rest = math.ldexp(1.0, exponent - first)
    total = 0.0
    for i in range(n):
        for j in range(n):
            x = X[i, j]
            total += 0.0 * x
            J[n * place + i, j] = x * factor * rest
    return 0 if total == 0.0 else 1


@njit(types.void(int64, float64, MATRIX, int64, MATRIX, int64, float64, MATRIX_OUT, int64), **EXACT)
def stack_gemm(ta, alpha, A, a, B, b, beta, C, c):
    """C[c] = alpha*op(A[a])*B[b] + beta*C[c] for matrices of stacks; op transposes where ta is 1."""
    n = C.shape[1]
    size = n * n
    dgemm(N, N + 6 * ta, n, n, n, alpha, (B, size * b), n, (A, size * a), n, beta, (C, size * c), n)


@njit(types.void(float64, MATRIX, MATRIX, float64, MATRIX_OUT), **EXACT)
def jet_gemm(alpha, A, B, beta, C):
    """C = alpha*A*B + beta*C for jets."""
    jet_gemm_from(0, alpha, A, B, beta, C)


@njit(types.void(int64, float64, MATRIX, MATRIX, float64, MATRIX_OUT), **EXACT)
def jet_gemm_from(first, alpha, A, B, beta, C):
    """C = alpha*A*B + beta*C for jets; the matrices of C before `first` are already computed."""
    for S in range(first, C.shape[0] // C.shape[1]):
        T = S
        onto = beta
        while T >= 0:
            stack_gemm(0, alpha, A, T, B, S ^ T, onto, C, S)
            onto = 1.0
            T = (T - 1) & S if T > 0 else -1


@njit(int64(MATRIX, MATRIX_OUT), **EXACT)
def jet_divide(D, B):
    """B = B*inv(D) for jets, in place; 1 if D is singular."""
    n = D.shape[1]
    F = np.empty((n, n))
    p = np.empty(n, np.int32)
    put_scaled(0, D, 0, F)
    if dgetrf(n, n, F, n, p) != 0:
        return 1
    jet_divide_from(0, F, p, D, B)
    return 0


@njit(types.void(int64, MATRIX, PIVOTS, MATRIX, MATRIX_OUT), **EXACT)
def jet_divide_from(first, F, p, D, B):
    """B = B*inv(D) for jets, by the factors F, p of D's first matrix; those of B before `first` are computed."""
    n = D.shape[1]
    for S in range(first, B.shape[0] // n):
        T = S
        while T > 0:
            stack_gemm(0, -1.0, B, S ^ T, D, T, 1.0, B, S)
            T = (T - 1) & S
        dgetrs(N, n, n, F, n, p, (B, n * n * S), n)


@njit(float64(MATRIX), **EXACT)
def norm1(X):
    """Return the largest sum of magnitudes in a column of the first matrix of a stack."""
    n = X.shape[1]
    sums = np.zeros(n)
    for i in range(n):
        for j in range(n):
            sums[j] += abs(X[i, j])
    largest = 0.0
    for j in range(n):
        if not (sums[j] <= largest):
            largest = sums[j]
    return largest


@njit(int64(int64, int64, MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def start(scale, count, X, E, F, J):
    """J = the jet of 2^scale*X along the first `count` of E, F, scaled to size 1; return the inverse exponent.

    J is NaN if an entry is not finite.
    """
    exponent = 0
    bad = put_scaled(scale, X, 0, J)
    if count > 0:
        e = exponent_of(E)
        bad += put_scaled(-e, E, 1, J)
        exponent += e
    if count > 1:
        f = exponent_of(F)
        bad += put_scaled(-f, F, 2, J)
        exponent += f
        for i in range(3 * J.shape[1], J.shape[0]):
            for j in range(J.shape[1]):
                J[i, j] = 0.0
    if bad:
        fill(math.nan, J)
    return exponent


@njit(int64(MATRIX), **EXACT)
def is_usable(J):
    """Return 0 if a jet is empty or NaN."""
    return 1 if J.shape[1] > 0 and J[0, 0] == J[0, 0] else 0


@njit(types.void(int64, MATRIX, MATRIX_OUT), **EXACT)
def finish(exponent, J, C):
    """C = 2^exponent*(the last matrix of a jet)."""
    n = C.shape[0]
    first = J.shape[0] - n
    for i in range(n):
        for j in range(n):
            C[i, j] = J[first + i, j]
    scale_by(exponent, C)
