"""Losses that public projects differentiate by hand, as the NumPy functions that such projects have."""

import numpy as np
from scipy import special, stats

# Regression and robust statistics.


def ridge(X, y, w, alpha):
    r = y - X @ w
    return 0.5 * r @ r + 0.5 * alpha * w @ w


def elastic_net(X, y, w, alpha, rho):
    return np.sum((X @ w - y) ** 2) / (2 * len(y)) + alpha * (rho * np.abs(w).sum() + (1 - rho) / 2 * np.sum(w**2))


def group_lasso(X, y, w, lam):
    r = X @ w - y
    groups = [w[:2], w[2:]]
    return np.mean(r**2) / 2 + lam * sum(np.sqrt(len(g)) * np.linalg.norm(g) for g in groups)


def huber_regression(X, y, w, sigma, epsilon):
    z = (y - X @ w) / sigma
    a = np.abs(z)
    return np.sum(sigma + np.where(a < epsilon, z**2, 2 * epsilon * a - epsilon**2) * sigma)


def quantile(X, y, w, tau):
    r = y - X @ w
    return np.mean(np.maximum(tau * r, (tau - 1) * r))


def tukey(X, y, w):
    u = (y - X @ w) / 4.685
    return np.sum(np.where(np.abs(u) <= 1, 1 - (1 - u**2) ** 3, 1.0)) * 4.685**2 / 6


def cauchy_loss(X, y, w, c):
    return c**2 / 2 * np.log1p(((y - X @ w) / c) ** 2).sum()


def geman_mcclure(X, y, w):
    r2 = (X @ w - y) ** 2
    return (r2 / (1 + r2)).sum()


def expectile(X, y, w, tau):
    r = y - X @ w
    return np.sum(np.abs(tau - (r < 0)) * r**2)


def student_t(X, y, w, log_scale, nu):
    return -np.sum(stats.t.logpdf(y, nu, loc=X @ w, scale=np.exp(log_scale)))


# Generalised linear models.


def logistic(X, s, w, C):
    margins = s * (X @ w)
    return C * np.sum(np.logaddexp(0, -margins)) + 0.5 * np.dot(w, w)


def poisson(X, count, w):
    eta = X @ w
    return np.sum(np.exp(eta) - count * eta + special.gammaln(count + 1))


def gamma_deviance(X, pos, w):
    mu = np.exp(X @ w)
    return 2 * np.mean(-np.log(pos / mu) + (pos - mu) / mu)


def tweedie(X, pos, w, p):
    mu = np.exp(X @ w)
    dev = pos ** (2 - p) / ((1 - p) * (2 - p)) - pos * mu ** (1 - p) / (1 - p) + mu ** (2 - p) / (2 - p)
    return 2 * dev.mean()


def inverse_gaussian(X, pos, w):
    mu = np.exp(X @ w)
    return np.sum((pos - mu) ** 2 / (pos * mu**2))


def negative_binomial(X, count, w, log_alpha):
    size = np.exp(-log_alpha)
    mu = np.exp(X @ w)
    return -np.sum(
        special.gammaln(count + size) - special.gammaln(size) - special.gammaln(count + 1)
        + size * np.log(size / (size + mu)) + count * np.log(mu / (size + mu))
    )  # fmt: skip


def zero_inflated(X, count, w, gamma):
    mu = np.exp(X @ w)
    pi = special.expit(gamma)
    zero = np.log(pi + (1 - pi) * np.exp(-mu))
    positive = np.log1p(-pi) - mu + count * np.log(mu) - special.gammaln(count + 1)
    return -np.where(count == 0, zero, positive).sum()


def hurdle(X, count, w, v):
    p = special.expit(X @ v)
    mu = np.exp(X @ w)
    positive = special.xlogy(count, mu) - mu - np.log(-np.expm1(-mu)) - special.gammaln(count + 1)
    return -np.sum(np.where(count > 0, np.log(p) + positive, np.log1p(-p)))


def beta_regression(X, unit, w, log_phi):
    mu, phi = special.expit(X @ w), np.exp(log_phi)
    return -stats.beta.logpdf(unit, mu * phi, (1 - mu) * phi).sum()


def probit(X, s, w):
    return -np.sum(special.log_ndtr(s * (X @ w)))


def tobit(X, pos, w, log_sigma):
    sigma = np.exp(log_sigma)
    mu = X @ w
    censored = pos < 1
    return -np.sum(np.where(censored, stats.norm.logcdf((1 - mu) / sigma), stats.norm.logpdf(pos, mu, sigma)))


def multinomial_onehot(X, Y, W):
    Z = X @ W
    return -np.sum(Y * (Z - special.logsumexp(Z, axis=1, keepdims=True))) / X.shape[0]


def focal(X, bit, w):
    p = special.expit(X @ w)
    pt = np.where(bit == 1, p, 1 - p)
    return np.mean(-((1 - pt) ** 2) * np.log(pt))


def squared_hinge(X, s, w, C):
    return 0.5 * w @ w + C * np.square(np.clip(1 - s * (X @ w), 0, None)).sum()


def ordinal(X, label, w, th):
    cuts = np.concatenate(([-np.inf], np.cumsum(np.concatenate((th[:1], np.exp(th[1:])))), [np.inf]))
    eta = X @ w
    return -np.sum(np.log(special.expit(cuts[label + 1] - eta) - special.expit(cuts[label] - eta)))


# Survival.


def cox(X, time, event, w):
    eta = X @ w
    at_risk = time[None, :] >= time[:, None]
    return -np.sum(event * (eta - special.logsumexp(np.where(at_risk, eta[None, :], -np.inf), axis=1)))


def cox_sorted(X, event, w):
    eta = X @ w
    risk = np.cumsum(np.exp(eta)[::-1])[::-1]
    return -np.sum(event * (eta - np.log(risk)))


def weibull_survival(X, time, event, w, log_k):
    k = np.exp(log_k)
    z = k * (np.log(time) - X @ w)
    return -np.sum(event * (log_k + z - np.log(time)) - np.exp(z))


def exponential_survival(X, time, event, w):
    rate = np.exp(X @ w)
    return np.sum(rate * time) - np.sum(event * np.log(rate))
