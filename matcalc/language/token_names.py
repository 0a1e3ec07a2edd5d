"""Returns the names that tokens of a text spell."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from matcalc.errors import ParseError
from matcalc.language import faults
from matcalc.language.identifiers import bounded, normalised

if TYPE_CHECKING:
    from lark import Token


def identifier(token: Token) -> str:
    """Return a name in the form that Python compares (NFKC).

    Raises: ParseError if it is too long, or not an identifier in Unicode.
    """
    name = normalised(str(token))
    if token.isascii() or token.isidentifier() and name.isidentifier():
        try:
            return bounded(name)
        except ParseError as fault:
            fault.at = cast(int, token.start_pos)
            raise
    wrong = next(k for k in range(1, len(token) + 1) if not token[:k].isidentifier()) - 1
    at = cast(int, token.start_pos) + wrong
    message = f"unexpected character {faults.show(token[wrong])}"
    raise ParseError(message, at=at, hint=faults.advice(token[wrong:]))
