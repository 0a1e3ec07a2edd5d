"""Marks in derivatives: operations that tell evaluation what to do where a formula is singular, and that nobody reads.

The derivative of x^p is p*x^(p - 1), and 0 where p is 0, whatever x is. So it is computed as `weighs(p)*x^(p - 1)`.
A person reads it without the mark: `shown` in the rulebook says what a mark is written as. Both have equal values
wherever the formula that is read is finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from matcalc.calculus.derive.unrestricted import Unrestricted
from matcalc.calculus.simplify.shortest import shortest_of
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.rule import Rule
from matcalc.tensor.constructors import symbol
from matcalc.tensor.node import Node, toposort
from matcalc.tensor.size import Size
from matcalc.tensor.substitute import Batched, instantiate, rebuild


def is_marked(node: Node) -> bool:
    """Whether a node holds a mark."""
    return any(part.kind == "map" and part.rule.shown is not None for part in toposort([node]))


def unmarked(node: Node) -> Node:
    """Return a node as it is read: each mark by what it is written as."""

    def change(part: Node) -> Node:
        if part.kind != "map" or part.rule.shown is None:
            return part
        operands, template = _template(part.rule, part.rank)
        bound = {s: Batched(arg) for s, arg in zip(operands, part.args, strict=True)}
        return instantiate(template, bound, {_length(k): size for k, size in enumerate(part.shape)}, ()).node

    return rebuild([node], change)[0]


@lru_cache(maxsize=64)
def _template(rule: Rule, rank: int) -> tuple[tuple[Node, ...], Node]:
    """Return the operands of a mark, of a rank, and what it is written as."""
    assert rule.shown is not None
    shape = tuple(Size.of(_length(k)) for k in range(rank))
    operands = tuple(symbol(name, shape) for name in rule.operands)
    named = {s.name: s for s in operands}
    return operands, build_formula(rule.shown, (), default_rulebook(), named, shape=shape)


def _length(axis: int) -> str:
    return f"n_{axis}"


class Forms(NamedTuple):
    """Forms of a derivative: what is read; what is computed, which may hold marks; that with its sums not factored."""

    shown: Node
    computed: Node
    unfactored: Node


def forms_of(nodes: Sequence[Node], free: Unrestricted) -> list[Forms]:
    """Return the forms of derivatives in the symbols of the user."""
    forms = shortest_of(nodes)
    marked = [k for k, form in enumerate(forms) if is_marked(form.shown)]
    read = shortest_of([unmarked(nodes[k]) for k in marked])
    shown = {k: form.shown for k, form in zip(marked, read, strict=True)}
    found = (Forms(shown.get(k, form.shown), form.shown, form.unfactored) for k, form in enumerate(forms))
    return [Forms(*map(free.restored, form)) for form in found]
