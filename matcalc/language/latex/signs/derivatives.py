r"""Reads derivatives that a passage defines and uses, \nabla D(x) = ... and \|\nabla D(z)\|, as names of their own.

Both places must have the same signs. A derivative without a definition is left to other rules.
"""

from __future__ import annotations

import re

from matcalc.language.latex.signs.indicators import Text

_INSIDE = r"(?:[^{}=]|\{[^{}]*\})*"
_LETTER = r"(?:\\(?:mathcal|mathbf|boldsymbol|bm|mathrm|hat|tilde|bar)\s*\{\s*\\?[A-Za-z]+\s*\}|\\?[A-Za-z]+)"
_D = r"(?:\\partial(?![A-Za-z])|\\mathrm\s*\{\s*d\s*\}|d)\s*"
_DERIVATIVE = re.compile(
    rf"(?<![|\\])\|\s*\\nabla\s*{_LETTER}\s*\|(?!\|)"
    rf"|\\nabla(?![A-Za-z])(?:\s*\^\s*(?:2|\{{\s*2\s*\}}))?(?:\s*_\s*(?:\{{{_INSIDE}\}}|\\?[A-Za-z]|\d))?\s*(?:{_LETTER})"
    rf"|\\[dt]?frac\s*\{{\s*{_D}{_LETTER}\s*\}}\s*\{{\s*{_D}{_LETTER}\s*\}}"
)
_LEFT = re.compile(
    r"(?:\A|(?<![A-Za-z}])\(|[,;&$\]]|\\\\|\\q?quad|\\[\[(]|\\[,;:! ]|\\(?:begin|text)\s*\{[^{}]*\}|[a-z]{3})\s*\Z"
)
"""What may stand before the left side of a line."""
_EQUALS = re.compile(
    r"\s*\)?\s*(?:_\s*(?:\w|\{[^{}]*\})\s*)?(?:\^\s*(?:2|\{\s*2\s*\})\s*)?"
    r"(?:(?:\\left\s*)?\((?:[^()]|\([^()]*\))*\)\s*)?&?\s*(?::?=|\\(?:triangleq|coloneqq))"
)
"""What may stand between a derivative and the right side of its definition."""


def with_own_derivatives(text: Text) -> Text:
    """Return a text in which each derivative that a line defines and another place uses is one upright name."""
    plain = "".join(c for c, _ in text)
    places = list(_DERIVATIVE.finditer(plain))
    lefts = [x for x in places if _EQUALS.match(plain, x.end()) and _LEFT.search(plain, 0, x.start())]
    defined = {_name(x[0]) for x in lefts}
    used = {_name(x[0]) for x in places if x not in lefts}
    for found in reversed(places):
        name = _name(found[0])
        if name in defined & used:
            origin = text[found.start()][1]
            put = [(c, origin) for c in rf"\mathrm{{{name}}}"]
            begin, end = _with_parentheses(plain, *found.span())
            text = [*text[:begin], *put, *text[end:]]
    return text


def _with_parentheses(plain: str, begin: int, end: int) -> tuple[int, int]:
    r"""Return the range of (\nabla u) in (\nabla u)_{i,j}, else that of the derivative alone."""
    is_inside = (
        plain[begin - 1 : begin] == "("
        and re.match(r"\)\s*_", plain[end:])
        and not re.search(r"\\\Z|[A-Za-z}]\s*\Z", plain[: begin - 1])
    )
    return (begin - 1, end + 1) if is_inside else (begin, end)


def _name(shown: str) -> str:
    """Return the letters of a derivative as one name; those of fonts do not count."""
    size = "size" if shown.startswith("|") else ""
    shown = re.sub(r"\\(?:mathcal|mathbf|boldsymbol|bm|mathrm)(?![A-Za-z])|\\[dt]?frac", "", shown)
    plain, count = re.subn(r"\^\s*\{?\s*2\s*\}?", "", shown)
    return size + "".join(re.findall(r"[A-Za-z0-9]+", plain)) + ("second" if count else "")


_BASE = r"(?:\\(?:hat|bar|tilde|mathbf|boldsymbol)\s*(?:\{[^{}]*\}|\\?[A-Za-z]+)|\\?[A-Za-z]+)"
_LEFT_OUT = re.compile(rf"(?P<base>{_BASE})\s*_\s*\{{\s*-\s*(?P<index>[a-z])\s*\}}")
_DIFFERENCE = re.compile(
    r"\\Delta(?![A-Za-z])\s*(?:\^\s*(?:\{\s*(?P<a>\d)\s*\}|(?P<b>\d)))?\s*(?P<letter>\\?[A-Za-z]+)(?=\s*_)"
)
_DEFINED = re.compile(r"\s*(?:_\s*(?:\w|\{[^{}]*\}))?\s*(?:(?:\\left\s*)?\([^()]*\))?\s*&?\s*:?=")


def with_own_entries(text: Text) -> Text:
    r"""Return a text in which m_{-i} and \Delta^2 a_j that a line defines are names with the subscripts i and j."""
    for pattern in (_LEFT_OUT, _DIFFERENCE):
        plain = "".join(c for c, _ in text)
        places = list(pattern.finditer(plain))
        defined = {_own(x) for x in places if _DEFINED.match(plain, x.end())}
        for found in reversed([x for x in places if _own(x) in defined]):
            origin = text[found.start()][1]
            put = [(c, origin) for c in _own(found)]
            if pattern is _LEFT_OUT:
                put = [*put, *((c, origin) for c in f"_{{{found['index']}}}")]
            text = [*text[: found.start()], *put, *text[found.end() :]]
    return text


def _own(found: re.Match[str]) -> str:
    """Return the name of estimates without one observation, or of differences."""
    if "base" in found.groupdict():
        return rf"\breve{{{' '.join(found['base'].split())}}}"
    return rf"\mathrm{{difference{found['a'] or found['b'] or ''}{found['letter'].lstrip(chr(92))}}}"
