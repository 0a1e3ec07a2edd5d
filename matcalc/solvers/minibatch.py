"""Minimises a sum over rows by steps on randomly drawn rows: SGD, Adam, SVRG.

A step uses the gradient of the same expression over drawn rows, with totals scaled to all rows. If totals enter
linearly, this equals the gradient on average. Rows are drawn with a seed: the same seed yields the same digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from matcalc.language.identifiers import nearest, shown
from matcalc.solvers.packing import Vector

Slope = Callable[[Vector], Vector]
"""The gradient over drawn rows at a point."""
State = tuple[int, Vector, Vector, Vector]
"""The number of steps so far, the point, and the means of the gradients and of their squares."""


@dataclass(frozen=True)
class Settings:
    """The options of a fit by drawn rows: rows per step, passes over all rows, step length, its decay, the seed."""

    batch: int = 256
    passes: int = 10
    step: float = 0.01
    decay: float = 0.0
    seed: int = 0


def settings_of(options: Mapping[str, Any]) -> Settings:
    """Return settings from options by name. Raises: ValueError for an unknown name or a number out of range."""
    known = list(Settings.__dataclass_fields__)
    for name in options:
        if name not in known:
            raise ValueError(
                f"there is no option {shown(name)}{nearest(str(name), known)}; there are {', '.join(known)}"
            )
    made = Settings(**options)
    for name in ("batch", "passes"):
        if not isinstance(getattr(made, name), (int, np.integer)) or getattr(made, name) < 1:
            raise ValueError(f"{name} is a whole number of at least 1, not {shown(getattr(made, name))}")
    if not (np.isfinite(made.step) and made.step > 0 and np.isfinite(made.decay) and made.decay >= 0):
        raise ValueError(f"step is positive and decay at least 0, not {shown(made.step)} and {shown(made.decay)}")
    return made


def sgd(state: State, slopes: Iterator[Slope], full: Slope, s: Settings) -> State:
    """Return the state after one pass of steps along the gradients of drawn rows.

    Source: Robbins and Monro 1951; steps `step/(1 + decay*k)`.
    """
    count, x, mean, square = state
    for slope in slopes:
        x = x - s.step / (1 + s.decay * count) * slope(x)
        count += 1
    return count, x, mean, square


def adam(state: State, slopes: Iterator[Slope], full: Slope, s: Settings) -> State:
    """Return the state after one pass of steps along means of gradients over roots of means of their squares.

    Source: Kingma and Ba 2015, algorithm 1, with steps `step/(1 + decay*k)`.
    """
    count, x, mean, square = state
    for slope in slopes:
        g, length = slope(x), s.step / (1 + s.decay * count)
        count += 1
        mean = 0.9 * mean + 0.1 * g
        square = 0.999 * square + 0.001 * g * g
        x = x - length * (mean / (1 - 0.9**count)) / (np.sqrt(square / (1 - 0.999**count)) + 1e-8)
    return count, x, mean, square


def svrg(state: State, slopes: Iterator[Slope], full: Slope, s: Settings) -> State:
    """Return the state after one pass of steps with reduced variance, which begins with the gradient over all rows.

    Source: Johnson and Zhang 2013; each pass begins at the last point of the previous pass.
    """
    count, x, mean, square = state
    at, whole = x, full(x)
    for slope in slopes:
        x = x - s.step / (1 + s.decay * count) * (slope(x) - slope(at) + whole)
        count += 1
    return count, x, mean, square


METHODS = {"sgd": sgd, "adam": adam, "svrg": svrg}
