r"""Functions that words name, derivatives that passages define or leave open, and conditions beside bounds of sums."""

import numpy as np
import pytest

import matcalc as mc

RNG = np.random.default_rng(8)
X = RNG.standard_normal((4, 3))
S = RNG.standard_normal((4, 4))
x = RNG.standard_normal(4)
U = RNG.standard_normal((4, 3))
DATA = {"X": X, "S": S, "x": x, "a": 0.7, "U": U, "q": np.array([1, 3, 0, 0]), "V": RNG.standard_normal((4, 3))}
LET = "X: matrix(n, d); S: matrix(n, n); x: vector(n); a: scalar; U: matrix(n, d); q: index(n); V: matrix(n, d)"


def value(latex):
    e = mc.expression(latex, LET, dialect="latex")
    return e(**{name: DATA[name] for name in map(str, e.symbols)})


NAMED = [
    ("is the ReLU function", lambda t: np.maximum(t, 0)),
    ("denotes the softplus activation", lambda t: np.log1p(np.exp(t))),
    ("is the elementwise tanh", np.tanh),
    ("refers to the sigmoid", lambda t: 1 / (1 + np.exp(-t))),
]


@pytest.mark.parametrize("sign", [r"\delta", "g", r"\phi(\cdot)", r"\sigma"])
@pytest.mark.parametrize(("words", "function"), NAMED)
def test_words_name_a_function(sign, words, function):
    letter = sign.partition("(")[0]
    found = value(rf"\|{letter}(S x)\|^2, where ${sign}$ {words}.")
    np.testing.assert_allclose(found, np.sum(function(S @ x) ** 2))


@pytest.mark.parametrize("words", ["link function", "inverse", "determinant", "squared sigmoid function", "function"])
def test_other_words_of_functions_are_refused(words):
    with pytest.raises(mc.MatcalcError, match="only words describe g"):
        mc.expression(rf"\|g(S x)\|^2, where $g$ is the {words}.", LET, dialect="latex")


OPEN = [
    r"u'(x_1), \quad u(t) = a t^2",
    r"\sum_i u''(x_i), \quad u(t) = a t^2",
    r"\sum_i u_i'(a), \quad u_i(t) = x_i t^2",
    r"\|f'\|^2, \quad f(t) = t^\top t",
    r"u'(a) + u(a), \quad u(t) = a t^2, \quad u''(t) = 2 a",
]


@pytest.mark.parametrize("latex", OPEN)
def test_a_derivative_without_a_formula_is_refused(latex):
    with pytest.raises(mc.MatcalcError, match="derivative that no line defines"):
        mc.expression(latex, LET, dialect="latex")


def test_a_derivative_with_a_formula_is_read():
    np.testing.assert_allclose(value(r"u'(a) + u(a), \quad u(t) = x_1 t^2, \quad u'(t) = 2 x_1 t"), x[0] * (1.4 + 0.49))


PAIRS = [
    (r"\sum_{i=1}^n \sum_{j=1, j \neq i}^n S_{ij}", S.sum() - np.trace(S)),
    (r"\sum_{i=1}^n \sum_{\substack{j=1 \\ j \neq i}}^n S_{ij}", S.sum() - np.trace(S)),
    (r"\sum_{i=1}^n \sum_{j=1, j \neq q_i}^n S_{ij}", S.sum() - sum(S[i, DATA["q"][i]] for i in range(4))),
    (r"\sum_{i=1}^n \sum_{j=1, j > i}^n S_{ij}", np.triu(S, 1).sum()),
    (r"\max_{u_1, \dots, u_n} \sum_{i=1}^n \|u_i\|^2", np.sum(U**2)),
    (
        r"\sum_{i=1}^{n-1} |\nabla x|_i^2 + a, \quad |\nabla x|_i^2 = (x_{i+1} - x_i)^2",
        np.sum(np.diff(x) ** 2) + 0.7,
    ),
    (r"\sum_i f^2(x_i), \quad f(t) = a t + 1", np.sum((0.7 * x + 1) ** 2)),
    (r"\|Y\|_F^2, where $Y = \operatorname{softmax}(X)$ row by row.", None),
    (r"\sum_{i=1}^n e_{q_i}^\top e_i, where $e_i$ is the $i$-th row of $E = 2 X$.", 4 * np.sum(X[DATA["q"]] * X)),
    (
        r"\sum_i \operatorname{arcosh}(1 + x_i^2) + \operatorname{artanh}(a)",
        np.sum(np.arccosh(1 + x**2)) + np.arctanh(0.7),
    ),
    (
        r"\sum_i \log \mathcal{N}(x_i \mid a, s^2(x_i)), \quad s(\mathbf{t}) = 1 + \mathbf{t}^2".replace(
            r"\mathbf{t}", "t"
        ),
        np.sum(-0.5 * np.log(2 * np.pi * (1 + x**2) ** 2) - (x - 0.7) ** 2 / (2 * (1 + x**2) ** 2)),
    ),
]


@pytest.mark.parametrize(("latex", "truth"), PAIRS)
def test_further_ways_of_papers(latex, truth):
    if truth is None:
        Y = np.exp(X) / np.exp(X).sum(axis=1, keepdims=True)
        truth = np.sum(Y**2)
    np.testing.assert_allclose(value(latex), truth)
