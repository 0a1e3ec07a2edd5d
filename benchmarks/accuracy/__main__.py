"""Measure the error of every rule: `python -m benchmarks.accuracy [--only inv,det]`.

Inputs are random, near-degenerate, graded and scaled. Value, JVP, VJP and second derivative of the compiled code are
compared with the rule's value at many digits and differences of it. The worst errors go to rules/measured.toml, the
whole table to benchmarks/results/accuracy.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.accuracy import tables
from benchmarks.accuracy.answers import Answers
from benchmarks.accuracy.case import JSON, Answer, Case
from benchmarks.accuracy.cases import cases, conditions, errors
from benchmarks.accuracy.inputs import OWN
from benchmarks.accuracy.peer import PEERS, Peer
from benchmarks.accuracy.store import Store
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.rulebook.rule import Rule

ROOT = Path(__file__).resolve().parent.parent.parent
LOOK_CLOSER = 1e-14
"""Errors above this are also compared with the condition of the problem."""


def main() -> None:
    options = arguments()
    options.folder.mkdir(parents=True, exist_ok=True)
    book = default_rulebook()
    chosen = [n for n in options.only.split(",") if n] or [r.name for r in book.rules.values() if measurable(r)]
    targets = {name: target_of(name, options.peers) for name in options.targets.split(",") if name}
    for name in chosen:
        measure(book, book.get(name), targets, options)
    if not options.only:
        write(book, options.folder)


def measurable(rule: Rule) -> bool:
    return bool(rule.values) and "unmeasured" not in OWN.get(rule.name, {})


def target_of(name: str, peers: str) -> Answers | Peer:
    return Peer(name, peers) if name in PEERS else Answers(name)


def measure(book: Rulebook, rule: Rule, targets: dict[str, Answers | Peer], options: argparse.Namespace) -> None:
    """Measure one rule on some targets; records of other targets stay in its file if the rule has not changed."""
    path = options.folder / f"{rule.name}.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"rule": "", "records": []}
    stored = known["records"]
    if known["rule"] != rule.digest.hex():  # the answers of other frameworks depend only on the value
        stored = [
            r for r in stored if r["target"] in PEERS and known.get("value", list(rule.values)) == list(rule.values)
        ]
    have = {r["target"] for r in stored} if options.resume else set()
    missing = {name: target for name, target in targets.items() if name not in have}
    if not missing:
        return
    start = time.perf_counter()
    store = Store(options.folder / "truth" / f"{rule.name}.json", options.fresh)
    found = [r for r in stored if r["target"] not in missing]
    found += measured(cases(book, rule, store), missing, options.seconds, store)
    store.save()
    made = {"rule": rule.digest.hex(), "value": list(rule.values), "records": found}
    path.write_text(json.dumps(made), encoding="utf-8")
    print(f"{rule.name:18s} {tables.line(found)}   {time.perf_counter() - start:.0f} s", flush=True)


def write(book: Rulebook, folder: Path) -> None:
    """Write rules/measured.toml and the report, from all records of the current rule names."""
    files = {r.name: folder / f"{r.name}.json" for r in book.rules.values()}
    records = {name: json.loads(path.read_text())["records"] for name, path in files.items() if path.is_file()}
    (ROOT / "rules" / "measured.toml").write_text(tables.measured_toml(records), encoding="utf-8")
    results = ROOT / "benchmarks" / "results"
    results.mkdir(exist_ok=True)
    reasons = {name: own["unmeasured"] for name, own in OWN.items() if "unmeasured" in own}
    entrywise = [r.name for r in book.rules.values() if r.kind == "map"]
    (results / "accuracy.md").write_text(tables.markdown(records, reasons, entrywise), encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rules, by name; no file is written then")
    parser.add_argument("--targets", default="numba,numpy", help="of numba, numpy, torch, jax; none: only the tables")
    parser.add_argument("--peers", default=sys.executable, help="the Python that imports torch and jax")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "accuracy", help="records of each rule")
    parser.add_argument("--resume", action="store_true", help="keep the records of rules that have not changed")
    parser.add_argument("--fresh", action="store_true", help="compute the truths again")
    parser.add_argument("--seconds", type=float, default=60.0, help="after which a rule's further inputs are left out")
    return parser.parse_args()


def measured(
    found: Iterator[Case], targets: dict[str, Answers | Peer], seconds: float, store: Store | None = None
) -> Iterator[dict[str, JSON]]:
    """Yield a record for each case, target and kind of answer, until `seconds` have passed."""
    start = time.perf_counter()
    known = store or Store()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in found:
            for target, answers in targets.items():
                for kind, answer in answers.of(case).items():
                    yield record(case, target, kind, answer, known)
            if time.perf_counter() - start > seconds:
                return


def record(case: Case, target: str, kind: str, answer: Answer, store: Store) -> dict[str, JSON]:
    """Return the record of one answer: its worst error, and the error divided by the problem's condition."""
    made = {"output": case.output, "wrt": case.wrt, "regime": case.regime, "target": target, "kind": kind}
    made["tangents"] = case.point.form.tangents if case.point else 0
    if isinstance(answer, Exception):
        return {**made, "refused": f"{type(answer).__name__}: {str(answer).splitlines()[0]}"}
    error = errors(case, kind, answer)
    worst = float(np.max(error, initial=0.0))
    if worst <= LOOK_CLOSER:
        return {**made, "error": worst, "beyond": worst, "condition": None}
    condition = store.condition(case, kind, lambda: conditions(case))
    known = np.where(np.isfinite(condition), np.maximum(condition, 1.0), np.inf)
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
