"""2,000 random recurrences against loops in NumPy: values, outputs, gradients and Hessian-vector products.

The loop's derivatives are complex steps, of tangents for the Hessian.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from random_recurrences import INDICES, Data, Recurrence, random_data, random_recurrence

import matcalc as mc

COUNT = 2000
LENGTHS = (0, 1, 2, 7)
SIZES = {"n": 3, "m": 2, "p": 4}
TARGETS = ("numpy", "numba")


def differs(found: Any, wanted: Any, scale: float) -> bool:
    """Whether values differ, relative to the scale; NaN and other shapes differ from all values."""
    if np.shape(found) != np.shape(wanted):
        return True
    gap = np.abs(np.asarray(found) - wanted).max(initial=0)
    return not gap <= 1e-12 * max(1, scale)


def largest(x: Any) -> float:
    return float(np.abs(x).max(initial=0))


def formulas(made: Recurrence, name: str, steps: int) -> list[Any]:
    """Return the loss, its gradient, its Hessian-vector product and the outputs."""
    declared = made.at(made.declared, steps)
    e = mc.expression(made.at(made.text, steps), declared)
    outputs = [mc.expression(made.at(text, steps), declared) for text, _ in made.outputs]
    return [e, mc.gradient(e, name, check=False), mc.hvp(e, name, vector="towards", check=False), *outputs]


def wanted_of(made: Recurrence, data: Data, name: str, steps: int) -> list[Any]:
    """Return what the loops compute."""
    frame = made.frame(data, steps)
    slope = made.gradient(data, name, steps), made.hvp(data, name, data["towards"], steps)
    values = [eval(python, frame) for python in (made.loss, *(python for _, python in made.outputs))]  # noqa: S307
    return [np.real(values[0]), *slope, *map(np.real, values[1:])]


def faults(seed: int, targets: tuple[str, ...] = TARGETS) -> Iterator[str]:
    """Yield what differs: evaluated, compiled, and printed and read back."""
    made = random_recurrence(seed)
    r = random.Random(seed)
    name = None
    found: list[Any] = []
    for steps in LENGTHS:
        if made.length[0] == "T + 1" and not steps:
            continue  # T would be -1
        if made.is_fixed or not found:
            declared = [part.split(":")[0].strip() for part in made.declared.split(";")]
            name = name or r.choice([own for own in declared if own not in INDICES])
            found = formulas(made, name, steps)
            again = [mc.expression(str(one), one.declarations) for one in found]
            ways: list[tuple[str, Any]] = [("plain", found), ("read back", again)]
            ways += [(target, mc.compile(found, target=target, check=False)) for target in targets]
        data = {**random_data(made, seed, steps), **SIZES, **made.size(steps)}
        data["towards"] = np.random.default_rng(seed).normal(size=np.shape(data[name]))
        wanted = wanted_of(made, data, name, steps)
        scale = max(map(largest, wanted))
        for way, fn in ways:
            if isinstance(fn, list):
                got = [one(**{k: data[k] for k in one.symbols}) for one in fn]
            else:
                got = fn(**{k: data[k] for k in fn.args})
            for what, (x, y) in enumerate(zip(got, wanted, strict=True)):
                if differs(x, y, scale):
                    gap = largest(np.asarray(x) - y) / max(1, scale) if np.shape(x) == np.shape(y) else "shapes"
                    yield f"{seed} {steps} {name} {way} {what} {gap} {made.text}"


@pytest.mark.sampled(COUNT)
@pytest.mark.thinned(600)
@pytest.mark.parametrize("seed", range(7, COUNT + 7))
def test_random_recurrences(seed: int) -> None:
    assert list(faults(seed)) == []


@pytest.mark.whole
@pytest.mark.parametrize("seed", [1541, 1750, 1818])
def test_recurrences_that_failed(seed: int) -> None:
    """Guards of lookups that other operands held; blocks that met in a product, and not in what it is made of."""
    assert list(faults(seed)) == []
