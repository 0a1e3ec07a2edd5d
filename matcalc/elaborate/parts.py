"""Parts and blocks: `A[1:3, 0]`, `x[-1]`, `A[i,k]`, `[A, B; C, D]`, as contractions with slice selectors.

Subscripts follow NumPy: from zero, the end excluded, negative ones from the end, steps 1 and -1. Bounds are never
clipped: one that is outside for all sizes is an error here, one that depends on sizes is checked when they are known.
In index form a subscript that is an index name labels its axis instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from matcalc.elaborate.inference import Inference, broadcast, common_axes, einsum, shown
from matcalc.elaborate.typed import ONE, Labels, Typed
from matcalc.elaborate.unify import bounded
from matcalc.errors import NotSupported
from matcalc.language.syntax import Ast
from matcalc.sizes import Size

ZERO = Size.of(0)


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
    """Return the trees in the subscripts of a part that are numbers or sizes, in order; the others are indices."""
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
    if selection.named:
        axes = (*value.axes, *(label for label in dict.fromkeys(selection.named) if label not in value.axes))
        value.axes = axes
        value.data.out = (*axes, *selection.core)
    return value


def _index(selection: Selection, axis: int, subscript: Ast) -> None:
    """Label an axis with an index in force."""
    inference, name = selection.inference, str(subscript.value)
    label, length = inference.bound[name], selection.base.shape[axis]
    if not inference.same(inference.lengths[label], length):
        a, b = inference.size_text(inference.lengths[label]), inference.size_text(length)
        message = f"index {name} runs over {a} places and over axis {axis} of {inference.describe(selection.base)}: {a} and {b} differ"
        raise inference.fault(message, subscript, about=[selection.base.ast])
    selection.axis_labels.append(label)
    selection.named.append(label)


def _place(selection: Selection, axis: int, subscript: Ast) -> None:
    """Take one place of an axis: the axis goes away."""
    inference, length = selection.inference, selection.base.shape[axis]
    place = _from_start(_number(selection, subscript), length)
    message = f"{shown(subscript)} is outside axis {axis} of {shown(selection.base.ast)}"
    inference.check_bound(place, message, subscript)
    inference.check_bound(length - 1 - place, message, subscript)
    source = inference.label(length)
    selection.axis_labels.append(source)
    selection.select("slice", source, ONE, place)


def _slice(selection: Selection, axis: int, subscript: Ast) -> None:
    """Take a range of an axis."""
    inference, length = selection.inference, selection.base.shape[axis]
    start, stop, step = (
        None if bound.head == "empty" else _number(selection, bound) for bound in subscript.args
    )
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
    outside = f"{shown(subscript)} is outside axis {axis} of {shown(selection.base.ast)}"
    inference.check_bound(low, outside, subscript)
    inference.check_bound(length - high, outside, subscript)
    inference.check_bound(high - low, f"the part {shown(subscript)} ends before it starts", subscript)


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


def infer_block(inference: Inference, ast: Ast, rows: list[list[Typed]]) -> Typed:
    """Return `[A, B; C, D]`. Scalars and columns below one another are a vector, all else a matrix."""
    entries = [entry for row in rows for entry in row]
    wide = next((entry for entry in entries if entry.rank > 2), None)
    if wide is not None:
        raise inference.fault(f"{inference.describe(wide)} is no block", wide.ast)
    is_vector = all(len(row) == 1 and (row[0].rank == 0 or (row[0].rank == 1 and not row[0].row)) for row in rows)
    numbers = [entry.exact for entry in entries]
    if all(n is not None and n.is_integer for n in numbers) and len({len(row) for row in rows}) == 1:
        return _literal(ast, rows, is_vector)
    heights = [_heights(inference, row) for row in rows]
    widths = [_width(inference, row) for row in rows]
    _align(inference, rows)
    for k, width in enumerate(widths[1:], 1):
        if not inference.same(widths[0], width):
            a, b = inference.size_text(widths[0]), inference.size_text(width)
            message = f"rows of a block matrix of unequal width: {a} and {b} columns"
            raise inference.fault(message, ast.args[k], about=[ast])
    height = _total(heights)
    core = (inference.label(height),) if is_vector else (inference.label(height), inference.label(widths[0]))
    terms: list[Typed] = []
    top = ZERO
    for row, tall in zip(rows, heights, strict=True):
        left = ZERO
        for entry in row:
            terms.append(_placed(inference, ast, entry, core, top, left, len(rows) == 1, len(row) == 1))
            left = left + _columns(entry)
        top = top + tall
    axes = common_axes(terms)
    aligned = tuple(broadcast(inference, term, axes, core) for term in terms)
    shape = tuple(inference.lengths[label] for label in core)
    if len(aligned) == 1:
        return aligned[0]
    return Typed("sum", ast, shape, aligned, (Fraction(1),) * len(aligned), axes)


def _align(inference: Inference, rows: list[list[Typed]]) -> None:
    """Take blocks below one another as of one width where the widths are not known and the rows have as many blocks."""
    for row in rows[1:]:
        if len(row) != len(rows[0]):
            return
    for column in zip(*rows, strict=True):
        lengths = [inference.sizes.resolve(_columns(entry)) for entry in column]
        for length in lengths:
            if length.key[0] == "?":
                inference.same(lengths[0], length)


def _literal(ast: Ast, rows: list[list[Typed]], is_vector: bool) -> Typed:
    numbers = tuple(tuple(entry.exact.constant for entry in row if entry.exact is not None) for row in rows)
    shape = (Size.of(len(rows)),) if is_vector else (Size.of(len(rows)), Size.of(len(rows[0])))
    return Typed("constant", ast, shape, data=numbers)


def _rows(entry: Typed) -> Size:
    return ONE if entry.rank == 0 or entry.row else entry.shape[0]


def _columns(entry: Typed) -> Size:
    if entry.rank == 2:
        return entry.shape[1]
    return entry.shape[0] if entry.row else ONE


def _heights(inference: Inference, row: list[Typed]) -> Size:
    """Return the height of a row of blocks."""
    for entry in row[1:]:
        if not inference.same(_rows(row[0]), _rows(entry)):
            a, b = inference.describe(row[0]), inference.describe(entry)
            reason = " and ".join(inference.size_text(_rows(e)) for e in (row[0], entry))
            message = f"cannot put {a} beside {b}: {reason} rows differ"
            raise inference.fault(message, entry.ast, about=(row[0].ast, entry.ast))
    return _rows(row[0])


def _width(inference: Inference, row: list[Typed]) -> Size:
    return _total([_columns(entry) for entry in row])


def _total(sizes: list[Size]) -> Size:
    total = ZERO
    for size in sizes:
        total = bounded(total + size)
    return total


def _placed(
    inference: Inference, ast: Ast, entry: Typed, core: Labels, top: Size, left: Size, one_row: bool, one_column: bool
) -> Typed:
    """Return a block put in its place in the whole, zeros elsewhere."""
    operands: list[tuple[Typed, Labels]] = []
    spans = [(top, _rows(entry), one_row)]
    if len(core) == 2:
        spans.append((left, _columns(entry), one_column))
    inner: list[int] = []
    for label, (offset, length, whole) in zip(core, spans, strict=True):
        if whole:
            inner.append(label)
            continue
        inner.append(inference.label(length))
        selector = Typed("selector", ast, (inference.lengths[label], length), data=("slice", offset))
        operands.append((selector, (label, inner[-1])))
    own = () if entry.rank == 0 else tuple(inner) if entry.rank == 2 else (inner[1],) if entry.row else (inner[0],)
    return einsum(inference, entry.ast, [(entry, own), *operands], core)
