"""Proves convexity of special functions: of degree 1, traces of matrix functions, sums over pairs of entries.

A function with f(c*x) = c*f(x) for c > 0 is the perspective t*g(x/t) of its restriction g to t = 1, and convex if g is.
A positive one is concave if its upper level sets are convex (quasiconcave); the concavity of log(f), or the convexity
of 1/f, is enough for that. tr(f(X)) is convex in X if f is convex in numbers, the eigenvalues of X (Davis 1957). For a
sum of functions of two entries, the Hessian is a 2 x 2 matrix for each pair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from matcalc.calculus.derive.differentiate import pushforward
from matcalc.calculus.simplify.simplify import simplify
from matcalc.evidence.explain.sentences import sentence
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.notations import spelled
from matcalc.tensor.constructors import add, apply, hadamard, number, power, product, scale, symbol, zeros
from matcalc.tensor.nodes.node import Indices, Node, terms_of, toposort
from matcalc.tensor.raw_nodes import parameter
from matcalc.tensor.substitute import substitute
from matcalc.tensor.sums import split_coef

Prove = Callable[[Node, Sequence[Node], str], list[str] | None]
KEPT = ("any", "positive")


def is_cone(x: Node) -> bool:
    """Whether positive multiples of a symbol have all its facts."""
    facts = default_rulebook().facts
    return all(facts[fact].scaled in KEPT for fact in x.data[1] if fact in facts)


def by_perspective(f: Node, xs: Sequence[Node], curvature: str, prove: Prove) -> list[str] | None:
    """Return the lines of a proof for f(x, t) = t*g(x/t) with a positive number t; None for other functions."""
    for t in xs:
        others = [x for x in xs if x is not t]
        if t.rank or not t.range.positive or not others or not all(map(is_cone, xs)):
            continue
        moved = {x: product(1, [(t, ()), (x, tuple(range(x.rank)))], tuple(range(x.rank))) for x in others}
        inner = _divided(substitute(f, moved), t)
        if t in toposort(inner):
            continue
        lines = prove(inner, others, curvature)
        if lines is not None:
            names = ", ".join(x.name for x in others)
            words = f"it is {t.name}*g({names}/{t.name}), the perspective of g({names}) = "
            return [sentence(words, inner, f", {curvature} like it"), *lines]
    return None


def _divided(node: Node, t: Node) -> Node:
    """Return a scalar divided by a positive number, term by term."""
    terms = terms_of(simplify(node))
    inverse = power(t, Fraction(-1))
    return simplify(add([(c, simplify(product(1, [(n, ()), (inverse, ())], ()))) for c, n in terms]))


def by_degree(f: Node, xs: Sequence[Node], curvature: str, prove: Prove) -> list[str] | None:
    """Return the lines of a proof for a positive function of degree 1 by its level sets; None for other functions."""
    opposite = {"convex": "concave", "concave": "convex"}[curvature]
    if f.range.high <= 0 and split_coef(f)[0] < 0:
        lines = by_degree(scale(-1, f), xs, opposite, prove)
        return [sentence(scale(-1, f), f" is {opposite}:"), *lines] if lines is not None else None
    if not f.range.positive or not all(map(is_cone, xs)):
        return None
    logarithm = simplify(apply(default_rulebook().playing("logarithm"), [f]))
    if simplify(pushforward(logarithm, {x: x for x in xs})) is not number(1):
        return None
    inverse, square = simplify(power(f, Fraction(-1))), simplify(power(f, Fraction(2)))
    trials = (
        [(f"{spelled('logarithm')}(f)", logarithm, "concave")]
        if curvature == "concave"
        else [("f^2", square, "convex")]
    )
    for name, node, needed in [*trials, ("1/f", inverse, opposite)]:
        lines = prove(node, xs, needed)
        if lines is not None:
            since = f" > 0 of degree 1, and {curvature} since {name} = "
            return [sentence("it is f = ", f, since, node, f" is {needed}"), *lines]
    return None


def trace_of_function(node: Node, at: Indices, prove: Prove) -> tuple[str, list[str], Node] | None:
    """Return the curvature of tr(f(X)) in X, the lines of a proof, and X; None for other terms or without a proof."""
    is_function = node.kind == "op" and node.rule.calculus is True and node.rank == 2
    if not is_function or len(node.args) != 1 or len(set(at)) != 1:
        return None
    (matrix,), (body,) = node.args, node.params
    facts = ["positive"] if "spd" in matrix.facts else ["nonnegative"] if "psd" in matrix.facts else []
    x = symbol("x", (), facts)
    of_number = substitute(body, {parameter(): x})
    for curvature in ("convex", "concave"):
        lines = prove(of_number, [x], curvature)
        if lines is not None:
            trace = spelled("diagonal_trace")
            head = sentence(f"{trace}(", node, f") is {curvature}, as ", of_number, " is in its eigenvalues x")
            return curvature, [head, *lines], matrix
    return None


Pair = tuple[int, int]


def by_entries(terms: Sequence[tuple[Node, Fraction]], moved: Mapping[Node, Node], sign: int) -> list[str] | None:
    """Return a proof that `sign` times an entrywise quadratic form in two tangents of one shape is nonnegative."""
    tangents = list(moved.values())
    if len(tangents) != 2 or tangents[0].shape != tangents[1].shape:
        return None
    found: dict[Pair, list[tuple[Fraction, Node]]] = {(0, 0): [], (0, 1): [], (1, 1): []}
    for node, coef in terms:
        part = _coefficient(node, tangents)
        if part is None:
            return None
        found[part[0]].append((sign * coef, part[1]))
    shape = tangents[0].shape
    a, b, c = (simplify(add(found[key])) if found[key] else zeros(shape) for key in found)
    determinant = simplify(add([(1, hadamard(a, c)), (Fraction(-1, 4), hadamard(b, b))]))
    if not all(n.is_zero or n.range.nonnegative for n in (a, c, determinant)):
        return None
    half = simplify(scale(Fraction(1, 2), b))
    names = " and ".join(x.name for x in moved)
    less = "" if sign > 0 else "less "
    least = ("0",) if determinant.is_zero else (determinant, " >= 0")
    return [
        sentence(f"{less}the second derivatives in {names}, entry by entry: a = ", a, ", b = ", half, ", c = ", c),
        sentence("a >= 0, c >= 0, and a*c - b^2 is ", *least),
    ]


def _coefficient(node: Node, tangents: Sequence[Node]) -> tuple[Pair, Node] | None:
    """Return the two tangents in a term, by number, and their entrywise coefficient; None for other terms."""
    if node.kind != "product" or node.rank:
        return None
    rank = tangents[0].rank
    at = tuple(range(rank))
    if len(node.index_sizes) != rank or any(t and sorted(t) != list(at) for t in node.indices):
        return None
    places = [k for k, arg in enumerate(node.args) if arg in tangents]
    first = next((t for arg, t in node.operands if arg in tangents), None)
    if len(places) != 2 or any(node.indices[k] != first for k in places):
        return None
    low, high = sorted(tangents.index(node.args[k]) for k in places)
    rest = [(a, t) for k, (a, t) in enumerate(node.operands) if k not in places]
    return (low, high), product(node.coef, rest, first or (), node.sizes)
