"""Losses in the style of public projects, traced as they are: value and gradients against the function on arrays."""

import numpy as np
import pytest
from expressions import public_models, public_physics, public_regressions, public_series
from expressions.public_loss import PublicLoss

import matcalc as mc

LOSSES = {**public_regressions.LOSSES, **public_series.LOSSES, **public_models.LOSSES, **public_physics.LOSSES}
FIRST = ("logistic_insert", "emcee_line")
"""Cases of the first tier: an inserted column, held data."""
SLOW = ("bundle_adjustment",)
EVERY = [pytest.param(n, marks=pytest.mark.long) if n in SLOW else n for n in LOSSES if n not in FIRST]


def leaves(value):
    """Return the arrays of a parameter, which may be a list of tuples."""
    return [one for part in value for one in leaves(part)] if isinstance(value, (list, tuple)) else [np.asarray(value)]


def refilled(value, arrays):
    """Return a parameter with other arrays."""
    if isinstance(value, (list, tuple)):
        return type(value)(refilled(part, arrays) for part in value)
    return next(arrays)


def slopes(loss: PublicLoss, name: str) -> list[np.ndarray]:
    """Return central differences in each array of a parameter, extrapolated once."""
    own = [np.array(one, dtype=float) for one in leaves(loss.data[name])]
    found = [np.zeros(one.shape) for one in own]
    for which, gradient in enumerate(found):
        for at in np.ndindex(*gradient.shape):
            values = []
            for step in (1e-4, -1e-4, 2e-4, -2e-4):
                moved = [one.copy() for one in own]
                moved[which][at] += step
                values.append(float(loss.function(**loss.data | {name: refilled(loss.data[name], iter(moved))})))
            gradient[at] = (8 * (values[0] - values[1]) - (values[2] - values[3])) / 12e-4
    return found


def check(name):
    loss = LOSSES[name]
    both = mc.value_and_gradient(loss.function, list(loss.wrt), loss.declarations)
    value, gradients = both(**loss.data)
    np.testing.assert_allclose(value, loss.function(**loss.data), rtol=1e-9)
    for one, gradient in zip(loss.wrt, gradients, strict=True):
        for found, expected in zip(leaves(gradient), slopes(loss, one), strict=True):
            if f"{one}: matrix(3, 3) spd" in loss.declarations or f"{one}: matrix(4, 4) spd" in loss.declarations:
                expected = (expected + expected.T) / 2
            scale = 1 + np.max(np.abs(expected), initial=0)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7 * scale, err_msg=one)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", FIRST)
def test_first(name):
    check(name)


@pytest.mark.thinned(15)
@pytest.mark.whole
@pytest.mark.parametrize("name", EVERY)
def test_every_loss(name):
    check(name)


def test_a_method_of_an_object_that_holds_arrays():
    model = public_models.RidgeModel(np.ones((4, 3)), np.arange(4.0), 0.3)
    w = np.array([1.0, -2.0, 0.5])
    gradient = mc.gradient(model.loss, "w", "w: vector(3)")
    expected = -model.X.T @ (model.y - model.X @ w) / 4 + 0.3 * w
    np.testing.assert_allclose(gradient(w=w), expected, rtol=1e-12)
