"""Regressions: losses and likelihoods of a linear predictor."""

import numpy as np
from plain.formulas.table import formula, second
from scipy.special import expit, log_ndtr


@formula("norm2(X*w - y)^2", "X: matrix(m, n); w: vector(n); y: vector(m)", "w")
def least_squares(X, w, y):
    r = X @ w - y
    return r @ r, 2 * X.T @ r


@second("hessian")
def least_squares_hessian(X, w, y):
    r = X @ w - y
    return r @ r, 2 * X.T @ r, 2 * X.T @ X


@second("hvp")
def least_squares_hvp(X, w, y, v):
    return 2 * X.T @ (X @ v)


@formula("norm2(X*w - y)^2 + mu*norm2(w)^2", "X: matrix(m, n); w: vector(n); y: vector(m); mu: scalar", "w")
def ridge(X, w, y, mu):
    r = X @ w - y
    return r @ r + mu * w @ w, 2 * (X.T @ r + mu * w)


@second("hessian")
def ridge_hessian(X, w, y, mu):
    r = X @ w - y
    hessian = 2 * (X.T @ X + mu * np.eye(len(w)))
    return r @ r + mu * w @ w, 2 * (X.T @ r + mu * w), hessian


@second("hvp")
def ridge_hvp(X, w, y, mu, v):
    return 2 * (X.T @ (X @ v) + mu * v)


@formula("(X*w - y)'*diag(q)*(X*w - y)", "X: matrix(m, n); w: vector(n); y: vector(m); q: vector(m)", "w", q="positive")
def weighted_least_squares(X, w, y, q):
    r = X @ w - y
    return q @ r**2, 2 * X.T @ (q * r)


@second("hessian")
def weighted_least_squares_hessian(X, w, y, q):
    r = X @ w - y
    return q @ r**2, 2 * X.T @ (q * r), 2 * X.T @ (q[:, None] * X)


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
    return np.sum(np.logaddexp(0, z)), X.T @ g, np.sum(g)


@formula("sum(log(1 + exp(X*w))) - y'*X*w", "X: matrix(m, n); w: vector(n); y: vector(m)", "w", y="mask")
def bernoulli(X, w, y):
    z = X @ w
    return np.sum(np.logaddexp(0, z)) - y @ z, X.T @ (expit(z) - y)


@second("hessian")
def bernoulli_hessian(X, w, y):
    z = X @ w
    p = expit(z)
    hessian = X.T @ ((p * (1 - p))[:, None] * X)
    return np.sum(np.logaddexp(0, z)) - y @ z, X.T @ (p - y), hessian


@second("hvp")
def bernoulli_hvp(X, w, y, v):
    p = expit(X @ w)
    return X.T @ (p * (1 - p) * (X @ v))


@formula("sum(exp(X*w) - y.*(X*w))", "X: matrix(m, n); w: vector(n); y: vector(m)", "w", X="scaled", y="positive")
def poisson(X, w, y):
    z = X @ w
    mu = np.exp(z)
    return np.sum(mu - y * z), X.T @ (mu - y)


@second("hessian")
def poisson_hessian(X, w, y):
    z = X @ w
    mu = np.exp(z)
    return np.sum(mu - y * z), X.T @ (mu - y), X.T @ (mu[:, None] * X)


@second("hvp")
def poisson_hvp(X, w, y, v):
    return X.T @ (np.exp(X @ w) * (X @ v))


@formula("sum(X*w + y.*exp(-X*w))", "X: matrix(m, n); w: vector(n); y: vector(m)", "w", X="scaled", y="positive")
def gamma_regression(X, w, y):
    z = X @ w
    u = y * np.exp(-z)
    return np.sum(z + u), X.T @ (1 - u)


@second("hessian")
def gamma_regression_hessian(X, w, y):
    z = X @ w
    u = y * np.exp(-z)
    return np.sum(z + u), X.T @ (1 - u), X.T @ (u[:, None] * X)


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
    return (y + a) @ np.log(a + mu) - y @ z, X.T @ ((y + a) * mu / (a + mu) - y)


@second("hessian")
def negative_binomial_hessian(X, w, y, a):
    z = X @ w
    mu = np.exp(z)
    p = mu / (a + mu)
    value = (y + a) @ np.log(a + mu) - y @ z
    hessian = X.T @ (((y + a) * p * (1 - p))[:, None] * X)
    return value, X.T @ ((y + a) * p - y), hessian


@second("hvp")
def negative_binomial_hvp(X, w, y, a, v):
    mu = np.exp(X @ w)
    return X.T @ ((y + a) * a * mu / (a + mu) ** 2 * (X @ v))


@formula("-sum(log_ndtr(y.*(X*w)))", "X: matrix(m, n); w: vector(n); y: vector(m)", "w", y="signs")
def probit(X, w, y):
    z = y * (X @ w)
    u = log_ndtr(z)
    return -np.sum(u), -X.T @ (y * np.exp(-(z**2) / 2 - u)) / np.sqrt(2 * np.pi)


@formula("sum(huber(X*w - y))", "X: matrix(m, n); w: vector(n); y: vector(m)", "w")
def huber(X, w, y):
    r = X @ w - y
    c = np.clip(r, -1, 1)
    return np.sum(c * (r - c / 2)), X.T @ c


@formula("sum(sqrt(1 + (X*w - y).^2) - 1)", "X: matrix(m, n); w: vector(n); y: vector(m)", "w")
def pseudo_huber(X, w, y):
    r = X @ w - y
    s = np.sqrt(1 + r**2)
    return np.sum(s - 1), X.T @ (r / s)


@second("hessian")
def pseudo_huber_hessian(X, w, y):
    r = X @ w - y
    s = np.sqrt(1 + r**2)
    return np.sum(s - 1), X.T @ (r / s), X.T @ (X / s[:, None] ** 3)


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
    return np.sum(np.maximum(0, z)) + lam / 2 * w @ w, lam * w - X.T @ (y * (z > 0))


@formula("sum(max(0, 1 - y.*(X*w)).^2)", "X: matrix(m, n); w: vector(n); y: vector(m)", "w", y="signs")
def squared_hinge(X, w, y):
    h = np.maximum(0, 1 - y * (X @ w))
    return h @ h, -2 * X.T @ (y * h)


@second("hessian")
def squared_hinge_hessian(X, w, y):
    h = np.maximum(0, 1 - y * (X @ w))
    return h @ h, -2 * X.T @ (y * h), 2 * X.T @ ((y**2 * (h > 0))[:, None] * X)


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
    return s @ r, -X.T @ s


@formula(
    "norm2(X*w - y)^2/2 + mu*sum(sqrt(w.^2 + c^2))",
    "X: matrix(m, n); w: vector(n); y: vector(m); mu: scalar; c: scalar",
    "w",
)
def smooth_lasso(X, w, y, mu, c):
    r = X @ w - y
    s = np.sqrt(w**2 + c**2)
    return r @ r / 2 + mu * np.sum(s), X.T @ r + mu * w / s


@second("hessian")
def smooth_lasso_hessian(X, w, y, mu, c):
    r = X @ w - y
    s = np.sqrt(w**2 + c**2)
    hessian = X.T @ X + np.diag(mu * c**2 / s**3)
    return r @ r / 2 + mu * np.sum(s), X.T @ r + mu * w / s, hessian


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
    return value, (nu + 1) * X.T @ (r / (nu + r**2))


@second("hessian")
def student_hessian(X, w, y, nu):
    r = X @ w - y
    d = nu + r**2
    value = (nu + 1) / 2 * np.sum(np.log(d / nu))
    hessian = (nu + 1) * X.T @ (((nu - r**2) / d**2)[:, None] * X)
    return value, (nu + 1) * X.T @ (r / d), hessian


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
    return value, X.T @ r + a * np.sign(w) + b * w


@formula("norm1(X*w - y)", "X: matrix(m, n); w: vector(n); y: vector(m)", "w")
def absolute_deviations(X, w, y):
    r = X @ w - y
    return np.sum(np.abs(r)), X.T @ np.sign(r)


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
    return d @ (np.log(risk) - z), X.T @ (e * np.cumsum(d / risk) - d)


@formula("norm2(X*W - Y)^2 + mu*norm2(W)^2", "X: matrix(m, n); W: matrix(n, k); Y: matrix(m, k); mu: scalar", "W")
def ridge_of_columns(X, W, Y, mu):
    R = X @ W - Y
    return np.sum(R**2) + mu * np.sum(W**2), 2 * (X.T @ R + mu * W)


@second("hessian")
def ridge_of_columns_hessian(X, W, Y, mu):
    R = X @ W - Y
    H = 2 * (X.T @ X + mu * np.eye(len(W)))
    hessian = np.einsum("ik,jl->ijkl", H, np.eye(W.shape[1]))
    return np.sum(R**2) + mu * np.sum(W**2), 2 * (X.T @ R + mu * W), hessian


@second("hvp")
def ridge_of_columns_hvp(X, W, Y, mu, v):
    return 2 * (X.T @ (X @ v) + mu * v)
