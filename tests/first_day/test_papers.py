"""Passages of LaTeX in the style of papers: each has the value and gradient of its NumPy function, or is refused.

The gradient is compared with central differences of the NumPy function, which shares no code with matcalc.
"""

import numpy as np
import pytest
from first_day.framed_papers import FRAMED, FRAMED_REFUSED
from first_day.further_papers import SIZES
from first_day.papers import PASSAGES, REFUSED
from first_day.papers_blind import BLIND, BLIND_REFUSED
from first_day.papers_blind_second import SECOND, SECOND_REFUSED
from first_day.papers_eighth import EIGHTH
from first_day.papers_eighth_end import EIGHTH_END, EIGHTH_REFUSED
from first_day.papers_eleventh import ELEVENTH
from first_day.papers_eleventh_end import ELEVENTH_END, ELEVENTH_REFUSED
from first_day.papers_fifth import FIFTH, FIFTH_REFUSED
from first_day.papers_fourteenth import FOURTEENTH
from first_day.papers_fourteenth_end import FOURTEENTH_END, FOURTEENTH_REFUSED
from first_day.papers_fourth import FOURTH, FOURTH_REFUSED
from first_day.papers_mended import MENDED
from first_day.papers_ninth import NINTH
from first_day.papers_ninth_end import NINTH_END, NINTH_REFUSED
from first_day.papers_of_learning import FURTHER, FURTHER_REFUSED
from first_day.papers_of_models import LOSSES, MODELS_REFUSED, PROCESSES
from first_day.papers_of_sets import FORTIES, FORTIES_REFUSED, VALUES
from first_day.papers_of_statistics import FACTORISATIONS, LIKELIHOODS
from first_day.papers_seventh import SEVENTH
from first_day.papers_seventh_end import SEVENTH_END, SEVENTH_REFUSED
from first_day.papers_sixth import SIXTH
from first_day.papers_sixth_end import SIXTH_END, SIXTH_REFUSED
from first_day.papers_tenth import TENTH
from first_day.papers_tenth_end import TENTH_END, TENTH_REFUSED
from first_day.papers_third import THIRD
from first_day.papers_third_end import THIRD_END, THIRD_REFUSED
from first_day.papers_thirteenth import THIRTEENTH
from first_day.papers_thirteenth_end import THIRTEENTH_END, THIRTEENTH_REFUSED
from first_day.papers_twelfth import TWELFTH
from first_day.papers_twelfth_end import TWELFTH_END, TWELFTH_REFUSED

import matcalc as mc
from oracle.data import SIZES as ALL_SIZES
from oracle.data import declared, make

FIELDS = [*LIKELIHOODS, *FACTORISATIONS, *LOSSES, *PROCESSES]
LATER = [*THIRD, *THIRD_END, *FOURTH, *FIFTH, *SIXTH, *SIXTH_END]
LATER_REFUSED = [*THIRD_REFUSED, *FOURTH_REFUSED, *FIFTH_REFUSED, *SIXTH_REFUSED]
LAST = [*SEVENTH, *SEVENTH_END, *EIGHTH, *EIGHTH_END, *NINTH, *NINTH_END, *TENTH, *TENTH_END]
NEWEST = [*ELEVENTH, *ELEVENTH_END, *TWELFTH, *TWELFTH_END, *THIRTEENTH, *THIRTEENTH_END, *FOURTEENTH, *FOURTEENTH_END]
NEWEST_REFUSED = [*ELEVENTH_REFUSED, *TWELFTH_REFUSED, *THIRTEENTH_REFUSED, *FOURTEENTH_REFUSED]
LAST_REFUSED = [*SEVENTH_REFUSED, *EIGHTH_REFUSED, *NINTH_REFUSED, *TENTH_REFUSED]
EVERY = [*PASSAGES, *FURTHER, *FRAMED, *FIELDS, *BLIND, *SECOND, *LATER, *LAST, *NEWEST, *MENDED, *FORTIES]
EVERY_REFUSED = [
    *REFUSED, *FURTHER_REFUSED, *FRAMED_REFUSED, *MODELS_REFUSED, *BLIND_REFUSED, *SECOND_REFUSED, *LATER_REFUSED,
    *LAST_REFUSED, *NEWEST_REFUSED, *FORTIES_REFUSED,
]  # fmt: skip


def data_of(passage):
    data = make(passage.let, sizes={**ALL_SIZES, **SIZES} if passage not in PASSAGES else None)
    return {name: abs(x) / (1 + abs(x)) if name in passage.fractions else x for name, x in data.items()}


def paper_of(passage):
    return passage.paper


def test_there_are_forty():
    assert len(PASSAGES) + len(REFUSED) == 40
    assert len({p.paper for p in PASSAGES}) == len(PASSAGES) >= 36


def test_there_are_sixty_further_ones():
    assert len(FURTHER) + len(FURTHER_REFUSED) >= 60
    assert len({p.paper for p in FURTHER}) == len(FURTHER)


def test_there_are_twenty_in_frames():
    assert len(FRAMED) + len(FRAMED_REFUSED) >= 20
    assert len({p.paper for p in FRAMED}) == len(FRAMED)


def test_there_are_sixty_of_fields():
    assert len(FIELDS) >= 60
    assert len({p.paper for p in EVERY}) == len(EVERY)


def test_there_are_eighty_blind_ones():
    assert len(BLIND) + len(BLIND_REFUSED) >= 38
    assert len(SECOND) + len(SECOND_REFUSED) >= 38


def test_there_are_a_hundred_and_sixty_later_ones():
    assert len(LATER) + len(LATER_REFUSED) >= 155 and len(LATER_REFUSED) >= 15


def test_there_are_a_hundred_and_sixty_last_ones():
    assert len(LAST) + len(LAST_REFUSED) >= 160


def test_there_are_a_hundred_newest_ones():
    assert len(NEWEST) + len(MENDED) + len(NEWEST_REFUSED) >= 110


def test_there_are_sets_of_forty():
    assert len(FORTIES) + len(FORTIES_REFUSED) >= 430


@pytest.mark.sampled(150)
@pytest.mark.parametrize("passage", [*EVERY, *VALUES], ids=paper_of)
def test_value(passage):
    e = mc.expression(passage.latex, passage.let, dialect="latex")
    data = data_of(passage)
    found = e(**{name: data[name] for name in map(str, e.symbols)})
    np.testing.assert_allclose(found, passage.value(**data), rtol=1e-10)


@pytest.mark.whole
@pytest.mark.parametrize("passage", EVERY, ids=paper_of)
@pytest.mark.thinned(2)
def test_gradient(passage):
    e = mc.expression(passage.latex, passage.let, dialect="latex")
    data = data_of(passage)
    rng = np.random.default_rng(3)
    weights = rng.standard_normal(np.shape(passage.value(**data))) if e.shape else 1.0
    kind = ("scalar", "vector", "matrix")[len(e.shape)]
    own = f"{e.declarations}; weights: {kind}({', '.join(map(str, e.shape))})"
    scalar = mc.expression(f"sum(({e}) .* weights)", own) if e.shape else e
    gradient = scalar.gradient(passage.wrt)
    found = gradient(**{name: {**data, "weights": weights}[name] for name in map(str, gradient.symbols)})
    direction = rng.standard_normal(np.shape(data[passage.wrt]))
    facts = declared(passage.let)[passage.wrt][1]
    direction = direction + direction.T if facts & {"symmetric", "spd"} else direction

    def along(t):
        return np.sum(weights * passage.value(**{**data, passage.wrt: data[passage.wrt] + t * direction}))

    h = 1e-5
    slope = (8 * (along(h) - along(-h)) - (along(2 * h) - along(-2 * h))) / (12 * h)
    np.testing.assert_allclose(np.sum(found * direction), slope, rtol=1e-6, atol=1e-8)


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("paper", "latex", "let", "words"),
    EVERY_REFUSED,
    ids=lambda x: str(x)[:20],
)
def test_refused(paper, latex, let, words):
    with pytest.raises(mc.MatcalcError, match=words) as caught:
        mc.expression(latex, let, dialect="latex")
    assert caught.value.text == latex


SAME = [
    (
        r"\sum_{i=1}^{n} \ell(y_i, f(x_i)), \quad \ell(y, t) = \log(1 + e^{-yt}), \quad f(x) = w^\top x + b",
        "X: matrix(n, d); y: vector(n); w: vector(d); b: scalar",
        "sum(log(1 + exp(-y.*(X*w + b))))",
    ),
    (r"p = \frac{1}{1 + \exp(-\eta)}, \quad \eta = a^\top x", "a, x: vector(p)", "1/(1 + exp(-a'*x))"),
    (r"\|X\|_{\star}", "X: matrix(m, n)", "nuclear_norm(X)"),
    (r"\frac{a}{\sigma}, \quad \sigma^2 = x^\top x", "a: scalar; x: vector(n)", "a/sqrt(x'*x)"),
    (
        r"\sum_i \frac{(x_i - a)^2}{\sigma_i^2}, \quad \sigma_i^2 = 1 + x_i^2",
        "x: vector(n); a: scalar",
        "sum((x - a).^2./(1 + x.^2))",
    ),
    (r"a\sigma^{-2} + \sigma^4, \quad \sigma^2 = x^\top x", "a: scalar; x: vector(n)", "a/(x'*x) + (x'*x)^2"),
    (
        r"\sum_{i=1}^n k(x_i, z), \quad k(x, x') = \exp(-\|x - x'\|^2)",
        "X: matrix(n, d); z: vector(d)",
        "sum{i: exp(-norm2(X[i,:] - z)^2)}",
    ),
    (r"L = J = x^\top x", "x: vector(n)", "x'*x"),
    (r"f(x) = g(x) = x^\top x", "x: vector(n)", "x'*x"),
    (r"B = \frac{a}{k_B}", "a, k_B: scalar", "a/k_B"),
    (r"T = a k_T, \quad k_T = 2 b", "a, b: scalar", "2*a*b"),
    (r"\min_f \sum_i f_i + b_i", "f, b: vector(n)", "sum(f + b)"),
    (r"n!\, a^n \log b!", "n, a, b: scalar", "gamma(n + 1)*a^n*gammaln(b + 1)"),
    (r"\mathbf{1}_{0 < a \le b} + I(a > b)", "a, b: scalar", "when(0 < a)*when(a <= b) + when(a > b)"),
    (r"\min_x a \text{ subject to } a = x^\top x", "x: vector(n)", "x'*x"),
    (r"\Delta x = A b", "A: matrix(n, n); b: vector(n)", "A*b"),
    (r"h'_1 h_1", "h: vector(n); h_prime: vector(n)", "h_prime[0]*h[0]"),
    (
        r"y^\top \log \hat{y}, \quad \hat{y} = \mathrm{softmax}(A x)",
        "A: matrix(n, n); x: vector(n); y: vector(n)",
        "y'*log(softmax(A*x))",
    ),
    (
        r"\begin{align*} \mathcal{L} = {} & \|A - B\|_F^2 \\ & + \operatorname{tr}(A) \end{align*}",
        "A: matrix(n, n); B: matrix(n, n)",
        "norm2(A - B)^2 + tr(A)",
    ),
    (r"\KL(p \| q) = \sum_i p_i \log \frac{p_i}{q_i}", "p: vector(n); q: vector(n)", "sum(p.*log(p./q))"),
    (
        r"\sum_{i<j} (D_{ij} - \|x_i - x_j\|)^2",
        "X: matrix(n, p); D: matrix(n, n)",
        "sum{i,j: (D[i,j] - norm2(X[i,:] - X[j,:]))^2*[i < j]}",
    ),
    (r"\sum_{i=1}^m y_i u_i, \text{ where } u_i = x_i^\top w", "X: matrix(m, n); y: vector(m); w: vector(n)", "y'*X*w"),
    (
        r"$L(w) = \|f\|^2$ where $f = Xw - y$ and $X \in \mathbb{R}^{m \times n}$.",
        "X: matrix(m, n); y: vector(m); w: vector(n)",
        "norm2(X*w - y)^2",
    ),
    (
        r"\begin{align} f &= Xw - y \\ L &= f^\top f \end{align}",
        "X: matrix(m, n); y: vector(m); w: vector(n)",
        "norm2(X*w - y)^2",
    ),
    (
        r"\begin{align} L &= f^\top f, \\ f &= Xw - y \end{align}",
        "X: matrix(m, n); y: vector(m); w: vector(n)",
        "norm2(X*w - y)^2",
    ),
    (r"\min_{w} \max_{i} w_i", "w: vector(n)", "max(w)"),
    (r"\log |A|^{2}", "A: matrix(n, n)", "log(det(A)^2)"),
    (r"\ln\left|A\right|^{-1/2}", "A: matrix(n, n)", "log(det(A)^(-1/2))"),
    (r"|2\pi A|", "A: matrix(n, n)", "det(2*pi*A)"),
    (r"{a \over b}", "a: scalar; b: scalar", "a/b"),
    (r"\left( a + b \right. \left. + c \right)^2", "a: scalar; b: scalar; c: scalar", "(a + b + c)^2"),
    (r"\sum_{i \in [n]} x_i", "x: vector(n)", "sum(x)"),
    (r"\sum_{i \in \{1, \ldots, n\}} x_i", "x: vector(n)", "sum(x)"),
    (r"\sum_{\substack{i,j=1 \\ i < j}}^n A_{ij}", "A: matrix(n, n)", "sum(triu(A, 1))"),
    (r"\langle x | A | y \rangle", "A: matrix(n, n); x: vector(n); y: vector(n)", "x'*A*y"),
    (r"\bra{x} A \ket{y}", "A: matrix(n, n); x: vector(n); y: vector(n)", "x'*A*y"),
    (r"\sum_{i} w_i a_i, \quad a_i = x_i^2, \quad i = 1, \ldots, n.", "w: vector(n); x: vector(n)", "w'*(x.*x)"),
    (r"\|x\|_0", "x: vector(n)", "sum(where(x != 0, 1, 0))"),
    (r"\Phi(a + b)", "a: scalar; b: scalar", "normcdf(a + b)"),
    (r"\operatorname*{arg\,min}_w w^\top w", "w: vector(n)", "w'*w"),
    (r"\max_{x} x^\top a - x^\top x", "x: vector(n); a: vector(n)", "x'*a - x'*x"),
    (r"\tr{A B}", "A: matrix(n, n); B: matrix(n, n)", "tr(A*B)"),
    (r"\DeclareMathOperator{\trace}{tr} \trace(A)", "A: matrix(n, n)", "tr(A)"),
    (
        r"\newcommand{\sq}[2][x]{#1^\top #2 #1} \sq{A} + \sq[y]{A}",
        "A: matrix(n, n); x: vector(n); y: vector(n)",
        "x'*A*x + y'*A*y",
    ),
    (r"\sum_i \operatorname{softmax}(x)_i y_i", "x: vector(n); y: vector(n)", "softmax(x)'*y"),
    (r"\sum_i (X w)_i y_i^2", "X: matrix(m, n); w: vector(n); y: vector(m)", "(y.*y)'*X*w"),
    (
        r"y^\top K y, \text{ where } K_{ij} = \exp(-(u_i - u_j)^2)",
        "y: vector(n); u: vector(n)",
        "y'*{i,j: exp(-(u[i] - u[j])^2)}*y",
    ),
    (r"g(a) + g(b), \text{ where } g(t) = t^2 + c t", "a: scalar; b: scalar; c: scalar", "a^2 + c*a + b^2 + c*b"),
]


@pytest.mark.parametrize(("latex", "let", "text"), SAME, ids=[row[0] for row in SAME])
def test_same(latex, let, text):
    assert mc.expression(latex, let, dialect="latex").node is mc.expression(text, let).node


FAULTS = [
    (r"\mathbb{E}\|x\|^2", "x: vector(n)", "the double-struck letter E can be an operator"),
    (r"\mathbb{E} x", "x: vector(n)", "the double-struck letter E can be an operator"),
    (r"p = p + x^\top x", "x: vector(p)", "is an equation"),
    (r"\Phi^{-1}(a)", "a: scalar", "its inverse or a power"),
    (r"\sigma^2 + a, \quad \sigma^2 = a^2", "a: scalar; sigma: scalar", "sigma is declared"),
    (
        r"\sum_i k(x_i), \; k(u) = u^\top u, \; i = 1, \ldots, n",
        "X: matrix(n, d); x: vector(n)",
        "a scalar in a function that takes a vector",
    ),
    (r"\frac{1}{|\mathcal{D}|} \sum_i x_i", "x: vector(n)", "a set or a symbol"),
    (r"\sum_{i \in \mathcal{D}} x_i", "x: vector(n)", "the range of this sum"),
    ("2 f(x) = x^\\top x", "x: vector(n)", "more than a name"),
    ("y = X w", "X: matrix(m, n); y: vector(m); w: vector(n)", "is an equation"),
    ("x = A x + b", "A: matrix(n, n); b: vector(n)", "is an equation"),
    (r"f(x) = g(x) + 1 = x^\top x", "x: vector(n)", "between formulas"),
    (r"v(y) = \min_x \|x - y\|^2", "x: vector(n); y: vector(n)", "is not a formula"),
    (r"\max_{x} x^\top x - \min_y y^\top y", "x: vector(n); y: vector(n)", "over y is not a formula"),
    (r"\min_{\|x\| \le 1} \|x - y\|^2", "x: vector(n); y: vector(n)", "not a formula|constraint"),
    (r"\norm{A}^2", "A: matrix(m, n)", "norm2 or spectral_norm"),
    (r"\tr{A}^2", "A: matrix(n, n)", "depends on its definition"),
    (r"\foo{A}^2", "A: matrix(n, n)", "not supported"),
    (r"\def\x{\x} \x", "", "calls itself"),
    (r"f(X), \text{ where } f(x) = x^2", "X: matrix(n, n)", "of the matrix as a whole"),
    (r"y^\top K y, \text{ where } K_{ij} = \|x_i - x_j\|", "X: matrix(n, n); y: vector(n)", "row or column"),
    (r"\begin{align} f &= Xw \\ L &= w^\top w \end{align}", "X: matrix(m, n); w: vector(n)", "several formulas"),
    (r"a + b, \text{ where } a = b + 1 \text{ and } b = a + 1", "", "defined by each other"),
    (r"\|x_i\|", "X: matrix(m, n)", "row or column"),
    (
        r"\sum_i u_i^2 + \sum_j \sum_i u_j, \text{ where } u_i = \sum_j A_{ij}",
        "A: matrix(m, m)",
        "not used as a subscript",
    ),
]


@pytest.mark.parametrize(("latex", "let", "message"), FAULTS, ids=[row[0] for row in FAULTS])
def test_faults(latex, let, message):
    with pytest.raises(mc.MatcalcError, match=message) as caught:
        mc.expression(latex, let, dialect="latex")
    assert caught.value.text == latex and 0 <= caught.value.at <= len(latex)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("body", ["a_i", "a_i c_i"])
@pytest.mark.parametrize("front", ["", "-", "c ", r"\frac{1}{n} "])
@pytest.mark.parametrize("behind", ["a_i", "c + a_i^2", r"\sum_{j=1}^n a_j c_i"])
def test_a_sum_has_the_later_terms_with_its_index(front, body, behind):
    long = rf"{front}\sum_{{i=1}}^n {body} - {behind}"
    closed = rf"{front}\sum_{{i=1}}^n \left({body} - {behind}\right)"
    let = "a: vector(n); c: vector(n)" if "c" in body or "c_" in behind else "a: vector(n); c: scalar"
    if let.endswith("vector(n)") and ("c +" in behind or front == "c "):
        let, long, closed = (
            f"{let}; d: scalar",
            *(x.replace("c +", "d +").replace("c \\sum", "d \\sum") for x in (long, closed)),
        )
    found, expected = (mc.expression(latex, let, dialect="latex").node for latex in (long, closed))
    assert found is expected
    with pytest.raises(mc.MatcalcError, match="the end of this sum"):
        mc.expression(f"{long} + 2", let, dialect="latex")


ROWS = [
    (r"\sum_i (w^\top x_i)^2", "X: matrix(n, d); w: vector(d)", "norm2(X*w)^2"),
    (r"\sum_i (w^\top x_i)^2", "X: matrix(d, n); w: vector(d)", "norm2(X'*w)^2"),
    (r"\sum_i \|y_i - W x_i\|^2", "X: matrix(n, d); Y: matrix(n, k); W: matrix(k, d)", "norm2(Y - X*W')^2"),
    (r"a^\top K a, \; K_{ij} = x_i^\top x_j", "X: matrix(n, d); a: vector(n)", "norm2(X'*a)^2"),
    (r"a^\top K a, \; K_{ij} = x_i^\top x_j", "X: matrix(d, n); a: vector(n)", "norm2(X*a)^2"),
    (r"\sum_i x_i^\top x_i", "X: matrix(n, d)", "norm2(X)^2"),
    (r"\sum_i x_i^\top B x_i x_i^\top x_i", "X: matrix(n, n); B: matrix(n, n)", ""),
    (r"\sum_i (w^\top x_i)^2", "X: matrix(n, d)", ""),
    (r"\sum_i x_i^\top A x_i", "X: matrix(n, n); A: matrix(n, n)", ""),
    (r"\operatorname{tr} K, \; K_{ij} = x_i^\top x_j", "X: matrix(n, d)", "norm2(X)^2"),
    (r"\sum_j (W_j v)^2", "W: matrix(k, d); v: vector(d)", "norm2(W*v)^2"),
    (r"\sum_j (W_j^\top v)^2", "W: matrix(d, k); v: vector(d)", "norm2(W'*v)^2"),
    (r"\sum_{j=1}^k \|W_j\|^2", "W: matrix(k, d)", "norm2(W)^2"),
    (r"\sum_{i=1}^n (y_i - X_i \beta)^2", "X: matrix(n, p); y: vector(n); beta: vector(p)", "norm2(y - X*beta)^2"),
    (r"\sum_{i=1}^n \|x_i - P Y_i\|^2", "P: matrix(k, d); X: matrix(n, k); Y: matrix(n, d)", "norm2(X - Y*P')^2"),
    (r"\sum_{i=1}^n \|x_i - c_{y_i}\|^2", "X: matrix(n, d); C: matrix(k, d); y: index(n)", "norm2(X - C[y, :])^2"),
    (r"\sum_{i=1}^n \|x_i - c_{y_i}\|^2", "X: matrix(n, d); C: matrix(d, k); y: index(n)", "norm2(X - C[:, y]')^2"),
    (r"\sum_{i=1}^n \|x_i - m_{y_i}\|^2", "X: matrix(n, d); m: matrix(k, d); y: index(n)", "norm2(X - m[y, :])^2"),
    (r"\sum_{i=1}^n \|x_i - c_{y_i}\|^2", "X: matrix(n, d); C: matrix(d, d); y: index(n)", ""),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("latex", "let", "text"), ROWS, ids=[f"{row[0]} {row[1]}" for row in ROWS])
def test_sizes_decide_between_rows_and_columns(latex, let, text):
    if text:
        assert mc.expression(latex, let, dialect="latex").node is mc.expression(text, let).node
    else:
        with pytest.raises(mc.MatcalcError, match="row or column"):
            mc.expression(latex, let, dialect="latex")


@pytest.mark.parametrize(("letter", "name"), [("I", "besseli"), ("J", "besselj"), ("K", "besselk")])
def test_bessel_functions(letter, name):
    for order, number in [("0", "0"), ("1", "1"), (r"\nu", "nu")]:
        e = mc.expression(rf"{letter}_{order}(a)", "nu: scalar; a: scalar positive", dialect="latex")
        assert e.node is mc.expression(f"{name}({number}, a)", "nu: scalar; a: scalar positive").node


@pytest.mark.parametrize("order", ["2", "n", "{n+1}"])
def test_an_identity_or_a_bessel_function(order):
    with pytest.raises(mc.MatcalcError, match="eye or besseli"):
        mc.expression(rf"b^\top I_{order}(a) b", "b: vector(n); a: scalar", dialect="latex")
    let = "A: matrix(n, n)"
    assert mc.expression("I_n(A + A^2)", let, dialect="latex").node is mc.expression("A + A*A", let).node


def test_sets_in_the_passage_declare():
    latex = (
        r"\|A x - b\|^2 + \operatorname{tr}(S), \quad "
        r"x \in \mathbb{R}^n,\ A \in \mathbb{R}^{m \times n}, S \in \mathbb{S}^n"
    )
    e = mc.expression(latex, dialect="latex")
    let = "A: matrix(m, n); x: vector(n); S: matrix(n, n) symmetric; b: vector(m)"
    assert e.node is mc.expression("norm2(A*x - b)^2 + tr(S)", let).node
    assert "x: vector(n);" in e.declarations


def test_a_sum_over_unequal_indices_is_finite():
    latex = r"\sum_{i \neq j} \frac{q_i q_j}{|x_i - x_j|}"
    e = mc.expression(latex, "q: vector(n); x: vector(n)", dialect="latex")
    q, x = np.array([1.0, 2.0, -1.0]), np.array([0.0, 1.0, 3.0])
    pairs = [(0, 1), (0, 2), (1, 2)]
    assert np.isclose(e(q=q, x=x), 2 * sum(q[i] * q[j] / abs(x[i] - x[j]) for i, j in pairs))
    assert np.isfinite(e.gradient("x")(q=q, x=x)).all()


NAMES = [
    r"\mathrm{sim}", r"\operatorname{sim}", r"\text{sim}", r"\mathit{sim}", "s", "s_0", r"\mathcal{S}", r"\tilde s",
    r"\mathbf{s}", r"s_{\mathrm{in}}",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_defined_function_is_used_or_refused(name):
    """However its name is written."""
    z = np.array([1.0, -2.0, 3.0])
    read = mc.expression(rf"\ell = \sum_{{i=1}}^n {name}(z_i), \quad {name}(u) = u^2", "z: vector(n)", dialect="latex")
    assert read(z=z) == 14
    with pytest.raises(mc.ParseError, match="is defined, and no formula uses it"):
        mc.expression(rf"\ell = \sum_{{i=1}}^n z_i, \quad {name}(u) = u^2", "z: vector(n)", dialect="latex")
