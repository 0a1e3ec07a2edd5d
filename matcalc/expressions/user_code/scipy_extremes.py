"""Lists further distributions of scipy.stats: those of extremes, lifetimes and skewed errors."""

from __future__ import annotations

from collections.abc import Mapping
from math import copysign, inf, log
from typing import Any

from matcalc.expressions.user_code.scipy_distributions import (
    Continuous,
    gammaln,
    logarithm,
    norm_logcdf,
    numpy_,
    positive,
    special,
    xlogy,
)


def _power_logarithm(z: Any, c: Any) -> Any:
    """Return log(1 + c*z)/c, and z at c = 0."""
    x = c * z
    return z * (x.by_rule("log1pc") if hasattr(x, "by_rule") else numpy_().log1p(x) / x)


def _gev_logpdf(z: Any, c: Any) -> Any:
    at = _power_logarithm(-z, c)
    return (1 - c) * at - numpy_().exp(at)


def _gev_logcdf(z: Any, c: Any) -> Any:
    return -numpy_().exp(_power_logarithm(-z, c))


def _end(c: Any, is_end: Any, end: Any) -> Any:
    """Return an end of a support that depends on the sign of a shape."""
    return (
        numpy_().where(is_end, end / c, copysign(inf, end)) if hasattr(c, "node") else end / c if is_end else inf * end
    )


def _exponnorm_logpdf(z: Any, K: Any) -> Any:  # noqa: N803 - SciPy's name
    return 1 / (2 * K**2) - z / K - logarithm(K) + norm_logcdf(z - 1 / K)


def _nakagami_logpdf(z: Any, nu: Any) -> Any:
    return log(2) + xlogy(nu, nu) + xlogy(2 * nu - 1, z) - gammaln(nu) - nu * z**2


FURTHER: Mapping[str, Continuous] = {
    "genextreme": Continuous(
        ("c",),
        {
            "logpdf": _gev_logpdf,
            "logcdf": _gev_logcdf,
            "cdf": lambda z, c: numpy_().exp(_gev_logcdf(z, c)),
            "sf": lambda z, c: -numpy_().expm1(_gev_logcdf(z, c)),
        },
        lower=lambda c: _end(-c, c < 0, -1),
        upper=lambda c: _end(c, c > 0, 1),
    ),
    "genpareto": Continuous(
        ("c",),
        {
            "logpdf": lambda z, c: -(c + 1) * _power_logarithm(z, c),
            "logsf": lambda z, c: -_power_logarithm(z, c),
            "sf": lambda z, c: numpy_().exp(-_power_logarithm(z, c)),
            "cdf": lambda z, c: -numpy_().expm1(-_power_logarithm(z, c)),
        },
        lower=0,
        upper=lambda c: _end(-c, c < 0, 1),
    ),
    "gengamma": Continuous(
        ("a", "c"),
        {"logpdf": lambda z, a, c: logarithm(abs(c)) + xlogy(c * a - 1, z) - z**c - gammaln(a)},
        lower=0,
    ),
    "invweibull": Continuous(
        ("c",),
        {
            "logpdf": lambda z, c: logarithm(c) - (c + 1) * logarithm(z) - z ** (-c),
            "logcdf": lambda z, c: -(z ** (-c)),
            "cdf": lambda z, c: numpy_().exp(-(z ** (-c))),
        },
        lower=0,
        closed=False,
    ),
    "powerlaw": Continuous(
        ("a",),
        {"logpdf": lambda z, a: logarithm(a) + xlogy(a - 1, z), "cdf": lambda z, a: z**a},
        lower=0,
        upper=1,
    ),
    "gompertz": Continuous(
        ("c",),
        {
            "logpdf": lambda z, c: logarithm(c) + z - c * numpy_().expm1(z),
            "logsf": lambda z, c: -c * numpy_().expm1(z),
            "sf": lambda z, c: numpy_().exp(-c * numpy_().expm1(z)),
        },
        lower=0,
    ),
    "exponnorm": Continuous(("K",), {"logpdf": _exponnorm_logpdf}),
    "genlogistic": Continuous(
        ("c",),
        {
            "logpdf": lambda z, c: logarithm(c) - z - (c + 1) * numpy_().logaddexp(0, -z),
            "logcdf": lambda z, c: -c * numpy_().logaddexp(0, -z),
            "cdf": lambda z, c: numpy_().exp(-c * numpy_().logaddexp(0, -z)),
        },
    ),
    "nakagami": Continuous(
        ("nu",),
        {"logpdf": _nakagami_logpdf, "cdf": lambda z, nu: special().gammainc(nu, nu * positive(z) ** 2)},
        lower=0,
    ),
}
