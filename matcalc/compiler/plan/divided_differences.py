"""Divided differences of functions as formulas, to which `dd(f, a, b, ...)` is lowered.

For two points, each part of a function's body gets its values at a and b and its divided difference: sums by terms,
products by Leibniz' rule, maps by the chain rule. The divided difference of a map is the closed form of its rule
(`divided`). Without one it is the quotient across a gap and the mean of the derivative near a tie. For more points the
whole function takes the quotient of divided differences with one point fewer across a gap. Near a tie it takes the mean
of its derivative weighted by Peano's kernel (a B-spline), by Gauss's rule in each interval. A gap is wide if it exceeds
1/WIDE of the `radius` of the maps.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import factorial

from matcalc.compiler.plan.series_radius import derivative, formula, radius, radius_of_map
from matcalc.errors import NotSupported
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.notations import spelled
from matcalc.tensor.constructors import add, apply, product, symbol
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.nodes.signature import PLAIN
from matcalc.tensor.raw_nodes import number, parameter
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import Batched, instantiate, remake, spread

A, B = symbol("a", ()), symbol("b", ())
WIDE = 8  # a gap exceeds radius/8: the quotient loses no more than this factor, Gauss's rule is exact to 1e-14
NODES = (0.03376524289842397, 0.16939530676686776, 0.38069040695840156)
WEIGHTS = (0.08566224618958517, 0.18038078652406930, 0.23395696728634552)
GAUSS = tuple(zip(NODES + tuple(1 - x for x in NODES), WEIGHTS * 2, strict=True))
"""Points and weights of Gauss's rule with six points on [0, 1]."""


def divided(node: Node) -> Node:
    """Return the formula of a map that is a divided difference of its function at its operands.

    It is NaN if one of several points is infinite: limits there differ from function to function.
    """
    body, shape = node.params[0], node.shape
    axes = tuple(range(len(shape)))
    order = len(node.args) - 1
    if len(set(node.args)) == 1:
        at = {parameter(): Batched(node.args[0], axes)}
        value = spread(instantiate(derivative(body, order), at, {}, shape), axes, shape)
        value = product(Fraction(1, factorial(order)), [(value, axes)], axes)
        return apply(default_rulebook().playing("where_finite"), [value, node.args[0]]) if order else value
    points = _points(order + 1)
    bound = {s: Batched(arg, axes) for s, arg in zip(points, node.args, strict=True)}
    template = difference(body) if order == 1 else several(body, order + 1)
    for end in points if order == 1 else _ascending(points)[::order]:
        template = apply(default_rulebook().playing("where_finite"), [template, end])
    return spread(instantiate(template, bound, {}, shape), axes, shape)


def _points(count: int) -> list[Node]:
    return [A, B, *(symbol(f"c{k}", ()) for k in range(2, count))]


# ---- two points


@lru_cache(maxsize=256)
def difference(body: Node) -> Node:
    """Return (f(a) - f(b))/(a - b) over the scalar symbols `A` and `B`, without cancellation near a tie."""
    at_a: dict[Node, Node] = {parameter(): A}
    at_b: dict[Node, Node] = {parameter(): B}
    slope: dict[Node, Node] = {parameter(): number(1)}
    for node in toposort(body):
        if node in at_a:
            continue
        at_a[node] = remake(node, at_a)
        at_b[node] = remake(node, at_b)
        if all(slope[arg].is_zero for arg in node.args):
            slope[node] = number(0)
        elif node.kind == "sum":
            slope[node] = add([(c, slope[a]) for c, a in node.terms])
        elif node.kind == "product":
            slope[node] = _leibniz(node.coef, [(at_a[a], at_b[a], slope[a]) for a in node.args])
        elif node.kind == "map":
            slope[node] = _chain(node, at_a, at_b, slope)
        else:
            raise NotSupported(f"divided differences of {node.kind} nodes cannot be compiled")
    return slope[body]


def _leibniz(coef: Fraction, factors: Sequence[tuple[Node, Node, Node]]) -> Node:
    """Return sum_i x_1(a)..x_{i-1}(a) * dd(x_i) * x_{i+1}(b)..x_k(b)."""
    terms = []
    for position, (_, _, own) in enumerate(factors):
        before = [a for a, _, _ in factors[:position]]
        after = [b for _, b, _ in factors[position + 1 :]]
        terms.append((1, _times(coef, *before, own, *after)))
    return add(terms)


def _chain(node: Node, at_a: dict[Node, Node], at_b: dict[Node, Node], slope: dict[Node, Node]) -> Node:
    """Return the sum over the operands: each moves from a to b, with those before it at b and those after it at a."""
    terms = []
    for position, arg in enumerate(node.args):
        if slope[arg].is_zero:
            continue
        others = [at_b[x] for x in node.args[:position]], [at_a[x] for x in node.args[position + 1 :]]
        outer = _closed(node, others)
        bound = {A: Batched(at_a[arg]), B: Batched(at_b[arg])}
        terms.append((1, _times(1, instantiate(outer, bound, {}, ()).node, slope[arg])))
    return add(terms)


def _closed(node: Node, others: tuple[list[Node], list[Node]]) -> Node:
    """Return the divided difference of one map at A and B in one operand, with the other operands fixed."""
    rule, params = node.rule, node.params
    before, after = others
    if rule.divided and len(node.args) == 1:
        names = [p.name for p in rule.signature.parameters if p.kind in PLAIN]
        integer_params = {n: Size.of(p) for n, p in zip(names, params, strict=False)}
        special = [rule.divided[str(p)] for p in params if str(p) in rule.divided]
        text = special[0] if special else rule.divided[next(iter(rule.divided))]
        return build_formula(text, (), default_rulebook(), {"a": A, "b": B}, sizes=integer_params)

    def partial(x: Node) -> Node:
        return apply(rule, [*before, x, *after], params)

    slope = derivative(partial(parameter()), 1)
    middle = add([(Fraction(1, 2), A), (Fraction(1, 2), B)])
    near = add([(Fraction(w), _at(slope, _between(A, B, x))) for x, w in GAUSS])
    apart = _minus(partial(A), partial(B))
    if rule.difference and len(node.args) == 1:
        apart = formula(rule.difference, a=A, b=B)
    quotient = _over(apart, _minus(A, B))
    return _where_wide(A, B, radius_of_map(rule, [*before, middle, *after], params), quotient, near)


# ---- three and more points


@lru_cache(maxsize=256)
def several(body: Node, count: int) -> Node:
    """Return the divided difference at three or more points over scalar symbols."""
    points = _ascending(_points(count))
    found: dict[tuple[int, int], Node] = {}
    for length in range(2, count + 1):
        for first in range(count - length + 1):
            last = first + length - 1
            low, high = points[first], points[last]
            if length == 2:
                found[first, last] = instantiate(difference(body), {A: Batched(low), B: Batched(high)}, {}, ()).node
                continue
            fewer = _minus(found[first + 1, last], found[first, last - 1])
            quotient = _over(fewer, _minus(high, low))
            trusted = _at(radius(body), points[(first + last) // 2])
            near = _mean(derivative(body, length - 1), points[first : last + 1])
            found[first, last] = _where_wide(high, low, trusted, quotient, near)
    # if all points are tied the mean would hide a missing value or a jump
    text = f"{spelled('choice')}({spelled('magnitude')}(p) >= 0, q, p)"
    return formula(text, p=found[0, 1], q=found[0, count - 1])


def _ascending(points: Sequence[Node]) -> list[Node]:
    """Return the points in ascending order, sorted by exchanges of neighbours."""
    low, high = map(default_rulebook().playing, ("smaller", "larger"))
    found = list(points)
    for end in range(len(found) - 1, 0, -1):
        for k in range(end):
            pair = [found[k], found[k + 1]]
            found[k], found[k + 1] = apply(low, pair), apply(high, pair)
    return found


def _mean(slope: Node, x: Sequence[Node]) -> Node:
    """Integrate the last derivative times Peano's kernel, over the first interval alone if all points are tied."""
    order = len(x) - 1
    shares = [_ratio(_minus(x[k + 1], x[k]), _minus(x[-1], x[0])) for k in range(1, order)]
    first = add([(1, number(1)), *((-1, share) for share in shares)])
    terms = []
    for interval, share in enumerate([first, *shares]):
        for fraction, weight in GAUSS:
            spline = _spline(x, interval, fraction)
            value = _at(slope, _between(x[interval], x[interval + 1], fraction))
            terms.append((Fraction(weight) / factorial(order - 1), _times(1, share, spline, value)))
    return add(terms)


def _spline(x: Sequence[Node], interval: int, fraction: float) -> Node:
    """Return the B-spline with the knots x at a fraction of an interval (Cox and de Boor)."""
    order = len(x) - 1
    values = {interval: number(1)}
    for degree in range(2, order + 1):
        new = {}
        for k in range(max(interval - degree + 1, 0), min(interval, order - degree) + 1):
            terms = []
            if k in values:
                terms.append((1, _times(1, _share(x, k, k + degree - 1, interval, fraction), values[k])))
            if k + 1 in values:
                rest = add([(1, number(1)), (-1, _share(x, k + 1, k + degree, interval, fraction))])
                terms.append((1, _times(1, rest, values[k + 1])))
            new[k] = add(terms)
        values = new
    return values[0]


def _share(x: Sequence[Node], low: int, high: int, interval: int, fraction: float) -> Node:
    """Return the fraction between two knots of a point in an interval; in interval 0, all knots but one may be tied."""
    if high == low + 1:
        return number(Fraction(fraction))
    whole = _minus(x[high], x[low])
    if interval == low:
        beyond = _ratio(_minus(x[high], x[low + 1]), whole)
        return add([(Fraction(fraction), number(1)), (-Fraction(fraction), beyond)])
    inside = _ratio(_minus(x[interval + 1], x[interval]), whole)
    return add([(1, _ratio(_minus(x[interval], x[low]), whole)), (Fraction(fraction), inside)])


# ---- parts of formulas


def _where_wide(a: Node, b: Node, trusted: Node, wide: Node, near: Node) -> Node:
    text = f"{spelled('choice')}({WIDE}*{spelled('magnitude')}(a - b) > r, q, d)"
    return formula(text, a=a, b=b, r=trusted, q=wide, d=near)


def _at(body: Node, x: Node) -> Node:
    return instantiate(body, {parameter(): Batched(x)}, {}, ()).node


def _between(a: Node, b: Node, fraction: float) -> Node:
    return add([(1 - Fraction(fraction), a), (Fraction(fraction), b)])


def _minus(a: Node, b: Node) -> Node:
    return add([(1, a), (-1, b)])


def _times(coef: Fraction | int, *factors: Node) -> Node:
    return product(coef, [(x, ()) for x in factors], ())


def _over(a: Node, b: Node) -> Node:
    return formula("u/v", u=a, v=b)


def _ratio(a: Node, b: Node) -> Node:
    return apply(default_rulebook().playing("safe_ratio"), [a, b])
