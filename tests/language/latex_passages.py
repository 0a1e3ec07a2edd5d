"""Recurrences in LaTeX as papers write them, each with its declarations, its text form and a loop in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

T, N, M = 5, 3, 2
SIZES = {"T": T, "N": T, "n": N, "d": N, "m": M, "k": M}


def linear(A, B, U, b, c):
    x = b
    for t in range(T):
        x = A @ x + B @ U[t]
    return c @ x


def kalman(A, Q, V, H, R, Y, m):
    z, P, total = m, V, 0.0
    for t in range(T):
        S, v = H @ P @ H.T + R, Y[t] - H @ z
        total += (np.log(np.linalg.det(S)) + v @ np.linalg.solve(S, v)) / 2
        K = A @ P @ H.T @ np.linalg.inv(S)
        z, P = A @ z + K @ v, A @ P @ A.T - K @ S @ K.T + Q
    return total


def filtered(A, Q, V, H, R, Y, m):
    x, P, total = m, V, 0.0
    for t in range(T):
        x, P = A @ x, A @ P @ A.T + Q
        S, v = H @ P @ H.T + R, Y[t] - H @ x
        K = P @ H.T @ np.linalg.inv(S)
        x, P = x + K @ v, P - K @ H @ P
        total += np.log(np.linalg.det(S)) + v @ np.linalg.solve(S, v)
    return total


def network(W, U, X, b, c, s):
    h = s
    for t in range(T):
        h = np.tanh(W @ h + U @ X[t] + b)
    return h @ c


def garch(omega, alpha, beta, s, e):
    h, total = s, 0.0
    for t in range(T):
        total += (np.log(h) + e[t] ** 2 / h) / 2
        h = omega + alpha * e[t] ** 2 + beta * h
    return total


def rk4(A, b, c, eta):
    x = b
    for _ in range(T):
        k = A @ x
        l_ = A @ (x + eta / 2 * k)
        p = A @ (x + eta / 2 * l_)
        q = A @ (x + eta * p)
        x = x + eta / 6 * (k + 2 * l_ + 2 * p + q)
    return c @ x


def riccati(A, B, Q, R, b):
    P = Q
    for _ in range(T):
        G = np.linalg.inv(R + B.T @ P @ B)
        P = Q + A.T @ P @ A - A.T @ P @ B @ G @ B.T @ P @ A
    return b @ P @ b


def lyapunov(A, Q):
    P = Q
    for _ in range(T):
        P = Q + A.T @ P @ A
    return np.trace(P)


def hidden_chain(L, E, p):
    a = p
    for t in range(T):
        a = np.log(np.exp(a) @ np.exp(L)) + E[t]
    return np.log(np.exp(a).sum())


def smoothing(alpha, sigma, y):
    s, total = sigma, 0.0
    for t in range(T):
        total += (y[t] - s) ** 2
        s = alpha * y[t] + (1 - alpha) * s
    return total


def momentum(P, q, a, b, beta, eta):
    v, w = a, b
    for _ in range(T):
        v = beta * v - eta * (P @ w + q)
        w = w + v
    return w @ P @ w / 2 + q @ w


def power(A, b):
    x = b
    for _ in range(T):
        x = A @ x / np.linalg.norm(A @ x)
    return x @ A @ x


def newton_schulz(A, B):
    X = B
    for _ in range(T):
        X = X @ (2 * np.eye(N) - A @ X)
    return np.linalg.norm(A @ X - np.eye(N)) ** 2


def second_order(a, b, p, q, y):
    x = [p, q]
    for t in range(2, T + 1):
        x.append(a * x[t - 1] + b * x[t - 2])
    return sum((x[t] - y[t]) ** 2 for t in range(2, T + 1))


def moving_average(phi, theta, s, y):
    e, total = s, 0.0
    for t in range(1, T + 1):
        e = y[t] - phi * y[t - 1] - theta * e
        total += e**2
    return total


def adjoint(A, b, c):
    xs, ls = [b], [c]
    for _ in range(T):
        xs.append(A @ xs[-1])
        ls.insert(0, A.T @ ls[0])
    return sum(np.outer(ls[t + 1], xs[t]) for t in range(T))


def cost(A, Q, B, R, U, b):
    x, total = b, b @ Q @ b
    for t in range(T):
        x = A @ x + B @ U[t]
        total += x @ Q @ x + U[t] @ R @ U[t]
    return total


def predicted(A, K, Q, V):
    P = V
    for _ in range(T):
        P = (np.eye(N) - K) @ (A @ P @ A.T + Q)
    return np.trace(P)


def decaying(g, eta, b):
    return b + sum(eta / (t + 1) * g[t] for t in range(T))


def chain(A, B, b, c):
    x = b
    for _ in range(T):
        x = A @ B @ x
    return (x - c) @ (x - c)


def cell(a, b, s, x):
    h = s
    for t in range(T):
        h = a * h + b * h**2 + x[t]
    return h


def started(A, x0, c):
    return c @ np.linalg.matrix_power(A, T) @ x0


FILTER = "A: matrix(n, n); Q, V: matrix(n, n) spd; H: matrix(k, n); R: matrix(k, k) spd; Y: matrix(T, k); m: vector(n)"
PASSAGES: dict[str, tuple[str, str, str, Callable[..., Any]]] = {
    "linear": (
        r"c^\top x_T, \quad x_{t+1} = A x_t + B u_t, \quad x_0 = b, \quad t = 0, \dots, T-1",
        "A: matrix(n, n); B: matrix(n, m); U: matrix(T, m); b, c: vector(n)",
        "c'*x[T] where x[0] = b, x[t+1] = A*x[t] + B*U[t, :], t < T",
        linear,
    ),
    "kalman": (
        r"""\begin{aligned} S_t &= H P_t H^\top + R, \\ K_t &= A P_t H^\top S_t^{-1}, \\ v_t &= y_t - H z_t, \\
        z_{t+1} &= A z_t + K_t v_t, & z_0 &= m, \\ P_{t+1} &= A P_t A^\top - K_t S_t K_t^\top + Q, & P_0 &= V, \\
        L &= \frac{1}{2} \sum_{t=0}^{T-1} \left(\log \det S_t + v_t^\top S_t^{-1} v_t\right), & t &= 0, \dots, T-1
        \end{aligned}""",
        FILTER,
        "sum{t: (logdet(S[t]) + v[t]'*inv(S[t])*v[t])}/2 where S[t] = H*P[t]*H' + R, K[t] = A*P[t]*H'*inv(S[t]), "
        "v[t] = Y[t,:] - H*z[t], z[0] = m, z[t+1] = A*z[t] + K[t]*v[t], P[0] = V, "
        "P[t+1] = A*P[t]*A' - K[t]*S[t]*K[t]' + Q, t < T",
        kalman,
    ),
    "kalman with estimates": (
        r"""$$\ell = \sum_{t=1}^{T} \left(\log\det S_t + v_t^\top S_t^{-1} v_t\right)$$ where
        \begin{align} \hat{x}_{t|t-1} &= A \hat{x}_{t-1|t-1}, \\ P_{t|t-1} &= A P_{t-1|t-1} A^\top + Q, \\
        v_t &= y_t - H \hat{x}_{t|t-1}, \\ S_t &= H P_{t|t-1} H^\top + R, \\
        \hat{x}_{t|t} &= \hat{x}_{t|t-1} + P_{t|t-1} H^\top S_t^{-1} v_t, \\
        P_{t|t} &= P_{t|t-1} - P_{t|t-1} H^\top S_t^{-1} H P_{t|t-1}, \\
        \hat{x}_{0|0} &= m, \quad P_{0|0} = V, \quad t = 1, \dots, T \end{align}""",
        FILTER,
        "sum{t: logdet(S[t]) + v[t]'*inv(S[t])*v[t]} where p[t] = A*x[t], M[t] = A*P[t]*A' + Q, v[t] = Y[t,:] - H*p[t],"
        " S[t] = H*M[t]*H' + R, x[0] = m, x[t+1] = p[t] + M[t]*H'*inv(S[t])*v[t], P[0] = V, "
        "P[t+1] = M[t] - M[t]*H'*inv(S[t])*H*M[t], t < T",
        filtered,
    ),
    "recurrent network": (
        r"h_T^\top c \quad\text{where } h_t = \tanh(W h_{t-1} + U x_t + b), \; h_0 = s, \; t = 1, \ldots, T",
        "W: matrix(n, n); U: matrix(n, m); X: matrix(T, m); b, c, s: vector(n)",
        "c'*h[T] where h[0] = s, h[t+1] = tanh(W*h[t] + U*X[t,:] + b), t < T",
        network,
    ),
    "garch": (
        r"\frac12 \sum_{t=1}^T \left(\log h_t + \frac{e_t^2}{h_t}\right) \text{ where } "
        r"h_{t+1} = \omega + \alpha e_t^2 + \beta h_t, \; h_1 = s, \; t = 1, \dots, T",
        "omega, alpha, beta, s: scalar positive; e: vector(T)",
        "sum{t: (log(h[t]) + e[t]^2/h[t])}/2 where h[0] = s, h[t+1] = omega + alpha*e[t]^2 + beta*h[t], t < T",
        garch,
    ),
    "runge-kutta": (
        r"""\begin{aligned} k_n &= A x_n, \\ l_n &= A (x_n + \frac{\eta}{2} k_n), \\
        p_n &= A (x_n + \frac{\eta}{2} l_n), \\ q_n &= A (x_n + \eta p_n), \\
        x_{n+1} &= x_n + \frac{\eta}{6} (k_n + 2 l_n + 2 p_n + q_n), \quad n < N, \\
        x_0 &= b \\ & c^\top x_N \end{aligned}""",
        "A: matrix(d, d); b, c: vector(d); eta: scalar",
        "c'*x[N] where k[t] = A*x[t], l[t] = A*(x[t] + eta/2*k[t]), p[t] = A*(x[t] + eta/2*l[t]), "
        "q[t] = A*(x[t] + eta*p[t]), x[0] = b, x[t+1] = x[t] + eta/6*(k[t] + 2*l[t] + 2*p[t] + q[t]), t < N",
        rk4,
    ),
    "riccati": (
        r"b^\top P_0 b \text{ where } P_N = Q, \; P_t = Q + A^\top P_{t+1} A - A^\top P_{t+1} B "
        r"(R + B^\top P_{t+1} B)^{-1} B^\top P_{t+1} A \quad\text{for } t = N-1, \dots, 0",
        "A: matrix(n, n); B: matrix(n, m); Q: matrix(n, n) spd; R: matrix(m, m) spd; b: vector(n)",
        "b'*P[0]*b where P[N] = Q, P[t] = Q + A'*P[t+1]*A - A'*P[t+1]*B*inv(R + B'*P[t+1]*B)*B'*P[t+1]*A, t < N",
        riccati,
    ),
    "backward by k - 1": (
        r"\operatorname{tr}(P_0) \text{ where } P_{k-1} = Q + A^\top P_k A, \; P_N = Q, \; k = N, \dots, 1",
        "A: matrix(n, n); Q: matrix(n, n) spd",
        "tr(P[0]) where P[N] = Q, P[t] = Q + A'*P[t+1]*A, t < N",
        lyapunov,
    ),
    "hidden markov chain": (
        r"\operatorname{logsumexp}(a_T) \text{ where } a_{t,j} = \log \sum_{i=1}^{k} \exp(a_{t-1,i} + L_{ij}) "
        r"+ E_{tj}, "
        r"\; a_0 = p, \; t = 1, \dots, T",
        "L: matrix(k, k); E: matrix(T, k); p: vector(k)",
        "logsumexp(a[T]) where a[0] = p, a[t+1] = {j: log(sum{i: exp(a[t,i] + L[i,j])}) + E[t,j]}, t < T",
        hidden_chain,
    ),
    "exponential smoothing": (
        r"\sum_{t=1}^{T} (y_t - s_{t-1})^2 \quad\text{with}\quad s_t = \alpha y_t + (1-\alpha) s_{t-1}, \quad "
        r"s_0 = \sigma",
        "alpha, sigma: scalar; y: vector(T)",
        "sum{t: (y[t] - s[t])^2} where s[0] = sigma, s[t+1] = alpha*y[t] + (1 - alpha)*s[t], t < T",
        smoothing,
    ),
    "momentum": (
        r"\begin{aligned} v_{k+1} &= \beta v_k - \eta (P w_k + q), & v_0 &= a \\ w_{k+1} &= w_k + v_{k+1}, & "
        r"w_0 &= b, & "
        r"k &= 0, 1, \dots, N-1 \\ f &= \frac12 w_N^\top P w_N + q^\top w_N \end{aligned}",
        "P: matrix(n, n) spd; q, a, b: vector(n); beta, eta: scalar",
        "w[N]'*P*w[N]/2 + q'*w[N] where v[0] = a, v[k+1] = beta*v[k] - eta*(P*w[k] + q), w[0] = b, "
        "w[k+1] = w[k] + v[k+1], k < N",
        momentum,
    ),
    "power iteration": (
        r"x_N^\top A x_N \text{ where } x_{k+1} = \frac{A x_k}{\|A x_k\|_2}, \; x_0 = b, \; 0 \le k < N",
        "A: matrix(n, n) symmetric; b: vector(n)",
        "x[N]'*A*x[N] where x[0] = b, x[k+1] = A*x[k]/norm2(A*x[k]), k < N",
        power,
    ),
    "newton-schulz": (
        r"\|A X^{(N)} - I\|_F^2 \text{ where } X^{(k+1)} = X^{(k)} (2 I - A X^{(k)}), \; X^{(0)} = B, \; k = "
        r"0, \dots, N-1",
        "A, B: matrix(n, n)",
        "norm2(A*X[N] - eye(n))^2 where X[0] = B, X[k+1] = X[k]*(2*eye(n) - A*X[k]), k < N",
        newton_schulz,
    ),
    "two lags": (
        r"\sum_{t=2}^{T} (x_t - y_t)^2 \text{ where } x_t = a x_{t-1} + b x_{t-2}, \; x_0 = p, \; x_1 = q, \; "
        r"t = 2, \dots, T",
        "a, b, p, q: scalar; y: vector(T + 1)",
        "sum{t: (x[t+2] - y[t+2])^2} where x[0] = p, x[1] = q, x[t+2] = a*x[t+1] + b*x[t], t < T - 1",
        second_order,
    ),
    "moving average": (
        r"\sum_{t=1}^{T} e_t^2, \quad e_t = y_t - \phi y_{t-1} - \theta e_{t-1}, \quad e_0 = s",
        "phi, theta, s: scalar; y: vector(T + 1)",
        "sum{t: e[t+1]^2} where e[0] = s, e[t+1] = y[t+1] - phi*y[t] - theta*e[t], t < T",
        moving_average,
    ),
    "adjoint": (
        r"\sum_{t=0}^{T-1} \lambda_{t+1} x_t^\top \text{ where } x_{t+1} = A x_t, \; x_0 = b, \; \lambda_T = c, \; "
        r"\lambda_t = A^\top \lambda_{t+1}, \; t < T",
        "A: matrix(n, n); b, c: vector(n)",
        "sum{t: l[t+1]*x[t]'} where x[0] = b, x[t+1] = A*x[t], l[T] = c, l[t] = A'*l[t+1], t < T",
        adjoint,
    ),
    "cost of a horizon": (
        r"J = \sum_{t=0}^{T} x_t^\top Q x_t + \sum_{t=0}^{T-1} u_t^\top R u_t, \quad x_{t+1} = A x_t + B u_t, "
        r"\; x_0 = b, "
        r"\; t = 0, \dots, T-1",
        "A, Q: matrix(n, n); B: matrix(n, m); R: matrix(m, m); U: matrix(T, m); b: vector(n)",
        "sum{i: x[i,:]'*Q*x[i,:]} + sum{t: U[t,:]'*R*U[t,:]} where x[0] = b, x[t+1] = A*x[t] + B*U[t,:], t < T",
        cost,
    ),
    "minus above": (
        r"\operatorname{tr}(P_T) \text{ where } P_t^- = A P_{t-1} A^\top + Q, \; P_t = (I - K) P_t^-, \; P_0 = V, \; "
        r"t = 1, \dots, T",
        "A, K, Q, V: matrix(n, n)",
        "tr(P[T]) where M[t] = A*P[t]*A' + Q, P[0] = V, P[t+1] = (eye(n) - K)*M[t], t < T",
        predicted,
    ),
    "number of a step from 0": (
        r"x_T, \quad x_{t+1} = x_t + \frac{\eta}{t+1} g_t, \quad x_0 = b, \quad t = 0, \dots, T-1",
        "g: vector(T); eta, b: scalar",
        "x[T] where x[0] = b, x[t+1] = x[t] + eta/(t+1)*g[t], t < T",
        decaying,
    ),
    "number of a step from 1": (
        r"x_T, \quad x_t = x_{t-1} + \frac{\eta}{t} g_t, \quad x_0 = b, \quad t \in \{1, \dots, T\}",
        "g: vector(T); eta, b: scalar",
        "x[T] where x[0] = b, x[t+1] = x[t] + eta/(t+1)*g[t], t < T",
        decaying,
    ),
    "declared start": (
        r"\mathbf{c}^\top \mathbf{x}_T \text{ where } \mathbf{x}_{t+1} = \mathbf{A} \mathbf{x}_t, \; t \le T - 1",
        "A: matrix(n, n); x0, c: vector(n)",
        "c'*x[T] where x[0] = x0, x[t+1] = A*x[t], t < T",
        started,
    ),
    "parts": (
        r"\begin{aligned} M &= A B \\ x_{t+1} &= M x_t \quad \forall t \in \{0, \dots, T-1\} \\ x_0 &= b \\ "
        r"r &= x_T - c \\ f &= r^\top r\end{aligned}",
        "A, B: matrix(n, n); b, c: vector(n)",
        "M = A*B; x[0] = b; x[t+1] = M*x[t]; t < T; r = x[T] - c; r'*r",
        chain,
    ),
    "function": (
        r"h_T \text{ where } h_{t+1} = \phi(h_t) + x_t, \; \phi(z) = a z + b z^2, \; h_0 = s, \; t < T",
        "a, b, s: scalar; x: vector(T)",
        "h[T] where h[0] = s, h[t+1] = a*h[t] + b*h[t]^2 + x[t], t < T",
        cell,
    ),
}
