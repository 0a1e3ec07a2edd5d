"""mc.minimize(..., compiled=True): SciPy's iterates on hand-written functions, many fits, faults in mid-run."""

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize
from solvers import logistic

import matcalc as mc

START = np.array([3.0, -2.0, 1.0, 0.5])
TIMES = np.linspace(0.0, 3.0, 25)
CURVE = "norm2(a*exp(-b*t) + c - y)^2"
CURVE_NAMES = "a: scalar; b: scalar; c: scalar; t: vector(m); y: vector(m)"


def curves(count):
    rng = np.random.default_rng(3)
    return 2.0 * np.exp(-0.8 * TIMES) + 0.3 + 0.05 * rng.standard_normal((count, len(TIMES)))


def curve_residual(p, y):
    return p[0] * np.exp(-p[1] * TIMES) + p[2] - y


def curve_jacobian(p, y):
    e = np.exp(-p[1] * TIMES)
    return np.column_stack([e, -p[0] * TIMES * e, np.ones_like(e)])


def fitted(method, **more):
    return mc.minimize(logistic.FORMULA, "w", {"w": START}, logistic.DATA, method, compiled=True,
                       declarations=logistic.DECLARATIONS, **more)  # fmt: skip


@pytest.mark.whole
@pytest.mark.parametrize("steps", [1, 2, 3, 5, 8, 100])
def test_steps_are_those_of_lbfgsb(steps):
    found = fitted("lbfgs", options={"maxiter": steps, "gtol": 1e-4, "ftol": 0.0})
    expected = minimize(logistic.value, START, jac=logistic.gradient, method="L-BFGS-B",
                        options={"maxiter": steps, "gtol": 1e-4, "ftol": 0.0})  # fmt: skip
    assert (found.nit, found.nfev, found.success) == (expected.nit, expected.nfev, expected.success)
    assert np.allclose(found.x["w"], expected.x, rtol=1e-9, atol=1e-11)
    assert np.isclose(found.fun, expected.fun, rtol=1e-12)


@pytest.mark.whole
@pytest.mark.parametrize("steps", [1, 2, 3, 5, 100])
def test_steps_are_those_of_trust_ncg(steps):
    options = {"maxiter": steps, "gtol": 1e-8}
    found = fitted("newton-cg", options=options)
    expected = minimize(logistic.value, START, jac=logistic.gradient, hessp=lambda w, v: logistic.hessian(w) @ v,
                        method="trust-ncg", options=options)  # fmt: skip
    assert (found.nit, found.nfev, found.success) == (expected.nit, expected.nfev, expected.success)
    assert np.allclose(found.x["w"], expected.x, rtol=1e-9, atol=1e-11)


@pytest.mark.whole
@pytest.mark.parametrize("calls", [2, 3, 4, 6, 100])
@pytest.mark.parametrize("start", [(1.0, 1.0, 0.0), (5.0, 0.1, 1.0), (50.0, -1.0, 3.0), (-3.0, 0.2, 2.0)])
def test_steps_are_those_of_minpack(calls, start):
    (y,) = curves(1)
    found = mc.minimize(CURVE, ["a", "b", "c"], dict(zip("abc", start, strict=True)), {"t": TIMES, "y": y}, "lm",
                        compiled=True, declarations=CURVE_NAMES, options={"max_nfev": calls})  # fmt: skip
    expected = least_squares(curve_residual, start, curve_jacobian, method="lm", args=(y,), max_nfev=calls)
    assert abs(found.nfev - expected.nfev) <= (calls == 100)  # at the end rounding may stop one of them a call sooner
    assert np.allclose([found.x[name] for name in "abc"], expected.x, rtol=1e-6, atol=1e-9)
    assert np.isclose(found.fun, 2 * expected.cost, rtol=1e-9)
    by_hand = 2 * curve_jacobian(expected.x, y).T @ curve_residual(expected.x, y)
    assert np.allclose([found.jac[name] for name in "abc"], by_hand, rtol=1e-4, atol=1e-4)


@pytest.mark.whole
@pytest.mark.parametrize("threads", [1, 2])
def test_many_fits_are_each_their_own(threads):
    rng = np.random.default_rng(0)
    count = 23
    X = rng.standard_normal((count, 30, 3))
    y = (rng.random((count, 30)) < 0.5).astype(float)
    w = rng.standard_normal((count, 3))
    found = mc.minimize(logistic.FORMULA, "w", {"w": w}, {"X": X, "y": y, "c": 0.1}, compiled=True, threads=threads,
                        over=["w", "X", "y"], tol=1e-10, declarations=logistic.DECLARATIONS)  # fmt: skip
    assert found.success.all()
    assert found.x["w"].shape == found.jac["w"].shape == (count, 3)
    assert sum(int(part.split(" of 23: ")[0]) for part in found.message.split("; ")) == count
    for k in range(count):
        p = 1 / (1 + np.exp(-X[k] @ found.x["w"][k]))
        assert np.max(np.abs(X[k].T @ (p - y[k]) + 0.1 * found.x["w"][k])) < 1e-3
        z = X[k] @ found.x["w"][k]
        value = np.sum(np.logaddexp(0, z)) - y[k] @ z + 0.05 * found.x["w"][k] @ found.x["w"][k]
        assert np.isclose(found.fun[k], value, rtol=1e-12)


@pytest.mark.whole
@pytest.mark.parametrize("over", [["y"], ["y", "b"], ["b", "c", "y"]])
def test_many_curves_share_what_is_not_named(over):
    ys = curves(7)
    start = {"a": 1.0, "b": 1.0, "c": 0.0}
    given = {name: np.full(7, value) if name in over else value for name, value in start.items()}
    found = mc.minimize(CURVE, ["a", "b", "c"], given, {"t": TIMES, "y": ys}, "lm", compiled=True, over=over,
                        declarations=CURVE_NAMES)  # fmt: skip
    for k, y in enumerate(ys):
        expected = least_squares(curve_residual, (1.0, 1.0, 0.0), curve_jacobian, method="lm", args=(y,))
        assert np.allclose([found.x[name][k] for name in "abc"], expected.x, rtol=1e-5)
        assert found.success[k]
    assert found.nfev.shape == found.njev.shape == found.status.shape == (7,)


@pytest.mark.whole
@pytest.mark.parametrize("method", ["lbfgs", "newton-cg"])
def test_variables_of_several_shapes(method):
    rng = np.random.default_rng(1)
    M = rng.standard_normal((4, 2)) @ rng.standard_normal((2, 3))
    start = {"U": rng.standard_normal((5, 4, 2)), "V": rng.standard_normal((3, 2)), "s": 0.3}
    text = "norm2(M - s*U*V')^2 + (norm2(U)^2 + norm2(V)^2 + s^2)/100"
    found = mc.minimize(text, ["U", "V", "s"], start, {"M": M}, method, compiled=True, over="U", tol=1e-9,
                        declarations="s: scalar")  # fmt: skip
    for k in range(5):
        U, V, s = (found.x[name][k] for name in ("U", "V", "s"))
        R = M - s * U @ V.T
        assert np.max(np.abs(-2 * s * R @ V + U / 50)) < 1e-4
        assert np.max(np.abs(-2 * s * R.T @ U + V / 50)) < 1e-4
        assert abs(-2 * np.sum(R * (U @ V.T)) + s / 50) < 1e-4
        value = np.sum(R**2) + (np.sum(U**2) + np.sum(V**2) + s**2) / 100
        assert np.isclose(found.fun[k], value, rtol=1e-9)


@pytest.mark.whole
@pytest.mark.parametrize(("method", "tol"), [("lbfgs", 1e-12), ("newton-cg", 1e-4)])
def test_a_step_to_where_linear_algebra_fails_is_refused(method, tol):
    P = np.diag([4.0, 1.0, 0.5]) + 0.1
    low, high = 0.0, 1 / np.linalg.eigvalsh(P)[-1]
    for _ in range(200):
        x = (low + high) / 2
        low, high = (x, high) if np.trace(np.linalg.solve(np.eye(3) - x * P, P)) < 30 else (low, x)
    text = "-30*x - 2*sum(log(diag(chol(eye(3) - x*P))))"
    found = mc.minimize(text, "x", {"x": [-3.0, -50.0, 5.0]}, {"P": P}, method, compiled=True, over="x", tol=tol,
                        declarations="x: scalar; P: matrix(3, 3) symmetric")  # fmt: skip
    assert np.allclose(found.x["x"][:2], low, rtol=1e-6)
    with pytest.raises(np.linalg.LinAlgError):  # the same steps leave the domain
        mc.minimize(text, "x", {"x": -50.0}, {"P": P}, {"lbfgs": "L-BFGS-B", "newton-cg": "trust-ncg"}[method],
                    target="numpy", declarations="x: scalar; P: matrix(3, 3) symmetric")  # fmt: skip
    assert found.success.tolist() == [True, True, False]
    assert "1 of 3: linear algebra fails at the start: chol" in found.message
    assert found.x["x"][2] == 5.0


@pytest.mark.whole
@pytest.mark.parametrize("method", ["lbfgs", "newton-cg", "lm"])
def test_a_step_to_where_the_value_is_not_finite_is_refused(method):
    """From 9 the Gauss-Newton step leads below 0, where the logarithm is NaN."""
    found = mc.minimize("(log(x) + 2)^2", "x", {"x": [9.0, 0.5]}, {}, method, compiled=True, over="x", tol=1e-9,
                        declarations="x: scalar")  # fmt: skip
    assert found.success.all()
    assert np.allclose(found.x["x"], np.exp(-2.0), rtol=1e-4)


@pytest.mark.whole
def test_fits_that_cannot_begin_leave_the_others_alone():
    y = np.stack([logistic.Y, logistic.Y * np.nan, logistic.Y])
    found = mc.minimize(logistic.FORMULA, "w", {"w": START}, {**logistic.DATA, "y": y}, compiled=True, over="y",
                        tol=1e-12, declarations=logistic.DECLARATIONS)  # fmt: skip
    assert found.success.tolist() == [True, False, True]
    assert np.allclose(found.x["w"][[0, 2]], logistic.solution(), atol=1e-5)
    assert np.array_equal(found.x["w"][1], START)
    assert "1 of 3: the objective or its derivative is not finite at the start" in found.message
    none = mc.minimize(logistic.FORMULA, "w", {"w": START}, {**logistic.DATA, "y": y[:0]}, compiled=True, over="y",
                       declarations=logistic.DECLARATIONS)  # fmt: skip
    assert none.x["w"].shape == (0, 4)


@pytest.mark.whole
def test_symbols_stand_for_names():
    X, y, w = mc.symbols("X: matrix(m, n); y: vector(m); w: vector(n)")
    rng = np.random.default_rng(4)
    A, b = rng.standard_normal((9, 3)), rng.standard_normal((5, 9))
    for over in (y, [y]):
        found = mc.minimize(((X @ w - y) ** 2).sum(), w, {w: np.zeros(3)}, {X: A, y: b}, "lm", compiled=True, over=over)
        assert np.allclose(found.x["w"], np.linalg.lstsq(A, b.T)[0].T)


HIDDEN = "the decrease that the model predicts is below rounding"
ENDINGS = [
    ("x^2", 1.0, "lbfgs", {}, True, "the gradient is within gtol"),
    ("(x - 3)^4 + x", 9.0, "lbfgs", {"ftol": 1e-3, "gtol": 0.0}, True, "the decrease of the value is within ftol"),
    ("x - log(x)", 9.0, "lbfgs", {"maxiter": 1}, False, "the number of steps reached maxiter"),
    ("x - log(x)", 9.0, "lbfgs", {"maxfun": 2}, False, "the number of calls of the objective reached its limit"),
    ("abs(x - 1) + abs(x)", 0.3, "lbfgs", {}, True, "the gradient is within gtol"),
    ("abs(x)", 0.3, "lbfgs", {"maxls": 1}, False, "the line search found no step that decreases the value enough"),
    ("x - log(x)", 9.0, "newton-cg", {"maxiter": 2}, False, "the number of steps reached maxiter"),
    ("x^2 + 10^9", 3e-6, "newton-cg", {"gtol": 0.0}, False, HIDDEN),
    ("x^2 + 10^9", 3.0, "newton-cg", {"gtol": 0.0}, True, "the gradient is within gtol"),
    ("x + sqrt(x)^3", 0.0, "newton-cg", {}, False, "the product with the Hessian is not finite"),
    ("log(x)", 0.0, "newton-cg", {}, False, "the objective or its derivative is not finite at the start"),
    ("(x - 1)^2", 4.0, "lm", {}, True, "the gradient is within gtol"),
    ("(exp(x) + 1)^2", 4.0, "lm", {"max_nfev": 3}, False, "the number of calls of the objective reached its limit"),
    ("(x^2 + 1)^2", 4.0, "lm", {"xtol": 0.0, "gtol": 0.0}, True, "the decrease of the value is within ftol"),
    ("(x - 1)^4", 4.0, "lm", {"ftol": 0.0, "gtol": 0.0, "xtol": 1e-3}, True, "the steps are within xtol"),
    ("log(x)^2", 0.0, "lm", {}, False, "the objective or its derivative is not finite at the start"),
]


@pytest.mark.whole
@pytest.mark.parametrize(("text", "start", "method", "options", "success", "message"), ENDINGS)
def test_how_a_fit_ends_is_said(text, start, method, options, success, message):
    found = mc.minimize(text, "x", {"x": start}, {}, method, compiled=True, options=options, declarations="x: scalar")
    assert (found.success, found.message) == (success, message), found


@pytest.mark.whole
def test_a_set_is_kept_by_a_change_of_variables():
    C = np.array([[3.0, 1.0], [1.0, 2.0]])
    found = mc.minimize("logdet(S) + tr(inv(S)*C)", "S", {"S": np.eye(2)}, {"C": C}, compiled=True, parametrise=True,
                        tol=1e-12, declarations="S: matrix(2, 2) spd; C: matrix(2, 2) spd")  # fmt: skip
    assert np.allclose(found.x["S"], C, atol=1e-5)
    assert found.jac.shape == (3,)


@pytest.mark.whole
def test_parts_of_a_symbol_are_variables_of_each_fit():
    found = mc.minimize("(x[0] - 1)^2 + (x[1] - x[0] - 2)^2 + (x[2] - 7)^2", ["x[0]", "x[1]"],
                        {"x[0]": [0.0, 3.0], "x[1]": 3.5}, {"x": np.arange(6.0).reshape(2, 3)}, "lm", compiled=True,
                        over=["x[0]", "x"], declarations="x: vector(3)")  # fmt: skip
    assert np.allclose(found.x["x[0]"], 1.0)
    assert np.allclose(found.x["x[1]"], 3.0)
    assert np.allclose(found.fun, [25.0, 4.0])
    assert np.allclose(found.jac["x[0]"], 0.0, atol=1e-6)


LABELS = "X: matrix(N, n); W: matrix(n, c); y: index(N)"


@pytest.mark.whole
def test_labels_are_data_of_all_fits():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((4, 30, 2)), np.arange(30) % 3
    text = "-sum{t: log_softmax(X*W, axis=1)[t, y[t]]} + norm2(W)^2/10"
    found = mc.minimize(text, "W", {"W": np.zeros((2, 3))}, {"X": X, "y": y}, "newton-cg", compiled=True, over="X",
                        declarations=LABELS, tol=1e-8)  # fmt: skip
    for k in range(4):
        e = np.exp(X[k] @ found.x["W"][k])
        gradient = X[k].T @ (e / e.sum(1, keepdims=True) - np.eye(3)[y]) + found.x["W"][k] / 5
        assert np.max(np.abs(gradient)) < 1e-7
    for start, labels, fault in ((np.zeros((2, 3)), y + 1, "indices are 0 to 2"), (np.zeros((2, 2)), y, "0 to 1")):
        with pytest.raises(mc.ShapeError, match=fault):
            mc.minimize(text, "W", {"W": start}, {"X": X, "y": labels}, "newton-cg", compiled=True, over="X",
                        declarations=LABELS)  # fmt: skip
    with pytest.raises(mc.NotSupported, match="y holds indices, and an index argument cannot have a batch axis"):
        mc.minimize(text, "W", {"W": np.zeros((2, 3))}, {"X": X, "y": [y] * 4}, compiled=True, over=["X", "y"],
                    declarations=LABELS)  # fmt: skip


REFUSED = [
    ({"method": "L-BFGS-B"}, ValueError, "the methods with compiled=True are lbfgs, newton-cg, lm, not 'L-BFGS-B'"),
    ({"method": "lbfgs", "compiled": False}, ValueError, "lbfgs is a compiled loop: give compiled=True"),
    ({"over": "y", "compiled": False}, ValueError, "over= and threads= need a compiled loop"),
    ({"threads": 2, "compiled": False}, ValueError, "over= and threads= need a compiled loop"),
    ({"threads": 0}, ValueError, "threads must be an integer of at least 1, not 0"),
    ({"threads": True}, ValueError, "threads must be an integer of at least 1, not True"),
    ({"constraints": "sum(w) == 1"}, ValueError, "does not support constraints: use SLSQP without it"),
    ({"bounds": {"w": (0, None)}}, ValueError, "does not support bounds: use L-BFGS-B without it"),
    ({"target": "numpy"}, mc.NotSupported, "compiled=True runs on the target numba, not numpy"),
    ({"progress": True}, ValueError, "progress= needs a loop in Python"),
    ({"callback": print}, ValueError, "callback= needs a loop in Python"),
    ({"method": "lm", "f": "sum(exp(X*w))"}, mc.NotSupported, "not recognised as a sum of squares"),
    ({"method": "lm", "data": {"X": np.eye(4)[:2], "y": np.ones(2)}}, mc.ShapeError, "as many residuals as variables"),
    ({"tol": -1.0}, ValueError, "ftol is a number of at least 0, not -1"),
    ({"tol": np.nan}, ValueError, "ftol is a number of at least 0"),
    ({"gtol": "small"}, ValueError, "gtol is a number of at least 0"),
    ({"options": {"maxiter": 0}}, ValueError, "maxiter is a whole number of at least 1, not 0"),
    ({"options": {"maxiter": 2.5}}, ValueError, "maxiter is a whole number of at least 1, not 2.5"),
    ({"options": {"maxitr": 3}}, ValueError, "lbfgs has no option 'maxitr'; did you mean maxiter"),
    ({"method": "newton-cg", "eta": 0.5}, ValueError, "eta is less than 1/4"),
    ({"method": "newton-cg", "initial_trust_radius": 1e4}, ValueError, "initial_trust_radius is positive and less"),
    ({"over": "q"}, mc.UnknownName, "over: no value is given for q"),
    ({"over": "w"}, mc.ShapeError, "over: w has an axis of fits, so 2 axes in all, not 1"),
    ({"over": "w", "start": {"w": np.zeros((2, 3))}}, mc.ShapeError, "w: vector"),
    ({"over": "w", "start": {"w": [[0.0] * 4, [np.inf] * 4]}}, ValueError, "the start of w is not finite"),
    ({"over": ["w", "y"], "start": {"w": np.zeros((2, 4))}, "data": {"X": np.eye(4), "y": np.ones((3, 4))}},
     mc.ShapeError, "all names need the same number of values, not 2 of w, 3 of y"),
    ({"over": "A", "f": "w'*A*w", "start": {"w": np.ones(2)}, "data": {"A": [np.eye(2), [[0.0, 1.0], [0.0, 0.0]]]},
      "declarations": "w: vector(n); A: matrix(n, n) symmetric", "check_facts": True}, mc.ShapeError,
     r"A\[1\] is declared symmetric, but"),
    ({"over": "S", "f": "logdet(S)", "wrt": "S", "start": {"S": [np.eye(2)] * 2}, "data": {}, "parametrise": True,
      "declarations": "S: matrix(n, n) spd"}, mc.NotSupported, "parametrise=True and over= exclude each other"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "kind", "message"), REFUSED, ids=[f"{k}-{r[2][:20]}" for k, r in enumerate(REFUSED)]
)
def test_refused_in_one_sentence(change, kind, message):
    asked = {"f": "norm2(X*w - y)^2", "wrt": "w", "start": {"w": np.zeros(4)}, "compiled": True,
             "data": {"X": np.eye(4), "y": np.ones(4)}, **change}  # fmt: skip
    if "f" in change and "data" not in change:
        asked["data"] = {"X": np.eye(4)}
    with pytest.raises(kind, match=message):
        mc.minimize(**asked)
