"""Network: a product under construction, and its flattening.

Operands that are products themselves are dissolved into the network while it stays small (MOST operands),
the smallest first, ties by content, so that the order of arguments never matters. Pure re-indexings are
always dissolved; closed scalar factors such as `x'*A*x` never are. Without the bound, squaring a matrix
ten times has 1,024 operands and gradients of deep networks grow with the square of their depth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from matcalc.errors import ShapeError
from matcalc.normal_form.make import product_node
from matcalc.normal_form.node import Indices, Node
from matcalc.sizes import Size

MOST = 12
T = TypeVar("T")


def full_runs(items: list[T]) -> list[list[T]]:
    """Return more than MOST items in runs of MOST and, after them, of 1.

    Full runs are never dissolved again, so that what is built from them is what is read from its printed form.
    """
    count = min(-(-(len(items) - MOST) // (MOST - 1)), len(items) // MOST)
    grouped = [items[MOST * k : MOST * (k + 1)] for k in range(count)]
    return [*grouped, *([item] for item in items[MOST * count :])]


class Network:
    """Operands with index tuples, output indices, index sizes and a coefficient; mutable."""

    __slots__ = ("coef", "next_index", "operands", "out", "sizes")

    def __init__(
        self,
        coef: Fraction,
        operands: Sequence[tuple[Node, Indices]],
        out: Indices,
        sizes: Mapping[int, Size],
    ) -> None:
        self.coef = coef
        self.operands: list[tuple[Node, Indices]] = list(operands)
        self.out = tuple(out)
        self.sizes: dict[int, Size] = {i: sizes[i] for i in out if i in sizes}
        for node, indices in self.operands:
            for index, size in zip(indices, node.shape, strict=True):
                known = self.sizes.setdefault(index, size)
                if known != size:
                    raise ShapeError(f"an index of length {known} meets an axis of length {size}")
        self.next_index = max(self.sizes, default=-1) + 1
        for index in self.out:
            if index not in self.sizes:
                raise ShapeError(f"the length of output index {index} is not known")

    def fresh(self, size: Size) -> int:
        """Return a new index of this size."""
        index = self.next_index
        self.next_index += 1
        self.sizes[index] = size
        return index

    def unify(self, kept: int, dropped: int) -> None:
        """Make two indices one everywhere: their identity is contracted."""
        if kept == dropped:
            return
        if self.sizes[kept] != self.sizes[dropped]:
            raise ShapeError(f"an index of length {self.sizes[kept]} meets one of length {self.sizes[dropped]}")
        self.operands = [(node, tuple(kept if i == dropped else i for i in indices)) for node, indices in self.operands]
        self.out = tuple(kept if i == dropped else i for i in self.out)
        del self.sizes[dropped]

    def uses(self, index: int) -> int:
        """Return how often an index occurs in operands and output."""
        return self.out.count(index) + sum(indices.count(index) for _, indices in self.operands)


def flatten(network: Network) -> None:
    """Dissolve numbers and nested products into the network, within the bound."""
    while True:
        place = _next_inlined(network)
        if place is None:
            return
        node, indices = network.operands.pop(place)
        _inline(network, node, indices, place)


def _next_inlined(network: Network) -> int | None:
    count = len(network.operands)
    best: tuple[int, bytes, int] | None = None
    for place, (node, _) in enumerate(network.operands):
        if node.kind == "number":
            return place
        if node.kind != "product":
            continue
        if is_closed_scalar(node):
            if node.coef != 1 or (count == 1 and not network.out):
                return place
            continue
        size = len(node.args)
        if size <= 1:
            return place
        if count - 1 + size <= MOST and (best is None or (size, node.digest) < best[:2]):
            best = (size, node.digest, place)
    return best[2] if best else None


def is_closed_scalar(node: Node) -> bool:
    """Whether a node is a scalar product that sums over indices, such as `x'*A*x`: kept whole as a factor."""
    return node.kind == "product" and not node.shape and bool(node.index_sizes)


def _inline(network: Network, node: Node, indices: Indices, place: int) -> None:
    if node.kind == "number":
        network.coef *= node.value
        return
    network.coef *= node.coef
    if is_closed_scalar(node) and (network.operands or network.out):
        data = (node.indices, node.out, node.index_sizes)
        network.operands.insert(place, (product_node(Fraction(1), node.args, *data, lambda _: frozenset()), ()))
        return
    inner: dict[int, int] = {}
    same: list[tuple[int, int]] = []
    for index, outer in zip(node.out, indices, strict=True):
        if index in inner:
            same.append((inner[index], outer))
        else:
            inner[index] = outer
    for index, size in enumerate(node.index_sizes):
        if index not in inner:
            inner[index] = network.fresh(size)
    new = [(arg, tuple(inner[i] for i in at)) for arg, at in zip(node.args, node.indices, strict=True)]
    network.operands[place:place] = new
    for kept, dropped in _closed(same):
        network.unify(kept, dropped)


def _closed(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return pairs to unify one after the other, each named by what is left after those before."""
    renamed: dict[int, int] = {}

    def final(index: int) -> int:
        while index in renamed:
            index = renamed[index]
        return index

    steps = []
    for a, b in pairs:
        kept, dropped = sorted((final(a), final(b)))
        if kept != dropped:
            renamed[dropped] = kept
            steps.append((kept, dropped))
    return steps
