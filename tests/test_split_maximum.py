"""Maxima that separate over rows: ties, entries that are not finite, and what is refused."""

import numpy as np
import pytest
from split_data import CUTS, DATA, LET, ROWS

import matcalc as mc


def tied_rows():
    """Return whole numbers, so that rows tie, within blocks and across them."""
    rng = np.random.default_rng(1)
    return {"X": rng.integers(-1, 2, (ROWS, 3)).astype(float), "w": np.array([1.0, 2.0, -1.0])}


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.sampled(2)
def test_ties_share_the_gradient_of_a_maximum(cuts):
    X, w = tied_rows().values()
    X[[0, 4, 5, 11]] = [[1, 1, -1], [1, 1, 0], [1, 1, -1], [1, 1, -1]]
    s = mc.split("max(X*w)", "m", wrt="w", declarations=LET)
    top = X @ w == np.max(X @ w)
    assert np.sum(top) > 2
    value, gradient = s.over([{"X": X[a:b]} for a, b in zip(cuts, cuts[1:], strict=False)], w=w)
    assert value == np.max(X @ w)
    assert np.allclose(gradient, np.mean(X[top], axis=0), rtol=1e-15)


@pytest.mark.parametrize("entry", [np.nan, np.inf, -np.inf])
def test_the_gradient_of_a_maximum_that_is_not_finite(entry):
    X, w = tied_rows().values()
    X[7, 0] = entry
    s = mc.split("max(X*w)", "m", wrt="w", declarations=LET)
    value, gradient = s.over([{"X": X[:5]}, {"X": X[5:8]}, {"X": X[8:]}], w=w)
    assert np.array_equal(value, np.max(X @ w), equal_nan=True)
    top = X @ w == np.max(X @ w)
    want = np.full(3, np.nan) if np.isnan(entry) else np.mean(X[top], axis=0)
    assert np.allclose(gradient, want, equal_nan=True)


def test_rows_of_a_maximum_are_not_drawn():
    s = mc.split("max(X*w)", "m", wrt="w", declarations=LET)
    with pytest.raises(mc.NotSupported, match="rows cannot be drawn"):
        s.scaled(s.partial(X=DATA["X"], w=DATA["w"]), 2.0)


@pytest.mark.whole
def test_rows_chosen_in_a_pass_and_weighed_in_the_next_are_refused():
    s = mc.split("max(sigmoid(X*w))*var(X*w)", "m", wrt="w", declarations=LET)
    with pytest.raises(mc.NotSupported, match="max_at does not separate"):
        s.over([{"X": DATA["X"]}], w=DATA["w"], v=DATA["w"], hvp=True)
