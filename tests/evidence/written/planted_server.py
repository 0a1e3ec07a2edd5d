"""Plants faults of Python sources in forks of one process that has matcalc loaded, each with a part of the panel.

    python tests/evidence/written/planted_server.py TREE WARM

Reads JSON lines: the path of a source in TREE, its text with the fault, labels of results, and a text with declarations
to try besides. Answers each with the lines of `planted_panel.py`, then with one that says how the fork ended. WARM is 1
for Python sources: in a fork the code of the functions of the source is replaced in memory. Else it reads the files.
"""

import gc
import importlib
import json
import os
import pkgutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

sys.path.insert(0, str(Path(__file__).parent))

import planted_panel  # noqa: E402

import matcalc as mc  # noqa: E402

LIMIT = 150
"""Seconds that a fork may take."""

ROOMS = ("matcalc.tensor", "matcalc.calculus", "matcalc.compiler", "matcalc.evidence")


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
    for function in [o for o in gc.get_objects() if isinstance(o, FunctionType) and o.__code__.co_filename == path]:
        code = new.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if code is not None and code != function.__code__:
            function.__code__ = code
            count += 1
    return count


def loaded() -> None:
    """Import every module of the rooms, and what is read at the first use; libraries alone where files are planted."""
    if sys.argv[2] == "0":
        for name in ("numba", "scipy.linalg", "scipy.special"):
            importlib.import_module(name)
        return
    for room in ROOMS:
        for module in pkgutil.walk_packages(importlib.import_module(room).__path__, f"{room}."):
            if ".runtime" not in module.name:
                importlib.import_module(module.name)
    mc.gradient("sum(exp(2*u))", "u")
    mc.compile("3*u", target="numpy")


def answer(tree: str, path: str, text: str, labels: list[str], more: tuple[str, str] | None) -> None:
    signal.alarm(LIMIT)
    if sys.argv[2] == "1" and not replaced(f"{tree}/{path}", text):
        print(json.dumps(["not planted", "error", "no function has this line"]), flush=True)
        return
    for row in planted_panel.outcomes(True, labels, more):
        print(json.dumps(row), flush=True)


def main() -> None:
    loaded()
    print("ready", flush=True)
    for line in sys.stdin:
        path, text, labels, more = json.loads(line)
        pid = os.fork()
        if not pid:
            try:
                answer(sys.argv[1], path, text, labels, more and tuple(more))
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is told
                print(json.dumps(["the fork", "error", repr(error)[:200]]), flush=True)
            os._exit(0)
        print(json.dumps(["the end", os.waitpid(pid, 0)[1], ""]), flush=True)


if __name__ == "__main__":
    main()
