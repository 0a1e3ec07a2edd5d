r"""Whole paragraphs of LaTeX from papers, first set, part 3: written by someone who had seen no code."""

import numpy as np
from first_day.paragraph import Paragraph


def lse(v):
    v = np.asarray(v, float)
    c = v.max()
    return c + np.log(np.sum(np.exp(v - c)))


def softmax(v):
    return np.exp(np.asarray(v, float) - lse(v))


def trades(X, Xtilde, y, W, beta, **k):
    n, tot = (X.shape[0], 0.0)
    for i in range(n):
        p = softmax(W @ X[i])
        q = softmax(W @ Xtilde[i])
        tot += -np.log(p[y[i]]) + beta * sum(p[c] * np.log(p[c] / q[c]) for c in range(len(p)))
    return tot / n


def sig(x):
    return 1.0 / (1.0 + np.exp(-x))


def bpr(P, Q, u, i, j, **k):
    lam = k["lambda"]
    tot = 0.0
    for s in range(len(u)):
        xui = P[u[s]] @ Q[i[s]]
        xuj = P[u[s]] @ Q[j[s]]
        tot += np.log(sig(xui - xuj))
    return -tot + lam * (np.sum(P**2) + np.sum(Q**2))


def fm(X, y, w_0, w, V, **k):
    n, d = X.shape
    tot = 0.0
    for s in range(n):
        x = X[s]
        yh = w_0 + sum(w[i] * x[i] for i in range(d))
        for i in range(d):
            for j in range(i + 1, d):
                yh += V[i] @ V[j] * x[i] * x[j]
        tot += (y[s] - yh) ** 2
    return tot


def ot_dual(f, g, a, b, C, varepsilon, **k):
    s = f @ a + g @ b
    for i in range(len(f)):
        for j in range(len(g)):
            s -= varepsilon * a[i] * b[j] * (np.exp((f[i] + g[j] - C[i, j]) / varepsilon) - 1)
    return s


def gw(C, D, P, varepsilon, **k):
    n, m = P.shape
    s = 0.0
    for i in range(n):
        for j in range(m):
            for a in range(n):
                for b in range(m):
                    s += (C[i, a] - D[j, b]) ** 2 * P[i, j] * P[a, b]
    H = -sum(P[i, j] * (np.log(P[i, j]) - 1) for i in range(n) for j in range(m))
    return s - varepsilon * H


def bures(m_1, m_2, Sigma_1, Sigma_2, **k):
    w, Q = np.linalg.eigh(Sigma_1)
    R = Q * np.sqrt(w) @ Q.T
    ev = np.linalg.eigvalsh(R @ Sigma_2 @ R)
    return np.sum((m_1 - m_2) ** 2) + np.trace(Sigma_1) + np.trace(Sigma_2) - 2 * np.sum(np.sqrt(ev))


def mmd(X, Y, sigma, **k):
    n, m = (X.shape[0], Y.shape[0])

    def ker(a, b):
        return np.exp(-np.sum((a - b) ** 2) / (2 * sigma**2))

    a = sum(ker(X[i], X[j]) for i in range(n) for j in range(n) if i != j) / (n * (n - 1))
    b = sum(ker(Y[i], Y[j]) for i in range(m) for j in range(m) if i != j) / (m * (m - 1))
    c = 2 * sum(ker(X[i], Y[j]) for i in range(n) for j in range(m)) / (n * m)
    return a + b - c


def hsic(X, Y, W, gamma, **k):
    n = X.shape[0]
    F = X @ W
    K = np.array([[np.exp(-gamma * np.sum((F[i] - F[j]) ** 2)) for j in range(n)] for i in range(n)])
    L = np.array([[Y[i] @ Y[j] for j in range(n)] for i in range(n)])
    H = np.eye(n) - np.ones((n, n)) / n
    return np.trace(K @ H @ L @ H) / (n - 1) ** 2


def gp(X, y, ell, sigma_f, sigma_n, **k):
    n = X.shape[0]
    K = np.array(
        [[sigma_f**2 * np.exp(-np.sum((X[i] - X[j]) ** 2) / (2 * ell**2)) for j in range(n)] for i in range(n)]
    )
    Ky = K + sigma_n**2 * np.eye(n)
    return -0.5 * y @ np.linalg.solve(Ky, y) - 0.5 * np.log(np.linalg.det(Ky)) - n / 2 * np.log(2 * np.pi)


def distill(Z, V, y, tau, alpha, **k):
    n, tot = (Z.shape[0], 0.0)
    for i in range(n):
        p1 = softmax(Z[i])
        ps = softmax(Z[i] / tau)
        pt = softmax(V[i] / tau)
        kl = np.sum(pt * (np.log(pt) - np.log(ps)))
        tot += (1 - alpha) * -np.log(p1[y[i]]) + alpha * tau**2 * kl
    return tot / n


FIRST_3 = [
    Paragraph(
        "TRADES robust training",
        r"""
Let $f(\mathbf{x}) = \mathrm{softmax}(\mathbf{W}\mathbf{x})\in\mathbb{R}^{K}$ and let $\tilde{\mathbf{x}}_i$ be an
adversarial version of $\mathbf{x}_i$ produced by PGD. We trade off natural and robust errors by
\begin{equation}
\mathcal{L}(\mathbf{W}) = \frac{1}{n}\sum_{i=1}^{n}\Big\{-\log
f(\mathbf{x}_i)_{y_i}+\beta\,\mathrm{KL}\big(f(\mathbf{x}_i)\,\|\,f(\tilde{\mathbf{x}}_i)\big)\Big\},
\end{equation}
where $\mathrm{KL}(\mathbf{p}\,\|\,\mathbf{q}) = \sum_{c=1}^{K}p_c\log\frac{p_c}{q_c}$ and $\beta>0$ controls the
strength of the regularization.
""",
        "X: matrix(n, d); Xtilde: matrix(n, d); y: index(n); W: matrix(K, d); beta: scalar positive",
        "W",
        trades,
        ranges={"y": "K"},
    ),
    Paragraph(
        "Bayesian personalized ranking",
        r"""
Matrix factorization predicts the preference of user $u$ for item $i$ as $\hat{x}_{ui} =
\mathbf{p}_u^\top\mathbf{q}_i$. From $N$ sampled triples $(u_s,i_s,j_s)$, in which user $u_s$ has interacted with
$i_s$ but not with $j_s$, we minimize
\[
\mathcal{L}_{\mathrm{BPR}} = -\sum_{s=1}^{N}\ln\sigma\left(\hat{x}_{u_s i_s}-\hat{x}_{u_s
j_s}\right)+\lambda\left(\|\mathbf{P}\|_F^2+\|\mathbf{Q}\|_F^2\right),
\]
where $\sigma(x) = 1/(1+e^{-x})$ is the logistic sigmoid.
""",
        "P: matrix(m, k); Q: matrix(n, k); u: index(N); i: index(N); j: index(N); lambda: scalar positive",
        "P",
        bpr,
        ranges={"u": "m", "i": "n", "j": "n"},
    ),
    Paragraph(
        "factorization machines",
        r"""
The model equation for a factorization machine of degree two is defined as
\begin{equation}
\hat{y}(\mathbf{x}) := w_0+\sum_{i=1}^{d}w_i
x_i+\sum_{i=1}^{d}\sum_{j=i+1}^{d}\langle\mathbf{v}_i,\mathbf{v}_j\rangle\,x_i x_j,
\end{equation}
where $\langle\cdot,\cdot\rangle$ is the dot product of two vectors of size $k$ and $\mathbf{v}_i$ is the $i$-th row
of $\mathbf{V}\in\mathbb{R}^{d\times k}$. The parameters are learned by least squares on the training set,
\begin{equation}
\sum_{s=1}^{n}\left(y_s-\hat{y}(\mathbf{x}_s)\right)^2 .
\end{equation}
""",
        "X: matrix(n, d); y: vector(n); w_0: scalar; w: vector(d); V: matrix(d, k)",
        "V",
        fm,
    ),
    Paragraph(
        "entropic optimal transport, dual",
        r"""
The dual of entropy-regularized optimal transport reads
\[
\max_{\mathbf{f}\in\mathbb{R}^n,\ \mathbf{g}\in\mathbb{R}^m}\
\langle\mathbf{f},\mathbf{a}\rangle+\langle\mathbf{g},\mathbf{b}\rangle-\varepsilon\sum_{i,j}a_i
b_j\left(e^{(f_i+g_j-C_{ij})/\varepsilon}-1\right).
\]
""",
        "f: vector(n); g: vector(m); a: vector(n) positive; b: vector(m) positive; C: matrix(n, m); varepsilon: scalar positive",  # noqa: E501
        "f",
        ot_dual,
    ),
    Paragraph(
        "entropic Gromov-Wasserstein",
        r"""
Given two similarity matrices $C\in\mathbb{R}^{n\times n}$ and $D\in\mathbb{R}^{m\times m}$, the entropic
Gromov--Wasserstein energy of a coupling $P$ is
\begin{equation*}
\mathcal{E}_\varepsilon(P) = \sum_{i,j,k,l}|C_{ik}-D_{jl}|^2\,P_{ij}P_{kl}-\varepsilon H(P),\qquad H(P) :=
-\sum_{i,j}P_{ij}\left(\log P_{ij}-1\right).
\end{equation*}
""",
        "C: matrix(n, n) symmetric; D: matrix(m, m) symmetric; P: matrix(n, m) positive; varepsilon: scalar positive",
        "P",
        gw,
    ),
    Paragraph(
        "Gaussian Wasserstein distance (Frechet inception distance)",
        r"""
The squared 2-Wasserstein distance between two Gaussians is
\[
W_2^2 =
\|m_1-m_2\|_2^2+\operatorname{tr}\left(\Sigma_1+\Sigma_2-2\left(\Sigma_1^{1/2}\Sigma_2\Sigma_1^{1/2}\right)^{1/2}\right).
\]
""",
        "m_1: vector(d); m_2: vector(d); Sigma_1: matrix(d, d) spd; Sigma_2: matrix(d, d) spd",
        "m_1",
        bures,
    ),
    Paragraph(
        "kernel two-sample test, unbiased MMD",
        r"""
An unbiased empirical estimate of the squared MMD is a sum of two U-statistics and a sample average,
\begin{equation}
\mathrm{MMD}_u^2[X,Y] = \frac{1}{n(n-1)}\sum_{i=1}^{n}\sum_{j\neq
i}^{n}k(x_i,x_j)+\frac{1}{m(m-1)}\sum_{i=1}^{m}\sum_{j\neq
i}^{m}k(y_i,y_j)-\frac{2}{nm}\sum_{i=1}^{n}\sum_{j=1}^{m}k(x_i,y_j),
\end{equation}
where we use the Gaussian kernel $k(x,y) = \exp\left(-\frac{\|x-y\|^2}{2\sigma^2}\right)$ with bandwidth $\sigma$.
""",
        "X: matrix(n, d); Y: matrix(m, d); sigma: scalar positive",
        "X",
        mmd,
    ),
    Paragraph(
        "HSIC dependence criterion for dimensionality reduction",
        r"""
We seek a projection $\mathbf{W}\in\mathbb{R}^{d\times k}$ that maximizes the dependence between
$\mathbf{W}^\top\mathbf{x}$ and the labels, as measured by the empirical Hilbert--Schmidt Independence Criterion
\[
\widehat{\mathrm{HSIC}} = \frac{1}{(n-1)^2}\operatorname{tr}(\mathbf{K}\mathbf{H}\mathbf{L}\mathbf{H}),
\]
where $\mathbf{H} = \mathbf{I}_n-\frac{1}{n}\mathbf{1}\mathbf{1}^\top$ is the centering matrix and the Gram matrices
have entries $K_{ij} = \exp\left(-\gamma\|\mathbf{W}^\top\mathbf{x}_i-\mathbf{W}^\top\mathbf{x}_j\|_2^2\right)$ and
$L_{ij} = \mathbf{y}_i^\top\mathbf{y}_j$.
""",
        "X: matrix(n, d); Y: matrix(n, q); W: matrix(d, k); gamma: scalar positive",
        "W",
        hsic,
    ),
    Paragraph(
        "Gaussian process marginal likelihood",
        r"""
Hyperparameters are set by maximizing the log marginal likelihood
\begin{equation}
\log p(\mathbf{y}\mid X) = -\frac{1}{2}\mathbf{y}^\top K_y^{-1}\mathbf{y}-\frac{1}{2}\log|K_y|-\frac{n}{2}\log 2\pi,
\end{equation}
where $K_y = K_f+\sigma_n^2 I$ and $K_f$ is the covariance matrix with $(K_f)_{ij} =
\sigma_f^2\exp\left(-\frac{1}{2\ell^2}\|\mathbf{x}_i-\mathbf{x}_j\|^2\right)$.
""",
        "X: matrix(n, d); y: vector(n); ell: scalar positive; sigma_f: scalar positive; sigma_n: scalar positive",
        "ell",
        gp,
    ),
    Paragraph(
        "knowledge distillation",
        r"""
Denote by $\mathbf{z}_i$ and $\mathbf{v}_i$ the logits of the student and of the teacher on example $i$. At
temperature $\tau$ the softened probabilities are
\[
p_{ic}(\tau) = \frac{\exp(z_{ic}/\tau)}{\sum_{c'}\exp(z_{ic'}/\tau)},\qquad
q_{ic}(\tau) = \frac{\exp(v_{ic}/\tau)}{\sum_{c'}\exp(v_{ic'}/\tau)} .
\]
The student minimizes a combination of the usual cross-entropy with the hard labels and the KL divergence to the
teacher,
\[
\mathcal{L} = \frac{1}{n}\sum_{i=1}^{n}\left[-(1-\alpha)\log
p_{iy_i}(1)+\alpha\tau^2\sum_{c=1}^{K}q_{ic}(\tau)\log\frac{q_{ic}(\tau)}{p_{ic}(\tau)}\right].
\]
""",
        "Z: matrix(n, K); V: matrix(n, K); y: index(n); tau: scalar positive; alpha: scalar positive",
        "Z",
        distill,
        fractions=("alpha",),
        ranges={"y": "K"},
    ),
]
