"""Reads a product with a coefficient, part of which its operands hold: `inv(K + 0.1*eye(n))`.

A sum has coprime integers as coefficients, so decimals that a user wrote in it are a factor of the product around it.
A sum may also be an argument: of a power, or of an operation that a factor leaves. Each scale of a sum here returns one
of its terms to a coefficient of 1 and leaves only integers and decimals in front of the others. A coefficient outside
is never introduced: a product without one is read as it is.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import prod

from matcalc.formula.forms import form as forms
from matcalc.formula.forms.form import Form
from matcalc.formula.notation.context import Context
from matcalc.formula.notation.node_reading import Reading, divides, scaled
from matcalc.formula.notation.products import product_reading
from matcalc.formula.notation.sum_reading import sum_of
from matcalc.tensor.constructors import add, scale
from matcalc.tensor.nodes.node import Node, OpenProduct
from matcalc.tensor.substitute import remake
from matcalc.tensor.sums import split_coef

Read = Callable[[Context, Node], Reading]


def with_scales(whole: Context, context: Context, written: OpenProduct, read: Read) -> Reading:
    """Return the reading of a product; numbers of which its operands are multiples move to the front, or into them.

    `whole` has the readings of all nodes, `context` those of the operands; `read` reads a function of a sum.
    """
    multiples = {arg: found for arg in written.args if (found := context.readings[arg].multiple) is not None}
    coef = written.coef * prod(multiples[arg][0] for arg in written.args if arg in multiples)
    if multiples:
        readings = {a: multiples[a][1] if a in multiples else context.readings[a] for a in written.args}
        context = context._replace(readings=readings)
    best = _with_coefficient(product_reading(context, written), coef)
    if coef == 0 or abs(coef) == 1:
        return best
    for arg in dict.fromkeys(written.args):
        start, before = context, coef
        for factor, reading in _scaled_readings(whole, arg, read):
            trial = _with_reading(start, arg, reading)
            left: Fraction = before * factor ** written.args.count(arg)
            other = _with_coefficient(product_reading(trial, written), left)
            if (other.form.tokens, _height(left)) < (best.form.tokens, _height(coef)):
                best, context, coef = other, trial, left
    return best


def _scaled_readings(context: Context, node: Node, read: Read) -> Iterator[tuple[Fraction, Reading]]:
    """Yield a sum, or a function of one, as numbers times readings."""
    if node.kind == "sum":
        yield from ((each, sum_of(context, node, 1 / each)) for each in _scales(node))
    elif node.kind in ("map", "op") and len(node.args) == 1 and node.args[0].kind == "sum":
        (argument,) = node.args
        for each in _scales(argument):
            factor, rest = split_coef(remake(node, {argument: scale(1 / each, argument)}))
            if rest is node and factor != 1:
                inner = _with_reading(context, argument, sum_of(context, argument, 1 / each))
                yield 1 / factor, read(inner, node)


def _with_reading(context: Context, node: Node, reading: Reading) -> Context:
    return context._replace(readings=ChainMap({node: reading}, context.readings))  # type: ignore[arg-type]


def _height(coef: Fraction) -> int:
    return max(abs(coef.numerator), coef.denominator)


def _scales(node: Node) -> list[Fraction]:
    """Return the coefficients by which a sum can be divided, with decimals left, and be read as the same sum."""
    found = []
    for each in dict.fromkeys(abs(coef) for coef, _ in node.terms):
        coefs = [coef / each for coef, _ in node.terms]
        if each > 1 and all(c.denominator == 1 or (forms.is_decimal(c) and not divides(abs(c))) for c in coefs):
            terms = [(c, arg) for c, (_, arg) in zip(coefs, node.terms, strict=True)]
            found += [each] if add(terms) is scale(1 / each, node) else []
    return found


def _with_coefficient(reading: Reading, coef: Fraction) -> Reading:
    if coef in (0, 1):
        return reading
    size = abs(coef)
    plus, minus, transposed, transposed_minus = (
        form and _times(form, size)
        for form in (reading.form, reading.minus, reading.transposed, reading.transposed_minus)
    )
    assert plus is not None
    if reading.form.scalar is not None:
        plus = plus.repeating(scaled(reading.form.scalar, size))
    if coef > 0:
        return Reading(plus, minus, reading.natural, transposed, transposed_minus)
    if minus is not None:
        return Reading(minus, plus, not reading.natural, transposed_minus, transposed)
    form = _times(plus, Fraction(-1))
    if plus.scalar is not None:
        form = form.repeating(forms.negated(plus.scalar))
    return Reading(form, transposed=transposed and _times(transposed, Fraction(-1)))


def _times(form: Form, coef: Fraction) -> Form:
    """Return a multiple of a form, and of the row or column that it repeats."""
    line = form.line and replace(scaled(form.line, coef), extent=form.line.extent)
    return replace(scaled(form, coef), line=line)
