"""Results in float32 are those of float64 rounded once: with `out=`, in pickles and batches, on every target."""

import pickle

import numpy as np
import pytest

import matcalc as mc

FORMULA, LET = "sum(softplus(-y.*(X*w))) + w'*w", "X: matrix(m, n); y: vector(m); w: vector(n)"
RNG = np.random.default_rng(3)
X, Y, W = (RNG.standard_normal(s).astype(np.float32) for s in ((6, 3), 6, 3))


def by_hand(X, y, w):
    X, y, w = (np.float64(a) for a in (X, y, w))
    z = -y * (X @ w)
    return np.logaddexp(0, z).sum() + w @ w, X.T @ (-y / (1 + np.exp(-z))) + 2 * w


@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype("f4")])
@pytest.mark.sampled(3)
def test_results_are_rounded_once(target, dtype):
    fn = mc.value_and_gradient(FORMULA, "w", LET, target=target, dtype=dtype)
    value, slope = by_hand(X, Y, W)
    for made in (fn, pickle.loads(pickle.dumps(fn))):
        for arrays in ((X, Y, W), [a.astype(np.float64) for a in (X, Y, W)]):
            got = made(*arrays)
            assert (type(got[0]), got[1].dtype) == (float, np.float32)
            np.testing.assert_allclose(got[0], value, rtol=1e-14)
            np.testing.assert_allclose(got[1], slope, rtol=1e-7)


def test_out_takes_arrays_of_that_type_alone():
    fn = mc.compile(mc.gradient(FORMULA, "w", declarations=LET), target="numpy", dtype="float32")
    place = np.empty(3, np.float32)
    assert fn(X, Y, W, out=place) is place
    np.testing.assert_allclose(place, by_hand(X, Y, W)[1], rtol=1e-7)
    with pytest.raises(ValueError, match="takes a float32 array"):
        fn(X, Y, W, out=np.empty(3))


def test_what_float32_does_not_hold_is_infinite():
    fn = mc.compile("a*x", declarations="a: scalar; x: vector(n)", target="numpy", dtype="float32")
    assert fn(1e200, [1.0, -1e-180, 0.0]).tolist() == [np.inf, -np.inf, 0.0][:1] + [np.float32(-1e20), 0.0]


def test_other_types_are_refused_by_name():
    for dtype in ("float16", "int64", None, int, "complex128"):
        with pytest.raises(mc.NotSupported, match="dtype is one of float64, float32, not"):
            mc.compile(FORMULA, declarations=LET, target="numpy", dtype=dtype)
    with pytest.raises(mc.NotSupported, match="type of the arguments"):
        mc.compile(FORMULA, declarations=LET, target="torch", dtype="float32")


def test_a_file_computes_in_float64(tmp_path):
    fn = mc.compile(FORMULA, declarations=LET, target="numpy")
    fn.save(tmp_path / "f.py")
    fn = mc.compile("2*w", declarations="w: vector(n)", target="numpy", dtype="float32")
    with pytest.raises(mc.NotSupported, match="without dtype="):
        fn.save(tmp_path / "g.py")


def test_batches_keep_the_type():
    fn = mc.compile(mc.gradient(FORMULA, "w", declarations=LET), target="numpy", dtype="float32")
    rows = RNG.standard_normal((4, 3))
    got = mc.batch(fn, over="w")(X, Y, rows)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, [by_hand(X, Y, w)[1] for w in rows], rtol=1e-6)
