"""Functions of c*eye(n), diag(d) and diag(d) + c*eye(n) are formulas of c and d, compared with NumPy and SciPy."""

import re

import numpy as np
import pytest
import scipy.linalg as sl

import matcalc as mc

LET = {
    "c": "c: scalar positive",
    "a": "a: scalar",
    "p": "p: vector(n) positive",
    "d": "d: vector(n)",
    "x": "x: vector(n)",
}
DATA = {
    "c": 1.7,
    "a": -0.6,
    "p": np.array([2.0, 0.4, 1.1]),
    "d": np.array([-0.7, 1.3, 0.5]),
    "x": np.array([1.0, -2.0, 0.5]),
}
MATRICES = {
    "c*eye(n)": lambda v: v["c"] * np.eye(3),
    "a*eye(n)": lambda v: v["a"] * np.eye(3),
    "-c*eye(n)": lambda v: -v["c"] * np.eye(3),
    "2*eye(n)": lambda v: 2 * np.eye(3) + 0 * v["x"],
    "diag(p)": lambda v: np.diag(v["p"]),
    "diag(d)": lambda v: np.diag(v["d"]),
    "c*diag(p)": lambda v: v["c"] * np.diag(v["p"]),
    "diag(p) + c*eye(n)": lambda v: np.diag(v["p"]) + v["c"] * np.eye(3),
    "diag(d) + a*eye(n)": lambda v: np.diag(v["d"]) + v["a"] * np.eye(3),
    "2*diag(p) + eye(n)": lambda v: 2 * np.diag(v["p"]) + np.eye(3),
}
"""The matrices, each with its value in NumPy."""
POSITIVE = ("c*eye(n)", "2*eye(n)", "diag(p)", "c*diag(p)", "diag(p) + c*eye(n)", "2*diag(p) + eye(n)")

FUNCTIONS = {
    "x'*chol(M)*x": lambda M, x: x @ np.linalg.cholesky(M) @ x,
    "x'*sqrtm(M)*x": lambda M, x: x @ np.diag(np.sqrt(np.diag(M))) @ x,
    "x'*logm(M)*x": lambda M, x: x @ np.diag(np.log(np.diag(M))) @ x,
    "logdet(M)": lambda M, x: np.linalg.slogdet(M)[1],
    "det(M)": lambda M, x: np.linalg.det(M),
    "x'*adj(M)*x": lambda M, x: np.linalg.det(M) * (x @ np.linalg.solve(M, x)),
    "x'*inv(M)*x": lambda M, x: x @ np.linalg.solve(M, x),
    "x'*expm(M)*x": lambda M, x: x @ sl.expm(M) @ x,
    "eigvalsh(M)'*x": lambda M, x: np.linalg.eigvalsh(M) @ x,
    "sum(exp(a*eigvalsh(M)))": lambda M, x: np.sum(np.exp(-0.6 * np.linalg.eigvalsh(M))),
    "svdvals(M)'*x": lambda M, x: np.linalg.svd(M)[1] @ x,
    "sum(svdvals(M).^3)": lambda M, x: np.sum(np.linalg.svd(M)[1] ** 3),
    "norm2(M)": lambda M, x: np.linalg.norm(M),
    "spectral_norm(M)": lambda M, x: np.linalg.norm(M, 2),
    "nuclear_norm(M)": lambda M, x: np.linalg.norm(M, "nuc"),
    "lambda_max(M)": lambda M, x: np.linalg.eigvalsh(M)[-1],
    "lambda_min(M)": lambda M, x: np.linalg.eigvalsh(M)[0],
}
"""Scalars of a matrix M and a vector x, each by NumPy or SciPy."""
CASES = [
    (function, matrix)
    for function in FUNCTIONS
    for matrix in MATRICES
    if matrix in POSITIVE or function not in ("x'*chol(M)*x", "x'*sqrtm(M)*x", "x'*logm(M)*x")
]


def declared(text):
    """Return the declarations of the names in a text."""
    return "; ".join(let for name, let in LET.items() if re.search(rf"\b{name}\b", text))


OPEN = [
    *((function, "a*eye(n)") for function in ("spectral_norm(M)", "norm2(M)")),
    *((function, "c*diag(p)") for function in ("x'*chol(M)*x", "x'*sqrtm(M)*x")),
    *(("svdvals(M)'*x", matrix) for matrix in ("diag(d)", "diag(d) + a*eye(n)")),
]
"""What prints as it is, or as an operation on vectors, because other forms are longer."""
OPERATIONS = re.compile(r"chol|eigh|svd|logm|sqrtm|expm\(|inv|lambda|nuclear|spectral|eig")


@pytest.mark.parametrize(("function", "matrix"), CASES)
@pytest.mark.sampled(96)
def test_value_and_slopes(function, matrix):
    text = f"{function.replace('M', f'({matrix})')} + 0.5*norm2(x)^2"

    def wanted(values):
        return FUNCTIONS[function](MATRICES[matrix](values), values["x"]) + 0.5 * values["x"] @ values["x"]

    e = mc.expression(text, declared(text))
    short = e.simplify()
    assert (function, matrix) in OPEN or not OPERATIONS.search(str(short)), str(short)
    compiled = mc.compile(short)
    given = {name: DATA[name] for name in compiled.args}
    np.testing.assert_allclose(compiled(**given), wanted(DATA), rtol=1e-12)
    for name in given:
        if name in "capd" and not (name == "a" and "a*eigvalsh" in function):
            found = mc.compile(mc.gradient(e, name))(**given)
            np.testing.assert_allclose(found, slopes(wanted, name), rtol=1e-7, atol=1e-7)


def slopes(function, name):
    """Return central differences of a function of DATA in one of its entries, extrapolated."""
    x = np.asarray(DATA[name], float)
    found = np.empty(x.shape)
    for at in np.ndindex(x.shape):
        steps = []
        for h in (1e-3, 2e-3):
            ends = []
            for sign in (1, -1):
                moved = x.copy()
                moved[at] += sign * h
                ends.append(function({**DATA, name: moved if moved.shape else float(moved)}))
            steps.append((ends[0] - ends[1]) / (2 * h))
        found[at] = (4 * steps[0] - steps[1]) / 3
    return found


PRINTED = {
    "chol(c*eye(n))": "sqrt(c)*eye(n)",
    "chol(2*eye(n))": "sqrt(2)*eye(n)",
    "chol(a*eye(n))": "chol(a*eye(n))",
    "chol(diag(p))": "diag(sqrt(p))",
    "chol(diag(d))": "chol(diag(d))",
    "chol(diag(p) + c*eye(n))": "diag(sqrt(p + c))",
    "eigvalsh(c*eye(n))": "c*ones(n)",
    "eigvalsh(-c*eye(n))": "-c*ones(n)",
    "eigvalsh(diag(d))": "sort(d)",
    "eigvalsh(diag(d) + a*eye(n))": "sort(d + a)",
    "svdvals(a*eye(n))": "abs(a)*ones(n)",
    "svdvals(diag(p))": "-sort(-p)",
    "norm2(c*eye(n))": "c*sqrt(n)",
    "norm2(diag(d))": "norm2(d)",
    "norm(diag(d), 2)": "norminf(d)",
    "norm(c*eye(n), 'nuc')": "c*n",
    "nuclear_norm(diag(d))": "sum(abs(d))",
    "logdet(c*eye(n))": "n*log(c)",
    "logdet(3*eye(n))": "n*log(3)",
    "logdet(diag(p))": "sum(log(p))",
    "logdet(diag(d))": "logdet(diag(d))",
    "logdet(diag(p) + c*eye(n))": "sum(log(p + c))",
    "det(eye(n))": "1",
    "det(2*eye(n))": "2^n",
    "det(diag(d) + a*eye(n))": "prod(d + a)",
    "inv(diag(d) + a*eye(n))": "diag(1./(d + a))",
    "(diag(d) + a*eye(n))\\x": "x./(d + a)",
    "expm(diag(d) + a*eye(n))": "diag(exp(d + a))",
    "expm(2*eye(n))": "exp(2)*eye(n)",
    "logm(diag(p) + c*eye(n))": "diag(log(p + c))",
    "sqrtm(diag(p) + 2*eye(n))": "diag(sqrt(p + 2))",
    "lambda_max(diag(d))": "max(d)",
    "lambda_min(diag(d) + a*eye(n))": "min(d + a)",
    "adj(2*eye(3))": "4*eye(3)",
    "prod(sort(d))": "prod(d)",
    "sum(sort(d).^2)": "d'*d",
    "sort(d)[-1] - sort(d)[0]": "max(d) - min(d)",
    "diag(d) + a*eye(n)": "diag(d + a)",
}


@pytest.mark.parametrize("text", PRINTED)
@pytest.mark.sampled(3)
def test_printed(text):
    short = mc.expression(text, declared(text)).simplify()
    assert str(short) == PRINTED[text]
    assert mc.expression(str(short), short.declarations).simplify().node is short.node


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("chol(diag(d))", {"d": [1.0, -2.0]}),
        ("chol(a*eye(2))", {"a": -1.0}),
        ("chol(diag(d) + a*eye(n))", {"d": [1.0, 2.0], "a": -1.5}),
        ("chol(-2*eye(3)) + a*eye(3)", {"a": 1.0}),
    ],
)
def test_what_is_not_declared_positive_is_refused_as_before(text, data):
    e = mc.expression(text, declared(text))
    given = {name: np.asarray(value) if isinstance(value, list) else value for name, value in data.items()}
    for function in (e, mc.compile(e)):
        with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
            function(**given)


@pytest.mark.parametrize("text", ["inv(diag(d))", "inv(diag(d) + a*eye(n))", "inv(a*eye(n)) + d*d'"])
def test_a_singular_matrix_is_refused_when_it_is_called(text):
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        mc.expression(text, declared(text))(**{"d": np.zeros(2), "a": 0.0} if "a*" in text else {"d": np.zeros(2)})


@pytest.mark.parametrize("c", [0.0, 2.0])
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_the_adjugate_of_a_multiple_of_the_identity_at_each_size(n, c):
    f = mc.expression("sum(adj(c*eye(n)))", "c: scalar")
    assert f(c=c, n=n) == pytest.approx(n * c ** (n - 1) if n else 0)
    assert f.gradient("c")(c=c, n=n) == pytest.approx(n * (n - 1) * c ** (n - 2) if n > 1 else 0)
