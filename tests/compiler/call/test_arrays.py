"""Arrays of every type, byte order, alignment and layout, at every position and for every kind of call."""

import importlib.util
import itertools
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import matcalc as mc

DECLARED = "A: matrix(n, n); x: vector(n); s: scalar"
A, X, S = np.array([[1.0, 2, 3], [0, 1, 2], [2, 1, 1]]), np.array([1.0, 2, 1]), 2.0
TYPES = ("f2", "f4", "f8", "g", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "O")


def reference(A, x, s):
    e = np.exp(A @ x / 4)
    return s * x @ A @ x + e.sum(), s * (A + A.T) @ x + A.T @ e / 4


def misaligned(a):
    memory = np.zeros(a.nbytes + 1, np.uint8)
    made = memory[1:].view(a.dtype).reshape(a.shape)
    made[...] = a
    return made


def read_only(a):
    a.flags.writeable = False
    return a


LAYOUTS = {
    "plain": np.copy,
    "read-only": lambda a: read_only(a.copy()),
    "fortran": lambda a: np.asfortranarray(a) + np.zeros(1, a.dtype),
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "reversed": lambda a: a[::-1].copy()[::-1],
    "misaligned": misaligned,
    "misaligned read-only": lambda a: read_only(misaligned(a)),
    "misaligned strided": lambda a: misaligned(np.repeat(a, 2, axis=-1))[..., ::2],
    "broadcast": lambda a: np.broadcast_to(a, (2, *a.shape))[1],
    "memmap": lambda a: a.copy().view(np.memmap),
}


def saved(fn, path):
    fn.save(path)
    spec = importlib.util.spec_from_file_location("saved_arrays", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


@pytest.fixture(scope="module")
def ways(tmp_path_factory):
    """Return the kinds of calls that convert their arguments: compiled, plain, saved, in two passes."""
    text = "s*x'*A*x + sum(exp(A*x/4))"
    fns = {t: mc.value_and_gradient(text, "x", declarations=DECLARED, target=t) for t in ("numba", "numpy")}
    file = saved(fns["numba"], tmp_path_factory.mktemp("saved") / "saved.py")
    passes = mc.pullback(text, "x", declarations=DECLARED, target="numpy")
    value, gradient = mc.expression(text, DECLARED), mc.gradient(text, "x", declarations=DECLARED)

    def in_two(A, x, s):
        found, kept = passes.forward(A, x, s)
        return found, passes.backward(kept, 1.0)

    return {
        **fns,
        "saved": file,
        "saved, plain": lambda *args: file(*args, jit=False),
        "passes": in_two,
        "plain": lambda A, x, s: (value(A=A, x=x, s=s), gradient(A=A, x=x, s=s)),
    }


@pytest.mark.thinned(2)
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("way", ["numba", "numpy", "saved", "saved, plain", "passes", "plain"])
@pytest.mark.sampled(120)
def test_arrays_of_every_kind(way, kind, order, ways):
    """Exact arrays are passed before and after each unusual one: nothing learnt of one may affect the other."""
    kinds = np.dtype(kind).newbyteorder(order)
    for (name, layout), position in itertools.product(LAYOUTS.items(), (0, 1)):
        if kind == "O" and "misaligned" in name:
            continue  # object arrays cannot be misaligned
        args = [A, X, S]
        args[position] = layout(args[position].astype(kinds))
        plain = [np.ascontiguousarray(args[0], float), np.ascontiguousarray(args[1], float), S]
        for given, wanted in ((args, plain), ((A, X, S), (A, X, S))):
            for got, want in zip(ways[way](*given), reference(*wanted), strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-12, err_msg=name)


SCALARS = (2, 2.0, True, np.float16(2), np.float32(2), np.longdouble(2), np.int8(2), np.uint64(2), np.bool_(True),
           np.array(2.0), np.array(2, ">i4"), np.array(2.0, ">f8"), Decimal(2), Fraction(2), 2**70)  # fmt: skip


@pytest.mark.whole
@pytest.mark.parametrize("way", ["numba", "numpy", "saved", "saved, plain", "passes", "plain"])
def test_numbers_of_every_kind(way, ways):
    for s in SCALARS:
        for got, want in zip(ways[way](A, X, s), reference(A, X, float(s)), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12, err_msg=repr(s))


class Hiding:
    """An object whose `__array__` returns a masked array."""

    shape = (3,)

    def __array__(self, dtype=None, copy=None):
        return np.ma.array(X, mask=[1, 0, 0])


NO_ARRAYS = {
    "masked": np.ma.array(X, mask=[0, 1, 0]),
    "masked by nothing": np.ma.array(X),
    "a masked entry": [np.ma.masked, 1.0, 2.0],
    "masked numbers": [np.ma.array(1.0, mask=True), 1.0, 1.0],
    "hidden mask": Hiding(),
    "text": np.array(["1", "2", "3"]),
    "text in a list": ["1", "2", "3"],
    "text among objects": np.array(["1", 2, 3], object),
    "bytes": np.array([b"1", b"2", b"3"]),
    "dates": np.zeros(3, "M8[s]"),
    "times": np.zeros(3, "m8[s]"),
    "records": np.zeros(3, [("a", float)]),
    "nothing": [None, 1.0, 2.0],
    "too large": [10**400, 1, 1],
}
NO_REALS = {
    "complex": X * 1j,
    "complex64": (X * 1j).astype("c8"),
    "complex objects": np.array([np.complex64(1j), 1, 1], object),
}


@pytest.mark.parametrize("way", ["numba", "numpy", "saved", "saved, plain", "passes", "plain"])
@pytest.mark.sampled(6)
def test_what_holds_no_numbers_is_refused(way, ways):
    bad = NO_ARRAYS if way == "plain" else {**NO_ARRAYS, **NO_REALS}
    for array in bad.values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's warning of a masked entry that becomes NaN
            with pytest.raises((TypeError, OverflowError)):
                ways[way](A, array, S)
    for array in (1.0, None, np.ones((1, 3)), np.array(1.0), "123", {"a": 1}):
        with pytest.raises((TypeError, ValueError)):
            ways[way](A, array, S)
    for number in ("2", None, np.array([2.0]), np.ma.masked, np.timedelta64(2, "s"), 10**400):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            ways[way](A, X, number)
    np.testing.assert_allclose(ways[way](A, X, S)[0], reference(A, X, S)[0])


def test_masks_of_cotangents_and_constants():
    passes = mc.pullback("A*x", "x", declarations="A: matrix(n, n); x: vector(n)", target="numpy")
    _, kept = passes.forward(A, X)
    np.testing.assert_allclose(passes.backward(kept, X.astype(">f4")), A.T @ X)
    for batch in ((0,), (2, 0), (2,)):
        assert passes.backward(kept, np.ones((*batch, 3))).shape == (*batch, 3)
    for bad in (*NO_ARRAYS.values(), *NO_REALS.values()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(TypeError):
                passes.backward(kept, bad)
    with pytest.raises(mc.NotSupported, match="with a mask"):
        mc.expression("x", "x: vector(n)") + NO_ARRAYS["masked"]


@pytest.mark.whole
def test_njit_twins_refuse_what_numba_misreads(ways):
    fn = ways["numba"]
    value, slope = np.empty(1), np.empty(3)
    bad = {**{n: f(X) for n, f in LAYOUTS.items() if "misaligned" in n}, "swapped": X.astype(">f8")}
    bad["swapped read-only"] = read_only(X.astype(">f8"))
    bad["masked"] = NO_ARRAYS["masked"]
    for array in bad.values():
        assert fn.numba_into(A, read_only(X.copy()), S, value, slope) == 0
        for call in (lambda a: fn.numba_into(A, a, S, value, slope), lambda a: fn.numba(A, a, S)):
            with pytest.raises(TypeError, match="argument 2 is "):
                call(array)
        with pytest.raises(TypeError, match="argument 5 is "):
            fn.numba_into(A, X, S, value, array)
    np.testing.assert_allclose(fn.numba(np.asfortranarray(A), X[::-1][::-1], S)[1], reference(A, X, S)[1])


@pytest.mark.whole
def test_results_of_a_twin_that_share_memory_have_a_status(ways):
    fn = ways["numba"]
    fault = 1 + fn.faults.index("a result shares memory with another array")
    x, memory, value = X.copy(), np.empty(6), np.empty(1)
    assert fn.numba_into(A, x, S, value, x) == fault
    assert fn.numba_into(A, x, S, memory[2:3], memory[:3]) == fault
    assert fn.numba_into(A.copy(), x, S, memory[3:4], memory[:3]) == 0
    np.testing.assert_array_equal(x, X)


@pytest.fixture(scope="module")
def sums():
    text = ["x + y", "x - y", "x*y'"]
    return {t: mc.compile(text, declarations="x: vector(n); y: vector(n)", target=t) for t in ("numba", "numpy")}


def outer(x, y):
    return x + y, x - y, np.outer(x, y)


def strided(a, shape, strides):
    return np.lib.stride_tricks.as_strided(a, shape, strides)


@pytest.mark.parametrize("target", ["numba", "numpy"])
def test_results_that_overlap_are_refused(target, sums):
    x, y = np.arange(4.0), np.arange(4.0) ** 2
    v, M = np.empty(8), np.empty((4, 4))
    for out, words in (
        ((v[:4], v[3:7], M), "result1 and result2 have arrays that overlap"),
        ((v[:4], v[:4], M), "result1 and result2 have arrays that overlap"),
        ((v[:4], M[:, 2], M), "result2 and result3 have arrays that overlap"),
        ((v[::2], v[2:6], M), "result1 and result2 have arrays that overlap"),
        ((strided(v, (4,), (0,)), v[4:], M), "entries of the array for result1 share memory"),
        ((strided(v, (4,), (4,)), v[4:], M), "entries of the array for result1 share memory"),
        ((v[:4], v[4:], strided(np.empty(7), (4, 4), (8, 8))), "entries of the array for result3"),
        ((np.ma.zeros(4), v[4:], M), "result1 takes an array without a mask"),
        ((v[:4].astype(">f8"), v[4:], M), "takes a float64 array"),
    ):
        with pytest.raises(ValueError, match=words):
            sums[target](x, y, out=out)


@pytest.mark.parametrize("target", ["numba", "numpy"])
def test_results_that_only_lie_among_each_other(target, sums):
    x, y = np.arange(4.0), np.arange(4.0) ** 2
    v, M = np.empty(8), np.empty((4, 8))
    for out in (
        (v[::2], v[1::2], M[:, :4].T),
        (misaligned(np.empty(4)), v[:4][::-1], np.asfortranarray(M[:, :4])),
        (M[0, :4], v[4:], M[:, 4:]),
        (strided(np.empty(40), (4,), (24,)), v[:4], strided(np.empty(64), (4, 4), (40, 8))[::-1]),
    ):
        got = sums[target](x, y, out=out)
        for array, place, want in zip(got, out, outer(x, y), strict=True):
            assert array is place
            np.testing.assert_array_equal(array, want)


@pytest.mark.parametrize("target", ["numba", "numpy"])
def test_results_in_place_of_arguments(target, sums):
    for place in (lambda x, y: (y, x), lambda x, y: (x[::-1], y), lambda x, y: (x, y[::-1])):
        x, y = np.arange(4.0), np.arange(4.0) ** 2
        want = outer(x.copy(), y.copy())
        for array, wanted in zip(sums[target](x, y, out=(*place(x, y), np.empty((4, 4)))), want, strict=True):
            np.testing.assert_array_equal(array, wanted)
    z, y = np.arange(5.0), np.ones(4)
    want = outer(z[:4].copy(), y)
    got = sums[target](z[:4], y, out=(z[1:], np.empty(4), np.empty((4, 4))))
    np.testing.assert_array_equal(got[0], want[0])


def test_nothing_overlaps_in_no_entries(sums):
    x, v = np.ones(0), np.empty(0)
    assert sums["numba"](x, x, out=(v, v, np.empty((0, 0))))[0] is v
