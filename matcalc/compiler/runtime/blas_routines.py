"""The routines of `codegen/routines.toml`, and classes of the sizes that they are called with.

The order of a call is the geometric mean of its sizes; below and between the `BOUNDS` are three classes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from matcalc.store.data_folders import data_folder

BOUNDS = (32, 256)
"""The largest orders that are small and medium."""
TRIED = (16, 100, 400)
"""The order that each class is tried at."""
CLASSES = ("small", "medium", "large")


@dataclass(frozen=True, slots=True)
class Routine:
    """What a routine is tried with; which of its arguments are sizes; which is compared."""

    name: str
    arguments: tuple[str | float, ...]
    sizes: tuple[int, ...]
    result: int


@cache
def load_routines() -> Mapping[str, Routine]:
    """Read the routines by name."""
    read = tomllib.loads((data_folder("codegen") / "routines.toml").read_text(encoding="utf-8"))
    return {name: Routine(name, tuple(e["arguments"]), tuple(e["sizes"]), e["result"]) for name, e in read.items()}
