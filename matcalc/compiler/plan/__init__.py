"""Plans nodes into a Program: order, factorisations, kernels, loops and memory.

All outputs are planned together, several times where a choice matters (values or gradients first, inverses
solved or formed). The Program with the least estimated time is returned.
"""

from __future__ import annotations

from matcalc.compiler.plan.either import plan
from matcalc.compiler.plan.saved_nodes import to_save

__all__ = ["plan", "to_save"]
