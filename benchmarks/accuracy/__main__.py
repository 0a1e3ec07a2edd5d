"""Measure the error of every rule: `python -m benchmarks.accuracy [--only inv,det]`.

For each rule, at random, near-degenerate, graded and scaled inputs, value, JVP, VJP and second derivative of the
compiled code are held against the rule's value at many digits and differences of it. The worst errors go to
rules/measured.toml, the whole table to benchmarks/results/accuracy.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy import tables
from benchmarks.accuracy.answers import Answers
from benchmarks.accuracy.cases import Case, cases, condition, errors
from matcalc.rulebook.load import default_rulebook

ROOT = Path(__file__).resolve().parent.parent.parent
LOOK_CLOSER = 1e-14
"""Errors above this are held against the condition of the problem too."""


def main() -> None:
    options = arguments()
    options.folder.mkdir(parents=True, exist_ok=True)
    book = default_rulebook()
    chosen = [n for n in options.only.split(",") if n] or [r.name for r in book.rules.values() if r.values]
    targets = {target: Answers(target) for target in options.targets.split(",")}
    if not options.no_measuring:
        for name in chosen:
            path = options.folder / f"{name}.json"
            rule = book.get(name)
            mark = rule.digest.hex()
            if options.resume and path.is_file() and json.loads(path.read_text())["rule"] == mark:
                continue
            start = time.perf_counter()
            found = list(measured(cases(book, rule), targets, options.seconds))
            path.write_text(json.dumps({"rule": mark, "records": found}), encoding="utf-8")
            print(f"{name:18s} {tables.line(found)}   {time.perf_counter() - start:.0f} s", flush=True)
    records = {
        n: json.loads((options.folder / f"{n}.json").read_text())["records"] for n in chosen_files(options, book)
    }
    if not options.only:
        (ROOT / "rules" / "measured.toml").write_text(tables.measured_toml(records), encoding="utf-8")
        results = ROOT / "benchmarks" / "results"
        results.mkdir(exist_ok=True)
        (results / "accuracy.md").write_text(tables.markdown(records), encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rules, by name; no file is written then")
    parser.add_argument("--targets", default="numba,numpy", help="the first is the one of the file")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "accuracy", help="records of each rule")
    parser.add_argument("--resume", action="store_true", help="keep the records of rules that have not changed")
    parser.add_argument("--seconds", type=float, default=60.0, help="after which a rule's further inputs are left out")
    parser.add_argument("--no-measuring", action="store_true", help="write the tables of what was measured before")
    return parser.parse_args()


def chosen_files(options: argparse.Namespace, book: Any) -> list[str]:
    return [r.name for r in book.rules.values() if (options.folder / f"{r.name}.json").is_file()]


def measured(found: Iterator[Case], targets: dict[str, Answers], seconds: float) -> Iterator[dict[str, Any]]:
    """Yield a record for each case, target and kind of answer, until `seconds` have passed."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in found:
            conditions: dict[str, Any] = {}
            for target, answers in targets.items():
                for kind, answer in answers.of(case).items():
                    yield record(case, target, kind, answer, conditions)
            if time.perf_counter() - start > seconds:
                return


def record(case: Case, target: str, kind: str, answer: Any, conditions: dict[str, Any]) -> dict[str, Any]:
    """Return what is found of one answer: its worst error, and that beyond the problem's condition."""
    made = {"output": case.output, "wrt": case.wrt, "regime": case.regime, "target": target, "kind": kind}
    made["tangents"] = case.point.form.tangents if case.point else 0
    if isinstance(answer, Exception):
        return {**made, "refused": f"{type(answer).__name__}: {str(answer).splitlines()[0]}"}
    error = errors(case, kind, answer)
    worst = float(np.max(error, initial=0.0))
    if worst <= LOOK_CLOSER:
        return {**made, "error": worst, "beyond": worst, "condition": None}
    if kind not in conditions:
        conditions[kind] = condition(case, kind)
    known = np.where(np.isfinite(conditions[kind]), np.maximum(conditions[kind], 1.0), np.inf)
    beyond = np.broadcast_to(np.where(np.isfinite(error), error / known, np.inf), np.shape(error))
    at = int(np.argmax(beyond))
    return {
        **made,
        "error": worst,
        "beyond": float(np.ravel(beyond)[at]),
        "condition": float(np.ravel(np.broadcast_to(known, np.shape(error)))[at]),
    }


if __name__ == "__main__":
    sys.exit(main())
