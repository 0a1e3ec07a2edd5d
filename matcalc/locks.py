"""Locks that a fork waits for, so that a child process never inherits one that a lost thread holds.

A child has one thread, the one that forked; a lock that another thread held stays locked in it for ever, and what
that thread had half done stays half done. So `os.fork` first waits until every lock given to `held_at_fork` is free,
holds them all while the process is copied, and frees them on both sides. It takes all of them or none: while it waits
for one it holds no other, so that no order of locks has to be kept. Numba's and llvmlite's locks are among them
once those are loaded, since a thread that compiles holds them. A fork also waits until no other thread is inside an
import of matcalc or of a library that it imports: a child that imports the same module would wait for ever for the
thread that has half of it.

Who holds `loading` may tell Python's collector to wait: an import or a compilation makes a million objects, hardly any
of them garbage, and the collector would look at all objects of the process again and again for it.

Before a fork the hooks that were registered last run first, and some take locks that a thread which compiles may need
to go on: those of the modules imported here, which are therefore registered before.
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
"""Seconds that a fork waits for imports, at most: one may itself wait for the thread that forks."""

_locks: list[Lock] = []
_held: list[list[Lock]] = []


def held_at_fork(lock: L) -> L:
    """Return the lock, which `os.fork` from now on waits for."""
    _locks.append(lock)
    return lock


loading = held_at_fork(RLock())
"""Held while modules of matcalc are imported and while generated code is compiled and loaded."""


@contextmanager
def uncollected() -> Iterator[None]:
    """Let the collector wait, where it is at work; for a thread that holds `loading`, so that no fork is meanwhile."""
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
    """Take every lock, at a moment when no other thread imports; the lock of Python's imports then keeps it so."""
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
    """Take every lock and return None, or take none and return one that another thread holds."""
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
