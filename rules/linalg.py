"""Functions for the values in `linalg.toml`: factors, adjugates, Pfaffians, matrix functions, matrix equations.

LAPACK does not reject NaN, so non-finite arguments are tested before it is called. Where an operation has no value, it
raises LinAlgError with the text of the rule's `fails`.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from matcalc.rules.elementwise import EPS

Array = NDArray[Any]


def finite_(X: Array) -> Array:
    """Return X; all entries NaN if one is NaN or infinite, because LAPACK does not reject it."""
    return X if np.all(np.isfinite(X)) else np.full(X.shape, np.nan)


def logdet_(X: Array) -> Any:
    """Return the logarithm of |det(X)|, continued analytically from real matrices."""
    sign, logarithm = np.linalg.slogdet(X)
    return logarithm + np.log(sign * sign) / 2 if np.iscomplexobj(X) else logarithm


def finite_all_(*arrays: Array) -> bool:
    return all(np.all(np.isfinite(M)) for M in arrays)


def fault_(text: str) -> NoReturn:
    raise np.linalg.LinAlgError(text)


def svdvals_(X: Array) -> Array:
    """Return the singular values; NaN if an entry is not finite."""
    is_known = np.all(np.isfinite(X))
    return np.linalg.svd(X, compute_uv=False) if is_known else np.full(min(X.shape), np.nan)


def cond_(X: Array) -> float:
    """Return the ratio of the largest to the smallest singular value.

    It is infinite for a singular matrix, also for 0, and NaN if an entry is not finite.
    """
    s = svdvals_(X)
    return np.inf if s[-1] == 0 else s[0] / s[-1]


def posdef_(S: Array) -> Array:
    """Return S. Raises: LinAlgError if it is not positive definite."""
    chol_(S)
    return S


def chol_(S: Array) -> Array:
    """Return the lower Cholesky factor; NaN if an entry is not finite. LAPACK drops imaginary parts of a diagonal."""
    if not np.all(np.isfinite(S)):
        return np.tril(np.full(S.shape, np.nan))
    if not np.iscomplexobj(S):
        return np.linalg.cholesky((S + S.T) / 2)
    S, L = (S + S.T) / 2, np.zeros(S.shape, dtype=complex)
    for k in range(len(S)):
        rest = S[k:, k] - L[k:, :k] @ L[k, :k]
        if not rest[0].real > 0:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        L[k:, k] = rest / np.sqrt(rest[0])
    return L


def power_of_two_(X: Array) -> float:
    """Return the largest power of 2 that does not exceed the largest magnitude in X; 1 for zero or non-finite X."""
    size = np.max(np.abs(X))
    return 2.0 ** np.floor(np.log2(size)) if 0 < size < np.inf else 1.0


def lu_(X: Array) -> tuple[Array, Array, Array]:
    """Return P, L, U, also for a matrix without entries."""
    m, n = X.shape
    if not X.size:
        return np.eye(m), np.eye(m, min(m, n)), np.zeros((min(m, n), n))
    size = power_of_two_(X)  # OpenBLAS does not divide by subnormal pivots
    P, L, U = sl.lu(X / size)
    return P, L, U * size


def qr_(X: Array) -> tuple[Array, Array]:
    """Return Q, R; a diagonal entry of R is 0 if its column depends, within rounding, on earlier columns."""
    Q, R = np.linalg.qr(finite_(X))
    if not np.all(np.isfinite(X)):
        return Q * np.nan, R * np.nan
    s = np.where(np.diag(R) < 0, -1.0, 1.0)
    Q, R = Q * s, s[:, None] * R + 0.0
    for j in range(len(s)):
        column = R[: j + 1, j] / (np.max(np.abs(R[: j + 1, j])) or 1.0)  # scaled, so that squares do not overflow
        if column[j] <= 4 * len(X) * EPS * np.linalg.norm(column):
            R[j, j] = 0.0
    return Q, R


def regular_(R: Array) -> Array:
    column = np.max(np.abs(np.triu(R)), axis=0, initial=0)
    return np.where(np.abs(np.diag(R)) > 4 * len(R) * EPS * column, R, np.nan)


def pivots_used_(R: Array, k: int) -> Array:
    """1 where a pivot divides, 0 where it is zero or the last of k rows, NaN where it is within rounding."""
    pivots, column = np.abs(np.diag(R)), np.max(np.abs(np.triu(R)), axis=0, initial=0)
    known = np.where(pivots > 4 * len(R) * EPS * column, 1.0, np.nan)
    return np.where((pivots == 0) | (np.arange(len(R)) + 1 >= k), 0.0, known)


def pivoted_(R: Array, k: int) -> Array:
    used = pivots_used_(R, k)
    return np.where(used == 1, R, np.where(used == 0, np.eye(len(R)), np.nan))


def lu_inverse_(X: Array) -> Array:
    """Return the inverse of the square part of U over the pivots that LU divides by, with zeros for the others."""
    k = min(X.shape)
    R = lu_(X)[2][:, :k]
    return pivots_used_(R, len(X))[:, None] * np.linalg.inv(pivoted_(R, len(X)))


def cofactors_(X: Array) -> Array:
    n = len(X)
    C = np.ones((n, n), X.dtype)
    for i, j in itertools.product(range(n), repeat=2):
        if n > 1:
            C[i, j] = (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(X, i, 0), j, 1))
    return C


def adj_(X: Array, *E: Array) -> Array:
    """Return the adjugate or a differential of it. One or two directions use singular values, which loses no digits."""
    if len(E) not in (1, 2):
        return mixed_(lambda Z: cofactors_(Z).T, X, *E)
    U, s, Vt = np.linalg.svd(X)
    M, *N = (U.T @ e @ Vt.T for e in E)
    along = adj_along_two_(s, M, *N) if N else adj_along_one_(s, M)
    return np.linalg.det(U) * np.linalg.det(Vt) * (Vt.T @ along @ U.T)


def adj_along_one_(s: Array, M: Array) -> Array:
    """Return the differential of adj at diag(s) along M: minors with one row of M."""
    P = products_but_(s, 2)
    return np.diag(P @ np.diag(M)) - P * M


def adj_along_two_(s: Array, M: Array, N: Array) -> Array:
    """Return the second differential of adj at diag(s) along M and N: minors with one row of each."""
    P, m, n = products_but_(s, 3), np.diag(M), np.diag(N)
    whole = np.einsum("ijk,j,k->i", P, m, n) - np.einsum("ijk,jk,kj->i", P, M, N)
    straight = M * np.einsum("ijk,k->ij", P, n) + N * np.einsum("ijk,k->ij", P, m)
    return np.diag(whole) + np.einsum("ijk,ik,kj->ij", P, M, N) + np.einsum("ijk,ik,kj->ij", P, N, M) - straight


def products_but_(s: Array, count: int) -> Array:
    """Return, for each tuple of `count` indices, the product of all other entries; 0 if two indices are equal."""
    P = np.zeros((len(s),) * count)
    for indices in itertools.permutations(range(len(s)), count):
        P[indices] = np.prod(np.delete(s, indices))
    return P


def mixed_(f: Callable[[Array], Array], X: Array, *E: Array) -> Array:
    """Return the coefficient of t1*t2*... in f(X + t1*E1 + ...), by roots of unity.

    f must be a polynomial of degree at most len(X).
    """
    if not E:
        return f(X)
    if any(not np.any(e) for e in E):
        return 0 * f(X)
    order = len(X) + 1
    roots = np.exp(2j * np.pi * np.arange(order) / order)
    size = max(np.abs(X).max(), 1e-300)
    scales = [size / np.abs(e).max() for e in E]
    found = np.zeros(())
    for ks in itertools.product(range(order), repeat=len(E)):
        Z, c = X.astype(complex), 1
        for k, e, scale in zip(ks, E, scales, strict=True):
            Z, c = Z + roots[k] * scale * e, c / roots[k] / scale / order
        found = found + c * f(Z)
    return found.real


def pfaffian_(A: Array, *E: Array) -> Any:
    """Return the Pfaffian by expansion along its first row, or its differential by the product rule.

    Matrices larger than 8 x 8 use elimination.
    """
    if len(A) > 8:
        return mixed_(eliminated_, A, *E)
    if len(A) == 0:
        return 0.0 if E else 1.0
    total = 0.0
    for j in range(1, len(A)):
        minor, *minors = (np.delete(np.delete(M, [0, j], 0), [0, j], 1) for M in (A, *E))
        term = A[0, j] * pfaffian_(minor, *minors)
        for k in range(len(E)):
            term += E[k][0, j] * pfaffian_(minor, *minors[:k], *minors[k + 1 :])
        total += (-1) ** (j + 1) * term
    return total


def eliminated_(A: Array) -> Any:
    """Return the Pfaffian of a skew matrix by pivoted elimination, two rows and columns at a time (Wimmer 2012)."""
    A, found = A.copy(), 1.0
    for k in range(0, len(A) - 1, 2):
        p = k + 1 + int(np.argmax(np.abs(A[k + 1 :, k])))
        if p > k + 1:
            order = np.arange(len(A))
            order[[k + 1, p]] = p, k + 1
            A, found = A[order][:, order], -found
        if A[k, k + 1] == 0:
            return 0 * A[k, k + 1]
        found = found * A[k, k + 1]
        row, column = A[k, k + 2 :] / A[k, k + 1], A[k + 2 :, k + 1]
        A[k + 2 :, k + 2 :] += np.outer(row, column) - np.outer(column, row)
    return found if len(A) % 2 == 0 else 0.0 * found


def pfaffian_adj_(A: Array, *E: Array) -> Array:
    """Return the signed Pfaffians of A without two rows and columns, or their differentials."""
    skew = [(M - M.T) / 2 for M in E]
    Y = 0 * (A + sum(E))
    for p, q in zip(*np.triu_indices(len(A), 1), strict=True):
        minors = (np.delete(np.delete(M, [p, q], 0), [p, q], 1) for M in (A, *skew))
        Y[p, q] = (-1) ** (p + q + 1) * pfaffian_(*minors)
    return Y - Y.T + sum(0 * np.max(np.abs(M), initial=0) for M in (A, *E))


def power_(X: Array, p: float) -> Array:
    if p == int(p):
        return np.linalg.matrix_power(X, int(p))
    return sl.fractional_matrix_power(X, float(p))


def frechet_(function: Callable[[Array], Array], X: Array, *E: Array) -> Array:
    """Return a matrix function or its differential along E: the last block of the function of a block matrix."""
    if not X.size:
        return X
    n, M, size = len(X), X, 1
    norms = [np.linalg.norm(e) or 1.0 for e in E]
    for e, norm in zip(E, norms, strict=True):
        M = np.kron(np.eye(2), M)
        M[: n * size, n * size :] += np.kron(np.eye(size), e / norm)
        size *= 2
    if not np.all(np.isfinite(M)):  # SciPy's logm does not terminate on an infinity
        return np.full((n, n), np.nan)
    return np.real(function(M))[:n, -n:] * math.prod(norms)


def sqrtm_(X: Array) -> Array:
    """Return the principal square root; a positive semidefinite matrix, even singular, uses its eigenvalues."""
    bound = len(X) * EPS * np.max(np.abs(X), initial=0)
    if np.all(np.abs(X - X.T) <= bound):
        w, V = np.linalg.eigh((X + X.T) / 2)
        if np.all(w >= -bound):
            return (V * np.sqrt(np.where(w > 0, w, 0))) @ V.T
    return np.real(sl.sqrtm(principal_(X, "sqrtm")))


def logm_(M: Array) -> Array:
    try:
        return sl.logm(M).real
    except ValueError:  # rounding errors of a singular matrix became infinite inside logm
        fault_("logm: X has an eigenvalue that is zero or real and negative")


def principal_(X: Array, what: str) -> Array:
    """Return X if it has a real logarithm: no eigenvalue is zero or negative.

    Raises: LinAlgError otherwise.
    """
    if X.size and np.all(np.isfinite(X)):
        w = np.linalg.eigvals(X)
        if np.any((np.real(w) <= 0) & (np.abs(np.imag(w)) <= len(w) * EPS * np.max(np.abs(w)))):
            fault_(f"{what}: X has an eigenvalue that is zero or real and negative")
    return X


def sylvester_(A: Array, B: Array, C: Array) -> Array:
    if A.size and B.size and np.all(np.isfinite(A)) and np.all(np.isfinite(B)):
        a, b = np.linalg.eigvals(A), np.linalg.eigvals(B)
        size = max(np.max(np.abs(A)), np.max(np.abs(B)))
        if np.min(np.abs(a[:, None] + b[None, :])) <= 4 * (len(A) + len(B)) * EPS * size:
            fault_("sylvester: A and -B share an eigenvalue")
    return sl.solve_sylvester(A, B, C)


def lyapunov_(A: Array, Q: Array) -> Array:
    if A.size and np.all(np.isfinite(A)):
        a = np.linalg.eigvals(A)
        if np.min(np.abs(a[:, None] + a[None, :])) <= 8 * len(A) * EPS * np.max(np.abs(A)):
            fault_("lyapunov: A and -A share an eigenvalue")
    return sl.solve_continuous_lyapunov(A, Q)


def dlyapunov_(A: Array, Q: Array) -> Array:
    if A.size and np.all(np.isfinite(A)):
        a = np.linalg.eigvals(A)
        if np.min(np.abs(a[:, None] * a[None, :] - 1)) <= 8 * len(A) * EPS * max(1.0, np.max(np.abs(A)) ** 2):
            fault_("dlyapunov: the product of two eigenvalues of A is 1")
    return sl.solve_discrete_lyapunov(A, Q)


def vanishes_(*terms: Array) -> bool:
    """Whether terms sum to 0 within rounding; for the residual of an equation, whether it is solved."""
    size = max(float(np.max(np.abs(term), initial=0.0)) for term in terms)
    return float(np.max(np.abs(sum(terms)), initial=0.0)) <= 1e-6 * size


def care_(A: Array, B: Array, Q: Array, R: Array) -> Array:
    if not A.size or not finite_all_(A, B, Q, R):
        return A * np.nan
    S, P = (Q + Q.T) / 2, (R + R.T) / 2
    Y = sl.solve_continuous_are(A, B, S, P) if B.size else lyapunov_(A.T, -S)
    w = np.linalg.eigvals(A - B @ np.linalg.solve(R, B.T @ Y))
    if np.any(np.linalg.eigvalsh(P) <= 0) or not np.max(np.real(w)) < -EPS * np.max(np.abs(w)):
        fault_("care: no stabilising solution for A, B, Q and a positive definite R")
    if not vanishes_(A.T @ Y, Y @ A, -Y @ B @ np.linalg.solve(P, B.T @ Y), S):
        fault_("care: no stabilising solution for A, B, Q and a positive definite R")
    return Y


def dare_(A: Array, B: Array, Q: Array, R: Array) -> Array:
    if not A.size or not finite_all_(A, B, Q, R):
        return A * np.nan
    S, P = (Q + Q.T) / 2, (R + R.T) / 2
    Y = sl.solve_discrete_are(A, B, S, P) if B.size else dlyapunov_(A.T, S)
    w = np.linalg.eigvals(A - B @ np.linalg.solve(R + B.T @ Y @ B, B.T @ Y @ A))
    if np.any(np.linalg.eigvalsh(P) <= 0) or not np.max(np.abs(w)) < 1 - EPS:
        fault_("dare: no stabilising solution for A, B, Q and a positive definite R")
    if not vanishes_(A.T @ Y @ A, -Y, -A.T @ Y @ B @ np.linalg.solve(P + B.T @ Y @ B, B.T @ Y @ A), S):
        fault_("dare: no stabilising solution for A, B, Q and a positive definite R")
    return Y


def newton_(F: Any, start: Array) -> Array:
    """Return the solution of F(Y) = 0 by damped Newton steps with the full Jacobian, down to rounding.

    Raises: LinAlgError if the Jacobian is singular or the iteration does not converge.
    """
    Y = np.array(start, dtype=np.result_type(start, F(start), float))
    if not F.known:
        return np.full_like(Y, np.nan)
    R, last = F(Y), np.inf
    for _ in range(200 if np.all(np.isfinite(R)) else 0):
        slope = F(Y, 1)
        if np.linalg.matrix_rank(slope, tol=0.0) < len(slope):
            break
        D = np.reshape(np.linalg.solve(slope, np.ravel(R)), np.shape(Y))
        size, whole = np.max(np.abs(D), initial=0.0), np.max(np.abs(Y), initial=0.0)
        if size == 0 or (size >= last / 2 and size <= 2.0**-26 * whole) or size <= 2 * EPS * whole:
            return Y - D if size < last else Y
        damping, last = 1.0, size
        while True:
            trial = Y - damping * D
            residual = F(trial)
            enough = (1 - damping / 4) * np.linalg.norm(R)
            if np.all(np.isfinite(residual)) and (np.linalg.norm(residual) <= enough or size <= 2.0**-26 * whole):
                break
            damping, last = damping / 2, np.inf
            if damping < 2.0**-40:
                raise np.linalg.LinAlgError(F.fault)
        Y, R = trial, residual
    raise np.linalg.LinAlgError(F.fault)
