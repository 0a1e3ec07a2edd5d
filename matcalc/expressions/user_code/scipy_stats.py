"""Implements densities and distribution functions of scipy.stats on symbols, by SciPy's names and parameters.

The distributions are data, in `scipy_distributions.py`. Outside the support a density is 0 and its logarithm -inf.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, log, pi
from typing import Any

from matcalc.errors import NotSupported
from matcalc.expressions.user_code.scipy_distributions import CONTINUOUS, DISCRETE, VECTORS, Continuous, Discrete

OUTSIDE: Mapping[str, tuple[float, float]] = {
    "logpdf": (-inf, -inf), "cdf": (0, 1), "sf": (1, 0), "logcdf": (-inf, 0), "logsf": (0, -inf),
}  # fmt: skip
"""The values of a method below and above the support."""
COMPLEMENTS = {"sf": "cdf", "cdf": "sf", "logsf": "logcdf", "logcdf": "logsf"}
LOGARITHMS = {"logsf": "sf", "logcdf": "cdf"}


def _np() -> Any:
    import numpy

    return numpy


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
    plain = {"pdf": "logpdf", "pmf": "logpmf"}.get(method)
    if plain is not None:
        return _np().exp(_evaluated(name, plain, args, keywords))
    found = None
    if name == "multivariate_normal" and method == "logpdf":
        found = _mvn_logpdf(*args, **keywords)
    elif name in VECTORS and method == VECTORS[name][1]:
        given = _given(("x", *VECTORS[name][0]), args, keywords, {})
        found = None if given is None else VECTORS[name][2](*given)
    elif name in DISCRETE and method == "logpmf":
        given = _given(("k", *DISCRETE[name].shapes, "loc"), args, keywords, {"loc": 0})
        found = None if given is None else _of_counts(DISCRETE[name], given[0] - given[-1], given[1:-1])
    elif name in CONTINUOUS:
        given = _given(("x", *CONTINUOUS[name].shapes, "loc", "scale"), args, keywords, {"loc": 0, "scale": 1})
        found = None if given is None else _of_line(CONTINUOUS[name], method, given)
    if found is None:
        hint = "write its formula with NumPy and scipy.special"
        raise NotSupported(f"scipy.stats.{name}.{method} is not supported on symbols", hint=hint)
    return found


def _given(
    names: Sequence[str], args: Sequence[Any], keywords: Mapping[str, Any], defaults: Mapping[str, Any]
) -> list[Any] | None:
    """Return the arguments of a call in the order of their names; None if these do not fit."""
    found = {**defaults, **dict(zip(names, args, strict=False)), **keywords}
    return [found[one] for one in names] if len(args) <= len(names) and set(found) == set(names) else None


def _of_counts(distribution: Discrete, k: Any, shapes: Sequence[Any]) -> Any:
    """Return the logarithm of a probability where k is a possible count, -inf elsewhere."""
    np = _np()
    beside = k.by_rule("off_integer") if hasattr(k, "by_rule") else k - np.round(k)
    inside = (k >= distribution.least) & (beside == 0)
    most = distribution.most(*shapes)
    return np.where(inside if most is None else inside & (k <= most), distribution.logpmf(k, *shapes), -inf)


def _of_line(distribution: Continuous, method: str, given: Sequence[Any]) -> Any:
    """Return the value of a method at (x - loc)/scale; None for an unknown method."""
    np = _np()
    x, *shapes, loc, scale = given
    has_scale = not (isinstance(scale, int) and scale == 1)
    at = (x - loc) / scale if has_scale else x - loc
    value = _standard(distribution, method, at, shapes)
    if value is None:
        return None
    if has_scale and method == "logpdf":
        value = value - np.log(scale)
    below, above = OUTSIDE[method]
    if distribution.upper < inf:
        value = np.where(at <= distribution.upper if distribution.closed else at < distribution.upper, value, above)
    if distribution.lower > -inf:
        value = np.where(at >= distribution.lower if distribution.closed else at > distribution.lower, value, below)
    return value


def _standard(distribution: Continuous, method: str, at: Any, shapes: Sequence[Any]) -> Any:
    """Return the value of a method inside the support, by another method if the distribution does not list it."""
    methods, other = distribution.methods, COMPLEMENTS.get(method, "")
    if method in methods:
        return methods[method](at, *shapes)
    if distribution.symmetric and other in methods:
        return methods[other](-at, *shapes)
    if method in LOGARITHMS:
        plain = _standard(distribution, LOGARITHMS[method], at, shapes)
        return None if plain is None else _np().log(plain)
    return 1 - methods[other](at, *shapes) if other in methods else None


NAMES = (*CONTINUOUS, *DISCRETE, *VECTORS, "multivariate_normal")
OTHERS = ("wishart", "truncnorm", "vonmises", "f")
"""Further distributions; their methods raise on symbols."""
