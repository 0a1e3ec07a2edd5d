"""Builds data at the border of a declared set and far out, where formulas that agree at random data may differ.

These ends are formulas in `rules/facts.toml` (`ends`), so a user's fact can have its own. Since an array may have
undeclared facts, two ends of every other fact are tried too, if the declared facts allow them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import MatcalcError
from matcalc.evidence.numeric.samplers import Array, has_facts, made, projected
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.language.kinds import INDEX
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size

ANY = "constant"
"""The fact whose ends apply to every array, since it does not restrict values."""

LAST = "N"
"""The name in a formula for the length of the axis that an index selects from."""

PLACES = 10
"""The length `N` if an index selects from no axis."""

SCALES = (1e-4, 30.0, 1e4)
"""Scales of normal draws from which samplers make further ends."""

MIRRORED = 4
"""The most entries for which ends are made from -M too, since few entries of M may all have one sign."""


class End(NamedTuple):
    """Data at an end of a set, and their formula."""

    words: str
    array: Array


class Written(NamedTuple):
    """A formula of an end, its fact, and its node over M."""

    fact: str
    text: str
    node: Node


def ends(shape: Sequence[int], facts: Sequence[str], last: int = PLACES) -> tuple[End, ...]:
    """Return data of a shape at the ends of the facts' set, the simplest first; none for an empty array."""
    return _ends(tuple(shape), tuple(facts), last, default_rulebook())


@lru_cache(maxsize=512)
def _ends(shape: tuple[int, ...], facts: tuple[str, ...], last: int, book: Rulebook) -> tuple[End, ...]:
    found: dict[bytes, End] = {}
    if 0 in shape:
        return ()
    with np.errstate(all="ignore"):
        for end in (*_written_ends(shape, facts, last, book), *_sampled_ends(shape, facts, book)):
            found.setdefault((end.array + 0.0).tobytes(), end)
    return tuple(found.values())


def _written_ends(shape: tuple[int, ...], facts: Sequence[str], last: int, book: Rulebook) -> Iterator[End]:
    declared = book.closure(facts)
    sizes = {**dict(zip(_axes(shape), shape, strict=True)), LAST: last}
    for fact, text, node in _written(len(shape), len(set(shape)) == 1, tuple(facts), book):
        further = declared - book.closure([fact]) if fact in declared else declared
        for sign in (1.0, -1.0) if prod(shape) <= MIRRORED else (1.0,):
            rng = np.random.default_rng([37, *text.encode(), *shape])
            try:
                array = np.asarray(evaluate([node], {"M": sign * rng.standard_normal(shape)}, sizes)[0])
            except (ArithmeticError, ValueError, IndexError, MatcalcError):
                continue  # such as the second column of a matrix with one column
            if array.shape != shape or not np.all(np.isfinite(array)) or (INDEX in declared and np.max(array) >= last):
                continue
            if not further or has_facts(array, further):
                yield End(text if sign > 0 else f"{text}, M for -M", array)
            elif not np.array_equal(moved := projected(array, facts), array) and has_facts(moved, declared):
                yield End(text, moved)


def _sampled_ends(shape: tuple[int, ...], facts: Sequence[str], book: Rulebook) -> Iterator[End]:
    """Yield the results of the facts' samplers for large and small draws."""
    for scale in SCALES if facts else ():
        drawn = np.random.default_rng([41, *shape]).standard_normal(shape)
        array = made(scale * drawn, facts, lambda fact: fact.sample)
        if np.all(np.isfinite(array)) and has_facts(array, book.closure(facts)):
            yield End(f"a sample of {scale:g}*M", array)


def _axes(shape: Sequence[int]) -> tuple[str, ...]:
    """Return the size names that the formulas of facts use for a shape."""
    if len(shape) == 2:
        return ("m", "n")
    return ("n", *(f"n_{k}" for k in range(1, len(shape))))[: len(shape)]


@lru_cache(maxsize=256)
def _written(rank: int, is_square: bool, facts: tuple[str, ...], book: Rulebook) -> tuple[Written, ...]:
    """Return the formulas for arrays of a rank: those of declared facts, of any array, two of each other fact."""
    shape = [Size.of(name) for name in _axes([0] * rank)]
    lengths = {name: Size.of(name) for name in (*_axes([0] * rank), LAST)}
    if is_square and rank == 2:
        shape[0] = lengths["m"] = shape[1]
    variable = symbol("M", shape)
    own = book.closure(facts)
    first = sorted(own - {ANY}, key=lambda f: (f not in facts, -len(book.closure([f])), f))
    others = [f for f in book.facts.values() if f.name not in own and f.name != ANY and "constant" not in f.implies]
    texts = [(book.facts[f], text) for f in first for text in book.facts[f].ends]
    texts += [(book.facts[ANY], text) for text in book.facts[ANY].ends] if ANY in book.facts else []
    texts += [(f, text) for f in others for text in f.ends[:2]]
    found = []
    for fact, text in texts:
        if fact.of == "any" or (rank == 2 and (is_square or fact.of == "matrix")):
            node = build_formula(text, (), book, {"M": variable}, sizes=lengths)
            found.append(Written(fact.name, text, node))
    return tuple(found)


__all__ = ["PLACES", "End", "ends"]
