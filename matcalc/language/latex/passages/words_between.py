r"""Removes the words between two displays, `with the Kalman filter`, of which the second one defines parts.

Words that make the second display another form of the first one, `or equivalently`, remain, and are refused.
"""

from __future__ import annotations

import re
from itertools import pairwise

_DISPLAY = re.compile(
    r"\\begin\s*\{\s*(?P<name>(?:equation|displaymath|align|alignat|gather|multline|eqnarray)\*?)\s*\}.*?"
    r"\\end\s*\{\s*(?P=name)\s*\}|(?<!\\)\\\[.*?(?<!\\)\\\]|\$\$.*?\$\$",
    re.S,
)
_PLAIN = re.compile(r"[\s,.;:]*(?:[A-Za-z][\w'-]*[\s,.;:()]*)+")
_ALONE = re.compile(r"[\s,.;:]*(?:where|with|here|in which|and|subject to|such that|s\.?t\.?)?[\s,.;:]*", re.I)
"""Words that `passage` reads."""
_OTHER = re.compile(
    r"\b(?:equiva|that is|i\.?e\b|so that|becom|simplif|or\b|then|hence|therefore|thus|instead|giv|yield|equal|rewrit"
    r"|written|reduc|dual|bound|approx|gradient|deriv|minimi|maximi|subject|such that|not\b|except|without|inver|logar"
    r"|expect|averag|transpos|squar|respectively|solv|satisf)",
    re.I,
)
"""Words after which a display is no definition, or another one."""


def without_words_between(text: str) -> str:
    """Return a passage with `where` for the words between two displays; positions remain."""
    for one, other in pairwise(_DISPLAY.finditer(text)):
        begin, end = one.end(), other.start()
        gap = text[begin:end]
        if len(gap) < 7 or not _PLAIN.fullmatch(gap) or _ALONE.fullmatch(gap) or _OTHER.search(gap):
            continue
        text = text[:begin] + " where" + " " * (len(gap) - 6) + text[end:]
    return text
