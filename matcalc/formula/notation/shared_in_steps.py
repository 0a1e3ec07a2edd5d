"""Names the parts that occur several times in a long step of a recurrence, as quantities of the step.

A step is a DAG, and its text a tree. In a Runge-Kutta step each stage occurs several times in the next, so the tree has
millions of leaves. With names for such parts the text is as long as the DAG.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple

from matcalc.formula.notation.shared_parts import LEAST
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import LONG, Node, toposort
from matcalc.tensor.steps.recurrence import varying_parts
from matcalc.tensor.substitute import Batched, instantiate_all


class Named(NamedTuple):
    """Values of a step over the symbols of quantities, and the quantities that they read, over earlier ones."""

    bodies: list[Node]
    parts: dict[Node, Node]


def with_shared_parts(named: Named, bound: Collection[Node], new_name: Callable[[], str]) -> Named:
    """Return a long step with its shared parts as further quantities; `bound` are the symbols that vary.

    `new_name` returns a name for a quantity.
    """
    if sum(body.length for body in named.bodies) <= LONG:
        return named
    roots = [*named.parts.values(), *named.bodies]
    order = toposort(roots)
    uses = Counter(arg for node in order for arg in node.args)
    taken = {node.name for node in order if node.kind == "symbol"}
    varying = varying_parts(roots, {*bound, *named.parts})
    made: dict[Node, Batched] = {}
    parts: dict[Node, Node] = {}
    for node in order:
        if node in varying and node.args and uses[node] > 1 and node.length >= LEAST and node.kind != "recurrence":
            name = next(name for _ in repeat(None) if (name := new_name()) not in taken)
            own = symbol(name, node.shape, sorted(node.facts))
            parts[own] = _over([node], made)[0]
            made[node] = Batched(own)
    values = _over(list(named.parts.values()), made)
    parts.update(zip(named.parts, values, strict=True))
    return Named(_over(named.bodies, made), _in_order(parts))


def _over(nodes: Sequence[Node], made: Mapping[Node, Batched]) -> list[Node]:
    return [found.node for found in instantiate_all(nodes, made, {}, ())]


def _in_order(parts: Mapping[Node, Node]) -> dict[Node, Node]:
    """Return quantities, each after those that it reads."""
    found: dict[Node, Node] = {}
    reads = {own: {one for one in toposort(part) if one in parts} for own, part in parts.items()}
    while len(found) < len(parts):
        found.update((own, parts[own]) for own in parts if own not in found and reads[own] <= found.keys())
    return found
