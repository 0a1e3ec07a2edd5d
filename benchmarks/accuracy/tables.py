"""Writes records of errors as rules/measured.toml, as a line for the screen, and as Markdown."""

from __future__ import annotations

from collections.abc import Container, Mapping

from benchmarks.accuracy import side_by_side
from benchmarks.accuracy.case import KINDS
from benchmarks.accuracy.side_by_side import NOTHING, Record, Records, figure

HEADER = """\
# The worst relative error of each rule's compiled code, over random, near-degenerate, graded and scaled inputs, against
# its value at 100 digits and differences of that: of the value, of JVP and VJP, and of a Hessian-vector product
# (`second`). Of arrays it is that of the norm, of elementwise functions that of the worst entry; where the problem is
# ill-conditioned, the error is divided by its condition number (how far the truth itself moves under a relative change
# of the data). `at` names the input of the worst of them and, where it is larger, the error undivided. Where an
# operation is not compiled the error is that of plain NumPy, and `at` says so.
# Written by `python -m benchmarks.accuracy`; not by hand.
"""


def worst(records: Records, kind: str, target: str = "numba") -> Record | None:
    """Return the record with the largest error relative to its condition; None without answers."""
    found = [r for r in records if r["kind"] == kind and r["target"] == target and "error" in r]
    return max(found, key=lambda r: (r["beyond"], r["error"]), default=None)


def shown(records: Records, kind: str) -> Record | None:
    """Return the worst record of compiled code, or of plain NumPy if there is none."""
    return worst(records, kind) or worst(records, kind, "numpy")


def line(records: Records) -> str:
    """Return a line with the worst errors and the rejected requests."""
    parts = []
    for kind in KINDS:
        for target in ("numba", "numpy"):
            found = worst(records, kind, target)
            parts.append(f"{kind if target == 'numba' else ''} {figure(found['beyond']) if found else '-':7s}")
    refused = {r["refused"][:60] for r in records if "refused" in r}
    return " ".join(parts) + ("  refused: " + "; ".join(sorted(refused)) if refused else "")


def measured_toml(records: Mapping[str, Records]) -> str:
    """Return the text of rules/measured.toml."""
    lines = [HEADER]
    for name, found in sorted(records.items()):
        lines.append(f"[{name}]")
        kinds = {kind: shown(found, kind) for kind in KINDS}
        lines += [f"{kind} = {figure(r['beyond'])}" for kind, r in kinds.items() if r]
        top = max((r for r in kinds.values() if r), key=lambda r: r["beyond"], default=None)
        if top and top["beyond"] >= NOTHING:
            lines.append(f'at = "{place(top)}"')
        lines.append("")
    return "\n".join(lines)


def place(record: Record) -> str:
    """Return where an error was found, in words."""
    parts = [record["kind"], *([f"in {record['wrt']}"] if record["wrt"] else []), record["regime"]]
    if record["target"] == "numpy":
        parts.append("NumPy")
    if record.get("condition") and record["condition"] > 10:
        parts.append(f"error {record['error']:.0e} at condition {record['condition']:.0e}")
    return ", ".join(parts)


def markdown(records: Mapping[str, Records], reasons: Mapping[str, str], entrywise: Container[str] = ()) -> str:
    """Return the report: a line for each rule, then the same inputs through other frameworks."""
    lines = ["# Errors", "", *HEADER.replace("# ", "").splitlines()[:6], ""]
    lines += ["Error beyond condition; in brackets the error itself where the condition explains it.", ""]
    lines += ["| rule | " + " | ".join(KINDS) + " | NumPy, worst |", "|---|---|---|---|---|---|"]
    for name, found in sorted(records.items()):
        cells = [cell(shown(found, kind)) for kind in KINDS]
        numpy = [w["beyond"] for kind in KINDS if (w := worst(found, kind, "numpy"))]
        lines.append(f"| {name} | {' | '.join(cells)} | {figure(max(numpy)) if numpy else '-'} |")
    lines += ["", *(f"Not measured: `{name}`: {why}." for name, why in sorted(reasons.items()))]
    return "\n".join([*lines, *side_by_side.report(records, entrywise)]) + "\n"


def cell(record: Record | None) -> str:
    if record is None:
        return "-"
    explained = record.get("condition") and record["condition"] > 10
    return figure(record["beyond"]) + (f" ({figure(record['error'])})" if explained else "")
