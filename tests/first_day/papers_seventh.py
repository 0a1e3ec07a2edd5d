r"""The seventh set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage


def moran(w, x):
    c = x - x.mean()
    return len(x) / w.sum() * (c @ w @ c) / (c @ c)


def hawkes(t, mu, alpha, beta, T):
    total = 0
    for i in range(len(t)):
        total += np.log(mu + sum(alpha * np.exp(-beta * (t[i] - t[j])) for j in range(i)))
    return total - mu * T - alpha / beta * np.sum(1 - np.exp(-beta * (T - t)))


def lee_carter(d, e, alpha, beta, kappa):
    f = e * np.exp(alpha[:, None] + np.outer(beta, kappa))
    return 2 * np.sum(d * np.log(d / f) - (d - f))


def blup(Z, y, X, beta, sigma_u, sigma_e):
    V = sigma_u**2 * Z @ Z.T + sigma_e**2 * np.eye(len(y))
    return sigma_u**2 * Z.T @ np.linalg.solve(V, y - X @ beta)


def glm(n, X, k, h, b, Delta):
    T, L = len(n), len(h)
    total = 0
    for t in range(L, T):
        lam = np.exp(k @ X[t] + sum(h[s] * n[t - 1 - s] for s in range(L)) + b)
        total += n[t] * np.log(lam) - Delta * lam
    return total


def sabr(alpha, beta, rho, nu, F, K):
    z = nu / alpha * (F * K) ** ((1 - beta) / 2) * np.log(F / K)
    chi = np.log((np.sqrt(1 - 2 * rho * z + z**2) + z - rho) / (1 - rho))
    return alpha / (F * K) ** ((1 - beta) / 2) * z / chi


def hf(P, H, G):
    return np.sum(P * H) + 0.5 * np.einsum("mn,ls,mnls", P, P, G) - 0.25 * np.einsum("mn,ls,mlns", P, P, G)


def ssim(x, y, c_1, c_2):
    a, b = x.mean(), y.mean()
    return ((2 * a * b + c_1) * (2 * np.mean((x - a) * (y - b)) + c_2)) / (
        (a**2 + b**2 + c_1) * (np.mean((x - a) ** 2) + np.mean((y - b) ** 2) + c_2)
    )


def sampson(x, x_prime, F):
    a, b = F @ x, F.T @ x_prime
    return (x_prime @ F @ x) ** 2 / (a[0] ** 2 + a[1] ** 2 + b[0] ** 2 + b[1] ** 2)


SEVENTH = [
    Passage(
        "Moran's I",
        (
            r"I=\frac{N}{W}\,\frac{\sum_{i}\sum_{j}w_{ij}(x_i-\bar x)(x_j-\bar x)}{\sum_{i}(x_i-\bar"
            r" x)^2},\qquad W=\sum_{i}\sum_{j}w_{ij},\quad \bar x=\frac{1}{N}\sum_{i}x_i"
        ),
        "w: matrix(N, N) positive; x: vector(N)",
        "x",
        moran,
    ),
    Passage(
        "Nash-Sutcliffe",
        (
            r"\mathrm{NSE}=1-\frac{\sum_{t=1}^{T}\left(Q_o^{t}-Q_m^{t}\right)^{2}}{\sum_{t=1}^{T}"
            r"\left(Q_o^{t}-\overline{Q}_o\right)^{2}},\quad \overline{Q}_o=\frac1T\sum_{t"
            "=1}^{T}Q_o^{t}"
        ),
        "Q_o, Q_m: vector(T)",
        "Q_m",
        lambda Q_o, Q_m: 1 - np.sum((Q_o - Q_m) ** 2) / np.sum((Q_o - Q_o.mean()) ** 2),
    ),
    Passage(
        "three-dimensional variational assimilation",
        (
            r"\begin{equation}\label{eq:3dvar} J(\mathbf{x})=\tfrac{1}{2}(\mathbf{x}-\mathbf{x}_b)^{"
            r"\mathsf T}\mathbf{B}^{-1}(\mathbf{x}-\mathbf{x}_b)+\tfrac12\bigl\|\mathbf{y}-\mathbf{H}"
            r"\mathbf{x}\bigr\|^2_{\mathbf{R}^{-1}} \end{equation}"
        ),
        "x, x_b: vector(n); y: vector(m); H: matrix(m, n); B: matrix(n, n) spd; R: matrix(m, m) spd",
        "x",
        lambda x, x_b, y, H, B, R: (
            (x - x_b) @ np.linalg.solve(B, x - x_b) / 2 + (y - H @ x) @ np.linalg.solve(R, y - H @ x) / 2
        ),
    ),
    Passage(
        "Elo update",
        r"R_A'=R_A+K(S_A-E_A),\qquad E_A=\frac{1}{1+10^{(R_B-R_A)/400}}",
        "R_A, R_B, K, S_A: scalar",
        "R_A",
        lambda R_A, R_B, K, S_A: R_A + K * (S_A - 1 / (1 + 10 ** ((R_B - R_A) / 400))),
    ),
    Passage(
        "Hawkes process",
        (
            r"\ell(\mu,\alpha,\beta)=\sum_{i=1}^{N}\log\Bigl(\mu+\sum_{j<i}\alpha e^{-\beta(t_i-t_j)}"
            r"\Bigr)-\mu T-\frac{\alpha}{\beta}\sum_{i=1}^{N}\left(1-e^{-\beta(T-t_i)}\right)"
        ),
        "t: vector(N); mu, alpha, beta, T: scalar positive",
        "beta",
        hawkes,
    ),
    Passage(
        "Lee-Carter",
        (
            r"D=2\sum_{x,t}\left\{d_{x,t}\log\frac{d_{x,t}}{\hat d_{x,t}}-\left(d_{x,t}-\hat d_{x,t}"
            r"\right)\right\},\quad \hat d_{x,t}=e_{x,t}\exp(\alpha_x+\beta_x\kappa_t)"
        ),
        "d, e: matrix(A, T) positive; alpha, beta: vector(A); kappa: vector(T)",
        "kappa",
        lee_carter,
    ),
    Passage(
        "structure factor",
        r"F_{hkl}=\sum_{j=1}^{N}f_j\cos\left[2\pi\left(hx_j+ky_j+lz_j\right)\right]",
        "f, x, y, z: vector(N); h, k, l: scalar",
        "x",
        lambda f, x, y, z, h, k, l: np.sum(f * np.cos(2 * np.pi * (h * x + k * y + l * z))),  # noqa: E741
    ),
    Passage(
        "spoiled gradient echo",
        (
            r"S=M_0\,\frac{\left(1-e^{-\mathrm{TR}/T_1}\right)\sin\alpha}{1-\cos\alpha\cdot e^{-"
            r"\mathrm{TR}/T_1}}\,e^{-\mathrm{TE}/T_2}"
        ),
        "M_0, alpha, TR, T_1, TE, T_2: scalar positive",
        "alpha",
        lambda M_0, alpha, TR, T_1, TE, T_2: (
            M_0 * (1 - np.exp(-TR / T_1)) * np.sin(alpha) / (1 - np.cos(alpha) * np.exp(-TR / T_1)) * np.exp(-TE / T_2)
        ),
    ),
    Passage(
        "Jukes-Cantor",
        (
            r"\ell(t)=n_d\ln\left(\tfrac34-\tfrac34e^{-4t/3}\right)+(n-n_d)\ln\left(\tfrac14+"
            r"\tfrac34e^{-4t/3}\right)"
        ),
        "n, n_d, t: scalar positive",
        "t",
        lambda n, n_d, t: (
            n_d * np.log(0.75 - 0.75 * np.exp(-4 * t / 3)) + (n - n_d) * np.log(0.25 + 0.75 * np.exp(-4 * t / 3))
        ),
    ),
    Passage(
        "best linear unbiased prediction",
        (
            r"\widehat{\bm u}=\sigma_u^2\mathbf Z^\top\mathbf V^{-1}(\bm y-\mathbf X\bm\beta),\quad"
            r"\mathbf V=\sigma_u^2\mathbf Z\mathbf Z^\top+\sigma_e^2\mathbf I_n"
        ),
        "Z: matrix(n, q); y: vector(n); X: matrix(n, p); beta: vector(p); sigma_u, sigma_e: scalar positive",
        "y",
        blup,
    ),
    Passage(
        "Hodgkin-Huxley",
        (
            r"\dot V=\frac{1}{C_m}\bigl[I-\bar g_{Na}m^3h(V-E_{Na})-\bar g_{K}n^4(V-E_{K})-\bar"
            r" g_{L}(V-E_{L})\bigr]"
        ),
        "C_m, I, g_bar_Na, m, h, V, E_Na, g_bar_K, n, E_K, g_bar_L, E_L: scalar positive",
        "V",
        lambda C_m, I, g_bar_Na, m, h, V, E_Na, g_bar_K, n, E_K, g_bar_L, E_L: (  # noqa: E741
            (I - g_bar_Na * m**3 * h * (V - E_Na) - g_bar_K * n**4 * (V - E_K) - g_bar_L * (V - E_L)) / C_m
        ),
    ),
    Passage(
        "spiking model with history",
        (
            r"\mathcal{L}(\mathbf k,\mathbf h)=\sum_{t=L+1}^{T}\left(n_t\log\lambda_t-\Delta\lambda_t"
            r"\right),\qquad\lambda_t=\exp\Bigl(\mathbf k\cdot\mathbf x_t+\sum_{\tau=1}^{L}h_\tau n_{t"
            r"-\tau}+b\Bigr)"
        ),
        "n: vector(T); X: matrix(T, d); k: vector(d); h: vector(L); b, Delta: scalar",
        "h",
        glm,
    ),
    Passage(
        "newsvendor",
        r"\Pi(q)=\frac{1}{N}\sum_{i=1}^{N}\left[p\min\{q,d_i\}-cq\right]",
        "p, q, c: scalar positive; d: vector(N) positive",
        "q",
        lambda p, q, c, d: np.mean(p * np.minimum(q, d) - c * q),
    ),
    Passage(
        "SABR",
        (
            r"\begin{align}"
            "\n"
            r"\sigma_B &= \frac{\alpha}{(FK)^{(1-\beta)/2}}\,\frac{z}{\chi(z)}, \tag{2.17a}\\"
            "\n"
            r"z &= \frac{\nu}{\alpha}(FK)^{(1-\beta)/2}\log\frac FK, \nonumber\\"
            "\n"
            r"\chi(z) &= \log\left(\frac{\sqrt{1-2\rho z+z^2}+z-\rho}{1-\rho}\right). % Hagan et al."
            "\n"
            r"\end{align}"
        ),
        "alpha, nu, F, K, rho: scalar positive; beta: scalar",
        "F",
        sabr,
        ("rho",),
    ),
    Passage(
        "root mean square normalisation",
        (
            r"\mathrm{RMSNorm}(\mathbf x)_i=\frac{x_i}{\sqrt{\frac1d\sum_{j=1}^{d}x_j^2+\epsilon}}"
            r"\,g_i"
        ),
        "x, g: vector(d); epsilon: scalar positive",
        "x",
        lambda x, g, epsilon: x / np.sqrt(np.mean(x**2) + epsilon) * g,
    ),
    Passage(
        "Hartree-Fock energy",
        (
            r"E=\sum_{\mu\nu}P_{\mu\nu}H_{\mu\nu}+\frac12\sum_{\mu\nu\lambda\sigma}P_{\mu\nu}P_{"
            r"\lambda\sigma}\left[G_{\mu\nu\lambda\sigma}-\tfrac12G_{\mu\lambda\nu\sigma}\right]"
        ),
        "P, H: matrix(n, n); G: tensor(n, n, n, n)",
        "P",
        hf,
    ),
    Passage(
        "structural similarity",
        (
            r"\mathrm{SSIM}(x,y)=\frac{(2\mu_x\mu_y+c_1)(2\sigma_{xy}+c_2)}{(\mu_x^2+\mu_y^2+c_1)("
            r"\sigma_x^2+\sigma_y^2+c_2)},\; \mu_x=\frac1n\sum_{i=1}^nx_i,\; \mu_y=\frac1n\sum_{i"
            r"=1}^ny_i,\; \sigma_x^2=\frac1n\sum_{i=1}^n(x_i-\mu_x)^2,\; \sigma_y^2=\frac1n\sum_{i"
            r"=1}^n(y_i-\mu_y)^2,\; \sigma_{xy}=\frac1n\sum_{i=1}^n(x_i-\mu_x)(y_i-\mu_y)"
        ),
        "x, y: vector(n); c_1, c_2: scalar positive",
        "x",
        ssim,
    ),
    Passage(
        "Sampson distance",
        (
            r"d=\frac{\left(\mathbf x'^{\top}\mathbf F\mathbf x\right)^2}{(\mathbf F\mathbf x)_1^2+("
            r"\mathbf F\mathbf x)_2^2+(\mathbf F^{\top}\mathbf x')_1^2+(\mathbf F^{\top}\mathbf"
            " x')_2^2}"
        ),
        "x, x_prime: vector(3); F: matrix(3, 3)",
        "F",
        sampson,
    ),
    Passage(
        "active contour",
        (
            r"E_{\mathrm{int}}=\frac12\sum_{i=2}^{N-1}\left(\alpha\|v_i-v_{i-1}\|^2+\beta\|v_{i-1}"
            r"-2v_i+v_{i+1}\|^2\right)"
        ),
        "V: matrix(N, 2); alpha, beta: scalar",
        "V",
        lambda V, alpha, beta: (
            0.5
            * sum(
                alpha * np.sum((V[i] - V[i - 1]) ** 2) + beta * np.sum((V[i - 1] - 2 * V[i] + V[i + 1]) ** 2)
                for i in range(1, len(V) - 1)
            )
        ),
    ),
]
