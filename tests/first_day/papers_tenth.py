r"""The tenth set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special


def mixup(X, Y, lam, W):
    Z = lam * X + (1 - lam) * Y
    return np.sum((Z @ W) ** 2)


def variogram_matrix(x, c, rho):
    return c * rho ** abs(np.subtract.outer(np.arange(len(x)), np.arange(len(x))))


def erlang(a):
    return a**4 / 24 / sum(a**k / special.factorial(k) for k in range(5))


def rnn_loss(W, U, v, X, y):
    h, total = np.zeros(len(W)), 0.0
    for x, t in zip(X, y, strict=True):
        h = np.tanh(W @ h + U @ x)
        total += (v @ h - t) ** 2
    return total / 2


def holt(y, alpha, beta, l_0, b_0):
    level, trend, total = l_0, b_0, 0.0
    for t in y:
        total += (t - level - trend) ** 2
        new = alpha * t + (1 - alpha) * (level + trend)
        trend = beta * (new - level) + (1 - beta) * trend
        level = new
    return total


def dtw_cost(X, Y):
    return np.sum(np.exp(-np.sum((X[:, None] - Y[None]) ** 2, -1)))


TENTH = [
    Passage(
        "gradient penalty",
        (
            r"\mathcal L=\frac1m\sum_{i=1}^{m}D_i+\lambda\frac1m\sum_{i=1}^{m}\left(\|g_i\|_2-1"
            r"\right)^2"
        ),
        "D: vector(m); G: matrix(m, n); lambda: scalar positive",
        "G",
        lambda D, G, **k: D.mean() + k["lambda"] * np.mean((np.linalg.norm(G, axis=1) - 1) ** 2),
    ),
    Passage(
        "cross entropy with smoothing",
        (
            r"\mathrm{CE}=-\sum_{k=1}^{K}\left[(1-\epsilon)y_k+\frac{\epsilon}{K}\right]\log p_k,\quad"
            r" p_k=\frac{e^{z_k}}{\sum_{j=1}^{K}e^{z_j}}"
        ),
        "y, z: vector(K); epsilon: scalar",
        "z",
        lambda y, z, epsilon: -np.sum(((1 - epsilon) * y + epsilon / len(y)) * np.log(special.softmax(z))),
    ),
    Passage(
        "mixup",
        r"\|\tilde XW\|_F^2,\qquad\tilde X=\lambda X+(1-\lambda)Y",
        "X, Y: matrix(m, n); W: matrix(n, k); lambda: scalar",
        "W",
        lambda X, Y, W, **k: mixup(X, Y, k["lambda"], W),
    ),
    Passage(
        "ridge in the dual",
        r"\hat\alpha=(K+n\lambda I_n)^{-1}y,\qquad\hat f=K\hat\alpha",
        "K: matrix(n, n) spd; y: vector(n); lambda: scalar positive",
        "y",
        lambda K, y, **k: K @ np.linalg.solve(K + len(y) * k["lambda"] * np.eye(len(y)), y),
    ),
    Passage(
        "autoregressive covariance",
        r"\Sigma_{ij}=\sigma^2\rho^{|i-j|},\quad q=x^\top\Sigma x",
        "x: vector(n); sigma, rho: scalar positive",
        "rho",
        lambda x, sigma, rho: x @ variogram_matrix(x, sigma**2, rho) @ x,
    ),
    Passage(
        "Erlang B",
        r"B=\frac{a^4/4!}{\sum_{k=0}^{4}a^k/k!}",
        "a: scalar positive",
        "a",
        erlang,
    ),
    Passage(
        "recurrent regression",
        r"h_t=\tanh(Wh_{t-1}+Ux_t),\;h_0=\mathbf 0,\quad J=\frac12\sum_{t=1}^{T}(v^\top h_t-y_t)^2",
        "W: matrix(n, n); U: matrix(n, m); v: vector(n); X: matrix(T, m); y: vector(T)",
        "W",
        rnn_loss,
    ),
    Passage(
        "Holt's linear trend",
        (
            r"\sum_{t=1}^{T}(y_t-\ell_{t-1}-b_{t-1})^2,\quad\ell_t=\alpha y_t+(1-\alpha)(\ell_{t-1}"
            r"+b_{t-1}),\quad b_t=\beta(\ell_t-\ell_{t-1})+(1-\beta)b_{t-1},\quad\ell_0=l,\;b_0=c"
        ),
        "y: vector(T); alpha, beta, l, c: scalar",
        "alpha",
        lambda y, alpha, beta, l, c: holt(y, alpha, beta, l, c),  # noqa: E741
    ),
    Passage(
        "alignment kernel",
        r"\sum_{i=1}^{m}\sum_{j=1}^{n}e^{-\|x_i-y_j\|_2^2}",
        "X: matrix(m, d); Y: matrix(n, d)",
        "X",
        dtw_cost,
    ),
    Passage(
        "ionic strength",
        r"I=\frac12\sum_{i=1}^{n}c_iz_i^2,\qquad\log_{10}\gamma=-\frac{Az^2\sqrt I}{1+B\sqrt I}",
        "c: vector(n) positive; A, B, z: scalar positive; z_i: vector(n)",
        "c",
        lambda c, A, B, z, z_i: -A * z**2 * np.sqrt(c @ z_i**2 / 2) / (1 + B * np.sqrt(c @ z_i**2 / 2)),
    ),
    Passage(
        "mean activity coefficient",
        r"\log_{10}\gamma_\pm=-\frac{A|z_+z_-|\sqrt I}{1+Ba\sqrt I}",
        "A, z_plus, z_minus, I, B, a: scalar positive",
        "I",
        lambda A, z_plus, z_minus, I, B, a: -A * abs(z_plus * z_minus) * np.sqrt(I) / (1 + B * a * np.sqrt(I)),  # noqa: E741
    ),
    Passage(
        "Monod growth",
        r"\frac{dX}{dt}=\left(\frac{\mu_{\max}S}{K_s+S}-k_d\right)X",
        "mu_max, S, K_s, k_d, X: scalar positive",
        "S",
        lambda mu_max, S, K_s, k_d, X: (mu_max * S / (K_s + S) - k_d) * X,
    ),
    Passage(
        "Langmuir isotherm fit",
        r"\min_{q_m,K}\sum_{i=1}^{n}\left(q_i-\frac{q_mKc_i}{1+Kc_i}\right)^2",
        "q, c: vector(n) positive; q_m, K: scalar positive",
        "K",
        lambda q, c, q_m, K: np.sum((q - q_m * K * c / (1 + K * c)) ** 2),
    ),
    Passage(
        "Eyring",
        (
            r"k=\frac{\kappa k_BT}{h}\exp\left(\frac{\Delta S}{R}\right)\exp\left(-\frac{\Delta H}{RT}"
            r"\right)"
        ),
        "kappa, k_B, T, h, R: scalar positive; Delta_S, Delta_H: scalar",
        "T",
        lambda kappa, k_B, T, h, R, Delta_S, Delta_H: (
            kappa * k_B * T / h * np.exp(Delta_S / R) * np.exp(-Delta_H / (R * T))
        ),
    ),
    Passage(
        "black body ratio",
        (
            r"R=\frac{\lambda_2^5}{\lambda_1^5}\cdot\frac{e^{c_2/(\lambda_2T)}-1}{e^{c_2/(\lambda_1T)}"
            "-1}"
        ),
        "lambda_1, lambda_2, T, c_2: scalar positive",
        "T",
        lambda lambda_1, lambda_2, T, c_2: (
            lambda_2**5 / lambda_1**5 * np.expm1(c_2 / (lambda_2 * T)) / np.expm1(c_2 / (lambda_1 * T))
        ),
    ),
    Passage(
        "radius of gyration",
        (
            r"R_g^2=\frac1N\sum_{k=1}^{N}\|\mathbf r_k-\bar{\mathbf r}\|^2,\quad\bar{\mathbf r}="
            r"\frac1N\sum_{k=1}^{N}\mathbf r_k"
        ),
        "R: matrix(N, 3)",
        "R",
        lambda R: np.mean(np.sum((R - R.mean(0)) ** 2, axis=1)),
    ),
    Passage(
        "harmonic bonds",
        r"V=\sum_{i=1}^{N-1}\frac{k_b}{2}\left(\|\mathbf r_{i+1}-\mathbf r_i\|-b_0\right)^2",
        "R: matrix(N, 3); k_b, b_0: scalar positive",
        "R",
        lambda R, k_b, b_0: np.sum(k_b / 2 * (np.linalg.norm(np.diff(R, axis=0), axis=1) - b_0) ** 2),
    ),
]
