"""Implements `matcalc serve`: prints the address of the page, opens it, and serves it until interrupted."""

from __future__ import annotations

import signal
import sys
import webbrowser
from contextlib import suppress
from typing import Any

from matcalc.page.server import bound


def run(port: int, opened: bool = True) -> int:
    """Serve the page on a port of this machine, or on a free one if the port is in use; return the exit status."""
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
    """End as after Ctrl+C, which background processes of a shell do not receive."""
    raise KeyboardInterrupt
