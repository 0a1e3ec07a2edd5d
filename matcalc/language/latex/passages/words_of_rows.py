r"""Finds the matrices whose rows or columns words name: "$x_i$ is the $i$-th row of $X$", "the columns of $X^\top$"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from matcalc.errors import ParseError


class Piece(NamedTuple):
    """A formula or a text: its range, the range of what it contains, and which of the two it is."""

    begin: int
    end: int
    first: int
    last: int
    is_math: bool


OWN = ""
"""In place of a letter: the matrix of the symbol that the words describe, "the $i$-th row of the data matrix"."""
_AXIS = re.compile(r"\b(row|column)s?(?:[\s-]+vectors?)?\s+(?:of|in)\b")
_PARTED = re.compile(r"\b(row|column)s?\s*\Z")
"""The end of a text before the number of a row, "row $i$ of"."""
_REST = re.compile(r"\s*(?:of|in)\b")
_COUNT = re.compile(r"\bnumbers?\s+of\s+(?:the\s+)?\Z")
_SUBJECT = re.compile(r"(?:\A|[,;.]|\b(?:and|while|where|whose))\s*(?:the\s+|all\s+|both\s+)?\Z", re.I)
_PREDICATE = re.compile(r"\s*(?:are|is|have|has|had|were|was|sum|must|being|span|form)\b")
"""Words around rows that are the subject of another sentence, "the columns of $X$ are centred"."""
_PHRASE = re.compile(r"[\w\s'-]*\Z")
_LINK = re.compile(r"\s*(?:,|and|,\s*and|or|and\s+(?:of|in))?(?:\s+the)?(?:\s+matri(?:x|ces))?\s*\Z")
_LETTER = re.compile(
    r"\s*(?:\\(?:mathbf|boldsymbol|bm|mathcal|mathsf|mathrm)\s*\{?\s*)?(?:\\(?P<word>[A-Za-z]+)|(?P<letter>[A-Za-z]))"
    r"(?![A-Za-z])\s*\}?(?P<rest>.*)",
    re.S,
)
_TRANSPOSED = re.compile(r"\s*(?:\^\s*\{?\s*(?:\\top|\\intercal|T|\\(?:mathsf|mathrm|text)\s*\{\s*T\s*\})|')")


def letters_of(shown: str) -> set[str]:
    """Return the letters and commands of a formula, Theta for \\Theta."""
    return set(re.findall(r"(?<![A-Za-z])[A-Za-z]+", shown))


def rows_in(text: str, pieces: Sequence[Piece]) -> dict[str, int]:
    """Return the axes that words name, by the letter of the matrix: 0 for rows, 1 for columns.

    Raises: ParseError for both rows and columns of one matrix.
    """
    found: dict[str, int] = {}
    axis: int | None = None
    is_named = True

    def enter(letter: str, own: int, at: int) -> None:
        if found.setdefault(letter, own) != own:
            shown = letter or "a matrix"
            hint = "write X_{i,:} for a row and X_{:,j} for a column"
            raise ParseError(f"these words name both rows and columns of {shown}", text=text, at=at, hint=hint)

    for k, one in enumerate(pieces):
        shown = text[one.first : one.last]
        if one.is_math:
            matrix = _LETTER.match(shown) if axis is not None else None
            if matrix is not None and axis is not None:
                is_turned = bool(_TRANSPOSED.match(matrix["rest"]))
                enter(matrix["word"] or matrix["letter"], 1 - axis if is_turned else axis, one.first)
                is_named = True
            continue
        if axis is not None and is_named and not _LINK.fullmatch(shown):
            axis = None
        after = text[pieces[k + 2].first : pieces[k + 2].last] if k + 2 < len(pieces) else ""
        named = [
            (x.end(), x[1])
            for x in _AXIS.finditer(shown)
            if not _COUNT.search(shown, 0, x.start())
            and not (_SUBJECT.search(shown, 0, x.start()) and _PREDICATE.match(after))
        ]
        parted = _PARTED.search(text, pieces[k - 2].first, pieces[k - 2].last) if k > 1 else None
        rest = _REST.match(shown) if parted and pieces[k - 1].is_math else None
        if parted and rest:
            named.insert(0, (rest.end(), parted[1]))
        for number, (end, word) in enumerate(named):
            own = 0 if word == "row" else 1
            is_last = number == len(named) - 1
            if is_last and k + 1 < len(pieces) and _PHRASE.match(shown, end):
                axis, is_named = own, False
            else:
                enter(OWN, own, one.first)
                axis = None
    return found
