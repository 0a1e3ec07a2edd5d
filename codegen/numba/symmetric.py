"""Symmetric matrices, definite or not: one factorisation for all uses, by Cholesky if it succeeds, else LU.

Cholesky is half the work. It stops at the first pivot that is not positive, so the trial costs little if X is
indefinite. p[0] is 0 for a Cholesky factor, and p[1] is 1 if the matrix has equal entries along its diagonals; for LU
they are rows counted from 1.
"""

import numpy as np
from numba import njit, types
from numba.types import boolean, float64, int64

from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT, PIVOTS, PIVOTS_OUT, VECTOR, VECTOR_OUT
from matcalc.codegen.numba.cholesky import (
    chol,
    chol_inv,
    chol_logdet,
    chol_solve,
    chol_solve_rows,
    chol_solve_vec,
    toeplitz_chol,
)
from matcalc.codegen.numba.envelopes import inv_of_toeplitz
from matcalc.codegen.numba.lu import getrf, lu_det, lu_inv, lu_sign, lu_solve, lu_solve_rows, lu_solve_vec
from matcalc.codegen.numba.triangular import tri_det, tri_logdet


@njit(types.void(MATRIX, MATRIX_OUT, PIVOTS_OUT), **EXACT)
def definite_or_lu(X, F, p):
    """F, p = L with X = L*L' and zeros, if X is positive definite; else the LU factors of X and its row swaps."""
    n = X.shape[0]
    positive = True
    for i in range(n):
        positive = positive and X[i, i] > 0.0
    if positive and toeplitz_chol(X, F) == 0:
        for i in range(n):
            p[i] = 0
        p[1] = 1  # for symmetric_inv
        return
    if positive and chol(X, F) == 0:
        for i in range(n):
            p[i] = 0
        return
    getrf(X, F, p)


@njit(boolean(PIVOTS), **EXACT)
def is_definite(p):
    """Whether the factor is a Cholesky factor."""
    return p.shape[0] > 0 and p[0] == 0


@njit(int64(MATRIX, PIVOTS, VECTOR, VECTOR_OUT), **EXACT)
def symmetric_solve_vec(F, p, b, z):
    """z = inv(X)*b."""
    if not is_definite(p):
        return lu_solve_vec(0, F, p, b, z)
    chol_solve_vec(F, b, z)
    return 0


@njit(int64(MATRIX, PIVOTS, int64, MATRIX, MATRIX_OUT), **EXACT)
def symmetric_solve(F, p, t, B, Z):
    """Z = inv(X)*op(B)."""
    if not is_definite(p):
        return lu_solve(0, F, p, t, B, Z)
    chol_solve(F, t, B, Z)
    return 0


@njit(int64(MATRIX, PIVOTS, int64, MATRIX, MATRIX_OUT), **EXACT)
def symmetric_solve_rows(F, p, t, B, Z):
    """Z = (inv(X)*op(B))'."""
    if not is_definite(p):
        return lu_solve_rows(0, F, p, t, B, Z)
    chol_solve_rows(F, t, B, Z)
    return 0


@njit(int64(MATRIX, PIVOTS, MATRIX_OUT), **EXACT)
def symmetric_inv(F, p, C):
    """C = inv(X)."""
    if not is_definite(p):
        return lu_inv(F, p, C)
    n = F.shape[0]
    if n > 1 and p[1] == 1:
        unit, column = np.empty(n), np.empty(n)
        for i in range(n):
            unit[i] = 1.0 if i == 0 else 0.0
        chol_solve_vec(F, unit, column)
        inv_of_toeplitz(column, C)
        return 0
    chol_inv(F, C)
    return 0


@njit(float64(MATRIX, PIVOTS), **EXACT)
def symmetric_logdet(F, p):
    """log(abs(det(X)))."""
    return chol_logdet(F) if is_definite(p) else tri_logdet(F)


@njit(float64(MATRIX, PIVOTS), **EXACT)
def symmetric_sign(F, p):
    """Return the sign of det(X); 0 if X is singular, NaN if a pivot is NaN."""
    return 1.0 + 0.0 * F[0, 0] if is_definite(p) else lu_sign(F, p)


@njit(float64(MATRIX, PIVOTS), **EXACT)
def symmetric_det(F, p):
    """det(X); 0 if X is singular."""
    return tri_det(F) ** 2 if is_definite(p) else lu_det(F, p)
