r"""The second half of the sixteenth set of passages."""

import numpy as np
from first_day.papers import Passage


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


def root(S):
    w, V = np.linalg.eigh(S)
    return V @ np.diag(np.sqrt(w)) @ V.T


def sinusoids(y, a, omega, phi):
    total = 0.0
    for t in range(1, len(y) + 1):
        total += (y[t - 1] - sum(a[k] * np.cos(omega[k] * t + phi[k]) for k in range(len(a)))) ** 2
    return total


def poisson_deblur(K, D, x, y, b, lam):
    m = K @ x + b
    return sum(m[i] - y[i] * np.log(m[i]) for i in range(len(y))) + lam / 2 * np.sum((D @ x) ** 2)


def horn_schunck(I_x, I_y, I_t, u, v, alpha):
    m, n = u.shape
    total = 0.0
    for i in range(m):
        for j in range(n):
            total += (I_x[i, j] * u[i, j] + I_y[i, j] * v[i, j] + I_t[i, j]) ** 2
    for i in range(m - 1):
        for j in range(n - 1):
            total += alpha**2 * ((u[i + 1, j] - u[i, j]) ** 2 + (u[i, j + 1] - u[i, j]) ** 2)
            total += alpha**2 * ((v[i + 1, j] - v[i, j]) ** 2 + (v[i, j + 1] - v[i, j]) ** 2)
    return total


def two_link(q, q_0, p_d, l_1, l_2, lam):
    p = np.array(
        [
            l_1 * np.cos(q[0]) + l_2 * np.cos(q[0] + q[1]),
            l_1 * np.sin(q[0]) + l_2 * np.sin(q[0] + q[1]),
        ]
    )
    return 0.5 * np.sum((p - p_d) ** 2) + lam / 2 * np.sum((q - q_0) ** 2)


def morse(X, D, a, r_e):
    total = 0.0
    for i in range(len(X) - 1):
        r = np.linalg.norm(X[i + 1] - X[i])
        total += D * (1 - np.exp(-a * (r - r_e))) ** 2
    return total


def ricker(N, r, K, sigma):
    total = 0.0
    for t in range(len(N) - 1):
        e = np.log(N[t + 1] / N[t]) - r * (1 - N[t] / K)
        total += 0.5 * np.log(2 * np.pi * sigma**2) + e**2 / (2 * sigma**2)
    return total


def renewal(I, w, R, lam):  # noqa: E741
    total = 0.0
    T = len(I)
    for t in range(2, T + 1):
        L = sum(w[s - 1] * I[t - s - 1] for s in range(1, t))
        total += I[t - 1] * np.log(R[t - 1] * L) - R[t - 1] * L
        total -= lam * (np.log(R[t - 1]) - np.log(R[t - 2])) ** 2
    return total


def gat(A, H, W, a_1, a_2, Y):
    n = len(A)
    total = 0.0
    for i in range(n):
        e = np.array([a_1 @ W @ H[i] + a_2 @ W @ H[j] for j in range(n)])
        e = np.where(e > 0, e, 0.2 * e)
        alpha = A[i] * np.exp(e) / np.sum(A[i] * np.exp(e))
        o = sum(alpha[j] * (W @ H[j]) for j in range(n))
        total += np.sum((o - Y[i]) ** 2)
    return total


def sbm(A, Z, B):
    n, K = Z.shape
    total = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            for k in range(K):
                for m in range(K):
                    total += Z[i, k] * Z[j, m] * (A[i, j] * np.log(B[k, m]) + (1 - A[i, j]) * np.log(1 - B[k, m]))
    return total


def matern(S, X, y, beta, sigma, rho, tau):
    n = len(y)
    C = tau**2 * np.eye(n)
    for i in range(n):
        for j in range(n):
            d = np.sqrt(np.sum((S[i] - S[j]) ** 2))
            C[i, j] += sigma**2 * (1 + np.sqrt(3) * d / rho) * np.exp(-np.sqrt(3) * d / rho)
    r = y - X @ beta
    return -0.5 * np.log(np.linalg.det(C)) - 0.5 * r @ np.linalg.solve(C, r)


def arma(y, phi, theta):
    total, e = 0.0, 0.0
    for t in range(1, len(y)):
        e = y[t] - phi * y[t - 1] - theta * e
        total += e**2
    return total


def glove(X, W, U, b, c, x_max, alpha):
    total = 0.0
    for i in range(len(b)):
        for j in range(len(c)):
            f = (X[i, j] / x_max) ** alpha if X[i, j] < x_max else 1.0
            total += f * (W[i] @ U[j] + b[i] + c[j] - np.log(X[i, j])) ** 2
    return total


def bpr(u, i, j, P, Q, lam):
    total = 0.0
    for s in range(len(u)):
        total -= np.log(sigmoid(P[u[s]] @ (Q[i[s]] - Q[j[s]])))
    return total + lam * (np.sum(P**2) + np.sum(Q**2))


def iwae(x, mu, sigma, epsilon, W):
    weights = []
    for e in epsilon:
        z = mu + sigma * e
        weights.append(np.exp((e @ e - z @ z - np.sum((x - W @ z) ** 2)) / 2 + np.log(sigma).sum()))
    return np.log(np.mean(weights))


SIXTEENTH_END = [
    Passage(
        "importance weighted autoencoder",
        (
            r"""\[
        \mathcal{L}_K = \log \frac{1}{K} \sum_{k=1}^{K} \exp(\ell_k), \qquad
        \ell_k = -\frac12 \norm{x - W z_k}^2 - \frac12 \norm{z_k}^2 + \frac12 \norm{\epsilon_k}^2
        + \sum_{j=1}^{d} \log \sigma_j,
        \]
        with samples $z_k = \mu + \sigma \odot \epsilon_k$."""
        ),
        ("x: vector(p); mu: vector(d); sigma: vector(d) positive; epsilon: matrix(K, d); W: matrix(p, d)"),
        "mu",
        iwae,
    ),
    Passage(
        "sum of sinusoids",
        r"""\min_{a, \omega, \phi} \; \sum_{t=1}^{N} \left( y_t - \sum_{k=1}^{K} a_k \cos(\omega_k t + \phi_k)
        \right)^2""",
        "y: vector(N); a: vector(K); omega: vector(K); phi: vector(K)",
        "omega",
        sinusoids,
    ),
    Passage(
        "deblurring of Poisson counts",
        r"""\min_{x \ge 0} \; \sum_{i=1}^{m} \left\{ (Kx)_i + b - y_i \log\left((Kx)_i + b\right) \right\}
        + \frac{\lambda}{2} \|D x\|_2^2""",
        "K: matrix(m, n) positive; D: matrix(p, n); x: vector(n) positive; y: vector(m) positive; b: scalar positive; "
        "lam: scalar positive",
        "x",
        poisson_deblur,
    ),
    Passage(
        "phase retrieval, another one",
        r"""f(\mathbf{x}) = \frac{1}{4m} \sum_{r=1}^{m} \left( |\langle \mathbf{a}_r, \mathbf{x} \rangle|^2 - y_r
        \right)^2""",
        "A: matrix(m, n); x: vector(n); y: vector(m)",
        "x",
        lambda A, x, y: sum(((A[r] @ x) ** 2 - y[r]) ** 2 for r in range(len(y))) / (4 * len(y)),
    ),
    Passage(
        "Horn-Schunck optical flow",
        r"""\begin{aligned}
        E(u, v) = \sum_{i=1}^{m}\sum_{j=1}^{n} \left( (I_x)_{ij} u_{ij} + (I_y)_{ij} v_{ij} + (I_t)_{ij} \right)^2
        + \alpha^2 \sum_{i=1}^{m-1}\sum_{j=1}^{n-1} \Big[ &(u_{i+1,j} - u_{ij})^2 + (u_{i,j+1} - u_{ij})^2 \\
        &+ (v_{i+1,j} - v_{ij})^2 + (v_{i,j+1} - v_{ij})^2 \Big]
        \end{aligned}""",
        "I_x: matrix(m, n); I_y: matrix(m, n); I_t: matrix(m, n); u: matrix(m, n); v: matrix(m, n); "
        "alpha: scalar positive",
        "u",
        horn_schunck,
    ),
    Passage(
        "inverse kinematics of a two-link arm",
        r"""\min_{q} \; \frac12 \left\| p(q) - p_d \right\|^2 + \frac{\lambda}{2} \|q - q_0\|^2, \qquad
        p(q) = \begin{bmatrix} l_1 \cos q_1 + l_2 \cos(q_1 + q_2) \\ l_1 \sin q_1 + l_2 \sin(q_1 + q_2)
        \end{bmatrix}""",
        "q: vector(2); q_0: vector(2); p_d: vector(2); l_1: scalar po"
        "sitive; l_2: scalar positive; lam: scalar positive",
        "q",
        two_link,
    ),
    Passage(
        "chain of Morse bonds",
        r"""U(X) = \sum_{i=1}^{N-1} D \left( 1 - e^{-a (r_i - r_e)} \right)^2, \quad \text{where }
        r_i = \lVert \mathbf{x}_{i+1} - \mathbf{x}_i \rVert""",
        "X: matrix(N, 3); D: scalar positive; a: scalar positive; r_e: scalar positive",
        "X",
        morse,
    ),
    Passage(
        "Ricker model of a population",
        r"""-\log L(r, K, \sigma) = \sum_{t=1}^{T-1} \left\{ \frac{1}{2}\log(2\pi\sigma^2)
        + \frac{1}{2\sigma^2} \left[ \log\frac{N_{t+1}}{N_t} - r\left(1 - \frac{N_t}{K}\right) \right]^2 \right\}""",
        "N: vector(T) positive; r: scalar; K: scalar positive; sigma: scalar positive",
        "K",
        ricker,
    ),
    Passage(
        "reproduction number by the renewal equation",
        r"""\ell(R) = \sum_{t=2}^{T} \left[ I_t \log(R_t \Lambda_t) - R_t \Lambda_t \right]
        - \lambda \sum_{t=2}^{T} (\log R_t - \log R_{t-1})^2, \qquad
        \Lambda_t = \sum_{s=1}^{t-1} w_s I_{t-s}""",
        "I: vector(T) positive; w: vector(T) positive; R: vector(T) positive; lam: scalar positive",
        "R",
        renewal,
    ),
    Passage(
        "interior point Lagrangian of a linear programme",
        r"""L_\mu(x, y) = c^\top x - \mu \sum_{j=1}^{n} \ln x_j - y^\top (A x - b)""",
        "A: matrix(m, n); b: vector(m); c: vector(n); x: vector(n) positive; y: vector(m); mu: scalar positive",
        "x",
        lambda A, b, c, x, y, mu: c @ x - mu * sum(np.log(x[j]) for j in range(len(x))) - y @ (A @ x - b),
    ),
    Passage(
        "capacity of a channel with several antennas",
        r"""C(Q) = \log_2 \det\left( I_m + \frac{1}{\sigma^2} H Q H^\top \right)""",
        "H: matrix(m, n); Q: matrix(n, n) spd; sigma: scalar positive",
        "Q",
        lambda H, Q, sigma: np.log2(np.linalg.det(np.eye(len(H)) + H @ Q @ H.T / sigma**2)),
    ),
    Passage(
        "Wasserstein distance of Gaussians",
        r"""W_2^2(\mathcal{N}_1, \mathcal{N}_2) = \|m_1 - m_2\|_2^2 + \mathrm{Tr}\left( \Sigma_1 + \Sigma_2
        - 2 \left( \Sigma_1^{1/2} \Sigma_2 \Sigma_1^{1/2} \right)^{1/2} \right)""",
        "m_1: vector(d); m_2: vector(d); Sigma_1: matrix(d, d) spd; Sigma_2: matrix(d, d) spd",
        "Sigma_2",
        lambda m_1, m_2, Sigma_1, Sigma_2: (
            np.sum((m_1 - m_2) ** 2) + np.trace(Sigma_1 + Sigma_2 - 2 * root(root(Sigma_1) @ Sigma_2 @ root(Sigma_1)))
        ),
    ),
    Passage(
        "graph attention",
        r"""\begin{equation}
        \mathcal{L} = \sum_{i=1}^{n} \Big\| \sum_{j=1}^{n} \alpha_{ij} W h_j - y_i \Big\|_2^2, \qquad
        \alpha_{ij} = \frac{A_{ij} \exp(e_{ij})}{\sum_{k=1}^{n} A_{ik} \exp(e_{ik})}, \qquad
        e_{ij} = \mathrm{LeakyReLU}(a_1^\top W h_i + a_2^\top W h_j),
        \end{equation}
        where $A$ is the adjacency matrix with self-loops and $\mathrm{LeakyReLU}(t) = \max(t, 0.2 t)$.""",
        "A: matrix(n, n) positive; H: matrix(n, d); W: matrix(k, d); a_1: vector(k); a_2: vector(k); Y: matrix(n, k)",
        "a_1",
        gat,
    ),
    Passage(
        "stochastic block model",
        r"""\sum_{i<j} \sum_{k=1}^{K} \sum_{l=1}^{K} z_{ik} z_{jl} \left[ A_{ij} \log B_{kl}
        + (1 - A_{ij}) \log(1 - B_{kl}) \right]""",
        "A: matrix(n, n); Z: matrix(n, K); B: matrix(K, K) positive",
        "B",
        sbm,
        ("A", "Z", "B"),
    ),
    Passage(
        "geostatistical model, Matern covariance",
        r"""\[
        \ell(\beta, \rho) = -\frac{1}{2} \log|\Sigma| - \frac{1}{2} (y - X\beta)^\top \Sigma^{-1} (y - X\beta),
        \]
        where $\Sigma = K + \tau^2 I$ with
        $K_{ij} = \sigma^2 \left(1 + \frac{\sqrt{3}\, d_{ij}}{\rho}\right)
        \exp\left(-\frac{\sqrt{3}\, d_{ij}}{\rho}\right)$ and $d_{ij} = \|s_i - s_j\|_2$.""",
        "S: matrix(n, 2); X: matrix(n, p); y: vector(n); beta: vector(p); sigma: scalar positive; "
        "rho: scalar positive; tau: scalar positive",
        "rho",
        matern,
    ),
    Passage(
        "ARMA(1,1), conditional sum of squares",
        r"""S(\phi, \theta) = \sum_{t=2}^{T} \varepsilon_t^2, \qquad
        \varepsilon_t = y_t - \phi y_{t-1} - \theta \varepsilon_{t-1}, \quad \varepsilon_1 = 0""",
        "y: vector(T); phi: scalar; theta: scalar",
        "theta",
        arma,
    ),
    Passage(
        "Brockett function with a penalty for orthogonality",
        r"f(X) = -\operatorname{tr}(X^\top A X N) + \frac{\mu}{4} \left\| X^\top X - I_p \right\|_{\mathrm{F}}^2",
        "X: matrix(n, p); A: matrix(n, n) symmetric; N: matrix(p, p) symmetric; mu: scalar positive",
        "X",
        lambda X, A, N, mu: -np.trace(X.T @ A @ X @ N) + mu / 4 * np.sum((X.T @ X - np.eye(X.shape[1])) ** 2),
    ),
    Passage(
        "Bayesian D-optimal design",
        r"\phi_D(w) = \log\det\left( R + \sum_{i=1}^{n} w_i\, x_i x_i^\top \right)",
        "X: matrix(n, p); w: vector(n) positive; R: matrix(p, p) spd",
        "w",
        lambda X, w, R: np.log(np.linalg.det(R + sum(w[i] * np.outer(X[i], X[i]) for i in range(len(w))))),
    ),
    Passage(
        "word vectors from co-occurrences",
        r"""J = \sum_{i,j=1}^{V} f(X_{ij}) \left( w_i^\top u_j + b_i + c_j - \log X_{ij} \right)^2, \qquad
        f(x) = \begin{cases} (x / x_{\max})^{\alpha} & \text{if } x < x_{\max}, \\ 1 & \text{otherwise.} \end{cases}""",
        "X: matrix(V, V) positive; W: matrix(V, d); U: matrix(V, d); b: vector(V); c: vector(V); "
        "x_max: scalar positive; alpha: scalar positive",
        "W",
        glove,
    ),
    Passage(
        "Bayesian personalised ranking",
        r"""\mathcal{L} = -\sum_{s=1}^{N} \ln \sigma(\hat{x}_s) + \lambda\left(\|P\|_F^2 + \|Q\|_F^2\right), \qquad
        \hat{x}_s = p_{u_s}^\top (q_{i_s} - q_{j_s}),
        where $(u_s, i_s, j_s)$ are the sampled triples and $\sigma$ is the logistic sigmoid.""",
        "u: index(N); i: index(N); j: index(N); P: matrix(m, k); Q: matrix(n, k); lam: scalar positive",
        "P",
        bpr,
    ),
]

SIXTEENTH_REFUSED = [
    (
        "Wasserstein critic with gradient penalty",
        (
            r"""\begin{align}
        L &= \frac1n \sum_{i=1}^n D(y_i) - \frac1n \sum_{i=1}^n D(x_i)
        + \frac{\lambda}{n} \sum_{i=1}^n \left( \norm{\nabla D(\hat{x}_i)}_2 - 1 \right)^2, \\
        \hat{x}_i &= \epsilon_i x_i + (1 - \epsilon_i) y_i,
        \end{align}
        where the critic is $D(x) = v^\top \tanh(W x)$, whose gradient is
        $\nabla D(x) = W^\top \left( v \odot (1 - \tanh^2(W x)) \right)$."""
        ),
        ("X: matrix(n, d); Y: matrix(n, d); epsilon: vector(n); W: matrix(k, d); v: vector(k); lam: scalar positive"),
        r"cannot raise tanh",
    ),
    (
        "structure learning with an acyclicity constraint",
        (
            r"""\frac{1}{2n} \|X - XW\|_F^2 + \lambda \|\mathrm{vec}(W)\|_1 + \frac{\rho}{2} |h(W)|^2 + \alpha h(W),
        \qquad h(W) = \operatorname{tr}\left(e^{W \circ W}\right) - d"""
        ),
        ("X: matrix(n, d); W: matrix(d, d); lam: scalar positive; alpha: scalar; rho: scalar positive"),
        r"exp or expm",
    ),
]
