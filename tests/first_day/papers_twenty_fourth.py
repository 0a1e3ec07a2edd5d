r"""The twenty-fourth set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special


def log_sigmoid(t):
    return -np.logaddexp(0.0, -t)


def scad(X, y, beta, lam):
    a, total = 3.7, np.sum((y - X @ beta) ** 2) / (2 * len(y))
    for t in abs(beta):
        if t <= lam:
            total += lam * t
        elif t <= a * lam:
            total += (2 * a * lam * t - t**2 - lam**2) / (2 * (a - 1))
        else:
            total += lam**2 * (a + 1) / 2
    return total


def probabilistic_pca(t, mu, W, sigma):
    N, d = t.shape
    C = W @ W.T + sigma**2 * np.eye(d)
    S = (t - mu).T @ (t - mu) / N
    return -N / 2 * (d * np.log(2 * np.pi) + np.linalg.slogdet(C)[1] + np.trace(np.linalg.solve(C, S)))


def distances(X, Y):
    return np.array([[np.sqrt(np.sum((x - y) ** 2)) for y in Y] for x in X])


def multilevel(y, x, g, u, alpha, beta, gamma_0, gamma_1, sigma_y, sigma_alpha):
    total = len(y) * np.log(sigma_y) + len(u) * np.log(sigma_alpha)
    for i in range(len(y)):
        total += (y[i] - alpha[g[i]] - beta * x[i]) ** 2 / (2 * sigma_y**2)
    for j in range(len(u)):
        total += (alpha[j] - gamma_0 - gamma_1 * u[j]) ** 2 / (2 * sigma_alpha**2)
    return total


def demand_system(w, p, x, alpha, beta, gamma):
    total = 0.0
    for t in range(len(x)):
        log_P = w[t] @ np.log(p[t])
        for i in range(len(alpha)):
            total += (w[t, i] - alpha[i] - gamma[i] @ np.log(p[t]) - beta[i] * (np.log(x[t]) - log_P)) ** 2
    return total


def rank_ordered(x, beta):
    total = 0.0
    for V in x @ beta:
        for j in range(len(V) - 1):
            total += V[j] - np.log(np.sum(np.exp(V[j:])))
    return total


def meta(y, v, tau):
    w = 1 / (v + tau**2)
    mu = w @ y / w.sum()
    return -np.sum(np.log(v + tau**2)) / 2 - np.log(w.sum()) / 2 - np.sum(w * (y - mu) ** 2) / 2


def current_status(C, delta, X, beta, alpha, lam):
    total = 0.0
    for i in range(len(C)):
        H = lam * C[i] ** alpha * np.exp(X[i] @ beta)
        total += delta[i] * np.log(-np.expm1(-H)) - (1 - delta[i]) * H
    return total


def lisrel(S, Lambda, B, Psi, theta):
    K = np.linalg.inv(np.eye(len(B)) - B)
    Sigma = Lambda @ K @ Psi @ K.T @ Lambda.T + np.diag(theta)
    return np.linalg.slogdet(Sigma)[1] + np.trace(S @ np.linalg.inv(Sigma)) - np.linalg.slogdet(S)[1] - len(S)


def nominal_response(u, theta, a, c):
    N, J, K = u.shape
    total = -theta @ theta / 2
    for i in range(N):
        for j in range(J):
            z = a[j] * theta[i] + c[j]
            total += u[i, j] @ (z - np.log(np.sum(np.exp(z))))
    return total


def rescorla_wagner(X, r, y, alpha, beta):
    V, total = np.zeros(X.shape[1]), 0.0
    for t in range(len(r)):
        v = X[t] @ V
        total += y[t] * log_sigmoid(beta * v) + (1 - y[t]) * log_sigmoid(-beta * v)
        V = V + alpha * X[t] * (r[t] - v)
    return total


def spike_train(y, X, k, h, mu, Delta):
    total = 0.0
    for t in range(2, len(y)):
        u = mu + k @ X[t] + h[0] * y[t - 1] + h[1] * y[t - 2]
        total += y[t] * u - Delta * np.exp(u)
    return total


TWENTY_FOURTH = [
    Passage(
        "inverse Gaussian regression",
        r"""\ell(\beta, \lambda) = \sum_{i=1}^n \left\{ \frac12 \log\frac{\lambda}{2\pi y_i^3} -
        \frac{\lambda (y_i - \mu_i)^2} {2 \mu_i^2 y_i} \right\}, where $\mu_i = \exp(x_i^\top \beta)$""",
        "X: matrix(n, p); y: vector(n) positive; beta: vector(p); lam: scalar positive",
        "beta",
        lambda X, y, beta, lam: np.sum(
            np.log(lam / (2 * np.pi * y**3)) / 2 - lam * (y - np.exp(X @ beta)) ** 2 / (2 * np.exp(X @ beta) ** 2 * y)
        ),
    ),
    Passage(
        "skew-normal regression",
        r"""\ell(\beta, \omega, \alpha) = n \log\frac{2}{\omega} + \sum_{i=1}^{n} \log\phi(z_i) +
        \sum_{i=1}^{n} \log\Phi(\alpha z_i), where $z_i = (y_i - x_i^\top\beta)/\omega$, and $\phi$ and $\Phi$
        denote the standard normal density and distribution function.""",
        "X: matrix(n, p); y: vector(n); beta: vector(p); omega: scalar positive; alpha: scalar",
        "beta",
        lambda X, y, beta, omega, alpha: sum(
            np.log(2 / omega) - z**2 / 2 - np.log(2 * np.pi) / 2 + special.log_ndtr(alpha * z)
            for z in (y - X @ beta) / omega
        ),
    ),
    Passage(
        "SCAD-penalised regression",
        r"""Q(\boldsymbol\beta) = \frac{1}{2n} \sum_{i=1}^n (y_i - \mathbf{x}_i^\top \boldsymbol\beta)^2 +
        \sum_{j=1}^{p} p_\lambda(|\beta_j|), where \[ p_\lambda(t) = \begin{cases} \lambda t, & t \le \lambda, \\
        \dfrac{2a\lambda t - t^2 - \lambda^2}{2(a-1)}, & \lambda < t \le a\lambda, \\ \dfrac{\lambda^2(a+1)}{2}, &
        t > a\lambda, \end{cases} \] with $a = 3.7$.""",
        "X: matrix(n, p); y: vector(n); beta: vector(p); lam: scalar positive",
        "beta",
        scad,
    ),
    Passage(
        "probabilistic principal component analysis",
        r"""\mathcal{L} = -\frac{N}{2} \left\{ d \ln(2\pi) + \ln|\mathbf{C}| +
        \operatorname{tr}(\mathbf{C}^{-1}\mathbf{S}) \right\}, where $\mathbf{C} = \mathbf{W}\mathbf{W}^\top +
        \sigma^2 \mathbf{I}$ and $\mathbf{S} = \frac1N \sum_{n=1}^N (\mathbf{t}_n - \boldsymbol\mu)(\mathbf{t}_n -
        \boldsymbol\mu)^\top$.""",
        "t: matrix(N, d); mu: vector(d); W: matrix(d, q); sigma: scalar positive",
        "W",
        probabilistic_pca,
    ),
    Passage(
        "Tyler's M-estimator of scatter",
        r"""L(\Sigma) = \frac{p}{n} \sum_{i=1}^n \log\left( x_i^\top \Sigma^{-1} x_i \right) +
        \log\det\Sigma""",
        "X: matrix(n, p); Sigma: matrix(p, p) spd",
        "Sigma",
        lambda X, Sigma: (
            X.shape[1] / len(X) * sum(np.log(x @ np.linalg.solve(Sigma, x)) for x in X) + np.linalg.slogdet(Sigma)[1]
        ),
    ),
    Passage(
        "energy distance of two samples",
        r"""\mathcal{E}_{n,m} = \frac{2}{nm} \sum_{i=1}^n \sum_{j=1}^m \|x_i - y_j\| - \frac{1}{n^2}
        \sum_{i=1}^n \sum_{j=1}^n \|x_i - x_j\| - \frac{1}{m^2} \sum_{i=1}^m \sum_{j=1}^m \|y_i - y_j\|""",
        "X: matrix(n, d); Y: matrix(m, d)",
        "Y",
        lambda X, Y: 2 * distances(X, Y).mean() - distances(X, X).mean() - distances(Y, Y).mean(),
    ),
    Passage(
        "score matching of a Gaussian",
        r"""J(M, \mu) = \frac1T \sum_{t=1}^T \left[ -\sum_{i=1}^n M_{ii} + \frac12 (x^{(t)} - \mu)^\top M M
        (x^{(t)} - \mu) \right]""",
        "x: matrix(T, n); mu: vector(n); M: matrix(n, n) symmetric",
        "M",
        lambda x, mu, M: -np.trace(M) + sum((r - mu) @ M @ M @ (r - mu) for r in x) / len(x) / 2,
    ),
    Passage(
        "multilevel model of radon in counties",
        r"""\min_{\alpha} \; n \log\sigma_y + \frac{1}{2\sigma_y^2} \sum_{i=1}^n (y_i - \alpha_{g_i} - \beta
        x_i)^2 + J \log\sigma_\alpha + \frac{1}{2\sigma_\alpha^2} \sum_{j=1}^J (\alpha_j - \gamma_0 - \gamma_1
        u_j)^2""",
        (
            "y: vector(n); x: vector(n); g: index(n); u: vector(J); alpha: vector(J); beta: scalar; "
            "gamma_0: scalar; gamma_1: scalar; sigma_y: scalar positive; sigma_alpha: scalar positive"
        ),
        "alpha",
        multilevel,
    ),
    Passage(
        "almost ideal demand system",
        r"""\operatorname{SSR} = \sum_{t=1}^T \sum_{i=1}^n \left( w_{ti} - \alpha_i - \sum_{j=1}^n
        \gamma_{ij} \log p_{tj} - \beta_i \log\frac{x_t}{P_t} \right)^2, where $\log P_t = \sum_{k=1}^n w_{tk}
        \log p_{tk}$ is the Stone price index.""",
        (
            "w: matrix(T, n); p: matrix(T, n) positive; x: vector(T) positive; alpha: vector(n); "
            "beta: vector(n); gamma: matrix(n, n)"
        ),
        "gamma",
        demand_system,
    ),
    Passage(
        "exponential tilting with instruments",
        r"""\hat\lambda = \arg\min_{\lambda} \frac1n \sum_{i=1}^n \exp\left( \lambda^\top g_i(\beta)
        \right), where $g_i(\beta) = z_i (y_i - x_i^\top\beta)$""",
        "Z: matrix(n, l); X: matrix(n, k); y: vector(n); beta: vector(k); lam: vector(l)",
        "lam",
        lambda Z, X, y, beta, lam: np.mean([np.exp(lam @ Z[i] * (y[i] - X[i] @ beta)) for i in range(len(y))]),
    ),
    Passage(
        "rank-ordered logit",
        r"""\ell(\beta) = \sum_{i=1}^N \sum_{j=1}^{J-1} \left[ x_{ij}^\top\beta - \log\sum_{k=j}^{J}
        \exp(x_{ik}^\top\beta) \right]""",
        "x: tensor(N, J, p); beta: vector(p)",
        "beta",
        rank_ordered,
    ),
    Passage(
        "random-effects meta-analysis",
        r"""\ell_R(\tau) = -\frac12 \sum_{i=1}^k \log(v_i + \tau^2) - \frac12 \log \sum_{i=1}^k \frac{1}{v_i
        + \tau^2} - \frac12 \sum_{i=1}^k \frac{(y_i - \hat\mu)^2}{v_i + \tau^2}, where $\hat\mu = \sum_i w_i y_i /
        \sum_i w_i$ with $w_i = 1/(v_i + \tau^2)$.""",
        "y: vector(k); v: vector(k) positive; tau: scalar positive",
        "tau",
        meta,
    ),
    Passage(
        "offspring distribution with superspreading",
        r"""\ell(R_0, k) = \sum_{i=1}^n \left[ \log\Gamma(k + z_i) - \log\Gamma(k) - \log\Gamma(z_i + 1) - k
        \log\left(1 + \frac{R_0}{k}\right) + z_i \log\frac{R_0}{R_0 + k} \right]""",
        "z: vector(n) positive; R_0: scalar positive; k: scalar positive",
        "k",
        lambda z, R_0, k: sum(
            special.gammaln(k + a)
            - special.gammaln(k)
            - special.gammaln(a + 1)
            - k * np.log(1 + R_0 / k)
            + a * np.log(R_0 / (R_0 + k))
            for a in z
        ),
    ),
    Passage(
        "current status data under a Weibull model",
        r"""\ell(\beta) = \sum_{i=1}^n \left\{ \delta_i \log\left[1 - S(C_i \mid x_i)\right] + (1 -
        \delta_i) \log S(C_i \mid x_i) \right\}, with $S(t \mid x) = \exp\left(-\lambda t^\alpha
        e^{x^\top\beta}\right)$""",
        (
            "C: vector(n) positive; delta: vector(n); X: matrix(n, p); beta: vector(p); alpha: scalar positive; "
            "lam: scalar positive"
        ),
        "beta",
        current_status,
        ("delta",),
    ),
    Passage(
        "LISREL model",
        r"""F_{\mathrm{ML}} = \log|\Sigma| + \operatorname{tr}(S\Sigma^{-1}) - \log|S| - p, where $\Sigma =
        \Lambda (I - B)^{-1} \Psi (I - B)^{-\top} \Lambda^\top + \Theta$ and $\Theta =
        \operatorname{diag}(\theta)$""",
        (
            "S: matrix(p, p) spd; Lambda: matrix(p, m); B: matrix(m, m); Psi: matrix(m, m) spd; "
            "theta: vector(p) positive"
        ),
        "B",
        lisrel,
    ),
    Passage(
        "nominal response model",
        r"""\ell(\theta) = \sum_{i=1}^N \sum_{j=1}^J \sum_{k=1}^K u_{ijk} \log P_{jk}(\theta_i) - \frac12
        \sum_{i=1}^N \theta_i^2, \quad P_{jk}(\theta) = \frac{\exp(a_{jk}\theta + c_{jk})}{\sum_{h=1}^K
        \exp(a_{jh}\theta + c_{jh})}""",
        "u: tensor(N, J, K); theta: vector(N); a: matrix(J, K); c: matrix(J, K)",
        "theta",
        nominal_response,
    ),
    Passage(
        "Rescorla-Wagner learning",
        r"""\ell(\alpha, \beta) = \sum_{t=1}^T \left[ y_t \log p_t + (1 - y_t) \log(1 - p_t) \right], \qquad
        p_t = \sigma(\beta\, x_t^\top V_t), where $\sigma(u) = 1/(1 + e^{-u})$ and the associative strengths are
        updated by $V_{t+1} = V_t + \alpha x_t (r_t - x_t^\top V_t)$ from $V_1 = 0$.""",
        "X: matrix(T, p); r: vector(T); y: vector(T); alpha: scalar; beta: scalar",
        "alpha",
        rescorla_wagner,
        ("y", "alpha"),
    ),
    Passage(
        "point-process model of a spike train",
        r"""\log L = \sum_{t=3}^T y_t \log\lambda_t - \Delta \sum_{t=3}^T \lambda_t, \quad \lambda_t =
        \exp\Bigl( \mu + \mathbf{k}^\top \mathbf{x}_t + \sum_{\tau=1}^{2} h_\tau y_{t-\tau} \Bigr)""",
        "y: vector(T); X: matrix(T, p); k: vector(p); h: vector(2); mu: scalar; Delta: scalar positive",
        "k",
        spike_train,
    ),
]
