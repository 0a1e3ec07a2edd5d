"""Matrices stored by rows as SciPy's CSR, by NumPy: values v, their columns c, and where each row starts.

Entries that are not stored do not take part. SciPy multiplies without testing indices, so they are tested here.
"""

import numpy as np
from scipy import sparse


def csr(v, c, starts, columns, fault):
    """Return the matrix with `columns` columns."""
    if np.any(np.diff(starts) < 0) or starts[0] != 0 or starts[-1] != len(c) or is_outside(c, columns):
        raise np.linalg.LinAlgError(fault)
    return sparse.csr_array((v, c, starts), shape=(len(starts) - 1, columns))


def is_outside(c, columns):
    """Whether a column index is out of range."""
    return len(c) > 0 and bool(np.min(c) < 0 or np.max(c) >= columns)


def csr_transposed(v, c, starts, columns, fault):
    """Return the transpose of the matrix."""
    return csr(v, c, starts, columns, fault).T


def csr_places(c, starts, columns, fault):
    """Return the row and the column of each stored entry."""
    counts = np.diff(starts)
    if np.any(counts < 0) or starts[0] != 0 or starts[-1] != len(c) or is_outside(c, columns):
        raise np.linalg.LinAlgError(fault)
    return np.repeat(np.arange(len(counts)), counts), c


def csr_sampled(c, starts, U, V, fault):
    """U*V' at the row and column of each stored entry."""
    i, j = csr_places(c, starts, len(V), fault)
    return np.einsum("tk,tk->t", U[i], V[j])


def csr_gram(v, c, starts, u, columns, fault):
    """X'*Z, where Z has the structure of X and the values u."""
    return (csr_transposed(v, c, starts, columns, fault) @ csr(u, c, starts, columns, fault)).toarray()


def csr_outer(v, c, starts, u, fault):
    """X*Z', where Z has the structure of X and the values u."""
    columns = int(np.max(c, initial=-1)) + 1
    return (csr(v, c, starts, columns, fault) @ csr_transposed(u, c, starts, columns, fault)).toarray()


def csr_forms(v, c, starts, u, M, fault):
    """x'*M*z for each row x of X and z of Z, which has the structure of X and the values u."""
    csr_places(c, starts, len(M), fault)
    rows = [slice(*ends) for ends in zip(starts[:-1], starts[1:], strict=True)]
    return np.array([v[row] @ M[np.ix_(c[row], c[row])] @ u[row] for row in rows])
