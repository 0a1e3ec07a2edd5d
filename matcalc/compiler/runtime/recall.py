"""Functions that were asked for by text, kept as their specifications: found again before anything is parsed.

The key is the text, all that was given with it, and what is installed; rules of the user's own are in no key, so that
nothing is kept or found where there are any.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Mapping
from typing import Any

from matcalc.compiler.runtime.spec import CompiledSpec
from matcalc.store import cache_entries
from matcalc.store.installation import installation

KEPT = ("numba", "numpy")
"""The targets whose functions are kept."""
STEM = "recall"
PLAIN = (str, int, float, bool, type(None))
is_on = True
"""Whether anything is kept and found; tests, which look at how functions are made, turn it off."""


def key(way: str, given: Mapping[str, Any]) -> str:
    """Return the key of what was asked for in a way, empty where there is none."""
    rulebook = sys.modules.get("matcalc.rulebook.load")
    if not is_on or given["target"] not in KEPT or (rulebook is not None and not rulebook.is_shipped()):
        return ""
    return f"{way} {dict(given)!r}\n{installation()}" if _is_plain(dict(given)) else ""


def found(key: str) -> CompiledSpec | None:
    """Return the specification that was kept under a key, None where there is none."""
    content = cache_entries.read(STEM, key) if key else None
    if content is None:
        return None
    spec: CompiledSpec = pickle.loads(content)
    return spec


def keep(key: str, spec: CompiledSpec) -> None:
    """Keep a specification, where it has a key."""
    if key:
        cache_entries.write(STEM, key, pickle.dumps(spec))


def _is_plain(value: Any) -> bool:
    """Whether a value is text and numbers alone, which say by themselves what they are."""
    if type(value) is dict:
        return all(map(_is_plain, (*value, *value.values())))
    if type(value) in (list, tuple):
        return all(map(_is_plain, value))
    return type(value) in PLAIN
