"""The value of a SymPy object at numbers, as SymPy itself computes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from sympy import Basic

MOST_OPERATIONS = 200
"""Operations beyond which SymPy takes too long."""


def numbers_of(formula: Basic, data: Mapping[str, Any], sizes: Mapping[str, int]) -> np.ndarray[Any, Any] | None:
    """Return the value of a SymPy object at data by name; None where SymPy gives no numbers for it."""
    import numpy as np
    import sympy

    try:
        if formula.count_ops() > MOST_OPERATIONS:
            return None
        lengths = {s: sympy.Integer(sizes[s.name]) for s in formula.free_symbols if s.name in sizes}
        resized = formula.subs(lengths)
        found = resized.subs({s: _as_theirs(s, data[s.name]) for s in resized.free_symbols})
        found = found.doit()
        if isinstance(found, sympy.MatrixExpr):
            found = found.as_explicit()
        return np.asarray(sympy.flatten(found) if hasattr(found, "shape") else [found], dtype=complex)
    except Exception:  # noqa: BLE001 - whatever SymPy says, it gives no numbers here
        return None


def _as_theirs(symbol: Any, value: Any) -> Any:
    """Return data as SymPy has them: a column of a vector."""
    import numpy as np
    import sympy

    if not hasattr(symbol, "shape"):
        return sympy.Float(float(value))
    rows, columns = (int(length) for length in symbol.shape)
    return sympy.ImmutableDenseMatrix(rows, columns, [float(entry) for entry in np.ravel(value)])
