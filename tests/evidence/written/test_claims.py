"""The built-in check: correct derivatives pass, each one with a fault is rejected, and the check names its points."""

import os
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import matcalc as mc
from matcalc.evidence.explain.derivation import Derivation
from matcalc.evidence.written.claim import Claim
from matcalc.evidence.written.claims import checked
from matcalc.evidence.written.compiled import Result, compiled_check
from matcalc.evidence.written.reference import of_node, of_tree
from matcalc.expressions.expression import Expression
from matcalc.language.read import read
from matcalc.tensor.constructors import add, ones, product, scale, symbol, transpose
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.substitute import substitute

FORMULAS = (
    ("norm2(X*w - y)^2", "w", ""),
    ("sum(log(1 + exp(-y .* (X*w)))) + lam*w'*w", "w", ""),
    ("logdet(S) + tr(inv(S)*C)", "S", "S: matrix(n, n) spd; C: matrix(n, n)"),
    ("y'*inv(K)*y + logdet(K)", "K", "K: matrix(n, n) spd"),
    ("norm2(U*V' - A)^2", "U", ""),
    ("lambda_max(S) + norm_nuc(B)", "S", "S: matrix(n, n) symmetric; B: matrix(m, n)"),
    ("sum(max(A*x, 0))", "x", ""),
    ("tr(expm(A)*B)", "A", ""),
    ("det(L)*x'*x", "L", "L: matrix(n, n) lower"),
    ("prod(x)*c", "x", "c: scalar"),
)
KINDS: dict[str, Callable[[Expression, str], Expression]] = {
    "gradient": lambda e, x: e.gradient(x, check=False),
    "jacobian": lambda e, x: e.jacobian(x, check=False),
    "hessian": lambda e, x: e.hessian(x, check=False),
    "differential": lambda e, x: e.jvp(x, check=False),
    "vjp": lambda e, x: e.vjp(x, check=False),
    "hvp": lambda e, x: e.hvp(x, check=False),
    "value": lambda e, x: e.simplify(check=False),
}
FAULTS: dict[str, Callable[[Node], Node]] = {
    "sign": lambda node: scale(-1, node),
    "twice": lambda node: scale(2, node),
    "a little": lambda node: scale(Fraction("1.00001"), node),
    "another term": lambda node: add([(1, node), (Fraction("1e-3"), ones(node.shape))]),
    "none": lambda node: scale(0, node),
}


def _claim(text: str, wrt: str, declared: str, kind: str) -> tuple[Expression, Expression, Claim]:
    e = mc.expression(text, declared)
    made = KINDS[kind](e, wrt)
    trace = made._trace if kind != "value" else None
    return e, made, Claim(made.node, trace or Derivation("value", e.node), f"the {kind}")


@pytest.mark.sampled(30)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("text", "wrt", "declared"), FORMULAS)
def test_right_results_pass_and_faults_are_refused(text: str, wrt: str, declared: str, kind: str) -> None:
    e, made, claim = _claim(text, wrt, declared, kind)
    assert checked([claim], e.reference, made.names).startswith("at ")
    if made.node.is_zero:
        return
    for name, fault in FAULTS.items():
        wrong = fault(made.node)
        with pytest.raises(mc.InternalError, match="failed its check"):
            print(name, checked([claim._replace(node=wrong)], e.reference, made.names))


def test_a_transposed_result_is_refused() -> None:
    e = mc.expression("tr(A*X*B*X)", "A: matrix(n, n); X: matrix(n, n); B: matrix(n, n)")
    made = e.gradient("X")
    with pytest.raises(mc.InternalError):
        checked([Claim(transpose(made.node), made._trace, "the gradient")], e.reference, made.names)


def test_a_formula_read_as_another_is_refused() -> None:
    """The reference is the text, so the check finds a constructor that loses an index: x'*(1./x) is n."""
    x = symbol("x", mc.symbols("x: vector(n)")[0].node.shape)
    one = mc.expression("1").node
    told = of_tree(read("x'*(1./x)"))
    with pytest.raises(mc.InternalError, match="where the formula as written gives 2"):
        checked([Claim(one, Derivation("value", one, ()), "the value")], told, mc.expression("sum(x)").names)
    assert x.shape


def test_what_was_checked_is_said() -> None:
    g = mc.gradient("norm2(X*w - y)^2", "w")
    assert g.checked.startswith("at m=2, n=3 and m=3, n=1, to ")
    assert mc.gradient("norm2(X*w - y)^2", "w", check=False).checked == "not checked: check=False"
    assert mc.expression("x'*A*x").checked.startswith("at ")
    for e in (mc.hessian("x'*A*x", "x"), *mc.gradient("norm2(U*V')^2", ["U", "V"]), mc.jvp("inv(X)", "X")):
        assert e.checked.startswith("at ")


def test_without_data_or_value_the_reason_is_said() -> None:
    large = mc.gradient("sum(X.^2)", "X", "X: matrix(300, 300)")
    assert large.checked == "not checked: its data are too large"
    nowhere = mc.gradient("sum(log(-exp(x)))", "x")
    assert nowhere.checked.startswith("not checked: no data")

    def refuses_arrays(x: object) -> object:
        return x.formula_only() if type(x).__name__ == "ndarray" else x @ x  # type: ignore[attr-defined, operator]

    told = mc.gradient(refuses_arrays, "x", "x: vector(n)").checked
    assert told.startswith("at ") and "against its own node" in told


def test_an_operation_that_is_linear_in_one_argument_moves_in_it() -> None:
    told = mc.gradient("sum(G.*tie_same(x, z))", "z", "G: vector(n); x: vector(n); z: vector(n)").checked
    assert told.startswith("at ") and "against" not in told


def test_an_index_measured_by_what_stands_around_it() -> None:
    """Its length is known after unification of shapes, not when the tree is evaluated alone."""
    found = mc.gradient("{i: sum{j: [i == j]*x[j]}}'*A*x", "x", "A: matrix(n, n); x: vector(n)")
    assert "against its own node: an index whose length follows" in found.checked
    A, x = np.arange(9.0).reshape(3, 3), np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(found(A=A, x=x), (A + A.T) @ x, rtol=1e-14)


@pytest.mark.parametrize("target", ["numba", "numpy"])
def test_a_compiled_function_is_called(target: str) -> None:
    fn = mc.compile(["A*x", ("x'*x",)], target=target)
    assert fn.checked.startswith("at ")
    assert mc.compile("A*x", target=target, check=False).checked == "not checked: check=False"
    assert mc.value_and_gradient("norm2(X*w - y)^2", "w", target=target).checked.startswith("at ")
    assert mc.compile("A*x", target=target, dtype="float32").checked.startswith("at ")


def test_a_compiled_function_that_is_wrong_is_refused() -> None:
    e = mc.expression("sum(x.^2)*c", "c: scalar")
    symbols = e.names.ordered()
    results = [Result("result", e.node, e.reference), Result("other", e.node, of_node(e.node))]

    def function(data: dict[str, np.ndarray]) -> list[np.ndarray]:
        return [data["c"] * np.sum(data["x"] ** 2)] * 2

    assert compiled_check(function, results, e.names, symbols).startswith("at ")
    for wrong in (
        lambda data: [function(data)[0] * 1.00001, function(data)[1]],
        lambda data: [function(data)[0], function(data)[1] + 1e-3],
        lambda data: [function(data)[0], np.nan],
        lambda data: [np.ones(2), function(data)[1]],
    ):
        with pytest.raises(mc.InternalError, match="failed its check"):
            compiled_check(wrong, results, e.names, symbols)


SECOND = """
import sys, matcalc as mc
print(mc.compile("tanh(A*x)'*x").checked, "matcalc.evidence.written.compiled" in sys.modules)
"""


@pytest.mark.whole
def test_a_second_process_does_not_check_again(tmp_path: Path) -> None:
    env = {**os.environ, "MATCALC_CACHE": str(tmp_path)}
    said = [subprocess.run([sys.executable, "-c", SECOND], env=env, capture_output=True, text=True) for _ in range(2)]
    first, second = (one.stdout.strip() for one in said)
    assert first.startswith("at ") and first.endswith("True"), said[0].stderr
    assert second == first.removesuffix("True") + "False", said[1].stderr


def test_names_that_are_sizes_alone_are_numbers() -> None:
    e = mc.expression("sum(x)/n + k", "x: vector(n); k: size")
    assert e.gradient("x").checked.startswith("at ")


@pytest.mark.parametrize("text", ["tie_mean(y, z)", "real_values(z, y)", "equal_mean(y, z)"])
def test_what_is_linear_in_an_argument_moves_with_it(text: str) -> None:
    assert mc.expression(text).jvp("z").checked.startswith("at ")


def test_a_constant_within_its_own_node_has_no_other_reference() -> None:
    e = mc.expression("matfun_at(exp, S, a, stop(B))", "S: matrix(n, n) symmetric; a: scalar; B: matrix(n, n)")
    assert str(e.jvp("B")) == "zeros(n, n)"
    assert "against its own node" in e.jvp("B").checked


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["gradient", "hessian", "hvp"])
@pytest.mark.parametrize("fact", ["symmetric", "lower", "skew"])
def test_what_directions_do_not_see_is_refused(fact: str, kind: str) -> None:
    """A gradient in a symmetric matrix is symmetric; another with the same slopes along symmetric matrices is not."""
    e, made, claim = _claim("tr(N*S*S*S)", "S", f"S: matrix(n, n) {fact}; N: matrix(n, n)", kind)
    assert checked([claim], e.reference, made.names).startswith("at ")
    rank = len(made.node.shape)
    n = made.node.shape[0]
    beside = mc.expression({"symmetric": "M - M'", "lower": "triu(M, 1)", "skew": "M + M'"}[fact], "M: matrix(n, n)")
    other = beside.node
    if rank == 4:
        ones_first = symbol("S", (n, n), (fact,))
        other = product(1, [(ones_first, (0, 1)), (beside.node, (2, 3))], (0, 1, 2, 3))
    wrong = substitute(add([(1, made.node), (1, other)]), {beside.names.symbols["M"]: e.names.symbols["N"]})
    with pytest.raises(mc.InternalError, match="linear hull"):
        checked([claim._replace(node=wrong)], e.reference, made.names)


@pytest.mark.parametrize("text", ["care(A, eye(2), -eye(2), eye(2))", "dare(A, eye(2), -eye(2), eye(2))"])
def test_equations_without_a_solution_are_refused(text: str) -> None:
    e = mc.expression(text, "A: matrix(2, 2)")
    with pytest.raises(np.linalg.LinAlgError, match="no stabilising solution"):
        e(A=np.array([[0.1, 0.7], [-0.7, 0.1]]))


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("text", "wrt"),
    [
        ("root(w + w.^3 - x, w, start=x)", "x"),
        ("root(w + abs(w)/2 - x, w, start=x)", "x"),  # drops an imaginary part
        ("root(w + max(w, 0) - x, w, start=x)", "x"),
        ("root(2*w + norm2(w)*x - x, w, start=x)", "x"),
        ("root(w + besselj(0, w)/9 - x, w, start=x)", "x"),  # SciPy has it for real numbers only, as for the last two
        ("root(w + log_ndtr(w)/9 - x, w, start=x)", "x"),
        ("root(X'*(sigmoid(X*w) - y) + lam*w, w, start=zeros(n))", "lam"),
    ],
)
def test_solutions_are_compared_whatever_functions_are_in_their_equations(text, wrt):
    e = mc.expression(
        text, "lam: scalar positive; w: vector(n); " + ("X: matrix(m, n)" if "X" in text else "x: vector(n)")
    )
    assert e.checked.startswith("at ")
    assert "against" not in e.checked
    assert e.jacobian(wrt).checked.startswith("at ")


def test_a_size_that_no_given_symbol_shows_is_drawn():
    pulled = mc.expression("ones(q)*x'", "q: size").vjp("x")
    assert str(pulled) == "sum(G, axis=0)"
    assert "q=" in pulled.checked


@pytest.mark.whole
def test_second_derivatives_of_norms_at_0_are_left_out() -> None:
    """Along an axis of length 1 log_softmax is 0 everywhere, and the Hessian of its norm is NaN, as documented."""
    e = mc.expression("sum(norm2(log_softmax(A, axis=1), axis=0))", "A: matrix(n, m)")
    assert e.hvp("A").checked.startswith("at n=2, m=3, to ")


def test_a_printed_quotient_in_a_comparison_is_read_where_it_is_0_over_0() -> None:
    """The printed `tanh(x)./x` in a comparison is NaN, hence false, where the call and the formula take 1 for it."""
    declared = "A: vector(n); B: vector(n); F: vector(n); H: vector(n)"
    derivative = mc.expression("where(tanhc(min_at(A)) <= B, F, H)", declared).jvp("F")
    assert str(derivative).startswith(
        "when(B >= tanh(min_at(A))./min_at(A)).*dF where "
    ) and derivative.checked.startswith("at n=2")
    found = derivative(
        A=np.array([1.0, 2.0]), B=np.array([2.0, 1.0]), F=np.ones(2), H=np.ones(2), dF=np.array([3.0, 5.0])
    )
    assert found.tolist() == [3.0, 5.0]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("text", "declared", "wrt"),
    [
        ("normalize(relu(betaln(x, y)))", "x: vector(n) positive; y: vector(n) positive", "x"),
        ("outer(x, acos(y))[:, :-1]", "x: vector(n); y: vector(m)", "y"),
        ("digamma(abs(log_besseli_diff(1, 1, A)[:, :-1]) + 1/10)", "A: matrix(n, m)", "A"),
        ("normalize(svd_shrink(A, a))", "A: matrix(n, m); a: scalar nonnegative", "A"),
        ("xlogy(x, abs(xexpm1(when(z >= u))) + 1/10)", "x: vector(3); z: vector(3); u: vector(3)", "x"),
        ("max(xexpm1_diff(1, step(x)), y)", "x: vector(n); y: vector(n)", "y"),
    ],
)
def test_points_where_a_part_has_no_value_are_left_out(text: str, declared: str, wrt: str) -> None:
    e = mc.expression(text, declared)
    assert e.jvp(wrt).checked and e.vjp(wrt).checked


def test_a_part_that_is_masked_is_not_left_out() -> None:
    """A condition switches off a part without a value, so NaN in a derivative is a fault there."""
    e, gradient, claim = _claim("sum(where(x > 0, log(x), 0))", "x", "x: vector(n)", "gradient")
    assert "n=2" in checked([claim], e.reference, e.names)
    undefined = mc.expression("sqrt(x).^2./x.^2", "x: vector(n)").node
    with pytest.raises(mc.InternalError):
        checked([claim._replace(node=undefined)], e.reference, e.names)
