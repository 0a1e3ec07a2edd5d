r"""Words about listed rows and entries of data, about columns of a matrix of the same letter, in front of equations."""

import numpy as np
import pytest

import matcalc as mc

pytestmark = pytest.mark.sampled(14)
RNG = np.random.default_rng(13)
DATA = {
    "Y": RNG.standard_normal((4, 3)), "x": RNG.standard_normal(3), "u": RNG.standard_normal(4),
    "W": RNG.standard_normal((3, 3)),
    "r": RNG.standard_normal(4), "a": 0.3, "b": 0.5, "c": 0.7, "d": -0.4,
}  # fmt: skip


def value(latex, let):
    e = mc.expression(latex, let, dialect="latex")
    return e(**{name: DATA[name] for name in map(str, e.symbols)})


LISTS = [
    r"\mathbf{y}_1, \dots, \mathbf{y}_q", r"\mathbf{y}_1, \mathbf{y}_2, \dots, \mathbf{y}_q", r"y_1, \ldots, y_q",
    r"y_1, y_2, y_3, \cdots, y_{q}", r"Y_1, \dots, Y_q",
]  # fmt: skip
SAID = ["are samples of the returns", "denote the observed scenarios", "are the data"]


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize(("name", "names"), [(x, y) for x in "Yy" for y in LISTS if x + y[0] != "yY"])
def test_listed_rows_of_data(name, names, said):
    row = names.partition("_")[0]
    latex = rf"c \sum_{{k=1}}^q x^\top {row}_k, where ${names}$ {said}."
    e = mc.expression(latex, f"{name}: matrix(q, n); x: vector(n); c: scalar", dialect="latex")
    np.testing.assert_allclose(e(**{name: DATA["Y"], "x": DATA["x"], "c": 0.7}), 0.7 * np.sum(DATA["Y"] @ DATA["x"]))


@pytest.mark.parametrize("names", [r"u_1, \dots, u_n", r"u_1, u_2, \ldots, u_n"])
def test_listed_entries_of_data(names):
    latex = rf"\sum_{{k=1}}^n u_k^2, where ${names}$ are the weights"
    np.testing.assert_allclose(value(latex, "u: vector(n)"), np.sum(DATA["u"] ** 2))


OTHERS = [
    r"z_1, \dots, z_q", r"\mathbf{y}_1, \dots, \mathbf{y}_m", r"\mathbf{y}_2, \dots, \mathbf{y}_q",
    r"\mathbf{y}_1, \dots, \mathbf{z}_q", r"\mathbf{y}_1, \mathbf{y}_3, \dots, \mathbf{y}_q", r"\dots, \mathbf{y}_q",
    r"\mathbf{y}_1, \dots, \mathbf{y}_7", r"y'_1, \dots, y'_q",
]  # fmt: skip


@pytest.mark.parametrize("names", OTHERS)
def test_other_lists_are_refused(names):
    latex = rf"c \sum_{{k=1}}^q x^\top \mathbf{{y}}_k, where ${names}$ are samples."
    with pytest.raises(mc.MatcalcError, match="only words describe"):
        value(latex, "Y: matrix(q, n); x: vector(n); c: scalar")


COLUMNS = [
    ("$W_j$ is the $j$-th column of the weights $W$", 1),
    ("$W_j$ is the $j$-th column of $W$", 1),
    ("$W_j$ denotes column $j$ of the weight matrix $W$", 1),
    ("$W_j$ are the columns of $W$", 1),
    ("$W_j$ is the $j$-th row of $W$", 0),
    ("$c$ is a number and $W_j$ is the $j$-th column of the weights $W$", 1),
    ("$W_j$ is the $j$-th column of the weights $W$ and $c$ is a number", 1),
]


@pytest.mark.parametrize(("words", "axis"), COLUMNS)
def test_words_tell_rows_or_columns_of_a_matrix_of_the_same_letter(words, axis):
    latex = rf"c \sum_{{j=1}}^n (W_j^\top x)^2, where {words}."
    product = DATA["W"] @ DATA["x"] if axis == 0 else DATA["W"].T @ DATA["x"]
    np.testing.assert_allclose(value(latex, "W: matrix(n, n); x: vector(n); c: scalar"), 0.7 * np.sum(product**2))


def test_words_that_deny_the_sizes_are_refused():
    latex = r"\sum_{j=1}^k (W_j^\top x)^2, where $W_j$ is the $j$-th row of the weights $W$."
    with pytest.raises(mc.MatcalcError):
        mc.expression(latex, "W: matrix(n, k); x: vector(n)", dialect="latex")


NOUNS = ["log-variance", "log variance", "variance", "log-volatility of the returns", "level"]
VERBS = ["follows", "is", "is given by", "evolves as"]
STEPS = [
    r"$h_1 = a$, \[ h_t = a + b h_{t-1} + d r_{t-1}, \qquad t = 2, \dots, T. \]",
    r"$h_1 = a$ and $h_t = a + b h_{t-1} + d r_{t-1}$ for $t = 2, \dots, T$.",
    r"\[ h_1 = a, \quad h_t = a + b h_{t-1} + d r_{t-1}, \qquad t = 2, \dots, T. \]",
]


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("noun", NOUNS)
@pytest.mark.parametrize("front", ["$v = c^2$", "$c$ is the mean"])
def test_a_noun_in_front_of_equations(front, noun, verb, steps):
    scale = "v" if "v" in front else "c^2"
    latex = rf"{scale} \sum_{{t=1}}^T r_t^2 e^{{-h_t}}, where {front}, and the {noun} {verb} {steps}"
    r, h, total = DATA["r"], DATA["a"], 0.0
    for t in range(len(r)):
        h = h if t == 0 else DATA["a"] + DATA["b"] * h + DATA["d"] * r[t - 1]
        total += (DATA["c"] * r[t]) ** 2 * np.exp(-h)
    np.testing.assert_allclose(value(latex, "r: vector(T); a, b, c, d: scalar"), total)


FUNCTIONS = ["log", "in logs,", "the logarithm of", "the inverse of", "exp", "the square of"]


@pytest.mark.parametrize("words", FUNCTIONS)
@pytest.mark.parametrize("front", ["$c$ is a number and ", "$c > 0$ and ", "$v = c^2$, and "])
def test_words_of_a_function_in_front_of_an_equation_are_refused(front, words):
    with pytest.raises(mc.ParseError, match="is a word|only words|product of letters"):
        value(rf"c \sum_{{t=1}}^T h_t, where {front}{words} $h_t = a + b r_t$.", "r: vector(T); a, b, c: scalar")
