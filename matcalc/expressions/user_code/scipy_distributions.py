"""Lists the distributions of scipy.stats: shape parameters, support, and functions of (x - loc)/scale.

Each function is written with NumPy and scipy.special, which the symbols of a traced function accept. `scipy_stats.py`
adds location, scale and the values outside the support, and derives methods that a distribution does not list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, log, pi
from typing import Any, NamedTuple

Call = Callable[..., Any]
HALF_LOG_TAU = 0.5 * log(2 * pi)
LARGE = 500.0
"""Where the asymptotic series of a Bessel function is exact to all digits of a double, and its value does not overflow."""


def _special() -> Any:
    from scipy import special

    return special


def _np() -> Any:
    import numpy

    return numpy


class Continuous(NamedTuple):
    """A distribution on the line: names of its shapes, its methods, and its support; `closed` includes the ends.

    An end of the support is a number or a function of the shapes.
    """

    shapes: tuple[str, ...]
    methods: Mapping[str, Call]
    lower: float | Call = -inf
    upper: float | Call = inf
    closed: bool = True
    symmetric: bool = False


class Discrete(NamedTuple):
    """A distribution of counts: names of its parameters, its methods at counts, the least and the most count."""

    shapes: tuple[str, ...]
    methods: Mapping[str, Call]
    least: int = 0
    most: Call = lambda *shapes: None


def _gammaln(x: Any) -> Any:
    return _special().gammaln(x)


def _log(x: Any) -> Any:
    return _np().log(x)


def _betaln(a: Any, b: Any) -> Any:
    return _gammaln(a) + _gammaln(b) - _gammaln(a + b)


def _xlogy(x: Any, y: Any) -> Any:
    return _special().xlogy(x, y)


def _norm_logpdf(z: Any) -> Any:
    return -(z**2) / 2 - HALF_LOG_TAU


def _norm_cdf(z: Any) -> Any:
    return _special().erfc(-z / 2**0.5) / 2


def _norm_logcdf(z: Any) -> Any:
    return _special().log_ndtr(z)


def _t_logpdf(z: Any, df: Any) -> Any:
    start = _gammaln((df + 1) / 2) - _gammaln(df / 2) - _log(df * pi) / 2
    return start - (df + 1) / 2 * _np().log1p(z**2 / df)


def _t_cdf(z: Any, df: Any) -> Any:
    np = _np()
    r = np.sqrt(z**2 + df)
    at = np.where(z > 0, (z + r) / (2 * r), df / (2 * r * (r - z)))
    return _special().betainc(df / 2, df / 2, at)


def _vonmises_logpdf(z: Any, kappa: Any) -> Any:
    """Return the density; the Bessel function of a large kappa, which overflows, by its asymptotic series."""
    np = _np()
    k = np.maximum(kappa, LARGE)
    large = k - _log(2 * pi * k) / 2 + np.log1p((1 + (9 + 75 / (8 * k)) / (16 * k)) / (8 * k))
    bessel = np.where(kappa > LARGE, large, _log(_special().iv(0, np.minimum(kappa, LARGE))))
    return kappa * np.cos(z) - log(2 * pi) - bessel


def _truncated(a: Any, b: Any) -> Any:
    """Return the probability of a normal variable between a and b, from the tails if both are above 0."""
    return _np().where(a > 0, _norm_cdf(-a) - _norm_cdf(-b), _norm_cdf(b) - _norm_cdf(a))


def _f_logpdf(z: Any, dfn: Any, dfd: Any) -> Any:
    m, n = dfn / 2, dfd / 2
    start = _xlogy(m, dfn) + _xlogy(n, dfd) + _xlogy(m - 1, z)
    return start - (m + n) * _log(dfd + dfn * z) - _betaln(m, n)


def _positive(z: Any) -> Any:
    return _np().maximum(z, 0)


def _laplace_cdf(z: Any) -> Any:
    np = _np()
    return np.where(z > 0, 1 - np.exp(-z) / 2, np.exp(z) / 2)


def _skewnorm_logpdf(z: Any, a: Any) -> Any:
    return log(2) + _norm_logpdf(z) + _norm_logcdf(a * z)


def _beta_logpdf(z: Any, a: Any, b: Any) -> Any:
    return _xlogy(a - 1, z) + _xlogy(b - 1, 1 - z) - _betaln(a, b)


def _lognorm_logpdf(z: Any, s: Any) -> Any:
    return -(_log(z) ** 2) / (2 * s**2) - _log(s) - _log(z) - HALF_LOG_TAU


def _gamma_logpdf(z: Any, a: Any) -> Any:
    return _xlogy(a - 1, z) - z - _gammaln(a)


CONTINUOUS: Mapping[str, Continuous] = {
    "norm": Continuous((), {"logpdf": _norm_logpdf, "cdf": _norm_cdf, "logcdf": _norm_logcdf}, symmetric=True),
    "t": Continuous(("df",), {"logpdf": _t_logpdf, "cdf": _t_cdf}, symmetric=True),
    "cauchy": Continuous(
        (),
        {"logpdf": lambda z: -log(pi) - _np().log1p(z**2), "cdf": lambda z: 0.5 + _np().arctan(z) / pi},
        symmetric=True,
    ),
    "laplace": Continuous((), {"logpdf": lambda z: -_np().abs(z) - log(2), "cdf": _laplace_cdf}, symmetric=True),
    "logistic": Continuous(
        (),
        {
            "logpdf": lambda z: -z - 2 * _np().logaddexp(0, -z),
            "logcdf": lambda z: -_np().logaddexp(0, -z),
            "cdf": lambda z: _special().expit(z),
        },
        symmetric=True,
    ),
    "skewnorm": Continuous(("a",), {"logpdf": _skewnorm_logpdf}),
    "gumbel_r": Continuous(
        (),
        {
            "logpdf": lambda z: -z - _np().exp(-z),
            "logcdf": lambda z: -_np().exp(-z),
            "cdf": lambda z: _np().exp(-_np().exp(-z)),
        },
    ),
    "expon": Continuous(
        (),
        {
            "logpdf": lambda z: -z,
            "cdf": lambda z: -_np().expm1(-z),
            "sf": lambda z: _np().exp(-z),
            "logsf": lambda z: -z,
        },
        lower=0,
    ),
    "uniform": Continuous((), {"logpdf": lambda z: 0 * z, "cdf": lambda z: z}, lower=0, upper=1),
    "gamma": Continuous(
        ("a",),
        {
            "logpdf": _gamma_logpdf,
            "cdf": lambda z, a: _special().gammainc(a, _np().maximum(z, 0)),
            "sf": lambda z, a: _special().gammaincc(a, _np().maximum(z, 0)),
        },
        lower=0,
    ),
    "chi2": Continuous(
        ("df",),
        {
            "logpdf": lambda z, df: _gamma_logpdf(z / 2, df / 2) - log(2),
            "cdf": lambda z, df: _special().gammainc(df / 2, _np().maximum(z, 0) / 2),
            "sf": lambda z, df: _special().gammaincc(df / 2, _np().maximum(z, 0) / 2),
        },
        lower=0,
    ),
    "invgamma": Continuous(
        ("a",),
        {
            "logpdf": lambda z, a: -(a + 1) * _log(z) - _gammaln(a) - 1 / z,
            "cdf": lambda z, a: _special().gammaincc(a, 1 / z),
            "sf": lambda z, a: _special().gammainc(a, 1 / z),
        },
        lower=0,
        closed=False,
    ),
    "lognorm": Continuous(
        ("s",),
        {
            "logpdf": _lognorm_logpdf,
            "cdf": lambda z, s: _norm_cdf(_log(z) / s),
            "sf": lambda z, s: _norm_cdf(-_log(z) / s),
        },
        lower=0,
        closed=False,
    ),
    "weibull_min": Continuous(
        ("c",),
        {
            "logpdf": lambda z, c: _log(c) + _xlogy(c - 1, z) - z**c,
            "cdf": lambda z, c: -_np().expm1(-(z**c)),
            "sf": lambda z, c: _np().exp(-(z**c)),
            "logsf": lambda z, c: -(z**c),
        },
        lower=0,
    ),
    "beta": Continuous(
        ("a", "b"),
        {
            "logpdf": _beta_logpdf,
            "cdf": lambda z, a, b: _special().betainc(a, b, _np().clip(z, 0, 1)),
            "sf": lambda z, a, b: _special().betainc(b, a, _np().clip(1 - z, 0, 1)),
        },
        lower=0,
        upper=1,
    ),
    "pareto": Continuous(
        ("b",),
        {
            "logpdf": lambda z, b: _log(b) - (b + 1) * _log(z),
            "cdf": lambda z, b: 1 - z ** (-b),
            "sf": lambda z, b: z ** (-b),
            "logsf": lambda z, b: -b * _log(z),
        },
        lower=1,
    ),
    "halfnorm": Continuous(
        (),
        {
            "logpdf": lambda z: log(2) + _norm_logpdf(z),
            "cdf": lambda z: _special().erf(z / 2**0.5),
            "sf": lambda z: _special().erfc(z / 2**0.5),
        },
        lower=0,
    ),
    "vonmises": Continuous(("kappa",), {"logpdf": _vonmises_logpdf}),
    "truncnorm": Continuous(
        ("a", "b"),
        {
            "logpdf": lambda z, a, b: _norm_logpdf(z) - _log(_truncated(a, b)),
            "cdf": lambda z, a, b: _truncated(a, z) / _truncated(a, b),
            "sf": lambda z, a, b: _truncated(z, b) / _truncated(a, b),
        },
        lower=lambda a, b: a,
        upper=lambda a, b: b,
    ),
    "loggamma": Continuous(
        ("c",),
        {
            "logpdf": lambda z, c: c * z - _np().exp(z) - _gammaln(c),
            "cdf": lambda z, c: _special().gammainc(c, _np().exp(z)),
            "sf": lambda z, c: _special().gammaincc(c, _np().exp(z)),
        },
    ),
    "f": Continuous(
        ("dfn", "dfd"),
        {
            "logpdf": _f_logpdf,
            "cdf": lambda z, m, n: _special().betainc(m / 2, n / 2, m * _positive(z) / (n + m * _positive(z))),
            "sf": lambda z, m, n: _special().betainc(n / 2, m / 2, n / (n + m * _positive(z))),
        },
        lower=0,
    ),
    "fisk": Continuous(
        ("c",),
        {
            "logpdf": lambda z, c: _log(c) + (c - 1) * _log(z) - 2 * _np().log1p(z**c),
            "cdf": lambda z, c: z**c / (1 + z**c),
            "sf": lambda z, c: 1 / (1 + z**c),
            "logsf": lambda z, c: -_np().log1p(z**c),
        },
        lower=0,
        closed=False,
    ),
    "rayleigh": Continuous(
        (),
        {
            "logpdf": lambda z: _log(z) - z**2 / 2,
            "cdf": lambda z: -_np().expm1(-(z**2) / 2),
            "sf": lambda z: _np().exp(-(z**2) / 2),
            "logsf": lambda z: -(z**2) / 2,
        },
        lower=0,
    ),
    "gumbel_l": Continuous(
        (),
        {
            "logpdf": lambda z: z - _np().exp(z),
            "sf": lambda z: _np().exp(-_np().exp(z)),
            "logsf": lambda z: -_np().exp(z),
        },
    ),
    "invgauss": Continuous(
        ("mu",),
        {"logpdf": lambda z, mu: -HALF_LOG_TAU - 1.5 * _log(z) - ((z - mu) / mu) ** 2 / (2 * z)},
        lower=0,
        closed=False,
    ),
    "halfcauchy": Continuous(
        (), {"logpdf": lambda z: log(2 / pi) - _np().log1p(z**2), "cdf": lambda z: 2 / pi * _np().arctan(z)}, lower=0
    ),
}


def _binom(k: Any, n: Any, p: Any) -> Any:
    count = _gammaln(n + 1) - _gammaln(k + 1) - _gammaln(n - k + 1)
    return count + _xlogy(k, p) + _xlogy(n - k, 1 - p)


def _nbinom(k: Any, n: Any, p: Any) -> Any:
    return _gammaln(n + k) - _gammaln(k + 1) - _gammaln(n) + n * _log(p) + _xlogy(k, 1 - p)


def _betabinom(k: Any, n: Any, a: Any, b: Any) -> Any:
    return -_log(n + 1) - _betaln(n - k + 1, k + 1) + _betaln(k + a, n - k + b) - _betaln(a, b)


DISCRETE: Mapping[str, Discrete] = {
    "poisson": Discrete(
        ("mu",),
        {
            "logpmf": lambda k, mu: _xlogy(k, mu) - mu - _gammaln(k + 1),
            "cdf": lambda k, mu: _special().gammaincc(k + 1, mu),
            "sf": lambda k, mu: _special().gammainc(k + 1, mu),
        },
    ),
    "bernoulli": Discrete(("p",), {"logpmf": lambda k, p: _xlogy(k, p) + _xlogy(1 - k, 1 - p)}, most=lambda p: 1),
    "binom": Discrete(("n", "p"), {"logpmf": _binom}, most=lambda n, p: n),
    "nbinom": Discrete(
        ("n", "p"),
        {
            "logpmf": _nbinom,
            "cdf": lambda k, n, p: _special().betainc(n, k + 1, p),
            "sf": lambda k, n, p: _special().betainc(k + 1, n, 1 - p),
        },
    ),
    "geom": Discrete(
        ("p",),
        {
            "logpmf": lambda k, p: _xlogy(k - 1, 1 - p) + _log(p),
            "cdf": lambda k, p: -_np().expm1(k * _np().log1p(-p)),
            "logsf": lambda k, p: k * _np().log1p(-p),
            "sf": lambda k, p: _np().exp(k * _np().log1p(-p)),
        },
        least=1,
    ),
    "betabinom": Discrete(("n", "a", "b"), {"logpmf": _betabinom}, most=lambda n, a, b: n),
}


def _dirichlet(x: Any, alpha: Any) -> Any:
    np = _np()
    return _gammaln(np.sum(alpha)) - np.sum(_gammaln(alpha)) + np.sum(_xlogy(alpha - 1, x))


def _multinomial(x: Any, n: Any, p: Any) -> Any:
    np = _np()
    return _gammaln(n + 1) + np.sum(_xlogy(x, p) - _gammaln(x + 1))


def _quadratic(x: Any, centre: Any, matrix: Any) -> Any:
    """Return (x - centre)' inv(matrix) (x - centre), for one vector or for each row of x."""
    np = _np()
    gap = x - centre
    solved = np.linalg.solve(matrix, gap.T)
    return gap @ solved if gap.ndim == 1 else np.sum(gap * solved.T, axis=1)


def _logdet(matrix: Any) -> Any:
    return _np().linalg.slogdet(matrix)[1]


def _multivariate_normal(x: Any, mean: Any, cov: Any) -> Any:
    mean = 0 if mean is None else mean
    return -(_quadratic(x, mean, cov) + _logdet(cov) + cov.shape[0] * log(2 * pi)) / 2


def _multivariate_t(x: Any, loc: Any, shape: Any, df: Any) -> Any:
    loc, p = 0 if loc is None else loc, shape.shape[0]
    start = _gammaln((df + p) / 2) - _gammaln(df / 2) - p / 2 * _log(pi * df) - _logdet(shape) / 2
    return start - (df + p) / 2 * _np().log1p(_quadratic(x, loc, shape) / df)


def _matrix_normal(x: Any, mean: Any, rowcov: Any, colcov: Any) -> Any:
    np = _np()
    gap = x if mean is None else x - mean
    (m, n), quadratic = gap.shape, np.sum(gap * np.linalg.solve(rowcov, np.linalg.solve(colcov, gap.T).T))
    return -(m * n * log(2 * pi) + n * _logdet(rowcov) + m * _logdet(colcov) + quadratic) / 2


def _wishart(x: Any, df: Any, scale: Any) -> Any:
    np, p = _np(), scale.shape[0]
    inside = (df - p - 1) / 2 * _logdet(x) - np.trace(np.linalg.solve(scale, x)) / 2
    return inside - df * p / 2 * log(2) - df / 2 * _logdet(scale) - _multigammaln(df / 2, x)


def _invwishart(x: Any, df: Any, scale: Any) -> Any:
    np, p = _np(), scale.shape[0]
    inside = -(df + p + 1) / 2 * _logdet(x) - np.trace(np.linalg.solve(x, scale)) / 2
    return inside - df * p / 2 * log(2) + df / 2 * _logdet(scale) - _multigammaln(df / 2, x)


def _multigammaln(a: Any, x: Any) -> Any:
    """Return the multivariate gamma function's logarithm of the order that is the number of rows of x."""
    np, p = _np(), x.shape[0]
    steps = np.cumsum(np.ones_like(np.diagonal(x))) - 1
    return p * (p - 1) / 4 * log(pi) + np.sum(_gammaln(a - steps / 2))


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
