"""Rows from files, a block at a time, read ahead while the last one is computed; memory is that of a few blocks."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from math import prod
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from matcalc.errors import ShapeError, UnknownName
from matcalc.language.identifiers import shown
from matcalc.rulebook.fields import nearest

if TYPE_CHECKING:
    import os

Given = TypeVar("Given")
Made = TypeVar("Made")
Arrays = dict[str, "np.ndarray[Any, Any]"]

ROWS = 65_536
"""Rows of a block that is read from a file, unless another number is asked for."""


def computed(one: Callable[[Given], Made], given: Iterable[Given], threads: int) -> Iterator[Made]:
    """Yield what a function makes of each, in order; the next are read, and computed in threads, while one is used.

    Raises: ValueError for a number of threads below 1.
    """
    threads = counted("threads", threads)
    with ThreadPoolExecutor(threads, "matcalc") as pool:
        waiting: deque[Future[Made]] = deque()
        try:
            for item in given:
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
    """Blocks of rows of `.npy` files by name; `axes` is the axis of rows of each."""

    paths: Mapping[str, str | os.PathLike[str]]
    axes: Mapping[str, int]
    rows: int

    def __iter__(self) -> Iterator[Arrays]:
        files = {name: self._opened(path) for name, path in self.paths.items()}
        counts = {name: file.shape[self.axes[name]] for name, file in files.items() if name in self.axes}
        if len(set(counts.values())) > 1:
            said = ", ".join(f"{name} {count}" for name, count in counts.items())
            raise ShapeError(f"the files have different numbers of rows: {said}")
        del files  # no map stays open: its pages would count as memory of this process
        for start in range(0, next(iter(counts.values()), 0), counted("block", self.rows)):
            rows = slice(start, start + self.rows)
            yield {name: self._part(name, self._opened(path), rows) for name, path in self.paths.items()}

    def _opened(self, path: str | os.PathLike[str]) -> Any:
        return np.load(path, mmap_mode="r", allow_pickle=False)

    def _part(self, name: str, file: Any, rows: slice) -> np.ndarray[Any, Any]:
        """Return a copy of some rows: read as they lie where they are adjacent, else through a map of the file."""
        axis = self.axes.get(name, 0)
        if axis or not file.flags.c_contiguous:
            return np.array(file[(*(slice(None),) * axis, rows)], dtype=np.float64, order="C")
        count = len(range(*rows.indices(len(file))))
        width = prod(file.shape[1:])
        found = np.fromfile(
            self.paths[name], file.dtype, count * width, offset=file.offset + rows.start * width * file.itemsize
        )
        return np.asarray(found.reshape(count, *file.shape[1:]), np.float64)


@dataclass(frozen=True)
class FromParquet:
    """Blocks of rows of a Parquet file; `columns` binds a name to a column or to several, side by side."""

    path: str | os.PathLike[str]
    columns: Mapping[str, str | Sequence[str]]
    rows: int

    def __iter__(self) -> Iterator[Arrays]:
        from pyarrow import parquet

        with parquet.ParquetFile(self.path) as file:
            wanted = list(dict.fromkeys(column for _, several in self._listed() for column in several))
            known = file.schema_arrow.names
            for column in wanted:
                if column not in known:
                    raise UnknownName(f"the file has no column {column[:80]!r}{nearest(column, known)}")
            for batch in file.iter_batches(counted("block", self.rows), columns=wanted):
                yield {name: self._values(batch, name, several) for name, several in self._listed()}

    def _listed(self) -> Iterator[tuple[str, Sequence[str]]]:
        for name, columns in self.columns.items():
            yield name, [columns] if isinstance(columns, str) else columns

    def _values(self, batch: Any, name: str, several: Sequence[str]) -> np.ndarray[Any, Any]:
        """Return columns as float64; a missing entry is an error, never a number."""
        found = []
        for column in several:
            values = batch.column(column)
            if values.null_count:
                raise ValueError(f"the column {column} has {values.null_count} missing entries")
            found.append(np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64))
        return found[0] if isinstance(self.columns[name], str) else np.column_stack(found)


class Progress:
    """Rows gone through, told once a second and at the end."""

    def __init__(self, label: str, rows: str) -> None:
        self.label, self.rows = label, rows
        self.count, self.start = 0, monotonic()
        self.told = self.start

    def add(self, count: int) -> None:
        self.count += count
        if monotonic() - self.told >= 1:
            self.end()

    def end(self) -> None:
        self.told = monotonic()
        print(f"{self.label}: {self.rows} = {self.count:,}, {self.told - self.start:.1f} s", flush=True)


def counted(name: str, number: int) -> int:
    """Return a count, at least 1. Raises: ValueError for another number, TypeError for what is no integer."""
    try:
        count = operator.index(number)
    except TypeError:
        raise TypeError(f"{name} is an integer, not {shown(number)}") from None
    if count < 1:
        raise ValueError(f"{name} is at least 1, not {count}")
    return count
