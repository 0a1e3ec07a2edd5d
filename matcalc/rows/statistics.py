"""Computes sufficient statistics: totals of rows alone, computed once and used by every later evaluation.

Terms are multiplied out, so a value can be a small difference of large totals and lose digits. Each value is therefore
computed twice, from the totals and from totals changed in their twelfth digit. If that changes the sixth digit of the
value, it is computed from the rows instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from matcalc.cached import cached_property
from matcalc.errors import NotSupported, UnknownName
from matcalc.language.identifiers import by_name
from matcalc.rows.blocks import ROWS
from matcalc.rows.separability import sufficient
from matcalc.rows.totals import Block, RowTotals, Totals, from_npy, from_parquet, output, passes
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.symbols import Names

if TYPE_CHECKING:
    import os

    import numpy as np
    import numpy.typing as npt

    from matcalc.compiler.call.compiled import Compiled

CHANGE = 2.0**-40
"""The relative change of the totals that tests how many digits of a value are reliable."""
MOST = 2.0**-20
"""The relative change of a value above which the rows are read, since only six digits are reliable."""


@dataclass(frozen=True)
class Statistics:
    """Totals of rows alone that suffice for a formula and its derivatives; `over`, `npy` and `parquet` compute them.

    Each of these returns a function of the shared arguments, by name, whose calls read no rows.
    """

    by_rows: RowTotals
    totals: RowTotals

    def __str__(self) -> str:
        names = ", ".join(self.by_rows.split)
        lines = [f"computed once from {names}, in {passes(self.totals.rounds)}:", *self.totals.listed()]
        also = "".join(f", {name}" for name in self.totals.shared)
        return "\n".join([*lines, f"each evaluation: from these{also}; no rows are read"])

    __repr__ = __str__

    @cached_property
    def _alone(self) -> RowTotals:
        """The totals as functions of the arguments with rows, and of the sizes that these do not determine."""
        request = self.totals.request
        kept = {name: request.names.symbols[name] for name in self.totals.split}
        names = Names(kept, tuple(kept), conditions=request.names.conditions)
        outputs = [output(t.symbol.name, t.node, names) for t in self.totals.whole.totals]
        return replace(self.totals, request=replace(request, names=names, outputs=outputs))

    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of the sizes that the totals need and rows do not determine."""
        return self._alone.sizes

    @property
    def programs(self) -> tuple[list[Compiled], Compiled]:
        """The compiled functions: one for each pass, and the one of an evaluation."""
        return self._alone.partials, self.totals.last

    def over(self, blocks: Iterable[Block], *, threads: int = 1, **sizes: int) -> Known:
        """Return the function of the shared arguments, from blocks of rows as `Split.over` takes them.

        Sizes that rows do not determine are passed by name; for counts by label, this is the number of labels.

        Raises: UnknownName for such a size that is missing; what `Split.over` raises for blocks.
        """
        for name in (name for name in self.sizes if name not in sizes):
            raise UnknownName(f"totals of rows alone need the size {name}", hint=f"give {name}=...")
        self._alone.check_passed(sizes, self.sizes, "a size that the totals need")
        return Known(self, self._alone.totals_over(blocks, sizes, threads), blocks)

    def npy(
        self, paths: Mapping[str, str | os.PathLike[str]], *, block: int = ROWS, threads: int = 1, **sizes: int
    ) -> Known:
        """Return the function of the shared arguments, from `.npy` files as `Split.npy` takes them.

        Raises: OSError; what `over` raises.
        """
        return self.over(from_npy(self.totals, paths, block), threads=threads, **sizes)

    def parquet(
        self,
        path: str | os.PathLike[str],
        columns: Mapping[str, str | Sequence[str]],
        *,
        block: int = ROWS,
        threads: int = 1,
        **sizes: int,
    ) -> Known:
        """Return the function of the shared arguments, from a Parquet file as `Split.parquet` takes it.

        Raises: ImportError without pyarrow; OSError; what `over` raises.
        """
        return self.over(from_parquet(path, columns, block), threads=threads, **sizes)


@dataclass(frozen=True, eq=False)
class Known:
    """A function of the shared arguments, by name, computed from known totals.

    A value that would lose too many digits is computed from the rows.
    """

    statistics: Statistics
    totals: Totals
    blocks: Iterable[Block]

    def __str__(self) -> str:
        return str(self.statistics)

    __repr__ = __str__

    def __call__(self, given: Mapping[str, npt.ArrayLike] | None = None, /, **shared: npt.ArrayLike) -> Any:
        """Return the result for shared arguments.

        Raises: ValueError if too many digits are lost and the blocks are an iterator, which cannot be read again.
        """
        shared = {**by_name({} if given is None else given, "a call"), **shared}
        made = self.statistics.totals
        made.check_passed(shared, made.shared, "a shared argument")
        result = made.finish(self.totals, **shared)
        if self._keeps_digits(result, made.finish(self._changed, **shared)):
            return result
        if iter(self.blocks) is self.blocks:
            hint = "give a list of blocks, so that the rows can be read again"
            raise ValueError(f"the value is a small difference of large totals and lost its digits: {hint}")
        by_rows = self.statistics.by_rows
        return by_rows.result_over(self.blocks, shared, 1)

    def _keeps_digits(self, result: Any, changed: Any) -> bool:
        import numpy as np

        value, moved = (np.asarray(r[0] if isinstance(r, tuple) else r) for r in (result, changed))
        with np.errstate(all="ignore"):  # by magnitudes: squares leave the range of doubles
            return bool(np.max(np.abs(moved - value), initial=0) <= MOST * np.max(np.abs(value), initial=0))

    @cached_property
    def _changed(self) -> Totals:
        import numpy as np

        rng = np.random.default_rng(0)
        values, before = (tuple(_moved(total, rng) for total in part) for part in self.totals[:2])
        return self.totals._replace(values=values, before=before)


def _moved(total: np.ndarray[Any, Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Return a total changed by random factors, the same along equal axes, so that it stays semidefinite if it was."""
    import numpy as np

    drawn = {length: rng.uniform(-1, 1, length) for length in dict.fromkeys(total.shape)}
    factors = reduce(np.multiply.outer, (drawn[length] for length in total.shape), np.asarray(rng.choice([-1.0, 1.0])))
    return total * (1 + CHANGE * factors)


def statistics_of(made: RowTotals) -> Statistics:
    """Return the sufficient statistics of a separated formula.

    Raises: NotSupported if there are none, naming a total that depends on a shared argument.
    """
    names = made.request.names
    roots = [out.unfactored or out.node for out in made.request.outputs]
    free = [names.symbols[name] for name in made.shared]
    if made.found is None:
        raise NotSupported(f"this does not separate over {made.rows}: {made.reason}")
    found = sufficient(roots, Size.of(made.rows), names, free)
    return Statistics(made, RowTotals(made.f, made.wrt, made.rows, made.request, found))
