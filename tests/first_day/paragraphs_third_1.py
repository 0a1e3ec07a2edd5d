r"""Whole paragraphs of LaTeX from papers, third set, part 1: written by someone who had seen no code."""

import numpy as np
from first_day.paragraph import Paragraph


def lse(v):
    v = np.asarray(v)
    return v.max() + np.log(np.sum(np.exp(v - v.max())))


def softmax_reg(X, y, W, b, **k):
    n = X.shape[0]
    tot = 0.0
    for i in range(n):
        s = W.T @ X[i] + b
        tot += -(s[y[i]] - lse(s))
    return tot / n + k["lambda"] / 2 * np.sum(W**2)


def planar(X, U, W, b):
    n, d = X.shape
    K = U.shape[0]
    tot = 0.0
    for i in range(n):
        z = X[i].copy()
        tot += -d / 2 * np.log(2 * np.pi) - 0.5 * z @ z
        for k in range(K):
            a = W[k] @ z + b[k]
            psi = (1 - np.tanh(a) ** 2) * W[k]
            tot -= np.log(abs(1 + U[k] @ psi))
            z = z + U[k] * np.tanh(a)
    return tot / n


def clip_loss(U, V, t):
    N = U.shape[0]
    S = np.zeros((N, N))
    for i in range(N):
        for j in range(N):
            S[i, j] = np.exp(t) * (U[i] @ V[j]) / (np.linalg.norm(U[i]) * np.linalg.norm(V[j]))
    tot = 0.0
    for i in range(N):
        tot += S[i, i] - lse(S[i, :]) + (S[i, i] - lse(S[:, i]))
    return -tot / (2 * N)


def barlow(Z, Y, **k):
    N, d = Z.shape
    C = np.zeros((d, d))
    for i in range(d):
        for j in range(d):
            C[i, j] = np.sum(Z[:, i] * Y[:, j]) / (np.sqrt(np.sum(Z[:, i] ** 2)) * np.sqrt(np.sum(Y[:, j] ** 2)))
    a = sum((1 - C[i, i]) ** 2 for i in range(d))
    b = sum(C[i, j] ** 2 for i in range(d) for j in range(d) if i != j)
    return a + k["lambda"] * b


def vae(X, A, B, c, W, b, epsilon):
    n = X.shape[0]
    tot = 0.0
    for i in range(n):
        mu = A @ X[i]
        s2 = np.exp(B @ X[i] + c)
        z = mu + np.sqrt(s2) * epsilon[i]
        r = X[i] - W @ z - b
        tot += 0.5 * r @ r - 0.5 * np.sum(1 + np.log(s2) - mu**2 - s2)
    return tot / n


def ddpm(X, epsilon, t, beta, W_1, W_2, E):
    N = X.shape[0]
    tot = 0.0
    for i in range(N):
        ab = 1.0
        for s in range(t[i] + 1):
            ab *= 1 - beta[s]
        xt = np.sqrt(ab) * X[i] + np.sqrt(1 - ab) * epsilon[i]
        r = epsilon[i] - W_2 @ np.tanh(W_1 @ xt + E[t[i]])
        tot += r @ r
    return tot / N


def scorematch(X, W, alpha):
    n = X.shape[0]  # noqa: F841
    m = W.shape[0]
    tot = 0.0
    for k in range(m):
        tot += alpha[k] * np.mean([-(1 - np.tanh(W[k] @ x) ** 2) for x in X]) * (W[k] @ W[k])
    for j in range(m):
        for k in range(m):
            tot += (
                0.5 * alpha[j] * alpha[k] * (W[j] @ W[k]) * np.mean([np.tanh(W[j] @ x) * np.tanh(W[k] @ x) for x in X])
            )
    return tot


def ppo(S, a, A, mu, theta, epsilon, c):
    T = S.shape[0]
    tot = 0.0
    for t in range(T):
        l = theta @ S[t]  # noqa: E741
        logp = l - lse(l)
        r = np.exp(logp[a[t]]) / mu[t]
        rc = min(max(r, 1 - epsilon), 1 + epsilon)
        tot += min(r * A[t], rc * A[t]) - c * np.sum(np.exp(logp) * logp)
    return tot / T


def gae(r, S, v, gamma, **k):
    T = len(r)
    V = [S[t] @ v for t in range(T)] + [0.0]
    delta = [r[t] + gamma * V[t + 1] - V[t] for t in range(T)]
    tot = 0.0
    for t in range(T):
        a = 0.0
        for l in range(T - t):  # noqa: E741
            a += (gamma * k["lambda"]) ** l * delta[t + l]
        tot += a**2
    return tot / (2 * T)


THIRD_1 = [
    Paragraph(
        "multinomial logistic regression",
        r"""
Given labels $y_i \in \{1,\dots,K\}$ we minimize the regularized cross-entropy
\begin{equation}
\mathcal{L}(W, b) = -\frac{1}{n}\sum_{i=1}^{n} \log \frac{\exp(w_{y_i}^\top x_i + b_{y_i})}{\sum_{k=1}^{K}
\exp(w_k^\top x_i + b_k)} + \frac{\lambda}{2}\|W\|_F^2,
\end{equation}
where $w_k$ denotes the $k$-th column of $W \in \mathbb{R}^{d \times K}$.
""",
        "X: matrix(n, d); y: index(n); W: matrix(d, K); b: vector(K); lambda: scalar positive",
        "W",
        softmax_reg,
        ranges={"y": "K"},
    ),
    Paragraph(
        "planar normalizing flow",
        r"""
We apply a sequence of $K$ planar maps to each sample $\mathbf{x}_i$, starting from $\mathbf{z}_i^{(0)} =
\mathbf{x}_i$,
\begin{equation}
\mathbf{z}_i^{(k)} = \mathbf{z}_i^{(k-1)} + \mathbf{u}_k \tanh\!\big(\mathbf{w}_k^\top \mathbf{z}_i^{(k-1)} +
b_k\big), \qquad k = 1, \dots, K.
\end{equation}
The average log density of the transformed samples is
\begin{equation}
\mathcal{F} = \frac{1}{n} \sum_{i=1}^n \Big[ \log q_0(\mathbf{x}_i) - \sum_{k=1}^{K} \log \big| 1 +
\mathbf{u}_k^\top \psi_k(\mathbf{z}_i^{(k-1)}) \big| \Big],
\end{equation}
where $\psi_k(\mathbf{z}) = \big(1 - \tanh^2(\mathbf{w}_k^\top \mathbf{z} + b_k)\big)\mathbf{w}_k$ and
$q_0(\mathbf{x}) = (2\pi)^{-d/2} \exp(-\tfrac{1}{2}\|\mathbf{x}\|^2)$. Here $\mathbf{u}_k$ and $\mathbf{w}_k$ are
the $k$-th rows of $U$ and $W$.
""",
        "X: matrix(n, d); U: matrix(K, d); W: matrix(K, d); b: vector(K)",
        "U",
        planar,
        refused="several formulas",
    ),
    Paragraph(
        "image-text contrastive pretraining",
        r"""
Let $\mathbf{u}_i$ and $\mathbf{v}_i$ be the image and text embeddings of the $i$-th pair in a batch of size $N$.
With the scaled cosine similarity
\[
s_{ij} = e^{t}\, \frac{\mathbf{u}_i^\top \mathbf{v}_j}{\|\mathbf{u}_i\|_2 \, \|\mathbf{v}_j\|_2},
\]
the symmetric InfoNCE loss reads
\[
\mathcal{L} = -\frac{1}{2N} \sum_{i=1}^{N} \left[ \log \frac{e^{s_{ii}}}{\sum_{j=1}^{N} e^{s_{ij}}} + \log
\frac{e^{s_{ii}}}{\sum_{j=1}^{N} e^{s_{ji}}} \right],
\]
where $t$ is a learnable log temperature.
""",
        "U: matrix(N, d); V: matrix(N, d); t: scalar",
        "U",
        clip_loss,
    ),
    Paragraph(
        "redundancy reduction (Barlow Twins)",
        r"""
The loss function is
\begin{equation}
\mathcal{L}_{\mathcal{BT}} \triangleq \underbrace{\sum_{i} (1 - \mathcal{C}_{ii})^2}_{\text{invariance term}} +
\lambda \underbrace{\sum_{i} \sum_{j \neq i} \mathcal{C}_{ij}^2}_{\text{redundancy reduction term}}
\end{equation}
where $\lambda$ is a positive constant trading off the importance of the first and second terms of the loss, and
where $\mathcal{C}$ is the $d \times d$ cross-correlation matrix computed between the outputs $Z$ and $Y$ of the two
identical networks along the batch dimension:
\begin{equation}
\mathcal{C}_{ij} \triangleq \frac{\sum_b Z_{b,i} Y_{b,j}}{\sqrt{\sum_b (Z_{b,i})^2} \sqrt{\sum_b (Y_{b,j})^2}}
\end{equation}
where $b$ indexes batch samples and $i, j$ index the vector dimension of the networks' outputs.
""",
        "Z: matrix(N, d); Y: matrix(N, d); lambda: scalar positive",
        "Z",
        barlow,
    ),
    Paragraph(
        "variational autoencoder",
        r"""
The encoder outputs $\mu_i = A x_i$ and $\log \sigma_i^2 = B x_i + c$, and we sample the latent code with the
reparameterization trick,
\[
z_i = \mu_i + \sigma_i \odot \epsilon_i .
\]
With a Gaussian decoder of unit variance, the negative ELBO is, up to a constant,
\[
\mathcal{L} = \frac{1}{n}\sum_{i=1}^{n} \left\{ \frac{1}{2} \left\| x_i - W z_i - b \right\|^2 - \frac{1}{2}
\sum_{j=1}^{k} \left( 1 + \log \sigma_{ij}^2 - \mu_{ij}^2 - \sigma_{ij}^2 \right) \right\}.
\]
""",
        "X: matrix(n, d); A: matrix(k, d); B: matrix(k, d); c: vector(k); W: matrix(d, k); b: vector(d); epsilon: matrix(n, k)",  # noqa: E501
        "A",
        vae,
    ),
    Paragraph(
        "denoising diffusion",
        r"""
Let $\alpha_t = 1 - \beta_t$ and $\bar{\alpha}_t = \prod_{s=1}^{t} \alpha_s$. We train with the simplified objective
\begin{align}
L_{\mathrm{simple}} &= \frac{1}{N} \sum_{i=1}^{N} \Big\| \epsilon_i - \epsilon_\theta\big(
\sqrt{\bar{\alpha}_{t_i}}\, x_i + \sqrt{1 - \bar{\alpha}_{t_i}}\, \epsilon_i,\; t_i \big) \Big\|^2, \\
\epsilon_\theta(x, t) &= W_2 \tanh(W_1 x + e_t),
\end{align}
where $e_t$, the $t$-th row of $E$, is the embedding of time step $t$.
""",
        "X: matrix(N, d); epsilon: matrix(N, d); t: index(N); beta: vector(T); W_1: matrix(H, d); W_2: matrix(d, H); E: matrix(T, H)",  # noqa: E501
        "W_1",
        ddpm,
        fractions=("beta",),
        ranges={"t": "T"},
    ),
    Paragraph(
        "score matching for overcomplete ICA",
        r"""
Consider the model $\log p(\mathbf{x}) = \sum_{k=1}^{m} \alpha_k G(\mathbf{w}_k^T \mathbf{x}) + \mathrm{const.}$
with $G(u) = -\log\cosh(u)$. The score matching objective becomes
\begin{equation}
\tilde{J} = \sum_{k=1}^{m} \alpha_k \frac{1}{n} \sum_{i=1}^{n} g'(\mathbf{w}_k^T \mathbf{x}_i)\, \mathbf{w}_k^T
\mathbf{w}_k + \frac{1}{2} \sum_{j=1}^{m} \sum_{k=1}^{m} \alpha_j \alpha_k \mathbf{w}_j^T \mathbf{w}_k \frac{1}{n}
\sum_{i=1}^{n} g(\mathbf{w}_j^T \mathbf{x}_i) g(\mathbf{w}_k^T \mathbf{x}_i)
\end{equation}
where $g$ denotes the first derivative of $G$ and $g'$ its second derivative, and $\mathbf{w}_k$ is the $k$-th row
of $\mathbf{W}$.
""",
        "X: matrix(n, d); W: matrix(m, d); alpha: vector(m)",
        "W",
        scorematch,
        refused="several formulas",
    ),
    Paragraph(
        "proximal policy optimization",
        r"""
Let $r_t(\theta)$ denote the probability ratio $r_t(\theta) = \pi_\theta(a_t \mid s_t) / \mu_t$, where $\mu_t$ is
the probability of action $a_t$ under the behavior policy, recorded during the rollout, and
\[
\pi_\theta(a \mid s) = \frac{\exp(\theta_a^\top s)}{\sum_{a'=1}^{K} \exp(\theta_{a'}^\top s)} .
\]
We maximize
\[
L(\theta) = \frac{1}{T}\sum_{t=1}^{T} \Big[ \min\big( r_t(\theta) A_t,\ \mathrm{clip}(r_t(\theta), 1-\epsilon,
1+\epsilon) A_t \big) + c\, \mathcal{H}(\pi_\theta(\cdot \mid s_t)) \Big],
\]
with the entropy bonus $\mathcal{H}(\pi_\theta(\cdot \mid s)) = -\sum_{a=1}^{K} \pi_\theta(a \mid s) \log
\pi_\theta(a \mid s)$.
""",
        "S: matrix(T, d); a: index(T); A: vector(T); mu: vector(T) positive; theta: matrix(K, d); epsilon: scalar; c: scalar positive",  # noqa: E501
        "theta",
        ppo,
        fractions=("epsilon", "mu"),
        ranges={"a": "K"},
    ),
    Paragraph(
        "generalized advantage estimation, critic loss",
        r"""
With the linear critic $V_t = v^\top s_t$ for $t = 1, \dots, T$ and $V_{T+1} = 0$ at the end of the episode, define
the TD residual and the advantage estimator as
\begin{align}
\delta_t &= r_t + \gamma V_{t+1} - V_t, \\
\hat{A}_t &= \sum_{l=0}^{T-t} (\gamma\lambda)^l \delta_{t+l}.
\end{align}
The critic is fit by minimizing $\frac{1}{2T} \sum_{t=1}^{T} \hat{A}_t^2$.
""",
        "r: vector(T); S: matrix(T, d); v: vector(d); gamma: scalar; lambda: scalar",
        "v",
        gae,
        fractions=("gamma", "lambda"),
        refused="the left side of this = is more than a name",
    ),
]
