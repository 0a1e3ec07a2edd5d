r"""Reads the ranges of indices in LaTeX: `i=1` with a last value, `1 \le i \le n`, `j=i+1`, `(i,j) \in \Omega`.

A bound that contains the index of an outer sum is a condition on both: the sum over j from i + 1 to n is one over all
j up to n in which j >= i + 1. A set is the nonzero entries of a declared array.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import cast

from matcalc.language import syntax
from matcalc.language.latex.latex_axes import is_number, letters_in
from matcalc.language.latex.latex_linear import Form, extreme, form_of
from matcalc.language.latex.latex_scope import Index, Reading, Scope, fault, font_of, key_of, needed
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.one_based import added
from matcalc.language.syntax import Ast
from matcalc.language.write import text as written

_RANGES = r"write \sum_{i=1}^{n}, \sum_{i,j} or \sum_{1 \le i \le n}"


_DOTS = ("dots", "ldots", "cdots")


def range_of(index: Index) -> str:
    """Return the last value of an index that begins at 1, as text; "" if it is not known."""
    if index.high is None or index.low is None:
        return index.size
    return written(index.high) if is_number(index.low, 1) else ""


def as_range(element: Ast) -> Ast:
    r"""Return k \in \{1, \dots, K\} as 1 \le k \le K, anything else as it is."""
    if element.head != "relation" or element.value != (r"\in",):
        return element
    index, listed = element.args
    items = listed.args if listed.head == "fence" and listed.value == "set" else ()
    is_range = len(items) == 3 and items[1].head == "word" and items[1].value[0] in _DOTS  # type: ignore[index]
    if not is_range or index.head not in ("letter", "row"):
        return element
    return Ast("relation", (items[0], index, items[2]), ("<=", "<="), element.span, element.at)


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
    lows = [_bound(reading, x, scope) for x in _extremes(first, "max", scope)]
    tops = [_bound(reading, x, scope) for x in _extremes(last, "min", scope)]
    conditions: list[Ast] = []
    for letter in letters:
        own = Ast("name", (), letter, index.span)
        for bound, sign, tree in (*((x, ">=", y) for y, x in lows), *((x, "<=", added(y, -less)) for y, x in tops)):
            if bound is not None:
                conditions.append(Ast("condition", (own, tree), sign, element.span, element.at))
    begin = next((tree for tree, form in lows if form is None), None)
    end = next((tree for tree, form in tops if form is None), None)
    ends = added(end, -less) if end is not None else _last(cast(Form, tops[0][1]), less, scope)
    begin = begin if begin is not None else _first(cast(Form, lows[0][1]), first, scope)
    return (letters, begin, ends, conditions) if ends is not None else (letters, None, None, conditions)


def _extremes(layout: Ast, word: str, scope: Scope) -> Sequence[Ast]:
    r"""Return the bounds of a bound \min(t - 1, L) with an outer index, each of which is a condition.

    Raises: ParseError for two bounds without an outer index.
    """
    items = unbraced(layout).args
    is_called = layout.head == "row" and len(items) == 2 and items[0].head == "word" and items[0].value == (word, "\\")
    if not is_called or items[1].head != "fence" or not any(x in scope.indices for x in letters_in(layout)):
        return (layout,)
    bounds = items[1].args
    if sum(not any(x in scope.indices for x in letters_in(one)) for one in bounds) > 1:
        raise fault("this bound is not supported", layout, f"write one bound without an index in \\{word}(...)")
    return bounds


def _bound(reading: Reading, layout: Ast, scope: Scope) -> tuple[Ast, Form | None]:
    """Return a bound as a tree, and as a linear form if it has an outer index.

    Raises: ParseError for a bound that is not linear in outer indices.
    """
    tree = cast(Ast, needed(reading, layout).tree)
    bound = {x for x in letters_in(layout) if x in scope.indices and not scope.indices[x].is_step}
    if not bound:
        return tree, None
    form = form_of(tree)
    if not bound <= {*form} or any(abs(form[x]) != 1 for x in bound):
        raise fault("this bound is not supported", layout, "bounds are an outer index and a number or size: i + 1")
    return tree, form


def _first(form: Form, layout: Ast, scope: Scope) -> Ast:
    """Return the first value of an index that begins at a form of outer indices: 1, and the condition does the rest.

    Raises: ParseError if it can be less than 1.
    """
    least = extreme(form, scope.indices, False)
    if least is None or least.head != "number" or cast(Fraction, least.value) < 1:
        raise fault("the first value of this index can be less than 1", layout, "subscripts count from 1")
    return syntax.number(1)


def _last(form: Form, less: int, scope: Scope) -> Ast | None:
    """Return a last value of an index that ends at a form of outer indices; None if there is no largest value.

    Below another index it is that of the other one, so that both have one range.
    """
    outer = [x for x in form if x in scope.indices]
    if form.get("", Fraction(0)) <= less and {**form, "": 1} == {outer[0]: 1, "": 1}:
        return scope.indices[outer[0]].high
    largest = extreme(form, scope.indices, True)
    return None if largest is None else added(largest, -less)


def members(reading: Reading, element: Ast) -> tuple[dict[str, str], Ast | None]:
    r"""Return the indices of (i,j) \in \Omega with their sizes, and the condition that the entry of \Omega is not 0.

    The set \mathcal{A} beside the size A has all indices, without a condition.

    Raises: ParseError if the set is not declared as an array of numbers.
    """
    left, right = element.args
    letters = _listed(left)
    key = key_of(right)
    names = reading.keys.get(key, ()) if key is not None else ()
    if len(letters) == 1 and len(names) == 1 and names[0] in reading.known.sizes and font_of(right) == "script":
        return {letters[0]: names[0]}, None
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
