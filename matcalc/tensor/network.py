"""Defines Network, a product under construction, and flattens it.

Operands that are products are dissolved into the network, so that neither brackets nor the order of arguments matter.
Exceptions are wholes (`is_whole`) and closed scalar factors such as `x'*A*x`. A longer product is cut into wholes, and
no node has more than MOST operands: the rest are in groups (`grouping.py`). Without these bounds, a matrix squared ten
times has 1,024 operands, and gradients of deep networks grow with the square of their depth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from weakref import WeakKeyDictionary

from matcalc.errors import ShapeError
from matcalc.tensor.nodes.canonical_labels import Factor
from matcalc.tensor.nodes.grouping import MOST, is_long
from matcalc.tensor.nodes.node import Indices, Node, Operand
from matcalc.tensor.raw_nodes import product_node
from matcalc.tensor.sizes.size import Size

_wholes: WeakKeyDictionary[Node, bool] = WeakKeyDictionary()


class Network:
    """Operands with index tuples, output indices, index sizes and a coefficient; mutable."""

    __slots__ = ("coef", "next_index", "operands", "out", "sizes")

    def __init__(
        self,
        coef: Fraction,
        operands: Sequence[Operand],
        out: Indices,
        sizes: Mapping[int, Size],
    ) -> None:
        self.coef = coef
        self.operands: list[Operand] = list(operands)
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
        """Replace an index by another everywhere: their identity is contracted."""
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
    """Dissolve numbers and nested products into the network."""
    while True:
        position = next_inlined(network.operands, network.out)
        if position is None:
            return
        node, indices = network.operands.pop(position)
        _inline(network, node, indices, position)


def next_inlined(operands: Sequence[Operand], out: Indices) -> int | None:
    """Return the position of an operand that is to be dissolved, None if there is none."""
    is_alone = len(operands) == 1
    for position, (node, _) in enumerate(operands):
        if node.kind == "number":
            return position
        if node.kind != "product":
            continue
        if is_closed_scalar(node):
            if node.coef != 1 or (is_alone and not out):
                return position
        elif is_alone or not is_whole(node):
            return position
    return None


def is_whole(node: Node) -> bool:
    """Return whether a product is too long to be dissolved; as an operand it stays a product."""
    if len(node.args) < MOST and all(arg.kind != "product" for arg in node.args):
        return False
    if node not in _wholes:
        network = _opened(node)
        factors = [Factor(b"", at, 0, position) for position, (_, at) in enumerate(network.operands)]
        _wholes[node] = is_long(factors)
    return _wholes[node]


def _opened(node: Node) -> Network:
    """Return the network of a product with the groups among its operands dissolved."""
    axes = tuple(range(node.rank))
    network = Network(Fraction(1), [(node, axes)], axes, {})
    flatten(network)
    return network


def is_closed_scalar(node: Node) -> bool:
    """Return whether a node is a scalar product that sums over indices, such as `x'*A*x`, which remains a factor."""
    return node.kind == "product" and not node.shape and bool(node.index_sizes)


def _inline(network: Network, node: Node, indices: Indices, position: int) -> None:
    """Insert a number or the operands of a product into a network, at the operand's position."""
    if node.kind == "number":
        network.coef *= node.value
        return
    network.coef *= node.coef
    if is_closed_scalar(node) and (network.operands or network.out):
        bare = product_node(Fraction(1), node.args, node.indices, node.out, node.index_sizes)
        network.operands.insert(position, (bare, ()))
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
    new = [(arg, tuple(inner[i] for i in at)) for arg, at in node.operands]
    network.operands[position:position] = new
    for kept, dropped in _closed(same):
        network.unify(kept, dropped)


def _closed(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return pairs to unify in sequence, each named by the indices that earlier pairs leave."""
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
