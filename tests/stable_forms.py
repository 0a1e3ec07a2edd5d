"""Formulas with a removable singularity, with a difference that cancels or with a number that overflows.

Each is an elementwise formula in x, its form for mpmath, and the tested range of x, by sign and powers of ten. The
expected values are mpmath's value and derivatives at 350 digits, in `cases/stable_forms.json`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

mp = mpmath.mp.clone()
mp.dps = 350
FILE = Path(__file__).parent / "cases" / "stable_forms.json"


@dataclass(frozen=True, eq=False)
class Case:
    """A formula in the vector x, its true value as a function of a number, and points."""

    text: str
    truth: Callable[[Any], Any]
    points: np.ndarray
    declarations: str = "x: vector(n)"


def both(low: float, high: float) -> np.ndarray:
    """Return points of both signs with absolute values from 10^low to 10^high, none of them a round number."""
    return np.concatenate([-above(low, high)[::-1], above(low, high)])


def above(low: float, high: float) -> np.ndarray:
    """Return positive points from 10^low to 10^high."""
    return 10.0 ** np.linspace(low + 0.0137, high - 0.0113, 23)


@cache
def truths(case: Case) -> list[np.ndarray]:
    """Return the recorded true value at the points and its first three derivatives."""
    return [np.array(row) for row in recorded()[case.text]]


@cache
def recorded() -> dict[str, list[list[float]]]:
    """Return the true values of all cases; `python tests/stable_forms.py` computes them in some minutes."""
    found: dict[str, list[list[float]]] = json.loads(FILE.read_text())
    return found


def record() -> None:
    """Write the true values of all cases."""
    rows = {c.text: [[float(mp.diff(c.truth, mp.mpf(float(x)), k)) for x in c.points] for k in range(4)] for c in CASES}
    lines = (f"{json.dumps(text)}: {json.dumps(values)}" for text, values in rows.items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def s(z: Any) -> Any:
    return 1 / (1 + mp.exp(-z))


def cdf(z: Any) -> Any:
    return mp.erfc(-z / mp.sqrt(2)) / 2


CASES = [
    # removable singularities
    Case("sin(x)./x", lambda x: mp.sin(x) / x, both(-9, 2)),
    Case("sin(3*x)./(3*x)", lambda x: mp.sin(3 * x) / (3 * x), both(-9, 2)),
    Case("sin(x)./(2*x)", lambda x: mp.sin(x) / (2 * x), both(-9, 2)),
    Case("x.*sin(2*x)./x.^2", lambda x: mp.sin(2 * x) / x, both(-9, 2)),
    Case("sin(x).^2./x.^2", lambda x: (mp.sin(x) / x) ** 2, both(-9, 1)),
    Case("(1 - cos(x))./x.^2", lambda x: (1 - mp.cos(x)) / x**2, both(-9, 1)),
    Case("(exp(x) - 1)./x", lambda x: mp.expm1(x) / x, both(-9, 2.8)),
    Case("(1 - exp(-x))./x", lambda x: -mp.expm1(-x) / x, both(-9, 2.8)),
    Case("expm1(2*x)./x", lambda x: mp.expm1(2 * x) / x, both(-9, 2)),
    Case("log1p(x)./x", lambda x: mp.log1p(x) / x, np.concatenate([-above(-9, 0), above(-9, 5)])),
    Case("log(1 + x)./x", lambda x: mp.log1p(x) / x, np.concatenate([-above(-9, 0), above(-9, 5)])),
    Case("tanh(x)./x", lambda x: mp.tanh(x) / x, both(-9, 3)),
    Case("x./(exp(x) - 1)", lambda x: x / mp.expm1(x), both(-9, 2.8)),
    Case("x./expm1(x)", lambda x: x / mp.expm1(x), both(-9, 2.8)),
    Case("x./(1 - exp(-x))", lambda x: -x / mp.expm1(-x), both(-9, 2.8)),
    # logarithms of differences
    Case("log(1 - exp(-x))", lambda x: mp.log(-mp.expm1(-x)), above(-20, 2.5)),
    Case("log(exp(x) - 1)", lambda x: mp.log(mp.expm1(x)), above(-20, 2.8)),
    Case("log(exp(x + 1) - exp(x))", lambda x: mp.log(mp.exp(x + 1) - mp.exp(x)), both(-3, 3)),
    Case("log(exp(2*x) - exp(x))", lambda x: mp.log(mp.exp(2 * x) - mp.exp(x)), above(-9, 2.8)),
    Case("log(sigmoid(x + 1) - sigmoid(x - 1))", lambda x: mp.log(s(x + 1) - s(x - 1)), both(-3, 2.5)),
    Case("log(1./(1 + exp(-x - 1)) - 1./(1 + exp(-x)))", lambda x: mp.log(s(x + 1) - s(x)), both(-3, 2.5)),
    Case("log(erf(x + 1) - erf(x))", lambda x: mp.log(mp.erfc(x) - mp.erfc(x + 1)), both(-3, 1.2)),
    Case("log((erf(x/sqrt(2) + 0.1) - erf(x/sqrt(2)))/2)",
         lambda x: mp.log((mp.erfc(x / mp.sqrt(2)) - mp.erfc(x / mp.sqrt(2) + mp.mpf(0.1))) / 2), both(-3, 1.6)),
    Case("log(1 - sigmoid(x))", lambda x: -mp.log1p(mp.exp(x)), both(-3, 2.8)),
    Case("log(1 - erf(x))", lambda x: mp.log(mp.erfc(x)), both(-3, 1.4)),
    Case("log(tanh(x))", lambda x: mp.log(mp.tanh(x)), above(-9, 2)),
    # overflow or underflow
    Case("log(1 + exp(3*x))/3", lambda x: mp.log1p(mp.exp(3 * x)) / 3, both(-3, 2)),
    Case("2*(log(1 + exp(x)) - 0.3*x)", lambda x: 2 * (mp.log1p(mp.exp(x)) - mp.mpf(0.3) * x), both(-3, 2.8)),
    Case("log(erfc(x)/2)", lambda x: mp.log(mp.erfc(x) / 2), both(-3, 3)),
    Case("log(erfc(-x/sqrt(2))/2)", lambda x: mp.log(cdf(x)), both(-3, 1.5)),
    Case("log(0.5*(1 + erf(x/sqrt(2))))", lambda x: mp.log(cdf(x)), both(-3, 1.5)),
    Case("log(3*erfc(x))", lambda x: mp.log(3 * mp.erfc(x)), both(-3, 3)),
    Case("exp(-x.^2/2)./erfc(-x/sqrt(2))", lambda x: mp.exp(-x * x / 2) / (2 * cdf(x)), both(-3, 1.5)),
    Case("exp(-x.^2/2)/sqrt(2*pi)./(0.5*(1 + erf(x/sqrt(2))))",
         lambda x: mp.npdf(x) / cdf(x), both(-3, 1.5)),
    Case("exp(-x.^2/2 - log(erfc(-x/sqrt(2))/2))/sqrt(2*pi)", lambda x: mp.npdf(x) / cdf(x), both(-3, 1.5)),
    Case("exp(x.^2).*erfc(x)", lambda x: mp.exp(x * x) * mp.erfc(x), both(-3, 1.2)),
    Case("log(sinh(x))", lambda x: mp.log(mp.sinh(x)), above(-9, 2.8)),
    Case("log(cosh(x))", lambda x: mp.log(mp.cosh(x)), both(-9, 2.8)),
    Case("log(2*cosh(x/2))", lambda x: mp.log(2 * mp.cosh(x / 2)), both(-3, 3)),
    Case("log(besseli(0, x))", lambda x: mp.log(mp.besseli(0, x)), above(-9, 4)),
    Case("cos(1)*x - log(2*pi*besseli(0, x))",
         lambda x: mp.cos(1) * x - mp.log(2 * mp.pi * mp.besseli(0, x)), above(-3, 4)),
    Case("gammaln(3 + 1./x) - gammaln(1./x)", lambda x: mp.loggamma(3 + 1 / x) - mp.loggamma(1 / x), above(-9, 2)),
    Case("gammaln(x/2 + 1/2) - gammaln(x/2)", lambda x: mp.loggamma(x / 2 + 0.5) - mp.loggamma(x / 2), above(-2, 13)),
    Case("exp(x)./(1 + exp(x))", s, both(-3, 2.8)),
    Case("sigmoid(x).*(1 - sigmoid(x))", lambda x: s(x) * s(-x), both(-3, 2.5)),
    Case("1 - sigmoid(x)", lambda x: s(-x), both(-3, 2.5)),
    Case("1 - erf(x)", lambda x: mp.erfc(x), both(-3, 1.3)),
    Case("1 - tanh(x)", lambda x: 2 * s(-2 * x), both(-3, 2.5)),
    Case("(exp(x) - exp(-x))./(exp(x) + exp(-x))", mp.tanh, both(-3, 2.8)),
    Case("(1 - exp(-x))./(1 + exp(-x))", lambda x: mp.tanh(x / 2), both(-3, 2.8)),
    Case("log(x + sqrt(x.^2 + 1))", mp.asinh, both(-9, 6)),
    Case("log(x + sqrt(x.^2 - 1))", mp.acosh, 1 + above(-5, 6)),
    Case("sqrt(x.^2 + 1) - x", lambda x: mp.sqrt(x * x + 1) - x, both(-3, 6)),
    Case("sqrt(1 + x) - 1", lambda x: mp.sqrt(1 + x) - 1, above(-12, 6)),
    Case("exp(x) - 1", mp.expm1, both(-12, 2)),
    Case("1 - cos(x)", lambda x: 1 - mp.cos(x), both(-9, 1)),
    Case("cosh(x) - 1", lambda x: mp.cosh(x) - 1, both(-9, 2)),
    Case("log(1 + x)", mp.log1p, above(-15, 5)),
    Case("log(1 - x)", lambda x: mp.log1p(-x), above(-15, 0)),
    Case("log((1 + x)./(1 - x))/2", mp.atanh, both(-9, 0)),
    Case("(exp(x) - exp(-x))/2", mp.sinh, both(-9, 2)),
]  # fmt: skip

VECTOR_CASES = [
    ("-log(softmax(x))[2]", "x: vector(n)", {"x": [0.0, 800, -800]}, 1600, [0, 1, -1]),
    ("-log(softmax(x)[2])", "x: vector(n)", {"x": [0.0, 800, -800]}, 1600, [0, 1, -1]),
    ("-log(exp(x[2])/sum(exp(x)))", "x: vector(n)", {"x": [0.0, 800, -800]}, 1600, [0, 1, -1]),
    ("log(mean(exp(x)))", "x: vector(n)", {"x": [1000.0, 1000]}, 1000, [0.5, 0.5]),
    ("log(w'*exp(x))", "x: vector(n); w: vector(n) positive", {"x": [1000.0, 1000], "w": [0.3, 0.7]}, 1000, [0.3, 0.7]),
    ("-sum(p.*log(p))", "p: vector(n) nonnegative", {"p": [0.5, 0.5, 0]}, np.log(2), [np.log(2) - 1] * 2 + [np.inf]),
    ("sum(p.*log(p./q))", "p: vector(n) nonnegative; q: vector(n) positive", {"q": [0.25, 0.75], "p": [1.0, 0.0]},
     np.log(4), [-4, 0]),
    ("-2*(y*raw - log(1 + exp(raw)))", "raw: scalar; y: scalar", {"raw": -1000.0, "y": 1.0}, 2000, -2),
    ("gammaln((v + 1)/2) - gammaln(v/2) - log(v*pi)/2 - (v + 1)/2*log(1 + x^2/v)", "x: scalar; v: scalar positive",
     {"x": 1.5, "v": 1e12}, -2.0439385332047828, -1.499999999998125),
    ("sum(gammaln(y + r)) - n*gammaln(r)", "r: scalar positive; y: vector(n)", {"r": 1e8, "y": [3.0, 0, 5]},
     147.36544608161893, 7.999999870000004e-08),
    ("sum(log(erfc(-z/sqrt(2))/2))", "z: vector(n)", {"z": [-40.0, 0]}, -804.60844201377 - np.log(2),
     [40.02496884720726, 0.7978845608028654]),
]  # fmt: skip

if __name__ == "__main__":
    record()
