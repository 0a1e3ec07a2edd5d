"""What this machine can do at most, measured once in a tenth of a second and kept with the cache.

Three figures are a roof: flops in a product of matrices, bytes from memory and from the processor's cache.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from math import isfinite

import numpy as np

from matcalc.store.cache_entries import write_whole
from matcalc.store.cache_folder import cache_folder

NAME = "machine.json"
NEAR = 2**18
"""Bytes that stay in the processor's cache."""
FAR = 2**24
"""Bytes that do not."""
ORDER = 256
"""Of the matrices that are multiplied."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Flops and bytes in a nanosecond: `near` of arrays up to 256 KB, `far` of larger ones."""

    flops: float
    near: float
    far: float

    def seconds(self, flops: float, moved: float) -> float:
        """Return the least time in which so many flops can be done and bytes moved."""
        return 1e-9 * max(flops / self.flops, moved / (self.near if moved <= NEAR else self.far))

    def waits_for(self, flops: float, moved: float) -> str:
        """Return what takes the time: arithmetic, cache or memory."""
        if flops / self.flops >= moved / (self.near if moved <= NEAR else self.far):
            return "arithmetic"
        return "cache" if moved <= NEAR else "memory"


@lru_cache(maxsize=1)
def machine() -> Machine:
    """Return the figures of this machine: those that are kept, or measured now."""
    folder = cache_folder()
    place = folder.path / NAME if folder.path is not None and folder.lasting else None
    try:
        kept = Machine(**json.loads(place.read_text("utf-8"))) if place is not None else None
        if kept is not None and all(isfinite(x) and x > 0 for x in asdict(kept).values()):
            return kept
    except (OSError, ValueError, TypeError):
        pass
    found = measured()
    if place is not None:
        with suppress(OSError):  # it is measured again by the next process
            write_whole(place, json.dumps(asdict(found)).encode())
    return found


def measured() -> Machine:
    """Measure a product of matrices and two copies, each the best of some."""
    A = np.ones((ORDER, ORDER))
    rates = []
    for count, rounds in ((NEAR // 16, 50), (FAR // 16, 4)):
        source, target = np.ones(count), np.ones(count)
        rates.append(16 * count / _best(partial(np.copyto, target, source), rounds))
    return Machine(2 * ORDER**3 / _best(lambda: A @ A, 10), *rates)


def _best(run: Callable[[], object], rounds: int) -> float:
    """Return the nanoseconds of the fastest of some rounds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter_ns()
        run()
        times.append(time.perf_counter_ns() - start)
    return float(max(min(times), 1))
