"""Implements densities and distribution functions of scipy.stats on symbols, by SciPy's names and parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log, pi
from typing import Any

from matcalc.errors import NotSupported

Call = Callable[..., Any]
HALF_LOG_TAU = 0.5 * log(2 * pi)


def _special() -> Any:
    from scipy import special

    return special


def _np() -> Any:
    import numpy

    return numpy


def _norm_logpdf(z: Any) -> Any:
    return -(z**2) / 2 - HALF_LOG_TAU


def _norm_cdf(z: Any) -> Any:
    return _special().erfc(-z / 2**0.5) / 2


def _norm_logcdf(z: Any) -> Any:
    return _special().log_ndtr(z)


def _t_logpdf(z: Any, df: Any) -> Any:
    np, special = _np(), _special()
    start = special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - np.log(df * pi) / 2
    return start - (df + 1) / 2 * np.log1p(z**2 / df)


def _cauchy_logpdf(z: Any) -> Any:
    return -_np().log(pi) - _np().log1p(z**2)


def _laplace_logpdf(z: Any) -> Any:
    return -_np().abs(z) - log(2)


def _logistic_logpdf(z: Any) -> Any:
    np = _np()
    return -z - 2 * np.logaddexp(0, -z)


def _logistic_logcdf(z: Any) -> Any:
    return -_np().logaddexp(0, -z)


def _logistic_cdf(z: Any) -> Any:
    return _special().expit(z)


def _gumbel_logpdf(z: Any) -> Any:
    return -z - _np().exp(-z)


def _gumbel_logcdf(z: Any) -> Any:
    return -_np().exp(-z)


def _of_counts(k: Any, value: Any, most: Any = None) -> Any:
    """Return the logarithm of a probability where k is a whole number from 0 to `most`, -inf elsewhere."""
    np = _np()
    beside = k.by_rule("off_integer") if hasattr(k, "by_rule") else k - np.round(k)
    inside = (k >= 0) & (beside == 0)
    return np.where(inside if most is None else inside & (k <= most), value, -np.inf)


def _poisson(k: Any, mu: Any) -> Any:
    special = _special()
    return _of_counts(k, special.xlogy(k, mu) - mu - special.gammaln(k + 1))


def _bernoulli(k: Any, p: Any) -> Any:
    special = _special()
    return _of_counts(k, special.xlogy(k, p) + special.xlogy(1 - k, 1 - p), 1)


def _binom(k: Any, n: Any, p: Any) -> Any:
    special = _special()
    count = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return _of_counts(k, count + special.xlogy(k, p) + special.xlogy(n - k, 1 - p), n)


def _gamma_logpdf(x: Any, a: Any) -> Any:
    return (a - 1) * _np().log(x) - x - _special().gammaln(a)


def _beta_logpdf(x: Any, a: Any, b: Any) -> Any:
    np, special = _np(), _special()
    norm = special.gammaln(a) + special.gammaln(b) - special.gammaln(a + b)
    return (a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - norm


def _lognorm_logpdf(x: Any, s: Any) -> Any:
    np = _np()
    return -(np.log(x) ** 2) / (2 * s**2) - np.log(s) - np.log(x) - HALF_LOG_TAU


def _chi2_logpdf(x: Any, df: Any) -> Any:
    return (df / 2 - 1) * _np().log(x) - x / 2 - _special().gammaln(df / 2) - df / 2 * log(2)


CONTINUOUS: Mapping[str, tuple[tuple[str, ...], Mapping[str, Call]]] = {
    "norm": ((), {"logpdf": _norm_logpdf, "cdf": _norm_cdf, "logcdf": _norm_logcdf}),
    "t": (("df",), {"logpdf": _t_logpdf}),
    "cauchy": ((), {"logpdf": _cauchy_logpdf}),
    "laplace": ((), {"logpdf": _laplace_logpdf}),
    "logistic": ((), {"logpdf": _logistic_logpdf, "logcdf": _logistic_logcdf, "cdf": _logistic_cdf}),
    "gamma": (("a",), {"logpdf": _gamma_logpdf}),
    "beta": (("a", "b"), {"logpdf": _beta_logpdf}),
    "lognorm": (("s",), {"logpdf": _lognorm_logpdf}),
    "chi2": (("df",), {"logpdf": _chi2_logpdf}),
    "gumbel_r": ((), {"logpdf": _gumbel_logpdf, "logcdf": _gumbel_logcdf}),
}
"""Distributions: the names of their shape parameters, and functions of (x - loc)/scale."""
SYMMETRIC = ("norm", "t", "cauchy", "laplace", "logistic")
DISCRETE: Mapping[str, Call] = {"poisson": _poisson, "bernoulli": _bernoulli, "binom": _binom}
"""Logarithms of the probabilities of counts."""


def _mvn_logpdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False) -> Any:
    np = _np()
    if getattr(cov, "ndim", 0) != 2 or x.ndim > 2:
        raise NotSupported("scipy.stats.multivariate_normal takes a matrix cov, and x of one or two axes")
    gap = x if mean is None else x - mean
    whitened = np.linalg.solve(cov, gap.T)
    form = gap @ whitened if gap.ndim == 1 else np.sum(gap * whitened.T, axis=1)
    return -(form + np.linalg.slogdet(cov)[1] + cov.shape[0] * log(2 * pi)) / 2


class Distribution:
    """A distribution of scipy.stats inside a copied function; `frozen` are the parameters of a call."""

    def __init__(self, theirs: Any, name: str, has_symbols: Callable[[object], bool], frozen: Any = None) -> None:
        self._theirs, self._name, self._has, self._frozen = theirs, name, has_symbols, frozen

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return Distribution(self._theirs, self._name, self._has, (args, keywords))

    def __getattr__(self, method: str) -> Any:
        theirs = getattr(self._theirs, method)

        def called(*args: Any, **keywords: Any) -> Any:
            if self._frozen is not None:
                args, keywords = (*args, *self._frozen[0]), {**self._frozen[1], **keywords}
            if not any(map(self._has, (*args, *keywords.values()))):
                return theirs(*args, **keywords)
            return _evaluated(self._name, method, args, keywords)

        return called if callable(theirs) else theirs


def _evaluated(name: str, method: str, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    """Return the value of a method of a distribution.

    Raises: NotSupported, which names the method.
    """
    np = _np()
    plain = {"pdf": "logpdf", "pmf": "logpmf"}.get(method)
    if plain is not None:
        return np.exp(_evaluated(name, plain, args, keywords))
    if name == "multivariate_normal" and method == "logpdf":
        return _mvn_logpdf(*args, **keywords)
    if name in DISCRETE and method == "logpmf" and "loc" not in keywords:
        return DISCRETE[name](*args, **keywords)
    if name in CONTINUOUS:
        shapes, methods = CONTINUOUS[name]
        names = ("x", *shapes, "loc", "scale")
        given = {"loc": 0, "scale": 1, **dict(zip(names, args, strict=False)), **keywords}
        if len(args) <= len(names) and set(given) == set(names):
            found = _standard(name, methods, method, given, shapes)
            if found is not None:
                return found
    hint = "write its formula with NumPy and scipy.special"
    raise NotSupported(f"scipy.stats.{name}.{method} is not supported on symbols", hint=hint)


def _standard(name: str, methods: Mapping[str, Call], method: str, given: Mapping[str, Any], shapes: Any) -> Any:
    """Return the value of a method at (x - loc)/scale; None for an unknown method."""
    np = _np()
    others = [given[one] for one in shapes]
    at = given["x"] - given["loc"]
    at = at if isinstance(given["scale"], int) and given["scale"] == 1 else at / given["scale"]
    if method == "logpdf":
        found = methods["logpdf"](at, *others)
        return found if isinstance(given["scale"], int) and given["scale"] == 1 else found - np.log(given["scale"])
    if method in ("sf", "logsf") and name in SYMMETRIC:
        at, method = -at, {"sf": "cdf", "logsf": "logcdf"}[method]
    return methods[method](at, *others) if method in methods else None


NAMES = (*CONTINUOUS, *DISCRETE, "multivariate_normal")
OTHERS = (
    "expon", "uniform", "nbinom", "invgamma", "weibull_min", "pareto", "halfnorm",
    "halfcauchy", "dirichlet", "wishart", "geom", "skewnorm", "truncnorm", "vonmises", "f", "multinomial",
)  # fmt: skip
"""Further distributions; their methods raise on symbols unless listed above."""
