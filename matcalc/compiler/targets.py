"""The targets that code is emitted for; the first is the default. This module imports nothing of matcalc."""

from __future__ import annotations

from collections.abc import Container

SPELLINGS = {
    "numba": ("numba",),
    "numpy": ("numpy",),
    "torch": ("torch", "array", "numpy"),
    "jax": ("jax", "array", "numpy"),
    "c": ("numba",),
}
"""The fields of `codegen/` entries that hold templates for a target, in order of preference."""
TARGETS = tuple(SPELLINGS)
FIELDS = tuple(dict.fromkeys(field for fields in SPELLINGS.values() for field in fields))
ON_NUMPY = tuple(target for target, fields in SPELLINGS.items() if target in fields and "array" not in fields)
"""The targets whose functions take and fill NumPy arrays; the others return a framework's arrays, or are files."""
SAVED = tuple(target for target, fields in SPELLINGS.items() if target not in fields)
"""The targets whose functions exist only as files, translated from the text of another target."""


def spelling_of(fields: Container[str], target: str) -> str:
    """Return the field of an entry that holds its template for a target, empty if none does."""
    return next((field for field in SPELLINGS[target] if field in fields), "")
