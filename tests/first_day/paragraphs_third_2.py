r"""Whole paragraphs of LaTeX from papers, third set, part 2: written by someone who had seen no code."""

import numpy as np
from first_day.paragraph import Paragraph


def dqn(S, a, r, Z, W, V, gamma):
    N = len(r)
    tot = 0.0
    for i in range(N):
        y = r[i] + gamma * np.max(V @ Z[i])
        e = y - W[a[i]] @ S[i]
        tot += 0.5 * e**2 if abs(e) <= 1 else abs(e) - 0.5
    return tot / N


def lse(v):
    v = np.asarray(v)
    return v.max() + np.log(np.sum(np.exp(v - v.max())))


def gcn(X, A, Y, W_0, W_1):
    N = X.shape[0]
    At = A + np.eye(N)
    D = At.sum(1)
    Ah = At / np.sqrt(D)[:, None] / np.sqrt(D)[None, :]
    O = Ah @ np.maximum(Ah @ X @ W_0, 0) @ W_1  # noqa: E741
    tot = 0.0
    for l in range(N):  # noqa: E741
        tot -= np.sum(Y[l] * (O[l] - lse(O[l])))
    return tot


def laprls(X, y, W, alpha, sigma, gamma_A, gamma_I):
    n = X.shape[0]
    m = len(y)
    K = np.array([[np.exp(-np.sum((X[i] - X[j]) ** 2) / (2 * sigma**2)) for j in range(n)] for i in range(n)])
    L = np.diag(W.sum(1)) - W
    f = K @ alpha
    return np.sum((y - f[:m]) ** 2) / m + gamma_A * alpha @ K @ alpha + gamma_I / n**2 * f @ L @ f


def gat(H, A, W, a_1, a_2):
    N = H.shape[0]
    G = H @ W.T
    out = np.zeros_like(G)
    for i in range(N):
        nb = [j for j in range(N) if j == i or A[i, j] > 0]
        e = []
        for j in nb:
            u = a_1 @ G[i] + a_2 @ G[j]
            e.append(u if u > 0 else 0.2 * u)
        e = np.array(e)
        w = np.exp(e - lse(e))
        for j, wj in zip(nb, w):  # noqa: B905
            out[i] += wj * G[j]
    return np.where(out > 0, out, np.exp(np.minimum(out, 0)) - 1)


def mmd(X, Y, sigma):
    m, n = (X.shape[0], Y.shape[0])

    def kk(x, y):
        return sum(np.exp(-np.sum((x - y) ** 2) / (2 * s**2)) for s in sigma)

    a = sum(kk(X[i], X[j]) for i in range(m) for j in range(m) if j != i) / (m * (m - 1))
    b = sum(kk(Y[i], Y[j]) for i in range(n) for j in range(n) if j != i) / (n * (n - 1))
    c = sum(kk(X[i], Y[j]) for i in range(m) for j in range(n)) * 2 / (m * n)
    return a + b - c


def titsias(X, y, Z, sigma, sigma_f, ell):
    n = len(y)

    def kern(A, B):
        return np.array([[sigma_f**2 * np.exp(-0.5 * np.sum((a - b) ** 2 / ell**2)) for b in B] for a in A])

    Knm = kern(X, Z)
    Q = Knm @ np.linalg.solve(kern(Z, Z), Knm.T)
    C = Q + sigma**2 * np.eye(n)
    ll = -n / 2 * np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(C)[1] - 0.5 * y @ np.linalg.solve(C, y)
    return ll - np.trace(kern(X, X) - Q) / (2 * sigma**2)


def sig(u):
    return 1.0 / (1.0 + np.exp(-u))


def bbb(X, y, mu, rho, epsilon, alpha, sigma_1, sigma_2):
    S = epsilon.shape[0]

    def N(x, m, s):
        return np.exp(-0.5 * (x - m) ** 2 / s**2) / np.sqrt(2 * np.pi * s**2)

    s = np.log(1 + np.exp(rho))
    tot = 0.0
    for e in epsilon:
        w = mu + s * e
        logq = np.sum(np.log(N(w, mu, s)))
        logp = np.sum(np.log(alpha * N(w, 0, sigma_1) + (1 - alpha) * N(w, 0, sigma_2)))
        f = sig(X @ w)
        ll = np.sum(y * np.log(f) + (1 - y) * np.log(1 - f))
        tot += logq - logp - ll
    return tot / S


def sgns(V, U, c, o, g):
    tot = 0.0
    for i in range(len(c)):
        tot += np.log(sig(V[c[i]] @ U[o[i]]))
        for j in range(g.shape[1]):
            tot += np.log(sig(-V[c[i]] @ U[g[i, j]]))
    return -tot


def crf(P, A, y):
    T, K = P.shape
    score = sum(P[t, y[t]] for t in range(T)) + sum(A[y[t], y[t + 1]] for t in range(T - 1))
    al = np.exp(P[0])
    for t in range(1, T):
        al = np.array([sum(al[j] * np.exp(A[j, k] + P[t, k]) for j in range(K)) for k in range(K)])
    return np.log(np.sum(al)) - score


THIRD_2 = [
    Paragraph(
        "deep Q-learning with target network",
        r"""
For a minibatch of transitions $(s_i, a_i, r_i, z_i)$, $i=1,\dots,N$, with $z_i$ the next state, we minimize
\begin{equation}
\mathcal{L}(W) = \frac{1}{N} \sum_{i=1}^{N} \ell\big( y_i - Q(s_i, a_i; W) \big), \qquad y_i = r_i + \gamma \max_{a
\in \{1,\dots,K\}} Q(z_i, a; V),
\end{equation}
where $Q(s, a; W) = w_a^\top s$ with $w_a$ the $a$-th row of $W$, $V$ holds the frozen parameters of the target
network, and
\begin{equation}
\ell(x) = \begin{cases} \frac{1}{2} x^2 & \text{if } |x| \le 1, \\ |x| - \frac{1}{2} & \text{otherwise.} \end{cases}
\end{equation}
""",
        "S: matrix(N, d); a: index(N); r: vector(N); Z: matrix(N, d); W: matrix(K, d); V: matrix(K, d); gamma: scalar",
        "W",
        dqn,
        fractions=("gamma",),
        ranges={"a": "K"},
    ),
    Paragraph(
        "graph convolutional network",
        r"""
Our forward model takes the simple form
\begin{equation}
Z = f(X, A) = \operatorname{softmax}\!\left( \hat{A}\, \operatorname{ReLU}\!\left( \hat{A} X W_0 \right) W_1
\right),
\end{equation}
where $\hat{A} = \tilde{D}^{-\frac{1}{2}} \tilde{A} \tilde{D}^{-\frac{1}{2}}$, $\tilde{A} = A + I_N$ and
$\tilde{D}_{ii} = \sum_j \tilde{A}_{ij}$. The softmax activation function, defined as $\operatorname{softmax}(x_i) =
\frac{1}{\mathcal{Z}} \exp(x_i)$ with $\mathcal{Z} = \sum_i \exp(x_i)$, is applied row-wise. We then evaluate the
cross-entropy error over all labeled examples:
\begin{equation}
\mathcal{L} = -\sum_{l=1}^{N} \sum_{f=1}^{F} Y_{lf} \ln Z_{lf}.
\end{equation}
""",
        "X: matrix(N, d); A: matrix(N, N) positive; Y: matrix(N, F); W_0: matrix(d, H); W_1: matrix(H, F)",
        "W_0",
        gcn,
        refused="these words of rows or columns name no function of the formula",
    ),
    Paragraph(
        "Laplacian regularized least squares",
        r"""
Of the $n$ points $x_1,\dots,x_n$, the first $m$ are labeled. By the Representer Theorem the solution is of the form
$f(x) = \sum_{i=1}^{n} \alpha_i K(x, x_i)$, and we arrive at the convex differentiable objective function
\[
J(\alpha) = \frac{1}{m} \sum_{i=1}^{m} \left( y_i - f(x_i) \right)^2 + \gamma_A\, \alpha^T K \alpha +
\frac{\gamma_I}{n^2}\, \alpha^T K L K \alpha ,
\]
where $K$ is the $n \times n$ Gram matrix $K_{ij} = K(x_i, x_j)$ of the Gaussian kernel $K(x, x') = \exp\left(
-\frac{\|x - x'\|^2}{2\sigma^2} \right)$, and $L = D - W$ is the graph Laplacian, $D$ being the diagonal matrix
given by $D_{ii} = \sum_{j=1}^{n} W_{ij}$.
""",
        "X: matrix(n, d); y: vector(m); W: matrix(n, n) symmetric; alpha: vector(n); sigma: scalar positive; gamma_A: scalar positive; gamma_I: scalar positive",  # noqa: E501
        "alpha",
        laprls,
    ),
    Paragraph(
        "graph attention layer",
        r"""
The input to our layer is a set of node features $\mathbf{h}_1, \dots, \mathbf{h}_N$, the rows of $H$. The attention
coefficients are
\begin{equation}
\alpha_{ij} = \frac{\exp(e_{ij})}{\sum_{k \in \mathcal{N}_i} \exp(e_{ik})}, \qquad e_{ij} = \mathrm{LeakyReLU}\big(
\mathbf{a}_1^\top W \mathbf{h}_i + \mathbf{a}_2^\top W \mathbf{h}_j \big),
\end{equation}
where $\mathcal{N}_i = \{i\} \cup \{ j : A_{ij} > 0 \}$ is the neighborhood of node $i$ and $\mathrm{LeakyReLU}(x) =
\max(x, 0.2x)$. The layer returns the matrix $H'$ whose rows are
\begin{equation}
\mathbf{h}'_i = \sigma\Big( \sum_{j \in \mathcal{N}_i} \alpha_{ij} W \mathbf{h}_j \Big), \qquad i = 1, \dots, N,
\end{equation}
with the nonlinearity $\sigma(x) = x$ for $x > 0$ and $\sigma(x) = e^x - 1$ for $x \le 0$, applied elementwise.
""",
        "H: matrix(N, F); A: matrix(N, N); W: matrix(D, F); a_1: vector(D); a_2: vector(D)",
        "W",
        gat,
        refused="a condition in words",
    ),
    Paragraph(
        "kernel two-sample test (unbiased MMD)",
        r"""
\begin{align*}
\mathrm{MMD}_u^2[X, Y] ={}& \frac{1}{m(m-1)} \sum_{i=1}^{m} \sum_{j \neq i}^{m} k(x_i, x_j) + \frac{1}{n(n-1)}
\sum_{i=1}^{n} \sum_{j \neq i}^{n} k(y_i, y_j) \\
& - \frac{2}{mn} \sum_{i=1}^{m} \sum_{j=1}^{n} k(x_i, y_j),
\end{align*}
where $k(x, y) = \sum_{q=1}^{Q} \exp\left( -\|x - y\|^2 / (2\sigma_q^2) \right)$ is a mixture of Gaussian kernels.
""",
        "X: matrix(m, d); Y: matrix(n, d); sigma: vector(Q) positive",
        "X",
        mmd,
    ),
    Paragraph(
        "variational sparse Gaussian process",
        r"""
The variational lower bound on the log marginal likelihood is
\begin{equation}
F_V(Z) = \log \mathcal{N}\left( \mathbf{y} \mid \mathbf{0},\, \sigma^2 I + Q_{nn} \right) - \frac{1}{2\sigma^2}
\mathrm{Tr}\left( K_{nn} - Q_{nn} \right),
\end{equation}
where $Q_{nn} = K_{nm} K_{mm}^{-1} K_{nm}^\top$. Here $K_{nn}$ is the covariance matrix at the training inputs $X$,
$K_{mm}$ that at the $m$ inducing inputs $Z$, and $K_{nm}$ the cross-covariance between $X$ and $Z$, all computed
with the ARD squared exponential kernel
\begin{equation}
k(\mathbf{x}, \mathbf{x}') = \sigma_f^2 \exp\Big( -\frac{1}{2} \sum_{j=1}^{d} \frac{(x_j - x'_j)^2}{\ell_j^2} \Big).
\end{equation}
""",
        "X: matrix(n, d); y: vector(n); Z: matrix(m, d); sigma: scalar positive; sigma_f: scalar positive; ell: vector(d) positive",  # noqa: E501
        "Z",
        titsias,
        refused="only words describe K_{nn}",
    ),
    Paragraph(
        "weight uncertainty in neural networks (Bayes by Backprop)",
        r"""
Each weight sample is obtained as $\mathbf{w}^{(s)} = \mu + \log(1 + \exp(\rho)) \circ \epsilon^{(s)}$, where
$\circ$ is pointwise multiplication and $\epsilon^{(s)}$ is the $s$-th row of the noise matrix $\epsilon$. We
approximate the exact cost by
\begin{equation}
\mathcal{F}(\mu, \rho) \approx \frac{1}{S} \sum_{s=1}^{S} \left[ \log q(\mathbf{w}^{(s)} \mid \mu, \rho) - \log
P(\mathbf{w}^{(s)}) - \log P(\mathcal{D} \mid \mathbf{w}^{(s)}) \right].
\end{equation}
The variational posterior is $q(\mathbf{w} \mid \mu, \rho) = \prod_j \mathcal{N}(w_j \mid \mu_j, \sigma_j^2)$ with
$\sigma_j = \log(1 + \exp(\rho_j))$, the prior is the scale mixture
\begin{equation}
P(\mathbf{w}) = \prod_j \left[ \alpha\, \mathcal{N}(w_j \mid 0, \sigma_1^2) + (1 - \alpha)\, \mathcal{N}(w_j \mid 0,
\sigma_2^2) \right],
\end{equation}
and the likelihood is Bernoulli, $\log P(\mathcal{D} \mid \mathbf{w}) = \sum_{i=1}^{n} y_i \log f_i + (1 - y_i)
\log(1 - f_i)$ with $f_i = 1/(1 + e^{-\mathbf{w}^\top x_i})$.
""",
        "X: matrix(n, d); y: vector(n); mu: vector(d); rho: vector(d); epsilon: matrix(S, d); alpha: scalar; sigma_1: scalar positive; sigma_2: scalar positive",  # noqa: E501
        "rho",
        bbb,
        fractions=("alpha", "y"),
        refused="only words describe \\circ",
    ),
    Paragraph(
        "skip-gram with negative sampling",
        r"""
For each (center, context) pair $(c_i, o_i)$ we draw $M$ negative words $g_{i1}, \dots, g_{iM}$ and minimize
\[
-\sum_{i=1}^{N} \Big[ \log \sigma\big( \mathbf{v}_{c_i}^\top \mathbf{u}_{o_i} \big) + \sum_{j=1}^{M} \log
\sigma\big( -\mathbf{v}_{c_i}^\top \mathbf{u}_{g_{ij}} \big) \Big], \qquad \sigma(x) = \frac{1}{1 + e^{-x}},
\]
where $\mathbf{v}_w$ and $\mathbf{u}_w$ are the ``input'' and ``output'' representations of word $w$.
""",
        "V: matrix(J, d); U: matrix(J, d); c: index(N); o: index(N); g: index(N, M)",
        "V",
        sgns,
        ranges={"c": "J", "o": "J", "g": "J"},
        refused="this can be row or column c_i of V",
    ),
    Paragraph(
        "linear-chain conditional random field",
        r"""
For a sequence of tags $\mathbf{y} = (y_1, \dots, y_T)$ with $y_t \in \{1, \dots, K\}$ we define its score to be
\[
s(\mathbf{y}) = \sum_{t=1}^{T-1} A_{y_t, y_{t+1}} + \sum_{t=1}^{T} P_{t, y_t},
\]
where $A$ is a matrix of transition scores and $P$ the matrix of emission scores. Training minimizes $\log Z -
s(\mathbf{y})$, where the partition function $Z = \sum_{k=1}^{K} \alpha_T(k)$ is computed by the forward recursion
\[
\alpha_1(k) = \exp(P_{1,k}), \qquad \alpha_t(k) = \sum_{j=1}^{K} \alpha_{t-1}(j) \exp\left( A_{j,k} + P_{t,k}
\right), \quad t = 2, \dots, T.
\]
""",
        "P: matrix(T, K); A: matrix(K, K); y: index(T)",
        "A",
        crf,
        ranges={"y": "K"},
    ),
    Paragraph(
        "refuse: network left unspecified",
        r"""
We train by minimizing the regularized empirical risk
\begin{equation}
\min_{W} \; \frac{1}{n} \sum_{i=1}^{n} \log\left( 1 + \exp(-y_i f_W(x_i)) \right) + \frac{\lambda}{2} \|W\|_F^2,
\end{equation}
where $f_W$ is a neural network with weights $W$.
""",
        "X: matrix(n, d); y: vector(n); W: matrix(d, k); lambda: scalar positive",
        "W",
        None,
        refused="only words describe f_W",
    ),
]
