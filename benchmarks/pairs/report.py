"""Writes results/pairs.md from the records: the number of pairs by state."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.pairs import store
from benchmarks.pairs.store import Record

RESULT = Path(__file__).resolve().parents[1] / "results" / "pairs.md"
STATES = ("right", "wrong", "refused", "declined", "undefined", "unjudged")


def write(folder: Path) -> None:
    """Write the report of a folder."""
    RESULT.write_text("\n".join(lines(list(store.records(folder)))) + "\n", encoding="utf-8")


def lines(found: Sequence[Record]) -> list[str]:
    """Return the lines of the report."""
    seconds = sum(record["seconds"] for record in found)
    text = ["# Every operation in every other", "", "Written by `python -m benchmarks.pairs`.", ""]
    text += ["| what | target | tried | " + " | ".join(STATES) + " |", "|---" * (len(STATES) + 3) + "|"]
    for what, target in itertools.product(("pairs", "random"), ("", "numpy", "numba")):
        chosen = [r for r in found if r["key"].startswith("random ") == (what == "random")]
        of = Counter(r["state"] for r in chosen if target in r["targets"] or (not target and not r["targets"]))
        if of:
            counts = " | ".join(str(of[state]) for state in STATES)
            text.append(f"| {what} | {target or 'plain alone'} | {sum(of.values())} | {counts} |")
    text += ["", f"{seconds / max(len(found), 1):.2f} s each."]
    for state in ("wrong", "declined", "refused", "unjudged"):
        kinds = Counter(kind(record["detail"]) for record in found if record["state"] == state)
        if kinds:
            text += ["", f"## {state.capitalize()}", ""]
            text += [f"- {count}: {words}" for words, count in kinds.most_common(40)]
    return text


def kind(detail: str) -> str:
    """Return the common part of cases of one kind: the words before the numbers."""
    return detail.split(":")[0] + (": " + detail.split(": ")[1].split(",")[0] if ": " in detail else "")
