"""Running totals: sums of the first entries, or of the last."""

from numba import njit, types

from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT, VECTOR, VECTOR_OUT


@njit(types.void(VECTOR, VECTOR_OUT), **EXACT)
def running_total(x, y):
    """y[i] = the sum of x[0] to x[i]."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
        y[i] = total


@njit(types.void(VECTOR, VECTOR_OUT), **EXACT)
def running_total_from(x, y):
    """y[i] = the sum of x[i] to the last entry."""
    total = 0.0
    n = x.shape[0]
    for i in range(n):
        total += x[n - 1 - i]
        y[n - 1 - i] = total


@njit(types.void(MATRIX, MATRIX_OUT), **EXACT)
def running_total_rows(X, Y):
    """running_total of each row."""
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(X.shape[1]):
            total += X[i, j]
            Y[i, j] = total


@njit(types.void(MATRIX, MATRIX_OUT), **EXACT)
def running_total_from_rows(X, Y):
    """running_total_from of each row."""
    n = X.shape[1]
    for i in range(X.shape[0]):
        total = 0.0
        for j in range(n):
            total += X[i, n - 1 - j]
            Y[i, n - 1 - j] = total
