"""Stores the evaluations of a fit on disk, so that a killed fit resumes and ends with the same digits.

An optimiser that is run again from the same start evaluates the same points in the same order. Therefore the
evaluations are stored, not the optimiser's state, and any optimiser can resume. A partly written record is dropped.
The head contains the digest of the data. On resuming, the first record is computed again, which detects changed code.
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
"""The length in bytes of the digest at the start of a record, which shows that the record is complete."""
CLOSE = 1e-8
"""The largest relative difference of a recomputed value, for the same data on another machine."""


class Journal:
    """Results by label and point, in a file to which each new result is appended."""

    def __init__(self, path: str | os.PathLike[str], about: str, data: str = "") -> None:
        self.path = Path(file_path(path))
        self._about = blake2b(about.encode(), digest_size=CHECK).digest()
        self._head = MARK + self._about + blake2b(data.encode(), digest_size=CHECK).digest()
        self._known: dict[bytes, Vector] = {}
        self._is_checked = True
        self._read()

    def get(self, label: str, point: Vector, compute: Callable[[], Vector]) -> Vector:
        """Return the stored result at a point, or compute and store it: a vector whose first entry is a value.

        Raises: ValueError if the stored result belongs to other data.
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
                    f"{self.path} is of other data: its value is {found[0]:.10g}, and here it is {again[0]:.10g}"
                )
        self._is_checked = True
        return found

    def _read(self) -> None:
        """Read the complete records, and truncate the file after them.

        Raises: ValueError for another kind of file, or a file of another formula or other data.
        """
        content = self.path.read_bytes() if self.path.exists() else b""
        if self._head.startswith(content):  # empty, or killed while the head was written
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
    """Whether two results belong to the same data; entries that are not finite must be equal."""
    scale = np.max(np.abs(known), initial=0.0, where=np.isfinite(known))
    return again.shape == known.shape and np.allclose(again, known, CLOSE, CLOSE * scale, equal_nan=True)


def _check(record: bytes) -> bytes:
    return blake2b(record, digest_size=CHECK).digest()
