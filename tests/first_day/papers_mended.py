r"""Passages in the style of papers that were refused when they were first tried, and are read now."""

import numpy as np
from first_day.papers import Passage
from scipy import special


def heat_capacity(E, k_B, beta):
    p = special.softmax(-beta * E)
    return k_B * beta**2 * (p @ E**2 - (p @ E) ** 2)


def capon(R, theta):
    a = np.cos(np.pi * np.arange(len(R)) * np.sin(theta))
    return 1 / (a @ np.linalg.solve(R, a))


def pagerank(P, alpha):
    one = np.ones(len(P))
    return (1 - alpha) / len(P) * sum(alpha**k * np.linalg.matrix_power(P, k) @ one for k in range(4))


def forward(y, A, lam, delta):
    def density(t):
        return np.array([rate**t * np.exp(-rate) / special.gamma(t + 1) for rate in lam])

    alpha = delta * density(y[0])
    for t in range(1, len(y)):
        alpha = density(y[t]) * (alpha @ A)
    return np.log(alpha.sum())


def garch(r, omega, alpha, beta):
    T = len(r)
    variance, total = np.sum(r**2) / T, 0.0
    for t in range(T):
        if t:
            variance = omega + alpha * r[t - 1] ** 2 + beta * variance
        total += np.log(2 * np.pi) + np.log(variance) + r[t] ** 2 / variance
    return -total / 2


def alignment(U, V):
    N = len(U)
    apart = [np.exp(-2 * np.sum((U[i] - U[j]) ** 2)) for i in range(N) for j in range(N)]
    return np.sum((U - V) ** 2) / N + np.log(sum(apart) / N**2)


MENDED = [
    Passage(
        "SimCLR style alignment and uniformity",
        (
            r"\mathcal{L}=\frac{1}{N}\sum_{i=1}^{N}\|u_i-v_i\|_2^2+\log\frac{1}{N^2}\sum_{i=1}^{N}\sum_{j"
            r"=1}^{N}e^{-2\|u_i-u_j\|_2^2}"
        ),
        "U, V: matrix(N, d)",
        "U",
        alignment,
    ),
    Passage(
        "hidden Markov model of counts, forward algorithm",
        (
            r"""\log L = \log \sum_{k=1}^{K} \alpha_T(k), \quad \text{where }
        \alpha_1(k) = \delta_k b_k(y_1), \quad
        \alpha_t(k) = b_k(y_t) \sum_{j=1}^{K} \alpha_{t-1}(j) A_{jk}, \quad
        b_k(y) = \frac{\lambda_k^{y} e^{-\lambda_k}}{y!}"""
        ),
        ("y: vector(T) positive; A: matrix(K, K) positive; lam: vector(K) positive; delta: vector(K) positive"),
        "lam",
        forward,
    ),
    Passage(
        "GARCH(1,1) log-likelihood",
        (
            r"""\ell(\omega, \alpha, \beta) = -\frac{1}{2} \sum_{t=1}^{T} \left[ \log(2\pi) + \log\sigma_t^2
        + \frac{r_t^2}{\sigma_t^2} \right],
        where $\sigma_t^2 = \omega + \alpha r_{t-1}^2 + \beta \sigma_{t-1}^2$ for $t \geq 2$ and
        $\sigma_1^2 = \frac{1}{T} \sum_{t=1}^{T} r_t^2$."""
        ),
        ("r: vector(T); omega: scalar positive; alpha: scalar positive; beta: scalar positive"),
        "beta",
        garch,
    ),
    Passage(
        "trust-region ratio",
        (
            r"\rho = \frac{f(x) - f(x + p)}{m(0) - m(p)}, \quad f(x) = \tfrac14\sum_i x_i^4, \quad m(p) = g^\top "
            r"p + \tfrac12 p^\top Bp"
        ),
        "x, p, g: vector(n); B: matrix(n, n)",
        "p",
        lambda x, p, g, B: np.sum(x**4 - (x + p) ** 4) / 4 / -(g @ p + p @ B @ p / 2),
    ),
    Passage(
        "canonical ensemble heat capacity",
        (
            r"C_V = k_B\beta^2\left(\langle E^2\rangle - \langle E\rangle^2\right), \quad \langle E\rangle = "
            r"\sum_i p_iE_i, \quad \langle E^2\rangle = \sum_i p_iE_i^2, \quad p_i = \frac{e^{-\beta E_i}}{\sum_j "
            r"e^{-\beta E_j}}"
        ),
        "E: vector(n); k_B, beta: scalar positive",
        "beta",
        heat_capacity,
    ),
    Passage(
        "Capon spectrum of an array",
        (
            r"P(\theta) = \frac{1}{a(\theta)^\top R^{-1}a(\theta)}, \quad a(\theta)_k = \cos(\pi(k-1)\sin\theta), "
            r"\; k = 1,\dots,n"
        ),
        "R: matrix(n, n) spd; theta: scalar",
        "theta",
        capon,
    ),
    Passage(
        "predictive coding",
        (
            r"\mathcal{F} = \frac12\sum_{l=1}^{2}\varepsilon_l^\top\varepsilon_l, \quad \varepsilon_1 = x - "
            r"W_1\mu_1, \quad \varepsilon_2 = \mu_1 - W_2\mu_2"
        ),
        "x: vector(m); W_1: matrix(m, n); mu_1: vector(n); W_2: matrix(n, k); mu_2: vector(k)",
        "mu_1",
        lambda x, W_1, mu_1, W_2, mu_2: (np.sum((x - W_1 @ mu_1) ** 2) + np.sum((mu_1 - W_2 @ mu_2) ** 2)) / 2,
    ),
    Passage(
        "policy gradient with a softmax",
        (
            r"L(\theta) = -\frac{1}{T}\sum_{t=1}^{T} b_t \log\pi(a_t \mid s_t), \qquad \pi(a \mid s_t) = "
            r"\frac{\exp(\theta_a^\top x_t)}{\sum_{a'=1}^{K}\exp(\theta_{a'}^\top x_t)}"
        ),
        "theta: matrix(K, d); X: matrix(T, d); a: index(T); b: vector(T)",
        "theta",
        lambda theta, X, a, b: -np.mean(b * special.log_softmax(X @ theta.T, axis=1)[range(len(b)), a]),
    ),
    Passage(
        "polynomial of Legendre",
        r"f(x) = \sum_{k=0}^{2} c_k P_k(x), \quad P_0(x) = 1, \; P_1(x) = x, \; P_2(x) = \tfrac12(3x^2 - 1)",
        "c: vector(3); x: scalar",
        "x",
        lambda c, x: c[0] + c[1] * x + c[2] * (3 * x**2 - 1) / 2,
    ),
    Passage(
        "PageRank, as a sum of powers",
        r"x = \frac{1-\alpha}{n}\sum_{k=0}^{3}\alpha^k P^k\mathbf{1}",
        "P: matrix(n, n); alpha: scalar",
        "P",
        pagerank,
    ),
]
