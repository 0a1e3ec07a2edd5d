"""Sparse matrices as data: values and derivatives against NumPy on the dense matrix, complex steps and differences."""

import inspect
import pickle
import runpy
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

import matcalc as mc
from matcalc import solvers
from matcalc.compiler.runtime.sparse import stored_by_name
from matcalc.compiler.verify.interpret import Interpreter
from matcalc.compiling import planned, request_of

SYMBOLS = (
    "X: matrix(m, n) sparse; w: vector(n); y: vector(m); d: vector(m); e: vector(n); W: matrix(n, k); R: matrix(m, k); "
    "U: matrix(m, k); V: matrix(n, k); A: matrix(n, n); B: matrix(m, m); M: matrix(m, n); c: scalar"
)
LOGISTIC = "sum(log(1 + exp(-y .* (X*w)))) + c*w'*w"
SIZES = [(5, 4, 2), (1, 3, 1), (3, 1, 2), (4, 4, 4), (0, 3, 2), (3, 0, 2), (2, 3, 0), (1, 1, 1)]


def softplus(z):
    return np.log1p(np.exp(z))


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


FORMULAS = {  # text -> NumPy on the dense matrix
    "X*w": lambda X, w, **_: X @ w,
    "X'*y": lambda X, y, **_: X.T @ y,
    "X*W": lambda X, W, **_: X @ W,
    "X'*R": lambda X, R, **_: X.T @ R,
    "y'*X": lambda X, y, **_: y @ X,
    "y'*X*w": lambda X, y, w, **_: y @ X @ w,
    "diag(d)*X*w": lambda X, d, w, **_: d * (X @ w),
    "X*diag(e)*w": lambda X, e, w, **_: X @ (e * w),
    "(diag(d)*X*diag(e))'*y": lambda X, d, e, y, **_: e * (X.T @ (d * y)),
    "X'*X": lambda X, **_: X.T @ X,
    "X*X'": lambda X, **_: X @ X.T,
    "X'*diag(d)*X": lambda X, d, **_: X.T @ np.diag(d) @ X,
    "X*diag(e)*X'": lambda X, e, **_: X @ np.diag(e) @ X.T,
    "X'*diag(d.*d)*(X.*M)": lambda X, d, M, **_: X.T @ np.diag(d * d) @ (X * M),
    "X'*X*w": lambda X, w, **_: X.T @ (X @ w),
    "X*X'*X*w": lambda X, w, **_: X @ (X.T @ (X @ w)),
    "X*A*w": lambda X, A, w, **_: X @ (A @ w),
    "X*W*V'": lambda X, W, V, **_: X @ W @ V.T,
    "tr(U'*X*V)": lambda X, U, V, **_: np.trace(U.T @ X @ V),
    "tr(A*X'*X)": lambda X, A, **_: np.trace(A @ X.T @ X),
    "tr(X'*B*X)": lambda X, B, **_: np.trace(X.T @ B @ X),
    "sum(X)": lambda X, **_: np.sum(X),
    "sum(X.*X)": lambda X, **_: np.sum(X * X),
    "sum(X, axis=1)": lambda X, **_: np.sum(X, axis=1),
    "sum(X, axis=0)": lambda X, **_: np.sum(X, axis=0),
    "sum(X.*M)": lambda X, M, **_: np.sum(X * M),
    "sum(X.*(U*V'))": lambda X, U, V, **_: np.sum(X * (U @ V.T)),
    "sum(X.*log(1 + exp(U*V' + y*w')))": lambda X, U, V, y, w, **_: np.sum(X * softplus(U @ V.T + np.outer(y, w))),
    "sum((X - U*V').^2)": lambda X, U, V, **_: np.sum((X - U @ V.T) ** 2),
    "sum(exp(U*V') - X.*(U*V'))": lambda X, U, V, **_: np.sum(np.exp(U @ V.T) - X * (U @ V.T)),
    "(X.*(U*V'))*w": lambda X, U, V, w, **_: (X * (U @ V.T)) @ w,
    "(X - U*V')*w": lambda X, U, V, w, **_: (X - U @ V.T) @ w,
    "(c*X + X.*M)'*y": lambda X, c, M, y, **_: (c * X + X * M).T @ y,
    "sum(abs(X)) + sum(X.^3) + sum(relu(X))": lambda X, **_: np.sum(abs(X)) + np.sum(X**3) + np.sum(np.maximum(X, 0)),
    "sum(sin(X).*M)": lambda X, M, **_: np.sum(np.sin(X) * M),
    "sqrt(abs(X))*w": lambda X, w, **_: np.sqrt(abs(X)) @ w,
    "norm2(X) + norm2(X*w - y)": lambda X, w, y, **_: np.linalg.norm(X) + np.linalg.norm(X @ w - y),
    "diag(X*A*X')": lambda X, A, **_: np.diag(X @ A @ X.T),
    "diag(X*A*diag(e)*(X.*M)') + y": lambda X, A, e, M, y, **_: np.diag(X @ A @ np.diag(e) @ (X * M).T) + y,
    "diag(X*X')": lambda X, **_: np.diag(X @ X.T),
    "sum(norm2(X, axis=1))": lambda X, **_: np.sum(np.linalg.norm(X, axis=1)),
    "norm2(X, axis=0)": lambda X, **_: np.linalg.norm(X, axis=0),
    "(X + 2*X.*M + U*V')'*(X*w)": lambda X, M, U, V, w, **_: (X + 2 * X * M + U @ V.T).T @ (X @ w),
    "sum((X - exp(y*w')).^2)": lambda X, y, w, **_: np.sum((X - np.exp(np.outer(y, w))) ** 2),
    "sum(where(X > 1/2, X, -X))": lambda X, **_: np.sum(np.where(X > 0.5, X, -X)),
    "inv(X'*X + eye(n))*X'*y": lambda X, y, **_: np.linalg.solve(X.T @ X + np.eye(X.shape[1]), X.T @ y),
    "logdet(X'*diag(d.*d)*X + eye(n))": lambda X, d, **_: np.linalg.slogdet(
        X.T @ np.diag(d * d) @ X + np.eye(X.shape[1])
    )[1],
    "(X*w).*(X*e)": lambda X, w, e, **_: (X @ w) * (X @ e),
    "sum(log_softmax(X*W, axis=1))": lambda X, W, **_: np.sum(
        X @ W - np.log(np.sum(np.exp(X @ W), axis=1, keepdims=True))
    ),
    LOGISTIC: lambda X, y, w, c, **_: np.sum(softplus(-y * (X @ w))) + c * w @ w,
    "2*c*w - X'*(y.*sigmoid(-y.*(X*w)))": lambda X, y, w, c, **_: 2 * c * w - X.T @ (y * sigmoid(-y * (X @ w))),
}
QUICK = ["X*w", "X'*R", "X'*diag(d)*X", "(X.*(U*V'))*w", LOGISTIC]


def data(m, n, k, seed=0):
    """Return random data: X has an empty row and an empty column, and stored zeros, where there is room."""
    rng = np.random.default_rng([seed, m, n, k])
    D = rng.standard_normal((m, n)) * (rng.random((m, n)) < 0.5)
    D[1:2], D[:, 1:2] = 0, 0
    X = sparse.csr_array(D)
    X.data[::3] = 0
    shapes = {"w": (n,), "y": (m,), "d": (m,), "e": (n,), "W": (n, k), "R": (m, k), "U": (m, k), "V": (n, k)}
    shapes |= {"A": (n, n), "B": (m, m), "M": (m, n)}
    return {"X": X, "c": 0.7, **{name: rng.standard_normal(shape) for name, shape in shapes.items()}}


def dense(given):
    return {**given, "X": given["X"].toarray()}


def function(text, target):
    return mc.compile(mc.expression(text, SYMBOLS), target=target)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", FORMULAS)
def test_values(text):
    check_values("numpy", text)


@pytest.mark.parametrize("text", [t if t in QUICK else pytest.param(t, marks=pytest.mark.whole) for t in FORMULAS])
def test_values_compiled(text):
    check_values("numba", text)


def check_values(target, text):
    fn = function(text, target)
    for sizes in SIZES:
        if 0 in sizes and "log_softmax" in text:
            continue
        given = data(*sizes)
        want = FORMULAS[text](**dense(given))
        found = fn(*[given[name] for name in fn.args])
        np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-12, err_msg=str(sizes))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("text", FORMULAS)
def test_programs_interpreted(text):
    """The program, each access checked, against NumPy: no emitter and no kernel for Numba takes part."""
    made = planned(request_of([mc.expression(text, SYMBOLS)], ["result"], 0))
    for sizes in SIZES[:1] + SIZES[3:5]:
        if 0 in sizes and "log_softmax" in text:
            continue
        given = data(*sizes)
        fn = function(text, "numpy")
        named = {**given, **stored_by_name(fn.spec, given), "m": sizes[0], "n": sizes[1], "k": sizes[2]}
        machine = Interpreter(made.program)
        (found,) = machine.run(named, {name: named[name] for name in made.program.size_args}).values()
        np.testing.assert_allclose(found, FORMULAS[text](**dense(given)), rtol=1e-9, atol=1e-9)


SCALARS = {
    LOGISTIC: "w",
    "sum((X*w - y).^2) + c*norm2(w)": "w",
    "sum(log(1 + exp(-(diag(y)*X*W))))": "W",
    "sum((X - U*V').^2)": "U",
    "sum(U*V') - sum(X.*log(1 + exp(U*V')))": "V",
    "sum(X.*X.*cos(U*V' + y*w'))": "w",
    "logdet(X'*diag(exp(d))*X + eye(n))": "d",
    "y'*X*inv(A*A' + eye(n))*X'*y": "A",
    "norm2(X'*(X*w - y)) + tr(W'*X'*diag(d)*X*W)": "W",
    "-sum(log_softmax(X*W, axis=1)) + norm2(W)^2": "W",
}


def slope(f, at, step):
    """Return central differences."""
    found = np.empty(at.shape)
    for place in np.ndindex(at.shape):
        h = np.zeros(at.shape)
        h[place] = step
        found[place] = (f(at + h) - f(at - h)) / (2 * step)
    return found


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", SCALARS)
def test_gradients_and_products_are_differences(text):
    wrt, given = SCALARS[text], data(5, 4, 2, seed=1)
    plain = mc.compile(mc.expression(text, SYMBOLS.replace(" sparse", "")), target="numpy")
    both = mc.value_and_gradient(mc.expression(text, SYMBOLS), wrt, target="numpy")
    value, gradient = both(*[given[name] for name in both.args])

    def at(x):
        return plain(*[{**dense(given), wrt: x}[name] for name in plain.args])

    np.testing.assert_allclose(value, at(given[wrt]), rtol=1e-12)
    np.testing.assert_allclose(gradient, slope(at, given[wrt], 1e-5), rtol=1e-6, atol=1e-6)
    product = mc.compile(mc.hvp(mc.expression(text, SYMBOLS), wrt, vector="z"), target="numpy")
    z = np.random.default_rng(2).standard_normal(given[wrt].shape)

    def along(h):
        return both(*[{**given, wrt: given[wrt] + h * z}[name] for name in both.args])[1]

    found = product(*[{**given, "z": z}[name] for name in product.args])
    np.testing.assert_allclose(found, (along(1e-5) - along(-1e-5)) / 2e-5, rtol=1e-5, atol=1e-6)


def test_logistic_regression_by_definition():
    """Value, gradient, Hessian and its product, compiled, against NumPy and a complex step."""
    given = data(6, 4, 1, seed=3)
    D, w, y, c = given["X"].toarray(), given["w"], given["y"], given["c"]

    def f(w):
        return np.sum(np.log(1 + np.exp(-y * (D @ w)))) + c * w @ w

    step = [f(w + 1e-200j * np.eye(4)[k]).imag / 1e-200 for k in range(4)]
    s = sigmoid(y * (D @ w))
    H = D.T @ np.diag(y**2 * s * (1 - s)) @ D + 2 * c * np.eye(4)
    value, gradient = mc.value_and_gradient(LOGISTIC, "w", SYMBOLS)(given["X"], w, y, c)
    assert value == pytest.approx(f(w), rel=1e-14)
    np.testing.assert_allclose(gradient, step, rtol=1e-13)
    hessian = mc.compile(mc.hessian(LOGISTIC, "w", SYMBOLS))
    np.testing.assert_allclose(hessian(given["X"], w, y, c), H, rtol=1e-12, atol=1e-14)
    hvp = mc.compile(mc.hvp(LOGISTIC, "w", SYMBOLS))
    np.testing.assert_allclose(hvp(given["X"], w, y, c, y[:4]), H @ y[:4], rtol=1e-12)


TWO = "S: matrix(n, n) sparse; L: matrix(n, n) symmetric sparse; X: matrix(m, n) sparse; Z: matrix(m, n) sparse; " \
    "x: vector(n); y: vector(m); i: index(q)"  # fmt: skip
SEVERAL = {
    "x'*S*x": lambda S, x, **_: x @ S @ x,
    "(S + S')*x": lambda S, x, **_: (S + S.T) @ x,
    "x'*L*x": lambda L, x, **_: x @ L @ x,
    "2*L*x": lambda L, x, **_: 2 * L @ x,
    "S^3*x": lambda S, x, **_: S @ S @ S @ x,
    "S*S'*x": lambda S, x, **_: S @ S.T @ x,
    "x'*S*L*S'*x": lambda S, L, x, **_: x @ S @ L @ S.T @ x,
    "(X + Z)*x": lambda X, Z, x, **_: (X + Z) @ x,
    "y'*X*S*Z'*y": lambda X, S, Z, y, **_: y @ X @ S @ Z.T @ y,
    "X[i, :]*x": lambda X, i, x, **_: X[i] @ x,
    "sum((X*x)[i]) + sum(S.*S)": lambda X, i, x, S, **_: np.sum((X @ x)[i]) + np.sum(S * S),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", SEVERAL)
def test_several_matrices_and_square_ones(text):
    fn = mc.compile(text, declarations=TWO, target="numpy")
    for m, n in ((5, 4), (1, 1), (4, 4)):
        rng = np.random.default_rng([m, n])
        S, A, X, Z = (sparse.random_array(shape, density=0.5, rng=rng) for shape in ((n, n), (n, n), (m, n), (m, n)))
        given = {"S": S, "L": A + A.T, "X": X, "Z": Z, "x": rng.standard_normal(n), "y": rng.standard_normal(m)}
        given["i"] = rng.integers(0, m, 6)
        want = SEVERAL[text](**{k: v.toarray() if sparse.issparse(v) else v for k, v in given.items()})
        np.testing.assert_allclose(fn(*[given[name] for name in fn.args]), want, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("text", "part"), [("X[:2, :]*w", lambda X, w: X[:2] @ w), ("X[:, 1]", lambda X, w: X[:, 1])])
def test_parts(text, part):
    given = data(5, 4, 1)
    fn = function(text, "numpy")
    np.testing.assert_allclose(
        fn(*[given[name] for name in fn.args]), part(given["X"].toarray(), given["w"]), rtol=1e-14
    )
    given = data(1, 1, 1)
    with pytest.raises(mc.ShapeError):
        fn(*[given[name] for name in fn.args])


# ---- what is given


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
    assert X.nnz == 6  # the caller's matrix is as it was


@pytest.mark.parametrize("target", ["numba", "numpy"])
def test_what_is_not_stored_takes_no_part(target):
    """A product with an entry that is not stored is 0, also with infinity and NaN; with a stored zero it is not."""
    X = sparse.csr_array((np.array([1.0, 0.0]), np.int32([0, 1]), np.int32([0, 1, 2])), shape=(2, 3))
    found = mc.compile(mc.expression("X*w", SYMBOLS), target=target)(X, np.array([2.0, np.inf, np.nan]))
    assert found[0] == 2 and np.isnan(found[1])
    X.data[:] = np.nan, np.inf
    found = mc.compile(mc.expression("X'*y", SYMBOLS), target=target)(X, np.array([1.0, 2.0]))
    assert np.isnan(found[0]) and found[1] == np.inf and found[2] == 0


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
    """Yield matrices whose arrays are no matrix, which SciPy does not notice."""
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
        with pytest.raises(mc.ShapeError, match="columns or row starts outside of its shape"):
            fn(*[given[name] for name in fn.args])


def test_out_keywords_and_sizes():
    given = data(5, 4, 2)
    fn = mc.value_and_gradient(LOGISTIC, "w", SYMBOLS)
    assert fn.args == ("X", "w", "y", "c")
    G = np.empty(4)
    value, gradient = fn(given["X"], given["w"].tolist(), y=given["y"], c=1, out=(None, G))
    assert gradient is G
    again = fn({"X": given["X"], "w": given["w"], "y": given["y"], "c": 1.0})
    assert value == again[0] and np.array_equal(G, again[1])
    columns = mc.compile("sum(X, axis=0)", declarations="X: matrix(m, n) sparse")  # n stands in no other shape
    assert columns.args == ("X",)
    np.testing.assert_allclose(columns(given["X"]), given["X"].toarray().sum(axis=0))
    fixed = mc.compile("X*ones(4)", declarations="X: matrix(2*m, 4) sparse")
    np.testing.assert_allclose(fixed(given["X"][:4]), given["X"].toarray()[:4].sum(axis=1))
    with pytest.raises(mc.ShapeError, match="X makes m = 5/2, which is no size"):
        fixed(given["X"])
    with pytest.raises(mc.ShapeError, match=r"X: matrix\(2\*m, 4\) must have shape"):
        fixed(given["X"][:4, :3])


def test_names_of_arrays_are_kept_clear_of_symbols():
    text = "X_values'*X*X_columns + X_stored*sum(X)"
    let = "X: matrix(X_rows, n) sparse; X_values: vector(X_rows); X_columns: vector(n); X_stored: scalar"
    X = data(5, 4, 2)["X"]
    found = mc.compile(text, declarations=let)(X, np.arange(5.0), np.arange(4.0), 3.0)
    assert found == pytest.approx(np.arange(5) @ X.toarray() @ np.arange(4) + 3 * X.sum())


# ---- what is refused


REFUSED = {
    "sum(exp(X))": "is not 0 where nothing is stored",
    "X": "is a result",
    "X.*M": "is a result",
    "X + M": "is a result",
    "vec(X)": "multiplies a sparse matrix into one as large",
    "X[:2, :]": "multiplies a sparse matrix into one as large",
    "X*A*X'": "multiplies a sparse matrix into one as large",
    "kron(X, W)": "multiplies a sparse matrix into one as large",
    "max(X)": "is no operation on stored entries",
    "sum(1./(X + M))": "is a function of a sparse matrix and of others",
}


@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
@pytest.mark.parametrize("text", REFUSED)
def test_what_needs_a_dense_copy_is_refused(text, target):
    with pytest.raises(mc.NotSupported, match=REFUSED[text]) as fault:
        function(text, target)
    assert "X.toarray()" in str(fault.value)


def test_what_takes_no_sparse_matrix_says_so():
    fn = function("X*w", "numba")
    with pytest.raises(mc.NotDifferentiable, match="X is declared sparse: it is data"):
        mc.gradient("sum(X)", "X", SYMBOLS)
    for target in ("torch", "jax"):
        with pytest.raises(mc.NotSupported, match=f"the target {target} takes no sparse matrices, as X is declared"):
            function("X*w", target)
    with pytest.raises(mc.NotSupported, match="X is sparse: a batch has one of it"):
        mc.batch(fn, over="X")
    with pytest.raises(mc.NotSupported, match="whether the sparse X is nonnegative is not checked"):
        mc.compile("X*w", declarations="X: matrix(m, n) sparse nonnegative; w: vector(n)", check_facts=True)(
            data(2, 3, 1)["X"], np.ones(3)
        )
    with pytest.raises(mc.ShapeError, match="'sparse' is a fact about matrices"):
        mc.expression("sum(x)", "x: vector(n) sparse")


# ---- other ways


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
        assert values[k] == fn(X, one, y, 0.5)[0] and np.array_equal(gradients[k], fn(X, one, y, 0.5)[1])
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


@pytest.mark.parametrize("text", [LOGISTIC, *(pytest.param(t, marks=pytest.mark.whole) for t in list(SAVED)[1:])])
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
