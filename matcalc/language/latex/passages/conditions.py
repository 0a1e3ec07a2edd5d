r"""Reads the bars in the arguments of declared arrays and defined functions, \pi(a \mid s) = ..., as commas.

Positions remain those of the passage: each bar is replaced by as many characters.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_HEAD = re.compile(
    r"(?P<name>(?:\\(?!left|right)[A-Za-z]+|(?<![A-Za-z\\])[A-Za-z])(?:_(?:\{[^{}]*\}|\\?[A-Za-z0-9]))?)\s*"
    r"(?:\\left\s*|\\[bB]igg?l?\s*)?\("
)
_BAR = re.compile(r"\\mid(?![A-Za-z])|\\[lr]?vert(?![A-Za-z])|(?<![|\\])\|(?!\|)|;")
_EQUALS = re.compile(r"\)\s*&?\s*(?:=|:=|\\(?:triangleq|coloneqq|equiv)(?![A-Za-z]))")


def with_listed_conditions(text: str, arrays: Collection[str]) -> str:
    r"""Return a passage with commas for the bars in the arguments of declared arrays and defined functions."""
    places = [(found["name"], found.end(), _closing(text, found.end())) for found in _HEAD.finditer(text)]
    defined = {name for name, begin, end in places if end and _bars(text, begin, end) and _EQUALS.match(text, end)}
    names = [name for name, *_ in places]
    for name, begin, end in places:
        is_listed = name.lstrip("\\") in arrays or name in defined and names.count(name) > 1
        for start, stop in _bars(text, begin, end) if is_listed else ():
            text = text[:start] + "," + " " * (stop - start - 1) + text[stop:]
    return text


def _bars(text: str, begin: int, end: int) -> list[tuple[int, int]]:
    """Return the ranges of the bars between arguments."""
    return [found.span() for found in _BAR.finditer(text, begin, end) if not _depth(text, begin, found.start())]


def _closing(text: str, begin: int) -> int:
    """Return the position of the parenthesis that ends the arguments, 0 if none does."""
    depth = 1
    for at in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if not depth:
            return at
    return 0


def _depth(text: str, begin: int, end: int) -> int:
    return sum(text.count(sign, begin, end) for sign in "([{") - sum(text.count(sign, begin, end) for sign in ")]}")
