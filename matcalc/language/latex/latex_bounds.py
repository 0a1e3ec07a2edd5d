r"""Reads the ranges of indices in LaTeX: `i=1` with a last value, `1 \le i \le n`, `j=i+1`, `(i,j) \in \Omega`.

A bound that contains the index of an outer sum is a condition on both: the sum over j from i + 1 to n is one over all
j up to n in which j >= i + 1. A set is the nonzero entries of a declared array.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import cast

from matcalc.language import syntax
from matcalc.language.latex.latex_axes import is_number, letters_in, offset_of, sum_of
from matcalc.language.latex.latex_layout import unbraced
from matcalc.language.latex.latex_scope import Index, Reading, Scope, fault, key_of, needed
from matcalc.language.one_based import added
from matcalc.language.syntax import Ast
from matcalc.language.write import text as written

_RANGES = r"write \sum_{i=1}^{n}, \sum_{i,j} or \sum_{1 \le i \le n}"


def range_of(index: Index) -> str:
    """Return the last value of an index that begins at 1, as text; "" if it is not known."""
    if index.high is None or index.low is None:
        return index.size
    return written(index.high) if is_number(index.low, 1) else ""


def bounds_of(
    reading: Reading, element: Ast, high: Ast | None, scope: Scope
) -> tuple[list[str], Ast | None, Ast | None, list[Ast]]:
    """Return the letters of indices, their first and last values, and the conditions that bound them.

    Raises: ParseError for any other relation.
    """
    signs = tuple(cast("tuple[str, ...]", element.value))
    if signs == ("==",) and high is not None and len(element.args) == 2:
        index, first, last, less = element.args[0], element.args[1], unbraced(high), 0
    elif len(signs) == 2 and signs[0] == "<=" and signs[1] in ("<=", "<") and high is None:
        first, index, last = element.args
        less = int(signs[-1] == "<")
    else:
        raise fault("the range of this sum is not supported", element, _RANGES)
    letters = index_letters(index)
    low, from_ = _bound(reading, first, scope)
    top, until = _bound(reading, last, scope)
    conditions: list[Ast] = []
    for letter in letters:
        own = Ast("name", (), letter, index.span)
        for bound, sign, tree in ((from_, ">=", low), (until, "<=", added(top, -less))):
            if bound is not None:
                conditions.append(Ast("condition", (own, tree), sign, element.span, element.at))
    if from_ is None and until is None:
        return letters, low, added(top, -less), []
    begin = low if from_ is None else _first(from_, first)
    end = added(top, -less) if until is None else _last(until, less)
    return (letters, begin, end, conditions) if end is not None else (letters, None, None, conditions)


def _bound(reading: Reading, layout: Ast, scope: Scope) -> tuple[Ast, tuple[Index, Ast] | None]:
    """Return a bound as a tree, with the outer index in it and the number that is added to that."""
    tree = cast(Ast, needed(reading, layout).tree)
    bound = [x for x in letters_in(layout) if x in scope.indices]
    if not bound or scope.indices[bound[0]].is_step:
        return tree, None
    return tree, (scope.indices[bound[0]], offset_of(reading, layout, bound))


def _first(bound: tuple[Index, Ast], layout: Ast) -> Ast:
    """Return the first value of an index that begins at another one plus a number.

    Raises: ParseError if it can be less than 1.
    """
    index, offset = bound
    low = index.low if index.low is not None else syntax.number(1)
    least = sum_of(low, offset)
    if least.head != "number" or cast(Fraction, least.value) < 1:
        raise fault("the first value of this index can be less than 1", layout, "subscripts count from 1")
    return syntax.number(1)


def _last(bound: tuple[Index, Ast], less: int) -> Ast | None:
    """Return the last value of an index that ends at another one plus a number; None if that has no last value."""
    index, offset = bound
    if index.high is None:
        return None
    below = offset.head == "number" and cast(Fraction, offset.value) <= less
    return index.high if below else added(sum_of(index.high, offset), -less)


def members(reading: Reading, element: Ast) -> tuple[dict[str, str], Ast]:
    r"""Return the indices of (i,j) \in \Omega with their sizes, and the condition that the entry of \Omega is not 0.

    Raises: ParseError if the set is not declared as an array of numbers.
    """
    left, right = element.args
    letters = _listed(left)
    key = key_of(right)
    names = reading.keys.get(key, ()) if key is not None else ()
    shape = reading.known.shapes.get(names[0], ()) if len(names) == 1 else ()
    if not names or not shape or names[0] in reading.known.indices:
        shown = "_".join(key) if key is not None else "S"
        kind = "vector(n)" if len(letters) == 1 else "matrix(m, n)"
        data = f"{', '.join(letters)}: index(N) for data that list its members; or {_RANGES}"
        hint = f"declare {shown}: {kind}, in which the members of the set are 1 and all others 0, or {data}"
        raise fault("the range of this sum is not supported", element, hint)
    if len(shape) != len(letters):
        hint = f"if {names[0]} is not the set, give the set another letter, and declare it"
        raise fault(f"{len(letters)} indices for {names[0]}, which has {len(shape)} axes", element, hint)
    part = syntax.part(syntax.name(names[0]), *map(syntax.name, letters))
    return dict(zip(letters, shape, strict=True)), Ast("compare", (part, syntax.number(0)), "!=", element.span)


def _listed(layout: Ast) -> Sequence[str]:
    layout = unbraced(layout)
    inner = layout.args if layout.head == "fence" and layout.value == "open" else (layout,)
    return [letter for one in inner for letter in index_letters(one)]


def index_letters(element: Ast) -> list[str]:
    items = element.args if element.head == "row" else (element,)
    if any(x.head != "letter" for x in items):
        is_pair = element.head == "fence" and element.value in ("angle", "open")
        hint = (
            r"write \sum_{i,j}, \sum_{i<j}, or \sum_{(i,j) \in E} with E: matrix(n, n), 1 for the pairs"
            if is_pair
            else ""
        )
        raise fault("an index is a letter", element, hint or r"write \sum_{i=1}^{n} or \sum_{i,j}")
    return [str(x.value[0]) for x in items]  # type: ignore[index]
