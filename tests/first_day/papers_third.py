r"""The first part of the third set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special

lse = special.logsumexp


def sg(t):
    return 1 / (1 + np.exp(-t))


def garch(r, omega, alpha, beta):
    h = omega
    t = 0
    for x in r:
        t += np.log(h) + x * x / h
        h = omega + alpha * x * x + beta * h
    return -t / 2


def lqr(A, Q, B, R, U, x_bar):
    x = x_bar
    J = 0
    for u in U:
        J += x @ Q @ x + u @ R @ u
        x = A @ x + B @ u
    return J


def reinforce(G, a, s, theta):
    return np.sum(G * special.log_softmax(theta, axis=1)[s, a])


def kal(y, H, mu, P, R):
    S = H @ P @ H.T + R
    e = y - H @ mu
    return -0.5 * np.linalg.slogdet(2 * np.pi * S)[1] - 0.5 * e @ np.linalg.solve(S, e)


THIRD = [
    Passage(
        "weibull survival",
        (
            r"\ell(k, \lambda) = \sum_{i=1}^{n} \log k - k \log \lambda + (k-1)\log x_i - "
            r"\left(\frac{x_i}{\lambda}\right)^k"
        ),
        "x: vector(n) positive; k, lam: scalar positive",
        "k",
        lambda x, k, lam: np.sum(np.log(k) - k * np.log(lam) + (k - 1) * np.log(x) - (x / lam) ** k),
    ),
    Passage(
        "censored exponential",
        r"\ell(\lambda) = \sum_{i=1}^n \left[ \delta_i \log \lambda - \lambda t_i \right]",
        "delta, t: vector(n); lam: scalar positive",
        "lam",
        lambda delta, t, lam: np.sum(delta * np.log(lam) - lam * t),
    ),
    Passage(
        "GARCH(1,1)",
        (
            r"\ell = -\frac{1}{2}\sum_{t=1}^{T}\left(\log h_t + \frac{r_t^2}{h_t}\right), \quad h_{t+1} = \omega "
            r"+ \alpha r_t^2 + \beta h_t, \quad h_1 = \omega"
        ),
        "r: vector(T); omega, alpha, beta: scalar positive",
        "alpha",
        garch,
    ),
    Passage(
        "GMM estimator (econometrics)",
        (
            r"J(\beta) = n\, \bar g(\beta)^\top W \bar g(\beta), \quad \bar g(\beta) = \frac{1}{n} \sum_{i=1}^{n} "
            r"z_i (y_i - x_i^\top\beta)"
        ),
        "Z: matrix(n, k); X: matrix(n, p); y: vector(n); W: matrix(k, k) symmetric; beta: vector(p)",
        "beta",
        lambda Z, X, y, W, beta: len(y) * ((Z.T @ (y - X @ beta)) / len(y)) @ W @ ((Z.T @ (y - X @ beta)) / len(y)),
    ),
    Passage(
        "LMMSE (signal)",
        r"\mathrm{MSE}(W) = \operatorname{tr}\left(R_x - W R_{yx} - R_{xy} W^H + W R_y W^H\right)",
        "R_x: matrix(n, n); R_y: matrix(m, m); R_xy: matrix(n, m); R_yx: matrix(m, n); W: matrix(n, m)",
        "W",
        lambda R_x, R_y, R_xy, R_yx, W: np.trace(R_x - W @ R_yx - R_xy @ W.T + W @ R_y @ W.T),
    ),
    Passage(
        "LQR cost (control)",
        (
            r"J = \sum_{k=0}^{N-1} x_k^\top Q x_k + u_k^\top R u_k, \quad x_{k+1} = A x_k + B u_k, \quad x_0 = "
            r"\bar{x}"
        ),
        "A, Q: matrix(n, n); B: matrix(n, m); R: matrix(m, m); U: matrix(N, m); x_bar: vector(n)",
        "U",
        lqr,
    ),
    Passage(
        "Black-Scholes call, again",
        (
            r"C = S \Phi(d_1) - K e^{-rT} \Phi(d_2), \quad d_1 = \frac{\ln(S/K) + (r + "
            r"\sigma^2/2)T}{\sigma\sqrt{T}}, \quad d_2 = d_1 - \sigma\sqrt{T}"
        ),
        "S, K, r, sigma, T: scalar positive",
        "sigma",
        lambda S, K, r, sigma, T: (
            S * special.ndtr((np.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * np.sqrt(T)))
            - K
            * np.exp(-r * T)
            * special.ndtr((np.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * np.sqrt(T)) - sigma * np.sqrt(T))
        ),
    ),
    Passage(
        "risk parity (finance)",
        r"\min_w \sum_{i=1}^{n}\sum_{j=1}^{n}\left(w_i (\Sigma w)_i - w_j(\Sigma w)_j\right)^2",
        "w: vector(n); Sigma: matrix(n, n) spd",
        "w",
        lambda w, Sigma: np.sum(((w * (Sigma @ w))[:, None] - (w * (Sigma @ w))[None, :]) ** 2),
    ),
    Passage(
        "graded response / 2PL (psychometrics)",
        (
            r"\ell = \sum_{i=1}^{N}\sum_{j=1}^{J} y_{ij}\log P_{ij} + (1-y_{ij})\log(1-P_{ij}), \quad P_{ij} = "
            r"\frac{1}{1+\exp(-a_j(\theta_i - b_j))}"
        ),
        "Y: matrix(N, J); a, b: vector(J); theta: vector(N)",
        "a",
        lambda Y, a, b, theta: np.sum(
            Y * np.log(sg(a * (theta[:, None] - b))) + (1 - Y) * np.log(1 - sg(a * (theta[:, None] - b)))
        ),
    ),
    Passage(
        "Lotka-Volterra competition (ecology)",
        r"\frac{dN_i}{dt} = r_i N_i \left(1 - \frac{\sum_{j=1}^{S}\alpha_{ij}N_j}{K_i}\right)",
        "N, r, K: vector(S); alpha: matrix(S, S)",
        "N",
        lambda N, r, K, alpha: r * N * (1 - alpha @ N / K),
    ),
    Passage(
        "Arrhenius fit (chemistry)",
        r"\chi^2 = \sum_{i=1}^{n} \left(\ln k_i - \ln A + \frac{E_a}{R T_i}\right)^2",
        "k, T: vector(n) positive; A, E_a, R: scalar positive",
        "E_a",
        lambda k, T, A, E_a, R: np.sum((np.log(k) - np.log(A) + E_a / (R * T)) ** 2),
    ),
    Passage(
        "SIR force of infection (epi)",
        r"\lambda_i = \beta \sum_{j=1}^{n} C_{ij}\frac{I_j}{N_j}",
        "C: matrix(n, n); I, N: vector(n) positive; beta: scalar positive",
        "I",
        lambda C, I, N, beta: beta * C @ (I / N),  # noqa: E741
    ),
    Passage(
        "TD loss (RL)",
        (
            r"L(\theta) = \frac{1}{T}\sum_{t=1}^{T}\left(r_t + \gamma V(s_{t+1}) - V(s_t)\right)^2, \quad V(s) = "
            r"\theta^\top \phi_s"
        ),
        "r: vector(T); s: index(T+1); phi: matrix(S, d); theta: vector(d); gamma: scalar",
        "theta",
        lambda r, s, phi, theta, gamma: np.mean((r + gamma * (phi @ theta)[s[1:]] - (phi @ theta)[s[:-1]]) ** 2),
    ),
    Passage(
        "REINFORCE (RL)",
        (
            r"J(\theta) = \sum_{t=1}^{T} G_t \log \pi(a_t \mid s_t), \quad \pi(a \mid s) = "
            r"\frac{e^{\theta_{sa}}}{\sum_{b=1}^{A} e^{\theta_{sb}}}"
        ),
        "G: vector(T); a, s: index(T); theta: matrix(S, A)",
        "theta",
        reinforce,
    ),
    Passage(
        "mutual information with marginals",
        (
            r"I(X;Y) = \sum_{i,j} P_{ij}\log\frac{P_{ij}}{p_i q_j}, \quad p_i = \sum_j P_{ij}, \quad q_j = \sum_i "
            r"P_{ij}"
        ),
        "P: matrix(m, n) positive",
        "P",
        lambda P: np.sum(P * np.log(P / np.outer(P.sum(1), P.sum(0)))),
    ),
    Passage(
        "matrix completion on Omega",
        (
            r"\min_{U,V}\sum_{(i,j)\in\Omega}\left(R_{ij}-U_iV_j^\top\right)^2+\lambda\left(\|U\|_F^2+\|V\|_F^2"
            r"\right)"
        ),
        "R, Omega: matrix(m, n); U: matrix(m, k); V: matrix(n, k); lam: scalar",
        "U",
        lambda R, Omega, U, V, lam: (
            np.sum(np.where(Omega != 0, (R - U @ V.T) ** 2, 0)) + lam * (np.sum(U**2) + np.sum(V**2))
        ),
    ),
    Passage(
        "Ising energy (physics)",
        r"H(\sigma) = -J\sum_{i=1}^{N-1} \sigma_i\sigma_{i+1} - h\sum_{i=1}^{N}\sigma_i",
        "sigma: vector(N); J, h: scalar",
        "sigma",
        lambda sigma, J, h: -J * np.sum(sigma[:-1] * sigma[1:]) - h * np.sum(sigma),
    ),
    Passage(
        "BRDF lambert (graphics)",
        r"L_o = \frac{\rho}{\pi}\sum_{\ell=1}^{M} I_\ell \max(0, \mathbf{n}\cdot\mathbf{l}_\ell)",
        "n: vector(d); L: matrix(M, d); I: vector(M); rho: scalar",
        "n",
        lambda n, L, I, rho: rho / np.pi * np.sum(I * np.maximum(0, L @ n)),  # noqa: E741
    ),
    Passage(
        "Total variation (imaging)",
        (
            r"\mathrm{TV}(u) = \sum_{i=1}^{m-1}\sum_{j=1}^{n-1}\sqrt{(u_{i+1,j}-u_{i,j})^2+(u_{i,j+1}-u_{i,j})^2+"
            r"\varepsilon}"
        ),
        "u: matrix(m, n); varepsilon: scalar positive",
        "u",
        lambda u, varepsilon: np.sum(
            np.sqrt((u[1:, :-1] - u[:-1, :-1]) ** 2 + (u[:-1, 1:] - u[:-1, :-1]) ** 2 + varepsilon)
        ),
    ),
    Passage(
        "InfoNCE, again",
        (
            r"\mathcal{L} = -\frac{1}{N}\sum_{i=1}^N\log\frac{\exp(z_i^\top w_i/\tau)}{\sum_{j=1}^N\exp(z_i^\top "
            r"w_j/\tau)}"
        ),
        "Z, W: matrix(N, d); tau: scalar positive",
        "Z",
        lambda Z, W, tau: -np.mean(np.diag(Z @ W.T / tau) - lse(Z @ W.T / tau, axis=1)),
    ),
    Passage(
        "Heckman / tobit",
        (
            r"\log L = \sum_{i: y_i > 0} \log\left[\frac{1}{\sigma}\phi\left(\frac{y_i - "
            r"x_i^\top\beta}{\sigma}\right)\right] + \sum_{i: y_i \le 0} "
            r"\log\left[1-\Phi\left(\frac{x_i^\top\beta}{\sigma}\right)\right]"
        ),
        "y: vector(n); X: matrix(n, p); beta: vector(p); sigma: scalar positive",
        "beta",
        lambda y, X, beta, sigma: np.sum(
            np.where(
                y > 0,
                -np.log(sigma) - 0.5 * np.log(2 * np.pi) - ((y - X @ beta) / sigma) ** 2 / 2,
                special.log_ndtr(-X @ beta / sigma),
            )
        ),
    ),
    Passage(
        "beta regression",
        (
            r"\ell(\mu,\phi) = \sum_{i=1}^{n}\log\Gamma(\phi)-\log\Gamma(\mu_i\phi)-\log\Gamma((1-\mu_i)\phi)+("
            r"\mu_i\phi-1)\log y_i+\{(1-\mu_i)\phi-1\}\log(1-y_i)"
        ),
        "mu, y: vector(n) positive; phi: scalar positive",
        "phi",
        lambda mu, y, phi: np.sum(
            special.gammaln(phi)
            - special.gammaln(mu * phi)
            - special.gammaln((1 - mu) * phi)
            + (mu * phi - 1) * np.log(y)
            + ((1 - mu) * phi - 1) * np.log(1 - y)
        ),
        ("mu", "y"),
    ),
    Passage(
        "Kalman innovation likelihood",
        (
            r"\log p(y \mid \theta) = -\frac12 \log|2\pi S| - \frac12 (y - H\mu)^\top S^{-1}(y-H\mu) \quad "
            r"\text{where } S = HPH^\top + R"
        ),
        "y: vector(m); H: matrix(m, n); mu: vector(n); P: matrix(n, n) spd; R: matrix(m, m) spd",
        "P",
        kal,
    ),
]
