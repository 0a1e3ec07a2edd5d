"""Contracts a tensor network to matrix form, one index at a time.

Indices are the vertices of a graph, matrices its edges, vectors weights on the vertices. A summed index with one edge
ends a chain (`A*x`, `A*ones(n)`); one with two edges joins two matrices (`A*diag(w)*B`). Two edges between the same
indices are a cycle (`diag(A*B)`) or an elementwise product, whichever is shorter. Output indices stay. Parts that do
not reduce stay in the network, for index form. The numbers of the indices, which are canonical, fix the order of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from matcalc.formula.forms import factor_reading
from matcalc.formula.forms import form as forms
from matcalc.formula.forms.factor_reading import Item, Piece, chain, diagonal, diagonal_of, elementwise, read
from matcalc.formula.forms.form import Form
from matcalc.tensor.nodes.node import Indices, Node
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size

UNREAD = 3
"""Extra tokens for a reciprocal of entries within a matrix product: `diag(A'*(1./B))` is `sum(A./B, axis=0)`."""


class Edge(NamedTuple):
    """A matrix between two indices: `row` is its first axis."""

    row: int
    column: int
    piece: Piece

    def leaving(self, index: int) -> Item:
        """Return the matrix read with `index` first."""
        return self.piece, self.row != index

    def beyond(self, index: int) -> int:
        return self.column if self.row == index else self.row


class Other(NamedTuple):
    """A factor that is neither column nor matrix: a tensor of higher order, a selector."""

    node: Node | None  # of a selector
    form: Form | None  # of a tensor
    at: Indices
    lookup: Form | None = None  # of a lookup

    @property
    def selector(self) -> Selector:
        assert self.node is not None
        return self.node.selector

    @property
    def kind(self) -> str:
        """Kind of the selector; empty for a tensor."""
        return self.selector.kind if self.node else ""


@dataclass(slots=True)
class Around:
    """The columns and matrices at an index."""

    index: int
    weights: list[Piece]
    edges: list[Edge]

    def diagonal(self) -> list[Item]:
        return weighted(self.weights)


@dataclass(slots=True)
class Net:
    """A network during reduction. Indices in `fixed` and those of `others` (tensors, selectors) stay."""

    weights: dict[int, list[Piece]]
    edges: list[Edge]
    fixed: frozenset[int]
    sizes: Sequence[Size]
    size_of: Callable[[Size], Form]
    others: list[Other] = field(default_factory=list)
    scalars: list[Form] = field(default_factory=list)

    def copy(self, fixed: Iterable[int]) -> Net:
        weights = {i: list(w) for i, w in self.weights.items()}
        return Net(weights, list(self.edges), frozenset(fixed), self.sizes, self.size_of, list(self.others))

    def size(self, index: int) -> Form:
        """Return the length of an index as a formula."""
        return self.size_of(self.sizes[index])

    def indices(self) -> list[int]:
        """Return the indices that pieces still have, in order."""
        found = {i for edge in self.edges for i in edge[:2]}
        found.update(self.weights, *(other.at for other in self.others))
        return sorted(found)

    def around(self, index: int, *but: Other) -> Around | None:
        """Return the pieces at a summed index; None if it is an output or occurs in others than `but`."""
        if index in self.fixed or any(index in o.at for o in self.others if o not in but):
            return None
        if any(o.at.count(index) > 1 for o in but):
            return None
        return Around(index, self.weights.get(index, []), [e for e in self.edges if index in e[:2]])

    def touches(self, index: int) -> bool:
        """Whether a column or a matrix is at an index."""
        return index in self.weights or any(index in e[:2] for e in self.edges)

    def put(self, piece: Piece, *at: int) -> None:
        """Add a column at an index, or a matrix between two."""
        if len(at) == 1:
            self.weights.setdefault(at[0], []).append(piece)
        else:
            self.edges.append(Edge(at[0], at[1], piece))

    def remove(self, *removed: Other | Around | None) -> None:
        """Remove factors, and all pieces at indices."""
        for one in removed:
            if isinstance(one, Around):
                self.weights.pop(one.index, None)
                self.edges = [e for e in self.edges if one.index not in e[:2]]
            elif one is not None:
                self.others.remove(one)


def reduce_net(net: Net) -> None:
    """Contract all summed indices that matrix notation can contract."""
    while _step(net):
        pass


def _step(net: Net) -> bool:
    around: dict[int, list[Edge]] = {}
    for edge in net.edges:
        if edge.row == edge.column:
            net.edges.remove(edge)
            net.put(diagonal_of(edge.piece), edge.row)
            return True
        around.setdefault(edge.row, []).append(edge)
        around.setdefault(edge.column, []).append(edge)
    held = net.fixed.union(*(other.at for other in net.others))
    free = [i for i in sorted(around) if i not in held]
    for index in free:
        if len(around[index]) == 1:
            return _end(net, index, around[index][0])
    joins = [i for i in free if len(around[i]) == 2 and around[i][0].beyond(i) != around[i][1].beyond(i)]
    for index in sorted(joins, key=lambda i: any(edge.piece.inverse for edge in around[i])):
        return _join(net, index, *around[index])
    for index in free:
        if len(around[index]) == 2:
            return _close_cycle(net, index, *around[index])
    return _merge_parallel(net)


def _end(net: Net, index: int, edge: Edge) -> bool:
    """Contract an index with one matrix: the matrix becomes a weight on the other index."""
    net.edges.remove(edge)
    other = edge.beyond(index)
    matrix = edge.leaving(other)
    weights = net.weights.pop(index, [])
    piece = applied(matrix, weights) if weights else row_sums(matrix, net.size(index))
    net.put(piece, other)
    return True


def _join(net: Net, index: int, first: Edge, second: Edge) -> bool:
    """Contract an index with two matrices into one matrix."""
    net.edges.remove(first)
    net.edges.remove(second)
    row, column = first.beyond(index), second.beyond(index)
    middle = weighted(net.weights.pop(index, []))
    piece = chain([first.leaving(row), *middle, second.leaving(index)])
    net.put(piece, row, column)
    return True


def _close_cycle(net: Net, index: int, first: Edge, second: Edge) -> bool:
    """Contract an index whose two matrices lead to one other index."""
    net.edges.remove(first)
    net.edges.remove(second)
    other = first.beyond(index)
    weights = net.weights.pop(index, [])
    there, back = first.leaving(other), second.leaving(index)
    cycle = diagonal_of(chain([there, *weighted(weights), back]))
    matrix = (elementwise([there, second.leaving(other)]), False)
    flat = applied(matrix, weights) if weights else row_sums(matrix, net.size(index))
    transposes, length = cycle.costs[0]
    if first.piece.inverse or second.piece.inverse:
        length += UNREAD
    piece = cycle if (length, transposes) <= flat.costs[0][::-1] else flat
    net.put(piece, other)
    return True


def _merge_parallel(net: Net) -> bool:
    """Join all matrices between the same two indices elementwise."""
    between: dict[tuple[int, int], list[Edge]] = {}
    for edge in net.edges:
        between.setdefault((min(edge[:2]), max(edge[:2])), []).append(edge)
    found = False
    for (row, column), edges in between.items():
        if len(edges) > 1:
            found = True
            net.edges = [e for e in net.edges if e not in edges]
            net.edges.append(Edge(row, column, elementwise(e.leaving(row) for e in edges)))
    return found


def applied(matrix: Item, weights: list[Piece]) -> Piece:
    """Return the matrix times the elementwise product of columns."""
    chains = [w for w in weights if w.kind == "chain"]
    if len(chains) == 1 and len(weights) > 1:
        rest = elementwise((w, False) for w in weights if w is not chains[0])
        return chain([matrix, (diagonal(rest), False), (chains[0], False)])
    return chain([matrix, (column(weights), False)])


def row_sums(matrix: Item, size: Form) -> Piece:
    """Return `A*ones(n)`, or `sum(A, axis=...)` of the last factor if that is shorter, with its average."""
    plain = chain([matrix, (factor_reading.ones(size), False)])
    *front, last = factor_reading.directed(matrix[0].items, matrix[1]) if matrix[0].kind == "chain" else [matrix]
    piece, flip = last
    if piece.rank < 2 or last[0].ones:
        return plain
    straight = piece.costs[0] <= piece.costs[1]
    axis = forms.number(int(straight != flip))
    call, average = (
        factor_reading.leaf(forms.played(role, read(piece, not straight), axis=axis), 1)
        for role in ("total", "average")
    )
    call.summed = piece
    summed = chain([*front, (call, False)])
    chosen = summed if summed.costs[0] < plain.costs[0] else plain
    chosen.average = size, chain([*front, (average, False)])
    return chosen


def column(weights: list[Piece]) -> Piece:
    """Return the elementwise product of columns."""
    return elementwise((w, False) for w in weights)


def weighted(weights: list[Piece]) -> list[Item]:
    """Return `diag(w)` for the weights of an index inside a chain, if there are any."""
    return [(diagonal(column(weights)), False)] if weights else []


def vector_at(net: Net, index: int) -> Piece:
    """Return the column of a reduced network's only index."""
    weights = net.weights.get(index, [])
    return column(weights) if weights else factor_reading.ones(net.size(index))


def matrix_between(net: Net, row: int, last: int) -> Piece:
    """Return the matrix of a reduced network between its two output indices."""
    left, right = net.weights.get(row, []), net.weights.get(last, [])
    if not net.edges:
        return chain([(vector_at(net, row), False), (vector_at(net, last), True)])
    return chain([*weighted(left), net.edges[0].leaving(row), *weighted(right)])
