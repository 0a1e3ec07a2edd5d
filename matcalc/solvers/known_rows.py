"""Objectives whose data by rows are known: totals that suffice are computed once where later calls are then cheaper.

The decision: only where a call over all rows is long, and a pass over them with a fit's calls from totals costs less
than the same calls over the rows; never where totals hold more numbers than the rows. The values keep their digits
(`matcalc.rows.statistics`), so a fit is the same but for rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from matcalc.errors import NotSupported
from matcalc.expressions.expression import Expression
from matcalc.language.kinds import SPARSE
from matcalc.rows.separating import entries
from matcalc.rows.splitting import Split, split
from matcalc.rows.statistics import Known, Statistics
from matcalc.solvers.given import LONG, Given

CALLS = 20
"""Evaluations of a fit, at least."""
BYTE = 3.0
"""Flops of a product of matrices in the time that a byte takes from memory: a constant, so that fits are the same."""


class FromTotals:
    """Value and gradients of the packed variables, from totals of the rows; `plan` says which."""

    def __init__(self, given: Given, known: Known) -> None:
        self._given, self._known = given, known
        variables = given.packing.shapes
        self._fixed = {n: given.fixed[n] for n in known.statistics.totals.shared if n not in variables}

    def __call__(self, x: ArrayLike) -> Any:
        return self._known({**self._fixed, **self._given.packing.unpack(x)})

    @property
    def plan(self) -> str:
        """What was computed once, and what each evaluation reads."""
        return str(self._known)


def from_totals(given: Given, e: Expression, compiled: Any) -> FromTotals | None:
    """Return value and gradients from totals of rows that are known, None where that is not cheaper."""
    sizes = {name: value for name, value in given.fixed.items() if isinstance(value, int)}
    if given.target != "numba" or _flops(compiled, sizes) < LONG:
        return None
    for rows in _sizes_of_data_alone(given, e):
        made = split(e, rows, given.names)
        found = _statistics(made)
        if found is None or not _is_smaller(given, made, found, sizes):
            continue
        once, after = _cost(found, sizes)
        if once + 2 * CALLS * after < CALLS * _work(compiled, sizes):  # a value is made twice, to see its digits
            told = {name: sizes[name] for name in found.sizes}
            return FromTotals(given, found.over([{name: given.fixed[name] for name in made.split}], **told))
    return None


def _sizes_of_data_alone(given: Given, e: Expression) -> Iterator[str]:
    """Yield the sizes that arrays of data have and no variable does, the longest first."""
    symbols = e.names.symbols
    of_variables = {name for v in given.names for size in symbols[v].shape for name in size.names}
    of_data = {size.names[0] for node in symbols.values() for size in node.shape if size.is_name}
    lengths = {name: given.fixed[name] for name in of_data - of_variables if name in given.fixed}
    yield from sorted(lengths, key=lambda name: (-lengths[name], name))


def _statistics(made: Split) -> Statistics | None:
    symbols = made.request.names.symbols
    if not made or any(SPARSE in symbols[name].facts for name in made.split):
        return None
    try:
        return made.precompute()
    except NotSupported:
        return None


def _is_smaller(given: Given, made: Split, found: Statistics, sizes: dict[str, int]) -> bool:
    numbers = sum(entries(total.node, sizes) for total in found.totals.whole.totals)
    return bool(numbers < sum(prod(np.shape(given.fixed[name])) for name in made.split))


def _cost(found: Statistics, sizes: dict[str, int]) -> tuple[float, float]:
    """Return the work of the passes and of an evaluation after them."""
    before, after = found.programs
    return sum(_work(fn, sizes) for fn in before), _work(after, sizes)


def _work(compiled: Any, sizes: dict[str, int]) -> float:
    """Return the flops of a call, with what its bytes take, step by step; infinity where they are not known."""
    steps = [(flops, moved) for _, flops, moved in compiled.spec.costs]
    if any(name not in sizes for step in steps for size in step for name in size.names):
        return inf
    return sum(max(float(flops.amount(sizes)), BYTE * float(moved.amount(sizes))) for flops, moved in steps)


def _flops(compiled: Any, sizes: dict[str, int]) -> float:
    flops = compiled.spec.flops
    is_known = flops is not None and set(flops.names) <= sizes.keys()
    return float(flops.amount(sizes)) if is_known else 0.0
