r"""Whole paragraphs of LaTeX from papers, second set, part 1: written by someone who had seen no code."""

import numpy as np
from first_day.paragraph import Paragraph
from scipy import special


def negbin(X, y, beta, alpha):
    s = 0.0
    for i in range(len(y)):
        mu = np.exp(X[i] @ beta)
        s += (
            special.gammaln(y[i] + 1 / alpha)
            - special.gammaln(1 / alpha)
            - special.gammaln(y[i] + 1)
            + y[i] * np.log(alpha * mu)
            - (y[i] + 1 / alpha) * np.log(1 + alpha * mu)
        )
    return s


def tmix(X, y, beta, sigma, nu):
    n = len(y)
    s = 0.0
    for i in range(n):
        e = (y[i] - X[i] @ beta) / sigma
        s += (nu + 1) / 2 * np.log(1 + e**2 / nu)
    return (
        s + n * np.log(sigma) - n * (special.gammaln((nu + 1) / 2) - special.gammaln(nu / 2) - 0.5 * np.log(nu * np.pi))
    )


def garch(y, mu, omega, alpha, beta):
    T = len(y)
    e = y - mu
    h = np.zeros(T)
    h[0] = np.mean(e**2)
    for t in range(1, T):
        h[t] = omega + alpha * e[t - 1] ** 2 + beta * h[t - 1]
    return -0.5 * np.sum(np.log(2 * np.pi) + np.log(h) + e**2 / h)


def condlogit(X, y, beta):
    s = 0.0
    for i in range(X.shape[0]):
        u = X[i] @ beta
        s += u[y[i]] - np.log(np.sum(np.exp(u)))
    return s


norm_cdf = special.ndtr


def norm_pdf(x):
    return np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi)


def frontier(X, y, beta, sigma_u, sigma_v):
    sg = np.sqrt(sigma_u**2 + sigma_v**2)
    lam = sigma_u / sigma_v
    e = y - X @ beta
    return np.sum(np.log(2) - np.log(sg) + np.log(norm_pdf(e / sg)) + np.log(norm_cdf(-e * lam / sg)))


def sar(W, X, y, rho, beta, sigma):
    n = len(y)
    A = np.eye(n) - rho * W
    e = A @ y - X @ beta
    return -n / 2 * np.log(2 * np.pi * sigma**2) + np.log(abs(np.linalg.det(A))) - e @ e / (2 * sigma**2)


def tobit(X, y, beta, sigma):
    s = 0.0
    for i in range(len(y)):
        xb = X[i] @ beta
        if y[i] > 0:
            s += -np.log(sigma) + np.log(norm_pdf((y[i] - xb) / sigma))
        else:
            s += np.log(1 - norm_cdf(xb / sigma))
    return s


def isnmf(V, W, H, **k):
    V_ = W @ H
    s = 0.0
    for f in range(V.shape[0]):
        for t in range(V.shape[1]):
            x, y = (V[f, t], V_[f, t])
            s += x / y - np.log(x / y) - 1
    return s + k["lambda"] * np.sum(H)


def sumrate(H, V, alpha, sigma):
    K = H.shape[0]
    s = 0.0
    for k in range(K):
        itf = sum((H[k] @ V[j]) ** 2 for j in range(K) if j != k)
        s += alpha[k] * np.log2(1 + (H[k] @ V[k]) ** 2 / (itf + sigma**2))
    return s


def arpe(y, a):
    T, p = (len(y), len(a))
    s = 0.0
    for t in range(p + 1, T + 1):
        e = y[t - 1]
        for i in range(1, p + 1):
            e += a[i - 1] * y[t - i - 1]
        s += e**2
    return s / (T - p)


def tv(u, f, epsilon, **k):
    m, n = u.shape
    s = 0.0
    for i in range(m):
        for j in range(n):
            dx = u[i + 1, j] - u[i, j] if i < m - 1 else 0.0
            dy = u[i, j + 1] - u[i, j] if j < n - 1 else 0.0
            s += np.sqrt(dx**2 + dy**2 + epsilon**2)
    return 0.5 * np.sum((u - f) ** 2) + k["lambda"] * s


def pet(A, x, b, y, beta, delta):
    s = 0.0
    for i in range(len(y)):
        yb = A[i] @ x + b[i]
        s += yb - y[i] * np.log(yb)
    R = 0.0
    for j in range(1, len(x)):
        t = x[j] - x[j - 1]
        R += delta**2 * (np.sqrt(1 + (t / delta) ** 2) - 1)
    return s + beta * R


SECOND_1 = [
    Paragraph(
        "negative binomial (NB2) regression log-likelihood",
        r"""The counts $y_i$ follow a negative binomial distribution with mean $\mu_i$ and variance $\mu_i + \alpha\mu_i^2$.
With the usual log link the log-likelihood is
\begin{equation}
\ell(\boldsymbol\beta, \alpha) = \sum_{i=1}^{n} \Big\{ \log\Gamma(y_i + \alpha^{-1}) - \log\Gamma(\alpha^{-1}) -
\log\Gamma(y_i + 1) + y_i \log(\alpha\mu_i) - (y_i + \alpha^{-1}) \log(1 + \alpha\mu_i) \Big\},
\end{equation}
where $\mu_i = \exp(\mathbf{x}_i^\top \boldsymbol\beta)$.""",  # noqa: E501
        "X: matrix(n, d); y: vector(n) positive; beta: vector(d); alpha: scalar positive",
        "beta",
        negbin,
    ),
    Paragraph(
        "robust regression with Student-t errors",
        r"""We replace the Gaussian errors by $t_\nu$ errors with scale $\sigma$, so that the negative log-likelihood becomes
\[
-\ell(\beta,\sigma,\nu) = n\log\sigma - n \log
\frac{\Gamma\left(\frac{\nu+1}{2}\right)}{\sqrt{\nu\pi}\,\Gamma\left(\frac{\nu}{2}\right)} +
\frac{\nu+1}{2}\sum_{i=1}^n \log\left(1 + \frac{(y_i - x_i^{\mathsf T}\beta)^2}{\nu\sigma^2}\right).
\]""",  # noqa: E501
        "X: matrix(n, d); y: vector(n); beta: vector(d); sigma: scalar positive; nu: scalar positive",
        "sigma",
        tmix,
    ),
    Paragraph(
        "GARCH(1,1) quasi-likelihood",
        r"""Let $\varepsilon_t = y_t - \mu$. The conditional variance evolves as
\begin{align}
h_t &= \omega + \alpha \varepsilon_{t-1}^2 + \beta h_{t-1}, \qquad t = 2, \dots, T, \\
h_1 &= \frac{1}{T}\sum_{t=1}^{T} \varepsilon_t^2,
\end{align}
and the parameters are estimated by maximizing the Gaussian quasi log-likelihood
\begin{equation}
L_T(\mu,\omega,\alpha,\beta) = -\frac{1}{2}\sum_{t=1}^{T}\left( \log 2\pi + \log h_t + \frac{\varepsilon_t^2}{h_t}
\right).
\end{equation}""",
        "y: vector(T); mu: scalar; omega: scalar positive; alpha: scalar positive; beta: scalar positive",
        "alpha",
        garch,
    ),
    Paragraph(
        "McFadden conditional logit",
        r"""Individual $i$ chooses alternative $y_i \in \{1,\dots,J\}$. Under i.i.d. extreme value errors the choice
probabilities are
\begin{equation*}
P_{ij}(\beta) = \frac{\exp(x_{ij}'\beta)}{\sum_{l=1}^{J}\exp(x_{il}'\beta)},
\end{equation*}
where $x_{ij} \in \mathbb{R}^d$ are the attributes of alternative $j$ faced by individual $i$. The log-likelihood
function is therefore $\ln L(\beta) = \sum_{i=1}^n \ln P_{i y_i}(\beta)$.""",
        "X: tensor(n, J, d); y: index(n); beta: vector(d)",
        "beta",
        condlogit,
        ranges={"y": "J"},
    ),
    Paragraph(
        "stochastic frontier, normal/half-normal",
        r"""Following Aigner et al., the log-likelihood of the normal--half normal production frontier is
\[
\ln L(\beta,\sigma_u,\sigma_v) = \sum_{i=1}^{n} \left[ \ln 2 - \ln\sigma +
\ln\phi\!\left(\frac{\varepsilon_i}{\sigma}\right) + \ln\Phi\!\left(-\frac{\varepsilon_i\lambda}{\sigma}\right)
\right],
\]
where $\varepsilon_i = y_i - x_i'\beta$, $\sigma^2 = \sigma_u^2 + \sigma_v^2$, $\lambda = \sigma_u/\sigma_v$, and
$\phi(\cdot)$ and $\Phi(\cdot)$ denote the standard normal density and distribution functions.""",
        "X: matrix(n, d); y: vector(n); beta: vector(d); sigma_u: scalar positive; sigma_v: scalar positive",
        "sigma_u",
        frontier,
    ),
    Paragraph(
        "spatial autoregressive model",
        r"""For the SAR model $y = \rho W y + X\beta + \epsilon$ with $\epsilon \sim N(0, \sigma^2 I_n)$ the log-likelihood
reads
\begin{equation}
\ln L(\rho,\beta,\sigma^2) = -\frac{n}{2}\ln(2\pi\sigma^2) + \ln\left|\det(I_n - \rho W)\right| -
\frac{1}{2\sigma^2} e^\top e, \quad e = (I_n - \rho W)y - X\beta .
\end{equation}""",  # noqa: E501
        "W: matrix(n, n); X: matrix(n, d); y: vector(n); rho: scalar; beta: vector(d); sigma: scalar positive",
        "rho",
        sar,
    ),
    Paragraph(
        "Tobit",
        r"""The contribution of observation $i$ to the log-likelihood of the censored regression model is
$$
\ell_i(\beta,\sigma) = \begin{cases} -\ln\sigma + \ln\phi\left(\dfrac{y_i - x_i'\beta}{\sigma}\right), & y_i > 0,
\\[2ex] \ln\left[1 - \Phi\left(\dfrac{x_i'\beta}{\sigma}\right)\right], & y_i \le 0, \end{cases}
$$
with $\phi$ and $\Phi$ the density and the c.d.f.\ of the standard normal distribution, and $\ell(\beta,\sigma) =
\sum_{i=1}^n \ell_i(\beta,\sigma)$.""",
        "X: matrix(n, d); y: vector(n); beta: vector(d); sigma: scalar positive",
        "beta",
        tobit,
    ),
    Paragraph(
        "Itakura-Saito NMF of audio spectrograms",
        r"""We factorize the power spectrogram $\mathbf{V} \in \mathbb{R}_+^{m \times n}$ by minimizing
\begin{equation}
C(\mathbf{W},\mathbf{H}) = \sum_{f=1}^{m}\sum_{t=1}^{n} d_{IS}\left([\mathbf{V}]_{ft} \,\middle|\,
[\mathbf{W}\mathbf{H}]_{ft}\right) + \lambda \|\mathbf{H}\|_1,
\end{equation}
where $\|\mathbf{H}\|_1 = \sum_{k,t} |h_{kt}|$ and $d_{IS}(x|y)$ is the Itakura--Saito divergence
\begin{equation}
d_{IS}(x|y) = \frac{x}{y} - \log\frac{x}{y} - 1 .
\end{equation}""",
        "V: matrix(m, n) positive; W: matrix(m, r) positive; H: matrix(r, n) positive; lambda: scalar positive",
        "W",
        isnmf,
    ),
    Paragraph(
        "weighted sum-rate beamforming (real-valued channel)",
        r"""Let $\mathbf{h}_k \in \mathbb{R}^N$ and $\mathbf{v}_k \in \mathbb{R}^N$ be the channel and the beamformer of user
$k$, i.e.\ the $k$th rows of $\mathbf{H}$ and $\mathbf{V}$. The weighted sum rate is
\begin{align}
R(\mathbf{V}) &= \sum_{k=1}^{K} \alpha_k \log_2\left(1 + \mathrm{SINR}_k\right), \\
\mathrm{SINR}_k &= \frac{|\mathbf{h}_k^{T}\mathbf{v}_k|^2}{\sum_{j \neq k} |\mathbf{h}_k^{T}\mathbf{v}_j|^2 +
\sigma^2}.
\end{align}""",  # noqa: E501
        "H: matrix(K, N); V: matrix(K, N); alpha: vector(K) positive; sigma: scalar positive",
        "V",
        sumrate,
    ),
    Paragraph(
        "covariance method of linear prediction",
        r"""In the covariance method, the predictor coefficients $a_1,\dots,a_p$ minimize the mean forward prediction error
power $J(\mathbf a) = \frac{1}{T-p}\sum_{t=p+1}^{T} \Bigl( y_t + \sum_{i=1}^{p} a_i\, y_{t-i} \Bigr)^{2}$.""",  # noqa: E501
        "y: vector(T); a: vector(p)",
        "a",
        arpe,
    ),
    Paragraph(
        "smoothed isotropic ROF denoising",
        r"""Given a noisy image $f \in \mathbb{R}^{m\times n}$ we minimise the smoothed ROF functional
\begin{equation}
E_\epsilon(u) = \frac12 \|u - f\|_F^2 + \lambda \sum_{i=1}^{m}\sum_{j=1}^{n} \sqrt{ (\nabla_1 u)_{i,j}^2 + (\nabla_2
u)_{i,j}^2 + \epsilon^2 },
\end{equation}
with forward differences and Neumann boundary conditions,
\[
(\nabla_1 u)_{i,j} = \begin{cases} u_{i+1,j} - u_{i,j} & \text{if } i < m, \\ 0 & \text{if } i = m, \end{cases}
\qquad
(\nabla_2 u)_{i,j} = \begin{cases} u_{i,j+1} - u_{i,j} & \text{if } j < n, \\ 0 & \text{if } j = n. \end{cases}
\]""",
        "u: matrix(m, n); f: matrix(m, n); lambda: scalar positive; epsilon: scalar positive",
        "u",
        tv,
    ),
    Paragraph(
        "penalized-likelihood emission tomography",
        r"""PL image reconstruction seeks the minimizer of
$\Psi(\boldsymbol{x}) = \mathsf{L}(\boldsymbol{x}) + \beta\, \mathsf{R}(\boldsymbol{x})$, where the negative Poisson
log-likelihood (up to a constant) is
\begin{equation}
\mathsf{L}(\boldsymbol{x}) = \sum_{i=1}^{m} \bar{y}_i(\boldsymbol{x}) - y_i \log \bar{y}_i(\boldsymbol{x}), \qquad
\bar{y}_i(\boldsymbol{x}) = \sum_{j=1}^{n} a_{ij} x_j + b_i,
\end{equation}
and the roughness penalty is
\begin{equation}
\mathsf{R}(\boldsymbol{x}) = \sum_{j=2}^{n} \psi(x_j - x_{j-1}), \qquad \psi(t) = \delta^2\left[\sqrt{1 +
(t/\delta)^2} - 1\right].
\end{equation}""",
        "A: matrix(m, n) positive; x: vector(n) positive; b: vector(m) positive; y: vector(m) positive; beta: scalar positive; delta: scalar positive",  # noqa: E501
        "x",
        pet,
    ),
]
