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


def _special() -> Any:
    from scipy import special

    return special


def _np() -> Any:
    import numpy

    return numpy


class Continuous(NamedTuple):
    """A distribution on the line: names of its shapes, its methods, and its support; `closed` includes the ends."""

    shapes: tuple[str, ...]
    methods: Mapping[str, Call]
    lower: float = -inf
    upper: float = inf
    closed: bool = True
    symmetric: bool = False


class Discrete(NamedTuple):
    """A distribution of counts: names of its parameters, the logarithm of its probabilities, least and most count."""

    shapes: tuple[str, ...]
    logpmf: Call
    least: int = 0
    most: Call = lambda *shapes: None


def _gammaln(x: Any) -> Any:
    return _special().gammaln(x)


def _log(x: Any) -> Any:
    return _np().log(x)


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


def _laplace_cdf(z: Any) -> Any:
    np = _np()
    return np.where(z > 0, 1 - np.exp(-z) / 2, np.exp(z) / 2)


def _skewnorm_logpdf(z: Any, a: Any) -> Any:
    return log(2) + _norm_logpdf(z) + _norm_logcdf(a * z)


def _beta_logpdf(z: Any, a: Any, b: Any) -> Any:
    return _xlogy(a - 1, z) + _xlogy(b - 1, 1 - z) - (_gammaln(a) + _gammaln(b) - _gammaln(a + b))


def _lognorm_logpdf(z: Any, s: Any) -> Any:
    return -(_log(z) ** 2) / (2 * s**2) - _log(s) - _log(z) - HALF_LOG_TAU


def _gamma_logpdf(z: Any, a: Any) -> Any:
    return _xlogy(a - 1, z) - z - _gammaln(a)


CONTINUOUS: Mapping[str, Continuous] = {
    "norm": Continuous((), {"logpdf": _norm_logpdf, "cdf": _norm_cdf, "logcdf": _norm_logcdf}, symmetric=True),
    "t": Continuous(("df",), {"logpdf": _t_logpdf}, symmetric=True),
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
        ("a",), {"logpdf": lambda z, a: -(a + 1) * _log(z) - _gammaln(a) - 1 / z}, lower=0, closed=False
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
    "halfcauchy": Continuous(
        (), {"logpdf": lambda z: log(2 / pi) - _np().log1p(z**2), "cdf": lambda z: 2 / pi * _np().arctan(z)}, lower=0
    ),
}


def _binom(k: Any, n: Any, p: Any) -> Any:
    count = _gammaln(n + 1) - _gammaln(k + 1) - _gammaln(n - k + 1)
    return count + _xlogy(k, p) + _xlogy(n - k, 1 - p)


def _nbinom(k: Any, n: Any, p: Any) -> Any:
    return _gammaln(n + k) - _gammaln(k + 1) - _gammaln(n) + n * _log(p) + _xlogy(k, 1 - p)


DISCRETE: Mapping[str, Discrete] = {
    "poisson": Discrete(("mu",), lambda k, mu: _xlogy(k, mu) - mu - _gammaln(k + 1)),
    "bernoulli": Discrete(("p",), lambda k, p: _xlogy(k, p) + _xlogy(1 - k, 1 - p), most=lambda p: 1),
    "binom": Discrete(("n", "p"), _binom, most=lambda n, p: n),
    "nbinom": Discrete(("n", "p"), _nbinom),
    "geom": Discrete(("p",), lambda k, p: _xlogy(k - 1, 1 - p) + _log(p), least=1),
}


def _dirichlet(x: Any, alpha: Any) -> Any:
    np = _np()
    return _gammaln(np.sum(alpha)) - np.sum(_gammaln(alpha)) + np.sum(_xlogy(alpha - 1, x))


def _multinomial(x: Any, n: Any, p: Any) -> Any:
    np = _np()
    return _gammaln(n + 1) + np.sum(_xlogy(x, p) - _gammaln(x + 1))


VECTORS: Mapping[str, tuple[tuple[str, ...], str, Call]] = {
    "dirichlet": (("alpha",), "logpdf", _dirichlet),
    "multinomial": (("n", "p"), "logpmf", _multinomial),
}
"""Distributions of a vector inside the support: names of parameters, the method, its function."""
