"""The bridge to SymPy: its scalars and matrix expressions as formulas of the matrix language, and back.

Both directions go through the syntax tree, so that SymPy's objects are read by the same elaboration as text
and written from the same notation. A column is a vector, a row its transpose and a 1 x 1 expression a scalar,
on both sides. SymPy's own matrix derivatives are never used. SymPy, and what knows its objects, is imported only when
one comes: these are the doors, and behind them, but for `given_objects`, it is imported at the top.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from matcalc.language.syntax import Ast
from matcalc.tensor.node import Node

if TYPE_CHECKING:
    from sympy import Basic


def from_sympy(expr: Basic, sizes: Iterable[str] = ()) -> tuple[Ast, dict[str, Node]]:
    """Return the formula of a SymPy scalar, matrix or array, and its symbols; `sizes` are names known as sizes."""
    from matcalc.expressions.sympy_bridge.read import from_sympy

    return from_sympy(expr, sizes)


def sizes_in(expr: Basic) -> frozenset[str]:
    """Return the names that are sizes in a SymPy expression."""
    from matcalc.expressions.sympy_bridge.read import sizes_in

    return sizes_in(expr)


def symbols_in(expr: Basic) -> dict[str, Basic]:
    """Return the SymPy symbols of an expression by name, those of sizes included, without bound ones."""
    from matcalc.expressions.sympy_bridge.read import symbols_in

    return symbols_in(expr)
