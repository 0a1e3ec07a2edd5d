"""Tabulates the worst errors of matcalc, PyTorch and JAX at the same inputs, and where matcalc's are larger.

The inputs are those of at least one other framework. A dash marks an operation that a framework lacks or cannot
differentiate. All errors are divided by the condition of the problem, as in the table of rules.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

NOTHING = 1e-20
"""Errors below this are those of the truth."""

OURS, OTHERS = "numba", ("torch", "jax")
FACTOR = 2.0
ROUNDINGS = 1e-15
"""Errors up to this are a few rounding errors (4.5 eps); differences below it do not matter."""
LOST = 1e-6
"""An answer with a larger error has lost more than half of its digits."""
EXPLAINED = (
    "Worse means: more than {factor:g} times the error of the better of the two. Most of these are a few roundings "
    "more or less of an answer that is right to 14 digits; those above {roundings:.0e} are listed."
)
TITLE = {"numba": "matcalc", "torch": "PyTorch", "jax": "JAX"}
NAMES = {"value": "value", "jvp": "JVP", "vjp": "VJP", "second": "second"}

Record = Mapping[str, float | str | None]
Records = Sequence[Record]
Errors = dict[str, float]


def report(records: Mapping[str, Records], entrywise: Container[str] = ()) -> list[str]:
    """Return the lines of the section; none without another framework."""
    rows = {name: compared(found, name in entrywise) for name, found in sorted(records.items())}
    rows = {name: row for name, row in rows.items() if row}
    if not rows:
        return []
    heads = [f"{title} {TITLE[t]}" for title in NAMES.values() for t in (OURS, *OTHERS)]
    lines = ["", "## The same inputs through PyTorch and JAX", "", *summary(rows), ""]
    lines += ["| rule | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for name, row in rows.items():
        cells = [written(row[kind].get(t)) if kind in row else "-" for kind in NAMES for t in (OURS, *OTHERS)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def compared(records: Records, entrywise: bool = False) -> dict[str, Errors]:
    """Return kind -> target -> worst error, over the inputs that another framework also received."""
    found: dict[str, Errors] = {}
    numbered = list(_numbered(records))
    asked = {at for at, r in numbered if r["target"] in OTHERS}
    known = {at: r["condition"] for at, r in numbered if r.get("condition") and not entrywise}
    for at, r in numbered:
        if at in asked and "error" in r and r["target"] in (OURS, *OTHERS):
            row = found.setdefault(r["kind"], {})
            beyond = min(r["beyond"], r["error"] / known.get(at, 1.0))  # small errors were not divided by the condition
            row[r["target"]] = max(row.get(r["target"], 0.0), beyond)
    return {kind: row for kind, row in found.items() if set(row) & set(OTHERS)}


def _numbered(records: Records) -> Iterator[tuple[tuple[object, ...], Record]]:
    """Yield each record with its key, the same for all targets; inputs of the same name are numbered."""
    count: dict[tuple[object, ...], int] = {}
    for r in records:
        key = (r["target"], *place(r))
        count[key] = count.get(key, 0) + 1
        yield (*key[1:], count[key]), r


def place(record: Record) -> tuple[object, ...]:
    return record["output"], record["wrt"], record["regime"], record["tangents"], record["kind"]


def summary(rows: Mapping[str, Mapping[str, Errors]]) -> list[str]:
    pairs = list(_pairs(rows))
    ours = [(name, kind, row[OURS], _best(row)) for name, kind, row in pairs if OURS in row]
    worse = [p for p in ours if p[2] > FACTOR * p[3]]
    clearly = [p for p in worse if p[2] > ROUNDINGS]
    lost = {t: sum(row.get(t, 0.0) > LOST for _, _, row in pairs) for t in (OURS, *OTHERS)}
    without = {t: sum(t not in row for _, _, row in pairs) for t in (OURS, *OTHERS)}
    lines = [
        f"{len(rows)} rules, {len(pairs)} of value, JVP, VJP and second derivative that PyTorch or JAX has. matcalc is "
        f"worse in {len({p[0] for p in worse})} rules, {len(worse)} answers; in {len(clearly)} of these its error is "
        f"above {ROUNDINGS:.0e}; better by as much in {sum(FACTOR * p[2] < p[3] for p in ours)}.",
        EXPLAINED.format(factor=FACTOR, roundings=ROUNDINGS),
        "",
        *(
            f"- {TITLE[t]}: {lost[t]} answers with an error above {LOST:.0e} or not finite, {without[t]} missing"
            for t in (OURS, *OTHERS)
        ),
    ]
    if clearly:
        told = (f"{n} {NAMES[k]} ({written(mine)}, {written(best)})" for n, k, mine, best in clearly)
        lines += ["", f"matcalc worse, error above {ROUNDINGS:.0e} (ours, the better of the two): " + "; ".join(told)]
    return lines


def _pairs(rows: Mapping[str, Mapping[str, Errors]]) -> Iterator[tuple[str, str, Errors]]:
    for name, row in rows.items():
        for kind in NAMES:
            if kind in row:
                yield name, kind, row[kind]


def _best(row: Errors) -> float:
    return min(row[t] for t in OTHERS if t in row)


def written(x: float | None) -> str:
    if x is None:
        return "-"
    return "0" if x < NOTHING else f"**{x:.0e}**" if LOST < x < float("inf") else f"{x:.0e}" if x <= LOST else "**NaN**"


def figure(x: float) -> str:
    return "0.0" if x < NOTHING else f"{x:.1e}" if x < float("inf") else "inf"
