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


PAIRS = {
    # beside the first result, the second one is cheapest with its factor taken out: alone, `(A - A*H'*H*A)*B` is
    ("(B - H'*H*A*B)*C*(B - H'*H*A*B)'", "A*B*C - A*H'*H*A*B*C"): ("A*(B - H'*H*A*B)*C"),
    ("(B - H'*H*A*B)*C*(B - H'*H*A*B)'", "C*A*B*C - C*A*H'*H*A*B*C"): ("C*A*(B - H'*H*A*B)*C"),
    ("(A - B)*C", "H*A*u*x' - H*B*u*x'"): ("H*(A - B)*u*x'"),
}


@pytest.mark.parametrize("formulas", PAIRS)
@pytest.mark.parametrize("is_reversed", [False, True])
def test_what_another_result_computes_costs_nothing(formulas, is_reversed):
    order = slice(None, None, -1 if is_reversed else 1)
    wanted = (formulas[0], PAIRS[formulas])
    roots, expected = ([parse(one, LET)[0] for one in given[order]] for given in (formulas, wanted))
    found = cheaper_sums(roots, Estimate(SIZES))
    assert found == expected, [text(formula_of(one)) for one in found]
    symbols = {s for one in formulas for s in parse(one, LET)[1]}
    rng = np.random.default_rng(0)
    data = {s.name: rng.standard_normal([size.evaluate(SIZES) for size in s.shape]) for s in symbols}
    for root, other in zip(roots, found, strict=True):
        assert np.allclose(*evaluate([root, other], data, SIZES))
