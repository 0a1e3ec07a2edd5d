"""Calls from Python to machine code: exact and other arguments in every kind of call, without leaks."""

import contextlib
import copy
import ctypes
import gc
import itertools
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest

import matcalc as mc
from matcalc.compiler.call import compiled
from matcalc.compiler.kernels.modules import load_text

LET = "X: matrix(m, n); y: vector(m); w: vector(n)"
RNG = np.random.default_rng(4)
X, Y, W = RNG.standard_normal((5, 3)), RNG.standard_normal(5), RNG.standard_normal(3)


def by_hand(X, y, w):
    return np.sum((X @ w - y) ** 2), 2 * X.T @ (X @ w - y)


def made():
    return mc.value_and_gradient("norm2(X*w - y)^2", "w", LET)


@pytest.fixture(scope="module", params=["machine code", pytest.param("Python", marks=pytest.mark.whole)])
def fn(request):
    """Return the function, called by machine code, or by Python as on another interpreter."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "Python":
            patch.setattr(compiled, "CALLED", None)
        return made()


def agrees(found, X=X, y=Y, w=W):
    want = by_hand(np.asarray(X, float), np.asarray(y, float), np.asarray(w, float))
    assert type(found) is tuple and type(found[0]) is float and type(found[1]) is np.ndarray
    np.testing.assert_allclose(found[0], want[0], rtol=1e-12)
    np.testing.assert_allclose(found[1], want[1], rtol=1e-12, atol=1e-12)
    assert found[1].flags.c_contiguous and found[1].flags.owndata and found[1].flags.writeable
    assert found[1].base is None and found[1].dtype == np.float64


class Derived(np.ndarray):
    """A subclass of ndarray."""


def frozen(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def misaligned(array):
    place = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    place[...] = array
    return place


FORMS = {
    "list": np.ndarray.tolist, "float32": lambda a: a.astype(np.float32), "ints": lambda a: (9 * a).astype(int),
    "by columns": np.asfortranarray, "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "backwards": lambda a: a[::-1].copy()[::-1], "read-only": frozen, "derived": lambda a: a.view(Derived),
    "other bytes": lambda a: a.astype(">f8"), "misaligned": misaligned, "objects": lambda a: a.astype(object),
    "bools": lambda a: a > 0,
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_data_gives_the_same(fn, form):
    given = [FORMS[form](X), FORMS[form](Y), FORMS[form](W)]
    for which in itertools.product([0, 1], repeat=3):
        values = [given[k] if chosen else (X, Y, W)[k] for k, chosen in enumerate(which)]
        agrees(fn(*values), *values)
        names = dict(zip("Xyw", values, strict=True))
        agrees(fn(**names), *values)
        agrees(fn.bind(X=values[0], y=values[1])(values[2]), *values)


def test_sizes_that_do_not_fit_are_named(fn):
    for values, name in (((X, Y[:4], W), "y"), ((X, Y, W[:2]), "w"), ((X[:, :2], Y, W), "w"), ((X, Y, X), "w")):
        with pytest.raises(mc.ShapeError, match=f"^{name}: "):
            fn(*values)
        with pytest.raises(mc.ShapeError, match=f"^{name}: "):
            fn(*values, out=(None, np.empty(3)))
    for shape in ((0, 3), (5, 0), (0, 0), (1, 1)):
        values = np.ones(shape), np.ones(shape[0]), np.ones(shape[1])
        agrees(fn(*values), *values)
    with pytest.raises(mc.ShapeError):
        fn(np.empty((0, 2**59)), np.empty(0), np.empty(3))


@pytest.mark.parametrize("call", [
    lambda f: f(X, Y), lambda f: f(X, Y, W, W), lambda f: f(), lambda f: f(X, Y, W, w=W), lambda f: f(X, Y, W, z=1),
    lambda f: f(X=X, y=Y), lambda f: f(X, Y, W, **{"out ": None}),
    lambda f: f.bind(X=X)(Y, W, W), lambda f: f.bind(X=X)(Y, W, X=X), lambda f: f.bind(X=X, y=Y)(),
])  # fmt: skip
def test_what_is_no_call_is_a_type_error_of_python(fn, call):
    with pytest.raises(TypeError, match=r"f\(|takes"):
        call(fn)
    agrees(fn(X, Y, W))


def test_results_are_written_where_they_are_wanted(fn):
    place = np.full(3, np.nan)
    for way in (lambda **o: fn(X, Y, W, **o), lambda **o: fn.bind(X=X)(Y, W, **o), lambda **o: fn(w=W, **o, X=X, y=Y)):
        assert way(out=(None, place))[1] is place
        np.testing.assert_allclose(place, by_hand(X, Y, W)[1], rtol=1e-12)
        place[:] = np.nan
        assert way(out=[None, place])[1] is place
        np.testing.assert_allclose(place, by_hand(X, Y, W)[1], rtol=1e-12)
        place[:] = np.nan
    agrees(fn(X, Y, W, out=None))
    for wrong in (
        frozen(place),
        place[:2],
        np.empty((3, 1)),
        place.astype(np.float32),
        place.view(Derived)[:1],
        3,
        "a",
    ):
        with pytest.raises(ValueError, match="out"):
            fn(X, Y, W, out=(None, wrong))
    for wrong in ((place, None), (None,), (None, place, place), place):
        with pytest.raises(ValueError, match="out"):
            fn(X, Y, W, out=wrong)
    w = W.copy()
    np.testing.assert_allclose(fn(X, Y, w, out=(None, w))[1], by_hand(X, Y, W)[1], rtol=1e-12)
    both = mc.compile(["x + a", "x - a"], declarations="x: vector(n); a: vector(n)")
    memory = np.zeros(4)
    with pytest.raises(ValueError, match="overlap"):
        both(W, W, out=(memory[:3], memory[1:]))


def test_results_are_new_each_time(fn):
    found = [fn(X, Y, W)[1] for _ in range(3)]
    assert len({array.ctypes.data for array in found}) == 3
    bound_one = fn.bind(X=X, y=Y)
    assert not np.shares_memory(bound_one(W)[1], bound_one(W)[1])


def test_without_a_call_slot_python_takes_the_call(monkeypatch):
    monkeypatch.setattr(compiled, "CALLED", None)
    fn, place = made(), np.empty(3)
    assert type(fn) is compiled.Compiled
    for found in (fn(X, Y, W), fn(w=W, X=X, y=Y), fn.bind(X=X, y=Y)(W), fn(X.tolist(), Y, W)):
        agrees(found)
    assert fn(X, Y, W, out=(None, place))[1] is place


def test_the_object_is_as_any_other(fn):
    fn.own = 3
    assert (fn.own, repr(fn), isinstance(fn, compiled.Compiled)) == (3, "<compiled f(X, y, w)>", True)
    for again in (pickle.loads(pickle.dumps(fn)), copy.copy(fn), copy.deepcopy(fn)):
        agrees(again(X, Y, W))
    some = fn.bind(X=X)
    for again in (pickle.loads(pickle.dumps(some)), copy.copy(some)):
        agrees(again(Y, W))

    class Mine(compiled.Compiled):
        def __call__(self, *args):
            return "mine"

    assert Mine(fn.spec)(X) == "mine"
    half = object.__new__(type(fn))
    with pytest.raises((TypeError, AttributeError)):
        half(X, Y, W)


def test_what_machine_code_cannot_take_is_a_type_error():
    run = made()._into
    place = np.empty(1), np.empty(3)
    assert run(X, Y, W, *place) == 0
    assert place[0] == pytest.approx(by_hand(X, Y, W)[0])
    for given in ((X, Y, W), (X, Y, W, *place, 1), (X.T, Y, W, *place), (X, Y, W, place[0], frozen(place[1])), (3.0,)):
        with pytest.raises(TypeError):
            run(*given)
    with pytest.raises(TypeError):
        run(X, Y, W, *place[:1], gradient=place[1])
    with pytest.raises(TypeError):
        run(5)
    with pytest.raises(TypeError):
        made().module.f_into(X, Y, W, *place)


@pytest.mark.whole
def test_what_a_rule_of_a_user_raises_in_machine_code_arrives():
    text = """
import numpy as np
from numba import types
from matcalc.compiler.entry.exact import exact
from matcalc.compiler.numba.jit import njit

@njit(types.int64(types.Array(types.float64, 1, "C", readonly=True)))
def picky(x):
    if x[0] > 0.0:
        raise ValueError("above zero")
    if x[0] < 0.0:
        return np.linalg.inv(np.zeros((2, 2))).size
    return 5

run = exact(picky)
"""
    loaded = load_text(text, "picky", stays=False)
    run = loaded.module.run
    assert run(np.zeros(1)) == 5
    with pytest.raises(ValueError, match="above zero"):
        run(np.ones(1))
    with pytest.raises(np.linalg.LinAlgError):
        run(-np.ones(1))


@pytest.mark.whole
def test_functions_go_with_their_last_holder():
    fn = mc.compile("3.25*sum(x.^2)", declarations="x: vector(n)")
    some = fn.bind(x=W)
    seen = weakref.ref(fn), weakref.ref(some)
    del fn
    gc.collect()
    assert some() == pytest.approx(3.25 * W @ W)
    del some
    gc.collect()
    assert [r() for r in seen] == [None, None]


@pytest.mark.whole
def test_nothing_is_leaked(fn, request):
    place, some = np.empty(3), fn.bind(X=X, y=Y)
    bad = mc.compile("inv(A)", declarations="A: matrix(n, n)")
    zero, wrong = np.zeros((2, 2)), np.empty(7)
    ways = [
        lambda: fn(X, Y, W), lambda: fn(y=Y, X=X, w=W), lambda: fn(X, Y, W, out=(None, place)), lambda: some(W),
        lambda: some(W, out=(None, place)), lambda: bad(zero), lambda: fn(X, Y, wrong),
        lambda: fn(X, Y, W, out=(None, wrong)),
        lambda: bad(zero, out=zero), lambda: fn(X, Y, z=W),
    ]  # fmt: skip

    def run(way, rounds):
        for _ in range(rounds):
            with contextlib.suppress(np.linalg.LinAlgError, ValueError, TypeError):
                way()

    held = [X, Y, W, place, zero, wrong, fn]
    gc.freeze()  # so that each collection is quick
    request.addfinalizer(gc.unfreeze)
    for way in ways:
        run(way, 20)
        before = [sys.getrefcount(thing) for thing in held]
        grown = []
        for _ in range(3):  # the interpreter fills its own caches now and then; a real leak shows in each round
            gc.collect()
            blocks = sys.getallocatedblocks()
            run(way, 200)
            gc.collect()
            grown.append(sys.getallocatedblocks() - blocks)
        assert min(grown) < 100, ways.index(way)
        assert np.all(np.abs(np.subtract([sys.getrefcount(thing) for thing in held], before)) < 20)


def test_the_type_of_results_is_counted():
    fn, kind, place = made(), np.dtype(float), np.empty(3)
    some = fn.bind(X=X, y=Y)
    for way in (lambda: fn(X, Y, W), lambda: fn(X, Y, W, out=(None, place)), lambda: some(W)):
        before = sys.getrefcount(kind)
        for _ in range(200):
            way()
        assert compiled.CALLED is None or abs(sys.getrefcount(kind) - before) < 20


def test_other_threads_run_meanwhile(fn):
    big = RNG.standard_normal((400, 300)), RNG.standard_normal(400), RNG.standard_normal(300)
    found = []

    def work():
        found.extend(fn(*big) for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 80
    for one in found:
        np.testing.assert_allclose(one[1], by_hand(*big)[1], rtol=1e-9)


def test_machine_code_is_what_is_called():
    assert (type(made()) is compiled.CALLED) == (compiled.CALLED is not None)
    flag = 1 << 11
    assert compiled.CALLED is None or compiled.CALLED.__flags__ & flag
    assert ctypes.sizeof(ctypes.c_void_p) == 8 or compiled.CALLED is None


@pytest.mark.sampled(4)
@pytest.mark.parametrize("count", [4, 100, 100_000, 2_000_000])
def test_any_number_of_arguments(fn, count):
    with pytest.raises(TypeError, match=f"takes 3 arguments, not {count}"):
        fn(*np.ones(count))
    with pytest.raises(TypeError, match="has no argument"):
        fn(X, **{f"a{k}": 1.0 for k in range(min(count, 100_000))})


def test_many_arguments_in_a_thread_with_a_small_stack(fn):
    told = []

    def call():
        try:
            fn(*np.ones(100_000))
        except TypeError as error:
            told.append(str(error))

    before = threading.stack_size(64 * 1024)
    try:
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert len(told) == 1 and "not 100000" in told[0]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", ["numba", "numpy"])
@pytest.mark.parametrize("place", ["array", "list", "keyword", "bound"])
def test_an_array_whose_conversion_calls_the_function_again(target, place):
    function = mc.value_and_gradient("norm2(X*w - y)^2", "w", LET, target=target)
    calls = []

    class Again:
        def __array__(self, *_, **__):
            calls.append(self)
            return call(self)

    def call(value):
        if place == "keyword":
            return function(X=value, y=Y, w=W)[1]
        if place == "bound":
            return function.bind(X=value)(Y, W)[1]
        return function([value] if place == "list" else value, Y, W)[1]

    with pytest.raises((RecursionError, TypeError, ValueError)):
        call(Again())
    assert len(calls) < 2000
