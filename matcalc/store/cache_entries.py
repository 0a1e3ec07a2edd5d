"""Compiled code on disk: one file for each function, written whole or not at all, read only if it is what was written.

A file holds the digest of all that follows, the key that it was made for, and Numba's pickle. The digest is
compared, and the key, before any of the pickle is read, and the file must be a regular one of this user that others
may not write. What does not fit is no entry: it costs a compilation and nothing else. Everything that the code
depends on is in the key, and the name of the file is made of the key, so that other versions and processors have
files of their own. No fault of the disk is an error: it is noted, and the code lives for this process alone.
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
    """What happened while code was loaded: how many functions were compiled, and notes for the user."""

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
    """Record what this thread compiles and notes meanwhile."""
    record = Record()
    _open.records.append(record)
    try:
        yield record
    finally:
        _open.records.pop()


def note(text: str) -> None:
    """Tell those who record something that the user should know."""
    for record in _open.records:
        record.notes[text] = None


def count_built() -> None:
    """Tell those who record that a function is compiled."""
    for record in _open.records:
        record.built += 1


def read(stem: str, key: str) -> bytes | None:
    """Return the pickle that was written for this key, None where there is none that can be trusted."""
    folder = _folder()
    for place, may_be_roots in ((folder.path, False), (folder.read_only, True)):
        content = None if place is None else read_file(place / file_name(stem, key), key, may_be_roots)
        if content is not None:
            return content
    return None


def read_file(path: Path, key: str, may_be_roots: bool = False) -> bytes | None:
    """Return what a file holds that was written for this key, None where it is not there or cannot be trusted.

    The file is this user's, or root's where that is said.
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
    """Whether there is a file for this key; what it holds is seen by who reads it."""
    folder = _folder()
    places = (place for place in (folder.path, folder.read_only) if place is not None)
    return any((place / file_name(stem, key)).is_file() for place in places)


def write(stem: str, key: str, pickled: bytes) -> None:
    """Keep a pickle for this key."""
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
    """Return what a file holds that keeps this content for a key."""
    body = key.encode() + b"\0" + content
    return MARK + hashlib.sha256(body).hexdigest().encode() + body


def file_name(stem: str, key: str) -> str:
    """Return the name of the file for a key."""
    return f"{stem[:100]}.{hashlib.sha256(key.encode()).hexdigest()[:24]}{SUFFIX}"


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, for this user alone, such that others see all of it or none.

    Raises: OSError; nothing is left behind then.
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
    """Return the content of a regular file that only this user may write, or root where that is said.

    Raises: OSError.
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
