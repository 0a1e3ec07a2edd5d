"""Algebraic Riccati equations and the sign of a matrix: invariant subspaces from an ordered Schur form.

care uses the stable subspace of the Hamiltonian matrix, dare a structure-preserving doubling. Both end with two Newton
steps. Each solves a linear equation by the Schur form of the closed loop, whose eigenvalues show whether the solution
is stabilising. Weights are scaled to similar size by powers of two. Status 1 if there is no solution.
Source: Laub 1979; Chu, Fan, Lin and Wang 2004; Higham 2008, 5.2.
"""

import math

import numpy as np
from numba import njit, types
from numba.types import float64, int64

from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT, N, V, external
from matcalc.codegen.numba.cholesky import chol, chol_solve
from matcalc.codegen.numba.equations import dlyapunov, dtrsyl, schur, sylvester, turned_back
from matcalc.codegen.numba.jets import norm1, put_scaled
from matcalc.codegen.numba.logarithm import is_triangular
from matcalc.codegen.numba.lu import getrf, lu_solve
from matcalc.codegen.numba.products import copy_flipped, gemm
from matcalc.codegen.numba.spectral import exponent_of, fill, is_finite, scale_by

dtrsen = external("lapack", "dtrsen", 17)
EPS = 2.220446049250313e-16


@njit(int64(MATRIX_OUT, MATRIX_OUT), **EXACT)
def stable_first(F, Z):
    """Order a Schur form: eigenvalues with negative real part first; return their number, -1 on failure."""
    n = F.shape[0]
    select = np.empty(n, np.int32)
    count = 0
    for i in range(n):
        select[i] = 1 if F[i, i] < 0.0 else 0
        count += select[i]
    values = np.empty((2, n))
    work = np.empty(n + 1)
    integers = np.empty(1, np.int32)
    info = dtrsen(N, V, select, n, F, n, Z, n, values, (values, n), 0, 0.0, 0.0, work, n + 1, integers, 1)
    return count if info == 0 else -1


@njit(int64(MATRIX, MATRIX_OUT), **EXACT)
def signm(X, C):
    """C = sign(X); 1 if an eigenvalue is within rounding of the imaginary axis."""
    n = X.shape[0]
    if n == 0:
        return 0
    if is_finite(X) == 0:
        fill(math.nan, C)
        return 0
    F = np.empty((n, n))
    Z = np.empty((n, n))
    if schur(X, F, Z):
        return 1
    close = 0.0 if is_triangular(X) else n * EPS * norm1(F)
    for i in range(n):
        if abs(F[i, i]) <= close:
            return 1
    m = stable_first(F, Z)
    if m < 0:
        return 1
    # by columns F is [T11, T12; 0, T22] and its sign [-1, U; 0, 1] with T11*U - U*T22 = -2*T12
    S = np.zeros((n, n))
    for i in range(n):
        S[i, i] = -1.0 if i < m else 1.0
        for j in range(m):
            if i >= m:
                S[i, j] = -2.0 * F[i, j]
    if 0 < m < n and dtrsyl(N, N, -1, m, n - m, F, n, (F, m * n + m), n, (S, m * n), n, 1.0) != 0:
        return 1
    turned_back(Z, S, Z, C)
    return 0


@njit(types.void(MATRIX_OUT), **EXACT)
def symmetrise(X):
    """X = (X + X')/2."""
    for i in range(X.shape[0]):
        for j in range(i):
            mean = 0.5 * X[i, j] + 0.5 * X[j, i]
            X[i, j] = mean
            X[j, i] = mean


@njit(int64(int64, MATRIX_OUT, MATRIX), **EXACT)
def put_symmetric(scale, Y, X):
    """Y = 2^scale*(X + X')/2; 1 if an entry is not finite."""
    bad = put_scaled(scale, X, 0, Y)
    symmetrise(Y)
    return bad


@njit(int64(MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def input_weight(B, R, G):
    """G = 2^-e*B*inv(R)*B' of size 1; return e. G is NaN if R is not positive definite."""
    n, p = B.shape
    b = exponent_of(B)
    r = exponent_of(R)
    S = np.empty((p, p))
    L = np.empty((p, p))
    W = np.empty((n, p))
    K = np.empty((p, n))
    put_symmetric(-r, S, R)
    copy_flipped(0, B, W)
    scale_by(-b, W)
    if chol(S, L):
        fill(math.nan, G)
        return 0
    chol_solve(L, 1, W, K)
    gemm(0, 0, 1.0, W, K, 0.0, G)
    symmetrise(G)
    g = exponent_of(G)
    scale_by(-g, G)
    return g + 2 * b - r


@njit(int64(MATRIX, MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def filled_with_nan(A, B, Q, R, Y):
    """Set Y = NaN and return 1 if an entry of the arguments is not finite."""
    if is_finite(A) and is_finite(B) and is_finite(Q) and is_finite(R):
        return 0
    fill(math.nan, Y)
    return 1


@njit(types.void(MATRIX_OUT), **EXACT)
def add_one(X):
    """X = 1 + X."""
    for i in range(X.shape[0]):
        X[i, i] += 1.0


@njit(types.void(float64, MATRIX, MATRIX_OUT), **EXACT)
def add_to(alpha, X, Y):
    """Y = Y + alpha*X."""
    for i in range(Y.shape[0]):
        for j in range(Y.shape[1]):
            Y[i, j] += alpha * X[i, j]


@njit(int64(MATRIX, MATRIX_OUT), **EXACT)
def stable_subspace(H, Y):
    """Compute Y so that [1; Y] spans the stable invariant subspace of H, passed transposed; 1 if there is none."""
    n = Y.shape[0]
    F = np.empty(H.shape)
    Z = np.empty(H.shape)
    if schur(H, F, Z) or stable_first(F, Z) != n:
        return 1
    U = np.empty((n, n))
    W = np.empty((n, n))
    P = np.empty((n, n))
    p = np.empty(n, np.int32)
    for i in range(n):
        for j in range(n):
            U[i, j] = Z[i, j]
            W[i, j] = Z[i, n + j]
    getrf(U, P, p)
    return lu_solve(0, P, p, 0, W, Y)


@njit(int64(MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def care_step(A, G, Q, Y):
    """Take one Newton step towards A'*Y + Y*A - Y*G*Y + Q = 0; 1 if A - G*Y is not stable."""
    n = Y.shape[0]
    F = np.empty((n, n))
    E = np.empty((n, n))
    T = np.empty((n, n))
    Z = np.empty((n, n))
    copy_flipped(0, A, F)
    gemm(0, 0, -1.0, G, Y, 1.0, F)
    # Y*A + A'*Y - Y*G*Y is the symmetric part of Y*(A + F)
    for i in range(n):
        for j in range(n):
            T[i, j] = A[i, j] + F[i, j]
    gemm(0, 0, 1.0, Y, T, 0.0, E)
    symmetrise(E)
    add_to(1.0, Q, E)
    if schur(F, T, Z):
        return 1
    for i in range(n):
        if not (T[i, i] < -n * EPS * norm1(F)):
            return 1
    if sylvester(1, T, Z, 0, T, Z, E, F):
        return 1
    add_to(-1.0, F, Y)
    symmetrise(Y)
    return 0


@njit(int64(MATRIX, MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def care(A, B, Q, R, Y):
    """Compute the stabilising Y of A'*Y + Y*A - Y*B*inv(R)*B'*Y + Q = 0."""
    n = A.shape[0]
    if n == 0 or filled_with_nan(A, B, Q, R, Y):
        return 0
    G = np.empty((n, n))
    D = np.empty((n, n))
    W = np.empty((n, n))
    H = np.empty((2 * n, 2 * n))
    g = input_weight(B, R, G)
    if is_finite(G) == 0:
        return 1
    q = exponent_of(Q)
    s = (q - g) // 2
    largest = max(exponent_of(A), max(q - s, g + s))
    put_scaled(-largest, A, 0, D)
    scale_by(g + s - largest, G)
    put_symmetric(-s - largest, W, Q)
    for i in range(n):
        for j in range(n):
            H[j, i] = D[i, j]
            H[n + i, n + j] = -D[i, j]
            H[n + j, i] = -G[i, j]
            H[j, n + i] = -W[i, j]
    if stable_subspace(H, Y):
        return 1
    symmetrise(Y)
    for _ in range(2):
        if care_step(D, G, W, Y):
            return 1
    scale_by(s, Y)
    return 0


@njit(int64(MATRIX, MATRIX, MATRIX, MATRIX_OUT, MATRIX_OUT), **EXACT)
def closed_loop(A, G, Y, F, M):
    """F = inv(1 + G*Y)*A and M = inv(1 + G*Y)*G; 1 if the inverse does not exist."""
    n = A.shape[0]
    W = np.empty((n, n))
    P = np.empty((n, n))
    p = np.empty(n, np.int32)
    gemm(0, 0, 1.0, G, Y, 0.0, W)
    add_one(W)
    getrf(W, P, p)
    lu_solve(0, P, p, 0, A, F)
    return lu_solve(0, P, p, 0, G, M)


@njit(int64(MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def doubling(A, G, Y):
    """Solve A'*Y*inv(1 + G*Y)*A - Y + Q = 0 by doubling from Y = Q; 1 if it does not converge."""
    n = A.shape[0]
    K = np.empty((n, n))
    S = np.empty((n, n))
    F = np.empty((n, n))
    M = np.empty((n, n))
    P = np.empty((n, n))
    D = np.empty((n, n))
    copy_flipped(0, A, K)
    copy_flipped(0, G, S)
    for _ in range(60):
        if closed_loop(K, S, Y, F, M):
            return 1
        gemm(0, 0, 1.0, Y, K, 0.0, P)
        gemm(1, 0, 1.0, P, F, 0.0, D)
        symmetrise(D)
        add_to(1.0, D, Y)
        if is_finite(Y) == 0:
            return 1
        if norm1(D) <= EPS * norm1(Y):
            return 0
        gemm(0, 1, 1.0, M, K, 0.0, P)
        gemm(0, 0, 1.0, K, P, 1.0, S)
        symmetrise(S)
        gemm(0, 0, 1.0, K, F, 0.0, P)
        copy_flipped(0, P, K)
    return 1


@njit(float64(MATRIX), **EXACT)
def largest_modulus(T):
    """Return the largest modulus of an eigenvalue of a Schur form."""
    n = T.shape[0]
    largest = 0.0
    for i in range(n):
        size = abs(T[i, i])
        if i + 1 < n and T[i, i + 1] != 0.0:
            size = math.hypot(size, math.sqrt(abs(T[i, i + 1])) * math.sqrt(abs(T[i + 1, i])))
        largest = max(largest, size)
    return largest


@njit(int64(MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def dare_step(A, G, Q, Y):
    """Take one Newton step towards A'*Y*inv(1 + G*Y)*A - Y + Q = 0; 1 if inv(1 + G*Y)*A is not stable."""
    n = Y.shape[0]
    F = np.empty((n, n))
    E = np.empty((n, n))
    T = np.empty((n, n))
    Z = np.empty((n, n))
    if closed_loop(A, G, Y, F, T):
        return 1
    gemm(0, 0, 1.0, Y, F, 0.0, T)
    gemm(1, 0, 1.0, A, T, 0.0, E)
    add_to(-1.0, Y, E)
    symmetrise(E)
    add_to(1.0, Q, E)
    if schur(F, T, Z) or not (largest_modulus(T) < 1.0 - n * EPS):
        return 1
    if dlyapunov(1, T, Z, E, F):
        return 1
    add_to(1.0, F, Y)
    symmetrise(Y)
    return 0


@njit(int64(MATRIX, MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def dare(A, B, Q, R, Y):
    """Compute the stabilising Y of A'*Y*A - Y - A'*Y*B*inv(R + B'*Y*B)*B'*Y*A + Q = 0."""
    n = A.shape[0]
    if n == 0 or filled_with_nan(A, B, Q, R, Y):
        return 0
    G = np.empty((n, n))
    W = np.empty((n, n))
    g = input_weight(B, R, G)
    if is_finite(G) == 0:
        return 1
    s = (exponent_of(Q) - g) // 2
    scale_by(g + s, G)
    put_symmetric(-s, W, Q)
    copy_flipped(0, W, Y)
    if doubling(A, G, Y):
        return 1
    for _ in range(2):
        if dare_step(A, G, W, Y):
            return 1
    scale_by(s, Y)
    return 0
