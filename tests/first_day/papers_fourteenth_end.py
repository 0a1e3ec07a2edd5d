r"""The last part of the fourteenth set of passages, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


def sir(y, rho, beta, gamma, s, i_0):
    S, I, total = s, i_0, 0.0  # noqa: E741
    for t in y:
        S, I = S - beta * S * I, I + beta * S * I - gamma * I  # noqa: E741
        total += (t - rho * I) ** 2
    return total


def block(x, b_2, W_1, b_1, W_2):
    u = W_1 @ ((x - x.mean()) / x.std()) + b_1
    return x + W_2 @ (u * special.ndtr(u)) + b_2


def fuzzy(A, C, b, S, x):
    w = np.exp(-np.sum((x - C) ** 2 / (2 * S**2), axis=1))
    return w @ (A @ x + b) / w.sum()


def proximal(x, A, b, eta, lam):
    u = x - eta * A.T @ (A @ x - b)
    return np.sign(u) * np.maximum(abs(u) - eta * lam, 0)


def deviance(y, X, beta, beta_0):
    m = np.exp(beta_0 + X @ beta)
    return 2 * np.sum(y * np.log(y / m) - (y - m))


FOURTEENTH_END = [
    Passage(
        "multi-head score",
        r"S = \sum_{h=1}^{H}\alpha_h\,(W^Q_h x)^\top(W^K_h y)",
        "alpha: vector(H); W_Q, W_K: tensor(H, k, n); x, y: vector(n)",
        "x",
        lambda alpha, W_Q, W_K, x, y: np.einsum("h,hki,i,hkj,j", alpha, W_Q, x, W_K, y),
    ),
    Passage(
        "residual block",
        (
            r"y = x + W_2\,\mathrm{GELU}\left(W_1\,\mathrm{LN}(x) + b_1\right) + b_2, where $\mathrm{LN}(x) = "
            r"\frac{x - \mu}{\sigma}$ denotes layer normalisation, $\mu = \frac1n\sum_i x_i$ and $\sigma^2 = "
            r"\frac1n\sum_i(x_i - \mu)^2$."
        ),
        "x, b_2: vector(n); W_1: matrix(m, n); b_1: vector(m); W_2: matrix(n, m)",
        "x",
        block,
    ),
    Passage(
        "Poisson deviance of a glm",
        (
            r"D = 2\sum_{i=1}^n\left[y_i\ln\frac{y_i}{\mu_i} - (y_i - \mu_i)\right], \quad \ln\mu_i = \beta_0 + "
            r"\sum_{j=1}^{p} x_{ij}\beta_j"
        ),
        "y: vector(n) positive; X: matrix(n, p); beta: vector(p); beta_0: scalar",
        "beta",
        deviance,
    ),
    Passage(
        "proximal gradient step",
        (
            r"x^{+} = \operatorname{prox}(x - \eta A^\top(Ax - b)), \quad \operatorname{prox}(u) = "
            r"\operatorname{sgn}(u)\max(|u| - \eta\lambda, 0)"
        ),
        "x: vector(n); A: matrix(m, n); b: vector(m); eta, lambda: scalar positive",
        "x",
        lambda x, A, b, eta, **k: proximal(x, A, b, eta, k["lambda"]),
    ),
    Passage(
        "SIR difference equations",
        (
            r"\sum_{t=1}^{T}(y_t - \rho I_t)^2, \quad S_{t+1} = S_t - \beta S_tI_t, \quad I_{t+1} = I_t + \beta "
            r"S_tI_t - \gamma I_t, \quad S_0 = s, \; I_0 = i_0"
        ),
        "y: vector(T); rho, beta, gamma, s, i_0: scalar positive",
        "beta",
        sir,
    ),
    Passage(
        "soft decision tree",
        r"\hat y = \sum_{l=1}^{L}c_l\prod_{d=1}^{D}\sigma\left(s_{ld}\,w_d^\top x\right)",
        "c: vector(L); S: matrix(L, D); W: matrix(D, n); x: vector(n)",
        "x",
        lambda c, S, W, x: c @ np.prod(sigmoid(S * (W @ x)), axis=1),
    ),
    Passage(
        "pulsar dispersion",
        r"\Delta t = k_{\mathrm{DM}}\,\mathrm{DM}\left(\nu_1^{-2} - \nu_2^{-2}\right)",
        "k_DM, DM, nu_1, nu_2: scalar positive",
        "nu_1",
        lambda k_DM, DM, nu_1, nu_2: k_DM * DM * (nu_1**-2 - nu_2**-2),
    ),
    Passage(
        "fuzzy inference",
        (
            r"y = \frac{\sum_{r=1}^{R} w_r (a_r^\top x + b_r)}{\sum_{r=1}^{R} w_r}, \quad w_r = "
            r"\prod_{j=1}^{d}\exp\left(-\frac{(x_j - c_{rj})^2}{2 s_{rj}^2}\right)"
        ),
        "A, C: matrix(R, d); b: vector(R); S: matrix(R, d) positive; x: vector(d)",
        "x",
        fuzzy,
    ),
    Passage(
        "Elliott wave band",
        (
            r"B = \begin{cases} 1 & |\omega| \le \omega_c \\ e^{-a(|\omega| - \omega_c)} & \text{otherwise} "
            r"\end{cases}"
        ),
        "omega, omega_c, a: scalar positive",
        "omega",
        lambda omega, omega_c, a: 1.0 if abs(omega) <= omega_c else np.exp(-a * (abs(omega) - omega_c)),
    ),
]

FOURTEENTH_REFUSED = [
    (
        "hinge rank",
        r"\frac{1}{|P|}\sum_{(i,j)\in P}\max(0, 1 - w^\top(x_i - x_j))",
        "X: matrix(n, d); w: vector(d); P: matrix(n, n)",
        "the number of members of P",
    ),
]
