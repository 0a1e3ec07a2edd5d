"""Measures the simplification of an expression: length before and after, change of value, time."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

import matcalc as mc
from benchmarks.simplification.random_expressions import DECLARATIONS, SIZES, expression, shuffled
from matcalc.evidence.numeric.sampling import sample
from matcalc.formula.notation.length import tokens
from matcalc.tensor.nodes.node import toposort

Data = dict[str, float | np.ndarray]
PERTURBED, PERTURBATIONS = 1e-13, 64


class Trial(NamedTuple):
    """One expression: texts and tokens before and after, the error of the value, and the error that rounding explains.

    `error` is relative to the largest entry; None if the original value is not finite or not defined.
    """

    text: str
    before: str
    after: str
    error: float | None
    rounding: float
    seconds: float
    nodes: int

    @property
    def grew(self) -> bool:
        return tokens(self.after) > tokens(self.before)

    @property
    def is_wrong(self) -> bool:
        """Whether the value changed by more than 1e-10 and by more than rounding of the data explains."""
        return self.error is not None and not self.error <= 1e-10 + self.rounding


def data(seed: int) -> Data:
    """Return random values of the symbols, with their facts, and of the sizes."""
    rng = np.random.default_rng(seed)
    drawn: Data = dict(SIZES)
    for line in DECLARATIONS.split(";"):
        name, _, kind = line.strip().partition(": ")
        shape, facts = shape_and_facts(kind)
        drawn[name] = sample(rng, shape, facts) if facts else rng.standard_normal(shape)
    return drawn


def shape_and_facts(kind: str) -> tuple[tuple[int, ...], list[str]]:
    """Return the lengths and facts of `matrix(m, n) spd`."""
    head, _, facts = kind.partition(")")
    if "(" not in head:
        word, _, facts = kind.partition(" ")
        return (), facts.split()
    return tuple(SIZES[name.strip()] for name in head.split("(")[1].split(",")), facts.split()


def trial(seed: int, values: Data) -> Trial:
    """Simplify the expression of this seed, and compare the values."""
    text = expression(random.Random(seed))
    written = mc.expression(text, DECLARATIONS)
    start = time.perf_counter()
    simple = written.simplify()
    seconds = time.perf_counter() - start
    error, rounding = compared(written, simple, values)
    return Trial(text, str(written), str(simple), error, rounding, seconds, len(toposort([written.node])))


def compared(written: mc.Expression, simple: mc.Expression, values: Data) -> tuple[float | None, float]:
    """Return the relative difference of two expressions, and the change of the first by rounding of the data."""
    with np.errstate(all="ignore"):
        value = evaluated(written, values)
        if value is None:
            return None, 0.0
        other = evaluated(simple, values)
        if other is None:
            return np.inf, 0.0
        scale = float(np.max(np.abs(value), initial=0.0)) or 1.0
        error = float(np.max(np.abs(value - other), initial=0.0)) / scale
        if error <= 1e-10:
            return error, 0.0
        moved = [
            evaluated(written, {k: perturbed(v, seed) for k, v in values.items()}) for seed in range(PERTURBATIONS)
        ]
        return error, max(np.inf if m is None else float(np.max(np.abs(value - m), initial=0.0)) / scale for m in moved)


def perturbed(value: float | np.ndarray, seed: int) -> float | np.ndarray:
    """Return a value with noise in its last digits; that of a square matrix is symmetric, to preserve its facts."""
    if isinstance(value, int):
        return value
    noise = PERTURBED * np.random.default_rng(seed).standard_normal(np.shape(value))
    square = noise.ndim == 2 and noise.shape[0] == noise.shape[1]
    return value * (1 + (noise + noise.T if square else noise))


def evaluated(e: mc.Expression, values: Data) -> float | np.ndarray:
    """Return the value; None if it is not finite or not defined."""
    try:
        found = np.asarray(e(**{str(name): values[str(name)] for name in e.symbols}))
    except np.linalg.LinAlgError:
        return None
    return found if np.all(np.isfinite(found)) else None


def trials(seeds: Iterable[int]) -> Iterator[Trial]:
    """Yield the trials of these seeds, each at one of ten points."""
    points = [data(k) for k in range(10)]
    for seed in seeds:
        yield trial(seed, points[seed % 10])


def results_of_ways(seed: int) -> tuple[str, list[str], set[str], set[str]]:
    """Return a kind, five equal ways to write an expression, and the texts of their simplified forms and gradients."""
    kind, ways = shuffled(random.Random(seed))
    written = [mc.expression(way, DECLARATIONS) for way in ways]
    simple = {str(e.simplify()) for e in written}
    gradients = {str(e.gradient("x" if "x" in e.symbols else e.symbols[0])) for e in written if not e.shape}
    return kind, ways, simple, gradients
