"""Converts constraints as text, `sum(w) == 1; w >= 0`, to SciPy's objects with exact derivatives.

Each comparison is the formula left - right. It is linear if its Jacobian contains no variable; rows with one nonzero
entry are bounds, which more methods support. `<` is read as `<=`, since the feasible set of a solver is closed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from matcalc.errors import ParseError
from matcalc.expressions.derivatives import name_of
from matcalc.expressions.expression import Expression
from matcalc.language.identifiers import by_name, shown
from matcalc.solvers.derivatives import Values
from matcalc.solvers.packing import Packing, Vector
from matcalc.solvers.problem_input import Inputs
from matcalc.tensor.nodes.node import toposort

RELATION = re.compile(r"<=|>=|==|!=|<|>")
OPENING, CLOSING = "([{", ")]}"
SPANS = {"==": (0.0, 0.0), "<=": (-np.inf, 0.0), "<": (-np.inf, 0.0), ">=": (0.0, np.inf), ">": (0.0, np.inf)}


class Comparison(NamedTuple):
    """A constraint as written, the text of its left side minus the right, and its relation."""

    text: str
    difference: str
    relation: str


def comparisons(text: str | Sequence[str]) -> list[Comparison]:
    """Return the comparisons in one or several texts; `0 <= w <= 1` is two comparisons.

    Raises: ParseError for a part that is no comparison of formulas, and for `!=`.
    """
    whole = text if isinstance(text, str) else ";".join(text)
    found = []
    for one in filter(None, (part.strip() for part in _split(whole))):
        sides, relations = _sides(one)
        if not relations or not all(sides):
            raise ParseError(
                f"{shown(one)} is no comparison: a constraint is two formulas with ==, <= or >= between them"
            )
        for k, relation in enumerate(relations):
            if relation not in SPANS:
                raise ParseError(f"{shown(one)}: a solver takes the constraints ==, <= and >=, not {relation}")
            found.append(Comparison(one, f"({sides[k]}) - ({sides[k + 1]})", relation))
    return found


def _split(text: str) -> list[str]:
    """Return the parts between semicolons and line ends outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in OPENING) - (letter in CLOSING)
        if depth <= 0 and letter in ";\n":
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _sides(text: str) -> tuple[list[str], list[str]]:
    """Return the formulas between the relations outside of brackets, and the relations."""
    sides, relations, depth, begin = [], [], 0, 0
    for found in re.finditer(r"[(\[{]|[)\]}]|<=|>=|==|!=|<|>", text):
        mark = found.group()
        depth += (mark in OPENING) - (mark in CLOSING)
        if depth == 0 and RELATION.fullmatch(mark):
            sides.append(text[begin : found.start()].strip())
            relations.append(mark)
            begin = found.end()
    return [*sides, text[begin:].strip()], relations


class Feasible(NamedTuple):
    """The feasible set of a solver's vector: bounds, and SciPy's constraints."""

    lower: Vector
    upper: Vector
    constraints: list[Any]


def feasible(given: Inputs, written: Sequence[Comparison], formulas: Sequence[Expression], at: ArrayLike) -> Feasible:
    """Return constraints as SciPy's objects, and those that are bounds as bounds.

    Raises: ValueError for a constraint without a variable.
    """
    from scipy.optimize import LinearConstraint, NonlinearConstraint

    lower, upper = np.full(given.packing.size, -np.inf), np.full(given.packing.size, np.inf)
    made: list[Any] = []
    for comparison, formula in zip(written, formulas, strict=True):
        values = Values(given, formula)
        if not _holds(formula, given):
            raise ValueError(f"the constraint {shown(comparison.text)} contains no variable")
        low, high = SPANS[comparison.relation]
        found = _linear(values, given, np.asarray(at, np.float64))
        if found is None:
            made.append(NonlinearConstraint(values.value, low, high, jac=values.jacobian, hess=values.curvature))
            continue
        A, b = found
        row_of, column_of = A.nonzero()
        single = (np.bincount(row_of, minlength=len(b)) == 1) & (comparison.relation != "==")
        for row, k in zip(row_of, column_of, strict=True):
            if single[row]:
                ends = sorted(((low - b[row]) / A[row, k], (high - b[row]) / A[row, k]))
                lower[k], upper[k] = max(lower[k], ends[0]), min(upper[k], ends[1])
        if not np.all(single):
            made.append(LinearConstraint(A[~single], low - b[~single], high - b[~single]))
    return Feasible(lower, upper, made)


def _holds(formula: Expression, given: Inputs) -> bool:
    symbols = {formula.names.symbols[name] for name in given.names if name in formula.names.symbols}
    return not symbols.isdisjoint(toposort(formula.node))


def _linear(values: Values, given: Inputs, at: Vector) -> tuple[Any, Vector] | None:
    """Return A and b of c(x) = A*x + b if the Jacobian contains no variable, else None."""
    if any(_holds(jacobian, given) for jacobian in values.jacobians):
        return None
    A = values.jacobian(at)
    return A, values.value(at) - A @ at


def bounded(packing: Packing, bounds: Any) -> tuple[Vector, Vector]:
    """Return the packed lower and upper bounds from pairs by name, or from SciPy's form of bounds.

    Raises: ValueError for a name that is no variable, for a value that is no pair, and for bounds of another shape.
    """
    from scipy.optimize import Bounds

    if isinstance(bounds, Bounds):
        size = (packing.size,)
        return np.array(np.broadcast_to(bounds.lb, size), float), np.array(np.broadcast_to(bounds.ub, size), float)
    if not isinstance(bounds, Mapping):
        pairs = [_pair("bounds", pair) for pair in bounds]
        if len(pairs) != packing.size:
            raise ValueError(f"bounds gives {len(pairs)} pairs for {packing.size} variables")
        return _ends(pairs, 0), _ends(pairs, 1)
    given = {name_of(key): pair for key, pair in by_name(bounds, "bounds=").items()}
    unknown = [name for name in given if name not in packing.shapes]
    if unknown:
        raise ValueError(f"bounds gives a pair for {', '.join(unknown)}, which is not in wrt")
    pairs = [_pair(name, given.get(name, (None, None))) for name in packing.shapes]
    sides = []
    for side, infinite in ((0, -np.inf), (1, np.inf)):
        ends = {n: infinite if p[side] is None else p[side] for n, p in zip(packing.shapes, pairs, strict=True)}
        sides.append(packing.pack(ends))
    return sides[0], sides[1]


def _pair(name: str, pair: Any) -> tuple[Any, Any]:
    try:
        low, high = pair
    except (TypeError, ValueError):
        raise ValueError(f"the bounds of {name} are a pair (lower, upper), not {shown(pair)}") from None
    return low, high


def _ends(pairs: Sequence[tuple[Any, Any]], side: int) -> Vector:
    infinite = (-np.inf, np.inf)[side]
    return np.array([infinite if pair[side] is None else pair[side] for pair in pairs], np.float64)
