"""Provides the user's functions, passed as values of operations, for generated code to import by name."""

from __future__ import annotations

from typing import Any

from matcalc.rulebook.load import default_rulebook

COMPILED = "_njit"


def __getattr__(name: str) -> Any:
    function = default_rulebook().functions.get(name.removesuffix(COMPILED))
    if function is None:
        raise AttributeError(f"this process has defined no function {name}: define its operation first")
    if not name.endswith(COMPILED) or hasattr(function, "py_func"):
        return function
    from numba import njit

    return njit(error_model="numpy")(function)
