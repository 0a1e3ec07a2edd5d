r"""The second half of the twenty-first set of passages."""

import numpy as np
from first_day.papers import Passage
from scipy.special import logsumexp


def relu(t):
    return np.maximum(t, 0)


def sq(A, B):
    return ((A[:, None, :] - B[None, :, :]) ** 2).sum(-1)


def gae(s, r, w, gamma, lam):
    T = len(s)
    d = [r[t] + gamma * w @ s[t + 1] - w @ s[t] for t in range(T - 1)]
    A = [sum((gamma * lam) ** k * d[t + k] for k in range(T - 1 - t)) for t in range(T - 1)]
    return np.sum(np.square(A)) / (2 * (T - 1))


def loo(X, y, sigma, ell, sigma_n):
    r = np.sqrt(sq(X, X))
    K = sigma**2 * (1 + np.sqrt(3) * r / ell) * np.exp(-np.sqrt(3) * r / ell)
    M = np.linalg.inv(K + sigma_n**2 * np.eye(len(y)))
    m, s2 = y - M @ y / np.diag(M), 1 / np.diag(M)
    return np.sum(-0.5 * np.log(s2) - (y - m) ** 2 / (2 * s2) - 0.5 * np.log(2 * np.pi))


def coregion(Y, K, W, kappa, sigma):
    S = np.kron(W @ W.T + np.diag(kappa), K) + sigma**2 * np.eye(Y.size)
    v = Y.T.ravel()
    return 0.5 * v @ np.linalg.solve(S, v) + 0.5 * np.linalg.slogdet(S)[1]


def dcca(X, Y, U, V, r):
    def isqrt(S):
        e, Q = np.linalg.eigh(S)
        return Q @ np.diag(e**-0.5) @ Q.T

    n = len(X)
    A, B = np.tanh(X @ U), np.tanh(Y @ V)
    A, B = A - A.mean(0), B - B.mean(0)
    S, T = A.T @ A / (n - 1) + r * np.eye(A.shape[1]), B.T @ B / (n - 1) + r * np.eye(B.shape[1])
    return -np.sum((isqrt(S) @ (A.T @ B / (n - 1)) @ isqrt(T)) ** 2)


def sinusoids(y, a, d, omega, phi):
    r = [
        y[t - 1] - sum(a[k] * np.exp(-d[k] * t) * np.cos(omega[k] * t + phi[k]) for k in range(len(a)))
        for t in range(1, len(y) + 1)
    ]
    return np.dot(r, r) / len(y)


def ssim(x, y, C_1, C_2):
    N = len(x)
    a, b = x.mean(), y.mean()
    v, w, c = np.sum((x - a) ** 2) / (N - 1), np.sum((y - b) ** 2) / (N - 1), np.sum((x - a) * (y - b)) / (N - 1)
    return (2 * a * b + C_1) * (2 * c + C_2) / ((a**2 + b**2 + C_1) * (v + w + C_2))


def neo_hooke(F, mu, lam):
    C = F.T @ F
    s = np.log(np.linalg.det(C))
    return mu / 2 * (np.trace(C) - 3 - s) + lam / 8 * s**2


def hartree_fock(C, h, V):
    P = 2 * C @ C.T
    return np.sum(P * h) + 0.5 * np.einsum("pq,rs,pqrs->", P, P, V) - 0.25 * np.einsum("pq,rs,prqs->", P, P, V)


def chomp(q, o, r, lam, epsilon):
    J = 0.5 * np.sum(np.diff(q, axis=0) ** 2)
    for t in range(len(q)):
        for k in range(len(o)):
            d = np.linalg.norm(q[t] - o[k]) - r[k]
            J += lam * (-d + epsilon / 2 if d < 0 else (d - epsilon) ** 2 / (2 * epsilon) if d <= epsilon else 0.0)
    return J


def distillation(z, v, y, alpha, T):
    def softmax(a):
        return np.exp(a) / np.exp(a).sum(axis=1, keepdims=True)

    total = 0.0
    for i in range(len(y)):
        total -= (1 - alpha) * np.log(softmax(z)[i, y[i]])
        for p, q in zip(softmax(z / T)[i], softmax(v / T)[i], strict=True):
            total += alpha * T**2 * q * np.log(q / p)
    return total / len(y)


def kalman(y, A, C, Q, R):
    x, P, J = np.zeros(len(A)), Q, 0.0
    for t in range(len(y)):
        e, S = y[t] - C @ x, C @ P @ C.T + R
        K = A @ P @ C.T @ np.linalg.inv(S)
        J += 0.5 * (np.linalg.slogdet(S)[1] + e @ np.linalg.solve(S, e))
        x, P = A @ x + K @ e, A @ P @ A.T + Q - K @ S @ K.T
    return J


TWENTY_FIRST_END = [
    Passage(
        "maximum entropy inverse RL",
        r"""\mathcal{L}(\theta) = \frac1N\sum_{i=1}^{N}\theta^\top\mathbf{f}_i - \log\sum_{j=1}^{M}\exp(
        \theta^\top\mathbf{g}_j) - \frac{\lambda}{2}\|\theta\|^2""",
        "theta: vector(d); F: matrix(N, d); G: matrix(M, d); lam: scalar positive",
        "theta",
        lambda theta, F, G, lam: np.mean(F @ theta) - logsumexp(G @ theta) - lam / 2 * theta @ theta,
    ),
    Passage(
        "generalized advantage estimation",
        r"""L(w) = \frac{1}{2(T-1)}\sum_{t=1}^{T-1}\hat{A}_t^2, \qquad \hat{A}_t =
        \sum_{l=0}^{T-1-t}(\gamma\lambda)^l\delta_{t+l}, \qquad \delta_t = r_t + \gamma w^\top s_{t+1} - w^\top s_t""",
        "s: matrix(T, d); r: vector(T); w: vector(d); gamma: scalar positive; lam: scalar positive",
        "w",
        gae,
    ),
    Passage(
        "leave-one-out Gaussian process",
        r"""\begin{aligned} L_{\mathrm{LOO}} &= \sum_{i=1}^{n}\left(-\frac12\log\sigma_i^2 -
        \frac{(y_i - \mu_i)^2}{2\sigma_i^2} - \frac12\log 2\pi\right), \\ \mu_i &= y_i -
        \frac{[K^{-1}\mathbf{y}]_i}{[K^{-1}]_{ii}}, \qquad
        \sigma_i^2 = \frac{1}{[K^{-1}]_{ii}}, \end{aligned} where $K_{ij} = \sigma^2\left(1 + \frac{\sqrt3
        r_{ij}}{\ell}\right)\exp\left(
        -\frac{\sqrt3 r_{ij}}{\ell}\right) + \sigma_n^2\delta_{ij}$ is the Mat\'ern kernel with $r_{ij} =
        \|\mathbf{x}_i -
        \mathbf{x}_j\|_2$.""",
        "X: matrix(n, d); y: vector(n); sigma: scalar positive; ell: scalar positive; sigma_n: scalar positive",
        "ell",
        loo,
    ),
    Passage(
        "multi-task Gaussian process",
        r"""\mathcal{L} = \frac12\operatorname{vec}(Y)^\top\Sigma^{-1}\operatorname{vec}(Y) + \frac12
        \log\det\Sigma, \quad \Sigma = B\otimes K + \sigma^2 I, \quad B = WW^\top +
        \operatorname{diag}(\boldsymbol\kappa)""",
        "Y: matrix(n, p); K: matrix(n, n) spd; W: matrix(p, q); kappa: vector(p) positive; sigma: scalar positive",
        "W",
        coregion,
    ),
    Passage(
        "deep CCA",
        r"""\min_{U, V}\ -\left\|\Sigma_{11}^{-1/2}\Sigma_{12}\Sigma_{22}^{-1/2}\right\|_F^2, where $\Sigma_{11} =
        \frac{1}{n-1}\bar{F}^\top\bar{F} + rI$, $\Sigma_{12} = \frac{1}{n-1}\bar{F}^\top\bar{G}$, $\Sigma_{22}
        = \frac{1}{n-1}\bar{G}^\top
        \bar{G} + rI$, $\bar{F} = F - \frac1n\mathbf{1}\mathbf{1}^\top F$, $\bar{G} = G -
        \frac1n\mathbf{1}\mathbf{1}^\top G$, $F =
        \tanh(XU)$ and $G = \tanh(YV)$.""",
        "X: matrix(n, p); Y: matrix(n, q); U: matrix(p, k); V: matrix(q, l); r: scalar positive",
        "U",
        dcca,
    ),
    Passage(
        "nuclear norm matrix completion",
        r"""\min_{X\in\mathbb{R}^{m\times n}}\ \frac12\norm{\mathcal{P}_\Omega(X - M)}_F^2 + \lambda
        \norm{X}_*, where $\mathcal{P}_\Omega(Z) = W\odot Z$.""",
        "X: matrix(m, n); M: matrix(m, n); W: matrix(m, n); lam: scalar positive",
        "X",
        lambda X, M, W, lam: 0.5 * np.sum((W * (X - M)) ** 2) + lam * np.linalg.svd(X)[1].sum(),
    ),
    Passage(
        "nonnegative matrix factorization",
        r"""D(V\|WH) = \sum_{i,j}\left(V_{ij}\log\frac{V_{ij}}{(WH)_{ij}} - V_{ij} + (WH)_{ij}
        \right)""",
        "V: matrix(m, n) positive; W: matrix(m, k) positive; H: matrix(k, n) positive",
        "H",
        lambda V, W, H: np.sum(V * np.log(V / (W @ H)) - V + W @ H),
    ),
    Passage(
        "amplitude flow",
        r"""\min_{x}\ \ell(x) = \frac{1}{2m}\sum_{i=1}^{m}\left(\sqrt{y_i} - |a_i^\top x|\right)^2""",
        "A: matrix(m, n); x: vector(n); y: vector(m) positive",
        "x",
        lambda A, x, y: np.mean((np.sqrt(y) - abs(A @ x)) ** 2) / 2,
    ),
    Passage(
        "damped sinusoids",
        r"""\frac1T\sum_{t=1}^{T}\left(y_t - \sum_{k=1}^{K} a_k e^{-d_k t}\cos(\omega_k t + \phi_k)\right)^2""",
        "y: vector(T); a: vector(K); d: vector(K) positive; omega: vector(K); phi: vector(K)",
        "omega",
        sinusoids,
    ),
    Passage(
        "compressed sensing, twenty-first set",
        r"""\hat{x} = \arg\min_x\ \frac12\|Ax - b\|_2^2 + \lambda\sum_{k=1}^{p}\sqrt{(\Psi x)_k^2 + \mu^2}""",
        "A: matrix(m, n); x: vector(n); b: vector(m); Psi: matrix(p, n); lam: scalar positive; mu: scalar positive",
        "x",
        lambda A, x, b, Psi, lam, mu: 0.5 * np.sum((A @ x - b) ** 2) + lam * np.sum(np.sqrt((Psi @ x) ** 2 + mu**2)),
    ),
    Passage(
        "lens distortion calibration",
        r"""\min\ \sum_{i=1}^{n}\left\|\mathbf{u}_i - f(1 + k_1 r_i^2 + k_2 r_i^4)\mathbf{p}_i -
        \mathbf{c}\right\|^2, \qquad r_i = \|\mathbf{p}_i\|""",
        "u: matrix(n, 2); p: matrix(n, 2); f: scalar positive; k_1: scalar; k_2: scalar; c: vector(2)",
        "k_1",
        lambda u, p, f, k_1, k_2, c: sum(
            np.sum((a - f * (1 + k_1 * (q @ q) + k_2 * (q @ q) ** 2) * q - c) ** 2) for a, q in zip(u, p, strict=True)
        ),
    ),
    Passage(
        "photometric stereo",
        r"""E(N, \rho) = \sum_{i=1}^{m}\sum_{j=1}^{p}\left(I_{ij} - \rho_i\max(0, \mathbf{n}_i^\top\mathbf{l}_j)
        \right)^2 + \lambda\sum_{i=1}^{m}\left(\|\mathbf{n}_i\|_2^2 - 1\right)^2""",
        "I: matrix(m, p); rho: vector(m); N: matrix(m, 3); L: matrix(p, 3); lam: scalar positive",
        "N",
        lambda I, rho, N, L, lam: (  # noqa: E741
            np.sum((I - rho[:, None] * relu(N @ L.T)) ** 2) + lam * np.sum((np.sum(N**2, 1) - 1) ** 2)
        ),
    ),
    Passage(
        "structural similarity, twenty-first set",
        r"""\mathrm{SSIM}(x, y) = \frac{(2\mu_x\mu_y + C_1)(2\sigma_{xy} + C_2)}{(\mu_x^2 + \mu_y^2 + C_1)(
        \sigma_x^2 + \sigma_y^2 + C_2)} where $\mu_x = \frac1N\sum_{i=1}^{N} x_i$, $\mu_y =
        \frac1N\sum_{i=1}^{N} y_i$, $\sigma_x^2 =
        \frac{1}{N-1}\sum_{i=1}^{N}(x_i - \mu_x)^2$, $\sigma_y^2 = \frac{1}{N-1}\sum_{i=1}^{N}(y_i - \mu_y)^2$
        and $\sigma_{xy} =
        \frac{1}{N-1}\sum_{i=1}^{N}(x_i - \mu_x)(y_i - \mu_y)$.""",
        "x: vector(N); y: vector(N); C_1: scalar positive; C_2: scalar positive",
        "x",
        ssim,
    ),
    Passage(
        "neo-Hookean energy",
        r"""$$W(\mathbf{F}) = \frac{\mu}{2}\left(\operatorname{tr}\mathbf{C} - 3 - \ln\det\mathbf{C}\right) +
        \frac{\lambda}{8}\left(\ln\det\mathbf{C}\right)^2, \qquad \mathbf{C} = \mathbf{F}^\top\mathbf{F}$$""",
        "F: matrix(3, 3); mu: scalar positive; lam: scalar positive",
        "F",
        neo_hooke,
    ),
    Passage(
        "tensor train",
        r"""\min_{A, \mathcal{G}, B}\ \frac12\sum_{i,j,k}\left(\mathcal{X}_{ijk} - \sum_{\alpha=1}^{r}\sum_{\beta=1}^{q}
        A_{i\alpha}\mathcal{G}_{\alpha j\beta}B_{\beta k}\right)^2""",
        "X: tensor(m, n, p); A: matrix(m, r); G: tensor(r, n, q); B: matrix(q, p)",
        "A",
        lambda X, A, G, B: 0.5 * np.sum((X - np.einsum("ia,ajb,bk->ijk", A, G, B)) ** 2),
    ),
    Passage(
        "Hartree-Fock",
        r"""E = \sum_{p,q} P_{pq}h_{pq} + \frac12\sum_{p,q,r,s} P_{pq}P_{rs}\left(V_{pqrs} - \frac12 V_{prqs}\right),
        \qquad P_{pq} = 2\sum_{a=1}^{k} C_{pa}C_{qa}""",
        "C: matrix(n, k); h: matrix(n, n) symmetric; V: tensor(n, n, n, n)",
        "C",
        hartree_fock,
    ),
    Passage(
        "trajectory optimization with obstacles",
        r"""\mathcal{U}(q) = \frac12\sum_{t=1}^{T-1}\|q_{t+1} - q_t\|^2 + \lambda\sum_{t=1}^{T}
        \sum_{k=1}^{K} c\left(\|q_t - o_k\| - r_k\right), where $$c(d) = \begin{cases} -d + \frac12\epsilon &
        \text{if } d < 0 \\
        \frac{1}{2\epsilon}(d - \epsilon)^2 & \text{if } 0\le d\le\epsilon \\ 0 & \text{otherwise.} \end{cases}$$""",
        "q: matrix(T, p); o: matrix(K, p); r: vector(K) positive; lam: scalar positive; epsilon: scalar positive",
        "q",
        chomp,
    ),
    Passage(
        "prediction error likelihood of a state space model",
        r"""\begin{aligned} J &= \frac12\sum_{t=1}^{T}\left(\log\det S_t +
        e_t^\top S_t^{-1}e_t\right), \\ e_t &= y_t - C\hat{x}_t, \quad S_t = C P_t C^\top + R, \quad K_t = A
        P_t C^\top S_t^{-1}, \\
        \hat{x}_{t+1} &= A\hat{x}_t + K_t e_t, \quad P_{t+1} = A P_t A^\top + Q - K_t S_t K_t^\top
        \end{aligned} with $\hat{x}_1 = 0$ and
        $P_1 = Q$.""",
        "y: matrix(T, p); A: matrix(n, n); C: matrix(p, n); Q: matrix(n, n) spd; R: matrix(p, p) spd",
        "A",
        kalman,
    ),
    Passage(
        "knowledge distillation, twenty-first set",
        (
            r"""\mathcal{L}_{KD} = \frac1N\sum_{i=1}^{N}\left[-(1-\alpha)\log p_{i,y_i}(1) + \alpha T^2
        \sum_{k=1}^{K} q_{i,k}(T)\log\frac{q_{i,k}(T)}{p_{i,k}(T)}\right], where $p_{i,k}(T) =
        \frac{\exp(z_{ik}/T)}{\sum_{j=1}^{K}
        \exp(z_{ij}/T)}$ and $q_{i,k}(T) = \frac{\exp(v_{ik}/T)}{\sum_{j=1}^{K}\exp(v_{ij}/T)}$."""
        ),
        "z: matrix(N, K); v: matrix(N, K); y: index(N); alpha: scalar; T: scalar positive",
        "z",
        distillation,
    ),
]

TWENTY_FIRST_REFUSED = [
    (
        "SimCLR",
        (
            r"""$$\mathcal{L} = -\frac{1}{M}\sum_{i=1}^{M}\log\frac{\exp(\mathrm{sim}(\boldsymbol{z}_i,
        \boldsymbol{z}_{p_i})/
        \tau)}{\sum_{k=1}^{M}\mathbb{1}_{[k\neq i]}\exp(\mathrm{sim}(\boldsymbol{z}_i,
        \boldsymbol{z}_k)/\tau)}$$ where $\mathrm{sim}(
        \boldsymbol{u}, \boldsymbol{v}) =
        \boldsymbol{u}^\top\boldsymbol{v}/\|\boldsymbol{u}\|\|\boldsymbol{v}\|$ and $p_i$
        is the other
        view of $i$."""
        ),
        ("Z: matrix(M, d); p: index(M); tau: scalar positive"),
        r"a / b c can be read in two ways",
    ),
    (
        "linear-chain CRF",
        (
            r"""\log p(y \mid x) = \sum_{t=1}^{T} u_{t,y_t} + \sum_{t=2}^{T} A_{y_{t-1},y_t} - \log\sum_{j=1}^{K}
        \alpha_{T,j}, \qquad \mathbf{u}_t = W\mathbf{x}_t, with the forward recursion $\alpha_{t,j} =
        \exp(u_{t,j})\sum_{i=1}^{K}
        \alpha_{t-1,i}\exp(A_{ij})$ and $\alpha_{1,j} = \exp(u_{1,j})$."""
        ),
        ("W: matrix(K, d); x: matrix(T, d); A: matrix(K, K); y: index(T)"),
        r"u has a subscript but is not declared",
    ),
    (
        "expected improvement, twenty-first set",
        (
            r"""\mathrm{EI}(x) = (\mu(x) - f^+)\Phi(u) + \sigma(x)\phi(u), \quad u = \frac{\mu(x) - f^+}{
        \sigma(x)}, where $\Phi$ and $\phi$ are the standard normal cdf and pdf, $f^+ = \max_i y_i$, $\mu(x) =
        k(x)^\top K^{-1} y$ and
        $\sigma^2(x) = 1 - k(x)^\top K^{-1}k(x)$ with $k_i(x) = \exp(-\|x - z_i\|^2/2\ell^2)$ and $K_{ij} =
        \exp(-\|z_i - z_j\|^2/2
        \ell^2) + \sigma_n^2\delta_{ij}$."""
        ),
        ("x: vector(d); Z: matrix(n, d); y: vector(n); ell: scalar positive; sigma_n: scalar positive"),
        r"a / b c can be read in two ways",
    ),
]
