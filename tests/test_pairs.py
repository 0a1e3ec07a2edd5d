"""Operations inside one another: a slice of the table of all pairs, random expressions, and former faults.

The whole table on NumPy is a long run; this file tests a share of it, in the order of a hash. `python -m
benchmarks.pairs` stores records in a folder, resumes, and goes on to Numba.
"""

import zlib
from functools import cache
from pathlib import Path

import pytest

from benchmarks.pairs.judge import judged
from benchmarks.pairs.random_trees import tree_of
from benchmarks.pairs.table import table, vocabulary
from benchmarks.pairs.try_pair import tried, tried_tree, written_of
from matcalc.rulebook.load import default_rulebook

CASES = Path(__file__).parent / "cases" / "pairs.txt"
LINES = [line for line in CASES.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
PARTS, PART, AT_ONCE = 400, 3, 20
SEEDS = range(60, 80)
# The language writes these in other forms: they bind names, or stand for sizes alone.
ELSEWHERE = {"root", "eye", "ones", "zeros", "commutation", "duplication", "elimination", "vech_at", "ddof", "iota"}


@cache
def pairs():
    return table(default_rulebook())


@pytest.mark.whole
def test_every_operation_is_inside_and_outside():
    within = {pair.inner.operation for pair in pairs()}
    outside = {pair.outer.operation for pair in pairs()}
    texts = " ".join(pair.outer.text for pair in pairs())
    missing = {name for name in vocabulary() - outside if f"{name}(" not in texts}
    assert not missing - ELSEWHERE
    assert outside >= within


@pytest.mark.parametrize("start", range(0, 200, AT_ONCE))
@pytest.mark.whole
@pytest.mark.thinned(5)
def test_a_share_of_the_table(start):
    none_is_wrong(pairs()[PART::PARTS][start : start + AT_ONCE])


@pytest.mark.long
@pytest.mark.parametrize("part", [part for part in range(PARTS) if part != PART])
def test_the_rest_of_the_table(part):
    none_is_wrong(pairs()[part::PARTS])


UNDETERMINED = {
    "lu_P((svd_lowrank(A, 1)))": "below its first pivot a matrix of rank one has roundings alone, in any order",
}
"""Values that rounding decides, each with the reason."""


def none_is_wrong(some):
    faults = []
    for pair in some:
        record = tried(pair, default_rulebook())
        if record["state"] == "wrong" and record["text"] not in UNDETERMINED:
            faults.append(f"{record['text']} | {record['let']} | {record['detail']}")
    assert not faults, "\n".join(faults)


@pytest.mark.whole
@pytest.mark.parametrize("seed", SEEDS)
def test_random_expressions(seed):
    record = tried_tree(f"random {seed}", tree_of(seed, default_rulebook()), default_rulebook(), ("numpy",))
    assert record["state"] != "wrong", f"{record['text']} | {record['let']} | {record['detail']}"


@pytest.mark.thinned(4)
@pytest.mark.parametrize("line", LINES)
@pytest.mark.sampled(60)
def test_what_was_wrong(line):
    text, declarations, _ = map(str.strip, line.split(" | "))
    for seed in range(8):  # all sets of sizes
        outcome = judged(written_of(text, declarations), seed + 8 * (zlib.crc32(text.encode()) % 100))
        assert outcome.state == "right", outcome.detail
