"""mc.minimize: every kind of method, variables of any shape, and SciPy's conventions."""

import numpy as np
import pytest

import matcalc as mc

FACTOR = "norm2(M - U*V')^2 + lam*(norm2(U)^2 + norm2(V)^2)"


@pytest.fixture
def least_squares():
    rng = np.random.default_rng(5)
    return {"X": rng.standard_normal((20, 3)), "y": rng.standard_normal(20)}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "method",
    ["L-BFGS-B", "bfgs", "CG", "Newton-CG", "trust-ncg", "trust-krylov", "trust-exact", "trust-constr"],
)
@pytest.mark.filterwarnings("ignore:delta_grad == 0.0:UserWarning")
def test_methods_agree(method, least_squares):
    found = mc.minimize("norm2(X*w - y)^2", "w", {"w": np.zeros(3)}, least_squares, method=method)
    expected = np.linalg.lstsq(least_squares["X"], least_squares["y"], rcond=None)[0]
    assert np.allclose(found.x["w"], expected, atol=1e-5)


@pytest.mark.whole
def test_several_variables_keep_their_shapes():
    rng = np.random.default_rng(1)
    start = {"U": rng.standard_normal((6, 2)), "V": rng.standard_normal((5, 2))}
    kept = {name: value.copy() for name, value in start.items()}
    data = {"M": start["U"] @ start["V"].T + 0.1, "lam": 1e-3}
    found = mc.minimize(FACTOR, ["U", "V"], start, data, method="trust-ncg", tol=1e-8)
    assert found.success
    assert found.x["U"].shape == (6, 2)
    assert found.x["V"].shape == (5, 2)
    assert np.max(np.abs(found.jac["U"])) < 1e-6
    assert all(np.array_equal(start[name], kept[name]) for name in start)


def test_scalars_and_other_types():
    text = "norm2(a*x - y)^2"
    let = "a: scalar; x: vector(n); y: vector(n)"
    x = np.arange(4, dtype=np.float32)
    found = mc.minimize(text, "a", {"a": 1}, {"x": x, "y": 3 * x}, declarations=let, method="BFGS")
    assert found.x["a"].shape == ()
    assert np.isclose(found.x["a"], 3.0)


def test_options_reach_scipy(least_squares):
    seen = []
    found = mc.minimize(
        "norm2(X*w - y)^2",
        "w",
        {"w": np.zeros(3)},
        least_squares,
        bounds=[(0.0, 0.0)] * 3,
        callback=lambda intermediate_result: seen.append(intermediate_result.fun),
    )
    assert np.array_equal(found.x["w"], np.zeros(3))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": {}}, "no value for w"),
        ({"start": {"w": np.zeros(3), "z": 0.0}}, "z, which is not in wrt"),
        ({"data": {"X": np.eye(3), "y": np.ones(3), "w": np.ones(3)}}, "not in data"),
        ({"method": "gradient descent"}, "unknown method"),
    ],
)
def test_faults_are_named(change, message, least_squares):
    arguments = {"start": {"w": np.zeros(3)}, "data": least_squares, **change}
    with pytest.raises(ValueError, match=message):
        mc.minimize("norm2(X*w - y)^2", "w", **arguments)


def test_constraints_bounds_progress_and_the_table(least_squares, capsys):
    found = mc.minimize("norm2(X*w - y)^2", "w", {"w": np.ones(3) / 3}, least_squares, target="numpy",
                        constraints="sum(w) == 1; w >= 0", progress=True, tol=1e-12)  # fmt: skip
    X, y = least_squares["X"], least_squares["y"]
    w = found.x["w"]
    assert abs(w.sum() - 1) < 1e-9
    assert w.min() >= -1e-12
    gradient = 2 * X.T @ (X @ w - y)  # optimal: equal where w > 0, not less elsewhere
    assert np.allclose(gradient[w > 1e-7], gradient.min(), atol=1e-4)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == found.nit
    assert f"f = {found.fun:.10g}"[:12] in lines[-1]
    assert "variable  shape       value" in str(found)
    assert "w  (3,)" in str(found)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", ["lm", "trf", "dogbox"])
@pytest.mark.parametrize("f", ["norm2(X*w - y)^2 + lam*norm2(w)^2", "sum((X*w - y).^2)/2 + lam*w'*w/2"])
def test_residual_methods_read_the_squares(f, method, least_squares):
    X, y = least_squares["X"], least_squares["y"]
    found = mc.minimize(f, "w", {"w": np.zeros(3)}, {**least_squares, "lam": 0.7}, method, target="numpy")
    w = np.linalg.solve(X.T @ X + 0.7 * np.eye(3), X.T @ y)
    assert np.allclose(found.x["w"], w)
    least = np.sum((X @ w - y) ** 2) + 0.7 * w @ w
    assert np.isclose(found.fun, least / 2 if "/2" in f else least)


@pytest.mark.parametrize(
    ("f", "more", "kind", "message"),
    [
        ("sum(exp(X*w))", {"method": "lm"}, mc.NotSupported, "not recognised as a sum of squares"),
        ("-norm2(X*w - y)^2", {"method": "trf"}, mc.NotSupported, "not recognised"),
        ("lam*norm2(X*w - y)^2", {"method": "trf"}, ValueError, "not finite"),
        ("norm2(X*w - y)^2", {"method": "BFGS", "bounds": {"w": (0, 1)}}, ValueError, "BFGS does not support bounds"),
        (
            "norm2(X*w - y)^2",
            {"method": "CG", "constraints": "sum(w) == 1"},
            ValueError,
            "CG does not support constraints",
        ),
        ("norm2(X*w - y)^2", {"constraints": [3]}, ValueError, "no comparison"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_what_a_method_cannot_do_is_refused(f, more, kind, message, least_squares):
    data = {**least_squares, **({"lam": -1.0} if "lam" in f else {})}
    data = {name: value for name, value in data.items() if name in f}
    with pytest.raises(kind, match=message):
        mc.minimize(f, "w", {"w": np.zeros(3)}, data, target="numpy", **more)
