"""Evaluations on disk, so that a fit which was killed goes on as if it had not been.

The decision: an optimiser that is run again from the same start asks for the same points in the same order, so what it
was told is kept, not its state: any optimiser resumes, and ends with the same digits. A record is written whole or not
at all. The head holds the digest of the data; the first record is computed again when a fit is resumed, which shows
code that computes something else.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import numpy as np

from matcalc.language.identifiers import file_path
from matcalc.solvers.packing import Vector

MARK = b"matcalc evaluations 2\n"
CHECK = 16
"""Bytes that a record begins with, by which it is known to be whole."""
CLOSE = 1e-8
"""The relative difference of a value that was computed again, of the same data on another machine, at most."""


class Journal:
    """Results at points, by the label of what was computed, in a file that grows by each new one."""

    def __init__(self, path: str | os.PathLike[str], about: str, data: str = "") -> None:
        self.path = Path(file_path(path))
        self._about = blake2b(about.encode(), digest_size=CHECK).digest()
        self._head = MARK + self._about + blake2b(data.encode(), digest_size=CHECK).digest()
        self._known: dict[bytes, Vector] = {}
        self._is_checked = True
        self._read()

    def get(self, label: str, point: Vector, compute: Callable[[], Vector]) -> Vector:
        """Return what is known of a point, or compute and keep it: a vector that begins with a value.

        Raises: ValueError where what is known is of other data.
        """
        key = blake2b(label.encode() + point.tobytes(), digest_size=CHECK).digest()
        found = self._known.get(key)
        if found is None:
            found = compute()
            self._write(key + np.asarray(found, np.float64).tobytes())
            self._known[key] = found
        elif not self._is_checked:
            again = compute()
            if not _is_close(again, found):
                raise ValueError(
                    f"{self.path} is of other data: {found[0]:.10g} is the value there, {again[0]:.10g} here"
                )
        self._is_checked = True
        return found

    def _read(self) -> None:
        """Read whole records, and cut off what is not one.

        Raises: ValueError for a file that is something else, or of another formula.
        """
        content = self.path.read_bytes() if self.path.exists() else b""
        if self._head.startswith(content):  # nothing yet, or killed while this was written
            self.path.write_bytes(self._head)
            return
        start = len(self._head)
        if not content.startswith(MARK):
            raise ValueError(f"{self.path} is no file of evaluations")
        if content[len(MARK) : len(MARK) + CHECK] != self._about:
            raise ValueError(f"{self.path} is of another formula, start or size: give another file, or delete it")
        if content[:start] != self._head:
            raise ValueError(f"{self.path} is of other data: give another file, or delete it")
        while start < len(content):
            head = content[start : start + CHECK + 8]
            end = start + CHECK + 8 + int.from_bytes(head[CHECK:], "little")
            record = content[start + CHECK + 8 : end]
            if len(head) < CHECK + 8 or end > len(content) or _check(record) != head[:CHECK]:
                os.truncate(self.path, start)
                break
            self._known[record[:CHECK]] = np.frombuffer(record[CHECK:])
            start = end
        self._is_checked = not self._known

    def _write(self, record: bytes) -> None:
        with open(self.path, "ab") as file:
            file.write(_check(record) + len(record).to_bytes(8, "little") + record)
            file.flush()
            os.fsync(file.fileno())


def _is_close(again: Vector, known: Vector) -> bool:
    """Whether two results are of the same data: what is not finite has no scale, and must be the same."""
    scale = np.max(np.abs(known), initial=0.0, where=np.isfinite(known))
    return again.shape == known.shape and np.allclose(again, known, CLOSE, CLOSE * scale, equal_nan=True)


def _check(record: bytes) -> bytes:
    return blake2b(record, digest_size=CHECK).digest()
