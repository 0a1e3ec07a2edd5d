"""Selection, sorting and permutation of entries, and matrices with powers in columns."""

import math

import numpy as np
from numba import njit, types
from numba.types import float64, int64

from matcalc.codegen.numba.call import EXACT, MATRIX_OUT, PIVOTS, PIVOTS_OUT, VECTOR, VECTOR_OUT


@njit(float64(VECTOR, int64), **EXACT)
def ranked(x, k):
    """Return the entry of x of rank k, from 0, by selection (Hoare 1961); NaN if x contains NaN."""
    n = x.shape[0]
    kept = np.empty(n)
    for i in range(n):
        kept[i] = x[i]
        if math.isnan(x[i]):
            return math.nan
    low, high = 0, n - 1
    while low < high:
        pivot = kept[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while kept[i] < pivot:
                i += 1
            while kept[j] > pivot:
                j -= 1
            if i <= j:
                swapped = kept[i]
                kept[i] = kept[j]
                kept[j] = swapped
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            return kept[k]
    return kept[k]


@njit(float64(VECTOR), **EXACT)
def median(x):
    """Return the middle entry of x, or the mean of the two middle ones; NaN for an empty x."""
    n = x.shape[0]
    if n == 0:
        return math.nan
    if n % 2 == 1:
        return ranked(x, n // 2)
    below, above = ranked(x, n // 2 - 1), ranked(x, n // 2)
    return below / 2 + above / 2


@njit(types.void(VECTOR, VECTOR_OUT), **EXACT)
def median_at(x, y):
    """y = the gradient of median: equal shares of the entries that are equal to a middle one."""
    n = x.shape[0]
    if n == 0:
        return
    below, above = ranked(x, (n - 1) // 2), ranked(x, n // 2)
    lower, upper = 0, 0
    for i in range(n):
        lower += 1 if x[i] == below else 0
        upper += 1 if x[i] == above else 0
    for i in range(n):
        share = math.nan if math.isnan(below) else 0.0
        if x[i] == below:
            share += 0.5 / lower
        if x[i] == above:
            share += 0.5 / upper
        y[i] = share


@njit(int64(float64, float64), **EXACT)
def is_before(a, b):
    """Return 1 if a is less than b; NaN is greater than all numbers."""
    return 1 if a < b or (math.isnan(b) and not math.isnan(a)) else 0


@njit(types.void(VECTOR, PIVOTS_OUT), **EXACT)
def sort_order(x, p):
    """p = the indices that sort x in ascending order, by a stable merge sort; NaN last."""
    n = x.shape[0]
    merged = np.empty(n, np.int32)
    for i in range(n):
        p[i] = i
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            i, j = start, min(start + width, n)
            middle, end = j, min(start + 2 * width, n)
            for k in range(start, end):
                if i < middle and (j >= end or not is_before(x[p[j]], x[p[i]])):
                    merged[k] = p[i]
                    i += 1
                else:
                    merged[k] = p[j]
                    j += 1
        for k in range(n):
            p[k] = merged[k]
        width *= 2


@njit(types.void(PIVOTS, MATRIX_OUT), **EXACT)
def permutation(p, P):
    """P = the matrix that moves entry p[i] to index i."""
    for i in range(P.shape[0]):
        for j in range(P.shape[1]):
            P[i, j] = 1.0 if j == p[i] else 0.0


@njit(types.void(PIVOTS, VECTOR, VECTOR_OUT), **EXACT)
def gathered(p, b, z):
    """z[i] = b[p[i]]."""
    for i in range(z.shape[0]):
        z[i] = b[p[i]]


@njit(types.void(PIVOTS, VECTOR, VECTOR_OUT), **EXACT)
def scattered(p, b, z):
    """z[p[i]] = b[i]."""
    for i in range(z.shape[0]):
        z[p[i]] = b[i]


@njit(types.void(VECTOR, MATRIX_OUT), **EXACT)
def vander(x, V):
    """V = the powers of x in columns, the last one 1."""
    m, n = V.shape
    for i in range(m):
        power = 1.0
        for j in range(n):
            V[i, n - 1 - j] = power
            power *= x[i]
