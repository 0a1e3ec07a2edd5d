"""Counts rejections and empty comparisons of the built-in check on random formulas.

    python tests/evidence/written/campaign.py [COUNT] [SEED] [compiled]
    python tests/evidence/written/campaign.py documents [compiled]

With `documents` it takes the formulas of the documentation, README and the cases. It prints each rejection, and a table
of the statements in `checked`. A rejection is a wrong result or a false alarm, so both are faults.
"""

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import fresh_memory
import numpy as np

import matcalc as mc
from matcalc.rulebook.load import default_rulebook
from matcalc.testing.strategies import chosen_forms, random_case

OTHER_NAMES = {"hvp": {"vector": "other_v"}}
"""Names of new symbols that no formula uses."""

BEYOND = (np.linalg.LinAlgError, mc.NotDifferentiable, mc.NotSupported, mc.ShapeError, mc.UnknownName)
"""Errors that are no findings."""


ROOT = Path(__file__).resolve().parents[3]
CASES = ("identities", "rules", "textbook")
LEFT_OUT = ("settled", "unless_steep", "even_ratio")
"""Forms that only programs and derivatives contain: one treats NaN as 0, the others print without a limit."""

Formula = tuple[str, str, tuple[str, ...]]


def documented() -> Iterator[Formula]:
    """Yield the formulas in the documentation and README that can be read, and those of the cases."""
    texts: dict[tuple[str, str], None] = {}
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        written = page.read_text(encoding="utf-8")
        for text in re.findall(r"`([^`\n]+)`|\"([^\"\n]+)\"|^    (\S[^\n]*)$", written, re.MULTILINE):
            texts.setdefault((next(filter(None, text)), ""))
    for name in CASES:
        for case in json.loads((ROOT / "tests" / "cases" / f"{name}.json").read_text(encoding="utf-8")):
            texts.setdefault((case["text"], case["let"]))
    for text, declared in texts:
        try:
            e = mc.expression(text, declared)
        except (mc.MatcalcError, ValueError, TypeError):
            continue
        if e.names.written:
            yield text, declared, tuple(e.names.written)


def formulas(count: int, seed: int, depth: int = 3) -> Iterator[Formula]:
    """Yield random formulas with their declarations and symbols."""
    rng = np.random.default_rng(seed)
    book = default_rulebook()
    pool = chosen_forms(book, None)
    for _ in range(count):
        try:
            case = random_case(
                book, lambda items: items[rng.integers(len(items))], int(rng.integers(2**31)), depth, pool, pool
            )
        except BEYOND:
            continue
        if not any(re.search(rf"\b{word}\(", case.text) for word in LEFT_OUT):
            yield case.text, case.declarations, case.symbols


def told(text: str, declared: str, names: tuple[str, ...], compiled: bool) -> Iterator[str]:
    """Yield the entries of `checked` for a formula's derivatives, its simplified form and its compiled function."""
    e = mc.expression(text, declared)
    yield e.simplify().checked
    for name in names:
        for derive in ("gradient", "hvp") if not e.node.shape else ("jvp", "vjp"):
            try:
                yield getattr(e, derive)(name, **OTHER_NAMES.get(derive, {})).checked
            except BEYOND:
                yield "refused by name"
    if compiled:
        yield mc.compile(e).checked
        yield mc.compile(e, target="numpy").checked


def run(given: Iterable[Formula], compiled: bool) -> tuple[Counter[str], list[str], int]:
    """Return the count of each statement, the rejections, and the number of formulas."""
    said: Counter[str] = Counter()
    refused: list[str] = []
    count = 0
    for text, declared, names in given:
        count += 1
        if count % 50 == 0:
            print(f"{count} formulas, {said.total()} results, {len(refused)} refused", flush=True)
        try:
            for report in told(text, declared, names, compiled):
                said["checked" if report.startswith("at ") and ", against" not in report else report[:100]] += 1
        except BEYOND:
            said["refused by name"] += 1
        except Exception as error:  # noqa: BLE001 — whatever else is raised is a fault too, and the others go on
            refused.append(f"{text} | {declared} | {type(error).__name__}: {error}")
            print(refused[-1], flush=True)
    return said, refused, count


def main() -> None:
    words = [word for word in sys.argv[1:] if word.isdigit()]
    count, seed = (int(word) for word in (*words, *("100", "0")[len(words) :]))
    start = time.perf_counter()
    fresh_memory.fill()
    given = documented() if "documents" in sys.argv else formulas(count, seed)
    said, refused, count = run(given, "compiled" in sys.argv)
    for what, times in said.most_common():
        print(f"{times:7d}  {what}")
    took = f"{time.perf_counter() - start:.0f} s"
    print(f"{count} formulas, {said.total()} results, {len(refused)} refused, {took}")


if __name__ == "__main__":
    main()
