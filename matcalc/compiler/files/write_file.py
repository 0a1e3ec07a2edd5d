"""Writes a file for the user: as a whole or not at all, with the mode of the user's other files.

The new text replaces the file in one step, so a full disk or a killed process leaves the old file intact. A symbolic
link is followed: its target is replaced, not the link. A file with several hard links is overwritten in its own inode.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from uuid import uuid4


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8. An existing file keeps its mode; a new file gets the mode of the umask.

    Raises: OSError with the path, also for a folder, a device, a pipe or a socket: these are never written to.
    """
    content = text.encode()
    try:
        target = Path(os.path.realpath(path))
        info = _regular(target)
        if info is not None and info.st_nlink > 1:
            _write(os.open(target, os.O_WRONLY | os.O_TRUNC), content)
            return
        _replace(target, info, content)
    except OSError as fault:
        raise type(fault)(fault.errno, fault.strerror or str(fault), os.fspath(path)) from None


def _regular(target: Path) -> os.stat_result | None:
    """Return the status of the file, or None if it does not exist; raise OSError if it cannot be replaced."""
    try:
        info = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(info.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(info.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return info


def _replace(target: Path, info: os.stat_result | None, content: bytes) -> None:
    temporary = target.with_name(f".{uuid4().hex}.part")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o666)
    try:
        if info is not None and hasattr(os, "fchown"):
            with suppress(OSError):
                os.fchown(handle, info.st_uid, info.st_gid)
        _write(handle, content)
        if info is not None:
            os.chmod(temporary, stat.S_IMODE(info.st_mode))
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _write(handle: int, content: bytes) -> None:
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(handle)
