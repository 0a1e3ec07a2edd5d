"""A branch that is not taken contributes nothing to value or derivative, whatever its values, on every path.

Conditions are tested at all pairs of numbers, infinities and NaN, each with every kind of value in either branch.
Expected values are NumPy's here, branch by branch, and never multiplied by 0.
"""

import importlib.util
import itertools

import numpy as np
import pytest

import matcalc as mc

POINTS = (-1.5, 0.0, 2.0, np.inf, -np.inf, np.nan)
HELD = (0.75, 0.0, np.nan, np.inf, -np.inf, 1e300, -1e300)
RELATIONS = {
    ">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal, "==": np.equal, "!=": np.not_equal,
}  # fmt: skip
PATHS = ("plain", "numpy", "numba", "saved")


def of(path, expressions, data, tmp_path):
    """Return the values of expressions by one path."""
    if path == "plain":
        return [e(**{name: data[name] for name in e.symbols}) for e in expressions]
    fn = mc.compile(list(expressions), target="numpy" if path == "numpy" else "numba", name="f")
    given = [data[name] for name in fn.args]
    if path != "saved":
        return fn(*given)
    fn.save(tmp_path / "saved.py")
    spec = importlib.util.spec_from_file_location("saved_selection", tmp_path / "saved.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f(*given)


def same(found, wanted, what):
    wanted = np.asarray(wanted, dtype=float)
    assert np.shape(found) == wanted.shape, what
    with np.errstate(all="ignore"):
        near = np.abs(found - wanted) <= 1e-12 * np.abs(wanted)
    right = near | (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    assert np.all(right), (what, np.argwhere(~right)[:4], np.asarray(found)[~right][:4], wanted[~right][:4])


def taking(holds, a, b):
    """Return a where a condition holds, else b."""
    return np.array([x if h else y for h, x, y in zip(holds, a, b, strict=True)], dtype=float)


def pairs():
    """Return u, v: every pair of points; a, b: every value of either branch with each of them."""
    held = list(zip(HELD, HELD[3:] + HELD[:3], strict=True))
    rows = [(u, v, *both) for u, v, both in itertools.product(POINTS, POINTS, held)]
    return [np.array(column) for column in zip(*rows, strict=True)]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.sampled(30)
def test_where_selects_entries(relation, path, tmp_path):
    u, v, a, b = pairs()
    rng = np.random.default_rng(0)
    z, d, e = rng.normal(size=(3, len(u)))
    F = mc.expression(
        f"where(u {relation} v, exp(a), log(b))", "u: vector(n); v: vector(n); a: vector(n); b: vector(n)"
    )
    f = mc.expression(f"sum(z.*where(u {relation} v, exp(a), log(b)))", "z: vector(n)")
    wanted = [F, *f.gradient(["a", "b"]), *F.vjp(["a", "b"], cotangent="z"), F.jvp(["a", "b"], tangent=["d", "e"])]
    wanted += [*f.hvp(["a", "b"], vector=["d", "e"]), F.jacobian("a"), f.hessian("b"), f.gradient("u")]
    found = of(path, wanted, {"u": u, "v": v, "a": a, "b": b, "z": z, "d": d, "e": e}, tmp_path)
    with np.errstate(all="ignore"):
        holds, exp, log, nothing = RELATIONS[relation](u, v), np.exp(a), np.log(b), np.zeros(len(u))
        bar_a, bar_b = taking(holds, z * exp, nothing), taking(holds, nothing, z / b)
        second = taking(holds, nothing, -z / b**2)
        truth = [
            taking(holds, exp, log), bar_a, bar_b, bar_a, bar_b, taking(holds, d * exp, e / b),
            taking(holds, d * z * exp, nothing), taking(holds, nothing, -e * z / b**2),
            np.where(np.eye(len(u)) == 1, taking(holds, exp, nothing), 0.0),
            np.where(np.eye(len(u)) == 1, second, 0.0), nothing,
        ]  # fmt: skip
    for number, (value, true) in enumerate(zip(found, truth, strict=True)):
        same(value, true, (relation, path, str(wanted[number])))


def shared(x, y):
    """Return the share of x in the larger of two: half a tie, NaN with NaN."""
    return taking(np.isnan(x) | np.isnan(y), np.full(len(x), np.nan), np.where(x == y, 0.5, np.where(x > y, 1.0, 0.0)))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.sampled(4)
def test_max_min_clip_select(path, tmp_path):
    """Each of an infinite, NaN, huge operand beside any other; the slope of the smaller operand may be infinite."""
    a, b = (np.array(column) for column in zip(*itertools.product(HELD, HELD), strict=True))
    let = "a: vector(n); b: vector(n)"
    texts = ["max(a, b)", "min(a, b)", "max(log(a), b)", "max(a, 1)", "min(1, a)", "relu(log(a))", "clip(a, -1, b)"]
    formulas = [mc.expression(text, let) for text in texts]
    slopes = [mc.gradient(f"sum({text})", "a", let) for text in texts]
    found = of(path, [*formulas, *slopes], {"a": a, "b": b}, tmp_path)
    with np.errstate(all="ignore"):
        log, one, lost = np.log(a), np.ones(len(a)), np.full(len(a), np.nan)
        chained = [0.0 if s == 0 else s / x for s, x in zip(shared(log, b), a, strict=True)]
        above = taking(np.isnan(a), lost, shared(a, one))
        below = taking(np.isnan(a), lost, shared(-a, -one))
        active = [
            np.nan if np.isnan(y) else 1 / x if y > 0 else 0.5 if y == 0 else 0.0 for y, x in zip(log, a, strict=True)
        ]
        inside = [
            0.0 if x < -1 or y < x or y == x == -1 else np.nan if np.isnan(x + y) else 0.5 if x in (-1, y) else 1.0
            for x, y in zip(a, b, strict=True)
        ]
        truth = [
            np.maximum(a, b), np.minimum(a, b), np.maximum(log, b), np.maximum(a, one), np.minimum(a, one),
            np.maximum(log, 0), np.minimum(np.maximum(a, -1), b),
            shared(a, b), shared(-a, -b), chained, above, below, active, inside,
        ]  # fmt: skip
    for value, true, text in zip(found, truth, [*texts, *(f"slope of {t}" for t in texts)], strict=True):
        same(value, true, (path, text))


MATRICES = "X: matrix(m, n); Y: matrix(m, n); w: vector(n); u: vector(m); z: vector(m)"
RUINED = (np.nan, np.inf, -np.inf, 1e300)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("ruin", RUINED)
@pytest.mark.sampled(16)
@pytest.mark.thinned(2)
def test_branches_that_are_contractions(ruin, path, tmp_path):
    """A row that is not taken is left out of every sum over rows; an entry that is not, of both matrix products."""
    rng = np.random.default_rng(1)
    m, n, k = 5, 3, 4
    u, z, w, d = rng.normal(size=m), rng.normal(size=m), rng.normal(size=n), rng.normal(size=n)
    X, Y = rng.normal(size=(2, m, n))
    u[1] = np.nan
    X[~(u > 0)] = ruin
    Y[u > 0] = ruin
    f = mc.expression("sum(z.*where(u > 0, X*w, Y*w).^2)", MATRICES)
    found = of(path, [f, *f.gradient(["w", "X"]), f.hessian("w"), f.hvp("w", vector="d")],
               {"X": X, "Y": Y, "w": w, "u": u, "z": z, "d": d}, tmp_path)  # fmt: skip
    rows = np.array([X[i] if u[i] > 0 else Y[i] for i in range(m)])
    by_X = np.array([2 * z[i] * (X[i] @ w) * w if u[i] > 0 else np.zeros(n) for i in range(m)])
    H = 2 * rows.T @ np.diag(z) @ rows
    for value, true in zip(found, [z @ (rows @ w) ** 2, 2 * rows.T @ (z * (rows @ w)), by_X, H, H @ d], strict=True):
        assert np.allclose(value, true, rtol=1e-12, atol=0), (ruin, path)
    A, B, C, M = rng.normal(size=(m, k)), rng.normal(size=(k, n)), rng.normal(size=(m, n)), rng.normal(size=(m, n))
    A[2], B[1, 0] = ruin, ruin
    M[2], M[:, 0] = -1, -1
    g = mc.expression(
        "sum(C.*where(M > 0, A*B, C))", "A: matrix(m, k); B: matrix(k, n); C: matrix(m, n); M: matrix(m, n)"
    )
    found = of(path, [*g.gradient(["A", "B"])], {"A": A, "B": B, "C": C, "M": M}, tmp_path)
    by_A, by_B = np.zeros((m, k)), np.zeros((k, n))
    for i, j in zip(*np.nonzero(M > 0), strict=True):
        by_A[i] += C[i, j] * B[:, j]
        by_B[:, j] += C[i, j] * A[i]
    for value, true in zip(found, [by_A, by_B], strict=True):
        assert np.allclose(value, true, rtol=1e-12, atol=1e-14), (ruin, path)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.whole
def test_branches_that_are_scalars_and_nested(path, tmp_path):
    """A scalar under a condition that is false everywhere, nested scalars, and a value shared by two branches."""
    x, s = np.array([-1.0, -2.0, np.nan]), 0.0
    let = "x: vector(n); s: scalar; t: scalar"
    texts = {
        "sum(where(x > 0, x*log(s), x))": [0.0],
        "sum(where(x > 0, log(s) + log(s)^2, 1))": [0.0],
        "sum(where(x > 0, where(x > -1, log(s), s), 2*s))": [6.0],
        "where(s > 0, log(s), where(s < 0, log(-s), t))": [0.0],
        "where(s > 0, exp(log(s)) + sin(log(s)), t)": [0.0],
        "sum(where(x > 0, log(s), 0) + where(x > 1, log(s), 0))": [0.0],
        "where(t > 0, logsumexp(softmax(x*log(s))), s)": [1.0],
        "max(t, log(s))": [0.0],
        "max(t, log(s), s*log(s))": [np.nan],
    }
    expressions = [mc.gradient(text, "s", let) for text in texts]
    found = of(path, expressions, {"x": x, "s": s, "t": -1.0}, tmp_path)
    for value, (text, true) in zip(found, texts.items(), strict=True):
        same(value, true[0], (path, text))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.sampled(4)
def test_what_was_lost(path, tmp_path):
    x = np.array([1e17, 800.0, -1.0, -40.0, 0.0])
    texts = ["where(x > 0, log(x), x)", "where(x > 0, x, exp(x) - 1)", "where(x > 0, sqrt(x), 0)", "max(x, 1e-30*x)"]
    slopes = [mc.gradient(f"sum({text})", "x") for text in texts]
    found = of(path, [*(mc.expression(text) for text in texts), *slopes], {"x": x}, tmp_path)
    with np.errstate(all="ignore"):
        truth = [
            taking(x > 0, np.log(x), x), taking(x > 0, x, np.exp(x) - 1), taking(x > 0, np.sqrt(x), 0 * x),
            taking(x > 0, x, 1e-30 * x),
            taking(x > 0, 1 / x, 0 * x + 1), taking(x > 0, 0 * x + 1, np.exp(x)),
            taking(x > 0, 0.5 / np.sqrt(x), 0 * x), [1, 1, 1e-30, 1e-30, (1 + 1e-30) / 2],
        ]  # fmt: skip
    for value, true, text in zip(found, truth, [*texts, *texts], strict=True):
        same(value, true, (path, text))


def test_what_is_multiplied_by_a_choice_is_not_selected():
    """0 times NaN is NaN where a user multiplies: selection is for derivatives."""
    e = mc.expression("where(x > 0, 1, 0).*y", "x: vector(n); y: vector(n)")
    data = {"x": np.array([-1.0, 1.0]), "y": np.array([np.nan, np.inf])}
    for fn in (e, mc.compile(e, target="numpy")):
        same(fn(**data), [np.nan, np.inf], "product")


PRINTED = {
    "sum(where(x > 0, log(x), x))": "unless(x > 0) + when(x > 0)./x",
    "sum(where(x <= y, x.^2, 0))": "2*x.*when(y >= x)",
    "sum(where(x != 0, 1./x, 0))": "-unless(x == 0)./x.^2",
    "sum(max(x, y))": "leads(x, y)",
    "sum(max(x, 2))": "leads(x, 2)",
    "sum(max(x, 0))": "step(x)",
    "sum(clip(x, -1, 1))": "between(x, -1, 1)",
}


@pytest.mark.parametrize("text", PRINTED)
def test_printed_forms_read_back(text):
    g = mc.gradient(text, "x", "x: vector(n); y: vector(n)")
    assert str(g).partition(" where ")[0] == PRINTED[text]
    assert mc.expression(str(g), g.declarations).node is g.node


def test_what_is_selected_either_way_needs_no_guard():
    huber = "sum(where(abs(X*w - y) <= a, (X*w - y).^2/2, a*(abs(X*w - y) - a/2)))"
    gradient = mc.gradient(huber, "w", "X: matrix(m, n); w: vector(n); y: vector(m); a: scalar")
    u = "X*w - y"
    assert str(gradient) == f"X'*(a*sign({u}).*unless(a >= abs({u})) - when(a >= abs({u})).*(y - X*w))"
