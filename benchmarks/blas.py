"""Compares SciPy's OpenBLAS with another BLAS, by routine: ratios of time, as in `matcalc warm --measure`.

OPENBLAS_NUM_THREADS=1 python benchmarks/blas.py [mkl | PATH]        writes benchmarks/results/blas.md
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from matcalc.compiler.blas import blas_trial
from matcalc.compiler.blas.blas_library import found, opened, threads
from matcalc.compiler.blas.blas_routines import load_routines

ROUTINES = ("dgemm", "dgemv", "dpotrf", "dgetrf", "dsyevd", "dgesdd")
ORDERS = (4, 16, 32, 64, 128, 256, 512)
RESULT = Path(__file__).parent / "results" / "blas.md"


def processor() -> str:
    """Return the system's name of the processor."""
    places = [Path("/proc/cpuinfo")]
    lines = [line for place in places if place.exists() for line in place.read_text().splitlines()]
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def main() -> None:
    """Measure and write the table."""
    library = opened(found(sys.argv[1] if len(sys.argv) > 1 else "mkl"), threads())
    blas_trial.TRIED = ORDERS
    rows = {name: blas_trial.ratios(load_routines()[name], library) for name in ROUTINES}
    lines = [
        f"# Time of SciPy's OpenBLAS over that of {library.path.name}",
        "",
        f"{processor()}, threads = {threads()}. Above 1 the other library is faster; 0 is another result. Both take",
        "turns in one process, each time is the least of its turns. `benchmarks/blas.py` writes this.",
        "",
        "| n | " + " | ".join(ROUTINES) + " |",
        "|---" * (len(ROUTINES) + 1) + "|",
        *(f"| {n} | " + " | ".join(f"{rows[name][k]:.2f}" for name in ROUTINES) + " |" for k, n in enumerate(ORDERS)),
    ]
    RESULT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
