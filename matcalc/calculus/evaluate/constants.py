"""Provides the data of an evaluation, and keeps constants unmoved.

An operation whose differential is 0, such as `stop`, takes its arguments as constants, except those in which it is
linear. Along a direction they stay what they are at the data before these are moved. There they are recorded, in the
order of evaluation, which is that of all data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from matcalc.errors import NoReference
from matcalc.tensor.nodes.node import Node, everything
from matcalc.tensor.nodes.signature import tensors_of

if TYPE_CHECKING:
    import numpy as np


class Given(NamedTuple):
    """The data of an evaluation: symbols by name, and what is done with an array that is taken as a constant.

    `constant` returns the array that is taken instead, or None if it only records the array.
    """

    symbols: Mapping[str, Any]
    constant: Callable[[np.ndarray], np.ndarray | None] | None = None

    def at(self, symbols: Mapping[str, Any]) -> Given:
        """Return the data with further symbols."""
        return self._replace(symbols={**self.symbols, **symbols})

    def taken(self, node: Node, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the arguments of an operation; those that it takes as constants are unmoved."""
        if self.constant is None or not takes_constants(node):
            return list(arrays)
        names = [p.name for p in tensors_of(node.rule.signature)]
        found = []
        for k, array in enumerate(arrays):
            is_moved = names[min(k, len(names) - 1)] in node.rule.linear
            kept = None if is_moved else self.constant(array)
            found.append(array if kept is None else kept)
        return found


def takes_constants(node: Node) -> bool:
    """Whether a node is an operation that takes arguments as constants."""
    return node.kind == "op" and node.rule.takes_constants


def has_held_parts(roots: Node | Sequence[Node]) -> bool:
    """Whether formulas hold a part constant that moves with the data: their differences are not their derivatives."""
    return any(node.kind == "op" and node.rule.is_held for node in everything(roots))


@lru_cache(maxsize=32)
def depends_on_base(roots: tuple[Node, ...]) -> bool:
    """Whether formulas along a direction depend on the data before these are moved. Cached, as there are many steps.

    Raises: NoReference for a constant inside an equation.
    """
    if any(map(takes_constants, in_equations(roots))):
        raise NoReference("an equation that takes a part as a constant")
    return any(map(takes_constants, everything(roots)))


def in_equations(roots: Sequence[Node]) -> list[Node]:
    """Return the nodes inside equations and functions that are parameters of operations."""
    inside = [p for n in everything(roots) if n.kind in ("map", "op") for p in n.params if isinstance(p, Node)]
    return everything(inside)
