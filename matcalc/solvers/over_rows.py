"""Defines `solvers.rows`: a sum over rows as functions of one vector for optimisers, a few blocks at a time.

Evaluations can be stored on disk (`checkpoint`), and rows can be drawn randomly (`method="adam"`). Subclasses decide
where the rows are stored and computed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from matcalc.cached import cached_property
from matcalc.errors import NotSupported, UnknownName
from matcalc.language.identifiers import by_name, nearest, shown
from matcalc.rows.blocks import ROWS, FromFiles, counted
from matcalc.rows.split import Split, split
from matcalc.rows.totals import Block, Totals, axis_of, from_npy, rows_in
from matcalc.solvers.checkpoint import Journal
from matcalc.solvers.fingerprint import digest_of, fingerprint
from matcalc.solvers.minibatch import METHODS, Settings, Slope, State, settings_of
from matcalc.solvers.minimize import GRADIENT, PRODUCT
from matcalc.solvers.packing import Packing, Vector
from matcalc.solvers.result import Result


class OverRows:
    """f over named arrays as functions of one vector: `fun`, `jac`, `hessp`, `minimize`.

    `pack` and `unpack` convert between a dictionary of arrays and the vector. `x0` is the packed start. `split` lists
    the totals of each block of rows.
    """

    def __init__(self, inputs: RowInputs, blocks: Iterable[Block], checkpoint: str | os.PathLike[str] | None) -> None:
        self.split, self.x0 = inputs.split, inputs.packing.pack(inputs.start)
        self._packing, self._shared = inputs.packing, inputs.shared
        self._journal = None
        if checkpoint is not None:
            data = f"{digest_of(inputs.shared)} {fingerprint(inputs.split, blocks)}"
            self._journal = Journal(checkpoint, inputs.about, data)
        self._last: tuple[bytes, Vector] | None = None

    def pack(self, arrays: Mapping[str, ArrayLike]) -> Vector:
        """Return arrays by name as a vector."""
        return self._packing.pack(arrays)

    def unpack(self, x: ArrayLike) -> dict[str, Vector]:
        """Return a vector as arrays by name."""
        return self._packing.unpack(x)

    def value_and_gradient(self, x: ArrayLike) -> tuple[float, Vector]:
        """Return f(x) and its gradient; those of the last x are cached."""
        at = np.array(x, np.float64)
        if self._last is None or self._last[0] != at.tobytes():
            self._last = at.tobytes(), self._kept("gradient", at, lambda: self._both(at))
        both = self._last[1]
        return float(both[0]), both[1:].copy()

    def fun(self, x: ArrayLike) -> float:
        """Return f(x)."""
        return self.value_and_gradient(x)[0]

    def jac(self, x: ArrayLike) -> Vector:
        """Return the gradient."""
        return self.value_and_gradient(x)[1]

    def hessp(self, x: ArrayLike, v: ArrayLike) -> Vector:
        """Return the Hessian times v, without forming it."""
        at, along = np.array(x, np.float64), np.array(v, np.float64)
        return self._kept("product", np.concatenate([at, along]), lambda: self._product(at, along))

    def minimize(self, method: str = "L-BFGS-B", **options: Any) -> Result:
        """Minimise from the start by a method of SciPy that uses a gradient, or by steps on drawn rows.

        `"sgd"`, `"adam"` and `"svrg"` take `batch=256` rows per step and `passes=10` over all rows. The step length
        `step=0.01` decreases as `1/(1 + decay*k)`; rows are drawn with `seed=0`. The options of other methods are
        passed to SciPy. The result is SciPy's, with `x` and `jac` by name.

        Raises: ValueError for an unknown method or option; NotSupported for drawn rows if totals are no sums.
        """
        known = {name.lower(): name for name in (*GRADIENT, *PRODUCT, *METHODS)}
        name = known.get(str(method).lower())
        if name is None:
            which = nearest(str(method), list(known.values()))
            raise ValueError(f"unknown method {shown(method)}{which}; known are {', '.join(known.values())}")
        found = self._by_steps(name, options) if name in METHODS else self._by_scipy(name, options)
        slope: Any = (
            found["grad"] if "grad" in found else found["jac"]
        )  # trust-constr returns a list `jac` of the constraints
        return Result({**found, "x": self.unpack(found["x"]), "jac": self.unpack(slope)})

    def _by_scipy(self, method: str, options: Mapping[str, Any]) -> dict[str, Any]:
        from scipy.optimize import minimize

        more = {"hessp": self.hessp} if method in PRODUCT else {}
        return dict(minimize(self.value_and_gradient, self.x0, jac=True, method=method, **more, **options))

    def _by_steps(self, method: str, options: Mapping[str, Any]) -> dict[str, Any]:
        settings = settings_of(options)
        state = np.concatenate([[0.0], self.x0, np.zeros(2 * len(self.x0))])
        for number in range(settings.passes):
            state = self._kept(
                f"{method} {settings} {number}", state, partial(self._pass, method, settings, number, state)
            )
        count, x, *_ = _parts(state)
        value, gradient = self.value_and_gradient(x)
        is_finite = bool(np.isfinite(value))
        message = f"{settings.passes} passes, {count} steps of {settings.batch} rows"
        if not is_finite:
            message = f"the value is not finite after {message}: take a smaller step="
        return {"x": x, "fun": value, "jac": gradient, "nit": count, "success": is_finite, "message": message}

    def _pass(self, method: str, settings: Settings, number: int, state: Vector) -> Vector:
        slopes = self._batches(settings.seed, number, settings.batch)
        count, *kept = METHODS[method](_parts(state), slopes, self.jac, settings)
        return np.concatenate([[float(count)], *kept])

    # ---- evaluations

    def _kept(self, label: str, point: Vector, compute: Any) -> Vector:
        return compute() if self._journal is None else self._journal.get(label, point, compute)

    def _both(self, x: Vector) -> Vector:
        value, gradient = self._result("", self.unpack(x))
        return np.concatenate([[float(value)], self._packed(gradient)])

    def _product(self, x: Vector, v: Vector) -> Vector:
        names = list(self._packing.shapes)
        along = self.unpack(v)
        directions = {"v" if len(names) == 1 else f"v_{name}": along[name] for name in names}
        return self._packed(self._result("hvp", {**self.unpack(x), **directions})[2])

    def _packed(self, parts: Any) -> Vector:
        names = list(self._packing.shapes)
        several = parts if isinstance(parts, tuple) else (parts,)
        return self.pack(dict(zip(names, several, strict=True)))

    def _result(self, also: str, given: Mapping[str, Any]) -> Any:
        """Return the result over all rows for values of the variables."""
        raise NotImplementedError

    def _batches(self, seed: int, number: int, size: int) -> Iterator[Slope]:
        """Yield gradients over drawn rows, for one pass over all rows."""
        raise NotImplementedError


class OnOneMachine(OverRows):
    """A sum over rows of arrays or files, computed on this machine, a few blocks at a time."""

    def __init__(
        self, inputs: RowInputs, blocks: Iterable[Block], threads: int, checkpoint: str | os.PathLike[str] | None
    ) -> None:
        super().__init__(inputs, blocks, checkpoint)
        self._blocks, self._threads = blocks, threads

    def _result(self, also: str, given: Mapping[str, Any]) -> Any:
        made = self.split.also_with(also) if also else self.split
        return made.result_over(self._blocks, {**self._shared, **given}, self._threads)

    @cached_property
    def _rows(self) -> int:
        return sum(rows_in(self.split, block) for block in self._blocks)

    def _batches(self, seed: int, number: int, size: int) -> Iterator[Slope]:
        """Yield gradients over parts of blocks, after a random permutation of each block's rows."""
        for k, block in enumerate(self._blocks):
            rows = rows_in(self.split, block)
            order = np.random.default_rng([seed, number, k]).permutation(rows)
            for chosen in np.array_split(order, -(-rows // size)) if rows else ():
                yield partial(self._slope, taken(self.split, block, chosen), self._rows / len(chosen))

    def _slope(self, drawn: Block, share: float, x: Vector) -> Vector:
        given, total = {**self._shared, **self.unpack(x)}, None
        for _ in range(self.split.rounds):
            total = self.split.scaled(self.split.partial(after=total, **given, **drawn), share)
        return self._packed(self.split.finish(total or Totals(()), **given)[1])


def _parts(state: Vector) -> State:
    point, mean, square = np.split(state[1:], 3)
    return int(state[0]), point, mean, square


def taken(made: Split, block: Block, rows: Any) -> dict[str, Any]:
    """Return some rows of a block."""
    found = {}
    for name in made.split:
        array: Any = block[name]
        axis = axis_of(made, name)
        found[name] = (
            np.take(array, rows, axis) if isinstance(array, np.ndarray) else array[(*(slice(None),) * axis, rows)]
        )
    return found


@dataclass(frozen=True)
class RowInputs:
    """The checked inputs: the split, the variables with their start, shared data, and data with rows."""

    split: Split
    packing: Packing
    start: Mapping[str, ArrayLike]
    shared: Mapping[str, Any]
    by_rows: Mapping[str, Any]

    @property
    def about(self) -> str:
        """The text that identifies this fit, without its data."""
        return f"{self.split}\n{self.split.f}\n{self.packing.shapes}\n{digest_of(self.start)}"


def read_row_inputs(
    f: Any, wrt: Any, data: Mapping[str, Any], over: str, start: Any, declarations: str, dialect: str
) -> RowInputs:
    """Read and check the inputs of a sum over rows.

    Raises: NotSupported, UnknownName or ValueError for invalid input.
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
        raise ValueError(f"start needs a first value for {', '.join(names)}, by name")
    packing = Packing.of({name: np.asarray(start[name], np.float64) for name in names}, names)
    shared = {name: data[name] for name in made.shared if name not in names}
    return RowInputs(
        made, packing, {name: start[name] for name in names}, shared, {name: data[name] for name in made.split}
    )


@dataclass(frozen=True)
class Cut:
    """Blocks of rows of arrays, as views."""

    arrays: Mapping[str, Any]
    made: Split
    rows: int

    def __iter__(self) -> Iterator[dict[str, Any]]:
        count = rows_in(self.made, self.arrays)
        if not count:
            raise ValueError("there are no rows")
        for start in range(0, count, counted("block", self.rows)):
            yield {
                name: array[(*(slice(None),) * axis_of(self.made, name), slice(start, start + self.rows))]
                for name, array in self.arrays.items()
            }


def blocks_of(given: RowInputs, rows: int) -> Cut | FromFiles:
    """Return data with rows in blocks: of arrays, or of `.npy` files if all are paths.

    Raises: TypeError for a mixture of arrays and paths; ShapeError; ValueError if there are no rows.
    """
    are_paths = [isinstance(value, (str, os.PathLike)) for value in given.by_rows.values()]
    if all(are_paths):
        return from_npy(given.split, given.by_rows, rows)
    if any(are_paths):
        raise TypeError(f"{', '.join(given.by_rows)} must be all arrays or all paths of .npy files")
    counted("block", rows)
    cut = Cut({name: as_array(value) for name, value in given.by_rows.items()}, given.split, rows)
    next(iter(cut))
    return cut


def as_array(value: Any) -> Any:
    """Return a sparse matrix unchanged, any other value as an array."""
    return value if hasattr(value, "tocsr") else np.asarray(value)


def rows(
    f: Any,
    wrt: Any,
    data: Mapping[str, Any],
    over: str = "m",
    start: Mapping[str, ArrayLike] | None = None,
    block: int = ROWS,
    *,
    threads: int = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    declarations: str = "",
    dialect: str = "matrix",
) -> OnOneMachine:
    """Return the scalar `f`, a sum over the rows that `over` counts, as functions of one vector, `block` rows each.

    `data` has arrays (also `np.memmap`) or, for those with rows, paths of `.npy` files. `start` determines the
    variables' shapes and `x0`. Evaluations are stored in the file `checkpoint`: a killed fit resumes from it and ends
    with the same digits.

    Shapes: vectors are (n,), with n the number of entries of all variables, row-major in the order of `wrt`.
    Raises: NotSupported if f does not separate over its rows, naming the part that needs all rows at once; UnknownName
        or ValueError for missing data or a checkpoint of another fit; OSError.
    """
    given = read_row_inputs(f, wrt, data, over, start, declarations, dialect)
    return OnOneMachine(given, blocks_of(given, block), counted("threads", threads), checkpoint)
