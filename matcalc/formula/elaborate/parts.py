"""Infers parts `A[1:3, 0]`, `x[-1]`, `A[i,k]`, as contractions with slice selectors.

Subscripts follow NumPy: from zero, the end excluded, negative ones from the end, steps 1 and -1. Bounds are never
clipped: a bound that is outside for all sizes is an error here; one that depends on sizes is checked when they are
known. In index form a subscript that is an index name labels its axis instead. A subscript that is data, a symbol of
kind `index` or a part of one, is a lookup: `x[k]`, `X[i, :]`, `X[i[t], a]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from matcalc.errors import NotSupported
from matcalc.formula.elaborate import computed_subscripts
from matcalc.formula.elaborate.computed_subscripts import Selection, is_data
from matcalc.formula.elaborate.index_numbers import Infer
from matcalc.formula.inference import index_ranges
from matcalc.formula.inference.inference import Inference, common_axes, einsum, shown
from matcalc.formula.inference.typed import ONE, ZERO, Typed
from matcalc.language.index_lists import entries, is_list
from matcalc.language.syntax import Ast
from matcalc.tensor.sizes.size import Size


def numeric_subscripts(inference: Inference, subscripts: Iterable[Ast]) -> list[Ast]:
    """Return those of the subscripts that are numbers or sizes, in order; the others are indices and data."""
    written: list[Ast] = []
    for subscript in subscripts:
        if subscript.head == "slice":
            written.extend(bound for bound in subscript.args if bound.head != "empty")
        elif is_list(subscript):
            written.extend(entries(subscript))
        elif not (
            is_index(inference, subscript)
            or computed_subscripts.data_in(inference, subscript)
            or index_ranges.is_computed(inference, subscript)
        ):
            written.append(subscript)
    return written


def _is_unknown(inference: Inference, name: str) -> bool:
    used = (inference.symbols, inference.size_names, inference.bound, inference.parameters, inference.unknowns)
    return not inference.strict and not any(name in names for names in used)


def data_subscripts(inference: Inference, subscripts: Sequence[Ast], are_shifted: bool = True) -> list[Ast]:
    """Return the data among subscripts; record their symbols, which may occur only in subscripts.

    A part of an unknown name, `y[i]` in `Z[i, y[i]]`, can only be data: a vector of indices. Data plus a size, `y + 1`,
    count if `are_shifted`.
    """
    for ast in subscripts:
        whole = computed_subscripts.whole_of(ast)
        if whole is not ast and whole.head == "name" and _is_unknown(inference, str(whole.value)):
            inference.index_leaves.add(whole)
    allowed = [ast for ast in subscripts if are_shifted or is_data(inference, ast)]
    found = [data for ast in allowed if (data := computed_subscripts.data_in(inference, ast)) is not None]
    for ast in found:
        inference.index_leaves.add(computed_subscripts.whole_of(ast))
    return found


def allow_comparisons(inference: Inference, call: Ast) -> None:
    """Allow data of kind `index` on the sides of a comparison, `where(y == 1, a, b)`, where they are numbers."""
    sides = [side for arg in call.args if arg.head == "compare" for side in arg.args]
    data_subscripts(inference, [side for side in sides if computed_subscripts.data_in(inference, side) is not None])


def is_index(inference: Inference, subscript: Ast) -> bool:
    """Whether a subscript is the name of a bound index."""
    return subscript.head == "name" and str(subscript.value) in inference.bound


def infer_part(
    inference: Inference,
    ast: Ast,
    base: Typed,
    data: Sequence[Typed],
    numbers: Sequence[Typed],
    infer: Infer,
) -> Typed:
    """Return a part of `base`; `data` and `numbers` are the values of its subscripts of these kinds, in order."""
    written = ast.args[1:]
    if len(written) > base.rank:
        hint = "a vector takes one subscript" if base.rank == 1 else ""
        message = f"{inference.describe(base)} has {base.rank} axes, not {len(written)}"
        raise inference.fault(message, ast, hint=hint, about=ast.args[:1])
    selection = Selection(inference, ast, base, iter(numbers))
    indices = iter(data)
    for axis in range(base.rank):
        if axis >= len(written):
            label = inference.label(base.shape[axis])
            selection.axis_labels.append(label)
            selection.core.append(label)
        elif written[axis].head == "slice":
            _slice(selection, axis, written[axis])
        elif is_index(inference, written[axis]):
            _index(selection, axis, written[axis])
        elif index_ranges.is_computed(inference, written[axis]):
            computed_subscripts.select_computed(selection, axis, written[axis], infer)
        elif computed_subscripts.data_in(inference, written[axis]):
            _lookup(selection, axis, written[axis], next(indices))
        else:
            _single(selection, axis, written[axis])
    _check_together(selection, [k for k, one in enumerate(written) if not index_ranges.indices_of(inference, one)])
    operands = [(base, tuple(selection.axis_labels)), *selection.selectors]
    dependent = {*common_axes(value for value, _ in operands), *selection.named}
    axes = tuple(sorted(dependent - {*selection.axis_labels} | {*selection.named}))
    row = base.row and len(selection.core) == 1
    return einsum(inference, ast, operands, tuple(selection.core), row=row, axes=axes)


def _index(selection: Selection, axis: int, subscript: Ast) -> None:
    """Label an axis with a bound index."""
    inference, name = selection.inference, str(subscript.value)
    label, length = inference.bound[name], selection.base.shape[axis]
    if label in inference.ranges:
        computed_subscripts.select_shifted(selection, subscript, label, length)
        return
    if not inference.same(inference.lengths[label], length):
        a, b = inference.size_text(inference.lengths[label]), inference.size_text(length)
        tensor = inference.describe(selection.base)
        message = f"index {name} has length {a} and labels axis {axis} of {tensor}: {a} and {b} differ"
        raise inference.fault(message, subscript, about=[selection.base.ast])
    selection.axis_labels.append(label)
    selection.named.append(label)


def _single(selection: Selection, axis: int, subscript: Ast) -> None:
    """Select one index of an axis; the result lacks the axis."""
    inference, length = selection.inference, selection.base.shape[axis]
    index = from_start(_number(selection, subscript), length)
    selection.require(axis, subscript, (index, length - 1 - index))
    source = inference.label(length)
    selection.axis_labels.append(source)
    selection.select("slice", source, ONE, index)


def _lookup(selection: Selection, axis: int, subscript: Ast, indices: Typed) -> None:
    """Select entries of an axis by data: one index, or a vector of indices; several vectors are paired."""
    inference, length = selection.inference, selection.base.shape[axis]
    source = inference.label(length)
    selection.axis_labels.append(source)
    offset = computed_subscripts.shift_of(inference, subscript)
    if offset is not ZERO:
        length = length - offset
        selection.require(axis, subscript, (length,))
        source = selection.select("slice", source, length, offset)
    if indices.rank and not selection.looked_up:
        selection.looked_up = tuple(map(inference.label, indices.shape))
        selection.core.extend(selection.looked_up)
    core = selection.looked_up if indices.rank else ()
    if indices.rank:
        _check_length(selection, subscript, indices)
    selector = Typed("selector", selection.ast, (length, *indices.shape), (indices,), ("lookup", ZERO), indices.axes)
    selection.selectors.append((selector, (source, *core)))


def _check_together(selection: Selection, axes: Sequence[int]) -> None:
    """Raise for a range between indices if one of them is a vector of data: NumPy moves its axis to the front."""
    written = selection.ast.args[1:]
    single = [axis for axis in axes if written[axis].head != "slice"]
    if not selection.looked_up or all(later - axis == 1 for axis, later in pairwise(single)):
        return
    hint = "write an index form, whose axes are in the order that it lists"
    message = f"{shown(selection.ast)} has a range between indices: the order of its axes is ambiguous"
    raise selection.inference.fault(message, selection.ast, hint=hint)


def _check_length(selection: Selection, subscript: Ast, indices: Typed) -> None:
    """Raise if arrays of data have different lengths."""
    inference = selection.inference
    lengths = [inference.lengths[label] for label in selection.looked_up]
    if len(lengths) == indices.rank and all(map(inference.same, lengths, indices.shape)):
        return
    a, b = (" x ".join(map(inference.size_text, shape)) for shape in (lengths, indices.shape))
    hint = f"indices go together entry by entry; for all pairs  {{s,t: {shown(selection.base.ast)}[i[s], j[t]]}}"
    raise inference.fault(f"{shown(selection.ast)} has {a} and {b} indices", subscript, hint=hint)


def _slice(selection: Selection, axis: int, subscript: Ast) -> None:
    """Select a range of an axis."""
    inference, length = selection.inference, selection.base.shape[axis]
    start, stop, step = (None if bound.head == "empty" else _number(selection, bound) for bound in subscript.args)
    if step is not None and step != 1 and step != -1:
        raise NotSupported(
            "a step other than 1 and -1 is not supported", text=inference.text, at=subscript.args[2].caret
        )
    backwards = step == -1
    if backwards and selection.base.ast in inference.index_leaves:
        message = f"{shown(selection.ast)}: a range of indices in reverse order is not supported"
        raise NotSupported(
            message, text=inference.text, at=subscript.args[2].caret, hint="give the array in that order"
        )
    if backwards:
        low = ZERO if stop is None else from_start(stop, length) + 1
        high = length if start is None else from_start(start, length) + 1
    else:
        low = ZERO if start is None else from_start(start, length)
        high = length if stop is None else from_start(stop, length)
    _check_range(selection, axis, subscript, low, high)
    source = label = inference.label(length)
    selection.axis_labels.append(source)
    if low is not ZERO or high is not length:
        label = selection.select("slice", label, high - low, low)
    if backwards:
        label = selection.select("flip", label, inference.lengths[label], ZERO)
    selection.core.append(label)


def _check_range(selection: Selection, axis: int, subscript: Ast, low: Size, high: Size) -> None:
    length = selection.base.shape[axis]
    selection.require(axis, subscript, (low, length - high))
    message = "" if low is ZERO or high is length else "ends before it starts on an axis of"
    selection.require(axis, subscript, [high - low], message)


def _number(selection: Selection, subscript: Ast) -> Size:
    """Return the next numeric subscript."""
    inference, value = selection.inference, next(selection.numbers)
    if value.exact is None or any(c.denominator != 1 for _, c in value.exact.terms):
        message = f"a subscript is an integer or a size, not {shown(subscript)}"
        name = str(subscript.value) if subscript.head == "name" else ""
        hint = f"indices that are data are declared  {name}: index  or  {name}: index(n)" if name else ""
        hint = hint or "brackets select a part, as in X[0, 1:3]; a function is called with parentheses"
        if name in inference.symbols and inference.symbols[name].declared:
            hint = f"{name} is declared a symbol: name the index of a form differently, or list it; {hint}"
        base = str(selection.ast.args[0].value)
        if base not in inference.symbols or not inference.symbols[base].declared:
            called = next((word for word in (base, base.lower()) if word in inference.rulebook), "")
            hint = f"a call has parentheses: write {called}({shown(subscript)})" if called else hint
        raise inference.fault(message, subscript, hint=hint, about=[subscript])
    return value.exact


def from_start(index: Size, length: Size) -> Size:
    """Return a subscript counted from the start: one that is negative for all sizes counts from the end."""
    return length + index if is_negative(index) else index


def is_negative(size: Size) -> bool:
    """Whether a size is negative for all values of its names, as far as its coefficients show."""
    return bool(size.terms) and all(c < 0 for _, c in size.terms) and not any(m == () and c == 0 for m, c in size.terms)
