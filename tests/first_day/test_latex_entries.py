r"""Entries in LaTeX: data of indices, first entries of number 0, diagonals of entries, and functions of entries."""

import numpy as np
import pytest

import matcalc as mc

RNG = np.random.default_rng(5)
N, K = 5, 3
P = RNG.uniform(0.1, 1.0, (N, K))
Y = RNG.integers(0, K, N)
LABELS = "P: matrix(n, K) positive; y: index(n)"


def value(latex, let, **data):
    e = mc.expression(latex, let, dialect="latex")
    return e(**{name: data[name] for name in map(str, e.symbols)})


CHOSEN = [
    r"\mathbb{1}\{y_i = k\} p_{ik}", r"\mathbf{1}[k = y_i] p_{ik}", r"I(y_i = k) p_{ik}", r"\delta(y_i, k) p_{ik}",
    r"\delta_{y_i k} p_{ik}", r"\mathbb{1}_{y_i = k} p_{ik}", r"p_{ik} - \mathbb{1}\{y_i \neq k\} p_{ik}",
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "first"), [(body, k) for body in CHOSEN for k in (1, 2) if k == 1 or "delta_" not in body]
)
def test_an_index_equals_data_where_it_names_the_same_entry(body, first):
    """So the indicator chooses p_{i,y_i}."""
    found = value(rf"\sum_{{i=1}}^n \sum_{{k={first}}}^K \left({body}\right)", LABELS, P=P, y=Y)
    assert found == pytest.approx(sum(P[i, Y[i]] for i in range(N) if Y[i] >= first - 1))


ORDERS = [
    ("<", np.less),
    (r"\le", np.less_equal),
    (">", np.greater),
    (r"\ge", np.greater_equal),
    (r"\neq", np.not_equal),
]


@pytest.mark.parametrize(("sign", "holds"), ORDERS)
@pytest.mark.parametrize("where", ["below", "beside"])
def test_an_index_beside_data_below_a_sum(sign, holds, where):
    below = rf"\sum_{{k {sign} y_i}} p_{{ik}}"
    latex = below if where == "below" else rf"\sum_{{k=1}}^K \mathbb{{1}}[k {sign} y_i] p_{{ik}}"
    expected = sum(P[i, k] for i in range(N) for k in range(K) if holds(k, Y[i]))
    assert value(rf"\sum_{{i=1}}^n {latex}", LABELS, P=P, y=Y) == pytest.approx(expected)


def test_one_datum_below_a_sum_and_a_maximum():
    s = RNG.standard_normal(K)
    let = "s: vector(K); y: index"
    for y in range(K):
        assert value(r"\sum_{k \neq y} s_k", let, s=s, y=y) == pytest.approx(s.sum() - s[y])
        assert value(r"\max_{k \neq y} s_k", let, s=s, y=y) == pytest.approx(np.delete(s, y).max())


def test_steps_from_0_are_the_numbers_of_the_data():
    found = value(
        r"\sum_{i=1}^n \sum_{k=0}^{K-1} \mathbb{1}\{y_i = k\} a^k", "y: index(n); a: scalar; K: size", a=2.0, y=Y, K=K
    )
    assert found == pytest.approx(np.sum(2.0**Y))


@pytest.mark.parametrize("condition", ["y_i = 1", r"y_i \neq 0", "2 = y_i"])
def test_data_of_indices_beside_a_number_are_refused(condition):
    with pytest.raises(mc.ParseError, match="can count from 1, or from 0"):
        mc.expression(
            rf"\sum_{{i=1}}^n \mathbb{{1}}\{{{condition}\}} x_i", "x: vector(n); y: index(n)", dialect="latex"
        )


ZERO = [
    (r"\sum_{k=0}^{n} a_k x^k", "a: vector(n+1)", "sum{k: a[k]*x^k}"),
    (r"a_0 + \sum_{k=1}^{n} a_k x^k", "a: vector(n+1)", "sum{k: a[k]*x^k}"),
    (r"\sum_{k=0}^{n-1} a_k x^k", "a: vector(n)", "sum{k: a[k]*x^k}"),
    (r"\sum_{k=0}^{3} a_k x^k", "a: vector(4)", "sum{k: a[k]*x^k}"),
    (r"\sum_{k=0}^{n-1} (a_{k+1} - a_k)^2", "a: vector(n+1)", "norm2(a[1:] - a[:-1])^2"),
    (r"\sum_{k=0}^{n} \|A_k\|^2 x^k", "A: matrix(n+1, d)", "sum{k: norm2(A[k,:])^2*x^k}"),
    (r"\sum_{k=0}^{n} \|a_k\|^2 x^k", "A: matrix(d, n+1)", "sum{k: norm2(A[:,k])^2*x^k}"),
    (r"\sum_{k=0}^{n} A_{k1} x^k", "A: matrix(n+1, d)", "sum{k: A[k,0]*x^k}"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("latex", "let", "text"), ZERO)
def test_an_array_counts_from_0_if_all_its_entries_are_read_so(latex, let, text):
    let = f"{let}; x: scalar"
    assert mc.equivalent(mc.expression(latex, let, dialect="latex"), mc.expression(text, let))


@pytest.mark.parametrize(
    ("latex", "let"),
    [
        (r"\sum_{k=0}^{n} a_k", "a: vector(n)"),
        (r"\sum_{k=0}^{n} a_k", "a: vector(n+2)"),
        (r"\sum_{k=1}^{n} a_{k-1}", "a: vector(n)"),
        (r"\sum_{k=0}^{n-1} a_k + a_n", "a: vector(n)"),
        (r"\sum_{k=1}^{n} (a_k - a_{k-1})", "a: vector(n)"),
    ],
)
def test_an_array_of_another_length_does_not(latex, let):
    with pytest.raises(mc.MatcalcError):
        mc.expression(latex, let, dialect="latex")


DIAGONALS = [
    (r"\operatorname{diag}(a_i) b", "a.*b"),
    (r"\mathrm{diag}(a_i^2) b", "a.^2.*b"),
    (r"\operatorname{diag}\{a_i(1 - a_i)\} b", "a.*(1 - a).*b"),
    (r"\operatorname{diag}(a_1, \ldots, a_n) b", "a.*b"),
    (r"\operatorname{diag}(a_1^2, \dots, a_n^2) b", "a.^2.*b"),
    (r"\operatorname{diag}(p_1, \ldots, p_n) b, \quad p_i = x_i^\top w", "(X*w).*b"),
    (r"D b, \quad D = \operatorname{diag}(p_i(1 - p_i)), \quad p_i = x_i^\top w", "(X*w).*(1 - X*w).*b"),
    (r"\operatorname{Diag}(a) b", "a.*b"),
    (r"\sum_{i=1}^n b^\top \operatorname{diag}(a) b\, a_i", "sum(a)*(a'*(b.*b))"),
]


@pytest.mark.parametrize(("latex", "text"), DIAGONALS)
def test_diagonals_of_entries(latex, text):
    let = "a, b: vector(n); X: matrix(n, d); w: vector(d)"
    assert mc.equivalent(mc.expression(latex, let, dialect="latex"), mc.expression(text, let))


@pytest.mark.parametrize(
    "latex", [r"\operatorname{diag}(a_1, \ldots, a_d) b", r"\operatorname{diag}(a_1, \ldots, b_n) b"]
)
def test_a_list_that_is_not_the_whole_vector_is_refused(latex):
    with pytest.raises(mc.MatcalcError):
        mc.expression(latex, "a, b: vector(n); d: size", dialect="latex")


OWN = [
    (r"\sum_i u_i(x_i)", "sum(1 - exp(-g.*x))"),
    (r"\sum_i u_i(x_i)^2", "sum((1 - exp(-g.*x)).^2)"),
    (r"\sum_{j=1}^n g_j u_j(x_j) - u_j(x_j)^2", "sum(g.*(1 - exp(-g.*x)) - (1 - exp(-g.*x)).^2)"),
    (r"\prod_i \left(u_i(x_i) - 1\right)^2", "prod(exp(-2*g.*x))"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("latex", "text"), OWN)
@pytest.mark.parametrize("order", [1, -1])
def test_functions_with_an_argument_each_are_entries(latex, text, order):
    let = "x, g: vector(n)"
    lines = [latex, r"u_i(x_i) = 1 - e^{-g_i x_i}"][::order]
    assert mc.equivalent(mc.expression(r", \quad ".join(lines), let, dialect="latex"), mc.expression(text, let))


def test_functions_of_another_argument_are_refused():
    with pytest.raises(mc.MatcalcError):
        mc.expression(r"\sum_i u_i(y_i), \quad u_i(x_i) = 1 - e^{-x_i}", "x, y: vector(n)", dialect="latex")


@pytest.mark.parametrize("pair", [r"i<j", r"i \neq j", r"j>i", r"i \le j"])
@pytest.mark.parametrize("frame", [r"{} A_{{ij}} {} B_{{ij}}", r"\sqrt{{{} A_{{ij}}^2 {} B_{{ij}}^2}}"])
def test_a_second_sum_over_the_same_pair_is_a_factor(pair, frame):
    """It is no condition inside of the first one."""
    big = rf"\sum_{{{pair}}}"
    e = mc.expression(frame.format(big, big), "A, B: matrix(n, n)", dialect="latex")
    A, B = RNG.standard_normal((2, N, N))
    i, j = np.indices((N, N))
    holds = {"i<j": i < j, r"i \neq j": i != j, "j>i": i < j, r"i \le j": i <= j}[pair]
    expected = np.sum(A[holds]) * np.sum(B[holds])
    if "sqrt" in frame:
        expected = np.sqrt(np.sum(A[holds] ** 2) * np.sum(B[holds] ** 2))
    assert e(A=A, B=B) == pytest.approx(expected)


@pytest.mark.parametrize(
    "latex",
    [
        r"\sum_i x_i \sum_i y_i - x_i", r"\prod_i x_i \sum_i y_i", r"\max_i x_i \max_i y_i",
        r"\sum_i \log \sum_i x_i", r"\prod_{i \ne j} A_{ij} \sum_{i \ne j} A_{ij}",
    ],
)  # fmt: skip
def test_other_operations_over_one_letter_twice_are_refused(latex):
    with pytest.raises(mc.MatcalcError):
        mc.expression(latex, "x, y: vector(n); A: matrix(n, n)", dialect="latex")


@pytest.mark.parametrize("sign", ["<", ">", r"\neq", r"\le"])
@pytest.mark.parametrize("first", ["i", "j"])
def test_a_pair_with_one_bound_letter_binds_the_other(sign, first):
    a, b = RNG.standard_normal((2, N))
    one, other = np.indices((N, N)) if first == "i" else np.indices((N, N))[::-1]
    holds = {"<": one < other, ">": one > other, r"\neq": one != other, r"\le": one <= other}[sign]
    latex = rf"\sum_i a_i \sum_{{{first} {sign} {'j' if first == 'i' else 'i'}}} b_j"
    found = mc.expression(latex, "a, b: vector(n)", dialect="latex")(a=a, b=b)
    assert found == pytest.approx(np.sum(np.outer(a, b)[holds]))


@pytest.mark.parametrize("count", [r"\frac{1}{|P|}", r"\left|P\right|^{-1}", r"\frac{a}{\lvert P\rvert}"])
def test_the_bars_of_a_set_are_refused(count):
    latex = rf"{count} \sum_{{(i,j) \in P}} (x_i - x_j)^2"
    with pytest.raises(mc.ParseError, match="the number of members of P or its determinant"):
        mc.expression(latex, "x: vector(n); P: matrix(n, n); a: scalar", dialect="latex")
    plain = mc.expression(r"|P| a", "P: matrix(n, n); a: scalar", dialect="latex")
    assert plain.node is mc.expression("a*det(P)", "P: matrix(n, n); a: scalar").node


SAME = [
    (r"f(x) - f(x + a x), \quad f(x) = \sum_i x_i^4", "sum(x.^4) - sum((x + a*x).^4)"),
    (r"\sum_i f(x_i), \quad f(t) = t^2 + a", "sum(x.^2 + a)"),
    (r"\sqrt{\sum_i x_i^2 \sum_i (a x_i)^2} + \sum_i x_i", "sqrt(x'*x)*sqrt(a^2*(x'*x)) + sum(x)"),
    (r"\sum_{i=1}^n x_i \sum_{i=1}^n x_i^2 \sum_{i=1}^n x_i^3", "sum(x)*(x'*x)*sum(x.^3)"),
    (r"x^\top c, \quad c_k = \cos(a (k - 1)), \; k = 1, \dots, n", "sum{k: cos(a*k)*x[k]}"),
    (r"a D_{\mathrm{KL}}(x \| z) + 1, \quad D_{\mathrm{KL}}(x \| z) = \sum_i x_i z_i, \quad z = 2 x", "2*a*x'*x + 1"),
    (r"a K[x \,\|\, z] + 1, \quad K[x \,\|\, z] = \sum_i x_i z_i, \quad z = 2 x", "2*a*x'*x + 1"),
    (r"a \operatorname{KL}(x \Vert z), \; \operatorname{KL}(x \Vert z) = \sum_i x_i z_i, \; z = 2 x", "2*a*x'*x"),
    (r"\min_\theta \sum_i (x_i - a)^2", "sum((x - a).^2)"),
    (r"(I - A)^{-1} x, \quad I \in \mathbb{R}^{n \times n}", "inv(eye(n) - A)*x"),
    (r"\sum_{k=1}^n w_k x_k, \quad w_k = e^{-a k}", "sum{k: exp(-a*(k + 1))*x[k]}"),
    (
        r"\sum_{k=1}^n w_k x_k, \quad w_k = \frac{e^{-a k}}{\sum_{j=1}^n e^{-a j}}",
        "sum{k: exp(-a*k)*x[k]}/sum(exp(-a*iota(n)))",
    ),
    (r"h'(x^\top x)^2, \quad h(t) = \tanh(t), \quad h'(t) = 1 - \tanh(t)^2", "(1 - tanh(x'*x)^2)^2"),
    (r"\sum_i \text{IDF}_i x_i + \mathrm{len}", "IDF'*x + len"),
    (r"\operatorname{gain}_1 a", "gain[0]*a"),
    (r"a^2 p_{1/2}, \quad p_{1/2} = a + 1", "a^2*(a + 1)"),
    (r"\vec{1}^\top x", "sum(x)"),
    (r"A : B", "sum(A.*B)"),
    (r"a\,A : B", "a*sum(A.*B)"),
    (r"\operatorname{logit}^{-1}(a)", "sigmoid(a)"),
    (
        r"M_{ij} = \log\frac{B_{ij}}{r_i c_j}, \quad r_i = \sum_j B_{ij}, \quad c_j = \sum_i B_{ij}",
        "{i,j: log(B[i,j]/(sum(B[i,:])*sum(B[:,j])))}",
    ),
    (
        r"\sum_{i,j} A_{ij} e_{ij}, \; e_{ij} = r_i c_j, \; r_i = \sum_{j=1}^n B_{ij}, \; c_j = \sum_{i=1}^n B_{ij}",
        "sum{i,j: A[i,j]*sum(B[i,:])*sum(B[:,j])}",
    ),
    (r"z_{k+1} = a A z_k, \quad z_0 = x, \quad k = 0, 1, 2, \quad \|z_3\|^2", "norm2(a*A*(a*A*(a*A*x)))^2"),
    (r"\tfrac12 \mathbf{A} : \mathbf{A} + a", "norm2(A)^2/2 + a"),
    (r"x_{k+1} = f(x_k), \; f(x) = a x (1 - x), \; x_0 = a, \; L = \sum_{k=1}^{T} x_k",
     "sum(x[1:]) where x[0] = a, x[t+1] = a*x[t]*(1 - x[t]), t < T"),
    (r"z_{k+1} = f(z_k), \quad f(u) = u - a A u, \quad z_0 = x, \quad k = 0, \dots, T-1, \quad \|z_T\|^2",
     "z[T]'*z[T] where z[0] = x, z[t+1] = z[t] - a*A*z[t], t < T"),
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("latex", "text"), SAME)
def test_same(latex, text):
    own = "x_0" not in latex
    let = "A, B: matrix(n, n); a: scalar"
    let += "; x: vector(n)" if own else ""
    let += "; IDF, gain: vector(n); len: scalar" if "IDF" in latex or "gain" in latex else ""
    assert mc.equivalent(mc.expression(latex, let, dialect="latex"), mc.expression(text, let))
