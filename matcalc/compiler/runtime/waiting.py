"""Shows a progress message on a terminal while an operation takes longer than two seconds."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 2.0  # seconds
ERASE = "\r\x1b[K"


@contextmanager
def said(message: str) -> Iterator[None]:
    """Show a message on standard error while the block runs long; do nothing if standard error is no terminal."""
    stream = sys.stderr
    if stream is None or not stream.isatty():
        yield
        return
    done = threading.Event()

    def wait() -> None:
        if not done.wait(PATIENCE):
            stream.write(f"{message} ...")
            stream.flush()
            done.wait()
            stream.write(ERASE)
            stream.flush()

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    try:
        yield
    finally:
        done.set()
        waiting.join()
