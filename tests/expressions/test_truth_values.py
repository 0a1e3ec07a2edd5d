"""Truth values in traced functions: masks of open sizes, writes by masks, and functions that move truth values."""

import numpy as np
import pytest

import matcalc as mc

X = np.random.default_rng(4).standard_normal((4, 3))
Y = X[::-1] * 0.7 + 0.1


def off_the_diagonal(X, Y):
    same = np.eye(len(X), dtype=bool)
    squared = ((X[:, None] - X[None]) ** 2).sum(-1)
    return np.where(same, 0.0, np.sqrt(np.where(same, 1.0, squared))).sum() + (~same * squared).max()


def range_as_a_subscript(X, Y):
    K = np.exp(X @ Y.T)
    K[range(len(X)), range(len(X))] = 0.0
    return np.log(K.sum(axis=1)).sum()


def written_by_a_mask(X, Y):
    Z = X.copy()
    Z[X > Y] = 0.5
    Z[Y[:, 0] > 0] = Y[0]
    K = X @ X.T
    K[~np.tri(len(X), dtype=bool)] = -np.inf
    return (Z**2 * Y).sum() + np.log(np.exp(K).sum(axis=1)).sum()


def mask_that_is_moved(X, Y):
    mask = np.triu(np.ones((len(X), len(X)), dtype=bool), 1)
    both = np.concatenate([X > 0, Y > 0], axis=1)
    return np.where(mask | mask.T, X @ Y.T, 2.0).sum() + np.where(~both.reshape(-1), 3.0, both.ravel() * 2.0).sum()


def products_and_sums_of_masks(X, Y):
    inside = (X > -0.5) * (X < 0.5)
    either = (X > 0) + (Y > 0)
    return np.sum(inside * X**2) + np.sum(either * Y**2) + np.sum(~inside * Y)


LOSSES = [
    off_the_diagonal,
    range_as_a_subscript,
    written_by_a_mask,
    mask_that_is_moved,
    products_and_sums_of_masks,
]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("sizes", ["m, n", "4, 3"])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_value_and_gradient_are_those_of_the_function(loss, sizes):
    fn = mc.value_and_gradient(loss, "X", f"X: matrix({sizes}); Y: matrix({sizes})", target="numpy")
    value, gradient = fn(X, Y)
    np.testing.assert_allclose(value, loss(X, Y), rtol=1e-12)
    for at in np.ndindex(*X.shape):
        step = np.zeros(X.shape)
        step[at] = 1e-6
        slope = (loss(X + step, Y) - loss(X - step, Y)) / 2e-6
        np.testing.assert_allclose(gradient[at], slope, rtol=1e-6, atol=1e-7)


def entries_of_a_mask(X):
    Z = X.copy()
    Z[X > 0] = X[0]
    return Z.sum()


def places_of_a_mask(X):
    return X[np.where(X > 0)].sum()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (entries_of_a_mask, "a mask that depends on a symbol"),
        (places_of_a_mask, "holds at an unknown number of places"),
    ],
)
def test_refused_with_what_to_write(function, message):
    with pytest.raises(mc.NotSupported, match=message):
        mc.expression(function, "X: matrix(m, n)")
