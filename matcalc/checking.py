"""`check`: a derivative, or a user's own formula for it, against numbers that know no rule.

The oracle sees only the value of the formula by plain NumPy, along random directions at random data made
from the declared facts, at several sizes. The report is true or false and prints as a table.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from matcalc.arguments import value_of
from matcalc.differences import slope
from matcalc.errors import ShapeError
from matcalc.expressions import Expression, name_of
from matcalc.lengths import solve
from matcalc.names import Names, free_sizes
from matcalc.node import Node
from matcalc.reading import expressions, with_wrt
from matcalc.sampling import projected, sample

SCALES = (2, 3, 5)
"""Size names get consecutive lengths from these on: small, and different from one another."""

ENTRIES = 64
"""Up to so many entries each is moved by itself, so that a wrong one is named; beyond, random directions serve."""

DIRECTIONS = 8
TOLERANCE = 1e-7

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Line:
    """One comparison: a symbol at certain sizes, the worst relative error and where it stands."""

    wrt: str
    sizes: str
    error: float
    tolerance: float
    place: str
    how: str

    @property
    def agrees(self) -> bool:
        return self.error <= self.tolerance


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a check: true if all lines agree; prints as a table."""

    formula: str
    lines: tuple[Line, ...]

    def __bool__(self) -> bool:
        return all(line.agrees for line in self.lines)

    def __str__(self) -> str:
        rows = [("in", "sizes", "worst error", "bound", "oracle", "")]
        for line in self.lines:
            verdict = "ok" if line.agrees else f"WRONG at {line.place}"
            rows.append((line.wrt, line.sizes, f"{line.error:.1e}", f"{line.tolerance:.0e}", line.how, verdict))
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        table = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([self.formula, *table])


def check(
    f: Any,
    wrt: Any,
    against: Any = None,
    declarations: str = "",
    dialect: str = "matrix",
    seed: int = 0,
) -> Report:
    """Compare the derivative of `f` in `wrt`, or the formulas `against`, with differences of its value.

    `against` is a formula of the gradient's shape (the Jacobian's where `f` is no scalar), or a list of
    them where `wrt` is one. Structured symbols are moved along their subspace alone.

    Raises: ShapeError for a formula of another shape, and what reading the formulas raises.
    """
    names = list(wrt) if isinstance(wrt, (list, tuple)) else [wrt]
    given = list(against) if isinstance(against, (list, tuple)) else [against]
    if against is not None:
        if len(given) != len(names):
            raise ShapeError(f"against needs {len(names)} formulas, and has {len(given)}")
        read = expressions([f, *given], declarations, dialect)
        value, formulas = with_wrt(read[0], wrt, declarations, dialect), read[1:]
    else:
        value = with_wrt(f, wrt, declarations, dialect)
        formulas = [value.jacobian(name) for name in names]
    lines: list[Line] = []
    for name, formula in zip(names, formulas, strict=True):
        x = value.names.symbols[name_of(name)]
        wanted = (*value.node.shape, *x.shape)
        if formula.node.shape != wanted:
            shapes = [" x ".join(map(str, s)) or "scalar" for s in (formula.node.shape, wanted)]
            raise ShapeError(f"the formula for {x.name} has shape {shapes[0]}, the derivative {shapes[1]}")
        lines += [_compare(value, formula, x, least, seed) for least in SCALES]
    return Report(str(value), tuple(lines))


def _compare(value: Expression, formula: Expression, x: Node, least: int, seed: int) -> Line:
    names = value.names_with(x.name).joined(formula.names)
    sizes = _lengths([value.node, formula.node], names, least)
    data = _data(names, sizes, seed)
    derivative = np.asarray(_at(formula.node, names, data, sizes))
    worst, tolerance, place, how = 0.0, TOLERANCE, "", "differences"
    for moved, direction in _directions(np.shape(data[x.name]), sorted(x.facts), seed + least):
        found = np.tensordot(derivative, direction, direction.ndim)
        oracle = slope(lambda t, d=direction: _at(value.node, names, {**data, x.name: data[x.name] + t * d}, sizes))
        scale = 1.0 + float(np.max(np.abs(oracle.value), initial=0.0))
        differences = np.abs(found - oracle.value) / scale
        error = float(np.max(differences, initial=0.0)) if np.all(np.isfinite(differences)) else np.inf
        if error >= worst:
            worst, how = error, oracle.how
            at = np.unravel_index(int(np.argmax(differences)), differences.shape) if differences.size else ()
            entry = (*(int(k) for k in at), *moved)
            place = f"[{', '.join(map(str, entry))}]" if entry else "the value"
            tolerance = max(TOLERANCE, 10 * oracle.error / scale)
    shown = ", ".join(f"{name}={length}" for name, length in sizes.items())
    return Line(x.name, shown, worst, tolerance, place, how)


def _directions(shape: tuple[int, ...], facts: Sequence[str], seed: int) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Yield directions to move in, each with the entry of the variable that it moves (none for a random one)."""
    if math.prod(shape) > ENTRIES:
        rng = np.random.default_rng(seed)
        for _ in range(DIRECTIONS):
            yield (), projected(rng.standard_normal(shape), facts)
        return
    for entry in np.ndindex(*shape):
        unit = np.zeros(shape)
        unit[entry] = 1.0
        yield entry, projected(unit, facts)


def _lengths(nodes: Sequence[Node], names: Names, least: int) -> dict[str, int]:
    """Return a length for every size name, all different."""
    met = [n for s in names.ordered() for size in s.shape for n in size.names]
    met += free_sizes(nodes, names)
    return {name: least + k for k, name in enumerate(dict.fromkeys(met))}


def _data(names: Names, sizes: Mapping[str, int], seed: int) -> dict[str, Array]:
    data = {}
    for node in names.ordered():
        shape = [size.evaluate(dict(sizes)) for size in node.shape]
        rng = np.random.default_rng([seed, zlib.crc32(node.name.encode())])
        data[node.name] = sample(rng, shape, sorted(node.data[1]))
    return data


def _at(node: Node, names: Names, data: Mapping[str, Array], sizes: Mapping[str, int]) -> Any:
    shapes = {name: array.shape for name, array in data.items()}
    solve([(n.name, n.shape) for n in names.ordered()], shapes, dict(sizes))
    free = {name: sizes[name] for name in free_sizes([node], names)}
    return value_of(node, names, (), {**data, **free})
