"""Writes a differential in the canonical form tr(A'*dX), from which the gradient A can be read off.

The node does not depend on the form; this file chooses the formula, with dX last and not transposed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import cast

from matcalc.formula.notation.length import tokens
from matcalc.formula.notation.write_node import whole_formula_of
from matcalc.language import syntax
from matcalc.language.syntax import Ast
from matcalc.language.write import text
from matcalc.rulebook.notations import spelled
from matcalc.tensor.constructors import inner, split_coef, transpose
from matcalc.tensor.nodes.node import Node

FORMS = (("", "{0}*d{1}"), ("", "{0}'*d{1}"), ("diagonal_trace", "({0}'*d{1})"), ("total", "({0}.*d{1})"))
"""The role of the outer function and the form by rank of the variable; the last applies to all higher ranks."""


def form_for(*variables: Node) -> str:
    """Return the name of the form for these variables: `tr(A'*dU) + tr(B'*dV)`."""
    letters = ("abcdefgh" if x.rank == 1 else "ABCDEFGH" for x in variables)
    parts = [(min(x.rank, 3), name[k % 8], x.name) for k, (x, name) in enumerate(zip(variables, letters, strict=True))]
    shown = [(*FORMS[rank], letter, name) for rank, letter, name in parts]
    return " + ".join((role and spelled(role)) + form.format(letter, name) for role, form, letter, name in shown)


def canonical(gradient: Node, tangent: Node) -> tuple[Node, Ast]:
    """Return tr(A'*dX) for a gradient A, with the shortest formula that ends in dX."""
    node = inner(gradient, tangent)
    candidates = [canonical_formula(gradient, tangent)]
    if gradient.rank == 2:
        coef, plain = split_coef(transpose(gradient))
        whole = syntax.call(spelled("diagonal_trace"), times(whole_formula_of(plain), whole_formula_of(tangent)))
        candidates.append(_times(coef, whole))
    natural = whole_formula_of(node)
    if natural.head == "product" and text(natural.args[-1]) == tangent.name:
        candidates.append(natural)
    return node, min(reversed(candidates), key=lambda ast: tokens(text(ast)))


def canonical_formula(gradient: Node, tangent: Node, write: Callable[[Node], Ast] = whole_formula_of) -> Ast:
    """Return the formula tr(A'*dX) with A as `write` prints it; a'*dx, a*dt and sum(A.*dT) for other ranks."""
    ast, last = write(gradient), write(tangent)
    if gradient.rank > 2:
        return syntax.call(spelled("total"), syntax.product([ast, last], [".*"]))
    if gradient.rank and transpose_of(gradient) is not gradient:
        ast = syntax.transposed(ast)
    whole = times(ast, last)
    return syntax.call(spelled("diagonal_trace"), whole) if gradient.rank == 2 else whole


def transpose_of(node: Node) -> Node | None:
    """Return the transpose of a matrix; None for other ranks."""
    return transpose(node) if node.rank == 2 else None


def times(left: Ast, right: Ast) -> Ast:
    """Return the matrix product of two formulas without superfluous parentheses."""
    if left.head == "product" and set(cast("tuple[str, ...]", left.value)) == {"*"}:
        return syntax.product([*left.args, right], [*cast("tuple[str, ...]", left.value), "*"])
    return syntax.product([left, right], ["*"])


def _times(coef: Fraction, ast: Ast) -> Ast:
    if abs(coef) != 1:
        ast = syntax.product([syntax.number(abs(coef)), ast], ["*"])
    return syntax.negate(ast) if coef < 0 else ast


def joined(parts: Sequence[Ast]) -> Ast | None:
    """Return the sum of formulas, with the signs of negated terms as operators; None if there are none."""
    if len(parts) < 2:
        return parts[0] if parts else None
    return syntax.add([p.args[0] if p.head == "negative" else p for p in parts],
                      [-1 if p.head == "negative" else 1 for p in parts])  # fmt: skip
