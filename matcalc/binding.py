"""Arguments by position and name, as Python binds them: for expressions and compiled functions alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matcalc.rulebook.fields import nearest


def bind(function: str, names: Sequence[str], args: Sequence[Any], keywords: Mapping[str, Any]) -> list[Any]:
    """Return the values of arguments in the order of `names`; `function` is what errors call that which takes them.

    Raises: TypeError, as Python does for its own functions, that names what is missing, unknown or given twice.

    Example:
        >>> bind("f", ["X", "w"], [1], {"w": 2})
        [1, 2]
    """
    takes = f"{function}({', '.join(names)})"
    if len(args) > len(names):
        count = f"{len(names)} argument{'s' if len(names) != 1 else ''}"
        raise TypeError(f"{takes} takes {count}, not {len(args)}")
    values = dict(zip(names, args, strict=False))
    for name, value in keywords.items():
        if name not in names:
            raise TypeError(f"{takes} has no argument {name}{nearest(name, names)}")
        if name in values:
            raise TypeError(f"{takes} is given {name} twice")
        values[name] = value
    missing = [name for name in names if name not in values]
    if missing:
        raise TypeError(f"{takes} lacks {', '.join(missing)}")
    return [values[name] for name in names]
