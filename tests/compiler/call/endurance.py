"""Runs long versions of short tests: kills during cache writes, forks while a thread compiles, memory over time.

python tests/compiler/call/endurance.py kills 1000      kills during writes, and the cache's content afterwards
python tests/compiler/call/endurance.py compiling 200   kills of processes that compile
python tests/compiler/call/endurance.py forks 20        forks at random times while a thread compiles
python tests/compiler/call/endurance.py memory 1000     resident memory over compilations of different formulas
"""

import gc
import os
import random
import signal
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

TEXT = '''"""A module with one compiled function, number {number}."""

from numba import types

from matcalc.compiler.numba.jit import njit


@njit(types.float64(types.float64), cache=True)
def f(x):
    """x + {number}"""
    return x + {number}.0
'''


def kills(count: int, keys: int = 20, size: int = 100_000) -> dict[str, int]:
    """Kill processes that write entries; every existing entry must be complete, and new ones can be written."""
    from matcalc.store import artefacts
    from matcalc.store.cache_folder import cache_folder

    def content(key: int) -> bytes:
        return random.Random(key).randbytes(size)

    killed = 0
    for number in range(count):
        child = os.fork()
        if not child:
            with suppress(BaseException):
                while True:
                    key = random.randrange(keys)
                    artefacts.write("assembled", [f"key {key}"], content(key))
            os._exit(1)
        time.sleep(random.random() * 0.02)
        os.kill(child, signal.SIGKILL)
        killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        found = artefacts.read("assembled", [f"key {number % keys}"])
        assert found is None or found == content(number % keys), "an entry was read that nobody wrote"
    whole = sum(artefacts.read("assembled", [f"key {key}"]) == content(key) for key in range(keys))
    for key in range(keys):
        artefacts.write("assembled", [f"key {key}"], content(key))
        assert artefacts.read("assembled", [f"key {key}"]) == content(key)
    parts = len(list(cache_folder().path.glob("*.part")))
    return {"killed": killed, "entries whole": whole, "of": keys, "halves left aside": parts}


def compiling(count: int, modules: int = 30) -> dict[str, int]:
    """Kill processes that compile and cache; code that loads afterwards must compute its formula."""
    from matcalc.compiler.kernels.modules import load_text

    def load(number: int) -> bool:
        loaded = load_text(TEXT.format(number=number), "endured", stays=False)
        assert loaded.module.f(1.0) == 1.0 + number
        return loaded.hit

    load(-1 % (10 * modules))
    killed = hits = 0
    for number in range(count):
        child = os.fork()
        if not child:
            with suppress(BaseException):
                load(number % modules)
                os._exit(0)
            os._exit(1)
        time.sleep(random.random() * 0.5)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        killed += os.WIFSIGNALED(status)
        assert os.WIFSIGNALED(status) or status == 0, "a process that was not killed failed"
    for number in range(modules):
        hits += load(number)
    return {"killed": killed, "hits afterwards": hits, "of": modules}


def forks(count: int, patience: int = 300) -> dict[str, int]:
    """Fork at random times while a thread compiles; each child must compile and compute."""
    import numpy as np

    import matcalc as mc

    stop = False

    def work() -> None:
        number = 0
        while not stop:
            number += 1
            mc.value_and_gradient(f"sum(exp({number}.5*x).*x)", "x", declarations="x: vector(n)")

    thread = threading.Thread(target=work)
    thread.start()
    fine = 0
    for number in range(count):
        time.sleep(random.random())
        child = os.fork()
        if not child:
            signal.alarm(patience)
            with suppress(BaseException):
                fn = mc.value_and_gradient(f"sum(tanh({number}.25*x))", "x", declarations="x: vector(n)")
                value, slope = fn(np.ones(2))
                assert abs(value - 2 * np.tanh(number + 0.25)) < 1e-12 and slope.shape == (2,)
                os._exit(0)
            os._exit(1)
        fine += os.waitpid(child, 0)[1] == 0
    stop = True
    thread.join()
    return {"forks": count, "children that compiled": fine}


def resident() -> float:
    """Return the resident memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def memory(count: int, target: str = "numba", first: int = 10) -> dict[str, float]:
    """Compile, call and drop different formulas; return the growth of memory after the first ones."""
    import numpy as np

    import matcalc as mc

    def one(number: int) -> None:
        text = f"sum(exp({number}.5*A*x).*x) + {number}*x'*x"
        fn = mc.value_and_gradient(text, "x", declarations="A: matrix(n, n); x: vector(n)", target=target)
        value, _ = fn(np.zeros((2, 2)), np.ones(2))
        assert value == 2.0 + 2.0 * number

    for number in range(first):
        one(number)
    gc.collect()
    start = resident()
    for number in range(first, first + count):
        one(number)
        if number % 100 == 99:
            gc.collect()
            print(f"{number + 1 - first}: {resident() - start:+.1f} MB", flush=True)
    gc.collect()
    grown = resident() - start
    return {"compilations": count, "MB at first": start, "MB more": grown, "kB each": 1024 * grown / count}


if __name__ == "__main__":
    os.environ.setdefault("MATCALC_CACHE", tempfile.mkdtemp(prefix="matcalc-endurance-"))
    runs = {"kills": kills, "compiling": compiling, "forks": forks, "memory": memory}
    report = runs[sys.argv[1]](int(sys.argv[2]))
    print(", ".join(f"{name} {value:.6g}" for name, value in report.items()))
