r"""Whole paragraphs of LaTeX from papers, first set, part 4: written by someone who had seen no code."""

import numpy as np
from first_day.paragraph import Paragraph
from scipy import special


def vicreg(Z, Zhat, mu, nu, gamma, **k):
    lam = k["lambda"]
    n, d = Z.shape

    def v(A):
        t = 0.0
        for j in range(d):
            var = np.sum((A[:, j] - A[:, j].mean()) ** 2) / (n - 1)
            t += max(0.0, gamma - np.sqrt(var + 0.0001))
        return t / d

    def c(A):
        ab = A.mean(axis=0)
        C = sum(np.outer(A[i] - ab, A[i] - ab) for i in range(n)) / (n - 1)
        return sum(C[i, j] ** 2 for i in range(d) for j in range(d) if i != j) / d

    s = sum(np.sum((Z[i] - Zhat[i]) ** 2) for i in range(n)) / n
    return lam * s + mu * (v(Z) + v(Zhat)) + nu * (c(Z) + c(Zhat))


def layernorm(x, g, b, W_1, W_2, **k):
    u = x + W_2 @ np.maximum(0, W_1 @ x)
    d = len(u)
    mu = sum(u) / d
    s2 = sum((u[i] - mu) ** 2 for i in range(d)) / d
    return g * (u - mu) / np.sqrt(s2 + 1e-05) + b


def sig(x):
    return 1.0 / (1.0 + np.exp(-x))


def sgns(U, V, c, o, s, **k):
    tot = 0.0
    for i in range(len(c)):
        tot += np.log(sig(U[o[i]] @ V[c[i]]))
        for l in range(s.shape[1]):  # noqa: E741
            tot += np.log(sig(-U[s[i, l]] @ V[c[i]]))
    return tot


def svgd(X, x, mu, Lambda, h, **k):
    n = X.shape[0]
    out = np.zeros(len(x))
    for j in range(n):
        kk = np.exp(-np.sum((X[j] - x) ** 2) / (2 * h))
        out += kk * -(Lambda @ (X[j] - mu)) + (x - X[j]) / h * kk
    return out / n


def edl(X, Y, W, **k):
    n, K = Y.shape
    tot = 0.0
    for i in range(n):
        a = np.exp(W @ X[i]) + 1
        S = a.sum()
        for j in range(K):
            tot += Y[i, j] * (special.digamma(S) - special.digamma(a[j]))
        at = Y[i] + (1 - Y[i]) * a
        kl = special.gammaln(at.sum()) - special.gammaln(K) - np.sum(special.gammaln(at))
        kl += np.sum((at - 1) * (special.digamma(at) - special.digamma(at.sum())))
        tot += k["lambda"] * kl
    return tot


def crf(P, A, y, **k):
    T, K = P.shape
    score = sum(P[t, y[t]] for t in range(T)) + sum(A[y[t - 1], y[t]] for t in range(1, T))
    al = np.exp(P[0])
    for t in range(1, T):
        al = np.array([np.exp(P[t, j]) * sum(al[i] * np.exp(A[i, j]) for i in range(K)) for j in range(K)])
    return score - np.log(np.sum(al))


def dqn_huber(S, a, r, Q, W, gamma, delta, **k):
    N, tot = (S.shape[0], 0.0)
    for i in range(N):
        y = r[i] + gamma * np.max(Q[i])
        u = y - W[a[i]] @ S[i]
        tot += 0.5 * u**2 if abs(u) <= delta else delta * (abs(u) - 0.5 * delta)
    return tot / N


FIRST_4 = [
    Paragraph(
        "VICReg self-supervised learning",
        r"""
Let $Z=[z_1,\dots,z_n]$ and $\hat{Z}=[\hat{z}_1,\dots,\hat{z}_n]$ be the two batches of $n$ embeddings of dimension
$d$. The variance regularization term is a hinge on the standard deviation of each embedding dimension,
\begin{equation}
v(Z) = \frac{1}{d}\sum_{j=1}^{d}\max\left(0,\gamma-\sqrt{\mathrm{Var}_j(Z)+\epsilon}\right),\qquad \mathrm{Var}_j(Z)
= \frac{1}{n-1}\sum_{i=1}^{n}(z_{ij}-\bar{z}_j)^2,
\end{equation}
where $\bar{z} = \frac{1}{n}\sum_{i=1}^{n}z_i$ and $\epsilon = 10^{-4}$. We define the covariance matrix of $Z$ as
$C(Z) = \frac{1}{n-1}\sum_{i=1}^{n}(z_i-\bar{z})(z_i-\bar{z})^T$ and the covariance regularization term $c$ as
\begin{equation}
c(Z) = \frac{1}{d}\sum_{i\neq j}[C(Z)]_{i,j}^2 .
\end{equation}
The invariance criterion is $s(Z,\hat{Z}) = \frac{1}{n}\sum_{i}\|z_i-\hat{z}_i\|_2^2$, and the overall loss is
\begin{equation}
\ell(Z,\hat{Z}) = \lambda s(Z,\hat{Z})+\mu\left[v(Z)+v(\hat{Z})\right]+\nu\left[c(Z)+c(\hat{Z})\right].
\end{equation}
""",
        "Z: matrix(n, d); Zhat: matrix(n, d); lambda: scalar positive; mu: scalar positive; nu: scalar positive; gamma: scalar positive",  # noqa: E501
        "Z",
        vicreg,
    ),
    Paragraph(
        "post-norm transformer feed-forward block",
        r"""
The feed-forward sub-layer with a residual connection followed by layer normalization outputs
\begin{equation*}
\mathbf{g}\odot\frac{\mathbf{u}-\mu}{\sqrt{\sigma^2+\epsilon}}+\mathbf{b},\qquad \mathbf{u} =
\mathbf{x}+\mathbf{W}_2\max(0,\mathbf{W}_1\mathbf{x}),
\end{equation*}
where $\mu = \frac{1}{d}\sum_{i=1}^{d}u_i$, $\sigma^2 = \frac{1}{d}\sum_{i=1}^{d}(u_i-\mu)^2$, $\odot$ is the
element-wise product and $\epsilon = 10^{-5}$.
""",
        "x: vector(d); g: vector(d); b: vector(d); W_1: matrix(m, d); W_2: matrix(d, m)",
        "x",
        layernorm,
    ),
    Paragraph(
        "skip-gram with negative sampling",
        r"""
For each of the $N$ training pairs we have a center word $c_i$, an observed context word $o_i$ and $M$ negative
words $s_{i1},\dots,s_{iM}$ drawn from the noise distribution, all indices into a vocabulary of size $J$. We
maximize
\begin{equation}
\sum_{i=1}^{N}\left[\log\sigma\left(\mathbf{u}_{o_i}^\top\mathbf{v}_{c_i}\right)+\sum_{l=1}^{M}\log\sigma\left(-\mathbf{u}_{s_{il}}^\top\mathbf{v}_{c_i}\right)\right],\qquad
\sigma(x) = \frac{1}{1+\exp(-x)},
\end{equation}
where $\mathbf{v}_w$ and $\mathbf{u}_w$ are the ``input'' and ``output'' vector representations of word $w$.
""",
        "U: matrix(J, d); V: matrix(J, d); c: index(N); o: index(N); s: index(N, M)",
        "V",
        sgns,
        ranges={"c": "J", "o": "J", "s": "J"},
    ),
    Paragraph(
        "Stein variational gradient descent",
        r"""
The particles are moved along the direction
\[
\hat{\phi}^*(x) = \frac{1}{n}\sum_{j=1}^{n}\left[k(x_j,x)\,g(x_j)+\frac{x-x_j}{h}\,k(x_j,x)\right],
\]
where $k(x,x') = \exp\left(-\frac{1}{2h}\|x-x'\|_2^2\right)$ is the RBF kernel and $g(x) = -\Lambda(x-\mu)$ is the
score function of the Gaussian target $\mathcal{N}(\mu,\Lambda^{-1})$.
""",
        "X: matrix(n, d); x: vector(d); mu: vector(d); Lambda: matrix(d, d) spd; h: scalar positive",
        "x",
        svgd,
    ),
    Paragraph(
        "evidential deep learning",
        r"""
The network outputs the evidence $e_{ij} = \exp(\mathbf{w}_j^\top\mathbf{x}_i)$ for class $j$, which yields a
Dirichlet distribution with parameters $\alpha_{ij} = e_{ij}+1$ and strength $S_i = \sum_{j=1}^{K}\alpha_{ij}$. The
Bayes risk of the cross-entropy loss is
\[
\mathcal{L}_i = \sum_{j=1}^{K}y_{ij}\big(\psi(S_i)-\psi(\alpha_{ij})\big),
\]
where $\psi(\cdot)$ is the \emph{digamma} function. To remove misleading evidence we penalize the divergence from
the uniform Dirichlet distribution after removal of the non-misleading evidence, $\tilde{\alpha}_{ij} =
y_{ij}+(1-y_{ij})\alpha_{ij}$:
\[
R_i =
\log\left(\frac{\Gamma\left(\sum_{j=1}^{K}\tilde{\alpha}_{ij}\right)}{\Gamma(K)\prod_{j=1}^{K}\Gamma(\tilde{\alpha}_{ij})}\right)+\sum_{j=1}^{K}(\tilde{\alpha}_{ij}-1)\left[\psi(\tilde{\alpha}_{ij})-\psi\Big(\sum_{l=1}^{K}\tilde{\alpha}_{il}\Big)\right].
\]
The total loss is $\mathcal{L} = \sum_{i=1}^{n}\mathcal{L}_i+\lambda\sum_{i=1}^{n}R_i$.
""",
        "X: matrix(n, d); Y: matrix(n, K); W: matrix(K, d); lambda: scalar positive",
        "W",
        edl,
        fractions=("Y",),
    ),
    Paragraph(
        "neural sequence tagging with a linear-chain CRF",
        r"""
Consider $P$ to be the matrix of scores output by the bidirectional LSTM, of size $T\times K$, where $P_{t,j}$ is
the score of the $j$-th tag of the $t$-th word. For a sequence of tags $y = (y_1,\dots,y_T)$ we define its score to
be
\[
s(y) = \sum_{t=1}^{T}P_{t,y_t}+\sum_{t=2}^{T}A_{y_{t-1},y_t},
\]
where $A$ is a matrix of transition scores. During training, we maximize the log-probability of the correct tag
sequence
\[
\log p(y) = s(y)-\log\sum_{j=1}^{K}\alpha_T(j),
\]
where the normalizer is computed by the forward recursion
\begin{align*}
\alpha_1(j) &= \exp(P_{1,j}),\\
\alpha_t(j) &= \exp(P_{t,j})\sum_{i=1}^{K}\alpha_{t-1}(i)\exp(A_{i,j}),\qquad t=2,\dots,T.
\end{align*}
""",
        "P: matrix(T, K); A: matrix(K, K); y: index(T)",
        "A",
        crf,
        ranges={"y": "K"},
    ),
    Paragraph(
        "deep Q-learning with the Huber loss",
        r"""
For a minibatch of $N$ transitions drawn from the replay memory we form the targets $y_i =
r_i+\gamma\max_{a'}Q_{ia'}$, in which $Q_{ia'}$ is the value of action $a'\in\{1,\dots,K\}$ in the successor state
under the (frozen) target network. The online network $q(s,a) = w_a^\top s$ is updated by minimizing
\begin{equation}
L(W) = \frac{1}{N}\sum_{i=1}^{N}\ell_\delta\big(y_i-q(s_i,a_i)\big),
\end{equation}
where
\begin{equation}
\ell_\delta(u) = \begin{cases}\frac{1}{2}u^2 & \text{if } |u|\le\delta,\\ \delta\left(|u|-\frac{1}{2}\delta\right) &
\text{otherwise.}\end{cases}
\end{equation}
""",
        "S: matrix(N, d); a: index(N); r: vector(N); Q: matrix(N, K); W: matrix(K, d); gamma: scalar positive; delta: scalar positive",  # noqa: E501
        "W",
        dqn_huber,
        fractions=("gamma",),
        ranges={"a": "K"},
    ),
    Paragraph(
        "penalized empirical risk with an unnamed regularizer",
        r"""
We estimate $\mathbf{w}$ by regularized empirical risk minimization,
\[
\min_{\mathbf{w}}\
\frac{1}{n}\sum_{i=1}^{n}\left(y_i-\mathbf{w}^\top\mathbf{x}_i\right)^2+\lambda\,\Omega(\mathbf{w}),
\]
where $\Omega$ is a convex, sparsity-inducing regularizer.
""",
        "X: matrix(n, d); y: vector(n); w: vector(d); lambda: scalar positive",
        "w",
        lambda **k: None,
        refused="only words describe",
    ),
    Paragraph(
        "instance discrimination, positive pair not specified",
        r"""
Each representation is contrasted with all the others in the batch through
\begin{equation}
\mathcal{L} = -\frac{1}{n}\sum_{i=1}^{n}\log\frac{\exp(z_i^\top z_j/\tau)}{\sum_{k\neq i}\exp(z_i^\top z_k/\tau)},
\end{equation}
where $z_j$ is a positive for $z_i$ and $\tau$ is a temperature.
""",
        "Z: matrix(n, d); tau: scalar positive",
        "Z",
        lambda **k: None,
        refused="this can be a symbol, or a row or column of Z",
    ),
    Paragraph(
        "robust regression with two definitions of rho",
        r"""
We minimize the robust loss $\mathcal{L}(\mathbf{w}) =
\sum_{i=1}^{n}\rho\left(y_i-\mathbf{w}^\top\mathbf{x}_i\right)$, where
\[
\rho(u) = \log\left(1+\frac{u^2}{2c^2}\right).
\]
As usual, $\rho(u) = \sqrt{u^2+c^2}-c$ and $c>0$ is a scale parameter.
""",
        "X: matrix(n, d); y: vector(n); w: vector(d); c: scalar positive",
        "w",
        lambda **k: None,
        refused="rho is defined twice",
    ),
    Paragraph(
        "beta-VAE objective without the distributions",
        r"""
The $\beta$-VAE maximizes
\[
\mathcal{L}(\theta,\phi;\beta) = \frac{1}{n}\sum_{i=1}^{n}\Big[\log
p_\theta(\mathbf{x}_i\mid\mathbf{z}_i)-\beta\,D_{\mathrm{KL}}\big(q_\phi(\mathbf{z}\mid\mathbf{x}_i)\,\|\,p(\mathbf{z})\big)\Big],
\]
where $\mathbf{z}_i\sim q_\phi(\mathbf{z}\mid\mathbf{x}_i)$ and $\beta>1$.
""",
        "X: matrix(n, d); Z: matrix(n, k); theta: matrix(d, k); phi: matrix(k, d); beta: scalar positive",
        "theta",
        lambda **k: None,
        refused="expected an operand after ')', found '\\big)'",
    ),
]
