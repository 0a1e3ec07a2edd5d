"""Reads and writes files that are verified before they are used.

A file contains the digest of its content, its key, and the content. Digest and key are compared before the content is
decoded, and the file must be a regular file of this user that others cannot write. A file that fails a check does not
count. Files are written atomically.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from matcalc.store.cache_folder import OTHERS, owners
from matcalc.store.events import note
from matcalc.store.thinning import use

MARK = b"matcalc compiled code 1\n"
DIGEST = 64
SUFFIX = ".nbc"
FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def file_name(key: str) -> str:
    """Return the name of the file for a key, which begins with the first word of the key."""
    return f"{key.partition(' ')[0]}.{hashlib.sha256(key.encode()).hexdigest()[:24]}{SUFFIX}"


def sealed(key: str, content: bytes) -> bytes:
    """Return the bytes of a file with this content for a key."""
    body = key.encode() + b"\0" + content
    return MARK + hashlib.sha256(body).hexdigest().encode() + body


def read_file(path: Path, may_be_roots: bool = False) -> tuple[str, bytes]:
    """Return the key and the content of a file; ("", b"") if it does not exist or cannot be trusted.

    The file must belong to this user or, if `may_be_roots`, to root.
    """
    try:
        content = _content(path, may_be_roots)
    except FileNotFoundError:
        return "", b""
    except OSError as fault:
        note(f"cannot read {path} ({fault.strerror or fault}): compiled again")
        return "", b""
    head, body = content[: len(MARK) + DIGEST], content[len(MARK) + DIGEST :]
    if head != MARK + hashlib.sha256(body).hexdigest().encode():
        return "", b""
    key, _, content = body.partition(b"\0")
    return key.decode(errors="replace"), content


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically, readable by this user alone.

    Raises: OSError; no temporary file is left then.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _content(path: Path, may_be_roots: bool) -> bytes:
    """Return the content of a regular file that only this user, or root if `may_be_roots`, can write.

    Raises: OSError for any other file.
    """
    handle = os.open(path, FLAGS)
    with os.fdopen(handle, "rb") as file:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise OSError("it is no regular file")
        if hasattr(os, "geteuid") and (info.st_uid not in owners(may_be_roots) or info.st_mode & OTHERS):
            raise OSError("others may have written it")
        use(handle, info.st_mtime)
        return file.read()
