"""Means at kinks: products of jumps of one argument are combined before they are evaluated.

At a kink a derivative is the mean of the derivatives nearby, and so are its parts: `sign(0)` is 0, `step(0)` is 1/2.
But the mean of a product is not the product of the means: `sign(x).^2` is 1 on both sides of 0, and
`step(x).*step(-x)` is 0. If a derivative multiplies maps that jump with the sign of one argument (`jumps` of their
rules), the product becomes its value on both sides. Jumps of arguments that do not vary are values, not means, and
remain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import product as cartesian
from math import prod

from matcalc.calculus.derive.choices import chosen_from, chosen_together, is_choice
from matcalc.calculus.derive.jumps import Jump, Key, is_jump, sides, varies_with
from matcalc.calculus.derive.kinks_inside_jumps import by_pieces, is_decided, limit_on_side, on_side
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import add, apply, hadamard, ones, product, scale, zeros
from matcalc.tensor.nodes.node import Indices, Node, Operand, toposort
from matcalc.tensor.substitute import rebuild, remake

MOST_TERMS = 16
"""The most terms for which sums of jumps are multiplied out."""


def averaged(roots: Sequence[Node], wrt: Sequence[Node]) -> list[Node]:
    """Return derivatives in the symbols `wrt` with products of jumps combined."""
    if not any(is_jump(node) or is_choice(node) for node in toposort(roots)):
        return list(roots)
    return rebuild(roots, Means(wrt).change)


class Means:
    """The jumps of nodes that depend on some symbols, and products of these jumps."""

    def __init__(self, wrt: Sequence[Node]) -> None:
        self.varies = varies_with(wrt)
        self.found: dict[Node, tuple[Key, ...]] = {}

    def change(self, node: Node) -> Node:
        """Return a product with jumps combined, or a jump as its pieces on both sides of its kinks."""
        return self.combined(node) if node.kind == "product" else by_pieces(node, self.varies, self.multiplied)

    def multiplied(self, switch: Node, part: Node) -> Node:
        """Return the product of a switch and the piece on its side."""
        return self.combined(hadamard(switch, part))

    def combined(self, node: Node) -> Node:
        """Return a product with jumps of one argument combined; sums that contain such jumps are multiplied out."""
        if node.kind != "product":
            return node
        reduced = self.on_support(node)
        if reduced is not node:
            return self.combined(reduced)
        met = [set(self.keys(arg, at)) for arg, at in node.operands]
        counts = Counter(key for keys in met for key in keys)
        positions = [k for k, keys in enumerate(met) if any(counts[key] > 1 for key in keys)]
        inner = [k for k in positions if not is_jump(node.args[k]) and not is_choice(node.args[k])]
        if not positions or any(node.args[k].kind != "sum" for k in inner):
            return node
        parts = [self.parts(node, k) for k in inner]
        if prod(map(len, parts)) > MOST_TERMS:
            return node
        if inner:
            return self.multiplied_out(node, inner[0], parts[0])
        choices = [k for k in positions if is_choice(node.args[k])]
        return self.combined(chosen_together(node, choices)) if choices else self.merged(node, positions)

    def on_support(self, node: Node) -> Node:
        """Return a product with jumps beside a switch replaced by their pieces where that switch is on."""
        jumps = [Jump.of(k, *term, self.varies) for k, term in enumerate(node.operands) if is_jump(term[0])]
        operands = list(node.operands)
        for switch in jumps:
            for other in jumps:
                if switch is not other and not switch.is_sign:
                    made = _on_switch_side(*operands[other.position], switch, node.args)
                    if self.is_known(*made, [j.sides.keys() for j in jumps if j is not other]):
                        operands[other.position] = made
        changed = operands != list(node.operands)
        return product(node.coef, operands, node.out, node.sizes) if changed else node

    def is_known(self, node: Node, at: Indices, others: Sequence[Collection[Key]]) -> bool:
        """Whether the piece of a jump is no jump, has one value, or jumps with another one of the product.

        Any other jump remains as it is. It may compare two equal numbers, which are rounded differently; then the
        shares of both must compare the same ones.
        """
        return (
            not is_jump(node) or is_decided(node) or any(key in keys for key in self.keys(node, at) for keys in others)
        )

    def parts(self, node: Node, position: int) -> list[Node]:
        """Return the terms of one operand that jump with another operand, then the sum of the others."""
        arg, at = node.operands[position]
        others = {key for k, term in enumerate(node.operands) if k != position for key in self.keys(*term)}
        alone = [others.isdisjoint(self.keys(term, at)) for term in arg.args]
        found = [scale(coef, term) for (coef, term), is_alone in zip(arg.terms, alone, strict=True) if not is_alone]
        rest = [term for term, is_alone in zip(arg.terms, alone, strict=True) if is_alone]
        return [*found, add(rest)] if rest else found

    def multiplied_out(self, node: Node, position: int, parts: Sequence[Node]) -> Node:
        """Return the sum over the parts of one operand, each combined with the others."""
        at = node.indices[position]
        others = [term for k, term in enumerate(node.operands) if k != position]
        made = [product(node.coef, [*others, (part, at)], node.out, node.sizes) for part in parts]
        return add([(1, self.combined(one)) for one in made])

    def keys(self, node: Node, at: Indices) -> list[Key]:
        """Return the keys at which an operand with indices `at`, or a term of it, jumps."""
        if node not in self.found:
            self.found[node] = tuple(self._own_keys(node, tuple(range(node.rank))))
        return [(root, tuple(at[axis] for axis in axes)) for root, axes in self.found[node]]

    def _own_keys(self, node: Node, axes: Indices) -> list[Key]:
        if is_jump(node):
            return list(sides(node, axes, self.varies))
        if is_choice(node):
            return [chosen_from(node, axes)] if self.varies(node.args[0]) else []
        if node.kind == "sum":
            return [key for term in node.args for key in self.keys(term, axes)]
        if node.kind != "product":
            return []
        outer: dict[int, list[int]] = {}  # the axes of each index, two on a diagonal
        for index, axis in zip(node.out, axes, strict=True):
            outer.setdefault(index, []).append(axis)
        inner = [(arg, own) for arg, own in node.operands if all(i in outer for i in own)]
        positions = [(arg, at) for arg, own in inner for at in cartesian(*(outer[i] for i in own))]
        return [key for arg, at in positions for key in self.keys(arg, at)]

    def merged(self, node: Node, positions: Sequence[int]) -> Node:
        """Return a product with its jumps at these positions combined into one."""
        jumps = [Jump.of(k, *node.operands[k], self.varies) for k in positions]
        kept, known = _implying_switches([jump for jump in jumps if not jump.is_sign])
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
            kept += [jump.position for jump in rest]
        dropped = set(positions).difference(kept)
        operands = [(ones(arg.shape) if k in dropped else arg, at) for k, (arg, at) in enumerate(node.operands)]
        return product(node.coef * coef, operands, node.out, node.sizes)


def _on_switch_side(node: Node, at: Indices, switch: Jump, held: Sequence[Node]) -> Operand:
    """Return a jump as it is where a switch with the same indices is on; `held` are the operands of the product."""
    for (root, where), side in switch.sides.items():
        if where == at and is_jump(node):
            node = remake(node, {arg: on_side(arg, root, side) for arg in node.args})
        if where == at and is_jump(node) and (limit := limit_on_side(node, root, side)) is not None:
            node = _but_at_zero(node, root, limit, held)
    return node, at


def _but_at_zero(node: Node, root: Node, limit: int, held: Sequence[Node]) -> Node:
    """Return a node replaced by `limit` where `root` is 0; the node itself if a factor of `held` is 0 there."""
    away = apply(default_rulebook().playing("unequal"), [root, zeros(root.shape)])
    if away in held:
        return node
    there = [(limit, ones(node.shape)), (-limit, away)] if limit else []
    return add([(1, hadamard(away, node)), *there])


def _implying_switches(switches: Sequence[Jump]) -> tuple[list[int] | None, dict[Key, int]]:
    """Return the positions of switches that imply all others, None if they are exclusive, and the sides they are on."""
    kept: list[int] = []
    known: dict[Key, int] = {}
    for jump in sorted(switches, key=lambda jump: -len(jump.sides)):
        agreed = [known[key] == side for key, side in jump.sides.items() if key in known]
        if not all(agreed):
            return None, known
        if len(agreed) < len(jump.sides):
            kept.append(jump.position)
            known.update(jump.sides)
    return kept, known
