"""Intermediate values that a result uses entry by entry are computed in its memory: no second array of its size."""

from math import prod

import numpy as np
import pytest

import matcalc as mc
from matcalc.pipeline import build

NETWORK = "X: matrix(m, n); A: matrix(n, p); b: vector(p); y: vector(m)"
SOFTMAX = "X: matrix(m, n); W: matrix(n, p)"
SIZES = {"m": 5, "n": 3, "p": 2}
TARGETS = ["numpy", pytest.param("numba", marks=pytest.mark.whole)]


def data_of(names, sizes=SIZES):
    rng = np.random.default_rng(7)
    shapes = {"X": "mn", "A": "np", "W": "np", "b": "p", "y": "m"}
    return {name: rng.standard_normal([sizes[k] for k in shapes[name]]) for name in names}


def network(X, A, b, y):
    """Return the Hessian of sum((tanh(X*A)*b - y)^2) in A."""
    T = np.tanh(X @ A)
    r, S = T @ b - y, (1 - T * T) * b
    H = 2 * np.einsum("qi,qj,qk,ql->ijkl", X, S, X, S)
    for j in range(len(b)):
        H[:, j, :, j] -= 4 * np.einsum("q,qi,qk->ik", r * S[:, j] * T[:, j], X, X)
    return H


def softmax(X, W):
    """Return the Hessian of the sum of log(sum(exp(X*W))) in W."""
    P = np.exp(X @ W)
    P /= P.sum(axis=1, keepdims=True)
    return np.einsum("qi,qj,qk,jl->ijkl", X, P, X, np.eye(W.shape[1])) - np.einsum("qi,qj,qk,ql->ijkl", X, P, X, P)


HESSIANS = [
    ("sum((tanh(X*A)*b - y).^2)", "A", NETWORK, network),
    ("sum(logsumexp(X*W, axis=1))", "W", SOFTMAX, softmax),
]


def largest_temporary(program, sizes):
    """Return the number of entries of the largest array that is neither input nor output."""
    return max(prod(s.evaluate(sizes) for s in b.shape) for b in program.buffers if b.role == "temporary")


@pytest.mark.whole
@pytest.mark.parametrize(("text", "wrt", "let", "wanted"), HESSIANS)
@pytest.mark.parametrize("target", TARGETS)
def test_values_and_memory_given(text, wrt, let, wanted, target):
    fn = mc.compile(mc.expression(text, let).hessian(wrt), target=target)
    for sizes in (SIZES, {"m": 1, "n": 2, "p": 2}, {"m": 0, "n": 2, "p": 2}, {"m": 4, "n": 1, "p": 3}):
        data = data_of(fn.args, sizes)
        found = wanted(**data)
        np.testing.assert_allclose(fn(**data), found, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(fn(**data, out=np.full(found.shape, np.nan)), found, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("text", "wrt", "let", "wanted"), HESSIANS)
def test_no_array_of_the_size_of_a_hessian_stands_beside_it(text, wrt, let, wanted):
    hessian = mc.expression(text, let).hessian(wrt)
    program = build.planned(build.request_of([hessian], ["result"])).program
    sizes = {"m": 20, "n": 30, "p": 10}
    assert largest_temporary(program, sizes) < prod((30, 10, 30, 10)) // 2


@pytest.mark.parametrize("target", TARGETS)
def test_an_axis_that_the_result_has_twice(target):
    """The Hessian of sum(sin(W*H).*V) in H has its last axis twice; products in it have that axis once."""
    f = mc.expression("sum(sin(W*H).*V)", "W: matrix(m, n); H: matrix(n, p); V: matrix(m, p)")
    fn = mc.compile(f.hessian("H"), target=target)
    rng = np.random.default_rng(3)
    W, H, V = rng.standard_normal((4, 3)), rng.standard_normal((3, 2)), rng.standard_normal((4, 2))
    wanted = np.einsum("qi,qj,qk,jl->ijkl", W, -np.sin(W @ H) * V, W, np.eye(2))
    np.testing.assert_allclose(fn(W=W, H=H, V=V), wanted, rtol=1e-12, atol=1e-14)


def test_nothing_is_added_to_a_result_that_another_result_reads():
    declared = "A: matrix(n, n); B: matrix(n, m); u: vector(m); s, l, g: vector(n)"
    texts = ["A'*(l./cosh(A*s + B*u).^2) + g", "B*u"]
    formulas = [mc.expression(text, declared) for text in texts]
    fn = mc.compile(formulas)
    rng = np.random.default_rng(0)
    shapes = {"A": (3, 3), "B": (3, 2), "u": 2, "s": 3, "l": 3, "g": 3}
    data = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    for found, formula in zip(fn(**{name: data[name] for name in fn.args}), formulas, strict=True):
        wanted = formula(**{name: data[name] for name in formula.symbols})
        assert np.max(np.abs(found - wanted)) < 1e-12
