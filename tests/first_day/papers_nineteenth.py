r"""The nineteenth set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy.special import expit, log_expit, log_softmax, softmax


def unit(X):
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


def relu(t):
    return np.maximum(t, 0)


def sq(A, B):
    return ((A[:, None, :] - B[None, :, :]) ** 2).sum(-1)


def clip_loss(X, Y, tau):
    S = unit(X) @ unit(Y).T / tau
    return -(np.trace(log_softmax(S, axis=1)) + np.trace(log_softmax(S, axis=0))) / (2 * len(X))


def gat(H, A, W, a_1, a_2, Y):
    Z = H @ W.T
    e = (Z @ a_1)[:, None] + (Z @ a_2)[None, :]
    E = A * np.exp(np.where(e > 0, e, 0.2 * e))
    return np.sum((E / E.sum(1, keepdims=True) @ Z - Y) ** 2) / len(H)


def ddpm(x_0, epsilon, beta, W_1, b_1, W_2):
    total = 0.0
    for t in range(len(beta)):
        ab = np.prod(1 - beta[: t + 1])
        x = np.sqrt(ab) * x_0 + np.sqrt(1 - ab) * epsilon[t]
        total += np.sum((epsilon[t] - W_2 @ np.tanh(W_1 @ x + b_1)) ** 2)
    return total / len(beta)


def vae(x, A, B, W, b, epsilon):
    mu, s = A @ x, np.exp(0.5 * B @ x)
    rec = np.mean([-0.5 * np.sum((x - W @ (mu + s * e) - b) ** 2) for e in epsilon])
    return rec + 0.5 * np.sum(1 + np.log(s**2) - mu**2 - s**2)


def reinforce(theta, s, a, r, gamma, b):
    T = len(r)
    total = 0.0
    for t in range(T):
        G = sum(gamma ** (k - t) * r[k] for k in range(t, T))
        total += log_softmax(theta @ s[t])[a[t]] * (G - b)
    return total / T


def dqn(W, U, s, a, r, gamma, kappa):
    total = 0.0
    for t in range(len(s) - 1):
        x = r[t] + gamma * np.max(U @ s[t + 1]) - W[a[t]] @ s[t]
        total += 0.5 * x**2 if abs(x) <= kappa else kappa * (abs(x) - kappa / 2)
    return total / (len(s) - 1)


def trend(y, x, lam):
    return 0.5 * np.sum((y - x) ** 2) + lam * sum(abs(x[t - 1] - 2 * x[t] + x[t + 1]) for t in range(1, len(x) - 1))


def tv(u, f, lam, epsilon):
    g = (u[1:, :-1] - u[:-1, :-1]) ** 2 + (u[:-1, 1:] - u[:-1, :-1]) ** 2
    return 0.5 * np.sum((u - f) ** 2) + lam * np.sum(np.sqrt(g + epsilon**2))


def decon(y, h, x, lam, mu):
    n = len(y)
    r = [y[t] - sum(h[t - k] * x[k] for k in range(t + 1)) for t in range(n)]
    return 0.5 * np.dot(r, r) + lam * np.sum(abs(x)) + mu / 2 * h @ h


def gp(X, y, sigma_f, sigma_n, ell):
    K = sigma_f**2 * np.exp(-sq(X, X) / (2 * ell**2)) + sigma_n**2 * np.eye(len(y))
    return -0.5 * y @ np.linalg.solve(K, y) - 0.5 * np.linalg.slogdet(K)[1] - len(y) / 2 * np.log(2 * np.pi)


def vfe(X, y, Z, sigma, ell):
    k = lambda A, B: np.exp(-sq(A, B) / (2 * ell**2))  # noqa: E731
    Q = k(X, Z) @ np.linalg.solve(k(Z, Z), k(Z, X))
    S = Q + sigma**2 * np.eye(len(y))
    fit = -len(y) / 2 * np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(S)[1] - 0.5 * y @ np.linalg.solve(S, y)
    return fit - np.trace(k(X, X) - Q) / (2 * sigma**2)


def glove(X, w, c, b, d, alpha, x_max):
    f = np.where(x_max > X, (X / x_max) ** alpha, 1.0)
    return np.sum(f * (w @ c.T + b[:, None] + d[None, :] - np.log(X)) ** 2)


NINETEENTH = [
    Passage(
        "clip",
        r"""\begin{equation} \mathcal{L} = -\frac{1}{2N}\sum_{i=1}^{N}\left[\log\frac{\exp(\mathbf{u}_i^\top
        \mathbf{v}_i/\tau)}{\sum_{j=1}^{N}\exp(\mathbf{u}_i^\top\mathbf{v}_j/\tau)} +
        \log\frac{\exp(\mathbf{u}_i^\top\mathbf{v}_i
        /\tau)}{\sum_{j=1}^{N}\exp(\mathbf{u}_j^\top\mathbf{v}_i/\tau)}\right], \end{equation} where
        $\mathbf{u}_i = \mathbf{x}_i /
        \|\mathbf{x}_i\|_2$ and $\mathbf{v}_i = \mathbf{y}_i / \|\mathbf{y}_i\|_2$ are the normalized embeddings.""",
        "X: matrix(N, d); Y: matrix(N, d); tau: scalar positive",
        "X",
        clip_loss,
    ),
    Passage(
        "focal loss, nineteenth set",
        r"""\mathrm{FL} = -\frac{1}{N}\sum_{i=1}^{N}\Big[\alpha\, y_i (1-p_i)^{\gamma}\log p_i + (1-\alpha)(1-y_i)\,
        p_i^{\gamma}\log(1-p_i)\Big], where $p_i = \sigma(\mathbf{w}^\top\mathbf{x}_i + b)$ and $\sigma(z) =
        \frac{1}{1+e^{-z}}$.""",
        "X: matrix(N, d); y: vector(N); w: vector(d); b: scalar; alpha: scalar; gamma: scalar positive",
        "w",
        lambda X, y, w, b, alpha, gamma: (
            -np.mean(
                alpha * y * (1 - expit(X @ w + b)) ** gamma * log_expit(X @ w + b)
                + (1 - alpha) * (1 - y) * expit(X @ w + b) ** gamma * log_expit(-X @ w - b)
            )
        ),
        ("alpha", "y"),
    ),
    Passage(
        "label smoothing, nineteenth set",
        r"""\mathcal{L}_{\mathrm{LS}} = -\frac{1}{n}\sum_{i=1}^{n}\left[(1-\epsilon)\log p_{i,y_i} +
        \frac{\epsilon}{K}\sum_{k=1}^{K}\log p_{i,k}\right], \qquad p_{i,k} =
        \frac{\exp(z_{i,k})}{\sum_{l=1}^{K}\exp(z_{i,l})}""",
        "z: matrix(n, K); y: index(n); epsilon: scalar positive",
        "z",
        lambda z, y, epsilon: (
            -np.mean(
                [(1 - epsilon) * log_softmax(z[i])[y[i]] + epsilon * log_softmax(z[i]).mean() for i in range(len(y))]
            )
        ),
    ),
    Passage(
        "triplet loss, nineteenth set",
        r"""$$L = \sum_{i=1}^{m}\Big[\norm{f(\mathbf{a}_i) - f(\mathbf{p}_i)}_2^2 - \norm{f(\mathbf{a}_i) -
        f(\mathbf{n}_i)}_2^2 + \alpha\Big]_+$$ where $f(\mathbf{x}) = W\mathbf{x}/\norm{W\mathbf{x}}_2$ is the
        embedding and $[t]_+ =
        \max(t, 0)$.""",
        "A: matrix(m, d); P: matrix(m, d); N: matrix(m, d); W: matrix(k, d); alpha: scalar positive",
        "W",
        lambda A, P, N, W, alpha: np.sum(
            relu(
                np.sum((unit(A @ W.T) - unit(P @ W.T)) ** 2, 1)
                - np.sum((unit(A @ W.T) - unit(N @ W.T)) ** 2, 1)
                + alpha
            )
        ),
    ),
    Passage(
        "attention, nineteenth set",
        r"""\mathcal{L}(W_Q, W_K, W_V) = \frac{1}{n}\left\|\operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}
        \right)V - Y\right\|_F^2, where $Q = XW_Q$, $K = XW_K$, $V = XW_V$ and the softmax is applied to each row.""",
        "X: matrix(n, d); W_Q: matrix(d, d_k); W_K: matrix(d, d_k); W_V: matrix(d, p); Y: matrix(n, p)",
        "W_Q",
        lambda X, W_Q, W_K, W_V, Y: (
            np.sum((softmax(X @ W_Q @ W_K.T @ X.T / np.sqrt(W_Q.shape[1]), axis=1) @ X @ W_V - Y) ** 2) / len(X)
        ),
    ),
    Passage(
        "graph attention, nineteenth set",
        r"""\begin{aligned} e_{ij} &= \operatorname{LeakyReLU}\left(\mathbf{a}_1^\top W\mathbf{h}_i +
        \mathbf{a}_2^\top W\mathbf{h}_j\right), \\ \alpha_{ij} &= \frac{A_{ij}\exp(e_{ij})}{\sum_{k=1}^{N}
        A_{ik}\exp(e_{ik})}, \\
        \mathcal{L} &= \frac1N\sum_{i=1}^{N}\Big\|\sum_{j=1}^{N}\alpha_{ij}W\mathbf{h}_j -
        \mathbf{y}_i\Big\|_2^2, \end{aligned}
        where $\operatorname{LeakyReLU}(t) = \max(t, 0.2t)$.""",
        "H: matrix(N, d); A: matrix(N, N) positive; W: matrix(p, d); a_1: vector(p); a_2: vector(p); Y: matrix(N, p)",
        "W",
        gat,
    ),
    Passage(
        "bayesian personalized ranking",
        r"""\sum_{s=1}^{S} -\ln\sigma\left(\hat{x}_{u_s i_s} - \hat{x}_{u_s j_s}\right) + \lambda
        \left(\|P\|_F^2 + \|Q\|_F^2\right), \quad \hat{x}_{ui} = \mathbf{p}_u^\top\mathbf{q}_i + b_i, where
        $\sigma$ is the logistic
        sigmoid.""",
        "P: matrix(n, k); Q: matrix(m, k); b: vector(m); u: index(S); i: index(S); j: index(S); lam: scalar positive",
        "Q",
        lambda P, Q, b, u, i, j, lam: (
            sum(-log_expit(P[u[s]] @ Q[i[s]] + b[i[s]] - P[u[s]] @ Q[j[s]] - b[j[s]]) for s in range(len(u)))
            + lam * (np.sum(P**2) + np.sum(Q**2))
        ),
    ),
    Passage(
        "glove",
        r"""$$J = \sum_{i,j=1}^{V} f(X_{ij})\left(w_i^\top c_j + b_i + d_j - \log X_{ij}\right)^2, \qquad f(x) =
        \begin{cases} (x/x_{\max})^{\alpha} & \text{if } x < x_{\max}, \\ 1 & \text{otherwise.}\end{cases}$$""",
        "X: matrix(V, V) positive; w: matrix(V, p); c: matrix(V, p); b: vector(V); d: vector(V); alpha: scalar; "
        "x_max: scalar positive",
        "w",
        glove,
    ),
    Passage(
        "variational autoencoder",
        r"""\mathcal{L}(\mathbf{x}) = \frac{1}{L}\sum_{l=1}^{L}\left(-\frac12\norm{\mathbf{x} -
        \mathbf{W}\mathbf{z}_l - \mathbf{b}}_2^2\right) + \frac{1}{2}\sum_{j=1}^{J}\left(1 + \log\sigma_j^2 -
        \mu_j^2 - \sigma_j^2\right),
        where $\mathbf{z}_l = \boldsymbol{\mu} + \boldsymbol{\sigma}\odot\boldsymbol{\epsilon}_l$,
        $\boldsymbol\mu = \mathbf{A}\mathbf{x}$
        and $\boldsymbol\sigma = \exp(\frac12\mathbf{B}\mathbf{x})$.""",
        "x: vector(d); A: matrix(J, d); B: matrix(J, d); W: matrix(d, J); b: vector(d); epsilon: matrix(L, J)",
        "B",
        vae,
    ),
    Passage(
        "denoising diffusion, nineteenth set",
        r"""L_{\text{simple}} = \frac{1}{T}\sum_{t=1}^{T}\left\|\boldsymbol\epsilon_t -
        \boldsymbol\epsilon_\theta\left(\sqrt{\bar\alpha_t}\,\mathbf{x}_0 +
        \sqrt{1-\bar\alpha_t}\,\boldsymbol\epsilon_t\right)\right\|^2
        where $\alpha_t = 1-\beta_t$, $\bar\alpha_t = \prod_{s=1}^{t}\alpha_s$ and
        $\boldsymbol\epsilon_\theta(\mathbf{x}) =
        W_2\tanh(W_1\mathbf{x} + b_1)$.""",
        "x_0: vector(d); epsilon: matrix(T, d); beta: vector(T) positive; W_1: matrix(h, d); "
        "b_1: vector(h); W_2: matrix(d, h)",
        "W_1",
        ddpm,
        ("beta",),
    ),
    Passage(
        "least squares gan",
        r"""\min_D V(D) = \frac{1}{2m}\sum_{i=1}^{m}\left(D(\mathbf{x}_i) - 1\right)^2 + \frac{1}{2m}
        \sum_{i=1}^{m} D(G(\mathbf{z}_i))^2, where $D(\mathbf{x}) = \mathbf{w}^\top\tanh(\mathbf{A}\mathbf{x} +
        \mathbf{b})$ and
        $G(\mathbf{z}) = \mathbf{B}\mathbf{z}$.""",
        "X: matrix(m, d); Z: matrix(m, k); w: vector(h); A: matrix(h, d); b: vector(h); B: matrix(d, k)",
        "A",
        lambda X, Z, w, A, b, B: (
            (np.sum((np.tanh(X @ A.T + b) @ w - 1) ** 2) + np.sum((np.tanh(Z @ B.T @ A.T + b) @ w) ** 2)) / (2 * len(X))
        ),
    ),
    Passage(
        "reinforce",
        r"""J(\theta) = \frac{1}{T}\sum_{t=1}^{T}\log\pi_\theta(a_t \mid s_t)\,(G_t - b), \quad G_t = \sum_{k=t}^{T}
        \gamma^{k-t} r_k, \quad \pi_\theta(a \mid s) = \frac{\exp(\theta_a^\top
        s)}{\sum_{c=1}^{K}\exp(\theta_c^\top s)}""",
        "theta: matrix(K, d); s: matrix(T, d); a: index(T); r: vector(T); gamma: scalar positive; b: scalar",
        "theta",
        reinforce,
    ),
    Passage(
        "deep q-learning with Huber loss",
        r"""\mathcal{L}(W) = \frac{1}{T-1}\sum_{t=1}^{T-1} H_\kappa\left(r_t + \gamma\max_{a'}
        \mathbf{u}_{a'}^\top\mathbf{s}_{t+1} - \mathbf{w}_{a_t}^\top\mathbf{s}_t\right), where $$H_\kappa(x) =
        \begin{cases}
        \frac12 x^2, & |x| \le \kappa, \\ \kappa\left(|x| - \frac12\kappa\right), & \text{otherwise.} \end{cases}$$""",
        "W: matrix(K, d); U: matrix(K, d); s: matrix(T, d); a: index(T); r: vector(T); gamma: scalar; kappa: "
        "scalar positive",
        "W",
        dqn,
    ),
    Passage(
        "total variation denoising",
        r"""\min_{u}\; \frac12\|u - f\|_F^2 + \lambda\sum_{i=1}^{m-1}\sum_{j=1}^{n-1}\sqrt{(u_{i+1,j} -
        u_{i,j})^2 + (u_{i,j+1} - u_{i,j})^2 + \epsilon^2}""",
        "u: matrix(m, n); f: matrix(m, n); lam: scalar positive; epsilon: scalar positive",
        "u",
        tv,
    ),
    Passage(
        "l1 trend filtering",
        r"""\frac{1}{2}\sum_{t=1}^{n}(y_t - x_t)^2 + \lambda\sum_{t=2}^{n-1}|x_{t-1} - 2x_t + x_{t+1}|""",
        "y: vector(n); x: vector(n); lam: scalar positive",
        "x",
        trend,
    ),
    Passage(
        "sparse blind deconvolution",
        r"""\min_{h, x}\ \frac12\sum_{t=1}^{n}\left(y_t - \sum_{k=1}^{t} h_{t-k+1}x_k\right)^2 +
        \lambda\|x\|_1 + \frac{\mu}{2}\|h\|_2^2""",
        "y: vector(n); h: vector(n); x: vector(n); lam: scalar positive; mu: scalar positive",
        "h",
        decon,
    ),
    Passage(
        "Gaussian process, squared exponential",
        r"""\log p(\mathbf{y} \mid X) = -\frac12\mathbf{y}^\top K_y^{-1}\mathbf{y} - \frac12
        \log|K_y| - \frac{n}{2}\log 2\pi, where $(K_y)_{ij} = \sigma_f^2\exp\left(-\frac{\|\mathbf{x}_i -
        \mathbf{x}_j\|^2}{2\ell^2}
        \right) + \sigma_n^2\delta_{ij}$.""",
        "X: matrix(n, d); y: vector(n); sigma_f: scalar positive; sigma_n: scalar positive; ell: scalar positive",
        "ell",
        gp,
    ),
    Passage(
        "sparse Gaussian process",
        r"""F_V = \log\mathcal{N}\left(\mathbf{y} \mid \mathbf{0}, \sigma^2 I + Q_{nn}\right) -
        \frac{1}{2\sigma^2}\operatorname{Tr}(K_{nn} - Q_{nn}), \qquad Q_{nn} = K_{nm}K_{mm}^{-1}K_{mn}, where
        $[K_{nn}]_{ij} =
        k(\mathbf{x}_i, \mathbf{x}_j)$, $[K_{nm}]_{ij} = k(\mathbf{x}_i, \mathbf{z}_j)$, $K_{mn} =
        K_{nm}^\top$, $[K_{mm}]_{ij} =
        k(\mathbf{z}_i, \mathbf{z}_j)$ and $k(\mathbf{x}, \mathbf{z}) = \exp(-\|\mathbf{x} -
        \mathbf{z}\|^2/(2\ell^2))$.""",
        "X: matrix(n, d); y: vector(n); Z: matrix(m, d); sigma: scalar positive; ell: scalar positive",
        "Z",
        vfe,
    ),
]
