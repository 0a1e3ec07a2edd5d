"""Many small square matrices at once, one in each row: LAPACK's calls take longer than their arithmetic.

Blocks of matrices are stored entry by entry, so that each step of the elimination is a loop over the matrices of a
block, which vectorises. Rows are exchanged by selection, where a later one has a larger entry: the pivots are those of
partial pivoting. NaN or infinity in a matrix gives NaN for all its results.
"""

import math

import numpy as np
from numba import njit, types
from numba.types import int64

from matcalc.codegen.numba.adjugate import adj
from matcalc.codegen.numba.call import EXACT, SUMS, TENSOR, TENSOR_OUT, VECTOR_OUT
from matcalc.codegen.numba.elementary import vlog
from matcalc.codegen.numba.lu import getrf

AT_ONCE = 64


@njit(**SUMS)
def load_rows(start, count, n, columns, X, A, spoilt):
    """A[i*columns + j] = entries [i, j] of matrices; spoilt = NaN for those that are not finite, else 0."""
    for k in range(count):
        spoilt[k] = 0.0
    for i in range(n):
        for j in range(n):
            for k in range(count):
                x = X[start + k, i, j]
                A[i * columns + j, k] = x
                spoilt[k] += x * 0.0


@njit(**EXACT)
def eliminate_rows(count, n, columns, A, factor, sign):
    """Reduce the first n columns of A to a triangle; sign = -1 for an odd number of exchanges. Count zeros."""
    zeros = 0
    for k in range(count):
        sign[k] = 1.0
    for p in range(n):
        top = p * columns
        for i in range(p + 1, n):
            row = i * columns
            for k in range(count):
                factor[k] = 1.0 if abs(A[row + p, k]) > abs(A[top + p, k]) else 0.0
                sign[k] = -sign[k] if factor[k] > 0.0 else sign[k]
            for j in range(p, columns):
                for k in range(count):
                    x, y = A[top + j, k], A[row + j, k]
                    A[top + j, k] = y if factor[k] > 0.0 else x
                    A[row + j, k] = x if factor[k] > 0.0 else y
        for k in range(count):
            zeros += 1 if A[top + p, k] == 0.0 else 0
        for i in range(p + 1, n):
            row = i * columns
            for k in range(count):
                below = A[top + p, k]
                factor[k] = 0.0 if below == 0.0 else A[row + p, k] / below
            for j in range(p + 1, columns):
                for k in range(count):
                    A[row + j, k] -= factor[k] * A[top + j, k]
    return zeros


@njit(**EXACT)
def substitute_rows(count, n, columns, A, factor):
    """Solve the triangles for the columns of A behind them, in place."""
    for p in range(n - 1, -1, -1):
        top = p * columns
        for k in range(count):
            factor[k] = 1.0 / A[top + p, k]
        for j in range(n, columns):
            for i in range(p + 1, n):
                for k in range(count):
                    A[top + j, k] -= A[top + i, k] * A[i * columns + j, k]
            for k in range(count):
                A[top + j, k] *= factor[k]


@njit(**EXACT)
def write_logs(start, count, n, columns, A, spoilt, totals, s):
    """s = the sum of log(abs(pivot)), by the product of the pivots if none of its parts leaves the range."""
    out_of_range = 0
    for k in range(count):
        totals[k] = 1.0
    for p in range(n):
        for k in range(count):
            totals[k] *= abs(A[p * columns + p, k])
            out_of_range += 0 if 1e-290 < totals[k] < 1e290 else 1
    for k in range(count):
        s[start + k] = vlog(totals[k]) + spoilt[k]
    if out_of_range > 0:
        for k in range(count):
            write_one_log(start, k, n, columns, A, spoilt, s)


@njit(**EXACT)
def write_one_log(start, k, n, columns, A, spoilt, s):
    """s[start + k] = the sum of log(abs(pivot)), if a part of the product of the pivots leaves the range."""
    product, total, out_of_range = 1.0, spoilt[k], 0
    for p in range(n):
        pivot = abs(A[p * columns + p, k])
        product *= pivot
        total += math.log(pivot)
        out_of_range += 0 if 1e-290 < product < 1e290 else 1
    if out_of_range > 0:
        s[start + k] = total


@njit(**EXACT)
def write_products(start, count, n, columns, A, spoilt, sign, s):
    """s = the product of the pivots with the sign of the exchanges."""
    for p in range(n):
        for k in range(count):
            sign[k] *= A[p * columns + p, k]
    for k in range(count):
        s[start + k] = sign[k] + spoilt[k]


@njit(**EXACT)
def append_identity(count, n, columns, A):
    """A[:, n:] = the identity matrix."""
    for i in range(n):
        for j in range(n):
            for k in range(count):
                A[i * columns + n + j, k] = 1.0 if i == j else 0.0


@njit(**EXACT)
def write_inverses(start, count, n, columns, A, spoilt, C):
    """C = the last n columns of A."""
    for k in range(count):
        for i in range(n):
            for j in range(n):
                C[start + k, i, j] = A[i * columns + n + j, k] + spoilt[k]


@njit(types.void(TENSOR, VECTOR_OUT), **EXACT)
def logdet_rows(X, s):
    """s = log(abs(det)) of each matrix; -inf if it is singular."""
    rows, n, _ = X.shape
    A = np.empty((n * n, AT_ONCE))
    factor, sign, spoilt = np.empty(AT_ONCE), np.empty(AT_ONCE), np.empty(AT_ONCE)
    for start in range(0, rows, AT_ONCE):
        count = min(AT_ONCE, rows - start)
        load_rows(start, count, n, n, X, A, spoilt)
        eliminate_rows(count, n, n, A, factor, sign)
        write_logs(start, count, n, n, A, spoilt, factor, s)


@njit(types.void(TENSOR, VECTOR_OUT), **EXACT)
def det_rows(X, s):
    """s = det of each matrix."""
    rows, n, _ = X.shape
    A = np.empty((n * n, AT_ONCE))
    factor, sign, spoilt = np.empty(AT_ONCE), np.empty(AT_ONCE), np.empty(AT_ONCE)
    for start in range(0, rows, AT_ONCE):
        count = min(AT_ONCE, rows - start)
        load_rows(start, count, n, n, X, A, spoilt)
        eliminate_rows(count, n, n, A, factor, sign)
        write_products(start, count, n, n, A, spoilt, sign, s)


@njit(int64(TENSOR, TENSOR_OUT), **EXACT)
def inv_rows(X, C):
    """C = the inverse of each matrix; 1 if one is singular."""
    rows, n, _ = X.shape
    A = np.empty((2 * n * n, AT_ONCE))
    factor, sign, spoilt = np.empty(AT_ONCE), np.empty(AT_ONCE), np.empty(AT_ONCE)
    for start in range(0, rows, AT_ONCE):
        count = min(AT_ONCE, rows - start)
        load_rows(start, count, n, 2 * n, X, A, spoilt)
        append_identity(count, n, 2 * n, A)
        if eliminate_rows(count, n, 2 * n, A, factor, sign) > 0:
            return 1
        substitute_rows(count, n, 2 * n, A, factor)
        write_inverses(start, count, n, 2 * n, A, spoilt, C)
    return 0


@njit(int64(TENSOR, TENSOR_OUT, VECTOR_OUT), **EXACT)
def inv_logdet_rows(X, C, s):
    """C = the inverse and s = log(abs(det)) of each matrix; 1 if one is singular."""
    rows, n, _ = X.shape
    A = np.empty((2 * n * n, AT_ONCE))
    factor, sign, spoilt = np.empty(AT_ONCE), np.empty(AT_ONCE), np.empty(AT_ONCE)
    for start in range(0, rows, AT_ONCE):
        count = min(AT_ONCE, rows - start)
        load_rows(start, count, n, 2 * n, X, A, spoilt)
        append_identity(count, n, 2 * n, A)
        if eliminate_rows(count, n, 2 * n, A, factor, sign) > 0:
            return 1
        write_logs(start, count, n, 2 * n, A, spoilt, factor, s)
        substitute_rows(count, n, 2 * n, A, factor)
        write_inverses(start, count, n, 2 * n, A, spoilt, C)
    return 0


@njit(int64(TENSOR, TENSOR_OUT, VECTOR_OUT), **EXACT)
def inv_det_rows(X, C, s):
    """C = the inverse and s = det of each matrix; 1 if one is singular."""
    rows, n, _ = X.shape
    A = np.empty((2 * n * n, AT_ONCE))
    factor, sign, spoilt = np.empty(AT_ONCE), np.empty(AT_ONCE), np.empty(AT_ONCE)
    for start in range(0, rows, AT_ONCE):
        count = min(AT_ONCE, rows - start)
        load_rows(start, count, n, 2 * n, X, A, spoilt)
        append_identity(count, n, 2 * n, A)
        if eliminate_rows(count, n, 2 * n, A, factor, sign) > 0:
            return 1
        write_products(start, count, n, 2 * n, A, spoilt, sign, s)
        substitute_rows(count, n, 2 * n, A, factor)
        write_inverses(start, count, n, 2 * n, A, spoilt, C)
    return 0


@njit(int64(TENSOR, TENSOR_OUT, VECTOR_OUT), **EXACT)
def adj_det_rows(X, C, s):
    """C = the adjugate and s = det of each matrix: det*inv, or one by one where the determinant is extreme."""
    rows, n, _ = X.shape
    A = np.empty((2 * n * n, AT_ONCE))
    factor, sign, spoilt = np.empty(AT_ONCE), np.empty(AT_ONCE), np.empty(AT_ONCE)
    Y, Z, F, p = np.empty((n, n)), np.empty((n, n)), np.empty((n, n)), np.empty(n, np.int32)
    status = 0
    for start in range(0, rows, AT_ONCE):
        count = min(AT_ONCE, rows - start)
        load_rows(start, count, n, 2 * n, X, A, spoilt)
        append_identity(count, n, 2 * n, A)
        eliminate_rows(count, n, 2 * n, A, factor, sign)
        write_products(start, count, n, 2 * n, A, spoilt, sign, s)
        substitute_rows(count, n, 2 * n, A, factor)
        for i in range(n * 2 * n):
            for k in range(count):
                A[i, k] *= sign[k]
        write_inverses(start, count, n, 2 * n, A, spoilt, C)
        for k in range(count):
            if spoilt[k] == 0.0 and not (1e-290 < abs(sign[k]) < 1e290):
                for i in range(n):
                    for j in range(n):
                        Y[i, j] = X[start + k, i, j]
                getrf(Y, F, p)
                status = max(status, adj(Y, F, p, Z))
                for i in range(n):
                    for j in range(n):
                        C[start + k, i, j] = Z[i, j]
    return status


@njit(int64(TENSOR, TENSOR_OUT), **EXACT)
def adj_rows(X, C):
    """C = the adjugate of each matrix."""
    return adj_det_rows(X, C, np.empty(X.shape[0]))


@njit(int64(TENSOR, TENSOR_OUT), **EXACT)
def chol_rows(X, C):
    """C = the lower Cholesky factor of each matrix, by its lower triangle; 1 if one is not definite."""
    rows, n, _ = X.shape
    A = np.empty((n * n, AT_ONCE))
    pivot, spoilt = np.empty(AT_ONCE), np.empty(AT_ONCE)
    for start in range(0, rows, AT_ONCE):
        count = min(AT_ONCE, rows - start)
        load_triangles(start, count, n, X, A, spoilt)
        failed = 0
        for p in range(n):
            for k in range(count):
                failed += 1 if A[p * n + p, k] <= 0.0 and spoilt[k] == 0.0 else 0
                pivot[k] = math.sqrt(A[p * n + p, k])
                A[p * n + p, k] = pivot[k]
            for i in range(p + 1, n):
                for k in range(count):
                    A[i * n + p, k] /= pivot[k]
                for j in range(p + 1, i + 1):
                    for k in range(count):
                        A[i * n + j, k] -= A[i * n + p, k] * A[j * n + p, k]
        if failed > 0:
            return 1
        for k in range(count):
            for i in range(n):
                for j in range(n):
                    C[start + k, i, j] = A[i * n + j, k] + spoilt[k] if j <= i else 0.0
    return 0


@njit(**SUMS)
def load_triangles(start, count, n, X, A, spoilt):
    """A[i*n + j] = entries [i, j] of the lower triangles; spoilt = NaN for those that are not finite, else 0."""
    for k in range(count):
        spoilt[k] = 0.0
    for i in range(n):
        for j in range(i + 1):
            for k in range(count):
                x = X[start + k, i, j]
                A[i * n + j, k] = x
                spoilt[k] += x * 0.0
