"""Admits requests only from this server's page, in a browser on this machine, with the token.

Another site in the browser can send requests to this server, and can make its own name resolve to this machine. Such
requests have another Origin or Host, and no token. Files of the page are public and need no token.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from email.message import Message

TOKEN = "X-Matcalc-Token"
JSON = "application/json"
LARGEST = 64 * 1024
"""The most bytes of a question."""

Refusal = tuple[int, str]
POLICY = "; ".join([
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "font-src 'self'", "img-src 'self'",
    "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    "require-trusted-types-for 'script'", "trusted-types 'none'",
])  # fmt: skip
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""The headers of every answer: the page loads nothing from elsewhere, runs no text as code, and is in no frame."""


def stranger(headers: Message, port: int, is_followed: bool = False) -> Refusal | None:
    """Return why a request cannot come from this server's page; None if it can.

    A Host other than this machine's is a foreign name that resolves here. `is_followed` marks a request that only opens
    the page by a link, which any site may contain.
    """
    hosts = [f"127.0.0.1:{port}", f"localhost:{port}"]
    host = _only(headers.get_all("Host"))
    if host not in hosts:
        return 421, "this server answers to 127.0.0.1 and localhost alone"
    if headers.get_all("Origin") and _only(headers.get_all("Origin")) != f"http://{host}":
        return 403, "this server answers to its own page alone"
    if headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none") and not is_followed:
        return 403, "this server answers to its own page alone"
    return None


def unasked(headers: Message, token: str) -> Refusal | None:
    """Return why a request is no valid question of the page; None if its body may be read."""
    if _only(headers.get_all("Origin")) is None:
        return 403, "a question says where it comes from"
    given = _only(headers.get_all(TOKEN)) or ""
    if not token or not hmac.compare_digest(given.encode("utf-8", "replace"), token.encode()):
        return 401, "the token is not that of this server: open the address that `matcalc serve` printed"
    if headers.get("Transfer-Encoding") or headers.get("Content-Encoding"):
        return 411, "a question is sent whole, with its length"
    if (headers.get("Content-Type") or "").partition(";")[0].strip().lower() != JSON:
        return 415, f"a question is {JSON}"
    length = _only(headers.get_all("Content-Length")) or ""
    if not (length.isascii() and length.isdigit()):
        return 411, "a question is sent whole, with its length"
    if len(length) > 9 or int(length) > LARGEST:
        return 413, f"a question has at most {LARGEST} bytes"
    return None


def _only(values: Sequence[str] | None) -> str | None:
    """Return the value of a header that occurs exactly once, else None."""
    return values[0] if values and len(values) == 1 else None
