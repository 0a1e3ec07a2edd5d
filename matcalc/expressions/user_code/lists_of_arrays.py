"""Lets NumPy's functions take lists of symbols as arrays: `np.mean([a, b])`, `np.linalg.norm([x, y])`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from matcalc.expressions.numpy_bridge.arguments import is_array

OF_ARRAYS = (
    "sum", "mean", "prod", "max", "min", "amax", "amin", "std", "var", "median", "average", "ptp", "cumsum", "cumprod",
    "sort", "diff", "dot", "vdot", "inner", "outer", "kron", "trapezoid", "trace", "transpose", "ravel", "squeeze",
    "reshape", "diag", "flip", "roll", "repeat", "tril", "triu", "nansum", "any", "all", "count_nonzero", "cross",
    "linalg.norm", "linalg.det", "linalg.slogdet", "linalg.inv", "linalg.solve",
)  # fmt: skip
"""NumPy's functions whose arguments may be lists of arrays, which NumPy stacks."""


def of_lists(theirs: Callable[..., Any], array: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a function that calls the original with lists of symbols as arrays."""

    @wraps(theirs)
    def called(*args: Any, **keywords: Any) -> Any:
        return theirs(*[array(one) if _holds_array(one) else one for one in args], **keywords)

    return called


def _holds_array(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(is_array(one) or _holds_array(one) for one in value)
