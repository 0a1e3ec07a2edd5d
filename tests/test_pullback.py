"""Two passes: cotangents against complex step, one, a batch or none; sizes that only an argument determines."""

import numpy as np
import pytest

import matcalc as mc

X, w, S = np.array([[0.3, -0.2], [0.5, 0.1], [-0.4, 0.8]]), np.array([0.7, -0.6]), np.array([[2.0, 0.3], [0.3, 1.0]])
DATA = {"X": X, "w": w, "S": S, "a": 1.7}
LET = "X: matrix(m, n); w: vector(n); S: matrix(n, n); a: scalar"
CASES = [
    ("tanh(X*w)", ("X", "w"), lambda X, w, S, a: np.tanh(X @ w)),
    ("X*inv(S)*w", ("S", "w"), lambda X, w, S, a: X @ np.linalg.inv(S) @ w),
    ("det(S)*exp(a*w)", ("S", "a"), lambda X, w, S, a: np.linalg.det(S) * np.exp(a * w)),
    ("sum(X.^2)*a", ("X", "a"), lambda X, w, S, a: (X**2).sum() * a),
    ("X*S", ("S",), lambda X, w, S, a: X @ S),
]


def cotangent(function, name, G):
    """Return the cotangent of one argument for one cotangent G of the value, by complex step."""
    found = np.empty(np.shape(DATA[name]))
    for at in np.ndindex(found.shape):
        moved = np.asarray(DATA[name], complex)
        moved[at] += 1e-30j
        found[at] = np.sum(G * np.imag(function(**{**DATA, name: moved if moved.ndim else moved[()]}))) / 1e-30
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
@pytest.mark.parametrize(("text", "wrt", "function"), CASES, ids=[case[0] for case in CASES])
def test_cotangents_one_and_many(text, wrt, function, target):
    passes = mc.pullback(text, list(wrt), LET, target=target)
    value, saved = passes.forward(**{name: DATA[name] for name in passes.args})
    np.testing.assert_allclose(value, function(**DATA), rtol=1e-13)
    rng = np.random.default_rng(0)
    for batch in ((), (3,), (2, 1), (0,), (2, 0)):
        G = rng.standard_normal((*batch, *np.shape(value)))
        found = passes.backward(saved, G)
        assert len(found) == len(wrt)
        for name, cotangents in zip(wrt, found, strict=True):
            assert np.shape(cotangents) == (*batch, *np.shape(DATA[name]))
            for at in np.ndindex(batch):
                expected = cotangent(function, name, G[at])
                np.testing.assert_allclose(np.asarray(cotangents)[at], expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    ("text", "slope"),
    [
        ("a*ones(n)", lambda G: G.sum()),
        ("sum(a^2*ones(n))", lambda G: 2 * 1.7 * 3 * G),
        ("a^2*n*p", lambda G: 2 * 1.7 * 3 * 4 * G),
        ("sum(a*ones(n)) + sum(exp(a*ones(p)))", lambda G: (3 + 4 * np.exp(1.7)) * G),
    ],
)
def test_sizes_that_only_an_argument_tells(text, slope):
    passes = mc.pullback(text, "a", "a: scalar; n: size; p: size", target="numpy")
    sizes = {"a": 1.7, "n": 3, "p": 4}
    value, saved = passes.forward(*(sizes[name] for name in passes.args))
    for batch in ((), (2,), (0,)):
        G = np.random.default_rng(1).standard_normal((*batch, *np.shape(value)))
        found = np.asarray(passes.backward(saved, G))
        assert found.shape == batch
        for at in np.ndindex(batch):
            np.testing.assert_allclose(found[at], slope(G[at]), rtol=1e-13)


def test_what_forward_did_not_save_is_refused():
    passes = mc.pullback("tanh(X*w)", "w", declarations="X: matrix(m, n); w: vector(n)", target="numpy")
    _, saved = passes.forward(np.ones((2, 3)), np.ones(3))
    for other in ({"saved": 1}, "abc", None, [*saved], (*saved, 1.0), ()):
        with pytest.raises(TypeError, match="saved is the tuple"):
            passes.backward(other, np.ones(2))


LEFT_OUT = {  # a formula, and its slope in x by hand
    "where(x > 0, log(x), y)": lambda x, y: np.where(x > 0, 1 / x, 0),
    "where(x > 0, x/y, y)": lambda x, y: np.where(x > 0, 1 / y, 0),
    "where(a*x > 0, sqrt(x), 0*y)": lambda x, y: np.where(x > 0, 0.5 / np.sqrt(x), 0),
    "where(x > 0, tanh(x)/x^2, y)": lambda x, y: np.where(x > 0, (1 / np.cosh(x) ** 2 - 2 * np.tanh(x) / x) / x**2, 0),
    "max(x, 0*y)/y": lambda x, y: np.where(x > 0, 1 / y, np.where(x == 0, 0.5 / y, 0)),
}


@pytest.mark.parametrize("text", LEFT_OUT)
@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
@pytest.mark.filterwarnings("ignore")
def test_a_branch_that_is_not_taken_counts_for_nothing(text, target):
    """The second pass recomputes conditions: saved as numbers, they would multiply infinities by 0."""
    y, x = (a.ravel() for a in np.meshgrid([2.0, 0.5, 0.0], [-1.0, 0.0, 2.0, -np.inf]))
    elementwise = text.replace("/", "./").replace("x^2", "x.^2")
    passes = mc.pullback(elementwise, "x", "x: vector(n); y: vector(n); a: scalar", target=target)
    given = {"x": x, "y": y, "a": 3.0}
    _, saved = passes.forward(**{name: given[name] for name in passes.args})
    found, wanted = passes.backward(saved, np.ones(len(x))), LEFT_OUT[text](x, y)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
