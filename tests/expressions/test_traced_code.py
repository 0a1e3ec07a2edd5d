"""Functions as people write them: sizes, known places, masks, writes to own arrays, SciPy and Python functions.

Each function is run on arrays. Its formula has the same value, and the gradient that differences of the run give.
"""

import math

import numpy as np
import pytest
import scipy.linalg as sla
from scipy import special, stats
from scipy.spatial.distance import cdist, pdist, squareform

import matcalc as mc

OPEN = (
    "X: matrix(m, n); w: vector(n); y: vector(m); x: vector(6); A: matrix(n, n); s: scalar; "
    "p: vector(n + m); i: index(m)"
)
FIXED = (
    "X: matrix(5, 3); w: vector(3); y: vector(5); x: vector(6); A: matrix(3, 3); s: scalar; p: vector(8); i: index(5)"
)
GIVEN = {
    "X": np.random.default_rng(1).standard_normal((5, 3)),
    "w": np.array([0.3, -1.2, 0.7]),
    "y": np.array([0.5, 1.5, -0.2, 0.8, 1.1]),
    "x": np.array([0.4, 1.3, -0.6, 0.9, 2.1, -1.7]),
    "A": np.array([[3.0, 0.2, -0.4], [0.1, 2.5, 0.3], [0.2, -0.5, 4.0]]),
    "s": 0.8,
    "p": np.linspace(-1, 1.3, 8),
    "i": np.array([2, 0, 1, 1, 2]),
}
MASK = np.array([True, False, True, True, False, True])
PLACES = np.array([[0, 2], [4, 1]])


def agrees(function, declared=FIXED):
    """Compare the formula of a function with its run, and the pullbacks of weights with differences."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    given = {name: np.copy(GIVEN[name])[()] for name in names}
    made = mc.expression(function, declared)
    found = made(**{name: given[name] for name in made.symbols})
    with np.errstate(all="ignore"):
        expected = np.asarray(function(**{name: np.copy(one)[()] for name, one in given.items()}))
    assert np.shape(found) == expected.shape
    np.testing.assert_allclose(found, expected.astype(float), rtol=1e-9, atol=1e-11)
    variables = [name for name in names if name != "i"]
    weights = np.cos(np.arange(1.0, 1 + expected.size)).reshape(expected.shape)
    for name in variables:
        slopes = np.zeros(np.shape(given[name]))
        for at in np.ndindex(slopes.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = {key: np.copy(one) for key, one in given.items()}
                moved[name][at] += step
                ends.append(np.sum(function(**{key: one[()] for key, one in moved.items()}) * weights))
            slopes[at] = (ends[0] - ends[1]) / 2e-6
        pullback = made.vjp(name, "G0", check=False)
        values = pullback(**{key: given[key] if key != "G0" else weights[()] for key in pullback.symbols})
        np.testing.assert_allclose(values, slopes, rtol=2e-5, atol=1e-7, err_msg=name)


def in_loop(x):
    out = np.zeros(len(x))
    for k in range(len(x)):
        out[k] = x[k] ** 2
        if k > 0:
            out[k] += 0.5 * out[k - 1]
    return out


def grows(x):
    rows = []
    for k in range(3):
        rows.append(x * (k + 1))
    return np.array(rows)


def views(X, s):
    K = X @ X.T
    first, last = K[0], K[-1]
    K[0] = s
    last *= 2
    return first + last + K[1]


def keeps_copies(X, s):
    K = X.T @ X
    entry, row = K[0, 0], K[0].copy()
    K[0] = s
    return entry * row + K[0]


def reshaped(X, y):
    out = (X @ X[0]).reshape(-1, 1)
    out -= y[:, None]
    K = np.einsum("ij,kj->ik", X, X)
    K[0, 1:] = 0
    D = np.diag(y)
    D[0, 1] = 2
    return out * K * D


def alias(X, s):
    K = X + 1
    same = K
    K -= s
    K /= 2
    return same * K


def filled(X):
    G = X.T @ X
    np.fill_diagonal(G, 0.5)
    return G


def flat_diagonal(A, s):
    K = A @ A
    K.flat[:: len(K) + 1] += s
    return K


def diagonal_places(A, s):
    K = 2 * A
    K[np.diag_indices_from(K)] += s
    return K


def block(X, s):
    K = np.zeros((4, 4))
    K[:2, 1:] = X[:2]
    K[3, 0] = s
    K[2] = X[0, 1]
    return K


def repeated_places(x):
    a = np.zeros(4)
    a[[0, 2, 0]] = x[:3]
    np.add.at(a, [1, 1, 3], x[3:])
    return a


def at_index(y, i):
    a = np.ones(len(y))
    a[i] = y
    return a


def counts_weights(y, i):
    return np.bincount(i, weights=y, minlength=5)


def masked_write(x, s):
    a = x * 2
    a[MASK] = s
    return a


def put_along(x):
    a = x.copy()
    np.put(a, [0, 3], x[:2])
    np.copyto(a[4:], x[:2])
    return a


FIXED_CASES = [
    in_loop, grows,
    views, keeps_copies, reshaped, alias, filled, flat_diagonal, diagonal_places, block, repeated_places, at_index,
    counts_weights, masked_write, put_along,
    lambda x: x[[0, 2, 2, -1]],
    lambda x: x[np.array([3, 1])],
    lambda x: x[PLACES],
    lambda x: x[MASK],
    lambda x: x[~MASK] * 2,
    lambda x: x[np.arange(6) % 2 == 0],
    lambda x: x[::2] + x[::-2],
    lambda X: X[[0, 2], [1, 1]],
    lambda X: X[[0, 2]][:, [0, 2]],
    lambda X: X[np.ix_([0, 3], [2, 0])],
    lambda X: X[[4, 1], 1:],
    lambda X: X[1:, [2, 0]],
    lambda X: X[None, [0, 1], :, None],
    lambda X: X[np.triu_indices(3, 1)],
    lambda X: X[np.array([True, False, True, True, False])],
    lambda X: X[:3][np.eye(3, dtype=bool)],
    lambda X: np.take(X, [1, 1, 0], axis=1) + np.take(X, [1])[0],
    lambda X: np.take_along_axis(X, np.array([[0], [2], [1], [1], [0]]), axis=1),
    lambda X, i: X[i],
    lambda X, i: X[np.arange(5), i],
    lambda X, i: X[np.arange(4), i[1:]],
    lambda y, i: y[i + 2] + y[i - 1] * y[i],
    lambda i: np.eye(5)[i],
    lambda y, i: y[:-1][i][i[:2]],
    lambda x: sum(x) + max(x[0], 0) + min(x[1], x[2], 0.5) + abs(x[3]),
    lambda x: math.exp(x[0]) + math.log(x[1]) + math.sqrt(x[3]) + math.erf(x[0]) + math.lgamma(x[4]) + math.pi,
    lambda x: np.array([[x[0], x[1]], [0, 1]]) @ np.array([x[2], 1.0]),
    lambda x: np.asarray(x, dtype=float) ** 2,
    lambda x: np.exp(x, out=np.zeros(6)),
    lambda x: x * (1 if isinstance(x, np.ndarray) else 2),
    lambda x: sla.toeplitz(x[:3]) + sla.toeplitz(x[:3], x[3:]),
    lambda X: squareform(pdist(X)),
    lambda X: pdist(X, "sqeuclidean"),
    lambda x: squareform(x),
]  # fmt: skip


@pytest.mark.sampled(18)
@pytest.mark.parametrize("function", FIXED_CASES)
def test_functions_of_declared_numbers(function):
    agrees(function)


def halves(p):
    n = 3
    return p[:n] * p[-n:]


def split(X, p):
    n = X.shape[1]
    return X @ p[:n] + p[n:]


def residual(X, y, w):
    r = np.zeros(len(y))
    r += X @ w
    r -= y
    return r


OPEN_CASES = [
    split, residual, filled, flat_diagonal, diagonal_places,
    lambda X, w: np.zeros(X.shape) + w,
    lambda X: np.ones((len(X), 2)) * X[:, :1],
    lambda X: X.T @ X + np.eye(X.shape[1]) + np.identity(X.shape[1]),
    lambda A: A * np.eye(len(A), k=1) + np.eye(len(A), k=-1),
    lambda y: y * np.arange(len(y)),
    lambda y: y * np.arange(1, len(y) + 1, dtype=float),
    lambda y: y * np.linspace(0, 1, len(y)),
    lambda y, s: np.full(len(y), s) * y,
    lambda y: np.full(y.shape, 2.0) * y + np.zeros_like(y) + np.ones_like(y),
    lambda y: np.empty_like(y) * 0 + y,
    lambda y: y[: len(y) - 1] - y[1:],
    lambda y: y[-2:] * y[:2],
    lambda X: X.reshape(X.shape[0] * X.shape[1]),
    lambda X: np.tri(len(X)) @ X,
    lambda X, i: X[i],
    lambda X, i: X[np.arange(len(X)), i],
    lambda X, i: np.take_along_axis(X, i[:, None], axis=1) * np.take_along_axis(X.T, i.reshape(1, -1), 0).T,
    lambda X, i: np.take_along_axis(X, np.expand_dims(i, 1) - 1, -1)[:, 0] + X[:, :1].T[0, i],
    lambda y, i: np.take_along_axis(y, i + 1, axis=0) + y[i[:, None].ravel()],
    lambda y, i: y[i[:-1]] * y[i[1:]],
    lambda i: np.eye(len(i))[i],
    at_index,
    counts_weights,
    lambda X: X[[0, 2, 1]],
    lambda y: len(y) * y if len(y) >= 0 else -y,
    lambda X: special.logsumexp(X, axis=1) + special.logsumexp(X),
    lambda X: special.softmax(X, axis=1) + special.log_softmax(X, axis=0) + special.logsumexp(X, axis=0, keepdims=True),
    lambda y: special.expit(y) + special.ndtr(y) + special.log_ndtr(y) + special.erf(y) + special.erfc(y),
    lambda y: special.gammaln(y**2 + 1) + special.digamma(y**2 + 1) + special.xlogy(2, y**2) + special.xlog1py(2, y**2),
    lambda y: special.betaln(y**2 + 1, 2.5) + special.logit(special.expit(y)),
    lambda A, w: sla.cho_solve(sla.cho_factor(A @ A.T), w) + sla.cho_solve((np.linalg.cholesky(A @ A.T), True), w),
    lambda A: sla.cholesky(A @ A.T) @ np.linalg.cholesky(sla.toeplitz(0.3 ** np.arange(len(A)))),
    lambda A, w: sla.solve(A, w) + sla.solve_triangular(A, w, lower=True) + sla.solve_triangular(A, w),
    lambda A, w: sla.solve(A @ A.T, w, assume_a="pos", check_finite=False) + sla.solve_triangular(A, w, trans=1),
    lambda A: sla.inv(A) * sla.det(A),
    lambda A: sla.expm(A / 5) + sla.sqrtm(A).real + sla.logm(A).real,
    lambda A, s: sla.block_diag(A, s * A[:2]),
    lambda A: sla.solve_sylvester(A, A.T, A @ A),
    lambda X: cdist(X, X, "sqeuclidean") + cdist(X, 2 * X + 1) + cdist(X, 2 * X + 1, metric="cityblock"),
    lambda X: squareform(pdist(X)),
    lambda X: np.sum(1 / (1 + pdist(X))),
    lambda X, y: np.linalg.lstsq(X, y, rcond=None)[0],
    lambda y, s: stats.norm.logpdf(y, s, 2.0) + stats.norm.pdf(y) + stats.norm.cdf(y, loc=s),
    lambda y, s: stats.norm(s, 1.5).logpdf(y) + stats.norm.logcdf(y) + stats.norm.logsf(y) + stats.norm.sf(y),
    lambda y, s: stats.t.logpdf(y, 3 + s) + stats.cauchy.logpdf(y) + stats.laplace.logpdf(y, 0.1, s),
    lambda y, s: stats.logistic.logpdf(y, s) + stats.logistic.cdf(y) + stats.logistic.logcdf(y) + stats.logistic.sf(y),
    lambda y, s: stats.gamma.logpdf(y**2, 1 + s, scale=s) + stats.chi2.logpdf(y**2, 3) + stats.lognorm.logpdf(y**2, s),
    lambda y, s: stats.beta.logpdf(special.expit(y), 1 + s, 2) + stats.gumbel_r.logpdf(y) + stats.gumbel_r.logcdf(y),
    lambda s: stats.poisson.logpmf(np.array([1, 0, 4]), s) + stats.bernoulli.logpmf(1, s / 2),
    lambda s: stats.binom.logpmf(np.array([1, 0, 4]), 5, s) + stats.poisson.pmf(2, s),
    lambda w, A: stats.multivariate_normal.logpdf(w, w[::-1], A @ A.T) + stats.norm.logpdf(w[0]),
]  # fmt: skip


@pytest.mark.sampled(24)
@pytest.mark.parametrize("function", OPEN_CASES)
def test_functions_of_open_sizes(function):
    agrees(function, OPEN)


@pytest.mark.whole
@pytest.mark.parametrize("function", OPEN_CASES)
def test_functions_of_open_sizes_with_declared_numbers(function):
    agrees(function)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_points_on_a_line_as_many_as_a_size(count):
    def points(w):
        return np.linspace(2, 5, len(w)) * w + np.linspace(1, 3, len(w), endpoint=False)

    w = np.arange(count) + 1.5
    assert np.allclose(mc.expression(points, "w: vector(n)")(w), points(w), rtol=1e-15)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("law", "others"), [("poisson", (1.3,)), ("bernoulli", (0.3,)), ("binom", (2, 0.3))])
def test_counts_outside_their_support_have_probability_zero(law, others):
    k = np.array([0.0, 1.0, 2.0, 3.0, -1.0, 1.5])

    def log_mass(k):
        return getattr(stats, law).logpmf(k, *others)

    e = mc.expression(log_mass, "k: vector(n)")
    np.testing.assert_allclose(e(k=k), log_mass(k), rtol=1e-13)
    np.testing.assert_allclose(mc.compile(e, target="numpy")(k=k), log_mass(k), rtol=1e-13)
