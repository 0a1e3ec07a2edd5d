"""Measures simplification: `python -m benchmarks.simplification` writes results/simplification.md.

It compares printed derivatives with textbooks' (tests/cases), 200 expressions in five orders each, and random
expressions before and after (`--count`). `--base TREE` writes
results/simplification_against.md instead: a comparison with the package of another tree.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.simplification.against import against
from benchmarks.simplification.derivatives import TABLES, cases, derivative_of
from benchmarks.simplification.measure import Trial, results_of_ways, trials
from matcalc.formula.notation.length import tokens

HERE = Path(__file__).resolve().parent
RESULT = HERE.parent / "results" / "simplification.md"
AGAINST = RESULT.with_name("simplification_against.md")
LONGEST = 10


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="random expressions")
    parser.add_argument("--orders", type=int, default=200, help="expressions in five orders")
    parser.add_argument("--base", type=Path, help="the tree of an earlier version, to compare with it alone")
    given = parser.parse_args(arguments)
    if given.base is not None:
        base = given.base.resolve()
        commit = subprocess.run(["git", "-C", base, "log", "-1", "--format=%h, %as"], capture_output=True, text=True)
        head = [
            "# Printed derivatives",
            "",
            "Written by `python -m benchmarks.simplification --base TREE`, where TREE is",
        ]
        head += [f"the commit {commit.stdout.strip() or 'that is not known'}."]
        AGAINST.write_text("\n".join([*head, *against(base)]) + "\n", encoding="utf-8")
        return
    lines = ["# Simplification", "", "Written by `python -m benchmarks.simplification`."]
    for table in TABLES:
        lines += lengths(table)
    lines += orders(given.orders)
    lines += at_random(given.count)
    RESULT.write_text("\n".join(lines) + "\n", encoding="utf-8")


def lengths(table: str) -> list[str]:
    """Compare printed derivatives with the book's forms, in tokens."""
    rows = []
    for case in cases(table):
        made = str(derivative_of(case))
        rows.append((tokens(made) / tokens(case["derivative"]), made, case))
    rows.sort(key=lambda row: (-row[0], row[2]["id"]))
    ratios = [row[0] for row in rows]
    tenth = statistics.quantiles(ratios, n=10)[-1]
    lines = ["", f"## Printed derivatives against {table}", ""]
    lines += [f"{len(rows)} derivatives, tokens as a ratio to the book's: median {statistics.median(ratios):.2f}, "]
    lines[-1] += f"nine in ten at most {tenth:.2f}, the longest {max(ratios):.2f}. The {LONGEST} longest:"
    lines += ["", "| of | by | printed | in the book | ratio |", "|---|---|---|---|---|"]
    for ratio, made, case in rows[:LONGEST]:
        shown = [f"`{text}`" for text in (case["text"], case["wrt"], made, case["derivative"])]
        lines.append(f"| {' | '.join(shown)} | {ratio:.2f} |")
    return lines


def orders(count: int) -> list[str]:
    """Compare the simplified forms of expressions written in five orders each."""
    differing = []
    for seed in range(count):
        kind, ways, simple, gradients = results_of_ways(seed)
        if len(simple) > 1 or len(gradients) > 1:
            differing.append(f"- {kind}: `{ways[0]}`")
    lines = [
        "",
        "## Order",
        "",
        f"{count} products and sums of up to 12 factors and terms, each written in five equal ways: ",
    ]
    lines[-1] += f"{count - len(differing)} with one simplified form and one gradient."
    return lines + differing


def at_random(count: int) -> list[str]:
    """Simplify random expressions."""
    found = list(trials(range(count)))
    compared = [t for t in found if t.error is not None]
    seconds, nodes = sum(t.seconds for t in found), sum(t.nodes for t in found)
    shorter = sum(tokens(t.after) < tokens(t.before) for t in found)
    grew, wrong = [t for t in found if t.grew], [t for t in found if t.is_wrong]
    rounded = sum(t.error is not None and t.error > 1e-10 for t in compared) - len(wrong)
    lines = ["", "## Random expressions", ""]
    lines += [
        f"{count} expressions: {shorter} came out shorter, {len(grew)} longer. {len(compared)} have a finite value: "
    ]
    lines[-1] += (
        f"{len(wrong)} changed by more than 1e-10 relative, {rounded} within the rounding of their data (a value that "
    )
    lines[-1] += (
        f"is 0 in exact arithmetic). {1000 * seconds / nodes:.2f} ms a node, {1000 * seconds / count:.0f} ms each."
    )
    return lines + [shown(t) for t in (*grew, *wrong)]


def shown(t: Trial) -> str:
    return f"- `{t.before}` => `{t.after}` ({t.error})"


if __name__ == "__main__":
    main()
