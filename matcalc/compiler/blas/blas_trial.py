"""Measures another BLAS against SciPy's for each routine and size, as a program that prints JSON.

It runs in a separate process, since a broken library may crash it. The libraries alternate, and the least time of each
counts. If the results differ, the ratio is 0, so that routine is never chosen.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numba.extending import get_cython_function_address

from matcalc.compiler.blas.blas_library import BlasLibrary, opened, prepared
from matcalc.compiler.blas.blas_routines import TRIED, Routine, load_routines
from matcalc.errors import NotSupported

SECONDS = 0.4
"""Seconds of measurement for each routine and size, for both libraries together."""
ROUNDS = 5
CLOSE = 1e-10
"""Allowed difference, relative to the largest entry of a result."""


def main() -> None:
    """Print the time ratios, SciPy's over the other's, as JSON; `{"refused": why}` for an unusable library."""
    path, count = sys.argv[1:]
    try:
        library = opened(Path(path), int(count))
    except NotSupported as refusal:
        print(json.dumps({"refused": refusal.message}))
        return
    print(json.dumps({name: ratios(routine, library) for name, routine in load_routines().items()}))


def ratios(routine: Routine, library: BlasLibrary) -> list[float]:
    """Return the time ratios at the tried orders; 0 if the other library lacks the routine or its result differs."""
    other = library.address(routine.name)
    return [_ratio(routine, n, _ours(routine.name), other) if other else 0.0 for n in TRIED]


def _ours(name: str) -> int:
    for library in ("blas", "lapack"):
        try:
            return int(get_cython_function_address(f"scipy.linalg.cython_{library}", name))
        except ValueError:
            continue
    raise NotSupported(f"SciPy has no routine {name}")


def _ratio(routine: Routine, n: int, ours: int, other: int) -> float:
    """Return SciPy's time over the other library's; 0 if the results differ by more than rounding."""
    cells = arguments(routine, n)
    fresh = [cell.copy() for cell in cells]
    runs = [prepared(address, cells) for address in (ours, other)]
    results, best = [], [float("inf"), float("inf")]
    end, rounds = time.perf_counter() + SECONDS, 0
    while rounds < ROUNDS or time.perf_counter() < end:
        for which, run in enumerate(runs):
            for cell, kept in zip(cells, fresh, strict=True):
                np.copyto(cell, kept)
            start = time.perf_counter_ns()
            run()
            best[which] = min(best[which], time.perf_counter_ns() - start)
            if rounds == 0:
                results.append((cells[routine.result].copy(), int(cells[-1][0])))
        rounds += 1
    (mine, info), (its, its_info) = results
    is_same = np.allclose(mine, its, rtol=0.0, atol=CLOSE * max(1.0, float(np.max(np.abs(mine)))))
    return best[0] / best[1] if is_same and info == its_info == 0 else 0.0


def arguments(routine: Routine, n: int) -> list[Any]:
    """Return an array for each argument, and one for the `info` of LAPACK routines."""
    rng = np.random.default_rng(0)
    general = rng.standard_normal((n, n))
    length, count = 8 * n * n + 200 * n + 1000, 20 * n + 100
    arrays: dict[str | float, Any] = {
        "general": general,
        "spd": general @ general.T + n * np.eye(n),
        "upper": np.triu(general).T + n * np.eye(n),
        "vector": rng.standard_normal(n),
        "blank": np.zeros((n, n)),
        "pivots": np.arange(1, n + 1, dtype=np.int32),
        "work": np.zeros(length),
        "integers": np.zeros(count, np.int32),
    }
    whole: dict[str | float, int] = {"n": n, "length": length, "count": count}
    made: list[Any] = []
    for given in routine.arguments:
        if given in arrays:
            made.append(arrays[given].ravel().copy())
        elif isinstance(given, float):
            made.append(np.array([given]))
        else:
            letter = ord(given) if isinstance(given, str) and len(given) == 1 else given
            number = whole.get(given, letter)
            made.append(np.array([number, 0], np.int32))
    return [*made, np.zeros(2, np.int32)]


if __name__ == "__main__":
    main()
