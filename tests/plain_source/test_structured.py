"""Matrices of known structure are applied without being formed; the values equal those of the formed matrices."""

import numpy as np
import pytest
from scipy.linalg import convolution_matrix

import matcalc as mc

RNG = np.random.default_rng(3)
M, N, K = 3, 4, 5
A, B, E, T = RNG.standard_normal((M, K)), RNG.standard_normal((N, 2)), np.eye(6), np.tri(6)
X, x, k = RNG.standard_normal((2, K)), RNG.standard_normal(N), np.array([4, 0, 4, 1])

CASES = [
    ("eye(n)[:, 1:]*x", "x: vector(n - 1)", 5, "np.concatenate([[0], x])", E[:, 1:]),
    ("eye(n)[:, :-2]*x", "x: vector(n - 2)", 4, "np.concatenate([x, np.zeros(2)])", E[:, :-2]),
    ("eye(n)[1:-2]*x", "x: vector(n)", 6, "x[1:-2]", E[1:-2]),
    ("eye(n)[:, 1:]'*x", "x: vector(n)", 6, "x[1:]", E[:, 1:].T),
    ("eye(n)[:, 1:-2]*x", "x: vector(n - 3)", 3, "np.concatenate([[0], x, np.zeros(2)])", E[:, 1:-2]),
    ("(eye(n)[1:] - eye(n)[:-1])*x", "x: vector(n)", 6, "x[1:] - x[:-1]", E[1:] - E[:-1]),
    ("tril(ones(n, n))*x", "x: vector(n)", 6, "np.cumsum(x)", T),
    ("triu(ones(n, n))*x", "x: vector(n)", 6, "np.flip(np.cumsum(np.flip(x)))", T.T),
    ("x'*triu(ones(n, n))", "x: vector(n)", 6, "np.cumsum(x)", T),
    ("{i: ones(n)[i]*x[j]*[j >= i]}", "x: vector(n)", 6, "np.flip(np.cumsum(np.flip(x)))", T.T),
    ("{i: ones(n)[i]*x[j]*[i + j == n - 1]}", "x: vector(n)", 6, "np.flip(x)", E[::-1]),
]  # fmt: skip


def loaded(text, declarations):
    """Return the last statement of the plain source of a formula, and its function."""
    source = mc.plain(mc.expression(text, declarations))
    scope = {}
    exec(compile(source, "plain", "exec"), scope)
    return source.splitlines()[-1].removeprefix("    return "), scope["f"]


@pytest.mark.parametrize(("text", "declarations", "size", "statement", "matrix"), CASES, ids=[c[0] for c in CASES])
def test_selections_and_triangles(text, declarations, size, statement, matrix):
    found, function = loaded(text, declarations)
    v = RNG.standard_normal(size)
    assert found == statement
    np.testing.assert_allclose(function(v), matrix @ v, rtol=1e-14, atol=1e-14)


def test_weights_of_rows_and_columns_are_applied_too():
    found, function = loaded(
        "(2*diag(d)*eye(n)[:, 1:] - eye(n)[:, :-1]*diag(c))*x", "d: vector(n); c: vector(n - 1); x: vector(n - 1)"
    )
    assert "eye" not in found
    d, c, v = RNG.standard_normal(6), RNG.standard_normal(5), RNG.standard_normal(5)
    np.testing.assert_allclose(function(d, c, v), (2 * np.diag(d) @ E[:, 1:] - E[:, :-1] @ np.diag(c)) @ v, rtol=1e-14)


@pytest.mark.parametrize(
    ("text", "declarations", "arguments", "expected"),
    [
        ("kron(A, B)*vec(X)", "A: matrix(m, k); B: matrix(n, p); X: matrix(p, k)", (A, B, X),
         np.kron(A, B) @ X.ravel(order="F")),
        ("kron(A, B)'*g", "A: matrix(m, k); B: matrix(n, p); g: vector(m*n)", (A, B, np.arange(12.0)),
         np.kron(A, B).T @ np.arange(12.0)),
        ("kron(A, x)*g", "A: matrix(m, k); x: vector(n); g: vector(k)", (A, x, X[0]), np.kron(A, x[:, None]) @ X[0]),
        ("kron(x, A)'*g", "A: matrix(m, k); x: vector(n); g: vector(m*n)", (A, x, np.arange(12.0)),
         np.kron(x[:, None], A).T @ np.arange(12.0)),
        ("kron(x', A)*g", "A: matrix(m, k); x: vector(n); g: vector(n*k)", (A, x, np.arange(20.0)),
         np.kron(x, A) @ np.arange(20.0)),
        ("kron(A, x')*g", "A: matrix(m, k); x: vector(n); g: vector(n*k)", (A, x, np.arange(20.0)),
         np.kron(A, x) @ np.arange(20.0)),
    ],
)  # fmt: skip
def test_kronecker_products(text, declarations, arguments, expected):
    found, function = loaded(text, declarations)
    assert "np.kron(A, B)" not in found and found.count("@") + found.count("np.kron(A @ g, x)") >= 1
    symbols = list(mc.expression(text, declarations).symbols)
    names = [part.partition(":")[0] for part in declarations.split("; ")]
    given = dict(zip(names, arguments, strict=True))
    np.testing.assert_allclose(function(*(given[name] for name in symbols)), expected, rtol=1e-13, atol=1e-13)


def test_the_gradient_of_a_convolution_is_a_correlation():
    e = mc.vjp("conv(h, v)", "h", declarations="h: vector(p); v: vector(n)")
    source = mc.plain(e)
    scope = {}
    exec(compile(source, "plain", "exec"), scope)
    h, v, G = RNG.standard_normal(3), RNG.standard_normal(5), RNG.standard_normal(7)
    assert 'np.correlate(G, v, "valid")' in source
    given = {"h": h, "v": v, "G": G}
    found = scope["f"](*(given[name] for name in e.symbols))
    np.testing.assert_allclose(found, convolution_matrix(v, 3).T @ G, rtol=1e-13)


def test_a_matrix_that_is_not_square_is_solved_by_least_squares():
    for rows in (3, 8):
        matrix, b = RNG.standard_normal((rows, 5)), RNG.standard_normal(rows)
        _, function = loaded("solve(A, b)", "A: matrix(m, n); b: vector(m)")
        np.testing.assert_allclose(function(matrix, b), np.linalg.pinv(matrix) @ b, rtol=1e-10)


def test_a_slope_of_log_ndtr_has_all_its_digits_far_out():
    source = mc.plain(mc.gradient("sum(log_ndtr(x))", "x", declarations="x: vector(n)"))
    scope = {}
    exec(compile(source, "plain", "exec"), scope)
    with np.errstate(over="ignore"):
        found = scope["f"](np.array([-1e4, 0.0, 40.0]))
    np.testing.assert_allclose(found, [10000.000099999998, np.sqrt(2 / np.pi), 0], rtol=1e-14, atol=1e-300)


@pytest.mark.parametrize(
    ("text", "power"),
    [
        ("{i,j: sum{k: (X[i,k] - Y[j,k])^2}}", 2),
        ("{i,j: norm2({k: Y[j,k] - X[i,k]})}", 1),
    ],
)
def test_differences_of_all_pairs_are_distances(text, power):
    found, function = loaded(text, "X: matrix(m, n); Y: matrix(p, n)")
    assert found.startswith("cdist(")
    given = {"X": RNG.standard_normal((3, 4)), "Y": RNG.standard_normal((5, 4))}
    symbols = mc.expression(text, "X: matrix(m, n); Y: matrix(p, n)").symbols
    expected = np.linalg.norm(given["X"][:, None] - given["Y"], axis=2) ** power
    np.testing.assert_allclose(function(*(given[name] for name in symbols)), expected, rtol=1e-13)


def test_the_gradient_of_distances_is_0_where_points_coincide():
    e = mc.gradient("sum(W.*{i,j: norm2({k: X[i,k] - X[j,k]})})", "X", declarations="X: matrix(m, n); W: matrix(m, m)")
    source = mc.plain(e)
    scope = {}
    exec(compile(source, "plain", "exec"), scope)
    assert "None]" not in source.replace("[:, None] * X", "")
    points, weights = RNG.standard_normal((4, 2)), RNG.standard_normal((4, 4))
    points[1] = points[3]
    gap = points[:, None] - points
    length = np.linalg.norm(gap, axis=2)
    slopes = (weights / np.where(length > 0, length, np.inf))[:, :, None] * gap
    given = {"X": points, "W": weights}
    found = scope["f"](*(given[name] for name in e.symbols))
    np.testing.assert_allclose(found, slopes.sum(axis=1) - slopes.sum(axis=0), rtol=1e-12, atol=1e-13)


SQUARE, TALL, WIDE = RNG.standard_normal((3, 3)), RNG.standard_normal((4, 3)), RNG.standard_normal((3, 5))
SMALL, LONG = np.array([0.5, 1.5, 2.0]), np.array([0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize(
    ("text", "declarations", "statement", "arguments", "expected"),
    [
        ("A'*(diag(p) - p*p')*A", "A: matrix(m, n); p: vector(m)", "(A.T * p) @ A - np.outer(Atp, Atp)",
         {"A": TALL, "p": LONG}, TALL.T @ (np.diag(LONG) - np.outer(LONG, LONG)) @ TALL),
        ("C'*B'*B*C", "B: matrix(m, n); C: matrix(n, k)", "BC.T @ BC",
         {"B": TALL, "C": WIDE}, WIDE.T @ TALL.T @ TALL @ WIDE),
        ("(diag(d) - W)*x", "d: vector(n); W: matrix(n, n); x: vector(n)", "d * x - W @ x",
         {"d": SMALL, "W": SQUARE, "x": WIDE[:, 0]}, (np.diag(SMALL) - SQUARE) @ WIDE[:, 0]),
        ("2*eye(n) - diag(d) + W", "d: vector(n); W: matrix(n, n)", "W - np.diag(d - 2)",
         {"d": SMALL, "W": SQUARE}, 2 * np.eye(3) - np.diag(SMALL) + SQUARE),
        ("W - diag(d) - c*eye(n)", "d: vector(n); W: matrix(n, n); c: scalar", "W - np.diag(d + c)",
         {"d": SMALL, "W": SQUARE, "c": 3.0}, SQUARE - np.diag(SMALL) - 3 * np.eye(3)),
        ("tr(W^3)", "W: matrix(n, n)", "np.sum((W @ W) * W.T)", {"W": SQUARE}, np.trace(SQUARE @ SQUARE @ SQUARE)),
        ("sum(x.*log(x))", "x: vector(n) positive", "np.sum(x * np.log(x))",
         {"x": SMALL}, SMALL @ np.log(SMALL)),
    ],
)  # fmt: skip
def test_products_and_sums_as_a_person_writes_them(text, declarations, statement, arguments, expected):
    found, function = loaded(text, declarations)
    assert found == statement
    np.testing.assert_allclose(function(**arguments), expected, rtol=1e-12, atol=1e-13)
