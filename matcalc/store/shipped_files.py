"""Reads and writes the files that a wheel ships beside its sources; `matcalc warm --ship` creates them.

A file is sealed like those of the cache. Its name and key are derived from its inputs, so it is found only for the
same inputs. It is read only if nobody but this user or root can have written it. A checkout has no such files.
"""

from __future__ import annotations

from pathlib import Path

from matcalc.store.cache_entries import file_name, note, read_file, sealed
from matcalc.store.cache_folder import untrusted
from matcalc.store.data_folders import data_folder

FOLDER = "objects"
"""The folder of these files, within the folder of the targets."""


def folder() -> Path:
    """Return the folder of the shipped files of this installation."""
    return data_folder("codegen") / FOLDER


def read(stem: str, key: str) -> bytes | None:
    """Return the content shipped for this key; None if there is no trusted file."""
    path = (folder() / file_name(stem, key)).resolve()
    if not path.is_file():
        return None
    fault = untrusted(path.parent, may_be_roots=True)
    if fault:
        note(f"the shipped compiled files are not used, since {fault}: they are compiled here")
        return None
    return read_file(path, key, may_be_roots=True)


def write(stem: str, key: str, content: bytes, place: Path) -> Path:
    """Write a file to be shipped into a folder; return its path."""
    place.mkdir(parents=True, exist_ok=True)
    path = place / file_name(stem, key)
    path.write_bytes(sealed(key, content))
    return path
