r"""Sixty further passages of LaTeX as journals and conferences set them, each with its meaning as a NumPy function.

They differ from those of `papers.py` in their signs: `\big`, `\intercal`, `\nicefrac`, `\overset`, sets, marks.
"""

import numpy as np
from first_day.papers import Passage, hinge, log_sigmoid
from scipy import special
from scipy.stats import multivariate_normal, norm

SIZES = {"m": 6, "n": 5, "p": 4, "k": 3, "q": 2, "d": 3, "K": 4, "N": 5, "T": 4, "J": 3}


def sigmoid(t):
    return special.expit(t)


def quadratic(x, S, y=None):
    return x @ np.linalg.solve(S, x if y is None else y)


def gaussian(X, mu, S):
    return sum(multivariate_normal.logpdf(x, mu, S) for x in X)


def pairs(n):
    return [(i, j) for i in range(n) for j in range(i + 1, n)]


NEURIPS = [
    Passage(
        "weight decay, bold and big",
        r"\mathcal{L}(\mathbf{w}) \coloneqq \frac{1}{2n}\bigl\lVert \mathbf{X}\mathbf{w} - \mathbf{y} \bigr\rVert_2^2 "
        r"+ \frac{\lambda}{2}\,\big\|\mathbf{w}\big\|_2^2 \,,",
        "X: matrix(n, d); y: vector(n); w: vector(d); lam: scalar positive",
        "w",
        lambda X, y, w, lam: np.sum((X @ w - y) ** 2) / (2 * len(y)) + lam / 2 * w @ w,
    ),
    Passage(
        "triplet loss",
        r"""\begin{equation}
        \ell_{\text{triplet}} = \sum_{i=1}^{n} \Big[ \left\lVert a_i - p_i \right\rVert_2^2
          - \left\lVert a_i - q_i \right\rVert_2^2 + \gamma \Big]_+ .
        \end{equation}""",
        "A: matrix(n, d); P: matrix(n, d); Q: matrix(n, d); gamma: scalar",
        "A",
        lambda A, P, Q, gamma: np.sum(hinge(np.sum((A - P) ** 2, axis=1) - np.sum((A - Q) ** 2, axis=1) + gamma)),
    ),
    Passage(
        "label smoothing",
        r"-\sum_{k=1}^{K} \Big( (1-\epsilon)\, y_k + \nicefrac{\epsilon}{K} \Big) \log p_k, \qquad p = "
        r"\operatorname{softmax}(z)",
        "y: vector(K); z: vector(K); epsilon: scalar",
        "z",
        lambda y, z, epsilon: -np.sum(((1 - epsilon) * y + epsilon / len(y)) * special.log_softmax(z)),
    ),
    Passage(
        "knowledge distillation",
        r"\mathcal{L}_{\mathrm{KD}} = T^2 \sum_{j} q_j \left( \log q_j - \log p_j \right), \text{ where } "
        r"q = \mathrm{softmax}(t / T), \; p = \mathrm{softmax}(s / T)",
        "s: vector(n); t: vector(n); T: scalar positive",
        "s",
        lambda s, t, T: T**2 * special.softmax(t / T) @ (special.log_softmax(t / T) - special.log_softmax(s / T)),
    ),
    Passage(
        "score matching",
        r"J(\theta) = \frac{1}{n} \sum_{i=1}^{n} \left( \frac{1}{2} \left\| \Theta x_i \right\|^2 "
        r"\right) - \tr(\Theta)",
        "Theta: matrix(d, d); X: matrix(n, d)",
        "Theta",
        lambda Theta, X: np.mean(0.5 * np.sum((X @ Theta.T) ** 2, axis=1)) - np.trace(Theta),
    ),
    Passage(
        "denoising diffusion",
        r"\mathcal{L}_{\text{simple}} = \left\| \epsilon - W\!\left( \sqrt{\bar{\alpha}_t}\, x_0 + "
        r"\sigma_t\, \epsilon \right) \right\|^2",
        "epsilon: vector(n); x_0: vector(n); W: matrix(n, n); alpha_bar_t: scalar positive; sigma_t: scalar",
        "W",
        lambda epsilon, x_0, W, alpha_bar_t, sigma_t: np.sum(
            (epsilon - W @ (np.sqrt(alpha_bar_t) * x_0 + sigma_t * epsilon)) ** 2
        ),
    ),
    Passage(
        "proximal policy optimisation, without the clip",
        r"L^{\mathrm{PG}}(\theta) = \frac{1}{T}\sum_{t=1}^{T} \exp\!\big( (\Phi\theta)_t - b_t \big)\, \hat{A}_t",
        "Phi: matrix(T, d); theta: vector(d); b: vector(T); A_hat: vector(T)",
        "theta",
        lambda Phi, theta, b, A_hat: np.mean(np.exp(Phi @ theta - b) * A_hat),
    ),
    Passage(
        "Barlow twins",
        r"\mathcal{L}_{BT} \triangleq \sum_i \left(1 - \mathcal{C}_{ii}\right)^2 + \lambda \sum_{i} \sum_{j \neq i} "
        r"\mathcal{C}_{ij}^2",
        "C: matrix(n, n); lam: scalar positive",
        "C",
        lambda C, lam: np.sum((1 - np.diag(C)) ** 2) + lam * (np.sum(C**2) - np.sum(np.diag(C) ** 2)),
    ),
    Passage(
        "orthogonality penalty",
        r"\beta \,\bigl\| W^{\intercal} W - I \bigr\|_{\mathrm{F}}^{2}",
        "W: matrix(m, n); beta: scalar",
        "W",
        lambda W, beta: beta * np.sum((W.T @ W - np.eye(W.shape[1])) ** 2),
    ),
    Passage(
        "linear attention",
        r"\frac{\phi^\top \sum_{j=1}^{n} k_j v_j}{\phi^\top \sum_{j=1}^{n} k_j}",
        "phi: vector(d); K: matrix(n, d); v: vector(n)",
        "phi",
        lambda phi, K, v: phi @ (K.T @ v) / (phi @ K.sum(axis=0)),
    ),
]

STATISTICS = [
    Passage(
        "multivariate normal log likelihood",
        r"\begin{align}\label{eq:lik} \ell_n(\boldsymbol{\mu}, \boldsymbol{\Sigma}) &= -\frac{n}{2} "
        r"\log |\boldsymbol{\Sigma}| \nonumber \\ &\quad - \frac{1}{2}\sum_{i=1}^{n} (\mathbf{x}_i - "
        r"\boldsymbol{\mu})^{\mathsf{T}} \boldsymbol{\Sigma}^{-1} (\mathbf{x}_i - \boldsymbol{\mu}). \end{align}",
        "X: matrix(n, p); mu: vector(p); Sigma: matrix(p, p) spd",
        "mu",
        lambda X, mu, Sigma: -len(X) / 2 * np.linalg.slogdet(Sigma)[1] - 0.5 * sum(quadratic(x - mu, Sigma) for x in X),
    ),
    Passage(
        "density of a Gaussian",
        r"\sum_{i=1}^{n} \log \mathcal{N}(x_i \mid \mu, \Sigma)",
        "X: matrix(n, p); mu: vector(p); Sigma: matrix(p, p) spd",
        "Sigma",
        lambda X, mu, Sigma: gaussian(X, mu, Sigma),
    ),
    Passage(
        "profile likelihood",
        r"\ell_p(\beta) \;=\; -\tfrac{n}{2}\,\log\Big\{ \tfrac1n\,(y - X\beta)^{\prime}(y - X\beta) \Big\}",
        "X: matrix(n, p); y: vector(n); beta: vector(p)",
        "beta",
        lambda X, y, beta: -len(y) / 2 * np.log(np.mean((y - X @ beta) ** 2)),
    ),
    Passage(
        "logistic log likelihood",
        r"l(\beta)=\sum_{i=1}^{n}\left\{y_i \mathbf{x}_i^{T} \beta-\log \left(1+e^{\mathbf{x}_i^{T} "
        r"\beta}\right)\right\}",
        "X: matrix(n, p); y: vector(n); beta: vector(p)",
        "beta",
        lambda X, y, beta: np.sum(y * (X @ beta) - np.logaddexp(0, X @ beta)),
    ),
    Passage(
        "adaptive lasso",
        r"\frac{1}{2}\Vert y - X b\Vert^2 + \lambda_n \sum_{j=1}^{p} \hat{w}_j \lvert b_j \rvert",
        "X: matrix(n, p); y: vector(n); b: vector(p); lambda_n: scalar positive; w_hat: vector(p)",
        "b",
        lambda X, y, b, lambda_n, w_hat: 0.5 * np.sum((y - X @ b) ** 2) + lambda_n * np.sum(w_hat * abs(b)),
    ),
    Passage(
        "group lasso",
        r"\min_{B \in \mathbb{R}^{p \times q}} \; \frac{1}{2} \| Y - XB \|_F^2 + \lambda \sum_{j=1}^p \| b_j \|_2",
        "X: matrix(n, p); Y: matrix(n, q); B: matrix(p, q); lam: scalar positive",
        "B",
        lambda X, Y, B, lam: 0.5 * np.sum((Y - X @ B) ** 2) + lam * np.sum(np.linalg.norm(B, axis=1)),
    ),
    Passage(
        "gamma regression",
        r"\sum_{i=1}^{n}\bigg[ \nu \log \nu - \log\Gamma(\nu) + (\nu-1)\log y_i - \nu\, x_i^\top\beta - "
        r"\nu y_i e^{-x_i^\top\beta} \bigg]",
        "X: matrix(n, p); y: vector(n) positive; beta: vector(p); nu: scalar positive",
        "nu",
        lambda X, y, beta, nu: np.sum(
            nu * np.log(nu) - special.gammaln(nu) + (nu - 1) * np.log(y) - nu * X @ beta - nu * y * np.exp(-X @ beta)
        ),
    ),
    Passage(
        "Dirichlet log density",
        r"\log\Gamma\Big(\sum_{k=1}^K \alpha_k\Big) - \sum_{k=1}^K \log\Gamma(\alpha_k) + \sum_{k=1}^K "
        r"(\alpha_k - 1) \ln p_k",
        "alpha: vector(K) positive; p: vector(K) positive",
        "alpha",
        lambda alpha, p: (
            special.gammaln(np.sum(alpha)) - np.sum(special.gammaln(alpha)) + np.sum((alpha - 1) * np.log(p))
        ),
    ),
    Passage(
        "mixed model",
        r"""\begin{aligned}
        \ell(\beta, \tau) = -\frac12 \log\det V - \frac12 (y - X\beta)^\top V^{-1} (y - X\beta),
        \qquad V = \tau Z Z^\top + I_n .
        \end{aligned}""",
        "X: matrix(n, p); Z: matrix(n, q); y: vector(n); beta: vector(p); tau: scalar positive",
        "tau",
        lambda X, Z, y, beta, tau: (
            -0.5 * np.linalg.slogdet(tau * Z @ Z.T + np.eye(len(y)))[1]
            - 0.5 * quadratic(y - X @ beta, tau * Z @ Z.T + np.eye(len(y)))
        ),
    ),
    Passage(
        "kernel density",
        r"\hat f(x) = \frac{1}{n h} \sum_{i=1}^n \frac{1}{\sqrt{2\pi}} \exp\left\{ -\frac{(x - X_i)^2}{2 h^2} \right\}",
        "x: scalar; X: vector(n); h: scalar positive",
        "h",
        lambda x, X, h: np.sum(np.exp(-((x - X) ** 2) / (2 * h**2)) / np.sqrt(2 * np.pi)) / (len(X) * h),
    ),
]

ENGINEERING = [
    Passage(
        "linear quadratic stage cost",
        r"J = \sum_{t=1}^{T} \left( x_t^{\top} Q x_t + u_t^{\top} R u_t \right)",
        "X: matrix(T, n); U: matrix(T, m); Q: matrix(n, n) spd; R: matrix(m, m) spd",
        "U",
        lambda X, U, Q, R: sum(x @ Q @ x for x in X) + sum(u @ R @ u for u in U),
    ),
    Passage(
        "Kalman innovation",
        r"\frac{1}{2}\tilde{y}^T S^{-1} \tilde{y} + \frac{1}{2}\ln\lvert S\rvert \quad \text{with} \quad "
        r"\tilde{y} = z - H\hat{x}, \quad S = H P H^T + R",
        "z: vector(m); H: matrix(m, n); x_hat: vector(n); P: matrix(n, n) spd; R: matrix(m, m) spd",
        "P",
        lambda z, H, x_hat, P, R: (
            0.5 * quadratic(z - H @ x_hat, H @ P @ H.T + R) + 0.5 * np.linalg.slogdet(H @ P @ H.T + R)[1]
        ),
    ),
    Passage(
        "Mahalanobis distance",
        r"d_M(\vec{x}, \vec{y}) = \sqrt{(\vec{x} - \vec{y})^\mathsf{T} S^{-1} (\vec{x} - \vec{y})}",
        "x: vector(n); y: vector(n); S: matrix(n, n) spd",
        "x",
        lambda x, y, S: np.sqrt(quadratic(x - y, S)),
    ),
    Passage(
        "sum rate of beamforming",
        r"\log_2 \det\left( \mathbf{I} + \frac{1}{\sigma^2} \mathbf{H} \mathbf{Q} \mathbf{H}^{T} \right)",
        "H: matrix(m, n); Q: matrix(n, n) spd; sigma: scalar positive",
        "Q",
        lambda H, Q, sigma: np.linalg.slogdet(np.eye(len(H)) + H @ Q @ H.T / sigma**2)[1] / np.log(2),
    ),
    Passage(
        "spring energy",
        r"E = \tfrac{1}{2} \sum_{i<j} k_{ij} \left( \left\Vert x_i - x_j \right\Vert - l_{ij} \right)^2",
        "X: matrix(n, d); K: matrix(n, n); L: matrix(n, n)",
        "X",
        lambda X, K, L: 0.5 * sum(K[i, j] * (np.linalg.norm(X[i] - X[j]) - L[i, j]) ** 2 for i, j in pairs(len(X))),
    ),
    Passage(
        "rigid registration",
        r"\argmin_{t} \sum_{i=1}^{n} \bigl\| R p_i + t - q_i \bigr\|^2",
        "R: matrix(d, d); P: matrix(n, d); Q: matrix(n, d); t: vector(d)",
        "t",
        lambda R, P, Q, t: np.sum((P @ R.T + t - Q) ** 2),
    ),
    Passage(
        "compressed sensing",
        r"\operatorname*{minimize}_{x} \quad \left\lVert x \right\rVert_1 + \frac{\rho}{2} \left\lVert \Phi x - y "
        r"\right\rVert_2^2",
        "x: vector(n); y: vector(m); Phi: matrix(m, n); rho: scalar positive",
        "x",
        lambda x, y, Phi, rho: np.sum(abs(x)) + rho / 2 * np.sum((Phi @ x - y) ** 2),
    ),
    Passage(
        "augmented Lagrangian",
        r"L_{\rho}(x, z, u) = \lambda \|z\|_1 + u^{\mathrm{T}}(Ax - z) + \frac{\rho}{2} \| A x - z \|_2^2",
        "x: vector(n); z: vector(m); u: vector(m); A: matrix(m, n); rho: scalar positive; lam: scalar positive",
        "x",
        lambda x, z, u, A, rho, lam: lam * np.sum(abs(z)) + u @ (A @ x - z) + rho / 2 * np.sum((A @ x - z) ** 2),
    ),
    Passage(
        "Lyapunov decrease",
        r"x^\top \left( A^\top P + P A \right) x + 2 x^\top P B u",
        "x: vector(n); A: matrix(n, n); P: matrix(n, n) spd; B: matrix(n, m); u: vector(m)",
        "x",
        lambda x, A, P, B, u: x @ (A.T @ P + P @ A) @ x + 2 * x @ P @ B @ u,
    ),
    Passage(
        "manipulability",
        r"w(q) = \sqrt{\det\left( J J^{\top} \right)}",
        "J: matrix(k, n)",
        "J",
        lambda J: np.sqrt(np.linalg.det(J @ J.T)),
    ),
    Passage(
        "barrier",
        r"t\, c^\top x - \sum_{i=1}^m \log\left(b_i^2 + (a_i^\top x)^2\right)",
        "t: scalar positive; c: vector(n); x: vector(n); A: matrix(m, n); b: vector(m)",
        "c",
        lambda t, c, x, A, b: t * c @ x - np.sum(np.log(b**2 + (A @ x) ** 2)),
    ),
]

SCIENCES = [
    Passage(
        "chi-squared with a covariance",
        r"\chi^2(\theta) = \left(\mathbf{d} - M\theta\right)^{T} C^{-1} \left(\mathbf{d} - M\theta\right)",
        "d: vector(n); M: matrix(n, p); theta: vector(p); C: matrix(n, n) spd",
        "theta",
        lambda d, M, theta, C: quadratic(d - M @ theta, C),
    ),
    Passage(
        "chi-squared of magnitudes",
        r"\chi^2 = \sum_{i=1}^{N} \left( \frac{m_i - \mu_i}{\sigma_i} \right)^{\!2}",
        "m: vector(N); mu: vector(N); sigma: vector(N) positive",
        "mu",
        lambda m, mu, sigma: np.sum(((m - mu) / sigma) ** 2),
    ),
    Passage(
        "Lennard-Jones",
        r"U = \sum_{i<j} 4\varepsilon \left[ \left(\frac{\sigma}{r_{ij}}\right)^{12} - "
        r"\left(\frac{\sigma}{r_{ij}}\right)^{6} \right]",
        "r: matrix(n, n) positive; sigma: scalar positive; varepsilon: scalar",
        "sigma",
        lambda r, sigma, varepsilon: sum(
            4 * varepsilon * ((sigma / r[i, j]) ** 12 - (sigma / r[i, j]) ** 6) for i, j in pairs(len(r))
        ),
    ),
    Passage(
        "Coulomb energy",
        r"E_{\text{el}} = \frac{1}{2}\sum_{i \ne j} \frac{q_i q_j}{\lVert \mathbf{r}_i - \mathbf{r}_j \rVert}",
        "q: vector(n); R: matrix(n, d)",
        "q",
        lambda q, R: sum(q[i] * q[j] / np.linalg.norm(R[i] - R[j]) for i, j in pairs(len(q))),
    ),
    Passage(
        "partition function",
        r"\ln Z = \ln \sum_{i} g_i\, e^{-\beta E_i}",
        "g: vector(n) positive; E: vector(n); beta: scalar positive",
        "beta",
        lambda g, E, beta: np.log(np.sum(g * np.exp(-beta * E))),
    ),
    Passage(
        "fidelity with a pure state",
        r"F = \langle \psi | \rho | \psi \rangle",
        "psi: vector(n); rho: matrix(n, n) symmetric",
        "psi",
        lambda psi, rho: psi @ rho @ psi,
    ),
    Passage(
        "Michaelis-Menten",
        r"\sum_{i=1}^{n} \left( v_i - \frac{V_{\max} s_i}{K_m + s_i} \right)^2",
        "v: vector(n); s: vector(n) positive; V_max: scalar positive; K_m: scalar positive",
        "K_m",
        lambda v, s, V_max, K_m: np.sum((v - V_max * s / (K_m + s)) ** 2),
    ),
    Passage(
        "Arrhenius",
        r"\sum_{i} \bigl( \ln k_i - \ln A + \tfrac{E_a}{R\,T_i} \bigr)^2",
        "k: vector(n) positive; A: scalar positive; E_a: scalar; R: scalar positive; T: vector(n) positive",
        "E_a",
        lambda k, A, E_a, R, T: np.sum((np.log(k) - np.log(A) + E_a / (R * T)) ** 2),
    ),
    Passage(
        "ellipse of correlation",
        r"r = \frac{\sum_{i=1}^n (x_i - \bar{x})(y_i - \bar{y})}{\sqrt{\sum_{i=1}^n (x_i - \bar{x})^2} "
        r"\sqrt{\sum_{i=1}^n (y_i - \bar{y})^2}}",
        "x: vector(n); y: vector(n); x_bar: scalar; y_bar: scalar",
        "x",
        lambda x, y, x_bar, y_bar: (
            np.sum((x - x_bar) * (y - y_bar)) / np.sqrt(np.sum((x - x_bar) ** 2)) / np.sqrt(np.sum((y - y_bar) ** 2))
        ),
    ),
]

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
