"""Determinants of a simple matrix plus one of low rank, and Gaussian likelihoods by `chol`: values and derivatives."""

from functools import cache

import mpmath as mp
import numpy as np
import pytest

import matcalc as mc

SIZES = ((9, 2), (12, 3), (6, 1), (4, 0), (5, 2), (3, 4), (1, 1))
LET = "d: vector(n); U: matrix(n, k); C: matrix(k, k); V: matrix(n, k)"
NAMES = ["d", "U", "C", "V"]
LIKELIHOOD = "W: matrix(n, k); psi: vector(n) positive; y: vector(n)"


def drawn(n, k, seed=0):
    rng = np.random.default_rng([seed, n, k])
    U, V = rng.standard_normal((2, n, k))
    return {"d": rng.uniform(0.5, 1.5, n), "U": U, "C": rng.standard_normal((k, k)), "V": V}


def matrix(d):
    return np.diag(d["d"]) + d["U"] @ d["C"] @ d["V"].T


def slopes(function, data, name, step=1e-6):
    """Return central differences of a function of data in one argument, its axes last."""
    base, columns = data[name], []
    for at in np.ndindex(base.shape):
        ends = []
        for sign in (1, -1):
            moved = base.copy()
            moved[at] += sign * step
            ends.append(np.asarray(function({**data, name: moved})))
        columns.append((ends[0] - ends[1]) / (2 * step))
    shape = np.shape(function(data))
    return np.reshape(np.moveaxis(np.reshape(columns, (-1, *shape)), 0, -1), (*shape, *base.shape))


def cofactors(K):
    """Return det(K)*inv(K)', for singular K too, by minors."""
    n = len(K)
    rows = [[np.delete(np.delete(K, i, 0), j, 1) for j in range(n)] for i in range(n)]
    return np.array([[(-1) ** (i + j) * np.linalg.det(rows[i][j]) for j in range(n)] for i in range(n)])


@cache
def determinant(target="numba"):
    return mc.value_and_gradient("det(diag(d) + U*C*V')", NAMES, LET, target=target)


def expected(d):
    """Return the value and the gradients of the determinant."""
    K = matrix(d)
    G = cofactors(K)
    return np.linalg.det(K), (np.diag(G), G @ d["V"] @ d["C"].T, d["U"].T @ G @ d["V"], G.T @ d["U"] @ d["C"])


def compare(found, truth, rtol=1e-11):
    (value, gradients), (right, slopes_of) = found, truth
    assert abs(value - right) <= rtol * max(1, abs(right))
    for mine, his in zip(gradients, slopes_of, strict=True):
        assert np.max(np.abs(mine - his), initial=0) <= rtol * max(1, np.max(np.abs(his), initial=0))


@pytest.mark.parametrize("target", ("numba", "numpy"))
@pytest.mark.whole
def test_gradients_of_determinants(target):
    function = determinant(target)
    assert "low_rank" in function.source
    for n, k in SIZES:
        compare(function(**drawn(n, k)), expected(drawn(n, k)))


@pytest.mark.whole
def test_a_gradient_of_a_determinant_makes_nothing_of_the_size_of_the_matrix():
    text = str(determinant().plan)
    assert "(n, n)" not in text[text.index("_short(") : text.index("_direct(")]


@pytest.mark.parametrize("distance", (0.0, 1e-300, 1e-15, 1e-12, 1e-8, 1e-4))
@pytest.mark.parametrize("target", (pytest.param("numba", marks=pytest.mark.whole), "numpy"))
def test_gradients_of_determinants_of_singular_matrices(target, distance):
    """The small matrix is then singular or nearly so, and inverses would lose digits."""
    d = drawn(9, 1)
    d["C"] = (distance - 1) / (d["V"].T @ (d["U"] / d["d"][:, None]))
    compare(determinant(target)(**d), expected(d), 1e-10)


@cache
def hessian(wrt):
    return mc.compile(mc.hessian("det(diag(d) + U*C*V')", wrt, declarations=LET))


@pytest.mark.whole
@pytest.mark.parametrize("wrt", ["d", pytest.param("U", marks=pytest.mark.whole)])
def test_hessians_of_determinants(wrt):
    function, at = hessian(wrt), NAMES.index(wrt)
    assert "low_rank" in function.source
    for n, k in ((9, 2), (5, 2), (8, 1)):
        d = drawn(n, k)
        truth = slopes(lambda data: expected(data)[1][at], d, wrt)
        np.testing.assert_allclose(function(**d), truth, rtol=1e-5, atol=1e-6 * max(1, np.max(np.abs(truth))))


@pytest.mark.whole
def test_products_with_the_hessian_of_a_determinant():
    function = mc.compile(mc.hvp("det(diag(d) + U*C*V')", "U", declarations=LET))
    text = str(function.plan)
    assert "(n, n)" not in text[text.index("_short(") : text.index("_direct(")]
    d, v = drawn(10, 2), drawn(10, 2, seed=4)["U"]
    ends = [expected({**d, "U": d["U"] + step * v})[1][1] for step in (1e-6, -1e-6)]
    truth = (ends[0] - ends[1]) / 2e-6
    np.testing.assert_allclose(function(**d, v=v), truth, rtol=1e-6, atol=1e-7 * np.max(np.abs(truth)))


@pytest.mark.parametrize("exponent", (0, 6, 12))
@pytest.mark.sampled(2)
def test_digits_of_a_gradient(exponent):
    """Against 50 digits, beside det(K)*inv(K) by a factorisation of K."""
    function = mc.value_and_gradient("det(A*A' + c*eye(n))", ["A"], "A: matrix(n, k); c: scalar")
    rng = np.random.default_rng(exponent)
    A, c = rng.standard_normal((10, 2)), 10.0**-exponent
    _, (found,) = function(A=A, c=c)
    K = A @ A.T + c * np.eye(10)
    direct = 2 * np.linalg.det(K) * np.linalg.inv(K) @ A
    with mp.workdps(50):
        exact = mp.matrix(A.tolist())
        whole = exact * exact.T + c * mp.eye(10)
        truth = 2 * mp.det(whole) * mp.inverse(whole) * exact

        def far(G):
            return float(max(abs(mp.mpf(float(G[i, j])) - truth[i, j]) for i in range(10) for j in range(2)))

        largest = float(max(map(abs, truth)))
        assert far(found) <= max(30 * far(direct), 1e-13 * largest)


FORMS = [
    "-sum(log(diag(L))) - norm2(L\\y)^2/2 where L = chol(K), K = W*W' + diag(psi)",
    "-sum(log(diag(L))) - sum((inv(L)*y).^2)/2 where L = chol(W*W' + diag(psi))",
    "-sum(log(diag(L))) - z'*z/2 where L = chol(W*W' + diag(psi)), z = L\\y",
    "-logdet(L) - y'*inv(L)'*inv(L)*y/2 where L = chol(W*W' + diag(psi))",
]


@pytest.mark.whole
@pytest.mark.parametrize("form", [FORMS[0], *(pytest.param(form, marks=pytest.mark.whole) for form in FORMS[1:])])
def test_likelihoods_by_a_cholesky_factor(form):
    function = mc.value_and_gradient(form, ["W", "psi", "y"], LIKELIHOOD)
    assert "low_rank" in function.source
    for n, k in SIZES:
        rng = np.random.default_rng([n, k])
        W, psi, y = rng.standard_normal((n, k)), rng.uniform(0.5, 2, n), rng.standard_normal(n)
        K = W @ W.T + np.diag(psi)
        solved, inverse = np.linalg.solve(K, y), np.linalg.inv(K)
        G = (np.outer(solved, solved) - inverse) / 2
        value = -np.linalg.slogdet(K)[1] / 2 - y @ solved / 2
        compare(function(W, psi, y), (value, (2 * G @ W, np.diag(G), -solved)))
