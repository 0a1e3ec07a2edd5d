"""Keeps artefacts on disk: (kind, inputs) -> bytes, in the cache folder or shipped in a wheel.

`kinds.py` has the kinds, with all that a key depends on. What is missing, damaged, foreign or not readable is a miss:
it is made again. Faults of the disk raise no error: they are noted, and the artefact lives in this process only.
What a wheel ships is copied into the cache at its first use. A checkout ships nothing.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from matcalc.store.cache_folder import Folder, cache_folder, untrusted
from matcalc.store.conditions import present
from matcalc.store.data_folders import data_folder
from matcalc.store.events import note
from matcalc.store.kinds import KINDS
from matcalc.store.sealed_files import SUFFIX, file_name, read_file, sealed, write_whole
from matcalc.store.thinning import has_written

SHIPPED = "objects"
"""The folder of the shipped files, within the folder of the targets."""
PACK = "pack"


def read(kind: str, inputs: Sequence[object] = ()) -> Any:
    """Return the artefact of a kind for these inputs; None if there is no trusted one."""
    key = key_of(kind, inputs)
    content = _cached(key)
    if content is None and KINDS[kind].shipped and shipped_folder().is_dir():
        content = _packed(kind).get(_name(kind, inputs))
        if content is not None:
            content = zlib.decompress(content)
            _write(key, content)
    if content is None:
        return None
    try:
        return KINDS[kind].encoding.decode(content)
    except Exception as fault:  # the bytes are intact, but something that they name no longer exists
        note(f"{file_name(key)} cannot be read back ({fault}): made again")
        return None


def write(kind: str, inputs: Sequence[object], made: Any) -> None:
    """Store the artefact of a kind for these inputs."""
    _write(key_of(kind, inputs), KINDS[kind].encoding.encode(made))


def kept(kind: str, inputs: Sequence[object], make: Callable[[], Any]) -> Any:
    """Return the stored artefact, or make and store it."""
    found = read(kind, inputs)
    if found is None:
        found = make()
        write(kind, inputs, found)
    return found


def has(kind: str, inputs: Sequence[object] = ()) -> bool:
    """Whether the cache has a file for an artefact; its content is verified when it is read."""
    name = file_name(key_of(kind, inputs))
    return any((folder / name).is_file() for folder, _ in _places(cache_folder()))


def write_text(name: str, text: str) -> Path | None:
    """Write a text for debuggers and profilers into the cache folder; return its path, None if there is no folder.

    It is never read back. A file of the same name and length is left as it is.
    """
    folder = _folder().path
    content = text.encode()
    if folder is not None and not _has_length(folder / name, len(content)):
        _put(folder / name, content)
    return None if folder is None else folder / name


def key_of(kind: str, inputs: Sequence[object]) -> str:
    """Return the key of an artefact: its kind, and the digests of its inputs and its conditions."""
    return f"{_name(kind, inputs)} {_digest(present(KINDS[kind].conditions))}"


def sizes() -> dict[str, int]:
    """Return the bytes of the cache by kind."""
    folder = cache_folder().path
    return {} if folder is None else {kind: sum(path.stat().st_size for path in _files(folder, kind)) for kind in KINDS}


# ---- wheels


def shipped_folder() -> Path:
    """Return the folder of the shipped files of this installation."""
    return data_folder("codegen") / SHIPPED


def pack(target: Path) -> Iterator[tuple[str, Path]]:
    """Write all artefacts of the cache that a wheel ships into a folder; yield the names of their kinds, and the file.

    Kinds that are shipped under the same conditions share a file.
    """
    target.mkdir(parents=True, exist_ok=True)
    folder = cache_folder().path
    for conditions in dict.fromkeys(kind.shipped for kind in KINDS.values() if kind.shipped):
        kinds = [name for name, kind in KINDS.items() if kind.shipped == conditions]
        blobs = {}
        for kind in kinds:
            now = f" {_digest(present(KINDS[kind].conditions))}"
            for key, content in map(read_file, sorted(_files(folder, kind)) if folder is not None else ()):
                if key.endswith(now):
                    blobs[key.removesuffix(now)] = zlib.compress(content, 9)
        lengths = json.dumps({name: len(blob) for name, blob in blobs.items()}).encode()
        key = _pack_key(conditions)
        path = target / file_name(key)
        path.write_bytes(sealed(key, b"\n".join([lengths, b"".join(blobs.values())])))
        yield ", ".join(kinds), path


def _packed(kind: str) -> Mapping[str, bytes]:
    return _read_pack(shipped_folder(), _pack_key(KINDS[kind].shipped))


@cache
def _read_pack(folder: Path, key: str) -> Mapping[str, bytes]:
    """Return the compressed artefacts of a shipped file by name; empty if there is no trusted file."""
    path = (folder / file_name(key)).resolve()
    if not path.is_file():
        return {}
    fault = untrusted(path.parent, may_be_roots=True)
    if fault:
        note(f"the shipped compiled files are not used, since {fault}: they are compiled here")
        return {}
    found, content = read_file(path, may_be_roots=True)
    if found != key:
        return {}
    head, _, blobs = content.partition(b"\n")
    artefacts, start = {}, 0
    for name, length in json.loads(head).items():
        artefacts[name] = blobs[start : start + length]
        start += length
    return artefacts


def _pack_key(conditions: Sequence[str]) -> str:
    return f"{PACK} {_digest(present(conditions))}"


# ---- files


def _name(kind: str, inputs: Sequence[object]) -> str:
    assert len(inputs) == len(KINDS[kind].inputs), f"{kind} takes {KINDS[kind].inputs}"
    return f"{kind} {_digest(repr(tuple(inputs)))}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _cached(key: str) -> bytes | None:
    for folder, may_be_roots in _places(_folder()):
        found, content = read_file(folder / file_name(key), may_be_roots)
        if found == key:
            return content
    return None


def _write(key: str, content: bytes) -> None:
    folder = _folder().path
    if folder is not None:
        _put(folder / file_name(key), sealed(key, content))


def _put(path: Path, content: bytes) -> None:
    try:
        write_whole(path, content)
    except OSError as fault:
        note(f"cannot write to {path.parent} ({fault.strerror or fault}): compiled code is kept for this process only")
    else:
        has_written(path.parent, len(content))


def _folder() -> Folder:
    folder = cache_folder()
    if folder.note:
        note(folder.note)
    return folder


def _places(folder: Folder) -> Iterator[tuple[Path, bool]]:
    """Yield the folders to read from, and whether files there may belong to root."""
    if folder.path is not None:
        yield folder.path, False
    if folder.read_only is not None:
        yield folder.read_only, True


def _files(folder: Path, kind: str) -> Iterator[Path]:
    return folder.glob(f"{kind}.*{SUFFIX}")


def _has_length(path: Path, length: int) -> bool:
    try:
        return path.is_file() and path.stat().st_size == length
    except OSError:
        return False
