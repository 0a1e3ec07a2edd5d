"""Enumerates pairs without gaps: each form as each operand of each other form, wherever sizes can be made to fit.

There are forms for every rank and overload. The table contains each operation once, along each axis, as each operand of
each other; a hash chooses the form. All pairs of forms would be three times as many.
"""

from __future__ import annotations

import re
import tomllib
import zlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from matcalc.rulebook.load import Rulebook
from matcalc.testing.forms import Form, Shape, forms, own_forms
from matcalc.testing.trees import Child, Fit, Tree, marked

VOCABULARY = Path(__file__).resolve().parents[2] / "tests" / "vocabulary.toml"
BY_INTENT = {
    "stop": "takes its argument as a constant",
    "gap_middle": "a threshold inside a gap, which may be anywhere there",
    "svd_gap": "a threshold inside a gap, which may be anywhere there",
}
"""Operations whose differential is not that of their value, with the reason; they are in no pair."""


class Pair(NamedTuple):
    """A form as an operand of another."""

    outer: Form
    place: int
    inner: Form

    @property
    def key(self) -> str:
        return f"{self.outer.key} <{self.outer.slots[self.place].name}> {self.inner.key}"

    def tree(self, is_led: bool) -> Tree:
        """Return the tree; `is_led` maps the inner operation into the domain of the outer one."""
        inside = Child(Tree(self.inner, (None,) * len(self.inner.slots)), is_led)
        return Tree(self.outer, tuple(inside if k == self.place else None for k in range(len(self.outer.slots))))


@lru_cache(maxsize=4)
def chosen(book: Rulebook, with_auxiliaries: bool = True) -> tuple[Form, ...]:
    """Return the forms used in pairs: those of the vocabulary, the language and the auxiliaries of derivatives."""
    found = [form for form in forms(book) if form.operation not in BY_INTENT]
    return tuple(form for form in found if with_auxiliaries or form in own_forms() or form.operation in vocabulary())


@lru_cache(maxsize=1)
def vocabulary() -> frozenset[str]:
    """Return the names of the operations that tests/vocabulary.toml calls; relations have their sign."""
    calls = tomllib.loads(VOCABULARY.read_text(encoding="utf-8"))["call"]
    named = {name for call in calls for name in re.findall(r"(\w+)\(", call["f"])}
    return frozenset([*named, *(f"where{relation}" for relation in ("<", "<=", ">", ">=", "==", "!="))])


def pairs(book: Rulebook, with_auxiliaries: bool = True) -> Iterator[Pair]:
    """Yield all pairs that fit, in the order of the rulebook."""
    known = chosen(book, with_auxiliaries)
    fitting: dict[tuple[Shape, Shape], bool] = {}
    for outer in known:
        for place, slot in enumerate(outer.slots):
            for inner in known:
                if inner.rank != slot.rank:
                    continue
                shapes = slot.shape, inner.shape
                if shapes not in fitting:
                    fitting[shapes] = Fit().unify(marked(slot.shape, ""), marked(inner.shape, "0"))
                if fitting[shapes]:
                    yield Pair(outer, place, inner)


def table(book: Rulebook, with_all: bool = False) -> list[Pair]:
    """Return a pair for each operation, along each axis, as each operand of each other; one rank and overload each.

    The order is that of a hash, so any initial part is a fair sample. `with_all` returns every pair of forms, with the
    auxiliaries of derivatives.
    """
    if with_all:
        return sorted(pairs(book), key=_order)
    found: dict[tuple[str, ...], Pair] = {}
    for pair in pairs(book, with_auxiliaries=False):
        cell = (pair.outer.use, pair.outer.slots[pair.place].name, pair.inner.use)
        if cell not in found or _order(pair) < _order(found[cell]):
            found[cell] = pair
    return sorted(found.values(), key=_order)


def _order(pair: Pair) -> tuple[int, str]:
    return zlib.crc32(pair.key.encode()), pair.key
