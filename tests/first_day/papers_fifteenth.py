r"""The fifteenth set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


def negbin(X, y, beta, alpha):
    total = 0.0
    r = 1 / alpha
    for i in range(len(y)):
        mu = np.exp(X[i] @ beta)
        total += special.gammaln(y[i] + r) - special.gammaln(r) - special.gammaln(y[i] + 1)
        total += -r * np.log(1 + alpha * mu) + y[i] * np.log(alpha * mu / (1 + alpha * mu))
    return total


def focal(X, y, w, b, gamma):
    p = sigmoid(X @ w + b)
    return -np.mean(y * (1 - p) ** gamma * np.log(p) + (1 - y) * p**gamma * np.log(1 - p))


def label_smoothing(Z, Y, epsilon):
    n, K = Y.shape
    P = special.softmax(Z, axis=1)
    total = 0.0
    for i in range(n):
        for k in range(K):
            total -= ((1 - epsilon) * Y[i, k] + epsilon / K) * np.log(P[i, k])
    return total / n


def layer_norm(x, gamma, beta, epsilon):
    d = len(x)
    mu = sum(x) / d
    var = sum((x - mu) ** 2) / d
    return gamma * (x - mu) / np.sqrt(var + epsilon) + beta


def gru(x, h, W_z, U_z, b_z, W_r, U_r, b_r, W_h, U_h, b_h):
    z = sigmoid(W_z @ x + U_z @ h + b_z)
    r = sigmoid(W_r @ x + U_r @ h + b_r)
    g = np.tanh(W_h @ x + U_h @ (r * h) + b_h)
    return (1 - z) * h + z * g


def attention(X, Y, W_Q, W_K, W_V, d):
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    n = len(X)
    total = 0.0
    for i in range(n):
        a = np.array([np.exp(Q[i] @ K[j] / np.sqrt(d)) for j in range(n)])
        a = a / a.sum()
        o = sum(a[j] * V[j] for j in range(n))
        total += np.sum((o - Y[i]) ** 2)
    return total / n


def coupling(A, B, S, T, c, v):
    total = 0.0
    d = B.shape[1]
    for i in range(len(A)):
        s = np.tanh(S @ A[i] + c)
        t = T @ A[i] + v
        z = B[i] * np.exp(s) + t
        total += 0.5 * z @ z + d / 2 * np.log(2 * np.pi) - np.sum(s)
    return total / len(A)


def beta_vae(x, mu, s, epsilon, W, b, beta):
    z = mu + np.exp(s / 2) * epsilon
    r = x - sigmoid(W @ z + b)
    return 0.5 * r @ r + beta / 2 * np.sum(mu**2 + np.exp(s) - s - 1)


def simclr(Z, V, tau):
    n = len(Z)

    def sim(u, v):
        return u @ v / (np.linalg.norm(u) * np.linalg.norm(v))

    total = 0.0
    for i in range(n):
        num = np.exp(sim(Z[i], V[i]) / tau)
        den = sum(np.exp(sim(Z[i], Z[k]) / tau) for k in range(n) if k != i)
        den += sum(np.exp(sim(Z[i], V[k]) / tau) for k in range(n))
        total -= np.log(num / den)
    return total / n


def lsgan(X, Z, w, b, W):
    total = 0.0
    for i in range(len(X)):
        total += 0.5 * (X[i] @ w + b - 1) ** 2 / len(X)
    for j in range(len(Z)):
        total += 0.5 * (np.tanh(W @ Z[j]) @ w + b) ** 2 / len(Z)
    return total


def ppo(p, q, A, epsilon):
    r = np.exp(p - q)
    return np.mean(np.minimum(r * A, np.clip(r, 1 - epsilon, 1 + epsilon) * A))


def biased_mf(R, M, mu, b, c, P, Q, lam):
    total = 0.0
    for u in range(len(b)):
        for i in range(len(c)):
            total += M[u, i] * (R[u, i] - mu - b[u] - c[i] - Q[i] @ P[u]) ** 2
    return total + lam * (np.sum(P**2) + np.sum(Q**2) + b @ b + c @ c)


def gp_ard(X, y, ell, sigma_f, sigma_n):
    n = len(y)
    K = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            K[i, j] = sigma_f**2 * np.exp(-0.5 * np.sum((X[i] - X[j]) ** 2 / ell**2))
    C = K + sigma_n**2 * np.eye(n)
    return -0.5 * y @ np.linalg.solve(C, y) - 0.5 * np.linalg.slogdet(C)[1] - n / 2 * np.log(2 * np.pi)


def hmm_q(G, A, y, mu, sigma, N):
    total = 0.0
    T, K = G.shape
    for j in range(K):
        for k in range(K):
            total += N[j, k] * np.log(A[j, k])
    for t in range(T):
        for k in range(K):
            total += G[t, k] * (-0.5 * np.log(2 * np.pi) - np.log(sigma[k]) - (y[t] - mu[k]) ** 2 / (2 * sigma[k] ** 2))
    return total


def weibull(t, delta, X, beta, k):
    total = 0.0
    for i in range(len(t)):
        lam = np.exp(X[i] @ beta)
        total += delta[i] * (np.log(k) + np.log(lam) + (k - 1) * np.log(t[i])) - lam * t[i] ** k
    return total


def irt_2pl(Y, theta, a, b):
    total = 0.0
    for i in range(len(theta)):
        for j in range(len(a)):
            p = 1 / (1 + np.exp(-a[j] * (theta[i] - b[j])))
            total += Y[i, j] * np.log(p) + (1 - Y[i, j]) * np.log(1 - p)
    return total


def iv_gmm(X, Z, y, W, beta):
    n = len(y)
    g = sum(Z[i] * (y[i] - X[i] @ beta) for i in range(n)) / n
    return g @ W @ g


def risk_parity(w, Sigma):
    n = len(w)
    s = np.sqrt(w @ Sigma @ w)
    rc = [w[i] * (Sigma @ w)[i] / s for i in range(n)]
    return sum((rc[i] - s / n) ** 2 for i in range(n))


FIFTEENTH = [
    Passage(
        "negative binomial regression (NB2)",
        r"""The log-likelihood of the NB2 model is
        \begin{equation}
        \ell(\beta, \alpha) = \sum_{i=1}^{n} \left\{ \log\Gamma(y_i + \alpha^{-1}) - \log\Gamma(\alpha^{-1})
        - \log\Gamma(y_i + 1) - \alpha^{-1}\log(1 + \alpha\mu_i)
        + y_i \log\left(\frac{\alpha\mu_i}{1 + \alpha\mu_i}\right) \right\},
        \end{equation}
        where $\mu_i = \exp(x_i^\top \beta)$.""",
        "X: matrix(n, p); y: vector(n) positive; beta: vector(p); alpha: scalar positive",
        "beta",
        negbin,
    ),
    Passage(
        "gamma regression with log link",
        r"D(\beta) = 2\sum_{i=1}^n \left( \frac{y_i - \mu_i}{\mu_i} - \log\frac{y_i}{\mu_i} \right), \qquad "
        r"\log \mu_i = \mathbf{x}_i^\top \boldsymbol\beta",
        "X: matrix(n, p); y: vector(n) positive; beta: vector(p)",
        "beta",
        lambda X, y, beta: (
            2
            * sum(
                (y[i] - np.exp(X[i] @ beta)) / np.exp(X[i] @ beta) - np.log(y[i] / np.exp(X[i] @ beta))
                for i in range(len(y))
            )
        ),
    ),
    Passage(
        "focal loss of two classes",
        r"""\mathcal{L}_{\mathrm{FL}}(w, b) = -\frac{1}{n} \sum_{i=1}^{n} \Big[ y_i (1 - p_i)^{\gamma} \log p_i
        + (1 - y_i)\, p_i^{\gamma} \log(1 - p_i) \Big], \quad \text{where } p_i = \sigma(w^\top x_i + b)
        \text{ and } \sigma(t) = \frac{1}{1 + e^{-t}}""",
        "X: matrix(n, d); y: vector(n); w: vector(d); b: scalar; gamma: scalar positive",
        "w",
        focal,
        ("y",),
    ),
    Passage(
        "cross-entropy with label smoothing",
        r"""\[
        \mathcal{L} = -\frac{1}{n}\sum_{i=1}^{n}\sum_{k=1}^{K} \tilde{y}_{ik} \log p_{ik}, \qquad
        \tilde{y}_{ik} = (1 - \epsilon)\, y_{ik} + \frac{\epsilon}{K}, \qquad
        p_{ik} = \frac{\exp(z_{ik})}{\sum_{j=1}^{K} \exp(z_{ij})}
        \]""",
        "Z: matrix(n, K); Y: matrix(n, K); epsilon: scalar positive",
        "Z",
        label_smoothing,
        ("epsilon",),
    ),
    Passage(
        "layer normalisation, again",
        r"""\mathrm{LN}(\mathbf{x}) = \boldsymbol{\gamma} \odot \frac{\mathbf{x} - \mu}{\sqrt{\sigma^2 + \epsilon}}
        + \boldsymbol{\beta}, \quad \text{where} \quad \mu = \frac{1}{d} \sum_{i=1}^{d} x_i, \quad
        \sigma^2 = \frac{1}{d} \sum_{i=1}^{d} (x_i - \mu)^2""",
        "x: vector(d); gamma: vector(d); beta: vector(d); epsilon: scalar positive",
        "x",
        layer_norm,
    ),
    Passage(
        "gated recurrent unit",
        r"""\begin{aligned}
        z &= \sigma(W_z x + U_z h + b_z) \\
        r &= \sigma(W_r x + U_r h + b_r) \\
        \tilde{h} &= \tanh\left(W_h x + U_h (r \odot h) + b_h\right) \\
        h_{\mathrm{new}} &= (1 - z) \odot h + z \odot \tilde{h}
        \end{aligned}
        where $\sigma$ is the logistic sigmoid and $\odot$ the elementwise product.""",
        "x: vector(d); h: vector(k); W_z: matrix(k, d); U_z: matrix(k, k); b_z: vector(k); "
        "W_r: matrix(k, d); U_r: matrix(k, k); b_r: vector(k); W_h: matrix(k, d); U_h: matrix(k, k); b_h: vector(k)",
        "h",
        gru,
    ),
    Passage(
        "self-attention trained by squared error",
        r"""\begin{align}
        \mathcal{L} &= \frac{1}{n} \sum_{i=1}^{n} \lVert o_i - y_i \rVert_2^2, \\
        o_i &= \sum_{j=1}^{n} \alpha_{ij} v_j, \qquad
        \alpha_{ij} = \frac{\exp(q_i^\top k_j / \sqrt{d})}{\sum_{l=1}^{n} \exp(q_i^\top k_l / \sqrt{d})},
        \end{align}
        where $Q = X W_Q$, $K = X W_K$, $V = X W_V$ and $q_i$, $k_i$, $v_i$ are the rows of $Q$, $K$ and $V$.""",
        "X: matrix(n, p); Y: matrix(n, m); W_Q: matrix(p, k); W_K: matrix(p, k); W_V: matrix(p, m); d: scalar positive",
        "W_Q",
        attention,
    ),
    Passage(
        "affine coupling flow",
        r"""\mathcal{L} = \frac{1}{n}\sum_{i=1}^{n} \left[ \frac{1}{2}\norm{z_i}_2^2 + \frac{d}{2}\log(2\pi)
        - \sum_{j=1}^{d} s_{ij} \right], \quad
        z_i = b_i \odot \exp(s_i) + t_i, \quad s_i = \tanh(S a_i + c), \quad t_i = T a_i + v,
        \text{ where } x_i = (a_i, b_i) \text{ is the split input.}""",
        "A: matrix(n, k); B: matrix(n, d); S: matrix(d, k); T: matrix(d, k); c: vector(d); v: vector(d)",
        "S",
        coupling,
    ),
    Passage(
        "beta-VAE, one sample",
        r"""\mathcal{L}(\mu, s) = \frac{1}{2}\left\| x - \hat{x} \right\|_2^2
        + \frac{\beta}{2} \sum_{j=1}^{k} \left( \mu_j^2 + e^{s_j} - s_j - 1 \right)
        where $\hat{x} = \sigma(W z + b)$, $z = \mu + \exp(s/2) \odot \epsilon$ is the reparameterised sample,
        $s$ is the log-variance of the encoder and $\sigma(\cdot)$ is the sigmoid function.""",
        "x: vector(d); mu: vector(k); s: vector(k); epsilon: vector(k); W: matrix(d, k); b: vector(d); "
        "beta: scalar positive",
        "mu",
        beta_vae,
    ),
    Passage(
        "SimCLR, first view",
        r"""\[
        \mathcal{L} = -\frac{1}{n} \sum_{i=1}^{n} \log \frac{\exp(\mathrm{sim}(z_i, v_i)/\tau)}
        {\sum_{k \neq i} \exp(\mathrm{sim}(z_i, z_k)/\tau) + \sum_{k=1}^{n} \exp(\mathrm{sim}(z_i, v_k)/\tau)},
        \]
        where $\mathrm{sim}(u, v) = \frac{u^\top v}{\norm{u}\norm{v}}$ denotes the cosine similarity.""",
        "Z: matrix(n, d); V: matrix(n, d); tau: scalar positive",
        "Z",
        simclr,
    ),
    Passage(
        "least squares GAN, discriminator",
        r"""\min_{D} \; V(D) = \frac{1}{2m} \sum_{i=1}^{m} \left(D(x_i) - 1\right)^2
        + \frac{1}{2n} \sum_{j=1}^{n} D(G(z_j))^2, \quad \text{where } D(x) = w^\top x + b
        \text{ and } G(z) = \tanh(W z).""",
        "X: matrix(m, d); Z: matrix(n, k); w: vector(d); b: scalar; W: matrix(d, k)",
        "w",
        lsgan,
    ),
    Passage(
        "proximal policy optimisation",
        r"""L^{\mathrm{CLIP}} = \frac{1}{T} \sum_{t=1}^{T} \min\left( r_t A_t, \;
        \operatorname{clip}(r_t, 1 - \epsilon, 1 + \epsilon) A_t \right), \qquad r_t = \exp(p_t - q_t),
        where $p_t$ and $q_t$ are the log-probabilities of the action under the new and the old policy.""",
        "p: vector(T); q: vector(T); A: vector(T); epsilon: scalar positive",
        "p",
        ppo,
        ("epsilon",),
    ),
    Passage(
        "recommender with biases",
        r"""\min_{b, c, P, Q} \sum_{u=1}^{m} \sum_{i=1}^{n} M_{ui} \left( r_{ui} - \mu - b_u - c_i
        - q_i^\top p_u \right)^2 + \lambda \left( \norm{P}_F^2 + \norm{Q}_F^2 + \norm{b}^2 + \norm{c}^2 \right)
        where $M_{ui} = 1$ if user $u$ has rated item $i$ and $0$ otherwise.""",
        "R: matrix(m, n); M: matrix(m, n); mu: scalar; b: vector(m); c: vector(n); P: matrix(m, k); Q: matrix(n, k); "
        "lam: scalar positive",
        "P",
        biased_mf,
    ),
    Passage(
        "Gaussian process, squared exponential kernel with ARD",
        r"""\[
        \log p(\mathbf{y} \mid X) = -\frac{1}{2} \mathbf{y}^\top C^{-1} \mathbf{y}
        - \frac{1}{2} \log |C| - \frac{n}{2} \log 2\pi
        \]
        where $C = K + \sigma_n^2 I$ and
        $K_{ij} = \sigma_f^2 \exp\left( -\frac{1}{2} \sum_{d=1}^{p} \frac{(x_{id} - x_{jd})^2}{\ell_d^2} \right)$.""",
        "X: matrix(n, p); y: vector(n); ell: vector(p) positive; sigma_f: scalar positive; sigma_n: scalar positive",
        "ell",
        gp_ard,
    ),
    Passage(
        "hidden Markov model, expected complete log-likelihood",
        r"""Q(\theta) = \sum_{j=1}^{K} \sum_{k=1}^{K} \xi_{jk} \log A_{jk}
        + \sum_{t=1}^{T} \sum_{k=1}^{K} \gamma_{tk} \log \mathcal{N}(y_t; \mu_k, \sigma_k^2),
        where $\log\mathcal{N}(y; \mu, \sigma^2) = -\frac{1}{2}\log(2\pi) - \log\sigma - \frac{(y-\mu)^2}{2\sigma^2}$,
        $\gamma_{tk}$ are the posterior state probabilities and $\xi_{jk}$ the expected numbers of transitions.""",
        "gamma: matrix(T, K) positive; A: matrix(K, K) positive; y: vector(T); mu: vector(K); "
        "sigma: vector(K) positive; xi: matrix(K, K) positive",
        "sigma",
        lambda gamma, A, y, mu, sigma, xi: hmm_q(gamma, A, y, mu, sigma, xi),
    ),
    Passage(
        "Weibull proportional hazards with censoring",
        r"""\ell(\beta, k) = \sum_{i=1}^{n} \left[ \delta_i \log h(t_i \mid x_i) - H(t_i \mid x_i) \right],
        \qquad
        \begin{aligned} h(t \mid x) &= k\, t^{k-1} e^{x^\top\beta}, \\ H(t \mid x) &= t^{k} e^{x^\top\beta}
        \end{aligned}""",
        "t: vector(n) positive; delta: vector(n); X: matrix(n, p); beta: vector(p); k: scalar positive",
        "beta",
        weibull,
        ("delta",),
    ),
    Passage(
        "two-parameter logistic item response model",
        r"""\log L(\boldsymbol\theta, \mathbf{a}, \mathbf{b}) = \sum_{i=1}^{N} \sum_{j=1}^{J} \left[ y_{ij} \log P_{ij}
        + (1 - y_{ij}) \log(1 - P_{ij}) \right], \quad
        P_{ij} = \frac{1}{1 + \exp\{-a_j(\theta_i - b_j)\}}""",
        "Y: matrix(N, J); theta: vector(N); a: vector(J); b: vector(J)",
        "theta",
        irt_2pl,
        ("Y",),
    ),
    Passage(
        "instrumental variables by the generalised method of moments",
        r"""\hat\beta = \operatorname*{arg\,min}_{\beta} \; \bar{g}(\beta)^\top W \bar{g}(\beta), \qquad
        \bar{g}(\beta) = \frac{1}{n} \sum_{i=1}^{n} z_i \left( y_i - x_i^\top \beta \right)""",
        "X: matrix(n, p); Z: matrix(n, k); y: vector(n); W: matrix(k, k) symmetric; beta: vector(p)",
        "beta",
        iv_gmm,
    ),
    Passage(
        "risk parity, again",
        r"""\min_{w} \; \sum_{i=1}^{n} \left( \mathrm{RC}_i(w) - \frac{\sigma(w)}{n} \right)^2, \quad
        \text{with } \sigma(w) = \sqrt{w^\top \Sigma w} \text{ and }
        \mathrm{RC}_i(w) = \frac{w_i (\Sigma w)_i}{\sigma(w)}""",
        "w: vector(n) positive; Sigma: matrix(n, n) spd",
        "w",
        risk_parity,
    ),
]
