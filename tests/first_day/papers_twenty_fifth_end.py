r"""The twenty-fifth set of passages, in the style of papers of different fields, each written blind (second half)."""

import numpy as np
from first_day.papers import Passage

norm = np.linalg.norm


def relu(t):
    return np.maximum(t, 0.0)


def matern(X, y, ell, sigma_f, sigma_n):
    n, K = len(X), np.zeros((len(X), len(X)))
    for i in range(n):
        for j in range(n):
            r = np.sqrt(sum((X[i] - X[j]) ** 2 / ell**2))
            K[i, j] = sigma_f**2 * (1 + np.sqrt(5) * r + 5 * r**2 / 3) * np.exp(-np.sqrt(5) * r)
    K = K + sigma_n**2 * np.eye(n)
    return -y @ np.linalg.inv(K) @ y / 2 - np.log(np.linalg.det(K)) / 2 - n / 2 * np.log(2 * np.pi)


def unbalanced(X, Y, P, a, b, epsilon, rho):
    def kl(u, v):
        return sum(u * np.log(u / v) - u + v)

    C = np.array([[sum((x - y) ** 2) for y in Y] for x in X])
    return np.sum(C * P) + epsilon * np.sum(P * (np.log(P) - 1)) + rho * (kl(P.sum(axis=1), a) + kl(P.sum(axis=0), b))


def chan_vese(f, phi, c_1, c_2, lambda_1, lambda_2, mu, epsilon, eta):
    H = (1 + 2 / np.pi * np.arctan(phi / epsilon)) / 2
    length = np.sqrt((H[1:, :-1] - H[:-1, :-1]) ** 2 + (H[:-1, 1:] - H[:-1, :-1]) ** 2 + eta)
    return lambda_1 * np.sum((f - c_1) ** 2 * H) + lambda_2 * np.sum((f - c_2) ** 2 * (1 - H)) + mu * np.sum(length)


def fourier_features(X, y, omega, b, theta, lam):
    D = len(b)
    f = [np.sqrt(2 / D) * sum(theta[j] * np.cos(omega[j] @ x + b[j]) for j in range(D)) for x in X]
    return sum((y - f) ** 2) / len(y) + lam * theta @ theta


TWENTY_FIFTH_END = [
    Passage(
        "Bayesian D-optimal design, twenty-fifth set",
        r"""\Phi(\eta) = \log\det\left(R + \frac{1}{\sigma^2}\sum_{i=1}^{n} w_i x_i x_i^\top\right), \quad
        w_i = \frac{\exp(\eta_i)}{\sum_{j=1}^{n}\exp(\eta_j)}""",
        "X: matrix(n, p); eta: vector(n); R: matrix(p, p) spd; sigma: scalar positive",
        "eta",
        lambda X, eta, R, sigma: np.log(
            np.linalg.det(
                R + sum(np.exp(eta[i]) / sum(np.exp(eta)) * np.outer(X[i], X[i]) for i in range(len(X))) / sigma**2
            )
        ),
    ),
    Passage(
        "conditional value-at-risk",
        r"""\tilde{F}_\beta(\mathbf{x}, \alpha) = \alpha +
        \frac{1}{q(1-\beta)}\sum_{k=1}^{q}\left[-\mathbf{x}^\top \mathbf{y}_k - \alpha\right]^+, where $[t]^+ =
        \max\{0, t\}$ and $\mathbf{y}_1, \dots, \mathbf{y}_q$ are samples of the returns.""",
        "x: vector(n); Y: matrix(q, n); alpha: scalar; beta: scalar",
        "x",
        lambda x, Y, alpha, beta: alpha + sum(relu(-x @ y - alpha) for y in Y) / (len(Y) * (1 - beta)),
        ("beta",),
    ),
    Passage(
        "unbalanced optimal transport",
        r"""\min_{P\geq 0}\;\langle C, P\rangle + \epsilon\sum_{i,j} P_{ij}(\log P_{ij} - 1) +
        \rho\,\mathrm{KL}(P\mathbf{1}_m\|\mathbf{a}) + \rho\,\mathrm{KL}(P^\top\mathbf{1}_n\|\mathbf{b}), where
        $C_{ij} = \|\mathbf{x}_i - \mathbf{y}_j\|_2^2$ and $\mathrm{KL}(\mathbf{u}\|\mathbf{v}) =
        \sum_i\left(u_i\log\frac{u_i}{v_i} - u_i + v_i\right)$.""",
        (
            "X: matrix(n, d); Y: matrix(m, d); P: matrix(n, m) positive; a: vector(n) positive; "
            "b: vector(m) positive; epsilon: scalar positive; rho: scalar positive"
        ),
        "P",
        unbalanced,
    ),
    Passage(
        "time difference of arrival",
        r"""\hat{\mathbf{x}} = \arg\min_{\mathbf{x}}\frac{1}{2\sigma^2}\sum_{i<j}\left(c\,\tau_{ij} -
        (\|\mathbf{x} - \mathbf{s}_i\| - \|\mathbf{x} - \mathbf{s}_j\|)\right)^2""",
        "x: vector(d); S: matrix(M, d); tau: matrix(M, M); c: scalar positive; sigma: scalar positive",
        "x",
        lambda x, S, tau, c, sigma: (
            sum(
                (c * tau[i, j] - (norm(x - S[i]) - norm(x - S[j]))) ** 2
                for i in range(len(S))
                for j in range(i + 1, len(S))
            )
            / (2 * sigma**2)
        ),
    ),
    Passage(
        "Chan-Vese segmentation",
        r"""\begin{aligned} F(\phi) ={}& \lambda_1\sum_{i,j}(f_{i,j} - c_1)^2 H(\phi_{i,j}) +
        \lambda_2\sum_{i,j}(f_{i,j} - c_2)^2\left(1 - H(\phi_{i,j})\right) \\ &+
        \mu\sum_{i=1}^{m-1}\sum_{j=1}^{n-1}\sqrt{(H(\phi_{i+1,j}) - H(\phi_{i,j}))^2 + (H(\phi_{i,j+1}) -
        H(\phi_{i,j}))^2 + \eta} \end{aligned} where $H(z) = \frac{1}{2}\left(1 +
        \frac{2}{\pi}\arctan\left(\frac{z} {\epsilon}\right)\right)$.""",
        (
            "f: matrix(m, n); phi: matrix(m, n); c_1: scalar; c_2: scalar; lambda_1: scalar positive; "
            "lambda_2: scalar positive; mu: scalar positive; epsilon: scalar positive; eta: scalar positive"
        ),
        "phi",
        chan_vese,
    ),
    Passage(
        "neural radiance fields",
        r"""\mathcal{L} = \sum_{r=1}^{R}\left\|\hat{C}_r - C_r\right\|_2^2, \qquad \hat{C}_r =
        \sum_{i=1}^{N} T_{ri} \left(1 - \exp(-\sigma_{ri}\delta_{ri})\right)\mathbf{c}_{ri}, where $T_{ri} =
        \exp\left(-\sum_{j=1}^{i-1}\sigma_{rj}\delta_{rj}\right)$.""",
        "sigma: matrix(R, N) positive; delta: matrix(R, N) positive; c: tensor(R, N, 3); C: matrix(R, 3)",
        "sigma",
        lambda sigma, delta, c, C: sum(
            sum((sum(np.exp(-s[:i] @ d[:i]) * (1 - np.exp(-s[i] * d[i])) * k[i] for i in range(len(s))) - v) ** 2)
            for s, d, k, v in zip(sigma, delta, c, C, strict=True)
        ),
    ),
    Passage(
        "Sampson error of the fundamental matrix",
        r"""\min_F\sum_{i=1}^{n}\frac{(\mathbf{y}_i^\top F\mathbf{x}_i)^2}{(F\mathbf{x}_i)_1^2 +
        (F\mathbf{x}_i)_2^2 + (F^\top\mathbf{y}_i)_1^2 + (F^\top\mathbf{y}_i)_2^2}""",
        "X: matrix(n, 3); Y: matrix(n, 3); F: matrix(3, 3)",
        "F",
        lambda X, Y, F: sum(
            (y @ F @ x) ** 2 / (sum((F @ x)[:2] ** 2) + sum((F.T @ y)[:2] ** 2)) for x, y in zip(X, Y, strict=True)
        ),
    ),
    Passage(
        "hand-eye calibration, twenty-fifth set",
        r"""\min_{R, t}\;\sum_{i=1}^{n}\left(\|A_i R - R B_i\|_F^2 + \mu\|A_i t + a_i - R b_i -
        t\|_2^2\right) + \rho \|R^\top R - I_3\|_F^2""",
        (
            "A: tensor(n, 3, 3); a: matrix(n, 3); B: tensor(n, 3, 3); b: matrix(n, 3); R: matrix(3, 3); "
            "t: vector(3); mu: scalar positive; rho: scalar positive"
        ),
        "R",
        lambda A, a, B, b, R, t, mu, rho: (
            sum(
                np.sum((A[i] @ R - R @ B[i]) ** 2) + mu * sum((A[i] @ t + a[i] - R @ b[i] - t) ** 2)
                for i in range(len(A))
            )
            + rho * np.sum((R.T @ R - np.eye(3)) ** 2)
        ),
    ),
    Passage(
        "dynamic movement primitives",
        r"""J = \sum_{t=1}^{T}\left(\tau^2 a_t - \alpha(\beta(g - y_t) - \tau v_t) - f(s_t)\right)^2, where
        $f(s) = \frac{\sum_{i=1}^{N}\psi_i(s)w_i}{\sum_{i=1}^{N}\psi_i(s)}s$ with $\psi_i(s) = \exp(-h_i(s -
        c_i)^2)$.""",
        (
            "s: vector(T); y: vector(T); v: vector(T); a: vector(T); w: vector(N); h: vector(N) positive; "
            "c: vector(N); alpha: scalar positive; beta: scalar positive; tau: scalar positive; g: scalar"
        ),
        "c",
        lambda s, y, v, a, w, h, c, alpha, beta, tau, g: sum(
            (
                tau**2 * a[t]
                - alpha * (beta * (g - y[t]) - tau * v[t])
                - s[t] * sum(np.exp(-h * (s[t] - c) ** 2) * w) / sum(np.exp(-h * (s[t] - c) ** 2))
            )
            ** 2
            for t in range(len(s))
        ),
    ),
    Passage(
        "Bratu problem by finite differences",
        r"""\min_u\;\frac{1}{2}\sum_{i=1}^{n}\left(\frac{u_{i+1} - 2u_i + u_{i-1}}{h^2} + \lambda e^{u_i}
        \right)^2 where $h = \frac{1}{n+1}$ and $u_0 = u_{n+1} = 0$.""",
        "u: vector(n); lam: scalar positive",
        "u",
        lambda u, lam: (
            sum(((np.append(u, 0)[1:] - 2 * u + np.append(0, u)[:-1]) * (len(u) + 1) ** 2 + lam * np.exp(u)) ** 2) / 2
        ),
    ),
    Passage(
        "minimal surface over an obstacle",
        r"""E(z) = h^2\sum_{i=1}^{m-1}\sum_{j=1}^{n-1}\sqrt{1 + \left(\frac{z_{i+1,j} - z_{i,j}}{h}\right)^2
        + \left(\frac{z_{i,j+1} - z_{i,j}}{h}\right)^2} + \frac{\rho}{2}\sum_{i=1}^{m}\sum_{j=1}^{n}\max(0,
        \psi_{i,j} - z_{i,j})^2""",
        "z: matrix(m, n); psi: matrix(m, n); h: scalar positive; rho: scalar positive",
        "z",
        lambda z, psi, h, rho: (
            h**2 * np.sum(np.sqrt(1 + ((z[1:, :-1] - z[:-1, :-1]) / h) ** 2 + ((z[:-1, 1:] - z[:-1, :-1]) / h) ** 2))
            + rho / 2 * np.sum(relu(psi - z) ** 2)
        ),
    ),
    Passage(
        "RESCAL",
        r"""\min_{A, R_k}\;\frac{1}{2}\sum_{k=1}^{m}\|X_k - A R_k A^\top\|_F^2 +
        \frac{\lambda_A}{2}\|A\|_F^2 + \frac{\lambda_R}{2} \sum_{k=1}^{m}\|R_k\|_F^2""",
        (
            "X: tensor(m, n, n); A: matrix(n, r); R: tensor(m, r, r); lambda_A: scalar positive; "
            "lambda_R: scalar positive"
        ),
        "A",
        lambda X, A, R, lambda_A, lambda_R: (
            sum(np.sum((X[k] - A @ R[k] @ A.T) ** 2) for k in range(len(X))) / 2
            + lambda_A / 2 * np.sum(A**2)
            + lambda_R / 2 * np.sum(R**2)
        ),
    ),
    Passage(
        "quantum state tomography",
        r"""\mathcal{L}(T) = -\sum_{j=1}^{m} f_j\log\operatorname{tr}(\rho E_j), \qquad \rho =
        \frac{TT^\top} {\operatorname{tr}(TT^\top)}, where the measurement operators are $E_j = \psi_j\psi_j^\top$
        and $f_j$ are the observed frequencies.""",
        "T: matrix(d, d); psi: matrix(m, d); f: vector(m) positive",
        "T",
        lambda T, psi, f: (
            -sum(f[j] * np.log(np.trace(T @ T.T @ np.outer(psi[j], psi[j])) / np.trace(T @ T.T)) for j in range(len(f)))
        ),
    ),
    Passage(
        "Gross-Pitaevskii energy",
        r"""E = h\left[\frac{1}{2}\sum_{i=1}^{n-1}\left(\frac{\psi_{i+1} - \psi_i}{h}\right)^2 +
        \sum_{i=1}^{n}\left( V_i\psi_i^2 + \frac{g}{2}\psi_i^4\right)\right], where $\psi_i =
        \frac{\phi_i}{\sqrt{h\sum_{j=1}^{n}\phi_j^2}}$ is normalized.""",
        "phi: vector(n); V: vector(n); g: scalar positive; h: scalar positive",
        "phi",
        lambda phi, V, g, h: (
            h
            * (
                sum((np.diff(phi) / h) ** 2) / 2 / (h * phi @ phi)
                + sum(V * phi**2) / (h * phi @ phi)
                + g / 2 * sum(phi**4) / (h * phi @ phi) ** 2
            )
        ),
    ),
    Passage(
        "random Fourier features",
        r"""\min_\theta\;\frac{1}{n}\sum_{i=1}^{n}\left(y_i - \theta^\top\phi(x_i)\right)^2 +
        \lambda\|\theta\|_2^2, where $\phi(x) = \sqrt{\frac{2}{D}}\left[\cos(\omega_1^\top x + b_1), \dots,
        \cos(\omega_D^\top x + b_D)\right]^\top$.""",
        ("X: matrix(n, p); y: vector(n); omega: matrix(D, p); b: vector(D); theta: vector(D); lam: scalar positive"),
        "theta",
        fourier_features,
    ),
]

TWENTY_FIFTH_VALUES = [
    Passage(
        "Gaussian process, Matern 5/2 with ARD",
        r"""\log p(\mathbf{y}\mid X) = -\frac{1}{2}\mathbf{y}^\top(K + \sigma_n^2 I)^{-1}\mathbf{y} -
        \frac{1}{2}\log|K + \sigma_n^2 I| - \frac{n}{2}\log 2\pi, where $K_{ij} = \sigma_f^2\left(1 +
        \sqrt{5}\,r_{ij} + \frac{5}{3}r_{ij}^2 \right)\exp(-\sqrt{5}\,r_{ij})$ and $r_{ij} =
        \sqrt{\sum_{d=1}^{D}(x_{id} - x_{jd})^2/\ell_d^2}$.""",
        ("X: matrix(n, D); y: vector(n); ell: vector(D) positive; sigma_f: scalar positive; sigma_n: scalar positive"),
        "ell",
        matern,
    ),
]
"""Square roots that are 0 on the diagonal, with a gradient that only their product with another factor has."""

TWENTY_FIFTH_REFUSED = [
    (
        "Wasserstein GAN with gradient penalty",
        r"""L = \frac{1}{n}\sum_{i=1}^{n} D(\tilde{\mathbf{x}}_i) - \frac{1}{n}\sum_{i=1}^{n}
        D(\mathbf{x}_i) + \frac{\lambda}{n}\sum_{i=1}^{n}\left(\|\nabla D(\hat{\mathbf{x}}_i)\|_2 - 1\right)^2,
        with the generated samples $\tilde{\mathbf{x}}_i = G\mathbf{z}_i$, the interpolates $\hat{\mathbf{x}}_i =
        \epsilon_i\mathbf{x}_i + (1-\epsilon_i) \tilde{\mathbf{x}}_i$ and the critic $D(\mathbf{x}) =
        \mathbf{v}^\top\tanh(W\mathbf{x} + \mathbf{b})$.""",
        (
            "X: matrix(n, p); Z: matrix(n, q); G: matrix(p, q); W: matrix(k, p); b: vector(k); v: vector(k); "
            "epsilon: vector(n); lam: scalar positive"
        ),
        r"nabla is not supported",
    ),
    (
        "sliced score matching",
        r"""J = \frac{1}{N}\sum_{i=1}^{N}\left[\mathbf{v}_i^\top\nabla_{\mathbf{x}}\mathbf{s}(\mathbf{x}_i)
        \mathbf{v}_i + \frac{1}{2}\left(\mathbf{v}_i^\top\mathbf{s}(\mathbf{x}_i)\right)^2\right], where the score
        model is $\mathbf{s}(\mathbf{x}) = W_2\tanh(W_1\mathbf{x} + \mathbf{b})$.""",
        "X: matrix(N, d); V: matrix(N, d); W_1: matrix(m, d); b: vector(m); W_2: matrix(d, m)",
        r"nabla is not supported",
    ),
    (
        "deep graph infomax",
        r"""\mathcal{L} = -\frac{1}{2N}\left(\sum_{i=1}^{N}\log\mathcal{D}(\vec{h}_i, \vec{s}) +
        \sum_{j=1}^{N} \log\left(1 - \mathcal{D}(\vec{g}_j, \vec{s})\right)\right), where $\mathcal{D}(\vec{h},
        \vec{s}) = \sigma(\vec{h}^\top\mathbf{W}\vec{s})$, $\vec{s} =
        \sigma\left(\frac{1}{N}\sum_{i=1}^{N}\vec{h}_i\right)$, $\sigma$ is the logistic sigmoid, and $\vec{h}_i$,
        $\vec{g}_j$ are rows of $\mathbf{H} = \mathrm{ReLU}(\mathbf{A}\mathbf{X}\mathbf{\Theta})$ and $\mathbf{G}
        = \mathrm{ReLU}(\mathbf{A}\mathbf{P}\mathbf{X} \mathbf{\Theta})$.""",
        "A: matrix(N, N); X: matrix(N, p); P: matrix(N, N); Theta: matrix(p, q); W: matrix(q, q)",
        r"only words describe",
    ),
    (
        "GP-UCB",
        r"""a(\mathbf{z}) = \mu(\mathbf{z}) + \sqrt{\beta}\,s(\mathbf{z}), where \begin{align*}
        \mu(\mathbf{z}) &= \mathbf{k}(\mathbf{z})^\top(\mathbf{K} + \sigma^2\mathbf{I})^{-1}\mathbf{y}, \\
        s^2(\mathbf{z}) &= k(\mathbf{z}, \mathbf{z}) - \mathbf{k}(\mathbf{z})^\top(\mathbf{K} +
        \sigma^2\mathbf{I})^{-1}\mathbf{k}(\mathbf{z}) \end{align*} with $\mathbf{k}(\mathbf{z}) =
        [k(\mathbf{x}_1, \mathbf{z}), \dots, k(\mathbf{x}_n, \mathbf{z})]^\top$, $K_{ij} = k(\mathbf{x}_i,
        \mathbf{x}_j)$ and $k(\mathbf{x}, \mathbf{x}') = \left(1 + \frac{\|\mathbf{x} -
        \mathbf{x}'\|^2}{2\alpha\ell^2} \right)^{-\alpha}$.""",
        (
            "X: matrix(n, d); y: vector(n); z: vector(d); alpha: scalar positive; ell: scalar positive; "
            "sigma: scalar positive; beta: scalar positive"
        ),
        r"k in two fonts",
    ),
    (
        "kernel Stein discrepancy",
        r"""\mathbb{S} = \frac{1}{n^2}\sum_{i=1}^{n}\sum_{j=1}^{n} u(x_i, x_j), where $u(x, x') = s(x)^\top
        k(x, x') s(x') + s(x)^\top\nabla_{x'}k(x, x') + \nabla_x k(x, x')^\top s(x') +
        \operatorname{tr}(\nabla_{x}\nabla_{x'}k(x, x'))$, $k(x, x') = \exp\left(-\frac{\|x -
        x'\|_2^2}{2h^2}\right)$ and $s(x) = -\Sigma^{-1}(x - \mu)$ is the score of the model.""",
        "X: matrix(n, d); mu: vector(d); Sigma: matrix(d, d) spd; h: scalar positive",
        r"a vector in a function of a number",
    ),
    (
        "regularized common spatial patterns",
        r"""J(w) = \frac{w^\top C_1 w}{w^\top C_2 w + \alpha\, w^\top K w}, \qquad C_k = \frac{X_k X_k^\top}
        {\operatorname{tr}(X_k X_k^\top)}, \quad k = 1, 2""",
        "w: vector(c); X_1: matrix(c, T); X_2: matrix(c, T); K: matrix(c, c) spd; alpha: scalar positive",
        r"several formulas",
    ),
    (
        "neural Lyapunov function",
        r"""\mathcal{L} = \frac{1}{N}\sum_{i=1}^{N}\max\left(0,\; V(f(x_i)) - V(x_i) +
        \alpha\|x_i\|_2^2\right), where $V(x) = \|\phi(x) - \phi(0)\|_2^2 + \epsilon\|x\|_2^2$ with $\phi(x) =
        \tanh(Wx + b)$, and the closed loop is $f(x) = Ax + B\tanh(Kx)$.""",
        (
            "X: matrix(N, n); A: matrix(n, n); B: matrix(n, m); K: matrix(m, n); W: matrix(p, n); b: vector(p); "
            "epsilon: scalar positive; alpha: scalar positive"
        ),
        r"a scalar in a function that takes a vector",
    ),
    (
        "deep Ritz method",
        r"""\mathcal{L} = \frac{1}{n}\sum_{i=1}^{n}\left(\frac{1}{2}|\nabla_x u(x_i)|^2 - f_i\,u(x_i)\right)
        + \frac{\beta}{m} \sum_{j=1}^{m} u(y_j)^2, where $u(x) = a^\top\tanh(Wx + b)$, $x_i$ are points of the
        domain and $y_j$ points of its boundary.""",
        (
            "X: matrix(n, d); Y: matrix(m, d); f: vector(n); W: matrix(k, d); b: vector(k); a: vector(k); "
            "beta: scalar positive"
        ),
        r"nabla is not supported",
    ),
]
