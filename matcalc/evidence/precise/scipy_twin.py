"""`sl` for values at many digits: the functions of scipy.linalg that values call."""

from __future__ import annotations

from typing import Any

import numpy as np

from matcalc.errors import NotSupported
from matcalc.evidence.precise import functions, linear
from matcalc.evidence.precise.arithmetic import mp, number, numbers, objects
from matcalc.evidence.precise.numpy_twin import LINALG, TWIN, Twin, matrixwise


def cholesky(S: Any, lower: bool = False) -> Any:
    L = linear.cholesky(objects(S) if lower else objects(S).T)
    return numbers(L if lower else L.T)


def lu(X: Any, permute_l: bool = False) -> Any:
    """Return what scipy.linalg.lu does: X = P*L*U."""
    F, rows = linear.factored(objects(X))
    m, n = F.shape
    k = min(m, n)
    P = linear.identity(m)[:, rows]
    L = objects(np.tril(F[:, :k], -1)) + objects(np.eye(m, k))
    U = objects(np.triu(F[:k]))
    return numbers((np.dot(P, L), U)) if permute_l else numbers((P, L, U))


def qr(X: Any, mode: str = "full", **options: Any) -> Any:
    if options or (mode == "full" and np.shape(X)[0] > np.shape(X)[1]):
        raise NotSupported(f"sl.qr with mode '{mode}' {' '.join(options)} has no twin at many digits")
    Q, R = linear.qr(objects(X))
    return (numbers(R),) if mode == "r" else (numbers(Q), numbers(R))


def eig(X: Any, b: Any = None, left: bool = False, right: bool = True) -> Any:
    w, L, R = linear.eig(objects(X) if b is None else linear.solve(objects(b), objects(X)), left)
    vectors = ([numbers(L)] if left else []) + ([numbers(R)] if right else [])
    return (numbers(w), *vectors) if vectors else numbers(w)


def eigh(A: Any, B: Any = None, eigvals_only: bool = False, **options: Any) -> Any:
    if options:
        raise NotSupported(f"sl.eigh with {' '.join(options)} has no twin at many digits")
    if B is None:
        w, V = linear.eigh(objects(A))
    else:
        back = linear.inv(linear.cholesky(objects(B)))
        w, V = linear.eigh(np.dot(np.dot(back, objects(A)), back.T))
        V = np.dot(back.T, V)
    return numbers(w) if eigvals_only else (numbers(w), numbers(V))


def polar(X: Any, side: str = "right") -> Any:
    """Return what scipy.linalg.polar does: X = U*P, or P*U of the left side."""
    W, s, V = linear.svd(objects(X))
    P = np.dot(V * s, V.T) if side == "right" else np.dot(W * s, W.T)
    return numbers(np.dot(W, V.T)), numbers(P)


def expm_frechet(X: Any, E: Any, compute_expm: bool = True) -> Any:
    X, E = objects(X), objects(E)
    n = len(X)
    block = functions.expm(np.block([[X, E], [objects(np.zeros((n, n))), X]]))
    return numbers((block[:n, :n], block[:n, n:])) if compute_expm else numbers(block[:n, n:])


def solve_triangular(A: Any, b: Any, trans: int = 0, lower: bool = False, unit_diagonal: bool = False) -> Any:
    T = objects(np.tril(objects(A)) if lower else np.triu(objects(A)))
    if unit_diagonal:
        np.fill_diagonal(T, mp.mpf(1))
    return numbers(linear.solve(T.T if trans else T, objects(b)))


def block_diag(*blocks: Any) -> Any:
    blocks = tuple(np.atleast_2d(objects(b)) for b in blocks)
    made = objects(np.zeros((sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks))))
    i = j = 0
    for b in blocks:
        made[i : i + b.shape[0], j : j + b.shape[1]] = b
        i, j = i + b.shape[0], j + b.shape[1]
    return numbers(made)


def khatri_rao(A: Any, B: Any) -> Any:
    A, B = objects(A), objects(B)
    return numbers((A[:, None, :] * B[None, :, :]).reshape(len(A) * len(B), -1))


def toeplitz(c: Any, r: Any = None) -> Any:
    """Return the matrix with first column c and first row r, c where there is none."""
    c, r = objects(c).ravel(), objects(c if r is None else r).ravel()
    i, j = np.indices((len(c), len(r)))
    return numbers(np.concatenate([r[:0:-1], c])[i - j + len(r) - 1])


def hankel(c: Any, r: Any = None) -> Any:
    c = objects(c).ravel()
    r = objects(np.zeros(len(c))) if r is None else objects(r).ravel()
    i, j = np.indices((len(c), len(r)))
    return numbers(np.concatenate([c, r[1:]])[i + j])


def lyapunov(A: Any, Q: Any) -> Any:
    A = objects(A)
    return numbers(functions.sylvester(A, A.T, objects(Q)))


def power(X: Any, p: Any) -> Any:
    return numbers(functions.powm(objects(X), number(p)))


OWN: dict[str, Any] = {
    **{name: LINALG[name] for name in ("inv", "det", "solve", "pinv", "eigvals", "eigvalsh", "svdvals", "norm",
                                       "lstsq", "LinAlgError")},
    **{f.__name__: f for f in (cholesky, lu, qr, eig, eigh, polar, expm_frechet, solve_triangular, block_diag,
                               khatri_rao, toeplitz, hankel)},
    **{name: matrixwise(getattr(functions, name)) for name in ("expm", "logm", "sqrtm", "cosm", "sinm", "signm")},
    "svd": lambda X, full_matrices=True, compute_uv=True: LINALG["svd"](X, full_matrices, compute_uv),
    "fractional_matrix_power": power,
    "solve_sylvester": matrixwise(functions.sylvester),
    "solve_continuous_lyapunov": lyapunov,
    "solve_lyapunov": lyapunov,
    "solve_discrete_lyapunov": matrixwise(functions.stein),
    "solve_continuous_are": matrixwise(functions.care),
    "solve_discrete_are": matrixwise(functions.dare),
    "tanm": matrixwise(lambda A: linear.solve(functions.cosm(A), functions.sinm(A))),
    "kron": TWIN.kron,
}  # fmt: skip

SL = Twin("sl", OWN, None)
