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
"""From here the asymptotic series of a Bessel function is exact; below, the value does not overflow."""


def special() -> Any:
    from scipy import special

    return special


def numpy_() -> Any:
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


def gammaln(x: Any) -> Any:
    return special().gammaln(x)


def logarithm(x: Any) -> Any:
    return numpy_().log(x)


def _betaln(a: Any, b: Any) -> Any:
    return gammaln(a) + gammaln(b) - gammaln(a + b)


def xlogy(x: Any, y: Any) -> Any:
    return special().xlogy(x, y)


def _norm_logpdf(z: Any) -> Any:
    return -(z**2) / 2 - HALF_LOG_TAU


def _norm_cdf(z: Any) -> Any:
    return special().erfc(-z / 2**0.5) / 2


def norm_logcdf(z: Any) -> Any:
    return special().log_ndtr(z)


def _t_logpdf(z: Any, df: Any) -> Any:
    start = gammaln((df + 1) / 2) - gammaln(df / 2) - logarithm(df * pi) / 2
    return start - (df + 1) / 2 * numpy_().log1p(z**2 / df)


def _t_cdf(z: Any, df: Any) -> Any:
    np = numpy_()
    r = np.sqrt(z**2 + df)
    at = np.where(z > 0, (z + r) / (2 * r), df / (2 * r * (r - z)))
    return special().betainc(df / 2, df / 2, at)


def _vonmises_logpdf(z: Any, kappa: Any) -> Any:
    """Return the density; the Bessel function of a large kappa, which overflows, by its asymptotic series."""
    np = numpy_()
    k = np.maximum(kappa, LARGE)
    large = k - logarithm(2 * pi * k) / 2 + np.log1p((1 + (9 + 75 / (8 * k)) / (16 * k)) / (8 * k))
    bessel = np.where(kappa > LARGE, large, logarithm(special().iv(0, np.minimum(kappa, LARGE))))
    return kappa * np.cos(z) - log(2 * pi) - bessel


def _truncated(a: Any, b: Any) -> Any:
    """Return the probability of a normal variable between a and b, from the tails if both are above 0."""
    above, below = _norm_cdf(-a) - _norm_cdf(-b), _norm_cdf(b) - _norm_cdf(a)
    if isinstance(a, (int, float)):
        return above if a > 0 else below
    return numpy_().where(a > 0, above, below)


def _f_logpdf(z: Any, dfn: Any, dfd: Any) -> Any:
    m, n = dfn / 2, dfd / 2
    start = xlogy(m, dfn) + xlogy(n, dfd) + xlogy(m - 1, z)
    return start - (m + n) * logarithm(dfd + dfn * z) - _betaln(m, n)


def positive(z: Any) -> Any:
    return numpy_().maximum(z, 0)


def _laplace_cdf(z: Any) -> Any:
    np = numpy_()
    return np.where(z > 0, 1 - np.exp(-z) / 2, np.exp(z) / 2)


def _skewnorm_logpdf(z: Any, a: Any) -> Any:
    return log(2) + _norm_logpdf(z) + norm_logcdf(a * z)


def _skewnorm_cdf(z: Any, a: Any) -> Any:
    return _norm_cdf(z) - 2 * special().owens_t(z, a)


def _beta_logpdf(z: Any, a: Any, b: Any) -> Any:
    return xlogy(a - 1, z) + xlogy(b - 1, 1 - z) - _betaln(a, b)


def _lognorm_logpdf(z: Any, s: Any) -> Any:
    return -(logarithm(z) ** 2) / (2 * s**2) - logarithm(s) - logarithm(z) - HALF_LOG_TAU


def _gamma_logpdf(z: Any, a: Any) -> Any:
    return xlogy(a - 1, z) - z - gammaln(a)


CONTINUOUS: Mapping[str, Continuous] = {
    "norm": Continuous(
        (),
        {"logpdf": _norm_logpdf, "cdf": _norm_cdf, "logcdf": norm_logcdf, "ppf": lambda q: special().ndtri(q)},
        symmetric=True,
    ),
    "t": Continuous(("df",), {"logpdf": _t_logpdf, "cdf": _t_cdf}, symmetric=True),
    "cauchy": Continuous(
        (),
        {"logpdf": lambda z: -log(pi) - numpy_().log1p(z**2), "cdf": lambda z: 0.5 + numpy_().arctan(z) / pi},
        symmetric=True,
    ),
    "laplace": Continuous((), {"logpdf": lambda z: -numpy_().abs(z) - log(2), "cdf": _laplace_cdf}, symmetric=True),
    "logistic": Continuous(
        (),
        {
            "logpdf": lambda z: -z - 2 * numpy_().logaddexp(0, -z),
            "logcdf": lambda z: -numpy_().logaddexp(0, -z),
            "cdf": lambda z: special().expit(z),
            "ppf": lambda q: special().logit(q),
        },
        symmetric=True,
    ),
    "skewnorm": Continuous(("a",), {"logpdf": _skewnorm_logpdf, "cdf": _skewnorm_cdf}),
    "gumbel_r": Continuous(
        (),
        {
            "logpdf": lambda z: -z - numpy_().exp(-z),
            "logcdf": lambda z: -numpy_().exp(-z),
            "cdf": lambda z: numpy_().exp(-numpy_().exp(-z)),
            "ppf": lambda q: -logarithm(-logarithm(q)),
        },
    ),
    "expon": Continuous(
        (),
        {
            "logpdf": lambda z: -z,
            "cdf": lambda z: -numpy_().expm1(-z),
            "sf": lambda z: numpy_().exp(-z),
            "logsf": lambda z: -z,
        },
        lower=0,
    ),
    "uniform": Continuous((), {"logpdf": lambda z: 0 * z, "cdf": lambda z: z}, lower=0, upper=1),
    "gamma": Continuous(
        ("a",),
        {
            "logpdf": _gamma_logpdf,
            "cdf": lambda z, a: special().gammainc(a, numpy_().maximum(z, 0)),
            "sf": lambda z, a: special().gammaincc(a, numpy_().maximum(z, 0)),
        },
        lower=0,
    ),
    "chi2": Continuous(
        ("df",),
        {
            "logpdf": lambda z, df: _gamma_logpdf(z / 2, df / 2) - log(2),
            "cdf": lambda z, df: special().gammainc(df / 2, numpy_().maximum(z, 0) / 2),
            "sf": lambda z, df: special().gammaincc(df / 2, numpy_().maximum(z, 0) / 2),
        },
        lower=0,
    ),
    "invgamma": Continuous(
        ("a",),
        {
            "logpdf": lambda z, a: -(a + 1) * logarithm(z) - gammaln(a) - 1 / z,
            "cdf": lambda z, a: special().gammaincc(a, 1 / z),
            "sf": lambda z, a: special().gammainc(a, 1 / z),
        },
        lower=0,
        closed=False,
    ),
    "lognorm": Continuous(
        ("s",),
        {
            "logpdf": _lognorm_logpdf,
            "cdf": lambda z, s: _norm_cdf(logarithm(z) / s),
            "sf": lambda z, s: _norm_cdf(-logarithm(z) / s),
            "ppf": lambda q, s: numpy_().exp(s * special().ndtri(q)),
        },
        lower=0,
        closed=False,
    ),
    "weibull_min": Continuous(
        ("c",),
        {
            "logpdf": lambda z, c: logarithm(c) + xlogy(c - 1, z) - z**c,
            "cdf": lambda z, c: -numpy_().expm1(-(z**c)),
            "sf": lambda z, c: numpy_().exp(-(z**c)),
            "logsf": lambda z, c: -(z**c),
            "ppf": lambda q, c: (-numpy_().log1p(-q)) ** (1 / c),
        },
        lower=0,
    ),
    "beta": Continuous(
        ("a", "b"),
        {
            "logpdf": _beta_logpdf,
            "cdf": lambda z, a, b: special().betainc(a, b, numpy_().clip(z, 0, 1)),
            "sf": lambda z, a, b: special().betainc(b, a, numpy_().clip(1 - z, 0, 1)),
        },
        lower=0,
        upper=1,
    ),
    "pareto": Continuous(
        ("b",),
        {
            "logpdf": lambda z, b: logarithm(b) - (b + 1) * logarithm(z),
            "cdf": lambda z, b: 1 - z ** (-b),
            "sf": lambda z, b: z ** (-b),
            "logsf": lambda z, b: -b * logarithm(z),
        },
        lower=1,
    ),
    "halfnorm": Continuous(
        (),
        {
            "logpdf": lambda z: log(2) + _norm_logpdf(z),
            "cdf": lambda z: special().erf(z / 2**0.5),
            "sf": lambda z: special().erfc(z / 2**0.5),
        },
        lower=0,
    ),
    "vonmises": Continuous(("kappa",), {"logpdf": _vonmises_logpdf}),
    "truncnorm": Continuous(
        ("a", "b"),
        {
            "logpdf": lambda z, a, b: _norm_logpdf(z) - logarithm(_truncated(a, b)),
            "cdf": lambda z, a, b: _truncated(a, z) / _truncated(a, b),
            "sf": lambda z, a, b: _truncated(z, b) / _truncated(a, b),
        },
        lower=lambda a, b: a,
        upper=lambda a, b: b,
    ),
    "loggamma": Continuous(
        ("c",),
        {
            "logpdf": lambda z, c: c * z - numpy_().exp(z) - gammaln(c),
            "cdf": lambda z, c: special().gammainc(c, numpy_().exp(z)),
            "sf": lambda z, c: special().gammaincc(c, numpy_().exp(z)),
        },
    ),
    "f": Continuous(
        ("dfn", "dfd"),
        {
            "logpdf": _f_logpdf,
            "cdf": lambda z, m, n: special().betainc(m / 2, n / 2, m * positive(z) / (n + m * positive(z))),
            "sf": lambda z, m, n: special().betainc(n / 2, m / 2, n / (n + m * positive(z))),
        },
        lower=0,
    ),
    "fisk": Continuous(
        ("c",),
        {
            "logpdf": lambda z, c: logarithm(c) + (c - 1) * logarithm(z) - 2 * numpy_().log1p(z**c),
            "cdf": lambda z, c: z**c / (1 + z**c),
            "sf": lambda z, c: 1 / (1 + z**c),
            "logsf": lambda z, c: -numpy_().log1p(z**c),
        },
        lower=0,
        closed=False,
    ),
    "rayleigh": Continuous(
        (),
        {
            "logpdf": lambda z: logarithm(z) - z**2 / 2,
            "cdf": lambda z: -numpy_().expm1(-(z**2) / 2),
            "sf": lambda z: numpy_().exp(-(z**2) / 2),
            "logsf": lambda z: -(z**2) / 2,
        },
        lower=0,
    ),
    "gumbel_l": Continuous(
        (),
        {
            "logpdf": lambda z: z - numpy_().exp(z),
            "sf": lambda z: numpy_().exp(-numpy_().exp(z)),
            "logsf": lambda z: -numpy_().exp(z),
        },
    ),
    "invgauss": Continuous(
        ("mu",),
        {"logpdf": lambda z, mu: -HALF_LOG_TAU - 1.5 * logarithm(z) - ((z - mu) / mu) ** 2 / (2 * z)},
        lower=0,
        closed=False,
    ),
    "halfcauchy": Continuous(
        (),
        {"logpdf": lambda z: log(2 / pi) - numpy_().log1p(z**2), "cdf": lambda z: 2 / pi * numpy_().arctan(z)},
        lower=0,
    ),
}


def _binom(k: Any, n: Any, p: Any) -> Any:
    count = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return count + xlogy(k, p) + xlogy(n - k, 1 - p)


def _nbinom(k: Any, n: Any, p: Any) -> Any:
    return gammaln(n + k) - gammaln(k + 1) - gammaln(n) + n * logarithm(p) + xlogy(k, 1 - p)


def _betabinom(k: Any, n: Any, a: Any, b: Any) -> Any:
    return -logarithm(n + 1) - _betaln(n - k + 1, k + 1) + _betaln(k + a, n - k + b) - _betaln(a, b)


DISCRETE: Mapping[str, Discrete] = {
    "poisson": Discrete(
        ("mu",),
        {
            "logpmf": lambda k, mu: xlogy(k, mu) - mu - gammaln(k + 1),
            "cdf": lambda k, mu: special().gammaincc(k + 1, mu),
            "sf": lambda k, mu: special().gammainc(k + 1, mu),
        },
    ),
    "bernoulli": Discrete(("p",), {"logpmf": lambda k, p: xlogy(k, p) + xlogy(1 - k, 1 - p)}, most=lambda p: 1),
    "binom": Discrete(("n", "p"), {"logpmf": _binom}, most=lambda n, p: n),
    "nbinom": Discrete(
        ("n", "p"),
        {
            "logpmf": _nbinom,
            "cdf": lambda k, n, p: special().betainc(n, k + 1, p),
            "sf": lambda k, n, p: special().betainc(k + 1, n, 1 - p),
        },
    ),
    "geom": Discrete(
        ("p",),
        {
            "logpmf": lambda k, p: xlogy(k - 1, 1 - p) + logarithm(p),
            "cdf": lambda k, p: -numpy_().expm1(k * numpy_().log1p(-p)),
            "logsf": lambda k, p: k * numpy_().log1p(-p),
            "sf": lambda k, p: numpy_().exp(k * numpy_().log1p(-p)),
        },
        least=1,
    ),
    "betabinom": Discrete(("n", "a", "b"), {"logpmf": _betabinom}, most=lambda n, a, b: n),
}
