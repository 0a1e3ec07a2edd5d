"""Evaluates SymPy objects at numbers by SymPy itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from sympy import Basic

MOST_OPERATIONS = 200
"""Most operations of a formula, since SymPy is slow."""


def numbers_of(formula: Basic, data: Mapping[str, Any], sizes: Mapping[str, int]) -> np.ndarray[Any, Any] | None:
    """Return the value of a SymPy object at data by name; None if SymPy returns no numbers for it."""
    import numpy as np
    import sympy

    try:
        if formula.count_ops() > MOST_OPERATIONS:
            return None
        lengths = {s: sympy.Integer(sizes[s.name]) for s in formula.free_symbols if s.name in sizes}
        resized = formula.subs(lengths)
        found = resized.subs({s: _as_sympy(s, data[s.name]) for s in resized.free_symbols})
        found = found.doit()
        if isinstance(found, sympy.MatrixExpr):
            found = found.as_explicit()
        return np.asarray(sympy.flatten(found) if hasattr(found, "shape") else [found], dtype=complex)
    except Exception:  # noqa: BLE001 - after any error SymPy has no numbers
        return None


def _as_sympy(symbol: Any, value: Any) -> Any:
    """Return data in SymPy's form: a vector as a column."""
    import numpy as np
    import sympy

    if not hasattr(symbol, "shape"):
        return sympy.Float(float(value))
    rows, columns = (int(length) for length in symbol.shape)
    return sympy.ImmutableDenseMatrix(rows, columns, [float(entry) for entry in np.ravel(value)])
