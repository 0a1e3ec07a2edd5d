"""Maps that jump, such as `sign` and `step`: the arguments whose sign changes at the jump, and its direction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from matcalc.calculus.templates import Template, jump_templates
from matcalc.tensor.nodes.node import Indices, Node, cached_on_node, exponent_of, toposort
from matcalc.tensor.substitute import Batched, instantiate, spread
from matcalc.tensor.sums import split_coef

Key = tuple[Node, Indices]
"""A node whose sign changes, up to a positive factor, and the indices at which it is read."""

Varies = Callable[[Node], bool]
"""Whether a node depends on the variables of a derivative."""


class Jump(NamedTuple):
    """A factor that jumps: its position in a product, and the direction (1 or -1) for each argument at which it jumps.

    A sign is 1 or -1 with the sign of its argument; any other jump is 1 where all arguments are positive, else 0.
    """

    position: int
    sides: dict[Key, int]
    is_sign: bool

    @staticmethod
    def of(position: int, node: Node, at: Indices, varies: Varies) -> Jump:
        return Jump(position, sides(node, at, varies), node.rule.parity == "odd")


def is_jump(node: Node) -> bool:
    """Whether a node is a map whose rule has the field `jumps`."""
    return node.kind == "map" and bool(node.rule.jumps)


def varies_with(wrt: Sequence[Node]) -> Varies:
    """Return a test of whether a node depends on one of these symbols."""
    known: dict[Node, bool] = dict.fromkeys(wrt, True)

    def varies(node: Node) -> bool:
        if node not in known:
            for part in toposort([node]):
                if part not in known:
                    known[part] = any(known[arg] for arg in part.args)
        return known[node]

    return varies


@cached_on_node
def arguments(node: Node) -> tuple[Node, ...]:
    """Return the arguments at which a map jumps by its rule, as nodes."""
    return tuple(entrywise(template, node) for template in jump_templates(node))


def entrywise(template: Template, node: Node, more: Sequence[Node] = ()) -> Node:
    """Return a formula in the operands of a map and further ones, all of the map's shape."""
    own = tuple(range(len(node.shape)))
    bound = {s: Batched(arg, own) for s, arg in zip(template.args, (*node.args, *more), strict=True)}
    return spread(instantiate(template.node, bound, template.sizes(node), node.shape), own, node.shape)


def sides(node: Node, at: Indices, varies: Varies) -> dict[Key, int]:
    """Return the varying arguments at which a map jumps, each with the side on which the map is greater."""
    found: dict[Key, int] = {}
    for inside in arguments(node):
        if varies(inside):
            side, root = up_to_sign(inside)
            found[root, at] = side
    return found


def up_to_sign(node: Node) -> tuple[int, Node]:
    """Return a sign s and a simpler node n so that s*n has the sign of `node`, without positive factors."""
    side = 1
    while True:
        coef, rest = split_coef(node)
        side = -side if coef < 0 else side
        sign, node = _of_one_sign(rest)
        side *= sign
        if node is rest:
            return side, node


def _of_one_sign(node: Node) -> tuple[int, Node]:
    """Return s and a simpler node n so that s*n has the sign of `node`; 1 and `node` if there is no simpler one."""
    if node.kind == "map" and len(node.args) == 1 and _rises_through_zero(node):
        return 1, node.args[0]
    if node.kind == "sum":
        return _of_all_terms(node) or (1, node)
    return 1, _only_factor(node)


def _rises_through_zero(node: Node) -> bool:
    return node.rule.monotone == "increasing" and node.rule.through == (0, 0)


@cached_on_node
def _of_all_terms(node: Node) -> tuple[int, Node] | None:
    """Return the sign and the node that all terms of a sum share, None if they share none."""
    found = {(side if coef > 0 else -side, root) for coef, arg in node.terms for side, root in [up_to_sign(arg)]}
    return found.pop() if len(found) == 1 else None


def _only_factor(node: Node) -> Node:
    """Return the one factor of an elementwise product whose sign may change; the node itself if there is none."""
    axes = tuple(range(node.rank))
    if node.kind != "product" or not all(at == axes for at in node.indices):
        return node
    odd: dict[Node, int] = {}
    for arg in node.args:
        base, exponent = exponent_of(arg)
        if exponent.denominator != 1:
            return node
        if "positive" not in base.facts:
            odd[base] = odd.get(base, 0) + int(exponent)
    left = [base for base, exponent in odd.items() if exponent % 2]
    return left[0] if len(left) == 1 else node
