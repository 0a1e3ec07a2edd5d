"""Quotients by gaps between eigenvalues, and means over eigenvalues that are equal within rounding.

A quotient is 0 where its numerator is exactly 0, so that unused entries do not matter. A gap within rounding gives NaN,
never a plausible number.
"""

import math

import numpy as np
from numba import njit, types
from numba.types import float64, int64

from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT, VECTOR, VECTOR_OUT
from matcalc.codegen.numba.order import ranked


@njit(float64(VECTOR), **EXACT)
def largest_of(w):
    """Return the largest magnitude in w; 0 for an empty w, NaN if an entry is NaN."""
    largest = 0.0
    for i in range(w.shape[0]):
        if w[i] != w[i]:
            return math.nan
        largest = max(largest, abs(w[i]))
    return largest


@njit(types.void(float64, float64, VECTOR, MATRIX, MATRIX_OUT), **EXACT)
def over_gaps(sign, rounding, w, K, C):
    """C[i,j] = K[i,j]/(w[j] + sign*w[i]); 0 where K[i,j] is 0 or i is j, NaN where the gap is within rounding."""
    n = w.shape[0]
    close = rounding * n * 2.220446049250313e-16 * largest_of(w)
    for i in range(n):
        for j in range(n):
            gap = w[j] + sign * w[i]
            if i == j or K[i, j] == 0.0:
                C[i, j] = 0.0
            elif abs(gap) <= close:
                C[i, j] = math.nan
            else:
                C[i, j] = K[i, j] / gap


@njit(types.void(VECTOR, MATRIX, MATRIX_OUT), **EXACT)
def columndiv(w, K, C):
    """C[i,j] = K[i,j]/w[j]; 0 where K[i,j] is 0, NaN where w[j] is within rounding of 0."""
    m, n = K.shape
    close = 4.0 * (m + n) * 2.220446049250313e-16 * largest_of(w)
    for i in range(m):
        for j in range(n):
            if K[i, j] == 0.0:
                C[i, j] = 0.0
            else:
                C[i, j] = math.nan if abs(w[j]) <= close else K[i, j] / w[j]


@njit(types.void(int64, VECTOR, VECTOR, VECTOR_OUT), **EXACT)
def tie_mean(kind, w, g, y):
    """y = the means of g over neighbours where the sorted w is equal within rounding.

    With kind 1 they are 0 where w is 0. With kind 2 y is g, or NaN where g is not equal at such neighbours.
    """
    n = w.shape[0]
    close = 4.0 * n * 2.220446049250313e-16 * largest_of(w)
    if not (close < math.inf):
        for i in range(n):
            y[i] = math.nan
        return
    spread = 64.0 * n * 2.220446049250313e-16 * largest_of(g)
    first = 0
    while first < n:
        last = first + 1
        total = g[first]
        while last < n and abs(w[last] - w[last - 1]) <= close:
            total += g[last]
            last += 1
        mean = total / (last - first)
        for i in range(first, last):
            if kind == 2:
                y[i] = math.nan if abs(g[i] - mean) > spread else g[i]
            else:
                y[i] = 0.0 if kind == 1 and abs(w[i]) <= 4.0 * close else mean
        first = last


@njit(types.void(VECTOR, VECTOR, VECTOR_OUT), **EXACT)
def equal_mean(w, g, y):
    """y = the means of g over neighbours where the sorted w is the same."""
    n, first = w.shape[0], 0
    while first < n:
        last, total = first + 1, g[first]
        while last < n and w[last] == w[first]:
            total += g[last]
            last += 1
        for i in range(first, last):
            y[i] = total / (last - first)
        first = last


@njit(int64(VECTOR, VECTOR, VECTOR_OUT), **EXACT)
def real_values(y, w, u):
    """u = y, the values of a function at w; return 1 if one is NaN where w is not."""
    status = 0
    for i in range(y.shape[0]):
        u[i] = y[i]
        if math.isnan(y[i]) and not math.isnan(w[i]):
            status = 1
    return status


@njit(float64(MATRIX, int64), **EXACT)
def pivot_mark(R, j):
    """Return 1 if R[j, j] is not 0 within rounding of the entries above it, else NaN."""
    largest = 0.0
    for i in range(j + 1):
        largest = max(largest, abs(R[i, j]))
    return 1.0 if abs(R[j, j]) > 4.0 * R.shape[0] * 2.220446049250313e-16 * largest else math.nan


@njit(types.void(MATRIX, MATRIX_OUT), **EXACT)
def regular(A, C):
    """C = A; NaN in columns whose diagonal entry is 0 within rounding of the entries above it."""
    n = A.shape[0]
    for j in range(n):
        mark = pivot_mark(A, j)
        for i in range(n):
            C[i, j] = A[i, j] if mark == 1.0 else math.nan


@njit(types.void(MATRIX, int64, VECTOR_OUT), **EXACT)
def pivots_used(R, k, y):
    """y = 1 where LU of k rows divides by R[j, j], 0 if it is zero or in the last row, NaN near 0."""
    for j in range(R.shape[0]):
        y[j] = 0.0 if R[j, j] == 0.0 or j + 1 >= k else pivot_mark(R, j)


@njit(types.void(MATRIX, int64, MATRIX_OUT), **EXACT)
def pivoted(R, k, C):
    """C = R, with a column of the identity where `pivots_used` is 0, and NaN where it is NaN."""
    n = R.shape[0]
    used = np.empty(n)
    pivots_used(R, k, used)
    for i in range(n):
        for j in range(n):
            C[i, j] = R[i, j] if used[j] == 1.0 else used[j] if i != j else 1.0 + used[j]


@njit(float64(VECTOR, int64), **EXACT)
def gap_middle(w, k):
    """Return the middle between the k-th and the (k+1)-th largest entry; NaN if they are equal within rounding.

    Beyond an end of w a value outside the range of its entries is used.
    """
    n = w.shape[0]
    if n == 0:
        return 0.0
    largest, k = largest_of(w), max(min(k, n), 0)
    above = ranked(w, n - k) if k > 0 else ranked(w, n - 1) + largest + 1.0
    below = ranked(w, n - 1 - k) if k < n else ranked(w, 0) - largest - 1.0
    if above - below > 4.0 * n * 2.220446049250313e-16 * largest:
        return above / 2.0 + below / 2.0
    return math.nan
