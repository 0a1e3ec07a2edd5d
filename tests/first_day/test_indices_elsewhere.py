"""Indices as data in other dialects and outputs: objects, NumPy, LaTeX, SymPy, saved files, njit code, commands."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest
from first_day.index_cases import CASES, FACTORS, SIZES, data_of, derived, gradient, path_of

import matcalc as mc
from matcalc.errors import NotSupported, ShapeError


def test_objects():
    x, X, k, i, j = mc.symbols("x: vector(n); X: matrix(m, n); k: index; i: index(N); j: index(N)")
    declared = "x: vector(n); X: matrix(m, n); k: index; i: index(N); j: index(N)"
    for made, formula in [
        (x[k], "x[k]"),
        (X[i, :], "X[i, :]"),
        (X[i], "X[i, :]"),
        (X[k, :], "X[k, :]"),
        (X[i, j], "X[i, j]"),
    ]:
        assert made.node is mc.expression(formula, declared).node
        assert made.declarations == "; ".join(d for d in declared.split("; ") if d[0] in formula)
    for wrong in (lambda: k + 1, lambda: 2 * k, lambda: -k, lambda: k**2, lambda: mc.exp(k), lambda: i @ x):
        with pytest.raises(ShapeError, match="is an index, not a number"):
            wrong()


def test_numpy_on_objects_and_traced():
    U, V, r, i, j = mc.symbols(FACTORS)
    wanted = derived("factors")[0].node
    assert np.sum((r - np.sum(U[i] * V[j], axis=1)) ** 2).node is wanted

    def loss(U, V, r, i, j):
        e = r - (U[i] * V[j]).sum(axis=1)
        return e @ e

    data = data_of("factors", "repeated")
    got = mc.value_and_gradient(loss, ["U", "V"], declarations=FACTORS, target="numpy")(**data)
    np.testing.assert_allclose(got[0], loss(**data))
    np.testing.assert_allclose(got[1][0], gradient(CASES["factors"][3], data, "U"), atol=1e-11)
    for wrong in (lambda: np.exp(i), lambda: np.sum(i), lambda: np.where(r > 0, i, 0)):
        with pytest.raises((ShapeError, TypeError)):
            wrong()


def test_substitution():
    e = mc.expression("x[i]", "x: vector(n); i: index(N)")
    (j,) = mc.symbols("j: index(M)")
    assert e.substitute(i=j).node is mc.expression("x[j]", "x: vector(n); j: index(M)").node
    assert str(e.substitute(n=5).node.shape) == str(e.node.shape)
    for wrong in (2, mc.symbols("s: scalar")[0]):
        with pytest.raises(ShapeError, match="only an index can replace an index"):
            mc.expression("x[k]", "x: vector(n); k: index").substitute(k=wrong)


def test_latex_and_sympy():
    e = mc.expression("x[k]", "x: vector(n); k: index")
    assert e.latex() == "x_{k}"  # data count from 0 in every notation
    assert str(e.sympy()) == "x[k, 0]"
    with pytest.raises(NotSupported, match="a part by a vector of indices has no SymPy form"):
        mc.expression("X[i, :]", "X: matrix(m, n); i: index(N)").sympy()


@pytest.mark.whole
def test_check_draws_places():
    for case in ("label", "factors"):
        formula, wrt, declarations, _ = CASES[case]
        assert mc.check(formula, wrt, declarations)
    assert not mc.check("x[k]^2", "x", "x: vector(n); k: index", against="2*x[k]*eye(n)[:, 0]")


def test_equivalence():
    declared = "x: vector(n); i: index(N)"
    assert mc.equivalent("sum(x[i])", "{: x[a]*eye(n)[a, i[t]]*ones(N)[t]}", declared)
    report = mc.equivalent("norm2(x[i])^2", "norm2(x)^2", declared)
    assert not report and np.array_equal(report.at["i"], np.rint(report.at["i"]))


@pytest.mark.whole
def test_saved_file(tmp_path):
    formula, wrt, declarations, value = CASES["steps"]
    path = tmp_path / "steps.py"
    mc.value_and_gradient(formula, wrt, declarations, target="numpy").save(path)
    run = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "all right\n"), run.stderr
    spec = importlib.util.spec_from_file_location("steps", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    data = data_of("steps", "repeated")
    got = module.f(**data)
    np.testing.assert_allclose(got[0], value(**data))
    np.testing.assert_allclose(got[1], gradient(value, data, wrt))
    with pytest.raises(ValueError, match=r"s\[1:\]\[2\] is 3, outside an axis of length n = 3"):
        module.f(data["q"], data["A"], [0, 1, 2, 3])
    with pytest.raises(TypeError, match="takes integers, not entries of type float64"):
        module.f(data["q"], data["A"], [0.0, 1.0])


@pytest.mark.whole
def test_own_njit_code():
    import numba

    f = path_of("numba")
    data = data_of("factors", "repeated")
    args = list(data.values())
    wanted = f(*args)[0]
    inner = f.numba

    @numba.njit
    def twice(U, V, r, i, j):
        return 2 * inner(U, V, r, i, j)[0]

    assert twice(*args) == pytest.approx(2 * wanted)
    assert inner(*args[:3], args[3].astype(np.int32), args[4])[0] == pytest.approx(wanted)
    bad = data["i"].copy()
    bad[3] = 4
    with pytest.raises(ShapeError, match="i holds an index outside an axis of length m"):
        inner(*args[:3], bad, args[4])
    out = [np.empty(1), np.empty((4, 2)), np.empty((3, 2))]
    assert f.numba_into(*args, *out) == 0 and out[0][0] == pytest.approx(wanted)
    status = f.numba_into(*args[:3], bad, args[4], *out)
    assert f.faults[status - 1] == "i holds an index outside an axis of length m"


@pytest.mark.whole
def test_c_entry():
    import ctypes

    from matcalc.compiler.spec.spec import size_names

    f = path_of("numba")
    data = data_of("factors", "repeated")
    out = [np.empty(1), np.empty((4, 2)), np.empty((3, 2))]
    given = (ctypes.c_void_p * 5)(*(a.ctypes.data for a in data.values()))
    results = (ctypes.c_void_p * 3)(*(a.ctypes.data for a in out))
    lengths = np.array([{**SIZES, "N": 7}[name] for name in size_names(f.spec)], np.int64)
    entry = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3)(f.cfunc().address)
    assert entry(ctypes.addressof(given), lengths.ctypes.data, ctypes.addressof(results)) == 0
    assert out[0][0] == pytest.approx(f(*data.values())[0])


def test_command_line(capsys):
    from matcalc.commands.cli import main

    assert main(["gradient", "log_softmax(z)[k]", "--wrt", "z", "--let", "z: vector(n); k: index"]) == 0
    assert capsys.readouterr().out.strip() == "eye(n)[:, k] - softmax(z)"
    assert main(["gradient", "x[k]", "--wrt", "k", "--let", "k: index"]) == 2
    assert "k is an index" in capsys.readouterr().err


def test_numpy_spelling():
    text = "np.sum((r - np.sum(U[i] * V[j], axis=1))**2)"
    assert mc.expression(text, FACTORS, dialect="numpy").node is derived("factors")[0].node
