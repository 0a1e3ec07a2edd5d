r"""Whole paragraphs of LaTeX from papers, third set, part 4: written by someone who had seen no code."""

import numpy as np
from first_day.paragraph import Paragraph
from scipy import special


def lse(v):
    v = np.asarray(v)
    return v.max() + np.log(np.sum(np.exp(v - v.max())))


def mixedlogit(x, y, b, L, nu):
    n, J, p = x.shape
    R = nu.shape[1]
    tot = 0.0
    for i in range(n):
        P = 0.0
        for r in range(R):
            be = b + L @ nu[i, r]
            u = x[i] @ be
            P += np.exp(u[y[i]] - lse(u))
        tot += np.log(P / R)
    return tot


def frontier(X, y, beta, sigma_u, sigma_v):
    s = np.sqrt(sigma_u**2 + sigma_v**2)
    lam = sigma_u / sigma_v
    tot = 0.0
    for i in range(len(y)):
        e = y[i] - X[i] @ beta
        tot += np.log(2) - np.log(s) + (-0.5 * np.log(2 * np.pi) - 0.5 * (e / s) ** 2) + special.log_ndtr(-e * lam / s)
    return tot


def nbseq(Y, s, X, B, alpha, tau):
    G, n = Y.shape
    tot = 0.0
    for g in range(G):
        a = alpha[g]
        for j in range(n):
            mu = s[j] * np.exp(X[j] @ B[g])
            y = Y[g, j]
            tot += (
                special.gammaln(y + 1 / a)
                - special.gammaln(1 / a)
                - special.gammaln(y + 1)
                + y * np.log(a * mu / (1 + a * mu))
                - np.log(1 + a * mu) / a
            )
        tot -= B[g] @ B[g] / (2 * tau**2)
    return tot


def sir(y, beta, gamma, eta, kappa):
    T = len(y)
    S, I = (1 - eta, eta)  # noqa: E741
    tot = 0.0
    for t in range(T):
        new = S * (1 - np.exp(-beta * I))
        lam = kappa * new
        tot += y[t] * np.log(lam) - lam
        S, I = (S * np.exp(-beta * I), (1 - gamma) * I + new)  # noqa: E741
    return tot


def glandau(phi, kappa, r, u, h):
    N, M = phi.shape
    tot = 0.0
    for i in range(N):
        for j in range(M):
            f = phi[i, j]
            tot += (
                kappa / 2 * ((phi[(i + 1) % N, j] - f) ** 2 + (phi[i, (j + 1) % M] - f) ** 2)
                + r / 2 * f**2
                + u / 4 * f**4
                - h * f
            )
    return tot


def hawkes(t, mu, alpha, beta, tau):
    n = len(t)
    tot = -mu * tau
    for i in range(n):
        tot += np.log(mu + sum(alpha * beta * np.exp(-beta * (t[i] - t[j])) for j in range(n) if t[j] < t[i]))
        tot -= alpha * (1 - np.exp(-beta * (tau - t[i])))
    return tot


def gee(X, Y, beta, alpha, phi):
    n, m, p = X.shape
    R = (1 - alpha) * np.eye(m) + alpha * np.ones((m, m))
    U = np.zeros(p)
    for i in range(n):
        mu = np.exp(X[i] @ beta)
        D = mu[:, None] * X[i]
        Ah = np.diag(np.sqrt(mu))
        V = phi * Ah @ R @ Ah
        U += D.T @ np.linalg.solve(V, Y[i] - mu)
    return U


def isnmf(V, W, H, eta):
    F, N = V.shape
    K = W.shape[1]

    def d(x, y):
        return x / y - np.log(x / y) - 1

    P = W @ H
    tot = sum(d(V[f, n], P[f, n]) for f in range(F) for n in range(N))
    tot += eta * sum(d(H[k, n], H[k, n - 1]) for k in range(K) for n in range(1, N))
    return tot


THIRD_4 = [
    Paragraph(
        "mixed logit, simulated maximum likelihood",
        r"""
Individual $i$ faces $J$ alternatives with attributes $x_{ij}$ and chooses alternative $y_i$. Tastes are distributed
as $\beta_i \sim N(b, LL')$ and the simulated log-likelihood is
\begin{equation}
SLL(b, L) = \sum_{i=1}^{n} \ln \left[ \frac{1}{R} \sum_{r=1}^{R} \frac{\exp(x_{i y_i}' \beta_{ir})}{\sum_{j=1}^{J}
\exp(x_{ij}' \beta_{ir})} \right],
\end{equation}
where $\beta_{ir} = b + L \nu_{ir}$, $\nu_{ir}$ is the $r$-th draw of a standard normal vector for individual $i$,
and $L$ is lower triangular.
""",
        "x: tensor(n, J, p); y: index(n); b: vector(p); L: matrix(p, p) lower; nu: tensor(n, R, p)",
        "b",
        mixedlogit,
        ranges={"y": "J"},
    ),
    Paragraph(
        "stochastic frontier, normal/half-normal",
        r"""
The log likelihood function for the normal--half normal stochastic frontier model is
\[
\ln L(\beta, \sigma_u, \sigma_v) = \sum_{i=1}^{n} \left\{ \ln 2 - \ln \sigma + \ln \phi\!\left(
\frac{\varepsilon_i}{\sigma} \right) + \ln \Phi\!\left( -\frac{\varepsilon_i \lambda}{\sigma} \right) \right\},
\]
where $\varepsilon_i = y_i - \beta' x_i$, $\sigma^2 = \sigma_u^2 + \sigma_v^2$, $\lambda = \sigma_u / \sigma_v$, and
$\phi$ and $\Phi$ denote the standard normal density and distribution functions.
""",
        "X: matrix(n, p); y: vector(n); beta: vector(p); sigma_u: scalar positive; sigma_v: scalar positive",
        "sigma_u",
        frontier,
    ),
    Paragraph(
        "RNA-seq differential expression, negative binomial GLM",
        r"""
Read counts $y_{gj}$ for gene $g$ in sample $j$ are modeled with a negative binomial distribution with mean
$\mu_{gj} = s_j \exp(x_j^\top \beta_g)$ and gene-specific dispersion $\alpha_g$, where $s_j$ is the size factor of
sample $j$ and $\beta_g$ is the $g$-th row of $B$. With a zero-centered normal prior on the coefficients, the
log-posterior is, up to an additive constant,
\begin{equation}
\begin{split}
\ell = \sum_{g=1}^{G} \sum_{j=1}^{n} \bigg[ & \log \Gamma(y_{gj} + \alpha_g^{-1}) - \log \Gamma(\alpha_g^{-1}) -
\log \Gamma(y_{gj} + 1) \\
& + y_{gj} \log \frac{\alpha_g \mu_{gj}}{1 + \alpha_g \mu_{gj}} - \alpha_g^{-1} \log(1 + \alpha_g \mu_{gj}) \bigg] -
\frac{1}{2\tau^2} \sum_{g=1}^{G} \|\beta_g\|^2 .
\end{split}
\end{equation}
""",
        "Y: matrix(G, n) positive; s: vector(n) positive; X: matrix(n, p); B: matrix(G, p); alpha: vector(G) positive; tau: scalar positive",  # noqa: E501
        "B",
        nbseq,
    ),
    Paragraph(
        "discrete-time SIR model with Poisson observations",
        r"""
The fractions of susceptible and infectious individuals evolve in daily steps according to
\begin{align}
S_{t+1} &= S_t e^{-\beta I_t}, \\
I_{t+1} &= (1 - \gamma) I_t + S_t \left( 1 - e^{-\beta I_t} \right),
\end{align}
starting from $S_1 = 1 - \eta$ and $I_1 = \eta$. Reported cases $y_t$ are assumed to be Poisson distributed with
mean $\lambda_t = \kappa S_t (1 - e^{-\beta I_t})$. Dropping terms that do not depend on the parameters, the
log-likelihood is
\begin{equation}
\ell(\beta, \gamma, \eta, \kappa) = \sum_{t=1}^{T} \left( y_t \log \lambda_t - \lambda_t \right).
\end{equation}
""",
        "y: vector(T) positive; beta: scalar positive; gamma: scalar; eta: scalar; kappa: scalar positive",
        "beta",
        sir,
        fractions=("gamma", "eta"),
    ),
    Paragraph(
        "lattice Ginzburg-Landau free energy",
        r"""
On an $N \times M$ lattice the discretized free energy is
\begin{equation}
F[\phi] = \sum_{i=1}^{N} \sum_{j=1}^{M} \left\{ \frac{\kappa}{2} \left[ (\phi_{i+1,j} - \phi_{i,j})^2 +
(\phi_{i,j+1} - \phi_{i,j})^2 \right] + \frac{r}{2} \phi_{i,j}^2 + \frac{u}{4} \phi_{i,j}^4 - h \phi_{i,j} \right\}
\end{equation}
with periodic boundary conditions, $\phi_{N+1,j} = \phi_{1,j}$ and $\phi_{i,M+1} = \phi_{i,1}$.
""",
        "phi: matrix(N, M); kappa: scalar positive; r: scalar; u: scalar positive; h: scalar",
        "phi",
        glandau,
    ),
    Paragraph(
        "Hawkes process with exponential kernel",
        r"""
For events $t_1, \dots, t_n$ observed on $[0, \tau]$, the log-likelihood of the self-exciting process with
conditional intensity $\lambda(t) = \mu + \sum_{j : t_j < t} \alpha\beta e^{-\beta(t - t_j)}$ is
\begin{equation}
\log L = \sum_{i=1}^{n} \log \lambda(t_i) - \mu\tau - \alpha \sum_{i=1}^{n} \left( 1 - e^{-\beta(\tau - t_i)}
\right).
\end{equation}
""",
        "t: vector(n) positive; mu: scalar positive; alpha: scalar positive; beta: scalar positive; tau: scalar positive",  # noqa: E501
        "beta",
        hawkes,
    ),
    Paragraph(
        "generalized estimating equations",
        r"""
Let $y_i = (y_{i1}, \dots, y_{im})^\top$ be the responses of subject $i$ with marginal means $\mu_{ij} =
\exp(x_{ij}^\top \beta)$. The regression parameters are estimated by solving the generalized estimating equations
$U(\beta) = 0$, where
\begin{equation}
U(\beta) = \sum_{i=1}^{n} D_i^\top V_i^{-1} (y_i - \mu_i), \qquad V_i = \phi\, A_i^{1/2} R(\alpha) A_i^{1/2}.
\end{equation}
Here $D_i = \partial \mu_i / \partial \beta^\top$, $A_i = \operatorname{diag}(\mu_{i1}, \dots, \mu_{im})$, and
$R(\alpha) = (1 - \alpha) I_m + \alpha \mathbf{1}_m \mathbf{1}_m^\top$ is the exchangeable working correlation
matrix.
""",
        "X: tensor(n, m, p); Y: matrix(n, m); beta: vector(p); alpha: scalar; phi: scalar positive",
        "beta",
        gee,
        fractions=("alpha",),
        refused="several formulas",
    ),
    Paragraph(
        "Itakura-Saito NMF with temporal smoothness",
        r"""
\begin{equation}
C(W, H) = \sum_{f=1}^{F} \sum_{n=1}^{N} d_{IS}\big( v_{fn} \,|\, [WH]_{fn} \big) + \eta \sum_{k=1}^{K}
\sum_{n=2}^{N} d_{IS}\big( h_{kn} \,|\, h_{k(n-1)} \big), \quad d_{IS}(x|y) = \frac{x}{y} - \log\frac{x}{y} - 1,
\end{equation}
where $V = [v_{fn}]$ is the power spectrogram, $W$ the dictionary and $H = [h_{kn}]$ the activations.
""",
        "V: matrix(F, N) positive; W: matrix(F, K) positive; H: matrix(K, N) positive; eta: scalar positive",
        "H",
        isnmf,
    ),
    Paragraph(
        "refuse: residual defined twice",
        r"""
For $0 < \tau < 1$ let $r_i = y_i - x_i^\top\beta$. The regression quantile minimizes
\begin{equation}
\sum_{i=1}^{n} \rho_\tau(r_i), \qquad \rho_\tau(u) = u\,(\tau - \mathbb{1}\{u < 0\}),
\end{equation}
where $r_i = x_i^\top\beta - y_i$ is the residual of observation $i$.
""",
        "X: matrix(n, p); y: vector(n); beta: vector(p); tau: scalar",
        "beta",
        None,
        fractions=("tau",),
        refused="r_i is defined twice",
    ),
]
