"""Caches the specifications of functions by their input text, so that a later call parses nothing.

The key is the text, all options of the request, and the digest of the installation. A key does not cover rules of the
user, so nothing is cached or found while any are loaded.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Mapping
from typing import Any

from matcalc.compiler.spec.spec import CompiledSpec
from matcalc.store import cache_entries
from matcalc.store.installation import installation

KEPT = ("numba", "numpy")
"""The targets whose functions are cached."""
STEM = "recall"
PLAIN = (str, int, float, bool, type(None))
is_on = True
"""Whether the cache is used. Tests that inspect how functions are built turn it off."""


def key(kind: str, request: Mapping[str, Any]) -> str:
    """Return the key of a request, or "" if it cannot be cached; `kind` is the kind of function."""
    rulebook = sys.modules.get("matcalc.rulebook.load")
    if not is_on or request["target"] not in KEPT or (rulebook is not None and not rulebook.is_shipped()):
        return ""
    return f"{kind} {dict(request)!r}\n{installation()}" if _is_plain(dict(request)) else ""


def found(key: str) -> CompiledSpec | None:
    """Return the specification cached under a key, or None."""
    content = cache_entries.read(STEM, key) if key else None
    if content is None:
        return None
    spec: CompiledSpec = pickle.loads(content)
    return spec


def keep(key: str, spec: CompiledSpec) -> None:
    """Cache a specification, if its key is not empty."""
    if key:
        cache_entries.write(STEM, key, pickle.dumps(spec))


def _is_plain(value: Any) -> bool:
    """Whether a value consists of text and numbers only, whose `repr` identifies it."""
    if type(value) is dict:
        return all(map(_is_plain, (*value, *value.values())))
    if type(value) in (list, tuple):
        return all(map(_is_plain, value))
    return type(value) in PLAIN
