"""Recognises states that hold an earlier state, `y[t+1] = x[t]`, so that a recurrence is one with lags: `x[t+2]`.

A state and those that hold it are one sequence. Its entries are first the starts, the oldest in front; those of a
backward one end with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matcalc.tensor.constructors import add, product
from matcalc.tensor.leading_axis import placed
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.recurrence import sibling

ZERO, ONE = Size.of(0), Size.of(1)


class Lagged(NamedTuple):
    """A state as a part of a sequence with lags: the trajectory that the step computes, and the position of the state.

    The trajectory of the state has the entries `offset, offset + 1, ...` of the sequence, which has `lag` starts.
    """

    head: Node
    offset: int
    lag: int


def lags_of(node: Node) -> list[Lagged]:
    """Return each state of a recurrence as a part of a sequence, in order; a state without lags is a sequence."""
    count = len(node.states)
    holder: dict[int, int] = {}
    for k, body in enumerate(node.bodies):
        if body in node.states and body is not node.states[k]:
            holder.setdefault(node.states.index(body), k)
    held = set(holder.values())
    found = {k: Lagged(sibling(node, k), 0, 1) for k in range(count)}
    for first in (k for k in range(count) if k not in held):
        chain = [first]
        while chain[-1] in holder:
            chain.append(holder[chain[-1]])
        for place, k in enumerate(chain):
            offset = place if node.backward else len(chain) - 1 - place
            found[k] = Lagged(sibling(node, first), offset, len(chain))
    return [found[k] for k in range(count)]


def with_starts(trajectory: Node, starts: Sequence[Node], backward: bool) -> Node:
    """Return the trajectory of a state beside the starts that no step defines: before it, or behind a backward one."""
    if not starts:
        return trajectory
    length = trajectory.shape[0] + len(starts)
    parts = [placed(trajectory, ZERO if backward else Size.of(len(starts)), length)]
    for k, start in enumerate(starts):
        row = product(1, [(start, tuple(range(1, trajectory.rank)))], tuple(range(trajectory.rank)), {0: ONE})
        parts.append(placed(row, trajectory.shape[0] + k if backward else Size.of(k), length))
    return add([(1, one) for one in parts])


def whole_of(head: Node) -> Node:
    """Return the whole sequence of which a trajectory is the part that the step computes."""
    lags = lags_of(head)
    others = sorted((one.offset, k) for k, one in enumerate(lags) if one.head is head and k != head.position)
    starts = [head.args[k] for _, k in others]
    return with_starts(head, starts, head.backward)
