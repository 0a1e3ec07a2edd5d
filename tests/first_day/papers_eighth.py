r"""The eighth set of passages, in the style of papers of different fields, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special

sg = special.expit


def imq(X, Y):
    def k(A, B):
        return np.sqrt(1 + np.sum((A[:, None] - B[None]) ** 2, -1))

    return 2 * k(X, Y).mean() - k(X, X).mean() - k(Y, Y).mean()


def factor_dynamics(Y, F, Lambda, Phi):
    return np.sum((Y - F @ Lambda.T) ** 2) + np.sum((F[1:] - F[:-1] @ Phi.T) ** 2)


def grid_tv(u):
    a, b = u[1:, :-1] - u[:-1, :-1], u[:-1, 1:] - u[:-1, :-1]
    return np.sum(np.sqrt(a**2 + b**2))


def beta_binomial(n, k, alpha, beta):
    return np.sum(
        special.gammaln(n + 1)
        - special.gammaln(k + 1)
        - special.gammaln(n - k + 1)
        + special.betaln(k + alpha, n - k + beta)
        - special.betaln(alpha, beta)
    )


def rot(theta):
    return np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])


EIGHTH = [
    Passage(
        "gradient of a softened network",
        r"\frac{\partial\mathcal L}{\partial W}=\frac{1}{m}X^{\top}\bigl(\sigma(XW)-Y\bigr)",
        "X: matrix(m, n); W: matrix(n, k); Y: matrix(m, k)",
        "W",
        lambda X, W, Y: X.T @ (sg(X @ W) - Y) / len(X),
    ),
    Passage(
        "Fresnel reflection",
        (
            r"R_s=\left|\frac{n_1\cos\theta_i-n_2\cos\theta_t}{n_1\cos\theta_i+n_2\cos\theta_t}"
            r"\right|^2,\qquad \theta_t=\arcsin\left(\frac{n_1}{n_2}\sin\theta_i\right)"
        ),
        "n_1, n_2, theta_i: scalar positive",
        "theta_i",
        lambda n_1, n_2, theta_i: (
            (
                (n_1 * np.cos(theta_i) - n_2 * np.sqrt(1 - (n_1 / n_2 * np.sin(theta_i)) ** 2))
                / (n_1 * np.cos(theta_i) + n_2 * np.sqrt(1 - (n_1 / n_2 * np.sin(theta_i)) ** 2))
            )
            ** 2
        ),
        ("n_1", "theta_i"),
    ),
    Passage(
        "Flory-Huggins",
        r"\Delta G_m=RT\left(n_1\ln\phi_1+n_2\ln\phi_2+\chi n_1\phi_2\right),\quad\phi_2=1-\phi_1",
        "R, T, n_1, n_2, phi_1, chi: scalar positive",
        "phi_1",
        lambda R, T, n_1, n_2, phi_1, chi: (
            R * T * (n_1 * np.log(phi_1) + n_2 * np.log(1 - phi_1) + chi * n_1 * (1 - phi_1))
        ),
        ("phi_1",),
    ),
    Passage(
        "Antoine",
        r"\log_{10}p=A-\frac{B}{C+T}",
        "A, B, C, T: scalar positive",
        "T",
        lambda A, B, C, T: A - B / (C + T),
    ),
    Passage(
        "Kelly growth",
        r"g(\mathbf f)=\sum_{k=1}^{K}p_k\ln\bigl(1+\mathbf f^{\!\top}\mathbf r_k\bigr)",
        "f: vector(n) positive; R: matrix(K, n) positive; p: vector(K) positive",
        "f",
        lambda f, R, p: np.sum(p * np.log(1 + R @ f)),
    ),
    Passage(
        "energy distance of a kernel",
        (
            r"\mathcal{E}=\frac{2}{mn}\sum_{i=1}^{m}\sum_{j=1}^{n}k(x_i,y_j)-\frac{1}{m^2}\sum_{i,i'"
            r"=1}^{m}k(x_i,x_{i'})-\frac{1}{n^2}\sum_{j,j'=1}^{n}k(y_j,y_{j'}),\quad k(x,y)=\sqrt{1+"
            r"\|x-y\|^2}"
        ),
        "X: matrix(m, d); Y: matrix(n, d)",
        "X",
        imq,
    ),
    Passage(
        "local linear regression",
        (
            r"\min_{\beta_0,\beta_1}\;\sum_{i=1}^{n}K\!\left(\frac{x_i-x_0}{h}\right)\bigl(y_i-\beta_0"
            r"-\beta_1(x_i-x_0)\bigr)^2,\qquad K(u)=\tfrac34(1-u^2)"
        ),
        "x, y: vector(n); x_0, beta_0, beta_1: scalar; h: scalar positive",
        "h",
        lambda x, y, x_0, beta_0, beta_1, h: np.sum(
            0.75 * (1 - ((x - x_0) / h) ** 2) * (y - beta_0 - beta_1 * (x - x_0)) ** 2
        ),
    ),
    Passage(
        "mean field of spins",
        (
            r"\mathcal{F}(\mathbf m)=-\frac12\sum_{i,j}J_{ij}m_im_j-\sum_ih_im_i+\frac1\beta\sum_i"
            r"\left[\frac{1+m_i}{2}\ln\frac{1+m_i}{2}+\frac{1-m_i}{2}\ln\frac{1-m_i}{2}\right]"
        ),
        "J: matrix(n, n); h: vector(n); m: vector(n) positive; beta: scalar positive",
        "m",
        lambda J, h, m, beta: (
            -m @ J @ m / 2
            - h @ m
            + np.sum((1 + m) / 2 * np.log((1 + m) / 2) + (1 - m) / 2 * np.log((1 - m) / 2)) / beta
        ),
        ("m",),
    ),
    Passage(
        "FitzHugh-Nagumo",
        r"\frac{\mathrm{d}v}{\mathrm{d}t}=v-\frac{v^3}{3}-w+I_{\mathrm{ext}}",
        "v, w, I_ext: scalar",
        "v",
        lambda v, w, I_ext: v - v**3 / 3 - w + I_ext,
    ),
    Passage(
        "Gaussian beam",
        (
            r"I(r,z)=I_0\left(\frac{w_0}{w(z)}\right)^2\exp\left(\frac{-2r^2}{w(z)^2}\right),\quad"
            r" w(z)=w_0\sqrt{1+\left(\frac{z}{z_R}\right)^2}"
        ),
        "I_0, w_0, r, z, z_R: scalar positive",
        "z",
        lambda I_0, w_0, r, z, z_R: I_0 / (1 + (z / z_R) ** 2) * np.exp(-2 * r**2 / (w_0**2 * (1 + (z / z_R) ** 2))),
    ),
    Passage(
        "Swamee-Jain",
        (
            r"f=\frac{0.25}{\left[\log_{10}\left(\frac{\varepsilon}{3.7D}+\frac{5.74}{"
            r"\mathrm{Re}^{0.9}}\right)\right]^2}"
        ),
        "epsilon, D, Re: scalar positive",
        "D",
        lambda epsilon, D, Re: 0.25 / np.log10(epsilon / (3.7 * D) + 5.74 / Re**0.9) ** 2,
    ),
    Passage(
        "Penman-Monteith",
        (
            r"\lambda E=\frac{\Delta(R_n-G)+\rho_ac_p(e_s-e_a)/r_a}{\Delta+\gamma\left(1+r_s/r_a"
            r"\right)}"
        ),
        "Delta, R_n, G, rho_a, c_p, e_s, e_a, r_a, r_s, gamma: scalar positive",
        "r_s",
        lambda Delta, R_n, G, rho_a, c_p, e_s, e_a, r_a, r_s, gamma: (
            (Delta * (R_n - G) + rho_a * c_p * (e_s - e_a) / r_a) / (Delta + gamma * (1 + r_s / r_a))
        ),
    ),
    Passage(
        "dynamic factors",
        (
            r"\sum_{t=1}^{T}\left\|\mathbf y_t-\boldsymbol\Lambda\mathbf f_t\right\|^2+\sum_{t=2}^{T}"
            r"\left\|\mathbf f_t-\boldsymbol\Phi\mathbf f_{t-1}\right\|^2"
        ),
        "Y: matrix(T, p); F: matrix(T, k); Lambda: matrix(p, k); Phi: matrix(k, k)",
        "F",
        factor_dynamics,
    ),
    Passage(
        "total variation of an image",
        (
            r"\mathrm{TV}(u)=\sum_{i=1}^{m-1}\sum_{j=1}^{n-1}\sqrt{(u_{i+1,j}-u_{i,j})^2+(u_{i,j+1}"
            "-u_{i,j})^2}"
        ),
        "u: matrix(m, n)",
        "u",
        grid_tv,
    ),
    Passage(
        "Harris corner",
        r"R=\det(M)-k\,(\operatorname{trace}M)^2",
        "M: matrix(2, 2); k: scalar",
        "M",
        lambda M, k: np.linalg.det(M) - k * np.trace(M) ** 2,
    ),
    Passage(
        "rotation in the plane",
        (
            r"E(\theta)=\sum_{i=1}^{n}\left\|R(\theta)p_i-q_i\right\|_2^2,\quad R(\theta)="
            r"\begin{pmatrix}\cos\theta&-\sin\theta\\ \sin\theta&\cos\theta\end{pmatrix}"
        ),
        "P, Q: matrix(n, 2); theta: scalar",
        "theta",
        lambda P, Q, theta: np.sum((P @ rot(theta).T - Q) ** 2),
    ),
    Passage(
        "planar arm",
        (
            r"\mathbf p=\begin{bmatrix}l_1\cos\theta_1+l_2\cos(\theta_1+\theta_2)\\ l_1\sin\theta_1"
            r"+l_2\sin(\theta_1+\theta_2)\end{bmatrix}"
        ),
        "l, theta: vector(2)",
        "theta",
        lambda l, theta: np.array(  # noqa: E741
            [
                l[0] * np.cos(theta[0]) + l[1] * np.cos(theta[0] + theta[1]),
                l[0] * np.sin(theta[0]) + l[1] * np.sin(theta[0] + theta[1]),
            ]
        ),
    ),
    Passage(
        "double pendulum",
        (
            r"T=\tfrac12(m_1+m_2)l_1^2\dot\theta_1^2+\tfrac12m_2l_2^2\dot\theta_2^2+m_2l_1l_2\dot"
            r"\theta_1\dot\theta_2\cos(\theta_1-\theta_2)"
        ),
        "m_1, m_2, l_1, l_2: scalar positive; theta_1, theta_2, theta_dot_1, theta_dot_2: scalar",
        "theta_1",
        lambda m_1, m_2, l_1, l_2, theta_1, theta_2, theta_dot_1, theta_dot_2: (
            (m_1 + m_2) * l_1**2 * theta_dot_1**2 / 2
            + m_2 * l_2**2 * theta_dot_2**2 / 2
            + m_2 * l_1 * l_2 * theta_dot_1 * theta_dot_2 * np.cos(theta_1 - theta_2)
        ),
    ),
    Passage(
        "beta-binomial",
        (
            r"\ell(\alpha,\beta)=\sum_{i=1}^{N}\left[\log\binom{n_i}{k_i}+\log\mathrm{B}(k_i+"
            r"\alpha,n_i-k_i+\beta)-\log\mathrm{B}(\alpha,\beta)\right]"
        ),
        "n, k: vector(N) positive; alpha, beta: scalar positive",
        "alpha",
        beta_binomial,
        ("k",),
    ),
]
