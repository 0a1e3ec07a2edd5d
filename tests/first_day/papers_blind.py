r"""Forty passages of LaTeX in the style of forty papers, written before the reader had seen any of them."""

import numpy as np
from first_day.papers import Passage
from scipy import special
from scipy.stats import norm


def soft_rows(Z):
    return special.softmax(Z, axis=1)


def distances(X, Y):
    return np.sum((X[:, None] - Y[None]) ** 2, axis=2)


BLIND = [
    Passage(
        "von Mises",
        r"\log L(\mu, \kappa) = \kappa \sum_{i=1}^{n} \cos(\theta_i - \mu) - n \log\left(2\pi I_0(\kappa)\right)",
        "theta: vector(n); mu: scalar; kappa: scalar positive",
        "kappa",
        lambda theta, mu, kappa: (
            kappa * np.sum(np.cos(theta - mu)) - len(theta) * np.log(2 * np.pi * special.i0(kappa))
        ),
    ),
    Passage(
        "affine model in a loss",
        r"\frac{1}{N}\sum_{i=1}^{N} \|y_i - f(x_i)\|_2^2, \qquad f(x) = Wx + b",
        "X: matrix(N, d); Y: matrix(N, k); W: matrix(k, d); b: vector(k)",
        "W",
        lambda X, Y, W, b: np.sum((Y - X @ W.T - b) ** 2) / len(X),
    ),
    Passage(
        "kernel without a range",
        r"\alpha^\top K \alpha, \quad K_{ij} = \exp\left(-\frac{\|x_i - x_j\|^2}{2\sigma^2}\right)",
        "X: matrix(n, d); alpha: vector(n); sigma: scalar positive",
        "sigma",
        lambda X, alpha, sigma: alpha @ np.exp(-distances(X, X) / (2 * sigma**2)) @ alpha,
    ),
    Passage(
        "GARCH quasi likelihood",
        r"-\frac{1}{2}\sum_{t=1}^{T}\left(\log h_t + \frac{\epsilon_t^2}{h_t}\right)",
        "h: vector(T) positive; epsilon: vector(T)",
        "h",
        lambda h, epsilon: -np.sum(np.log(h) + epsilon**2 / h) / 2,
    ),
    Passage(
        "Nelson-Siegel curve",
        r"\sum_{j=1}^{N}\left(y_j - \beta_0 - \beta_1 \frac{1 - e^{-\lambda\tau_j}}{\lambda\tau_j} - "
        r"\beta_2\left(\frac{1 - e^{-\lambda\tau_j}}{\lambda\tau_j} - e^{-\lambda\tau_j}\right)\right)^2",
        "y: vector(N); tau: vector(N) positive; lam: scalar positive; beta_0, beta_1, beta_2: scalar",
        "lam",
        lambda y, tau, lam, beta_0, beta_1, beta_2: np.sum(
            (
                y
                - beta_0
                - beta_1 * (1 - np.exp(-lam * tau)) / (lam * tau)
                - beta_2 * ((1 - np.exp(-lam * tau)) / (lam * tau) - np.exp(-lam * tau))
            )
            ** 2
        ),
    ),
    Passage(
        "Black-Scholes call",
        r"C = S\,\Phi(d_1) - K e^{-rT}\,\Phi(d_2), \quad d_1 = \frac{\ln(S/K) + (r + \sigma^2/2)T}{\sigma\sqrt{T}}, "
        r"\quad d_2 = d_1 - \sigma\sqrt{T}",
        "S, K, T, sigma: scalar positive; r: scalar",
        "sigma",
        lambda S, K, T, sigma, r: (
            S * norm.cdf((np.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * np.sqrt(T)))
            - K
            * np.exp(-r * T)
            * norm.cdf((np.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * np.sqrt(T)) - sigma * np.sqrt(T))
        ),
    ),
    Passage(
        "mean-variance with costs",
        r"\max_{w}\; \mu^\top w - \frac{\gamma}{2} w^\top \Sigma w - \lambda \|w - w_0\|_1",
        "mu, w, w_0: vector(n); Sigma: matrix(n, n) spd; gamma, lam: scalar positive",
        "w",
        lambda mu, w, w_0, Sigma, gamma, lam: mu @ w - gamma / 2 * w @ Sigma @ w - lam * np.sum(abs(w - w_0)),
    ),
    Passage(
        "gravity of two shells",
        r"V(r) = -\frac{G M m}{r} + \frac{L^2}{2 m r^2}",
        "G, M, m, r, L: scalar positive",
        "r",
        lambda G, M, m, r, L: -G * M * m / r + L**2 / (2 * m * r**2),
    ),
    Passage(
        "free energy of mean-field spins",
        r"F = -\frac{J z m^2}{2} - k_B T \ln\left[2\cosh\left(\frac{J z m + h}{k_B T}\right)\right]",
        "J, z, m, h: scalar; k_B, T: scalar positive",
        "m",
        lambda J, z, m, h, k_B, T: -J * z * m**2 / 2 - k_B * T * np.log(2 * np.cosh((J * z * m + h) / (k_B * T))),
    ),
    Passage(
        "Kohlrausch decay fit",
        r"\chi^2 = \sum_{i} \frac{\left[y_i - A\exp\left(-(t_i/\tau)^{\beta}\right)\right]^2}{\sigma_i^2}",
        "y: vector(n); t, sigma: vector(n) positive; A, tau, beta: scalar positive",
        "beta",
        lambda y, t, sigma, A, tau, beta: np.sum((y - A * np.exp(-((t / tau) ** beta))) ** 2 / sigma**2),
    ),
    Passage(
        "Lotka-Volterra competition",
        r"\dot{N}_1 = r_1 N_1 \left(1 - \frac{N_1 + \alpha_{12} N_2}{K_1}\right)",
        "r_1, N_1, N_2, alpha_12: scalar; K_1: scalar positive",
        "N_1",
        lambda r_1, N_1, N_2, alpha_12, K_1: r_1 * N_1 * (1 - (N_1 + alpha_12 * N_2) / K_1),
    ),
    Passage(
        "Shannon diversity",
        r"H' = -\sum_{i=1}^{S} p_i \ln p_i, \quad p_i = \frac{n_i}{\sum_{j=1}^{S} n_j}",
        "n: vector(S) positive",
        "n",
        lambda n: -np.sum(n / np.sum(n) * np.log(n / np.sum(n))),
    ),
    Passage(
        "distance sampling",
        r"\ell(\sigma) = \sum_{i=1}^{n}\left(-\frac{d_i^2}{2\sigma^2}\right) - "
        r"n\log\left(\sigma\sqrt{\frac{\pi}{2}}\right)",
        "d: vector(n); sigma: scalar positive",
        "sigma",
        lambda d, sigma: -np.sum(d**2) / (2 * sigma**2) - len(d) * np.log(sigma * np.sqrt(np.pi / 2)),
    ),
    Passage(
        "graded response",
        r"P_{ik} = \frac{1}{1 + \exp\{-a(\theta_i - b_k)\}}, \quad i = 1, \dots, N, \; k = 1, \dots, K",
        "theta: vector(N); b: vector(K); a: scalar",
        "theta",
        lambda theta, b, a: special.expit(a * (theta[:, None] - b)),
    ),
    Passage(
        "factor analysis discrepancy",
        r"F_{ML} = \log|\Sigma| + \operatorname{tr}(S\Sigma^{-1}) - \log|S| - p, \quad "
        r"\Sigma = \Lambda\Lambda^\top + \Psi",
        "S: matrix(p, p) spd; Lambda: matrix(p, k); Psi: matrix(p, p) spd",
        "Lambda",
        lambda S, Lambda, Psi: (
            np.linalg.slogdet(Lambda @ Lambda.T + Psi)[1]
            + np.trace(S @ np.linalg.inv(Lambda @ Lambda.T + Psi))
            - np.linalg.slogdet(S)[1]
            - len(S)
        ),
    ),
    Passage(
        "Rasch conditional term",
        r"\sum_{i=1}^{N}\sum_{j=1}^{J} x_{ij}(\theta_i - \delta_j) - \log(1 + e^{\theta_i - \delta_j})",
        "X: matrix(N, J); theta: vector(N); delta: vector(J)",
        "delta",
        lambda X, theta, delta: np.sum(X * (theta[:, None] - delta) - np.logaddexp(0, theta[:, None] - delta)),
    ),
    Passage(
        "two stage least squares",
        r"\hat{\beta} = (X^\top P_Z X)^{-1} X^\top P_Z y, \quad P_Z = Z(Z^\top Z)^{-1}Z^\top",
        "X: matrix(m, q); Z: matrix(m, k); y: vector(m)",
        "y",
        lambda X, Z, y: np.linalg.solve(
            X.T @ Z @ np.linalg.solve(Z.T @ Z, Z.T @ X), X.T @ Z @ np.linalg.solve(Z.T @ Z, Z.T @ y)
        ),
    ),
    Passage(
        "Cobb-Douglas profit",
        r"\pi = p A K^{\alpha} L^{1-\alpha} - r K - w L",
        "p, A, K, L, r, w: scalar positive; alpha: scalar",
        "K",
        lambda p, A, K, L, r, w, alpha: p * A * K**alpha * L ** (1 - alpha) - r * K - w * L,
    ),
    Passage(
        "random utility shares",
        r"s_j = \frac{e^{\delta_j}}{1 + \sum_{k=1}^{J} e^{\delta_k}}",
        "delta: vector(J)",
        "delta",
        lambda delta: np.exp(delta) / (1 + np.sum(np.exp(delta))),
    ),
    Passage(
        "linear MMSE",
        r"\mathrm{MSE} = \operatorname{tr}\left\{\left(\mathbf{I} + \frac{1}{\sigma^2}\mathbf{H}^{T}\mathbf{H}"
        r"\right)^{-1}\right\}",
        "H: matrix(m, n); sigma: scalar positive",
        "H",
        lambda H, sigma: np.trace(np.linalg.inv(np.eye(H.shape[1]) + H.T @ H / sigma**2)),
    ),
    Passage(
        "adaptive filter error",
        r"\xi(k) = |d - \mathbf{w}^T\mathbf{x}|^2 + \rho\,\mathbf{w}^T\mathbf{w}",
        "d, rho: scalar; w, x: vector(n)",
        "w",
        lambda d, rho, w, x: (d - w @ x) ** 2 + rho * w @ w,
    ),
    Passage(
        "Riccati residual",
        r"A^\top P + P A - P B R^{-1} B^\top P + Q",
        "A: matrix(n, n); P, Q: matrix(n, n) spd; B: matrix(n, m); R: matrix(m, m) spd",
        "A",
        lambda A, P, Q, B, R: A.T @ P + P @ A - P @ B @ np.linalg.solve(R, B.T) @ P + Q,
    ),
    Passage(
        "PID tracking",
        r"u = K_p e + K_d \dot{e}, \quad e = r - y",
        "K_p, K_d, e_dot, r, y: scalar",
        "y",
        lambda K_p, K_d, e_dot, r, y: K_p * (r - y) + K_d * e_dot,
    ),
    Passage(
        "Phong shading",
        r"I = k_a + k_d\max(0, \mathbf{n}\cdot\mathbf{l}) + k_s\max(0, \mathbf{r}\cdot\mathbf{v})^{\alpha}",
        "k_a, k_d, k_s: scalar; alpha: scalar positive; n, l, r, v: vector(d)",
        "n",
        lambda k_a, k_d, k_s, alpha, n, l, r, v: (  # noqa: E741
            k_a + k_d * max(0, n @ l) + k_s * max(0, r @ v) ** alpha
        ),
    ),
    Passage(
        "deep linear network",
        r"\mathcal{L}(W_1, W_2, W_3) = \frac{1}{2}\lVert W_3 W_2 W_1 X - Y \rVert_F^2",
        "W_1: matrix(k, n); W_2: matrix(q, k); W_3: matrix(p, q); X: matrix(n, m); Y: matrix(p, m)",
        "W_2",
        lambda W_1, W_2, W_3, X, Y: np.sum((W_3 @ W_2 @ W_1 @ X - Y) ** 2) / 2,
    ),
    Passage(
        "graph convolution",
        r"Z = \hat{A}\,\mathrm{ReLU}\left(\hat{A} X W^{(0)}\right) W^{(1)}",
        "A_hat: matrix(n, n); X: matrix(n, d); W_0: matrix(d, k); W_1: matrix(k, q)",
        "W_0",
        lambda A_hat, X, W_0, W_1: A_hat @ np.maximum(A_hat @ X @ W_0, 0) @ W_1,
    ),
    Passage(
        "maximum mean discrepancy",
        r"\frac{1}{m^2}\sum_{i,j=1}^{m} k(x_i, x_j) - \frac{2}{mn}\sum_{i=1}^{m}\sum_{j=1}^{n} k(x_i, y_j) + "
        r"\frac{1}{n^2}\sum_{i,j=1}^{n} k(y_i, y_j), \quad k(x, y) = \exp(-\|x - y\|^2)",
        "X: matrix(m, d); Y: matrix(n, d)",
        "X",
        lambda X, Y: (
            np.mean(np.exp(-distances(X, X)))
            - 2 * np.mean(np.exp(-distances(X, Y)))
            + np.mean(np.exp(-distances(Y, Y)))
        ),
    ),
    Passage(
        "t-SNE divergence",
        r"C = \sum_{i \neq j} p_{ij}\log\frac{p_{ij}}{q_{ij}}, \quad q_{ij} = \frac{(1 + \|y_i - y_j\|^2)^{-1}}"
        r"{\sum_{k \neq l}(1 + \|y_k - y_l\|^2)^{-1}}",
        "P: matrix(n, n) positive; Y: matrix(n, d)",
        "Y",
        lambda P, Y: np.sum(
            (P * np.log(P / ((1 / (1 + distances(Y, Y))) / (np.sum(1 / (1 + distances(Y, Y))) - len(Y)))))[
                ~np.eye(len(Y), dtype=bool)
            ]
        ),
    ),
    Passage(
        "zero-inflated Poisson, positive part",
        r"\sum_{i: y_i > 0} \left\{ \log(1 - \pi) - \lambda + y_i\log\lambda - \log(y_i!) \right\} + "
        r"\sum_{i: y_i = 0} \log(\pi + (1 - \pi)e^{-\lambda})",
        "y: vector(n) nonnegative; pi: scalar positive; lam: scalar positive",
        "lam",
        lambda y, pi, lam: np.sum(
            np.where(
                y > 0,
                np.log(1 - pi) - lam + y * np.log(lam) - special.gammaln(y + 1),
                np.log(pi + (1 - pi) * np.exp(-lam)),
            )
        ),
        ("pi",),
    ),
    Passage(
        "spatial autoregression",
        r"\ell = \ln|I_n - \rho W| - \frac{n}{2}\ln(2\pi\sigma^2) - \frac{1}{2\sigma^2} e^\top e, \quad "
        r"e = (I_n - \rho W)y - X\beta",
        "W: matrix(n, n); X: matrix(n, k); y: vector(n); beta: vector(k); rho: scalar; sigma: scalar positive",
        "rho",
        lambda W, X, y, beta, rho, sigma: (
            np.linalg.slogdet(np.eye(len(y)) - rho * W)[1]
            - len(y) / 2 * np.log(2 * np.pi * sigma**2)
            - np.sum(((np.eye(len(y)) - rho * W) @ y - X @ beta) ** 2) / (2 * sigma**2)
        ),
    ),
    Passage(
        "Tikhonov with a metric",
        r"\|Ax - b\|_{\Sigma^{-1}}^2 + \lambda\|Lx\|^2",
        "A: matrix(m, n); b: vector(m); x: vector(n); L: matrix(k, n); Sigma: matrix(m, m) spd; lam: scalar positive",
        "x",
        lambda A, b, x, L, Sigma, lam: (A @ x - b) @ np.linalg.solve(Sigma, A @ x - b) + lam * np.sum((L @ x) ** 2),
    ),
    Passage(
        "mutual information of a joint table",
        r"I(X;Y) = \sum_{x}\sum_{y} p_{xy}\log\frac{p_{xy}}{p_x q_y}, "
        r"\quad p_x = \sum_y p_{xy}, \; q_y = \sum_x p_{xy}",
        "P: matrix(m, n) positive",
        "P",
        lambda P: np.sum(P * np.log(P / np.outer(P.sum(axis=1), P.sum(axis=0)))),
    ),
    Passage(
        "periodogram fit",
        r"J(\omega) = \sum_{n=0}^{N-1}\left(x_n - A\cos(\omega n + \phi)\right)^2",
        "x: vector(N); A, omega, phi: scalar",
        "omega",
        lambda x, A, omega, phi: np.sum((x - A * np.cos(omega * np.arange(len(x)) + phi)) ** 2),
    ),
]


BLIND_REFUSED = [
    (
        "mixture with weights beside the number",
        r"\sum_{i=1}^{N}\sum_{k=1}^{K} \gamma_{ik}\left[\log\pi_k - \frac{1}{2}\log(2\pi\sigma_k^2)\right]",
        "gamma: matrix(N, K); pi, sigma: vector(K) positive",
        "the declared pi or the number",
    ),
    (
        "chain of a residual sum",
        r"S(\beta) = \|y - X\beta\|^2 = (y - X\beta)^\top (y - X\beta)",
        "X: matrix(m, n); y: vector(m); beta: vector(n)",
        "between formulas",
    ),
    (
        "posterior up to a constant",
        r"p(\theta \mid x) \propto \exp\left(-\frac{1}{2}(\theta - m)^\top \Lambda (\theta - m)\right)",
        "theta, m: vector(n); Lambda: matrix(n, n) spd",
        "between formulas",
    ),
    (
        "moving horizon cost",
        r"J = \sum_{k=0}^{N-1} \left( x_k^\top Q x_k + u_k^\top R u_k \right) + x_N^\top P x_N",
        "x: matrix(N + 1, n); u: matrix(N, m); Q, P: matrix(n, n) spd; R: matrix(m, m) spd",
        "one subscript for 2 axes",
    ),
    (
        "as rigid as possible",
        r"E = \sum_{i=1}^{n}\sum_{j \in \mathcal{N}(i)} w_{ij}\left\| (p_i' - p_j') - R (p_i - p_j) \right\|^2",
        "P, P_prime: matrix(n, d); R: matrix(d, d); W: matrix(n, n); N: matrix(n, n)",
        "the range of this sum is not supported",
    ),
]
