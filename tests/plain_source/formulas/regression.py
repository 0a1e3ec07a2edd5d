"""Regressions: losses and likelihoods of a linear predictor."""

import numpy as np
from plain_source.formulas.table import formula, second
from scipy.special import expit, log_ndtr


@formula("norm2(X*w - y)^2", "X: matrix(m, n); w: vector(n); y: vector(m)", "w")
def least_squares(X, w, y):
    r = X @ w - y
    value = r @ r
    gradient_w = 2 * X.T @ r
    return value, gradient_w


@second("hessian")
def least_squares_hessian(X, w, y):
    r = X @ w - y
    value = r @ r
    gradient_w = 2 * X.T @ r
    hessian_w = 2 * X.T @ X
    return value, gradient_w, hessian_w


@second("hvp")
def least_squares_hvp(X, w, y, v):
    return 2 * X.T @ (X @ v)


@formula("norm2(X*w - y)^2 + mu*norm2(w)^2", "X: matrix(m, n); w: vector(n); y: vector(m); mu: scalar", "w")
def ridge(X, w, y, mu):
    r = X @ w - y
    value = r @ r + mu * w @ w
    gradient_w = 2 * (X.T @ r + mu * w)
    return value, gradient_w


@second("hessian")
def ridge_hessian(X, w, y, mu):
    r = X @ w - y
    hessian = 2 * (X.T @ X + mu * np.eye(len(w)))
    value = r @ r + mu * w @ w
    gradient_w = 2 * (X.T @ r + mu * w)
    return value, gradient_w, hessian


@second("hvp")
def ridge_hvp(X, w, y, mu, v):
    return 2 * (X.T @ (X @ v) + mu * v)


@formula("(X*w - y)'*diag(q)*(X*w - y)", "X: matrix(m, n); w: vector(n); y: vector(m); q: vector(m)", "w", q="positive")
def weighted_least_squares(X, w, y, q):
    r = X @ w - y
    value = q @ r**2
    gradient_w = 2 * X.T @ (q * r)
    return value, gradient_w


@second("hessian")
def weighted_least_squares_hessian(X, w, y, q):
    r = X @ w - y
    value = q @ r**2
    gradient_w = 2 * X.T @ (q * r)
    hessian_w = 2 * X.T @ (q[:, None] * X)
    return value, gradient_w, hessian_w


@second("hvp")
def weighted_least_squares_hvp(X, w, y, q, v):
    return 2 * X.T @ (q * (X @ v))


@formula(
    "sum(log(1 + exp(-y.*(X*w)))) + lam*w'*w",
    "X: matrix(m, n); y: vector(m); w: vector(n); lam: scalar",
    "w",
    y="signs",
)
def logistic(X, y, w, lam):
    z = -y * (X @ w)
    value = np.sum(np.logaddexp(0, z)) + lam * (w @ w)
    gradient_w = 2 * lam * w - X.T @ (y * expit(z))
    return value, gradient_w


@second("hessian")
def logistic_hessian(X, y, w, lam):
    z = -y * (X @ w)
    p = expit(z)
    value = np.sum(np.logaddexp(0, z)) + lam * (w @ w)
    gradient_w = 2 * lam * w - X.T @ (y * p)
    hessian_w = 2 * lam * np.eye(len(w)) + X.T @ ((y**2 * p * (1 - p))[:, None] * X)
    return value, gradient_w, hessian_w


@second("hvp")
def logistic_hvp(X, y, w, lam, v):
    p = expit(-y * (X @ w))
    return 2 * lam * v + X.T @ (y**2 * p * (1 - p) * (X @ v))


@formula("sum(softplus(-y.*(X*w + b)))", "X: matrix(m, n); y: vector(m); w: vector(n); b: scalar", "w b", y="signs")
def logistic_intercept(X, y, w, b):
    z = -y * (X @ w + b)
    g = -y * expit(z)
    value = np.sum(np.logaddexp(0, z))
    gradient_w = X.T @ g
    gradient_b = np.sum(g)
    return value, gradient_w, gradient_b


@formula("sum(log(1 + exp(X*w))) - y'*X*w", "X: matrix(m, n); w: vector(n); y: vector(m)", "w", y="mask")
def bernoulli(X, w, y):
    z = X @ w
    value = np.sum(np.logaddexp(0, z)) - y @ z
    gradient_w = X.T @ (expit(z) - y)
    return value, gradient_w


@second("hessian")
def bernoulli_hessian(X, w, y):
    z = X @ w
    p = expit(z)
    hessian = X.T @ ((p * (1 - p))[:, None] * X)
    value = np.sum(np.logaddexp(0, z)) - y @ z
    gradient_w = X.T @ (p - y)
    return value, gradient_w, hessian


@second("hvp")
def bernoulli_hvp(X, w, y, v):
    p = expit(X @ w)
    return X.T @ (p * (1 - p) * (X @ v))


@formula("sum(exp(X*w) - y.*(X*w))", "X: matrix(m, n); w: vector(n); y: vector(m)", "w", X="scaled", y="positive")
def poisson(X, w, y):
    z = X @ w
    mu = np.exp(z)
    value = np.sum(mu - y * z)
    gradient_w = X.T @ (mu - y)
    return value, gradient_w


@second("hessian")
def poisson_hessian(X, w, y):
    z = X @ w
    mu = np.exp(z)
    value = np.sum(mu - y * z)
    gradient_w = X.T @ (mu - y)
    hessian_w = X.T @ (mu[:, None] * X)
    return value, gradient_w, hessian_w


@second("hvp")
def poisson_hvp(X, w, y, v):
    return X.T @ (np.exp(X @ w) * (X @ v))


@formula("sum(X*w + y.*exp(-X*w))", "X: matrix(m, n); w: vector(n); y: vector(m)", "w", X="scaled", y="positive")
def gamma_regression(X, w, y):
    z = X @ w
    u = y * np.exp(-z)
    value = np.sum(z + u)
    gradient_w = X.T @ (1 - u)
    return value, gradient_w


@second("hessian")
def gamma_regression_hessian(X, w, y):
    z = X @ w
    u = y * np.exp(-z)
    value = np.sum(z + u)
    gradient_w = X.T @ (1 - u)
    hessian_w = X.T @ (u[:, None] * X)
    return value, gradient_w, hessian_w


@second("hvp")
def gamma_regression_hvp(X, w, y, v):
    return X.T @ (y * np.exp(-X @ w) * (X @ v))


@formula(
    "sum((y + a).*log(a + exp(X*w)) - y.*(X*w))",
    "X: matrix(m, n); w: vector(n); y: vector(m); a: scalar positive",
    "w",
    X="scaled",
    y="positive",
)
def negative_binomial(X, w, y, a):
    z = X @ w
    mu = np.exp(z)
    value = (y + a) @ np.log(a + mu) - y @ z
    gradient_w = X.T @ ((y + a) * mu / (a + mu) - y)
    return value, gradient_w


@second("hessian")
def negative_binomial_hessian(X, w, y, a):
    z = X @ w
    mu = np.exp(z)
    p = mu / (a + mu)
    value = (y + a) @ np.log(a + mu) - y @ z
    hessian = X.T @ (((y + a) * p * (1 - p))[:, None] * X)
    gradient_w = X.T @ ((y + a) * p - y)
    return value, gradient_w, hessian


@second("hvp")
def negative_binomial_hvp(X, w, y, a, v):
    mu = np.exp(X @ w)
    return X.T @ ((y + a) * a * mu / (a + mu) ** 2 * (X @ v))


@formula("-sum(log_ndtr(y.*(X*w)))", "X: matrix(m, n); w: vector(n); y: vector(m)", "w", y="signs")
def probit(X, w, y):
    z = y * (X @ w)
    u = log_ndtr(z)
    value = -np.sum(u)
    gradient_w = -X.T @ (y * np.exp(-(z**2) / 2 - u)) / np.sqrt(2 * np.pi)
    return value, gradient_w


@formula(
    "d'*(log(flip(cumsum(flip(exp(X*w))))) - X*w)",
    "X: matrix(m, n); w: vector(n); d: vector(m)",
    "w",
    d="mask",
)
def cox(X, w, d):
    z = X @ w
    e = np.exp(z)
    risk = np.cumsum(e[::-1])[::-1]
    value = d @ (np.log(risk) - z)
    gradient_w = X.T @ (e * np.cumsum(d / risk) - d)
    return value, gradient_w


@formula("norm2(X*W - Y)^2 + mu*norm2(W)^2", "X: matrix(m, n); W: matrix(n, k); Y: matrix(m, k); mu: scalar", "W")
def ridge_of_columns(X, W, Y, mu):
    R = X @ W - Y
    value = np.sum(R**2) + mu * np.sum(W**2)
    gradient_W = 2 * (X.T @ R + mu * W)
    return value, gradient_W


@second("hessian")
def ridge_of_columns_hessian(X, W, Y, mu):
    R = X @ W - Y
    H = 2 * (X.T @ X + mu * np.eye(len(W)))
    hessian = np.einsum("ik,jl->ijkl", H, np.eye(W.shape[1]))
    value = np.sum(R**2) + mu * np.sum(W**2)
    gradient_W = 2 * (X.T @ R + mu * W)
    return value, gradient_W, hessian


@second("hvp")
def ridge_of_columns_hvp(X, W, Y, mu, v):
    return 2 * (X.T @ (X @ v) + mu * v)
