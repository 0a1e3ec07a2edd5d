r"""Tokens of LaTeX that look alike, told apart before the grammar sees them.

The two ends of |x|; \max_i, which takes the rest of the term, and \max(a, b); lines of a display that go on; and what
TeX sets otherwise than it looks: `\frac12` is a half, `x^10` a 1 raised and a 0 beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from matcalc.errors import ParseError
from matcalc.language.latex_names import BIG, OVER

if TYPE_CHECKING:
    from lark import Token

CLOSING = {
    "OPEN": ("CLOSE", ")"), "OPEN_BRACKET": ("CLOSE_BRACKET", "]"), "OPEN_SET": ("CLOSE_SET", r"\}"),
    "OPEN_BRACE": ("CLOSE_BRACE", "}"), "BAR_OPEN": ("BAR_CLOSE", "|"), "DOUBLE_BAR_OPEN": ("DOUBLE_BAR_CLOSE", r"\|"),
    "ANGLE_OPEN": ("ANGLE_CLOSE", r"\rangle"), "FLOOR_OPEN": ("FLOOR_CLOSE", r"\rfloor"),
    "MATRIX_OPEN": ("MATRIX_CLOSE", r"\end{...}"),
}  # fmt: skip
CLOSES = {close: opening for opening, (close, _) in CLOSING.items()}
_ENDS = {"NUMBER", "LETTER", "COMMAND", "WORD", "PRIME", "HOLE", *CLOSES}
_GOES_ON = {"SIGN", "OPERATOR", "INFIX", "RELATION"}


def told_apart(tokens: Iterator[Token], has_lines: bool) -> Iterator[Token]:
    r"""Yield the tokens with the two ends of bars told apart, digits after \frac apart, lines that go on joined."""
    stack: list[str] = []
    last = ""
    lines: list[Token] = []
    for token in _apart(_before(tokens), stack):
        kind = token.type
        if kind in ("BAR", "DOUBLE_BAR"):
            kind = f"{kind}_CLOSE" if _is_end(token, kind, stack, last) else f"{kind}_OPEN"
            token = token.update(type=kind)
        inside = "MATRIX_OPEN" in stack
        if kind in CLOSING:
            stack.append(kind)
        elif kind in CLOSES and stack:
            stack.pop()
        if kind == "AMP" and has_lines and not inside:
            continue
        if kind == "NEWLINE" and has_lines and not inside:
            lines = lines or [token]
            continue
        if lines and kind not in _GOES_ON and last not in (*_GOES_ON, ""):
            yield lines[0]
        lines = []
        last = kind
        yield token


def _apart(tokens: Iterator[Token], stack: list[str]) -> Iterator[Token]:
    """Yield the tokens with `||` as two bars where one is open: |a||b| is no norm."""
    for token in tokens:
        if token == "||" and stack and stack[-1] == "BAR_OPEN":
            yield token.update(type="BAR", value="|")
            token = token.update(type="BAR", value="|")
        yield token


def _is_end(token: Token, kind: str, stack: list[str], last: str) -> bool:
    """Whether a bar closes: what LaTeX says, else a bar that is open and an operand before it."""
    said = re.match(r"\\(?:[bB]igg?)?(left|right|l|r|middle)", token)
    word = said[1] if said else ""
    if word == "middle":
        raise ParseError(
            "a bar in the middle", at=cast(int, token.start_pos), hint="conditions such as p(x | y) are not read"
        )
    if word in ("left", "l") or "lvert" in token.lower():
        return False
    if word in ("right", "r") or "rvert" in token.lower():
        return True
    return bool(stack) and stack[-1] == f"{kind}_OPEN" and last in _ENDS


def _before(tokens: Iterator[Token]) -> Iterator[Token]:
    r"""Yield the tokens with \max_i and \sum told from functions, and `\frac12` and `x^10` as TeX sets them."""
    held: Token | None = None
    digits = 0
    for token in tokens:
        if held is not None:
            yield held.update(type="BIG") if token.type == "UNDER" or held[1:] in BIG else held
            held = None
        if token.type == "COMMAND" and token[1:] in (*BIG, *OVER):
            held = token
            continue
        if token.type == "NUMBER" and digits and len(token) > 1:
            if digits < 0:
                sign = "^" if digits == -1 else "_"
                hint = f"write {sign}{{{token}}}, or put the {token[1:]} apart"
                message = f"'{sign}{token}' sets only the {token[0]} there"
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
    if held is not None:
        yield held
