"""Convexity of functions of degree 1: perspectives, means and norms.

A function with f(c*x) = c*f(x) for c > 0 is the perspective t*g(x/t) of what it is at t = 1, and convex with it. One
that is positive needs even less: it is concave if its upper level sets are convex (it is then called quasiconcave), so
that the concavity of log(f), or the convexity of 1/f, is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from matcalc.calculus.derive.differentiate import pushforward
from matcalc.calculus.simplify.simplify import simplify
from matcalc.evidence.explain.reasons import written
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.notations import spelled
from matcalc.tensor.constructors import add, apply, number, power, product
from matcalc.tensor.node import Node, terms_of, toposort
from matcalc.tensor.substitute import substitute
from matcalc.tensor.sums import scale, split_coef

Prove = Callable[[Node, Sequence[Node], str], list[str] | None]
KEPT = ("any", "positive")


def is_cone(x: Node) -> bool:
    """Whether a positive multiple of a value of a symbol has all facts of the symbol."""
    facts = default_rulebook().facts
    return all(facts[fact].scaled in KEPT for fact in x.data[1] if fact in facts)


def by_perspective(f: Node, xs: Sequence[Node], way: str, prove: Prove) -> list[str] | None:
    """Return the lines of a proof for f(x, t) = t*g(x/t), t a positive number; None where it is no such function."""
    for t in xs:
        others = [x for x in xs if x is not t]
        if t.rank or not t.range.positive or not others or not all(map(is_cone, xs)):
            continue
        moved = {x: product(1, [(t, ()), (x, tuple(range(x.rank)))], tuple(range(x.rank))) for x in others}
        inner = _divided(substitute(f, moved), t)
        if t in toposort(inner):
            continue
        lines = prove(inner, others, way)
        if lines is not None:
            names = ", ".join(x.name for x in others)
            head = (
                f"it is {t.name}*g({names}/{t.name}), the perspective of g({names}) = {written(inner)}, {way} like it"
            )
            return [head, *lines]
    return None


def _divided(node: Node, t: Node) -> Node:
    """Return a scalar divided by a positive number, term by term."""
    terms = terms_of(simplify(node))
    inverse = power(t, Fraction(-1))
    return simplify(add([(c, simplify(product(1, [(n, ()), (inverse, ())], ()))) for c, n in terms]))


def by_degree(f: Node, xs: Sequence[Node], way: str, prove: Prove) -> list[str] | None:
    """Return the lines of a proof for a positive function of degree 1 by its level sets; None where it is no such."""
    opposite = {"convex": "concave", "concave": "convex"}[way]
    if f.range.high <= 0 and split_coef(f)[0] < 0:
        lines = by_degree(scale(-1, f), xs, opposite, prove)
        return [f"{written(scale(-1, f))} is {opposite}:", *lines] if lines is not None else None
    if not f.range.positive or not all(map(is_cone, xs)):
        return None
    logarithm = simplify(apply(default_rulebook().playing("logarithm"), [f]))
    if simplify(pushforward(logarithm, {x: x for x in xs})) is not number(1):
        return None
    inverse, square = simplify(power(f, Fraction(-1))), simplify(power(f, Fraction(2)))
    trials = [(f"{spelled('logarithm')}(f)", logarithm, "concave")] if way == "concave" else [("f^2", square, "convex")]
    for name, node, needed in [*trials, ("1/f", inverse, opposite)]:
        lines = prove(node, xs, needed)
        if lines is not None:
            head = f"it is f = {written(f)} > 0 of degree 1, and {way} since {name} = {written(node)} is {needed}"
            return [head, *lines]
    return None
