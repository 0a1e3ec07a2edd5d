r"""The second half of the twenty-third set of passages."""

import numpy as np
from first_day.papers import Passage
from scipy.special import log_expit, log_softmax, logsumexp


def sq(A, B):
    return ((A[:, None, :] - B[None, :, :]) ** 2).sum(-1)


def sqrtm(S):
    e, Q = np.linalg.eigh(S)
    return Q @ np.diag(np.sqrt(e)) @ Q.T


def mdn(X, y, A, B, C):
    m, s = X @ B.T, np.exp(X @ C.T)
    lp = log_softmax(X @ A.T, axis=1) - 0.5 * np.log(2 * np.pi) - np.log(s) - (y[:, None] - m) ** 2 / (2 * s**2)
    return -np.sum(logsumexp(lp, axis=1))


def maml(X, Y, Z, V, theta, alpha):
    n, total = X.shape[1], 0.0
    for i in range(len(X)):
        t = theta - alpha / n * X[i].T @ (X[i] @ theta - Y[i])
        total += np.sum((Z[i] @ t - V[i]) ** 2)
    return total / len(X)


def spectral_mixture(x, y, w, v, mu, sigma):
    t = x[:, None] - x[None, :]
    K = sum(w[q] * np.exp(-2 * np.pi**2 * t**2 * v[q]) * np.cos(2 * np.pi * t * mu[q]) for q in range(len(w)))
    K = K + sigma**2 * np.eye(len(x))
    return 0.5 * y @ np.linalg.solve(K, y) + 0.5 * np.linalg.slogdet(K)[1]


def gromov(C, D, T, epsilon):
    n, m = T.shape
    total = epsilon * np.sum(T * (np.log(T) - 1))
    for i in range(n):
        for j in range(m):
            for k in range(n):
                for l in range(m):  # noqa: E741
                    total += (C[i, k] - D[j, l]) ** 2 * T[i, j] * T[k, l]
    return total


def tsne(P, Y):
    S = 1 / (1 + sq(Y, Y))
    np.fill_diagonal(S, 0)
    Q = S / S.sum()
    n = len(Y)
    return sum(P[i, j] * np.log(P[i, j] / Q[i, j]) for i in range(n) for j in range(n) if i != j)


def burgers(u, tau, h, nu):
    c, p, q = u[1:-1, :-1], u[2:, :-1], u[:-2, :-1]
    R = (u[1:-1, 1:] - c) / tau + c * (p - q) / (2 * h) - nu * (p - 2 * c + q) / h**2
    return 0.5 * np.sum(R**2)


def heat(A, B, u, y_0, z, tau, lam):
    y = y_0
    for k in range(len(u)):
        y = np.linalg.solve(np.eye(len(y)) + tau * A, y + tau * B @ u[k])
    return 0.5 * np.sum((y - z) ** 2) + lam * tau / 2 * np.sum(u**2)


def ambrosio(u, v, f, alpha, beta, epsilon):
    def grad2(a):
        return (a[1:, :-1] - a[:-1, :-1]) ** 2 + (a[:-1, 1:] - a[:-1, :-1]) ** 2

    w = v[:-1, :-1]
    return np.sum((u - f) ** 2) + np.sum(
        alpha * w**2 * grad2(u) + beta * (epsilon * grad2(v) + (1 - w) ** 2 / (4 * epsilon))
    )


def emission(A, x, y, r, W, beta, delta):
    p = A @ x + r
    t = abs(x[:, None] - x[None, :]) / delta
    return np.sum(p - y * np.log(p)) + beta * np.sum(W * delta**2 * (t - np.log(1 + t)))


def arm(theta, ell, x_d, lam):
    phi = np.cumsum(theta)
    p = np.array([ell @ np.cos(phi), ell @ np.sin(phi)])
    return np.sum((p - x_d) ** 2) + lam * np.sum(np.diff(theta) ** 2)


def pendulum(u, theta_0, omega_0, h, g, l, rho):  # noqa: E741
    a, w, J = theta_0, omega_0, 0.0
    for t in range(len(u)):
        J += 1 - np.cos(a) + rho * u[t] ** 2
        a, w = a + h * w, w + h * (g / l * np.sin(a) + u[t])
    return J + 10 * (1 - np.cos(a))


TWENTY_THIRD_END = [
    Passage(
        "mixture density network",
        r"""E = -\sum_{n=1}^{N}\ln\left\{\sum_{k=1}^{K}\pi_k(\mathbf{x}_n)\mathcal{N}\left(y_n\mid\mu_k(\mathbf{x}_n),
        \sigma_k^2(\mathbf{x}_n)\right)\right\}, where $\pi_k(\mathbf{x}) =
        \frac{\exp(\mathbf{a}_k^\top\mathbf{x})}{\sum_{l=1}^{K}\exp(
        \mathbf{a}_l^\top\mathbf{x})}$, $\mu_k(\mathbf{x}) = \mathbf{b}_k^\top\mathbf{x}$ and
        $\sigma_k(\mathbf{x}) = \exp(\mathbf{c}_k^\top
        \mathbf{x})$.""",
        "X: matrix(N, d); y: vector(N); A: matrix(K, d); B: matrix(K, d); C: matrix(K, d)",
        "B",
        mdn,
    ),
    Passage(
        "flow matching",
        r"""\mathcal{L}_{\mathrm{CFM}} = \frac1N\sum_{i=1}^{N}\left\|v_\theta\left((1 - t_i)\mathbf{z}_i +
        t_i\mathbf{x}_i,
        t_i\right) - (\mathbf{x}_i - \mathbf{z}_i)\right\|^2, \quad v_\theta(\mathbf{x}, t) =
        W_2\tanh(W_1\mathbf{x} + t\mathbf{a} + \mathbf{b})""",
        "X: matrix(N, d); Z: matrix(N, d); t: vector(N); W_1: matrix(h, d); a: vector(h); b: vector(h); W_2: "
        "matrix(d, h)",
        "W_1",
        lambda X, Z, t, W_1, a, b, W_2: np.mean(
            [
                np.sum((W_2 @ np.tanh(W_1 @ ((1 - t[i]) * Z[i] + t[i] * X[i]) + t[i] * a + b) - X[i] + Z[i]) ** 2)
                for i in range(len(t))
            ]
        ),
        ("t",),
    ),
    Passage(
        "MAML for linear regression",
        r"""\min_\theta\ \frac1M\sum_{i=1}^{M}\norm{Z_i\theta_i' - v_i}_2^2, \qquad \theta_i' = \theta -
        \frac{\alpha}{n}
        X_i^\top(X_i\theta - y_i)""",
        "X: tensor(M, n, d); Y: matrix(M, n); Z: tensor(M, m, d); V: matrix(M, m); theta: vector(d); "
        "alpha: scalar positive",
        "theta",
        maml,
    ),
    Passage(
        "total least squares",
        r"""\hat{x}_{\mathrm{TLS}} = \arg\min_x\frac{\|Ax - b\|_2^2}{1 + \|x\|_2^2}""",
        "A: matrix(m, n); b: vector(m); x: vector(n)",
        "x",
        lambda A, b, x: np.sum((A @ x - b) ** 2) / (1 + x @ x),
    ),
    Passage(
        "spectral mixture kernel",
        r"""\mathcal{L} = \frac12\mathbf{y}^\top(K + \sigma^2I)^{-1}\mathbf{y} + \frac12\log|K + \sigma^2I|,
        \qquad K_{ij} =
        k(x_i - x_j), where $k(\tau) = \sum_{q=1}^{Q} w_q\exp(-2\pi^2\tau^2v_q)\cos(2\pi\tau\mu_q)$.""",
        "x: vector(n); y: vector(n); "
        "w: vector(Q) positive; v: vector(Q) positive; mu: vector(Q); sigma: scalar positive",
        "mu",
        spectral_mixture,
    ),
    Passage(
        "Laplace approximation of GP classification",
        r"""\Psi(\mathbf{f}) = \sum_{i=1}^{n}\log\sigma(y_if_i) - \frac12\mathbf{f}^\top K^{-1}
        \mathbf{f} - \frac12\log|K| - \frac n2\log2\pi, \qquad \sigma(z) = \frac{1}{1 + e^{-z}}""",
        "y: vector(n); f: vector(n); K: matrix(n, n) spd",
        "f",
        lambda y, f, K: (
            np.sum(log_expit(y * f))
            - 0.5 * f @ np.linalg.solve(K, f)
            - 0.5 * np.linalg.slogdet(K)[1]
            - len(f) / 2 * np.log(2 * np.pi)
        ),
    ),
    Passage(
        "dual of the support vector machine",
        r"""W(\alpha) = \sum_{i=1}^{\ell}\alpha_i - \frac12\sum_{i=1}^{\ell}\sum_{j=1}^{\ell}\alpha_i\alpha_jy_i
        y_jk(x_i, x_j), \qquad k(x, x') = \exp(-\gamma\|x - x'\|^2)""",
        "X: matrix(ell, d); y: vector(ell); alpha: vector(ell); gamma: scalar positive",
        "alpha",
        lambda X, y, alpha, gamma: alpha.sum() - 0.5 * (alpha * y) @ np.exp(-gamma * sq(X, X)) @ (alpha * y),
    ),
    Passage(
        "entropic Gromov-Wasserstein",
        r"""\min_T\ \sum_{i,j,k,l}\left(C_{ik} - D_{jl}\right)^2T_{ij}T_{kl} + \epsilon\sum_{i,j}T_{ij}(\log T_{ij} -
        1)""",
        "C: matrix(n, n) symmetric; D: matrix(m, m) symmetric; T: matrix(n, m) positive; epsilon: scalar positive",
        "T",
        gromov,
    ),
    Passage(
        "Bures-Wasserstein distance",
        r"""W_2^2 = \|m_1 - m_2\|_2^2 + \operatorname{tr}\left(\Sigma_1 + \Sigma_2 - 2\left(\Sigma_1^{1/2}\Sigma_2
        \Sigma_1^{1/2}\right)^{1/2}\right)""",
        "m_1: vector(n); m_2: vector(n); Sigma_1: matrix(n, n) spd; Sigma_2: matrix(n, n) spd",
        "Sigma_1",
        lambda m_1, m_2, Sigma_1, Sigma_2: (
            np.sum((m_1 - m_2) ** 2)
            + np.trace(Sigma_1 + Sigma_2 - 2 * sqrtm(sqrtm(Sigma_1) @ Sigma_2 @ sqrtm(Sigma_1)))
        ),
    ),
    Passage(
        "t-SNE, twenty-third set",
        r"""C = \sum_i\sum_{j\neq i}p_{ij}\log\frac{p_{ij}}{q_{ij}}, \qquad q_{ij} = \frac{\left(1 + \|y_i -
        y_j\|^2\right)^{-1}}{
        \sum_{k\neq l}\left(1 + \|y_k - y_l\|^2\right)^{-1}}""",
        "P: matrix(n, n) positive; Y: matrix(n, d)",
        "Y",
        tsne,
    ),
    Passage(
        "Tucker decomposition, twenty-third set",
        r"""f(\mathcal{G}, A, B, C) = \frac12\sum_{i=1}^{m}\sum_{j=1}^{n}\sum_{k=1}^{l}\left(x_{ijk} - \sum_{p=1}^{P}
        \sum_{q=1}^{Q}\sum_{r=1}^{R}g_{pqr}\,a_{ip}b_{jq}c_{kr}\right)^2""",
        "X: tensor(m, n, l); G: tensor(P, Q, R); A: matrix(m, P); B: matrix(n, Q); C: matrix(l, R)",
        "G",
        lambda X, G, A, B, C: 0.5 * np.sum((X - np.einsum("pqr,ip,jq,kr->ijk", G, A, B, C)) ** 2),
    ),
    Passage(
        "residual of the Burgers equation",
        r"""J(u) = \frac12\sum_{i=2}^{M-1}\sum_{n=1}^{N-1}\left(\frac{u_{i,n+1} - u_{i,n}}{\tau} + u_{i,n}\frac{u_{i+1,
        n} - u_{i-1,n}}{2h} - \nu\frac{u_{i+1,n} - 2u_{i,n} + u_{i-1,n}}{h^2}\right)^2""",
        "u: matrix(M, N); tau: scalar positive; h: scalar positive; nu: scalar positive",
        "u",
        burgers,
    ),
    Passage(
        "optimal control of the heat equation",
        r"""\min_u\ \frac12\norm{y_N - z}_2^2 + \frac{\lambda\tau}{2}\sum_{k=0}^{N-1}\norm{u_k}_2^2
        \quad\text{s.t.}\quad y_{k+1} = (I + \tau A)^{-1}(y_k + \tau Bu_k), \quad k = 0, \dots, N-1""",
        "A: matrix(n, n) spd; B: matrix(n, m); "
        "u: matrix(N, m); y_0: vector(n); z: vector(n); tau: scalar positive; lam: scalar positive",
        "u",
        heat,
    ),
    Passage(
        "Ambrosio-Tortorelli",
        r"""E(u, v) = \sum_{i=1}^{m}\sum_{j=1}^{n}(u_{ij} - f_{ij})^2 +
        \sum_{i=1}^{m-1}\sum_{j=1}^{n-1}\left[\alpha v_{ij}^2
        |\nabla u|_{ij}^2 + \beta\left(\epsilon|\nabla v|_{ij}^2 + \frac{(1 -
        v_{ij})^2}{4\epsilon}\right)\right], where $|\nabla u|_{ij}^2 = (
        u_{i+1,j} - u_{ij})^2 + (u_{i,j+1} - u_{ij})^2$ and $|\nabla v|_{ij}^2 =
        (v_{i+1,j} - v_{ij})^2 + (v_{i,j+1} - v_{ij})^2$.""",
        "u: matrix(m, n); v: matrix(m, n); f: matrix(m, n); "
        "alpha: scalar positive; beta: scalar positive; epsilon: scalar positive",
        "v",
        ambrosio,
    ),
    Passage(
        "emission tomography",
        r"""\Phi(x) = \sum_{i=1}^{m}\left([Ax]_i + r_i - y_i\log([Ax]_i + r_i)\right) +
        \beta\sum_{j=1}^{n}\sum_{k=1}^{n}
        w_{jk}\psi(x_j - x_k), \qquad \psi(t) = \delta^2\left(\frac{|t|}{\delta} - \log\left(1 +
        \frac{|t|}{\delta}\right)\right)""",
        "A: matrix(m, n) positive; x: vector(n) positive; y: vector(m) positive; r: vector(m) positive; W: "
        "matrix(n, n); "
        "beta: scalar positive; delta: scalar positive",
        "x",
        emission,
    ),
    Passage(
        "inverse kinematics of a planar arm",
        r"""J(\theta) = \norm{p(\theta) - x_d}_2^2 + \lambda\sum_{k=1}^{n-1}(\theta_{k+1} - \theta_k)^2, \qquad
        p(\theta) = \sum_{k=1}^{n}\ell_k\begin{bmatrix}\cos\phi_k \\ \sin\phi_k\end{bmatrix}, \qquad \phi_k =
        \sum_{i=1}^{k}\theta_i""",
        "theta: vector(n); ell: vector(n) positive; x_d: vector(2); lam: scalar positive",
        "theta",
        arm,
    ),
    Passage(
        "pendulum swing-up",
        r"""J = \sum_{t=0}^{T-1}\left(1 - \cos\theta_t + \rho u_t^2\right) + 10(1 - \cos\theta_T), where
        $\theta_{t+1} = \theta_t +
        h\omega_t$ and $\omega_{t+1} = \omega_t + h\left(\frac gl\sin\theta_t + u_t\right)$ for $t = 0, \dots, T-1$.""",
        "u: vector(T); "
        "theta_0: scalar; omega_0: scalar; h: scalar positive; g: scalar; l: scalar positive; rho: scalar positive",
        "u",
        pendulum,
    ),
]

TWENTY_THIRD_REFUSED = [
    (
        "variational graph autoencoder",
        (
            r"""\mathcal{L} = -\sum_{i,j}\left[A_{ij}\log\sigma(z_i^\top z_j) + (1 - A_{ij})\log\left(1 -
        \sigma(z_i^\top z_j)\right)\right] - \frac12\sum_{i,j}\left(1 + 2\log S_{ij} - M_{ij}^2 -
        S_{ij}^2\right), where $Z = M + S\odot E$, $M =
        \tilde{A}HW_\mu$, $S = \exp(\tilde{A}HW_\sigma)$, $H = \operatorname{ReLU}(\tilde{A}XW_0)$, $\tilde{A}
        = D^{-1/2}AD^{-1/2}$, $D =
        \operatorname{diag}(A\mathbf{1})$ and $\sigma$ is the sigmoid function."""
        ),
        (
            "A: matrix(N, N) symmetric positive; X: matrix(N, d); "
            "W_0: matrix(d, h); W_mu: matrix(h, k); W_sigma: matrix(h, k); E: matrix(N, k)"
        ),
        r"exp or expm",
    ),
    (
        "quantile regression DQN",
        (
            r"""\sum_{i=1}^{N}\frac1M\sum_{j=1}^{M}\rho^\kappa_{\tau_i}(z_j - \theta_i), \qquad
        \rho^\kappa_\tau(u) = |\tau -
        \mathbb{1}\{u < 0\}|\frac{\mathcal{L}_\kappa(u)}{\kappa}, with $\tau_i = \frac{2i-1}{2N}$ and the Huber
        loss $$\mathcal{L}_\kappa(u) =
        \begin{cases}\frac12 u^2, & \text{if } |u|\le\kappa \\ \kappa(|u| - \frac12\kappa), &
        \text{otherwise}\end{cases}$$"""
        ),
        ("theta: vector(N); z: vector(M); kappa: scalar positive"),
        r"'the' is a word",
    ),
    (
        "physics-informed network, Poisson equation",
        (
            r"""\mathcal{L} = \frac1N\sum_{i=1}^{N}\left(u''(x_i) + f_i\right)^2 + \lambda\left(u(0)^2 +
        u(1)^2\right), where $u(x) = \sum_{k=1}^{K}a_k\tanh(w_kx + b_k)$ is the network."""
        ),
        ("x: vector(N); f: vector(N); a: vector(K); w: vector(K); b: vector(K); lam: scalar positive"),
        r"derivative that no line defines",
    ),
    (
        "independent component analysis, twenty-third set",
        (r"""\ell(W) = \log|\det W| - \frac1T\sum_{t=1}^{T}\sum_{k=1}^{n}\log\cosh(w_k^\top x_t)"""),
        ("W: matrix(n, n); X: matrix(T, n)"),
        r"row or column k of W",
    ),
    (
        "quantum thermal state",
        (
            r"""\mathcal{F}(\rho) = \operatorname{Tr}(\rho H) + \frac1\beta\operatorname{Tr}(\rho\log\rho),
        \qquad \rho =
        \frac{e^{-A}}{\operatorname{Tr}e^{-A}}"""
        ),
        ("A: matrix(n, n) symmetric; H: matrix(n, n) symmetric; beta: scalar positive"),
        r"exp or expm",
    ),
]
