"""Common factors are taken out of sums where that saves operations, and only there."""

import numpy as np
import pytest
from compiler.plan.running import parse

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.compiler.plan.products.cheaper_sums import cheaper_sums
from matcalc.compiler.plan.values.estimate import Estimate
from matcalc.formula.notation.write_node import formula_of
from matcalc.language.write import text

LET = "A, B, C: matrix(n, n); H: matrix(p, n); x, y, u: vector(n); v: vector(p)"
SIZES = {"n": 20, "p": 5}
TEXTS = {
    "A*B + A*C": "A*(B + C)",
    "H*A*H'*H + H*B*H'*H": "H*(A + B)*H'*H",
    "A*B*x + A*C*y": "A*(B*x + C*y)",
    "A*x + B*x": "A*x + B*x",  # a sum of matrices costs as much as a product with a vector
    "x*y' + x*u'": "x*(u + y)'",
    "H'*v*x' + A*H'*v*x'": "(H'*v + A*H'*v)*x'",
}


@pytest.mark.parametrize("formula", TEXTS)
def test_the_operations_decide(formula):
    root, symbols = parse(formula, LET)
    (found,) = cheaper_sums([root], Estimate(SIZES))
    expected, _ = parse(TEXTS[formula], LET)
    assert found is expected, text(formula_of(found))
    rng = np.random.default_rng(0)
    data = {s.name: rng.standard_normal([size.evaluate(SIZES) for size in s.shape]) for s in symbols}
    assert np.allclose(*evaluate([root, found], data, SIZES))
