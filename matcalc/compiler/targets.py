"""The targets that code is emitted for; the first is the default. It imports nothing of matcalc."""

from __future__ import annotations

from collections.abc import Container

SPELLINGS = {
    "numba": ("numba",),
    "numpy": ("numpy",),
    "torch": ("torch", "array", "numpy"),
    "jax": ("jax", "array", "numpy"),
    "c": ("numba",),
}
"""The fields of an entry of `codegen/` that say it on a target: the first that is there."""
TARGETS = tuple(SPELLINGS)
FIELDS = tuple(dict.fromkeys(field for fields in SPELLINGS.values() for field in fields))
ON_NUMPY = tuple(target for target, fields in SPELLINGS.items() if target in fields and "array" not in fields)
"""The targets whose functions take and fill NumPy's arrays; the others return arrays of a framework, or are saved."""
SAVED = tuple(target for target, fields in SPELLINGS.items() if target not in fields)
"""The targets whose functions are files alone: the words of another target, translated."""


def spelling_of(said: Container[str], target: str) -> str:
    """Return which of the fields that an entry has says it on a target, empty where none does."""
    return next((field for field in SPELLINGS[target] if field in said), "")
