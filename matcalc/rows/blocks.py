"""Reads rows from files in blocks, ahead of their computation; a few blocks are in memory at a time."""

from __future__ import annotations

import operator
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from math import prod
from time import monotonic
from typing import Any, TypeVar

import numpy as np

from matcalc.errors import ShapeError, UnknownName
from matcalc.language.identifiers import nearest, shown

Given = TypeVar("Given")
Made = TypeVar("Made")
Arrays = dict[str, "np.ndarray[Any, Any]"]

ROWS = 16_384
"""The default number of rows of a block that is read from a file."""


def computed(one: Callable[[Given], Made], items: Iterable[Given], threads: int) -> Iterator[Made]:
    """Yield the result of a function for each item, in order; the next items are computed in threads meanwhile.

    Raises: ValueError for a number of threads below 1.
    """
    threads = counted("threads", threads)
    with ThreadPoolExecutor(threads, "matcalc") as pool:
        waiting: deque[Future[Made]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(one, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


@dataclass(frozen=True)
class FromFiles:
    """Blocks of rows from `.npy` files by name; `axes` has the axis of rows of each."""

    paths: Mapping[str, str | os.PathLike[str]]
    axes: Mapping[str, int]
    rows: int

    def __iter__(self) -> Iterator[Arrays]:
        files = {name: np.load(path, mmap_mode="r", allow_pickle=False) for name, path in self.paths.items()}
        counts = {name: file.shape[self.axes[name]] for name, file in files.items() if name in self.axes}
        if len(set(counts.values())) > 1:
            counted_rows = ", ".join(f"{name} {count}" for name, count in counts.items())
            raise ShapeError(f"the files have different numbers of rows: {counted_rows}")
        starts = range(0, next(iter(counts.values()), 0), counted("block", self.rows))
        parts = {name: self._parts(name, file, 0, file.shape[self.axes.get(name, 0)]) for name, file in files.items()}
        del files  # close the maps: the pages that they touched would count as memory of this process
        for _ in starts:
            yield {name: next(part, np.empty(0)) for name, part in parts.items()}

    def at(self, start: int) -> Arrays:
        """Return the block of rows that begins at row `start`."""
        files = {name: np.load(path, mmap_mode="r", allow_pickle=False) for name, path in self.paths.items()}
        return {name: next(self._parts(name, file, start, start + 1)) for name, file in files.items()}

    def _parts(self, name: str, file: Any, start: int, stop: int) -> Iterator[np.ndarray[Any, Any]]:
        """Return copies of the rows, block by block: read directly if they are contiguous, else through memory maps."""
        axis, path = self.axes.get(name, 0), self.paths[name]
        starts = range(start, stop, self.rows)
        if axis or not file.flags.c_contiguous:
            return self._mapped(path, axis, starts)
        return self._read(path, file.offset, file.shape, file.dtype, starts)

    def _mapped(self, path: str | os.PathLike[str], axis: int, starts: range) -> Iterator[np.ndarray[Any, Any]]:
        for start in starts:
            rows = (*(slice(None),) * axis, slice(start, start + self.rows))
            yield np.array(np.load(path, mmap_mode="r")[rows], dtype=np.float64, order="C")

    def _read(
        self, path: str | os.PathLike[str], offset: int, shape: tuple[int, ...], dtype: Any, starts: range
    ) -> Iterator[np.ndarray[Any, Any]]:
        with open(path, "rb", buffering=0) as file:
            file.seek(offset + starts.start * prod(shape[1:]) * dtype.itemsize)
            for start in starts:
                part = np.empty((min(self.rows, shape[0] - start), *shape[1:]), dtype)
                left = memoryview(part.reshape(-1).view(np.uint8).data)
                while len(left):
                    count = file.readinto(left)
                    if not count:
                        raise OSError(f"the file ends before its {shape[0]} rows do: {os.fspath(path)}")
                    left = left[count:]
                yield np.asarray(part, np.float64)


@dataclass(frozen=True)
class FromParquet:
    """Blocks of rows of a Parquet file; `columns` maps a name to a column, or to several that are put side by side."""

    path: str | os.PathLike[str]
    columns: Mapping[str, str | Sequence[str]]
    rows: int

    def __iter__(self) -> Iterator[Arrays]:
        from pyarrow import parquet

        with parquet.ParquetFile(self.path) as file:
            needed = list(dict.fromkeys(column for _, several in self._listed() for column in several))
            known = file.schema_arrow.names
            for column in needed:
                if column not in known:
                    raise UnknownName(f"the file has no column {column[:80]!r}{nearest(column, known)}")
            for batch in file.iter_batches(counted("block", self.rows), columns=needed):
                yield {name: self._values(batch, name, several) for name, several in self._listed()}

    def _listed(self) -> Iterator[tuple[str, Sequence[str]]]:
        for name, columns in self.columns.items():
            yield name, [columns] if isinstance(columns, str) else columns

    def _values(self, batch: Any, name: str, columns: Sequence[str]) -> np.ndarray[Any, Any]:
        """Return columns as float64. Raises: ValueError for missing entries."""
        found = []
        for column in columns:
            values = batch.column(column)
            if values.null_count:
                raise ValueError(f"the column {column} has {values.null_count} missing entries")
            found.append(np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64))
        return found[0] if isinstance(self.columns[name], str) else np.column_stack(found)


class Progress:
    """Prints the number of processed rows once a second and at the end."""

    def __init__(self, label: str, rows: str) -> None:
        self.label, self.rows = label, rows
        self.count, self.start = 0, monotonic()
        self.printed = self.start

    def add(self, count: int) -> None:
        self.count += count
        if monotonic() - self.printed >= 1:
            self.end()

    def end(self) -> None:
        self.printed = monotonic()
        print(f"{self.label}: {self.rows} = {self.count:,}, {self.printed - self.start:.1f} s", flush=True)


def counted(name: str, number: int) -> int:
    """Return a count of at least 1. Raises: ValueError for a smaller one, TypeError for anything but an integer."""
    try:
        count = operator.index(number)
    except TypeError:
        count = None
    if count is None or isinstance(number, bool):
        raise TypeError(f"{name} is an integer, not {shown(number)}")
    if count < 1:
        raise ValueError(f"{name} is at least 1, not {count}")
    return count
