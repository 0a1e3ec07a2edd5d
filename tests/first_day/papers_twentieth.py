r"""The twentieth set of passages, in the style of papers of different fields, each written blind."""

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


def pdf(t):
    return exp(-(t**2) / 2) / np.sqrt(2 * np.pi)


def zip_model(y, X, Z, beta, gamma):
    total = 0.0
    for i in range(len(y)):
        m, p = exp(X[i] @ beta), sig(Z[i] @ gamma)
        total += log(p + (1 - p) * exp(-m)) if y[i] == 0 else log(1 - p) - m + y[i] * log(m) - lgam(y[i] + 1)
    return total


def mixture(X, mu, Sigma, w):
    p, total = X.shape[1], 0.0
    for x in X:
        total += log(sum(
            w[k] * (2 * np.pi) ** (-p / 2) * np.linalg.det(Sigma) ** -0.5
            * exp(-0.5 * (x - mu[k]) @ inv(Sigma) @ (x - mu[k])) for k in range(len(w))))  # fmt: skip
    return total


def boxcox(y, X, lam):
    n, z = len(y), (y**lam - 1) / lam
    r = z - X @ inv(X.T @ X) @ X.T @ z
    return -n / 2 * log(r @ r / n) + (lam - 1) * np.sum(log(y))


def mcp(X, y, beta, lam, gamma):
    pen = [lam * abs(b) - b**2 / (2 * gamma) if abs(b) <= gamma * lam else gamma * lam**2 / 2 for b in beta]
    return np.sum((y - X @ beta) ** 2) / (2 * len(y)) + sum(pen)


def lscv(x, h):
    n = len(x)
    a = sum(np.exp(-((x[i] - x[j]) ** 2) / (4 * h**2)) / np.sqrt(4 * np.pi) for i in range(n) for j in range(n))
    b = sum(pdf((x[i] - x[j]) / h) for i in range(n) for j in range(n) if j != i)
    return a / (n**2 * h) - 2 * b / (n * (n - 1) * h)


def heckman(y, d, X, Z, beta, gamma, rho, sigma):
    total = 0.0
    for i in range(len(y)):
        r = (y[i] - X[i] @ beta) / sigma
        total += (1 - d[i]) * special.log_ndtr(-Z[i] @ gamma)
        total += d[i] * (special.log_ndtr((Z[i] @ gamma + rho * r) / np.sqrt(1 - rho**2)) - 0.5 * r**2 - log(sigma))
    return total


def latent_class(u, eta, p):
    total = 0.0
    for x in u:
        total += log(sum(eta[c] * np.prod(p[c] ** x * (1 - p[c]) ** (1 - x)) for c in range(len(eta))))
    return total


def stress(delta, W, X):
    n = len(X)
    return sum(W[i, j] * (delta[i, j] - norm(X[i] - X[j])) ** 2 for i in range(n) for j in range(i + 1, n))


TWENTIETH = [
    Passage(
        "gamma regression, twentieth",
        (
            r"For the gamma model with log link, $\mu_i = \exp(x_i^\top\beta)$, the deviance is $$D(\beta) = "
            r"2\sum_{i=1}^n \left\{ -\log\frac{y_i}{\mu_i} + \frac{y_i - \mu_i}{\mu_i} \right\}.$$"
        ),
        "X: matrix(n, p); y: vector(n) positive; beta: vector(p)",
        "beta",
        lambda X, y, beta: 2 * sum(-log(v / m) + (v - m) / m for v, m in zip(y, exp(X @ beta), strict=True)),
    ),
    Passage(
        "zero-inflated Poisson regression",
        (
            r"$$\ell(\beta, \gamma) = \sum_{i : y_i = 0} \log\left( \pi_i + (1 - \pi_i)e^{-\mu_i} \right) + "
            r"\sum_{i : y_i > 0} \left[ \log(1 - \pi_i) - \mu_i + y_i\log\mu_i - \log\Gamma(y_i + 1) \right]$$ "
            r"with $\log\mu_i = x_i^\top\beta$ and $\pi_i = \frac{1}{1 + \exp(-z_i^\top\gamma)}$."
        ),
        "y: vector(n) positive; X: matrix(n, p); Z: matrix(n, q); beta: vector(p); gamma: vector(q)",
        "gamma",
        zip_model,
    ),
    Passage(
        "quantile regression, twentieth",
        (
            r"$$\hat\beta(\tau) = \arg\min_{\beta \in \mathbb{R}^p} \sum_{i=1}^n \rho_\tau(y_i - x_i^\top\beta), "
            r"\qquad \rho_\tau(u) = u\left(\tau - \mathbf{1}(u < 0)\right)$$"
        ),
        "X: matrix(n, p); y: vector(n); beta: vector(p); tau: scalar",
        "beta",
        lambda X, y, beta, tau: sum(u * (tau - (u < 0)) for u in y - X @ beta),
        ("tau",),
    ),
    Passage(
        "Gaussian mixture",
        (
            r"\ell(\theta) = \sum_{i=1}^n \log \sum_{k=1}^K w_k (2\pi)^{-p/2} |\Sigma|^{-1/2} \exp\left( -\frac12 "
            r"(x_i - \mu_k)^\top \Sigma^{-1} (x_i - \mu_k) \right)"
        ),
        "X: matrix(n, p); mu: matrix(K, p); Sigma: matrix(p, p) spd; w: vector(K) positive",
        "mu",
        mixture,
    ),
    Passage(
        "von Mises regression",
        (
            r"$$\ell(\mu, \beta, \kappa) = \kappa \sum_{i=1}^n \cos\left\{ \theta_i - \mu - "
            r"2\arctan(x_i^\top\beta) \right\} - n\log I_0(\kappa) - n \log(2\pi),$$ where $I_0$ is the modified "
            "Bessel function of the first kind and order zero."
        ),
        "theta: vector(n); X: matrix(n, p); beta: vector(p); mu: scalar; kappa: scalar positive",
        "beta",
        lambda theta, X, beta, mu, kappa: (
            kappa * np.sum(np.cos(theta - mu - 2 * np.arctan(X @ beta)))
            - len(theta) * log(special.i0(kappa))
            - len(theta) * log(2 * np.pi)
        ),
    ),
    Passage(
        "Box-Cox transformation",
        (
            r"$$\ell(\lambda) = -\frac n2 \log \hat\sigma^2(\lambda) + (\lambda - 1)\sum_{i=1}^n \log y_i, \qquad "
            r"\hat\sigma^2(\lambda) = \frac1n z^\top (I - H) z,$$ where $H = X(X^\top X)^{-1}X^\top$ and $z_i = "
            r"\frac{y_i^\lambda - 1}{\lambda}$."
        ),
        "y: vector(n) positive; X: matrix(n, 2); lam: scalar positive",
        "lam",
        boxcox,
    ),
    Passage(
        "generalised cross-validation of ridge",
        (
            r"$$V(\lambda) = \frac{\frac1n \lVert (I - A(\lambda)) y \rVert^2}{\left[ \frac1n \operatorname{tr}(I "
            r"- A(\lambda)) \right]^2}, \qquad A(\lambda) = X (X^\top X + n\lambda I)^{-1} X^\top$$"
        ),
        "X: matrix(n, p); y: vector(n); lam: scalar positive",
        "lam",
        lambda X, y, lam: (lambda B: np.sum((B @ y) ** 2) / len(y) / (np.trace(B) / len(y)) ** 2)(
            np.eye(len(y)) - X @ inv(X.T @ X + len(y) * lam * np.eye(X.shape[1])) @ X.T
        ),
    ),
    Passage(
        "minimax concave penalty, twentieth",
        (
            r"$$\frac{1}{2n}\|y - X\beta\|_2^2 + \sum_{j=1}^p P(\beta_j), \qquad P(b) = \begin{cases} \lambda|b| "
            r"- \dfrac{b^2}{2\gamma}, & |b| \le \gamma\lambda, \\[4pt] \frac12\gamma\lambda^2, & |b| > "
            r"\gamma\lambda. \end{cases}$$"
        ),
        "X: matrix(n, p); y: vector(n); beta: vector(p); lam: scalar positive; gamma: scalar positive",
        "beta",
        mcp,
    ),
    Passage(
        "least-squares cross-validation of a bandwidth",
        (
            r"$$\mathrm{LSCV}(h) = \frac{1}{n^2 h} \sum_{i=1}^n \sum_{j=1}^n K^*\left(\frac{x_i - x_j}{h}\right) "
            r"- \frac{2}{n(n-1)h} \sum_{i=1}^n \sum_{j \ne i} K\left(\frac{x_i - x_j}{h}\right)$$ where $K(u) = "
            r"\frac{1}{\sqrt{2\pi}} e^{-u^2/2}$ and $K^*(u) = \frac{1}{\sqrt{4\pi}} e^{-u^2/4}$."
        ),
        "x: vector(n); h: scalar positive",
        "h",
        lscv,
    ),
    Passage(
        "sample selection model",
        (
            r"\begin{aligned} \ln L &= \sum_{i=1}^n (1 - d_i)\ln\Phi(-z_i'\gamma) + \sum_{i=1}^n d_i \left[ "
            r"\ln\Phi\left( \frac{z_i'\gamma + \rho\, u_i}{\sqrt{1 - \rho^2}} \right) - \frac12 u_i^2 - \ln\sigma "
            r"\right], \\ u_i &= (y_i - x_i'\beta)/\sigma, \end{aligned} where $\Phi$ is the standard normal cdf "
            "and $d_i$ indicates selection."
        ),
        (
            "y: vector(n); d: vector(n); X: matrix(n, k); Z: matrix(n, l); beta: vector(k); gamma: vector(l); "
            "rho: scalar; sigma: scalar positive"
        ),
        "gamma",
        heckman,
        ("d", "rho"),
    ),
    Passage(
        "CES production function",
        (
            r"\min_{A, \delta, \rho, \nu} \sum_{t=1}^T \left( \ln Y_t - \ln A + \frac{\nu}{\rho} \ln\left[ \delta "
            r"K_t^{-\rho} + (1 - \delta) L_t^{-\rho} \right] \right)^2"
        ),
        (
            "Y: vector(T) positive; K: vector(T) positive; L: vector(T) positive; A: scalar positive; delta: "
            "scalar; rho: scalar positive; nu: scalar positive"
        ),
        "rho",
        lambda Y, K, L, A, delta, rho, nu: np.sum(
            (log(Y) - log(A) + nu / rho * log(delta * K**-rho + (1 - delta) * L**-rho)) ** 2
        ),
        ("delta",),
    ),
    Passage(
        "synthetic control",
        (
            r"$$\hat w = \arg\min_{w} \sum_{t=1}^{T} \left( y_t - \sum_{j=1}^J w_j X_{tj} \right)^2 + \zeta^2 T "
            r"\norm{w}_2^2$$ where $X_{tj}$ is the outcome of control unit $j$ in period $t$."
        ),
        "y: vector(T); X: matrix(T, J); w: vector(J); zeta: scalar positive",
        "w",
        lambda y, X, w, zeta: sum((y[t] - X[t] @ w) ** 2 for t in range(len(y))) + zeta**2 * len(y) * w @ w,
    ),
    Passage(
        "excess relative risk of radiation",
        (
            r"$$\ell(\alpha, \beta, \theta) = \sum_{i=1}^n \left\{ c_i \log\lambda_i - m_i\lambda_i \right\}, "
            r"\qquad \lambda_i = e^{x_i^\top\alpha} \left( 1 + \beta d_i e^{\theta a_i} \right),$$ with cases "
            "$c_i$, person-years $m_i$, dose $d_i$ and age $a_i$."
        ),
        (
            "c: vector(n) positive; m: vector(n) positive; X: matrix(n, p); d: vector(n) positive; a: vector(n); "
            "alpha: vector(p); beta: scalar positive; theta: scalar"
        ),
        "theta",
        lambda c, m, X, d, a, alpha, beta, theta: sum(
            c[i] * log(exp(X[i] @ alpha) * (1 + beta * d[i] * exp(theta * a[i])))
            - m[i] * exp(X[i] @ alpha) * (1 + beta * d[i] * exp(theta * a[i]))
            for i in range(len(c))
        ),
    ),
    Passage(
        "catalytic model of seroprevalence",
        (
            r"$$\ell(\lambda, \rho) = \sum_{a=1}^A \left[ k_a\log\pi_a + (n_a - k_a)\log(1 - \pi_a) \right], "
            r"\qquad \pi_a = \frac{\lambda}{\lambda + \rho}\left( 1 - e^{-(\lambda + \rho) t_a} \right)$$"
        ),
        (
            "k: vector(A) positive; n: vector(A) positive; t: vector(A) positive; lam: scalar positive; rho: "
            "scalar positive"
        ),
        "lam",
        lambda k, n, t, lam, rho: sum(
            k[a] * log(lam / (lam + rho) * (1 - exp(-(lam + rho) * t[a])))
            + (n[a] - k[a]) * log(1 - lam / (lam + rho) * (1 - exp(-(lam + rho) * t[a])))
            for a in range(len(t))
        ),
    ),
    Passage(
        "mixture cure model",
        (
            r"$$\ell = \sum_{i=1}^n \delta_i \log\{\pi_i f(t_i)\} + (1 - \delta_i)\log\{1 - \pi_i + \pi_i "
            r"S(t_i)\},$$ where $S(t) = \exp(-\lambda t^\gamma)$, $f(t) = \lambda\gamma t^{\gamma - "
            r"1}\exp(-\lambda t^\gamma)$ and $\pi_i = \exp(z_i^\top b)/\{1 + \exp(z_i^\top b)\}$."
        ),
        (
            "t: vector(n) positive; delta: vector(n); Z: matrix(n, q); b: vector(q); lam: scalar positive; "
            "gamma: scalar positive"
        ),
        "b",
        lambda t, delta, Z, b, lam, gamma: np.sum(
            delta * log(sig(Z @ b) * lam * gamma * t ** (gamma - 1) * exp(-lam * t**gamma))
            + (1 - delta) * log(1 - sig(Z @ b) + sig(Z @ b) * exp(-lam * t**gamma))
        ),
        ("delta",),
    ),
    Passage(
        "shared gamma frailty",
        (
            r"\ell(\theta, \beta) = \sum_{i=1}^G \left[ d_i\log\theta + \log\Gamma\left(\tfrac1\theta + "
            r"d_i\right) - \log\Gamma\left(\tfrac1\theta\right) - \left(\tfrac1\theta + d_i\right) \log\left(1 + "
            r"\theta \sum_{j=1}^J H_{ij} e^{x_{ij}^\top\beta}\right) + \sum_{j=1}^J \delta_{ij} x_{ij}^\top\beta "
            r"\right], \quad d_i = \sum_{j=1}^J \delta_{ij}"
        ),
        ("H: matrix(G, J) positive; delta: matrix(G, J); x: tensor(G, J, p); beta: vector(p); theta: scalar positive"),
        "theta",
        lambda H, delta, x, beta, theta: sum(
            delta[i].sum() * log(theta)
            + lgam(1 / theta + delta[i].sum())
            - lgam(1 / theta)
            - (1 / theta + delta[i].sum()) * log(1 + theta * np.sum(H[i] * exp(x[i] @ beta)))
            + delta[i] @ (x[i] @ beta)
            for i in range(len(H))
        ),
        ("delta",),
    ),
    Passage(
        "piecewise exponential hazard",
        (
            r"\ell(\alpha, \beta) = \sum_{i=1}^n \sum_{k=1}^K \left[ d_{ik} \left( \alpha_k + x_i^\top\beta "
            r"\right) - e_{ik} \exp\left( \alpha_k + x_i^\top\beta \right) \right] - \frac{\tau}{2} \sum_{k=2}^K "
            r"(\alpha_k - \alpha_{k-1})^2"
        ),
        (
            "d: matrix(n, K); e: matrix(n, K) positive; X: matrix(n, p); alpha: vector(K); beta: vector(p); tau: "
            "scalar positive"
        ),
        "alpha",
        lambda d, e, X, alpha, beta, tau: (
            sum(
                d[i, k] * (alpha[k] + X[i] @ beta) - e[i, k] * exp(alpha[k] + X[i] @ beta)
                for i in range(len(X))
                for k in range(len(alpha))
            )
            - tau / 2 * np.sum(np.diff(alpha) ** 2)
        ),
        ("d",),
    ),
    Passage(
        "latent class analysis",
        (
            r"\ell(\eta, p) = \sum_{i=1}^n \log\left\{ \sum_{c=1}^C \eta_c \prod_{j=1}^J p_{cj}^{u_{ij}} (1 - "
            r"p_{cj})^{1 - u_{ij}} \right\}"
        ),
        "u: matrix(n, J); eta: vector(C) positive; p: matrix(C, J)",
        "p",
        latent_class,
        ("u", "p"),
    ),
    Passage(
        "multidimensional scaling",
        (
            r"\sigma(X) = \sum_{i<j} w_{ij} \left( \delta_{ij} - d_{ij}(X) \right)^2, \qquad d_{ij}(X) = "
            r"\norm{x_i - x_j}_2"
        ),
        "delta: matrix(n, n) symmetric; W: matrix(n, n) symmetric; X: matrix(n, r)",
        "X",
        stress,
    ),
]
