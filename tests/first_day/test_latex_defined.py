r"""What papers define in other forms than x = ...: borders, diagonals, names in parentheses, arguments by entries."""

import numpy as np
import pytest
from scipy.linalg import fractional_matrix_power

import matcalc as mc

u = np.array([1.0, 2.0, 4.0, 7.0])
S = np.array([[2.0, 0.5, 1.0], [0.5, 3.0, 0.25], [1.0, 0.25, 1.5]])
X = np.array([[0.1, 0.7, -0.3], [1.2, 0.4, 0.5], [0.6, -0.9, 0.8]])
x = np.array([0.5, -1.0, 2.0])


def value(latex, let, **data):
    e = mc.expression(latex, let, dialect="latex")
    return e(**{name: data[name] for name in map(str, e.symbols)})


NEXT = np.roll(u, -1)
BEFORE = np.roll(u, 1)
BORDERS = [
    (r"\sum_{i=1}^N u_i^2 u_{i+1}, \quad u_{N+1} = u_1", np.sum(u**2 * NEXT)),
    (r"\sum_{i=1}^N u_i u_{i-1}^2, \quad u_0 = u_N", np.sum(u * BEFORE**2)),
    (r"\sum_i u_i u_{i+1}, with periodic boundary conditions $u_{N+1} = u_1$.", np.sum(u * NEXT)),
    (
        r"\sum_{i=1}^N (u_{i+1} - 2 u_i + u_{i-1})^2, where $u_0 = u_N$ and $u_{N+1} = u_1$.",
        np.sum((NEXT - 2 * u + BEFORE) ** 2),
    ),
    (r"\sum_{i=0}^N (u_{i+1} - u_i)^2, \quad u_0 = u_{N+1} = 0", np.sum(np.diff(np.r_[0, u, 0]) ** 2)),
    (
        r"\sum_{i=1}^N (u_{i+1} - 2 u_i + u_{i-1})^2, \quad u_0 = a, \; u_{N+1} = b",
        np.sum(np.diff(np.r_[0.5, u, -1.0], 2) ** 2),
    ),
    (
        r"\sum_{i=1}^N (u_{i+1} - u_i)^2 + \|u\|^2, \quad u_{N+1} = 0",
        np.sum(np.diff(np.r_[u, 0]) ** 2) + u @ u,
    ),
    (r"\sum_{i=1}^N (u_{i+1} - u_i)^2 + u_N, \quad u_{N+1} = u_N", np.sum(np.diff(u) ** 2) + u[-1]),
    (r"u_1 + \sum_{i=1}^N (u_i - u_{i-1})^2, \quad u_0 = 0", u[0] + np.sum(np.diff(np.r_[0, u]) ** 2)),
]


@pytest.mark.parametrize(("latex", "truth"), BORDERS)
def test_values_beyond_the_ends(latex, truth):
    np.testing.assert_allclose(value(latex, "u: vector(N); a, b: scalar", u=u, a=0.5, b=-1.0), truth)


@pytest.mark.parametrize(
    "latex",
    [
        r"\sum_{i=1}^N u_i u_{i+2}, \quad u_{N+1} = u_1",
        r"\sum_{i=1}^N u_i u_{i-1}, \quad u_{N+1} = u_1",
        r"\sum_{i=1}^N u_i u_{i+1}, with periodic boundary conditions on $u$.",
        r"\sum_{i=1}^N u_i u_{i+1}, \quad u_{N+2} = u_1",
        r"\sum_{i=1}^{N-1} u_i u_{i-1}, \quad u_0 = 1",
    ],
)
def test_other_values_beyond_the_ends_are_refused(latex):
    with pytest.raises(mc.MatcalcError):
        mc.expression(latex, "u: vector(N)", dialect="latex")


@pytest.mark.parametrize("line", ["x_0 = 0", "x_0 = x_N"])
def test_a_declared_name_is_no_value_beyond_the_ends(line):
    with pytest.raises(mc.MatcalcError):
        latex = rf"\sum_{{i=1}}^N (x_i - x_{{i-1}})^2 + x_0, \quad {line}"
        mc.expression(latex, "x: vector(N); x_0: scalar", dialect="latex")


D = np.diag(S.sum(axis=1))
DEGREES = [
    (r"x^\top D^{-1} x, \quad D_{ii} = \sum_j S_{ij}", x @ np.linalg.inv(D) @ x),
    (r"x^\top L x, \quad L = D - S, \quad D_{ii} = \sum_j S_{ij}", x @ (D - S) @ x),
    (
        r"x^\top D^{-1/2} S D^{-1/2} x, where $D$ is the diagonal matrix with $D_{ii} = \sum_{j=1}^n S_{ij}$.",
        x @ fractional_matrix_power(D, -0.5) @ S @ fractional_matrix_power(D, -0.5) @ x,
    ),
    (
        r"x^\top \tilde{D} x, where $\tilde D_{ii} = \sum_j \tilde S_{ij}$ and $\tilde S = S + I$.",
        np.sum((S.sum(axis=1) + 1) * x**2),
    ),
    (r"\sum_i D_{ii} x_i, where $D_{ii} = \sum_j S_{ij}$.", np.sum(S.sum(axis=1) * x)),
]


@pytest.mark.parametrize(("latex", "truth"), DEGREES)
def test_a_matrix_with_a_diagonal_alone(latex, truth):
    np.testing.assert_allclose(value(latex, "S: matrix(n, n) symmetric positive; x: vector(n)", S=S, x=x), truth)


@pytest.mark.parametrize("words", ["is the inverse of the diagonal matrix with", "is the diagonal of the matrix with"])
def test_words_that_change_a_defined_symbol_are_refused(words):
    definition = r"K_{ij} = S_{ij}^2"
    with pytest.raises(mc.MatcalcError, match="only words describe"):
        latex = rf"x^\top K x, where $K$ {words} ${definition}$."
        mc.expression(latex, "S: matrix(n, n); x: vector(n)", dialect="latex")


K = np.exp(-np.sum((X[:, None] - X[None]) ** 2, axis=2))
FENCED = [
    (r"v^\top K v, \quad (K)_{ij} = k(x_i, x_j)", x @ K @ x),
    (r"v^\top K_y^{-1} v, where $(K_y)_{ij} = k(x_i, x_j)$.", x @ np.linalg.solve(K, x)),
    (r"v^\top K_{nn} v, \quad [K_{nn}]_{ij} = k(x_i, x_j)", x @ K @ x),
    (r"v^\top \mathbf{K} v, \quad [\mathbf{K}]_{i,j} = k(x_i, x_j)", x @ K @ x),
    (r"v^\top Q_{nn} v, \quad Q_{nn} = K_{nn} K_{nn}^\top, \quad [K_{nn}]_{ij} = k(x_i, x_j)", x @ K @ K.T @ x),
    (r"v^\top \tilde{K} v, \quad (\tilde{K})_{ij} = k(x_i, x_j)", x @ K @ x),
]


@pytest.mark.parametrize(("latex", "truth"), FENCED)
def test_names_in_parentheses(latex, truth):
    latex += r", \quad k(a, b) = \exp(-\|a - b\|^2)" if "where" not in latex else ""
    latex = latex.replace("$.", r"$, $k(a, b) = \exp(-\|a - b\|^2)$.")
    np.testing.assert_allclose(value(latex, "X: matrix(n, d); v: vector(n)", X=X, v=x), truth)


ARGUMENTS = [r"[p, q, r]^\top", r"(p, q, r)^\top", r"\begin{bmatrix} p \\ q \\ r \end{bmatrix}", r"[p, q, r]^T"]


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_an_argument_that_lists_its_entries(argument):
    latex = rf"\|\pi(S x + x)\|^2, where $\pi({argument}) = \begin{{pmatrix}} p/r \\ 2 q/r \end{{pmatrix}}$."
    v = S @ x + x
    found = value(latex.replace(r"\left", ""), "S: matrix(3, 3); x: vector(3)", S=S, x=x)
    np.testing.assert_allclose(found, (v[0] / v[2]) ** 2 + (2 * v[1] / v[2]) ** 2)


def test_an_argument_with_a_declared_entry_is_refused():
    with pytest.raises(mc.MatcalcError, match="declared"):
        mc.expression(r"f(x), \quad f([p, q, r]^\top) = p q r", "x: vector(3); p: scalar", dialect="latex")


MOST = [
    (r"\max_k x_k^\top v", "X: matrix(n, d); v: vector(d)", np.max(X @ x)),
    (r"\min_{k} x_k^\top S v", "X: matrix(n, d); v: vector(d); S: matrix(d, d)", np.min(X @ S @ x)),
    (
        r"\sum_{t=1}^{n} \max_{k} X_{k,:} S_{t,:}^\top",
        "X: matrix(m, d); S: matrix(n, d)",
        np.sum((X @ S.T).max(axis=0)),
    ),
]


@pytest.mark.parametrize(("latex", "let", "truth"), MOST)
def test_a_largest_value_of_a_product_that_begins_with_a_row(latex, let, truth):
    np.testing.assert_allclose(value(latex, let, X=X, v=x, S=S), truth)


@pytest.mark.parametrize("latex", [r"\max_k x_k a", r"\max_k a x_k b", r"\max_{k} |x_k| \|x\|"])
def test_a_largest_value_of_a_number_times_a_factor_is_refused(latex):
    with pytest.raises(mc.MatcalcError, match="ambiguous"):
        mc.expression(latex, "x: vector(n); a: scalar; b: scalar", dialect="latex")


PAIRS = [
    (r"\sum_{i \neq j}^n S_{ij}", S.sum() - np.trace(S)),
    (r"\sum_{i<j}^n S_{ij}", np.triu(S, 1).sum()),
    (r"\sum_{i \le j}^{n} S_{ij} x_i", (np.triu(S) * x[:, None]).sum()),
]


@pytest.mark.parametrize(("latex", "truth"), PAIRS)
def test_pairs_up_to_a_last_value(latex, truth):
    np.testing.assert_allclose(value(latex, "S: matrix(n, n); x: vector(n)", S=S, x=x), truth)


@pytest.mark.parametrize("start", [r"\hat{y}_1 = y_1", r"\hat{y}_1 = a"])
def test_inputs_of_steps_from_two_count_from_one(start):
    latex = (
        rf"\sum_{{t=2}}^T (y_t - \hat{{y}}_t)^2, \quad \hat{{y}}_t = a \hat{{y}}_{{t-1}} + b v_{{t-1}}, \quad {start}"
    )
    v = np.array([0.3, -0.4, 1.1, 5.0])
    h = [u[0] if start.endswith("y_1") else 0.5]
    for t in range(1, 4):
        h.append(0.5 * h[-1] - 2.0 * v[t - 1])
    found = value(latex, "y: vector(T); v: vector(T); a, b: scalar", y=u, v=v, a=0.5, b=-2.0)
    np.testing.assert_allclose(found, np.sum((u[1:] - np.array(h[1:])) ** 2))
