"""Memory allocated by machine code is freed exactly once, wherever a call ends and whichever allocation fails."""

import ctypes
import itertools

import numpy as np
import pytest

import matcalc as mc
from matcalc.compiler.call.compiled import CALLED
from matcalc.compiler.kernels import kernel_code
from matcalc.compiler.machine.machine_code import object_code
from matcalc.compiler.machine.memory_functions import ASSEMBLY

pytestmark = pytest.mark.skipif(CALLED is None, reason="no machine code is called here")
NUMBER = itertools.count()
COUNTED = """
@matcalc_left = global i64 -1
@matcalc_held = global i64 0
"""
TAKE = """ptr @matcalc_take(i64 %entries, i64 %size) {
  %left = load i64, ptr @matcalc_left
  %is_end = icmp eq i64 %left, 0
  br i1 %is_end, label %none, label %more
more:
  %less = sub i64 %left, 1
  store i64 %less, ptr @matcalc_left
  %held = load i64, ptr @matcalc_held
  %held_now = add i64 %held, 1
  store i64 %held_now, ptr @matcalc_held"""
GIVE = """give:
  %held = load i64, ptr @matcalc_held
  %held_now = sub i64 %held, 1
  store i64 %held_now, ptr @matcalc_held"""
FORMULAS = {
    "one layer": ("norm2(tanh(X*A)*b - y)^2", "A b", "X: matrix(m, n); A: matrix(n, p); b: vector(p); y: vector(m)"),
    "layers": (
        "norm2(tanh(tanh(X*A)*B)*b - y)^2",
        "A B b",
        "X: matrix(m, n); A: matrix(n, p); B: matrix(p, p); b: vector(p); y: vector(m)",
    ),
    "softmax": (
        "sum(logsumexp(X*A, axis=1)) - sum(Y.*(X*A))",
        "A",
        "X: matrix(m, n); A: matrix(n, p); Y: matrix(m, p)",
    ),
    "both ways": ("sum(exp(S + S')*S)", "S", "S: matrix(p, p)"),
    "another shape": ("norm2(reshape(X*A, p, m) + Z)^2", "A", "X: matrix(m, n); A: matrix(n, p); Z: matrix(p, m)"),
    "a solve": ("b'*inv(S + X'*X)*b", "S b", "X: matrix(m, p); S: matrix(p, p); b: vector(p)"),
    "a factor": ("logdet(S) + b'*inv(S)*b", "S b", "S: matrix(p, p) spd; b: vector(p)"),
    "decompositions": ("sum(eigvalsh(S)) + sum(svdvals(X))", "S X", "S: matrix(p, p) symmetric; X: matrix(m, p)"),
    "branches": ("sum(where(X*A > 0, log(1 + (X*A).^2), X*A))", "A", "X: matrix(m, n); A: matrix(n, p)"),
    "steps": ("sum(root(y.*y - b, y, start=b))", "b", "b: vector(p)"),
}
SIZES = ({"m": 5, "n": 3, "p": 2}, {"m": 4000, "n": 40, "p": 3}, {"m": 0, "n": 2, "p": 2}, {"m": 1, "n": 1, "p": 1})


@pytest.fixture
def counted(monkeypatch):
    """Replace the allocator by one that counts: allocations that still succeed, and blocks in use."""
    text = COUNTED + ASSEMBLY.replace("ptr @matcalc_take(i64 %entries, i64 %size) {", TAKE).replace("give:", GIVE)
    assert text.count("matcalc_held") == 5
    monkeypatch.setattr(kernel_code, "_own_runtime", lambda: object_code(text))


def cell(fn, name):
    engine = fn.ready.into.owner._engine
    address = engine.get_global_value_address(name)
    return ctypes.c_int64.from_address(address) if address else None


def arguments(fn, sizes, singular):
    rng = np.random.default_rng(2)
    found = []
    for operand in fn.spec.arguments:
        shape = [size.evaluate(sizes) for size in operand.shape]
        value = rng.uniform(0.5, 1.5, shape)
        if operand.name == "S":
            value = np.zeros(shape) if singular else value @ value.T + np.eye(len(value))
        found.append(value)
    return found


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", FORMULAS)
def test_each_piece_is_let_go_once(name, counted):
    text, wrt, let = FORMULAS[name]
    fn = mc.value_and_gradient(text, wrt.split(), let, name=f"taken{next(NUMBER)}")
    left, held = cell(fn, "matcalc_left"), cell(fn, "matcalc_held")
    assert left is not None, "this one takes no memory, and tests nothing"
    for sizes, singular in itertools.product(SIZES, (False, True)):
        given = arguments(fn, sizes, singular)
        shapes = [tuple(size.evaluate(sizes) for size in o.shape) or (1,) for o in fn.spec.outputs]
        results = [np.zeros(shape) for shape in shapes]
        left.value = -1
        status = fn._into(*given, *results)
        taken = -1 - left.value
        assert held.value == 0
        for pieces in range(taken if taken < 40 else 40):
            left.value = pieces
            with pytest.raises(MemoryError):
                fn._into(*given, *results)
            assert held.value == 0
        left.value = taken
        assert fn._into(*given, *results) == status
        assert held.value == 0
