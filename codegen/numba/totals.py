"""Arrays that parts are added to, block by block: behind a symbol, since each caller would compile a loop again."""

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
