r"""The twenty-fifth set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special

norm = np.linalg.norm
lse = special.logsumexp
sigmoid = special.expit


def relu(t):
    return np.maximum(t, 0.0)


def resnet(x, y, W, b, tau, lam):
    h = x
    for k in range(len(W)):
        h = h + tau * np.tanh(W[k] @ h + b[k])
    return sum((h - y) ** 2) / 2 + lam / 2 * sum(np.sum(W[k] ** 2) for k in range(len(W)))


def prototypical(X, y, S, W):
    c = [sum(np.tanh(W @ s) for s in S[k]) / S.shape[1] for k in range(len(S))]
    total = 0.0
    for i in range(len(X)):
        d = np.array([sum((np.tanh(W @ X[i]) - c[k]) ** 2) for k in range(len(S))])
        total += d[y[i]] + lse(-d)
    return total / len(X)


def coral(X_S, X_T, W):
    def cov(D):
        n, one = len(D), np.ones(len(D))
        return (D.T @ D - np.outer(one @ D, one @ D) / n) / (n - 1)

    return np.sum((cov(np.tanh(X_S @ W)) - cov(np.tanh(X_T @ W))) ** 2) / (4 * W.shape[1] ** 2)


def trpo(S, a, A, P, theta, beta):
    total = 0.0
    for i in range(len(S)):
        pi = np.exp(theta @ S[i]) / np.sum(np.exp(theta @ S[i]))
        total += pi[a[i]] / P[i, a[i]] * A[i] - beta * sum(P[i] * np.log(P[i] / pi))
    return total / len(S)


def mspbe(phi, psi, r, theta, gamma, eta):
    n, d = phi.shape
    A = sum(np.outer(phi[t], phi[t] - gamma * psi[t]) for t in range(n)) / n
    b = sum(r[t] * phi[t] for t in range(n)) / n
    C = sum(np.outer(phi[t], phi[t]) for t in range(n)) / n + eta * np.eye(d)
    return (b - A @ theta) @ np.linalg.inv(C) @ (b - A @ theta)


def ppnp(A, X, Y, W_0, W_1, alpha):
    n = len(A)
    B = A + np.eye(n)
    D = np.diag(1 / np.sqrt(B.sum(axis=1)))
    U = alpha * np.linalg.inv(np.eye(n) - (1 - alpha) * D @ B @ D) @ relu(X @ W_0) @ W_1
    return -sum(Y[i, c] * (U[i, c] - lse(U[i])) for i in range(n) for c in range(Y.shape[1]))


def bahdanau(S, H, y, v_a, W_a, U_a, U_o, C_o):
    total = 0.0
    for i in range(len(S)):
        e = np.array([v_a @ np.tanh(W_a @ S[i] + U_a @ h) for h in H])
        u = U_o @ S[i] + C_o @ sum(w * h for w, h in zip(np.exp(e) / sum(np.exp(e)), H, strict=True))
        total -= u[y[i]] - lse(u)
    return total / len(S)


def biaffine(R, y, W_h, b_h, W_d, b_d, U, u):
    h, d = [relu(W_h @ r + b_h) for r in R], [relu(W_d @ r + b_d) for r in R]
    s = np.array([[h[j] @ U @ d[i] + u @ h[j] for j in range(len(R))] for i in range(len(R))])
    return -sum(s[i, y[i]] - lse(s[i]) for i in range(len(R)))


def center(X, y, W, b, C, lam):
    total = 0.0
    for i in range(len(X)):
        u = W.T @ X[i] + b
        total += lse(u) - u[y[i]] + lam / 2 * sum((X[i] - C[y[i]]) ** 2)
    return total


TWENTY_FIFTH = [
    Passage(
        "layer normalization",
        r"""\mathcal{L} = \frac{1}{n}\sum_{i=1}^{n}\norm{\mathrm{LN}(\mathbf{x}_i) - \mathbf{y}_i}_2^2,
        \qquad \mathrm{LN}(\mathbf{x}_i) = \boldsymbol{\gamma}\odot\frac{\mathbf{x}_i - \mu_i}{\sqrt{\sigma_i^2 +
        \epsilon}} + \boldsymbol{\beta}, where $\mu_i = \frac{1}{d}\sum_{j=1}^{d} x_{ij}$ and $\sigma_i^2 =
        \frac{1}{d}\sum_{j=1}^{d}(x_{ij} - \mu_i)^2$.""",
        "X: matrix(n, d); Y: matrix(n, d); gamma: vector(d); beta: vector(d); epsilon: scalar positive",
        "X",
        lambda X, Y, gamma, beta, epsilon: (
            sum(
                sum(
                    (
                        gamma * (x - sum(x) / len(x)) / np.sqrt(sum((x - sum(x) / len(x)) ** 2) / len(x) + epsilon)
                        + beta
                        - y
                    )
                    ** 2
                )
                for x, y in zip(X, Y, strict=True)
            )
            / len(X)
        ),
    ),
    Passage(
        "residual network as an Euler scheme",
        r"""J = \frac{1}{2}\|\mathbf{h}_L - \mathbf{y}\|_2^2 + \frac{\lambda}{2}\sum_{\ell=1}^{L}
        \|W_\ell\|_F^2, where $\mathbf{h}_\ell = \mathbf{h}_{\ell-1} + \tau\tanh(W_\ell\mathbf{h}_{\ell-1} +
        \mathbf{b}_\ell)$ for $\ell = 1, \dots, L$ and $\mathbf{h}_0 = \mathbf{x}$.""",
        ("x: vector(d); y: vector(d); W: tensor(L, d, d); b: matrix(L, d); tau: scalar positive; lam: scalar positive"),
        "W",
        resnet,
    ),
    Passage(
        "supervised contrastive learning",
        r"""$$\mathcal{L}^{sup} = -\frac{1}{n}\sum_{i=1}^{n}\sum_{j\neq i}\mathbb{1}[y_i = y_j]\log
        \frac{\exp(\mathbf{z}_i\cdot\mathbf{z}_j/\tau)}{\sum_{k\neq i}\exp(\mathbf{z}_i\cdot\mathbf{z}_k/\tau)}$$""",
        "Z: matrix(n, d); y: index(n); tau: scalar positive",
        "Z",
        lambda Z, y, tau: (
            sum(
                lse([Z[i] @ Z[k] / tau for k in range(len(Z)) if k != i]) - Z[i] @ Z[j] / tau
                for i in range(len(Z))
                for j in range(len(Z))
                if j != i and y[j] == y[i]
            )
            / len(Z)
        ),
    ),
    Passage(
        "prototypical networks",
        r"""J = \frac{1}{n}\sum_{i=1}^{n}\left[d(f(\mathbf{x}_i), \mathbf{c}_{y_i}) + \log\sum_{k=1}^{K}
        \exp(-d(f(\mathbf{x}_i), \mathbf{c}_k))\right], where $f(\mathbf{x}) = \tanh(W\mathbf{x})$ is the
        embedding, $d(\mathbf{u}, \mathbf{v}) = \|\mathbf{u} - \mathbf{v}\|^2$, and $\mathbf{c}_k =
        \frac{1}{M}\sum_{m=1}^{M} f(\mathbf{s}_{k,m})$ is the prototype of class $k$.""",
        "X: matrix(n, p); y: index(n); S: tensor(K, M, p); W: matrix(q, p)",
        "W",
        prototypical,
    ),
    Passage(
        "invertible 1x1 convolutions",
        r"""\mathcal{L} = \sum_{i=1}^{h}\sum_{j=1}^{w}\frac{1}{2}\|\mathbf{z}_{ij}\|^2 - h\cdot w\cdot
        \left(\log|\det\mathbf{W}| + \sum_{k=1}^{c}\log|s_k|\right), \qquad \mathbf{z}_{ij} =
        \mathbf{W}(\mathbf{s}\odot(\mathbf{x}_{ij} + \mathbf{b}))""",
        "X: tensor(h, w, c); W: matrix(c, c); s: vector(c); b: vector(c)",
        "W",
        lambda X, W, s, b: (
            sum(sum((W @ (s * (x + b))) ** 2) / 2 for row in X for x in row)
            - X.shape[0] * X.shape[1] * (np.log(abs(np.linalg.det(W))) + sum(np.log(abs(s))))
        ),
    ),
    Passage(
        "deep embedded clustering",
        r"""L = \mathrm{KL}(P\|Q) = \sum_{i=1}^{n}\sum_{j=1}^{k} p_{ij}\log\frac{p_{ij}}{q_{ij}}, where
        $q_{ij} = \frac{(1 + \|z_i - \mu_j\|^2/\alpha)^{-\frac{\alpha+1}{2}}}{\sum_{j'=1}^{k}(1 + \|z_i -
        \mu_{j'}\|^2/\alpha)^{ -\frac{\alpha+1}{2}}}$ are soft assignments and $P$ is the target distribution.""",
        "Z: matrix(n, d); mu: matrix(k, d); P: matrix(n, k) positive; alpha: scalar positive",
        "mu",
        lambda Z, mu, P, alpha: sum(
            P[i, j]
            * np.log(
                P[i, j]
                * sum((1 + sum((Z[i] - m) ** 2) / alpha) ** (-(alpha + 1) / 2) for m in mu)
                / (1 + sum((Z[i] - mu[j]) ** 2) / alpha) ** (-(alpha + 1) / 2)
            )
            for i in range(len(Z))
            for j in range(len(mu))
        ),
    ),
    Passage(
        "deep CORAL",
        r"""\ell_{CORAL} = \frac{1}{4d^2}\|C_S - C_T\|_F^2 with \begin{align} C_S &= \frac{1}{n_S -
        1}\left(D_S^\top D_S - \frac{1}{n_S}(\mathbf{1}^\top D_S)^\top(\mathbf{1}^\top D_S)\right) \\ C_T &=
        \frac{1}{n_T - 1}\left(D_T^\top D_T - \frac{1}{n_T}(\mathbf{1}^\top D_T)^\top(\mathbf{1}^\top D_T)\right)
        \end{align} where $D_S = \tanh(X_S W)$ and $D_T = \tanh(X_T W)$ are the features of the two domains.""",
        "X_S: matrix(n_S, p); X_T: matrix(n_T, p); W: matrix(p, d)",
        "W",
        coral,
    ),
    Passage(
        "modern Hopfield network",
        r"""\mathrm{E} = -\mathrm{lse}(\beta, \mathbf{X}^\top\boldsymbol{\xi}) +
        \frac{1}{2}\boldsymbol{\xi}^\top \boldsymbol{\xi} + \beta^{-1}\log N + \frac{1}{2}M^2, where
        $\mathrm{lse}(\beta, \mathbf{u}) = \beta^{-1}\log\left(\sum_{l=1}^{N} \exp(\beta u_l)\right)$, $M =
        \max_i\|\mathbf{x}_i\|$ and the patterns $\mathbf{x}_i$ are the columns of $\mathbf{X}$.""",
        "X: matrix(d, N); xi: vector(d); beta: scalar positive",
        "xi",
        lambda X, xi, beta: (
            -lse(beta * X.T @ xi) / beta + xi @ xi / 2 + np.log(X.shape[1]) / beta + max(norm(X, axis=0)) ** 2 / 2
        ),
    ),
    Passage(
        "trust region policy, KL penalty",
        r"""\max_\theta\;\frac{1}{N}\sum_{i=1}^{N}\left[\frac{\pi_\theta(a_i\mid s_i)}{P_{i,a_i}}A_i -
        \beta\sum_{k=1}^{K} P_{ik}\log\frac{P_{ik}}{\pi_\theta(k\mid s_i)}\right], where $\pi_\theta(k\mid s) =
        \frac{\exp(\theta_k^\top s)} {\sum_{l=1}^{K}\exp(\theta_l^\top s)}$ and $P_{ik}$ is the probability of
        action $k$ under the old policy.""",
        (
            "S: matrix(N, p); a: index(N); A: vector(N); P: matrix(N, K) positive; theta: matrix(K, p); "
            "beta: scalar positive"
        ),
        "theta",
        trpo,
    ),
    Passage(
        "projected Bellman error",
        r"""\mathrm{MSPBE}(\theta) = (b - A\theta)^\top C^{-1}(b - A\theta), where $A =
        \frac{1}{n}\sum_{t=1}^{n} \phi_t(\phi_t - \gamma\psi_t)^\top$, $b = \frac{1}{n}\sum_{t=1}^{n} r_t\phi_t$,
        $C = \frac{1}{n}\sum_{t=1}^{n}\phi_t\phi_t^\top + \eta I$, and $\phi_t$, $\psi_t$ are the features of the
        state and of the next state.""",
        ("phi: matrix(n, d); psi: matrix(n, d); r: vector(n); theta: vector(d); gamma: scalar; eta: scalar positive"),
        "theta",
        mspbe,
        ("gamma",),
    ),
    Passage(
        "personalized PageRank network",
        r"""\mathcal{L} = -\sum_{i=1}^{n}\sum_{c=1}^{C} Y_{ic}\ln Z_{ic}, \quad Z = \mathrm{softmax}\left(
        \alpha(I_n - (1-\alpha)\hat{A})^{-1}H\right), \quad H = \mathrm{ReLU}(XW_0)W_1, where the softmax is
        applied row-wise, $\hat{A} = \tilde{D}^{-1/2}\tilde{A}\tilde{D}^{-1/2}$, $\tilde{A} = A + I_n$ and
        $\tilde{D} = \mathrm{diag}(\tilde{A}\mathbf{1})$.""",
        (
            "A: matrix(n, n) positive; X: matrix(n, f); Y: matrix(n, C); W_0: matrix(f, h); W_1: matrix(h, C); "
            "alpha: scalar"
        ),
        "W_0",
        ppnp,
        ("alpha",),
    ),
    Passage(
        "AutoRec",
        r"""\min_{\mathbf{W},\mathbf{V},\boldsymbol\mu,\mathbf{b}}\;\sum_{i=1}^{n}\norm{\mathbf{m}_i\odot(\mathbf{r}_i
        - h(\mathbf{r}_i))}_2^2 + \frac{\lambda}{2}\left(\norm{\mathbf{W}}_F^2 + \norm{\mathbf{V}}_F^2\right),
        where $h(\mathbf{r}) = \mathbf{W}\, g(\mathbf{V}\mathbf{r} + \boldsymbol\mu) + \mathbf{b}$ and $g(t) =
        1/(1 + e^{-t})$.""",
        (
            "R: matrix(n, d); M: matrix(n, d); W: matrix(d, k); V: matrix(k, d); mu: vector(k); b: vector(d); "
            "lam: scalar positive"
        ),
        "V",
        lambda R, M, W, V, mu, b, lam: (
            sum(sum((m * (r - W @ sigmoid(V @ r + mu) - b)) ** 2) for r, m in zip(R, M, strict=True))
            + lam / 2 * (np.sum(W**2) + np.sum(V**2))
        ),
    ),
    Passage(
        "implicit feedback factorization",
        r"""\min_{x_\star, y_\star}\sum_{u,i} c_{ui}(p_{ui} - x_u^\top y_i)^2 + \lambda\left(\sum_u\|x_u\|^2
        + \sum_i\|y_i\|^2\right), with $c_{ui} = 1 + \alpha r_{ui}$ and $$p_{ui} = \begin{cases} 1 & r_{ui} > 0 \\
        0 & \text{otherwise} \end{cases}$$""",
        "R: matrix(m, n); X: matrix(m, f); Y: matrix(n, f); alpha: scalar positive; lam: scalar positive",
        "X",
        lambda R, X, Y, alpha, lam: (
            np.sum((1 + alpha * R) * ((R > 0) - X @ Y.T) ** 2) + lam * (np.sum(X**2) + np.sum(Y**2))
        ),
    ),
    Passage(
        "additive attention decoder",
        r"""\mathcal{L} = -\frac{1}{T}\sum_{i=1}^{T}\log\frac{\exp(t_{i,y_i})}{\sum_{k=1}^{K}\exp(t_{ik})},
        where $t_i = U_o s_i + C_o c_i$, the context is $c_i = \sum_{j=1}^{J}\alpha_{ij}h_j$, $\alpha_{ij} =
        \frac{\exp(e_{ij})}{\sum_{k=1}^{J} \exp(e_{ik})}$, and $e_{ij} = v_a^\top\tanh(W_a s_i + U_a h_j)$.""",
        (
            "S: matrix(T, p); H: matrix(J, q); y: index(T); v_a: vector(m); W_a: matrix(m, p); "
            "U_a: matrix(m, q); U_o: matrix(K, p); C_o: matrix(K, q)"
        ),
        "W_a",
        bahdanau,
    ),
    Passage(
        "biaffine dependency parser",
        r"""\ell = -\sum_{i=1}^{n}\log\frac{\exp(s_{i y_i})}{\sum_{j=1}^{n}\exp(s_{ij})}, \qquad s_{ij} =
        \mathbf{h}_j^\top\mathbf{U}\mathbf{d}_i + \mathbf{u}^\top\mathbf{h}_j where $\mathbf{h}_j =
        \mathrm{ReLU}(\mathbf{W}_h \mathbf{r}_j + \mathbf{b}_h)$, $\mathbf{d}_i =
        \mathrm{ReLU}(\mathbf{W}_d\mathbf{r}_i + \mathbf{b}_d)$.""",
        (
            "R: matrix(n, p); y: index(n); W_h: matrix(k, p); b_h: vector(k); W_d: matrix(m, p); b_d: vector(m); "
            "U: matrix(k, m); u: vector(k)"
        ),
        "W_h",
        biaffine,
    ),
    Passage(
        "center loss, twenty-fifth set",
        r"""\begin{aligned}\mathcal{L} &= \mathcal{L}_S + \lambda\mathcal{L}_C \\ &= -\sum_{i=1}^{m}\log
        \frac{e^{W_{y_i}^\top x_i + b_{y_i}}}{\sum_{j=1}^{n} e^{W_j^\top x_i + b_j}} +
        \frac{\lambda}{2}\sum_{i=1}^{m} \|x_i - c_{y_i}\|_2^2\end{aligned} where $W_j$ is the $j$-th column of the
        weights $W$ and $c_j$ is the center of class $j$.""",
        "X: matrix(m, d); y: index(m); W: matrix(d, n); b: vector(n); C: matrix(n, d); lam: scalar positive",
        "X",
        center,
    ),
]
