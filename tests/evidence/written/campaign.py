"""Random formulas through the built-in check: how many are refused, and at how many nothing could be compared.

    python tests/evidence/written/campaign.py [COUNT] [SEED] [compiled]

Prints each refusal, and a table of what `checked` says. A refusal is a wrong result or a false alarm: both are faults.
"""

import sys
import time
from collections import Counter
from collections.abc import Iterator

import numpy as np

import matcalc as mc
from matcalc.rulebook.load import default_rulebook
from matcalc.testing.strategies import chosen_forms, random_case

BEYOND = (np.linalg.LinAlgError, mc.NotDifferentiable, mc.NotSupported)
"""What a formula may be refused for."""


def formulas(count: int, seed: int, depth: int = 3) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield random formulas with their declarations and symbols."""
    rng = np.random.default_rng(seed)
    book = default_rulebook()
    pool = chosen_forms(book, None)
    for _ in range(count):
        case = random_case(
            book, lambda items: items[rng.integers(len(items))], int(rng.integers(2**31)), depth, pool, pool
        )
        yield case.text, case.declarations, case.symbols


def told(text: str, declared: str, names: tuple[str, ...], compiled: bool) -> Iterator[str]:
    """Yield what `checked` says of a formula's derivatives, its simplified form and its compiled function."""
    e = mc.expression(text, declared)
    yield e.simplify().checked
    for name in names:
        for derive in ("gradient", "hvp") if not e.node.shape else ("jvp", "vjp"):
            try:
                yield getattr(e, derive)(name).checked
            except BEYOND:
                yield "refused by name"
    if compiled:
        yield mc.compile(e).checked


def run(count: int, seed: int, compiled: bool) -> tuple[Counter[str], list[str]]:
    """Return how often each thing is said, and what was refused."""
    said: Counter[str] = Counter()
    refused: list[str] = []
    for text, declared, names in formulas(count, seed):
        try:
            for report in told(text, declared, names, compiled):
                said["checked" if report.startswith("at ") and ", against" not in report else report[:100]] += 1
        except mc.InternalError as error:
            refused.append(f"{text} | {declared} | {error.message}")
        except BEYOND:
            said["refused by name"] += 1
    return said, refused


def main() -> None:
    count, seed = (int(word) for word in (*sys.argv[1:3], *("100", "0")[len(sys.argv[1:3]) :]))
    start = time.perf_counter()
    said, refused = run(count, seed, "compiled" in sys.argv)
    print("\n".join(refused))
    for what, times in said.most_common():
        print(f"{times:7d}  {what}")
    print(
        f"{count} formulas, {sum(said.values())} results, {len(refused)} refused, {time.perf_counter() - start:.0f} s"
    )


if __name__ == "__main__":
    main()
