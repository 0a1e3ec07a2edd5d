"""Kernels that come with the installation: one file for each level of processors, made by `matcalc warm --ship`.

A file is sealed as those of the cache are, and its name and key are what its kernels were made by and for: another
version of Numba, or another text of a kernel, finds nothing in it. It is read where nobody but this user or root can
have written it; a checkout has none.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from matcalc.store.cache_entries import file_name, note, read_file, sealed
from matcalc.store.cache_folder import untrusted
from matcalc.store.data_folders import data_folder

FOLDER = "objects"
"""The folder of these files, in that of the targets."""
STEM = "kernels"


def shipped(symbol: str, surroundings: str) -> bytes | None:
    """Return a kernel as it was made in these surroundings; None where it did not come with the installation."""
    found = _read(data_folder("codegen") / FOLDER, surroundings).get(symbol)
    return None if found is None else zlib.decompress(found)


def packed(kernels: Mapping[str, bytes], surroundings: str, folder: Path) -> Path:
    """Write the kernels of a level into a folder, by symbol; return the file."""
    blobs = {symbol: zlib.compress(content, 9) for symbol, content in sorted(kernels.items())}
    lengths = json.dumps({symbol: len(blob) for symbol, blob in blobs.items()}).encode()
    path = folder / file_name(STEM, surroundings)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(sealed(surroundings, b"\n".join([lengths, b"".join(blobs.values())])))
    return path


@cache
def _read(folder: Path, surroundings: str) -> Mapping[str, bytes]:
    """Return the packed kernels of a file by symbol, nothing where there is none that can be trusted."""
    path = (folder / file_name(STEM, surroundings)).resolve()
    if not path.is_file():
        return {}
    fault = untrusted(path.parent, may_be_roots=True)
    if fault:
        note(f"the kernels that come with matcalc are not used, {fault}: they are compiled")
        return {}
    content = read_file(path, surroundings, may_be_roots=True)
    if content is None:
        return {}
    head, _, blobs = content.partition(b"\n")
    kernels, start = {}, 0
    for symbol, length in json.loads(head).items():
        kernels[symbol] = blobs[start : start + length]
        start += length
    return kernels
