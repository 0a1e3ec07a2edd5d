"""Reductions of a whole array, given as its flat view; none is fooled by overflow."""

import math

import numpy as np
from numba import njit, types
from numba.types import float64, int64

from matcalc.codegen.numba.call import EXACT, SUMS, VECTOR, VECTOR_OUT
from matcalc.codegen.numba.elementary import vexp


@njit(float64(VECTOR), **SUMS)
def sum_of_squares(x):
    """x'*x."""
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * x[i]
    return s


@njit(float64(VECTOR), **EXACT)
def norm2(x):
    """sqrt(x'*x), scaled only where the sum leaves the range of floats."""
    s = sum_of_squares(x)
    if 1e-290 < s < 1e290 or math.isnan(s):
        return math.sqrt(s)
    largest = 0.0
    for i in range(x.shape[0]):
        largest = max(largest, abs(x[i]))
    if largest == 0.0 or largest == math.inf:
        return largest
    s = 0.0
    for i in range(x.shape[0]):
        s += (x[i] / largest) * (x[i] / largest)
    return largest * math.sqrt(s)


@njit(types.void(VECTOR, VECTOR_OUT), **EXACT)
def normalize(x, y):
    """y = x/norm2(x), 0 where x is 0."""
    length = norm2(x)
    if length == 0.0:
        length = 1.0
    for i in range(x.shape[0]):
        y[i] = x[i] / length


@njit(float64(VECTOR), **EXACT)
def largest(x):
    """The largest entry; NaN where there is one, -inf of nothing."""
    m = -math.inf
    for i in range(x.shape[0]):
        m = x[i] if not (x[i] <= m) else m
        if math.isnan(m):
            return m
    return m


@njit(float64(VECTOR), **EXACT)
def smallest(x):
    """The smallest entry; NaN where there is one, inf of nothing."""
    m = math.inf
    for i in range(x.shape[0]):
        m = x[i] if not (x[i] >= m) else m
        if math.isnan(m):
            return m
    return m


@njit(types.void(float64, VECTOR, VECTOR_OUT), **EXACT)
def share(m, x, y):
    """y = 1 where x is m, divided by how often that is; NaN where m is."""
    count = 0.0
    for i in range(x.shape[0]):
        count += 1.0 if x[i] == m else 0.0
    for i in range(x.shape[0]):
        y[i] = math.nan if math.isnan(m) else (1.0 / count if x[i] == m else 0.0)


@njit(types.void(VECTOR, VECTOR_OUT), **EXACT)
def max_at(x, y):
    """y = 1 at the largest entry of x, ties in equal shares: the gradient of max."""
    share(largest(x), x, y)


@njit(types.void(VECTOR, VECTOR_OUT), **EXACT)
def min_at(x, y):
    """y = 1 at the smallest entry of x, ties in equal shares: the gradient of min."""
    share(smallest(x), x, y)


@njit(**SUMS)
def exp_rows(first, count, n, x, tops, e):
    """e = exp(x - top) for `count` rows of n entries from x[first] on; entries in one loop, however short rows are."""
    for i in range(count):
        top = -math.inf
        for j in range(n):
            top = x[first + i * n + j] if x[first + i * n + j] > top else top
        tops[i] = top
        for j in range(n):
            e[i * n + j] = x[first + i * n + j] - top
    for k in range(count * n):
        e[k] = vexp(e[k])


@njit(**SUMS)
def sum_row(first, n, e):
    """The sum of n entries from e[first] on."""
    s = 0.0
    for j in range(n):
        s += e[first + j]
    return s


@njit(**EXACT)
def largest_of_row(first, n, x):
    """The largest of n entries from x[first] on; NaN where there is one."""
    top = -math.inf
    for j in range(n):
        top = x[first + j] if not (x[first + j] <= top) and not math.isnan(top) else top
    return top


@njit(**EXACT)
def share_row(first, n, x, y):
    """Equal shares of the largest entries of a row, NaN where there is one: softmax where the largest is infinite."""
    top = largest_of_row(first, n, x)
    count = 0.0
    for j in range(n):
        count += 1.0 if x[first + j] == top else 0.0
    for j in range(n):
        y[first + j] = math.nan if math.isnan(top) else (1.0 / count if x[first + j] == top else 0.0)


@njit(types.void(int64, int64, VECTOR, VECTOR_OUT), **SUMS)
def logsumexp_rows(rows, n, x, y):
    """y[i] = log(sum(exp(row i))) without overflow, for rows of n entries."""
    block = max(1, 1024 // max(n, 1))
    tops = np.empty(block)
    e = np.empty(block * n)
    for start in range(0, rows, block):
        count = min(block, rows - start)
        exp_rows(start * n, count, n, x, tops, e)
        for i in range(count):
            if abs(tops[i]) < math.inf:
                y[start + i] = tops[i] + math.log(sum_row(i * n, n, e))
            else:
                y[start + i] = largest_of_row((start + i) * n, n, x)


@njit(types.void(int64, int64, VECTOR, VECTOR_OUT), **SUMS)
def softmax_rows(rows, n, x, y):
    """Each row of y = exp(row)/sum(exp(row)); equal shares of the largest entries where these are infinite."""
    block = max(1, 1024 // max(n, 1))
    tops = np.empty(block)
    e = np.empty(block * n)
    for start in range(0, rows, block):
        count = min(block, rows - start)
        exp_rows(start * n, count, n, x, tops, e)
        for i in range(count):
            first = (start + i) * n
            if abs(tops[i]) < math.inf:
                scale = 1.0 / sum_row(i * n, n, e)
                for j in range(n):
                    y[first + j] = e[i * n + j] * scale
            else:
                share_row(first, n, x, y)


@njit(types.void(int64, int64, VECTOR, VECTOR_OUT), **SUMS)
def log_softmax_rows(rows, n, x, y):
    """Each row of y = row - logsumexp(row)."""
    block = max(1, 1024 // max(n, 1))
    tops = np.empty(block)
    e = np.empty(block * n)
    for start in range(0, rows, block):
        count = min(block, rows - start)
        exp_rows(start * n, count, n, x, tops, e)
        for i in range(count):
            first = (start + i) * n
            if abs(tops[i]) < math.inf:
                rest = math.log(sum_row(i * n, n, e))
                for j in range(n):
                    y[first + j] = (x[first + j] - tops[i]) - rest
            else:
                share_row(first, n, x, y)
                for j in range(n):
                    y[first + j] = math.log(y[first + j])


@njit(float64(VECTOR), **EXACT)
def logsumexp(x):
    """log(sum(exp(x))) without overflow."""
    y = np.empty(1)
    logsumexp_rows(1, x.shape[0], x, y)
    return y[0]


@njit(types.void(VECTOR, VECTOR_OUT), **EXACT)
def softmax(x, y):
    """y = exp(x)/sum(exp(x)); equal shares of the largest entries where these are infinite."""
    softmax_rows(1, x.shape[0], x, y)


@njit(types.void(VECTOR, VECTOR_OUT), **EXACT)
def log_softmax(x, y):
    """y = x - logsumexp(x)."""
    log_softmax_rows(1, x.shape[0], x, y)


@njit(float64(VECTOR), **EXACT)
def prod(x):
    """The product of all entries."""
    p = 1.0
    for i in range(x.shape[0]):
        p *= x[i]
    return p


@njit(types.void(VECTOR, VECTOR_OUT), **EXACT)
def prod_others(x, y):
    """y[i] = the product of all entries but the i-th, without division: the gradient of prod."""
    n = x.shape[0]
    after = 1.0
    for i in range(n - 1, -1, -1):
        y[i] = after
        after *= x[i]
    before = 1.0
    for i in range(n):
        y[i] *= before
        before *= x[i]


@njit(types.void(VECTOR, VECTOR, VECTOR_OUT), **EXACT)
def prod_others_along(x, e, y):
    """y = the derivative of prod_others at x along e."""
    n = x.shape[0]
    tails = np.empty((2, n + 1))
    tails[0, n] = 1.0
    tails[1, n] = 0.0
    for i in range(n - 1, -1, -1):
        tails[0, i] = tails[0, i + 1] * x[i]
        tails[1, i] = tails[1, i + 1] * x[i] + tails[0, i + 1] * e[i]
    before = 1.0
    slope = 0.0
    for i in range(n):
        y[i] = slope * tails[0, i + 1] + before * tails[1, i + 1]
        slope = slope * x[i] + before * e[i]
        before *= x[i]
