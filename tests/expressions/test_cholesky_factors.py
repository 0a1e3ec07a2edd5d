"""Formulas with a Cholesky factor: a function of the matrix is written so, with `posdef` where it is not known."""

import runpy

import numpy as np
import pytest
import scipy.linalg as sl
from scipy.spatial.distance import cdist

import matcalc as mc

LET = "X: matrix(n, d); ell: vector(d) positive; v, s: scalar positive; y: vector(n)"


def squared_exponential(X, ell, v, s, y):
    K = v * np.exp(-0.5 * cdist(X / ell, X / ell, "sqeuclidean")) + s * np.eye(X.shape[0])
    return K, y


def by_triangles(X, ell, v, s, y):
    K, y = squared_exponential(X, ell, v, s, y)
    L = np.linalg.cholesky(K)
    a = sl.solve_triangular(L.T, sl.solve_triangular(L, y, lower=True))
    return 0.5 * y @ a + np.log(np.diag(L)).sum()


def by_cho_solve(X, ell, v, s, y):
    K, y = squared_exponential(X, ell, v, s, y)
    factor = sl.cho_factor(K, lower=True)
    return 0.5 * y @ sl.cho_solve(factor, y) + np.sum(np.log(np.diag(factor[0])))


def by_whitening(X, ell, v, s, y):
    K, y = squared_exponential(X, ell, v, s, y)
    L = sl.cholesky(K, lower=True)
    z = sl.solve_triangular(L, y, lower=True)
    return 0.5 * np.sum(z**2) + np.log(np.prod(np.diag(L)))


def data(n=5, d=2):
    rng = np.random.default_rng(3)
    return {
        "X": rng.standard_normal((n, d)),
        "ell": rng.uniform(0.5, 2, d),
        "v": 1.3,
        "s": 0.4,
        "y": rng.standard_normal(n),
    }


@pytest.mark.whole
@pytest.mark.parametrize("code", [by_triangles, by_cho_solve, by_whitening])
def test_gradients_of_code_with_a_factor_read_as_those_of_the_matrix(code):
    named = mc.gradient(code, "v", LET).named()
    assert named == (
        "tr(P*(Q - Q*y*y'*Q))/2 "
        "where P = {i,j: exp(-0.5*(X[j,l] - X[i,l])^2/ell[l]^2)}, Q = inv(posdef(v*P + s*eye(n)))"
    )
    longer = mc.gradient(code, "ell", LET).named()
    assert longer.count("inv(") == longer.count("exp(") == 1 and "chol" not in longer


@pytest.mark.sampled(16)
@pytest.mark.parametrize("code", [by_triangles, by_cho_solve, by_whitening])
@pytest.mark.parametrize("name", ["v", "s", "ell", "X", "y"])
def test_gradients_against_differences_of_the_code(code, name):
    given, h = data(), 1e-6
    gradient = mc.gradient(code, name, LET)
    read = mc.expression(gradient.named(), gradient.declarations)
    plain, again = (e(**{s: given[s] for s in map(str, e.symbols)}) for e in (gradient, read))
    flat = np.ravel(given[name]).astype(float)
    steps = h * np.eye(flat.size)

    def at(z):
        return code(**{**given, name: z.reshape(np.shape(given[name])) if np.ndim(given[name]) else float(z[0])})

    expected = np.reshape([(at(flat + e) - at(flat - e)) / (2 * h) for e in steps], np.shape(given[name]))
    assert np.allclose(plain, expected, rtol=1e-6, atol=1e-8)
    assert np.array_equal(plain, again)


@pytest.mark.whole
@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
def test_compiled_code_factorises_and_fails_where_the_code_fails(target):
    given = data()
    fn = mc.value_and_gradient(by_cho_solve, ["v", "s"], LET, target=target)
    value, slopes = fn(**given)
    assert np.isclose(value, by_cho_solve(**given), rtol=1e-12)
    assert np.isclose(slopes[0], mc.gradient(by_cho_solve, "v", LET)(**given), rtol=1e-10)
    assert "chol(" in fn.source
    indefinite = {**given, "s": -2.0}
    for call in (by_cho_solve, fn):
        with pytest.raises(np.linalg.LinAlgError):
            call(**indefinite)


S = np.array([[3.0, 1.0], [1.0, 2.0]])
INDEFINITE = np.array([[1.0, 2.0], [2.0, 1.0]])
Y = np.array([1.0, 2.0])
FORMS = {
    "sum(log(diag(chol(S))))": "logdet(posdef(S))/2",
    "log(prod(diag(chol(S))))": "logdet(posdef(S))/2",
    "norm2(chol(S)\\y)^2": "y'*inv(posdef(S))*y",
    "chol(S)'\\(chol(S)\\y)": "inv(posdef(S))*y",
    "prod(diag(chol(S)).^2)": "det(posdef(S))",
}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("formula", FORMS)
@pytest.mark.parametrize("fact", ["symmetric", "spd"])
def test_what_a_factor_stands_for(formula, fact):
    let = f"S: matrix(n, n) {fact}; y: vector(n)"
    e = mc.expression(formula, let)
    expected = FORMS[formula] if fact == "symmetric" else FORMS[formula].replace("posdef(S)", "S")
    assert str(e.simplify()) == expected
    given = {name: value for name, value in {"S": S, "y": Y}.items() if name in map(str, e.symbols)}
    assert np.allclose(e.simplify()(**given), e(**given), rtol=1e-14)
    for target in ("numpy", "numba"):
        fn = mc.compile(e, target=target)
        assert np.allclose(fn(**given), e(**given), rtol=1e-13)
        with pytest.raises(np.linalg.LinAlgError, match="S is not positive definite"):
            fn(**{**given, "S": INDEFINITE})


def test_posdef_of_a_matrix_that_is_known_to_be_positive_definite_is_that_matrix():
    assert (
        str(mc.expression("posdef(A*A' + c*eye(n))", "A: matrix(n, k); c: scalar positive").simplify())
        == "A*A' + c*eye(n)"
    )
    with pytest.raises(mc.ShapeError, match="symmetric"):
        mc.expression("posdef(X)", "X: matrix(n, n)")
    with pytest.raises(np.linalg.LinAlgError):
        mc.expression("posdef(S)", "S: matrix(n, n) symmetric")(S=INDEFINITE)


@pytest.mark.parametrize("size", [0, 1, 2, 5])
@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.sampled(8)
def test_saved_files_factorise_too(size, target, tmp_path):
    rng = np.random.default_rng(size)
    root, y = rng.standard_normal((size, size)), rng.standard_normal(size)
    spd = root @ root.T + np.eye(size)
    formula = "sum(log(diag(chol(S)))) + norm2(chol(S)\\y)^2/2"
    fn = mc.value_and_gradient(formula, "S", "S: matrix(n, n) symmetric; y: vector(n)", target=target)
    fn.save(tmp_path / "saved.py")
    saved = runpy.run_path(str(tmp_path / "saved.py"))[fn.spec.name]
    solved = np.linalg.solve(spd, y)
    for function in (fn, saved):
        value, slope = function(S=spd, y=y)
        assert np.isclose(value, np.linalg.slogdet(spd)[1] / 2 + y @ solved / 2, rtol=1e-11)
        assert np.allclose(slope, np.linalg.inv(spd) / 2 - np.outer(solved, solved) / 2, rtol=1e-9)
        if size:
            with pytest.raises(np.linalg.LinAlgError):
                function(S=-spd, y=y)
