"""Every rewrite on products that almost match its left side: the result has the same value."""

import pytest
from rules.identified_indices import faults

import matcalc as mc
from matcalc.rulebook import default_rulebook

BOOK = default_rulebook()


@pytest.mark.parametrize("rewrite", BOOK.rewrites, ids=str)
@pytest.mark.sampled(540)
@pytest.mark.thinned(20)
def test_indices_are_those_of_the_pattern(rewrite):
    found, _ = faults(rewrite, BOOK)
    assert not found, found


LET = (
    "A: matrix(n, n); B: matrix(n, n); C: matrix(n, n) spd; M: matrix(n, n); Q: matrix(n, n) orthogonal; "
    "x: vector(n); y: vector(n)"
)


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("det((A*B).*eye(n))", "prod(diag(A*B))"),
        ("norm2(diag(diag(Q*M)))", "norm2(diag(Q*M))"),
        ("norm2(Q*A*x)", "norm2(A*x)"),
        ("logdet(diag(diag(B*C*B')))", "logdet(diag(diag(B*C*B')))"),
        ("inv(diag(diag(A*B)))", "diag(1./diag(A*B))"),
    ],
)
def test_a_diagonal_of_a_product_is_no_product(text, simple):
    assert mc.expression(text, LET).simplify() == mc.expression(simple, LET)


def test_the_gradient_of_the_diagonal_of_a_product():
    found = mc.gradient("logdet(diag(diag(B*C*B')))", "B", LET)
    assert found == mc.expression("2*diag(1./diag(B*C*B'))*B*C", LET)
