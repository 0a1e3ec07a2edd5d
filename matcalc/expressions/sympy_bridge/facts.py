"""Reads SymPy's assumptions on a symbol as facts: its own, and those that `assuming` has set."""

from __future__ import annotations

from collections.abc import Mapping

from sympy import Basic
from sympy.assumptions.assume import global_assumptions

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

RELATIONS: Mapping[str, str] = {
    "StrictGreaterThan": "positive", "GreaterThan": "nonnegative", "gt": "positive", "ge": "nonnegative",
}  # fmt: skip
"""Facts of a symbol that a comparison with 0 states."""


def facts_of(node: Basic) -> tuple[str, ...]:
    """Return the facts of a Symbol, or of a MatrixSymbol: the strongest ones, which imply the others.

    Raises: NotSupported for a symbol that is not real; ShapeError if assumptions contradict each other.
    """
    is_matrix = bool(getattr(node, "is_Matrix", False))
    known = [] if is_matrix else [fact for name, fact in SCALARS.items() if getattr(node, f"is_{name}")]
    if not is_matrix and (node.is_extended_real is False or node.is_finite is False):
        raise NotSupported(f"the SymPy symbol {node} is not real: all symbols are real here")
    if not is_matrix and node.is_complex and not node.is_extended_real:
        raise NotSupported(f"the SymPy symbol {node} is complex: all symbols are real here, declare it real=True")
    assumed = _assumed(node)
    known += [fact for name, fact in (MATRICES if is_matrix else SCALARS).items() if name in assumed]
    book = default_rulebook()
    found = tuple(dict.fromkeys(known))
    excluded = book.contradiction(found)
    if "singular" in assumed and "nonsingular" in book.closure(found):
        excluded = ("singular", "nonsingular")
    if excluded is not None:
        raise ShapeError(f"SymPy assumes that {node} is {excluded[0]} and {excluded[1]}")
    return book.strongest(found)


def _assumed(node: Basic) -> set[str]:
    """Return the names of the predicates that are assumed of a symbol.

    The rulebook infers further facts, since SymPy's `ask` reports orthogonal matrices as positive definite.
    """
    found = set()
    stack = list(global_assumptions)
    while stack:
        assumption = stack.pop()
        kind = type(assumption).__name__
        if kind == "And":
            stack.extend(assumption.args)
        elif hasattr(assumption, "arguments") and assumption.arguments == (node,):
            found.add(str(assumption.function.name))
        elif hasattr(assumption, "arguments") and assumption.arguments == (node, 0):
            found.add(RELATIONS.get(str(assumption.function.name), ""))
        elif kind in RELATIONS and (assumption.lhs, assumption.rhs) == (node, 0):
            found.add(RELATIONS[kind])
        elif kind == "Not" and type(assumption.args[0]).__name__ == "AppliedPredicate":
            negated = assumption.args[0]
            if negated.arguments == (node,) and str(negated.function.name) == "singular":
                found.add("invertible")
    return found
