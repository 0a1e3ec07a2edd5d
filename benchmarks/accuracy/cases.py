"""Cases: inputs of a rule with directions, and the truth of value, JVP, VJP and second derivative there.

The truth is the rule's own value at many digits (`matcalc.evidence.precise`) and differences of it. It is stored as two
float64 for each number, with an error of 1e-30, so that another environment can read it from a file. `condition` is the
relative change of the truth divided by that of the data: no relative error can be smaller than rounding times it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from benchmarks.accuracy.case import Answer, Case
from benchmarks.accuracy.derivatives import orders
from benchmarks.accuracy.inputs import inputs
from benchmarks.accuracy.store import Store
from matcalc.errors import MatcalcError
from matcalc.evidence.numeric.sampling import projected
from matcalc.evidence.precise import digits, doubles, numbers
from matcalc.evidence.precise.arithmetic import Array, Precise, mp, objects
from matcalc.rulebook.load import Rulebook
from matcalc.rulebook.rule import Rule
from matcalc.rulelab.rule_point import Point

SHAKEN = 1e-30
ENTRYWISE = 220
"""Digits for elementwise functions, whose arguments span many orders of magnitude."""

LARGEST, LEAST = 1e290, 1e-290
NOISE = 1e-28
"""The fraction of its natural size below which a derivative by differences is noise and counts as 0."""


def cases(book: Rulebook, rule: Rule, store: Store | None = None) -> Iterator[Case]:
    """Yield the cases of a rule whose truth is finite, for each output and argument."""
    known = store or Store()
    for regime, at in inputs(book, rule):
        value = defined(at)
        if value is None:
            continue
        for output in rule.outputs:
            for name in at.symbols or ("",):
                made = _case(at, regime, output, name, known)
                if made is not None:
                    yield made


def defined(at: Point) -> dict[str, Array] | None:
    """Return the value at many digits if it is finite."""
    try:
        with digits(60):
            value = at.precise()
            finite = all(mp.isfinite(v) for a in value.values() for v in np.asarray(a).flat)
    except (MatcalcError, ArithmeticError, ValueError, TypeError, np.linalg.LinAlgError):
        return None
    return value if finite or at.rule.kind == "map" else None


def _case(at: Point, regime: str, output: str, name: str, store: Store) -> Case | None:
    rng = np.random.default_rng([3, at.seed, *at.rule.name.encode(), *name.encode()])
    shape = np.shape(doubles(at.precise()[output]))
    dX, V = (at.direction(rng, name) if name else np.zeros(()) for _ in range(2))
    entrywise = at.rule.kind == "map" or all(p.kind == "entry" for p in at.rule.parameters)
    case = Case(
        at.rule.name,
        output,
        name,
        regime,
        entrywise,
        dict(at.data),
        dict(at.facts),
        {k: v for k, v in at.plain.items()},
        np.asarray(rng.standard_normal(shape)),
        dX,
        V,
        {},
        at,
    )
    found = store.truth(case, lambda: _truth(case))
    if found is None:
        return None
    case.truth = found
    sizes = [float(np.max(np.abs(high), initial=0.0)) for high, _ in case.truth.values()]
    usable = all(np.isfinite(s) and s < LARGEST for s in sizes) or entrywise
    return case if usable else None


def _truth(case: Case) -> dict[str, tuple[Array, Array]] | None:
    try:
        found = truths(case, {n: numbers(np.asarray(a)) for n, a in case.data.items()})
    except (ArithmeticError, ValueError, np.linalg.LinAlgError):
        return None
    return {kind: split(a) for kind, a in found.items()}


def basis(case: Case) -> list[Array]:
    """Return orthogonal directions with exact entries that span the tangents of the argument."""
    array = case.data[case.wrt]
    found: dict[bytes, Array] = {}
    for k in range(array.size):
        unit = np.zeros(array.size)
        unit[k] = 1.0
        direction = projected(unit.reshape(array.shape), case.facts[case.wrt])
        size = np.max(np.abs(direction), initial=0.0)
        if size > 0:
            direction = direction / size * (1.0 if direction.flat[np.argmax(np.abs(direction))] > 0 else -1.0)
            found.setdefault((direction + 0.0).tobytes(), direction)
    return list(found.values())


def truths(case: Case, data: dict[str, Array]) -> dict[str, Array]:
    """Return value, JVP, VJP and second derivative at data of many digits, as object arrays."""
    at = case.point
    assert at is not None

    def value(changed: Mapping[str, Array]) -> Precise:
        return at.precise(changed)[case.output]

    if not case.wrt:
        return {"value": np.asarray(value({}), dtype=object)}
    if case.entrywise:
        x = np.abs(case.data[case.wrt])  # a step for each entry, in proportion to it
        step = np.where(x > 0, x, 1.0) / (np.max(x, initial=0.0) or 1.0)
        y, (d1,), (d2,) = orders(value, data, case.wrt, [step], step, ENTRYWISE)
        d1, d2 = d1 / objects(step), d2 / objects(step) / objects(step)
        return {"value": y, "jvp": d1 * case.dX, "vjp": d1 * case.G, "second": d2 * case.G * case.V}
    directions = basis(case)
    y, first, twice = orders(value, data, case.wrt, directions, case.V)
    with digits(100):
        lengths = [np.sum(b * b) for b in directions]
        parts = [np.sum(case.dX * b) / length for b, length in zip(directions, lengths, strict=True)]
        jvp = sum((objects(c) * row for c, row in zip(parts, first, strict=True)), start=0 * y)
        vjp, second = (_adjoint(case, rows, directions, lengths) for rows in (first, twice))
    return {"value": y, "jvp": np.asarray(jvp, dtype=object), "vjp": vjp, "second": second}


def _adjoint(case: Case, rows: Array, directions: list[Array], lengths: list[float]) -> Array:
    total = objects(np.zeros(np.shape(case.data[case.wrt])))
    G = objects(case.G)
    for row, direction, length in zip(rows, directions, lengths, strict=True):
        total = total + np.sum(G * row) / mp.mpf(float(length)) * objects(direction)
    return np.asarray(total, dtype=object)


def split(exact: Precise) -> tuple[Array, Array]:
    """Return numbers with many digits as two float64 each."""
    with digits(60):
        exact = objects(exact)
        high = doubles(exact)
        with np.errstate(all="ignore"):
            low = doubles(exact - objects(np.where(np.isfinite(high), high, 0.0)))
        return high, np.where(np.isfinite(high), low, 0.0)


def conditions(case: Case) -> dict[str, Array]:
    """Return, for each kind, the truth's relative change divided by that of the data, of each entry or the norm."""
    rng = np.random.default_rng(5)
    here = truths(case, {n: numbers(a) for n, a in case.data.items()})
    found: dict[str, Array] = {kind: np.asarray(0.0) for kind in here}
    for turn in range(3):  # first move all entries up: opposite moves may cancel in the value
        moved = {}
        for name, array in case.data.items():
            assert case.point is not None
            if case.entrywise:
                step = array * rng.choice([-1.0, 1.0] if turn else [1.0], np.shape(array))
            else:
                step = case.point.direction(rng, name)
                step = step * (size(array) / (size(step) or 1.0))
            moved[name] = numbers(objects(array) + mp.mpf(SHAKEN) * objects(step))
        there = truths(case, moved)
        for kind, exact in here.items():
            with np.errstate(all="ignore"):
                change, value = doubles((there[kind] - exact) / mp.mpf(SHAKEN)), doubles(exact)
                far = np.abs(change / value) if case.entrywise else np.asarray(size(change) / (size(value) or 1.0))
            found[kind] = np.maximum(found[kind], far)
    return found


def size(a: Array) -> float:
    """Return the Euclidean norm without overflow."""
    array = np.abs(np.asarray(a, dtype=float))
    top = float(np.max(array, initial=0.0))
    return top * float(np.sqrt(np.sum((array / top) ** 2))) if top > 0 and np.isfinite(top) else top


def errors(case: Case, kind: str, found: Answer) -> Array:
    """Return the relative error of an answer, of each entry or the norm; infinite if the answer is not finite."""
    high, low = case.truth[kind]
    answer = np.asarray(found, dtype=float)
    if answer.shape != high.shape:
        return np.asarray(np.inf)
    with np.errstate(all="ignore"):
        away = np.abs((answer - high) - low)
        if case.entrywise:
            usable = np.isfinite(high) & (np.abs(high) < LARGEST) & ((np.abs(high) > LEAST) | (high == 0))
            usable &= all_moderate(case, usable)
            relative = np.where(away == 0, 0.0, away / np.maximum(np.abs(high), 1e-310))
            least = NOISE * natural_entries(case, kind)
            relative = np.where((np.abs(high) < least) & (np.abs(answer) < least), 0.0, relative)
            relative = np.where(np.isfinite(relative), relative, np.inf)
            return np.where(usable, relative, 0.0)
        length = size(high)
        floor = natural(case, kind)
        if kind != "value" and length < NOISE * floor:  # the truth is 0
            length, away = max(floor, 1e-310), answer
        error = 0.0 if size(away) == 0 else size(away) / max(length, 1e-310)
    return np.asarray(error if np.isfinite(error) else np.inf)


def all_moderate(case: Case, usable: Array) -> Array:
    """Where the truths of all orders are in the range of float64; elsewhere an answer may overflow before them."""
    for high, _ in case.truth.values():
        if high.shape == usable.shape:
            usable = usable & np.isfinite(high) & (np.abs(high) < LARGEST)
    return usable


def natural_entries(case: Case, kind: str) -> Array:
    """Return `natural` of each entry."""
    if not case.wrt:
        return np.abs(case.truth["value"][0])
    y, x = np.abs(case.truth["value"][0]), np.abs(case.data[case.wrt])
    with np.errstate(all="ignore"):
        slope = np.where(x > 0, y / x, y)
        curve = np.where(x > 0, slope / x, y)
        parts = {"value": y, "jvp": slope * np.abs(case.dX), "vjp": slope * np.abs(case.G)}
        return np.nan_to_num(parts.get(kind, curve * np.abs(case.G * case.V)), posinf=0.0)


def natural(case: Case, kind: str) -> float:
    """Return the size that a vanishing derivative is compared with: |Y|, divided by |X| for each differentiation."""
    y, x = size(case.truth["value"][0]), (size(case.data[case.wrt]) if case.wrt else 0.0) or 1.0
    parts = {"value": y, "jvp": y / x * size(case.dX), "vjp": y / x * size(case.G)}
    return parts.get(kind, y / x / x * size(case.G) * size(case.V)) or 1.0
