"""Proposes replacements for unknown names: the nearest known name, or our spelling of another system's name.

The names of other systems are data, `other_systems.toml`, each with our spelling: proposed, never accepted as input.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from matcalc.language.identifiers import nearest


def proposal(name: str, known: Iterable[str]) -> str:
    """Return a hint with the replacement of an unknown function, or ""."""
    written = elsewhere().get(_plainly(name))
    return nearest(name, known).removeprefix("; ") if written is None else written and f"write  {written}"


@cache
def elsewhere() -> Mapping[str, str]:
    """Return our spelling of other systems' names, by these names without case and underscores."""
    written = tomllib.loads(Path(__file__).with_name("other_systems.toml").read_text(encoding="utf-8"))["written"]
    return {_plainly(name): text for text, names in written.items() for name in names}


def _plainly(name: str) -> str:
    return name.lower().replace("_", "")
