"""What a name that is not read may mean: one that a slip of the pen makes it, or what another system calls so.

The names of other systems are data, `elsewhere.toml`, each with how it is written here: proposed, never read.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from matcalc.language.identifiers import nearest


def proposal(name: str, known: Iterable[str]) -> str:
    """Return what to write in place of an unknown function, or nothing."""
    written = elsewhere().get(_plainly(name))
    return nearest(name, known).removeprefix("; ") if written is None else written and f"it is  {written}  here"


@cache
def elsewhere() -> Mapping[str, str]:
    """Return how what other systems call something is written here, by their names without case and underscores."""
    written = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["written"]
    return {_plainly(name): text for text, names in written.items() for name in names}


def _plainly(name: str) -> str:
    return name.lower().replace("_", "")
