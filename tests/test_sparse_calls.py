"""Sparse matrices as data: accepted and rejected arguments, saved files, solvers and other kinds of calls."""

import inspect
import pickle
import runpy
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sparse_cases import FORMULAS, LOGISTIC, QUICK, SYMBOLS, data, dense, function, sigmoid

import matcalc as mc
from matcalc import solvers

# ---- accepted arguments


def formats(X):
    """Yield the matrix in every format and type that SciPy has for it."""
    for kind in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia"):
        yield X.asformat(kind)
        yield getattr(sparse, f"{kind}_matrix")(X)
    yield X.toarray()
    yield X.toarray().tolist()
    wide = sparse.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    yield wide
    reverse = X.copy()
    reverse.indices, reverse.data = X.indices.copy(), X.data.copy()
    for i in range(X.shape[0]):
        part = slice(X.indptr[i], X.indptr[i + 1])
        reverse.indices[part], reverse.data[part] = X.indices[part][::-1], X.data[part][::-1]
    reverse.has_sorted_indices = False
    yield reverse
    spare = X.copy()
    spare.data, spare.indices = np.append(X.data, [np.nan] * 3), np.append(X.indices, np.int32([7, -1, 99]))
    yield spare


@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
@pytest.mark.parametrize("text", ["X*w", "sum(X.*X.*M)", "X*X'"])
def test_any_format_is_taken(text, target):
    given = data(5, 4, 2, seed=4)
    fn = function(text, target)
    want = FORMULAS.get(text, lambda X, M, **_: np.sum(X * X * M))(**dense(given))
    for X in formats(given["X"]):
        before = X.copy() if sparse.issparse(X) else None
        np.testing.assert_allclose(fn(*[{**given, "X": X}[name] for name in fn.args]), want, rtol=1e-13)
        assert before is None or (before != X).nnz == 0
    for kind in (np.float32, np.int8, bool):
        X = given["X"].astype(kind)
        found = fn(*[{**given, "X": X}[name] for name in fn.args])
        wanted = FORMULAS.get(text, lambda X, M, **_: np.sum(X * X * M))(**{**given, "X": X.toarray().astype(float)})
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
@pytest.mark.parametrize("text", ["X*w", "X'*y", "X'*diag(d)*X", "X*diag(e)*X'", "sum(X.*X)", "sum(X)", "sum(abs(X))"])
def test_entries_stored_twice_are_added_up(text, target):
    columns, starts = np.int32([2, 0, 2, 2, 1, 1]), np.int32([0, 4, 4, 6])
    X = sparse.csr_array((np.array([1.0, 2, 3, -5, 4, -1.5]), columns, starts), shape=(3, 3))
    given = {**data(3, 3, 2), "X": X}
    want = FORMULAS.get(text, lambda X, **_: np.sum(abs(X)))(**dense(given))
    fn = function(text, target)
    np.testing.assert_allclose(fn(*[given[name] for name in fn.args]), want, rtol=1e-14)
    assert X.nnz == 6  # the caller's matrix is unchanged


@pytest.mark.parametrize("target", [pytest.param("numba", marks=pytest.mark.whole), "numpy"])
def test_what_is_not_stored_takes_no_part(target):
    """A product with an entry that is not stored is 0, also with infinity and NaN; with a stored zero it is not."""
    X = sparse.csr_array((np.array([1.0, 0.0]), np.int32([0, 1]), np.int32([0, 1, 2])), shape=(2, 3))
    found = mc.compile(mc.expression("X*w", SYMBOLS), target=target)(X, np.array([2.0, np.inf, np.nan]))
    assert found[0] == 2 and np.isnan(found[1])
    X.data[:] = np.nan, np.inf
    found = mc.compile(mc.expression("X'*y", SYMBOLS), target=target)(X, np.array([1.0, 2.0]))
    assert np.isnan(found[0]) and found[1] == np.inf and found[2] == 0


@pytest.mark.whole
def test_what_does_not_fit_is_told():
    X, fn = data(5, 4, 2)["X"], mc.value_and_gradient(LOGISTIC, "w", SYMBOLS)
    w, y = np.ones(4), np.ones(5)
    with pytest.raises(
        mc.ShapeError, match=r"w: vector\(n\) must have shape \(5,\), not \(4,\) where n = 5 \(from X\)"
    ):
        fn(X.T, w, y[:4], 1.0)
    with pytest.raises(mc.ShapeError, match=r"X: matrix\(m, n\) takes an array of 2 axes"):
        fn(sparse.coo_array(w), w, y, 1.0)
    with pytest.raises(TypeError, match=r"X: matrix\(m, n\) takes real numbers, not complex numbers"):
        fn(X * 1j, w, y, 1.0)
    with pytest.raises(TypeError, match=r"takes a dense array: give X.toarray\(\), or declare it sparse"):
        mc.compile("X*w", declarations="X: matrix(m, n); w: vector(n)", target="numpy")(X, w)
    with pytest.raises(TypeError, match="lacks c"):
        fn(X, w, y)
    with pytest.raises(TypeError, match="has no argument X_values"):
        fn(X_values=X.data, w=w, y=y, c=1.0)


def damaged():
    """Yield matrices with invalid arrays, which SciPy does not notice."""
    for part, place, value in (
        ("indices", 0, 4),
        ("indices", 1, -1),
        ("indptr", 1, 99),
        ("indptr", 2, 0),
        ("indptr", -1, 99),
    ):
        X = sparse.csr_array(np.triu(np.ones((5, 4))))
        getattr(X, part)[place] = value
        X.has_canonical_format = True
        yield X


@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
@pytest.mark.parametrize("text", [*QUICK[:3], "X'*y", "X*W", "sum(X.*(U*V'))", "sum(X.*X.*M)"])
def test_places_outside_are_refused(text, target):
    fn = function(text, target)
    for X in damaged():
        given = {**data(5, 4, 2), "X": X}
        with pytest.raises(mc.ShapeError, match="columns or row starts that do not fit its shape"):
            fn(*[given[name] for name in fn.args])


@pytest.mark.whole
def test_out_keywords_and_sizes():
    given = data(5, 4, 2)
    fn = mc.value_and_gradient(LOGISTIC, "w", SYMBOLS)
    assert fn.args == ("X", "w", "y", "c")
    G = np.empty(4)
    value, gradient = fn(given["X"], given["w"].tolist(), y=given["y"], c=1, out=(None, G))
    assert gradient is G
    again = fn({"X": given["X"], "w": given["w"], "y": given["y"], "c": 1.0})
    assert value == again[0] and np.array_equal(G, again[1])
    columns = mc.compile("sum(X, axis=0)", declarations="X: matrix(m, n) sparse")  # no other shape contains n
    assert columns.args == ("X",)
    np.testing.assert_allclose(columns(given["X"]), given["X"].toarray().sum(axis=0))
    fixed = mc.compile("X*ones(4)", declarations="X: matrix(2*m, 4) sparse")
    np.testing.assert_allclose(fixed(given["X"][:4]), given["X"].toarray()[:4].sum(axis=1))
    with pytest.raises(mc.ShapeError, match="X makes m = 5/2; a size is an integer, 0 or more"):
        fixed(given["X"])
    with pytest.raises(mc.ShapeError, match=r"X: matrix\(2\*m, 4\) must have shape"):
        fixed(given["X"][:4, :3])


@pytest.mark.whole
def test_names_of_arrays_are_kept_clear_of_symbols():
    text = "X_values'*X*X_columns + X_stored*sum(X)"
    let = "X: matrix(X_rows, n) sparse; X_values: vector(X_rows); X_columns: vector(n); X_stored: scalar"
    X = data(5, 4, 2)["X"]
    found = mc.compile(text, declarations=let)(X, np.arange(5.0), np.arange(4.0), 3.0)
    assert found == pytest.approx(np.arange(5) @ X.toarray() @ np.arange(4) + 3 * X.sum())


# ---- rejected arguments


REFUSED = {
    "sum(exp(X))": "is not 0 at entries that are not stored",
    "X": "is a result",
    "X.*M": "is a result",
    "X + M": "is a result",
    "vec(X)": "cannot be computed from stored entries alone",
    "X[:2, :]": "cannot be computed from stored entries alone",
    "X*A*X'": "cannot be computed from stored entries alone",
    "kron(X, W)": "cannot be computed from stored entries alone",
    "max(X)": "is not an operation on stored entries",
    "sum(1./(X + M))": "is a function of a sparse matrix and other arrays",
}


@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
@pytest.mark.parametrize("text", REFUSED)
def test_what_needs_a_dense_copy_is_refused(text, target):
    with pytest.raises(mc.NotSupported, match=REFUSED[text]) as fault:
        function(text, target)
    assert "X.toarray()" in str(fault.value)


@pytest.mark.whole
def test_what_takes_no_sparse_matrix_says_so():
    fn = function("X*w", "numba")
    with pytest.raises(mc.NotDifferentiable, match="X is declared sparse: it is data"):
        mc.gradient("sum(X)", "X", SYMBOLS)
    for target in ("torch", "jax"):
        with pytest.raises(mc.NotSupported, match=f"the target {target} takes no sparse matrices, as X is declared"):
            function("X*w", target)
    with pytest.raises(mc.NotSupported, match="X is sparse, and a sparse argument cannot have a batch axis"):
        mc.batch(fn, over="X")
    with pytest.raises(mc.NotSupported, match="the fact nonnegative cannot be checked for the sparse X"):
        mc.compile("X*w", declarations="X: matrix(m, n) sparse nonnegative; w: vector(n)", check_facts=True)(
            data(2, 3, 1)["X"], np.ones(3)
        )
    with pytest.raises(mc.ShapeError, match="'sparse' is a fact about matrices"):
        mc.expression("sum(x)", "x: vector(n) sparse")


# ---- other kinds of calls


@pytest.mark.whole
def test_other_ways_in():
    given = data(5, 4, 2)
    X, D, w, y = given["X"], given["X"].toarray(), given["w"], given["y"]
    fn = mc.value_and_gradient(LOGISTIC, "w", SYMBOLS)
    again = pickle.loads(pickle.dumps(fn))
    assert again(X, w, y, 0.5)[0] == fn(X, w, y, 0.5)[0]
    value, _ = fn.numba(X.data, X.indices, X.indptr, w, y, 0.5)
    assert value == fn(X, w, y, 0.5)[0]
    rows = mc.batch(fn, over="w")
    many = np.array([w, -w, 2 * w])
    values, gradients = rows(X, many, y, 0.5)
    for k, one in enumerate(many):
        value, gradient = fn(X, one, y, 0.5)  # compiled separately, so sums may be in another order
        np.testing.assert_allclose(values[k], value, rtol=1e-14)
        np.testing.assert_allclose(gradients[k], gradient, rtol=1e-13, atol=1e-15)
    two = mc.pullback("X*w", "w", SYMBOLS)
    out, saved = two.forward(X, w)
    np.testing.assert_allclose(out, D @ w)
    np.testing.assert_allclose(two.backward(saved, y), D.T @ y)
    scored = mc.scores("sum(log(1 + exp(c*(X*w) - y)))", "c", "m", SYMBOLS)
    z = D @ w
    np.testing.assert_allclose(scored(X, w, y, 0.5), z * sigmoid(0.5 * z - y), rtol=1e-12)


SAVED = {
    LOGISTIC: "w",
    "sum(X.*log(1 + exp(U*V'))) + sum(U.^2)": "U",
    "logdet(X'*diag(exp(d))*X + eye(n))": "d",
    "norm2(X*w - y)^2 + norm2(X)": "w",
}


@pytest.mark.parametrize("text", [LOGISTIC, *list(SAVED)[1:]])
@pytest.mark.whole
def test_saved_files_take_sparse_matrices(text, tmp_path):
    fn, path = mc.value_and_gradient(text, SAVED[text], SYMBOLS, target="numpy"), tmp_path / "f.py"
    fn.save(path)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "all right"), done.stdout + done.stderr
    given, f = data(5, 4, 2), runpy.run_path(str(path))["f"]
    assert list(inspect.signature(f).parameters) == list(fn.args)
    for X in formats(given["X"]):
        X = np.asarray(X) if isinstance(X, list) else X
        arguments = [{**given, "X": X}[name] for name in fn.args]
        value, gradient = f(*arguments)
        assert value == pytest.approx(fn(*arguments)[0], rel=1e-12)
        np.testing.assert_allclose(gradient, fn(*arguments)[1], rtol=1e-12, atol=1e-14)
    with pytest.raises(ValueError, match="a shape that does not fit"):
        f(*[{**given, "X": given["X"][:3]}[name] for name in fn.args])
    with pytest.raises(TypeError, match="real numbers"):
        f(*[{**given, "X": given["X"] * 1j}[name] for name in fn.args])


@pytest.mark.whole
def test_an_exported_file_tests_both_forms(tmp_path):
    """Value, gradient, product and Hessian, for Numba and NumPy, and the minimum that the file finds."""
    path = tmp_path / "grad.py"
    words = [LOGISTIC, "--wrt", "w", "--let", SYMBOLS, "--with", "value,gradient,hvp,hessian", "--scipy-main"]
    command = [sys.executable, "-m", "matcalc", "export", *words, "-o", str(path)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    for more in ([], ["solve"]):
        done = subprocess.run([sys.executable, str(path), *more], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert ("success: True" if more else "all right") in done.stdout


@pytest.mark.whole
def test_plain_evaluation_and_checks():
    """Plain evaluation makes a dense copy, for small data."""
    given = data(5, 4, 2)
    e = mc.expression("X*w", SYMBOLS)
    np.testing.assert_allclose(e(given["X"], given["w"]), given["X"].toarray() @ given["w"])
    assert mc.check("sum(log(1 + exp(X*w)))", "w", SYMBOLS)
    assert mc.check("sum((X*w - y).^2)", "w", SYMBOLS, compiled=True)
    assert mc.equivalent("tr(X'*X)", "sum(X.*X)", SYMBOLS)
    assert "12*X_stored" in function("X*w", "numpy").plan


def classes():
    """Return a problem of two classes: its arguments, the dense matrix and the labels."""
    rng = np.random.default_rng(6)
    X = sparse.random_array((60, 8), density=0.4, rng=rng, format="csc")
    y = np.where(rng.random(60) < sigmoid(X @ rng.standard_normal(8)), 1.0, -1.0)
    given = {"data": {"X": X, "y": y, "c": 0.1}, "start": {"w": np.zeros(8)}, "declarations": SYMBOLS}
    return given, X.toarray(), y


@pytest.mark.parametrize(
    "options",
    [
        {"method": "L-BFGS-B", "tol": 1e-12, "target": "numpy"},
        pytest.param({"compiled": True, "tol": 1e-12}, marks=pytest.mark.whole),
        pytest.param({"method": "trust-ncg", "tol": 1e-10}, marks=pytest.mark.whole),
        pytest.param({"method": "trust-exact", "tol": 1e-10}, marks=pytest.mark.whole),
        pytest.param({"compiled": True, "method": "newton-cg", "tol": 1e-10}, marks=pytest.mark.whole),
    ],
)
def test_minima(options):
    given, D, y = classes()
    w = mc.minimize(LOGISTIC, "w", **given, **options).x["w"]
    np.testing.assert_allclose(0.2 * w - D.T @ (y * sigmoid(-y * (D @ w))), 0, atol=2e-4)


@pytest.mark.whole
def test_many_fits_have_one_sparse_matrix():
    given, _, y = classes()
    twice = {**given, "data": {**given["data"], "y": np.array([y, -y])}}
    many = mc.minimize(LOGISTIC, "w", compiled=True, over="y", tol=1e-12, **twice)
    np.testing.assert_allclose(many.x["w"][0], -many.x["w"][1], atol=1e-4)


@pytest.mark.whole
def test_problems():
    given, D, y = classes()
    problem = solvers.problem(LOGISTIC, "w", **given, target="numpy")
    w = np.linspace(-1, 1, 8)
    s = sigmoid(y * (D @ w))
    H = D.T @ np.diag(s * (1 - s)) @ D + 0.2 * np.eye(8)
    np.testing.assert_allclose(problem.hess(w), H, rtol=1e-10)
    np.testing.assert_allclose(problem.hessp(w, y[:8]), H @ y[:8], rtol=1e-10)
    np.testing.assert_allclose(problem.operator(w).diagonal(), np.diag(H), rtol=1e-10)
    squares = "sum((X*w - y).^2) + c*w'*w"
    found = mc.minimize(squares, "w", tol=1e-12, **given, target="numpy").x["w"]
    np.testing.assert_allclose(found, np.linalg.solve(D.T @ D + 0.1 * np.eye(8), D.T @ y), atol=1e-6)
    with pytest.raises(mc.NotSupported, match="-X is a result"):  # the Jacobian of the residuals
        mc.minimize(squares, "w", method="lm", **given)
    with pytest.raises(mc.NotSupported, match="check_facts= evaluates the formula"):
        mc.minimize(LOGISTIC, "w", check_facts=True, **given)
