"""Slopes that results are compared with: right, or none."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.evidence.numeric.sampling import generator
from matcalc.evidence.written.truths import quickly, second_slowly, slowly
from matcalc.evidence.written.values import largest


@pytest.mark.parametrize("way", [quickly, slowly])
def test_differences_of_a_smooth_function(way):
    found = way(lambda h: np.array([np.sin(3 * h), np.exp(h)]), np.array([0.0, 1.0]))
    assert found is not None
    np.testing.assert_allclose(found.value, [3, 1], rtol=1e-12)


@pytest.mark.parametrize("way", [quickly, slowly])
def test_differences_that_converge_to_another_number_are_refused(way):
    """Of a function that changes near 0 alone, all differences at larger steps are 0."""

    def narrow(h):
        h = np.real(h)  # no complex step
        return np.array([1e6 * h * np.exp(-((h / 1e-5) ** 2))])

    assert way(narrow, narrow(0.0)) is None


def test_a_kink_nearby_is_part_of_the_error():
    """A small entry with a kink at 5e-5 beside a large one: larger steps give the mean of both sides."""

    def kinked(h):
        h = np.real(h)
        return np.array([1e-3 * np.abs(h - 5e-5) + 2e-6 * h, np.exp(h)])

    found = slowly(kinked, kinked(0.0))
    assert found is None or found.error >= abs(found.value[0] + 1e-3) / 3

    def kinked_slope(s, t):
        h = np.real(s + t)
        return np.array([1e-3 * np.abs(h - 5e-5) * h + 2e-6 * h, np.exp(h)])

    found = second_slowly(kinked_slope, kinked_slope(0.0, 0.0))
    assert found is None or found.error >= abs(found.value[0] + 2e-3) / 3


@pytest.mark.parametrize("way", [quickly, slowly])
def test_a_slope_of_zero_is_no_doubt(way):
    found = way(lambda h: np.array([7.0 + 0 * h]), np.array([7.0]))
    assert found is not None and not np.any(found.value)


def test_second_differences():
    """Of a smooth function, and of one that changes near 0 alone, whose larger differences are all 0."""
    found = second_slowly(lambda s, t: np.array([np.sin(s + 2 * t + 0.5)]), np.array([np.sin(0.5)]))
    assert found is not None
    np.testing.assert_allclose(found.value, [-2 * np.sin(0.5)], rtol=1e-8)

    def narrow(s, t):
        return np.array([1e9 * s * t * np.exp(-((s / 1e-4) ** 2))])

    assert second_slowly(narrow, narrow(0.0, 0.0)) is None


@pytest.mark.parametrize("seed", [(0,), (29, 1, 0, 120), (2**32 - 1, 3), (2**32, 3), (2**70,)])
def test_seeds_give_the_numbers_of_numpys_generator(seed):
    np.testing.assert_array_equal(generator(*seed).standard_normal(4), np.random.default_rng(seed).standard_normal(4))


def test_the_largest_magnitude_of_an_array():
    assert largest(np.array([[1.0, -3.0], [2.0, 0.0]])) == largest(-3.0) == largest(np.array(3.0)) == 3
    assert largest(np.zeros((0, 2))) == 0 and largest(np.array([3 + 4j, 1])) == 5
    assert np.isnan(largest(np.array([1.0, np.nan]))) and np.isnan(largest(np.nan))


@pytest.mark.parametrize("n", [0, 1, 2, 4])
def test_the_complex_step_of_a_cholesky_factor(n):
    """LAPACK drops the imaginary part of a diagonal, and a small wrong entry beside large ones looks confirmed."""
    rng = np.random.default_rng(n)
    X, E = rng.standard_normal((2, n, n))
    S, D = X @ X.T + np.eye(n), E + E.T
    chol = mc.expression("chol(S)", "S: matrix(n, n) symmetric").reference
    step = np.asarray(chol.computed({"S": S + 1e-30j * D}, {"n": n}, {"S": S})).imag / 1e-30
    expected = (np.linalg.cholesky(S + 1e-6 * D) - np.linalg.cholesky(S - 1e-6 * D)) / 2e-6
    np.testing.assert_allclose(step, expected, rtol=1e-7, atol=1e-8)


def test_a_small_wrong_entry_of_a_complex_step_is_not_confirmed():
    """User code may drop imaginary parts of one entry beside larger ones."""

    def dropped(h):
        return np.array([100 * np.exp(h), 0.005 * np.sin(np.real(h)) + 0 * h])

    found = quickly(dropped, dropped(0.0))
    assert found is None or abs(found.value[1] - 0.005) <= found.error
    assert found is None or not found.by_complex_step
