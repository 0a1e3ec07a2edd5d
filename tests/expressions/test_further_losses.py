"""Losses of public projects, as NumPy functions and as text, against the functions themselves on arrays."""

import numpy as np
import pytest
from expressions.further_losses import LOSSES, TEXTS, data

import matcalc as mc

SIZES = ({"m": 7, "n": 3, "k": 2, "p": 4, "c": 3}, {"m": 5, "n": 4, "k": 3, "p": 6, "c": 2})


def slopes(function, given, name):
    """Return central differences of a function of arrays, extrapolated once."""
    found = np.zeros_like(given[name])
    for at in np.ndindex(*found.shape):
        step = np.zeros_like(found)
        step[at] = 1e-3
        two, one = (
            (function(**given | {name: given[name] + h * step}) - function(**given | {name: given[name] - h * step}))
            / (2e-3 * h)
            for h in (1, 0.5)
        )
        found[at] = (4 * one - two) / 3
    return found


def check(formula, name):
    loss = LOSSES[name]
    both = mc.value_and_gradient(formula, list(loss.wrt), loss.declarations)
    for lengths in SIZES:
        given = data(name, lengths)
        value, gradients = both(**{one: given[one] for one in both.args if one in given})
        np.testing.assert_allclose(value, loss.function(**given), rtol=1e-11)
        for one, gradient in zip(loss.wrt, gradients, strict=True):
            expected = slopes(loss.function, given, one)
            if "spd" in loss.declarations.partition(f"{one}: ")[2].partition(";")[0]:
                expected = (expected + expected.T) / 2
            np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7 * max(1, np.max(np.abs(expected))))


@pytest.mark.thinned(4)
@pytest.mark.sampled(66)
@pytest.mark.parametrize("name", LOSSES)
def test_functions(name):
    check(LOSSES[name].function, name)


@pytest.mark.sampled(34)
@pytest.mark.parametrize("name", TEXTS)
def test_texts(name):
    check(TEXTS[name], name)
