r"""The fourth set of passages, in the style of forty papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special

lse = special.logsumexp


def sg(t):
    return 1 / (1 + np.exp(-t))


def vonmises(theta, mu, kappa):
    return np.sum(kappa * np.cos(theta - mu) - np.log(2 * np.pi * special.iv(0, kappa)))


def gp(X, y, ell, sf, sn):
    K = sf**2 * np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * ell**2)) + sn**2 * np.eye(len(y))
    return -0.5 * y @ np.linalg.solve(K, y) - 0.5 * np.linalg.slogdet(K)[1] - len(y) / 2 * np.log(2 * np.pi)


def tsne(p, Y):
    D = ((Y[:, None] - Y[None]) ** 2).sum(-1)
    W = 1 / (1 + D)
    np.fill_diagonal(W, 0)
    Q = W / W.sum()
    n = len(Y)
    return sum(p[i, j] * np.log(p[i, j] / Q[i, j]) for i in range(n) for j in range(n) if i != j)


def seir(y, s_0, i_0, N, beta, gamma):
    S, I, L = s_0, i_0, 0  # noqa: E741
    for v in y:
        L += (v - I) ** 2
        f = beta * S * I / N
        S, I = S - f, I + f - gamma * I  # noqa: E741
    return L


FOURTH = [
    Passage(
        "ELBO gaussian decoder",
        (
            r"\mathcal{L}(\phi) = -\frac{1}{2\sigma^2}\sum_{i=1}^{n}\left\|\mathbf{x}_i - W\mathbf{z}_i\right\|^2 "
            r"- \frac{1}{2}\sum_{i=1}^{n}\|\mathbf{z}_i\|^2"
        ),
        "X: matrix(n, d); Z: matrix(n, k); W: matrix(d, k); sigma: scalar positive",
        "W",
        lambda X, Z, W, sigma: -np.sum((X - Z @ W.T) ** 2) / (2 * sigma**2) - 0.5 * np.sum(Z**2),
    ),
    Passage(
        "DPO",
        (
            r"\mathcal{L}_{\mathrm{DPO}} = -\frac{1}{N}\sum_{i=1}^{N}\log\sigma\left(\beta\left("
            r"\ell_i^{w}-r_i^{w}\right)-\beta\left(\ell_i^{l}-r_i^{l}\right)\right)"
        ),
        "ell_w, r_w, ell_l, r_l: vector(N); beta: scalar",
        "ell_w",
        lambda ell_w, r_w, ell_l, r_l, beta: -np.mean(np.log(sg(beta * (ell_w - r_w) - beta * (ell_l - r_l)))),
    ),
    Passage(
        "focal loss, again",
        r"\mathrm{FL}(p_t) = -\frac{1}{n}\sum_{t=1}^{n}\alpha(1-p_t)^\gamma\log(p_t)",
        "p: vector(n) positive; alpha, gamma: scalar positive",
        "p",
        lambda p, alpha, gamma: -np.mean(alpha * (1 - p) ** gamma * np.log(p)),
        ("p",),
    ),
    Passage(
        "knowledge distillation, again",
        (
            r"L = -\tau^2\sum_{c=1}^{C} q_c\log p_c, \qquad q_c = "
            r"\frac{\exp(v_c/\tau)}{\sum_{k=1}^{C}\exp(v_k/\tau)}, \qquad p_c = "
            r"\frac{\exp(z_c/\tau)}{\sum_{k=1}^{C}\exp(z_k/\tau)}"
        ),
        "v, z: vector(C); tau: scalar positive",
        "z",
        lambda v, z, tau: -(tau**2) * special.softmax(v / tau) @ special.log_softmax(z / tau),
    ),
    Passage(
        "Gaussian process hyperparameters",
        (
            r"\log p(\mathbf{y}\mid X) = -\frac12\mathbf{y}^\top K^{-1}\mathbf{y}-\frac12\log|K|-\frac n2\log "
            r"2\pi, \quad K_{ij} = \sigma_f^2\exp\left(-\frac{\|\mathbf{x}_i-\mathbf{x}_j\|^2}{2\ell^2}\right)+"
            r"\sigma_n^2\delta_{ij}"
        ),
        "X: matrix(n, d); y: vector(n); ell, sigma_f, sigma_n: scalar positive",
        "ell",
        lambda X, y, ell, sigma_f, sigma_n: gp(X, y, ell, sigma_f, sigma_n),
    ),
    Passage(
        "von Mises likelihood",
        r"\ell(\mu,\kappa)=\kappa\sum_{i=1}^{n}\cos(\theta_i-\mu)-n\log\left(2\pi I_0(\kappa)\right)",
        "theta: vector(n); mu: scalar; kappa: scalar positive",
        "kappa",
        vonmises,
    ),
    Passage(
        "multinomial logit (econometrics)",
        (
            r"\ell(\beta)=\sum_{i=1}^{n}\sum_{j=1}^{J}y_{ij}\log\frac{\exp(x_{ij}^\top\beta)}{\sum_{k=1}^{J}"
            r"\exp(x_{ik}^\top\beta)}"
        ),
        "X: tensor(n, J, p); Y: matrix(n, J); beta: vector(p)",
        "beta",
        lambda X, Y, beta: np.sum(Y * special.log_softmax(X @ beta, axis=1)),
    ),
    Passage(
        "fixed effects panel",
        r"\sum_{i=1}^{N}\sum_{t=1}^{T}\left(y_{it}-\alpha_i-x_{it}\beta\right)^2",
        "y, x: matrix(N, T); alpha: vector(N); beta: scalar",
        "beta",
        lambda y, x, alpha, beta: np.sum((y - alpha[:, None] - x * beta) ** 2),
    ),
    Passage(
        "IV two stage least squares",
        r"\hat\beta = \left(X^\top P_Z X\right)^{-1}X^\top P_Z y, \qquad P_Z = Z(Z^\top Z)^{-1}Z^\top",
        "X: matrix(n, k); Z: matrix(n, p); y: vector(n)",
        "y",
        lambda X, Z, y: (lambda PZ: np.linalg.solve(X.T @ PZ @ X, X.T @ PZ @ y))(Z @ np.linalg.solve(Z.T @ Z, Z.T)),
    ),
    Passage(
        "CRRA utility",
        r"\max_c \sum_{t=1}^{T}\beta^{t-1}\frac{c_t^{1-\gamma}}{1-\gamma}",
        "c: vector(T) positive; beta, gamma: scalar positive",
        "c",
        lambda c, beta, gamma: np.sum(beta ** np.arange(len(c)) * c ** (1 - gamma) / (1 - gamma)),
    ),
    Passage(
        "Sharpe ratio",
        r"S(w) = \frac{w^\top\mu - r_f}{\sqrt{w^\top\Sigma w}}",
        "w, mu: vector(n); Sigma: matrix(n, n) spd; r_f: scalar",
        "w",
        lambda w, mu, Sigma, r_f: (w @ mu - r_f) / np.sqrt(w @ Sigma @ w),
    ),
    Passage(
        "Vasicek bond price",
        (
            r"P(\tau) = \exp\left\{\left(\theta-\frac{\sigma^2}{2\kappa^2}\right)(B-\tau)-\frac{\sigma^2}{4"
            r"\kappa}B^2 - B r\right\}, \quad B = \frac{1-e^{-\kappa\tau}}{\kappa}"
        ),
        "theta, sigma, kappa, tau, r: scalar positive",
        "kappa",
        lambda theta, sigma, kappa, tau, r: np.exp(
            (theta - sigma**2 / (2 * kappa**2)) * ((1 - np.exp(-kappa * tau)) / kappa - tau)
            - sigma**2 / (4 * kappa) * ((1 - np.exp(-kappa * tau)) / kappa) ** 2
            - (1 - np.exp(-kappa * tau)) / kappa * r
        ),
    ),
    Passage(
        "Wiener filter",
        r"J(\mathbf{h}) = \sigma_d^2 - 2\mathbf{h}^T\mathbf{r}_{dx} + \mathbf{h}^T\mathbf{R}_{xx}\mathbf{h}",
        "h, r_dx: vector(n); R_xx: matrix(n, n) symmetric; sigma_d: scalar",
        "h",
        lambda h, r_dx, R_xx, sigma_d: sigma_d**2 - 2 * h @ r_dx + h @ R_xx @ h,
    ),
    Passage(
        "beamforming SINR",
        r"\mathrm{SINR} = \frac{|\mathbf{w}^H\mathbf{h}|^2}{\mathbf{w}^H\mathbf{R}\mathbf{w}}",
        "w, h: vector(n); R: matrix(n, n) spd",
        "w",
        lambda w, h, R: (w @ h) ** 2 / (w @ R @ w),
    ),
    Passage(
        "sum rate power control",
        r"R = \sum_{k=1}^{K}\log_2\left(1+\frac{g_{kk}p_k}{\sigma^2+\sum_{j\neq k}g_{kj}p_j}\right)",
        "G: matrix(K, K) positive; p: vector(K) positive; sigma: scalar positive",
        "p",
        lambda G, p, sigma: np.sum(np.log2(1 + np.diag(G) * p / (sigma**2 + G @ p - np.diag(G) * p))),
    ),
    Passage(
        "LMS convolution error",
        r"J(\mathbf{w}) = \sum_{n=L}^{N}\left(d_n-\sum_{k=0}^{L-1}w_{k+1}x_{n-k}\right)^2",
        "d, x: vector(N); w: vector(L)",
        "w",
        lambda d, x, w: sum(
            (d[n - 1] - sum(w[k] * x[n - 1 - k] for k in range(len(w)))) ** 2 for n in range(len(w), len(d) + 1)
        ),
    ),
    Passage(
        "sparse coding, again",
        r"\min_{D, A}\;\frac12\|X-DA\|_F^2+\lambda\sum_{j=1}^{n}\|a_j\|_1",
        "X: matrix(m, n); D: matrix(m, k); A: matrix(k, n); lam: scalar",
        "D",
        lambda X, D, A, lam: 0.5 * np.sum((X - D @ A) ** 2) + lam * np.sum(abs(A)),
    ),
    Passage(
        "NMF KL divergence",
        r"D(V\|WH)=\sum_{i,j}\left(V_{ij}\log\frac{V_{ij}}{(WH)_{ij}}-V_{ij}+(WH)_{ij}\right)",
        "V: matrix(m, n) positive; W: matrix(m, k) positive; H: matrix(k, n) positive",
        "W",
        lambda V, W, H: np.sum(V * np.log(V / (W @ H)) - V + W @ H),
    ),
    Passage(
        "CP decomposition",
        r"\sum_{i,j,k}\left(\mathcal{X}_{ijk}-\sum_{r=1}^{R}a_{ir}b_{jr}c_{kr}\right)^2",
        "X: tensor(m, n, p); a: matrix(m, R); b: matrix(n, R); c: matrix(p, R)",
        "a",
        lambda X, a, b, c: np.sum((X - np.einsum("ir,jr,kr->ijk", a, b, c)) ** 2),
    ),
    Passage(
        "t-SNE",
        (
            r"C=\sum_{i\neq j}p_{ij}\log\frac{p_{ij}}{q_{ij}}, \quad "
            r"q_{ij}=\frac{(1+\|y_i-y_j\|^2)^{-1}}{\sum_{k\neq l}(1+\|y_k-y_l\|^2)^{-1}}"
        ),
        "p: matrix(n, n) positive; Y: matrix(n, d)",
        "Y",
        tsne,
    ),
    Passage(
        "nonlinear pendulum energy",
        r"H(q,p)=\frac{p^2}{2ml^2}+mgl(1-\cos q)",
        "q, p, m, g, l: scalar positive",
        "q",
        lambda q, p, m, g, l: p**2 / (2 * m * l**2) + m * g * l * (1 - np.cos(q)),  # noqa: E741
    ),
    Passage(
        "N-body potential",
        r"V=-G\sum_{i=1}^{N}\sum_{j=i+1}^{N}\frac{m_im_j}{\|\mathbf{r}_i-\mathbf{r}_j\|}",
        "R: matrix(N, d); m: vector(N) positive; G: scalar",
        "R",
        lambda R, m, G: (
            -G * sum(m[i] * m[j] / np.linalg.norm(R[i] - R[j]) for i in range(len(m)) for j in range(i + 1, len(m)))
        ),
    ),
    Passage(
        "partition function two level",
        r"F=-k_BT\ln\sum_{i=1}^{n}g_ie^{-E_i/(k_BT)}",
        "g, E: vector(n) positive; k_B, T: scalar positive",
        "E",
        lambda g, E, k_B, T: -k_B * T * np.log(np.sum(g * np.exp(-E / (k_B * T)))),
    ),
    Passage(
        "Kuramoto",
        r"\frac{d\theta_i}{dt}=\omega_i+\frac{K}{N}\sum_{j=1}^{N}\sin(\theta_j-\theta_i),\quad i=1,\ldots,N",
        "omega, theta: vector(N); K: scalar",
        "theta",
        lambda omega, theta, K: omega + K * np.mean(np.sin(theta[None] - theta[:, None]), axis=1),
    ),
    Passage(
        "epidemic SEIR deterministic step",
        (
            r"S_{t+1}=S_t-\beta\frac{S_tI_t}{N},\quad I_{t+1}=I_t+\beta\frac{S_tI_t}{N}-\gamma I_t,\quad "
            r"S_0=s_0,\ I_0=i_0,\quad L=\sum_{t=0}^{T-1}(y_{t+1}-I_t)^2"
        ),
        "y: vector(T); s_0, i_0, N, beta, gamma: scalar positive",
        "beta",
        seir,
    ),
    Passage(
        "capture recapture (ecology)",
        r"\ell(\phi,p)=\sum_{i=1}^{n}\sum_{t=1}^{T}y_{it}\log p_t+(1-y_{it})\log(1-p_t)",
        "y: matrix(n, T); p: vector(T) positive",
        "p",
        lambda y, p: np.sum(y * np.log(p) + (1 - y) * np.log(1 - p)),
        ("p",),
    ),
    Passage(
        "Shannon diversity, again",
        r"H'=-\sum_{i=1}^{S}p_i\ln p_i,\quad p_i=\frac{n_i}{\sum_{j=1}^{S}n_j}",
        "n: vector(S) positive",
        "n",
        lambda n: -np.sum(n / n.sum() * np.log(n / n.sum())),
    ),
    Passage(
        "species abundance Ricker",
        r"\sum_{t=1}^{T-1}\left(\ln N_{t+1}-\ln N_t-r\left(1-\frac{N_t}{K}\right)\right)^2",
        "N: vector(T) positive; r, K: scalar positive",
        "r",
        lambda N, r, K: np.sum((np.log(N[1:]) - np.log(N[:-1]) - r * (1 - N[:-1] / K)) ** 2),
    ),
    Passage(
        "factor analysis (psychometrics)",
        r"F=\log|\Sigma|+\operatorname{tr}(S\Sigma^{-1})-\log|S|-p,\quad \Sigma=\Lambda\Phi\Lambda^\top+\Psi",
        "S: matrix(p, p) spd; Lambda: matrix(p, k); Phi: matrix(k, k) spd; Psi: matrix(p, p) spd",
        "Lambda",
        lambda S, Lambda, Phi, Psi: (
            np.linalg.slogdet(Lambda @ Phi @ Lambda.T + Psi)[1]
            + np.trace(S @ np.linalg.inv(Lambda @ Phi @ Lambda.T + Psi))
            - np.linalg.slogdet(S)[1]
            - len(S)
        ),
    ),
    Passage(
        "Bradley-Terry, again",
        (
            r"\ell(\lambda)=\sum_{i=1}^{n}\sum_{j=1}^{n}w_{ij}\left[\lambda_i-\log\left(e^{\lambda_i}+e^{"
            r"\lambda_j}\right)\right]"
        ),
        "W: matrix(n, n); lam: vector(n)",
        "lam",
        lambda W, lam: np.sum(W * (lam[:, None] - np.logaddexp(lam[:, None], lam[None]))),
    ),
    Passage(
        "Rasch conditional",
        r"P(\theta_i,b_j)=\frac{\exp(\theta_i-b_j)}{1+\exp(\theta_i-b_j)}",
        "theta: vector(n); b: vector(J)",
        "theta",
        lambda theta, b: sg(theta[:, None] - b),
    ),
    Passage(
        "Cox partial likelihood",
        r"\ell(\beta)=\sum_{i=1}^{n}\delta_i\left[x_i^\top\beta-\log\sum_{j=i}^{n}\exp(x_j^\top\beta)\right]",
        "X: matrix(n, p); delta: vector(n); beta: vector(p)",
        "beta",
        lambda X, delta, beta: np.sum(delta * (X @ beta - np.array([lse((X @ beta)[i:]) for i in range(len(X))]))),
    ),
    Passage(
        "IPW",
        (
            r"\hat\tau=\frac1n\sum_{i=1}^{n}\left(\frac{a_iy_i}{\pi_i}-\frac{(1-a_i)y_i}{1-\pi_i}\right),\qquad "
            r"\pi_i=\frac{1}{1+e^{-x_i^\top\gamma}}"
        ),
        "X: matrix(n, p); a, y: vector(n); gamma: vector(p)",
        "gamma",
        lambda X, a, y, gamma: np.mean(a * y / sg(X @ gamma) - (1 - a) * y / (1 - sg(X @ gamma))),
    ),
    Passage(
        "soft actor entropy objective (RL)",
        (
            r"J(\theta)=\sum_{s}d_s\sum_{a}\pi_{sa}\left(Q_{sa}-\alpha\log\pi_{sa}\right),\quad "
            r"\pi_{sa}=\frac{e^{\theta_{sa}}}{\sum_{b}e^{\theta_{sb}}}"
        ),
        "theta, Q: matrix(S, A); d: vector(S); alpha: scalar",
        "theta",
        lambda theta, Q, d, alpha: np.sum(
            d[:, None] * special.softmax(theta, axis=1) * (Q - alpha * special.log_softmax(theta, axis=1))
        ),
    ),
    Passage(
        "PPO clip",
        (
            r"L=\frac{1}{T}\sum_{t=1}^{T}\min\left(\rho_tA_t,\operatorname{clip}(\rho_t,1-\epsilon,1+\epsilon)A_t"
            r"\right)"
        ),
        "rho, A: vector(T) positive; epsilon: scalar positive",
        "rho",
        lambda rho, A, epsilon: np.mean(np.minimum(rho * A, np.clip(rho, 1 - epsilon, 1 + epsilon) * A)),
    ),
]

FOURTH_REFUSED = [
    (
        "Markowitz",
        r"\max_w \; \mu^\top w - \frac{\gamma}{2}w^\top\Sigma w \quad \text{s.t. } \mathbf{1}^\top w = 1",
        "mu, w: vector(n); Sigma: matrix(n, n) spd; gamma: scalar",
        r"a constraint is not part of a formula",
    ),
    (
        "Landau free energy lattice",
        (
            r"F=\sum_{i}\left[\frac{r}{2}\phi_i^2+\frac{u}{4}\phi_i^4\right]+\frac{c}{2}\sum_{\langle "
            r"i,j\rangle}(\phi_i-\phi_j)^2"
        ),
        "phi: vector(n); r, u, c: scalar",
        r"an index is a letter",
    ),
    (
        "AIPW (causal)",
        (
            r"\hat\tau=\frac1n\sum_{i=1}^{n}\left[\hat\mu_1(x_i)-\hat\mu_0(x_i)+\frac{a_i(y_i-\hat"
            r"\mu_1(x_i))}{e(x_i)}\right]"
        ),
        "X: matrix(n, p); a, y: vector(n)",
        r"mu_hat_1\(\.\.\.\) can be a function of this name or a product",
    ),
    (
        "SLAM residual",
        r"\sum_{(i,j)\in\mathcal{E}}\left\|p_j-p_i-d_{ij}\right\|^2",
        "i, j: index(N); P: matrix(n, k); d: tensor(n, n, k)",
        r"2 subscripts for 3 axes",
    ),
    (
        "ARAP / Laplacian mesh",
        r"E(V)=\|LV\|_F^2+\mu\sum_{i\in\mathcal{C}}\|v_i-c_i\|^2",
        "L: matrix(n, n); V, C: matrix(n, k); mu: scalar",
        r"1 indices for C, which has 2 axes",
    ),
]
