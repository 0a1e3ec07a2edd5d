"""Expands operands of different kinds to one shape, for the dotted operators and for NumPy.

In the matrix language a column counts as n x 1 and a row as 1 x n, so that a column expands along columns and a row
along rows. NumPy aligns shapes at their last axis. Then an axis of length 1 is repeated. Expansion depends only on
lengths that are known while reading: a symbolic length is never assumed to be 1, nor are two names assumed equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from matcalc.errors import ShapeError
from matcalc.formula.inference.inference import Inference, as_scalar, broadcast, is_one_by_one, shown
from matcalc.formula.inference.typed import ONE, Labels, Typed
from matcalc.language.syntax import Ast, power, product, transposed
from matcalc.tensor.broadcasting import broadcast_shapes
from matcalc.tensor.sizes.size import Size

Same = Callable[[Size, Size], bool]

CANNOT: Mapping[str, str] = {
    "+": "add {} to {}", "-": "subtract {} from {}", ".*": "multiply entry by entry {} by {}",
    "./": "divide entry by entry {} by {}", ".^": "raise entry by entry {} to {}",
}  # fmt: skip


class Kind(NamedTuple):
    """The shape of an operand, and whether it is a row."""

    shape: tuple[Size, ...]
    row: bool = False


class Common(NamedTuple):
    """The kind of the result, and for each axis of each operand its axis in the result; None if it is repeated."""

    kind: Kind
    positions: tuple[tuple[int | None, ...], ...]


def common_kind(inference: Inference, kinds: Sequence[Kind], same: Same | None = None) -> Common | None:
    """Return how operands expand to one kind, scalars apart; None if they do not.

    `same` equates lengths; the default is that of `inference`.
    """
    ranked = [kind for kind in kinds if kind.shape]
    if not ranked:
        return Common(Kind(()), ((),) * len(kinds))
    columns = {kind.row for kind in ranked if len(kind.shape) == 1}
    ranks = {len(kind.shape) for kind in ranked}
    is_flat = ranks == {1}
    if is_flat and inference.broadcasts and len(columns) > 1:
        return None
    aligned = inference.broadcasts or (len(ranks) == 1 and len(columns) < 2)
    if not aligned and max(ranks) > 2:
        return None
    found = broadcast_shapes([_lengths(inference, kind, aligned) for kind in kinds], same or inference.same)
    if found is None:
        return None
    own = (at if aligned else _own(kind, at) for kind, at in zip(kinds, found.axes, strict=True))
    return Common(Kind(found.shape, len(found.shape) == 1 and columns == {True}), tuple(own))


def _lengths(inference: Inference, kind: Kind, aligned: bool) -> tuple[Size, ...]:
    shape = tuple(map(inference.sizes.resolve, kind.shape))
    if aligned or len(shape) != 1:
        return shape
    return (ONE, *shape) if kind.row else (*shape, ONE)


def _own(kind: Kind, positions: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """Return the positions of an operand's own axes, without that of the 1 of a column or row."""
    return positions if len(kind.shape) != 1 else positions[1:] if kind.row else positions[:1]


def expanded(inference: Inference, values: Sequence[Typed], axes: Labels) -> tuple[Kind, tuple[Typed, ...]] | None:
    """Return values in one kind, over the named axes `axes`; None if they do not expand to one."""
    values = plain_scalars(inference, values)
    found = common_kind(inference, [Kind(value.shape, value.row) for value in values])
    if found is None:
        return None
    core = tuple(inference.label(size) for size in found.kind.shape)
    made = (broadcast(inference, v, axes, core, at) for v, at in zip(values, found.positions, strict=True))
    return found.kind, tuple(made)


def plain_scalars(inference: Inference, values: Sequence[Typed]) -> list[Typed]:
    """Return values with 1 x 1 matrices among columns, rows and tensors converted to scalars."""
    if inference.broadcasts or all(value.rank in (0, 2) for value in values):
        return list(values)
    return [as_scalar(inference, value) if is_one_by_one(inference, value) else value for value in values]


def _advice(inference: Inference, a: Typed, operator: str, b: Typed) -> str:
    """Return the hint that writes two operands with a dotted operator, one of them transposed if needed."""
    if inference.broadcasts:
        return ""

    def may_be(one: Size, other: Size) -> bool:
        one, other = inference.sizes.resolve(one), inference.sizes.resolve(other)
        return one is other or "?" in one.key + other.key

    def fits(x: Kind, y: Kind) -> bool:
        return common_kind(inference, [x, y], may_be) is not None

    x, y = Kind(a.shape, a.row), Kind(b.shape, b.row)
    swapped = y._replace(row=not y.row)
    if len(x.shape) == len(y.shape) == 1 and x.row != y.row:
        same = "transpose one of the two, or " if fits(x, swapped) else ""
        return f"{same}write {shown(_dotted(a.ast, operator, b.ast))}"
    found = [(a.ast, b.ast)] if fits(x, y) else []
    if len(y.shape) == 1 and fits(x, swapped):
        found.append((a.ast, transposed(b.ast)))
    elif len(x.shape) == 1 and fits(x._replace(row=not x.row), y):
        found.append((transposed(a.ast), b.ast))
    written = [shown(_dotted(one, operator, other)) for one, other in found]
    return f"write {' or '.join(written)}" if written else ""


def _dotted(a: Ast, operator: str, b: Ast) -> Ast:
    if operator in "+-":
        return Ast("dotted_sum", (a, b), (1, 1 if operator == "+" else -1))
    return power(a, b, True) if operator == ".^" else product((a, b), (operator,))


def no_expansion(inference: Inference, ast: Ast, values: Sequence[Typed], operators: Sequence[str]) -> ShapeError:
    """Return the error for the first two operands that do not expand to one kind."""
    for k in range(1, len(values)):
        for first in values[:k]:
            pair = plain_scalars(inference, [first, values[k]])
            if common_kind(inference, [Kind(value.shape, value.row) for value in pair]) is None:
                return no_fit(inference, ast, k - 1, first, operators[k - 1], values[k])
    raise AssertionError("operands that expand two by two expand together")


def no_fit(inference: Inference, ast: Ast, k: int, left: Typed, operator: str, right: Typed) -> ShapeError:
    """Return the error for operator `k` of a tree whose operands do not fit, with the dotted forms that do."""
    one, other = (right, left) if operator in "+-" else (left, right)  # in the order of the message
    reason = ""
    sizes: tuple[Size, ...] = ()
    if one.rank == other.rank == 1 and one.row != other.row:
        reason = "one is a row, the other a column"
    elif one.rank == other.rank or inference.broadcasts:
        sizes = _differing(inference, one, other)
        reason = inference.differ(*sizes) if sizes else ""
    elif {one.rank, other.rank} == {1, 2}:
        reason = "a vector is no matrix"
    elif max(one.rank, other.rank) > 2:
        reason = "write an index form, {i,j,k: ...}, to choose the axes"
    message = f"cannot {CANNOT[operator].format(inference.describe(one), inference.describe(other))}"
    return inference.fault(
        f"{message}: {reason}" if reason else message,
        ast,
        operator=k,
        hint=_advice(inference, left, operator, right),
        about=(one.ast, other.ast),
        sizes=sizes,
    )


def _differing(inference: Inference, a: Typed, b: Typed) -> tuple[Size, ...]:
    """Return the first two lengths that differ, of shapes aligned at their last axis."""
    rank = min(a.rank, b.rank)
    pairs = list(zip(a.shape[a.rank - rank :], b.shape[b.rank - rank :], strict=True))
    wrong = [pair for pair in pairs if not inference.same(*pair)]
    return next((pair for pair in wrong if ONE not in pair), wrong[0] if wrong else ())


def equal_shapes(inference: Inference, a: Typed, b: Typed) -> bool:
    """Equate two shapes if possible; return whether they are equal. A row never equals a column."""
    return a.row == b.row and inference.same_shape(a.shape, b.shape)
