"""Lines of passages in LaTeX: what stands on their left sides, and which array a letter names."""

import numpy as np
import pytest

import matcalc as mc


def read(latex, let):
    return mc.expression(latex, let, dialect="latex")


@pytest.mark.parametrize("link", [r"\log", r"\ln"])
@pytest.mark.parametrize("name", [r"\mu_i", r"(\mu_i)", r"\left(\mu_i\right)"])
@pytest.mark.parametrize("order", [1, -1])
def test_a_logarithm_on_the_left_is_solved_for_the_name(link, name, order):
    r"""In \sum_i y_i \mu_i^2 with \log\mu_i = t_i, \mu_i is \exp(t_i) and not t_i."""
    lines = [r"L = \sum_{i=1}^n y_i \mu_i^2", rf"{link}{name} = a t_i"][::order]
    e = read(r", \quad ".join(lines), "y, t: vector(n); a: scalar")
    y, t = np.array([1.0, 2.0, -0.5]), np.array([0.2, -1.0, 0.4])
    np.testing.assert_allclose(e(y=y, t=t, a=0.7), y @ np.exp(0.7 * t) ** 2)


@pytest.mark.parametrize("label", [r"\log L", r"\ln L(a)", r"\log p(y \mid a)", r"\langle L \rangle", r"\log(L)"])
def test_a_label_is_not_solved(label):
    assert read(f"{label} = a^2 + 1", "a: scalar").node is mc.expression("a^2 + 1", "a: scalar").node


SAME = [
    (r"j = j_0 e^{a}", "j_0, a: scalar", "j_0*exp(a)"),
    (r"x = x_0 + a t^2", "x_0, a, t: scalar", "x_0 + a*t^2"),
    (r"\langle x \rangle = \frac{1}{n} \sum_i x_i", "x: vector(n)", "sum(x)/n"),
    (r"\sum_{i=1}^n (x - x_i)^2", "x: scalar; X: vector(n)", "sum((x - X).^2)"),
    (
        r"\sum_{i=1}^n a_i \|x - x_i\|^2",
        "x: vector(d); X: matrix(n, d); a: vector(n)",
        "sum{i: a[i]*norm2(x - X[i, :])^2}",
    ),
    (
        r"\sum_{i=1}^n a_i \|x - x_i\|^2",
        "x: vector(d); X: matrix(d, n); a: vector(n)",
        "sum{i: a[i]*norm2(x - X[:,i])^2}",
    ),
    (r"\sum_{i=1}^n a_i k(x_i, x), \quad k(u, v) = u^\top v", "x: vector(d); X: matrix(n, d); a: vector(n)", "a'*X*x"),
    (r"\sum_{i=2}^n \|x_i - x_1\|", "X: matrix(n, d)", "sum{i: norm2(X[1:,:][i,:] - X[0,:])}"),
    (r"\sum_{i=1}^n \sum_{j \ne i}^n A_{ij}", "A: matrix(n, n)", "sum{i,j: A[i,j] - A[i,j]*[i == j]}"),
    (r"\sum_{i=1}^n \sum_{j > i}^n A_{ij}", "A: matrix(n, n)", "sum(triu(A, 1))"),
]


@pytest.mark.parametrize(("latex", "let", "text"), SAME)
def test_same(latex, let, text):
    assert read(latex, let).node is mc.expression(text, let).node


DEFINED = [
    r"r = Xw - y, \quad L = \|r\|^2",
    r"r = Xw - y, \quad \|r\|^2",
    r"L = \|r\|^2, \quad r = Xw - y",
    r"L = \|r\|^2, \text{ where } r = Xw - y",
    r"L = \|r\|^2 \quad \text{with } r = Xw - y",
    r"q = Xw, \; r = q - y, \; L = \|r\|^2",
    r"r_i = x_i^\top w - y_i, \quad L = \sum_i r_i^2",
]


@pytest.mark.parametrize("latex", DEFINED)
def test_definitions_on_the_line_of_the_formula(latex):
    let = "X: matrix(m, n); w: vector(n); y: vector(m)"
    assert read(latex, let).node is mc.expression("norm2(X*w - y)^2", let).node


@pytest.mark.parametrize("latex", [r"r = Xw, \quad L = \|w\|^2", r"r = Xw, \quad \|r\|^2, \quad \|w\|^2"])
def test_two_formulas_on_a_line_are_refused(latex):
    with pytest.raises(mc.MatcalcError, match="no formula uses it|several formulas"):
        read(latex, "X: matrix(m, n); w: vector(n)")
