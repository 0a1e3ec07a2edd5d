"""The models as an expert writes them in Numba: loops forward and backward, BLAS for products, no allocations."""

from __future__ import annotations

import numpy as np
from numba import njit

from benchmarks.recurrences.models import Array


@njit(fastmath=True)
def cholesky_inverse(S: Array, L: Array, C: Array) -> float:
    """Write the inverse of a positive definite matrix into `C`, its factor into `L`; return the log-determinant."""
    p, logdet = S.shape[0], 0.0
    for j in range(p):
        for i in range(j, p):
            s = S[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            L[i, j] = np.sqrt(s) if i == j else s / L[j, j]
        logdet += 2 * np.log(L[j, j])
    for c in range(p):  # columns of inv(L), as rows of C
        for i in range(c):
            C[c, i] = 0.0
        C[c, c] = 1 / L[c, c]
        for i in range(c + 1, p):
            s = 0.0
            for k in range(c, i):
                s -= L[i, k] * C[c, k]
            C[c, i] = s / L[i, i]
    for i in range(p):  # inv(L)'*inv(L), in place: entry (i, j) reads entries from max(i, j) on
        for j in range(i, p):
            s = 0.0
            for k in range(j, p):
                s += C[i, k] * C[j, k]
            L[i, j] = s
    for i in range(p):
        for j in range(i, p):
            C[i, j] = C[j, i] = L[i, j]
    return logdet


@njit(fastmath=True)
def kalman(A, H, Q, R, x0, P0, Y):
    (p, n), T = H.shape, len(Y)
    At, Ht = A.T.copy(), H.T.copy()
    xs, Ps, Ws, Cs, us = (
        np.empty((T + 1, n)),
        np.empty((T + 1, n, n)),
        np.empty((T, n, p)),
        np.empty((T, p, p)),
        np.empty((T, p)),
    )
    xs[0], Ps[0], value = x0, P0, 0.0
    F, G, S, L, K = np.empty((n, n)), np.empty((n, n)), np.empty((p, p)), np.empty((p, p)), np.empty((n, p))
    Wt, v, xf, pn = np.empty((p, n)), np.empty(p), np.empty(n), np.empty((p, n))
    for t in range(T):
        x, P, W, C, u = xs[t], Ps[t], Ws[t], Cs[t], us[t]
        np.dot(P, Ht, W)
        np.dot(H, W, S)
        for i in range(p):
            for j in range(p):
                S[i, j] += R[i, j]
        np.dot(H, x, v)
        for i in range(p):
            v[i] = Y[t, i] - v[i]
        value += cholesky_inverse(S, L, C)
        np.dot(C, v, u)
        for i in range(p):
            value += u[i] * v[i]
        np.dot(W, u, xf)
        for i in range(n):
            xf[i] += x[i]
        np.dot(A, xf, xs[t + 1])
        np.dot(W, C, K)
        np.dot(K, W.T, F)
        for i in range(n):
            for j in range(n):
                F[i, j] = P[i, j] - F[i, j]
        np.dot(A, F, G)
        np.dot(G, At, Ps[t + 1])
        for i in range(n):
            for j in range(n):
                Ps[t + 1, i, j] += Q[i, j]
    Ab, Hb, Qb, Rb = np.zeros((n, n)), np.zeros((p, n)), np.zeros((n, n)), np.zeros((p, p))
    lam, Lam = np.zeros(n), np.zeros((n, n))
    M, Z, Wb, Sb, q, vb = (
        np.empty((n, n)),
        np.empty((n, p)),
        np.empty((n, p)),
        np.empty((p, p)),
        np.empty(n),
        np.empty(p),
    )
    D = np.empty((p, p))
    for t in range(T - 1, -1, -1):
        x, P, W, C, u = xs[t], Ps[t], Ws[t], Cs[t], us[t]
        np.dot(W, C, K)
        np.dot(K, W.T, F)
        for i in range(n):
            for j in range(n):
                F[i, j] = P[i, j] - F[i, j]
        np.dot(Lam, A, G)
        np.dot(G, F, M)
        np.dot(W, u, xf)
        for i in range(n):
            for j in range(n):
                Ab[i, j] += 2 * M[i, j] + lam[i] * (xf[j] + x[j])
                Qb[i, j] += Lam[i, j]
        np.dot(At, G, M)
        np.dot(At, lam, q)
        np.dot(M, K, Z)
        np.dot(K.T, q, vb)
        np.dot(K.T, Z, D)
        for i in range(p):
            for j in range(p):
                Sb[i, j] = 0.5 * (C[i, j] - u[i] * u[j] - vb[i] * u[j] - u[i] * vb[j]) + D[i, j]
                Rb[i, j] += Sb[i, j]
        for i in range(n):
            for j in range(p):
                Wb[i, j] = q[i] * u[j] - 2 * Z[i, j]
        for i in range(p):
            vb[i] += u[i]
        np.dot(Sb, W.T, pn)
        np.dot(Wb.T, P, Wt)
        for i in range(p):
            for j in range(n):
                Hb[i, j] += 2 * pn[i, j] + Wt[i, j] - vb[i] * x[j]
        np.dot(Sb, H, pn)
        for i in range(p):
            for j in range(n):
                pn[i, j] += Wb[j, i]
        np.dot(Ht, pn, F)
        for i in range(n):
            for j in range(n):
                Lam[i, j] = 0.5 * (F[i, j] + F[j, i] + M[i, j] + M[j, i])
        np.dot(Ht, vb, lam)
        for i in range(n):
            lam[i] = q[i] - lam[i]
    return value / 2, Ab, Hb, Qb, Rb


@njit(fastmath=True)
def rnn(W, U, b, c, h0, X, y):
    n, T = len(W), len(X)
    Wt, hs, ds, e = W.T.copy(), np.empty((T + 1, n)), np.dot(X, U.T), np.empty(T)
    hs[0], value, z = h0, 0.0, np.empty(n)
    for t in range(T):
        np.dot(W, hs[t], z)
        s = 0.0
        for i in range(n):
            hs[t + 1, i] = np.tanh(z[i] + ds[t, i] + b[i])
            s += c[i] * hs[t + 1, i]
        e[t] = 2 * (s - y[t])
        value += (s - y[t]) ** 2
    z[:] = 0
    for t in range(T - 1, -1, -1):
        for i in range(n):
            ds[t, i] = (z[i] + e[t] * c[i]) * (1 - hs[t + 1, i] ** 2)
        np.dot(Wt, ds[t], z)
    db = np.zeros(n)
    for t in range(T):
        for i in range(n):
            db[i] += ds[t, i]
    return value, np.dot(ds.T, hs[:T]), np.dot(ds.T, X), db, np.dot(hs[1:].T, e)


@njit(fastmath=True)
def garch(w, a, b, s, e):
    T = len(e)
    g, value = np.empty(T), 0.0
    now = s
    for t in range(T):
        g[t] = now
        value += np.log(now) + e[t] * e[t] / now
        now = w + a * e[t] * e[t] + b * now
    lam, dw, da, db = 0.0, 0.0, 0.0, 0.0
    for t in range(T - 1, -1, -1):
        dw += lam
        da += lam * e[t] * e[t]
        db += lam * g[t]
        r = 1 / g[t]
        lam = b * lam + r - e[t] * e[t] * r * r
    return value, dw, da, db


@njit(fastmath=True)
def rk4(A, b, x0, h, Y):
    n, T = len(A), len(Y)
    At, xs, zs, ds = A.T.copy(), np.empty((T + 1, n)), np.empty((T, 4, n)), np.empty((T, 4, n))
    k, q = np.empty((4, n)), np.empty(n)
    xs[0], value = x0, 0.0
    for t in range(T):
        x, z = xs[t], zs[t]
        for s in range(4):
            f = 0.0 if s == 0 else h if s == 3 else h / 2
            for i in range(n):
                z[s, i] = np.tanh(x[i] + f * k[s - 1, i])
            np.dot(A, z[s], k[s])
            for i in range(n):
                k[s, i] += b[i]
        for i in range(n):
            xs[t + 1, i] = x[i] + h / 6 * (k[0, i] + 2 * k[1, i] + 2 * k[2, i] + k[3, i])
            value += (xs[t + 1, i] - Y[t, i]) ** 2
    lam = np.zeros(n)
    for t in range(T - 1, -1, -1):
        z, d = zs[t], ds[t]
        for i in range(n):
            lam[i] += 2 * (xs[t + 1, i] - Y[t, i])
            q[i] = 0.0
        old = lam.copy() if False else lam
        for i in range(n):
            k[0, i] = old[i]
        for s in range(3, -1, -1):
            f = h / 6 if s in (0, 3) else h / 3
            g = 0.0 if s == 3 else h if s == 2 else h / 2
            for i in range(n):
                d[s, i] = f * k[0, i] + g * q[i]
            np.dot(At, d[s], q)
            for i in range(n):
                q[i] *= 1 - z[s, i] ** 2
                lam[i] += q[i]
    d, z = ds.reshape(4 * T, n), zs.reshape(4 * T, n)
    db = np.zeros(n)
    for t in range(4 * T):
        for i in range(n):
            db[i] += d[t, i]
    return value, np.dot(d.T, z), db, lam


@njit(fastmath=True)
def lqr(A, B, Q, R, X0, T):
    n, m = B.shape
    At, Bt = A.T.copy(), B.T.copy()
    Ps, Ks, value = np.empty((T + 1, n, n)), np.empty((T, m, n)), 0.0
    Ps[T] = Q
    F, G, N, S, L, C = (
        np.empty((n, n)),
        np.empty((n, n)),
        np.empty((m, n)),
        np.empty((m, m)),
        np.empty((m, m)),
        np.empty((m, m)),
    )
    V = np.empty((n, m))
    for t in range(T - 1, -1, -1):
        P, K = Ps[t + 1], Ks[t]
        np.dot(P, A, G)
        np.dot(P, B, V)
        np.dot(Bt, V, S)
        for i in range(m):
            for j in range(m):
                S[i, j] += R[i, j]
        cholesky_inverse(S, L, C)
        np.dot(Bt, G, N)
        np.dot(C, N, K)
        np.dot(At, G, Ps[t])
        np.dot(N.T, K, F)
        for i in range(n):
            for j in range(n):
                Ps[t, i, j] += Q[i, j] - F[i, j]
    for i in range(n):
        for j in range(n):
            value += Ps[0, i, j] * X0[i, j]
    X, Ab, Bb, Qb, Rb = X0.copy(), np.zeros((n, n)), np.zeros((n, m)), X0.copy(), np.zeros((m, m))
    E, XK = np.empty((n, n)), np.empty((n, m))
    for t in range(T):
        P, K = Ps[t + 1], Ks[t]
        np.dot(B, K, F)
        for i in range(n):
            for j in range(n):
                F[i, j] = A[i, j] - F[i, j]
        np.dot(F, X, G)
        np.dot(P, G, E)
        for i in range(n):
            for j in range(n):
                Ab[i, j] += 2 * E[i, j]
        np.dot(E, K.T, V)
        for i in range(n):
            for j in range(m):
                Bb[i, j] -= 2 * V[i, j]
        np.dot(X, K.T, XK)
        np.dot(K, XK, S)
        for i in range(m):
            for j in range(m):
                Rb[i, j] += S[i, j]
        np.dot(G, F.T, X)
        for i in range(n):
            for j in range(n):
                Qb[i, j] += X[i, j]
    return value, Ab, Bb, Qb, Rb
