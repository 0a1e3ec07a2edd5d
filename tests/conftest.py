"""Settings of the whole test run: one BLAS thread, a cache of compiled code that belongs to the run, and every program
that a test plans interpreted with all accesses checked.
"""

import os
import tempfile

# Set before NumPy is first imported.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
if "MATCALC_CACHE" not in os.environ:
    os.environ["MATCALC_CACHE"] = tempfile.mkdtemp(prefix="matcalc-tests-")

from programs.supervised import watch  # noqa: E402 - after the settings, before any module takes the planner

WATCH = watch()


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(
        f"{len(WATCH.seen)} programs interpreted at {WATCH.runs} sets of sizes in {WATCH.seconds:.0f} s"
    )
