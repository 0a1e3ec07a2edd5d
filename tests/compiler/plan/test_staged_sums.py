"""Products of two sums that share an index: each sum is computed once, and no loop runs over the indices of both."""

import re

import numpy as np
import pytest

import matcalc as mc

DECLARED = "x: vector(m); y: vector(n); z: vector(k); S: matrix(n, n); t: vector(m + n - 1)"


def lower(S):
    """Return the lower triangle by columns."""
    return S.T[np.triu_indices(len(S))]


def lower_back(v, n):
    found = np.zeros((n, n))
    found.T[np.triu_indices(n)] = v
    return found


CASES = {
    "conv(x, y)'*conv(x, y)": (lambda x, y, **_: np.sum(np.convolve(x, y) ** 2), 2),
    "t'*conv(x, y)": (lambda t, x, y, **_: t @ np.convolve(x, y), 2),
    "conv(conv(x, y), z)": (lambda x, y, z, **_: np.convolve(np.convolve(x, y), z), 2),
    "norm2(conv(conv(x, y), z))^2": (
        lambda x, y, z, **_: np.sum(np.convolve(np.convolve(x, y), z) ** 2),
        2,
    ),
    "(conv(x, y)'*conv(x, y))*x": (lambda x, y, **_: np.sum(np.convolve(x, y) ** 2) * x, 2),
    "vech(S)'*vech(S)": (lambda S, **_: lower(S) @ lower(S), 2),
}


def data(m, n, k):
    rng = np.random.default_rng(m + 10 * n + 100 * k)
    shapes = {"x": m, "y": n, "z": k, "S": (n, n), "t": m + n - 1}
    return {name: rng.standard_normal(shape) for name, shape in shapes.items()}


def depth(source):
    """Return the depth of nested loops in a function's source."""
    deepest, open_at = 0, []
    for line in source.splitlines():
        indent = len(line) - len(line.lstrip())
        if line.strip():
            open_at = [at for at in open_at if at < indent]
        if line.lstrip().startswith("for "):
            open_at.append(indent)
            deepest = max(deepest, len(open_at))
    return deepest


@pytest.mark.sampled(12)
@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("target", ["numba", "numpy"])
def test_values(text, target):
    wanted, loops = CASES[text]
    fn = mc.compile(mc.expression(text, DECLARED), target=target)
    assert depth(fn.source) <= loops
    for sizes in ((1, 1, 1), (2, 1, 3), (3, 5, 2), (6, 4, 4)):
        given = data(*sizes)
        found = fn(**{name: given[name] for name in fn.args})
        np.testing.assert_allclose(found, wanted(**given), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("target", ["numba", "numpy"])
def test_gradients(target):
    given = data(4, 3, 1)
    x, y, S = (given[name] for name in "xyS")
    by_x = mc.compile(mc.expression("norm2(conv(x, y))^2", DECLARED).gradient("x"), target=target)
    np.testing.assert_allclose(by_x(x=x, y=y), 2 * np.correlate(np.convolve(x, y), y, "valid"), rtol=1e-13)
    by_s = mc.compile(mc.expression("norm2(vech(S))^2", DECLARED).gradient("S"), target=target)
    np.testing.assert_allclose(by_s(S), 2 * lower_back(lower(S), 3), rtol=1e-13)
    assert max(depth(by_x.source), depth(by_s.source)) <= 2


SHAPED = "A: matrix(m, k); B: matrix(k, n); C: matrix(m, n); S: matrix(n, n); T: matrix(m, m); x: vector(m)"


def turned(M):
    """Return a matrix in the shape of its transpose, by columns."""
    return M.reshape(M.shape[::-1], order="F")


RESHAPED = {
    "reshape(A*B, n, m)": lambda A, B, **_: turned(A @ B),
    "reshape(A*B.*C, n, m)": lambda A, B, C, **_: turned(A @ B * C),
    "reshape(A*B, n, m)*x": lambda A, B, x, **_: turned(A @ B) @ x,
    "norm2(reshape(A*B, n, m)*x)^2": lambda A, B, x, **_: np.sum((turned(A @ B) @ x) ** 2),
    "sum(reshape(A*B, n, m), axis=0)": lambda A, B, **_: turned(A @ B).sum(axis=0),
    "reshape(T*C*S, n, m)'": lambda T, C, S, **_: turned(T @ C @ S).T,
    "S*reshape(A*B, n, m)*T": lambda A, B, S, T, **_: S @ turned(A @ B) @ T,
    "vec(reshape(A*B, n, m))": lambda A, B, **_: (A @ B).ravel("F"),
    "vec(C)'*kron(S, T)*vec(C)": lambda C, S, T, **_: np.sum(C * (T @ C @ S.T)),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", RESHAPED)
@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
def test_a_product_in_another_shape_is_made_in_its_own(text, target):
    fn = mc.compile(text, declarations=SHAPED, target=target)
    assert re.search(r"temporar.*\(\w+, \w+, \w+\)", fn.plan) is None
    for m, k, n in ((3, 4, 5), (1, 2, 1), (2, 0, 3), (4, 4, 4)):
        rng = np.random.default_rng(m)
        shapes = {"A": (m, k), "B": (k, n), "C": (m, n), "S": (n, n), "T": (m, m), "x": m}
        given = {name: rng.standard_normal(shapes[name]) for name in fn.args}
        np.testing.assert_allclose(fn(given), RESHAPED[text](**given), rtol=1e-12, atol=1e-12)
