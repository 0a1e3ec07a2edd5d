"""Shortens nodes: generators propose equal forms, and one measure chooses the shortest to read.

The measure counts the printed tokens, then the operations. Generators know mathematics but not the measure: common
factors, denominators, masks. So the result is never longer than the input, whatever a generator proposes, and
shortening ends. Nodes that nobody reads, since they are only computed or too long, are shortened by an estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from weakref import WeakSet

from matcalc.errors import NotSupported
from matcalc.formula.notation.write_node import tokens_of
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.nodes.node import LONG, Node, cached_on_node, toposort
from matcalc.tensor.nodes.signature import tensors_of
from matcalc.tensor.substitute import remake

Measure = tuple[int, int]
Guide = Callable[[Node], Measure]
Generator = Callable[[Node], Iterable[Node]]


@cached_on_node
def measure(node: Node) -> Measure:
    """Return the tokens of a formula and its operations; a product or sum of k operands counts as k - 1."""
    try:
        tokens = tokens_of(node)
    except NotSupported:  # a literal array of order 3 has no text
        tokens = node.length
    return tokens, operations(node)


@cached_on_node
def estimate(node: Node) -> Measure:
    """Return an estimate of the measure, for nodes that are computed and not read."""
    return node.length, operations(node)


def length(node: Node) -> Measure:
    """Return the estimated tokens of a node that is computed, then its operations: more are better.

    Of two forms of equal length, that with fewer operations has a common denominator, whose higher power loses range.
    """
    return node.length, -operations(node)


def operations(node: Node) -> int:
    inner = (n for n in toposort(node) if n.args)
    return sum(len(n.args) - 1 if n.kind in ("product", "sum") else 1 for n in inner)


def shortened(roots: Sequence[Node], generators: Sequence[Generator], by: Guide = measure) -> list[Node]:
    """Return the roots with each node below them replaced by the shortest proposal of generators, operands first.

    Nodes that are printed by their shared parts remain. Their tokens are those of the tree, which nobody reads, and a
    recurrence of ten steps would be decomposed without end.
    """
    done: dict[Node, Node] = {}
    shortest = _shortest(tuple(generators), by)
    return [_shortened(root, generators, by, done, shortest) for root in roots]


@lru_cache(maxsize=16)
def _shortest(generators: tuple[Generator, ...], by: Guide) -> WeakSet[Node]:
    """Return the set of nodes for which no generator has a shorter proposal, filled while nodes are shortened."""
    return WeakSet()


def _shortened(
    root: Node, generators: Sequence[Generator], by: Guide, done: dict[Node, Node], shortest: WeakSet[Node]
) -> Node:
    for node in toposort(root, done):
        if node in done:
            continue
        longer = _still_known(node, done)
        made = remake(node, done | longer if longer else done)
        done[node] = done.setdefault(made, made)
        if done[node] is not made or made.length > LONG or made in shortest:
            continue
        tried = (min(generator(made), key=by, default=made) for generator in generators)
        best = next((other for other in tried if other is not made and by(other) < by(made)), made)
        if best is made:
            shortest.add(made)
        else:
            done[node] = done[made] = _shortened(best, generators, by, done, shortest)
    return done[root]


def _still_known(node: Node, done: Mapping[Node, Node]) -> dict[Node, Node]:
    """Return operands in longer forms if the shortest lack facts that an operation requires."""
    if node.kind != "op":
        return {}
    required = [default_rulebook().hull(parameter.facts) for parameter in tensors_of(node.rule.signature)]
    if not any(required):
        return {}
    required += required[-1:] * (len(node.args) - len(required))
    kept = {}
    for arg, facts in zip(node.args, required, strict=False):
        if not done[arg].facts.issuperset(facts):
            longer = remake(arg, done)
            kept[arg] = longer if longer.facts.issuperset(facts) else arg
    return kept
