r"""Twenty-four passages in the style of papers, a second set written before the reader had seen any of them."""

import numpy as np
from first_day.papers import Passage
from scipy import special

sg = special.expit

SECOND = [
    Passage(
        "cross entropy",
        r"J(\theta) = -\frac{1}{m}\sum_{i=1}^{m} y_i \log \sigma(\theta^\top x_i) + "
        r"(1 - y_i)\log(1 - \sigma(\theta^\top x_i))",
        "X: matrix(m, n); y: vector(m); theta: vector(n)",
        "theta",
        lambda X, y, theta: -np.mean(y * np.log(sg(X @ theta)) + (1 - y) * np.log(1 - sg(X @ theta))),
    ),
    Passage(
        "vMF",
        r"\ell(\mu, \kappa) = \sum_{i} \kappa \mu^\top x_i",
        "X: matrix(n, d); mu: vector(d); kappa: scalar positive",
        "mu",
        lambda X, mu, kappa: kappa * np.sum(X @ mu),
    ),
    Passage(
        "mlp",
        r"\hat{y} = w^\top \tanh(W x + b) + c",
        "w, b: vector(k); W: matrix(k, n); x: vector(n); c: scalar",
        "W",
        lambda w, b, W, x, c: w @ np.tanh(W @ x + b) + c,
    ),
    Passage(
        "ar1",
        r"\sum_{t=2}^{T} (x_t - \phi x_{t-1} - c)^2",
        "x: vector(T); phi, c: scalar",
        "phi",
        lambda x, phi, c: np.sum((x[1:] - phi * x[:-1] - c) ** 2),
    ),
    Passage(
        "CAPM",
        r"\mathrm{SSE} = \sum_{t=1}^{T}\left(r_t - r_f - \alpha - \beta(m_t - r_f)\right)^2",
        "r, m: vector(T); r_f, alpha, beta: scalar",
        "beta",
        lambda r, m, r_f, alpha, beta: np.sum((r - r_f - alpha - beta * (m - r_f)) ** 2),
    ),
    Passage(
        "Sharpe",
        r"\frac{w^\top\mu - r_f}{\sqrt{w^\top\Sigma w}}",
        "w, mu: vector(n); r_f: scalar; Sigma: matrix(n, n) spd",
        "w",
        lambda w, mu, r_f, Sigma: (w @ mu - r_f) / np.sqrt(w @ Sigma @ w),
    ),
    Passage(
        "DFT energy",
        r"\sum_{n=1}^{N} |x_n|^2 - \lambda\left|\sum_{n=1}^{N} x_n h_n\right|",
        "x, h: vector(N); lam: scalar",
        "x",
        lambda x, h, lam: x @ x - lam * abs(x @ h),
    ),
    Passage(
        "Wiener",
        r"J = \mathbf{w}^T\mathbf{R}\mathbf{w} - 2\mathbf{p}^T\mathbf{w} + \sigma_d^2",
        "w, p: vector(n); R: matrix(n, n) spd; sigma_d: scalar",
        "w",
        lambda w, p, R, sigma_d: w @ R @ w - 2 * p @ w + sigma_d**2,
    ),
    Passage(
        "LQR Hamiltonian",
        r"H = \frac{1}{2}\left(x^\top Q x + u^\top R u\right) + \lambda^\top(Ax + Bu)",
        "x, lam: vector(n); Q, A: matrix(n, n); u: vector(m); R: matrix(m, m); B: matrix(n, m)",
        "u",
        lambda x, lam, Q, A, u, R, B: 0.5 * (x @ Q @ x + u @ R @ u) + lam @ (A @ x + B @ u),
    ),
    Passage(
        "pendulum",
        r"E = \frac{1}{2} m l^2 \dot{\theta}^2 + m g l (1 - \cos\theta)",
        "m, l, g, theta, theta_dot: scalar",
        "theta",
        lambda m, g, theta, theta_dot, **x: 0.5 * m * x["l"] ** 2 * theta_dot**2 + m * g * x["l"] * (1 - np.cos(theta)),
    ),
    Passage(
        "Hooke chain",
        r"U = \frac{k}{2}\sum_{i=1}^{N-1}(x_{i+1} - x_i - a)^2",
        "k, a: scalar; x: vector(N)",
        "x",
        lambda k, a, x: k / 2 * np.sum((np.diff(x) - a) ** 2),
    ),
    Passage(
        "Planck",
        r"B = \frac{2h\nu^3}{c^2}\frac{1}{e^{h\nu/(k_B T)} - 1}",
        "h, nu, c, k_B, T: scalar positive",
        "T",
        lambda h, nu, c, k_B, T: 2 * h * nu**3 / c**2 / (np.exp(h * nu / (k_B * T)) - 1),
    ),
    Passage(
        "Holling",
        r"\frac{a N}{1 + a h N} P - m P",
        "a, N, h, P, m: scalar positive",
        "N",
        lambda a, N, h, P, m: a * N / (1 + a * h * N) * P - m * P,
    ),
    Passage(
        "SIR",
        r"\beta S I / N - \gamma I",
        "beta, S, I, N, gamma: scalar positive",
        "I",
        lambda beta, S, N, gamma, **x: (beta * S / N - gamma) * x["I"],
    ),
    Passage(
        "occupancy",
        r"\sum_{i=1}^{n} \log\left(\psi p^{y_i}(1-p)^{K-y_i}\right)",
        "psi, p: scalar positive; y: vector(n); K: scalar",
        "p",
        lambda psi, p, y, K: np.sum(np.log(psi * p**y * (1 - p) ** (K - y))),
        ("psi", "p"),
    ),
    Passage(
        "IRT info",
        r"I(\theta) = \sum_{j=1}^{J} a_j^2 P_j(1 - P_j), \quad P_j = \frac{1}{1 + e^{-a_j(\theta - b_j)}}",
        "a, b: vector(J); theta: scalar",
        "theta",
        lambda a, b, theta: np.sum(a**2 * sg(a * (theta - b)) * (1 - sg(a * (theta - b)))),
    ),
    Passage(
        "camera",
        r"\sum_{i=1}^{N}\|u_i - P X_i\|^2",
        "U: matrix(N, k); P: matrix(k, d); X: matrix(N, d)",
        "P",
        lambda U, P, X: np.sum((U - X @ P.T) ** 2),
    ),
    Passage(
        "laplacian smoothing",
        r"\sum_{(i,j)\in E} w_{ij}\|v_i - v_j\|^2",
        "E, W: matrix(n, n); V: matrix(n, d)",
        "V",
        lambda E, W, V: sum(
            W[i, j] * np.sum((V[i] - V[j]) ** 2) for i in range(len(E)) for j in range(len(E)) if E[i, j]
        ),
    ),
    Passage(
        "Rosenbrock",
        r"f(x, y) = (1 - x)^2 + 100(y - x^2)^2",
        "x, y: scalar",
        "x",
        lambda x, y: (1 - x) ** 2 + 100 * (y - x**2) ** 2,
    ),
    Passage(
        "center loss",
        r"\frac{1}{2}\sum_{i=1}^{N}\|x_i - c_{y_i}\|_2^2",
        "X: matrix(N, d); C: matrix(K, d); y: index(N)",
        "X",
        lambda X, C, y: np.sum((X - C[y]) ** 2) / 2,
    ),
    Passage(
        "SVGP",
        r"\mathrm{KL} = \frac{1}{2}\left[\operatorname{tr}(K^{-1}S) + m^\top K^{-1} m - M + \log\frac{|K|}{|S|}\right]",
        "K, S: matrix(M, M) spd; m: vector(M)",
        "S",
        lambda K, S, m: (
            0.5
            * (
                np.trace(np.linalg.solve(K, S))
                + m @ np.linalg.solve(K, m)
                - len(m)
                + np.linalg.slogdet(K)[1]
                - np.linalg.slogdet(S)[1]
            )
        ),
    ),
    Passage(
        "Bessel K",
        r"\frac{2^{1-\nu}}{\Gamma(\nu)}\left(\frac{\sqrt{2\nu} r}{\ell}\right)^{\nu} "
        r"K_{\nu}\left(\frac{\sqrt{2\nu} r}{\ell}\right)",
        "nu, r, ell: scalar positive",
        "r",
        lambda nu, r, ell: (
            2 ** (1 - nu)
            / special.gamma(nu)
            * (np.sqrt(2 * nu) * r / ell) ** nu
            * special.kv(nu, np.sqrt(2 * nu) * r / ell)
        ),
    ),
    Passage(
        "rows of a capital letter",
        r"\sum_{j=1}^{m}\log\left(1 + e^{c_j + \mathbf{W}_{j}\mathbf{v}}\right)",
        "W: matrix(m, n); v: vector(n); c: vector(m)",
        "W",
        lambda W, v, c: np.sum(np.log1p(np.exp(c + W @ v))),
    ),
    Passage(
        "restricted Boltzmann machine",
        r"F(v) = -b^\top v - \sum_{j=1}^{m} \log\left(1 + e^{c_j + W_j v}\right)",
        "b, v: vector(n); c: vector(m); W: matrix(m, n)",
        "v",
        lambda b, v, c, W: -b @ v - np.sum(np.log1p(np.exp(c + W @ v))),
    ),
    Passage(
        "bundle adjustment, pinhole",
        r"\min_{f}\sum_{i=1}^{N}\left(u_i - f\frac{X_i}{Z_i}\right)^2 + \left(v_i - f\frac{Y_i}{Z_i}\right)^2",
        "u, v, X, Y: vector(N); Z: vector(N) positive; f: scalar",
        "f",
        lambda u, v, X, Y, Z, f: np.sum((u - f * X / Z) ** 2 + (v - f * Y / Z) ** 2),
    ),
    Passage(
        "utility over time",
        r"U = \sum_{t=0}^{T}\beta^t \frac{c_t^{1-\gamma}}{1-\gamma}",
        "c: vector(T+1) positive; beta: scalar positive; gamma: scalar",
        "c",
        lambda c, beta, gamma: np.sum(beta ** np.arange(len(c)) * c ** (1 - gamma) / (1 - gamma)),
    ),
]

SECOND_REFUSED = [
    (
        "pi declared beside the number",
        r"\sum_{k=1}^{K} \log\pi_k - \frac{1}{2}\log(2\pi\sigma_k^2)",
        "pi, sigma: vector(K) positive",
        "the declared pi or the number",
    ),
    ("outer or inner products of rows", r"\sum_{j=1}^{k} W_j W_j^\top", "W: matrix(k, d)", "row or column of W"),
    (
        "rows or columns of a square matrix",
        r"\sum_i (y_i - X_i^\top \beta)^2",
        "X: matrix(n, n); y, beta: vector(n)",
        "row or column of X",
    ),
    ("three formulas", r"L = x^\top x = \|x\|^2", "x: vector(n)", "write one of the formulas"),
    ("a label that is declared", r"L = x = A b", "A: matrix(n, n); x, b: vector(n)", "write one of the formulas"),
    ("a label in the formula", r"L = J = a + J", "a: scalar", "write one of the formulas"),
    ("definition without a use", r"a^2 + 1, \quad u = a + 2", "a: scalar", "u is defined, and no formula uses it"),
    (
        "definitions without a use",
        r"a^2 + 1, \quad u = a + v, \quad v = 2a",
        "a: scalar",
        "u is defined, and no formula uses it",
    ),
    ("function without a use", r"a^2 + 1, \quad h(t) = t + 2", "a: scalar", "h is defined, and no formula uses it"),
    (
        "entries without a use",
        r"a^2 + 1, \quad h_i = x_i + 2",
        "a: scalar; x: vector(n)",
        "h is defined, and no formula uses it",
    ),
    ("norm of a metric, without a matrix", r"\|x\|_\Sigma^2", "x: vector(n); Sigma: matrix(n, n) spd", r"W\^\{-1\} x"),
    ("density up to a factor", r"p(x) \propto e^{-x^2}", "x: scalar", "write the right side alone"),
    ("integral", r"\int_0^1 e^{-a t} dt", "a: scalar", "closed form"),
]
