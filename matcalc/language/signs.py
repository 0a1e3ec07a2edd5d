"""Reads signs of papers as calls and numbers: norms in bars, ½, √, ∑, ∏. The rulebook names the operations."""

from __future__ import annotations

from fractions import Fraction
from typing import Any
from unicodedata import numeric

from matcalc.errors import ParseError
from matcalc.language.identifiers import normalised
from matcalc.language.syntax import Ast

BARS, ROOT, PRODUCT = "‖", "√", "∏"
NORM = "norm"
"""The function of a norm with its order, which entries of the rulebook list among their calls."""
TOTAL = "sum"
"""The word of a sum over indices."""


def called(token: str) -> str:
    """Return the name of the function that a sign calls; "" for any other text."""
    return {"∑": TOTAL, ROOT: ROOT, PRODUCT: PRODUCT}.get(token, "")


def length(children: list[Any]) -> Ast:
    """Return a norm in bars, ‖x‖ or ‖x‖_1, as a call."""
    opening, x, closing, *kind = children
    if not kind:
        return Ast("call", (x,), (BARS, ()), (opening.start_pos, closing.end_pos))
    (token,) = kind
    word, span = normalised(str(token)).lstrip("_"), (token.start_pos, token.end_pos)
    if not word.isdecimal() and word not in ("F", "fro"):
        hint = f"write ‖x‖_2*{token} for a product; norms are ‖x‖_1, ‖x‖_2 and ‖A‖_F"
        raise ParseError(f"'{token}' after a norm names no norm", at=token.start_pos, hint=hint)
    which = Ast("number", (), Fraction(word), span) if word.isdecimal() else Ast("word", (), "fro", span)
    return Ast("call", (x, which), (NORM, ()), (opening.start_pos, token.end_pos))


def fraction(children: list[Any]) -> Ast:
    """Return a fraction of one character, ½."""
    token = children[0]
    return Ast("number", (), Fraction(numeric(token)).limit_denominator(10), (token.start_pos, token.end_pos))
