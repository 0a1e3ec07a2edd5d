r"""Reads a passage of sentences: displays and equations between dollar signs are lines, the words between are not.

`Let $r_i = y_i - x_i^\top w$ be the residuals. We minimise \[ L = \sum_i r_i^2 \]` has two lines. A formula without a
relation, `the step size $\eta$`, only mentions symbols. Signs and words are replaced by as many characters, so
positions remain those of the passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from matcalc.errors import ParseError
from matcalc.language.latex.layout.latex_layout import LINES
from matcalc.language.latex.passages.descriptions import OVER, Described, Words, states_axis, without_citations
from matcalc.language.latex.passages.meanings import states
from matcalc.language.latex.passages.words_of_rows import OWN, Piece, letters_of, rows_in

_DISPLAYS = r"equation|displaymath|align|alignat|flalign|gather|multline|eqnarray"
_MATH = re.compile(
    rf"\\begin\s*\{{\s*(?P<name>(?:{_DISPLAYS})\*?)\s*\}}(?P<a>.*?)\\end\s*\{{\s*(?P=name)\s*\}}"
    r"|(?<!\\)\\\[(?P<b>.*?)(?<!\\)\\\]|(?<!\\)\$\$(?P<c>.*?)\$\$|(?<!\\)\$(?P<d>(?:[^$\\]|\\.)+)\$|\\\((?P<e>.*?)\\\)",
    re.S,
)
_INNER = re.compile(rf"\\(?:begin|end)\s*\{{\s*(?:{LINES})\*?\s*\}}")
_WORD = re.compile(r"[A-Za-z]{2}")
_PLAIN = re.compile(
    r"\\(?:[ ,;@&%]|q?quad(?![A-Za-z])|par(?![A-Za-z])|noindent(?![A-Za-z])|text(?:it|bf|sc)\s*)|[\"'`~{}]"
)
_LETTER = re.compile(r"(?<![\w'.-])(?:[B-HJ-Zb-z]|(?<=[a-z] )A)(?![\w'.-])")
"""A letter of a formula without signs around it."""
_FORMULA = re.compile(r"[\\^_=<>&#]")
_ENDS = re.compile(r"(?:\s|[.,;:]|\\[,;! ]|~|\\q?quad(?![A-Za-z]))*")
_OPEN = re.compile(r"\\begin\s*\{|\\\{|\\lbrace(?![A-Za-z])|[\[({]")
_CLOSE = re.compile(r"\\end\s*\{[^}]*\}|\\\}|\\rbrace(?![A-Za-z])|[\])}]")
_SIGN = re.compile(
    r"(?P<equal>:=|(?<![<>!:])=|\\(?:triangleq|coloneqq|equiv)(?![A-Za-z]))"
    r"|[<>≤≥]|\\(?:in|le|ge|leq|geq|gt|lt|succ|succeq|prec|preceq|neq|ne|sim|subset|subseteq|ll|gg|to|approx)(?![A-Za-z])"
)
_RANGE = re.compile(r"[^=]*=\s*-?\w+\s*,\s*(?:\\[,;! ]\s*)?(?:\w+\s*,\s*)*\\[lc]?dots")
_MINIMISED = re.compile(
    r"\b(?:mini|maxi|opti)mi[sz](?:e|es|ing|ed)"
    r"(?:\s+(?!(?:between|over|with|to|by|in|on|and|from|under|for|using|at)\b)[a-z-]+){0,4}\s*:?\s*\Z",
    re.I,
)
_WIDE = re.compile(r"\\q?quad(?![A-Za-z])")
_CONDITION = re.compile(r"\b(?:if|when|whenever|unless|provided|until|while|except)(?:\s+that)?\s*\Z")
_APPLIED = re.compile(
    r"\b(?:log|logs,?|ln|exp|(?:logarithm|exponential|inverse|reciprocal|square|root|transpose|negative|gradients?|derivatives?"
    r"|Hessian|Jacobian|expectation|mean|average|variance|minim(?:um|izer)|maxim(?:um|izer)|dual|logit)\s+of(?:\s+the)?)\s*\Z"
)
_CHANGES = re.compile(
    r"\b(?:except|excluding|excluded|unless|instead|plus|minus|twice|halved|times(?!\s+to\b)"
    r"|(?:divided|multiplied|scaled|weighted)\s+by|(?:summ|averag)(?:ed|ing)(?=\s*[.,;]|\s+over\b)"
    r"|ignoring\s+(?!(?:additive\s+|the\s+)?constant)"
    r"|(?:sum|product|maximum|minimum)s?\s+(?:is|are|runs?|ranges?|extends?|goes|being|taken)\b(?!\s+over\s+all)"
    r"|(?:is|are)\s+(?:transposed|inverted|squared|negated|halved|doubled|reversed|sorted)"
    r"|(?:its|their)\s+(?:own\s+)?(?:log|logarithm|square|root|inverse|reciprocal|negative|mean|average|sum|product"
    r"|expectation|exponential|transpose|maximum|minimum|square\s+root)(?=\s*[.,;]|\s+(?:is|are|as|instead)\b)"
    r"|zero\s+(?:for|when|elsewhere)|equivalently|alternatively|(?:approximat|bound)ed\s+by|with(?:out)?\s+replacement)\b",
    re.I,
)
"""Words that may change the formulas beside them."""
_OVER = re.compile(r"\s*(?:over|with\s+respect\s+to)(?:\s+all|\s+the)?\s*", re.I)
_CHANGED = re.compile(
    r"\b(?:squared|inverse|reciprocal|negative|transposed|normali[sz]ed|log|logarithmic|additional|extra)\s+"
    r"(?:[a-z-]+\s+){0,2}\Z"
)
_ROWS = re.compile(
    r"[\s,]*(?:is|are|be|denotes?)\b[^$,;]*(?:\$[^$]*\$[^$,;]*)??\b(?:row|column)s?(?:[\s-]+vectors?)?\s+(?:of|in)\s+[a-z\s]*\$([^$]*)\$"
)
_NOUNS = re.compile(
    r"[.,;:()]|\b(?:and|is|are|of|with|where|by|for|in|to|from|on|at|as|that|which|let|denotes?)\b", re.I
)
_APPOSED = re.compile(r"\s*(?:and\s+\$[^$]*\$\s+)?(?:the|an?)\s")
"""Words behind a symbol that name it without a verb, $\\phi$ and $\\Phi$ the density and the c.d.f."""
_OTHERWISE = re.compile(r"\botherwise\b")
_VERB = re.compile(r"[\s,]*(?:is|are|be|denotes?|denoting|stands?\s+for|means?|being|represents?|refers?\s+to)\b")
_STOP = re.compile(r"[.;](?:\s|\Z)")


class Segment(NamedTuple):
    """A formula of a passage: its range with its signs, the range inside, whether it is a display, and its sign.

    sign: "=" of an equation, "<" of any other relation, "" of a formula that is mentioned, "f" of one to be minimised.
    """

    begin: int
    end: int
    first: int
    last: int
    is_display: bool
    sign: str


def has_sentences(text: str) -> bool:
    """Return whether a passage has words between formulas, and each formula has signs around it."""
    plain = without_citations(text)
    segments = tuple(_segments(plain))
    gaps = _gaps(plain, segments)
    words = [_PLAIN.sub("", plain[begin:end]) for begin, end in gaps]
    is_plain = not any(_FORMULA.search(one) or _LETTER.search(one) for one in words)
    is_ended = not words[-1].strip() or words[-1].rstrip().endswith((".", ":", ")"))
    return bool(segments) and is_plain and is_ended and any(_WORD.search(plain, *one) for one in gaps)


def lines_of_document(text: str) -> tuple[str, Words]:
    """Return the lines of a passage of sentences, and what its words state.

    Raises: ParseError for words that may change a formula.
    """
    plain = without_citations(text)
    segments = tuple(_segments(plain))
    gaps = _gaps(plain, segments)
    for begin, end in gaps:
        if found := _CHANGES.search(plain, begin, end):
            hint = "write what they mean as a formula, or leave them out"
            raise ParseError(f"the words {found[0]!r} may change a formula", text=text, at=found.start(), hint=hint)
        if (found := _OTHERWISE.search(plain, begin, end)) and _equation_before(plain, segments, begin):
            hint = "write it as a formula, with cases"
            raise ParseError(f"the words {found[0]!r} may change a formula", text=text, at=found.start(), hint=hint)
    made = [" "] * len(plain)
    lines = [
        one for one in segments if one.sign and not (one.sign == "=" and not one.is_display and _is_range(plain, one))
    ]
    for number, one in enumerate(lines):
        before = plain[: one.begin]
        if one.sign == "=" and not one.is_display and (_CONDITION.search(before) or _APPLIED.search(before)):
            hint = "write it as a formula, with cases"
            raise ParseError("the words in front of this equation may change it", text=text, at=one.first, hint=hint)
        made[one.first : one.last] = (
            _with_commas(plain[one.first : one.last]) if one.is_display else plain[one.first : one.last]
        )
        if number < len(lines) - 1:
            made[one.last : one.last + 2] = "\\\\"
    shown = _INNER.sub(lambda found: " " * len(found[0]), "".join(made))
    return shown, _words(plain, segments, gaps)


def _equation_before(text: str, segments: tuple[Segment, ...], end: int) -> bool:
    """Return whether an equation stands in front of a position in the same sentence."""
    own = [one for one in segments if one.end <= end]
    while own:
        one = own.pop()
        if one.sign == "=":
            return True
        before = own[-1].end if own else 0
        if _STOP.search(text, one.end, end) or _STOP.search(text, before, one.begin):
            return False
        end = one.begin
    return False


def _gaps(text: str, segments: tuple[Segment, ...]) -> list[tuple[int, int]]:
    """Return the ranges of the words between formulas."""
    ends = [0, *(one.end for one in segments)]
    return list(zip(ends, [*(one.begin for one in segments), len(text)], strict=True))


def _segments(text: str) -> Iterator[Segment]:
    for found in _MATH.finditer(text):
        group = next(x for x in "abcde" if found[x] is not None)
        first, last = found.span(group)
        is_display = group in "abc"
        stop = next(
            (at for at in range(first, last + 1) if (x := _ENDS.match(text, at, last)) and x.end() == last), last
        )
        sign = _sign(text, first, stop)
        if not sign and (is_display or stop - first > 3 and _MINIMISED.search(text, 0, found.start())):
            sign = "f"
        yield Segment(found.start(), found.end(), first, stop, is_display, sign)


def _sign(text: str, begin: int, end: int) -> str:
    """Return the kind of the first relation of a formula that is in no bracket, "" without one."""
    depth, at = 0, begin
    while at < end:
        opened, closed = _OPEN.match(text, at, end), _CLOSE.match(text, at, end)
        found = _SIGN.match(text, at, end) if not depth else None
        if found:
            return "=" if found["equal"] else "<"
        depth += 1 if opened else -1 if closed else 0
        bracket = closed or (opened if opened and not opened[0].startswith("\\begin") else None)
        at = bracket.end() if bracket else at + 1
    return ""


def _with_commas(shown: str) -> str:
    """Return the text of a display with a comma for each wide space between two equations."""
    for found in reversed(list(_WIDE.finditer(shown))):
        before, behind = shown[: found.start()].rstrip(), shown[found.end() :]
        is_open = sum(len(_OPEN.findall(x)) - len(_CLOSE.findall(x)) for x in (before,))
        after = re.split(r"\\\\|\\q?quad", behind)[0]
        if not is_open and before and before[-1] not in ",;.&\\" and _SIGN.search(after) and _SIGN.search(before):
            shown = shown[: found.start()] + "," + " " * (len(found[0]) - 1) + behind
    return shown


def _is_range(text: str, one: Segment) -> bool:
    return _RANGE.match(text, one.first, one.last) is not None


def _words(text: str, segments: tuple[Segment, ...], gaps: list[tuple[int, int]]) -> Words:
    """Return what the words of a passage state of symbols and axes."""
    words = Words([], {}, {})
    pieces: list[Piece] = []
    for (begin, end), one in zip(gaps, [*segments, None], strict=True):
        if text[begin:end].strip():
            pieces.append(Piece(begin, end, begin, end, False))
        if one is not None:
            pieces.append(Piece(one.begin, one.end, one.first, one.last, True))
    for piece in pieces:
        if not piece.is_math:
            states_axis(text[piece.first : piece.last], words)
    letters = {x for one in segments for x in letters_of(text[one.first : one.last])}
    rows = rows_in(text, pieces)
    words.rows.update({x: axis for x, axis in rows.items() if x != OWN and x[:1].lower() + x[1:] in letters})
    for k, one in enumerate(segments):
        if one.sign and one.sign != "<":
            continue
        after = _said(text, segments, k)
        _check_rows(text, one, after)
        before = text[gaps[k][0] : gaps[k][1]]
        if not one.sign and _OVER.fullmatch(before) and k and segments[k - 1].is_display:
            words.described.append(Described(one.first, one.last, False, False, OVER))
            continue
        _check_front(text, one, before, bool(_VERB.match(after)))
        said = after if _VERB.match(after) else f" is {_NOUNS.split(before)[-1].strip()}"
        shown = text[one.first : one.last]
        is_stated = states(shown, said) or bool(_APPOSED.match(after)) and states(shown, after)
        words.described.append(Described(one.first, one.last, is_stated, False, said))
    return words


def _check_rows(text: str, one: Segment, after: str) -> None:
    """Raise ParseError for words by which a symbol is a row of a matrix of another letter."""
    found = _ROWS.match(after)
    shown = text[one.first : one.last]
    if (
        found
        and "_" in shown
        and not {x.lower() for x in letters_of(found[1])} & {x.lower() for x in letters_of(shown)}
    ):
        hint = "write X_{i,:} for a row and X_{:,j} for a column, or define it by a formula"
        raise ParseError("rows of a matrix of another letter", text=text, at=one.first, hint=hint)


def _check_front(text: str, one: Segment, before: str, is_told: bool) -> None:
    """Raise ParseError for words in front of a symbol that may change it, the squared weights $t_i$."""
    found = None if is_told else _CHANGED.search(before)
    if found:
        hint = "write what they mean as a formula, or leave them out"
        raise ParseError(f"the words {found[0].strip()!r} may change a formula", text=text, at=one.first, hint=hint)


def _said(text: str, segments: tuple[Segment, ...], number: int) -> str:
    """Return the words behind a formula, up to the end of the sentence, with the formulas among them."""
    begin = segments[number].end
    later = [one.begin for one in segments[number + 1 :] if one.is_display]
    end = min([*later, len(text)])
    found = _STOP.search(text, begin, end)
    return text[begin : found.start() if found else end]
