"""Ordinary formulas at the points where errors are likeliest: zeros, ties, far ends, weights of 0.

Each row is a formula, its declarations, data (the first is the variable), and the expected value, gradient and Hessian:
closed forms, or digits of mpmath. None: not compared.
"""

from typing import Any, NamedTuple

import mpmath
import numpy as np

EXACT = 1e-15


class Row(NamedTuple):
    """A formula, its data, and the expected values."""

    name: str
    text: str
    declarations: str
    data: dict[str, Any]
    value: Any
    gradient: Any = None
    hessian: Any = None
    close: float = 1e-12


def of(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def ndtr(z: float) -> Any:
    with mpmath.workdps(60):
        return mpmath.erfc(-mpmath.mpf(z) / mpmath.sqrt(2)) / 2


def log_ndtr(z: float) -> float:
    with mpmath.workdps(60):
        return float(mpmath.log(ndtr(z)))


def mills(z: float) -> float:
    with mpmath.workdps(60):
        return float(mpmath.npdf(z) / ndtr(z))


def log_logistic_mass(low: float, high: float) -> float:
    with mpmath.workdps(60):
        return float(mpmath.log(1 / (1 + mpmath.exp(-high)) - 1 / (1 + mpmath.exp(-low))))


def laplacian(a: float, b: float, c: float) -> np.ndarray:
    """Return the Hessian of pair energies (0, 1), (0, 2), (1, 2) of points on a line, from their second derivatives."""
    return of(a + b, -a, -b, -a, a + c, -c, -b, -c, b + c).reshape(3, 3)


V, W = "w: vector(n)", "x: vector(n)"
ZERO3, EYE3 = np.zeros(3), np.eye(3)
THREE = of(3, 0, -4)
SPHERE = (EYE3 - np.outer(THREE, THREE) / 25) / 5
HALF = 0.5 * np.eye(2)
Y = of(1, 0)
TANGENT = "U: matrix(n, n) symmetric; S: matrix(n, n) spd"
SPD = np.array([[2.0, 1.0], [1.0, 3.0]])
COS = "x: vector(n); y: vector(n)"
SAME = of(0.1, 0.7, -0.3)

NORMS = [
    Row("a power 3/4 of squares", "sum(w.^2)^p", V + "; p: scalar", {"w": ZERO3, "p": 0.75}, 0, ZERO3),
    Row("a power 1/2 of squares", "sum(w.^2)^p", V + "; p: scalar", {"w": ZERO3, "p": 0.5}, 0, ZERO3),
    Row("a power 3/2 of squares", "sum(w.^2)^p", V + "; p: scalar", {"w": ZERO3, "p": 1.5}, 0, ZERO3, 0 * EYE3),
    Row("a power 1 of squares", "sum(w.^2)^p", V + "; p: scalar", {"w": ZERO3, "p": 1.0}, 0, ZERO3, 2 * EYE3),
    Row("a written power 3/4", "sum(w.^2)^0.75", V, {"w": ZERO3}, 0, ZERO3),
    Row("a root of a form", "sqrt(w'*A*w)", V + "; A: matrix(n, n) spd", {"w": ZERO3, "A": EYE3}, 0, ZERO3),
    Row("cos of a norm", "cos(norm2(w))", V, {"w": ZERO3}, 1, ZERO3, -EYE3),
    Row("cosh of a norm", "cosh(norm2(w))", V, {"w": ZERO3}, 1, ZERO3, EYE3),
    Row("a power 2 of a norm", "norm2(w)^p", V + "; p: scalar", {"w": ZERO3, "p": 2.0}, 0, ZERO3, 2 * EYE3),
    Row("a power 3 of a norm", "norm2(w)^3", V, {"w": ZERO3}, 0, ZERO3, 0 * EYE3),
    Row("sinc of a norm", "sin(norm2(w))/norm2(w)", V, {"w": ZERO3}, 1, ZERO3, -EYE3 / 3),
    Row("sinc of a norm, squared", "sin(norm2(w))^2/norm2(w)^2", V, {"w": ZERO3}, 1, ZERO3, -2 * EYE3 / 3),
    Row("expm1 of a square over it", "expm1(norm2(w)^2)/norm2(w)^2", V, {"w": ZERO3}, 1, ZERO3, EYE3),
    Row("versine of a norm", "(1 - cos(norm2(w)))/norm2(w)^2", V, {"w": ZERO3}, 0.5, ZERO3, -EYE3 / 12),
    Row("tanh of a norm over it", "tanh(norm2(w))/norm2(w)", V, {"w": ZERO3}, 1, ZERO3, -2 * EYE3 / 3),
    Row("sinc of a root", "sin(sqrt(sum(w.^2)))/sqrt(sum(w.^2))", V, {"w": ZERO3}, 1, ZERO3, -EYE3 / 3),
    Row("Rodrigues", "sin(norm2(w))/norm2(w)*(w'*x)", V + "; x: vector(n)", {"w": ZERO3, "x": of(1, 2, 3)}, 0,
        of(1, 2, 3), 0 * EYE3),
    Row("affine-invariant length", "sqrt(tr(inv(S)*U*inv(S)*U))", TANGENT, {"U": np.zeros((2, 2)), "S": SPD}, 0,
        np.zeros((2, 2))),
    Row("affine-invariant length by solve", "sqrt(tr((S\\U)*(S\\U)))", TANGENT, {"U": np.zeros((2, 2)), "S": SPD}, 0,
        np.zeros((2, 2))),
    Row("affine-invariant length by roots", "norm(inv(sqrtm(S))*U*inv(sqrtm(S)), 'fro')", TANGENT,
        {"U": np.zeros((2, 2)), "S": SPD}, 0, np.zeros((2, 2))),
    Row("p-norm with p = 2", "normp(x, p)", W + "; p: scalar", {"x": THREE, "p": 2.0}, 5, THREE / 5, SPHERE),
    Row("p-norm as a power", "sum(abs(x).^p)^(1/p)", W + "; p: scalar", {"x": THREE, "p": 2.0}, 5, THREE / 5, SPHERE),
    Row("p-norm with p = 3", "normp(x, p)", W + "; p: scalar", {"x": of(2, 0), "p": 3.0}, 2, of(1, 0), 0 * HALF),
    Row("an angle of equal vectors", "acos(x'*y/(norm2(x)*norm2(y)))", COS, {"x": SAME, "y": SAME}, 0),
    Row("an angle of equal directions", "acos(x'*y/norm2(x)/norm2(y))", COS, {"x": SAME, "y": 3 * SAME}, 0),
    Row("an angle of normed vectors", "acos(normalize(x)'*normalize(y))", COS, {"x": SAME, "y": SAME}, 0),
    Row("a cross product with itself", "norm2(cross(x, y))", "x: vector(3); y: vector(3)",
        {"x": SAME, "y": SAME}, 0, ZERO3, None, EXACT),
]  # fmt: skip

ENTROPY = (of(0, 0, -np.inf), np.log(2), ZERO3)
LIKELIHOODS = [
    Row("entropy of logits", "-sum(softmax(x).*log_softmax(x))", W, {"x": ENTROPY[0]}, *ENTROPY[1:]),
    Row("entropy of logits by log", "-sum(softmax(x).*log(softmax(x)))", W, {"x": ENTROPY[0]}, *ENTROPY[1:]),
    Row("entropy of logits by entr", "sum(entr(softmax(x)))", W, {"x": ENTROPY[0]}, *ENTROPY[1:]),
    Row("entropy of logits by a product", "-softmax(x)'*log_softmax(x)", W, {"x": ENTROPY[0]}, *ENTROPY[1:]),
    Row("entropy by logsumexp", "logsumexp(x) - softmax(x)'*x", W, {"x": of(0, 1)},
        np.log(1 + np.e) - np.e / (1 + np.e), of(1, -1) * np.e / (1 + np.e) ** 2),
    Row("softplus by division", "sum(log(1 + exp(b*x))/b)", "x: vector(n); b: scalar", {"x": of(370.0), "b": 10.0},
        370, of(1), of(0).reshape(1, 1)),
    Row("a binomial loss", "-2*(y*raw - log(1 + exp(raw)))", "raw: scalar; y: scalar", {"raw": -1000.0, "y": 1.0},
        2000, -2, 0),
    Row("probit", "sum(log(erfc(-z/sqrt(2))/2))", "z: vector(n)", {"z": of(-40, 3, -8)},
        log_ndtr(-40) + log_ndtr(3) + log_ndtr(-8), of(mills(-40), mills(3), mills(-8)),
        -np.diag([m * (m + z) for m, z in [(mills(-40), -40), (mills(3), 3), (mills(-8), -8)]]), 2e-11),
    Row("log1mexp", "sum(log(1 - exp(-x)))", W, {"x": of(1e-20, 40)}, np.log(1e-20) - np.exp(-40),
        of(1e20, np.exp(-40))),
    Row("an ordered logit", "log(sigmoid(x + 1) - sigmoid(x - 1))", "x: scalar", {"x": -40.0},
        log_logistic_mass(-41, -39), 1),
    Row("an ordered logit by exp", "log(1/(1 + exp(-x - 1)) - 1/(1 + exp(-x + 1)))", "x: scalar", {"x": -40.0},
        log_logistic_mass(-41, -39), 1),
    Row("a normal interval", "log((erf(b/sqrt(2)) - erf(a/sqrt(2)))/2)", "a: scalar; b: scalar", {"a": 10.0, "b": 39.0},
        log_ndtr(-10), -mills(-10)),
    Row("softmax of far logits", "-log(softmax(x))[2]", W, {"x": of(0, 800, -800)}, 1600, of(0, 1, -1), 0 * EYE3),
    Row("von Mises", "k*cos(x) - log(2*pi*besseli(0, k))", "x: scalar; k: scalar positive", {"x": 0.1, "k": 1000.0},
        float(1000 * mpmath.cos(mpmath.mpf("0.1")) - mpmath.log(2 * mpmath.pi) - (1000 + mpmath.log(
            mpmath.besseli(0, 1000) * mpmath.exp(-1000)))), -1000 * np.sin(0.1), -1000 * np.cos(0.1)),
    Row("von Mises in k", "k*cos(x) - log(2*pi*besseli(0, k))", "k: scalar positive; x: scalar",
        {"k": 1000.0, "x": 0.1}, None,
        float(mpmath.cos(mpmath.mpf("0.1")) - mpmath.besseli(1, 1000) / mpmath.besseli(0, 1000)), None, 1e-11),
    Row("Student t", "gammaln((v + 1)/2) - gammaln(v/2) - log(v*pi)/2 - (v + 1)/2*log(1 + x^2/v)",
        "x: scalar; v: scalar positive", {"x": 1.5, "v": 1e12}, -2.043938533204782, -1.499999999998125,
        -0.99999999999425),
    Row("the inverse Mills ratio", "exp(-z^2/2)/sqrt(2*pi)/(erfc(-z/sqrt(2))/2)", "z: scalar", {"z": -40.0},
        40.02496884720726, -0.9993773316214086),
    Row("a logistic loss", "sum(max(x, 0) - x.*y + log1p(exp(-abs(x))))", COS, {"x": of(0, 0), "y": Y},
        2 * np.log(2), 0.5 - Y, HALF / 2),
    Row("a logistic loss by log", "sum(max(x, 0) - x.*y + log(1 + exp(-abs(x))))", COS, {"x": of(0, 0), "y": Y},
        2 * np.log(2), 0.5 - Y, HALF / 2),
    Row("a log sigmoid", "sum(min(x, 0) - log1p(exp(-abs(x))))", W, {"x": of(0, 0)}, -2 * np.log(2), of(0.5, 0.5),
        -HALF / 2),
    Row("log cosh", "sum(abs(x) + log1p(exp(-2*abs(x))) - log(2))", W, {"x": of(0, 0)}, 0, of(0, 0), np.eye(2)),
]  # fmt: skip


def negative_binomial(y: float, mu: float, alpha: float, order: int) -> float:
    """Return the log-likelihood of a count y with mean mu and variance mu + alpha*mu^2, differentiated in alpha."""
    with mpmath.workdps(80):

        def f(a: Any) -> Any:
            r = 1 / a
            own = mpmath.loggamma(y + r) - mpmath.loggamma(r) - mpmath.loggamma(y + 1)
            return own + r * mpmath.log(1 / (1 + a * mu)) + y * mpmath.log(a * mu / (1 + a * mu))

        return float(mpmath.diff(f, mpmath.mpf(alpha), order))


COUNTS = {"alpha": 1e-8, "mu": 2.0, "y": 3.0}
LET = "alpha: scalar positive; mu: scalar positive; y: scalar nonnegative"
NB = [negative_binomial(3, 2, 1e-8, k) for k in range(3)]
BINOMIAL = [
    Row(f"negative binomial {k}", text, LET, COUNTS, *NB, close=1e-7 if k > 9 else 1e-10)
    for k, text in enumerate([
        "gammaln(y + 1/alpha) - gammaln(1/alpha) - gammaln(y + 1) - 1/alpha*log(1 + alpha*mu)"
        " + y*log(alpha*mu/(1 + alpha*mu))",
        "gammaln(y + 1/alpha) - gammaln(y + 1) - gammaln(1/alpha) + y*log(alpha*mu) - (y + 1/alpha)*log(1 + alpha*mu)",
        "gammaln(1/alpha + y) - gammaln(1/alpha) - gammaln(y + 1) - log(1 + alpha*mu)/alpha + y*log(mu)"
        " - y*log(1/alpha + mu)",
        "gammaln(y + 1/alpha) - gammaln(1/alpha) - gammaln(y + 1) - 1/alpha*log1p(alpha*mu) + y*log(mu)"
        " - y*log(mu + 1/alpha)",
    ])
]  # fmt: skip

KINKS = [
    Row("two kinks with slope 1", "sum(max(0, x) + min(0, exp(x) - 1))", W, {"x": of(0, 0)}, 0, of(1, 1)),
    Row("relu less itself", "sum(relu(x) - (x + abs(x))/2)", W, {"x": of(0, 0)}, 0, of(0, 0)),
    Row("parts of a singular matrix", "sum(C.*(psd_part(S) - psd_part(-S)))",
        "S: matrix(n, n) symmetric; C: matrix(n, n) symmetric",
        {"S": of(1, 2, 2, 4).reshape(2, 2), "C": of(1, 0.2, 0.2, 0.2).reshape(2, 2)}, 2.6,
        of(1, 0.2, 0.2, 0.2).reshape(2, 2)),
    Row("a squared hypot", "sum(hypot(x, 2*x).^2)", W, {"x": of(0, 0)}, 0, of(0, 0), 10 * np.eye(2)),
    Row("the largest times the least", "max(x)*min(x)", W, {"x": of(3, 3)}, 9, of(3, 3), 1 - np.eye(2)),
    Row("the last of sorted entries", "sort(x)[2]", W, {"x": of(2, 2, 2)}, 2, of(1, 1, 1) / 3),
    Row("a clip beside a slope", "min(clip(x, -3, 0), -4*x)", "x: scalar", {"x": 0.0}, 0, -1.5),
    Row("a clip under abs", "max(abs(x), clip(x, -3, 0))", "x: scalar", {"x": 0.0}, 0, 0),
    Row("a clip over abs", "min(abs(x), clip(x, 0, 3))", "x: scalar", {"x": 0.0}, 0, 0.5),
    Row("a clip and relu", "max(clip(x, 0, 2), relu(2*x))", "x: scalar", {"x": 0.0}, 0, 1),
]  # fmt: skip

ZEROS = [
    Row("powers 0, 1, 2 at 0", "c'*x.^k", "x: scalar; c: vector(n); k: vector(n)",
        {"x": 0.0, "c": of(5, 3, 7), "k": of(0, 1, 2)}, 5, 3, 14),
    Row("a power 0 at 0", "x^p", "x: scalar; p: scalar", {"x": 0.0, "p": 0.0}, 1, 0, 0),
    Row("a power 1 at 0", "x^p", "x: scalar; p: scalar", {"x": 0.0, "p": 1.0}, 0, 1, 0),
    Row("a weight 0 where x is 0", "sum(g.*sqrt(x))", "x: vector(n); g: vector(n)", {"x": of(0, 4), "g": of(0, 2)}, 4,
        of(0, 0.5), np.diag([0, -1 / 16])),
    Row("xlogy with weight 0", "sum(xlogy(g, x))", "x: vector(n) nonnegative; g: vector(n)",
        {"x": of(0, 4), "g": of(0, 2)}, 2 * np.log(4), of(0, 0.5), np.diag([0, -1 / 8])),
    Row("sin(x)/x", "sum(sin(x)./x)", W, {"x": of(1e-9)}, 1, of(-3.3333333333333337e-10), of(-1 / 3).reshape(1, 1)),
    Row("expm1(x)/x", "sum(expm1(x)./x)", W, {"x": of(1e-9)}, 1 + 5e-10, of(0.5 + 1e-9 / 3),
        of(1 / 3 + 2.5e-10).reshape(1, 1)),
    Row("pairwise energies", "sum{i,j: log((x[i] - x[j])^2)*[j >= i + 1]}", W, {"x": of(1, 2, 4)},
        2 * np.log(2) + 2 * np.log(3), of(-8 / 3, 1, 5 / 3)),
    Row("Lennard-Jones", "sum(triu(1./D.^2 - 1./D, 1)) where D = (x .- x').^2", W, {"x": of(1, 2, 4)},
        0 + (1 / 81 - 1 / 9) + (1 / 16 - 1 / 4), None, laplacian(14, 20 / 3**6 - 6 / 3**4, 20 / 2**6 - 6 / 2**4)),
    Row("distances", "sum({i,j: sqrt(sum{k: (X[i,k] - X[j,k])^2})})", "X: matrix(m, n)",
        {"X": of(0, 0, 1, 0, 0, 2).reshape(3, 2)}, 2 * (3 + 5**0.5),
        of(-2, -2, 2 + 2 / 5**0.5, -4 / 5**0.5, -2 / 5**0.5, 2 + 4 / 5**0.5).reshape(3, 2)),
    Row("norm_nuc of factors", "norm_nuc(U*V')", "U: matrix(m, r); V: matrix(n, r)",
        {"U": of(1, 0, 2).reshape(3, 1), "V": of(2, -1, 2).reshape(3, 1)}, 3 * 5**0.5,
        3 * of(1, 0, 2).reshape(3, 1) / 5**0.5,
        3 * (EYE3 - np.outer(of(1, 0, 2), of(1, 0, 2)) / 5).reshape(3, 1, 3, 1) / 5**0.5),
]  # fmt: skip

CONSTANT = np.full(1448, 1.81)
ROUNDED = [
    Row("std of a constant whose mean is rounded", "std(x)", W, {"x": CONSTANT}, 0, 0 * CONSTANT, None, EXACT),
    Row("std of a constant column", "std(x)", W, {"x": of(2, 2, 2)}, 0, ZERO3, None, EXACT),
    Row("std along an axis", "sum(std(X, axis=0))", "X: matrix(m, n)", {"X": np.outer(np.ones(3), of(0.1, 2))}, 0,
        np.zeros((3, 2)), None, EXACT),
    Row("equal products", "x*y - z*w", "x: scalar; y: scalar; z: scalar; w: scalar",
        {"x": 0.1, "y": 0.7, "z": 0.7, "w": 0.1}, 0, 0.7, 0, EXACT),
    Row("a root at equal squares", "sum(sqrt(x.^2 - y.^2))", COS, {"x": of(0.1, 1.1), "y": of(0.1, 1.1)}, 0, None, None,
        EXACT),
    Row("squares that overflow", "a^2 - b^2", "a: scalar; b: scalar", {"a": 1e200, "b": 1.0}, np.inf, 2e200, 2, EXACT),
]  # fmt: skip

ROWS = [*NORMS, *LIKELIHOODS, *BINOMIAL, *KINKS, *ZEROS, *ROUNDED]
