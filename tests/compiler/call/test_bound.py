"""Functions with fixed data: every choice of fixed arguments gives the results of the whole function."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse

import matcalc as mc

LET = "X: matrix(m, n); y: vector(m); w: vector(n); c: scalar"
RNG = np.random.default_rng(6)
DATA = {"X": RNG.standard_normal((5, 3)), "y": RNG.standard_normal(5), "w": RNG.standard_normal(3), "c": 0.7}


@pytest.fixture(scope="module")
def whole():
    return mc.value_and_gradient("norm2(X*w - y)^2 + c*w'*w", "w", LET, target="numpy")


@pytest.mark.whole
def test_every_choice_of_what_is_fixed(whole):
    X, y, w, c = DATA.values()
    value, slope = np.sum((X @ w - y) ** 2) + c * w @ w, 2 * X.T @ (X @ w - y) + 2 * c * w
    for count in range(5):
        for names in itertools.combinations(DATA, count):
            bound = whole.bind({n: DATA[n] for n in names})
            assert bound.args == tuple(n for n in whole.args if n not in names)
            rest = {n: DATA[n] for n in bound.args}
            for made in (bound(**rest), bound(*rest.values()), pickle.loads(pickle.dumps(bound))(rest)):
                np.testing.assert_allclose(made[0], value, rtol=1e-13)
                np.testing.assert_allclose(made[1], slope, rtol=1e-12)
    place = np.empty(3)
    assert whole.bind(X=X, y=y, c=c)(w, out=(None, place))[1] is place
    np.testing.assert_allclose(place, slope, rtol=1e-12)
    assert repr(whole.bind(X=X, y=y)) == "<compiled f(w, c) with X, y fixed>"
    assert whole.bind(X=X).plan == whole.plan


def test_data_are_converted_once_and_not_copied_where_they_fit(whole):
    X = DATA["X"].copy()
    bound = whole.bind(X=X, y=DATA["y"].tolist(), c=np.float32(0.5))
    assert bound.fixed["X"] is X
    before = bound(DATA["w"])[0]
    X *= 2
    assert bound(DATA["w"])[0] != before


def test_sizes_and_places_can_be_fixed():
    fn = mc.compile("eye(n)[:, :1]*a + x[k]", declarations="a: scalar; x: vector(p); k: index", target="numpy")
    bound = fn.bind(k=1, x=[3.0, 4.0], n=2)
    assert bound.args == ("a",)
    np.testing.assert_array_equal(np.ravel(bound(2.0)), np.ravel(np.eye(2)[:, :1] * 2 + 4))


def test_what_does_not_fit_is_named(whole):
    for given, error, message in (
        ({"Z": 1.0}, TypeError, "no argument Z"),
        ({"X": DATA["y"]}, mc.ShapeError, "2 axes"),
        ({"c": "a"}, TypeError, "c"),
        ({"X": np.ones((2, 2), complex)}, TypeError, "complex"),
        (5, TypeError, "a dictionary by name"),
    ):
        with pytest.raises(error, match=message):
            whole.bind(given)
    with pytest.raises(TypeError, match="given X twice"):
        whole.bind({"X": DATA["X"]}, X=DATA["X"])
    bound = whole.bind(X=DATA["X"])
    with pytest.raises(TypeError, match="no argument X"):
        bound(X=DATA["X"], y=DATA["y"], w=DATA["w"], c=1.0)
    with pytest.raises(TypeError, match="lacks w, c"):
        bound(DATA["y"])
    with pytest.raises(mc.ShapeError, match="w: vector"):
        bound(DATA["y"], np.ones(2), 1.0)


def test_sparse_matrices_can_be_fixed():
    fn = mc.value_and_gradient("norm2(X*w - y)^2", "w", f"{LET.replace('n);', 'n) sparse;', 1)}", target="numpy")
    X, y, w = DATA["X"] * (DATA["X"] > 0), DATA["y"], DATA["w"]
    for form in ("csr", "csc", "coo"):
        value, slope = fn.bind(X=scipy.sparse.coo_array(X).asformat(form), y=y)(w)
        np.testing.assert_allclose(value, np.sum((X @ w - y) ** 2), rtol=1e-13)
        np.testing.assert_allclose(slope, 2 * X.T @ (X @ w - y), rtol=1e-12)
    with pytest.raises(mc.ShapeError, match="2 axes"):
        fn.bind(X=scipy.sparse.coo_array(np.ones(3)))
