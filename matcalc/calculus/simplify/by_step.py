"""Shortens sums over the steps of a recurrence, and tensors with a value at each step, as one step.

A step has no leading axis: its matrices are symmetric, products of two are matrix products, and equal terms of a sum
merge. So the step is shortened, and then taken at all numbers again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from matcalc.calculus.simplify.shorten import Measure, measure
from matcalc.tensor.constructors import add
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.one_step import Step, at_all_steps, parted
from matcalc.tensor.steps.recurrence import over_all_steps
from matcalc.tensor.sums import summands

AROUND = 5
"""Tokens around a step: `sum{t: }`, `g where g[t] = `."""


class Measured(NamedTuple):
    """A node and the measure of its printed form, which may have names of quantities."""

    measure: Measure
    node: Node


Shorten = Callable[[Node, Step, Size], Measured]


def lengths_of(node: Node) -> list[Size]:
    """Return the numbers of steps of the recurrences in a node."""
    found = dict.fromkeys(one.steps for one in toposort(node) if one.kind == "recurrence")
    return sorted(found, key=str)


def by_step(node: Node, shorten: Shorten) -> list[Measured]:
    """Return equal forms of a node in which one step is shortened."""
    found = (_at_each(node, length, shorten) or _total(node, length, shorten) for length in lengths_of(node))
    return [form for form in found if form is not None]


def _at_each(node: Node, length: Size, shorten: Shorten) -> Measured | None:
    """Return a tensor with a value at each step; None for another node."""
    if not node.rank or node.shape[0] != length:
        return None
    step = Step()
    body = step.of(node, 0)
    if body in step.sequences:
        return None
    (tokens, count), short = shorten(body, step, length)
    return Measured((tokens + AROUND, count), at_all_steps(short, step.sequences, length))


def _total(node: Node, length: Size, shorten: Shorten) -> Measured | None:
    """Return a sum whose terms that are sums over the steps are one; None without such terms."""
    step = Step()
    bodies, others = parted(summands(node), length, step)
    if not bodies:
        return None
    (tokens, count), short = shorten(add(bodies), step, length)
    rest = [measure(term) for _, term in others]
    total = tokens + AROUND + sum(1 + more for more, _ in rest), count + sum(more for _, more in rest)
    return Measured(total, add([(1, over_all_steps(short, step.sequences, length)), *others]))
