"""What is made of the files of the installation alone, kept as it was made: read again until a file is another.

A wheel brings what was made of its files, by their content; in the cache it is kept by their stamps, which is sooner
looked up.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from matcalc.store import cache_entries, shipped_files
from matcalc.store.installation import content_of_files, installation

T = TypeVar("T")


def kept_form(name: str, make: Callable[[], T]) -> T:
    """Return what was made under this name of the installation as it is, or make and keep it.

    Objects are kept as they are, field by field, whatever form they have in other pickles.
    """
    key = f"{name}\n{installation()}"
    content = cache_entries.read(name, key)
    if content is None:
        content = _shipped(name)
        if content is not None:
            cache_entries.write(name, key, content)
    if content is not None:
        found: T = pickle.loads(content)
        return found
    made = make()
    cache_entries.write(name, key, _pickled(made))
    return made


def ship_form(name: str, made: Any, place: Path) -> Path:
    """Write what was made of the files of the installation into a folder, for a wheel; return the file."""
    return shipped_files.write(name, _content_key(), _pickled(made), place)


def _shipped(name: str) -> bytes | None:
    return shipped_files.read(name, _content_key()) if shipped_files.folder().is_dir() else None


def _content_key() -> str:
    """Return what forms are made of and by: the content of all files, the parser, Python."""
    return f"{content_of_files()} lark {version('lark')} Python {sys.version_info[:2]}"


def _pickled(made: Any) -> bytes:
    buffer = io.BytesIO()
    _Plain(buffer, protocol=5).dump(made)
    return buffer.getvalue()


class _Plain(pickle.Pickler):
    """Pickles objects by their fields alone, and read-only mappings, which have no pickle of their own."""

    dispatch_table: Mapping[type, Callable[[Any], Any]] = {}

    def reducer_override(self, value: Any) -> Any:
        if type(value) is MappingProxyType:
            return read_only, (dict(value),)
        return NotImplemented


def read_only(content: dict[Any, Any]) -> Mapping[Any, Any]:
    """Return a read-only mapping."""
    return MappingProxyType(content)
