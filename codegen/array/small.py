"""Many small square matrices at once, stacked along a first axis, for the arrays of any framework."""

import numpy as np

from matcalc.codegen.array.linalg import adj, getrf, only_finite


def eliminated_rows(A):
    """Return the rows of the triangles U, with what stands behind, of P*L*U for each matrix, and the signs of P.

    Rows are exchanged where a later one has a larger entry. NaN or infinity in a matrix makes all of it NaN.
    """
    spoilt = np.sum(A * 0.0, axis=(1, 2))
    rest, done, sign = [A[:, i] + spoilt[:, None] for i in range(A.shape[1])], [], np.ones(len(A))
    for p in range(A.shape[1]):
        top, others = rest[0], []
        for row in rest[1:]:
            larger = np.abs(row[:, p : p + 1]) > np.abs(top[:, p : p + 1])
            sign = np.where(larger[:, 0], -sign, sign)
            others = [*others, np.where(larger, top, row)]
            top = np.where(larger, row, top)
        pivot = np.where(top[:, p : p + 1] == 0.0, 1.0, top[:, p : p + 1])
        done = [*done, top]
        rest = [row - row[:, p : p + 1] / pivot * top for row in others]
    return done, sign


def inv_rows(X, fault):
    """The inverse of each matrix; all NaN if one is singular."""
    count = X.shape[1]
    triangles, _ = eliminated_rows(np.concatenate((X, np.broadcast_to(np.eye(count), X.shape)), axis=2))
    solved = []
    for p in range(count - 1, -1, -1):
        row = triangles[p][:, count:]
        for i, below in enumerate(solved[::-1], p + 1):
            row = row - triangles[p][:, i : i + 1] * below
        solved = [*solved, row * (1.0 / triangles[p][:, p : p + 1])]
    if not solved:
        return X
    pivots = np.stack([row[:, p] for p, row in enumerate(triangles)])
    return only_finite(np.all(pivots != 0.0), np.stack(solved[::-1], axis=1))


def logdet_rows(X):
    """log(abs(det)) of each matrix."""
    logs = [np.log(np.abs(row[:, p])) for p, row in enumerate(eliminated_rows(X)[0])]
    return np.sum(np.stack(logs), axis=0) if logs else np.zeros(len(X))


def det_rows(X):
    """det of each matrix."""
    triangles, sign = eliminated_rows(X)
    for p, row in enumerate(triangles):
        sign = sign * row[:, p]
    return sign


def chol_rows(X, fault):
    """The lower Cholesky factor of each matrix; all NaN if one is not positive definite."""
    count, columns = X.shape[1], []
    spoilt = np.sum(np.tril(X) * 0.0, axis=(1, 2))
    for p in range(count):
        left = X[:, :, p] + spoilt[:, None]
        for column in columns:
            left = left - column * column[:, p : p + 1]
        columns = [*columns, np.where(np.arange(count) < p, 0.0, left) / np.sqrt(left[:, p : p + 1])]
    if not columns:
        return X
    lower = np.stack(columns, axis=2)
    return only_finite(np.all(np.isfinite(lower) | np.isnan(spoilt)[:, None, None]), lower)


def adj_rows(X):
    """The adjugate of each matrix."""
    return np.stack([adj(X[k], *getrf(X[k])) for k in range(len(X))]) if len(X) else X
