"""Plain NumPy or SciPy for each operation of kernels.toml, by an algorithm other than the kernels' where one exists."""

import itertools

import numpy as np
from scipy import linalg, special


def cofactors(X):
    n = len(X)
    C = np.ones((n, n))
    for i, j in itertools.product(range(n), range(n)):
        if n > 1:
            C[j, i] = (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(X, i, 0), j, 1))
    return C


def along(f, X, E):
    """Return the derivative of f at X along E by eighth-order differences."""
    h = 1e-2
    steps = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    return sum(c * (f(X + k * h * E) - f(X - k * h * E)) for k, c in steps.items()) / h


def along_all(f, X, *E):
    return along(lambda Z: along_all(f, Z, *E[1:]), X, E[0]) if E else f(X)


def others(x):
    return np.array([np.prod(np.delete(x, i)) for i in range(len(x))])


def gapdiv(w, K):
    with np.errstate(all="ignore"):
        return np.where(np.eye(len(w)) == 1, 0.0, K / (w[None, :] - w[:, None]))


def lu_inverse(X):
    used = min(X.shape[0] - 1, X.shape[1])
    T = np.zeros((min(X.shape),) * 2)
    T[:used, :used] = np.linalg.inv(linalg.lu(X)[2][:used, :used])
    return T


def of_blocks(function):
    """Return a matrix function and its derivatives along tangents, from the function of a block matrix."""

    def value(X, *E):
        n, M = len(X), X
        for tangent in E:
            size = len(M)
            M = np.kron(np.eye(2), M)
            M[:size, size:] += np.kron(np.eye(size // n), tangent)
        return np.real(function(M)[:n, -n:])

    return value


def perron(X):
    """Return the transposed eigenprojector of the eigenvalue of largest modulus, by repeated squaring."""
    for _ in range(60):
        X = X @ X / np.max(np.abs(X @ X), initial=0.0)
    return X.T / np.trace(X)


def pfaffian(A):
    """Return the Pfaffian of the skew part by its first row."""
    A = (A - A.T) / 2
    minors = (np.delete(np.delete(A, [0, j], 0), [0, j], 1) for j in range(1, len(A)))
    return sum((-1) ** j * A[0, j + 1] * pfaffian(minor) for j, minor in enumerate(minors)) if len(A) else 1.0


ORACLES = {
    "running_total": lambda x: np.tril(np.ones((len(x), len(x)))) @ x,
    "running_total_from": lambda x: np.triu(np.ones((len(x), len(x)))) @ x,
    "spectral_radius": lambda X: np.max(np.abs(np.linalg.eigvals(X))),
    "perron": perron,
    "perron_real": perron,
    "inv": np.linalg.inv,
    "det": np.linalg.det,
    "logdet": lambda X: np.linalg.slogdet(X)[1],
    "chol": np.linalg.cholesky,
    "adj": lambda X, *E: along_all(cofactors, X, *E),
    "expm": of_blocks(linalg.expm),
    "cosm": of_blocks(linalg.cosm),
    "sinm": of_blocks(linalg.sinm),
    "powm": of_blocks(lambda X: np.linalg.matrix_power(X, 5)),
    "powi": of_blocks(lambda X: np.linalg.matrix_power(X, 5)),
    "logm": of_blocks(linalg.logm),
    "sqrtm": linalg.sqrtm,
    "pinv": np.linalg.pinv,
    "eig_top": lambda S: np.linalg.eigh(S)[1][:, -2:] @ np.linalg.eigh(S)[1][:, -2:].T,
    "gap_middle": lambda w: np.mean(np.sort(w)[-3:-1]) if len(w) > 2 else np.min(w) - (np.max(np.abs(w)) + 1) / 2,
    "svd_top": lambda X: np.outer(np.linalg.svd(X)[0][:, 0], np.linalg.svd(X)[2][0]),
    "svd_bottom": lambda X: np.outer(*(M[min(X.shape) - 1] for M in (np.linalg.svd(X)[0].T, np.linalg.svd(X)[2]))),
    "gapdiv": gapdiv,
    "gapsum": lambda w, K: np.where(np.eye(len(w)) == 1, 0.0, K / np.add.outer(w, w)),
    "columndiv": lambda w, K: K / w,
    "tie_mean": lambda w, g: g,
    "tie_same": lambda w, g: g,
    "tie_share": lambda w, g: g,
    "lu_inverse": lu_inverse,
    "regular": lambda R: R,
    "pivoted": lambda R: np.where(np.arange(len(R)) < 1, R, np.eye(len(R))),
    "pivots_used": lambda R: np.where(np.arange(len(R)) < 1, 1.0, 0.0),
    "real_values": lambda y, w: y,
    "sylvester": linalg.solve_sylvester,
    "lyapunov": linalg.solve_continuous_lyapunov,
    "dlyapunov": lambda A, C: np.linalg.solve(np.eye(A.size) - np.kron(A, A), C.ravel()).reshape(C.shape),
    "care": linalg.solve_continuous_are,
    "dare": linalg.solve_discrete_are,
    "signm": lambda X: np.real(linalg.signm(X)),
    "norm2": np.linalg.norm,
    "normalize": lambda x: x / np.linalg.norm(x),
    "logsumexp": special.logsumexp,
    "softmax": special.softmax,
    "log_softmax": special.log_softmax,
    "max": np.max,
    "min": np.min,
    "max_at": lambda x: 1.0 * (x == x.max()),
    "min_at": lambda x: 1.0 * (x == x.min()),
    "median": np.median,
    "sort": np.sort,
    "equal_mean": lambda w, g: np.array([np.mean(g[w == v]) for v in w]),
    "median_at": lambda x: sum(0.5 * (x == v) for v in np.sort(x)[[(len(x) - 1) // 2, len(x) // 2]]),
    "prod": np.prod,
    "prod_others": lambda x, *e: along_all(others, x, *e),
}
BY_PROPERTY = ("schur", "slogdet", "getrf", "eigh", "svd", "qr", "vander", "lu", "eig", "sort_order", "pfaffian")
BY_PROPERTY += ("definite_or_lu", "pfaffian_adj", "sort_P", "pade", "along_twice")
# the value for an empty array
EMPTY = {"median": np.nan, "det": 1.0, "logdet": 0.0, "prod": 1.0, "norm2": 0.0, "min": np.inf}
EMPTY |= {"spectral_radius": 0.0, "logsumexp": -np.inf, "max": -np.inf, "gap_middle": 0.0, "pinv": np.empty((0, 0))}
EMPTY["pivots_used"] = np.empty(0)
FACTS = {
    "symmetric": lambda X: X + X.T,
    "spd": lambda X: X @ X.T + np.eye(len(X)),
    "lower": lambda X: np.tril(X) + 2 * np.eye(len(X)),
    "upper": lambda X: np.triu(X) + 2 * np.eye(len(X)),
}
