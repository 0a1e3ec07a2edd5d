r"""The last part of the thirteenth set of passages, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special


def momentum(A, x_0, beta, eta):
    v, x = np.zeros(len(A)), x_0
    for _ in range(3):
        v = beta * v - eta * A @ x
        x = x + v
    return x @ A @ x / 2


def hawkes(n, mu, alpha, beta):
    total = 0.0
    for t in range(len(n)):
        lam = mu + alpha * sum(np.exp(-beta * (t - s)) * n[s] for s in range(t))
        total += n[t] * np.log(lam) - lam
    return total


THIRTEENTH_END = [
    Passage(
        "spring-damper residual",
        r"\min_{m,c,k}\ \frac{1}{N}\sum_{i=1}^{N}\left(m\ddot x_i + c\dot x_i + kx_i - F_i\right)^2",
        "x, x_dot, x_ddot, F: vector(N); m, c, k: scalar",
        "c",
        lambda x, x_dot, x_ddot, F, m, c, k: np.mean((m * x_ddot + c * x_dot + k * x - F) ** 2),
    ),
    Passage(
        "Mohr-Coulomb",
        r"f = (\sigma_1 - \sigma_3) + (\sigma_1 + \sigma_3)\sin\varphi - 2c\cos\varphi",
        "sigma_1, sigma_3, varphi, c: scalar",
        "varphi",
        lambda sigma_1, sigma_3, varphi, c: (
            sigma_1 - sigma_3 + (sigma_1 + sigma_3) * np.sin(varphi) - 2 * c * np.cos(varphi)
        ),
    ),
    Passage(
        "momentum descent",
        (
            r"\tfrac12 x_3^\top A x_3, \qquad v_{k+1} = \beta v_k - \eta A x_k, \quad x_{k+1} = x_k + v_{k+1}, "
            r"\quad v_0 = 0, \quad k = 0, 1, 2"
        ),
        "A: matrix(n, n) spd; x_0: vector(n); beta, eta: scalar",
        "eta",
        lambda A, x_0, beta, eta: momentum(A, x_0, beta, eta),
    ),
    Passage(
        "Hawkes in discrete time",
        (
            r"\ell = \sum_{t=1}^{T}\left(n_t\log\lambda_t - \lambda_t\right), \quad \lambda_t = \mu + "
            r"\alpha\sum_{s=1}^{t-1}e^{-\beta(t-s)}n_s"
        ),
        "n: vector(T) positive; mu, alpha, beta: scalar positive",
        "beta",
        lambda n, mu, alpha, beta: hawkes(n, mu, alpha, beta),
    ),
    Passage(
        "dynamic Nelson-Siegel",
        (
            r"y(\tau_i) = L + S\frac{1 - e^{-\lambda\tau_i}}{\lambda\tau_i} + C\left(\frac{1 - "
            r"e^{-\lambda\tau_i}}{\lambda\tau_i} - e^{-\lambda\tau_i}\right)"
        ),
        "tau: vector(n) positive; L, S, C: scalar; lambda: scalar positive",
        "lambda",
        lambda tau, L, S, C, **k: (
            L + (S + C) * -np.expm1(-k["lambda"] * tau) / (k["lambda"] * tau) - C * np.exp(-k["lambda"] * tau)
        ),
    ),
    Passage(
        "Merton portfolio",
        (
            r"\pi^* = \frac{1}{\gamma}\Sigma^{-1}(\mu - r\mathbf{1}), where $\gamma$ is the risk aversion, $\mu$ "
            "the vector of expected returns, and $r$ the risk-free rate."
        ),
        "Sigma: matrix(n, n) spd; mu: vector(n); r, gamma: scalar positive",
        "mu",
        lambda Sigma, mu, r, gamma: np.linalg.solve(Sigma, mu - r) / gamma,
    ),
    Passage(
        "gravity model of trade",
        r"\ln X_{ij} = \alpha + \beta_1\ln Y_i + \beta_2\ln Y_j - \theta\ln D_{ij}",
        "alpha, beta_1, beta_2, theta: scalar; Y: vector(n) positive; D: matrix(n, n) positive",
        "theta",
        lambda alpha, beta_1, beta_2, theta, Y, D: (
            alpha + beta_1 * np.log(Y)[:, None] + beta_2 * np.log(Y) - theta * np.log(D)
        ),
    ),
    Passage(
        "input-output price",
        r"p = \left(I - A^\top\right)^{-1}(w\,\ell + \tau), \quad I \in \mathbb{R}^{n\times n}",
        "A: matrix(n, n); ell, tau: vector(n); w: scalar",
        "ell",
        lambda A, ell, tau, w: np.linalg.solve(np.eye(len(A)) - A.T, w * ell + tau),
    ),
    Passage(
        "Mantel correlation",
        (
            r"r = \frac{\sum_{i<j}(A_{ij} - \bar A)(B_{ij} - \bar B)}{\sqrt{\sum_{i<j}(A_{ij} - \bar "
            r"A)^2\sum_{i<j}(B_{ij} - \bar B)^2}}"
        ),
        "A, B: matrix(n, n); A_bar, B_bar: scalar",
        "A",
        lambda A, B, A_bar, B_bar: (
            (np.triu(A - A_bar, 1) * np.triu(B - B_bar, 1)).sum()
            / np.sqrt((np.triu(A - A_bar, 1) ** 2).sum() * (np.triu(B - B_bar, 1) ** 2).sum())
        ),
    ),
    Passage(
        "channel inversion",
        r"\mathrm{SNR}_k = \frac{p_k|h_k|^2}{\sigma^2 + \sum_{j\neq k}p_j|h_j|^2}, \quad k = 1,\ldots,K",
        "p: vector(K) positive; h: vector(K); sigma: scalar positive",
        "p",
        lambda p, h, sigma: p * h**2 / (sigma**2 + p @ h**2 - p * h**2),
    ),
    Passage(
        "Dirichlet-multinomial",
        (
            r"\log p(n\mid\alpha) = \log\Gamma(A) - \log\Gamma(N + A) + \sum_{k=1}^{K}\left[\log\Gamma(n_k + "
            r"\alpha_k) - \log\Gamma(\alpha_k)\right], \quad A = \sum_k\alpha_k, \; N = \sum_k n_k"
        ),
        "n, alpha: vector(K) positive",
        "alpha",
        lambda n, alpha: (
            special.gammaln(alpha.sum())
            - special.gammaln(n.sum() + alpha.sum())
            + np.sum(special.gammaln(n + alpha) - special.gammaln(alpha))
        ),
    ),
    Passage(
        "variational free energy",
        (
            r"F = \underbrace{D_{\mathrm{KL}}[q \,\|\, p]}_{\text{complexity}} - \underbrace{\sum_i "
            r"q_i\log\ell_i}_{\text{accuracy}}, \qquad D_{\mathrm{KL}}[q\,\|\,p] = \sum_i q_i\log\frac{q_i}{p_i}"
        ),
        "q, p, ell: vector(n) positive",
        "q",
        lambda q, p, ell: np.sum(q * np.log(q / p)) - q @ np.log(ell),
    ),
    Passage(
        "airfoil lift",
        r"L = \tfrac12\rho v^2 S C_L, \quad C_L = 2\pi\alpha\left(1 + \frac{2}{A\!R}\right)^{-1}",
        "rho, v, S, alpha, A, R: scalar positive",
        "v",
        lambda rho, v, S, alpha, A, R: rho * v**2 * S / 2 * 2 * np.pi * alpha / (1 + 2 / (A * R)),
    ),
    Passage(
        "ant colony transition",
        r"p_{ij} = \frac{\tau_{ij}^\alpha\,\eta_{ij}^\beta}{\sum_{k=1}^{n}\tau_{ik}^\alpha\,\eta_{ik}^\beta}",
        "tau, eta: matrix(n, n) positive; alpha, beta: scalar",
        "tau",
        lambda tau, eta, alpha, beta: tau**alpha * eta**beta / np.sum(tau**alpha * eta**beta, axis=1, keepdims=True),
    ),
    Passage(
        "perceptual and style loss",
        (
            r"\mathcal{L} = \alpha\|F - P\|_F^2 + \frac{\beta}{4N^2M^2}\sum_{i,j}(G_{ij} - S_{ij})^2, \quad G = "
            r"FF^\top, where $F \in \mathbb{R}^{N\times M}$ are the features and $S$ is the Gram matrix of the "
            "style."
        ),
        "F, P: matrix(N, M); S: matrix(N, N); alpha, beta: scalar positive",
        "F",
        lambda F, P, S, alpha, beta: alpha * np.sum((F - P) ** 2) + beta / (4 * F.size**2) * np.sum((F @ F.T - S) ** 2),
    ),
]

THIRTEENTH_REFUSED = [
    (
        "Ginzburg-Landau",
        r"F = \int_\Omega \left(a\phi^2 + b\phi^4\right)dx",
        "a, b, phi: scalar",
        "closed form",
    ),
    (
        "double-well Langevin drift",
        r"x_{k+1} = x_k - \eta\nabla U(x_k) + \sqrt{2\eta}\,\xi_k",
        "eta: scalar positive; xi: vector(T); x_0: scalar",
        "no formula is beside",
    ),
    (
        "certainty equivalent",
        r"\mathrm{CE} = u^{-1}\left(\sum_{s=1}^{S}p_s u(c_s)\right), \quad u(c) = -e^{-\gamma c}",
        "p, c: vector(S) positive; gamma: scalar positive",
        "to a power",
    ),
    (
        "drift diffusion",
        r"p = \frac{1}{1 + e^{-2va/s^2}}, \qquad \mathbb{E}[T] = \frac{a}{v}\tanh\left(\frac{va}{s^2}\right)",
        "v, a, s: scalar positive",
        "no formula uses it",
    ),
    (
        "thin lens with magnification",
        r"\frac{1}{f} = \frac{1}{d_o} + \frac{1}{d_i}, \quad m = -\frac{d_i}{d_o}",
        "d_o, d_i: scalar positive",
        "more than a name",
    ),
]
