r"""The thirteenth set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


def wgan(x, y, W, v, b):
    return np.mean(np.maximum(0, y @ W.T + b) @ v) - np.mean(np.maximum(0, x @ W.T + b) @ v)


def gru(W, U, b, h_0, X):
    h = h_0
    for x in X:
        z = sigmoid(W @ x + U @ h + b)
        h = (1 - z) * h + z * np.tanh(W @ x)
    return np.sum(h**2)


def mamba(a, B, C, x):
    h, total = np.zeros_like(B), 0.0
    for t in x:
        h = a * h + B * t
        total += C @ h
    return total


def kalman_gain(P, H, R):
    return P @ H.T @ np.linalg.inv(H @ P @ H.T + R)


def bond(c, y, F, n=4):
    return sum(c / (1 + y) ** t for t in range(1, 5)) + F / (1 + y) ** 4


def fourier(a, b, x, omega):
    k = np.arange(1, len(b) + 1)
    return a[0] / 2 + np.sum(a[1:] * np.cos(k * omega * x) + b * np.sin(k * omega * x))


def bpr(P, Q, u, i, j):
    d = np.sum(P[u] * (Q[i] - Q[j]), axis=1)
    return -np.sum(np.log(sigmoid(d)))


def gravity(R, m, G):
    found = np.zeros_like(R)
    for i in range(len(R)):
        for j in range(len(R)):
            if i != j:
                found[i] += G * m[j] * (R[j] - R[i]) / np.linalg.norm(R[j] - R[i]) ** 3
    return found


THIRTEENTH = [
    Passage(
        "Wasserstein critic",
        (
            r"\min_\theta\ \frac{1}{m}\sum_{i=1}^{m} f(y_i) - \frac{1}{m}\sum_{i=1}^{m} f(x_i), where $f(x) = "
            r"v^\top\max(0, Wx + b)$ is the critic and $x_i, y_i \in \mathbb{R}^d$ are real and generated "
            "samples, respectively."
        ),
        "X, Y: matrix(m, d); W: matrix(k, d); v, b: vector(k)",
        "W",
        lambda X, Y, W, v, b: wgan(X, Y, W, v, b),
    ),
    Passage(
        "gated unit",
        (
            r"\|h_T\|_2^2, \quad z_t = \sigma(Wx_t + Uh_{t-1} + b), \quad \tilde h_t = \tanh(Wx_t), \quad h_t = "
            r"(1 - z_t)\odot h_{t-1} + z_t\odot\tilde h_t, \quad t = 1, \dots, T"
        ),
        "W: matrix(n, d); U: matrix(n, n); b, h_0: vector(n); X: matrix(T, d)",
        "W",
        gru,
    ),
    Passage(
        "diagonal state space model",
        r"\sum_{t=1}^{T} y_t, \quad h_t = a\odot h_{t-1} + b\,x_t, \quad y_t = c^\top h_t, \quad h_0 = 0",
        "a, b, c: vector(n); x: vector(T)",
        "a",
        lambda a, b, c, x: mamba(a, b, c, x),
    ),
    Passage(
        "Kalman gain",
        r"K = PH^\top\left(HPH^\top + R\right)^{-1}, \quad P \succ 0, \; R \succ 0",
        "P: matrix(n, n) spd; H: matrix(m, n); R: matrix(m, m) spd",
        "H",
        kalman_gain,
    ),
    Passage(
        "coupon bond",
        r"P = \sum_{t=1}^{4}\frac{c}{(1+y)^t} + \frac{F}{(1+y)^4}",
        "c, y, F: scalar positive",
        "y",
        bond,
    ),
    Passage(
        "Fourier series",
        r"f(x) = \frac{a_0}{2} + \sum_{k=1}^{n}\left(a_k\cos(k\omega x) + b_k\sin(k\omega x)\right)",
        "a: vector(n+1); b: vector(n); omega, x: scalar",
        "omega",
        fourier,
    ),
    Passage(
        "matrix factorisation by ranks",
        (
            r"-\sum_{s=1}^{N}\ln\sigma\left(p_{u_s}^\top(q_{i_s} - q_{j_s})\right), where $u_s$, $i_s$ and $j_s$ "
            "are the user and the two items of triple $s$."
        ),
        "P: matrix(V, k); Q: matrix(M, k); u: index(N); i: index(N); j: index(N)",
        "P",
        lambda P, Q, u, i, j: bpr(P, Q, u, i, j),
    ),
    Passage(
        "Gross-Pitaevskii on a grid",
        (
            r"E[\psi] = \sum_{i=1}^{n-1}\frac{(\psi_{i+1} - \psi_i)^2}{2h} + h\sum_{i=1}^{n}\left(V_i\psi_i^2 + "
            r"\frac{g}{2}\psi_i^4\right)"
        ),
        "psi, V: vector(n); h, g: scalar positive",
        "psi",
        lambda psi, V, h, g: np.sum(np.diff(psi) ** 2) / (2 * h) + h * np.sum(V * psi**2 + g / 2 * psi**4),
    ),
    Passage(
        "Tsiolkovsky with staging",
        r"\Delta v = \sum_{i=1}^{n} c_i\ln\frac{m_{0,i}}{m_{f,i}}",
        "c, m_0, m_f: vector(n) positive",
        "m_0",
        lambda c, m_0, m_f: np.sum(c * np.log(m_0 / m_f)),
    ),
    Passage(
        "Nernst",
        r"E = E^\circ - \frac{RT}{zF}\ln Q",
        "E_circ, R, T, z, F, Q: scalar positive",
        "Q",
        lambda E_circ, R, T, z, F, Q: E_circ - R * T / (z * F) * np.log(Q),
    ),
    Passage(
        "Van der Waals",
        r"P = \frac{nRT}{V - nb} - a\left(\frac{n}{V}\right)^2",
        "n, R, T, V, b, a: scalar positive",
        "V",
        lambda n, R, T, V, b, a: n * R * T / (V - n * b) - a * (n / V) ** 2,
    ),
    Passage(
        "ideal mixing",
        (
            r"\Delta G_{\mathrm{mix}} = RT\sum_{i=1}^{n}x_i\ln(\gamma_i x_i), \qquad \ln\gamma_i = "
            r"\sum_{j=1}^{n}A_{ij}x_j"
        ),
        "R, T: scalar positive; x: vector(n) positive; A: matrix(n, n)",
        "x",
        lambda R, T, x, A: R * T * np.sum(x * (A @ x + np.log(x))),
    ),
    Passage(
        "Stefan-Boltzmann balance of surfaces",
        r"q_i = \sum_{j=1}^{n}F_{ij}\,\sigma\left(T_i^4 - T_j^4\right), \quad i = 1, \dots, n",
        "F: matrix(n, n); T: vector(n) positive; sigma: scalar positive",
        "T",
        lambda F, T, sigma: sigma * np.sum(F * (T[:, None] ** 4 - T**4), axis=1),
    ),
    Passage(
        "two-body gravity",
        (
            r"\ddot{\mathbf r}_i = \sum_{j\neq i} \frac{Gm_j(\mathbf r_j - \mathbf r_i)}{\|\mathbf r_j - \mathbf "
            r"r_i\|^3}"
        ),
        "R: matrix(N, 3); m: vector(N) positive; G: scalar positive",
        "R",
        gravity,
    ),
]
