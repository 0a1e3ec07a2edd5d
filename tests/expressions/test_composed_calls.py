"""Functions of NumPy and SciPy that are composed of others on symbols."""

import numpy as np
import pytest
from scipy import linalg, special

import matcalc as mc

RNG = np.random.default_rng(2)
X = RNG.random((4, 4)) + np.eye(4)
LU = linalg.lu_factor(X.T + np.diag(np.arange(4.0)))


def powers(X):
    return np.sum(np.vander(X[0], 3, increasing=True) * np.arange(3.0)) + np.vander(X[1], increasing=True)[:, 2].sum()


def windows(X):
    x, y = X[0], X[1, :3]
    return (np.convolve(x, y, "valid") ** 2).sum() + np.correlate(x, y) @ x[:2] + np.correlate(y, x, "full")[2]


def quantiles(X):
    ends = np.percentile(X, [10, 90], axis=0)
    return np.quantile(X, 0.3) + (ends[1] - ends[0]).sum() + np.quantile(X, 0.5, axis=1, keepdims=True)[0, 0]


def factored(X):
    lu, piv = linalg.lu_factor(X)
    return linalg.lu_solve((lu, piv), X[0]).sum() + linalg.lu_solve(LU, X[1]) @ linalg.lu_solve(LU, X[2], trans=1)


def entropies(X):
    p = X / X.sum()
    return (
        special.rel_entr(p, X).sum()
        + special.kl_div(p, 0.5).sum()
        + special.logsumexp(X, axis=1, b=[1.0, 2, 0, 3]).sum()
    )


LOSSES = [powers, windows, quantiles, factored, entropies]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_value_and_gradient_are_those_of_the_function(loss):
    value, gradient = mc.value_and_gradient(loss, "X", "X: matrix(4, 4)", target="numpy")(X)
    assert value == pytest.approx(loss(X), rel=1e-12)
    steps = 1e-6 * np.eye(16).reshape(16, 4, 4)
    slopes = [(loss(X + step) - loss(X - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(np.ravel(gradient), slopes, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: np.quantile(x, 0.3), "declare the size as a number"),
        (lambda x: np.convolve(x, [1.0, 2.0, 3.0], "valid"), "declare n as a number"),
        (lambda x: np.correlate(x, x, "same"), "the mode same is not supported"),
        (lambda x: np.diag(linalg.lu_factor(np.outer(x, x))[0]), "lu_factor is no formula"),
    ],
)
def test_refused(function, message):
    with pytest.raises(mc.NotSupported, match=message):
        mc.expression(function, "x: vector(n)")


MODES = ("constant", "edge", "reflect", "symmetric", "wrap")
WIDTHS = [0, 1, 2, (0, 3), (4, 1), 5, (2, 7), ((1, 2), (0, 1)), ((2,), (3,)), [[1], [9]]]


@pytest.mark.sampled(32)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("widths", WIDTHS, ids=str)
@pytest.mark.parametrize("let", ["X: matrix(m, n)", "X: matrix(4, 3)"])
def test_padding_is_that_of_arrays_or_refused(mode, widths, let):
    def padded(X):
        return np.pad(X, widths, mode=mode)

    data = RNG.random((4, 3))
    try:
        found = mc.expression(padded, let)(data)
    except mc.MatcalcError:
        most = np.max(np.concatenate([np.ravel(one) for one in np.atleast_1d(widths)]))
        assert most > 2 and mode in ("reflect", "symmetric", "wrap")
        return
    np.testing.assert_array_equal(found, padded(data))


def test_padding_by_sizes_and_other_constants():
    def padded(x, v, s):
        return np.pad(x, (len(v), 1), constant_values=s) + np.pad(x, (0, len(v) + 1), "edge")

    found = mc.expression(padded, "x: vector(n); v: vector(p); s: scalar")
    x, v = RNG.random(4), np.ones(2)
    np.testing.assert_array_equal(found(x, v, 1.5), padded(x, v, 1.5))
    with pytest.raises(mc.NotSupported, match="the mode linear_ramp"):
        mc.expression(lambda x: np.pad(x, 1, "linear_ramp"), "x: vector(n)")
