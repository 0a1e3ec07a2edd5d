r"""Whole paragraphs of LaTeX from papers, fourth set, part 1: written by someone who had seen no code."""

import numpy as np
from first_day.paragraph import Paragraph
from scipy import special


def negbin(y, X, beta, alpha):
    s = 0.0
    for i in range(len(y)):
        mu = np.exp(X[i] @ beta)
        s += (
            special.gammaln(y[i] + 1 / alpha)
            - special.gammaln(1 / alpha)
            - special.gammaln(y[i] + 1)
            - np.log(1 + alpha * mu) / alpha
            + y[i] * np.log(alpha * mu / (1 + alpha * mu))
        )
    return s


def auglag(Q, c, A, b, x, rho, **k):
    lam = k["lambda"]
    s = 0.5 * x @ Q @ x + c @ x
    for j in range(A.shape[0]):
        s += (max(0.0, lam[j] + rho * (A[j] @ x - b[j])) ** 2 - lam[j] ** 2) / (2 * rho)
    return s


def tv(u, f, epsilon, **k):
    lam = k["lambda"]
    m, n = u.shape
    s = 0.0
    for i in range(m):
        for j in range(n):
            s += np.sqrt((u[i, j] - f[i, j]) ** 2 + epsilon**2)
    for i in range(m - 1):
        for j in range(n - 1):
            s += lam * np.sqrt((u[i + 1, j] - u[i, j]) ** 2 + (u[i, j + 1] - u[i, j]) ** 2 + epsilon**2)
    return s


def wsr(w, G, p, sigma):
    K = len(p)
    s = 0.0
    for a in range(K):
        interf = sum(G[a, j] * p[j] for j in range(K) if j != a)
        s += w[a] * np.log2(1 + G[a, a] * p[a] / (interf + sigma**2))
    return s


def gmm(Z, X, y, theta, W):
    n = len(y)
    g = np.zeros(Z.shape[1])
    for i in range(n):
        g = g + Z[i] * (y[i] - X[i] @ theta) / n
    return g @ W @ g


def ljc(R, q, sigma, epsilon):
    N = R.shape[0]
    s = 0.0
    for i in range(N):
        for j in range(i + 1, N):
            r = np.sqrt(np.sum((R[i] - R[j]) ** 2))
            sg = 0.5 * (sigma[i] + sigma[j])
            ep = np.sqrt(epsilon[i] * epsilon[j])
            s += 4 * ep * ((sg / r) ** 12 - (sg / r) ** 6) + q[i] * q[j] / r
    return s


def ricker(y, r, kappa, sigma):
    T = len(y)
    s = -(T - 1) / 2 * np.log(2 * np.pi * sigma**2)
    for t in range(T - 1):
        s -= (np.log(y[t + 1]) - np.log(y[t]) - r * (1 - y[t] / kappa)) ** 2 / (2 * sigma**2)
    return s


def meanvar(mu, w, Sigma, gamma, a, b, v):
    s = mu @ w - gamma / 2 * (w @ Sigma @ w)
    for j in range(len(w)):
        s -= a[j] * abs(w[j] - v[j]) + b[j] * abs(w[j] - v[j]) ** 1.5
    return s


def gjr(r, omega, alpha, gamma, beta):
    T = len(r)
    h = np.mean(r**2)
    s = 0.0
    for t in range(T):
        if t > 0:
            h = omega + (alpha + (gamma if r[t - 1] < 0 else 0.0)) * r[t - 1] ** 2 + beta * h
        s -= 0.5 * (np.log(2 * np.pi) + np.log(h) + r[t] ** 2 / h)
    return s


def allencahn(u, h, epsilon):
    n = len(u)
    s = 0.0
    for i in range(n):
        s += epsilon**2 / 2 * ((u[(i + 1) % n] - u[i]) / h) ** 2 + 0.25 * (u[i] ** 2 - 1) ** 2
    return h * s


def bpr(P, Q, b, u, i, j, **k):
    lam = k["lambda"]
    s = 0.0
    for t in range(len(u)):
        x = P[u[t]] @ Q[i[t]] + b[i[t]] - P[u[t]] @ Q[j[t]] - b[j[t]]
        s -= np.log(1 / (1 + np.exp(-x)))
    return s + lam * (np.sum(P**2) + np.sum(Q**2) + np.sum(b**2))


def dcsbm(A, theta, omega, z):
    N = len(theta)
    s = 0.0
    for i in range(N):
        for j in range(i + 1, N):
            l = theta[i] * theta[j] * omega[z[i], z[j]]  # noqa: E741
            s += A[i, j] * np.log(l) - l
    return s


FOURTH_1 = [
    Paragraph(
        "stat.ME negative binomial regression",
        r"""
Conditionally on $x_i$, the count $y_i$ follows a negative binomial distribution with mean
$\mu_i=\exp(x_i^\top\beta)$ and dispersion parameter $\alpha>0$. The log-likelihood is
\begin{equation}
\ell(\beta,\alpha)=\sum_{i=1}^{n}\Bigl\{\log\Gamma(y_i+\alpha^{-1})-\log\Gamma(\alpha^{-1})-\log\Gamma(y_i+1)
-\alpha^{-1}\log(1+\alpha\mu_i)+y_i\log\frac{\alpha\mu_i}{1+\alpha\mu_i}\Bigr\}.
\end{equation}
""",
        "X: matrix(n, d); y: vector(n) positive; beta: vector(d); alpha: scalar positive",
        "beta",
        negbin,
    ),
    Paragraph(
        "math.OC augmented Lagrangian for a convex QP",
        r"""
The augmented Lagrangian associated with the inequality-constrained quadratic program reads
\[
\mathcal{L}_{\rho}(x,\lambda)=\tfrac12
x^{\top}Qx+c^{\top}x+\frac{1}{2\rho}\sum_{j=1}^{m}\left(\max\{0,\lambda_j+\rho(a_j^{\top}x-b_j)\}^2-\lambda_j^2\right),
\]
where $a_j^\top$ denotes the $j$-th row of $A\in\mathbb{R}^{m\times d}$ and $\rho>0$ is the penalty parameter.
""",
        "Q: matrix(d, d) symmetric; c: vector(d); A: matrix(m, d); b: vector(m); x: vector(d); lambda: vector(m) nonnegative; rho: scalar positive",  # noqa: E501
        "x",
        auglag,
    ),
    Paragraph(
        "cs.CV Charbonnier-TV denoising",
        r"""
\begin{align}
E(u) &= \sum_{i=1}^{m}\sum_{j=1}^{n}\sqrt{(u_{i,j}-f_{i,j})^2+\epsilon^2} \nonumber\\
&\quad + \lambda\sum_{i=1}^{m-1}\sum_{j=1}^{n-1}\sqrt{(u_{i+1,j}-u_{i,j})^2+(u_{i,j+1}-u_{i,j})^2+\epsilon^2}
\end{align}
""",
        "u: matrix(m, n); f: matrix(m, n); lambda: scalar positive; epsilon: scalar positive",
        "u",
        tv,
    ),
    Paragraph(
        "eess.SP weighted sum rate",
        r"""
We consider the maximization of the weighted sum-rate
\begin{equation}\label{eq:wsr}
R(\mathbf{p})=\sum_{k=1}^{K}w_k\log_2\left(1+\mathrm{SINR}_k\right),
\qquad
\mathrm{SINR}_k=\frac{G_{kk}\,p_k}{\sum_{j\neq k}G_{kj}\,p_j+\sigma^2},
\end{equation}
where $p_k$ is the transmit power of user $k$, $G_{kj}$ is the channel gain from transmitter $j$ to receiver $k$ and
$\sigma^2$ is the noise power.
""",
        "w: vector(K) positive; G: matrix(K, K) positive; p: vector(K) positive; sigma: scalar positive",
        "p",
        wsr,
    ),
    Paragraph(
        "econ.EM linear GMM",
        r"""
The GMM estimator minimizes $Q_n(\theta)=\bar g_n(\theta)'W\bar g_n(\theta)$, where
$$\bar g_n(\theta)=\frac{1}{n}\sum_{i=1}^{n}z_i\,(y_i-x_i'\theta)$$
and $W$ is a positive definite weighting matrix.
""",
        "Z: matrix(n, q); X: matrix(n, d); y: vector(n); theta: vector(d); W: matrix(q, q) spd",
        "theta",
        gmm,
    ),
    Paragraph(
        "physics.chem-ph non-bonded force field",
        r"""
The non-bonded potential energy is the sum of Lennard-Jones and Coulomb terms,
\begin{equation}
U(\mathbf{R})=\sum_{i<j}\left\{4\epsilon_{ij}\left[\left(\frac{\sigma_{ij}}{r_{ij}}\right)^{12}-\left(\frac{\sigma_{ij}}{r_{ij}}\right)^{6}\right]+\frac{q_iq_j}{r_{ij}}\right\},
\end{equation}
with $r_{ij}=\lvert\mathbf{R}_i-\mathbf{R}_j\rvert$ the distance between atoms $i$ and $j$, and the
Lorentz--Berthelot combination rules
\begin{equation}
\sigma_{ij}=\frac{1}{2}(\sigma_i+\sigma_j),\qquad \epsilon_{ij}=\sqrt{\epsilon_i\epsilon_j}.
\end{equation}
""",
        "R: matrix(N, d); q: vector(N); sigma: vector(N) positive; epsilon: vector(N) positive",
        "R",
        ljc,
    ),
    Paragraph(
        "q-bio.PE Ricker model",
        r"""
With log-normal process noise of variance $\sigma^2$, growth rate $r$ and carrying capacity $\kappa$, the
conditional log-likelihood of the abundance series $y_1,\dots,y_T$ under the Ricker model is
\begin{equation}
\ell(r,\kappa,\sigma)=-\frac{T-1}{2}\log(2\pi\sigma^2)-\frac{1}{2\sigma^2}\sum_{t=1}^{T-1}\left[\log y_{t+1}-\log
y_t-r\left(1-\frac{y_t}{\kappa}\right)\right]^2 .
\end{equation}
""",
        "y: vector(T) positive; r: scalar; kappa: scalar positive; sigma: scalar positive",
        "r",
        ricker,
    ),
    Paragraph(
        "q-fin.PM portfolio choice with transaction costs",
        r"""
Let $v\in\mathbb{R}^d$ be the current holdings. The investor chooses $w$ to maximise
\begin{equation*}
U(w)=\mu^{\top}w-\frac{\gamma}{2}\,w^{\top}\Sigma w-\sum_{j=1}^{d}\left(a_j|w_j-v_j|+b_j|w_j-v_j|^{3/2}\right),
\end{equation*}
where the linear term reflects the bid--ask spread and the $3/2$-power term the market impact.
""",
        "mu: vector(d); w: vector(d); Sigma: matrix(d, d) spd; gamma: scalar positive; a: vector(d) positive; b: vector(d) positive; v: vector(d)",  # noqa: E501
        "w",
        meanvar,
    ),
    Paragraph(
        "q-fin.ST GJR-GARCH",
        r"""
The conditional variance follows the GJR-GARCH(1,1) recursion
\begin{equation}
\sigma_t^2=\omega+\left(\alpha+\gamma\,\mathbf{1}\{r_{t-1}<0\}\right)r_{t-1}^2+\beta\sigma_{t-1}^2,\qquad
t=2,\dots,T,
\end{equation}
initialised at the sample second moment $\sigma_1^2=\frac{1}{T}\sum_{t=1}^{T}r_t^2$. The parameters are estimated by
maximising the Gaussian quasi log-likelihood
\begin{equation}
\ell(\omega,\alpha,\gamma,\beta)=-\frac12\sum_{t=1}^{T}\left(\log
2\pi+\log\sigma_t^2+\frac{r_t^2}{\sigma_t^2}\right).
\end{equation}
""",
        "r: vector(T); omega: scalar positive; alpha: scalar positive; gamma: scalar positive; beta: scalar positive",
        "alpha",
        gjr,
    ),
    Paragraph(
        "math.NA discrete Allen-Cahn energy",
        r"""
On a uniform grid with mesh size $h$ and periodic boundary conditions, $u_{n+1}=u_1$, the discrete Ginzburg--Landau
free energy is given by
\begin{equation}
E_h(u)=h\sum_{i=1}^{n}\left[\frac{\epsilon^2}{2}\left(\frac{u_{i+1}-u_i}{h}\right)^2+\frac14\left(u_i^2-1\right)^2\right].
\end{equation}
""",
        "u: vector(n); h: scalar positive; epsilon: scalar positive",
        "u",
        allencahn,
    ),
    Paragraph(
        "cs.IR Bayesian personalised ranking",
        r"""
Given sampled triples $(u_s,i_s,j_s)$, $s=1,\dots,n$, of a user, an observed item and an unobserved item, we
minimize
\begin{equation}
\mathcal{L}_{\mathrm{BPR}}=-\sum_{s=1}^{n}\ln\sigma\left(\hat{x}_{u_s i_s}-\hat{x}_{u_s
j_s}\right)+\lambda\left(\|P\|_F^2+\|Q\|_F^2+\|b\|_2^2\right)
\end{equation}
where the predicted score is $\hat{x}_{ui}=p_u^{\top}q_i+b_i$ and $\sigma(x)=1/(1+e^{-x})$ is the logistic function;
$p_u$ and $q_i$ are rows of $P$ and $Q$.
""",
        "P: matrix(M, k); Q: matrix(N, k); b: vector(N); u: index(n); i: index(n); j: index(n); lambda: scalar positive",  # noqa: E501
        "P",
        bpr,
        ranges={"u": "M", "i": "N", "j": "N"},
    ),
    Paragraph(
        "cs.SI degree-corrected stochastic block model",
        r"""
Dropping terms that do not depend on the parameters, the log-likelihood of the degree-corrected stochastic block
model is
$$
\mathcal{L}(\theta,\omega)=\sum_{i<j}\left[A_{ij}\log\left(\theta_i\theta_j\omega_{z_iz_j}\right)-\theta_i\theta_j\omega_{z_iz_j}\right],
$$
where $z_i\in\{1,\dots,K\}$ is the block of node $i$.
""",
        "A: matrix(N, N) symmetric; theta: vector(N) positive; omega: matrix(K, K) positive; z: index(N)",
        "theta",
        dcsbm,
        ranges={"z": "K"},
    ),
]
