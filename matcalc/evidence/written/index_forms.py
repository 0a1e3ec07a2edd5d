"""Evaluates index forms and sums over indices, at all index values at once: each index is an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from matcalc.errors import NoReference
from matcalc.evidence.written import indices
from matcalc.evidence.written.evaluator import Evaluator, Scope, Steps, Unmeasured
from matcalc.language.syntax import BINDERS, Ast, children, walk


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
    limited: set[int] = set()
    stack = [(tree.args[0], inner)]
    while stack:
        ast, scope = stack.pop()
        if ast.head in BINDERS:
            scope = _inside(at, ast, scope)
        elif ast.head == "function":
            continue
        elif ast.head == "part" and any(_unknown(at, one, scope) for one in ast.args[1:]):
            parts.append((ast, scope))
            for one in ast.args[1:]:
                limited.update(_unknown(at, one, scope) if one.head != "name" else ())
        stack.extend((child, scope) for child in children(ast))
    inside: dict[int, list[tuple[Ast, Scope, int]]] = {label: [] for label in limited}
    while parts:
        left = [pair for pair in parts if not _measured(at, *pair, inside)]
        if len(left) == len(parts):
            raise NoReference("an index that subscripts no axis")
        parts = left
        waiting = {label for ast, scope in parts for one in ast.args[1:] for label in _unknown(at, one, scope)}
        for label in [label for label, found in inside.items() if found and label not in waiting]:
            at.starts[label], at.lengths[label] = _range(at, label, inside.pop(label))


def _unknown(at: Evaluator, subscript: Ast, scope: Scope) -> list[int]:
    """Return the index that a subscript is, or computes with, if its length is not known."""
    if subscript.head in ("slice", "part"):
        return []
    inner = list(walk(subscript, ("part", *BINDERS)))
    if any(node.head == "product" and "%" in cast("tuple[str, ...]", node.value) for node in inner):
        return []
    labels = {scope.bound[str(node.value)] for node in inner if node.head == "name" and node.value in scope.bound}
    return [label for label in labels if len(labels) == 1 and label not in at.lengths]


def _measured(at: Evaluator, tree: Ast, scope: Scope, inside: dict[int, list[tuple[Ast, Scope, int]]]) -> bool:
    """Evaluate the base of a part and record the axes of its indices; return whether that was possible."""
    is_outer = not scope.parameters and not scope.is_base
    base = at.measured.get(tree.args[0]) if is_outer else None
    if base is None:
        try:
            base = at.value(tree.args[0], scope)
        except Unmeasured:
            return False
        if is_outer:
            at.measured[tree.args[0]] = base
    for one, length in zip(tree.args[1:], base.shape, strict=False):
        for label in _unknown(at, one, scope):
            if label in inside:
                inside[label].append((one, scope, length))
            else:
                at.lengths[label] = length
    return True


def _range(at: Evaluator, label: int, uses: Sequence[tuple[Ast, Scope, int]]) -> tuple[int, int]:
    """Return the first number for which all subscripts are inside their axes, and how many there are.

    All numbers up to one beyond the axes are tried.
    """
    at.lengths[label] = 1
    firsts = [abs(int(at.value(tree, scope).array.reshape(-1)[0])) for tree, scope, _ in uses]
    count = at.lengths[label] = sum(firsts) + sum(length for *_, length in uses) + 1
    allowed = np.ones(count, dtype=bool)
    for tree, scope, length in uses:
        places = np.broadcast_to(at.value(tree, scope).array.reshape(-1), count)
        allowed &= (places >= 0) & (places < length)
    found = np.flatnonzero(allowed)
    if found.size and found[-1] - found[0] != found.size - 1:
        raise NoReference("an index whose numbers are not consecutive")
    return (int(found[0]) if found.size else 0), found.size
