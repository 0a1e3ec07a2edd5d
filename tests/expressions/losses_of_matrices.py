"""Losses of matrices, pairs and geometry that public projects differentiate by hand, as their NumPy functions."""

import numpy as np
from scipy import linalg, special
from scipy.spatial.distance import cdist

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


def pairwise_ranking(U, V, i, j, o):
    x = np.sum(U[i] * (V[j] - V[o]), axis=1)
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


def triplet(M, X, i, j, o, margin):
    E = X @ M.T
    near = np.sum((E[i] - E[j]) ** 2, axis=-1)
    far = np.sum((E[i] - E[o]) ** 2, axis=-1)
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
