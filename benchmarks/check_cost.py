"""Measures the cost of the built-in check: its time relative to that of the derivation, for the textbooks' derivatives.

A round is a process that derives each formula once, in an order of its own: rules in use are loaded, and the formula is
new. The CPU time of a derivation is split into that of the comparison with the formula as written, and the rest. Both
are medians over rounds. `--before CHECKOUT` measures another version in alternation.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles
from time import process_time
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "tests" / "cases" / "textbook.json"
RESULT = ROOT / "benchmarks" / "results" / "check_cost.md"
WARM = ("tr(inv(P)*Q) + sum(exp(u)) + v'*u", "u", "P: matrix(k, k); Q: matrix(k, k)")
"""A formula that is derived before all others, so that imports are not measured."""

SLOWEST = 10
"""The number of formulas in the table of the slowest checks."""

Case = Mapping[str, str]


class Cost(NamedTuple):
    """CPU seconds of a derivation without its check, and of the check."""

    derivation: float
    check: float

    @property
    def ratio(self) -> float:
        return self.check / self.derivation


def read_cases() -> list[Case]:
    cases: list[dict[str, str]] = json.loads(CASES.read_text("utf-8"))
    return [{**case, "kind": case.get("kind", "gradient")} for case in cases]


class Checks:
    """The check, with the CPU time that it took."""

    def __init__(self, verify: Callable[..., str]) -> None:
        self.verify, self.spent = verify, 0.0

    def __call__(self, *args: Any) -> str:
        start = process_time()
        try:
            return self.verify(*args)
        finally:
            self.spent += process_time() - start


def print_round(seed: int) -> None:
    """Derive all cases in this process and print their costs."""
    import matcalc as mc
    from matcalc.expressions import derivatives

    checks = Checks(derivatives.verify)
    derivatives.verify = checks  # type: ignore[assignment]
    mc.gradient(*WARM)
    cases = read_cases()
    costs: dict[int, Cost] = {}
    for k in random.Random(seed).sample(range(len(cases)), len(cases)):
        case = cases[k]
        checks.spent = 0.0
        start = process_time()
        getattr(mc, case["kind"])(case["text"], case["wrt"], case["let"])
        costs[k] = Cost(process_time() - start - checks.spent, checks.spent)
    print(json.dumps([costs[k] for k in range(len(cases))]))


def one_round(checkout: Path, seed: int) -> list[Cost]:
    """Return the costs of all cases by the sources of a checkout, in a new process."""
    settings = {**os.environ, "PYTHONPATH": str(checkout), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--round", str(seed)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=settings, cwd=checkout)
    return [Cost(*one) for one in json.loads(run.stdout)]


def over_rounds(rounds: Sequence[Sequence[Cost]]) -> list[Cost]:
    """Return the medians over rounds."""
    return [Cost(*(median(column) for column in zip(*costs, strict=True))) for costs in zip(*rounds, strict=True)]


def table(costs: Mapping[str, Sequence[Cost]]) -> str:
    """Return the results as Markdown."""
    cases = read_cases()
    lines = [
        "# The cost of the built-in check",
        "",
        "Made by `python -m benchmarks.check_cost --write`: CPU time of the check of a result, relative to that of its",
        f"derivation without the check, for the {len(cases)} derivatives of textbooks in `tests/cases/textbook.json`.",
        "A process derives each of them once, in random order; medians over several such processes.",
        "",
        "| version | median ratio | 90th percentile | checks, ms | derivations, ms | ratio of sums | median check |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, found in costs.items():
        ratios, checks = [cost.ratio for cost in found], [1e3 * cost.check for cost in found]
        whole = 1e3 * sum(cost.derivation for cost in found)
        sums = f"{sum(checks):.0f} | {whole:.0f} | {sum(checks) / whole:.2f}"
        lines.append(
            f"| {name} | {median(ratios):.2f} | {quantiles(ratios, n=10)[-1]:.2f} | {sums} | {median(checks):.1f} ms |"
        )
    name, found = list(costs.items())[-1]
    lines += ["", f"The {SLOWEST} slowest checks, {name}:", ""]
    lines += ["| formula | derivative | check, ms | derivation, ms | ratio |", "|---|---|---:|---:|---:|"]
    for case, cost in sorted(zip(cases, found, strict=True), key=lambda pair: -pair[1].check)[:SLOWEST]:
        own = f"`{case['text']}` | {case['kind']} in {case['wrt']}"
        lines.append(f"| {own} | {1e3 * cost.check:.1f} | {1e3 * cost.derivation:.1f} | {cost.ratio:.2f} |")
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="another version, to compare with")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/check_cost.md")
    parser.add_argument("--round", type=int, metavar="SEED", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.round is not None:
        print_round(given.round)
        return
    versions = {"before": given.before.resolve()} if given.before else {}
    versions["now"] = ROOT
    rounds: dict[str, list[list[Cost]]] = {name: [] for name in versions}
    for seed in range(given.rounds):
        for name, checkout in versions.items():
            rounds[name].append(one_round(checkout, seed))
    text = table({name: over_rounds(found) for name, found in rounds.items()})
    print(text)
    if given.write:
        RESULT.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
