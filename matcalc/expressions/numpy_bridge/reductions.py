"""Implements NumPy's reductions and choices that are no single operation of the rulebook, on nodes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.numpy_bridge.along_axes import Along, entrywise, over_axes
from matcalc.expressions.numpy_bridge.arguments import (
    Axes,
    Compared,
    Operand,
    axes_of,
    axis_of,
    bound_of,
    check_room,
    common,
    joined,
    node_of,
    part_of,
    times,
)
from matcalc.expressions.numpy_bridge.by_rule import called, called_along, check_freedom
from matcalc.expressions.numpy_bridge.conditions import condition_of
from matcalc.expressions.numpy_bridge.products import contracted, diff, total
from matcalc.expressions.numpy_bridge.shapes import atleast_2d, diagonal, moveaxis, squeeze, with_keepdims
from matcalc.rulebook.notations import spelled
from matcalc.tensor import constructors
from matcalc.tensor.constructors import add, power
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size

MISSING = object()


def where(condition: object, x: Operand | None = None, y: Operand | None = None) -> Node:
    if x is None or y is None:
        hint = "write np.where(mask, a, b) for a choice, or pass the places as an argument: i: index(k)"
        raise NotSupported("a condition on symbols holds at an unknown number of places", hint=hint)
    if isinstance(condition, bool):
        hint = "== compares formulas: write np.equal(x, 0) for entries"
        raise NotSupported(f"the condition of where is {condition}, not a comparison of entries", hint=hint)
    return condition_of(condition).choose(bound_of(x), bound_of(y))


def select(condlist: Sequence[Compared], choicelist: Sequence[Operand], default: Operand = 0) -> Node:
    made = bound_of(default)
    if len(condlist) != len(choicelist):
        raise ShapeError("select takes as many conditions as choices")
    if not all(isinstance(condition, Compared) for condition in condlist):
        raise NotSupported(
            "the conditions of select must be comparisons", hint="write np.select([x > 0, ...], [a, ...])"
        )
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        made = where(condition, choice, made)
    return made


def clip(
    a: Operand, a_min: object = MISSING, a_max: object = MISSING, *, min: object = None, max: object = None
) -> Node:  # noqa: A002
    node, low, high = node_of(a), min if a_min is MISSING else a_min, max if a_max is MISSING else a_max
    if low is None and high is None or (a_min is MISSING) != (a_max is MISSING):
        raise NotSupported("a bound is missing")
    if low is not None and high is not None:
        return entrywise(called(clip), node, bound_of(low), bound_of(high))
    if low is not None:
        node = entrywise(spelled("larger"), node, bound_of(low))
    return entrywise(spelled("smaller"), node, bound_of(high)) if high is not None else node


def average(a: Operand, axis: Axes = None, weights: Operand | None = None, *, keepdims: bool = False) -> Node:
    node = node_of(a)
    axes = axes_of(axis, len(node.shape))
    if node.shape and not axes:
        raise NotSupported("at least one axis is needed")
    if weights is None:
        return with_keepdims(_over(spelled("average"), node, axes), axes, keepdims)
    w = node_of(weights)
    labels = list(range(len(node.shape)))
    if w.shape == node.shape:
        over = labels
    elif w.shape == tuple(node.shape[k] for k in axes):
        over = list(axes)
    else:
        raise ShapeError("weights have the shape of the array, or of the axes that are averaged over")
    top = contracted([(node, labels), (w, over)], [k for k in labels if k not in axes])
    bottom = contracted([(w, over)], [k for k in over if k not in axes])
    return with_keepdims(times(top, power(bottom, Fraction(-1))), axes, keepdims)


def _over(name: str, node: Node, axes: tuple[int, ...]) -> Node:
    return over_axes(name, [Along(node, axes)]) if node.shape else over_axes(name, [Along(node, ())])


def ptp(a: Operand, axis: Axes = None, keepdims: bool = False) -> Node:
    largest, smallest = (called_along(called(name), a, axis, keepdims) for name in ("amax", "amin"))
    return add([(1, largest), (-1, smallest)])


def trapezoid(y: Operand, x: Operand | None = None, dx: Operand = 1.0, axis: Axes = -1) -> Node:
    node = node_of(y)
    along = axis_of(axis, len(node.shape))
    node = moveaxis(node, along, -1)
    last, length = len(node.shape) - 1, node.shape[-1] - 1
    ends = add([(Fraction(1, 2), part_of(node, last, Size.of(k), length)) for k in (0, 1)])
    if x is None:
        return times(total(ends, (-1,)), node_of(dx))
    at = node_of(x)
    if len(at.shape) != 1:
        if len(at.shape) != len(node.shape) and axis != -1:
            raise NotSupported("points of another number of axes need axis=-1")
        at = moveaxis(at, axis, -1)
    return total(times(ends, diff(at)), (-1,))


def cov(m: Operand, y: Operand | None = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None) -> Node:
    if not isinstance(rowvar, (bool, int)):
        raise NotSupported("rowvar must be True or False")
    parts = [node_of(one) for one in ((m,) if y is None else (m, y))]
    if any(len(data.shape) not in (1, 2) for data in parts):
        raise NotSupported("only vectors and matrices are supported")
    rows = [atleast_2d(data) if rowvar or len(data.shape) == 1 else moveaxis(data, 0, 1) for data in parts]
    samples = joined(rows, 0) if len(rows) > 1 else rows[0]
    less = ddof if ddof is not None else 0 if bias else 1
    if samples.shape[0] != 1:
        check_room(samples.shape[0] - 2, "np.cov of one row is a number, not a matrix")
    check_freedom(samples, (1,), less)
    mean = with_keepdims(_over(spelled("average"), samples, (1,)), (1,), True)
    off = add([(1, samples), (-1, common(samples, mean)[1])])
    count = constructors.size_number(samples.shape[1] - less)
    return squeeze(times(constructors.matmul(off, constructors.transpose(off)), power(count, Fraction(-1))))


def corrcoef(x: Operand, y: Operand | None = None, rowvar: bool = True) -> Node:
    covariances = cov(x, y, rowvar)
    if len(covariances.shape) != 2:
        raise NotSupported("the correlation of one variable with itself is 1")
    scales = power(diagonal(covariances), Fraction(-1, 2))
    return times(covariances, constructors.outer(scales, scales))


def polyval(p: Operand, x: Operand) -> Node:
    coefficients, at = node_of(p), node_of(x)
    if len(coefficients.shape) != 1 or not coefficients.shape[0].is_integer:
        raise NotSupported("the number of coefficients of polyval must be known")
    made = constructors.number(Fraction(0))
    for k in range(int(coefficients.shape[0])):
        entry = total(part_of(coefficients, 0, Size.of(k), Size.of(1)))
        made = add([(1, a) for a in common(times(made, at), entry)])
    return common(made, at)[0]
