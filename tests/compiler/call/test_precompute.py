"""Values computed when data are fixed: which values, results equal to NumPy's, and early errors."""

import itertools
import pickle
import re

import numpy as np
import pytest

import matcalc as mc

LET = """X: matrix(m, n); A: matrix(n, n); S: matrix(n, n) spd; w: vector(n); v: vector(n); y: vector(m); c: scalar;
x: vector(n); z: vector(n); p: index; u: vector(m)""".replace("\n", " ")
SQUARE = "norm2(X*w - y)^2"
RNG = np.random.default_rng(3)


def data(m, n):
    X, A = RNG.standard_normal((m, n)), RNG.standard_normal((n, n)) + 4 * np.eye(n)
    S = A @ A.T / max(n, 1) + np.eye(n)
    found = {name: RNG.standard_normal(n) for name in "wvxz"}
    return found | {"X": X, "A": A, "S": S, "y": RNG.standard_normal(m), "u": RNG.standard_normal(m), "c": 0.3}


def logdensity(d):
    r = d["x"] - d["z"]
    return -(np.linalg.slogdet(d["S"])[1] + r @ np.linalg.solve(d["S"], r)) / 2


CASES = [
    ("X'*X + c*eye(n)", "X", "Xt_X", lambda d: d["X"].T @ d["X"] + d["c"] * np.eye(len(d["w"]))),
    ("c*X'*X", "X", "Xt_X", lambda d: d["c"] * (d["X"].T @ d["X"])),
    ("inv(X'*X + eye(n))*w", "X", "n_eye_plus_Xt_X_chol",
     lambda d: np.linalg.solve(d["X"].T @ d["X"] + np.eye(len(d["w"])), d["w"])),
    ("-(logdet(S) + (x - z)'*inv(S)*(x - z))/2", "S", "S_chol S_logdet", logdensity),
    ("inv(A)*w + inv(A')*v", "A", "A_lu A_pivots",
     lambda d: np.linalg.solve(d["A"], d["w"]) + np.linalg.solve(d["A"].T, d["v"])),
    ("exp(z)'*w", "z", "z_exp", lambda d: np.exp(d["z"]) @ d["w"]),
    ("sum(log(1 + exp(z))) + w'*v", "z", "fixed", lambda d: np.logaddexp(0, d["z"]).sum() + d["w"] @ d["v"]),
    ("X'*diag(y)*X*c", "Xy", "Xt_y_diag_X", lambda d: d["c"] * (d["X"].T * d["y"]) @ d["X"]),
    ("X'*X", "X", "Xt_X", lambda d: d["X"].T @ d["X"]),
    ("2*z + w", "z", "", lambda d: 2 * d["z"] + d["w"]),
    ("inv(S + c*eye(n))*w", "S", "", lambda d: np.linalg.solve(d["S"] + d["c"] * np.eye(len(d["w"])), d["w"])),
    ("c*z[p]", "zp", "", lambda d: d["c"] * d["z"][0]),
]  # fmt: skip


def compiled(f, target):
    names = set(re.findall(r"\b[XASwvycxzpu]\b", f))
    let = "; ".join(d for d in LET.split("; ") if d[0] in names)
    return mc.compile(f, declarations=let, target=target)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("f, fixed, computed, truth", CASES, ids=[case[0] for case in CASES])
def test_values_and_what_is_computed(f, fixed, computed, truth):
    fn = compiled(f, "numpy")
    for m, n in ((7, 4), (3, 5), (5, 5), (1, 1)):
        d = data(m, n) | {"p": 0}
        bound = fn.bind({name: d[name] for name in fixed})
        assert set(getattr(bound, "computed", {})) == set(computed.split()) or "fixed" in computed or (m, n) != (7, 4)
        rest = {name: d[name] for name in bound.args}
        for made in (bound, pickle.loads(pickle.dumps(bound)), pickle.loads(pickle.dumps(fn)).bind(bound.fixed)):
            np.testing.assert_allclose(made(rest), truth(d), rtol=1e-10, atol=1e-12)
        assert ("computed once" in bound.plan) == bool(getattr(bound, "computed", {}))


@pytest.mark.whole
@pytest.mark.parametrize("f, fixed, computed, truth", CASES, ids=[case[0] for case in CASES])
def test_machine_code_agrees(f, fixed, computed, truth):
    fn = compiled(f, "numba")
    for m, n in ((7, 4), (60, 20)):
        d = data(m, n) | {"p": 0}
        bound = fn.bind({name: d[name] for name in fixed})
        np.testing.assert_allclose(bound({name: d[name] for name in bound.args}), truth(d), rtol=1e-10, atol=1e-12)


@pytest.mark.whole
def test_every_choice_of_what_is_fixed():
    fn = compiled("inv(X'*X + S)*(X'*(X*w - y)) + exp(c)*w", "numpy")
    d = data(6, 3)
    truth = np.linalg.solve(d["X"].T @ d["X"] + d["S"], d["X"].T @ (d["X"] @ d["w"] - d["y"])) + np.exp(0.3) * d["w"]
    for count in range(6):
        for names in itertools.combinations("XSwyc", count):
            bound = fn.bind({name: d[name] for name in names})
            np.testing.assert_allclose(bound({name: d[name] for name in bound.args}), truth, rtol=1e-11)


def test_empty_arrays():
    for f, truth in (("X'*X + c*eye(n)", lambda m, n: 0.3 * np.eye(n)), ("X'*(X*v)", lambda m, n: np.zeros(n))):
        fn = compiled(f, "numpy")
        for m, n in ((0, 3), (0, 0)):
            d = data(m, n)
            bound = fn.bind(X=d["X"])
            np.testing.assert_array_equal(bound({name: d[name] for name in bound.args}), truth(m, n))


def test_no_gradient_by_distributing_over_a_residual():
    """X'*(X*w - y) keeps its digits where X*w is close to y; (X'*X)*w - X'*y loses all of them."""
    U, V = np.linalg.qr(RNG.standard_normal((40, 6)))[0], np.linalg.qr(RNG.standard_normal((6, 6)))[0]
    X, w = U * np.logspace(0, -7, 6) @ V, np.ones(6)
    y = X @ w + 1e-12 * RNG.standard_normal(40)
    exact = np.float64(2 * X.astype("g").T @ (X.astype("g") @ w.astype("g") - y.astype("g")))
    for f in (mc.gradient(SQUARE, "w"), "2*X'*(X*w - y)"):
        found = mc.compile(f, target="numpy").bind(X=X, y=y)(w)
        assert np.linalg.norm(found - exact) < 1e-3 * np.linalg.norm(exact)


def test_a_length_is_no_difference_of_large_numbers():
    """norm2(X*v) is summed from the small X*v; v'*(X'*X)*v would be rounding error alone."""
    X = np.outer(RNG.standard_normal(30), [1.0, 1.0]) + 1e-9 * RNG.standard_normal((30, 2))
    v = np.array([1.0, -1.0])
    exact = float(np.sum((X.astype("g") @ v.astype("g")) ** 2))
    found = mc.value_and_gradient("norm2(X*v - y)^2", "v", target="numpy").bind(X=X, y=np.zeros(30))(v)[0]
    assert found == pytest.approx(exact, rel=1e-5)


def test_results_are_arrays_of_their_own():
    d = data(5, 3)
    for f in ("X'*X", "X'*X + c*eye(n)"):
        fn = compiled(f, "numpy")
        bound = fn.bind(X=d["X"])
        rest = {name: d[name] for name in bound.args}
        first, second = bound(rest), bound(rest)
        first[...] = 0
        assert not np.shares_memory(first, second)
        np.testing.assert_array_equal(bound(rest), second)
        place = np.empty((3, 3))
        assert bound(rest, out=place) is place
        np.testing.assert_array_equal(place, second)


def test_data_are_taken_as_they_are_when_fixed():
    X = RNG.standard_normal((5, 3))
    bound = compiled("X'*X + c*eye(n)", "numpy").bind(X=X)
    before = bound(0.0)
    X *= 2
    np.testing.assert_array_equal(bound(0.0), before)


def test_what_goes_wrong_is_said_when_data_are_fixed():
    fn = compiled("inv(S)*w + X'*y", "numpy")
    with pytest.raises(np.linalg.LinAlgError, match="S"):
        fn.bind(S=-np.eye(3))
    with pytest.raises(mc.ShapeError, match="X"):
        fn.bind(S=np.eye(3), X=np.ones((4, 2)), y=np.ones(4))
    with pytest.raises(mc.ShapeError, match="w"):
        fn.bind(S=np.eye(3))(w=np.ones(2), X=np.ones((4, 3)), y=np.ones(4))
    with np.errstate(all="ignore"):
        assert np.isnan(compiled("X'*X + c*eye(n)", "numpy").bind(X=np.full((2, 2), np.nan))(1.0)).all()


@pytest.mark.whole
def test_a_bound_function_with_computed_data_is_called_by_machine_code_and_pickled():
    """Exact arguments go to machine code, others take the fallback; a copy computes its own data."""
    rng = np.random.default_rng(8)
    A = rng.standard_normal((40, 40))
    S, y = A @ A.T + np.eye(40), rng.standard_normal(40)
    bound = mc.value_and_gradient("y'*inv(S)*y + logdet(S)", "y", "S: matrix(n, n) spd; y: vector(n)").bind(S=S)
    assert bound.computed
    want = y @ np.linalg.solve(S, y) + np.linalg.slogdet(S)[1], 2 * np.linalg.solve(S, y)
    for made in (bound, pickle.loads(pickle.dumps(bound))):
        for given in (y, list(y), y[::-1][::-1]):
            value, gradient = made(given)
            assert value == pytest.approx(want[0], rel=1e-10)
            assert np.allclose(gradient, want[1], rtol=1e-9)
        with pytest.raises(mc.ShapeError):
            made(y[1:])


def test_functions_that_their_text_does_not_say_are_bound_as_they_are():
    """A batch, and a tangent that is projected on entry: the formula alone does not describe these functions."""
    d = data(6, 3)
    fn = compiled("inv(X'*X + eye(n))*w", "numpy")
    W = RNG.standard_normal((4, 3))
    many = mc.batch(fn, over=["w"])
    truth = np.linalg.solve(d["X"].T @ d["X"] + np.eye(3), W.T).T
    np.testing.assert_allclose(many.bind(X=d["X"])(W), truth, rtol=1e-11)
    pushed = mc.compile(mc.jvp("inv(S)*w", "S", declarations="S: matrix(n, n) spd; w: vector(n)"), target="numpy")
    S, w, dS = d["S"], d["w"], RNG.standard_normal((3, 3))
    solved = np.linalg.solve(S, w)
    truth = -np.linalg.solve(S, (dS + dS.T) / 2 @ solved)
    np.testing.assert_allclose(pushed.bind(S=S)(w=w, dS=dS), truth, rtol=1e-11)


def test_float32_results_are_rounded_once():
    d = data(6, 3)
    fn = mc.compile("X'*X*w", declarations="X: matrix(m, n); w: vector(n)", target="numpy", dtype="float32")
    bound = fn.bind(X=d["X"])
    assert bound.computed and bound(d["w"]).dtype == np.float32
    np.testing.assert_allclose(bound(d["w"]), d["X"].T @ d["X"] @ d["w"], rtol=1e-6)
