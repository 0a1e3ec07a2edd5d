"""Further functions in plain NumPy: order and selection, Perron and pair products, functions along an axis.

As in functions.py they are analytic as written where possible; the others raise NotAnalytic on complex input.
"""

import numpy as np
import scipy.linalg as sl
import scipy.special as sp

from oracle.arrays import column, integer, is_vector, real_only, scalar
from oracle.linear_algebra import along_step, eigh, svd


def along_axis(f, is_number=False):
    """Return a function of a vector or of all entries, or with axis= of each column (0) or each row (1).

    `is_number`: f returns a number, and the numbers form a vector.
    """

    def of(x, *more, axis=None):
        if axis is None:
            return f(x, *more)
        at = integer(axis)
        parts = [f(column(part), *more).reshape(-1) for part in (x.T if at == 0 else x)]
        stacked = np.stack(parts, axis=1 if at == 0 else 0) if parts else x
        return stacked.reshape(-1, 1) if is_number else stacked

    return of


def by_rows(f):
    """Return a function of the rows of a matrix; a vector is one row."""
    return lambda x: f(x) if is_vector(x) else np.stack([f(column(row)).reshape(-1) for row in x])


def ascending(x):
    return column(x.reshape(-1)[np.argsort(x.real.reshape(-1), kind="stable")])


def places(x):
    """Return 1/k at the k entries that are the median, or half of it at each of the two."""
    flat = x.real.reshape(-1)
    order = np.sort(flat)
    middle = order[[(flat.size - 1) // 2, flat.size // 2]]
    return sum((flat == v) / (flat == v).sum() for v in middle).reshape(x.shape) / 2


def largest(x):
    top = (x.real == x.real.max()).astype(float)
    return top / top.sum()


def pfaffian(A):
    """Compute the Pfaffian by expansion along the first row; for many terms, by Schur complements of two rows."""
    n = A.shape[0]
    if n > 8:
        j = 1 + int(np.argmax(np.abs(A[0, 1:])))
        if A[0, j] == 0:
            return scalar(0.0 * A.sum())
        order = [0, j, *(k for k in range(1, n) if k != j)]
        B = A[np.ix_(order, order)]
        inner = B[2:, 2:] + B[2:, :2] @ np.array([[0, 1], [-1, 0]]) @ B[:2, 2:] / B[0, 1]
        return scalar((-1) ** (j - 1) * B[0, 1] * pfaffian(inner).item())
    if n % 2:
        return scalar(0.0 * A.sum())
    if n == 0:
        return scalar(1.0)
    total = 0.0
    for j in range(1, n):
        rest = [k for k in range(1, n) if k != j]
        total = total + (-1) ** (j - 1) * A[0, j] * pfaffian(A[np.ix_(rest, rest)]).item()
    return scalar(total)


def extremes(X):
    """Return the singular values in descending order."""
    return np.linalg.svd(real_only(X), compute_uv=False)


def real_eigen(X):
    """Return real eigenvalues ascending, and eigenvectors of unit length with the largest entry positive."""
    w, V = np.linalg.eig(real_only(X))
    if np.any(np.abs(w.imag) > 1e-15 * len(w) * np.max(np.abs(X), initial=0.0)):
        raise np.linalg.LinAlgError("not real")
    order = np.argsort(w.real)
    V = V.real[:, order] / np.linalg.norm(V.real[:, order], axis=0)
    return w.real[order], V * np.where(V[np.argmax(np.abs(V), 0), np.arange(len(V))] < 0, -1.0, 1.0)


def top_vectors(S, k):
    V = eigh(S)[1]
    return V[:, V.shape[1] - integer(k) :]


def svd_mapped(f, X, *E):
    if E:
        raise NotImplementedError("along directions")
    U, s, V = svd(X)
    share = s > 4 * sum(X.shape) * np.finfo(float).eps * s.max(initial=0)  # empty for zero, where U and V are arbitrary
    return (U * np.where(share, np.asarray(f(s.reshape(1, -1))).reshape(-1), 0)) @ V.T


def betaln(a, b):
    if np.iscomplexobj(a) or np.iscomplexobj(b):
        return sp.loggamma(a) + sp.loggamma(b) - sp.loggamma(a + b)
    return sp.betaln(a, b)  # for large a the difference has no digits


def repeated(x, *counts):
    """Return `tile(x, p, q)`; a single count is that of the last axis."""
    p, q = [1, *map(integer, counts)][-2:]
    if is_vector(x) and x.shape[1] == 1:
        return column(np.tile(x.reshape(-1), q)) if len(counts) == 1 else np.tile(x.reshape(-1), (p, q))
    return np.tile(x, (p, q))


def stacked(x, *counts):
    """Return `repmat(x, p, q)`; a single count is that of both axes."""
    p, q = (integer(counts[0]), integer(counts[-1]))
    return np.tile(x, (p, q))


def toeplitz(c, *r):
    """Return a matrix constant along diagonals, from its first column and its first row without the first entry."""
    below = c.reshape(-1)
    above = r[0].reshape(-1) if r else below
    gaps = np.subtract.outer(np.arange(below.size), np.arange(above.size))
    return np.where(gaps >= 0, below[np.maximum(gaps, 0)], above[np.maximum(-gaps, 0)])


def circulant(c):
    column = c.reshape(-1)
    return np.stack([np.roll(column, k) for k in range(column.size)], axis=1)


def hankel(c, *r):
    """Return a matrix constant along antidiagonals, from its first column and its last row without the first entry."""
    first = c.reshape(-1)
    last = r[0].reshape(-1) if r else np.zeros_like(first)
    return np.array([[[*first, *last[1:]][i + j] for j in range(last.size)] for i in range(first.size)])


def kron_sum(a, b):
    return np.kron(a, np.eye(len(b))) + np.kron(np.eye(len(a)), b)


def partial_trace(x, m, n):
    """Return the traces of the n x n blocks."""
    m, n = integer(m), integer(n)
    return np.array([[np.trace(x[i * n : (i + 1) * n, j * n : (j + 1) * n]) for j in range(m)] for i in range(m)])


def partial_trace_first(x, m, n):
    """Return the sum of the n x n blocks on the diagonal."""
    m, n = integer(m), integer(n)
    return sum(x[i * n : (i + 1) * n, i * n : (i + 1) * n] for i in range(m))


def vander(x, *n):
    count = integer(n[0]) if n else x.size
    return x.reshape(-1, 1) ** np.arange(count - 1, -1, -1)


def real_powers(x, p):
    return np.exp(p * np.log(x))


def stirring(f):
    """Return a cyclic shift by k: along the axis, of all entries in order (roll), or down the columns (circshift)."""

    def of(x, k, axis=None):
        steps = integer(k)
        if axis is not None:
            return np.roll(x, steps, integer(axis))
        return f(x, steps)

    return of


def prod_others(x):
    flat = x.reshape(-1)
    return np.array([np.prod(np.delete(flat, i)) for i in range(flat.size)]).reshape(x.shape)


def inner(X):
    """Divide by the product of the largest and the smallest."""
    s = extremes(X)
    return scalar(s[0] / s[-1])


FURTHER = {
    "softmax2": lambda a, b: 1 / (1 + np.exp(b - a)),
    "pow": lambda x, p: real_powers(x, p.real),
    "powr": real_powers,
    "ratio0": lambda a, b: a / b,
    "over_hypot": lambda a, b: a / np.sqrt(a * a + b * b),
    "betaln": betaln,
    "gammainc": lambda a, x: sp.gammainc(real_only(a), real_only(x)),
    "gammaincc": lambda a, x: sp.gammaincc(real_only(a), real_only(x)),
    "betainc": lambda a, b, x: sp.betainc(real_only(a), real_only(b), real_only(x)),
    "multigammaln": lambda a, k: (
        sum(sp.loggamma(a - j / 2) for j in range(integer(k))) + integer(k) * (integer(k) - 1) / 4 * np.log(np.pi)
    ),
    "slogdet_sign": lambda X: scalar(np.sign(np.linalg.det(X).real)),
    "slogdet_logabsdet": lambda X: scalar(np.log(np.linalg.det(X) * np.sign(np.linalg.det(X).real))),
    "pfaffian": pfaffian,
    "cond": inner,
    "care": lambda A, B, Q, R: sl.solve_continuous_are(*map(real_only, (A, B, Q, R))),
    "dare": lambda A, B, Q, R: sl.solve_discrete_are(*map(real_only, (A, B, Q, R))),
    "numel": along_axis(lambda x: scalar(float(x.size)), is_number=True),
    "median": along_axis(lambda x: scalar((places(x) * x).sum()), is_number=True),
    "median_at": along_axis(places),
    "max_at": along_axis(largest),
    "min_at": along_axis(lambda x: largest(-x)),
    "sort": lambda x, axis=None: by_rows(ascending)(x) if axis is None else along_axis(ascending)(x, axis=axis),
    "sort_P": lambda x: np.eye(x.size)[np.argsort(x.real.reshape(-1), kind="stable")],
    "psd_part": lambda S: (lambda w, V: (V * np.maximum(w, 0)) @ V.T)(*eigh(S)),
    "spectral_projector": lambda S, k: top_vectors(S, k) @ top_vectors(S, k).T,
    "sum_largest_eig": lambda S, k: scalar(eigh(S)[0][len(S) - integer(k) :].sum()),
    "dilation": lambda X: np.block([[np.zeros((len(X), len(X))), X], [X.T, np.zeros((len(X.T), len(X.T)))]]),
    "svdfun": svd_mapped,
    "svdsum": lambda f, X: scalar(np.sum(f(extremes(X).reshape(1, -1)))),
    "svd_top": lambda X: np.outer(svd(X)[0][:, 0], svd(X)[2][:, 0]),
    "svd_bottom": lambda X: np.outer(svd(X)[0][:, -1], svd(X)[2][:, -1]),
    "least_singular": lambda X: scalar(extremes(X)[-1]),
    "svd_lowrank": lambda X, k: (svd(X)[0][:, : integer(k)] * svd(X)[1][: integer(k)]) @ svd(X)[2][:, : integer(k)].T,
    "svd_shrink": lambda X, t: svd_mapped(lambda s: np.maximum(s - real_only(t).item(), 0), X),
    "eig_w": lambda X: column(real_eigen(X)[0]),
    "spectral_radius": lambda X: scalar(np.abs(np.linalg.eigvals(real_only(X))).max()),
    "tile": repeated,
    "repmat": stacked,
    "toeplitz": toeplitz,
    "circulant": circulant,
    "hankel": hankel,
    "kron_sum": kron_sum,
    "partial_trace": partial_trace,
    "partial_trace_first": partial_trace_first,
    "vander": vander,
    "flip": lambda x, axis=None: np.flip(x) if axis is None else np.flip(x, integer(axis)),
    "circshift": stirring(lambda x, k: np.roll(x, k, 0)),
    "roll": stirring(lambda x, k: np.roll(x, k)),
    "normalize": along_axis(lambda x: x / np.sqrt((x * x).sum()) if x.any() else x * 0),
    "prod_others": lambda x, *E, axis=None: along_axis(along_step(prod_others))(x, *E, axis=axis),
    "vec": along_axis(lambda x: column(x.reshape(-1, order="F"))),
}
