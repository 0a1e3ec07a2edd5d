"""Saved files of C: results against NumPy, their own tests, names, statuses and errors."""

import ctypes
import pickle
import subprocess

import numpy as np
import pytest
from c_files import CCall, gcc, why_not

import matcalc as mc
from matcalc.api.export import exported
from matcalc.commands.cli import main
from matcalc.errors import NotSupported

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "nothing is missing")
RNG = np.random.default_rng(5)
LOGISTIC = (
    "sum(log(1 + exp(-y.*(X*w)))) + lam*norm2(w)^2",
    "w",
    "X: matrix(m,n); w: vector(n); y: vector(m); lam: scalar",
)
GAUSS = ("logdet(S) + x'*inv(S)*x", "S", "S: matrix(n,n) spd; x: vector(n)")


def logistic(X, w, y, lam):
    z = -y * (X @ w)
    value = np.sum(np.logaddexp(0.0, z)) + lam * w @ w
    return value, 2 * lam * w - X.T @ (y / (1 + np.exp(-z)))


def self_test(text, folder, *options):
    """Compile a file as its test; return the status and the output."""
    place = folder / "test.out"
    done = gcc(text, place, "-O1", "-DMATCALC_TEST", *options)
    assert not done.returncode, done.stderr
    ran = subprocess.run([str(place)], capture_output=True, text=True, timeout=60)
    return ran.returncode, ran.stdout


@pytest.mark.whole
def test_a_file_without_data_says_so_and_does_not_fail(tmp_path):
    fn = mc.value_and_gradient("sum(log(-exp(x)))", "x", target="c", name="nowhere")
    fn.save(tmp_path / "nowhere.c")
    text = "not tested: no data were found at which the results are finite\n"
    assert self_test((tmp_path / "nowhere.c").read_text(), tmp_path) == (0, text)


@pytest.mark.whole
def test_logistic_regression(tmp_path):
    f, wrt, declarations = LOGISTIC
    fn = mc.value_and_gradient(f, wrt, declarations=declarations, target="c", name="logistic")
    call = CCall(fn)
    for m, n in ((5, 3), (1, 1), (0, 3), (3, 0), (0, 0), (700, 120)):
        given = {"X": RNG.standard_normal((m, n)), "w": RNG.standard_normal(n), "y": RNG.standard_normal(m), "lam": 0.7}
        found, wanted = call(**given), logistic(**given)
        assert found[0] == pytest.approx(wanted[0], rel=1e-12, abs=1e-14)
        np.testing.assert_allclose(found[1], wanted[1], rtol=0, atol=1e-12 * max(1.0, *np.abs(wanted[1]), 0.0))
    path = tmp_path / "logistic.c"
    fn.save(path)
    assert self_test(path.read_text(), tmp_path) == (0, "all right\n")
    assert "malloc" not in path.read_text().partition("MATCALC_TEST\n")[0]


def test_a_fault_is_a_status():
    f, wrt, declarations = GAUSS
    call = CCall(mc.value_and_gradient(f, wrt, declarations=declarations, target="c"))
    A = RNG.standard_normal((40, 40))
    given = {"S": A @ A.T + np.eye(40), "x": RNG.standard_normal(40)}
    value, gradient = call(**given)
    inverse = np.linalg.inv(given["S"])
    wanted = inverse - inverse @ np.outer(given["x"], given["x"]) @ inverse
    assert value == pytest.approx(np.linalg.slogdet(given["S"])[1] + given["x"] @ inverse @ given["x"], rel=1e-12)
    np.testing.assert_allclose(gradient, wanted, rtol=0, atol=1e-11 * np.max(np.abs(wanted)))
    status, _ = call.status({**given, "S": -given["S"]})
    assert call.spec.faults[status - 1] == "chol: S is not positive definite"


@pytest.mark.whole
@pytest.mark.parametrize("n", [-1, 2**31])
def test_a_size_that_does_not_fit_is_a_status(n):
    call = CCall(mc.compile("sum(x)", declarations="x: vector(n)", target="c"))
    asked = call.library.f
    cell = (ctypes.c_double * 1)()
    assert asked(cell, cell, ctypes.c_int64(n), cell) == 1
    assert asked(cell, cell, ctypes.c_int64(1), cell) == 0


@pytest.mark.whole
def test_names_of_c_are_no_names_of_arguments():
    declarations = "double: vector(n); I: matrix(n,n); work: scalar; exp: vector(n); at: vector(n); matrix_: vector(n)"
    call = CCall(mc.compile("work*(I*double + exp + at) + matrix_", declarations=declarations, target="c", name="main"))
    given = {name: RNG.standard_normal(3) for name in ("double", "exp", "at", "matrix_")}
    given |= {"I": RNG.standard_normal((3, 3)), "work": 2.0}
    wanted = 2.0 * (given["I"] @ given["double"] + given["exp"] + given["at"]) + given["matrix_"]
    np.testing.assert_allclose(call(**given), wanted, rtol=1e-13)


@pytest.mark.whole
def test_the_test_of_a_file_finds_a_wrong_gradient(tmp_path):
    f, wrt, declarations = LOGISTIC
    text = exported(f, wrt, declarations=declarations, target="c")
    assert self_test(text, tmp_path)[0] == 0
    wrong = text.replace("2.0*lam_w_i", "2.1*lam_w_i")
    assert wrong != text
    status, said = self_test(wrong, tmp_path)
    assert status == 1
    assert "entry 0 of gradient_w is" in said and "and by its formula" in said
    assert "and the difference quotient of value in w with step 1e-0" in said


@pytest.mark.whole
def test_second_derivatives_and_sums_of_products(tmp_path):
    f, wrt, declarations = "sum(exp(X*w)) + norm2(w)^4", "w", "X: matrix(m,n); w: vector(n)"
    what = ("value", "gradient", "hvp", "hessian")
    text = exported(f, wrt, what, declarations, target="c", name="g")
    assert text == exported(f, wrt, what, declarations, target="c", name="g")
    assert self_test(text, tmp_path, "-fsanitize=address,undefined", "-fno-sanitize-recover") == (0, "all right\n")
    symmetric = exported("logdet(S + A*A')", "S", declarations="S: matrix(n,n) spd; A: matrix(n,p)", target="c")
    assert self_test(symmetric, tmp_path, "-fsanitize=address,undefined") == (0, "all right\n")


@pytest.mark.whole
def test_the_command_writes_a_file(tmp_path):
    path = tmp_path / "ls.c"
    let = ["--let", "X: matrix(m,n); w: vector(n); y: vector(m)"]
    assert main(["export", "norm2(X*w - y)^2", "--wrt", "w", *let, "--target", "c", "-o", str(path)]) == 0
    assert self_test(path.read_text(), tmp_path) == (0, "all right\n")
    assert str(tmp_path) not in path.read_text()


def test_places_of_an_axis():
    declarations = "x: vector(n); k: index(m)"
    call = CCall(mc.compile("norm2(x[k])^2", declarations=declarations, target="c"))
    x = RNG.standard_normal(4)
    assert call(x=x, k=np.array([0, 3, 3])) == pytest.approx(x[0] ** 2 + 2 * x[3] ** 2)
    assert call.spec.faults[call.status({"x": x, "k": np.array([0, 4])})[0] - 1].startswith("k")


def test_what_has_no_form_is_refused_by_name():
    with pytest.raises(NotSupported, match="besselj has no form for the target c"):
        mc.compile("sum(besselj(2, x))", declarations="x: vector(n)", target="c")
    fn = mc.compile("sum(x)", declarations="x: vector(n)", target="c")
    with pytest.raises(NotSupported, match="does not run in Python"):
        fn(np.ones(3))
    with pytest.raises(NotSupported, match="has no form for Numba"):
        _ = fn.numba
    assert pickle.loads(pickle.dumps(fn)).source == fn.source
    with pytest.raises(NotSupported, match="cannot have a solve part"):
        exported("sum(x.*x)", "x", declarations="x: vector(n)", target="c", with_solve=True)
