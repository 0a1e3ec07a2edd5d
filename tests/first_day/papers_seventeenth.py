r"""The seventeenth set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


def tobit(X, y, beta, sigma):
    total = 0.0
    for i in range(len(y)):
        m = X[i] @ beta
        if y[i] > 0:
            total += np.log(np.exp(-(((y[i] - m) / sigma) ** 2) / 2) / np.sqrt(2 * np.pi) / sigma)
        else:
            total += special.log_ndtr(-m / sigma)
    return total


def expectile(X, y, beta, tau):
    total = 0.0
    for i in range(len(y)):
        r = y[i] - X[i] @ beta
        total += abs(tau - (1.0 if r < 0 else 0.0)) * r**2
    return total / len(y)


def rnn(X, Y, W, U, b, V, c):
    T = len(X)
    h = np.zeros(len(b))
    total = 0.0
    for t in range(T):
        h = np.tanh(W @ X[t] + U @ h + b)
        total += np.sum((V @ h + c - Y[t]) ** 2)
    return total / T


def causal_attention(Q, K, V, Y, m, d):
    total = 0.0
    for i in range(len(Q)):
        s = np.array([Q[i] @ K[j] / np.sqrt(d) - m * (i - j) for j in range(i + 1)])
        a = np.exp(s) / np.exp(s).sum()
        o = sum(a[j] * V[j] for j in range(i + 1))
        total += np.sum((o - Y[i]) ** 2)
    return total


def vicreg(Z, V, lam, mu, nu, gamma, epsilon):
    n, d = Z.shape
    zbar = Z.mean(axis=0)
    C = sum(np.outer(Z[i] - zbar, Z[i] - zbar) for i in range(n)) / (n - 1)
    total = lam / n * np.sum((Z - V) ** 2)
    for j in range(d):
        total += mu / d * max(0.0, gamma - np.sqrt(C[j, j] + epsilon))
        for k in range(d):
            if j != k:
                total += nu / d * C[j, k] ** 2
    return total


def hinge_gan(X, Z, A, b, w, B):
    def D(x):
        return w @ np.maximum(A @ x + b, 0)

    total = 0.0
    for i in range(len(X)):
        total += max(0.0, 1 - D(X[i])) / len(X)
    for j in range(len(Z)):
        total += max(0.0, 1 + D(B @ Z[j])) / len(Z)
    return total


def cql(S, Y, r, v, Theta, alpha, gamma):
    n = len(S)
    total = 0.0
    for i in range(n):
        q = Theta @ S[i]
        total += alpha / n * (np.log(np.sum(np.exp(q))) - Y[i] @ q)
        total += (Y[i] @ q - r[i] - gamma * v[i]) ** 2 / (2 * n)
    return total


def itakura_saito(V, W, H, lam):
    M = W @ H
    total = 0.0
    for f in range(V.shape[0]):
        for n in range(V.shape[1]):
            total += V[f, n] / M[f, n] - np.log(V[f, n] / M[f, n]) - 1
    return total + lam * np.sum(H)


def factorisation_machine(X, y, w_0, w, V):
    total = 0.0
    for m in range(len(y)):
        x = X[m]
        s = w_0 + w @ x
        for i in range(len(w)):
            for j in range(i + 1, len(w)):
                s += V[i] @ V[j] * x[i] * x[j]
        total += (y[m] - s) ** 2
    return total / len(y)


def mmd(X, Y, sigma):
    def k(x, y):
        return np.exp(-np.sum((x - y) ** 2) / (2 * sigma**2))

    m, n = len(X), len(Y)
    total = sum(k(a, b) for a in X for b in X) / m**2
    total -= 2 * sum(k(a, b) for a in X for b in Y) / (m * n)
    return total + sum(k(a, b) for a in Y for b in Y) / n**2


def gp_classification(f, y, K):
    n = len(y)
    total = sum(np.log(sigmoid(y[i] * f[i])) for i in range(n))
    total -= 0.5 * f @ np.linalg.solve(K, f) + 0.5 * np.log(np.linalg.det(K))
    return total - n / 2 * np.log(2 * np.pi)


def plsa(N, Theta, Phi):
    total = 0.0
    for d in range(N.shape[0]):
        for v in range(N.shape[1]):
            total += N[d, v] * np.log(sum(Theta[d, k] * Phi[k, v] for k in range(len(Phi))))
    return total


def lognormal_aft(X, t, delta, beta, sigma):
    total = 0.0
    for i in range(len(t)):
        z = (np.log(t[i]) - X[i] @ beta) / sigma
        total += delta[i] * (-0.5 * np.log(2 * np.pi) - z**2 / 2 - np.log(sigma) - np.log(t[i]))
        total += (1 - delta[i]) * special.log_ndtr(-z)
    return total


def thurstone(N, mu):
    total = 0.0
    for i in range(len(mu)):
        for j in range(len(mu)):
            if i != j:
                total += N[i, j] * special.log_ndtr(mu[i] - mu[j])
    return total


def black_litterman(Sigma, tau, P, Omega, q, m):
    S = np.linalg.inv(tau * Sigma)
    O = np.linalg.inv(Omega)  # noqa: E741
    return np.linalg.inv(S + P.T @ O @ P) @ (S @ m + P.T @ O @ q)


SEVENTEENTH = [
    Passage(
        "Tobit model",
        r"""\begin{equation}
        \ell(\beta, \sigma) = \sum_{i : y_i > 0} \log\left\{ \frac{1}{\sigma}
        \phi\left( \frac{y_i - x_i^\top\beta}{\sigma} \right) \right\}
        + \sum_{i : y_i \leq 0} \log\left\{ 1 - \Phi\left( \frac{x_i^\top\beta}{\sigma} \right) \right\},
        \end{equation}
        where $\phi(t) = \frac{1}{\sqrt{2\pi}} e^{-t^2/2}$ and $\Phi$ are the density and the distribution function of
        the standard normal distribution.""",
        "X: matrix(n, p); y: vector(n); beta: vector(p); sigma: scalar positive",
        "beta",
        tobit,
    ),
    Passage(
        "expectile regression",
        r"""\hat\beta_\tau = \arg\min_{\beta} \frac{1}{n} \sum_{i=1}^{n} \left| \tau - \mathbb{1}\{r_i < 0\} \right|
        r_i^2, \quad \text{with } r_i = y_i - x_i^\top\beta""",
        "X: matrix(n, p); y: vector(n); beta: vector(p); tau: scalar",
        "beta",
        expectile,
        ("tau",),
    ),
    Passage(
        "multi-task lasso",
        r"""\min_{B \in \mathbb{R}^{p \times q}} \; \frac{1}{2n} \|Y - XB\|_F^2 + \lambda \sum_{j=1}^{p} \|b_j\|_2,
        where $b_j$ is the $j$-th row of $B$.""",
        "X: matrix(n, p); Y: matrix(n, q); B: matrix(p, q); lam: scalar positive",
        "B",
        lambda X, Y, B, lam: (
            np.sum((Y - X @ B) ** 2) / (2 * len(X)) + lam * sum(np.linalg.norm(B[j]) for j in range(len(B)))
        ),
    ),
    Passage(
        "Elman network unrolled in time",
        r"""\mathcal{L} = \frac{1}{T} \sum_{t=1}^{T} \lVert \hat{y}_t - y_t \rVert_2^2, \qquad
        \begin{aligned} h_t &= \tanh(W x_t + U h_{t-1} + b), \\ \hat{y}_t &= V h_t + c, \end{aligned}
        \qquad h_0 = 0""",
        "X: matrix(T, d); Y: matrix(T, m); W: matrix(k, d); U: matrix(k, k); b: vector(k); V: matrix(m, k); "
        "c: vector(m)",
        "U",
        rnn,
    ),
    Passage(
        "causal attention with linear biases",
        r"""\mathcal{L} = \sum_{i=1}^{n} \Big\| \sum_{j=1}^{i} a_{ij} v_j - y_i \Big\|^2, \qquad
        a_{ij} = \frac{\exp(s_{ij})}{\sum_{l=1}^{i} \exp(s_{il})}, \qquad
        s_{ij} = \frac{q_i^\top k_j}{\sqrt{d}} - m (i - j)""",
        "Q: matrix(n, k); K: matrix(n, k); V: matrix(n, p); Y: matrix(n, p); m: scalar positive; d: scalar positive",
        "Q",
        causal_attention,
    ),
    Passage(
        "VICReg, one branch",
        r"""\begin{aligned}
        \ell &= \frac{\lambda}{n} \sum_{i=1}^{n} \|z_i - v_i\|_2^2
        + \frac{\mu}{d} \sum_{j=1}^{d} \max\left(0, \gamma - \sqrt{C_{jj} + \epsilon}\right)
        + \frac{\nu}{d} \sum_{i \neq j} C_{ij}^2, \\
        C &= \frac{1}{n-1} \sum_{i=1}^{n} (z_i - \bar{z})(z_i - \bar{z})^\top, \qquad
        \bar{z} = \frac{1}{n} \sum_{i=1}^{n} z_i
        \end{aligned}""",
        "Z: matrix(n, d); V: matrix(n, d); lam: scalar positive; mu: scalar positive; nu: scalar positive; "
        "gamma: scalar positive; epsilon: scalar positive",
        "Z",
        vicreg,
    ),
    Passage(
        "hinge loss of a discriminator",
        r"""L_D = \frac{1}{n} \sum_{i=1}^{n} \max(0, 1 - D(x_i)) + \frac{1}{m} \sum_{j=1}^{m} \max(0, 1 + D(G(z_j))),
        where $D(x) = w^\top \operatorname{ReLU}(A x + b)$ and $G(z) = B z$.""",
        "X: matrix(n, d); Z: matrix(m, k); A: matrix(h, d); b: vector(h); w: vector(h); B: matrix(d, k)",
        "A",
        hinge_gan,
    ),
    Passage(
        "conservative Q-learning",
        r"""\[
        \frac{\alpha}{n} \sum_{i=1}^{n} \left( \log \sum_{a=1}^{K} \exp Q(s_i, a) - \sum_{a=1}^{K} y_{ia} Q(s_i, a)
        \right)
        + \frac{1}{2n} \sum_{i=1}^{n} \left( \sum_{a=1}^{K} y_{ia} Q(s_i, a) - r_i - \gamma v_i \right)^2
        \]
        where $Q(s, a) = \theta_a^\top s$, $y_{ia}$ indicates the action taken and $v_i$ is the value of the target
        network.""",
        "S: matrix(n, d); Y: matrix(n, K); r: vector(n); v: vector(n); theta: matrix(K, d); alpha: scalar positive; "
        "gamma: scalar positive",
        "theta",
        lambda S, Y, r, v, theta, alpha, gamma: cql(S, Y, r, v, theta, alpha, gamma),
    ),
    Passage(
        "non-negative matrix factorisation, Itakura-Saito",
        r"""\min_{W, H \geq 0} \sum_{f=1}^{F} \sum_{n=1}^{N} \left( \frac{v_{fn}}{[WH]_{fn}}
        - \log \frac{v_{fn}}{[WH]_{fn}} - 1 \right) + \lambda \sum_{k=1}^{K} \sum_{n=1}^{N} h_{kn}""",
        "V: matrix(F, N) positive; W: matrix(F, K) positive; H: matrix(K, N) positive; lam: scalar positive",
        "H",
        itakura_saito,
    ),
    Passage(
        "factorisation machine",
        r"""\frac{1}{m} \sum_{l=1}^{m} \left( y_l - \hat{y}(x_l) \right)^2, \qquad
        \hat{y}(x) = w_0 + \sum_{i=1}^{p} w_i x_i + \sum_{i=1}^{p} \sum_{j=i+1}^{p} \langle v_i, v_j \rangle x_i x_j""",
        "X: matrix(m, p); y: vector(m); w_0: scalar; w: vector(p); V: matrix(p, k)",
        "V",
        factorisation_machine,
    ),
    Passage(
        "maximum mean discrepancy, another one",
        r"""\widehat{\mathrm{MMD}}^2 = \frac{1}{m^2} \sum_{i=1}^{m} \sum_{j=1}^{m} k(x_i, x_j)
        - \frac{2}{mn} \sum_{i=1}^{m} \sum_{j=1}^{n} k(x_i, y_j)
        + \frac{1}{n^2} \sum_{i=1}^{n} \sum_{j=1}^{n} k(y_i, y_j), \quad
        k(x, y) = \exp\left( -\frac{\|x - y\|^2}{2\sigma^2} \right)""",
        "X: matrix(m, d); Y: matrix(n, d); sigma: scalar positive",
        "X",
        mmd,
    ),
    Passage(
        "Gaussian process classification, Laplace",
        r"""\Psi(\mathbf{f}) = \sum_{i=1}^{n} \log\sigma(y_i f_i) - \frac{1}{2} \mathbf{f}^\top K^{-1} \mathbf{f}
        - \frac{1}{2} \log|K| - \frac{n}{2} \log 2\pi""",
        "f: vector(n); y: vector(n); K: matrix(n, n) spd",
        "f",
        gp_classification,
    ),
    Passage(
        "probabilistic latent semantic analysis",
        r"\mathcal{L} = \sum_{d=1}^{D} \sum_{v=1}^{V} n_{dv} \log \sum_{k=1}^{K} \theta_{dk} \phi_{kv}",
        "N: matrix(D, V) positive; theta: matrix(D, K) positive; phi: matrix(K, V) positive",
        "phi",
        lambda N, theta, phi: plsa(N, theta, phi),
    ),
    Passage(
        "log-normal accelerated failure time model",
        r"""\ell(\beta, \sigma) = \sum_{i=1}^{n} \left\{ \delta_i \left[ \log\phi(z_i) - \log\sigma - \log t_i \right]
        + (1 - \delta_i) \log\left[1 - \Phi(z_i)\right] \right\}, \qquad
        z_i = \frac{\log t_i - x_i^\top\beta}{\sigma},
        where $\Phi$ is the standard normal distribution function and $\phi(z) = \frac{1}{\sqrt{2\pi}} \exp(-z^2/2)$
        its density.""",
        "X: matrix(n, p); t: vector(n) positive; delta: vector(n); beta: vector(p); sigma: scalar positive",
        "sigma",
        lognormal_aft,
        ("delta",),
    ),
    Passage(
        "Thurstone scaling, case V",
        r"""\ell(\mu) = \sum_{i=1}^{K} \sum_{j \neq i} n_{ij} \log \Phi(\mu_i - \mu_j), \quad
        \text{where } n_{ij} \text{ counts how often } i \text{ was preferred to } j
        \text{ and } \Phi \text{ is the standard normal CDF}""",
        "N: matrix(K, K) positive; mu: vector(K)",
        "mu",
        thurstone,
    ),
    Passage(
        "Black-Litterman expected returns",
        r"""\hat{\mu} = \left[ (\tau\Sigma)^{-1} + P^\top \Omega^{-1} P \right]^{-1}
        \left[ (\tau\Sigma)^{-1} m + P^\top \Omega^{-1} q \right]""",
        "Sigma: matrix(n, n) spd; tau: scalar positive; P: matrix(k, n); Omega: matrix(k, k) spd; q: vector(k); "
        "m: vector(n)",
        "q",
        black_litterman,
    ),
    Passage(
        "variational data assimilation",
        r"""J(\mathbf{x}) = \frac12 (\mathbf{x} - \mathbf{x}_b)^{\mathrm{T}} \mathbf{B}^{-1} (\mathbf{x} - \mathbf{x}_b)
        + \frac12 (\mathbf{y} - \mathbf{H}\mathbf{x})^{\mathrm{T}} \mathbf{R}^{-1} (\mathbf{y} -
        \mathbf{H}\mathbf{x})""",
        "x: vector(n); x_b: vector(n); B: matrix(n, n) spd; y: vector(m); H: matrix(m, n); R: matrix(m, m) spd",
        "x",
        lambda x, x_b, B, y, H, R: (
            0.5 * (x - x_b) @ np.linalg.solve(B, x - x_b) + 0.5 * (y - H @ x) @ np.linalg.solve(R, y - H @ x)
        ),
    ),
]
