r"""The second half of the nineteenth set of passages."""

import numpy as np
from first_day.papers import Passage


def sq(A, B):
    return ((A[:, None, :] - B[None, :, :]) ** 2).sum(-1)


def rot(t):
    return np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])


def mmd(X, Y, sigma):
    k = lambda A, B: np.exp(-sq(A, B) / (2 * sigma**2))  # noqa: E731
    m, n = len(X), len(Y)
    return (k(X, X).sum() - m) / (m * (m - 1)) + (k(Y, Y).sum() - n) / (n * (n - 1)) - 2 * k(X, Y).mean()


def hsic(X, W, Y, sigma):
    n = len(X)
    H = np.eye(n) - 1 / n
    K = np.exp(-sq(X @ W, X @ W) / (2 * sigma**2))
    return np.trace(K @ H @ Y @ Y.T @ H) / (n - 1) ** 2


def lqr(A, B, Q, R, P, x_0, u):
    x, J = x_0, 0.0
    for k in range(len(u)):
        J += x @ Q @ x + u[k] @ R @ u[k]
        x = A @ x + B @ u[k]
    return J + x @ P @ x


def output_error(y, u, a, b):
    h, J = y[0], 0.0
    for t in range(1, len(y)):
        h = a * h + b * u[t - 1]
        J += (y[t] - h) ** 2
    return J / (len(y) - 1)


def pnp(U, P, R, t, f, c):
    q = P @ R.T + t
    return np.sum((U - f * q[:, :2] / q[:, 2:] - c) ** 2)


def icp(P, Q, N, theta, t):
    return sum(((rot(theta) @ P[i] + t - Q[i]) @ N[i]) ** 2 for i in range(len(P)))


def pose_graph(theta, t, z, i, j, Omega):
    e = [rot(theta[i[k]]).T @ (t[j[k]] - t[i[k]]) - z[k] for k in range(len(z))]
    return sum(v @ Omega @ v for v in e)


def mean_field(m, J, h, beta):
    p, q = (1 + m) / 2, (1 - m) / 2
    return -0.5 * m @ J @ m - h @ m + np.sum(p * np.log(p) + q * np.log(q)) / beta


def koopman(x, E, K, C, lam):
    rec = np.sum((x - x @ E.T @ C.T) ** 2)
    return rec + lam * sum(np.sum((x[t + 1] - C @ K @ E @ x[t]) ** 2) for t in range(len(x) - 1))


NINETEENTH_END = [
    Passage(
        "kernel ridge regression, nineteenth set",
        r"""\min_{\alpha\in\mathbb{R}^n}\ \norm{y - K\alpha}_2^2 + \lambda\alpha^\top K\alpha, \qquad
        K_{ij} = (x_i^\top x_j + c)^2""",
        "X: matrix(n, d); y: vector(n); alpha: vector(n); lam: scalar positive; c: scalar positive",
        "alpha",
        lambda X, y, alpha, lam, c: (
            np.sum((y - (X @ X.T + c) ** 2 @ alpha) ** 2) + lam * alpha @ (X @ X.T + c) ** 2 @ alpha
        ),
    ),
    Passage(
        "maximum mean discrepancy, nineteenth set",
        r"""\mathrm{MMD}_u^2 = \frac{1}{m(m-1)}\sum_{i\neq j}^{m} k(x_i, x_j) + \frac{1}{n(n-1)}
        \sum_{i\neq j}^{n} k(y_i, y_j) - \frac{2}{mn}\sum_{i=1}^{m}\sum_{j=1}^{n} k(x_i, y_j), with $k(x, y) =
        \exp\left(
        -\frac{\|x-y\|^2}{2\sigma^2}\right)$.""",
        "X: matrix(m, d); Y: matrix(n, d); sigma: scalar positive",
        "X",
        mmd,
    ),
    Passage(
        "hilbert-schmidt independence criterion",
        r"""\mathrm{HSIC} = \frac{1}{(n-1)^2}\tr(KHLH), \quad H = I - \frac1n\mathbf{1}
        \mathbf{1}^\top, \quad K_{ij} = \exp\left(-\frac{\|W^\top x_i - W^\top x_j\|^2}{2\sigma^2}\right),
        \quad L = YY^\top""",
        "X: matrix(n, d); W: matrix(d, k); Y: matrix(n, c); sigma: scalar positive",
        "W",
        hsic,
    ),
    Passage(
        "entropic optimal transport",
        r"""\max_{\mathbf{f}\in\mathbb{R}^n, \mathbf{g}\in\mathbb{R}^m} \langle\mathbf{f}, \mathbf{a}
        \rangle + \langle\mathbf{g}, \mathbf{b}\rangle - \varepsilon\sum_{i,j}\exp\left(\frac{f_i + g_j -
        C_{ij}}{\varepsilon}\right)""",
        "f: vector(n); g: vector(m); a: vector(n); b: vector(m); C: matrix(n, m); varepsilon: scalar positive",
        "f",
        lambda f, g, a, b, C, varepsilon: (
            f @ a + g @ b - varepsilon * np.sum(np.exp((f[:, None] + g - C) / varepsilon))
        ),
    ),
    Passage(
        "linear quadratic regulator",
        r"""J = x_N^\top P x_N + \sum_{k=0}^{N-1}\left(x_k^\top Q x_k + u_k^\top R u_k\right), \qquad
        x_{k+1} = A x_k + B u_k, \quad k = 0, \dots, N-1.""",
        "A: matrix(n, n); B: matrix(n, m); Q: matrix(n, n) spd; "
        "R: matrix(m, m) spd; P: matrix(n, n) spd; x_0: vector(n); u: matrix(N, m)",
        "u",
        lqr,
    ),
    Passage(
        "output error identification",
        r"""V(a, b) = \frac{1}{T-1}\sum_{t=2}^{T}(y_t - \hat{y}_t)^2, where the simulated output is
        $\hat{y}_t = a\hat{y}_{t-1} + b u_{t-1}$ with $\hat{y}_1 = y_1$.""",
        "y: vector(T); u: vector(T); a: scalar; b: scalar",
        "a",
        output_error,
    ),
    Passage(
        "perspective-n-point",
        r"""E(R, t) = \sum_{i=1}^{n}\left\|u_i - \pi(R p_i + t)\right\|_2^2, where $\pi\left([x, y, z]^\top
        \right) = f\begin{bmatrix} x/z \\ y/z \end{bmatrix} + c$ is the projection with focal length $f$ and
        principal point $c$.""",
        "U: matrix(n, 2); P: matrix(n, 3); R: matrix(3, 3); t: vector(3); f: scalar positive; c: vector(2)",
        "t",
        pnp,
    ),
    Passage(
        "point-to-plane ICP",
        r"""E(\theta, \mathbf{t}) = \sum_{i=1}^{m}\left((\mathbf{R}(\theta)\mathbf{p}_i + \mathbf{t} -
        \mathbf{q}_i)^\top\mathbf{n}_i\right)^2, \qquad \mathbf{R}(\theta) = \begin{bmatrix}\cos\theta &
        -\sin\theta \\ \sin\theta &
        \cos\theta\end{bmatrix}""",
        "P: matrix(m, 2); Q: matrix(m, 2); N: matrix(m, 2); theta: scalar; t: vector(2)",
        "theta",
        icp,
    ),
    Passage(
        "pose graph",
        r"""F(\mathbf{t}, \theta) = \sum_{k=1}^{m}\mathbf{e}_k^\top\boldsymbol\Omega\,\mathbf{e}_k, \qquad
        \mathbf{e}_k =
        R(\theta_{i_k})^\top(\mathbf{t}_{j_k} - \mathbf{t}_{i_k}) - \mathbf{z}_k, where $R(\theta) =
        \begin{pmatrix}\cos\theta &
        -\sin\theta\\ \sin\theta & \cos\theta\end{pmatrix}$.""",
        "theta: vector(n); t: matrix(n, 2); z: matrix(m, 2); i: index(m); j: index(m); Omega: matrix(2, 2) spd",
        "theta",
        pose_graph,
    ),
    Passage(
        "CP decomposition, nineteenth set",
        r"""\min_{A, B, C}\ \frac12\sum_{i=1}^{m}\sum_{j=1}^{n}\sum_{k=1}^{p}\left(x_{ijk} - \sum_{r=1}^{R}
        a_{ir}b_{jr}c_{kr}\right)^2 + \frac{\lambda}{2}\left(\|A\|_F^2 + \|B\|_F^2 + \|C\|_F^2\right)""",
        "X: tensor(m, n, p); A: matrix(m, R); B: matrix(n, R); C: matrix(p, R); lam: scalar positive",
        "B",
        lambda X, A, B, C, lam: (
            0.5 * np.sum((X - np.einsum("ir,jr,kr->ijk", A, B, C)) ** 2)
            + lam / 2 * (np.sum(A**2) + np.sum(B**2) + np.sum(C**2))
        ),
    ),
    Passage(
        "dictionary learning, nineteenth set",
        r"""\min_{D, A}\ \frac{1}{2N}\norm{X - DA}_F^2 + \lambda\sum_{j,k}|A_{jk}| + \frac{\mu}{4}
        \norm{D^\top D - I}_F^2""",
        "X: matrix(d, N); D: matrix(d, K); A: matrix(K, N); lam: scalar positive; mu: scalar positive",
        "D",
        lambda X, D, A, lam, mu: (
            np.sum((X - D @ A) ** 2) / (2 * X.shape[1])
            + lam * np.sum(abs(A))
            + mu / 4 * np.sum((D.T @ D - np.eye(D.shape[1])) ** 2)
        ),
    ),
    Passage(
        "variational ground state energy",
        r"""E[\psi] = \frac{\langle\psi|H|\psi\rangle}{\langle\psi|\psi\rangle}""",
        "H: matrix(n, n) symmetric; psi: vector(n)",
        "psi",
        lambda H, psi: psi @ H @ psi / (psi @ psi),
    ),
    Passage(
        "mean-field Ising",
        r"""F(m) = -\frac12\sum_{i,j} J_{ij}m_i m_j - \sum_i h_i m_i + \frac1\beta\sum_i\left[\frac{1+m_i}{2}
        \log\frac{1+m_i}{2} + \frac{1-m_i}{2}\log\frac{1-m_i}{2}\right]""",
        "m: vector(n) positive; J: matrix(n, n) symmetric; h: vector(n); beta: scalar positive",
        "m",
        mean_field,
        ("m",),
    ),
    Passage(
        "p-Laplace energy",
        r"""J(u) = \frac{h}{p}\sum_{i=1}^{N-1}\left|\frac{u_{i+1} - u_i}{h}\right|^p - h\sum_{i=1}^{N} f_i u_i""",
        "u: vector(N); f: vector(N); h: scalar positive; p: scalar positive",
        "u",
        lambda u, f, h, p: h / p * np.sum(abs(np.diff(u) / h) ** p) - h * f @ u,
    ),
    Passage(
        "Ginzburg-Landau energy",
        r"""$$E(u) = h\sum_{i=1}^{N}\left[\frac{\epsilon^2}{2}\left(\frac{u_{i+1} - u_i}{h}\right)^2 +
        \frac14(1 - u_i^2)^2\right]$$ with periodic boundary condition $u_{N+1} = u_1$.""",
        "u: vector(N); h: scalar positive; epsilon: scalar positive",
        "u",
        lambda u, h, epsilon: h * np.sum(epsilon**2 / 2 * ((np.roll(u, -1) - u) / h) ** 2 + (1 - u**2) ** 2 / 4),
    ),
    Passage(
        "interior point barrier",
        r"""\phi_t(x) = t\left(\tfrac12 x^\top Q x + c^\top x\right) - \sum_{i=1}^{n}\log x_i -
        \sum_{i=1}^{n}\log(1 - x_i)""",
        "x: vector(n) positive; Q: matrix(n, n) symmetric; c: vector(n); t: scalar positive",
        "x",
        lambda x, Q, c, t: t * (0.5 * x @ Q @ x + c @ x) - np.sum(np.log(x)) - np.sum(np.log(1 - x)),
        ("x",),
    ),
    Passage(
        "Koopman autoencoder",
        r"""\mathcal{L}(E, K, C) = \sum_{t=1}^{T}\norm{\mathbf{x}_t - C E\mathbf{x}_t}_2^2 + \lambda
        \sum_{t=1}^{T-1}\norm{\mathbf{x}_{t+1} - C K E\mathbf{x}_t}_2^2""",
        "x: matrix(T, d); E: matrix(k, d); K: matrix(k, k); C: matrix(d, k); lam: scalar positive",
        "E",
        koopman,
    ),
    Passage(
        "Horn-Schunck optical flow, nineteenth set",
        r"""\min_{U, V}\ \|I_x\odot U + I_y\odot V + I_t\|_F^2 + \alpha^2\left(\|DU\|_F^2 +
        \|UB\|_F^2 + \|DV\|_F^2 + \|VB\|_F^2\right), where $D$ and $B$ are the difference operators along
        columns and rows.""",
        "I_x: matrix(m, n); I_y: matrix(m, n); I_t: matrix(m, n); U: matrix(m, n); V: matrix(m, n); D: matrix(p, m); "
        "B: matrix(n, q); alpha: scalar positive",
        "U",
        lambda I_x, I_y, I_t, U, V, D, B, alpha: (
            np.sum((I_x * U + I_y * V + I_t) ** 2) + alpha**2 * sum(np.sum(Z**2) for Z in (D @ U, U @ B, D @ V, V @ B))
        ),
    ),
]

NINETEENTH_REFUSED = [
    (
        "graph convolutional network, nineteenth set",
        (
            r"""\begin{align} Z &= \operatorname{softmax}\left(\hat{A}\,\operatorname{ReLU}\left(
        \hat{A} X W_0\right) W_1\right), \\ \mathcal{L} &= -\sum_{i=1}^{N}\sum_{f=1}^{F} Y_{if}\ln Z_{if}
        \end{align} with $\hat{A} =
        \tilde{D}^{-\frac12}\tilde{A}\tilde{D}^{-\frac12}$, $\tilde{A} = A + I_N$ and $\tilde{D}_{ii} =
        \sum_j\tilde{A}_{ij}$."""
        ),
        ("A: matrix(N, N) symmetric positive; X: matrix(N, C); W_0: matrix(C, H); W_1: matrix(H, F); Y: matrix(N, F)"),
        r"'softmax' of a matrix needs its axis",
    ),
    (
        "soft actor-critic",
        (
            r"""\begin{aligned} J_\pi &= \frac1N\sum_{i=1}^{N}\left[\alpha\log\pi(a_i \mid s_i) - Q(s_i, a_i)
        \right], \qquad a_i = \mu_i + \sigma\odot\xi_i, \quad \mu_i = K s_i, \\ \log\pi(a_i \mid s_i) &=
        -\frac12\sum_{j=1}^{m}\left(
        \frac{(a_{ij} - \mu_{ij})^2}{\sigma_j^2} + 2\log\sigma_j + \log 2\pi\right), \\ Q(s, a) &= -\tfrac12 (a
        - Ms)^\top P (a - Ms)
        \end{aligned}"""
        ),
        (
            "s: matrix(N, n); K: matrix(m, n); sigma: vector(m) positive; xi: matrix(N, m); M: matrix(m, n); "
            "P: matrix(m, m) spd; alpha: scalar positive"
        ),
        r"defined by each other",
    ),
]
