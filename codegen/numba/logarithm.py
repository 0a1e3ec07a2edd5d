"""Square root, logarithm and real powers of a matrix and their derivatives, in the basis of its real Schur form.

Inverse scaling and squaring on jets: square roots until the jet is near 1, then a Gauss-Legendre sum for the logarithm.
A power is the exponential of a multiple of it. The diagonal blocks are computed directly at each stage. Arrays are
stored by rows, so LAPACK's Schur form of X' is a lower triangular one of X: X = Z'*T*Z. Status 1 if X has an eigenvalue
that is zero or real and negative.
Source: Higham 2008, 6.2 and 11.5; Al-Mohy, Higham and Relton 2013.
"""

import math

import numpy as np
from numba import njit, types
from numba.types import float64, int64

from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT, N
from matcalc.codegen.numba.elementary import count_of
from matcalc.codegen.numba.equations import dtrsyl, schur
from matcalc.codegen.numba.exponential import jet_pade
from matcalc.codegen.numba.jets import (
    finish,
    is_usable,
    jet_divide,
    jet_gemm,
    norm1,
    put_scaled,
    stack_gemm,
    start,
)
from matcalc.codegen.numba.products import copy_flipped
from matcalc.codegen.numba.spectral import exponent_of, scale_by

LOG = 0
ROOT = 1
ROOT_LESS_ONE = 2
POWER = 3


@njit(types.UniTuple(float64, 2)(int64, float64, float64, float64), **EXACT)
def of_eigenvalue(function, share, a, b):
    """Return real and imaginary part of a function of a + b*i: log, sqrt, (a + b*i)^share - 1, (a + b*i)^share."""
    size = math.hypot(a, b)
    if function == ROOT:
        if b == 0.0:
            return math.sqrt(a), 0.0
        x = math.sqrt((size + abs(a)) / 2.0)
        if a >= 0.0:
            return x, b / (2.0 * x)
        return b / (2.0 * x), x
    x = math.log(size)
    y = math.atan2(b, a)
    if function == LOG:
        return x, y
    y *= share
    if function == ROOT_LESS_ONE:
        x *= share
        half = math.sin(y / 2.0)
        return math.expm1(x) * math.cos(y) - 2.0 * half * half, math.exp(x) * math.sin(y)
    x = size**share
    return x * math.cos(y), x * math.sin(y)


@njit(types.void(int64, float64, MATRIX, MATRIX_OUT), **EXACT)
def on_blocks(function, share, T, R):
    """Replace the diagonal blocks of R by a function of those of T."""
    n = T.shape[1]
    i = 0
    while i < n:
        if i + 1 == n or T[i, i + 1] == 0.0:
            R[i, i] = of_eigenvalue(function, share, T[i, i], 0.0)[0]
            i += 1
            continue
        b = T[i, i + 1]
        c = T[i + 1, i]
        turn = math.sqrt(abs(b)) * math.sqrt(abs(c))
        x, y = of_eigenvalue(function, share, T[i, i], turn)
        R[i, i] = x
        R[i + 1, i + 1] = x
        R[i, i + 1] = b * (y / turn)
        R[i + 1, i] = c * (y / turn)
        i += 2


@njit(types.void(int64, int64, MATRIX, int64, MATRIX, int64, MATRIX_OUT, int64), **EXACT)
def trsyl_part(rows, columns, F, f, G, g, C, c):
    """Solve F*X + X*G = C in place; the matrices are stored by columns from entries f, g and c on."""
    n = F.shape[1]
    scale = np.empty(1)
    dtrsyl(N, N, 1, rows, columns, (F, f), n, (G, g), n, (C, c), n, scale)
    if scale[0] != 1.0:
        for j in range(columns):
            for i in range(rows):
                at = c + n * j + i
                C[at // n, at % n] /= scale[0]


@njit(types.void(MATRIX, MATRIX_OUT), **EXACT)
def jet_sqrt(T, R):
    """R = the principal square root of a jet whose first matrix is a real Schur form."""
    n = T.shape[1]
    copy_flipped(0, T, R)
    on_blocks(ROOT, 0.5, T, R)
    j = 0
    while j < n:
        width = 2 if j + 1 < n and T[j, j + 1] != 0.0 else 1
        if j > 0:
            trsyl_part(j, width, R, 0, R, n * j + j, R, n * j)
        j += width
    for S in range(1, T.shape[0] // n):
        B = (S - 1) & S
        while B > 0:
            stack_gemm(0, -1.0, R, B, R, S ^ B, 1.0, R, S)
            B = (B - 1) & S
        trsyl_part(n, n, R, 0, R, 0, R, n * n * S)


@njit(float64(MATRIX), **EXACT)
def distance_from_one(A):
    """Return the size of A - 1 that bounds the error of the approximant; roots of norms of powers if smaller."""
    n = A.shape[1]
    D = np.empty((n, n))
    D2 = np.empty((n, n))
    D3 = np.empty((n, n))
    put_scaled(0, A, 0, D)
    for i in range(n):
        D[i, i] -= 1.0
    stack_gemm(0, 1.0, D, 0, D, 0, 0.0, D2, 0)
    stack_gemm(0, 1.0, D2, 0, D, 0, 0.0, D3, 0)
    return min(norm1(D), max(math.sqrt(norm1(D2)), norm1(D3) ** (1.0 / 3.0)))


@njit(types.void(float64, float64, MATRIX, MATRIX_OUT, MATRIX_OUT), **EXACT)
def add_quotient(t, w, A, H, C):
    """C = C + w*A*inv(1 + t*A); H is workspace."""
    n = A.shape[1]
    D = np.empty(A.shape)
    for i in range(A.shape[0]):
        for j in range(n):
            D[i, j] = t * A[i, j]
            H[i, j] = A[i, j]
    for i in range(n):
        D[i, i] += 1.0
    jet_divide(D, H)
    for i in range(A.shape[0]):
        for j in range(n):
            C[i, j] += w * H[i, j]


@njit(types.void(MATRIX, MATRIX_OUT), **EXACT)
def jet_log(T, C):
    """C = the logarithm of a jet whose first matrix is a real Schur form."""
    A = np.empty(T.shape)
    H = np.empty(T.shape)
    copy_flipped(0, T, A)
    roots = 0
    while roots < 100 and distance_from_one(A) > 0.264:
        copy_flipped(0, A, H)
        jet_sqrt(H, A)
        roots += 1
    for i in range(T.shape[1]):
        A[i, i] -= 1.0
    on_blocks(ROOT_LESS_ONE, math.ldexp(1.0, -roots), T, A)
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] = 0.0
    # the Gauss-Legendre sum for the integral of a/(1 + t*a) is the [7/7] approximant
    add_quotient(0.5, 0.2089795918367347, A, H, C)
    for side in range(2):
        add_quotient(abs(side - 0.2970774243113014), 0.19091502525255946, A, H, C)
        add_quotient(abs(side - 0.12923440720030278), 0.13985269574463833, A, H, C)
        add_quotient(abs(side - 0.025446043828620736), 0.06474248308443485, A, H, C)
    scale_by(roots, C)
    on_blocks(LOG, 1.0, T, C)


@njit(types.void(int64, MATRIX, MATRIX_OUT), **EXACT)
def turn_basis(back, Z, J):
    """Replace each matrix M of a stack by Z*M*Z', or undo it."""
    n = J.shape[1]
    H = np.empty((n, n))
    Zt = np.empty((n, n))
    copy_flipped(1, Z, Zt)
    for S in range(J.shape[0] // n):
        if back:
            stack_gemm(0, 1.0, J, S, Z, 0, 0.0, H, 0)
            stack_gemm(0, 1.0, Zt, 0, H, 0, 0.0, J, S)
        else:
            stack_gemm(0, 1.0, J, S, Zt, 0, 0.0, H, 0)
            stack_gemm(0, 1.0, Z, 0, H, 0, 0.0, J, S)


@njit(int64(MATRIX), **EXACT)
def is_triangular(X):
    """Return 1 if X is upper or lower triangular, so that its eigenvalues are known without rounding."""
    upper = 1
    lower = 1
    for i in range(X.shape[0]):
        for j in range(i):
            if X[i, j] != 0.0:
                upper = 0
            if X[j, i] != 0.0:
                lower = 0
    return max(upper, lower)


@njit(int64(MATRIX, MATRIX_OUT, MATRIX_OUT), **EXACT)
def to_schur(X, J, Z):
    """Transform a jet of X to the basis of its Schur form; 1 if an eigenvalue is zero or real and negative."""
    n = J.shape[1]
    A = np.empty((n, n))
    T = np.empty((n, n))
    put_scaled(0, J, 0, A)
    if schur(A, T, Z):
        return 1
    least = 0.0
    if is_triangular(X) == 0:
        least = n * 2.220446049250313e-16 * norm1(A)
    for i in range(n):
        alone = (i == 0 or T[i - 1, i] == 0.0) and (i + 1 == n or T[i, i + 1] == 0.0)
        if alone and T[i, i] <= least:
            return 1
    turn_basis(0, Z, J)
    put_scaled(0, T, 0, J)
    return 0


@njit(int64(MATRIX, MATRIX_OUT), **EXACT)
def sqrtm(X, C):
    """C = the principal square root of X."""
    n = X.shape[0]
    J = np.empty((n, n))
    Z = np.empty((n, n))
    scale = -2 * (exponent_of(X) // 2)
    start(scale, 0, X, X, X, J)
    if is_usable(J) == 0:
        finish(0, J, C)
        return 0
    if to_schur(X, J, Z):
        return 1
    jet_sqrt(J, C)
    turn_basis(1, Z, C)
    scale_by(-scale // 2, C)
    return 0


@njit(int64(int64, MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def logm(count, X, E, F, C):
    """C = the principal logarithm of X, or its derivative along the first `count` of E, F."""
    n = X.shape[0]
    J = np.empty((n << count, n))
    L = np.empty(J.shape)
    Z = np.empty((n, n))
    scale = -exponent_of(X)
    exponent = start(scale, count, X, E, F, J)
    if is_usable(J) == 0:
        finish(0, J, C)
        return 0
    if to_schur(X, J, Z):
        return 1
    jet_log(J, L)
    turn_basis(1, Z, L)
    finish(exponent + count * scale, L, C)
    if count == 0:
        for i in range(n):
            C[i, i] -= scale * math.log(2.0)
    return 0


@njit(int64(int64, float64, MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def powm(count, p, X, E, F, C):
    """C = X^p, or its derivative along the first `count` of E, F: the exponential of p times the logarithm.

    After each squaring the eigenvalues are replaced by their exact powers.
    """
    n = X.shape[0]
    J = np.empty((n << count, n))
    L = np.empty(J.shape)
    R = np.empty(J.shape)
    Z = np.empty((n, n))
    scale = -exponent_of(X)
    exponent = start(scale, count, X, E, F, J)
    if is_usable(J) == 0:
        finish(0, J, C)
        return 0
    if to_schur(X, J, Z):
        return 1
    jet_log(J, L)
    for i in range(L.shape[0]):
        for j in range(n):
            L[i, j] *= p
    s = jet_pade(L, R)
    on_blocks(POWER, p * math.ldexp(1.0, -s), J, R)
    for step in range(1, s + 1):
        jet_gemm(1.0, R, R, 0.0, L)
        copy_flipped(0, L, R)
        on_blocks(POWER, p * math.ldexp(1.0, step - s), J, R)
    turn_basis(1, Z, R)
    high = float(np.float32(p))  # scale*high is exact
    whole = count_of(-scale * high)
    factor = 2.0 ** ((-scale * high - whole) - scale * (p - high))
    for i in range(R.shape[0]):
        for j in range(n):
            R[i, j] *= factor
    finish(exponent + whole + scale * count, R, C)
    return 0
