"""`structure`: which entries of Jacobians and Hessians are there, block by block, found by values.

A formula is evaluated at random data with the declared facts, or at data of the user's; an entry is there where it is
not 0 at one of them. Blocks of a derivative by several variables stand beside each other as one matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from matcalc.calculus.derive.conventions import as_matrix
from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import NotSupported, ShapeError
from matcalc.evidence.explain.size_conditions import conditions
from matcalc.evidence.numeric.sampling import MODES, Array, drawn_for, shape_at
from matcalc.expressions.expression import Expression
from matcalc.expressions.read_input import expressions
from matcalc.language.identifiers import by_name, shown
from matcalc.pictures.plots import Cells
from matcalc.tensor.lookups import lengths_of
from matcalc.tensor.node import Node
from matcalc.tensor.sizes_from_shapes import holds
from matcalc.tensor.symbols import all_sizes

LENGTHS = ((6, 4, 5, 3), (4, 6, 3, 5), (5, 5, 5, 5), (2, 2, 2, 2), (1, 1, 1, 1))
"""Lengths of the size names, in order, until one fits."""

NOTHING = 1e-14
"""Of the largest entry: what rounding leaves of an entry that is 0."""

MOST = 4096
"""Rows or columns of a matrix that is looked at."""


@dataclass(frozen=True, eq=False)
class Structure:
    """Which entries of a matrix are there: `pattern`, true or false; `rows` and `columns` of the blocks, in order.

    It prints as a picture, and is one in a notebook.
    """

    pattern: Array
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    where: str

    @property
    def density(self) -> float:
        """The part of the entries that are there."""
        return float(np.mean(self.pattern)) if self.pattern.size else 0.0

    def plot(self) -> Cells:
        """Return the pattern as a picture."""
        row_cuts, column_cuts = (list(accumulate(lengths))[:-1] for lengths in (self.rows, self.columns))
        shape = " x ".join(map(str, self.pattern.shape))
        title = f"{shape}, {int(np.sum(self.pattern))} of {self.pattern.size} entries{self.where}"
        return Cells(self.pattern.tolist(), row_cuts, column_cuts, title)

    def __str__(self) -> str:
        return str(self.plot())

    def __repr__(self) -> str:
        return str(self)

    def _repr_svg_(self) -> str | None:
        return self.plot()._repr_svg_()


def structure(
    F: Any,
    declarations: str = "",
    data: Mapping[Any, Any] | None = None,
    sizes: Mapping[str, int] | None = None,
    dialect: str = "matrix",
) -> Structure:
    """Return which entries of a Jacobian or Hessian are not 0, as `jacobian` and `hessian` return it.

    `F` is a formula, or blocks: a tuple for several variables, a tuple of rows for a Hessian in several. An array of
    order 3 or more is the matrix of its stacked columns, that of `rewrite("kron")`. The entries are those at `data`, or
    else at three draws of random data with the declared facts, at small sizes or those given in `sizes`; what is below
    1e-14 of the largest entry counts as rounding.

    Shapes: pattern as the matrix of all blocks.
    Raises: what reading raises; ShapeError where blocks do not fit beside each other or no random data fit;
        ShapeError too for a size that is none, TypeError for sizes that are no dictionary; NotSupported for more than
        4096 rows or columns.

    Example:
        >>> print(structure("diag(x)", "x: vector(n)", sizes={"n": 4}))
        4 x 4, 4 of 16 entries at n = 4
        │██      │
        │  ██    │
        │    ██  │
        │      ██│
    """
    table = [list(row) if isinstance(row, (tuple, list)) else [row] for row in F] if _is_several(F) else [[F]]
    if _is_several(F) and not any(isinstance(row, (tuple, list)) for row in F):
        table = [[row[0] for row in table]]
    made = iter(expressions([f for row in table for f in row], declarations, dialect))
    blocks = [[next(made) for _ in row] for row in table]
    nodes = [[_matrix(e, alone=not _is_several(F)) for e in row] for row in blocks]
    values, where = _at(blocks, nodes, by_name(data, "data=")) if data is not None else _drawn(blocks, nodes, sizes)
    heights, widths = [row[0].shape[0] for row in values], [block.shape[1] for block in values[0]]
    for row, height in zip(values, heights, strict=True):
        if [block.shape for block in row] != [(height, width) for width in widths]:
            raise ShapeError("the blocks do not fit beside each other: give them as hessian or jacobian returns them")
    return Structure(np.block(values).astype(bool), tuple(heights), tuple(widths), where)


def _is_several(F: Any) -> bool:
    return isinstance(F, (tuple, list))


def _matrix(e: Expression, alone: bool) -> Node:
    """Return what is looked at: a formula alone as it is written, else as the matrix of stacked columns."""
    return as_matrix(e.node, min(1, e.node.rank) if alone and e.node.rank < 3 else e.leading_axes)


def _at(
    blocks: Sequence[Sequence[Expression]], nodes: Sequence[Sequence[Node]], data: Mapping[str, Any]
) -> tuple[list[list[Array]], str]:
    """Return the blocks at data of the user's."""
    found = []
    for row, wanted in zip(blocks, nodes, strict=True):
        held = [{name: data[name] for name in e.symbols if name in data} for e in row]
        values = [Expression(node, e.names)(**given) for e, node, given in zip(row, wanted, held, strict=True)]
        found.append([_there(np.asarray(value)) for value in values])
    return found, " at the data"


def _drawn(
    blocks: Sequence[Sequence[Expression]], nodes: Sequence[Sequence[Node]], given: Mapping[str, int] | None
) -> tuple[list[list[Array]], str]:
    """Return the blocks at random data, an entry there where it is at one of the draws."""
    flat = [e for row in blocks for e in row]
    wanted = [node for row in nodes for node in row]
    symbols = list({s.name: s for e in flat for name, s in e.names.symbols.items() if name in e.names.written}.values())
    names = list(dict.fromkeys(name for e in flat for name in all_sizes(wanted, e.names, symbols)))
    fixed = dict(by_name(given, "sizes=")) if given is not None else {}
    for name, length in fixed.items():
        if name not in names:
            raise ShapeError(f"{shown(name)} is no size of the formula; its sizes are {', '.join(names) or 'none'}")
        if type(length) is not int or length < 0:
            raise ShapeError(f"the size {name} is an integer from 0, not {shown(length)}")
    for lengths in LENGTHS:
        sizes = {name: fixed.get(name, lengths[k % len(lengths)]) for k, name in enumerate(names)}
        draws = [
            found for mode in range(len(MODES)) if (found := _draw(flat, wanted, symbols, sizes, mode)) is not None
        ]
        if draws:
            there = iter([np.logical_or.reduce(entries) for entries in zip(*draws, strict=True)])
            said = ", ".join(f"{name} = {length}" for name, length in sizes.items())
            return [[next(there) for _ in row] for row in nodes], f" at {said}" if said else ""
    raise ShapeError("no random data at which the formula is finite: give data=")


def _draw(
    flat: Sequence[Expression], wanted: Sequence[Node], symbols: Sequence[Node], sizes: Mapping[str, int], mode: int
) -> list[Array] | None:
    """Return what is there at one draw; None where the formulas have no value."""
    if not all(holds(c, sizes) for c in (*conditions(*wanted), *(c for e in flat for c in e.names.conditions))):
        return None
    if any(length < 0 for s in symbols for length in shape_at(s.shape, sizes)):
        return None
    if max((length for node in wanted for length in shape_at(node.shape, sizes)), default=0) > MOST:
        raise NotSupported(f"a matrix of more than {MOST} rows or columns: give smaller `sizes`")
    along = lengths_of(wanted)
    data = {s.name: drawn_for(s, sizes, along.get(s.name, ()), mode, 5, mode) for s in symbols}
    try:
        values = [np.asarray(value) for value in evaluate(wanted, data, sizes)]
    except (np.linalg.LinAlgError, ValueError, IndexError):
        return None
    return [_there(value) for value in values] if all(np.all(np.isfinite(value)) for value in values) else None


def _there(value: Array) -> Array:
    """Return where a matrix has entries; what is not finite is one."""
    size = np.abs(value)
    largest = np.max(size, initial=0.0, where=np.isfinite(size))
    return np.asarray(~(size <= NOTHING * largest))
