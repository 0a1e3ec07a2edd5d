r"""The fourteenth set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special


def evidence(t, Phi, alpha, beta):
    C = np.eye(len(t)) / beta + Phi @ np.diag(1 / alpha) @ Phi.T
    return -(len(t) * np.log(2 * np.pi) + np.linalg.slogdet(C)[1] + t @ np.linalg.solve(C, t)) / 2


def soft_means(X, mu, beta):
    D = np.sum((X[:, None] - mu) ** 2, -1)
    return np.sum(D * special.softmax(-beta * D, axis=1))


FOURTEENTH = [
    Passage(
        "Pearson",
        (
            r"r = \frac{\sum_{i=1}^n (x_i - \bar x)(y_i - \bar y)}{\sqrt{\sum_{i=1}^n (x_i - \bar x)^2 "
            r"\sum_{i=1}^n (y_i - \bar y)^2}}, where $\bar x = \frac1n\sum_{i=1}^n x_i$ and $\bar y = "
            r"\frac1n\sum_{i=1}^n y_i$ are the sample means."
        ),
        "x, y: vector(n)",
        "x",
        lambda x, y: np.corrcoef(x, y)[0, 1],
    ),
    Passage(
        "Gaussian naive Bayes",
        (
            r"\log p(x \mid c) = -\sum_{j=1}^{d}\left[\frac{(x_j - \mu_{cj})^2}{2\sigma_{cj}^2} + "
            r"\log\sigma_{cj}\right]"
        ),
        "x: vector(d); mu: matrix(K, d); sigma: matrix(K, d) positive; c: index",
        "x",
        lambda x, mu, sigma, c: -np.sum((x - mu[c]) ** 2 / (2 * sigma[c] ** 2) + np.log(sigma[c])),
    ),
    Passage(
        "soft k-means",
        (
            r"J = \sum_{i=1}^{N}\sum_{k=1}^{K} r_{ik}\|x_i - \mu_k\|^2, \qquad r_{ik} = \frac{\exp(-\beta\|x_i - "
            r"\mu_k\|^2)}{\sum_{l=1}^{K}\exp(-\beta\|x_i - \mu_l\|^2)}"
        ),
        "X: matrix(N, d); mu: matrix(K, d); beta: scalar positive",
        "mu",
        soft_means,
    ),
    Passage(
        "Bessel filter gain",
        (
            r"G(\omega) = \left[1 + \epsilon^2\left(\frac{\omega}{\omega_c}\right)^{2n}\right]^{-1/2}, where "
            r"$\omega_c$ is the cutoff and $n$ the order."
        ),
        "omega, omega_c, epsilon, n: scalar positive",
        "omega",
        lambda omega, omega_c, epsilon, n: (1 + epsilon**2 * (omega / omega_c) ** (2 * n)) ** -0.5,
    ),
    Passage(
        "Hill-Robertson",
        r"r^2 = \frac{(p_{AB} - p_A p_B)^2}{p_A(1-p_A)\,p_B(1-p_B)}",
        "p_AB, p_A, p_B: scalar positive",
        "p_A",
        lambda p_AB, p_A, p_B: (p_AB - p_A * p_B) ** 2 / (p_A * (1 - p_A) * p_B * (1 - p_B)),
    ),
    Passage(
        "ARD prior evidence",
        (
            r"\mathcal{L} = -\frac12\left[N\log 2\pi + \log|C| + t^\top C^{-1}t\right], \quad C = \beta^{-1}I + "
            r"\Phi A^{-1}\Phi^\top, \quad A = \operatorname{diag}(\alpha_1, \dots, \alpha_M)"
        ),
        "t: vector(N); Phi: matrix(N, M); alpha: vector(M) positive; beta: scalar positive",
        "alpha",
        evidence,
    ),
    Passage(
        "Almon lag",
        r"y = \sum_{k=0}^{q}\beta_k x_k, \quad \beta_k = \gamma_0 + \gamma_1 k + \gamma_2 k^2",
        "x: vector(q+1); gamma_0, gamma_1, gamma_2: scalar",
        "gamma_1",
        lambda x, gamma_0, gamma_1, gamma_2: sum(
            (gamma_0 + gamma_1 * k + gamma_2 * k**2) * x[k] for k in range(len(x))
        ),
    ),
    Passage(
        "Newton's cooling fit",
        r"\min_{k, T_a}\sum_{i=1}^{n}\left(T_i - T_a - (T_0 - T_a)e^{-kt_i}\right)^2",
        "T, t: vector(n); T_0, T_a, k: scalar",
        "k",
        lambda T, t, T_0, T_a, k: np.sum((T - T_a - (T_0 - T_a) * np.exp(-k * t)) ** 2),
    ),
]
