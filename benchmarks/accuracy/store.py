"""Stores the truths of cases on disk, so that a second run only compares.

The key is the text of the rule's value, the data and the directions. The functions of the prelude that the value calls
are not in the key: after changing one, run with `--fresh`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.accuracy.case import JSON, Case
from matcalc.evidence.precise.arithmetic import Array

Truth = dict[str, tuple[Array, Array]]


class Store:
    """Truths and conditions of one rule; None if there is no truth."""

    def __init__(self, path: Path | None = None, fresh: bool = False) -> None:
        self.path = path
        known = path is not None and path.is_file() and not fresh
        self.found: dict[str, JSON] = json.loads(path.read_text(encoding="utf-8")) if path and known else {}

    def truth(self, case: Case, make: Callable[[], Truth | None]) -> Truth | None:
        """Return kind -> (high, low) parts, computed if they are not stored."""
        entry = self._entry(case)
        if "truth" not in entry:
            made = make()
            entry["truth"] = made and {kind: [a.tolist() for a in pair] for kind, pair in made.items()}
        listed = entry["truth"]
        return listed and {kind: (_array(high), _array(low)) for kind, (high, low) in listed.items()}

    def condition(self, case: Case, kind: str, make: Callable[[], dict[str, Array]]) -> Array:
        """Return the condition of one kind of answer; all kinds are computed together."""
        entry = self._entry(case)
        if "condition" not in entry:
            entry["condition"] = {name: np.asarray(a).tolist() for name, a in make().items()}
        return _array(entry["condition"][kind])

    def save(self) -> None:
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.found), encoding="utf-8")

    def _entry(self, case: Case) -> dict[str, JSON]:
        return self.found.setdefault(_key(case), {})


def _key(case: Case) -> str:
    at = case.point
    assert at is not None
    found = hashlib.sha256(repr((at.rule.values, at.rule.precise, at.form, case.output, case.wrt)).encode())
    found.update(repr([(name, str(value)) for name, value in case.plain.items()]).encode())
    for array in (*case.data.values(), case.dX, case.V, case.G):
        found.update(repr(np.shape(array)).encode() + np.ascontiguousarray(array, dtype=float).tobytes())
    return found.hexdigest()[:24]


def _array(listed: JSON) -> Array:
    return np.asarray(listed, dtype=float)


__all__ = ["Store"]
