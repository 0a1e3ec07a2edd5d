"""Decimals inside a sum stay where they were written: under every power and every function that takes a number out."""

import re
from itertools import product

import pytest

import matcalc as mc
from matcalc.errors import MatcalcError
from matcalc.formula.notation.length import tokens
from matcalc.rulebook.load import shipped_rulebook

LET = "A: matrix(m, n); K: matrix(n, n); S: matrix(n, n) symmetric; W: matrix(n, n) spd; x, y: vector(n); b: vector(m)"
WRITTEN = [
    "inv(K + 0.1*eye(n))",
    "inv(K/2 + 0.1*eye(n))",
    "y'*inv(K/2 + 0.1*eye(n))*y",
    "y'*inv(K + 0.1*eye(n))*y",
    "2*inv(K + 0.1*eye(n))",
    "sum(sqrt(x.^2 + 0.01))",
    "sum((x + 0.1).^3)",
    "1./(x + 0.1)",
    "norm2(A*x - 0.1*b)",
    "norm2(A*x - 0.1*b)^2",
    "3*norm2(x + 0.1*y)",
    "0.1*norm2(x + 2*y)",
    "inv(eye(n) + 10*K)",
    "inv(K + eye(n)/2)",
    "logdet(eye(n) + 2*K)",
    "y'*inv(A'*A/n + 0.1*eye(n))*y",
]
DERIVATIVES = {
    "y'*inv(K + 0.1*eye(n))*y by K": "-inv(K + 0.1*eye(n))'*y*y'*inv(K + 0.1*eye(n))'",
    "logdet(K + 0.1*eye(n)) by K": "inv(K + 0.1*eye(n))'",
    "logdet(K/2 + 0.1*eye(n)) by K": "inv(K + eye(n)/5)'",
    "sum(log(x + 0.1)) by x": "1./(x + 0.1)",
    "sum(sqrt(x.^2 + 0.01)) by x": "x./sqrt(x.^2 + 0.01)",
    "norm2(A*x - 0.1*b)^2 by x": "2*A'*(A*x - 0.1*b)",
    "logdet(K + 2*S) by S": "inv(K + 2*S) + inv(K + 2*S)'",
}
SUMS = ["C + 0.1*D", "C/2 + 0.1*D", "0.7*C + 0.1*D", "10*C + D", "C - D/2", "C + D/3", "100*C + 10*D"]
KINDS = ["C, D: scalar", "C, D: vector(n)", "C, D: matrix(n, n)", "C, D: matrix(n, n) spd"]
# whose numbers are taken out before they are read: structures and averages, and quotients rounded down
LONGER = {"floor", "circulant", "hankel", "toeplitz", "mean"}


def numbers(text):
    return set(re.findall(r"(?<![\w.])\d[\d.]*(?:e-?\d+)?", text))


@pytest.mark.parametrize("written", WRITTEN)
def test_a_sum_prints_as_written(written):
    e = mc.expression(written, LET)
    assert str(e) == written
    assert mc.expression(str(e), LET).node is e.node


@pytest.mark.parametrize("of", DERIVATIVES)
def test_a_derivative_has_the_numbers_of_its_function(of):
    text, _, wrt = of.partition(" by ")
    assert str(mc.gradient(text, wrt, LET)) == DERIVATIVES[of]


def functions():
    """Return the names of functions of one array."""
    return sorted({rule.spelling for rule in shipped_rulebook().rules.values() if not rule.internal} - LONGER)


@pytest.mark.sampled(240)
@pytest.mark.parametrize("name", functions())
@pytest.mark.thinned(4)
def test_no_function_of_a_sum_is_longer_than_written(name):
    for let in KINDS:
        try:
            if str(mc.expression(f"{name}(C)", let)) != f"{name}(C)":
                continue
        except MatcalcError:
            continue
        for whole, inside in product(("{}", "3*{}"), SUMS):
            written = whole.format(f"{name}({inside})")
            e = mc.expression(written, let)
            printed = str(e).partition(" where ")[0]
            assert tokens(printed) <= tokens(written), (let, printed)
            assert mc.expression(printed, e.declarations).node is e.node, (let, printed)
