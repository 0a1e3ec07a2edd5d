"""2,000 random recurrences: values against a loop in NumPy, gradients against complex steps of that loop."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from random_recurrences import Data, Recurrence, random_data, random_recurrence

import matcalc as mc

COUNT, GROUP = 2000, 2
LENGTHS = (0, 1, 2, 5)
SIZES = {"n": 3, "m": 2}


def complex_step(made: Recurrence, data: Data, name: str, steps: int) -> Any:
    """Return the gradient of the loop by complex steps."""
    found = np.zeros(np.shape(data[name]))
    for at in np.ndindex(found.shape):
        moved = np.array(data[name], complex)
        moved[at] += 1e-30j
        found[at] = made.value({**data, name: moved if moved.ndim else complex(moved)}, steps).imag / 1e-30
    return found


def differs(found: Any, wanted: Any) -> bool:
    """Whether values differ, relative to the largest entry; NaN differs from all values."""
    gap = np.abs(np.asarray(found) - wanted).max(initial=0)
    return not gap <= 1e-11 * max(1, np.abs(wanted).max(initial=0))


def check(seed: int) -> None:
    """Assert that value and gradient are right: evaluated, compiled, and with few stored states."""
    made = random_recurrence(seed)
    e = mc.expression(made.text, made.declarations)
    name = random.Random(seed).choice(made.names)
    g = mc.gradient(e, name)
    assert mc.expression(str(e), made.declarations).node is e.node, made.text
    again = mc.expression(str(g), g.declarations)
    fn = mc.compile([e, g], target="numba" if seed % 12 == 0 else "numpy", check=False)
    for steps in LENGTHS:
        data = {**random_data(seed, steps), **SIZES, "T": steps}
        value = made.value(data, steps)
        slope = complex_step(made, data, name, steps)
        found = [(e(**{k: data[k] for k in e.symbols}), value), (g(**{k: data[k] for k in g.symbols}), slope)]
        found.append((again(**{k: data[k] for k in again.symbols}), slope))
        found += zip(fn(**{k: data[k] for k in fn.args}), (value, slope), strict=True)
        assert not any(differs(*pair) for pair in found), (seed, steps, name, made.text)


@pytest.mark.sampled(1000)
@pytest.mark.thinned(100)
@pytest.mark.parametrize("first", range(0, COUNT, GROUP))
def test_random_recurrences(first: int) -> None:
    for seed in range(first, first + GROUP):
        check(seed)
