"""NumPy's spelling: the matrix text of the same meaning, and rejected texts."""

import pytest

from matcalc.errors import ParseError
from matcalc.language.numpy_text.numpy_dialect import read_numpy
from matcalc.language.write import text
from matcalc.rulebook.load import shipped_rulebook
from matcalc.rulebook.notations import numpy_names

NAMES = numpy_names(shipped_rulebook())

TABLE = [
    ("A @ x", "A@x"),
    ("x*y/2", "x.*y./2"),
    ("-x**2", "-x.^2"),
    ("2**-x", "2.^-x"),
    ("a**b**c", "a.^(b.^c)"),
    ("(A @ B).T", "(A@B)'"),
    ("1./x + 1.*x", "1./x + 1.*x"),
    ("np.linalg.inv(X).T @ X", "inv(X)'@X"),
    ("inv(X)", "inv(X)"),
    ("np.sum(X, axis=0)", "sum(X, axis=0)"),
    ("np.sum(X, 0)", "sum(X, axis=0)"),
    ("X.sum(1).sum()", "sum(sum(X, axis=1))"),
    ("A.dot(B)", "A@B"),
    ("np.log(1 + np.exp(-y*(X @ w))).sum()", "sum(log(1 + exp(-y.*(X@w))))"),
    ("X.reshape(p, q)", "reshape(X', q, p)'"),
    ("np.reshape(X, (p, q))", "reshape(X', q, p)'"),
    ("X.ravel()", "vec(X')"),
    ("X.reshape(-1)", "vec(X')"),
    ("np.maximum(a, b)", "max(a, b)"),
    ("np.max(X, 1)", "max(X, axis=1)"),
    ("np.where(x > 0, a, b)", "where(x > 0, a, b)"),
    ("np.linalg.slogdet(S)[1]", "logdet(S)"),
    ("np.linalg.eigh(S)[0]", "eigh_w(S)"),
    ("np.linalg.svd(X, full_matrices=False)[2]", "svd_V(X)'"),
    ("np.array([[1, 2], [3, 4]])", "[1, 2; 3, 4]"),
    ("np.array([1, 2])", "[1; 2]"),
    ("np.block([[A, B], [C, D]])", "[A, B; C, D]"),
    ("np.ones((m, n)) + np.ones(n)", "ones(m, n) + ones(n)"),
    ("np.tile(A, (2, 3))", "tile(A, 2, 3)"),
    ("np.cumsum(X)", "cumsum(vec(X'))"),
    ("np.vander(x, N=3)", "vander(x, n=3)"),
    ("np.sort(X, 0)", "sort(X, axis=0)"),
    ("np.linalg.slogdet(S)[0]", "slogdet_sign(S)"),
    ("X[:, 0] + X.T[0]", "X[:, 0] + X'[0]"),
    ("np.pi*x", "pi.*x"),
    ("scipy.special.expit(x)", "sigmoid(x)"),
    ("np.linalg.norm(x)**2", "norm2(x).^2"),
    ("np.linalg.norm(X, 'fro')", "norm(X, 'fro')"),
    ("np.linalg.norm(X, ord=np.inf, axis=0)", "norm(X, inf, axis=0)"),
    ("np.linalg.norm(X, None, 1)", "norm(X, axis=1)"),
    ("jnp.linalg.inv(X).mT @ jax.numpy.exp(x)", "inv(X)'@exp(x)"),
    ("jax.nn.softmax(X, axis=1)", "softmax(X, axis=1)"),
    ("jax.scipy.special.logsumexp(x)", "logsumexp(x)"),
    ("torch.softmax(X, dim=1) @ torch.mv(A, x)", "softmax(X, axis=1)@(A@x)"),
    ("torch.linalg.slogdet(S)[1] + torch.logdet(S)", "logdet(S) + logdet(S)"),
    ("torch.linalg.norm(X, 'nuc')", "norm(X, 'nuc')"),
    ("np.std(x) + torch.max(x)", "std(x) + max(x)"),
    ("np.power(x, 3) - np.add(a, b)", "x.^3 - (a + b)"),
    ("np.linalg.matrix_power(A, 2)", "A^2"),
    ("np.var(x, ddof=1)", "var(x, ddof=1)"),
]


@pytest.mark.parametrize(("numpy", "matrix"), TABLE, ids=[row[0] for row in TABLE])
def test_translation(numpy, matrix):
    assert text(read_numpy(numpy, NAMES)) == matrix


FAULTS = [
    ("np.linalg.norm(x, 1, 0, 2)", "'norm' takes an order and an axis here", 0),
    ("np.linalg.norm(x, keepdims=1)", "'norm' with keepdims depends on shapes", 0),
    ("np.sum(x, axis=0, keepdims=True)", "'sum' with keepdims depends on shapes", 0),
    ("torch.std(x)", "torch.std divides by n - 1: write np.std(x, ddof=1)", 0),
    ("1 + torch.sort(x)", "torch.sort returns a pair: write np.sort(x)", 4),
    ("jax.nn.softmax(X)", "jax.nn.softmax takes an axis: write axis=", 0),
    ("torch.linalg.vander(x)", "torch.linalg.vander has ascending powers", 0),
    ("np.linalg.svd(X)[0]", "'svd' is only supported with full_matrices=False", 0),
    ("np.linalg.eigh(S)", "'eigh' is a tuple", 0),
    ("np.linalg.eigh(S)[2]", "'eigh' has the items 0 to 1", 17),
    ("X.foo()", "unknown method 'foo'", 1),
    ("X.shape[0]", "unknown attribute 'shape'", 1),
    ("2*np.linalg", "'np.linalg' is not a value", 2),
    ("X[:, None]", "'None' is not a value", 5),
    ("[1, 2]", "a list is not a value", 0),
    ("np.hstack([A, B])", "'hstack' is not supported", 0),
    ("np.block([A, B])", "expected a list of rows", 9),
    ("X.reshape(-1, 2)", "a size of -1 is not supported", 10),
    ("X'", "unexpected character '''", 1),
    ("x^2", "unexpected character '^'", 1),
    ("x @", "expected an operand after '@'", 3),
    ("__import__('os')", "unexpected character '''", 11),
    ("lambda x: x", "expected an operator between 'lambda' and 'x'", 7),
    ("x > 0", "'>' is only allowed in an argument, as in where(x > 0, a, b), and in brackets in index form", 2),
]


@pytest.mark.parametrize(("numpy", "message", "at"), FAULTS, ids=[row[0] for row in FAULTS])
def test_fault(numpy, message, at):
    with pytest.raises(ParseError) as caught:
        read_numpy(numpy, NAMES)
    assert (caught.value.message, caught.value.at, caught.value.text) == (message, at, numpy)
