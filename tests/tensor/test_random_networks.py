"""Random networks by each constructor of the normal form, against sums over all indices of their operands."""

import pytest
from random_networks import faults_of

EACH = 400


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.sampled(8)
def test_a_network_is_the_sum_over_all_its_indices(seed):
    faults, done = faults_of(EACH, 10_000 * seed)
    assert not faults, faults[0]
    assert done >= EACH


@pytest.mark.long
@pytest.mark.parametrize("seed", range(40))
def test_two_hundred_thousand_networks(seed):
    faults, done = faults_of(5_000, 10_000_000 + 10_000 * seed)
    assert not faults, faults[0]
    assert done >= 5_000
