"""Times calls in turn: each has its least time."""

from __future__ import annotations

import time
from collections.abc import Callable

SECONDS, FEWEST, MOST = 0.5, 5, 40


def least(calls: dict[str, Callable[[], object]], clock: Callable[[], float] = time.perf_counter) -> dict[str, float]:
    """Return the least seconds of each call, run in turn; `clock` may count the CPU time alone."""
    best = dict.fromkeys(calls, float("inf"))
    begin, rounds = time.perf_counter(), 0
    while rounds < FEWEST or (rounds < MOST and time.perf_counter() - begin < SECONDS * len(calls)):
        for name, call in calls.items():
            start = clock()
            call()
            best[name] = min(best[name], clock() - start)
        rounds += 1
    return best
