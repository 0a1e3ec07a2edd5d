"""Calls by name and with `out=`: results and errors equal those of plain calls, by machine code and by Python."""

import itertools

import numpy as np
import pytest

import matcalc as mc

LET = "X: matrix(m, n); y: vector(m); w: vector(n)"
RNG = np.random.default_rng(2)
X, Y, W = RNG.standard_normal((5, 3)), RNG.standard_normal(5), RNG.standard_normal(3)


@pytest.fixture(scope="module", params=["numba", "numpy"])
def both(request):
    return mc.value_and_gradient("norm2(X*w - y)^2", "w", LET, target=request.param)


def by_hand(X, y, w):
    return np.sum((X @ w - y) ** 2), 2 * X.T @ (X @ w - y)


def test_every_way_to_give_arguments(both):
    want = by_hand(X, Y, W)
    given = {"X": X, "y": Y, "w": W}
    for names in itertools.permutations(given):
        for found in (both(**{n: given[n] for n in names}), both({n: given[n] for n in names})):
            np.testing.assert_allclose(found[0], want[0], rtol=1e-13)
            np.testing.assert_allclose(found[1], want[1], rtol=1e-12)
    place = np.empty(3)
    for found in (both(X, Y, W, out=(None, place)), both(w=W, X=X, y=Y, out=(None, place)),
                  both({"w": W, "X": X, "y": Y}, out=(None, place))):  # fmt: skip
        assert found[1] is place
        np.testing.assert_allclose(found[0], want[0], rtol=1e-13)
        np.testing.assert_allclose(place, want[1], rtol=1e-12)


def test_results_that_are_no_exact_arrays_are_filled_too(both):
    want = by_hand(X, Y, W)[1]
    whole = np.zeros((3, 2))
    for place in (whole[:, 0], np.zeros(6)[::2], np.zeros(3)[::-1]):
        assert both(X, Y, W, out=(None, place))[1] is place
        np.testing.assert_allclose(place, want, rtol=1e-12)
    assert np.all(whole[:, 1] == 0)


def test_results_may_share_memory_with_arguments(both):
    want = by_hand(X, Y, W)[1]
    w = W.copy()
    both(X, Y, w, out=(None, w))
    np.testing.assert_allclose(w, want, rtol=1e-12)
    memory = np.concatenate([W, np.zeros(2)])
    both(X, Y, memory[:3], out=(None, memory[2:]))
    np.testing.assert_allclose(memory[2:], want, rtol=1e-12)
    block = np.concatenate([X.ravel(), np.zeros(3)])
    both(block[:15].reshape(5, 3), Y, W, out=(None, np.frombuffer(block.data, offset=8 * 13, count=3)))
    np.testing.assert_allclose(block[13:16], want, rtol=1e-12)


def test_results_of_another_kind_are_refused_and_left_alone(both):
    for place, message in (
        (np.full(4, 7.0), "takes a float64 array"),
        (np.full(3, 7.0, np.float32), "takes a float64 array"),
        (np.full((3, 1), 7.0), "takes a float64 array"),
        ([7.0] * 3, "takes an array"),
        (None, "takes an array"),
        (np.ma.masked_array(np.full(3, 7.0)), "without a mask"),
        (np.broadcast_to(np.full(1, 7.0), 3), "read-only"),
    ):
        with pytest.raises(ValueError, match=message):
            both(X, Y, W, out=(None, place))
        assert place is None or np.all(np.array(place) == 7.0)
    with pytest.raises(ValueError, match="is a scalar"):
        both(X, Y, W, out=(np.empty(1), np.empty(3)))
    with pytest.raises(ValueError, match="nesting"):
        both(X, Y, W, out=np.empty(3))


@pytest.mark.parametrize("target", [pytest.param("numba", marks=pytest.mark.whole), "numpy"])
def test_faults_are_raised_with_out_too(target):
    fn = mc.compile("inv(A)*b", declarations="A: matrix(n, n); b: vector(n)", target=target)
    A, b = np.zeros((2, 2)), np.ones(2)
    for args, names in (((A, b), {}), ((), {"b": b, "A": A})):
        for more in ({}, {"out": np.empty(2)}):
            with pytest.raises(np.linalg.LinAlgError, match="singular"):
                fn(*args, **names, **more)
    with pytest.raises(mc.ShapeError):
        fn(np.zeros((2, 2)), np.ones(3), out=np.empty(2))
    labels = mc.compile("{t: x[k[t]]}", declarations="x: vector(n); k: index(m)", target=target)
    with pytest.raises(ValueError, match="outside"):
        labels([1.0, 2.0], np.array([0, 2]), out=np.empty(2))


@pytest.mark.parametrize("target", [pytest.param("numba", marks=pytest.mark.whole), "numpy"])
def test_several_results_share_no_memory(target):
    fn = mc.compile(["2*x", "3*x"], declarations="x: vector(n)", target=target)
    place = np.empty(5)
    with pytest.raises(ValueError, match="overlap"):
        fn(np.ones(3), out=[place[:3], place[2:]])
    found = fn(np.ones(2), out=[place[:2], place[2:4]])
    assert [list(f) for f in found] == [[2.0, 2.0], [3.0, 3.0]]
    assert place[:4].tolist() == [2.0, 2.0, 3.0, 3.0]
