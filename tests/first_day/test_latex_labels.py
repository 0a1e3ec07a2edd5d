r"""Labels between two signs, norms that a passage defines, names with primes and signs, functions of matrices."""

import numpy as np
import pytest

import matcalc as mc

pytestmark = pytest.mark.sampled(3)
RNG = np.random.default_rng(9)
LET = "X, Z, Z_plus, Z_minus: matrix(n, p); y: vector(n); w: vector(p); c: scalar positive; A: matrix(p, p)"
DATA = {name: RNG.standard_normal((4, 2)) for name in ("X", "Z", "Z_plus", "Z_minus")}
DATA |= {"y": RNG.standard_normal(4), "w": RNG.standard_normal(2), "c": 0.8, "A": RNG.standard_normal((2, 2))}
X, Z, P, M, y, w, c, A = DATA.values()
SQUARE = np.sum((X @ w - y) ** 2)


def value(latex, let=LET):
    e = mc.expression(latex, let, dialect="latex")
    return e(**{name: DATA[name] for name in map(str, e.symbols)})


LABELS = [
    r"-\log p(y|X)", r"-\log p(y \mid X, w)", r"\log L(w)", r"-\ell(w)", r"\ln \frac{p(y|H_1)}{p(y|H_0)}", "J",
    r"\mathrm{KL}(q \,\|\, p)", r"\log \frac{P(D \mid w)}{Q}",
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("first", ["E", "E(w)"])
def test_labels_between_two_signs(label, first):
    np.testing.assert_allclose(value(rf"{first} = {label} = \|Xw - y\|^2"), SQUARE)


FORMULAS = ["c", r"-\log c", r"\|X w\|^2", r"E_0 + \|y\|", "f(w) c", r"w^\top w"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_between_two_signs_are_refused(formula):
    with pytest.raises(mc.ParseError, match="between formulas"):
        value(rf"E = {formula} = \|Xw - y\|^2")


def test_bars_of_the_formula_remain_beside_a_label_behind_it():
    latex = r"(|c| + 1) g, \quad g = \ell(w) = \|X w - y\|^2"
    np.testing.assert_allclose(value(latex), (c + 1) * SQUARE)


NORMS = [
    (r"\|X\|_{2,1}", r"\|X\|_{2,1} = \sum_{i=1}^n \|x_i\|_2", np.linalg.norm(X, axis=1).sum()),
    (
        r"\|X - Z\|_{2,1}",
        r"\|U\|_{2,1} = \sum_{i=1}^n \sqrt{\sum_{j=1}^p U_{ij}^2}",
        np.linalg.norm(X - Z, axis=1).sum(),
    ),
    (r"\|w\|_{\mathrm{TV}}", r"\|w\|_{\mathrm{TV}} = \sum_{i=1}^{p-1} |w_{i+1} - w_i|", abs(w[1] - w[0])),
    (r"\|X w - y\|_{\epsilon}^2", r"\|u\|_{\epsilon} = \sqrt{u^\top u + c}", SQUARE + c),
    (r"\lVert y \rVert_{1,2}^2", r"\lVert y \rVert_{1,2}^2 = \sum_i y_i^4", np.sum(y**4)),
]  # fmt: skip


@pytest.mark.parametrize(("use", "definition", "truth"), NORMS)
def test_a_norm_that_a_passage_defines(use, definition, truth):
    np.testing.assert_allclose(value(rf"c {use} + 1, \quad {definition}"), c * truth + 1)


def test_a_norm_of_one_declared_matrix_is_none_of_another():
    with pytest.raises(mc.ParseError, match="defined for another operand"):
        value(r"\|X - Z\|_{2,1}, \quad \|X\|_{2,1} = \sum_{i=1}^n \|x_i\|_2")


PRIMES = [
    (r"\|w' - w\|^2, \quad w' = A w", np.sum((A @ w - w) ** 2)),
    (r"\sum_i (y_i' - y_i)^2, \quad y_i' = c y_i^2", np.sum((c * y**2 - y) ** 2)),
    (r"\begin{aligned} u &= A w \\ u' &= c u \\ &\|u' - u\|^2 \end{aligned}", np.sum((c * A @ w - A @ w) ** 2)),
]  # fmt: skip


@pytest.mark.parametrize(("latex", "truth"), PRIMES)
def test_a_name_with_a_prime_that_a_line_defines(latex, truth):
    np.testing.assert_allclose(value(latex), truth)


@pytest.mark.parametrize("use", ["w' w", "w' A w", "c + w' w"])
def test_a_prime_that_can_be_a_transpose_is_refused(use):
    with pytest.raises(mc.ParseError, match="can be the transpose of w or what a line defines"):
        value(rf"{use}, \quad w' = A w")


def test_rows_of_matrices_with_signs():
    latex = r"\sum_{i=1}^n z_i^\top z_i^+ - c \|z_i^- - x_i\|^2"
    np.testing.assert_allclose(value(latex), np.sum(Z * P) - c * np.sum((M - X) ** 2))


FUNCTIONS = [
    (r"h(U) = \sum_{i,j} U_{ij}^2", lambda U: np.sum(U**2)),
    (r"h(U) = \operatorname{tr}(U^\top U)", lambda U: np.sum(U**2)),
    (r"h(U) = \|U\|_F^2 + c", lambda U: np.sum(U**2) + c),
]


@pytest.mark.parametrize(("definition", "truth"), FUNCTIONS)
def test_a_function_of_a_matrix(definition, truth):
    np.testing.assert_allclose(value(rf"h(X) + h(X - Z), \quad {definition}"), truth(X) + truth(X - Z))


def test_a_matrix_in_a_function_of_a_vector_is_refused():
    with pytest.raises(mc.ParseError, match="a matrix in a function that takes a vector"):
        value(r"h(w) + h(X - Z), \quad h(u) = u^\top u")


# Parameters with accents, Greek letters above names, and lines with two signs.

ACCENTED = [
    (r"\sum_i h(y_i, c), \quad h(\hat u, u) = (\hat u - u)^2 \hat u", np.sum((y - c) ** 2 * y)),
    (r"\sum_i h(y_i, c), \quad h(u, \hat u) = (\hat u - u)^2 \hat u", np.sum((y - c) ** 2 * c)),
    (r"\mathrm{KL}(c \| c^2), \quad \mathrm{KL}(r \| \hat r) = r \log \frac{r}{\hat r}", c * np.log(c / c**2)),
    (r"h(w, A w), \quad h(u, \tilde u) = u^\top A \tilde u", w @ A @ A @ w),
]  # fmt: skip


@pytest.mark.parametrize(("latex", "truth"), ACCENTED)
def test_parameters_with_accents(latex, truth):
    np.testing.assert_allclose(value(latex), truth)


def test_an_accent_makes_another_name():
    e = mc.expression(r"f(a), \quad f(x) = x + \bar x", "a, x_bar: scalar", dialect="latex")
    assert e.node is mc.expression("a + x_bar", "a, x_bar: scalar").node


ABOVE = [
    r"V^\pi = (I - c A)^{-1} w, \quad J = w^\top V^\pi",
    r"J^\pi = w^\top V^{\pi}, \quad V^{\pi} = (I - c A)^{-1} w",
    r"J(\pi) = w^\top V^\pi, \quad V^\pi = (I - c A)^{-1} w",
]


@pytest.mark.parametrize("latex", ABOVE)
def test_a_greek_letter_above_a_name(latex):
    np.testing.assert_allclose(value(latex), w @ np.linalg.solve(np.eye(2) - c * A, w))


def test_a_declared_letter_above_a_name_is_a_power():
    e = mc.expression(r"\sum_i x_i u^\alpha, \quad u = a^2", "x: vector(n); a, alpha: scalar", dialect="latex")
    assert e.node is mc.expression("sum(x)*(a^2)^alpha", "x: vector(n); a, alpha: scalar").node


BOTH = [
    (r"d_1 e^{d_2}, \quad d_{1,2} = \frac{a \pm b}{2}", lambda a, b: (a + b) / 2 * np.exp((a - b) / 2)),
    (r"d_+ \exp(d_-), \quad d_\pm = a \pm b.", lambda a, b: (a + b) * np.exp(a - b)),
    (r"d_+ - d_-, \quad d_{\pm} = (a \mp b^2) \pm b", lambda a, b: 2 * b - 2 * b**2),
    (r"$$d_1 d_2^2$$ where $d_{1,2} = a \left[1 \pm b\right]$.", lambda a, b: a * (1 + b) * a**2 * (1 - b) ** 2),
    (r"\begin{align} L &= d_1 - d_2^2 \\ d_{1,2} &= a \pm b \end{align}", lambda a, b: a + b - (a - b) ** 2),
]  # fmt: skip


@pytest.mark.parametrize(("latex", "truth"), BOTH)
def test_a_line_with_two_signs_is_two_lines(latex, truth):
    e = mc.expression(latex, "a, b: scalar positive", dialect="latex")
    np.testing.assert_allclose(e(a=0.7, b=0.4), truth(0.7, 0.4))


@pytest.mark.parametrize("latex", [r"a \pm b", r"d_1 + 1, \quad d_{1,2} = a \pm b", r"d_{1,2} = a \pm b"])
def test_two_signs_without_two_names_are_refused(latex):
    with pytest.raises(mc.ParseError):
        mc.expression(latex, "a, b: scalar", dialect="latex")
