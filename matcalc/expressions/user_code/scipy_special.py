"""Implements functions of `scipy.special` on symbols by others that the rulebook has.

Each is written so that it keeps its digits where SciPy's does; the forms for small arguments are those of the rulebook.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from matcalc.errors import NotSupported
from matcalc.expressions.user_code.python_calls import is_symbolic

OF_ORDER = {
    "j0": ("jv", 0), "j1": ("jv", 1), "y0": ("yv", 0), "y1": ("yv", 1), "i0": ("iv", 0), "i1": ("iv", 1),
    "k0": ("kv", 0), "k1": ("kv", 1), "i0e": ("ive", 0), "i1e": ("ive", 1), "k0e": ("kve", 0), "k1e": ("kve", 1),
}  # fmt: skip
"""Bessel functions of a fixed order: the function of any order, and the order."""


def _of_order(name: str) -> Callable[[Any], Any]:
    """Return the Bessel function of this name, of one argument."""
    general, order = OF_ORDER[name]

    def bessel(x: Any) -> Any:
        from scipy import special

        return getattr(special, general)(order, x)

    bessel.__name__ = name
    return bessel


def _of_integer_order(name: str, general: str) -> Callable[[Any, Any], Any]:
    """Return the Bessel function of this name, whose order is an integer.

    It raises NotSupported for an order that is a symbol or no integer.
    """

    def bessel(n: Any, x: Any) -> Any:
        from scipy import special

        if is_symbolic(n) or int(n) != n:
            hint = f"write scipy.special.{general}(n, x)"
            raise NotSupported(f"scipy.special.{name} takes an integer as its order", hint=hint)
        return getattr(special, general)(n, x)

    bessel.__name__ = name
    return bessel


def jve(v: Any, z: Any) -> Any:
    """Return jv(v, z): the scale is that of the imaginary part, and symbols are real."""
    from scipy import special

    return special.jv(v, z)


def yve(v: Any, z: Any) -> Any:
    """Return yv(v, z): the scale is that of the imaginary part, and symbols are real."""
    from scipy import special

    return special.yv(v, z)


def beta(a: Any, b: Any) -> Any:
    """Return the beta function of positive arguments, by its logarithm.

    Raises: NotSupported for an argument that is not known to be positive: the logarithm has lost the sign.
    """
    import numpy as np

    if not all(one.node.range.nonnegative if is_symbolic(one) else np.all(np.asarray(one) >= 0) for one in (a, b)):
        hint = "declare what they contain as positive, or write gamma(a)*gamma(b)/gamma(a + b)"
        raise NotSupported("scipy.special.beta takes arguments that are known to be positive", hint=hint)
    return np.exp(next(one for one in (a, b) if hasattr(one, "by_rule")).by_rule("betaln", a, b))


def betaincc(a: Any, b: Any, x: Any) -> Any:
    from scipy import special

    return special.betainc(b, a, 1 - x)


def loggamma(z: Any) -> Any:
    """Return gammaln(z) of values that are known to be at least 0.

    Raises: NotSupported for others: loggamma has no real value below 0, gammaln has.
    """
    from scipy import special

    if not z.node.range.nonnegative:
        hint = "declare what it contains as positive, or write scipy.special.gammaln"
        raise NotSupported("scipy.special.loggamma has no real value for an argument below 0", hint=hint)
    return special.gammaln(z)


def erfcinv(y: Any) -> Any:
    import numpy as np
    from scipy import special

    return -special.ndtri(y / 2) / np.sqrt(2)


def log_expit(x: Any) -> Any:
    import numpy as np

    return -np.logaddexp(0, -x)


def exp10(x: Any) -> Any:
    import numpy as np

    return np.power(10.0, x)


def exprel(x: Any) -> Any:
    import numpy as np

    return np.expm1(x) / x


def cosm1(x: Any) -> Any:
    import numpy as np

    return -2 * np.sin(x / 2) ** 2


def powm1(x: Any, y: Any) -> Any:
    import numpy as np

    return np.expm1(y * np.log(x))


def boxcox(x: Any, lmbda: Any) -> Any:
    import numpy as np

    return _power_of(np.log(x), lmbda)


def boxcox1p(x: Any, lmbda: Any) -> Any:
    import numpy as np

    return _power_of(np.log1p(x), lmbda)


def _power_of(logarithm: Any, exponent: Any) -> Any:
    """Return (exp(exponent*logarithm) - 1)/exponent, which is the logarithm where the exponent is 0."""
    import numpy as np

    return np.expm1(exponent * logarithm) / exponent


def inv_boxcox(y: Any, lmbda: Any) -> Any:
    import numpy as np

    return np.exp(np.log1p(lmbda * y) / lmbda)


def inv_boxcox1p(y: Any, lmbda: Any) -> Any:
    import numpy as np

    return np.expm1(np.log1p(lmbda * y) / lmbda)


def huber(delta: Any, r: Any) -> Any:
    import numpy as np

    size = np.abs(r)
    near = np.where(size <= delta, r**2 / 2, delta * (size - delta / 2))
    if not is_symbolic(delta):
        if not np.all(np.asarray(delta) >= 0):
            raise NotSupported("scipy.special.huber takes a threshold of at least 0, below which it is infinite")
        return near
    return np.where(delta < 0, np.inf, near)


def polygamma(n: Any, x: Any) -> Any:
    """Return the derivative of digamma of an order that is a number.

    Raises: NotSupported for an order that is a symbol, an array or no integer from 0.
    """
    import numpy as np

    if is_symbolic(n) or np.ndim(n) or int(n) != n or n < 0:
        raise NotSupported("scipy.special.polygamma takes an integer from 0 as its order")
    return x.by_rule("polygamma", int(n), x)


def pseudo_huber(delta: Any, r: Any) -> Any:
    import numpy as np

    return delta**2 * (np.sqrt(1 + (r / delta) ** 2) - 1)


SPECIAL: Sequence[Callable[..., Any]] = (
    *map(_of_order, OF_ORDER), _of_integer_order("kn", "kv"), _of_integer_order("yn", "yv"), jve, yve, beta, betaincc,
    loggamma, erfcinv, log_expit, exp10, exprel, cosm1, powm1, boxcox, boxcox1p, inv_boxcox, inv_boxcox1p, huber,
    polygamma, pseudo_huber,
)  # fmt: skip
"""The functions of this module, by the names that SciPy has for them."""
