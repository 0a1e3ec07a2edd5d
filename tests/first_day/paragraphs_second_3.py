r"""Whole paragraphs of LaTeX from papers, second set, part 3: written by someone who had seen no code."""

import numpy as np
from first_day.paragraph import Paragraph
from scipy import special


def ljts(r, epsilon, sigma, r_c):

    def u(x):
        return 4 * epsilon * ((sigma / x) ** 12 - (sigma / x) ** 6)

    N = r.shape[0]
    s = 0.0
    for i in range(N):
        for j in range(i + 1, N):
            x = np.sqrt(np.sum((r[i] - r[j]) ** 2))
            if x < r_c:
                s += u(x) - u(r_c)
    return s


def polymer(r, k_b, b_0, kappa):
    N = r.shape[0]
    b = [r[i + 1] - r[i] for i in range(N - 1)]
    s = 0.0
    for i in range(N - 1):
        s += 0.5 * k_b * (np.linalg.norm(b[i]) - b_0) ** 2
    for i in range(N - 2):
        s += kappa * (1 - b[i] @ b[i + 1] / (np.linalg.norm(b[i]) * np.linalg.norm(b[i + 1])))
    return s


def hf(C, h, g):
    n, k = C.shape
    P = np.zeros((n, n))
    for a in range(n):
        for b in range(n):
            for i in range(k):
                P[a, b] += 2 * C[a, i] * C[b, i]
    E = np.sum(P * h)
    for a in range(n):
        for b in range(n):
            for l in range(n):  # noqa: E741
                for s in range(n):
                    E += 0.5 * P[a, b] * P[l, s] * (g[a, b, s, l] - 0.5 * g[a, l, s, b])
    return E


norm_cdf = special.ndtr


def bscal(K, tau, c, S_0, r, sigma):
    s = 0.0
    for i in range(len(K)):
        d1 = (np.log(S_0 / K[i]) + (r + sigma**2 / 2) * tau[i]) / (sigma * np.sqrt(tau[i]))
        d2 = d1 - sigma * np.sqrt(tau[i])
        s += (S_0 * norm_cdf(d1) - K[i] * np.exp(-r * tau[i]) * norm_cdf(d2) - c[i]) ** 2
    return s


def cvar(Y, w, alpha, beta):
    N = Y.shape[0]
    s = 0.0
    for j in range(N):
        s += max(-(w @ Y[j]) - alpha, 0.0)
    return alpha + s / (N * (1 - beta))


def riskpar(w, Sigma):
    n = len(w)
    rc = w * (Sigma @ w)
    s = 0.0
    for i in range(n):
        for j in range(n):
            s += (rc[i] - rc[j]) ** 2
    return s


def sigm(x):
    return 1 / (1 + np.exp(-x))


def occupancy(y, s, X, w, beta, alpha_0, alpha_1):
    n, m = y.shape
    tot = 0.0
    for i in range(n):
        psi = sigm(X[i] @ beta)
        pr = 1.0
        for j in range(m):
            p = sigm(alpha_0 + alpha_1 * w[i, j])
            pr *= p ** y[i, j] * (1 - p) ** (1 - y[i, j])
        tot += np.log(psi * pr + (1 - psi) * (1 - s[i]))
    return tot


def ricker(N, r, K, sigma):
    T = len(N)
    s = 0.0
    for t in range(T - 1):
        e = np.log(N[t + 1] / N[t]) - r * (1 - N[t] / K)
        s += e**2
    return (T - 1) / 2 * np.log(2 * np.pi * sigma**2) + s / (2 * sigma**2)


def pcm(y, theta, delta):
    n, m = y.shape
    K = delta.shape[1]
    s = 0.0
    for i in range(n):
        for j in range(m):
            num = np.array([np.exp(np.sum(theta[i] - delta[j, : k + 1])) for k in range(K)])
            s += np.log(num[y[i, j]] / num.sum())
    return s


def fa(S, Lambda, psi):
    p = S.shape[0]
    Sg = Lambda @ Lambda.T + np.diag(psi)
    return np.log(np.linalg.det(Sg)) + np.trace(S @ np.linalg.inv(Sg)) - np.log(np.linalg.det(S)) - p


def beckmann(delta, h, tau, c):
    s = 0.0
    for a in range(delta.shape[0]):
        v = delta[a] @ h
        s += tau[a] * (v + 0.15 * v**5 / (5 * c[a] ** 4))
    return s


SECOND_3 = [
    Paragraph(
        "truncated and shifted Lennard-Jones fluid",
        r"""The particles interact through the truncated and shifted Lennard-Jones potential; the total potential energy is
\begin{equation}
U(\mathbf{r}_1,\dots,\mathbf{r}_N) = \sum_{i=1}^{N-1} \sum_{j=i+1}^{N} u_{\mathrm{ts}}(r_{ij}), \qquad r_{ij} =
|\mathbf{r}_i - \mathbf{r}_j|,
\end{equation}
with
\begin{equation}
u_{\mathrm{ts}}(r) = \begin{cases} u_{\mathrm{LJ}}(r) - u_{\mathrm{LJ}}(r_c), & r < r_c, \\ 0, & r \geq r_c,
\end{cases}
\qquad
u_{\mathrm{LJ}}(r) = 4\epsilon \left[ \left(\frac{\sigma}{r}\right)^{12} - \left(\frac{\sigma}{r}\right)^{6}
\right].
\end{equation}""",  # noqa: E501
        "r: matrix(N, d); epsilon: scalar positive; sigma: scalar positive; r_c: scalar positive",
        "r",
        ljts,
    ),
    Paragraph(
        "semiflexible bead-spring chain",
        r"""The energy of a semiflexible chain of $N$ beads at positions $\mathbf{r}_1, \ldots, \mathbf{r}_N$ is the sum of a
stretching and a bending part, $E = E_{\mathrm{str}} + E_{\mathrm{bend}}$. With the bond vectors $\mathbf{b}_i =
\mathbf{r}_{i+1} - \mathbf{r}_i$ these are
\begin{align*}
E_{\mathrm{str}} &= \frac{k_b}{2} \sum_{i=1}^{N-1} \left( |\mathbf{b}_i| - b_0 \right)^2, \\
E_{\mathrm{bend}} &= \kappa \sum_{i=1}^{N-2} (1 - \cos\theta_i), \qquad \cos\theta_i = \frac{\mathbf{b}_i \cdot
\mathbf{b}_{i+1}}{|\mathbf{b}_i|\,|\mathbf{b}_{i+1}|}.
\end{align*}""",  # noqa: E501
        "r: matrix(N, d); k_b: scalar positive; b_0: scalar positive; kappa: scalar positive",
        "r",
        polymer,
    ),
    Paragraph(
        "closed-shell Hartree-Fock electronic energy",
        r"""In a basis of $n$ atomic orbitals, the closed-shell Hartree--Fock energy is
\begin{equation}
E = \sum_{\mu\nu} P_{\mu\nu} h_{\mu\nu} + \frac{1}{2} \sum_{\mu\nu\lambda\sigma} P_{\mu\nu} P_{\lambda\sigma} \left[
g_{\mu\nu\sigma\lambda} - \frac12 g_{\mu\lambda\sigma\nu} \right],
\end{equation}
where the Greek indices run over all $n$ orbitals, $g_{\mu\nu\lambda\sigma} = (\mu\nu|\lambda\sigma)$ are the
electron repulsion integrals in chemists' notation, and the density matrix is
\begin{equation}
P_{\mu\nu} = 2 \sum_{i=1}^{k} C_{\mu i} C_{\nu i}.
\end{equation}""",
        "C: matrix(n, k); h: matrix(n, n) symmetric; g: tensor(n, n, n, n)",
        "C",
        hf,
    ),
    Paragraph(
        "Black-Scholes calibration to call quotes",
        r"""The volatility is calibrated to the market quotes $c_i$ of $n$ European calls with strikes $K_i$ and times to
maturity $\tau_i$ by least squares,
\[
\min_{\sigma} \; \sum_{i=1}^{n} \left( S_0 N(d_{1,i}) - K_i e^{-r\tau_i} N(d_{2,i}) - c_i \right)^2,
\]
where $N(\cdot)$ is the standard normal distribution function and
\[
d_{1,i} = \frac{\ln(S_0/K_i) + (r + \sigma^2/2)\tau_i}{\sigma\sqrt{\tau_i}}, \qquad d_{2,i} = d_{1,i} -
\sigma\sqrt{\tau_i}.
\]""",  # noqa: E501
        "K: vector(n) positive; tau: vector(n) positive; c: vector(n) positive; S_0: scalar positive; r: scalar; sigma: scalar positive",  # noqa: E501
        "sigma",
        bscal,
    ),
    Paragraph(
        "CVaR, Rockafellar-Uryasev",
        r"""$$\tilde F_\beta(w, \alpha) = \alpha + \frac{1}{N(1-\beta)} \sum_{j=1}^{N} \left[ -w^T y_j - \alpha \right]^+,
\qquad [t]^+ = \max\{t, 0\}$$""",  # noqa: E501
        "Y: matrix(N, d); w: vector(d); alpha: scalar; beta: scalar positive",
        "w",
        cvar,
        fractions=("beta",),
    ),
    Paragraph(
        "equally weighted risk contribution portfolio",
        r"""The ERC portfolio is found by minimizing $f(w) = \sum_{i=1}^n \sum_{j=1}^n \left( w_i (\Sigma w)_i - w_j (\Sigma
w)_j \right)^2$, where $\Sigma$ is the covariance matrix of returns.""",  # noqa: E501
        "w: vector(n) positive; Sigma: matrix(n, n) spd",
        "w",
        riskpar,
    ),
    Paragraph(
        "site occupancy with imperfect detection",
        r"""Let $y_{ij}$ indicate detection of the species at site $i$ during visit $j$, and let $s_i$ equal one if the species
was detected at site $i$ at least once and zero otherwise. Integrating over the latent occupancy states, the
log-likelihood is
\begin{equation}
\ell(\boldsymbol\beta, \alpha_0, \alpha_1) = \sum_{i=1}^{n} \log\left[ \psi_i \prod_{j=1}^{m} p_{ij}^{y_{ij}} (1 -
p_{ij})^{1 - y_{ij}} + (1 - \psi_i)(1 - s_i) \right].
\end{equation}
Occupancy and detection probabilities depend on site covariates $\mathbf{x}_i$ and the survey effort $w_{ij}$
through $\psi_i = \operatorname{logit}^{-1}(\mathbf{x}_i^\top\boldsymbol\beta)$ and $p_{ij} =
\operatorname{logit}^{-1}(\alpha_0 + \alpha_1 w_{ij})$, with $\operatorname{logit}^{-1}(z) = 1/(1+e^{-z})$.""",  # noqa: E501
        "y: matrix(n, m); s: vector(n); X: matrix(n, d); w: matrix(n, m); beta: vector(d); alpha_0: scalar; alpha_1: scalar",  # noqa: E501
        "beta",
        occupancy,
        fractions=("y", "s"),
    ),
    Paragraph(
        "Ricker population dynamics with process noise",
        r"""Under the stochastic Ricker model $N_{t+1} = N_t \exp\{ r(1 - N_t/K) + \eta_t \}$, $\eta_t \sim
\mathcal{N}(0,\sigma^2)$, the negative log-likelihood of an abundance series $N_1, \dots, N_T$ (conditional on
$N_1$) is
\begin{equation}
\mathrm{NLL}(r, K, \sigma) = \frac{T-1}{2}\log(2\pi\sigma^2) + \frac{1}{2\sigma^2} \sum_{t=1}^{T-1} \left[
\log\frac{N_{t+1}}{N_t} - r\left(1 - \frac{N_t}{K}\right) \right]^2 .
\end{equation}""",
        "N: vector(T) positive; r: scalar; K: scalar positive; sigma: scalar positive",
        "K",
        ricker,
    ),
    Paragraph(
        "partial credit model",
        r"""In the partial credit model, the probability that person $i$ responds in category $k \in \{1,\dots,K\}$ of item $j$
is
\begin{equation}
P_{ijk} = \frac{\exp \sum_{v=1}^{k} (\theta_i - \delta_{jv})}{\sum_{h=1}^{K} \exp \sum_{v=1}^{h} (\theta_i -
\delta_{jv})},
\end{equation}
where $\theta_i$ is the latent trait and $\delta_{jv}$ are the step difficulties. Joint maximum likelihood maximizes
\begin{equation}
\ell(\theta, \delta) = \sum_{i=1}^{n}\sum_{j=1}^{m} \log P_{i j y_{ij}}
\end{equation}
with $y_{ij} \in \{1, \dots, K\}$ the observed response.""",  # noqa: E501
        "y: index(n, m); theta: vector(n); delta: matrix(m, K)",
        "theta",
        pcm,
        ranges={"y": "K"},
    ),
    Paragraph(
        "factor analysis, ML discrepancy function",
        r"""The maximum likelihood discrepancy function is $F_{ML} = \log|\Sigma| + \operatorname{tr}(S\Sigma^{-1}) - \log|S| -
p$, with the model-implied covariance matrix $\Sigma = \Lambda\Lambda' + \Psi$ and $\Psi =
\operatorname{diag}(\psi_1, \dots, \psi_p)$.""",  # noqa: E501
        "S: matrix(p, p) spd; Lambda: matrix(p, k); psi: vector(p) positive",
        "Lambda",
        fa,
    ),
    Paragraph(
        "Beckmann user equilibrium with BPR travel times",
        r"""The user equilibrium flows solve the convex program of Beckmann et al.,
\[
\min_{h \ge 0} \; Z(h) = \sum_{a=1}^{m} \int_0^{v_a} t_a(\omega)\, d\omega, \qquad v_a = \sum_{r=1}^{n} \delta_{ar}
h_r ,
\]
where $h_r$ is the flow on route $r$, $\delta_{ar}$ is the link--route incidence, and $t_a(\omega) = \tau_a \left[ 1
+ 0.15 (\omega/c_a)^4 \right]$ is the BPR travel time function with free-flow time $\tau_a$ and capacity $c_a$.""",
        "delta: matrix(m, n) positive; h: vector(n) positive; tau: vector(m) positive; c: vector(m) positive",
        "h",
        beckmann,
        refused="\\int is not supported",
    ),
]
