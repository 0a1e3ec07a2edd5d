"""Pairs of points, and entries of vectors: distances, kernels, gathers, cumulative sums, masks."""

import numpy as np
from plain_source.formulas.table import formula, second
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist
from scipy.special import erf


@formula("norm2({i,j: norm2({k: X[i,k] - X[j,k]})} - D)^2/2", "X: matrix(m, n); D: matrix(m, m) symmetric", "X")
def scaling(X, D):
    R = cdist(X, X)
    E = R - D
    B = 2 * E / np.where(R > 0, R, np.inf)
    value = np.sum(E**2) / 2
    gradient_X = np.sum(B, axis=1)[:, None] * X - B @ X
    return value, gradient_X


@formula(
    "-sum(xlogy(P, W/sum(W))) where W = (1 - eye(m))./(1 + sum(Y.^2, axis=1) .+ sum(Y.^2, axis=1)' - 2*Y*Y')",
    "Y: matrix(m, n); P: matrix(m, m) nonnegative",
    "Y",
    P="affinities",
)
def neighbour_embedding(Y, P):
    W = 1 / (1 + cdist(Y, Y) ** 2)
    np.fill_diagonal(W, 0)
    Q = W / np.sum(W)
    A = (P + P.T - 2 * np.sum(P) * Q) * W
    value = -np.sum(P * np.log(Q + np.eye(len(Y))))
    gradient_Y = 2 * (np.sum(A, axis=1)[:, None] * Y - A @ Y)
    return value, gradient_Y


@formula(
    "sum(M.*E./sum(E, axis=1)) where Z = X*A', "
    "E = exp(-(sum(Z.^2, axis=1) .+ sum(Z.^2, axis=1)' - 2*Z*Z')).*(1 - eye(m))",
    "A: matrix(k, n); X: matrix(m, n); M: matrix(m, m)",
    "A",
    M="mask",
    A="scaled",
    X="scaled",
)
def neighbourhood_components(A, X, M):
    Z = X @ A.T
    E = np.exp(-(cdist(Z, Z) ** 2))
    np.fill_diagonal(E, 0)
    P = E / np.sum(E, axis=1, keepdims=True)
    MP = M * P
    G = P * np.sum(MP, axis=1, keepdims=True) - MP
    G = G + G.T
    value = np.sum(MP)
    gradient_A = 2 * (np.sum(G, axis=1)[:, None] * Z - G @ Z).T @ X
    return value, gradient_A


@formula("sum{i,j: a[i]*a[j]*exp(-sum{k: (X[i,k] - X[j,k])^2}/2)}", "X: matrix(m, n); a: vector(m)", "X a")
def kernel_energy(X, a):
    K = np.exp(-(cdist(X, X) ** 2) / 2)
    Ka = K @ a
    G = 2 * a[:, None] * K * a
    value = a @ Ka
    gradient_X = G @ X - np.sum(G, axis=1)[:, None] * X
    gradient_a = 2 * Ka
    return value, gradient_X, gradient_a


@formula(
    "y'*inv(K)*y/2 + logdet(K)/2 where D = sum(X.^2, axis=1) .+ sum(X.^2, axis=1)' - 2*X*X', "
    "K = s*exp(-D/(2*l^2)) + t*eye(m)",
    "X: matrix(m, n); y: vector(m); s: scalar positive; l: scalar positive; t: scalar positive",
    "l t",
)
def process_of_points(X, y, s, l, t):  # noqa: E741
    D = cdist(X, X) ** 2
    E = s * np.exp(-D / (2 * l**2))
    K_chol = cho_factor(E + t * np.eye(len(y)))
    a = cho_solve(K_chol, y)
    G = (cho_solve(K_chol, np.eye(len(y))) - np.outer(a, a)) / 2
    value = y @ a / 2 + np.sum(np.log(np.diag(K_chol[0])))
    gradient_l = np.sum(G * E * D) / l**3
    gradient_t = np.trace(G)
    return value, gradient_l, gradient_t


@formula(
    "2*sum((1 - eye(n)).*(r.^-6 - r.^-3)) where r = {i,j: sum{k: (R[i,k] - R[j,k])^2}} + eye(n)",
    "R: matrix(n, 3)",
    "R",
    R="grid",
)
def lennard_jones(R):
    D = cdist(R, R) ** 2 + np.eye(len(R))
    G = 24 * (D**-4 - 2 * D**-7)
    np.fill_diagonal(G, 0)
    value = 2 * np.sum(D**-6 - D**-3)
    gradient_R = np.sum(G, axis=1)[:, None] * R - G @ R
    return value, gradient_R


@formula("x'*(diag(sum(W, axis=1)) - W)*x", "x: vector(n); W: matrix(n, n) symmetric", "x")
def graph_laplacian(x, W):
    Lx = np.sum(W, axis=1) * x - W @ x
    value = x @ Lx
    gradient_x = 2 * Lx
    return value, gradient_x


@second("hessian")
def graph_laplacian_hessian(x, W):
    L = np.diag(np.sum(W, axis=1)) - W
    Lx = L @ x
    value = x @ Lx
    gradient_x = 2 * Lx
    hessian_x = 2 * L
    return value, gradient_x, hessian_x


@second("hvp")
def graph_laplacian_hvp(x, W, v):
    return 2 * (np.sum(W, axis=1) * v - W @ v)


@formula(
    "norm2(x - y)^2/2 + mu*sum(sqrt((x[1:] - x[:-1]).^2 + c^2))",
    "x: vector(m); y: vector(m); mu: scalar; c: scalar",
    "x",
    large={"m": 20000},
)
def total_variation(x, y, mu, c):
    d = np.diff(x)
    s = np.sqrt(d**2 + c**2)
    g = mu * d / s
    r = x - y
    value = r @ r / 2 + mu * np.sum(s)
    gradient_x = r - np.diff(g, prepend=0, append=0)
    return value, gradient_x


@second("hessian")
def total_variation_hessian(x, y, mu, c):
    d = np.diff(x)
    s = np.sqrt(d**2 + c**2)
    g = mu * d / s
    r = x - y
    D = np.diff(np.eye(len(x)), axis=0)
    hessian = np.eye(len(x)) + D.T @ ((mu * c**2 / s**3)[:, None] * D)
    value = r @ r / 2 + mu * np.sum(s)
    gradient_x = r - np.diff(g, prepend=0, append=0)
    return value, gradient_x, hessian


@second("hvp")
def total_variation_hvp(x, y, mu, c, v):
    h = mu * c**2 * np.diff(v) / (np.diff(x) ** 2 + c**2) ** 1.5
    return v - np.diff(h, prepend=0, append=0)


@formula("norm2(y[2:] - a[0]*y[1:-1] - a[1]*y[:-2])^2", "y: vector(n + 2); a: vector(2)", "a", large={"n": 2000})
def autoregression(y, a):
    y0, y1, y2 = y[2:], y[1:-1], y[:-2]
    r = y0 - a[0] * y1 - a[1] * y2
    value = r @ r
    gradient_a = -2 * np.array([r @ y1, r @ y2])
    return value, gradient_a


@formula("norm2(conv(h, x) - y)^2", "h: vector(p); x: vector(n); y: vector(n + p - 1)", "h x")
def convolution(h, x, y):
    r = np.convolve(h, x) - y
    value = r @ r
    gradient_h = 2 * np.correlate(r, x, "valid")
    gradient_x = 2 * np.correlate(r, h, "valid")
    return value, gradient_h, gradient_x


@formula("norm2(cumsum(x) - y)^2", "x: vector(m); y: vector(m)", "x", large={"m": 20000})
def random_walk(x, y):
    r = np.cumsum(x) - y
    value = r @ r
    gradient_x = 2 * np.cumsum(r[::-1])[::-1]
    return value, gradient_x


@second("hessian")
def random_walk_hessian(x, y):
    r = np.cumsum(x) - y
    C = np.tri(len(x))
    value = r @ r
    gradient_x = 2 * np.cumsum(r[::-1])[::-1]
    hessian_x = 2 * C.T @ C
    return value, gradient_x, hessian_x


@second("hvp")
def random_walk_hvp(x, y, v):
    return 2 * np.cumsum(np.cumsum(v)[::-1])[::-1]


@formula("sum(where(x > 0, x, a*(exp(x) - 1)).*c)", "x: vector(m); c: vector(m); a: scalar", "x a", large={"m": 2000})
def exponential_unit(x, c, a):
    e = np.exp(np.minimum(x, 0))
    value = np.sum(np.where(x > 0, x, a * (e - 1)) * c)
    gradient_x = c * np.where(x > 0, 1, a * e)
    gradient_a = c @ (e - 1)
    return value, gradient_x, gradient_a


@formula("c'*(x.*(1 + erf(x/sqrt(2)))/2)", "x: vector(m); c: vector(m)", "x", large={"m": 2000})
def gaussian_unit(x, c):
    p = (1 + erf(x / np.sqrt(2))) / 2
    value = c @ (x * p)
    gradient_x = c * (p + x * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi))
    return value, gradient_x


@formula("sum(log(cosh(x))) + norm2(x)^2/2", "x: vector(m)", "x", large={"m": 2000})
def soft_absolute(x):
    value = np.sum(np.log(np.cosh(x))) + x @ x / 2
    gradient_x = np.tanh(x) + x
    return value, gradient_x


@second("hessian")
def soft_absolute_hessian(x):
    t = np.tanh(x)
    value = np.sum(np.log(np.cosh(x))) + x @ x / 2
    gradient_x = t + x
    hessian_x = np.diag(2 - t**2)
    return value, gradient_x, hessian_x


@second("hvp")
def soft_absolute_hvp(x, v):
    return (2 - np.tanh(x) ** 2) * v


@formula("sum(exp(-x.^2).*tanh(x)./(1 + x.^2))", "x: vector(m)", "x", large={"m": 2000})
def elementwise(x):
    x2 = x**2
    t = np.tanh(x)
    q = np.exp(-x2) / (1 + x2)
    value = np.sum(q * t)
    gradient_x = q * (1 - t**2 - 2 * x * t * (1 + 1 / (1 + x2)))
    return value, gradient_x


@formula("sum(x.^4) + x'*A*x", "x: vector(n); A: matrix(n, n)", "x")
def separable_quartic(x, A):
    value = np.sum(x**4) + x @ A @ x
    gradient_x = 4 * x**3 + (A + A.T) @ x
    return value, gradient_x


@second("hessian")
def separable_quartic_hessian(x, A):
    S = A + A.T
    value = np.sum(x**4) + x @ A @ x
    gradient_x = 4 * x**3 + S @ x
    hessian_x = np.diag(12 * x**2) + S
    return value, gradient_x, hessian_x


@second("hvp")
def separable_quartic_hvp(x, A, v):
    return 12 * x**2 * v + (A + A.T) @ v


@formula("sum(100*(x[1:] - x[:-1].^2).^2 + (1 - x[:-1]).^2)", "x: vector(n)", "x", large={"n": 20000})
def rosenbrock(x):
    a, b = x[:-1], x[1:] - x[:-1] ** 2
    gradient = np.zeros_like(x)
    gradient[1:] = 200 * b
    gradient[:-1] -= 400 * a * b + 2 * (1 - a)
    value = np.sum(100 * b**2 + (1 - a) ** 2)
    return value, gradient


@second("hessian")
def rosenbrock_hessian(x):
    a, b = x[:-1], x[1:] - x[:-1] ** 2
    gradient = np.zeros_like(x)
    gradient[1:] = 200 * b
    gradient[:-1] -= 400 * a * b + 2 * (1 - a)
    diagonal = np.full(len(x), 200.0)
    diagonal[0] = 0
    diagonal[:-1] += 2 - 400 * (b - 2 * a**2)
    hessian = np.diag(diagonal) - np.diag(400 * a, 1) - np.diag(400 * a, -1)
    value = np.sum(100 * b**2 + (1 - a) ** 2)
    return value, gradient, hessian


@second("hvp")
def rosenbrock_hvp(x, v):
    a = x[:-1]
    u = 200 * (v[1:] - 2 * a * v[:-1])
    product = np.zeros_like(x)
    product[1:] = u
    product[:-1] += (2 - 400 * (x[1:] - a**2)) * v[:-1] - 2 * a * u
    return product


@formula(
    "sum{i: sum{j: P[i,j]*log(P[i,j]/(a[i]*b[j]))}}",
    "P: matrix(m, n) positive; a: vector(m) positive; b: vector(n) positive",
    "P a b",
)
def mutual_information(P, a, b):
    L = np.log(P / np.outer(a, b))
    value = np.sum(P * L)
    gradient_P = L + 1
    gradient_a = -np.sum(P, axis=1) / a
    gradient_b = -np.sum(P, axis=0) / b
    return value, gradient_P, gradient_a, gradient_b


@formula("sum(x.*log(x))", "x: vector(m) positive", "x", large={"m": 2000})
def entropy(x):
    u = np.log(x)
    value = x @ u
    gradient_x = u + 1
    return value, gradient_x


@second("hessian")
def entropy_hessian(x):
    u = np.log(x)
    value = x @ u
    gradient_x = u + 1
    hessian_x = np.diag(1 / x)
    return value, gradient_x, hessian_x


@second("hvp")
def entropy_hvp(x, v):
    return v / x


@formula("max(A*x) + c*norm2(x)^2", "A: matrix(m, n); x: vector(n); c: scalar", "x")
def largest_entry(A, x, c):
    z = A @ x
    i = np.argmax(z)
    value = z[i] + c * x @ x
    gradient_x = A[i] + 2 * c * x
    return value, gradient_x
