r"""Distinguishes LaTeX tokens that look alike before the grammar reads them, and explains unreadable text.

Such tokens are the two ends of |x|; \max_i, which takes the rest of the term, and \max(a, b); ends of lines that
continue; and digits that TeX separates: `\frac12` is a half, `x^10` raises only the 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from matcalc.errors import ParseError
from matcalc.language.faults import show
from matcalc.language.latex.layout.latex_names import BIG, OVER

if TYPE_CHECKING:
    from lark import Lark, Token


CLOSING = {
    "OPEN": ("CLOSE", ")"), "OPEN_BRACKET": ("CLOSE_BRACKET", "]"), "OPEN_SET": ("CLOSE_SET", r"\}"),
    "OPEN_BRACE": ("CLOSE_BRACE", "}"), "BAR_OPEN": ("BAR_CLOSE", "|"), "DOUBLE_BAR_OPEN": ("DOUBLE_BAR_CLOSE", r"\|"),
    "ANGLE_OPEN": ("ANGLE_CLOSE", r"\rangle"), "FLOOR_OPEN": ("FLOOR_CLOSE", r"\rfloor"),
    "CEIL_OPEN": ("CEIL_CLOSE", r"\rceil"),
    "MATRIX_OPEN": ("MATRIX_CLOSE", r"\end{...}"),
}  # fmt: skip
CLOSES = {close: opening for opening, (close, _) in CLOSING.items()}
_ENDS = {"NUMBER", "LETTER", "COMMAND", "WORD", "PRIME", "HOLE", *CLOSES}
_GOES_ON = {"SIGN", "OPERATOR", "INFIX", "RELATION"}


def distinguished_tokens(tokens: Iterator[Token], has_lines: bool) -> Iterator[Token]:
    r"""Yield the tokens with the ends of bars distinguished, digits after \frac separated, and lines joined."""
    stack: list[str] = []
    last = ""
    lines: list[Token] = []
    begun = False
    apart = _apart(_before(tokens), stack)
    for token, begins in _with_equations(_without_commas(apart)) if has_lines else ((x, False) for x in apart):
        kind = token.type
        if kind in ("BAR", "DOUBLE_BAR"):
            kind = f"{kind}_CLOSE" if _is_end(token, kind, stack, last) else f"{kind}_OPEN"
            token = token.update(type=kind)
            if token == "|" and kind == "BAR_OPEN" and last in _ENDS and stack and stack[-1] == "SUBSCRIPT":
                kind = "RELATION"
                token = token.update(type=kind, value=r"\mid")
        inside = "MATRIX_OPEN" in stack
        if kind in CLOSING:
            stack.append("SUBSCRIPT" if kind == "OPEN_BRACE" and last == "UNDER" else kind)
        elif kind in CLOSES and stack:
            stack.pop()
        if kind == "AMP" and has_lines and not inside:
            continue
        if kind == "NEWLINE" and has_lines and not inside:
            lines = lines or [token]
            begun = begins
            continue
        if lines and (begun or kind not in _GOES_ON) and last not in (*_GOES_ON, ""):
            yield lines[0]
        lines = []
        last = "LETTER" if last in ("UNDER", "HAT") and kind in _GOES_ON else kind
        yield token


def _with_equations(tokens: Iterator[Token]) -> Iterator[tuple[Token, bool]]:
    r"""Yield the tokens, and for each end of a line whether the next one begins with a sign, `-\log p &= f`.

    Such a line is an equation of its own, and does not continue the one before.
    """
    every = list(tokens)
    for k, token in enumerate(every):
        begins = False
        if token.type == "NEWLINE" and k + 1 < len(every) and every[k + 1].type == "SIGN":
            rest = [x.type for x in every[k + 1 :]]
            rest = rest[: rest.index("NEWLINE")] if "NEWLINE" in rest else rest
            begins = ("AMP", "RELATION") in zip(rest, rest[1:], strict=False)
        yield token, begins


def _without_commas(tokens: Iterator[Token]) -> Iterator[Token]:
    """Yield the tokens without the punctuation at the ends of lines."""
    comma: Token | None = None
    for token in tokens:
        if comma is not None and token.type != "NEWLINE":
            yield comma
        comma = token if token.type == "COMMA" else None
        if comma is None:
            yield token
    if comma is not None:
        yield comma


def _apart(tokens: Iterator[Token], stack: list[str]) -> Iterator[Token]:
    """Yield the tokens with `||` as two bars if one is open: |a||b| is not a norm."""
    for token in tokens:
        if token == "||" and stack and stack[-1] == "BAR_OPEN":
            yield token.update(type="BAR", value="|")
            token = token.update(type="BAR", value="|")
        yield token


def _is_end(token: Token, kind: str, stack: list[str], last: str) -> bool:
    """Return whether a bar closes: by its LaTeX command, else if a bar is open and an operand precedes."""
    command = re.match(r"\\(?:[bB]igg?)?(left|right|l|r|middle)", token)
    word = command[1] if command else ""
    if word == "middle":
        raise ParseError(
            "a bar in the middle", at=cast(int, token.start_pos), hint="conditions such as p(x | y) are not supported"
        )
    if word in ("left", "l") or "lvert" in token.lower():
        return False
    if word in ("right", "r") or "rvert" in token.lower():
        return True
    return bool(stack) and stack[-1] == f"{kind}_OPEN" and last in _ENDS


def _before(tokens: Iterator[Token]) -> Iterator[Token]:
    r"""Yield the tokens with \max_i and \sum distinguished from functions, `\frac12` and `x^10` as TeX sets them."""
    pending: Token | None = None
    digits = 0
    for token in tokens:
        if pending is not None:
            yield pending.update(type="BIG") if token.type == "UNDER" or pending[1:] in BIG else pending
            pending = None
        if token.type == "COMMAND" and token[1:] in (*BIG, *OVER):
            pending = token
            continue
        if token.type == "NUMBER" and digits and len(token) > 1:
            if digits < 0:
                sign = "^" if digits == -1 else "_"
                hint = f"write {sign}{{{token}}}, or a space before the {token[1:]}"
                message = f"'{sign}{token}' applies only to the {token[0]}"
                raise ParseError(message, at=cast(int, token.start_pos), hint=hint)
            for k in range(len(token)):
                yield token.update(value=token[k])
            digits = 0
            continue
        if token.type == "FRAC":
            digits = 2
        elif token.type in ("HAT", "UNDER"):
            digits = -1 if token.type == "HAT" else -2
        elif token.type != "NUMBER" or digits < 2:
            digits = 0
        yield token
    if pending is not None:
        yield pending


_OPEN_SIGNS = ("SIGN", "OPERATOR", "INFIX", "RELATION", "HAT", "UNDER")


def explained(parser: Lark, fault: Any, text: str, begin: int, end: int) -> ParseError:
    """Return the error for text that is not a LaTeX formula, in words."""
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
        return ParseError(f"{shown} is only allowed in matrices and displays", text=text, at=at)
    after = f" after '{before[-1]}'" if before else ""
    return ParseError(f"expected an operand{after}, found {shown}", text=text, at=at)


def _unknown(text: str, at: int) -> str:
    found = re.compile(r"\\[a-z]*").match(text, at)
    return f"{found[0]} is not supported here" if found else ""


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
