r"""Where the operand of a function ends, \log \frac1n \sum_i x_i, and squares and functions in recurrences."""

import numpy as np
import pytest

import matcalc as mc

pytestmark = pytest.mark.sampled(3)
RNG = np.random.default_rng(3)
LET = "x: vector(n) positive; A: matrix(n, m) positive; c, d: scalar positive"
x, A, c, d = np.abs(RNG.standard_normal(4)) + 0.2, np.abs(RNG.standard_normal((4, 3))), 0.7, 1.3
DATA = {"x": x, "A": A, "c": c, "d": d}


def value(latex, let=LET, data=DATA):
    e = mc.expression(latex, let, dialect="latex")
    return e(**{name: data[name] for name in map(str, e.symbols)})


FUNCTIONS = [(r"\log", np.log), (r"\ln", np.log), (r"\exp", np.exp), (r"\tanh", np.tanh), (r"\log_2", np.log2)]
MEANS = [
    (r"\frac1n \sum_{i=1}^n x_i", np.mean(x)),
    (r"\tfrac{1}{n} \sum_i x_i^2", np.mean(x**2)),
    (r"\frac{1}{nm} \sum_{i=1}^n \sum_{j=1}^m A_{ij}", np.mean(A)),
    (r"\frac{2}{n-1} \sum_i x_i", 2 * x.sum() / 3),
    (r"\frac{1}{2n} \sum_{i} \exp(-x_i)", np.exp(-x).sum() / 8),
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("word", "function"), FUNCTIONS)
@pytest.mark.parametrize(("mean", "truth"), MEANS)
def test_a_function_of_a_mean(word, function, mean, truth):
    np.testing.assert_allclose(value(rf"c {word} {mean} + d"), c * function(truth) + d)


AMBIGUOUS = [
    r"\frac{1}{c} \sum_i x_i", r"\frac{c}{n} \sum_i x_i", r"\frac12 \sum_i x_i", r"n \sum_i x_i", r"c \exp(d)",
    r"\frac{1}{c} \exp(d)", r"2 \cosh(c)", r"\frac{1}{2} \tanh d", r"c \sin d", r"\frac{1}{n} \prod_i x_i",
]  # fmt: skip


@pytest.mark.sampled(8)
@pytest.mark.parametrize("word", [r"\log", r"\ln", r"\log_2"])
@pytest.mark.parametrize("body", AMBIGUOUS)
def test_a_factor_behind_the_operand_of_a_logarithm_is_ambiguous(word, body):
    with pytest.raises(mc.ParseError, match=r"the end of the operand of \\(log|ln) is ambiguous"):
        value(f"{word} {body}")


PRODUCTS = [
    (r"\log c \log d", np.log(c) * np.log(d)),
    (r"\sin\frac{c}{2} \cos\frac{d}{2}", np.sin(c / 2) * np.cos(d / 2)),
    (r"\log c \cdot \exp(d)", np.log(c) * np.exp(d)),
    (r"\log(c) \exp(d)", np.log(c) * np.exp(d)),
    (r"\ln c \log_2 d", np.log(c) * np.log2(d)),
]


@pytest.mark.parametrize(("latex", "truth"), PRODUCTS)
def test_a_product_of_functions(latex, truth):
    np.testing.assert_allclose(value(latex), truth)


# Squares whose steps are defined.

STARTS = [
    (r"\quad s_1^2 = c", "c, d: scalar positive", 1, c),
    (r"\quad s_0^2 = c", "c, d: scalar positive", 0, c),
    ("", "s_0, d: scalar positive", 0, c**2),
    ("", "s_1, d: scalar positive", 1, c**2),
]
STEPS = ["s_t^2 = d + 0.5 s_{t-1}^2", "s_{t+1}^2 = d + 0.5 s_t^2"]
USES = [
    (r"\frac{x_t^2}{s_t^2}", lambda u, v: u**2 / v),
    (r"\frac{x_t}{s_t}", lambda u, v: u / np.sqrt(v)),
    (r"x_t s_t^{-2}", lambda u, v: u / v),
    (r"(x_t \log s_t^2 + s_t^4)", lambda u, v: u * np.log(v) + v**2),
]


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("start", "let", "first", "begin"), STARTS)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(("use", "truth"), USES)
def test_a_square_is_a_state(start, let, first, begin, step, use, truth):
    squares = {first: begin}
    for t in range(first, 5):
        squares[t + 1] = d + 0.5 * squares[t]
    data = {"x": x, "c": c, "d": d, f"s_{first}": c}
    found = value(rf"\sum_{{t=1}}^T {use}, \quad {step},{start}", f"x: vector(T); {let}", data)
    np.testing.assert_allclose(found, sum(truth(x[t - 1], squares[t]) for t in range(1, 5)))


def test_declared_squares_are_data():
    with pytest.raises(mc.ParseError, match="declared"):
        value(r"\sum_{t=1}^T s_t^2, \quad s_t^2 = d + s_{t-1}^2", "s: vector(T); d: scalar")


# Functions with an index.


@pytest.mark.sampled(3)
@pytest.mark.parametrize("letter", "kjl")
@pytest.mark.parametrize("other", ["", r" + \sum_k g_k(d)"])
def test_a_function_with_an_index_at_any_index(letter, other):
    latex = rf"\sum_{letter} x_{letter} g_{letter}(c){other}, \quad g_k(u) = e^{{-x_k u}}"
    truth = x @ np.exp(-c * x) + (np.exp(-d * x).sum() if other else 0)
    np.testing.assert_allclose(value(latex), truth)


@pytest.mark.parametrize("letter", "ij")
def test_a_function_in_a_start(letter):
    latex = (
        rf"\sum_i a_T(i), \quad a_1(i) = x_i b_i(y_1), \quad "
        rf"a_t({letter}) = b_{letter}(y_t) a_{{t-1}}({letter}), \quad b_i(u) = e^{{-x_i u}}"
    )
    y = np.array([0.5, 1.0, 2.0])
    truth = np.sum(x * np.exp(-x * y.sum()))
    np.testing.assert_allclose(value(latex, "x: vector(n); y: vector(T)", {"x": x, "y": y}), truth)
