"""Sets up the whole test run: one BLAS thread, the tiers, and one cache of compiled code for all processes.

Every program that a test plans is interpreted with all accesses checked. Fresh memory is filled.

Marks at the tests state their tier (`whole`, `sampled`, `long`; tests/README.md), and this file selects by them:
without `-m`, and for tests that no `::` names, it selects the first tier.
"""

import gc
import os
import shutil
import tempfile
from collections import Counter
from inspect import isfunction
from zlib import crc32

import pytest
from _pytest.runner import runtestprotocol

# Set before NumPy is first imported.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
OWN_CACHE = None if "MATCALC_CACHE" in os.environ else tempfile.mkdtemp(prefix="matcalc-tests-")
if OWN_CACHE:  # the processes of this run inherit it; MATCALC_CACHE stores compiled code for the next run
    os.environ["MATCALC_CACHE"] = OWN_CACHE

import fresh_memory  # noqa: E402 - after the settings
from compiler.verify.interpret_plans import watch  # noqa: E402 - after the settings, before any module takes the planner

from matcalc.compiler.call import spec_cache  # noqa: E402

fresh_memory.fill()
spec_cache.is_on = False  # each test compiles its own functions
FIRST = "not whole and not long"
FEW = 16
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
    """Collect with the garbage collector off, and leave what there is then out of later collections.

    Each saves a tenth of the time. `gc.get_objects` has those objects after `gc.unfreeze`.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector, obj):
    """Leave out of the first tier, before its cases are generated, a test marked for a later tier only."""
    marks = (*collector.iter_markers(), *getattr(obj, "pytestmark", ())) if isfunction(obj) else ()
    if collector.config.option.markexpr == FIRST and {mark.name for mark in marks} & {"whole", "long"}:
        IN_FIRST[collector.path] += 0
        return []
    return None


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc):
    """Leave each n-th case of a test marked `sampled(n)` in the first tier; the other cases are `whole`.

    The first tier does not generate the other cases. Of a test marked `thinned(n)` one in n of these cases, chosen by
    its name, is `whole`, and the rest are `long`.
    """
    made, kept, count = (yield), [], 0
    named = metafunc.definition.get_closest_marker
    of_all, thinned, of_whole = named("sampled"), named("thinned"), named("whole")
    for case in metafunc._calls:
        sampled = next((mark for mark in case.marks if mark.name == "sampled"), of_all)
        if sampled:
            if count % sampled.args[0]:
                case.marks.append(pytest.mark.whole.mark)
            count += 1
        is_whole = of_whole or any(mark.name == "whole" for mark in case.marks)
        if thinned and is_whole and crc32(case.id.encode()) % thinned.args[0]:
            case.marks.append(pytest.mark.long.mark)
        if not {mark.name for mark in case.marks} & {"whole", "long"}:
            kept.append(case)
    if kept and metafunc.config.option.markexpr == FIRST:
        metafunc._calls = kept
    return made


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        IN_FIRST[item.path] += not any(item.iter_markers("whole")) and not any(item.iter_markers("long"))


@pytest.fixture(scope="session")
def in_first():
    return IN_FIRST


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give a file to one process, so that objects its tests share are derived and compiled once.

    After the first tier, the tests of a file with few tests run one by one, and last. They are the long ones, so that
    all processes end at about the same time.
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        counts = Counter()

        def _split_scope(self, nodeid):
            if config.option.markexpr == FIRST:
                return super()._split_scope(nodeid)
            if not self.counts:
                self.counts.update(super(Scheduling, self)._split_scope(one) for one in self.collection)
            path = super()._split_scope(nodeid)
            return nodeid if self.counts[path] <= FEW else path

    return Scheduling(config, log) if config.getvalue("dist") == "load" else None


@pytest.hookimpl
def pytest_runtest_protocol(item, nextitem):
    """In one of several processes, report a test once: of its six messages, all but two tell nothing.

    They cost 2 ms a test. `--durations` and `--junit-xml` need the others.
    """
    options = item.config.option
    if not hasattr(item.config, "workerinput") or options.durations is not None or options.xmlpath:
        return None
    for report in runtestprotocol(item, nextitem=nextitem, log=False):
        if report.when == "call" or not report.passed:
            report.keywords = {}
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def pytest_sessionfinish(session):
    found = len(WATCH.seen), WATCH.runs, WATCH.seconds
    if hasattr(session.config, "workeroutput"):  # one of several processes: send its counts to the first
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
