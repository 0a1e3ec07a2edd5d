"""Factorisations of matrices with zeros in a band or in blocks, or with equal diagonals, which their entries show.

The search for zeros begins at the ends of each row, and that for equal diagonals stops at the first entry that differs.
So a dense matrix costs one look at each row. A lower factor has zeros where its matrix begins with zeros in a row
(Jennings 1966, "A compact storage scheme for the solution of symmetric linear simultaneous equations").
"""

import math

import numpy as np
from numba import njit, types
from numba.types import int64

from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT, PIVOTS_OUT, PRODUCTS, VECTOR


@njit(int64(MATRIX, PIVOTS_OUT), **EXACT)
def row_starts(S, first):
    """first = the column of the first nonzero entry of each lower row; return the sum of their distances."""
    total = 0
    for i in range(S.shape[0]):
        j = 0
        while j < i and S[i, j] == 0.0:
            j += 1
        first[i] = j
        total += i - j
    return total


@njit(int64(PIVOTS_OUT), **EXACT)
def work_by_rows(first):
    """Return the products that a factorisation by rows needs, twice."""
    total = 0
    for i in range(first.shape[0]):
        total += (i - first[i]) * (i - first[i])
    return total


@njit(int64(MATRIX, PIVOTS_OUT, MATRIX_OUT), **PRODUCTS)
def chol_by_rows(S, first, L):
    """Factorise in place the lower triangle in L, whose rows begin at `first`; 1 if it is not positive definite."""
    for i in range(L.shape[0]):
        for j in range(first[i], i):
            s = 0.0
            for k in range(max(first[i], first[j]), j):
                s += L[i, k] * L[j, k]
            L[i, j] = (L[i, j] - s) / L[j, j]
        s = 0.0
        for k in range(first[i], i):
            s += L[i, k] * L[i, k]
        s = S[i, i] - s
        if not (0.0 < s < math.inf):
            return 1
        L[i, i] = math.sqrt(s)
    return 0


@njit(types.void(MATRIX, PIVOTS_OUT, MATRIX_OUT), **PRODUCTS)
def inv_by_rows(L, first, C):
    """C = the lower triangle of inv(L*L') for L whose rows begin at `first`."""
    n = L.shape[0]
    for i in range(n):
        for j in range(i):
            C[i, j] = 0.0
        C[i, i] = 1.0
        for k in range(first[i], i):
            factor = L[i, k]
            for j in range(k + 1):
                C[i, j] -= factor * C[k, j]
        for j in range(i + 1):
            C[i, j] /= L[i, i]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            C[i, j] /= L[i, i]
        for k in range(first[i], i):
            factor = L[i, k]
            for j in range(k + 1):
                C[k, j] -= factor * C[i, j]


@njit(int64(MATRIX), **EXACT)
def has_equal_diagonals(S):
    """1 if each diagonal of the lower triangle has equal entries, as in a Toeplitz matrix, else 0."""
    for i in range(1, S.shape[0]):
        for j in range(1, i + 1):
            if S[i, j] != S[i - 1, j - 1]:
                return 0
    return 1


@njit(int64(MATRIX, MATRIX_OUT), **EXACT)
def chol_of_toeplitz(S, L):
    """L = the Cholesky factor of a symmetric Toeplitz matrix, by Schur's algorithm; 1 if it is not definite.

    The order of operations is the stable one of Bojanczyk, Brent, de Hoog and Sweet (1995), "On the stability of
    the Bareiss and related Toeplitz factorization algorithms". By w = 1 - s, rounding errors of a small r are
    small.
    """
    n = S.shape[0]
    a, b = np.empty(n), np.empty(n)
    if not (0.0 < S[0, 0] < math.inf):
        return 1
    root = math.sqrt(S[0, 0])
    for i in range(n):
        a[i] = S[i, 0] / root
        b[i] = a[i]
        L[0, i] = a[i]
    for k in range(1, n):
        r = b[k] / a[0]
        if not (abs(r) < 1.0):
            return 1
        s = math.sqrt((1.0 - r) * (1.0 + r))
        t, w = 1.0 / s, r * r / (1.0 + s)
        for m in range(n - k):
            x = a[m] + (w * a[m] - r * b[k + m]) * t
            b[k + m] -= w * b[k + m] + r * x
            a[m] = x
            L[k, k + m] = x
    for ib in range(0, n, 32):
        for jb in range(0, ib + 1, 32):
            for i in range(ib, min(ib + 32, n)):
                for j in range(jb, min(jb + 32, i)):
                    L[i, j] = L[j, i]
                    L[j, i] = 0.0
    return 0


@njit(types.void(VECTOR, MATRIX_OUT), **EXACT)
def inv_of_toeplitz(x, C):
    """C = the inverse of a symmetric Toeplitz matrix from its first column x (Gohberg and Semencul 1972)."""
    n = x.shape[0]
    for j in range(n):
        C[0, j] = x[j]
        C[j, 0] = x[j]
    for i in range(1, n):
        p, q = x[i] / x[0], x[n - i] / x[0]
        for j in range(1, n):
            C[i, j] = C[i - 1, j - 1] + (p * x[j] - q * x[n - j])


@njit(int64(MATRIX, PIVOTS_OUT), **EXACT)
def bandwidths(X, reach):
    """reach = how far entries that are not zero lie below and above the diagonal; return their sum."""
    n = X.shape[0]
    reach[0], reach[1] = 0, 0
    for i in range(n):
        j = 0
        while j < i - reach[0] and X[i, j] == 0.0:
            j += 1
        reach[0] = max(reach[0], i - j)
        j = n - 1
        while j > i + reach[1] and X[i, j] == 0.0:
            j -= 1
        reach[1] = max(reach[1], j - i)
    return reach[0] + reach[1]


@njit(types.void(MATRIX_OUT, PIVOTS_OUT, int64, int64), **EXACT)
def eliminate_band(F, p, below, above):
    """F, p = the result of dgetrf for the matrix that Fortran reads in F, with bands beside its diagonal."""
    n = F.shape[0]
    for k in range(n):
        end, last = min(n, k + below + 1), min(n, k + below + above + 1)
        best = k
        for i in range(k, end):
            if abs(F[k, i]) > abs(F[k, best]):
                best = i
        p[k] = best + 1
        if best > k:
            for j in range(last):
                kept = F[j, k]
                F[j, k] = F[j, best]
                F[j, best] = kept
        if F[k, k] == 0.0:
            continue
        for i in range(k + 1, end):
            F[k, i] /= F[k, k]
        for j in range(k + 1, last):
            for i in range(k + 1, end):
                F[j, i] -= F[k, i] * F[j, k]
