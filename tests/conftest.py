"""Settings of the whole test run: one BLAS thread, a cache of compiled code that belongs to the run, and every program
that a test plans interpreted with all accesses checked.
"""

import os
import tempfile

import pytest

# Set before NumPy is first imported.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
if "MATCALC_CACHE" not in os.environ:
    os.environ["MATCALC_CACHE"] = tempfile.mkdtemp(prefix="matcalc-tests-")

from compiler.verify.supervised import watch  # noqa: E402 - after the settings, before any module takes the planner

WATCH = watch()


INTERPRETED = []
"""Programs, runs and seconds of each process of the test run."""


def pytest_sessionfinish(session):
    found = len(WATCH.seen), WATCH.runs, WATCH.seconds
    if hasattr(session.config, "workeroutput"):  # one of several processes: its counts go to the first
        session.config.workeroutput["interpreted"] = found
    else:
        INTERPRETED.append(found)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    INTERPRETED.append(getattr(node, "workeroutput", {}).get("interpreted", (0, 0, 0.0)))


def pytest_terminal_summary(terminalreporter):
    programs, runs, seconds = map(sum, zip(*INTERPRETED, strict=True))
    terminalreporter.write_line(f"{programs} programs interpreted at {runs} sets of sizes in {seconds:.0f} s")
