r"""The first part of the sixth set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special


def ode(x, y, B, W, h):
    z = x
    for b in B:
        z = z + h * np.tanh(W @ z + b)
    return np.sum((z - y) ** 2)


def blp(delta, x, nu, sigma):
    U = np.exp(delta[None] + sigma * nu[:, None] * x)
    return np.mean(U / (1 + U.sum(1, keepdims=True)), axis=0)


def arch(epsilon, omega, alpha):
    s = omega + alpha * epsilon[:-1] ** 2
    return -0.5 * np.sum(np.log(s) + epsilon[1:] ** 2 / s)


SIXTH = [
    Passage(
        "group lasso, again",
        (
            r"\min_{\beta}\frac{1}{2}\Bigl\|y-\sum_{g=1}^{G}X_g\beta_g\Bigr\|_2^2+\lambda\sum_{g=1}^{G}\sqrt{p_g}"
            r"\,\|\beta_g\|_2"
        ),
        "y: vector(n); X: tensor(G, n, p); beta: matrix(G, p); p_g: vector(G) positive; lam: scalar",
        "beta",
        lambda y, X, beta, p_g, lam: (
            0.5 * np.sum((y - np.einsum("gnp,gp->n", X, beta)) ** 2)
            + lam * np.sum(np.sqrt(p_g) * np.linalg.norm(beta, axis=1))
        ),
    ),
    Passage(
        "label smoothing, again",
        (
            r"L=-\sum_{k=1}^{K}\left((1-\epsilon)y_k+\frac{\epsilon}{K}\right)\log p_k,\quad "
            r"p_k=\frac{e^{z_k}}{\sum_{j}e^{z_j}}"
        ),
        "z, y: vector(K); epsilon: scalar positive",
        "z",
        lambda z, y, epsilon: -np.sum(((1 - epsilon) * y + epsilon / len(y)) * special.log_softmax(z)),
    ),
    Passage(
        "neural ODE Euler loss",
        r"L=\|z_T-y\|^2,\quad z_{t+1}=z_t+h\tanh(Wz_t+b_t),\quad z_0=x,\quad t=0,\ldots,T-1",
        "x, y: vector(d); B: matrix(T, d); W: matrix(d, d); h: scalar",
        "W",
        ode,
    ),
    Passage(
        "hinge SVM primal",
        (
            r"\begin{equation}\min_{w,b}\;\frac{1}{2}\lVert w\rVert^2+C\sum_{i=1}^{N}\max\bigl(0,\,1-y_i(w\cdot "
            r"x_i+b)\bigr)\end{equation}"
        ),
        "X: matrix(N, d); y: vector(N); w: vector(d); b, C: scalar",
        "w",
        lambda X, y, w, b, C: 0.5 * w @ w + C * np.sum(np.maximum(0, 1 - y * (X @ w + b))),
    ),
    Passage(
        "negative ELBO Bernoulli",
        (
            r"-\sum_{d=1}^{D}\left[x_d\log\hat x_d+(1-x_d)\log(1-\hat "
            r"x_d)\right]+\frac12\sum_{k=1}^{K}\left(\mu_k^2+e^{s_k}-s_k-1\right)"
        ),
        "x, x_hat: vector(D) positive; mu, s: vector(K)",
        "x_hat",
        lambda x, x_hat, mu, s: (
            -np.sum(x * np.log(x_hat) + (1 - x) * np.log(1 - x_hat)) + 0.5 * np.sum(mu**2 + np.exp(s) - s - 1)
        ),
        ("x_hat",),
    ),
    Passage(
        "Gamma GLM",
        (
            r"\ell(\beta)=-\nu\sum_{i=1}^{n}\left\{\frac{y_i}{\mu_i}+\ln\mu_i\right\},\qquad\ln\mu_i=x_i^{\mathsf "
            r"T}\beta"
        ),
        "X: matrix(n, p); y: vector(n) positive; beta: vector(p); nu: scalar",
        "beta",
        lambda X, y, beta, nu: -nu * np.sum(y / np.exp(X @ beta) + X @ beta),
    ),
    Passage(
        "zero inflated Poisson",
        (
            r"\ell=\sum_{i:y_i=0}\log\left(\pi+(1-\pi)e^{-\lambda}\right)+\sum_{i:y_i>0}\left[\log(1-\pi)-\lambda"
            r"+y_i\log\lambda\right]"
        ),
        "y: vector(n); pi, lam: scalar positive",
        "lam",
        lambda y, pi, lam: (
            np.sum(np.where(y == 0, np.log(pi + (1 - pi) * np.exp(-lam)), 0))
            + np.sum(np.where(y > 0, np.log(1 - pi) - lam + y * np.log(lam), 0))
        ),
        ("pi",),
    ),
    Passage(
        "kernel density, again",
        r"\hat f(x)=\frac{1}{nh}\sum_{i=1}^{n}\frac{1}{\sqrt{2\pi}}\exp\left(-\frac{(x-x_i)^2}{2h^2}\right)",
        "x: scalar; X: vector(n); h: scalar positive",
        "x",
        lambda x, X, h: np.mean(np.exp(-((x - X) ** 2) / (2 * h * h))) / (h * np.sqrt(2 * np.pi)),
    ),
    Passage(
        "LASSO logistic with offset",
        (
            r"\frac1n\sum_{i=1}^{n}\left\{-y_i\eta_i+\log(1+e^{\eta_i})\right\}+\lambda\|\beta\|_1,\;\eta_i=o_i"
            r"+x_i^\top\beta"
        ),
        "X: matrix(n, p); y, o: vector(n); beta: vector(p); lam: scalar",
        "beta",
        lambda X, y, o, beta, lam: (
            np.mean(-y * (o + X @ beta) + np.logaddexp(0, o + X @ beta)) + lam * np.sum(abs(beta))
        ),
    ),
    Passage(
        "state space EM M-step",
        (
            r"Q(A)=-\frac12\operatorname{tr}\left\{\Gamma^{-1}\sum_{t=2}^{T}(m_t-Am_{t-1})(m_t-Am_{t-1})^\top"
            r"\right\}"
        ),
        "m: matrix(T, n); A: matrix(n, n); Gamma: matrix(n, n) spd",
        "A",
        lambda m, A, Gamma: -0.5 * np.trace(np.linalg.inv(Gamma) @ (m[1:] - m[:-1] @ A.T).T @ (m[1:] - m[:-1] @ A.T)),
    ),
    Passage(
        "Cobb-Douglas profit, again",
        r"\Pi=pAK^{\alpha}L^{1-\alpha}-wL-rK",
        "p, A, K, L, w, r, alpha: scalar positive",
        "K",
        lambda p, A, K, L, w, r, alpha: p * A * K**alpha * L ** (1 - alpha) - w * L - r * K,
    ),
    Passage(
        "CES aggregator",
        r"C=\left[\sum_{j=1}^{J}\omega_j^{1/\eta}c_j^{(\eta-1)/\eta}\right]^{\eta/(\eta-1)}",
        "omega, c: vector(J) positive; eta: scalar positive",
        "c",
        lambda omega, c, eta: np.sum(omega ** (1 / eta) * c ** ((eta - 1) / eta)) ** (eta / (eta - 1)),
    ),
    Passage(
        "BLP shares",
        (
            r"s_j=\frac{1}{R}\sum_{r=1}^{R}\frac{\exp(\delta_j+\sigma\nu_rx_j)}{1+\sum_{k=1}^{J}\exp(\delta_k+"
            r"\sigma\nu_rx_k)}"
        ),
        "delta, x: vector(J); nu: vector(R); sigma: scalar",
        "delta",
        blp,
    ),
    Passage(
        "Garch variance targeting log-likelihood with ARCH",
        (
            r"-\frac12\sum_{t=2}^{T}\left(\ln\sigma_t^2+\frac{\epsilon_t^2}{\sigma_t^2}\right),\quad\sigma_t^2="
            r"\omega+\alpha\epsilon_{t-1}^2"
        ),
        "epsilon: vector(T); omega, alpha: scalar positive",
        "alpha",
        arch,
    ),
    Passage(
        "Euler equation residual",
        r"R=\beta(1+r)\left(\frac{c'}{c}\right)^{-\gamma}-1",
        "c, c_prime, r, beta, gamma: scalar positive",
        "c_prime",
        lambda c, c_prime, r, beta, gamma: beta * (1 + r) * (c_prime / c) ** (-gamma) - 1,
    ),
    Passage(
        "H-infinity Riccati residual",
        r"\mathcal{R}(P)=A^TP+PA+C^TC+\gamma^{-2}PB_1B_1^TP-PB_2B_2^TP",
        "A, P: matrix(n, n); C: matrix(p, n); B_1: matrix(n, k); B_2: matrix(n, m); gamma: scalar positive",
        "P",
        lambda A, P, C, B_1, B_2, gamma: (
            A.T @ P + P @ A + C.T @ C + gamma**-2 * P @ B_1 @ B_1.T @ P - P @ B_2 @ B_2.T @ P
        ),
    ),
    Passage(
        "robot dynamics energy",
        r"E(q,\dot q)=\frac12\dot q^\top M\dot q+\sum_{i=1}^{n}m_igl_i\sin q_i",
        "q, q_dot, m, l: vector(n); M: matrix(n, n) spd; g: scalar",
        "q",
        lambda q, q_dot, m, l, M, g: 0.5 * q_dot @ M @ q_dot + g * np.sum(m * l * np.sin(q)),  # noqa: E741
    ),
    Passage(
        "DFT periodogram",
        (
            r"P(\omega)=\frac1N\left(\sum_{n=1}^{N}x_n\cos(\omega "
            r"n)\right)^2+\frac1N\left(\sum_{n=1}^{N}x_n\sin(\omega n)\right)^2"
        ),
        "x: vector(N); omega: scalar",
        "omega",
        lambda x, omega: (
            (x @ np.cos(omega * np.arange(1, len(x) + 1))) ** 2 / len(x)
            + (x @ np.sin(omega * np.arange(1, len(x) + 1))) ** 2 / len(x)
        ),
    ),
    Passage(
        "matched filter SNR",
        r"\mathrm{SNR}=\frac{|\mathbf h^T\mathbf s|^2}{\mathbf h^T\mathbf R_v\mathbf h}",
        "h, s: vector(n); R_v: matrix(n, n) spd",
        "h",
        lambda h, s, R_v: (h @ s) ** 2 / (h @ R_v @ h),
    ),
    Passage(
        "TDOA localisation",
        (
            r"J(\mathbf{p})=\sum_{i=2}^{M}\left(\|\mathbf p-\mathbf a_i\|-\|\mathbf p-\mathbf "
            r"a_1\|-c\,\tau_i\right)^2"
        ),
        "p: vector(d); A: matrix(M, d); tau: vector(M); c: scalar",
        "p",
        lambda p, A, tau, c: np.sum((np.linalg.norm(p - A[1:], axis=1) - np.linalg.norm(p - A[0]) - c * tau[1:]) ** 2),
    ),
    Passage(
        "MIMO precoding MSE",
        r"\left\|\mathbf I-\mathbf W^{\mathrm H}\mathbf H\mathbf F\right\|_F^2+\sigma^2\|\mathbf W\|_F^2",
        "W: matrix(m, k); H: matrix(m, n); F: matrix(n, k); sigma: scalar",
        "F",
        lambda W, H, F, sigma: np.sum((np.eye(W.shape[1]) - W.T @ H @ F) ** 2) + sigma**2 * np.sum(W**2),
    ),
    Passage(
        "Tikhonov deconvolution",
        r"\sum_{n=1}^{N}\left(y_n-\sum_{k=1}^{K}h_kx_{n+K-k}\right)^2+\mu\|x\|^2",
        "y: vector(N); h: vector(K); x: vector(N+K-1); mu: scalar",
        "x",
        lambda y, h, x, mu: np.sum((y - np.convolve(x, h, "valid")) ** 2) + mu * x @ x,
    ),
    Passage(
        "XY model",
        r"H=-J\sum_{i,j}A_{ij}\cos(\theta_i-\theta_j)-h\sum_i\cos\theta_i",
        "A: matrix(n, n); theta: vector(n); J, h: scalar",
        "theta",
        lambda A, theta, J, h: -J * np.sum(A * np.cos(theta[:, None] - theta)) - h * np.sum(np.cos(theta)),
    ),
    Passage(
        "Morse potential, again",
        r"V(r)=D_e\left(1-e^{-a(r-r_e)}\right)^2",
        "D_e, a, r, r_e: scalar positive",
        "r",
        lambda D_e, a, r, r_e: D_e * (1 - np.exp(-a * (r - r_e))) ** 2,
    ),
]
