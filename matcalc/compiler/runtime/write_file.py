"""Write a file for its user: whole or not at all, with the mode that the user's other files have.

The new text replaces a file in one step, so that a full disk or a kill leaves the old one. Links are followed first,
so that it is the file that is replaced and not the link; a file that has several names is written where it is.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from uuid import uuid4


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8. One that is there keeps its mode, a new one has that of the umask.

    Raises: OSError with the path, also for a folder, a device, a pipe or a socket, which are never written to.
    """
    content = text.encode()
    try:
        place = Path(os.path.realpath(path))
        info = _regular(place)
        if info is not None and info.st_nlink > 1:
            _write(os.open(place, os.O_WRONLY | os.O_TRUNC), content)
            return
        _replace(place, info, content)
    except OSError as fault:
        raise type(fault)(fault.errno, fault.strerror or str(fault), os.fspath(path)) from None


def _regular(place: Path) -> os.stat_result | None:
    """Return what is known of the file, None where there is none yet."""
    try:
        info = place.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(info.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(info.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    if not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return info


def _replace(place: Path, info: os.stat_result | None, content: bytes) -> None:
    temporary = place.with_name(f".{uuid4().hex}.part")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o666)
    try:
        if info is not None and hasattr(os, "fchown"):
            with suppress(OSError):
                os.fchown(handle, info.st_uid, info.st_gid)
        _write(handle, content)
        if info is not None:
            os.chmod(temporary, stat.S_IMODE(info.st_mode))
        os.replace(temporary, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _write(handle: int, content: bytes) -> None:
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(handle)
