"""The process that answers: it is given questions one at a time, and is ended when it takes too long.

It holds no secret, opens no file that a question names, and cannot take more memory than it is allowed.
"""

from __future__ import annotations

import json
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection

MEMORY = 3 << 30
"""Bytes of address space; libraries that are loaded take one of them."""

TOO_LARGE = "This needs more memory than the page allows. A shorter formula, or the command line, may do."


def work(connection: Connection, seconds: float) -> None:
    """Answer what comes until the server is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_memory()
    from matcalc.page.answers import answered, warm_up

    warm_up()
    with suppress(EOFError, OSError):
        connection.send_bytes(b"ready")
        while True:
            asked = json.loads(connection.recv_bytes())
            if hasattr(signal, "alarm"):  # should the server die in the meantime
                signal.alarm(int(seconds) + 5)
            connection.send_bytes(json.dumps(answer_within(answered, asked)).encode())
            if hasattr(signal, "alarm"):
                signal.alarm(0)


def answer_within(answered: object, asked: object) -> object:
    """Return an answer, or in words that there was not memory or depth enough for it, or that matcalc has a fault."""
    assert callable(answered)
    try:
        return answered(asked)
    except (MemoryError, RecursionError):
        return {"error": {"message": TOO_LARGE}}
    except Exception as fault:
        return {"error": {"message": f"This is a fault of matcalc, please report it: {fault!r}"[:500]}}


def limit_memory() -> None:
    """Let no allocation go beyond what is allowed, where the system can say so."""
    if sys.platform != "win32":
        import resource

        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
