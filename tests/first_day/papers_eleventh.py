r"""The eleventh set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


def silu(t):
    return t * sigmoid(t)


def gelu(t):
    return t * special.ndtr(t)


def flow(z, u, w, b):
    t = np.tanh(z @ w + b)
    return np.log(abs(1 + u @ (w * (1 - t**2))))


def clip(U, V, tau):
    S = U @ V.T / tau
    a = -np.mean(np.diag(S) - special.logsumexp(S, axis=1))
    b = -np.mean(np.diag(S) - special.logsumexp(S, axis=0))
    return (a + b) / 2


def leapfrog(q, p, A, eps):
    p = p - eps / 2 * A @ q
    q = q + eps * p
    return q


def pagerank(P, v, d):
    return np.linalg.solve(np.eye(len(v)) - d * P.T, (1 - d) * v)


def midas(y, X, b_0, b_1, theta_1, theta_2):
    k = np.arange(1, X.shape[1] + 1)
    w = np.exp(theta_1 * k + theta_2 * k**2)
    return np.sum((y - b_0 - b_1 * X @ (w / w.sum())) ** 2)


def crps(y, mu, sigma):
    z = (y - mu) / sigma
    pdf = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return np.mean(sigma * (z * (2 * special.ndtr(z) - 1) + 2 * pdf - 1 / np.sqrt(np.pi)))


ELEVENTH = [
    Passage(
        "gated feed-forward with SiLU",
        (
            r"\mathrm{FFN}(x) = W_2\left(\operatorname{SiLU}(W_1 x) \odot (V x)\right) \quad \text{where } "
            r"\operatorname{SiLU}(t) = t\,\sigma(t)"
        ),
        "W_1, V: matrix(m, n); W_2: matrix(n, m); x: vector(n)",
        "x",
        lambda W_1, V, W_2, x: W_2 @ (silu(W_1 @ x) * (V @ x)),
    ),
    Passage(
        "Mixer block",
        r"Y = X + W_2\,\mathrm{GELU}(W_1 X)",
        "X: matrix(n, d); W_1: matrix(m, n); W_2: matrix(n, m)",
        "X",
        lambda X, W_1, W_2: X + W_2 @ gelu(W_1 @ X),
    ),
    Passage(
        "planar flow",
        (
            r"\ln\left|1 + u^\top \psi(z)\right|, \qquad \psi(z) = h'(w^\top z + b)\,w, \qquad h(t) = \tanh(t), "
            r"\quad h'(t) = 1 - \tanh^2(t)"
        ),
        "z, u, w: vector(d); b: scalar",
        "w",
        flow,
    ),
    Passage(
        "CLIP",
        (
            r"\mathcal{L} = -\frac{1}{2N}\sum_{i=1}^{N}\left(\log\frac{e^{u_i^\top v_i/\tau}}{\sum_{j=1}^{N} "
            r"e^{u_i^\top v_j/\tau}} + \log\frac{e^{u_i^\top v_i/\tau}}{\sum_{j=1}^{N} e^{u_j^\top "
            r"v_i/\tau}}\right), where $\tau > 0$ is a temperature and $u_i, v_i \in \mathbb{R}^d$ are the "
            "embeddings of the $i$-th pair."
        ),
        "U, V: matrix(N, d); tau: scalar positive",
        "U",
        clip,
    ),
    Passage(
        "vector quantisation",
        r"\mathcal{L} = \|x - D z_q\|_2^2 + \beta\,\|z_e - z_q\|_2^2",
        "x: vector(m); D: matrix(m, d); z_q, z_e: vector(d); beta: scalar positive",
        "z_q",
        lambda x, D, z_q, z_e, beta: np.sum((x - D @ z_q) ** 2) + beta * np.sum((z_e - z_q) ** 2),
    ),
    Passage(
        "mixture of experts gate",
        r"y = \sum_{i=1}^{N} G(x)_i\, E_i x, \qquad G(x) = \operatorname{softmax}(W_g x)",
        "W_g: matrix(N, n); x: vector(n); E: tensor(N, m, n)",
        "x",
        lambda W_g, x, E: np.einsum("i,ijk,k->j", special.softmax(W_g @ x), E, x),
    ),
    Passage(
        "ArcFace",
        r"L = -\log\frac{e^{s\cos(\theta_y + m)}}{e^{s\cos(\theta_y+m)} + \sum_{j \neq y} e^{s\cos\theta_j}}",
        "theta: vector(C) positive; s, m: scalar positive; y: index",
        "theta",
        lambda theta, s, m, y: (
            -(
                s * np.cos(theta[y] + m)
                - np.log(
                    np.exp(s * np.cos(theta[y] + m)) + np.exp(s * np.cos(theta)).sum() - np.exp(s * np.cos(theta[y]))
                )
            )
        ),
    ),
    Passage(
        "Langevin step",
        (
            r"\theta' = \theta - \frac{\epsilon}{2}\left(\Lambda\theta - \sum_{i=1}^{N}(y_i - "
            r"\sigma(x_i^\top\theta))\,x_i\right) + \sqrt{\epsilon}\,\eta, where $\sigma$ denotes the logistic "
            "function."
        ),
        "theta, eta: vector(d); Lambda: matrix(d, d) spd; X: matrix(N, d); y: vector(N); epsilon: scalar positive",
        "theta",
        lambda theta, eta, Lambda, X, y, epsilon: (
            theta - epsilon / 2 * (Lambda @ theta - X.T @ (y - sigmoid(X @ theta))) + np.sqrt(epsilon) * eta
        ),
    ),
    Passage(
        "leapfrog",
        r"q_1 = q_0 + \epsilon\, p_{1/2}, \qquad p_{1/2} = p_0 - \frac{\epsilon}{2} A q_0",
        "q_0, p_0: vector(n); A: matrix(n, n) spd; epsilon: scalar positive",
        "q_0",
        lambda q_0, p_0, A, epsilon: leapfrog(q_0, p_0, A, epsilon),
    ),
    Passage(
        "PageRank",
        r"\pi = (1-d)\left(I - d P^\top\right)^{-1} v, \quad 0 < d < 1",
        "P: matrix(n, n); v: vector(n); d: scalar",
        "d",
        lambda P, v, d: pagerank(P, v, d),
        ("d",),
    ),
    Passage(
        "Katz centrality",
        r"C_{\text{Katz}} = \left(\left(I - \alpha A^T\right)^{-1} - I\right)\vec{1}",
        "A: matrix(n, n); alpha: scalar",
        "alpha",
        lambda A, alpha: np.linalg.solve(np.eye(len(A)) - alpha * A.T, np.ones(len(A))) - 1,
    ),
    Passage(
        "Okapi BM25",
        (
            r"\text{score}(D,Q) = \sum_{i=1}^{n} \text{IDF}_i \cdot \frac{f_i\,(k_1+1)}{f_i + k_1\left(1 - b + "
            r"b\,\frac{|D|}{\text{avgdl}}\right)}"
        ),
        "IDF, f: vector(n) positive; k_1, b, D, avgdl: scalar positive",
        "f",
        lambda IDF, f, k_1, b, D, avgdl: np.sum(IDF * f * (k_1 + 1) / (f + k_1 * (1 - b + b * abs(D) / avgdl))),
    ),
    Passage(
        "Tweedie deviance",
        (
            r"D = 2\sum_{i=1}^{n}\left(\frac{y_i^{2-p}}{(1-p)(2-p)} - \frac{y_i\mu_i^{1-p}}{1-p} + "
            r"\frac{\mu_i^{2-p}}{2-p}\right), \quad \mu_i = \exp(x_i^\top\beta)"
        ),
        "y: vector(n) positive; X: matrix(n, d); beta: vector(d); p: scalar positive",
        "beta",
        lambda y, X, beta, p: (
            2
            * np.sum(
                y ** (2 - p) / ((1 - p) * (2 - p))
                - y * np.exp(X @ beta) ** (1 - p) / (1 - p)
                + np.exp(X @ beta) ** (2 - p) / (2 - p)
            )
        ),
    ),
    Passage(
        "Firth penalty",
        (
            r"\ell^*(\beta) = \sum_{i=1}^{n}\left[y_i\log\pi_i + (1-y_i)\log(1-\pi_i)\right] + "
            r"\frac12\log\det\left(X^\top W X\right), where $W = \operatorname{diag}\{\pi_i(1-\pi_i)\}$ and "
            r"$\pi_i = \left(1+e^{-x_i^\top\beta}\right)^{-1}$."
        ),
        "X: matrix(n, d); y: vector(n); beta: vector(d)",
        "beta",
        lambda X, y, beta: (
            np.sum(y * np.log(sigmoid(X @ beta)) + (1 - y) * np.log(1 - sigmoid(X @ beta)))
            + np.linalg.slogdet(X.T @ np.diag(sigmoid(X @ beta) * (1 - sigmoid(X @ beta))) @ X)[1] / 2
        ),
    ),
    Passage(
        "continuous ranked probability score",
        (
            r"\overline{\mathrm{CRPS}} = \frac{1}{n}\sum_{i=1}^n \sigma_i\left\{z_i\left[2\Phi(z_i) - 1\right] + "
            r"2\varphi(z_i) - \frac{1}{\sqrt{\pi}}\right\}, \quad z_i = \frac{y_i - \mu_i}{\sigma_i}"
        ),
        "y, mu: vector(n); sigma: vector(n) positive",
        "sigma",
        crps,
    ),
    Passage(
        "mixed data sampling",
        (
            r"\sum_{t=1}^{T}\left(y_t - \beta_0 - \beta_1\sum_{k=1}^{K} w_k x_{t,k}\right)^2, \qquad w_k = "
            r"\frac{\exp(\theta_1 k + \theta_2 k^2)}{\sum_{j=1}^{K}\exp(\theta_1 j + \theta_2 j^2)}"
        ),
        "y: vector(T); X: matrix(T, K); beta_0, beta_1, theta_1, theta_2: scalar",
        "theta_1",
        lambda y, X, beta_0, beta_1, theta_1, theta_2: midas(y, X, beta_0, beta_1, theta_1, theta_2),
    ),
]
