"""Derivatives at many digits: differences whose step is far below double precision.

With d digits and a step of 10^(-d/3) first and second differences are good to about d/3 digits where further
derivatives are of the size that the data suggest. They know values alone: nothing of rules, so that they are the truth
a derived derivative is held against.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from matcalc.evidence.precise.arithmetic import Array, Precise, digits, mp, numbers, objects, plain

COUNT = 100
"""Digits that derivatives are taken with."""

Value = Callable[[Mapping[str, Array]], Precise]
"""A function of arrays by name."""


def orders(
    f: Value, data: Mapping[str, Array], name: str, basis: Sequence[Array], along: Array, count: int = COUNT
) -> tuple[Array, Array, Array]:
    """Return f(data), its derivatives in `name` along `basis`, and those once more along `along`.

    Forward differences, which take half the values of central ones.
    """
    with digits(count):
        size = float(np.max(np.abs(np.asarray(data[name], dtype=float)), initial=0.0)) or 1.0
        h = mp.mpf(size) * mp.mpf(10) ** (-(mp.dps // 3))
        here, moved = _flat(f(_moved(data))), _flat(f(_moved(data, {name: (h, along)})))
        first, twice = [], []
        for direction in basis:
            step = {name: (h, direction)}
            one, both = _flat(f(_moved(data, step))), _flat(f(_moved(data, step, {name: (h, along)})))
            first.append((one - here) / h)
            twice.append((both - one - moved + here) / (h * h))
        return here, np.stack(first), np.stack(twice)


def _moved(data: Mapping[str, Array], *steps: Mapping[str, tuple[Precise, Array]]) -> dict[str, Array]:
    moved = {name: objects(np.asarray(a)) for name, a in data.items()}
    for step in steps:
        for name, (h, direction) in step.items():
            moved[name] = np.asarray(moved[name] + h * objects(np.asarray(direction)), dtype=object)
    return {name: numbers(a) for name, a in moved.items()}


def _flat(found: Precise) -> Array:
    return plain(np.asarray(found, dtype=object))
