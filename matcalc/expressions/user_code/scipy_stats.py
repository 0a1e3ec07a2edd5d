"""Implements densities and distribution functions of scipy.stats on symbols, by SciPy's names and parameters.

The distributions are data, in `scipy_distributions.py`. Outside the support a density is 0 and its logarithm -inf.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

from matcalc.errors import NotSupported
from matcalc.expressions.user_code.scipy_distributions import CONTINUOUS, DISCRETE, Call, Continuous, Discrete
from matcalc.expressions.user_code.scipy_extremes import FURTHER
from matcalc.expressions.user_code.scipy_matrices import SEVERAL

LINE: Mapping[str, Continuous] = {**CONTINUOUS, **FURTHER}
"""The distributions on the line."""
OUTSIDE: Mapping[str, tuple[float, float]] = {
    "logpdf": (-inf, -inf), "cdf": (0, 1), "sf": (1, 0), "logcdf": (-inf, 0), "logsf": (0, -inf),
}  # fmt: skip
"""The values of a method below and above the support."""
COMPLEMENTS = {"sf": "cdf", "cdf": "sf", "logsf": "logcdf", "logcdf": "logsf"}
QUANTILES = ("ppf", "isf")
"""The inverses of `cdf` and `sf`."""
LOGARITHMS = {"logsf": "sf", "logcdf": "cdf"}


def _np() -> Any:
    import numpy

    return numpy


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
    found = _found(name, plain or method, args, keywords)
    if found is None:
        hint = "write its formula with NumPy and scipy.special"
        raise NotSupported(f"scipy.stats.{name}.{method} is not supported on symbols", hint=hint)
    return found if plain is None else _np().exp(found)


def _found(name: str, method: str, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    """Return the value of a method of a distribution; None for an unknown method and for unknown arguments."""
    found = None
    if name in SEVERAL and method == SEVERAL[name].method:
        found = _of_several(name, args, keywords)
    elif name in DISCRETE:
        given = _given(("k", *DISCRETE[name].shapes, "loc"), args, keywords, {"loc": 0})
        found = None if given is None else _of_counts(DISCRETE[name], method, given[0] - given[-1], given[1:-1])
    elif method in QUANTILES and name in LINE:
        given = _given(("q", *LINE[name].shapes, "loc", "scale"), args, keywords, {"loc": 0, "scale": 1})
        found = None if given is None else _quantile(LINE[name], method, given)
    elif name in LINE:
        given = _given(("x", *LINE[name].shapes, "loc", "scale"), args, keywords, {"loc": 0, "scale": 1})
        found = None if given is None else _of_line(LINE[name], method, given)
    return found


def _given(
    names: Sequence[str], args: Sequence[Any], keywords: Mapping[str, Any], defaults: Mapping[str, Any]
) -> list[Any] | None:
    """Return the arguments of a call in the order of their names; None if these do not fit."""
    found = {**defaults, **dict(zip(names, args, strict=False)), **keywords}
    return [found[one] for one in names] if len(args) <= len(names) and set(found) == set(names) else None


def _of_several(name: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Return the logarithm of the density of a vector or a matrix; None if the arguments do not fit.

    Raises: NotSupported for a parameter that is no matrix.
    """
    own = SEVERAL[name]
    names = ("x", *own.names)
    given = _given(names, args, keywords, own.defaults)
    if given is None:
        return None
    wrong = [n for n, value in zip(names, given, strict=True) if n in own.matrices and getattr(value, "ndim", 0) != 2]
    if wrong or getattr(given[0], "ndim", 0) not in (1, 2):
        raise NotSupported(f"scipy.stats.{name} takes a matrix {wrong[0] if wrong else 'x'}", hint="write np.eye(p)*s")
    return own.function(*given)


def _of_counts(distribution: Discrete, method: str, k: Any, shapes: Sequence[Any]) -> Any:
    """Return a method of a distribution of counts; a probability is 0 beside the counts, and outside of them."""
    np = _np()
    if method != "logpmf":
        k = np.floor(k)
    value = _standard(distribution.methods, method, k, shapes)
    if value is None:
        return None
    most = distribution.most(*shapes)
    if method == "logpmf":
        inside = (k >= distribution.least) & (k == np.floor(k))
        return np.where(inside if most is None else inside & (k <= most), value, -inf)
    below, above = OUTSIDE[method]
    value = np.where(k >= distribution.least, value, below)
    return value if most is None else np.where(k < most, value, above)


def _of_line(distribution: Continuous, method: str, given: Sequence[Any]) -> Any:
    """Return the value of a method at (x - loc)/scale; None for an unknown method."""
    np = _np()
    x, *shapes, loc, scale = given
    has_scale = not (isinstance(scale, int) and scale == 1)
    at = (x - loc) / scale if has_scale else x - loc
    value = _standard(distribution.methods, method, at, shapes, distribution.symmetric)
    if value is None:
        return None
    if has_scale and method == "logpdf":
        value = value - np.log(scale)
    below, above = OUTSIDE[method]
    lower, upper = (end(*shapes) if callable(end) else end for end in (distribution.lower, distribution.upper))
    if not isinstance(upper, float) or upper < inf:
        value = np.where(at <= upper if distribution.closed else at < upper, value, above)
    if not isinstance(lower, float) or lower > -inf:
        value = np.where(at >= lower if distribution.closed else at > lower, value, below)
    return value


def _quantile(distribution: Continuous, method: str, given: Sequence[Any]) -> Any:
    """Return a quantile; None for an unknown one. Probabilities that are no such have none, as for SciPy."""
    q, *shapes, loc, scale = given
    if "ppf" not in distribution.methods or method == "isf" and not distribution.symmetric:
        return None
    value = distribution.methods["ppf"](q, *shapes)
    return loc + (value if method == "ppf" else -value) * scale


def _standard(methods: Mapping[str, Call], method: str, at: Any, shapes: Sequence[Any], symmetric: bool = False) -> Any:
    """Return the value of a method inside the support, by another method if the distribution does not list it."""
    other = COMPLEMENTS.get(method, "")
    if method in methods:
        return methods[method](at, *shapes)
    if symmetric and other in methods:
        return methods[other](-at, *shapes)
    if method in LOGARITHMS:
        plain = _standard(methods, LOGARITHMS[method], at, shapes, symmetric)
        return None if plain is None else _np().log(plain)
    return 1 - methods[other](at, *shapes) if other in methods else None
