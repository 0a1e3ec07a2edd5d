"""States with arguments, conditions below \\max and \\prod, norms that a passage defines, and order statistics."""

import numpy as np
import pytest

import matcalc as mc

RNG = np.random.default_rng(11)
x, A = RNG.standard_normal(4), RNG.standard_normal((4, 4))
INDICES = [(i, j) for i in range(4) for j in range(4)]


def read(latex, let):
    return mc.expression(latex, let, dialect="latex")


def value(e, **data):
    return e(**{name: data[name] for name in map(str, e.symbols)})


CONDITIONS = [
    (r"i \ne j", lambda i, j: i != j),
    ("i < j", lambda i, j: i < j),
    (r"i \le j", lambda i, j: i <= j),
    ("i > j", lambda i, j: i > j),
]
WORDS = [("max", np.max), ("min", np.min), ("prod", np.prod), ("sum", np.sum)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("condition", "holds"), CONDITIONS)
@pytest.mark.parametrize(("word", "function"), WORDS)
@pytest.mark.parametrize("body", ["A_{ij}", r"(A_{ij} + x_i x_j^2)"])
def test_a_condition_on_indices(condition, holds, word, function, body):
    e = read(rf"\{word}_{{{condition}}} {body}", "A: matrix(n, n); x: vector(n)" if "x" in body else "A: matrix(n, n)")
    terms = [A[i, j] + (x[i] * x[j] ** 2 if "x" in body else 0) for i, j in INDICES if holds(i, j)]
    np.testing.assert_allclose(value(e, A=A, x=x), function(terms))


BOUNDS = [
    (r"\prod_{i=1}^n \prod_{j=1}^{i} A_{ij}", [A[i, j] for i, j in INDICES if j <= i], np.prod),
    (r"\prod_{i=1}^{n-1} \prod_{j=i+1}^n A_{ij}", [A[i, j] for i, j in INDICES if j > i], np.prod),
    (r"\max_{1 \le i \le n} \max_{i \le j \le n} A_{ij}", [A[i, j] for i, j in INDICES if j >= i], np.max),
    (r"\prod_{i=2}^{n} \prod_{j=1}^{n-i+1} A_{ij}", [A[i, j] for i, j in INDICES if i >= 1 and i + j <= 3], np.prod),
]


@pytest.mark.parametrize(("latex", "terms", "function"), BOUNDS)
def test_bounds_with_an_outer_index_below_other_commands(latex, terms, function):
    np.testing.assert_allclose(read(latex, "A: matrix(n, n)")(A=A), function(terms))


def test_the_gradient_of_a_product_without_equal_indices():
    """The factors of equal indices would be 0/0."""
    e = read(r"\sum_{j=1}^n y_j \prod_{k \ne j} \frac{t - x_k}{x_j - x_k}", "t: scalar; x, y: vector(n)")
    y = np.array([1.0, -2.0, 0.5, 3.0])

    def truth(t, points):
        return sum(
            y[j] * np.prod([(t - points[k]) / (points[j] - points[k]) for k in range(4) if k != j]) for j in range(4)
        )

    h = 1e-6
    slope = (truth(0.3 + h, x) - truth(0.3 - h, x)) / (2 * h)
    np.testing.assert_allclose(e.gradient("t")(t=0.3, x=x, y=y), slope, rtol=1e-6)
    moved = [(truth(0.3, x + h * d) - truth(0.3, x - h * d)) / (2 * h) for d in np.eye(4)]
    np.testing.assert_allclose(e.gradient("x")(t=0.3, x=x, y=y), moved, rtol=1e-5)


NORMS = [
    r"\|u\|_M^2 = u^\top M u",
    r"\|u\|_M = \sqrt{u^\top M u}",
    r"\lVert u \rVert_{M}^2 := u^\top M u",
    r"\|u\|_Q^2 = u^\top Q u",
]


@pytest.mark.parametrize("definition", NORMS)
@pytest.mark.parametrize("use", [r"\|B x - b\|_M^2", r"\frac12 \|B x - b\|_M^2 + \|b\|_M"])
@pytest.mark.parametrize("order", [1, -1])
def test_a_norm_that_the_passage_defines(definition, use, order):
    lines = [use, definition][::order] if order > 0 else [definition, f"L = {use}"]
    e = read(r", \quad ".join(lines), "B: matrix(m, n); x: vector(n); b: vector(m); M: matrix(m, m) spd")
    data = {"B": RNG.standard_normal((3, 4)), "x": x, "b": RNG.standard_normal(3), "M": np.diag([1.0, 2.0, 3.0])}
    r, b, M = data["B"] @ x - data["b"], data["b"], data["M"]
    expected = r @ M @ r if "frac" not in use else r @ M @ r / 2 + np.sqrt(b @ M @ b)
    np.testing.assert_allclose(value(e, **data), expected)


def test_a_norm_of_a_matrix_that_nothing_defines_is_refused():
    with pytest.raises(mc.MatcalcError, match=r"x\^\\top W x or x\^\\top W\^\{-1\} x"):
        read(r"\|x\|_M^2", "x: vector(n); M: matrix(n, n)")


FORWARD = [
    r"\alpha_1(i) = p_i B_{i,o_1}, \quad \alpha_{t+1}(j) = \left[\sum_{i=1}^N \alpha_t(i) A_{ij}\right] B_{j o_{t+1}}",
    (r"\alpha_1(i) = p_i b_i(o_1), \quad \alpha_{t+1}(j) = \left[\sum_{i=1}^N \alpha_t(i) a_{ij}\right] b_j(o_{t+1})"),
    (r"\alpha_1(i) = p_i b_i(o_1), \quad \alpha_t(j) = b_j(o_t) \sum_{i=1}^N \alpha_{t-1}(i) a_{ij}"),
]


@pytest.mark.parametrize("latex", FORWARD)
def test_states_with_arguments(latex):
    let = "A: matrix(N, N); B: matrix(N, M); p: vector(N); o: index(T)"
    e = read(rf"{latex}, \quad \sum_{{i=1}}^N \alpha_T(i)", let)
    B, o = RNG.uniform(size=(4, 3)), np.array([0, 2, 1, 1])
    alpha = np.abs(x) * B[:, 0]
    for at in o[1:]:
        alpha = (alpha @ A) * B[:, at]
    np.testing.assert_allclose(value(e, A=A, B=B, p=np.abs(x), o=o), alpha.sum())


def test_value_iteration():
    latex = (
        r"V_{k+1}(s) = \max_a \left\{R(s,a) + c \sum_{s'} P(s, a, s') V_k(s')\right\}, \quad V_0(s) = 0, "
        r"\quad k = 0, \ldots, 2, \quad \sum_s V_3(s)"
    )
    R, P = RNG.standard_normal((4, 2)), RNG.uniform(size=(4, 2, 4))
    V = np.zeros(4)
    for _ in range(3):
        V = np.max(R + 0.9 * P @ V, axis=1)
    e = read(latex, "R: matrix(S, A); P: tensor(S, A, S); c: scalar")
    np.testing.assert_allclose(value(e, R=R, P=P, c=0.9), V.sum())


def test_functions_with_an_index_are_no_states():
    e = read(r"\sum_k f_k(z), \quad f_k(x) = w_k^\top x", "W: matrix(K, d); z: vector(d)")
    assert e.node is mc.expression("sum(W*z)", "W: matrix(K, d); z: vector(d)").node


@pytest.mark.parametrize("start", ["x^{(0)} = x_0", "x^{(0)} = u"])
def test_a_start_may_be_declared(start):
    e = read(rf"x^{{(k+1)}} = a x^{{(k)}} + 1, \quad {start}, \quad k = 0, \ldots, 2, \quad x^{{(3)}}", "a, x_0: scalar"
             if "x_0" in start else "a, u: scalar")  # fmt: skip
    np.testing.assert_allclose(value(e, a=0.5, x_0=2.0, u=2.0), 2.0)


FUNCTIONS = [
    (r"\sum_i (H_i - H(z_i))^2, \quad H(t) = a \sqrt{1 + t}", lambda H, z, a: np.sum((H - a * np.sqrt(1 + z)) ** 2)),
    (r"\sum_i H_i H(z_i), \quad H(z) = a (1 + z)^2", lambda H, z, a: np.sum(H * a * (1 + z) ** 2)),
]


@pytest.mark.parametrize(("latex", "truth"), FUNCTIONS)
def test_a_function_with_the_letter_of_declared_data(latex, truth):
    data = {"H": x, "z": np.abs(x), "a": 0.7}
    np.testing.assert_allclose(value(read(latex, "H, z: vector(n); a: scalar"), **data), truth(**data))


@pytest.mark.parametrize(
    "latex", [r"\sum_{i=1}^n a_i x_{(i)}", r"\frac{x_{(n)}}{x_{(1)}}", r"\sum_i (x_{(i)} - a_i)^2"]
)
def test_an_order_statistic_is_no_entry(latex):
    with pytest.raises(mc.MatcalcError, match="order statistic"):
        read(latex, "a, x: vector(n)" if "a" in latex.replace("frac", "") else "x: vector(n)")


@pytest.mark.parametrize("half", ["i+1/2", r"i-\frac{1}{2}", r"i + \tfrac12"])
def test_a_subscript_of_a_half_is_refused(half):
    with pytest.raises(mc.MatcalcError, match="a subscript is a whole number"):
        read(rf"\sum_{{i=2}}^{{n-1}} F_{{{half}}}", "F: vector(n)")


@pytest.mark.parametrize("name", ["L_inf", "L_infty"])
def test_infinity_below_a_letter(name):
    e = read(r"\sum_{i=1}^n (L_i - L_\infty)^2 + L_{\infty}", f"L: vector(n); {name}: scalar")
    assert e.node is mc.expression(f"sum((L - {name}).^2) + {name}", f"L: vector(n); {name}: scalar").node


CHANGES = [r"\Delta p = p (1 - p) a", r"\delta p = p (1 - p) a"]


@pytest.mark.parametrize("latex", CHANGES)
def test_a_change_of_a_declared_name_is_a_label(latex):
    assert read(latex, "p, a: scalar").node is mc.expression("p*(1 - p)*a", "p, a: scalar").node


def test_a_starred_array_beside_entries_of_the_letter():
    latex = r"\sum_{i<j} \frac{(d^{*}_{ij} - d_{ij})^2}{d^*_{ij}}, \quad d_{ij} = x_i x_j"
    D = np.abs(A) + 1
    terms = [(D[i, j] - x[i] * x[j]) ** 2 / D[i, j] for i, j in INDICES if i < j]
    np.testing.assert_allclose(read(latex, "d_star: matrix(n, n); x: vector(n)")(d_star=D, x=x), sum(terms))


def test_the_diagonal_of_a_part():
    latex = r"\sum_{i=1}^n \frac{y_i}{1 - h_{ii}}, \quad H = X X^\top"
    X = RNG.standard_normal((4, 2))
    expected = np.sum(x / (1 - np.diag(X @ X.T)))
    np.testing.assert_allclose(read(latex, "X: matrix(n, p); y: vector(n)")(X=X, y=x), expected)
