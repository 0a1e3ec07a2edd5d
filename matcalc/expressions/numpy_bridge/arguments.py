"""Converts arguments of NumPy's functions: arrays, numbers, lists and nodes to nodes; axes and sizes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextvars import ContextVar
from fractions import Fraction
from math import isinf, prod
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, SupportsFloat, SupportsIndex, TypeAlias, TypeGuard

from matcalc.errors import NotSupported, ShapeError
from matcalc.language.identifiers import shown
from matcalc.tensor import constructors
from matcalc.tensor.broadcasting import broadcast_nodes
from matcalc.tensor.constructors import product, selector
from matcalc.tensor.named_numbers import named_number
from matcalc.tensor.nodes.node import Node, Shape
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size, is_nonnegative
from matcalc.tensor.sizes.sizes_from_shapes import Condition

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Operand: TypeAlias = "Node | Compared | Fraction | npt.ArrayLike | Sequence[Operand]"
"""An array: a node, a comparison, a number, an array of numbers, a list of them."""
Operands: TypeAlias = "Node | Sequence[Operand]"
SizeLike: TypeAlias = "Size | Node | SupportsIndex | str"
"""A length or an offset: an integer, a size, the text of a size in a shape."""
Lengths: TypeAlias = "SizeLike | Sequence[SizeLike]"
Axes: TypeAlias = "SupportsIndex | Sequence[SupportsIndex] | None"

ONE = Size.of(1)
left_open: ContextVar[list[Condition]] = ContextVar("left_open")
"""Collects the undecided conditions on sizes of the current call."""
holder: ContextVar[Holder | None] = ContextVar("holder", default=None)
"""Makes symbols of the arrays of numbers in the function that is being traced."""


class Holder(Protocol):
    """Makes symbols of arrays of numbers, and remembers these numbers."""

    def node(self, array: npt.NDArray[np.generic]) -> Node | None:
        """Return an array as a symbol or a part of one; None for an array that a formula writes as numbers."""

    def index(self, numbers: Sequence[int]) -> Node | None:
        """Return nonnegative integers as a symbol of kind `index`; None for a few, which a formula writes."""

    def values_of(self, nodes: Collection[Node]) -> dict[str, npt.NDArray[np.float64]] | None:
        """Return the entries of symbols by name; None if one of them is no data."""


class Compared(NamedTuple):
    """A condition on entries: a function that chooses between the entries of two arrays; a comparison has two sides."""

    choose: Callable[[Node, Node], Node]
    sides: tuple[str, Node, Node] | None = None

    @property
    def indicator(self) -> Node:
        """1 where it holds, else 0."""
        return self.choose(constructors.number(1), constructors.number(0))


def rational(value: SupportsFloat) -> Fraction:
    """Return a Python or NumPy number as the exact rational of its shortest decimal form.

    Raises: ShapeError for infinities and NaN.
    """
    if isinstance(value, Fraction):
        return value
    try:
        return Fraction(repr(float(value))) if not isinstance(value, int) else Fraction(value)
    except (ValueError, OverflowError):
        hint = "return it at once, as in  if s <= 0: return np.inf" if "inf" in repr(value) else ""
        raise ShapeError(f"{value} is no number that a formula can hold", hint=hint) from None


def constant_of(value: object) -> Node | None:
    """Return a number or an array of numbers as a node; None for anything else.

    Raises: ShapeError for infinities and NaN; NotSupported for an array with a mask or of complex numbers.
    """
    if isinstance(value, (int, float)) or isinstance(value, SupportsFloat) and not hasattr(value, "shape"):
        return _number_node(value)
    if not hasattr(value, "__array__") or not hasattr(value, "shape"):
        return None
    import numpy as np

    array = np.asanyarray(value)
    if isinstance(array, np.ma.MaskedArray):
        raise NotSupported("an array with a mask is not supported", hint="pass it as .filled(...)")
    if array.dtype.kind == "c":
        raise NotSupported("a constant of complex numbers is not supported: formulas are real")
    if not array.ndim:
        return _number_node(float(array))
    return array_node(array)


def _number_node(value: SupportsFloat) -> Node:
    named = named_number(value) if isinstance(value, float) else None
    return named or constructors.number(rational(value))


def array_node(array: npt.NDArray[np.generic]) -> Node:
    """Return an array of numbers as a node: in a function that is being traced, large ones are symbols."""
    import numpy as np

    holding = holder.get()
    held = None if holding is None else holding.node(array)
    return constructors.constant(np.asarray(array, dtype=np.float64)) if held is None else held


def node_of(value: object) -> Node:
    """Return an argument as a node; a list, or an array of objects, becomes its stacked entries.

    Raises: NotSupported for an object that is no array; ShapeError for entries of unequal shapes.
    """
    if isinstance(value, Node):
        return value
    size = length_in(value)
    if size is not None:
        return constructors.size_number(size)
    if isinstance(value, Compared):
        return value.indicator
    if is_object_array(value):
        return node_of(value.tolist())
    if isinstance(value, (list, tuple)):
        return stacked([node_of(entry) for entry in value], 0)
    found = constant_of(value)
    if found is None:
        raise NotSupported(f"{shown(value)} is no array, number or symbol")
    return found


def bound_of(value: object) -> Node:
    """Return an argument that may be infinite, as a branch of a choice or a bound."""
    if isinstance(value, float) and isinf(value):
        import numpy as np

        return constructors.constant(np.asarray(value))
    return node_of(value)


def is_array(value: object) -> bool:
    """Whether a value is an expression."""
    return isinstance(getattr(value, "node", None), Node)


def is_object_array(value: object) -> TypeGuard[npt.NDArray[np.object_]]:
    """Whether a value is an array of Python objects, as NumPy creates from a list of expressions."""
    return getattr(getattr(value, "dtype", None), "kind", "") == "O" and hasattr(value, "tolist")


def length_in(value: object) -> Size | None:
    """Return the size of an entry of a shape; None for anything else."""
    found = getattr(value, "length", None)
    return found if isinstance(found, Size) else None


def size_of(value: object) -> Size:
    """Return an argument that is a length or an offset as a size.

    Raises: ShapeError for anything else.
    """
    size = value if isinstance(value, Size) else length_in(value)
    if size is None and isinstance(value, Node):
        size = size_in(value)
        if size is None or any(c.denominator != 1 for _, c in size.terms):
            raise ShapeError("a length is an integer or a size, not the value of a symbol")
    if size is not None:
        return size
    try:
        return Size.of(index(value))  # type: ignore[arg-type]  # raises for others
    except TypeError:
        raise ShapeError(f"a length is an integer or a size, not {shown(value)}") from None


def size_in(node: Node) -> Size | None:
    """Return a scalar of numbers and sizes as a size; None for any other node."""
    if node.kind == "size":
        return node.size
    if node.kind == "number":
        return Size.of(node.value)
    if node.shape or node.kind not in ("product", "sum"):
        return None
    parts = [size_in(part) for part in node.args]
    if None in parts:
        return None
    if node.kind == "product":
        return prod((part for part in parts if part is not None), start=Size.of(1)) * node.coef
    total = Size.of(0)
    for (coef, _), part in zip(node.terms, parts, strict=True):
        total = total + (part or Size.of(0)) * coef
    return total


def sizes_of(value: object) -> list[Size]:
    """Return a shape, which may be one length."""
    return [size_of(one) for one in value] if isinstance(value, (list, tuple)) else [size_of(value)]


def axis_of(axis: object, rank: int) -> int:
    """Return an axis counted from the front.

    Raises: ShapeError.
    """
    try:
        position = index(axis)  # type: ignore[arg-type]  # raises for others
    except TypeError:
        raise ShapeError(f"an axis is an integer, not {shown(axis)}") from None
    if not -rank <= position < rank:
        raise ShapeError(f"axis {position} of a value of {rank} {'axis' if rank == 1 else 'axes'}")
    return position % rank


def axes_of(axis: object, rank: int) -> tuple[int, ...]:
    """Return axes counted from the front: all for None.

    Raises: ShapeError, also for a repeated axis.
    """
    if axis is None:
        return tuple(range(rank))
    found = tuple(axis_of(one, rank) for one in (axis if isinstance(axis, (list, tuple)) else (axis,)))
    if len(set(found)) < len(found):
        raise ShapeError(f"an axis is named twice in {shown(axis)}")
    return found


def permuted(a: Node, order: Sequence[int]) -> Node:
    """Return a node whose axis k is axis order[k] of `a`."""
    return product(1, [(a, tuple(range(len(a.shape))))], tuple(order))


def with_axes(a: Node, positions: Sequence[int]) -> Node:
    """Return a node with axes of size 1 at these positions of the result."""
    rank = len(a.shape) + len(positions)
    out = tuple(range(rank))
    own = tuple(k for k in out if k not in set(positions))
    return product(1, [(a, own)], out, dict.fromkeys(positions, ONE)) if positions else a


def without_axes(a: Node, axes: Sequence[int]) -> Node:
    """Return a node without these axes, which must have size 1.

    Raises: ShapeError.
    """
    for axis in axes:
        if a.shape[axis] != 1:
            raise ShapeError(f"axis {axis} has the size {a.shape[axis]}, not 1")
    labels = tuple(range(len(a.shape)))
    return product(1, [(a, labels)], tuple(k for k in labels if k not in set(axes))) if axes else a


def check_room(room: Size, message: str) -> None:
    """Require that a size is not negative: now, or at the call if data decide it.

    Raises: ShapeError.
    """
    if room.is_integer and room.constant < 0:
        raise ShapeError(message)
    if not is_nonnegative(room):
        left_open.get([]).append(Condition(room, message))


def part_of(a: Node, axis: int, start: Size, length: Size) -> Node:
    """Return the `length` entries from `start` along an axis."""
    for room in (start, length, a.shape[axis] - start - length):
        check_room(room, f"{length} entries from {start} do not fit an axis of {a.shape[axis]}")
    labels = tuple(range(len(a.shape)))
    rule = Selector("slice", (a.shape[axis], length), start)
    out = (*labels[:axis], len(labels), *labels[axis + 1 :])
    return product(1, [(a, labels), (selector(rule), (axis, len(labels)))], out)


def stacked(parts: Sequence[Node], axis: int) -> Node:
    """Return nodes of one shape side by side along a new axis.

    Raises: ShapeError.
    """
    if not parts:
        raise ShapeError("there is nothing to stack")
    if any(part.shape != parts[0].shape for part in parts):
        shapes = ", ".join(map(shape_text, dict.fromkeys(part.shape for part in parts)))
        raise ShapeError(f"stacked arrays must have one shape, not {shapes}")
    return joined([with_axes(part, [axis]) for part in parts], axis)


def joined(parts: Sequence[Node], axis: int) -> Node:
    """Return nodes one after the other along an axis.

    Raises: ShapeError if other sizes differ.
    """
    others = {part.shape[:axis] + part.shape[axis + 1 :] for part in parts}
    if len(others) > 1:
        shapes = ", ".join(shape_text(part.shape) for part in parts)
        raise ShapeError(f"arrays joined along axis {axis} must have equal sizes along the others: {shapes}")
    if len(parts) == 1:
        return parts[0]
    if all(part.kind in ("number", "constant") for part in parts) and (made := _constants(parts, axis)) is not None:
        return made
    total = sum((part.shape[axis] for part in parts[1:]), parts[0].shape[axis])
    rank = len(parts[0].shape)
    labels, out = (*range(axis), rank, *range(axis + 1, rank)), tuple(range(rank))
    start = Size.of(0)
    placed: list[tuple[Fraction, Node]] = []
    for part in parts:
        rule = selector(Selector("slice", (total, part.shape[axis]), start))
        placed += [
            (c, product(1, [(one, labels), (rule, (axis, rank))], out)) for c, one in constructors.entries_of(part)
        ]
        start = start + part.shape[axis]
    return constructors.add(placed)


def _constants(parts: Sequence[Node], axis: int) -> Node | None:
    import numpy as np

    arrays = [part.data for part in parts if part.kind == "constant"]
    return constructors.constant(np.concatenate(arrays, axis)) if len(arrays) == len(parts) else None


def common(*nodes: Node) -> list[Node]:
    """Return nodes repeated to their common shape.

    Raises: ShapeError.
    """
    found = broadcast_nodes(nodes)
    if found is None:
        shown = ", ".join(shape_text(node.shape) for node in nodes)
        hint = "declare one size where they are equal, or insert an axis:  x[:, None]"
        raise ShapeError(f"shapes do not broadcast: {shown}", hint=hint)
    return found


def shape_text(shape: Shape) -> str:
    """Return a shape in Python's notation."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def times(*nodes: Node) -> Node:
    """Return the entrywise product of nodes in their common shape."""
    return constructors.hadamard(*common(*nodes))


def like(several: Collection[object], items: Iterable[object]) -> Any:
    """Return items in a container like `several`: a list, a tuple or a named tuple."""
    make: Callable[[Iterable[object]], object] = getattr(several, "_make", type(several))
    return make(items)
