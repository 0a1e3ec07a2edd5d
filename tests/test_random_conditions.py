"""Random functions with conditions on data: values and gradients of those that are read are the functions' own."""

import pytest
from random_conditions import compare

FIRST = (3, 8)
"""Seeds of the first tier: a guard with masks, and branches that assign."""


@pytest.mark.thinned(3)
@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", [s if s in FIRST else pytest.param(s, marks=pytest.mark.whole) for s in range(1, 13)])
def test_random_functions(seed):
    assert compare(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 400))
def test_more_random_functions(seed):
    compare(seed)


@pytest.mark.whole
@pytest.mark.parametrize("seed", [21, 22, pytest.param(23, marks=pytest.mark.long)])
def test_compiled(seed):
    assert compare(seed, "numba")
