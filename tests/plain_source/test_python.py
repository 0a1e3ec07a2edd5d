"""Plain Python: what a person would write, right at random data, and refused by name where it cannot be plain."""

import re

import numpy as np
import pytest
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import approx_fprime

import matcalc as mc
from matcalc.errors import InternalError, NotSupported
from matcalc.plain_source.language import Entry, language

LOGISTIC = "sum(log(1 + exp(-y.*(X*w)))) + lam*w'*w"
LET = "X: matrix(m, n); y: vector(m); w: vector(n); lam: scalar"


def run(text, name="f"):
    scope = {}
    exec(compile(text, "plain", "exec"), scope)
    return scope[name]


def both(formula, declarations, wrt, kind="gradient"):
    """Return the source of a formula and its derivatives."""
    f = mc.expression(formula, declarations)
    return mc.plain([f, getattr(f, kind)(wrt)])


def body(text):
    """Return the statements of the last function, without its docstring."""
    return re.split(r'"""\n', text)[-1].splitlines()


def test_the_logistic_loss_as_a_person_writes_it():
    f = mc.expression(LOGISTIC, LET)
    assert (
        mc.plain([f, f.gradient("w")], name="loss_and_gradient")
        == '''\
import numpy as np
from scipy.special import expit


def loss_and_gradient(X, y, w, lam):
    """Return sum(log(1 + exp(-y.*(X*w)))) + lam*w'*w and its gradient in w.

    X: (m, n), y: (m,), w: (n,), lam: scalar
    """
    z = -y * (X @ w)
    value = np.sum(np.logaddexp(0, z)) + lam * (w @ w)
    gradient_w = 2 * lam * w - X.T @ (y * expit(z))
    return value, gradient_w
'''
    )


def test_one_cholesky_factor_is_shared_between_value_and_derivative():
    text = both("y'*inv(K)*y + logdet(K)", "K: matrix(n, n) spd; y: vector(n)", "y")
    assert [line.strip() for line in body(text)] == [
        "K_chol = cho_factor(K)",
        "s = cho_solve(K_chol, y)",
        "value = y @ s + 2 * np.sum(np.log(np.diag(K_chol[0])))",
        "gradient_y = 2 * s",
        "return value, gradient_y",
    ]
    rng = np.random.default_rng(0)
    A, y = rng.standard_normal((4, 6)), rng.standard_normal(4)
    value, slope = run(text)(A @ A.T, y)
    assert np.isclose(value, y @ np.linalg.solve(A @ A.T, y) + np.linalg.slogdet(A @ A.T)[1], rtol=1e-12)
    assert np.allclose(slope, 2 * cho_solve(cho_factor(A @ A.T), y), rtol=1e-12)


@pytest.mark.parametrize(
    ("formula", "declarations", "expected"),
    [
        ("A*B*C*x", "A: matrix(n, n); B: matrix(n, n); C: matrix(n, n); x: vector(n)", "A @ (B @ (C @ x))"),
        ("X'*diag(d)*X*v", "X: matrix(m, n); d: vector(m); v: vector(n)", "X.T @ (d * (X @ v))"),
        ("tr(A*B')", "A: matrix(m, n); B: matrix(m, n)", "np.sum(A * B)"),
        ("diag(A*B')", "A: matrix(m, n); B: matrix(m, n)", "np.sum(A * B, axis=1)"),
        ("A\\b", "A: matrix(n, n); b: vector(n)", "np.linalg.solve(A, b)"),
        ("A*ones(n)", "A: matrix(m, n)", "np.sum(A, axis=1)"),
        ("{i,j: A[i,k]*B[j,k]}", "A: matrix(m, n); B: matrix(p, n)", "A @ B.T"),
        ("{i,j,k: A[i,r]*B[j,r]*C[k,r]}", "A: matrix(m, q); B: matrix(n, q); C: matrix(p, q)",
         'np.einsum("ij,kj,lj->ikl", A, B, C, optimize=True)'),
        ("where(x > 0, x.^2, -x)", "x: vector(n)", "np.where(x > 0, x**2, -x)"),
        ("logsumexp(X, axis=1)", "X: matrix(m, n)", "logsumexp(X, axis=1)"),
        ("X .- mean(X, axis=0)'", "X: matrix(m, n)", "X - np.mean(X, axis=0)"),
        ("X .* d", "X: matrix(m, n); d: vector(m)", "X * d[:, None]"),
        ("expm(X)", "X: matrix(n, n)", "expm(X)"),
        ("[x; 1; 2*x]", "x: vector(n)", "np.concatenate([x, [1], 2 * x])"),
        ("A[1:, 0] - x[k]", "A: matrix(n + 1, n); x: matrix(p, n); k: index", "A[1:, 0] - x[k]"),
        ("(a + b)*(a - b)/2", "a: scalar; b: scalar", "(a + b) * (a - b) / 2"),
        ("matfun(x -> log(x)^2, S)", "S: matrix(n, n) spd", "matfun(lambda x: np.log(x) ** 2, S)"),
    ],
)  # fmt: skip
def test_statements(formula, declarations, expected):
    assert body(mc.expression(formula, declarations).python())[-1] == f"    return {expected}"


def test_sizes_are_read_from_shapes():
    text = mc.expression("sum(X*w)/m + sum(w)*k", "X: matrix(m, n); w: vector(n); k: size").python()
    assert body(text)[0] == "    m = X.shape[0]"
    assert "def f(X, w, k):" in text


def test_parts_have_the_names_of_their_users():
    text = mc.expression("y'*(K\\y) where K = X*X' + c*eye(n)", "X: matrix(n, p); y: vector(n); c: scalar").python()
    assert body(text)[1] == "    K = X @ X.T + c * np.eye(n)"


def test_names_of_symbols_stay_unless_the_text_needs_them():
    let = "np: vector(n); lambda: scalar; gamma: scalar; value: scalar"
    f = mc.expression("lambda*sum(exp(np)) + gamma + value^2", let)
    text = mc.plain([f, f.gradient("gamma")])
    assert "def f(np_, lambda_, gamma, value):" in text and "value_ = " in text
    x = np.array([1.0, 2.0])
    assert np.isclose(run(text)(x, 2.0, 3.0, 4.0)[0], 2 * np.sum(np.exp(x)) + 19)


def test_derivatives_of_each_kind_share_their_parts():
    f = mc.expression("sum(log(1 + exp(-y.*(X*w))))", "X: matrix(m, n); y: vector(m); w: vector(n)")
    text = mc.plain([f, f.gradient("w"), f.hessian("w"), f.hvp("w")])
    assert sum("X @ w" in line for line in body(text)) == 1
    assert body(text)[-1] == "    return value, gradient_w, hessian_w, hvp_w"
    rng = np.random.default_rng(1)
    X, y, w, v = rng.standard_normal((5, 3)), rng.standard_normal(5), rng.standard_normal(3), rng.standard_normal(3)
    value, slope, H, Hv = run(text)(X, y, w, v)
    assert np.isclose(value, np.sum(np.log1p(np.exp(-y * (X @ w)))))
    assert np.allclose(slope, approx_fprime(w, lambda w: run(text)(X, y, w, v)[0], 1e-7), atol=1e-5)
    assert np.allclose(H, approx_fprime(w, lambda w: run(text)(X, y, w, v)[1], 1e-7), atol=1e-5)
    assert np.allclose(Hv, H @ v, rtol=1e-12)


def test_a_lower_order_is_not_computed_twice_in_another_sign_or_transposed():
    text = both("norm2(T - U*V')^2", "T: matrix(m, n); U: matrix(m, k); V: matrix(n, k)", "V")
    assert body(text)[0] == "    R = T - U @ V.T" and "    gradient_V = -2 * (R.T @ U)" in body(text)


def test_long_lines_are_divided():
    long = " + ".join(f"sin({k}*x)" for k in range(1, 30))
    text = mc.expression(f"sum({long})", "x: vector(n)").python()
    assert max(map(len, text.splitlines())) <= 88
    assert np.isclose(run(text)(np.ones(1)), sum(np.sin(k) for k in range(1, 30)))


def test_a_wrong_table_is_found(monkeypatch):
    monkeypatch.setitem(language("python").calls, "tanh", (Entry("np.sin({0})"),))
    with pytest.raises(InternalError, match="failed its check"):
        mc.expression("sum(tanh(x))", "x: vector(n)").python()


def test_a_text_that_cannot_run_is_found(monkeypatch):
    monkeypatch.setitem(language("python").calls, "tanh", (Entry("no_such_function({0})"),))
    with pytest.raises(InternalError, match="no_such_function"):
        mc.expression("sum(tanh(x))", "x: vector(n)").python()


def test_what_is_not_plain_is_refused_by_name():
    with pytest.raises(NotSupported, match="pfaffian has no plain source"):
        mc.expression("pfaffian(A)", "A: matrix(n, n) skew").python()
    with pytest.raises(NotSupported, match="root has no plain source"):
        mc.expression("sum(root(Y + tanh(A*Y) - b, Y, start=b))", "A: matrix(n, n); b: vector(n)").python()
    with pytest.raises(NotSupported, match="no plain source in cobol"):
        mc.plain("sum(x)", language="cobol")


def test_the_same_input_gives_the_same_bytes():
    text = both(LOGISTIC, LET, "w", "hessian")
    assert both(LOGISTIC, LET, "w", "hessian") == text
    assert not re.search(r"\bv\d\d+\b", text)
