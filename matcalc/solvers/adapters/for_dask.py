"""Defines `solvers.dask`: a sum over rows on a Dask cluster, as functions of one flat vector for optimisers.

Workers that can access the files read blocks of rows once; otherwise blocks are sent to them once. An evaluation is
one graph of tasks for each pass over the rows: the totals of blocks are added on the workers, and one small result is
returned. Blocks of a lost worker are read or sent again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from matcalc.rows.blocks import FromFiles
from matcalc.rows.split import Split
from matcalc.rows.totals import Totals, rows_in
from matcalc.solvers.minibatch import Slope
from matcalc.solvers.over_rows import Cut, OverRows, RowInputs, as_array, blocks_of, read_row_inputs, taken
from matcalc.solvers.packing import Vector

ATTEMPTS = 5
"""How often an evaluation is attempted if workers are lost."""
TOGETHER = 8
"""The number of totals added in one task: each task costs the scheduler a millisecond."""
SMALL = 2**15
"""The most bytes of shared values that are sent with each task; larger values are a task of their own, sent once."""
PIECE, LEAST = 2**24, 64
"""The bytes of rows that are computed at once, so that intermediate arrays fit in cache, and the fewest rows."""


class OnCluster(OverRows):
    """f over named arrays as functions of one vector, evaluated on a cluster."""

    def __init__(self, given: RowInputs, block: int, client: Any, checkpoint: str | os.PathLike[str] | None) -> None:
        blocks = blocks_of(given, block)
        self._files = blocks if isinstance(blocks, FromFiles) else None
        opened = {name: _opened(value) for name, value in given.by_rows.items()}
        self._blocks = list(blocks_of(replace(given, by_rows=opened), block))
        super().__init__(given, self._blocks, checkpoint)
        self.client = client
        self._futures: list[Any] = []
        self._held: dict[str, Any] = {}

    def _result(self, also: str, given: Mapping[str, Any]) -> Any:
        made = self.split.also_with(also) if also else self.split
        return self._again(lambda shared: made.finish(self._total(also, made, shared, part_of), **shared), given)

    def _batches(self, seed: int, number: int, size: int) -> Iterator[Slope]:
        """Yield gradients over drawn rows; each worker draws the share of its blocks."""
        rows = sum(rows_in(self.split, block) for block in self._blocks)
        for step in range(-(-rows // size)):
            yield partial(self._slope, [seed, number, step], min(size / rows, 1.0))

    def _slope(self, seed: list[int], share: float, x: Vector) -> Vector:
        def drawn(shared: Mapping[str, Any]) -> Any:
            total = self._total("", self.split, shared, drawn_part_of, seed, share)
            return self.split.finish(total, **shared)

        return self._packed(self._again(drawn, self.unpack(x))[1])

    # ---- on the cluster

    def _again(self, compute: Callable[[Mapping[str, Any]], Any], given: Mapping[str, Any]) -> Any:
        """Return a result for shared values; try again if workers are lost."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        for attempt in range(ATTEMPTS):
            try:
                return compute({**self._shared, **given})
            except (KilledWorker, FutureCancelledError, TimeoutError):
                if attempt == ATTEMPTS - 1:
                    raise
                self._held.clear()
        raise AssertionError

    def _total(
        self, key: str, made: Split, shared: Mapping[str, Any], of_block: Callable[..., Totals], *more: Any
    ) -> Totals:
        """Return the totals over all blocks by one graph per pass, adding eight at a time in a fixed order."""
        from dask.delayed import delayed

        self._place()
        if key not in self._held:
            self._held[key] = self.client.scatter(made, broadcast=True, hash=False)
        held, total = self._held[key], None
        part, add = (delayed(function, pure=False, traverse=False) for function in (of_block, sum_of))
        for _ in range(made.rounds):
            known: Any = shared, total
            if sum(np.asarray(value).nbytes for value in shared.values()) > SMALL:
                known = delayed(known, pure=False, traverse=False)  # a separate task, sent once
            parts = [part(held, block, known, k, *more) for k, block in enumerate(self._futures)]
            while len(parts) > 1:
                parts = [add(held, *parts[k : k + TOGETHER]) for k in range(0, len(parts), TOGETHER)]
            total = Totals(*self.client.compute(parts[0], retries=2).result())
        assert total is not None
        return total

    def _place(self) -> None:
        """Have workers read the blocks that no worker holds, or send blocks that they cannot read."""
        from distributed import wait

        if not self._futures and self._files is not None:
            files, places = self._files, range(0, len(self._blocks) * self._files.rows, self._files.rows)
            self._futures = self.client.map(read_part, places, files=files, states=_states(files), pure=False)
            wait(self._futures)
        elif not self._futures:
            self._futures = [self._sent(block) for block in self._blocks]
        for k, future in enumerate(self._futures):
            if future.status in ("error", "lost", "cancelled"):
                self._futures[k] = self._sent(self._blocks[k])

    def _sent(self, block: Mapping[str, Any]) -> Any:
        return self.client.scatter([{name: as_array(part) for name, part in block.items()}], hash=False)[0]


def _opened(value: Any) -> Any:
    """Return an array; a file is opened as a memory map, which occupies only the page cache."""
    return np.load(value, mmap_mode="r", allow_pickle=False) if isinstance(value, (str, os.PathLike)) else value


def _states(files: FromFiles) -> dict[str, tuple[int, int]]:
    """Return the lengths and modification times of files, which identify them on other machines."""
    found = {name: os.stat(path) for name, path in files.paths.items()}
    return {name: (state.st_size, state.st_mtime_ns) for name, state in found.items()}


def read_part(start: int, files: FromFiles, states: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    """Return a block of rows of files, on a worker. Raises: OSError if its files differ from the client's."""
    if _states(files) != states:
        raise OSError("the files of this worker differ from the client's")
    return files.at(start)


def aligned(block: Any) -> Any:
    """Replace unaligned arrays of a block, such as received ones, by aligned copies; return the block."""
    for name, part in block.items():
        if not _values(part).flags.aligned:
            block[name] = part.copy()
    return block


def _values(part: Any) -> np.ndarray[Any, Any]:
    values: np.ndarray[Any, Any] = part.data if hasattr(part, "tocsr") else part
    return values


Known = tuple[Mapping[str, Any], Totals | None]
"""Shared values, and the totals of the previous pass."""


def part_of(made: Split, block: Mapping[str, Any], known: Known, k: int) -> Totals:
    """Return the totals of a block, on a worker."""
    shared, after = known
    given = {name: shared[name] for name in made.shared}
    block = aligned(block)
    row = sum(_values(part).nbytes for part in block.values()) / max(rows_in(made, block), 1)
    pieces = Cut(block, made, max(LEAST, int(PIECE / row)))
    parts = (made.partial(after=after, **given, **piece) for piece in pieces)
    return reduce(made.combine, parts)


def drawn_part_of(made: Split, block: Mapping[str, Any], known: Known, k: int, seed: list[int], share: float) -> Totals:
    """Return estimated totals of a block from a share of its rows, drawn with a seed and the block's number."""
    rows = rows_in(made, block)
    count = max(1, round(share * rows))
    chosen = np.random.default_rng([*seed, k]).choice(rows, count, replace=False)
    return made.scaled(part_of(made, taken(made, block, chosen), known, k), rows / count)


def sum_of(made: Split, *parts: Totals) -> Totals:
    """Return the combined totals of blocks."""
    return reduce(made.combine, parts)


def dask(
    f: Any,
    wrt: Any,
    data: Mapping[str, Any],
    over: str = "m",
    client: Any = None,
    start: Mapping[str, ArrayLike] | None = None,
    block: int = 262_144,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    declarations: str = "",
    dialect: str = "matrix",
) -> OnCluster:
    """Return the scalar `f`, a sum over the rows that `over` counts, as functions of one vector on a Dask cluster.

    `data` has arrays or paths as for `solvers.rows`; those with rows are cut into blocks of `block` rows and sent to
    the workers once. `client` is a `distributed.Client`, by default the current one. `start` determines the variables'
    shapes and `x0`. Evaluations are stored in the file `checkpoint`: a fit whose client was killed resumes from it and
    ends with the same digits.

    Shapes: vectors are (n,), with n the number of entries of all variables, row-major in the order of `wrt`.
    Raises: NotSupported if f does not separate over its rows, naming the part that needs all rows at once; UnknownName
        or ValueError for missing data or a checkpoint of another fit; ImportError without distributed.
    """
    return OnCluster(
        read_row_inputs(f, wrt, data, over, start, declarations, dialect), block, client or _current(), checkpoint
    )


def _current() -> Any:
    from distributed import get_client

    return get_client()
