"""Machine code reads exact arguments in place; all others raise a TypeError there."""

import itertools
import os
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pytest
from numba import types

from matcalc.compiler.entry.exact import exact
from matcalc.compiler.machine import array_layout
from matcalc.compiler.numba.jit import njit

READ = [types.Array(types.float64, rank, "C", readonly=True) for rank in (2, 1)]
A, X, S = np.array([[1.0, 2, 3], [4, 5, 6]]), np.array([1.0, -2, 4]), 0.5


def weigh(A, x, s, out):
    """Write s*A*x."""
    for i in range(A.shape[0]):
        out[i] = 0.0
        for j in range(A.shape[1]):
            out[i] += s * A[i, j] * x[j]
    return 7


@pytest.fixture(scope="module")
def run():
    compiled = njit(types.int64(*READ, types.float64, types.Array(types.float64, 1, "C")))(weigh)
    yield exact(compiled)  # the code lives as long as `compiled`


def moved(array, offset):
    """Return the array, copied to `offset` bytes after an aligned address."""
    made = np.zeros(array.nbytes + 16, np.uint8)[offset : offset + array.nbytes].view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


def locked(array):
    array.flags.writeable = False
    return array


class Derived(np.ndarray):
    pass


EXACT = {
    "plain": np.copy,
    "read-only": lambda a: locked(a.copy()),
    "named order": lambda a: a.astype(np.dtype("=f8").newbyteorder("=")),
    "annotated": lambda a: a.astype(np.dtype(np.float64, metadata={"unit": "m"})),
    "part of another": lambda a: np.stack([a, a])[1],
    "given another shape": lambda a: a.reshape(-1).reshape(a.shape),
    "moved by an entry": lambda a: moved(a, 8),
}
INEXACT = {
    **{f"type {c}": (lambda a, c=c: a.astype(c)) for c in "?bBhHiIlLqQefgFDGOSU"},
    "dates": lambda a: a.astype("i8").view("M8[s]"),
    "record": lambda a: np.copy(a).view([("a", "f8")]),
    "swapped": lambda a: a.astype(np.dtype("f8").newbyteorder("S")),
    "swapped in place": lambda a: a.view(np.dtype("f8").newbyteorder("S")),
    "misaligned": lambda a: moved(a, 1),
    "misaligned by half": lambda a: moved(a, 4),
    "every other": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "backwards": lambda a: a[..., ::-1],
    "one for all": lambda a: np.broadcast_to(a.flat[0], a.shape),
    "one axis more": lambda a: a[None],
    "one axis less": lambda a: a[0],
    "derived": lambda a: a.view(Derived),
    "masked": np.ma.array,
    "masked by nothing": lambda a: np.ma.array(a, mask=False),
    "mapped": lambda a: a.view(np.memmap),
    "list": lambda a: a.tolist(),
    "buffer": memoryview,
    "number": lambda a: 1.0,
    "nothing": lambda a: None,
    "class": lambda a: np.ndarray,
    "object": lambda a: object(),
}


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.sampled(3)
def test_exact_arrays_are_read(run, name):
    out = np.empty(2)
    assert run(EXACT[name](A), EXACT[name](X), S, out) == 7
    assert out.tolist() == (S * A @ X).tolist()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("position", [0, 1, 3])
@pytest.mark.parametrize("name", INEXACT)
def test_inexact_arrays_are_refused(run, name, position):
    """Exact calls before and after: a rejected array leaves no state and no memory behind."""
    args = [A.copy(), X.copy(), S, np.zeros(2)]
    odd = [*args]
    odd[position] = INEXACT[name](args[position])
    counts = [sys.getrefcount(value) for value in args]
    for _ in range(3):
        assert run(*args) == 7
        with pytest.raises(TypeError):
            run(*odd)
    assert [sys.getrefcount(value) for value in args] == counts
    assert args[3].tolist() == (S * A @ X).tolist()


def test_results_go_where_writing_is_allowed(run):
    with pytest.raises(TypeError):
        run(A, X, S, locked(np.zeros(2)))
    with pytest.raises(TypeError):
        run(np.asfortranarray(A), X, S, np.zeros(2))


def test_empty_arrays(run):
    out = np.full(2, 3.0)
    assert run(np.zeros((0, 3)), X, S, out) == 7
    assert out.tolist() == [3.0, 3.0]
    assert run(np.zeros((2, 0)), np.zeros(0), S, out) == 7
    assert out.tolist() == [0.0, 0.0]


class Real(float):
    pass


class Likeness:
    def __float__(self):
        return 0.5


@pytest.mark.parametrize("number", [2, 0.5, -(2**70), np.float64(3)])
def test_numbers(run, number):
    out = np.empty(2)
    assert run(A, X, number, out) == 7
    assert out.tolist() == (float(number) * A @ X).tolist()


@pytest.mark.parametrize(
    "thing",
    [
        "1.5",
        b"1",
        1j,
        None,
        Decimal(1),
        Likeness(),
        np.float32(1),
        np.int64(1),
        np.ma.array(1.0),
        np.ma.masked,
        X,
        X[:1],
        True,
        Real(0.25),
        np.array(2.0),
    ]
    + [np.array(2), np.array(1j), np.array(2.0, np.dtype("f8").newbyteorder("S")), np.array(2.0).view(Derived), float],
)
def test_no_numbers(run, thing):
    with pytest.raises(TypeError):
        run(A, X, thing, np.empty(2))


def test_too_few_and_too_many(run):
    for args in ((A, X, S), (A, X, S, np.empty(2), S), ()):
        with pytest.raises(TypeError):
            run(*args)
    with pytest.raises((TypeError, OverflowError)):
        run(A, X, 10**400, np.empty(2))


def test_what_has_another_structure_is_noticed(monkeypatch):
    check = array_layout.are_arrays_known.__wrapped__
    assert check()
    numbers = itertools.permutations(("data", "rank", "dtype", "flags"), 2)
    for name, other in (*numbers, ("shape", "strides"), ("strides", "shape")):
        with monkeypatch.context() as changed:
            changed.setattr(array_layout.Array, name, getattr(array_layout.Array, other))
            assert not check()


UNKNOWN = """
from matcalc.compiler.machine import array_layout
array_layout.is_known = lambda: False
array_layout.are_arrays_known = lambda: {arrays}
import numpy as np, matcalc as mc
rng = np.random.default_rng(0)
X, w, y = rng.standard_normal((4, 3)), rng.standard_normal(3), rng.standard_normal(4)
wanted = np.sum((X @ w - y)**2), 2*X.T @ (X @ w - y)
odd = np.zeros(X.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(X.shape)
odd[...] = X
for target in ("numba", "numpy"):
    fn = mc.value_and_gradient("norm2(X*w - y)^2", "w", "X: matrix(m, n); w: vector(n); y: vector(m)", target=target)
    for other in (X, X.tolist(), X.astype(">f8"), np.asfortranarray(X), odd, X.astype(object)):
        for found in (fn(other, w, y), fn(X=other, w=w, y=y), fn.bind(X=other)(w, y)):
            assert np.allclose(found[0], wanted[0]) and np.allclose(found[1], wanted[1]), (target, other)
    out = np.empty(3)
    fn(X, w, y, out=(None, out))
    assert np.allclose(out, wanted[1])
    for bad in (np.ma.masked_array(X), X[:2], "text", X + 1j):
        try:
            fn(bad, w, y)
        except (TypeError, ValueError):
            continue
        raise AssertionError(bad)
print("fine")
"""


@pytest.mark.whole
@pytest.mark.parametrize("arrays", [True, False])
def test_an_unknown_layout_takes_the_way_by_python(arrays, tmp_path):
    tmp_path.chmod(0o700)
    command = [sys.executable, "-c", UNKNOWN.format(arrays=arrays)]
    done = subprocess.run(command, env={**os.environ, "MATCALC_CACHE": str(tmp_path)}, capture_output=True, text=True)
    assert done.stdout == "fine\n", done.stderr
