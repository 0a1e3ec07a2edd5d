"""What is made of the files of the installation alone, kept as it was made: read again until a file is another."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from matcalc.store import cache_entries
from matcalc.store.installation import installation

T = TypeVar("T")


def kept_form(name: str, make: Callable[[], T]) -> T:
    """Return what was made under this name of the installation as it is, or make and keep it.

    Objects are kept as they are, field by field, whatever form they have in other pickles.
    """
    key = f"{name}\n{installation()}"
    content = cache_entries.read(name, key)
    if content is not None:
        found: T = pickle.loads(content)
        return found
    made = make()
    buffer = io.BytesIO()
    _Plain(buffer, protocol=5).dump(made)
    cache_entries.write(name, key, buffer.getvalue())
    return made


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
