"""Connects matcalc and SymPy: reads its scalars and matrix expressions as formulas, and writes formulas as them.

Both directions use the syntax tree, so that SymPy's objects are elaborated like text and written from the same
notation. On both sides a column is a vector, a row its transpose and a 1 x 1 expression a scalar. SymPy's own matrix
derivatives are never used. SymPy, and the modules that need it, are imported when the first SymPy object arrives: the
functions here import them. All modules behind them, except `sympy_objects`, import SymPy at the top.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from matcalc.language.syntax import Ast
from matcalc.tensor.nodes.node import Node

if TYPE_CHECKING:
    from sympy import Basic


def from_sympy(expr: Basic, sizes: Iterable[str] = (), scalars: Collection[str] = ()) -> tuple[Ast, dict[str, Node]]:
    """Return the formula of a SymPy scalar, matrix or array, and its symbols.

    `sizes` are names known as sizes, `scalars` names that are none, also as exponents of matrices.
    """
    from matcalc.expressions.sympy_bridge.read import from_sympy

    return from_sympy(expr, sizes, scalars)


def sizes_in(expr: Basic, scalars: Collection[str] = ()) -> frozenset[str]:
    """Return the names that are sizes in a SymPy expression; `scalars` are names that are none."""
    from matcalc.expressions.sympy_bridge.read import sizes_in

    return sizes_in(expr, scalars)


def symbols_in(expr: Basic) -> dict[str, Basic]:
    """Return the SymPy symbols of an expression by name, those of sizes included, without bound ones."""
    from matcalc.expressions.sympy_bridge.read import symbols_in

    return symbols_in(expr)
