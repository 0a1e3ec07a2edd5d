"""Adds parts of row blocks to totals, by precompiled kernels: otherwise each caller would compile the loop again."""

from numba import njit, types

from matcalc.codegen.numba.call import EXACT, VECTOR, VECTOR_OUT


@njit(types.void(VECTOR_OUT), **EXACT)
def zeroed(x):
    """x[k] = 0."""
    for k in range(x.shape[0]):
        x[k] = 0.0


@njit(types.void(VECTOR, VECTOR_OUT), **EXACT)
def added(x, y):
    """y[k] += x[k]."""
    for k in range(x.shape[0]):
        y[k] += x[k]
