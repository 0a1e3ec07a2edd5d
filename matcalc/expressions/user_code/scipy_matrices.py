"""Lists the distributions of vectors and matrices of scipy.stats, whose densities are written with NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from math import log, pi
from typing import Any, NamedTuple

from matcalc.expressions.user_code.scipy_distributions import Call, gammaln, logarithm, numpy_, xlogy


def _dirichlet(x: Any, alpha: Any) -> Any:
    np = numpy_()
    return gammaln(np.sum(alpha)) - np.sum(gammaln(alpha)) + np.sum(xlogy(alpha - 1, x))


def _multinomial(x: Any, n: Any, p: Any) -> Any:
    np = numpy_()
    return gammaln(n + 1) + np.sum(xlogy(x, p) - gammaln(x + 1))


def _quadratic(x: Any, centre: Any, matrix: Any) -> Any:
    """Return (x - centre)' inv(matrix) (x - centre), for one vector or for each row of x."""
    np = numpy_()
    gap = x - centre
    solved = np.linalg.solve(matrix, gap.T)
    return gap @ solved if gap.ndim == 1 else np.sum(gap * solved.T, axis=1)


def _logdet(matrix: Any) -> Any:
    return numpy_().linalg.slogdet(matrix)[1]


def _multivariate_normal(x: Any, mean: Any, cov: Any) -> Any:
    mean = 0 if mean is None else mean
    return -(_quadratic(x, mean, cov) + _logdet(cov) + cov.shape[0] * log(2 * pi)) / 2


def _multivariate_t(x: Any, loc: Any, shape: Any, df: Any) -> Any:
    loc, p = 0 if loc is None else loc, shape.shape[0]
    start = gammaln((df + p) / 2) - gammaln(df / 2) - p / 2 * logarithm(pi * df) - _logdet(shape) / 2
    return start - (df + p) / 2 * numpy_().log1p(_quadratic(x, loc, shape) / df)


def _matrix_normal(x: Any, mean: Any, rowcov: Any, colcov: Any) -> Any:
    np = numpy_()
    gap = x if mean is None else x - mean
    (m, n), quadratic = gap.shape, np.sum(gap * np.linalg.solve(rowcov, np.linalg.solve(colcov, gap.T).T))
    return -(m * n * log(2 * pi) + n * _logdet(rowcov) + m * _logdet(colcov) + quadratic) / 2


def _wishart(x: Any, df: Any, scale: Any) -> Any:
    np, p = numpy_(), scale.shape[0]
    inside = (df - p - 1) / 2 * _logdet(x) - np.trace(np.linalg.solve(scale, x)) / 2
    return inside - df * p / 2 * log(2) - df / 2 * _logdet(scale) - _multigammaln(df / 2, x)


def _invwishart(x: Any, df: Any, scale: Any) -> Any:
    np, p = numpy_(), scale.shape[0]
    inside = -(df + p + 1) / 2 * _logdet(x) - np.trace(np.linalg.solve(x, scale)) / 2
    return inside - df * p / 2 * log(2) + df / 2 * _logdet(scale) - _multigammaln(df / 2, x)


def _multigammaln(a: Any, x: Any) -> Any:
    """Return the multivariate gamma function's logarithm of the order that is the number of rows of x."""
    np, p = numpy_(), x.shape[0]
    steps = np.cumsum(np.ones_like(np.diagonal(x))) - 1
    return p * (p - 1) / 4 * log(pi) + np.sum(gammaln(a - steps / 2))


class Several(NamedTuple):
    """A distribution of a vector or a matrix: names of its parameters, its method and the function; `defaults`.

    `matrices` are the parameters that must be matrices.
    """

    names: tuple[str, ...]
    method: str
    function: Call
    defaults: Mapping[str, Any] = {}
    matrices: tuple[str, ...] = ()


SEVERAL: Mapping[str, Several] = {
    "dirichlet": Several(("alpha",), "logpdf", _dirichlet),
    "multinomial": Several(("n", "p"), "logpmf", _multinomial),
    "multivariate_normal": Several(("mean", "cov"), "logpdf", _multivariate_normal, {"mean": None}, ("cov",)),
    "multivariate_t": Several(("loc", "shape", "df"), "logpdf", _multivariate_t, {"loc": None, "df": 1}, ("shape",)),
    "matrix_normal": Several(
        ("mean", "rowcov", "colcov"), "logpdf", _matrix_normal, {"mean": None}, ("rowcov", "colcov")
    ),
    "wishart": Several(("df", "scale"), "logpdf", _wishart, {}, ("scale",)),
    "invwishart": Several(("df", "scale"), "logpdf", _invwishart, {}, ("scale",)),
}
"""Distributions inside the support."""
