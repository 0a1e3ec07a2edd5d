r"""Sentences in front of formulas, sets by a condition, recurrences as constraints, and indices above a name."""

import numpy as np
import pytest

import matcalc as mc

pytestmark = pytest.mark.sampled(3)
RNG = np.random.default_rng(7)
LET = "X: matrix(n, p); y, t: vector(n); beta: vector(p)"
X, y, t, beta = RNG.standard_normal((4, 2)), RNG.standard_normal(4), RNG.uniform(size=4), RNG.standard_normal(2)
DATA = {"X": X, "y": y, "t": t, "beta": beta}
SQUARE = np.sum((X @ beta - y) ** 2)


def value(latex, let=LET, data=DATA):
    e = mc.expression(latex, let, dialect="latex")
    return e(**{name: data[name] for name in map(str, e.symbols)})


FRONTS = [
    r"The loss is $L(\beta) = \|X\beta - y\|^2$.",
    r"We minimise $\|X\beta - y\|^2$ over $\beta$.",
    r"We minimize $L(\beta) = \|X\beta - y\|^2$ with respect to $\beta \in \mathbb{R}^p$.",
    r"Given data $\mathcal{D} = \{(x_i, y_i)\}_{i=1}^n$, we minimise $\sum_{i=1}^n (y_i - x_i^\top \beta)^2$.",
    r"Let $r = y - X\beta$. The objective is $r^\top r$.",
    r"The objective is $r^\top r$, where $r = y - X\beta$ is the residual.",
    r"Consider $f(\beta) = g(X\beta)$ with $g(u) = \|u - y\|^2$.",
    r"\[ \|X\beta - y\|^2 \] over the weights $\beta$, where $y$ is the response.",
    r"L(\theta) = \sum_{i=1}^n (y_i - x_i^\top \beta)^2, where $\theta = \{\beta\}$.",
]


@pytest.mark.parametrize("latex", FRONTS)
def test_words_in_front_of_a_formula(latex):
    np.testing.assert_allclose(value(latex), SQUARE)


OTHER_WORDS = [
    r"the sum of $y_i^2$ over $i$",
    r"The loss is half of $\|y - X\beta\|^2$.",
    r"The loss is $\|y - X\beta\|^2$ divided by $n$.",
    r"The square of $\|y - X\beta\|$.",
    r"The gradient of $f(\beta) = \|X\beta\|^2$ is $2X^\top X\beta$.",
    r"We minimise $\|X\beta - y\|^2$ over $i$, summed.",
    r"The loss is \[ \|X\beta - y\|^2 \] over $n$.",
    r"The loss is $\|X\beta - y\|^2$ over $n$.",
    r"The loss is twice $\|y - X\beta\|^2$",
    r"tr A where $A = X^\top X$",
]


@pytest.mark.parametrize("latex", OTHER_WORDS)
def test_words_that_change_a_formula_are_refused(latex):
    with pytest.raises(mc.MatcalcError):
        value(latex)


SETS = [
    (r"R_i", r"R_i = \{j : t_j \ge t_i\}"),
    (r"R(t_i)", r"R(t_i) = \{k \mid t_k \geq t_i\}"),
    (r"R(t_i)", r"R(t) = \{j : t_j \ge t\}"),
    (r"\mathcal{R}_i", r"\mathcal{R}_i := \left\{ k \in [n] : t_k \ge t_i \right\}"),
    (r"\mathcal{R}(i)", r"\mathcal R(i) = \{ l : t_i \le t_l \}"),
    (r"\Omega_{i}", r"\Omega_i = \{ j | t_j \ge t_i \}"),
]
RISK = [sum(y[j] for j in range(4) if t[j] >= t[i]) for i in range(4)]
MEMBERS = [sum(t[j] >= t[i] for j in range(4)) for i in range(4)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "definition"), SETS)
@pytest.mark.parametrize("words", [r", \quad {}", r", where ${}$ is the set at risk."])
@pytest.mark.parametrize("letter", "jk")
def test_a_sum_over_a_set_by_a_condition(name, definition, words, letter):
    latex = rf"\sum_{{i=1}}^n y_i \sum_{{{letter} \in {name}}} y_{letter}" + words.format(definition)
    np.testing.assert_allclose(value(latex), y @ RISK)


@pytest.mark.parametrize(("name", "definition"), SETS[:2])
def test_the_number_of_members_of_a_set(name, definition):
    latex = rf"\sum_i \frac{{1}}{{|{name}|}} \sum_{{j \in {name}}} y_j, \quad {definition}"
    np.testing.assert_allclose(value(latex), np.sum(np.divide(RISK, MEMBERS)))


@pytest.mark.parametrize("use", [r"\sum_{i \in S \cup T} y_i", r"y^\top S", r"\max_{i \in S} y_i", r"|S \cap T|"])
def test_a_set_in_another_place_is_refused(use):
    with pytest.raises(mc.MatcalcError):
        value(rf"\sum_{{i \in S}} y_i + {use}, \quad S = \{{ i : t_i > 1 \}}")


CONSTRAINTS = [
    r"\sum_{k=1}^{T} (s_k - y_k)^2 \quad \text{s.t.} \quad s_{k+1} = a s_k + b, \; s_1 = c, \; k = 1, \dots, T - 1",
    r"$$\min_a \sum_{k=1}^{T} (s_k - y_k)^2$$ subject to $s_{k+1} = a s_k + b$ and $s_1 = c$.",
    r"\sum_{k=1}^{T} (s_k - y_k)^2 \text{ subject to } s_{k} = a s_{k-1} + b, \; s_1 = c",
]


@pytest.mark.parametrize("latex", CONSTRAINTS)
def test_a_recurrence_behind_subject_to(latex):
    data = {"y": y, "a": 0.5, "b": 1.0, "c": 2.0}
    s = [2.0]
    for _ in range(3):
        s.append(0.5 * s[-1] + 1)
    np.testing.assert_allclose(value(latex, "y: vector(T); a, b, c: scalar", data), np.sum((s - y) ** 2))


def test_another_constraint_beside_a_recurrence_is_refused():
    latex = r"\sum_{k=1}^{T} s_k \text{ subject to } s_{k} = a s_{k-1}, \; s_1 = c, \; y_1 = c"
    with pytest.raises(mc.ParseError, match="a constraint is not part of a formula"):
        value(latex, "y: vector(T); a, c: scalar")


ABOVE = [
    (r"\sum_{m=1}^{M} \sum_{i=1}^{N} c_i s_i^{(m)}", "M, N"),
    (r"\sum_{m=1}^{M} \sum_{i=1}^{N} c_i s_m^{(i)}", "M, N"),
    (r"\sum_{m=1}^{M} \sum_{i=1}^{N} c_i s_i^{(m)}", "N, M"),
]


@pytest.mark.parametrize(("latex", "sizes"), ABOVE)
def test_an_index_above_a_name_has_the_axis_of_its_range(latex, sizes):
    s, c = RNG.standard_normal((3, 2)), RNG.standard_normal(2)
    own = s if sizes == "M, N" else s.T
    np.testing.assert_allclose(value(latex, f"s: matrix({sizes}); c: vector(N)", {"s": own, "c": c}), np.sum(s @ c))


def test_an_index_above_a_name_of_a_square_matrix_is_refused():
    with pytest.raises(mc.ParseError, match=r"s_\{i,m\} or s_\{m,i\}"):
        value(r"\sum_{m=1}^{N} \sum_{i=1}^{N} s_i^{(m)}", "s: matrix(N, N)")


def test_data_below_a_tensor_have_the_axis_of_other_indices():
    A, b, z = RNG.standard_normal((4, 3, 2)), RNG.standard_normal(2), np.array([0, 2, 1, 1])
    latex = r"\sum_{i=1}^n \log \frac{\exp(a_{i z_i}^\top b)}{\sum_{k=1}^J \exp(a_{ik}^\top b)}"
    u = A @ b
    truth = sum(u[i, z[i]] - np.log(np.exp(u[i]).sum()) for i in range(4))
    let = "A: tensor(n, J, p); z: index(n); b: vector(p)"
    np.testing.assert_allclose(value(latex, let, {"A": A, "b": b, "z": z}), truth)
    with pytest.raises(mc.MatcalcError, match="subscripts for 3 axes"):
        value(r"\sum_{i=1}^n a_{i z_i}^\top b", let, {})


@pytest.mark.parametrize("arguments", [r"u_i, t_i", r"u_i, c", "u_i"])
def test_a_function_of_entries_with_its_own_arguments(arguments):
    latex = rf"\sum_{{i=1}}^n g_i({arguments}), \quad g_i({arguments}) = c t_i u_i^2, \quad u_i = \exp(y_i)"
    np.testing.assert_allclose(value(latex, f"{LET}; c: scalar", {**DATA, "c": 2.0}), 2 * np.sum(t * np.exp(2 * y)))


@pytest.mark.parametrize("words", ["plus penalty", "npyx plus"])
def test_a_word_with_declared_letters_is_no_product(words):
    with pytest.raises(mc.MatcalcError, match="is a word|may change"):
        mc.expression(rf"$$y^\top y$$ {words}", "X: matrix(n, p); y: vector(n); a, l, u: scalar", dialect="latex")


LISTED = r"$$\sum_i t_i (y_i - x_i^\top \beta)^2,$$ "


@pytest.mark.parametrize(
    "words", ["with weights $t_i$ and person-years $y_i$.", "where the weights $t_i$, responses $y_i$."]
)
def test_nouns_in_front_of_listed_symbols(words):
    np.testing.assert_allclose(value(LISTED + words), t @ (y - X @ beta) ** 2)


@pytest.mark.parametrize(
    "words",
    [
        "with weights $t_i$, divided by $n$.", "The sum is divided by $n$.", "with squared weights $t_i$.",
        "with weights $c_i$.", "plus penalty $t_1$.", r"with the additional penalty $\|\beta\|$.", "plus $t_1$.",
        "where the weights are normalised, times $n$.",
    ],
)  # fmt: skip
def test_other_words_in_front_of_symbols_are_refused(words):
    with pytest.raises(mc.MatcalcError):
        value(LISTED + words)


BETWEEN = [
    r"The loss is $$L = r^\top r$$ with the residuals $$r = y - X\beta.$$",
    r"The loss is \[ L = r^\top r, \] in which the residual vector is \[ r = y - X\beta, \] where $y$ is the response.",
    r"\begin{equation} L = r^\top r, \end{equation} with the residuals \begin{equation} r = y - X\beta. \end{equation}",
]


@pytest.mark.parametrize("latex", BETWEEN)
def test_words_between_two_displays(latex):
    np.testing.assert_allclose(value(latex), SQUARE)


@pytest.mark.parametrize("words", ["or equivalently", "that is,", "which becomes", "instead of the gradient"])
def test_words_for_another_form_between_two_displays_are_refused(words):
    with pytest.raises(mc.MatcalcError):
        value(rf"The loss is $$L = \|y - X\beta\|^2$$ {words} $$L = y^\top y - 2 y^\top X\beta + \|X\beta\|^2$$")


STARTS = [
    r"with $s_{k} = a s_{k-1} + b$, starting from $s_1 = c$.",
    r"where $s_{k} = a s_{k-1} + b$ and initialised at $s_1 = c$.",
    r"where $s_{k} = a s_{k-1} + b$ with initial condition $s_1 = c$.",
    r"with initial state $s_1 = c$ and dynamics $s_{k} = a s_{k-1} + b$.",
    r"where the state evolves as $$s_{k} = a s_{k-1} + b, \quad s_1 = c.$$",
]


@pytest.mark.parametrize("words", STARTS)
def test_words_in_front_of_a_start(words):
    data = {"y": y, "a": 0.5, "b": 1.0, "c": 2.0}
    s = [2.0]
    for _ in range(3):
        s.append(0.5 * s[-1] + 1)
    found = value(rf"$$\sum_{{k=1}}^{{T}} (s_k - y_k)^2$$ {words}", "y: vector(T); a, b, c: scalar", data)
    np.testing.assert_allclose(found, np.sum((s - y) ** 2))


DESCRIBED = [
    (r"I_0(c)", "where $I_0$ is the modified Bessel function of the first kind and order zero.", "besseli(0, c)"),
    (r"K_1(c)", "where $K_1$ is the modified Bessel function of the second kind.", "besselk(1, c)"),
    (r"J_0(c)", "where $J_0$ is the Bessel function of the first kind.", "besselj(0, c)"),
    (r"\psi(c)", r"where $\psi$ is the digamma function.", "digamma(c)"),
    (r"\Phi(c)", r"where $\Phi$ is the cdf of $\mathcal{N}(0, 1)$.", "normcdf(c)"),
    (r"\Phi(c)\phi(c)", r"where $\Phi$ and $\phi$ are the cdf and pdf of $\mathcal{N}(0,1)$.", "normcdf(c)*normpdf(c)"),
]  # fmt: skip


@pytest.mark.parametrize(("formula", "words", "text"), DESCRIBED)
def test_words_that_state_the_meaning_of_a_function(formula, words, text):
    e = mc.expression(rf"$$L = {formula},$$ {words}", "c: scalar positive", dialect="latex")
    assert e.node is mc.expression(text, "c: scalar positive").node


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("I_0(c)", "where $I_0$ is the Bessel function of the first kind."),
        ("J_0(c)", "where $J_0$ is the modified Bessel function of the first kind."),
        (r"\Phi(c)", r"where $\Phi$ is the cdf of the logistic distribution."),
        (r"\psi(c)", r"where $\psi$ is the trigamma function."),
    ],
)
def test_words_that_state_another_meaning_are_refused(formula, words):
    with pytest.raises(mc.MatcalcError, match="only words describe|could be|can be"):
        mc.expression(rf"$$L = {formula},$$ {words}", "c: scalar positive", dialect="latex")


# Names with signs, and e beside e_i.

NAMES = [
    (r"f(c) + f^*(d), \quad f(u) = u^2, \quad f^*(u) = \frac14 u^2", "c^2 + d^2/4"),
    (r"f^{(1)}(c) + f^{(2)}(d), \quad f^{(1)}(u) = u^2, \quad f^{(2)}(u) = \frac14 u^2", "c^2 + d^2/4"),
    (r"\sum_i e_i^2 + e^{-c}, \quad e_i = y_i - e^{c} t_i", "norm2(y - exp(c)*t)^2 + exp(-c)"),
]


@pytest.mark.parametrize(("latex", "text"), NAMES)
def test_names_with_signs_and_the_letter_e(latex, text):
    let = "c, d: scalar; y, t: vector(n)"
    assert mc.expression(latex, let, dialect="latex").node is mc.expression(text, let).node


def test_a_power_of_what_a_line_calls_e_is_refused():
    with pytest.raises(mc.ParseError, match="can be the exponential or a power"):
        mc.expression(r"e^2 + e^{-c}, \quad e = c + d", "c, d: scalar", dialect="latex")


EQUATIONS = [
    r"Define $r_i = y_i - x_i^\top\beta$. Then $L = \sum_{i=1}^n r_i^2$.",
    r"With $r = y - X\beta$, the loss is $L = r^\top r$.",
    r"The loss $L = \sum_{i=1}^n r_i^2$ depends on $r_i = y_i - x_i^\top\beta$.",
    r"$L = \sum_{i=1}^n r_i^2$, $r_i = y_i - x_i^\top\beta$, $i = 1, \dots, n$.",
    r"$$L = \sum_{i=1}^n r_i^2, \qquad r_i = y_i - x_i^\top\beta \quad (i = 1, \dots, n).$$",
    r"Let $f(\beta) = \|y - X\beta\|^2$ be the loss.",
]


@pytest.mark.parametrize("latex", EQUATIONS)
def test_equations_in_sentences(latex):
    np.testing.assert_allclose(value(latex), SQUARE)


NO_EQUATIONS = [
    r"Define $r = y - X\beta$. Then $L = r^\top r$ divided by $n = 4$.",
    r"Let $f(\beta) = \|y - X\beta\|^2$ be twice the loss.",
    r"Let $f(\beta) = \|y - X\beta\|^2$ divided by two.",
    r"The loss $L = y^\top y$, or $M = t^\top t$.",
]


@pytest.mark.parametrize("latex", NO_EQUATIONS)
def test_other_sentences_with_equations_are_refused(latex):
    with pytest.raises(mc.MatcalcError):
        value(latex)


def test_long_sentences_are_read_in_one_pass():
    """A pattern that tries every division of the words would not end."""
    words = "abcdefghij " * 40
    with pytest.raises(mc.MatcalcError):
        value(rf"Let $r = y - X\beta$ {words} # and $L = r^\top r$.")
    with pytest.raises(mc.MatcalcError):
        value(rf"$$L = r^\top r$$ {words} # $$r = y - X\beta$$")
