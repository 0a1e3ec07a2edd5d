"""Results that are mostly zeros: every kind of call zero-fills their arrays, whatever these held before."""

import ctypes
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import matcalc as mc
from matcalc.compiler.program import ProgramFault
from matcalc.compiler.verify.accesses import proved
from matcalc.compiler.verify.faults import RunFault
from matcalc.compiler.verify.interpret import interpret
from matcalc.compiler.verify.order import verify
from matcalc.pipeline.build import planned, request_of

REAL = ctypes.POINTER(ctypes.c_double)
SQUARES = "A: matrix(n, n); B: matrix(n, n)"


def jacobian(B):
    return np.einsum("ij,ik,jl->ijkl", B, np.eye(len(B)), np.eye(len(B)))


def squares(n):
    return np.random.default_rng(n).standard_normal((2, n, n))


def dirty(n):
    return np.full((n, n, n, n), np.nan)


@pytest.fixture(scope="module")
def fn():
    return mc.compile(mc.expression("A.*B", SQUARES).jacobian("A"))


def test_program_has_no_loop_that_fills_with_zeros(fn):
    assert "= 0.0" not in fn.source
    assert "result must be zeros before" in fn.source
    assert fn.spec.outputs[0].zero_filled


@pytest.mark.whole
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_every_way_in(fn, n):
    A, B = squares(n)
    want = jacobian(B)
    bound, into = fn.bind(B=B), dirty(n)
    fn.numba_into(A, B, into)
    given = [np.asfortranarray(A), B[:, ::-1].copy()[:, ::-1]]
    found = [fn(A, B), fn(A.tolist() if n else A, B), fn(A=A, B=B), bound(A), fn.numba(A, B), into, fn(*given)]
    found += [fn(A, B, out=dirty(n)), bound(A, out=dirty(n))]
    found += [fn(A, B, out=dirty(n)[..., ::-1]), fn(A, B, out=dirty(n).T), fn._fallback(A, B)]
    found += [fn(A, B, check_facts=True, out=dirty(n))]
    for place in found:
        np.testing.assert_array_equal(place, want)


def test_results_are_apart_from_each_other(fn):
    A, B = squares(4)
    first = fn(A, B)
    first[...] = np.nan
    np.testing.assert_array_equal(fn(A, B), jacobian(B))


@pytest.mark.parametrize("n", [1, 6])
def test_c_entry(fn, n):
    A, B = squares(n)
    result = dirty(n)
    table = [array.ctypes.data_as(REAL) for array in (A, B)]
    status = fn.cfunc().ctypes((REAL * 2)(*table), (ctypes.c_long * 1)(n), (REAL * 1)(result.ctypes.data_as(REAL)))
    assert status == 0
    np.testing.assert_array_equal(result, jacobian(B))


def test_out_that_holds_the_argument():
    fn = mc.compile("diag(x)", declarations="x: vector(n)")
    room = np.arange(1.0, 17.0).reshape(4, 4)
    want = np.diag(room[1])
    np.testing.assert_array_equal(fn(room[1], out=room), want)
    np.testing.assert_array_equal(room, want)
    np.testing.assert_array_equal(fn(np.array([np.nan, np.inf])), [[np.nan, 0], [0, np.inf]])


def test_several_results_and_a_batch():
    f = mc.expression("A.*B", SQUARES)
    fn = mc.compile([f.jacobian("A"), f, f.jacobian("B")])
    assert [o.zero_filled for o in fn.spec.outputs] == [True, False, True]
    A, B = squares(3)
    out = (dirty(3), np.full((3, 3), np.nan), dirty(3))
    for found in (fn(A, B), fn(A, B, out=out)):
        np.testing.assert_array_equal(found[0], jacobian(B))
        np.testing.assert_array_equal(found[1], A * B)
        np.testing.assert_array_equal(found[2], jacobian(A))
    many = mc.batch(fn, over=["A"])
    rows = np.stack([A, B, A + B])
    out = (np.full((3, 3, 3, 3, 3), np.nan), np.full((3, 3, 3), np.nan), np.full((3, 3, 3, 3, 3), np.nan))
    for found in (many(rows, B), many(rows, B, out=out)):
        np.testing.assert_array_equal(found[2], np.stack([jacobian(row) for row in rows]))
        np.testing.assert_array_equal(found[0], np.stack([jacobian(B)] * 3))


def test_sums_into_a_blank_result():
    fn = mc.compile("eye(n) + 2*diag(x)", declarations="x: vector(n)")
    x = np.array([1.0, -0.5, 3.0])
    np.testing.assert_array_equal(fn(x, out=np.full((3, 3), np.nan)), np.diag(1 + 2 * x))


@pytest.mark.whole
def test_a_fault_leaves_no_numbers_of_before():
    fn = mc.compile("diag(inv(A)*b)", declarations="A: matrix(n, n); b: vector(n)")
    A, b = np.diag([1.0, 2.0]), np.array([1.0, 1.0])
    out = np.full((2, 2), np.nan)
    with pytest.raises(np.linalg.LinAlgError):
        fn(np.zeros((2, 2)), b, out=out)
    np.testing.assert_allclose(fn(A, b, out=out), np.diag([1.0, 0.5]))


@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_target_and_rounded_results(target):
    f = mc.expression("A.*B", SQUARES).jacobian("A")
    A, B = squares(3)
    for dtype in ("float64", "float32"):
        fn = mc.compile(f, target=target, dtype=dtype)
        want = jacobian(B).astype(dtype)
        np.testing.assert_array_equal(fn(A, B), want)
        np.testing.assert_array_equal(fn(A, B, out=dirty(3).astype(dtype)), want)


@pytest.mark.whole
def test_saved_file_tests_itself(fn, tmp_path):
    path = tmp_path / "saved_jacobian.py"
    fn.save(path)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "all right\n"), done.stderr
    text = path.read_text(encoding="utf-8")
    assert "result = np.zeros((n, n, n, n))" in text


@pytest.mark.whole
def test_compiled_solver_writes_a_jacobian_again_and_again():
    f = mc.expression("norm2(exp(x) - c)^2", "x: vector(n); c: vector(n)")
    data = np.linspace(1, 2, 5)
    found = mc.minimize(f, "x", data={"c": data}, start={"x": np.zeros(5)}, method="lm", compiled=True)
    np.testing.assert_allclose(found.x["x"], np.log(data), atol=1e-8)


def test_program_that_relies_on_zeros_says_so():
    f = mc.expression("A.*B", SQUARES).jacobian("A")
    program = planned(request_of([f], ["result"])).program
    A, B = squares(3)
    assert set(program.zero_filled) == {"result"}
    np.testing.assert_array_equal(interpret(program, {"A": A, "B": B}, {})["result"], jacobian(B))
    silent = replace(program, zero_filled={})
    with pytest.raises(ProgramFault, match="holds nothing yet"):
        verify(silent)
    with pytest.raises(ProgramFault, match="not written in full"):
        proved(silent)
    with pytest.raises(RunFault, match="read before it is written"):
        interpret(silent, {"A": A, "B": B}, {})
