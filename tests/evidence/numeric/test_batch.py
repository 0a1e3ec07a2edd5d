"""Rewrites inside larger tensors: the checks find rewrites that fire along an axis other than the operation's own."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.calculus.simplify import operand_readings
from matcalc.rulebook import default_rulebook
from matcalc.rulebook.entry import rule_from_table
from matcalc.rulebook.facts_and_rewrites import rewrite_from_table
from matcalc.rulelab.batch import lifted, lifts, sliced_value
from matcalc.rulelab.rewrite_check import rewrite_faults
from matcalc.tensor.constructors import operate, product, symbol
from matcalc.tensor.sizes.size import Size

BOOK = default_rulebook()
RNG = np.random.default_rng(3)


def softmax(A, axis):
    e = np.exp(A - A.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def logsumexp(A, axis):
    return np.log(np.exp(A).sum(axis))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rule", ["sum(softmax(x)) => 1", "log(sum(softmax(x))) => 0"])
def test_a_transposition_of_batch_axes_is_found(rule, monkeypatch):
    """The former matcher read an operation with a batch axis as one that commutes with transposition."""
    rewrite = next(r for r in BOOK.rewrites if str(r) == rule)
    assert rewrite_faults(rewrite, BOOK) == []
    monkeypatch.setattr(operand_readings, "_commutes", lambda node: node.kind == "map" or node.rule.transpose_same)
    assert "inside a larger tensor" in "".join(rewrite_faults(rewrite, BOOK))


def test_crossed_axes_are_tried():
    """A sum of a softmax: by rows and by columns, whole and beside a sum along the other axis."""
    root = mc.expression("sum(softmax(x)) + sum(x)", "x: vector(n)").node
    crossed = [lift for lift in lifts(root) if lift.crossing is not None]
    assert len(crossed) == 3  # softmax in x, and both sums
    data = {"x": RNG.standard_normal((3, 3))}
    values = []
    for lift in crossed:
        found = sliced_value(root, lift, data, {"n": 3})
        values.append(found)
        node = lifted(root, lift)
        assert np.allclose(mc.calculus.evaluate.evaluate.evaluate([node], data, {"n": 3})[0], found)
    x = data["x"]
    wanted = [softmax(x, 1).sum(0) + x.sum(1), softmax(x, 0).sum(0) + x.sum(1), softmax(x, 1).sum(1) + x.sum(0)]
    assert all(any(np.allclose(v, w) for v in values) for w in wanted)


def test_a_rule_of_ones_own_is_tried_inside_tensors():
    """Such a rule is true by rows too; a rejected rule is rejected for its plain form."""
    rewrite = rewrite_from_table({"let": "x: array(s)", "rule": "max(softmax(x)) => 1"}, "own:1", lambda *_: None)
    assert "differ" in "".join(rewrite_faults(rewrite, BOOK))


FORMULAS = {
    "sum(softmax(A, axis=1)*v)": lambda A, v: np.sum(softmax(A, 1) @ v),
    "sum(softmax(A, axis=0)'*u)": lambda A, u: np.sum(softmax(A, 0).T @ u),
    "u'*softmax(A, axis=0)*v": lambda A, u, v: u @ softmax(A, 0) @ v,
    "sum(softmax(A, axis=1).*B)": lambda A, B: np.sum(softmax(A, 1) * B),
    "sum(sum(softmax(A, axis=1), axis=0).^2)": lambda A: np.sum(softmax(A, 1).sum(0) ** 2),
    "sum(log(softmax(A, axis=1)*v))": lambda A, v: np.sum(np.log(softmax(A, 1) @ v)),
    "sum(softmax(A*B'/c, axis=1)*A)": lambda A, B, c: np.sum(softmax(A @ B.T / c, 1) @ A),
    "sum(logsumexp(A - B, axis=1).*u)": lambda A, B, u: np.sum(logsumexp(A - B, 1) * u),
    "sum(logsumexp(A - ones(m)*v', axis=0).*v)": lambda A, v: np.sum(logsumexp(A - v, 0) * v),
    "sum(exp(A - logsumexp(A, axis=1)*ones(n)')*v)": lambda A, v: np.sum(np.exp(A - logsumexp(A, 1)[:, None]) @ v),
}
DATA = {
    "A": RNG.standard_normal((3, 3)),
    "B": RNG.standard_normal((3, 3)),
    "u": RNG.uniform(0.5, 2.0, 3),
    "v": RNG.uniform(0.5, 2.0, 3),
    "c": np.array(1.7),
}
LET = "A: matrix(m, n); B: matrix(m, n); u: vector(m); v: vector(n); c: scalar"


@pytest.mark.sampled(12)
@pytest.mark.parametrize("formula", FORMULAS)
def test_reductions_over_rows_of_row_wise_functions(formula):
    """Value and gradient in A, plain and on the NumPy target; square data, so that sizes do not distinguish axes."""
    e = mc.expression(formula, LET)
    used = {name: DATA[name] for name in e.symbols}
    data = {**used, "A": DATA["A"]}

    def value(**changed):
        return FORMULAS[formula](**{**data, **changed})

    E = RNG.standard_normal((3, 3))
    slope = np.imag(np_complex(value, E)) / 1e-30 if "A - logsumexp" not in formula else difference(value, E)
    for f in (e, e.simplify()):
        assert np.allclose(f(**used), value(), rtol=1e-12)
    gradient = e.gradient("A")
    assert np.isclose(np.sum(gradient(**{n: data[n] for n in gradient.symbols}) * E), slope, rtol=1e-6)
    fn = mc.value_and_gradient(e, "A", target="numpy")
    found = fn(**{n: data[n] for n in fn.args})
    assert np.allclose(found[0], value(), rtol=1e-12)
    assert np.isclose(np.sum(found[1] * E), slope, rtol=1e-6)


def np_complex(value, E):
    return value(A=DATA["A"] + 1e-30j * E)


def difference(value, E):
    return (value(A=DATA["A"] + 1e-6 * E) - value(A=DATA["A"] - 1e-6 * E)) / 2e-6


@pytest.mark.whole
def test_mixture_likelihood_has_its_gradient_in_the_means():
    text = "sum(logsumexp(ones(n)*w' - (x*ones(k)' - ones(n)*mu').^2/2, axis=1))"
    let = "x: vector(n); mu: vector(k); w: vector(k)"
    x, mu, w = RNG.standard_normal(4), RNG.standard_normal(4), RNG.standard_normal(4)
    r = softmax(w - (x[:, None] - mu) ** 2 / 2, 1)
    wanted = np.sum(r * (x[:, None] - mu), axis=0)
    gradient = mc.gradient(text, "mu", let)
    data = {"x": x, "mu": mu, "w": w}
    assert np.allclose(gradient(**{n: data[n] for n in gradient.symbols}), wanted)


@pytest.mark.whole
def test_what_is_not_convex_is_not_proved_by_a_sum_along_the_wrong_axis():
    assert not mc.convex("sum(softmax(A, axis=1)*v)", "A", "A: matrix(n, n); v: vector(n)")


def test_facts_of_matrices_are_none_of_their_rows():
    """An operation on each row of a symmetric matrix is not symmetric, whatever its rule states for matrices."""
    table = {
        "signature": "share(x: array(s)) -> array(s)",
        "differential": "dx/sum(x) - x*sum(dx)/sum(x)^2",
        "value": "x/np.sum(x)",
        "facts": ["symmetric(x) => symmetric(Y)", "positive(x) => positive(Y)"],
        "source": "the definition",
    }
    rule = rule_from_table("share", table, "own:1")
    n = Size.of("n")
    S = symbol("S", (n, n), ("symmetric", "positive"))
    assert {"symmetric", "positive"} <= operate(rule, [S]).facts
    by_rows = operate(rule, [S], (), [(0,)])
    assert "positive" in by_rows.facts
    assert "symmetric" not in by_rows.facts


def test_a_trace_of_slices_is_no_sum_over_a_definite_matrix():
    """Facts about the last two axes of a tensor do not apply to its other axes."""
    table = {
        "signature": "gram(X: matrix(n, n)) -> matrix(n, n)",
        "differential": "dX'*X + X'*dX",
        "value": "X.T @ X",
        "facts": ["=> psd(Y)"],
        "source": "the definition",
    }
    n = Size.of("n")
    each = operate(rule_from_table("gram", table, "own:1"), [symbol("T", (n, n, n))], (), [(0,)])
    assert "psd" in each.facts
    assert not product(1, [(each, (0, 0, 1))], ()).range.nonnegative
