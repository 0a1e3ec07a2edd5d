"""Finds the cache folder of compiled code and checks that it can be trusted.

`MATCALC_CACHE` names a folder, or is `0` for a temporary folder of this process. If unset, the user's cache folder
is used. Files of the folder are run as code, so only this user may have written them: the folder must belong to this
user, and nobody else may write to it, or replace it or a folder above it. It is created with mode 0700. A folder that
fails a check, or cannot be written to, is replaced by a temporary one, and `Folder.note` contains the reason. An
existing folder that cannot be written to, as on a read-only mount or in an image, is still read; it may belong to root.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

OTHERS = stat.S_IWGRP | stat.S_IWOTH
LINKS = 40
"""The most symbolic links followed in one path; Linux has the same limit."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder for compiled code, `path` None if there is none; `note` is a message for the user, or empty.

    `read_only` is a further folder that is read but never written.
    """

    path: Path | None
    lasting: bool
    note: str = ""
    read_only: Path | None = None


def cache_folder() -> Folder:
    """Return the folder for the present `MATCALC_CACHE`: it exists, is writable, and only this user can write to it."""
    setting = os.environ.get("MATCALC_CACHE", "")
    if setting == "0":
        return Folder(_temporary(), lasting=False)
    try:
        path = (_expanded(setting) if setting else _user_folder()).absolute()
        unwritable = _made(path)
        fault = unwritable or untrusted(path)
    except OSError as error:
        return _instead(f"cannot write to {setting or 'the cache folder'} ({error.strerror or error})")
    if unwritable:
        return _instead(fault, path if _is_readable(path) else None)
    return _instead(fault) if fault else Folder(path, lasting=True)


def _is_readable(path: Path) -> bool:
    """Whether a folder that cannot be written to exists, and only this user or root could have filled it."""
    try:
        return path.is_dir() and not untrusted(path, may_be_roots=True)
    except OSError:
        return False


def _instead(fault: str, read_only: Path | None = None) -> Folder:
    kept = "compiled code is kept for this process only"
    if read_only is not None:
        kept = f"its entries are read, and new {kept}"
    return Folder(_temporary(), False, f"{fault}: {kept}", read_only)


def _expanded(setting: str) -> Path:
    try:
        return Path(setting).expanduser()
    except RuntimeError as error:  # ~nosuchuser
        raise OSError(str(error)) from None


def _user_folder() -> Path:
    import platformdirs

    path = Path(platformdirs.user_cache_dir("matcalc", appauthor=False))
    if not path.is_absolute():
        raise OSError("the user has no home")
    return path


@cache
def _made(path: Path) -> str:
    """Create the folder and its parents, for this user alone; return why it cannot be written to, or ""."""
    try:
        for folder in (*reversed(path.parents), path):
            if not folder.exists():
                folder.mkdir(mode=0o700, exist_ok=True)
        if not untrusted(path):
            with tempfile.TemporaryFile(dir=path):
                pass
    except OSError as fault:
        return f"cannot write to {path} ({fault.strerror or fault})"
    return ""


def untrusted(path: Path, may_be_roots: bool = False) -> str:
    """Return why others could change the folder or its path, or "" if they cannot.

    The folder must belong to this user, or to root if `may_be_roots`, and must not be writable by others. The folders
    and links above it must belong to this user or root, and must not be writable by others. A folder with the
    sticky bit may be, since this bit prevents the replacement of foreign files.
    """
    if not hasattr(os, "geteuid"):
        return ""
    me = os.geteuid()
    chain = list(_chain(path))
    last = chain.pop()[1]
    if not stat.S_ISDIR(last.st_mode):
        return f"{path} is no folder"
    if last.st_uid not in owners(may_be_roots):
        return f"{path} belongs to another user"
    if last.st_mode & OTHERS:
        return f"others may write to {path}"
    for above, info in chain:
        if info.st_uid not in (0, me):
            return f"{above}, which leads to {path}, belongs to another user"
        if stat.S_ISDIR(info.st_mode) and info.st_mode & OTHERS and not (info.st_mode & stat.S_ISVTX or _own(info, me)):
            return f"others may write to {above}, which leads to {path}"
    return ""


def owners(may_be_roots: bool) -> tuple[int, ...]:
    """Return the users whose files are trusted: this one, and root if `may_be_roots`."""
    return (os.geteuid(), 0) if may_be_roots else (os.geteuid(),)


def _chain(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield each folder and link along an absolute path, the folder itself last."""
    here = Path(path.anchor)
    yield here, here.lstat()
    waiting = list(reversed(path.parts[1:]))
    links = 0
    while waiting:
        part = waiting.pop()
        here = here.parent if part == os.pardir else here / part
        info = here.lstat()
        yield here, info
        if stat.S_ISLNK(info.st_mode):
            links += 1
            if links > LINKS:
                raise OSError(f"{path} has too many links")
            target = Path(os.readlink(here))
            here = Path(target.anchor) if target.is_absolute() else here.parent
            waiting += reversed(target.parts[1:] if target.is_absolute() else target.parts)
            if not waiting:
                yield here, here.lstat()


def _own(info: os.stat_result, me: int) -> bool:
    """Whether write access is limited to this user's own group: of the same name and without other members."""
    if info.st_mode & stat.S_IWOTH or me == 0:
        return False
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(me), grp.getgrgid(info.st_gid)
    except KeyError:
        return False
    return group.gr_name == user.pw_name and group.gr_gid == user.pw_gid and not set(group.gr_mem) - {user.pw_name}


@cache
def _temporary() -> Path | None:
    """Return one temporary folder for this process; None if it cannot be created."""
    try:
        path = Path(tempfile.mkdtemp(prefix="matcalc-"))
    except OSError:
        return None
    atexit.register(_remove, path, os.getpid())
    return path


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked child leaves the removal to its parent
        shutil.rmtree(path, ignore_errors=True)
