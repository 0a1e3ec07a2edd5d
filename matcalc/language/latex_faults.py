"""What is wrong with LaTeX that the grammar does not read, in words, with the place."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from matcalc.errors import ParseError
from matcalc.language.faults import show
from matcalc.language.latex_tokens import CLOSES, CLOSING

if TYPE_CHECKING:
    from lark import Lark
    from lark.lexer import Token

_OPEN_SIGNS = ("SIGN", "OPERATOR", "INFIX", "RELATION", "HAT", "UNDER")


def explained(parser: Lark, fault: Any, text: str, begin: int, end: int) -> ParseError:
    """Return the error of what is no LaTeX formula, in words."""
    from lark.exceptions import UnexpectedToken

    at = fault.pos_in_stream if fault.pos_in_stream is not None and fault.pos_in_stream >= 0 else end
    if not isinstance(fault, UnexpectedToken):
        hint = r"a name is \begin{...}, \frac, a letter" if text[at] == "\\" else ""
        return ParseError(f"unexpected {show(text[at])}", text=text, at=at, hint=hint and _unknown(text, at))
    token = fault.token
    if token.type == "$END":
        at = end
    before = _tokens(parser, text, begin, at)
    opening = _left_open(before)
    if token.type == "$END" and opening is not None:
        return ParseError(f"'{opening}' is never closed", text=text, at=cast(int, opening.start_pos))
    shown = "the end" if token.type == "$END" else f"'{token}'"
    if token.type in CLOSES and opening is None:
        return ParseError(f"'{token}' closes nothing", text=text, at=at)
    if token.type in ("AMP", "NEWLINE") and (not before or before[-1].type not in _OPEN_SIGNS):
        return ParseError(f"{shown} stands only in matrices and displays", text=text, at=at)
    after = f" after '{before[-1]}'" if before else ""
    return ParseError(f"expected an operand{after}, found {shown}", text=text, at=at)


def _unknown(text: str, at: int) -> str:
    found = re.compile(r"\\[a-z]*").match(text, at)
    return f"{found[0]} is not read here" if found else ""


def _tokens(parser: Lark, text: str, begin: int, end: int) -> list[Token]:
    from lark import TextSlice
    from lark.exceptions import UnexpectedInput

    found: list[Token] = []
    with suppress(UnexpectedInput, ParseError):
        found.extend(parser.lex(TextSlice(text, begin, end), dont_ignore=False))
    return found


def _left_open(tokens: list[Token]) -> Token | None:
    """Return the innermost fence that is open at the end."""
    stack: list[Token] = []
    for token in tokens:
        if token.type in CLOSING:
            stack.append(token)
        elif token.type in CLOSES and stack:
            stack.pop()
    return stack[-1] if stack else None
