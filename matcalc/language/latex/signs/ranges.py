r"""Finds the ranges of indices that a passage tells: `\sum_{i=1}^{n}`, `i = 1, \ldots, n` and `i \in [n]`.

A sum over the same letter without bounds has that range.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from matcalc.language.latex.signs.signs import RANGE

_BOUNDS = re.compile(
    r"_\s*\{\s*(?P<letters>[a-z](?:\s*,\s*[a-z])*)\s*=\s*1\s*\}\s*\^\s*\{?\s*(?P<size>[A-Za-z])(?![A-Za-z+\-])"
)
_LISTED = re.compile(rf"(?<![A-Za-z\\_])(?P<letters>[a-z](?:\s*,\s*[a-z])*)\s*(?P<range>{RANGE})")


def ranges_in(text: str, sizes: Collection[str]) -> Mapping[str, str]:
    """Return the declared size up to which each letter runs from 1; a letter with two ranges has none."""
    found: dict[str, set[str]] = {}
    for one in _BOUNDS.finditer(text):
        for letter in re.findall("[a-z]", one["letters"]):
            found.setdefault(letter, set()).add(one["size"])
    for one in _LISTED.finditer(text):
        size = re.findall(r"(?<!\\)(?<![A-Za-z])[A-Za-z](?![A-Za-z])", one["range"])[-1]
        for letter in re.findall("[a-z]", one["letters"]):
            found.setdefault(letter, set()).add(size)
    return {letter: size for letter, (size, *more) in found.items() if not more and size in sizes}
