"""One linear convention for kinks: equal formulas have equal derivatives there, whatever kinks they are written with."""

import functools

import numpy as np
import pytest

import matcalc as mc
from tests.kinked_formulas import EQUAL, LET, PAIRS, mean_slope, of

WEIGHTS = of(1, -2, 4)
CLOSE = {"rtol": 0, "atol": 5e-6}


@functools.lru_cache(maxsize=None)
def slopes(name):
    """The right gradients of one function at all its points."""
    return [mean_slope(EQUAL[name], at, WEIGHTS if entrywise(name) else of(1)) for at in EQUAL[name].at]


def entrywise(name):
    equal = EQUAL[name]
    return np.ndim(equal.value(*equal.at[0].values())) > 0


def weighted(name, text):
    return f"sum(({text}).*[1; -2; 4])" if entrywise(name) else text


def compare(gradient, name, factor=1.0):
    for at, want in zip(EQUAL[name].at, slopes(name), strict=True):
        np.testing.assert_allclose(gradient(**at), factor * want, **CLOSE, err_msg=f"{name} at {at}")


def gradient(text):
    return mc.gradient(text, "x", LET)


@pytest.mark.parametrize("name", EQUAL)
def test_each_definition_has_the_mean_of_the_slopes_nearby(name):
    for text in EQUAL[name].texts:
        compare(gradient(weighted(name, text)), name)
