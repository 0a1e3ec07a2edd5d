"""Infers block matrices `[A, B; C, D]`, `[x; y]`, `[1, 2; 3, 4]`, as sums of blocks positioned by slice selectors.

A row counts as 1 x n, a column as n x 1, a scalar as 1 x 1. Scalars and columns below one another form a vector;
everything else is a matrix. Numbers alone form a literal array.
"""

from __future__ import annotations

from fractions import Fraction

from matcalc.formula.inference.inference import Inference, broadcast, common_axes, einsum
from matcalc.formula.inference.typed import ONE, ZERO, Labels, Typed
from matcalc.formula.inference.unify import bounded
from matcalc.language.syntax import ENTRIES, Ast
from matcalc.tensor.sizes.size import Size


def infer_block(inference: Inference, ast: Ast, rows: list[list[Typed]]) -> Typed:
    """Return `[A, B; C, D]`. Scalars and columns below one another form a vector, everything else a matrix."""
    entries = [entry for row in rows for entry in row]
    wide = next((entry for entry in entries if entry.rank > 2), None)
    if wide is not None:
        raise inference.fault(f"a block is a scalar, vector or matrix, not {inference.describe(wide)}", wide.ast)
    array = next((entry for entry in entries if entry.rank), None) if ast.value == ENTRIES else None
    if array is not None:
        message = f"an entry of an array is a scalar, not {inference.describe(array)}"
        raise inference.fault(message, array.ast, hint="write np.stack or np.block")
    is_vector = all(len(row) == 1 and (row[0].rank == 0 or (row[0].rank == 1 and not row[0].row)) for row in rows)
    numbers = [entry.exact for entry in entries]
    if all(n is not None and n.is_integer for n in numbers) and len({len(row) for row in rows}) == 1:
        return _literal(ast, rows, is_vector)
    heights = [_heights(inference, row) for row in rows]
    widths = [_total([_columns(entry) for entry in row]) for row in rows]
    _align(inference, rows)
    for k, width in enumerate(widths[1:], 1):
        if not inference.same(widths[0], width):
            a, b = inference.size_text(widths[0]), inference.size_text(width)
            message = f"rows of a block matrix of unequal width: {a} and {b} columns"
            about = (ast.args[0], ast.args[k])
            raise inference.fault(message, ast.args[k], about=about, sizes=(widths[0], width))
    height = _total(heights)
    core = (inference.label(height),) if is_vector else (inference.label(height), inference.label(widths[0]))
    terms: list[Typed] = []
    top = ZERO
    for row, tall in zip(rows, heights, strict=True):
        left = ZERO
        for entry in row:
            terms.append(_positioned(inference, ast, entry, core, top, left, len(rows) == 1, len(row) == 1))
            left = left + _columns(entry)
        top = top + tall
    axes = common_axes(terms)
    aligned = tuple(broadcast(inference, term, axes, core) for term in terms)
    shape = tuple(inference.lengths[label] for label in core)
    if len(aligned) == 1:
        return aligned[0]
    return Typed("sum", ast, shape, aligned, (Fraction(1),) * len(aligned), axes)


def _align(inference: Inference, rows: list[list[Typed]]) -> None:
    """Equate the unknown widths of blocks below one another, if all rows have equally many blocks."""
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
            sizes = _rows(row[0]), _rows(entry)
            reason = " and ".join(map(inference.size_text, sizes))
            message = f"cannot put {a} beside {b}: {reason} rows differ"
            raise inference.fault(message, entry.ast, about=(row[0].ast, entry.ast), sizes=sizes)
    return _rows(row[0])


def _total(sizes: list[Size]) -> Size:
    total = ZERO
    for size in sizes:
        total = bounded(total + size)
    return total


def _positioned(
    inference: Inference,
    ast: Ast,
    entry: Typed,
    core: Labels,
    top: Size,
    left: Size,
    one_row: bool,
    one_column: bool,
) -> Typed:
    """Return a block at its position in the whole, zeros elsewhere."""
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
