"""Models as people write them with loops of NumPy: solvers, grids, kernels, tables, learning."""

# ruff: noqa: B007, B905, E741, N803, N806

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def power(A, x, c):
    v = x / np.linalg.norm(x)
    for _ in range(20):
        v = A @ v
        v = v / np.linalg.norm(v)
    return v @ A @ v


def cg(A, x, c):
    S = A @ A.T + np.eye(len(x))
    z = np.zeros_like(x)
    r = x - S @ z
    p = r
    for _ in range(3):
        al = r @ r / (p @ S @ p)
        z = z + al * p
        rn = r - al * S @ p
        p = rn + (rn @ rn) / (r @ r) * p
        r = rn
    return z @ x


def sinkhorn(A, x, c):
    K = np.exp(-A)
    u = np.ones(len(x))
    for _ in range(15):
        v = x / (K.T @ u)
        u = x / (K @ v)
    return np.sum(u[:, None] * K * A * v[None, :])


def gd(A, x, c):
    w = np.zeros(len(x))
    for it in range(30):
        w -= 0.1 * (A.T @ (A @ w - x))
    return np.sum((A @ w - x) ** 2)


def running_mean(y, a):
    m = 0.0
    M2 = 0.0
    for k, v in enumerate(y, start=1):
        d = v - m
        m += d / k
        M2 += d * (v - m)
    return a * M2 / len(y)


def cumul(y, a):
    out = [a]
    for v in y:
        out.append(out[-1] * 0.9 + v)
    return sum(o**2 for o in out)


def dtw(x, c):
    n, m = len(x), len(c)
    D = np.full((n + 1, m + 1), 1e6)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - c[j - 1]) ** 2
            z = np.array([D[i - 1, j], D[i, j - 1], D[i - 1, j - 1]])
            D[i, j] = cost - np.log(np.sum(np.exp(-z)))
    return D[n, m]


def horner(y, a):
    r = 0.0
    for k in reversed(range(len(y))):
        r = r * a + y[k]
    return r


def logistic_map(a, c):
    x = 0.3
    for t in range(len(c)):
        x = a * x * (1 - x) + 0.01 * c[t]
    return x


def heat(x, c):
    u = x.copy()
    for t in range(len(c)):
        new = u.copy()
        new[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = new
    return np.sum(u**2)


def heat2(x, c):
    U = np.zeros((len(c) + 1, len(x)))
    U[0] = x
    for t in range(len(c)):
        for i in range(1, len(x) - 1):
            U[t + 1, i] = U[t, i] + 0.1 * (U[t, i + 1] - 2 * U[t, i] + U[t, i - 1])
    return np.sum(U[-1] ** 2)


def thomas(x, c):
    n = len(c)
    cp = np.zeros(n)
    dp = np.zeros(n)
    cp[0] = 0.5 / 2
    dp[0] = c[0] / 2
    for i in range(1, n):
        m = 2 - 0.3 * cp[i - 1]
        cp[i] = 0.5 / m
        dp[i] = (c[i] - 0.3 * dp[i - 1]) / m
    z = np.zeros(n)
    z[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        z[i] = dp[i] - cp[i] * z[i + 1]
    return z @ z + np.sum(x)


def chol(A, x, c):
    n = len(x)
    S = A @ A.T + np.eye(n)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = S[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                L[i, j] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return np.sum(L)


def poisson_loop(X, y_, w):
    ll = 0.0
    for i in range(X.shape[0]):
        eta = 0.0
        for j in range(X.shape[1]):
            eta += X[i, j] * w[j]
        ll += y_[i] * eta - np.exp(eta)
    return -ll


def kmat(X, a):
    n, d = X.shape
    K = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            diff = X[i] - X[j]
            K[i, j] = np.exp(-a * np.dot(diff, diff))
    return np.sum(np.linalg.inv(K + np.eye(n)))


def kmat_sym(X, a):
    n = X.shape[0]
    K = np.zeros((n, n))
    for i in range(n):
        for j in range(i, n):
            K[i, j] = np.exp(-a * np.sum((X[i] - X[j]) ** 2))
            K[j, i] = K[i, j]
    return np.sum(np.linalg.inv(K + np.eye(n)))


def tv(X, a):
    n, m = X.shape
    s = 0.0
    for i in range(n - 1):
        for j in range(m - 1):
            s += np.sqrt((X[i + 1, j] - X[i, j]) ** 2 + (X[i, j + 1] - X[i, j]) ** 2 + a)
    return s


def matmul3(A, x, c):
    n = len(x)
    C = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for k in range(n):
                C[i, j] += A[i, k] * A[k, j]
    return np.sum(C**2)


def group(y, g, w):
    s = np.zeros(len(w))
    cnt = np.zeros(len(w))
    for i in range(len(y)):
        s[g[i]] += y[i]
        cnt[g[i]] += 1
    return np.sum((s - w * cnt) ** 2)


def mf(P, Q, u, i, r):
    loss = 0.0
    for n in range(len(r)):
        e = r[n] - P[u[n]] @ Q[i[n]]
        loss += e**2 + 0.1 * (P[u[n]] @ P[u[n]] + Q[i[n]] @ Q[i[n]])
    return loss


def skipgram(P, Q, u, i, r):
    loss = 0
    for a, b in zip(u, i):
        loss -= np.log(1 / (1 + np.exp(-P[a].dot(Q[b]))))
    return loss


def elo(r0, wi, lo, k):
    r = r0.copy()
    ll = 0.0
    for t in range(len(wi)):
        p = 1 / (1 + np.exp(r[lo[t]] - r[wi[t]]))
        ll += np.log(p)
        r[wi[t]] += k * (1 - p)
        r[lo[t]] -= k * (1 - p)
    return ll


def qlearn(Q0, s, a_, r, al):
    Q = Q0.copy()
    nll = 0.0
    for t in range(len(r)):
        p = np.exp(Q[s[t]])
        p = p / np.sum(p)
        nll -= np.log(p[a_[t]])
        Q[s[t], a_[t]] = Q[s[t], a_[t]] + al * (r[t] - Q[s[t], a_[t]])
    return nll


def survival(h, y_):
    S = 1.0
    ll = 0.0
    for t in range(len(h)):
        ll += y_[t] * np.log(h[t] * S)
        S *= 1 - h[t]
    return ll


def bernstein(y, a):
    n = len(y) - 1
    s = 0.0
    for k in range(len(y)):
        s += y[k] * a**k * (1 - a) ** (n - k)
    return s


def maxpool(y, a):
    best = -1e9
    for v in y:
        best = max(best, a * v)
    return best


def chain3(A, x, c):
    x1 = x
    for w in c:
        x1, x = A @ x1 * w, x1
    return np.sum(x1) + np.sum(x)


def minmax(A, x, c):
    for t in range(c.shape[0]):
        x = np.clip(A @ x + c[t], -0.5, 0.5)
    return np.sum(x)


M = "A: matrix(n,n); x: vector(n); c: vector(T)"
H = "A: matrix(n,n); B: matrix(n,n); x: vector(n); y: index(T)"
SOLVERS: list[tuple[Callable[..., Any], str]] = [
    (power, M),
    (cg, M),
    (sinkhorn, M),
    (gd, M),
    (running_mean, "y: vector(T); a: scalar"),
    (cumul, "y: vector(T); a: scalar"),
    (dtw, "x: vector(n); c: vector(T)"),
    (horner, "y: vector(T); a: scalar"),
    (logistic_map, "a: scalar; c: vector(T)"),
    (heat, "x: vector(n); c: vector(T)"),
    (heat2, "x: vector(n); c: vector(T)"),
    (thomas, "x: vector(n); c: vector(T)"),
    (chol, M),
    (poisson_loop, "X: matrix(T,n); y_: vector(T); w: vector(n)"),
    (kmat, "X: matrix(T,n); a: scalar"),
    (kmat_sym, "X: matrix(T,n); a: scalar"),
    (tv, "X: matrix(T,n); a: scalar"),
    (matmul3, M),
    (group, "y: vector(T); g: index(T); w: vector(n)"),
    (mf, "P: matrix(n,m); Q: matrix(n,m); u: index(T); i: index(T); r: vector(T)"),
    (skipgram, "P: matrix(n,m); Q: matrix(n,m); u: index(T); i: index(T); r: vector(T)"),
    (elo, "r0: vector(n); wi: index(T); lo: index(T); k: scalar"),
    (qlearn, "Q0: matrix(n,m); s: index(T); a_: index(T); r: vector(T); al: scalar"),
    (survival, "h: vector(T); y_: vector(T)"),
    (bernstein, "y: vector(T); a: scalar"),
    (maxpool, "y: vector(T); a: scalar"),
    (chain3, M),
    (minmax, M),
]
