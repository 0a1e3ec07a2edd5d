"""Passes hostile texts through the parameters, in a folder of their own, each with the same rulebook."""

import os
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hostile.colliding import try_names
from hostile.judging import judge
from hostile.names import generated_names
from hostile.parameters import CODE, parameters
from hostile.texts import FIXED, hostile_text
from matcalc.rulebook.load import adopt, default_rulebook


@contextmanager
def elsewhere() -> Iterator[Path]:
    """Work in a new folder, deep enough for paths that climb; restore the folder and the rulebook afterwards."""
    before, book = os.getcwd(), default_rulebook()
    with tempfile.TemporaryDirectory(prefix="hostile-") as top:
        folder = Path(top).joinpath(*"abcdef")
        folder.mkdir(parents=True)
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(before)
            adopt(lambda _: book)


def try_texts(count: int, seed: int, every: int = 0) -> tuple[Counter[str], list[str]]:
    """Return the numbers of rejected and accepted texts, and the faults; report progress after `every` texts."""
    draw = random.Random(seed)
    counts: Counter[str] = Counter()
    faults: list[str] = []
    book = default_rulebook()
    names = generated_names()
    with elsewhere() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        places = [p for p in parameters(folder) if p.label not in CODE]
        for number in range(count):
            place = places[number % len(places)]
            way = draw.randrange(place.ways)
            text = draw.choice(FIXED) if number % 3 == 0 else hostile_text(draw, names)
            if every and number and number % every == 0:
                print(f"{number}: {dict(counts)}", file=sys.stderr, flush=True)
            began = time.process_time()
            try:
                counts[judge(place, text, way)] += 1
            except Exception as fault:
                counts["wrong"] += 1
                cause = f" <- {type(fault.__cause__).__name__}: {str(fault.__cause__)[:200]}" if fault.__cause__ else ""
                faults.append(f"{place.label} ({way}) {text[:80]!r}: {type(fault).__name__}: {str(fault)[:300]}{cause}")
            finally:
                adopt(lambda _: book)
            if time.process_time() - began > 20:
                faults.append(f"{place.label} ({way}) {text[:80]!r}: {time.process_time() - began:.0f} s")
    return counts, faults


def main(words: Sequence[str]) -> int:
    if words[:1] == ["names"]:
        return 1 if try_names(words[1:] or ("numpy", "numba")) else 0
    count, seed = map(int, [*words, *("20000", "0")[len(words) :]])
    counts, faults = try_texts(count, seed, 2000)
    print(f"{count} texts, seed {seed}: {dict(counts)}")
    print("\n".join(faults[:200]), file=sys.stderr)
    return 1 if faults else 0
