"""Kinks inside of jumps: `step(relu(x))` is `step(x) + step(-x)/2`, which has the mean of both sides at 0.

The argument of a jump may contain a kink (its rule has `pieces`, one for each side). If the argument is 0 wherever that
kink is, the jump is at the kink too. Such a jump becomes a sum over the sides of the kink, each with the switch of that
side. So its factors can be combined with that switch.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from matcalc.calculus.derive.jumps import Varies, arguments, entrywise, is_jump, sides, up_to_sign
from matcalc.calculus.derive.ties import weighed
from matcalc.calculus.templates import piece_templates
from matcalc.tensor.constructors import add, broadcast, number, zeros
from matcalc.tensor.nodes.node import Node, cached_on_node, toposort
from matcalc.tensor.substitute import remake, substitute
from matcalc.tensor.sums import split_coef

Combined = Callable[[Node, Node], Node]

MOST_KINKS = 12
"""The most kinks inside of a jump that are split into pieces."""

MOST_PIECES = 16
"""The most pieces of one jump; a jump with more is not split further."""


def by_pieces(node: Node, varies: Varies, combined: Combined, most: int = MOST_PIECES) -> Node:
    """Return a jump as the sum over the sides of the kinks at its own zeros.

    `combined` multiplies a switch by the piece on its side.
    """
    if not is_jump(node):
        return node
    inside = arguments(node)
    side = _constant_side(inside[0]) if len(inside) == 1 else None
    if side is not None:
        is_sign = node.rule.parity == "odd"
        return broadcast(number(Fraction(side) if is_sign else Fraction(side + 1, 2)), node.shape)
    if most < 2 or len(kinks := [k for u in inside for k in _kinks(u) if varies(k)]) > MOST_KINKS:
        return weighed(node)
    roots = dict.fromkeys((root, k) for k in kinks for sides, _ in _piece_sides(k) for root in sides)
    met = next(((root, k) for root, k in roots if any(_is_zero_where(u, root) for u in inside)), None)
    if met is None:
        tied = _pieces_at_tie(node) if [_constant_side(one) for one in inside].count(0) == 1 else []
        share = Fraction(1, max(len(tied), 1))
        return add([(share, by_pieces(one, varies, combined, most // 2)) for one in tied]) if tied else weighed(node)
    root, kink = met
    found = []
    for (switch, _), (known, _) in zip(piece_templates(kink), _piece_sides(kink), strict=True):
        if root in known:
            part = remake(node, {arg: on_side(arg, root, known[root]) for arg in node.args})
            found.append(combined(entrywise(switch, kink), by_pieces(part, varies, combined, most // 2)))
    return add([(1, one) for one in found])


def is_decided(node: Node) -> bool:
    """Whether an argument of a jump is one number that is not 0."""
    return any(_constant_side(one) in (-1, 1) for one in arguments(node))


def _pieces_at_tie(node: Node) -> list[Node]:
    """Return the pieces on both sides of an argument that is always 0: of `between(x, -x, x)`, at its upper bound."""
    sides_of_pieces = zip(piece_templates(node), _piece_sides(node), strict=True)
    return [entrywise(piece, node) for (_, piece), (_, side) in sides_of_pieces if side == 0]


def _entries(node: Node) -> list[Node]:
    """Return the operands that a node reads entry by entry, at its own indices."""
    if node.kind in ("map", "sum"):
        return list(node.args)
    axes = tuple(range(node.rank))
    if node.kind != "product" or node.out != axes or any(at and at != axes for at in node.indices):
        return []
    return [arg for arg, at in node.operands if at == axes]


def _reached(node: Node) -> set[Node]:
    """Return the nodes that a node depends on entry by entry."""
    stack, seen = [node], {node}
    while stack:
        inner = [arg for arg in _entries(stack.pop()) if arg not in seen]
        seen.update(inner)
        stack += inner
    return seen


def _kinks(node: Node) -> list[Node]:
    reached = _reached(node)
    return [n for n in toposort([node]) if n in reached and n.kind == "map" and n.rule.pieces]


@cached_on_node
def _piece_sides(node: Node) -> tuple[tuple[dict[Node, int], int | None], ...]:
    """Return for each piece of a kink the sides of the roots that select it, and the side if its switch is constant."""
    return tuple(_selecting_sides(entrywise(switch, node)) for switch, _ in piece_templates(node))


def _selecting_sides(switch: Node) -> tuple[dict[Node, int], int | None]:
    if not is_jump(switch):
        return {}, 1 if switch.kind == "number" and switch.value == 1 else None
    inside = arguments(switch)
    known = {root: side for (root, _), side in sides(switch, (), lambda _: True).items()}
    return known, _constant_side(inside[0]) if len(inside) == 1 else None


@cached_on_node
def kink_roots(node: Node) -> frozenset[Node]:
    """Return all roots of the kinks that a node depends on entry by entry."""
    return frozenset(root for kink in _kinks(node) for known, _ in _piece_sides(kink) for root in known)


def _is_zero_where(node: Node, root: Node) -> bool:
    """Whether a node is 0 where `root` is, with `root` solved for one of its terms."""
    node = on_side(node, root, 1)
    solved = {} if node.is_zero else _solved(node, root)
    return solved is not None and _vanishes(substitute(node, solved))


def _solved(node: Node, root: Node) -> dict[Node, Node] | None:
    """Return a part of a node and its value where `root` is 0."""
    if root.kind != "sum":
        return {root: zeros(root.shape)}
    inside = set(toposort([node]))
    coef, solved = next(((c, n) for c, n in root.terms if n in inside and n.kind != "number"), (0, root))
    return {solved: add([(-c / coef, n) for c, n in root.terms if n is not solved])} if coef else None


def limit_on_side(node: Node, root: Node, side: int) -> int | None:
    """Return the limit of a jump as `root` goes to 0 from a side, if its argument goes to 0 too; None if unknown.

    Other kinks in the argument are on one of their sides there: `max(x, -3)` is x where x is nearly 0.
    """
    inside = arguments(node)
    if len(inside) != 1 or not kink_roots(inside[0]) or not _is_zero_where(inside[0], root):
        return None
    near = _near_zero(inside[0], root, side)
    sign, alone = (0, near) if near is inside[0] else up_to_sign(near)
    if not sign or alone is not root:
        return None
    return sign * side if node.rule.parity == "odd" else int(sign == side)


def _near_zero(node: Node, root: Node, side: int) -> Node:
    """Return a node as it is where `root` is nearly 0, on a side."""
    node, reached = on_side(node, root, side), _reached(node)
    made: dict[Node, Node] = {}
    for part in toposort([node]):
        new = remake(part, {arg: made.get(arg, arg) for arg in part.args})
        while part in reached and (piece := _piece_near(new, root)) is not None:
            new = piece
        made[part] = new
    return made[node]


def _piece_near(node: Node, root: Node) -> Node | None:
    """Return the piece of a kink where `root` is nearly 0, if that is strictly on one side of the kink."""
    if node.kind != "map" or not node.rule.pieces:
        return None
    for (known, _), (_, piece) in zip(_piece_sides(node), piece_templates(node), strict=True):
        solved = [_solved(at, root) for at in known]
        sides_there = [
            _constant_side(_piece(substitute(at, where), None, 0)) if where is not None else None
            for at, where in zip(known, solved, strict=True)
        ]
        if known and all(there == expected for there, expected in zip(sides_there, known.values(), strict=True)):
            return entrywise(piece, node)
    return None


def _vanishes(node: Node) -> bool:
    """Whether a node is known to be 0: an odd or homogeneous function of 0, a product with 0, a sum of zeros."""
    node = _piece(node, None, 0)
    if node.is_zero:
        return True
    if node.kind == "map":
        is_odd = len(node.args) == 1 and (node.rule.parity == "odd" or node.rule.through == (0, 0))
        is_homogeneous = any(change.get("Y") == "c*Y" for change in node.rule.equivariant)
        return (is_odd or is_homogeneous) and all(map(_vanishes, node.args))
    if node.kind == "product":
        return any(map(_vanishes, node.args))
    return node.kind == "sum" and all(map(_vanishes, node.args))


def on_side(node: Node, root: Node, side: int) -> Node:
    """Return a node where `root` has the sign of `side`, with its kinks replaced by their pieces."""
    if root not in kink_roots(node):
        return node
    reached = _reached(node)
    made: dict[Node, Node] = {}
    for part in toposort([node]):
        if part not in reached:
            continue
        made[part] = _piece(remake(part, {arg: made.get(arg, arg) for arg in part.args}), root, side)
    return made[node]


def _constant_side(node: Node) -> int | None:
    """Return the sign of a node that is one number, None for any other."""
    coef, rest = split_coef(node)
    if node.is_zero:
        return 0
    is_one = rest.kind == "number" or rest.kind == "product" and not rest.args and rest.out == tuple(range(rest.rank))
    return (1 if coef > 0 else -1) if is_one else None


def _piece(node: Node, root: Node | None, side: int) -> Node:
    """Return the piece of a kink of the root on that side, resolved repeatedly; else the node itself."""
    while node.kind == "map":
        least = 1 if is_jump(node) else 0  # at the border of a kink both pieces are equal, so either is right
        pieces = enumerate(_piece_sides(node))
        matching = (
            k
            for k, (known, side_of_all) in pieces
            if (root is not None and known.get(root) == side) or (side_of_all is not None and side_of_all >= least)
        )
        k = next(matching, None)
        if k is None:
            break
        node = entrywise(piece_templates(node)[k][1], node)
    return node
