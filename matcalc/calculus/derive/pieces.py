"""Kinks inside of jumps: `step(relu(x))` is `step(x) + step(-x)/2`, which has the mean of both sides at 0.

A jump whose argument holds a kink (the field `pieces` of its rule says what it is on both sides) and is 0 wherever that
kink is met jumps there too, and not by itself. It is written as the sum over the sides of the kink, each with the
switch of that side, so that what it is multiplied with is combined with that switch.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from matcalc.calculus.derive.jumps import Varies, arguments, entrywise, is_jump, sides
from matcalc.calculus.derive.ties import weighed
from matcalc.calculus.templates import piece_templates
from matcalc.tensor.constructors import add, broadcast, number, zeros
from matcalc.tensor.node import Node, toposort
from matcalc.tensor.substitute import remake, substitute

Combined = Callable[[Node, Node], Node]

MOST_PIECES = 16
"""Pieces of one jump beyond which it is left as it is."""


def by_pieces(node: Node, varies: Varies, combined: Combined, most: int = MOST_PIECES) -> Node:
    """Return a jump as the sum over the sides of the kinks that it meets at its own zeros.

    `combined` is the product of a switch and what stands on its side.
    """
    if not is_jump(node):
        return node
    inside = arguments(node)
    if len(inside) == 1 and inside[0].is_zero:
        return broadcast(number(Fraction(0 if node.rule.parity == "odd" else 1, 2)), node.shape)
    met = [(k, root) for u in inside for k in _kinks(u) if varies(k) for root in _roots(k) if _is_zero_where(u, root)]
    if not met or most < 2:
        return weighed(node)
    kink, root = met[0]
    found = []
    for switch, _ in piece_templates(kink):
        on = entrywise(switch, kink)
        side = sides(on, (), lambda _: True)[root, ()]
        part = remake(node, {arg: _on_side(arg, root, side) for arg in node.args})
        found.append(combined(on, by_pieces(part, varies, combined, most // 2)))
    return add([(1, one) for one in found])


def _entries(node: Node) -> list[Node]:
    """Return the operands that a node reads at its own place alone, entry by entry."""
    if node.kind in ("map", "sum"):
        return list(node.args)
    axes = tuple(range(node.rank))
    if node.kind != "product" or node.out != axes or any(at and at != axes for at in node.indices):
        return []
    return [arg for arg, at in node.operands if at == axes]


def _reached(node: Node) -> set[Node]:
    """Return what a node is made of entry by entry."""
    stack, seen = [node], {node}
    while stack:
        inner = [arg for arg in _entries(stack.pop()) if arg not in seen]
        seen.update(inner)
        stack += inner
    return seen


def _kinks(node: Node) -> list[Node]:
    reached = _reached(node)
    return [n for n in toposort([node]) if n in reached and n.kind == "map" and n.rule.pieces]


def _roots(kink: Node) -> dict[Node, int]:
    """Return what changes its sign at a kink, and the side that its first piece is on."""
    switch = entrywise(piece_templates(kink)[0][0], kink)
    return {root: side for (root, _), side in sides(switch, (), lambda _: True).items()} if is_jump(switch) else {}


def _is_zero_where(node: Node, root: Node) -> bool:
    """Whether a node is 0 where `root` is, solved for one of its terms."""
    solved, value, node = root, zeros(root.shape), _on_side(node, root, 1)
    if root.kind == "sum" and not node.is_zero:
        inside = set(toposort([node]))
        coef, solved = next(((c, n) for c, n in root.terms if n in inside and n.kind != "number"), (0, root))
        if not coef:
            return False
        value = add([(-c / coef, n) for c, n in root.terms if n is not solved])
    return _vanishes(substitute(node, {solved: value}))


def _vanishes(node: Node) -> bool:
    """Whether a node is seen to be 0: of 0 an odd function, a product with it, a sum of such."""
    if node.is_zero:
        return True
    if node.kind == "map":
        keeps_zero = node.rule.parity == "odd" or node.rule.through == (0, 0)
        return len(node.args) == 1 and keeps_zero and _vanishes(node.args[0])
    if node.kind == "product":
        return any(map(_vanishes, node.args))
    return node.kind == "sum" and all(map(_vanishes, node.args))


def _on_side(node: Node, root: Node, side: int) -> Node:
    """Return a node where `root` has the sign of `side`: its kinks there by their pieces."""
    reached = _reached(node)
    made: dict[Node, Node] = {}
    for part in toposort([node]):
        if part not in reached:
            continue
        kept = {arg: made.get(arg, arg) for arg in part.args}
        pieces = piece_templates(part) if part.kind == "map" else ()
        met = [text for switch, text in pieces if _is_on(entrywise(switch, part), root, side)]
        made[part] = entrywise(met[0], part) if met else remake(part, kept)
    return made[node]


def _is_on(switch: Node, root: Node, side: int) -> bool:
    return is_jump(switch) and sides(switch, (), lambda _: True) == {(root, ()): side}
