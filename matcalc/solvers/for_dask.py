"""`solvers.dask`: a sum over rows on a Dask cluster, as the functions of one flat vector that an optimiser calls.

Blocks of rows are scattered once. An evaluation is one round of futures for each pass over the rows: totals of blocks,
added pairwise where they are, one small result back. What a lost worker held is sent again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from matcalc.errors import NotSupported, UnknownName
from matcalc.language.identifiers import by_name
from matcalc.rows.blocks import counted
from matcalc.rows.splitting import Split, split
from matcalc.rows.totals import Totals, axis_of, rows_in
from matcalc.solvers.packing import Packing, Vector

ATTEMPTS = 5
"""How often an evaluation is begun again when workers are lost."""


class OnCluster:
    """f over named arrays as functions of one vector, evaluated on a cluster: `fun`, `jac`, `hessp`.

    `pack` and `unpack` go between the vector and a dictionary of arrays, `x0` is the start, packed; `split` says what
    is computed where.
    """

    def __init__(
        self, made: Split, packing: Packing, blocks: Sequence[Mapping[str, Any]], shared: Mapping[str, Any], client: Any
    ) -> None:
        self.split, self.client = made, client
        self._packing, self._blocks, self._shared = packing, list(blocks), dict(shared)
        self._futures: list[Any] = []
        self._held: dict[str, Any] = {}
        self._last: tuple[bytes, tuple[float, Vector]] | None = None
        self.x0: Vector | None = None

    def pack(self, arrays: Mapping[str, ArrayLike]) -> Vector:
        """Return the vector that holds arrays given by name."""
        return self._packing.pack(arrays)

    def unpack(self, x: ArrayLike) -> dict[str, Vector]:
        """Return the arrays that a vector holds, by name."""
        return self._packing.unpack(x)

    def value_and_gradient(self, x: ArrayLike) -> tuple[float, Vector]:
        """Return f(x) and its gradient; those of the last x are kept."""
        key = np.asarray(x, np.float64).tobytes()
        if self._last is None or self._last[0] != key:
            value, gradient = self._evaluated("first", self.split, self.unpack(x))
            self._last = key, (float(value), self._packed(gradient))
        return self._last[1]

    def fun(self, x: ArrayLike) -> float:
        """Return f(x)."""
        return self.value_and_gradient(x)[0]

    def jac(self, x: ArrayLike) -> Vector:
        """Return the gradient."""
        return self.value_and_gradient(x)[1]

    def hessp(self, x: ArrayLike, v: ArrayLike) -> Vector:
        """Return the Hessian times v, without forming it."""
        names = list(self._packing.shapes)
        along = self.unpack(v)
        directions = {"v" if len(names) == 1 else f"v_{name}": along[name] for name in names}
        product = self._evaluated("second", self.split.also_with("hvp"), {**self.unpack(x), **directions})[2]
        return self._packed(product)

    def _packed(self, parts: Any) -> Vector:
        names = list(self._packing.shapes)
        several = parts if isinstance(parts, tuple) else (parts,)
        return self.pack(dict(zip(names, several, strict=True)))

    # ---- on the cluster

    def _evaluated(self, key: str, made: Split, given: Mapping[str, Any]) -> Any:
        """Return the result for shared values, begun again where workers were lost."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        shared = {**self._shared, **given}
        for attempt in range(ATTEMPTS):
            try:
                return made.finish(self._total(key, made, shared), **shared)
            except (KilledWorker, FutureCancelledError, TimeoutError):
                if attempt == ATTEMPTS - 1:
                    raise
                self._held.clear()
        raise AssertionError

    def _total(self, key: str, made: Split, shared: Mapping[str, Any]) -> Totals:
        self._scatter()
        if key not in self._held:
            self._held[key] = self.client.scatter(made, broadcast=True, hash=False)
        held, total = self._held[key], None
        for _ in range(made.rounds):
            parts = [self._submitted(part_of, held, block, shared, total) for block in self._futures]
            while len(parts) > 1:
                pairs = [self._submitted(sum_of, held, *parts[k : k + 2]) for k in range(0, len(parts), 2)]
                parts = pairs
            total = Totals(*parts[0].result())
        assert total is not None
        return total

    def _submitted(self, function: Callable[..., Totals], *args: Any) -> Any:
        return self.client.submit(function, *args, pure=False, retries=2)

    def _scatter(self) -> None:
        """Send the blocks that no worker holds, each to one worker."""
        if not self._futures:
            self._futures = [self._sent(block) for block in self._blocks]
        for k, future in enumerate(self._futures):
            if future.status != "finished":
                self._futures[k] = self._sent(self._blocks[k])

    def _sent(self, block: Mapping[str, Any]) -> Any:
        return self.client.scatter([block], hash=False)[0]


def part_of(made: Split, block: Mapping[str, Any], shared: Mapping[str, Any], after: Totals | None) -> Totals:
    """Return the totals of a block: what a worker runs."""
    return made.partial(after=after, **{name: shared[name] for name in made.shared}, **block)


def sum_of(made: Split, a: Totals, b: Totals | None = None) -> Totals:
    """Return the totals of two blocks together."""
    return a if b is None else made.combine(a, b)


def dask(
    f: Any,
    wrt: Any,
    data: Mapping[str, Any],
    over: str = "m",
    client: Any = None,
    start: Mapping[str, ArrayLike] | None = None,
    block: int = 65_536,
    *,
    declarations: str = "",
    dialect: str = "matrix",
) -> OnCluster:
    """Return the scalar `f`, a sum over the rows that `over` counts, as functions of one vector on a Dask cluster.

    `data` gives arrays, those with rows cut into blocks of `block` rows and sent to the workers once; `client` is a
    `distributed.Client`, by default the current one. `start` gives the variables' shapes, and `x0`.

    Shapes: vectors (n,), n the number of entries of all variables, row-major in the order of `wrt`.
    Raises: NotSupported where f does not separate over its rows, with the part that needs all at once; UnknownName and
        ValueError for data that are missing; ImportError without distributed.
    """
    names = [str(name) for name in (wrt if isinstance(wrt, (list, tuple)) else [wrt])]
    made = split(f, over, wrt, declarations, dialect)
    if not made:
        raise NotSupported(f"this does not separate over {over}: {made.reason}")
    data = by_name(data, "data=")
    missing = next((name for name in made.args if name not in {*data, *names}), None)
    if missing is not None:
        raise UnknownName(f"{missing} is missing in data")
    if not isinstance(start, Mapping) or any(name not in start for name in names):
        raise ValueError(f"start gives a first value for {', '.join(names)}, by name")
    packing = Packing.of({name: np.asarray(start[name], np.float64) for name in names}, names)
    shared = {name: data[name] for name in made.shared if name not in names}
    blocks = list(cut({name: np.asarray(data[name]) for name in made.split}, made, block))
    problem = OnCluster(made, packing, blocks, shared, client or _current())
    problem.x0 = packing.pack(start)
    return problem


def _current() -> Any:
    from distributed import get_client

    return get_client()


def cut(arrays: Mapping[str, Any], made: Split, rows: int) -> Iterator[dict[str, Any]]:
    """Yield blocks of rows. Raises: ValueError for no rows."""
    count = rows_in(made, arrays)
    if not count:
        raise ValueError("there are no rows")
    for start in range(0, count, counted("block", rows)):
        yield {
            name: array[(*(slice(None),) * axis_of(made, name), slice(start, start + rows))]
            for name, array in arrays.items()
        }
