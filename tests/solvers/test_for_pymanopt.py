"""solvers.pymanopt in pymanopt itself: its checks of gradient and Hessian, and known answers on three manifolds."""

import numpy as np
import pytest

pymanopt = pytest.importorskip("pymanopt", reason="the extra [solvers] is not installed")

from pymanopt.manifolds import Euclidean, Product, Stiefel, SymmetricPositiveDefinite  # noqa: E402
from pymanopt.optimizers import ConjugateGradient, TrustRegions  # noqa: E402

import matcalc as mc  # noqa: E402
from matcalc import solvers  # noqa: E402

RNG = np.random.default_rng(5)
A = RNG.standard_normal((8, 8))
A = A @ A.T
C = np.cov(RNG.standard_normal((5, 40)))
M = RNG.standard_normal((6, 4))


@pytest.fixture(autouse=True)
def seeded():
    state = np.random.get_state()
    np.random.seed(11)
    yield
    np.random.set_state(state)


def stiefel(target="numpy"):
    """The sum of the three largest eigenvalues."""
    let = "A: matrix(n, n) symmetric; X: matrix(n, k)"
    return solvers.pymanopt("-tr(X'*A*X)", "X", Stiefel(8, 3), {"A": A}, declarations=let, target=target)


def spd(target="numpy"):
    """The most likely covariance is that of the data."""
    let = "S: matrix(n, n) spd; C: matrix(n, n) symmetric"
    manifold = SymmetricPositiveDefinite(5)
    return solvers.pymanopt("logdet(S) + tr(inv(S)*C)", "S", manifold, {"C": C}, declarations=let, target=target)


def product(target="numpy"):
    """The best approximation of rank 2: the residual has the other singular values."""
    manifold = Product([Stiefel(6, 2), Euclidean(4, 2)])
    let = "U: matrix(m, k); V: matrix(n, k); M: matrix(m, n)"
    return solvers.pymanopt("norm2(M - U*V')^2", ["U", "V"], manifold, {"M": M}, declarations=let, target=target)


LEAST = {
    stiefel: -np.linalg.eigvalsh(A)[-3:].sum(),
    spd: np.linalg.slogdet(C)[1] + 5,
    product: (np.linalg.svd(M)[1][2:] ** 2).sum(),
}


@pytest.mark.parametrize("problem", LEAST, ids=lambda f: f.__name__)
@pytest.mark.whole
def test_known_minima_with_the_hessian(problem):
    # At 1e-8 the next step is at the rounding of pymanopt's inner product on spd matrices, which may be negative there.
    found = TrustRegions(verbosity=0, min_gradient_norm=1e-7).run(problem())
    assert np.isclose(found.cost, LEAST[problem], rtol=1e-10)
    assert found.gradient_norm < 1e-7


@pytest.mark.parametrize("problem", LEAST, ids=lambda f: f.__name__)
@pytest.mark.whole
def test_gradient_and_hessian_by_differences_along_the_manifold(problem):
    made = problem()
    manifold, step = made.manifold, 1e-4
    x = manifold.random_point()
    v = manifold.random_tangent_vector(x)
    ahead, behind = (made.cost(manifold.exp(x, step * sign * v)) for sign in (1, -1))
    slope = manifold.inner_product(x, made.riemannian_gradient(x), v)
    assert np.isclose((ahead - behind) / (2 * step), slope, rtol=1e-5, atol=1e-6)
    bend = manifold.inner_product(x, made.riemannian_hessian(x, v), v)
    assert np.isclose((ahead - 2 * made.cost(x) + behind) / step**2, bend, rtol=1e-4, atol=1e-5)


@pytest.mark.whole
def test_fewer_steps_with_the_hessian_than_without():
    made = stiefel("numba")
    x = made.manifold.random_point()
    second = TrustRegions(verbosity=0).run(made, initial_point=x)
    first = ConjugateGradient(verbosity=0, min_gradient_norm=1e-6, max_iterations=2000).run(made, initial_point=x)
    assert np.isclose(second.cost, LEAST[stiefel], rtol=1e-10)
    assert np.isclose(first.cost, LEAST[stiefel], rtol=1e-8)
    assert 2 * second.iterations < first.iterations


@pytest.mark.whole
def test_the_random_numbers_of_others_are_left_alone():
    np.random.seed(3)
    before = np.random.standard_normal()
    np.random.seed(3)
    stiefel()
    assert np.random.standard_normal() == before


def test_bad_input_is_one_sentence():
    with pytest.raises(mc.ShapeError, match="is 1 arrays, wrt has 2: U, V"):
        solvers.pymanopt("norm2(U - V)^2", ["U", "V"], Stiefel(3, 2), declarations="U: matrix(m, n); V: matrix(m, n)")
    with pytest.raises(mc.ShapeError, match="must have shape"):
        solvers.pymanopt("tr(X'*A*X)", "X", Stiefel(8, 3), {"A": np.eye(7)}, declarations="X: matrix(n, k)")
    with pytest.raises(ValueError, match="data gives no value for A"):
        solvers.pymanopt("tr(X'*A*X)", "X", Stiefel(8, 3), declarations="X: matrix(n, k)")
