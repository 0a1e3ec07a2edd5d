r"""The second half of the eighteenth set of passages."""

import numpy as np
from first_day.papers import Passage

log = np.log
exp = np.exp
inv = np.linalg.inv
norm = np.linalg.norm


def sig(t):
    return 1 / (1 + exp(-t))


def logdet(A):
    return np.linalg.slogdet(A)[1]


def gp_exponential(s, X, y, beta, sigma, phi, tau):
    n = len(y)
    S = np.array([[sigma**2 * exp(-norm(s[i] - s[j]) / phi) + tau**2 * (i == j) for j in range(n)] for i in range(n)])
    r = y - X @ beta
    return -0.5 * logdet(S) - 0.5 * r @ inv(S) @ r


def supernova(m, z, C, M, H_0, q_0, c):
    d = c / H_0 * (z + 0.5 * (1 - q_0) * z**2)
    r = m - 5 * np.log10(d) - 25 - M
    return r @ inv(C) @ r


def ising(S, J, h):
    return np.mean([
        sum(log(sig(2 * s[i] * (h[i] + sum(J[i, j] * s[j] for j in range(len(h)) if j != i)))) for i in range(len(h)))
        for s in S])  # fmt: skip


def aipw(X, y, z, gamma, beta_0, beta_1):
    e, m0, m1 = sig(X @ gamma), X @ beta_0, X @ beta_1
    return np.mean(m1 - m0 + z * (y - m1) / e - (1 - z) * (y - m0) / (1 - e))


def latent_space(A, z, alpha):
    total = 0.0
    for i in range(len(z)):
        for j in range(i + 1, len(z)):
            eta = alpha - norm(z[i] - z[j])
            total += A[i, j] * eta - log(1 + exp(eta))
    return total


EIGHTEENTH_END = [
    Passage(
        "Weibull accelerated failure times",
        (
            r"\ell(\beta, \sigma) = \sum_{i=1}^n \left\{ \delta_i (z_i - \log\sigma) - e^{z_i} \right\}, \qquad "
            r"z_i = \frac{\log t_i - x_i^\top\beta}{\sigma}"
        ),
        "X: matrix(n, p); t: vector(n) positive; delta: vector(n); beta: vector(p); sigma: scalar positive",
        "sigma",
        lambda X, t, delta, beta, sigma: np.sum(
            delta * ((log(t) - X @ beta) / sigma - log(sigma)) - exp((log(t) - X @ beta) / sigma)
        ),
        ("delta",),
    ),
    Passage(
        "two-parameter logistic item response, eighteenth",
        (
            r"$$\ell(\theta, a, b) = \sum_{i=1}^N \sum_{j=1}^J \left[ u_{ij}\log P_{ij} + (1 - u_{ij})\log(1 - "
            r"P_{ij}) \right] - \frac12 \sum_{i=1}^N \theta_i^2,$$ with $P_{ij} = \frac{1}{1 + "
            r"\exp\{-a_j(\theta_i - b_j)\}}$."
        ),
        "U: matrix(N, J); theta: vector(N); a: vector(J) positive; b: vector(J)",
        "a",
        lambda U, theta, a, b: (
            sum(
                U[i, j] * log(sig(a[j] * (theta[i] - b[j]))) + (1 - U[i, j]) * log(1 - sig(a[j] * (theta[i] - b[j])))
                for i in range(len(theta))
                for j in range(len(a))
            )
            - 0.5 * theta @ theta
        ),
        ("U",),
    ),
    Passage(
        "confirmatory factor analysis, eighteenth",
        (
            r"$$F_{\mathrm{ML}} = \log|\Sigma| + \operatorname{tr}(S\Sigma^{-1}) - \log|S| - p, \qquad \Sigma = "
            r"\Lambda\Phi\Lambda^\top + \Psi,$$ where $\Psi = \operatorname{diag}(\psi_1, \dots, \psi_p)$."
        ),
        "S: matrix(p, p) spd; Lambda: matrix(p, k); Phi: matrix(k, k) spd; psi: vector(p) positive",
        "Lambda",
        lambda S, Lambda, Phi, psi: (
            logdet(Lambda @ Phi @ Lambda.T + np.diag(psi))
            + np.trace(S @ inv(Lambda @ Phi @ Lambda.T + np.diag(psi)))
            - logdet(S)
            - len(psi)
        ),
    ),
    Passage(
        "Bradley-Terry model",
        (
            r"\ell(\gamma) = \sum_{i=1}^m \sum_{j=1}^m \left[ w_{ij} \ln\gamma_i - w_{ij} \ln(\gamma_i + "
            r"\gamma_j) \right]"
        ),
        "W: matrix(m, m) positive; gamma: vector(m) positive",
        "gamma",
        lambda W, gamma: sum(
            W[i, j] * (log(gamma[i]) - log(gamma[i] + gamma[j])) for i in range(len(W)) for j in range(len(W))
        ),
    ),
    Passage(
        "enzyme kinetics with an inhibitor",
        (
            r"$$\mathrm{SSE} = \sum_{i=1}^n \left( v_i - \frac{V_{\max} s_i}{K_m \left(1 + \frac{c_i}{K_I}\right) "
            r"+ s_i} \right)^2$$"
        ),
        (
            "v: vector(n); s: vector(n) positive; c: vector(n) positive; V_max: scalar positive; K_m: scalar "
            "positive; K_I: scalar positive"
        ),
        "K_m",
        lambda v, s, c, V_max, K_m, K_I: np.sum((v - V_max * s / (K_m * (1 + c / K_I) + s)) ** 2),
    ),
    Passage(
        "Jukes-Cantor substitutions",
        (
            r"$$\ell(\mu) = \sum_{i=1}^m \left[ x_i \log p_i + (n_i - x_i)\log(1 - p_i) \right], \qquad p_i = "
            r"\frac34 \left(1 - e^{-\frac43 \mu t_i}\right)$$"
        ),
        "x: vector(m) positive; n: vector(m) positive; t: vector(m) positive; mu: scalar positive",
        "mu",
        lambda x, n, t, mu: np.sum(
            x * log(0.75 * (1 - exp(-4 / 3 * mu * t))) + (n - x) * log(1 - 0.75 * (1 - exp(-4 / 3 * mu * t)))
        ),
    ),
    Passage(
        "ABO blood groups",
        (
            r"\mathcal{L}(p, q, r, \lambda) = n_A \log(p^2 + 2pr) + n_B \log(q^2 + 2qr) + n_{AB} \log(2pq) + n_O "
            r"\log r^2 + \lambda (1 - p - q - r)"
        ),
        (
            "p: scalar positive; q: scalar positive; r: scalar positive; lam: scalar; n_A: scalar positive; n_B: "
            "scalar positive; n_AB: scalar positive; n_O: scalar positive"
        ),
        "p",
        lambda p, q, r, lam, n_A, n_B, n_AB, n_O: (
            n_A * log(p**2 + 2 * p * r)
            + n_B * log(q**2 + 2 * q * r)
            + n_AB * log(2 * p * q)
            + n_O * log(r**2)
            + lam * (1 - p - q - r)
        ),
        ("p", "q", "r"),
    ),
    Passage(
        "Arrhenius fit",
        r"S(A, E_a) = \sum_{i=1}^n \left( \ln k_i - \ln A + \frac{E_a}{R T_i} \right)^2",
        ("k: vector(n) positive; T: vector(n) positive; A: scalar positive; E_a: scalar positive; R: scalar positive"),
        "E_a",
        lambda k, T, A, E_a, R: np.sum((log(k) - log(A) + E_a / (R * T)) ** 2),
    ),
    Passage(
        "pseudolikelihood of the inverse Ising problem",
        (
            r"$$\mathcal{PL}(J, h) = \frac1M \sum_{m=1}^M \sum_{i=1}^N \log \sigma\left( 2 s_i^{(m)} \left( h_i + "
            r"\sum_{j \ne i} J_{ij} s_j^{(m)} \right) \right)$$ where $\sigma(x) = 1/(1 + e^{-x})$."
        ),
        "s: matrix(M, N); J: matrix(N, N); h: vector(N)",
        "J",
        lambda s, J, h: ising(s, J, h),
    ),
    Passage(
        "Hubble diagram of supernovae",
        (
            r"$$\chi^2 = \boldsymbol\Delta^\top \mathbf{C}^{-1} \boldsymbol\Delta, \qquad \Delta_i = m_i - "
            r"5\log_{10} d_L(z_i) - 25 - M, \qquad d_L(z) = \frac{c}{H_0} \left[ z + \frac12 (1 - q_0) z^2 "
            r"\right]$$"
        ),
        (
            "m: vector(n); z: vector(n) positive; C: matrix(n, n) spd; M: scalar; H_0: scalar positive; q_0: "
            "scalar; c: scalar positive"
        ),
        "q_0",
        supernova,
        ("z", "q_0"),
    ),
    Passage(
        "geostatistical model",
        (
            r"$$\ell(\beta, \sigma, \phi, \tau) = -\frac12 \log|\Sigma| - \frac12 (y - X\beta)^\top \Sigma^{-1} "
            r"(y - X\beta),$$ where $\Sigma_{ij} = \sigma^2 \exp\left(-\frac{\|s_i - s_j\|}{\phi}\right) + \tau^2 "
            r"\mathbf{1}\{i = j\}$."
        ),
        (
            "s: matrix(n, 2); X: matrix(n, p); y: vector(n); beta: vector(p); sigma: scalar positive; phi: "
            "scalar positive; tau: scalar positive"
        ),
        "phi",
        gp_exponential,
    ),
    Passage(
        "spatial autoregression, eighteenth",
        (
            r"\ell(\rho, \beta, \sigma^2) = -\frac{n}{2}\log(2\pi\sigma^2) + \log\left|\det(I_n - \rho W)\right| "
            r"- \frac{1}{2\sigma^2} \left\lVert y - \rho W y - X\beta \right\rVert_2^2"
        ),
        "y: vector(n); W: matrix(n, n); X: matrix(n, p); beta: vector(p); rho: scalar; sigma: scalar positive",
        "rho",
        lambda y, W, X, beta, rho, sigma: (
            -len(y) / 2 * log(2 * np.pi * sigma**2)
            + logdet(np.eye(len(y)) - rho * W)
            - np.sum((y - rho * W @ y - X @ beta) ** 2) / (2 * sigma**2)
        ),
        ("rho",),
    ),
    Passage(
        "vector autoregression",
        (
            r"$$\ell(A, c, \Sigma) = -\frac{T-1}{2}\log\det\Sigma - \frac12 \sum_{t=2}^T u_t^\top \Sigma^{-1} "
            r"u_t, \qquad u_t = y_t - c - A y_{t-1}$$"
        ),
        "Y: matrix(T, k); A: matrix(k, k); c: vector(k); Sigma: matrix(k, k) spd",
        "A",
        lambda Y, A, c, Sigma: (
            -(len(Y) - 1) / 2 * logdet(Sigma)
            - 0.5 * sum((Y[t] - c - A @ Y[t - 1]) @ inv(Sigma) @ (Y[t] - c - A @ Y[t - 1]) for t in range(1, len(Y)))
        ),
    ),
    Passage(
        "augmented inverse propensity weighting, eighteenth",
        (
            r"$$\hat\tau = \frac1n \sum_{i=1}^n \left[ m_1(x_i) - m_0(x_i) + \frac{z_i (y_i - m_1(x_i))}{e(x_i)} "
            r"- \frac{(1 - z_i)(y_i - m_0(x_i))}{1 - e(x_i)} \right]$$ with outcome models $m_1(x) = "
            r"x^\top\beta_1$ and $m_0(x) = x^\top\beta_0$ and the propensity score $e(x) = 1/(1 + "
            r"\exp(-x^\top\gamma))$."
        ),
        "X: matrix(n, p); y: vector(n); z: vector(n); gamma: vector(p); beta_0: vector(p); beta_1: vector(p)",
        "gamma",
        aipw,
        ("z",),
    ),
    Passage(
        "entropy balancing",
        (
            r"$$L(\lambda) = \log\left( \sum_{i=1}^n q_i \exp\left(-\lambda^\top (x_i - \bar z)\right) \right), "
            r"\qquad \bar z = \frac1m \sum_{j=1}^m z_j,$$ where $x_i$ are the controls with base weights $q_i$ "
            "and $z_j$ the treated units."
        ),
        "x: matrix(n, p); z: matrix(m, p); q: vector(n) positive; lam: vector(p)",
        "lam",
        lambda x, z, q, lam: log(sum(q[i] * exp(-lam @ (x[i] - z.mean(axis=0))) for i in range(len(q)))),
    ),
    Passage(
        "portfolio with market impact",
        (
            r"\max_{w \in \mathbb{R}^n} \; \mu^\top w - \frac{\gamma}{2} w^\top \Sigma w - \kappa \sum_{i=1}^n "
            "|w_i - h_i|^{3/2}"
        ),
        (
            "w: vector(n); mu: vector(n); Sigma: matrix(n, n) spd; h: vector(n); gamma: scalar positive; kappa: "
            "scalar positive"
        ),
        "w",
        lambda w, mu, Sigma, h, gamma, kappa: mu @ w - gamma / 2 * w @ Sigma @ w - kappa * np.sum(abs(w - h) ** 1.5),
    ),
    Passage(
        "mutual information of a channel",
        r"I(p, W) = \sum_{i=1}^m \sum_{j=1}^n p_i W_{ij} \log \frac{W_{ij}}{\sum_{k=1}^m p_k W_{kj}}",
        "p: vector(m) positive; W: matrix(m, n) positive",
        "p",
        lambda p, W: sum(
            p[i] * W[i, j] * log(W[i, j] / (p @ W[:, j])) for i in range(W.shape[0]) for j in range(W.shape[1])
        ),
    ),
    Passage(
        "stochastic block model, eighteenth",
        (
            r"$$\log P(A \mid B, z) = \sum_{i<j} \left[ A_{ij}\log B_{z_i z_j} + (1 - A_{ij})\log(1 - B_{z_i "
            r"z_j}) \right]$$ where $z_i$ is the block of node $i$."
        ),
        "A: matrix(n, n) symmetric; B: matrix(K, K); z: index(n)",
        "B",
        lambda A, B, z: sum(
            A[i, j] * log(B[z[i], z[j]]) + (1 - A[i, j]) * log(1 - B[z[i], z[j]])
            for i in range(len(z))
            for j in range(i + 1, len(z))
        ),
        ("B",),
    ),
    Passage(
        "latent space model of a network, eighteenth",
        (
            r"$$\log P(A \mid z, \alpha) = \sum_{i<j} \left\{ A_{ij}\eta_{ij} - \log(1 + e^{\eta_{ij}}) \right\}, "
            r"\qquad \eta_{ij} = \alpha - \norm{z_i - z_j}_2$$"
        ),
        "A: matrix(n, n) symmetric; z: matrix(n, d); alpha: scalar",
        "z",
        latent_space,
    ),
]

EIGHTEENTH_REFUSED = [
    (
        "Lennard-Jones cluster, eighteenth",
        (
            r"$$E(X) = \sum_{i<j} 4\epsilon \left[ \left(\frac{\sigma}{r_{ij}}\right)^{12} - "
            r"\left(\frac{\sigma}{r_{ij}}\right)^{6} \right], \qquad r_{ij} = \lVert x_i - x_j \rVert$$"
        ),
        "X: matrix(N, 3); epsilon: scalar positive; sigma: scalar positive",
        r"row or column i of X",
    ),
    (
        "D-optimal approximate design",
        (
            r"\max_{w} \; \log\det\left( \sum_{i=1}^n w_i x_i x_i^\top \right) \quad \text{s.t.} \quad "
            r"\sum_{i=1}^n w_i = 1, \; w_i \ge 0"
        ),
        "X: matrix(n, 2); w: vector(n) positive",
        r"a constraint is not part of a formula",
    ),
]
