"""Binds positional and keyword arguments as Python does, for expressions and compiled functions.

A single dictionary also passes arguments by name. It is needed for names that Python's call reserves: `fn({"out": x})`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matcalc.language.identifiers import MAX_BYTES, nearest, normalised, shown

OPTIONS = ("out", "check_facts")
"""Keywords of a call that are never arguments."""


def is_short(name: Any) -> bool:
    return isinstance(name, str) and name.isidentifier() and len(name) <= MAX_BYTES


def bind(function: str, names: Sequence[str], args: Sequence[Any], keywords: Mapping[str, Any]) -> list[Any]:
    """Return the values of the arguments in the order of `names`; `function` is the name used in error messages.

    Raises: TypeError, as for Python's own functions, naming the argument that is missing, unknown or given twice.

    Example:
        >>> bind("f", ["X", "w"], [1], {"w": 2})
        [1, 2]
        >>> bind("f", ["out"], [{"out": 1}], {})
        [1]
    """
    if len(args) == 1 and isinstance(args[0], Mapping) and not hasattr(args[0], "toarray"):  # SciPy's DOK is data
        twice = next((name for name in args[0] if name in keywords), None)
        if twice is not None:
            raise TypeError(f"{function} is given {twice} twice")
        return bind(function, names, (), {**args[0], **keywords})
    if not keywords and len(args) == len(names):
        return list(args)
    if not args and len(keywords) == len(names) and all(name in keywords for name in names):
        return [keywords[name] for name in names]
    takes = f"{function}({', '.join(names)})"
    if len(args) > len(names):
        count = f"{len(names)} argument{'s' if len(names) != 1 else ''}"
        raise TypeError(f"{takes} takes {count}, not {len(args)}")
    values = dict(zip(names, args, strict=False))
    for keyword, value in keywords.items():
        name = normalised(keyword) if isinstance(keyword, str) else keyword
        if name not in names:
            which = nearest(name, names) if is_short(name) else ": it is not a name"
            raise TypeError(f"{takes} has no argument {name if is_short(name) else shown(name)}{which}")
        if name in values:
            raise TypeError(f"{takes} is given {name} twice")
        values[name] = value
    missing = [name for name in names if name not in values]
    if missing:
        options = [name for name in missing if name in OPTIONS]
        how = f"; {options[0]}= is an option: pass arguments of this name in a dictionary" if options else ""
        raise TypeError(f"{takes} lacks {', '.join(missing)}{how}")
    return [values[name] for name in names]
