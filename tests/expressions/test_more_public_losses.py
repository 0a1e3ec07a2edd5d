"""Losses of a hundred public fields with open sizes, traced as they are: value and gradients against the function."""

import numpy as np
import pytest
from expressions import (
    public_clinics,
    public_engineering,
    public_fields,
    public_further_fields,
    public_learning,
    public_molecules,
    public_populations,
    public_signals,
)
from expressions.test_public_losses import slopes

import matcalc as mc

PARTS = (
    public_clinics, public_populations, public_signals, public_molecules, public_fields, public_further_fields,
    public_engineering, public_learning,
)  # fmt: skip
LOSSES = {name: loss for part in PARTS for name, loss in part.LOSSES.items()}
FIRST = (
    "cox_breslow",
    "weibull_aft",
    "geometric_adstock_window",
    "log_logistic_survival",
    "wilson_vle",
    "class_weighted_hinge",
)
"""Cases of the first tier: a mask in a loop, a guard, a cut window, two masks, a check that a declaration decides,
labels as numbers."""
EVERY = [name if name in FIRST else pytest.param(name, marks=pytest.mark.whole) for name in LOSSES]


def check(name, value, gradients):
    loss = LOSSES[name]
    np.testing.assert_allclose(value, loss.function(**loss.data), rtol=1e-9)
    for one, gradient in zip(loss.wrt, gradients, strict=True):
        (expected,) = slopes(loss, one)
        scale = 1 + np.max(np.abs(expected), initial=0)
        np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-6 * scale, err_msg=one)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.sampled(24)
@pytest.mark.thinned(9)
def test_value_and_gradient(name):
    loss = LOSSES[name]
    e = mc.expression(loss.function, loss.declarations)
    value = e(**{one: loss.data[one] for one in e.symbols if one in loss.data})
    slopes_of = [mc.gradient(e, one) for one in loss.wrt]
    check(name, value, [g(**{one: loss.data[one] for one in g.symbols if one in loss.data}) for g in slopes_of])


@pytest.mark.thinned(30)
@pytest.mark.whole
@pytest.mark.parametrize("name", LOSSES)
def test_compiled(name):
    loss = LOSSES[name]
    both = mc.value_and_gradient(loss.function, list(loss.wrt), loss.declarations)
    check(name, *both(**{one: loss.data[one] for one in both.args if one in loss.data}))
