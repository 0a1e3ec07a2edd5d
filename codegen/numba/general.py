"""Functions of the eigenvalues of general square matrices, and the factors P, L, U of any matrix.

Fortran reads X', whose left eigenvectors are the right ones of X. A spectrum counts as real if LAPACK reports it so.
Matrices with NaN or infinity give NaN, because LAPACK might not terminate. Status 1 if a result is not real or LAPACK
does not converge.
"""

import math

import numpy as np
from numba import njit, types
from numba.types import float64, int64

from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT, VECTOR_OUT, N, V, external
from matcalc.codegen.numba.gaps import largest_of
from matcalc.codegen.numba.lu import dgetrf, eliminate, has_subnormal
from matcalc.codegen.numba.order import sort_order
from matcalc.codegen.numba.products import copy_flipped
from matcalc.codegen.numba.spectral import brought_near_one, fill, is_finite, largest_magnitude, sign_of_largest

dgeev = external("lapack", "dgeev", 13)


@njit(int64(int64, int64, MATRIX, VECTOR_OUT, VECTOR_OUT, MATRIX_OUT, MATRIX_OUT), **EXACT)
def geev(right, left, X, w, imaginary, B, C):
    """w + i*imaginary = the eigenvalues; if requested, the rows of B are right eigenvectors, those of C left ones.

    X is scaled to size 1. LAPACK scales it beyond 1e138, but some builds do not scale the eigenvalues back.
    """
    n = X.shape[0]
    if n == 0:
        return 0
    copy = np.empty((n, n))
    copy_flipped(0, X, copy)
    exponent = brought_near_one(copy)
    work = np.empty(64 * n)
    status = dgeev(V if right else N, V if left else N, n, copy, n, w, imaginary, B, n, C, n, work, 64 * n)
    for i in range(n):
        w[i] = math.ldexp(w[i], exponent)
        imaginary[i] = math.ldexp(imaginary[i], exponent)
    return status


@njit(int64(int64, MATRIX, VECTOR_OUT, MATRIX_OUT), **EXACT)
def real_eigenvalues(vectors, X, w, Q):
    """w = the eigenvalues, ascending; if requested, Q = unit eigenvectors in columns; 1 if some are complex."""
    n = X.shape[0]
    if is_finite(X) == 0:
        fill(math.nan, Q)
        for i in range(n):
            w[i] = math.nan
        return 0
    found = np.empty(n)
    imaginary = np.empty(n)
    B = np.empty((n, n) if vectors else (1, 1))
    status = geev(vectors, 0, X, found, imaginary, B, Q)
    order = np.empty(n, np.int32)
    sort_order(found, order)
    # a tie may be computed as a conjugate pair
    if largest_of(imaginary) > 4.0 * n * 2.220446049250313e-16 * largest_magnitude(X):
        status = 1
    for j in range(n):
        w[j] = found[order[j]]
        if vectors:
            sign = sign_of_largest(B, order[j])
            for i in range(n):
                Q[i, j] = sign * B[order[j], i]
    return status


@njit(int64(MATRIX, VECTOR_OUT, MATRIX_OUT), **EXACT)
def eig(X, w, Q):
    """Compute Q, w with X*Q = Q*diag(w) for a real spectrum."""
    return real_eigenvalues(1, X, w, Q)


@njit(int64(MATRIX, VECTOR_OUT), **EXACT)
def eigvals(X, w):
    """w = the eigenvalues of X, ascending, if they are real."""
    none = np.empty((1, 1))
    return real_eigenvalues(0, X, w, none)


@njit(float64(MATRIX), **EXACT)
def spectral_radius(X):
    """Return the largest modulus of an eigenvalue; 0 for an empty X, NaN if the iteration does not converge."""
    n = X.shape[0]
    if is_finite(X) == 0:
        return math.nan
    w = np.empty(n)
    imaginary = np.empty(n)
    none = np.empty((1, 1))
    if geev(0, 0, X, w, imaginary, none, none) != 0:
        return math.nan
    largest = 0.0
    for i in range(n):
        largest = max(largest, math.hypot(w[i], imaginary[i]))
    return largest


@njit(int64(int64, MATRIX, MATRIX_OUT), **EXACT)
def perron(real, X, C):
    """C = the gradient of the spectral radius: the real part of conj(z)/|z|*conj(u)*v'/(u^H*v) for an eigenvalue z.

    u and v are its left and right eigenvectors. NaN if another eigenvalue, not its conjugate, is equally large
    within rounding. Status 1 if z is complex but must be real.
    """
    n = X.shape[0]
    if is_finite(X) == 0:
        fill(math.nan, C)
        return 0
    w = np.empty(n)
    imaginary = np.empty(n)
    right = np.empty((n, n))
    left = np.empty((n, n))
    status = geev(1, 1, X, w, imaginary, right, left)
    if n == 0 or status != 0:
        return status
    top = 0
    for i in range(n):
        if math.hypot(w[i], imaginary[i]) > math.hypot(w[top], imaginary[top]):
            top = i
    complex_part = 1.0 if imaginary[top] != 0.0 else 0.0
    next_row = top + 1 if imaginary[top] != 0.0 else top
    a = 0.0
    b = 0.0
    moved = 0.0
    for i in range(n):
        p, q = left[top, i], complex_part * left[next_row, i]
        r, s = right[top, i], complex_part * right[next_row, i]
        a += p * r + q * s
        b += p * s - q * r
        for j in range(n):
            size = math.hypot(right[top, j], complex_part * right[next_row, j])
            moved += math.hypot(p, q) * abs(X[i, j]) * size
    close = 4.0 * n * 2.220446049250313e-16 * moved / math.hypot(a, b)
    size = math.hypot(w[top], imaginary[top])
    for i in range(n):
        if i != top and i != next_row and not (size - math.hypot(w[i], imaginary[i]) > close):
            size = math.nan
    # the eigenvalue's direction divided by u^H*v
    x, y = (w[top] / size, imaginary[top] / size) if size != 0.0 else (0.0, 0.0)
    c = (x * a + y * b) / (a * a + b * b)
    d = (y * a - x * b) / (a * a + b * b)
    for i in range(n):
        for j in range(n):
            p, q = left[top, i], complex_part * left[next_row, i]
            r, s = right[top, j], complex_part * right[next_row, j]
            C[i, j] = c * (p * r + q * s) - d * (p * s - q * r)
    return 1 if real and complex_part != 0.0 else 0


@njit(types.void(MATRIX, MATRIX_OUT, MATRIX_OUT, MATRIX_OUT), **EXACT)
def lu(X, P, A, B):
    """X = P*A*B: a permutation, a lower factor with unit diagonal, an upper factor."""
    m, n = X.shape
    k = min(m, n)
    F = np.empty((n, m))
    copy_flipped(1, X, F)
    p = np.empty(k, np.int32)
    if k > 0:
        dgetrf(m, n, F, m, p)
    if has_subnormal(F):
        copy_flipped(1, X, F)
        eliminate(F, p)
    order = np.arange(m)
    for i in range(k):
        kept = order[i]
        order[i] = order[p[i] - 1]
        order[p[i] - 1] = kept
    finite = is_finite(X)
    fill(0.0 if finite else math.nan, P)
    if finite == 0:
        fill(math.nan, A)
        fill(math.nan, B)
        return
    for i in range(m):
        P[order[i], i] = 1.0
        for j in range(k):
            A[i, j] = F[j, i] if i > j else 1.0 if i == j else 0.0
    for i in range(k):
        for j in range(n):
            B[i, j] = F[j, i] if i <= j else 0.0
