r"""Passages of LaTeX in the style of forty papers, each with its meaning as a NumPy function.

A passage is what stands in the paper: a named loss, a minimisation, lines that define parts, macros of the author.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special


class Passage(NamedTuple):
    """A passage, its declarations, the variable of the gradient, its value as a function of the data by name.

    `fractions` are names of data between 0 and 1.
    """

    paper: str
    latex: str
    let: str
    wrt: str
    value: Callable[..., float]
    fractions: tuple[str, ...] = ()


def log_sigmoid(t):
    return -np.logaddexp(0.0, -t)


def hinge(t):
    return np.maximum(0.0, t)


def unit_rows(Z):
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


def contrastive(Z, W, tau):
    S = Z @ W.T / tau
    return -np.mean(np.diag(S) - special.logsumexp(S, axis=1))


def cox(X, beta):
    u = X @ beta
    return sum(u[i] - np.log(np.sum(np.exp(u[i:]))) for i in range(len(u)))


PASSAGES = [
    Passage(
        "ridge regression",
        r"\hat{\beta} = \arg\min_{\beta} \left\{ \norm{y - X\beta}_2^2 + \lambda \norm{\beta}_2^2 \right\}",
        "X: matrix(m, n); y: vector(m); beta: vector(n); lam: scalar positive",
        "beta",
        lambda X, y, beta, lam: np.sum((y - X @ beta) ** 2) + lam * beta @ beta,
    ),
    Passage(
        "lasso",
        r"\min_{\beta \in \mathbb{R}^p} \frac{1}{2n} \|y - X\beta\|_2^2 + \lambda \|\beta\|_1",
        "X: matrix(n, p); y: vector(n); beta: vector(p); lam: scalar positive",
        "beta",
        lambda X, y, beta, lam: np.sum((y - X @ beta) ** 2) / (2 * len(y)) + lam * np.sum(abs(beta)),
    ),
    Passage(
        "elastic net",
        r"\underset{w}{\operatorname{minimize}} \;\; \tfrac{1}{2m} \norm{Xw - y}^2 + "
        r"\lambda\left(\alpha \norm{w}_1 + \tfrac{1-\alpha}{2} \norm{w}_2^2\right)",
        "X: matrix(m, n); y: vector(m); w: vector(n); lam: scalar positive; alpha: scalar",
        "w",
        lambda X, y, w, lam, alpha: (
            np.sum((X @ w - y) ** 2) / (2 * len(y)) + lam * (alpha * np.sum(abs(w)) + (1 - alpha) / 2 * w @ w)
        ),
    ),
    Passage(
        "logistic regression, labels 1 and -1",
        r"\mathcal{L}(w) = \frac{1}{m} \sum_{i=1}^{m} \log\left(1 + \exp(-y_i x_i^\top w)\right) + "
        r"\frac{\mu}{2} \|w\|^2",
        "X: matrix(m, n); y: vector(m); w: vector(n); mu: scalar positive",
        "w",
        lambda X, y, w, mu: np.mean(np.logaddexp(0, -y * (X @ w))) + mu / 2 * w @ w,
    ),
    Passage(
        "logistic regression, cross-entropy",
        r"""\ell(\theta) = -\sum_{i} \left[ y_i \log \sigma(x_i^\top\theta) + (1 - y_i) \log\left(1 -
        \sigma(x_i^\top \theta)\right) \right]""",
        "X: matrix(m, n); y: vector(m); theta: vector(n)",
        "theta",
        lambda X, y, theta: -np.sum(y * log_sigmoid(X @ theta) + (1 - y) * log_sigmoid(-X @ theta)),
    ),
    Passage(
        "softmax regression",
        r"J(W) = -\sum_{i=1}^{m} \sum_{c=1}^{k} Y_{ic} \log \frac{\exp(w_c^\top x_i)}{\sum_{j=1}^{k} "
        r"\exp(w_j^\top x_i)}",
        "X: matrix(m, n); Y: matrix(m, k); W: matrix(k, n)",
        "W",
        lambda X, Y, W: -np.sum(Y * special.log_softmax(X @ W.T, axis=1)),
    ),
    Passage(
        "Gaussian process marginal likelihood",
        r"""\begin{aligned}
        \log p(y \mid X, \theta) &= -\tfrac{1}{2} y^\top K_y^{-1} y - \tfrac{1}{2} \log |K_y| - \tfrac{n}{2}
        \log 2\pi, \\
        K_y &= K + \sigma_n^2 I
        \end{aligned}""",
        "y: vector(n); K: matrix(n, n) spd; sigma_n: scalar positive",
        "sigma_n",
        lambda y, K, sigma_n: (
            -0.5 * y @ np.linalg.solve(K + sigma_n**2 * np.eye(len(y)), y)
            - 0.5 * np.linalg.slogdet(K + sigma_n**2 * np.eye(len(y)))[1]
            - len(y) / 2 * np.log(2 * np.pi)
        ),
    ),
    Passage(
        "variational autoencoder, KL term",
        r"D_{\mathrm{KL}} = -\frac{1}{2} \sum_{j=1}^{n} \left(1 + \log(\sigma_j^2) - \mu_j^2 - \sigma_j^2\right)",
        "mu: vector(n); sigma: vector(n) positive",
        "sigma",
        lambda mu, sigma: -0.5 * np.sum(1 + np.log(sigma**2) - mu**2 - sigma**2),
    ),
    Passage(
        "Gaussian ELBO",
        r"""$$\mathrm{ELBO}(m, S) = -\frac{1}{2\sigma^2}\left(\|y - X m\|^2 + \tr(X S X^\top)\right) -
        \frac{1}{2}\left(\tr(S) + m^\top m - n - \log\det S\right)$$""",
        "X: matrix(p, n); y: vector(p); m: vector(n); S: matrix(n, n) spd; sigma: scalar positive",
        "S",
        lambda X, y, m, S, sigma: (
            -(np.sum((y - X @ m) ** 2) + np.trace(X @ S @ X.T)) / (2 * sigma**2)
            - 0.5 * (np.trace(S) + m @ m - len(m) - np.linalg.slogdet(S)[1])
        ),
    ),
    Passage(
        "matrix factorisation",
        r"\min_{U, V} \; \sum_{i,j} M_{ij} \left(R_{ij} - u_i^\top v_j\right)^2 + \lambda "
        r"\left(\norm{U}_F^2 + \norm{V}_F^2\right)",
        "R: matrix(m, n); M: matrix(m, n); U: matrix(m, k); V: matrix(n, k); lam: scalar positive",
        "U",
        lambda R, M, U, V, lam: np.sum(M * (R - U @ V.T) ** 2) + lam * (np.sum(U**2) + np.sum(V**2)),
    ),
    Passage(
        "principal component analysis",
        r"\max_{W} \; \tr\left(W^\top S W\right) \quad \text{where } S = \frac{1}{n} \sum_{i=1}^{n} "
        r"(x_i - \mu)(x_i - \mu)^\top",
        "X: matrix(n, p); mu: vector(p); W: matrix(p, k)",
        "W",
        lambda X, mu, W: np.trace(W.T @ ((X - mu).T @ (X - mu) / len(X)) @ W),
    ),
    Passage(
        "Poisson regression",
        r"\ell(\beta) = \sum_{i=1}^{n} \left\{ y_i x_i^{T}\beta - \exp(x_i^{T}\beta) \right\}",
        "X: matrix(n, p); y: vector(n); beta: vector(p)",
        "beta",
        lambda X, y, beta: np.sum(y * (X @ beta) - np.exp(X @ beta)),
    ),
    Passage(
        "Cox partial likelihood, ordered times",
        r"\ell(\beta) = \sum_{i=1}^{n} \left[ x_i^\top \beta - \log \sum_{j=1}^{n} R_{ij} e^{x_j^\top \beta} \right]",
        "X: matrix(n, p); R: matrix(n, n) positive; beta: vector(p)",
        "beta",
        lambda X, R, beta: np.sum(X @ beta - np.log(R @ np.exp(X @ beta))),
    ),
    Passage(
        "support vector machine",
        r"\min_{w, b} \frac{1}{2} \|w\|^2 + C \sum_{i=1}^{m} \max\left(0,\, 1 - y_i (w^\top x_i + b)\right)",
        "X: matrix(m, n); y: vector(m); w: vector(n); b: scalar; C: scalar positive",
        "w",
        lambda X, y, w, b, C: 0.5 * w @ w + C * np.sum(hinge(1 - y * (X @ w + b))),
    ),
    Passage(
        "squared hinge",
        r"f(w) = \frac{\lambda}{2} w^\top w + \frac{1}{n} \sum_{i=1}^n \left[ 1 - y_i \langle w, x_i "
        r"\rangle \right]_+^2",
        "X: matrix(n, p); y: vector(n); w: vector(p); lam: scalar positive",
        "w",
        lambda X, y, w, lam: lam / 2 * w @ w + np.mean(hinge(1 - y * (X @ w)) ** 2),
    ),
    Passage(
        "attention, one query",
        r"\mathrm{Attn}(q) = \sum_{j=1}^{n} \alpha_j v_j, \qquad \text{where } \alpha = "
        r"\mathrm{softmax}\left(\frac{K q}{\sqrt{d}}\right)",
        "q: vector(k); K: matrix(n, k); V: matrix(n, p); d: scalar positive",
        "q",
        lambda q, K, V, d: special.softmax(K @ q / np.sqrt(d)) @ V,
    ),
    Passage(
        "contrastive loss",
        r"\mathcal{L}_{\text{NCE}} = -\frac{1}{m} \sum_{i=1}^{m} \log \frac{\exp(z_i^\top w_i / "
        r"\tau)}{\sum_{j=1}^{m} \exp(z_i^\top w_j / \tau)}",
        "Z: matrix(m, p); W: matrix(m, p); tau: scalar positive",
        "Z",
        contrastive,
    ),
    Passage(
        "Bradley-Terry",
        r"\ell(\theta) = \sum_{i \neq j} N_{ij} \left[ \theta_i - \log\left( e^{\theta_i} + "
        r"e^{\theta_j} \right) \right]",
        "N: matrix(k, k); theta: vector(k)",
        "theta",
        lambda N, theta: np.sum(
            (N - np.diag(np.diag(N))) * (theta[:, None] - np.logaddexp(theta[:, None], theta[None, :]))
        ),
    ),
    Passage(
        "direct preference optimisation",
        r"\mathcal{L}_{\mathrm{DPO}}(u) = -\frac{1}{n} \sum_{i=1}^{n} \log\sigma\left(\beta (u_i - v_i)\right)",
        "u: vector(n); v: vector(n); beta: scalar positive",
        "u",
        lambda u, v, beta: -np.mean(log_sigmoid(beta * (u - v))),
    ),
    Passage(
        "Ising pseudo-likelihood",
        r"\mathrm{PL}(J) = \sum_{t=1}^{m}\sum_{i=1}^{n} \left[ S_{ti} (S J)_{ti} - \log\left(2\cosh "
        r"(S J)_{ti}\right) \right]",
        "S: matrix(m, n); J: matrix(n, n) symmetric",
        "J",
        lambda S, J: np.sum(S * (S @ J) - np.log(2 * np.cosh(S @ J))),
    ),
    Passage(
        "graphical lasso",
        r"\max_{\Theta \succ 0} \; \log\det\Theta - \tr(S\Theta) - \rho \sum_{i,j} |\Theta_{ij}|",
        "Theta: matrix(n, n) spd; S: matrix(n, n) symmetric; rho: scalar positive",
        "Theta",
        lambda Theta, S, rho: np.linalg.slogdet(Theta)[1] - np.trace(S @ Theta) - rho * np.sum(abs(Theta)),
    ),
    Passage(
        "two-layer network",
        r"""\newcommand{\relu}{\operatorname{relu}}
        \newcommand{\norm}[1]{\left\lVert #1 \right\rVert}
        L(W_1, W_2) = \frac{1}{2m} \norm{\relu(X W_1) W_2 - Y}_F^2""",
        "X: matrix(m, n); Y: matrix(m, p); W_1: matrix(n, k); W_2: matrix(k, p)",
        "W_1",
        lambda X, Y, W_1, W_2: np.sum((hinge(X @ W_1) @ W_2 - Y) ** 2) / (2 * len(X)),
    ),
    Passage(
        "bold macros",
        r"""\def\x{\mathbf{x}} \def\A{\mathbf{A}} \newcommand\T{^{\top}}
        \[ f(\x) = \tfrac12 \x\T \A \x - \mathbf{b}\T \x \]""",
        "A: matrix(n, n) symmetric; b: vector(n); x: vector(n)",
        "x",
        lambda A, b, x: 0.5 * x @ A @ x - b @ x,
    ),
    Passage(
        "kernel ridge regression",
        r"\begin{align} J(\alpha) &= \frac{1}{n} (y - K\alpha)^\top (y - K\alpha) \nonumber \\ &\quad "
        r"+ \lambda\, \alpha^\top K \alpha \end{align}",
        "K: matrix(n, n) symmetric; y: vector(n); alpha: vector(n); lam: scalar positive",
        "alpha",
        lambda K, y, alpha, lam: np.mean((y - K @ alpha) ** 2) + lam * alpha @ K @ alpha,
    ),
    Passage(
        "robust regression, Huber",
        r"""L(w) = \sum_{i=1}^{m} h\left((Xw - y)_i\right), \quad \text{where} \quad
        h(r) = \begin{cases} \frac{1}{2} r^2 & \text{if } |r| \le \delta \\ \delta\left(|r| -
        \frac{1}{2}\delta\right) & \text{otherwise} \end{cases}""",
        "X: matrix(m, n); y: vector(m); w: vector(n); delta: scalar positive",
        "w",
        lambda X, y, w, delta: np.sum(special.huber(delta, X @ w - y)),
    ),
    Passage(
        "quantile regression",
        r"\min_{\beta} \sum_{i=1}^{n} \left( \tau\,(y - X\beta)_i + \max\{0, -(y - X\beta)_i\} \right)",
        "X: matrix(n, p); y: vector(n); beta: vector(p); tau: scalar",
        "beta",
        lambda X, y, beta, tau: np.sum(tau * (y - X @ beta) + hinge(X @ beta - y)),
    ),
    Passage(
        "Bayesian linear regression",
        r"""\log p(y \mid \alpha) = -\frac{1}{2} \left( n\log(2\pi) + \log|C| + y^\top C^{-1} y \right),
        \text{ where } C = \beta^{-1} I + \alpha^{-1} \Phi\Phi^\top""",
        "Phi: matrix(n, p); y: vector(n); alpha: scalar positive; beta: scalar positive",
        "alpha",
        lambda Phi, y, alpha, beta: (
            -0.5
            * (
                len(y) * np.log(2 * np.pi)
                + np.linalg.slogdet(np.eye(len(y)) / beta + Phi @ Phi.T / alpha)[1]
                + y @ np.linalg.solve(np.eye(len(y)) / beta + Phi @ Phi.T / alpha, y)
            )
        ),
    ),
    Passage(
        "non-negative matrix factorisation, KL",
        r"D(V \| WH) = \sum_{ij} \left( V_{ij} \log \frac{V_{ij}}{(WH)_{ij}} - V_{ij} + (WH)_{ij} \right)",
        "V: matrix(m, n) positive; W: matrix(m, k) positive; H: matrix(k, n) positive",
        "W",
        lambda V, W, H: np.sum(V * np.log(V / (W @ H)) - V + W @ H),
    ),
    Passage(
        "KL divergence of Gaussians",
        r"""\mathrm{KL}(\mathcal{N}_0 \,\|\, \mathcal{N}_1) = \frac{1}{2} \left[
        \operatorname{tr}(\Sigma_1^{-1}\Sigma_0)
        + (\mu_1 - \mu_0)^\top \Sigma_1^{-1} (\mu_1 - \mu_0) - k + \ln \frac{\det\Sigma_1}{\det\Sigma_0} \right]""",
        "mu_0: vector(k); mu_1: vector(k); Sigma_0: matrix(k, k) spd; Sigma_1: matrix(k, k) spd",
        "mu_1",
        lambda mu_0, mu_1, Sigma_0, Sigma_1: (
            0.5
            * (
                np.trace(np.linalg.solve(Sigma_1, Sigma_0))
                + (mu_1 - mu_0) @ np.linalg.solve(Sigma_1, mu_1 - mu_0)
                - len(mu_0)
                + np.linalg.slogdet(Sigma_1)[1]
                - np.linalg.slogdet(Sigma_0)[1]
            )
        ),
    ),
    Passage(
        "Laplacian regularisation",
        r"\frac{1}{2} \sum_{i,j=1}^{n} W_{ij} (f_i - f_j)^2 + \gamma \norm{f - y}_2^2",
        "W: matrix(n, n) symmetric; f: vector(n); y: vector(n); gamma: scalar positive",
        "f",
        lambda W, f, y, gamma: 0.5 * np.sum(W * (f[:, None] - f[None, :]) ** 2) + gamma * np.sum((f - y) ** 2),
    ),
    Passage(
        "low-rank recovery",
        r"\min_{X}\ \tfrac{1}{2} \norm{M \odot (X - Y)}_F^2 + \lambda \norm{X}_*",
        "X: matrix(m, n); Y: matrix(m, n); M: matrix(m, n); lam: scalar positive",
        "X",
        lambda X, Y, M, lam: 0.5 * np.sum((M * (X - Y)) ** 2) + lam * np.sum(np.linalg.svd(X)[1]),
    ),
    Passage(
        "Kronecker-factored quadratic",
        r"Q(V) = \frac{1}{2} \mathrm{vec}(V)^\top (A \otimes G) \,\mathrm{vec}(V) - \langle B, V \rangle",
        "V: matrix(m, n); A: matrix(n, n) spd; G: matrix(m, m) spd; B: matrix(m, n)",
        "V",
        lambda V, A, G, B: 0.5 * np.sum(V * (G @ V @ A)) - np.sum(B * V),
    ),
    Passage(
        "portfolio",
        r"\underset{w}{\text{maximize}} \quad \mu^{\top} w - \frac{\gamma}{2} w^{\top} \Sigma w - \kappa \norm{w}_1",
        "mu: vector(n); w: vector(n); Sigma: matrix(n, n) spd; gamma: scalar positive; kappa: scalar positive",
        "w",
        lambda mu, w, Sigma, gamma, kappa: mu @ w - gamma / 2 * w @ Sigma @ w - kappa * np.sum(abs(w)),
    ),
    Passage(
        "centred kernel alignment",
        r"""\def\HSIC{\tr(K H L H)} \frac{1}{(n-1)^2} \HSIC, \quad\text{with } H = I - \tfrac{1}{n}
        \mathbf{1}\mathbf{1}^\top""",
        "K: matrix(n, n) symmetric; L: matrix(n, n) symmetric",
        "K",
        lambda K, L: (
            np.trace(
                K @ (np.eye(len(K)) - np.ones(K.shape) / len(K)) @ L @ (np.eye(len(K)) - np.ones(K.shape) / len(K))
            )
            / (len(K) - 1) ** 2
        ),
    ),
    Passage(
        "mixture of Gaussians, equal spheres",
        r"\mathcal{L}(C) = \sum_{i=1}^{m} \log \sum_{j=1}^{k} \pi_j \exp\left(-\tfrac{1}{2} \|x_i - c_j\|_2^2\right)",
        "X: matrix(m, p); C: matrix(k, p); pi: vector(k) positive",
        "C",
        lambda X, C, pi: np.sum(np.log(np.exp(-0.5 * np.sum((X[:, None, :] - C[None, :, :]) ** 2, axis=2)) @ pi)),
    ),
    Passage(
        "skip-gram with negative samples",
        r"J(v) = -\log\sigma(u^\top v) - \sum_{k=1}^{m} \log\sigma(-n_k^\top v)",
        "u: vector(p); v: vector(p); N: matrix(m, p)",
        "v",
        lambda u, v, N: -log_sigmoid(u @ v) - np.sum(log_sigmoid(-N @ v)),
    ),
    Passage(
        "total variation",
        r"E(u) = \frac12\|u - f\|_2^2 + \lambda\sum_{i=1}^{n-1} \sqrt{(u_{i+1} - u_i)^2 + \epsilon^2}",
        "u: vector(n); f: vector(n); lam: scalar positive; epsilon: scalar positive",
        "u",
        lambda u, f, lam, epsilon: 0.5 * np.sum((u - f) ** 2) + lam * np.sum(np.sqrt(np.diff(u) ** 2 + epsilon**2)),
    ),
    Passage(
        "proximal point",
        r"""\begin{equation}\label{eq:prox}
        F_k(x) \triangleq \frac{1}{2}\norm{Ax-b}_2^2 + \frac{1}{2\eta}\norm{x - x_k}_2^2.
        \end{equation}""",
        "A: matrix(m, n); b: vector(m); x: vector(n); x_k: vector(n); eta: scalar positive",
        "x",
        lambda A, b, x, x_k, eta: 0.5 * np.sum((A @ x - b) ** 2) + np.sum((x - x_k) ** 2) / (2 * eta),
    ),
]

REFUSED = [
    (
        "attention of many queries",
        r"\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d}}\right) V",
        "Q: matrix(m, k); K: matrix(n, k); V: matrix(n, p); d: scalar positive",
        "axis=1",
    ),
    ("policy gradient", r"J(\theta) = \E_{x \sim \pi_\theta}[r(x)]", "theta: vector(n)", "the mean over the data"),
]
"""Passages that have no value here: the paper, the LaTeX, the declarations, and words of the reason."""
