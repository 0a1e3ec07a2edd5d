r"""Finds the extreme values of linear forms of indices, and proves that subscripts are inside their axis.

A bound with an outer index is a condition on both, and all pairs of indices are evaluated. The condition s <= t - 1 of
\sum_{s=1}^{t-1} w_s y_{t-s} keeps t - s inside. Elsewhere the subscript is taken modulo the length, and the condition
makes the term 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import cast

from matcalc.language import syntax
from matcalc.language.latex.latex_computed import collected, terms_of
from matcalc.language.latex.latex_scope import Index
from matcalc.language.read import read
from matcalc.language.syntax import Ast
from matcalc.language.write import text as written

Form = Mapping[str, Fraction]
"""A linear form: a number of times each name, and the constant by the empty name."""
_LESS = {"<": 1, "<=": 0}
_MORE = {">": 1, ">=": 0}


def form_of(tree: Ast) -> Form:
    """Return a tree as a linear form of its names; any other term is a name of its own."""
    found: Counter[str] = Counter()
    for times, term in terms_of(tree, 1):
        is_number = term.head == "number"
        found["" if is_number else written(term)] += times * (cast(Fraction, term.value) if is_number else 1)  # type: ignore[assignment]
    return cast(Form, {name: times for name, times in found.items() if times})


def extreme(form: Form, indices: Mapping[str, Index], is_largest: bool) -> Ast | None:
    """Return the least or the largest value of a form over the ranges of indices; None if a range is not known."""
    found: list[Ast] = [syntax.number(form.get("", Fraction(0)))]
    for name, times in form.items():
        index = indices.get(name)
        if not name or not times:
            continue
        bound: Ast | None = read(name)
        if index is not None:
            bound = _last(index) if is_largest == (times > 0) else index.low or syntax.number(1)
        if bound is None:
            return None
        found.append(syntax.product([syntax.number(times), bound], ["*"]))
    return collected(syntax.add(found, [1] * len(found)))


def _last(index: Index) -> Ast | None:
    return index.high if index.high is not None else read(index.size) if index.size else None


def kept_inside(position: Ast, place: Ast, length: str, first: int, indices: Mapping[str, Index]) -> Ast:
    """Return a position along an axis, modulo its length if only conditions on indices keep it inside.

    position: from 0. place: the subscript itself, in numbers of which `first` is that of the first entry.
    """
    if not length:
        return position
    own = form_of(place)
    before, behind = _less(own, {"": Fraction(first)}), _less(form_of(read(length)), own, first - 1)
    known = [_condition(x) for name in own if name in indices for x in indices[name].conditions]
    if all(_is_positive(side, [], indices) for side in (before, behind)):
        return position
    if not all(_is_positive(side, known, indices) for side in (before, behind)):
        return position
    return syntax.product([position, read(length)], ["%"])


def _less(one: Form, other: Form, more: int = 0) -> Form:
    """Return the difference of two forms, and a number."""
    found = {x: one.get(x, Fraction(0)) - other.get(x, Fraction(0)) for x in {*one, *other}}
    return {**found, "": found.get("", Fraction(0)) + more}


def _condition(condition: Ast) -> Form:
    """Return the form that is at least 0 where a condition between indices holds; an empty one for any other sign."""
    left, right = map(form_of, condition.args)
    sign = str(condition.value)
    if sign in _LESS:
        return _less(right, left, -_LESS[sign])
    return _less(left, right, -_MORE[sign]) if sign in _MORE else {}


def _is_positive(form: Form, known: Sequence[Form], indices: Mapping[str, Index]) -> bool:
    """Return whether a form, or the form less one of the known ones, is at least 0 in the ranges of the indices."""
    for rest in (form, *(_less(form, one) for one in known)):
        least = extreme(rest, indices, False)
        if least is not None and least.head == "number" and cast(Fraction, least.value) >= 0:
            return True
    return False
