"""Quotients: `x./y` is a division, not x times the reciprocal of y, which is infinite where y is subnormal.

In normal form `x./y` is a product with a power. A power whose entry in `scalars.toml` says `over` is divided by, where
each entry of the product has a divisor of its own that is read nowhere else. A divisor of many entries, as a number or
one of each row, or of several products, stays a reciprocal that is computed once: a division takes as long as four to
eight products.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from matcalc.compiler.entrywise import Apply, Expr, Literal, Product, Read
from matcalc.compiler.lowering_entries import Lowerings
from matcalc.compiler.plan.schedule import names_read
from matcalc.compiler.plan.values import Graph, Value, moved, rebuilt, times


def divide(graph: Graph, lowerings: Lowerings, results: Iterable[Value]) -> None:
    """Let the values of a graph divide by what they are multiplied with the power of."""
    count = Counter(name for item in graph.items for name in names_read(item))
    count.update(value.name for value in results)
    for item in graph.items:
        if isinstance(item, Value) and item.kind in ("point", "sum") and item.expr is not None and not item.parts:
            item.expr = _divided(item.expr, item, graph, lowerings, count)


def _divided(expr: Expr, at: Value, graph: Graph, lowerings: Lowerings, count: Mapping[str, int]) -> Expr:
    expr = rebuilt(expr, lambda operand: _divided(operand, at, graph, lowerings, count))
    if not isinstance(expr, Product):
        return expr
    found = [_power(factor, at, graph, count) for factor in expr.factors]
    if not any(found) or (all(found) and abs(expr.coef) == 1):
        return expr
    left = [factor for factor, power in zip(expr.factors, found, strict=True) if power is None]
    quotient: Expr = times(expr.coef, left) if left else Literal(expr.coef)
    for power in filter(None, found):
        over = lowerings.scalars[power.function.templates["over"]]
        quotient = Apply(over, (quotient, *power.args), power.params)
    return quotient


def _power(factor: Expr, at: Value, graph: Graph, count: Mapping[str, int]) -> Apply | None:
    """Return the power that a factor is an entry of, if it has as many entries as what is computed, for this alone."""
    if isinstance(factor, Read):
        value = graph.values[factor.value]
        if value.kind != "point" or value.parts or value.expr is None or len(factor.at) < len(at.domain):
            return None
        if count[value.name] > 1:
            return None
        factor = moved(value.expr, dict(zip(graph.axes, factor.at, strict=False)))
    is_power = isinstance(factor, Apply) and "over" in factor.function.templates
    return factor if is_power and isinstance(factor, Apply) else None
