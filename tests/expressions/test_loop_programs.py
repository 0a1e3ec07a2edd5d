"""Random functions with loops, against their runs on arrays at two sizes: values, and gradients away from kinks."""

import numpy as np
import pytest
from expressions.loop_programs import DECLARATIONS, data, programs

import matcalc as mc

STEPS = (1e-5, 2e-5)


def differences(function, given, name):
    """Return central differences, and where those of two steps are equal."""
    x = np.asarray(given[name], dtype=float)
    found = np.zeros((2, *x.shape))
    for at in np.ndindex(*x.shape):
        for row, step in enumerate(STEPS):
            ends = []
            for sign in (1, -1):
                moved = np.array(x)
                moved[at] += sign * step
                ends.append(function(**{**given, name: moved if x.ndim else float(moved)}))
            found[(row, *at)] = (ends[0] - ends[1]) / (2 * step)
    return found[0], np.asarray(np.abs(found[0] - found[1]) < 1e-6 * (1 + np.abs(found[0])))


def compare(program, number):
    """Compare a program with its run on arrays; return whether it is read."""
    function = program.function()
    try:
        e = mc.expression(function, DECLARATIONS)
        gradients = mc.gradient(e, ["a", "x"], check=False)
    except mc.MatcalcError:
        return False
    for steps, n in ((5, 3), (8, 2)):
        given = data(number, steps, n)
        try:
            value = e(**{name: given[name] for name in e.symbols})
        except mc.ShapeError:
            continue  # an entry that only other sizes have
        assert np.allclose(value, function(**given), rtol=1e-9, atol=1e-12), program.text
        for name, gradient in zip(("a", "x"), gradients, strict=True):
            found = gradient(**{one: given[one] for one in gradient.symbols})
            expected, known = differences(function, given, name)
            errors = np.asarray(np.abs(found - expected) / (1 + np.abs(expected)))
            assert not np.any(errors[known] > 1e-5), (program.text, name)
    return True


@pytest.mark.parametrize(
    ("part", "number"),
    [(0, 1), *(pytest.param(k, 8, marks=pytest.mark.whole) for k in (1, 2)),
     *(pytest.param(k, 20, marks=pytest.mark.long) for k in range(1, 5))],
)  # fmt: skip
def test_random_loops(part, number):
    read = [compare(program, k) for k, program in enumerate(programs(number, seed=part))]
    assert sum(read) >= -(-number // 3)
