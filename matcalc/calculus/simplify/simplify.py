"""Simplification: the rulebook's rewrites applied from the leaves up until none fits.

Every rewrite decreases a measure that the loader checks, so this ends. It runs before differentiation, so that smooth
functions are differentiated as one operation, and again on the derivative. If no rewrite fits, products of sums are
multiplied out if that is shorter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from matcalc.calculus.literals import literal
from matcalc.calculus.simplify.distribute import distributed
from matcalc.calculus.simplify.effort import Effort
from matcalc.calculus.simplify.index_choices import as_mask
from matcalc.calculus.simplify.norms import as_norm
from matcalc.calculus.simplify.rewrite import Applied, Rewriter
from matcalc.calculus.simplify.weights import unweighed
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.tensor.constructors import apply, operate
from matcalc.tensor.nodes.node import LONG, Node, toposort
from matcalc.tensor.steps.recurrence import with_bodies
from matcalc.tensor.substitute import remake

Record = Callable[[Node, Applied], None]


@lru_cache(maxsize=8)
def rewriter(book: Rulebook, numeric: bool = False, marks: bool = True) -> Rewriter:
    """Return the rewriter of a rulebook, with its patterns cached between calls."""
    return Rewriter(book, numeric, marks)


def simplify(root: Node, book: Rulebook | None = None, record: Record | None = None, splits: bool = True) -> Node:
    """Return an equal node on which no rewrite fits."""
    return simplify_all([root], book, record, splits)[0]


def simplify_all(
    roots: Sequence[Node], book: Rulebook | None = None, record: Record | None = None, splits: bool = True
) -> list[Node]:
    """Return the simplified roots; shared nodes are simplified once.

    With `splits`, operations on products and blocks become operations on their factors: longer to read, better to
    differentiate and to compute.
    """
    rules = rewriter(book or default_rulebook())
    chosen = Chosen(rules, splits, record, len(toposort(roots)) <= READABLE, Effort())
    done: dict[Node, Node] = {}
    for root in roots:
        _settle(root, done, chosen)
    return [done[root] for root in roots]


def stable_all(roots: Sequence[Node], book: Rulebook | None = None) -> list[Node]:
    """Return the roots in forms that lose no digits and do not overflow in numeric evaluation.

    It uses the rewrites of `simplify_all` that are not about matrices, and those for numbers. Sums are not expanded.
    """
    rules = rewriter(book or default_rulebook(), True)
    chosen, done = Chosen(rules, True, None, False, Effort()), dict[Node, Node]()
    for root in roots:
        _settle(root, done, chosen)
    return [done[root] for root in roots]


def without_marks(root: Node) -> Node:
    """Return a printed form simplified by the rewrites that introduce no marks: factors are divided out, t*x/t is x."""
    chosen, done = Chosen(rewriter(default_rulebook(), False, False), False, None, True, Effort()), dict[Node, Node]()
    _settle(root, done, chosen)
    return done[root]


def may_split(roots: Sequence[Node], book: Rulebook | None = None) -> bool:
    """Whether some operation in `roots` has a rewrite that splits."""
    rules = rewriter(book or default_rulebook())
    operations = (node for node in toposort(roots) if node.kind in ("map", "op"))
    return any(pattern.rewrite.splits for node in operations for pattern in rules.candidates(node))


READABLE = 80
"""The most nodes of a formula that is meant to be read; sums of larger ones are not multiplied out."""


class Chosen(NamedTuple):
    """The rewrites to use, the callback for each that fires, and whether products of sums are multiplied out."""

    rules: Rewriter
    splits: bool
    record: Record | None
    distributes: bool
    effort: Effort

    def apply(self, node: Node) -> Applied | None:
        return self.rules.apply(node, self.splits)


def _settle(root: Node, done: dict[Node, Node], rules: Chosen) -> None:
    """Fill `done` for `root`, operands first; the result of a rewrite is settled before the node that it replaces."""
    waiting: dict[Node, Node] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        if node in done:
            stack.pop()
            continue
        if node in waiting:
            done[node] = done[waiting.pop(node)]
            stack.pop()
            continue
        missing = [a for a in node.args if a not in done]
        if missing:
            stack.extend(reversed(missing))
            continue
        may = rules.effort.take(node)
        following = node if node in rules.rules.settled else _step(node, done, rules, may)
        if following is node or following in waiting:
            if following is node and rules.splits and (rules.distributes or rules.rules.numeric) and may:
                rules.rules.settled.add(node)
            done[node] = node
            stack.pop()
        else:
            waiting[node] = following
            stack.append(following)


def _step(node: Node, done: dict[Node, Node], rules: Chosen, may_match: bool) -> Node:
    if any(done[a] is not a for a in node.args):
        return remake(node, done)
    if not may_match or node.kind in ("symbol", "number", "size", "constant", "selector"):
        return node
    if node.kind in ("map", "op") and any(isinstance(p, Node) for p in node.params):
        bodies = tuple(_simple_body(p, rules) if isinstance(p, Node) else p for p in node.params)
        if bodies != node.params:
            return _with_params(node, bodies)
    if node.kind == "recurrence":
        return _with_simple_step(node, rules)
    applied = rules.apply(node)
    if applied is None and (found := _norm_or_number(node)) is not node:
        return found
    if applied is None:
        may = rules.distributes and node.length <= LONG
        return (may and distributed(node, lambda n: _at_root(n, rules))) or literal(node)
    if rules.record:
        rules.record(node, applied)
    return applied.node


def _norm_or_number(node: Node) -> Node:
    """Return a power of a sum of squares as one of a norm, a choice by indices as a mask, no marks of idle weights."""
    return as_norm(node) or as_mask(node) or unweighed(node)


MOST_STEPS = 20


def _at_root(node: Node, rules: Chosen) -> Node:
    """Return a node with the rewrites applied that fit it as a whole."""
    for _ in range(MOST_STEPS):
        applied = rules.apply(node)
        if applied is None:
            break
        node = applied.node
    return node


def _simple_body(body: Node, rules: Chosen) -> Node:
    """Return a function's body simplified, if it remains one: maps, sums and products of numbers."""
    done: dict[Node, Node] = {}
    _settle(body, done, rules)
    return done[body] if all(n.kind != "op" for n in toposort([done[body]])) else body


def _with_simple_step(node: Node, rules: Chosen) -> Node:
    """Return a recurrence with its step simplified."""
    done: dict[Node, Node] = {}
    for body in node.bodies:
        _settle(body, done, rules)
    return with_bodies(node, [done[body] for body in node.bodies])


def _with_params(node: Node, params: tuple[Any, ...]) -> Node:
    if node.kind == "map":
        return apply(node.rule, node.args, params)
    return operate(node.rule, node.args, params, node.batches, node.output, node.shape[: node.batch_rank])
