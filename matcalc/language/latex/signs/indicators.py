r"""Rewrites the indicators of papers, `\mathbb{I}\{a < x \le b\}` and `\mathbf{1}_{x > 0}`, as `\mathbb{1}[...]`.

A sum with a condition, `\sum_{i : y_i > 0}`, has the indicator of the condition as its first factor. Each character of
the rewritten text keeps its position in the passage.
"""

from __future__ import annotations

import re

Text = list[tuple[str, int]]

_FONT = r"\\(?:mathbb|mathbf|mathbbm|mathds|mathrm|mathsf|mathit|mathcal|boldsymbol|bm|pmb|operatorname)\s*"
_HEAD = re.compile(
    rf"(?:{_FONT}(?:\{{\s*[1I]\s*\}}|[1I](?![A-Za-z]))|\\(?:ind|indic|indicator|Ind)(?![A-Za-z])|(?<![\w\\{{^])I)"
    r"(?:\\!|\\,|\s)*(?P<open>_\s*(?=\{)|(?:\\left\s*|\\[bB]igg?l?\s*)?(?:\\lbrace(?![A-Za-z])|\\\{|[\[(]))"
)
r"""The sign of an indicator, up to its subscript or the opening of its condition."""
_OPENING = re.compile(r"\\\{|\\lbrace(?![A-Za-z])|[\[({]")
_CLOSING = re.compile(r"\\\}|\\rbrace(?![A-Za-z])|[\])}]")
_SIZED = re.compile(r"(?:\\left|\\right|\\[bB]igg?[lr]?)\s*\Z")
_RELATION = re.compile(r"[<>=≤≥≠]|\\(?:leq?|geq?|lt|gt|neq?|leqslant|geqslant)(?![A-Za-z])")
_AND = re.compile(r",|\\(?:wedge|land)(?![A-Za-z])|\\(?:text|textrm|mathrm)\s*\{\s*and\s*\}")
_SUM = re.compile(
    r"\\sum\s*(?:\\limits|\\nolimits)?\s*_\s*\{\s*[a-z](?:\s*,\s*[a-z])*\s*(?P<colon>:|\\mid(?![A-Za-z])|\|)"
)


_LEADING = re.compile(r"(?:\s|\\[,;:! ]|\\q?quad(?![A-Za-z])|~)*[-+]")


def with_indicators(text: Text) -> Text:
    r"""Return a text in which indicators and conditions of sums are `\mathbb{1}[...]`, a factor for each relation."""
    text = _conditions_of_sums(text)
    begin = 0
    while found := _HEAD.search(plain := "".join(c for c, _ in text), begin):
        begin = found.end()
        first = begin + 1 if found["open"].startswith("_") else begin
        end = _end(plain, first)
        sized = _SIZED.search(plain, first, end)
        factors = _factors(text, plain, first, sized.start() if sized else end) if end else None
        if factors is None:
            continue
        closing = _CLOSING.match(plain, end)
        assert closing is not None
        text = [*text[: found.start()], *factors, *text[closing.end() :]]
        begin = found.start() + len(factors)
    return text


def _conditions_of_sums(text: Text) -> Text:
    plain = "".join(c for c, _ in text)
    for found in reversed(list(_SUM.finditer(plain))):
        end = _end(plain, found.end())
        inside = text[found.end() : end]
        if not end or _split(plain, found.end(), end, _RELATION) is None:
            continue
        origin = text[found.start("colon")][1]
        factor = [(c, origin) for c in r"\mathbb{1}\{"] + inside + [(c, origin) for c in r"\}"]
        behind = behind_sign(plain, end + 1)
        text = [*text[: found.start("colon")], text[end], *text[end + 1 : behind], *factor, *text[behind:]]
    return text


def behind_sign(plain: str, at: int) -> int:
    """Return the place of a factor in front of a summand: behind its sign, if it begins with one."""
    found = _LEADING.match(plain, at)
    return found.end() if found else at


def _factors(text: Text, plain: str, begin: int, end: int) -> Text | None:
    """Return the indicators of the relations in a range, one for each sign; None if a part has no relation."""
    begin, end = _without_brackets(plain, begin, end)
    made: Text = []
    start = begin
    for stop, following in [*(_split(plain, begin, end, _AND) or ()), (end, end)]:
        signs = _split(plain, start, stop, _RELATION)
        if signs is None:
            return None
        ends = [start, *(at for at, _ in signs), stop]
        afters = [start, *(after for _, after in signs), stop]
        for k in range(len(signs)):
            origin = text[start][1]
            put = text[afters[k] : ends[k + 2]]
            made += [(c, origin) for c in r"\mathbb{1}\left["] + put + [(c, origin) for c in r"\right]"]
        start = following
    return made


def _without_brackets(plain: str, begin: int, end: int) -> tuple[int, int]:
    r"""Return a range without the brackets around its whole content, as in \mathbb{1}_{[k \ne i]}."""
    inner = plain[begin:end]
    found = re.match(r"\s*(?:\\left\s*)?(?:\\\{|[\[(])", inner)
    if found is None:
        return begin, end
    close = _end(plain, begin + found.end())
    after = _CLOSING.match(plain, close) if close else None
    if after is None or plain[after.end() : end].strip():
        return begin, end
    sized = _SIZED.search(plain[:close])
    return begin + found.end(), sized.start() if sized else close


def _split(plain: str, begin: int, end: int, pattern: re.Pattern[str]) -> list[tuple[int, int]] | None:
    """Return the ranges of the matches that are in no bracket, None if there is none."""
    found: list[tuple[int, int]] = []
    depth = 0
    at = begin
    while at < end:
        match = pattern.match(plain, at) if not depth else None
        if match:
            found.append((match.start(), match.end()))
            at = match.end()
            continue
        opened, closed = _OPENING.match(plain, at), _CLOSING.match(plain, at)
        depth += 1 if opened else -1 if closed else 0
        bracket = opened or closed
        at = bracket.end() if bracket else at + 1
    return found or None


def _end(plain: str, begin: int) -> int:
    """Return the position of the bracket that closes the one before `begin`, 0 if none does."""
    depth = 1
    at = begin
    while at < len(plain):
        opened, closed = _OPENING.match(plain, at), _CLOSING.match(plain, at)
        depth += 1 if opened else -1 if closed else 0
        if not depth:
            return at
        bracket = opened or closed
        at = bracket.end() if bracket else at + 1
    return 0
