r"""Sentences behind a formula: words about declared symbols, and what they say of values, change nothing."""

import itertools

import pytest

import matcalc as mc

LET = "X: matrix(m, n); y: vector(m); w: vector(n); lambda: scalar"
LOSS = r"\|y - Xw\|_2^2 + \lambda\|w\|_1"
FRAMES = [
    (LOSS + ", where {}.", "${}$", " and "),
    ("$" + LOSS + "$, where {}.", "${}$", ", and "),
    ("$$" + LOSS + "$$ Here {}.", r"\({}\)", ", while "),
    ("$" + LOSS + "$. Here, {}", "${}$", "; "),
    (LOSS + r" \text{{ where }} {}", "{}", r"\text{ and }"),
    (r"\begin{{equation}}" + LOSS + r", \text{{ where }} {}. \end{{equation}}", "{}", r"\text{, }"),
]
SAYINGS = [
    [(r"\lambda", "is the penalty")],
    [(r"\lambda > 0", "denotes a weight")],
    [("X", "is the design matrix"), ("y", "the response")],
    [(r"w \in \mathbb{R}^n", "are the coefficients"), (r"\lambda \ge 0", "is a constant")],
    [("y", "represents the data"), ("w", "stands for the weights of the model"), (r"\lambda", "is given")],
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("frame", "formula", "link"), FRAMES, ids=[row[0][:12] + row[2] for row in FRAMES])
@pytest.mark.parametrize("said", SAYINGS, ids=[row[0][0] for row in SAYINGS])
def test_words_about_declared_symbols_change_nothing(frame, formula, link, said):
    is_display = formula == "{}"
    words = link.join(
        formula.format(shown) + (rf"\text{{ {verb}}}" if is_display else f" {verb}") for shown, verb in said
    )
    plain = mc.expression(LOSS, LET, dialect="latex")
    assert mc.expression(frame.format(words), LET, dialect="latex").node is plain.node


DEFINED = [
    r"\|r\|_2^2, where $r = y - Xw$ is the residual.",
    r"\|r\|_2^2, where $r = y - Xw$ denotes the residual and $w$ is the vector of $n$ weights.",
    r"\|r\|_2^2, where $w$ is the weight, $r = y - Xw$ and $y$ is the response.",
    r"\|r\|_2^2 \text{ where } r = y - Xw \text{ is the residual and } w \text{ the weights}",
    r"\|r\|_2^2, where $r$ is the residual $r = y - Xw$.",
]


@pytest.mark.parametrize("latex", DEFINED)
def test_definitions_among_the_words_remain(latex):
    assert mc.expression(latex, LET, dialect="latex").node is mc.expression("norm2(y - X*w)^2", LET).node


SIGNS = [
    (r"\sum_i \sigma(y_i)", r"\sigma", "the logistic function", "the feature map"),
    (r"\sum_i \sigma(y_i)", r"\sigma(\cdot)", "the sigmoid", "the squashing function"),
    (r"\sum_i \Phi(y_i)", r"\Phi", "the standard normal distribution function", "the feature map"),
    (r"\|X\|_F^2", r"\|\cdot\|_F", "the Frobenius norm", "the flow norm"),
    (r"\lambda \log 2", r"\log", "the natural logarithm", "the logarithm to base 2"),
    (r"w \odot w", r"\odot", "the element-wise product", "the convolution"),
    (r"X^\top y", r"\top", "the transpose", "the adjoint of the flow"),
]


@pytest.mark.parametrize(("formula", "sign", "right", "wrong"), SIGNS, ids=[row[2] for row in SIGNS])
def test_words_about_signs_are_compared_with_their_meaning(formula, sign, right, wrong):
    plain = mc.expression(formula, LET, dialect="latex").node
    assert mc.expression(f"{formula}, where ${sign}$ denotes {right}.", LET, dialect="latex").node is plain
    with pytest.raises(mc.ParseError, match="only words describe|natural here"):
        mc.expression(f"{formula}, where ${sign}$ denotes {wrong}.", LET, dialect="latex")


@pytest.mark.parametrize("name", [r"\mu", r"\bar y", "c", r"\mu_0"])
@pytest.mark.parametrize("words", ["is the mean of $y$", "denotes the centroid", "is a constant"])
def test_a_symbol_that_only_words_define_is_refused(name, words):
    latex = rf"\sum_i (y_i - {name})^2, where ${name}$ {words}."
    with pytest.raises(mc.ParseError, match="only words describe") as caught:
        mc.expression(latex, "y: vector(m)", dialect="latex")
    assert latex[caught.value.at :].startswith(name)


VALUES = [
    r"\lambda > 0", r"0 < \lambda < 1", r"\lambda \in (0, 1)", r"y_i \in \{0, 1\}", r"y_i > 0", r"y, w \ge 0",
    r"X \in \mathbb{R}^{m \times n}", r"w \neq 0", r"m > n", r"-\infty < \lambda < \infty", r"\lambda \ge \frac{1}{2}",
    r"x_i \in \mathbb{R}^n",
]  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("link", [r", \quad ", r" \text{ where } ", r" \\ "])
def test_what_is_said_of_values_changes_nothing(value, link):
    plain = mc.expression(LOSS, LET, dialect="latex").node
    assert mc.expression(f"{LOSS}{link}{value}", LET, dialect="latex").node is plain


@pytest.mark.parametrize("condition", [r"j \neq i", r"\sum_i w_i = 1", r"\|w\| \le 1", r"q > 0"])
def test_a_relation_of_other_things_is_refused(condition):
    with pytest.raises(mc.MatcalcError):
        mc.expression(rf"{LOSS}, \quad {condition}", LET, dialect="latex")


DOTTED = [
    r"p_{i\cdot}",
    r"p_{\cdot i}",
    r"p_{i\cdot} p_{\cdot i}",
    r"\log p_{i\cdot}",
    r"p_{ii} - p_{i\cdot} p_{\cdot i}",
]


@pytest.mark.parametrize(("part", "letter"), [*itertools.product(DOTTED, "pn"), (DOTTED[2], "N")])
def test_a_row_or_a_marginal_is_refused(part, letter):
    latex = rf"\sum_{{i=1}}^k {part.replace('p', letter)}"
    with pytest.raises(mc.ParseError, match="row|column") as caught:
        mc.expression(latex, f"{letter}: matrix(k, k)", dialect="latex")
    assert "sum" in str(caught.value)


ROWS = [
    (r"\sum_{i=1}^m X_{i\cdot} w", "sum(X*w)"),
    (r"\sum_{i=1}^m x_{i\cdot} w", "sum(X*w)"),
    (r"\sum_{i=1}^m \|X_{i\cdot}\|^2", "norm2(X)^2"),
    (r"\sum_{i=1}^m \mathbf{x}_{i\cdot} \mathbf{w}", "sum(X*w)"),
]


@pytest.mark.parametrize(("latex", "text"), ROWS)
def test_a_row_in_a_product_is_a_row(latex, text):
    assert mc.expression(latex, LET, dialect="latex").node is mc.expression(text, LET).node


ACTIVATIONS = [
    ("SiLU", "x.*sigmoid(x)"), ("silu", "x.*sigmoid(x)"), ("Swish", "x.*sigmoid(x)"), ("GELU", "x.*normcdf(x)"),
    ("gelu", "x.*normcdf(x)"), ("ELU", "relu(x) + expm1(min(x, 0))"), ("Softplus", "log(1 + exp(x))"),
    ("softplus", "log(1 + exp(x))"), ("ReLU", "max(x, 0)"),
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("font", ["mathrm", "operatorname", "text"])
@pytest.mark.parametrize(("name", "text"), ACTIVATIONS)
def test_activations(font, name, text):
    found = mc.expression(rf"\{font}{{{name}}}(x)", "x: vector(n)", dialect="latex")
    assert mc.equivalent(found, mc.expression(text, "x: vector(n)"))


def test_a_slope_that_papers_choose_is_not_guessed():
    with pytest.raises(mc.ParseError, match="slopes differ"):
        mc.expression(r"\mathrm{LeakyReLU}(x)", "x: vector(n)", dialect="latex")
