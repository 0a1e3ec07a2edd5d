"""Gradients of summands, and functions for each row of an argument: against NumPy by hand, a row at a time."""

import pickle
import runpy

import numpy as np
import pytest

import matcalc as mc
from matcalc.compiler.llvm.native import assembly_of

RNG = np.random.default_rng(11)
X, Y, T = RNG.standard_normal((6, 3)), RNG.standard_normal((6, 2)), RNG.random(6)
W, U, y, w = RNG.standard_normal((3, 4)), RNG.standard_normal((3, 2)), RNG.standard_normal(6), RNG.standard_normal(3)
LABELS = np.array([0, 3, 1, 1, 2, 0])


def log_softmax(z):
    return z - np.log(np.exp(z).sum())


SUMS = {  # text, declarations, wrt, data, the k-th summand by hand
    "logistic": (
        "sum(log(1 + exp(-y .* (X*w))))", "", "w", {"X": X, "w": w, "y": y},
        lambda k, X, w, y: np.log1p(np.exp(-y[k] * (X[k] @ w))),
    ),
    "squares": (
        "c*norm2(X*w - y)^2/2", "c: scalar", "w", {"X": X, "w": w, "y": y, "c": 0.7},
        lambda k, X, w, y, c: c * (X[k] @ w - y[k]) ** 2 / 2,
    ),
    "a mean": (
        "sum((X*w - y).^4)/m + 3*sum(sin(X*w))/m", "X: matrix(m, n); w: vector(n); y: vector(m)", "w",
        {"X": X, "w": w, "y": y},
        lambda k, X, w, y: ((X[k] @ w - y[k]) ** 4 + 3 * np.sin(X[k] @ w)) / 6,
    ),
    "within a factor": (
        "exp(c)*(sum(cos(X*w)) - 2*sum(y.*(X*w)))", "c: scalar", "w", {"X": X, "w": w, "y": y, "c": 0.3},
        lambda k, X, w, y, c: np.exp(c) * (np.cos(X[k] @ w) - 2 * y[k] * (X[k] @ w)),
    ),
    "a likelihood": (
        "-norm2(X*w - y)^2/(2*exp(2*t)) - m*t - m*log(2*pi)/2", "X: matrix(m, n); y: vector(m); t: scalar", "t",
        {"X": X, "w": w, "y": y, "t": 0.3},
        lambda k, X, w, y, t: -((X[k] @ w - y[k]) ** 2) / (2 * np.exp(2 * t)) - t - np.log(2 * np.pi) / 2,
    ),
    "a matrix": (
        "norm2(X*U - Y)^2", "X: matrix(m, n); U: matrix(n, p); Y: matrix(m, p)", "U", {"X": X, "U": U, "Y": Y},
        lambda k, X, U, Y: ((X[k] @ U - Y[k]) ** 2).sum(),
    ),
    "labels": (
        "-sum{i: log_softmax(X*W, axis=1)[i, y[i]]}", "X: matrix(m, n); W: matrix(n, q); y: index(m)", "W",
        {"X": X, "W": W, "y": LABELS},
        lambda k, X, W, y: -log_softmax(X[k] @ W)[y[k]],
    ),
    "entries": (
        "sum((p[0]*exp(-p[1]*t) - y).^2)", "t, y: vector(m); p: vector(2)", "p",
        {"t": T, "y": y, "p": np.array([1.3, 0.4])},
        lambda k, t, y, p: (p[0] * np.exp(-p[1] * t[k]) - y[k]) ** 2,
    ),
}  # fmt: skip


def slope(f, at):
    """Return the derivatives of `f` by central differences."""
    found = np.empty(at.shape)
    for place in np.ndindex(at.shape):
        step = np.zeros(at.shape)
        step[place] = 1e-5
        found[place] = (f(at + step) - f(at - step)) / 2e-5
    return found


@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
@pytest.mark.parametrize("which", SUMS)
@pytest.mark.sampled(9)
def test_scores(which, target):
    text, let, wrt, data, summand = SUMS[which]
    function = mc.scores(text, wrt, over="m", declarations=let, target=target)
    rows = function(**data)
    assert rows.shape == (6, *np.shape(data[wrt]))
    for k, row in enumerate(rows):
        by_hand = slope(lambda at, k=k: summand(k, **{**data, wrt: at}), np.asarray(data[wrt]))
        np.testing.assert_allclose(row, by_hand, rtol=1e-6, atol=1e-8)
    total = mc.gradient(text, wrt, let)
    np.testing.assert_allclose(rows.sum(axis=0), total(**{name: data[name] for name in total.symbols}), rtol=1e-10)


def test_scores_in_several():
    function = mc.scores("sum((X*w + b - y).^2)", ["w", "b"], "m", "b: scalar; X: matrix(m, n)", target="numpy")
    by_w, by_b = function(X=X, w=w, y=y, b=0.2)
    residual = X @ w + 0.2 - y
    np.testing.assert_allclose(by_w, 2 * residual[:, None] * X, rtol=1e-12)
    np.testing.assert_allclose(by_b, 2 * residual, rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "let", "said"),
    [
        ("norm2(X*w - y)^2 + w'*w", "", "no sum over m alone"),
        ("log(sum(exp(X*w)))", "", "no sum over m alone"),
        ("w'*A*w", "A: matrix(m, m); w: vector(m)", "no sum over m alone"),
        ("norm2(A*w)", "A: matrix(m, m); w: vector(m)", "no sum over m alone"),
        ("X*w", "", "needs a scalar"),
    ],
)
def test_what_is_no_sum_over_rows(text, let, said):
    with pytest.raises((mc.NotSupported, mc.ShapeError), match=said):
        mc.scores(text, "w", "m", let)


def loss(X, w, y, lam):
    return np.log1p(np.exp(-y * (X @ w))).sum() + lam * w @ w


def gradient(X, w, y, lam):
    return 2 * lam * w - X.T @ (y / (1 + np.exp(y * (X @ w))))


LOSS = "sum(log(1 + exp(-y .* (X*w)))) + lam*w'*w", "w", "X: matrix(m, n); w: vector(n); y: vector(m); lam: scalar"
MANY = RNG.standard_normal((5, 3)), RNG.random(5)


@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.whole
def test_batch(target):
    function = mc.batch(mc.value_and_gradient(*LOSS, target=target), over=["w", "lam"])
    assert function.args == ("X", "w", "y", "lam")
    for values, gradients in (
        function(X, MANY[0], y, MANY[1]),
        pickle.loads(pickle.dumps(function))(X, MANY[0], y, MANY[1]),
    ):
        for k, (at, lam) in enumerate(zip(*MANY, strict=True)):
            np.testing.assert_allclose(values[k], loss(X, at, y, lam), rtol=1e-12)
            np.testing.assert_allclose(gradients[k], gradient(X, at, y, lam), rtol=1e-11)
    values, gradients = function(X, MANY[0][:0], y, MANY[1][:0])
    assert values.shape == (0,) and gradients.shape == (0, 3)
    out = np.empty(5), np.empty((5, 3))
    assert function(X, MANY[0], y, MANY[1], out=out)[1] is out[1]
    np.testing.assert_allclose(out[0], [loss(X, at, y, lam) for at, lam in zip(*MANY, strict=True)], rtol=1e-12)


def test_a_batch_of_data_that_is_saved(tmp_path):
    """Many data sets at once, in a saved file."""
    function = mc.batch(mc.value_and_gradient(*LOSS, target="numpy"), over=["X", "y"])
    function.save(tmp_path / "many.py")
    saved = runpy.run_path(str(tmp_path / "many.py"))
    assert saved["self_test"]() == [] and len(saved["CASES"][0][1]["value"]) == 3
    kept = saved["f_batch"]
    data = RNG.standard_normal((4, 6, 3)), RNG.standard_normal((4, 6))
    for made in (function(data[0], w, data[1], 0.1), kept(data[0], w, data[1], 0.1)):
        np.testing.assert_allclose(made[0], [loss(x, w, t, 0.1) for x, t in zip(*data, strict=True)], rtol=1e-12)
        np.testing.assert_allclose(made[1], [gradient(x, w, t, 0.1) for x, t in zip(*data, strict=True)], rtol=1e-11)


@pytest.mark.whole
def test_a_batch_of_blocks_of_rows_is_compiled_without_numba():
    """A function that runs on blocks of its rows, for several data sets with several blocks each."""
    function = mc.batch(mc.value_and_gradient(*LOSS), over=["w", "lam"])
    assert assembly_of(function.spec)[1]
    data = RNG.standard_normal((4000, 60)), RNG.standard_normal(4000)
    many = RNG.standard_normal((3, 60)) / 9, RNG.random(3)
    values, gradients = function(data[0], many[0], data[1], many[1])
    for k, (at, lam) in enumerate(zip(*many, strict=True)):
        np.testing.assert_allclose(values[k], loss(data[0], at, data[1], lam), rtol=1e-12)
        np.testing.assert_allclose(gradients[k], gradient(data[0], at, data[1], lam), rtol=1e-9, atol=1e-9)


def test_names_of_the_loop_are_free():
    let = "k: vector(n); batch: scalar; status: scalar; f_one: scalar"
    function = mc.batch(mc.compile("sum(k)*batch + status*f_one", declarations=let, target="numpy"), over="k")
    given = {"k": MANY[0], "batch": 2.0, "status": 3.0, "f_one": 5.0}
    np.testing.assert_allclose(function(**given), 2 * MANY[0].sum(axis=1) + 15, rtol=1e-13)


@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_a_fault_in_a_batch(target):
    function = mc.batch(mc.compile("inv(A)*b", declarations="A: matrix(n, n); b: vector(n)", target=target), over="A")
    A = RNG.standard_normal((3, 2, 2)) + 3 * np.eye(2)
    np.testing.assert_allclose(function(A, np.ones(2)), [np.linalg.solve(one, np.ones(2)) for one in A], rtol=1e-11)
    A[1] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match="A is singular"):
        function(A, np.ones(2))


def test_what_has_no_batch_axis():
    f = mc.compile("sum{i: x[k[i]]}*n", declarations="x: vector(n); k: index(m)", target="numpy")
    with pytest.raises(mc.UnknownName, match="z is not an argument"):
        mc.batch(f, over=["z"])
    with pytest.raises(mc.NotSupported, match="k holds indices"):
        mc.batch(f, over=["k"])
    with pytest.raises(mc.ShapeError, match="over="):
        mc.batch(f, over=[])
    many = mc.batch(f, over=["x"])
    np.testing.assert_allclose(many(MANY[0], [0, 2]), 3 * (MANY[0][:, 0] + MANY[0][:, 2]), rtol=1e-13)
    with pytest.raises(ValueError, match="outside|k\\[1\\]"):
        many(MANY[0], [0, 7])
    with pytest.raises(ValueError, match="x"):
        many(MANY[0][0], [0, 2])
