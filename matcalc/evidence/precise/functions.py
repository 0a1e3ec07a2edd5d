"""Functions of a matrix and solutions of matrix equations at many digits.

Square roots by the product form of Denman and Beavers, logarithms by inverse scaling and squaring with the series
of atanh, exponentials by scaling and Taylor, linear matrix equations as one linear system, Riccati equations by
Newton's method from the double-precision solution: each converges for every argument in its domain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from matcalc.evidence.precise.arithmetic import Array, doubles, mp, objects
from matcalc.evidence.precise.linear import identity, inv, largest, norm, solve

GUARD = 15
"""Digits beyond those asked for."""

STEPS = 400


def rounded(X: Array) -> Array:
    """Return X with as many digits as there are now."""
    return np.asarray(+X)


def expm(A: Array) -> Array:
    with mp.extradps(GUARD + int(norm(A)) // 2):
        halvings = max(0, int(mp.ceil(mp.log(norm(A) + mp.mpf(2) ** -20, 2))) + 8)
        X = _series(A / mp.mpf(2) ** halvings, 0, 1, 1)
        for _ in range(halvings):
            X = np.dot(X, X)
    return rounded(X)


def cosm(A: Array) -> Array:
    with mp.extradps(GUARD + int(norm(A))):
        X = _series(A, 0, 2, -1)
    return rounded(X)


def sinm(A: Array) -> Array:
    with mp.extradps(GUARD + int(norm(A))):
        X = _series(A, 1, 2, -1)
    return rounded(X)


def _series(A: Array, start: int, step: int, sign: int) -> Array:
    """Return the sum of sign^k A^j/j! over j = start + k*step."""
    term = identity(len(A)) if start == 0 else A
    power = A if step == 1 else np.dot(A, A)
    total, j = term, start
    for _ in range(100 * STEPS):
        term = np.dot(term, power) * sign
        for factor in range(j + 1, j + step + 1):
            term = term / factor
        j += step
        total = total + term
        if largest(term) <= largest(total) * mp.eps or largest(term) == 0:
            return np.asarray(total)
    raise np.linalg.LinAlgError("the series does not converge")


def sqrtm(A: Array) -> Array:
    """Return the principal square root.

    Raises: LinAlgError where there is none: an eigenvalue on the closed negative axis.
    """
    with mp.extradps(GUARD + mp.dps // 2):
        M, X = objects(A), objects(A)
        eye = identity(len(A))
        for _ in range(STEPS):
            back = inv(M)
            X = np.dot(X, eye + back) / 2
            M = (eye + (M + back) / 2) / 2
            away = largest(M - eye) if len(A) else mp.mpf(0)
            if away <= mp.mpf(10) ** (-mp.dps + GUARD // 2):
                break
        else:
            raise np.linalg.LinAlgError("no principal square root")
    return rounded(X)


def logm(A: Array) -> Array:
    """Return the principal logarithm.

    Raises: LinAlgError where there is none.
    """
    eye = identity(len(A))
    with mp.extradps(2 * GUARD):
        X, doublings = objects(A), 0
        while len(A) and largest(X - eye) > mp.mpf(1) / 1000:
            X, doublings = sqrtm(X), doublings + 1
        Z = np.dot(X - eye, inv(X + eye))
        square, term, total, k = np.dot(Z, Z), Z, Z, 1
        while len(A) and largest(term) > largest(total) * mp.eps and largest(term) > 0:
            term, k = np.dot(term, square), k + 2
            total = total + term / k
        total = total * 2 * mp.mpf(2) ** doublings
    return rounded(total)


def powm(A: Array, p: Any) -> Array:
    """Return A^p: by squaring for an integer p, else by exp(p log(A))."""
    if p == int(p):
        return powered(A, int(p))
    whole = int(mp.floor(p))
    with mp.extradps(GUARD):
        X = np.dot(powered(A, whole), expm(logm(A) * (mp.mpf(p) - whole)))
    return rounded(X)


def powered(A: Array, k: int) -> Array:
    base, result = (inv(A), identity(len(A))) if k < 0 else (objects(A), identity(len(A)))
    for bit in bin(abs(k))[2:]:
        result = np.dot(result, result)
        if bit == "1":
            result = np.dot(result, base)
    return result


def signm(A: Array) -> Array:
    """Return the sign of a matrix without eigenvalues on the imaginary axis, by Newton's method."""
    X = objects(A)
    with mp.extradps(GUARD):
        for _ in range(STEPS):
            X, before = (X + inv(X)) / 2, X
            if largest(X - before) <= largest(X) * mp.mpf(10) ** (-mp.dps + GUARD // 2):
                return rounded(X)
    raise np.linalg.LinAlgError("no sign of a matrix with an eigenvalue on the imaginary axis")


def linear_equation(L: Callable[[Array], Array], C: Array) -> Array:
    """Return the X with L(X) = C for a linear L, as one system of equations."""
    columns = []
    for at in np.ndindex(C.shape):
        unit = objects(np.zeros(C.shape))
        unit[at] = mp.mpf(1)
        columns.append(L(unit).ravel())
    if not columns:
        return objects(C)
    return solve(np.stack(columns, axis=1), C.ravel()).reshape(C.shape)


def sylvester(A: Array, B: Array, C: Array) -> Array:
    return linear_equation(lambda X: np.dot(A, X) + np.dot(X, B), C)


def stein(A: Array, Q: Array) -> Array:
    """Return the X with A*X*A' - X + Q = 0."""
    return linear_equation(lambda X: X - np.dot(np.dot(A, X), A.T), Q)


def care(A: Array, B: Array, Q: Array, R: Array) -> Array:
    """Return the stabilising solution of A'*X + X*A - X*B*inv(R)*B'*X + Q = 0, by Newton and Kleinman."""

    def step(X: Array) -> Array:
        K = solve(R, np.dot(B.T, X))
        F = A - np.dot(B, K)
        return sylvester(F.T, F, -(Q + np.dot(K.T, np.dot(R, K))))

    from scipy.linalg import solve_continuous_are

    return _iterated(step, solve_continuous_are(*map(doubles, (A, B, Q, R))))


def dare(A: Array, B: Array, Q: Array, R: Array) -> Array:
    """Return the stabilising solution of A'*X*A - X - A'*X*B*inv(R + B'*X*B)*B'*X*A + Q = 0, by Newton and Hewer."""

    def step(X: Array) -> Array:
        BX = np.dot(B.T, X)
        K = solve(R + np.dot(BX, B), np.dot(BX, A))
        F = A - np.dot(B, K)
        return stein(F.T, Q + np.dot(K.T, np.dot(R, K)))

    from scipy.linalg import solve_discrete_are

    return _iterated(step, solve_discrete_are(*map(doubles, (A, B, Q, R))))


def _iterated(step: Callable[[Array], Array], start: Any) -> Array:
    X = objects(start)
    for _ in range(STEPS):
        X, before = step(X), X
        if largest(X - before) <= largest(X) * mp.mpf(10) ** (-mp.dps + GUARD):
            return step(X)
    raise np.linalg.LinAlgError("Newton's method does not converge")
