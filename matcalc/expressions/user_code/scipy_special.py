"""Implements functions of `scipy.special` on symbols by others that the rulebook has.

Each is written so that it keeps its digits where SciPy's does; the forms for small arguments are those of the rulebook.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from matcalc.errors import NotSupported
from matcalc.expressions.user_code.python_calls import is_symbolic

OF_ORDER = {"j0": ("jv", 0), "j1": ("jv", 1), "i0": ("iv", 0), "i1": ("iv", 1), "k0": ("kv", 0), "k1": ("kv", 1)}
"""Bessel functions of a fixed order: the function of any order, and the order."""


def _of_order(name: str) -> Callable[[Any], Any]:
    """Return the Bessel function of this name, of one argument."""
    general, order = OF_ORDER[name]

    def bessel(x: Any) -> Any:
        from scipy import special

        return getattr(special, general)(order, x)

    bessel.__name__ = name
    return bessel


def i0e(x: Any) -> Any:
    import numpy as np
    from scipy import special

    return np.exp(np.log(special.iv(0, x)) - np.abs(x))


def kn(n: Any, x: Any) -> Any:
    """Return the Bessel function of an order that is an integer.

    Raises: NotSupported for an order that is a symbol or no integer.
    """
    from scipy import special

    if is_symbolic(n) or int(n) != n:
        raise NotSupported("scipy.special.kn takes an integer as its order", hint="write scipy.special.kv(n, x)")
    return special.kv(n, x)


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
    *map(_of_order, OF_ORDER), i0e, kn, log_expit, exp10, exprel, cosm1, powm1, boxcox, boxcox1p, inv_boxcox,
    inv_boxcox1p, huber, polygamma, pseudo_huber,
)  # fmt: skip
"""The functions of this module, by the names that SciPy has for them."""
