"""Defines forms: parts of a formula with their costs, so that the shortest of equal readings can be chosen.

A Form is an Ast together with its precedence level, its length in tokens, its transposes, and a key that orders terms
and factors as a person would. Every function here adds costs without inspecting the operands, so each step takes
constant time at any depth. Parentheses are counted where the level requires them; `language/write.py` writes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby
from operator import itemgetter

from matcalc.formula.elaborate.powers import MOST_FACTORS
from matcalc.language import syntax
from matcalc.language.recurrences import STATE, index_of, system_of
from matcalc.language.syntax import Ast
from matcalc.rulebook.notations import spelled

SUM, PRODUCT, SIGN, POWER, ATOM = 1, 2, 3, 4, 5
WHOLE, ROW, COLUMN, POINT = range(4)  # the part of a tensor that a term of a sum shows; the rest repeats it
MOST_NAMES = 16  # leaves in an ordering key: keys of deep formulas stay small
DIGITS = 6  # of an index in an ordering key
MOST_PLACES = 20  # decimals that are always written
NOTHING: frozenset[str] = frozenset()

Cost = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A formula and its cost.

    `body` is the inner formula of an index form, whose output indices are in the Ast's value. `scalar` is the number or
    scalar that a broadcast tensor repeats; `is_repeated` marks a scalar written for a tensor. `used` are the index
    names inside. `ordered` are runs of indices whose order in the list is part of the node. `is_size` marks forms that
    would merge into one size with others when read, `is_whole` a product that is one factor of another and keeps its
    parentheses. `line` is the row or column that a matrix repeats; `extent` is ROW, COLUMN or POINT for a term of a sum
    that represents a tensor repeating it.
    """

    ast: Ast
    level: int
    tokens: int
    transposes: int = 0
    names: tuple[str, ...] = ()
    degree: int = 1
    used: frozenset[str] = NOTHING
    body: Form | None = None
    ordered: frozenset[tuple[str, ...]] = frozenset()
    scalar: Form | None = None
    is_repeated: bool = False
    is_size: bool = False
    is_whole: bool = False
    line: Form | None = None
    extent: int = WHOLE

    def within(self, level: int) -> int:
        """Return the length if a formula of at least `level` is required, parentheses included."""
        return self.tokens if self.level >= level else self.tokens + 2

    def repeating(self, scalar: Form) -> Form:
        """Return this form of a tensor that has one scalar in every entry."""
        return replace(self, scalar=scalar)

    def ranked_as(self, body: Form) -> Form:
        """Return this form, sorted among terms as its main factor `body`: scalars count last."""
        return replace(self, degree=body.degree, names=(*body.names, *self.names)[:MOST_NAMES])

    def as_repeated(self) -> Form:
        """Return this form of a scalar that represents a tensor."""
        return replace(self, is_repeated=self.degree > 0, extent=POINT)

    @property
    def cost(self) -> Cost:
        return self.transposes, self.tokens


def name(text: str) -> Form:
    return Form(syntax.name(text), ATOM, 1, 0, (text,))


def number(value: Fraction | int) -> Form:
    """Return the form of a nonnegative number: an integer, a short decimal, or a quotient of integers."""
    exact = Fraction(value)
    if exact.denominator == 1 or is_decimal(exact):
        return Form(syntax.number(exact), ATOM, 1, 0, (), 0)
    sides = (syntax.number(exact.numerator), syntax.number(exact.denominator))
    return Form(syntax.product(sides, ("/",)), PRODUCT, 3, 0, (), 0)


def signed_number(value: Fraction) -> Form:
    """Return the form of a number, with its sign in front."""
    return negated(number(-value)) if value < 0 else number(value)


def is_decimal(value: Fraction) -> bool:
    """Whether a fraction has a finite decimal form that is short, or shorter than its quotient, as that of 2^-200."""
    rest, places = value.denominator, 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest //= prime
            count += 1
        places = max(places, count)
    if rest > 1 or places <= MOST_PLACES:
        return rest == 1
    digits: int = value.numerator * 10**places // value.denominator
    return digits.bit_length() <= value.numerator.bit_length() + value.denominator.bit_length()


def call(function: str, *args: Form, **keywords: Form) -> Form:
    """Return `function(args, key=value)`; arguments need no parentheses."""
    inner = (*args, *keywords.values())
    tokens = 3 + sum(a.tokens for a in inner) + max(len(inner) - 1, 0) + 2 * len(keywords)
    ast = syntax.call(function, *(a.ast for a in args), **{k: v.ast for k, v in keywords.items()})
    names = joined(inner) or (function,)
    degree = 1 if any(a.degree for a in inner) else 0
    return Form(ast, ATOM, tokens - (not inner), transposes(inner), names, degree, used(inner))


def played(role: str, *args: Form, **keywords: Form) -> Form:
    """Return a call of the rulebook's entry with a role."""
    return call(spelled(role), *args, **keywords)


def transposed(x: Form) -> Form:
    """Return `x'`, or the operand of a transpose."""
    if x.ast.head == "transpose":
        base = x.ast.args[0]
        return Form(base, level_of(base), x.tokens - 1, x.transposes - 1, x.names, x.degree, x.used)
    tokens = x.within(POWER) + 1
    return Form(syntax.transpose(x.ast), POWER, tokens, x.transposes + 1, x.names, x.degree, x.used)


def level_of(ast: Ast) -> int:
    """Return the level of precedence of a tree."""
    return LEVELS.get(ast.head, ATOM)


LEVELS = {"sum": SUM, "dotted_sum": SUM, "product": PRODUCT, "negative": SIGN, "power": POWER, "transpose": POWER}


def raised(base: Form, exponent: Form, elementwise: bool) -> Form:
    """Return `base^exponent` or `base.^exponent`; `(x.^2).^3` is `x.^6`, while `(A^3).^2` is no power of A."""
    inner = _whole_power(base.ast)
    is_same = (base.ast.value == ".^") == elementwise and (elementwise or not inner or abs(inner) <= MOST_FACTORS)
    if inner and is_same and isinstance(exponent.ast.value, Fraction) and exponent.ast.value.denominator == 1:
        power = syntax.number(inner * exponent.ast.value)
        return replace(base, ast=Ast(base.ast.head, (base.ast.args[0], power), base.ast.value))
    inside = base.within(ATOM) if base.ast.head == "power" else base.within(POWER)
    ast = syntax.power(base.ast, exponent.ast, elementwise)
    both = (base, exponent)
    tokens = inside + 1 + exponent.within(POWER)
    value = exponent.ast.value
    factor = int(value) if isinstance(value, Fraction) and value.denominator == 1 else 1
    return Form(ast, POWER, tokens, transposes(both), joined(both), base.degree * factor, used(both))


def _whole_power(ast: Ast) -> Fraction | None:
    """Return the exponent of a power if it is an integer."""
    value = ast.args[1].value if ast.head == "power" else None
    return value if isinstance(value, Fraction) and value.denominator == 1 else None


def product(factors: Sequence[Form], operators: Sequence[str]) -> Form:
    """Return factors joined left to right; a factor that is itself a product keeps its parentheses."""
    if len(factors) == 1:
        return factors[0]
    tokens = len(operators) + sum(f.within(SIGN) for f in factors)
    ast = syntax.product([f.ast for f in factors], operators)
    degree = sum(f.degree for f, op in zip(factors, ("*", *operators), strict=True) if "/" not in op)
    return Form(ast, PRODUCT, tokens, transposes(factors), joined(factors), degree, used(factors))


def extended(front: Sequence[Form], x: Form) -> Form:
    """Return `front * x`; the factors of a product x follow without parentheses: `front./d`."""
    if not front:
        return x
    if x.is_whole or not syntax.is_chain(x.ast):
        return product([*front, x], ["*"] * len(front))
    factors, operators = syntax.factors_of(x.ast)
    both = (*front, x)
    tokens = len(front) + x.tokens + sum(f.within(SIGN) for f in front)
    degree = sum(f.degree for f in both)
    if operators[0] == "./" and factors[0].head == "number" and factors[0].value == 1:
        ast = syntax.product([*(f.ast for f in front), *factors[1:]], [*("*" for _ in front[1:]), *operators])
        return Form(ast, PRODUCT, tokens - 2, transposes(both), joined(both), degree, used(both))
    ast = syntax.product([*(f.ast for f in front), *factors], [*("*" for _ in front), *operators])
    return Form(ast, PRODUCT, tokens, transposes(both), joined(both), degree, used(both))


def divided(x: Form, divisors: Sequence[Form]) -> Form:
    """Return `x/d` or `x/(d*e)`; a product x has no parentheses. Sizes that would merge into one divide separately."""
    if not divisors:
        return x
    sizes = [d for d in divisors if d.is_size]
    if len(sizes) > 1:
        x = divided(x, [*(d for d in divisors if not d.is_size), sizes[0]])
        for size in sizes[1:]:
            x = divided(x, [size])
        return x
    divisor = product(divisors, ["*"] * (len(divisors) - 1))
    both = (x, divisor)
    tokens = x.within(PRODUCT) + 1 + divisor.within(SIGN)
    factors, operators = ((x.ast,), ()) if x.is_whole else syntax.factors_of(x.ast)
    ast = syntax.product([*factors, divisor.ast], [*operators, "/"])
    return Form(ast, PRODUCT, tokens, transposes(both), joined(both), x.degree, used(both))


def negated(x: Form) -> Form:
    """Return `-x`, with the sign on the first factor of a product."""
    if x.body is not None:
        return rewrapped(x, negated(x.body))
    tokens = x.within(PRODUCT) + 1
    ast = syntax.negate(x.ast)
    return Form(ast, level_of(ast), tokens, x.transposes, x.names, x.degree, x.used)


def total(terms: Sequence[Form], signs: Sequence[int]) -> Form:
    """Return a sum of terms with signs, dotted where a row, a column and a matrix meet; the first may be negative.

    A number beside the first row or column is added with a dot too: `1 .+ x .+ y'` is one sum, as the node is.
    """
    first = terms[0] if signs[0] > 0 else negated(terms[0])
    if len(terms) == 1:
        return first
    tokens = first.tokens + sum(t.within(PRODUCT) + 1 for t in terms[1:])
    ast, extent = first.ast, terms[0].extent
    meets_number, rest = False, list[tuple[bool, Form, int]]()
    for term, sign in zip(terms[1:], signs[1:], strict=True):
        points = POINT in (extent, term.extent)
        expands = not points and extent != term.extent
        if expands and meets_number:
            rest = [(True, other, own) for _, other, own in rest]
        is_line = points and extent != term.extent and WHOLE not in (extent, term.extent)
        meets_number = (meets_number or is_line) and not expands
        rest.append((expands, term, sign))
        extent = term.extent if extent == POINT else extent if points or extent == term.extent else WHOLE
    for dotted, run in groupby(rest, key=itemgetter(0)):
        _, further, signed = zip(*run, strict=True)
        ast = syntax.add([ast, *(term.ast for term in further)], (1, *signed), dotted)
    degree = max(t.degree for t in terms)
    return Form(ast, SUM, tokens, transposes(terms), joined(terms), degree, used(terms))


MIRRORED = {">": "<", ">=": "<="}


def compared(left: Form, relation: str, right: Form) -> Form:
    """Return `x > 0`, as the first argument of a call; `0 >= x` as `x <= 0`."""
    if left.ast.head == "number" and relation in MIRRORED:
        left, relation, right = right, MIRRORED[relation], left
    both = (left, right)
    ast = syntax.compare(left.ast, relation, right.ast)
    tokens = left.tokens + right.tokens + 1
    return Form(ast, ATOM, tokens, transposes(both), joined(both), left.degree, used(both))


def index_form(names: tuple[str, ...], body: Form, ordered: frozenset[tuple[str, ...]] = frozenset()) -> Form:
    """Return `{i,j: body}`."""
    tokens = body.tokens + 3 + max(2 * len(names) - 1, 0)
    ast = syntax.index_form(names, body.ast)
    inside = body.used.union(names)
    return Form(ast, ATOM, tokens, body.transposes, body.names, body.degree, inside, body, ordered | body.ordered)


def index_sum(names: Sequence[str], body: Form) -> Form:
    """Return `sum{i,j: body}`."""
    tokens = body.tokens + 3 + 2 * len(names)
    ast = syntax.index_sum(names, body.ast)
    return Form(ast, ATOM, tokens, body.transposes, body.names, body.degree, body.used.union(names))


def rewrapped(x: Form, body: Form) -> Form:
    """Return an index form with another body over the same indices."""
    return index_form(tuple(x.ast.value), body, x.ordered)  # type: ignore[arg-type]


def part(x: Form, subscripts: Sequence[Form]) -> Form:
    """Return `x[a, b]`; entries sort in the order of their indices. A state is read without its whole last axes."""
    while len(subscripts) > 1 and x.ast.head == STATE and _is_everything(subscripts[-1].ast):
        subscripts = subscripts[:-1]
    base, first = _without_range(x.ast, subscripts[0].ast)
    inside = x.tokens if x.level == ATOM or x.ast.head == "transpose" else x.tokens + 2
    inside = inside if base is x.ast else 1
    tokens = inside + 1 + sum(s.tokens + 1 for s in subscripts)
    ast = syntax.part(base, first, *(s.ast for s in subscripts[1:]))
    indices = tuple(str(s.ast.value).zfill(DIGITS) for s in subscripts if s.ast.head == "number")
    return Form(ast, ATOM, tokens, x.transposes, (*x.names, *indices)[:MOST_NAMES], x.degree, x.used)


def _without_range(base: Ast, subscript: Ast) -> tuple[Ast, Ast]:
    """Return a part of a range of a state as a part of the state: `x[1:][:-1]` is `x[1:-1]`."""
    shift = (
        _shifts(base.args[1]) if base.head == "part" and base.args[0].head == STATE and len(base.args) == 2 else None
    )
    own = _shifts(subscript) if subscript.head == "slice" else None
    if shift is None or own is None:
        return base, subscript
    start, stop = shift[0] + own[0], shift[1] + own[1]
    bounds = (syntax.number(start) if start else None, syntax.negative(syntax.number(stop)) if stop else None)
    return base.args[0], syntax.slice_of(*bounds)


def _shifts(subscript: Ast) -> tuple[int, int] | None:
    """Return how many entries a range leaves out at the start and at the end; None if that is not written."""
    if subscript.head != "slice" or subscript.args[2].head != "empty":
        return None
    start, stop, _ = subscript.args
    last = stop.args[0] if stop.head == "negative" else stop
    if any(bound.head not in ("number", "empty") for bound in (start, last)) or stop.head == "number":
        return None
    first, behind = (int(str(bound.value or 0)) for bound in (start, last))
    return first, behind


def entry(x: Form, indices: Sequence[str]) -> Form:
    """Return `x[i, j]` with index names; for a part by vectors of indices the entry itself, `X[k[i], j]`."""
    subscripts = [name(i) for i in indices]
    rows = x.ast.args[1:] if x.ast.head == "part" and not _is_at_step(x.ast) else ()
    if len(rows) != len(indices) or not all(_keeps_axis(row) for row in rows):
        return part(x, subscripts)
    if all(row.head == "slice" for row in rows):
        return part(x, subscripts)
    looked_up = [
        s.ast if row.head == "slice" else syntax.part(row, s.ast) for row, s in zip(rows, subscripts, strict=True)
    ]
    return replace(x, ast=syntax.part(x.ast.args[0], *looked_up), tokens=x.tokens + 2 * len(indices))


def _is_at_step(part: Ast) -> bool:
    """Whether a part is a state at the step, `x[t+1]`: the index of its steps stands for one position."""
    base = part.args[0]
    return base.head == STATE and any(n.value == index_of(system_of(base)) for n in syntax.whole(part.args[1]))


class StepIndex(str):
    """The name of the index of steps in a part of a quantity: one position; another name is a vector of indices."""

    __slots__ = ()


def _keeps_axis(subscript: Ast) -> bool:
    """Whether a subscript is a full range or a vector of indices, in a part with as many axes as subscripts."""
    is_vector = subscript.head in ("name", "part") and not isinstance(subscript.value, StepIndex)
    return _is_everything(subscript) or is_vector


def _is_everything(subscript: Ast) -> bool:
    return subscript.head == "slice" and all(bound.head == "empty" for bound in subscript.args)


def joined(forms: Sequence[Form]) -> tuple[str, ...]:
    """Return the leaf names of forms in the order written."""
    names: tuple[str, ...] = ()
    for form in forms:
        names += form.names
        if len(names) >= MOST_NAMES:
            return names[:MOST_NAMES]
    return names


def used(forms: Sequence[Form]) -> frozenset[str]:
    """Return the index names used inside forms."""
    found = NOTHING
    for form in forms:
        if form.used:
            found |= form.used
    return found


def transposes(forms: Sequence[Form]) -> int:
    return sum(f.transposes for f in forms)
