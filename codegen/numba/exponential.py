"""Exponential, cosine and sine of a matrix and their derivatives: scaling and squaring on jets.

The [7/7] or the [13/13] Pade approximant; how often a matrix is halved follows from the norms of its powers, not
from its own alone.
Source: Al-Mohy and Higham 2009, "A new scaling and squaring algorithm for the matrix exponential" and "Computing
the Frechet derivative of the matrix exponential"; for cosine and sine Al-Mohy, Higham and Relton 2015.
"""

import math

import numpy as np
from numba import njit, types
from numba.types import float64, int64

from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT
from matcalc.codegen.numba.jets import finish, is_usable, jet_divide, jet_gemm, norm1, scale_by, start
from matcalc.codegen.numba.products import copy_flipped
from matcalc.codegen.numba.spectral import fill


@njit(int64(MATRIX, float64, float64), **EXACT)
def further_halvings(A, largest, factor):
    """What rounding asks for beyond the halvings by norms: the 27th power of factor*abs(A), relative to its own."""
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
    return max(0, math.ceil(excess / 26.0))


@njit(int64(float64, MATRIX, MATRIX, MATRIX), **EXACT)
def halvings(largest, A2, A4, A6):
    """How often A, whose norm is `largest`, is halved for [13/13]; -1 where [7/7] does without."""
    size = max(norm1(A4) ** 0.25, norm1(A6) ** (1.0 / 6.0))
    if largest <= 0.78:
        return -1
    return math.ceil(math.log2(size / 4.25)) if size > 4.25 else 0


@njit(types.void(MATRIX, MATRIX, MATRIX, MATRIX, MATRIX_OUT, MATRIX_OUT, MATRIX_OUT, MATRIX_OUT), **EXACT)
def combine(c, A2, A4, A6, HO, LO, HE, LE):
    """Four combinations c[r,0]*I + c[r,1]*A2 + c[r,2]*A4 + c[r,3]*A6 of jets."""
    n = A2.shape[1]
    for i in range(A2.shape[0]):
        for j in range(n):
            x = A2[i, j]
            y = A4[i, j]
            z = A6[i, j]
            HO[i, j] = c[0, 1] * x + c[0, 2] * y + c[0, 3] * z
            LO[i, j] = c[1, 1] * x + c[1, 2] * y + c[1, 3] * z
            HE[i, j] = c[2, 1] * x + c[2, 2] * y + c[2, 3] * z
            LE[i, j] = c[3, 1] * x + c[3, 2] * y + c[3, 3] * z
    for i in range(n):
        LO[i, i] += c[1, 0]
        LE[i, i] += c[3, 0]


@njit(types.void(float64, MATRIX_OUT), **EXACT)
def coefficients(factor, c):
    """Coefficients of [13/13]: odd part over A6, below; even part over A6, below. Those of A^d times factor^d."""
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


@njit(int64(float64, MATRIX_OUT, MATRIX_OUT, MATRIX_OUT), **EXACT)
def pade_parts(sign, A, U, V):
    """U, V = odd and even part of the numerator of the approximant of exp at 2^-s*A; A*A is taken `sign` times. s."""
    shape = A.shape
    largest = norm1(A)
    first = 0
    if largest > 1e30:
        first = math.ceil(math.log2(largest / 1e30))
        scale_by(-first, A)
        largest = norm1(A)
    A2 = np.empty(shape)
    A4 = np.empty(shape)
    A6 = np.empty(shape)
    HO = np.empty(shape)
    LO = np.empty(shape)
    HE = np.empty(shape)
    c = np.empty((4, 4))
    jet_gemm(sign, A, A, 0.0, A2)
    jet_gemm(1.0, A2, A2, 0.0, A4)
    jet_gemm(1.0, A4, A2, 0.0, A6)
    s = halvings(largest, A2, A4, A6)
    if s < 0:
        fill(0.0, c)
        c[1, 0], c[1, 1], c[1, 2], c[1, 3] = 8648640.0, 277200.0, 1512.0, 1.0
        c[3, 0], c[3, 1], c[3, 2], c[3, 3] = 17297280.0, 1995840.0, 25200.0, 56.0
        combine(c, A2, A4, A6, HO, LO, HE, V)
        jet_gemm(1.0, A, LO, 0.0, U)
        return first
    factor = math.ldexp(1.0, -s)
    if factor * largest > 4.25:
        s += further_halvings(A, largest, factor)
        factor = math.ldexp(1.0, -s)
    coefficients(factor, c)
    combine(c, A2, A4, A6, HO, LO, HE, V)
    f6 = factor**6
    jet_gemm(f6, A6, HO, 1.0, LO)
    jet_gemm(factor, A, LO, 0.0, U)
    jet_gemm(f6, A6, HE, 1.0, V)
    return s + first


@njit(int64(MATRIX_OUT, MATRIX_OUT), **EXACT)
def jet_pade(A, R):
    """R = the approximant of the exponential of 2^-s*A. s."""
    U = np.empty(A.shape)
    s = pade_parts(1.0, A, U, R)
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            u = U[i, j]
            v = R[i, j]
            R[i, j] = v + u
            U[i, j] = v - u
    jet_divide(U, R)
    return s


@njit(types.void(MATRIX_OUT), **EXACT)
def jet_expm(A):
    """A becomes its exponential."""
    R = np.empty(A.shape)
    s = jet_pade(A, R)
    for _ in range(s // 2):
        jet_gemm(1.0, R, R, 0.0, A)
        jet_gemm(1.0, A, A, 0.0, R)
    if s % 2:
        jet_gemm(1.0, R, R, 0.0, A)
    else:
        copy_flipped(0, R, A)


@njit(types.void(int64, MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def expm(count, X, E, F, C):
    """C = expm(X), or its derivative along the first `count` of E, F."""
    n = X.shape[0]
    A = np.empty((n << count, n))
    exponent = start(0, count, X, E, F, A)
    if is_usable(A):
        jet_expm(A)
    finish(exponent, A, C)


@njit(types.void(MATRIX_OUT, MATRIX_OUT), **EXACT)
def jet_cos_sin(A, S):
    """S = the sine of A, and A becomes its cosine: imaginary and real part of the approximant of exp(i*A)."""
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


@njit(types.void(int64, MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def cosm(count, X, E, F, C):
    """C = cosm(X), or its derivative along the first `count` of E, F."""
    n = X.shape[0]
    A = np.empty((n << count, n))
    exponent = start(0, count, X, E, F, A)
    if is_usable(A):
        jet_cos_sin(A, np.empty(A.shape))
    finish(exponent, A, C)


@njit(types.void(int64, MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def sinm(count, X, E, F, C):
    """C = sinm(X), or its derivative along the first `count` of E, F."""
    n = X.shape[0]
    A = np.empty((n << count, n))
    S = np.empty(A.shape)
    exponent = start(0, count, X, E, F, A)
    if is_usable(A):
        jet_cos_sin(A, S)
    else:
        fill(math.nan, S)
    finish(exponent, S, C)


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
