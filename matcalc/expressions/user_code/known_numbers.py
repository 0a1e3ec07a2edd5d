"""Calls NumPy's functions on arrays of a traced function whose numbers are known, such as a table written in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matcalc.expressions.user_code.python_calls import is_symbolic


def called_on_numbers(
    function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[Any, bool]:
    """Return the result of a function of known numbers, and whether all arguments are known."""
    numbers = [_number(one) for one in args]
    named = {key: _number(one) for key, one in keywords.items()}
    if any(map(is_symbolic, (*numbers, *named.values()))):
        return None, False
    return function(*numbers, **named), True


def _number(value: Any) -> Any:
    """Return a value with known numbers for its arrays."""
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(map(_number, value))
    known = getattr(type(value), "known", None)
    found = known(value) if known is not None else None
    return value if found is None else found
