"""Totals of rows alone: found, computed once, and values that keep their digits."""

import pickle

import numpy as np
import pytest

import matcalc as mc

LET = "X: matrix(m, n); y: vector(m); w: vector(n); c: scalar; W: matrix(n, p); S: matrix(n, n) spd; Z: matrix(m, p)"
RNG = np.random.default_rng(8)
FULL = {
    "X": RNG.standard_normal((40, 3)) + 5,
    "Z": RNG.standard_normal((40, 2)),
    "y": RNG.standard_normal(40),
    "w": RNG.standard_normal(3),
    "c": 0.3,
    "W": RNG.standard_normal((3, 2)),
    "S": np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.0]]),
}
ENOUGH = {
    "least squares": ("norm2(X*w - y)^2/m + c*w'*w", "w", ["X", "y"],
        lambda X, y, w, c: np.mean((X @ w - y) ** 2) + c * w @ w),
    "principal components": ("norm2(X - X*W*W')^2", "W", ["X"], lambda X, W: np.sum((X - X @ W @ W.T) ** 2)),
    "Gaussian": (
        "logdet(S) + tr(inv(S)*(X .- mean(X, axis=0)')'*(X .- mean(X, axis=0)'))/m", "S", ["X"],
        lambda X, S: np.linalg.slogdet(S)[1] + np.trace(np.linalg.solve(S, np.cov(X.T, bias=True))),
    ),
    "variance": ("var(X*w)", "w", ["X"], lambda X, w: np.var(X @ w)),
    "third moment": ("sum((X*w - y).^3)", "w", ["X", "y"], lambda X, y, w: np.sum((X @ w - y) ** 3)),
    "two tables": ("norm2(Z - X*W)^2", "W", ["X", "Z"], lambda X, Z, W: np.sum((Z - X @ W) ** 2)),
}  # fmt: skip


def blocks(names, cuts=(0, 7, 7, 40)):
    return [{name: FULL[name][a:b] for name in names} for a, b in zip(cuts, cuts[1:], strict=False)]


@pytest.mark.parametrize("name", ENOUGH)
@pytest.mark.whole
def test_rows_are_read_once(name):
    text, wrt, by_rows, f = ENOUGH[name]
    s = mc.split(text, "m", wrt=wrt, declarations=LET)
    assert list(s.split) == by_rows
    read = []

    class Counted(list):
        def __iter__(self):
            read.append(1)
            return super().__iter__()

    fn = s.precompute().over(Counted(blocks(s.split)))
    passes = len(read)
    shared = {name: FULL[name] for name in s.shared}
    given = {n: FULL[n] for n in f.__code__.co_varnames[: f.__code__.co_argcount]}
    rng = np.random.default_rng(1)
    for _ in range(3):
        moved = shared[wrt] + 0.1 * (lambda E: E + E.T if wrt == "S" else E)(rng.standard_normal(shared[wrt].shape))
        value, gradient = fn({**shared, wrt: moved})
        assert value == pytest.approx(f(**{**given, wrt: moved}), rel=1e-9)
        assert np.allclose(gradient, s.over(blocks(s.split), {**shared, wrt: moved})[1], rtol=1e-9, atol=1e-9)
    assert len(read) == passes


def test_what_is_said():
    s = mc.split("norm2(X*w - y)^2/m", "m", wrt="w", declarations=LET)
    assert str(s.precompute()).splitlines() == [
        "computed once from X, y, in 1 pass:",
        "pass 1: total1 = y'*y    (a number)",
        "pass 1: total2 = X'*y    (n)",
        "pass 1: total3 = X'*X    (n x n)",
        "pass 1: total4 = m    (a number)",
        "each evaluation: from these, w; no rows are read",
    ]


@pytest.mark.whole
def test_means_are_taken_off_before_squares():
    """A covariance far from the origin keeps its digits, since means are subtracted before squaring."""
    s = mc.split(ENOUGH["Gaussian"][0], "m", wrt="S", declarations=LET)
    X = FULL["X"] + 1e7
    value, _ = s.precompute().over([{"X": X[:9]}, {"X": X[9:]}])(S=FULL["S"])
    assert value == pytest.approx(ENOUGH["Gaussian"][3](FULL["X"], FULL["S"]), rel=1e-8)


@pytest.mark.whole
@pytest.mark.parametrize("distance", [0.0, 1e-12, 1e-7, 1e-5])
def test_digits_that_cancel_are_taken_from_the_rows(distance):
    """With `y = X*w` the value is the rest of totals that are 10^14 times as large."""
    s = mc.split("norm2(X*w - y)^2", "m", wrt="w", declarations=LET)
    X, w = FULL["X"], FULL["w"]
    at, data = w + distance, [{"X": X, "y": X @ w}]
    value, _ = s.precompute().over(data)(w=at)
    assert value == pytest.approx(np.sum((X @ at - X @ w) ** 2), rel=1e-9)
    with pytest.raises(ValueError, match="lost its digits"):
        s.precompute().over(iter(data))(w=at)


@pytest.mark.whole
def test_totals_that_overflow_are_replaced_by_rows():
    s = mc.split("norm2(c*X*w - y)^2", "m", wrt="w", declarations=LET)
    X, w = FULL["X"] * 1e160, FULL["w"]
    value, _ = s.precompute().over([{"X": X, "y": FULL["y"]}])(w=w, c=1e-160)
    assert value == pytest.approx(np.sum((FULL["X"] @ w - FULL["y"]) ** 2), rel=1e-9)


@pytest.mark.whole
def test_missing_data_stay_missing():
    s = mc.split("norm2(X*w - y)^2", "m", wrt="w", declarations=LET)
    y = FULL["y"].copy()
    y[3] = np.nan
    value, _ = s.precompute().over([{"X": FULL["X"], "y": y}])(w=FULL["w"])
    assert np.isnan(value)


@pytest.mark.parametrize("text", ["sum(exp(X*w)) - y'*X*w", "norm2(X*w - y)", "max(X*w)^2", "logsumexp(X*w)"])
def test_where_none_suffice_it_is_said_which(text):
    s = mc.split(text, "m", declarations=LET)
    with pytest.raises(mc.NotSupported, match=r"no totals of rows alone suffice: .*\(.*X\*w.*\) depends on w"):
        s.precompute()


def test_what_does_not_separate_has_none():
    with pytest.raises(mc.NotSupported, match="does not separate over m"):
        mc.split("median(X*w)*c", "m", declarations=LET).precompute()


@pytest.mark.whole
def test_pickled_and_from_files(tmp_path):
    np.save(tmp_path / "X.npy", FULL["X"])
    np.save(tmp_path / "y.npy", FULL["y"])
    s = mc.split(ENOUGH["least squares"][0], "m", wrt="w", declarations=LET)
    fn = s.precompute().npy({"X": tmp_path / "X.npy", "y": tmp_path / "y.npy"}, block=7)
    given = {name: FULL[name] for name in "Xywc"}
    for one in (fn, pickle.loads(pickle.dumps(fn))):
        assert one(w=FULL["w"], c=0.3)[0] == pytest.approx(ENOUGH["least squares"][3](**given), rel=1e-12)
    with pytest.raises(mc.UnknownName, match="c is missing: it is a shared argument"):
        fn(w=FULL["w"])


@pytest.mark.whole
@pytest.mark.parametrize("scale", [1.0, 1e100, 1e-100, 1e150])
def test_digits_are_kept_at_all_ranges_of_data(scale):
    """A small rest of large totals: neither units nor NaN elsewhere decide whether its digits count as lost."""
    s = mc.split("norm2(X*w - y)^2", "m", wrt="w", declarations=LET)
    rng = np.random.default_rng(2)
    X, w = rng.standard_normal((30, 3)), rng.standard_normal(3)
    for noise in (1.0, 1e-4, 1e-8):
        y = X @ w * (1 + noise * rng.standard_normal(30))
        fn = s.precompute().over([{"X": scale * X[a:b], "y": scale * y[a:b]} for a, b in ((0, 11), (11, 30))])
        r = (X.astype(np.longdouble) @ w - y) * scale
        value, gradient = fn(w=w)
        assert value == pytest.approx(float(r @ r), rel=1e-5)
        np.testing.assert_allclose(gradient, (2 * scale * X.T @ r).astype(float), rtol=1e-5)
    for bad in (np.nan, np.inf):
        spoilt = X.copy()
        spoilt[20, 1] = bad
        value, gradient = s.precompute().over([{"X": spoilt, "y": X @ w}])(w=w)
        assert not np.isfinite(value)
        assert not np.any(np.isfinite(gradient))
