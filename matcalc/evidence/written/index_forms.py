"""Evaluates index forms and sums over indices, at all index values at once: each index is an axis."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from matcalc.errors import NoReference
from matcalc.evidence.written import indices
from matcalc.evidence.written.evaluator import Evaluator, Scope, Steps, Unmeasured
from matcalc.language.syntax import BINDERS, Ast, children


def binder(at: Evaluator, tree: Ast, scope: Scope) -> Steps:
    """Evaluate an index form or a sum over indices.

    Raises: NoReference for an index that subscripts no axis.
    """
    inner = _inside(at, tree, scope)
    _measure(at, tree, inner)
    body = yield tree.args[0], inner
    labels = [inner.bound[one] for one in _listed(tree)]
    lengths = [at.length(label) for label in labels]
    return (indices.over if tree.head == "index_form" else indices.summed)(body, labels, lengths)


def _listed(tree: Ast) -> tuple[str, ...]:
    return cast("tuple[str, ...]", tree.value)


def _inside(at: Evaluator, tree: Ast, scope: Scope) -> Scope:
    """Return the scope inside an index form. Its indices have the same labels wherever the form is evaluated."""
    own = at.labels.get(tree)
    if own is None:
        first = sum(map(len, at.labels.values()))
        own = at.labels[tree] = {one: first + k for k, one in enumerate(_listed(tree))}
    return replace(scope, bound={**scope.bound, **own})


def _measure(at: Evaluator, tree: Ast, inner: Scope) -> None:
    """Find the lengths of indices, also those of inner forms, from the axes that they subscript.

    Raises: NoReference for an index that subscripts no axis.
    """
    parts: list[tuple[Ast, Scope]] = []
    stack = [(tree.args[0], inner)]
    while stack:
        ast, scope = stack.pop()
        if ast.head in BINDERS:
            scope = _inside(at, ast, scope)
        elif ast.head == "function":
            continue
        elif ast.head == "part" and any(_unknown(at, one, scope) for one in ast.args[1:]):
            parts.append((ast, scope))
        stack.extend((child, scope) for child in children(ast))
    while parts:
        left = [pair for pair in parts if not _measured(at, *pair)]
        if len(left) == len(parts):
            raise NoReference("an index that subscripts no axis")
        parts = left


def _unknown(at: Evaluator, subscript: Ast, scope: Scope) -> bool:
    label = scope.bound.get(str(subscript.value)) if subscript.head == "name" else None
    return label is not None and label not in at.lengths


def _measured(at: Evaluator, tree: Ast, scope: Scope) -> bool:
    """Evaluate the base of a part and record the lengths of its indices; return whether that was possible."""
    if tree.args[0] not in at.measured:
        try:
            base = at.value(tree.args[0], scope)
        except Unmeasured:
            return False
        if not scope.parameters and not scope.is_base:
            at.measured[tree.args[0]] = base
    base = at.value(tree.args[0], scope)
    for one, length in zip(tree.args[1:], base.shape, strict=False):
        if _unknown(at, one, scope):
            at.lengths[scope.bound[str(one.value)]] = length
    return True
