"""Writes literal arrays as text: `[1; 2]`, `[1, 2; 3, 4]`."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite, isinf, pi
from typing import TYPE_CHECKING

from matcalc.errors import NotSupported
from matcalc.formula.forms.form import ATOM, SIGN, Form
from matcalc.language import syntax
from matcalc.language.syntax import Ast

if TYPE_CHECKING:
    import numpy as np


def literal(array: np.ndarray) -> Form:
    """Return a constant number, vector or matrix."""
    if not array.shape:
        return _scalar(float(array))
    rows = array.reshape(len(array), -1).tolist()
    entries = [[_number(value) for value in row] for row in rows]
    signs = sum(entry.head == "negative" for row in entries for entry in row)
    return Form(syntax.block(entries), ATOM, 2 * array.size + 1 + signs, 0, (), 0)


def _scalar(value: float) -> Form:
    if value == pi:
        return Form(syntax.name("pi"), ATOM, 1, 0, (), 0)
    if isinf(value):
        name = syntax.name("inf")
        return Form(name, ATOM, 1, 0, (), 0) if value > 0 else Form(syntax.negative(name), SIGN, 2, 0, (), 0)
    ast = _number(value)
    return Form(ast, SIGN if ast.head == "negative" else ATOM, 1, 0, (), 0)


def _number(value: float) -> Ast:
    if not isfinite(value):
        raise NotSupported(f"{value} in a literal array has no text")
    exact = Fraction(repr(value))
    return syntax.negative(syntax.number(-exact)) if exact < 0 else syntax.number(exact)
