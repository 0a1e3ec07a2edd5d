"""Names that are close to a declared one, nan, and powers with raised digits."""

import pytest

import matcalc as mc


@pytest.mark.parametrize(
    ("text", "let", "other"),
    [
        ("x'*Sigm*x", "Sigma: matrix(n, n); x: vector(n)", "Sigma"),
        ("sum(weights.^2)", "weigths: vector(n)", "weigths"),
        ("beta0*x", "beta_0: scalar; x: vector(n)", "beta_0"),
    ],
)
def test_a_slip_of_a_declared_name_is_refused(text, let, other):
    with pytest.raises(mc.UnknownName, match="is not declared, and no formula uses") as caught:
        mc.expression(text, let)
    assert f"write {other}" in caught.value.hint and caught.value.text == text


@pytest.mark.parametrize(("text", "let"), [("a'*x", "x: vector(n); b: vector(n)"), ("x'*y_1", "x: vector(n)")])
def test_other_undeclared_names_are_read(text, let):
    assert str(mc.expression(text, let)) == text


def test_nan_is_refused():
    with pytest.raises(mc.UnknownName, match="nan is no number"):
        mc.expression("where(x > 0, x, nan)", "x: vector(n)")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("s²", "s^2"),
        ("A⁻¹*x", "inv(A)*x"),
        ("A¹⁰", "A^10"),
        ("sum(x)² + s⁻³", "sum(x)^2 + s^(-3)"),
        ("(A*A)²", "(A*A)^2"),
    ],
)
def test_raised_digits(text, same):
    let = "A: matrix(n, n) nonsingular; x: vector(n); s: scalar"
    assert mc.expression(text, let).node is mc.expression(same, let).node
