"""Draws random data of a formula for the page, and evaluates its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import MatcalcError, NotSupported
from matcalc.evidence.explain.size_conditions import conditions
from matcalc.evidence.numeric.sampling import MODES, Array, draws
from matcalc.evidence.written.points import Point, fitting, nudged
from matcalc.expressions.expression import Expression
from matcalc.tensor.lookups import lengths_of
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.symbols import all_sizes

LENGTHS = ((3, 4, 2, 5), (4, 3, 5, 2), (3, 3, 3, 3), (2, 2, 2, 2), (1, 1, 1, 1))
"""Lengths of the sizes, tried in order until one fits."""

NUDGE, MUCH = 1e-9, 1e-3


class Trial(NamedTuple):
    """Random data at which a formula is finite."""

    data: Mapping[str, Array]
    sizes: Mapping[str, int]

    def values(self, nodes: Sequence[Node], more: Mapping[str, Any] = {}) -> list[Array]:  # noqa: B006 - never changed
        return [np.asarray(value) for value in evaluate(nodes, {**self.data, **more}, self.sizes)]

    def is_rounding(self, e: Expression) -> bool:
        """Whether the value is rounding error, as in `det(X'*X)` of a wide X: small changes of data change it."""
        (here,) = self.values([e.node])
        point, much = Point(self.data, self.sizes, here), MUCH * np.max(np.abs(here), initial=0.0)
        symbols = [s for s in e.names.symbols.values() if s.name in self.data]
        nudges = (self.values([e.node], nudged(point, symbols, NUDGE, k))[0] for k in range(4))
        return any(bool(np.max(np.abs(there - here), initial=0.0) > much) for there in nudges)


def trial(e: Expression, nodes: Sequence[Node]) -> Trial:
    """Return random data at which these nodes are finite. Raises: NotSupported if none are found."""
    symbols = [node for name, node in e.names.symbols.items() if name in e.names.written]
    names = all_sizes(nodes, e.names, symbols)
    along, required = lengths_of(nodes), (*conditions(*nodes), *e.names.conditions)
    for lengths in LENGTHS:
        sizes = fitting(names, lengths, symbols, required)
        if sizes is None:
            continue
        for mode in range(len(MODES)):
            found = Trial(draws(symbols, sizes, along, mode, 7), sizes)
            try:
                if all(np.all(np.isfinite(value)) for value in found.values(nodes)) and not found.is_rounding(e):
                    return found
            except (np.linalg.LinAlgError, ValueError, IndexError, MatcalcError):
                continue
    raise NotSupported("no random data at which the formula is finite: declare facts such as positive or spd")
