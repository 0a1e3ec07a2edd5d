"""Nodes are unpickled as the same objects, deep and shared ones too; so are the objects that hold references."""

import pickle
from functools import reduce

import numpy as np
import pytest
import sympy

import matcalc as mc
from matcalc.formula.elaborate.texts import elaborate
from matcalc.tensor.constructors import add, matmul
from matcalc.tensor.pickling import pickle_form

LET = "A: matrix(n, n); S: matrix(n, n) spd; x: vector(n); c: scalar"
FORMULAS = [
    "c*A'*inv(A)*x", "logdet(S) + x'*S*x", "A - A'", "[A, x; x', 1]*[x; c]", "kron(A, S)", "matfun(exp, S)",
    "softmax(A, axis=0)", "{i,j,k: A[i,j]*x[k] + x[i]*A[j,k]}", "[1, 2; 3, 4]", "1./(x - c).^2",
    "(2*n - 1)*x",
]  # fmt: skip


@pytest.mark.parametrize("formula", FORMULAS)
def test_pickle(formula):
    (node,) = elaborate([formula], LET).nodes
    restore, records = pickle_form(node)
    assert restore(*pickle.loads(pickle.dumps(records))) is node


@pytest.mark.whole
def test_a_deep_node_does_not_recurse():
    x, matrix = elaborate(["x", "A"], LET).nodes
    node = x
    for _ in range(3000):
        node = add([(1, matmul(matrix, node)), (1, x)])
    restore, records = pickle_form(node)
    assert restore(*pickle.loads(pickle.dumps(records))) is node


def residual(X, w, y):
    return np.sum((X @ w - y) ** 2) + np.linalg.norm(w, 1)


DATA = {
    "X": np.array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.3]]),
    "w": np.array([0.3, -0.7]),
    "y": np.array([1.0, 0.2, -1.0]),
}
DECLARED = "X: matrix(m, n); w: vector(n); y: vector(m)"
SIZES = {"m": 3, "n": 2}


def of_sympy():
    m, n = sympy.symbols("m n", integer=True, positive=True)
    X, w, y = sympy.MatrixSymbol("X", m, n), sympy.MatrixSymbol("w", n, 1), sympy.MatrixSymbol("y", m, 1)
    return mc.from_sympy((X * w - y).T * (X * w - y))


def of_objects():
    X, w, y = mc.symbols(DECLARED)
    return np.sum(np.square(X @ w - y)) + np.einsum("i,i->", w, w) / w.shape[0] + np.split(w, [1])[0][0]


HANDLES = {
    "text": lambda: mc.expression("norm2(X*w - y)^2", DECLARED),
    "numpy": lambda: mc.expression("np.sum((X @ w - y)**2)", DECLARED, dialect="numpy"),
    "parts": lambda: mc.expression("r = X*w - y; r'*r + sum{i: w[i]^2} + norm2(r)", DECLARED),
    "sympy": of_sympy,
    "traced": lambda: mc.expression(residual, DECLARED),
    "traced lambda": lambda: mc.expression(lambda X, w, y: np.sum((X @ w - y) ** 2), DECLARED),
    "objects": of_objects,
}
RESULTS = {
    "itself": lambda e: e,
    "gradient": lambda e: e.gradient("w"),
    "hessian": lambda e: e.hessian("w"),
    "jvp": lambda e: e.jvp("w", "dw"),
    "simplified": lambda e: e.simplify(),
}


def values(result):
    known = {**DATA, "dw": np.array([0.5, 2.0])}
    return result(**{name: known[name] for name in (getattr(result, "args", None) or result.symbols)})


@pytest.mark.sampled(9)
@pytest.mark.parametrize("handle", HANDLES)
def test_expressions_and_functions_of_every_origin(handle):
    e = HANDLES[handle]()
    for name, result in RESULTS.items():
        made = result(e)
        again = pickle.loads(pickle.dumps(made))
        np.testing.assert_allclose(values(again), values(made), rtol=1e-14, err_msg=name)
        assert again.checked.startswith("at "), name
    function = mc.compile(e, target="numpy")
    np.testing.assert_array_equal(values(pickle.loads(pickle.dumps(function))), values(function))


@pytest.mark.parametrize("handle", HANDLES)
def test_references(handle):
    """A reference is unpickled with its value; that of a lambda raises NoReference with the reason."""
    reference = HANDLES[handle]().reference
    again = pickle.loads(pickle.dumps(reference))
    if "lambda" in handle:
        with pytest.raises(mc.errors.NoReference, match="its Python function cannot be pickled"):
            again.value(DATA, SIZES)
    else:
        np.testing.assert_array_equal(again.value(DATA, SIZES), reference.value(DATA, SIZES))
        assert again.what == reference.what


@pytest.mark.whole
@pytest.mark.parametrize("operator", [lambda a, b: a + b * b, np.add, lambda a, b: np.sin(a)])
def test_deep_references_do_not_recurse(operator):
    (w,) = mc.symbols("w: vector(n)")
    reference = reduce(operator, [w] * 400).reference
    again = pickle.loads(pickle.dumps(reference))
    np.testing.assert_array_equal(again.value(DATA, SIZES), reference.value(DATA, SIZES))


@pytest.mark.sampled(9)
@pytest.mark.parametrize("what", [lambda s: s, lambda s: s.precompute()])
@pytest.mark.parametrize("handle", ["text", "numpy", "sympy", "traced lambda"])
def test_formulas_by_rows(handle, what):
    rows = mc.split(HANDLES[handle](), "m", wrt="w")
    again = pickle.loads(pickle.dumps(what(rows)))
    blocks = [{"X": DATA["X"], "y": DATA["y"]}]
    found = again.over(blocks, w=DATA["w"]) if again.__class__.__name__ == "Split" else again.over(blocks)(w=DATA["w"])
    r = DATA["X"] @ DATA["w"] - DATA["y"]
    assert found[0] == pytest.approx(r @ r)
