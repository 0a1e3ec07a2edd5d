"""Runs the LAPACK calls that the value of each problem of `operations.toml` needs: a lower bound of the time.

Only the time is shown; there is no result. The calls use SciPy's wrappers, whose checks cost a few us at n = 5.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from problems import Call, Data, Problem
from scipy.linalg import lapack

IS_ANSWER = False


def lu(X: np.ndarray, **_: object) -> object:
    return lapack.dgetrf(X.T)


def cholesky(S: np.ndarray, **_: object) -> object:
    return lapack.dpotrf(S)


def eigh(S: np.ndarray) -> object:
    return lapack.dsyevd(S)


def svd(X: np.ndarray) -> object:
    return lapack.dgesdd(X.T, full_matrices=0)


def schur_twice(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> object:
    r = lapack.dgees(lambda *_: 0, A)
    s = lapack.dgees(lambda *_: 0, B)
    return lapack.dtrsyl(r[0], s[0], C)


CALLS: dict[str, Callable[..., object]] = {
    "det": lu,
    "logdet": lu,
    "logdet_spd": cholesky,
    "inv": lambda X: lapack.dgetri(*lapack.dgetrf(X.T)[:2]),
    "inv_spd": lambda S, C: lapack.dposv(S, C),
    "solve": lambda A, b: lapack.dgesv(A.T, b),
    "chol": cholesky,
    "qr": lambda X: lapack.dgeqrf(X),
    "eigenvalues": eigh,
    "symmetric_log": eigh,
    "symmetric_root": eigh,
    "lambda_max": eigh,
    "nuclear": svd,
    "singular_values": svd,
    "polar": svd,
    "pinv": svd,
    "sylvester": schur_twice,
}


def build(problem: Problem, data: Data) -> Call:
    """Return a function without arguments that runs the LAPACK calls; raise NotImplementedError if there are none."""
    if problem.name not in CALLS:
        raise NotImplementedError("no LAPACK call")
    call, args = CALLS[problem.name], {name: data[name] for name in problem.shapes}
    return lambda: call(**args)
