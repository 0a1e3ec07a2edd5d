"""Replaces objectives over known rows by functions of sufficient statistics, if that makes a fit cheaper.

There are three conditions: a call over all rows is slow; one pass plus the calls from totals costs less than the same
calls over the rows; the totals have fewer entries than the rows. Values keep their digits
(`matcalc.rows.statistics`), so a fit changes only by rounding.
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
from matcalc.rows.separability import entries
from matcalc.rows.split import Split, split
from matcalc.rows.statistics import Known, Statistics
from matcalc.solvers.problem_input import LONG, Inputs

CALLS = 20
"""The assumed number of evaluations of a fit, a lower bound."""
BYTE = 3.0
"""Flops of a matrix product in the time that reading one byte takes; a constant, so that fits are reproducible."""


class FromTotals:
    """Value and gradients of the packed variables, from totals of the rows, which `plan` lists."""

    def __init__(self, given: Inputs, known: Known) -> None:
        self._given, self._known = given, known
        variables = given.packing.shapes
        self._fixed = {n: given.fixed[n] for n in known.statistics.totals.shared if n not in variables}

    def __call__(self, x: ArrayLike) -> Any:
        return self._known({**self._fixed, **self._given.packing.unpack(x)})

    @property
    def plan(self) -> str:
        """The totals that were computed once, and the inputs of each evaluation."""
        return str(self._known)


def from_totals(given: Inputs, e: Expression, compiled: Any) -> FromTotals | None:
    """Return value and gradients from totals of the rows; None if that is not cheaper."""
    sizes = {name: value for name, value in given.fixed.items() if isinstance(value, int)}
    if given.target != "numba" or _flops(compiled, sizes) < LONG:
        return None
    for rows in _sizes_of_data_alone(given, e):
        made = split(e, rows, given.names)
        found = _statistics(made)
        if found is None or not _is_smaller(given, made, found, sizes):
            continue
        once, after = _cost(found, sizes)
        if once + 2 * CALLS * after < CALLS * _work(compiled, sizes):  # a value is computed twice
            free_sizes = {name: sizes[name] for name in found.sizes}
            return FromTotals(given, found.over([{name: given.fixed[name] for name in made.split}], **free_sizes))
    return None


def _sizes_of_data_alone(given: Inputs, e: Expression) -> Iterator[str]:
    """Yield the sizes that occur in data but in no variable, the longest first."""
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


def _is_smaller(given: Inputs, made: Split, found: Statistics, sizes: dict[str, int]) -> bool:
    numbers = sum(entries(total.node, sizes) for total in found.totals.whole.totals)
    return bool(numbers < sum(prod(np.shape(given.fixed[name])) for name in made.split))


def _cost(found: Statistics, sizes: dict[str, int]) -> tuple[float, float]:
    """Return the work of the passes and of one evaluation after them."""
    before, after = found.programs
    return sum(_work(fn, sizes) for fn in before), _work(after, sizes)


def _work(compiled: Any, sizes: dict[str, int]) -> float:
    """Return the work of a call in flops, each step by flops or bytes, whichever is more; inf if a size is unknown."""
    steps = [(flops, moved) for _, flops, moved in compiled.spec.costs]
    if any(name not in sizes for step in steps for size in step for name in size.names):
        return inf
    return sum(max(float(flops.amount(sizes)), BYTE * float(moved.amount(sizes))) for flops, moved in steps)


def _flops(compiled: Any, sizes: dict[str, int]) -> float:
    flops = compiled.spec.flops
    is_known = flops is not None and set(flops.names) <= sizes.keys()
    return float(flops.amount(sizes)) if is_known else 0.0
