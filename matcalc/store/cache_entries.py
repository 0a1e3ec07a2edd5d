"""Stores compiled code on disk: one file per function, written atomically and verified before it is used.

A file contains the digest of its content, its key, and Numba's pickle. Digest and key are compared before any of the
pickle is read, and the file must be a regular file of this user that others cannot write. A file that fails a check
is ignored; the function is then compiled again. The key contains everything that the code depends on, and the file
name is derived from it, so other versions and processors use other files. Faults of the disk raise no error: they are
noted, and the code is cached in this process only.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from matcalc.store.cache_folder import OTHERS, Folder, cache_folder, owners
from matcalc.store.thinning import has_written, use

MARK = b"matcalc compiled code 1\n"
DIGEST = 64
SUFFIX = ".nbc"
FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(slots=True)
class Record:
    """Events while code was loaded: the number of compiled functions, and notes for the user."""

    built: int = 0
    notes: dict[str, None] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """All notes as one text."""
        return "; ".join(self.notes)


class _Open(threading.local):
    def __init__(self) -> None:
        self.records: list[Record] = []


_open = _Open()


@contextmanager
def recording() -> Iterator[Record]:
    """Record the compilations and notes of this thread during the block."""
    record = Record()
    _open.records.append(record)
    try:
        yield record
    finally:
        _open.records.pop()


def note(text: str) -> None:
    """Add a note for the user to all open records."""
    for record in _open.records:
        record.notes[text] = None


def count_built() -> None:
    """Count a compiled function in all open records."""
    for record in _open.records:
        record.built += 1


def read(stem: str, key: str) -> bytes | None:
    """Return the pickle written for this key; None without a trusted file."""
    folder = _folder()
    for place, may_be_roots in ((folder.path, False), (folder.read_only, True)):
        content = None if place is None else read_file(place / file_name(stem, key), key, may_be_roots)
        if content is not None:
            return content
    return None


def read_file(path: Path, key: str, may_be_roots: bool = False) -> bytes | None:
    """Return the content of a file written for this key; None if it does not exist or cannot be trusted.

    The file must belong to this user or, if `may_be_roots`, to root.
    """
    try:
        content = _content(path, may_be_roots)
    except FileNotFoundError:
        return None
    except OSError as fault:
        note(f"cannot read {path} ({fault.strerror or fault}): compiled again")
        return None
    head, body = content[: len(MARK) + DIGEST], content[len(MARK) + DIGEST :]
    start = key.encode() + b"\0"
    if head != MARK + hashlib.sha256(body).hexdigest().encode() or not body.startswith(start):
        return None
    return body[len(start) :]


def has(stem: str, key: str) -> bool:
    """Whether there is a file for this key; its content is verified when it is read."""
    folder = _folder()
    places = (place for place in (folder.path, folder.read_only) if place is not None)
    return any((place / file_name(stem, key)).is_file() for place in places)


def write(stem: str, key: str, pickled: bytes) -> None:
    """Write a pickle for this key."""
    folder = _folder().path
    if folder is None:
        return
    content = sealed(key, pickled)
    try:
        write_whole(folder / file_name(stem, key), content)
    except OSError as fault:
        note(f"cannot write to {folder} ({fault.strerror or fault}): compiled code is kept for this process only")
    else:
        has_written(folder, len(content))


def sealed(key: str, content: bytes) -> bytes:
    """Return the bytes of a file with this content for a key."""
    body = key.encode() + b"\0" + content
    return MARK + hashlib.sha256(body).hexdigest().encode() + body


def file_name(stem: str, key: str) -> str:
    """Return the name of the file for a key."""
    return f"{stem[:100]}.{hashlib.sha256(key.encode()).hexdigest()[:24]}{SUFFIX}"


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


def _folder() -> Folder:
    folder = cache_folder()
    if folder.note:
        note(folder.note)
    return folder


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
