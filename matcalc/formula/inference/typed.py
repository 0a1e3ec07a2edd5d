"""Defines typed trees: formulas in which every value has a rank and every axis a length, perhaps still unknown.

The forms are few. Products, transposes, traces, parts, index forms and broadcasts are all one form, the `einsum`:
operands with labels on their axes. A value has named axes in front and a core shape behind. The named axes (`axes`) are
labels of those indices of an enclosing index form that it depends on, so batches need no form of their own. A flag, not
the shape, distinguishes rows from columns. Nothing here depends on nodes or an operation's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from matcalc.language.syntax import Ast
from matcalc.tensor.sizes.size import Size

Labels = tuple[int, ...]


@dataclass(slots=True, eq=False)
class Typed:
    """A value: its form, operands and payload `data`, and its shape as far as it is known.

    number, size: Size; symbol: the name; given: the node; einsum: Einsum; sum: coefficients; power: the exponent; call:
    Call; selector: Selector with open sizes; condition: relation and difference; constant: rows of numbers; function:
    None (args: the body); unknown: an Unknown; solution: a Solving (args: start, equation). `exact` is the value of an
    expression of numbers and sizes alone.
    """

    form: str
    ast: Ast
    shape: tuple[Size, ...] = ()
    args: tuple[Typed, ...] = ()
    data: Any = None
    axes: Labels = ()
    row: bool = False
    exact: Size | None = None

    @property
    def rank(self) -> int:
        return len(self.shape)


@dataclass(slots=True)
class Einsum:
    """Labels of each operand's axes and of the result's (named, then core), the others summed; times coef."""

    coef: Fraction
    operands: tuple[Labels, ...]
    out: Labels


ZERO, ONE = Size.of(0), Size.of(1)


def kind(value: Typed) -> str:
    """Return "scalar", "column", "row", "matrix" or "tensor"."""
    return kind_of(len(value.shape), value.row)


def kind_of(rank: int, row: bool) -> str:
    """Return the kind of a value of this rank and flag."""
    if rank == 1:
        return "row" if row else "column"
    return ("scalar", "", "matrix")[rank] if rank < 3 else "tensor"


def typed_exact(value: Size, ast: Ast) -> Typed:
    """Return a number or an expression of sizes as a value."""
    return Typed("number" if value.is_integer else "size", ast, data=value, exact=value)
