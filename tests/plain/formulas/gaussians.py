"""Gaussian likelihoods, covariances and designs: logdet, inverses and solved systems."""

import numpy as np
from plain.formulas.table import formula, second
from scipy.linalg import cho_factor, cho_solve, solve_triangular


@formula("logdet(S) + tr(inv(S)*C)", "S: matrix(n, n) spd; C: matrix(n, n) symmetric", "S")
def gaussian(S, C):
    S_inv = np.linalg.inv(S)
    P = S_inv @ C
    return np.linalg.slogdet(S)[1] + np.trace(P), S_inv - P @ S_inv


@second("hvp")
def gaussian_hvp(S, C, v):
    S_inv = np.linalg.inv(S)
    A = S_inv @ v @ S_inv
    B = A @ C @ S_inv
    return B + B.T - A


@formula("y'*inv(K)*y + logdet(K)", "K: matrix(n, n) spd; y: vector(n)", "K")
def gaussian_process(K, y):
    K_chol = cho_factor(K)
    a = cho_solve(K_chol, y)
    value = y @ a + 2 * np.sum(np.log(np.diag(K_chol[0])))
    return value, cho_solve(K_chol, np.eye(len(y))) - np.outer(a, a)


@formula(
    "y'*inv(K)*y/2 + logdet(K)/2 where K = s*exp(-D/(2*l^2)) + t*eye(n)",
    "D: matrix(n, n) symmetric; y: vector(n); s: scalar positive; l: scalar positive; t: scalar positive",
    "s l t",
    D="distances",
)
def kernel_parameters(D, y, s, l, t):  # noqa: E741
    E = np.exp(-D / (2 * l**2))
    K_chol = cho_factor(s * E + t * np.eye(len(y)))
    a = cho_solve(K_chol, y)
    G = (cho_solve(K_chol, np.eye(len(y))) - np.outer(a, a)) / 2
    value = y @ a / 2 + np.sum(np.log(np.diag(K_chol[0])))
    return value, np.sum(G * E), s / l**3 * np.sum(G * E * D), np.trace(G)


@formula(
    "tr(inv(S)*(X .- mu')'*(X .- mu'))/2 + m/2*logdet(S)",
    "X: matrix(m, n); mu: vector(n); S: matrix(n, n) spd",
    "mu S",
)
def gaussian_of_rows(X, mu, S):
    R = X - mu
    S_inv = np.linalg.inv(S)
    A = R @ S_inv
    value = np.sum(A * R) / 2 + len(X) / 2 * np.linalg.slogdet(S)[1]
    return value, -np.sum(A, axis=0), (len(X) * S_inv - A.T @ A) / 2


@formula("h'*inv(J)*h/2 - logdet(J)/2", "J: matrix(n, n) spd; h: vector(n)", "h J")
def natural_parameters(J, h):
    J_chol = cho_factor(J)
    a = cho_solve(J_chol, h)
    J_inv = cho_solve(J_chol, np.eye(len(h)))
    value = h @ a / 2 - np.sum(np.log(np.diag(J_chol[0])))
    return value, a, -(np.outer(a, a) + J_inv) / 2


@formula(
    "tr(inv(S)*C) - n + logdet(S) - logdet(C)",
    "S: matrix(n, n) spd; C: matrix(n, n) spd",
    "S C",
)
def divergence_of_gaussians(S, C):
    S_inv = np.linalg.inv(S)
    P = S_inv @ C
    value = np.trace(P) - len(S) - np.linalg.slogdet(P)[1]
    return value, S_inv - P @ S_inv, S_inv - np.linalg.inv(C)


@formula("tr(S*Q) - logdet(Q)", "S: matrix(n, n) symmetric; Q: matrix(n, n) spd", "Q")
def graphical_lasso(S, Q):
    return np.sum(S * Q) - np.linalg.slogdet(Q)[1], S - np.linalg.inv(Q)


@second("hvp")
def graphical_lasso_hvp(S, Q, v):
    Q_inv = np.linalg.inv(Q)
    return Q_inv @ v @ Q_inv


@formula("sqrt((x - mu)'*inv(S)*(x - mu))", "x: vector(n); mu: vector(n); S: matrix(n, n) spd", "x mu")
def mahalanobis(x, mu, S):
    d = x - mu
    a = np.linalg.solve(S, d)
    value = np.sqrt(d @ a)
    return value, a / value, -a / value


@formula(
    "sum(log(1 + exp(y.*(sum((D*M).*D, axis=1) - 1))))",
    "D: matrix(m, n); M: matrix(n, n) spd; y: vector(m)",
    "M",
    D="scaled",
    y="signs",
)
def metric(D, M, y):
    z = y * (np.sum((D @ M) * D, axis=1) - 1)
    p = y / (1 + np.exp(-z))
    return np.sum(np.logaddexp(0, z)), D.T @ (p[:, None] * D)


@formula(
    "y'*inv(K)*y + logdet(K) where K = a*X*X' + b*eye(m)",
    "X: matrix(m, n); y: vector(m); a: scalar positive; b: scalar positive",
    "a b",
)
def evidence(X, y, a, b):
    G = X @ X.T
    K_chol = cho_factor(a * G + b * np.eye(len(y)))
    u = cho_solve(K_chol, y)
    Xu = X.T @ u
    K_inv = cho_solve(K_chol, np.eye(len(y)))
    value = y @ u + 2 * np.sum(np.log(np.diag(K_chol[0])))
    return value, np.sum(K_inv * G) - Xu @ Xu, np.trace(K_inv) - u @ u


@formula("log(det(X'*X))", "X: matrix(m, n)", "X", X="scaled")
def gram_determinant(X):
    G = X.T @ X
    return np.linalg.slogdet(G)[1], 2 * X @ np.linalg.inv(G)


@formula(
    "logdet(S) + tr(inv(S)*C) where S = L*L' + diag(p)",
    "L: matrix(n, k); p: vector(n) positive; C: matrix(n, n) symmetric",
    "L p",
)
def factor_analysis(L, p, C):
    S = L @ L.T + np.diag(p)
    S_inv = np.linalg.inv(S)
    P = S_inv @ C
    G = S_inv - P @ S_inv
    return np.linalg.slogdet(S)[1] + np.trace(P), 2 * G @ L, np.diag(G)


@formula("-logdet(X'*diag(q)*X)", "X: matrix(m, n); q: vector(m) positive", "q")
def d_optimal(X, q):
    M = X.T @ (q[:, None] * X)
    return -np.linalg.slogdet(M)[1], -np.sum(X * np.linalg.solve(M, X.T).T, axis=1)


@second("hessian")
def d_optimal_hessian(X, q):
    M = X.T @ (q[:, None] * X)
    H = X @ np.linalg.solve(M, X.T)
    return -np.linalg.slogdet(M)[1], -np.diag(H), H**2


@second("hvp")
def d_optimal_hvp(X, q, v):
    M_inv = np.linalg.inv(X.T @ (q[:, None] * X))
    A = X @ M_inv @ (X.T @ (v[:, None] * X)) @ M_inv
    return np.sum(A * X, axis=1)


@formula("tr(inv(X'*diag(q)*X))", "X: matrix(m, n); q: vector(m) positive", "q")
def a_optimal(X, q):
    M_inv = np.linalg.inv(X.T @ (q[:, None] * X))
    return np.trace(M_inv), -np.sum((X @ M_inv) ** 2, axis=1)


@formula(
    "a'*C*b/sqrt(a'*A*a*(b'*B*b))",
    "a: vector(m); b: vector(n); A: matrix(m, m) spd; B: matrix(n, n) spd; C: matrix(m, n)",
    "a b",
)
def canonical_correlation(a, b, A, B, C):
    Aa, Bb, Cb = A @ a, B @ b, C @ b
    aAa, bBb = a @ Aa, b @ Bb
    s = np.sqrt(aAa * bBb)
    value = a @ Cb / s
    return value, Cb / s - value * Aa / aAa, C.T @ a / s - value * Bb / bBb


@formula("w'*mu/sqrt(w'*S*w)", "w: vector(n); mu: vector(n); S: matrix(n, n) spd", "w")
def sharpe_ratio(w, mu, S):
    Sw = S @ w
    wSw = w @ Sw
    value = w @ mu / np.sqrt(wSw)
    return value, mu / np.sqrt(wSw) - value * Sw / wSw


@formula("w'*mu - c/2*w'*S*w", "w: vector(n); mu: vector(n); c: scalar; S: matrix(n, n) spd", "w")
def portfolio(w, mu, c, S):
    Sw = S @ w
    return w @ mu - c / 2 * w @ Sw, mu - c * Sw


@second("hessian")
def portfolio_hessian(w, mu, c, S):
    Sw = S @ w
    return w @ mu - c / 2 * w @ Sw, mu - c * Sw, -c * S


@second("hvp")
def portfolio_hvp(w, mu, c, S, v):
    return -c * S @ v


@formula(
    "log(1 + (x - mu)'*inv(S)*(x - mu)/nu)",
    "x: vector(n); mu: vector(n); S: matrix(n, n) spd; nu: scalar positive",
    "mu",
)
def student_of_vectors(x, mu, S, nu):
    d = x - mu
    a = np.linalg.solve(S, d)
    s = d @ a / nu
    return np.log1p(s), -2 / nu * a / (1 + s)


@formula(
    "norm2(y - r*W*y)^2/2 - logdet(eye(n) - r*W)",
    "r: scalar; W: matrix(n, n); y: vector(n)",
    "r",
    r="fraction",
    W="scaled",
)
def spatial_lag(r, W, y):
    A = np.eye(len(y)) - r * W
    Wy = W @ y
    e = y - r * Wy
    value = e @ e / 2 - np.linalg.slogdet(A)[1]
    return value, np.trace(np.linalg.solve(A, W)) - e @ Wy


@formula("norm2(L\\x)^2/2 + sum(log(diag(L)))", "L: matrix(n, n) lower; x: vector(n)", "L x", L="triangular")
def gaussian_by_factor(L, x):
    z = solve_triangular(L, x, lower=True)
    a = solve_triangular(L.T, z)
    value = z @ z / 2 + np.sum(np.log(np.diag(L)))
    return value, np.diag(1 / np.diag(L)) - np.tril(np.outer(a, z)), a


@formula(
    "x + P*H'*inv(H*P*H' + R)*(z - H*x)",
    "P: matrix(n, n) spd; R: matrix(k, k) spd; H: matrix(k, n); x: vector(n); z: vector(k)",
    "x z",
    gives="jacobian",
)
def kalman_step(P, R, H, x, z):
    PH = P @ H.T
    K = np.linalg.solve(H @ PH + R, PH.T).T
    return x + K @ (z - H @ x), np.eye(len(x)) - K @ H, K


@formula("y'*inv(K + c*eye(n))*y", "K: matrix(n, n) spd; y: vector(n); c: scalar positive", "c")
def kernel_ridge(K, y, c):
    A_chol = cho_factor(K + c * np.eye(len(y)))
    a = cho_solve(A_chol, y)
    return y @ a, -a @ a


@formula(
    "(nu - n - 1)/2*logdet(S) - tr(inv(V)*S)/2",
    "S: matrix(n, n) spd; V: matrix(n, n) spd; nu: scalar",
    "S V",
)
def wishart(S, V, nu):
    V_inv = np.linalg.inv(V)
    c = (nu - len(S) - 1) / 2
    value = c * np.linalg.slogdet(S)[1] - np.sum(V_inv * S) / 2
    return value, c * np.linalg.inv(S) - V_inv / 2, V_inv @ S @ V_inv / 2
