r"""Removes the words that describe symbols behind a formula, `where $\tau > 0$ is a temperature and $u_i$ are ...`.

Words about a declared symbol do not change a formula. What is defined or declared by a formula remains: `$r = y - Xw$`.
 Words about a function or a sign are compared with the meaning that matcalc gives it. Signs and words
are replaced by as many characters, so positions remain those of the passage.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from matcalc.language.latex.passages.meanings import is_function_named, states
from matcalc.language.latex.passages.words_of_rows import OWN, Piece, letters_of, rows_in

_BEGIN = re.compile(
    r"\\(?:text|textrm|textit|textnormal|mathrm|mbox|intertext)\s*\{[\s,;.]*(?:[Ww]here|[Ww]ith|[Hh]ere|in\s+which)[\s,:]*\}"
    r"|(?<![\\A-Za-z{])(?:[Ww]here|with|[Hh]ere|in\s+which)(?![A-Za-z}])[\s,:]*"
)
_MATH = re.compile(r"(?<!\\)\$(?P<a>[^$]+)\$|\\\((?P<b>.+?)\\\)", re.S)
_FORMULA = re.compile(_MATH.pattern + r"|(?<!\\)\\\[(?P<c>.+?)(?<!\\)\\\]", re.S)
_TEXT = re.compile(r"\\(?:text|textrm|textit|textnormal|mbox)\s*\{(?P<a>(?:[^{}$]|\$[^$]*\$)*)\}")
_VERB = re.compile(
    r"[\s,]*(?:(?:is|are|denotes?|represents?|stands?\s+for|means?|being|refers?\s+to|indicates?|gives?|controls?|sets?"
    r"|measures?|counts?|collects?|contains?|holds?|has|have|determines?|models?|encodes?|weights?|penali[sz]es?"
    r"|balances?|trades?|ranges?|if|when|whenever|corresponds?|describes?|specif(?:y|ies)|serves?|acts?|captures?|governs?"
    r"|quantif(?:y|ies)|regulates?|tunes?|stores?|lists?|compris(?:e|es)|consists?|summari[sz]es?|parametri[sz]es?"
    r"|index(?:es)?|enumerates?|labels?|reflects?|accounts?|characteri[sz]es?|was|were|can|may|must|should|be)\b"
    r"|(?:an?|the|its|their|our|some)\s)",
)
_VALUE = re.compile(r"[^=<>]*(?==\s*[-\d.]+\s*\Z)")
"""The name of a value of data, M_{ui} = 1 in front of the word if."""
_IF = re.compile(r"[\s,]*(?:if|when|whenever)\b")
_NOUNS = re.compile(r"[\s,;.]*(?:[A-Za-z][a-z]*[\s,-]+)*(?:[A-Za-z][a-z]*)?[\s,:]*\Z")
"""Words in front of a symbol, the penalty $\\lambda$."""
_NOUN = re.compile(r"\b(?:the|an?)\s+[a-z][\w\s-]*\Z")
"""Words that name a symbol behind them, the sigmoid function $\\sigma$."""
_LISTED = re.compile(
    r"[\s,;]*(?:(?:and|the|an?)\s+)*(?:(?!(?:is|are|by|over|of|to|from|at|in|on|for|times|plus|minus|less|per|as|if|when)\b)"
    r"(?![a-z]*(?:ed|ing)\b)[A-Za-z][a-z]*(?:-[a-z]+)*\s+){1,3}\Z"
)
_WHOSE = re.compile(r"[\s,]*(?:and\s+)?(?:whose|with)\s+(?:the\s+)?[a-z]+(?:\s+[a-z]+)?\s+(?:is|are|given\s+by)\s*\Z")
"""Words in front of a further definition, whose gradient is $\\nabla f = ...$"""
_MEANING = re.compile(
    r"row|column|wise|entr|element|transpos|invers|deriv|gradient|expect|averag|mean|sort|order|root|squar|log|"
    r"normali|modulo|index|start|count|not|except|instead|only|unless|otherwise|denote|defin|equal",
    re.I,
)
"""Parts of words that may change the meaning of a formula."""
_LOG = re.compile(r"\blog(?:-|\s+)(?=[a-z]+\s)")
"""The first part of the noun of an equation, the log-variance follows $h_t = ...$"""
_APPLIED = re.compile(
    r"\b(?:log|logs,?|ln|exp|(?:logarithm|exponential|inverse|reciprocal|square|root|transpose|negative)\s+of)\s*\Z"
)
"""Words of a function in front of an equation, log $h_t = ...$: of its left side, or of nothing."""
CHANGE = re.compile(
    r"\s*(?:(?:is|are)\s+)?(?:replaced|substituted|exchanged|swapped|transposed|inverted|squared|negated|halved|doubled"
    r"|divided|multiplied)\b"
)
"""Words that change what a symbol stands for."""
_ADDED = re.compile(r"\b(?:plus|minus|times|add(?:ed|ing)?)\b")
_ORDINAL = re.compile(r"\s*-?\s*th\b|\s*\^")
"""The end of a number, $i$-th."""
_OVER = re.compile(
    r"[\s,]*(?:jointly\s+)?(?:over|with\s+respect\s+to|w\.r\.t\.|as\s+a\s+function\s+of)(?:\s+all|\s+both)?\s*\Z"
)
"""Words between a formula and its variables."""
_CITED = re.compile(r"~?\\(?:cite[a-z]*|ref|eqref|autoref|cref|footnote)\*?\s*(?:\[[^\]]*\]\s*)*\{[^{}]*\}")
_EMPHASISED = re.compile(r"\\emph\s*\{([^{}]*)\}")
_ALONG = re.compile(
    r"\b(row|column)-?\s?wise\b|\b(?:to|for|over|in|along)\s+(?:each|every)\s+(row|column)\b"
    r"|\b(row|column)\s+by\s+(?:row|column)\b"
)
"""The words for a function of each row, with which papers take the softmax of a matrix."""
DISPLAYS = r"equation|displaymath|align|alignat|gather|multline|eqnarray"
_CLOSING = re.compile(rf"(?:\\end\s*\{{\s*(?:{DISPLAYS})\*?\s*\}}|(?<!\\)\\\]|\$\$)(?=[\s,.;]*[A-Za-z$])")
_NEXT = re.compile(r"(?:[,;.]|\b(?:and|while|where|with|here|in\s+which)\b)\s*[,:]?\s*\Z", re.I)
"""The end of a text after which another description begins."""
_STARTS = re.compile(
    r"(?<![A-Za-z\\])(?:(?:and\s+)?(?:starting|started|start|initiali[sz]ed|initiali[sz]ing|beginning|begun)\s+"
    r"(?:from|at|with|by|to|as)|with\s+(?:the\s+)?(?:initial|terminal|final|boundary|starting)\s+"
    r"(?:values?|conditions?|states?|estimates?)(?:\s+(?:given\s+by|set\s+to))?|using|assuming)"
    r"(?=\s*(?:\$[^$]*=|\\\([^)]*=))"
)
"""Words in front of further definitions, starting from $x_0 = a$."""
_LIST = re.compile(r"\s*(?:,|and|,\s*and|or)?\s*\Z")
_RELATION = re.compile(
    r":=|[=<>≤≥]|\\(?:in|le|ge|leq|geq|gt|lt|succ|succeq|triangleq|coloneqq|equiv|neq|ne)(?![A-Za-z])"
)


OVER = "over"
"""The words in front of the variables of an optimisation."""


class Described(NamedTuple):
    """A formula that words describe: its range in the passage, and whether the words state what matcalc means by it.

    is_row: whether they name the matrix of which it is a row. words: the words, with formulas between dollars; before:
    those in front of it.
    """

    begin: int
    end: int
    is_stated: bool
    is_row: bool
    words: str
    before: str = ""


class Words(NamedTuple):
    """What the words of a passage state: symbols, the axis of rows by the letter of a matrix, and of functions.

    mentioned: symbols in the prose of a paragraph.
    """

    described: list[Described]
    rows: dict[str, int]
    along: dict[str, int]
    mentioned: Sequence[Described] = ()


def without_descriptions(text: str) -> tuple[str, Words]:
    """Return a passage without the words that describe symbols, and the symbols."""
    words = Words([], {}, {})
    text = _STARTS.sub(lambda found: "where" + " " * (len(found[0]) - 5), without_citations(text))
    begin = _beginning(text)
    if begin is None:
        return text, words
    start, at, is_text = begin
    pieces = _pieces(text, at, is_text)
    shown = [text[x.first : x.last].strip() for x in pieces if x.is_math]
    plain = [(x.first, x.last) for x in pieces if not x.is_math]
    has_verb = any(re.search(r"[A-Za-z]{3}", text[first:last]) for first, last in plain)
    if is_text:  # \text{if} and \text{otherwise} belong to cases
        has_verb = any(_VERB.match(text, *one) and not _IF.match(text, *one) for one in plain)
    if not shown or not has_verb or any(x.endswith("=") for x in shown):  # f = \text{the derivative of ...}
        return text, words
    kept = _kept(text, pieces, words, start != at)
    if kept is None:
        return text, Words([], {}, {})
    made = list(text[:at] + " " * (pieces[-1].end - at) + text[pieces[-1].end :])
    if not kept:
        made[start:at] = " " * (at - start)
    for k, (first, last) in enumerate(kept):
        made[first:last] = text[first:last]
        if k or start == at:
            made[first - 1] = ","
    return "".join(made), words


def _beginning(text: str) -> tuple[int, int, bool] | None:
    """Return the range of the word before descriptions, empty behind a display, and whether it is text in a formula."""
    behind = max((x.end() for x in _CLOSING.finditer(text)), default=None)
    found = next((x for x in _BEGIN.finditer(text, behind or 0) if not _inside(text, x)), None)
    if behind is not None and (found is None or text[behind : found.start()].strip(" \n,.;")):
        return behind, behind, False
    return None if found is None else (found.start(), found.end(), found[0].startswith("\\"))


def without_citations(text: str) -> str:
    """Return a passage without citations and references, and with emphasised words as words."""
    text = _CITED.sub(lambda found: " " * len(found[0]), text)
    return _EMPHASISED.sub(lambda found: " " * (len(found[0]) - len(found[1]) - 1) + found[1] + " ", text)


def _inside(text: str, found: re.Match[str]) -> bool:
    """Return whether a word stands inside parentheses or braces."""
    return any(text.count(a, 0, found.start()) != text.count(b, 0, found.start()) for a, b in ("()", "{}"))


def _pieces(text: str, at: int, is_text: bool) -> list[Piece]:
    """Return the formulas and texts from a position on, behind the word that begins the descriptions."""
    if _MATH.search(text, at) and not is_text:
        sign, is_math, end = _FORMULA, True, len(text)
    elif is_text:
        sign, is_math, end = _TEXT, False, _end_of_formula(text)
    else:
        return []
    pieces: list[Piece] = []
    for one in sign.finditer(text, at, end):
        inner = one.span(one.lastgroup or "a")
        if text[at : one.start()].strip():
            pieces.append(Piece(at, one.start(), at, one.start(), not is_math))
        pieces.append(Piece(*one.span(), *inner, is_math))
        at = one.end()
    if text[at:end].strip(" \n.,;~"):
        pieces.append(Piece(at, end, at, end, not is_math))
    return pieces


def _end_of_formula(text: str) -> int:
    """Return the position before the signs that end the formula in which a text begins."""
    stripped = re.search(r"(?:\s|[.,;]|\$|\\\]|\\\)|\\end\s*\{[^{}]*\})*\Z", text)
    return stripped.start() if stripped else len(text)


def _kept(text: str, pieces: list[Piece], stated: Words, has_where: bool) -> list[tuple[int, int]] | None:
    """Return the ranges of formulas that remain, None if words are no description; what they state is noted.

    has_where: whether the word where or with is in front.
    """
    kept: list[tuple[int, int]] = []
    waiting: list[Piece] = []
    at = 0
    equations = [k for k, one in enumerate(pieces) if k and one.is_math and "=" in _shown(text, one)]
    if any(_APPLIED.search(text, pieces[k - 1].first, pieces[k - 1].last) for k in equations):
        return None
    while at < len(pieces):
        one = pieces[at]
        words = pieces[at + 1] if at + 1 < len(pieces) and not pieces[at + 1].is_math else None
        if not one.is_math:
            shown = text[one.first : one.last]
            if (
                shown.strip(" \n,.;~")
                and not _LIST.match(shown)
                and not states_axis(shown, stated, _shown(text, pieces[at - 1]) if at else "")
                and not _is_noun(shown)
                and not (at + 1 < len(pieces) and "=" in _shown(text, pieces[at + 1]) and _is_noun(_LOG.sub("", shown)))
                and not (has_where and _names(shown))
                and not (words is None and at + 1 < len(pieces) and states(_shown(text, pieces[at + 1]), shown))
            ):
                return None
            at += 1
            continue
        before = pieces[at - 1] if at and not pieces[at - 1].is_math else None
        if before is not None and _OVER.fullmatch(text, before.first, before.last):
            stated.described.append(Described(one.first, one.last, False, False, OVER))
            at += 1
            continue
        is_added = before is not None and _ADDED.search(text, before.first, before.last)
        noun = _NOUN.search(text, before.first, before.last) if before is not None and not is_added else None
        is_last = words is None or _LIST.fullmatch(text, words.first, words.last) or words.last - words.first < 2
        if noun is not None and is_last and not _RELATION.search(text, one.first, one.last):
            stated.described.append(Described(one.first, one.last, states(_shown(text, one), noun[0]), False, noun[0]))
            at += 1
            continue
        value = (
            _VALUE.match(text, one.first, one.last)
            if words and re.match(r"[\s,]*(?:if|when)", text[words.first :])
            else None
        )
        if value:
            waiting.append(one._replace(first=one.first, last=value.end()))
        elif _RELATION.search(text, one.first, one.last):
            kept.append((one.first, one.last))
        else:
            waiting.append(one)
        at += 1
        if words is None:
            continue
        if not _VERB.match(text, words.first, words.last):
            is_named = (
                has_where and at + 1 < len(pieces) and _names(text[words.first : words.last])
            )  # cases $c_i$, dose $d_i$
            if waiting and not is_named and not _LIST.fullmatch(text, words.first, words.last):
                return None
            continue
        last = _last_of_description(text, pieces, at)
        said = _said(text, pieces[at : last + 1])
        states_axis(said, stated)
        for before, x in pairwise(pieces[at : last + 1]):
            noun = None if before.is_math else _NOUN.search(text, before.first, before.last)
            if x.is_math and noun is not None and is_function_named(shown := _shown(text, x), noun[0]):
                stated.described.append(Described(x.first, x.last, states(shown, noun[0]), False, noun[0]))
        if not _VERB.sub("", said, count=1).strip() or CHANGE.match(said):
            return None
        kept += [(x.first, x.last) for x in pieces[at : last + 1] if x.is_math and "=" in text[x.first : x.last]]
        rows = rows_in(text, pieces[at : last + 1]) if waiting else {}
        letters = {x for one in waiting for x in letters_of(text[one.first : one.last])}
        if not all({x, _small(x)} & letters for x in rows if x != OWN):
            return None  # rows of another matrix than that of the letter
        for x in waiting:
            shown = text[x.first : x.last]
            own = {letter for letter in letters_of(shown) if letter in {*rows, *map(_small, rows)}}
            if OWN in rows and (leading := re.match(r"[^A-Za-z]*(?:math[a-z]+\s*\{?\\?)?([A-Za-z]+)", shown)):
                own.add(leading[1])
                stated.rows[leading[1]] = rows[OWN]
            stated.described.append(Described(x.first, x.last, states(shown, said), bool(own), said))
        stated.rows.update({letter: axis for letter, axis in rows.items() if letter != OWN})
        waiting = []
        at = last + 1
    named = [
        x for x in waiting if x is not pieces[0] and _names(text[(y := pieces[pieces.index(x) - 1]).first : y.last])
    ]
    if waiting and not (has_where and named == waiting):
        return None
    stated.described.extend(Described(x.first, x.last, False, False, "") for x in waiting)
    return kept


def _is_noun(shown: str) -> bool:
    """Return whether words in front of a symbol only name its kind, and change no meaning."""
    return bool(_NOUNS.fullmatch(shown)) and not _MEANING.search(shown) or bool(_WHOSE.fullmatch(shown))


def _names(shown: str) -> bool:
    """Return whether one to three nouns stand in front of a symbol in a list, without a verb or a preposition."""
    return bool(_LISTED.fullmatch(shown)) and not _MEANING.search(re.sub(r"\bmeans?\b", "", shown))


def states_axis(shown: str, stated: Words, before: str = "") -> bool:
    """Return whether words state that a function is of each row or column, which is noted by each of their words."""
    found = _ALONG.search(shown)
    if found is None:
        return False
    axis = 1 if "row" in found.groups() else 0
    stated.along.update(dict.fromkeys(re.findall(r"[A-Za-z]+", shown), axis))
    if not re.sub(r"\b(?:applied|taken|computed)\b", "", shown[: found.start()]).strip(" ,"):
        stated.along.update(dict.fromkeys(letters_of(before), axis))  # $S = softmax(X)$ row by row
    return True


def _shown(text: str, one: Piece) -> str:
    return text[one.first : one.last]


def _said(text: str, pieces: list[Piece]) -> str:
    """Return words with the formulas among them between dollars."""
    return "".join(f"${text[x.first : x.last]}$" if x.is_math else text[x.first : x.last] for x in pieces)


def _small(letter: str) -> str:
    """Return the letter of the rows of a matrix, x for X and theta for Theta."""
    return letter[:1].lower() + letter[1:]


def _last_of_description(text: str, pieces: list[Piece], at: int) -> int:
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
