"""Implements `mc.minimize(..., compiled=True)`: the whole solver as one compiled loop, for one or many fits.

There are three methods, with the steps, options and defaults of SciPy's (L-BFGS-B without bounds, trust-ncg, lm). The
loop never calls Python. The status of a fit reports its failure; other fits continue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, prod
from typing import Any

import numpy as np

import matcalc as mc
from matcalc.calculus.evaluate.check_data import check_declared
from matcalc.compiler.call.convert import to_array
from matcalc.compiler.spec.index_errors import check_indices
from matcalc.compiler.spec.spec import Operand
from matcalc.errors import NotSupported, ShapeError, UnknownName
from matcalc.language.identifiers import free, nearest, shown
from matcalc.language.kinds import INDEX
from matcalc.solvers.compiled_loops import Callee, addresses, run
from matcalc.solvers.derivatives import Values
from matcalc.solvers.loop_endings import FAULT, MESSAGES, PRODUCT, SUCCESSES
from matcalc.solvers.packing import Matrix, Table, Vector
from matcalc.solvers.problem import Problem
from matcalc.solvers.squares import residuals
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size

COUNTS = {"maxcor", "maxiter", "maxfun", "maxls", "max_nfev"}
"""Options that are counts, at least 1; the others are numbers, at least 0."""


@dataclass(frozen=True)
class Method:
    """A loop: its file, its options in order, the options that `tol` sets, the names of its counts.

    The default None of an option means the number of variables times `each`.
    """

    loop: str
    options: Mapping[str, float | None]
    tolerances: tuple[str, ...]
    counts: tuple[str, ...]
    each: int = 1


METHODS = {
    "lbfgs": Method(
        "loop_lbfgs",
        {"maxcor": 10, "ftol": 1e7 * 2.0**-52, "gtol": 1e-5, "maxiter": 15000, "maxfun": 15000, "maxls": 20},
        ("ftol", "gtol"),
        ("nit", "nfev"),
    ),
    "newton-cg": Method(
        "loop_newton",
        {"gtol": 1e-4, "maxiter": None, "initial_trust_radius": 1.0, "max_trust_radius": 1000.0, "eta": 0.15},
        ("gtol",),
        ("nit", "nfev", "nhev"),
        200,
    ),
    "lm": Method(
        "loop_squares",
        {"ftol": 1e-8, "xtol": 1e-8, "gtol": 1e-8, "max_nfev": None},
        ("ftol", "xtol", "gtol"),
        ("nit", "nfev", "njev"),
        100,
    ),
}


def compiled_method(method: str | None) -> str:
    """Return the name of a compiled method, by default lbfgs.

    Raises: ValueError for another name.
    """
    name = "lbfgs" if method is None else str(method).lower()
    if name not in METHODS:
        raise ValueError(f"the methods with compiled=True are {', '.join(METHODS)}, not {shown(method)}")
    return name


def first_fit(
    start: Mapping[str, Any], data: Mapping[str, Any], over: Sequence[str], symbols: Mapping[str, Node]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return start and data of the first fit, and the values of all fits for the names in `over`.

    Raises: UnknownName for a name without a value; ShapeError for a value without an axis of fits.
    """
    given = {**data, **start}
    one: dict[str, Any] = {}
    for name in over:
        if name not in given:
            raise UnknownName(f"over: no value is given for {name}{nearest(name, list(given))}")
        array, expected_rank = np.asarray(given[name]), len(symbols[name].shape) + 1 if name in symbols else 1
        if array.ndim < expected_rank:
            raise ShapeError(f"over: {name} has an axis of fits, so {expected_rank} axes in all, not {array.ndim}")
        one[name] = array[0] if len(array) else np.ones(array.shape[1:])
    first, rest = ({name: one.get(name, value) for name, value in values.items()} for values in (start, data))
    return first, rest, {name: given[name] for name in over}


def minimised(
    made: Problem, method: str, many: Mapping[str, Any], options: Mapping[str, Any], threads: int, check_facts: bool
) -> dict[str, Any]:
    """Return the fields of a result: for one fit as SciPy's, with a vector `x`; for many by name with a leading axis.

    Raises: ValueError, TypeError, ShapeError, NotSupported or UnknownName for invalid input.
    """
    record = METHODS[method]
    given = made.given
    for present, what, instead in ((made.constraints, "constraints", "SLSQP"), (made.bounds, "bounds", "L-BFGS-B")):
        if present:
            raise ValueError(f"{method} with compiled=True does not support {what}: use {instead} without it")
    if given.target != "numba":
        raise NotSupported(f"compiled=True runs on the target numba, not {given.target}")
    if many and made.is_parametrised:
        raise NotSupported("parametrise=True and over= exclude each other: write the change of variables in f")
    if type(threads) is not int or threads < 1:
        raise ValueError(f"threads must be an integer of at least 1, not {shown(threads)}")
    shapes = given.packing.shapes
    settings = _settings(method, record, options, sum(map(prod, shapes.values())))
    arrays, count = _batches(made, many)
    if check_facts:
        symbols = given.scope.symbols
        check_declared((f"{n}[{k}]", symbols[n].data[1], row) for n, a in arrays.items() for k, row in enumerate(a))
    starts = _starts(made, arrays, count)
    return _Fits(made, method, arrays, starts).solved(settings, threads, bool(many))


@dataclass(frozen=True)
class _Fits:
    """The fits of one call: `arrays` differ between fits; `starts` has a row for each fit."""

    made: Problem
    method: str
    arrays: Mapping[str, Vector]
    starts: Matrix

    def solved(self, settings: Sequence[float], threads: int, is_many: bool) -> dict[str, Any]:
        shapes, record = self.made.given.packing.shapes, METHODS[self.method]
        vectors = self._vectors() if self.method == "newton-cg" else {}
        callees = self._callees(vectors)
        blocks = self._blocks(callees[0]) if self.method == "lm" else ()

        def arguments(first: int, x: Vector) -> list[Any]:
            places = addresses(x, shapes)
            *entry, results = callees[0].entered(first, places)
            known = [*entry, x, results, *blocks]
            if vectors:
                v = np.empty_like(x)
                *entry, product = callees[1].entered(first, places | addresses(v, vectors))
                known += [*entry, v, product]
            return known

        X, F, G, counts = run(record.loop, arguments, self.starts, settings, threads)
        status = counts[:, 0]
        for fault in np.unique(status[status > FAULT]).tolist():
            self._check_places(callees, fault)
        told = {one: self._message(callees, one) for one in sorted(set(status.tolist()))}
        fields: dict[str, Any] = {
            "x": _by_name(X, shapes), "jac": _by_name(G, shapes), "fun": F, "success": status <= SUCCESSES,
            "status": status.copy(), **{name: counts[:, k].copy() for k, name in enumerate(record.counts, 1)},
        }  # fmt: skip
        if is_many:
            lines = [f"{np.sum(status == one)} of {len(status)}: {text}" for one, text in told.items()]
            return fields | {"message": "; ".join(lines)}
        pack = self.made.given.packing.pack
        vector = {name: pack({n: rows[0] for n, rows in fields.pop(name).items()}) for name in ("x", "jac")}
        single = {name: rows[0].item() for name, rows in fields.items()}
        return single | vector | {"message": told[single["status"]]}

    def _vectors(self) -> dict[str, tuple[int, ...]]:
        """Return names and shapes of the vectors that the Hessian is multiplied by."""
        taken = set(self.made.given.scope.scope)
        return {free(f"v_{name}", taken): shape for name, shape in self.made.given.packing.shapes.items()}

    def _callees(self, vectors: Mapping[str, tuple[int, ...]]) -> list[Callee]:
        """Return the compiled functions that the loop calls.

        Raises: NotSupported for lm and an objective that is no sum of squares.
        """
        given, objective = self.made.given, self.made.objective.expression
        if self.method == "lm":
            parts = self._parts()
            compiled = mc.compile([[r.expression for _, r in parts], [list(r.jacobians) for _, r in parts]])
        else:
            compiled = mc.value_and_gradient(objective, given.names)
        shapes = given.packing.shapes
        made = [(compiled, shapes)]
        if vectors:
            product = mc.compile(list(mc.hvp(objective, given.names, vector=list(vectors))))
            made.append((product, {**shapes, **vectors}))
        batches = {name: array for name, array in self.arrays.items() if name not in shapes}
        return [Callee.of(function, given.fixed, batches, variables) for function, variables in made]

    def _parts(self) -> list[tuple[float, Values]]:
        found = residuals(self.made.given)
        if found is None:
            raise NotSupported("lm works on residuals, and the objective is not recognised as a sum of squares")
        return found.parts

    def _blocks(self, callee: Callee) -> tuple[Table, Vector]:
        """Return the layout of the Jacobian's blocks in the results, and the roots of the residuals' weights.

        Raises: ShapeError for more variables than residuals.
        """
        shapes, weights = self.made.given.packing.shapes, [root for root, _ in self._parts()]
        heights = [prod(shape) for shape in callee.shapes[: len(weights)]]
        first, row, blocks = sum(heights), 0, []
        for height in heights:
            column = 0
            for width in map(prod, shapes.values()):
                blocks.append((first, row, height, column, width))
                first, column = first + height * width, column + width
            row += height
        if row < self.starts.shape[1]:
            raise ShapeError(f"lm needs as many residuals as variables: {row} for {self.starts.shape[1]}")
        return np.array(blocks, np.int64), np.repeat(np.array(weights, np.float64), heights)

    def _check_places(self, callees: Sequence[Callee], status: int) -> None:
        """Raise ShapeError if the status is that of an out-of-range index in the data."""
        callee = callees[status > PRODUCT]
        spec = callee.compiled.spec
        if status % PRODUCT - FAULT <= spec.numeric_faults:
            return
        shapes = self.made.given.packing.shapes
        inputs = [callee.fixed.get(o.name, np.zeros(shapes.get(o.name, ()))) for o in spec.arguments]
        inputs = [array[0] if o.name in callee.batched or not o.shape and array.ndim else array
                  for o, array in zip(spec.arguments, inputs, strict=True)]  # fmt: skip
        check_indices(spec, [*inputs, *(self.made.given.fixed[name] for name in spec.sizes)])

    def _message(self, callees: Sequence[Callee], status: int) -> str:
        if status in MESSAGES:
            return MESSAGES[status]
        faults = callees[status > PRODUCT].compiled.spec.faults
        where = "the product with the Hessian" if status > PRODUCT else "the start"
        return f"linear algebra fails at {where}: {faults[status % PRODUCT - FAULT - 1]}"


def _settings(method: str, record: Method, options: Mapping[str, Any], variables: int) -> list[float]:
    """Return the options of a loop in order."""
    given = dict(options)
    nested = given.pop("options", None) or {}
    tol = given.pop("tol", None)
    for name in ("callback", "progress"):
        if given.pop(name, None):
            raise ValueError(f"{name}= needs a loop in Python: omit it, or compiled=True")
    told = (dict.fromkeys(record.tolerances, tol) if tol is not None else {}) | given | dict(nested)
    for name in told:
        if name not in record.options:
            known = ", ".join(record.options)
            raise ValueError(
                f"{method} has no option {shown(name)}{nearest(str(name), list(record.options))}; it has {known}"
            )
    found = []
    for name, default in record.options.items():
        value = told.get(name)
        found.append(
            _setting(name, value) if value is not None else record.each * variables if default is None else default
        )
    radii = dict(zip(record.options, found, strict=True))
    if "eta" in radii and not radii["eta"] < 0.25:
        raise ValueError(f"eta is less than 1/4, not {radii['eta']}")
    if "eta" in radii and not 0 < radii["initial_trust_radius"] < radii["max_trust_radius"]:
        raise ValueError("initial_trust_radius is positive and less than max_trust_radius")
    return found


def _setting(name: str, value: Any) -> float:
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if name in COUNTS and not (is_number and value == value // 1 and 1 <= value < inf):
        raise ValueError(f"{name} is a whole number of at least 1, not {shown(value)}")
    if not (is_number and 0 <= value < inf):
        raise ValueError(f"{name} is a number of at least 0, not {shown(value)}")
    return float(value)


def _batches(made: Problem, many: Mapping[str, Any]) -> tuple[dict[str, Vector], int]:
    """Return the arrays that differ between fits, and the number of fits."""
    scope, packing, fixed = made.given.scope, made.given.packing, made.given.fixed
    found: dict[str, Vector] = {}
    for name, value in many.items():
        node = scope.symbols[name]
        if INDEX in node.data[1]:
            raise NotSupported(f"{name} holds indices, and an index argument cannot have a batch axis")
        array = to_array(Operand(name, (Size.of(free("fits", set(scope.scope))), *node.shape)), value)
        shape = packing.shapes[name] if name in packing.shapes else tuple(s.evaluate(fixed) for s in node.shape)
        if array.shape[1:] != shape:
            raise ShapeError(f"over: each fit has a {name} of shape {shape}, not {array.shape[1:]}")
        found[name] = np.ascontiguousarray(array, np.float64)
    lengths = {name: len(array) for name, array in found.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{length} of {name}" for name, length in lengths.items())
        raise ShapeError(f"over: all names need the same number of values, not {told}")
    return found, next(iter(lengths.values()), 1)


def _starts(made: Problem, arrays: Mapping[str, Vector], count: int) -> Matrix:
    """Return the starts, a row for each fit, with all entries of the variables, packed or not."""
    assert made.x0 is not None
    one = made.given.packing.unpack(made.x0)
    parts = []
    for name, value in one.items():
        rows = arrays.get(name, np.broadcast_to(value, (count, *value.shape)))
        if not np.all(np.isfinite(rows)):
            raise ValueError(f"the start of {name} is not finite")
        parts.append(np.reshape(rows, (count, value.size)))
    return np.concatenate(parts, axis=1)


def _by_name(rows: Matrix, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Vector]:
    """Return rows as variables by name, each with a leading axis."""
    found, at = {}, 0
    for name, shape in shapes.items():
        found[name] = rows[:, at : at + prod(shape)].reshape(len(rows), *shape)
        at += prod(shape)
    return found
