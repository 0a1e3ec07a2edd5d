"""Formulas that separate over rows: the parts found, and sums over blocks against NumPy by definition."""

import pickle

import numpy as np
import pytest
from scipy.special import logsumexp
from split_data import CUTS, DATA, LET, RNG, ROWS, cut

import matcalc as mc

SEPARABLE = {
    "least squares": ("norm2(X*w - y)^2/m", "w", 1, lambda X, w, y: np.mean((X @ w - y) ** 2)),
    "ridge": ("norm2(X*w - y)^2 + c*w'*w", "w", 1, lambda X, w, y, c: np.sum((X @ w - y) ** 2) + c * w @ w),
    "root of squares": ("norm2(X*w - y)", "w", 2, lambda X, w, y: np.linalg.norm(X @ w - y)),
    "principal components": ("norm2(X - X*W*W')^2", "W", 1, lambda X, W: np.sum((X - X @ W @ W.T) ** 2)),
    "Gaussian likelihood": (
        "logdet(S) + tr(inv(S)*(X .- mean(X, axis=0)')'*(X .- mean(X, axis=0)'))/m", "S", 2,
        lambda X, S: np.linalg.slogdet(S)[1] + np.trace(np.linalg.solve(S, np.cov(X.T, bias=True))),
    ),
    "soft k-means": (
        "-sum(logsumexp(X*M' .- sum(M.^2, axis=1)'/2, axis=1))", "M", 1,
        lambda X, M: -np.sum(logsumexp(X @ M.T - np.sum(M * M, axis=1) / 2, axis=1)),
    ),
    "k-means": (
        "sum(min(sum(M.^2, axis=1)' .- 2*X*M', axis=1))", "M", 1,
        lambda X, M: np.sum(np.min(np.sum(M * M, axis=1) - 2 * X @ M.T, axis=1)),
    ),
    "softmax regression": (
        "sum(logsumexp(X*W, axis=1)) - sum(Y.*(X*W))", "W", 1,
        lambda X, W, Y: np.sum(logsumexp(X @ W, axis=1)) - np.sum(Y * (X @ W)),
    ),
    "logistic": ("sum(log(1 + exp(-b.*(X*w))))", "w", 1, lambda X, w, b: np.sum(np.logaddexp(0, -b * (X @ w)))),
    "Poisson regression": ("sum(exp(X*w) - k.*(X*w))", "w", 1, lambda X, w, k: np.sum(np.exp(X @ w) - k * (X @ w))),
    "canonical correlation": (
        "(w'*X'*Z*u)/sqrt((w'*X'*X*w)*(u'*Z'*Z*u))", "w", 1,
        lambda X, Z, w, u: (X @ w) @ (Z @ u) / np.sqrt(((X @ w) @ (X @ w)) * ((Z @ u) @ (Z @ u))),
    ),
    "factors by rows": ("norm2(X - Z*V)^2", "V", 1, lambda X, Z, V: np.sum((X - Z @ V) ** 2)),
    "log of a sum": ("log(sum(exp(X*w)))", "w", 2, lambda X, w: logsumexp(X @ w)),
    "variance": ("var(X*w)", "w", 2, lambda X, w: np.var(X @ w)),
    "Gram determinant": ("logdet(X'*X + S)", "S", 1, lambda X, S: np.linalg.slogdet(X.T @ X + S)[1]),
    "kernel by features": (
        "y'*X*inv(X'*X + S)*X'*y", "S", 1, lambda X, S, y: (X.T @ y) @ np.linalg.solve(X.T @ X + S, X.T @ y),
    ),
    "count and extremes": (
        "max(X*w)*c^2 - c*min(y) + m*(m - 1)*c", "c", 1,
        lambda X, w, y, c: np.max(X @ w) * c**2 - c * np.min(y) + ROWS * (ROWS - 1) * c,
    ),
    "worst row": ("max(X*w)", "w", 1, lambda X, w: np.max(X @ w)),
    "largest residual": ("norminf(X*w - y)/m", "w", 1, lambda X, w, y: np.max(abs(X @ w - y)) / ROWS),
    "width": ("max(X*w + y) - min(X*w + y)", "w", 1, lambda X, w, y: np.ptp(X @ w + y)),
    "worst of each column": ("sum(max(X*W, axis=0).^2)", "W", 1, lambda X, W: np.sum(np.max(X @ W, axis=0) ** 2)),
    "worst entry": ("max(X*W)", "W", 1, lambda X, W: np.max(X @ W)),
    "worst above the mean": ("max(X*w - mean(X*w))", "w", 2, lambda X, w: np.max(X @ w) - np.mean(X @ w)),
    "worst and spread": ("max(X*w)*c + var(X*w)", "w", 2, lambda X, w, c: np.max(X @ w) * c + np.var(X @ w)),
    "worst and all": (
        "max(X*w)^2 + sum(exp(X*w))", "w", 1, lambda X, w: np.max(X @ w) ** 2 + np.sum(np.exp(X @ w)),
    ),
    "product": ("prod(1 + y.^2)*c^2", "c", 1, lambda y, c: np.prod(1 + y**2) * c**2),
}  # fmt: skip
WHOLE = {
    "y'*inv(X*X' + eye(m))*y + c^2": "eye\\(m\\) needs all m rows at once: it pairs each row with each other",
    "sum(sort(X*w).*y)": "sort\\(X\\*w\\) needs all m rows at once: sort does not separate",
    "sum(cumsum(X*w).^2)": "needs all m rows at once",
    "sum((X*w)[1:].^2)": "needs all m rows at once",
    "median(X*w - y)": "needs all m rows at once",
    "sum(exp(-(y .- y').^2))*c": "pairs each row with each other",
}


def shared_of(s):
    return {name: DATA[name] for name in s.shared}


def slope(f, given, wrt, along):
    """Return the derivative of a Python function along a direction, by central differences of two steps."""

    def at(t):
        return f(**{**given, wrt: given[wrt] + t * along})

    return (4 * (at(1e-4) - at(-1e-4)) / 2e-4 - (at(2e-4) - at(-2e-4)) / 4e-4) / 3


@pytest.mark.whole
@pytest.mark.sampled(20)
@pytest.mark.parametrize("name", SEPARABLE)
def test_value_and_gradient_over_blocks(name):
    text, wrt, rounds, f = SEPARABLE[name]
    s = mc.split(text, "m", wrt=wrt, declarations=LET)
    assert s, s.reason
    assert s.rounds == rounds
    given = {n: DATA[n] for n in f.__code__.co_varnames[: f.__code__.co_argcount]}
    along = RNG.standard_normal(np.shape(DATA[wrt]))
    along = (along + along.T) / 2 if wrt == "S" else along
    for cuts in CUTS:
        value, gradient = s.over(cut(s.split, cuts), shared_of(s))
        assert value == pytest.approx(f(**given), rel=1e-11)
        assert np.sum(gradient * along) == pytest.approx(slope(f, given, wrt, along), rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("name", SEPARABLE)
def test_what_is_split_and_shared(name):
    s = mc.split(SEPARABLE[name][0], "m", declarations=LET)
    assert s
    assert all(DATA[n].shape[0] == ROWS for n in s.split)
    assert not any(np.shape(DATA[n])[:1] == (ROWS,) for n in s.shared)
    assert set(s.args) == {*s.split, *s.shared}
    assert str(s).startswith("separable over m")


@pytest.mark.parametrize("text", WHOLE)
def test_what_does_not_separate_says_why(text):
    s = mc.split(text, "m", wrt="c" if "*c" in text or "c^" in text else "w", declarations=LET)
    assert not s
    with pytest.raises(mc.NotSupported, match=WHOLE[text]):
        s.over([])
    assert str(s) == f"not separable over m: {s.reason}"


def test_a_result_with_rows_does_not_separate():
    s = mc.split("X*w", "m", declarations=LET)
    assert not s
    assert "part for each of the m rows" in s.reason


@pytest.mark.whole
def test_partial_combine_finish():
    s = mc.split("norm2(X*w - y)^2/m", "m", wrt="w", declarations=LET)
    X, y, w = DATA["X"], DATA["y"], DATA["w"]
    parts = [s.partial(X=X[a:b], y=y[a:b], w=w) for a, b in ((0, 4), (4, 9), (9, ROWS))]
    value, gradient = s.finish(s.combine(parts[0], s.combine(parts[1], parts[2])), w=w)
    r = X @ w - y
    assert value == pytest.approx(r @ r / ROWS)
    assert np.allclose(gradient, 2 * X.T @ r / ROWS)
    assert np.allclose(s.finish(s.combine(s.combine(parts[2], parts[0]), parts[1]), w)[1], gradient)


@pytest.mark.whole
def test_two_rounds_by_hand():
    s = mc.split("var(X*w)", "m", declarations=LET)
    X, w = DATA["X"], DATA["w"]
    blocks = (X[:7], X[7:])
    first = s.combine(*(s.partial(X=block, w=w) for block in blocks))
    second = s.combine(*(s.partial(X=block, w=w, after=first) for block in blocks))
    assert s.finish(second, w=w) == pytest.approx(np.var(X @ w))
    with pytest.raises(ValueError, match="last round"):
        s.partial(X=X, w=w, after=second)


@pytest.mark.whole
def test_several_variables():
    s = mc.split("norm2(X*w - y)^2 + c^2*w'*w", "m", wrt=["w", "c"], declarations=LET)
    value, (gw, gc) = s.over(cut(s.split, [0, 5, ROWS]), shared_of(s))
    X, y, w, c = (DATA[n] for n in "Xywc")
    assert value == pytest.approx(np.sum((X @ w - y) ** 2) + c**2 * w @ w)
    assert np.allclose(gw, 2 * X.T @ (X @ w - y) + 2 * c**2 * w)
    assert gc == pytest.approx(2 * c * w @ w)


@pytest.mark.whole
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_change_no_digit(threads):
    s = mc.split("sum(log(1 + exp(-b.*(X*w))))", "m", wrt="w", declarations=LET)
    blocks = cut(s.split, list(range(ROWS + 1)))
    one, several = s.over(blocks, w=DATA["w"]), s.over(blocks, w=DATA["w"], threads=threads)
    assert one[0] == several[0]
    assert np.array_equal(one[1], several[1])


@pytest.mark.whole
def test_equal_sizes_and_rows_of_the_second_axis():
    X, y, w = RNG.standard_normal((4, 4)), RNG.standard_normal(4), RNG.standard_normal(4)
    s = mc.split("norm2(X'*w - y)^2", "m", wrt="w", declarations="X: matrix(n, m); w: vector(n); y: vector(m)")
    value, gradient = s.over([{"X": X[:, :1], "y": y[:1]}, {"X": X[:, 1:], "y": y[1:]}], w=w)
    assert value == pytest.approx(np.sum((X.T @ w - y) ** 2))
    assert np.allclose(gradient, 2 * X @ (X.T @ w - y))


@pytest.mark.whole
def test_labels_as_data():
    labels = RNG.integers(0, 2, ROWS)
    let = "X: matrix(m, n); W: matrix(n, p); t: index(m)"
    s = mc.split("-sum{i: log_softmax(X*W, axis=1)[i, t[i]]}", "m", wrt="W", declarations=let)
    assert s, s.reason
    X, W = DATA["X"], DATA["W"]
    blocks = [{"X": X[a:b], "t": labels[a:b]} for a, b in ((0, 5), (5, ROWS))]
    value, gradient = s.over(blocks, W=W)
    P = np.exp(X @ W - logsumexp(X @ W, axis=1)[:, None])
    assert value == pytest.approx(-np.sum(np.log(P[np.arange(ROWS), labels])))
    assert np.allclose(gradient, X.T @ (P - np.eye(2)[labels]))


def test_what_depends_on_no_row():
    s = mc.split("mean(X*w .- mean(X*w))", "m", wrt="w", declarations=LET)
    value, gradient = s.over([{"X": DATA["X"]}], w=DATA["w"])
    assert value == 0
    assert np.array_equal(gradient, np.zeros(3))


def test_bytes():
    s = mc.split("sum(log(1 + exp(-b.*(X*w))))", "m", wrt="w", declarations=LET)
    assert s.bytes(n=100) == 8 * 101
    with pytest.raises(mc.UnknownName, match="needs the size n"):
        s.bytes()


def test_faults_name_what_is_wrong():
    s = mc.split("norm2(X*w - y)^2", "m", wrt="w", declarations=LET)
    X, y, w = DATA["X"], DATA["y"], DATA["w"]
    with pytest.raises(mc.UnknownName, match="y is missing: it is an argument with rows"):
        s.over([{"X": X}], w=w)
    with pytest.raises(mc.ShapeError, match="X has 12, y has 3"):
        s.over([{"X": X, "y": y[:3]}], w=w)
    with pytest.raises(ValueError, match="there are no rows"):
        s.over([], w=w)
    with pytest.raises(mc.UnknownName, match="w is missing: it is a shared argument"):
        s.over([{"X": X, "y": y}])
    with pytest.raises(mc.UnknownName, match="y is not a shared argument: it has rows"):
        s.over([{"X": X, "y": y}], w=w, y=y)
    with pytest.raises(mc.UnknownName, match="is not a size of the formula"):
        mc.split("norm2(X*w - y)^2", "rows", declarations=LET)
    with pytest.raises(ValueError, match="cannot be made over an iterator"):
        mc.split("var(X*w)", "m", declarations=LET).over(iter([{"X": X}]), w=w)
    with pytest.raises(mc.NotSupported, match="needs variables"):
        mc.split("norm2(X*w - y)^2", "m", declarations=LET).over([], w=w, hvp=True)


def test_pickled():
    s = pickle.loads(pickle.dumps(mc.split("norm2(X*w - y)^2", "m", wrt="w", declarations=LET)))
    value, _ = s.over(cut(s.split, [0, ROWS]), w=DATA["w"])
    assert value == pytest.approx(np.sum((DATA["X"] @ DATA["w"] - DATA["y"]) ** 2))


@pytest.mark.whole
def test_infinities_stay():
    """Merging logs of sums keeps infinities, and rows of weight zero."""
    s = mc.split("logsumexp(y)", "m", declarations="y: vector(m)")
    assert s.over([{"y": np.array([-np.inf])}, {"y": np.array([-np.inf, -np.inf])}]) == -np.inf
    assert s.over([{"y": np.array([1e4, 0.0])}, {"y": np.array([-np.inf])}]) == 1e4
    assert s.over([{"y": np.array([np.inf])}, {"y": np.array([0.0])}]) == np.inf
    assert np.isnan(s.over([{"y": np.array([np.nan])}, {"y": np.array([0.0])}]))


def test_progress_is_told(capsys):
    s = mc.split("var(X*w)", "m", declarations=LET)
    s.over(cut(s.split, [0, 5, ROWS]), w=DATA["w"], progress=True)
    lines = capsys.readouterr().out.splitlines()  # a slow machine prints a line inside a pass too
    last = dict(line.rpartition(",")[0].split(": ") for line in lines)
    assert last == {"pass 1 of 2": "m = 12", "pass 2 of 2": "m = 12"}


@pytest.mark.whole
def test_sparse_blocks():
    from scipy import sparse

    s = mc.split(
        "sum(log(1 + exp(-b.*(X*w))))",
        "m",
        wrt="w",
        declarations=LET.replace("X: matrix(m, n)", "X: matrix(m, n) sparse"),
    )
    X, b, w = np.where(abs(DATA["X"]) > 0.5, DATA["X"], 0), DATA["b"], DATA["w"]
    blocks = [{"X": sparse.csr_array(X[a:z]), "b": b[a:z]} for a, z in ((0, 5), (5, 5), (5, ROWS))]
    value, gradient = s.over(blocks, w=w, threads=2)
    t = -b * (X @ w)
    assert value == pytest.approx(np.sum(np.logaddexp(0, t)))
    assert np.allclose(gradient, -X.T @ (b / (1 + np.exp(-t))))


# ---- sizes that shared arguments do not determine


@pytest.mark.parametrize(
    ("text", "declarations", "shared", "want"),
    [
        ("mean(X)", "X: matrix(m, n)", {}, lambda: np.mean(DATA["X"])),
        ("numel(X)", "X: matrix(m, n)", {}, lambda: DATA["X"].size),
        ("q*sum(y)", "y: vector(m); q: size", {"q": 3}, lambda: 3 * np.sum(DATA["y"])),
        ("sum(y)*tr(eye(q))", "y: vector(m); q: size", {"q": 2}, lambda: 2 * np.sum(DATA["y"])),
    ],
)
def test_sizes_of_rows_and_sizes_given(text, declarations, shared, want):
    s = mc.split(text, "m", declarations=declarations)
    assert set(s.shared) == set(shared)
    assert s.over(cut(s.split, [0, 5, ROWS]), shared) == pytest.approx(want(), rel=1e-13)


def test_counts_by_label():
    """The block's total has the length of the shared argument, as the total of all rows has."""
    labels, u = RNG.integers(0, 2, ROWS), DATA["u"]
    s = mc.split("sum(u[t].*y)", "m", wrt="u", declarations=LET + "; t: index(m)")
    blocks = [{"y": DATA["y"][a:b], "t": labels[a:b]} for a, b in ((0, 5), (5, ROWS))]
    counts = np.bincount(labels, DATA["y"], 2)
    for value, gradient in (s.over(blocks, u=u), s.precompute().over(blocks, p=2)(u=u)):
        assert value == pytest.approx(u @ counts)
        assert np.allclose(gradient, counts)
    with pytest.raises(mc.UnknownName, match="need the size p"):
        s.precompute().over(blocks)


def test_blocks_of_other_widths_are_refused():
    s = mc.split("sum(X)", "m", declarations=LET)
    with pytest.raises(mc.ShapeError, match="n is 3 in one and 2 in another"):
        s.over([{"X": DATA["X"]}, {"X": DATA["X"][:, :2]}])


def test_a_part_outside_of_an_axis_is_refused():
    s = mc.split("sum(X[:, 3])*c", "m", declarations=LET)
    with pytest.raises(mc.ShapeError, match="outside axis 1 of X where n = 3"):
        s.over([{"X": DATA["X"]}], c=1.0)


def test_what_has_no_rows_is_refused():
    for text, let in (("m*c", "c: scalar; m: size"), ("sum(A)", "A: matrix(m, m)")):
        assert not mc.split(text, "m", declarations=let)
