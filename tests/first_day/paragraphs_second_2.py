r"""Whole paragraphs of LaTeX from papers, second set, part 2: written by someone who had seen no code."""

import numpy as np
from first_day.paragraph import Paragraph


def hs(u, v, I_x, I_y, I_t, alpha):
    m, n = u.shape
    s = np.sum((I_x * u + I_y * v + I_t) ** 2)
    g = 0.0
    for w in (u, v):
        for i in range(m - 1):
            for j in range(n):
                g += (w[i + 1, j] - w[i, j]) ** 2
        for i in range(m):
            for j in range(n - 1):
                g += (w[i, j + 1] - w[i, j]) ** 2
    return s + alpha**2 * g


def mapinv(A, x, y, x_0, Gamma, C):
    r = A @ x - y
    e = x - x_0
    return 0.5 * r @ np.linalg.inv(Gamma) @ r + 0.5 * e @ np.linalg.inv(C) @ e


def lqr(A, B, Q, R, Q_f, x_0, u):
    x = x_0
    s = 0.0
    for t in range(u.shape[0]):
        s += x @ Q @ x + u[t] @ R @ u[t]
        x = A @ x + B @ u[t]
    return s + x @ Q_f @ x


def kalman(y, F, H, Q, R, mu_0, Sigma_0):
    mu, S, s = (mu_0, Sigma_0, 0.0)
    k = y.shape[1]
    for t in range(y.shape[0]):
        mp = F @ mu
        Sp = F @ S @ F.T + Q
        v = y[t] - H @ mp
        St = H @ Sp @ H.T + R
        Kt = Sp @ H.T @ np.linalg.inv(St)
        mu = mp + Kt @ v
        S = Sp - Kt @ H @ Sp
        s += k * np.log(2 * np.pi) + np.log(np.linalg.det(St)) + v @ np.linalg.inv(St) @ v
    return -0.5 * s


def riccati(A, B, Q, R, P):
    return Q + A.T @ P @ A - A.T @ P @ B @ np.linalg.inv(R + B.T @ P @ B) @ B.T @ P @ A


def posegraph(x, y, theta, a, b, c, Omega):
    s = 0.0
    for i in range(len(x) - 1):
        dx, dy = (x[i + 1] - x[i], y[i + 1] - y[i])
        e = np.array(
            [
                np.cos(theta[i]) * dx + np.sin(theta[i]) * dy - a[i],
                -np.sin(theta[i]) * dx + np.cos(theta[i]) * dy - b[i],
                theta[i + 1] - theta[i] - c[i],
            ]
        )
        s += e @ Omega @ e
    return s


def chomp(X, O, rho, epsilon, eta):  # noqa: E741
    T = X.shape[0]
    s = 0.0
    for t in range(T - 1):
        s += 0.5 * np.sum((X[t + 1] - X[t]) ** 2)

    def c(D):
        if D < 0:
            return -D + epsilon / 2
        if epsilon >= D:
            return (D - epsilon) ** 2 / (2 * epsilon)
        return 0.0

    ob = 0.0
    for t in range(T):
        for j in range(O.shape[0]):
            ob += c(np.sqrt(np.sum((X[t] - O[j]) ** 2)) - rho[j])
    return s + eta * ob


def fk(a, theta):
    px = py = 0.0
    ang = 0.0
    for i in range(len(a)):
        ang += theta[i]
        px += a[i] * np.cos(ang)
        py += a[i] * np.sin(ang)
    return np.array([px, py])


def pnp(X, u, R, t, f, c, delta):
    s = 0.0
    for i in range(X.shape[0]):
        y = R @ X[i] + t
        pr = np.array([f * y[0] / y[2] + c[0], f * y[1] / y[2] + c[1]])
        e = np.sqrt(np.sum((u[i] - pr) ** 2))
        s += 0.5 * e**2 if e <= delta else delta * (e - 0.5 * delta)
    return s


def clip(U, V, tau):
    N = U.shape[0]
    S = np.zeros((N, N))
    for i in range(N):
        for j in range(N):
            S[i, j] = U[i] @ V[j] / (np.linalg.norm(U[i]) * np.linalg.norm(V[j]))
    E = np.exp(S / tau)
    s = 0.0
    for i in range(N):
        s += np.log(E[i, i] / E[i].sum()) + np.log(E[i, i] / E[:, i].sum())
    return -s / (2 * N)


def nerf(sigma, delta, c, C):
    N = len(sigma)
    Ch = np.zeros(c.shape[1])
    for i in range(N):
        Ti = np.exp(-np.sum(sigma[:i] * delta[:i]))
        Ch = Ch + Ti * (1 - np.exp(-sigma[i] * delta[i])) * c[i]
    return np.sum((Ch - C) ** 2)


SECOND_2 = [
    Paragraph(
        "Horn-Schunck optical flow, discretised",
        r"""Discretising the Horn--Schunck functional on the pixel grid gives
\[
E(u,v) = \sum_{i=1}^{m}\sum_{j=1}^{n} \left( I_{x,ij} u_{ij} + I_{y,ij} v_{ij} + I_{t,ij} \right)^2 + \alpha^2
\left[ S(u) + S(v) \right],
\]
where $S(w) = \sum_{i=1}^{m-1}\sum_{j=1}^{n} (w_{i+1,j} - w_{ij})^2 + \sum_{i=1}^{m}\sum_{j=1}^{n-1} (w_{i,j+1} -
w_{ij})^2$ measures the roughness of a flow component.""",
        "u: matrix(m, n); v: matrix(m, n); I_x: matrix(m, n); I_y: matrix(m, n); I_t: matrix(m, n); alpha: scalar positive",  # noqa: E501
        "u",
        hs,
    ),
    Paragraph(
        "Bayesian linear inverse problem, MAP functional",
        r"""The MAP estimate minimizes
$$ \Phi(x) = \tfrac{1}{2}\,\| A x - y \|_{\Gamma}^2 + \tfrac{1}{2}\,\| x - x_0 \|_{C}^2, $$
where for a symmetric positive definite matrix $M$ we write $\|v\|_M^2 := v^\top M^{-1} v$.""",
        "A: matrix(m, n); x: vector(n); y: vector(m); x_0: vector(n); Gamma: matrix(m, m) spd; C: matrix(n, n) spd",
        "x",
        mapinv,
    ),
    Paragraph(
        "finite-horizon LQR",
        r"""Consider the discrete-time linear system
\begin{equation}
x_{t+1} = A x_t + B u_t, \qquad t = 0, 1, \dots, T-1,
\end{equation}
with given initial state $x_0 \in \mathbb{R}^n$. The control sequence $u = (u_0, \dots, u_{T-1})$ is chosen to
minimize
\begin{equation}
J(u) = \sum_{t=0}^{T-1} \left( x_t^\top Q x_t + u_t^\top R u_t \right) + x_T^\top Q_f x_T .
\end{equation}""",
        "A: matrix(n, n); B: matrix(n, m); Q: matrix(n, n) spd; R: matrix(m, m) spd; Q_f: matrix(n, n) spd; x_0: vector(n); u: matrix(T, m)",  # noqa: E501
        "u",
        lqr,
    ),
    Paragraph(
        "Kalman filter, prediction error decomposition",
        r"""For the linear Gaussian state-space model with transition matrix $F$, observation matrix $H$, and noise covariances
$Q$ and $R$, the Kalman filter is, for $t = 1,\dots,T$,
\begin{equation}
\begin{aligned}
\mu_{t|t-1} &= F \mu_{t-1|t-1}, \\
\Sigma_{t|t-1} &= F \Sigma_{t-1|t-1} F^\top + Q, \\
v_t &= y_t - H \mu_{t|t-1}, \\
S_t &= H \Sigma_{t|t-1} H^\top + R, \\
K_t &= \Sigma_{t|t-1} H^\top S_t^{-1}, \\
\mu_{t|t} &= \mu_{t|t-1} + K_t v_t, \\
\Sigma_{t|t} &= \Sigma_{t|t-1} - K_t H \Sigma_{t|t-1},
\end{aligned}
\end{equation}
initialized with $\mu_{0|0} = \mu_0$ and $\Sigma_{0|0} = \Sigma_0$. The log-likelihood follows from the prediction
error decomposition,
\begin{equation}
\ell = -\frac12 \sum_{t=1}^{T} \left( k\log 2\pi + \log\det S_t + v_t^\top S_t^{-1} v_t \right).
\end{equation}""",  # noqa: E501
        "y: matrix(T, k); F: matrix(d, d); H: matrix(k, d); Q: matrix(d, d) spd; R: matrix(k, k) spd; mu_0: vector(d); Sigma_0: matrix(d, d) spd",  # noqa: E501
        "F",
        kalman,
    ),
    Paragraph(
        "Riccati operator (matrix valued)",
        r"""The value iteration can be written as $P_{i+1} = \mathcal{F}(P_i)$ in terms of the Riccati operator
\[
\mathcal{F}(P) = Q + A^{\mathsf T} P A - A^{\mathsf T} P B \left( R + B^{\mathsf T} P B \right)^{-1} B^{\mathsf T} P
A .
\]""",
        "A: matrix(n, n); B: matrix(n, m); Q: matrix(n, n) spd; R: matrix(m, m) spd; P: matrix(n, n) spd",
        "P",
        riccati,
    ),
    Paragraph(
        "planar odometry chain, pose graph optimization",
        r"""The robot poses are $(x_i, y_i, \theta_i)$, $i=1,\dots,n$, and $(a_i, b_i, c_i)$ is the relative motion from pose
$i$ to pose $i+1$ reported by the odometry. We minimize
\begin{equation}
F(x,y,\theta) = \sum_{i=1}^{n-1} \mathbf{e}_i^\top \boldsymbol\Omega\, \mathbf{e}_i ,
\qquad
\mathbf{e}_i = \begin{pmatrix}
\cos\theta_i\,(x_{i+1}-x_i) + \sin\theta_i\,(y_{i+1}-y_i) - a_i \\
-\sin\theta_i\,(x_{i+1}-x_i) + \cos\theta_i\,(y_{i+1}-y_i) - b_i \\
\theta_{i+1} - \theta_i - c_i
\end{pmatrix},
\end{equation}
where $\boldsymbol\Omega \in \mathbb{R}^{3\times 3}$ is the information matrix of the odometry.""",  # noqa: E501
        "x: vector(n); y: vector(n); theta: vector(n); a: vector(n); b: vector(n); c: vector(n); Omega: matrix(3, 3) spd",  # noqa: E501
        "theta",
        posegraph,
    ),
    Paragraph(
        "CHOMP-like trajectory optimization",
        r"""A trajectory is a sequence of waypoints $x_1,\dots,x_T \in \mathbb{R}^d$. We minimize the sum of a smoothness term
and an obstacle term,
\begin{equation}
U(X) = \frac12 \sum_{t=1}^{T-1} \|x_{t+1} - x_t\|^2 + \eta \sum_{t=1}^{T} \sum_{j=1}^{M} c\bigl(\|x_t - o_j\| -
\rho_j\bigr),
\end{equation}
where $o_j$ and $\rho_j$ are the centre and the radius of the $j$-th spherical obstacle and
\begin{equation}
c(D) = \begin{cases}
-D + \frac{1}{2}\epsilon, & \text{if } D < 0, \\
\frac{1}{2\epsilon}(D - \epsilon)^2, & \text{if } 0 \le D \le \epsilon, \\
0, & \text{otherwise}.
\end{cases}
\end{equation}""",  # noqa: E501
        "X: matrix(T, d); O: matrix(M, d); rho: vector(M) positive; epsilon: scalar positive; eta: scalar positive",
        "X",
        chomp,
    ),
    Paragraph(
        "planar manipulator forward kinematics (vector valued)",
        r"""For a planar arm with $n$ revolute joints and link lengths $a_1,\dots,a_n$, the end-effector position is
\[
\mathbf{p}(\boldsymbol\theta) = \begin{bmatrix} \sum_{i=1}^{n} a_i \cos\varphi_i \\ \sum_{i=1}^{n} a_i \sin\varphi_i
\end{bmatrix}, \qquad \varphi_i = \sum_{j=1}^{i} \theta_j .
\]""",
        "a: vector(n) positive; theta: vector(n)",
        "theta",
        fk,
    ),
    Paragraph(
        "robust reprojection error",
        r"""The camera pose is refined by minimizing the robust reprojection error
$$ E(R, t) = \sum_{i=1}^{n} \rho_\delta\left( \left\| u_i - \pi(R X_i + t) \right\|_2 \right), $$
where $X_i \in \mathbb{R}^3$ is the $i$-th scene point, $u_i \in \mathbb{R}^2$ its observed pixel position, the
perspective projection is
$$ \pi(y) = \left( f\,\frac{y_1}{y_3} + c_1, \; f\,\frac{y_2}{y_3} + c_2 \right)^{\!\top}, $$
with focal length $f$ and principal point $c$, and $\rho_\delta$ is the Huber function
$$ \rho_\delta(e) = \begin{cases} \frac{1}{2} e^2 & |e| \le \delta, \\ \delta\left(|e| - \frac12 \delta\right) &
\text{otherwise.} \end{cases} $$""",
        "X: matrix(n, 3); u: matrix(n, 2); R: matrix(3, 3); t: vector(3); f: scalar positive; c: vector(2); delta: scalar positive",  # noqa: E501
        "t",
        pnp,
    ),
    Paragraph(
        "symmetric image-text contrastive loss",
        r"""Given a batch of $N$ image embeddings $\mathbf{u}_i$ and text embeddings $\mathbf{v}_i$, we use the symmetric
contrastive loss
\begin{equation}
\mathcal{L} = -\frac{1}{2N} \sum_{i=1}^{N} \left[ \log \frac{\exp(s_{ii}/\tau)}{\sum_{j=1}^{N} \exp(s_{ij}/\tau)} +
\log \frac{\exp(s_{ii}/\tau)}{\sum_{j=1}^{N} \exp(s_{ji}/\tau)} \right]
\end{equation}
where $s_{ij} = \mathbf{u}_i^\top \mathbf{v}_j / (\|\mathbf{u}_i\| \|\mathbf{v}_j\|)$ is the cosine similarity and
$\tau > 0$ is a temperature.""",  # noqa: E501
        "U: matrix(N, d); V: matrix(N, d); tau: scalar positive",
        "U",
        clip,
    ),
    Paragraph(
        "volume rendering loss of a radiance field, one ray",
        r"""The colour of a ray is estimated from $N$ samples with the quadrature rule
\begin{equation}
\hat{C} = \sum_{i=1}^{N} T_i \left(1 - \exp(-\sigma_i \delta_i)\right) \mathbf{c}_i, \quad \text{where } T_i =
\exp\left( -\sum_{j=1}^{i-1} \sigma_j \delta_j \right),
\end{equation}
$\delta_i$ being the distance between adjacent samples. The photometric loss of the ray is $\mathcal{L} = \| \hat{C}
- C \|_2^2$, with $C$ the true pixel colour.""",
        "sigma: vector(N) positive; delta: vector(N) positive; c: matrix(N, d); C: vector(d)",
        "sigma",
        nerf,
    ),
]
