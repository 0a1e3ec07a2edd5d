"""Caches objects that are derived only from the files of the installation, until one of the files changes.

A wheel ships such objects under the digest of the files' content. The cache stores them under the digest of the files'
stamps, which is faster to compute.
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


def cached_object(name: str, make: Callable[[], T]) -> T:
    """Return the cached or shipped object of this name, or compute and cache it.

    Objects are pickled field by field, whatever their own `__reduce__` does.
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
    """Write an object derived from the installation's files into a folder, for a wheel; return its file."""
    return shipped_files.write(name, _content_key(), _pickled(made), place)


def _shipped(name: str) -> bytes | None:
    return shipped_files.read(name, _content_key()) if shipped_files.folder().is_dir() else None


def _content_key() -> str:
    """Return the key of shipped objects: the content of all files, the versions of the parser and of Python."""
    return f"{content_of_files()} lark {version('lark')} Python {sys.version_info[:2]}"


def _pickled(made: Any) -> bytes:
    buffer = io.BytesIO()
    _Plain(buffer, protocol=5).dump(made)
    return buffer.getvalue()


class _Plain(pickle.Pickler):
    """Pickles objects by their fields, and read-only mappings, which Python cannot pickle."""

    dispatch_table: Mapping[type, Callable[[Any], Any]] = {}

    def reducer_override(self, value: Any) -> Any:
        if type(value) is MappingProxyType:
            return read_only, (dict(value),)
        return NotImplemented


def read_only(content: dict[Any, Any]) -> Mapping[Any, Any]:
    """Return a read-only mapping."""
    return MappingProxyType(content)
