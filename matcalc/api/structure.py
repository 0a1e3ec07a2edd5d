"""Provides `structure`: the nonzero entries of Jacobians and Hessians, block by block, found from values.

The formula is evaluated at random data with the declared facts, or at the user's data. An entry is nonzero if it is not
0 at one of them. The blocks of a derivative in several variables form one matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate
from typing import Any

import numpy as np

from matcalc.calculus.derive.conventions import as_matrix
from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import NotSupported, ShapeError
from matcalc.evidence.explain.size_conditions import conditions
from matcalc.evidence.numeric.sampling import MODES, Array, draws, shape_at
from matcalc.expressions.expression import Expression
from matcalc.expressions.read_input import expressions
from matcalc.language.identifiers import by_name, shown
from matcalc.pictures.plots import Cells
from matcalc.pictures.rich_text import Paragraph, grid, html
from matcalc.tensor.lookups import lengths_of
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.sizes_from_shapes import holds
from matcalc.tensor.symbols import all_sizes

LENGTHS = ((6, 4, 5, 3), (4, 6, 3, 5), (5, 5, 5, 5), (2, 2, 2, 2), (1, 1, 1, 1))
"""Lengths of the size names, in order, tried until one set fits."""

NOTHING = 1e-14
"""The part of the largest entry below which an entry is rounding error."""

DRAWN = 100
"""Largest number of rows or columns that a notebook shows as a table."""

MOST = 4096
"""Largest number of rows or columns."""


@dataclass(frozen=True, eq=False)
class Structure:
    """The nonzero entries of a matrix as a boolean `pattern`, with the `rows` and `columns` of its blocks, in order.

    It prints as a picture of characters; notebooks display it as SVG or, without matplotlib, as a table.
    """

    pattern: Array
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    where: str

    @property
    def density(self) -> float:
        """The fraction of nonzero entries."""
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

    def _repr_html_(self) -> str | None:
        """Return the pattern as a table of cells, where there is no SVG; as text if it is large."""
        if self._repr_svg_() is not None:
            return None
        if max(self.pattern.shape) > DRAWN:
            return f'<pre style="line-height: 1">{escape(str(self))}</pre>'
        row_cuts, column_cuts = (set(accumulate(lengths[:-1])) for lengths in (self.rows, self.columns))
        title = html([Paragraph([str(self).partition("\n")[0]])])
        return title + grid(self.pattern.tolist(), row_cuts, column_cuts)


def structure(
    F: Any,
    declarations: str = "",
    data: Mapping[Any, Any] | None = None,
    sizes: Mapping[str, int] | None = None,
    dialect: str = "matrix",
) -> Structure:
    """Return the pattern of nonzero entries of a Jacobian or Hessian, in the form returned by `jacobian` or `hessian`.

    `F` is a formula, or blocks: a tuple for several variables, a tuple of rows for a Hessian in several. An array of
    order 3 or more is treated as the matrix of its stacked columns, as in `rewrite("kron")`. The entries are evaluated
    at `data`, or at three draws of random data with the declared facts, at small sizes or those in `sizes`. Entries
    below 1e-14 of the largest count as rounding error.

    Shapes: pattern as the matrix of all blocks.
    Raises: the errors of reading; ShapeError if blocks do not fit beside each other, if no random data fit, or for an
        invalid size; TypeError if `sizes` is no dictionary; NotSupported for more than 4096 rows or columns.

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
    values, where = (
        _at_data(blocks, nodes, by_name(data, "data=")) if data is not None else _at_random(blocks, nodes, sizes)
    )
    heights, widths = [row[0].shape[0] for row in values], [block.shape[1] for block in values[0]]
    for row, height in zip(values, heights, strict=True):
        if [block.shape for block in row] != [(height, width) for width in widths]:
            raise ShapeError("the blocks do not fit beside each other: pass them as hessian or jacobian returns them")
    return Structure(np.block(values).astype(bool), tuple(heights), tuple(widths), where)


def _is_several(F: Any) -> bool:
    return isinstance(F, (tuple, list))


def _matrix(e: Expression, alone: bool) -> Node:
    """Return the matrix to evaluate: a single formula as written, else the matrix of stacked columns."""
    return as_matrix(e.node, min(1, e.node.rank) if alone and e.node.rank < 3 else e.leading_axes)


def _at_data(
    blocks: Sequence[Sequence[Expression]], nodes: Sequence[Sequence[Node]], data: Mapping[str, Any]
) -> tuple[list[list[Array]], str]:
    """Return the patterns of the blocks at the user's data."""
    found = []
    for row, expected in zip(blocks, nodes, strict=True):
        held = [{name: data[name] for name in e.symbols if name in data} for e in row]
        values = [Expression(node, e.names)(**chosen) for e, node, chosen in zip(row, expected, held, strict=True)]
        found.append([_nonzero(np.asarray(value)) for value in values])
    return found, " at the data"


def _at_random(
    blocks: Sequence[Sequence[Expression]], nodes: Sequence[Sequence[Node]], chosen: Mapping[str, int] | None
) -> tuple[list[list[Array]], str]:
    """Return the patterns of the blocks at random data; an entry is nonzero if it is at one of the draws."""
    flat = [e for row in blocks for e in row]
    expected = [node for row in nodes for node in row]
    symbols = list({s.name: s for e in flat for name, s in e.names.symbols.items() if name in e.names.written}.values())
    names = list(dict.fromkeys(name for e in flat for name in all_sizes(expected, e.names, symbols)))
    fixed = dict(by_name(chosen, "sizes=")) if chosen is not None else {}
    for name, length in fixed.items():
        if name not in names:
            raise ShapeError(f"{shown(name)} is not a size of the formula; its sizes are {', '.join(names) or 'none'}")
        if type(length) is not int or length < 0:
            raise ShapeError(f"the size {name} is an integer from 0, not {shown(length)}")
    for lengths in LENGTHS:
        sizes = {name: fixed.get(name, lengths[k % len(lengths)]) for k, name in enumerate(names)}
        draws = [
            found for mode in range(len(MODES)) if (found := _draw(flat, expected, symbols, sizes, mode)) is not None
        ]
        if draws:
            there = iter([np.logical_or.reduce(entries) for entries in zip(*draws, strict=True)])
            shown_sizes = ", ".join(f"{name} = {length}" for name, length in sizes.items())
            return [[next(there) for _ in row] for row in nodes], f" at {shown_sizes}" if shown_sizes else ""
    raise ShapeError("no random data at which the formula is finite: pass data=")


def _draw(
    flat: Sequence[Expression], expected: Sequence[Node], symbols: Sequence[Node], sizes: Mapping[str, int], mode: int
) -> list[Array] | None:
    """Return the patterns at one draw; None if the formulas have no value there."""
    if not all(holds(c, sizes) for c in (*conditions(*expected), *(c for e in flat for c in e.names.conditions))):
        return None
    if any(length < 0 for s in symbols for length in shape_at(s.shape, sizes)):
        return None
    if max((length for node in expected for length in shape_at(node.shape, sizes)), default=0) > MOST:
        raise NotSupported(f"a matrix of more than {MOST} rows or columns: pass smaller `sizes`")
    data = draws(symbols, sizes, lengths_of(expected), mode, 5, mode)
    try:
        values = [np.asarray(value) for value in evaluate(expected, data, sizes)]
    except (np.linalg.LinAlgError, ValueError, IndexError):
        return None
    return [_nonzero(value) for value in values] if all(np.all(np.isfinite(value)) for value in values) else None


def _nonzero(value: Array) -> Array:
    """Return the pattern of nonzero entries of a matrix; entries that are not finite count as nonzero."""
    size = np.abs(value)
    largest = np.max(size, initial=0.0, where=np.isfinite(size))
    return np.asarray(~(size <= NOTHING * largest))
