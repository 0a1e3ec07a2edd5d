"""Draws data at which derivatives are checked, and measures values, differences and slopes there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import NoReference, ShapeError
from matcalc.evidence.explain.size_conditions import conditions
from matcalc.evidence.numeric.differences import Slope, slope
from matcalc.evidence.numeric.sampling import MODES, Array, draws, projected
from matcalc.evidence.written.points import fitting
from matcalc.expressions.expression import Expression
from matcalc.tensor.lookups import lengths_of
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.symbols import all_sizes

NUDGE, ROUNDING, VANISHING = 1e-9, 1e-3, 1e-3
"""The step that reveals rounding, the part of the value it may change, and the part of |f|/|x| that counts as 0."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A formula with data, and the variable that is moved."""

    e: Expression
    x: Node
    data: Mapping[str, Array]
    sizes: Mapping[str, int]

    def value(self, node: Node, more: Mapping[str, Array] = {}) -> Array:  # noqa: B006 - never changed
        """Return the value of a node; the formula itself is evaluated as written if possible.

        In `more` are the moved variable and further symbols, which do not move.
        """
        data = {**self.data, **more}
        if node is self.e.node:
            try:
                return self.e.reference.value(data, self.sizes, self.data)
            except NoReference:
                pass
        base = {**data, self.x.name: self.data[self.x.name]}
        return np.asarray(evaluate([node], data, self.sizes, base)[0])

    def quotient(self, h: float, E: Array, node: Node | None = None) -> Array:
        """Return the central difference of the formula, or of another node, along a tangent."""
        x, name = self.data[self.x.name], self.x.name
        high, low = (self.value(node or self.e.node, {name: x + sign * h * E}) for sign in (1.0, -1.0))
        return np.asarray((high - low) / (2 * h))

    def quotients(self, h: float, node: Node | None = None) -> Array:
        """Return the central differences along all unit tangents: f.shape + x.shape."""
        x = self.data[self.x.name].shape
        columns = [self.quotient(h, unit, node) for _, unit in self.units()]
        return np.stack(columns, -1).reshape((*columns[0].shape, *x))

    def along(self, E: Array, node: Node | None = None, more: Mapping[str, Array] = {}) -> Slope:  # noqa: B006
        """Return the derivative of the formula, or of another node, along a tangent."""
        x = self.data[self.x.name]

        def moved(t: complex) -> Array:
            return self.value(node or self.e.node, {**more, self.x.name: x + t * E})

        return slope(moved)

    @property
    def is_rounding(self) -> bool:
        """Whether the value is rounding error alone, as `det(X'*X)` of a wide X: a nudge changes much of it."""
        here, x = self.value(self.e.node), self.data[self.x.name]
        much = ROUNDING * np.max(np.abs(here), initial=0.0)
        step = NUDGE * np.max(np.abs(x), initial=0.0)
        nudged = (self.value(self.e.node, {self.x.name: x + step * self.random(f"nudge {k}")}) for k in range(4))
        return any(bool(np.max(np.abs(there - here), initial=0.0) > much) for there in nudged)

    @property
    def scale(self) -> float:
        """The magnitude below which errors count as 0: a part of |f|/|x|."""
        x = float(np.max(np.abs(self.data[self.x.name]), initial=0.0))
        f = float(np.max(np.abs(self.value(self.e.node)), initial=0.0))
        return VANISHING * f / max(x, 1e-300)

    def random(self, *names: str) -> Array:
        rng = np.random.default_rng([17, *"".join(names).encode()])
        drawn: Array = np.asarray(rng.standard_normal(self.data[self.x.name].shape))
        return projected(drawn, tuple(self.x.data[1]))

    def units(self) -> Iterator[tuple[tuple[int, ...], Array]]:
        """Yield each entry of the variable with its unit tangent, projected on the variable's linear facts."""
        shape = self.data[self.x.name].shape
        for at in np.ndindex(*shape):
            unit = np.zeros(shape)
            unit[at] = 1.0
            yield at, projected(unit, tuple(self.x.data[1]))


def setting(e: Expression, x: Node, lengths: Sequence[int], other: Expression | None) -> Setting | None:
    """Return data of these sizes at which the formula is finite; None if there are none.

    Arrays that a Python function holds keep their entries, since the function itself reads them.
    """
    symbols = [e.names.symbols[name] for name in e.names.written]
    nodes = [e.node] if other is None else [e.node, other.node]
    sizes = fitting(all_sizes(nodes, e.names, symbols), lengths, symbols, (*conditions(*nodes), *e.names.conditions))
    if sizes is None:
        return None
    along = lengths_of(nodes)
    held = {**({} if other is None else other.names.bound), **e.names.bound}
    for mode in range(len(MODES)):
        data = {**draws(symbols, sizes, along, mode, 5, mode), **held}
        made = Setting(e, x, data, sizes)
        try:
            if np.all(np.isfinite(made.value(e.node))) and not made.is_rounding:
                return made
        except (np.linalg.LinAlgError, ValueError, IndexError, ShapeError):
            continue
    return None
