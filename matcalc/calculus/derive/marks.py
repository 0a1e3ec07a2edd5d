"""Marks in derivatives: operations that control evaluation where a formula is singular, and that are not printed.

The derivative of x^p is p*x^(p - 1), but 0 where p is 0, whatever x is. So it is computed as `weighs(p)*x^(p - 1)` and
printed without the mark: `shown` in the rulebook is the printed form of a mark. Both have equal values wherever the
printed formula is finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from matcalc.calculus.derive.differentiate import pullback
from matcalc.calculus.derive.unrestricted import Unrestricted
from matcalc.calculus.simplify.factor import factor
from matcalc.calculus.simplify.quantities import NO_QUANTITIES, Quantities
from matcalc.calculus.simplify.shorten import measure
from matcalc.calculus.simplify.shortest import Shortened, shortest_of
from matcalc.calculus.simplify.simplify import without_marks
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.notations import spelled
from matcalc.rulebook.rule import Rule
from matcalc.tensor.constructors import number, product, symbol
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import Batched, instantiate, rebuild


def is_marked(node: Node) -> bool:
    """Whether a node contains a mark."""
    return any(map(_is_mark, toposort([node])))


def _is_mark(node: Node) -> bool:
    """Whether a node is a mark that is printed in another form; one whose order is a symbol is printed as it is."""
    is_shown = node.kind == "map" and node.rule.shown is not None
    return is_shown and (node.rule.shown_in is None or all(order.is_integer for order in node.params))


def unmarked(node: Node) -> Node:
    """Return a node in printed form, with each mark replaced."""

    def change(part: Node) -> Node:
        if not _is_mark(part):
            return part
        operands, template = _template(part.rule, part.params)
        axes = tuple(range(part.rank))
        bound = {s: Batched(arg, axes) for s, arg in zip(operands, part.args, strict=True)}
        made = instantiate(template, bound, {}, part.shape).node
        is_constant = made.rank < part.rank  # the same whatever the operands
        return product(1, [(made, ())], axes, dict(enumerate(part.shape))) if is_constant else made

    return rebuild([node], change)[0]


@lru_cache(maxsize=256)
def _template(rule: Rule, params: tuple[Size, ...]) -> tuple[tuple[Node, ...], Node]:
    """Return scalars for the operands of a mark, and its printed form over them.

    With `shown_in` the form is differentiated in that operand; the integer parameter is the order.
    """
    assert rule.shown is not None
    operands = tuple(symbol(name, ()) for name in rule.operands)
    named = {s.name: s for s in operands}
    integers = [p.name for p in rule.parameters if p.kind == "integer"]
    sizes = dict(zip(integers, params, strict=True))
    template = build_formula(rule.shown, (), default_rulebook(), named, sizes=sizes)
    for _ in range(int(params[0]) if rule.shown_in is not None else 0):
        template = pullback(template, number(1), [named[rule.shown_in or ""]])[0]
    return operands, template


LARGEST = "1.7976931348623157e308"


def read_where_finite(shown: Node, computed: Node) -> Node:
    """Return the entries of `shown` where they are finite, else those of `computed`."""
    operands, template = _chosen()
    axes = tuple(range(shown.rank))
    bound = {s: Batched(node, axes) for s, node in zip(operands, (shown, computed), strict=True)}
    return instantiate(template, bound, {}, shown.shape).node


@lru_cache(maxsize=1)
def _chosen() -> tuple[tuple[Node, ...], Node]:
    named = {name: symbol(name, ()) for name in ("s", "c")}
    text = f"{spelled('choice')}({LARGEST} - {spelled('magnitude')}(s), s, c)"
    template = build_formula(text, (), default_rulebook(), named)
    return tuple(named.values()), template


class Forms(NamedTuple):
    """Forms of a derivative: printed; computed, which may contain marks; and computed with sums not factored."""

    shown: Node
    computed: Node
    unfactored: Node


def forms_of(nodes: Sequence[Node], free: Unrestricted, quantities: Quantities = NO_QUANTITIES) -> list[Forms]:
    """Return the forms of derivatives in the symbols of the user, whose steps have the names of `quantities`."""
    found = (Forms(as_read(form), *form) for form in shortest_of(nodes, quantities=quantities))
    return [Forms(*map(free.restored, form)) for form in found]


def as_read(form: Shortened) -> Node:
    """Return the shortest of the printed forms of a node.

    Without its marks a form has divisors that others may cancel: `sinc1(t*d) + t*d*sinc1_diff(1, t*d)` is `cos(t*d)`.
    """
    if not is_marked(form.shown):
        return form.shown
    shown, unfactored = unmarked(form.shown), unmarked(form.unfactored)
    return min([shown, factor(unfactored), *map(_cancelled, (shown, unfactored))], key=measure)


def _cancelled(node: Node) -> Node:
    """Return a form without marks factored, with factors divided out before and after it."""
    return factor(without_marks(factor(without_marks(node))))
