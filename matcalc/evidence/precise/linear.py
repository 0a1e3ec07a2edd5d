"""Computes linear algebra and matrix functions at many digits, by mpmath, over plain object arrays.

mpmath treats a matrix as singular if its smallest pivot is below the last digit, and its square root leaves the
principal branch near the negative axis. Therefore solving, determinants and square roots are implemented here: they
must distinguish 1e-80 from 0, and matrices with a principal root from those without.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matcalc.evidence.precise.arithmetic import Array, Function, Precise, mp, objects

GUARD = 15
"""Digits beyond the requested ones."""

STEPS = 400
"""Steps after which an iteration counts as divergent."""


def matrix(A: Array) -> Precise:
    return mp.matrix(A.tolist())


def array(M: Precise) -> Array:
    return objects(np.array(M.tolist(), dtype=object).reshape(M.rows, M.cols))


def solved(f: Function, A: Array) -> tuple[Array, ...]:
    """Return the arrays that a function of mpmath computes from a nonempty matrix, with additional digits.

    Raises: LinAlgError if the function fails or the data are not finite.
    """
    if not all(map(mp.isfinite, A.flat)):
        raise np.linalg.LinAlgError("infinite or NaN")
    try:
        with mp.extradps(GUARD):
            found = f(matrix(A))
    except (ZeroDivisionError, ValueError, RuntimeError, mp.NoConvergence) as error:
        raise np.linalg.LinAlgError(str(error)) from None
    return tuple(+array(M) for M in (found if isinstance(found, (tuple, list)) else [found]))


def of_matrix(f: Callable[[Precise], Precise]) -> Callable[[Array], Array]:
    """Return a function of a square matrix that applies a function of mpmath."""
    return lambda A: solved(f, A)[0] if len(A) else objects(A)


expm = of_matrix(lambda M: mp.expm(M))
cosm = of_matrix(lambda M: mp.cosm(M))
sinm = of_matrix(lambda M: mp.sinm(M))
cholesky = of_matrix(lambda M: mp.cholesky(M, tol=0))


def identity(n: int) -> Array:
    return objects(np.eye(n))


def largest(A: Array) -> Precise:
    return max((abs(a) for a in A.flat), default=mp.mpf(0))


def factored(A: Array) -> tuple[Array, list[int], int]:
    """Return L below and U on and above the diagonal of one array, the order of rows, and its sign."""
    F = objects(A)
    m, n = F.shape
    rows, sign = list(range(m)), 1
    for k in range(min(m, n)):
        p = max(range(k, m), key=lambda i: (abs(F[i, k]), -i))
        if F[p, k] == 0:
            continue
        if p != k:
            F[[k, p]] = F[[p, k]]
            rows[k], rows[p], sign = rows[p], rows[k], -sign
        F[k + 1 :, k] = F[k + 1 :, k] / F[k, k]
        F[k + 1 :, k + 1 :] = F[k + 1 :, k + 1 :] - np.multiply.outer(F[k + 1 :, k], F[k, k + 1 :])
    return F, rows, sign


def det(A: Array) -> Precise:
    F, _, sign = factored(A)
    return mp.fprod([sign, *np.diag(F)])


def solve(A: Array, B: Array) -> Array:
    """Return the X with A*X = B, for a vector or matrix B.

    Raises: LinAlgError if A is singular.
    """
    F, rows, _ = factored(A)
    n = len(F)
    if any(F[k, k] == 0 for k in range(n)):
        raise np.linalg.LinAlgError("Singular matrix")
    X = objects(B)[rows]
    for k in range(1, n):
        X[k] = X[k] - np.dot(F[k, :k], X[:k])
    for k in reversed(range(n)):
        X[k] = (X[k] - np.dot(F[k, k + 1 :], X[k + 1 :]) if k + 1 < n else X[k]) / F[k, k]
    return X


def inv(A: Array) -> Array:
    return solve(A, identity(len(A)))


def qr(A: Array) -> tuple[Array, Array]:
    """Return Q with orthonormal columns and upper R, thin."""
    k = min(A.shape)
    Q = solved(lambda M: mp.qr(M, "skinny"), A[:, :k])[0] if k else objects(np.zeros((len(A), 0)))
    return Q, objects(np.triu(np.dot(Q.T, A)))


def eigh(S: Array) -> tuple[Array, Array]:
    """Return ascending eigenvalues of a symmetric matrix and its eigenvectors."""
    if not len(S):
        return objects(np.zeros(0)), objects(S)
    w, V = solved(mp.eigsy, S)
    return w.ravel(), V


def svd(A: Array, full: bool = False) -> tuple[Array, Array, Array]:
    """Return U, descending s and V with A = U*diag(s)*V'; with `full`, U and V are square."""
    m, n = A.shape
    if not A.size:
        return identity(m)[:, : m * full], objects(np.zeros(0)), identity(n)[:, : n * full]
    U, s, Vt = solved(lambda M: mp.svd_r(M, full_matrices=full), A)
    return U, s.ravel(), Vt.T


def pinv(A: Array) -> Array:
    """Return the pseudoinverse; singular values below half the digits count as 0."""
    U, s, V = svd(A)
    rank = sum(value > s[0] * mp.sqrt(mp.eps) for value in s) if len(s) and s[0] > 0 else 0
    return np.dot(V[:, :rank] / s[:rank], U[:, :rank].T) if rank else objects(np.zeros(A.shape[::-1]))


def eig(A: Array, left: bool = False) -> tuple[Array, Array, Array]:
    """Return eigenvalues, unit left and right eigenvectors; real if all eigenvalues are."""
    if not len(A):
        return objects(np.zeros(0)), objects(A), objects(A)
    values, right = solved(lambda M: _eig(M), A)
    values = values.ravel()
    noise = largest(values) * mp.mpf(10) ** (-mp.dps // 2)
    if all(abs(mp.im(v)) <= noise for v in values):
        values = np.array([mp.re(v) for v in values], dtype=object)
        right = np.array([_without_phase(column) for column in right.T], dtype=object).T
    right = np.stack([column / mp.norm(column) for column in right.T], axis=1)
    if not left:
        return values, right, right
    return values, np.stack([np.conj(row) / mp.norm(row) for row in inv(right)], axis=1), right


def _eig(M: Precise) -> tuple[Precise, Precise]:
    values, right = mp.eig(M)
    return mp.matrix(values), right


def _without_phase(column: Array) -> list[Precise]:
    """Return an eigenvector with its phase removed: its largest entry is 1."""
    largest_entry = max(column, key=abs)
    return [mp.re(v / largest_entry) for v in column]


def sqrtm(A: Array) -> Array:
    """Return the principal square root, by the iteration of Denman and Beavers.

    Raises: LinAlgError if there is none: an eigenvalue is on the closed negative axis. The iteration then diverges and
    may end at a wrong matrix, which is detected.
    """
    with mp.extradps(GUARD + mp.dps // 2):
        X, back = objects(A), identity(len(A))
        for _ in range(STEPS):
            before, X, back = X, (X + inv(back)) / 2, (back + inv(X)) / 2
            if largest(X - before) <= largest(X) * mp.mpf(10) ** (GUARD - mp.dps):
                break
        if not largest(np.dot(X, X) - A) <= largest(X) ** 2 * mp.mpf(10) ** (-mp.dps // 2):
            raise np.linalg.LinAlgError("no principal square root")
    return np.asarray(+X)


def signm(A: Array) -> Array:
    """Return the sign of a matrix without eigenvalues on the imaginary axis."""
    with mp.extradps(mp.dps):
        X = np.dot(A, inv(sqrtm(np.dot(A, A))))
    return np.asarray(+X)


def logm(A: Array) -> Array:
    """Return the principal logarithm, from that of the eighth root, which is far from the negative axis."""
    with mp.extradps(mp.dps):
        return np.asarray(8 * of_matrix(mp.logm)(sqrtm(sqrtm(sqrtm(A)))))


def powm(A: Array, p: Precise) -> Array:
    """Return A^p: by squaring for an integer p, else by exp(p log(A))."""
    if p != int(p):
        return expm(logm(A) * mp.mpf(p))
    return np.asarray(np.linalg.matrix_power(inv(A) if p < 0 else objects(A), abs(int(p))))


def sylvester(A: Array, B: Array, C: Array) -> Array:
    """Return the X with A*X + X*B = C."""
    sums = np.kron(A, identity(len(B))) + np.kron(identity(len(A)), B.T)
    return solve(sums, C.ravel()).reshape(C.shape)


def stein(A: Array, Q: Array) -> Array:
    """Return the X with A*X*A' - X + Q = 0."""
    return solve(identity(Q.size) - np.kron(A, A), Q.ravel()).reshape(Q.shape)


def care(A: Array, B: Array, Q: Array, R: Array) -> Array:
    """Return the stabilising solution of A'*X + X*A - X*B*inv(R)*B'*X + Q = 0, by the sign of its Hamiltonian."""
    n = len(A)
    H = signm(np.block([[A, -np.dot(B, solve(R, B.T))], [-Q, -A.T]])) + identity(2 * n)
    return np.asarray(-np.dot(pinv(H[:, n:]), H[:, :n]))


def dare(A: Array, B: Array, Q: Array, R: Array) -> Array:
    """Return the stabilising solution of A'*X*A - X - A'*X*B*inv(R + B'*X*B)*B'*X*A + Q = 0, by doubling."""
    G, X = np.dot(B, solve(R, B.T)), Q
    for _ in range(STEPS):
        W = inv(identity(len(A)) + np.dot(G, X))
        before, X = X, X + np.dot(np.dot(A.T, X), np.dot(W, A))
        G, A = G + np.dot(np.dot(A, np.dot(W, G)), A.T), np.dot(A, np.dot(W, A))
        if largest(X - before) <= largest(X) * mp.eps:
            return np.asarray(X)
    raise np.linalg.LinAlgError("the Riccati equation has no stabilising solution")
