"""Values of built nodes against an independent evaluator of the same texts."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.formula.elaborate.texts import elaborate
from oracle.cases import identities
from oracle.data import SIZES, make
from oracle.values import evaluate as expected
from oracle.values import shaped

LET = "A: matrix(4, 3); B: matrix(3, 5); S: matrix(3, 3) spd; x: vector(3); y: vector(3); u: vector(4); s: scalar"
TEXTS = [
    "A*B", "u'*A*x", "x*y'*x", "[A, u; y', s]", "[x; y][1:5]", "A[1:3, ::-1]", "A'[:, -1]", "x[::-1][1:]",
    "A[:, 1]'*u", "S^3", "S^-2", "S^-T", "S \\ x", "x.^2 ./ (1 + y.^2)", "[1, 2; 3, 4]*[1; 1]", "s + A",
    "A - s", "2^-3*x", "kron(x', y)", "sum(A, axis=0)", "sum(A, axis=1)", "softmax(A, axis=1)",
    "logsumexp(A, axis=0)", "var(A, axis=0, ddof=1)", "max(x, y)", "max(x, 0)", "min(A)",
    "where(x > y, x, 2*y)", "where(x <= 0, -x, x)", "clip(x, -0.5, 0.5)", "{i,j: A[i,k]*B[k,j]}",
    "{i: exp(A[i,k]*x[k])}", "{: exp(x[k])*ones(3)[k]}", "sum{k: x[k] + y[k]}",
    "sum{k: x[k]^2}", "sum{i,k: exp(A[i,k])*u[i]}", "{i: sum{k: exp(A[i,k])}*u[i]}",
    "{i: A[i,k]*sum{j: exp(x[j]*S[j,k])}}",
    "{: atan2(x[k]*x[k], x[k]*y[k])}", "{i: sum{i: x[i]^3}*u[i]}",
    "{k: x[i]*u[j]*ones(6)[k]*[k == i + j]}", "{i,j: S[i,j]*[i >= j]}",
    "{p: A[i,j]*ones(12)[p]*[p == i + j*4]}", "{i: x[j]*ones(3)[i]*[i + j == 2]}",
    "{i,j: A[i,j]*[i == j + 1]}", "{i,j: A[i,j]*[i + j == 1]}", "{i,j: A[i,j]*[i == 2]}",
    "{i: x[j]*ones(5)[i]*[i == j + 2]}", "{i,j: A[i,j]*[i + 1 == j]}", "{i,j: A[i,k]*x[k]*y[j]*[j >= i]}",
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", TEXTS)
def test_value(text: str) -> None:
    check(text, LET, make(LET), {})


@pytest.mark.sampled(9)
@pytest.mark.parametrize("case", identities(), ids=lambda case: case.id)
def test_reference_case(case) -> None:
    check(case.text, case.let, case.sample(), SIZES)


def check(text: str, let: str, data: dict, sizes: dict) -> None:
    found = evaluate(elaborate([text], let).nodes, data, sizes)[0]
    wanted = shaped(expected(text, data, sizes), np.shape(found))
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("text", "value"), [("1e400", np.inf), ("-1e400", -np.inf), ("x + 1e400", np.inf)])
def test_numbers_beyond_double_are_infinite_where_they_are_computed(text, value):
    e = mc.expression(text, "x: scalar")
    given = [2.0] * len(e.symbols)
    assert e(*given) == value
    assert mc.compile(e, target="numpy")(*given) == value
