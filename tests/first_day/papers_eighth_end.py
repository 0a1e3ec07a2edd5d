r"""The last part of the eighth set of passages, each written blind."""

import numpy as np
from first_day.papers import Passage
from scipy import special

sg = special.expit


def polya(n, alpha):
    A, N = alpha.sum(), n.sum()
    return special.gamma(A) / special.gamma(N + A) * np.prod(special.gamma(n + alpha) / special.gamma(alpha))


def lstm(W_f, W_i, W_o, W_c, U_f, U_i, U_o, U_c, X, b_f, b_i, b_o, b_c):
    h, c = 0 * b_f, 0 * b_f
    for x in X:
        f, i, o = sg(W_f @ x + U_f @ h + b_f), sg(W_i @ x + U_i @ h + b_i), sg(W_o @ x + U_o @ h + b_o)
        c = f * c + i * np.tanh(W_c @ x + U_c @ h + b_c)
        h = o * np.tanh(c)
    return h @ h


def sinkhorn(K, a, b):
    v = np.ones(K.shape[1])
    for _ in range(4):
        u = a / (K @ v)
        v = b / (K.T @ u)
    return u @ K @ v


def adam(g, beta_1, beta_2, epsilon):
    m = v = 0.0
    for x in g:
        m, v = beta_1 * m + (1 - beta_1) * x, beta_2 * v + (1 - beta_2) * x**2
    return m / (1 - beta_1 ** len(g)) / (np.sqrt(v / (1 - beta_2 ** len(g))) + epsilon)


def mcp(beta, lam, gamma):
    a = abs(beta)
    return np.sum(np.where(a <= gamma * lam, lam * a - beta**2 / (2 * gamma), gamma * lam**2 / 2))


def matern(r, sigma, ell):
    z = np.sqrt(5) * r / ell
    return sigma**2 * (1 + z + z**2 / 3) * np.exp(-z)


EIGHTH_END = [
    Passage(
        "Polya distribution",
        (
            r"p(\mathbf n\mid\boldsymbol\alpha)=\frac{\Gamma(A)}{\Gamma(N+A)}\prod_{k=1}^{K}\frac{"
            r"\Gamma(n_k+\alpha_k)}{\Gamma(\alpha_k)},\qquad A=\sum_k\alpha_k,\; N=\sum_kn_k"
        ),
        "n, alpha: vector(K) positive",
        "alpha",
        polya,
    ),
    Passage(
        "Plackett-Luce",
        r"\sum_{i=1}^{N}\left(s_i-\log\sum_{j=i}^{N}e^{s_j}\right)",
        "s: vector(N)",
        "s",
        lambda s: sum(s[i] - np.log(np.sum(np.exp(s[i:]))) for i in range(len(s))),
    ),
    Passage(
        "ranking by pairs",
        (
            r"\widehat{R}(f)=\frac{1}{mn}\sum_{i=1}^{m}\sum_{j=1}^{n}\bigl[1-(f(x_i)-f(z_j))\bigr]_"
            r"+^2,\quad f(x)=w^\top x"
        ),
        "X: matrix(m, d); Z: matrix(n, d); w: vector(d)",
        "w",
        lambda X, Z, w: np.mean(np.maximum(0, 1 - ((X @ w)[:, None] - Z @ w)) ** 2),
    ),
    Passage(
        "fused lasso",
        (
            r"\frac{1}{2}\|y-\beta\|_2^2+\lambda_1\|\beta\|_1+\lambda_2\sum_{j=2}^{p}|\beta_j-\beta_{j"
            "-1}|"
        ),
        "y, beta: vector(p); lambda_1, lambda_2: scalar positive",
        "beta",
        lambda y, beta, lambda_1, lambda_2: (
            np.sum((y - beta) ** 2) / 2 + lambda_1 * np.sum(abs(beta)) + lambda_2 * np.sum(abs(np.diff(beta)))
        ),
    ),
    Passage(
        "minimax concave penalty",
        (
            r"P(\beta)=\sum_{j=1}^{p}\rho(\beta_j),\quad\rho(t)=\begin{cases}\lambda|t|-\dfrac{t^2}{2"
            r"\gamma},&|t|\le\gamma\lambda,\\[4pt]\tfrac12\gamma\lambda^2,&|t|>\gamma\lambda."
            r"\end{cases}"
        ),
        "beta: vector(p); lambda, gamma: scalar positive",
        "beta",
        lambda beta, gamma, **k: mcp(beta, k["lambda"], gamma),
    ),
    Passage(
        "Matern kernel",
        (
            r"k_{5/2}(r)=\sigma^2\left(1+\frac{\sqrt5r}{\ell}+\frac{5r^2}{3\ell^2}\right)\exp\left(-"
            r"\frac{\sqrt5r}{\ell}\right)"
        ),
        "r, sigma, ell: scalar positive",
        "ell",
        matern,
    ),
    Passage(
        "long short-term memory",
        (
            r"\begin{align*}"
            "\n"
            r"f_t &= \sigma(W_f x_t + U_f h_{t-1} + b_f)\\"
            "\n"
            r"i_t &= \sigma(W_i x_t + U_i h_{t-1} + b_i)\\"
            "\n"
            r"o_t &= \sigma(W_o x_t + U_o h_{t-1} + b_o)\\"
            "\n"
            r"\tilde c_t &= \tanh(W_c x_t + U_c h_{t-1} + b_c)\\"
            "\n"
            r"c_t &= f_t\odot c_{t-1} + i_t\odot\tilde c_t\\"
            "\n"
            r"h_t &= o_t\odot\tanh(c_t)\\"
            "\n"
            r"L &= h_T^\top h_T,\quad h_0 = 0,\; c_0 = 0,\; t = 1,\ldots,T"
            "\n"
            r"\end{align*}"
        ),
        (
            "W_f, W_i, W_o, W_c: matrix(n, m); U_f, U_i, U_o, U_c: matrix(n, n); X: matrix(T, m); b_f, b_i, b_o,"
            " b_c: vector(n)"
        ),
        "U_f",
        lstm,
    ),
    Passage(
        "Tucker decomposition",
        (
            r"\sum_{i=1}^{m}\sum_{j=1}^{n}\sum_{k=1}^{d}\left(x_{ijk}-\sum_{a=1}^{p}\sum_{b=1}^{q}"
            r"\sum_{c=1}^{r}g_{abc}A_{ia}B_{jb}C_{kc}\right)^2"
        ),
        "X: tensor(m, n, d); G: tensor(p, q, r); A: matrix(m, p); B: matrix(n, q); C: matrix(d, r)",
        "G",
        lambda X, G, A, B, C: np.sum((X - np.einsum("abc,ia,jb,kc->ijk", G, A, B, C)) ** 2),
    ),
    Passage(
        "canonical correlation",
        (
            r"\rho=\frac{\mathbf a^{\top}\boldsymbol\Sigma_{xy}\mathbf b}{\sqrt{\mathbf a^{\top}"
            r"\boldsymbol\Sigma_{xx}\mathbf a}\,\sqrt{\mathbf b^{\top}\boldsymbol\Sigma_{yy}\mathbf"
            " b}}"
        ),
        ("a: vector(m); b: vector(n); Sigma_xy: matrix(m, n); Sigma_xx: matrix(m, m) spd; Sigma_yy: matrix(n, n) spd"),
        "a",
        lambda a, b, Sigma_xy, Sigma_xx, Sigma_yy: a @ Sigma_xy @ b / np.sqrt(a @ Sigma_xx @ a * (b @ Sigma_yy @ b)),
    ),
    Passage(
        "optimal design",
        (
            r"\underset{w\ge0}{\text{maximize}}\;\;\log\det\left(\sum_{i=1}^{m}w_i\,x_ix_i^{\top}"
            r"\right)"
        ),
        "w: vector(m) positive; X: matrix(m, q)",
        "w",
        lambda w, X: np.linalg.slogdet((X.T * w) @ X)[1],
    ),
    Passage(
        "Sinkhorn iterations",
        (
            r"u^{(k+1)}=a\oslash(Kv^{(k)}),\quad v^{(k+1)}=b\oslash(K^{\top}u^{(k+1)}),\quad v^{(0)}="
            r"\mathbf 1,\quad k=0,\dots,3,\quad \langle u^{(4)},Kv^{(4)}\rangle"
        ),
        "K: matrix(m, n) positive; a: vector(m) positive; b: vector(n) positive",
        "K",
        sinkhorn,
    ),
    Passage(
        "Adam direction",
        (
            r"m_t=\beta_1m_{t-1}+(1-\beta_1)g_t,\quad v_t=\beta_2v_{t-1}+(1-\beta_2)g_t^2,\quad m_0"
            r"=v_0=0,\quad \frac{m_T/(1-\beta_1^T)}{\sqrt{v_T/(1-\beta_2^T)}+\epsilon}"
        ),
        "g: vector(T); beta_1, beta_2, epsilon: scalar positive",
        "g",
        adam,
        ("beta_1", "beta_2"),
    ),
    Passage(
        "soft values",
        r"V(s)=\tau\log\sum_{a}\exp\bigl(Q(s,a)/\tau\bigr)",
        "Q: matrix(S, A); tau: scalar positive",
        "Q",
        lambda Q, tau: tau * special.logsumexp(Q / tau, axis=1),
    ),
    Passage(
        "thin spaces",
        (
            r"f(\mathbf w)=\mathbf w^{\!\top}\!\boldsymbol\Sigma\,\mathbf w-\mathbf 1^{\!\top}\mathbf"
            " w"
        ),
        "w: vector(n); Sigma: matrix(n, n) spd",
        "w",
        lambda w, Sigma: w @ Sigma @ w - w.sum(),
    ),
    Passage(
        "Manning",
        r"Q=\frac1n A R_h^{2/3}\sqrt{S}",
        "n, A, R_h, S: scalar positive",
        "R_h",
        lambda n, A, R_h, S: A * R_h ** (2 / 3) * np.sqrt(S) / n,
    ),
    Passage(
        "Stone-Geary utility",
        r"U(x)=\prod_{i=1}^{n}(x_i+\gamma_i)^{\beta_i}",
        "x, gamma, beta: vector(n) positive",
        "x",
        lambda x, gamma, beta: np.prod((x + gamma) ** beta),
    ),
    Passage(
        "Gini coefficient",
        (
            r"G=\frac{\sum_{i=1}^{n}\sum_{j=1}^{n}|x_i-x_j|}{2n^2\bar x},\quad\text{where }\bar x="
            r"\frac1n\sum_{i=1}^{n}x_i"
        ),
        "x: vector(n) positive",
        "x",
        lambda x: np.sum(abs(x[:, None] - x)) / (2 * len(x) ** 2 * x.mean()),
    ),
    Passage(
        "Theil index",
        (
            r"T_T=\frac{1}{N}\sum_{i=1}^{N}\left(\frac{x_i}{\mu}\ln\frac{x_i}{\mu}\right),\qquad\mu="
            r"\frac{1}{N}\sum_{i=1}^{N}x_i"
        ),
        "x: vector(N) positive",
        "x",
        lambda x: np.mean(x / x.mean() * np.log(x / x.mean())),
    ),
]

EIGHTH_REFUSED = [
    (
        "Tetens",
        r"e_s(T)=6.112\exp\left(\frac{17.67\,T}{T+243.5}\right)~[\mathrm{hPa}]",
        "T: scalar",
        "hPa is not declared",
    ),
    (
        "variance regularisation",
        (
            r"v(Z)=\frac1d\sum_{j=1}^{d}\max\left(0,\gamma-\sqrt{\operatorname{Var}(z^{j})+\epsilon}"
            r"\right)"
        ),
        "Z: matrix(n, d); gamma, epsilon: scalar positive",
        "papers divide by n or by n - 1",
    ),
    (
        "polynomial with dots",
        r"y=a_0+a_1x+a_2x^2+\cdots+a_nx^n",
        "x: scalar; a: vector(n+1)",
        "write the sum with its bounds",
    ),
]
