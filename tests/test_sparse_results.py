"""Sparse results: values against dense evaluation, patterns against the entries that are nonzero at random data."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hide_packages import hiding
from scipy import sparse
from scipy.optimize import minimize
from sparse_results import CASES

import matcalc as mc
from matcalc import solvers
from matcalc.sparse_results.selector_entries import entries
from matcalc.tensor.sizes.selectors import RULES, Selector
from matcalc.tensor.sizes.size import Size

BY_NAME = {case.name: case for case in CASES}


def matrix_of(case):
    """Return the matrix of a case as an expression."""
    if case.derive == "matrix":
        return mc.expression(case.text, case.declarations)
    kind, _, layout = case.derive.partition("_")
    derive = mc.hessian if kind == "hessian" else mc.jacobian
    return derive(case.text, case.wrt, case.declarations, **({"layout": "vec"} if layout else {}))


def called(function, data):
    """Return a function's value at data by name, of which it may not take all."""
    return function(**{name: data[name] for name in function.args})


def dense(e, data):
    """Return the value of an expression by plain evaluation, with dense matrices."""
    given = {name: data[name] for name in map(str, e.symbols)}
    return e(**{n: v.toarray() if sparse.issparse(v) else v for n, v in given.items()})


@pytest.mark.parametrize("name", BY_NAME)
@pytest.mark.sampled(9)
@pytest.mark.whole
def test_values_and_patterns(name):
    """At sizes 0, 1, 2 and 6: the values, and no entry in the pattern that is 0 at all of several data."""
    case = BY_NAME[name]
    e = matrix_of(case)
    functions = [mc.compile(e, sparse=True, target=target) for target in ("numba", "numpy")]
    rng = np.random.default_rng(3)
    for n in (6, 2, 1, 0):
        try:
            data = case.data(rng, n)
            expected = dense(e, data)
        except (mc.MatcalcError, ValueError):
            assert n < 3
            continue
        nonzero = np.zeros(np.shape(expected), bool)
        for _ in range(3):
            moved = {k: v if k in ("a", "b", "D") else v + rng.uniform(0, 1, np.shape(v)) for k, v in data.items()}
            nonzero |= np.abs(dense(e, moved)) > 1e-13
        for function in functions:
            found = called(function, data)
            assert isinstance(found, sparse.csr_array)
            assert found.has_sorted_indices
            np.testing.assert_allclose(found.toarray(), expected, rtol=1e-12, atol=1e-12)
            pattern = sparse.csr_array((np.ones(found.nnz, bool), found.indices, found.indptr), found.shape).toarray()
            np.testing.assert_array_equal(pattern, nonzero)


@pytest.mark.whole
def test_the_pattern_alone():
    """Size numbers, index data and sparse data; the same entries as those of the compiled function."""
    e = mc.hessian("sum{k: (x[a[k]] - x[b[k]])^4}", "x", "a: index(e); b: index(e); x: vector(n)")
    a, b = np.array([0, 1, 4]), np.array([1, 2, 0])
    pattern = mc.sparsity(e, sizes={"n": 6}, data={"a": a, "b": b})
    expected = np.zeros((6, 6), bool)
    for i, j in zip(a, b, strict=True):
        expected[[i, i, j, j], [i, j, i, j]] = True
    assert pattern.dtype == bool
    np.testing.assert_array_equal(pattern.toarray(), expected)
    found = mc.compile(e, sparse=True)(a=a, b=b, x=np.arange(6.0))
    np.testing.assert_array_equal(found.indices, pattern.indices)


def test_the_pattern_is_fixed():
    """Entries that are 0 at some data are stored all the same, and the index arrays stay those of the first call."""
    f = mc.compile(mc.hessian("sum(relu(x).^3)", "x"), sparse=True)
    first, second = f(np.array([1.0, -1.0, 0.0])), f(np.array([-1.0, 2.0, 3.0]))
    assert first.nnz == second.nnz == 3
    assert first.indices is second.indices or np.shares_memory(first.indices, second.indices)


@pytest.mark.whole
def test_several_results_and_bound_data():
    """A value, a vector and a matrix in one call; data bound; sizes that change between calls."""
    value = mc.expression("sum(c.*x.^4) + sum((x[1:] - x[:-1]).^2)", "x: vector(n); c: vector(n)")
    f = mc.compile([value, value.gradient("x"), value.hessian("x")], sparse=True)
    rng = np.random.default_rng(0)
    for n in (4, 7, 4):
        x, c = rng.normal(size=n), rng.normal(size=n)
        bound = f.bind(c=c)
        assert bound.args == ("x",)
        number, gradient, hessian = bound(x)
        d = np.diff(x)
        slope = 4 * c * x**3 - 2 * np.append(d, 0) + 2 * np.append(0, d)
        curve = np.diag(12 * c * x**2) + 2 * np.diff(np.eye(n), axis=0).T @ np.diff(np.eye(n), axis=0)
        assert abs(number - (np.sum(c * x**4) + np.sum(d**2))) < 1e-12
        np.testing.assert_allclose(gradient, slope, atol=1e-12)
        np.testing.assert_allclose(hessian.toarray(), curve, atol=1e-12)


def test_bad_input():
    """Threads, other targets, results of more axes, sizes and data that are missing: each error says what to write."""
    e = mc.hessian("sum(x.^4)", "x")
    with pytest.raises(mc.NotSupported, match="threads"):
        mc.compile(e, sparse=True, threads=2)
    with pytest.raises(mc.NotSupported, match="no sparse results"):
        mc.compile(e, sparse=True, target="c")
    with pytest.raises(mc.NotSupported, match="layout"):
        mc.compile(mc.hessian("sum(X.^4)", "X"), sparse=True)
    with pytest.raises(mc.ShapeError, match="takes a matrix"):
        mc.sparsity("x'*x")
    with pytest.raises(mc.UnknownName, match="size m has no number"):
        mc.sparsity(e)
    with pytest.raises(mc.UnknownName, match="k is not a size"):
        mc.sparsity(e, sizes={"k": 3})
    with pytest.raises(mc.UnknownName, match="depends on a"):
        mc.sparsity(mc.hessian("sum(x[a].^4)", "x", "a: index(e); x: vector(n)"), sizes={"n": 3})
    with pytest.raises(TypeError, match="no argument"):
        mc.compile(e, sparse=True).bind(z=1)
    with pytest.raises(TypeError, match="lacks x"):
        mc.compile(e, sparse=True)()


@pytest.mark.whole
def test_problem():
    """The Rosenbrock chain with constraints: Hessian, Jacobians and their bounds equal the dense ones; a solve."""
    formula = "sum((1 - x[:-1]).^2 + 100*(x[1:] - x[:-1].^2).^2)"
    limits = "x[1:].*x[:-1] <= 2; sum(x) <= 30; x >= -5; x[1:] - x[:-1] <= 1"
    own, plain = (
        solvers.problem(formula, "x", start={"x": np.zeros(12)}, constraints=limits, sparse=sparse)
        for sparse in (True, False)
    )
    x = np.random.default_rng(0).normal(size=12)
    assert own.hess(x).nnz == 34
    np.testing.assert_allclose(own.hess(x).toarray(), plain.hess(x), rtol=1e-12, atol=1e-10)
    np.testing.assert_array_equal(own.bounds.lb, plain.bounds.lb)
    for one, other in zip(own.constraints, plain.constraints, strict=True):
        if hasattr(one, "A"):
            np.testing.assert_allclose(one.A.toarray(), other.A)
        else:
            v = np.ones_like(one.fun(x))
            np.testing.assert_allclose(one.jac(x).toarray(), other.jac(x))
            np.testing.assert_allclose(one.hess(x, v).toarray(), other.hess(x, v))
    found = minimize(
        own.fun,
        own.x0,
        jac=own.jac,
        hess=own.hess,
        constraints=own.constraints,
        bounds=own.bounds,
        method="trust-constr",
    )
    assert found.fun < 1e-6


@pytest.mark.whole
def test_blocks_of_variables():
    """A matrix, a vector and a scalar as variables: the Hessian over the packed vector."""
    given = {"M": np.random.default_rng(1).normal(size=(4, 5))}
    start = {"U": np.ones((4, 2)), "v": np.arange(5.0), "s": 0.5}
    formula, declared = (
        "norm2(M*diag(v) - s*U*ones(2, 5))^2 + sum(U.^4)",
        "U: matrix(4, 2); v: vector(5); s: scalar; M: matrix(4, 5)",
    )
    own, plain = (
        solvers.problem(formula, ["U", "v", "s"], given, start=start, declarations=declared, sparse=sparse)
        for sparse in (True, False)
    )
    x = np.random.default_rng(2).normal(size=14)
    np.testing.assert_allclose(own.hess(x).toarray(), plain.hess(x), rtol=1e-12, atol=1e-12)
    assert own.hess(x).nnz < 14 * 14


def test_pickled():
    """A pickled function is the same function."""
    f = pickle.loads(pickle.dumps(mc.compile(mc.hessian("sum(x.^4)", "x"), sparse=True)))
    np.testing.assert_allclose(f(np.arange(3.0)).toarray(), np.diag(12 * np.arange(3.0) ** 2))


@pytest.mark.parametrize("kind", RULES)
def test_entries_of_selectors(kind):
    """The listed entries are the ones of the array, for lengths 0 to 4 and offsets on both sides."""
    for n in range(5):
        for m in range(5):
            offsets = range(-m - 1, m + 2) if kind in ("slice", "mask", "shift", "conv") else (0,)
            for offset in offsets:
                shapes = {
                    "merge": (m * n, m, n),
                    "conv": (m + n, m, n),
                    "triangle": (n * (n + 1) // 2, n, n),
                    "flip": (n, n),
                }
                shape = shapes.get(kind, (m, n))
                array = np.zeros(shape)
                array[tuple(entries(kind, shape, offset))] = 1
                expected = Selector(kind, tuple(map(Size.of, shape)), Size.of(offset)).dense({})
                np.testing.assert_array_equal(array, expected)


@pytest.mark.whole
def test_hessians_of_parts_of_a_matrix():
    """Values and gradients of overlapping parts: the Hessian has four axes. A corner is in no part."""
    text = "sum(sqrt(1 + (X[1:, :-1] - X[:-1, :-1]).^2 + (X[:-1, 1:] - X[:-1, :-1]).^2))"
    X, step = np.random.default_rng(8).uniform(-1, 1, (4, 3)), 1e-5
    H = mc.hessian(text, "X", "X: matrix(m, n)", layout="vec", check=False)
    found, slope = mc.compile(H, sparse=True, check=False)(X), mc.gradient(text, "X", "X: matrix(m, n)", check=False)
    columns = []
    for k in range(X.size):
        at = np.reshape(np.arange(X.size) == k, X.shape, order="F")
        columns.append((slope(X=X + step * at) - slope(X=X - step * at)).ravel(order="F") / (2 * step))
    expected = np.stack(columns, axis=1)
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-7, atol=1e-8)
    assert found.nnz == np.sum(np.abs(expected) > 1e-6)


SAVED = {
    "chain": ("sum((1 - x[:-1]).^2 + 100*(x[1:] - x[:-1].^2).^2)", "x: vector(n)", {}),
    "springs": (
        "sum{k: sqrt(1 + (x[a[k]] - x[b[k]])^2)} + lambda*sum(x.^4)",
        "x: vector(n); a: index(e); b: index(e); lambda: scalar",
        {"a": np.array([0, 3, 4, 2]), "b": np.array([1, 0, 6, 5]), "lambda": 0.3},
    ),
    "linear": ("sum(x)", "x: vector(n)", {}),
    "norm": ("norm2(x)^4", "x: vector(n)", {}),
}
RUN = """
import json, sys
import numpy as np
import saved

x, more = np.array(json.loads(sys.argv[1])), json.loads(sys.argv[2])
H, g = saved.{name}(x, *more)
try:
    saved.{name}(x[1:], *more)
except ValueError as fault:
    said = str(fault)
print(json.dumps([type(H).__name__, H.nnz, H.toarray().tolist(), g.tolist(), said, "matcalc" in sys.modules]))
"""


def run_saved(name, folder, first=""):
    """Save a function, run it in a process without matcalc, and compare its results."""
    text, declarations, more = SAVED[name]
    outputs = [mc.hessian(text, "x", declarations), mc.gradient(text, "x", declarations)]
    function = mc.compile(outputs, sparse=True, name="both")
    x = np.linspace(-1, 2, 7)
    function.save(folder / "saved.py", **{"x": np.zeros(7), **more})
    numbers = [float(v) for v in more.values() if np.ndim(v) == 0]
    program = first + RUN.replace("{name}", "both")
    command = [sys.executable, "-c", program, json.dumps(x.tolist()), json.dumps(numbers)]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, env={"PATH": ""})
    kind, count, H, g, said, has_matcalc = json.loads(run.stdout)
    expected = function(**{"x": x, **more})
    assert (kind, count, has_matcalc) == ("csr_array", expected[0].nnz, False)
    np.testing.assert_allclose(H, dense(outputs[0], {"x": x, **more}), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(g, expected[1], rtol=1e-13)
    assert "the pattern is for (7,)" in said


@pytest.mark.whole
def test_a_saved_file_without_numba(tmp_path):
    run_saved("chain", tmp_path, hiding(["numba", "llvmlite"]))


@pytest.mark.whole
@pytest.mark.parametrize("name", SAVED)
def test_saved_files(name, tmp_path):
    """The file's own test passes, too."""
    run_saved(name, tmp_path)
    tested = subprocess.run([sys.executable, tmp_path / "saved.py"], capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stdout + tested.stderr


@pytest.mark.whole
def test_what_a_saved_file_cannot_hold(tmp_path):
    text, declarations = "norm2(D*x)^2 + sum(x.^4)", "x: vector(n); D: matrix(m, n) sparse"
    function = mc.compile(mc.hessian(text, "x", declarations), sparse=True)
    with pytest.raises(mc.MatcalcError, match="cannot hold D"):
        function.save(tmp_path / "saved.py", **{"x": np.zeros(3), "D": sparse.eye_array(3, format="csr")})
    bound = mc.compile(mc.hessian("sum(c.*x.^3)", "x", "x: vector(n); c: vector(n)"), sparse=True).bind(c=np.ones(3))
    with pytest.raises(mc.MatcalcError, match="cannot hold c"):
        bound.save(tmp_path / "saved.py", np.zeros(3))
