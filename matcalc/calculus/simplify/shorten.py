"""Shortening: generators say what else a node may be, one measure decides; what is read is the shortest of equal forms.

The measure is the tokens that a reader reads, then the operations. Generators know mathematics and no measure: common
factors, denominators, masks. So what is shortened is never longer than what was given, whatever a generator proposes,
and shortening ends. What nobody reads, since it is computed or too long, is shortened by an estimate of the measure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from matcalc.errors import NotSupported
from matcalc.formula.notation.write_node import tokens_of
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.node import LONG, Node, kept_with_node, toposort
from matcalc.tensor.signature import tensors_of
from matcalc.tensor.substitute import remake

Measure = tuple[int, int]
Guide = Callable[[Node], Measure]
Generator = Callable[[Node], Iterable[Node]]


@kept_with_node
def measure(node: Node) -> Measure:
    """Return the tokens of a formula and its operations, a product or sum of k operands as k - 1."""
    try:
        tokens = tokens_of(node)
    except NotSupported:  # a literal array of order 3 has no text
        tokens = node.length
    return tokens, operations(node)


@kept_with_node
def estimate(node: Node) -> Measure:
    """Return about what the measure is, of what is computed and not read."""
    return node.length, operations(node)


def operations(node: Node) -> int:
    inner = (n for n in toposort(node) if n.args)
    return sum(len(n.args) - 1 if n.kind in ("product", "sum") else 1 for n in inner)


def shortened(roots: Sequence[Node], generators: Sequence[Generator], by: Guide = measure) -> list[Node]:
    """Return the roots with each node below them replaced by the shortest that generators make of it, operands first.

    What is written by its shared parts stays: the tokens of such a node are those of its tree, which nobody reads, and
    a recurrence of ten steps would be taken apart without end.
    """
    done: dict[Node, Node] = {}
    return [_shortened(root, generators, by, done) for root in roots]


def _shortened(root: Node, generators: Sequence[Generator], by: Guide, done: dict[Node, Node]) -> Node:
    for node in toposort(root, done):
        if node in done:
            continue
        longer = _still_known(node, done)
        made = remake(node, done | longer if longer else done)
        done[node] = done.setdefault(made, made)
        if done[node] is not made or made.length > LONG:
            continue
        tried = (min(generator(made), key=by, default=made) for generator in generators)
        best = next((other for other in tried if other is not made and by(other) < by(made)), made)
        if best is not made:
            done[node] = done[made] = _shortened(best, generators, by, done)
    return done[root]


def _still_known(node: Node, done: Mapping[Node, Node]) -> dict[Node, Node]:
    """Return operands in longer forms, where what an operation asks of them is not known of the shortest."""
    if node.kind != "op":
        return {}
    asked = [default_rulebook().hull(parameter.facts) for parameter in tensors_of(node.rule.signature)]
    if not any(asked):
        return {}
    asked += asked[-1:] * (len(node.args) - len(asked))
    kept = {}
    for arg, facts in zip(node.args, asked, strict=False):
        if not done[arg].facts.issuperset(facts):
            longer = remake(arg, done)
            kept[arg] = longer if longer.facts.issuperset(facts) else arg
    return kept
