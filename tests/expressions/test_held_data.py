"""Data in closures, globals and objects: symbols with the user's names, bound to the entries, as cheap as arguments.

The reference is the function itself, at arrays, and the same function with the data as arguments.
"""

import pickle
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import matcalc as mc
from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.expressions.user_code.array_views import part_of_symbol, view_of
from matcalc.tensor.constructors import symbol
from matcalc.tensor.sizes.size import Size

rng = np.random.default_rng(11)
X, y = rng.standard_normal((40, 5)), np.sign(rng.standard_normal(40))
K, wide = X @ X.T, rng.standard_normal((40, 9))
labels, picks, mask = rng.integers(0, 3, 40), rng.integers(-5, 5, 40), y > 0
parts, space, many = {"X": X, "t": y}, SimpleNamespace(A=X, b=y), [rng.standard_normal((5, 5)), X]
AT = rng.standard_normal(5)


class Model:
    def __init__(self):
        self.X, self.y, self.weight = X, y, 0.1

    def loss(self, w):
        return np.mean((self.X @ w - self.y) ** 2) + self.weight * w @ w


class Called(Model):
    def __call__(self, w):
        return self.loss(w)


def of_globals(w):
    return np.sum(np.log1p(np.exp(-y * (X @ w)))) + w @ w / 2


def of_closure(X, target):
    return lambda w: np.sum((X @ w - target) ** 2)


def transposed(w):
    r = X @ w - y
    return np.sum((X.T @ r) ** 2) + np.sum(X[2:30, 1:] @ w[1:])


def standardised(w):
    return np.sum(np.tanh((X - X.mean(0)) / X.std(0) @ w))


def chosen(w):
    if X.max() > 1e6 or float(np.sum(np.array(X) > 1e6)):
        return w @ w
    return np.sum(np.where(mask, X @ w, (X @ w) ** 2))


def gathered(w):
    return np.sum(w[picks] ** 2 * y)


def cross_entropy(w):
    z = X @ np.outer(w, [1.0, -1.0, 0.5])
    z = z - z.max(1, keepdims=True)
    return -np.mean((z - np.log(np.exp(z).sum(1, keepdims=True)))[np.arange(40), labels])


def changed_copy(w):
    A = np.array(X)
    A[0] = 0.0
    return np.sum((A @ w) ** 2)


def buffered(w):
    buffer, total = np.empty((40, 5)), 0.0
    for power in (1, 2):
        buffer = X**power
        total = total + np.sum(np.tanh(buffer @ w))
    return total


def solved(w):
    return y @ np.linalg.solve(K + np.exp(w[0]) * np.eye(40), y)


CASES = {
    "globals": (of_globals, ("y", "X")),
    "closure": (of_closure(X, y), ("X", "target")),
    "method": (Model().loss, ("X", "y")),
    "callable": (Called(), ("X", "y")),
    "partial": (partial(lambda w, A: np.sum((A @ w) ** 2), A=X), ("A",)),
    "dictionary": (lambda w: np.sum((parts["X"] @ w - parts["t"]) ** 2), ("X", "t")),
    "namespace": (lambda w: np.sum((space.A @ w - space.b) ** 2), ("A", "b")),
    "list": (lambda w: np.sum(many[1] @ (many[0] @ w)), ("many_0", "many_1")),
    "transposed": (transposed, ("X", "y")),
    "standardised": (standardised, ("data",)),
    "chosen": (chosen, ("X", "mask")),
    "gathered": (gathered, ("data", "y")),
    "cross entropy": (cross_entropy, ("X", "labels")),
    "changed copy": (changed_copy, ("X",)),
    "buffered": (buffered, ("buffer", "buffer2")),
    "columns": (lambda w: np.sum(np.exp(wide[:, 2:7] @ w) * wide[:, 8]), ("wide",)),
    "integers": (lambda w: np.sum(labels * np.tanh(X @ w)), ("X", "labels")),
    "solved": (solved, ("y", "K")),
}
FIRST = ("closure", "changed copy")


def slope(function, w):
    step = 1e-6 * np.eye(len(w))
    return np.array([(function(w + d) - function(w - d)) / 2e-6 for d in step])


@pytest.mark.parametrize("name", [n if n in FIRST else pytest.param(n, marks=pytest.mark.whole) for n in CASES])
@pytest.mark.sampled(2)
def test_data_are_symbols_with_the_names_of_variables(name):
    function, names = CASES[name]
    e = mc.expression(function, "w: vector(5)")
    assert e.symbols == ("w",)
    assert sorted(e.data) == sorted(names)
    assert e(AT) == pytest.approx(function(AT), rel=1e-12)
    assert mc.expression(str(e), e.declarations).node is e.node
    fn = mc.value_and_gradient(function, "w", declarations="w: vector(5)")
    assert fn.args == ("w",) and fn.checked.startswith("at ")
    value, gradient = fn(AT)
    assert value == pytest.approx(function(AT), rel=1e-12)
    np.testing.assert_allclose(gradient, slope(function, AT), rtol=1e-5, atol=1e-5)


@pytest.mark.whole
def test_formulas_print_as_with_arguments():
    e = mc.expression(of_closure(X, y), "w: vector(5)")
    assert str(e) == "norm2(X*w - target)^2"
    assert str(e.gradient("w")) == "2*X'*(X*w - target)"
    assert str(mc.expression(transposed, "w: vector(5)")).count("X") == 3
    assert str(mc.expression(of_globals, "w: vector(5)")) == "w'*w/2 + sum(log1p(exp(-y.*(X*w))))"


@pytest.mark.whole
def test_the_cost_is_that_of_arguments():
    """The source, the plan and the nodes are those of the function with arguments, whatever the length of the data."""
    A, b = rng.standard_normal((2000, 50)), rng.standard_normal(2000)

    def loss(w, A, b):
        return np.sum(np.log1p(np.exp(-b * (A @ w)))) + w @ w / 2

    held = mc.value_and_gradient(lambda w: loss(w, A, b), "w", declarations="w: vector(50)")
    let = "w: vector(50); A: matrix(2000, 50) constant; b: vector(2000) constant"
    taken = mc.value_and_gradient(loss, "w", declarations=let, check=False)
    assert sorted(held.whole.args) == sorted(taken.args) == ["A", "b", "w"]
    assert held.whole.spec.flops == taken.spec.flops
    assert len(held.source) < 1.1 * len(taken.source) < 20_000
    assert str(held.plan).count("\n") == str(taken.plan).count("\n")
    w = rng.standard_normal(50)
    for mine, theirs in zip(held(w), taken(w, A, b), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.whole
def test_data_are_those_at_the_time_of_tracing():
    data = X.copy()
    e = mc.expression(lambda w: np.sum(data @ w), "w: vector(5)")
    fn = mc.compile(lambda w: np.sum(data @ w), declarations="w: vector(5)")
    data[:] = 0.0
    np.testing.assert_allclose([e(AT), fn(AT)], np.sum(X @ AT))


def test_an_array_that_the_function_changes_is_two_symbols():
    def f(w):
        buffer = X + 1
        first = np.sum(np.tanh(buffer @ w))
        buffer -= 1
        return first + np.sum(np.cosh(buffer.T @ (buffer @ w)))

    assert mc.expression(f, "w: vector(5)")(AT) == pytest.approx(f(AT), rel=1e-12)


def test_small_arrays_and_indices_are_numbers():
    small, first = np.arange(3.0), [0, 2]
    e = mc.expression(lambda w: small @ w[:3] + np.sum(w[first]), "w: vector(5)")
    assert not e.data and e.declarations == "w: vector(5)"


def test_several_functions_have_different_names():
    losses = [of_closure(X, y), of_closure(2 * X, y)]
    fn = mc.compile(losses, declarations="w: vector(5)")
    np.testing.assert_allclose(fn(AT), [loss(AT) for loss in losses], rtol=1e-12)
    first, second = (mc.expression(loss, "w: vector(5)") for loss in losses)
    with pytest.raises(mc.ShapeError, match="X is the name of different data in two functions"):
        first + second
    named = mc.expression(lambda X, w: np.sum(X @ w) + np.sum(wide[:, :5] @ w), "X: matrix(2, 5); w: vector(5)")
    assert named.symbols == ("X", "w") and list(named.data) == ["wide"]


def test_pickles_and_bound_functions():
    e = mc.expression(Model().loss, "w: vector(5)")
    again = pickle.loads(pickle.dumps(e))
    assert again.symbols == ("w",) and again(AT) == e(AT)
    fn = mc.compile(of_globals, declarations="w: vector(5)")
    assert pickle.loads(pickle.dumps(fn))(AT) == fn(AT)
    assert "X" in fn.source and fn.stats["cache"] in ("built", "hit")
    assert fn.bind(X=0 * X)(0 * AT) == pytest.approx(40 * np.log(2))


@pytest.mark.whole
def test_solvers_proofs_and_checks():
    truth = np.linalg.lstsq(X, y, rcond=None)[0]
    let = "w: vector(5)"
    for options in ({}, {"compiled": True}):
        found = mc.minimize(of_closure(X, y), "w", {"w": np.zeros(5)}, declarations=let, **options)
        np.testing.assert_allclose(found.x["w"], truth, atol=1e-5)
    assert mc.check(of_closure(X, y), "w", let, compiled=True)
    assert mc.check(of_closure(X, y), "w", let, against=lambda w: 2 * X.T @ (X @ w - y))
    assert mc.check("norm2(Z*w - t)^2", "w", "Z: matrix(40, 5); t: vector(40); " + let)
    assert not mc.check(of_closure(X, y), "w", let, against=lambda w: 2 * X.T @ (X @ w + y))
    assert mc.convex(of_closure(X, y), "w", let)
    assert not mc.convex(lambda w: w @ (X.T @ X - 100 * np.eye(5)) @ w, "w", let)
    assert mc.equivalent(of_closure(X, y), lambda w: w @ X.T @ X @ w - 2 * y @ X @ w + y @ y, let)
    rows = mc.batch(mc.compile(of_globals, declarations=let), over="w")(np.stack([AT, 2 * AT]))
    np.testing.assert_allclose(rows, [of_globals(AT), of_globals(2 * AT)], rtol=1e-12)
    passes = mc.pullback(lambda w: np.tanh(X @ w), "w", declarations=let)
    value, saved = passes.forward(AT)
    assert passes.args == ("w",)
    np.testing.assert_allclose(value, np.tanh(X @ AT))
    np.testing.assert_allclose(passes.backward(saved, y), X.T @ (y * (1 - np.tanh(X @ AT) ** 2)))
    scores = mc.scores(lambda w: np.sum(np.exp(X @ w)), "w", over=40, declarations=let)
    np.testing.assert_allclose(scores(AT), np.exp(X @ AT)[:, None] * X)
    assert mc.compile(of_globals, declarations=let, threads=2)(AT) == pytest.approx(of_globals(AT), rel=1e-12)


def test_data_that_are_not_finite_are_not_compared():
    holed = X.copy()
    holed[0, 0] = np.inf
    fn = mc.value_and_gradient(lambda w: np.sum(np.exp(-(holed**2) @ w**2)), "w", "w: vector(5)")
    assert fn.checked == "not checked: its data are not finite"
    assert fn(AT)[0] == pytest.approx(np.sum(np.exp(-(X[1:] ** 2) @ AT**2)), rel=1e-12)


@pytest.mark.whole
def test_other_data_replace_data():
    e = mc.expression(of_closure(X, y), "w: vector(5)").substitute(X=np.ones((40, 5)))
    assert list(e.data) == ["target"] and e.symbols == ("w",)
    assert mc.compile(e)(AT) == pytest.approx(np.sum((np.ones((40, 5)) @ AT - y) ** 2), rel=1e-12)
    fn = mc.compile(lambda w, s: s * np.sum(X @ w), args=["s", "w"], declarations="w: vector(5); s: scalar")
    assert fn.args == ("s", "w") and fn(2.0, AT) == pytest.approx(2 * np.sum(X @ AT), rel=1e-12)


def random_part(draw, a):
    """Return a view of an array by subscripts, a transpose or a new axis."""
    match draw.integers(4):
        case 0:
            return a.transpose(draw.permutation(a.ndim))
        case 1:
            return a[None]
        case _:
            at = []
            for length in a.shape:
                start = int(draw.integers(length))
                stop = int(draw.integers(start, length)) + 1
                at.append(
                    (start, slice(start, stop), slice(None, None, int(draw.choice([1, -1, 2]))))[draw.integers(3)]
                )
            return a[tuple(at)]


@pytest.mark.whole
def test_views_are_the_same_parts_of_symbols():
    draw, found = np.random.default_rng(5), 0
    for _ in range(300):
        shape = draw.choice([1, 2, 3, 5], draw.integers(1, 4))
        base = np.arange(float(np.prod(shape))).reshape(shape, order=draw.choice(["C", "F"]))
        view = random_part(draw, random_part(draw, base))
        known = view_of(base, view) if isinstance(view, np.ndarray) else None
        if known is None:
            continue
        found += 1
        node = part_of_symbol(symbol("A", tuple(map(Size.of, base.shape))), known)
        (value,) = evaluate([node], {"A": base}, {})
        np.testing.assert_array_equal(known.of(base), view)
        np.testing.assert_array_equal(value, view)
    assert found > 100


def draws(w):
    return np.sum(np.random.standard_normal((40, 5)) @ w)


def draws_anew(w):
    return np.sum(np.random.default_rng().standard_normal((40, 5)) @ w)


REFUSED = [
    (lambda: mc.gradient(draws, "w", "w: vector(5)"), mc.NotSupported, "draws random numbers"),
    (lambda: mc.gradient(draws_anew, "w", "w: vector(5)"), mc.NotSupported, "gives another formula each time"),
    (
        lambda: mc.gradient(of_closure(X, y), "w", "w: vector(n)"),
        mc.ShapeError,
        "the sizes of X, which is data, are numbers",
    ),
    (lambda: mc.gradient(of_closure(X, y), "X", "w: vector(5)"), mc.NotDifferentiable, "X is declared constant"),
]


@pytest.mark.parametrize(("call", "fault", "message"), REFUSED)
def test_what_is_refused(call, fault, message):
    with pytest.raises(fault, match=message):
        call()
