"""Calls with every kind of argument and mistake, `out=`, twins, threads, pickles; failing calls leak nothing."""

import ctypes
import importlib.util
import pickle
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from matcalc.compiler.call.compiled import Compiled
from matcalc.compiler.spec.spec import Operand
from matcalc.errors import NotSupported, ShapeError
from matcalc.tensor.sizes.size import Size

spec_of = importlib.util.spec_from_file_location("runtime_samples", Path(__file__).parents[1] / "samples.py")
samples = importlib.util.module_from_spec(spec_of)
sys.modules["runtime_samples"] = samples
spec_of.loader.exec_module(samples)


@pytest.fixture(scope="module")
def logreg():
    return Compiled(samples.LOGREG)


@pytest.fixture(scope="module")
def gauss():
    return Compiled(samples.GAUSS)


@pytest.fixture(scope="module")
def padded():
    return Compiled(samples.PADDED)


def data(m=7, n=3):
    rng = np.random.default_rng(0)
    return rng.standard_normal((m, n)), rng.standard_normal(n), np.sign(rng.standard_normal(m)), 0.3


def reference(X, w, y, lam):
    t = -y * (X @ w)
    return np.sum(np.logaddexp(0, t)) + lam * w @ w, 2 * lam * w - X.T @ (y / (1 + np.exp(-t)))


def same(got, want):
    assert isinstance(got, tuple) and type(got[0]) is float
    np.testing.assert_allclose(got[0], want[0], rtol=1e-12)
    np.testing.assert_allclose(got[1], want[1], rtol=1e-12, atol=1e-14)


class Capsule:
    """An array with only the DLPack interface."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Table:
    """An object with the NumPy interface of a DataFrame."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype=dtype)


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


FORMS = {
    "plain": lambda a: a,
    "list": lambda a: a.tolist(),
    "fortran": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, axis=0)[::2],
    "reversed": lambda a: a[::-1].copy()[::-1],
    "read-only": read_only,
    "dlpack": Capsule,
    "table": Table,
    "big-endian": lambda a: a.astype(">f8"),
}


@pytest.mark.parametrize("target", ["numba", "numpy"])
@pytest.mark.parametrize("form", FORMS)
def test_array_likes(form, target, logreg):
    fn = logreg if target == "numba" else Compiled(replace(samples.LOGREG, target="numpy"))
    X, w, y, lam = data()
    same(fn(FORMS[form](X), FORMS[form](w), FORMS[form](y), lam), reference(X, w, y, lam))


def test_other_types(logreg):
    X, w, y, lam = data()
    integers = np.round(3 * X).astype(np.int64)
    same(logreg(integers, w, y, lam), reference(integers, w, y, lam))
    single = X.astype(np.float32)
    same(logreg(single, w, y.astype(np.int8), np.float32(0.5)), reference(single, w, y, 0.5))
    for scalar in (2, True, np.float64(2.0), np.array(2.0), np.int64(2)):
        same(logreg(X, w, y, scalar), reference(X, w, y, float(scalar)))


def test_keywords_and_order(logreg):
    X, w, y, lam = data()
    want = reference(X, w, y, lam)
    assert logreg.args == ("X", "w", "y", "lam")
    same(logreg(X, lam=lam, y=y, w=w), want)
    same(logreg(X=X, lam=lam, y=y, w=w), want)
    for args, kwargs, word in (
        ((X, w, y), {}, "lacks lam"),
        ((X, w, y, lam, 1), {}, "takes 4 arguments, not 5"),
        ((X, w, y, lam), {"z": 1}, "no argument z"),
        ((X, w, y, lam), {"w": w}, "given w twice"),
    ):
        with pytest.raises(TypeError, match=word):
            logreg(*args, **kwargs)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (
            {"w": np.ones(4)},
            ShapeError,
            r"w: vector\(n\) must have shape \(3,\), not \(4,\) where n = 3 \(from X\)",
        ),
        ({"y": np.ones(6)}, ShapeError, r"y: vector\(m\) must have shape \(7,\), not \(6,\)"),
        (
            {"w": np.ones((3, 1))},
            ShapeError,
            r"w: vector\(n\) takes an array of 1 axes, not one of shape \(3, 1\)",
        ),
        ({"X": 3.0}, ShapeError, "X: matrix"),
        ({"lam": np.ones(1)}, ShapeError, r"lam: scalar takes a number, not an array of shape \(1,\)"),
        ({"w": np.ones(3) * 1j}, TypeError, "w: vector.n. takes real numbers, not complex"),
        ({"lam": 1j}, TypeError, "lam: scalar takes real numbers, not complex"),
        ({"w": ["a", "b", "c"]}, TypeError, "w: vector.n. takes real numbers"),
        ({"w": [None, 1, 2]}, TypeError, "w: vector.n. takes real numbers"),
        ({"w": [[1, 2], [3]]}, TypeError, "w: vector.n. cannot be read as an array"),
        ({"lam": None}, TypeError, "lam: scalar takes real numbers"),
        (
            {"w": np.ones(3, "M8[s]")},
            TypeError,
            "w: vector.n. takes real numbers, not entries of type datetime",
        ),
    ],
)
def test_mistakes(change, error, words, logreg):
    arguments = dict(zip(logreg.args, data(), strict=True)) | change
    for call in (lambda: logreg(*arguments.values()), lambda: logreg(**arguments)):
        with pytest.raises(error, match=words):
            call()


def test_sparse_is_named(logreg):
    from scipy import sparse

    X, w, y, lam = data()
    with pytest.raises(TypeError, match=r"X: matrix\(m, n\) takes a dense array: give X.toarray\(\)"):
        logreg(sparse.csr_array(X), w, y, lam)


def test_results_are_fresh_and_arguments_kept(logreg):
    X, w, y, lam = data()
    kept = [a.copy() for a in (X, w, y)]
    first = logreg(X, w, y, lam)[1]
    second = logreg(X, w, y, lam)[1]
    assert not np.shares_memory(first, second) and first.flags.owndata
    for array, copy in zip((X, w, y), kept, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_empty(logreg):
    assert logreg(np.ones((0, 3)), np.ones(3), np.ones(0), 2.0)[0] == 6.0
    assert logreg(np.ones((2, 0)), np.ones(0), np.ones(2), 2.0)[1].shape == (0,)


def test_out(logreg):
    X, w, y, lam = data()
    want = reference(X, w, y, lam)
    G = np.full(3, np.nan)
    got = logreg(X, w, y, lam, out=(None, G))
    assert got[1] is G
    same(got, want)
    kept = w.copy()
    got = logreg(X, w, y, lam, out=(None, w))  # overlaps an argument
    assert got[1] is w
    same(got, reference(X, kept, y, lam))
    strided = np.zeros(6)[::2]
    same(logreg(X, kept, y, lam, out=(None, strided)), want)
    for out, words in (
        (np.empty(3), "nesting"),
        ((None,), "nesting"),
        (
            (None, np.empty(4)),
            r"gradient_w takes a float64 array of shape \(3,\), not float64 of shape \(4,\)",
        ),
        ((None, np.empty(3, np.float32)), "not float32"),
        ((None, [1, 2, 3]), "not list"),
        ((None, read_only(w)), "read-only"),
        ((np.empty(1), G), "value is a scalar"),
    ):
        with pytest.raises(ValueError, match=words):
            logreg(X, kept, y, lam, out=out)


def test_sizes_that_are_polynomials(padded):
    y, T = np.arange(5.0), np.ones((3, 4))
    (Y,), Z = padded(y, 2.0, T, 2)
    assert Y.shape == (6,) and Z.shape == (2, 3)
    assert padded(**{"y": y, "lambda": 2.0, "T": T, "p": 2})[1].shape == (2, 3)
    with pytest.raises(ShapeError, match="makes n = 7/2; a size is an integer, 0 or more"):
        padded(np.ones(6), 2.0, T, 2)
    with pytest.raises(ShapeError, match=r"T: matrix\(n, m\) must have shape \(2, 4\)"):
        padded(np.ones(3), 2.0, T, 2)
    with pytest.raises(TypeError, match="the size p is an integer, not 2.5"):
        padded(y, 2.0, T, 2.5)
    with pytest.raises(ShapeError, match="the size p is -1"):
        padded(y, 2.0, T, -1)


def test_a_system_of_sizes():
    m, n = Size.of("m"), Size.of("n")
    spec = replace(
        samples.PADDED, name="system", arguments=(Operand("x", (m + n,)), Operand("y", (m - n,))), sizes=(),
        outputs=(Operand("z", (m,)),), nesting=0, source=samples.generated("""
def system_into(x, y, z):
    for i in range(z.shape[0]):
        z[i] = x[i]
    return 0
"""),
    )  # fmt: skip
    fn = Compiled(spec)
    np.testing.assert_array_equal(fn(np.arange(5.0), np.ones(1)), [0, 1, 2])
    with pytest.raises(ShapeError, match="a size is an integer"):
        fn(np.ones(4), np.ones(1))
    with pytest.raises(NotSupported, match="system of equations"):
        fn.numba  # noqa: B018


@pytest.mark.whole
@pytest.mark.parametrize("target", ["numba", "numpy"])
def test_faults_name_the_matrix(target):
    fn = Compiled(replace(samples.GAUSS, target=target))
    with pytest.raises(np.linalg.LinAlgError, match="^S is not positive definite$"):
        fn(-np.eye(3), np.eye(3))
    with pytest.raises(np.linalg.LinAlgError, match="^S is not positive definite$"):
        fn((-np.eye(3)).tolist(), np.eye(3))
    assert fn.faults[0] == "S is not positive definite"
    assert fn(2 * np.eye(3), np.eye(3))[0] == pytest.approx(3 * np.log(2) + 1.5)


@pytest.mark.whole
def test_twins_for_njit(logreg, gauss, padded):
    from numba import njit

    X, w, y, lam = data()
    compute, into = logreg.numba, logreg.numba_into

    @njit
    def descend(X, w, y, lam):
        for _ in range(5):
            _, g = compute(X, w, y, lam)
            w = w - 0.1 * g
        return w

    v = w.copy()
    for _ in range(5):
        v = v - 0.1 * reference(X, v, y, lam)[1]
    np.testing.assert_allclose(descend(X, w, y, lam), v, rtol=1e-12)
    np.testing.assert_allclose(descend(np.asfortranarray(X), w, y, lam), v, rtol=1e-12)
    with pytest.raises(ValueError, match="w has a shape that does not fit"):
        compute(X, np.ones(9), y, lam)
    with pytest.raises(np.linalg.LinAlgError, match="S is not positive definite"):
        gauss.numba(-np.eye(3), np.eye(3))
    value, g = np.empty(1), np.empty(3)
    assert into(X, w, y, lam, value, g) == 0
    same((value.item(), g), reference(X, w, y, lam))
    assert logreg.faults[into(X, w, y, lam, value, np.empty(2)) - 1] == "the sizes of the arguments do not fit"
    assert gauss.faults[gauss.numba_into(-np.eye(3), np.eye(3), value, np.empty((3, 3))) - 1].startswith("S is")
    assert padded.numba(np.arange(5.0), 2.0, np.ones((3, 4)), 2)[1].shape == (2, 3)


@pytest.mark.whole
def test_callers_of_twins_are_not_cached(logreg):
    """Numba keys a cached caller by the caller's own file, so the entry would outlive a change of the formula."""
    from numba import njit

    compute = logreg.numba

    @njit
    def value(X, w, y, lam):
        return compute(X, w, y, lam)[0]

    value(*data())
    assert all(compiled.library.has_dynamic_globals for compiled in value.overloads.values())


@pytest.mark.whole
def test_c_function(logreg, gauss):
    X, w, y, lam = data()
    pointer = ctypes.POINTER(ctypes.c_double)
    value, g, number = np.empty(1), np.empty(3), np.array([lam])

    def table(*arrays):
        return (pointer * len(arrays))(*(a.ctypes.data_as(pointer) for a in arrays))

    sizes = (ctypes.c_int64 * 2)(7, 3)
    assert logreg.cfunc().ctypes(table(X, w, y, number), sizes, table(value, g)) == 0
    same((value.item(), g), reference(X, w, y, lam))
    S = -np.eye(3)
    assert gauss.cfunc().ctypes(table(S, S), (ctypes.c_int64 * 1)(3), table(value, np.empty((3, 3)))) == 1


def test_pickle_and_stats(logreg):
    copy = pickle.loads(pickle.dumps(logreg))
    assert copy.source == logreg.source
    same(copy(*data()), reference(*data()))
    made = {"kernels", "compile"} if logreg.stats["cache"] == "built" else {"load"}
    assert {"cache", "note"} | made <= set(logreg.stats)


def resident():
    """Return the resident memory of this process in MB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20


@pytest.mark.whole
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_faults_leak_nothing(gauss):
    """1,000 failures of 300 x 300 in each kind of call would leak 700 MB if one array were not freed."""
    from numba import njit

    S, value, G = -np.eye(300), np.empty(1), np.empty((300, 300))
    into = gauss.numba_into

    @njit(nogil=True)
    def count(S, value, G, times):
        failed = 0
        for _ in range(times):
            failed += into(S, S, value, G)
        return failed

    def fail(times):
        for _ in range(times):
            with pytest.raises(np.linalg.LinAlgError, match="S is not positive definite"):
                gauss(S, S)

    fail(50), count(S, value, G, 50)
    before = resident()
    fail(1000)
    assert count(S, value, G, 1000) == 1000
    threads = [threading.Thread(target=fail, args=(125,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert resident() - before < 60
