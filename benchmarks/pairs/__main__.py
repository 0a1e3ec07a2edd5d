"""Tests every operation as every operand of every other: `python -m benchmarks.pairs` writes results/pairs.md.

It runs in shards and resumes: recorded pairs are not tried again (`--again STATE` repeats those with this state).
"""

from __future__ import annotations

import argparse
import gc
import heapq
import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.pairs import report, store
from benchmarks.pairs.random_trees import tree_of
from benchmarks.pairs.store import Record
from benchmarks.pairs.table import Pair, table
from benchmarks.pairs.try_pair import tried, tried_tree
from matcalc.rulebook.load import default_rulebook

OWN = "mended_"
"""Prefixes of the names of kernels that belong to one program."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the records are")
    parser.add_argument("--shard", default="0/1", help="k/n: the k-th of n shares of the table, from 0")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds")
    parser.add_argument("--all", action="store_true", help="every pair of forms, not of operations alone")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="N random expressions in place of pairs")
    parser.add_argument("--plain", action="store_true", help="without any target: plain evaluation alone")
    parser.add_argument("--numba", action="store_true", help="again on Numba, for every two kernels that meet")
    parser.add_argument("--again", nargs="*", default=[], metavar="STATE", help="try these again: wrong refused ...")
    parser.add_argument("--only", default="", help="pairs whose name holds this")
    parser.add_argument("--report", action="store_true", help="write the report of what is there, and try nothing")
    given = parser.parse_args(arguments)
    if not given.report:
        run(given)
    report.write(given.folder)


def meeting(records: Iterable[Record]) -> Iterator[str]:
    """Yield names of right pairs, few and cheap, that together contain all combinations of two kernels in any pair.

    The pair that adds the most combinations for its cost comes first; pairs that add none are left out. Kernels that
    belong to one program, whose names end in a hash, do not count.
    """
    right = {record["key"]: record.get("kernels", ()) for record in records if record["state"] == "right"}
    pairs = {key: _met(kernels) for key, kernels in right.items()}
    costs = {key: 1 + 0.15 * len(ks) + 2 * sum(k.startswith(OWN) for k in ks) for key, ks in right.items()}
    left = [(-len(pairs[key]) / costs[key], key) for key in right]
    heapq.heapify(left)
    met: set[tuple[str, str]] = set()
    while left:
        _, key = heapq.heappop(left)
        added = len(pairs[key] - met)
        if added and left and -added / costs[key] > left[0][0]:
            heapq.heappush(left, (-added / costs[key], key))
        elif added:
            met |= pairs[key]
            yield key


def _met(kernels: Iterable[str]) -> set[tuple[str, str]]:
    shared = [name for name in kernels if not name.startswith(OWN)]
    return set(itertools.combinations_with_replacement(shared, 2))


def run(given: argparse.Namespace) -> None:
    """Try the pairs that have no record, until the time is up."""
    gc.disable()  # a tenth of the time; cycles are few
    book = default_rulebook()
    part, parts = map(int, given.shard.split("/"))
    targets = () if given.plain else ("numpy", "numba") if given.numba else ("numpy",)
    tried_before = [r for r in store.records(given.folder) if set(targets) <= set(r["targets"])]
    done = {record["key"]: record["state"] for record in tried_before}
    path, end = store.path_of(given.folder, part, parts), time.monotonic() + given.budget
    wanted = list(meeting(store.records(given.folder))) if given.numba else None
    keys: dict[str, Pair | int] = {f"random {seed}": seed for seed in range(given.random)}
    keys = keys or {pair.key: pair for pair in table(book, given.all)}
    for key in (wanted or list(keys))[part::parts]:
        if given.only not in key or (key in done and done[key] not in given.again):
            continue
        if time.monotonic() > end:
            break
        work = keys[key]
        if isinstance(work, Pair):
            store.add(path, tried(work, book, targets))
        else:
            store.add(path, tried_tree(key, tree_of(work, book), book, targets))


if __name__ == "__main__":
    main()
