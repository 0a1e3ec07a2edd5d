r"""The last part of the seventh set of passages, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special


def rows_square(X):
    return np.sum((X[:, None, :] - X[None, :, :]) ** 2, -1)


def power_flow(V, theta, G, B):
    t = theta[:, None] - theta[None, :]
    return abs(V) * ((G * np.cos(t) + B * np.sin(t)) @ abs(V))


def hsic(X, y, sigma):
    n = len(y)
    H = np.eye(n) - np.ones((n, n)) / n
    return np.trace(np.exp(-rows_square(X) / (2 * sigma**2)) @ H @ np.outer(y, y) @ H) / (n - 1) ** 2


def attention(Q, K, V):
    S = np.exp(Q @ K.T / np.sqrt(Q.shape[1]))
    return S / S.sum(1, keepdims=True) @ V


def psycho(x, k, n, alpha, beta, gamma):
    f = gamma + (1 - gamma) * (1 - np.exp(-((x / alpha) ** beta)))
    return np.sum(k * np.log(f) + (n - k) * np.log(1 - f))


SEVENTH_END = [
    Passage(
        "variogram fit",
        (
            r"\sum_{k=1}^{K}\frac{N_k}{\gamma(h_k)^2}\bigl(\hat\gamma_k-\gamma(h_k)\bigr)^2,\qquad"
            r"\gamma(h)=c_0+c\left(1-e^{-3h/a}\right)"
        ),
        "N, h, gamma_hat: vector(K) positive; c_0, c, a: scalar positive",
        "a",
        lambda N, h, gamma_hat, c_0, c, a: np.sum(
            N * (gamma_hat - (c_0 + c * (1 - np.exp(-3 * h / a)))) ** 2 / (c_0 + c * (1 - np.exp(-3 * h / a))) ** 2
        ),
    ),
    Passage(
        "upper confidence bound",
        r"\mathrm{UCB}_a(t)=\hat\mu_a+\sqrt{\frac{2\ln(1+t)}{n_a}}",
        "mu_hat, n: vector(A) positive; t: scalar positive",
        "n",
        lambda mu_hat, n, t: mu_hat + np.sqrt(2 * np.log(1 + t) / n),
    ),
    Passage(
        "power flow",
        (
            r"P_i=\sum_{k=1}^{N}|V_i||V_k|\left(G_{ik}\cos\theta_{ik}+B_{ik}\sin\theta_{ik}\right),"
            r"\qquad\theta_{ik}=\theta_i-\theta_k"
        ),
        "V, theta: vector(N); G, B: matrix(N, N)",
        "theta",
        power_flow,
    ),
    Passage(
        "Redlich-Kwong",
        r"p=\frac{RT}{V_m-b}-\frac{a}{\sqrt{T}\,V_m(V_m+b)}",
        "R, T, V_m, a, b: scalar positive",
        "V_m",
        lambda R, T, V_m, a, b: R * T / (V_m - b) - a / (np.sqrt(T) * V_m * (V_m + b)),
    ),
    Passage(
        "replicator",
        r"\dot x_i=x_i\left[(A\mathbf x)_i-\mathbf x^{\top}A\mathbf x\right]",
        "A: matrix(n, n); x: vector(n)",
        "x",
        lambda A, x: x * (A @ x - x @ A @ x),
    ),
    Passage(
        "Zipf-Mandelbrot",
        r"\ell(s,q)=-s\sum_{r=1}^{N}f_r\log(r+q)-F\log\sum_{r=1}^{N}\frac{1}{(r+q)^s}",
        "f: vector(N) positive; s, q, F: scalar positive",
        "s",
        lambda f, s, q, F: (
            -s * np.sum(f * np.log(np.arange(1, len(f) + 1) + q))
            - F * np.log(np.sum((np.arange(1, len(f) + 1) + q) ** -s))
        ),
    ),
    Passage(
        "psychometric function",
        (
            r"\ell=\sum_{i=1}^{N}\left[k_i\log\psi(x_i;\alpha,\beta)+(n_i-k_i)\log\bigl(1-\psi(x_i;"
            r"\alpha,\beta)\bigr)\right],\quad\psi(x;\alpha,\beta)=\gamma+(1-\gamma)\left(1-e^{-(x/"
            r"\alpha)^{\beta}}\right)"
        ),
        "x, k, n: vector(N) positive; alpha, beta, gamma: scalar positive",
        "alpha",
        psycho,
        ("gamma",),
    ),
    Passage(
        "King profile",
        (
            r"\Sigma(R)=k\left[\left(1+R^2/r_c^2\right)^{-1/2}-\left(1+r_t^2/r_c^2\right)^{-1/2}"
            r"\right]^2"
        ),
        "k, R, r_c, r_t: scalar positive",
        "r_c",
        lambda k, R, r_c, r_t: k * ((1 + R**2 / r_c**2) ** -0.5 - (1 + r_t**2 / r_c**2) ** -0.5) ** 2,
    ),
    Passage(
        "haversine",
        (
            r"d=2r\arcsin\sqrt{\sin^2\frac{\phi_2-\phi_1}{2}+\cos\phi_1\cos\phi_2\sin^2\frac{\lambda_2"
            r"-\lambda_1}{2}}"
        ),
        "r, phi_1, phi_2, lambda_1, lambda_2: scalar positive",
        "phi_1",
        lambda r, phi_1, phi_2, lambda_1, lambda_2: (
            2
            * r
            * np.arcsin(
                np.sqrt(
                    np.sin((phi_2 - phi_1) / 2) ** 2
                    + np.cos(phi_1) * np.cos(phi_2) * np.sin((lambda_2 - lambda_1) / 2) ** 2
                )
            )
        ),
        ("phi_1", "phi_2"),
    ),
    Passage(
        "Hilbert-Schmidt independence",
        (
            r"\mathrm{HSIC}=\frac{1}{(n-1)^2}\operatorname{tr}(KHLH),\quad H=I_n-\frac1n\mathbf 1"
            r"\mathbf 1^\top,\quad K_{ij}=\exp\left(-\frac{\|x_i-x_j\|^2}{2\sigma^2}\right),\quad"
            " L_{ij}=y_iy_j"
        ),
        "X: matrix(n, d); y: vector(n); sigma: scalar positive",
        "X",
        hsic,
    ),
    Passage(
        "translog",
        (
            r"\ln Y=\alpha_0+\sum_{i=1}^{n}\alpha_i\ln x_i+\frac12\sum_{i=1}^{n}\sum_{j=1}^{n}"
            r"\beta_{ij}\ln x_i\ln x_j"
        ),
        "alpha_0: scalar; alpha: vector(n); beta: matrix(n, n); x: vector(n) positive",
        "x",
        lambda alpha_0, alpha, beta, x: alpha_0 + alpha @ np.log(x) + np.log(x) @ beta @ np.log(x) / 2,
    ),
    Passage(
        "attention by rows",
        (
            r"\mathrm{Attention}(Q,K,V)_i=\sum_{j=1}^{n}\frac{\exp\left(q_i^\top k_j/\sqrt d\right)}{"
            r"\sum_{l=1}^{n}\exp\left(q_i^\top k_l/\sqrt d\right)}\,v_j"
        ),
        "Q: matrix(m, d); K: matrix(n, d); V: matrix(n, p)",
        "K",
        attention,
    ),
    Passage(
        "entropic transport, dual",
        (
            r"\max_{f\in\mathbb R^m,\,g\in\mathbb R^n}\;\langle f,a\rangle+\langle g,b\rangle-"
            r"\varepsilon\sum_{i,j}\exp\!\Big(\frac{f_i+g_j-C_{ij}}{\varepsilon}\Big)"
        ),
        "f, a: vector(m); g, b: vector(n); C: matrix(m, n); epsilon: scalar positive",
        "f",
        lambda f, a, g, b, C, epsilon: f @ a + g @ b - epsilon * np.sum(np.exp((f[:, None] + g - C) / epsilon)),
    ),
    Passage(
        "squared hinge, minimize",
        (
            r"\underset{\mathbf w}{\operatorname{minimize}}\quad\frac12\|\mathbf w\|_2^2+C\sum_{i"
            r"=1}^{m}\max\{0,1-y_i\mathbf w^{\intercal}\mathbf x_i\}^2"
        ),
        "w: vector(n); X: matrix(m, n); y: vector(m); C: scalar positive",
        "w",
        lambda w, X, y, C: w @ w / 2 + C * np.sum(np.maximum(0, 1 - y * (X @ w)) ** 2),
    ),
    Passage(
        "threshold regression",
        (
            r"S_n(\gamma)=\sum_{i=1}^{n}\left(y_i-\beta_1x_i\mathbb{1}\{q_i\le\gamma\}-\beta_2x_i"
            r"\mathbb{1}\{q_i>\gamma\}\right)^2"
        ),
        "y, x, q: vector(n); beta_1, beta_2, gamma: scalar",
        "beta_1",
        lambda y, x, q, beta_1, beta_2, gamma: np.sum((y - np.where(q <= gamma, beta_1, beta_2) * x) ** 2),
    ),
    Passage(
        "hypothesis of a course",
        (
            r"J(\theta)=\frac{1}{2m}\sum_{i=1}^{m}\left(h_\theta(x^{(i)})-y^{(i)}\right)^2,\qquad h_"
            r"\theta(x)=\theta^Tx"
        ),
        "X: matrix(m, n); y: vector(m); theta: vector(n)",
        "theta",
        lambda X, y, theta: np.sum((X @ theta - y) ** 2) / (2 * len(y)),
    ),
    Passage(
        "product of Bernoulli",
        r"p(x\mid\theta)=\prod_{i=1}^{n}\theta_i^{x_i}(1-\theta_i)^{1-x_i}",
        "x, theta: vector(n) positive",
        "theta",
        lambda x, theta: np.prod(theta**x * (1 - theta) ** (1 - x)),
        ("theta",),
    ),
    Passage(
        "gradient of ridge",
        r"\nabla f(x)=A^{\mathsf T}(Ax-b)+\lambda x",
        "A: matrix(m, n); x: vector(n); b: vector(m); lambda: scalar",
        "x",
        lambda A, x, b, **k: A.T @ (A @ x - b) + k["lambda"] * x,
    ),
    Passage(
        "modularity",
        r"Q=\frac{1}{2m}\sum_{i,j}\left(A_{ij}-\gamma\frac{k_ik_j}{2m}\right)\delta(c_i,c_j)",
        "A: matrix(N, N); k: vector(N); c: index(N); m, gamma: scalar positive",
        "k",
        lambda A, k, c, m, gamma: (
            np.sum((A - gamma * np.outer(k, k) / (2 * m)) * (np.asarray(c)[:, None] == c)) / (2 * m)
        ),
    ),
    Passage(
        "gated feed-forward layer",
        r"\mathrm{FFN}(x)=W_2\left(\mathrm{SiLU}(W_1x)\odot(W_3x)\right)",
        "W_1, W_3: matrix(m, n); W_2: matrix(n, m); x: vector(n)",
        "x",
        lambda W_1, W_3, W_2, x: W_2 @ (W_1 @ x * special.expit(W_1 @ x) * (W_3 @ x)),
    ),
]

SEVENTH_REFUSED = [
    (
        "Beckmann transformation",
        (
            r"Z(\mathbf x)=\sum_{a\in\mathcal A}t_a^0\left[x_a+\frac{\alpha\,c_a}{\beta+1}\left("
            r"\frac{x_a}{c_a}\right)^{\beta+1}\right]"
        ),
        "t, x, c: vector(A) positive; alpha, beta: scalar positive",
        "the number 1 or a name with the superscript 0",
    ),
    (
        "graph attention",
        (
            r"\alpha_{ij}=\frac{\exp\left(\mathrm{LeakyReLU}\left(\mathbf a^{\top}[\mathbf W\mathbf"
            r" h_i\,\Vert\,\mathbf W\mathbf h_j]\right)\right)}{\sum_{k=1}^{N}\exp\left("
            r"\mathrm{LeakyReLU}\left(\mathbf a^{\top}[\mathbf W\mathbf h_i\,\Vert\,\mathbf W\mathbf"
            r" h_k]\right)\right)}"
        ),
        "H: matrix(N, d); W: matrix(q, d); a: vector(2*q)",
        "LeakyReLU is not supported",
    ),
    (
        "diode with series resistance",
        r"I=I_L-I_0\left[\exp\left(\frac{V+IR_s}{nV_T}\right)-1\right]",
        "I_L, I_0, V, R_s, n, V_T: scalar positive",
        "is an equation",
    ),
]
