"""Attributes and methods that Python and NumPy expect of an object like an array."""

import copy

import numpy as np
import pytest
import sympy as sp

import matcalc as mc

LET = "X: matrix(2, 3); A: matrix(n, n); T: matrix(n, n) spd; w: vector(n); x: vector(3); s: scalar"
X, A, T, w, x, s = mc.symbols(LET)


def test_equality_and_hash_are_those_of_the_node():
    again = mc.expression("2*x + 1", "x: vector(3)")
    assert again == 2 * x + 1
    assert x != w and x != 3 and x is not None
    assert {2 * x + 1: "found"}[again] == "found"
    assert hash(copy.copy(x)) == hash(x)
    assert (2 * x + 1).equals("1 + x*2") and not (2 * x).equals("3*x") and not x.equals(3)


def test_length_and_iteration_end():
    assert len(x) == 3 and len(X) == 2
    assert [e.node for e in x] == [x[k].node for k in range(3)]
    assert [e.shape for e in X] == [(3,), (3,)]
    for what in (w, A, s):
        with pytest.raises(TypeError):
            list(what)
        with pytest.raises(TypeError):
            len(what)


@pytest.mark.parametrize(
    "use",
    [
        lambda: bool(x),
        lambda: bool(x > 0),
        lambda: float(s),
        lambda: int(s),
        lambda: complex(s),
        lambda: f"{s:.2f}",
        lambda: 3 in x,
        lambda: np.asarray(x),
        lambda: np.array([x, x]),
        lambda: sorted([s, 2 * s]),
        lambda: x.__setitem__(0, 1.0),
        lambda: x.__delitem__(0),
    ],
)
def test_a_formula_has_no_value(use):
    with pytest.raises(mc.NotSupported) as fault:
        use()
    assert isinstance(fault.value, TypeError)


def test_what_needs_no_value():
    assert f"{s}" == str(s) == "s"
    assert x.real is x
    assert (x > 0).shape == (3,)
    assert ((x > 0) * x).node is np.where(x > 0, 1, 0).__mul__(x).node
    with pytest.raises(mc.NotSupported, match=r"np\.subtract of two truth values"):
        (x > 0) - (x < 1)
    with pytest.raises(mc.NotSupported, match="the condition of where is False"):
        np.where(x == 0, x, 1)


def test_sizes_of_shapes_are_text_and_numbers():
    n = w.shape[0]
    assert n == "n" and w.size == "n" and A.size == "n*n" and X.size == 6 and X.ndim == 2
    assert str(w / n) == "w/n" and str(1 / n) == "1/n" and str(np.sqrt(n)) == "sqrt(n)"
    assert str(w[: n - 1]) == "w[:-1]"
    assert f"size {n}" == "size n"
    assert mc.eye(n) == mc.expression("eye(n)", "n: size") and mc.ones(2, n).shape == (2, "n")
    with pytest.raises(mc.NotSupported, match="the size n is no number yet"):
        range(n)


def test_arrays_on_either_side():
    a = np.arange(3.0)
    value = np.array([0.5, -1.0, 2.0])
    for made, expected in [
        (a + x, a + value),
        (a - x, a - value),
        (x - a, value - a),
        (a / (2 + x), a / (2 + value)),
        (a @ x, a @ value),
        (np.float64(2.0) ** x, 2.0**value),
        (np.ones((2, 3)) @ x, np.ones((2, 3)) @ value),
        (x + np.ones((4, 3)), value + np.ones((4, 3))),
        (np.ones((4, 1)) * x, np.ones((4, 1)) * value),
    ]:
        np.testing.assert_allclose(made(x=value), expected)
    with pytest.raises(mc.ShapeError, match="np.matmul of a vector and a transposed one"):
        a @ x.T


def test_completion_lists_what_a_user_calls():
    offered = dir(x)
    assert {"gradient", "shape", "sum", "dot", "T", "reshape", "mean"} <= set(offered)
    assert not {"handed", "marked", "operand", "names"} & set(offered)
    assert {"exp", "solve", "symbols", "function", "block"} <= set(dir(mc))
    assert "exp(x: entry) -> entry" in mc.exp.__doc__
    assert "solve(A: matrix(n, n), b: vector(n)) -> vector(n)" in mc.solve.__doc__


E = mc.expression("w'*T*w + s", LET)
SUBSTITUTED = [
    ({"T": "S"}, "w'*S*w + s", "w: vector(n); s: scalar; S: matrix(n, n) spd"),
    ({"T": "B'*B"}, "norm2(B*w)^2 + s", "w: vector(n); s: scalar; B: matrix(m, n)"),
    ({"s": "w'*w"}, "w'*T*w + w'*w", "T: matrix(n, n) spd; w: vector(n)"),
    ({"s": "3"}, "w'*T*w + 3", "T: matrix(n, n) spd; w: vector(n)"),
    ({"n": "2*k"}, "w'*T*w + s", "T: matrix(2*k, 2*k) spd; w: vector(2*k); s: scalar"),
    ({"n": "4"}, "w'*T*w + s", "T: matrix(4, 4) spd; w: vector(4); s: scalar"),
    ({"w": "A*v"}, "v'*A'*T*A*v + s", None),
]


@pytest.mark.parametrize(("values", "text", "declarations"), SUBSTITUTED, ids=[str(v) for v, *_ in SUBSTITUTED])
def test_text_is_put_in(values, text, declarations):
    made = E.substitute(**values)
    assert made.node is mc.expression(text, declarations or made.declarations.replace(", undeclared", "")).node


def test_chol_of_objects_asks_for_the_fact():
    with pytest.raises(mc.ShapeError, match="takes a symmetric matrix, and A is not known to be symmetric"):
        mc.chol(A)
    assert mc.chol(T).shape == ("n", "n")
    with pytest.raises(mc.ShapeError, match="not known to be symmetric"):
        np.linalg.eigvalsh(A)


def test_sympy_meets_numpy():
    assert str(np.exp(mc.from_sympy(sp.Symbol("a")))) == "exp(a)"
