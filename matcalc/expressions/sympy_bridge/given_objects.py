"""What users hand over where a name or a formula is expected: whether it is SymPy's, which symbol, which entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from matcalc.errors import NotSupported, ParseError
from matcalc.expressions.sympy_bridge.plain_names import plain_name
from matcalc.language.identifiers import identifier, shown

if TYPE_CHECKING:
    from sympy import Basic, Matrix

ENTRIES = ("MatrixElement", "ArrayElement", "Indexed")


def is_sympy(value: object) -> TypeGuard[Basic]:
    """Whether a value is of a class of SymPy, or of one derived from it."""
    return any((kind.__module__ or "").partition(".")[0] == "sympy" for kind in type(value).__mro__)


def is_explicit(value: object) -> TypeGuard[Matrix]:
    """Whether a value is a SymPy matrix of entries."""
    return is_sympy(value) and getattr(value, "is_Matrix", False) and not getattr(value, "is_MatrixExpr", False)


def is_indexed(value: object) -> bool:
    """Whether a value is an IndexedBase, of which only entries are formulas."""
    return type(value).__name__ == "IndexedBase" and is_sympy(value)


def name_of(theirs: Basic | str) -> str:
    """Return the name of a SymPy symbol or size, as the language writes it.

    Raises: NotSupported for what is no identifier, or one that Python reads as another.
    """
    name = str(theirs)
    try:
        plain = identifier(name, "the SymPy symbol")
    except ParseError as fault:
        raise NotSupported(f"the SymPy symbol {shown(name)}: rename it, its name is no identifier") from fault
    if plain != name:
        raise NotSupported(f"the SymPy symbol {shown(name)}: rename it {plain}, as which Python reads its name")
    return name


def symbol_name(value: object) -> str | None:
    """Return the name of a SymPy symbol of any kind; None for anything else."""
    if not is_sympy(value) or type(value).__name__ in ENTRIES:
        return None
    plain = plain_name(value)
    if plain is not None:
        return plain
    name = getattr(value, "name", None)
    return name if isinstance(name, str) else getattr(name, "name", None)


def entry_of(value: object) -> tuple[Basic, tuple[int, ...]] | None:
    """Return the SymPy symbol whose entry a value is, and the place; None for anything else, symbolic places too."""
    kind = type(value).__name__
    if kind not in ENTRIES or not is_sympy(value):
        return None
    whole, *places = value.args if kind != "ArrayElement" else (value.name, *value.indices)
    if symbol_name(whole) is None or not all(getattr(place, "is_Integer", False) for place in places):
        return None
    lengths = getattr(whole, "shape", None) or (None,) * len(places)
    kept = [int(p) for p, length in zip(places, lengths, strict=True) if length != 1]
    return whole, tuple(kept)
