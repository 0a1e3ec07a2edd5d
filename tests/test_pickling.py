"""Nodes come back from pickles as the same objects, deep and shared ones too."""

import pickle

import pytest

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


def test_a_deep_node_does_not_recurse():
    x, matrix = elaborate(["x", "A"], LET).nodes
    node = x
    for _ in range(3000):
        node = add([(1, matmul(matrix, node)), (1, x)])
    restore, records = pickle_form(node)
    assert restore(*pickle.loads(pickle.dumps(records))) is node
