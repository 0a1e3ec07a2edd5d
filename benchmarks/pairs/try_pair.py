"""Tries one pair: as it is if it has a value, else with the inner operation mapped into the domain of the outer."""

from __future__ import annotations

import time
import zlib
from collections.abc import Sequence

import matcalc as mc
from benchmarks.pairs.judge import Outcome, judged
from benchmarks.pairs.store import Record
from benchmarks.pairs.table import Pair
from matcalc.language.declare import read_declarations
from matcalc.rulebook.load import Rulebook
from matcalc.tensor.nodes.signature import size_of
from matcalc.testing.trees import Leaf, Tree, Written, write

GOOD = ("right", "wrong")


def tried(pair: Pair, book: Rulebook, targets: Sequence[str] = ("numpy",)) -> Record:
    """Return the record of a pair: its state, text and seconds."""
    start = time.perf_counter()
    seed = zlib.crc32(pair.key.encode())
    ways = [pair.tree(False)]
    slot = pair.outer.slots[pair.place]
    if slot.inside is not None or slot.facts:
        ways.append(pair.tree(True))
    outcome, written = Outcome("undefined", "no sizes"), None
    for tree in ways:
        written, outcome = _outcome(tree, book, seed, targets)
        if outcome.state in GOOD:
            break
    return record(pair.key, written, outcome, start, targets)


def tried_tree(key: str, tree: Tree, book: Rulebook, targets: Sequence[str]) -> Record:
    """Return the record of a tree, with operands mapped into domains where needed."""
    start = time.perf_counter()
    written, outcome = _outcome(tree, book, zlib.crc32(key.encode()), targets)
    return record(key, written, outcome, start, targets)


def record(key: str, written: Written | None, outcome: Outcome, start: float, targets: Sequence[str]) -> Record:
    """Return the record of one expression."""
    return {
        "key": key,
        "text": written.text if written else "",
        "let": written.declarations if written else "",
        "state": outcome.state,
        "detail": outcome.detail[:400],
        "targets": list(targets),
        "kernels": list(outcome.kernels),
        "seconds": round(time.perf_counter() - start, 3),
    }


def _outcome(tree: Tree, book: Rulebook, seed: int, targets: Sequence[str]) -> tuple[Written | None, Outcome]:
    written = write(tree, book)
    if written is None:
        return None, Outcome("undefined", "no sizes")
    return written, judged(written, seed, targets)


def written_of(text: str, declarations: str) -> Written:
    """Return a text as an expression to be judged, with data of the declared facts."""
    leaves = []
    for d in read_declarations(declarations):
        shape = tuple(size_of(size, {}) for size in d.sizes)
        leaves.append(Leaf(d.name, shape, d.facts, None, {}))
    made = mc.expression(text, declarations)
    names = dict.fromkeys(name for leaf in leaves for size in leaf.shape for name in size.names)
    return Written(text, tuple(leaves), made.node.shape, tuple(names))
