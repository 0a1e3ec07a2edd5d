"""Classes, mixtures and probabilities: softmax and its relatives."""

import numpy as np
from plain_source.formulas.table import formula, second
from scipy.special import expit, log_softmax, logsumexp, softmax


@formula(
    "sum(logsumexp(X*W, axis=1)) - sum(Y.*(X*W))",
    "X: matrix(m, n); W: matrix(n, k); Y: matrix(m, k)",
    "W",
    X="scaled",
    Y="onehot",
)
def softmax_regression(X, W, Y):
    Z = X @ W
    value = np.sum(logsumexp(Z, axis=1)) - np.sum(Y * Z)
    gradient_W = X.T @ (softmax(Z, axis=1) - Y)
    return value, gradient_W


@second("hessian")
def softmax_regression_hessian(X, W, Y):
    Z = X @ W
    P = softmax(Z, axis=1)
    value = np.sum(logsumexp(Z, axis=1)) - np.sum(Y * Z)
    D = P[:, :, None] * (np.eye(P.shape[1]) - P[:, None, :])
    gradient_W = X.T @ (P - Y)
    hessian_W = np.einsum("ta,tbd,tc->abcd", X, D, X, optimize=True)
    return value, gradient_W, hessian_W


@second("hvp")
def softmax_regression_hvp(X, W, Y, v):
    P = softmax(X @ W, axis=1)
    T = P * (X @ v)
    return X.T @ (T - P * np.sum(T, axis=1, keepdims=True))


@formula(
    "-sum{i: log_softmax(X*W, axis=1)[i, y[i]]}",
    "X: matrix(m, n); W: matrix(n, k); y: index(m)",
    "W",
    y="below k",
)
def labels(X, W, y):
    L = log_softmax(X @ W, axis=1)
    P = np.exp(L)
    rows = np.arange(len(y))
    P[rows, y] -= 1
    value = -np.sum(L[rows, y])
    gradient_W = X.T @ P
    return value, gradient_W


@formula(
    "-sum(Y.*log_softmax(X*W .+ b', axis=1))/m",
    "X: matrix(m, n); W: matrix(n, k); b: vector(k); Y: matrix(m, k)",
    "W b",
    Y="onehot",
)
def one_hot_labels(X, W, b, Y):
    L = log_softmax(X @ W + b, axis=1)
    G = (np.exp(L) * np.sum(Y, axis=1, keepdims=True) - Y) / len(X)
    value = -np.sum(Y * L) / len(X)
    gradient_W = X.T @ G
    gradient_b = np.sum(G, axis=0)
    return value, gradient_W, gradient_b


@formula("log(sum(exp(A*x)))", "A: matrix(m, n); x: vector(n)", "x")
def log_sum_exp(A, x):
    z = A @ x
    value = logsumexp(z)
    gradient_x = A.T @ softmax(z)
    return value, gradient_x


@second("hessian")
def log_sum_exp_hessian(A, x):
    z = A @ x
    p = softmax(z)
    g = A.T @ p
    value = logsumexp(z)
    hessian_x = A.T @ (p[:, None] * A) - np.outer(g, g)
    return value, g, hessian_x


@second("hvp")
def log_sum_exp_hvp(A, x, v):
    p = softmax(A @ x)
    u = p * (A @ v)
    return A.T @ (u - np.sum(u) * p)


@formula("softmax(z)", "z: vector(n)", "z", gives="jacobian")
def softmax_map(z):
    p = softmax(z)
    jacobian_z = np.diag(p) - np.outer(p, p)
    return p, jacobian_z


@formula(
    "sum(C.*(softmax(Q*K'/sqrt(d), axis=1)*V))",
    "Q: matrix(m, n); K: matrix(p, n); V: matrix(p, k); C: matrix(m, k); d: scalar positive",
    "Q K V",
)
def attention(Q, K, V, C, d):
    P = softmax(Q @ K.T / np.sqrt(d), axis=1)
    A = P * (C @ V.T)
    S = (A - P * np.sum(A, axis=1, keepdims=True)) / np.sqrt(d)
    value = np.sum(C * (P @ V))
    gradient_Q = S @ K
    gradient_K = S.T @ Q
    gradient_V = P.T @ C
    return value, gradient_Q, gradient_K, gradient_V


@formula("-softmax(z)'*log_softmax(z)", "z: vector(n)", "z")
def entropy_of_softmax(z):
    u = log_softmax(z)
    p = np.exp(u)
    value = -p @ u
    gradient_z = -p * (u + value)
    return value, gradient_z


@formula("p'*log(p./q)", "p: vector(n) positive; q: vector(n) positive", "p q")
def divergence(p, q):
    u = np.log(p / q)
    value = p @ u
    gradient_p = u + 1
    gradient_q = -p / q
    return value, gradient_p, gradient_q


@formula(
    "sum(logsumexp(A*B'/t, axis=1)) - tr(A*B')/t",
    "A: matrix(m, n); B: matrix(m, n); t: scalar positive",
    "A B",
)
def contrastive(A, B, t):
    Z = A @ B.T / t
    G = (softmax(Z, axis=1) - np.eye(len(Z))) / t
    value = np.sum(logsumexp(Z, axis=1)) - np.trace(Z)
    gradient_A = G @ B
    gradient_B = G.T @ A
    return value, gradient_A, gradient_B


@formula(
    "sum(logsumexp(X*M' .- sum(M.^2, axis=1)'/2, axis=1))",
    "X: matrix(m, n); M: matrix(k, n)",
    "M",
    X="scaled",
)
def mixture(X, M):
    Z = X @ M.T - np.sum(M**2, axis=1) / 2
    P = softmax(Z, axis=1)
    value = np.sum(logsumexp(Z, axis=1))
    gradient_M = P.T @ X - np.sum(P, axis=0)[:, None] * M
    return value, gradient_M


@formula(
    "-sum(logsumexp(-D, axis=1)) where D = sum(X.^2, axis=1) .+ sum(C.^2, axis=1)' - 2*X*C'",
    "X: matrix(m, n); C: matrix(k, n)",
    "C",
    large={"m": 2000},
)
def soft_k_means(X, C):
    D = np.sum(X**2, axis=1)[:, None] + np.sum(C**2, axis=1) - 2 * X @ C.T
    P = softmax(-D, axis=1)
    value = -np.sum(logsumexp(-D, axis=1))
    gradient_C = 2 * (np.sum(P, axis=0)[:, None] * C - P.T @ X)
    return value, gradient_C


@formula("-sum(logsumexp(Z .+ log(q)', axis=1))", "Z: matrix(m, n); q: vector(n) positive", "q")
def log_mixture(Z, q):
    A = Z + np.log(q)
    value = -np.sum(logsumexp(A, axis=1))
    gradient_q = -np.sum(softmax(A, axis=1), axis=0) / q
    return value, gradient_q


@formula(
    "c*norm2(x)^2 + sum(softplus(x[j] - x[i]))",
    "x: vector(n); i: index(N); j: index(N); c: scalar",
    "x",
    i="below n",
    j="below n",
)
def pairs_compared(x, i, j, c):
    z = x[j] - x[i]
    p = expit(z)
    gradient = 2 * c * x + np.bincount(j, p, len(x)) - np.bincount(i, p, len(x))
    value = c * x @ x + np.sum(np.logaddexp(0, z))
    return value, gradient


@formula(
    "sum{t: softplus(-s[t]*(a[i[t]] - b[j[t]]))}",
    "a: vector(m); b: vector(n); i: index(N); j: index(N); s: vector(N)",
    "a b",
    s="signs",
    i="below m",
    j="below n",
)
def item_response(a, b, i, j, s):
    z = -s * (a[i] - b[j])
    g = s * expit(z)
    value = np.sum(np.logaddexp(0, z))
    gradient_a = -np.bincount(i, g, len(a))
    gradient_b = np.bincount(j, g, len(b))
    return value, gradient_a, gradient_b


@formula(
    "-a'*u + b'*(c*logsumexp((u .- C)/c, axis=0) - c*log(b))",
    "u: vector(m); a: vector(m) positive; b: vector(n) positive; C: matrix(m, n); c: scalar positive",
    "u",
)
def transport(u, a, b, C, c):
    Z = (u[:, None] - C) / c
    value = b @ (c * (logsumexp(Z, axis=0) - np.log(b))) - a @ u
    gradient_u = softmax(Z, axis=0) @ b - a
    return value, gradient_u


@formula(
    "sum(softplus(-S.*(t' .- X*w))) + c/2*norm2(w)^2",
    "X: matrix(m, n); S: matrix(m, k); w: vector(n); t: vector(k); c: scalar",
    "w t",
    S="signs",
)
def ordinal(X, S, w, t, c):
    Z = -S * (t - (X @ w)[:, None])
    G = S * expit(Z)
    value = np.sum(np.logaddexp(0, Z)) + c / 2 * w @ w
    gradient_w = X.T @ np.sum(G, axis=1) + c * w
    gradient_t = -np.sum(G, axis=0)
    return value, gradient_w, gradient_t


@formula("-sum(Y.*log(sigmoid(Z)) + (1 - Y).*log(1 - sigmoid(Z)))", "Y: matrix(m, n); Z: matrix(m, n)", "Z", Y="mask")
def cross_entropy(Y, Z):
    value = np.sum(np.logaddexp(0, Z) - Y * Z)
    gradient_Z = expit(Z) - Y
    return value, gradient_Z
