"""Linear algebra: systems, determinants, products, singular values, eigenvalues, matrix functions and equations."""

import numpy as np
from plain.formulas.table import formula, second
from scipy.linalg import expm, expm_frechet, logm, solve_continuous_lyapunov, solve_sylvester, sqrtm


@formula("x'*A*x", "x: vector(n); A: matrix(n, n)", "x A")
def quadratic(x, A):
    Ax = A @ x
    return x @ Ax, Ax + A.T @ x, np.outer(x, x)


@formula("(x'*A*x)^2", "x: vector(n); A: matrix(n, n) symmetric", "x")
def quartic(x, A):
    Ax = A @ x
    s = x @ Ax
    return s**2, 4 * s * Ax


@second("hessian")
def quartic_hessian(x, A):
    Ax = A @ x
    s = x @ Ax
    return s**2, 4 * s * Ax, 4 * s * A + 8 * np.outer(Ax, Ax)


@second("hvp")
def quartic_hvp(x, A, v):
    Ax = A @ x
    return 4 * (x @ Ax) * (A @ v) + 8 * (Ax @ v) * Ax


@formula("(x'*A*x)/(x'*x)", "x: vector(n); A: matrix(n, n) symmetric", "x")
def rayleigh(x, A):
    Ax = A @ x
    xx = x @ x
    value = x @ Ax / xx
    return value, 2 / xx * (Ax - value * x)


@second("hessian")
def rayleigh_hessian(x, A):
    Ax = A @ x
    xx = x @ x
    value = x @ Ax / xx
    g = 2 / xx * (Ax - value * x)
    gx = np.outer(g, x)
    return value, g, 2 / xx * (A - value * np.eye(len(x)) - gx - gx.T)


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
    return value, A.T @ r / value


@second("hessian")
def residual_hessian(A, x, b):
    r = A @ x - b
    value = np.linalg.norm(r)
    g = A.T @ r / value
    return value, g, (A.T @ A - np.outer(g, g)) / value


@second("hvp")
def residual_hvp(A, x, b, v):
    r = A @ x - b
    s = np.linalg.norm(r)
    Av = A @ v
    return A.T @ (Av - (r @ Av) / s**2 * r) / s


@formula("norm2(A*B*C*x)^2", "x: vector(n); A: matrix(n, n); B: matrix(n, n); C: matrix(n, n)", "x")
def chain(x, A, B, C):
    y = A @ (B @ (C @ x))
    return y @ y, 2 * C.T @ (B.T @ (A.T @ y))


@second("hessian")
def chain_hessian(x, A, B, C):
    M = A @ (B @ C)
    y = M @ x
    return y @ y, 2 * M.T @ y, 2 * M.T @ M


@second("hvp")
def chain_hvp(x, A, B, C, v):
    return 2 * C.T @ (B.T @ (A.T @ (A @ (B @ (C @ v)))))


@formula("c'*(A\\b)", "A: matrix(n, n); b: vector(n); c: vector(n)", "A b", A="dominant")
def linear_system(A, b, c):
    x = np.linalg.solve(A, b)
    g = np.linalg.solve(A.T, c)
    return c @ x, -np.outer(g, x), g


@formula("a'*inv(X)*b", "a: vector(n); X: matrix(n, n); b: vector(n)", "X a b", X="dominant")
def entry_of_the_inverse(a, X, b):
    u = np.linalg.solve(X, b)
    g = np.linalg.solve(X.T, a)
    return a @ u, -np.outer(g, u), u, g


@formula("inv(X)", "X: matrix(n, n)", "X", gives="vjp", X="dominant")
def inverse_pullback(X, G):
    X_inv = np.linalg.inv(X)
    return X_inv, -X_inv.T @ G @ X_inv.T


@formula("det(X)", "X: matrix(n, n)", "X", X="dominant", large={"n": 60})
def determinant(X):
    value = np.linalg.det(X)
    return value, value * np.linalg.inv(X).T


@formula("log(det(eye(n) + A*X*A'))", "A: matrix(n, m); X: matrix(m, m) spd", "X A")
def capacity(A, X):
    AX = A @ X
    M = np.eye(len(A)) + AX @ A.T
    B = np.linalg.solve(M, AX)
    return np.linalg.slogdet(M)[1], A.T @ np.linalg.solve(M, A), 2 * B


@formula("tr(A*X*B*X'*C)", "A: matrix(k, m); X: matrix(m, n); B: matrix(n, n); C: matrix(m, k)", "X")
def trace_of_a_product(A, X, B, C):
    M = C @ A
    MXB = M @ X @ B
    return np.sum(MXB * X), MXB + M.T @ X @ B.T


@formula("tr(X^3)", "X: matrix(n, n)", "X")
def cube(X):
    X2 = X @ X
    return np.sum(X2 * X.T), 3 * X2.T


@second("hvp")
def cube_hvp(X, v):
    return 3 * (X @ v + v @ X).T


@formula("A*X*B", "A: matrix(n, n); X: matrix(n, n); B: matrix(n, n)", "X", gives="jacobian", large={"n": 20})
def jacobian_of_a_product(A, X, B):
    return A @ X @ B, np.einsum("ik,lj->ijkl", A, B)


@formula("vec(X)'*kron(A, B)*vec(X)", "X: matrix(n, n); A: matrix(n, n); B: matrix(n, n)", "X")
def kronecker(X, A, B):
    Y = B @ X @ A.T
    return np.sum(X * Y), Y + B.T @ X @ A


@formula(
    "norm2(kron(A, B)*c - d)^2",
    "A: matrix(m, n); B: matrix(p, q); c: vector(n*q); d: vector(m*p)",
    "c",
    large={"m": 60, "n": 40},
)
def kronecker_system(A, B, c, d):
    C = c.reshape(A.shape[1], -1)
    R = A @ C @ B.T - d.reshape(len(A), -1)
    return np.sum(R**2), 2 * (A.T @ R @ B).ravel()


@formula("tr(expm(X))", "X: matrix(n, n)", "X", X="scaled")
def exponential(X):
    E = expm(X)
    return np.trace(E), E.T


@formula("b'*expm(A)*c", "A: matrix(n, n); b: vector(n); c: vector(n)", "A c", A="scaled")
def flow(A, b, c):
    E, L = expm_frechet(A.T, np.outer(b, c))
    g = E @ b
    return g @ c, L, g


@formula("tr(S*logm(S))", "S: matrix(n, n) spd", "S")
def von_neumann_entropy(S):
    L = logm(S)
    return np.sum(S * L), L + np.eye(len(S))


@formula("tr(sqrtm(S))", "S: matrix(n, n) spd", "S")
def trace_of_the_root(S):
    R = sqrtm(S)
    return np.trace(R), np.linalg.inv(R) / 2


@formula("norm_nuc(X)", "X: matrix(m, n)", "X")
def nuclear_norm(X):
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    return np.sum(s), U @ Vt


@formula("norm_spec(X)", "X: matrix(m, n)", "X")
def spectral_norm(X):
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    return s[0], np.outer(U[:, 0], Vt[0])


@formula("sum(svdvals(X).^4)", "X: matrix(m, n)", "X")
def schatten_norm(X):
    G = X.T @ X
    return np.sum(G**2), 4 * X @ G


@formula("sum(log(1 + svdvals(X).^2/c))", "X: matrix(m, n); c: scalar positive", "X")
def log_penalty(X, c):
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    return np.sum(np.log1p(s**2 / c)), (U * (2 * s / (c + s**2))) @ Vt


@formula("lambda_max(S)", "S: matrix(n, n) symmetric", "S")
def largest_eigenvalue(S):
    w, V = np.linalg.eigh(S)
    return w[-1], np.outer(V[:, -1], V[:, -1])


@formula("sum(exp(eigvalsh(S)))", "S: matrix(n, n) symmetric", "S")
def spectral_function(S):
    w, V = np.linalg.eigh(S)
    e = np.exp(w)
    return np.sum(e), (V * e) @ V.T


@formula("norm2(pinv(A)*b)^2", "A: matrix(m, n); b: vector(m)", "b")
def smallest_solution(A, b):
    P = np.linalg.pinv(A)
    x = P @ b
    return x @ x, 2 * P.T @ x


@formula("tr(W*lyapunov(A, Q))", "A: matrix(n, n); Q: matrix(n, n); W: matrix(n, n)", "A Q", A="dominant")
def lyapunov(A, Q, W):
    X = solve_continuous_lyapunov(A, Q)
    L = solve_continuous_lyapunov(A.T, W.T)
    return np.sum(W * X.T), -L @ X.T - L.T @ X, L


@formula(
    "norm2(sylvester(A, B, C))^2",
    "A: matrix(m, m); B: matrix(n, n); C: matrix(m, n)",
    "A B C",
    A="dominant",
    B="dominant",
)
def sylvester(A, B, C):
    X = solve_sylvester(A, B, C)
    L = solve_sylvester(A.T, B.T, 2 * X)
    return np.sum(X**2), -L @ X.T, -X.T @ L, L


@formula(
    "mu/2*(tr(F'*F) - 3) - mu*log(det(F)) + lam/2*log(det(F))^2",
    "F: matrix(3, 3); mu: scalar; lam: scalar",
    "F",
    F="dominant",
)
def neo_hookean(F, mu, lam):
    J = np.log(np.linalg.det(F))
    value = mu / 2 * (np.sum(F**2) - 3) - mu * J + lam / 2 * J**2
    return value, mu * F + (lam * J - mu) * np.linalg.inv(F).T


@formula("cross(a, b)'*c/sqrt(b'*b)", "a: vector(3); b: vector(3); c: vector(3)", "a b")
def moment(a, b, c):
    nb = np.linalg.norm(b)
    value = np.cross(a, b) @ c / nb
    return value, np.cross(b, c) / nb, np.cross(c, a) / nb - value * b / nb**2
