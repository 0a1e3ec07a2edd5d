"""Kernels that come with the installation: one file for each level of processors (`store/shipped_files.py`).

The key of a file is what its kernels were made by and for: another version of Numba finds nothing, and another text of
a kernel is another symbol.
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
    """Return a kernel as it was made in these surroundings; None where it did not come with the installation."""
    found = _read(surroundings).get(symbol)
    return None if found is None else zlib.decompress(found)


def packed(kernels: Mapping[str, bytes], surroundings: str, folder: Path) -> Path:
    """Write the kernels of a level into a folder, by symbol; return the file."""
    blobs = {symbol: zlib.compress(content, 9) for symbol, content in sorted(kernels.items())}
    lengths = json.dumps({symbol: len(blob) for symbol, blob in blobs.items()}).encode()
    return shipped_files.write(STEM, surroundings, b"\n".join([lengths, b"".join(blobs.values())]), folder)


@cache
def _read(surroundings: str) -> Mapping[str, bytes]:
    """Return the packed kernels of a level by symbol, none where there is no file."""
    content = shipped_files.read(STEM, surroundings)
    if content is None:
        return {}
    head, _, blobs = content.partition(b"\n")
    kernels, start = {}, 0
    for symbol, length in json.loads(head).items():
        kernels[symbol] = blobs[start : start + length]
        start += length
    return kernels
