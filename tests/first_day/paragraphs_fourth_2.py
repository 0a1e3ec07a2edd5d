r"""Whole paragraphs of LaTeX from papers, fourth set, part 2: written by someone who had seen no code."""

import numpy as np
from first_day.paragraph import Paragraph


def bcs(epsilon, mu, Delta, beta, g):
    s = Delta**2 / g
    for e in epsilon:
        xi = e - mu
        E = np.sqrt(xi**2 + Delta**2)
        s += xi - E - 2 / beta * np.log(1 + np.exp(-beta * E))
    return s


def kuramoto(theta, omega, A, kappa, alpha):
    N = len(theta)
    f = np.zeros(N)
    for i in range(N):
        f[i] = omega[i] + kappa / N * sum(A[i, j] * np.sin(theta[j] - theta[i] - alpha) for j in range(N))
    return f


def gplc(t, y, c, a, tau, Gamma, P, s, sigma):
    N = len(t)
    K = np.zeros((N, N))
    for i in range(N):
        for j in range(N):
            D = t[i] - t[j]
            K[i, j] = a**2 * np.exp(-(D**2) / (2 * tau**2) - Gamma * np.sin(np.pi * D / P) ** 2)
            if i == j:
                K[i, j] += sigma[i] ** 2 + s**2
    r = y - c
    return -0.5 * r @ np.linalg.solve(K, r) - 0.5 * np.log(np.linalg.det(K)) - N / 2 * np.log(2 * np.pi)


def hep(n, mu, s, b, delta, theta):
    N, J = delta.shape
    v = 0.5 * np.sum(theta**2)
    for i in range(N):
        nu = mu * s[i] + b[i] * np.prod([(1 + delta[i, j]) ** theta[j] for j in range(J)])
        v += nu - n[i] * np.log(nu)
    return v


def vqd(c, H, S, V, beta):
    s = c @ H @ c / (c @ S @ c)
    for l in range(V.shape[0]):  # noqa: E741
        s += beta * (V[l] @ S @ c) ** 2
    return s


def chomp(Q, P, rho, epsilon, **k):
    lam = k["lambda"]

    def c(x):
        if x < 0:
            return -x + epsilon / 2
        if x <= epsilon:
            return (x - epsilon) ** 2 / (2 * epsilon)
        return 0.0

    T, M = (Q.shape[0], P.shape[0])
    s = 0.0
    for t in range(T - 1):
        s += 0.5 * np.sum((Q[t + 1] - Q[t]) ** 2)
    for t in range(T):
        for o in range(M):
            s += lam * c(np.linalg.norm(Q[t] - P[o]) - rho[o])
    return s


def mpc(A, B, U, s, Q, R, P):
    x = s
    v = 0.0
    for t in range(U.shape[0]):
        v += x @ Q @ x + U[t] @ R @ U[t]
        x = A @ x + B @ U[t]
    return v + x @ P @ x


def sgns(U, V, w, c, s):
    sig = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
    v = 0.0
    for i in range(s.shape[0]):
        v += np.log(sig(V[c[i]] @ U[w[i]]))
        for j in range(s.shape[1]):
            v += np.log(sig(-(V[s[i, j]] @ U[w[i]])))
    return -v


def hubermcp(X, y, beta, c, gamma, **k):
    lam = k["lambda"]
    n = len(y)
    s = 0.0
    for i in range(n):
        u = y[i] - X[i] @ beta
        s += (u**2 / 2 if abs(u) <= c else c * abs(u) - c**2 / 2) / n
    for b in beta:
        s += lam * abs(b) - b**2 / (2 * gamma) if abs(b) <= gamma * lam else gamma * lam**2 / 2
    return s


def cox(X, t, delta, beta):
    n = len(t)
    s = 0.0
    for i in range(n):
        r = sum(np.exp(X[j] @ beta) for j in range(n) if t[j] >= t[i])
        s += delta[i] * (X[i] @ beta - np.log(r))
    return s


def nestedces(y, p, a, b, sigma, eta):
    K, J = p.shape
    tot = 0.0
    for g in range(K):
        Pg = sum(a[g, j] * p[g, j] ** (1 - sigma) for j in range(J)) ** (1 / (1 - sigma))
        tot += b[g] * Pg ** (1 - eta)
    return np.log(y / tot ** (1 / (1 - eta)))


FOURTH_2 = [
    Paragraph(
        "cond-mat.supr-con BCS thermodynamic potential",
        r"""
The mean-field thermodynamic potential is
\begin{equation}
\Omega(\Delta)=\frac{\Delta^2}{g}+\sum_{k=1}^{N}\left[\xi_k-E_k-\frac{2}{\beta}\ln\left(1+e^{-\beta
E_k}\right)\right],
\end{equation}
with $\xi_k=\epsilon_k-\mu$ and the quasiparticle energies $E_k=\sqrt{\xi_k^2+\Delta^2}$. Here $\beta$ is the
inverse temperature.
""",
        "epsilon: vector(N); mu: scalar; Delta: scalar positive; beta: scalar positive; g: scalar positive",
        "Delta",
        bcs,
    ),
    Paragraph(
        "nlin.AO Sakaguchi-Kuramoto vector field",
        r"""
\[
f_i(\theta)=\omega_i+\frac{\kappa}{N}\sum_{j=1}^{N}A_{ij}\sin(\theta_j-\theta_i-\alpha),\qquad i=1,\ldots,N
\]
""",
        "theta: vector(N); omega: vector(N); A: matrix(N, N) symmetric; kappa: scalar positive; alpha: scalar",
        "theta",
        kuramoto,
    ),
    Paragraph(
        "astro-ph.IM quasi-periodic GP",
        r"""
We model the light curve as a Gaussian process. The log likelihood is
\begin{equation}
\ln\mathcal{L}=-\frac{1}{2}\mathbf{r}^{\mathrm{T}}\mathbf{K}^{-1}\mathbf{r}-\frac{1}{2}\ln\det\mathbf{K}-\frac{N}{2}\ln
2\pi,
\end{equation}
where $r_i=y_i-c$ are the residuals about the mean level $c$ and the covariance matrix has the quasi-periodic form
\begin{equation}
K_{ij}=a^2\exp\left[-\frac{(t_i-t_j)^2}{2\tau^2}-\Gamma\sin^2\left(\frac{\pi(t_i-t_j)}{P}\right)\right]+\left(\sigma_i^2+s^2\right)\delta_{ij}.
\end{equation}
Here $\delta_{ij}$ is the Kronecker delta, $\sigma_i$ the photometric uncertainty, $s$ a jitter term and $P$ the
rotation period.
""",
        "t: vector(N); y: vector(N); c: scalar; a: scalar positive; tau: scalar positive; Gamma: scalar positive; P: scalar positive; s: scalar positive; sigma: vector(N) positive",  # noqa: E501
        "P",
        gplc,
    ),
    Paragraph(
        "hep-ex binned likelihood with nuisances",
        r"""
The negative log-likelihood, up to constants, is
\begin{align}
-\ln L(\mu,\boldsymbol{\theta})&=\sum_{i=1}^{N}\left(\nu_i-n_i\ln\nu_i\right)+\frac{1}{2}\sum_{j=1}^{J}\theta_j^2,\\
\nu_i&=\mu s_i+b_i\prod_{j=1}^{J}(1+\delta_{ij})^{\theta_j},
\end{align}
where $n_i$, $s_i$ and $b_i$ are the observed, expected signal and expected background yields in bin $i$, $\mu$ is
the signal strength and $\delta_{ij}$ is the relative effect of the $j$th systematic uncertainty in bin $i$.
""",
        "n: vector(N) positive; mu: scalar positive; s: vector(N) positive; b: vector(N) positive; delta: matrix(N, J) positive; theta: vector(J)",  # noqa: E501
        "theta",
        hep,
    ),
    Paragraph(
        "quant-ph deflated variational energy",
        r"""
$$E(c)=\frac{c^{\mathsf T}Hc}{c^{\mathsf T}Sc}+\beta\sum_{l=1}^{k}\left(v_l^{\mathsf T}Sc\right)^2,$$
where $v_1,\dots,v_k$ are the previously converged states (the rows of $V$).
""",
        "c: vector(n); H: matrix(n, n) symmetric; S: matrix(n, n) spd; V: matrix(k, n); beta: scalar positive",
        "c",
        vqd,
    ),
    Paragraph(
        "cs.RO trajectory optimization",
        r"""
The objective functional combines a smoothness term and an obstacle term,
\begin{equation}
\mathcal{U}(Q)=\frac{1}{2}\sum_{t=1}^{T-1}\|q_{t+1}-q_t\|^2+\lambda\sum_{t=1}^{T}\sum_{o=1}^{M}c\bigl(\|q_t-p_o\|-\rho_o\bigr),
\end{equation}
where $q_t$ is the $t$-th waypoint, $p_o$ and $\rho_o$ are the center and radius of the $o$-th spherical obstacle,
and the cost is
\begin{equation}
c(x)=\begin{cases}
-x+\frac{1}{2}\epsilon, & \text{if } x<0,\\
\frac{1}{2\epsilon}(x-\epsilon)^2, & \text{if } 0\le x\le\epsilon,\\
0, & \text{otherwise.}
\end{cases}
\end{equation}
""",
        "Q: matrix(T, d); P: matrix(M, d); rho: vector(M) positive; epsilon: scalar positive; lambda: scalar positive",
        "Q",
        chomp,
    ),
    Paragraph(
        "eess.SY finite-horizon LQ control",
        r"""
Consider the linear system $x_{t+1}=Ax_t+Bu_t$, $t=1,\dots,T$, with initial state $x_1=s$. The finite-horizon cost
of the input sequence $U=(u_1,\dots,u_T)$ is
\begin{equation}
J(U)=\sum_{t=1}^{T}\left(x_t^\top Qx_t+u_t^\top Ru_t\right)+x_{T+1}^\top Px_{T+1}.
\end{equation}
""",
        "A: matrix(d, d); B: matrix(d, q); U: matrix(T, q); s: vector(d); Q: matrix(d, d) spd; R: matrix(q, q) spd; P: matrix(d, d) spd",  # noqa: E501
        "U",
        mpc,
    ),
    Paragraph(
        "cs.CL skip-gram with negative sampling",
        r"""
For each pair of a word $w_i$ and a context $c_i$ we draw $m$ negative contexts $s_{i1},\ldots,s_{im}$ and minimize
\begin{equation}
\mathcal{L}(U,V)=-\sum_{i=1}^{n}\left[\log\sigma\left(v_{c_i}^\top
u_{w_i}\right)+\sum_{j=1}^{m}\log\sigma\left(-v_{s_{ij}}^\top u_{w_i}\right)\right]
\end{equation}
with $\sigma(\cdot)$ the sigmoid function.
""",
        "U: matrix(N, d); V: matrix(N, d); w: index(n); c: index(n); s: index(n, m)",
        "U",
        sgns,
        ranges={"w": "N", "c": "N", "s": "N"},
        refused="this can be row or column c_i of V",
    ),
    Paragraph(
        "math.ST penalized Huber M-estimator",
        r"""
We study the nonconvex penalized M-estimator minimizing
\[
L_n(\beta)=\frac1n\sum_{i=1}^{n}\rho_c(y_i-x_i^{T}\beta)+\sum_{j=1}^{d}p_{\lambda}(\beta_j),
\]
where $\rho_c$ is Huber's loss,
\[
\rho_c(u)=\begin{cases}u^2/2 & |u|\le c\\ c|u|-c^2/2 & |u|>c\end{cases}
\]
and $p_\lambda$ is the minimax concave penalty
\[
p_\lambda(t)=\begin{cases}\lambda|t|-\dfrac{t^2}{2\gamma} & |t|\le\gamma\lambda\\[1ex] \dfrac{\gamma\lambda^2}{2} &
|t|>\gamma\lambda .\end{cases}
\]
""",
        "X: matrix(n, d); y: vector(n); beta: vector(d); c: scalar positive; lambda: scalar positive; gamma: scalar positive",  # noqa: E501
        "beta",
        hubermcp,
    ),
    Paragraph(
        "stat.AP Cox partial likelihood",
        r"""
Let $\mathcal{R}_i=\{j: t_j\ge t_i\}$ denote the risk set at time $t_i$ and let $\delta_i$ be the event indicator.
The log partial likelihood is
$$\ell(\beta)=\sum_{i=1}^{n}\delta_i\left\{x_i^{\top}\beta-\log\sum_{j\in\mathcal{R}_i}\exp\left(x_j^{\top}\beta\right)\right\}.$$
""",
        "X: matrix(n, d); t: vector(n) positive; delta: vector(n) nonnegative; beta: vector(d)",
        "beta",
        cox,
        fractions=("delta",),
    ),
    Paragraph(
        "econ.GN nested CES welfare",
        r"""
Log welfare of the representative household is $W=\log(y/P)$, where $y$ is nominal income and
\begin{equation}
P=\left(\sum_{g=1}^{K}b_gP_g^{1-\eta}\right)^{\frac{1}{1-\eta}},\qquad
P_g=\left(\sum_{j=1}^{J}a_{gj}p_{gj}^{1-\sigma}\right)^{\frac{1}{1-\sigma}}
\end{equation}
are the aggregate price index and the price index of sector $g$, respectively.
""",
        "y: scalar positive; p: matrix(K, J) positive; a: matrix(K, J) positive; b: vector(K) positive; sigma: scalar positive; eta: scalar positive",  # noqa: E501
        "p",
        nestedces,
    ),
]
