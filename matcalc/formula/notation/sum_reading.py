"""Reads sums: `x + y - 2*z`, with blocks as one array, repeated rows and columns, and symmetric parts.

A multiple of a sum is multiplied out if it is read as a sum; its terms are read first.
"""

from __future__ import annotations

from fractions import Fraction

from matcalc.formula.forms import form as forms
from matcalc.formula.forms.form import Form
from matcalc.formula.notation.blocks import block_reading, is_placed
from matcalc.formula.notation.context import Context
from matcalc.formula.notation.node_reading import Reading, is_identity, summed
from matcalc.formula.notation.symmetric_parts import LEAST_SAVED, with_parts
from matcalc.tensor.constructors import add
from matcalc.tensor.nodes.labelling import changes_sign
from matcalc.tensor.nodes.node import Node, terms_of

Spread = tuple[Fraction, Reading, bytes]
"""A coefficient, the reading of a term, and what decides its place among equal ones."""


def sum_reading(context: Context, node: Node) -> Reading:
    return sum_of(context, node, Fraction(1))


def sum_of(context: Context, node: Node, factor: Fraction) -> Reading:
    """Return the reading of a sum times a number, multiplied out."""
    terms = _all_terms(node)
    blocks = block_reading(context, [(factor * c, a) for c, a in terms])
    if blocks is not None:
        return blocks
    terms, together = _blocks_together(context, node, terms, factor)
    readings = [_term_reading(context, arg) for _, arg in terms]
    spread: list[list[Spread]] = []
    if node.rank and any(r.form.scalar is None for r in readings) and not any(is_identity(r.form) for r in readings):
        spread = [
            _spread(context, arg) if r.form.scalar is not None else []
            for r, (_, arg) in zip(readings, terms, strict=True)
        ]
        readings = [_repeated(r.form.scalar) if r.form.scalar is not None else r for r in readings]
    written_whole = readings
    if all(size != 1 for size in node.shape):  # a 1 x 1 matrix would be read as a scalar beside a row or a column
        readings = _lines(readings)
    coefs = [factor * c for c, _ in terms]
    whole = [*zip(coefs, readings, strict=True), *together]
    ties = [*(a.digest for _, a in terms), *(node.digest for _ in together)]
    written_out = summed(whole, ties)
    if any(spread):
        flat: list[Spread] = []
        for k, ((coef, reading), tie) in enumerate(zip(whole, ties, strict=True)):
            parts = spread[k] if k < len(spread) else []
            flat += [(coef * c, r, t) for c, r, t in parts or [(Fraction(1), reading, tie)]]
        spread_out = summed([(c, r) for c, r, _ in flat], [tie for *_, tie in flat])
        written_out = spread_out if spread_out.form.tokens <= written_out.form.tokens else written_out
    if node.rank != 2 or written_out.form.tokens < LEAST_SAVED or len(terms) != len(node.args):
        return written_out
    symmetric = with_parts(list(zip(coefs, (a for _, a in terms), written_whole, strict=True)))
    is_shorter = symmetric is not None and symmetric.form.tokens + LEAST_SAVED <= written_out.form.tokens
    return symmetric if symmetric is not None and is_shorter else written_out


def _lines(readings: list[Reading]) -> list[Reading]:
    """Return the terms of a sum; a repeated row or column is written once if other terms show the other axis."""
    extents = {r.form.extent if r.form.line is None else r.form.line.extent for r in readings}
    return [_line(r) or r for r in readings] if len(extents - {forms.POINT}) > 1 else readings


def _line(reading: Reading) -> Reading | None:
    found = (reading.form, reading.minus, reading.transposed, reading.transposed_minus)
    plus, minus, transposed, transposed_minus = (form and form.line for form in found)
    if plus is None or transposed is None or (minus is None) != (reading.minus is None):
        return None
    return Reading(plus, minus, reading.natural, transposed, transposed_minus)


def _blocks_together(
    context: Context, node: Node, terms: list[tuple[Fraction, Node]], factor: Fraction
) -> tuple[list[tuple[Fraction, Node]], list[tuple[Fraction, Reading]]]:
    """Return the terms of a sum that are not blocks, and the blocks among them as one: `[x; z] + y`."""
    placed = [(c, a) for c, a in terms if is_placed(a)]
    if not 2 <= len(placed) < len(terms):
        return terms, []
    rest = [(c, a) for c, a in terms if not is_placed(a)]
    sign = 1 if any(factor * c > 0 for c, _ in placed) else -1
    blocks = block_reading(context, [(sign * factor * c, a) for c, a in placed])
    if blocks is None or add([(Fraction(1), add(placed)), *rest]) is not node:
        return terms, []
    return rest, [(Fraction(sign), blocks)]


def _all_terms(node: Node) -> list[tuple[Fraction, Node]]:
    """Return the terms of a sum, including those of its groups if the constructor forms the same groups."""
    terms = list(node.terms)
    while any(a.kind == "sum" for _, a in terms):
        flat = [(c * k, a) for c, term in terms for k, a in terms_of(term)]
        if add(flat) is not node:
            break
        terms = flat
    return terms


def _term_reading(context: Context, node: Node) -> Reading:
    """Return a term of a sum; a matrix with its transpose, which the whole sum may need."""
    reading = context.readings[node]
    reading.is_skew = node.rank == 2 and changes_sign(node)
    if node.rank == 2 and reading.transposed is None:
        symmetric = "symmetric" in node.facts
        reading.transposed = reading.form if symmetric else forms.transposed(reading.form)
        if reading.minus is not None:
            reading.transposed_minus = reading.minus if symmetric else forms.transposed(reading.minus)
    return reading


def _spread(context: Context, node: Node) -> list[Spread]:
    """Return the terms of a sum of scalars that fills an array, each as a repeated scalar; none for another node."""
    if node.kind != "product" or len(node.args) != 1 or node.args[0].kind != "sum" or node.args[0].rank:
        return []
    return [(node.coef * c, _repeated(context.readings[term].form), term.digest) for c, term in terms_of(node.args[0])]


def _repeated(scalar: Form) -> Reading:
    form = scalar.as_repeated()
    return Reading(form, transposed=form)
