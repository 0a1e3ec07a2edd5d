"""Encodes artefacts as bytes. Decoding is safe only for sealed bytes, since pickles are among them."""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple


class Encoding(NamedTuple):
    """The functions that make bytes of an artefact, and read it back."""

    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]


def _with_code(parts: Sequence[Any]) -> bytes:
    *head, code = parts
    return json.dumps(head).encode() + b"\n" + bytes(code)


def _parts(content: bytes) -> list[Any]:
    head, _, code = content.partition(b"\n")
    return [*json.loads(head), code]


def _fields(made: Any) -> bytes:
    buffer = io.BytesIO()
    _ByFields(buffer, protocol=5).dump(made)
    return buffer.getvalue()


class _ByFields(pickle.Pickler):
    """Pickles objects by their fields, and read-only mappings, which Python cannot pickle."""

    dispatch_table: Mapping[type, Callable[[Any], Any]] = {}

    def reducer_override(self, value: Any) -> Any:
        if type(value) is MappingProxyType:
            return read_only, (dict(value),)
        return NotImplemented


def read_only(content: dict[Any, Any]) -> Mapping[Any, Any]:
    """Return a read-only mapping."""
    return MappingProxyType(content)


BYTES = Encoding(bytes, bytes)
JSON = Encoding(lambda made: json.dumps(made).encode(), json.loads)
CODE = Encoding(_with_code, _parts)
"""Values of JSON, and last the bytes of code."""
PICKLE = Encoding(pickle.dumps, pickle.loads)
FIELDS = Encoding(_fields, pickle.loads)
"""Objects field by field, whatever `copyreg` has for their classes."""
PICKLED = Encoding(bytes, pickle.loads)
"""Pickles that the writer has made, with a pickler of its own."""
