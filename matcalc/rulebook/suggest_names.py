"""Proposes replacements for unknown names: the nearest known name, or our spelling of another system's name.

The names of other systems are data, `other_systems.toml`, each with our spelling or a sentence: proposed, never
accepted as input.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from matcalc.language.identifiers import nearest


def proposal(name: str, known: Iterable[str]) -> str:
    """Return a hint with the replacement of an unknown function, or ""."""
    if _SUMS.fullmatch(name):
        return "write  sum{i: x[i]^2}  for a sum over an index"
    written, said = (elsewhere(kind).get(_plainly(name)) for kind in ("written", "said"))
    if said:
        return said
    return nearest(name, known).removeprefix("; ") if written is None else written and f"write  {written}"


_SUMS = re.compile(r"(sum|Sum|∑|Σ|Sigma)_?[a-z0-9_ᵢⱼₖ]{0,3}")
"""Sums over an index as papers write them: `Σ_i (...)`."""


@cache
def elsewhere(kind: str = "written") -> Mapping[str, str]:
    """Return our spelling of other systems' names, or a sentence about them, by name without case and underscores."""
    table = tomllib.loads(Path(__file__).with_name("other_systems.toml").read_text(encoding="utf-8"))[kind]
    return {_plainly(name): text for text, names in table.items() for name in names}


def _plainly(name: str) -> str:
    return name.lower().replace("_", "")
