r"""Paragraphs of papers: prose around formulas states nothing, or is refused where it may change them."""

import numpy as np
import pytest

import matcalc as mc

LET = "X: matrix(n, d); y: vector(n); w: vector(d); lambda: scalar positive; A: matrix(d, d)"
LOSS = "norm2(X*w - y)^2"
READ = [
    (r"Let $r = y - Xw$. We minimize $\|r\|^2 + \lambda \|w\|^2$.", f"{LOSS} + lambda*w'*w"),
    (r"We first compute $u = X w$. Then we compute $v = u - y$. The loss is $L = v^\top v$.", LOSS),
    (r"The loss is \[ L = u^\top u \] where \[ u = X w - y. \] The matrix $X$ has $n$ rows.", LOSS),
    (r"The function $f(x) = x^\top A x$ is convex. We minimize $f(w) + \lambda \|w\|^2$.", "w'*A*w + lambda*w'*w"),
    (
        r"The least squares loss is \begin{equation} \|y - X w\|^2 \end{equation} and its gradient is "
        r"$2 X^\top (X w - y)$.",
        LOSS,
    ),
    (
        r"For the model $y_i = x_i^\top w + \varepsilon_i$, where $\varepsilon_i$ are errors, we minimize "
        r"$L = \sum_{i=1}^n (y_i - x_i^\top w)^2$.",
        LOSS,
    ),
    (
        r"We use the model $y = X w + \varepsilon$ with noise $\varepsilon \sim N(0, \sigma^2 I)$ and minimize "
        r"\[ L(w) = \|y - X w\|^2 + \lambda \|w\|_1. \]",
        f"{LOSS} + lambda*sum(abs(w))",
    ),
    (
        r"Given samples $x_1, \dots, x_n$ with labels $y_1, \dots, y_n$, i.e.\ the rows of $X$ and the entries of $y$, "
        r"the loss of sample $i$ is $\ell_i = (y_i - x_i^\top w)^2$, and the total loss is "
        r"\begin{align} L &= \sum_{i=1}^n \ell_i + \lambda R(w), \\ R(w) &= \|w\|^2. \end{align} "
        r"Here $\lambda > 0$ is a hyperparameter that is chosen by cross-validation.",
        f"{LOSS} + lambda*w'*w",
    ),
    (
        r"The probability that unit $i$ is observed is $p_i = \Phi(x_i^\top w)$, where $\Phi$ is the standard normal "
        r"c.d.f. We maximize $\sum_{i=1}^n \log p_i$.",
        "sum(log(normcdf(X*w)))",
    ),
    (
        r"The price is $\pi = \sum_{i=1}^n N(x_i^\top w)$ where $N(\cdot)$ is the standard normal "
        r"distribution function.",
        "sum(normcdf(X*w))",
    ),
    (r"The densities are $q_i = \phi(y_i)$ with $\phi$ and $\Phi$ the pdf and the cdf of $\mathcal{N}(0, 1)$, and "
     r"$L = \sum_{i=1}^n q_i + \Phi(y_i)$.", "sum(normpdf(y) + normcdf(y))"),
    (
        r"The loss $\mathcal{L} = \sum_{i=1}^n \mathcal{L}_i$ is the total of the terms "
        r"$\mathcal{L}_i = (y_i - x_i^\top w)^2$.",
        LOSS,
    ),
    (r"The data $X = [x_1, \dots, x_n]^\top$ and $y = (y_1, \dots, y_n)^\top$ are given, and "
     r"$f(w) = \|Xw - y\|^2$.", LOSS),
    (r"For $t \in \{1, \dots, n\}$ let $e_t = y_t - x_t^\top w$; the criterion is $S = \sum_{t=1}^{n} e_t^2$.", LOSS),
    (r"We write $\|v\|_A^2 := v^\top A v$ for any matrix $A$ and vector $v$, and "
     r"minimize $J(w) = \|w\|_A^2$.", "w'*A*w"),
    (r"The criterion is $J(w) = d(w)$, where $d(\cdot)$ is defined by \[ d(u) = u^\top A u. \]", "w'*A*w"),
]  # fmt: skip


@pytest.mark.parametrize(("latex", "text"), READ, ids=[row[0][:60] for row in READ])
def test_prose_states_nothing(latex, text):
    assert mc.expression(latex, LET, dialect="latex").node is mc.expression(text, LET).node


REFUSED = [
    (r"Let $r = y - Xw$. The loss is the average of $\|r\|^2$ over the batch.", "may be the formula"),
    (r"We minimize $L = \|y - X w\|^2$, averaged over the batch.", "'averaged' may change"),
    (r"We minimize $L = \|y - X w\|^2$ where the average is over the batch.", "'average is' may change"),
    (r"We minimize the negative of $\|y - X w\|^2$.", "name a function of this"),
    (r"We minimize the loss $L = \|y - X w\|^2$, with $w$ replaced by its absolute value.", "words change w"),
    (r"We minimize the loss $L = \|y - X w\|^2$ after replacing $w$ by $|w|$.", "words that replace"),
    (r"The loss is $L = \|X w - y\|_2^2$. Here $w$ is squared entry by entry.", "'is squared' may change"),
    (r"The loss is $L = \|y - X w\|^2$ for $w > 0$ and zero otherwise.", "condition in words"),
    (r"The loss is $L = \|y - X w\|^2$ if $\lambda > 1$.", "condition in words"),
    (r"The loss is $L = \|y - X w\|^2$, and zero otherwise.", "'otherwise' may change"),
    (
        r"The loss is $L = \sum_i h(y_i)$, where $h(u) = u$ for $u > 0$ and $h(u) = 0$ for $u \le 0$.",
        "condition in words",
    ),
    (r"We minimize $\|r\|^2$, where $r$ is the residual of the regression.", "only words describe r"),
    (r"We minimize $L = \|r\|^2$. The residual $r$ is the difference of $y$ and $X w$.", "only words describe r"),
    (r"Let $r = y - Xw$. We minimize the sum of $r_i$.", "name a function of r_i"),
    (r"Let $r = y - Xw$ and minimize the mean of $r$ over all samples.", "name a function of r"),
    (r"Let $\|\cdot\|$ be the $\ell_1$ norm. The loss is $L = \|w\| + \lambda$.", "only words describe"),
    (r"The loss is \[ L = y^\top y \] and \[ M = w^\top w. \]", "several formulas"),
    (r"The loss is $L = \log \lambda$, where logarithms are to the base 2.", "natural"),
    (r"Let $f(u) = u^2$. As usual, $f(u) = u^3$ and the loss is $L = f(\lambda)$.", "defined twice"),
    (r"The data are $y = X w + b$, and we minimize $L = \|y\|^2$.", "several formulas|both a declared"),
    (r"We set $c = 2$ if $k = 1$. The loss is $L = c \lambda$.", "words in front of this equation"),
    (r"We model log $h = y^\top y$, and the loss is $L = h + \lambda$.", "words in front of this equation"),
    (r"The loss is $L = \sum_{i=1}^n \sum_{j=1}^n y_i y_j$. Only indices $i < j$ are used.", "condition on indices"),
    (r"The loss is $L = \log\det(\lambda I)$ with the identity $I$.", "the size of I"),
]


@pytest.mark.parametrize(("latex", "message"), REFUSED, ids=[row[0][:60] for row in REFUSED])
def test_words_that_may_change_a_formula_are_refused(latex, message):
    with pytest.raises(mc.MatcalcError, match=message) as caught:
        mc.expression(latex, LET, dialect="latex")
    assert caught.value.text == latex


CALLS = ["v(y)", "v(x) + v(y)", "v(2x)", "v(A x)", "v(x + y)"]
PARTS = [
    (r"v(x) = x^\top u", "u = A x"),
    (r"v(x) = u^\top u", r"u = A s, \quad s = x + b"),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("function", "part"), PARTS)
def test_a_part_that_reads_a_replaced_symbol_is_refused(call, function, part):
    let = "x, y, b: vector(n); A: matrix(n, n)"
    with pytest.raises(mc.ParseError, match="has another argument here, and its part|only other values"):
        mc.expression(rf"{call}, \quad {function}, \quad {part}", let, dialect="latex")
    mc.expression(rf"v(x) + v(x)^2, \quad {function}, \quad {part}", let, dialect="latex")


ROWS = r"v(x) = \sum_i (x_i - \bar x)^2, \quad \bar x = \frac{1}{n} \sum_i x_i"


@pytest.mark.parametrize("call", ["v(y)", "v(y)^2", "v(x) + v(y)", "v(x) v(y)", "v(y) - v(b)", "v(x)"])
def test_a_part_of_the_entries_of_an_argument_is_read_with_the_argument(call):
    r"""`\bar x` of `v(x)` is `\bar y` in `v(y)`: the mark names the argument."""
    e = mc.expression(rf"{call}, \quad {ROWS}", "x, y, b: vector(n)", dialect="latex")
    data = dict(zip("xyb", np.random.default_rng(0).normal(size=(3, 5)), strict=True))
    value = eval(call.replace("^", "**").replace(") v", ")*v"), {"v": lambda x: 5 * np.var(x), **data})
    np.testing.assert_allclose(e(**{name: data[name] for name in e.symbols}), value, rtol=1e-13)


@pytest.mark.parametrize("call", ["v(2x)", "v(A x)", "v(x + y)"])
def test_a_part_of_the_entries_of_an_argument_is_refused_at_a_formula(call):
    with pytest.raises(mc.ParseError, match="has another argument here, and its part|only other values"):
        mc.expression(rf"{call}, \quad {ROWS}", "x, y: vector(n); A: matrix(n, n)", dialect="latex")


@pytest.mark.parametrize("mark", ["hat", "tilde", "bar"])
@pytest.mark.parametrize("letter", ["y", "Z", "gamma"])
def test_a_declared_name_spells_an_accent(mark, letter):
    shown = letter if len(letter) == 1 else rf"\{letter}"
    for latex in (rf"\{mark}{{{shown}}}", rf"\{mark} {shown}"):
        assert str(mc.expression(rf"2 {latex}", f"{letter}{mark}: scalar", dialect="latex")) == f"2*{letter}{mark}"


SOLVED = [
    (r"\sum_i \sigma_i^2 + \sigma_i", "exp(X*w) + sqrt(exp(X*w))"),
    (r"\sum_i \sigma_i y_i", "sqrt(exp(X*w)).*y"),
    (r"\sum_i \sigma_i^4", "exp(X*w).^2"),
    (r"\sum_i y_i \log\sigma_i^2", "y.*log(exp(X*w))"),
    (r"\sum_i \frac{y_i^2}{\sigma_i^2}", "y.^2./exp(X*w)"),
]


@pytest.mark.parametrize(("latex", "entry"), SOLVED)
@pytest.mark.parametrize("log", [r"\log", r"\ln"])
def test_the_logarithm_of_a_square_defines_the_square(latex, entry, log):
    found = mc.expression(rf"{latex}, \quad {log}\sigma_i^2 = x_i^\top w", LET, dialect="latex")
    rng = np.random.default_rng(1)
    data = {"X": rng.normal(size=(4, 3)), "y": rng.normal(size=4), "w": rng.normal(size=3)}
    given = {name: data[name] for name in found.symbols}
    wanted = mc.expression(f"sum({entry})", LET)
    np.testing.assert_allclose(found(**given), wanted(**{name: data[name] for name in wanted.symbols}), rtol=1e-12)


def test_the_logarithm_of_another_power_is_refused():
    with pytest.raises(mc.ParseError, match="not solved for the name"):
        mc.expression(r"\sum_i \sigma_i y_i, \quad \log\sigma_i^3 = x_i^\top w", LET, dialect="latex")


def test_entries_are_defined_once():
    with pytest.raises(mc.ParseError, match="defined twice"):
        mc.expression(r"\sum_i r_i^2, \quad r_i = y_i - x_i^\top w, \quad r_i = x_i^\top w", LET, dialect="latex")


def test_a_space_by_a_backslash_may_end_a_line() -> None:
    """LaTeX reads a backslash before the end of a line as before a space; after a break of lines there is none."""
    for text in ("x^\\top\\\ny", "\\min_{x}\\\nx^\\top y", "s\\\\\\\n\\text{where } s = x^\\top y"):
        assert str(mc.expression(text, "x, y: vector(n)", dialect="latex")) == "x'*y"
