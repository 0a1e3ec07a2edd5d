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
from matcalc.formula.notation.definitions import calls_of
from matcalc.formula.notation.node_reading import Reading, divides, scaled
from matcalc.formula.notation.products import product_reading
from matcalc.formula.notation.sum_reading import sum_of
from matcalc.tensor.constructors import add, scale
from matcalc.tensor.elementwise import exact_root
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
        apart = {arg: reading for arg, (_, reading) in multiples.items()}
        context = context._replace(readings=ChainMap(apart, context.readings))  # type: ignore[arg-type]
    best = _with_coefficient(product_reading(context, written), coef)
    if coef == 0 or abs(coef) == 1:
        return best
    least = best.form.tokens, False, _height(coef)
    for arg in dict.fromkeys(written.args):
        start, before = context, coef
        count = written.args.count(arg)
        for factor, is_likely, reading in _scaled_readings(whole, arg, read, abs(before), count):
            trial = _with_reading(start, arg, reading)
            left: Fraction = before * factor**count
            other = _with_coefficient(product_reading(trial, written), left)
            key = other.form.tokens, not is_likely, _height(left)
            if key < least:
                best, least, context, coef = other, key, trial, left
    return best


def _scaled_readings(
    context: Context, node: Node, read: Read, coef: Fraction, count: int
) -> Iterator[tuple[Fraction, bool, Reading]]:
    """Yield a sum, or a function of one, as numbers times readings, and whether a person is likely to write that.

    The node is `count` factors of a product with the coefficient `coef`, which may have been inside.
    """
    if node.kind == "sum":
        yield from ((each, likely, sum_of(context, node, 1 / each)) for each, likely in _scales(node, coef, count))
    elif node.kind in ("map", "op") and len(node.args) == 1 and node.args[0].kind == "sum":
        (argument,) = node.args
        reversed_ = scale(-1, argument)
        if not _arguments_of_calls(node) <= {argument, reversed_}:
            return
        for each, likely in _scales(argument, coef, count):
            factor, rest = split_coef(remake(node, {argument: scale(1 / each, argument)}))
            if rest is node and factor != 1:
                both = {arg: sum_of(context, argument, sign / each) for arg, sign in ((reversed_, -1), (argument, 1))}
                inner = context._replace(readings=ChainMap(both, context.readings))  # type: ignore[arg-type]
                yield 1 / factor, likely, read(inner, node)


def _arguments_of_calls(node: Node) -> set[Node]:
    """Return the arrays in calls of definitions as which an operation may be read: `lambda_min(S)` for that of `-S`."""
    calls = calls_of(node) if node.kind == "op" and not node.batch_rank else ()
    return {arg for call in calls for arg in call.arguments if isinstance(arg, Node)}


def _with_reading(context: Context, node: Node, reading: Reading) -> Context:
    return context._replace(readings=ChainMap({node: reading}, context.readings))  # type: ignore[arg-type]


def _height(coef: Fraction) -> int:
    return max(abs(coef.numerator), coef.denominator)


def _scales(node: Node, coef: Fraction, count: int) -> list[tuple[Fraction, bool]]:
    """Return numbers by which a sum can be divided and be read as the same sum, and whether that is likely written.

    They leave a term without a coefficient, or `count` equal factors without the `coef` before them. Likely are the
    former if fractions left are decimals, and if there are none, the latter with a decimal: `inv(K/2 + 0.1*eye(n))`.
    """
    alone = [each for each in dict.fromkeys(abs(c) for c, _ in node.terms) if each > 1 and _is_read(node, each)]
    found = [(each, all(_decimals(node, each))) for each in alone]
    whole = exact_root(coef, count)
    if whole is not None:
        is_decimal = whole.denominator == 1 and not any(likely for _, likely in found)
        inside = [each for each in (whole, 1 / whole) if each not in alone and _is_read(node, each)]
        found += [(each, is_decimal and any(_decimals(node, each))) for each in inside]
    return found


def _decimals(node: Node, each: Fraction) -> list[bool]:
    """Return for each fraction among the divided coefficients whether it is written as a decimal."""
    coefs = [c / each for c, _ in node.terms]
    return [forms.is_decimal(c) and not divides(abs(c)) for c in coefs if c.denominator > 1]


def _is_read(node: Node, each: Fraction) -> bool:
    terms = [(c / each, arg) for c, arg in node.terms]
    is_short = all(forms.is_decimal(c) or divides(abs(c)) for c, _ in terms)
    return is_short and add(terms) is scale(1 / each, node)


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
