"""Implements functions of Python and of `math` on symbols, by their names."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Any

from matcalc.errors import NotSupported
from matcalc.expressions.loops.varying import Varying
from matcalc.expressions.numpy_bridge.arguments import is_array, length_in, size_of
from matcalc.expressions.numpy_bridge.index_sets import Run
from matcalc.tensor.nodes.node import Node


def is_symbolic(value: object) -> bool:
    """Whether a value is an array of symbols, a part of one or a size, or a list or tuple with one."""
    if isinstance(value, (list, tuple)):
        return any(map(is_symbolic, value))
    if isinstance(value, dict):
        return any(map(is_symbolic, value.values()))
    if getattr(getattr(value, "dtype", None), "kind", "") == "O" and not is_array(value):
        return any(map(is_symbolic, getattr(value, "flat", ())))
    return is_array(value) or isinstance(value, Varying) or length_in(value) is not None


def or_else(ours: Callable[..., Any], theirs: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls `ours` for symbols, and the original for numbers."""

    def called(*args: Any, **keywords: Any) -> Any:
        has_symbols = any(map(is_symbolic, args)) or any(map(is_symbolic, keywords.values()))
        return ours(*args, **keywords) if has_symbols else theirs(*args, **keywords)

    called.__name__ = called.__qualname__ = getattr(theirs, "__name__", "called")
    called.__module__ = getattr(theirs, "__module__", None) or "builtins"
    called.__doc__ = theirs.__doc__
    return called


def _len(value: Any) -> Any:
    if is_array(value) and value.node.shape:
        return value.shape[0]
    if isinstance(value, Varying) and value.back == value.ndim:
        return value.count
    return builtins.len(value)


def _extremum(name: str) -> Callable[..., Any]:
    """Return Python's `max` or `min` of scalars that are symbols, and of sizes."""
    theirs = getattr(builtins, name)

    def found(*args: Any, **keywords: Any) -> Any:
        import numpy as np

        items = list(args[0]) if builtins.len(args) == 1 else list(args)
        of_symbols = any(is_array(one) for one in items)
        of_sizes = any(length_in(one) is not None for one in items)
        if of_sizes and not keywords and all(isinstance(one, int) or length_in(one) is not None for one in items):
            return reduce(np.maximum if name == "max" else np.minimum, items)
        if keywords or not of_symbols or any(getattr(one, "ndim", 0) for one in items):
            return theirs(*args, **keywords)
        if name == "max":
            return reduce(lambda a, b: np.where(b > a, b, a), items)
        return reduce(lambda a, b: np.where(b < a, b, a), items)

    return found


def _sum(items: Iterable[Any], start: Any = 0) -> Any:
    import numpy as np

    if is_array(items):
        total: Callable[..., Any] = np.sum
        return total(items, axis=0) + start
    return builtins.sum(items, start)


class NumberType(type):
    """The type of `float` and `int` in a copied function: they are equal to Python's, and accept symbols and sizes."""

    own: type

    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        value: Any = args[0] if args else 0
        is_scalar = cls.own is float and is_array(value) and not value.node.shape
        return value if length_in(value) is not None or is_scalar else cls.own(*args, **keywords)

    def __instancecheck__(cls, value: object) -> bool:
        return builtins.isinstance(value, cls.own)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, cls.own)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.own

    def __hash__(cls) -> int:
        return hash(cls.own)


def number_types() -> dict[type, type]:
    """Return `float` and `int` on symbols and sizes, by Python's own; NumPy reads their attribute `dtype`."""
    import numpy as np

    own: tuple[type, ...] = (float, int)
    return {kind: NumberType(kind.__name__, (kind,), {"own": kind, "dtype": np.dtype(kind)}) for kind in own}


def _isinstance(value: Any, kinds: Any) -> bool:
    import numpy as np

    if is_array(value):
        node: Node = value.node
        own = (np.ndarray,) if node.shape else (float, np.floating, np.float64)
        expected = kinds if isinstance(kinds, tuple) else (kinds,)
        if any(kind in expected for kind in own):
            return True
    if length_in(value) is not None and int in (kinds if isinstance(kinds, tuple) else (kinds,)):
        return True
    return builtins.isinstance(value, kinds)


class SizeRange:
    """`range` of sizes: a subscript, `A[range(n), y]`. It has no numbers, so a loop over it raises."""

    def __init__(self, *bounds: Any) -> None:
        start, stop = (0, bounds[0]) if builtins.len(bounds) == 1 else bounds[:2]
        self.bounds, first = bounds, size_of(start)
        self.run = None if builtins.len(bounds) > 2 else Run(first, size_of(stop) - first)

    def __iter__(self) -> Any:
        return iter(builtins.range(*self.bounds))  # raises, with the name of the size

    def __len__(self) -> int:
        return builtins.len(builtins.range(*self.bounds))


BUILTINS: Mapping[str, Callable[..., Any]] = {
    "len": _len, "range": SizeRange, "max": _extremum("max"), "min": _extremum("min"), "sum": _sum,
    "isinstance": _isinstance,
}  # fmt: skip
"""Python's functions on symbols; `number_types` has its types."""
NUMPYS = {
    "exp": "exp", "expm1": "expm1", "log2": "log2", "log10": "log10", "log1p": "log1p", "sqrt": "sqrt", "sin": "sin",
    "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "fabs": "absolute", "isnan": "isnan", "isinf": "isinf",
    "isfinite": "isfinite", "hypot": "hypot", "pow": "power", "exp2": "exp2", "cbrt": "cbrt", "degrees": "degrees",
    "radians": "radians",
}  # fmt: skip
SPECIALS = {"erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "gammaln"}


def _scalar(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a function of scalars.

    Raises: NotSupported for an array, as Python raises.
    """

    def called(*args: Any) -> Any:
        if any(getattr(one, "ndim", 0) for one in args):
            raise NotSupported(f"math.{name} takes numbers, not arrays", hint=f"write np.{NUMPYS.get(name, name)}")
        return function(*args)

    return called


def _of_special(name: str) -> Callable[..., Any]:
    """Return a function of `scipy.special`, which is imported at the first call."""

    def called(*args: Any) -> Any:
        from scipy import special

        return getattr(special, name)(*args)

    return called


def math_calls() -> dict[str, Callable[..., Any]]:
    """Return the functions of `math` on symbols, by name."""
    import numpy as np

    found = {name: getattr(np, theirs) for name, theirs in NUMPYS.items()}
    found |= {name: _of_special(theirs) for name, theirs in SPECIALS.items()}
    found["log"] = lambda x, base=None: np.log(x) if base is None else np.log(x) / np.log(base)
    found["fsum"], found["prod"] = _sum, lambda xs, start=1: reduce(lambda a, b: a * b, xs, start)
    scalar = {name: _scalar(one, name) if name not in ("fsum", "prod") else one for name, one in found.items()}
    scalar["dist"] = lambda p, q: np.sqrt(np.sum((np.asarray(p) - np.asarray(q)) ** 2))
    return {name: one for name, one in scalar.items() if hasattr(math, name)}
