"""How index forms and sums over indices are evaluated: all points of the indices at once, each index an axis."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from matcalc.errors import NoReference
from matcalc.evidence.written import indices
from matcalc.evidence.written.evaluator import Evaluator, Place, Steps, Unmeasured
from matcalc.language.syntax import BINDERS, Ast, children


def binder(at: Evaluator, tree: Ast, place: Place) -> Steps:
    inner = _inside(at, tree, place)
    _measure(at, tree, inner)
    body = yield tree.args[0], inner
    labels = [inner.bound[one] for one in _listed(tree)]
    lengths = [at.length(label) for label in labels]
    return (indices.over if tree.head == "index_form" else indices.summed)(body, labels, lengths)


def _listed(tree: Ast) -> tuple[str, ...]:
    return cast("tuple[str, ...]", tree.value)


def _inside(at: Evaluator, tree: Ast, place: Place) -> Place:
    """Return what names mean inside an index form: its indices have names of their own, wherever it is evaluated."""
    own = at.labels.get(tree)
    if own is None:
        first = sum(map(len, at.labels.values()))
        own = at.labels[tree] = {one: first + k for k, one in enumerate(_listed(tree))}
    return replace(place, bound={**place.bound, **own})


def _measure(at: Evaluator, tree: Ast, inner: Place) -> None:
    """Find the lengths of indices from the axes that they stand for, those of forms inside too.

    Raises: NoReference for an index that stands for no axis.
    """
    parts: list[tuple[Ast, Place]] = []
    stack = [(tree.args[0], inner)]
    while stack:
        ast, place = stack.pop()
        if ast.head in BINDERS:
            place = _inside(at, ast, place)
        elif ast.head == "function":
            continue
        elif ast.head == "part" and any(_unknown(at, one, place) for one in ast.args[1:]):
            parts.append((ast, place))
        stack.extend((child, place) for child in children(ast))
    while parts:
        left = [pair for pair in parts if not _measured(at, *pair)]
        if len(left) == len(parts):
            raise NoReference("an index that stands for no axis")
        parts = left


def _unknown(at: Evaluator, subscript: Ast, place: Place) -> bool:
    label = place.bound.get(str(subscript.value)) if subscript.head == "name" else None
    return label is not None and label not in at.lengths


def _measured(at: Evaluator, tree: Ast, place: Place) -> bool:
    """Evaluate what a part is a part of, where that is possible, and note the lengths of the indices in it."""
    if tree.args[0] not in at.measured:
        try:
            base = at.value(tree.args[0], place)
        except Unmeasured:
            return False
        if not place.parameters and not place.is_base:
            at.measured[tree.args[0]] = base
    base = at.value(tree.args[0], place)
    for one, length in zip(tree.args[1:], base.shape, strict=False):
        if _unknown(at, one, place):
            at.lengths[place.bound[str(one.value)]] = length
    return True
