"""Defines SciPy's result with the variables by name, printed as a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from matcalc.pictures.plots import Curves
from matcalc.solvers.history import convergence

SHOWN = 6  # entries of an array printed in a line
FIELDS = ("message", "success", "fun", "nit", "nfev", "njev", "nhev")


class Result(OptimizeResult):  # type: ignore[misc]
    """An OptimizeResult whose `x` is a dictionary by name."""

    def __repr__(self) -> str:
        fields = [(field, str(self[field])) for field in FIELDS if field in self]
        width = max(len(name) for name in (*self.x, *FIELDS))
        lines = [f"{field:>{width}}  {value}" for field, value in fields]
        lines.append(f"{'variable':>{width}}  {'shape':<12}value")
        lines += [f"{name:>{width}}  {np.shape(value)!s:<12}{_short(value)}" for name, value in self.x.items()]
        return "\n".join(lines)

    __str__ = __repr__

    def plot(self) -> Curves:
        """Return curves of the distance between the value at each evaluation and the final value.

        Raises: NotSupported for a fit in a compiled loop, which records no values.
        """
        return convergence(self.get("history"), self["fun"])


def _short(value: Any) -> str:
    entries = np.ravel(value)
    first = " ".join(f"{entry:.6g}" for entry in entries[:SHOWN])
    return f"{first} ..." if entries.size > SHOWN else first
