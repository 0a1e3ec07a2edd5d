r"""The ninth set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import linalg


def descent(A, b, x_0, eta):
    x = x_0
    for _ in range(5):
        x = x - eta * A.T @ (A @ x - b)
    return np.sum((A @ x - b) ** 2)


def coulomb_gas(x, beta):
    return x @ x / 2 - beta * sum(np.log(abs(x[i] - x[j])) for i in range(len(x)) for j in range(i + 1, len(x)))


def bures(m_1, m_2, Sigma_1, Sigma_2):
    R = linalg.sqrtm(Sigma_2).real
    return np.sum((m_1 - m_2) ** 2) + np.trace(Sigma_1 + Sigma_2 - 2 * linalg.sqrtm(R @ Sigma_1 @ R).real)


def sammon(d_star, Y):
    pairs = [(i, j) for i in range(len(Y)) for j in range(i + 1, len(Y))]
    return sum((d_star[p] - np.linalg.norm(Y[p[0]] - Y[p[1]])) ** 2 / d_star[p] for p in pairs) / sum(
        d_star[p] for p in pairs
    )


NINTH = [
    Passage(
        "gradient descent in five steps",
        (
            r"x^{(k+1)}=x^{(k)}-\eta A^\top\left(Ax^{(k)}-b\right),\quad x^{(0)}=x_0,\quad k=0,"
            r"\ldots,4,\quad \bigl\|Ax^{(5)}-b\bigr\|_2^2"
        ),
        "A: matrix(m, n); b: vector(m); x_0: vector(n); eta: scalar",
        "x_0",
        descent,
    ),
    Passage(
        "observed and modelled",
        (
            r"\chi^2=\sum_{i=1}^{n}\frac{\left(y_i^{\mathrm{obs}}-y_i^{\mathrm{mod}}\right)^2}{"
            r"\sigma_i^2}"
        ),
        "y_obs, y_mod: vector(n); sigma: vector(n) positive",
        "y_mod",
        lambda y_obs, y_mod, sigma: np.sum((y_obs - y_mod) ** 2 / sigma**2),
    ),
    Passage(
        "logistic loss with inner products",
        (
            r"\hat{R}_n(w)=\frac1n\sum_{i=1}^{n}\log\left(1+\exp\left(-y_i\langle w,x_i\rangle\right)"
            r"\right)"
        ),
        "w: vector(d); X: matrix(n, d); y: vector(n)",
        "w",
        lambda w, X, y: np.mean(np.log1p(np.exp(-y * (X @ w)))),
    ),
    Passage(
        "boosted trees",
        (
            r"\widetilde{\mathcal{L}}^{(t)}=\sum_{i=1}^{n}\left[g_if_i+\tfrac12h_if_i^2\right]+\gamma"
            r" T+\tfrac12\lambda\sum_{j=1}^{T}w_j^2"
        ),
        "g, f, h: vector(n); w: vector(T); gamma, lambda: scalar positive",
        "w",
        lambda g, f, h, w, gamma, **k: np.sum(g * f + h * f**2 / 2) + gamma * len(w) + k["lambda"] * w @ w / 2,
    ),
    Passage(
        "power in a resistor network",
        (
            r"P=\mathbf v^{\mathsf T}\mathbf B\operatorname{diag}(\mathbf g)\mathbf B^{\mathsf T}"
            r"\mathbf v"
        ),
        "v: vector(n); B: matrix(n, m); g: vector(m)",
        "g",
        lambda v, B, g: (B.T @ v) ** 2 @ g,
    ),
    Passage(
        "sound pressure level",
        (
            r"L_p=20\log_{10}\frac{p_{\mathrm{rms}}}{p_0},\qquad p_{\mathrm{rms}}=\sqrt{\frac1N\sum_{n"
            "=1}^{N}p_n^2}"
        ),
        "p: vector(N); p_0: scalar positive",
        "p",
        lambda p, p_0: 20 * np.log10(np.sqrt(np.mean(p**2)) / p_0),
    ),
    Passage(
        "Coulomb gas",
        r"H=\frac12\sum_{i=1}^{N}x_i^2-\beta\sum_{i<j}\log|x_i-x_j|",
        "x: vector(N); beta: scalar positive",
        "x",
        coulomb_gas,
    ),
    Passage(
        "binary symmetric channel",
        r"C=1+p\log_2p+(1-p)\log_2(1-p)",
        "p: scalar positive",
        "p",
        lambda p: 1 + p * np.log2(p) + (1 - p) * np.log2(1 - p),
        ("p",),
    ),
    Passage(
        "Streeter-Phelps",
        r"D=\frac{k_dL_0}{k_r-k_d}\left(e^{-k_dt}-e^{-k_rt}\right)+D_0e^{-k_rt}",
        "k_d, L_0, k_r, t, D_0: scalar positive",
        "t",
        lambda k_d, L_0, k_r, t, D_0: (
            k_d * L_0 / (k_r - k_d) * (np.exp(-k_d * t) - np.exp(-k_r * t)) + D_0 * np.exp(-k_r * t)
        ),
    ),
    Passage(
        "multi-exponential disposition",
        r"C(t)=\sum_{i=1}^{n}A_ie^{-\lambda_it}",
        "A, lambda: vector(n) positive; t: scalar positive",
        "t",
        lambda A, t, **k: A @ np.exp(-k["lambda"] * t),
    ),
    Passage(
        "von Bertalanffy growth",
        r"\sum_{i=1}^{n}\left[L_i-L_\infty\left(1-e^{-K(a_i-t_0)}\right)\right]^2",
        "L, a: vector(n) positive; L_inf, K: scalar positive; t_0: scalar",
        "K",
        lambda L, a, L_inf, K, t_0: np.sum((L - L_inf * (1 - np.exp(-K * (a - t_0)))) ** 2),
    ),
    Passage(
        "Wasserstein distance of normals",
        (
            r"W_2^2=\|m_1-m_2\|_2^2+\operatorname{tr}\left(\Sigma_1+\Sigma_2-2\left(\Sigma_2^{1/2}"
            r"\Sigma_1\Sigma_2^{1/2}\right)^{1/2}\right)"
        ),
        "m_1, m_2: vector(n); Sigma_1, Sigma_2: matrix(n, n) spd",
        "m_1",
        bures,
    ),
    Passage(
        "normalised cut",
        r"\mathrm{Ncut}(y)=\frac{y^\top(D-W)y}{y^\top Dy},\quad D=\operatorname{diag}(W\mathbf 1)",
        "W: matrix(n, n) positive; y: vector(n)",
        "y",
        lambda W, y: (y @ np.diag(W.sum(1)) @ y - y @ W @ y) / (y @ np.diag(W.sum(1)) @ y),
    ),
    Passage(
        "conditional value at risk",
        r"\min_{\tau\in\mathbb R}\;\tau+\frac{1}{\alpha n}\sum_{i=1}^{n}(\ell_i-\tau)_+",
        "ell: vector(n); tau: scalar; alpha: scalar positive",
        "ell",
        lambda ell, tau, alpha: tau + np.sum(np.maximum(ell - tau, 0)) / (alpha * len(ell)),
    ),
    Passage(
        "concrete distribution",
        (
            r"y_i=\frac{\exp\left((\log\pi_i+g_i)/\tau\right)}{\sum_{j=1}^{k}\exp\left((\log\pi_j"
            r"+g_j)/\tau\right)},\quad i=1,\dots,k"
        ),
        "pi: vector(k) positive; g: vector(k); tau: scalar positive",
        "pi",
        lambda pi, g, tau: np.exp((np.log(pi) + g) / tau) / np.sum(np.exp((np.log(pi) + g) / tau)),
    ),
    Passage(
        "Sammon mapping",
        (
            r"E=\frac{1}{\sum_{i<j}d^{*}_{ij}}\sum_{i<j}\frac{\left(d^{*}_{ij}-d_{ij}"
            r"\right)^2}{d^{*}_{ij}},\qquad d_{ij}=\|y_i-y_j\|"
        ),
        "d_star: matrix(n, n) positive; Y: matrix(n, q)",
        "Y",
        sammon,
    ),
    Passage(
        "hand-eye calibration",
        r"\min_X\sum_{i=1}^{N}\left\|A_iX-XB_i\right\|_F^2",
        "A, B: tensor(N, 4, 4); X: matrix(4, 4)",
        "X",
        lambda A, B, X: sum(np.sum((a @ X - X @ b) ** 2) for a, b in zip(A, B, strict=True)),
    ),
    Passage(
        "dual function",
        r"g(\lambda)=-\tfrac14\lambda^{\top}AA^{\top}\lambda-b^{\top}\lambda",
        "A: matrix(m, n); b, lambda: vector(m)",
        "b",
        lambda A, b, **k: -k["lambda"] @ A @ A.T @ k["lambda"] / 4 - b @ k["lambda"],
    ),
]
