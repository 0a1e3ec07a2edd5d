"""Kinds of undeclared names in powers, capitals read as scalars, transposed Greek names, sizes beside indices."""

import numpy as np
import pytest

import matcalc as mc

SIZES = [
    "A^k",
    "A^(2*k - 1)",
    "A'^k",
    "inv(A)^k",
    "(A*B)^k",
    "(A + B)^k",
    "expm(A)^k",
    "k*A^k",
    "K = A*B; K^k",
    "tr(A^k)*b",
    "x'*A^k*y",
]


@pytest.mark.parametrize("text", SIZES)
def test_the_power_of_a_matrix_is_a_size(text):
    e = mc.expression(text)
    assert "k" not in e.names.symbols and len(e.names.symbols["A"].shape) == 2
    assert mc.expression(str(e), e.declarations).node is e.node


SCALARS = ["x^k", "(x'*A*x)^k", "a^b", "alpha^k", "norm2(x)^k"]


@pytest.mark.parametrize("text", SCALARS)
def test_the_power_of_a_scalar_is_a_scalar(text):
    e = mc.expression(text)
    assert e.shape == () and all(e.names.symbols[n].shape == () for n in ("k", "b") if n in e.names.symbols)
    assert ("k" in e.names.symbols) == ("k" in text)


def test_the_gradient_of_a_power_is_that_of_its_factors():
    P, p, r = np.array([[0.5, 0.2], [-0.3, 0.8]]), np.array([1.0, 2.0]), np.array([0.5, -1.0])
    value = mc.gradient("p'*P^k*r", "P")
    for k in (1, 2, 5):
        power = lambda n: np.linalg.matrix_power(P, n)  # noqa: E731
        expected = sum(np.outer(power(j).T @ p, power(k - 1 - j) @ r) for j in range(k))
        np.testing.assert_allclose(value(P=P, p=p, r=r, k=k), expected, atol=1e-14)
        trace = mc.gradient("tr(A^n*B)", "A")(A=P, B=np.outer(r, p), n=k)
        np.testing.assert_allclose(trace, expected, atol=1e-14)


REFUSED = {
    "A/B": "it fits with  B: scalar",
    "X/Y*w": "it fits with",
    "A^H": "it fits with",
    "X*w - X": "it fits with",
    "gamma*gamma'": "it fits with  gamma: vector(m) | gamma: matrix(m, n)",
    "mu'*x": "declare it, as in  mu: vector(n)",
    "e^(-x'*x)": "write exp(-x'*x)",
    "e^2": "write exp(2)",
    "e.^x": "write exp(x)",
    "2*e^-x": "write exp(-x)",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_would_be_guessed_is_refused_with_what_fits(text):
    with pytest.raises(mc.ShapeError) as fault:
        mc.expression(text)
    assert REFUSED[text] in fault.value.hint


def test_what_is_declared_or_plain_is_read():
    assert str(mc.expression("gamma'*x", "gamma: vector(n)")) == "gamma'*x"
    assert str(mc.expression("e^x", "e: scalar; x: scalar")) == "e^x"
    assert str(mc.expression("e'*e + sum(e.^2)")) == "2*e'*e"
    assert str(mc.expression("A/B", "B: scalar")) == "A/B"
    assert str(mc.expression("matfun(e -> e^2, S)", "S: matrix(n, n) symmetric").simplify()) is not None
    assert mc.gradient("-mu'*x + x'*S*x", "x").shape == ("m",)


CAPTURED = [
    "{i: A[i,k]*B[k,i]}",
    "{i: A[i,k]*B[k,i]} + diag(C*C')",
    "sum{i: A[i,k]*B[k,i]}",
    "{i: x[i] + A[i,k]*x[k]}",
    "{: A[k,k]}",
]


@pytest.mark.parametrize("text", CAPTURED)
def test_a_size_is_no_index_that_is_summed(text):
    declared = "A: matrix(n, n); B: matrix(n, n); x: vector(n)"
    with pytest.raises(mc.ShapeError, match="'k' is both a size and an index"):
        mc.expression(text, f"{declared}; C: matrix(n, k)")
    mc.expression(text.replace("C*C'", "B"), declared)  # an index where no size has that name


def test_a_size_is_a_place_of_a_longer_axis():
    e = mc.expression("{i: x[n]*y[n]*A[i,0]}", "x: vector(n + 1); y: vector(n + 2); A: matrix(n, 1)")
    x, y = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0, 7.0])
    np.testing.assert_allclose(e(x=x, y=y, A=np.ones((2, 1))), [18.0, 18.0])
