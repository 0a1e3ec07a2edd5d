"""Reads and writes kernels shipped with the installation, one file per processor level (`store/shipped_files.py`).

The key of a file is its build provenance, so another version of Numba finds no kernels. A kernel's symbol contains the
digest of its text, so a changed kernel is not found either.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from matcalc.store import shipped_files

STEM = "kernels"


def shipped(symbol: str, surroundings: str) -> bytes | None:
    """Return the object code of a kernel built in these surroundings; None if the installation does not ship it."""
    found = _read(surroundings).get(symbol)
    return None if found is None else zlib.decompress(found)


def packed(kernels: Mapping[str, bytes], surroundings: str, folder: Path) -> Path:
    """Write the kernels of a level, by symbol, into one file of the folder and return its path."""
    blobs = {symbol: zlib.compress(content, 9) for symbol, content in sorted(kernels.items())}
    lengths = json.dumps({symbol: len(blob) for symbol, blob in blobs.items()}).encode()
    return shipped_files.write(STEM, surroundings, b"\n".join([lengths, b"".join(blobs.values())]), folder)


@cache
def _read(surroundings: str) -> Mapping[str, bytes]:
    """Return the compressed kernels of a level by symbol; empty if there is no file."""
    content = shipped_files.read(STEM, surroundings)
    if content is None:
        return {}
    head, _, blobs = content.partition(b"\n")
    kernels, start = {}, 0
    for symbol, length in json.loads(head).items():
        kernels[symbol] = blobs[start : start + length]
        start += length
    return kernels
