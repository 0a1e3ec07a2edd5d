"""The folder that compiled code is kept in: one decision per process and setting of `MATCALC_CACHE`.

`MATCALC_CACHE` names a folder, or is `0`: nothing outlives the process. Unset, it is the user's cache folder.
A folder that cannot be written to is replaced by a temporary one, and `Folder.note` says so.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Folder:
    """Where generated modules are written; `note` is what the user should know, or empty."""

    path: Path
    lasting: bool
    note: str = ""


def cache_folder() -> Folder:
    """Return the folder for the present value of `MATCALC_CACHE`, made and known to be writable."""
    return _folder(os.environ.get("MATCALC_CACHE", ""))


@cache
def _folder(setting: str) -> Folder:
    if setting == "0":
        return Folder(_temporary(), lasting=False)
    path = Path(setting).expanduser().absolute() if setting else _user_folder()
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as fault:
        reason = fault.strerror or str(fault)
        note = f"cannot write to {path} ({reason}): compiled code is kept for this process only"
        return Folder(_temporary(), lasting=False, note=note)
    return Folder(path, lasting=True)


def _user_folder() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("matcalc", appauthor=False))


def _temporary() -> Path:
    path = Path(tempfile.mkdtemp(prefix="matcalc-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path
