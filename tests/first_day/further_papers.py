r"""Sixty further passages of LaTeX as journals and conferences set them, each with its meaning as a NumPy function.

They differ from those of `papers.py` in their signs: `\big`, `\intercal`, `\nicefrac`, `\overset`, sets, marks.
"""

import numpy as np
from first_day.papers import Passage, hinge
from scipy import special
from scipy.stats import multivariate_normal

SIZES = {"m": 6, "n": 5, "p": 4, "k": 3, "q": 2, "d": 3, "K": 4, "N": 5, "T": 4, "J": 3, "M": 3, "C": 3, "S": 4,
         "A": 3, "L": 3, "R": 2, "V": 4, "G": 3, "D": 3, "c": 4, "H": 3, "h": 2, "F": 3, "P": 2,
         "Q": 3, "l": 3, "I": 4, "t": 3, "r": 2, "d_k": 3, "W": 3, "ell": 4, "E": 3, "f": 2, "s": 2, "w": 3,
         "n_S": 5, "n_T": 4}  # fmt: skip


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
