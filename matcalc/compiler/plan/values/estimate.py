"""Estimates sizes and times, by which plans are compared.

Sizes without a hint follow the usual convention (m > n > p > k) in one table. Times are in ns and need only rank plans:
rates come from the entries of codegen/, loops have one rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from matcalc.compiler.lowering_entries import PLAIN, TRAFFIC
from matcalc.tensor.sizes.size import Size

HABIT = {"m": 400, "n": 200, "p": 100, "k": 20, "r": 20}
OTHERWISE = 150
STREAM = 0.08


class Estimate:
    """Sizes as numbers."""

    def __init__(self, hints: Mapping[str, int] | None = None) -> None:
        self.hints = dict(hints or {})
        self.known: dict[Size, float] = {}

    def __call__(self, size: Size) -> float:
        found = self.known.get(size)
        if found is None:
            evaluated = size.substitute({n: Size.of(v) for n, v in self.typical(size.names).items()})
            found = max(float(evaluated.constant) if evaluated.is_integer else 1.0, 1.0)
            self.known[size] = found
        return found

    def typical(self, names: Iterable[str]) -> dict[str, int]:
        """Return the sizes that are assumed for names."""
        return {name: self.hints.get(name, HABIT.get(name, OTHERWISE)) for name in names}

    def volume(self, shape: Iterable[Size]) -> float:
        return prod(map(self, shape))


def loop_time(volume: float, flops: float, entries: float, is_stream: bool = False) -> float:
    """Return the time in ns of a loop over `volume` points with so many flops a point, moving `entries` numbers.

    A stream reads every operand along the innermost axis, so that it vectorises.
    """
    return (STREAM if is_stream else PLAIN) * volume * flops + 8 * TRAFFIC * entries + 2.0
