r"""Removes the words that describe symbols behind a formula, `where $\tau > 0$ is a temperature and $u_i$ are ...`.

Words about a declared symbol do not change a formula. What is defined or declared by a formula remains: `$r = y - Xw$`.
 Words about a function or a sign are compared with the meaning that matcalc gives it. Signs and words
are replaced by as many characters, so positions remain those of the passage.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_BEGIN = re.compile(
    r"\\(?:text|textrm|textit|textnormal|mathrm|mbox|intertext)\s*\{[\s,;.]*(?:[Ww]here|[Ww]ith|[Hh]ere|in\s+which)[\s,:]*\}"
    r"|(?<![\\A-Za-z{])(?:[Ww]here|with|[Hh]ere|in\s+which)(?![A-Za-z}])[\s,:]*"
)
_MATH = re.compile(r"(?<!\\)\$(?P<a>[^$]+)\$|\\\((?P<b>.+?)\\\)", re.S)
_TEXT = re.compile(r"\\(?:text|textrm|textit|textnormal|mbox)\s*\{(?P<a>(?:[^{}$]|\$[^$]*\$)*)\}")
_VERB = re.compile(
    r"[\s,]*(?:(?:is|are|denotes?|represents?|stands?\s+for|means?|being|refers?\s+to|indicates?|gives?)\b"
    r"|(?:an?|the|its|their|our|some)\s)",
)
_NEXT = re.compile(r"(?:[,;.]|\b(?:and|while|where|with|here|in\s+which)\b)\s*[,:]?\s*\Z", re.I)
"""The end of a text after which another description begins."""
_LIST = re.compile(r"\s*(?:,|and|,\s*and|or)?\s*\Z")
_RELATION = re.compile(
    r":=|[=<>≤≥]|\\(?:in|le|ge|leq|geq|gt|lt|succ|succeq|triangleq|coloneqq|equiv|neq|ne)(?![A-Za-z])"
)

MEANINGS = (
    (r"\\sigma(\(\\cdot\)|\([a-z]\))?", r"logistic|sigmoid"),
    (r"\\Phi(\(\\cdot\)|\([a-z]\))?", r"normal"),
    (r"\\(ln|log)(\(\\cdot\))?", r"natural"),
    (r"\\odot", r"Hadamard|element-?\s?wise|entry-?\s?wise|component-?\s?wise"),
    (r"\\otimes", r"Kronecker"),
    (r"\\(\||Vert)\\cdot\\(\||Vert)(_2)?", r"Euclidean|\\ell_2|2-norm"),
    (r"\\(\||Vert)\\cdot\\(\||Vert)_(F|\{F\})", r"Frobenius"),
    (r"\\(mathrm|operatorname)\{[Tt]r\}(\(\\cdot\))?", r"(?:the )trace"),
    (r"(\(\\cdot\))?\^?\{?(\\top|T|\\mathsf\{T\})\}?", r"transpos"),
    (r"(\\mathbf\{)?I\}?(_\{?\w\}?)?", r"identity"),
    (r"(\\mathbf\{|\\mathbb\{|\\boldsymbol\{)1\}(_\{?\w\}?)?", r"of ones|all-ones|1s"),
)
"""Functions and signs, and the words that state the meaning which matcalc gives them."""


class Described(NamedTuple):
    """A formula that words describe: its range in the passage, and whether the words state what matcalc means by it."""

    begin: int
    end: int
    is_stated: bool


class _Piece(NamedTuple):
    """A formula or a text: its range, the range of what it contains, and which of the two it is."""

    begin: int
    end: int
    first: int
    last: int
    is_math: bool


def without_descriptions(text: str) -> tuple[str, list[Described]]:
    """Return a passage without the words that describe symbols, and the symbols."""
    found = next((x for x in _BEGIN.finditer(text) if not _inside(text, x)), None)
    if found is None:
        return text, []
    pieces = _pieces(text, found)
    shown = [text[x.first : x.last].strip() for x in pieces if x.is_math]
    has_verb = any(_VERB.match(text, x.first, x.last) for x in pieces if not x.is_math)
    if not shown or not has_verb or any(x.endswith("=") for x in shown):  # f = \text{the derivative of ...}
        return text, []
    kept, described = _kept(text, pieces)
    if kept is None:
        return text, []
    begin, end = found.end(), pieces[-1].end
    made = list(text[:begin] + " " * (end - begin) + text[end:])
    if not kept:
        made[found.start() : begin] = " " * (begin - found.start())
    for k, (first, last) in enumerate(kept):
        made[first:last] = text[first:last]
        if k:
            made[first - 1] = ","
    return "".join(made), described


def _inside(text: str, found: re.Match[str]) -> bool:
    """Return whether a word stands inside parentheses or braces."""
    return any(text.count(a, 0, found.start()) != text.count(b, 0, found.start()) for a, b in ("()", "{}"))


def _pieces(text: str, found: re.Match[str]) -> list[_Piece]:
    """Return the formulas and texts behind the word that begins the descriptions."""
    if _MATH.search(text, found.end()) and not found[0].startswith("\\"):
        sign, is_math, end = _MATH, True, len(text)
    elif found[0].startswith("\\"):
        sign, is_math, end = _TEXT, False, _end_of_formula(text)
    else:
        return []
    pieces: list[_Piece] = []
    at = found.end()
    for one in sign.finditer(text, at, end):
        inner = one.span("a") if one["a"] is not None else one.span("b")
        if text[at : one.start()].strip():
            pieces.append(_Piece(at, one.start(), at, one.start(), not is_math))
        pieces.append(_Piece(*one.span(), *inner, is_math))
        at = one.end()
    if text[at:end].strip(" \n.,;~"):
        pieces.append(_Piece(at, end, at, end, not is_math))
    return pieces


def _end_of_formula(text: str) -> int:
    """Return the position before the signs that end the formula in which a text begins."""
    stripped = re.search(r"(?:\s|[.,;]|\$|\\\]|\\\)|\\end\s*\{[^{}]*\})*\Z", text)
    return stripped.start() if stripped else len(text)


def _kept(text: str, pieces: list[_Piece]) -> tuple[list[tuple[int, int]] | None, list[Described]]:
    """Return the ranges of formulas that remain, None if words are no description; and what words describe."""
    kept: list[tuple[int, int]] = []
    described: list[Described] = []
    waiting: list[_Piece] = []
    at = 0
    while at < len(pieces):
        one = pieces[at]
        words = pieces[at + 1] if at + 1 < len(pieces) and not pieces[at + 1].is_math else None
        if not one.is_math:
            if text[one.first : one.last].strip(" \n,.;~") and not _LIST.match(text, one.first, one.last):
                return None, []
            at += 1
            continue
        if _RELATION.search(text, one.first, one.last):
            kept.append((one.first, one.last))
        else:
            waiting.append(one)
        at += 1
        if words is None:
            continue
        if not _VERB.match(text, words.first, words.last):
            if _LIST.fullmatch(text, words.first, words.last):
                continue
            if waiting:
                return None, []
        last = _last_of_description(text, pieces, at)
        said = text[words.first : pieces[last].last]
        if not _VERB.sub("", said, count=1).strip():
            return None, []
        kept += [(x.first, x.last) for x in pieces[at : last + 1] if x.is_math and "=" in text[x.first : x.last]]
        described += [Described(x.first, x.last, _states(text[x.first : x.last], said)) for x in waiting]
        waiting = []
        at = last + 1
    return (None, []) if waiting else (kept, described)


def _last_of_description(text: str, pieces: list[_Piece], at: int) -> int:
    """Return the number of the last piece of the description that begins with the words at a number."""
    for k in range(at, len(pieces) - 1):
        if pieces[k].is_math or not _NEXT.search(text, pieces[k].first, pieces[k].last):
            continue
        after = k + 1
        while after + 2 < len(pieces) and _LIST.fullmatch(text, pieces[after + 1].first, pieces[after + 1].last):
            after += 2
        words = pieces[after + 1] if after + 1 < len(pieces) else None
        is_stated = any(_RELATION.search(text, x.first, x.last) for x in pieces[k + 1 : after + 1] if x.is_math)
        if is_stated or words is not None and _VERB.match(text, words.first, words.last):
            return k
    return len(pieces) - 1


def _states(shown: str, words: str) -> bool:
    r"""Return whether words state the meaning of a sign or a function, "logistic" that of \sigma."""
    plain = re.sub(r"\s|\\[,;:! ]|\\left|\\right|(?<=\\)\s", "", shown)
    return any(re.fullmatch(sign, plain) and re.search(stated, words) for sign, stated in MEANINGS)
