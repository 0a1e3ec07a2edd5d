r"""Passages of LaTeX of statistics, survival, item response and factorisation, with their meanings in NumPy."""

import numpy as np
from first_day.further_papers import quadratic, sigmoid
from first_day.papers import Passage
from scipy import special
from scipy.stats import norm, wishart

LIKELIHOODS = [
    Passage(
        "Poisson log likelihood with factorials",
        r"\ell(\beta) = \sum_{i=1}^{n} \left[ y_i x_i^\top \beta - e^{x_i^\top \beta} - \log(y_i!) \right]",
        "X: matrix(n, p); y: vector(n) nonnegative; beta: vector(p)",
        "beta",
        lambda X, y, beta: np.sum(y * (X @ beta) - np.exp(X @ beta) - special.gammaln(y + 1)),
    ),
    Passage(
        "variance as a part",
        r"-\frac{n}{2}\log(2\pi\sigma^2) - \frac{n}{2}, \quad \sigma^2 = \frac{1}{n}\sum_{i=1}^n (y_i - "
        r"x_i^\top\beta)^2",
        "X: matrix(n, p); y: vector(n); beta: vector(p)",
        "beta",
        lambda X, y, beta: -len(y) / 2 * np.log(2 * np.pi * np.mean((y - X @ beta) ** 2)) - len(y) / 2,
    ),
    Passage(
        "estimated variance with a hat",
        r"\begin{aligned} \hat\sigma^2 &= \frac1n \|y - X\beta\|^2, \\ \mathrm{BIC}(\beta) &= n \log \hat\sigma^2 + "
        r"p \log n \end{aligned}",
        "X: matrix(n, p); y: vector(n); beta: vector(p)",
        "beta",
        lambda X, y, beta: len(y) * np.log(np.mean((y - X @ beta) ** 2)) + X.shape[1] * np.log(len(y)),
    ),
    Passage(
        "negative binomial",
        r"\sum_{i=1}^n \left\{ \log\binom{y_i + r - 1}{y_i} + r\log(1-p) + y_i \log p \right\}",
        "y: vector(n) nonnegative; r: scalar positive; p: scalar positive",
        "r",
        lambda y, r, p: np.sum(
            special.gammaln(y + r) - special.gammaln(y + 1) - special.gammaln(r) + r * np.log(1 - p) + y * np.log(p)
        ),
        ("p",),
    ),
    Passage(
        "beta density",
        r"\sum_{i=1}^{n} \Big\{ (a - 1) \log x_i + (b - 1) \log (1 - x_i) \Big\} - n \log B(a, b)",
        "x: vector(n) positive; a, b: scalar positive",
        "a",
        lambda x, a, b: np.sum((a - 1) * np.log(x) + (b - 1) * np.log(1 - x)) - len(x) * special.betaln(a, b),
        ("x",),
    ),
    Passage(
        "Cauchy likelihood",
        r"-\sum_{i=1}^n \log\Bigl\{\pi\gamma\Bigl[1+\Bigl(\frac{x_i-x_0}{\gamma}\Bigr)^2\Bigr]\Bigr\}",
        "x: vector(n); x_0: scalar; gamma: scalar positive",
        "gamma",
        lambda x, x_0, gamma: -np.sum(np.log(np.pi * gamma * (1 + ((x - x_0) / gamma) ** 2))),
    ),
    Passage(
        "skew normal",
        r"\sum_{i=1}^n \log\left[ 2\,\phi(z_i)\,\Phi(\alpha z_i) \right], \qquad z_i = \frac{x_i - \xi}{\omega}",
        "x: vector(n); xi: scalar; omega, alpha: scalar positive",
        "alpha",
        lambda x, xi, omega, alpha: np.sum(
            np.log(2) + norm.logpdf((x - xi) / omega) + norm.logcdf(alpha * (x - xi) / omega)
        ),
    ),
    Passage(
        "Tobit",
        r"\ell = \sum_{i=1}^{n} \left( d_i \log\left[\frac{1}{\sigma}\phi\left(\frac{y_i - "
        r"x_i'\beta}{\sigma}\right)\right] + (1-d_i)\log \Phi\left(-\frac{x_i'\beta}{\sigma}\right)\right)",
        "X: matrix(n, p); y: vector(n); d: vector(n); beta: vector(p); sigma: scalar positive",
        "beta",
        lambda X, y, d, beta, sigma: np.sum(
            d * norm.logpdf(y, X @ beta, sigma) + (1 - d) * norm.logcdf(-X @ beta / sigma)
        ),
    ),
    Passage(
        "Weibull survival",
        r"\ell(\lambda, k) = \sum_{i=1}^{n} \delta_i \left[ \log k - \log\lambda + "
        r"(k-1)\log\frac{t_i}{\lambda}\right] - \sum_{i=1}^n \left(\frac{t_i}{\lambda}\right)^{k}",
        "t: vector(n) positive; delta: vector(n); lam, k: scalar positive",
        "k",
        lambda t, delta, lam, k: (
            np.sum(delta * (np.log(k) - np.log(lam) + (k - 1) * np.log(t / lam))) - np.sum((t / lam) ** k)
        ),
    ),
    Passage(
        "Cox partial likelihood with a risk set as a mask",
        r"\mathrm{pl}(\beta) = \sum_{i=1}^{n} \delta_i \left( x_i^\top\beta - \log \sum_{j=1}^{n} \mathbb{1}\{t_j "
        r"\ge t_i\}\, e^{x_j^\top\beta} \right)",
        "X: matrix(n, p); t, delta: vector(n); beta: vector(p)",
        "beta",
        lambda X, t, delta, beta: sum(
            delta[i] * (X[i] @ beta - np.log(sum(np.exp(X[j] @ beta) for j in range(len(t)) if t[j] >= t[i])))
            for i in range(len(t))
        ),
    ),
    Passage(
        "two-parameter logistic item response",
        r"\log L = \sum_{i=1}^{N}\sum_{j=1}^{J} \big[ u_{ij}\log P_{ij} + (1-u_{ij})\log(1-P_{ij}) \big], \quad "
        r"P_{ij} = \frac{1}{1+\exp\{-a_j(\theta_i-b_j)\}}",
        "u: matrix(N, J); theta: vector(N); a, b: vector(J)",
        "theta",
        lambda u, theta, a, b: np.sum(
            u * np.log(sigmoid(a * (theta[:, None] - b))) + (1 - u) * np.log(1 - sigmoid(a * (theta[:, None] - b)))
        ),
    ),
    Passage(
        "three-parameter model",
        r"\sum_{i,j} \log\Big( c_j + (1 - c_j)\,\sigma\big(a_j(\theta_i - b_j)\big) \Big)",
        "theta: vector(N); a, b: vector(J); c: vector(J) positive",
        "theta",
        lambda theta, a, b, c: np.sum(np.log(c + (1 - c) * sigmoid(a * (theta[:, None] - b)))),
    ),
    Passage(
        "Bradley-Terry over unequal pairs",
        r"\sum_{i=1}^{n}\sum_{j\ne i} w_{ij}\left[\lambda_i - \log\left(e^{\lambda_i}+e^{\lambda_j}\right)\right]",
        "W: matrix(n, n); lam: vector(n)",
        "lam",
        lambda W, lam: sum(
            W[i, j] * (lam[i] - np.logaddexp(lam[i], lam[j]))
            for i in range(len(lam))
            for j in range(len(lam))
            if i != j
        ),
    ),
    Passage(
        "Wishart density up to a constant",
        r"\frac{\nu + 4 - p}{2}\log|\mathbf{X}| - \frac{1}{2}\operatorname{tr}(\mathbf{V}^{-1}\mathbf{X}) - "
        r"\frac{(\nu + 5) p}{2}\log 2 - \frac{\nu + 5}{2}\log|\mathbf{V}| - \log\Gamma_p\left(\frac{\nu + "
        r"5}{2}\right)",
        "X, V: matrix(p, p) spd; nu: scalar positive",
        "V",
        lambda X, V, nu: wishart.logpdf(X, nu + 5, V),
    ),
    Passage(
        "matrix normal",
        r"-\frac{1}{2}\mathrm{tr}\left[\mathbf{V}^{-1}(\mathbf{X}-\mathbf{M})^{T}"
        r"\mathbf{U}^{-1}(\mathbf{X}-\mathbf{M})\right] "
        r"- \frac{n}{2}\ln|\mathbf{U}| - \frac{p}{2}\ln|\mathbf{V}|",
        "X, M: matrix(p, n); U: matrix(p, p) spd; V: matrix(n, n) spd",
        "U",
        lambda X, M, U, V: (
            -0.5 * np.trace(np.linalg.solve(V, (X - M).T) @ np.linalg.solve(U, X - M))
            - X.shape[1] / 2 * np.linalg.slogdet(U)[1]
            - X.shape[0] / 2 * np.linalg.slogdet(V)[1]
        ),
    ),
    Passage(
        "Student t of several variables",
        r"-\frac{\nu+p}{2}\log\left(1+\frac{1}{\nu}(\mathbf x-\boldsymbol\mu)^{\top}\boldsymbol\Sigma^{-1}(\mathbf "
        r"x-\boldsymbol\mu)\right) - \tfrac12\log\lvert\boldsymbol\Sigma\rvert",
        "x, mu: vector(p); Sigma: matrix(p, p) spd; nu: scalar positive",
        "mu",
        lambda x, mu, Sigma, nu: (
            -(nu + len(x)) / 2 * np.log1p(quadratic(x - mu, Sigma) / nu) - 0.5 * np.linalg.slogdet(Sigma)[1]
        ),
    ),
    Passage(
        "ridge with a bold one",
        r"\bigl\|\mathbf y - \beta_0\mathbf 1 - \mathbf X\boldsymbol\beta\bigr\|_2^2 + "
        r"\lambda\bigl[\tfrac{1-\alpha}{2}\|\boldsymbol\beta\|_2^2 + \alpha\|\boldsymbol\beta\|_1\bigr]",
        "X: matrix(n, p); y: vector(n); beta: vector(p); beta_0, lam, alpha: scalar",
        "beta",
        lambda X, y, beta, beta_0, lam, alpha: (
            np.sum((y - beta_0 - X @ beta) ** 2) + lam * ((1 - alpha) / 2 * beta @ beta + alpha * np.sum(abs(beta)))
        ),
    ),
    Passage(
        "quantile regression with its own function",
        r"\hat\beta(\tau) = \arg\min_{\beta} \sum_{i=1}^{n} \rho_\tau(y_i - x_i^\top\beta), \qquad \rho_\tau(u) = "
        r"u\,(\tau - \mathbb{I}\{u < 0\})",
        "X: matrix(n, p); y: vector(n); beta: vector(p); tau: scalar positive",
        "beta",
        lambda X, y, beta, tau: np.sum((y - X @ beta) * (tau - (y - X @ beta < 0))),
    ),
    Passage(
        "Huber with cases",
        r"L_\delta(r) = \begin{cases} \frac{1}{2} r^2 & \text{for } |r| \le \delta, \\ \delta\left(|r| - "
        r"\frac{1}{2}\delta\right), & \text{otherwise.} \end{cases}",
        "r: scalar; delta: scalar positive",
        "r",
        lambda r, delta: np.where(abs(r) <= delta, r * r / 2, delta * (abs(r) - delta / 2)),
    ),
    Passage(
        "empirical Bayes of a normal mean",
        r"\sum_{j=1}^{J} \log \mathcal{N}(\bar{y}_j \mid \mu, \sigma_j^2 + \tau^2)",
        "y_bar: vector(J); sigma: vector(J) positive; mu: scalar; tau: scalar positive",
        "tau",
        lambda y_bar, sigma, mu, tau: np.sum(norm.logpdf(y_bar, mu, np.sqrt(sigma**2 + tau**2))),
    ),
    Passage(
        "ordered probit",
        r"\sum_{i=1}^{n} \log\left[\Phi(c_i + 1 - x_i^\top \beta) - \Phi(c_i - x_i^\top \beta)\right]",
        "X: matrix(n, p); c: vector(n); beta: vector(p)",
        "beta",
        lambda X, c, beta: np.sum(np.log(norm.cdf(c + 1 - X @ beta) - norm.cdf(c - X @ beta))),
    ),
]

FACTORISATIONS = [
    Passage(
        "matrix completion with a mask",
        r"\min_{U, V} \; \frac12 \left\| M \odot (R - U V^\top) \right\|_F^2 + \frac{\lambda}{2} \left( \|U\|_F^2 + "
        r"\|V\|_F^2 \right)",
        "R, M: matrix(m, n); U: matrix(m, k); V: matrix(n, k); lam: scalar positive",
        "U",
        lambda R, M, U, V, lam: 0.5 * np.sum((M * (R - U @ V.T)) ** 2) + lam / 2 * (np.sum(U**2) + np.sum(V**2)),
    ),
    Passage(
        "ratings with rows of the factors",
        r"\min_{X, Y} \sum_{u=1}^{m}\sum_{i=1}^{n} c_{ui}\left(p_{ui} - x_u^{\top} y_i\right)^2 + "
        r"\lambda\left(\sum_{u} \|x_u\|^2 + \sum_{i} \|y_i\|^2\right)",
        "X: matrix(m, k); Y: matrix(n, k); C, P: matrix(m, n); lam: scalar positive",
        "X",
        lambda X, Y, C, P, lam: np.sum(C * (P - X @ Y.T) ** 2) + lam * (np.sum(X**2) + np.sum(Y**2)),
    ),
    Passage(
        "known entries as a set",
        r"\sum_{(i,j)\in\Omega} (R_{ij} - u_i^\top v_j)^2",
        "R: matrix(m, n); U: matrix(m, k); V: matrix(n, k); Omega: matrix(m, n)",
        "U",
        lambda R, U, V, Omega: np.sum((Omega != 0) * (R - U @ V.T) ** 2),
    ),
    Passage(
        "divergence of a factorisation",
        r"D(V \,\|\, WH) = \sum_{i,j}\left( V_{ij}\log\frac{V_{ij}}{(WH)_{ij}} - V_{ij} + (WH)_{ij} \right)",
        "V: matrix(m, n) positive; W: matrix(m, k) positive; H: matrix(k, n) positive",
        "W",
        lambda V, W, H: np.sum(V * np.log(V / (W @ H)) - V + W @ H),
    ),
    Passage(
        "biased factors",
        r"\sum_{u=1}^{m}\sum_{i=1}^{n} w_{ui}\bigl(r_{ui} - \mu - b_u - c_i - p_u^{\!\top} q_i\bigr)^2",
        "W, R: matrix(m, n); mu: scalar; b: vector(m); c: vector(n); P: matrix(m, k); Q: matrix(n, k)",
        "Q",
        lambda W, R, mu, b, c, P, Q: np.sum(W * (R - mu - b[:, None] - c - P @ Q.T) ** 2),
    ),
    Passage(
        "sparse coding",
        r"\min_{D,\,\alpha}\ \sum_{i=1}^{n} \left[\frac{1}{2}\|x_i - D\alpha_i\|_2^2 + \lambda\|\alpha_i\|_1\right]",
        "X: matrix(n, m); D: matrix(m, k); alpha: matrix(n, k); lam: scalar positive",
        "D",
        lambda X, D, alpha, lam: 0.5 * np.sum((X - alpha @ D.T) ** 2) + lam * np.sum(abs(alpha)),
    ),
    Passage(
        "graph regularised",
        r"\|X - UV^{T}\|_F^2 + \lambda\,\mathrm{Tr}(V^{T} L V), \quad L = \operatorname{diag}(W\mathbf{1}) - W",
        "X: matrix(m, n); U: matrix(m, k); V: matrix(n, k); W: matrix(n, n) symmetric; lam: scalar positive",
        "V",
        lambda X, U, V, W, lam: np.sum((X - U @ V.T) ** 2) + lam * np.trace(V.T @ (np.diag(W.sum(axis=1)) - W) @ V),
    ),
    Passage(
        "tensor of three factors",
        r"\sum_{i=1}^{m}\sum_{j=1}^{n}\sum_{k=1}^{p}\left(x_{ijk} - \sum_{r=1}^{q} a_{ir} b_{jr} c_{kr}\right)^2",
        "X: tensor(m, n, p); A: matrix(m, q); B: matrix(n, q); C: matrix(p, q)",
        "A",
        lambda X, A, B, C: np.sum((X - np.einsum("ir,jr,kr->ijk", A, B, C)) ** 2),
    ),
]
