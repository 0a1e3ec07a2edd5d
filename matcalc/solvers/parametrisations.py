"""Changes variables so that they stay in their sets (`parametrisations.toml`): positive, spd, symmetric, ...

The formula itself is rewritten, with X replaced by its chart, and differentiated by the same engine, so no derivative
of a chart is written by hand. The facts and formulas are data.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.expression import Expression
from matcalc.expressions.read_input import expressions
from matcalc.expressions.substituting import replaced
from matcalc.language.identifiers import free
from matcalc.rulebook.load import default_rulebook
from matcalc.solvers.packing import Packing, Vector
from matcalc.solvers.problem_input import Inputs, symbol_like
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.symbols import Names

ENTRIES: dict[str, Callable[[int], tuple[NDArray[np.intp], ...]]] = {
    "lower": np.tril_indices,
    "strictly lower": lambda n: np.tril_indices(n, -1),
    "upper": np.triu_indices,
    "diagonal": np.diag_indices,
}


@dataclass(frozen=True)
class Chart:
    """A variable as a function of its coordinates, and the inverse; `start` is X0 of a chart around X0, else None."""

    coordinate: str
    value: Expression
    inverse: Expression | None
    start: Vector | None
    fixed: Mapping[str, Any]
    shape: tuple[int, ...]

    def array(self, z: Vector) -> Vector:
        """Return the variable at the coordinates z."""
        return np.asarray(self.value({**{n: self.fixed.get(n) for n in self.value.symbols}, self.coordinate: z}))

    def coordinates(self, name: str, array: ArrayLike) -> Vector:
        """Return the coordinates of the variable.

        Raises: NotSupported for a chart without an inverse, unless the value is its start.
        """
        value = np.asarray(array, np.float64)
        if self.inverse is None:
            if not np.array_equal(value, np.asarray(self.start)):
                raise NotSupported(f"the coordinates of {name} are known only at its start")
            return np.zeros_like(value)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.inverse({n: value if n == name else self.fixed[n] for n in self.inverse.symbols}))


@dataclass(frozen=True)
class Charts:
    """Charts by variable name; other variables are their own coordinates."""

    made: Mapping[str, Chart]

    def coordinates(self, arrays: Mapping[str, ArrayLike]) -> dict[str, ArrayLike]:
        """Return the coordinates of arrays, by coordinate name."""
        found: dict[str, ArrayLike] = {}
        for name, value in arrays.items():
            chart = self.made.get(name)
            found[chart.coordinate if chart else name] = chart.coordinates(name, value) if chart else value
        return found

    def arrays(self, coordinates: Mapping[str, Vector]) -> dict[str, Vector]:
        """Return the arrays at coordinates, by variable name."""
        names = {chart.coordinate: name for name, chart in self.made.items()}
        return {names.get(n, n): self.made[names[n]].array(z) if n in names else z for n, z in coordinates.items()}


def charted(given: Inputs) -> tuple[Inputs, Charts]:
    """Return the formulas in coordinates of the variables with declared sets, and the charts.

    Raises: NotSupported for a fact, or several, without a chart; ShapeError for an orthogonal variable without a start.
    """
    taken, made = set(given.scope.scope), {}
    formulas, shapes = given.formulas, {}
    entries, fixed = {}, dict(given.fixed)
    for name, shape in given.packing.shapes.items():
        node = given.scope.symbols[name]
        fact = _fact_of(node)
        if not fact:
            shapes[name] = shape
            continue
        entry = _charts()[fact]
        z = symbol_like(free(f"z_{name}", taken), node)
        around = symbol_like(free(f"{name}0", taken), node) if entry.get("around") else None
        value = _formula(entry["value"], node, Z=z, X0=around)
        start = (given.start or {}).get(name) if around is not None else None
        if around is not None and start is None:
            raise ShapeError(f"{name} is parametrised around its start: give start=")
        if start is not None and around is not None:
            if not np.allclose(start @ start.T, np.eye(len(start)), atol=1e-8):
                raise ValueError(f"the start of {name} is not {fact}")
            fixed[around.node.name] = start
        own = Expression(node, Names({name: node}, (name,)))
        inverse = _formula(entry["inverse"], node, X=own) if "inverse" in entry else None
        made[name] = Chart(z.node.name, value, inverse, start, fixed, shape)
        formulas = tuple(_put_in(e, {name: value}) if name in e.names.symbols else e for e in formulas)
        shapes[z.node.name] = shape
        if "entries" in entry:
            entries[z.node.name] = np.ravel_multi_index(ENTRIES[entry["entries"]](shape[0]), shape)
    return replace(given, formulas=formulas, packing=Packing(shapes, entries), fixed=fixed), Charts(made)


def _fact_of(node: Node) -> str:
    """Return the fact whose chart a variable needs; "" for a variable without facts.

    Raises: NotSupported if no chart preserves all declared facts.
    """
    declared = node.data[1]
    if not declared:
        return ""
    closed = default_rulebook().closure(declared)
    fact = next((fact for fact in _charts() if fact in closed), "")
    if not fact or not set(declared) <= set(default_rulebook().closure([fact])):
        raise NotSupported(f"no parametrisation keeps {node.name} {' and '.join(sorted(declared))}")
    return fact


@cache
def _charts() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = tomllib.loads(
        (Path(__file__).parent / "parametrisations.toml").read_text("utf-8")
    )
    return found


def _formula(text: str, node: Node, **operands: Expression | None) -> Expression:
    """Return a formula of the file with its symbols replaced by expressions of the user's scope."""
    given = {name: e for name, e in operands.items() if e is not None}
    known = {name: symbol(name, node.shape, e.node.data[1]) for name, e in given.items()}
    (made,) = expressions([text], known=known)
    return _put_in(made, given)


def _put_in(e: Expression, values: Mapping[str, Expression]) -> Expression:
    """Return a formula with symbols replaced by values; the charts guarantee the symbols' facts."""
    return Expression(*replaced(e.node, e.names, {name: (v.node, v.names) for name, v in values.items()}, {}), e.row)
