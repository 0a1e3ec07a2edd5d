"""Serves the files of the page, POST /ask, and POST /enter, on loopback with one request per connection.

Other users of the machine can read the command line that starts the browser. Therefore it contains only a key that is
valid for one entry; in exchange for the key the page gets the token.
"""

from __future__ import annotations

import io
import json
import os
import secrets
import sys
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from select import select
from socket import MSG_PEEK, socket
from threading import BoundedSemaphore, Lock
from typing import Any

from matcalc.page.gate import HEADERS, JSON, stranger, unasked
from matcalc.page.pool import Answer, Pool
from matcalc.page.questions import Refused, question

ASSETS = Path(__file__).with_name("assets")
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": JSON,
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    "": "text/plain; charset=utf-8",
}
AT_ONCE = 32
"""The most connections that are open at the same time."""

PATIENCE = 10.0
"""Seconds within which a request must arrive."""


def assets() -> Mapping[str, tuple[bytes, str]]:
    """Return contents and types of all served files by address, so that no request path is looked up on disk."""
    files = [path for path in sorted(ASSETS.rglob("*")) if path.is_file() and path.suffix in TYPES]
    found = {f"/{path.relative_to(ASSETS).as_posix()}": (path.read_bytes(), TYPES[path.suffix]) for path in files}
    return {"/": found["/index.html"], **found}


class Server(ThreadingHTTPServer):
    """The server of the page on a port of this machine (0: any free port); `address` opens it and has the token."""

    daemon_threads = True
    request_queue_size = 64
    allow_reuse_address = os.name != "nt"

    def __init__(self, port: int = 0, pool: Pool | None = None) -> None:
        self.pool = pool
        super().__init__(("127.0.0.1", port), Handler)
        self.token = secrets.token_urlsafe(24)
        self.once = secrets.token_urlsafe(24)
        self.entering = Lock()
        self.files = assets()
        self.open_lines = BoundedSemaphore(AT_ONCE)
        self.pool = pool or Pool()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/#token={self.token}"

    @property
    def entrance(self) -> str:
        """The address that opens the page, valid once."""
        return f"http://127.0.0.1:{self.port}/#once={self.once}"

    def enter(self) -> Answer | None:
        """Return the token on the first call, None later."""
        with self.entering:
            once, self.once = self.once, ""
        return {"token": self.token} if once else None

    def process_request(self, request: Any, client_address: Any) -> None:
        if self.open_lines.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.open_lines.release()

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: Any) -> None:
        """Report an error, unless the other side closed the connection."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        super().server_close()
        if self.pool is not None:
            self.pool.close()


class Arriving(io.RawIOBase):
    """The bytes that arrive on a connection until a deadline, however slowly they come."""

    def __init__(self, connection: socket, seconds: float) -> None:
        self.connection, self.until = connection, time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes. Raises: TimeoutError after the deadline."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the request did not arrive in time")
        self.connection.settimeout(left)
        return self.connection.recv_into(buffer)


class Handler(BaseHTTPRequestHandler):
    """The handler of one request, which must arrive as a whole within PATIENCE seconds."""

    server: Server
    timeout = PATIENCE
    server_version = "matcalc"
    sys_version = ""

    def setup(self) -> None:
        super().setup()
        self.rfile = io.BufferedReader(Arriving(self.connection, PATIENCE))

    def do_GET(self) -> None:
        is_followed = (
            self.headers.get("Sec-Fetch-Mode") == "navigate" and self.headers.get("Sec-Fetch-Dest") == "document"
        )
        refused = stranger(self.headers, self.server.port, is_followed)
        if refused:
            return self.send_error(*refused)
        found = self.server.files.get(self.path.partition("?")[0])
        if found is None:
            return self.send_error(404, "there is no such page")
        self._send(200, *found)
        return None

    do_HEAD = do_GET

    def do_POST(self) -> None:
        token = self.server.once if self.path == "/enter" else self.server.token
        refused = stranger(self.headers, self.server.port) or unasked(self.headers, token)
        if refused:
            return self.send_error(*refused)
        if self.path == "/enter":
            entered = self.server.enter()
            return self._answer(200, entered) if entered else self.send_error(401, "this key was used before")
        if self.path != "/ask":
            return self.send_error(404, "there is no such page")
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) != length:
            return self.send_error(400, "the question is not whole")
        try:
            record = json.loads(body)
            question(record)
        except (Refused, ValueError, RecursionError) as error:
            return self.send_error(400, str(error) if isinstance(error, Refused) else "a question is JSON")
        assert self.server.pool is not None
        self._answer(200, self.server.pool.ask(json.dumps(record).encode(), self._is_gone))
        return None

    def _is_gone(self) -> bool:
        """Whether the browser has closed the connection."""
        try:
            return bool(select([self.connection], [], [], 0)[0]) and not self.connection.recv(1, MSG_PEEK)
        except OSError:
            return True

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer with the reason why a request is rejected."""
        self._answer(int(code), {"error": {"message": message or "refused"}})

    def _answer(self, code: int, answer: Answer) -> None:
        self._send(code, json.dumps(answer).encode(), JSON)

    def _send(self, code: int, body: bytes, kind: str) -> None:
        self.connection.settimeout(PATIENCE)  # for sending the whole answer
        self.send_response(code)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log, since it would contain text that the user typed."""


def bound(port: int) -> Server:
    """Return a server on this port, or on a free one if it is in use."""
    try:
        return Server(port)
    except (OSError, OverflowError):
        return Server(0)
