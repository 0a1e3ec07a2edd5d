"""A fork waits for locks, so that a child finds all of them free; modules are freed with their lease."""

import gc
import os
import signal
import subprocess
import sys
import threading
import weakref
from contextlib import suppress

import numpy as np
import pytest

import matcalc as mc
from matcalc import locks
from matcalc.cached import cached_property

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")


def in_child(work):
    """Fork, run `work` in the child, and return whether it ended well within a minute."""
    child = os.fork()
    if not child:
        signal.alarm(60)
        with suppress(BaseException):
            work()
            os._exit(0)
        os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def every_lock():
    import numba.core.compiler_lock  # noqa: F401

    import matcalc.evidence.precise  # noqa: F401

    return list(locks._every_lock())


def test_the_locks_are_those_of_matcalc_numba_and_llvmlite():
    assert len(every_lock()) >= 7


def test_a_fork_waits_for_each_lock_that_a_thread_holds():
    for lock in every_lock():
        held, order = threading.Event(), []

        def hold(lock=lock, held=held, order=order):
            with lock:
                held.set()
                threading.Event().wait(0.05)
                order.append("freed")

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()

        def take_all():
            for one in every_lock():
                assert one.acquire(timeout=5)
                one.release()

        fine = in_child(take_all)
        order.append("forked")
        thread.join()
        assert fine and order == ["freed", "forked"]


def test_a_fork_inside_a_lock_of_its_own_thread():
    with locks.loading:
        assert in_child(lambda: locks.loading.acquire(timeout=5) or os._exit(2))


class Slow:
    """Computes a property until it is told to stop."""

    def __init__(self, stop):
        self.entered, self.stop = threading.Event(), stop

    @cached_property
    def answer(self):
        self.entered.set()
        self.stop.wait(30)
        return 42


def test_a_fork_while_a_thread_computes_a_property():
    stop, at_once = threading.Event(), threading.Event()
    at_once.set()
    slow, quick = Slow(stop), Slow(at_once)
    thread = threading.Thread(target=lambda: slow.answer)
    thread.start()
    slow.entered.wait()
    assert in_child(lambda: signal.alarm(5) and quick.answer == 42 or os._exit(2))
    stop.set()
    thread.join()
    assert vars(slow)["answer"] == 42 and "answer" not in vars(quick)


def test_no_class_holds_a_lock_that_a_fork_does_not_wait_for():
    mc.value_and_gradient("logdet(S) + tr(inv(S)*C)", "S", declarations="S: matrix(n, n) spd; C: matrix(n, n)")
    known = {id(lock) for lock in every_lock()}
    kinds = type(threading.Lock()), type(threading.RLock())
    found = set()
    gc.unfreeze()  # the objects from before the tests too
    for one in gc.get_objects():
        if issubclass(type(one), type) and str(one.__module__).partition(".")[0] == "matcalc":
            held = [(name, lock) for name, a in vars(one).items() for lock in getattr(a, "__dict__", {}).values()]
            found |= {
                f"{one.__qualname__}.{name}" for name, lock in held if isinstance(lock, kinds) and id(lock) not in known
            }
    assert not found


@pytest.mark.whole
def test_a_fork_while_a_thread_compiles():
    stop, started = False, threading.Event()

    def work():
        number = 0
        while not stop:
            number += 1
            started.set()
            mc.value_and_gradient(f"sum(exp({number}.5*x))", "x", declarations="x: vector(n)", target="numpy")

    def child():
        fn = mc.value_and_gradient("sum(tanh(2*x))", "x", declarations="x: vector(n)", target="numpy")
        assert abs(fn(np.ones(2))[0] - 2 * np.tanh(2)) < 1e-12

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    fine = [in_child(child) for _ in range(5)]
    stop = True
    thread.join()
    assert all(fine)


def parts(fn):
    dispatcher = fn.module.f_into
    library = dispatcher.overloads[dispatcher.signatures[0]].library
    return [weakref.ref(part) for part in (fn, fn.module, dispatcher, library, library.codegen)]


@pytest.mark.whole
def test_compiled_code_goes_with_its_last_user():
    parts(mc.value_and_gradient("sum(exp(2.5*x))", "x", declarations="x: vector(n)"))  # its engine stays with Numba
    for text in ("sum(exp(3.5*x))", "sum(exp(3.5*x))"):  # compiled, then read from the cache
        first = mc.value_and_gradient(text, "x", declarations="x: vector(n)")
        second = mc.value_and_gradient(text, "x", declarations="x: vector(n)")
        assert first.module is second.module and second.stats["cache"] == "hit"
        found = parts(first)
        del first
        gc.collect()
        assert second(np.zeros(2))[0] == 2.0
        del second
        gc.collect()
        assert [part() for part in found] == [None] * len(found)


@pytest.mark.whole
def test_code_that_others_call_by_address_stays():
    fn = mc.value_and_gradient("sum(exp(4.5*x))", "x", declarations="x: vector(n)")
    compute, module = fn.numba, weakref.ref(fn.module)
    del fn
    gc.collect()
    assert module() is not None and compute(np.zeros(3))[0] == 3.0


def test_passes_are_freed():
    """llvmlite's pass managers do not free themselves: each optimisation of a module would leak 150 kB."""
    from llvmlite.binding.newpassmanagers import NewPassManager

    from matcalc.compiler.numba.engine import _Codegen

    codegen = _Codegen("test")
    for made in (codegen._module_pass_manager(), codegen._function_pass_manager()):
        manager = made[0] if isinstance(made, tuple) else made
        assert type(manager)._dispose is NewPassManager._dispose


SLOW = """
import importlib.abc, importlib.machinery, os, signal, sys, threading, time
import matcalc as mc

started = threading.Event()

class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self) if name == "matcalc.slow_module" else None

    def exec_module(self, module):
        started.set()
        time.sleep(1)

sys.meta_path.insert(0, Finder())
thread = threading.Thread(target=lambda: __import__("matcalc.slow_module"))
thread.start()
started.wait()
child = os.fork()
if not child:
    signal.alarm(20)
    __import__("matcalc.slow_module")
    os._exit(0)
status = os.waitpid(child, 0)[1]
thread.join()
__import__("json")
sys.exit(status != 0)
"""

FIRST = """
import os, signal, sys, threading, time
import matcalc as mc

def first():
    import numpy as np
    fn = mc.value_and_gradient("norm2(X*w - y)^2", "w", "X: matrix(m, n); y: vector(m); w: vector(n)")
    fn(np.ones((3, 2)), np.ones(3), np.ones(2))

thread = threading.Thread(target=first)
thread.start()
time.sleep(float(sys.argv[1]))
child = os.fork()
if not child:
    signal.alarm(60)
    first()
    os._exit(0)
status = os.waitpid(child, 0)[1]
thread.join()
sys.exit(status != 0)
"""


@pytest.mark.whole
def test_a_fork_waits_for_an_import_of_another_thread():
    assert not subprocess.run([sys.executable, "-c", SLOW], timeout=90).returncode


@pytest.mark.long
@pytest.mark.parametrize("delay", [k / 20 for k in range(40)])
def test_a_fork_while_another_thread_compiles_for_the_first_time(delay, tmp_path):
    tmp_path.chmod(0o700)
    environment = {**os.environ, "MATCALC_CACHE": str(tmp_path)}
    assert not subprocess.run([sys.executable, "-c", FIRST, str(delay)], env=environment, timeout=200).returncode
