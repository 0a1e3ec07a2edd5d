"""Shows on a terminal's standard error which operation is running, and for how long, after one second.

Nothing is written to a pipe or a file. The line is erased when the work is done.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import ContextDecorator
from threading import Event, Thread, current_thread, main_thread

PATIENCE = 1.0
"""Seconds before the first line."""

TURN = 0.5
"""Seconds between lines."""

_stack: list[str] = []
_ending: list[tuple[Event, Thread]] = []


class progress_line(ContextDecorator):  # noqa: N801 - used as a function
    """Show the text while a block or function runs; of several nested ones, the innermost."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None:
        if current_thread() is main_thread() and is_watched():
            _stack.append(self.what)
            if not _ending:
                done = Event()
                writer = Thread(target=_write_lines, args=(done, time.monotonic()), daemon=True)
                _ending.append((done, writer))
                writer.start()

    def __exit__(self, *_: object) -> None:
        if not _stack or current_thread() is not main_thread():
            return
        _stack.pop()
        if not _stack and _ending:
            done, writer = _ending.pop()
            done.set()
            writer.join()


def is_watched() -> bool:
    """Whether standard error is a terminal that can erase a line."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _write_lines(done: Event, start: float) -> None:
    """Write the current operation until `done` is set, then erase the line."""
    is_done = done.wait(PATIENCE)
    if is_done:
        return
    while not done.wait(TURN):
        what = _stack[-1] if _stack else ""
        sys.stderr.write(f"\r\x1b[K{what} ... {time.monotonic() - start:.0f} s")
        sys.stderr.flush()
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()
