"""Parts: `A[1:3, 0]`, `x[-1]`, `A[i,k]`, as contractions with slice selectors.

Subscripts follow NumPy: from zero, the end excluded, negative ones from the end, steps 1 and -1. Bounds are
never clipped: one that is outside for all sizes is an error here, one that depends on sizes is checked when
they are known. In index form a subscript that is an index name labels its axis instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matcalc.errors import NotSupported
from matcalc.formula.elaborate.inference import Inference, einsum, shown
from matcalc.formula.elaborate.typed import ONE, ZERO, Labels, Typed
from matcalc.language.syntax import Ast
from matcalc.tensor.size import Size


class Selection:
    """The axes of a part under way: operands, and which axes the result keeps."""

    def __init__(self, inference: Inference, ast: Ast, base: Typed, numbers: Iterator[Typed]) -> None:
        self.inference, self.ast, self.base, self.numbers = inference, ast, base, numbers
        self.axis_labels: list[int] = []
        self.selectors: list[tuple[Typed, Labels]] = []
        self.core: list[int] = []
        self.named: list[int] = []

    def select(self, kind: str, source: int, length: Size, offset: Size) -> int:
        """Re-index the axis labelled `source` by a selector and return the label of the new axis."""
        shape = (self.inference.lengths[source], length)
        selector = Typed("selector", self.ast, shape, data=(kind, offset))
        label = self.inference.label(length)
        self.selectors.append((selector, (source, label)))
        return label


def numeric_subscripts(inference: Inference, ast: Ast) -> list[Ast]:
    """Return the subscripts of a part that are numbers or sizes, in order; the others are indices."""
    written: list[Ast] = []
    for subscript in ast.args[1:]:
        if subscript.head == "slice":
            written.extend(bound for bound in subscript.args if bound.head != "empty")
        elif not is_index(inference, subscript):
            written.append(subscript)
    return written


def is_index(inference: Inference, subscript: Ast) -> bool:
    """Whether a subscript is the name of an index in force."""
    return subscript.head == "name" and str(subscript.value) in inference.bound


def infer_part(inference: Inference, ast: Ast, base: Typed, numbers: Sequence[Typed]) -> Typed:
    """Return a part of `base`; `numbers` are the values of its numeric subscripts, in order."""
    written = ast.args[1:]
    if len(written) > base.rank:
        hint = "a vector takes one subscript" if base.rank == 1 else ""
        message = f"{inference.describe(base)} has {base.rank} axes, not {len(written)}"
        raise inference.fault(message, ast, hint=hint, about=ast.args[:1])
    selection = Selection(inference, ast, base, iter(numbers))
    for axis in range(base.rank):
        if axis >= len(written):
            label = inference.label(base.shape[axis])
            selection.axis_labels.append(label)
            selection.core.append(label)
        elif written[axis].head == "slice":
            _slice(selection, axis, written[axis])
        elif is_index(inference, written[axis]):
            _index(selection, axis, written[axis])
        else:
            _place(selection, axis, written[axis])
    operands = [(base, tuple(selection.axis_labels)), *selection.selectors]
    value = einsum(inference, ast, operands, tuple(selection.core), row=base.row and len(selection.core) == 1)
    value.axes = tuple(sorted({*value.axes, *selection.named}))
    value.data.out = (*value.axes, *selection.core)
    return value


def _index(selection: Selection, axis: int, subscript: Ast) -> None:
    """Label an axis with an index in force."""
    inference, name = selection.inference, str(subscript.value)
    label, length = inference.bound[name], selection.base.shape[axis]
    if not inference.same(inference.lengths[label], length):
        a, b = inference.size_text(inference.lengths[label]), inference.size_text(length)
        tensor = inference.describe(selection.base)
        message = f"index {name} runs over {a} places and over axis {axis} of {tensor}: {a} and {b} differ"
        raise inference.fault(message, subscript, about=[selection.base.ast])
    selection.axis_labels.append(label)
    selection.named.append(label)


def _place(selection: Selection, axis: int, subscript: Ast) -> None:
    """Take one place of an axis: the axis goes away."""
    inference, length = selection.inference, selection.base.shape[axis]
    place = _from_start(_number(selection, subscript), length)
    for room in (place, length - 1 - place):
        inference.check_bound(room, selection.ast, subscript, f"is outside axis {axis} of")
    source = inference.label(length)
    selection.axis_labels.append(source)
    selection.select("slice", source, ONE, place)


def _slice(selection: Selection, axis: int, subscript: Ast) -> None:
    """Take a range of an axis."""
    inference, length = selection.inference, selection.base.shape[axis]
    start, stop, step = (None if bound.head == "empty" else _number(selection, bound) for bound in subscript.args)
    if step is not None and step != 1 and step != -1:
        raise NotSupported("a step other than 1 and -1", text=inference.text, at=subscript.args[2].caret)
    backwards = step == -1
    if backwards:
        low = ZERO if stop is None else _from_start(stop, length) + 1
        high = length if start is None else _from_start(start, length) + 1
    else:
        low = ZERO if start is None else _from_start(start, length)
        high = length if stop is None else _from_start(stop, length)
    _check_range(selection, axis, subscript, low, high)
    source = label = inference.label(length)
    selection.axis_labels.append(source)
    if low is not ZERO or high is not length:
        label = selection.select("slice", label, high - low, low)
    if backwards:
        label = selection.select("flip", label, inference.lengths[label], ZERO)
    selection.core.append(label)


def _check_range(selection: Selection, axis: int, subscript: Ast, low: Size, high: Size) -> None:
    inference, length = selection.inference, selection.base.shape[axis]
    for room in (low, length - high):
        inference.check_bound(room, selection.ast, subscript, f"is outside axis {axis} of")
    open_ended = low is ZERO or high is length
    message = f"is outside axis {axis} of" if open_ended else "ends before it starts on an axis of"
    inference.check_bound(high - low, selection.ast, subscript, message)


def _number(selection: Selection, subscript: Ast) -> Size:
    """Return the next numeric subscript."""
    inference, value = selection.inference, next(selection.numbers)
    if value.exact is None or any(c.denominator != 1 for _, c in value.exact.terms):
        message = f"a subscript is an integer or a size, not {shown(subscript)}"
        raise inference.fault(message, subscript, about=[subscript])
    return value.exact


def _from_start(place: Size, length: Size) -> Size:
    """Return a subscript counted from the start: one that is negative for all sizes counts from the end."""
    return length + place if is_negative(place) else place


def is_negative(size: Size) -> bool:
    """Whether a size is negative for all values of its names, as far as its coefficients tell."""
    return bool(size.terms) and all(c < 0 for _, c in size.terms) and not any(m == () and c == 0 for m, c in size.terms)
