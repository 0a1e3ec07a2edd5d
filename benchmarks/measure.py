"""Times libraries in alternation on one problem and size, and compares their results with the hand-written code."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass, field
from time import perf_counter
from types import ModuleType

import numpy as np
from problems import FORWARD_SEED, Call, Data, Problem

TOLERANCE = 1e-6
ROUND = 2e-3  # target seconds of a round of calls
SLOW = 0.6  # seconds beyond which a call is timed once


@dataclass
class Timing:
    """The result and times of one library on one problem and size."""

    library: str
    entries: int = 0
    first: float = 0.0
    best: float = float("inf")
    calls: int = 1
    rounds: int = 0
    wrong: bool = False
    call: Call | None = field(default=None, repr=False)


def measure(problem: Problem, size: str, libraries: dict[str, ModuleType], seconds: float) -> list[Timing]:
    """Time all libraries in alternation."""
    data = problem.data(size)
    if problem.gives == "pullback":
        data[FORWARD_SEED] = problem.cotangent(value_shape(problem, data))
    reference: list[np.ndarray] = []
    timings = []
    for name, library in libraries.items():
        timing = Timing(name, sum(np.size(value) for value in data.values()))
        try:
            start = perf_counter()
            timing.call = library.build(problem, data)
            result = flat(timing.call())
            timing.first = perf_counter() - start
        except (AttributeError, NotImplementedError, TypeError) as lacking:
            print(f"{problem.name} {size}: {name}: {lacking}", file=sys.stderr)
            continue
        if getattr(library, "IS_ANSWER", True):
            reference = reference or result
            timing.wrong = not agree(reference, result, problem)
        timings.append(timing)
    gc.collect()
    gc.disable()
    for timing in timings:
        calibrate(timing, seconds)
    for turn in range(max(t.rounds for t in timings)):
        for timing in timings:
            if turn < timing.rounds:
                timing.best = min(timing.best, once(timing))
    gc.enable()
    return timings


def value_shape(problem: Problem, data: Data) -> tuple[int, ...]:
    """Return the shape of the value, as matcalc infers it."""
    import matcalc as mc

    f = mc.expression(problem.formula, problem.declarations)
    return tuple(np.shape(f(**{name: data[name] for name in f.symbols})))


def calibrate(timing: Timing, seconds: float) -> None:
    """Choose the number of calls in a round and the number of rounds."""
    timing.best = once(timing)
    if timing.best > SLOW:
        return
    for _ in range(2):
        timing.calls = max(1, int(ROUND / timing.best))
        timing.best = min(timing.best, once(timing))
    timing.rounds = max(3, min(40, int(seconds / (timing.best * timing.calls))))


def once(timing: Timing) -> float:
    call, calls = timing.call, timing.calls
    start = perf_counter()
    for _ in range(calls):
        call()
    return (perf_counter() - start) / calls


def flat(result: object) -> list[np.ndarray]:
    """Return nested results as a list of arrays."""
    if isinstance(result, (tuple, list)):
        return [array for part in result for array in flat(part)]
    return [np.asarray(result)]


def agree(reference: list[np.ndarray], result: list[np.ndarray], problem: Problem) -> bool:
    """Whether results agree to six digits; gradients in symmetric symbols are compared as symmetric matrices."""
    if len(reference) != len(result):
        return False
    for k, (want, got) in enumerate(zip(reference, result, strict=True), -1):
        got = got.reshape(want.shape) if got.size == want.size else got
        if got.shape != want.shape:
            return False
        if k >= 0 and problem.facts.get(problem.wrt[k]) in ("symmetric", "spd"):
            got = (got + got.T) / 2
        if not np.max(np.abs(got - want), initial=0.0) <= TOLERANCE * np.max(np.abs(want), initial=1e-300):
            return False
    return True
