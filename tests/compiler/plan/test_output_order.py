"""Orders of contraction over all outputs together: shared parts are computed once, with few operations."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.compiler.listing import operations
from matcalc.compiler.plan.rows import output_order
from matcalc.compiler.program import Call, Loop, walk
from matcalc.pipeline import build

BILINEAR = "V: matrix(n, k); S: matrix(n, n); W: matrix(n, m)"
CHAIN = "A: matrix(m, n); B: matrix(n, p); C: matrix(p, q)"


def planned(text, wrt, let, **sizes):
    """Return the Program of a value and its gradients, each as an output."""
    f = mc.expression(text, let)
    outputs = [f, *(f.gradient(name) for name in wrt.split())]
    labels = ["value", *(f"d{name}" for name in wrt.split())]
    return build.planned(build.request_of(outputs, labels, sizes=sizes)).program


def flops(program, sizes):
    return operations(program)[0].evaluate(sizes)


def products_with(program, name):
    """Return how many kernels take a matrix."""
    return sum(name in [p.value for _, p in step.operands] for step in walk(program.steps) if isinstance(step, Call))


def test_a_value_and_its_gradient_have_one_product_with_a_large_matrix():
    """By S*W it takes 2*m*n^2 flops, by V'*S and S*(W*W'*S'*V) twice 2*k*n^2: more for k < m < 2*k."""
    sizes = {"k": 50, "m": 60, "n": 1000}
    program = planned("norm2(V'*S*W)^2", "V", BILINEAR, **sizes)
    assert products_with(program, "S") == 1
    k, m, n = sizes.values()
    assert flops(program, sizes) <= 2 * m * n * n + 4 * k * m * n + 4 * k * m


def test_two_narrow_products_are_taken_where_they_are_less():
    sizes = {"k": 50, "m": 150, "n": 1000}
    program = planned("norm2(V'*S*W)^2", "V", BILINEAR, **sizes)
    assert products_with(program, "S") == 2
    k, m, n = sizes.values()
    assert flops(program, sizes) <= 4 * k * n * n + 4 * k * m * n + 4 * k * m


@pytest.mark.parametrize("sizes", [{"k": 50, "m": 60, "n": 1000}, {"k": 50, "m": 50, "n": 1000}])
def test_gradients_in_two_matrices_share_it(sizes):
    program = planned("norm2(V'*S*W)^2", "V S", BILINEAR, **sizes)
    assert products_with(program, "S") == 1
    k, m, n = (sizes[name] for name in "kmn")
    assert flops(program, sizes) <= 2 * (m + k) * n * n + 6 * k * m * n + 4 * k * m


def test_an_order_that_only_an_output_between_the_others_would_begin():
    """First and last output of norm2(A*B*C)^2 begin with A*B or B*C; an order led by an output between is cheapest."""
    sizes = {"m": 50, "n": 200, "p": 50, "q": 20}
    program = planned("norm2(A*B*C)^2", "A B C", CHAIN, **sizes)
    m, n, p, q = sizes.values()
    assert flops(program, sizes) <= 2 * n * p * q * 2 + 2 * m * n * q * 3 + 2 * n * p * q + 4 * m * q


def test_parts_are_multiplied_by_kernels_whatever_order_the_result_is_wanted_in():
    """A part with as many axes as the result is not transposed for it: it is not the result."""
    sizes = {"m": 50, "n": 200, "p": 50, "q": 20}
    program = planned("norm2(A*B*C)^2", "A B C", CHAIN, **sizes)
    assert not any(isinstance(step, Loop) and len(step.axes) > 2 for step in walk(program.steps))


@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
@pytest.mark.parametrize("sizes", [(5, 6, 9), (4, 9, 5), (1, 1, 1), (3, 3, 3)])
@pytest.mark.whole
def test_values(sizes, target):
    k, m, n = sizes
    rng = np.random.default_rng(k)
    V, S, W = rng.standard_normal((n, k)), rng.standard_normal((n, n)), rng.standard_normal((n, m))
    Y = V.T @ S @ W
    wanted = {"V": 2 * S @ W @ Y.T, "S": 2 * V @ Y @ W.T, "W": 2 * S.T @ V @ Y}
    f = mc.expression("norm2(V'*S*W)^2", BILINEAR)
    for wrt in ("V", "W", "V S", "S W", "V W", "V S W"):
        names = wrt.split()
        fn = mc.compile([f, *(f.gradient(name) for name in names)], target=target, sizes={"k": 50, "m": 60, "n": 900})
        value, *found = fn({"V": V, "S": S, "W": W})
        np.testing.assert_allclose(value, np.sum(Y * Y), rtol=1e-12)
        for name, gradient in zip(names, found, strict=True):
            np.testing.assert_allclose(gradient, wanted[name], rtol=1e-11, atol=1e-11)


def test_few_products_are_tried(monkeypatch):
    tried = []
    real = output_order.with_best_output_order

    def counted(best, plan):
        return real(best, lambda order, form_all: tried.append(order) or plan(order, form_all))

    monkeypatch.setattr("matcalc.compiler.plan.compare.with_best_output_order", counted)
    for text, wrt in (("norm2(V'*S*W)^2", "V S W"), ("norm2(S*W)^2", "W"), ("tr(V'*S*V)", "V")):
        tried.clear()
        planned(text, wrt, BILINEAR)
        assert len(tried) <= output_order.MOST
