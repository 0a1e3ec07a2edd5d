"""Stores the records of tried expressions as lines of JSON in a folder; lines are only appended, so runs resume."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path


def path_of(folder: Path, part: int, parts: int) -> Path:
    """Return the file of one shard of the work."""
    return folder / f"part_{part}_of_{parts}.jsonl"


Record = Mapping[str, object]
"""The JSON record of one pair."""


def records(folder: Path) -> Iterator[Record]:
    """Yield the last record of each key; truncated lines are skipped."""
    found: dict[str, Record] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                record = json.loads(line)
            except json.JSONDecodeError:
                continue
            found[record["key"]] = {**record, "targets": sorted({*record["targets"], *kept(found, record)})}
    yield from found.values()


def kept(found: Mapping[str, Record], record: Record) -> list[str]:
    """Return the targets on which an expression was right before it was repeated."""
    before = found.get(record["key"])
    return list(before["targets"]) if before and before["state"] == record["state"] == "right" else []


def add(path: Path, record: Record) -> None:
    """Store one record."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record, sort_keys=True) + "\n")
