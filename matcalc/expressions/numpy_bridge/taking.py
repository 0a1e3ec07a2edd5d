"""Reads and replaces the entries of an array at subscripts, with NumPy's meaning, on nodes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.numpy_bridge.along_axes import chosen
from matcalc.expressions.numpy_bridge.arguments import (
    ONE,
    check_room,
    holder,
    joined,
    part_of,
    shape_text,
    times,
    with_axes,
    without_axes,
)
from matcalc.expressions.numpy_bridge.index_sets import (
    Known,
    Looked,
    Places,
    Run,
    as_run,
    common_shape,
    counted,
    masked,
    one_of,
    operands_at,
    parts_at,
    places_of,
    run_of,
    spread,
)
from matcalc.expressions.numpy_bridge.runs import Runs
from matcalc.expressions.numpy_bridge.shapes import broadcast_to, reshape
from matcalc.expressions.numpy_bridge.triangles import Side, Triangle
from matcalc.tensor import constructors
from matcalc.tensor.constructors import number, product, selector
from matcalc.tensor.nodes.node import Node, Operand, Shape
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size

Item: TypeAlias = "Places | None"
"""A subscript along an axis; None is a new axis of length 1."""


class Items(NamedTuple):
    """The subscripts of an array, one for each of its axes, and new axes; `joint` are the positions of the joint ones.

    Joint are lists and arrays of indices, and integers beside them.
    """

    items: list[Item]
    joint: list[int]


def read_items(at: object, shape: Shape) -> Items:
    """Return the subscripts of an array of this shape.

    Raises: ShapeError; NoValue for a subscript that depends on a symbol's values.
    """
    listed: list[Any] = []
    for one in at if isinstance(at, tuple) else (at,):
        listed += masked(one) or [one]
    dots = [k for k, one in enumerate(listed) if one is Ellipsis]
    missing = len(shape) - sum(one is not None and one is not Ellipsis for one in listed)
    if missing < 0 or len(dots) > 1:
        raise ShapeError(f"{len(shape) - missing} subscripts of an array of {len(shape)} axes")
    where = dots[0] if dots else len(listed)
    listed[where : where + len(dots)] = [slice(None)] * missing
    found: list[Item] = []
    joint: list[int] = []
    lengths = iter(shape)
    for one in listed:
        if one is None:
            found.append(None)
            continue
        length = next(lengths)
        if isinstance(one, slice):
            found.append(run_of(one, length))
            continue
        places = places_of(one)
        found.append(one_of(one, length) if places is None else counted(places, length))
        joint.append(len(found) - 1)
    if all(isinstance(one := found[k], Run) and one.is_one for k in joint):
        joint = []
    return Items(found, joint)


class Selection(NamedTuple):
    """The labels of an array's axes, the 0/1 operands that select, and the labels of the result and their lengths."""

    axes: tuple[int, ...]
    operands: list[Operand]
    out: tuple[int, ...]
    lengths: dict[int, Size]
    shared: tuple[int, ...]


def selection(read: Items, shape: Shape) -> Selection:
    """Return the selection of the entries at subscripts."""
    items, joint = read
    whole = common_shape([one.shape for k in joint if (one := items[k]) is not None]) if joint else ()
    free = iter(range(len(shape), 10_000))
    shared = tuple(next(free) for _ in whole)
    lengths = dict(zip(shared, whole, strict=True))
    operands: list[Operand] = []
    parts: list[int | None] = []
    triangles: dict[Triangle, tuple[int, int]] = {}
    axis = 0
    for k, one in enumerate(items):
        if one is None:
            label = next(free)
            lengths[label] = ONE
            parts.append(label)
            continue
        if k in joint:
            own, at = spread(as_run(one), whole)
            labels = [shared[j] for j in at]
            if isinstance(own, Side):
                row, column = triangles.setdefault(own.triangle, (next(free), next(free)))
                labels = [row if own.is_rows else column]
            operands += operands_at(own, shape[axis], axis, labels, next(free))
            parts.append(None)
        else:
            labels = [next(free) for _ in one.shape]
            lengths.update(zip(labels, one.shape, strict=True))
            operands += operands_at(one, shape[axis], axis, labels, next(free))
            parts += labels
        axis += 1
    for triangle, (row, column) in triangles.items():
        operands += triangle.operands(shared[-1], row, column, free)
    return Selection(tuple(range(len(shape))), operands, _ordered(parts, shared), lengths, shared)


def _ordered(parts: Sequence[int | None], shared: tuple[int, ...]) -> tuple[int, ...]:
    """Return the labels of the result: joint axes replace their subscripts if these are adjacent, else come first."""
    where = [k for k, one in enumerate(parts) if one is None]
    first = where[0] if where and where[-1] - where[0] == len(where) - 1 else 0
    rest = [one for one in parts if one is not None]
    return (*rest[:first], *shared, *rest[first:])


def take(a: Node, at: object) -> Node:
    """Return the entries of an array at subscripts."""
    read = _with_data(read_items(at, a.shape))
    simple = _taken_by_parts(a, read)
    if simple is not None:
        return simple
    chosen_ = selection(read, a.shape)
    return product(1, [(a, chosen_.axes), *chosen_.operands], chosen_.out, _unheld(chosen_, len(a.shape)))


def _with_data(read: Items) -> Items:
    """Return subscripts in which many known indices are data, in a function that is being traced."""
    holding = holder.get()
    if holding is None:
        return read
    items = list(read.items)
    for k in read.joint:
        known = items[k]
        one = as_run(known) if isinstance(known, Known) else None
        if isinstance(one, Known) and len(one.shape) == 1 and all(n.is_integer for n in one.numbers):
            node = holding.index([int(n) for n in one.numbers])
            items[k] = one if node is None else Looked(node, Size.of(0))
    return Items(items, read.joint)


def _unheld(chosen_: Selection, rank: int) -> dict[int, Size]:
    held = {label for _, labels in chosen_.operands for label in labels} | set(range(rank))
    return {label: size for label, size in chosen_.lengths.items() if label not in held}


def _taken_by_parts(a: Node, read: Items) -> Node | None:
    """Return entries at known indices of one axis as joined parts; several such axes of known lengths become one."""
    items, joint = read
    if None in items or any(not isinstance(items[k], (Known, Run, Runs)) for k in joint):
        return None
    if not joint or any(k not in joint and items[k] != Run(Size.of(0), size) for k, size in enumerate(a.shape)):
        return None
    own = [one for k in joint if (one := items[k]) is not None]
    whole = common_shape([one.shape for one in own])
    if len(joint) == 1 and isinstance(own[0], Runs):
        return parts_at(a, own[0], joint[0])
    if len(joint) == 1 and isinstance(own[0], Known) and len(whole) == 1 and 0 < len(own[0].runs()) <= 64:
        parts = [part_of(a, joint[0], start, count) for start, count in own[0].runs()]
        return joined(parts, joint[0])
    lengths = [a.shape[k] for k in joint]
    if len(joint) < 2 or joint[-1] - joint[0] != len(joint) - 1 or not all(n.is_integer for n in lengths):
        return None
    numbers = _ravelled(own, whole, [int(n) for n in lengths])
    if numbers is None:
        return None
    first = joint[0]
    flat = reshape(a, [*a.shape[:first], Size.of(_product(lengths)), *a.shape[joint[-1] + 1 :]])
    return take(flat, (*[slice(None)] * first, Known(whole, tuple(map(Size.of, numbers)))))


def _product(lengths: Sequence[Size]) -> int:
    count = 1
    for n in lengths:
        count *= int(n)
    return count


def _ravelled(places: Sequence[Places], whole: Shape, lengths: Sequence[int]) -> list[int] | None:
    """Return the row-major positions of joint known indices; None if they are not all integers."""
    import numpy as np

    arrays = []
    for one in places:
        if isinstance(one, Runs):
            return None
        numbers = [one.start] if isinstance(one, Run) else list(one.numbers) if isinstance(one, Known) else []
        sizes = one.shape
        if isinstance(one, Run) and not one.is_one or not all(n.is_integer for n in (*numbers, *sizes)):
            return None
        arrays.append(np.reshape([int(n) for n in numbers], [int(n) for n in sizes]).astype(int))
    ranks = np.ravel_multi_index(np.broadcast_arrays(*arrays), lengths)
    return [int(k) for k in np.ravel(np.broadcast_to(ranks, [int(n) for n in whole]))]


def put(a: Node, at: object, value: Node) -> Node:
    """Return an array with the entries at subscripts replaced by a value, which is broadcast."""
    read = read_items(at, a.shape)
    if not read.joint and not any(isinstance(one, Known) for one in read.items):
        value = _fitted(value, [size for one in read.items for size in ((ONE,) if one is None else one.shape)])
        news = [k for k, one in enumerate(_kept(read.items)) if one is None]
        return _replaced(a, [one for one in read.items if isinstance(one, Run)], without_axes(value, news), 0)
    read, value = _once(read, a.shape, value)
    where = selection(read, a.shape)
    value = _fitted(value, [where.lengths[label] for label in where.out])
    last = _last(read, where, a.shape)
    weights = [] if last is None else [(last, where.shared)]
    hits = product(1, [*where.operands, *weights], where.axes)
    placed = product(1, [(value, where.out), *where.operands, *weights], where.axes)
    return constructors.add([(1, a), (-1, times(a, hits)), (1, placed)])


def _kept(items: Sequence[Item]) -> list[Item]:
    """Return the subscripts that have an axis in the result."""
    return [one for one in items if one is None or one.shape]


def _fitted(value: Node, shape: Sequence[Size]) -> Node:
    """Return a value in the shape of the entries that it replaces.

    Raises: ShapeError.
    """
    spare = len(value.shape) - len(shape)
    if spare > 0 and all(size == 1 for size in value.shape[:spare]):
        value = without_axes(value, range(spare))
    try:
        return broadcast_to(value, list(shape))
    except ShapeError:
        message = (
            f"a value of shape {shape_text(value.shape)} does not fit the entries of shape {shape_text(tuple(shape))}"
        )
        raise ShapeError(message) from None


def _replaced(a: Node, runs: Sequence[Run], value: Node, axis: int) -> Node:
    """Return an array with a block replaced; the block is one run of each axis from `axis` on."""
    while runs and runs[0] == Run(Size.of(0), a.shape[axis]):
        runs, axis = runs[1:], axis + 1
    if not runs:
        return value
    run, length = runs[0], a.shape[axis]
    if run.is_one:
        value = with_axes(value, [axis])
    piece = part_of(a, axis, run.start, run.length)
    new = _replaced(piece, [Run(Size.of(0), run.length), *runs[1:]], value, axis)
    behind = run.start + run.length
    parts = [new]
    if run.start != 0:
        parts.insert(0, part_of(a, axis, Size.of(0), run.start))
    if behind != length:
        parts.append(part_of(a, axis, behind, length - behind))
    return joined(parts, axis)


def _once(read: Items, shape: Shape, value: Node) -> tuple[Items, Node]:
    """Return subscripts and values without repeated known indices, of which NumPy writes the last."""
    own = [read.items[k] for k in read.joint]
    known = [one for one in own if isinstance(one, Known)]
    if not known or len(known) < len(own) or len({one.shape for one in known}) > 1 or len(known[0].shape) != 1:
        return read, value
    rows = list(zip(*(one.numbers for one in known), strict=True))
    last = {row: k for k, row in enumerate(rows)}
    if len(last) == len(rows):
        return read, value
    kept = sorted(last.values())
    items = list(read.items)
    for k, one in zip(read.joint, known, strict=True):
        items[k] = Known((Size.of(len(kept)),), tuple(one.numbers[j] for j in kept))
    where = selection(read, shape)
    full = _fitted(value, [where.lengths[label] for label in where.out])
    position = where.out.index(where.shared[0])
    index = (*[slice(None)] * position, Known((Size.of(len(kept)),), tuple(map(Size.of, kept))))
    return Items(items, read.joint), take(full, index)


def _last(read: Items, where: Selection, shape: Shape) -> Node | None:
    """Return 1 for the last of equal indices, else 0; None if no two are equal."""
    own = [as_run(one) for k in read.joint if (one := read.items[k]) is not None]
    whole = [where.lengths[label] for label in where.shared]
    each = [one for one in own if isinstance(one, Run) or isinstance(one, Runs) and one.is_apart]
    if any(len(one.shape) == len(whole) for one in each):
        return None
    if any(isinstance(one, Runs) for one in own):
        raise NotSupported("joined ranges that may repeat an entry are written", hint="write each range by itself")
    of_sides = [one for one in own if isinstance(one, Side)]
    if of_sides and (len(of_sides) < 2 or of_sides[0].is_rows == of_sides[1].is_rows):
        raise NotSupported("the rows of a triangle repeat, and are written", hint="write both:  A[i, j] = v")
    if not any(isinstance(one, Looked) for one in own):
        if _repeats(own):
            raise NotSupported("known places that repeat are written", hint="write each place once")
        _require_apart(own)
        return None
    if not whole:
        return None
    if len(whole) != 1:
        raise NotSupported("writing at an index of several axes", hint="write with an index of one axis")
    move = {label: label + 20_000 for _, labels in where.operands for label in labels if label not in where.axes}
    held = {label for _, labels in where.operands for label in labels}
    joint_axes = [k for k, _ in enumerate(shape) if k in _axes(read)]
    used = [(node, labels) for node, labels in where.operands if set(labels) & _reach(where.operands, joint_axes)]
    twin = [(node, tuple(move.get(label, label) for label in labels)) for node, labels in used]
    (t,) = where.shared
    if t not in held:
        return None
    mask = selector(Selector("mask", (whole[0], whole[0]), ONE))
    later = product(1, [*used, *twin, (mask, (move[t], t))], (t,))
    return chosen(">", later, number(0), number(0), number(1))


def _require_apart(own: Sequence[Places]) -> None:
    """Require, at the call, that known places which sizes decide are not the same: 0 and n - 1 are for n = 1."""
    columns = [one.numbers for one in own if isinstance(one, Known) and len(one.numbers) > 1]
    for one, other in combinations(zip(*columns, strict=False), 2):
        gaps = [b - a for a, b in zip(one, other, strict=True)]
        if not any(gap.is_integer and gap != 0 for gap in gaps):
            a, b, gap = next((a, b, g) for a, b, g in zip(one, other, gaps, strict=True) if not g.is_integer)
            room = gap if gap.parts[0].terms[0][1] > 0 else -gap
            check_room(room - 1, f"the places {a} and {b}, which are written, may be the same")


def _axes(read: Items) -> set[int]:
    """Return the axes of the array with joint subscripts."""
    axes = [k for k, one in enumerate(read.items) if one is not None]
    return {axes.index(k) for k in read.joint}


def _reach(operands: Sequence[Operand], axes: Sequence[int]) -> set[int]:
    """Return the labels that operands connect with axes."""
    found = set(axes)
    for _ in operands:
        for _, labels in operands:
            if found & set(labels):
                found |= set(labels)
    return found


def _repeats(own: Sequence[Places]) -> bool:
    columns = [one.numbers for one in own if isinstance(one, Known)]
    if len({len(one) for one in columns}) > 1:
        return any(len(set(one)) < len(one) for one in columns)
    rows = list(zip(*columns, strict=True))
    return len(set(rows)) < len(rows)


def added(a: Node, at: object, value: Node) -> Node:
    """Return an array with a value added at subscripts, as often as each index occurs: np.add.at."""
    where = selection(_with_data(read_items(at, a.shape)), a.shape)
    value = _fitted(value, [where.lengths[label] for label in where.out])
    return constructors.add([(1, a), (1, product(1, [(value, where.out), *where.operands], where.axes))])
