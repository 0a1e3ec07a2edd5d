"""Restores quotients and coefficients as they were written, where the normal form has another form.

In normal form `x./y` is a product with a power, but the reciprocal of a subnormal y is infinite. A product therefore
divides by a power whose entry in `scalars.toml` has `over`, if each entry of the product has a divisor of its own.
A division takes as long as four to eight products, so some reciprocals are still computed once: those of a number, of
one number of each row, and of a base with several uses that is known to be away from 0, as `1 + x.^2`. Restored
coefficients keep `x - y/3`, in normal form `(3*x - y)/3`, finite where `3*x` overflows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction

from matcalc.compiler.entrywise import Apply, Expr, Product, Read, Sum, as_quotient
from matcalc.compiler.lowering_entries import Lowerings
from matcalc.compiler.plan.memory.schedule import names_read
from matcalc.compiler.plan.values.values import Graph, Value, moved, rebuilt, times

MANY = 10**9


def write_back(graph: Graph, lowerings: Lowerings, results: Iterable[Value]) -> None:
    """Restore divisions, and coefficients of the terms of sums, in the values of a graph."""
    count = Counter(name for item in graph.items for name in names_read(item))
    count.update(value.name for value in results)
    for item in graph.items:
        if isinstance(item, Value) and item.kind in ("point", "sum") and item.expr is not None and not item.parts:
            item.expr = _written(item.expr, item, graph, lowerings, count)


def _written(expr: Expr, at: Value, graph: Graph, lowerings: Lowerings, count: Mapping[str, int]) -> Expr:
    expr = rebuilt(expr, lambda operand: _written(operand, at, graph, lowerings, count))
    if not isinstance(expr, Product) or not isinstance(expr.coef, int | Fraction):
        return expr
    whole, expr = Fraction(expr.coef), _inputs_first(expr, graph)
    coef, divisor = as_quotient(whole)
    if abs(whole.numerator) == 1:  # x./(2*y): x/2 may underflow to 0
        coef, divisor = Fraction(whole.numerator), whole.denominator
    if len(expr.factors) == 1 and whole.denominator != 1:
        return _over_terms(expr, at, graph, count)
    found = [_power(factor, at, graph, count) for factor in expr.factors]
    if not any(found) or (all(found) and abs(expr.coef) == 1):
        return expr
    left = [factor for factor, power in zip(expr.factors, found, strict=True) if power is None]
    quotient = times(coef, left)
    for power in filter(None, found):
        over = lowerings.scalars[power.function.templates["over"]]
        quotient = Apply(over, (quotient, *power.args), power.params)
    return times(Fraction(1, divisor), [quotient])


def _inputs_first(expr: Product, graph: Graph) -> Product:
    """Return a product with inputs and constants first: `2*x.*exp(y)` is infinite where `2*x` is."""
    return Product(expr.coef, tuple(sorted(expr.factors, key=lambda factor: not _is_input(factor, graph))))


def _is_input(factor: Expr, graph: Graph) -> bool:
    return isinstance(factor, Read) and graph.values[factor.value].kind in ("input", "constant")


def _over_terms(expr: Product, at: Value, graph: Graph, count: Mapping[str, int]) -> Expr:
    """Return a fraction of a sum with no other reader as a sum of fractions: `(x - y)/3` as `x/3 - y/3`."""
    found = _own(expr.factors[0], at, graph, count, 1)
    if not isinstance(found, Sum) or {abs(c) for c, _ in found.terms} == {1}:
        return expr
    return Sum(tuple((expr.coef * c, term) for c, term in found.terms))


def _power(factor: Expr, at: Value, graph: Graph, count: Mapping[str, int]) -> Apply | None:
    """Return a factor as a power, if the product should divide by the base of that power."""
    is_safe = isinstance(factor, Read) and factor.value in graph.safe_powers
    found = _own(factor, at, graph, count, 1 if is_safe else MANY)
    return found if isinstance(found, Apply) and "over" in found.function.templates else None


def _own(factor: Expr, at: Value, graph: Graph, count: Mapping[str, int], most: int) -> Expr | None:
    """Return the expression of a factor if it has as many entries as its product and at most `most` uses."""
    if not isinstance(factor, Read):
        return factor
    value = graph.values[factor.value]
    if value.kind != "point" or value.parts or value.expr is None or count[value.name] > most:
        return None
    if len(factor.at) < len(at.domain):
        return None
    return moved(value.expr, dict(zip(graph.axes, factor.at, strict=False)))
