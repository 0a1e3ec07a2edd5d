r"""The last part of the ninth set of passages, each written blind."""

from math import comb

import numpy as np
from first_day.papers import Passage


def forward(A, B, pi, o):
    a = pi * B[:, o[0]]
    for t in range(1, len(o)):
        a = (a @ A) * B[:, o[t]]
    return a.sum()


def leave_one_out(X, y):
    H = X @ np.linalg.solve(X.T @ X, X.T)
    return np.mean(((y - H @ y) / (1 - np.diag(H))) ** 2)


def ljung_box(x):
    n = len(x)
    return n * (n + 2) * sum((sum(x[t] * x[t - k] for t in range(k, n)) / (x @ x)) ** 2 / (n - k) for k in (1, 2, 3))


def lagrange(x, X, y):
    return sum(y[j] * np.prod([(x - X[k]) / (X[j] - X[k]) for k in range(len(X)) if k != j]) for j in range(len(X)))


def tangent_kernel(X, W):
    S = (X @ W.T >= 0).astype(float)
    return X @ X.T * (S @ S.T) / len(W)


def asset(x_0, mu, sigma, h, Z, K):
    x = x_0
    for z in Z:
        x = x + mu * x * h + sigma * x * np.sqrt(h) * z
    return max(x - K, 0.0)


NINTH_END = [
    Passage(
        "forward algorithm",
        (
            r"\alpha_1(i)=\pi_ib_i(o_1),\quad\alpha_{t+1}(j)=\left[\sum_{i=1}^{N}\alpha_t(i)a_{ij}"
            r"\right]b_j(o_{t+1}),\quad P(O)=\sum_{i=1}^{N}\alpha_T(i)"
        ),
        "A: matrix(N, N) positive; B: matrix(N, M) positive; pi: vector(N) positive; o: index(T)",
        "A",
        forward,
    ),
    Passage(
        "ARCH likelihood",
        (
            r"\ell(\alpha_0,\alpha_1)=-\frac12\sum_{t=2}^{T}\left(\log\sigma_t^2+\frac{r_t^2}{"
            r"\sigma_t^2}\right),\quad\sigma_t^2=\alpha_0+\alpha_1r_{t-1}^2"
        ),
        "r: vector(T); alpha_0, alpha_1: scalar positive",
        "alpha_1",
        lambda r, alpha_0, alpha_1: (
            -0.5 * np.sum(np.log(alpha_0 + alpha_1 * r[:-1] ** 2) + r[1:] ** 2 / (alpha_0 + alpha_1 * r[:-1] ** 2))
        ),
    ),
    Passage(
        "leave one out",
        (
            r"\mathrm{CV}=\frac1n\sum_{i=1}^{n}\left(\frac{y_i-\hat y_i}{1-h_{ii}}\right)^2,\quad\hat"
            r" y=Hy,\quad H=X(X^\top X)^{-1}X^\top"
        ),
        "X: matrix(n, q); y: vector(n)",
        "y",
        leave_one_out,
    ),
    Passage(
        "Durbin-Watson",
        r"d=\frac{\sum_{t=2}^{T}(e_t-e_{t-1})^2}{\sum_{t=1}^{T}e_t^2}",
        "e: vector(T)",
        "e",
        lambda e: np.sum(np.diff(e) ** 2) / (e @ e),
    ),
    Passage(
        "Ljung-Box",
        (
            r"Q=n(n+2)\sum_{k=1}^{3}\frac{\hat\rho_k^2}{n-k},\qquad\hat\rho_k=\frac{\sum_{t=k"
            r"+1}^{n}x_tx_{t-k}}{\sum_{t=1}^{n}x_t^2}"
        ),
        "x: vector(n)",
        "x",
        ljung_box,
    ),
    Passage(
        "area of a polygon",
        r"A=\frac12\left|\sum_{i=1}^{n-1}\left(x_iy_{i+1}-x_{i+1}y_i\right)\right|",
        "x, y: vector(n)",
        "x",
        lambda x, y: abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) / 2,
    ),
    Passage(
        "Lagrange interpolation",
        r"L(x)=\sum_{j=1}^{n}y_j\prod_{k\neq j}\frac{x-x_k}{x_j-x_k}",
        "x: scalar; X, y: vector(n)",
        "x",
        lagrange,
    ),
    Passage(
        "mean energy",
        (
            r"\langle E\rangle=\frac1Z\sum_{n=1}^{N}g_nE_ne^{-E_n/(k_BT)},\qquad Z=\sum_{n"
            "=1}^{N}g_ne^{-E_n/(k_BT)}"
        ),
        "g, E: vector(N) positive; k_B, T: scalar positive",
        "T",
        lambda g, E, k_B, T: np.sum(g * E * np.exp(-E / (k_B * T))) / np.sum(g * np.exp(-E / (k_B * T))),
    ),
    Passage(
        "selection in a population",
        (
            r"\Delta p=\frac{pq\left[p(w_{11}-w_{12})+q(w_{12}-w_{22})\right]}{\bar w},\quad\bar w"
            r"=p^2w_{11}+2pqw_{12}+q^2w_{22},\quad q=1-p"
        ),
        "p, w_11, w_12, w_22: scalar positive",
        "p",
        lambda p, w_11, w_12, w_22: (
            p
            * (1 - p)
            * (p * (w_11 - w_12) + (1 - p) * (w_12 - w_22))
            / (p**2 * w_11 + 2 * p * (1 - p) * w_12 + (1 - p) ** 2 * w_22)
        ),
        ("p",),
    ),
    Passage(
        "Euler steps of an asset",
        (
            r"X_{t+1}=X_t+\mu X_th+\sigma X_t\sqrt h\,Z_t,\quad X_0=x_0,\quad t=0,\dots,T-1,\quad "
            r"\max(X_T-K,0)"
        ),
        "x_0, mu, sigma, h, K: scalar positive; Z: vector(T)",
        "sigma",
        asset,
    ),
    Passage(
        "neural tangent kernel",
        (
            r"K_{ij}=\frac1m\,x_i^\top x_j\sum_{r=1}^{m}\mathbb 1\{w_r^\top x_i\ge0,\;w_r^\top x_j\ge0"
            r"\}"
        ),
        "X: matrix(n, d); W: matrix(m, d)",
        "X",
        tangent_kernel,
    ),
    Passage(
        "soft thresholding",
        (
            r"x^{+}=S_\lambda\left(x-A^\top(Ax-y)\right),\qquad S_\lambda(u)=\operatorname{sign}(u)"
            r"\max\{|u|-\lambda,0\}"
        ),
        "A: matrix(m, n); x: vector(n); y: vector(m); lambda: scalar positive",
        "y",
        lambda A, x, y, **k: np.sign(x - A.T @ (A @ x - y)) * np.maximum(abs(x - A.T @ (A @ x - y)) - k["lambda"], 0),
    ),
    Passage(
        "energy norm",
        (
            r"\frac12\|Ax-b\|_M^2+\|x\|_N^2,\quad\text{where }\|u\|_M^2=u^\top Mu\text{ and }\|u\|_N^2"
            r"=u^\top Nu"
        ),
        "A: matrix(m, n); b: vector(m); x: vector(n); M: matrix(m, m); N: matrix(n, n)",
        "x",
        lambda A, b, x, M, N: (A @ x - b) @ M @ (A @ x - b) / 2 + x @ N @ x,
    ),
    Passage(
        "Nystrom",
        r"\left\|K-\tilde K\right\|_F^2,\quad\tilde K=CW^{-1}C^\top",
        "K: matrix(n, n); C: matrix(n, k); W: matrix(k, k) spd",
        "C",
        lambda K, C, W: np.sum((K - C @ np.linalg.solve(W, C.T)) ** 2),
    ),
    Passage(
        "soft minimum",
        (
            r"\operatorname{softmin}_\gamma(a,b,c)=-\gamma\log\left(e^{-a/\gamma}+e^{-b/\gamma}+e^{-c/"
            r"\gamma}\right)"
        ),
        "a, b, c: scalar; gamma: scalar positive",
        "a",
        lambda a, b, c, gamma: -gamma * np.log(np.exp(-a / gamma) + np.exp(-b / gamma) + np.exp(-c / gamma)),
    ),
    Passage(
        "expansion history",
        (
            r"\chi^2=\sum_{i=1}^{n}\frac{\left[H_i-H(z_i)\right]^2}{\sigma_i^2},\qquad H(z)=H_0\sqrt{"
            r"\Omega_m(1+z)^3+\Omega_\Lambda}"
        ),
        "H, z, sigma: vector(n) positive; H_0, Omega_m, Omega_Lambda: scalar positive",
        "Omega_m",
        lambda H, z, sigma, H_0, Omega_m, Omega_Lambda: np.sum(
            (H - H_0 * np.sqrt(Omega_m * (1 + z) ** 3 + Omega_Lambda)) ** 2 / sigma**2
        ),
    ),
    Passage(
        "Stokes-Einstein",
        r"D=\frac{k_BT}{6\pi\eta r}",
        "k_B, T, eta, r: scalar positive",
        "r",
        lambda k_B, T, eta, r: k_B * T / (6 * np.pi * eta * r),
    ),
    Passage(
        "Bezier curve",
        r"B(t)=\sum_{i=0}^{3}\binom{3}{i}(1-t)^{3-i}t^ip_i",
        "P: matrix(4, 2); t: scalar positive",
        "t",
        lambda P, t: sum(comb(3, i) * (1 - t) ** (3 - i) * t**i * P[i] for i in range(4)),
        ("t",),
    ),
]

NINTH_REFUSED = [
    (
        "finite volumes",
        r"R=\sum_{i=2}^{n-1}\left(u_i-\frac{\tau}{h}\left(F_{i+1/2}-F_{i-1/2}\right)\right)^2",
        "u, F: vector(n); tau, h: scalar positive",
        "a subscript is a whole number",
    ),
    (
        "mutual coherence",
        r"\mu(A)=\max_{i\neq j}\frac{|a_i^\top a_j|}{\|a_i\|_2\,\|a_j\|_2}",
        "A: matrix(d, n)",
        "row or column i of A",
    ),
    (
        "capacity as an integral",
        r"C=\int_{0}^{W}\log_2\left(1+\frac{S(f)}{N}\right)\mathrm{d}f",
        "S, N, W: scalar positive",
        "closed form",
    ),
    (
        "Hill estimator",
        r"\hat\xi=\frac{1}{k}\sum_{i=1}^{k}\ln\frac{x_{(i)}}{x_{(k+1)}}",
        "x: vector(n) positive; k: scalar",
        "order statistic",
    ),
]
