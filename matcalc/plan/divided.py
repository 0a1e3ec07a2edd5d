"""Divided differences of functions as formulas: what `dd(f, a, b)` is lowered to.

A function's body is walked once, each part with its values at a and b and its divided difference: sums by
terms, products by Leibniz, maps by the chain rule with the closed form that their rule gives (`divided`),
or by the quotient across a gap and the derivative in the middle near a tie. More points have no lowering yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from matcalc.calculus.differentiate import pullback
from matcalc.elaborate.formula import build_formula
from matcalc.errors import NotSupported
from matcalc.normal_form.make import number, parameter
from matcalc.normal_form.node import Node, toposort
from matcalc.normal_form.signature_shapes import PLAIN
from matcalc.normal_form.substitute import Batched, instantiate, remake
from matcalc.normal_form.tensor import add, apply, product, symbol
from matcalc.rulebook.load import default_rulebook
from matcalc.sizes import Size

A, B = symbol("a", ()), symbol("b", ())
NEAR = "where(abs(a - b) > 1e-5*(abs(a) + abs(b)), q, d)"


def divided(node: Node) -> Node:
    """Return the formula of a map that is a divided difference of its function at its operands."""
    body, shape = node.params[0], node.shape
    axes = tuple(range(len(shape)))
    if len(node.args) > 2:
        raise NotSupported(f"divided differences at {len(node.args)} points have no lowering")
    if len(node.args) == 1:
        return instantiate(body, {parameter(): Batched(node.args[0], axes)}, {}, shape).node
    bound = {s: Batched(arg, axes) for s, arg in zip((A, B), node.args, strict=True)}
    return instantiate(difference(body), bound, {}, shape).node


@lru_cache(maxsize=256)
def difference(body: Node) -> Node:
    """Return (f(a) - f(b))/(a - b) over the scalar symbols `A` and `B`, without cancellation near a tie."""
    at_a: dict[Node, Node] = {parameter(): A}
    at_b: dict[Node, Node] = {parameter(): B}
    slope: dict[Node, Node] = {parameter(): number(1)}
    for node in toposort(body):
        if node in at_a:
            continue
        at_a[node] = remake(node, at_a) if node.args else node
        at_b[node] = remake(node, at_b) if node.args else node
        if all(slope[arg].is_zero for arg in node.args):
            slope[node] = number(0)
        elif node.kind == "sum":
            slope[node] = add([(c, slope[a]) for c, a in zip(node.coefs, node.args, strict=True)])
        elif node.kind == "product":
            slope[node] = _leibniz(node.coef, [(at_a[a], at_b[a], slope[a]) for a in node.args])
        else:
            slope[node] = _chain(node, at_a, at_b, slope)
    return slope[body]


def _leibniz(coef: Fraction, factors: Sequence[tuple[Node, Node, Node]]) -> Node:
    """Return sum_i x_1(a)..x_{i-1}(a) * dd(x_i) * x_{i+1}(b)..x_k(b)."""
    terms = []
    for place, (_, _, own) in enumerate(factors):
        before = [a for a, _, _ in factors[:place]]
        after = [b for _, b, _ in factors[place + 1 :]]
        terms.append((1, product(coef, [(x, ()) for x in (*before, own, *after)], ())))
    return add(terms)


def _chain(node: Node, at_a: dict[Node, Node], at_b: dict[Node, Node], slope: dict[Node, Node]) -> Node:
    if node.kind != "map" or len(node.args) != 1:
        raise NotSupported(f"divided differences of {node.kind} nodes of several operands have no lowering")
    arg = node.args[0]
    outer = _closed(node)
    bound = {A: Batched(at_a[arg]), B: Batched(at_b[arg])}
    return product(1, [(instantiate(outer, bound, {}, ()).node, ()), (slope[arg], ())], ())


def _closed(node: Node) -> Node:
    """Return the divided difference of one map at A and B."""
    rule = node.rule
    book = default_rulebook()
    if rule.divided:
        names = [p.name for p in rule.signature.parameters if p.kind in PLAIN]
        given = {n: Size.of(p) for n, p in zip(names, node.params, strict=False)}
        return build_formula(rule.divided, (), book, {"a": A, "b": B}, sizes=given)
    f_a, f_b = apply(rule, [A], node.params), apply(rule, [B], node.params)
    middle = symbol("middle", ())
    derivative = pullback(apply(rule, [middle], node.params), number(1), [middle])[0]
    half = add([(Fraction(1, 2), A), (Fraction(1, 2), B)])
    near = instantiate(derivative, {middle: Batched(half)}, {}, ()).node
    gap = add([(1, A), (-1, B)])
    quotient = build_formula("u/v", (), book, {"u": add([(1, f_a), (-1, f_b)]), "v": gap})
    return build_formula(NEAR, (), book, {"a": A, "b": B, "q": quotient, "d": near})


EXPANSIONS = {"divided": divided}
"""What `expands` in scalars.toml may name."""
