"""Reads subscripts with the numbers of two loops, `x[t - k]`, and proves that they lie inside an array.

What is known of the numbers: the range of each, and the conditions under which a step is run, `k <= t`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from matcalc.errors import ShapeError
from matcalc.expressions.loops.steps import ONE, ZERO, Stepping, stepping
from matcalc.expressions.numpy_bridge.arguments import size_in
from matcalc.tensor.constructors import add, product, selector_alone, size_number, zeros
from matcalc.tensor.leading_axis import leading
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size, is_nonnegative


class Numbers(NamedTuple):
    """The scalar `start` plus or minus the numbers of steps, outer ones first."""

    start: Size
    terms: tuple[tuple[int, Stepping], ...]

    @property
    def least(self) -> Size:
        """The least value in all steps."""
        return self.start + sum((ONE - one.length for sign, one in self.terms if sign < 0), ZERO)

    @property
    def greatest(self) -> Size:
        """The greatest value in all steps."""
        return self.start + sum((one.length - ONE for sign, one in self.terms if sign > 0), ZERO)


def deciding(node: Node) -> list[Stepping]:
    """Return the steps whose numbers are in a scalar, outer ones first."""
    inside = set(toposort([node]))
    return [one for one in stepping.get() if one.number in inside]


def numbers_of(node: Node) -> Numbers | None:
    """Return a scalar as a size plus or minus numbers of steps; None for any other."""
    terms: list[tuple[int, Stepping]] = []
    for one in deciding(node):
        lower, upper = (add([(1, node), (sign, one.number)]) for sign in (-1, 1))
        sign, node = (1, lower) if one.number not in toposort([lower]) else (-1, upper)
        terms.append((sign, one))
    start = size_in(node)
    return None if start is None else Numbers(start, tuple(terms))


def is_never_negative(node: Node) -> bool:
    """Whether a scalar of numbers of steps is at least 0 in every step that is run."""
    for known in (zeros(()), *_known()):
        rest = numbers_of(add([(1, node), (-1, known)]))
        if rest is not None and is_nonnegative(rest.least):
            return True
    return False


def _known() -> Iterator[Node]:
    """Yield scalars that the conditions of the steps around make at least 0."""
    for one in stepping.get():
        for (relation, gap), answer in (*one.guards.items(), *one.assumed.items()):
            known = numbers_of(gap)
            if known is None or any(c.denominator != 1 for _, c in known.start.terms):
                continue  # no integer
            holds = relation if answer else _OPPOSITE[relation]
            for sign, less in _BOUNDS[holds]:
                yield add([(sign, gap), (-less, size_number(ONE))])


_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
_BOUNDS = {"<": [(-1, 1)], "<=": [(-1, 0)], ">": [(1, 1)], ">=": [(1, 0)], "==": [(1, 0), (-1, 0)], "!=": []}
"""A relation of integers to 0 -> signs and numbers: sign*gap - number is at least 0."""


def at_numbers(node: Node, place: Node, numbers: Numbers, axis: int) -> Node:
    """Return the slice of an axis at the numbers of two steps; an entry that no step reads is 0.

    Raises: ShapeError if a step reads an entry that does not exist.
    """
    sequence = leading(node, axis)
    count, lengths = sequence.shape[0], tuple(one.length for _, one in numbers.terms)
    beyond = add([(1, size_number(count - ONE)), (-1, place)])
    if not is_never_negative(place) or not is_never_negative(beyond):
        hint = "declare the lengths so that every step has an entry; index -1 is the last entry in NumPy"
        raise ShapeError(f"an axis of {count} entries is read from entry {numbers.least} on", hint=hint)
    rest = tuple(range(3, sequence.rank + 2))
    found = [(sequence, (0, *rest))]
    labels, free = [1, 2], sequence.rank + 2
    for k, (sign, one) in enumerate(numbers.terms):
        if sign < 0:
            labels[k], free = free, free + 1
            flip = selector_alone(Selector("flip", (one.length, one.length)))
            found.append((flip, (k + 1, labels[k])))
    rule = selector_alone(Selector("conv", (count, *lengths), numbers.least))
    windows = product(1, [*found, (rule, (0, *labels))], (1, 2, *rest), {})
    for _, one in numbers.terms:
        windows = one.slice_of(windows)
    return windows
