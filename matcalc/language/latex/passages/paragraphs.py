r"""Reads paragraphs of papers: formulas between dollar signs and in displays, with prose around them.

Prose is no formula. Formulas that state something, `$r = y - Xw$`, are lines of the passage; symbols that the prose
only mentions, "the rate $\eta$", are noted and must be known from elsewhere; all words are replaced by spaces, so
positions remain. Words that may change a formula are refused: conditions behind it, "averaged over".
"""

from __future__ import annotations

import re
from collections.abc import Collection

from matcalc.errors import ParseError
from matcalc.language.latex.passages.cases import without_stops
from matcalc.language.latex.passages.conditions import with_listed_conditions
from matcalc.language.latex.passages.descriptions import DISPLAYS, Described, Words, states_axis, without_citations
from matcalc.language.latex.passages.meanings import states
from matcalc.language.latex.passages.passage import Passage, passage_of
from matcalc.language.latex.passages.roles import (
    DRAWN,
    EQUALS,
    RELATED,
    Part,
    introduced,
    only_define,
    outside,
    role_of,
)
from matcalc.language.latex.passages.words_of_rows import OWN, Piece, letters_of, rows_in

_MATH = re.compile(
    rf"\\begin\s*\{{\s*(?P<name>(?:{DISPLAYS})\*?)\s*\}}(?P<a>.*?)\\end\s*\{{\s*(?P=name)\s*\}}"
    r"|(?<!\\)\\\[(?P<b>.*?)(?<!\\)\\\]|(?<!\\)\$\$(?P<c>.*?)\$\$|(?<!\\)\$(?P<d>[^$]+)\$|(?<!\\)\\\((?P<e>.+?)\\\)",
    re.S,
)
_SET = re.compile(r"\\(?:textit|textbf|textsc|textsl|textrm|textnormal|text|mbox|underline)\s*\{([^{}$\\]*)\}")
"""Prose in another font."""
_SPACE = re.compile(r"\\(?:(?:noindent|par|medskip|smallskip|bigskip|item|quad|qquad)(?![A-Za-z])|[ @,/;:!%&])|~")
_ACCENT = re.compile(
    r"\\(?:['`^\"~.=](?=\{?\\?[A-Za-z])|[Hcvur](?=\{)|(?:ss|o|O|l|L|ae|oe|aa|AA)(?![A-Za-z])(?:\{\})?)\{?([A-Za-z]?)\}?"
)
"""A letter with an accent, Lam\\'e."""
_PROSE = re.compile(r"[^\\={}^_|<>$#&]*")
_LETTER = re.compile(r"(?<![\w'.-])(?:[B-HJ-Zb-z]|(?<=[a-z] )A)(?![\w'.-])")
"""A letter of a formula without signs around it."""
_OTHER_READER = re.compile(r"\b(?:subject\s+to|such\s+that|s\.\s?t\.)(?![A-Za-z])", re.I)
"""Words of constraints."""
_SUBJECT = re.compile(r"\b(?:subject\s+to|such\s+that)\s+(?:(?:the|an?)\s+)?(?:[a-z-]+\s+){1,3}\Z")
"""Words in front of an equation that defines what the formula reads, subject to the dynamics $x_{t+1} = A x_t$."""
_SHORT = re.compile(r"\b(?:i\.\s?e|e\.\s?g|i\.i\.d|w\.r\.t|s\.d|c\.d\.f|p\.d\.f|cf|resp|vs|Eq|Eqs|Fig|Sec|Ref|al)\.")
_END = re.compile(r"[.!?](?=\s|\Z)")
_APPLIES = re.compile(r"\b(?:appl(?:y|ies|ied)|taken|computed|softmax)\b|wise\b")
"""Words of a function of rows."""
_NOISE = re.compile(r"\b(?:noise|errors?|disturbances?|innovations?|perturbations?|shocks?)\b")
_CONDITION = re.compile(
    r"\b(?P<word>for|if|when|whenever|unless|provided(?:\s+that)?|except(?:\s+(?:for|when|if))?|as\s+long\s+as)"
    r"(?:\s+(?:all|every|each|any|both))?\s*\Z"
)
OPERATION = re.compile(
    r"\b(?:sum|average|mean|product|expectation|maximum|minimum|inverse|transpose|square|root|logarithm|log|exponential"
    r"|negative|norm|trace|determinant|reciprocal|absolute\s+value)\s+(?:of|over)\s+(?:(?:the|all|these|each)\s+)*(?:[a-z-]+\s+){0,2}\Z"
)
"""Words of a function of the formula behind them."""
_OF_FUNCTION = re.compile(rf"\b(?:log|ln|exp)\s*\Z|{OPERATION.pattern}")
_REPLACES = re.compile(
    r"\b(?:replac(?:e|es|ed|ing)|substitut(?:e|es|ed|ing)|in\s+place\s+of|instead\s+of|rather\s+than|swap(?:ped|ping)?)(?:\s+the)?\s*\Z"
    r"|\b(?:add(?:s|ed|ing)?|plus|minus|times(?!\s+(?:to|of|between|until|at|for|from)\b)|subtract(?:s|ed|ing)?)\s+(?:an?\s+|the\s+)?(?:[a-z-]+\s+){0,2}\Z"
)
"""Words in front of a symbol that may change the formula."""
_CHANGES = re.compile(
    r"\b(?:(?:is|are|being|gets?)\s+(?:then\s+|further\s+|also\s+|finally\s+)?(?:divided|multiplied|scaled|averaged|summed"
    r"|squared|negated|halved|doubled|excluded|subtracted|left\s+out)"
    r"|(?:sums?|products?|maximum|minimum|averages?|means?)\s+(?:is|are|runs?|extends?|ranges?|goes)\s+(?:taken\s+)?over\s+(?!all\b)"
    r"|(?:is|are|equals?)\s+(?:zero|one|infinite|undefined)\s+(?:for|if|when|unless|otherwise)"
    r"|except|excluding|apart\s+from"
    r"|its\s+(?:logarithm|log|square|inverse|reciprocal|negative|exponential|average|mean|root|transpose))\b",
    re.I,
)
"""Words that change a formula of another sentence."""
_LET = re.compile(r"\b[Ll]et\s*\Z")
OF_DATA = re.compile(r"\s*(?:equals?|be)\s+(?:zero|one)\s+(?:for|if|when)\b")
"""Words about values of data, let $s_i$ equal one if it was detected."""
_CHANGED = re.compile(
    r"\b(?:squared|inverse(?!\s+temperature)|reciprocal|negative|transposed|normali[sz]ed|log|logarithmic|additional|extra)\s+"
    r"(?:(?!of\b|over\b|and\b)[a-z-]+\s+){0,2}\Z"
)
"""Words in front of a symbol by which it may be another one."""
_INTRODUCES = re.compile(
    r"(?:\A|[,;]|\b(?:with|and|given|for|let|by|of))\s*(?:an?\s+|the\s+)?(?:[a-z-]+\s+)?inverse\s+(?:[a-z-]+\s+)*(?:matrix|tensor|map)\s*\Z",
    re.I,
)
"""Words in front of all formulas that name a matrix, with edge matrix $D$ and inverse rest-shape matrix $B$."""
_LIST = re.compile(r"\s*(?:,|and|,\s*and|or)?\s*")
_CONTINUES = re.compile(r"\b(?:of|by|on|in|to|from|is|are|the|an?|size|dimension|length|between|as)\s*\Z")
"""The end of words that a formula continues."""
_BE = re.compile(r"\s*be\s")
_ADDS = re.compile(r"[\s,]*(?:be\s+)?(?:[a-z]*\s*(?:plus|minus|times|twice)|half|thrice)\b")
"""Words that change the formula in front of them."""
_NOUN_TIMES = re.compile(
    r"\b(?:the|these|those|all|of|their)\s+(?:[a-z-]+\s+){0,2}times(?=\s*[,;]|\s+(?:of|to|between|until|for|from|are|were)\b)"
)
"""The noun in "the travel times, ..."."""
_ELSE = re.compile(r"\b(?:otherwise|else)\b")
_CHANGE = re.compile(
    r"\b(?:(?:averag(?:ed|ing)|summed|summing|multiplied|divided|scaled|squared|cubed|normali[sz]ed|negated|inverted"
    r"|transposed|plus|minus|times|modulo|truncated|clipped|thresholded|rounded|sorted|except)"
    r"(?=\s*(?:(?:over|across|by|with|to|at|in|and|the)\b|[,;]|\Z))"
    r"|(?:sums?|means?|averages?|products?|expectations?|maxim(?:a|um)|minim(?:a|um))\s+(?:over|across|is|are|runs?"
    r"|extends?|ranges?|goes)\b)"
)
"""Words that may change the formula in front of them."""
_DENOTES = re.compile(r"\s*,?\s*(?:denotes?|means?|stands?\s+for|refers?\s+to|represents?|is|are)\b")
_CALLED_BEFORE = re.compile(
    r"\b(?P<words>(?:the|an?|our)\s+(?:(?!(?:is|are|by|as|of|and|on)\b)[A-Za-z][\w-]*\s+){1,5})\Z", re.I
)
"""Words that name a symbol behind them, the learning rate $\\eta$."""


def paragraph_of(text: str, arrays: frozenset[str], indices: Collection[str]) -> tuple[Passage, Words] | None:
    """Return what a paragraph states, None if a text is no paragraph.

    `arrays` are the declared ones, `indices` the data of indices.

    Raises: ParseError with the position, for words that may change a formula.
    """
    plain = with_listed_conditions(_with_plain_prose(without_citations(text)), arrays)
    pieces = _pieces(plain)
    prose = [_without_subject(plain, pieces, k) for k, x in enumerate(pieces) if not x.is_math]
    count = sum(x.is_math for x in pieces)
    if not count or count == 1 and not any(re.search(r"[A-Za-z]{2}", x) for x in prose):
        return None
    if (
        any(map(_LETTER.search, prose))
        or not all(map(_PROSE.fullmatch, prose))
        or any(map(_OTHER_READER.search, prose))
    ):
        return None
    parts = _parts(plain, pieces)
    roles = before = [role_of(plain[one.first : one.last], one) for one in parts]
    displays = [one for one, role in zip(parts, roles, strict=True) if role == "statement" and one.is_display]
    if not displays or only_define(plain, displays):
        roles = [introduced(plain, one, role, bool(displays)) for one, role in zip(parts, roles, strict=True)]
    if "statement" not in roles:
        return None
    unnamed = [one for one, a, b in zip(parts, roles, before, strict=True) if a != b and OPERATION.search(one.before)]
    if unnamed:
        hint = "write it as a formula"
        raise ParseError("these words name a function of this formula", text=text, at=unnamed[0].begin, hint=hint)
    _check_changes(text, parts, roles, indices)
    for k, piece in enumerate(pieces):
        changes = None if piece.is_math else _CHANGES.search(plain, piece.first, piece.last)
        is_told = changes is not None and OF_DATA.match(plain, piece.first, piece.last) and k
        if changes is not None and not (is_told and _LET.search(plain[: pieces[k - 1].begin])):
            hint = "write them as a formula, or leave them out"
            words_ = " ".join(changes[0].split())
            raise ParseError(f"the words {words_!r} may change a formula", text=text, at=changes.start(), hint=hint)
    found = {role: [_read(plain, one, arrays) for one, own in zip(parts, roles, strict=True) if own == role]
             for role in ("statement", "restriction", "range")}  # fmt: skip
    words = Words(
        [], {}, {}, [_mention(plain, parts, k) for k, role in enumerate(roles) if role in ("mention", "value")]
    )
    _note_words(plain, pieces, words)
    shown = [" "] * len(plain)
    for line in found["statement"]:
        shown = [b if a == " " else a for a, b in zip(shown, line.shown.ljust(len(plain)), strict=True)]
    passage = Passage(
        tuple(line for one in found["statement"] for line in one.lines),
        tuple(line for one in found["statement"] for line in one.aside),
        "".join(shown),
        tuple(line for one in found["statement"] for line in one.constraints),
        tuple(line for one in found["restriction"] for line in one.lines),
        tuple(line for one in found["range"] for line in one.lines),
        random=frozenset(_random(plain, parts, roles)),
        is_paragraph=True,
    )
    return passage, words


def _without_subject(text: str, pieces: list[Piece], k: int) -> str:
    """Return a text between formulas, without the words "subject to" in front of an equation."""
    shown = text[pieces[k].first : pieces[k].last]
    after = outside(text[pieces[k + 1].first : pieces[k + 1].last]) if k + 1 < len(pieces) else ""
    return _SUBJECT.sub(" ", shown) if EQUALS.search(after) and not RELATED.search(after) else shown


def _with_plain_prose(text: str) -> str:
    """Return a text whose prose contains no commands of fonts and spaces."""
    made, at = "", 0
    for one in _MATH.finditer(text):
        made += _with_plain_words(text[at : one.start()]) + one[0]
        at = one.end()
    return made + _with_plain_words(text[at:])


def _with_plain_words(text: str) -> str:
    text = _SPACE.sub(_blank, _SET.sub(_unset, text))
    return _ACCENT.sub(lambda found: (found[1] or "x").rjust(len(found[0]), "x"), text)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _unset(found: re.Match[str]) -> str:
    """Return the words of a command for another font, at their place."""
    return " " * (found.start(1) - found.start()) + found[1] + " "


def _pieces(text: str) -> list[Piece]:
    """Return the formulas and the words between them."""
    pieces: list[Piece] = []
    at = 0
    for one in _MATH.finditer(text):
        if text[at : one.start()].strip():
            pieces.append(Piece(at, one.start(), at, one.start(), False))
        name = next(x for x in "abcde" if one[x] is not None)
        if one[name].strip(" \n.,;&"):
            pieces.append(Piece(*one.span(), *one.span(name), True))
        at = one.end()
    if text[at:].strip():
        pieces.append(Piece(at, len(text), at, len(text), False))
    return pieces


def _parts(text: str, pieces: list[Piece]) -> list[Part]:
    """Return the formulas with the words around them; an abbreviation ends no sentence."""
    parts: list[Part] = []
    begins = True
    for k, one in enumerate(pieces):
        own = _SHORT.sub(lambda found: found[0].replace(".", " "), text[one.first : one.last])
        if not one.is_math:
            begins = begins or _END.search(own) is not None
            continue
        before, after = "", ""
        if k and not pieces[k - 1].is_math:
            front = _SHORT.sub(lambda found: found[0].replace(".", " "), text[pieces[k - 1].first : pieces[k - 1].last])
            before = _END.split(front)[-1]
        if k + 1 < len(pieces) and not pieces[k + 1].is_math:
            behind = _SHORT.sub(lambda x: x[0].replace(".", " "), text[pieces[k + 1].first : pieces[k + 1].last])
            after = _END.split(behind)[0]
        is_display = text[one.begin : one.begin + 2] in ("\\b", "\\[", "$$")
        closed = is_display and re.search(r"\.\s*\Z", text[one.first : one.last])
        parts.append(Part(one.begin, one.end, one.first, one.last, is_display, before, "" if closed else after, begins))
        begins = bool(closed)
    return parts


def _read(text: str, one: Part, arrays: frozenset[str]) -> Passage:
    """Return the lines of one formula, at their positions."""
    first, last = (one.begin, one.end) if one.is_display else (one.first, one.last)
    return passage_of(without_stops(" " * first + text[first:last]), arrays)


def _mention(text: str, parts: list[Part], k: int) -> Described:
    """Return a mentioned symbol with the words about it: those of a list of symbols, and formulas inside them."""
    one = parts[k]
    shown = text[one.first : one.last]
    last = one.first + shown.index("=") if "=" in outside(shown) else one.last
    named = _CALLED_BEFORE.search(one.before)
    while _LIST.fullmatch(parts[k].after) and k + 1 < len(parts) and not parts[k + 1].begins:
        k += 1
    said = parts[k].after
    while _CONTINUES.search(said) and k + 1 < len(parts) and not parts[k + 1].begins:
        k += 1
        said += f"${text[parts[k].first : parts[k].last]}${parts[k].after}"
    if named and not _DENOTES.match(said):
        said = f" is {named['words']}"
    shown = text[one.first : last]
    return Described(one.first, last, states(shown, said) or states(shown, one.before), False, said, one.before)


def _are_indices(text: str, one: Part, indices: Collection[str]) -> bool:
    r"""Return whether a formula lists data of indices, s_{i1}, \dots, s_{im}: negative words are words."""
    listed = re.findall(r"(?:\A|,)\s*(?:\\[lc]?dots\b\s*|([A-Za-z]+)\s*_)", outside(text[one.first : one.last]))
    return bool(indices) and {*listed} - {""} <= {*indices} and any(listed)


def _random(text: str, parts: list[Part], roles: list[str]) -> set[str]:
    """Return the letters of random symbols: those that a paragraph draws, and those that words call noise."""
    found = {"epsilon", "varepsilon", "eta", "xi"}
    for one, role in zip(parts, roles, strict=True):
        shown = text[one.first : one.last]
        if role == "drawn":
            found |= letters_of(DRAWN.split(shown)[0])
        elif role == "mention" and (_NOISE.search(one.after) or _NOISE.search(one.before)):
            found |= letters_of(shown)
    return found


def _note_words(text: str, pieces: list[Piece], words: Words) -> None:
    """Note what words state of rows, columns and axes."""
    for k, one in enumerate(pieces):
        if not one.is_math and _APPLIES.search(text, one.first, one.last):
            before = text[pieces[k - 1].first : pieces[k - 1].last] if k else ""
            states_axis(text[one.first : one.last], words, before)
    words.rows.update({letter: axis for letter, axis in rows_in(text, pieces).items() if letter != OWN})


def _check_changes(text: str, parts: list[Part], roles: list[str], indices: Collection[str]) -> None:
    """Raise ParseError for words behind a statement that may change it: a condition, averaged over."""
    stated: Part | None = None
    for k, (one, role) in enumerate(zip(parts, roles, strict=True)):
        stated = None if one.begins else stated
        found = _CONDITION.search(one.before)
        if (
            role == "statement"
            and not one.is_display
            and (_OF_FUNCTION.search(one.before) or found and found["word"] != "for")
        ):
            hint = "write it as a formula, with cases"
            raise ParseError("the words in front of this equation may change it", text=text, at=one.begin, hint=hint)
        if stated is not None and found and (role == "restriction" or role == "mention" and found["word"] != "for"):
            hint = r"write cases: \begin{cases} u & u > 0 \\ a u & \text{otherwise} \end{cases}"
            raise ParseError("a condition in words", text=text, at=one.begin, hint=hint)
        if role == "mention" and _REPLACES.search(one.before):
            raise ParseError(
                "words that replace a symbol", text=text, at=one.begin, hint="write the formula with it replaced"
            )
        is_named = _are_indices(text, one, indices) or "statement" not in roles[:k] and _INTRODUCES.search(one.before)
        is_changed = role == "mention" and not _DENOTES.match(one.after) and not is_named
        if is_changed and (front := _CHANGED.search(one.before)):
            hint = "write what they mean as a formula, or leave them out"
            raise ParseError(f"the words {front[0].strip()!r} may change a formula", text=text, at=one.begin, hint=hint)
        stated = one if role == "statement" else stated
        words = "" if _BE.match(one.after) else _NOUN_TIMES.sub(" ", one.after)
        other = stated and (_ELSE.search(one.after) or _CHANGE.search(words) or _ADDS.match(one.after))
        if other:
            shown = " ".join(other[0].split())
            hint = "write them as a formula, or leave them out"
            raise ParseError(f"the words {shown!r} may change this formula", text=text, at=one.begin, hint=hint)
