"""Gaussian likelihoods, covariances and designs: logdet, inverses and solved systems."""

import numpy as np
from plain_source.formulas.table import formula, second
from scipy.linalg import cho_factor, cho_solve, solve_triangular


@formula("logdet(S) + tr(inv(S)*C)", "S: matrix(n, n) spd; C: matrix(n, n) symmetric", "S")
def gaussian(S, C):
    S_inv = np.linalg.inv(S)
    P = S_inv @ C
    value = np.linalg.slogdet(S)[1] + np.trace(P)
    gradient_S = S_inv - P @ S_inv
    return value, gradient_S


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
    gradient_K = cho_solve(K_chol, np.eye(len(y))) - np.outer(a, a)
    return value, gradient_K


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
    gradient_s = np.sum(G * E)
    gradient_l = s / l**3 * np.sum(G * E * D)
    gradient_t = np.trace(G)
    return value, gradient_s, gradient_l, gradient_t


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
    gradient_mu = -np.sum(A, axis=0)
    gradient_S = (len(X) * S_inv - A.T @ A) / 2
    return value, gradient_mu, gradient_S


@formula("h'*inv(J)*h/2 - logdet(J)/2", "J: matrix(n, n) spd; h: vector(n)", "h J")
def natural_parameters(J, h):
    J_chol = cho_factor(J)
    a = cho_solve(J_chol, h)
    J_inv = cho_solve(J_chol, np.eye(len(h)))
    value = h @ a / 2 - np.sum(np.log(np.diag(J_chol[0])))
    gradient_J = -(np.outer(a, a) + J_inv) / 2
    return value, a, gradient_J


@formula(
    "tr(inv(S)*C) - n + logdet(S) - logdet(C)",
    "S: matrix(n, n) spd; C: matrix(n, n) spd",
    "S C",
)
def divergence_of_gaussians(S, C):
    S_inv = np.linalg.inv(S)
    P = S_inv @ C
    value = np.trace(P) - len(S) - np.linalg.slogdet(P)[1]
    gradient_S = S_inv - P @ S_inv
    gradient_C = S_inv - np.linalg.inv(C)
    return value, gradient_S, gradient_C


@formula("tr(S*Q) - logdet(Q)", "S: matrix(n, n) symmetric; Q: matrix(n, n) spd", "Q")
def graphical_lasso(S, Q):
    value = np.sum(S * Q) - np.linalg.slogdet(Q)[1]
    gradient_Q = S - np.linalg.inv(Q)
    return value, gradient_Q


@second("hvp")
def graphical_lasso_hvp(S, Q, v):
    Q_inv = np.linalg.inv(Q)
    return Q_inv @ v @ Q_inv


@formula("sqrt((x - mu)'*inv(S)*(x - mu))", "x: vector(n); mu: vector(n); S: matrix(n, n) spd", "x mu")
def mahalanobis(x, mu, S):
    d = x - mu
    a = np.linalg.solve(S, d)
    value = np.sqrt(d @ a)
    gradient_x = a / value
    gradient_mu = -a / value
    return value, gradient_x, gradient_mu


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
    value = np.sum(np.logaddexp(0, z))
    gradient_M = D.T @ (p[:, None] * D)
    return value, gradient_M


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
    gradient_a = np.sum(K_inv * G) - Xu @ Xu
    gradient_b = np.trace(K_inv) - u @ u
    return value, gradient_a, gradient_b


@formula("log(det(X'*X))", "X: matrix(m, n)", "X", X="scaled")
def gram_determinant(X):
    G = X.T @ X
    value = np.linalg.slogdet(G)[1]
    gradient_X = 2 * X @ np.linalg.inv(G)
    return value, gradient_X


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
    value = np.linalg.slogdet(S)[1] + np.trace(P)
    gradient_L = 2 * G @ L
    gradient_p = np.diag(G)
    return value, gradient_L, gradient_p


@formula("-logdet(X'*diag(q)*X)", "X: matrix(m, n); q: vector(m) positive", "q")
def d_optimal(X, q):
    M = X.T @ (q[:, None] * X)
    value = -np.linalg.slogdet(M)[1]
    gradient_q = -np.sum(X * np.linalg.solve(M, X.T).T, axis=1)
    return value, gradient_q


@second("hessian")
def d_optimal_hessian(X, q):
    M = X.T @ (q[:, None] * X)
    H = X @ np.linalg.solve(M, X.T)
    value = -np.linalg.slogdet(M)[1]
    gradient_q = -np.diag(H)
    hessian_q = H**2
    return value, gradient_q, hessian_q


@second("hvp")
def d_optimal_hvp(X, q, v):
    M_inv = np.linalg.inv(X.T @ (q[:, None] * X))
    A = X @ M_inv @ (X.T @ (v[:, None] * X)) @ M_inv
    return np.sum(A * X, axis=1)


@formula("tr(inv(X'*diag(q)*X))", "X: matrix(m, n); q: vector(m) positive", "q")
def a_optimal(X, q):
    M_inv = np.linalg.inv(X.T @ (q[:, None] * X))
    value = np.trace(M_inv)
    gradient_q = -np.sum((X @ M_inv) ** 2, axis=1)
    return value, gradient_q


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
    gradient_a = Cb / s - value * Aa / aAa
    gradient_b = C.T @ a / s - value * Bb / bBb
    return value, gradient_a, gradient_b


@formula("w'*mu/sqrt(w'*S*w)", "w: vector(n); mu: vector(n); S: matrix(n, n) spd", "w")
def sharpe_ratio(w, mu, S):
    Sw = S @ w
    wSw = w @ Sw
    value = w @ mu / np.sqrt(wSw)
    gradient_w = mu / np.sqrt(wSw) - value * Sw / wSw
    return value, gradient_w


@formula("w'*mu - c/2*w'*S*w", "w: vector(n); mu: vector(n); c: scalar; S: matrix(n, n) spd", "w")
def portfolio(w, mu, c, S):
    Sw = S @ w
    value = w @ mu - c / 2 * w @ Sw
    gradient_w = mu - c * Sw
    return value, gradient_w


@second("hessian")
def portfolio_hessian(w, mu, c, S):
    Sw = S @ w
    value = w @ mu - c / 2 * w @ Sw
    gradient_w = mu - c * Sw
    hessian_w = -c * S
    return value, gradient_w, hessian_w


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
    value = np.log1p(s)
    gradient_mu = -2 / nu * a / (1 + s)
    return value, gradient_mu


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
    gradient_r = np.trace(np.linalg.solve(A, W)) - e @ Wy
    return value, gradient_r


@formula("norm2(L\\x)^2/2 + sum(log(diag(L)))", "L: matrix(n, n) lower; x: vector(n)", "L x", L="triangular")
def gaussian_by_factor(L, x):
    z = solve_triangular(L, x, lower=True)
    a = solve_triangular(L.T, z)
    value = z @ z / 2 + np.sum(np.log(np.diag(L)))
    gradient_L = np.diag(1 / np.diag(L)) - np.tril(np.outer(a, z))
    return value, gradient_L, a


@formula(
    "x + P*H'*inv(H*P*H' + R)*(z - H*x)",
    "P: matrix(n, n) spd; R: matrix(k, k) spd; H: matrix(k, n); x: vector(n); z: vector(k)",
    "x z",
    gives="jacobian",
)
def kalman_step(P, R, H, x, z):
    PH = P @ H.T
    K = np.linalg.solve(H @ PH + R, PH.T).T
    value = x + K @ (z - H @ x)
    jacobian_x = np.eye(len(x)) - K @ H
    return value, jacobian_x, K


@formula("y'*inv(K + c*eye(n))*y", "K: matrix(n, n) spd; y: vector(n); c: scalar positive", "c")
def kernel_ridge(K, y, c):
    A_chol = cho_factor(K + c * np.eye(len(y)))
    a = cho_solve(A_chol, y)
    value = y @ a
    gradient_c = -a @ a
    return value, gradient_c


@formula(
    "(nu - n - 1)/2*logdet(S) - tr(inv(V)*S)/2",
    "S: matrix(n, n) spd; V: matrix(n, n) spd; nu: scalar",
    "S V",
)
def wishart(S, V, nu):
    V_inv = np.linalg.inv(V)
    c = (nu - len(S) - 1) / 2
    value = c * np.linalg.slogdet(S)[1] - np.sum(V_inv * S) / 2
    gradient_S = c * np.linalg.inv(S) - V_inv / 2
    gradient_V = V_inv @ S @ V_inv / 2
    return value, gradient_S, gradient_V
