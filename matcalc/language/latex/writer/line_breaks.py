r"""Allows long formulas in LaTeX to be broken into lines.

TeX and KaTeX break an inline formula after relations and signs at its outermost level only: never between the factors
of a product, never between `\left` and `\right`. A long formula therefore gets `\allowbreak` between factors and after
commas, and its outermost long parentheses become `\bigl( ... \bigr)`, inside which lines break too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from matcalc.language.latex.layout.latex_names import LETTERS

LONG = 70
"""Characters of LaTeX from which a formula, or the inside of parentheses, may be broken."""

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)
_NESTING = {"{": 1, r"\left": 1, r"\begin": 1, "}": -1, r"\right": -1, r"\end": -1}
_ENDS_ATOM = re.compile(r"([}\])\w',]|\\right.|\\\|)\Z")
_ENDS_COMMAND = re.compile(r"\\[A-Za-z]+\Z")
_LETTER = re.compile(rf"\\(top|dagger|infty|{'|'.join(sorted(set(LETTERS.values())))})\Z")
_BARE = re.compile(r"\\(sum|prod|max|min|log|ln|exp|sin|cos|tan|sinh|cosh|tanh|det|operatorname)(?![A-Za-z])")
_GROUP = re.compile(r"\{[^{}]*\}")
_SIGN = re.compile(r"[-+=<>,:;)\]&^_]|\\(odot|oslash|otimes|circ|cdot|times|mapsto|ne|le|ge|bmod|quad|\\|,)")


WIDE = 100
"""Characters of LaTeX from which a part without a place for a break may be wider than a page."""


def breakable(latex: str, wide: str = "") -> str:
    r"""Return a formula that TeX and KaTeX can break into lines; a short one is unchanged.

    `wide` is a command for long parts that cannot be broken, such as a fraction: `\fit` for `\fit{\frac{...}{...}}`.
    """
    return _broken(latex, wide) if len(latex) > LONG else latex


def _broken(latex: str, wide: str) -> str:
    chunks = _chunks(latex)
    text = ""
    for number, chunk in enumerate(chunks):
        if number:
            text += r" \allowbreak " if _may_break(chunks[number - 1], chunk) else " "
        pieces = list(_opened(chunk, wide))
        is_whole = "".join(pieces) == chunk
        text += f"{wide}{{{chunk}}}" if wide and is_whole and len(chunk) > WIDE else "".join(pieces)
    return text


def _chunks(latex: str) -> list[str]:
    """Return the parts of a formula between the spaces at its outermost level."""
    chunks, depth = [""], 0
    for token in _TOKEN.findall(latex):
        depth += _NESTING.get(token, 0)
        if token == " " and not depth:
            chunks.append("")
        else:
            chunks[-1] += token
    return [chunk for chunk in chunks if chunk]


def _may_break(before: str, after: str) -> bool:
    """Whether a line may end between two parts: behind a whole factor, and before another."""
    if _SIGN.match(after) or (_BARE.match(before) and not _has_argument(before)):
        return False
    if _ENDS_COMMAND.search(before):
        return _LETTER.search(before) is not None
    return _ENDS_ATOM.search(before) is not None


def _has_argument(call: str) -> bool:
    """Whether a function's name is followed by its argument; bounds and other scripts in braces are none."""
    while (shorter := _GROUP.sub("", call)) != call:
        call = shorter
    return any(opening in call for opening in ("(", r"\left", "|"))


def _opened(chunk: str, wide: str) -> Iterator[str]:
    r"""Yield the pieces of a part, in which a long `\left( ... \right)` is `\bigl( ... \bigr)`."""
    tokens = _TOKEN.findall(chunk)
    depth, k = 0, 0
    while k < len(tokens):
        if tokens[k] == r"\left" and not depth:
            stop = _closing(tokens, k)
            inner = "".join(tokens[k + 2 : stop])
            if len(inner) > LONG:
                yield rf"\bigl{_apart(tokens[k + 1])}{_broken(inner.strip(), wide)} \bigr{tokens[stop + 1]}"
            else:
                yield "".join(tokens[k : stop + 2])
            k = stop + 2
            continue
        depth += _NESTING.get(tokens[k], 0)
        yield tokens[k]
        k += 1


def _apart(delimiter: str) -> str:
    """Return a delimiter that a letter may follow."""
    return f"{delimiter} " if delimiter[-1].isalpha() else delimiter


def _closing(tokens: list[str], start: int) -> int:
    r"""Return the position of the `\right` that belongs to the `\left` at `start`."""
    depth = 0
    for k in range(start, len(tokens)):
        depth += (tokens[k] == r"\left") - (tokens[k] == r"\right")
        if not depth:
            return k
    raise ValueError("unbalanced delimiters")
