"""Files that come with the installation beside its sources: made of these by `matcalc warm --ship`, for a wheel.

A file is sealed as those of the cache are, and its name and key say what it was made of: it is found by nobody else. It
is read where nobody but this user or root can have written it; a checkout has none.
"""

from __future__ import annotations

from pathlib import Path

from matcalc.store.cache_entries import file_name, note, read_file, sealed
from matcalc.store.cache_folder import untrusted
from matcalc.store.data_folders import data_folder

FOLDER = "objects"
"""The folder of these files, in that of the targets."""


def folder() -> Path:
    """Return where these files are, in this installation."""
    return data_folder("codegen") / FOLDER


def read(stem: str, key: str) -> bytes | None:
    """Return what was shipped for this key; None where there is nothing that can be trusted."""
    path = (folder() / file_name(stem, key)).resolve()
    if not path.is_file():
        return None
    fault = untrusted(path.parent, may_be_roots=True)
    if fault:
        note(f"what matcalc brings compiled is not used, {fault}: it is compiled here")
        return None
    return read_file(path, key, may_be_roots=True)


def write(stem: str, key: str, content: bytes, place: Path) -> Path:
    """Write a file into a folder, to be shipped; return it."""
    place.mkdir(parents=True, exist_ok=True)
    path = place / file_name(stem, key)
    path.write_bytes(sealed(key, content))
    return path
