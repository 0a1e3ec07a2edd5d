"""Reductions of a whole array, passed as its flat view; intermediate results do not overflow."""

import math

import numpy as np
from numba import njit, types
from numba.types import float64, int64

from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT, SUMS, VECTOR, VECTOR_OUT
from matcalc.codegen.numba.elementary import from_ordered, ordered, vexp


@njit(**SUMS)
def plus(total, x):
    """total + x; a loop that calls it may add in several lanes. The order of other operations is preserved."""
    return total + x


@njit(float64(VECTOR), **SUMS)
def sum_of_squares(x):
    """x'*x."""
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * x[i]
    return s


@njit(float64(VECTOR), **EXACT)
def norm2(x):
    """sqrt(x'*x), scaled only if the sum overflows or underflows."""
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
    """Return the largest entry; NaN if x contains NaN, -inf if x is empty."""
    top, nans = ordered(-math.inf), 0
    for i in range(x.shape[0]):  # integer comparisons, which vectorise
        k = ordered(x[i])
        top = k if k > top else top
        nans += 1 if math.isnan(x[i]) else 0
    return math.nan if nans > 0 else from_ordered(top)


@njit(float64(VECTOR), **EXACT)
def smallest(x):
    """Return the smallest entry; NaN if x contains NaN, inf if x is empty."""
    top, nans = ordered(math.inf), 0
    for i in range(x.shape[0]):  # integer comparisons, which vectorise
        k = ordered(x[i])
        top = k if k < top else top
        nans += 1 if math.isnan(x[i]) else 0
    return math.nan if nans > 0 else from_ordered(top)


@njit(types.void(float64, VECTOR, VECTOR_OUT), **EXACT)
def share(m, x, y):
    """y = 1 where x equals m, divided by the number of such entries; NaN if m is NaN."""
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


@njit(float64(VECTOR), **SUMS)
def logsumexp(x):
    """log(sum(exp(x))) without overflow."""
    m = largest(x)
    if not (abs(m) < math.inf):
        return m
    s = 0.0
    for i in range(x.shape[0]):
        s += vexp(x[i] - m)
    return m + math.log(s)


@njit(types.void(VECTOR, VECTOR_OUT), **SUMS)
def softmax(x, y):
    """y = exp(x)/sum(exp(x)); if the largest entries are infinite, equal shares of them."""
    m = largest(x)
    if not (abs(m) < math.inf):
        share(m, x, y)
        return
    s = 0.0
    for i in range(x.shape[0]):
        e = vexp(x[i] - m)
        y[i] = e
        s += e
    for i in range(x.shape[0]):
        y[i] /= s


@njit(float64(VECTOR, VECTOR_OUT), **SUMS)
def softmax_logsumexp(x, y):
    """y = exp(x)/sum(exp(x)), and log(sum(exp(x))); each exponential is computed once."""
    m = largest(x)
    if not (abs(m) < math.inf):
        share(m, x, y)
        return m
    s = 0.0
    for i in range(x.shape[0]):
        e = vexp(x[i] - m)
        y[i] = e
        s += e
    for i in range(x.shape[0]):
        y[i] /= s
    return m + math.log(s)


@njit(types.void(VECTOR, VECTOR_OUT), **EXACT)
def log_softmax(x, y):
    """y = x - logsumexp(x)."""
    m = largest(x)
    if not (abs(m) < math.inf):
        share(m, x, y)
        for i in range(x.shape[0]):
            y[i] = math.log(y[i])
        return
    total = logsumexp(x) - m
    for i in range(x.shape[0]):
        y[i] = (x[i] - m) - total


@njit(**SUMS)
def exp_rows(start, count, X, tops, e):
    """e = exp(X - row maximum) for `count` rows from `start` on, in one loop because rows may be short."""
    n = X.shape[1]
    for i in range(count):
        top = -math.inf
        for j in range(n):
            top = X[start + i, j] if X[start + i, j] > top else top
        tops[i] = top
        for j in range(n):
            e[i * n + j] = X[start + i, j] - top
    for k in range(count * n):
        e[k] = vexp(e[k])


@njit(**SUMS)
def sum_row(first, n, e):
    """Return the sum of n entries from e[first] on."""
    s = 0.0
    for j in range(n):
        s += e[first + j]
    return s


@njit(**EXACT)
def largest_of_row(i, X):
    """Return the largest entry of row i; NaN if the row contains NaN."""
    top = -math.inf
    for j in range(X.shape[1]):
        top = X[i, j] if not (X[i, j] <= top) and not math.isnan(top) else top
    return top


@njit(**EXACT)
def share_row(i, X, Y):
    """Compute equal shares of the largest entries of row i; NaN if the row contains NaN."""
    top = largest_of_row(i, X)
    count = 0.0
    for j in range(X.shape[1]):
        count += 1.0 if X[i, j] == top else 0.0
    for j in range(X.shape[1]):
        Y[i, j] = math.nan if math.isnan(top) else (1.0 / count if X[i, j] == top else 0.0)


@njit(types.void(MATRIX, VECTOR_OUT), **SUMS)
def logsumexp_rows(X, y):
    """y = logsumexp of each row."""
    rows, n = X.shape
    block = max(1, 1024 // max(n, 1))
    tops = np.empty(block)
    e = np.empty(block * n)
    for start in range(0, rows, block):
        count = min(block, rows - start)
        exp_rows(start, count, X, tops, e)
        for i in range(count):
            if abs(tops[i]) < math.inf:
                y[start + i] = tops[i] + math.log(sum_row(i * n, n, e))
            else:
                y[start + i] = largest_of_row(start + i, X)


@njit(types.void(int64, MATRIX, MATRIX_OUT), **SUMS)
def softmax_rows(log, X, Y):
    """Y = softmax of each row, or its logarithm if `log`."""
    rows, n = X.shape
    block = max(1, 1024 // max(n, 1))
    tops = np.empty(block)
    e = np.empty(block * n)
    for start in range(0, rows, block):
        count = min(block, rows - start)
        exp_rows(start, count, X, tops, e)
        for i in range(count):
            if not (abs(tops[i]) < math.inf):
                share_row(start + i, X, Y)
                for j in range(n):
                    Y[start + i, j] = math.log(Y[start + i, j]) if log else Y[start + i, j]
            elif log:
                rest = math.log(sum_row(i * n, n, e))
                for j in range(n):
                    Y[start + i, j] = (X[start + i, j] - tops[i]) - rest
            else:
                scale = 1.0 / sum_row(i * n, n, e)
                for j in range(n):
                    Y[start + i, j] = e[i * n + j] * scale


@njit(types.void(MATRIX, MATRIX_OUT, VECTOR_OUT), **SUMS)
def softmax_logsumexp_rows(X, Y, y):
    """Y = softmax of each row, y = its logsumexp."""
    rows, n = X.shape
    block = max(1, 1024 // max(n, 1))
    tops = np.empty(block)
    e = np.empty(block * n)
    for start in range(0, rows, block):
        count = min(block, rows - start)
        exp_rows(start, count, X, tops, e)
        for i in range(count):
            if not (abs(tops[i]) < math.inf):
                share_row(start + i, X, Y)
                y[start + i] = largest_of_row(start + i, X)
            else:
                total = sum_row(i * n, n, e)
                y[start + i] = tops[i] + math.log(total)
                scale = 1.0 / total
                for j in range(n):
                    Y[start + i, j] = e[i * n + j] * scale


@njit(float64(VECTOR), **EXACT)
def prod(x):
    """Return the product of all entries."""
    p = 1.0
    for i in range(x.shape[0]):
        p *= x[i]
    return p


@njit(types.void(VECTOR, VECTOR_OUT), **EXACT)
def prod_others(x, y):
    """y[i] = the product of all entries except the i-th, without division: the gradient of prod."""
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
