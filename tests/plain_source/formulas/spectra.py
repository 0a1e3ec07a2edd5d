"""Linear algebra: systems, determinants, products, singular values, eigenvalues, matrix functions and equations."""

import numpy as np
from plain_source.formulas.table import formula, second
from scipy.linalg import expm, expm_frechet, logm, solve_continuous_lyapunov, solve_sylvester, sqrtm


@formula("x'*A*x", "x: vector(n); A: matrix(n, n)", "x A")
def quadratic(x, A):
    Ax = A @ x
    value = x @ Ax
    gradient_x = Ax + A.T @ x
    gradient_A = np.outer(x, x)
    return value, gradient_x, gradient_A


@formula("(x'*A*x)^2", "x: vector(n); A: matrix(n, n) symmetric", "x")
def quartic(x, A):
    Ax = A @ x
    s = x @ Ax
    value = s**2
    gradient_x = 4 * s * Ax
    return value, gradient_x


@second("hessian")
def quartic_hessian(x, A):
    Ax = A @ x
    s = x @ Ax
    value = s**2
    gradient_x = 4 * s * Ax
    hessian_x = 4 * s * A + 8 * np.outer(Ax, Ax)
    return value, gradient_x, hessian_x


@second("hvp")
def quartic_hvp(x, A, v):
    Ax = A @ x
    return 4 * (x @ Ax) * (A @ v) + 8 * (Ax @ v) * Ax


@formula("(x'*A*x)/(x'*x)", "x: vector(n); A: matrix(n, n) symmetric", "x")
def rayleigh(x, A):
    Ax = A @ x
    xx = x @ x
    value = x @ Ax / xx
    gradient_x = 2 / xx * (Ax - value * x)
    return value, gradient_x


@second("hessian")
def rayleigh_hessian(x, A):
    Ax = A @ x
    xx = x @ x
    value = x @ Ax / xx
    g = 2 / xx * (Ax - value * x)
    gx = np.outer(g, x)
    hessian_x = 2 / xx * (A - value * np.eye(len(x)) - gx - gx.T)
    return value, g, hessian_x


@second("hvp")
def rayleigh_hvp(x, A, v):
    Ax = A @ x
    xx = x @ x
    value = x @ Ax / xx
    g = 2 / xx * (Ax - value * x)
    return 2 / xx * (A @ v - value * v - (x @ v) * g - (g @ v) * x)


@formula("norm2(A*x - b)", "A: matrix(m, n); x: vector(n); b: vector(m)", "x")
def residual(A, x, b):
    r = A @ x - b
    value = np.linalg.norm(r)
    gradient_x = A.T @ r / value
    return value, gradient_x


@second("hessian")
def residual_hessian(A, x, b):
    r = A @ x - b
    value = np.linalg.norm(r)
    g = A.T @ r / value
    hessian_x = (A.T @ A - np.outer(g, g)) / value
    return value, g, hessian_x


@second("hvp")
def residual_hvp(A, x, b, v):
    r = A @ x - b
    s = np.linalg.norm(r)
    Av = A @ v
    return A.T @ (Av - (r @ Av) / s**2 * r) / s


@formula("norm2(A*B*C*x)^2", "x: vector(n); A: matrix(n, n); B: matrix(n, n); C: matrix(n, n)", "x")
def chain(x, A, B, C):
    y = A @ (B @ (C @ x))
    value = y @ y
    gradient_x = 2 * C.T @ (B.T @ (A.T @ y))
    return value, gradient_x


@second("hessian")
def chain_hessian(x, A, B, C):
    M = A @ (B @ C)
    y = M @ x
    value = y @ y
    gradient_x = 2 * M.T @ y
    hessian_x = 2 * M.T @ M
    return value, gradient_x, hessian_x


@second("hvp")
def chain_hvp(x, A, B, C, v):
    return 2 * C.T @ (B.T @ (A.T @ (A @ (B @ (C @ v)))))


@formula("c'*(A\\b)", "A: matrix(n, n); b: vector(n); c: vector(n)", "A b", A="dominant")
def linear_system(A, b, c):
    x = np.linalg.solve(A, b)
    g = np.linalg.solve(A.T, c)
    value = c @ x
    gradient_A = -np.outer(g, x)
    return value, gradient_A, g


@formula("a'*inv(X)*b", "a: vector(n); X: matrix(n, n); b: vector(n)", "X a b", X="dominant")
def entry_of_the_inverse(a, X, b):
    u = np.linalg.solve(X, b)
    g = np.linalg.solve(X.T, a)
    value = a @ u
    gradient_X = -np.outer(g, u)
    return value, gradient_X, u, g


@formula("inv(X)", "X: matrix(n, n)", "X", gives="vjp", X="dominant")
def inverse_pullback(X, G):
    X_inv = np.linalg.inv(X)
    vjp_X = -X_inv.T @ G @ X_inv.T
    return X_inv, vjp_X


@formula("det(X)", "X: matrix(n, n)", "X", X="dominant", large={"n": 60})
def volume(X):
    value = np.linalg.det(X)
    gradient_X = value * np.linalg.inv(X).T
    return value, gradient_X


@formula("log(det(eye(n) + A*X*A'))", "A: matrix(n, m); X: matrix(m, m) spd", "X A")
def capacity(A, X):
    AX = A @ X
    M = np.eye(len(A)) + AX @ A.T
    B = np.linalg.solve(M, AX)
    value = np.linalg.slogdet(M)[1]
    gradient_X = A.T @ np.linalg.solve(M, A)
    gradient_A = 2 * B
    return value, gradient_X, gradient_A


@formula("tr(A*X*B*X'*C)", "A: matrix(k, m); X: matrix(m, n); B: matrix(n, n); C: matrix(m, k)", "X")
def trace_of_a_product(A, X, B, C):
    M = C @ A
    MXB = M @ X @ B
    value = np.sum(MXB * X)
    gradient_X = MXB + M.T @ X @ B.T
    return value, gradient_X


@formula("tr(X^3)", "X: matrix(n, n)", "X")
def cube(X):
    X2 = X @ X
    value = np.sum(X2 * X.T)
    gradient_X = 3 * X2.T
    return value, gradient_X


@second("hvp")
def cube_hvp(X, v):
    return 3 * (X @ v + v @ X).T


@formula("A*X*B", "A: matrix(n, n); X: matrix(n, n); B: matrix(n, n)", "X", gives="jacobian", large={"n": 20})
def jacobian_of_a_product(A, X, B):
    value = A @ X @ B
    jacobian_X = np.einsum("ik,lj->ijkl", A, B)
    return value, jacobian_X


@formula("vec(X)'*kron(A, B)*vec(X)", "X: matrix(n, n); A: matrix(n, n); B: matrix(n, n)", "X")
def kronecker_form(X, A, B):
    Y = B @ X @ A.T
    value = np.sum(X * Y)
    gradient_X = Y + B.T @ X @ A
    return value, gradient_X


@formula(
    "norm2(kron(A, B)*c - d)^2",
    "A: matrix(m, n); B: matrix(p, q); c: vector(n*q); d: vector(m*p)",
    "c",
    large={"m": 60, "n": 40},
)
def kronecker_system(A, B, c, d):
    C = c.reshape(A.shape[1], -1)
    R = A @ C @ B.T - d.reshape(len(A), -1)
    value = np.sum(R**2)
    gradient_c = 2 * (A.T @ R @ B).ravel()
    return value, gradient_c


@formula("tr(expm(X))", "X: matrix(n, n)", "X", X="scaled")
def exponential(X):
    E = expm(X)
    value = np.trace(E)
    gradient_X = E.T
    return value, gradient_X


@formula("b'*expm(A)*c", "A: matrix(n, n); b: vector(n); c: vector(n)", "A c", A="scaled")
def flow(A, b, c):
    E, L = expm_frechet(A.T, np.outer(b, c))
    g = E @ b
    value = g @ c
    return value, L, g


@formula("tr(S*logm(S))", "S: matrix(n, n) spd", "S")
def von_neumann_entropy(S):
    L = logm(S)
    value = np.sum(S * L)
    gradient_S = L + np.eye(len(S))
    return value, gradient_S


@formula("tr(sqrtm(S))", "S: matrix(n, n) spd", "S")
def trace_of_the_root(S):
    R = sqrtm(S)
    value = np.trace(R)
    gradient_S = np.linalg.inv(R) / 2
    return value, gradient_S


@formula("norm_nuc(X)", "X: matrix(m, n)", "X")
def nuclear_norm(X):
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    value = np.sum(s)
    gradient_X = U @ Vt
    return value, gradient_X


@formula("norm_spec(X)", "X: matrix(m, n)", "X")
def spectral_norm(X):
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    value = s[0]
    gradient_X = np.outer(U[:, 0], Vt[0])
    return value, gradient_X


@formula("sum(svdvals(X).^4)", "X: matrix(m, n)", "X")
def schatten_norm(X):
    G = X.T @ X
    value = np.sum(G**2)
    gradient_X = 4 * X @ G
    return value, gradient_X


@formula("sum(log(1 + svdvals(X).^2/c))", "X: matrix(m, n); c: scalar positive", "X")
def log_penalty(X, c):
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    value = np.sum(np.log1p(s**2 / c))
    gradient_X = (U * (2 * s / (c + s**2))) @ Vt
    return value, gradient_X


@formula("lambda_max(S)", "S: matrix(n, n) symmetric", "S")
def largest_eigenvalue(S):
    w, V = np.linalg.eigh(S)
    value = w[-1]
    gradient_S = np.outer(V[:, -1], V[:, -1])
    return value, gradient_S


@formula("sum(exp(eigvalsh(S)))", "S: matrix(n, n) symmetric", "S")
def spectral_function(S):
    w, V = np.linalg.eigh(S)
    e = np.exp(w)
    value = np.sum(e)
    gradient_S = (V * e) @ V.T
    return value, gradient_S


@formula("norm2(pinv(A)*b)^2", "A: matrix(m, n); b: vector(m)", "b")
def smallest_solution(A, b):
    P = np.linalg.pinv(A)
    x = P @ b
    value = x @ x
    gradient_b = 2 * P.T @ x
    return value, gradient_b


@formula("tr(W*lyapunov(A, Q))", "A: matrix(n, n); Q: matrix(n, n); W: matrix(n, n)", "A Q", A="dominant")
def lyapunov_equation(A, Q, W):
    X = solve_continuous_lyapunov(A, Q)
    L = solve_continuous_lyapunov(A.T, W.T)
    value = np.sum(W * X.T)
    gradient_A = -L @ X.T - L.T @ X
    return value, gradient_A, L


@formula(
    "norm2(sylvester(A, B, C))^2",
    "A: matrix(m, m); B: matrix(n, n); C: matrix(m, n)",
    "A B C",
    A="dominant",
    B="dominant",
)
def sylvester_equation(A, B, C):
    X = solve_sylvester(A, B, C)
    L = solve_sylvester(A.T, B.T, 2 * X)
    value = np.sum(X**2)
    gradient_A = -L @ X.T
    gradient_B = -X.T @ L
    return value, gradient_A, gradient_B, L


@formula(
    "mu/2*(tr(F'*F) - 3) - mu*log(det(F)) + lam/2*log(det(F))^2",
    "F: matrix(3, 3); mu: scalar; lam: scalar",
    "F",
    F="dominant",
)
def neo_hookean(F, mu, lam):
    J = np.log(np.linalg.det(F))
    value = mu / 2 * (np.sum(F**2) - 3) - mu * J + lam / 2 * J**2
    gradient_F = mu * F + (lam * J - mu) * np.linalg.inv(F).T
    return value, gradient_F


@formula("cross(a, b)'*c/sqrt(b'*b)", "a: vector(3); b: vector(3); c: vector(3)", "a b")
def moment(a, b, c):
    nb = np.linalg.norm(b)
    value = np.cross(a, b) @ c / nb
    gradient_a = np.cross(b, c) / nb
    gradient_b = np.cross(c, a) / nb - value * b / nb**2
    return value, gradient_a, gradient_b
