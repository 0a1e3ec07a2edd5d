"""The bridge to SymPy: its scalars and matrix expressions as formulas of the matrix language, and back.

Both directions go through the syntax tree, so that SymPy's objects are read by the same elaboration as text
and written from the same notation. A column is a vector, a row its transpose and a 1 x 1 expression a scalar,
on both sides. SymPy's own matrix derivatives are never used, and SymPy is imported only when it is needed.
"""

from matcalc.expressions.sympy_bridge.read import from_sympy, sizes_in, symbols_in
from matcalc.expressions.sympy_bridge.write import to_sympy

__all__ = ["from_sympy", "sizes_in", "symbols_in", "to_sympy"]
