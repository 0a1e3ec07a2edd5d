"""Gradients of random NumPy programs, against differences of the programs on arrays, at two sizes.

An entry at a kink is left out: there the second differences of two steps are not equal.
"""

import re

import numpy as np
import pytest

import matcalc as mc
from tests.expressions.numpy_programs import AXES, OPEN, OTHERS, SCOPE, SIZES, data, programs

REFUSALS = (mc.NotSupported, mc.ShapeError, mc.NotDifferentiable)
STEP = 1e-4


def loss_of(text):
    """Return a scalar function whose slope differs from entry to entry of the program's result."""
    scope = dict(SCOPE)
    exec(
        f"def loss({', '.join(AXES)}):\n    P = {text}\n    return np.sum(np.sin(1.3 * P + 0.2)) + 0.5 * np.sum(P)",
        scope,
    )
    return scope["loss"]


def slopes(function, given, name):
    """Return the slope of a function in each entry of an argument, an estimate of its error, and where kinks are."""
    shape = np.shape(given[name])
    found, errors, kinks = np.zeros(shape), np.zeros(shape), np.zeros(shape, bool)
    middle = function(**given)
    for at in np.ndindex(*shape):
        values = {}
        for step in (STEP, -STEP, STEP / 2, -STEP / 2):
            moved = np.array(given[name])
            moved[at] += step
            values[step] = function(**{**given, name: moved})
        wide = (values[STEP] - values[-STEP]) / (2 * STEP)
        close = (values[STEP / 2] - values[-STEP / 2]) / STEP
        found[at], errors[at] = (4 * close - wide) / 3, abs(close - wide)
        bends = [abs(values[h] + values[-h] - 2 * middle) / h for h in (STEP, STEP / 2)]
        kinks[at] = bends[1] > 0.75 * bends[0] > 1e-7 * (1 + abs(middle))
    return found, errors, kinks


def compare(program, number):
    """Compare the gradient of a program in all its arguments with differences; refuse what matcalc refuses."""
    function = loss_of(program.text)
    names = [name for name in AXES if re.search(rf"\b{name}\b", program.text)]
    try:
        gradients = mc.gradient(function, names, declarations=program.declarations, check=False)
    except REFUSALS:
        return 0
    compared = 0
    for lengths in (SIZES, OTHERS)[: 1 + (program.declarations == OPEN)]:
        given = data(number + 1, lengths)
        for name, gradient in zip(names, gradients, strict=True):
            with np.errstate(all="ignore"):
                try:
                    found = gradient(**{one: given[one] for one in gradient.symbols if one in given})
                except mc.ShapeError:  # the same place is written twice at these sizes
                    continue
                expected, errors, kinks = slopes(function, given, name)
            known = np.isfinite(expected) & ~kinks
            bound = 1e-5 * (1 + np.max(np.abs(expected[known]), initial=0)) + 3 * errors
            assert np.all((np.abs(found - expected) <= bound)[known]), (program.text, name, lengths)
            compared += np.count_nonzero(known)
    return compared


FOUND = [
    "np.clip(w, -np.abs(w), np.abs(w))",
    "np.median(np.clip(s, -np.abs(s), np.abs(s)))*Y",
    "put(np.cos(T)[np.arange(len(T) - 1) + 1], [0, -1], 0.3)",
    "np.var(T[[0, -1, 0]], axis=0)",
    "T[np.arange(len(T)), 2] + X[np.arange(len(X)), 1:3].sum()",
]
"""Programs whose gradient or value was wrong."""


@pytest.mark.parametrize("text", FOUND)
@pytest.mark.sampled(6)
def test_programs_that_were_wrong(text):
    compare(type("Program", (), {"text": text, "declarations": OPEN}), 3)


@pytest.mark.whole
@pytest.mark.parametrize("part", [0, *(pytest.param(k, marks=pytest.mark.long) for k in range(1, 60))])
def test_gradients_of_random_programs(part):
    count = 50 if part else 20
    assert sum(compare(one, k) for k, one in enumerate(programs(count, depth=5, seed=700 + part, code=True)))
