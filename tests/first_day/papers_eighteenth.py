r"""The eighteenth set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special
from scipy.special import gammaln as lgam

log = np.log
exp = np.exp
inv = np.linalg.inv
norm = np.linalg.norm


def sig(t):
    return 1 / (1 + exp(-t))


def logdet(A):
    return np.linalg.slogdet(A)[1]


def reml(y, X, Z, sigma_u, sigma_e):
    V = sigma_u**2 * Z @ Z.T + sigma_e**2 * np.eye(len(y))
    b = inv(X.T @ inv(V) @ X) @ X.T @ inv(V) @ y
    r = y - X @ b
    return -0.5 * (logdet(V) + logdet(X.T @ inv(V) @ X) + r @ inv(V) @ r)


def huber(X, y, beta, sigma, a, k):
    u = (y - X @ beta) / sigma
    return np.mean([((v**2 / 2 if abs(v) <= k else k * abs(v) - k**2 / 2) + a) * sigma for v in u])


def garch(r, omega, alpha, beta):
    h, total = np.mean(r**2), 0.0
    for t in range(len(r)):
        if t > 0:
            h = omega + alpha * r[t - 1] ** 2 + beta * h
        total += log(2 * np.pi) + log(h) + r[t] ** 2 / h
    return -total / 2


def sir(y, beta, gamma, rho, nu, N):
    S, J, total = N - nu, nu, 0.0
    for t in range(len(y)):
        total += (y[t] - rho * J) ** 2
        S, J = S - beta * S * J / N, J + beta * S * J / N - gamma * J
    return total


def renewal(I, R, w):  # noqa: E741
    total = 0.0
    for t in range(1, len(I)):
        m = R[t] * sum(w[s - 1] * I[t - s] for s in range(1, t + 1))
        total += I[t] * log(m) - m
    return total


def bym(y, E, X, beta_0, beta, u, W, tau):
    eta = beta_0 + X @ beta + u
    pair = sum(W[i, j] * (u[i] - u[j]) ** 2 for i in range(len(u)) for j in range(i + 1, len(u)))
    return np.sum(y * (log(E) + eta) - E * exp(eta)) - tau / 2 * pair


EIGHTEENTH = [
    Passage(
        "Poisson regression with exposure",
        (
            r"The log-likelihood is $$\ell(\beta) = \sum_{i=1}^{n} \left\{ y_i \left(\log t_i + x_i^\top "
            r"\beta\right) - t_i \exp(x_i^\top\beta) - \log(y_i!) \right\},$$ where $t_i$ is the exposure and "
            r"$x_i^\top$ the $i$-th row of $X$."
        ),
        "X: matrix(n, p); y: vector(n) positive; t: vector(n) positive; beta: vector(p)",
        "beta",
        lambda X, y, t, beta: np.sum(y * (log(t) + X @ beta) - t * exp(X @ beta) - lgam(y + 1)),
    ),
    Passage(
        "negative binomial regression",
        (
            r"$$\ell(\beta, \alpha) = \sum_{i=1}^n \left\{ \log\Gamma(y_i + \alpha^{-1}) - "
            r"\log\Gamma(\alpha^{-1}) - \log\Gamma(y_i + 1) - (y_i + \alpha^{-1}) \log(1 + \alpha\mu_i) + y_i "
            r"\log(\alpha\mu_i) \right\}$$ with $\mu_i = \exp(x_i^\top\beta)$."
        ),
        "X: matrix(n, p); y: vector(n) positive; beta: vector(p); alpha: scalar positive",
        "alpha",
        lambda X, y, beta, alpha: sum(
            lgam(y[i] + 1 / alpha)
            - lgam(1 / alpha)
            - lgam(y[i] + 1)
            - (y[i] + 1 / alpha) * log(1 + alpha * exp(X[i] @ beta))
            + y[i] * log(alpha * exp(X[i] @ beta))
            for i in range(len(y))
        ),
    ),
    Passage(
        "beta regression, eighteenth",
        (
            r"$$\ell(\beta, \phi) = \sum_{i=1}^n \ell_i(\mu_i, \phi),$$ where $$\ell_i(\mu_i, \phi) = "
            r"\log\Gamma(\phi) - \log\Gamma(\mu_i\phi) - \log\Gamma((1-\mu_i)\phi) + (\mu_i\phi - 1)\log y_i + "
            r"\{(1-\mu_i)\phi - 1\}\log(1 - y_i),$$ and $\mu_i = \frac{\exp(x_i^\top\beta)}{1 + "
            r"\exp(x_i^\top\beta)}$."
        ),
        "X: matrix(n, k); y: vector(n); beta: vector(k); phi: scalar positive",
        "beta",
        lambda X, y, beta, phi: sum(
            lgam(phi) - lgam(m * phi) - lgam((1 - m) * phi) + (m * phi - 1) * log(v) + ((1 - m) * phi - 1) * log(1 - v)
            for m, v in zip(sig(X @ beta), y, strict=True)
        ),
        ("y",),
    ),
    Passage(
        "multivariate t distribution",
        (
            r"\ell(\boldsymbol\mu, \boldsymbol\Sigma) = n \log\Gamma\left(\frac{\nu + p}{2}\right) - n "
            r"\log\Gamma\left(\frac{\nu}{2}\right) - \frac{np}{2}\log(\nu\pi) - "
            r"\frac{n}{2}\log|\boldsymbol\Sigma| - \frac{\nu + p}{2} \sum_{i=1}^n \log\left(1 + \frac{1}{\nu} "
            r"(\mathbf{x}_i - \boldsymbol\mu)^\top \boldsymbol\Sigma^{-1} (\mathbf{x}_i - \boldsymbol\mu)\right)"
        ),
        "X: matrix(n, p); mu: vector(p); Sigma: matrix(p, p) spd; nu: scalar positive",
        "Sigma",
        lambda X, mu, Sigma, nu: (
            len(X) * (lgam((nu + len(mu)) / 2) - lgam(nu / 2) - len(mu) / 2 * log(nu * np.pi) - logdet(Sigma) / 2)
            - (nu + len(mu)) / 2 * sum(log(1 + (x - mu) @ inv(Sigma) @ (x - mu) / nu) for x in X)
        ),
    ),
    Passage(
        "restricted maximum likelihood",
        (
            r"\begin{aligned} \ell_R(\sigma_u, \sigma_e) &= -\frac12 \left\{ \log|V| + \log|X^\top V^{-1} X| + (y "
            r"- X\hat\beta)^\top V^{-1} (y - X\hat\beta) \right\}, \\ V &= \sigma_u^2 Z Z^\top + \sigma_e^2 I_n, "
            r"\\ \hat\beta &= (X^\top V^{-1} X)^{-1} X^\top V^{-1} y \end{aligned}"
        ),
        "y: vector(n); X: matrix(n, 2); Z: matrix(n, q); sigma_u: scalar positive; sigma_e: scalar positive",
        "sigma_u",
        reml,
    ),
    Passage(
        "Dirichlet-multinomial counts",
        (
            r"$$\log p(X \mid \alpha) = \sum_{i=1}^n \left[ \log\Gamma(\alpha_+) - \log\Gamma(m_i + \alpha_+) + "
            r"\sum_{k=1}^K \left( \log\Gamma(x_{ik} + \alpha_k) - \log\Gamma(\alpha_k) \right) \right]$$ where "
            r"$\alpha_+ = \sum_{k=1}^K \alpha_k$ and $m_i = \sum_{k=1}^K x_{ik}$."
        ),
        "X: matrix(n, K) positive; alpha: vector(K) positive",
        "alpha",
        lambda X, alpha: sum(
            lgam(alpha.sum()) - lgam(x.sum() + alpha.sum()) + np.sum(lgam(x + alpha) - lgam(alpha)) for x in X
        ),
    ),
    Passage(
        "Huber's concomitant scale",
        (
            r"We minimise $$Q(\beta, \sigma) = \frac1n \sum_{i=1}^n \left[ \rho\left(\frac{y_i - "
            r"x_i^\top\beta}{\sigma}\right) + a \right] \sigma, \qquad \rho(u) = \begin{cases} \frac12 u^2 & "
            r"\text{if } |u| \le k, \\ k|u| - \frac12 k^2 & \text{otherwise.} \end{cases}$$"
        ),
        (
            "X: matrix(n, p); y: vector(n); beta: vector(p); sigma: scalar positive; a: scalar positive; k: "
            "scalar positive"
        ),
        "beta",
        huber,
    ),
    Passage(
        "graphical lasso, eighteenth",
        (
            r"\hat\Theta = \operatorname*{arg\,max}_{\Theta \succ 0} \left\{ \log\det\Theta - "
            r"\operatorname{tr}(S\Theta) - \lambda \sum_{j \ne k} |\theta_{jk}| \right\}"
        ),
        "Theta: matrix(p, p) spd; S: matrix(p, p) spd; lam: scalar positive",
        "Theta",
        lambda Theta, S, lam: (
            logdet(Theta) - np.trace(S @ Theta) - lam * (abs(Theta).sum() - abs(np.diag(Theta)).sum())
        ),
    ),
    Passage(
        "fused lasso, eighteenth",
        (
            r"\min_{\beta \in \mathbb{R}^p} \; \frac12 \sum_{i=1}^n \left(y_i - x_i^\top\beta\right)^2 + "
            r"\lambda_1 \sum_{j=1}^p |\beta_j| + \lambda_2 \sum_{j=2}^p |\beta_j - \beta_{j-1}|"
        ),
        "X: matrix(n, p); y: vector(n); beta: vector(p); lambda_1: scalar positive; lambda_2: scalar positive",
        "beta",
        lambda X, y, beta, lambda_1, lambda_2: (
            0.5 * np.sum((y - X @ beta) ** 2)
            + lambda_1 * abs(beta).sum()
            + lambda_2 * sum(abs(beta[j] - beta[j - 1]) for j in range(1, len(beta)))
        ),
    ),
    Passage(
        "instrumental variables by GMM",
        (
            r"The GMM criterion is $J_n(\beta) = n\, \bar g_n(\beta)^\top W\, \bar g_n(\beta)$ with $\bar "
            r"g_n(\beta) = \frac1n \sum_{i=1}^n z_i (y_i - x_i^\top\beta)$."
        ),
        "y: vector(n); X: matrix(n, k); Z: matrix(n, l); W: matrix(l, l) spd; beta: vector(k)",
        "beta",
        lambda y, X, Z, W, beta: len(y) * (Z.T @ (y - X @ beta) / len(y)) @ W @ (Z.T @ (y - X @ beta) / len(y)),
    ),
    Passage(
        "GARCH(1,1) quasi-likelihood",
        (
            r"$$\mathcal{L}(\omega, \alpha, \beta) = -\frac12 \sum_{t=1}^T \left( \log(2\pi) + \log\sigma_t^2 + "
            r"\frac{r_t^2}{\sigma_t^2} \right),$$ where $\sigma_t^2 = \omega + \alpha r_{t-1}^2 + "
            r"\beta\sigma_{t-1}^2$ for $t = 2, \dots, T$ and $\sigma_1^2 = \frac1T \sum_{t=1}^T r_t^2$."
        ),
        "r: vector(T); omega: scalar positive; alpha: scalar positive; beta: scalar positive",
        "alpha",
        garch,
        ("alpha", "beta"),
    ),
    Passage(
        "conditional logit",
        (
            r"$$\ell(\beta) = \sum_{i=1}^n \log P_{i y_i}, \qquad P_{ij} = \frac{\exp(x_{ij}^\top\beta)} "
            r"{\sum_{k=1}^J \exp(x_{ik}^\top\beta)},$$ where $y_i$ is the alternative chosen by person $i$."
        ),
        "X: tensor(n, J, p); y: index(n); beta: vector(p)",
        "beta",
        lambda X, y, beta: sum(
            X[i, y[i]] @ beta - log(sum(exp(X[i, k] @ beta) for k in range(X.shape[1]))) for i in range(len(y))
        ),
    ),
    Passage(
        "within estimator of a panel",
        (
            r"\hat\beta_{FE} = \arg\min_\beta \sum_{i=1}^n \sum_{t=1}^T \left( (y_{it} - \bar y_i) - (x_{it} - "
            r"\bar x_i)^\top \beta \right)^2, \quad \bar y_i = \frac1T \sum_{t=1}^T y_{it}, \quad \bar x_i = "
            r"\frac1T \sum_{t=1}^T x_{it}"
        ),
        "y: matrix(n, T); x: tensor(n, T, p); beta: vector(p)",
        "beta",
        lambda y, x, beta: sum(
            ((y[i, t] - y[i].mean()) - (x[i, t] - x[i].mean(axis=0)) @ beta) ** 2
            for i in range(y.shape[0])
            for t in range(y.shape[1])
        ),
    ),
    Passage(
        "stochastic frontier, eighteenth",
        (
            r"$$\ln L = \frac{n}{2}\ln\frac{2}{\pi} - n\ln\sigma + \sum_{i=1}^n "
            r"\ln\Phi\left(-\frac{\varepsilon_i\lambda}{\sigma}\right) - \frac{1}{2\sigma^2} \sum_{i=1}^n "
            r"\varepsilon_i^2,$$ where $\varepsilon_i = y_i - x_i'\beta$ and $\Phi$ is the standard normal "
            "distribution function."
        ),
        "X: matrix(n, k); y: vector(n); beta: vector(k); sigma: scalar positive; lam: scalar positive",
        "lam",
        lambda X, y, beta, sigma, lam: (
            len(y) / 2 * log(2 / np.pi)
            - len(y) * log(sigma)
            + np.sum(special.log_ndtr(-(y - X @ beta) * lam / sigma))
            - np.sum((y - X @ beta) ** 2) / (2 * sigma**2)
        ),
    ),
    Passage(
        "SIR model fitted to counts",
        (
            r"$$J(\beta, \gamma) = \sum_{t=1}^T \left(y_t - \rho I_t\right)^2$$ subject to \begin{align*} S_{t+1} "
            r"&= S_t - \beta \frac{S_t I_t}{N}, \\ I_{t+1} &= I_t + \beta \frac{S_t I_t}{N} - \gamma I_t, "
            r"\end{align*} with $S_1 = N - \nu$ and $I_1 = \nu$."
        ),
        (
            "y: vector(T); beta: scalar positive; gamma: scalar positive; rho: scalar positive; nu: scalar "
            "positive; N: scalar positive"
        ),
        "beta",
        sir,
        ("beta", "gamma", "rho", "nu"),
    ),
    Passage(
        "renewal equation of incidence",
        (
            r"$$\ell(R) = \sum_{t=2}^T \left( I_t \log(R_t \Lambda_t) - R_t \Lambda_t \right), \qquad \Lambda_t = "
            r"\sum_{s=1}^{t-1} w_s I_{t-s}$$"
        ),
        "I: vector(T) positive; R: vector(T) positive; w: vector(T) positive",
        "R",
        renewal,
    ),
    Passage(
        "matched case-control study",
        (
            r"$$\ell(\beta) = -\sum_{i=1}^n \log\left(1 + \sum_{j=1}^M \exp\left\{\beta^\top (x_{ij} - "
            r"z_i)\right\}\right),$$ where $z_i$ are the covariates of the $i$-th case and $x_{ij}$ those of its "
            "$j$-th control."
        ),
        "x: tensor(n, M, p); z: matrix(n, p); beta: vector(p)",
        "beta",
        lambda x, z, beta: (
            -sum(log(1 + sum(exp(beta @ (x[i, j] - z[i])) for j in range(x.shape[1]))) for i in range(len(z)))
        ),
    ),
    Passage(
        "disease mapping",
        (
            r"\log p(u, \beta \mid y) = \sum_{i=1}^n \left[ y_i (\log E_i + \eta_i) - E_i e^{\eta_i} \right] - "
            r"\frac{\tau}{2} \sum_{i<j} w_{ij} (u_i - u_j)^2, \qquad \eta_i = \beta_0 + x_i^\top\beta + u_i"
        ),
        (
            "y: vector(n) positive; E: vector(n) positive; X: matrix(n, p); beta_0: scalar; beta: vector(p); u: "
            "vector(n); W: matrix(n, n) symmetric; tau: scalar positive"
        ),
        "u",
        bym,
    ),
    Passage(
        "Cox model with risk sets",
        (
            r"$$\ell(\beta) = \sum_{i=1}^n \delta_i \left[ x_i^\top\beta - \log\sum_{j \in R_i} "
            r"\exp(x_j^\top\beta) \right],$$ where $R_i = \{j : t_j \ge t_i\}$ is the set at risk at time $t_i$."
        ),
        "X: matrix(n, p); t: vector(n) positive; delta: vector(n); beta: vector(p)",
        "beta",
        lambda X, t, delta, beta: sum(
            delta[i] * (X[i] @ beta - log(sum(exp(X[j] @ beta) for j in range(len(t)) if t[j] >= t[i])))
            for i in range(len(t))
        ),
        ("delta",),
    ),
]
