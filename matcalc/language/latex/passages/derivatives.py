r"""Reads derivatives that a passage defines and uses, \nabla D(x) = ... and \|\nabla D(z)\|, as names of their own.

Both places must have the same signs. A derivative without a definition is left to other rules.
"""

from __future__ import annotations

import re

from matcalc.language.latex.passages.indicators import Text

_INSIDE = r"(?:[^{}=]|\{[^{}]*\})*"
_LETTER = r"(?:\\(?:mathcal|mathbf|boldsymbol|bm|mathrm|hat|tilde|bar)\s*\{\s*\\?[A-Za-z]+\s*\}|\\?[A-Za-z]+)"
_D = r"(?:\\partial(?![A-Za-z])|\\mathrm\s*\{\s*d\s*\}|d)\s*"
_DERIVATIVE = re.compile(
    rf"(?<![|\\])\|\s*\\nabla\s*{_LETTER}\s*\|(?!\|)"
    rf"|\\nabla(?![A-Za-z])(?:\s*\^\s*(?:2|\{{\s*2\s*\}}))?(?:\s*_\s*(?:\{{{_INSIDE}\}}|\\?[A-Za-z]))?\s*(?:{_LETTER})"
    rf"|\\[dt]?frac\s*\{{\s*{_D}{_LETTER}\s*\}}\s*\{{\s*{_D}{_LETTER}\s*\}}"
)
_LEFT = re.compile(r"(?:\A|[,;&$\]]|\\\\|\\q?quad|\\[\[(]|\\[,;:! ]|\\(?:begin|text)\s*\{[^{}]*\}|[a-z]{3})\s*\Z")
"""What may stand before the left side of a line."""
_EQUALS = re.compile(
    r"\s*(?:_\s*(?:\w|\{[^{}]*\})\s*)?(?:\^\s*(?:2|\{\s*2\s*\})\s*)?"
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
            text = [*text[: found.start()], *put, *text[found.end() :]]
    return text


def _name(shown: str) -> str:
    """Return the letters of a derivative as one name; those of fonts do not count."""
    size = "size" if shown.startswith("|") else ""
    shown = re.sub(r"\\(?:mathcal|mathbf|boldsymbol|bm|mathrm)(?![A-Za-z])|\\[dt]?frac", "", shown)
    return size + "".join(re.findall(r"[A-Za-z]+", shown)) + ("second" if re.search(r"\^\s*\{?\s*2", shown) else "")
