"""Algorithms as public code writes them with loops of NumPy, with declarations, data and a variable of the gradient.

Cells of networks, filters, densities of samplers, integrators, dynamic programs and iterations.
"""

# ruff: noqa: E741, N803, N806

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def gru(X, Wz, Uz, Wr, Ur, Wh, Uh, w):
    h = np.zeros(Uz.shape[0])
    out = []
    for x in X:
        z = 1 / (1 + np.exp(-(Wz @ x + Uz @ h)))
        r = 1 / (1 + np.exp(-(Wr @ x + Ur @ h)))
        n = np.tanh(Wh @ x + r * (Uh @ h))
        h = (1 - z) * n + z * h
        out.append(h)
    H = np.array(out)
    return np.mean((H @ w) ** 2)


def biquad(x, b0, b1, b2, a1, a2):
    y = np.zeros_like(x)
    z1 = z2 = 0.0
    for n in range(len(x)):
        y[n] = b0 * x[n] + z1
        z1 = b1 * x[n] - a1 * y[n] + z2
        z2 = b2 * x[n] - a2 * y[n]
    return np.sum(y**2)


def forward_hmm(logA, logB, logpi, obs):
    T = len(obs)
    alpha = logpi + logB[:, obs[0]]
    for t in range(1, T):
        m = np.max(alpha)
        alpha = np.log(np.exp(alpha - m) @ np.exp(logA)) + m + logB[:, obs[t]]
    m = np.max(alpha)
    return m + np.log(np.sum(np.exp(alpha - m)))


def velocity_verlet(q0, p0, K, dt, steps):
    q, p = q0.copy(), p0.copy()
    p = p - 0.5 * dt * (K @ q)
    for _ in range(steps - 1):
        q = q + dt * p
        p = p - dt * (K @ q)
    q = q + dt * p
    p = p - 0.5 * dt * (K @ q)
    return 0.5 * p @ p + 0.5 * q @ K @ q


def stochastic_vol(y, h, mu, phi, sigma):
    T = y.shape[0]
    lp = -0.5 * np.log(2 * np.pi * sigma**2 / (1 - phi**2)) - (h[0] - mu) ** 2 * (1 - phi**2) / (2 * sigma**2)
    for t in range(T):
        lp += -0.5 * np.log(2 * np.pi) - 0.5 * h[t] - 0.5 * y[t] ** 2 * np.exp(-h[t])
        if t > 0:
            lp += -0.5 * np.log(2 * np.pi * sigma**2) - (h[t] - mu - phi * (h[t - 1] - mu)) ** 2 / (2 * sigma**2)
    return lp


def soft_dtw(D, gamma):
    n, m = D.shape
    R = np.full((n + 1, m + 1), 1e6)
    R[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            r = np.array([R[i - 1, j - 1], R[i - 1, j], R[i, j - 1]])
            rmin = np.min(r)
            R[i, j] = D[i - 1, j - 1] + rmin - gamma * np.log(np.sum(np.exp(-(r - rmin) / gamma)))
    return R[n, m]


def value_iteration(P, r, gamma, n_iter):
    V = np.zeros(r.shape[0])
    for _ in range(n_iter):
        Q = r + gamma * np.einsum("ast,t->sa", P, V)
        V = np.log(np.sum(np.exp(Q), axis=1))
    return V @ V


def adam_quadratic(x0, A, b, lr, n):
    m = np.zeros_like(x0)
    v = np.zeros_like(x0)
    x = x0
    for t in range(1, n + 1):
        g = A @ x - b
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        mhat = m / (1 - 0.9**t)
        vhat = v / (1 - 0.999**t)
        x = x - lr * mhat / (np.sqrt(vhat) + 1e-8)
    return 0.5 * x @ A @ x - b @ x


def kalman_joseph(y, F, H, Q, R, m0, P0):
    m, P, ll = m0, P0, 0.0
    I = np.eye(len(m0))
    for t in range(len(y)):
        m = F @ m
        P = F @ P @ F.T + Q
        v = y[t] - H @ m
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        m = m + K @ v
        P = (I - K @ H) @ P @ (I - K @ H).T + K @ R @ K.T
        sign, ld = np.linalg.slogdet(S)
        ll = ll - 0.5 * (v @ np.linalg.solve(S, v) + ld)
    return ll


def ctc_like(logp, labels):
    T, V = logp.shape
    L = len(labels)
    a = np.full(L + 1, -1e3)
    a[0] = 0.0
    for t in range(T):
        new = a.copy()
        for l in range(1, L + 1):
            new[l] = np.logaddexp(a[l], a[l - 1]) + logp[t, labels[l - 1]]
        a = new
    return a[L]


def holt_winters(y, alpha, beta, gamma, season0):
    m = 4
    level, trend = y[0], y[1] - y[0]
    seasonal = season0.copy()
    sse = 0.0
    for t in range(len(y)):
        s = seasonal[t % m]
        yhat = level + trend + s
        err = y[t] - yhat
        sse += err**2
        last = level
        level = alpha * (y[t] - s) + (1 - alpha) * (level + trend)
        trend = beta * (level - last) + (1 - beta) * trend
        seasonal[t % m] = gamma * (y[t] - level) + (1 - gamma) * s
    return sse


def lotka_rk4(theta, z0, dt, steps, obs):
    a, b, c, d = theta

    def f(z):
        return np.array([a * z[0] - b * z[0] * z[1], -c * z[1] + d * z[0] * z[1]])

    z = z0
    loss = 0.0
    for k in range(steps):
        k1 = f(z)
        k2 = f(z + dt / 2 * k1)
        k3 = f(z + dt / 2 * k2)
        k4 = f(z + dt * k3)
        z = z + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        loss += np.sum((z - obs[k]) ** 2)
    return loss


def lstm_last(X, W, U, b, w):
    H = U.shape[1]
    h = np.zeros(H)
    c = np.zeros(H)
    for t in range(X.shape[0]):
        g = W @ X[t] + U @ h + b
        i = 1 / (1 + np.exp(-g[:H]))
        f = 1 / (1 + np.exp(-g[H : 2 * H]))
        o = 1 / (1 + np.exp(-g[2 * H : 3 * H]))
        u = np.tanh(g[3 * H :])
        c = f * c + i * u
        h = o * np.tanh(c)
    return w @ h


def crf_partition(emissions, transitions):
    score = emissions[0]
    for t in range(1, len(emissions)):
        m = score[:, None] + transitions + emissions[t][None, :]
        mx = m.max(axis=0)
        score = mx + np.log(np.exp(m - mx).sum(axis=0))
    mx = score.max()
    return mx + np.log(np.exp(score - mx).sum())


def pagerank(A, d, iters):
    n = A.shape[0]
    r = np.ones(n) / n
    M = A / A.sum(axis=0)
    for _ in range(iters):
        r = d * M @ r + (1 - d) / n
        r /= r.sum()
    return np.sum(r**2)


def gs_sweeps(A, b, x0, sweeps):
    x = x0.copy()
    n = len(b)
    for _ in range(sweeps):
        for i in range(n):
            x[i] = x[i] + (b[i] - A[i] @ x) / A[i, i]
    return x @ x


rng = np.random.default_rng(0)
n, m, T = 3, 2, 6


def spd(k: int) -> Any:
    root = rng.normal(size=(k, k))
    return root @ root.T + k * np.eye(k)


ALGORITHMS: list[tuple[Callable[..., Any], str, dict[str, Any], str]] = [
    (
        gru,
        "X: matrix(T, m); Wz, Wr, Wh: matrix(n, m); Uz, Ur, Uh: matrix(n, n); w: vector(n)",
        dict(
            X=rng.normal(size=(T, m)),
            **{k: rng.normal(size=(n, m)) for k in ("Wz", "Wr", "Wh")},
            **{k: rng.normal(size=(n, n)) for k in ("Uz", "Ur", "Uh")},
            w=rng.normal(size=n),
        ),
        "Uh",
    ),
    (
        biquad,
        "x: vector(T); b0, b1, b2, a1, a2: scalar",
        dict(x=rng.normal(size=T), b0=0.5, b1=0.2, b2=0.1, a1=-0.3, a2=0.2),
        "a1",
    ),
    (
        forward_hmm,
        "logA: matrix(n, n); logB: matrix(n, k); logpi: vector(n); obs: index(T)",
        dict(
            logA=rng.normal(size=(n, n)),
            logB=rng.normal(size=(n, 4)),
            logpi=rng.normal(size=n),
            obs=np.array([0, 3, 1, 2, 1, 0]),
        ),
        "logA",
    ),
    (
        velocity_verlet,
        "q0, p0: vector(n); K: matrix(n, n); dt: scalar; steps: size",
        dict(q0=rng.normal(size=n), p0=rng.normal(size=n), K=spd(n), dt=0.1, steps=9),
        "K",
    ),
    (
        stochastic_vol,
        "y, h: vector(T); mu, phi: scalar; sigma: scalar positive",
        dict(y=rng.normal(size=T), h=rng.normal(size=T), mu=0.1, phi=0.5, sigma=0.4),
        "h",
    ),
    (soft_dtw, "D: matrix(n, m); gamma: scalar positive", dict(D=rng.uniform(size=(4, 5)), gamma=0.7), "D"),
    (
        value_iteration,
        "P: tensor(a, s, s); r: matrix(s, a); gamma: scalar; n_iter: size",
        dict(P=rng.dirichlet(np.ones(n), size=(m, n)), r=rng.normal(size=(n, m)), gamma=0.9, n_iter=10),
        "r",
    ),
    (
        adam_quadratic,
        "x0, b: vector(k); A: matrix(k, k); lr: scalar; n: size",
        dict(x0=rng.normal(size=n), A=spd(n), b=rng.normal(size=n), lr=0.1, n=12),
        "A",
    ),
    (
        kalman_joseph,
        "y: matrix(T, m); F: matrix(n, n); H: matrix(m, n); Q: matrix(n, n) spd; "
        "R: matrix(m, m) spd; m0: vector(n); P0: matrix(n, n) spd",
        dict(
            y=rng.normal(size=(T, m)),
            F=rng.normal(size=(n, n)) / 2,
            H=rng.normal(size=(m, n)),
            Q=spd(n),
            R=spd(m),
            m0=rng.normal(size=n),
            P0=spd(n),
        ),
        "F",
    ),
    (
        ctc_like,
        "logp: matrix(T, V); labels: index(L) ",
        dict(logp=rng.normal(size=(T, 4)), labels=np.array([1, 0, 3])),
        "logp",
    ),
    (
        holt_winters,
        "y: vector(T); alpha, beta, gamma: scalar; season0: vector(4)",
        dict(y=rng.normal(size=9), alpha=0.3, beta=0.1, gamma=0.2, season0=rng.normal(size=4)),
        "alpha",
    ),
    (
        lotka_rk4,
        "theta: vector(4); z0: vector(2); dt: scalar; steps: size; obs: matrix(steps, 2)",
        dict(
            theta=np.array([0.6, 0.3, 0.5, 0.2]), z0=np.array([1.0, 0.8]), dt=0.1, steps=9, obs=rng.uniform(size=(9, 2))
        ),
        "theta",
    ),
    (
        lstm_last,
        "X: matrix(T, m); W: matrix(12, m); U: matrix(12, 3); b: vector(12); w: vector(3)",
        dict(
            X=rng.normal(size=(T, m)),
            W=rng.normal(size=(12, m)),
            U=rng.normal(size=(12, 3)),
            b=rng.normal(size=12),
            w=rng.normal(size=3),
        ),
        "b",
    ),
    (
        crf_partition,
        "emissions: matrix(T, n); transitions: matrix(n, n)",
        dict(emissions=rng.normal(size=(T, n)), transitions=rng.normal(size=(n, n))),
        "transitions",
    ),
    (
        pagerank,
        "A: matrix(n, n) positive; d: scalar; iters: size",
        dict(A=rng.uniform(0.1, 1, size=(n, n)), d=0.85, iters=10),
        "A",
    ),
    (
        gs_sweeps,
        "A: matrix(n, n); b, x0: vector(n); sweeps: size",
        dict(A=spd(n), b=rng.normal(size=n), x0=rng.normal(size=n), sweeps=9),
        "b",
    ),
]
