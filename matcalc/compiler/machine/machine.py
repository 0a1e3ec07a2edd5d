"""Measures the peak rates of this machine once, in a tenth of a second, and stores them with the cache.

The figures of the roofline are flops of a matrix product, bytes from memory, bytes from the processor's cache.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache, partial

import numpy as np

from matcalc.store import artefacts

NEAR = 2**18
"""Bytes of data that fit in the processor's cache."""
FAR = 2**24
"""Bytes of data that do not fit in it."""
ORDER = 256
"""Order of the matrices in the measured product."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Flops and bytes per nanosecond: `near` for arrays up to 256 KB, `far` for larger ones."""

    flops: float
    near: float
    far: float

    def seconds(self, flops: float, moved: float) -> float:
        """Return the least time in seconds for so many flops and moved bytes."""
        return 1e-9 * max(flops / self.flops, moved / (self.near if moved <= NEAR else self.far))

    def waits_for(self, flops: float, moved: float) -> str:
        """Return the bottleneck: arithmetic, cache or memory."""
        if flops / self.flops >= moved / (self.near if moved <= NEAR else self.far):
            return "arithmetic"
        return "cache" if moved <= NEAR else "memory"


@lru_cache(maxsize=1)
def machine() -> Machine:
    """Return the figures of this machine, from the cache or measured now."""
    return Machine(**artefacts.kept("machine", (), lambda: asdict(measured())))


def measured() -> Machine:
    """Measure a matrix product and two copies, each as the best of several runs."""
    A = np.ones((ORDER, ORDER))
    rates = []
    for count, rounds in ((NEAR // 16, 50), (FAR // 16, 4)):
        source, target = np.ones(count), np.ones(count)
        rates.append(16 * count / _best(partial(np.copyto, target, source), rounds))
    return Machine(2 * ORDER**3 / _best(lambda: A @ A, 10), *rates)


def _best(run: Callable[[], object], rounds: int) -> float:
    """Return the nanoseconds of the fastest round."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter_ns()
        run()
        times.append(time.perf_counter_ns() - start)
    return float(max(min(times), 1))
