r"""Divides a line with two signs, d_{1,2} = a \pm b, into d_1 = a + b and d_2 = a - b.

Those of \lambda_\pm have the subscripts + and -.
"""

from __future__ import annotations

import re

from matcalc.language.latex.signs.indicators import Text

_LINE = re.compile(
    r"(?P<name>\\?[A-Za-z]+)\s*_\s*(?:\{\s*(?P<first>\w+)\s*,\s*(?P<second>\w+)\s*\}|\{\s*\\pm\s*\}|\\pm(?![A-Za-z]))"
    r"\s*&?\s*(?P<equals>:?=)"
)
_END = re.compile(r"[,;$]|\\\\|\\q?quad(?![A-Za-z])|\\\]|\\end\s*\{|\\(?:text|mbox)\s*\{|[\s.]*\Z")
_SIGN = re.compile(r"\\(pm|mp)(?![A-Za-z])")


def with_both_signs(text: Text) -> Text:
    """Return a text in which each line with two signs is two lines; each character keeps its position."""
    plain = "".join(c for c, _ in text)
    for found in reversed(list(_LINE.finditer(plain))):
        end = _end(plain, found.end())
        if not _SIGN.search(plain, found.end(), end):
            continue
        origin = text[found.start()][1]
        made: Text = []
        for k, below in enumerate((found["first"] or "+", found["second"] or "-")):
            head = f"{', ' if k else ''}{found['name']}_{{{below}}} {found['equals']}"
            made += [(c, origin) for c in head] + _with_sign(text[found.end() : end], k)
        text = [*text[: found.start()], *made, *text[end:]]
        plain = "".join(c for c, _ in text)
    return text


def _with_sign(text: Text, k: int) -> Text:
    """Return a formula with the upper signs, or with the lower ones for k = 1."""
    plain = "".join(c for c, _ in text)
    for found in reversed(list(_SIGN.finditer(plain))):
        sign = "+-"[k] if found[1] == "pm" else "-+"[k]
        text = [
            *text[: found.start()],
            (sign, text[found.start()][1]),
            (" ", text[found.start()][1]),
            *text[found.end() :],
        ]
    return text


def _end(plain: str, begin: int) -> int:
    """Return the position behind a formula."""
    depth, at = 0, begin
    while at < len(plain):
        if not depth and _END.match(plain, at):
            return at
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(plain[at], 0) if plain[at - 1] != "\\" else 0
        at += 2 if plain.startswith("\\\\", at) else 1
    return at
