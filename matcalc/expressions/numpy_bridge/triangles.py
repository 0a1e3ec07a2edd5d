"""Defines the subscripts of a triangle's entries, `np.triu_indices(n, k)`, for a size that is no number.

The selector of a triangle has an axis for the entries and one for each side of a square. The two subscripts share it,
so `A[i, j]` is one selector between two parts of axes, and the indices are never formed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from matcalc.expressions.numpy_bridge.arguments import check_room
from matcalc.tensor.constructors import eye, selector
from matcalc.tensor.nodes.node import Node, Operand, Shape
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size, floordiv


@dataclass(frozen=True)
class Triangle:
    """The entries of the upper triangle of a square, row after row; backwards in rows, columns and order if `mirrored`.

    Backwards it is the lower triangle, row after row.
    """

    size: Size
    mirrored: bool = False

    @property
    def count(self) -> Size:
        """The number of entries."""
        return floordiv(self.size * (self.size + 1), Size.of(2))

    def operands(self, at: int, row: int, column: int, free: Iterator[int]) -> list[Operand]:
        """Return the operands that connect the labels of the entries, the rows and the columns."""
        if not self.mirrored:
            return [(self._rule(), (at, column, row))]
        p, i, j = next(free), next(free), next(free)
        pairs = ((self.count, (at, p)), (self.size, (row, i)), (self.size, (column, j)))
        flips = [(selector(Selector("flip", (length, length))), pair) for length, pair in pairs]
        return [(self._rule(), (p, j, i)), *flips]

    def _rule(self) -> Node:
        return selector(Selector("triangle", (self.count, self.size, self.size)))


@dataclass(frozen=True)
class Side:
    """The rows or the columns of a triangle's entries, plus an offset."""

    triangle: Triangle
    is_rows: bool
    offset: Size

    @property
    def shape(self) -> Shape:
        return (self.triangle.count,)

    def inside(self, length: Size) -> Side:
        """Return the subscripts, which must lie inside an axis of this length.

        Raises: ShapeError for a subscript outside.
        """
        room = length - self.offset - self.triangle.size
        check_room(room, f"a triangle of {self.triangle.size} rows from {self.offset} on leaves an axis of {length}")
        return self

    def operand(self, length: Size, axis: int, label: int) -> Operand:
        """Return the operand that connects an axis and the label of this side."""
        if self.offset == 0 and self.triangle.size == length:
            return eye(length), (axis, label)
        return selector(Selector("slice", (length, self.triangle.size), self.offset)), (axis, label)


def sides(size: Size, offset: int, is_lower: bool) -> tuple[Side, Side]:
    """Return the rows and columns of the entries above (below) the diagonal with this distance from it."""
    by = Size.of(offset)
    check_room(size - by, f"a triangle {offset} from the diagonal of a matrix of {size} rows")
    triangle = Triangle(size - by, is_lower)
    zero = Size.of(0)
    return Side(triangle, True, by if is_lower else zero), Side(triangle, False, zero if is_lower else by)
