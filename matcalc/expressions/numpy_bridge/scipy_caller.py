"""Finds the SciPy function that requires an array of numbers, since SciPy has no protocol for its functions.

Elementwise functions of scipy.special use NumPy's protocol; all others convert their arguments to numbers somewhere
inside. The outermost of SciPy's frames is the function that the user called.
"""

from __future__ import annotations

import sys
from types import FrameType

from matcalc.rulebook.load import default_rulebook

THROUGH = ("scipy", "numpy", "matcalc")
"""Packages whose frames lie between a function of SciPy and the array."""


def scipy_function() -> tuple[str, str] | None:
    """Return the current function of SciPy, as users write it, and a replacement."""
    frame: FrameType | None = sys._getframe(1)
    found: tuple[str, str] | None = None
    while frame is not None:
        module, name = frame.f_globals.get("__name__") or "", frame.f_code.co_name
        if module.partition(".")[0] not in THROUGH:
            break
        wrapped = frame.f_locals.get("f")  # the function that a decorator of SciPy's calls
        if str(getattr(wrapped, "__module__", "")).startswith("scipy."):
            module, name = wrapped.__module__, getattr(wrapped, "__name__", name)
        if module.startswith("scipy.") and not name.startswith(("_", "<")):
            found = ".".join(module.split(".")[:2]), name
        frame = frame.f_back
    if found is None:
        return None
    module, name = found
    book = default_rulebook()
    parts = book.rules[name].names if name in book.rules else ()
    calls = [f"mc.{part}(...)" for part in (parts if name not in book.spellings else (name,))]
    return f"{module}.{name}", f"write {' or '.join(calls)}" if calls else "matcalc rules lists all operations"
