r"""Reads the bars in the arguments of declared arrays and defined functions, \pi(a \mid s) = ..., as commas.

Positions remain those of the passage: each bar is replaced by as many characters.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_HEAD = re.compile(
    r"(?P<name>(?:\\(?:mathrm|operatorname|text|mathcal)\{\w+\}|\\(?!left|right)[A-Za-z]+|(?<![A-Za-z\\])[A-Za-z])"
    r"(?:_(?:\{(?:[^{}]|\{[^{}]*\})*\}|\\?[A-Za-z0-9]))?)\s*(?:\\left\s*|\\[bB]igg?l?\s*)?(?P<open>[(\[])"
)
_BAR = re.compile(
    r"\\middle\s*(?:\||\\vert(?![A-Za-z]))|\\mid(?![A-Za-z])|\\[lr]?vert(?![A-Za-z])|(?<![|\\])\|(?!\|)|;"
)
_DOUBLE_BAR = re.compile(r"\\middle\s*\\(?:\||Vert(?![A-Za-z]))|\\\||\\[lr]?Vert(?![A-Za-z])")
"""The sign of a divergence between its arguments."""
_EQUALS = re.compile(r"(?:\\right\s*)?[)\]]\s*&?\s*(?:=|:=|\\(?:triangleq|coloneqq|equiv)(?![A-Za-z]))")


def with_listed_conditions(text: str, arrays: Collection[str]) -> str:
    r"""Return a passage with commas for the bars in the arguments of declared arrays and defined functions."""
    heads = list(_HEAD.finditer(text))
    places = [(found["name"], found.end(), _closing(text, found.end(), found["open"])) for found in heads]
    lefts = [one for one in places if one[2] and _EQUALS.match(text, one[2])]
    defined = {name for name, begin, end in lefts if _bars(text, begin, end, True)}
    names = [name for name, *_ in places]
    for name, begin, end in places:
        is_defined = name in defined and names.count(name) > 1
        is_listed = is_defined or name.lstrip("\\") in arrays and text[begin - 1] == "("
        for start, stop in _bars(text, begin, end, is_defined) if is_listed else ():
            text = text[:start] + "," + " " * (stop - start - 1) + text[stop:]
    return text


def _bars(text: str, begin: int, end: int, with_double: bool) -> list[tuple[int, int]]:
    """Return the ranges of the bars between arguments; one double bar, as that of a divergence, only if requested."""
    found = [x for x in _BAR.finditer(text, begin, end) if not _depth(text, begin, x.start())]
    double = [x for x in _DOUBLE_BAR.finditer(text, begin, end) if not _depth(text, begin, x.start())]
    return [x.span() for x in found or (double if with_double and len(double) == 1 else [])]


def _closing(text: str, begin: int, opening: str) -> int:
    """Return the position of the parenthesis or bracket that ends the arguments, 0 if none does."""
    depth = 1
    for at in range(begin, len(text)):
        depth += {opening: 1, ")" if opening == "(" else "]": -1}.get(text[at], 0)
        if not depth:
            return at
    return 0


def _depth(text: str, begin: int, end: int) -> int:
    return sum(text.count(sign, begin, end) for sign in "([{") - sum(text.count(sign, begin, end) for sign in ")]}")
