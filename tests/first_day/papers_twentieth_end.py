r"""The second half of the twentieth set of passages."""

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


def pdf(t):
    return exp(-(t**2) / 2) / np.sqrt(2 * np.pi)


def hawkes(t, mu, alpha, beta, T):
    total = -mu * T
    for i in range(len(t)):
        total += log(mu + alpha * sum(exp(-beta * (t[i] - t[j])) for j in range(i)))
        total -= alpha / beta * (1 - exp(-beta * (T - t[i])))
    return total


def local_level(y, m, kappa, sigma_e, sigma_u):
    a, P, total = m, kappa, 0.0
    for t in range(len(y)):
        v, F = y[t] - a, P + sigma_e**2
        total -= 0.5 * (log(2 * np.pi) + log(F) + v**2 / F)
        K = P / F
        a, P = a + K * v, P * (1 - K) + sigma_u**2
    return total


def arma(y, c, phi, theta):
    e, total = 0.0, 0.0
    for t in range(1, len(y)):
        e = y[t] - c - phi * y[t - 1] - theta * e
        total += e**2
    return total


def hartree_fock(P, H, V):
    n, total = len(P), 0.0
    for m in range(n):
        for v in range(n):
            total += P[m, v] * H[m, v]
            for r in range(n):
                for s in range(n):
                    total += 0.5 * P[m, v] * P[r, s] * (V[m, v, r, s] - 0.5 * V[m, r, v, s])
    return total


def lattice(phi, m, lam):
    L, total = len(phi), 0.0
    for i in range(L):
        for j in range(L):
            f = phi[i, j]
            if i + 1 < L:
                total += 0.5 * (phi[i + 1, j] - f) ** 2
            if j + 1 < L:
                total += 0.5 * (phi[i, j + 1] - f) ** 2
            total += m**2 / 2 * f**2 + lam / 24 * f**4
    return total


def dcsbm(A, omega, theta, g):
    n = len(A)
    return 0.5 * sum(
        A[i, j] * log(theta[i] * theta[j] * omega[g[i], g[j]]) - theta[i] * theta[j] * omega[g[i], g[j]]
        for i in range(n) for j in range(n))  # fmt: skip


def black_scholes(S, K, r, T, sigma):
    d1 = (log(S / K) + (r + sigma**2 / 2) * T) / (sigma * np.sqrt(T))
    return S * special.ndtr(d1) - K * exp(-r * T) * special.ndtr(d1 - sigma * np.sqrt(T))


def expected_improvement(u, X, y, b, ell, sigma):
    n = len(X)
    K = np.array(
        [[exp(-np.sum((X[i] - X[j]) ** 2) / (2 * ell**2)) + sigma**2 * (i == j) for j in range(n)] for i in range(n)]
    )
    k = np.array([exp(-np.sum((u - X[i]) ** 2) / (2 * ell**2)) for i in range(n)])
    m, v = k @ inv(K) @ y, np.sqrt(1 - k @ inv(K) @ k)
    return (m - b) * special.ndtr((m - b) / v) + v * pdf((m - b) / v)


TWENTIETH_END = [
    Passage(
        "lognormal response times",
        (
            r"$$\ell(\tau, \alpha, \beta) = \sum_{i=1}^N \sum_{j=1}^J \left[ "
            r"\log\frac{\alpha_j}{t_{ij}\sqrt{2\pi}} - \frac12 \left\{ \alpha_j \left( \log t_{ij} - (\beta_j - "
            r"\tau_i) \right) \right\}^2 \right]$$"
        ),
        "t: matrix(N, J) positive; tau: vector(N); alpha: vector(J) positive; beta: vector(J)",
        "alpha",
        lambda t, tau, alpha, beta: sum(
            log(alpha[j] / (t[i, j] * np.sqrt(2 * np.pi))) - 0.5 * (alpha[j] * (log(t[i, j]) - (beta[j] - tau[i]))) ** 2
            for i in range(len(tau))
            for j in range(len(beta))
        ),
    ),
    Passage(
        "von Bertalanffy growth, twentieth",
        (
            r"$$\mathrm{RSS}(L_\infty, K, t_0) = \sum_{i=1}^n \left( l_i - L_\infty \left[ 1 - e^{-K(a_i - t_0)} "
            r"\right] \right)^2$$ where $l_i$ is the length of fish $i$ at age $a_i$."
        ),
        "l: vector(n); a: vector(n) positive; L_infty: scalar positive; K: scalar positive; t_0: scalar",
        "K",
        lambda l, a, L_infty, K, t_0: np.sum((l - L_infty * (1 - exp(-K * (a - t_0)))) ** 2),  # noqa: E741
    ),
    Passage(
        "Brownian motion on a phylogeny",
        (
            r"$$\ell(\mu, \sigma^2) = -\frac12 \left[ N\log(2\pi\sigma^2) + \log|\mathbf{C}| + \frac{(\mathbf{x} "
            r"- \mu\mathbf{1})^\top \mathbf{C}^{-1} (\mathbf{x} - \mu\mathbf{1})}{\sigma^2} \right]$$"
        ),
        "x: vector(N); C: matrix(N, N) spd; mu: scalar; sigma: scalar positive",
        "C",
        lambda x, C, mu, sigma: (
            -0.5 * (len(x) * log(2 * np.pi * sigma**2) + logdet(C) + (x - mu) @ inv(C) @ (x - mu) / sigma**2)
        ),
    ),
    Passage(
        "admixture proportions",
        (
            r"$$\mathcal{L}(Q, F) = \sum_{i=1}^I \sum_{j=1}^J \left\{ g_{ij} \log\left[ \sum_{k} q_{ik} f_{kj} "
            r"\right] + (2 - g_{ij}) \log\left[ \sum_{k} q_{ik} (1 - f_{kj}) \right] \right\}$$"
        ),
        "G: matrix(I, J) positive; Q: matrix(I, K) positive; F: matrix(K, J)",
        "Q",
        lambda G, Q, F: np.sum(G * log(Q @ F) + (2 - G) * log(Q @ (1 - F))),
        ("F",),
    ),
    Passage(
        "site occupancy",
        (
            r"$$\log L(\psi, p) = \sum_{i=1}^S \log\left[ \psi \prod_{t=1}^T p_t^{y_{it}} (1 - p_t)^{1 - y_{it}} "
            r"+ (1 - \psi) \prod_{t=1}^T (1 - y_{it}) \right],$$ where $y_{it} = 1$ if the species is detected at "
            "site $i$ on visit $t$."
        ),
        "y: matrix(S, T); p: vector(T); psi: scalar",
        "p",
        lambda y, p, psi: sum(log(psi * np.prod(p**v * (1 - p) ** (1 - v)) + (1 - psi) * np.prod(1 - v)) for v in y),
        ("y", "p", "psi"),
    ),
    Passage(
        "Langmuir-Freundlich isotherm",
        (r"\min_{q_m, K, n} \; \sum_{i=1}^{N} \left( q_i - q_m \frac{(K C_i)^{1/n}}{1 + (K C_i)^{1/n}} " r"\right)^2"),
        "q: vector(N); C: vector(N) positive; q_m: scalar positive; K: scalar positive; n: scalar positive",
        "n",
        lambda q, C, q_m, K, n: np.sum((q - q_m * (K * C) ** (1 / n) / (1 + (K * C) ** (1 / n))) ** 2),
    ),
    Passage(
        "Wilson excess Gibbs energy",
        r"$$\frac{G^E}{RT} = -\sum_{i=1}^c x_i \ln\left( \sum_{j=1}^c x_j \Lambda_{ij} \right)$$",
        "x: vector(c) positive; Lambda: matrix(c, c) positive",
        "x",
        lambda x, Lambda: -sum(x[i] * log(sum(x[j] * Lambda[i, j] for j in range(len(x)))) for i in range(len(x))),
    ),
    Passage(
        "restricted Hartree-Fock energy",
        (
            r"$$E[P] = \sum_{\mu\nu} P_{\mu\nu} H_{\mu\nu} + \frac12 \sum_{\mu\nu\lambda\sigma} P_{\mu\nu} "
            r"P_{\lambda\sigma} \left[ V_{\mu\nu\lambda\sigma} - \frac12 V_{\mu\lambda\nu\sigma} \right]$$"
        ),
        "P: matrix(n, n) symmetric; H: matrix(n, n) symmetric; V: tensor(n, n, n, n)",
        "P",
        hartree_fock,
    ),
    Passage(
        "scalar field on a lattice",
        (
            r"$$S(\phi) = \sum_{x=1}^{L-1} \sum_{y=1}^L \frac12 (\phi_{x+1,y} - \phi_{x,y})^2 + \sum_{x=1}^L "
            r"\sum_{y=1}^{L-1} \frac12 (\phi_{x,y+1} - \phi_{x,y})^2 + \sum_{x,y} \left( "
            r"\frac{m^2}{2}\phi_{x,y}^2 + \frac{\lambda}{4!}\phi_{x,y}^4 \right)$$"
        ),
        "phi: matrix(L, L); m: scalar positive; lam: scalar positive",
        "phi",
        lattice,
    ),
    Passage(
        "Hawkes process, twentieth",
        (
            r"$$\log L = \sum_{i=1}^n \log\left( \mu + \alpha \sum_{j<i} e^{-\beta(t_i - t_j)} \right) - \mu T - "
            r"\frac{\alpha}{\beta} \sum_{i=1}^n \left( 1 - e^{-\beta(T - t_i)} \right)$$"
        ),
        "t: vector(n); mu: scalar positive; alpha: scalar positive; beta: scalar positive; T: scalar positive",
        "beta",
        hawkes,
    ),
    Passage(
        "local level model",
        (
            r"The prediction error decomposition of the local level model is $$\log L = -\frac12 \sum_{t=1}^T "
            r"\left( \log 2\pi + \log F_t + \frac{v_t^2}{F_t} \right)$$ with the Kalman filter $$v_t = y_t - a_t, "
            r"\quad F_t = P_t + \sigma_e^2, \quad K_t = P_t / F_t, \quad a_{t+1} = a_t + K_t v_t, \quad P_{t+1} = "
            r"P_t(1 - K_t) + \sigma_u^2,$$ where $a_1 = m$ and $P_1 = \kappa$."
        ),
        "y: vector(T); m: scalar; kappa: scalar positive; sigma_e: scalar positive; sigma_u: scalar positive",
        "sigma_u",
        local_level,
    ),
    Passage(
        "ARMA(1,1) by conditional least squares",
        (
            r"$$S(c, \phi, \theta) = \sum_{t=2}^T e_t^2, \qquad e_t = y_t - c - \phi y_{t-1} - \theta e_{t-1}, "
            r"\quad e_1 = 0$$"
        ),
        "y: vector(T); c: scalar; phi: scalar; theta: scalar",
        "theta",
        arma,
        ("phi", "theta"),
    ),
    Passage(
        "stabilised marginal structural model",
        (
            r"$$\min_{\beta_0, \beta_1} \frac{\sum_{i=1}^n w_i \left( y_i - \beta_0 - \beta_1 a_i "
            r"\right)^2}{\sum_{i=1}^n w_i}, \qquad w_i = \frac{p^{a_i}(1 - p)^{1 - a_i}}{e_i^{a_i}(1 - e_i)^{1 - "
            r"a_i}},$$ where $e_i = \operatorname{expit}(l_i^\top\gamma)$ and $\operatorname{expit}(x) = 1/(1 + "
            "e^{-x})$."
        ),
        ("y: vector(n); a: vector(n); L: matrix(n, q); gamma: vector(q); beta_0: scalar; beta_1: scalar; p: scalar"),
        "gamma",
        lambda y, a, L, gamma, beta_0, beta_1, p: (lambda w: np.sum(w * (y - beta_0 - beta_1 * a) ** 2) / np.sum(w))(
            p**a * (1 - p) ** (1 - a) / (sig(L @ gamma) ** a * (1 - sig(L @ gamma)) ** (1 - a))
        ),
        ("a", "p"),
    ),
    Passage(
        "Bayesian A-optimality",
        (
            r"\Phi_A(w) = \operatorname{tr}\left[ \left( \sum_{i=1}^n w_i f(x_i) f(x_i)^\top + \frac{1}{\tau^2} I "
            r"\right)^{-1} \right], \qquad f(x) = \tanh(Bx)"
        ),
        "w: vector(n) positive; x: matrix(n, d); B: matrix(k, d); tau: scalar positive",
        "w",
        lambda w, x, B, tau: np.trace(
            inv(
                sum(w[i] * np.outer(np.tanh(B @ x[i]), np.tanh(B @ x[i])) for i in range(len(w)))
                + np.eye(len(B)) / tau**2
            )
        ),
    ),
    Passage(
        "expected improvement, twentieth",
        (
            r"$$\mathrm{EI}(u) = (m(u) - b)\,\Phi(z) + s(u)\,\phi(z), \qquad z = \frac{m(u) - b}{s(u)},$$ where "
            r"$m(u) = k(u)^\top (K + \sigma^2 I)^{-1} y$ and $s(u) = \sqrt{1 - k(u)^\top (K + \sigma^2 I)^{-1} "
            r"k(u)}$ are the posterior mean and standard deviation at $u$, with $k(u)_i = \exp(-\norm{u - "
            r"x_i}^2/(2\ell^2))$, $K_{ij} = \exp(-\norm{x_i - x_j}^2/(2\ell^2))$, $b$ is the best observation, "
            r"and $\Phi$ and $\phi$ are the cdf and the pdf of $\mathcal{N}(0, 1)$."
        ),
        "u: vector(d); X: matrix(n, d); y: vector(n); b: scalar; ell: scalar positive; sigma: scalar positive",
        "u",
        expected_improvement,
    ),
    Passage(
        "Black-Scholes price of a call",
        (
            r"$$C = S\,\Phi(d_1) - K e^{-rT}\,\Phi(d_2), \quad d_1 = \frac{\log(S/K) + (r + "
            r"\frac12\sigma^2)T}{\sigma\sqrt T}, \quad d_2 = d_1 - \sigma\sqrt T,$$ where $\Phi$ denotes the "
            "standard normal cumulative distribution function."
        ),
        "S: scalar positive; K: scalar positive; r: scalar; T: scalar positive; sigma: scalar positive",
        "sigma",
        black_scholes,
    ),
    Passage(
        "conditional value at risk, twentieth",
        (
            r"\min_{w, \alpha} \; \alpha + \frac{1}{(1 - \beta) N} \sum_{i=1}^N \left[ -w^\top r_i - \alpha "
            r"\right]_+"
        ),
        "r: matrix(N, n); w: vector(n); alpha: scalar; beta: scalar",
        "w",
        lambda r, w, alpha, beta: alpha + sum(max(0.0, -w @ x - alpha) for x in r) / ((1 - beta) * len(r)),
        ("beta",),
    ),
    Passage(
        "capacity of a MIMO link",
        (
            r"$$C(Q) = \log_2\det\left( I + \frac{1}{\sigma^2} H Q H^\top \right) - \mu\left( "
            r"\operatorname{tr}(Q) - P \right)$$"
        ),
        "H: matrix(r, t); Q: matrix(t, t) spd; sigma: scalar positive; mu: scalar; P: scalar positive",
        "Q",
        lambda H, Q, sigma, mu, P: logdet(np.eye(len(H)) + H @ Q @ H.T / sigma**2) / log(2) - mu * (np.trace(Q) - P),
    ),
    Passage(
        "degree-corrected block model",
        (
            r"$$\mathcal{L} = \frac12 \sum_{ij} \left[ A_{ij}\log\left( \theta_i\theta_j\omega_{g_i g_j} \right) "
            r"- \theta_i\theta_j\omega_{g_i g_j} \right],$$ where $g_i$ is the group of vertex $i$."
        ),
        "A: matrix(n, n) symmetric; omega: matrix(K, K) positive; theta: vector(n) positive; g: index(n)",
        "omega",
        dcsbm,
    ),
    Passage(
        "gravity model of flows",
        (
            r"$$\min_{\alpha, \beta, \gamma, \kappa} \sum_{i \ne j} \left( \log T_{ij} - \kappa - \alpha\log m_i "
            r"- \beta\log m_j + \gamma\log d_{ij} \right)^2$$"
        ),
        (
            "T: matrix(n, n) positive; m: vector(n) positive; d: matrix(n, n) positive; alpha: scalar; beta: "
            "scalar; gamma: scalar; kappa: scalar"
        ),
        "gamma",
        lambda T, m, d, alpha, beta, gamma, kappa: sum(
            (log(T[i, j]) - kappa - alpha * log(m[i]) - beta * log(m[j]) + gamma * log(d[i, j])) ** 2
            for i in range(len(m))
            for j in range(len(m))
            if i != j
        ),
    ),
]

TWENTIETH_REFUSED: list[tuple[str, str, str, str]] = []
