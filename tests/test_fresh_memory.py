"""Fresh memory holds large numbers in all tests, so that reading it before writing it shows."""

import fresh_memory
import numpy as np
import pytest


@pytest.mark.skipif(not fresh_memory.fill(), reason="needs glibc")
def test_fresh_arrays_hold_large_numbers():
    for size in (2_000, 100_000):
        assert np.all(np.empty(size) > 1e300)
