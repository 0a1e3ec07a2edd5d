"""Slopes that results are compared with: right, or none."""

import numpy as np

from matcalc.evidence.written.truths import slowly


def test_differences_of_a_smooth_function():
    found = slowly(lambda h: np.array([np.sin(3 * h), np.exp(h)]), np.array([0.0, 1.0]))
    assert found is not None
    np.testing.assert_allclose(found.value, [3, 1], rtol=1e-12)


def test_differences_that_converge_to_another_number_are_refused():
    """Of a function that changes near 0 alone, all differences at larger steps are 0."""

    def narrow(h):
        return np.array([1e6 * h * np.exp(-((h / 1e-5) ** 2))])

    assert slowly(narrow, narrow(0.0)) is None


def test_a_slope_of_zero_is_no_doubt():
    found = slowly(lambda h: np.array([7.0 + 0 * h]), np.array([7.0]))
    assert found is not None and not np.any(found.value)
