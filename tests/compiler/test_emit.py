"""The text of Programs: names, layout, both targets."""

import ast

import numpy as np
import pytest
from compiler.plan.running import SIZES, check, parse
from scipy import special

import matcalc as mc
from matcalc.compiler.emit.module import emit
from matcalc.compiler.plan import plan


def source(text, declarations, target="numba", sizes=None):
    root, symbols = parse(text, declarations)
    return emit(plan([("value", root)], symbols, sizes), "fn", target)


@pytest.mark.parametrize("target", ["numba", "numpy"])
def test_statements_stand_on_lines_of_bounded_length(target):
    text = source("norm2(tanh(X*tanh(X'*tanh(X*tanh(X'*tanh(X*w))))))^2", "X: matrix(m, n); w: vector(n)", target)
    ast.parse(text)
    assert all(len(line) <= 110 for line in text.splitlines()[2:])
    assert all(";" not in line.partition("#")[0] for line in text.splitlines()[2:])


@pytest.mark.parametrize("target", ["numba", "numpy"])
def test_names_of_users_are_kept_clear_of_reserved_ones(target):
    declarations = "lambda: scalar; np: matrix(m, n); gemv: vector(n); range: vector(m); i: matrix(n, m); v3: vector(q)"
    text = "lambda*range'*np*gemv + norm2(np*i*range)^2 + sum(exp(v3))"
    root, symbols = parse(text, declarations)
    check([("value", root)], symbols, target)
    assert "lambda_" in emit(plan([("value", root)], symbols), "fn", target)


def test_same_bytes_every_time():
    arguments = ("tr(inv(A)*B) + sum(exp(A))", "A: matrix(n, n); B: matrix(n, n)")
    assert source(*arguments) == source(*arguments)


def test_vector_form_has_no_loops():
    text = source("sum(log(1 + exp(-y .* (X*w))))", "X: matrix(m, n); y: vector(m); w: vector(n)", "numpy")
    assert "for " not in text


def test_products_are_kernels_and_the_rest_one_loop():
    text = source("sum(log(1 + exp(-y .* (X*w))))", "X: matrix(m, n); y: vector(m); w: vector(n)")
    assert text.count("for ") == 1
    assert text.count("gemv(") == 1


def test_faults_return_their_number():
    text = source("y'*inv(S)*y", "S: matrix(n, n) spd; y: vector(n)")
    assert "if status != 0:" in text
    assert "return 1" in text
    assert "S is not positive definite" in text


def test_sizes_come_from_shapes():
    root, symbols = parse("sum(x)*n", "x: vector(2*n + 1)")
    assert "n = (x.shape[0] - 1)//2" in emit(plan([("value", root)], symbols, SIZES), "fn", "numba")


TURNED = {
    "vec(A)": lambda A: A.T.ravel(),
    "vec(A')": np.ravel,
    "reshape(A, n, m)": lambda A: A.reshape((4, 3), order="F"),
}
OF_TWO = {
    "erfinv(X./(1 + X.^2))": lambda X: special.erfinv(X / (1 + X**2)),
    "exp(X./(1 + X.^2))": lambda X: np.exp(X / (1 + X**2)),
    "digamma(2 + X./(1 + X.^2))": lambda X: special.digamma(2 + X / (1 + X**2)),
    "gammaln(2 + X./(2 + cos(X)))": lambda X: special.gammaln(2 + X / (2 + np.cos(X))),
    "sort(X./(1 + X.^2))": lambda X: np.sort(X / (1 + X**2)),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("inner", TURNED)
@pytest.mark.parametrize("outer", OF_TWO)
def test_views_of_what_is_written_again(outer, inner):
    """A buffer bound to a transposed expression has its columns first, so its reshape would copy."""
    A = np.random.default_rng(5).standard_normal((3, 4))
    fn = mc.compile(outer.replace("X", f"({inner})"), declarations="A: matrix(m, n)", target="numpy")
    np.testing.assert_allclose(fn(A), OF_TWO[outer](TURNED[inner](A)), rtol=1e-12)
