r"""The second half of the fifteenth set of passages."""

import numpy as np
from first_day.papers import Passage
from scipy import special


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


def lqr(A, B, K, Q, R, x_0):
    F = A - B @ K
    x = x_0
    total = 0.0
    for _ in range(3):
        u = -K @ x
        total += x @ Q @ x + u @ R @ u
        x = F @ x
    return total


def kalman_nll(P, H, R, m, y):
    v = y - H @ m
    S = H @ P @ H.T + R
    return 0.5 * (v @ np.linalg.solve(S, v) + np.linalg.slogdet(S)[1] + len(y) * np.log(2 * np.pi))


def tv(U, F, lam, epsilon):
    m, n = U.shape
    total = 0.0
    for i in range(m - 1):
        for j in range(n - 1):
            total += np.sqrt((U[i + 1, j] - U[i, j]) ** 2 + (U[i, j + 1] - U[i, j]) ** 2 + epsilon**2)
    return 0.5 * np.sum((U - F) ** 2) + lam * total


def reprojection(X, U, R, t, f, c):
    total = 0.0
    for i in range(len(X)):
        p = R @ X[i] + t
        u = np.array([f * p[0] / p[2] + c[0], f * p[1] / p[2] + c[1]])
        total += np.sum((U[i] - u) ** 2)
    return total


def sampson(X, Y, F):
    total = 0.0
    for i in range(len(X)):
        a, b = F @ X[i], F.T @ Y[i]
        total += (Y[i] @ F @ X[i]) ** 2 / (a[0] ** 2 + a[1] ** 2 + b[0] ** 2 + b[1] ** 2)
    return total


def lennard_jones(X, epsilon, sigma):
    total = 0.0
    for i in range(len(X)):
        for j in range(i + 1, len(X)):
            r = np.linalg.norm(X[i] - X[j])
            total += 4 * epsilon * ((sigma / r) ** 12 - (sigma / r) ** 6)
    return total


def sir(S, I, N, beta, gamma):  # noqa: E741
    total = 0.0
    for t in range(len(S) - 1):
        total += (S[t + 1] - S[t] + beta * S[t] * I[t] / N) ** 2
        total += (I[t + 1] - I[t] - beta * S[t] * I[t] / N + gamma * I[t]) ** 2
    return total


def mutual_information(P):
    px, py = P.sum(axis=1), P.sum(axis=0)
    total = 0.0
    for i in range(P.shape[0]):
        for j in range(P.shape[1]):
            total += P[i, j] * np.log(P[i, j] / (px[i] * py[j]))
    return total


def ot_dual(f, g, a, b, C, epsilon):
    total = f @ a + g @ b
    for i in range(len(f)):
        for j in range(len(g)):
            total -= epsilon * a[i] * b[j] * (np.exp((f[i] + g[j] - C[i, j]) / epsilon) - 1)
    return total


def gcn(A, X, W_0, W_1, Y):
    n = len(A)
    T = A + np.eye(n)
    d = T.sum(axis=1)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            L[i, j] = T[i, j] / np.sqrt(d[i] * d[j])
    Z = special.softmax(L @ np.maximum(L @ X @ W_0, 0) @ W_1, axis=1)
    return -np.sum(Y * np.log(Z))


def modularity(A, S):
    k = A.sum(axis=1)
    two_m = A.sum()
    total = 0.0
    for i in range(len(A)):
        for j in range(len(A)):
            total += (A[i, j] - k[i] * k[j] / two_m) * (S[i] @ S[j])
    return total / two_m


def aipw(X, y, D, alpha, beta_0, beta_1):
    total = 0.0
    for i in range(len(y)):
        e = sigmoid(X[i] @ alpha)
        m1, m0 = X[i] @ beta_1, X[i] @ beta_0
        total += m1 - m0 + D[i] * (y[i] - m1) / e - (1 - D[i]) * (y[i] - m0) / (1 - e)
    return total / len(y)


def sar(y, X, W, rho, beta, sigma):
    n = len(y)
    A = np.eye(n) - rho * W
    r = A @ y - X @ beta
    return -n / 2 * np.log(2 * np.pi * sigma**2) + np.log(abs(np.linalg.det(A))) - r @ r / (2 * sigma**2)


def arch(r, mu, omega, alpha):
    total = 0.0
    for t in range(1, len(r)):
        s2 = omega + alpha * (r[t - 1] - mu) ** 2
        total += -0.5 * (np.log(2 * np.pi) + np.log(s2) + (r[t] - mu) ** 2 / s2)
    return total


def cp(X, A, B, C, lam):
    total = 0.0
    for i in range(len(A)):
        for j in range(len(B)):
            for k in range(len(C)):
                total += (X[i, j, k] - np.sum(A[i] * B[j] * C[k])) ** 2
    return 0.5 * total + lam / 2 * (np.sum(A**2) + np.sum(B**2) + np.sum(C**2))


def fair_logistic(X, y, s, theta, lam):
    n = len(y)
    loss = sum(np.logaddexp(0, -y[i] * (X[i] @ theta)) for i in range(n)) / n
    m = sum(s) / n
    cov = sum((s[i] - m) * (theta @ X[i]) for i in range(n)) / n
    return loss + lam * cov**2


def triplet(A, P, N, W, m):
    total = 0.0
    for i in range(len(A)):
        a, p, n = W @ A[i], W @ P[i], W @ N[i]
        total += max(0.0, np.sum((a - p) ** 2) - np.sum((a - n) ** 2) + m)
    return total / len(A)


def membrane(u, f, h, kappa):
    total = 0.0
    for i in range(len(u) - 1):
        total += 0.5 * h * ((u[i + 1] - u[i]) / h) ** 2
    for i in range(len(u)):
        total += h * (kappa / 4 * (u[i] ** 2 - 1) ** 2 - f[i] * u[i])
    return total


FIFTEENTH_END = [
    Passage(
        "linear quadratic regulator, horizon of three",
        r"""J(K) = \sum_{t=0}^{2} \left( x_t^\top Q x_t + u_t^\top R u_t \right), \qquad
        x_{t+1} = A x_t + B u_t, \quad u_t = -K x_t""",
        "A: matrix(n, n); B: matrix(n, m); K: matrix(m, n); Q: matrix(n, n) spd; R: matrix(m, m) spd; x_0: vector(n)",
        "K",
        lqr,
    ),
    Passage(
        "Kalman filter, likelihood of one innovation",
        r"""\begin{aligned}
        v &= y - H m, \\
        S &= H P H^\top + R, \\
        -\log p(y) &= \tfrac{1}{2}\left( v^\top S^{-1} v + \log\det S + d \log 2\pi \right)
        \end{aligned}""",
        "P: matrix(n, n) spd; H: matrix(d, n); R: matrix(d, d) spd; m: vector(n); y: vector(d)",
        "P",
        kalman_nll,
    ),
    Passage(
        "image denoising, isotropic total variation",
        r"""\min_{u} \; \frac{1}{2} \lVert u - f \rVert_F^2 + \lambda \sum_{i=1}^{m-1} \sum_{j=1}^{n-1}
        \sqrt{(u_{i+1,j} - u_{i,j})^2 + (u_{i,j+1} - u_{i,j})^2 + \epsilon^2}""",
        "u: matrix(m, n); f: matrix(m, n); lam: scalar positive; epsilon: scalar positive",
        "u",
        lambda u, f, lam, epsilon: tv(u, f, lam, epsilon),
    ),
    Passage(
        "reprojection error of a pinhole camera",
        r"""\[
        E(R, \mathbf{t}) = \sum_{i=1}^{n} \left\| \mathbf{u}_i - \pi(R\mathbf{x}_i + \mathbf{t}) \right\|_2^2,
        \quad \text{where } \pi(\mathbf{p}) = \begin{pmatrix} f p_1 / p_3 + c_1 \\ f p_2 / p_3 + c_2 \end{pmatrix}
        \]""",
        "X: matrix(n, 3); U: matrix(n, 2); R: matrix(3, 3); t: vector(3); f: scalar positive; c: vector(2)",
        "t",
        reprojection,
    ),
    Passage(
        "Sampson distance, again",
        r"""E(F) = \sum_{i=1}^{n} \frac{(y_i^\top F x_i)^2}{(F x_i)_1^2 + (F x_i)_2^2 + (F^\top y_i)_1^2
        + (F^\top y_i)_2^2}""",
        "X: matrix(n, 3); Y: matrix(n, 3); F: matrix(3, 3)",
        "F",
        sampson,
    ),
    Passage(
        "Lennard-Jones cluster",
        r"""U(\mathbf{r}_1, \dots, \mathbf{r}_N) = \sum_{i<j} 4\epsilon \left[ \left(\frac{\sigma}{r_{ij}}\right)^{12}
        - \left(\frac{\sigma}{r_{ij}}\right)^{6} \right], \qquad r_{ij} = \|\mathbf{r}_i - \mathbf{r}_j\|""",
        "R: matrix(N, 3); epsilon: scalar positive; sigma: scalar positive",
        "R",
        lambda R, epsilon, sigma: lennard_jones(R, epsilon, sigma),
    ),
    Passage(
        "SIR model fitted by its one-step residuals",
        r"""J(\beta, \gamma) = \sum_{t=1}^{T-1} \left[ \left( S_{t+1} - S_t + \frac{\beta S_t I_t}{N} \right)^2
        + \left( I_{t+1} - I_t - \frac{\beta S_t I_t}{N} + \gamma I_t \right)^2 \right]""",
        "S: vector(T) positive; I: vector(T) positive; N: scalar positive; beta: scalar positive; "
        "gamma: scalar positive",
        "beta",
        sir,
    ),
    Passage(
        "lasso by ADMM, augmented Lagrangian",
        r"""L_\rho(x, z, u) = \frac{1}{2}\|Ax - b\|_2^2 + \lambda\|z\|_1 + u^\top (x - z)
        + \frac{\rho}{2}\|x - z\|_2^2""",
        "A: matrix(m, n); b: vector(m); x: vector(n); z: vector(n); u: vector(n); lam: scalar positive; "
        "rho: scalar positive",
        "x",
        lambda A, b, x, z, u, lam, rho: (
            0.5 * np.sum((A @ x - b) ** 2) + lam * np.sum(abs(z)) + u @ (x - z) + rho / 2 * np.sum((x - z) ** 2)
        ),
    ),
    Passage(
        "mutual information of a joint distribution",
        r"""I(X; Y) = \sum_{i=1}^{m} \sum_{j=1}^{n} p_{ij} \log \frac{p_{ij}}{p_{i\cdot}\, p_{\cdot j}}, \qquad
        p_{i\cdot} = \sum_{j=1}^{n} p_{ij}, \quad p_{\cdot j} = \sum_{i=1}^{m} p_{ij}""",
        "P: matrix(m, n) positive",
        "P",
        mutual_information,
    ),
    Passage(
        "dual of entropic optimal transport",
        r"""\max_{f \in \mathbb{R}^m, g \in \mathbb{R}^n} \; \langle f, a \rangle + \langle g, b \rangle
        - \epsilon \sum_{i=1}^{m} \sum_{j=1}^{n} a_i b_j \left( \exp\left( \frac{f_i + g_j - C_{ij}}{\epsilon} \right)
        - 1 \right)""",
        "f: vector(m); g: vector(n); a: vector(m) positive; b: vector(n) positive; C: matrix(m, n); "
        "epsilon: scalar positive",
        "f",
        ot_dual,
    ),
    Passage(
        "graph convolutional network",
        r"""\mathcal{L} = -\sum_{i=1}^{n} \sum_{c=1}^{k} Y_{ic} \log Z_{ic}, \qquad
        Z = \operatorname{softmax}\left( \hat{A}\, \mathrm{ReLU}(\hat{A} X W_0)\, W_1 \right),
        where the softmax is applied row-wise, $\hat{A} = \tilde{D}^{-1/2} \tilde{A} \tilde{D}^{-1/2}$,
        $\tilde{A} = A + I$ and $\tilde{D} = \operatorname{diag}(\tilde{A}\mathbf{1})$.""",
        "A: matrix(n, n) positive; X: matrix(n, p); W_0: matrix(p, h); W_1: matrix(h, k); Y: matrix(n, k)",
        "W_0",
        gcn,
    ),
    Passage(
        "modularity of a soft partition",
        r"""Q = \frac{1}{2m} \sum_{i,j} \left( A_{ij} - \frac{k_i k_j}{2m} \right) s_i^\top s_j,
        \quad \text{where } k_i = \sum_{j} A_{ij} \text{ and } 2m = \sum_{i,j} A_{ij}""",
        "A: matrix(n, n) positive; S: matrix(n, c)",
        "S",
        modularity,
    ),
    Passage(
        "augmented inverse propensity weighting",
        r"""\hat\tau = \frac{1}{n}\sum_{i=1}^n \left[ m_1(x_i) - m_0(x_i) + \frac{D_i (y_i - m_1(x_i))}{e(x_i)}
        - \frac{(1 - D_i)(y_i - m_0(x_i))}{1 - e(x_i)} \right],
        where $m_1(x) = x^\top\beta_1$ and $m_0(x) = x^\top\beta_0$ are the outcome models and
        $e(x) = 1/(1 + \exp(-x^\top\alpha))$ is the propensity score.""",
        "X: matrix(n, p); y: vector(n); D: vector(n); alpha: vector(p); beta_0: vector(p); beta_1: vector(p)",
        "alpha",
        aipw,
    ),
    Passage(
        "spatial autoregressive model",
        r"""\ell(\rho, \beta, \sigma^2) = -\frac{n}{2}\log(2\pi\sigma^2) + \log\left|\det(I_n - \rho W)\right|
        - \frac{1}{2\sigma^2} \left\| (I_n - \rho W) y - X\beta \right\|^2""",
        "y: vector(n); X: matrix(n, p); W: matrix(n, n); rho: scalar; beta: vector(p); sigma: scalar positive",
        "rho",
        sar,
    ),
    Passage(
        "ARCH(1) log-likelihood",
        r"""\ell(\omega, \alpha) = -\frac{1}{2} \sum_{t=2}^{T} \left( \log(2\pi) + \log \sigma_t^2
        + \frac{\varepsilon_t^2}{\sigma_t^2} \right), \qquad
        \sigma_t^2 = \omega + \alpha \varepsilon_{t-1}^2, \quad \varepsilon_t = r_t - \mu""",
        "r: vector(T); mu: scalar; omega: scalar positive; alpha: scalar positive",
        "alpha",
        arch,
    ),
    Passage(
        "CP decomposition, again",
        r"""\min_{A, B, C} \; \frac{1}{2} \sum_{i,j,k} \left( \mathcal{X}_{ijk} - \sum_{r=1}^{R} a_{ir} b_{jr} c_{kr}
        \right)^2 + \frac{\lambda}{2} \left( \|A\|_F^2 + \|B\|_F^2 + \|C\|_F^2 \right)""",
        "X: tensor(m, n, p); A: matrix(m, R); B: matrix(n, R); C: matrix(p, R); lam: scalar positive",
        "A",
        cp,
    ),
    Passage(
        "fair classification by a covariance penalty",
        r"""\frac{1}{n} \sum_{i=1}^{n} \log(1 + \exp(-y_i \theta^\top x_i))
        + \lambda \left( \frac{1}{n} \sum_{i=1}^{n} (s_i - \bar{s})\, \theta^\top x_i \right)^2,
        where $\bar{s} = \frac{1}{n} \sum_{i=1}^{n} s_i$ is the mean of the sensitive attribute.""",
        "X: matrix(n, p); y: vector(n); s: vector(n); theta: vector(p); lam: scalar positive",
        "theta",
        fair_logistic,
    ),
    Passage(
        "triplet loss with a linear embedding",
        r"""\mathcal{L}_{\text{triplet}} = \frac{1}{n} \sum_{i=1}^{n} \left[ \|f(a_i) - f(p_i)\|_2^2
        - \|f(a_i) - f(n_i)\|_2^2 + m \right]_+, \qquad f(x) = W x""",
        "A: matrix(n, d); P: matrix(n, d); N: matrix(n, d); W: matrix(k, d); m: scalar positive",
        "W",
        triplet,
    ),
    Passage(
        "discrete Allen-Cahn energy",
        r"""E_h(u) = \frac{h}{2} \sum_{i=1}^{n-1} \left( \frac{u_{i+1} - u_i}{h} \right)^2
        + h \sum_{i=1}^{n} \left( \frac{\kappa}{4} (u_i^2 - 1)^2 - f_i u_i \right)""",
        "u: vector(n); f: vector(n); h: scalar positive; kappa: scalar positive",
        "u",
        membrane,
    ),
]

FIFTEENTH_REFUSED = [
    (
        "Gaussian mixture, diagonal covariances",
        (
            r"""\ell = \sum_{i=1}^{n} \log \sum_{k=1}^{K} \pi_k \prod_{j=1}^{d} \frac{1}{\sqrt{2\pi}\, S_{kj}}
        \exp\left( -\frac{(X_{ij} - M_{kj})^2}{2 S_{kj}^2} \right)"""
        ),
        ("X: matrix(n, d); M: matrix(K, d); S: matrix(K, d) positive; pi: vector(K) positive"),
        r"this can be the declared pi or the number",
    ),
    (
        "Rayleigh quotient of a trial state",
        (
            r"""E(\psi) = \frac{\langle \psi | H | \psi \rangle}{\langle \psi | \psi \rangle}
        = \frac{\psi^\top H \psi}{\psi^\top \psi}"""
        ),
        ("psi: vector(n); H: matrix(n, n) symmetric"),
        r"write one of the formulas",
    ),
]
