"""Derivatives at many digits: central differences whose step is far below double precision.

With d digits and a step of 10^(-d/4) a first difference is good to about d/2 digits where third derivatives are
of the size that the data suggest, and a second, mixed difference likewise. They know values alone: nothing of
rules, so that they are the truth a derived derivative is held against.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from matcalc.evidence.precise.arithmetic import Array, digits, mp, numbers, objects, plain

COUNT = 100
"""Digits that derivatives are taken with."""

Value = Callable[[Mapping[str, Any]], Any]
"""A function of arrays by name."""


def value(f: Value, data: Mapping[str, Any], count: int = COUNT) -> Array:
    """Return f(data) with `count` digits."""
    with digits(count):
        return _flat(f({name: numbers(np.asarray(a)) for name, a in data.items()}))


def jacobian(f: Value, data: Mapping[str, Any], name: str, basis: Sequence[Array], count: int = COUNT) -> Array:
    """Return the derivatives of f in the argument `name` along each array of `basis`, stacked first."""
    with digits(count):
        h = _step(data[name])
        rows = []
        for direction in basis:
            high, low = (_flat(f(_moved(data, {name: (s * h, direction)}))) for s in (1, -1))
            rows.append((high - low) / (2 * h))
        return np.stack(rows)


def second(
    f: Value, data: Mapping[str, Any], name: str, basis: Sequence[Array], other: str, along: Array, count: int = COUNT
) -> Array:
    """Return the derivative along `along` in the argument `other` of `jacobian(f, data, name, basis)`."""
    with digits(count):
        h, k = _step(data[name]), _step(data[other])
        rows = []
        for direction in basis:
            corners = [
                s * t * _flat(f(_moved(data, {name: (s * h, direction)}, {other: (t * k, along)})))
                for s in (1, -1)
                for t in (1, -1)
            ]
            rows.append(sum(corners[1:], corners[0]) / (4 * h * k))
        return np.stack(rows)


def orders(
    f: Value, data: Mapping[str, Any], name: str, basis: Sequence[Array], along: Array, count: int = COUNT
) -> tuple[Array, Array, Array]:
    """Return f(data), its derivatives in `name` along `basis`, and those once more along `along`.

    Forward differences with a third of the digits as step: half the values of `jacobian` and `second`.
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


def _step(array: Any) -> Any:
    """Return the step: relative to the largest entry, 1 for an array of zeros."""
    size = float(np.max(np.abs(np.asarray(array, dtype=float)), initial=0.0)) or 1.0
    return mp.mpf(size) * mp.mpf(10) ** (-(mp.dps // 4))


def _moved(data: Mapping[str, Any], *steps: Mapping[str, tuple[Any, Array]]) -> dict[str, Any]:
    moved = {name: objects(np.asarray(a)) for name, a in data.items()}
    for step in steps:
        for name, (h, direction) in step.items():
            moved[name] = np.asarray(moved[name] + h * objects(np.asarray(direction)), dtype=object)
    return {name: numbers(a) for name, a in moved.items()}


def _flat(found: Any) -> Array:
    return plain(np.asarray(found, dtype=object))
