"""`check` says yes to what is right, names the entry that is wrong, and honours facts."""

import pytest

import matcalc as mc


@pytest.mark.parametrize(
    ("text", "wrt", "declarations"),
    [
        ("tr(inv(X)*A)", "X", ""),
        ("logdet(S) + tr(inv(S)*C)", "S", "S: matrix(n, n) spd; C: matrix(n, n) symmetric"),
        ("norm2(A*x - b)^2", ["x", "A"], ""),
        ("softmax(A*x)", "x", ""),
    ],
)
def test_right_derivatives_pass(text, wrt, declarations):
    assert mc.check(text, wrt, declarations=declarations)


@pytest.mark.parametrize("wrong", ["-inv(X)*A*inv(X)", "inv(X)'*A'*inv(X)'", "-2*inv(X)'*A'*inv(X)'"])
def test_wrong_formulas_are_found(wrong):
    report = mc.check("tr(inv(X)*A)", "X", against=wrong)
    assert not report
    assert "WRONG at [" in str(report)


def test_a_right_formula_passes_however_it_is_written():
    assert mc.check("tr(inv(X)*A)", "X", against="-(inv(X)*A*inv(X))'")


def test_a_wrong_entry_is_named():
    report = mc.check("x'*x", "x", against="2*x + [1; zeros(n - 1)]", declarations="x: vector(n)")
    assert all("WRONG at [0]" in str(line) or line.place == "[0]" for line in report.lines)


def test_a_formula_of_another_shape_is_refused():
    with pytest.raises(mc.ShapeError, match="the formula for X has shape"):
        mc.check("tr(X*A)", "X", against="tr(A)")
