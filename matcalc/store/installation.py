"""Computes a digest of the installation, which changes when a file of matcalc or of its libraries changes.

No file is read for the digest. It contains the size, the times of change and the inode number of each file; the file
system maintains these, and they differ for a copy of a file.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import matcalc
from matcalc.store.data_folders import data_folder

LIBRARIES = ("numpy", "scipy", "sympy", "lark", "numba", "llvmlite")
SETTINGS = "NUMBA_"
"""The prefix of the environment variables that change Numba's code."""
SUFFIXES = (".py", ".toml", ".lark", ".json", ".ll")


@cache
def installation() -> str:
    """Return the digest of matcalc's files, its data folders, its libraries, and this Python.

    If a file has changed since this process read it, the digest is valid for this process alone. A time in the future
    comes from another clock, or from this one before it was set back: such a file has not changed since.
    """
    digest = hashlib.sha256(f"{sys.version} {sys.implementation.cache_tag} {sys.platform}".encode())
    changed, now = False, time.time_ns()
    for folder in dict.fromkeys([Path(__file__).parents[1], data_folder("rules"), data_folder("codegen")]):
        for path, info in sorted(_files(str(folder)), key=lambda found: found[0]):
            digest.update(_stamp(path, info).encode("utf-8", "surrogateescape"))
            changed |= matcalc._loaded_at <= info.st_ctime_ns <= now
    for name in LIBRARIES:
        found = find_spec(name)
        digest.update(_stamp(name, os.stat(found.origin)).encode() if found and found.origin else b"none")
    if changed:
        digest.update(os.urandom(16))
    return digest.hexdigest()


@cache
def content_of_files() -> str:
    """Return the digest of the content of matcalc's files and data, independent of their location."""
    package, data = Path(__file__).parents[1], [data_folder("rules"), data_folder("codegen")]
    apart = {*data, package / "documentation"}
    digest = hashlib.sha256()
    for folder in (package, *data):
        for path in sorted(Path(path) for path, _ in _files(str(folder))):
            if folder != package or not apart & set(path.parents):
                content = path.read_bytes()
                digest.update(f"{folder.name}/{path.relative_to(folder).as_posix()} {len(content)}\n".encode())
                digest.update(content)
    return digest.hexdigest()


def settings() -> str:
    """Return the present environment variables that change compiled code."""
    return " ".join(f"{name}={value!r}" for name, value in sorted(os.environ.items()) if name.startswith(SETTINGS))


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _files(entry.path)
            elif entry.name.endswith(SUFFIXES):
                yield entry.path, entry.stat()


def _stamp(name: str, info: os.stat_result) -> str:
    return f"{name} {info.st_size} {info.st_mtime_ns} {info.st_ctime_ns} {info.st_ino}\n"
