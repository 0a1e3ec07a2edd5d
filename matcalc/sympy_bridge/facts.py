"""What SymPy knows of a symbol as facts: its own assumptions, and those that `assuming` has put in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matcalc.errors import NotSupported, ShapeError
from matcalc.rulebook.load import default_rulebook

# An assumption of a Symbol, `is_positive`, or a predicate `Q.positive` -> fact. The field is real.
SCALARS: Mapping[str, str] = {"positive": "positive", "nonnegative": "nonnegative", "integer": "integer"}
MATRICES: Mapping[str, str] = {
    "symmetric": "symmetric",
    "hermitian": "symmetric",
    "antihermitian": "skew",
    "positive_definite": "spd",
    "orthogonal": "orthogonal",
    "unitary": "orthogonal",
    "lower_triangular": "lower",
    "upper_triangular": "upper",
    "diagonal": "diagonal",
    "invertible": "nonsingular",
}


def facts_of(node: Any) -> tuple[str, ...]:
    """Return the facts of a Symbol, or of a MatrixSymbol: those that imply all that is known.

    Raises: NotSupported for a symbol that is not real; ShapeError where assumptions contradict each other.
    """
    is_matrix = bool(getattr(node, "is_Matrix", False))
    known = [] if is_matrix else [fact for name, fact in SCALARS.items() if getattr(node, f"is_{name}")]
    if not is_matrix and (node.is_extended_real is False or node.is_finite is False):
        raise NotSupported(f"the SymPy symbol {node}, which is no real number: all symbols are real here")
    if not is_matrix and node.is_complex and not node.is_extended_real:
        raise NotSupported(f"the complex SymPy symbol {node}: all symbols are real here, declare it so")
    known += _assumed(node, MATRICES if is_matrix else SCALARS)
    book = default_rulebook()
    found = tuple(dict.fromkeys(known))
    weaker = {fact for fact in found for other in found if fact != other and fact in book.closure([other])}
    return tuple(fact for fact in found if fact not in weaker)


def _assumed(node: Any, table: Mapping[str, str]) -> list[str]:
    """Return the facts that SymPy derives from the assumptions in force."""
    import sympy
    from sympy.assumptions.assume import global_assumptions

    if not any(node in assumption.free_symbols for assumption in global_assumptions):
        return []
    try:
        return [fact for name, fact in table.items() if sympy.ask(getattr(sympy.Q, name)(node))]
    except ValueError as error:
        raise ShapeError(f"what SymPy assumes of {node}: {error}") from None
