"""The matrix exponential and its derivative along a tangent: scaling, squaring, [13/13] Pade approximants.

Source: Higham 2005, "The scaling and squaring method revisited", algorithm 2.3; Al-Mohy and Higham 2009,
"Computing the Frechet derivative of the matrix exponential", algorithm 6.4: linear in the tangent whatever
its size, where the exponential of a block matrix is not.
"""

import math

import numpy as np
from numba import njit, types
from numba.types import float64, int64

from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT, cell, external, integer
from matcalc.codegen.numba.products import copy_flipped, gemm
from matcalc.codegen.numba.spectral import fill

dgesv = external("lapack", "dgesv", 8)


@njit(int64(MATRIX, float64), **EXACT)
def squarings(X, radius):
    """How often X is halved to bring its 1-norm within `radius`; -1 where an entry is not finite."""
    largest = 0.0
    for j in range(X.shape[1]):
        s = 0.0
        for i in range(X.shape[0]):
            s += abs(X[i, j])
        if not (s < math.inf):
            return -1
        largest = max(largest, s)
    return max(0, math.ceil(math.log2(largest / radius))) if largest > radius else 0


@njit(types.void(float64, float64, float64, float64, MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def combine(c0, c2, c4, c6, A2, A4, A6, C):
    """C = c0*I + c2*A2 + c4*A4 + c6*A6."""
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] = c2 * A2[i, j] + c4 * A4[i, j] + c6 * A6[i, j]
        C[i, i] += c0


@njit(types.void(MATRIX_OUT, MATRIX_OUT), **EXACT)
def solve_rows(D, B):
    """B = (inv(D')*B')', so B*inv(D), in place; D is overwritten."""
    n = D.shape[0]
    p = np.empty(n, np.int32)
    order = integer(n)
    dgesv(order, integer(B.shape[0]), D, order, p, B, order, cell())


@njit(types.void(MATRIX, MATRIX, MATRIX, MATRIX, MATRIX_OUT, MATRIX_OUT), **EXACT)
def pade(A, A2, A4, A6, U, D):
    """Numerator U + V and denominator V - U of the [13/13] approximant at A, in U and D."""
    n = A.shape[0]
    H = np.empty((n, n))
    combine(0.0, 40840800.0, 16380.0, 1.0, A2, A4, A6, H)
    combine(32382376266240000.0, 1187353796428800.0, 10559470521600.0, 33522128640.0, A2, A4, A6, D)
    gemm(0, 0, 1.0, A6, H, 1.0, D)
    gemm(0, 0, 1.0, A, D, 0.0, U)
    combine(0.0, 1323241920.0, 960960.0, 182.0, A2, A4, A6, H)
    combine(64764752532480000.0, 7771770303897600.0, 129060195264000.0, 670442572800.0, A2, A4, A6, D)
    gemm(0, 0, 1.0, A6, H, 1.0, D)
    for i in range(n):
        for j in range(n):
            u = U[i, j]
            U[i, j] = D[i, j] + u
            D[i, j] -= u


@njit(types.void(float64, MATRIX, MATRIX_OUT, MATRIX_OUT, MATRIX_OUT, MATRIX_OUT), **EXACT)
def even_powers(scale, X, A, A2, A4, A6):
    """A = scale*X and its powers."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            A[i, j] = scale * X[i, j]
    gemm(0, 0, 1.0, A, A, 0.0, A2)
    gemm(0, 0, 1.0, A2, A2, 0.0, A4)
    gemm(0, 0, 1.0, A4, A2, 0.0, A6)


@njit(types.void(MATRIX, MATRIX_OUT), **EXACT)
def expm(X, C):
    """C = expm(X)."""
    n = X.shape[0]
    halvings = squarings(X, 5.371920351148152)
    if halvings < 0:
        fill(math.nan, C)
        return
    if n == 0:
        return
    A = np.empty((n, n))
    A2 = np.empty((n, n))
    A4 = np.empty((n, n))
    A6 = np.empty((n, n))
    even_powers(0.5**halvings, X, A, A2, A4, A6)
    D = np.empty((n, n))
    pade(A, A2, A4, A6, C, D)
    solve_rows(D, C)
    for _ in range(halvings):
        copy_flipped(0, C, A)
        gemm(0, 0, 1.0, A, A, 0.0, C)


@njit(types.void(MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def expm_along(X, E, C):
    """C = the derivative of expm at X along E."""
    n = X.shape[0]
    halvings = squarings(X, 4.74)
    if halvings < 0:
        fill(math.nan, C)
        return
    if n == 0:
        return
    A = np.empty((n, n))
    A2 = np.empty((n, n))
    A4 = np.empty((n, n))
    A6 = np.empty((n, n))
    M = np.empty((n, n))
    M2 = np.empty((n, n))
    M4 = np.empty((n, n))
    M6 = np.empty((n, n))
    H = np.empty((n, n))
    W = np.empty((n, n))
    U = np.empty((n, n))
    D = np.empty((n, n))
    scale = 0.5**halvings
    even_powers(scale, X, A, A2, A4, A6)
    for i in range(n):
        for j in range(n):
            M[i, j] = scale * E[i, j]
    gemm(0, 0, 1.0, A, M, 0.0, M2)
    gemm(0, 0, 1.0, M, A, 1.0, M2)
    gemm(0, 0, 1.0, A2, M2, 0.0, M4)
    gemm(0, 0, 1.0, M2, A2, 1.0, M4)
    gemm(0, 0, 1.0, A4, M2, 0.0, M6)
    gemm(0, 0, 1.0, M4, A2, 1.0, M6)
    # U = A*W, W = A6*H + (even part): dU = A*dW + M*W, dW = A6*dH + M6*H + (even part of dW)
    combine(0.0, 40840800.0, 16380.0, 1.0, A2, A4, A6, H)
    combine(32382376266240000.0, 1187353796428800.0, 10559470521600.0, 33522128640.0, A2, A4, A6, W)
    gemm(0, 0, 1.0, A6, H, 1.0, W)
    gemm(0, 0, 1.0, M, W, 0.0, U)
    combine(0.0, 1187353796428800.0, 10559470521600.0, 33522128640.0, M2, M4, M6, W)
    gemm(0, 0, 1.0, M6, H, 1.0, W)
    combine(0.0, 40840800.0, 16380.0, 1.0, M2, M4, M6, H)
    gemm(0, 0, 1.0, A6, H, 1.0, W)
    gemm(0, 0, 1.0, A, W, 1.0, U)
    # V = A6*H + (even part): dV likewise
    combine(0.0, 1323241920.0, 960960.0, 182.0, A2, A4, A6, H)
    combine(0.0, 7771770303897600.0, 129060195264000.0, 670442572800.0, M2, M4, M6, W)
    gemm(0, 0, 1.0, M6, H, 1.0, W)
    combine(0.0, 1323241920.0, 960960.0, 182.0, M2, M4, M6, H)
    gemm(0, 0, 1.0, A6, H, 1.0, W)
    pade(A, A2, A4, A6, H, D)
    # H = numerator, D = denominator (they commute): R = H*inv(D), dR = (dU + dV + R*(dU - dV))*inv(D)
    copy_flipped(0, D, M2)
    solve_rows(M2, H)
    for i in range(n):
        for j in range(n):
            C[i, j] = U[i, j] + W[i, j]
            M[i, j] = U[i, j] - W[i, j]
    gemm(0, 0, 1.0, H, M, 1.0, C)
    solve_rows(D, C)
    for _ in range(halvings):
        gemm(0, 0, 1.0, H, C, 0.0, M)
        gemm(0, 0, 1.0, C, H, 1.0, M)
        copy_flipped(0, M, C)
        gemm(0, 0, 1.0, H, H, 0.0, W)
        copy_flipped(0, W, H)


@njit(types.void(MATRIX, int64, MATRIX_OUT), **EXACT)
def powm(X, p, C):
    """C = X^p for an integer p >= 0, by repeated squaring."""
    n = X.shape[0]
    A = np.empty((n, n))
    H = np.empty((n, n))
    copy_flipped(0, X, A)
    fill(0.0, C)
    for i in range(n):
        C[i, i] = 1.0
    while p > 0:
        if p % 2:
            gemm(0, 0, 1.0, C, A, 0.0, H)
            copy_flipped(0, H, C)
        p //= 2
        if p > 0:
            gemm(0, 0, 1.0, A, A, 0.0, H)
            copy_flipped(0, H, A)


@njit(types.void(MATRIX, int64, MATRIX, MATRIX_OUT), **EXACT)
def powm_along(X, p, E, C):
    """C = the derivative of X^p along E for an integer p >= 0, by repeated squaring of both."""
    n = X.shape[0]
    A = np.empty((n, n))
    D = np.empty((n, n))
    P = np.empty((n, n))
    H = np.empty((n, n))
    copy_flipped(0, X, A)
    copy_flipped(0, E, D)
    fill(0.0, P)
    fill(0.0, C)
    for i in range(n):
        P[i, i] = 1.0
    while p > 0:
        if p % 2:
            gemm(0, 0, 1.0, C, A, 0.0, H)
            gemm(0, 0, 1.0, P, D, 1.0, H)
            copy_flipped(0, H, C)
            gemm(0, 0, 1.0, P, A, 0.0, H)
            copy_flipped(0, H, P)
        p //= 2
        if p > 0:
            gemm(0, 0, 1.0, A, D, 0.0, H)
            gemm(0, 0, 1.0, D, A, 1.0, H)
            copy_flipped(0, H, D)
            gemm(0, 0, 1.0, A, A, 0.0, H)
            copy_flipped(0, H, A)
