"""Implements functions of SciPy on symbols, by SciPy's names and parameters, with NumPy's functions.

An argument that is not listed here raises an error with its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from types import ModuleType
from typing import Any

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.numpy_bridge.length import Length
from matcalc.expressions.user_code.numpy_writes import Missing
from matcalc.expressions.user_code.python_calls import is_symbolic
from matcalc.expressions.user_code.scipy_special import SPECIAL
from matcalc.tensor.sizes.size import Size, floordiv

Call = Callable[..., Any]


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    import numpy as np

    if return_sign:
        raise NotSupported("scipy.special.logsumexp: the argument return_sign is not supported")
    if isinstance(a, (list, tuple)):
        a = np.stack(a)
    if b is not None:
        a = _weighted(a, b)
    if axis is None:
        found = np.logaddexp.reduce(np.ravel(a))
        return np.reshape(found, (1,) * a.ndim) if keepdims else found
    axes = tuple(axis) if isinstance(axis, (list, tuple)) else (axis,)
    found = a
    for k in sorted((one % a.ndim for one in axes), reverse=True):
        found = np.logaddexp.reduce(found, axis=k)
    return np.expand_dims(found, tuple(one % a.ndim for one in axes)) if keepdims else found


def _weighted(a: Any, b: Any) -> Any:
    """Return a + log(b); weights that are numbers may be 0."""
    import numpy as np

    if is_symbolic(b):
        return a + np.log(b)
    weights = np.asarray(b, dtype=float)
    none = weights == 0
    return np.where(none, -np.inf, a + np.log(np.where(none, 1.0, weights))) if np.any(none) else a + np.log(weights)


def softmax(x: Any, axis: Any = None) -> Any:
    import numpy as np

    return np.exp(log_softmax(x, axis))


def log_softmax(x: Any, axis: Any = None) -> Any:
    return x - logsumexp(x, axis, keepdims=True)


def rel_entr(x: Any, y: Any) -> Any:
    from scipy import special

    return special.xlogy(x, x) - special.xlogy(x, y)


def kl_div(x: Any, y: Any) -> Any:
    return rel_entr(x, y) - x + y


def betaln(a: Any, b: Any) -> Any:
    from scipy import special

    return special.gammaln(a) + special.gammaln(b) - special.gammaln(a + b)


def multigammaln(a: Any, d: int) -> Any:
    from math import log, pi

    from scipy import special

    return d * (d - 1) / 4 * log(pi) + sum(special.gammaln(a - j / 2) for j in range(d))


# scipy.linalg


def cholesky(a: Any, lower: bool = False) -> Any:
    import numpy as np

    found = np.linalg.cholesky(a)
    return found if lower else found.T.copy()


def cho_factor(a: Any, lower: bool = False) -> Any:
    return cholesky(a, lower), lower


def cho_solve(c_and_lower: Any, b: Any) -> Any:
    import numpy as np

    c, lower = c_and_lower
    first, second = (c, c.T) if lower else (c.T, c)
    return np.linalg.solve(second, np.linalg.solve(first, b))


class Factor(Missing):
    """The factors of a matrix of symbols, for `lu_solve` alone."""

    def __init__(self, matrix: Any) -> None:
        super().__init__("the result of scipy.linalg.lu_factor", "write np.linalg.qr(A), or scipy.linalg.cholesky(A)")
        self.__dict__.update({"_matrix": matrix, "node": matrix.node, "dtype": None})  # symbolic, by its node


def lu_factor(a: Any) -> Any:
    return Factor(a), Missing("the pivots of scipy.linalg.lu_factor", "pass them to lu_solve alone")


def lu_solve(lu_and_piv: Any, b: Any, trans: int = 0) -> Any:
    import numpy as np

    lu, pivots = lu_and_piv
    a = vars(lu)["_matrix"] if isinstance(lu, Factor) else _of_factors(lu, pivots)
    return np.linalg.solve(a.T if trans else a, b)


def _of_factors(lu: Any, pivots: Any) -> Any:
    """Return the matrix of numbers that was factored."""
    import numpy as np

    a = (np.tril(lu, -1) + np.eye(len(lu))) @ np.triu(lu)
    for k, other in reversed(list(enumerate(pivots))):
        a[[k, other]] = a[[other, k]]
    return a


def solve(
    a: Any, b: Any, lower: bool = False, assume_a: Any = None, transposed: bool = False, sym_pos: bool = False
) -> Any:
    import numpy as np

    if assume_a not in (None, "gen", "general"):
        a = _assumed(a, assume_a, lower)
    elif sym_pos:
        a = _assumed(a, "pos", lower)
    return np.linalg.solve(a.T if transposed else a, b)


def _assumed(a: Any, kind: str, lower: bool) -> Any:
    """Return the matrix that SciPy reads from one triangle."""
    import numpy as np

    if kind in ("pos", "positive definite", "sym", "symmetric", "her", "hermitian"):
        part = np.tril(a, -1) if lower else np.triu(a, 1)
        return part + part.T + np.diag(np.diagonal(a))
    raise NotSupported(f"scipy.linalg.solve: assume_a={kind!r} is not supported", hint="leave assume_a out")


def solve_triangular(a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False) -> Any:
    import numpy as np

    if unit_diagonal:
        raise NotSupported("scipy.linalg.solve_triangular: the argument unit_diagonal is not supported")
    part = np.tril(a) if lower else np.triu(a)
    return np.linalg.solve(part.T if trans in (1, "T", 2, "C") else part, b)


def inv(a: Any) -> Any:
    import numpy as np

    return np.linalg.inv(a)


def det(a: Any) -> Any:
    import numpy as np

    return np.linalg.det(a)


def pinv(a: Any) -> Any:
    import numpy as np

    return np.linalg.pinv(a)


def eigvalsh(a: Any, lower: bool = True) -> Any:
    import numpy as np

    return np.linalg.eigvalsh(a)


def svdvals(a: Any) -> Any:
    import numpy as np

    return np.linalg.svd(a, compute_uv=False)


def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A002 - SciPy's name
    import numpy as np

    return np.linalg.norm(a, ord, axis, keepdims)


def toeplitz(c: Any, r: Any = None) -> Any:
    return _structure("toeplitz", c, r)


def circulant(c: Any) -> Any:
    return _structure("circulant", c, None)


def hankel(c: Any, r: Any = None) -> Any:
    return _structure("hankel", c, r)


def _structure(name: str, c: Any, r: Any) -> Any:
    """Return the matrix of this name of the vectors c and r; other arrays are read row by row, as in SciPy."""
    import numpy as np

    vectors = [
        np.ravel(np.stack(list(one)) if isinstance(one, (list, tuple)) else one) for one in (c, r) if one is not None
    ]
    return next(one for one in vectors if hasattr(one, "by_rule")).by_rule(name, *vectors)


def block_diag(*arrs: Any) -> Any:
    import numpy as np

    blocks = [np.atleast_2d(one) for one in arrs]
    rows = []
    for k, one in enumerate(blocks):
        zeros = [np.zeros_like(one[:, :1]) @ np.zeros_like(other[:1]) for other in blocks]
        rows.append(np.concatenate([*zeros[:k], one, *zeros[k + 1 :]], axis=1))
    return np.concatenate(rows, axis=0)


def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    return _by_rule("sylvester", a, b, q)


def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    return _by_rule("lyapunov", a, q)


def solve_discrete_lyapunov(a: Any, q: Any, method: Any = None) -> Any:
    return _by_rule("dlyapunov", a, q)


def solve_continuous_are(a: Any, b: Any, q: Any, r: Any) -> Any:
    return _by_rule("care", a, b, q, r)


def solve_discrete_are(a: Any, b: Any, q: Any, r: Any) -> Any:
    return _by_rule("dare", a, b, q, r)


def _by_rule(name: str, *matrices: Any) -> Any:
    return next(one for one in matrices if hasattr(one, "by_rule")).by_rule(name, *matrices)


def _matrix_function(name: str) -> Call:
    def called(A: Any) -> Any:  # noqa: N803 - SciPy's name
        return A.by_rule(name)

    called.__name__ = name
    return called


# scipy.spatial.distance


def cdist(XA: Any, XB: Any, metric: str = "euclidean", p: Any = 2) -> Any:  # noqa: N803 - SciPy's names
    return _distance(XA[:, None, :] - XB[None, :, :], metric, p)


def _distance(gaps: Any, metric: str, p: Any) -> Any:
    import numpy as np

    if metric in ("sqeuclidean", "sqe"):
        return np.sum(gaps**2, axis=-1)
    if metric in ("euclidean", "euclid", "eu", "e"):
        return np.linalg.norm(gaps, axis=-1)
    if metric in ("cityblock", "cblock", "cb", "c", "l1"):
        return np.sum(np.abs(gaps), axis=-1)
    if metric in ("chebyshev", "chebychev", "linf"):
        return np.max(np.abs(gaps), axis=-1)
    if metric == "minkowski":
        return np.sum(np.abs(gaps) ** p, axis=-1) ** (1 / p)
    raise NotSupported(
        f"scipy.spatial.distance: the metric {metric!r} is not supported", hint="write the distance with NumPy"
    )


def pdist(X: Any, metric: str = "euclidean", p: Any = 2) -> Any:  # noqa: N803 - SciPy's name
    found = cdist(X, X, metric, p)
    condensed = _condensed(found)
    condensed.distances = found
    return condensed


def _condensed(matrix: Any) -> Any:
    """Return the entries above the diagonal of a symmetric matrix, row after row."""
    return matrix[1:, :-1].copy().by_rule("vech")


def squareform(X: Any, force: str = "no", checks: bool = True) -> Any:  # noqa: N803 - SciPy's name
    import numpy as np

    if X.ndim == 2:
        return _condensed(X)
    if X.distances is not None and not X.version:
        return X.distances.copy()
    count = X.shape[0]
    if not isinstance(count, int):
        corner = X @ np.swapaxes(X.by_rule("vech_at", _side_of(count)), 0, 1)
        rows = np.concatenate([0 * corner[:1], corner])
        below = np.concatenate([rows, 0 * rows[:, :1]], axis=1)
        return below + below.T
    n = int(round((1 + (1 + 8 * count) ** 0.5) / 2))
    if n * (n - 1) // 2 != count:
        raise ShapeError(f"squareform: {count} distances are those of no number of points")
    places = np.zeros((n, n), dtype=int)
    places[np.triu_indices(n, 1)] = np.arange(count) + 1
    return np.concatenate([np.zeros(1), X])[places + places.T]


def _side_of(count: Any) -> Any:
    """Return the number of points less one, by the number of distances between them.

    Raises: NotSupported for a size that is not n*(n - 1)//2 for a name n plus a small number.
    """
    for name in count.length.names:
        for shift in range(-3, 4):
            side = Size.of(name) + shift
            if floordiv(side * (side + 1), Size.of(2)) is count.length:
                return Length(side, count.number, count.traced)
    hint = "declare the vector as  d: vector(n*(n - 1)//2), or the size as a number"
    raise NotSupported(f"squareform of {count} distances, which are those of no known number of points", hint=hint)


LINALG = (
    cholesky, cho_factor, cho_solve, lu_factor, lu_solve, solve, solve_triangular, inv, det, pinv, eigvalsh, svdvals,
    norm, toeplitz, circulant, hankel, block_diag, solve_sylvester, solve_continuous_lyapunov, solve_discrete_lyapunov,
    solve_continuous_are, solve_discrete_are,
)  # fmt: skip
FUNCTIONS: Mapping[str, Sequence[Call]] = {
    "scipy.special": (logsumexp, softmax, log_softmax, rel_entr, kl_div, betaln, multigammaln, *SPECIAL),
    "scipy.linalg": LINALG,
    "scipy.spatial.distance": (cdist, pdist, squareform),
}
"""Functions that accept symbols, by the module of those that they replace."""
MATRIX_FUNCTIONS = ("expm", "logm", "sqrtm", "sinm", "cosm")
NO_EFFECT = frozenset(("overwrite_a", "overwrite_b", "check_finite", "overwrite_x", "overwrite_ab", "driver", "turbo"))
"""Arguments without an effect on the result."""


def strict(function: Call, shown: str) -> Call:
    """Return a function that raises for an unknown argument, with its name."""
    known = signature(function).parameters
    takes_all = any(one.kind is one.VAR_POSITIONAL for one in known.values())

    def called(*args: Any, **keywords: Any) -> Any:
        keywords = {key: value for key, value in keywords.items() if key not in NO_EFFECT and value is not None}
        unknown = [key for key in keywords if key not in known]
        if unknown or len(args) > len(known) and not takes_all:
            raise NotSupported(f"{shown}: the argument {unknown[0] if unknown else len(args)} is not supported")
        return function(*args, **keywords)

    called.__name__ = function.__name__
    return called


def scipy_calls(module: ModuleType) -> list[tuple[Any, Call]]:
    """Return the functions of a module of SciPy, each with the one for symbols."""
    functions = {one.__name__: one for one in FUNCTIONS.get(module.__name__, ())}
    if module.__name__ == "scipy.linalg":
        functions |= {name: _matrix_function(name) for name in MATRIX_FUNCTIONS}
    return [(getattr(module, name), strict(one, f"{module.__name__}.{name}")) for name, one in functions.items()]
