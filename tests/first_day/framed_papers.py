r"""Passages of LaTeX with braces, frames and floors, each with its meaning as a NumPy function.

Their signs are those of `\underbrace`, `\boxed`, `\mathop`, `\nolimits`, `multline`, `\lfloor`.
"""

import numpy as np
from first_day.papers import Passage

FRAMED = [
    Passage(
        "underbrace",
        r"\boldsymbol{\theta}^{*}=\underset{\boldsymbol{\theta}}{\arg\min}\underbrace{"
        r"\left\|\mathbf{y}-\mathbf{X}\boldsymbol{\theta}\right\|_2^2}_{\text{data term}}+"
        r"\lambda\underbrace{\lVert\boldsymbol{\theta}\rVert_1}_{\text{regularization}}",
        "X: matrix(m,n); y: vector(m); theta: vector(n); lam: scalar",
        "theta",
        lambda X, y, theta, lam: np.sum((y - X @ theta) ** 2) + lam * np.sum(abs(theta)),
    ),
    Passage(
        "Bhattacharyya",
        r"D_B(S_1,S_2)= \frac12\log\det\left(\frac{S_1+S_2}{2}\right) -\frac14\log\det "
        r"S_1-\frac14\log\det S_2.",
        "S_1: matrix(n,n) spd; S_2: matrix(n,n) spd",
        "S_1",
        lambda S_1, S_2: (
            0.5 * np.log(np.linalg.det((S_1 + S_2) / 2))
            - 0.25 * np.log(np.linalg.det(S_1))
            - 0.25 * np.log(np.linalg.det(S_2))
        ),
    ),
    Passage(
        "coding rate",
        r"R_\epsilon = \frac{1}{2}\log\det\left(I + \frac{d}{\epsilon^2}HH^{\top}\right)",
        "H: matrix(m,d); epsilon: scalar",
        "H",
        lambda H, epsilon: 0.5 * np.log(np.linalg.det(np.eye(len(H)) + H.shape[1] / epsilon**2 * H @ H.T)),
    ),
    Passage(
        "IVM",
        r"f(S) = \frac{1}{2}\log\det\left(\Sigma + \sigma \cdot \mathcal I \right)",
        "Sigma: matrix(n,n) spd; sigma: scalar positive",
        "Sigma",
        lambda Sigma, sigma: 0.5 * np.log(np.linalg.det(Sigma + sigma * np.eye(len(Sigma)))),
    ),
    Passage(
        "set braces",
        r"\left\{-\frac{N}{2} \log \left(2 \pi \sigma^{2}\right)-\frac{1}{2 \sigma^{2}} "
        r"\sum_{n=1}^{N}\left(x_n-\mu\right)^{2}\right\}",
        "x: vector(N); mu: scalar; sigma: scalar positive",
        "mu",
        lambda x, mu, sigma: -len(x) / 2 * np.log(2 * np.pi * sigma**2) - np.sum((x - mu) ** 2) / 2 / sigma**2,
    ),
    Passage(
        "overbrace",
        r"\overbrace{\frac{1}{n}\sum_{i=1}^n (y_i - x_i)^2}^{\text{fit}} + \lambda "
        r"\underbrace{\Bigl(\sum_{i} x_i\Bigr)^2}_{R(x)}",
        "x: vector(n); y: vector(n); lam: scalar",
        "x",
        lambda x, y, lam: np.mean((y - x) ** 2) + lam * np.sum(x) ** 2,
    ),
    Passage(
        "boxed",
        r"\boxed{\hat{\beta} = (X^\top X + \lambda I_p)^{-1} X^\top y}",
        "X: matrix(n,p); y: vector(n); lam: scalar positive",
        "y",
        lambda X, y, lam: np.linalg.solve(X.T @ X + lam * np.eye(X.shape[1]), X.T @ y),
    ),
    Passage(
        "mathop tr",
        r"\frac{1}{2}\mathop{\mathrm{tr}}(\boldsymbol{G}\boldsymbol{Q}^{-1}) + "
        r"\frac{1}{2}(\boldsymbol{m}-\boldsymbol{u}_*)^\top\boldsymbol{G}(\boldsymbol{m}-\boldsymbol{u}_*)",
        "G: matrix(n,n) symmetric; Q: matrix(n,n) spd; m: vector(n); u_star: vector(n)",
        "m",
        lambda G, Q, m, u_star: 0.5 * np.trace(G @ np.linalg.inv(Q)) + 0.5 * (m - u_star) @ G @ (m - u_star),
    ),
    Passage(
        "nolimits",
        r"f_U(X)=\mathop{\mathrm{tr}}\nolimits((X-U)^T(X-U))",
        "X: matrix(m,n); U: matrix(m,n)",
        "X",
        lambda X, U: np.sum((X - U) ** 2),
    ),
    Passage(
        "multline",
        r"\begin{multline} \ell(\mu,\Sigma) = -\frac{1}{2}(x-\mu)^{\mathrm T}\Sigma^{-1}(x-\mu) \\ "
        r"-\frac{1}{2}\ln\lvert\Sigma\rvert \end{multline}",
        "x: vector(n); mu: vector(n); Sigma: matrix(n,n) spd",
        "Sigma",
        lambda x, mu, Sigma: -0.5 * (x - mu) @ np.linalg.solve(Sigma, x - mu) - 0.5 * np.log(np.linalg.det(Sigma)),
    ),
    Passage(
        "bigl norm",
        r"\bigl(\|A u-B h\|^2+h^T J h\bigr)",
        "A: matrix(m,n); B: matrix(m,k); u: vector(n); h: vector(k); J: matrix(k,k)",
        "u",
        lambda A, B, u, h, J: np.sum((A @ u - B @ h) ** 2) + h @ J @ h,
    ),
    Passage(
        "coloneqq",
        r"f(p) \coloneqq \sum_{j = 1}^N w_j \, \lVert p - q_j \rVert",
        "Q: matrix(N, d); p: vector(d); w: vector(N)",
        "p",
        lambda Q, p, w: np.sum(w * np.linalg.norm(p - Q, axis=1)),
    ),
    Passage(
        "gauss density",
        r"\mathcal{N}(\mu,\sigma^2)=\frac{1}{\sigma\sqrt{2\pi}}\exp{(-\frac{(x-\mu)^2}{2\sigma^2})}",
        "x: scalar; mu: scalar; sigma: scalar positive",
        "x",
        lambda x, mu, sigma: np.exp(-((x - mu) ** 2) / 2 / sigma**2) / sigma / np.sqrt(2 * np.pi),
    ),
    Passage(
        "regression slope",
        r"X^* = \frac{\sum_{i=1}^n (d_i-\bar d)(t_i-\bar t)}{\sum_{i=1}^n (t_i-\bar t)^2}",
        "d: vector(n); t: vector(n); d_bar: scalar; t_bar: scalar",
        "d",
        lambda d, t, d_bar, t_bar: np.sum((d - d_bar) * (t - t_bar)) / np.sum((t - t_bar) ** 2),
    ),
    Passage(
        "kernel width",
        r"\pi_x(z) = \sqrt{\exp(-d^2/\nu^2)}",
        "d: scalar; nu: scalar",
        "d",
        lambda d, nu: np.sqrt(np.exp(-(d**2) / nu**2)),
    ),
    Passage(
        "softplus aligned",
        r"\begin{aligned} J(w) &= \frac1m \sum_{i=1}^m \log\Bigl(1 + e^{-y_i\, x_i^\top w}\Bigr) \\ "
        r"&\quad + \frac{\lambda}{2}\norm{w}^2 \end{aligned}",
        "X: matrix(m,n); y: vector(m); w: vector(n); lam: scalar",
        "w",
        lambda X, y, w, lam: np.mean(np.log1p(np.exp(-y * (X @ w)))) + lam / 2 * w @ w,
    ),
    Passage(
        "elbo",
        r"-D_{KL} = \frac{1}{2}\sum_{j=1}^{J}\left(1+\log\big((\sigma_j)^2\big)-(\mu_j)^2-(\sigma_j)^2\right)",
        "mu: vector(J); sigma: vector(J) positive",
        "mu",
        lambda mu, sigma: 0.5 * np.sum(1 + np.log(sigma**2) - mu**2 - sigma**2),
    ),
    Passage(
        "hinge",
        r"\min_{\mathbf w, b}\; \tfrac12 \mathbf w^{\mathsf T}\mathbf w + C\sum_{i=1}^{n} \max\{0,\, 1 - "
        r"y_i(\mathbf w^{\mathsf T}\mathbf x_i + b)\}",
        "X: matrix(n,d); y: vector(n); w: vector(d); b: scalar; C: scalar",
        "w",
        lambda X, y, w, b, C: 0.5 * w @ w + C * np.sum(np.maximum(0, 1 - y * (X @ w + b))),
    ),
    Passage(
        "rank-one",
        r"\bigl\lVert M - \textstyle\sum_{r=1}^{k} u_r v_r^{\top} \bigr\rVert_{\mathrm F}^2",
        "M: matrix(m,n); U: matrix(m, k); V: matrix(n, k)",
        "U",
        lambda M, U, V: np.sum((M - U @ V.T) ** 2),
    ),
    Passage(
        "laplacian sum",
        r"\frac{1}{2}\sum_{i,j=1}^{n} W_{ij}\,\|f_i-f_j\|^2",
        "W: matrix(n,n); F: matrix(n,d)",
        "F",
        lambda W, F: 0.5 * np.sum(W * ((F[:, None] - F[None]) ** 2).sum(-1)),
    ),
    Passage(
        "ratio trace",
        r"J(\mathbf{W})=\frac{\left|\mathbf{W}^{T}\mathbf{S}_{B}\mathbf{W}\right|}"
        r"{\left|\mathbf{W}^{T}\mathbf{S}_{W}\mathbf{W}\right|}",
        "W: matrix(n,k); S_B: matrix(n,n); S_W: matrix(n,n)",
        "W",
        lambda W, S_B, S_W: np.linalg.det(W.T @ S_B @ W) / np.linalg.det(W.T @ S_W @ W),
    ),
    Passage(
        "AR floor",
        r"\sum_{t=1}^{T} \left(x_t - \lfloor t/2 \rfloor\right)^2 (-1)^t",
        "x: vector(T)",
        "x",
        lambda x: np.sum([(x[t - 1] - t // 2) ** 2 * (-1) ** t for t in range(1, len(x) + 1)]),
    ),
    Passage(
        "ceil",
        r"\sum_{i=1}^{n} \lceil i/3 \rceil x_i^2",
        "x: vector(n)",
        "x",
        lambda x: np.sum(np.ceil(np.arange(1, len(x) + 1) / 3) * x**2),
    ),
]

FRAMED_REFUSED = [
    (
        "Sigma sum",
        r"\mathcal{L} = -\Sigma_{i=1}^{C} y_i \log(p_i)",
        "y: vector(C); p: vector(C) positive",
        "this subscript cannot be part of a name",
    ),
    (
        "weighted norm",
        r"\sum_{t=1}^{T} \lVert u_t\rVert_W^2 + \lVert x - g\rVert_Q^2",
        "U: matrix(T,n); W: matrix(n,n) spd; x: vector(k); g: vector(k); Q: matrix(k,k) spd",
        "this norm of a vector is unknown",
    ),
    (
        "attention",
        r"\mathrm{Attention}(Q,K,V) = \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d}}\right)V",
        "Q: matrix(m,d); K: matrix(n,d); V: matrix(n,p)",
        "needs its axis",
    ),
]
