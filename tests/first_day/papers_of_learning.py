r"""Passages of LaTeX of econometrics and machine learning, with their meanings as NumPy functions; refused ones."""

import numpy as np
from first_day.further_papers import ENGINEERING, NEURIPS, SCIENCES, STATISTICS, pairs, sigmoid
from first_day.papers import Passage, log_sigmoid
from scipy import special
from scipy.stats import norm

ECONOMETRICS = [
    Passage(
        "generalised method of moments",
        r"Q_N(\theta) = g^{\prime} W g, \quad g = \frac{1}{N} Z^{\prime}(y - X\theta)",
        "Z: matrix(N, q); X: matrix(N, k); y: vector(N); theta: vector(k); W: matrix(q, q) spd",
        "theta",
        lambda Z, X, y, theta, W: (Z.T @ (y - X @ theta) / len(y)) @ W @ (Z.T @ (y - X @ theta) / len(y)),
    ),
    Passage(
        "probit",
        r"\ln L(\beta) = \sum_{i=1}^{N} \Bigl\{ y_i \ln \Phi(x_i'\beta) + (1 - y_i) \ln\bigl[ 1 - \Phi(x_i'\beta) "
        r"\bigr] \Bigr\}",
        "X: matrix(N, k); y: vector(N); beta: vector(k)",
        "beta",
        lambda X, y, beta: np.sum(y * special.log_ndtr(X @ beta) + (1 - y) * special.log_ndtr(-X @ beta)),
    ),
    Passage(
        "multinomial logit",
        r"\sum_{n=1}^{N} \Bigl( v_{n} - \ln \sum_{j=1}^{J} e^{V_{nj}} \Bigr)",
        "v: vector(N); V: matrix(N, J)",
        "V",
        lambda v, V: np.sum(v - special.logsumexp(V, axis=1)),
    ),
    Passage(
        "utility of wealth",
        r"\sum_{t=1}^{T} b_t \frac{c_t^{1-\gamma}}{1-\gamma}",
        "b: vector(T); c: vector(T) positive; gamma: scalar",
        "c",
        lambda b, c, gamma: np.sum(b * c ** (1 - gamma) / (1 - gamma)),
    ),
    Passage(
        "constant elasticity",
        r"Y = A \left( \alpha K^{\rho} + (1 - \alpha) L^{\rho} \right)^{1/\rho}",
        "A: scalar positive; K: scalar positive; L: scalar positive; alpha: scalar; rho: scalar positive",
        "rho",
        lambda A, K, L, alpha, rho: A * (alpha * K**rho + (1 - alpha) * L**rho) ** (1 / rho),
    ),
    Passage(
        "sandwich form",
        r"(X'X)^{-1} X' y",
        "X: matrix(n, k); y: vector(n)",
        "y",
        lambda X, y: np.linalg.solve(X.T @ X, X.T @ y),
    ),
]

LEARNING = [
    Passage(
        "number of nonzeros",
        r"\tfrac12 \| y - X b \|_2^2 + \lambda \| b \|_0",
        "X: matrix(n, p); y: vector(n); b: vector(p); lam: scalar",
        "b",
        lambda X, y, b, lam: 0.5 * np.sum((y - X @ b) ** 2) + lam * np.count_nonzero(b),
    ),
    Passage(
        "normal prior",
        r"\sum_{i=1}^n \log \mathcal{N}\left(y_i \,|\, x_i^\top w, \sigma^2\right) + \log \mathcal N(w; 0, \tau^2 I_d)",
        "X: matrix(n, d); y: vector(n); w: vector(d); sigma: scalar positive; tau: scalar positive",
        "w",
        lambda X, y, w, sigma, tau: np.sum(norm.logpdf(y, X @ w, sigma)) + np.sum(norm.logpdf(w, 0, tau)),
    ),
    Passage(
        "mixture of normals",
        r"\sum_{n=1}^{N} \ln \sum_{k=1}^{K} \pi_k\, \mathcal{N}(x_n \mid \mu_k, s_k^2)",
        "x: vector(N); pi: vector(K) positive; mu: vector(K); s: vector(K) positive",
        "mu",
        lambda x, pi, mu, s: np.sum(np.log(norm.pdf(x[:, None], mu, s) @ pi)),
    ),
    Passage(
        "sum over pairs in one subscript",
        r"\binom{n}{2}^{-1} \sum_{1 \le i < j \le n} \left| x_i - x_j \right|",
        "x: vector(n)",
        "x",
        lambda x: 2 / len(x) / (len(x) - 1) * sum(abs(x[i] - x[j]) for i, j in pairs(len(x))),
    ),
    Passage(
        "determinant to a power",
        r"\log |\Sigma|^{-1/2} - \tfrac{1}{2} \operatorname{tr}(\Sigma^{-1} S)",
        "Sigma: matrix(n, n) spd; S: matrix(n, n) spd",
        "Sigma",
        lambda Sigma, S: -0.5 * np.linalg.slogdet(Sigma)[1] - 0.5 * np.trace(np.linalg.solve(Sigma, S)),
    ),
    Passage(
        "smoothed hinge with an indicator",
        r"\frac{1}{n}\sum_{i=1}^{n} \mathbb{1}[y_i > 0]\, (1 - u_i)^2",
        "y: vector(n); u: vector(n)",
        "u",
        lambda y, u: np.mean((y > 0) * (1 - u) ** 2),
    ),
    Passage(
        "logit with a sigmoid of a dot",
        r"\ell(w) = -\frac1m\sum_{i=1}^m \Big( y^{(i)} \log \hat y^{(i)} + (1-y^{(i)}) \log(1-\hat y^{(i)}) "
        r"\Big), \quad \hat y^{(i)} = \sigma(w^\top x^{(i)})",
        "X: matrix(m, n); y: vector(m); w: vector(n)",
        "w",
        lambda X, y, w: -np.mean(y * log_sigmoid(X @ w) + (1 - y) * log_sigmoid(-X @ w)),
    ),
    Passage(
        "trace norm of a product",
        r"\mathrm{tr}(\mathbf{W}^\top \mathbf{L} \mathbf{W}) + \mathbf{1}^\top (\mathbf{W} \odot "
        r"\mathbf{W}) \mathbf{1}",
        "W: matrix(n, k); L: matrix(n, n) symmetric",
        "W",
        lambda W, L: np.trace(W.T @ L @ W) + np.sum(W * W),
    ),
    Passage(
        "definition with a sign above",
        r"f(x) \overset{\text{def}}{=} \log\bigl( 1 + \exp(a^\top x + b) \bigr)",
        "a: vector(n); x: vector(n); b: scalar",
        "x",
        lambda a, x, b: np.logaddexp(0, a @ x + b),
    ),
    Passage(
        "declared in the passage",
        r"\|Ax - b\|_2^2 + \mu\, \|x\|_1, \qquad A \in \mathbb{R}^{m \times n},\ b \in \mathbb{R}^m,\ x "
        r"\in \mathbb{R}^n",
        "A: matrix(m, n); b: vector(m); x: vector(n); mu: scalar positive",
        "x",
        lambda A, b, x, mu: np.sum((A @ x - b) ** 2) + mu * np.sum(abs(x)),
    ),
    Passage(
        "for all i at the end",
        r"\sum_{i=1}^n \xi_i^2, \quad \xi_i = y_i - \langle w, x_i \rangle, \quad \forall i",
        "X: matrix(n, d); y: vector(n); w: vector(d)",
        "w",
        lambda X, y, w: np.sum((y - X @ w) ** 2),
    ),
    Passage(
        "log-sum-exp with a temperature",
        r"\tau \log \sum_{k=1}^{K} \exp\left( {z_k}/{\tau} \right)",
        "z: vector(K); tau: scalar positive",
        "tau",
        lambda z, tau: tau * special.logsumexp(z / tau),
    ),
    Passage(
        "product of probabilities",
        r"\log \prod_{i=1}^{n} p_i^{y_i} (1 - p_i)^{1 - y_i}, \text{ where } p_i = \frac{1}{1 + e^{-x_i^\top \theta}}",
        "X: matrix(n, d); y: vector(n); theta: vector(d)",
        "theta",
        lambda X, y, theta: np.sum(y * log_sigmoid(X @ theta) + (1 - y) * log_sigmoid(-X @ theta)),
    ),
    Passage(
        "weighted squares with a diagonal",
        r"(\boldsymbol y-\boldsymbol X\boldsymbol\beta)^\top\operatorname{diag}(\boldsymbol "
        r"w)(\boldsymbol y-\boldsymbol "
        r"X\boldsymbol\beta)",
        "X: matrix(n, p); y: vector(n); w: vector(n); beta: vector(p)",
        "beta",
        lambda X, y, w, beta: np.sum(w * (y - X @ beta) ** 2),
    ),
    Passage(
        "cosine similarity",
        r"1 - \frac{\langle u, v \rangle}{\norm{u}\,\norm{v}}",
        "u: vector(n); v: vector(n)",
        "u",
        lambda u, v: 1 - u @ v / np.linalg.norm(u) / np.linalg.norm(v),
    ),
    Passage(
        "swish network",
        r"\mathbf{a}^\top \big( \mathbf{z} \odot \sigma(\mathbf{z}) \big), \quad \mathbf{z} = W_1 x + b_1",
        "a: vector(k); W_1: matrix(k, n); x: vector(n); b_1: vector(k)",
        "W_1",
        lambda a, W_1, x, b_1: a @ ((W_1 @ x + b_1) * sigmoid(W_1 @ x + b_1)),
    ),
]

FURTHER = [*NEURIPS, *STATISTICS, *ENGINEERING, *SCIENCES, *ECONOMETRICS, *LEARNING]

FURTHER_REFUSED = [
    (
        "matched filter",
        r"\Lambda = 2\,\langle s, d \rangle_{N}, \quad \text{where } \langle a, b \rangle_{N} = a^{T} N^{-1} b",
        "s: vector(n); d: vector(n); N: matrix(n, n) spd",
        "more than a name",
    ),
    (
        "von Neumann entropy",
        r"S(\rho) = - \mathrm{Tr}\left[ \rho \log \rho \right]",
        "rho: matrix(n, n) spd",
        "log or logm",
    ),
    (
        "rotation by an exponential",
        r"\left\| \exp(\Omega)\, a - b \right\|^{2}, \qquad \Omega = S - S^{\top}",
        "S: matrix(n, n); a: vector(n); b: vector(n)",
        "exp or expm",
    ),
    (
        "norm of a weight",
        r"\min_x \; \| x - \hat{x} \|_{\Sigma}^2 + \| z - H x \|_{R}^2",
        "x: vector(n); x_hat: vector(n); z: vector(m); H: matrix(m, n); Sigma: matrix(n, n) spd; R: matrix(m, m) spd",
        "unknown or ambiguous",
    ),
    (
        "feature map",
        r"\sum_i (y_i - w^\top \Phi(x_i))^2",
        "X: matrix(n, d); y: vector(n); w: vector(d)",
        "function of this name",
    ),
]
"""Passages that are refused: the paper, the LaTeX, the declarations, and words of the reason."""
