"""Linear algebra at many digits: the textbook's algorithms, chosen for being plain and convergent, not for speed.

Matrices are small (n below 20). Jacobi's methods keep tiny eigenvalues and singular values to high relative
accuracy, and ties are no trouble to them. Everything takes and gives plain object arrays; `numpy_twin` and
`scipy_twin` give these functions NumPy's names and signatures.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from matcalc.evidence.precise.arithmetic import Array, mp, objects

Pair = tuple[Array, Array]


def identity(n: int) -> Array:
    return objects(np.eye(n))


def norm(A: Array) -> Any:
    """Return the Euclidean norm of all entries."""
    return mp.sqrt(sum((abs(a) ** 2 for a in A.flat), mp.mpf(0)))


def largest(A: Array) -> Any:
    return max((abs(a) for a in A.flat), default=mp.mpf(0))


def factored(A: Array) -> tuple[Array, list[int]]:
    """Return L below and U above the diagonal of one array, with the order of rows; partial pivoting. Any shape."""
    F = objects(A)
    m, n = F.shape
    rows = list(range(m))
    for k in range(min(m, n)):
        p = max(range(k, m), key=lambda i: (abs(F[i, k]), -i))
        if F[p, k] == 0:
            continue
        if p != k:
            F[[k, p]] = F[[p, k]]
            rows[k], rows[p] = rows[p], rows[k]
        F[k + 1 :, k] = F[k + 1 :, k] / F[k, k]
        F[k + 1 :, k + 1 :] = F[k + 1 :, k + 1 :] - np.multiply.outer(F[k + 1 :, k], F[k, k + 1 :])
    return F, rows


def parity(rows: list[int]) -> int:
    """Return the sign of a permutation."""
    seen, sign = set(), 1
    for start in range(len(rows)):
        at, length = start, 0
        while at not in seen:
            seen.add(at)
            at, length = rows[at], length + 1
        sign *= -1 if length and length % 2 == 0 else 1
    return sign


def det(A: Array) -> Any:
    F, rows = factored(A)
    result = mp.mpf(parity(rows))
    for k in range(len(F)):
        result *= F[k, k]
    return result


def solve(A: Array, B: Array) -> Array:
    """Return the X with A*X = B, for a vector or matrix B.

    Raises: LinAlgError if A is singular.
    """
    F, rows = factored(A)
    n = len(F)
    if any(F[k, k] == 0 for k in range(n)):
        raise np.linalg.LinAlgError("Singular matrix")
    X = objects(B)[rows]
    for k in range(n):
        X[k] = X[k] - np.dot(F[k, :k], X[:k]) if k else X[k]
    for k in reversed(range(n)):
        X[k] = (X[k] - np.dot(F[k, k + 1 :], X[k + 1 :])) / F[k, k] if k + 1 < n else X[k] / F[k, k]
    return X


def inv(A: Array) -> Array:
    return solve(A, identity(len(A)))


def cholesky(S: Array) -> Array:
    """Return lower L with L*L' = S, of the lower triangle.

    Raises: LinAlgError if S is not positive definite.
    """
    L = objects(np.zeros(S.shape))
    for j in range(len(S)):
        rest = S[j, j] - np.dot(L[j, :j], L[j, :j]) if j else S[j, j]
        if not rest > 0:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        L[j, j] = mp.sqrt(rest)
        for i in range(j + 1, len(S)):
            L[i, j] = (S[i, j] - (np.dot(L[i, :j], L[j, :j]) if j else 0)) / L[j, j]
    return L


def qr(A: Array) -> Pair:
    """Return Q with orthonormal columns and upper R, thin, by Householder's reflections."""
    m, n = A.shape
    k = min(m, n)
    R, Q = objects(A), identity(m)
    for j in range(k):
        v = R[j:, j].copy()
        size = norm(v)
        if size == 0:
            continue
        v[0] += size if v[0] >= 0 else -size
        weight = 2 / np.dot(v, v)
        R[j:] = R[j:] - weight * np.multiply.outer(v, np.dot(v, R[j:]))
        Q[:, j:] = Q[:, j:] - weight * np.multiply.outer(np.dot(Q[:, j:], v), v)
    return Q[:, :k], objects(np.triu(R[:k]))


def eigh(S: Array) -> Pair:
    """Return ascending eigenvalues of a symmetric matrix and its eigenvectors, by Jacobi's rotations."""
    A, V = objects(S), identity(len(S))
    n = len(A)
    small = largest(A) * mp.eps * mp.mpf(2) ** -20
    for _ in range(200):
        off = [(p, q) for p in range(n) for q in range(p + 1, n) if abs(A[p, q]) > small * mp.mpf(2) ** -20]
        if not off:
            break
        for p, q in off:
            if A[p, q] == 0:
                continue
            t = tangent((A[q, q] - A[p, p]) / (2 * A[p, q]))
            c = 1 / mp.sqrt(1 + t * t)
            rotate(A, p, q, c, t * c)
            rotate(A.T, p, q, c, t * c)
            A[p, q] = A[q, p] = mp.mpf(0)
            rotate(V, p, q, c, t * c)
    w = [A[k, k] for k in range(n)]
    order = sorted(range(n), key=lambda k: w[k])
    return objects([w[k] for k in order]) if n else objects(np.zeros(0)), V[:, order]


def tangent(theta: Any) -> Any:
    """Return the smaller root t of t^2 + 2 theta t = 1."""
    root = mp.sqrt(1 + theta * theta)
    return 1 / (theta + root) if theta >= 0 else 1 / (theta - root)


def rotate(A: Array, p: int, q: int, c: Any, s: Any) -> None:
    """Turn columns p and q of A in place."""
    A[:, p], A[:, q] = c * A[:, p] - s * A[:, q], s * A[:, p] + c * A[:, q]


def svd(A: Array) -> tuple[Array, Array, Array]:
    """Return thin U, descending s and V with A = U*diag(s)*V', by one-sided Jacobi rotations."""
    m, n = A.shape
    if m < n:
        V, s, U = svd(A.T)
        return U, s, V
    W, V = objects(A), identity(n)
    tiny = mp.eps * mp.mpf(2) ** -10
    floor = largest(W) * mp.eps**2
    for _ in range(200):
        turned = False
        for p in range(n):
            for q in range(p + 1, n):
                a, b, d = np.dot(W[:, p], W[:, p]), np.dot(W[:, q], W[:, q]), np.dot(W[:, p], W[:, q])
                if abs(d) <= tiny * mp.sqrt(a * b) or abs(d) <= floor * floor:
                    continue
                turned = True
                t = tangent((b - a) / (2 * d))
                c = 1 / mp.sqrt(1 + t * t)
                rotate(W, p, q, c, t * c)
                rotate(V, p, q, c, t * c)
        if not turned:
            break
    lengths = [norm(W[:, k]) for k in range(n)]
    order = sorted(range(n), key=lambda k: -lengths[k])
    rank = sum(value > floor for value in lengths)
    U = np.stack([W[:, k] / lengths[k] for k in order[:rank]], axis=1) if rank else objects(np.zeros((m, 0)))
    values = [lengths[k] if i < rank else mp.mpf(0) for i, k in enumerate(order)]
    return completed(U, n), objects(np.array(values, dtype=object)), V[:, order]


def completed(U: Array, count: int) -> Array:
    """Return orthonormal columns with more of them, `count` in all."""
    m = len(U)
    while U.shape[1] < count:
        rest = identity(m) - np.dot(U, U.T) if U.shape[1] else identity(m)
        k = max(range(m), key=lambda j: norm(rest[:, j]))
        column = rest[:, k] - (np.dot(U, np.dot(U.T, rest[:, k])) if U.shape[1] else 0)
        U = np.concatenate([U, (column / norm(column))[:, None]], axis=1)
    return U


def pinv(A: Array) -> Array:
    """Return the pseudoinverse; singular values below half the digits count as 0."""
    U, s, V = svd(A)
    rank = sum(value > s[0] * mp.sqrt(mp.eps) for value in s) if len(s) and s[0] > 0 else 0
    return np.dot(V[:, :rank] / s[:rank], U[:, :rank].T) if rank else objects(np.zeros(A.shape[::-1]))


def eig(A: Array, left: bool = False) -> tuple[Array, Array, Array]:
    """Return eigenvalues, unit left and right eigenvectors; real where all are."""
    n = len(A)
    if n == 0:
        return objects(np.zeros(0)), objects(np.zeros((0, 0))), objects(np.zeros((0, 0)))
    w, R = mp.eig(mp.matrix(A.tolist()))
    right = objects(np.array(R.tolist(), dtype=object).reshape(n, n))
    values = np.array(list(w), dtype=object)
    noise = largest(values) * mp.mpf(10) ** (-mp.dps // 2)
    if all(abs(mp.im(v)) <= noise for v in values):
        values = np.array([mp.re(v) for v in values], dtype=object)
        right = np.array([_turned(column) for column in right.T], dtype=object).T
    right = np.stack([column / norm(column) for column in right.T], axis=1)
    lefts = right
    if left:
        rows = inv(right)
        lefts = np.stack([np.array([mp.conj(v) for v in row], dtype=object) / norm(row) for row in rows], axis=1)
    return values, lefts, right


def _turned(column: Array) -> list[Any]:
    """Return a real eigenvector that came with a phase: its largest entry made 1."""
    largest_entry = max(column, key=abs)
    return [mp.re(v / largest_entry) for v in column]
