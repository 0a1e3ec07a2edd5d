"""Thins the cache: removes the least recently read files when the folder exceeds its limit.

`MATCALC_CACHE_LIMIT` is the limit in bytes, or with a unit, `500MB`; `none` means no limit. The default is 1 GB. A
file's modification time shows its last use: reading sets it to the present, at most once a day.
A process checks the folder when it writes its first file, unless another did so in the last hour. It checks again
after each sixteenth of the limit that it writes. A process that misses a removed file compiles again.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

SETTING = "MATCALC_CACHE_LIMIT"
DEFAULT = 10**9
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
AMOUNT = re.compile(r"\s*(\d+(?:\.\d*)?)\s*([KMGT]?)B?\s*", re.IGNORECASE)
OURS = re.compile(r"[^.].*\.[0-9a-f]{24}\.nbc|.*_[0-9a-f]{16}\.py")
"""The names of files that may be removed: entries, and texts of modules."""
PARTS = re.compile(r"\..*\.part")
"""The names of partly written files."""
STAMP = ".thinned"
"""The file whose modification time is that of the folder's last check."""
HOUR, DAY = 3600.0, 86400.0
LEFT = 0.75
"""The share of the limit that remains after thinning."""

_written: dict[Path, int] = {}
"""Bytes that this process has written to a folder since its last check."""


class Entry(NamedTuple):
    """A file of the cache: when it was last used, its bytes, its path."""

    used: float
    size: int
    path: str


def limit() -> int | None:
    """Return the limit of a folder in bytes, None for no limit; an invalid setting means the default."""
    setting = os.environ.get(SETTING, "").strip()
    if setting.lower() == "none":
        return None
    found = AMOUNT.fullmatch(setting)
    return int(float(found[1]) * UNITS[found[2].upper()]) if found else DEFAULT


def has_written(folder: Path, count: int) -> None:
    """Record that this process has written `count` bytes to a folder; thin the folder if a check is due."""
    most = limit()
    if most is None:
        return
    is_first = folder not in _written
    _written[folder] = _written.get(folder, 0) + count
    if _written[folder] > most / 16 or (is_first and not _is_fresh(folder / STAMP)):
        _written[folder] = 0
        with suppress(OSError):
            (folder / STAMP).touch(mode=0o600)
            thin(folder, most)


def use(handle: int, changed: float) -> None:
    """Set the modification time of an open file to now if it is older than a day; errors are ignored."""
    now = time.time()
    if abs(now - changed) > DAY:
        with suppress(OSError):
            os.utime(handle, (now, now))


def thin(folder: Path, most: int) -> None:
    """Remove the least recently used files until the rest is well within the limit.

    Raises: OSError if the folder cannot be read.
    """
    entries = sorted(_entries(folder))
    total = sum(entry.size for entry in entries)
    if total <= most:
        return
    for entry in entries:
        with suppress(OSError):
            os.unlink(entry.path)
        total -= entry.size
        if total <= LEFT * most:
            return


def _entries(folder: Path) -> Iterator[Entry]:
    """Yield the files that may be removed; delete partial files that killed processes have left."""
    now = time.time()
    with os.scandir(folder) as found:
        for file in found:
            is_part = PARTS.fullmatch(file.name)
            if not is_part and not OURS.fullmatch(file.name):
                continue
            with suppress(OSError):
                info = file.stat(follow_symlinks=False)
                # A time far in the future comes from another clock and does not show the last use.
                used = info.st_mtime if info.st_mtime < now + DAY else 0.0
                if is_part and used < now - DAY:
                    os.unlink(file.path)
                elif not is_part:
                    yield Entry(used, info.st_size, file.path)


def _is_fresh(stamp: Path) -> bool:
    try:
        return abs(time.time() - stamp.stat().st_mtime) < HOUR
    except OSError:
        return False
