"""Formulas with a sparse matrix, each with its value by NumPy on the dense matrix, and data for them."""

import numpy as np
from scipy import sparse

import matcalc as mc

SYMBOLS = (
    "X: matrix(m, n) sparse; w: vector(n); y: vector(m); d: vector(m); e: vector(n); W: matrix(n, k); R: matrix(m, k); "
    "U: matrix(m, k); V: matrix(n, k); A: matrix(n, n); B: matrix(m, m); M: matrix(m, n); c: scalar"
)
LOGISTIC = "sum(log(1 + exp(-y .* (X*w)))) + c*w'*w"
SIZES = [(5, 4, 2), (1, 3, 1), (3, 1, 2), (4, 4, 4), (0, 3, 2), (3, 0, 2), (2, 3, 0), (1, 1, 1)]


def softplus(z):
    return np.log1p(np.exp(z))


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


FORMULAS = {  # text -> NumPy on the dense matrix
    "X*w": lambda X, w, **_: X @ w,
    "X'*y": lambda X, y, **_: X.T @ y,
    "X*W": lambda X, W, **_: X @ W,
    "X'*R": lambda X, R, **_: X.T @ R,
    "y'*X": lambda X, y, **_: y @ X,
    "y'*X*w": lambda X, y, w, **_: y @ X @ w,
    "diag(d)*X*w": lambda X, d, w, **_: d * (X @ w),
    "X*diag(e)*w": lambda X, e, w, **_: X @ (e * w),
    "(diag(d)*X*diag(e))'*y": lambda X, d, e, y, **_: e * (X.T @ (d * y)),
    "X'*X": lambda X, **_: X.T @ X,
    "X*X'": lambda X, **_: X @ X.T,
    "X'*diag(d)*X": lambda X, d, **_: X.T @ np.diag(d) @ X,
    "X*diag(e)*X'": lambda X, e, **_: X @ np.diag(e) @ X.T,
    "X'*diag(d.*d)*(X.*M)": lambda X, d, M, **_: X.T @ np.diag(d * d) @ (X * M),
    "X'*X*w": lambda X, w, **_: X.T @ (X @ w),
    "X*X'*X*w": lambda X, w, **_: X @ (X.T @ (X @ w)),
    "X*A*w": lambda X, A, w, **_: X @ (A @ w),
    "X*W*V'": lambda X, W, V, **_: X @ W @ V.T,
    "tr(U'*X*V)": lambda X, U, V, **_: np.trace(U.T @ X @ V),
    "tr(A*X'*X)": lambda X, A, **_: np.trace(A @ X.T @ X),
    "tr(X'*B*X)": lambda X, B, **_: np.trace(X.T @ B @ X),
    "sum(X)": lambda X, **_: np.sum(X),
    "sum(X.*X)": lambda X, **_: np.sum(X * X),
    "sum(X, axis=1)": lambda X, **_: np.sum(X, axis=1),
    "sum(X, axis=0)": lambda X, **_: np.sum(X, axis=0),
    "sum(X.*M)": lambda X, M, **_: np.sum(X * M),
    "sum(X.*(U*V'))": lambda X, U, V, **_: np.sum(X * (U @ V.T)),
    "sum(X.*log(1 + exp(U*V' + y*w')))": lambda X, U, V, y, w, **_: np.sum(X * softplus(U @ V.T + np.outer(y, w))),
    "sum((X - U*V').^2)": lambda X, U, V, **_: np.sum((X - U @ V.T) ** 2),
    "sum(exp(U*V') - X.*(U*V'))": lambda X, U, V, **_: np.sum(np.exp(U @ V.T) - X * (U @ V.T)),
    "(X.*(U*V'))*w": lambda X, U, V, w, **_: (X * (U @ V.T)) @ w,
    "(X - U*V')*w": lambda X, U, V, w, **_: (X - U @ V.T) @ w,
    "(c*X + X.*M)'*y": lambda X, c, M, y, **_: (c * X + X * M).T @ y,
    "sum(abs(X)) + sum(X.^3) + sum(relu(X))": lambda X, **_: np.sum(abs(X)) + np.sum(X**3) + np.sum(np.maximum(X, 0)),
    "sum(sin(X).*M)": lambda X, M, **_: np.sum(np.sin(X) * M),
    "sum(X.*exp(X.*M + U*V'))": lambda X, M, U, V, **_: np.sum(X * np.exp(X * M + U @ V.T)),
    "(X./(1 + exp(X)))*w": lambda X, w, **_: (X / (1 + np.exp(X))) @ w,
    "sqrt(abs(X))*w": lambda X, w, **_: np.sqrt(abs(X)) @ w,
    "norm2(X) + norm2(X*w - y)": lambda X, w, y, **_: np.linalg.norm(X) + np.linalg.norm(X @ w - y),
    "diag(X*A*X')": lambda X, A, **_: np.diag(X @ A @ X.T),
    "diag(X*A*diag(e)*(X.*M)') + y": lambda X, A, e, M, y, **_: np.diag(X @ A @ np.diag(e) @ (X * M).T) + y,
    "diag(X*X')": lambda X, **_: np.diag(X @ X.T),
    "sum(norm2(X, axis=1))": lambda X, **_: np.sum(np.linalg.norm(X, axis=1)),
    "norm2(X, axis=0)": lambda X, **_: np.linalg.norm(X, axis=0),
    "(X + 2*X.*M + U*V')'*(X*w)": lambda X, M, U, V, w, **_: (X + 2 * X * M + U @ V.T).T @ (X @ w),
    "sum((X - exp(y*w')).^2)": lambda X, y, w, **_: np.sum((X - np.exp(np.outer(y, w))) ** 2),
    "sum(where(X > 1/2, X, -X))": lambda X, **_: np.sum(np.where(X > 0.5, X, -X)),
    "inv(X'*X + eye(n))*X'*y": lambda X, y, **_: np.linalg.solve(X.T @ X + np.eye(X.shape[1]), X.T @ y),
    "logdet(X'*diag(d.*d)*X + eye(n))": lambda X, d, **_: np.linalg.slogdet(
        X.T @ np.diag(d * d) @ X + np.eye(X.shape[1])
    )[1],
    "(X*w).*(X*e)": lambda X, w, e, **_: (X @ w) * (X @ e),
    "sum(log_softmax(X*W, axis=1))": lambda X, W, **_: np.sum(
        X @ W - np.log(np.sum(np.exp(X @ W), axis=1, keepdims=True))
    ),
    LOGISTIC: lambda X, y, w, c, **_: np.sum(softplus(-y * (X @ w))) + c * w @ w,
    "2*c*w - X'*(y.*sigmoid(-y.*(X*w)))": lambda X, y, w, c, **_: 2 * c * w - X.T @ (y * sigmoid(-y * (X @ w))),
}
QUICK = ["X*w", "X'*R", "X'*diag(d)*X"]


def data(m, n, k, seed=0):
    """Return random data: X has an empty row, an empty column and stored zeros if it is large enough."""
    rng = np.random.default_rng([seed, m, n, k])
    D = rng.standard_normal((m, n)) * (rng.random((m, n)) < 0.5)
    D[1:2], D[:, 1:2] = 0, 0
    X = sparse.csr_array(D)
    X.data[::3] = 0
    shapes = {"w": (n,), "y": (m,), "d": (m,), "e": (n,), "W": (n, k), "R": (m, k), "U": (m, k), "V": (n, k)}
    shapes |= {"A": (n, n), "B": (m, m), "M": (m, n)}
    return {"X": X, "c": 0.7, **{name: rng.standard_normal(shape) for name, shape in shapes.items()}}


def dense(given):
    return {**given, "X": given["X"].toarray()}


def function(text, target):
    return mc.compile(mc.expression(text, SYMBOLS), target=target)
