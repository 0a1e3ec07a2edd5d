"""Definitions of operations are recognised and printed by name, and the name is read as the same node."""

import numpy as np
import pytest

import matcalc as mc

SYMMETRIC = "S: matrix(n, n) symmetric; A: matrix(n, n) symmetric; B: matrix(n, n) symmetric"
CASES = [
    ("svdfun(sign, X)", "X: matrix(m, n)", "polar_U(X)"),
    ("-lambda_max(-S)", SYMMETRIC, "lambda_min(S)"),
    ("-2*lambda_max(-S)*tr(A)", SYMMETRIC, "2*tr(A)*lambda_min(S)"),
    ("lambda_max(-S)", SYMMETRIC, "lambda_max(-S)"),
    ("lambda_max(S)", SYMMETRIC, "lambda_max(S)"),
    ("-lambda_max(A - B)", SYMMETRIC, "lambda_min(B - A)"),
    ("1/lambda_min(S)", "S: matrix(n, n) spd", "1/lambda_min(S)"),
    ("matfun(relu, S)", SYMMETRIC, "psd_part(S)"),
    ("svdfun_at(relu, X, t)", "X: matrix(m, n); t: scalar nonnegative", "svd_shrink(X, t)"),
    ("svdfun_at(relu, X, t)", "X: matrix(m, n); t: scalar", "svdfun_at(relu, X, t)"),  # no threshold if it is negative
    ("vander(x, 4)", "x: vector(n)", "vander(x, 4)"),
    ("vander(x, n)", "x: vector(n)", "vander(x)"),
    ("vander(x, 4)", "x: vector(4)", "vander(x)"),
    ("matfun_at(step, S, gap_middle(eigh_w(S), 2))", SYMMETRIC, "spectral_projector(S, 2)"),
    ("matfun_at(step, S, gap_middle(eigh_w(A), 2))", SYMMETRIC, "matfun_at(step, S, gap_middle(eigh_w(A), 2))"),
]


@pytest.mark.parametrize(("text", "declarations", "printed"), CASES)
def test_a_definition_is_printed_by_its_name(text, declarations, printed):
    e = mc.expression(text, declarations)
    assert str(e).partition(" where ")[0] == printed
    assert mc.expression(printed, declarations).node is e.node


def test_the_least_eigenvalue_by_name_has_its_value():
    S = np.array([[2.0, 1.0], [1.0, -3.0]])
    e = mc.expression("eigh_w(S)[0]", "S: matrix(n, n) symmetric").simplify()
    assert str(e) == "lambda_min(S)"
    assert abs(e(S=S) - np.linalg.eigvalsh(S)[0]) < 1e-14
