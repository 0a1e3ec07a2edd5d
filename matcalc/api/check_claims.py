"""Defines the claims of `check`, which are expected values of formulas, and the evaluators they are compared with.

Every claim is tested by plain evaluation of its formula. With `compiled`, the formulas of all claims are planned
together, as `mc.compile` does. The results of the interpreter, which checks all accesses, of the code for NumPy and of
the code for Numba are compared with the same references.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.compiler.call.sparse import arrays_of, to_csr
from matcalc.compiler.spec.spec import Operand
from matcalc.compiler.targets import ON_NUMPY
from matcalc.compiler.verify.faults import RunFault
from matcalc.compiler.verify.interpret import Interpreter
from matcalc.errors import NotSupported
from matcalc.evidence.numeric.differences import Slope, steady
from matcalc.evidence.numeric.sampling import Array
from matcalc.expressions.expression import Expression
from matcalc.pictures.plots import Curves
from matcalc.pipeline.build import build, planned
from matcalc.pipeline.requests import request_of
from matcalc.tensor.nodes.node import toposort

EXACT, NUMERIC = 1e-9, 1e-5
"""Allowed relative errors: against complex steps and plain values; the maximum against differences."""
FEW_ROUNDINGS = 1e-15
UNSTEADY = "the slope changes with the step of the difference: the value is too steep or chaotic here"


@dataclass(frozen=True, slots=True)
class Row:
    """One derivative at one set of sizes; `is_open` if numbers cannot decide whether it is right."""

    what: str
    sizes: str
    reference: str
    error: float
    bound: float
    worst: str
    is_open: bool = False

    @property
    def is_right(self) -> bool:
        return self.error <= self.bound and not self.is_open

    @property
    def is_wrong(self) -> bool:
        return not self.is_right and not self.is_open

    @property
    def verdict(self) -> str:
        return "not checked" if self.is_open else "right" if self.is_right else "WRONG"


@dataclass(frozen=True, slots=True)
class Claim:
    """The claim that `formula` at `data` has the value `reference`; with `along`, the sum of their product.

    worst: the method of the reference and its error. scale: the magnitude below which errors count as 0. quotient: the
    central difference at a step, with the reference's shape.
    """

    what: str
    formula: Expression
    data: Mapping[str, Array]
    sizes: Mapping[str, int]
    reference: Array
    worst: Slope
    scale: float
    along: Array | None = None
    quotient: Callable[[float], Array] | None = None

    @property
    def shown(self) -> str:
        return ", ".join(f"{name}={length}" for name, length in self.sizes.items()) or "as declared"

    def evaluated(self) -> Array:
        """Return the value of the formula by plain evaluation."""
        return np.asarray(evaluate([self.formula.node], self.data, self.sizes)[0])

    def row(self, found: Array, evaluator: str = "") -> Row:
        """Return the row that compares a value with the reference.

        If they differ, the reference is measured again, by difference quotients at smaller steps.
        """
        row = self._row(found, evaluator)
        if row.is_right or self.quotient is None or not np.isfinite(row.error):
            return row
        settled = steady(self.quotient, self.scale)
        if settled is None:
            return replace(row, is_open=True, worst=UNSTEADY)
        return replace(self, reference=settled.value, worst=settled)._row(found, evaluator)

    def _row(self, found: Array, evaluator: str) -> Row:
        what = f"{self.what}, {evaluator}" if evaluator else self.what
        found = found if self.along is None else np.asarray(np.sum(found * self.along))
        if found.shape != self.reference.shape:
            shapes = f"has the shape {found.shape}, not {self.reference.shape}"
            return Row(what, self.shown, self.worst.how, float("inf"), 0.0, shapes)
        scale = max(float(np.max(np.abs(self.reference), initial=0.0)), self.scale, 1e-300)
        with np.errstate(all="ignore"):
            off = np.abs(found - self.reference)
            errors = off / (max(scale, self._rounded()) if np.any(off > EXACT * scale) else scale)
        errors = np.where(np.isfinite(errors), errors, np.inf)
        error = float(np.max(errors, initial=0.0))
        bound = EXACT if self.worst.how in ("complex step", "value") else min(
            NUMERIC, max(EXACT, 100 * self.worst.error / scale))  # fmt: skip
        if not errors.size:
            return Row(what, self.shown, self.worst.how, 0.0, bound, "no entries")
        index = tuple(int(k) for k in np.unravel_index(int(np.argmax(errors)), errors.shape))
        shown = f"[{', '.join(map(str, index))}] " if index else ""
        note = f"{shown}{found[index]:.6g}, not {self.reference[index]:.6g}" if error > bound else shown.strip()
        return Row(what, self.shown, self.worst.how, error, bound, note)

    def _rounded(self) -> float:
        """Return the magnitude whose allowed error is a few roundings of the largest intermediate number.

        Where a function vanishes, as `sum((x/sum(x) - 1/n).^2)` at n = 1, its value is rounding error alone.
        """
        values = evaluate(toposort(self.formula.node), self.data, self.sizes)
        largest = max(float(np.max(np.abs(value), initial=0.0, where=np.isfinite(value))) for value in values)
        return FEW_ROUNDINGS * largest / EXACT

    def fault(self, evaluator: str, error: Exception) -> Row:
        """Return the row of an evaluator that raised an error."""
        note = f"{type(error).__name__}: {error}"
        return Row(f"{self.what}, {evaluator}", self.shown, self.worst.how, float("inf"), 0.0, note)


Runner = Callable[[Mapping[str, Array | int]], Sequence[Array]]


def compiled_rows(claims: Sequence[Claim]) -> Iterator[Row | str]:
    """Yield the rows of compiled code for claims that share their symbols: the worst of each claim over the sizes.

    A target that does not support the formulas yields its message as text. After a fault of the interpreter no code is
    run, since it might write outside its arrays.
    """
    formulas = list(dict.fromkeys(c.formula for c in claims))
    points: dict[tuple[object, ...], list[Claim]] = {}
    for claim in claims:
        points.setdefault(tuple(claim.sizes.items()), []).append(claim)
    for evaluator, make in EVALUATORS.items():
        try:
            run = make(formulas)
        except NotSupported as error:
            yield f"{evaluator}: {error.message}"
            continue
        rows = [row for here in points.values() for row in _rows(here, formulas, evaluator, run)]
        worst = {
            row.what: row for row in sorted(rows, key=lambda row: (row.is_wrong, row.error / max(row.bound, 1e-300)))
        }
        yield from (worst[what] for what in dict.fromkeys(row.what for row in rows))
        if any(row.worst.startswith(RunFault.__name__) for row in worst.values()):
            return


def _rows(here: Sequence[Claim], formulas: Sequence[Expression], evaluator: str, run: Runner) -> list[Row]:
    """Return the rows of the claims at one set of sizes."""
    data: dict[str, Array | int] = {**{name: a for claim in here for name, a in claim.data.items()}, **here[0].sizes}
    try:
        found = run(data)
    except Exception as error:  # noqa: BLE001 - any exception is a fault of the compiled code
        return [claim.fault(evaluator, error) for claim in here]
    return [claim.row(found[formulas.index(claim.formula)], evaluator) for claim in here]


def _labels(formulas: Sequence[Expression]) -> list[str]:
    return [f"value{k}" for k in range(len(formulas))]


def _interpreted(formulas: Sequence[Expression]) -> Runner:
    made = planned(request_of(formulas, _labels(formulas)))
    program, machine = made.program, Interpreter(made.program)

    def run(data: Mapping[str, Array | int]) -> Sequence[Array]:
        for symbol, own in made.sparse.stored.items():
            operand = Operand(symbol.name, symbol.shape)
            arrays = arrays_of(operand, to_csr(operand, data[symbol.name]))
            data = {**data, **{node.name: array for node, array in zip(own.arrays, arrays, strict=True)}}
        found = machine.run(data, {name: int(data[name]) for name in program.size_args})
        return [found[name] for name in program.outputs]

    return run


def _compiled(target: str) -> Callable[[Sequence[Expression]], Runner]:
    def make(formulas: Sequence[Expression]) -> Runner:
        nesting = tuple(range(len(formulas)))
        function = build(request_of(formulas, _labels(formulas), nesting, target))
        return lambda data: [np.asarray(a) for a in function(*(data[name] for name in function.args))]

    return make


EVALUATORS: Mapping[str, Callable[[Sequence[Expression]], Runner]] = {
    "interpreted": _interpreted,
    **{target: _compiled(target) for target in ON_NUMPY},
}


# ---- errors of differences against their step

STEPS = tuple(10.0 ** (-k / 2) for k in range(0, 29))
LEAST = 1e-17
"""Smaller errors are drawn at this height."""


def error_curves(claims: Sequence[Claim]) -> Curves:
    """Return a curve for each derivative, at the first sizes that have data."""
    first: dict[str, Claim] = {}
    for claim in claims:
        if claim.quotient is not None and claim.reference.size:
            first.setdefault(claim.what, claim)
    drawn = {what: curve for what, claim in first.items() if (curve := _curve(claim))[0]}
    return Curves(drawn, "step of the difference", "relative error", (True, True))


def _curve(claim: Claim) -> tuple[list[float], list[float]]:
    """Return the steps that have differences, and their largest errors relative to the derivative."""
    assert claim.quotient is not None
    steps, errors = [], []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = claim.evaluated()
        found = np.asarray(value if claim.along is None else np.sum(value * claim.along))
        scale = max(float(np.max(np.abs(claim.reference), initial=0.0)), claim.scale, 1e-300)
        for h in STEPS:
            try:
                quotient = claim.quotient(h)
            except (np.linalg.LinAlgError, ValueError):
                continue
            if quotient.shape != found.shape:
                return [], []
            error = float(np.max(np.abs(quotient - found), initial=0.0)) / scale
            if np.isfinite(error):
                steps.append(h)
                errors.append(max(error, LEAST))
    return steps, errors
