"""Factors that commute or cancel leave short results; functions of diagonal matrices are evaluated."""

import pytest

import matcalc as mc

LET = "t: scalar; A: matrix(n, n); B: matrix(n, n); x: vector(n); d: vector(n); c: scalar"
DERIVATIVES = [
    ("expm(t*A)", "t", "A*expm(t*A)"),
    ("expm(-t*A)*x", "t", "-A*expm(-t*A)*x"),
    ("tr(expm(t*A)*B)", "t", "tr(A*expm(t*A)*B)"),
    ("tr(inv(diag(d)*A)*diag(d)*B)", "d", "zeros(n)"),
    ("tr(expm(diag(d)))", "d", "exp(d)"),
    ("tr(logm(diag(d))*B)", "d", "diag(B)./d"),
    ("tr(expm(c*eye(n)))", "c", "n*exp(c)"),
    ("tr(sqrtm(c*eye(n)))", "c", "0.5*n/sqrt(c)"),
    ("norm(x, 4)^4", "x", "4*x.^3"),
    ("norm(A*x, 3)^3/3", "x", "A'*diag(abs(A*x))*A*x"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("text", "wrt", "printed"), DERIVATIVES)
def test_derivatives(text, wrt, printed):
    e = mc.expression(text, LET)
    derived = e.jacobian(wrt) if e.shape else e.gradient(wrt)
    assert str(derived) == printed
