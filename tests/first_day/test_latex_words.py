r"""Words around formulas: sentences in front of a display and behind it, and what words tell of axes."""

import numpy as np
import pytest

import matcalc as mc

RNG = np.random.default_rng(7)
X, Y, w = RNG.standard_normal((4, 3)), RNG.standard_normal((4, 3)), np.array([0.5, -1.0, 2.0])


def value(latex, let, **data):
    e = mc.expression(latex, let, dialect="latex")
    return e(**{name: data[name] for name in map(str, e.symbols)})


FRONTS = [
    "",
    "The loss is ",
    "We minimise, following earlier work, the sum\n",
    "Let $r = X w$ be the scores. The loss is then\n",
    "For data $X$ with weights $w$, the objective of the model is ",
]
DISPLAYS = [
    (r"\begin{equation}", r"\end{equation}"),
    (r"\[", r"\]"),
    ("$$", "$$"),
    (r"\begin{align*}", r"\end{align*}"),
]
BEHIND = [
    "",
    " where $a > 0$ is a penalty.",
    "\nThe parameter $a$ controls the penalty.",
    "\nHere $X$ is the matrix of data and $a$ a number.",
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("front", FRONTS)
@pytest.mark.parametrize(("begin", "end"), DISPLAYS)
@pytest.mark.parametrize("behind", BEHIND)
def test_words_around_a_display(front, begin, end, behind):
    scores = "r" if "r =" in front else "X w"
    latex = rf"{front}{begin} L(w) = \|{scores}\|^2 + a \|w\|^2 {end}{behind}"
    found = value(latex, "X: matrix(n, d); w: vector(d); a: scalar positive", X=X, w=w, a=2.0)
    np.testing.assert_allclose(found, np.sum((X @ w) ** 2) + 2 * w @ w)


@pytest.mark.parametrize("words", ["is the inverse of $Z$", "is a matrix", "controls the fit"])
def test_words_about_an_undeclared_symbol_are_refused(words):
    with pytest.raises(mc.MatcalcError, match="only words describe B"):
        mc.expression(rf"\[ \|B w\|^2 \] where $B$ {words}.", "w: vector(d)", dialect="latex")


MEANINGS = [
    r"\[ \|X w\|^2 \] Except for the last row $X$ is known.",
    r"\[ \|X w\|^2 \] The entries are squared before $X$ is used.",
    r"\[ \|X w\|^2 \] where $X$ is transposed.",
    r"\[ \|X w\|^2 \] The norm is divided by $n$.",
    r"\[ \|X w\|^2 \] with $w = 0$ at the start.",
]


@pytest.mark.parametrize("latex", MEANINGS)
def test_words_that_may_change_a_formula_are_refused(latex):
    with pytest.raises(mc.MatcalcError):
        mc.expression(latex, "X: matrix(n, d); w: vector(d)", dialect="latex")


@pytest.mark.parametrize("words", ["are the rows of $A$ and $B$", "denote the rows of $A$ and of $B$"])
@pytest.mark.parametrize("axis", ["rows", "columns"])
def test_rows_and_columns_in_words(words, axis):
    latex = rf"\[ \sum_{{i=1}}^n \sum_{{j=1}}^n (a_i^\top b_j)^2, \] where $a_i$, $b_j$ {words.replace('rows', axis)}."
    A, B = X[:3], Y[:3]
    product = A @ B.T if axis == "rows" else A.T @ B
    np.testing.assert_allclose(value(latex, "A, B: matrix(n, n)", A=A, B=B), np.sum(product**2))


def test_columns_in_words_against_the_sizes_are_refused():
    latex = r"\[ \sum_{i=1}^n (a_i^\top w)^2, \] where $a_i$ are the columns of $A$."
    with pytest.raises(mc.MatcalcError, match="row or column"):
        mc.expression(latex, "A: matrix(n, d); w: vector(d)", dialect="latex")


@pytest.mark.parametrize("name", ["x", r"\mathbf{x}"])
def test_a_list_of_rows_tells_their_number(name):
    latex = rf"U({name}_1, \dots, {name}_N) = \sum_{{i<j}} s_{{ij}}, \quad s_{{ij}} = \|{name}_i - {name}_j\|"
    truth = sum(np.linalg.norm(X[i] - X[j]) for j in range(4) for i in range(j))
    np.testing.assert_allclose(value(latex, "X: matrix(N, 3)", X=X), truth)
    with pytest.raises(mc.MatcalcError, match="row or column"):
        mc.expression(latex.replace(f"({name}_1, \\dots, {name}_N)", ""), "X: matrix(N, 3)", dialect="latex")


WISE = [
    ("the softmax is applied row-wise", 1),
    ("the softmax is taken rowwise", 1),
    ("the softmax is applied to each row", 1),
    ("the softmax is applied column-wise", 0),
    ("softmax is taken over each column", 0),
]


@pytest.mark.parametrize(("words", "axis"), WISE)
def test_a_function_along_an_axis_in_words(words, axis):
    latex = rf"\| \operatorname{{softmax}}(S) Y \|_F^2, where {words}, $S = X X^\top$ and $X$ is the input."
    S = np.exp(X @ X.T)
    S = S / S.sum(axis=axis, keepdims=True)
    np.testing.assert_allclose(value(latex, "X, Y: matrix(n, d)", X=X, Y=Y), np.sum((S @ Y) ** 2))


def test_lines_inside_a_passage():
    latex = r"L = \sum_i f(w_i), \qquad \begin{aligned} f(t) &= g(t) + 1, \\ g(t) &= t^2 \end{aligned}"
    np.testing.assert_allclose(value(latex, "w: vector(n)", w=w), np.sum(w**2 + 1))


@pytest.mark.parametrize("label", [r"-\log p(w)", "-L"])
@pytest.mark.parametrize("end", ["", ","])
def test_a_line_that_begins_with_a_sign_and_is_an_equation(label, end):
    latex = rf"\begin{{aligned}} v &= X w{end} \\ {label} &= v^\top v \end{{aligned}}"
    np.testing.assert_allclose(value(latex, "X: matrix(n, d); w: vector(d)", X=X, w=w), np.sum((X @ w) ** 2))


def test_a_line_that_begins_with_a_sign_continues():
    latex = r"\begin{aligned} v &= X w \\ &\quad - b, \\ L &= v^\top v \\ - 1 \end{aligned}"
    found = value(latex, "X: matrix(n, d); w: vector(d); b: vector(n)", X=X, w=w, b=Y[:, 0])
    np.testing.assert_allclose(found, np.sum((X @ w - Y[:, 0]) ** 2) - 1)


@pytest.mark.parametrize("use", ["u", "u_1", "-u_2", r"\|u\|^2"])
def test_a_part_with_a_sign_on_its_left(use):
    left = "-u_i = 2 w_i" if "_" in use else "-u = 2 w"
    truth = {"u": -2 * w, "u_1": -2 * w[0], "-u_2": 2 * w[1]}.get(use, 4 * w @ w)
    np.testing.assert_allclose(value(rf"f = {use}, \quad {left}", "w: vector(d)", w=w), truth)


@pytest.mark.parametrize("end", ["", ","])
def test_a_formula_behind_lines(end):
    latex = (
        r"L = \sum_{t=1}^T h_t^2, \qquad \begin{aligned} h_t &= a h_{t-1} + g_t, \\ "
        rf"g_t &= y_t^2{end} \end{{aligned}} \qquad h_0 = 0"
    )
    h, total = 0.0, 0.0
    for one in w:
        h = 0.5 * h + one**2
        total += h * h
    np.testing.assert_allclose(value(latex, "y: vector(T); a: scalar", y=w, a=0.5), total)


REFUSED = [
    (r"\[ \sum_i \|x_i\|^2, \] where $x_i$ are the rows of $A$.", "X, A: matrix(n, d)"),
    (r"\[ \|X\|_F^2, \] where the norm is taken row-wise, and $X$ is the input.", "X: matrix(n, d)"),
]


@pytest.mark.parametrize(("latex", "let"), REFUSED)
def test_words_of_axes_that_fit_nothing_are_refused(latex, let):
    with pytest.raises(mc.MatcalcError):
        mc.expression(latex, let, dialect="latex")


@pytest.mark.parametrize("end", [".", ",", ""])
@pytest.mark.parametrize(("begin", "stop"), DISPLAYS)
def test_punctuation_before_the_end_of_a_display(begin, stop, end):
    latex = rf"Let $Z = 2 X$ be scaled. Then {begin} L = \|Z w\|^2{end} {stop}"
    np.testing.assert_allclose(value(latex, "X: matrix(n, d); w: vector(d)", X=X, w=w), 4 * np.sum((X @ w) ** 2))
