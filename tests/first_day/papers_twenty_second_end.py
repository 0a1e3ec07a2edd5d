r"""The second half of the twenty-second set of passages."""

import numpy as np
from first_day.papers import Passage
from scipy import special

log = np.log
exp = np.exp
inv = np.linalg.inv
norm = np.linalg.norm


def sig(t):
    return 1 / (1 + exp(-t))


def logdet(A):
    return np.linalg.slogdet(A)[1]


def charges(q, x, chi, J, alpha, mu, Q):
    total = np.sum(chi * q + J * q**2 / 2) + mu * (np.sum(q) - Q)
    for i in range(len(q)):
        for j in range(i + 1, len(q)):
            r = norm(x[i] - x[j])
            total += q[i] * q[j] * special.erf(alpha * r) / r
    return total


def spherical(g, h, n, c_0, c_1, a):
    total = 0.0
    for k in range(len(h)):
        near = 3 * h[k] / (2 * a) - h[k] ** 3 / (2 * a**3) if h[k] <= a else 1.0
        total += n[k] * (g[k] / (c_0 + c_1 * near) - 1) ** 2
    return total


def tap(m, J, h, beta):
    n = len(m)
    F = -sum(J[i, j] * m[i] * m[j] for i in range(n) for j in range(i + 1, n)) - h @ m
    F -= beta / 2 * sum(J[i, j] ** 2 * (1 - m[i] ** 2) * (1 - m[j] ** 2) for i in range(n) for j in range(i + 1, n))
    return F + sum((1 + v) / 2 * log((1 + v) / 2) + (1 - v) / 2 * log((1 - v) / 2) for v in m) / beta


def space_time(Y, Sigma_s, Sigma_t):
    K, y = np.kron(Sigma_t, Sigma_s), Y.ravel(order="F")
    return -0.5 * logdet(K) - 0.5 * y @ inv(K) @ y


def moran(x, W):
    n, d = len(x), x - x.mean()
    return n / W.sum() * sum(W[i, j] * d[i] * d[j] for i in range(n) for j in range(n)) / np.sum(d**2)


def whittle(I, omega, d, phi, sigma):  # noqa: E741
    f = sigma**2 / (2 * np.pi) * abs(2 * np.sin(omega / 2)) ** (-2 * d) / (1 - 2 * phi * np.cos(omega) + phi**2)
    return np.sum(log(f) + I / f)


def holt(y, alpha, beta, a, c):
    level, b, total = a, c, 0.0
    for v in y:
        total += (v - level - b) ** 2
        new = alpha * v + (1 - alpha) * (level + b)
        level, b = new, beta * (new - level) + (1 - beta) * b
    return total


def volatility(y, h, mu, phi, sigma):
    total = np.sum(-h / 2 - y**2 * exp(-h) / 2)
    for t in range(1, len(y)):
        total += -log(sigma) - (h[t] - mu - phi * (h[t - 1] - mu)) ** 2 / (2 * sigma**2)
    return total


def maximin(X, q):
    n = len(X)
    return sum(np.sum(abs(X[i] - X[j])) ** -q for i in range(n) for j in range(i + 1, n)) ** (1 / q)


def vasicek(r, kappa, theta, sigma, Delta):
    v, total = sigma**2 / (2 * kappa) * (1 - exp(-2 * kappa * Delta)), 0.0
    for t in range(1, len(r)):
        total += log(2 * np.pi * v) + (r[t] - theta - (r[t - 1] - theta) * exp(-kappa * Delta)) ** 2 / v
    return -total / 2


def modularity(A, S):
    k, w, n = A.sum(axis=1), A.sum(), len(A)
    return sum((A[i, j] - k[i] * k[j] / w) * (S[i] @ S[j]) for i in range(n) for j in range(n)) / w


TWENTY_SECOND_END = [
    Passage(
        "charge equilibration",
        (
            r"$$E(q) = \sum_{i=1}^N \left( \chi_i q_i + \frac12 J_i q_i^2 \right) + \sum_{i<j} q_i q_j "
            r"\frac{\operatorname{erf}(\alpha r_{ij})}{r_{ij}} + \mu \left( \sum_{i=1}^N q_i - Q \right), \qquad "
            r"r_{ij} = \|x_i - x_j\|$$"
        ),
        (
            "q: vector(N); x: matrix(N, 3); chi: vector(N); J: vector(N) positive; alpha: scalar positive; mu: "
            "scalar; Q: scalar"
        ),
        "x",
        charges,
    ),
    Passage(
        "chemical equilibrium of ideal gases",
        (
            r"\mathcal{L}(n, \lambda) = \sum_{i=1}^S n_i \left( g_i + \ln P + \ln\frac{n_i}{\sum_{j=1}^S n_j} "
            r"\right) + \sum_{k=1}^E \lambda_k \left( \sum_{i=1}^S a_{ki} n_i - b_k \right)"
        ),
        ("n: vector(S) positive; g: vector(S); P: scalar positive; A: matrix(E, S); b: vector(E); lam: vector(E)"),
        "n",
        lambda n, g, P, A, b, lam: (
            sum(n[i] * (g[i] + log(P) + log(n[i] / np.sum(n))) for i in range(len(n))) + lam @ (A @ n - b)
        ),
    ),
    Passage(
        "resonance over a background",
        (
            r"$$-\ln L = \sum_{i=1}^N \left( \nu_i - n_i\ln\nu_i \right), \qquad \nu_i = "
            r"s\,\frac{\Gamma^2/4}{(E_i - M)^2 + \Gamma^2/4} + b,$$ where $n_i$ is the number of events in the "
            r"bin at energy $E_i$ and $\Gamma$ the width."
        ),
        (
            "n: vector(N) positive; E: vector(N); s: scalar positive; b: scalar positive; M: scalar; Gamma: "
            "scalar positive"
        ),
        "Gamma",
        lambda n, E, s, b, M, Gamma: sum(
            s * (Gamma**2 / 4) / ((E[i] - M) ** 2 + Gamma**2 / 4)
            + b
            - n[i] * log(s * (Gamma**2 / 4) / ((E[i] - M) ** 2 + Gamma**2 / 4) + b)
            for i in range(len(n))
        ),
    ),
    Passage(
        "TAP free energy",
        (
            r"\begin{aligned} F(m) = &-\sum_{i<j} J_{ij} m_i m_j - \sum_i h_i m_i - \frac\beta2 \sum_{i<j} "
            r"J_{ij}^2 (1 - m_i^2)(1 - m_j^2) \\ &+ \frac1\beta \sum_i \left[ \frac{1 + m_i}{2}\ln\frac{1 + "
            r"m_i}{2} + \frac{1 - m_i}{2}\ln\frac{1 - m_i}{2} \right] \end{aligned}"
        ),
        "m: vector(N); J: matrix(N, N) symmetric; h: vector(N); beta: scalar positive",
        "m",
        tap,
        ("m",),
    ),
    Passage(
        "discretised Gross-Pitaevskii energy",
        (
            r"E(\psi) = \sum_{j=1}^{N-1} \frac{|\psi_{j+1} - \psi_j|^2}{2h} + h \sum_{j=1}^N \left( V_j "
            r"|\psi_j|^2 + \frac g2 |\psi_j|^4 \right) - \mu \left( h \sum_{j=1}^N |\psi_j|^2 - 1 \right)"
        ),
        "psi: vector(N); V: vector(N); h: scalar positive; g: scalar positive; mu: scalar",
        "psi",
        lambda psi, V, h, g, mu: (
            np.sum(np.diff(psi) ** 2) / (2 * h) + h * np.sum(V * psi**2 + g / 2 * psi**4) - mu * (h * psi @ psi - 1)
        ),
    ),
    Passage(
        "separable space-time covariance",
        (
            r"\ell(\Sigma_s, \Sigma_t) = -\frac12 \log|\Sigma_t \otimes \Sigma_s| - \frac12 "
            r"\operatorname{vec}(Y)^\top (\Sigma_t \otimes \Sigma_s)^{-1} \operatorname{vec}(Y)"
        ),
        "Y: matrix(p, q); Sigma_s: matrix(p, p) spd; Sigma_t: matrix(q, q) spd",
        "Sigma_s",
        space_time,
    ),
    Passage(
        "Moran's I, twenty_second",
        (
            r"$$I = \frac{n}{\sum_{i=1}^n \sum_{j=1}^n w_{ij}} \cdot \frac{\sum_{i=1}^n \sum_{j=1}^n w_{ij} (x_i "
            r"- \bar x)(x_j - \bar x)}{\sum_{i=1}^n (x_i - \bar x)^2}, \qquad \bar x = \frac1n \sum_{i=1}^n x_i$$"
        ),
        "x: vector(n); W: matrix(n, n) positive",
        "x",
        moran,
    ),
    Passage(
        "Whittle likelihood of a long-memory process",
        (
            r"$$\mathcal{W}(d, \phi, \sigma) = \sum_{j=1}^m \left[ \log f(\omega_j) + \frac{I_j}{f(\omega_j)} "
            r"\right], \qquad f(\omega) = \frac{\sigma^2}{2\pi} \frac{|2\sin(\omega/2)|^{-2d}}{1 - "
            r"2\phi\cos\omega + \phi^2}$$ where $I_j$ is the periodogram at $\omega_j$."
        ),
        "I: vector(m) positive; omega: vector(m) positive; d: scalar; phi: scalar; sigma: scalar positive",
        "d",
        whittle,
        ("d", "phi"),
    ),
    Passage(
        "Holt's linear trend, twenty_second",
        (
            r"$$\min_{\alpha, \beta} \sum_{t=1}^T \left( y_t - \hat y_t \right)^2$$ with $\hat y_t = \ell_{t-1} + "
            r"b_{t-1}$, $\ell_t = \alpha y_t + (1 - \alpha)(\ell_{t-1} + b_{t-1})$ and $b_t = \beta(\ell_t - "
            r"\ell_{t-1}) + (1 - \beta) b_{t-1}$, starting from $\ell_0 = a$ and $b_0 = c$."
        ),
        "y: vector(T); alpha: scalar; beta: scalar; a: scalar; c: scalar",
        "alpha",
        holt,
        ("alpha", "beta"),
    ),
    Passage(
        "stochastic volatility",
        (
            r"$$\log p(y, h) = -\frac12 \sum_{t=1}^T \left( h_t + y_t^2 e^{-h_t} \right) - (T - 1)\log\sigma - "
            r"\frac{1}{2\sigma^2} \sum_{t=2}^T \left( h_t - \mu - \phi(h_{t-1} - \mu) \right)^2$$"
        ),
        "y: vector(T); h: vector(T); mu: scalar; phi: scalar; sigma: scalar positive",
        "h",
        volatility,
        ("phi",),
    ),
    Passage(
        "R-learner",
        (
            r"$$\hat\theta = \operatorname*{argmin}_\theta \frac1n \sum_{i=1}^n \left[ (y_i - m_i) - (w_i - "
            r"e_i)\, x_i^\top\theta \right]^2 + \lambda\norm{\theta}_2^2,$$ where $m_i$ and $e_i$ are "
            "cross-fitted estimates of the outcome and of the propensity."
        ),
        (
            "y: vector(n); m: vector(n); w: vector(n); e: vector(n); X: matrix(n, p); theta: vector(p); lam: "
            "scalar positive"
        ),
        "theta",
        lambda y, m, w, e, X, theta, lam: np.mean(((y - m) - (w - e) * (X @ theta)) ** 2) + lam * theta @ theta,
        ("w", "e"),
    ),
    Passage(
        "locally optimal design for logistic regression",
        (
            r"$$\Psi(w; \beta) = \log\det M(w, \beta), \qquad M(w, \beta) = \sum_{i=1}^n w_i p_i (1 - p_i) x_i "
            r"x_i^\top, \qquad p_i = \frac{e^{x_i^\top\beta}}{1 + e^{x_i^\top\beta}}$$"
        ),
        "X: matrix(n, 2); w: vector(n) positive; beta: vector(2)",
        "w",
        lambda X, w, beta: logdet(
            sum(w[i] * sig(X[i] @ beta) * (1 - sig(X[i] @ beta)) * np.outer(X[i], X[i]) for i in range(len(w)))
        ),
    ),
    Passage(
        "maximin Latin hypercube criterion",
        (
            r"$$\phi_q(X) = \left( \sum_{i<j} d_{ij}^{-q} \right)^{1/q}, \qquad d_{ij} = \sum_{k=1}^p |x_{ik} - "
            "x_{jk}|$$"
        ),
        "X: matrix(n, p); q: scalar positive",
        "X",
        maximin,
    ),
    Passage(
        "Vasicek short rate",
        (
            r"$$\ell(\kappa, \theta, \sigma) = -\frac12 \sum_{t=2}^T \left[ \log(2\pi v) + \frac{(r_t - "
            r"m_t)^2}{v} \right]$$ with $m_t = \theta + (r_{t-1} - \theta) e^{-\kappa\Delta}$ and $v = "
            r"\frac{\sigma^2}{2\kappa}\left( 1 - e^{-2\kappa\Delta} \right)$."
        ),
        "r: vector(T); kappa: scalar positive; theta: scalar; sigma: scalar positive; Delta: scalar positive",
        "kappa",
        vasicek,
    ),
    Passage(
        "SVI smile",
        (
            r"\min_{a, b, \rho, m, \sigma} \sum_{i=1}^N \omega_i \left( a + b\left\{ \rho(k_i - m) + \sqrt{(k_i - "
            r"m)^2 + \sigma^2} \right\} - v_i \right)^2"
        ),
        (
            "k: vector(N); v: vector(N); omega: vector(N) positive; a: scalar; b: scalar; rho: scalar; m: "
            "scalar; sigma: scalar positive"
        ),
        "m",
        lambda k, v, omega, a, b, rho, m, sigma: np.sum(
            omega * (a + b * (rho * (k - m) + np.sqrt((k - m) ** 2 + sigma**2)) - v) ** 2
        ),
        ("rho",),
    ),
    Passage(
        "relative entropy of two Gaussians",
        (
            r"$$D_{\mathrm{KL}}\left( \mathcal{N}(\mu_0, \Sigma_0) \,\|\, \mathcal{N}(\mu_1, \Sigma_1) \right) = "
            r"\frac12 \left\{ \operatorname{tr}\left( \Sigma_1^{-1}\Sigma_0 \right) + (\mu_1 - \mu_0)^\top "
            r"\Sigma_1^{-1} (\mu_1 - \mu_0) - k + \ln\frac{|\Sigma_1|}{|\Sigma_0|} \right\}$$"
        ),
        "mu_0: vector(k); mu_1: vector(k); Sigma_0: matrix(k, k) spd; Sigma_1: matrix(k, k) spd",
        "Sigma_0",
        lambda mu_0, mu_1, Sigma_0, Sigma_1: (
            0.5
            * (
                np.trace(inv(Sigma_1) @ Sigma_0)
                + (mu_1 - mu_0) @ inv(Sigma_1) @ (mu_1 - mu_0)
                - len(mu_0)
                + logdet(Sigma_1)
                - logdet(Sigma_0)
            )
        ),
    ),
    Passage(
        "relaxed modularity",
        (
            r"$$Q(S) = \frac{1}{2m} \sum_{i,j} \left( A_{ij} - \frac{k_i k_j}{2m} \right) s_i^\top s_j$$ where "
            r"$k_i = \sum_{j=1}^n A_{ij}$ is the degree of node $i$ and $m = \frac12 \sum_{i=1}^n k_i$."
        ),
        "A: matrix(n, n) positive; S: matrix(n, c)",
        "S",
        modularity,
    ),
    Passage(
        "beta-model of random graphs",
        (
            r"\ell(\beta) = \sum_{i=1}^n d_i\beta_i - \sum_{1 \le i < j \le n} \log\left( 1 + e^{\beta_i + "
            r"\beta_j} \right)"
        ),
        "d: vector(n); beta: vector(n)",
        "beta",
        lambda d, beta: (
            d @ beta - sum(log(1 + exp(beta[i] + beta[j])) for i in range(len(d)) for j in range(i + 1, len(d)))
        ),
    ),
    Passage(
        "spherical semivariogram",
        (
            r"$$\sum_{k=1}^K n_k \left( \frac{g_k}{\gamma(h_k)} - 1 \right)^2, \qquad \gamma(h) = \begin{cases} "
            r"c_0 + c_1 \left( \dfrac{3h}{2a} - \dfrac{h^3}{2a^3} \right), & 0 < h \le a, \\ c_0 + c_1, & h > a, "
            r"\end{cases}$$ where $g_k$ is the empirical semivariogram of the $n_k$ pairs at lag $h_k$."
        ),
        (
            "g: vector(K) positive; h: vector(K) positive; n: vector(K) positive; c_0: scalar positive; c_1: "
            "scalar positive; a: scalar positive"
        ),
        "a",
        spherical,
    ),
    Passage(
        "SpringRank",
        r"$$H(s) = \frac12 \sum_{i,j=1}^N A_{ij} (s_i - s_j - 1)^2 + \frac\alpha2 \sum_{i=1}^N s_i^2$$",
        "A: matrix(N, N) positive; s: vector(N); alpha: scalar positive",
        "s",
        lambda A, s, alpha: (
            0.5 * sum(A[i, j] * (s[i] - s[j] - 1) ** 2 for i in range(len(s)) for j in range(len(s)))
            + alpha / 2 * s @ s
        ),
    ),
]

TWENTY_SECOND_REFUSED = [
    (
        "risk parity, twenty_second",
        (
            r"\min_{w} \sum_{i=1}^n \sum_{j=1}^n \left( w_i (\Sigma w)_i - w_j (\Sigma w)_j \right)^2 \quad "
            r"\text{s.t.} \quad \mathbf{1}^\top w = 1"
        ),
        "w: vector(n) positive; Sigma: matrix(n, n) spd",
        r"a constraint is not part of a formula",
    ),
]
