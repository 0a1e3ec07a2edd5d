r"""Whole paragraphs of LaTeX from papers, second set, part 4: written by someone who had seen no code."""

import numpy as np
from first_day.paragraph import Paragraph


def reml(y, X, s, sigma, phi, tau):
    n = len(y)
    S = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            S[i, j] = sigma**2 * np.exp(-np.linalg.norm(s[i] - s[j]) / phi) + (tau**2 if i == j else 0.0)
    Si = np.linalg.inv(S)
    G = X.T @ Si @ X
    P = Si - Si @ X @ np.linalg.inv(G) @ X.T @ Si
    return -0.5 * np.log(np.linalg.det(S)) - 0.5 * np.log(np.linalg.det(G)) - 0.5 * y @ P @ y


def variog(h, N, gammahat, c_0, c_1, a):
    s = 0.0
    for k in range(len(h)):
        g = c_0 + c_1 * (1.5 * h[k] / a - 0.5 * (h[k] / a) ** 3) if h[k] <= a else c_0 + c_1
        s += N[k] * (gammahat[k] / g - 1) ** 2
    return s


SECOND_4 = [
    Paragraph(
        "REML for a geostatistical model with nugget",
        r"""Let $\mathbf{s}_1, \dots, \mathbf{s}_n$ be the sampling locations. We assume an exponential covariance with a nugget
effect,
\begin{equation}
\boldsymbol\Sigma_{ij} = \sigma^2 \exp\left(-\frac{\|\mathbf{s}_i - \mathbf{s}_j\|}{\phi}\right) + \tau^2\,
\mathbb{1}\{i = j\},
\end{equation}
and estimate $(\sigma, \phi, \tau)$ by maximising the restricted log-likelihood which is, up to an additive constant
that we omit,
\begin{equation}
\ell_R(\sigma,\phi,\tau) = -\frac12 \log|\boldsymbol\Sigma| - \frac12 \log|\mathbf{X}^\top \boldsymbol\Sigma^{-1}
\mathbf{X}| - \frac12 \mathbf{y}^\top \mathbf{P} \mathbf{y},
\end{equation}
where $\mathbf{P} = \boldsymbol\Sigma^{-1} -
\boldsymbol\Sigma^{-1}\mathbf{X}(\mathbf{X}^\top\boldsymbol\Sigma^{-1}\mathbf{X})^{-1}\mathbf{X}^\top\boldsymbol\Sigma^{-1}$.""",  # noqa: E501
        "y: vector(n); X: matrix(n, d); s: matrix(n, k); sigma: scalar positive; phi: scalar positive; tau: scalar positive",  # noqa: E501
        "phi",
        reml,
    ),
    Paragraph(
        "Cressie weighted least squares fit of a spherical variogram",
        r"""Following Cressie (1985), the variogram parameters minimise the weighted least squares criterion
$$ W(c_0, c_1, a) = \sum_{k=1}^{K} N_k \left\{ \frac{\hat\gamma_k}{\gamma(h_k)} - 1 \right\}^2, $$
in which $\hat\gamma_k$ is the empirical semivariance at lag $h_k$, computed from $N_k$ pairs, and $\gamma$ is the
spherical model
$$ \gamma(h) = \begin{cases} c_0 + c_1 \left[ \dfrac{3}{2}\dfrac{h}{a} - \dfrac12 \left(\dfrac{h}{a}\right)^3
\right], & 0 < h \le a, \\ c_0 + c_1, & h > a. \end{cases} $$""",
        "h: vector(K) positive; N: vector(K) positive; gammahat: vector(K) positive; c_0: scalar positive; c_1: scalar positive; a: scalar positive",  # noqa: E501
        "c_1",
        variog,
    ),
    Paragraph(
        "GARCH without a start value (refuse: h_1 needs an undefined epsilon_0 and h_0)",
        r"""The conditional variance follows $h_t = \omega + \alpha \varepsilon_{t-1}^2 + \beta h_{t-1}$ with $\varepsilon_t =
y_t - \mu$, and the quasi log-likelihood is
\[
L_T = -\frac12 \sum_{t=1}^{T} \left( \log h_t + \frac{\varepsilon_t^2}{h_t} \right).
\]""",  # noqa: E501
        "y: vector(T); mu: scalar; omega: scalar positive; alpha: scalar positive; beta: scalar positive",
        "alpha",
        lambda **k: 0.0,
        refused="the state h has no start h_0",
    ),
    Paragraph(
        "regularised deconvolution with an unspecified regulariser (refuse)",
        r"""We recover the image by solving
\begin{equation}
\hat{x} = \arg\min_x \; \frac12 \|Ax - y\|_2^2 + \lambda R(x),
\end{equation}
where $R$ is a suitable convex regulariser promoting piecewise smooth solutions.""",
        "A: matrix(m, n); x: vector(n); y: vector(m); lambda: scalar positive",
        "x",
        lambda **k: 0.0,
        refused="only words describe R",
    ),
    Paragraph(
        "adaptive lasso with undefined weights (refuse: omega)",
        r"""The adaptive lasso estimator minimises
$$ \frac{1}{2n}\|y - X\beta\|_2^2 + \lambda \sum_{j=1}^{d} \hat\omega_j |\beta_j|, $$
where the adaptive weights $\hat\omega_j$ are computed as described in the supplementary material.""",
        "X: matrix(n, d); y: vector(n); beta: vector(d); lambda: scalar positive",
        "beta",
        lambda **k: 0.0,
        refused="only words describe \\hat\\omega_j",
    ),
    Paragraph(
        "state penalty with shapes that do not fit (refuse: x in R^n, Q is m by m)",
        r"""The stage cost is $\ell(x,u) = x^\top Q x + u^\top R u$, with $x \in \mathbb{R}^n$, $u \in \mathbb{R}^m$, $Q \in
\mathbb{R}^{m\times m}$ and $R \in \mathbb{R}^{n \times n}$ positive definite.""",  # noqa: E501
        "x: vector(n); u: vector(m); Q: matrix(m, m) spd; R: matrix(n, n) spd",
        "x",
        lambda **k: 0.0,
        refused="cannot multiply x' (row of n) by Q (m x m): n and m differ",
    ),
]
