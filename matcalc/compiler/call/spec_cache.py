"""Caches the specifications of functions by their input text, so that a later call parses nothing.

The key has the text and all options of the request. It does not cover rules of the user, so nothing is cached or found
while any are loaded.
"""

from __future__ import annotations

import sys
from typing import Any, ClassVar, Protocol

from matcalc.compiler.spec.spec import CompiledSpec
from matcalc.store import artefacts

CACHED_TARGETS = ("numba", "numpy")
"""The targets whose functions are cached."""
PLAIN = (str, int, float, bool, type(None))
is_on = True
"""Whether the cache is used. Tests that inspect how functions are built turn it off."""


class Inputs(Protocol):
    """The inputs of a request: a dataclass with a target."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def target(self) -> str: ...


def key(inputs: Inputs) -> tuple[str, ...]:
    """Return the key of a request, or () if it cannot be cached."""
    rulebook = sys.modules.get("matcalc.rulebook.load")
    if not is_on or inputs.target not in CACHED_TARGETS or (rulebook is not None and not rulebook.is_shipped()):
        return ()
    values = {name: getattr(inputs, name) for name in inputs.__dataclass_fields__}
    return (type(inputs).__name__, repr(values)) if _is_plain(values) else ()


def read(key: tuple[str, ...]) -> CompiledSpec | None:
    """Return the specification cached under a key, or None."""
    spec: CompiledSpec | None = artefacts.read("recall", key) if key else None
    return spec


def write(key: tuple[str, ...], spec: CompiledSpec) -> None:
    """Cache a specification, if its key is not empty."""
    if key:
        artefacts.write("recall", key, spec)


def _is_plain(value: Any) -> bool:
    """Whether a value consists of text and numbers only, whose `repr` identifies it."""
    if type(value) is dict:
        return all(map(_is_plain, (*value, *value.values())))
    if type(value) in (list, tuple):
        return all(map(_is_plain, value))
    return type(value) in PLAIN
