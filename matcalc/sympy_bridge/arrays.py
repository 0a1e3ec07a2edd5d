"""SymPy's array expressions, by their entries."""

from __future__ import annotations

from matcalc.sympy_bridge.values import Make

FIRST: tuple[str, ...] = ()
READ: dict[str, Make] = {}
