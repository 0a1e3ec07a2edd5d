"""Planted faults in matcalc itself, one at a time, and what the built-in check makes of each.

    python tests/evidence/written/planted.py FOLDER [COUNT] [SEED] [ROOM ...]

COUNT faults that show are wanted of each room (13). FOLDER holds copies of the sources that are changed, and the table.
A fault shows where a result of the panel, made without the check, is another number, or where the check refuses one.
"""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from evidence.written.planted_mutants import (
    Mutant,
    of_python,
    of_results,
    of_rewrites,
    of_rules,
    of_templates,
    of_texts,
)

ROOT = Path(__file__).resolve().parents[3]
PANEL = Path(__file__).with_name("planted_panel.py")
SERVER = Path(__file__).with_name("planted_server.py")
TRACED = Path(__file__).with_name("planted_lines.py")
COMPILED = ("planner", "emitter", "kernels")
"""Rooms whose faults show in compiled functions alone."""

TELLING = ("a sign", "a factor", "a factor dropped", "a transposition", "a result doubled",
           "a result with another sign", "a result transposed")  # fmt: skip
"""Kinds of faults that show more often: more of them are planted."""

FEW = 2
"""The same of faults in kernels: their machine code takes seconds."""

WEIGHT = {True: 30, False: 1}
MOST_RESULTS = 5
"""Results of the panel that are made with a fault planted."""

LIMIT = 150.0
"""Seconds that a panel may take."""

CONSTRUCTORS = """constructors product sums elementwise network reindex selectors switches schur operations substitute
broadcasting product_facts facts axes mirror chain grouping ranges"""
MATCHER = """match rewrite by_factor chains named_functions function_arguments norms masks operand_readings
pattern_variables index_by_word"""
FACTORING = "factor expand distribute shorten shortest simplify abstraction sum_of_squares fractions_within literals"
ROOMS: dict[str, list[str]] = {
    "constructors": [f"matcalc/tensor/{word}.py" for word in CONSTRUCTORS.split()],
    "matcher and rewrites": [*(f"matcalc/calculus/simplify/{w}.py" for w in MATCHER.split()), "rules/rewrites.toml"],
    "rules": [f"rules/{word}.toml" for word in ("elementwise", "linalg", "reductions", "spectral", "structure")],
    "derivation": ["matcalc/calculus/derive/*.py"],
    "factoring": [f"matcalc/calculus/simplify/{word}.py" for word in FACTORING.split()],
    "planner": ["matcalc/compiler/plan/*.py"],
    "emitter": ["matcalc/compiler/emit/*.py"],
    "kernels": ["codegen/numba/*.py", "codegen/numpy/*.py", "codegen/kernels.toml", "codegen/scalars.toml"],
}


def copied(folder: Path) -> Path:
    """Return a copy of the sources that are changed."""
    tree = folder / f"tree{os.getpid()}"
    for name in ("matcalc", "rules", "codegen"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("objects"))
    shutil.copy(ROOT / "pyproject.toml", tree)
    return tree


def environment(tree: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(tree), "MATCALC_CACHE": "0", "PYTHONDONTWRITEBYTECODE": "1"}


Results = dict[str, tuple[str, object]]


def panel(tree: Path, check: bool, labels: Sequence[str] | None = None, rule: tuple[str, str] | None = None) -> Results:
    """Return how results of the panel end, with the sources of a tree."""
    asked = () if labels is None else (json.dumps(labels), *(rule or ()))
    command = [sys.executable, str(PANEL), str(int(check)), *asked]
    try:
        run = subprocess.run(command, env=environment(tree), capture_output=True, text=True, timeout=LIMIT)
        said, end = run.stdout, ("" if run.returncode == 0 else (run.stderr.strip().split("\n") or [""])[-1])
    except subprocess.TimeoutExpired as error:
        said, end = (error.stdout or b"").decode() if isinstance(error.stdout, bytes) else "", "time"
    rows = [json.loads(line) for line in said.split("\n") if line.endswith("]")]
    found = {label: (how, what) for label, how, what in rows}
    return {**found, **({"the end": ("error", end[:200])} if end else {})}


def is_same(a: object, b: object) -> bool:
    """Whether numbers agree to rounding."""
    one, other = np.array(a, dtype=float), np.array(b, dtype=float)
    size = max(float(np.max(np.abs(other), initial=0.0)), 1e-6)
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=0, atol=1e-7 * size, equal_nan=True))


def judged(found: dict[str, tuple[str, object]], right: dict[str, tuple[str, object]]) -> tuple[str, str]:
    """Return the outcome of a mutant, and where and why: a result that is wrong and returned counts most."""
    if "not planted" in found:
        return "none", ""
    refusals, errors = [], []
    for label, (how, what) in found.items():
        known = right.get(label)
        if how == "numbers" and known and known[0] == "numbers" and not is_same(what, known[1]):
            return "returned", f"{label}: {np.round(what, 6)[:4]} for {np.round(known[1], 6)[:4]}"
        if how == "refused":
            refusals.append(f"{label}: {what}")
        if how == "error" and (known is None or known[0] == "numbers"):
            errors.append(f"{label}: {what}")
    if refusals:
        return "refused", refusals[0]
    if any("status 14" in error for error in errors):
        return "none", ""
    return ("error", errors[0]) if errors else ("same", "")


def reached(tree: Path) -> dict[str, Any]:
    """Return the labels of the results that reach each line, and each kernel, and all labels."""
    run = subprocess.run(
        [sys.executable, str(TRACED), str(tree)], env=environment(tree), capture_output=True, text=True
    )
    return dict(json.loads(run.stdout))


def mutants(tree: Path, room: str, met: dict[str, Any]) -> Iterator[Mutant]:
    """Yield all mutants of a room in what the panel reaches."""
    words = set(re.findall(r"[a-zA-Z]\w*", " ".join(met["labels"])))
    for pattern in ROOMS[room]:
        for path in sorted(tree.glob(pattern)):
            name, text = str(path.relative_to(tree)), path.read_text(encoding="utf-8")
            if path.name == "rewrites.toml":
                yield from of_rewrites(room, name, text)
            elif path.suffix == ".toml" and room == "rules":
                yield from of_rules(room, name, text, words)
            elif path.suffix == ".toml":
                yield from of_templates(room, name, text, words | set(met["kernels"]))
            elif room == "kernels" and "numba" in name:
                found = (m._replace(entry=_function(text, m.line)) for m in of_python(room, name, text, None))
                yield from (m for m in found if m.entry in met["kernels"])
            else:
                lines = set(map(int, met["lines"].get(name, ())))
                yield from of_python(room, name, text, lines)
                yield from of_results(room, name, text, lines) if "compiler" not in name else ()
                yield from of_texts(room, name, text, lines) if room == "emitter" else ()


def labels_for(mutant: Mutant, met: dict[str, Any]) -> list[str]:
    """Return the results that reach a mutant, as far as that is known."""
    if mutant.path.endswith(".py") and not mutant.entry:
        found = met["lines"][mutant.path][str(mutant.line)]
        quick = [label for label in found if not label.startswith("numba")]
        return (quick if mutant.room not in COMPILED else found)[:MOST_RESULTS] or list(found[:1])
    used = met["kernels"].get(mutant.entry, [])
    named = [label for label in met["labels"] if mutant.entry and re.search(rf"\b{mutant.entry}\b", label)]
    compiled = [label for label in met["labels"] if label.startswith(("numba", "numpy"))]
    rest = compiled if mutant.room == "kernels" else met["labels"][::9]
    return list(dict.fromkeys([*used, *named, *rest]))[: FEW if mutant.room == "kernels" else MOST_RESULTS]


def _function(text: str, line: int) -> str:
    """Return the name of the function in which a line of a source stands."""
    starts = [part for part in text.split("\n")[:line] if part.startswith("def ")]
    return starts[-1].split("(")[0].removeprefix("def ") if starts else ""


def drawn(found: Sequence[Mutant], seed: int) -> Iterator[Mutant]:
    """Yield mutants in a random order in which kinds and files take turns."""
    rng = random.Random(seed)
    rest = list(found)
    rng.shuffle(rest)
    used: Counter[str] = Counter()
    while rest:
        best = min(rest, key=lambda m: (used[m.kind] / WEIGHT[m.kind in TELLING] + used[m.path] / 9, used[m.before]))
        rest.remove(best)
        used.update([best.kind, best.path, best.before])
        yield best


class Server:
    """A process that plants faults of Python sources in forks of itself."""

    def __init__(self, tree: Path, warm: bool) -> None:
        self.command = [sys.executable, str(SERVER), str(tree), str(int(warm))]
        self.process = subprocess.Popen(
            self.command, env=environment(tree), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout and self.process.stdout.readline() == "ready\n"

    def panel(self, path: str, text: str, labels: Sequence[str], rule: tuple[str, str] | None = None) -> Results:
        """Return how results of the panel end, with another text of a source."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps([path, text, labels, rule]) + "\n")
        self.process.stdin.flush()
        found: Results = {}
        for line in self.process.stdout:
            if not line.startswith("["):
                continue
            label, how, what = json.loads(line)
            if label == "the end":
                return {**found, **({"the end": ("error", f"status {how}")} if how else {})}
            found[label] = how, what
        return {**found, "the end": ("error", "the server ended")}

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def tried(
    tree: Path, servers: Sequence[Server], mutant: Mutant, right: Results, labels: Sequence[str]
) -> tuple[str, str]:
    """Plant a fault, run the panel with the check, and return the outcome."""
    path = tree / mutant.path
    text, times = path.read_text(encoding="utf-8"), path.stat()
    if mutant.path.startswith("matcalc/"):
        return judged(servers[1].panel(mutant.path, mutant.applied(text), labels), right)
    try:
        path.write_text(mutant.applied(text), encoding="utf-8")
        return judged(servers[0].panel(mutant.path, "", labels, mutant.rule), right)
    finally:
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def run(folder: Path, rooms: Sequence[str], count: int, seed: int, most: int = 150) -> list[tuple[Mutant, str, str]]:
    """Try mutants of each room until so many show; write each outcome as it comes."""
    tree = copied(folder)
    rows: list[tuple[Mutant, str, str]] = []
    kept = folder / "reached.json"
    if not kept.exists():
        kept.write_text(json.dumps([panel(tree, False), reached(tree)]), encoding="utf-8")
    servers = [Server(tree, warm) for warm in (False, True)]
    right, met = json.loads(kept.read_text(encoding="utf-8"))
    for room in rooms:
        shown = 0
        for k, mutant in enumerate(drawn(list(mutants(tree, room, met)), seed)):
            if shown == count or k == most:
                break
            known = right if not mutant.rule else right | panel(tree, False, [], mutant.rule)
            how, why = tried(tree, servers, mutant, known, labels_for(mutant, met))
            if how == "none":
                continue
            shown += how in ("refused", "returned")
            rows.append((mutant, how, why))
            what = [room, how, mutant.path, mutant.line, mutant.kind, mutant.before.strip(), mutant.after.strip(), why]
            print(json.dumps(what), flush=True)
    for server in servers:
        server.close()
    shutil.rmtree(tree)
    return rows


def table(rows: Sequence[tuple[str, str]]) -> str:
    """Return the table of outcomes by room."""
    counted = {room: Counter(how for where, how in rows if where == room) for room in ROOMS}
    lines = ["| room | planted | error | same numbers | refused | returned |", "|---|---:|---:|---:|---:|---:|"]
    for room, c in [*counted.items(), ("all", sum(counted.values(), Counter()))]:
        lines.append(f"| {room} | {c.total()} | {c['error']} | {c['same']} | {c['refused']} | {c['returned']} |")
    return "\n".join(lines)


def main() -> None:
    folder, count, seed = Path(sys.argv[1]), *map(int, (*sys.argv[2:4], *("13", "1")[len(sys.argv[2:4]) :]))
    folder.mkdir(parents=True, exist_ok=True)
    rows = run(folder, sys.argv[4:] or list(ROOMS), count, seed)
    print(table([(mutant.room, how) for mutant, how, _ in rows]))


if __name__ == "__main__":
    main()
