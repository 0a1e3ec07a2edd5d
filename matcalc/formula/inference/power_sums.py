"""Sums of powers, `sum{j: X^j*E*X^(k - 1 - j)}`: the derivative of `X^k` along E, read as its call and written for it.

The index runs over the numbers for which both exponents are not negative, j = 0, ..., k - 1. A limit may state this,
`sum{j < k: ...}`. The call has k as its parameter, so the sum takes few products and has derivatives of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, cast

from matcalc.errors import MatcalcError, NotSupported
from matcalc.language import syntax
from matcalc.language.identifiers import supply
from matcalc.language.index_limits import limits_of
from matcalc.language.syntax import COUNTED_SUM, Ast, names_in
from matcalc.language.write import text as write
from matcalc.rulebook.notations import spelled
from matcalc.tensor.nodes.signature import size_of
from matcalc.tensor.sizes.size import Size, is_nonnegative
from matcalc.tensor.sizes.size_tree import tree_of

LETTERS = "jilpqrst"
TIMES = "*"


class Powers(NamedTuple):
    """The positions of two powers in a product, and the number of terms of the sum over their index."""

    first: int
    last: int
    terms: Size


def as_calls(root: Ast, written: str) -> Ast:
    """Return the tree of the text `written` with its sums of powers as calls.

    Raises: NotSupported for a sum whose number of terms may be negative, or differs from its limit.
    """
    if all(node.head != "index_sum" for node in syntax.walk(root)):
        return root
    return syntax.rebuild(root, partial(_as_call, written=written))


def as_sums(root: Ast, counted: bool = False) -> Ast:
    """Return a tree with derivatives of powers of matrices as sums, `counted` as sums from 0 to a last number."""
    name = spelled("matrix_power")
    if all(node.head != "call" or syntax.call_name(node) != name for node in syntax.walk(root)):
        return root
    letter = next(supply(LETTERS, {*names_in(root), *_listed(root)}))
    transposed = {id(node.args[0]) for node in syntax.walk(root) if node.head == "transpose"}

    def change(node: Ast, new: Ast) -> Ast:
        """Change a call, a transposed one together with its transpose."""
        inner = new.args[0] if new.head == "transpose" else new
        if id(node) in transposed or inner.head != "call" or syntax.call_name(inner) != name:
            return new
        return _as_sum(inner, letter, new.head == "transpose", counted) or new

    return syntax.rebuilt(root, change)


def _as_sum(call: Ast, letter: str, is_transposed: bool, counted: bool) -> Ast | None:
    """Return the derivative of a power along one matrix as a sum; None for another call."""
    if len(call.args) != 3 or syntax.call_keywords(call):
        return None
    base, count, along = call.args
    terms = _size(count)
    if terms is None or not is_nonnegative(terms) or (terms.is_integer and terms.constant < 1):
        return None
    if is_transposed:
        base, along = syntax.transposed(base), syntax.transposed(along)
    index = syntax.name(letter)
    last = tree_of(terms - Size.of(1))
    chain, signs = (last.args, cast("tuple[int, ...]", last.value)) if last.head == "sum" else ((last,), (1,))
    rest = syntax.add([*chain, index], [*signs, -1])
    body = syntax.times([syntax.power(base, index), along, syntax.power(base, rest)])
    return Ast(COUNTED_SUM, (body, last), letter) if counted else syntax.index_sum((letter,), body)


def _as_call(form: Ast, written: str) -> Ast:
    """Return a sum of powers as a call, times the factors around it; any other tree unchanged."""
    found = _sum_in(form)
    if found is None:
        return form
    (letter,), (limits, body) = _own(found), limits_of(found)
    factors = _factors(body)
    powers = _powers(factors, letter)
    if powers is None:
        return form
    limit = limits.get(letter)
    if limit is not None and _size(limit) != powers.terms:
        message = f"{letter} has {write(limit)} numbers, and its exponents are not negative for {powers.terms}"
        hint = f"write {letter} < {powers.terms}, or no limit"
        raise NotSupported(message, text=written, at=form.caret, hint=hint)
    if not is_nonnegative(powers.terms):
        message = f"the sum over {letter} has {powers.terms} terms, which can be negative"
        hint = "write exponents whose sum is at least -1 for all sizes, as in  sum{j: X^j*E*X^(k - 1 - j)}"
        raise NotSupported(message, text=written, at=form.caret, hint=hint)
    base, along = factors[powers.first].args[0], _times(factors[powers.first + 1 : powers.last])
    call = syntax.call(spelled("matrix_power"), base, tree_of(powers.terms), along)
    made = _times([*factors[: powers.first], call, *factors[powers.last + 1 :]])
    return replace(made, span=form.span, at=form.at)


def _sum_in(form: Ast) -> Ast | None:
    """Return a sum over one index; LaTeX sums of matrices are those of their entries, `{a,b: sum{j: M[a,b]}}`."""
    if form.head == "index_sum":
        return form if len(_own(form)) == 1 else None
    inner = form.args[0] if form.head == "index_form" else form
    entry = inner.args[0] if inner.head == "index_sum" and len(_own(inner)) == 1 else form
    if entry.head != "part" or tuple(one.value for one in entry.args[1:]) != _own(form):
        return None
    return replace(inner, args=entry.args[:1])


def _factors(body: Ast) -> list[Ast]:
    """Return the factors of a product, also those of products among them; other operators than `*` have none."""
    found, stack = list[Ast](), [body]
    while stack:
        one = stack.pop()
        is_plain = one.head == "product" and set(cast("tuple[str, ...]", one.value)) == {TIMES}
        if is_plain:
            stack.extend(reversed(one.args))
        else:
            found.append(one)
    return found


def _times(factors: Sequence[Ast]) -> Ast:
    return factors[0] if len(factors) == 1 else syntax.times(factors)


def _powers(factors: Sequence[Ast], letter: str) -> Powers | None:
    """Return the two powers of one matrix whose exponents are the index and a size minus it; None without these."""
    held = [k for k, factor in enumerate(factors) if letter in names_in(factor)]
    found = [factors[k] for k in held]
    if len(held) != 2 or held[1] - held[0] < 2 or any(one.head != "power" or one.value != "^" for one in found):
        return None
    (base, one), (other, two) = (factor.args for factor in found)
    exponents = [size for size in (_size(one), _size(two)) if size is not None]
    index = Size.of(letter)
    if not syntax.same(base, other) or letter in names_in(base) or len(exponents) < 2 or index not in exponents:
        return None
    count = exponents[0] + exponents[1] + Size.of(1)
    return None if letter in count.names else Powers(held[0], held[1], count)


def _size(tree: Ast) -> Size | None:
    """Return an exponent as a size; None if it is none, or has fractions, as in 3/2 - j."""
    if any(
        node.head == "product" and set(cast("tuple[str, ...]", node.value)) != {TIMES} for node in syntax.walk(tree)
    ):
        return None
    try:
        found = size_of(tree, {})
    except MatcalcError:
        return None
    return found if all(coefficient.denominator == 1 for _, coefficient in found.terms) else None


def _own(form: Ast) -> tuple[str, ...]:
    return cast("tuple[str, ...]", form.value)


def _listed(root: Ast) -> set[str]:
    return {name for node in syntax.walk(root) if node.head in syntax.BINDERS for name in _own(node)}
