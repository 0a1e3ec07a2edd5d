"""The report of a rule's checks: true if every one is passed, printed as a table of the worst of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matcalc.evidence.numeric.finding import Finding

HEAD = ("rule", "check", "field", "tests", "error", "allowed", "", "where")


@dataclass(frozen=True, slots=True)
class RuleReport:
    """What the checks of one or more rules found, by rule; true if all is right and every rule was tested."""

    findings: tuple[tuple[str, tuple[Finding, ...]], ...]

    def __bool__(self) -> bool:
        return all(found and all(f.is_right for f in found) for _, found in self.findings)

    @property
    def wrong(self) -> tuple[tuple[str, Finding], ...]:
        """The tests that a rule fails, the worst of each kind, with its name."""
        return tuple((name, f) for name, found in self.findings for f, _ in worst(found) if not f.is_right)

    def __str__(self) -> str:
        rows = [_row(name, f, count) for name, found in self.findings for f, count in worst(found)]
        count = sum(len(found) for _, found in self.findings)
        wrong = len(self.wrong)
        return "\n".join(
            [*table([HEAD, *rows]), f"{wrong} of {len(rows)} checks failed" if wrong else f"all right: {count} tests"]
        )


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines, their columns one below the other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def worst(found: Sequence[Finding]) -> list[tuple[Finding, int]]:
    """Return of each kind of test the one nearest to its bound, or farthest beyond, and how many there were."""
    kinds: dict[tuple[str, str], list[Finding]] = {}
    for f in found:
        kinds.setdefault((f.what, f.field), []).append(f)
    return [(max(same, key=_excess), len(same)) for same in kinds.values()]


def _excess(f: Finding) -> float:
    return f.error / f.bound if f.bound else f.error * 1e300


def _row(name: str, f: Finding, count: int) -> tuple[str, ...]:
    verdict = "right" if f.is_right else "WRONG"
    where = f.where.removeprefix(" at ")
    return name, f.what.rstrip(","), f.field, str(count), f"{f.error:.1e}", f"{f.bound:.0e}", verdict, where


__all__ = ["RuleReport", "table", "worst"]
