"""Formulas, at least one for each trick of the code generator, with values and gradients by plain NumPy.

The functions run in any precision: in longer numbers than doubles they show lost digits. `UnclearError` and None mean
that rounding or a convention decides the value.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

LET = {
    "X": "matrix(m, n)", "w": "vector(n)", "v": "vector(n)", "y": "vector(m)", "d": "vector(m) nonnegative",
    "B": "matrix(n, p)", "C": "matrix(p, q)", "D": "matrix(q, r)", "M": "matrix(n, n)", "S": "matrix(n, n) symmetric",
    "P": "matrix(n, n) spd", "L": "matrix(n, n) lower", "W": "matrix(n, p)", "Y": "matrix(m, p)", "U": "matrix(m, p)",
    "V": "matrix(n, p)", "G": "matrix(p, p)", "c": "scalar", "b": "vector(p)",
}  # fmt: skip


@dataclass(frozen=True)
class Trick:
    """A formula whose program uses a trick, a text that shows the trick in the program, and the formula's definition.

    With `wrt` its gradients are tested too, or only the derivative of this `order`. `is_robust`: doubles of every
    magnitude are allowed. `spreads`: an infinity may give NaN where the limit is finite.
    """

    name: str
    formula: str
    truth: Callable
    seen: str
    wrt: tuple[str, ...] = ()
    order: str = ""
    is_robust: bool = False
    spreads: bool = False
    is_small: bool = False
    large: tuple[dict[str, int], ...] = ()


class UnclearError(Exception):
    """The expected value depends on rounding."""


def eliminated(A, B):
    """Return inv(A)*B and the determinants of the leading pivots, by elimination with pivots, in the type of A."""
    A, B = A.copy(), B.copy()
    largest = np.max(np.abs(A), initial=0)
    n, sign, logs = len(A), A.dtype.type(1), A.dtype.type(0)
    for k in range(n):
        rest = np.abs(A[k:, k])
        j = k + int(np.argmax(np.where(np.isnan(rest), np.inf, rest)))
        if j != k:
            A[[k, j]], B[[k, j]], sign = A[[j, k]], B[[j, k]], -sign
        if A[k, k] == 0:
            raise np.linalg.LinAlgError("singular")
        if 0 < np.abs(A[k, k]) < 1e-12 * largest:
            raise UnclearError
        sign, logs = sign * np.sign(A[k, k]), logs + np.log(np.abs(A[k, k]))
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            A[i, k:] -= f * A[k, k:]
            B[i] -= f * B[k]
    for k in range(n - 1, -1, -1):
        B[k] = (B[k] - np.tensordot(A[k, k + 1 :], B[k + 1 :], 1)) / A[k, k]
    return B, sign, logs


def solve(A, B):
    return eliminated(A, B)[0]


def logdet(A):
    return eliminated(A, np.zeros_like(A))[2]


def triangle(L, B):
    return np.array([L[i, : i + 1] @ B[: i + 1] for i in range(len(L))], L.dtype).reshape(B.shape)


def forward(L, B):
    if np.any(np.diag(L) == 0):
        raise np.linalg.LinAlgError("singular")
    Z = B.copy()
    for i in range(len(L)):
        Z[i] = (Z[i] - np.tensordot(L[i, :i], Z[:i], 1)) / L[i, i]
    return Z


def inv(A):
    return solve(A, np.eye(len(A), dtype=A.dtype))


def scaled(X):
    """Return a power of 2 and X divided by it, near 1, as doubles."""
    if not np.all(np.isfinite(X)):
        raise np.linalg.LinAlgError("not finite")
    s = np.max(np.abs(X), initial=0)
    s = X.dtype.type(2) ** np.floor(np.log2(s)) if s > 0 else s + 1
    return s, (X / s).astype(float)


def svd(X):
    s, F = scaled(X)
    U, w, Vt = np.linalg.svd(F, full_matrices=False)
    return U, s * w.astype(X.dtype), Vt


def eigh(S):
    s, F = scaled(S)
    w, Q = np.linalg.eigh((F + F.T) / 2)
    return s * w.astype(S.dtype), Q


def is_apart(w, k):
    """Return whether the last k of ascending eigenvalues are separate from the others."""
    return len(w) <= k or w[-k] - w[-k - 1] > 1e-6 * np.max(np.abs(w))


def of_tanh(w):
    return np.sum(np.tanh(w)), 1 / np.cosh(w) ** 2


def of_shifted(P, c, B):
    return solve(P + c * np.eye(len(P), dtype=P.dtype), B)


def of_logsumexp(w):
    return logsumexp(w), softmax(w)


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


def softmax(Z, axis=-1):
    top = np.max(Z, axis=axis, keepdims=True, initial=-np.inf)
    e = np.where(np.isinf(top), top == Z, np.exp(Z - np.where(np.isinf(top), 0, top)))
    e = np.where(np.isnan(top), np.nan, e)
    return e / np.sum(e, axis=axis, keepdims=True)


def logsumexp(Z, axis=-1):
    return np.logaddexp.reduce(Z, axis=axis, initial=-np.inf)


def weighted(X, d):
    return (X.T * d) @ X


def of_network(X, W, b, y):
    T = np.tanh(X @ W)
    r, s = T @ b - y, (1 / np.cosh(X @ W) ** 2) * b
    J = np.einsum("qi,qj->qij", X, s)
    H = 2 * np.einsum("qij,qkl->ijkl", J, J)
    blocks = np.einsum("q,qj,qi,qk->ijk", r, -2 * s * T, X, X)
    for j in range(len(b)):
        H[:, j, :, j] += 2 * blocks[:, j]
    return H


def logistic(y, X, w):
    t = -y * (X @ w)
    return np.sum(np.logaddexp(0, t)), -X.T @ (y * sigmoid(t))


def squares(X, w, y):
    r = X @ w - y
    return r @ r, 2 * X.T @ r


def means(X, w, y):
    r = X @ w - y
    return r @ r / np.float64(len(y)) + w @ w, 2 * X.T @ r / np.float64(len(y)) + 2 * w


def by_softmax(X, W, Y):
    Z = X @ W
    return np.sum(logsumexp(Z, 1)) - np.sum(Y * Z), X.T @ (softmax(Z, 1) - Y)


def of_norm(X, w, y):
    r = X @ w - y
    s = np.max(np.abs(r), initial=0)
    length = s * np.sqrt(np.sum((r / s) ** 2)) if 0 < s < np.inf else s
    return length, X.T @ (r / length) if length != 0 else 0 * X.T @ r


def of_prod(w):
    return np.prod(w), np.array([np.prod(np.delete(w, k)) for k in range(len(w))], w.dtype)


def of_totals(w):
    e = np.exp(np.cumsum(w))
    return np.sum(e), np.cumsum(e[::-1])[::-1]


def of_factors(X, U, V):
    R = X - U @ V.T
    return np.sum(R * R), -2 * R @ V, -2 * R.T @ U


def of_symmetric(w, S):
    B = inv(S)
    z = B @ w
    return w @ z + logdet(S), B - np.outer(z, z)


def of_gram(X):
    G = X.T @ X
    return logdet(G), 2 * X @ inv(G)


def of_top(X):
    U, s, Vt = svd(X)
    if not len(s) or s[0] == 0:
        return 0 * np.sum(s), 0 * X
    return s[0], np.outer(U[:, 0], Vt[0]) if len(s) < 2 or s[1] < (1 - 1e-9) * s[0] else None


def of_largest(S):
    if not len(S):
        raise UnclearError
    w, Q = eigh(S)
    return w[-1], np.outer(Q[:, -1], Q[:, -1]) if is_apart(w, 1) else None


def of_two_largest(S):
    w, Q = eigh(S)
    return np.sum(w[-2:]), Q[:, -2:] @ Q[:, -2:].T if is_apart(w, 2) else None


def of_nuclear(X):
    U, s, Vt = svd(X)
    return np.sum(s), U @ Vt if len(s) == 0 or s[-1] > 1e-9 * s[0] else None


def of_forms(W, S, G):
    return np.trace(W.T @ S @ W @ G), S @ W @ (G + G.T)


def of_where(w, v):
    return np.sum(np.where(w > 0, np.log(np.where(w > 0, w, 1)), v)), np.where(w > 0, 1 / np.where(w > 0, w, 1), 0)


def of_convolution(w, y):
    if not len(w) or not len(y):
        raise UnclearError
    c = np.convolve(w, y)
    by = [[2 * np.sum(c[k : k + len(b)] * b) for k in range(len(a))] for a, b in ((w, y), (y, w))]
    return c @ c, *(np.array(g, w.dtype) for g in by)


def of_function(M, S):
    """Return the gradient of tr(M*exp(S)), by divided differences exp((a + b)/2)*sinh((a - b)/2)/((a - b)/2)."""
    w, Q = eigh(S)
    E = (Q * np.exp(w)) @ Q.T
    half = (w[:, None] - w) / 2
    slopes = np.where(half == 0, 1, np.sinh(half) / np.where(half == 0, 1, half)) * np.exp((w[:, None] + w) / 2)
    return np.sum(M.T * E), Q @ (slopes * (Q.T @ (M + M.T) @ Q) / 2) @ Q.T


def of_eigenvectors(v, w, S):
    """Return the gradient of v'*(V.^2)*w for distinct eigenvalues; equal ones have no derivative."""
    if not np.any(S - np.diag(np.diag(S))):
        raise UnclearError
    s, Q = eigh(S)
    gaps = s - s[:, None]
    least = np.min(np.abs(gaps) + np.diag(np.full(len(s), np.inf)), initial=np.inf)
    K = Q.T @ (2 * Q * np.outer(v, w))
    np.fill_diagonal(gaps, 1)
    W = K / (np.full_like(gaps, np.nan) if least < 1e-15 * np.max(np.abs(s), initial=0) else gaps)
    np.fill_diagonal(W, 0)
    W = Q @ W @ Q.T
    clear = least > 1e-6 * np.max(np.abs(s), initial=0) or np.any(np.isnan(W))
    return v @ (Q * Q) @ w, (W + W.T) / 2 if clear else None


def placed(M, S):
    J = np.zeros((*M.shape, *M.shape), M.dtype)
    for i, j in np.ndindex(M.shape):
        J[i, j, i, j] = S[i, j]
    return J


def of_deviation(X, w, y):
    r = X @ w - y
    if len(r) < 2:
        raise UnclearError
    e = r - np.mean(r)
    s = np.sqrt(np.mean(e * e))
    return s, None if s <= 1e-12 * np.max(np.abs(r)) else X.T @ (e / s / len(r))


def of_maximum(X, w):
    t = X @ w
    if not len(t):
        raise UnclearError
    if np.any(np.isnan(t)):
        return np.max(t), np.full_like(X[0], np.nan)
    return np.max(t), np.mean(X[t == np.max(t)], axis=0)


BEYOND = ({"m": 301, "n": 221},)
BLOCKS = ({"m": 400, "n": 400},)

TRICKS = [
    Trick("square of a matrix", "X'*X", lambda X: X.T @ X, r"syrk\(0", large=({"m": 40, "n": 67},)),
    Trick("square of its rows", "X*X'", lambda X: X @ X.T, r"syrk\(1"),
    Trick("symmetric times vector", "S*w", lambda S, w: S @ w, r"symv\(", large=({"n": 301},)),
    Trick("triangle times matrix", "L*B", triangle, r"trmm\(", spreads=True),
    Trick("chain by costs", "X*B*C*D", lambda X, B, C, D: X @ B @ C @ D, r"chain_\w+\("),
    Trick("added to", "c*(X*B) + U*G", lambda c, X, B, U, G: c * (X @ B) + U @ G, r"gemm\(0, 0, .*, 1\.0,"),
    Trick("narrow product", "X'*U", lambda X, U: X.T @ U, r"gemm\(1", large=({"m": 501, "n": 301, "p": 9},)),
    Trick("turned operands", "tr(M*M)", lambda M: np.sum(M.T * M), r"M\[j, i\]"),
    Trick("flat operands", "sum(sum(B.*W))", lambda B, W: np.sum(B * W), r"dot\(B_view, W_view\)"),
    Trick("vector beyond cache", "X*w", lambda X, w: X @ w, r"gemv\(0", large=BEYOND),
    Trick("turned beyond cache", "X'*y", lambda X, y: X.T @ y, r"gemv\(1", large=BEYOND),
    Trick("weighted square", "X'*diag(exp(X*w))*X", lambda X, w: weighted(X, np.exp(X @ w)), r"sqrt\(abs[\s\S]*syrk\("),
    Trick("weights given", "-X'*diag(d)*X", lambda X, d: -weighted(X, d), r"sqrt\(abs[\s\S]*syrk\("),
    Trick("one exponential", "sum(tanh(w))", of_tanh, r"vtanh[\s\S]*vcosh", ("w",), is_robust=True),
    Trick("blocks of rows", "sum(log(1 + exp(-y.*(X*w))))", logistic, "for start in range", ("w",), large=BLOCKS),
    Trick("squares by rows", "norm2(X*w - y)^2", squares, "for start in range", ("w",), large=BLOCKS),
    Trick("means by rows", "norm2(X*w - y)^2/m + w'*w", means, "for start in range", ("w",)),
    Trick("softmax by rows", "sum(logsumexp(X*W, axis=1)) - sum(Y.*(X*W))", by_softmax,
          r"softmax_logsumexp_rows\(", ("W",)),
    Trick("two kernels in one", "logsumexp(w)", of_logsumexp, r"softmax_logsumexp\(", ("w",), is_robust=True),
    Trick("norm and direction", "norm2(X*w - y)", of_norm, r"normalize\(", ("w",), is_robust=True),
    Trick("products of others", "prod(w)", of_prod, r"prod_others\(", ("w",)),
    Trick("running totals", "sum(exp(cumsum(w)))", of_totals, r"running_total_from\(", ("w",)),
    Trick("selection", "sum(where(w > 0, log(w), v))", of_where, r"where\(w\[i\] > ", ("w",), is_robust=True),
    Trick("mask", "sum(sum(tril(M.*S)))", lambda M, S: np.sum(np.tril(M * S)), r"range\(i \+ 1\)|if "),
    Trick("factors by rows", "norm2(X - U*V')^2", of_factors, r"gemm\(0, 1", ("U", "V")),
    Trick("staged sums", "norm2(conv(w, y))^2", of_convolution, r"conv\w* = np.empty", ("w", "y")),
    Trick("turned results", "sum((tanh(X*W)*b - y).^2)", of_network, r"result\[\w+, \w+, \w+, \w+\] \+?=", ("W",),
          "hessian", is_small=True),
    Trick("results of zeros", "M.*S", placed, "must be zeros before", ("M",), "jacobian"),
    Trick("definite or not", "w'*inv(S)*w + logdet(S)", of_symmetric, r"definite_or_lu\(", ("S",), spreads=True),
    Trick("solve", "inv(M)*w", lambda M, w: solve(M, w), r"lu_solve_vec\(", spreads=True),
    Trick("solve for many", "inv(M)*B", lambda M, B: solve(M, B), r"lu_solve\(", spreads=True),
    Trick("inverse", "inv(M)", lambda M: inv(M), r"lu_inv\(", spreads=True),
    Trick("shifted", "inv(P + c*eye(n))*B", of_shifted, r"symmetric_solve\(|chol_solve\(", spreads=True),
    Trick("Gram matrix", "inv(X'*X)*X'*y", lambda X, y: solve(X.T @ X, X.T @ y), r"chol_solve", spreads=True),
    Trick("determinant of a square", "logdet(X'*X)", of_gram, r"chol_logdet\(", ("X",), spreads=True),
    Trick("triangular solve", "inv(L)*B", forward, r"trsm\(", spreads=True),
    Trick("identity multiplied out", "(P + c*eye(n))*B", lambda P, c, B: P @ B + c * B, r"(gemm|symm)\(.*P, B"),
    Trick("mirrored operands", "tr(W'*S*W*G)", of_forms, r"(gemm|symm)\(", ("W",)),
    Trick("top pair", "spectral_norm(X)", of_top, r"svd_top\(", ("X",), is_robust=True),
    Trick("largest eigenvalue", "lambda_max(S)", of_largest, r"eig_top\(", ("S",), is_robust=True),
    Trick("largest eigenvalues", "sum_largest_eig(S, 2)", of_two_largest, r"eig_top\(", ("S",), is_robust=True),
    Trick("singular values", "nuclear_norm(X)", of_nuclear, r"svd\(", ("X",), is_robust=True),
    Trick("divided differences", "tr(M*matfun(exp, S))", of_function, r"eigh\(", ("S",), spreads=True),
    Trick("gaps of eigenvalues", "v'*(eigh_V(S).^2)*w", of_eigenvectors, r"over_gaps\(", ("S",)),
    Trick("deviation by rows", "std(X*w - y)", of_deviation, r"normalize\(|norm2\(", ("w",)),
    Trick("largest of rows", "max(X*w)", of_maximum, r"max_at\(", ("w",), spreads=True),
]  # fmt: skip
