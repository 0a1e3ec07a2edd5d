"""The p-th power of a p-norm is a sum of powers; inverses of matrices with scaled rows or columns cancel the scales."""

import re

import numpy as np
import pytest

import matcalc as mc

SUMS = {
    "norm(x, 3)^3": ("3*x.*abs(x)", 3),
    "norm(x, 4)^4": ("4*x.^3", 4),
    "norm(x, 5)^5": ("5*x.^3.*abs(x)", 5),
    "norm(x, 6)^6": ("6*x.^5", 6),
    "norm(x, 7)^7": ("7*x.^5.*abs(x)", 7),
    "norm(x, 8)^8": ("8*x.^7", 8),
    "norm(x, 2.5)^2.5": ("2.5*abs(x).^1.5.*sign(x)", 2.5),
    "norm(x, 1.5)^1.5": ("1.5*sqrt(abs(x)).*sign(x)", 1.5),
    "normp(x, p)^p": ("p*sign(x).*abs(x).^(p - 1)", 2.3),
}


@pytest.mark.parametrize("text", SUMS)
@pytest.mark.sampled(9)
def test_power_of_a_norm(text):
    printed, p = SUMS[text]
    let = "x: vector(n)" + ("; p: scalar positive" if "p)" in text else "")
    e, x = mc.expression(text, let), np.array([0.7, -1.3, 0.0, 2.0])
    given = {"x": x} | ({"p": p} if "p)" in text else {})
    gradient = mc.gradient(e, "x")
    assert str(gradient) == printed
    np.testing.assert_allclose(mc.compile(e)(**given), np.sum(np.abs(x) ** p), rtol=1e-14)
    np.testing.assert_allclose(mc.compile(gradient)(**given), p * np.sign(x) * np.abs(x) ** (p - 1), rtol=1e-13)


@pytest.mark.whole
def test_the_slope_of_the_power_of_a_norm_in_its_order():
    e, x, p = mc.expression("normp(x, p)^p", "x: vector(n); p: scalar positive"), np.array([0.7, -1.3, 2.0]), 2.3
    assert str(mc.gradient(e, "p")) == "abs(x).^p'*log(abs(x))"
    found = mc.compile(mc.gradient(e, "p"))(x=x, p=p)
    np.testing.assert_allclose(found, np.sum(np.abs(x) ** p * np.log(np.abs(x))), rtol=1e-13)


LET = {
    "A": "A: matrix(n, n)",
    "B": "B: matrix(n, n)",
    "d": "d: vector(n)",
    "e": "e: vector(n)",
    "b": "b: vector(n)",
    "c": "c: scalar",
}
INVERSES = {
    "inv(diag(d)*A)": "inv(diag(d)*A)",
    "inv(A*diag(d))": "inv(A*diag(d))",
    "inv(diag(d)*A)*diag(d)": "inv(A)",
    "diag(d)*inv(A*diag(d))": "inv(A)",
    "diag(d)*inv(diag(d)*A)'": "inv(A)'",
    "inv(A*diag(d))'*diag(d)": "inv(A)'",
    "inv(diag(d)*A)*(d.*b)": "inv(A)*b",
    "(diag(d)*A)\\(d.*b)": "inv(A)*b",
    "(diag(d)*A)\\(diag(d)*B)": "inv(A)*B",
    "inv(d.*A)*(d.*B)": "inv(A)*B",
    "d.*((A*diag(d))\\b)": "inv(A)*b",
    "A*inv(diag(d)*A)": "diag(1./d)",
    "inv(A*diag(d))*A": "diag(1./d)",
    "inv(diag(d)*A)'*A'": "diag(1./d)",
    "(A*diag(d))\\(A*b)": "b./d",
    "inv(c*diag(d)*A)*diag(d)": "inv(A)/c",
    "inv(diag(d)*A*B)*diag(d)": "inv(A*B)",
    "inv(diag(d)*A)*diag(d.*b)": "inv(A)*diag(b)",
    "inv(diag(d + b)*A)*diag(d + b)": "inv(A)",
    "inv(diag(d)*A*diag(e))*diag(d)": "inv(A*diag(e))",
    "diag(e)*inv(diag(d)*A*diag(e))": "inv(diag(d)*A)",
    "diag(e)*inv(diag(d)*A*diag(e))*diag(d)": "inv(A)",
    "diag(d)*inv(diag(d)*A*diag(d))*diag(d)": "inv(A)",
    "d.*((diag(d)*A*diag(d))\\(d.*b))": "inv(A)*b",
}


def entries(text, data):
    """Return the value of a formula of these matrices by NumPy."""
    spelled = re.sub(
        r"\((A\*diag\(d\)|diag\(d\)\*A|diag\(d\)\*A\*diag\(d\))\)\\(\w|\((?:[^()]|\([^()]*\))*\))", r"inv(\1)*\2", text
    )
    spelled = re.sub(r"d\.\*(A|B)\b", r"diag(d)*\1", spelled).replace("d.*b", "diag(d)*b").replace("d.*(", "diag(d)*(")
    spelled = spelled.replace("diag(diag(d)*b)", "(diag(d)*diag(b))").replace("c*", "c_*")
    spelled = spelled.replace("*", "@").replace("c_@", "c*").replace("'", ".T")
    return eval(spelled, {"inv": np.linalg.inv, "diag": np.diag, **data})


@pytest.mark.parametrize("text", INVERSES)
@pytest.mark.sampled(12)
def test_scaled_inverse(text):
    rng = np.random.default_rng(0)
    names = [name for name in LET if re.search(rf"\b{name}\b", text)]
    data = {name: rng.standard_normal((3, 3) if name in "AB" else () if name == "c" else 3) for name in names}
    data = {name: value + 3 * np.eye(3) if name in "AB" else value for name, value in data.items()}
    e = mc.expression(text, "; ".join(LET[name] for name in names))
    short = e.simplify()
    assert str(short) == INVERSES[text]
    compiled = mc.compile(short)
    wanted = entries(text, data)
    np.testing.assert_allclose(compiled(**{name: data[name] for name in compiled.args}), wanted, rtol=1e-10, atol=1e-12)
