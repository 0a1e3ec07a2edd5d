"""Callbacks in C: SciPy's integrals against closed forms, log densities against NumPy by hand."""

import gc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.integrate

import matcalc as mc
from matcalc import solvers

RNG = np.random.default_rng(4)
X, Y = RNG.standard_normal((30, 4)), RNG.standard_normal(30)
DENSITY = "-norm2(X*w - y)^2/2 - exp(t)*norm2(w)^2 + logdet(S) - tr(S)"
LET = "X: matrix(m, n); y: vector(m); w: vector(n); t: scalar; S: matrix(2, 2) spd"


def by_hand(x):
    w, t, S = x[:4], x[4], x[5:].reshape(2, 2)
    r = X @ w - Y
    value = -r @ r / 2 - np.exp(t) * w @ w + np.log(np.linalg.det(S)) - np.trace(S)
    slopes = [-X.T @ r - 2 * np.exp(t) * w, [-np.exp(t) * w @ w], (np.linalg.inv(S).T - np.eye(2)).reshape(-1)]
    return value, np.concatenate(slopes)


@pytest.fixture(scope="module")
def density():
    return solvers.nuts(DENSITY, ["w", "t", "S"], {"X": X, "y": Y}, declarations=LET).cfunc()


def called(density, x, n=None):
    x, gradient, value = np.array(x), np.full(len(x), np.nan), np.full(1, np.nan)
    places = [a.ctypes.data for a in (x, gradient, value)]
    return density.ctypes(len(x) if n is None else n, *places, density.user_data), value[0], gradient


@pytest.mark.whole
def test_a_log_density_is_that_by_hand(density):
    for _ in range(5):
        x = np.concatenate([RNG.standard_normal(5), [2.0, 0.5, 0.5, 1.0]])
        status, value, gradient = called(density, x)
        want, slope = by_hand(x)
        assert status == 0
        np.testing.assert_allclose(value, want, rtol=1e-12)
        np.testing.assert_allclose(gradient, slope, rtol=1e-11)


@pytest.mark.whole
def test_its_status_tells_faults_apart(density):
    outside = np.array([0.0, 0, 0, 0, 0, 1.0, 2.0, 2.0, 1.0])
    assert called(density, outside)[0] > 0
    status, value, gradient = called(density, np.ones(9), n=8)
    assert status == -1
    assert np.isnan(value) and np.all(np.isnan(gradient)), "nothing is written"


@pytest.mark.whole
def test_threads_call_it_at_once(density):
    points = [np.concatenate([RNG.standard_normal(5), [2.0, 0.5, 0.5, 1.0]]) for _ in range(200)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda x: called(density, x), points))
    for x, (status, value, gradient) in zip(points, found, strict=True):
        assert status == 0
        np.testing.assert_allclose(value, by_hand(x)[0], rtol=1e-12)
        np.testing.assert_allclose(gradient, by_hand(x)[1], rtol=1e-11)


@pytest.mark.whole
def test_an_integral_of_several_variables():
    gaussian = solvers.low_level("exp(-a*x^2)", ["x", "a"], declarations="x: scalar; a: scalar")
    gc.collect()
    for a in (0.5, 2.0):
        found = scipy.integrate.quad(gaussian, -20, 20, args=(a,))[0]
        np.testing.assert_allclose(found, np.sqrt(np.pi / a), rtol=1e-10)
    found = scipy.integrate.nquad(gaussian, [[-20, 20], [1, 2]])[0]
    np.testing.assert_allclose(found, 2 * np.sqrt(np.pi) * (np.sqrt(2) - 1), rtol=1e-8)


@pytest.mark.whole
def test_an_integral_over_a_vector_with_data():
    P = np.array([[2.0, 0.5], [0.5, 1.0]])
    made = solvers.low_level("exp(-w'*P*w/2)", "w", {"P": P}, declarations="w: vector(n); P: matrix(n, n)")
    del P
    gc.collect()
    found = scipy.integrate.nquad(made, [[-9, 9], [-12, 12]])[0]
    np.testing.assert_allclose(found, 2 * np.pi / np.sqrt(1.75), rtol=1e-7)


@pytest.mark.whole
def test_labels_are_data():
    made = solvers.low_level(
        "exp(t*sum{i: x[k[i]]})", "t", {"x": [1.0, 2.0, 4.0], "k": [2, 0]},
        declarations="t: scalar; x: vector(n); k: index(m)",
    )  # fmt: skip
    np.testing.assert_allclose(scipy.integrate.quad(made, 0, 1)[0], (np.exp(5) - 1) / 5, rtol=1e-10)


@pytest.mark.whole
@pytest.mark.filterwarnings("ignore:The occurrence of roundoff")
def test_outside_the_domain_and_for_other_lengths_an_integrand_is_nan():
    made = solvers.low_level("inv(t*A)[0, 0]", "t", {"A": np.zeros((2, 2))}, declarations="t: scalar; A: matrix(n, n)")
    assert np.isnan(scipy.integrate.quad(made, 0, 1)[0])
    made = solvers.low_level("t^2", "t", declarations="t: scalar")
    assert np.isnan(scipy.integrate.quad(made, 0, 1, args=(3.0,))[0])


def test_what_is_no_function_for_c_is_refused():
    with pytest.raises(mc.NotSupported, match="omit target="):
        solvers.nuts("-w'*w", "w", sizes={"n": 2}, target="numpy", declarations="w: vector(n)").cfunc()
    with pytest.raises(mc.ShapeError, match="scalar"):
        solvers.low_level("2*w", "w", sizes={"n": 2}, declarations="w: vector(n)")
    with pytest.raises(ValueError, match="no value for A"):
        solvers.low_level("x'*A*x", "x")
