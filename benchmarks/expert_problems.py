"""Hand-written code for `problems.toml`: NumPy, LAPACK by SciPy, and Numba where a fused loop pays.

This is good code, not a lower bound: each function does the least work that its author found, shares factorisations and
uses symmetry, but pays NumPy's overhead at small sizes. All other results are compared with these.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from problems import Call, Data, Problem
from scipy.linalg import eigh, lapack, schur
from scipy.linalg.blas import dsyrk
from scipy.special import expit

OPTIONS = {"error_model": "numpy", "fastmath": {"contract", "reassoc", "nsz", "arcp"}}


def least_squares(X, w, y):
    r = X @ w - y
    return r @ r, 2.0 * (r @ X)


def logistic(X, w, y, lam):
    t = -y * (X @ w)
    return np.sum(np.logaddexp(0.0, t)) + lam * (w @ w), (-y * expit(t)) @ X + 2.0 * lam * w


def logistic_hessian(X, w, y):
    p = expit(y * (X @ w))
    return mirrored(dsyrk(1.0, (np.sqrt(p * (1.0 - p))[:, None] * X).T))


def softmax_regression(X, W, Y):
    Z = X @ W
    top = Z.max(axis=1, keepdims=True)
    E = np.exp(Z - top)
    total = E.sum(axis=1, keepdims=True)
    E /= total
    return np.sum(np.log(total) + top) - np.vdot(Y, Z), X.T @ (E - Y)


def masked_factors(M, T, U, V):
    R = M * (T - U @ V.T)
    value = np.vdot(R, R)
    R *= -2.0 * M
    return value, R @ V, R.T @ U


def factor_hessian(T, U, V):
    m, k = U.shape
    H = np.zeros((m, k, m, k))
    H[np.arange(m), :, np.arange(m), :] = 2.0 * (V.T @ V)
    return H


def network(X, A, B, Y):
    H = np.tanh(X @ A)
    R = H @ B - Y
    G = R @ B.T
    G *= 2.0 * (1.0 - H * H)
    return np.vdot(R, R), X.T @ G, 2.0 * (H.T @ R)


def gaussian(S, C):
    L, value = cholesky(S)
    P = inverse(L)
    return value + np.vdot(P, C), P - P @ C @ P


def gaussian_process(K, y):
    L, value = cholesky(K)
    P = inverse(L)
    a = P @ y
    P -= np.outer(a, a)
    return value + y @ a, P


def gram_determinant(X):
    L, value = cholesky(X.T @ X)
    return value, 2.0 * (X @ inverse(L))


def linear_system(A, b, c):
    lu, p, _ = lapack.dgetrf(A.T)
    x, _ = lapack.dgetrs(lu, p, b, trans=1)
    z, _ = lapack.dgetrs(lu, p, c)
    return c @ x, -np.outer(z, x), z


def inverse_pullback(X, G):
    lu, p, _ = lapack.dgetrf(X.T)
    Y = lapack.dgetri(lu, p)[0].T
    return Y, -(Y.T @ G @ Y.T)


def quadratic(A, x):
    right, left = A @ x, x @ A
    return x @ right, right + left


def rayleigh(A, B, x):
    a, b = A @ x, B @ x
    bottom = x @ b
    value = (x @ a) / bottom
    return value, (2.0 / bottom) * (a - value * b)


def kronecker(X, A, B):
    left = B @ X @ A.T
    return np.vdot(X, left), left + B.T @ X @ A


def chain(A, B, C, x):
    r = A @ (B @ (C @ x))
    return r @ r, 2.0 * (((r @ A) @ B) @ C)


def map_jacobian(A, X, B):
    return np.einsum("ik,lj->ijkl", A, B)


def exponential(X):
    """Compute exp by scaling and squaring with the (13, 13) approximant (Higham 2005)."""
    n = len(X)
    s = max(0, int(np.ceil(np.log2(max(np.abs(X).sum(axis=0).max(), 1e-300) / 5.37))))
    A = X / 2.0**s
    b = PADE
    A2 = A @ A
    A4 = A2 @ A2
    A6 = A4 @ A2
    eye = np.eye(n)
    U = A @ (A6 @ (b[13] * A6 + b[11] * A4 + b[9] * A2) + b[7] * A6 + b[5] * A4 + b[3] * A2 + b[1] * eye)
    V = A6 @ (b[12] * A6 + b[10] * A4 + b[8] * A2) + b[6] * A6 + b[4] * A4 + b[2] * A2 + b[0] * eye
    E = np.linalg.solve(V - U, V + U)
    for _ in range(s):
        E = E @ E
    return np.trace(E), E.T.copy()


PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip


@njit(**OPTIONS)
def elementwise(x):
    value = 0.0
    gradient = np.empty_like(x)
    for i in range(x.size):
        e = np.exp(-x[i] * x[i])
        t = np.tanh(x[i])
        d = 1.0 / (1.0 + x[i] * x[i])
        value += e * t * d
        gradient[i] = e * d * (1.0 - t * t - 2.0 * x[i] * t * (1.0 + d))
    return value, gradient


def logistic_product(X, w, y, V):
    p = expit(y * (X @ w))
    return (p * (1.0 - p) * (X @ V)) @ X


def pseudo_huber(X, w, y):
    r = X @ w - y
    s = np.sqrt(1.0 + r * r)
    return np.sum(s - 1.0), (r / s) @ X


def log_sum_exp(A, x):
    z = A @ x
    top = z.max()
    e = np.exp(z - top)
    total = e.sum()
    e /= total
    return np.log(total) + top, e @ A


def factors(T, U, V):
    R = U @ V.T
    R -= T
    return np.vdot(R, R), 2.0 * (R @ V), 2.0 * (R.T @ U)


def deep_network(X, A, B, C, Y):
    H = np.tanh(X @ A)
    K = np.tanh(H @ B)
    R = K @ C - Y
    dK = R @ C.T
    dK *= 2.0 * (1.0 - K * K)
    dH = dK @ B.T
    dH *= 1.0 - H * H
    return np.vdot(R, R), X.T @ dH, H.T @ dK, 2.0 * (K.T @ R)


def network_hessian(X, A, b, y):
    """Return the Hessian of a sum of squares: a product of slopes, plus one block for each hidden unit."""
    n, p = A.shape
    T = np.tanh(X @ A)
    r = T @ b - y
    S = (1.0 - T * T) * b
    J = (X[:, :, None] * S[:, None, :]).reshape(len(X), n * p)
    H = mirrored(dsyrk(2.0, J.T)).reshape(n, p, n, p)
    for k in range(p):
        H[:, k, :, k] += X.T @ ((-4.0 * r * S[:, k] * T[:, k])[:, None] * X)
    return H


def mixture(X, M):
    Z = X @ M.T - np.sum(M * M, axis=1) / 2.0
    top = Z.max(axis=1, keepdims=True)
    np.exp(Z - top, out=Z)
    total = Z.sum(axis=1, keepdims=True)
    Z /= total
    return np.sum(np.log(total) + top), Z.T @ X - Z.sum(axis=0)[:, None] * M


def principal_components(X, W):
    XW = X @ W
    R = XW @ W.T
    R -= X
    return np.vdot(R, R), 2.0 * (X.T @ (R @ W)) + 2.0 * (R.T @ XW)


def mahalanobis(D, M, y):
    t = y * (np.einsum("ij,ij->i", D @ M, D) - 1.0)
    return np.sum(np.logaddexp(0.0, t)), D.T @ ((y * expit(t))[:, None] * D)


def procrustes(A, X, B):
    R = A @ X
    R -= B
    return np.vdot(R, R), 2.0 * (A.T @ R)


def graphical_lasso(S, Q):
    L, value = cholesky(Q)
    return np.vdot(S, Q) - value, S - inverse(L)


def kernel_parameters(D, y, s, length, t):
    E = np.exp(D * (-0.5 / length**2))
    K = s * E
    K.flat[:: len(y) + 1] += t
    L, value = cholesky(K)
    P = inverse(L)
    a = P @ y
    P -= np.outer(a, a)
    slope = np.trace(P)
    P *= E
    return value + y @ a, np.sum(P), np.vdot(P, D) * s / length**3, slope


def determinant(X):
    lu, p, _ = lapack.dgetrf(X.T)
    value = np.prod(np.diagonal(lu)) * (-1.0) ** np.count_nonzero(p != np.arange(len(p)))
    return value, value * lapack.dgetri(lu, p)[0]


def product_pullback(A, X, B, G):
    return A @ X @ B, A.T @ G @ B.T


def square_pullback(X, G):
    return X @ X, G @ X.T + X.T @ G


def hadamard_jacobian(A, B):
    J = np.zeros(A.shape + A.shape)
    rows, columns = np.indices(A.shape)
    J[rows, columns, rows, columns] = B
    return J


def quadratic_hessian(A, x):
    return A + A.T


def nuclear_norm(X):
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    return s.sum(), U @ Vt


def spectral_norm(X):
    """Use the top eigenpair of the Gram matrix, which gives the largest singular value accurately."""
    n = X.shape[1]
    w, v = eigh(X.T @ X, subset_by_index=[n - 1, n - 1])
    s = np.sqrt(w[0])
    return s, np.outer(X @ v[:, 0] / s, v[:, 0])


def spectral_function(S):
    w, Q = np.linalg.eigh(S)
    return np.sum(np.exp(w)), (Q * np.exp(w)) @ Q.T


def lyapunov(A, Q, W):
    """Use one Schur form for the equation and its adjoint."""
    T, Z = schur(A)
    P = Z @ _triangular(T, Z.T @ Q @ Z, False) @ Z.T
    L = Z @ _triangular(T, Z.T @ W.T @ Z, True) @ Z.T
    return np.vdot(W.T, P), -(L @ P.T + L.T @ P), L


def _triangular(T, F, adjoint):
    Y, scale, _ = lapack.dtrsyl(T, T, F, trana="T" if adjoint else "N", tranb="N" if adjoint else "T")
    return Y * scale


def cholesky(S):
    """Return the factor that LAPACK reads as lower, and log det(S)."""
    L, fault = lapack.dpotrf(S.T, lower=1, clean=0)
    if fault:
        raise np.linalg.LinAlgError("not positive definite")
    return L, 2.0 * np.sum(np.log(np.diagonal(L)))


def inverse(L):
    """Return the inverse of the matrix with this Cholesky factor."""
    return mirrored(lapack.dpotri(L, lower=1)[0].T)


@njit(**OPTIONS)
def mirrored(C):
    """Copy the upper triangle onto the lower one, in tiles that stay in cache."""
    n = C.shape[0]
    for first in range(0, n, 32):
        for second in range(0, first + 1, 32):
            for i in range(first, min(first + 32, n)):
                for j in range(second, min(second + 32, i)):
                    C[i, j] = C[j, i]
    return C


def build(problem: Problem, data: Data) -> Call:
    """Return a function without arguments that computes the answer from `data`."""
    answer = globals()[problem.name]
    args = [data[name] for name in problem.inputs]
    return lambda: answer(*args)
