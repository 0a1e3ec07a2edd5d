"""A line on a terminal's standard error for what takes longer than a second: what is under way, and since when.

Nothing is written to a pipe or a file, and the line is gone when the work is done.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import ContextDecorator
from threading import Event, Thread, current_thread, main_thread

PATIENCE = 1.0
"""Seconds before anything is said."""

TURN = 0.5
"""Seconds between lines."""

_stack: list[str] = []
_ending: list[tuple[Event, Thread]] = []


class under_way(ContextDecorator):  # noqa: N801 - used as a function
    """Say what is under way while a block or a function runs, the innermost of several."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None:
        if current_thread() is main_thread() and is_watched():
            _stack.append(self.what)
            if not _ending:
                done = Event()
                teller = Thread(target=_tell, args=(done, time.monotonic()), daemon=True)
                _ending.append((done, teller))
                teller.start()

    def __exit__(self, *_: object) -> None:
        if not _stack or current_thread() is not main_thread():
            return
        _stack.pop()
        if not _stack and _ending:
            done, teller = _ending.pop()
            done.set()
            teller.join()


def is_watched() -> bool:
    """Whether standard error is a terminal that can take back a line."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _tell(done: Event, start: float) -> None:
    """Write what is under way until it is done, then take the line back."""
    told = done.wait(PATIENCE)
    if told:
        return
    while not done.wait(TURN):
        what = _stack[-1] if _stack else ""
        sys.stderr.write(f"\r\x1b[K{what} ... {time.monotonic() - start:.0f} s")
        sys.stderr.flush()
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()
