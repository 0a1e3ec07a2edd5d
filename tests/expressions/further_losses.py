"""Losses that public projects differentiate by hand, as the NumPy functions that such projects have.

LOSSES: name -> function, declarations, variables. `data` draws each parameter by its declaration; RANGES are the names
that need a range. TEXTS has the same losses as text.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg, special, stats
from scipy.spatial.distance import cdist


class Loss(NamedTuple):
    function: Callable[..., float]
    declarations: str
    wrt: tuple[str, ...]


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


# Gaussian processes and covariances.


def gp_rbf(X, y, theta):
    K = np.exp(2 * theta[0]) * np.exp(-cdist(X, X, "sqeuclidean") / (2 * np.exp(2 * theta[1])))
    K[np.diag_indices_from(K)] += np.exp(2 * theta[2])
    L = np.linalg.cholesky(K)
    alpha = linalg.cho_solve((L, True), y)
    return 0.5 * y @ alpha + np.log(np.diag(L)).sum() + 0.5 * len(y) * np.log(2 * np.pi)


def gp_rational_quadratic(X, y, theta):
    d2 = np.sum(X**2, axis=1)[:, None] + np.sum(X**2, axis=1)[None, :] - 2 * X @ X.T
    a = np.exp(theta[1])
    K = (1 + d2 / (2 * a * np.exp(theta[0]))) ** (-a) + np.exp(theta[2]) * np.eye(X.shape[0])
    sign, logdet = np.linalg.slogdet(K)
    return 0.5 * y @ np.linalg.solve(K, y) + 0.5 * logdet


def sparse_gp(A, y, s):
    n = A.shape[0]
    B = np.eye(A.shape[1]) + A.T @ A / s
    c = np.linalg.solve(B, A.T @ y) / s
    return 0.5 * (n * np.log(s) + np.linalg.slogdet(B)[1] + (y @ y - (A.T @ y) @ c) / s)


def factor_analysis(L, psi, S):
    Sigma = L @ L.T + np.diag(psi)
    return np.linalg.slogdet(Sigma)[1] + np.trace(np.linalg.inv(Sigma) @ S)


def graphical_lasso(P, S, lam):
    off = P - np.diag(np.diag(P))
    return -np.linalg.slogdet(P)[1] + np.sum(P * S) + lam * np.sum(np.sqrt(off**2 + 1e-6))


def ppca(W, S, s):
    C = W @ W.T + s * np.eye(W.shape[0])
    return np.linalg.slogdet(C)[1] + np.trace(np.linalg.solve(C, S))


def mixed_model(X, A, y, b, log_tau):
    V = np.exp(log_tau) * A @ A.T + np.eye(len(y))
    r = y - X @ b
    return 0.5 * (np.linalg.slogdet(V)[1] + r @ np.linalg.solve(V, r))


def reml(X, A, y, log_tau):
    V = np.exp(log_tau) * (A @ A.T) + np.eye(y.shape[0])
    Vi = np.linalg.inv(V)
    XtVi = X.T @ Vi
    beta = np.linalg.solve(XtVi @ X, XtVi @ y)
    r = y - X @ beta
    return 0.5 * (np.linalg.slogdet(V)[1] + np.linalg.slogdet(XtVi @ X)[1] + r.T @ Vi @ r)


# Factorisations, recommenders, rankings.


def matrix_factorisation(U, V, R, B, lam):
    E = B * (R - U @ V.T)
    return 0.5 * np.sum(E**2) + 0.5 * lam * (np.sum(U**2) + np.sum(V**2))


def ratings(U, V, i, j, y, lam):
    pred = np.einsum("ij,ij->i", U[i], V[j])
    return np.sum((y - pred) ** 2) + lam * (np.linalg.norm(U) ** 2 + np.linalg.norm(V) ** 2)


def pairwise_ranking(U, V, i, j, l):
    x = np.sum(U[i] * (V[j] - V[l]), axis=1)
    return -np.mean(np.log(special.expit(x)))


def nmf_kl(Q, G, H):
    WH = G @ H
    return np.sum(special.xlogy(Q, Q / WH) - Q + WH)


def nmf_itakura(Q, G, H):
    ratio = Q / (G @ H)
    return np.sum(ratio - np.log(ratio) - 1)


def ranknet(X, y, w):
    s = X @ w
    gap = s[:, None] - s[None, :]
    return np.sum((y[:, None] > y[None, :]) * np.log1p(np.exp(-gap)))


def listnet(X, y, w):
    return -np.sum(special.softmax(y) * special.log_softmax(X @ w))


def factorisation_machine(X, y, w, F):
    XF = X @ F
    pairs = 0.5 * np.sum(XF**2 - (X**2) @ (F**2), axis=1)
    return np.mean((X @ w + pairs - y) ** 2)


# Embeddings, metric learning, independent components.


def tsne(Z, T):
    num = 1.0 / (1.0 + cdist(Z, Z, "sqeuclidean"))
    np.fill_diagonal(num, 0.0)
    Q = np.maximum(num / num.sum(), 1e-12)
    return np.sum(T * np.log(np.maximum(T, 1e-12) / Q))


def sammon(Z, D):
    i, j = np.triu_indices(Z.shape[0], 1)
    d = np.sqrt(np.sum((Z[i] - Z[j]) ** 2, axis=1))
    return np.sum((D[i, j] - d) ** 2 / D[i, j])


def triplet(M, X, i, j, l, margin):
    E = X @ M.T
    near = np.sum((E[i] - E[j]) ** 2, axis=-1)
    far = np.sum((E[i] - E[l]) ** 2, axis=-1)
    return np.maximum(near - far + margin, 0).mean()


def contrastive(A, B, tau):
    a = A / np.linalg.norm(A, axis=1, keepdims=True)
    b = B / np.linalg.norm(B, axis=1, keepdims=True)
    logits = a @ b.T / tau
    return -np.mean(np.diag(special.log_softmax(logits, axis=1)))


def laplacian_eigenmap(Z, K):
    L = np.diag(K.sum(axis=1)) - K
    return np.trace(Z.T @ L @ Z)


def fast_ica(w, X):
    v = w / np.sqrt(w @ w)
    return -(np.mean(np.log(np.cosh(X @ v))) ** 2)


def ica_likelihood(N, X):
    S = X @ N.T
    return -np.linalg.slogdet(N)[1] + np.mean(np.sum(S + 2 * np.log1p(np.exp(-S)), axis=1))


def lda_ratio(w, S, K):
    return -(w @ S @ w) / (w @ K @ w)


def cca(a, b, X, Q):
    u, v = X @ a, Q @ b
    u, v = u - u.mean(), v - v.mean()
    return -(u @ v) / np.sqrt((u @ u) * (v @ v))


# Mixtures, sequences, geometry, finance.


def mixture(X, means, logits, log_sigma):
    d2 = np.sum((X[:, None, :] - means[None, :, :]) ** 2, axis=-1)
    log_p = special.log_softmax(logits) - d2 / (2 * np.exp(2 * log_sigma)) - X.shape[1] * log_sigma
    return -special.logsumexp(log_p, axis=1).sum()


def mixture_of_experts(X, y, W, gates):
    g = special.softmax(X @ gates, axis=1)
    return np.mean((y - np.sum(g * (X @ W), axis=1)) ** 2)


def crf_score(X, label, W, A):
    emit = X @ W
    score = emit[np.arange(len(label)), label].sum() + A[label[:-1], label[1:]].sum()
    return -score + special.logsumexp(emit, axis=1).sum()


def bundle(q, P, uv):
    angle = np.sqrt(q @ q)
    k = q / angle
    R = P * np.cos(angle) + np.cross(k, P) * np.sin(angle) + np.outer(P @ k, k) * (1 - np.cos(angle))
    camera = R + np.array([0.0, 0.0, 9.0])
    return 0.5 * np.sum((camera[:, :2] / camera[:, 2:] - uv) ** 2)


def procrustes(N, X, Q, t):
    return np.sum((X @ N.T + t - Q) ** 2)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def total_variation(x, z, lam):
    return 0.5 * np.sum((x - z) ** 2) + lam * np.sum(np.sqrt(np.diff(x) ** 2 + 1e-4))


def portfolio(x, mean, S, gamma):
    w = special.softmax(x)
    return gamma / 2 * w @ S @ w - w @ mean


def risk_parity(x, S):
    w = np.exp(x)
    share = w * (S @ w) / (w @ S @ w)
    return np.sum((share - 1 / len(w)) ** 2)


def cvar(x, R, t, alpha):
    losses = -R @ x
    return t + np.mean(np.maximum(losses - t, 0)) / (1 - alpha)


def sharpe(x, R):
    r = R @ x
    return -r.mean() / r.std(ddof=1)


def sinkhorn_dual(f, g, D, eps):
    n, m = D.shape
    return -(f.mean() + g.mean()) + eps * np.exp((f[:, None] + g[None, :] - D) / eps).mean()


VECTORS = "X: matrix(m, n); w: vector(n); "
LINEAR = VECTORS + "y: vector(m); "
SIGNS = VECTORS + "s: vector(m); "
COUNTS = VECTORS + "count: vector(m); "
POSITIVE = VECTORS + "pos: vector(m) positive; "
SURVIVAL = VECTORS + "time: vector(m) positive; event: vector(m); "
PAIRS = "U: matrix(p, k); V: matrix(p, k); i: index(m); j: index(m); "
W = ("w",)
LOSSES: dict[str, Loss] = {
    f.__name__: Loss(f, declarations.rstrip("; "), wrt)
    for f, declarations, wrt in [
        (ridge, LINEAR + "alpha: scalar", W),
        (elastic_net, LINEAR + "alpha: scalar; rho: scalar", W),
        (group_lasso, LINEAR + "lam: scalar", W),
        (huber_regression, LINEAR + "sigma: scalar positive; epsilon: scalar", ("w", "sigma")),
        (quantile, LINEAR + "tau: scalar", W),
        (tukey, LINEAR, W),
        (cauchy_loss, LINEAR + "c: scalar", ("w", "c")),
        (geman_mcclure, LINEAR, W),
        (expectile, LINEAR + "tau: scalar", W),
        (student_t, LINEAR + "log_scale: scalar; nu: scalar positive", ("w", "log_scale", "nu")),
        (logistic, SIGNS + "C: scalar", W),
        (poisson, COUNTS, W),
        (gamma_deviance, POSITIVE, W),
        (tweedie, POSITIVE + "p: scalar", ("w", "p")),
        (inverse_gaussian, POSITIVE, W),
        (negative_binomial, COUNTS + "log_alpha: scalar", ("w", "log_alpha")),
        (zero_inflated, COUNTS + "gamma: scalar", ("w", "gamma")),
        (hurdle, COUNTS + "v: vector(n)", ("w", "v")),
        (beta_regression, VECTORS + "unit: vector(m); log_phi: scalar", ("w", "log_phi")),
        (probit, SIGNS, W),
        (tobit, POSITIVE + "log_sigma: scalar", ("w", "log_sigma")),
        (multinomial_onehot, "X: matrix(m, n); Y: matrix(m, c); W: matrix(n, c)", ("W",)),
        (focal, VECTORS + "bit: vector(m)", W),
        (squared_hinge, SIGNS + "C: scalar", W),
        (ordinal, VECTORS + "label: index(m); th: vector(2)", ("w", "th")),
        (cox, SURVIVAL, W),
        (cox_sorted, VECTORS + "event: vector(m)", W),
        (weibull_survival, SURVIVAL + "log_k: scalar", ("w", "log_k")),
        (exponential_survival, SURVIVAL, W),
        (gp_rbf, "X: matrix(m, n); y: vector(m); theta: vector(3)", ("theta", "X")),
        (gp_rational_quadratic, "X: matrix(m, n); y: vector(m); theta: vector(3)", ("theta",)),
        (sparse_gp, "A: matrix(m, k); y: vector(m); s: scalar positive", ("A", "s")),
        (factor_analysis, "L: matrix(p, k); psi: vector(p) positive; S: matrix(p, p) spd", ("L", "psi")),
        (graphical_lasso, "P: matrix(p, p) spd; S: matrix(p, p) spd; lam: scalar", ("P",)),
        (ppca, "W: matrix(p, k); S: matrix(p, p) spd; s: scalar positive", ("W", "s")),
        (
            mixed_model,
            "X: matrix(m, n); A: matrix(m, k); y: vector(m); b: vector(n); log_tau: scalar",
            ("b", "log_tau"),
        ),
        (reml, "X: matrix(m, n); A: matrix(m, k); y: vector(m); log_tau: scalar", ("log_tau",)),
        (
            matrix_factorisation,
            "U: matrix(m, k); V: matrix(p, k); R: matrix(m, p); B: matrix(m, p); lam: scalar",
            ("U", "V"),
        ),
        (ratings, PAIRS + "y: vector(m); lam: scalar", ("U", "V")),
        (pairwise_ranking, PAIRS + "l: index(m)", ("U", "V")),
        (nmf_kl, "Q: matrix(m, n) positive; G: matrix(m, k) positive; H: matrix(k, n) positive", ("G", "H")),
        (nmf_itakura, "Q: matrix(m, n) positive; G: matrix(m, k) positive; H: matrix(k, n) positive", ("G",)),
        (ranknet, LINEAR, W),
        (listnet, LINEAR, W),
        (factorisation_machine, LINEAR + "F: matrix(n, k)", ("w", "F")),
        (tsne, "Z: matrix(m, k); T: matrix(m, m) positive", ("Z",)),
        (sammon, "Z: matrix(7, k); D: matrix(7, 7) positive", ("Z",)),
        (triplet, "M: matrix(k, n); X: matrix(p, n); i: index(m); j: index(m); l: index(m); margin: scalar", ("M",)),
        (contrastive, "A: matrix(m, k); B: matrix(m, k); tau: scalar positive", ("A", "tau")),
        (laplacian_eigenmap, "Z: matrix(m, k); K: matrix(m, m)", ("Z", "K")),
        (fast_ica, "w: vector(n); X: matrix(m, n)", W),
        (ica_likelihood, "N: matrix(n, n); X: matrix(m, n)", ("N",)),
        (lda_ratio, "w: vector(p); S: matrix(p, p) spd; K: matrix(p, p) spd", W),
        (cca, "a: vector(n); b: vector(k); X: matrix(m, n); Q: matrix(m, k)", ("a", "b")),
        (
            mixture,
            "X: matrix(m, n); means: matrix(k, n); logits: vector(k); log_sigma: scalar",
            ("means", "logits", "log_sigma"),
        ),
        (mixture_of_experts, "X: matrix(m, n); y: vector(m); W: matrix(n, k); gates: matrix(n, k)", ("W", "gates")),
        (crf_score, "X: matrix(m, n); label: index(m); W: matrix(n, 3); A: matrix(3, 3)", ("W", "A")),
        (bundle, "q: vector(3); P: matrix(m, 3); uv: matrix(m, 2)", ("q", "P")),
        (procrustes, "N: matrix(n, n); X: matrix(m, n); Q: matrix(m, n); t: vector(n)", ("N", "t")),
        (rosenbrock, "x: vector(n)", ("x",)),
        (total_variation, "x: vector(n); z: vector(n); lam: scalar", ("x",)),
        (portfolio, "x: vector(p); mean: vector(p); S: matrix(p, p) spd; gamma: scalar", ("x",)),
        (risk_parity, "x: vector(p); S: matrix(p, p) spd", ("x",)),
        (cvar, "x: vector(n); R: matrix(m, n); t: scalar; alpha: scalar", ("x", "t")),
        (sharpe, "x: vector(n); R: matrix(m, n)", ("x",)),
        (sinkhorn_dual, "f: vector(m); g: vector(n); D: matrix(m, n); eps: scalar positive", ("f", "g")),
    ]
}

UNIT = ("alpha", "rho", "tau", "unit")
RANGES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    **dict.fromkeys(UNIT, lambda rng, shape: rng.uniform(0.2, 0.8, shape)),
    **dict.fromkeys(("s", "C", "R", "B", "event", "bit"), lambda rng, shape: rng.standard_normal(shape)),
    "s": lambda rng, shape: np.sign(rng.standard_normal(shape)) if shape else np.asarray(0.7),
    "event": lambda rng, shape: (rng.random(shape) < 0.6) * 1.0,
    "bit": lambda rng, shape: (rng.random(shape) < 0.5) * 1.0,
    "count": lambda rng, shape: rng.poisson(1.5, shape).astype(float),
    "p": lambda rng, shape: np.asarray(1.4),
    "epsilon": lambda rng, shape: np.asarray(1.35),
    "nu": lambda rng, shape: np.asarray(4.2),
    "c": lambda rng, shape: np.asarray(1.1),
}

TEXTS: dict[str, str] = {
    "ridge": "norm2(y - X*w)^2/2 + alpha/2*w'*w",
    "elastic_net": "norm2(X*w - y)^2/(2*m) + alpha*(rho*norm1(w) + (1 - rho)/2*w'*w)",
    "quantile": "mean(max(tau*r, (tau - 1)*r)) where r = y - X*w",
    "tukey": "4.685^2/6*sum(where(abs(u) <= 1, 1 - (1 - u.^2).^3, 1)) where u = (y - X*w)/4.685",
    "cauchy_loss": "c^2/2*sum(log1p(((y - X*w)/c).^2))",
    "geman_mcclure": "sum(r./(1 + r)) where r = (X*w - y).^2",
    "logistic": "C*sum(softplus(-s.*(X*w))) + w'*w/2",
    "poisson": "sum(exp(X*w) - count.*(X*w) + gammaln(count + 1))",
    "gamma_deviance": "2*mean(-log(pos./exp(X*w)) + pos./exp(X*w) - 1)",
    "inverse_gaussian": "sum((pos - u).^2./(pos.*u.^2)) where u = exp(X*w)",
    "negative_binomial": "-sum(gammaln(count + z) - gammaln(z) - gammaln(count + 1) + z*log(z./(z + u)) + count.*log(u./(z + u)))"
    " where z = exp(-log_alpha), u = exp(X*w)",
    "probit": "-sum(log_ndtr(s.*(X*w)))",
    "multinomial_onehot": "-sum(Y.*log_softmax(X*W, axis=1))/m",
    "squared_hinge": "w'*w/2 + C*sum(relu(1 - s.*(X*w)).^2)",
    "exponential_survival": "exp(X*w)'*time - event'*X*w",
    "sparse_gp": "(m*log(s) + logdet(B) + (y'*y - y'*A*(B\\(A'*y))/s)/s)/2 where B = eye(k) + A'*A/s",
    "factor_analysis": "logdet(C) + tr(inv(C)*S) where C = L*L' + diag(psi)",
    "ppca": "logdet(C) + tr(C\\S) where C = W*W' + s*eye(p)",
    "mixed_model": "(logdet(V) + r'*(V\\r))/2 where V = exp(log_tau)*A*A' + eye(m), r = y - X*b",
    "matrix_factorisation": "norm2(B.*(R - U*V'))^2/2 + lam/2*(norm2(U)^2 + norm2(V)^2)",
    "nmf_kl": "sum(xlogy(Q, Q./(G*H)) - Q + G*H)",
    "nmf_itakura": "sum(r - log(r) - 1) where r = Q./(G*H)",
    "listnet": "-softmax(y)'*log_softmax(X*w)",
    "factorisation_machine": "mean((X*w + sum((X*F).^2 - X.^2*F.^2, axis=1)/2 - y).^2)",
    "laplacian_eigenmap": "tr(Z'*(diag(sum(K, axis=1)) - K)*Z)",
    "ica_likelihood": "-logdet(N) + sum(S + 2*log1p(exp(-S)))/m where S = X*N'",
    "lda_ratio": "-(w'*S*w)/(w'*K*w)",
    "mixture_of_experts": "mean((y - sum(softmax(X*gates, axis=1).*(X*W), axis=1)).^2)",
    "procrustes": "norm2(X*N' .+ t' - Q)^2",
    "rosenbrock": "sum(100*(x[1:] - x[:-1].^2).^2 + (1 - x[:-1]).^2)",
    "portfolio": "gamma/2*u'*S*u - u'*mean where u = softmax(x)",
    "cvar": "t + mean(max(-R*x - t, 0))/(1 - alpha)",
    "sharpe": "-mean(R*x)/std(R*x, ddof=1)",
    "sinkhorn_dual": "-(mean(f) + mean(g)) + eps*mean(exp((f .+ g' - D)/eps))",
}


def data(name: str, lengths: dict[str, int], seed: int = 0) -> dict[str, np.ndarray]:
    """Return an array for each parameter, with positive or spd entries where they are declared so."""
    rng, found = np.random.default_rng(seed), {}
    for one in LOSSES[name].declarations.split("; "):
        label, _, kind = one.partition(": ")
        sizes = kind.partition("(")[2].partition(")")[0].split(", ") if "(" in kind else []
        shape = tuple(int(size) if size.isdecimal() else lengths[size] for size in sizes)
        if kind.startswith("index"):
            found[label] = rng.integers(0, 3, shape)
        elif kind.endswith("spd"):
            A = rng.standard_normal((shape[0], shape[0] + 3))
            found[label] = A @ A.T / shape[0]
        elif kind.endswith("positive") and shape:
            found[label] = rng.uniform(0.5, 2, shape)
        elif label in RANGES:
            found[label] = RANGES[label](rng, shape)
        else:
            found[label] = rng.standard_normal(shape) / 2 if shape else np.asarray(rng.uniform(0.4, 0.9))
    return found
