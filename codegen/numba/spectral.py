"""Eigenvalues, singular values and QR. Matrices with NaN or infinity give NaN, as LAPACK might not terminate.

Signs are fixed: in each column of V of `eigh` and of U of `svd` the entry of largest magnitude is positive; R of `qr`
has a nonnegative diagonal. Status 1 if an iteration does not converge.
"""

import math

import numpy as np
from numba import njit, types
from numba.types import float64, int64

from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT, VECTOR, VECTOR_OUT, I, L, N, S, V, external
from matcalc.codegen.numba.products import copy_flipped, gemm, gemv, syrk

dsyevd = external("lapack", "dsyevd", 10)
dsyevr = external("lapack", "dsyevr", 20)
dgesdd = external("lapack", "dgesdd", 13)
dgeqrf = external("lapack", "dgeqrf", 7)
dorgqr = external("lapack", "dorgqr", 8)


@njit(int64(MATRIX), **EXACT)
def is_finite(X):
    """Return 1 if no entry is NaN or infinite, else 0."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            if not (abs(X[i, j]) < math.inf):
                return 0
    return 1


@njit(float64(MATRIX), **EXACT)
def largest_magnitude(X):
    """Return the largest magnitude in X, 0 if X is empty."""
    largest = 0.0
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            largest = max(largest, abs(X[i, j]))
    return largest


@njit(types.void(float64, MATRIX_OUT), **EXACT)
def fill(value, X):
    """Set every entry."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            X[i, j] = value


@njit(int64(MATRIX), **EXACT)
def exponent_of(X):
    """Return e so that the largest magnitude in X is between 2^(e-1) and 2^e; 0 if all entries are 0."""
    return math.frexp(largest_magnitude(X))[1]


@njit(types.void(int64, MATRIX_OUT), **EXACT)
def scale_by(exponent, X):
    """X = 2^exponent*X, without intermediate overflow."""
    while exponent != 0:
        step = max(-1000, min(1000, exponent))
        exponent -= step
        factor = math.ldexp(1.0, step)
        for i in range(X.shape[0]):
            for j in range(X.shape[1]):
                X[i, j] *= factor


@njit(int64(MATRIX_OUT), **EXACT)
def brought_near_one(X):
    """Divide finite X by a power of 2 if its entries are far from 1, and return the exponent."""
    exponent = exponent_of(X)
    if abs(exponent) <= 32:
        return 0
    scale_by(-exponent, X)
    return exponent


@njit(int64(int64, MATRIX_OUT, VECTOR_OUT), **EXACT)
def syevd(vectors, A, w):
    """w = the eigenvalues of symmetric A, ascending; if requested, its rows become the eigenvectors.

    LAPACK's iteration may not terminate if entries span a range of 1e250 far from 1.
    """
    n = A.shape[0]
    if n == 0:
        return 0
    if is_finite(A) == 0:
        fill(math.nan, A)
        for i in range(n):
            w[i] = math.nan
        return 0
    count = 1 + 6 * n + 2 * n * n if vectors else 1 + 66 * n
    work = np.empty(count)
    integers = np.empty(3 + 5 * n, np.int32)
    exponent = brought_near_one(A)
    status = dsyevd(V if vectors else N, L, n, A, n, w, work, count, integers, 3 + 5 * n)
    for i in range(n):
        w[i] = math.ldexp(w[i], exponent)
    return status


@njit(int64(MATRIX, VECTOR_OUT), **EXACT)
def eigvalsh(A, w):
    """w = the eigenvalues of symmetric A, ascending."""
    B = np.empty(A.shape)
    copy_flipped(0, A, B)
    return syevd(0, B, w)


@njit(int64(MATRIX, VECTOR_OUT, MATRIX_OUT), **EXACT)
def eigh(A, w, Q):
    """w, Q = the eigenvalues of symmetric A, ascending, and its eigenvectors in columns."""
    n = A.shape[0]
    B = np.empty(A.shape)
    copy_flipped(0, A, B)
    status = syevd(1, B, w)
    for j in range(n):
        sign = sign_of_largest(B, j)
        for i in range(n):
            Q[i, j] = sign * B[j, i]
    return status


@njit(float64(MATRIX, int64), **EXACT)
def sign_of_largest(B, j):
    """Return the sign of the entry of largest magnitude in row j, the first such."""
    best = 0.0
    sign = 1.0
    for i in range(B.shape[1]):
        if abs(B[j, i]) > best:
            best = abs(B[j, i])
            sign = 1.0 if B[j, i] > 0.0 else -1.0
    return sign


@njit(int64(int64, MATRIX, MATRIX_OUT, VECTOR_OUT, MATRIX_OUT), **EXACT)
def gesdd(vectors, X, P, s, Q):
    """X = P*diag(s)*Q, singular values descending; without vectors P and Q are not touched."""
    m, n = X.shape
    k = min(m, n)
    if k == 0:
        return 0
    if is_finite(X) == 0:
        for i in range(k):
            s[i] = math.nan
        if vectors:
            fill(math.nan, P)
            fill(math.nan, Q)
        return 0
    copy = np.empty((m, n))
    copy_flipped(0, X, copy)
    count = 4 * k * k + 7 * k + 64 * (m + n)
    work = np.empty(count)
    integers = np.empty(8 * k, np.int32)
    return dgesdd(S if vectors else N, n, m, copy, n, s, Q, n, P, k, work, count, integers)


@njit(int64(MATRIX, VECTOR_OUT), **EXACT)
def svdvals(X, s):
    """s = the singular values, descending."""
    none = np.empty((1, 1))
    return gesdd(0, X, none, s, none)


@njit(int64(MATRIX, MATRIX_OUT, VECTOR_OUT, MATRIX_OUT), **EXACT)
def svd(X, U, s, W):
    """X = U*diag(s)*W', the thin decomposition."""
    Q = np.empty((s.shape[0], X.shape[1]))
    status = gesdd(1, X, U, s, Q)
    for j in range(s.shape[0]):
        best = 0.0
        sign = 1.0
        for i in range(U.shape[0]):
            if abs(U[i, j]) > best:
                best = abs(U[i, j])
                sign = 1.0 if U[i, j] > 0.0 else -1.0
        for i in range(U.shape[0]):
            U[i, j] *= sign
        for i in range(W.shape[0]):
            W[i, j] = sign * Q[j, i]
    return status


@njit(types.void(MATRIX, MATRIX_OUT, MATRIX_OUT), **EXACT)
def qr(X, Q, R):
    """X = Q*R, thin: Q is m x k, R is k x n, k = min(m, n).

    R[j, j] is 0 if column j depends, within rounding, on the columns before it.
    """
    m, n = X.shape
    k = min(m, n)
    if is_finite(X) == 0:
        fill(math.nan, Q)
        fill(math.nan, R)
        return
    if k == 0:
        return
    F = np.empty((n, m))
    copy_flipped(1, X, F)
    tau = np.empty(k)
    count = 64 * max(n, k)
    work = np.empty(count)
    dgeqrf(m, n, F, m, tau, work, count)
    signs = np.empty(k)
    for i in range(k):
        signs[i] = -1.0 if F[i, i] < 0.0 else 1.0
        for j in range(n):
            R[i, j] = signs[i] * F[j, i] if j >= i else 0.0
    for j in range(k):
        length_squared, largest = 0.0, 0.0
        for i in range(j + 1):
            largest = max(largest, abs(R[i, j]))
        for i in range(j + 1):
            part = R[i, j] / largest if largest > 0.0 else 0.0
            length_squared += part * part
        if R[j, j] <= 4.0 * m * 2.220446049250313e-16 * largest * math.sqrt(length_squared):
            R[j, j] = 0.0
    dorgqr(m, k, k, F, m, tau, work, count)
    for i in range(m):
        for j in range(k):
            Q[i, j] = signs[j] * F[j, i]


@njit(types.void(VECTOR, MATRIX, int64, MATRIX_OUT), **EXACT)
def eig_top(w, Q, k, C):
    """C = the projector on the last k eigenvectors; eigenvalues tied (within rounding) at the cut share equally."""
    n = w.shape[0]
    fill(0.0, C)
    k = min(k, n)
    if k <= 0:
        return
    close = 4.0 * n * 2.220446049250313e-16 * max(abs(w[0]), abs(w[n - 1]))
    cut = w[n - k]
    above = n
    while above > 0 and w[above - 1] - cut > close:
        above -= 1
    first = above
    while first > 0 and cut - w[first - 1] <= close:
        first -= 1
    share = 1.0 if above == first else (k - n + above) / (above - first)
    if cut != cut:
        share = math.nan
        first = 0
    P = np.empty((n, n - first))
    for i in range(n):
        for j in range(n - first):
            P[i, j] = Q[i, first + j] * math.sqrt(1.0 if first + j >= above else share)
    syrk(1, 1.0, P, 0.0, C)


@njit(types.void(int64, MATRIX, VECTOR, MATRIX, MATRIX_OUT), **EXACT)
def svd_end(top, P, s, Q, C):
    """C = the mean of u*v' over the largest or smallest singular values; 0 if they are 0, NaN if infinite."""
    k = s.shape[0]
    fill(0.0, C)
    if k == 0:
        return
    if not s[0] < math.inf:
        fill(math.nan, C)
        return
    close = 4.0 * (P.shape[0] + Q.shape[0]) * 2.220446049250313e-16 * s[0]
    first = 0
    last = k
    if top:
        while last > 1 and s[0] - s[last - 1] > close:
            last -= 1
        if s[0] == 0.0:
            return
    else:
        while first < k - 1 and s[first] - s[k - 1] > close:
            first += 1
        if s[k - 1] <= close:
            return
    count = last - first
    left = np.empty((P.shape[0], count))
    right = np.empty((Q.shape[0], count))
    for j in range(count):
        for i in range(P.shape[0]):
            left[i, j] = P[i, first + j] / count
        for i in range(Q.shape[0]):
            right[i, j] = Q[i, first + j]
    gemm(0, 1, 1.0, left, right, 0.0, C)


@njit(int64(MATRIX, MATRIX_OUT), **EXACT)
def svd_top(X, C):
    """C = the mean of u*v' over the largest singular values; 0 if they are 0."""
    m, n = X.shape
    k = min(m, n)
    u = np.empty(m)
    v = np.empty(n)
    if top_pair(X, u, v):
        for i in range(m):
            for j in range(n):
                C[i, j] = u[i] * v[j]
        return 0
    P = np.empty((m, k))
    Q = np.empty((n, k))
    s = np.empty(k)
    status = svd(X, P, s, Q)
    svd_end(1, P, s, Q, C)
    return status


@njit(int64(MATRIX, VECTOR_OUT, VECTOR_OUT), **EXACT)
def top_pair(X, u, v):
    """u, v = the singular vectors of the largest singular value, if well separated; return 1 if so, else 0.

    They come from the Gram matrix of the shorter side, whose largest eigenvalue is accurate.
    """
    m, n = X.shape
    k = min(m, n)
    largest = largest_magnitude(X)
    if k == 0 or largest == 0.0 or is_finite(X) == 0:
        return 0
    F = np.empty((m, n))
    for i in range(m):
        for j in range(n):
            F[i, j] = X[i, j] / largest
    wide = 1 if n > m else 0
    G = np.empty((k, k))
    syrk(wide, 1.0, F, 0.0, G)
    first = max(k - 1, 1)
    w = np.empty(k)
    Z = np.empty((2, k))
    support = np.empty(4, np.int32)
    work = np.empty(70 * k)
    integers = np.empty(10 * k, np.int32)
    status = dsyevr(V, I, L, k, G, k, 0.0, 0.0, first, k, 0.0, 0, w, Z, k, support, work, 70 * k, integers, 10 * k)
    if status != 0 or (k > 1 and not w[0] < 0.99999 * w[1]):
        return 0
    last = k - first
    z = np.empty(k)
    for i in range(k):
        z[i] = Z[last, i]
    if wide:
        unit_image(1, F, z, u, v)
    else:
        unit_image(0, F, z, v, u)
    return 1


@njit(types.void(int64, MATRIX, VECTOR, VECTOR_OUT, VECTOR_OUT), **EXACT)
def unit_image(t, F, z, x, y):
    """x = z, and y = F*z or F'*z normalised to length 1."""
    for i in range(z.shape[0]):
        x[i] = z[i]
    gemv(t, 1.0, F, z, 0.0, y)
    squares = 0.0
    for i in range(y.shape[0]):
        squares += y[i] * y[i]
    length = math.sqrt(squares)
    for i in range(y.shape[0]):
        y[i] /= length


@njit(int64(MATRIX, MATRIX_OUT), **EXACT)
def pinv(X, C):
    """C = the Moore-Penrose inverse; singular values within rounding of the largest count as zero."""
    m, n = X.shape
    k = min(m, n)
    P = np.empty((m, k))
    Q = np.empty((k, n))
    s = np.empty(k)
    F = np.empty((m, n))
    copy_flipped(0, X, F)
    exponent = brought_near_one(F) if is_finite(F) else 0
    status = gesdd(1, F, P, s, Q)
    if k == 0:
        fill(0.0, C)
        return status
    close = max(m, n) * 2.220446049250313e-16 * s[0]
    for j in range(k):
        scale = 0.0 if s[j] <= close else 1.0 / s[j]
        for i in range(n):
            Q[j, i] *= scale
    gemm(1, 1, 1.0, Q, P, 0.0, C)
    scale_by(-exponent, C)
    return status
