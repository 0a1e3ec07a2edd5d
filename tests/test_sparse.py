"""Sparse matrices as data: values and derivatives against NumPy on the dense matrix, complex steps and differences."""

import numpy as np
import pytest
from scipy import sparse
from sparse_cases import FORMULAS, LOGISTIC, QUICK, SIZES, SYMBOLS, data, dense, function, sigmoid

import matcalc as mc
from matcalc.compiler.call.sparse import stored_by_name
from matcalc.compiler.verify.interpret import Interpreter
from matcalc.pipeline.build import planned, request_of


@pytest.mark.sampled(16)
@pytest.mark.parametrize("text", FORMULAS)
def test_values(text):
    check_values("numpy", text)


@pytest.mark.parametrize("text", [t if t in QUICK else pytest.param(t, marks=pytest.mark.whole) for t in FORMULAS])
@pytest.mark.whole
@pytest.mark.thinned(2)
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


@pytest.mark.sampled(32)
@pytest.mark.parametrize("text", FORMULAS)
def test_programs_interpreted(text):
    """The checked interpreter runs the program, against NumPy: no emitter and no kernel for Numba is involved."""
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


@pytest.mark.whole
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


@pytest.mark.whole
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
