"""Convexity of sums of functions of two entries: the Hessian is 2 x 2, entry by entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from matcalc.calculus.simplify.simplify import simplify
from matcalc.evidence.explain.reasons import written
from matcalc.tensor.constructors import add, hadamard, product, scale, zeros
from matcalc.tensor.node import Node

Pair = tuple[int, int]


def by_entries(terms: Sequence[tuple[Node, Fraction]], moved: Mapping[Node, Node], sign: int) -> list[str] | None:
    """Return why a quadratic form in two tangents of one shape, entry with entry, is never negative times `sign`."""
    tangents = list(moved.values())
    if len(tangents) != 2 or tangents[0].shape != tangents[1].shape:
        return None
    found: dict[Pair, list[tuple[Fraction, Node]]] = {(0, 0): [], (0, 1): [], (1, 1): []}
    for node, coef in terms:
        part = _coefficient(node, tangents)
        if part is None:
            return None
        found[part[0]].append((sign * coef, part[1]))
    shape = tangents[0].shape
    a, b, c = (simplify(add(found[key])) if found[key] else zeros(shape) for key in found)
    determinant = simplify(add([(1, hadamard(a, c)), (Fraction(-1, 4), hadamard(b, b))]))
    if not all(n.is_zero or n.range.nonnegative for n in (a, c, determinant)):
        return None
    half = simplify(scale(Fraction(1, 2), b))
    names = " and ".join(x.name for x in moved)
    less = "" if sign > 0 else "less "
    shown = "0" if determinant.is_zero else written(determinant)
    return [
        f"{less}the second derivatives in {names}, entry by entry: "
        f"a = {written(a)}, b = {written(half)}, c = {written(c)}",
        f"a >= 0, c >= 0, and a*c - b^2 is {shown} >= 0".replace("0 >= 0", "0"),
    ]


def _coefficient(node: Node, tangents: Sequence[Node]) -> tuple[Pair, Node] | None:
    """Return which two tangents a term holds, and what stands with them at each entry."""
    if node.kind != "product" or node.rank:
        return None
    rank = tangents[0].rank
    at = tuple(range(rank))
    if len(node.index_sizes) != rank or any(t and sorted(t) != list(at) for t in node.indices):
        return None
    places = [k for k, arg in enumerate(node.args) if arg in tangents]
    first = next((t for arg, t in node.operands if arg in tangents), None)
    if len(places) != 2 or any(node.indices[k] != first for k in places):
        return None
    low, high = sorted(tangents.index(node.args[k]) for k in places)
    rest = [(a, t) for k, (a, t) in enumerate(node.operands) if k not in places]
    return (low, high), product(node.coef, rest, first or (), node.sizes)
