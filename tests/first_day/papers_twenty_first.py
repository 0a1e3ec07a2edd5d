r"""The twenty-first set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy.special import expit, log_expit, log_softmax


def relu(t):
    return np.maximum(t, 0)


def sq(A, B):
    return ((A[:, None, :] - B[None, :, :]) ** 2).sum(-1)


def barlow(Z, V, lam):
    C = (Z.T @ V) / np.sqrt(np.outer((Z**2).sum(0), (V**2).sum(0)))
    d = np.diag(C)
    return np.sum((1 - d) ** 2) + lam * (np.sum(C**2) - np.sum(d**2))


def nca(A, X, y):
    E = np.exp(-sq(X @ A.T, X @ A.T))
    np.fill_diagonal(E, 0)
    return np.sum(E / E.sum(1, keepdims=True) * (y[:, None] == y[None, :]))


def transformer_block(X, W_1, b_1, W_2, b_2, gamma, beta, epsilon, Y):
    Z = X + relu(X @ W_1.T + b_1) @ W_2.T + b_2
    Z = (Z - Z.mean(1, keepdims=True)) / np.sqrt(Z.var(axis=1, keepdims=True) + epsilon)
    return np.sum((gamma * Z + beta - Y) ** 2) / len(X)


def lstm(x, y, W_i, U_i, b_i, W_f, U_f, b_f, W_o, U_o, b_o, W_c, U_c, b_c, w):
    h, c, total = 0 * b_i, 0 * b_i, 0.0
    for t in range(len(x)):
        i, f = expit(W_i @ x[t] + U_i @ h + b_i), expit(W_f @ x[t] + U_f @ h + b_f)
        o = expit(W_o @ x[t] + U_o @ h + b_o)
        c = f * c + i * np.tanh(W_c @ x[t] + U_c @ h + b_c)
        h = o * np.tanh(c)
        total += (w @ h - y[t]) ** 2
    return total / len(x)


def gru(x, y, W_z, U_z, W_r, U_r, W_h, U_h, V):
    h, total = np.zeros(len(W_z)), 0.0
    for t in range(len(x)):
        z, r = expit(W_z @ x[t] + U_z @ h), expit(W_r @ x[t] + U_r @ h)
        h = (1 - z) * h + z * np.tanh(W_h @ x[t] + U_h @ (r * h))
        total -= log_softmax(V @ h)[y[t]]
    return total


def laplacian_rls(K, y, alpha, W, gamma_A, gamma_I):
    n = len(y)
    L = np.diag(W.sum(1)) - W
    return np.sum((y - K @ alpha) ** 2) / n + gamma_A * alpha @ K @ alpha + gamma_I / n**2 * alpha @ K @ L @ K @ alpha


def fm(X, y, w_0, w, V):
    total = 0.0
    for x, t in zip(X, y, strict=True):
        f = w_0 + w @ x
        for i in range(len(x)):
            for j in range(i + 1, len(x)):
                f += V[i] @ V[j] * x[i] * x[j]
        total += (f - t) ** 2
    return total / len(y)


def planar(z, u, w, b, P):
    total = 0.0
    for v in z:
        a = np.tanh(w @ v + b)
        f = v + u * a
        total += -0.5 * v @ v - np.log(abs(1 + u @ ((1 - a**2) * w))) + 0.5 * f @ P @ f
    return total / len(z)


def realnvp(X, b, S, T):
    total = 0.0
    for x in X:
        s = np.tanh(S @ (b * x))
        y = b * x + (1 - b) * (x * np.exp(s) + T @ (b * x))
        total += 0.5 * y @ y - np.sum((1 - b) * s)
    return total / len(X)


def nce(X, Y, Lambda, c):
    def G(u):
        return -0.5 * u @ Lambda @ u + c + 0.5 * u @ u + len(u) / 2 * np.log(2 * np.pi)

    return (sum(log_expit(G(x)) for x in X) + sum(log_expit(-G(y)) for y in Y)) / len(X)


def a2c(theta, w, s, a, R, beta, c):
    total = 0.0
    for t in range(len(s)):
        lp = log_softmax(theta @ s[t])
        v = w @ s[t]
        total += -lp[a[t]] * (R[t] - v) - beta * -np.sum(np.exp(lp) * lp) + c / 2 * (R[t] - v) ** 2
    return total / len(s)


LSTM = (
    "x: matrix(T, d); y: vector(T); "
    + "".join(f"W_{g}: matrix(h, d); U_{g}: matrix(h, h); b_{g}: vector(h); " for g in "ifoc")
    + "w: vector(h)"
)

TWENTY_FIRST = [
    Passage(
        "Barlow Twins",
        r"""\mathcal{L}_{BT} = \sum_i (1 - \mathcal{C}_{ii})^2 + \lambda\sum_i\sum_{j\neq i}\mathcal{C}_{ij}^2,
        where $$\mathcal{C}_{ij} = \frac{\sum_b z_{b,i}v_{b,j}}{\sqrt{\sum_b (z_{b,i})^2}\sqrt{\sum_b
        (v_{b,j})^2}}.$$""",
        "Z: matrix(n, d); V: matrix(n, d); lam: scalar positive",
        "Z",
        barlow,
    ),
    Passage(
        "neighbourhood components analysis",
        r"""f(A) = \sum_{i=1}^{n}\sum_{j\in C_i} p_{ij}, \qquad p_{ij} = \frac{\exp(-\|Ax_i -
        Ax_j\|^2)}{\sum_{k\neq i}\exp(-\|Ax_i - Ax_k\|^2)}, \quad p_{ii} = 0, where $C_i = \{j \mid y_j = y_i\}$.""",
        "A: matrix(k, d); X: matrix(n, d); y: index(n)",
        "A",
        nca,
    ),
    Passage(
        "Dice loss, twenty-first set",
        r"""\mathcal{L}_{\text{Dice}} = 1 - \frac{2\sum_{i=1}^{N} p_i g_i + \epsilon}{\sum_{i=1}^{N} p_i^2 +
        \sum_{i=1}^{N} g_i^2 + \epsilon}, \qquad p_i = \frac{1}{1 + e^{-z_i}}""",
        "z: vector(N); g: vector(N); epsilon: scalar positive",
        "z",
        lambda z, g, epsilon: 1 - (2 * expit(z) @ g + epsilon) / (expit(z) @ expit(z) + g @ g + epsilon),
        ("g",),
    ),
    Passage(
        "Transformer block",
        r"""\mathcal{L} = \frac1n\sum_{i=1}^{n}\norm{\mathrm{LN}(x_i + \mathrm{FFN}(x_i)) - y_i}_2^2, where
        $\mathrm{FFN}(x) = W_2\max(0, W_1 x + b_1) + b_2$ and $\mathrm{LN}(x) = \gamma\odot\frac{x -
        \mu}{\sqrt{\sigma^2 + \epsilon}} +
        \beta$ with $\mu = \frac1d\sum_{j=1}^{d} x_j$, $\sigma^2 = \frac1d\sum_{j=1}^{d}(x_j - \mu)^2$.""",
        "X: matrix(n, d); W_1: matrix(h, d); b_1: vector(h); W_2: matrix(d, h); b_2: vector(d); gamma: "
        "vector(d); beta: vector(d); "
        "epsilon: scalar positive; Y: matrix(n, d)",
        "W_1",
        transformer_block,
    ),
    Passage(
        "LSTM",
        r"""\begin{aligned} i_t &= \sigma(W_i x_t + U_i h_{t-1} + b_i) \\ f_t &= \sigma(W_f x_t + U_f h_{t-1} + b_f) \\
        o_t &= \sigma(W_o x_t + U_o h_{t-1} + b_o) \\ c_t &= f_t\odot c_{t-1} + i_t\odot\tanh(W_c x_t + U_c
        h_{t-1} + b_c) \\
        h_t &= o_t\odot\tanh(c_t) \\ \mathcal{L} &= \frac1T\sum_{t=1}^{T}(w^\top h_t - y_t)^2 \end{aligned}
        with $h_0 = c_0 = 0$ and the
        sigmoid function $\sigma$.""",
        LSTM,
        "U_f",
        lstm,
    ),
    Passage(
        "GRU language model",
        r"""\begin{align*} z_t &= \sigma(W_z x_t + U_z h_{t-1}), \\ r_t &= \sigma(W_r x_t + U_r h_{t-1}), \\
        \tilde{h}_t &= \tanh(W_h x_t + U_h(r_t\odot h_{t-1})), \\ h_t &= (1 - z_t)\odot h_{t-1} +
        z_t\odot\tilde{h}_t, \\
        \mathcal{L} &= -\sum_{t=1}^{T}\log\left[\mathrm{softmax}(V h_t)\right]_{y_t}, \end{align*} where $h_0 =
        \mathbf{0}$.""",
        "x: matrix(T, d); y: index(T); W_z: matrix(h, d); U_z: matrix(h, h); W_r: matrix(h, d); U_r: matrix(h, h); "
        "W_h: matrix(h, d); U_h: matrix(h, h); V: matrix(K, h)",
        "U_r",
        gru,
    ),
    Passage(
        "Laplacian regularized least squares",
        r"""\alpha^* = \arg\min_{\alpha\in\mathbb{R}^n}\ \frac1n\|y - K\alpha\|^2 + \gamma_A
        \alpha^\top K\alpha + \frac{\gamma_I}{n^2}\alpha^\top K L K\alpha, where $L = D - W$ is the graph
        Laplacian with $D_{ii} =
        \sum_{j=1}^{n} W_{ij}$.""",
        "K: matrix(n, n) spd; y: vector(n); alpha: vector(n); W: matrix(n, n) symmetric; "
        "gamma_A: scalar positive; gamma_I: scalar positive",
        "alpha",
        laplacian_rls,
    ),
    Passage(
        "TransE",
        r"""\mathcal{L} = \sum_{s=1}^{S}\left[\gamma + \|\mathbf{e}_{h_s} + \mathbf{r}_{l_s} - \mathbf{e}_{t_s}\|_2 -
        \|\mathbf{e}_{h_s} + \mathbf{r}_{l_s} - \mathbf{e}_{c_s}\|_2\right]_+ where $[x]_+$ denotes the
        positive part of $x$.""",
        "E: matrix(M, d); R: matrix(K, d); h: index(S); l: index(S); t: index(S); c: index(S); gamma: scalar positive",
        "E",
        lambda E, R, h, l, t, c, gamma: sum(  # noqa: E741
            relu(gamma + np.linalg.norm(E[h[s]] + R[l[s]] - E[t[s]]) - np.linalg.norm(E[h[s]] + R[l[s]] - E[c[s]]))
            for s in range(len(h))
        ),
    ),
    Passage(
        "bilinear knowledge graph model",
        r"""\min_{E, W}\ \sum_{s=1}^{S}\log\left(1 + \exp(-y_s\,\mathbf{e}_{h_s}^\top
        \mathbf{W}_{r_s}\mathbf{e}_{t_s})\right) + \lambda\|E\|_F^2""",
        "E: matrix(M, d); W: tensor(K, d, d); h: index(S); r: index(S); t: index(S); y: vector(S); lam: scalar "
        "positive",
        "E",
        lambda E, W, h, r, t, y, lam: (
            sum(np.logaddexp(0, -y[s] * (E[h[s]] @ W[r[s]] @ E[t[s]])) for s in range(len(y))) + lam * np.sum(E**2)
        ),
    ),
    Passage(
        "factorization machine",
        r"""\mathcal{L} = \frac1N\sum_{s=1}^{N}\left(\hat{y}(\mathbf{x}_s) - y_s\right)^2, where $$\hat{y}(
        \mathbf{x}) = w_0 + \sum_{i=1}^{n} w_i x_i + \sum_{i=1}^{n}\sum_{j=i+1}^{n}\langle\mathbf{v}_i,
        \mathbf{v}_j\rangle x_i x_j.$$""",
        "X: matrix(N, n); y: vector(N); w_0: scalar; w: vector(n); V: matrix(n, k)",
        "V",
        fm,
    ),
    Passage(
        "biased matrix factorization",
        r"""\min\ \sum_{s=1}^{S}\left(r_s - \mu - b_{u_s} - c_{i_s} - p_{u_s}^\top q_{i_s}\right)^2 +
        \lambda\left(\|b\|^2 + \|c\|^2 + \|P\|_F^2 + \|Q\|_F^2\right)""",
        "r: vector(S); u: index(S); i: index(S); mu: scalar; "
        "b: vector(m); c: vector(n); P: matrix(m, k); Q: matrix(n, k); lam: scalar positive",
        "P",
        lambda r, u, i, mu, b, c, P, Q, lam: (
            sum((r[s] - mu - b[u[s]] - c[i[s]] - P[u[s]] @ Q[i[s]]) ** 2 for s in range(len(r)))
            + lam * (b @ b + c @ c + np.sum(P**2) + np.sum(Q**2))
        ),
    ),
    Passage(
        "denoising score matching",
        r"""J(\theta) = \frac{1}{2N}\sum_{i=1}^{N}\left\|s_\theta(\tilde{\mathbf{x}}_i) +
        \frac{\tilde{\mathbf{x}}_i - \mathbf{x}_i}{\sigma^2}\right\|_2^2, where $\tilde{\mathbf{x}}_i =
        \mathbf{x}_i + \sigma\mathbf{n}_i$
        and $s_\theta(\mathbf{x}) = \mathbf{W}_2\log(1 + \exp(\mathbf{W}_1\mathbf{x} + \mathbf{b}_1)) +
        \mathbf{b}_2$.""",
        "X: matrix(N, d); n: matrix(N, d); sigma: scalar positive; W_1: matrix(h, d); b_1: vector(h); W_2: "
        "matrix(d, h); b_2: vector(d)",
        "W_1",
        lambda X, n, sigma, W_1, b_1, W_2, b_2: (
            np.sum((np.logaddexp(0, (X + sigma * n) @ W_1.T + b_1) @ W_2.T + b_2 + n / sigma) ** 2) / (2 * len(X))
        ),
    ),
    Passage(
        "planar flow, twenty-first set",
        r"""\mathcal{F} = \frac1N\sum_{i=1}^{N}\left[-\tfrac12\|\mathbf{z}_i\|^2 - \log\left|1 + \mathbf{u}^\top\psi(
        \mathbf{z}_i)\right| + \tfrac12 f(\mathbf{z}_i)^\top\mathbf{P}f(\mathbf{z}_i)\right], where
        $f(\mathbf{z}) = \mathbf{z} +
        \mathbf{u}\tanh(\mathbf{w}^\top\mathbf{z} + b)$ and $\psi(\mathbf{z}) = (1 -
        \tanh^2(\mathbf{w}^\top\mathbf{z} + b))\mathbf{w}$.""",
        "z: matrix(N, d); u: vector(d); w: vector(d); b: scalar; P: matrix(d, d) spd",
        "w",
        planar,
    ),
    Passage(
        "real NVP",
        r"""\mathrm{NLL} = \frac1N\sum_{i=1}^{N}\left[\frac12\|y_i\|_2^2 - (1 - b)^\top s(b\odot x_i)\right],
        \quad y_i =
        b\odot x_i + (1 - b)\odot\left(x_i\odot\exp(s(b\odot x_i)) + t(b\odot x_i)\right), where $b$ is a
        binary mask, $s(x) =
        \tanh(Sx)$ and $t(x) = Tx$.""",
        "X: matrix(N, d); b: vector(d); S: matrix(d, d); T: matrix(d, d)",
        "S",
        realnvp,
    ),
    Passage(
        "noise-contrastive estimation",
        r"""J(\Lambda, c) = \frac1n\left\{\sum_{i=1}^{n}\ln h(x_i) + \sum_{i=1}^{n}\ln[1 - h(y_i)]
        \right\}, where $h(u) = \frac{1}{1 + \exp(-G(u))}$, $G(u) = \ln p_m(u) - \ln p_n(u)$, $\ln p_m(u) =
        -\frac12 u^\top\Lambda u + c$
        and $\ln p_n(u) = -\frac12 u^\top u - \frac{d}{2}\ln(2\pi)$.""",
        "X: matrix(n, d); Y: matrix(n, d); Lambda: matrix(d, d) symmetric; c: scalar",
        "Lambda",
        nce,
    ),
    Passage(
        "restricted Boltzmann machine, twenty-first set",
        r"""\mathcal{L} = \frac1n\sum_{i=1}^{n} F(v_i) - \frac1m\sum_{i=1}^{m} F(u_i), \qquad F(v) =
        -b^\top v - \sum_{j=1}^{h}\log\left(1 + \exp(c_j + w_j^\top v)\right), where $w_j$ is the $j$-th row of
        $W$ and $u_i$ are the
        samples of the model.""",
        "V: matrix(n, d); U: matrix(m, d); b: vector(d); c: vector(h); W: matrix(h, d)",
        "W",
        lambda V, U, b, c, W: (
            np.mean(-V @ b - np.logaddexp(0, c + V @ W.T).sum(1))
            - np.mean(-U @ b - np.logaddexp(0, c + U @ W.T).sum(1))
        ),
    ),
    Passage(
        "advantage actor-critic, twenty-first set",
        r"""\begin{aligned} \mathcal{L} &= \frac1T\sum_{t=1}^{T}\left[-\log\pi(a_t|s_t)\left(R_t - V(s_t)
        \right) - \beta H(s_t) + \frac{c}{2}\left(R_t - V(s_t)\right)^2\right], \\ H(s) &=
        -\sum_{a=1}^{K}\pi(a|s)\log\pi(a|s), \quad
        \pi(a|s) = \frac{e^{\theta_a^\top s}}{\sum_{b=1}^{K} e^{\theta_b^\top s}}, \quad V(s) = w^\top s
        \end{aligned}""",
        "theta: matrix(K, d); w: vector(d); s: matrix(T, d); a: index(T); R: vector(T); beta: scalar positive; "
        "c: scalar positive",
        "theta",
        a2c,
    ),
    Passage(
        "advantage-weighted regression",
        r"""\mathcal{L}(\pi) = \frac{1}{N}\sum_{i=1}^{N}\exp\left(\frac{1}{\beta}(R_i - V_i)\right)
        \norm{a_i - \pi(s_i)}_2^2, \quad \pi(s) = W_2\tanh(W_1 s + b_1)""",
        "s: matrix(N, d); a: matrix(N, m); R: vector(N); V: vector(N); "
        "beta: scalar positive; W_1: matrix(h, d); b_1: vector(h); W_2: matrix(m, h)",
        "W_1",
        lambda s, a, R, V, beta, W_1, b_1, W_2: np.mean(
            np.exp((R - V) / beta) * np.sum((a - np.tanh(s @ W_1.T + b_1) @ W_2.T) ** 2, axis=1)
        ),
    ),
]
