r"""The last part of the twelfth set of passages, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


TWELFTH_END = [
    Passage(
        "Cournot profit",
        r"\pi_i = \left(a - b\sum_{j=1}^{n}q_j\right)q_i - c_i q_i",
        "q, c: vector(n) positive; a, b: scalar positive",
        "q",
        lambda q, c, a, b: (a - b * q.sum()) * q - c * q,
    ),
    Passage(
        "Harsanyi logit equilibrium",
        (
            r"p_i = \frac{\exp(\lambda u_i)}{\sum_{k=1}^{n}\exp(\lambda u_k)}, \quad u_i = "
            r"\sum_{j=1}^{m}A_{ij}q_j, \quad \lambda \ge 0"
        ),
        "A: matrix(n, m); q: vector(m); lambda: scalar",
        "q",
        lambda A, q, **k: special.softmax(k["lambda"] * A @ q),
    ),
    Passage(
        "Shepherd battery",
        r"V = E_0 - K\frac{Q}{Q - it}\,i - R i + A e^{-B\,it}",
        "E_0, K, Q, R, A, B, i, t: scalar positive",
        "Q",
        lambda E_0, K, Q, R, A, B, i, t: E_0 - K * Q / (Q - i * t) * i - R * i + A * np.exp(-B * i * t),
    ),
    Passage(
        "EOQ with backorders",
        r"TC(Q, S) = \frac{D}{Q}K + \frac{h(Q-S)^2}{2Q} + \frac{bS^2}{2Q}",
        "D, Q, K, h, S, b: scalar positive",
        "Q",
        lambda D, Q, K, h, S, b: D / Q * K + h * (Q - S) ** 2 / (2 * Q) + b * S**2 / (2 * Q),
    ),
    Passage(
        "LOD score",
        r"\mathrm{LOD}(\theta) = \log_{10}\frac{(1-\theta)^{n-k}\,\theta^{k}}{0.5^{n}}",
        "theta: scalar; n, k: scalar positive",
        "theta",
        lambda theta, n, k: np.log10((1 - theta) ** (n - k) * theta**k / 0.5**n),
        ("theta",),
    ),
    Passage(
        "pointwise mutual information",
        (
            r"\mathrm{PMI}_{ij} = \log\frac{p_{ij}}{r_i\,c_j}, \quad r_i = \sum_{j} p_{ij}, \quad c_j = \sum_{i} "
            "p_{ij}"
        ),
        "p: matrix(m, n) positive",
        "p",
        lambda p: np.log(p / np.outer(p.sum(1), p.sum(0))),
    ),
    Passage(
        "discounted cumulative gain",
        r"\mathrm{DCG} = \sum_{i=1}^{k}\frac{2^{\mathrm{rel}_i} - 1}{\log_2(i+1)}",
        "rel: vector(k)",
        "rel",
        lambda rel: np.sum((2**rel - 1) / np.log2(np.arange(len(rel)) + 2)),
    ),
    Passage(
        "Debye-Waller",
        r"I = \left|\sum_{j=1}^{N} f_j\exp\left(-B_j s^2\right)\cos(2\pi\, h^\top r_j)\right|^2",
        "f, B: vector(N) positive; s: scalar; h: vector(3); R: matrix(N, 3)",
        "B",
        lambda f, B, s, h, R: np.sum(f * np.exp(-B * s**2) * np.cos(2 * np.pi * R @ h)) ** 2,
    ),
    Passage(
        "Rabi oscillation",
        (
            r"P_e(t) = \frac{\Omega^2}{\Omega^2 + \Delta^2}\sin^2\left(\frac{\sqrt{\Omega^2 + "
            r"\Delta^2}}{2}\,t\right)"
        ),
        "Omega, Delta, t: scalar positive",
        "Delta",
        lambda Omega, Delta, t: Omega**2 / (Omega**2 + Delta**2) * np.sin(np.sqrt(Omega**2 + Delta**2) / 2 * t) ** 2,
    ),
    Passage(
        "smoothing spline",
        (
            r"\sum_{i=1}^{n}\left\{y_i - f(x_i)\right\}^2 + \lambda\, c^\top\Omega c, \qquad f(x) = "
            r"\sum_{j=1}^{m}c_j\exp\left(-\frac{(x - \kappa_j)^2}{2h^2}\right)"
        ),
        "y, x: vector(n); c, kappa: vector(m); Omega: matrix(m, m) spd; lambda, h: scalar positive",
        "c",
        lambda y, x, c, kappa, Omega, h, **k: (
            np.sum((y - np.exp(-((x[:, None] - kappa) ** 2) / (2 * h**2)) @ c) ** 2) + k["lambda"] * c @ Omega @ c
        ),
    ),
    Passage(
        "Brier score with a logit",
        (
            r"\mathrm{BS} = \frac1N\sum_{t=1}^{N}(f_t - o_t)^2, \quad f_t = \operatorname{logit}^{-1}(\beta_0 + "
            r"\beta_1 x_t), \quad o_t \in \{0,1\}"
        ),
        "beta_0, beta_1: scalar; x, o: vector(N)",
        "beta_1",
        lambda beta_0, beta_1, x, o: np.mean((sigmoid(beta_0 + beta_1 * x) - o) ** 2),
    ),
    Passage(
        "MOSFET in saturation",
        r"I_D = \frac12\mu_n C_{ox}\frac{W}{L}(V_{GS} - V_{th})^2(1 + \lambda V_{DS})",
        "mu_n, C_ox, W, L, V_GS, V_th, lambda, V_DS: scalar positive",
        "V_GS",
        lambda mu_n, C_ox, W, L, V_GS, V_th, V_DS, **k: (
            mu_n * C_ox * W / L * (V_GS - V_th) ** 2 * (1 + k["lambda"] * V_DS) / 2
        ),
    ),
    Passage(
        "Bloch relaxation",
        r"S_i = M_0\left(1 - 2e^{-\mathrm{TI}_i/T_1}\right)e^{-\mathrm{TE}/T_2}, \quad i = 1, \ldots, n",
        "M_0, T_1, T_2, TE: scalar positive; TI: vector(n) positive",
        "T_1",
        lambda M_0, T_1, T_2, TE, TI: M_0 * (1 - 2 * np.exp(-TI / T_1)) * np.exp(-TE / T_2),
    ),
    Passage(
        "spectral clustering",
        (
            r"\operatorname{Ncut} = \operatorname{tr}\left(H^\top L_{\mathrm{sym}}H\right), \quad "
            r"L_{\mathrm{sym}} = I - D^{-1/2}AD^{-1/2}, \quad D = \operatorname{diag}(d_1, \ldots, d_n), \quad "
            r"d_i = \sum_{j=1}^n a_{ij}"
        ),
        "H: matrix(n, k); A: matrix(n, n) positive",
        "A",
        lambda H, A: np.trace(H.T @ (np.eye(len(A)) - A / np.sqrt(np.outer(A.sum(1), A.sum(1)))) @ H),
    ),
    Passage(
        "graph attention with an activation",
        (
            r"h_i' = \mathrm{ELU}\left(\sum_{j=1}^{N}\alpha_{ij}Wh_j\right), \quad \alpha_{ij} = \frac{\exp(s_i + "
            r"t_j)}{\sum_{k=1}^{N}\exp(s_i + t_k)}"
        ),
        "W: matrix(q, d); H: matrix(N, d); s, t: vector(N)",
        "H",
        lambda W, H, s, t: (lambda Z: np.where(Z > 0, Z, np.expm1(np.minimum(Z, 0))))(
            special.softmax(s[:, None] + t, axis=1) @ H @ W.T
        ),
    ),
]

TWELFTH_REFUSED = [
    (
        "scaled dot-product attention",
        r"\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right)V",
        "Q: matrix(m, k); K: matrix(n, k); V: matrix(n, p); d_k: scalar positive",
        "needs its axis",
    ),
    (
        "Vasicek likelihood",
        (
            r"\ell = -\frac{1}{2\sigma^2\Delta t}\sum_{i=1}^{n}\left(r_i - r_{i-1} - a(b - r_{i-1})\Delta "
            r"t\right)^2 - \frac{n}{2}\log(2\pi\sigma^2\Delta t), \quad r_0 = \bar r"
        ),
        "r: vector(n+1); a, b: scalar; sigma, Delta_t: scalar positive",
        "r_0 is defined",
    ),
    (
        "Kelvin-Voigt",
        (
            r"\boldsymbol{\sigma} = 2\mu\,\boldsymbol{\varepsilon} + "
            r"\lambda\operatorname{tr}(\boldsymbol{\varepsilon})\,\mathbf{I} + "
            r"2\eta\,\dot{\boldsymbol{\varepsilon}}, \quad \boldsymbol{\varepsilon} = "
            r"\tfrac12\left(\nabla\mathbf{u} + \nabla\mathbf{u}^{\top}\right)"
        ),
        "epsilon, epsilon_dot: matrix(3, 3); mu, lambda, eta: scalar positive",
        "both a declared symbol and a part",
    ),
    (
        "Breeder's equation in several traits",
        (
            r"\Delta\bar{\mathbf z} = \mathbf G\mathbf P^{-1}\mathbf s, \qquad \boldsymbol\beta = \mathbf "
            r"P^{-1}\mathbf s"
        ),
        "G, P: matrix(n, n) spd; s: vector(n)",
        "beta is defined",
    ),
    (
        "von Neumann entropy",
        r"S(\rho) = -\operatorname{Tr}(\rho\log\rho)",
        "rho: matrix(n, n) spd",
        "log or logm",
    ),
    (
        "energy balance of the climate",
        r"C\frac{dT}{dt} = (1-\alpha)\frac{S_0}{4} - \epsilon\sigma T^4",
        "C, alpha, S_0, epsilon, sigma, T: scalar positive",
        "more than a name",
    ),
]
