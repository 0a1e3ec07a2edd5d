"""Kinds of values in generated code, in the words of signatures of kernels, and what they are in LLVM."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

NUMBERS = {"float64": "double", "int64": "i64", "int32": "i32", "boolean": "i1"}
"""The numbers that generated code knows, and what LLVM calls them."""
SHORT = {"bool": "boolean"}
"""What Numba may call them too."""
BYTES = {"float64": 8, "int64": 8, "int32": 4}
WIDTH = ("boolean", "int64", "float64")
"""What numbers become that stand for one name, the later for the sooner."""
WORD = re.compile(r"(\w+)(?:\[(\d)\]!?)?")


class UnknownFormError(Exception):
    """A text has a form that only Numba knows."""


class Kind(NamedTuple):
    """A number (`rank` 0), or an array of numbers in C order."""

    number: str
    rank: int = 0

    @property
    def entry(self) -> Kind:
        return Kind(self.number)

    @property
    def word(self) -> str:
        """What LLVM calls a number of the kind."""
        return NUMBERS[self.number]


class Number(NamedTuple):
    """A number: what stands for it in LLVM's assembly."""

    text: str
    kind: Kind


class Row(NamedTuple):
    """An array: where its entries are, its lengths, and the memory that it holds on to, `null` for what others hold.

    `is_new`: nobody else holds that memory yet.
    """

    data: str
    lengths: Sequence[str]
    owner: str
    kind: Kind
    is_new: bool = False


Value = Number | Row
REAL, INTEGER, TRUTH = Kind("float64"), Kind("int64"), Kind("boolean")
PAIR, NOTHING = Kind("pair"), Kind("void")
"""Two real numbers, and what a function without a result returns; only kernels have them."""


def kind_of_word(word: str) -> Kind:
    """Return the kind that a word of a signature names.

    Raises: UnknownFormError for others: pairs of numbers, nothing.
    """
    found = WORD.fullmatch(word)
    number = "" if found is None else SHORT.get(found[1], found[1])
    if found is None or number not in NUMBERS:
        raise UnknownFormError(word)
    return Kind(number, int(found[2] or 0))


def joined(one: Kind | None, other: Kind) -> Kind:
    """Return the kind of a name that stands for both, as Numba unifies them."""
    if one is None or one == other:
        return other
    if one.rank or other.rank or not {one.number, other.number} <= set(WIDTH):
        raise UnknownFormError(f"{one} and {other}")
    return Kind(max(one.number, other.number, key=WIDTH.index))


def is_number(word: str) -> bool:
    """Whether a word of a signature names a number."""
    return SHORT.get(word, word) in NUMBERS
