"""Rewrites inverses in a formula as solutions: `A\\b` for `inv(A)*b`, `(A'\\x)'` for `x'*inv(A)`.

Both are one node; `\\` shows how a person would compute it. An inverse without a neighbouring factor stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from matcalc.language import syntax
from matcalc.language.syntax import Ast, call_name
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.notations import spelled

Transpose = Callable[[Ast], Ast]


def solved(root: Ast, transposed: Transpose, is_scalar: Callable[[Ast], bool]) -> Ast:
    """Return a formula without inverses in products; `transposed` transposes a formula, `is_scalar` tests its shape."""
    rotated = syntax.rebuild(root, _rotated)
    return syntax.rebuild(
        rotated, lambda node: _product(node, transposed, is_scalar) if node.head == "product" else node
    )


def _inverted(node: Ast, transposed: Transpose) -> Ast | None:
    """Return the matrix of which a factor is the inverse; None for any other factor."""
    if node.head == "transpose":
        inner = _inverted(node.args[0], transposed)
        return transposed(inner) if inner is not None else None
    book = default_rulebook()
    is_call = node.head == "call" and call_name(node) in book and len(node.args) == 1
    return node.args[0] if is_call and book.get(call_name(node)).inverse else None


def _rotated(node: Ast) -> Ast:
    """Return a trace of a product that ends with an inverse as one that begins with it; any other formula unchanged."""
    if node.head != "call" or call_name(node) != spelled("diagonal_trace") or node.args[0].head != "product":
        return node
    inner = node.args[0]
    ends = _inverted(inner.args[-1], lambda a: a) is not None
    if not ends or set(cast("tuple[str, ...]", inner.value)) != {"*"}:
        return node
    return replace(node, args=(replace(inner, args=(inner.args[-1], *inner.args[:-1])),))


def _product(node: Ast, transposed: Transpose, is_scalar: Callable[[Ast], bool]) -> Ast:
    operators = cast("tuple[str, ...]", node.value)
    count = next((k for k, op in enumerate(operators) if op != "*"), len(operators)) + 1
    factors = _solved_factors(list(node.args[:count]), transposed, is_scalar)
    rest = node.args[count:]
    if not rest and len(factors) == 1:
        return factors[0]
    return replace(node, args=(*factors, *rest), value=("*",) * (len(factors) - 1) + operators[count - 1 :])


def _solved_factors(factors: list[Ast], transposed: Transpose, is_scalar: Callable[[Ast], bool]) -> list[Ast]:
    front: list[Ast] = []
    while len(factors) > 1 and is_scalar(factors[0]):
        front.append(factors.pop(0))
    last = _inverted(factors[-1], transposed)
    if last is not None and len(factors) > 1:
        left = syntax.times(_solved_factors(factors[:-1], transposed, is_scalar))
        return [*front, syntax.transposed(syntax.product([transposed(last), syntax.transposed(left)], ["\\"]))]
    after = [factors[-1]]
    for factor in reversed(factors[:-1]):
        inner = _inverted(factor, transposed)
        after = [factor, *after] if inner is None else [syntax.product([inner, syntax.times(after)], ["\\"])]
    return [*front, *after]
