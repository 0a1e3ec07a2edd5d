r"""Names and functions that passages define: each kind in all its spellings, with NumPy as the truth."""

import numpy as np
import pytest

import matcalc as mc

RNG = np.random.default_rng(6)
X, W, V = RNG.standard_normal((4, 3)), RNG.standard_normal((3, 2)), RNG.standard_normal((2, 5))
x, y = np.array([0.5, 1.5, 2.0]), np.array([1.0, -2.0, 3.0])
A = RNG.standard_normal((3, 3))


def read(latex, let):
    return mc.expression(latex, let, dialect="latex")


def value(latex, let, **data):
    e = read(latex, let)
    return e(**{name: data[name] for name in map(str, e.symbols)})


BOUNDS = [
    (r"\sum_{s=1}^{\min(t-1,L)} w_s y_t", range(6), lambda t, L: range(1, min(t - 1, L) + 1)),
    (r"\sum_{s=1}^{\min\{L, t\}} w_s y_t", range(6), lambda t, L: range(1, min(t, L) + 1)),
    (r"\sum_{s=1}^{\min(L,t-1)} w_s y_{t-s}", range(6), lambda t, L: range(1, min(t - 1, L) + 1)),
]


@pytest.mark.parametrize(("inner", "steps", "lags"), BOUNDS)
@pytest.mark.parametrize("L", [1, 3])
def test_the_smaller_of_two_last_values(inner, steps, lags, L):
    w, u = np.arange(1.0, L + 1), np.arange(6.0) ** 2 + 1
    found = value(rf"\sum_{{t=1}}^{{T}} {inner}", "w: vector(L); y: vector(T)", w=w, y=u)
    shift = 1 if "t-s}" in inner else 0
    truth = sum(w[s - 1] * u[t - 1 - s * shift] for t in range(1, 7) for s in lags(t, L))
    np.testing.assert_allclose(found, truth)


def test_the_larger_of_two_first_values():
    u = np.arange(6.0) ** 2 + 1
    found = value(r"\sum_{t=1}^{T} \sum_{s=\max(1,t-2)}^{t} y_s y_t", "y: vector(T)", y=u)
    np.testing.assert_allclose(found, sum(u[s] * u[t] for t in range(6) for s in range(max(0, t - 2), t + 1)))


ACTIVATIONS = [
    (r"\max(0, z)", lambda z: np.maximum(0, z)),
    (r"\frac{1}{1 + e^{-z}}", lambda z: 1 / (1 + np.exp(-z))),
    (r"z^2 - z", lambda z: z * z - z),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("body", "f"), ACTIVATIONS)
@pytest.mark.parametrize("name", [r"\phi", "g", r"\sigma"])
def test_a_function_of_a_number_at_matrices(body, f, name):
    let = "X: matrix(m, n); W: matrix(n, k); V: matrix(k, p)"
    data = {"X": X, "W": W, "V": V}
    found = value(rf"\|{name}(XW)V\|_F^2, \quad {name}(z) = {body}", let, **data)
    np.testing.assert_allclose(found, np.sum((f(X @ W) @ V) ** 2))
    found = value(rf"\|{name}(HV)\|_F^2, \quad H = {name}(XW), \quad {name}(z) = {body}", let, **data)
    np.testing.assert_allclose(found, np.sum(f(f(X @ W) @ V) ** 2))
    found = value(rf"\| \left[ {name}(A_{{ij}}) \right]_{{ij}} \|_F^2, {name}(z) = {body}", "A: matrix(n, n)", A=A)
    np.testing.assert_allclose(found, np.sum(f(A) ** 2))


@pytest.mark.parametrize("inner", ["A", "A^2", "A + 2A", r"X^\top X", "-A", r"X X^\top"])
def test_a_function_of_a_square_matrix_is_refused(inner):
    with pytest.raises(mc.MatcalcError, match="of each entry, or of the matrix as a whole"):
        read(rf"\|f({inner})\|_F, \quad f(z) = z^2", "A: matrix(n, n); X: matrix(m, n)")


LEFT = [r"a(\theta)_k", r"a_k(\theta)", r"[a(\theta)]_k", r"\left[a(\theta)\right]_k"]


@pytest.mark.parametrize("left", LEFT)
@pytest.mark.parametrize("used", [r"a(\theta)^\top R a(\theta)", r"a^\top(\theta) R a(\theta)", r"\|a(\theta)\|^2"])
def test_a_function_whose_value_is_a_vector(left, used):
    a = np.cos(0.7 * np.arange(1, 4))
    truth = a @ A @ a if "R" in used else a @ a
    latex = rf"{used}, \quad {left} = \cos(k\theta), \; k = 1,\dots,n"
    let = f"{'R: matrix(n, n)' if 'R' in used else 'n: size'}; theta: scalar"
    e = read(latex, let)
    data = {"R": A} if "R" in used else {"n": 3}
    np.testing.assert_allclose(e(theta=0.7, **data), truth)


@pytest.mark.parametrize("use", ["V f(x_i)", r"\left[ f_j(x_i) \right]_j", r"\left[ f(x_i)_j \right]_j"])
def test_a_function_of_rows_whose_value_is_a_vector(use):
    B, b = RNG.standard_normal((2, 3)), RNG.standard_normal(2)
    latex = rf"\sum_{{i=1}}^N \|{use}\|^2, \quad f_k(x) = \tanh(b_k + w_k^\top x)"
    let = "X: matrix(N, d); W: matrix(h, d); b: vector(h); V: matrix(p, h)"
    f = np.tanh(X @ B.T + b)
    truth = f @ V if "V" in use else f
    np.testing.assert_allclose(value(latex, let, X=X, W=B, b=b, V=V.T), np.sum(truth**2))


WHOLE = [
    (r"\langle x^2 \rangle", r"\langle x \rangle"),
    (r"\overline{x^2}", r"\bar x"),
    (r"\langle x^2 \rangle_T", r"\langle x \rangle_T"),
    (r"\mathbb{E}[X^2]", r"\mathbb{E}[X]"),
    ("M(X^2)", "M(X)"),
    (r"\operatorname{Mom}(2, X)", r"\operatorname{Mom}(1, X)"),
]


@pytest.mark.parametrize(("square", "mean"), WHOLE)
def test_names_of_several_letters(square, mean):
    latex = rf"v = {square} - {mean}^2, \quad {mean} = \sum_i p_i x_i, \quad {square} = \sum_i p_i x_i^2"
    np.testing.assert_allclose(value(latex, "p, x: vector(n)", p=x, x=y), x @ y**2 - (x @ y) ** 2)


def test_an_entropy_of_other_letters_is_refused():
    with pytest.raises(mc.MatcalcError, match="only other values of H"):
        read(r"H(X) - H(Y), \quad H(X) = -\sum_i p_i \log p_i", "p, q: vector(n)")


NUMBERED = [("e_l", "e_{}"), ("e^{(l)}", "e^{{({})}}"), (r"\hat e_l", r"\hat e_{}")]


@pytest.mark.parametrize(("used", "defined"), NUMBERED)
@pytest.mark.parametrize("word", ["sum", "prod"])
def test_sums_over_numbered_names(used, defined, word):
    if "hat" in used:
        defined = r"\hat e_{}"
    one, two = defined.format(1), defined.format(2)
    latex = rf"\{word}_{{l=1}}^{{2}} \|{used}\|^2, \quad {one} = x - y, \quad {two} = x + 2 y"
    a, b = np.sum((x - y) ** 2), np.sum((x + 2 * y) ** 2)
    np.testing.assert_allclose(value(latex, "x, y: vector(n)", x=x, y=y), a + b if word == "sum" else a * b)


@pytest.mark.parametrize("used", ["W_l", "W^{(l)}"])
def test_sums_over_declared_names_with_numbers(used):
    latex = rf"\sum_{{l=1}}^{{2}} \|{used}\|_F^2"
    found = value(latex, "W_1: matrix(m, n); W_2: matrix(n, k)", W_1=X, W_2=W)
    np.testing.assert_allclose(found, np.sum(X**2) + np.sum(W**2))


@pytest.mark.parametrize("first", [0, 1])
def test_sums_of_powers_of_a_matrix(first):
    latex = rf"\sum_{{k={first}}}^{{3}} a^k A^k x"
    truth = sum(0.3**k * np.linalg.matrix_power(A, k) @ x for k in range(first, 4))
    np.testing.assert_allclose(value(latex, "A: matrix(n, n); x: vector(n); a: scalar", A=A, x=x, a=0.3), truth)
    with pytest.raises(mc.MatcalcError, match="write a recurrence"):
        read(r"\sum_{k=0}^{K} a^k A^k x", "A: matrix(n, n); x: vector(n); a: scalar; K: size")


LOSSES = [
    r"\sum_{i=1}^N \log\sum_{c=1}^K e^{z_{ic} - z_{i c_i}}",
    r"\sum_{i=1}^N \log\sum_{c} e^{z_{ic} - z_{i c_i}}",
    r"\sum_{i=1}^N \log\sum_{k=1}^K e^{z_{ik} - z_{i c_i}}",
    r"-\sum_{i=1}^N \sum_{c=1}^K 1[c_i = c] \log h_{ic}, \quad h_{ic} = \frac{e^{z_{ic}}}{\sum_k e^{z_{ik}}}",
    r"-\sum_{i=1}^N \sum_{c=1}^K [c_i = c] \log h_{ic}, \quad h_{ic} = \frac{e^{z_{ic}}}{\sum_k e^{z_{ik}}}",
    r"-\sum_{i=1}^N \log h(c_i, i), \quad h(c, i) = \frac{e^{z_{ic}}}{\sum_{c=1}^K e^{z_{ic}}}",
]


@pytest.mark.parametrize("latex", LOSSES)
def test_an_index_with_the_letter_of_data(latex):
    c = np.array([0, 2, 1, 2])
    truth = np.sum(np.log(np.exp(X).sum(axis=1)) - X[range(4), c])
    np.testing.assert_allclose(value(latex, "Z: matrix(N, K); c: index(N)", Z=X, c=c), truth)


@pytest.mark.parametrize("mark", ["a", r"\lambda"])
def test_names_with_a_letter_above(mark):
    name = mark.strip("\\")
    latex = rf"\sum_i \left(y_i^{{({mark})}}\right)^2 + y_1, \quad y_i^{{({mark})}} = {mark} y_i + 1"
    np.testing.assert_allclose(
        value(latex, f"y: vector(n); {name}: scalar", y=y, **{name: 2.0}), np.sum((2 * y + 1) ** 2) + y[0]
    )


def test_a_mean_with_a_letter_above_is_refused():
    with pytest.raises(mc.MatcalcError, match="is not defined"):
        read(r"\sum_i (y_i^{(a)} - \bar y^{(a)})^2, \quad y_i^{(a)} = a y_i + 1", "y: vector(n); a: scalar")


@pytest.mark.parametrize("zero", ["0", r"\mathbf{0}"])
def test_a_function_of_a_vector_at_zero(zero):
    latex = rf"m(p) - m({zero}), \quad m(p) = c + g^\top p + p^\top A p"
    let = "p, g: vector(n); A: matrix(n, n); c: scalar"
    np.testing.assert_allclose(value(latex, let, p=x, g=y, A=A, c=2.0), y @ x + x @ A @ x)


SIZES = [
    (r"\frac{A_{ij}}{\sum_{k=1}^n A_{ik}} x_j", ""),
    (r"\frac{A_{ij}}{\sum_{l=1}^n A_{il}} x_j", ""),
    ("h_{ij} x_j", r", \quad h_{ij} = \frac{A_{ij}}{\sum_{k=1}^n A_{ik}}"),
]


@pytest.mark.parametrize(("term", "where"), SIZES)
def test_an_index_with_the_letter_of_a_size(term, where):
    latex = rf"b^\top b + \sum_{{j=1}}^n \sum_{{i=1}}^m {term}{where}"
    data = {"A": abs(A), "x": x, "b": np.ones(4)}
    truth = np.sum((abs(A) / abs(A).sum(axis=1, keepdims=True)) @ x) + 4
    np.testing.assert_allclose(value(latex, "A: matrix(m, n); x: vector(n); b: vector(k)", **data), truth)


def test_a_size_is_no_index_where_it_is_a_number():
    latex = r"b^\top b + \sum_{k=1}^n k x_k"
    try:
        found = value(latex, "x: vector(n); b: vector(k)", x=x, b=np.ones(4))
    except mc.MatcalcError as refused:
        assert "k" in str(refused)
    else:
        np.testing.assert_allclose(found, 4 + x @ [1, 2, 3])


SIGNS = ["P^+", "P^-", r"P^{\mathrm{new}}", r"P^{\text{post}}", "P^*", r"\hat P^+"]


@pytest.mark.parametrize("name", SIGNS)
def test_names_with_a_sign_above_that_a_line_defines(name):
    latex = rf"\|{name} x\|^2, \quad {name} = P + P P"
    e = read(latex, "P: matrix(n, n); x: vector(n)")
    np.testing.assert_allclose(e(P=A, x=x), np.sum(((A + A @ A) @ x) ** 2))


def test_a_declared_number_beside_entries_of_its_letter():
    found = value(r"\sum_i (r_i - r_e)^2, \quad r_i = x_i^2", "x: vector(n); r_e: scalar", x=x, r_e=0.5)
    np.testing.assert_allclose(found, np.sum((x**2 - 0.5) ** 2))


POSITIVE = ["[{}]^+", "({})^+", r"\left({}\right)_+", "[{}]_+"]


@pytest.mark.parametrize("look", POSITIVE)
@pytest.mark.parametrize(
    "told", ["", r", \quad \text{where } [z]^+ = \max\{z, 0\}", r", \text{where } [z]^+ = \max(0, z)"]
)
def test_the_positive_part_of_a_number(look, told):
    latex = rf"\sum_i {look.format('y_i - 1')}{told}"
    np.testing.assert_allclose(value(latex, "y: vector(n)", y=y), np.sum(np.maximum(y - 1, 0)))


def test_the_larger_of_two_numbers_is_a_number():
    latex = r"\sum_{i=1}^n \| \sum_{j=1}^n \max(A_{ij}, 0.2) h_j \|^2"
    np.testing.assert_allclose(
        value(latex, "A: matrix(n, n); H: matrix(n, d)", A=A, H=W), np.sum((np.maximum(A, 0.2) @ W) ** 2)
    )


LABELS = [r"\log \left| \det \frac{\partial f}{\partial x} \right|", r"\left| \frac{\partial f}{\partial x} \right|"]


@pytest.mark.parametrize("label", LABELS)
def test_a_determinant_of_a_derivative_is_a_label(label):
    np.testing.assert_allclose(value(rf"{label} = x^\top y", "x, y: vector(n)", x=x, y=y), x @ y)


def test_more_subscripts_than_a_definition_has_are_entries():
    latex = r"\sum_{i=1}^n \sum_{j=1}^d s_{ij}, \quad s_i = \tanh(W x_i)"
    np.testing.assert_allclose(value(latex, "X: matrix(n, k); W: matrix(d, k)", X=X, W=W.T), np.sum(np.tanh(X @ W)))


MULTIPLES = [("2m", 2), ("-m", -1), ("2 m", 2)]


@pytest.mark.parametrize(("left", "factor"), MULTIPLES)
def test_a_multiple_of_a_name_on_the_left(left, factor):
    latex = rf"\sum_i \frac{{x_i}}{{m}}, \quad {left} = \sum_i y_i"
    np.testing.assert_allclose(value(latex, "x, y: vector(n)", x=x, y=y), np.sum(x) * factor / np.sum(y))


DENSITIES = [
    (r"\mathcal{N}(t; \mu, \sigma^2)", r"\frac{1}{\sqrt{2\pi\sigma^2}} e^{-\frac{(t - \mu)^2}{2\sigma^2}}"),
    (r"\log \mathcal{N}(t; \mu, \sigma^2)", r"-\frac{1}{2}\log(2\pi\sigma^2) - \frac{(t - \mu)^2}{2\sigma^2}"),
    (
        r"\mathcal{N}(t \mid \mu, \sigma^2)",
        r"\frac{1}{\sigma\sqrt{2\pi}} \exp\left(-\frac{(t - \mu)^2}{2\sigma^2}\right)",
    ),
]


@pytest.mark.parametrize(("left", "formula"), DENSITIES)
@pytest.mark.parametrize("scale", ["s^2", "s_i^2", "v_i"])
def test_a_density_that_a_passage_defines(left, formula, scale):
    sign = r"\mid" if "mid" in left else ";"
    latex = rf"\sum_i \log \mathcal{{N}}(x_i {sign} y_i, {scale}), \quad {left} = {formula}"
    s = np.array([0.5, 1.0, 2.0])
    let = "x, y: vector(n); " + {"s^2": "s: scalar positive", "s_i^2": "s: vector(n) positive"}.get(
        scale, "v: vector(n) positive"
    )
    deviation = {"s^2": 0.5, "s_i^2": s}.get(scale, np.sqrt(s))
    truth = np.sum(-np.log(2 * np.pi * deviation**2) / 2 - (x - y) ** 2 / (2 * deviation**2))
    np.testing.assert_allclose(value(latex, let, x=x, y=y, s=0.5 if scale == "s^2" else s, v=s), truth)


MARGINALS = [("i+", "+j"), (r"i\cdot", r"\cdot j"), (r"i\bullet", r"\bullet j")]


@pytest.mark.parametrize(("of_row", "of_column"), MARGINALS)
def test_marginals_that_a_passage_defines(of_row, of_column):
    P = abs(X) / abs(X).sum()
    latex = (
        rf"\sum_{{i,j}} p_{{ij}} \log \frac{{p_{{ij}}}}{{p_{{{of_row}}} p_{{{of_column}}}}}, \quad "
        rf"p_{{{of_row}}} = \sum_j p_{{ij}}, \quad p_{{{of_column}}} = \sum_i p_{{ij}}"
    )
    truth = np.sum(P * np.log(P / np.outer(P.sum(axis=1), P.sum(axis=0))))
    np.testing.assert_allclose(value(latex, "P: matrix(m, n)", P=P), truth)


def test_a_number_with_the_letter_of_an_argument():
    """z_0 is declared: no entry of the argument z of w(z)."""
    latex = r"\sum_i w(x_i)^2, \quad w(z) = \frac{z - z_0}{z_1}"
    found = value(latex, "x: vector(n); z_0, z_1: scalar", x=x, z_0=0.3, z_1=2.0)
    np.testing.assert_allclose(found, np.sum(((x - 0.3) / 2) ** 2))
