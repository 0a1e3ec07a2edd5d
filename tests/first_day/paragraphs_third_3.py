r"""Whole paragraphs of LaTeX from papers, third set, part 3: written by someone who had seen no code."""

import numpy as np
from first_day.paragraph import Paragraph
from scipy import special


def cox(X, t, delta, beta, **k):
    n = len(t)
    tot = 0.0
    for i in range(n):
        tot += delta[i] * (X[i] @ beta - np.log(sum(np.exp(X[j] @ beta) for j in range(n) if t[j] >= t[i])))
    return tot - k["lambda"] * np.sum(np.abs(beta))


def garch(r, mu, omega, alpha, gamma, beta, nu):
    T = len(r)
    e = r - mu
    h = np.zeros(T)
    h[0] = np.mean(e**2)
    for t in range(1, T):
        h[t] = omega + (alpha + gamma * (1.0 if e[t - 1] < 0 else 0.0)) * e[t - 1] ** 2 + beta * h[t - 1]
    tot = 0.0
    for t in range(T):
        tot += (
            special.gammaln((nu + 1) / 2)
            - special.gammaln(nu / 2)
            - 0.5 * np.log(np.pi * nu * h[t])
            - (nu + 1) / 2 * np.log(1 + e[t] ** 2 / (nu * h[t]))
        )
    return tot


def kalman(Y, Z, T, H, Q, a_1, P_1):
    n, p = Y.shape
    a, P = (a_1, P_1)
    tot = -n * p / 2 * np.log(2 * np.pi)
    for t in range(n):
        v = Y[t] - Z @ a
        F = Z @ P @ Z.T + H
        K = T @ P @ Z.T @ np.linalg.inv(F)
        tot -= 0.5 * (np.log(np.linalg.det(F)) + v @ np.linalg.solve(F, v))
        a, P = (T @ a + K @ v, T @ P @ (T - K @ Z).T + Q)
    return tot


def glasso(X, Theta, **k):
    n, p = X.shape
    xb = X.mean(0)
    S = sum(np.outer(x - xb, x - xb) for x in X) / n
    off = sum(abs(Theta[i, j]) for i in range(p) for j in range(p) if i != j)
    return -np.log(np.linalg.det(Theta)) + np.trace(S @ Theta) + k["lambda"] * off


def mpc(A, B, U, x_1, r, Q, R, rho, c):
    T, m = U.shape
    x = x_1
    tot = 0.0
    for t in range(T):
        x = A @ x + B @ U[t]
        e = x - r[t]
        tot += e @ Q @ e + U[t] @ R @ U[t]
        for j in range(m):
            tot += rho * max(0.0, abs(U[t, j]) - c) ** 2
    return tot


def isingpl(s, J, h):
    n, d = s.shape
    tot = 0.0
    for b in range(n):
        for i in range(d):
            f = h[i] + sum(J[i, j] * s[b, j] for j in range(d) if j != i)
            tot -= np.log(1 + np.exp(-2 * s[b, i] * f))
    return tot / n


def ljc(R, q, sigma, epsilon, k_e):
    N = len(q)
    tot = 0.0
    for i in range(N):
        for j in range(i + 1, N):
            rij = np.linalg.norm(R[i] - R[j])
            s = 0.5 * (sigma[i] + sigma[j])
            e = np.sqrt(epsilon[i] * epsilon[j])
            tot += 4 * e * ((s / rij) ** 12 - (s / rij) ** 6) + k_e * q[i] * q[j] / rij
    return tot


def whittle(x, phi, sigma):
    n = len(x)
    p = len(phi)
    m = (n - 1) // 2
    tot = 0.0
    for j in range(1, m + 1):
        w = 2 * np.pi * j / n
        I = abs(sum(x[t - 1] * np.exp(-1j * w * t) for t in range(1, n + 1))) ** 2 / (2 * np.pi * n)  # noqa: E741
        f = sigma**2 / (2 * np.pi) / abs(1 - sum(phi[k - 1] * np.exp(-1j * k * w) for k in range(1, p + 1))) ** 2
        tot -= np.log(f) + I / f
    return tot


def gmm(X, y, Z, W, beta):
    n = len(y)
    g = np.zeros(Z.shape[1])
    for i in range(n):
        g += (y[i] * np.exp(-X[i] @ beta) - 1) * Z[i]
    g /= n
    return g @ W @ g


def sar(X, y, A, beta, rho, sigma):
    n = len(y)
    W = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if j != i:
                W[i, j] = A[i, j] / sum(A[i, k] for k in range(n) if k != i)
    B = np.eye(n) - rho * W
    e = B @ y - X @ beta
    return -n / 2 * np.log(2 * np.pi * sigma**2) + np.log(np.linalg.det(B)) - e @ e / (2 * sigma**2)


THIRD_3 = [
    Paragraph(
        "refuse: shapes do not agree",
        r"""
The kernel ridge estimator minimizes
\[
\mathcal{E}(\alpha) = \| y - K \alpha \|_2^2 + \lambda\, \alpha^\top K \alpha, \qquad K = X^\top X .
\]
""",
        "X: matrix(n, d); y: vector(n); alpha: vector(n); lambda: scalar positive",
        "alpha",
        None,
        refused="cannot multiply K (d x d) by alpha (vector of n): d and n differ",
    ),
    Paragraph(
        "penalized Cox regression",
        r"""
The $\ell_1$-penalized log partial likelihood is
\begin{equation}
\ell(\beta) = \sum_{i=1}^{n} \delta_i \Big\{ x_i^\top \beta - \log\Big( \sum_{j \in R(t_i)} \exp(x_j^\top \beta)
\Big) \Big\} - \lambda \|\beta\|_1,
\end{equation}
where $\delta_i$ is the censoring indicator and $R(t_i) = \{ j : t_j \ge t_i \}$ is the set of individuals at risk
at time $t_i$.
""",
        "X: matrix(n, p); t: vector(n) positive; delta: vector(n); beta: vector(p); lambda: scalar positive",
        "beta",
        cox,
        fractions=("delta",),
    ),
    Paragraph(
        "GJR-GARCH with Student-t innovations",
        r"""
Returns follow $r_t = \mu + \varepsilon_t$ with conditional scale
\begin{equation}
h_t = \omega + \left( \alpha + \gamma\, \mathbb{1}\{\varepsilon_{t-1} < 0\} \right) \varepsilon_{t-1}^2 + \beta
h_{t-1}, \qquad t = 2, \dots, T,
\end{equation}
initialized at $h_1 = \frac{1}{T} \sum_{t=1}^{T} \varepsilon_t^2$. The log-likelihood is given by
\begin{equation}
\ell = \sum_{t=1}^{T} \left[ \ln \Gamma\left( \frac{\nu+1}{2} \right) - \ln \Gamma\left( \frac{\nu}{2} \right) -
\frac{1}{2} \ln(\pi \nu h_t) - \frac{\nu+1}{2} \ln\left( 1 + \frac{\varepsilon_t^2}{\nu h_t} \right) \right].
\end{equation}
""",
        "r: vector(T); mu: scalar; omega: scalar positive; alpha: scalar positive; gamma: scalar positive; beta: scalar positive; nu: scalar positive",  # noqa: E501
        "nu",
        garch,
    ),
    Paragraph(
        "state space model, prediction error decomposition",
        r"""
For given initial mean $a_1$ and variance $P_1$, the Kalman filter is
\begin{equation}
\begin{aligned}
v_t &= y_t - Z a_t, & F_t &= Z P_t Z' + H, \\
K_t &= T P_t Z' F_t^{-1}, & & \\
a_{t+1} &= T a_t + K_t v_t, & P_{t+1} &= T P_t (T - K_t Z)' + Q,
\end{aligned}
\end{equation}
for $t = 1, \dots, n$. The loglikelihood is
\begin{equation}
\log L(Y) = -\frac{np}{2} \log 2\pi - \frac{1}{2} \sum_{t=1}^{n} \left( \log |F_t| + v_t' F_t^{-1} v_t \right).
\end{equation}
""",
        "Y: matrix(n, p); Z: matrix(p, m); T: matrix(m, m); H: matrix(p, p) spd; Q: matrix(m, m) spd; a_1: vector(m); P_1: matrix(m, m) spd",  # noqa: E501
        "T",
        kalman,
    ),
    Paragraph(
        "graphical lasso",
        r"""
\[
\min_{\Theta \succ 0}\; -\log\det\Theta + \operatorname{tr}(S\Theta) + \lambda \sum_{i \neq j} |\Theta_{ij}|, \quad
\text{where } S = \frac{1}{n} \sum_{i=1}^{n} (x_i - \bar{x})(x_i - \bar{x})^\top,\ \bar{x} = \frac{1}{n}
\sum_{i=1}^{n} x_i.
\]
""",
        "X: matrix(n, p); Theta: matrix(p, p) spd; lambda: scalar positive",
        "Theta",
        glasso,
    ),
    Paragraph(
        "model predictive control with soft input constraints",
        r"""
Consider the discrete-time linear system $x_{t+1} = A x_t + B u_t$ with known initial state $x_1$. The tracking cost
over the horizon $T$ is
\begin{equation}
J(U) = \sum_{t=1}^{T} \Big( \| x_{t+1} - r_t \|_Q^2 + \| u_t \|_R^2 + \rho \sum_{j=1}^{m} \max\{ 0, |u_{t,j}| - c
\}^2 \Big),
\end{equation}
where $\|v\|_M^2 := v^\top M v$, the rows $u_t^\top$ of $U$ are the inputs and the rows $r_t^\top$ of $r$ the
reference for the state reached at the end of step $t$.
""",
        "A: matrix(n, n); B: matrix(n, m); U: matrix(T, m); x_1: vector(n); r: matrix(T, n); Q: matrix(n, n) spd; R: matrix(m, m) spd; rho: scalar positive; c: scalar positive",  # noqa: E501
        "U",
        mpc,
    ),
    Paragraph(
        "inverse Ising, pseudolikelihood",
        r"""
For $n$ sampled spin configurations $s^{(1)}, \dots, s^{(n)}$ of $d$ spins the logarithmic pseudolikelihood reads
\begin{equation}
\mathcal{PL}(J, h) = -\frac{1}{n} \sum_{b=1}^{n} \sum_{i=1}^{d} \ln\left( 1 + e^{-2 s_i^{(b)} \left[ h_i + \sum_{j
\neq i} J_{ij} s_j^{(b)} \right]} \right).
\end{equation}
""",
        "s: matrix(n, d); J: matrix(d, d) symmetric; h: vector(d)",
        "h",
        isingpl,
    ),
    Paragraph(
        "molecular mechanics nonbonded energy",
        r"""
The nonbonded interactions are described by a Lennard-Jones and a Coulomb term,
\begin{equation}
E = \sum_{i<j} \left\{ 4\epsilon_{ij} \left[ \left( \frac{\sigma_{ij}}{r_{ij}} \right)^{12} - \left(
\frac{\sigma_{ij}}{r_{ij}} \right)^{6} \right] + k_e \frac{q_i q_j}{r_{ij}} \right\},
\end{equation}
with $r_{ij} = |\mathbf{R}_i - \mathbf{R}_j|$ and the Lorentz--Berthelot combining rules $\sigma_{ij} = (\sigma_i +
\sigma_j)/2$ and $\epsilon_{ij} = \sqrt{\epsilon_i \epsilon_j}$.
""",
        "R: matrix(N, d); q: vector(N); sigma: vector(N) positive; epsilon: vector(N) positive; k_e: scalar positive",
        "R",
        ljc,
    ),
    Paragraph(
        "Whittle likelihood for an autoregression",
        r"""
Let $\omega_j = 2\pi j / n$ be the Fourier frequencies and
\begin{equation}
I(\omega) = \frac{1}{2\pi n} \left| \sum_{t=1}^{n} x_t e^{-\mathrm{i}\omega t} \right|^2
\end{equation}
the periodogram. The Whittle log-likelihood of an AR($p$) model is
\begin{equation}
\ell_W(\phi, \sigma^2) = -\sum_{j=1}^{\lfloor (n-1)/2 \rfloor} \left\{ \log f(\omega_j) +
\frac{I(\omega_j)}{f(\omega_j)} \right\}, \qquad f(\omega) = \frac{\sigma^2}{2\pi} \left| 1 - \sum_{k=1}^{p} \phi_k
e^{-\mathrm{i}k\omega} \right|^{-2}.
\end{equation}
""",
        "x: vector(n); phi: vector(p); sigma: scalar positive",
        "phi",
        whittle,
        refused="the subscript j is unknown",
    ),
    Paragraph(
        "GMM, exponential regression with instruments",
        r"""
The GMM estimator minimizes $Q_n(\beta) = \bar{g}_n(\beta)' W \bar{g}_n(\beta)$, where
\[
\bar{g}_n(\beta) = \frac{1}{n} \sum_{i=1}^{n} z_i \left( y_i \exp(-x_i'\beta) - 1 \right)
\]
and $W$ is a positive definite weighting matrix.
""",
        "X: matrix(n, p); y: vector(n); Z: matrix(n, M); W: matrix(M, M) spd; beta: vector(p)",
        "beta",
        gmm,
    ),
    Paragraph(
        "spatial autoregressive model",
        r"""
The log-likelihood function of the SAR model $y = \rho W y + X\beta + \varepsilon$ with $\varepsilon \sim N(0,
\sigma^2 I_n)$ is
\begin{equation}
\ln L(\beta, \rho, \sigma^2) = -\frac{n}{2} \ln(2\pi\sigma^2) + \ln |I_n - \rho W| - \frac{1}{2\sigma^2} e'e,
\end{equation}
where $e = (I_n - \rho W) y - X\beta$ and $W$ is the row-normalized spatial weights matrix with elements
\begin{equation}
w_{ij} = \begin{cases} a_{ij} \big/ \sum_{k \neq i} a_{ik} & \text{if } i \neq j, \\ 0 & \text{if } i = j,
\end{cases}
\end{equation}
$a_{ij}$ being the $(i,j)$ entry of the proximity matrix $A$.
""",
        "X: matrix(n, p); y: vector(n); A: matrix(n, n) positive; beta: vector(p); rho: scalar; sigma: scalar positive",
        "rho",
        sar,
        fractions=("rho",),
    ),
]
