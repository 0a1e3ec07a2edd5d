"""Calls, blocks and parts of objects: nodes equal to those of the text, errors in terms of objects."""

import pytest

import matcalc as mc

SYMBOLS = "X: matrix(m, n); Y: matrix(p, q); w: vector(n); x: vector(3); s: scalar; n: size; k: size"
X, Y, w, x, s, n, k = mc.symbols(SYMBOLS)

SAME = [
    (lambda: mc.exp(X @ w), "exp(X*w)"),
    (lambda: mc.tril(X, -1), "tril(X, -1)"),
    (lambda: mc.tril(X, k), "tril(X, k)"),
    (lambda: mc.eye(n), "eye(n)"),
    (lambda: mc.ones(k, 3), "ones(k, 3)"),
    (lambda: mc.repmat(X, 2, n), "repmat(X, 2, n)"),
    (lambda: mc.sum(X, axis="0"), "sum(X, axis=0)"),
    (lambda: mc.clip(x, 0, 0.5), "clip(x, 0, 0.5)"),
    (lambda: mc.kron(w.T, X), "kron(w', X)"),
    (lambda: mc.matfun("x -> n*log(x)^2", X.T @ X), "matfun(x -> n*log(x)^2, X'*X)"),
    (lambda: mc.block([[w.T], [X]]), "[w'; X]"),
    (lambda: mc.block([[x @ x, s], [-1.5, n]]), "[x'*x, s; -1.5, n]"),
    (lambda: w[n - 1], "w[n-1]"),
    (lambda: w["n-1"], "w[n-1]"),
    (lambda: w[1:"n-1"], "w[1:n-1]"),
    (lambda: X["1:3, 0"], "X[1:3, 0]"),
    (lambda: w[k:], "w[k:]"),
    (lambda: (X @ w)[::-1], "(X*w)[::-1]"),
    (lambda: w.T[2:4], "w'[2:4]"),
    (lambda: w[None], "{i,j: ones(1)[i]*w[j]}"),
    (lambda: X[:, None, 1], "{i,j: X[i,1]*ones(1)[j]}"),
    (lambda: X[..., 0], "X[:, 0]"),
    (lambda: X[...], "X"),
    (lambda: w[X.shape[1] - 1 :], "w[n-1:]"),
]


@pytest.mark.parametrize(("make", "text"), SAME, ids=[text for _, text in SAME])
def test_objects_mean_what_the_text_means(make, text):
    assert make().node is mc.expression(text, SYMBOLS).node


FAULTS = [
    (lambda: mc.inv(X), mc.ShapeError, "inv takes a square matrix, and X (m x n) is not square\n  inv(X)\n  ^   ~"),
    (lambda: mc.inv(X @ w), mc.ShapeError, "'inv' does not take (vector(m))\n  inv(X*w)\n  ^   ~~~"),
    (
        lambda: mc.hypot(X, Y),
        mc.ShapeError,
        "X (m x n) and Y (p x q)\n  hypot(X, Y)\n  ^     ~  ~\n  m is the rows of X, declared",
    ),
    (
        lambda: mc.sum(X + X, axis=3),
        mc.ShapeError,
        "axis 3 of a value of 2 axes\n  sum(2*X, axis=3)\n                ^",
    ),
    (lambda: mc.sum(X, function=3), mc.ShapeError, "'sum' has no parameter 'function'"),
    (lambda: mc.sum(X, axis="0, 1"), mc.ParseError, "'0, 1' is not one argument"),
    (lambda: mc.sum(X, axis="0) + sum(X"), mc.ParseError, "')' closes nothing"),
    (lambda: mc.inv("X=2"), mc.ParseError, "'X=2' is not one argument"),
    (lambda: mc.inv(None), mc.NotSupported, "inv takes expressions, numbers, arrays and sizes, not None"),
    (
        lambda: mc.block([[X, Y]]),
        mc.ShapeError,
        "cannot put X (m x n) beside Y (p x q): m and p rows differ\n  [X, Y]\n   ~  ^",
    ),
    (
        lambda: mc.block([[x], [X + 1]]),
        mc.ShapeError,
        "rows of a block matrix of unequal width: 1 and n columns\n  [x; 1 + X]",
    ),
    (lambda: mc.block([["x"]]), mc.NotSupported, "a block is an expression, a number or an array, not 'x'"),
    (lambda: mc.block([[]]), mc.ShapeError, "a block matrix has a row, and each row a block"),
    (lambda: x[5], mc.ShapeError, "x[5] is outside axis 0 of x, of length 3\n  x[5]\n    ^"),
    (
        lambda: (2 * x + 1)[3],
        mc.ShapeError,
        "(1 + 2*x)[3] is outside axis 0 of 1 + 2*x, of length 3\n  (1 + 2*x)[3]\n            ^",
    ),
    (lambda: X[0, 0, 0], mc.ShapeError, "X (m x n) has 2 axes, not 3\n  X[0, 0, 0]\n  ~^"),
    (lambda: w[::2], mc.NotSupported, "a step other than 1 and -1"),
    (lambda: w[True], mc.ShapeError, "not True"),
    (lambda: X[..., ...], mc.ShapeError, "at most one subscript can be an ellipsis"),
    (lambda: w[s], mc.ShapeError, "a subscript is an integer or a size, not s"),
    (lambda: w["]"], mc.ParseError, "']' closes nothing"),
    (lambda: w["q"], mc.UnknownName, "unknown name 'q'\n  w[q]\n    ^"),
]


@pytest.mark.parametrize(("make", "error", "message"), FAULTS)
def test_faults_name_the_objects(make, error, message):
    with pytest.raises(error) as fault:
        make()
    assert message in str(fault.value)


def test_open_conditions_name_the_objects():
    conditions = (X @ w)[7].names.conditions
    assert [(str(c.size), c.message) for c in conditions] == [("m - 8", "(X*w)[7] is outside axis 0 of X*w")]


def test_a_symbol_may_have_any_name():
    a_, a0_ = mc.symbols("a_: vector(3); a0_: vector(3)")
    assert mc.atan2(a0_, a_)[1].node is mc.expression("atan2(a0_, a_)[1]", "a_: vector(3); a0_: vector(3)").node


@pytest.mark.parametrize(
    ("order", "text"),
    [("fro", "norm2(X)"), ("nuc", "nuclear_norm(X)"), (2, "spectral_norm(X)"), (float("inf"), "norm(X, inf)")],
)
def test_an_order_of_a_norm_is_a_number_or_a_word(order, text):
    (X,) = mc.symbols("X: matrix(m, n)")
    assert mc.norm(X, order).node is mc.expression(text, "X: matrix(m, n)").node
