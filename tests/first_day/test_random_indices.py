"""Random formulas over indices that are data, each built together with its NumPy function: value and gradient.

Gathered parts are gathered again, multiplied, summed, scattered and passed through functions and operations.
"""

import random

import numpy as np
import pytest

import matcalc as mc

DECLARED = (
    "x: vector(n); y: vector(m); X: matrix(m, n); A: matrix(n, n); r: vector(N); "
    "k: index; i: index(N); j: index(N); g: index(n); h: index(m)"
)


def softmax(x):
    return np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True)


VECTORS = [
    ("x", lambda d: d["x"]),
    ("A*x", lambda d: d["A"] @ d["x"]),
    ("X'*y", lambda d: d["X"].T @ d["y"]),
    ("diag(A)", lambda d: np.diag(d["A"])),
    ("softmax(x)", lambda d: softmax(d["x"])),
    ("A[k, :]", lambda d: d["A"][d["k"]]),
    ("A[:, k]", lambda d: d["A"][:, d["k"]]),
    ("x.*x[g]", lambda d: d["x"] * d["x"][d["g"]]),
    ("cumsum(x)", lambda d: np.cumsum(d["x"])),
    ("flip(x)", lambda d: d["x"][::-1]),
    ("x[g[g]]", lambda d: d["x"][d["g"][d["g"]]]),
]
MATRICES = [
    ("A", lambda d: d["A"]),
    ("A'", lambda d: d["A"].T),
    ("exp(A)", lambda d: np.exp(d["A"])),
    ("tril(A)", lambda d: np.tril(d["A"])),
    ("x*x'", lambda d: np.outer(d["x"], d["x"])),
    ("A[g, :]", lambda d: d["A"][d["g"]]),
    ("sin(A)[:, g]", lambda d: np.sin(d["A"])[:, d["g"]]),
    ("A[g, :]*A", lambda d: d["A"][d["g"]] @ d["A"]),
    ("eye(n)[g, :]", lambda d: np.eye(len(d["x"]))[d["g"]]),
    ("X[h, :]'*X", lambda d: d["X"][d["h"]].T @ d["X"]),
    ("inv(A)", lambda d: np.linalg.inv(d["A"])),
]


def entries(rng):
    """Return a vector of N entries."""
    (u, U), (v, V) = rng.choice(VECTORS), rng.choice(VECTORS)
    (a, A), (b, B) = rng.choice(MATRICES), rng.choice(MATRICES)
    return rng.choice([
        (f"({v})[i]", lambda d: V(d)[d["i"]]),
        (f"({v})[g[i]]", lambda d: V(d)[d["g"][d["i"]]]),
        (f"({a})[i, j]", lambda d: A(d)[d["i"], d["j"]]),
        (f"({a})[i, :]*({v})", lambda d: A(d)[d["i"]] @ V(d)),
        (f"{{t: ({a})[i[t], j[t]]*({v})[j[t]]}}", lambda d: A(d)[d["i"], d["j"]] * V(d)[d["j"]]),
        (f"sum(({a})[i, :].*({b})[j, :], axis=1)", lambda d: np.sum(A(d)[d["i"]] * B(d)[d["j"]], axis=1)),
        (f"exp(({u})[i] - ({v})[j])", lambda d: np.exp(U(d)[d["i"]] - V(d)[d["j"]])),
        (f"log(softmax(({a})[i, :], axis=1)[:, k])", lambda d: np.log(softmax(A(d)[d["i"]])[:, d["k"]])),
    ])  # fmt: skip


def formula(rng):
    """Return a scalar formula and its NumPy function."""
    (e, E), (f, F), (v, V), (a, A) = entries(rng), entries(rng), rng.choice(VECTORS), rng.choice(MATRICES)
    return rng.choice([
        (f"({e})'*r", lambda d: E(d) @ d["r"]),
        (f"norm2({e})^2", lambda d: np.sum(E(d) ** 2)),
        (f"sum{{t: ({e})[t]*({f})[t]}}", lambda d: np.sum(E(d) * F(d))),
        (f"({v})[k]*sum(tanh({e}))", lambda d: V(d)[d["k"]] * np.sum(np.tanh(E(d)))),
        (f"tr(({a})[i, :]*({a})[:, j])", lambda d: np.trace(A(d)[d["i"]] @ A(d)[:, d["j"]])),
        (
            f"norm2({{a: sum{{t: [a == i[t]]*({e})[t]}}*ones(n)[a]}}.*({v}))^2",
            lambda d: np.sum((np.eye(len(d["x"]))[:, d["i"]] @ E(d) * V(d)) ** 2),
        ),
    ])  # fmt: skip


def data_of(seed, m, n, count):
    rng = np.random.default_rng(seed)
    data = {"x": rng.standard_normal(n), "y": rng.standard_normal(m), "X": rng.standard_normal((m, n))}
    data |= {"A": rng.standard_normal((n, n)) / 2 + 2 * np.eye(n), "r": rng.standard_normal(count)}
    data |= {"k": int(rng.integers(n)), "i": rng.integers(0, n, count), "j": rng.integers(0, n, count)}
    return data | {"g": rng.integers(0, n, n), "h": rng.integers(0, m, m)}


@pytest.mark.thinned(2)
@pytest.mark.sampled(120)
@pytest.mark.parametrize("seed", range(240))
def test_value_and_gradient(seed):
    rng = random.Random(seed)
    text, value = formula(rng)
    wrt = rng.choice(["x", "A"])
    e = mc.expression(text, DECLARED)
    gradient = e.gradient(wrt)
    assert mc.expression(str(gradient), gradient.declarations).node is gradient.node
    function = mc.compile([e, gradient], target="numpy")
    for m, n, count in ((2, 3, 4), (3, 2, 0), (1, 1, 3)):
        data = data_of(seed, m, n, count)
        slope = np.zeros(data[wrt].shape)
        for at in np.ndindex(*slope.shape):
            moved = data[wrt].astype(complex)
            moved[at] += 1e-30j
            slope[at] = np.imag(value({**data, wrt: moved})) / 1e-30
        plain = [f({name: data[name] for name in f.symbols}) for f in (e, gradient)]
        for got in (plain, function({name: data[name] for name in function.args})):
            np.testing.assert_allclose(got[0], value(data), rtol=1e-9, atol=1e-9, err_msg=text)
            np.testing.assert_allclose(got[1], slope, rtol=1e-8, atol=1e-8, err_msg=f"{text} in {wrt}")
