r"""The last part of the third set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special


def sg(t):
    return 1 / (1 + np.exp(-t))


def ar(y, phi, c):
    p = len(phi)
    return sum((y[t] - c - sum(phi[j] * y[t - 1 - j] for j in range(p))) ** 2 for t in range(p, len(y)))


THIRD_END = [
    Passage(
        "Fisher LDA",
        r"J(w) = \frac{w^\top S_B w}{w^\top S_W w}",
        "w: vector(n); S_B, S_W: matrix(n, n) spd",
        "w",
        lambda w, S_B, S_W: (w @ S_B @ w) / (w @ S_W @ w),
    ),
    Passage(
        "SVM dual",
        (
            r"\max_{\alpha}\sum_{i=1}^{n}\alpha_i-\frac12\sum_{i,j=1}^{n}\alpha_i\alpha_jy_iy_jk(x_i,x_j), \quad "
            r"k(x,z)=\exp(-\gamma\|x-z\|^2)"
        ),
        "alpha, y: vector(n); X: matrix(n, d); gamma: scalar positive",
        "alpha",
        lambda alpha, y, X, gamma: (
            np.sum(alpha) - 0.5 * (alpha * y) @ np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(-1)) @ (alpha * y)
        ),
    ),
    Passage(
        "batch norm",
        (
            r"\hat{x}_i = \gamma\frac{x_i-\mu}{\sqrt{\sigma^2+\epsilon}}+\beta, \quad \mu = \frac1m\sum_{i=1}^m "
            r"x_i, \quad \sigma^2 = \frac1m\sum_{i=1}^m (x_i-\mu)^2"
        ),
        "x: vector(m); gamma, beta, epsilon: scalar positive",
        "x",
        lambda x, gamma, beta, epsilon: gamma * (x - x.mean()) / np.sqrt(x.var() + epsilon) + beta,
    ),
    Passage(
        "negative binomial (epi)",
        (
            r"\ell = \sum_{t=1}^{T}\log\Gamma(y_t+k)-\log\Gamma(k)-\log "
            r"y_t!+k\log\frac{k}{k+\mu_t}+y_t\log\frac{\mu_t}{k+\mu_t}"
        ),
        "y, mu: vector(T) positive; k: scalar positive",
        "k",
        lambda y, mu, k: np.sum(
            special.gammaln(y + k)
            - special.gammaln(k)
            - special.gammaln(y + 1)
            + k * np.log(k / (k + mu))
            + y * np.log(mu / (k + mu))
        ),
    ),
    Passage(
        "Nelson-Siegel (finance)",
        (
            r"y(\tau) = \beta_0+\beta_1\frac{1-e^{-\lambda\tau}}{\lambda\tau}+\beta_2\left(\frac{1-e^{-\lambda"
            r"\tau}}{\lambda\tau}-e^{-\lambda\tau}\right)"
        ),
        "beta_0, beta_1, beta_2, lam, tau: scalar positive",
        "lam",
        lambda beta_0, beta_1, beta_2, lam, tau: (
            beta_0
            + beta_1 * (1 - np.exp(-lam * tau)) / (lam * tau)
            + beta_2 * ((1 - np.exp(-lam * tau)) / (lam * tau) - np.exp(-lam * tau))
        ),
    ),
    Passage(
        "Hopfield",
        r"E = -\frac{1}{2}\sum_{i\neq j} w_{ij}s_is_j+\sum_i\theta_is_i",
        "w: matrix(n, n); s, theta: vector(n)",
        "s",
        lambda w, s, theta: -0.5 * (s @ w @ s - np.sum(np.diag(w) * s**2)) + theta @ s,
    ),
    Passage(
        "word2vec SGNS",
        r"\log\sigma(u_o^\top v_c)+\sum_{k=1}^{K}\log\sigma(-u_k^\top v_c)",
        "u_o, v_c: vector(d); U: matrix(K, d)",
        "v_c",
        lambda u_o, v_c, U: np.log(sg(u_o @ v_c)) + np.sum(np.log(sg(-U @ v_c))),
    ),
    Passage(
        "MUSIC spectrum",
        r"P(\theta) = \frac{1}{a^H E_n E_n^H a}",
        "a: vector(n); E_n: matrix(n, k)",
        "a",
        lambda a, E_n: 1 / (a @ E_n @ E_n.T @ a),
    ),
    Passage(
        "AR(p) conditional",
        r"S(\phi) = \sum_{t=p+1}^{T}\left(y_t-c-\sum_{j=1}^{p}\phi_jy_{t-j}\right)^2",
        "y: vector(T); phi: vector(p); c: scalar",
        "phi",
        ar,
    ),
    Passage(
        "elastic rods (physics)",
        r"E = \frac{k}{2}\sum_{i=1}^{n-1}\left(\|x_{i+1}-x_i\|-\ell_0\right)^2 + \sum_{i=1}^{n} m_i g^\top x_i",
        "X: matrix(n, d); m: vector(n); g: vector(d); k, ell_0: scalar",
        "X",
        lambda X, m, g, k, ell_0: k / 2 * np.sum((np.linalg.norm(X[1:] - X[:-1], axis=1) - ell_0) ** 2) + m @ (X @ g),
    ),
    Passage(
        "channel capacity",
        r"C = \log_2\det\left(I_m+\frac{\rho}{n}HH^H\right)",
        "H: matrix(m, n); rho: scalar positive",
        "H",
        lambda H, rho: np.log2(np.linalg.det(np.eye(len(H)) + rho / H.shape[1] * H @ H.T)),
    ),
    Passage(
        "Michaelis-Menten competitive",
        r"v = \frac{V_{\max}[S]}{K_m\left(1+\frac{[I]}{K_i}\right)+[S]}",
        "V_max, S, K_m, I, K_i: scalar positive",
        "S",
        lambda V_max, S, K_m, I, K_i: V_max * S / (K_m * (1 + I / K_i) + S),  # noqa: E741
    ),
]

THIRD_REFUSED = [
    (
        "attention head (ML)",
        r"\mathrm{Attn}(Q, K, V) = \mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V",
        "Q: matrix(n, d); K: matrix(m, d); V: matrix(m, p); d_k: scalar positive",
        r"'softmax' of a matrix needs its axis",
    ),
    (
        "rate distortion / mutual information (IT)",
        r"I = \sum_{x,y} p_{xy}\log\frac{p_{xy}}{p_x p_y}",
        "P: matrix(m, n) positive",
        r"p_x beside p_\{xy\} can be a row of P or a marginal",
    ),
    (
        "Lennard-Jones (chemistry)",
        (
            r"U = 4\epsilon\sum_{i<j}\left[\left(\frac{\sigma}{r_{ij}}\right)^{12}-\left(\frac{\sigma}{r_{ij}}"
            r"\right)^{6}\right], \quad r_{ij} = \|\mathbf{x}_i-\mathbf{x}_j\|"
        ),
        "X: matrix(N, d); epsilon, sigma: scalar positive",
        r"this can be row or column i of X: matrix\(N, d\), or an entry of x",
    ),
    (
        "ICA",
        r"\ell(W) = \sum_{t=1}^{T}\sum_{i=1}^{n}-\log\cosh(w_i^\top x_t)+T\log|\det W|",
        "W: matrix(n, n); X: matrix(T, n)",
        r"this can be row or column i of W: matrix\(n, n\), or an entry of w",
    ),
]
