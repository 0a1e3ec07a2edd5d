r"""Decides what the formulas of a paragraph do: they state something, restrict, range, or are only mentioned."""

from __future__ import annotations

import re
from typing import NamedTuple

RELATED = re.compile(
    r"[<>≤≥∈]|\\(?:in|ni|le|ge|leq|geq|leqslant|geqslant|gt|lt|ll|gg|succ|succeq|prec|preceq|neq|ne|subset|subseteq"
    r"|notin)(?![A-Za-z])"
)
DRAWN = re.compile(r"\\(?:sim|stackrel|overset)(?![A-Za-z])|∼")
_MAPPED = re.compile(r"\\(?:to|mapsto|colon|rightarrow|longrightarrow|longmapsto)(?![A-Za-z])")
_DOTS = re.compile(r"\\[lc]?dots(?![a-z])|…")
_RANGE = re.compile(
    r"\s*\\?[A-Za-z](?:\s*,\s*\\?[A-Za-z])*\s*(?:=|\\in(?![A-Za-z]))"
    r"(?:\s|\\[{}]|[\w,+\-()\[\]]|\\[lc]?dots|\\[,;! ])*[,.;\s]*"
)
r"""The range of an index, t = 1, \dots, T."""
_NAME = re.compile(
    r"\s*[({]?\s*(?:\\?[A-Za-z]+|\\[a-z]+\s*\{\s*\\?[A-Za-z]+\s*\})(?:\s*[_^]\s*(?:\{[^{}]*\}|\\?\w+))*\s*[)}]?\s*"
)
_INTRODUCES = re.compile(
    r"\b(?:(?:mini|maxi|opti)mi[sz](?:e|es|ed|ing)\b(?:\s+\w+){0,6}"
    r"|(?:objective|loss|cost|criterion|functional|energy|likelihood|problem|formula|by|as|is)"
    r"\s*(?:is|by|as|reads|becomes)?)\s*:?\s*\Z"
)
"""Words after which a formula stands without a name."""
_ARGUMENTS = re.compile(
    rf"(?:\\left\s*|\\[bB]igg?l?\s*)?\({_NAME.pattern}(?:[,;]{_NAME.pattern})*(?:\\right\s*|\\[bB]igg?r?\s*)?\)\s*"
)
"""Names as the arguments of a function that a display defines, J(W, b)."""
_OPTIMISES = re.compile(
    r"\b(?:mini|maxi)mi[sz](?:e|es|ed|ing)\b(?:\s+(?:the|loss|cost|objective|function|criterion|functional|energy)\b){0,3}\s*:?\s*\Z"
)
"""Words in front of what is optimised."""
_OBJECTIVE = re.compile(
    rf"{_OPTIMISES.pattern}|\b(?:objective|loss|cost|criterion|functional|energy|likelihood|problem)\b(?:\s+\w+){{0,2}}\s*\Z"
)
_EXTREME = re.compile(
    r"\\(?:arg\s*)?(?:min|max)\s*_|\\(?:operatorname\*?|mathrm|text)\s*\{\s*(?:arg\s*\\?,?\s*)?(?:min|max)imi[sz]e"
)
_NOTATION = re.compile(
    r"\s*\\?[A-Za-z]+\s*_\s*\{(?P<below>(?:\\?[A-Za-z]|[\s,])+)\}\s*=\s*(?:\\left\s*)?(?:\(|\[|\\langle(?![A-Za-z])|<)"
    r"(?P<inside>(?:\\(?!mid|vert|right|rangle|top)[A-Za-z]+|[A-Za-z\s,;|]|\\(?:mid|vert)(?![A-Za-z])|\\[,;:! ]"
    r"|\)\s*\^\\top\()*)"
    r"(?:\\right\s*)?(?:\)|\]|\\rangle|>)\s*[,.]?\s*"
)
"""An array and its indices in other brackets; <p|q> is (p)^\\top(q) here."""
_OF_VALUE = re.compile(r"[\s,]*(?:if|iff|when|whenever|indicates?|denotes?|means?)")
_VALUED = re.compile(r"[^=<>]*=\s*[-\d.]+\s*")
"""A value of data, M_{ui} = 1, in front of the word if."""
EQUALS = re.compile(r":=|=|\\(?:triangleq|coloneqq|equiv)(?![A-Za-z])")


class Part(NamedTuple):
    """A formula of a paragraph: its range with its delimiters and without, and the words around it in its sentence.

    begins: whether no formula is in front of it in its sentence.
    """

    begin: int
    end: int
    first: int
    last: int
    is_display: bool
    before: str
    after: str
    begins: bool


def role_of(shown: str, one: Part) -> str:
    """Return what a formula does: statement, restriction, range, drawn (a random symbol) or mention."""
    outer = outside(shown)
    if _DOTS.search(outer) and _RANGE.fullmatch(shown):
        return "range"
    if one.is_display:
        return "drawn" if DRAWN.search(outer) and not EQUALS.search(outer) else "statement"
    if DRAWN.search(outer):
        return "drawn"
    if _VALUED.fullmatch(shown) and _OF_VALUE.match(one.after):
        return "value"
    if _is_notation(shown):
        return "mention"
    if EQUALS.search(outer):
        return "statement"
    return "mention" if _MAPPED.search(outer) or not RELATED.search(outer) else "restriction"


def _is_notation(shown: str) -> bool:
    r"""Return whether an equation only tells another notation of an array, g_{ijkl} = (ij|kl)."""
    found = _NOTATION.fullmatch(shown)
    inside = (
        [re.sub(r"\\(?:mid|vert|top)(?![A-Za-z])", " ", found[x]) for x in ("below", "inside")] if found else ["", ""]
    )
    letters = [re.findall(r"\\[A-Za-z]+|[A-Za-z]", x) for x in inside]
    return bool(letters[0]) and sorted(letters[0]) == sorted(letters[1])


def outside(shown: str) -> str:
    """Return a formula with spaces for what stands in braces, brackets and parentheses."""
    made, depth = [], 0
    for k, sign in enumerate(shown):
        is_sign = k > 0 and shown[k - 1] == "\\"
        depth -= sign in ")]}" and (sign != "}" or not is_sign)
        made.append(sign if depth <= 0 else " ")
        depth += sign in "([{" and (sign != "{" or not is_sign)
    return "".join(made)


def only_define(text: str, displays: list[Part]) -> bool:
    """Return whether no display is what words or a command optimise."""
    return not any(_OBJECTIVE.search(x.before) or _EXTREME.search(text[x.first : x.last]) for x in displays)


def introduced(text: str, one: Part, role: str, has_displays: bool) -> str:
    """Return the role of a formula without a name that words introduce, We minimize $...$: a statement.

    Beside displays these are words of an optimisation.
    """
    shown = text[one.first : one.last]
    introduces = _OPTIMISES if has_displays else _INTRODUCES
    name = _NAME.match(shown)
    is_name = name is not None and (
        not shown[name.end() :].strip() or has_displays and _ARGUMENTS.fullmatch(shown, name.end())
    )
    is_formula = role == "mention" and not is_name and introduces.search(one.before)
    return "statement" if is_formula else role
