r"""The last part of the tenth set of passages, each written blind."""

import numpy as np
from first_day.papers import Passage

TENTH_END = [
    Passage(
        "Gini impurity",
        r"G=\sum_{k=1}^{K}p_k(1-p_k)",
        "p: vector(K)",
        "p",
        lambda p: np.sum(p * (1 - p)),
    ),
    Passage(
        "Tversky index",
        r"T=\frac{\sum_ip_ig_i}{\sum_ip_ig_i+\alpha\sum_ip_i(1-g_i)+\beta\sum_i(1-p_i)g_i}",
        "p, g: vector(n) positive; alpha, beta: scalar positive",
        "p",
        lambda p, g, alpha, beta: p @ g / (p @ g + alpha * p @ (1 - g) + beta * (1 - p) @ g),
    ),
    Passage(
        "Dice loss",
        (
            r"\mathcal{L}_{\text{Dice}}=1-\frac{2\sum_{i=1}^{N}p_ig_i+\varepsilon}{\sum_{i=1}^{N}p_i^2"
            r"+\sum_{i=1}^{N}g_i^2+\varepsilon}"
        ),
        "p, g: vector(N); epsilon: scalar positive",
        "p",
        lambda p, g, epsilon: 1 - (2 * p @ g + epsilon) / (p @ p + g @ g + epsilon),
    ),
    Passage(
        "Charbonnier flow",
        r"E(u,v)=\sum_{i=1}^{n}\sqrt{(I_{x,i}u_i+I_{y,i}v_i+I_{t,i})^2+\epsilon^2}",
        "I_x, I_y, I_t, u, v: vector(n); epsilon: scalar positive",
        "u",
        lambda I_x, I_y, I_t, u, v, epsilon: np.sum(np.sqrt((I_x * u + I_y * v + I_t) ** 2 + epsilon**2)),
    ),
    Passage(
        "perspective residuals",
        (
            r"r_i=z_i-\frac{f\,\mathbf a^\top\mathbf x_i}{\mathbf c^\top\mathbf x_i},\qquad E=\tfrac12"
            r"\sum_{i=1}^{n}r_i^2"
        ),
        "z: vector(n); X: matrix(n, 3); a, c: vector(3); f: scalar",
        "a",
        lambda z, X, a, c, f: np.sum((z - f * (X @ a) / (X @ c)) ** 2) / 2,
    ),
    Passage(
        "temporal difference with averages",
        (
            r"\bar\delta=\frac1T\sum_{t=1}^{T}\left(r_t+\gamma\,\phi_{t+1}^\top\theta-\phi_t^\top"
            r"\theta\right)^2"
        ),
        "r: vector(T); Phi: matrix(T+1, k); theta: vector(k); gamma: scalar",
        "theta",
        lambda r, Phi, theta, gamma: np.mean((r + gamma * Phi[1:] @ theta - Phi[:-1] @ theta) ** 2),
    ),
    Passage(
        "entropy regularised game",
        r"u(x,y)=x^\top Ay-\tau\sum_ix_i\log x_i+\tau\sum_jy_j\log y_j",
        "x: vector(m) positive; y: vector(n) positive; A: matrix(m, n); tau: scalar",
        "x",
        lambda x, y, A, tau: x @ A @ y - tau * np.sum(x * np.log(x)) + tau * np.sum(y * np.log(y)),
    ),
    Passage(
        "consensus",
        r"\dot{\mathbf x}=-L\mathbf x,\quad L=D-A,\quad D=\operatorname{diag}(A\mathbf 1)",
        "A: matrix(n, n); x: vector(n)",
        "x",
        lambda A, x: -(np.diag(A.sum(1)) - A) @ x,
    ),
    Passage(
        "swing equation",
        (
            r"\dot\omega_i=\frac{1}{M_i}\left(P_i-D_i\omega_i-\sum_{j=1}^{n}K_{ij}\sin(\theta_i-"
            r"\theta_j)\right)"
        ),
        "M, P, D, omega, theta: vector(n) positive; K: matrix(n, n)",
        "theta",
        lambda M, P, D, omega, theta, K: (P - D * omega - np.sum(K * np.sin(theta[:, None] - theta), axis=1)) / M,
    ),
    Passage(
        "H2 norm of a gramian",
        r"\|G\|_2^2=\operatorname{tr}(CWC^\top)",
        "C: matrix(m, n); W: matrix(n, n) spd",
        "C",
        lambda C, W: np.trace(C @ W @ C.T),
    ),
    Passage(
        "probit marginal effects",
        (
            r"\frac{\partial P}{\partial x_j}=\phi(x^\top\beta)\,\beta_j,\qquad\phi(t)=\frac{1}{"
            r"\sqrt{2\pi}}e^{-t^2/2}"
        ),
        "x, beta: vector(k)",
        "x",
        lambda x, beta: np.exp(-((x @ beta) ** 2) / 2) / np.sqrt(2 * np.pi) * beta,
    ),
    Passage(
        "nested logit inclusive value",
        r"I_g=\lambda_g\ln\sum_{j=1}^{J}e^{V_{gj}/\lambda_g}",
        "lambda: vector(G) positive; V: matrix(G, J)",
        "V",
        lambda V, **k: k["lambda"] * np.log(np.sum(np.exp(V / k["lambda"][:, None]), axis=1)),
    ),
    Passage(
        "Epstein-Zin",
        r"U_t=\left[(1-\beta)c_t^{1-1/\psi}+\beta\mu_t^{1-1/\psi}\right]^{\frac{1}{1-1/\psi}}",
        "c, mu: vector(T) positive; beta, psi: scalar positive",
        "c",
        lambda c, mu, beta, psi: ((1 - beta) * c ** (1 - 1 / psi) + beta * mu ** (1 - 1 / psi)) ** (1 / (1 - 1 / psi)),
        ("beta",),
    ),
    Passage(
        "Divisia index",
        r"\Delta\ln P=\sum_{i=1}^{n}\tfrac12(s_i+s_i')\ln\frac{p_i'}{p_i}",
        "s, s_prime: vector(n) positive; p, p_prime: vector(n) positive",
        "p",
        lambda s, s_prime, p, p_prime: np.sum((s + s_prime) / 2 * np.log(p_prime / p)),
    ),
    Passage(
        "deviance of a binomial",
        (
            r"D=2\sum_{i=1}^{n}\left\{y_i\log\frac{y_i}{\hat\mu_i}+(m_i-y_i)\log\frac{m_i-y_i}{m_i-"
            r"\hat\mu_i}\right\}"
        ),
        "y: vector(n) positive; m: vector(n) positive; mu_hat: vector(n) positive",
        "mu_hat",
        lambda y, m, mu_hat: 2 * np.sum(y * np.log(y / mu_hat) + (m - y) * np.log((m - y) / (m - mu_hat))),
        ("y", "mu_hat"),
    ),
    Passage(
        "horseshoe shrinkage",
        r"\kappa_j=\frac{1}{1+n\sigma^{-2}\tau^2s_j^2\lambda_j^2},\quad j=1,\ldots,p",
        "n, sigma, tau: scalar positive; s, lambda: vector(p) positive",
        "s",
        lambda n, sigma, tau, s, **k: 1 / (1 + n * sigma**-2 * tau**2 * s**2 * k["lambda"] ** 2),
    ),
    Passage(
        "Moran process",
        r"\rho=\frac{1-1/r}{1-1/r^N}",
        "r, N: scalar positive",
        "r",
        lambda r, N: (1 - 1 / r) / (1 - 1 / r**N),
    ),
    Passage(
        "mean squared displacement",
        r"\mathrm{MSD}=\frac{1}{N}\sum_{i=1}^{N}\left|\mathbf r_i-\mathbf r_i^{(0)}\right|^2",
        "R: matrix(N, 3); R_0: matrix(N, 3)",
        "R",
        lambda R, R_0: sum(np.linalg.norm(a - b) ** 2 for a, b in zip(R, R_0, strict=True)) / len(R),
    ),
]

TENTH_REFUSED = [
    (
        "decoupled heads",
        r"y=\frac{1}{H}\sum_{h=1}^{H}W^{(h)}_o\,\tanh\left(W_v^{(h)}x\right)",
        "H: scalar; x: vector(n)",
        "the subscript o is unknown",
    ),
    (
        "lens maker",
        r"\frac{1}{f}=(n-1)\left[\frac{1}{R_1}-\frac{1}{R_2}+\frac{(n-1)d}{nR_1R_2}\right]",
        "n, R_1, R_2, d: scalar positive",
        "more than a name",
    ),
    (
        "natural evolution",
        r"\nabla_\mu J\approx\frac{1}{\sigma n}\sum_{i=1}^{n}F_i\,\epsilon_i",
        "sigma: scalar positive; F: vector(n); E: matrix(n, d)",
        "between formulas",
    ),
    (
        "LQR cost to go",
        r"V(x)=x^\top Px,\quad P=Q+A^\top PA",
        "x: vector(n); Q, A: matrix(n, n)",
        "defined by each other",
    ),
    (
        "metabolic control",
        r"C^J_i=\frac{e_i}{J}\frac{\partial J}{\partial e_i}",
        "e: vector(n); J: scalar",
        "mc.gradient",
    ),
    (
        "Clebsch-like contraction",
        r"T_{k}=\sum_{i=1}^{m}\sum_{j=1}^{n}C_{ijk}u_iv_j",
        "C: tensor(m, n, k); u: vector(m); v: vector(n)",
        "k is a size, and can be an index here",
    ),
]
