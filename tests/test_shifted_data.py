"""Sums of differences keep their digits where the data are far from zero.

Multiplied out, a squared difference of numbers near 1e6 has an error of 1e-4. The truth is the formula as written, in
extended precision; gradients are moved by complex steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import matcalc as mc

LET = {
    "X": "X: matrix(n, d)",
    "Y": "Y: matrix(m, d)",
    "Z": "Z: matrix(n, d)",
    "W": "W: matrix(n, m)",
    "u": "u: vector(n)",
    "v": "v: vector(m)",
    "w": "w: vector(n) positive",
    "S": "S: matrix(d, d) spd",
    "c": "c: vector(d)",
}
Function = Callable[..., Any]


def pairs(X: Any, Y: Any) -> Any:
    return ((X[:, None, :] - Y[None, :, :]) ** 2).sum(2)


CASES: dict[str, tuple[str, Function]] = {
    "weighted distances": ("sum{i,j: W[i,j]*norm2(X[i,:] - Y[j,:])^2}", lambda X, Y, W, **_: (W * pairs(X, Y)).sum()),
    "distances": ("sum{i,j: norm2(X[i,:] - Y[j,:])^2}", lambda X, Y, **_: pairs(X, Y).sum()),
    "distances of one set": ("sum{i,j: norm2(X[i,:] - X[j,:])^2}", lambda X, **_: pairs(X, X).sum()),
    "weights of points": ("sum{i,j: w[i]*v[j]*norm2(X[i,:] - Y[j,:])^2}", lambda X, Y, w, v, **_: w @ pairs(X, Y) @ v),
    "weights of columns": (
        "sum{i,j,k: W[i,j]*c[k]*(X[i,k] - Y[j,k])^2}",
        lambda X, Y, W, c, **_: (W[:, :, None] * c * (X[:, None, :] - Y[None, :, :]) ** 2).sum(),
    ),
    "third powers": (
        "sum{i,j,k: W[i,j]*(X[i,k] - Y[j,k])^3}",
        lambda X, Y, W, **_: (W[:, :, None] * (X[:, None, :] - Y[None, :, :]) ** 3).sum(),
    ),
    "fourth powers": (
        "sum{i,j: norm2(X[i,:] - Y[j,:])^4}",
        lambda X, Y, **_: (pairs(X, Y) ** 2).sum(),
    ),
    "kernel": (
        "sum{i,j: W[i,j]*exp(-norm2(X[i,:] - Y[j,:])^2)}",
        lambda X, Y, W, **_: (W * np.exp(-pairs(X, Y))).sum(),
    ),
    "quadratic forms": (
        "sum{i: (X[i,:] - Z[i,:])'*S*(X[i,:] - Z[i,:])}",
        lambda X, Z, S, **_: ((X - Z) * ((X - Z) @ S)).sum(),
    ),
    "quadratic forms of pairs": (
        "sum{i,j: W[i,j]*(X[i,:] - Y[j,:])'*S*(X[i,:] - Y[j,:])}",
        lambda X, Y, W, S, **_: np.einsum("ij,ijk,kl,ijl", W, X[:, None] - Y, S, X[:, None] - Y),
    ),
    "norm of a difference": ("norm2(X - Z)^2", lambda X, Z, **_: ((X - Z) ** 2).sum()),
    "Gram matrix of a difference": ("tr((X - Z)*S*(X - Z)')", lambda X, Z, S, **_: ((X - Z) * ((X - Z) @ S)).sum()),
    "columns": ("sum{i,j: W[i,j]*(X[i,0] - Y[j,0])^2}", lambda X, Y, W, **_: (W * (X[:, :1] - Y[:, 0]) ** 2).sum()),
    "neighbours": ("sum((X[1:, :] - X[:-1, :]).^2)", lambda X, **_: ((X[1:] - X[:-1]) ** 2).sum()),
    "variance": ("w'*(X*c - sum(X*c)/n).^2", lambda X, w, c, **_: w @ (X @ c - (X @ c).sum() / len(X)) ** 2),
    "means of columns": (
        "sum{i,k: (X[i,k] - sum{j: X[j,k]}/n)^2}",
        lambda X, **_: ((X - X.sum(0) / len(X)) ** 2).sum(),
    ),
}


def data(shift: float) -> dict[str, Any]:
    rng, n, m, d = np.random.default_rng(3), 5, 4, 3
    B = rng.standard_normal((d, d))
    found = {"X": shift + rng.standard_normal((n, d)), "Y": shift + rng.standard_normal((m, d))}
    found |= {"Z": shift + rng.standard_normal((n, d)), "W": rng.standard_normal((n, m)), "u": rng.standard_normal(n)}
    return found | {"v": rng.standard_normal(m), "w": rng.random(n) + 0.1, "S": B @ B.T + np.eye(d), "c": rng.random(d)}


def slope(f: Function, given: dict[str, Any]) -> Any:
    """Return the gradient in X, moved by complex steps in extended precision."""
    found = np.zeros(given["X"].shape, np.longdouble)
    for at in np.ndindex(found.shape):
        moved = given["X"].astype(np.clongdouble)
        moved[at] += 1e-30j
        found[at] = np.imag(f(**{**given, "X": moved})) / np.longdouble(1e-30)
    return found


@pytest.mark.parametrize("name", [*CASES][:2] + [pytest.param(n, marks=pytest.mark.whole) for n in [*CASES][2:]])
def test_values_and_gradients_far_from_zero(name: str) -> None:
    text, f = CASES[name]
    names = [k for k in LET if k in mc.expression(text, "; ".join(v for k, v in LET.items() if k in text)).symbols]
    let = "; ".join(LET[k] for k in names)
    e = mc.expression(text, let)
    both = mc.value_and_gradient(text, ["X"], let)
    gradient = mc.gradient(e, "X")
    for shift in (0.0, 1e3, 1e6):
        given = {k: data(shift)[k] for k in names}
        exact = {k: a.astype(np.longdouble) for k, a in given.items()}
        value, found = both(*(given[k] for k in both.args))
        want, wanted = f(**exact), slope(f, exact)
        close = 1e-13 * max(1.0, shift)
        scale = f(**{k: np.abs(a - a.mean() * (k in "XYZ")) for k, a in exact.items()})
        for one in (value, e(**given), mc.compile(e)(**given)):
            assert abs(one - want) <= close * max(1, abs(scale)), (shift, float(one), float(want))
        for one in (found[0], gradient(**{k: given[k] for k in gradient.symbols})):
            assert np.max(np.abs(one - wanted)) <= close * max(1, np.max(np.abs(wanted))) * 10, (shift, one, wanted)
