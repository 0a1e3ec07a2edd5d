"""Plants faults in forks of one process that has matcalc loaded, each with a part of the panel.

    python tests/evidence/written/planted_server.py TREE

Reads JSON lines: the path of a source in TREE, its text with the fault, labels of results, whether they are checked,
and a text with declarations to try besides. Answers each with a JSON list: how each result ended, by its label.
A source of Python in `matcalc/` is not read again: in a fork the code of its functions is replaced in memory.
"""

import gc
import importlib
import json
import os
import pkgutil
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import _lru_cache_wrapper
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2])]

import fresh_memory  # noqa: E402
import planted_panel  # noqa: E402

import matcalc as mc  # noqa: E402

LIMIT = 20
"""Seconds that a fork may take."""

ROOMS = ("matcalc.tensor", "matcalc.calculus", "matcalc.compiler", "matcalc.evidence")
Outcomes = dict[str, tuple[str, Any]]

functions: dict[str, list[FunctionType]] = defaultdict(list)
"""The functions of each source."""
memories: list[Any] = []
"""The functions of matcalc that remember what they returned."""


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and all in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def replaced(path: str, text: str) -> int:
    """Give each function of a source its code in another text; return how many were changed."""
    new = {(code.co_qualname, code.co_firstlineno): code for code in codes(compile(text, path, "exec"))}
    count = 0
    for function in functions[path]:
        code = new.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if code is not None and code != function.__code__:
            function.__code__ = code
            count += 1
    return count


def forgotten() -> None:
    """Clear what matcalc has read or computed before."""
    for memory in memories:
        memory.cache_clear()


def loaded() -> None:
    """Import every module of the rooms, and compile the kernels of the panel, so that forks have them."""
    for room in ROOMS:
        for module in pkgutil.walk_packages(importlib.import_module(room).__path__, f"{room}."):
            if ".runtime" not in module.name:
                importlib.import_module(module.name)
    for formula in planted_panel.KERNELS:
        mc.compile(formula, declarations=planted_panel.DECLARED, check=False)
    for found in gc.get_objects():
        if type(found) is FunctionType:
            functions[found.__code__.co_filename].append(found)
        if type(found) is _lru_cache_wrapper and (found.__module__ or "").startswith("matcalc"):
            memories.append(found)
    forgotten()
    gc.collect()
    gc.freeze()


def answer(path: str, text: str, labels: list[str], check: bool, more: tuple[str, str] | None) -> Outcomes:
    """Return how results end with a fault."""
    if path.startswith(f"{sys.argv[1]}/matcalc/") and not replaced(path, text):
        return {"not planted": ("error", "no function has this line")}
    forgotten()
    found: Outcomes = {}

    def late(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    signal.alarm(LIMIT)
    try:
        for label, how, what in planted_panel.outcomes(check, labels, more):
            found[label] = how, what
    except TimeoutError:
        pass
    signal.alarm(0)
    return found


def forked(request: list[Any]) -> Outcomes:
    """Answer a request in a fork; an empty answer is one that took too long, or whose process ended."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reading)
        try:
            signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_VIRTUAL, 1.5 * LIMIT)
            found = answer(*request)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is told
            found = {"not planted": ("error", repr(error)[:200])}
        with os.fdopen(writing, "w") as out:
            json.dump(found, out)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answered:
        said = answered.read()
    os.waitpid(pid, 0)
    return dict(json.loads(said)) if said else {}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    fresh_memory.fill()
    loaded()
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        path, text, labels, check, more = json.loads(line)
        print(json.dumps(forked([path, text, labels, check, more and tuple(more)])), file=answers, flush=True)


if __name__ == "__main__":
    main()
