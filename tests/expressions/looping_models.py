"""Models as people write them with loops of NumPy: filters, series, networks, integrators, dynamic programs."""

# ruff: noqa: B007, B905, E741, N803, N806

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import logsumexp


def arma(y, phi, theta, c):
    n = len(y)
    eps = np.zeros(n)
    for t in range(1, n):
        eps[t] = y[t] - c - phi * y[t - 1] - theta * eps[t - 1]
    return 0.5 * np.sum(eps**2)


def ar_window(y, w):
    p = len(w)
    sse = 0.0
    for t in range(p, len(y)):
        sse += (y[t] - w @ y[t - p : t]) ** 2
    return sse


def fir(y, w):
    n, p = len(y), len(w)
    out = np.zeros(n - p + 1)
    for t in range(n - p + 1):
        out[t] = np.dot(w, y[t : t + p])
    return np.sum(out**2)


def hmm(A, B, x, y):
    alpha = x * B[:, y[0]]
    ll = 0.0
    c = np.sum(alpha)
    alpha = alpha / c
    ll += np.log(c)
    for t in range(1, len(y)):
        alpha = (alpha @ A) * B[:, y[t]]
        c = alpha.sum()
        alpha /= c
        ll += np.log(c)
    return ll


def hmm2(A, B, x, y):
    T, K = len(y), len(x)
    la = np.full((T, K), -np.inf)
    la[0] = np.log(x) + np.log(B[:, y[0]])
    for t in range(1, T):
        for j in range(K):
            la[t, j] = logsumexp(la[t - 1] + np.log(A[:, j])) + np.log(B[j, y[t]])
    return logsumexp(la[-1])


def viterbi(A, B, x, y):
    T, K = len(y), len(x)
    d = np.zeros((T, K))
    d[0] = np.log(x) + np.log(B[:, y[0]])
    for t in range(1, T):
        d[t] = np.max(d[t - 1][:, None] + np.log(A), axis=0) + np.log(B[:, y[t]])
    return np.max(d[-1])


def rk4(A, x, c):
    def f(x, t):
        return np.tanh(A @ x) * np.cos(t)

    dt = 0.1
    traj = [x]
    t = 0.0
    for k in range(len(c)):
        k1 = f(x, t)
        k2 = f(x + dt / 2 * k1, t + dt / 2)
        k3 = f(x + dt / 2 * k2, t + dt / 2)
        k4 = f(x + dt * k3, t + dt)
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += dt
        traj.append(x)
    traj = np.array(traj)
    return np.sum((traj[1:, 0] - c) ** 2)


def verlet(A, x, c):
    q, p = x.copy(), np.zeros_like(x)
    e = 0.0
    for t in range(len(c)):
        p = p - 0.05 * (A @ q)
        q = q + 0.1 * p
        p = p - 0.05 * (A @ q)
        e += p @ p + c[t] * q @ q
    return e


def holt_winters(y, a, b, g):
    m = 4
    n = len(y)
    s = np.zeros(n)
    level, trend = y[0], 0.0
    sse = 0.0
    for t in range(m, n):
        pred = level + trend + s[t - m]
        sse += (y[t] - pred) ** 2
        new = a * (y[t] - s[t - m]) + (1 - a) * (level + trend)
        trend = b * (new - level) + (1 - b) * trend
        s[t] = g * (y[t] - new) + (1 - g) * s[t - m]
        level = new
    return sse


def gru(W, U, h, X):
    for t in range(len(X)):
        z = 1 / (1 + np.exp(-(W @ h + U @ X[t])))
        n = np.tanh(W.T @ (z * h) + U @ X[t])
        h = (1 - z) * n + z * h
    return np.sum(h**2)


def lstm(W, U, h, X):
    c = np.zeros_like(h)
    hs = np.zeros((len(X), len(h)))
    for t, x in enumerate(X):
        a = W @ h + U @ x
        i = 1 / (1 + np.exp(-a))
        c = i * c + (1 - i) * np.tanh(a)
        h = i * np.tanh(c)
        hs[t] = h
    return np.mean(hs**2)


def kalman1(y, a, q, r):
    m, P, ll = 0.0, 1.0, 0.0
    for t in range(len(y)):
        m, P = a * m, a * a * P + q**2
        S = P + r**2
        v = y[t] - m
        K = P / S
        ll += -0.5 * (np.log(2 * np.pi * S) + v**2 / S)
        m = m + K * v
        P = (1 - K) * P
    return ll


def sv(y, a, q, r):
    h = np.zeros(len(y))
    lp = 0.0
    h[0] = a
    for t in range(1, len(y)):
        h[t] = a + q * (h[t - 1] - a) + r * y[t - 1]
    for t in range(len(y)):
        lp -= 0.5 * (h[t] + y[t] ** 2 * np.exp(-h[t]))
    return lp


def egarch(y, a, q, r):
    lh = np.log(np.var(y))
    ll = 0.0
    for t in range(len(y)):
        ll += lh + y[t] ** 2 / np.exp(lh)
        z = y[t] / np.exp(lh / 2)
        lh = a + q * lh + r * (abs(z) - np.sqrt(2 / np.pi))
    return ll


def discount(y, a):
    G = 0.0
    returns = []
    for r in reversed(y):
        G = r + a * G
        returns.append(G)
    return np.sum(np.array(returns[::-1]) * y)


def discount2(y, a):
    n = len(y)
    R = np.zeros(n)
    acc = 0.0
    for t in reversed(range(n)):
        acc = y[t] + a * acc
        R[t] = acc
    return R @ R


def gae(y, v, a, b):
    adv = np.zeros_like(y)
    last = 0.0
    for t in reversed(range(len(y) - 1)):
        delta = y[t] + a * v[t + 1] - v[t]
        last = delta + a * b * last
        adv[t] = last
    return np.sum(adv**2)


M = "A: matrix(n,n); x: vector(n); c: vector(T)"
H = "A: matrix(n,n); B: matrix(n,n); x: vector(n); y: index(T)"
MODELS: list[tuple[Callable[..., Any], str]] = [
    (arma, "y: vector(T); phi,theta,c: scalar"),
    (ar_window, "y: vector(T); w: vector(p)"),
    (fir, "y: vector(T); w: vector(p)"),
    (hmm, H),
    (hmm2, H),
    (viterbi, H),
    (rk4, M),
    (verlet, M),
    (holt_winters, "y: vector(T); a,b,g: scalar"),
    (gru, "W: matrix(n,n); U: matrix(n,m); h: vector(n); X: matrix(T,m)"),
    (lstm, "W: matrix(n,n); U: matrix(n,m); h: vector(n); X: matrix(T,m)"),
    (kalman1, "y: vector(T); a,q,r: scalar"),
    (sv, "y: vector(T); a,q,r: scalar"),
    (egarch, "y: vector(T); a,q,r: scalar"),
    (discount, "y: vector(T); a: scalar"),
    (discount2, "y: vector(T); a: scalar"),
    (gae, "y: vector(T); v: vector(T); a,b: scalar"),
]
