"""Reads sums of arrays positioned by slices as block matrices `[A, B; C, D]`.

Each term has a position on every axis. The positions must form a grid, whose empty cells are zeros. A block of one row
or column that does not vary along it is written as a row, column or scalar.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from matcalc.formula.forms import form as forms
from matcalc.formula.forms.form import ATOM, Form, number, played
from matcalc.formula.notation.context import Context
from matcalc.formula.notation.flatten import opened
from matcalc.formula.notation.node_reading import Reading, scaled
from matcalc.formula.notation.products import product_reading
from matcalc.language import syntax
from matcalc.tensor.nodes.node import Indices, Node, Operand
from matcalc.tensor.product import simple_product
from matcalc.tensor.sizes.size import Size, is_nonnegative

Span = tuple[Size, Size]  # offset and length on an axis


class Placed(NamedTuple):
    """A block: its form and its transpose's, its spans, the axes it does not vary along, whether it is a number."""

    form: Form
    transposed: Form
    spans: tuple[Span, ...]
    flat: tuple[bool, ...]
    is_number: bool


def block_reading(context: Context, terms: Sequence[tuple[Fraction, Node]]) -> Reading | None:
    """Return a sum of positioned terms as a block array, None for any other sum."""
    shape = terms[0][1].shape
    if not 1 <= len(shape) <= 2 or not all(is_placed(node) for _, node in terms):
        return None
    blocks: dict[tuple[Span, ...], Placed] = {}
    for coef, node in terms:
        block = _placed(context, coef, node)
        if block is None or block.spans in blocks:
            return None
        blocks[block.spans] = block
    cuts = [_cuts([spans[axis] for spans in blocks], size) for axis, size in enumerate(shape)]
    if any(c is None for c in cuts) or all(c is not None and len(c) == 1 for c in cuts):
        return None
    rows = cuts[0] or []
    columns = cuts[1] or [] if len(cuts) == 2 else []
    if _reads_as_literal(blocks, [*rows, *columns]):
        return None
    if len(shape) == 1:
        return Reading(_array([[_cell(context, blocks.get((r,)), (r,), False)] for r in rows]))
    if any(r not in rows or c not in columns for r, c in blocks):
        return None
    straight = _array([[_cell(context, blocks.get((r, c)), (r, c), False) for c in columns] for r in rows])
    transposed = _array([[_cell(context, blocks.get((r, c)), (r, c), True) for r in rows] for c in columns])
    if _reads_as_vector(blocks, columns, 1):
        return Reading(forms.transposed(transposed), transposed=transposed)
    return Reading(straight, transposed=None if _reads_as_vector(blocks, rows, 0) else transposed)


def _reads_as_vector(blocks: Mapping[tuple[Span, ...], Placed], columns: Sequence[Span], axis: int) -> bool:
    """Whether a matrix is one column of scalars and vectors, which would be read as a vector."""
    return len(columns) == 1 and columns[0][1] == 1 and all(block.flat[axis] for block in blocks.values())


def _reads_as_literal(blocks: Mapping[tuple[Span, ...], Placed], cuts: Sequence[Span]) -> bool:
    """Whether all cells are numbers, which would be read as a literal array, another node."""
    return all(size == 1 for _, size in cuts) and all(block.is_number for block in blocks.values())


def is_placed(node: Node) -> bool:
    """Whether slices position a term in a larger array."""
    return node.kind == "selector" or any(a.kind == "selector" and a.selector.kind == "slice" for a in node.args)


def _placed(context: Context, coef: Fraction, node: Node) -> Placed | None:
    """Split a term into its block and the slices that position it."""
    if node.kind != "product" or len(set(node.out)) < len(node.out):
        return None
    operands = list(node.operands)
    inner: list[int] = []
    spans: list[Span] = []
    for index in node.out:
        holders = [(a, at) for a, at in operands if index in at]
        chosen = holders[0] if len(holders) == 1 else None
        if chosen and chosen[0].kind == "selector" and _is_placing(chosen[0], chosen[1], index, node.out):
            operands.remove(chosen)
            inner.append(chosen[1][1])
            spans.append((chosen[0].selector.offset, chosen[0].shape[1]))
        else:
            inner.append(index)
            spans.append((Size.of(0), node.index_sizes[index]))
    form, transposed, is_number = _block(context, coef * node.coef, operands, inner, node.index_sizes)
    flat = tuple(not any(index in at for _, at in operands) for index in inner)
    return Placed(form, transposed, tuple(spans), flat, is_number)


def _is_placing(node: Node, at: Indices, index: int, out: Indices) -> bool:
    return node.selector.kind == "slice" and at[0] == index and at[1] not in out


def _block(
    context: Context,
    coef: Fraction,
    operands: list[Operand],
    out: list[int],
    sizes: Sequence[Size],
) -> tuple[Form, Form, bool]:
    """Return the formulas of a block and its transpose, perhaps without axes of length 1; whether it is a number."""
    measured = {i for _, at in operands for i in at}
    core = [i for i in out if i in measured or sizes[i] != 1]
    node = simple_product(coef, operands, tuple(core), {i: sizes[i] for i in core})
    if node.kind == "number":
        reading = Reading(forms.signed_number(node.value))
    elif node.kind != "product" or node in context.readings:
        reading = context.readings[node]
    else:
        plain = product_reading(*opened(context, node))
        reading = Reading(
            scaled(plain.form, node.coef), transposed=plain.transposed and scaled(plain.transposed, node.coef)
        )
    form = reading.form
    transposed = reading.transposed or (form if not core else forms.transposed(form))
    is_row = len(out) == 2 and core == out[1:]
    return (transposed, form, False) if is_row else (form, transposed, node.kind == "number")


def _cuts(spans: list[Span], size: Size) -> list[Span] | None:
    """Return the spans of an axis in order, gaps between them included; None if they overlap."""
    left = list(dict.fromkeys(spans))
    here = Size.of(0)
    found: list[Span] = []
    while left:
        following = [s for s in left if is_nonnegative(s[0] - here)]
        first = next((s for s in following if all(is_nonnegative(o[0] - s[0]) for o in left)), None)
        if first is None:
            return None
        if first[0] != here:
            found.append((here, first[0] - here))
        found.append(first)
        left.remove(first)
        here = first[0] + first[1]
    if here != size:
        if not is_nonnegative(size - here):
            return None
        found.append((here, size - here))
    return found


def _cell(context: Context, block: Placed | None, spans: tuple[Span, ...], transpose: bool) -> Form:
    if block is not None:
        return block.transposed if transpose else block.form
    sizes = [length for _, length in spans]
    if all(size == 1 for size in sizes):
        return number(0)
    return played("all_zeros", *(context.size(s) for s in (sizes[::-1] if transpose else sizes)))


def _array(rows: list[list[Form]]) -> Form:
    entries = [form for row in rows for form in row]
    tokens = 1 + sum(form.tokens + 1 for form in entries)
    ast = syntax.block([[form.ast for form in row] for row in rows])
    degree = max(form.degree for form in entries)
    return Form(ast, ATOM, tokens, forms.transposes(entries), forms.joined(entries), degree, forms.used(entries))
