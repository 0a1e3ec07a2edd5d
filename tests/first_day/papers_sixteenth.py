r"""The sixteenth set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


def conditional_logit(Y, C, X, alpha, beta, G):
    total = 0.0
    N, J = Y.shape
    for n in range(N):
        V = np.array([alpha[j] + beta * C[n, j] + G[j] @ X[n] for j in range(J)])
        P = np.exp(V) / np.exp(V).sum()
        total += sum(Y[n, j] * np.log(P[j]) for j in range(J))
    return total


def beta_regression(X, y, beta, phi):
    total = 0.0
    for i in range(len(y)):
        mu = sigmoid(X[i] @ beta)
        total += special.gammaln(phi) - special.gammaln(mu * phi) - special.gammaln((1 - mu) * phi)
        total += (mu * phi - 1) * np.log(y[i]) + ((1 - mu) * phi - 1) * np.log(1 - y[i])
    return total


def lstm(x, h, c, W_i, U_i, b_i, W_f, U_f, b_f, W_o, U_o, b_o, W_c, U_c, b_c):
    i = sigmoid(W_i @ x + U_i @ h + b_i)
    f = sigmoid(W_f @ x + U_f @ h + b_f)
    o = sigmoid(W_o @ x + U_o @ h + b_o)
    g = np.tanh(W_c @ x + U_c @ h + b_c)
    return o * np.tanh(f * c + i * g)


def linear_attention(Q, K, V, Y):
    def phi(x):
        return np.where(x > 0, x, np.expm1(np.minimum(x, 0))) + 1

    total = 0.0
    for i in range(len(Q)):
        num = np.zeros(V.shape[1])
        den = 0.0
        for j in range(len(K)):
            a = phi(Q[i]) @ phi(K[j])
            num += a * V[j]
            den += a
        total += 0.5 * np.sum((num / den - Y[i]) ** 2)
    return total


def radial_flow(z, z_0, alpha, beta):
    d = len(z)
    r = np.linalg.norm(z - z_0)
    h = 1 / (alpha + r)
    dh = -1 / (alpha + r) ** 2
    return (d - 1) * np.log(1 + beta * h) + np.log(1 + beta * h + beta * dh * r)


def barlow(U, V, lam):
    d = U.shape[1]
    total = 0.0
    for i in range(d):
        for j in range(d):
            c = np.sum(U[:, i] * V[:, j]) / (np.sqrt(np.sum(U[:, i] ** 2)) * np.sqrt(np.sum(V[:, j] ** 2)))
            total += (1 - c) ** 2 if i == j else lam * c**2
    return total


def a2c(S, Y, A, R, Theta, w, c_1, c_2):
    T = len(S)
    total = 0.0
    for t in range(T):
        p = special.softmax(Theta @ S[t])
        total -= A[t] * sum(Y[t] * np.log(p))
        total += c_1 * (R[t] - w @ S[t]) ** 2
        total += c_2 * sum(p * np.log(p))
    return total / T


def implicit_als(R, P, X, Y, alpha, lam):
    total = 0.0
    for u in range(len(X)):
        for i in range(len(Y)):
            total += (1 + alpha * R[u, i]) * (P[u, i] - X[u] @ Y[i]) ** 2
    return total + lam * (np.sum(X**2) + np.sum(Y**2))


def sgpr(K_nn, K_nm, K_mm, y, sigma):
    n = len(y)
    Q = K_nm @ np.linalg.inv(K_mm) @ K_nm.T
    C = Q + sigma**2 * np.eye(n)
    return (
        -n / 2 * np.log(2 * np.pi)
        - 0.5 * np.linalg.slogdet(C)[1]
        - 0.5 * y @ np.linalg.solve(C, y)
        - np.trace(K_nn - Q) / (2 * sigma**2)
    )


def mixture_of_regressions(X, y, B, sigma, pi):
    total = 0.0
    for i in range(len(y)):
        p = 0.0
        for k in range(len(pi)):
            p += pi[k] / np.sqrt(2 * np.pi * sigma[k] ** 2) * np.exp(-((y[i] - X[i] @ B[k]) ** 2) / (2 * sigma[k] ** 2))
        total += np.log(p)
    return total


def lds(X, Y, A, C, Q, R):
    T = len(X)
    total = -(T - 1) / 2 * np.log(np.linalg.det(Q)) - T / 2 * np.log(np.linalg.det(R))
    for t in range(1, T):
        e = X[t] - A @ X[t - 1]
        total -= 0.5 * e @ np.linalg.inv(Q) @ e
    for t in range(T):
        e = Y[t] - C @ X[t]
        total -= 0.5 * e @ np.linalg.inv(R) @ e
    return total


def cox_breslow(X, t, delta, beta):
    total = 0.0
    for i in range(len(t)):
        risk = sum(np.exp(X[j] @ beta) for j in range(len(t)) if t[j] >= t[i])
        total += delta[i] * (X[i] @ beta - np.log(risk))
    return total


def cfa(S, Lambda, Phi, psi):
    Sigma = Lambda @ Phi @ Lambda.T + np.diag(psi)
    return np.log(np.linalg.det(Sigma)) + np.trace(S @ np.linalg.inv(Sigma)) - np.log(np.linalg.det(S)) - len(S)


def frontier(X, y, beta, sigma, lam):
    total = 0.0
    for i in range(len(y)):
        e = y[i] - X[i] @ beta
        total += 0.5 * np.log(2 / np.pi) - np.log(sigma) + special.log_ndtr(-e * lam / sigma) - e**2 / (2 * sigma**2)
    return total


def cvar(R, w, alpha, beta):
    T = len(R)
    return alpha + sum(max(0.0, -R[t] @ w - alpha) for t in range(T)) / ((1 - beta) * T)


def mpc(Phi, Gamma, x_0, u, r, Q, R):
    e = Phi @ x_0 + Gamma @ u - r
    return e @ Q @ e + u @ R @ u


def joseph(K, H, P, R):
    F = np.eye(len(P)) - K @ H
    return np.trace(F @ P @ F.T + K @ R @ K.T)


SIXTEENTH = [
    Passage(
        "probit regression",
        r"""\[
        \ell(\beta) = \sum_{i=1}^{n} \left[ y_i \log \Phi(x_i'\beta) + (1 - y_i) \log\left(1 - \Phi(x_i'\beta)\right)
        \right],
        \]
        where $\Phi$ denotes the cumulative distribution function of the standard normal distribution.""",
        "X: matrix(n, p); y: vector(n); beta: vector(p)",
        "beta",
        lambda X, y, beta: np.sum(y * special.log_ndtr(X @ beta) + (1 - y) * special.log_ndtr(-X @ beta)),
        ("y",),
    ),
    Passage(
        "conditional logit of a choice",
        r"""\mathcal{LL} = \sum_{n=1}^{N} \sum_{j=1}^{J} y_{nj} \ln P_{nj}, \qquad
        P_{nj} = \frac{e^{V_{nj}}}{\sum_{k=1}^{J} e^{V_{nk}}}, \qquad
        V_{nj} = \alpha_j + \beta c_{nj} + g_j^\top x_n""",
        "Y: matrix(N, J); C: matrix(N, J); X: matrix(N, p); alpha: vector(J); beta: scalar; G: matrix(J, p)",
        "beta",
        conditional_logit,
    ),
    Passage(
        "beta regression, another one",
        r"""\begin{equation}
        \ell(\beta, \phi) = \sum_{i=1}^{n} \Big\{ \log\Gamma(\phi) - \log\Gamma(\mu_i\phi)
        - \log\Gamma((1-\mu_i)\phi) + (\mu_i\phi - 1)\log y_i + \{(1-\mu_i)\phi - 1\}\log(1 - y_i) \Big\},
        \end{equation}
        with $\operatorname{logit}(\mu_i) = x_i^\top\beta$.""",
        "X: matrix(n, p); y: vector(n) positive; beta: vector(p); phi: scalar positive",
        "beta",
        beta_regression,
        ("y",),
    ),
    Passage(
        "long short-term memory cell",
        r"""\begin{aligned}
        i &= \sigma(W_i x + U_i h + b_i), & f &= \sigma(W_f x + U_f h + b_f), \\
        o &= \sigma(W_o x + U_o h + b_o), & g &= \tanh(W_c x + U_c h + b_c), \\
        c_{\mathrm{new}} &= f \odot c + i \odot g, & h_{\mathrm{new}} &= o \odot \tanh(c_{\mathrm{new}})
        \end{aligned}""",
        "x: vector(d); h: vector(k); c: vector(k); W_i: matrix(k, d); U_i: matrix(k, k); b_i: vector(k); "
        "W_f: matrix(k, d); U_f: matrix(k, k); b_f: vector(k); W_o: matrix(k, d); U_o: matrix(k, k); b_o: vector(k); "
        "W_c: matrix(k, d); U_c: matrix(k, k); b_c: vector(k)",
        "c",
        lstm,
    ),
    Passage(
        "linear attention, another one",
        r"""\mathcal{L} = \frac12 \sum_{i=1}^{n} \lVert o_i - y_i \rVert^2, \qquad
        o_i = \frac{\sum_{j=1}^{n} \phi(q_i)^\top \phi(k_j)\, v_j}{\sum_{j=1}^{n} \phi(q_i)^\top \phi(k_j)},
        where $\phi(x) = \mathrm{elu}(x) + 1$ is applied elementwise.""",
        "Q: matrix(n, d); K: matrix(n, d); V: matrix(n, m); Y: matrix(n, m)",
        "K",
        linear_attention,
    ),
    Passage(
        "radial flow",
        r"""\log \left| \det \frac{\partial f}{\partial z} \right| = (d - 1) \log\left(1 + \beta h(\alpha, r)\right)
        + \log\left(1 + \beta h(\alpha, r) + \beta h'(\alpha, r)\, r\right),
        where $r = \|z - z_0\|$, $h(\alpha, r) = \frac{1}{\alpha + r}$ and $h'(\alpha, r) = -\frac{1}{(\alpha +
        r)^2}$.""",
        "z: vector(d); z_0: vector(d); alpha: scalar positive; beta: scalar positive",
        "z",
        radial_flow,
    ),
    Passage(
        "Barlow twins, another one",
        r"""\mathcal{L}_{\mathrm{BT}} = \sum_{i} (1 - \mathcal{C}_{ii})^2
        + \lambda \sum_{i} \sum_{j \neq i} \mathcal{C}_{ij}^2, \qquad
        \mathcal{C}_{ij} = \frac{\sum_{b} u_{bi} v_{bj}}{\sqrt{\sum_b u_{bi}^2} \sqrt{\sum_b v_{bj}^2}}""",
        "U: matrix(n, d); V: matrix(n, d); lam: scalar positive",
        "U",
        barlow,
    ),
    Passage(
        "advantage actor-critic",
        r"""\mathcal{L} = \frac{1}{T} \sum_{t=1}^{T} \left[ -A_t \sum_{k=1}^{K} y_{tk} \log \pi_{tk}
        + c_1 (R_t - w^\top s_t)^2 + c_2 \sum_{k=1}^{K} \pi_{tk} \log \pi_{tk} \right], \quad
        \pi_t = \operatorname{softmax}(\Theta s_t),
        where $y_{tk} = 1$ if action $k$ was taken at time $t$ and zero otherwise.""",
        "S: matrix(T, d); Y: matrix(T, K); A: vector(T); R: vector(T); Theta: matrix(K, d); w: vector(d); "
        "c_1: scalar positive; c_2: scalar positive",
        "Theta",
        a2c,
    ),
    Passage(
        "implicit feedback",
        r"""\min_{x_*, y_*} \; \sum_{u,i} c_{ui} \left( p_{ui} - x_u^T y_i \right)^2
        + \lambda \left( \sum_u \|x_u\|^2 + \sum_i \|y_i\|^2 \right), \quad \text{where } c_{ui} = 1 + \alpha r_{ui}""",
        "R: matrix(m, n) positive; P: matrix(m, n); X: matrix(m, k); Y: matrix(n, k); alpha: scalar positive; "
        "lam: scalar positive",
        "X",
        implicit_als,
    ),
    Passage(
        "variational sparse Gaussian process",
        r"""\mathcal{F} = -\frac{n}{2}\log 2\pi - \frac12 \log\left|Q_{nn} + \sigma^2 I\right|
        - \frac12 \mathbf{y}^\top (Q_{nn} + \sigma^2 I)^{-1} \mathbf{y}
        - \frac{1}{2\sigma^2} \mathrm{tr}(K_{nn} - Q_{nn}),
        \quad \text{where } Q_{nn} = K_{nm} K_{mm}^{-1} K_{nm}^\top""",
        "K_nn: matrix(n, n) spd; K_nm: matrix(n, m); K_mm: matrix(m, m) spd; y: vector(n); sigma: scalar positive",
        "sigma",
        sgpr,
    ),
    Passage(
        "mixture of linear regressions",
        r"""\ell(w, \beta, \sigma) = \sum_{i=1}^{n} \log \left\{ \sum_{k=1}^{K} w_k
        \frac{1}{\sqrt{2\pi\sigma_k^2}} \exp\left( -\frac{(y_i - x_i^\top\beta_k)^2}{2\sigma_k^2} \right) \right\}""",
        "X: matrix(n, p); y: vector(n); beta: matrix(K, p); sigma: vector(K) positive; w: vector(K) positive",
        "beta",
        lambda X, y, beta, sigma, w: mixture_of_regressions(X, y, beta, sigma, w),
    ),
    Passage(
        "linear dynamical system, complete-data likelihood",
        r"""\begin{align*}
        \log p(X, Y) = &-\frac12 \sum_{t=2}^{T} (x_t - A x_{t-1})^\top Q^{-1} (x_t - A x_{t-1})
        - \frac{T-1}{2} \log|Q| \\
        &- \frac12 \sum_{t=1}^{T} (y_t - C x_t)^\top R^{-1} (y_t - C x_t) - \frac{T}{2} \log|R|
        \end{align*}""",
        "X: matrix(T, n); Y: matrix(T, m); A: matrix(n, n); C: matrix(m, n); Q: matrix(n, n) spd; R: matrix(m, m) spd",
        "A",
        lds,
    ),
    Passage(
        "Cox model with censoring and risk sets",
        r"""\ell(\beta) = \sum_{i=1}^{n} \delta_i \left[ x_i^\top\beta
        - \log\left( \sum_{j : t_j \geq t_i} \exp(x_j^\top\beta) \right) \right]""",
        "X: matrix(n, p); t: vector(n) positive; delta: vector(n); beta: vector(p)",
        "beta",
        cox_breslow,
        ("delta",),
    ),
    Passage(
        "confirmatory factor analysis",
        r"""F_{\mathrm{ML}}(\theta) = \log|\Sigma(\theta)| + \operatorname{tr}\left( S \Sigma(\theta)^{-1} \right)
        - \log|S| - p, \qquad \Sigma(\theta) = \Lambda \Phi \Lambda^\top + \operatorname{diag}(\psi)""",
        "S: matrix(p, p) spd; Lambda: matrix(p, k); Phi: matrix(k, k) spd; psi: vector(p) positive",
        "Lambda",
        cfa,
    ),
    Passage(
        "stochastic frontier",
        r"""\ln L = \sum_{i=1}^{n} \left[ \frac{1}{2} \ln\frac{2}{\pi} - \ln\sigma
        + \ln\Phi\left( -\frac{\epsilon_i \lambda}{\sigma} \right) - \frac{\epsilon_i^2}{2\sigma^2} \right],
        where $\epsilon_i = y_i - x_i^\top\beta$ and $\Phi(\cdot)$ is the standard normal distribution function.""",
        "X: matrix(n, p); y: vector(n); beta: vector(p); sigma: scalar positive; lam: scalar positive",
        "beta",
        frontier,
    ),
    Passage(
        "conditional value at risk, another one",
        r"""\min_{w, \alpha} \; \alpha + \frac{1}{(1 - \beta) T} \sum_{t=1}^{T}
        \left[ -r_t^\top w - \alpha \right]^+, \quad \text{where } [z]^+ = \max\{z, 0\}""",
        "R: matrix(T, n); w: vector(n); alpha: scalar; beta: scalar positive",
        "w",
        cvar,
        ("beta",),
    ),
    Passage(
        "model predictive control, condensed",
        r"""\[
        J(\mathbf{u}) = \left\| \Phi x_0 + \Gamma \mathbf{u} - \mathbf{r} \right\|_Q^2
        + \left\| \mathbf{u} \right\|_R^2,
        \]
        where $\|v\|_M^2 = v^\top M v$.""",
        "Phi: matrix(m, n); Gamma: matrix(m, k); x_0: vector(n); u: vector(k); r: vector(m); Q: matrix(m, m) spd; "
        "R: matrix(k, k) spd",
        "u",
        mpc,
    ),
    Passage(
        "optimal gain, Joseph form",
        r"""J(K) = \operatorname{tr}(P^+), \qquad P^+ = (I - K H) P (I - K H)^\top + K R K^\top""",
        "K: matrix(n, m); H: matrix(m, n); P: matrix(n, n) spd; R: matrix(m, m) spd",
        "K",
        joseph,
    ),
]
