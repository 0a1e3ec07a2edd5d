r"""The twenty-third set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy.special import erf, expit, log_expit, log_softmax, softmax


def unit(X):
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


def relu(t):
    return np.maximum(t, 0)


def sq(A, B):
    return ((A[:, None, :] - B[None, :, :]) ** 2).sum(-1)


def arcface(X, W, y, s, m):
    C = unit(X) @ unit(W).T
    total = 0.0
    for i in range(len(X)):
        a = np.exp(s * np.cos(np.arccos(C[i, y[i]]) + m))
        total -= np.log(a / (a + sum(np.exp(s * C[i, j]) for j in range(len(W)) if j != y[i]))) / len(X)
    return total


def proxy(X, P, y):
    D = sq(unit(X), unit(P))
    return sum(D[i, y[i]] + np.log(sum(np.exp(-D[i, k]) for k in range(len(P)) if k != y[i])) for i in range(len(X)))


def batch_norm(X, y, gamma, beta, epsilon, w):
    Z = (X - X.mean(0)) / np.sqrt(X.var(axis=0) + epsilon)
    return np.mean((relu(gamma * Z + beta) @ w - y) ** 2)


def experts(x, Y, G, V):
    out = [sum(p * (E @ v) for p, E in zip(softmax(G @ v), V, strict=True)) for v in x]
    return np.sum((np.array(out) - Y) ** 2) / (2 * len(x))


def linear_attention(Q, K, V, Y):
    def phi(x):
        return np.where(x > 0, x, np.exp(x) - 1) + 1

    total = 0.0
    for i in range(len(Q)):
        s = [phi(Q[i]) @ phi(K[j]) for j in range(i + 1)]
        total += np.sum((sum(s[j] * V[j] for j in range(i + 1)) / sum(s) - Y[i]) ** 2)
    return total / len(Q)


def squeeze(U, W_1, W_2, Y):
    s = expit(W_2 @ relu(W_1 @ U.mean(axis=(1, 2))))
    return np.sum((s[:, None, None] * U - Y) ** 2)


def dpo(theta, V, X, w, l, beta):  # noqa: E741
    total = 0.0
    for i in range(len(X)):
        d = log_softmax(theta @ X[i]) - log_softmax(V @ X[i])
        total -= log_expit(beta * d[w[i]] - beta * d[l[i]])
    return total / len(X)


def reward(X, Y, W, b, v):
    def r(x):
        z = W @ x + b
        return v @ (z * 0.5 * (1 + erf(z / np.sqrt(2))))

    return -np.mean([log_expit(r(x) - r(y)) for x, y in zip(X, Y, strict=True)])


def light_gcn(A, X, y, u, v):
    E = (X + A @ X + A @ A @ X) / 3
    return sum(np.logaddexp(0, -y[s] * (E[u[s]] @ E[v[s]])) for s in range(len(y)))


def mincut(A, X, W):
    S = softmax(X @ W, axis=1)
    G = S.T @ S
    K = len(G)
    return -np.trace(S.T @ A @ S) / np.trace(S.T @ np.diag(A.sum(1)) @ S) + np.linalg.norm(
        G / np.linalg.norm(G) - np.eye(K) / np.sqrt(K)
    )


def attention_pooling(H, y, W, b, u, w):
    total = 0.0
    for n in range(len(H)):
        a = softmax(np.tanh(H[n] @ W.T + b) @ u)
        total += np.logaddexp(0, -y[n] * (w @ (a @ H[n])))
    return total / len(H)


def poincare(X, D):
    U = X / (1 + np.sqrt(1 + np.sum(X**2, axis=1, keepdims=True)))
    total = 0.0
    for i in range(len(X)):
        for j in range(i + 1, len(X)):
            q = 2 * np.sum((U[i] - U[j]) ** 2) / ((1 - U[i] @ U[i]) * (1 - U[j] @ U[j]))
            total += (np.arccosh(1 + q) - D[i, j]) ** 2
    return total


def sum_rate(H, W, sigma):
    G = (H @ W.T) ** 2
    return sum(np.log2(1 + G[k, k] / (sum(G[k, j] for j in range(len(H)) if j != k) + sigma**2)) for k in range(len(H)))


TWENTY_THIRD = [
    Passage(
        "BYOL",
        r"""\mathcal{L} = \frac{1}{n}\sum_{i=1}^{n}\left(2 - 2\cdot\frac{\langle q(\mathbf{z}_i),
        \mathbf{y}_i\rangle}{\|q(
        \mathbf{z}_i)\|_2\cdot\|\mathbf{y}_i\|_2}\right), where the predictor is $q(\mathbf{z}) =
        W_2\tanh(W_1\mathbf{z})$ and
        $\mathbf{y}_i$ are the target projections.""",
        "Z: matrix(n, d); Y: matrix(n, d); W_1: matrix(h, d); W_2: matrix(d, h)",
        "W_2",
        lambda Z, Y, W_1, W_2: np.mean(2 - 2 * np.sum(unit(np.tanh(Z @ W_1.T) @ W_2.T) * unit(Y), axis=1)),
    ),
    Passage(
        "ArcFace, twenty-third set",
        r"""L = -\frac1N\sum_{i=1}^{N}\log\frac{e^{s\cos(\theta_{i,y_i} + m)}}{e^{s\cos(\theta_{i,y_i} + m)} +
        \sum_{j=1, j\neq y_i}^{K} e^{s\cos\theta_{i,j}}}, where $\theta_{i,j} = \arccos\left(\frac{W_j^\top
        x_i}{\|W_j\|\|x_i\|}\right)$.""",
        "X: matrix(N, d); W: matrix(K, d); y: index(N); s: scalar positive; m: scalar positive",
        "W",
        arcface,
    ),
    Passage(
        "sum rate of a downlink",
        r"""\max_{\mathbf{w}_1, \dots, \mathbf{w}_K}\ \sum_{k=1}^{K}\log_2\left(1 + \frac{|\mathbf{h}_k^\top
        \mathbf{w}_k|^2}{\sum_{j\neq k}|\mathbf{h}_k^\top\mathbf{w}_j|^2 + \sigma^2}\right)""",
        "H: matrix(K, n); W: matrix(K, n); sigma: scalar positive",
        "W",
        sum_rate,
    ),
    Passage(
        "proxy-NCA",
        r"""L = -\sum_{i=1}^{n}\log\left(\frac{\exp(-d(x_i, p_{y_i}))}{\sum_{k\neq y_i}\exp(-d(x_i,
        p_k))}\right), \qquad
        d(x, p) = \left\|\frac{x}{\|x\|_2} - \frac{p}{\|p\|_2}\right\|_2^2""",
        "X: matrix(n, d); P: matrix(K, d); y: index(n)",
        "P",
        proxy,
    ),
    Passage(
        "soft-boundary deep SVDD",
        r"""\min_{R, W_1, W_2}\ R^2 + \frac{1}{\nu n}\sum_{i=1}^{n}\max\{0, \|\phi(x_i) - c\|^2 - R^2\} +
        \frac{\lambda}{2}\sum_{\ell=1}^{2}\|W_\ell\|_F^2, \quad \phi(x) = W_2\tanh(W_1 x)""",
        "R: scalar; X: matrix(n, d); "
        "W_1: matrix(h, d); W_2: matrix(k, h); c: vector(k); nu: scalar positive; lam: scalar positive",
        "W_1",
        lambda R, X, W_1, W_2, c, nu, lam: (
            R**2
            + np.sum(relu(np.sum((np.tanh(X @ W_1.T) @ W_2.T - c) ** 2, 1) - R**2)) / nu / len(X)
            + lam / 2 * (np.sum(W_1**2) + np.sum(W_2**2))
        ),
    ),
    Passage(
        "batch normalization",
        r"""\begin{aligned} \mu_j &= \frac1m\sum_{i=1}^{m} x_{ij}, \qquad \sigma_j^2 = \frac1m\sum_{i=1}^{m}(x_{ij} -
        \mu_j)^2, \\ \hat{x}_{ij} &= \frac{x_{ij} - \mu_j}{\sqrt{\sigma_j^2 + \epsilon}}, \qquad z_{ij} =
        \gamma_j\hat{x}_{ij} + \beta_j, \\
        \mathcal{L} &= \frac1m\sum_{i=1}^{m}\left(\sum_{j=1}^{d} w_j\max(0, z_{ij}) - y_i\right)^2 \end{aligned}""",
        "X: matrix(m, d); y: vector(m); gamma: vector(d); beta: vector(d); epsilon: scalar positive; w: vector(d)",
        "X",
        batch_norm,
    ),
    Passage(
        "mixture of experts",
        r"""\mathcal{L} = \frac{1}{2N}\sum_{i=1}^{N}\Big\|\sum_{k=1}^{K}
        \alpha_k(\mathbf{x}_i)\mathbf{V}_k\mathbf{x}_i -
        \mathbf{y}_i\Big\|_2^2, where $\alpha_k(\mathbf{x}) =
        \frac{\exp(\mathbf{g}_k^\top\mathbf{x})}{\sum_{l=1}^{K}\exp(\mathbf{g}_l^\top
        \mathbf{x})}$ is the gate of expert $k$.""",
        "x: matrix(N, d); Y: matrix(N, p); G: matrix(K, d); V: tensor(K, p, d)",
        "G",
        experts,
    ),
    Passage(
        "SwiGLU",
        r"""\mathrm{FFN}_{\mathrm{SwiGLU}}(X) = \left(\mathrm{Swish}(XW)\odot XV\right)W_2, \qquad
        \mathrm{Swish}(t) = t\,\sigma(t),
        \qquad \mathcal{L} = \frac1n\norm{\mathrm{FFN}_{\mathrm{SwiGLU}}(X) - Y}_F^2, where $\sigma$ is the sigmoid.""",
        "X: matrix(n, d); W: matrix(d, h); V: matrix(d, h); W_2: matrix(h, d); Y: matrix(n, d)",
        "W",
        lambda X, W, V, W_2, Y: np.sum((((X @ W) * expit(X @ W) * (X @ V)) @ W_2 - Y) ** 2) / len(X),
    ),
    Passage(
        "causal linear attention",
        r"""\mathcal{L} = \frac1N\sum_{i=1}^{N}\norm{o_i - y_i}_2^2, \qquad o_i = \frac{\sum_{j=1}^{i}\phi(q_i)^\top
        \phi(k_j)v_j}{\sum_{j=1}^{i}\phi(q_i)^\top\phi(k_j)}, \qquad \phi(x) = \operatorname{elu}(x) + 1, where
        $\operatorname{elu}(x) =
        \begin{cases} x & x > 0 \\ e^x - 1 & x\le 0 \end{cases}$.""",
        "Q: matrix(N, d); K: matrix(N, d); V: matrix(N, p); Y: matrix(N, p)",
        "K",
        linear_attention,
    ),
    Passage(
        "squeeze and excitation",
        r"""\begin{align} z_c &= \frac{1}{HW}\sum_{i=1}^{H}\sum_{j=1}^{W} u_{c,i,j}, \\ \mathbf{s} &= \sigma\left(
        \mathbf{W}_2\,\delta(\mathbf{W}_1\mathbf{z})\right), \\ \mathcal{L} &=
        \sum_{c=1}^{C}\sum_{i=1}^{H}\sum_{j=1}^{W}(s_c u_{c,i,j} -
        y_{c,i,j})^2, \end{align} where $\delta$ refers to the ReLU function and $\sigma$ to the sigmoid.""",
        "U: tensor(C, H, W); W_1: matrix(r, C); W_2: matrix(C, r); Y: tensor(C, H, W)",
        "W_1",
        squeeze,
    ),
    Passage(
        "direct preference optimization",
        r"""$$\mathcal{L}_{\mathrm{DPO}} = -\frac1N\sum_{i=1}^{N}\log\sigma\left(\beta\log\frac{\pi_\theta(w_i
        \mid x_i)}{\pi_{\mathrm{ref}}(w_i\mid x_i)} - \beta\log\frac{\pi_\theta(l_i\mid
        x_i)}{\pi_{\mathrm{ref}}(l_i\mid x_i)}\right)$$ where
        $\pi_\theta(k\mid x) = \frac{\exp(\theta_k^\top x)}{\sum_{j=1}^{K}\exp(\theta_j^\top x)}$,
        $\pi_{\mathrm{ref}}(k\mid x) = \frac{\exp(
        v_k^\top x)}{\sum_{j=1}^{K}\exp(v_j^\top x)}$ and $\sigma$ is the logistic function.""",
        "theta: matrix(K, d); V: matrix(K, d); X: matrix(N, d); w: index(N); l: index(N); beta: scalar positive",
        "theta",
        dpo,
    ),
    Passage(
        "reward model",
        r"""\mathcal{L} = -\frac1N\sum_{i=1}^{N}\log\sigma\left(r(\mathbf{x}_i) - r(\mathbf{y}_i)\right), where
        $\sigma(t) = 1/(1 +
        e^{-t})$, $r(\mathbf{x}) = \mathbf{v}^\top\operatorname{GELU}(\mathbf{W}\mathbf{x} + \mathbf{b})$ and
        $\operatorname{GELU}(z) = z\Phi(z)$
        with the standard normal cdf $\Phi$.""",
        "X: matrix(N, d); Y: matrix(N, d); W: matrix(h, d); b: vector(h); v: vector(h)",
        "W",
        reward,
    ),
    Passage(
        "LoRA, twenty-third set",
        r"""\min_{A, B}\ \frac1N\sum_{i=1}^{N}\left\|\left(W_0 + \frac{\alpha}{r}BA\right)x_i - y_i\right\|_2^2""",
        "X: matrix(N, d); Y: matrix(N, p); W_0: matrix(p, d); B: matrix(p, r); A: matrix(r, d); alpha: scalar positive",
        "A",
        lambda X, Y, W_0, B, A, alpha: np.sum((X @ (W_0 + alpha / len(A) * B @ A).T - Y) ** 2) / len(X),
    ),
    Passage(
        "LightGCN",
        r"""\mathcal{L} = \sum_{s=1}^{S}\log\left(1 + \exp(-y_s\,\mathbf{e}_{u_s}^\top\mathbf{e}_{v_s})\right),
        where $\mathbf{e}_i$ is
        the $i$-th row of $E = \frac{1}{3}\sum_{k=0}^{2} A^k X$.""",
        "A: matrix(N, N) symmetric; X: matrix(N, d); y: vector(S); u: index(S); v: index(S)",
        "X",
        light_gcn,
    ),
    Passage(
        "MinCut pooling",
        r"""\mathcal{L} = -\frac{\operatorname{Tr}(S^\top AS)}{\operatorname{Tr}(S^\top DS)} +
        \left\|\frac{S^\top S}{\|S^\top
        S\|_F} - \frac{I_K}{\sqrt{K}}\right\|_F, where $S = \operatorname{softmax}(XW)$ row by row and $D =
        \operatorname{diag}(A\mathbf{1})$.""",
        "A: matrix(N, N) symmetric positive; X: matrix(N, d); W: matrix(d, K)",
        "W",
        mincut,
    ),
    Passage(
        "ListNet",
        r"""L(w) = -\sum_{q=1}^{Q}\sum_{j=1}^{n}\frac{\exp(y_{qj})}{\sum_{k=1}^{n}\exp(y_{qk})}
        \log\frac{\exp(s_{qj})}{\sum_{k=1}^{n}
        \exp(s_{qk})}, \qquad s_{qj} = w^\top x_{qj}""",
        "x: tensor(Q, n, d); y: matrix(Q, n); w: vector(d)",
        "w",
        lambda x, y, w: -np.sum(softmax(y, axis=1) * log_softmax(x @ w, axis=1)),
    ),
    Passage(
        "attention pooling of documents",
        r"""\begin{gather} e_{nt} = u^\top\tanh(Wh_{nt} + b), \\ \alpha_{nt} = \frac{\exp(e_{nt})}{\sum_{\tau=1
        }^{T}\exp(e_{n\tau})}, \\ c_n = \sum_{t=1}^{T}\alpha_{nt}h_{nt}, \\ \mathcal{L} =
        \frac1N\sum_{n=1}^{N}\log\left(1 + \exp(-y_n w^\top c_n)
        \right) \end{gather}""",
        "H: tensor(N, T, d); y: vector(N); W: matrix(k, d); b: vector(k); u: vector(k); w: vector(d)",
        "W",
        attention_pooling,
    ),
    Passage(
        "hyperbolic multidimensional scaling",
        r"""\min_X\ \sum_{i<j}\left(d(\mathbf{u}_i, \mathbf{u}_j) - D_{ij}\right)^2, \qquad \mathbf{u}_i =
        \frac{\mathbf{x}_i}{1 + \sqrt{1 + \|\mathbf{x}_i\|^2}}, where $$d(\mathbf{u}, \mathbf{v}) =
        \operatorname{arcosh}\left(1 + 2\frac{\|
        \mathbf{u} - \mathbf{v}\|^2}{(1 - \|\mathbf{u}\|^2)(1 - \|\mathbf{v}\|^2)}\right).$$""",
        "X: matrix(n, d); D: matrix(n, n) symmetric",
        "X",
        poincare,
    ),
]
