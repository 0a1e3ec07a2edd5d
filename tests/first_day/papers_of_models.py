r"""Passages of LaTeX of losses, processes, signals, control and physics, with their meanings in NumPy; refused ones."""

import numpy as np
from first_day.further_papers import pairs, quadratic, sigmoid
from first_day.papers import Passage, hinge
from scipy import special
from scipy.stats import multivariate_normal, norm


def cosine(u, v):
    return u @ v / np.linalg.norm(u) / np.linalg.norm(v)


def sparse_bound(y, K, Q, sigma):
    noise = Q + sigma**2 * np.eye(len(y))
    return multivariate_normal.logpdf(y, np.zeros(len(y)), noise) - np.trace(K - Q) / (2 * sigma**2)


LOSSES = [
    Passage(
        "cross-entropy with labels in a subscript",
        r"\mathcal{L} = -\frac{1}{N} \sum_{i=1}^{N} \log \frac{\exp(z_{i, y_i})}{\sum_{c=1}^{C} \exp(z_{i,c})}",
        "z: matrix(N, C); y: index(N)",
        "z",
        lambda z, y: -np.mean(special.log_softmax(z, axis=1)[np.arange(len(y)), y]),
    ),
    Passage(
        "InfoNCE",
        r"\mathcal{L}_{\text{InfoNCE}} = -\frac{1}{N}\sum_{i=1}^{N} \log \frac{\exp(q_i^\top "
        r"k_i/\tau)}{\sum_{j=1}^{N}\exp(q_i^\top k_j/\tau)}",
        "Q: matrix(N, d); K: matrix(N, d); tau: scalar positive",
        "Q",
        lambda Q, K, tau: -np.mean(np.diag(special.log_softmax(Q @ K.T / tau, axis=1))),
    ),
    Passage(
        "SimCLR over pairs",
        r"\ell = -\sum_{i=1}^{n}\log\frac{\exp(\mathrm{sim}(z_i, p_i)/\tau)}{\sum_{k \neq i}\exp(\mathrm{sim}(z_i, "
        r"z_k)/\tau)}, \quad \mathrm{sim}(u, v) = \frac{u^\top v}{\|u\|\|v\|}",
        "Z, P: matrix(n, d); tau: scalar positive",
        "Z",
        lambda Z, P, tau: (
            -sum(
                cosine(Z[i], P[i]) / tau
                - np.log(sum(np.exp(cosine(Z[i], Z[k]) / tau) for k in range(len(Z)) if k != i))
                for i in range(len(Z))
            )
        ),
    ),
    Passage(
        "contrastive loss of pairs",
        r"\sum_{i<j} \Big( y_{ij} d_{ij}^2 + (1-y_{ij}) \max(0, m - d_{ij})^2 \Big), \text{ where } d_{ij} = \|x_i - "
        r"x_j\|_2, \; i, j = 1, \ldots, n",
        "X: matrix(n, d); Y: matrix(n, n); m: scalar positive",
        "X",
        lambda X, Y, m: sum(
            Y[i, j] * np.sum((X[i] - X[j]) ** 2) + (1 - Y[i, j]) * hinge(m - np.linalg.norm(X[i] - X[j])) ** 2
            for i, j in pairs(len(X))
        ),
    ),
    Passage(
        "large margin nearest neighbours",
        r"\sum_{i,j} \eta_{ij}\, \|L(x_i - x_j)\|^2",
        "X: matrix(n, d); L: matrix(k, d); eta: matrix(n, n)",
        "L",
        lambda X, L, eta: sum(
            eta[i, j] * np.sum((L @ (X[i] - X[j])) ** 2) for i in range(len(X)) for j in range(len(X))
        ),
    ),
    Passage(
        "evidence lower bound of Gaussians",
        r"\mathrm{KL}(q \,\|\, p) = -\frac{1}{2}\sum_{j=1}^{J}\left(1 + \log(\sigma_j^2) - \mu_j^2 - "
        r"\sigma_j^2\right)",
        "mu: vector(J); sigma: vector(J) positive",
        "sigma",
        lambda mu, sigma: -0.5 * np.sum(1 + np.log(sigma**2) - mu**2 - sigma**2),
    ),
    Passage(
        "divergence between two normals",
        r"D_{\mathrm{KL}}(\mathcal{N}_0 \parallel \mathcal{N}_1) = "
        r"\frac{1}{2}\left[\operatorname{tr}\left(\Sigma_1^{-1}\Sigma_0\right) - k + (\mu_1 - \mu_0)^{\mathsf "
        r"T}\Sigma_1^{-1}(\mu_1 - \mu_0) + \ln\frac{\det\Sigma_1}{\det\Sigma_0}\right]",
        "Sigma_0, Sigma_1: matrix(k, k) spd; mu_0, mu_1: vector(k)",
        "Sigma_1",
        lambda Sigma_0, Sigma_1, mu_0, mu_1: (
            0.5
            * (
                np.trace(np.linalg.solve(Sigma_1, Sigma_0))
                - len(mu_0)
                + quadratic(mu_1 - mu_0, Sigma_1)
                + np.linalg.slogdet(Sigma_1)[1]
                - np.linalg.slogdet(Sigma_0)[1]
            )
        ),
    ),
    Passage(
        "layer normalisation",
        r"\mathrm{LN}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta, \quad \mu = "
        r"\frac{1}{n}\sum_{i=1}^{n} x_i, \quad \sigma^2 = \frac{1}{n}\sum_{i=1}^{n}(x_i - \mu)^2",
        "x, gamma, beta: vector(n); epsilon: scalar positive",
        "x",
        lambda x, gamma, beta, epsilon: gamma * (x - x.mean()) / np.sqrt(x.var() + epsilon) + beta,
    ),
    Passage(
        "focal loss",
        r"\mathrm{FL}(p_{\mathrm{t}}) = -\alpha_{\mathrm{t}} (1 - p_{\mathrm{t}})^{\gamma} \log(p_{\mathrm{t}})",
        "p_t: scalar positive; alpha_t: scalar; gamma: scalar",
        "gamma",
        lambda p_t, alpha_t, gamma: -alpha_t * (1 - p_t) ** gamma * np.log(p_t),
        ("p_t",),
    ),
    Passage(
        "cross-entropy of basis functions as rows",
        r"E(\mathbf{w}) = -\sum_{n=1}^{N}\left\{t_n \ln y_n + (1-t_n)\ln(1-y_n)\right\} \text{ where } y_n = "
        r"\sigma(\mathbf{w}^{\mathrm T}\boldsymbol\phi_n)",
        "phi: matrix(N, M); t: vector(N); w: vector(M)",
        "w",
        lambda phi, t, w: -np.sum(t * np.log(sigmoid(phi @ w)) + (1 - t) * np.log(1 - sigmoid(phi @ w))),
    ),
    Passage(
        "hinge loss",
        r"\min_{\mathbf w,\, b}\; \frac{\lambda}{2}\,\|\mathbf w\|^2+\frac1n\sum_{i=1}^n\max\{0,\,1-y_i(\langle "
        r"\mathbf w,\mathbf x_i\rangle+b)\}",
        "X: matrix(n, d); y: vector(n); w: vector(d); b: scalar; lam: scalar positive",
        "w",
        lambda X, y, w, b, lam: lam / 2 * w @ w + np.mean(hinge(1 - y * (X @ w + b))),
    ),
    Passage(
        "kernel ridge",
        r"\alpha^\star = (K + n\lambda I)^{-1} y",
        "K: matrix(n, n) spd; y: vector(n); lam: scalar positive",
        "y",
        lambda K, y, lam: np.linalg.solve(K + len(y) * lam * np.eye(len(y)), y),
    ),
    Passage(
        "TransE score",
        r"\mathcal{L} = \sum_{i=1}^{n} \left[\gamma + \|h_i + r_i - t_i\|_2^2 - \|h'_i + r_i - t'_i\|_2^2\right]_+",
        "H, R, T: matrix(n, d); H_prime, T_prime: matrix(n, d); gamma: scalar",
        "R",
        lambda H, R, T, H_prime, T_prime, gamma: np.sum(
            hinge(gamma + np.sum((H + R - T) ** 2, axis=1) - np.sum((H_prime + R - T_prime) ** 2, axis=1))
        ),
    ),
    Passage(
        "DistMult score",
        r"f(h, r, t) = h^\top \operatorname{diag}(r)\, t",
        "h, r, t: vector(d)",
        "r",
        lambda h, r, t: np.sum(h * r * t),
    ),
    Passage(
        "skip-gram with rows of negatives",
        r"\log\sigma(u_o^\top v_c) + \sum_{k=1}^{K}\log\sigma(-u_k^\top v_c)",
        "U: matrix(K, d); u_o, v_c: vector(d)",
        "v_c",
        lambda U, u_o, v_c: np.log(sigmoid(u_o @ v_c)) + np.sum(np.log(sigmoid(-U @ v_c))),
    ),
    Passage(
        "Sinkhorn objective",
        r"\langle P, C\rangle_F - \varepsilon H(P), \quad H(P) = -\sum_{i,j} P_{ij}(\log P_{ij} - 1)",
        "P: matrix(m, n) positive; C: matrix(m, n); varepsilon: scalar positive",
        "P",
        lambda P, C, varepsilon: np.sum(P * C) + varepsilon * np.sum(P * (np.log(P) - 1)),
    ),
    Passage(
        "policy gradient surrogate",
        r"L^{CLIP}(\theta) = \frac{1}{T}\sum_{t=1}^T \min\Big(r_t \hat{A}_t,\ \mathrm{clip}(r_t, 1-\epsilon, "
        r"1+\epsilon)\,\hat{A}_t\Big)",
        "r, A_hat: vector(T); epsilon: scalar positive",
        "r",
        lambda r, A_hat, epsilon: np.mean(np.minimum(r * A_hat, np.clip(r, 1 - epsilon, 1 + epsilon) * A_hat)),
    ),
    Passage(
        "preferences of two models",
        r"-\frac{1}{N}\sum_{i=1}^{N}\log\sigma\!\left(\beta\,(u_i - v_i)\right),\qquad \text{with } u = \log p - "
        r"\log q",
        "p, q: vector(N) positive; v: vector(N); beta: scalar",
        "beta",
        lambda p, q, v, beta: -np.mean(np.log(sigmoid(beta * (np.log(p) - np.log(q) - v)))),
    ),
]

PROCESSES = [
    Passage(
        "Gaussian process evidence",
        r"\log p(\mathbf y\mid X) = -\tfrac12 \mathbf y^\top \mathbf{K}_y^{-1}\mathbf y - \tfrac12\log|\mathbf{K}_y| "
        r"- \tfrac n2\log 2\pi, \qquad \mathbf{K}_y = \mathbf{K} + \sigma_n^2 \mathbf{I}",
        "y: vector(n); K: matrix(n, n) spd; sigma_n: scalar positive",
        "sigma_n",
        lambda y, K, sigma_n: multivariate_normal.logpdf(y, np.zeros(len(y)), K + sigma_n**2 * np.eye(len(y))),
    ),
    Passage(
        "squared exponential kernel of rows",
        r"\log\det(K + \sigma^2 I), \quad K_{ij} = \sigma_f^2 \exp\left(-\frac{\|\mathbf{x}_i - "
        r"\mathbf{x}_j\|^2}{2\ell^2}\right), \quad \forall i, j \in \{1, \ldots, n\}",
        "X: matrix(n, d); sigma, sigma_f, ell: scalar positive",
        "ell",
        lambda X, sigma, sigma_f, ell: np.linalg.slogdet(
            sigma_f**2 * np.exp(-np.sum((X[:, None] - X) ** 2, axis=2) / (2 * ell**2)) + sigma**2 * np.eye(len(X))
        )[1],
    ),
    Passage(
        "sparse process bound",
        r"\log\mathcal N(\mathbf y \mid \mathbf 0, Q + \sigma^2 I) - \frac{1}{2\sigma^2}\operatorname{tr}(K - Q), "
        r"\quad Q = K_{nm}K_{mm}^{-1}K_{nm}^\top",
        "y: vector(n); K: matrix(n, n) spd; K_nm: matrix(n, m); K_mm: matrix(m, m) spd; sigma: scalar positive",
        "sigma",
        lambda y, K, K_nm, K_mm, sigma: sparse_bound(y, K, K_nm @ np.linalg.solve(K_mm, K_nm.T), sigma),
    ),
    Passage(
        "expected improvement",
        r"\mathrm{EI}(x) = (\mu - f^\star)\Phi(Z) + \sigma\phi(Z), \quad Z = \frac{\mu - f^\star}{\sigma}",
        "mu: scalar; f_star: scalar; sigma: scalar positive",
        "mu",
        lambda mu, f_star, sigma: (
            (mu - f_star) * norm.cdf((mu - f_star) / sigma) + sigma * norm.pdf((mu - f_star) / sigma)
        ),
    ),
    Passage(
        "whitened residual",
        r"\left\| \Sigma^{-1/2} (y - H x) \right\|^2",
        "Sigma: matrix(m, m) spd; y: vector(m); H: matrix(m, n); x: vector(n)",
        "x",
        lambda Sigma, y, H, x: quadratic(y - H @ x, Sigma),
    ),
    Passage(
        "Mahalanobis norm",
        r"\| y - H x \|_{R^{-1}}^2 + \| x - \bar x \|_{P^{-1}}^2",
        "R: matrix(m, m) spd; P: matrix(n, n) spd; y: vector(m); H: matrix(m, n); x, x_bar: vector(n)",
        "x",
        lambda R, P, y, H, x, x_bar: quadratic(y - H @ x, R) + quadratic(x - x_bar, P),
    ),
    Passage(
        "minimum variance beamformer",
        r"\mathbf{w}_{\text{MVDR}} = \frac{\mathbf{R}^{-1}\mathbf{a}}{\mathbf{a}^{\mathsf "
        r"T}\mathbf{R}^{-1}\mathbf{a}}",
        "R: matrix(n, n) spd; a: vector(n)",
        "a",
        lambda R, a: np.linalg.solve(R, a) / quadratic(a, R),
    ),
    Passage(
        "total variation of a signal",
        r"\frac12\|u - f\|_2^2 + \lambda\sum_{i=1}^{n-1}|u_{i+1} - u_i|",
        "u, f: vector(n); lam: scalar positive",
        "u",
        lambda u, f, lam: 0.5 * np.sum((u - f) ** 2) + lam * np.sum(abs(np.diff(u))),
    ),
    Passage(
        "signal to interference",
        r"\sum_{k=1}^{K}\log_2\left(1 + \frac{|h_k^\top w_k|^2}{\sum_{j\neq k}|h_k^\top w_j|^2 + \sigma^2}\right)",
        "H, W: matrix(K, n); sigma: scalar positive",
        "W",
        lambda H, W, sigma: sum(
            np.log2(1 + (H[k] @ W[k]) ** 2 / (sum((H[k] @ W[j]) ** 2 for j in range(len(H)) if j != k) + sigma**2))
            for k in range(len(H))
        ),
    ),
    Passage(
        "point to plane alignment",
        r"\mathop{\mathrm{arg\,min}}_{R,\,t}\ \sum_{i=1}^{n}\left((Rp_i + t - q_i)^{\!\top} n_i\right)^2",
        "R: matrix(d, d); t: vector(d); P, Q, N: matrix(n, d)",
        "t",
        lambda R, t, P, Q, N: np.sum(np.sum((P @ R.T + t - Q) * N, axis=1) ** 2),
    ),
    Passage(
        "manipulator equations",
        r"\tau = M\ddot q + C\dot q + g",
        "M, C: matrix(n, n); q_ddot, q_dot, g: vector(n)",
        "q_dot",
        lambda M, C, q_ddot, q_dot, g: M @ q_ddot + C @ q_dot + g,
    ),
    Passage(
        "regularised inverse kinematics",
        r"\Delta q = J^\top (J J^\top + \lambda^2 I)^{-1} e",
        "J: matrix(m, n); e: vector(m); lam: scalar positive",
        "e",
        lambda J, e, lam: J.T @ np.linalg.solve(J @ J.T + lam**2 * np.eye(len(J)), e),
    ),
    Passage(
        "Ising energy",
        r"E(s) = -\sum_{i<j} J_{ij} s_i s_j - h\sum_i s_i",
        "J: matrix(n, n); s: vector(n); h: scalar",
        "s",
        lambda J, s, h: -sum(J[i, j] * s[i] * s[j] for i, j in pairs(len(s))) - h * np.sum(s),
    ),
    Passage(
        "Morse potential",
        r"V(r) = D_e\left[1 - e^{-a(r - r_e)}\right]^2",
        "r, D_e, a, r_e: scalar",
        "r",
        lambda r, D_e, a, r_e: D_e * (1 - np.exp(-a * (r - r_e))) ** 2,
    ),
    Passage(
        "mean-field energy",
        r"\frac{1}{2}\sum_{i=1}^N\sum_{\substack{j=1\\ j\neq i}}^N \frac{G m_i m_j}{\sqrt{\|x_i - x_j\|^2 + "
        r"\epsilon^2}}",
        "X: matrix(N, d); m: vector(N); G, epsilon: scalar positive",
        "X",
        lambda X, m, G, epsilon: (
            0.5
            * sum(
                G * m[i] * m[j] / np.sqrt(np.sum((X[i] - X[j]) ** 2) + epsilon**2)
                for i in range(len(m))
                for j in range(len(m))
                if i != j
            )
        ),
    ),
    Passage(
        "least squares with a product",
        r"\log \prod_{i=1}^{n} p_i^{y_i}(1 - p_i)^{1-y_i}",
        "p, y: vector(n) positive",
        "p",
        lambda p, y: np.sum(y * np.log(p) + (1 - y) * np.log(1 - p)),
        ("p",),
    ),
    Passage(
        "risk parity",
        r"\sum_{i=1}^{n}\left(w_i(\Sigma w)_i - \frac{1}{n}w^\top\Sigma w\right)^2",
        "w: vector(n); Sigma: matrix(n, n) spd",
        "w",
        lambda w, Sigma: np.sum((w * (Sigma @ w) - w @ Sigma @ w / len(w)) ** 2),
    ),
    Passage(
        "Black-Litterman",
        r"\mathbb E[R] = \left[(\tau\Sigma)^{-1} + P^\top\Omega^{-1}P\right]^{-1}\left[(\tau\Sigma)^{-1}\Pi + "
        r"P^\top\Omega^{-1}Q\right]",
        "tau: scalar positive; Sigma: matrix(n, n) spd; Omega: matrix(k, k) spd; P: matrix(k, n); Pi: vector(n); Q: "
        "vector(k)",
        "Q",
        lambda tau, Sigma, Omega, P, Pi, Q: np.linalg.solve(
            np.linalg.inv(tau * Sigma) + P.T @ np.linalg.solve(Omega, P),
            np.linalg.solve(tau * Sigma, Pi) + P.T @ np.linalg.solve(Omega, Q),
        ),
    ),
]

MODELS_REFUSED = [
    (
        "copula with an inverse",
        r"z^{\top} R^{-1} z, \quad z = \Phi^{-1}(u)",
        "R: matrix(n, n) spd; u: vector(n)",
        "its inverse or a power",
    ),
    (
        "attention without an axis",
        r"\operatorname{softmax}\left(\frac{QK^{\top}}{\sqrt{d_k}}\right)V",
        "Q: matrix(m, k); K: matrix(n, k); V: matrix(n, p); d_k: scalar",
        "needs its axis",
    ),
    (
        "unknown basis functions",
        r"\frac{1}{2}\sum_{n=1}^{N}\{t_n - \mathbf{w}^{\mathrm{T}}\boldsymbol{\phi}(\mathbf{x}_n)\}^2",
        "t: vector(N); w: vector(M)",
        "a row or column of a matrix",
    ),
    (
        "support vector machine with constraints",
        r"\min_{w, b} \frac{1}{2}\|w\|^2 + C\sum_{i=1}^{n}\xi_i \quad \text{s.t.} "
        r"\quad y_i(w^\top x_i + b) \ge 1 - \xi_i",
        "X: matrix(n, d); y: vector(n); w: vector(d); xi: vector(n); b: scalar; C: scalar",
        "a constraint is not part of a formula",
    ),
    (
        "definition after subject to, of declared data",
        r"\min_{x} \|z\|^2 \text{ subject to } z = A x - b",
        "A: matrix(m, n); x: vector(n); b: vector(m); z: vector(m)",
        "a constraint is not part of a formula",
    ),
    (
        "logarithm of a density matrix",
        r"\operatorname{Tr}(\rho\ln\rho)",
        "rho: matrix(n, n) spd",
        "log or logm",
    ),
    (
        "norm of a metric",
        r"\|y - H x\|_{\Sigma}^2",
        "Sigma: matrix(m, m) spd; y: vector(m); H: matrix(m, n); x: vector(n)",
        "unknown or ambiguous",
    ),
    ("two equal sides", r"f = x^\top x = \sum_i x_i^2", "x: vector(n)", "between formulas"),
    (
        "end of a sum",
        r"\sum_{i=1}^n \log p_i + y_i \log p_i + \lambda p^\top p",
        "p: vector(n); y: vector(n); lam: scalar",
        "the end of this sum",
    ),
    ("set that is not declared", r"\sum_{(i,j) \in \Omega} M_{ij}", "M: matrix(m, n)", "the range of this sum"),
    ("data of a subscript", r"\sum_{i=1}^n Z_{i,y_i}", "Z: matrix(n, k)", "this subscript is not supported"),
]
