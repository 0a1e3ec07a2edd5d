r"""The twenty-second set of passages, in the style of papers of different fields, each written blind."""

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


def tukey(X, y, beta, c):
    total = 0.0
    for i in range(len(y)):
        r = y[i] - X[i] @ beta
        total += c**2 / 6 * (1 - (1 - (r / c) ** 2) ** 3) if abs(r) <= c else c**2 / 6
    return total


def dcov(X, Y):
    n = len(X)
    a = np.array([[norm(X[k] - X[m]) for m in range(n)] for k in range(n)])
    b = np.array([[norm(Y[k] - Y[m]) for m in range(n)] for k in range(n)])
    total = 0.0
    for k in range(n):
        for m in range(n):
            p = a[k, m] - a[k].mean() - a[:, m].mean() + a.mean()
            total += p * (b[k, m] - b[k].mean() - b[:, m].mean() + b.mean())
    return total / n**2


def euler_gmm(c, R, Z, W, beta, gamma):
    T = len(c)
    g = sum(Z[t] * (beta * (c[t + 1] / c[t]) ** -gamma * R[t + 1] - 1) for t in range(T - 1)) / (T - 1)
    return g @ W @ g


def mixed_logit(x, y, eta, b, L):
    total = 0.0
    for n in range(len(y)):
        s = 0.0
        for e in eta:
            v = x[n] @ (b + L @ e)
            s += exp(v[y[n]]) / np.sum(exp(v))
        total += log(s / len(eta))
    return total


def star(y, phi_0, phi_1, theta_0, theta_1, gamma, c):
    total = 0.0
    for t in range(1, len(y)):
        G = sig(gamma * (y[t - 1] - c))
        total += (y[t] - (phi_0 + phi_1 * y[t - 1]) * (1 - G) - (theta_0 + theta_1 * y[t - 1]) * G) ** 2
    return total


def age_groups(Y, C, s, v, beta, gamma):
    S, J, total = s, v, 0.0
    for y in Y:
        new = S * (1 - exp(-beta * C @ J))
        total += np.sum((y - new) ** 2)
        S, J = S - new, (1 - gamma) * J + new
    return total


def concordance(X, t, delta, beta, h):
    a = b = 0.0
    for i in range(len(t)):
        for j in range(len(t)):
            if i != j and t[i] < t[j]:
                a += delta[i] * sig((X[i] - X[j]) @ beta / h)
                b += delta[i]
    return a / b


def three_pl(u, x, w, a, b, c):
    total = 0.0
    for row in u:
        s = 0.0
        for q in range(len(x)):
            P = c + (1 - c) / (1 + exp(-1.7 * a * (x[q] - b)))
            s += w[q] * np.prod(P**row * (1 - P) ** (1 - row))
        total += log(s)
    return total


def varimax(Lambda, R):
    B = Lambda @ R
    return sum(np.mean(B[:, k] ** 4) - np.mean(B[:, k] ** 2) ** 2 for k in range(B.shape[1]))


def lotka_volterra(x, r, A, lam):
    total = lam * abs(A).sum()
    for t in range(x.shape[1] - 1):
        for i in range(len(r)):
            total += (log(x[i, t + 1]) - log(x[i, t]) - r[i] - sum(A[i, j] * x[j, t] for j in range(len(r)))) ** 2
    return total


TWENTY_SECOND = [
    Passage(
        "Tweedie deviance, twenty_second",
        (
            r"$$D(\beta) = 2\sum_{i=1}^n \left\{ \frac{y_i^{2-p}}{(1-p)(2-p)} - \frac{y_i\mu_i^{1-p}}{1-p} + "
            r"\frac{\mu_i^{2-p}}{2-p} \right\}, \qquad \mu_i = \exp(x_i^\top\beta)$$"
        ),
        "X: matrix(n, k); y: vector(n) positive; beta: vector(k); p: scalar positive",
        "beta",
        lambda X, y, beta, p: (
            2
            * np.sum(
                y ** (2 - p) / ((1 - p) * (2 - p))
                - y * exp(X @ beta) ** (1 - p) / (1 - p)
                + exp(X @ beta) ** (2 - p) / (2 - p)
            )
        ),
    ),
    Passage(
        "Tukey's biweight",
        (
            r"$$\hat\beta = \arg\min_\beta \sum_{i=1}^n \rho_c(y_i - x_i^\top\beta), \qquad \rho_c(r) = "
            r"\begin{cases} \frac{c^2}{6}\left( 1 - \left[ 1 - (r/c)^2 \right]^3 \right) & |r| \le c \\ "
            r"\frac{c^2}{6} & |r| > c \end{cases}$$"
        ),
        "X: matrix(n, p); y: vector(n); beta: vector(p); c: scalar positive",
        "beta",
        tukey,
    ),
    Passage(
        "canonical correlation, twenty_second",
        (
            r"\max_{a, b} \; \rho(a, b) = \frac{a^\top \Sigma_{xy} b}{\sqrt{a^\top \Sigma_{xx} a}\,\sqrt{b^\top "
            r"\Sigma_{yy} b}}"
        ),
        ("a: vector(p); b: vector(q); Sigma_xy: matrix(p, q); Sigma_xx: matrix(p, p) spd; Sigma_yy: matrix(q, q) spd"),
        "a",
        lambda a, b, Sigma_xy, Sigma_xx, Sigma_yy: (
            a @ Sigma_xy @ b / np.sqrt(a @ Sigma_xx @ a) / np.sqrt(b @ Sigma_yy @ b)
        ),
    ),
    Passage(
        "Clayton copula",
        (
            r"\ell(\theta) = \sum_{i=1}^n \left[ \log(1 + \theta) - (1 + \theta)(\log u_i + \log v_i) - \left( 2 "
            r"+ \frac1\theta \right) \log\left( u_i^{-\theta} + v_i^{-\theta} - 1 \right) \right]"
        ),
        "u: vector(n); v: vector(n); theta: scalar positive",
        "theta",
        lambda u, v, theta: np.sum(
            log(1 + theta) - (1 + theta) * (log(u) + log(v)) - (2 + 1 / theta) * log(u**-theta + v**-theta - 1)
        ),
        ("u", "v"),
    ),
    Passage(
        "distance covariance",
        (
            r"$$\mathcal{V}_n^2(X, Y) = \frac{1}{n^2} \sum_{k=1}^n \sum_{l=1}^n A_{kl} B_{kl},$$ where $A_{kl} = "
            r"a_{kl} - \bar a_{k\cdot} - \bar a_{\cdot l} + \bar a_{\cdot\cdot}$, $a_{kl} = \|x_k - x_l\|$, $\bar "
            r"a_{k\cdot} = \frac1n \sum_{l=1}^n a_{kl}$, $\bar a_{\cdot l} = \frac1n \sum_{k=1}^n a_{kl}$, $\bar "
            r"a_{\cdot\cdot} = \frac{1}{n^2} \sum_{k,l=1}^n a_{kl}$, and similarly $B_{kl} = b_{kl} - \bar "
            r"b_{k\cdot} - \bar b_{\cdot l} + \bar b_{\cdot\cdot}$ with $b_{kl} = \|y_k - y_l\|$, $\bar "
            r"b_{k\cdot} = \frac1n \sum_{l=1}^n b_{kl}$, $\bar b_{\cdot l} = \frac1n \sum_{k=1}^n b_{kl}$ and "
            r"$\bar b_{\cdot\cdot} = \frac{1}{n^2} \sum_{k,l=1}^n b_{kl}$."
        ),
        "X: matrix(n, p); Y: matrix(n, q)",
        "X",
        dcov,
    ),
    Passage(
        "consumption Euler equation",
        (
            r"$$J_T(\beta, \gamma) = g_T^\top W g_T, \qquad g_T = \frac{1}{T-1} \sum_{t=1}^{T-1} z_t \left[ \beta "
            r"\left( \frac{c_{t+1}}{c_t} \right)^{-\gamma} R_{t+1} - 1 \right]$$"
        ),
        (
            "c: vector(T) positive; R: vector(T) positive; Z: matrix(T, l); W: matrix(l, l) spd; beta: scalar; "
            "gamma: scalar positive"
        ),
        "gamma",
        euler_gmm,
        ("beta",),
    ),
    Passage(
        "mixed logit by simulation",
        (
            r"$$\mathrm{SLL}(b, L) = \sum_{n=1}^N \ln\left\{ \frac1R \sum_{r=1}^R \frac{\exp(x_{n "
            r"y_n}'\beta_r)}{\sum_{j=1}^J \exp(x_{nj}'\beta_r)} \right\}, \qquad \beta_r = b + L\eta_r,$$ where "
            r"$\eta_r$ are draws from the standard normal distribution."
        ),
        "x: tensor(N, J, k); y: index(N); eta: matrix(R, k); b: vector(k); L: matrix(k, k)",
        "L",
        mixed_logit,
    ),
    Passage(
        "interactive fixed effects",
        (
            r"\mathrm{SSR}(\beta, F, \Lambda) = \sum_{i=1}^N \sum_{t=1}^T \left( y_{it} - x_{it}'\beta - "
            r"\lambda_i' f_t \right)^2"
        ),
        "y: matrix(N, T); x: tensor(N, T, p); beta: vector(p); Lambda: matrix(N, r); F: matrix(T, r)",
        "F",
        lambda y, x, beta, Lambda, F: sum(
            (y[i, t] - x[i, t] @ beta - Lambda[i] @ F[t]) ** 2 for i in range(y.shape[0]) for t in range(y.shape[1])
        ),
    ),
    Passage(
        "limited information maximum likelihood",
        (
            r"$$\hat\beta_{\mathrm{LIML}} = \arg\min_\beta \frac{(y - X\beta)^\top (y - X\beta)}{(y - "
            r"X\beta)^\top M_Z (y - X\beta)}, \qquad M_Z = I_n - Z(Z^\top Z)^{-1} Z^\top$$"
        ),
        "y: vector(n); X: matrix(n, k); Z: matrix(n, 2); beta: vector(k)",
        "beta",
        lambda y, X, Z, beta: (
            (y - X @ beta)
            @ (y - X @ beta)
            / ((y - X @ beta) @ (np.eye(len(y)) - Z @ inv(Z.T @ Z) @ Z.T) @ (y - X @ beta))
        ),
    ),
    Passage(
        "smooth transition autoregression",
        (
            r"$$Q = \sum_{t=2}^T \left\{ y_t - (\phi_0 + \phi_1 y_{t-1})\left[1 - G(y_{t-1})\right] - (\theta_0 + "
            r"\theta_1 y_{t-1})\, G(y_{t-1}) \right\}^2$$ with the transition function $G(s) = \left(1 + "
            r"\exp\{-\gamma(s - c)\}\right)^{-1}$."
        ),
        (
            "y: vector(T); phi_0: scalar; phi_1: scalar; theta_0: scalar; theta_1: scalar; gamma: scalar "
            "positive; c: scalar"
        ),
        "gamma",
        star,
    ),
    Passage(
        "epidemic with age groups",
        (
            r"$$\mathcal{L}(\beta, \gamma) = \sum_{t=1}^T \left\lVert \mathbf{y}_t - \mathbf{S}_t \odot "
            r"\mathbf{p}_t \right\rVert_2^2$$ where \begin{align} \mathbf{p}_t &= \mathbf{1} - "
            r"\exp(-\beta\,\mathbf{C}\,\mathbf{I}_t), \\ \mathbf{S}_{t+1} &= \mathbf{S}_t - \mathbf{S}_t \odot "
            r"\mathbf{p}_t, \\ \mathbf{I}_{t+1} &= (1 - \gamma)\,\mathbf{I}_t + \mathbf{S}_t \odot \mathbf{p}_t, "
            r"\end{align} with $\mathbf{S}_1 = \mathbf{s}$, $\mathbf{I}_1 = \mathbf{v}$ and the contact matrix "
            r"$\mathbf{C}$."
        ),
        (
            "Y: matrix(T, A); C: matrix(A, A) positive; s: vector(A) positive; v: vector(A) positive; beta: "
            "scalar positive; gamma: scalar"
        ),
        "beta",
        age_groups,
        ("s", "v", "beta", "gamma"),
    ),
    Passage(
        "beta-binomial prevalence",
        (
            r"$$\ell(\alpha, \beta) = \sum_{i=1}^k \left[ \log B(s_i + \alpha, f_i + \beta) - \log B(\alpha, "
            r"\beta) \right], \qquad B(a, b) = \frac{\Gamma(a)\Gamma(b)}{\Gamma(a + b)}$$"
        ),
        "s: vector(k) positive; f: vector(k) positive; alpha: scalar positive; beta: scalar positive",
        "alpha",
        lambda s, f, alpha, beta: np.sum(special.betaln(s + alpha, f + beta) - special.betaln(alpha, beta)),
    ),
    Passage(
        "subdistribution hazards",
        (
            r"$$\ell(\beta) = \sum_{i=1}^n d_i \left[ \beta^\top x_i - \log\left\{ \sum_{j=1}^n w_{ij} "
            r"\exp(\beta^\top x_j) \right\} \right]$$ where $w_{ij}$ is the weight of subject $j$ at the event "
            "time of subject $i$."
        ),
        "X: matrix(n, p); d: vector(n); W: matrix(n, n) positive; beta: vector(p)",
        "beta",
        lambda X, d, W, beta: sum(
            d[i] * (beta @ X[i] - log(sum(W[i, j] * exp(beta @ X[j]) for j in range(len(d))))) for i in range(len(d))
        ),
        ("d",),
    ),
    Passage(
        "left-truncated Gompertz model",
        (
            r"\ell(a, b, \beta) = \sum_{i=1}^n \left\{ \delta_i \left( \log a + b t_i + x_i^\top\beta \right) - "
            r"\frac{a}{b} e^{x_i^\top\beta} \left( e^{b t_i} - e^{b s_i} \right) \right\}"
        ),
        (
            "X: matrix(n, p); t: vector(n) positive; s: vector(n) positive; delta: vector(n); a: scalar "
            "positive; b: scalar positive; beta: vector(p)"
        ),
        "b",
        lambda X, t, s, delta, a, b, beta: np.sum(
            delta * (log(a) + b * t + X @ beta) - a / b * exp(X @ beta) * (exp(b * t) - exp(b * s))
        ),
        ("delta",),
    ),
    Passage(
        "smoothed concordance index",
        (
            r"$$\hat C_h(\beta) = \frac{\sum_{i \ne j} \delta_i \mathbf{1}(t_i < t_j)\, \sigma\left( (x_i - "
            r"x_j)^\top\beta / h \right)} {\sum_{i \ne j} \delta_i \mathbf{1}(t_i < t_j)}, \qquad \sigma(u) = "
            r"\frac{1}{1 + e^{-u}}$$"
        ),
        "X: matrix(n, p); t: vector(n) positive; delta: vector(n); beta: vector(p); h: scalar positive",
        "beta",
        concordance,
        ("delta",),
    ),
    Passage(
        "marginal likelihood of the 3PL model",
        (
            r"$$\ell = \sum_{i=1}^N \log \sum_{q=1}^Q w_q \prod_{j=1}^J P_j(x_q)^{u_{ij}} \left[ 1 - P_j(x_q) "
            r"\right]^{1 - u_{ij}}, \qquad P_j(\theta) = c_j + \frac{1 - c_j}{1 + \exp\{-1.7 a_j(\theta - "
            r"b_j)\}},$$ with quadrature nodes $x_q$ and weights $w_q$."
        ),
        ("u: matrix(N, J); x: vector(Q); w: vector(Q) positive; a: vector(J) positive; b: vector(J); c: vector(J)"),
        "c",
        three_pl,
        ("u", "c"),
    ),
    Passage(
        "varimax rotation",
        (
            r"$$V(R) = \sum_{k=1}^m \left[ \frac1p \sum_{j=1}^p b_{jk}^4 - \left( \frac1p \sum_{j=1}^p b_{jk}^2 "
            r"\right)^2 \right], \qquad B = \Lambda R$$"
        ),
        "Lambda: matrix(p, m); R: matrix(m, m)",
        "R",
        varimax,
    ),
    Passage(
        "generalised Lotka-Volterra regression",
        (
            r"\min_{r, A} \sum_{t=1}^{T-1} \sum_{i=1}^S \left( \log x_{i,t+1} - \log x_{i,t} - r_i - \sum_{j=1}^S "
            r"a_{ij} x_{j,t} \right)^2 + \lambda \sum_{i,j} |a_{ij}|"
        ),
        "x: matrix(S, T) positive; r: vector(S); A: matrix(S, S); lam: scalar positive",
        "A",
        lotka_volterra,
    ),
    Passage(
        "animal model",
        (
            r"\log p(\mathbf{y}, \mathbf{u}) = -\frac{1}{2\sigma_e^2} \norm{\mathbf{y} - \mathbf{X}\mathbf{b} - "
            r"\mathbf{Z}\mathbf{u}}^2 - \frac{n}{2}\log\sigma_e^2 - \frac{1}{2\sigma_a^2} \mathbf{u}^\top "
            r"\mathbf{A}^{-1} \mathbf{u} - \frac{q}{2}\log\sigma_a^2 - \frac12 \log|\mathbf{A}|"
        ),
        (
            "y: vector(n); X: matrix(n, p); Z: matrix(n, q); A: matrix(q, q) spd; b: vector(p); u: vector(q); "
            "sigma_e: scalar positive; sigma_a: scalar positive"
        ),
        "u",
        lambda y, X, Z, A, b, u, sigma_e, sigma_a: (
            -np.sum((y - X @ b - Z @ u) ** 2) / (2 * sigma_e**2)
            - len(y) / 2 * log(sigma_e**2)
            - u @ inv(A) @ u / (2 * sigma_a**2)
            - len(u) / 2 * log(sigma_a**2)
            - logdet(A) / 2
        ),
    ),
]
