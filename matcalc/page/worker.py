"""Runs the process that answers questions one at a time; it is killed if it takes too long.

It holds no secret, opens no file named in a question, and has a memory limit.
"""

from __future__ import annotations

import json
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection

MEMORY = 3 << 30
"""The limit of address space in bytes (3 GB); loaded libraries take 1 GB of it."""

TOO_LARGE = "This needs more memory than the page allows. A shorter formula, or the command line, may do."


def work(connection: Connection, seconds: float) -> None:
    """Answer questions until the server closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_memory()
    from matcalc.page.answers import answered, warm_up

    warm_up()
    with suppress(EOFError, OSError):
        connection.send_bytes(b"ready")
        while True:
            request = json.loads(connection.recv_bytes())
            if hasattr(signal, "alarm"):  # in case the server dies meanwhile
                signal.alarm(int(seconds) + 5)
            connection.send_bytes(json.dumps(answer_within(answered, request)).encode())
            if hasattr(signal, "alarm"):
                signal.alarm(0)


def answer_within(answered: object, request: object) -> object:
    """Return an answer, or an error message for too little memory, too deep a recursion, or a fault of matcalc."""
    assert callable(answered)
    try:
        return answered(request)
    except (MemoryError, RecursionError):
        return {"error": {"message": TOO_LARGE}}
    except Exception as fault:
        return {"error": {"message": f"This is a fault of matcalc, please report it: {fault!r}"[:500]}}


def limit_memory() -> None:
    """Limit the memory of this process, if the system supports that."""
    if sys.platform != "win32":
        import resource

        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
