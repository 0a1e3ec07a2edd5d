"""Row blocks read a matrix once instead of twice; results are compared with NumPy by definition."""

import importlib.util
import re
import sys
from functools import cache

import numpy as np
import pytest

import matcalc as mc
from matcalc.compiler.emit.module import emit
from matcalc.compiler.lowering_entries import BLOCK, LEAST, ONCE
from matcalc.compiler.verify.interpret import interpret
from matcalc.pipeline import build

WIDE = 999
"""Columns: with a vector beside them rows have 1000 entries, blocks LEAST rows, and one block holds up to ROWS rows."""
ROWS = ONCE // (WIDE + 1)
SIZES = [0, 1, 2, LEAST - 1, LEAST, LEAST + 1, ROWS, ROWS + 1, 3 * LEAST - 1, 3 * LEAST, 3 * LEAST + 1]
VECTORS = "w: vector(n); X: matrix(m, n); y: vector(m)"


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


def logistic(X, w, y):
    t = y * (X @ w)
    return np.sum(np.logaddexp(0, -t)), -X.T @ (y * sigmoid(-t))


def squares(X, w, y):
    r = X @ w - y
    return r @ r, 2 * X.T @ r


def ridge(X, w, y):
    r = X @ w - y
    return r @ r / len(y) + w @ w, 2 * X.T @ r / len(y) + 2 * w


def poisson(X, w, y):
    t = X @ w
    return np.sum(np.exp(t) - y * t), X.T @ (np.exp(t) - y)


CASES = {
    "sum(log(1 + exp(-y.*(X*w))))": logistic,
    "norm2(X*w - y)^2": squares,
    "norm2(X*w - y)^2/numel(y) + w'*w": ridge,
    "sum(exp(X*w) - y.*(X*w))": poisson,
}


def drawn(m, n=WIDE, seed=0):
    rng = np.random.default_rng([m, n, seed])
    X = rng.standard_normal((m, n)) / np.sqrt(n)
    return {"X": X, "w": rng.standard_normal(n), "y": np.sign(rng.standard_normal(m))}


def assert_close(found, wanted):
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11 * np.max(np.abs(b), initial=1e-3))


@cache
def compiled(formula="norm2(X*w - y)^2"):
    return mc.value_and_gradient(formula, "w", VECTORS)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("formula", [pytest.param(f, marks=[pytest.mark.whole] * (f[0] == "s")) for f in CASES])
def test_all_sizes_about_a_block(formula):
    function = compiled(formula)
    assert "for start in range(" in function.source
    for m in SIZES[("numel" in formula) :]:
        data = drawn(m)
        assert_close(function(**data), CASES[formula](**data))


def test_narrow_rows_and_none():
    function = compiled()
    rows = BLOCK // 3
    for m in (0, 1, rows, ONCE // 3 + 1, 5 * rows - 1, 5 * rows, 5 * rows + 1):
        data = drawn(m, 2)
        assert_close(function(**data), squares(**data))
    for m in (0, 3, ONCE + 5):
        value, gradient = function(**drawn(m, 0))
        assert value == m
        assert gradient.shape == (0,)


def test_each_row_counts_once():
    m = ROWS + 70
    value, gradient = compiled()(X=np.ones((m, WIDE)), w=np.zeros(WIDE), y=np.arange(m, dtype=float))
    assert value == sum(k * k for k in range(m))
    assert np.all(gradient == -m * (m - 1))


def test_same_bits_in_each_call_and_by_out_and_by_bind():
    function = compiled()
    for m in (LEAST, ROWS, 3 * LEAST + 1):
        data = drawn(m)
        value, gradient = function(**data)
        again, slope = function(**data)
        assert value == again
        assert np.array_equal(gradient, slope)
        out = np.full(WIDE, np.nan)
        assert function(**data, out=(None, out))[0] == value
        assert np.array_equal(out, gradient)
        bound = function.bind(X=data["X"], y=data["y"])
        assert_close(bound(w=data["w"]), (value, gradient))


def test_other_layouts_and_types():
    function = compiled()
    data = drawn(3 * LEAST + 1)
    wanted = squares(**data)
    X = data["X"]
    twice = np.repeat(np.repeat(X, 2, 0), 2, 1)[::2, ::2]
    frozen = X.copy()
    frozen.flags.writeable = False
    for other in (np.asfortranarray(X), twice, X[::-1][::-1], frozen):
        assert_close(function(X=other, w=data["w"], y=data["y"]), wanted)
    ones = np.ones((ROWS + 70, WIDE), int)
    value, gradient = function(X=ones, w=np.ones(WIDE, int), y=np.zeros(len(ones), int))
    assert value == len(ones) * WIDE**2
    assert np.all(gradient == 2 * len(ones) * WIDE)


def test_what_is_not_finite_spreads_as_in_one_block():
    function = compiled()
    data = drawn(3 * LEAST + 1)
    for row in (0, LEAST, 3 * LEAST):
        for bad in (np.nan, np.inf):
            X = data["X"].copy()
            X[row, 5] = bad
            value, gradient = function(X=X, w=data["w"], y=data["y"])
            assert not np.isfinite(value)
            assert np.all(~np.isfinite(gradient))
    y = np.full(len(data["y"]), 1e200)
    assert function(X=data["X"], w=data["w"], y=y)[0] == np.inf
    tiny = function(X=data["X"] * 0, w=data["w"], y=data["y"] * 5e-324)
    assert tiny[0] == 0
    assert np.all(tiny[1] == 0)


# ---- other shapes of programs


@pytest.mark.whole
def test_matrices_between_and_rows_as_results():
    value = "norm_fro(tanh(X*A)*b - y)^2"
    function = mc.value_and_gradient(value, ["A", "b"], "A: matrix(n, k); b: vector(k); X: matrix(m, n); y: vector(m)")
    assert "for start in range(" in function.source
    rng = np.random.default_rng(0)
    for m in (1, ROWS + 1, 3 * LEAST):
        X, y, A, b = (rng.standard_normal(s) / s[0] ** 0.5 for s in ((m, WIDE), (m,), (WIDE, 3), (3,)))
        H = np.tanh(X @ A)
        r = H @ b - y
        gradients = X.T @ (2 * np.outer(r, b) * (1 - H**2)), 2 * H.T @ r
        found, slopes = function(A=A, b=b, X=X, y=y)
        assert_close((found, *slopes), (r @ r, *gradients))


@pytest.mark.whole
def test_softmax_regression():
    f = "sum(logsumexp(X*W, axis=1)) - sum(Y.*(X*W))"
    function = mc.value_and_gradient(f, "W", "W: matrix(n, k); X: matrix(m, n); Y: matrix(m, k)")
    assert "for start in range(" in function.source
    rng = np.random.default_rng(0)
    for m, n, k in ((0, 3, 2), (1, 3, 2), (ROWS + 70, WIDE, 3), (ONCE // 9, 8, 4)):
        X, W = rng.standard_normal((m, n)) / n**0.5, rng.standard_normal((n, k))
        Y = np.eye(k)[rng.integers(0, k, m)]
        Z = np.exp(X @ W)
        P = Z / Z.sum(1, keepdims=True)
        assert_close(function(X=X, W=W, Y=Y), (np.sum(np.log(Z.sum(1))) - np.sum(Y * (X @ W)), X.T @ (P - Y)))


@pytest.mark.whole
def test_numbers_of_rows_in_a_block_are_those_of_all():
    function = mc.value_and_gradient("sum(log(numel(y) + exp(X*w - y)))", "w", VECTORS)
    assert "for start in range(" in function.source
    for m in (1, ROWS, ROWS + 1, 3 * LEAST):
        data = drawn(m)
        e = np.exp(data["X"] @ data["w"] - data["y"])
        assert_close(function(**data), (np.sum(np.log(m + e)), data["X"].T @ (e / (m + e))))


@pytest.mark.whole
def test_results_by_rows_beside_totals():
    texts = ["tanh(X*w)", "X'*tanh(X*w)", "sum(tanh(X*w))"]
    function = mc.compile(texts, declarations="w: vector(n); X: matrix(m, n)")
    assert "for start in range(" in function.source
    for m in SIZES:
        data = drawn(m)
        t = np.tanh(data["X"] @ data["w"])
        assert_close(function(X=data["X"], w=data["w"]), (t, data["X"].T @ t, t.sum()))


@pytest.mark.whole
def test_second_derivatives():
    function = mc.compile("X'*diag(exp(X*w))*X", declarations="w: vector(n); X: matrix(m, n)")
    product = mc.compile("X'*(exp(X*w).*(X*v))", declarations="w: vector(n); v: vector(n); X: matrix(m, n)")
    assert "for start in range(" in product.source
    rng = np.random.default_rng(0)
    for m, n in ((0, 3), (5, 3), (ONCE // 7 + 3, 7), (ONCE // 40 + 1, 40)):
        X, w, v = rng.standard_normal((m, n)), rng.standard_normal(n) / 9, rng.standard_normal(n)
        d = np.exp(X @ w)
        assert_close((function(w=w, X=X), product(w=w, v=v, X=X)), (X.T * d @ X, X.T @ (d * (X @ v))))


@pytest.mark.whole
def test_factors_with_rows_of_their_own():
    function = mc.value_and_gradient(
        "norm_fro(M.*(U*V' - Y))^2", ["U", "V"], "U: matrix(m, k); V: matrix(n, k); M: matrix(m, n); Y: matrix(m, n)"
    )
    rng = np.random.default_rng(0)
    for m, n, k in ((1, 1, 1), (150, 500, 2), (400, 300, 3)):
        U, V, M, Y = (rng.standard_normal(s) for s in ((m, k), (n, k), (m, n), (m, n)))
        R = M * (U @ V.T - Y)
        value, (dU, dV) = function(U=U, V=V, M=M, Y=Y)
        assert_close((value, dU, dV), (np.sum(R**2), 2 * (M * R) @ V, 2 * (M * R).T @ U))


@pytest.mark.whole
@pytest.mark.parametrize(
    ("formula", "declarations"),
    [
        ("w'*X*w", "w: vector(n); X: matrix(n, n)"),  # the columns are the same axis
        ("logsumexp(X*w)", "w: vector(n); X: matrix(m, n)"),  # X'*softmax needs a total first
        ("sum(exp(X*w)) + sum(flip(X*w).*(X*w))", "w: vector(n); X: matrix(m, n)"),  # rows interact
        ("norm2(w)^2", "w: vector(n)"),
    ],
)
def test_what_is_no_work_by_rows_stays_and_is_right(formula, declarations):
    function = mc.value_and_gradient(formula, "w", declarations)
    rng = np.random.default_rng(0)
    n = 7
    m = n if "n, n" in declarations else ONCE // 7 + 9
    data = {"w": rng.standard_normal(n) / 9, "X": rng.standard_normal((m, n)) / 9}
    data = {name: a for name, a in data.items() if re.search(rf"\b{name}:", declarations)}
    _, gradient = function(**data)
    at = data.pop("w")
    slopes = []
    for k in range(n):
        step = 1e-5 * np.eye(n)[k]
        slopes.append((function(w=at + step, **data)[0] - function(w=at - step, **data)[0]) / 2e-5)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-6)


@pytest.mark.whole
def test_a_total_that_rows_need_comes_between():
    """The second pass needs a total of the first: it gets no blocks of its own, or correct ones."""
    function = mc.compile("X'*((X*w)*sum(exp(X*w)))", declarations="w: vector(n); X: matrix(m, n)")
    for m in (1, ROWS + 70):
        X, w, _ = drawn(m).values()
        assert_close((function(w=w, X=X),), (X.T @ (X @ w) * np.sum(np.exp(X @ w)),))


@pytest.mark.whole
def test_what_is_added_to_a_total_afterwards():
    f = "norm_fro(M - U*V')^2 + lam*(norm_fro(U)^2 + norm_fro(V)^2)"
    declared = "M: matrix(m, n); U: matrix(m, k); V: matrix(n, k); lam: scalar"
    function = mc.compile(list(mc.hvp(mc.expression(f, declared), ["U", "V"], vector=["P", "Q"])))
    rng = np.random.default_rng(0)
    for m, n, k in ((1, 2, 1), (0, 3, 2), (150, 500, 2), (700, 300, 3)):
        M, U, V, P, Q = (rng.standard_normal(s) for s in ((m, n), (m, k), (n, k), (m, k), (n, k)))
        R, dR = U @ V.T - M, P @ V.T + U @ Q.T
        wanted = 2 * (dR @ V + R @ Q) + 6 * P, 2 * (dR.T @ U + R.T @ P) + 6 * Q
        assert_close(function(M=M, U=U, V=V, P=P, Q=Q, lam=3.0), wanted)


@pytest.mark.whole
def test_names_of_users_that_the_text_has_for_itself():
    words = {"X": "rows", "w": "start", "y": "width", "m": "end", "n": "m_rows"}
    text = "norm2(X*w - y)^2/numel(y) + w'*w"
    formula, declared = (re.sub(r"\b[Xwymn]\b", lambda x: words[x[0]], t) for t in (text, VECTORS))
    function = mc.value_and_gradient(formula, "start", declared)
    for m in (1, ROWS + 70):
        data = drawn(m)
        assert_close(function(**{words[name]: a for name, a in data.items()}), ridge(**data))
    other = mc.value_and_gradient("norm2(gemv*np - i)^2", "np", "np: vector(j); gemv: matrix(k, j); i: vector(k)")
    assert_close(other(**{"gemv": data["X"], "np": data["w"], "i": data["y"]}), squares(**data))


@pytest.mark.whole
def test_told_sizes_that_are_small_have_no_blocks():
    function = mc.value_and_gradient("norm2(X*w - y)^2", "w", VECTORS, sizes={"m": 100, "n": 10})
    assert "for start in range(" not in function.source


@pytest.mark.whole
def test_networks_have_no_blocks():
    f, declared = "norm_fro(tanh(X*A)*B - Y)^2", "X: matrix(m, d); A: matrix(d, h); B: matrix(h, p); Y: matrix(m, p)"
    assert "for start in range(" not in mc.value_and_gradient(f, ["A", "B"], declared).source


# ---- the Program


def planned(formula, wrt, declarations, monkeypatch):
    kept = []
    real = build.plan
    monkeypatch.setattr(build, "plan", lambda *args, **named: kept.append(real(*args, **named)) or kept[-1])
    mc.value_and_gradient(formula, wrt, declarations)
    return kept[0]


def test_the_program_is_interpreted_and_its_text_for_numpy_runs(monkeypatch):
    program = planned("norm2(X*w - y)^2/numel(y) + w'*w", "w", VECTORS, monkeypatch)
    assert [kernel.blocks is not None for kernel in program.kernels] == [True]
    for m in (1, 5):
        data = drawn(m, 3)
        found = interpret(program, data, {"m": m, "n": 3})
        assert_close(found.values(), ridge(**data))
    assert "all_rows(" in emit(program, "f", "numpy")


@pytest.mark.whole
def test_saved(tmp_path):
    function = compiled()
    data = drawn(ROWS + 70)
    path = tmp_path / "saved_squares.py"
    function.save(path)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    saved = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(saved)
        assert_close(saved.f(data["w"], data["X"], data["y"]), squares(**data))
        value, gradient = np.empty(1), np.empty(WIDE)
        assert saved.f_numpy_into(data["w"], data["X"], data["y"], value, gradient) == 0
        assert_close((value[0], gradient), squares(**data))
    finally:
        del sys.modules[path.stem]
