"""`sl` for values at many digits: the functions of scipy.linalg that values call."""

from __future__ import annotations

import numpy as np

from matcalc.evidence.precise import linear
from matcalc.evidence.precise.arithmetic import Precise, number, numbers, objects
from matcalc.evidence.precise.numpy_twin import LINALG, Twin, matrixwise


def cholesky(S: Precise, lower: bool = False) -> Precise:
    L = linear.cholesky(objects(S) if lower else objects(S).T)
    return numbers(L if lower else L.T)


def lu(X: Precise) -> Precise:
    """Return what scipy.linalg.lu does: X = P*L*U."""
    F, rows, _ = linear.factored(objects(X))
    m, k = len(F), min(F.shape)
    P = linear.identity(m)[:, rows]
    return numbers((P, objects(np.tril(F[:, :k], -1)) + objects(np.eye(m, k)), objects(np.triu(F[:k]))))


def eig(X: Precise, b: Precise = None, left: bool = False, right: bool = True) -> Precise:
    w, L, R = linear.eig(objects(X) if b is None else linear.solve(objects(b), objects(X)), left)
    vectors = ([numbers(L)] if left else []) + ([numbers(R)] if right else [])
    return (numbers(w), *vectors) if vectors else numbers(w)


def eigh(A: Precise, B: Precise = None, eigvals_only: bool = False) -> Precise:
    if B is None:
        w, V = linear.eigh(objects(A))
    else:
        back = linear.inv(linear.cholesky(objects(B)))
        w, V = linear.eigh(np.dot(np.dot(back, objects(A)), back.T))
        V = np.dot(back.T, V)
    return numbers(w) if eigvals_only else (numbers(w), numbers(V))


def polar(X: Precise, side: str = "right") -> Precise:
    """Return what scipy.linalg.polar does: X = U*P, or P*U of the left side."""
    W, s, V = linear.svd(objects(X))
    P = np.dot(V * s, V.T) if side == "right" else np.dot(W * s, W.T)
    return numbers(np.dot(W, V.T)), numbers(P)


def solve_triangular(A: Precise, b: Precise, trans: int = 0, lower: bool = False) -> Precise:
    T = objects(np.tril(objects(A)) if lower else np.triu(objects(A)))
    return numbers(linear.solve(T.T if trans else T, objects(b)))


def block_diag(*blocks: Precise) -> Precise:
    made = objects(np.zeros((0, 0)))
    for b in map(np.atleast_2d, map(objects, blocks)):
        right, below = np.zeros((len(made), b.shape[1])), np.zeros((len(b), made.shape[1]))
        made = np.block([[made, objects(right)], [objects(below), b]])
    return numbers(made)


def khatri_rao(A: Precise, B: Precise) -> Precise:
    A, B = objects(A), objects(B)
    return numbers((A[:, None, :] * B[None, :, :]).reshape(len(A) * len(B), -1))


def toeplitz(c: Precise, r: Precise = None) -> Precise:
    """Return the matrix with first column c and first row r, c where there is none."""
    c, r = objects(c).ravel(), objects(c if r is None else r).ravel()
    i, j = np.indices((len(c), len(r)))
    return numbers(np.concatenate([r[:0:-1], c])[i - j + len(r) - 1])


OWN: dict[str, Precise] = {
    **LINALG,
    **{f.__name__: f for f in (cholesky, lu, eig, eigh, polar, solve_triangular, block_diag, khatri_rao, toeplitz)},
    **{name: matrixwise(getattr(linear, name)) for name in ("expm", "logm", "sqrtm", "cosm", "sinm", "signm")},
    "fractional_matrix_power": lambda X, p: numbers(linear.powm(objects(X), number(p))),
    "solve_sylvester": matrixwise(linear.sylvester),
    "solve_continuous_lyapunov": matrixwise(lambda A, Q: linear.sylvester(A, A.T, Q)),
    "solve_discrete_lyapunov": matrixwise(linear.stein),
    "solve_continuous_are": matrixwise(linear.care),
    "solve_discrete_are": matrixwise(linear.dare),
}

SL = Twin("sl", OWN, None)
