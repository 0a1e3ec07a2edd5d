r"""The twenty-fourth set of passages, in the style of papers of different fields, each written blind (second half)."""

import numpy as np
from first_day.papers import Passage


def distances(X, Y):
    return np.array([[np.sqrt(np.sum((x - y) ** 2)) for y in Y] for x in X])


def nrtl(x, tau, alpha):
    n, G, total = len(x), np.exp(-alpha * tau), 0.0
    for i in range(n):
        top = sum(tau[j, i] * G[j, i] * x[j] for j in range(n))
        total += x[i] * top / sum(G[k, i] * x[k] for k in range(n))
    return total


def dust(S, nu, sigma, A, beta, T, nu_0, h, c, k_B):
    B = 2 * h * nu**3 / c**2 / (np.exp(h * nu / (k_B * T)) - 1)
    return np.sum(((S - A * (nu / nu_0) ** beta * B) / sigma) ** 2)


def spatial_error(y, X, W, beta, lam, sigma):
    n = len(y)
    B = np.eye(n) - lam * W
    e = B @ (y - X @ beta)
    return -n / 2 * np.log(2 * np.pi * sigma**2) + np.linalg.slogdet(B)[1] - e @ e / (2 * sigma**2)


def cox_process(y, z, s, a, mu, sigma, phi):
    Sigma = sigma**2 * np.exp(-distances(s, s) / phi)
    return np.sum(y * z - a * np.exp(z)) - (z - mu) @ np.linalg.solve(Sigma, z - mu) / 2


def balancing(X, T, beta, W):
    g = np.zeros(len(beta))
    for i in range(len(T)):
        p = 1 / (1 + np.exp(-X[i] @ beta))
        g += (T[i] - p) / (p * (1 - p)) * X[i] / len(T)
    return g @ np.linalg.solve(W, g)


def discontinuity(x, y, c, h, alpha, beta, gamma, tau):
    total = 0.0
    for i in range(len(x)):
        u, D = x[i] - c, 1.0 if x[i] >= c else 0.0
        total += max(0.0, 1 - abs(u / h)) * (y[i] - alpha - tau * D - beta * u - gamma * D * u) ** 2
    return total


def discrepancy(X):
    n, s = X.shape
    Z = abs(X - 0.5)
    total = (13 / 12) ** s
    for i in range(n):
        total -= 2 / n * np.prod(1 + Z[i] / 2 - Z[i] ** 2 / 2)
        for k in range(n):
            total += np.prod(1 + Z[i] / 2 + Z[k] / 2 - abs(X[i] - X[k]) / 2) / n**2
    return total


def nelson_siegel(y, tau, beta_0, beta_1, beta_2, lam):
    f = (1 - np.exp(-lam * tau)) / (lam * tau)
    return np.sum((y - beta_0 - beta_1 * f - beta_2 * (f - np.exp(-lam * tau))) ** 2)


def black_litterman(w, Sigma, Pi, P, Q, Omega, tau, delta):
    K, L = np.linalg.inv(tau * Sigma), np.linalg.inv(Omega)
    mu = np.linalg.solve(K + P.T @ L @ P, K @ Pi + P.T @ L @ Q)
    return w @ mu - delta / 2 * w @ Sigma @ w


def execution(n, X, gamma, epsilon, eta, tau, lam, sigma):
    x = X - np.cumsum(n)
    cost = gamma * X**2 / 2 + epsilon * np.sum(abs(n)) + eta / tau * n @ n
    return cost + lam * sigma**2 * tau * x @ x


def sum_rate(alpha, G, p, sigma):
    total = 0.0
    for k in range(len(p)):
        noise = sigma**2 + sum(G[k, j] * p[j] for j in range(len(p)) if j != k)
        total += alpha[k] * np.log2(1 + G[k, k] * p[k] / noise)
    return total


def entropy(p):
    return -np.sum(p * np.log(p))


def resistance(W):
    n = len(W)
    L = np.diag(W.sum(axis=1)) - W
    return n * np.trace(np.linalg.inv(L + np.ones((n, n)) / n)) - n


def p_splines(y, B, a, lam):
    return np.sum((y - B @ a) ** 2) + lam * sum((a[j] - 2 * a[j - 1] + a[j - 2]) ** 2 for j in range(2, len(a)))


def leave_one_out(x, y, h):
    total = 0.0
    for i in range(len(x)):
        k = [np.exp(-(((x[i] - t) / h) ** 2) / 2) if j != i else 0.0 for j, t in enumerate(x)]
        total += (y[i] - sum(np.multiply(k, y)) / sum(k)) ** 2
    return total / len(x)


TWENTY_FOURTH_END = [
    Passage(
        "sigmoid Emax dose response",
        r"""\mathrm{RSS} = \sum_{i=1}^n \left( y_i - E_0 - \frac{E_{\max} d_i^{\gamma}}{C_{50}^{\gamma} +
        d_i^{\gamma}} \right)^2""",
        (
            "y: vector(n); d: vector(n) positive; E_0: scalar; E_max: scalar positive; C_50: scalar positive; "
            "gamma: scalar positive"
        ),
        "C_50",
        lambda y, d, E_0, E_max, C_50, gamma: np.sum((y - E_0 - E_max * d**gamma / (C_50**gamma + d**gamma)) ** 2),
    ),
    Passage(
        "NRTL excess Gibbs energy",
        r"""\frac{G^E}{RT} = \sum_{i=1}^n x_i \frac{\sum_{j=1}^n \tau_{ji} G_{ji} x_j}{\sum_{k=1}^n G_{ki}
        x_k}, with $G_{ij} = \exp(-\alpha_{ij}\tau_{ij})$""",
        "x: vector(n) positive; tau: matrix(n, n); alpha: matrix(n, n) symmetric",
        "x",
        nrtl,
    ),
    Passage(
        "consecutive first-order reactions",
        r"""\chi^2 = \sum_{i=1}^n \left( c_i - B(t_i) \right)^2, \qquad B(t) = \frac{k_1 A_0}{k_2 - k_1}
        \left( e^{-k_1 t} - e^{-k_2 t} \right)""",
        ("c: vector(n); t: vector(n) positive; A_0: scalar positive; k_1: scalar positive; k_2: scalar positive"),
        "k_1",
        lambda c, t, A_0, k_1, k_2: np.sum((c - k_1 * A_0 / (k_2 - k_1) * (np.exp(-k_1 * t) - np.exp(-k_2 * t))) ** 2),
    ),
    Passage(
        "band powers of the microwave background",
        r"""-2\ln\mathcal{L} = \sum_{b=1}^n \nu_b \left[ \frac{D_b}{C_b} + \ln\frac{C_b}{D_b} - 1 \right],
        where $C_b = A S_b + N_b$ is the sum of signal and noise and $\nu_b$ is the number of modes""",
        (
            "nu: vector(n) positive; D: vector(n) positive; S: vector(n) positive; N: vector(n) positive; "
            "A: scalar positive"
        ),
        "A",
        lambda nu, D, S, N, A: np.sum(nu * (D / (A * S + N) + np.log((A * S + N) / D) - 1)),
    ),
    Passage(
        "modified blackbody of dust",
        r"""\chi^2 = \sum_{i=1}^n \frac{\left[ S_i - A (\nu_i/\nu_0)^\beta B(\nu_i, T)
        \right]^2}{\sigma_i^2}, where \begin{equation} B(\nu, T) = \frac{2h\nu^3}{c^2}
        \frac{1}{\exp\left(\frac{h\nu}{k_B T}\right) - 1} \end{equation}""",
        (
            "S: vector(n); nu: vector(n) positive; sigma: vector(n) positive; A: scalar; beta: scalar; "
            "T: scalar positive; nu_0: scalar positive; h: scalar positive; c: scalar positive; "
            "k_B: scalar positive"
        ),
        "T",
        dust,
    ),
    Passage(
        "maximum entropy image restoration",
        r"""Q(f) = \frac12 \sum_{i=1}^M \left( \frac{d_i - \sum_{j=1}^N R_{ij} f_j}{\sigma_i} \right)^2 -
        \alpha \sum_{j=1}^N \left[ f_j - m_j - f_j \log(f_j/m_j) \right]""",
        (
            "d: vector(M); R: matrix(M, N); f: vector(N) positive; m: vector(N) positive; "
            "sigma: vector(M) positive; alpha: scalar positive"
        ),
        "f",
        lambda d, R, f, m, sigma, alpha: (
            np.sum(((d - R @ f) / sigma) ** 2) / 2 - alpha * np.sum(f - m - f * np.log(f / m))
        ),
    ),
    Passage(
        "spatial error model",
        r"""\ell(\beta, \lambda, \sigma^2) = -\frac{n}{2} \log(2\pi\sigma^2) + \frac12 \log|B^\top B| -
        \frac{1}{2\sigma^2} (y - X\beta)^\top B^\top B (y - X\beta), where $B = I_n - \lambda W$""",
        "y: vector(n); X: matrix(n, k); W: matrix(n, n); beta: vector(k); lam: scalar; sigma: scalar positive",
        "lam",
        spatial_error,
    ),
    Passage(
        "log-Gaussian Cox process on a grid",
        r"""\mathcal{L}(z) = \sum_{i=1}^n \left( y_i z_i - a_i e^{z_i} \right) - \frac12 (z -
        \mu\mathbf{1})^\top \Sigma^{-1} (z - \mu\mathbf{1}), where $\Sigma_{ij} = \sigma^2 \exp(-\|s_i -
        s_j\|/\phi)$""",
        (
            "y: vector(n); z: vector(n); s: matrix(n, 2); a: vector(n) positive; mu: scalar; "
            "sigma: scalar positive; phi: scalar positive"
        ),
        "z",
        cox_process,
    ),
    Passage(
        "covariate balancing propensity score",
        r"""\hat\beta = \operatorname*{arg\,min}_{\beta} \; \bar g(\beta)^\top W^{-1} \bar g(\beta), \quad
        \bar g(\beta) = \frac1n \sum_{i=1}^n \frac{T_i - p_i}{p_i (1 - p_i)} x_i, \quad p_i = \frac{1}{1 +
        \exp(-x_i^\top\beta)}""",
        "X: matrix(n, k); T: vector(n); beta: vector(k); W: matrix(k, k) spd",
        "beta",
        balancing,
        ("T",),
    ),
    Passage(
        "regression discontinuity by local linear regression",
        r"""\min_{\alpha, \tau, \beta, \gamma} \sum_{i=1}^n K\left(\frac{x_i - c}{h}\right) \left[ y_i -
        \alpha - \tau D_i - \beta (x_i - c) - \gamma D_i (x_i - c) \right]^2, where $D_i = \mathbf{1}\{x_i \ge
        c\}$ and $K(u) = \max(0, 1 - |u|)$ is the triangular kernel""",
        (
            "x: vector(n); y: vector(n); c: scalar; h: scalar positive; alpha: scalar; beta: scalar; "
            "gamma: scalar; tau: scalar"
        ),
        "tau",
        discontinuity,
        ("x", "c"),
    ),
    Passage(
        "centred discrepancy of a uniform design",
        r"""\begin{aligned} \mathrm{CD}(X)^2 = {} & \left(\frac{13}{12}\right)^s - \frac2n \sum_{i=1}^n
        \prod_{j=1}^s \left( 1 + \frac12 \left|x_{ij} - \tfrac12\right| - \frac12 \left|x_{ij} - \tfrac12\right|^2
        \right) \\ & + \frac{1}{n^2} \sum_{i=1}^n \sum_{k=1}^n \prod_{j=1}^s \left( 1 + \frac12 \left|x_{ij} -
        \tfrac12\right| + \frac12 \left|x_{kj} - \tfrac12\right| - \frac12 \left|x_{ij} - x_{kj}\right| \right)
        \end{aligned}""",
        "X: matrix(n, s)",
        "X",
        discrepancy,
        ("X",),
    ),
    Passage(
        "Nelson-Siegel yield curve",
        r"""\sum_{i=1}^n \left( y_i - \beta_0 - \beta_1 \frac{1 - e^{-\lambda\tau_i}}{\lambda\tau_i} -
        \beta_2 \left( \frac{1 - e^{-\lambda\tau_i}} {\lambda\tau_i} - e^{-\lambda\tau_i} \right) \right)^2""",
        ("y: vector(n); tau: vector(n) positive; beta_0: scalar; beta_1: scalar; beta_2: scalar; lam: scalar positive"),
        "lam",
        nelson_siegel,
    ),
    Passage(
        "Black-Litterman portfolio",
        r"""U(w) = w^\top \hat\mu - \frac{\delta}{2} w^\top \Sigma w, \quad \hat\mu = \left[
        (\tau\Sigma)^{-1} + P^\top \Omega^{-1} P \right]^{-1} \left[ (\tau\Sigma)^{-1} \Pi + P^\top \Omega^{-1} Q
        \right]""",
        (
            "w: vector(n); Sigma: matrix(n, n) spd; Pi: vector(n); P: matrix(k, n); Q: vector(k); "
            "Omega: matrix(k, k) spd; tau: scalar positive; delta: scalar positive"
        ),
        "Q",
        black_litterman,
    ),
    Passage(
        "optimal execution of a sale",
        r"""\min_{n_1, \dots, n_N} \; \frac12 \gamma X^2 + \epsilon \sum_{k=1}^N |n_k| + \frac{\eta}{\tau}
        \sum_{k=1}^N n_k^2 + \lambda \sigma^2 \tau \sum_{k=1}^N x_k^2, where $x_k = X - \sum_{j=1}^k n_j$ are the
        holdings""",
        (
            "n: vector(N); X: scalar positive; gamma: scalar; epsilon: scalar positive; eta: scalar positive; "
            "tau: scalar positive; lam: scalar positive; sigma: scalar positive"
        ),
        "n",
        execution,
    ),
    Passage(
        "weighted sum rate of the interference channel",
        r"""R(p) = \sum_{k=1}^K \alpha_k \log_2\left( 1 + \frac{G_{kk} p_k}{\sigma^2 + \sum_{j \neq k}
        G_{kj} p_j} \right)""",
        "alpha: vector(K) positive; G: matrix(K, K) positive; p: vector(K) positive; sigma: scalar positive",
        "p",
        sum_rate,
    ),
    Passage(
        "generalised Jensen-Shannon divergence",
        r"""\mathrm{JS}_w(P_1, \dots, P_n) = H\Bigl( \sum_{i=1}^n w_i P_i \Bigr) - \sum_{i=1}^n w_i H(P_i),
        where $H(p) = -\sum_{k=1}^K p_k \log p_k$ is the Shannon entropy""",
        "w: vector(n) positive; P: matrix(n, K) positive",
        "P",
        lambda w, P: entropy(w @ P) - sum(w[i] * entropy(P[i]) for i in range(len(w))),
    ),
    Passage(
        "total effective resistance of a graph",
        r"""R_{\mathrm{tot}} = n \operatorname{Tr}\left[ \left( L + \frac1n \mathbf{1}\mathbf{1}^\top
        \right)^{-1} \right] - n, where $L = \operatorname{diag}(W\mathbf{1}) - W$ is the weighted Laplacian""",
        "W: matrix(n, n) symmetric positive",
        "W",
        resistance,
    ),
    Passage(
        "Poisson model of overlapping communities",
        r"""\log P(A \mid \theta) = \sum_{i,j=1}^n A_{ij} \log\Bigl( \sum_{z=1}^K \theta_{iz} \theta_{jz}
        \Bigr) - \sum_{i,j=1}^n \sum_{z=1}^K \theta_{iz} \theta_{jz}""",
        "A: matrix(n, n) symmetric; theta: matrix(n, K) positive",
        "theta",
        lambda A, theta: np.sum(A * np.log(theta @ theta.T)) - np.sum(theta @ theta.T),
    ),
    Passage(
        "P-splines",
        r"""S = \sum_{i=1}^m \Bigl\{ y_i - \sum_{j=1}^n a_j B_{ij} \Bigr\}^2 + \lambda \sum_{j=3}^{n}
        (\Delta^2 a_j)^2, where $\Delta^2 a_j = a_j - 2 a_{j-1} + a_{j-2}$.""",
        "y: vector(m); B: matrix(m, n); a: vector(n); lam: scalar positive",
        "a",
        p_splines,
    ),
    Passage(
        "leave-one-out bandwidth of the Nadaraya-Watson estimator",
        r"""\mathrm{CV}(h) = \frac1n \sum_{i=1}^n \bigl( y_i - \hat m_{-i}(x_i) \bigr)^2, \quad \hat
        m_{-i}(x_i) = \frac{\sum_{j \neq i} K\left(\frac{x_i - x_j}{h}\right) y_j}{\sum_{j \neq i}
        K\left(\frac{x_i - x_j}{h}\right)}, where $K(u) = \frac{1}{\sqrt{2\pi}} e^{-u^2/2}$ is the Gaussian
        kernel.""",
        "x: vector(n); y: vector(n); h: scalar positive",
        "h",
        leave_one_out,
    ),
]

TWENTY_FOURTH_REFUSED = [
    (
        "EGARCH(1,1) likelihood",
        r"""\ell = -\frac12 \sum_{t=1}^T \left( \log 2\pi + h_t + \varepsilon_t^2 e^{-h_t} \right), where
        $\varepsilon_t = r_t - \mu$, $z_t = \varepsilon_t e^{-h_t/2}$, and the log-variance follows $h_1 =
        \omega/(1-\beta)$, \[ h_t = \omega + \beta h_{t-1} + \alpha \left( |z_{t-1}| - \sqrt{2/\pi} \right) +
        \gamma z_{t-1}, \qquad t = 2, \dots, T. \]""",
        "r: vector(T); mu: scalar; omega: scalar; alpha: scalar; beta: scalar; gamma: scalar",
        r"the state z has no start",
    ),
    (
        "multi-state Markov model of panel data",
        r"""\log L = \sum_{i=1}^n \log \left[ P(t_i) \right]_{a_i b_i}, where $P(t) = e^{tQ}$ is the matrix
        exponential and $Q = \Lambda - \operatorname{diag}(\Lambda \mathbf{1})$ is the generator.""",
        "Lambda: matrix(m, m) positive; t: vector(n) positive; a: index(n); b: index(n)",
        r"exp or expm",
    ),
]
