"""Reads the BLAS routines of `codegen/routines.toml`, and defines the orders at which they are tried."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from matcalc.store.data_folders import data_folder

DEFAULT = "OpenBLAS of SciPy"
TRIED = (16, 100, 400)
"""The orders at which a routine is measured."""


@dataclass(frozen=True, slots=True)
class Routine:
    """A routine: its test arguments and the number of the compared result among them."""

    name: str
    arguments: tuple[str | float, ...]
    result: int


@cache
def load_routines() -> Mapping[str, Routine]:
    """Read the routines by name."""
    read = tomllib.loads((data_folder("codegen") / "routines.toml").read_text(encoding="utf-8"))
    return {name: Routine(name, tuple(e["arguments"]), e["result"]) for name, e in read.items()}
