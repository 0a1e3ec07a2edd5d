"""Planted faults in matcalc itself, one at a time, and what the built-in check makes of each.

    python tests/evidence/written/planted_faults.py FOLDER [COUNT] [SEED] [ROOM ...]

Faults are planted in each room until COUNT (14) of them change a number. FOLDER gets copies of the sources that are
changed, and a line for each fault, `faults.jsonl`; another run adds to them.

A fault changes a number where a result of the panel, made without the check, is another at fixed data. Each such result
is then made with the check: it is refused, or it is returned.
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
from typing import Any, NamedTuple

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
SERVER = Path(__file__).with_name("planted_server.py")
TRACED = Path(__file__).with_name("planted_lines.py")

TELLING = ("a sign", "a factor", "a factor dropped", "a term dropped", "a transposition", "a result doubled",
           "a result with another sign", "a result transposed", "two indices exchanged", "another index")  # fmt: skip
"""Kinds of faults that change a number more often: more of them are planted."""

WEIGHT = {True: 12, False: 1}
MOST = 10
"""Results of the panel that are made with a fault planted."""

MACHINE = 3
"""How many of them are for Numba: their machine code takes seconds."""

CHECKED = 3
"""Results with another number that are made with the check."""

CONSTRUCTORS = """constructors product sums elementwise network reindex selectors switches schur operations substitute
broadcasting product_facts facts axes palindrome chain grouping ranges"""
MATCHER = """match rewrite by_factor chains named_functions function_arguments norms masks operand_readings
pattern_variables index_by_word"""
FACTORING = "factor expand distribute shorten shortest simplify abstraction sum_of_squares nested_fractions literals"
ROOMS: dict[str, list[str]] = {
    "constructors": [f"matcalc/tensor/**/{word}.py" for word in CONSTRUCTORS.split()],
    "matcher and rewrites": [*(f"matcalc/calculus/simplify/{w}.py" for w in MATCHER.split()), "rules/rewrites.toml"],
    "rules": [f"rules/{word}.toml" for word in ("elementwise", "linalg", "reductions", "spectral", "structure")],
    "derivation": ["matcalc/calculus/derive/*.py"],
    "factoring": [f"matcalc/calculus/simplify/{word}.py" for word in FACTORING.split()],
    "planner": ["matcalc/compiler/plan/**/*.py"],
    "emitter": ["matcalc/compiler/emit/*.py"],
    "kernels": ["codegen/numba/*.py", "codegen/numpy/*.py", "codegen/kernels.toml", "codegen/scalars.toml"],
}


Results = dict[str, tuple[str, Any]]


class Outcome(NamedTuple):
    """How a planted fault ended, where, and the numbers or the message.

    "none" is one that was not planted or took too long, "error" one that raised an error without the check, "same" one
    that changed no number; "refused" is refused by the check, "raised" raises another error with the check.
    """

    how: str
    label: str = ""
    why: str = ""


def copied(folder: Path) -> Path:
    """Return a copy of the sources that are changed."""
    tree = folder / f"tree{os.getpid()}"
    for name in ("matcalc", "rules", "codegen"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("objects"))
    shutil.copy(ROOT / "pyproject.toml", tree)
    return tree


def environment(tree: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(tree), "MATCALC_CACHE": "0", "PYTHONDONTWRITEBYTECODE": "1"}


def reached(tree: Path) -> dict[str, Any]:
    """Return the labels of the results that reach each line, each kernel and function of `codegen/`, and all labels."""
    run = subprocess.run(
        [sys.executable, str(TRACED), str(tree)], env=environment(tree), capture_output=True, text=True
    )
    return dict(json.loads(run.stdout))


class Server:
    """A process that plants faults in forks of itself."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self.process = subprocess.Popen(
            [sys.executable, str(SERVER), str(tree)],
            env=environment(tree), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert self.process.stdout and self.process.stdout.readline() == "ready\n"
        self.right: Results = {}

    def panel(self, mutant: Mutant | None, labels: Sequence[str], check: bool = False, more: Any = None) -> Results:
        """Return how results end with a fault planted, or with none; nothing of those that took too long."""
        if mutant is None:
            return self._asked(["", "", labels, check, more])
        path = self.tree / mutant.path
        text, times = path.read_text(encoding="utf-8"), path.stat()
        if mutant.path.startswith("matcalc/"):
            return self._asked([str(path), mutant.applied(text), labels, check, more])
        try:
            path.write_text(mutant.applied(text), encoding="utf-8")
            return self._asked([str(path), "", labels, check, more])
        finally:
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def known(self, labels: Sequence[str], more: Any) -> Results:
        """Return how results end with no fault."""
        if more:
            return self.panel(None, labels, more=more)
        missing = [label for label in labels if label not in self.right]
        if missing:
            self.right |= self.panel(None, missing)
        return self.right

    def close(self) -> None:
        self.process.kill()
        self.process.wait()

    def _asked(self, request: list[Any]) -> Results:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return {label: (how, what) for label, (how, what) in json.loads(self.process.stdout.readline()).items()}


def is_same(a: object, b: object) -> bool:
    """Whether numbers agree to rounding."""
    one, other = np.array(a, dtype=float), np.array(b, dtype=float)
    size = max(float(np.max(np.abs(other[np.isfinite(other)]), initial=0.0)), 1e-6)
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=0, atol=1e-7 * size, equal_nan=True))


def tried(server: Server, mutant: Mutant, labels: Sequence[str]) -> Outcome:
    """Plant a fault, make results without the check, then with it those whose numbers have changed."""
    right = server.known(labels, mutant.rule)
    labels = [label for label in labels if right.get(label, ("",))[0] == "numbers"]
    found = server.panel(mutant, labels, more=mutant.rule)
    if "not planted" in found or not labels:
        return Outcome("none")
    numbers = [label for label in labels if found.get(label, ("",))[0] == "numbers"]
    changed = [label for label in numbers if not is_same(found[label][1], right[label][1])]
    if changed:
        checked = server.panel(mutant, changed[:CHECKED], True, mutant.rule)
        ends = [_judged(label, *checked[label], right[label][1]) for label in changed[:CHECKED] if label in checked]
        return next((end for word in ENDS for end in ends if end.how == word), Outcome("none"))
    errors = [label for label in labels if found.get(label, ("",))[0] not in ("", "numbers")]
    if errors:
        return Outcome("error", errors[0], found[errors[0]][1])
    return Outcome("same") if found else Outcome("none")


ENDS = ("returned", "refused", "raised")
"""Of several results with another number the first of these counts."""


def _judged(label: str, how: str, what: Any, right: Any) -> Outcome:
    if how != "numbers":
        return Outcome("refused" if how == "refused" else "raised", label, str(what))
    return Outcome("returned", label, f"{np.round(what, 6)[:4]} for {np.round(right, 6)[:4]}")


def mutants(tree: Path, room: str, met: dict[str, Any]) -> Iterator[Mutant]:
    """Yield all mutants of a room in what the panel reaches."""
    words = set(re.findall(r"[a-zA-Z]\w*", " ".join(met["labels"])))
    for pattern in ROOMS[room]:
        found = sorted(tree.glob(pattern))
        assert found, f"no file is {pattern}"
        for path in found:
            name, text = str(path.relative_to(tree)), path.read_text(encoding="utf-8")
            if path.name == "rewrites.toml":
                yield from of_rewrites(room, name, text)
            elif path.suffix == ".toml" and room == "rules":
                yield from of_rules(room, name, text, words)
            elif path.suffix == ".toml":
                yield from of_templates(room, name, text, words | set(met["kernels"]))
            elif room == "kernels":
                yield from (m for m in of_python(room, name, text, None) if m.entry in met["kernels"])
            else:
                lines = set(map(int, met["lines"].get(name, ())))
                yield from of_python(room, name, text, lines)
                yield from of_results(room, name, text, lines) if "emit" not in name else ()
                yield from of_texts(room, name, text, lines) if room == "emitter" else ()


def labels_for(mutant: Mutant, met: dict[str, Any], rng: random.Random) -> list[str]:
    """Return some of the results that reach a mutant."""
    if mutant.rule:
        return [f"simplify: {mutant.rule[0]}"]
    if mutant.path.startswith("matcalc/"):
        found = list(met["lines"][mutant.path][str(mutant.line)])
    else:
        found = [label for label in met["labels"] if re.search(rf"\b{mutant.entry}\b", label)]
        found += met["kernels"].get(mutant.entry, [])
    target = {"codegen/numba": "numba", "codegen/numpy": "numpy"}.get(str(Path(mutant.path).parent), "")
    found = [label for label in dict.fromkeys(found) if label.startswith(target) or mutant.room != "kernels"]
    rng.shuffle(found)
    machine = [label for label in found if label.startswith("numba")]
    most = MACHINE if mutant.room in ("planner", "emitter", "kernels") else 0
    return [*(label for label in found if label not in machine), *machine[:most]][-MOST:]


def drawn(found: Sequence[Mutant], rng: random.Random) -> Iterator[Mutant]:
    """Yield mutants in a random order in which kinds, files and lines take turns."""
    rest = list(found)
    rng.shuffle(rest)
    used: Counter[str] = Counter()
    while rest:
        best = min(rest, key=lambda m: used[m.kind] / WEIGHT[m.kind in TELLING] + used[m.path] / 3 + used[m.before])
        rest.remove(best)
        used.update([best.kind, best.path, best.before])
        yield best


def run(folder: Path, rooms: Sequence[str], count: int, seed: int, most: int = 400) -> list[tuple[Mutant, Outcome]]:
    """Plant faults in each room until so many change a number; write each outcome as it comes."""
    tree = copied(folder)
    rows: list[tuple[Mutant, Outcome]] = []
    kept = folder / "reached.json"
    if not kept.exists():
        kept.write_text(json.dumps(reached(tree)), encoding="utf-8")
    met, server = json.loads(kept.read_text(encoding="utf-8")), Server(tree)
    with open(folder / "faults.jsonl", "a", encoding="utf-8") as written:
        for room in rooms:
            changed, rng = 0, random.Random(f"{room} {seed}")
            for k, mutant in enumerate(drawn(list(mutants(tree, room, met)), rng)):
                if changed == count or k == most:
                    break
                outcome = tried(server, mutant, labels_for(mutant, met, rng))
                changed += outcome.how in ENDS
                rows.append((mutant, outcome))
                print(json.dumps([*mutant[:6], *outcome]), file=written, flush=True)
    server.close()
    shutil.rmtree(tree)
    return rows


def table(rows: Sequence[tuple[str, str]]) -> str:
    """Return the table of outcomes by room."""
    counted = {room: Counter(how for where, how in rows if where == room and how != "none") for room in ROOMS}
    lines = ["| room | planted | error | same numbers | another number | refused | returned |"]
    lines += ["|---|---:|---:|---:|---:|---:|---:|"]
    for room, c in [*counted.items(), ("all", sum(counted.values(), Counter()))]:
        refused = c["refused"] + c["raised"]
        told = [room, c.total(), c["error"], c["same"], refused + c["returned"], refused, c["returned"]]
        lines.append(f"| {' | '.join(map(str, told))} |")
    return "\n".join(lines)


def main() -> None:
    folder, count, seed = Path(sys.argv[1]), *map(int, (*sys.argv[2:4], *("14", "1")[len(sys.argv[2:4]) :]))
    folder.mkdir(parents=True, exist_ok=True)
    run(folder, sys.argv[4:] or list(ROOMS), count, seed)
    rows = [json.loads(line) for line in (folder / "faults.jsonl").read_text(encoding="utf-8").splitlines()]
    print(table([(row[0], row[6]) for row in rows]))


if __name__ == "__main__":
    main()
