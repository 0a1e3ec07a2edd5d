"""Limits of indices, `{i < n: ...}` and `sum{i < n, j < m: ...}`: read as factors of the body, and written from them.

A limit is a size, or another index of the list, `sum{i < j, j: ...}`: this is a condition, `[i < j]`.

An index with a limit n has the values 0, ..., n - 1. In the tree each term of the body has a factor `ones(n)[i + 0]`:
a subscript that computes lets other axes be longer than n. A factor `ones(n)[i]` is written as a limit too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from matcalc.errors import ParseError
from matcalc.language.syntax import Ast, add, call, call_name, condition, name, number, part, product

ONES = "ones"
LESS, AT_MOST = "<", ("<=", "≤")


class Limit(NamedTuple):
    """An index in the list of a form, and what it stays below; `at_most` if it may be equal."""

    index: Any
    size: Ast
    at_most: bool = False


def limit(children: Sequence[Any]) -> Limit:
    """Return the limit of an index in a list.

    Raises: ParseError for another relation than `<` and `<=`.
    """
    index, relation, size = children
    if relation in AT_MOST:
        return Limit(index, size, True)
    if relation != LESS:
        hint = f"write {index} < n for the numbers 0, ..., n - 1"
        raise ParseError(f"'{relation}' is no limit of an index", at=relation.start_pos, hint=hint)
    return Limit(index, size)


def with_limits(body: Ast, names: Sequence[str], indices: Sequence[Any]) -> Ast:
    """Return the body of a form with a factor for each index that has a limit."""
    factors = [_factor(own, one, names) for own, one in zip(names, indices, strict=True) if isinstance(one, Limit)]
    if not factors:
        return body
    if body.head != "sum":
        return _times(body, factors)
    return Ast("sum", tuple(_times(term, factors) for term in body.args), body.value, body.span, body.at)


def _factor(index: str, limit: Limit, names: Sequence[str]) -> Ast:
    if limit.size.head == "name" and limit.size.value in names:
        left, right = (name(str(limit.size.value)), name(index))
        return condition(left, ">=" if limit.at_most else ">", right)
    size = add([limit.size, number(1)], [1, 1]) if limit.at_most else limit.size
    return part(call(ONES, size), add([name(index), number(0)], [1, 1]))


def _times(term: Ast, factors: Sequence[Ast]) -> Ast:
    chain, operators = (term.args, term.value) if term.head == "product" else ((term,), ())
    more = ("*",) * len(factors)
    return Ast("product", (*chain, *factors), (*cast("tuple[str, ...]", operators), *more), term.span, term.at)


def limits_of(form: Ast) -> tuple[dict[str, Ast], Ast]:
    """Return the limits of indices that all terms of a form have as factors, and the body without these factors."""
    (body,), limits = form.args, dict[str, Ast]()
    for index in cast("tuple[str, ...]", form.value):
        terms = body.args if body.head == "sum" else (body,)
        found = [_without(term, index) for term in terms]
        sizes = [one[0] for one in found if one is not None]
        if len(sizes) == len(terms) and len(set(map(repr, sizes))) == 1:
            rest = tuple(one[1] for one in found if one is not None)
            limits[index] = sizes[0]
            body = Ast("sum", rest, body.value, body.span, body.at) if body.head == "sum" else rest[0]
    return limits, body


def _without(term: Ast, index: str) -> tuple[Ast, Ast] | None:
    """Return the limit of an index that a term has as a factor, and the term without it; None if it has none."""
    if term.head == "negative":
        found = _without(term.args[0], index)
        return found and (found[0], Ast("negative", (found[1],), None, term.span, term.at))
    if term.head != "product":
        return None
    operators = ("*", *cast("tuple[str, ...]", term.value))
    for k, factor in enumerate(term.args):
        size = _limit_of(factor, index)
        if size is not None and operators[k] == "*" and (k or operators[1] == "*"):
            args = (*term.args[:k], *term.args[k + 1 :])
            rest = (*operators[:k], *operators[k + 1 :])[1:]
            return size, product(args, rest) if rest else args[0]
    return None


def _limit_of(factor: Ast, index: str) -> Ast | None:
    """Return n of `ones(n)[i]` and `ones(n)[i + 0]`."""
    if factor.head != "part" or len(factor.args) != 2 or factor.args[0].head != "call":
        return None
    called, subscript = factor.args
    if call_name(called) != ONES or len(called.args) != 1:
        return None
    if is_stated(factor):
        subscript = subscript.args[0]
    return called.args[0] if subscript.head == "name" and subscript.value == index else None


def is_stated(factor: Ast) -> bool:
    """Whether a factor is the limit that a list of indices states."""
    base, *subscripts = factor.args
    if base.head != "call" or call_name(base) != ONES or len(subscripts) != 1 or subscripts[0].head != "sum":
        return False
    zero = subscripts[0].args[-1]
    return len(subscripts[0].args) == 2 and zero.head == "number" and zero.value == 0
