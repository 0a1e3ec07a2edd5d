"""Names, labels and functions in LaTeX, each kind in all its spellings, with the same formula in text as the truth."""

import numpy as np
import pytest

import matcalc as mc


def read(latex, let):
    return mc.expression(latex, let, dialect="latex")


LABELS = [
    r"\nabla f(x)",
    r"\nabla f",
    r"\nabla_x f(x, y)",
    r"\nabla_{x} \mathcal{L}",
    r"\nabla^2 f(x)",
    r"\frac{\partial f}{\partial x}",
    r"\frac{\partial \mathcal{L}(\theta)}{\partial \mathbf{x}}",
    r"\lambda E",
    r"\Delta G_m",
    r"\frac{\Delta G}{RT}",
    r"k_{5/2}(r)",
    r"\mathrm{TV}(u)",
    r"\|R\|_F",
    r"\mathrm{d}S",
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("sign", ["=", ":=", "&="])
def test_a_left_side_of_names_that_nothing_else_contains_is_a_label(label, sign):
    passage = rf"\begin{{align}} {label} {sign} a b + c \end{{align}}"
    assert read(passage, "a, b, c: scalar").node is mc.expression("a*b + c", "a, b, c: scalar").node


EQUATIONS = [
    r"\lambda a = b",
    r"\frac{\Delta G}{a} = b",
    r"2 E = a + b",
    r"\nabla f + \lambda = a",
    r"E + F = a",
    r"\lambda E = a E",
    r"\lambda E = a + u, \quad u = b E",
]


@pytest.mark.parametrize("latex", EQUATIONS)
def test_an_equation_is_no_label(latex):
    with pytest.raises(mc.MatcalcError, match="more than a name|between formulas"):
        read(latex, "a, b: scalar")


ENTRIES = [
    r"f(x)_i",
    r"\mathrm{N}(\mathbf{x})_i",
    r"\mathrm{U}_i(a)",
    "f_i(x, a)",
    "y_i",
    r"\frac{\partial f}{\partial x_i}",
]


@pytest.mark.parametrize("left", ENTRIES)
def test_a_left_side_with_an_index_has_entries(left):
    e = read(rf"{left} = a x_i + \sum_{{j=1}}^n x_j", "x: vector(n); a: scalar")
    assert e.node is mc.expression("a*x + sum(x)", "x: vector(n); a: scalar").node


@pytest.mark.parametrize("body", [r"W x_i", r"\tanh(W x_i)", r"\sum_{j=1}^n A_{ij} x_j", r"x_i - x_1"])
def test_vectors_on_the_left_are_rows(body):
    let = "X: matrix(n, d); W: matrix(k, d); A: matrix(n, n)"
    rng = np.random.default_rng(1)
    X, W, A = rng.standard_normal((5, 3)), rng.standard_normal((2, 3)), rng.standard_normal((5, 5))
    truth = {"W": X @ W.T, r"\t": np.tanh(X @ W.T), r"\s": A @ X, "x_": X - X[0]}[body[:2].strip()]
    declared = "; ".join(one for one in let.split("; ") if one[0] in body + "X")
    e = read(rf"h_i = {body}, \quad i = 1, \ldots, n", declared)
    data = {"X": X, "W": W, "A": A}
    np.testing.assert_allclose(e(**{name: data[name] for name in map(str, e.symbols)}), truth)


@pytest.mark.parametrize("letters", ["ij", "ik", "ab"])
@pytest.mark.parametrize("definition", [r"\theta_{ij} = \theta_i - \theta_j", r"\theta_{i,j} := \theta_i - \theta_j"])
def test_a_letter_with_more_subscripts_than_its_array_is_another_array(letters, definition):
    latex = rf"\sum_{{{letters[0]},{letters[1]}}} \cos\theta_{{{letters}}} \theta_{letters[0]}, \quad {definition}"
    text = "sum{i,j: cos(theta[i] - theta[j])*theta[i]}"
    assert read(latex, "theta: vector(n)").node is mc.expression(text, "theta: vector(n)").node


MARGINALS = [
    r"\sum_{x,y} p_{xy} \log \frac{p_{xy}}{p_x p_y}, \quad p_x = \sum_y p_{xy}, \quad p_y = \sum_x p_{xy}",
    r"\sum_{i,j} p_{ij} \log \frac{p_{ij}}{p_i q_j}, \quad p_i = \sum_j p_{ij}, \quad q_j = \sum_i p_{ij}",
]


@pytest.mark.parametrize("latex", MARGINALS)
@pytest.mark.parametrize("shape", ["m, n", "n, n"])
def test_marginals_that_the_passage_defines(latex, shape):
    P = np.random.default_rng(2).uniform(0.5, 2, (4, 4) if shape == "n, n" else (3, 4))
    expected = np.sum(P * np.log(P / np.outer(P.sum(axis=1), P.sum(axis=0))))
    np.testing.assert_allclose(read(latex, f"P: matrix({shape})")(P=P), expected)


@pytest.mark.parametrize("name", ["Q", "Q_o", "Q_obs", "mu_hat"])
def test_an_index_above_a_vector_is_its_subscript(name):
    shown = {"Q": "Q", "Q_o": "Q_o", "Q_obs": r"Q_{\text{obs}}", "mu_hat": r"\hat\mu"}[name]
    e = read(rf"\sum_{{t=1}}^T ({shown}^t - a)^2", f"{name}: vector(T); a: scalar")
    assert e.node is mc.expression(f"sum(({name} .- a).^2)", f"{name}: vector(T); a: scalar").node


def test_a_number_to_the_power_of_an_index_or_a_size_is_a_power():
    assert read(r"\sum_{t=1}^n \gamma^t x_t", "gamma: scalar; x: vector(n)").node is (
        mc.expression("sum{t: gamma^(t + 1)*x[t]}", "gamma: scalar; x: vector(n)").node
    )
    e = read(r"(1 - b^T) \sum_{t=1}^T x_t", "b: scalar; x: vector(T)")
    np.testing.assert_allclose(e(b=0.5, x=np.ones(3)), 3 * (1 - 0.5**3))


@pytest.mark.parametrize("name", ["epsilon", "theta", "phi", "rho", "sigma", "kappa"])
@pytest.mark.parametrize("is_declared", [True, False])
def test_a_letter_and_its_variant_are_one_name(name, is_declared):
    shown, declared = (f"var{name}", name) if is_declared else (name, f"var{name}")
    e = read(rf"a \{shown} + \{shown}^2", f"a, {declared}: scalar")
    assert e.node is mc.expression(f"a*{declared} + {declared}^2", f"a, {declared}: scalar").node
    both = read(rf"a \{shown} + \{declared}", f"a, {declared}: scalar")
    assert set(map(str, both.symbols)) == {"a", shown, declared}


UPRIGHT = [r"\mathrm{Re}", r"\mathsf{Re}"]


@pytest.mark.parametrize("shown", UPRIGHT)
def test_a_declared_upright_word_is_a_name(shown):
    e = read(rf"\frac{{a}}{{{shown}^2}} + e^{{-{shown}/a}} + {shown} a", "Re, a: scalar")
    assert e.node is mc.expression("a/Re^2 + exp(-Re/a) + Re*a", "Re, a: scalar").node


@pytest.mark.parametrize("unit", [r"~[\mathrm{hPa}]", r"\,\mathrm{kg}", r"\;\mathrm{mol}"])
def test_a_unit_is_refused(unit):
    with pytest.raises(mc.MatcalcError, match="is not declared|is not supported"):
        read(rf"p = 6.1 T {unit}", "T: scalar")


FUNCTIONS = [("ReLU", "relu"), ("Softplus", "softplus"), ("Sigmoid", "sigmoid"), ("Tanh", "tanh"), ("RELU", "relu")]


@pytest.mark.parametrize(("shown", "name"), FUNCTIONS)
@pytest.mark.parametrize("font", ["mathrm", "operatorname", "text"])
def test_functions_of_entries_may_have_capitals(shown, name, font):
    e = read(rf"\{font}{{{shown}}}(A x)", "A: matrix(m, n); x: vector(n)")
    assert e.node is mc.expression(f"{name}(A*x)", "A: matrix(m, n); x: vector(n)").node


@pytest.mark.parametrize("name", ["Var", "Cov"])
def test_a_variance_by_n_or_by_n_minus_1_is_refused(name):
    with pytest.raises(mc.MatcalcError, match="divide by n or by n - 1"):
        read(rf"\sqrt{{\operatorname{{{name}}}(x)}}", "x: vector(n)")


AT_VECTORS = [
    (r"\phi(t) = \max(0, t)", lambda t: np.maximum(0, t)),
    (r"\phi(t) = t^2 + c", lambda t: t**2 + 0.3),
    (r"\phi(t) = t \sigma(t)", lambda t: t / (1 + np.exp(-t))),
    (r"\phi(t) = \frac{e^t - e^{-t}}{e^t + e^{-t}}", np.tanh),
    (r"\phi(t) = g(g(t)), \quad g(s) = s^2 - s", lambda t: (t**2 - t) ** 2 - (t**2 - t)),
    (
        r"\phi(t) = \begin{cases} t & t > 0 \\ c t & t \le 0 \end{cases}",
        lambda t: np.where(t > 0, t, 0.3 * t),
    ),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("definition", "function"), AT_VECTORS)
@pytest.mark.parametrize(
    "use", [r"v^\top \phi(A x)", r"\sum_{i=1}^m v_i \phi(A x)_i", r"v^\top (\phi(A x) + \phi(A x))"]
)
def test_a_function_of_a_number_at_a_vector_is_that_of_each_entry(definition, function, use):
    let = f"A: matrix(m, n); x: vector(n); v: vector(m){'; c: scalar' if ' c' in definition else ''}"
    rng = np.random.default_rng(3)
    data = {"A": rng.standard_normal((4, 3)), "x": rng.standard_normal(3), "v": rng.standard_normal(4), "c": 0.3}
    e = read(rf"{use}, \quad {definition}", let)
    expected = data["v"] @ function(data["A"] @ data["x"]) * (2 if "+ \\phi" in use else 1)
    np.testing.assert_allclose(e(**{name: data[name] for name in map(str, e.symbols)}), expected)


@pytest.mark.parametrize("definition", [r"f(t) = t y", r"f(t) = t + y"])
def test_a_function_of_a_number_whose_value_is_a_vector_is_refused_at_a_vector(definition):
    with pytest.raises(mc.MatcalcError, match="a function of a number whose value is a vector"):
        read(rf"f(x), \quad {definition}", "x, y: vector(n)")


OPERANDS = [
    (r"\cos a \cos b \sin^2 c", "cos(a)*cos(b)*sin(c)^2"),
    (r"\cos a \cdot b", "cos(a)*b"),
    (r"\log a \cdot e^{b}", "log(a)*exp(b)"),
    (r"2\pi\left(a + b\right)", "2*pi*(a + b)"),
    (r"2\pi\left[a b\right]", "2*pi*a*b"),
    (r"\pi\left(\frac{a}{b}\right)", "pi*a/b"),
]


@pytest.mark.parametrize(("latex", "text"), OPERANDS)
def test_the_end_of_an_operand(latex, text):
    let = "; ".join(f"{name}: scalar" for name in "abc" if name in text.replace("cos", "").replace("exp", ""))
    assert read(latex, let).node is mc.expression(text, let).node


STACKED = [r"\,\|\,", r"\Vert ", r"\,\Vert\,", r"\;\|\;", " || "]


@pytest.mark.parametrize("bars", STACKED)
@pytest.mark.parametrize("sizes", [("[", "]"), (r"\left[", r"\right]"), (r"\bigl[", r"\bigr]")])
def test_bars_in_brackets_stack_vectors(bars, sizes):
    e = read(rf"a^\top {sizes[0]}W x{bars}W y{sizes[1]}", "a: vector(2*m); W: matrix(m, n); x, y: vector(n)")
    text = "a'*[W*x; W*y]"
    assert e.node is mc.expression(text, "a: vector(2*m); W: matrix(m, n); x, y: vector(n)").node


@pytest.mark.parametrize("name", ["D", r"D_{\mathrm{KL}}", r"\mathrm{KL}", r"\mathbb{D}", "H"])
def test_a_divergence_in_brackets_is_no_product(name):
    with pytest.raises(mc.MatcalcError):
        read(rf"a {name}[q \,\|\, p]", "q, p: vector(n); a, D, D_KL, H: scalar")
    label = rf"{name}[q \,\|\, p] = \sum_i q_i \log\frac{{q_i}}{{p_i}}"
    assert read(label, "q, p: vector(n)").node is mc.expression("q'*log(q./p)", "q, p: vector(n)").node


@pytest.mark.parametrize("latex", ["A x = b", r"\operatorname{Exp}(w)", r"\operatorname{Log}(w)"])
def test_an_equation_and_a_map_of_a_group_are_refused(latex):
    with pytest.raises(mc.MatcalcError):
        read(latex, "w: vector(n)" if "w" in latex else "")


def test_norms_in_brackets_are_norms():
    latex = r"\left[\|x\| + \|y\|\right] + \left[|a||b|\right] + [\|x\|^2]"
    text = "norm2(x) + norm2(y) + abs(a)*abs(b) + norm2(x)^2"
    let = "x, y: vector(n); a, b: scalar"
    assert read(latex, let).node is mc.expression(text, let).node


def test_the_set_with_the_letter_of_a_size_has_all_indices():
    e = read(r"\sum_{a \in \mathcal{A}} x_a^2", "x: vector(A)")
    assert e.node is mc.expression("x'*x", "x: vector(A)").node
    with pytest.raises(mc.MatcalcError, match="the range of this sum"):
        read(r"\sum_{a \in \mathcal{B}} x_a^2", "x: vector(A)")


def test_the_delta_of_kronecker():
    data = {"A": np.arange(9.0).reshape(3, 3), "c": np.array([1.0, 2.0, 1.0])}
    e = read(r"\sum_{i,j} A_{ij} \delta(c_i, c_j)", "A: matrix(n, n); c: vector(n)")
    np.testing.assert_allclose(e(**data), np.sum(data["A"] * (data["c"][:, None] == data["c"])))
    e = read(r"\sum_{i,j} A_{ij} \delta(i, j)", "A: matrix(n, n)")
    np.testing.assert_allclose(e(A=data["A"]), np.trace(data["A"]))


@pytest.mark.parametrize("end", [". % a remark", ".", ". \\label{x}", ", \\nonumber % and \\alpha = 2"])
def test_ends_of_lines(end):
    passage = rf"""\begin{{align}}
    f &= u^2 + a{end}
    \\ u &= 2 b{end}
    \end{{align}}"""
    assert read(passage, "a, b: scalar").node is mc.expression("4*b^2 + a", "a, b: scalar").node


def test_starts_in_a_chain():
    e = read(
        r"m_t = a m_{t-1} + x_t, \quad v_t = m_t + v_{t-1}, \quad m_0 = v_0 = 0, \quad v_T", "x: vector(T); a: scalar"
    )
    m = v = 0.0
    for x in (1.0, -2.0, 0.5):
        m = 0.7 * m + x
        v += m
    np.testing.assert_allclose(e(x=np.array([1.0, -2.0, 0.5]), a=0.7), v)


@pytest.mark.parametrize("left", ["R_A'", "R_A^{+}", r"\tilde R_A"])
def test_labels_of_declared_numbers_are_no_indices(left):
    e = read(rf"{left} = R_A + K (S_A - E_A), \quad E_A = \frac{{1}}{{1 + R_B - R_A}}", "R_A, R_B, K, S_A: scalar")
    assert e.node is mc.expression("R_A + K*(S_A - 1/(1 + R_B - R_A))", "R_A, R_B, K, S_A: scalar").node


def test_a_square_of_a_name_with_a_declared_letter_below():
    latex = (
        r"\frac{s_{xy}}{\sigma_x^2 + 1}, \quad \sigma_x^2 = \frac1n \sum_i (x_i - \mu_x)^2, "
        r"\quad \mu_x = \frac1n \sum_i x_i, \quad s_{xy} = \sum_i (x_i - \mu_x) y_i"
    )
    x, y = np.array([1.0, 2.0, 4.0]), np.array([0.5, -1.0, 2.0])
    np.testing.assert_allclose(read(latex, "x, y: vector(n)")(x=x, y=y), (x - x.mean()) @ y / (np.var(x) + 1))


@pytest.mark.parametrize("latex", [r"a_0 + a_1 x + \cdots + a_n x^n", r"x_1 x_2 \cdots x_n", r"x_1 + \ldots + x_n"])
def test_dots_are_refused_first(latex):
    with pytest.raises(mc.MatcalcError, match="write the sum with its bounds"):
        read(latex, "a: vector(n + 1); x: scalar" if "a_0" in latex else "x: vector(n)")


@pytest.mark.parametrize("prior", ["I_x", "mu_1", "I_t"])
def test_an_index_behind_the_subscript_of_a_name(prior):
    letter, below = prior.split("_")
    shown = f"{letter if letter == 'I' else chr(92) + letter}_{{{below},i}}"
    e = read(rf"\sum_{{i=1}}^n {shown}^2 u_i", f"{prior}, u: vector(n)")
    assert e.node is mc.expression(f"sum({prior}.^2.*u)", f"{prior}, u: vector(n)").node


@pytest.mark.parametrize("name", ["Delta_S", "Delta_H_m", "delta_x"])
def test_a_declared_change_is_one_name(name):
    letter, *rest = name.split("_")
    shown = rf"\{letter} {rest[0]}" + (f"_{rest[1]}" if rest[1:] else "")
    e = read(rf"e^{{-{shown}/R}} + a {shown}", f"{name}, R, a: scalar")
    assert e.node is mc.expression(f"exp(-{name}/R) + a*{name}", f"{name}, R, a: scalar").node


@pytest.mark.parametrize("shown", ["r_i^{(0)}", "r^{(0)}_i"])
def test_a_row_of_a_matrix_with_a_number_above(shown):
    e = read(rf"\sum_{{i=1}}^N \|r_i - {shown}\|^2", "R, R_0: matrix(N, d)")
    assert e.node is mc.expression("sum{i: norm2(R[i,:] - R_0[i,:])^2}", "R, R_0: matrix(N, d)").node


@pytest.mark.parametrize("latex", [r"T_k = \sum_{i=1}^m C_{ik} u_i", r"T_k = \sum_i C_{ik} u_i + b_k"])
def test_an_index_with_the_letter_of_a_size_is_refused(latex):
    """C_{ik} would be the last column of C."""
    with pytest.raises(mc.MatcalcError, match="k is a size, and can be an index here"):
        read(
            latex, "C: matrix(m, k); u: vector(m); b: vector(k)" if "b_k" in latex else "C: matrix(m, k); u: vector(m)"
        )


@pytest.mark.parametrize("letters", ["ij", "kl", "i,j"])
def test_entries_that_are_functions_of_their_indices(letters):
    i, j = letters[0], letters[-1]
    e = read(rf"x^\top \Sigma x, \quad \Sigma_{{{letters}}} = s^2 \rho^{{|{i} - {j}|}}", "x: vector(n); s, rho: scalar")
    x = np.array([1.0, -2.0, 0.5])
    expected = 4 * x @ 0.3 ** abs(np.subtract.outer(range(3), range(3))) @ x
    np.testing.assert_allclose(e(x=x, s=2.0, rho=0.3), expected)


@pytest.mark.parametrize("gradient", [r"\nabla f(x)", r"\nabla_\mu J", r"\frac{\partial L}{\partial a}"])
def test_a_gradient_that_is_no_left_side_is_refused(gradient):
    r"""What is behind it, up to the = of \sum_{i=1}, is not a part of its name."""
    for passage in (rf"{gradient} \sum_{{i=1}}^n x_i", rf"{gradient} \approx \sum_{{i=1}}^n x_i"):
        with pytest.raises(mc.MatcalcError, match="nabla|partial|between formulas|is not supported"):
            read(passage, "x: vector(n)")


@pytest.mark.parametrize("sign", ["+", "-", r"\pm", r"\ast"])
def test_bars_behind_a_sign_below_a_letter(sign):
    name = {"+": "z_plus", "-": "z_minus", r"\ast": "z_star", r"\pm": "z"}[sign]
    shown = f"z_{sign}" if sign != r"\pm" else "z"
    e = read(rf"\gamma_\pm = A |{shown}| \sqrt I", f"A, {name}, I: scalar")
    assert e.node is mc.expression(f"A*abs({name})*sqrt(I)", f"A, {name}, I: scalar").node
