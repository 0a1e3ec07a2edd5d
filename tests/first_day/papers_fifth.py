r"""The fifth set of passages, in the style of forty papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special


def ma(y, theta, sigma):
    e = 0
    s = 0
    for v in y:
        e = v - theta * e
        s += e * e
    return -len(y) / 2 * np.log(2 * np.pi * sigma**2) - s / (2 * sigma**2)


def mpc(A, P, Q, B, R, u, x_0):
    x = x_0
    J = 0
    for v in u:
        J += x @ Q @ x + v @ R @ v
        x = A @ x + B @ v
    return J + x @ P @ x


def trace(phi, gamma, lam, theta):
    e = 0
    for f in phi:
        e = gamma * lam * e + f
    return theta @ e


def bil(X, I, sigma_s, sigma_r):  # noqa: E741
    W = np.exp(
        -((X[:, None] - X[None]) ** 2).sum(-1) / (2 * sigma_s**2) - (I[:, None] - I[None]) ** 2 / (2 * sigma_r**2)
    )
    return W @ I / W.sum(1)


FIFTH = [
    Passage(
        "graph convolution, again",
        r"Z = \tilde{D}^{-1/2}\tilde{A}\tilde{D}^{-1/2}X\Theta",
        ("A_tilde: matrix(n, n) symmetric; D_tilde: matrix(n, n) diagonal; X: matrix(n, p); Theta: matrix(p, k)"),
        "Theta",
        lambda A_tilde, D_tilde, X, Theta: (
            np.diag(np.diag(D_tilde) ** -0.5) @ A_tilde @ np.diag(np.diag(D_tilde) ** -0.5) @ X @ Theta
        ),
    ),
    Passage(
        "LoRA",
        r"\mathcal{L}=\frac{1}{n}\sum_{i=1}^n\left\|\left(W_0+\frac{\alpha}{r}BA\right)x_i-y_i\right\|_2^2",
        (
            "W_0: matrix(p, d); B: matrix(p, k); A: matrix(k, d); X: matrix(n, d); Y: matrix(n, p); "
            "alpha, r: scalar positive"
        ),
        "B",
        lambda W_0, B, A, X, Y, alpha, r: np.sum((X @ (W_0 + alpha / r * B @ A).T - Y) ** 2) / len(X),
    ),
    Passage(
        "diffusion loss",
        (
            r"L(\theta)=\sum_{t=1}^{T}\left\|\epsilon_t-\theta\left(\sqrt{\bar\alpha_t}\,x_0+\sqrt{1-\bar"
            r"\alpha_t}\,\epsilon_t\right)\right\|^2"
        ),
        "epsilon: matrix(T, d); alpha_bar: vector(T) positive; x_0: vector(d); theta: scalar",
        "theta",
        lambda epsilon, alpha_bar, x_0, theta: np.sum(
            (epsilon - theta * (np.sqrt(alpha_bar)[:, None] * x_0 + np.sqrt(1 - alpha_bar)[:, None] * epsilon)) ** 2
        ),
        ("alpha_bar",),
    ),
    Passage(
        "layer norm",
        (
            r"y=\gamma\odot\frac{x-\mu\mathbf{1}}{\sqrt{\sigma^2+\epsilon}}+\beta,\quad\mu=\frac1d\sum_{i"
            r"=1}^{d}x_i,\quad\sigma^2=\frac1d\sum_{i=1}^d(x_i-\mu)^2"
        ),
        "x, gamma, beta: vector(d); epsilon: scalar positive",
        "x",
        lambda x, gamma, beta, epsilon: gamma * (x - x.mean()) / np.sqrt(x.var() + epsilon) + beta,
    ),
    Passage(
        "Gumbel max margin ranking",
        r"\sum_{i=1}^{n}\sum_{j:y_j<y_i}\max(0,1-w^\top(x_i-x_j))",
        "X: matrix(n, d); y: vector(n); w: vector(d)",
        "w",
        lambda X, y, w: sum(max(0, 1 - w @ (X[i] - X[j])) for i in range(len(y)) for j in range(len(y)) if y[j] < y[i]),
    ),
    Passage(
        "GloVe",
        (
            r"J=\sum_{i,j=1}^{V}f(X_{ij})\left(w_i^\top\tilde w_j+b_i+\tilde b_j-\log X_{ij}\right)^2,\quad "
            r"f(x)=\left(\frac{x}{x_{\max}}\right)^{\alpha}"
        ),
        ("X: matrix(V, V) positive; W, W_tilde: matrix(V, d); b, b_tilde: vector(V); x_max, alpha: scalar positive"),
        "W",
        lambda X, W, W_tilde, b, b_tilde, x_max, alpha: np.sum(
            (X / x_max) ** alpha * (W @ W_tilde.T + b[:, None] + b_tilde - np.log(X)) ** 2
        ),
    ),
    Passage(
        "EM lower bound mixture",
        (
            r"Q=\sum_{i=1}^{n}\sum_{k=1}^{K}\gamma_{ik}\left[\log "
            r"w_k+\log\mathcal{N}(x_i\mid\mu_k,\sigma_k^2)\right]"
        ),
        "gamma: matrix(n, K); w, sigma: vector(K) positive; x: vector(n); mu: vector(K)",
        "mu",
        lambda gamma, w, sigma, x, mu: np.sum(
            gamma * (np.log(w) - 0.5 * np.log(2 * np.pi * sigma**2) - (x[:, None] - mu) ** 2 / (2 * sigma**2))
        ),
    ),
    Passage(
        "Student t regression",
        (
            r"\ell=n\log\Gamma\left(\tfrac{\nu+1}{2}\right)-n\log\Gamma\left(\tfrac{\nu}{2}\right)-\tfrac "
            r"n2\log(\nu\pi\sigma^2)-\tfrac{\nu+1}{2}\sum_{i=1}^{n}\log\left(1+\frac{(y_i-x_i'\beta)^2}{\nu"
            r"\sigma^2}\right)"
        ),
        "X: matrix(n, p); y: vector(n); beta: vector(p); nu, sigma: scalar positive",
        "nu",
        lambda X, y, beta, nu, sigma: (
            len(y) * (special.gammaln((nu + 1) / 2) - special.gammaln(nu / 2))
            - len(y) / 2 * np.log(nu * np.pi * sigma**2)
            - (nu + 1) / 2 * np.sum(np.log(1 + (y - X @ beta) ** 2 / (nu * sigma**2)))
        ),
    ),
    Passage(
        "MA(1) likelihood",
        (
            r"\ell=-\frac{T}{2}\log(2\pi\sigma^2)-\frac{1}{2\sigma^2}\sum_{t=1}^{T}\epsilon_t^2,\quad "
            r"\epsilon_t=y_t-\theta\epsilon_{t-1},\quad\epsilon_0=0"
        ),
        "y: vector(T); theta: scalar; sigma: scalar positive",
        "theta",
        ma,
    ),
    Passage(
        "quantile regression, again",
        (
            r"\min_\beta\sum_{i=1}^{n}\rho_\tau(y_i-x_i^\top\beta),\quad\rho_\tau(u)=u\left(\tau-\mathbf{1}\{u<0"
            r"\}\right)"
        ),
        "X: matrix(n, p); y: vector(n); beta: vector(p); tau: scalar positive",
        "beta",
        lambda X, y, beta, tau: np.sum((y - X @ beta) * (tau - ((y - X @ beta) < 0))),
    ),
    Passage(
        "difference in differences",
        r"\hat\delta=\left(\bar y_{11}-\bar y_{10}\right)-\left(\bar y_{01}-\bar y_{00}\right)",
        "y_bar_11, y_bar_10, y_bar_01, y_bar_00: scalar",
        "y_bar_11",
        lambda y_bar_11, y_bar_10, y_bar_01, y_bar_00: y_bar_11 - y_bar_10 - y_bar_01 + y_bar_00,
    ),
    Passage(
        "portfolio CVaR",
        r"F_\alpha(w,\zeta)=\zeta+\frac{1}{(1-\alpha)S}\sum_{s=1}^{S}\left[-r_s^\top w-\zeta\right]_+",
        "R: matrix(S, n); w: vector(n); zeta, alpha: scalar",
        "w",
        lambda R, w, zeta, alpha: zeta + np.sum(np.maximum(-R @ w - zeta, 0)) / ((1 - alpha) * len(R)),
    ),
    Passage(
        "Heston drift characteristic",
        r"d=\sqrt{(\rho\sigma u-\kappa)^2+\sigma^2(u+u^2)}",
        "rho, sigma, u, kappa: scalar positive",
        "u",
        lambda rho, sigma, u, kappa: np.sqrt((rho * sigma * u - kappa) ** 2 + sigma**2 * (u + u**2)),
    ),
    Passage(
        "bond duration",
        r"D=\frac{1}{P}\sum_{t=1}^{T}\frac{t\,C_t}{(1+y)^t},\quad P=\sum_{t=1}^{T}\frac{C_t}{(1+y)^t}",
        "C: vector(T) positive; y: scalar positive",
        "y",
        lambda C, y: (lambda t: np.sum(t * C / (1 + y) ** t) / np.sum(C / (1 + y) ** t))(np.arange(1, len(C) + 1)),
    ),
    Passage(
        "MPC with terminal cost",
        r"J=x_N^\top P x_N+\sum_{k=0}^{N-1}\left(x_k^\top Qx_k+u_k^\top Ru_k\right),\quad x_{k+1}=Ax_k+Bu_k",
        "A, P, Q: matrix(n, n); B: matrix(n, m); R: matrix(m, m); u: matrix(N, m); x_0: vector(n)",
        "u",
        mpc,
    ),
    Passage(
        "Lyapunov decrease, again",
        r"\dot V=x^\top\left(A^\top P+PA\right)x+2x^\top PBu",
        "A, P: matrix(n, n); B: matrix(n, m); x: vector(n); u: vector(m)",
        "x",
        lambda A, P, B, x, u: x @ (A.T @ P + P @ A) @ x + 2 * x @ P @ B @ u,
    ),
    Passage(
        "Kalman gain update",
        r"P^+=(I-KH)P(I-KH)^\top+KRK^\top",
        "P: matrix(n, n); K: matrix(n, m); H: matrix(m, n); R: matrix(m, m)",
        "K",
        lambda P, K, H, R: (np.eye(len(P)) - K @ H) @ P @ (np.eye(len(P)) - K @ H).T + K @ R @ K.T,
    ),
    Passage(
        "phase retrieval",
        r"f(z)=\frac{1}{4m}\sum_{r=1}^{m}\left(|a_r^\top z|^2-y_r\right)^2",
        "A: matrix(m, n); y: vector(m); z: vector(n)",
        "z",
        lambda A, y, z: np.sum(((A @ z) ** 2 - y) ** 2) / (4 * len(y)),
    ),
    Passage(
        "compressed sensing with TV",
        r"\frac12\|Ax-b\|_2^2+\lambda\sum_{i=1}^{n-1}|x_{i+1}-x_i|",
        "A: matrix(m, n); b: vector(m); x: vector(n); lam: scalar",
        "x",
        lambda A, b, x, lam: 0.5 * np.sum((A @ x - b) ** 2) + lam * np.sum(abs(np.diff(x))),
    ),
    Passage(
        "autocorrelation",
        (r"\hat\gamma(2)=\frac1n\sum_{t=1}^{n-2}(x_{t+2}-\bar x)(x_t-\bar x),\quad\bar " r"x=\frac1n\sum_{t=1}^{n}x_t"),
        "x: vector(n)",
        "x",
        lambda x: np.sum((x[2:] - x.mean()) * (x[:-2] - x.mean())) / len(x),
    ),
    Passage(
        "spring network",
        (
            r"U(\mathbf{x})=\frac12\sum_{i=1}^{n}\sum_{j=1}^{n}k_{ij}\left(\|\mathbf{x}_i-\mathbf{x}_j\|-"
            r"\ell_{ij}\right)^2"
        ),
        "X: matrix(n, d); k, ell: matrix(n, n)",
        "k",
        lambda X, k, ell: 0.5 * np.sum(k * (np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1)) - ell) ** 2),
    ),
    Passage(
        "Hubbard mean field (physics)",
        r"E=-t\sum_{i=1}^{L-1}\left(c_ic_{i+1}+c_{i+1}c_i\right)+U\sum_{i=1}^{L}n_i(1-n_i)",
        "c, n: vector(L); t, U: scalar",
        "c",
        lambda c, n, t, U: -2 * t * np.sum(c[:-1] * c[1:]) + U * np.sum(n * (1 - n)),
    ),
    Passage(
        "Rayleigh-Ritz",
        r"E[\psi]=\frac{\langle\psi|H|\psi\rangle}{\langle\psi|\psi\rangle}",
        "psi: vector(n); H: matrix(n, n) symmetric",
        "psi",
        lambda psi, H: psi @ H @ psi / (psi @ psi),
    ),
    Passage(
        "Planck radiance",
        r"B_\nu(T)=\frac{2h\nu^3}{c^2}\frac{1}{e^{h\nu/(k_BT)}-1}",
        "h, nu, c, k_B, T: scalar positive",
        "T",
        lambda h, nu, c, k_B, T: 2 * h * nu**3 / c**2 / (np.exp(h * nu / (k_B * T)) - 1),
    ),
    Passage(
        "Debye-Hueckel",
        r"\log\gamma_i=-\frac{Az_i^2\sqrt I}{1+Ba_i\sqrt I},\quad I=\frac12\sum_jc_jz_j^2",
        "z, a, c: vector(n) positive; A, B: scalar positive",
        "c",
        lambda z, a, c, A, B: -A * z**2 * np.sqrt(0.5 * c @ z**2) / (1 + B * a * np.sqrt(0.5 * c @ z**2)),
    ),
    Passage(
        "occupancy model",
        r"L=\prod_{i=1}^{n}\left[\psi\prod_{t=1}^{T}p^{y_{it}}(1-p)^{1-y_{it}}+(1-\psi)I(d_i=0)\right]",
        "y: matrix(n, T); d: vector(n); psi, p: scalar positive",
        "psi",
        lambda y, d, psi, p: np.prod(psi * np.prod(p**y * (1 - p) ** (1 - y), axis=1) + (1 - psi) * (d == 0)),
        ("psi", "p", "y"),
    ),
    Passage(
        "Holling type II",
        r"\frac{dP}{dt}=\frac{e a N P}{1+a h N}-mP",
        "e, a, N, P, h, m: scalar positive",
        "N",
        lambda e, a, N, P, h, m: e * a * N * P / (1 + a * h * N) - m * P,
    ),
    Passage(
        "polychoric / Cronbach alpha",
        (
            r"\alpha=\frac{k}{k-1}\left(1-\frac{\sum_{i=1}^{k}\sigma_i^2}{\sigma_X^2}\right),\quad\sigma_X^2="
            r"\mathbf 1^\top\Sigma\mathbf 1"
        ),
        "Sigma: matrix(k, k) spd; sigma: vector(k) positive",
        "Sigma",
        lambda Sigma, sigma: len(sigma) / (len(sigma) - 1) * (1 - np.sum(sigma**2) / Sigma.sum()),
    ),
    Passage(
        "bilateral filter (graphics)",
        (
            r"g_p=\frac{\sum_{q}e^{-\frac{\|x_p-x_q\|^2}{2\sigma_s^2}}e^{-\frac{(I_p-I_q)^2}{2\sigma_r^2}}I_q}{"
            r"\sum_qe^{-\frac{\|x_p-x_q\|^2}{2\sigma_s^2}}e^{-\frac{(I_p-I_q)^2}{2\sigma_r^2}}}"
        ),
        "X: matrix(n, d); I: vector(n); sigma_s, sigma_r: scalar positive",
        "I",
        bil,
    ),
    Passage(
        "quaternion / Rodrigues",
        r"v'=v\cos\theta+(k\times v)\sin\theta+k(k\cdot v)(1-\cos\theta)",
        "v, k: vector(3); theta: scalar",
        "v",
        lambda v, k, theta: v * np.cos(theta) + np.cross(k, v) * np.sin(theta) + k * (k @ v) * (1 - np.cos(theta)),
    ),
    Passage(
        "Blahut-Arimoto objective",
        r"C=\max_{p}\sum_{x}\sum_{y}p(x)Q(y|x)\log\frac{Q(y|x)}{\sum_{x'}p(x')Q(y|x')}",
        "p: vector(m) positive; Q: matrix(n, m) positive",
        "p",
        lambda p, Q: np.sum(p * Q * np.log(Q / (Q @ p)[:, None])),
    ),
    Passage(
        "water-filling",
        (
            r"C(\mathbf{p})=\sum_{i=1}^{n}\frac12\log\left(1+\frac{p_i}{N_i}\right)-\lambda\left(\sum_{i"
            r"=1}^{n}p_i-P\right)"
        ),
        "p, N: vector(n) positive; lam, P: scalar",
        "p",
        lambda p, N, lam, P: np.sum(0.5 * np.log(1 + p / N)) - lam * (p.sum() - P),
    ),
    Passage(
        "eligibility trace",
        r"\theta^\top e_T, \quad e_t=\gamma\lambda e_{t-1}+\phi_t,\quad e_0=0,\quad t=1,\ldots,T",
        "phi: matrix(T, d); gamma, lam: scalar; theta: vector(d)",
        "phi",
        trace,
    ),
]

FIFTH_REFUSED = [
    (
        "Capon spectrum",
        r"\hat P(\omega)=\frac{1}{\mathbf{a}^{\mathrm H}(\omega)\hat{\mathbf R}^{-1}\mathbf{a}(\omega)}",
        "a: vector(n); R_hat: matrix(n, n) spd",
        r"a\(omega\) can be a itself, which depends on omega, or a product",
    ),
    (
        "van der Waals",
        r"\left(p+\frac{a n^2}{V^2}\right)(V-nb)=nRT",
        "p, a, n, V, b, R, T: scalar",
        r"the left side of this = is more than a name",
    ),
    ("Nernst", r"E=E^\circ-\frac{RT}{zF}\ln Q", "E_0, R, T, z, F, Q: scalar positive", r"'=' after E is an equation"),
    (
        "graded response",
        r"P_{ik}=\frac{1}{1+e^{-a(\theta_i-b_{k})}}-\frac{1}{1+e^{-a(\theta_i-b_{k+1})}}",
        "theta: vector(n); b: vector(K+1); a: scalar",
        r"a shifted index of a sum without bounds",
    ),
    (
        "Thurstone / probit choice",
        r"\ell=\sum_{(i,j)}n_{ij}\log\Phi\left(\frac{\mu_i-\mu_j}{\sqrt2\sigma}\right)",
        "n: matrix(k, k); mu: vector(k); sigma: scalar positive",
        r"an index is a letter",
    ),
    (
        "Bellman residual linear",
        r"\left\|\Phi w-(r+\gamma P\Phi w)\right\|_D^2",
        ("Phi: matrix(n, k); w: vector(k); r: vector(n); P: matrix(n, n); gamma: scalar; D: matrix(n, n) diagonal"),
        r"this norm of a vector is unknown or ambiguous",
    ),
]
