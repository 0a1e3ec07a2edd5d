"""Records the value of the objective at each evaluation of a fit, and plots the convergence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from matcalc.errors import NotSupported
from matcalc.pictures.plots import Curves


def recorded(f: Callable[[Any], Any], values: list[float]) -> Callable[[Any], Any]:
    """Return an objective that appends its values to a list; f returns a value, (value, gradient) or residuals."""

    def g(x: Any) -> Any:
        found = f(x)
        value = found[0] if isinstance(found, tuple) else found
        values.append(float(np.dot(value, value)) if np.ndim(value) else float(value))
        return found

    return g


def convergence(values: Sequence[float] | None, result: float) -> Curves:
    """Return curves of the distance between the value at each evaluation and the final value.

    Raises: NotSupported for a fit without a history.
    """
    if values is None:
        raise NotSupported("this fit has no history: compiled loops record none", hint="fit without compiled=True")
    apart = [(float(k), abs(value - result)) for k, value in enumerate(values, 1)]
    shown = [(k, distance) for k, distance in apart if 0 < distance < np.inf]
    series = {f"from {result:.6g}, the value of the result": ([k for k, _ in shown], [d for _, d in shown])}
    return Curves(series if shown else {}, "evaluations", "distance of the value", (False, True))
