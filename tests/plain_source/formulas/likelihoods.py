"""Likelihoods of distributions and fits of curves."""

import numpy as np
from plain_source.formulas.table import formula, second
from scipy.special import digamma, expit, gammaln, polygamma


@formula(
    "-sum(gammaln(c) - gammaln(mu*c) - gammaln((1 - mu)*c) + (mu*c - 1).*log(y) + ((1 - mu)*c - 1).*log(1 - y)) "
    "where mu = sigmoid(X*w)",
    "X: matrix(m, n); w: vector(n); y: vector(m); c: scalar positive",
    "w c",
    y="fraction",
)
def beta_regression(X, w, y, c):
    mu = expit(X @ w)
    a, b = mu * c, (1 - mu) * c
    ly, l1y = np.log(y), np.log(1 - y)
    ga, gb = digamma(a) - ly, digamma(b) - l1y
    value = np.sum(gammaln(a) + gammaln(b) - gammaln(c) - (a - 1) * ly - (b - 1) * l1y)
    gradient_w = X.T @ (a * (1 - mu) * (ga - gb))
    gradient_c = mu @ ga + (1 - mu) @ gb - len(y) * digamma(c)
    return value, gradient_w, gradient_c


@formula(
    "N*(sum(gammaln(a)) - gammaln(sum(a))) - (a - 1)'*t",
    "a: vector(n) positive; t: vector(n); N: scalar",
    "a",
)
def dirichlet(a, t, N):
    s = np.sum(a)
    value = N * (np.sum(gammaln(a)) - gammaln(s)) - (a - 1) @ t
    gradient_a = N * (digamma(a) - digamma(s)) - t
    return value, gradient_a


@second("hessian")
def dirichlet_hessian(a, t, N):
    s = np.sum(a)
    value = N * (np.sum(gammaln(a)) - gammaln(s)) - (a - 1) @ t
    gradient = N * (digamma(a) - digamma(s)) - t
    hessian_a = N * (np.diag(polygamma(1, a)) - polygamma(1, s))
    return value, gradient, hessian_a


@second("hvp")
def dirichlet_hvp(a, t, N, v):
    return N * (polygamma(1, a) * v - polygamma(1, np.sum(a)) * np.sum(v))


@formula(
    "sum((a - 1)*log(x) - b*x + a*log(b) - gammaln(a))",
    "x: vector(m) positive; a: scalar positive; b: scalar positive",
    "a b",
)
def gamma_likelihood(x, a, b):
    m, s, t = len(x), np.sum(np.log(x)), np.sum(x)
    value = (a - 1) * s - b * t + m * (a * np.log(b) - gammaln(a))
    gradient_a = s + m * (np.log(b) - digamma(a))
    gradient_b = m * a / b - t
    return value, gradient_a, gradient_b


@formula(
    "sum(log(c/l) + (c - 1)*log(x/l) - (x/l).^c)",
    "x: vector(m) positive; c: scalar positive; l: scalar positive",
    "c l",
)
def weibull(x, c, l):  # noqa: E741
    m = len(x)
    u = np.log(x / l)
    p = np.exp(c * u)
    value = m * np.log(c / l) + (c - 1) * np.sum(u) - np.sum(p)
    gradient_c = m / c + np.sum(u) - u @ p
    gradient_l = c / l * (np.sum(p) - m)
    return value, gradient_c, gradient_l


@formula("norm2(p[0]*exp(-p[1]*t) + p[2] - y)^2", "p: vector(3); t: vector(m); y: vector(m)", "p")
def curve_fit(p, t, y):
    e = np.exp(-p[1] * t)
    r = p[0] * e + p[2] - y
    value = r @ r
    gradient_p = 2 * np.array([r @ e, -p[0] * (r @ (t * e)), np.sum(r)])
    return value, gradient_p


@formula("-sum(log(L*q))", "L: matrix(m, n) positive; q: vector(n) positive", "q")
def mixture_weights(L, q):
    z = L @ q
    value = -np.sum(np.log(z))
    gradient_q = -L.T @ (1 / z)
    return value, gradient_q


@second("hessian")
def mixture_weights_hessian(L, q):
    z = L @ q
    value = -np.sum(np.log(z))
    gradient_q = -L.T @ (1 / z)
    hessian_q = L.T @ (L / z[:, None] ** 2)
    return value, gradient_q, hessian_q


@second("hvp")
def mixture_weights_hvp(L, q, v):
    return L.T @ (L @ v / (L @ q) ** 2)


@formula(
    "mu^2/50 + exp(2*t)/50 - t + norm2(eta)^2/2 + sum(((y - mu - exp(t)*eta)./s).^2)/2",
    "mu: scalar; t: scalar; eta: vector(n); y: vector(n); s: vector(n) positive",
    "mu t eta",
)
def eight_schools(mu, t, eta, y, s):
    tau = np.exp(t)
    r = (y - mu - tau * eta) / s
    value = (mu**2 + tau**2) / 50 - t + (eta @ eta + r @ r) / 2
    u = r / s
    gradient_mu = mu / 25 - np.sum(u)
    gradient_t = tau**2 / 25 - 1 - tau * (eta @ u)
    gradient_eta = eta - tau * u
    return value, gradient_mu, gradient_t, gradient_eta
