"""Regressions with other losses and penalties: robust losses, margins, quantiles, sparse weights."""

import numpy as np
from plain_source.formulas.table import formula, second


@formula("sum(huber(X*w - y))", "X: matrix(m, n); w: vector(n); y: vector(m)", "w")
def huber(X, w, y):
    r = X @ w - y
    c = np.clip(r, -1, 1)
    value = np.sum(c * (r - c / 2))
    gradient_w = X.T @ c
    return value, gradient_w


@formula("sum(sqrt(1 + (X*w - y).^2) - 1)", "X: matrix(m, n); w: vector(n); y: vector(m)", "w")
def pseudo_huber(X, w, y):
    r = X @ w - y
    s = np.sqrt(1 + r**2)
    value = np.sum(s - 1)
    gradient_w = X.T @ (r / s)
    return value, gradient_w


@second("hessian")
def pseudo_huber_hessian(X, w, y):
    r = X @ w - y
    s = np.sqrt(1 + r**2)
    value = np.sum(s - 1)
    gradient_w = X.T @ (r / s)
    hessian_w = X.T @ (X / s[:, None] ** 3)
    return value, gradient_w, hessian_w


@second("hvp")
def pseudo_huber_hvp(X, w, y, v):
    return X.T @ ((X @ v) / (1 + (X @ w - y) ** 2) ** 1.5)


@formula(
    "sum(max(0, 1 - y.*(X*w))) + lam/2*w'*w",
    "X: matrix(m, n); w: vector(n); y: vector(m); lam: scalar",
    "w",
    y="signs",
)
def hinge(X, w, y, lam):
    z = 1 - y * (X @ w)
    value = np.sum(np.maximum(0, z)) + lam / 2 * w @ w
    gradient_w = lam * w - X.T @ (y * (z > 0))
    return value, gradient_w


@formula("sum(max(0, 1 - y.*(X*w)).^2)", "X: matrix(m, n); w: vector(n); y: vector(m)", "w", y="signs")
def squared_hinge(X, w, y):
    h = np.maximum(0, 1 - y * (X @ w))
    value = h @ h
    gradient_w = -2 * X.T @ (y * h)
    return value, gradient_w


@second("hessian")
def squared_hinge_hessian(X, w, y):
    h = np.maximum(0, 1 - y * (X @ w))
    value = h @ h
    gradient_w = -2 * X.T @ (y * h)
    hessian_w = 2 * X.T @ ((y**2 * (h > 0))[:, None] * X)
    return value, gradient_w, hessian_w


@second("hvp")
def squared_hinge_hvp(X, w, y, v):
    return 2 * X.T @ (y**2 * (y * (X @ w) < 1) * (X @ v))


@formula(
    "sum(max(t*(y - X*w), (t - 1)*(y - X*w)))",
    "X: matrix(m, n); w: vector(n); y: vector(m); t: scalar",
    "w",
    t="fraction",
)
def quantile(X, w, y, t):
    r = y - X @ w
    s = np.where(r > 0, t, t - 1)
    value = s @ r
    gradient_w = -X.T @ s
    return value, gradient_w


@formula(
    "norm2(X*w - y)^2/2 + mu*sum(sqrt(w.^2 + c^2))",
    "X: matrix(m, n); w: vector(n); y: vector(m); mu: scalar; c: scalar",
    "w",
)
def smooth_lasso(X, w, y, mu, c):
    r = X @ w - y
    s = np.sqrt(w**2 + c**2)
    value = r @ r / 2 + mu * np.sum(s)
    gradient_w = X.T @ r + mu * w / s
    return value, gradient_w


@second("hessian")
def smooth_lasso_hessian(X, w, y, mu, c):
    r = X @ w - y
    s = np.sqrt(w**2 + c**2)
    hessian = X.T @ X + np.diag(mu * c**2 / s**3)
    value = r @ r / 2 + mu * np.sum(s)
    gradient_w = X.T @ r + mu * w / s
    return value, gradient_w, hessian


@second("hvp")
def smooth_lasso_hvp(X, w, y, mu, c, v):
    return X.T @ (X @ v) + mu * c**2 * v / (w**2 + c**2) ** 1.5


@formula(
    "(nu + 1)/2*sum(log(1 + (X*w - y).^2/nu))",
    "X: matrix(m, n); w: vector(n); y: vector(m); nu: scalar positive",
    "w",
)
def student(X, w, y, nu):
    r = X @ w - y
    value = (nu + 1) / 2 * np.sum(np.log1p(r**2 / nu))
    gradient_w = (nu + 1) * X.T @ (r / (nu + r**2))
    return value, gradient_w


@second("hessian")
def student_hessian(X, w, y, nu):
    r = X @ w - y
    d = nu + r**2
    value = (nu + 1) / 2 * np.sum(np.log(d / nu))
    hessian = (nu + 1) * X.T @ (((nu - r**2) / d**2)[:, None] * X)
    gradient_w = (nu + 1) * X.T @ (r / d)
    return value, gradient_w, hessian


@second("hvp")
def student_hvp(X, w, y, nu, v):
    r2 = (X @ w - y) ** 2
    return (nu + 1) * X.T @ ((nu - r2) / (nu + r2) ** 2 * (X @ v))


@formula(
    "norm2(X*w - y)^2/2 + a*norm1(w) + b/2*norm2(w)^2",
    "X: matrix(m, n); w: vector(n); y: vector(m); a: scalar; b: scalar",
    "w",
)
def elastic_net(X, w, y, a, b):
    r = X @ w - y
    value = (r @ r + b * w @ w) / 2 + a * np.sum(np.abs(w))
    gradient_w = X.T @ r + a * np.sign(w) + b * w
    return value, gradient_w


@formula("norm1(X*w - y)", "X: matrix(m, n); w: vector(n); y: vector(m)", "w")
def absolute_deviations(X, w, y):
    r = X @ w - y
    value = np.sum(np.abs(r))
    gradient_w = X.T @ np.sign(r)
    return value, gradient_w
