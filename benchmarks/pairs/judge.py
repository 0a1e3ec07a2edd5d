"""Judges one expression on every path: plain, simplified, printed and read, the NumPy target, Numba; value and slope.

The states are `right`, `refused` (one of matcalc's errors, with the reason), `undefined` (no finite value or no
derivative, by the evaluator), `declined` (every path returns NaN where the composition has a derivative but an
operation in it has none), `unjudged` (ill-conditioned at every draw) and `wrong`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

import matcalc as mc
from benchmarks.pairs.truth import Array, Data, Slope, along, disturbed, evaluated, has, quiet, shaken, value
from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.rulebook.load import default_rulebook
from matcalc.testing.strategies import drawn
from matcalc.testing.trees import Written
from oracle.differences import projected
from oracle.values import Mismatch

LENGTHS = ((4, 3, 5, 6), (3, 5, 4, 4))
"""Lengths of the sizes in order, one choice for each expression: different or partly equal; size - 1 is never 1."""
SMALL = ((1, 1, 1, 1), (2, 1, 3, 2), (0, 2, 0, 3), (1, 3, 1, 2))
"""Lengths, one choice for each expression, at which only compiled and plain evaluation are compared."""
DRAWS = 4
CLOSE = 1e-8
HUGE = 1e10
"""Values beyond this, from data of size 1, are quotients by rounding errors."""
COTANGENT = "G_"
ALONE = ("simplified", "written")
"""Paths that return a value without derivatives."""
LINEAR = frozenset({"symmetric", "spd", "psd", "diagonal", "lower", "upper", "skew"})
UNDEFINED = (np.linalg.LinAlgError, FloatingPointError)

T = TypeVar("T")
Way = Callable[[Data], list[Array]]
"""A path: returns the value and derivatives at data."""
Results = list[Array] | None


class Outcome(NamedTuple):
    """The state of an expression, its detail, and the kernels that its program calls."""

    state: str
    detail: str = ""
    kernels: tuple[str, ...] = ()


class WrongError(Exception):
    """Raised if a path disagrees; the text names the path and the result."""


def judged(written: Written, seed: int = 0, targets: Sequence[str] = ("numpy",)) -> Outcome:
    """Return the verdict on an expression at random data; the seed also chooses the sizes."""
    with quiet():
        try:
            return _judged(written, seed, targets)
        except WrongError as fault:
            return Outcome("wrong", str(fault))
        except mc.MatcalcError as error:
            return Outcome("refused", f"{type(error).__name__}: {str(error).splitlines()[0]}")
        except RecursionError as error:
            return Outcome("wrong", f"crash: {error!r}")
        except UNDEFINED as error:
            return Outcome("undefined", f"{type(error).__name__}: {error}")
        except Exception as error:  # an error of the evaluator, not of matcalc: no verdict
            return Outcome("unjudged", f"crash of the evaluator: {type(error).__name__}: {error}")


def _judged(written: Written, seed: int, targets: Sequence[str]) -> Outcome:
    names = [leaf.name for leaf in written.leaves]
    expression = _guarded("construct", mc.expression, written.text, written.declarations)
    shape = tuple(str(size) for size in written.shape)
    if tuple(map(str, expression.shape)) != shape:
        raise WrongError(f"shape {expression.shape}, not {shape}")
    gradients = _guarded("derive", expression.vjp, names, cotangent=COTANGENT) if names else ()
    misread = [fault for made in (expression, *gradients) if (fault := _guarded("print", _misread, made))]
    simple = _guarded("simplify", expression.simplify)
    functions = {
        target: _guarded(target, mc.compile, [expression, *gradients], target=target, name="pair") for target in targets
    }
    paths: dict[str, Way] = {"plain": _plain(expression, *gradients), "simplified": _plain(simple)}
    paths["written"] = lambda data: [np.asarray(expression(**{name: data[name] for name in expression.symbols}))]
    paths |= {target: _compiled(function) for target, function in functions.items()}
    state = _at(written, LENGTHS[seed % len(LENGTHS)], seed, paths)
    _together(written, SMALL[seed // len(LENGTHS) % len(SMALL)], seed, paths)
    if misread:
        raise WrongError(misread[0])
    called = {name for function in functions.values() for name in re.findall(r" = (\w+)\(", function.plan)}
    return Outcome(state.partition(":")[0], state.partition(": ")[2], tuple(sorted(called)))


def _guarded(stage: str, run: Callable[..., T], *given: object, **named: object) -> T:
    """Run a stage; an error that is neither matcalc's own nor a LinAlgError is a crash of it."""
    try:
        return run(*given, **named)
    except (mc.MatcalcError, WrongError, *UNDEFINED):
        raise
    except Exception as error:
        raise WrongError(f"crash, {stage}: {type(error).__name__}: {error}") from error


def _misread(made: mc.Expression) -> str:
    """Return the fault of a printed form that does not read as its node; nothing if it does."""
    text = str(made)
    try:
        again = mc.expression(text, made.declarations)
    except mc.MatcalcError as error:
        return f"print: {text} does not read: {str(error).splitlines()[0]}"
    return "" if again.node is made.node else f"print: {text} reads as {again}"


def _plain(*expressions: mc.Expression) -> Way:
    nodes = [e.node for e in expressions]

    def run(data: Data) -> list[Array]:
        sizes = {name: value for name, value in data.items() if isinstance(value, int)}
        return [np.asarray(result) for result in evaluate(nodes, data, sizes)]

    return run


def _compiled(function: mc.Compiled) -> Way:
    def run(data: Data) -> list[Array]:
        return [np.asarray(r) for r in function(**{name: data[name] for name in function.args})]

    return run


def _sizes(written: Written, lengths: Sequence[int]) -> dict[str, int]:
    return {name: lengths[k % len(lengths)] for k, name in enumerate(written.sizes)}


def _at(written: Written, lengths: Sequence[int], seed: int, paths: Mapping[str, Way]) -> str:
    """Compare the paths with the truth at random data of these sizes; redraw ill-conditioned points."""
    sizes = _sizes(written, lengths)
    shape = tuple(size.evaluate(sizes) for size in written.shape)
    state = "undefined: no data"
    for draw in range(DRAWS):
        data = drawn(written, sizes, 10 * seed + draw, default_rulebook())
        state = _at_point(written, data, sizes, shape, seed, paths)
        if state == "right":
            break
    return state


def _at_point(
    written: Written,
    data: dict[str, Array],
    sizes: dict[str, int],
    shape: tuple[int, ...],
    seed: int,
    paths: Mapping[str, Way],
) -> str:
    rng = np.random.default_rng([seed, 5])
    cotangent = np.asarray(rng.standard_normal(shape))
    try:
        true = value(written.text, data, sizes, shape)
    except UNDEFINED:
        true = np.full(shape, np.nan)
    except Mismatch as error:
        raise WrongError(f"shape: {error}") from error
    given = {**data, **sizes, COTANGENT: cotangent}
    is_finite = bool(np.all(np.isfinite(true)))
    found = {name: _run(name, path, given) for name, path in paths.items()}
    if not is_finite:
        return "undefined: value"
    if not all(has(evaluated(text, data, sizes), facts) for text, facts in written.assumed):
        return "undefined: outside the domain"
    bad = [name for name, results in found.items() if results is None or not _close(results[0], true)]
    if "plain" in bad and all(found[name] is None for name in bad) and not set(bad) & set(ALONE):
        return "declined: an error in its derivatives alone"
    if bad:
        moved = _sensitivity(written, data, sizes, shape, true)
        worst = [name for name in bad if found[name] is None or not _close(found[name][0], true, CLOSE + 1e3 * moved)]
        if worst and moved < 1e-6:
            shown = "an error" if found[worst[0]] is None else _short(found[worst[0]][0])
            raise WrongError(f"value, {', '.join(worst)}: {shown}, not {_short(true)}")
        return "unjudged: value"
    if not written.leaves:
        return "right"
    directions = _directions(written, data, rng)
    slope = along(written.text, data, sizes, directions, cotangent)
    faults = _slopes(written, found, directions, slope)
    if faults and slope.way in ("step", "differences"):
        slope = along(written.text, data, sizes, directions, cotangent, by_step=False)
        faults = _slopes(written, found, directions, slope)
    if slope.way not in ("step", "differences"):
        return f"undefined: {slope.way}" if slope.way == "kink" else f"unjudged: {slope.way}"
    if slope.way == "differences" and slope.error > 1e-5 * abs(slope.value) + 1e-7:
        return "unjudged: differences"
    if faults and abs(slope.value) > HUGE:
        return "unjudged: slope"
    if faults and all(": nan," in fault for fault in faults):
        return f"declined: {faults[0]}"
    if faults:
        raise WrongError("; ".join(faults))
    _compare(found, written, given, paths, seed)
    return "right"


def _run(name: str, path: Way, given: Data) -> Results:
    """Return the results of a path; None if an error makes it undefined."""
    try:
        found: list[Array] = _guarded(f"{name} runs", path, given)
        return found
    except (*UNDEFINED, mc.MatcalcError):
        return None


def _directions(written: Written, data: Mapping[str, Array], rng: np.random.Generator) -> dict[str, Array]:
    found = {}
    for leaf in written.leaves:
        drawn_direction = np.asarray(rng.standard_normal(data[leaf.name].shape))
        facts = frozenset(leaf.facts) & LINEAR
        found[leaf.name] = projected(drawn_direction, facts) if facts else drawn_direction
    return found


def _slopes(written: Written, found: Mapping[str, Results], directions: Mapping[str, Array], slope: Slope) -> list[str]:
    """Return the faults of the derivatives of each path, by the slope along all directions at once."""
    faults = []
    for name, results in found.items():
        if name in ALONE or results is None:
            continue
        parts = [float(np.sum(g * directions[leaf.name])) for g, leaf in zip(results[1:], written.leaves, strict=True)]
        size = _size(results, directions)
        if not abs(sum(parts) - slope.value) <= CLOSE * (1 + size + abs(slope.value)) + 10 * slope.error:
            faults.append(f"slope, {name}: {sum(parts):.12g}, not {slope.value:.12g} by {slope.way}")
    return faults


def _size(results: Sequence[Array] | None, directions: Mapping[str, Array]) -> float:
    if results is None:
        return 0.0
    sizes = [float(np.sum(np.abs(g) * np.abs(d))) for g, d in zip(results[1:], directions.values(), strict=True)]
    return float(np.nan_to_num(sum(sizes), nan=0.0, posinf=0.0))


def _compare(found: Mapping[str, Results], written: Written, given: Data, paths: Mapping[str, Way], seed: int) -> None:
    """Compare compiled with plain derivatives, entry by entry, relative to the sensitivity to the data."""
    plain = found["plain"]
    moved: list[float] = []
    for name, results in found.items():
        if name in ("plain", *ALONE) or results is None or plain is None:
            continue
        for number, (one, other) in enumerate(zip(results, plain, strict=True)):
            if one.shape != other.shape:
                raise WrongError(f"result {number}, {name}: shape {one.shape}, not {other.shape}")
            if _close(one, other, 1e-7):
                continue
            moved = moved or _moved(written, given, paths["plain"], plain, seed)
            if not _close(one, other, 1e-7 + 1e3 * moved[number]):
                raise WrongError(f"result {number}, {name}: {_short(one)}, plain {_short(other)}")


def _moved(written: Written, given: Data, path: Way, plain: Sequence[Array], seed: int) -> list[float]:
    """Return the relative change of each result when the data change by 1e-13."""
    worst = [0.0] * len(plain)
    for draw in range(10):
        rng = np.random.default_rng([seed, 9, draw])
        names = [leaf.name for leaf in written.leaves]
        results = _run("plain", path, {**given, **{name: disturbed(given[name], rng) for name in names}})
        for k, result in enumerate(plain):
            apart = np.inf if results is None else float(np.max(np.abs(results[k] - result), initial=0.0))
            worst[k] = max(worst[k], apart / (1 + float(np.max(np.abs(result), initial=0.0))))
    return worst


def _together(written: Written, lengths: Sequence[int], seed: int, paths: Mapping[str, Way]) -> None:
    """Compare compiled with plain evaluation at sizes 0, 1 or equal ones: both are defined, or neither is finite."""
    sizes = _sizes(written, lengths)
    try:
        shape = tuple(size.evaluate(sizes) for size in written.shape)
    except mc.MatcalcError:
        return
    if any(length < 0 for leaf in written.leaves for length in (s.evaluate(sizes) for s in leaf.shape)):
        return
    if any(length < 0 for length in shape):
        return
    rng = np.random.default_rng([seed, 6])
    data = drawn(written, sizes, seed, default_rulebook())
    if written.assumed:
        return
    given = {**data, **sizes, COTANGENT: np.asarray(rng.standard_normal(shape))}
    if _run("written", paths["written"], given) is None:
        return  # these sizes are rejected by a condition that plain evaluation of the nodes does not test
    compared = [name for name in paths if name not in ALONE]
    found = {name: _run(f"{name} at {lengths}", paths[name], given) for name in compared}
    plain = found["plain"]
    if plain is None or not all(np.all(np.isfinite(result)) for result in plain):
        return
    for name, results in found.items():
        if results is None:
            raise WrongError(f"{name} at {lengths}: an error, plain {_short(plain[0])}")
        for number, (one, other) in enumerate(zip(results, plain, strict=True)):
            if one.shape == other.shape and _close(one, other, 1e-6):
                continue
            moved = _moved(written, given, paths["plain"], plain, seed)[number]
            if one.shape != other.shape or not _close(one, other, 1e-6 + 1e3 * moved):
                raise WrongError(f"result {number}, {name} at {lengths}: {_short(one)}, plain {_short(other)}")


def _sensitivity(
    written: Written, data: Mapping[str, Array], sizes: Mapping[str, int], shape: tuple[int, ...], true: Array
) -> float:
    """Return the relative change of the value when data and results of functions change by 1e-13."""
    if np.max(np.abs(true), initial=0.0) > HUGE:
        return np.inf
    worst = 0.0
    for seed in range(10):
        rng = np.random.default_rng([seed, 8])
        moved = {name: disturbed(a, rng) for name, a in data.items()}
        try:
            with shaken(rng):
                other = value(written.text, moved, sizes, shape)
        except UNDEFINED:
            return np.inf
        if not np.all(np.isfinite(other)):
            return np.inf
        worst = max(worst, float(np.max(np.abs(other - true), initial=0.0)))
    return worst / (1 + float(np.max(np.abs(true), initial=0.0)))


def _close(one: Array, other: Array, bound: float = CLOSE) -> bool:
    if one.shape != other.shape:
        return False
    size = 1 + float(np.max(np.abs(other), initial=0.0, where=np.isfinite(other)))
    both = np.isfinite(other)
    return bool(np.all(np.abs(np.where(both, one, 0) - np.where(both, other, 0)) <= bound * size))


def _short(array: Array) -> str:
    return np.array2string(array, precision=6, threshold=12).replace("\n", "")
