r"""The last part of the sixth set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special


def sg(t):
    return 1 / (1 + np.exp(-t))


def gae(r, V, gamma, lam):
    d = r + gamma * V[1:] - V[:-1]
    return np.sum((gamma * lam) ** np.arange(len(r)) * d)


SIXTH_END = [
    Passage(
        "Ewald real space",
        r"E=\frac12\sum_{i=1}^{N}\sum_{j\ne i}^{N}q_iq_j\frac{\operatorname{erfc}(\alpha r_{ij})}{r_{ij}}",
        "q: vector(N); r: matrix(N, N) positive; alpha: scalar positive",
        "q",
        lambda q, r, alpha: (
            0.5
            * sum(
                q[i] * q[j] * special.erfc(alpha * r[i, j]) / r[i, j]
                for i in range(len(q))
                for j in range(len(q))
                if i != j
            )
        ),
    ),
    Passage(
        "variational energy Hylleraas",
        r"\langle E\rangle=\frac{\sum_{i}\sum_{j}c_ic_jH_{ij}}{\sum_{i}\sum_{j}c_ic_jS_{ij}}",
        "c: vector(n); H, S: matrix(n, n) symmetric",
        "c",
        lambda c, H, S: c @ H @ c / (c @ S @ c),
    ),
    Passage(
        "rate law Hill",
        r"v=\frac{V_{\max}[L]^n}{K_d^n+[L]^n}",
        "V_max, L, n, K_d: scalar positive",
        "L",
        lambda V_max, L, n, K_d: V_max * L**n / (K_d**n + L**n),
    ),
    Passage(
        "Butler-Volmer",
        (
            r"j=j_0\left\{\exp\left[\frac{\alpha_azF\eta}{RT}\right]-\exp\left[-\frac{\alpha_czF\eta}{RT}\right]"
            r"\right\}"
        ),
        "j_0, alpha_a, alpha_c, z, F, eta, R, T: scalar positive",
        "eta",
        lambda j_0, alpha_a, alpha_c, z, F, eta, R, T: (
            j_0 * (np.exp(alpha_a * z * F * eta / (R * T)) - np.exp(-alpha_c * z * F * eta / (R * T)))
        ),
    ),
    Passage(
        "chain binomial likelihood",
        r"\ell=\sum_{t=1}^{T-1}I_{t+1}\log\left(1-q^{I_t}\right)+(S_t-I_{t+1})I_t\log q",
        "I, S: vector(T) positive; q: scalar positive",
        "q",
        lambda I, S, q: np.sum(I[1:] * np.log(1 - q ** I[:-1]) + (S[:-1] - I[1:]) * I[:-1] * np.log(q)),  # noqa: E741
        ("q",),
    ),
    Passage(
        "Leslie matrix growth",
        r"\lambda=\frac{v^\top Ln}{v^\top n}",
        "v, n: vector(k); L: matrix(k, k)",
        "L",
        lambda v, n, L: v @ L @ n / (v @ n),
    ),
    Passage(
        "species distribution log Gaussian Cox",
        (
            r"\ell=\sum_{i=1}^{n}\left(y_i(\alpha+x_i^\top\beta+f_i)-a_ie^{\alpha+x_i^\top\beta+f_i}\right)-"
            r"\frac12f^\top K^{-1}f"
        ),
        "X: matrix(n, p); y, a, f: vector(n); beta: vector(p); alpha: scalar; K: matrix(n, n) spd",
        "f",
        lambda X, y, a, f, beta, alpha, K: (
            np.sum(y * (alpha + X @ beta + f) - a * np.exp(alpha + X @ beta + f)) - 0.5 * f @ np.linalg.solve(K, f)
        ),
    ),
    Passage(
        "DINA / guessing item",
        r"P_{ij}=c_j+(1-c_j)\frac{e^{1.7a_j(\theta_i-b_j)}}{1+e^{1.7a_j(\theta_i-b_j)}}",
        "theta: vector(n); a, b, c: vector(J)",
        "theta",
        lambda theta, a, b, c: c + (1 - c) * sg(1.7 * a * (theta[:, None] - b)),
    ),
    Passage(
        "multidimensional scaling stress",
        (
            r"\sigma_{\mathrm{raw}}(X)=\sum_{i<j}w_{ij}\bigl(\delta_{ij}-d_{ij}(X)\bigr)^2,\quad "
            r"d_{ij}(X)=\|x_i-x_j\|"
        ),
        "X: matrix(n, p); w, delta: matrix(n, n)",
        "w",
        lambda X, w, delta: sum(
            w[i, j] * (delta[i, j] - np.linalg.norm(X[i] - X[j])) ** 2
            for i in range(len(X))
            for j in range(i + 1, len(X))
        ),
    ),
    Passage(
        "photometric bundle",
        r"E(\xi)=\sum_{i=1}^{n}\rho\left(r_i\right),\quad\rho(r)=\frac{r^2}{r^2+c^2},\quad r_i=b_i-a_i^\top\xi",
        "A: matrix(n, k); b: vector(n); xi: vector(k); c: scalar positive",
        "xi",
        lambda A, b, xi, c: np.sum((b - A @ xi) ** 2 / ((b - A @ xi) ** 2 + c**2)),
    ),
    Passage(
        "Phong shading, again",
        (
            r"I=k_a+k_d\max(0,\mathbf n^\top\mathbf l)+k_s\max(0,\mathbf r^\top\mathbf v)^{\alpha},\quad\mathbf "
            r"r=2(\mathbf n^\top\mathbf l)\mathbf n-\mathbf l"
        ),
        "n, l, v: vector(3); k_a, k_d, k_s, alpha: scalar positive",
        "n",
        lambda n, l, v, k_a, k_d, k_s, alpha: (  # noqa: E741
            k_a + k_d * max(0, n @ l) + k_s * max(0, (2 * (n @ l) * n - l) @ v) ** alpha
        ),
    ),
    Passage(
        "Rényi entropy",
        r"H_\alpha(p)=\frac{1}{1-\alpha}\log\sum_{i=1}^{n}p_i^\alpha",
        "p: vector(n) positive; alpha: scalar positive",
        "p",
        lambda p, alpha: np.log(np.sum(p**alpha)) / (1 - alpha),
    ),
    Passage(
        "GAE advantage sum",
        r"\hat A_1=\sum_{l=0}^{T-1}(\gamma\lambda)^l\delta_{l+1},\quad\delta_t=r_t+\gamma V_{t+1}-V_t",
        "r: vector(T); V: vector(T+1); gamma, lam: scalar positive",
        "V",
        gae,
    ),
]

SIXTH_REFUSED = [
    (
        "Merton default",
        (
            r"E=V\,N(d_1)-De^{-rT}N(d_2),\quad d_{1}=\frac{\ln(V/D)+(r+\tfrac12\sigma^2)T}{\sigma\sqrt T},\quad "
            r"d_2=d_1-\sigma\sqrt T"
        ),
        "V, D, r, T, sigma: scalar positive",
        r"N\(\.\.\.\) can be a function of this name or a product",
    ),
    (
        "information bottleneck",
        (
            r"\mathcal L=\sum_{x,t}p(x)q(t|x)\log\frac{q(t|x)}{q(t)}-\beta\sum_{t,y}q(t)q(y|t)\log"
            r"\frac{q(y|t)}{p(y)}"
        ),
        "p: vector(m) positive; q: matrix(k, m) positive; beta: scalar",
        r"1 index for q, which has 2 axes",
    ),
    (
        "fictitious Q-learning batch",
        r"\sum_{(s,a,r,s')\in\mathcal D}\left(r+\gamma\max_{a'}Q(s',a')-Q(s,a)\right)^2",
        "Q: matrix(S, A); gamma: scalar",
        r"the range of this sum is not supported",
    ),
]
