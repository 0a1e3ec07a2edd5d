"""Collects what happens while code is loaded: compiled functions are counted, notes for the user are kept."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Record:
    """Events while code was loaded: the number of compiled functions, and notes for the user."""

    built: int = 0
    notes: dict[str, None] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """All notes as one text."""
        return "; ".join(self.notes)


class _Open(threading.local):
    def __init__(self) -> None:
        self.records: list[Record] = []


_open = _Open()


@contextmanager
def recording() -> Iterator[Record]:
    """Record the compilations and notes of this thread during the block."""
    record = Record()
    _open.records.append(record)
    try:
        yield record
    finally:
        _open.records.pop()


def note(text: str) -> None:
    """Add a note for the user to all open records."""
    for record in _open.records:
        record.notes[text] = None


def count_built() -> None:
    """Count a compiled function in all open records."""
    for record in _open.records:
        record.built += 1
