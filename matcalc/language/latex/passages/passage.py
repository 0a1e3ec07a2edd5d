r"""Divides a passage of a paper into its formula and the lines after the word "where".

`$L = \|f\|^2$, where $f = Xw - y$` and the same in one display are read. Signs that only delimit formulas are replaced
by spaces, so positions remain those of the passage.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from matcalc.language.latex.layout.latex_layout import LINES, inside, lines_between
from matcalc.language.latex.passages.conditions import with_listed_conditions
from matcalc.language.syntax import Ast

Lines = tuple[list[Ast], ...]

_WHERE = re.compile(
    r"\\(?:text|textrm|textit|textnormal|mathrm|mbox|intertext)\s*\{[\s,;.]*(?:[Ww]here|[Ww]ith|[Hh]ere|in\s+which)[\s,:]*\}"
    r"|(?<![\\A-Za-z{])(?:[Ww]here|with|[Hh]ere|in\s+which)(?![A-Za-z}])"
)
_SUBJECT = re.compile(
    r"\\(?:text|textrm|textit|textnormal|mathrm|mbox|intertext|operatorname\*?)\s*"
    r"\{[\s,;]*(?:s\.?\s*t\.?|subject\s+to|such\s+that)[\s,:]*\}(?:\s*:)?"
    r"|(?<![\\A-Za-z{])(?:s\.t\.|subject\s+to|such\s+that)(?![A-Za-z}])|\\st(?![A-Za-z])"
)
_AND = re.compile(r"\\(?:text|textrm|textit|mathrm|mbox)\s*\{[\s,;]*and[\s,:]*\}|(?<![\\A-Za-z{])and(?![A-Za-z}])")
_SETTING = re.compile(
    r"(?<!\\)\$\$?|(?<!\\)\\[\[\]()]"
    rf"|\\(?:begin|end)\s*\{{\s*(?:equation|displaymath|math|{LINES})\*?\s*\}}"
)
"""Signs that delimit formulas in text."""
_LINES = re.compile(rf"\\begin\s*\{{\s*(?:equation|{LINES})\*?\s*\}}|(?<!\\)\\\[|\$\$")
_END = re.compile(rf"(?<![,;.\s])\s*\\end\s*\{{\s*(?:{LINES})\*?\s*\}}(?=(?:\\q?quad|\\[,;:! ]|[\s~])*[^\s,.;$])")
_SIGN = re.compile(r"(?<!\\)\\[\[\]()]")
_EDGE = re.compile(r"(?:\s|[.,;&]|\\\\|\\[,;:! ]|\\q?quad(?![A-Za-z])|~|\\nonumber(?![A-Za-z]))*")
_NEW_LINE = re.compile(r"(?<!\\)\\\\")
_BARS = re.compile(r"\\\||\||\\[lr]?[vV]ert(?![A-Za-z])|\\mid(?![A-Za-z])|[‖∥]")
_WORDS = r"\\text\{(?:[^{}]|\{[^{}]*\})* (?:[^{}]|\{[^{}]*\})*\}"
_REMARKS = re.compile(rf"(?:(?:\\quad\s*\\text\{{where \}}|,\\quad)[^=]+= {_WORDS})+")
"""Remarks on operations, words that are printed behind a formula and do not change its meaning."""
_FOR = re.compile(
    r"(?P<before>.?(?:\\q?quad(?![A-Za-z])|\\[,;:! ]|[\s~&])*)"
    r"(?:\\(?:text|textrm|mathrm|mbox)\s*\{[\s,]*for(?:\s+all)?[\s:]*\}|\\forall(?![A-Za-z]))"
    r"(?=(?:\\[,;:! ]|[\s~&])*\$?\s*\\?[A-Za-z]+\s*(?:&\s*)?(?:=|<|\\in\b|\\l[et]|\\g[et]|>))"
)
"""The words "for" and "for all" before the range of an index."""
_SIZES = re.compile(r"\\(?:left|[bB]igg?l?)\s*\Z")
_LISTED = re.compile(r"(?<=[A-Za-z}])\([^()]*\)")
"""Arguments that contain no others."""
_COMMA = re.compile(r"(?<!\\)[,;]|\\q?quad(?![A-Za-z])|\\\\")
_EQUAL = re.compile(r":=|=|\\(?:triangleq|coloneqq|equiv)(?![A-Za-z])")


class Passage(NamedTuple):
    """The lines of the formula, those after "where", those after "subject to", and the text without these words.

    Of a paragraph also its restrictions, 0 < d, its ranges of indices, and the letters of its random symbols.
    """

    lines: Lines
    aside: Lines
    shown: str
    constraints: Lines = ()
    restrictions: Lines = ()
    ranges: Lines = ()
    random: frozenset[str] = frozenset()
    is_paragraph: bool = False


@lru_cache(maxsize=512)
def passage_of(text: str, arrays: frozenset[str] = frozenset(), has_rows: bool = False) -> Passage:
    """Return the layouts of a passage; `arrays` are the declared ones, `has_rows` whether it has lines without a sign.

    Raises: ParseError with the position.
    """
    text = _FOR.sub(_comma, _REMARKS.sub(_blank, text)) if "cases" not in text else _REMARKS.sub(_blank, text)
    text = with_listed_conditions(text, arrays)
    both = sorted([*_WHERE.finditer(text), *_SUBJECT.finditer(text)], key=lambda found: found.start())
    wheres = [found for found in both if not _depth(text, 0, found.start())]
    if not wheres:
        begin, end, has_lines = inside(text)
        has_lines = has_lines or has_rows
        if not has_lines and _LINES.search(text, begin, end):  # f = g, \quad \begin{aligned} g &= ...
            text = text[:begin] + _SETTING.sub(_blank, _END.sub(_comma_at, text[begin:end])) + text[end:]
            has_lines = True
        masked = _without_bars(text, begin, end)
        return Passage(lines_between(masked, begin, end, has_lines), (), masked)
    shown = _SETTING.sub(_blank, text)
    first = wheres[0]
    ranges: list[tuple[int, int]] = []
    begin = first.end()
    for found in sorted([*wheres[1:], *_AND.finditer(text, first.end())], key=lambda x: x.start()):
        ranges.append((begin, found.start()))
        begin = found.end()
        shown = shown[: found.start()] + " " * (begin - found.start()) + shown[begin:]
    ranges.append((begin, len(text)))
    shown = shown[: first.start()] + " " * (first.end() - first.start()) + shown[first.end() :]
    lines: list[Lines] = []
    subject = [found.start() for found in wheres if _SUBJECT.match(text, found.start())]
    is_subject = [
        max((at for at in subject if at < start), default=-1)
        > max((found.start() for found in wheres if found.start() < start and found.start() not in subject), default=-1)
        for start, _ in ranges
    ]
    for start, stop in [(0, first.start()), *ranges]:
        start, stop = _trimmed(shown, start, stop)
        shown = _without_bars(shown, start, stop)
        lines.append(lines_between(shown, start, stop, has_lines=True))
    aside, constraints = (
        tuple(line for some, own in zip(lines[1:], is_subject, strict=True) if own is kind for line in some)
        for kind in (False, True)
    )
    return Passage(lines[0], aside, shown, constraints)


def _comma(found: re.Match[str]) -> str:
    """Return a comma in the place of a word before the range of an index."""
    return found["before"] + ("," if found["before"].rstrip()[-1:] not in (",", "&", "") else " ") + " " * (
        len(found[0]) - len(found["before"]) - 1)  # fmt: skip


def _comma_at(found: re.Match[str]) -> str:
    """Return a comma in the place of the end of lines behind which a formula follows."""
    return "," + " " * (len(found[0]) - 1)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _trimmed(text: str, begin: int, end: int) -> tuple[int, int]:
    """Return a range without the spaces, punctuation and ends of lines around it."""
    first = _EDGE.match(text, begin, end)
    begin = first.end() if first else begin
    ends = (at for at in range(begin, end + 1) if (found := _EDGE.match(text, at, end)) and found.end() == end)
    return begin, next(ends, end)


def _without_bars(text: str, begin: int, end: int) -> str:
    r"""Return a text in which arguments with bars are 0 on the left sides of lines, as in `p(y \mid x) = ...`.

    These arguments are only part of a name.
    """
    starts = [begin, *(found.end() for found in _NEW_LINE.finditer(text, begin, end))]
    for start, stop in zip(starts, [*starts[1:], end], strict=True):
        for found in [x for x in _EQUAL.finditer(text, start, stop) if not _depth(text, start, x.start())]:
            side = text[start : found.start()].rstrip("& \t\n")
            first = _last_opening(side)
            if first is not None and _BARS.search(side, first):
                at, length = start + first, len(side) - first
                text = text[:at] + "(0" + " " * (length - 3) + ")" + text[at + length :]
            for one in _LISTED.finditer(text, start + _last_element(side), start + len(side)):
                if _BARS.search(one[0]):
                    text = text[: one.start()] + "(0" + " " * (len(one[0]) - 3) + ")" + text[one.end() :]
            start = found.end()
    return text


def _last_element(side: str) -> int:
    """Return the position behind the last comma of a left side: formulas in front of it are no part of the side."""
    return max((x.end() for x in _COMMA.finditer(side) if not _depth(side, 0, x.start())), default=0)


def _last_opening(side: str) -> int | None:
    """Return the position of the parenthesis or bracket that the last character of a text closes, None without one."""
    if not side.endswith((")", "]")):
        return None
    at = len(side)
    while at and (at == len(side) or _depth(side, at, len(side))):
        at = max(side.rfind("(", 0, at), side.rfind("[", 0, at), side.rfind("{", 0, at), 0)
    sizes = _SIZES.search(side[:at])
    return None if _depth(side, at, len(side)) else sizes.start() if sizes else at


def _depth(text: str, begin: int, end: int) -> int:
    """Return the number of parentheses, brackets and braces that are open at the end of a range."""
    text, begin, end = _SIGN.sub("", text[begin:end]), 0, end
    opened = sum(text.count(sign, begin, end) for sign in "([{")
    return opened - sum(text.count(sign, begin, end) for sign in ")]}")
