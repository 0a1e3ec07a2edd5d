"""Registers locks that a fork waits for, so that no child process inherits a lock held by a lost thread.

A child has one thread, the one that forked. A lock that another thread held stays locked in the child for ever, and
that thread's work stays half done. So `os.fork` first waits until every lock registered by `held_at_fork` is free. It
holds them all while the process is copied, and frees them in parent and child. It acquires all of them or none: while
it waits for one it holds no other, so the locks need no order. Numba's and llvmlite's locks are included once those
libraries are loaded, since a thread that compiles holds them. A fork also waits until no other thread is inside an
import of matcalc or of a library that it imports. Otherwise a child that imports the same module would wait for ever
for the thread that has half imported it.

A thread that holds `loading` may pause Python's garbage collector. An import or a compilation allocates a million
objects, few of them garbage, and the collector would scan all objects of the process repeatedly.

Hooks before a fork run in reverse order of registration. Some of them acquire locks that a compiling thread may need.
These are hooks of the modules imported here, so importing them first registers them first.
"""

from __future__ import annotations

import _imp
import concurrent.futures.thread  # noqa: F401
import gc
import logging  # noqa: F401
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import _bootstrap
from threading import RLock, get_ident
from typing import Protocol, TypeVar


class Lock(Protocol):
    """A lock of Python's, Numba's or LLVM's."""

    def acquire(self, blocking: bool = ...) -> bool: ...

    def release(self) -> None: ...


L = TypeVar("L", bound=Lock)

LIBRARIES = frozenset(
    {"matcalc", "numba", "llvmlite", "numpy", "scipy", "sympy", "mpmath", "lark", "islpy", "platformdirs"}
)
"""The packages whose imports a fork waits for."""
LONGEST_IMPORT = 60.0
"""Longest wait of a fork for imports, in seconds: an import may itself wait for the thread that forks."""

_locks: list[Lock] = []
_held: list[list[Lock]] = []


def held_at_fork(lock: L) -> L:
    """Register a lock that `os.fork` waits for from now on; return it."""
    _locks.append(lock)
    return lock


loading = held_at_fork(RLock())
"""Held while modules of matcalc are imported and while generated code is compiled and loaded."""


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the garbage collector; for a thread that holds `loading`, so that no fork happens meanwhile."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _every_lock() -> Iterator[Lock]:
    yield from _locks
    numba, llvm = (sys.modules.get(name) for name in ("numba.core.compiler_lock", "llvmlite.binding.ffi"))
    with suppress(AttributeError):  # a module that is being imported, or another version
        yield numba.global_compiler_lock._lock  # type: ignore[union-attr]
    with suppress(AttributeError):
        yield llvm.lib._lock._lock  # type: ignore[union-attr]


def _acquire() -> None:
    """Acquire every lock while no other thread imports; then hold Python's import lock, so that none starts."""
    until = time.monotonic() + LONGEST_IMPORT
    while True:
        while (busy := _first_busy()) is not None:
            busy.acquire()
            busy.release()
        _imp.acquire_lock()
        if not _is_importing() or time.monotonic() > until:
            return
        _imp.release_lock()
        _free_locks()
        time.sleep(0.001)


def _is_importing() -> bool:
    """Whether another thread is inside an import that a child could wait for."""
    me = get_ident()
    for name, reference in tuple(getattr(_bootstrap, "_module_locks", {}).items()):
        if name.partition(".")[0] in LIBRARIES:
            owner = getattr(reference(), "owner", None)
            if owner is not None and owner != me:
                return True
    return False


def _first_busy() -> Lock | None:
    """Acquire every lock and return None, or acquire none and return one that another thread holds."""
    taken: list[Lock] = []
    for lock in _every_lock():
        if not lock.acquire(blocking=False):
            for other in reversed(taken):
                other.release()
            return lock
        taken.append(lock)
    _held.append(taken)
    return None


def _release() -> None:
    _imp.release_lock()
    _free_locks()


def _free_locks() -> None:
    for lock in reversed(_held.pop()):
        lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_acquire, after_in_parent=_release, after_in_child=_release)
