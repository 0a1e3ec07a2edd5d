"""Reads the BLAS routines of `codegen/routines.toml`, and defines the size classes of their calls.

The order of a call is the geometric mean of its sizes; the `BOUNDS` separate three classes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from matcalc.store.data_folders import data_folder

DEFAULT = "OpenBLAS of SciPy"
BOUNDS = (32, 256)
"""The largest small order, and the largest medium one."""
TRIED = (16, 100, 400)
"""The order at which each class is measured."""
CLASSES = ("small", "medium", "large")


@dataclass(frozen=True, slots=True)
class Routine:
    """A routine: its test arguments, the numbers of the sizes among them, the number of the compared result."""

    name: str
    arguments: tuple[str | float, ...]
    sizes: tuple[int, ...]
    result: int


@cache
def load_routines() -> Mapping[str, Routine]:
    """Read the routines by name."""
    read = tomllib.loads((data_folder("codegen") / "routines.toml").read_text(encoding="utf-8"))
    return {name: Routine(name, tuple(e["arguments"]), tuple(e["sizes"]), e["result"]) for name, e in read.items()}
