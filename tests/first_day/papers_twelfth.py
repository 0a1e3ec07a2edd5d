r"""The twelfth set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special


def multiclass_hinge(W, X, y):
    S = X @ W.T
    own = S[np.arange(len(y)), y]
    H = np.maximum(0, 1 + S - own[:, None])
    H[np.arange(len(y)), y] = 0
    return H.sum() / len(y) + np.sum(W**2) / 2


def bateman(k_a, k_e, F, D, V, t):
    return F * D * k_a / (V * (k_a - k_e)) * (np.exp(-k_e * t) - np.exp(-k_a * t))


def lstm_free(h_0, W, b, T=3):
    h = h_0
    for _ in range(4):
        h = np.tanh(W @ h + b)
    return h @ h


def heat(u, kappa, dt, dx):
    lap = u[2:] - 2 * u[1:-1] + u[:-2]
    return np.sum((u[1:-1] + kappa * dt / dx**2 * lap) ** 2)


def logistic_map(r, x_0, y):
    x, total = x_0, 0.0
    for t in y:
        x = r * x * (1 - x)
        total = total + (t - x) ** 2
    return total


def nll_poisson_process(lam, mu, t, T):
    return np.sum(np.log(mu + lam * t)) - mu * T - lam * T**2 / 2


def rope(q, k, theta):
    c, s = np.cos(theta), np.sin(theta)
    R = np.array([[c, -s], [s, c]])
    return (R @ q) @ k


def chi2_cont(n):
    E = np.outer(n.sum(1), n.sum(0)) / n.sum()
    return np.sum((n - E) ** 2 / E)


TWELFTH = [
    Passage(
        "multiclass hinge",
        (
            r"\min_W \frac{1}{n}\sum_{i=1}^{n}\sum_{j \neq y_i}\max\left(0, 1 + w_j^\top x_i - w_{y_i}^\top "
            r"x_i\right) + \frac12\|W\|_F^2, where $w_j$ is the weight vector of class $j$ and $y_i \in \{1, "
            r"\dots, K\}$ is the label of $x_i$."
        ),
        "W: matrix(K, d); X: matrix(n, d); y: index(n)",
        "W",
        multiclass_hinge,
    ),
    Passage(
        "Bateman function",
        (
            r"C(t) = \frac{F D k_a}{V(k_a - k_e)}\left(e^{-k_e t} - e^{-k_a t}\right), where $F$ is the "
            "bioavailability, $D$ the dose and $V$ the volume of distribution."
        ),
        "F, D, V, k_a, k_e, t: scalar positive",
        "k_a",
        lambda F, D, V, k_a, k_e, t: bateman(k_a, k_e, F, D, V, t),
    ),
    Passage(
        "rocket equation",
        r"\Delta v = v_e \ln\frac{m_0}{m_f}, \qquad v_e = I_{\mathrm{sp}}\, g_0",
        "I_sp, g_0, m_0, m_f: scalar positive",
        "m_0",
        lambda I_sp, g_0, m_0, m_f: I_sp * g_0 * np.log(m_0 / m_f),
    ),
    Passage(
        "vis-viva",
        r"v^2 = GM\left(\frac{2}{r} - \frac{1}{a}\right)",
        "G, M, r, a: scalar positive",
        "r",
        lambda G, M, r, a: G * M * (2 / r - 1 / a),
    ),
    Passage(
        "Sabine reverberation",
        r"T_{60} = \frac{0.161\,V}{\sum_{i=1}^{n} S_i\alpha_i + 4mV}",
        "V, m: scalar positive; S, alpha: vector(n) positive",
        "alpha",
        lambda V, m, S, alpha: 0.161 * V / (S @ alpha + 4 * m * V),
    ),
    Passage(
        "Glen's flow law",
        r"\dot\varepsilon_{ij} = A\,\tau_e^{n-1}\tau_{ij}, \qquad \tau_e^2 = \frac12\sum_{i,j}\tau_{ij}^2",
        "tau: matrix(3, 3); A, n: scalar positive",
        "tau",
        lambda tau, A, n: A * np.sqrt(np.sum(tau**2) / 2) ** (n - 1) * tau,
    ),
    Passage(
        "rotary embedding",
        (
            r"s = (R_\theta q)^\top k, \qquad R_\theta = \begin{pmatrix}\cos\theta & -\sin\theta \\ \sin\theta & "
            r"\cos\theta\end{pmatrix}"
        ),
        "q, k: vector(2); theta: scalar",
        "theta",
        rope,
    ),
    Passage(
        "Hopfield-style deep equilibrium, four steps",
        r"\|h_4\|_2^2, \quad h_{t+1} = \phi(h_t), \quad \phi(h) = \tanh(W h + b), \quad t = 0, 1, 2, 3",
        "W: matrix(n, n); b, h_0: vector(n)",
        "W",
        lambda W, b, h_0: lstm_free(h_0, W, b),
    ),
    Passage(
        "logistic map fit",
        r"J(r) = \sum_{t=1}^{T}(y_t - x_t)^2, \quad x_{t+1} = f(x_t), \quad f(x) = r x(1-x)",
        "r, x_0: scalar positive; y: vector(T)",
        "r",
        logistic_map,
        ("x_0",),
    ),
    Passage(
        "explicit heat step",
        (
            r"E = \sum_{i=2}^{n-1}\left(u_i + \frac{\kappa\,\Delta t}{\Delta x^2}\left(u_{i+1} - 2u_i + "
            r"u_{i-1}\right)\right)^2"
        ),
        "u: vector(n); kappa, Delta_t, Delta_x: scalar positive",
        "u",
        lambda u, kappa, Delta_t, Delta_x: heat(u, kappa, Delta_t, Delta_x),
    ),
    Passage(
        "inhomogeneous Poisson process",
        (
            r"\ell(\mu, \lambda) = \sum_{i=1}^{n}\log\lambda(t_i) - \mu T - \tfrac12\alpha T^2, \qquad \lambda(t) "
            r"= \mu + \alpha t"
        ),
        "mu, alpha, T: scalar positive; t: vector(n) positive",
        "alpha",
        lambda mu, alpha, T, t: nll_poisson_process(alpha, mu, t, T),
    ),
    Passage(
        "chi-squared of a contingency table",
        (
            r"\chi^2 = \sum_{i=1}^{r}\sum_{j=1}^{c}\frac{(n_{ij} - e_{ij})^2}{e_{ij}}, \quad e_{ij} = \frac{R_i "
            r"C_j}{N}, \quad R_i = \sum_{j=1}^c n_{ij}, \; C_j = \sum_{i=1}^r n_{ij}, \; N = \sum_{i=1}^r R_i"
        ),
        "n: matrix(r, c) positive",
        "n",
        chi2_cont,
    ),
    Passage(
        "cross-entropy with indicators",
        (
            r"\mathrm{CE} = -\frac{1}{N}\sum_{i=1}^{N}\sum_{c=1}^{C}\mathbb{1}\{y_i = "
            r"c\}\log\frac{e^{z_{ic}}}{\sum_{c'=1}^{C}e^{z_{ic'}}}"
        ),
        "Z: matrix(N, C); y: index(N)",
        "Z",
        lambda Z, y: -np.mean(Z[np.arange(len(y)), y] - special.logsumexp(Z, axis=1)),
    ),
    Passage(
        "Neo-Hookean",
        (
            r"W = \frac{\mu}{2}\left(\operatorname{tr}(\mathbf{F}^{\top}\mathbf{F}) - 3 - 2\ln J\right) + "
            r"\frac{\lambda}{2}(\ln J)^2, where $J = \det\mathbf{F}$ is the volume ratio and $\mu, \lambda$ are "
            r"the Lam\'e constants."
        ),
        "F: matrix(3, 3) spd; mu, lambda: scalar positive",
        "F",
        lambda F, mu, **k: (
            mu / 2 * (np.trace(F.T @ F) - 3 - 2 * np.log(np.linalg.det(F)))
            + k["lambda"] / 2 * np.log(np.linalg.det(F)) ** 2
        ),
    ),
]
