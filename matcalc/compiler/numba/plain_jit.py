"""Provides the decorators of generated code by public members of Numba alone, for versions without the private ones.

Results are the same. Calls take longer, every process compiles anew, and the memory of a function is never freed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def njit(*signature: Any, cache: bool = False, **options: Any) -> Callable[[Any], Any]:
    """Return `numba.njit`."""
    return numba.njit(*signature, **options)  # type: ignore[no-any-return]


def cfunc(signature: Any, cache: bool = False, **options: Any) -> Callable[[Any], Any]:
    """Return `numba.cfunc`."""
    return numba.cfunc(signature, **options)  # type: ignore[no-any-return]


def kernel(module: str) -> Callable[[Any], Any]:
    """Return a decorator that leaves a kernel as it is: Numba links it into each caller."""
    return lambda dispatcher: dispatcher


linked = kernel


def by_address(dispatcher: Any) -> Any:
    """Return the njit function itself."""
    return dispatcher
