r"""The second half of the seventeenth set of passages."""

import numpy as np
from first_day.papers import Passage


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


def dictionary(X, D, A, lam):
    return sum(0.5 * np.sum((X[i] - D @ A[i]) ** 2) + lam * np.sum(abs(A[i])) for i in range(len(X)))


def ssim(x, y, c_1, c_2):
    n = len(x)
    a, b = sum(x) / n, sum(y) / n
    va = sum((x[i] - a) ** 2 for i in range(n)) / (n - 1)
    vb = sum((y[i] - b) ** 2 for i in range(n)) / (n - 1)
    vab = sum((x[i] - a) * (y[i] - b) for i in range(n)) / (n - 1)
    return (2 * a * b + c_1) * (2 * vab + c_2) / ((a**2 + b**2 + c_1) * (va + vb + c_2))


def gaussian_beam(z, d, w_0, z_0, lam):
    z_R = np.pi * w_0**2 / lam
    return sum((d[i] - w_0 * np.sqrt(1 + ((z[i] - z_0) / z_R) ** 2)) ** 2 for i in range(len(z)))


def potential_field(q, q_g, O, zeta, eta, rho_0):  # noqa: E741
    total = 0.5 * zeta * np.sum((q - q_g) ** 2)
    for i in range(len(O)):
        rho = np.linalg.norm(q - O[i])
        if rho <= rho_0:
            total += 0.5 * eta * (1 / rho - 1 / rho_0) ** 2
    return total


def icp(P, Q, N, omega, t):
    return sum((N[i] @ (P[i] + np.cross(omega, P[i]) + t - Q[i])) ** 2 for i in range(len(P)))


def bonded_chain(X, k_b, r_0, k_theta, theta_0):
    n = len(X)
    total = 0.0
    for i in range(n - 1):
        total += k_b * (np.linalg.norm(X[i + 1] - X[i]) - r_0) ** 2
    for i in range(1, n - 1):
        a, b = X[i - 1] - X[i], X[i + 1] - X[i]
        theta = np.arccos(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))
        total += k_theta * (theta - theta_0) ** 2
    return total


def n_body(q, p, m, G):
    total = 0.0
    for i in range(len(m)):
        total += p[i] @ p[i] / (2 * m[i])
        for j in range(i + 1, len(m)):
            total -= G * m[i] * m[j] / np.linalg.norm(q[i] - q[j])
    return total


def lotka_volterra(N, r, A):
    T, S = N.shape
    total = 0.0
    for t in range(T - 1):
        for i in range(S):
            total += (np.log(N[t + 1, i]) - np.log(N[t, i]) - r[i] - sum(A[i, j] * N[t, j] for j in range(S))) ** 2
    return total


def gravity(F, N, D, theta, alpha, beta, gamma):
    total = 0.0
    for i in range(len(N)):
        for j in range(len(N)):
            if i != j:
                lam = theta * N[i] ** alpha * N[j] ** beta / D[i, j] ** gamma
                total += F[i, j] * np.log(lam) - lam
    return total


def augmented_lagrangian(P, q, A, b, x, lam, rho):
    total = 0.5 * x @ P @ x + q @ x
    for i in range(len(b)):
        total += rho / 2 * max(0.0, A[i] @ x - b[i] + lam[i] / rho) ** 2 - lam[i] ** 2 / (2 * rho)
    return total


def gromov(C, D, T, epsilon):
    m, n = T.shape
    total = 0.0
    for i in range(m):
        for j in range(n):
            total += epsilon * T[i, j] * (np.log(T[i, j]) - 1)
            for k in range(m):
                for q in range(n):
                    total += (C[i, k] - D[j, q]) ** 2 * T[i, j] * T[k, q]
    return total


def latent_space(A, Z, alpha):
    total = 0.0
    for i in range(len(A)):
        for j in range(i + 1, len(A)):
            eta = alpha - np.linalg.norm(Z[i] - Z[j])
            total += A[i, j] * eta - np.log(1 + np.exp(eta))
    return total


def moran(x, W):
    n = len(x)
    m = sum(x) / n
    num = sum(W[i, j] * (x[i] - m) * (x[j] - m) for i in range(n) for j in range(n))
    return n / np.sum(W) * num / sum((x[i] - m) ** 2 for i in range(n))


def dirichlet(u, f, h):
    m, n = u.shape
    total = 0.0
    for i in range(m):
        for j in range(n):
            if i < m - 1:
                total += 0.5 * (u[i + 1, j] - u[i, j]) ** 2
            if j < n - 1:
                total += 0.5 * (u[i, j + 1] - u[i, j]) ** 2
            total -= h**2 * f[i, j] * u[i, j]
    return total


def tucker(X, G, A, B, C):
    total = 0.0
    for i in range(len(A)):
        for j in range(len(B)):
            for k in range(len(C)):
                total += (X[i, j, k] - np.einsum("pqr,p,q,r", G, A[i], B[j], C[k])) ** 2
    return 0.5 * total


def dp_sgd(X, y, theta, C, nu, xi):
    n = len(y)
    total = nu * C * xi
    for i in range(n):
        g = -y[i] * sigmoid(-y[i] * (X[i] @ theta)) * X[i]
        total = total + g / max(1.0, np.linalg.norm(g) / C)
    return total / n


def trans_e(u, k, v, n, E, R, gamma):
    total = 0.0
    for s in range(len(u)):
        a = E[u[s]] + R[k[s]] - E[v[s]]
        b = E[u[s]] + R[k[s]] - E[n[s]]
        total += max(0.0, gamma + a @ a - b @ b)
    return total


SEVENTEENTH_END = [
    Passage(
        "dictionary learning",
        r"""\min_{D, \alpha} \; \sum_{i=1}^{n} \left( \frac{1}{2} \|x_i - D\alpha_i\|_2^2 + \lambda \|\alpha_i\|_1
        \right)""",
        "X: matrix(n, p); D: matrix(p, k); alpha: matrix(n, k); lam: scalar positive",
        "D",
        lambda X, D, alpha, lam: dictionary(X, D, alpha, lam),
    ),
    Passage(
        "structural similarity, another one",
        r"""\[
        \mathrm{SSIM}(x, y) = \frac{(2\mu_x\mu_y + c_1)(2\sigma_{xy} + c_2)}
        {(\mu_x^2 + \mu_y^2 + c_1)(\sigma_x^2 + \sigma_y^2 + c_2)},
        \]
        where $\mu_x = \frac1n \sum_{i=1}^n x_i$, $\sigma_x^2 = \frac{1}{n-1} \sum_{i=1}^n (x_i - \mu_x)^2$,
        $\mu_y = \frac1n \sum_{i=1}^n y_i$, $\sigma_y^2 = \frac{1}{n-1} \sum_{i=1}^n (y_i - \mu_y)^2$ and
        $\sigma_{xy} = \frac{1}{n-1} \sum_{i=1}^n (x_i - \mu_x)(y_i - \mu_y)$.""",
        "x: vector(n); y: vector(n); c_1: scalar positive; c_2: scalar positive",
        "x",
        ssim,
    ),
    Passage(
        "waist of a Gaussian beam",
        r"""\chi^2 = \sum_{i=1}^{n} \left( d_i - w(z_i) \right)^2, \qquad
        w(z) = w_0 \sqrt{1 + \left( \frac{z - z_0}{z_R} \right)^2}, \qquad z_R = \frac{\pi w_0^2}{\lambda}""",
        "z: vector(n); d: vector(n); w_0: scalar positive; z_0: scalar; lam: scalar positive",
        "w_0",
        gaussian_beam,
    ),
    Passage(
        "artificial potential field",
        r"""U(q) = \frac12 \zeta \|q - q_g\|^2 + \sum_{i=1}^{m} U_i(q), \qquad
        U_i(q) = \begin{cases} \frac12 \eta \left( \frac{1}{\rho_i(q)} - \frac{1}{\rho_0} \right)^2
        & \text{if } \rho_i(q) \leq \rho_0 \\ 0 & \text{if } \rho_i(q) > \rho_0 \end{cases},
        \qquad \rho_i(q) = \|q - o_i\|""",
        "q: vector(2); q_g: vector(2); O: matrix(m, 2); zeta: scalar positive; eta: scalar positive; "
        "rho_0: scalar positive",
        "q",
        potential_field,
    ),
    Passage(
        "point-to-plane registration, linearised",
        r"E(\omega, t) = \sum_{i=1}^{n} \left[ n_i^\top \left( p_i + \omega \times p_i + t - q_i \right) \right]^2",
        "P: matrix(n, 3); Q: matrix(n, 3); N: matrix(n, 3); omega: vector(3); t: vector(3)",
        "omega",
        icp,
    ),
    Passage(
        "bonds and angles of a chain molecule",
        r"""\begin{align}
        E &= \sum_{i=1}^{N-1} k_b (r_i - r_0)^2 + \sum_{i=2}^{N-1} k_\theta (\theta_i - \theta_0)^2, \\
        r_i &= \|x_{i+1} - x_i\|, \qquad
        \theta_i = \arccos \frac{(x_{i-1} - x_i) \cdot (x_{i+1} - x_i)}{\|x_{i-1} - x_i\| \, \|x_{i+1} - x_i\|}
        \end{align}""",
        "X: matrix(N, 3); k_b: scalar positive; r_0: scalar positive; k_theta: scalar positive; "
        "theta_0: scalar positive",
        "X",
        bonded_chain,
    ),
    Passage(
        "Hamiltonian of gravitating bodies",
        r"""H(\mathbf{q}, \mathbf{p}) = \sum_{i=1}^{N} \frac{\|\mathbf{p}_i\|^2}{2 m_i}
        - \sum_{1 \leq i < j \leq N} \frac{G m_i m_j}{\|\mathbf{q}_i - \mathbf{q}_j\|}""",
        "q: matrix(N, 3); p: matrix(N, 3); m: vector(N) positive; G: scalar positive",
        "q",
        n_body,
    ),
    Passage(
        "generalised Lotka-Volterra model",
        r"""\min_{r, A} \; \sum_{t=1}^{T-1} \sum_{i=1}^{S} \left( \log N_{t+1,i} - \log N_{t,i} - r_i
        - \sum_{j=1}^{S} a_{ij} N_{t,j} \right)^2""",
        "N: matrix(T, S) positive; r: vector(S); A: matrix(S, S)",
        "A",
        lotka_volterra,
    ),
    Passage(
        "gravity model of travel",
        r"""\ell(\theta, \alpha, \beta, \gamma) = \sum_{i=1}^{n} \sum_{j \ne i} \left( F_{ij} \log\lambda_{ij}
        - \lambda_{ij} \right), \qquad \lambda_{ij} = \theta\, \frac{N_i^\alpha N_j^\beta}{d_{ij}^\gamma}""",
        "F: matrix(n, n) positive; N: vector(n) positive; D: matrix(n, n) positive; theta: scalar positive; "
        "alpha: scalar; beta: scalar; gamma: scalar",
        "gamma",
        gravity,
    ),
    Passage(
        "augmented Lagrangian with inequality constraints",
        r"""\mathcal{L}_\rho(x, \lambda) = \frac12 x^\top P x + q^\top x
        + \frac{\rho}{2} \sum_{i=1}^{m} \max\left\{0, a_i^\top x - b_i + \frac{\lambda_i}{\rho} \right\}^2
        - \frac{1}{2\rho} \sum_{i=1}^{m} \lambda_i^2""",
        "P: matrix(n, n) spd; q: vector(n); A: matrix(m, n); b: vector(m); x: vector(n); lam: vector(m) positive; "
        "rho: scalar positive",
        "x",
        augmented_lagrangian,
    ),
    Passage(
        "Gromov-Wasserstein with entropy",
        r"""\min_{T \geq 0} \; \sum_{i,j,k,l} \left( C_{ik} - D_{jl} \right)^2 T_{ij} T_{kl} - \epsilon H(T),
        \qquad H(T) = -\sum_{i,j} T_{ij} \left( \log T_{ij} - 1 \right)""",
        "C: matrix(m, m) symmetric; D: matrix(n, n) symmetric; T: matrix(m, n) positive; epsilon: scalar positive",
        "T",
        gromov,
    ),
    Passage(
        "latent space model of a network",
        r"""\log p(A \mid Z, \alpha) = \sum_{i<j} \left[ A_{ij} \eta_{ij} - \log\left(1 + e^{\eta_{ij}}\right) \right],
        \quad \text{where } \eta_{ij} = \alpha - \|z_i - z_j\|_2""",
        "A: matrix(n, n); Z: matrix(n, d); alpha: scalar",
        "Z",
        latent_space,
        ("A",),
    ),
    Passage(
        "entropy balancing, dual",
        r"""\min_{\lambda} \; \log\left( \sum_{i=1}^{n} q_i \exp\left(-\lambda^\top c_i\right) \right)
        + \lambda^\top m""",
        "C: matrix(n, p); q: vector(n) positive; m: vector(p); lam: vector(p)",
        "lam",
        lambda C, q, m, lam: np.log(sum(q[i] * np.exp(-lam @ C[i]) for i in range(len(q)))) + lam @ m,
    ),
    Passage(
        "Moran's I, another one",
        r"""I = \frac{n}{\sum_{i=1}^{n}\sum_{j=1}^{n} w_{ij}} \,
        \frac{\sum_{i=1}^{n} \sum_{j=1}^{n} w_{ij} (x_i - \bar{x})(x_j - \bar{x})}{\sum_{i=1}^{n} (x_i - \bar{x})^2},
        \qquad \bar{x} = \frac{1}{n} \sum_{i=1}^{n} x_i""",
        "x: vector(n); W: matrix(n, n) positive",
        "x",
        moran,
    ),
    Passage(
        "discrete Dirichlet energy",
        r"""E(u) = \frac12 \sum_{i=1}^{m-1} \sum_{j=1}^{n} (u_{i+1,j} - u_{i,j})^2
        + \frac12 \sum_{i=1}^{m} \sum_{j=1}^{n-1} (u_{i,j+1} - u_{i,j})^2
        - h^2 \sum_{i=1}^{m} \sum_{j=1}^{n} f_{i,j} u_{i,j}""",
        "u: matrix(m, n); f: matrix(m, n); h: scalar positive",
        "u",
        dirichlet,
    ),
    Passage(
        "Tucker decomposition, another one",
        r"""\frac{1}{2} \sum_{i,j,k} \Big( x_{ijk} - \sum_{p=1}^{P} \sum_{q=1}^{Q} \sum_{r=1}^{R}
        g_{pqr}\, a_{ip}\, b_{jq}\, c_{kr} \Big)^2""",
        "X: tensor(l, m, n); G: tensor(P, Q, R); A: matrix(l, P); B: matrix(m, Q); C: matrix(n, R)",
        "A",
        tucker,
    ),
    Passage(
        "private gradient of logistic regression",
        r"""\[
        \tilde{g}(\theta) = \frac{1}{n} \left( \sum_{i=1}^{n} \frac{g_i}{\max\left(1, \norm{g_i}_2 / C\right)}
        + \nu C \xi \right),
        \]
        where $g_i = -y_i\, \sigma(-y_i x_i^\top\theta)\, x_i$ is the gradient of the loss of example $i$, with
        $\sigma(t) = 1/(1 + e^{-t})$, and $\xi$ is a standard normal vector.""",
        "X: matrix(n, p); y: vector(n); theta: vector(p); C: scalar positive; nu: scalar positive; xi: vector(p)",
        "theta",
        dp_sgd,
    ),
    Passage(
        "translating embeddings of a knowledge graph",
        r"""\mathcal{L} = \sum_{s=1}^{S} \left[ \gamma + \norm{e_{u_s} + r_{k_s} - e_{v_s}}_2^2
        - \norm{e_{u_s} + r_{k_s} - e_{n_s}}_2^2 \right]_+,
        where $(u_s, k_s, v_s)$ is a triple of the graph and $n_s$ the corrupted tail.""",
        "u: index(S); k: index(S); v: index(S); n: index(S); E: matrix(m, d); R: matrix(l, d); gamma: scalar positive",
        "E",
        trans_e,
    ),
]

SEVENTEENTH_REFUSED = [
    (
        "independent component analysis",
        (r"\mathcal{L}(W) = \log|\det W| - \frac{1}{T} \sum_{t=1}^{T} \sum_{i=1}^{n} \log\cosh(w_i^\top x_t)"),
        ("X: matrix(T, n); W: matrix(n, n)"),
        r"row or column i of W",
    ),
    (
        "thermal expectation of an observable",
        (
            r"""\langle A \rangle_\beta = \operatorname{Tr}(\rho A), \qquad
        \rho = \frac{e^{-\beta H}}{\operatorname{Tr} e^{-\beta H}}"""
        ),
        ("H: matrix(n, n) symmetric; A: matrix(n, n) symmetric; beta: scalar positive"),
        r"exp or expm",
    ),
    (
        "affine-invariant distance of covariance matrices",
        (r"\delta_R^2(A, B) = \left\| \log\left( A^{-1/2} B A^{-1/2} \right) \right\|_F^2"),
        ("A: matrix(n, n) spd; B: matrix(n, n) spd"),
        r"log or logm",
    ),
]
