"""`S*W` and `(W'*S)'` are one part for symmetric S: it is computed once, in whichever orientation products read it."""

from collections import Counter

import numpy as np
import pytest
from compiler.plan.running import with_gradients

import matcalc as mc
from matcalc.compiler.plan import plan
from matcalc.compiler.program import Call, walk

SIZES = {"n": 400, "k": 20, "m": 10}
LET = "W: matrix(n, k); V: matrix(n, m); S: matrix(n, n) {}; C: matrix(k, k); T: matrix(n, n) symmetric"
PRODUCTS = {  # formula, whose derivative in W is tested, and the greatest number of products with an n x n matrix
    "tr(W'*S*W*C)": 1,
    "tr(W'*S*W*W'*T*W)": 2,
    "logdet(W'*S*W)": 1,
    "tr(inv(W'*S*W)*(W'*T*W))": 2,
    "norm2(S*W)^2 + tr(W'*S*W*C)": 2,  # S*W and S*(S*W)
    "norm2(V'*S*W)^2": 1,  # V'*S
    "norm2(tanh(S*W))^2": 2,
    "tr(W'*inv(S)*W*C)": 0,
}


def large(program):
    """Return the products with an n x n matrix, by their operands."""
    found = [s for s in walk(program.steps) if isinstance(s, Call) and s.kernel.name in ("gemm", "symm")]
    square = {b.name for b in program.buffers if [str(s) for s in b.shape] == ["n", "n"]}
    return Counter(
        tuple(sorted(p.value for _, p in s.operands)) for s in found if square & {p.value for _, p in s.operands}
    )


@pytest.mark.sampled(8)
@pytest.mark.parametrize("fact", ["symmetric", "spd"])
@pytest.mark.parametrize("text", PRODUCTS)
def test_a_product_with_a_symmetric_matrix_is_computed_once(text, fact):
    given = LET.format(fact)
    used = "; ".join(d for d in given.split("; ") if d[0] in text.replace("tr", "").replace("logdet", ""))
    outputs, inputs = with_gradients(text, used, "W")
    found = large(plan(outputs, inputs, SIZES))
    assert sum(found.values()) <= PRODUCTS[text], found
    assert all(count == 1 for count in found.values()), found


def test_one_that_is_not_symmetric_is_not_taken_for_its_transpose():
    text, let = "tr(W'*S*W*C)", "W: matrix(n, k); S: matrix(n, n); C: matrix(k, k)"
    assert sum(large(plan(*with_gradients(text, let, "W"), SIZES)).values()) == 2


@pytest.mark.sampled(16)
@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize("text", PRODUCTS)
def test_gradients_are_those_of_differences(text, target):
    rng = np.random.default_rng(3)
    n, k, m = 6, 3, 4
    S = rng.standard_normal((n, n))
    data = {
        "W": rng.standard_normal((n, k)), "V": rng.standard_normal((n, m)), "S": S @ S.T + n * np.eye(n),
        "C": rng.standard_normal((k, k)), "T": (S + S.T) / 2,
    }  # fmt: skip
    used = "; ".join(d for d in LET.format("spd").split("; ") if d[0] in text.replace("tr", "").replace("logdet", ""))
    fn = mc.value_and_gradient(text, "W", declarations=used, target=target)
    value, gradient = fn(**{a: data[a] for a in fn.args})
    E, h = rng.standard_normal((n, k)), 1e-5
    ends = [fn(**{a: data[a] + s * h * E if a == "W" else data[a] for a in fn.args})[0] for s in (1, -1)]
    np.testing.assert_allclose(np.vdot(gradient, E), (ends[0] - ends[1]) / (2 * h), rtol=2e-7, atol=1e-7 * abs(value))
