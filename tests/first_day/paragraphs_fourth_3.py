r"""Whole paragraphs of LaTeX from papers, fourth set, part 3: written by someone who had seen no code."""

import numpy as np
from first_day.paragraph import Paragraph


def spikeglm(X, y, w, h, mu, Delta):
    T, L = (len(y), len(h))
    s = 0.0
    for t in range(L, T):
        l = np.exp(mu + w @ X[t] + sum(h[a - 1] * y[t - a] for a in range(1, L + 1)))  # noqa: E741
        s += y[t] * np.log(l * Delta) - l * Delta
    return s


def stvk(D, B, v, mu, **k):
    lam = k["lambda"]
    F = D @ B
    E = 0.5 * (F.T @ F - np.eye(F.shape[0]))
    return v * (mu * np.sum(E * E) + lam / 2 * np.trace(E) ** 2)


def tomo(G, d, m, m_0, C_d, alpha, beta):
    r = d - G @ m
    s = r @ np.linalg.inv(C_d) @ r
    for j in range(len(m) - 1):
        s += alpha * (m[j + 1] - m[j]) ** 2
    return s + beta * np.sum((m - m_0) ** 2)


def fourdvar(x_0, x_b, B, R, H, M, Y):
    s = 0.5 * (x_0 - x_b) @ np.linalg.inv(B) @ (x_0 - x_b)
    x = x_0
    for t in range(Y.shape[0]):
        x = M @ x
        e = Y[t] - H @ x
        s += 0.5 * e @ np.linalg.inv(R) @ e
    return s


def pod(a, c, L, Q):
    r = len(a)
    f = np.zeros(r)
    for i in range(r):
        f[i] = (
            c[i]
            + sum(L[i, j] * a[j] for j in range(r))
            + sum(Q[i, j, l] * a[j] * a[l] for j in range(r) for l in range(r))  # noqa: E741
        )
    return f


def mimo(H, Q, G, sigma):
    m = H.shape[0]
    C = sigma**2 * np.eye(m) + G @ G.T
    return np.log(np.linalg.det(np.eye(m) + H @ Q @ H.T @ np.linalg.inv(C))) / np.log(2)


def ct(A, mu, b, r, y, beta, delta):
    m, n = A.shape
    s = 0.0
    for i in range(m):
        yb = b[i] * np.exp(-(A[i] @ mu)) + r[i]
        s += yb - y[i] * np.log(yb)
    for j in range(n - 1):
        s += beta * delta**2 * (np.sqrt(1 + ((mu[j + 1] - mu[j]) / delta) ** 2) - 1)
    return s


def sisdr(shat, s):
    al = shat @ s / (s @ s)
    return -10 * np.log10(np.sum((al * s) ** 2) / np.sum((al * s - shat) ** 2))


def cpkl(X, A, B, C):
    I, J, K = X.shape  # noqa: E741
    s = 0.0
    for i in range(I):
        for j in range(J):
            for l in range(K):  # noqa: E741
                m = np.sum(A[i] * B[j] * C[l])
                s += m - X[i, j, l] * np.log(m)
    return s


def qre(x, y, A, tau):
    p = np.exp(x) / np.sum(np.exp(x))
    q = np.exp(y) / np.sum(np.exp(y))
    H = lambda v: -np.sum(v * np.log(v))  # noqa: E731
    return p @ A @ q + tau * H(p) - tau * H(q)


def otdual(X, Y, a, b, f, g, epsilon):
    n, m = (len(f), len(g))
    s = 0.0
    for i in range(n):
        s += a[i] * f[i]
    for j in range(m):
        s += b[j] * g[j]
    for i in range(n):
        for j in range(m):
            C = np.sum((X[i] - Y[j]) ** 2)
            s -= epsilon * a[i] * b[j] * (np.exp((f[i] + g[j] - C) / epsilon) - 1)
    return s


def semf(b, A, Z, Delta, a_V, a_S, a_C, a_A):
    s = 0.0
    for i in range(len(b)):
        B = (
            a_V * A[i]
            - a_S * A[i] ** (2 / 3)
            - a_C * Z[i] * (Z[i] - 1) / A[i] ** (1 / 3)
            - a_A * (A[i] - 2 * Z[i]) ** 2 / A[i]
        )
        s += (b[i] - B) ** 2 / Delta[i] ** 2
    return s


FOURTH_3 = [
    Paragraph(
        "q-bio.NC spike train GLM",
        r"""
The conditional intensity of the neuron in time bin $t$ is
\begin{equation}
\lambda_t=\exp\left(\mu+\mathbf{w}^\top\mathbf{x}_t+\sum_{\tau=1}^{L}h_\tau y_{t-\tau}\right),
\end{equation}
where $\mathbf{w}$ is the stimulus filter, $\mathbf{h}$ is the post-spike filter and $y_t$ is the spike count.
Conditioning on the first $L$ bins, the log-likelihood is (up to a constant)
\begin{equation}
\ell(\mu,\mathbf{w},\mathbf{h})=\sum_{t=L+1}^{T}\left[y_t\log(\lambda_t\Delta)-\lambda_t\Delta\right]
\end{equation}
with bin width $\Delta$.
""",
        "X: matrix(T, d); y: vector(T) nonnegative; w: vector(d); h: vector(L); mu: scalar; Delta: scalar positive",
        "h",
        spikeglm,
    ),
    Paragraph(
        "cs.GR St. Venant-Kirchhoff element energy",
        r"""
For a tetrahedron with rest volume $v$, edge matrix $\mathbf{D}$ and inverse rest-shape matrix $\mathbf{B}$, the
elastic energy is $\mathcal{E}=v\,\Psi(\mathbf{F})$ with
\begin{equation}
\begin{aligned}
\mathbf{F}&=\mathbf{D}\mathbf{B},\\
\mathbf{E}&=\tfrac12\left(\mathbf{F}^{\mathsf T}\mathbf{F}-\mathbf{I}\right),\\
\Psi(\mathbf{F})&=\mu\,\mathbf{E}:\mathbf{E}+\frac{\lambda}{2}\operatorname{tr}^2(\mathbf{E}),
\end{aligned}
\end{equation}
where $\mu$ and $\lambda$ are the Lam\'e coefficients.
""",
        "D: matrix(d, d); B: matrix(d, d); v: scalar positive; mu: scalar positive; lambda: scalar positive",
        "D",
        stvk,
    ),
    Paragraph(
        "physics.geo-ph regularized tomography",
        r"""
We minimize the objective function
\begin{equation}
\Phi(\mathbf{m})=(\mathbf{d}-\mathbf{G}\mathbf{m})^{T}\mathbf{C}_d^{-1}(\mathbf{d}-\mathbf{G}\mathbf{m})+\alpha\sum_{j=1}^{M-1}(m_{j+1}-m_j)^2+\beta\,\|\mathbf{m}-\mathbf{m}_0\|_2^2,
\end{equation}
where $\mathbf{d}$ contains the travel times, $\mathbf{C}_d$ is the data covariance matrix and $\mathbf{m}_0$ is the
reference slowness model.
""",
        "G: matrix(N, M); d: vector(N); m: vector(M); m_0: vector(M); C_d: matrix(N, N) spd; alpha: scalar positive; beta: scalar positive",  # noqa: E501
        "m",
        tomo,
    ),
    Paragraph(
        "physics.ao-ph strong-constraint 4D-Var",
        r"""
In strong-constraint 4D-Var the initial condition $\mathbf{x}_0$ is found by minimizing
\begin{equation}
\begin{split}
J(\mathbf{x}_0)={}&\frac12(\mathbf{x}_0-\mathbf{x}_b)^{\top}\mathbf{B}^{-1}(\mathbf{x}_0-\mathbf{x}_b)\\
&+\frac12\sum_{t=1}^{T}(\mathbf{y}_t-\mathbf{H}\mathbf{x}_t)^{\top}\mathbf{R}^{-1}(\mathbf{y}_t-\mathbf{H}\mathbf{x}_t)
\end{split}
\end{equation}
subject to the model dynamics $\mathbf{x}_t=\mathbf{M}\mathbf{x}_{t-1}$ for $t=1,\dots,T$.
""",
        "x_0: vector(d); x_b: vector(d); B: matrix(d, d) spd; R: matrix(m, m) spd; H: matrix(m, d); M: matrix(d, d); Y: matrix(T, m)",  # noqa: E501
        "x_0",
        fourdvar,
    ),
    Paragraph(
        "physics.flu-dyn POD-Galerkin model",
        r"""
Projecting the Navier--Stokes equations onto the first $r$ POD modes yields the system of ordinary differential
equations
\begin{equation}
\dot{a}_i=c_i+\sum_{j=1}^{r}L_{ij}a_j+\sum_{j=1}^{r}\sum_{k=1}^{r}Q_{ijk}a_ja_k,\qquad i=1,\dots,r.
\end{equation}
""",
        "a: vector(r); c: vector(r); L: matrix(r, r); Q: tensor(r, r, r)",
        "a",
        pod,
    ),
    Paragraph(
        "cs.IT MIMO rate with interference",
        r"""
\mathcal{I}(\mathbf{Q})=\log_2\det\left(\mathbf{I}_m+\mathbf{H}\mathbf{Q}\mathbf{H}^{\top}\left(\sigma^2\mathbf{I}_m+\mathbf{G}\mathbf{G}^{\top}\right)^{-1}\right)
""",
        "H: matrix(m, d); Q: matrix(d, d) spd; G: matrix(m, k); sigma: scalar positive",
        "Q",
        mimo,
    ),
    Paragraph(
        "eess.IV penalized-likelihood transmission CT",
        r"""
The attenuation image $\boldsymbol{\mu}$ is reconstructed by minimizing the penalized negative Poisson
log-likelihood
\begin{equation}
\Phi(\boldsymbol{\mu})=\sum_{i=1}^{m}\left\{\bar{y}_i(\boldsymbol{\mu})-y_i\log\bar{y}_i(\boldsymbol{\mu})\right\}+\beta\sum_{j=1}^{n-1}\psi(\mu_{j+1}-\mu_j),
\end{equation}
where $\bar{y}_i(\boldsymbol{\mu})=b_i\,e^{-[\mathbf{A}\boldsymbol{\mu}]_i}+r_i$ is the mean measurement along the
$i$th ray, and
$\psi(t)=\delta^2\bigl(\sqrt{1+(t/\delta)^2}-1\bigr)$ is an edge-preserving potential function.
""",
        "A: matrix(m, n) positive; mu: vector(n); b: vector(m) positive; r: vector(m) positive; y: vector(m) positive; beta: scalar positive; delta: scalar positive",  # noqa: E501
        "mu",
        ct,
    ),
    Paragraph(
        "eess.AS SI-SDR loss",
        r"""
The network is trained with the negative scale-invariant signal-to-distortion ratio
\begin{equation}
\mathcal{L}_{\text{SI-SDR}}=-10\log_{10}\frac{\lVert\alpha\mathbf{s}\rVert^2}{\lVert\alpha\mathbf{s}-\hat{\mathbf{s}}\rVert^2},\qquad
\alpha=\frac{\langle\hat{\mathbf{s}},\mathbf{s}\rangle}{\lVert\mathbf{s}\rVert^2},
\end{equation}
where $\hat{\mathbf{s}}$ and $\mathbf{s}$ are the estimated and the clean source.
""",
        "shat: vector(T); s: vector(T)",
        "shat",
        sisdr,
    ),
    Paragraph(
        "stat.ML Poisson CP tensor factorization",
        r"""
We fit a rank-$R$ nonnegative CP model to the count tensor $\mathcal{X}\in\mathbb{R}^{I\times J\times K}$ by
minimizing the generalized KL divergence, which up to a constant equals
\begin{equation}
f(A,B,C)=\sum_{i=1}^{I}\sum_{j=1}^{J}\sum_{k=1}^{K}\bigl(m_{ijk}-x_{ijk}\log m_{ijk}\bigr),\quad\text{where}\quad
m_{ijk}=\sum_{r=1}^{R}a_{ir}b_{jr}c_{kr}.
\end{equation}
""",
        "X: tensor(I, J, K) positive; A: matrix(I, R) positive; B: matrix(J, R) positive; C: matrix(K, R) positive",
        "A",
        cpkl,
    ),
    Paragraph(
        "cs.GT entropy-regularized matrix game",
        r"""
We parametrize the mixed strategies as $p=\operatorname{softmax}(x)$ and $q=\operatorname{softmax}(y)$. The
entropy-regularized payoff is
$$J(x,y)=p^\top Aq+\tau H(p)-\tau H(q),\qquad H(v)=-\sum_{i}v_i\log v_i .$$
""",
        "x: vector(n); y: vector(m); A: matrix(n, m); tau: scalar positive",
        "x",
        qre,
    ),
    Paragraph(
        "math.PR entropic optimal transport dual",
        r"""
Let $C_{ij}=\|x_i-y_j\|_2^2$. The dual of the entropy-regularised optimal transport problem between $\sum_i
a_i\delta_{x_i}$ and $\sum_j b_j\delta_{y_j}$ consists in maximising
\begin{equation}
\mathcal{D}_\epsilon(f,g)=\langle a,f\rangle+\langle
b,g\rangle-\epsilon\sum_{i=1}^{n}\sum_{j=1}^{m}a_ib_j\left(\exp\left(\frac{f_i+g_j-C_{ij}}{\epsilon}\right)-1\right)
\end{equation}
over $f\in\mathbb{R}^n$ and $g\in\mathbb{R}^m$.
""",
        "X: matrix(n, d); Y: matrix(m, d); a: vector(n) positive; b: vector(m) positive; f: vector(n); g: vector(m); epsilon: scalar positive",  # noqa: E501
        "f",
        otdual,
    ),
    Paragraph(
        "nucl-th liquid-drop mass fit",
        r"""
The coefficients of the liquid-drop formula
\begin{equation}
B(A,Z)=a_VA-a_SA^{2/3}-a_C\frac{Z(Z-1)}{A^{1/3}}-a_A\frac{(A-2Z)^2}{A}
\end{equation}
are obtained by minimizing
\begin{equation}
\chi^2=\sum_{i=1}^{N}\frac{\left[b_i-B(A_i,Z_i)\right]^2}{\Delta_i^2},
\end{equation}
where $b_i$ is the experimental binding energy of nucleus $i$ and $\Delta_i$ its adopted error.
""",
        "b: vector(N); A: vector(N) positive; Z: vector(N) positive; Delta: vector(N) positive; a_V: scalar; a_S: scalar; a_C: scalar; a_A: scalar",  # noqa: E501
        "a_S",
        semf,
    ),
]
