"""`matcalc serve`: say where the page is, open it, and serve it until interrupted."""

from __future__ import annotations

import signal
import sys
import webbrowser
from contextlib import suppress
from typing import Any

from matcalc.page.server import bound


def run(port: int, opened: bool = True) -> int:
    """Serve the page on a port of this machine, on another where it is taken; return the exit status."""
    server = bound(port)
    print(server.address, flush=True)
    if sys.stderr.isatty():
        print("Ctrl+C ends it.", file=sys.stderr)
    if opened:
        webbrowser.open(server.entrance)
    signal.signal(signal.SIGTERM, _interrupt)
    with suppress(KeyboardInterrupt):
        server.serve_forever()
    server.server_close()
    return 0


def _interrupt(*_: Any) -> None:
    """End as by Ctrl+C, which a process in the background of a shell does not hear."""
    raise KeyboardInterrupt
