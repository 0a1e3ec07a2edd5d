"""Infers parts by a list of indices, `x[[0, 2]]`, `X[:, [1, 0]]`, as blocks of the single entries, rows or columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matcalc.errors import NotSupported
from matcalc.formula.elaborate import blocks, powers
from matcalc.formula.elaborate.computed_subscripts import data_in
from matcalc.formula.elaborate.index_numbers import Infer
from matcalc.formula.elaborate.parts import from_start, infer_part, numeric_subscripts
from matcalc.formula.inference.index_ranges import indices_of
from matcalc.formula.inference.inference import Inference, shown
from matcalc.formula.inference.typed import ZERO, Typed, typed_exact
from matcalc.language.index_lists import entries, is_list
from matcalc.language.syntax import Ast, number
from matcalc.tensor.sizes.size import Size


def infer_listed(
    inference: Inference, ast: Ast, base: Typed, data: Sequence[Typed], numbers: Sequence[Typed], infer: Infer
) -> Typed:
    """Return a part of `base` with a list among its subscripts; operands as for `infer_part`.

    Raises: ShapeError for several lists, and for a mask of another length than its axis; NotSupported for tensors.
    """
    axis = _listed_axis(inference, ast, base, data)
    listed, written = ast.args[1 + axis], ast.args[1:]
    first = len(numeric_subscripts(inference, written[:axis]))
    chosen = list(zip(entries(listed), numbers[first:], strict=False))
    before, after = numbers[:first], numbers[first + len(chosen) :]
    is_beside = any(one.head == "slice" for one in written[:axis])

    def part(subscript: Ast, own: Sequence[Typed]) -> Typed:
        tree = replace(ast, args=(ast.args[0], *written[:axis], subscript, *written[axis + 1 :]))
        value = infer_part(inference, tree, base, data, [*before, *own, *after], infer)
        return (
            value
            if is_beside or value.rank != 1
            else powers.infer_transpose(inference, tree, replace(value, row=False))
        )

    if len(chosen) < 2:  # a range keeps the axis
        bounds = _range(base.shape[axis], [index for _, index in chosen], listed)
        return part(Ast("slice", (*(one.ast for one in bounds), Ast("empty")), None, listed.span), bounds)
    found = [part(subscript, [index]) for subscript, index in chosen]
    if found[0].rank > 1:
        hint = "put the parts at single indices together"
        message = f"a list of indices in a part with {found[0].rank + 1} axes, {shown(ast)}, is not supported"
        raise NotSupported(message, text=inference.text, at=listed.caret, hint=hint)
    value = blocks.infer_block(inference, ast, [found] if is_beside else [[one] for one in found])
    return powers.infer_transpose(inference, ast, value) if base.row else value


def _range(length: Size, chosen: list[Typed], listed: Ast) -> tuple[Typed, Typed]:
    """Return the bounds of the range that selects at most one index."""
    low = from_start(chosen[0].exact, length) if chosen and chosen[0].exact is not None else ZERO
    zero = number(0)
    return typed_exact(low, zero), typed_exact(low + len(chosen), zero)


def _listed_axis(inference: Inference, ast: Ast, base: Typed, data: Sequence[Typed]) -> int:
    """Return the axis that a list subscripts.

    Raises: ShapeError if vectors of indices subscript several axes, or a mask has another length than its axis.
    """
    written = ast.args[1:]
    axes = [axis for axis, one in enumerate(written) if is_list(one)]
    axis, listed = axes[0], written[axes[0]]
    if len(listed.args) > 1 and any(len(row.args) > 1 for row in listed.args):
        hint = "a subscript is an index, a range, or a list of indices, as in  x[[0, 2]]"
        raise inference.fault("a subscript that is a table of indices is not supported", listed, hint=hint)
    if base.ast in inference.index_leaves:
        message = f"{shown(ast)}: a list of entries of an index is not supported"
        raise NotSupported(message, text=inference.text, at=listed.caret, hint="pass these indices as data")
    if len(axes) > 1 or any(one.rank for one in data):
        name = shown(ast.args[0])
        hint = f"for all pairs write  {name}[[0, 1], :][:, [1, 2]],  for one entry a pair  [{name}[0, 1]; {name}[1, 2]]"
        message = f"{shown(ast)} has two readings: all pairs of the indices, or the first with the first and so on"
        raise inference.fault(message, written[axes[-1]], hint=hint)
    single = [k for k, one in enumerate(written) if one.head != "slice"]
    if single[0] < axis and axis - single[0] >= len(single):
        message = f"{shown(ast)} has a range between indices: the order of its axes is ambiguous"
        raise inference.fault(message, ast, hint="write an index form, whose axes are in the order that it lists")
    moving = next((one for one in entries(listed) if indices_of(inference, one) or data_in(inference, one)), None)
    if moving is not None:
        message = f"a list of indices contains integers and sizes, not {shown(moving)}"
        raise inference.fault(message, moving, hint=f"put entries together, as in  [x[{shown(moving)}]; x[0]]")
    length = listed.value
    if axis < base.rank and isinstance(length, int) and not inference.same(base.shape[axis], Size.of(length)):
        message = f"a mask of {length} entries on axis {axis} of {inference.describe(base)}"
        hint = f"the axis has length {inference.size_text(base.shape[axis])}; or list indices, as in  x[[0, 2]]"
        raise inference.fault(message, listed, hint=hint, about=ast.args[:1])
    return axis
