"""Settings of the whole test run: one BLAS thread, the tiers, a cache of compiled code for all its processes, and every
program that a test plans interpreted with all accesses checked.

The tiers are told at the tests themselves (`whole`, `sampled`, `long`; tests/README.md), and chosen here: what no `-m`
chooses and no `::` names is the first tier.
"""

import gc
import os
import shutil
import tempfile
from collections import Counter

import pytest

# Set before NumPy is first imported.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
OWN_CACHE = None if "MATCALC_CACHE" in os.environ else tempfile.mkdtemp(prefix="matcalc-tests-")
if OWN_CACHE:  # the processes of this run inherit it; MATCALC_CACHE keeps what is compiled for the next run
    os.environ["MATCALC_CACHE"] = OWN_CACHE

from compiler.verify.supervised import watch  # noqa: E402 - after the settings, before any module takes the planner

FIRST = "not whole and not long"
WATCH = watch()
IN_FIRST = Counter()
"""Cases of the first tier by file, as collected."""
INTERPRETED = []
"""Programs, runs and seconds of each process of the test run."""


def pytest_configure(config):
    if not config.option.markexpr and not any("::" in argument for argument in config.args):
        config.option.markexpr = FIRST


def pytest_report_header(config):
    return f"tier: {config.option.markexpr or 'what is named'} (tests/README.md)"


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect without looking for garbage: there is none among the tests, and looking takes a tenth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Leave each n-th case of a test that is `sampled(n)` in the first tier; the others are `whole`."""
    cases = Counter()
    for item in items:
        if mark := item.get_closest_marker("sampled"):
            test = item.nodeid.partition("[")[0]
            if cases[test] % mark.args[0]:
                item.add_marker("whole")
            cases[test] += 1
        IN_FIRST[item.path] += not any(item.iter_markers("whole")) and not any(item.iter_markers("long"))


@pytest.fixture(scope="session")
def in_first():
    return IN_FIRST


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give a file to one process: what its tests share is then derived and compiled once."""
    from xdist.scheduler import LoadFileScheduling

    return LoadFileScheduling(config, log) if config.getvalue("dist") == "load" else None


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


def pytest_unconfigure():
    if OWN_CACHE:
        shutil.rmtree(OWN_CACHE, ignore_errors=True)
