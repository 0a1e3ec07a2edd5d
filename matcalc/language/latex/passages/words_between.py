r"""Replaces words in front of definitions by `where`: starting from $x_0 = a$, and words between two displays.

Words around equations between dollar signs, `Define $r = ...$. Then $L = ...$`, are removed.
In `with the Kalman filter` between two displays the second one defines parts. Words that make the second display
another form of the first one, `or equivalently`, remain, and are refused.
"""

from __future__ import annotations

import re
from itertools import pairwise

_DISPLAY = re.compile(
    r"\\begin\s*\{\s*(?P<name>(?:equation|displaymath|align|alignat|gather|multline|eqnarray)\*?)\s*\}.*?"
    r"\\end\s*\{\s*(?P=name)\s*\}|(?<!\\)\\\[.*?(?<!\\)\\\]|\$\$.*?\$\$",
    re.S,
)
_PLAIN = re.compile(r"(?=[^A-Za-z]*[A-Za-z])[A-Za-z\s,.;:()'-]*")
_ALONE = re.compile(r"[\s,.;:]*(?:where|with|here|in which|and|subject to|such that|s\.?t\.?)?[\s,.;:]*", re.I)
"""Words that `passage` reads."""
_OTHER = re.compile(
    r"\b(?:equiva|that is|i\.?e\b|so that|becom|simplif|or\b|then|hence|therefore|thus|instead|giv|yield|equal|rewrit"
    r"|written|reduc|dual|bound|approx|gradient|deriv|minimi|maximi|subject|such that|not\b|except|without|inver|logar"
    r"|expect|averag|transpos|squar|respectively|solv|satisf)",
    re.I,
)
"""Words after which a display is no definition, or another one."""


_STARTS = re.compile(
    r"(?<![A-Za-z\\])(?:(?:and\s+)?(?:starting|started|start|initiali[sz]ed|initiali[sz]ing|beginning|begun)\s+"
    r"(?:from|at|with|by|to|as)|with\s+(?:the\s+)?(?:initial|terminal|final|boundary|starting)\s+"
    r"(?:values?|conditions?|states?|estimates?)(?:\s+(?:given\s+by|set\s+to))?|using|assuming)"
    r"(?=\s*(?:\$[^$]*=|\\\([^)]*=))"
)
"""Words in front of further definitions, starting from $x_0 = a$."""


_INLINE = re.compile(r"(?<!\\)\$([^$]+)\$")
_EQUATION = re.compile(r"\s*[^=<>]*(?<![<>:])(?::?=)")
_SENTENCE = re.compile(r"[A-Za-z\s,.;:'-]*")
_APART = re.compile(
    r"\b(?:where|with|here|in which|if|when|for|subject|such that|except|without|instead|not|constraint"
    r"|divided|multiplied|times|plus|minus|half|twice|averaged|summed)\b"
)
"""Words that other rules read, or that may change the equations beside them."""
_DENOTES = re.compile(r"\s*(?:be|denotes?)\s+(?:the|an?|our)\s+[a-z]+(?:[\s-]+[a-z]+){0,3}[\s.,]*")


def without_words_around_equations(text: str) -> str:
    """Return a passage of equations between dollar signs, `Define $r = ...$. Then $L = ...$`, as these equations."""
    found = [x for x in _INLINE.finditer(text) if x[1].strip()]
    gaps = [*zip([0, *(x.end() for x in found)], [*(x.start() for x in found), len(text)], strict=True)]
    words = [re.sub(r"\$\s*\$", "", text[begin:end]) for begin, end in gaps]
    is_plain = all(_SENTENCE.fullmatch(x) and not _APART.search(x) for x in words)
    is_one = len(found) == 1 and bool(words[0].strip()) and bool(_DENOTES.fullmatch(words[-1]))
    if not (len(found) > 1 or is_one) or not is_plain or not all(_EQUATION.match(x[1]) for x in found):
        return text
    made = [" "] * len(text)
    for one in found:
        made[one.start(1) : one.end(1)] = one[1]
        made[one.end(1)] = "," if one is not found[-1] else " "
    return "".join(made)


def with_where_for_starts(text: str) -> str:
    """Return a passage with `where` for other words in front of definitions; positions remain."""
    return _STARTS.sub(lambda found: "where" + " " * (len(found[0]) - 5), text)


def without_words_between(text: str) -> str:
    """Return a passage with `where` for the words between two displays; positions remain."""
    for one, other in pairwise(_DISPLAY.finditer(text)):
        begin, end = one.end(), other.start()
        gap = text[begin:end]
        if len(gap) < 7 or not _PLAIN.fullmatch(gap) or _ALONE.fullmatch(gap) or _OTHER.search(gap):
            continue
        text = text[:begin] + " where" + " " * (len(gap) - 6) + text[end:]
    return text
