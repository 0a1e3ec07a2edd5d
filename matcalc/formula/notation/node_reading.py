"""Defines readings: the formulas of a node, for the nodes that use it.

`form` is the node itself. A difference `x - y` can be read as minus `y - x`, which may save a sign elsewhere: `minus`
is the form of the negated node if it costs no more, and `natural` is true if `form` is the better of the two.
`transposed` is the transpose if it can be written without a `'` on the whole, `inverse` the divisor of a reciprocal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from matcalc.formula.forms import form as forms
from matcalc.formula.forms.form import Form, product
from matcalc.language import syntax
from matcalc.language.exact_numbers import number_text
from matcalc.rulebook.notations import spelled

MOST_DIVISOR = 9  # x/9 is written so, 0.1*x rather than x/10
LEAST_ABOVE = 10  # 4*x/3 is written so, x/0.3 rather than 10*x/3


@dataclass(slots=True, eq=False)
class Reading:
    """The formulas of a node, in the directions and signs that cost no more."""

    form: Form
    minus: Form | None = None
    natural: bool = True
    transposed: Form | None = None
    transposed_minus: Form | None = None
    inverse: Form | None = None
    inverse_minus: Form | None = None
    is_skew: bool = False  # the transpose is minus the node
    multiple: tuple[Fraction, Reading] | None = None  # the node as a number times the reading that a product uses

    def signed(self, sign: int) -> Form:
        """Return the form of the node times `sign`."""
        if sign > 0:
            return self.form
        return self.minus if self.minus is not None else forms.negated(self.form)


def whole(reading: Reading) -> Reading:
    """Return the reading of a product as one factor of another, which needs parentheses."""
    found = (reading.form, reading.minus, reading.transposed, reading.transposed_minus)
    plus, minus, transposed, transposed_minus = (form and replace(form, is_whole=True) for form in found)
    assert plus is not None
    return replace(reading, form=plus, minus=minus, transposed=transposed, transposed_minus=transposed_minus)


def of_difference(argument: Reading, odd: bool, make: Callable[[Form], Form]) -> Reading:
    """Return an odd or even function of an argument that may be a difference."""
    if argument.minus is None:
        return Reading(make(argument.form))
    if odd:
        return Reading(make(argument.form), make(argument.minus), argument.natural)
    return Reading(make(argument.form if argument.natural else argument.minus))


def scaled(form: Form, coef: Fraction) -> Form:
    """Return `coef * form` as a person writes it: `2*x`, `x/2`, `0.1*x`, `2*x/3`; the sign in front."""
    return forms.negated(_scaled(form, -coef)) if coef < 0 else _scaled(form, coef)


def _scaled(form: Form, coef: Fraction) -> Form:
    if coef == 1:
        return form
    if form.body is not None:
        return forms.rewrapped(form, _scaled(form.body, coef))
    quotient = decimal_quotient(coef)
    if _is_one(form.ast):
        return forms.divided(forms.number(quotient[0]), [forms.number(quotient[1])]) if quotient else forms.number(coef)
    if quotient and _ends_in_divisor(form.ast):
        return _scaled(_with_divisor(form, quotient[1]), quotient[0])
    if syntax.is_chain(form.ast) and _is_one(form.ast.args[0]):
        return _replaced_one(form, coef)
    if quotient is None and (coef.denominator == 1 or (forms.is_decimal(coef) and not divides(coef))):
        return forms.extended([forms.number(coef)], form)
    if syntax.is_chain(form.ast) and "/" in form.ast.value:  # type: ignore[operator]
        if forms.is_decimal(coef):
            return forms.extended([forms.number(coef)], form)
        return _with_quotient(form, coef)
    above, below = quotient or (Fraction(coef.numerator), Fraction(coef.denominator))
    return forms.divided(_scaled(form, above), [forms.number(below)])


def _ends_in_divisor(ast: syntax.Ast) -> bool:
    """Whether a product divides once, by its last factor."""
    if not syntax.is_chain(ast):
        return False
    _, operators = syntax.factors_of(ast)
    return operators[-1] == "/" and not {"/", "./"} & {*operators[:-1]}


def decimal_quotient(coef: Fraction) -> tuple[Fraction, Fraction] | None:
    """Return an integer and a decimal whose quotient is written for a number: 1/0.3 for 10/3, 4/0.7 for 40/7.

    None if the number is an integer or a short decimal, or the quotient of its integers is no longer.
    """
    above, below = coef.numerator, coef.denominator
    if above < LEAST_ABOVE or below == 1:
        return None
    whole = 1 / coef
    if forms.is_decimal(coef):
        is_short = forms.is_decimal(whole) and len(number_text(whole)) + 1 < len(number_text(coef))
        return (Fraction(1), whole) if is_short else None
    if forms.is_decimal(whole) and len(number_text(whole)) <= len(f"{above}{below}") + 1:
        return Fraction(1), whole
    zeros = len(str(above)) - len(str(above).rstrip("0"))
    return (Fraction(above, 10**zeros), Fraction(below, 10**zeros)) if zeros else None


def _with_divisor(form: Form, number: Fraction) -> Form:
    """Return a quotient with a number in its divisor: `x/(0.3*pi)`."""
    *above, divisor = form.ast.args
    factors, operators = syntax.factors_of(divisor)
    ast = syntax.product([syntax.number(number), *factors], ["*", *operators])
    tokens = form.tokens + (2 if len(factors) > 1 else 4)
    return replace(form, ast=syntax.product([*above, ast], form.ast.value), tokens=tokens)  # type: ignore[arg-type]


def divides(coef: Fraction) -> bool:
    """Whether a decimal fraction is better written as a division: 1/2, 1/4, 1/16, but 0.1, 0.05, 1.5."""
    if coef.numerator != 1:
        return False
    denominator = coef.denominator
    if denominator <= MOST_DIVISOR:
        return True
    significant = 10**9 // denominator
    while significant and significant % 10 == 0:
        significant //= 10
    return significant >= 100


def _is_one(ast: syntax.Ast) -> bool:
    return ast.head == "number" and ast.value == 1


def _replaced_one(form: Form, coef: Fraction) -> Form:
    """Return `c./x` for `1./x`."""
    if not forms.is_decimal(coef):
        return _with_quotient(form, coef, 1)
    ast = syntax.product([syntax.number(coef), *form.ast.args[1:]], form.ast.value)  # type: ignore[arg-type]
    return Form(ast, form.level, form.tokens, form.transposes, form.names, form.degree, form.used)


def _with_quotient(form: Form, coef: Fraction, skip: int = 0) -> Form:
    """Return `p/q*x` with the quotient in front, if x already ends in a division."""
    front = [syntax.number(coef.numerator), syntax.number(coef.denominator)]
    operators: tuple[str, ...] = ("/", *form.ast.value) if skip else ("/", "*", *form.ast.value)  # type: ignore[misc]
    ast = syntax.product([*front, *form.ast.args[skip:]], operators)
    return Form(ast, form.level, form.tokens + 4 - 2 * skip, form.transposes, form.names, form.degree, form.used)


def summed(terms: list[tuple[Fraction, Reading]], tie: list[bytes]) -> Reading:
    """Return the reading of a sum, and of its transpose if all terms have one."""
    reading = _summed(terms, tie)
    mirrored = [(coef, _mirrored(term)) for coef, term in terms]
    if all(term is not None for _, term in mirrored):
        transposed = _summed([(coef, term) for coef, term in mirrored if term is not None], tie)
        reading.transposed, reading.transposed_minus = transposed.form, transposed.minus
    return reading


def _mirrored(reading: Reading) -> Reading | None:
    """Return the reading of a term's transpose."""
    if reading.is_skew:
        return Reading(forms.negated(reading.form), reading.form, natural=False)
    if reading.transposed is not None:
        return Reading(reading.transposed, reading.transposed_minus, reading.natural)
    return None


def _summed(terms: list[tuple[Fraction, Reading]], tie: list[bytes]) -> Reading:
    """Return the reading of a sum: terms by degree and name, a positive one first.

    The negation of a sum with mixed signs has the same cost; the better one has its first term positive.
    """
    shown = [_term(coef, reading) for coef, reading in terms]
    negatable = (k for k, (_, reading) in enumerate(terms) if reading.minus is not None)
    if all(sign < 0 for sign, _ in shown) and (position := next(negatable, None)) is not None:
        coef, reading = terms[position]
        shown[position] = _term(coef, replace(reading, natural=not reading.natural))
    entries = [(_rank(form), digest, sign, form) for (sign, form), digest in zip(shown, tie, strict=True)]
    entries = _merged(entries)
    entries.sort(key=lambda e: e[:2])
    if len(entries) == 2 and _is_unit(entries[1][3]):
        entries.reverse()
    parts, signs = [e[3] for e in entries], [e[2] for e in entries]
    outputs = {e.ast.value if e.body is not None else None for e in parts}
    ordered: frozenset[tuple[str, ...]] = frozenset()
    names: tuple[str, ...] | None = outputs.pop() if len(outputs) == 1 < len(parts) else None  # type: ignore[assignment]
    if names is not None:
        ordered = frozenset(run for e in parts for run in e.ordered)
        parts = _measured_once(names, [e.body for e in parts if e.body is not None])

    def make(signs: list[int]) -> Form:
        form = _positive_first(parts, signs)
        return form if names is None else forms.index_form(names, form, ordered)

    if min(signs) > 0:
        return Reading(make(signs))
    return Reading(make(signs), make([-s for s in signs]), natural=signs[0] > 0)


def _measured_once(names: Sequence[str], bodies: list[Form]) -> list[Form]:
    """Return the terms of an index form without factors `ones(n)[i]` if a term has the index i in another factor."""
    held = set().union(*(_held(form.ast, names) for form in bodies))
    return [_without_lengths(form, held) for form in bodies]


def _held(ast: syntax.Ast, names: Sequence[str]) -> set[str]:
    """Return the indices of a term's entries, except those of `ones(n)` and `eye(n)`: LaTeX does not write lengths."""
    entries = [node for node in syntax.walk(ast, ("condition",)) if node.head == "part"]
    held = [node for node in entries if not _is_entry_of(node, "all_ones", "identity")]
    return {str(s.value) for node in held for s in node.args[1:] if s.head == "name" and s.value in names}


def _is_entry_of(ast: syntax.Ast, *roles: str) -> bool:
    """Whether a factor is an entry of a matrix that only states lengths, `ones(n)[i]`."""
    called = ast.args[0] if ast.head == "part" else ast
    return called is not ast and called.head == "call" and syntax.call_name(called) in map(spelled, roles)


def _without_lengths(form: Form, held: set[str]) -> Form:
    """Return a term without its factors `ones(n)[i]` for these indices."""
    if form.ast.head != "product":
        return form
    operators: tuple[str, ...] = ("*", *form.ast.value)  # type: ignore[misc]
    left = [
        (op, x)
        for op, x in zip(operators, form.ast.args, strict=True)
        if op != "*" or not _is_entry_of(x, "all_ones") or len(x.args) > 2 or x.args[1].value not in held
    ]
    count = len(operators) - len(left)
    if not count or not left or left[0][0] != "*":
        return form
    ast = syntax.product([x for _, x in left], [op for op, _ in left[1:]]) if left[1:] else left[0][1]
    return replace(form, ast=ast, level=forms.level_of(ast), tokens=form.tokens - 8 * count)


Entry = tuple[tuple[bool, int, tuple[str, ...], int, int], bytes, int, Form]


def _merged(entries: list[Entry]) -> list[Entry]:
    """Write several index forms over the same names, beside other terms, as one, term by term."""
    inner = [e for e in entries if e[3].body is not None]
    if len(inner) < 2 or len(inner) == len(entries) or len({e[3].ast.value for e in inner}) > 1:
        return entries
    inner.sort(key=lambda e: e[:2])
    outputs: tuple[str, ...] = inner[0][3].ast.value  # type: ignore[assignment]
    bodies = _measured_once(outputs, [e[3].body for e in inner if e[3].body is not None])
    body = _positive_first(bodies, [e[2] for e in inner])
    form = forms.index_form(outputs, body, frozenset(run for e in inner for run in e[3].ordered))
    return [e for e in entries if e[3].body is None] + [(_rank(form), inner[0][1], 1, form)]


def _term(coef: Fraction, reading: Reading) -> tuple[int, Form]:
    """Return the sign and the formula of a term, read in its natural direction."""
    sign = 1 if coef > 0 else -1
    form = reading.form
    if reading.minus is not None and not reading.natural:
        sign, form = -sign, reading.minus
    return sign, replace(_scaled(form, abs(coef)), extent=form.extent)


def _rank(form: Form) -> tuple[bool, int, tuple[str, ...], int, int]:
    """Return the sort key of a term: the highest degree first, identities and numbers last."""
    return is_identity(form) or form.is_repeated, -form.degree, form.names, form.transposes, form.tokens


def is_identity(form: Form) -> bool:
    """Whether a term is a multiple of an identity matrix."""
    last = form.ast.args[-1] if form.ast.head == "product" else form.ast
    return last.head == "call" and syntax.call_name(last) == spelled("identity")


def _is_unit(form: Form) -> bool:
    """Whether a term is 1 or an identity, which leads a sum of two: `1 - x`, `eye(n) + x*x'`."""
    return form.degree == 0 and (_is_one(form.ast) or form.ast.head == "call")


def _positive_first(parts: list[Form], signs: list[int]) -> Form:
    first = next((k for k, sign in enumerate(signs) if sign > 0), 0)
    order = [first, *(k for k in range(len(parts)) if k != first)]
    return forms.total([parts[k] for k in order], [signs[k] for k in order])


def quotient(tops: list[Form], bottoms: list[Form]) -> Form:
    """Return a scalar quotient: `a*b/(c*d)`, `(x'*A*x)/(x'*x)`, `1/c`."""
    plain = _quotient(tops, bottoms)
    main = [f for f in tops if f.ast.head != "name"]
    return plain.ranked_as(product(main, _stars(main))) if main and len(tops) > 1 else plain


def _quotient(tops: list[Form], bottoms: list[Form]) -> Form:
    if not tops:
        return forms.divided(forms.number(1), bottoms)
    if len(tops) == 2 and tops[0].level > forms.PRODUCT and not bottoms:
        return forms.extended(tops[:1], tops[1])
    top = product(tops, _stars(tops))
    is_apart = sum(form.is_size for form in bottoms) > 1
    if bottoms and len(tops) == 1 and top.ast.head == "product" and not is_apart:
        return product([top, product(bottoms, _stars(bottoms))], ["/"])
    return forms.divided(top, bottoms)


def _stars(factors: list[Form]) -> list[str]:
    return ["*"] * (len(factors) - 1)
