"""Means at kinks: products of jumps of one argument are combined before they are evaluated.

At a kink a derivative is the mean of the derivatives nearby, and so is what it is made of: `sign(0)` is 0, `step(0)` is
1/2. The mean of a product is not the product of the means: `sign(x).^2` is 1 on both sides of 0, and
`step(x).*step(-x)` is 0. So where a derivative multiplies maps that jump where the same argument changes its sign (the
field `jumps` of their rules), the product is written as what it is on both sides. Jumps of what is not varied are
values, not means, and stay as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from matcalc.calculus.templates import jump_templates
from matcalc.tensor.constructors import add, ones, product, zeros
from matcalc.tensor.node import Indices, Node, exponent_of, toposort
from matcalc.tensor.substitute import Batched, instantiate, rebuild, spread
from matcalc.tensor.sums import split_coef

MOST_TERMS = 64
"""Terms beyond which sums of jumps are not multiplied out."""

Key = tuple[Node, Indices]
"""What changes its sign, up to a positive factor, and the indices that it is read at."""

Varies = Callable[[Node], bool]


class Jump(NamedTuple):
    """A factor that jumps: its place in a product, and for each argument that it jumps at 1 or -1 for its direction.

    A sign is 1 or -1 with that of its argument; any other is 1 where all arguments are positive, else 0.
    """

    place: int
    sides: dict[Key, int]
    is_sign: bool


def averaged(roots: Sequence[Node], wrt: Sequence[Node]) -> list[Node]:
    """Return derivatives in the symbols `wrt` with products of jumps combined."""
    if not any(map(_is_jump, toposort(roots))):
        return list(roots)
    known: dict[Node, bool] = {}
    chosen = set(wrt)

    def varies(node: Node) -> bool:
        if node not in known:
            for part in toposort([node]):
                if part not in known:
                    known[part] = part in chosen or any(known[arg] for arg in part.args)
        return known[node]

    return rebuild(roots, lambda node: _combined(node, varies) if node.kind == "product" else node)


def _is_jump(node: Node) -> bool:
    return node.kind == "map" and bool(node.rule.jumps)


def _combined(node: Node, varies: Varies, most: int = MOST_TERMS) -> Node:
    """Return a product with jumps of one argument combined; sums of such are multiplied out for it."""
    if node.kind != "product":
        return node
    met = [set(_keys(arg, at, varies)) for arg, at in node.operands]
    counts = Counter(key for keys in met for key in keys)
    shared = {key for key, count in counts.items() if count > 1}
    if not shared:
        return node
    for place, keys in enumerate(met):
        arg, at = node.operands[place]
        if arg.kind == "sum" and keys & shared:
            left = most // len(arg.args)
            return _multiplied_out(node, place, varies, left) if left else node
    return _merged(node, [k for k, keys in enumerate(met) if keys & shared], varies)


def _multiplied_out(node: Node, place: int, varies: Varies, most: int) -> Node:
    arg, at = node.operands[place]
    others = [term for k, term in enumerate(node.operands) if k != place]
    made = [product(node.coef * coef, [*others, (term, at)], node.out, node.sizes) for coef, term in arg.terms]
    return add([(1, _combined(one, varies, most)) for one in made])


def _keys(node: Node, at: Indices, varies: Varies) -> list[Key]:
    """Return the arguments at whose zeros an operand at indices `at` jumps."""
    if _is_jump(node):
        return list(_sides(node, at, varies))
    if node.kind != "sum":
        return []
    found: list[Key] = []
    for term in node.args:
        if _is_jump(term):
            found += _sides(term, at, varies)
        elif term.kind == "product":
            outer = dict(zip(term.out, at, strict=True))
            inner = [(arg, own) for arg, own in term.operands if _is_jump(arg) and all(i in outer for i in own)]
            found += [key for arg, own in inner for key in _sides(arg, tuple(outer[i] for i in own), varies)]
    return found


def _sides(node: Node, at: Indices, varies: Varies) -> dict[Key, int]:
    """Return what a map jumps at, of what varies, and the side on which it is not below."""
    found: dict[Key, int] = {}
    own = tuple(range(len(node.shape)))
    for template in jump_templates(node):
        bound = {s: Batched(arg, own) for s, arg in zip(template.args, node.args, strict=True)}
        inside = spread(instantiate(template.node, bound, template.sizes(node), node.shape), own, node.shape)
        if varies(inside):
            side, root = _up_to_sign(inside)
            found[root, at] = side
    return found


def _up_to_sign(node: Node) -> tuple[int, Node]:
    """Return the side and a node that is positive on that side alone: less positive factors, out of odd functions."""
    side = 1
    while True:
        coef, rest = split_coef(node)
        side = -side if coef < 0 else side
        inner = _of_one_sign(rest)
        if inner is rest:
            return side, rest
        node = inner


def _of_one_sign(node: Node) -> Node:
    """Return the argument of a map that rises through 0, the one factor that may change the sign of a product."""
    if node.kind == "map" and len(node.args) == 1 and node.rule.monotone == "increasing" and node.rule.through == (0, 0):
        return node.args[0]
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


def _merged(node: Node, places: Sequence[int], varies: Varies) -> Node:
    """Return a product with what its jumps at `places` are together."""
    jumps = [Jump(k, _sides(node.args[k], node.indices[k], varies), node.args[k].rule.parity == "odd") for k in places]
    switches = sorted((jump for jump in jumps if not jump.is_sign), key=lambda jump: -len(jump.sides))
    kept, known = _switches_kept(switches)
    if kept is None:
        return zeros(node.shape)
    coef, signs = Fraction(1), dict[Key, list[Jump]]()
    for jump in jumps:
        if jump.is_sign:
            signs.setdefault(next(iter(jump.sides)), []).append(jump)
    for key, alike in signs.items():
        rest = [] if key in known else alike[: len(alike) % 2]
        for jump in alike[len(rest) :]:
            coef *= jump.sides[key] * known.get(key, 1)
        kept += [jump.place for jump in rest]
    dropped = set(places).difference(kept)
    operands = [(ones(arg.shape) if k in dropped else arg, at) for k, (arg, at) in enumerate(node.operands)]
    return product(node.coef * coef, operands, node.out, node.sizes)


def _switches_kept(switches: Sequence[Jump]) -> tuple[list[int] | None, dict[Key, int]]:
    """Return the places of the switches that say all, None if they exclude each other, and the sides they are on."""
    kept: list[int] = []
    known: dict[Key, int] = {}
    for jump in switches:
        agreed = [known[key] == side for key, side in jump.sides.items() if key in known]
        if not all(agreed):
            return None, known
        if len(agreed) < len(jump.sides):
            kept.append(jump.place)
            known.update(jump.sides)
    return kept, known
