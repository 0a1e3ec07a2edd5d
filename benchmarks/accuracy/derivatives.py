"""Computes derivatives at many digits, by differences whose step is far below double precision.

With d digits and a step of 10^(-d/3), first and second differences have about d/3 correct digits if higher derivatives
have the size that the data suggest. Only values are used and no rules, so derived derivatives are compared with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from matcalc.evidence.precise.arithmetic import Array, Precise, digits, mp, numbers, objects, plain

COUNT = 100
"""Digits of the arithmetic for derivatives."""

Value = Callable[[Mapping[str, Array]], Precise]
"""A function of arrays by name."""


def orders(
    f: Value, data: Mapping[str, Array], name: str, basis: Sequence[Array], along: Array, count: int = COUNT
) -> tuple[Array, Array, Array]:
    """Return f(data), its derivatives in `name` along `basis`, and the derivatives of these along `along`.

    Forward differences need half the values of central ones.
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
