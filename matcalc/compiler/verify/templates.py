"""Provides the names of NumPy templates: the functions of `codegen/numpy`, and those in a kernel's own sources."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from matcalc.compiler.kernels.library import load_library
from matcalc.compiler.lowering_entries import Kernel


def space_of(kernel: Kernel) -> dict[str, Any]:
    """Return the names available to the template of a kernel."""
    own = kernel.sources.get("numpy")
    return _own(own) if own else functions()


@cache
def functions() -> dict[str, Any]:
    """Return the functions of the target NumPy by name."""
    library = load_library("numpy")
    space: dict[str, Any] = {}
    exec("\n".join(dict.fromkeys(library.imports.values())), space)
    for item in library.items.values():
        exec(item.text, space)
    return space


@lru_cache(maxsize=256)
def _own(text: str) -> dict[str, Any]:
    space = dict(functions())
    exec(text, space)
    return space
