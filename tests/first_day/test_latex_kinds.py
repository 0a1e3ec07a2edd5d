"""Kinds of notation in LaTeX: each in all its spellings, with NumPy, or the same formula in text, as the truth."""

import itertools
import re

import numpy as np
import pytest

import matcalc as mc

x, y = np.array([0.5, 1.5, 2.0]), np.array([1.0, -2.0, 3.0])
A = np.arange(9.0).reshape(3, 3) + 1


def read(latex, let):
    return mc.expression(latex, let, dialect="latex")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("head", [r"\log k", "1", "k^2 c", "-k", r"-\log k + c"])
@pytest.mark.parametrize("tail", [r"+ x_i", r"- (k - 1) \log x_i", r"- c + x_i^k"])
@pytest.mark.parametrize("bounds", ["_i", "_{i=1}^n"])
def test_a_sum_whose_first_terms_lack_the_index(head, tail, bounds):
    let = "x: vector(n) positive; k, c: scalar positive"
    e, closed = read(rf"\sum{bounds} {head} {tail}", let), read(rf"\sum_{{i=1}}^n \left({head} {tail}\right)", let)
    assert e.node is closed.node


TAKEN = [
    (r"\sum_j h(u_j), \quad h(t) = \sum_j a_j t", "a: vector(n); u: vector(m)", "sum(a)*sum(u)"),
    (
        r"\sum_{i,j} P_{ij} \log \frac{P_{ij}}{p_i q_j}, \quad p_i = \sum_j P_{ij}, \quad q_j = \sum_i P_{ij}",
        "P: matrix(m, n)",
        "sum{i,j: P[i,j]*log(P[i,j]/(sum(P, axis=1)[i]*sum(P, axis=0)[j]))}",
    ),
    (r"\sum_i f(f(x_i)), \quad f(t) = \sum_i a_i t^2", "a, x: vector(n)", "sum(a)*sum((sum(a)*x.^2).^2)"),
    (r"\sum_j y_j s_j, \quad s_i = \sum_j A_{ij} x_j", "A: matrix(n, n); x, y: vector(n)", "y'*A*x"),
]


@pytest.mark.parametrize(("latex", "let", "text"), TAKEN)
def test_an_index_that_a_definition_binds_is_its_own(latex, let, text):
    assert read(latex, let).node is mc.expression(text, let).node


CONDITIONS = [
    (r"j \ne i", lambda i, j: j != i),
    (r"i \ne j", lambda i, j: j != i),
    ("j < i", lambda i, j: j < i),
    (r"j \ge i", lambda i, j: j >= i),
    ("i < j", lambda i, j: i < j),
]


@pytest.mark.parametrize(("condition", "holds"), CONDITIONS)
@pytest.mark.parametrize("letter", "ik")
def test_an_index_of_a_definition_below_its_sum(condition, holds, letter):
    r"""In s_i = \sum_{j \ne i} the sum is over j alone."""
    latex = rf"\sum_{letter} y_{letter} s_{letter}, \quad s_i = \sum_{{{condition}}} A_{{ij}} x_j"
    e = read(latex, "A: matrix(n, n); x, y: vector(n)")
    expected = sum(y[i] * A[i, j] * x[j] for i, j in itertools.product(range(3), repeat=2) if holds(i, j))
    np.testing.assert_allclose(e(A=A, x=x, y=y), expected)


NAMED = [
    (r"\sum_{x,y} p_{xy} \log \frac{p_{xy}}{p_x p_y}", "p_xy: matrix(m, n); p_x: vector(m); p_y: vector(n)", "p_xy"),
    (r"\sum_{x,y} p_{xy} \log \frac{p_{xy}}{p_x p_y}", "P: matrix(m, n); p_x: vector(m); p_y: vector(n)", "P"),
]


@pytest.mark.parametrize(("latex", "let", "name"), NAMED)
def test_a_name_with_an_index_below_it_is_the_entry_of_a_declared_vector(latex, let, name):
    text = f"sum{{i,j: {name}[i,j]*log({name}[i,j]/(p_x[i]*p_y[j]))}}"
    assert read(latex, let).node is mc.expression(text, let).node


@pytest.mark.parametrize("name", ["I_1", "J_1", "K_m", "J_nu"])
@pytest.mark.parametrize("fence", [r"({})", r"\left({}\right)", "[{}]"])
def test_a_declared_name_is_no_function_of_its_look(name, fence):
    letter, below = name.split("_")
    below = r"\nu" if below == "nu" else below
    shown = f"{letter}_{{{below}}}" + fence.format("1 + a")
    assert read(shown, f"{name}, a: scalar").node is mc.expression(f"{name}*(1 + a)", f"{name}, a: scalar").node


SETS = [
    ("R_{ij} - U_i V_j^\\top", "R: matrix(m, n); U: matrix(m, k); V: matrix(n, k)", lambda R, U, V: R - U @ V.T),
    ("R_{ij} - U_i^\\top V_j", "R: matrix(m, n); U: matrix(m, k); V: matrix(n, k)", lambda R, U, V: R - U @ V.T),
    ("r_{ij} - u_i^\\top v_j", "R: matrix(m, n); U: matrix(m, k); V: matrix(n, k)", lambda R, U, V: R - U @ V.T),
    ("R_{ij} - U_i^\\top V_j", "R: matrix(m, n); U: matrix(k, m); V: matrix(k, n)", lambda R, U, V: R - U.T @ V),
]


@pytest.mark.parametrize(("gap", "let", "truth"), SETS)
@pytest.mark.parametrize("name", [r"\Omega", "E", r"\mathcal{K}"])
@pytest.mark.sampled(6)
def test_a_set_is_a_mask_or_data(gap, let, truth, name):
    rng = np.random.default_rng(1)
    sizes = {"m": 3, "n": 4, "k": 2}
    data = {}
    for one in let.split("; "):
        symbol, shape = one.split(": matrix")
        data[symbol] = rng.standard_normal([sizes[s] for s in shape.strip("()").split(", ")])
    mask = rng.random((3, 4)) < 0.5
    expected = np.sum(np.where(mask, truth(**data) ** 2, 0))
    latex = rf"\sum_{{(i,j) \in {name}}} \left({gap}\right)^2"
    shown = {r"\Omega": "Omega", r"\mathcal{K}": "K"}.get(name, name)
    by_mask = read(latex, f"{let}; {shown}: matrix(m, n)")
    np.testing.assert_allclose(by_mask(**data, **{shown: mask.astype(float)}), expected)
    i, j = np.nonzero(mask)
    np.testing.assert_allclose(read(latex, f"{let}; i, j: index(N)")(**data, i=i, j=j), expected)


BARS = [r"\mid", "|", r"\,|\,", ";"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("used", "defined"), [*zip(BARS, BARS, strict=True), ("|", r"\mid")])
@pytest.mark.parametrize("name", [r"\pi", r"\pi_\theta", "p"])
def test_a_function_with_a_bar_in_its_arguments(used, defined, name):
    latex = (
        rf"J = \sum_{{t=1}}^T G_t \log {name}(a_t {used} s_t), \quad "
        rf"{name}(a {defined} s) = \frac{{e^{{\theta_{{sa}}}}}}{{\sum_{{b=1}}^A e^{{\theta_{{sb}}}}}}"
    )
    e = read(latex, "G: vector(T); a, s: index(T); theta: matrix(S, A)")
    rng = np.random.default_rng(2)
    theta, G, a, s = rng.standard_normal((4, 3)), rng.standard_normal(5), rng.integers(0, 3, 5), rng.integers(0, 4, 5)
    policy = np.exp(theta) / np.exp(theta).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(e(theta=theta, G=G, a=a, s=s), G @ np.log(policy[s, a]))


RATES = [
    r"\frac{dx_i}{dt}",
    r"\frac{\mathrm{d} x_i}{\mathrm{d} t}",
    r"\dfrac{\partial x_i}{\partial \tau}",
    r"\dot{x}_i",
]


@pytest.mark.parametrize("rate", RATES)
def test_a_rate_is_a_name(rate):
    let = "x, r: vector(n); A: matrix(n, n)"
    e = read(rf"{rate} = r_i x_i \left(1 - \sum_{{j=1}}^n A_{{ij}} x_j\right)", let)
    assert e.node is mc.expression("r.*x.*(1 - A*x)", let).node


@pytest.mark.parametrize("mark", ["H", r"\mathrm{H}", "{H}", r"{\mathsf{H}}"])
def test_the_conjugate_transpose_of_real_matrices(mark):
    let = "H: matrix(m, n); x: vector(m)"
    assert read(rf"x^{mark} H H^{mark} x", let).node is mc.expression("x'*H*H'*x", let).node
    assert read(r"a^H", "a, H: scalar").node is mc.expression("a^H", "a, H: scalar").node


@pytest.mark.parametrize("body", [r"x_i y_i", r"\log x_i", r"\frac{y_i}{x_i}"])
def test_a_sum_of_negatives(body):
    let = "x, y: vector(n); a: scalar"
    assert read(rf"a \sum_{{i=1}}^n -{body}", let).node is read(rf"-a \sum_{{i=1}}^n {body}", let).node
    assert read(rf"\sum_{{i=1}}^n -{body} + a", let).node is read(rf"a - \sum_{{i=1}}^n {body}", let).node


def lagged(y, f):
    return sum(y[t] * f[j] * y[t - 1 - j] for t in range(2, 6) for j in range(2))


COMPUTED = [
    (r"\sum_{t=p+1}^T y_t \sum_{j=1}^p f_j y_{t-j}", lagged),
    (r"\sum_{t=p+1}^T y_t \sum_{j=1}^p f_j y_{-j+t}", lagged),
    (r"\sum_{i=1}^{T-p+1} (\sum_{j=1}^p f_j y_{i+j-1})^2", lambda y, f: sum((f @ y[i : i + 2]) ** 2 for i in range(5))),
    (r"\sum_{i=1}^T y_i^2 y_{T+1-i}", lambda y, f: (y**2) @ y[::-1]),
    (r"\sum_{j=1}^p f_j y_{T-j}", lambda y, f: f @ y[4:2:-1]),
    (r"\sum_{j=2}^p f_j y_{p+2-j}", lambda y, f: f[1] * y[1]),
    (
        r"\sum_{i=1}^p \sum_{j=1}^p f_i f_j y_{2i-j+1}",
        lambda y, f: f[0] ** 2 * y[1] + f[0] * f[1] * (y[0] + y[3]) + f[1] ** 2 * y[2],
    ),
    (
        r"\sum_{i=1}^p \sum_{j=i}^p f_i f_j y_{i+j}",
        lambda y, f: sum(f[i] * f[j] * y[i + j + 1] for i in range(2) for j in range(i, 2)),
    ),
]


@pytest.mark.parametrize(("latex", "truth"), COMPUTED)
@pytest.mark.parametrize("style", ["y_{{{}}}", "y[{}]"])
def test_computed_subscripts(latex, truth, style):
    shown = latex
    if "[" in style:
        shown = latex.replace("y_t", "y[t]").replace("y_i", "y[i]").replace("y_j", "y[j]")
        shown = re.sub(r"y_\{([^{}]*)\}", r"y[\1]", shown)
    data = {"y": np.array([0.3, -1.2, 2.0, 0.7, 1.1, -0.4]), "f": np.array([1.5, -0.5])}
    e = read(shown, "y: vector(T); f: vector(p)")
    np.testing.assert_allclose(e(**{name: data[name] for name in map(str, e.symbols)}), truth(**data))


@pytest.mark.parametrize(
    "latex", [r"\sum_{i=1}^T \sum_{j=1}^T y_{i+j}", r"\sum_{t=1}^T \sum_{j=1}^p y_{t-j}", "y_{T+1}"]
)
def test_a_subscript_outside_its_axis_is_refused(latex):
    with pytest.raises(mc.MatcalcError, match="outside"):
        read(latex, "y: vector(T); p: size")(y=np.ones(4), p=2)


def test_the_indices_of_a_definition_have_their_range_in_the_passage():
    e = read(r"y_k = \sum_{j=1}^m h_j x_{k+m-j}, \quad k = 1, \ldots, n", "h: vector(m); x: vector(n + m - 1)")
    h, z = np.array([1.0, 2.0, -1.0]), np.arange(7.0) ** 2
    np.testing.assert_allclose(e(h=h, x=z), np.convolve(h, z, "valid"))


SQUARES = r"\sum_t d_t^2, \quad d_t = r_t + c V(s_{t+1}) - V(s_t)"
SHIFTED = [
    (r"\sum_t (r_t + c z_{t+1} - z_t)^2", "r: vector(T); z: vector(T + 1)"),
    (r"\sum_t (r_t + c V(s_{t+1}) - V(s_t))^2", "r: vector(T); s: index(T + 1); V: vector(S)"),
    (r"\sum_t (r_t + c V_{s_{t+1}} - V_{s_t})^2", "r: vector(T); s: index(T + 1); V: vector(S)"),
    (rf"{SQUARES}, \quad V(s) = w_s", "r: vector(T); s: index(T + 1); w: vector(S)"),
    (rf"{SQUARES}, \quad V(s) = w^\top s", "r: vector(T); S: matrix(T + 1, n); w: vector(n)"),
    (rf"{SQUARES}, \quad V(s) = w^\top s", "r: vector(T); S: matrix(n, T + 1); w: vector(n)"),
]


@pytest.mark.parametrize(("latex", "let"), SHIFTED)
def test_shifts_without_bounds_have_the_range_of_the_lengths(latex, let):
    rng = np.random.default_rng(4)
    data = {"r": rng.standard_normal(4), "z": rng.standard_normal(5), "s": np.array([0, 2, 1, 2, 0]), "c": 0.9}
    data |= {"V": rng.standard_normal(3), "w": rng.standard_normal(3), "S": rng.standard_normal((5, 3))}
    v = {"z": data["z"], "V": data["V"][data["s"]], "w": data["w"][data["s"]]}
    values = data["S"] @ data["w"] if "S: matrix" in let else v[next(x for x in "zVw" if f"{x}: vector" in let)]
    data["S"] = data["S"].T if "S: matrix(n" in let else data["S"]
    expected = np.sum((data["r"] + 0.9 * values[1:] - values[:-1]) ** 2)
    e = read(latex, f"{let}; c: scalar")
    np.testing.assert_allclose(e(**{name: data[name] for name in map(str, e.symbols)}), expected)


@pytest.mark.parametrize("latex", [r"\sum_i x_i x_{i+1}", r"\sum_i y_i (x_{i+1} - x_i)", r"\sum_i (x_i - x_{i-1})^2"])
def test_shifts_without_bounds_that_may_be_a_ring_are_refused(latex):
    with pytest.raises(mc.MatcalcError, match="a shifted index of a sum without bounds"):
        read(latex, "x, y: vector(n)")


ARGUMENTS = [
    (r"\sum_x p(x) \log p(x)", "p: vector(n)", "p'*log(p)"),
    (r"\sum_{x,y} P(x, y) q(x)", "P: matrix(m, n); q: vector(m)", "sum(P'*q)"),
    (r"\sum_t Q(s_t, a_t)^2", "Q: matrix(m, n); s, a: index(T)", "sum(Q[s, a].^2)"),
    (r"\sum_t \max_b Q(s_t, b)", "Q: matrix(m, n); s: index(T)", "sum(max(Q[s, :], axis=1))"),
    (r"\sum_i a_i (i + 1)", "a: vector(n)", "sum{i: a[i]*(i + 2)}"),
    (r"\sum_{i=1}^n c(i)", "c: scalar; n: size", "sum{i: ones(n)[i]*c*(i + 1)}"),
]


@pytest.mark.parametrize(("latex", "let", "text"), ARGUMENTS)
def test_indices_behind_an_array_are_subscripts(latex, let, text):
    assert read(latex, let).node is mc.expression(text, let).node


def test_a_computed_index_in_parentheses_is_refused():
    with pytest.raises(mc.MatcalcError, match="an entry or a product"):
        read(r"\sum_{i=1}^{n-1} a(i+1)", "a: vector(n)")


SAME = [
    (r"\sum_{i=1}^N \ell_i^{w} r_i^{\mathrm{ref}}", "ell_w, r_ref: vector(N)", "ell_w'*r_ref"),
    (r"\sum_{i=1}^N \ell^w_i r^{(1)}_i", "ell_w, r_1: vector(N)", "ell_w'*r_1"),
    (r"\sum_{i=1}^N x_i^w", "x: vector(N); w: scalar", "sum(x.^w)"),
    (r"\sum_{i,j} W_{ij}^{(1)}", "W_1: matrix(n, m)", "sum(W_1)"),
    (r"\sum_{i=1}^n \|X_i - A\|_F^2", "X: tensor(n, m, p); A: matrix(m, p)", "sum{i: norm2(X[i,:,:] - A)^2}"),
    (r"\sum_{i=1}^n \|X_i - A\|_F^2", "X: tensor(m, n, p); A: matrix(m, p)", "sum{i: norm2(X[:,i,:] - A)^2}"),
    (
        r"\sum_{i=1}^n \sum_{j=1}^m \|x_{ij} - a\|^2",
        "X: tensor(n, m, p); a: vector(p)",
        "sum{i,j: norm2(X[i,j,:] - a)^2}",
    ),
    (r"P(t_i, b_j) = \cos(t_i - b_j)", "t: vector(n); b: vector(m)", "{i,j: cos(t[i] - b[j])}"),
    (r"f(t_i) = t_i^2 + 1", "t: vector(n)", "t.^2 + 1"),
    (
        r"I_T, \quad I_{t+1} = a I_t, \; I_0 = b, \; t < T",
        "a, b: scalar",
        "I[T] where I[t+1] = a*I[t], I[0] = b, t < T",
    ),
    (r"\sum_i f(x_i), \quad f(x) = \frac{x}{x_{\max}}", "x: vector(n); x_max: scalar", "sum(x)/x_max"),
    (r"\sum_i \frac{s_i^2}{s_X^2}, \quad s_X^2 = a^2 + 1", "s: vector(n); a: scalar", "s'*s/(a^2 + 1)"),
    (r"E = E^\circ - R \ln Q", "E_circ, R, Q: scalar", "E_circ - R*log(Q)"),
    (
        r"P_{ik} = \cos(b_k - a_i) - b_{k+1}, \quad k = 1, \ldots, K",
        "a: vector(n); b: vector(K + 1)",
        "{i,k: cos(b[:K][k] - a[i]) - b[1:][k]}",
    ),
]


@pytest.mark.parametrize(("latex", "let", "text"), SAME)
def test_names_and_parts_of_tensors(latex, let, text):
    assert read(latex, let).node is mc.expression(text, let).node


POLICY = r"\sum_a \pi(a|s) \left[r(s,a) + c \sum_{s'} P(s'|s,a) v(s')\right]"
PRIMES = [
    (
        r"\sum_x \sum_y p(x) Q(y|x) \log \frac{Q(y|x)}{\sum_{x'} p(x') Q(y|x')}",
        "p: vector(m); Q: matrix(n, m)",
        "sum{i,j: p[i]*Q[j,i]*log(Q[j,i]/sum{k: p[k]*Q[j,k]})}",
    ),
    (
        rf"V(s) = {POLICY}",
        "pi: matrix(A, S); r: matrix(S, A); P: tensor(S, S, A); v: vector(S); c: scalar",
        "{i: sum{j: pi[j,i]*(r[i,j] + c*sum{k: P[k,i,j]*v[k]})}}",
    ),
    (r"\sum_{i'} x_{i'} y_{i'} + x'y", "x, y: vector(n)", "2*x'*y"),
]


@pytest.mark.parametrize(("latex", "let", "text"), PRIMES)
def test_indices_with_primes_and_conditional_tables(latex, let, text):
    assert read(latex, let).node is mc.expression(text, let).node


@pytest.mark.parametrize("name", ["a", r"\mathbf{a}", r"\mathbf{a}^\top", r"\mathbf{a}^{\mathrm{H}}", "A"])
@pytest.mark.parametrize("argument", [r"\omega", "t"])
def test_a_declared_array_of_an_undeclared_argument_is_refused(name, argument):
    with pytest.raises(mc.MatcalcError, match="itself, which depends on"):
        read(rf"P({argument}) = \frac{{1}}{{{name}({argument}) b}}", "a, b: vector(n); A: matrix(n, n)")


ZEROS = [
    ("c e_{t-1} + g_t", "G: matrix(T, d); c: scalar", lambda e, c, G, t: c * e + G[t]),
    (r"\tanh(W e_{t-1} + g_t)", "G: matrix(T, d); W: matrix(d, d)", lambda e, W, G, t: np.tanh(W @ e + G[t])),
]


@pytest.mark.parametrize(("step", "let", "truth"), ZEROS)
@pytest.mark.parametrize("zero", ["0", r"\mathbf{0}"])
def test_a_start_of_zero_has_the_kind_of_the_step(step, let, truth, zero):
    latex = rf"\sum_{{t=1}}^T \|e_t\|^2, \quad e_t = {step}, \quad e_0 = {zero}, \quad t = 1, \ldots, T"
    rng = np.random.default_rng(5)
    data = {"G": rng.standard_normal((4, 3)), "W": rng.standard_normal((3, 3)), "c": 0.7}
    data = {name: data[name] for name in data if f"{name}:" in let}
    e, total = np.zeros(3), 0.0
    for t in range(4):
        e = truth(e, t=t, **data)
        total += np.sum(e * e)
    np.testing.assert_allclose(read(latex, let)(**data), total)
