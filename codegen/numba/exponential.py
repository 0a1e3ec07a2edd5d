"""Exponential, cosine and sine of a matrix and their derivatives: scaling and squaring on jets.

It uses the [7/7] or [13/13] Pade approximant. The number of halvings follows from the norms of the matrix's powers, not
only from its own norm.
Source: Al-Mohy and Higham 2009, "A new scaling and squaring algorithm for the matrix exponential" and "Computing
the Frechet derivative of the matrix exponential"; for cosine and sine Al-Mohy, Higham and Relton 2015.
"""

import math

import numpy as np
from numba import njit, types
from numba.types import float64, int64

from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT, PIVOTS, PIVOTS_OUT, VECTOR, VECTOR_OUT
from matcalc.codegen.numba.elementary import count_of
from matcalc.codegen.numba.jets import (
    finish,
    is_usable,
    jet_divide,
    jet_divide_from,
    jet_gemm,
    jet_gemm_from,
    norm1,
    start,
)
from matcalc.codegen.numba.lu import dgetrf
from matcalc.codegen.numba.products import copy_flipped
from matcalc.codegen.numba.spectral import fill, scale_by


@njit(int64(MATRIX, float64, float64), **EXACT)
def further_halvings(A, largest, factor):
    """Return the halvings needed for rounding, beyond those by norms, from the 27th power of factor*abs(A)."""
    n = A.shape[1]
    v = np.ones(n)
    for _ in range(27):
        w = np.zeros(n)
        for i in range(n):
            share = v[i] / largest
            for j in range(n):
                w[j] += share * abs(A[i, j])
        v = w
    top = 0.0
    for j in range(n):
        top = max(top, v[j])
    if top == 0.0:
        return 0
    excess = math.log2(top) + 26.0 * math.log2(factor * largest) - 116.4470 + 53.0
    return max(0, count_of(excess / 26.0))


@njit(int64(float64, MATRIX, MATRIX, MATRIX), **EXACT)
def halvings(largest, A2, A4, A6):
    """Return how often A, whose norm is `largest`, is halved for [13/13]; -1 if [7/7] suffices without halving."""
    size = max(norm1(A4) ** 0.25, norm1(A6) ** (1.0 / 6.0))
    if largest <= 0.78:
        return -1
    return count_of(math.log2(size / 4.25)) if size > 4.25 else 0


@njit(types.void(int64, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX_OUT, MATRIX_OUT, MATRIX_OUT, MATRIX_OUT), **EXACT)
def combine(first, c, A2, A4, A6, HO, LO, HE, LE):
    """Four combinations c[r,0]*I + c[r,1]*A2 + c[r,2]*A4 + c[r,3]*A6 of jets; LO and LE from matrix `first` on."""
    n = A2.shape[1]
    for i in range(A2.shape[0]):
        for j in range(n):
            x = A2[i, j]
            y = A4[i, j]
            z = A6[i, j]
            HO[i, j] = c[0, 1] * x + c[0, 2] * y + c[0, 3] * z
            HE[i, j] = c[2, 1] * x + c[2, 2] * y + c[2, 3] * z
            if i >= first * n:
                LO[i, j] = c[1, 1] * x + c[1, 2] * y + c[1, 3] * z
                LE[i, j] = c[3, 1] * x + c[3, 2] * y + c[3, 3] * z
    if first == 0:
        for i in range(n):
            LO[i, i] += c[1, 0]
            LE[i, i] += c[3, 0]


@njit(types.void(float64, MATRIX_OUT), **EXACT)
def coefficients(factor, c):
    """Coefficients of [13/13], that of A^d times factor^d: odd and even part, each above and below A6."""
    f2 = factor * factor
    f4 = f2 * f2
    f6 = f4 * f2
    fill(0.0, c)
    c[0, 1], c[0, 2], c[0, 3] = 40840800.0 * f2, 16380.0 * f4, f6
    c[1, 0], c[1, 1] = 32382376266240000.0, 1187353796428800.0 * f2
    c[1, 2], c[1, 3] = 10559470521600.0 * f4, 33522128640.0 * f6
    c[2, 1], c[2, 2], c[2, 3] = 1323241920.0 * f2, 960960.0 * f4, 182.0 * f6
    c[3, 0], c[3, 1] = 64764752532480000.0, 7771770303897600.0 * f2
    c[3, 2], c[3, 3] = 129060195264000.0 * f4, 670442572800.0 * f6


@njit(int64(MATRIX_OUT), **EXACT)
def halve(A):
    """Halve A until its powers are finite; return how often."""
    largest = norm1(A)
    if largest <= 1e30:
        return 0
    s = min(count_of(math.log2(largest / 1e30)), 960)  # the norm may be infinite where no entry is
    scale_by(-s, A)
    return s


@njit(
    int64(int64, int64, float64, MATRIX, MATRIX_OUT, MATRIX_OUT, MATRIX_OUT, MATRIX_OUT, MATRIX_OUT, MATRIX_OUT),
    **EXACT,
)
def polynomials(first, known, sign, A, A2, A4, A6, LO, U, V):
    """U = A*LO, V = odd and even part of the numerator of the approximant of exp at 2^-s*A; A2 = sign*A*A.

    Return s, which is -1 for the [7/7] approximant. Before matrix `first`, A2, A4, A6 and LO must be filled, with s
    in `known`; U and V are not computed.
    """
    HO = np.empty(A.shape)
    HE = np.empty(A.shape)
    c = np.zeros((4, 4))
    jet_gemm_from(first, sign, A, A, 0.0, A2)
    jet_gemm_from(first, 1.0, A2, A2, 0.0, A4)
    jet_gemm_from(first, 1.0, A4, A2, 0.0, A6)
    s = known
    if first == 0:
        largest = norm1(A)
        s = halvings(largest, A2, A4, A6)
        if s >= 0 and math.ldexp(largest, -s) > 4.25:
            s += further_halvings(A, largest, math.ldexp(1.0, -s))
    if s < 0:
        c[1, 0], c[1, 1], c[1, 2], c[1, 3] = 8648640.0, 277200.0, 1512.0, 1.0
        c[3, 0], c[3, 1], c[3, 2], c[3, 3] = 17297280.0, 1995840.0, 25200.0, 56.0
        combine(first, c, A2, A4, A6, HO, LO, HE, V)
        jet_gemm_from(first, 1.0, A, LO, 0.0, U)
        return s
    factor = math.ldexp(1.0, -s)
    f6 = factor**6
    coefficients(factor, c)
    combine(first, c, A2, A4, A6, HO, LO, HE, V)
    jet_gemm_from(first, f6, A6, HO, 1.0, LO)
    jet_gemm_from(first, factor, A, LO, 0.0, U)
    jet_gemm_from(first, f6, A6, HE, 1.0, V)
    return s


@njit(int64(float64, MATRIX_OUT, MATRIX_OUT, MATRIX_OUT), **EXACT)
def pade_parts(sign, A, U, V):
    """U, V = odd, even part of the numerator of the approximant of exp at 2^-s*A, with sign*A*A; return s."""
    shape = A.shape
    s = halve(A)
    return s + max(
        0, polynomials(0, 0, sign, A, np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape), U, V)
    )


@njit(types.void(int64, MATRIX_OUT, MATRIX_OUT), **EXACT)
def fraction(first, U, R):
    """U, R = denominator R - U and numerator R + U, from matrix `first` of the jets on."""
    for i in range(first * U.shape[1], U.shape[0]):
        for j in range(U.shape[1]):
            u = U[i, j]
            v = R[i, j]
            R[i, j] = v + u
            U[i, j] = v - u


@njit(int64(MATRIX_OUT, MATRIX_OUT), **EXACT)
def jet_pade(A, R):
    """R = the approximant of the exponential of 2^-s*A; return s."""
    U = np.empty(A.shape)
    s = pade_parts(1.0, A, U, R)
    fraction(0, U, R)
    jet_divide(U, R)
    return s


@njit(types.void(int64, MATRIX_OUT, MATRIX_OUT), **EXACT)
def square_often(times, R, A):
    """Square R so many times; the result is in A and R is workspace."""
    for _ in range(times // 2):
        jet_gemm(1.0, R, R, 0.0, A)
        jet_gemm(1.0, A, A, 0.0, R)
    if times % 2:
        jet_gemm(1.0, R, R, 0.0, A)
    else:
        copy_flipped(0, R, A)


@njit(types.void(MATRIX, int64, int64, MATRIX_OUT), **EXACT)
def copy_matrix(P, a, b, J):
    """J[b] = P[a] for matrices of stacks."""
    n = J.shape[1]
    for i in range(n):
        for j in range(n):
            J[n * b + i, j] = P[n * a + i, j]


@njit(types.void(MATRIX, MATRIX_OUT, PIVOTS_OUT, VECTOR_OUT), **EXACT)
def pade(X, P, p, h):
    """Compute the values that the approximant of exp at 2^-(h[0] + h[1])*X shares with its derivatives.

    P is a stack: the even powers A2, A4, A6 of A = 2^-h[1]*X, the odd part divided by A, the denominator factorised
    with pivots p, the approximant itself, and A. h[0] is -1 for the [7/7] approximant, which is taken at A.
    """
    n = X.shape[0]
    A = np.empty((n, n))
    start(0, 0, X, X, X, A)
    fill(math.nan, P)
    h[0] = 0.0
    h[1] = 0.0
    for i in range(n):
        p[i] = 0
    if is_usable(A) == 0:
        return
    h[1] = halve(A)
    A2 = np.empty((n, n))
    A4 = np.empty((n, n))
    A6 = np.empty((n, n))
    LO = np.empty((n, n))
    U = np.empty((n, n))
    R = np.empty((n, n))
    h[0] = polynomials(0, 0, 1.0, A, A2, A4, A6, LO, U, R)
    fraction(0, U, R)
    dgetrf(n, n, U, n, p)
    jet_divide_from(0, U, p, U, R)
    copy_matrix(A2, 0, 0, P)
    copy_matrix(A4, 0, 1, P)
    copy_matrix(A6, 0, 2, P)
    copy_matrix(LO, 0, 3, P)
    copy_matrix(U, 0, 4, P)
    copy_matrix(R, 0, 5, P)
    copy_matrix(A, 0, 6, P)


@njit(types.void(int64, MATRIX, VECTOR, MATRIX_OUT), **EXACT)
def expm(turned, P, h, C):
    """C = the exponential of X, or of X' if `turned`, from the results of `pade` for X."""
    A = np.empty(C.shape)
    R = np.empty(C.shape)
    copy_matrix(P, 5, 0, R)
    square_often(int(max(h[0], 0.0) + h[1]), R, A)
    copy_flipped(turned, A, C)


@njit(types.void(int64, int64, MATRIX, PIVOTS, VECTOR, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def expm_along(count, turned, P, p, h, E, F, C):
    """C = the derivative of the exponential of X, or of X' if `turned`, along the first `count` of E, F.

    P, p, h are the results of `pade` for X.
    """
    n = C.shape[0]
    shape = (n << count, n)
    A = np.empty(shape)
    X = np.empty((n, n))
    H = np.empty((n, n))
    D = np.empty((n, n))
    copy_flipped(turned, E, H)
    copy_flipped(turned, F, D)
    copy_matrix(P, 6, 0, X)
    exponent = start(int(h[1]), count, X, H, D, A)
    if is_usable(A):
        scale_by(-int(h[1]), A)
        A2 = np.empty(shape)
        A4 = np.empty(shape)
        A6 = np.empty(shape)
        LO = np.empty(shape)
        U = np.empty(shape)
        R = np.empty(shape)
        copy_matrix(P, 0, 0, A2)
        copy_matrix(P, 1, 0, A4)
        copy_matrix(P, 2, 0, A6)
        copy_matrix(P, 3, 0, LO)
        copy_matrix(P, 4, 0, D)
        polynomials(1, int(h[0]), 1.0, A, A2, A4, A6, LO, U, R)
        fraction(1, U, R)
        copy_matrix(P, 5, 0, R)
        jet_divide_from(1, D, p, U, R)
        square_often(int(max(h[0], 0.0) + h[1]), R, A)
    finish(exponent, A, H)
    copy_flipped(turned, H, C)


@njit(types.void(MATRIX_OUT, MATRIX_OUT), **EXACT)
def jet_cos_sin(A, S):
    """S = the sine of A; A becomes its cosine. They are imaginary and real part of the approximant of exp(i*A)."""
    shape = A.shape
    U = np.empty(shape)
    V = np.empty(shape)
    H = np.empty(shape)
    s = pade_parts(-1.0, A, U, V)
    jet_gemm(2.0, U, V, 0.0, S)
    jet_gemm(1.0, U, U, 0.0, H)
    jet_gemm(1.0, V, V, 0.0, A)
    for i in range(shape[0]):
        for j in range(shape[1]):
            u = H[i, j]
            v = A[i, j]
            A[i, j] = v - u
            H[i, j] = v + u
    jet_divide(H, A)
    jet_divide(H, S)
    for _ in range(s):
        jet_gemm(1.0, A, A, 0.0, H)
        jet_gemm(-1.0, S, S, 1.0, H)
        jet_gemm(2.0, A, S, 0.0, U)
        copy_flipped(0, H, A)
        copy_flipped(0, U, S)


@njit(types.void(int64, int64, MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def cosm(sine, count, X, E, F, C):
    """C = cosm(X), or sinm(X) if `sine`, or its derivative along the first `count` of E, F."""
    n = X.shape[0]
    A = np.empty((n << count, n))
    S = np.empty(A.shape)
    exponent = start(0, count, X, E, F, A)
    if is_usable(A):
        jet_cos_sin(A, S)
    else:
        fill(math.nan, S)
    finish(exponent, S if sine else A, C)


@njit(types.void(MATRIX_OUT), **EXACT)
def set_identity(J):
    """J = the jet of the identity."""
    fill(0.0, J)
    for i in range(J.shape[1]):
        J[i, i] = 1.0


@njit(int64(int64, int64, MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def powm_whole(count, p, X, E, F, C):
    """C = X^p for an integer p, or its derivative along the first `count` of E, F: by repeated squaring."""
    n = X.shape[0]
    A = np.empty((n << count, n))
    B = np.empty(A.shape)
    H = np.empty(A.shape)
    exponent = start(0, count, X, E, F, A)
    if is_usable(A) == 0:
        finish(0, A, C)
        return 0
    set_identity(B)
    if p < 0:
        copy_flipped(0, B, H)
        if jet_divide(A, H):
            return 1
        copy_flipped(0, H, A)
    rest = abs(p)
    while rest > 0:
        if rest % 2:
            jet_gemm(1.0, B, A, 0.0, H)
            copy_flipped(0, H, B)
        rest //= 2
        if rest > 0:
            jet_gemm(1.0, A, A, 0.0, H)
            copy_flipped(0, H, A)
    finish(exponent, B, C)
    return 0
