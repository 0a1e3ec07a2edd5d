"""Raising: from a node back to what a mathematician writes, one to one.

Each node of the DAG is read once, operands first; a reading is a formula with its price, so that every step
is local and the walk needs no recursion. Reading the formula back builds the same node: what is chosen here
(directions, order, signs) is what the normal form does not see. Nothing is simplified or multiplied out.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable, Collection, Mapping, MutableMapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import prod
from types import MappingProxyType
from weakref import WeakKeyDictionary

from matcalc.errors import NotSupported
from matcalc.formula.elaborate.function_arguments import PARAMETER
from matcalc.formula.notation import form as forms
from matcalc.formula.notation.blocks import block_reading, is_placed
from matcalc.formula.notation.calls import arguments, name_of, operation_reading
from matcalc.formula.notation.context import Context
from matcalc.formula.notation.flatten import opened
from matcalc.formula.notation.form import Form
from matcalc.formula.notation.index_names import Names
from matcalc.formula.notation.length import tokens
from matcalc.formula.notation.literal import literal
from matcalc.formula.notation.node_reading import Reading, is_identity, of_difference, scaled, summed
from matcalc.formula.notation.products import product_reading, selector_form, sizes_below
from matcalc.formula.notation.shared_parts import Shared
from matcalc.formula.notation.symmetric_parts import LEAST_SAVED, with_parts
from matcalc.language import syntax
from matcalc.language.syntax import Ast
from matcalc.rulebook.notations import spelled
from matcalc.tensor.constructors import add, product
from matcalc.tensor.labelling import is_turning
from matcalc.tensor.node import LONG, Node, everything, exponent_of, sizes_met, terms_of, toposort
from matcalc.tensor.raw_nodes import parameter
from matcalc.tensor.size import Size, tree_of

HALF = Fraction(1, 2)
NOT_NAMED: Mapping[Node, str] = MappingProxyType({})


def formula_of(
    root: Node, avoid: Collection[str] = (), given: Mapping[Node, str] = NOT_NAMED, dotted: bool = True
) -> Ast:
    """Return the formula of a node; reading it with the node's declarations gives the node back.

    `avoid` are names in scope beyond the node's own symbols and sizes, which index names must not be; `given` are
    names for parts of the formula; without `dotted` rows and columns are repeated by `ones(m)`.

    Raises: NotSupported for a literal array of order 3 or more, which the language cannot write.
    """
    return form_of(root, avoid, given, dotted).ast


def whole_formula_of(root: Node, avoid: Collection[str] = (), given: Mapping[Node, str] = NOT_NAMED) -> Ast:
    """Return the formula of a node with all terms of a sum of one shape, as LaTeX, SymPy and derivations want it."""
    return formula_of(root, avoid, given, dotted=False)


def form_of(
    root: Node, avoid: Collection[str] = (), given: Mapping[Node, str] = NOT_NAMED, dotted: bool = True
) -> Form:
    """Return the formula of a node with its price, that of the parts which it shares included.

    Of a long formula what stands in several places is written once, as a shared part; so is what has a name in `given`.
    """
    taken = {*avoid, *sizes_met([root]), *(node.name for node in everything([root]) if node.kind == "symbol")}
    return _form_of(root, frozenset({*taken, *given.values()}), tuple(given.items()), dotted)


def tokens_of(root: Node) -> int:
    """Return the length of the formula of a node; what is read for one is kept for others that hold it.

    Raises: NotSupported for a literal array of order 3 or more.
    """
    return _KEPT[root].form.tokens if root.length <= LONG else form_of(root).tokens


@lru_cache(maxsize=64)
def _form_of(root: Node, taken: frozenset[str], given: tuple[tuple[Node, str], ...], dotted: bool) -> Form:
    shared = Shared(root, toposort(root), taken, dict(given))
    return shared.whole(Readings(taken, shared.reading, dotted=dotted)[root].form)


class Readings(UserDict[Node, Reading]):
    """The readings of nodes over one set of names, each on demand after its operands; `named` puts names for parts."""

    def __init__(
        self,
        taken: frozenset[str],
        named: Callable[[Node, Reading], Reading] = lambda _, reading: reading,
        known: MutableMapping[Node, Reading] | None = None,
        dotted: bool = True,
    ) -> None:
        self.data = {} if known is None else known  # type: ignore[assignment]
        self.named = named

        def equation(e: Node) -> Form:
            return form_of(e, taken, dotted=dotted)

        self.context = Context(self, form_of_size, function_form, equation, Names(taken), dotted)

    def __missing__(self, root: Node) -> Reading:
        for node in toposort(root):
            if node not in self.data:
                self.data[node] = self.named(node, READ[node.kind](self.context, node))
        return self.data[root]


def function_form(body: Node) -> Form:
    """Return a function as an argument: its name where it is one, else `x -> ...`.

    Functions nest only as deep as their text, so this may call itself.
    """
    if body.kind == "map" and not body.params and len(body.args) == 1 and body.args[0].kind == "symbol":
        return forms.name(name_of(body))
    if body.kind == "map" and exponent_of(body)[1] == HALF and body.args[0].kind == "symbol":
        return forms.name(spelled("square_root"))
    inner = form_of(body)
    return Form(syntax.function(PARAMETER, inner.ast), forms.ATOM, inner.tokens + 2, 0, (), 0)


@lru_cache(maxsize=1024)
def form_of_size(size: Size) -> Form:
    """Return a size as a formula."""
    ast = tree_of(size)
    return Form(ast, forms.level_of(ast), tokens(str(size)), 0, size.names, 0)


def _symbol(context: Context, node: Node) -> Reading:
    return Reading(forms.name(PARAMETER if node is parameter() else node.name))


def _number(context: Context, node: Node) -> Reading:
    return Reading(forms.signed_number(node.value))


def _size(context: Context, node: Node) -> Reading:
    return Reading(context.size(node.size))


def _constant(context: Context, node: Node) -> Reading:
    if node.rank > 2:
        raise NotSupported("a literal array of order 3 or more has no text")
    return Reading(literal(node.array))


def _selector(context: Context, node: Node) -> Reading:
    return Reading(selector_form(context, node))


def _product(context: Context, node: Node) -> Reading:
    blocks = block_reading(context, [(Fraction(1), node)])
    if blocks is not None:
        return blocks
    spread = _term_by_term(context, node)
    if spread is not None:
        return spread
    reading = _product_alone(context, node)
    spread = _multiplied_out(context, node)
    best = spread if spread is not None and spread.form.tokens < reading.form.tokens else reading
    turned = best.turned
    if turned is not None and "symmetric" in node.facts and turned.cost < best.form.cost:
        return Reading(turned, best.turned_minus, best.natural, turned, best.turned_minus)
    return best


def _multiplied_out(context: Context, node: Node) -> Reading | None:
    """Return a multiple of a sum, or of its transpose, with the coefficient multiplied in; None for what is neither."""
    if len(node.args) != 1 or node.args[0].kind != "sum" or node.out != _axes(node):
        return None
    if node.indices[0] == node.out:
        return _sum_of(context, node.args[0], node.coef)
    if node.indices[0] != (1, 0) or node.rank != 2:
        return None
    across = _sum_of(context, node.args[0], node.coef)
    if across.turned is None:
        return None
    return Reading(across.turned, across.turned_minus, across.natural, across.form, across.minus)


def _term_by_term(context: Context, node: Node) -> Reading | None:
    """Return a re-indexed sum of tensors as the sum of its re-indexed terms: `kron(A, B) + kron(C, D)`."""
    places = [k for k, arg in enumerate(node.args) if arg.kind == "sum" and arg.rank > 2]
    if len(places) != 1 or node.rank > 2 or any(a.kind not in ("selector", "sum") for a in node.args):
        return None
    (place,) = places
    operands = list(node.operands)
    whole = operands[place][0]
    sizes = node.sizes
    terms = []
    for coef, arg in whole.terms:
        operands[place] = (arg, node.indices[place])
        terms.append((coef * node.coef, product(1, operands, node.out, sizes)))
    if add(terms) is not node or any(a not in context.readings for _, t in terms for a in t.args):
        return None
    readings = [_product_alone(context, term) for _, term in terms]
    if any(r.form.body is not None for r in readings):
        return None
    coefs = [coef for coef, _ in terms]
    return summed(list(zip(coefs, readings, strict=True)), [t.digest for _, t in terms])


def _product_alone(context: Context, node: Node) -> Reading:
    """Return the reading of a product; numbers that its operands are multiples of go to the front."""
    context, written = opened(context, node)
    multiples = {arg: found for arg in written.args if (found := context.readings[arg].multiple) is not None}
    coef = node.coef * prod(multiples[arg][0] for arg in written.args if arg in multiples)
    if multiples:
        readings = {a: multiples[a][1] if a in multiples else context.readings[a] for a in written.args}
        context = context._replace(readings=readings)
    return _with_coefficient(product_reading(context, written), coef)


def _axes(node: Node) -> tuple[int, ...]:
    return tuple(range(node.rank))


def _with_coefficient(reading: Reading, coef: Fraction) -> Reading:
    if coef in (0, 1):
        return reading
    size = abs(coef)
    plus, minus, turned, turned_minus = (
        form and _times(form, size) for form in (reading.form, reading.minus, reading.turned, reading.turned_minus)
    )
    assert plus is not None
    if reading.form.scalar is not None:
        plus = plus.repeating(scaled(reading.form.scalar, size))
    if coef > 0:
        return Reading(plus, minus, reading.natural, turned, turned_minus)
    if minus is not None:
        return Reading(minus, plus, not reading.natural, turned_minus, turned)
    form = _times(plus, Fraction(-1))
    if plus.scalar is not None:
        form = form.repeating(forms.negated(plus.scalar))
    return Reading(form, turned=turned and _times(turned, Fraction(-1)))


def _times(form: Form, coef: Fraction) -> Form:
    """Return a multiple of a form, and of the row or column that it repeats."""
    line = form.line and replace(scaled(form.line, coef), says=form.line.says)
    return replace(scaled(form, coef), line=line)


def _sum(context: Context, node: Node) -> Reading:
    return _sum_of(context, node, Fraction(1))


def _sum_of(context: Context, node: Node, factor: Fraction) -> Reading:
    """Return the reading of a sum times a number, multiplied out."""
    terms = _all_terms(node)
    blocks = block_reading(context, [(factor * c, a) for c, a in terms])
    if blocks is not None:
        return blocks
    terms, together = _blocks_together(context, node, terms, factor)
    readings = [_term_reading(context, arg) for _, arg in terms]
    if node.rank and any(r.form.scalar is None for r in readings) and not any(is_identity(r.form) for r in readings):
        readings = [_repeated(r.form.scalar) if r.form.scalar is not None else r for r in readings]
    written_whole = readings
    if all(size != 1 for size in node.shape):  # a 1 x 1 matrix would be read as a scalar beside a row or a column
        readings = _lines(readings)
    coefs = [factor * c for c, _ in terms]
    whole = [*zip(coefs, readings, strict=True), *together]
    written_out = summed(whole, [*(a.digest for _, a in terms), *(node.digest for _ in together)])
    if node.rank != 2 or written_out.form.tokens < LEAST_SAVED or len(terms) != len(node.args):
        return written_out
    parts = with_parts(list(zip(coefs, (a for _, a in terms), written_whole, strict=True)))
    is_shorter = parts is not None and parts.form.tokens + LEAST_SAVED <= written_out.form.tokens
    return parts if parts is not None and is_shorter else written_out


def _lines(readings: list[Reading]) -> list[Reading]:
    """Return the terms of a sum, those that repeat a row or a column as that, if others say the other axis."""
    says = {r.form.says if r.form.line is None else r.form.line.says for r in readings}
    return [_line(r) or r for r in readings] if len(says - {forms.POINT}) > 1 else readings


def _line(reading: Reading) -> Reading | None:
    found = (reading.form, reading.minus, reading.turned, reading.turned_minus)
    plus, minus, turned, turned_minus = (form and form.line for form in found)
    if plus is None or turned is None or (minus is None) != (reading.minus is None):
        return None
    return Reading(plus, minus, reading.natural, turned, turned_minus)


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
    """Return the terms of a sum, those of its groups too where the constructor groups them so by itself."""
    terms = list(node.terms)
    while any(a.kind == "sum" for _, a in terms):
        flat = [(c * k, a) for c, term in terms for k, a in terms_of(term)]
        if add(flat) is not node:
            break
        terms = flat
    return terms


def _term_reading(context: Context, node: Node) -> Reading:
    """Return a term of a sum; a matrix with its transpose, should that be needed for the whole sum."""
    reading = context.readings[node]
    reading.is_skew = node.rank == 2 and is_turning(node)
    if node.rank == 2 and reading.turned is None:
        symmetric = "symmetric" in node.facts
        reading.turned = reading.form if symmetric else forms.transposed(reading.form)
        if reading.minus is not None:
            reading.turned_minus = reading.minus if symmetric else forms.transposed(reading.minus)
    return reading


def _repeated(scalar: Form) -> Reading:
    form = scalar.as_repeated()
    return Reading(form, turned=form)


def _map(context: Context, node: Node) -> Reading:
    base, exponent = exponent_of(node)
    if exponent != 1:
        if len(sizes := sizes_below(context, node)) > 1:
            return Reading(forms.divided(forms.number(1), sizes))
        return _power(context.readings[base], exponent, bool(node.shape))
    readings = [context.readings[arg] for arg in node.args]
    if len(readings) == 1 and node.rule.parity:
        return of_difference(readings[0], node.rule.parity == "odd", lambda x: forms.call(name_of(node), x))
    shown = [r.form for r in readings]
    if node.shape and any(f.scalar is None for f in shown):
        shown = [f.scalar or f for f in shown]
    if node.rule.role == "free_power":
        return Reading(forms.raised(shown[0], shown[1], bool(node.shape)))
    given = arguments(context, node, shown)
    if node.rule.relation:
        given[:2] = [forms.compared(given[0], node.rule.relation, given[1])]
    return Reading(forms.call(name_of(node), *given))


def _power(base: Reading, exponent: Fraction, elementwise: bool) -> Reading:
    """Return the reading of x.^p, with what it divides by where p is negative."""

    def make(x: Form) -> Form:
        if exponent == HALF:
            return forms.played("square_root", x)
        if exponent < 0:
            return forms.product([forms.number(1), below(x)], ["./" if elementwise else "/"])
        return forms.raised(x, forms.number(exponent), elementwise)

    def below(x: Form) -> Form:
        if exponent == -1:
            return x
        if exponent == -HALF:
            return forms.played("square_root", x)
        return forms.raised(x, forms.number(-exponent), elementwise)

    whole = exponent.denominator == 1
    odd = exponent.numerator % 2 == 1
    difference = base if whole else Reading(base.form)
    reading = of_difference(difference, odd, make)
    if exponent < 0:
        inverse = of_difference(difference, odd, below)
        reading.inverse, reading.inverse_minus = inverse.form, inverse.minus
    return reading


READ: dict[str, Callable[[Context, Node], Reading]] = {
    "symbol": _symbol,
    "number": _number,
    "size": _size,
    "constant": _constant,
    "selector": _selector,
    "product": _product,
    "sum": _sum,
    "map": _map,
    "op": operation_reading,
}

_KEPT = Readings(frozenset(), known=WeakKeyDictionary())
