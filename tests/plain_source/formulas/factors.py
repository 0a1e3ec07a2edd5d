"""Factorisations, networks and normalised layers: products of matrices with several variables."""

import numpy as np
from plain_source.formulas.table import formula, second
from scipy.special import softmax


@formula("norm2(T - U*V')^2", "T: matrix(m, n); U: matrix(m, k); V: matrix(n, k)", "U V")
def factors(T, U, V):
    R = U @ V.T - T
    value = np.sum(R**2)
    gradient_U = 2 * R @ V
    gradient_V = 2 * R.T @ U
    return value, gradient_U, gradient_V


@formula(
    "norm2(M.*(T - U*V'))^2", "M: matrix(m, n); T: matrix(m, n); U: matrix(m, k); V: matrix(n, k)", "U V", M="mask"
)
def masked_factors(M, T, U, V):
    R = M * (U @ V.T - T)
    G = 2 * M * R
    value = np.sum(R**2)
    gradient_U = G @ V
    gradient_V = G.T @ U
    return value, gradient_U, gradient_V


@formula(
    "sum{t: (r[t] - U[i[t], a]*V[j[t], a])^2} + c*(norm2(U)^2 + norm2(V)^2)",
    "U: matrix(m, k); V: matrix(n, k); r: vector(N); i: index(N); j: index(N); c: scalar",
    "U V",
    i="below m",
    j="below n",
)
def sparse_factors(U, V, r, i, j, c):
    Ui, Vj = U[i], V[j]
    e = np.sum(Ui * Vj, axis=1) - r
    gradient_U, gradient_V = 2 * c * U, 2 * c * V
    np.add.at(gradient_U, i, 2 * e[:, None] * Vj)
    np.add.at(gradient_V, j, 2 * e[:, None] * Ui)
    value = e @ e + c * (np.sum(U**2) + np.sum(V**2))
    return value, gradient_U, gradient_V


@formula("norm2(S - L*L')^2", "S: matrix(n, n) symmetric; L: matrix(n, k)", "L")
def symmetric_factors(S, L):
    R = L @ L.T - S
    value = np.sum(R**2)
    gradient_L = 4 * R @ L
    return value, gradient_L


@second("hvp")
def symmetric_factors_hvp(S, L, v):
    A = v @ L.T
    return 4 * ((A + A.T) @ L + (L @ L.T - S) @ v)


@formula("norm2(X - X*W*W')^2", "X: matrix(m, n); W: matrix(n, k)", "W")
def principal_components(X, W):
    XW = X @ W
    R = XW @ W.T - X
    value = np.sum(R**2)
    gradient_W = 2 * (X.T @ (R @ W) + R.T @ XW)
    return value, gradient_W


@formula("norm2(A*X - B)^2", "A: matrix(m, n); X: matrix(n, k); B: matrix(m, k)", "X")
def procrustes(A, X, B):
    R = A @ X - B
    value = np.sum(R**2)
    gradient_X = 2 * A.T @ R
    return value, gradient_X


@formula(
    "sum((tanh(X*A)*B - Y).^2)", "X: matrix(m, n); A: matrix(n, p); B: matrix(p, k); Y: matrix(m, k)", "A B", X="scaled"
)
def network(X, A, B, Y):
    H = np.tanh(X @ A)
    R = H @ B - Y
    value = np.sum(R**2)
    gradient_A = 2 * X.T @ ((1 - H**2) * (R @ B.T))
    gradient_B = 2 * H.T @ R
    return value, gradient_A, gradient_B


@formula(
    "sum((tanh(tanh(X*A)*B)*C - Y).^2)",
    "X: matrix(m, n); A: matrix(n, p); B: matrix(p, p); C: matrix(p, k); Y: matrix(m, k)",
    "A B C",
    X="scaled",
)
def deep_network(X, A, B, C, Y):
    H1 = np.tanh(X @ A)
    H2 = np.tanh(H1 @ B)
    R = H2 @ C - Y
    G2 = 2 * (1 - H2**2) * (R @ C.T)
    G1 = (1 - H1**2) * (G2 @ B.T)
    value = np.sum(R**2)
    gradient_A = X.T @ G1
    gradient_B = H1.T @ G2
    gradient_C = 2 * H2.T @ R
    return value, gradient_A, gradient_B, gradient_C


@formula(
    "norm2(tanh(X*A .+ a')*B .+ b' - Y)^2",
    "X: matrix(m, n); A: matrix(n, p); a: vector(p); B: matrix(p, k); b: vector(k); Y: matrix(m, k)",
    "A a B b",
    X="scaled",
)
def network_with_biases(X, A, a, B, b, Y):
    H = np.tanh(X @ A + a)
    R = H @ B + b - Y
    G = 2 * (1 - H**2) * (R @ B.T)
    value = np.sum(R**2)
    gradient_A = X.T @ G
    gradient_a = np.sum(G, axis=0)
    gradient_B = 2 * H.T @ R
    gradient_b = 2 * np.sum(R, axis=0)
    return value, gradient_A, gradient_a, gradient_B, gradient_b


@formula("norm2(relu(X*A)*B - Y)^2/m", "X: matrix(m, n); A: matrix(n, p); B: matrix(p, k); Y: matrix(m, k)", "A B")
def rectified_network(X, A, B, Y):
    Z = X @ A
    H = np.maximum(Z, 0)
    R = H @ B - Y
    G = 2 / len(X) * R
    value = np.sum(R**2) / len(X)
    gradient_A = X.T @ (G @ B.T * (Z > 0))
    gradient_B = H.T @ G
    return value, gradient_A, gradient_B


@formula(
    "sum(W*H - X.*log(W*H))", "X: matrix(m, n) positive; W: matrix(m, k) positive; H: matrix(k, n) positive", "W H"
)
def nonnegative_factors(X, W, H):
    Y = W @ H
    G = 1 - X / Y
    value = np.sum(Y - X * np.log(Y))
    gradient_W = G @ H.T
    gradient_H = W.T @ G
    return value, gradient_W, gradient_H


@formula("norm_nuc(L) + c*norm1(M - L)", "L: matrix(m, n); M: matrix(m, n); c: scalar", "L")
def robust_components(L, M, c):
    U, s, Vt = np.linalg.svd(L, full_matrices=False)
    D = L - M
    value = np.sum(s) + c * np.sum(np.abs(D))
    gradient_L = U @ Vt + c * np.sign(D)
    return value, gradient_L


@formula(
    "sum{i,j,k: (X[i,j,k] - M[i,j,k])^2} where M = {i,j,k: A[i,r]*B[j,r]*C[k,r]}",
    "X: tensor(m, n, p); A: matrix(m, q); B: matrix(n, q); C: matrix(p, q)",
    "A B C",
    large={"m": 60, "n": 50, "p": 40},
)
def tensor_factors(X, A, B, C):
    R = 2 * (np.einsum("ir,jr,kr->ijk", A, B, C, optimize=True) - X)
    gradient_A = np.einsum("ijk,jr,kr->ir", R, B, C, optimize=True)
    gradient_B = np.einsum("ijk,ir,kr->jr", R, A, C, optimize=True)
    gradient_C = np.einsum("ijk,ir,jr->kr", R, A, B, optimize=True)
    value = np.sum(R**2) / 4
    return value, gradient_A, gradient_B, gradient_C


@formula(
    "sum(f.*e.^2)/2 where e = {t: W[i[t], a]*C[j[t], a]} + b[i] + c[j] - l",
    "W: matrix(m, k); C: matrix(n, k); b: vector(m); c: vector(n); "
    "i: index(N); j: index(N); l: vector(N); f: vector(N)",
    "W C b c",
    i="below m",
    j="below n",
    f="positive",
)
def word_vectors(W, C, b, c, i, j, l, f):  # noqa: E741
    Wi, Cj = W[i], C[j]
    e = np.sum(Wi * Cj, axis=1) + b[i] + c[j] - l
    g = f * e
    gradient_W, gradient_C = np.zeros_like(W), np.zeros_like(C)
    np.add.at(gradient_W, i, g[:, None] * Cj)
    np.add.at(gradient_C, j, g[:, None] * Wi)
    gradient_b, gradient_c = np.bincount(i, g, len(b)), np.bincount(j, g, len(c))
    value = g @ e / 2
    return value, gradient_W, gradient_C, gradient_b, gradient_c


@formula("norm2(X - R*C)^2", "X: matrix(m, n); R: matrix(m, k); C: matrix(k, n)", "R C")
def k_means(X, R, C):
    E = R @ C - X
    value = np.sum(E**2)
    gradient_R = 2 * E @ C.T
    gradient_C = 2 * R.T @ E
    return value, gradient_R, gradient_C


@formula(
    "sum(C.*(X .- mean(X, axis=1))./std(X, axis=1).*g' .+ b')",
    "X: matrix(m, n); C: matrix(m, n); g: vector(n); b: vector(n)",
    "X g b",
)
def layer_norm(X, C, g, b):
    D = X - X.mean(axis=1, keepdims=True)
    s = X.std(axis=1, keepdims=True)
    Z = D / s
    A = C * g
    E = A - A.mean(axis=1, keepdims=True)
    gradient_X = (E - Z * np.mean(E * Z, axis=1, keepdims=True)) / s
    value = np.sum(A * Z) + len(X) * np.sum(b)
    gradient_g = np.sum(C * Z, axis=0)
    gradient_b = np.full(len(b), float(len(X)))
    return value, gradient_X, gradient_g, gradient_b


@formula(
    "sum(C.*(X .- mean(X, axis=0)')./sqrt(var(X, axis=0) + c)')",
    "X: matrix(m, n); C: matrix(m, n); c: scalar positive",
    "X",
)
def batch_norm(X, C, c):
    s = np.sqrt(X.var(axis=0) + c)
    Z = (X - X.mean(axis=0)) / s
    value = np.sum(C * Z)
    gradient_X = (C - C.mean(axis=0) - Z * np.mean(C * Z, axis=0)) / s
    return value, gradient_X


@formula("-logdet(W) + sum(log(cosh(W*X)))/m", "W: matrix(n, n); X: matrix(n, m)", "W")
def independent_components(W, X):
    Z = W @ X
    m = X.shape[1]
    value = np.sum(np.log(np.cosh(Z))) / m - np.linalg.slogdet(W)[1]
    gradient_W = np.tanh(Z) @ X.T / m - np.linalg.inv(W).T
    return value, gradient_W


@formula("a'*b/(norm2(a)*norm2(b))", "a: vector(n); b: vector(n)", "a b")
def cosine_similarity(a, b):
    na, nb = np.linalg.norm(a), np.linalg.norm(b)
    value = a @ b / (na * nb)
    gradient_a = b / (na * nb) - value * a / na**2
    gradient_b = a / (na * nb) - value * b / nb**2
    return value, gradient_a, gradient_b


@formula("norm2(X'*X - eye(n))^2", "X: matrix(m, n)", "X")
def orthogonality(X):
    R = X.T @ X - np.eye(X.shape[1])
    value = np.sum(R**2)
    gradient_X = 4 * X @ R
    return value, gradient_X


@second("hvp")
def orthogonality_hvp(X, v):
    A = X.T @ v
    return 4 * (v @ (X.T @ X - np.eye(X.shape[1])) + X @ (A + A.T))


@formula(
    "norm2(softmax(X*A, axis=1)*B - Y)^2", "X: matrix(m, n); A: matrix(n, p); B: matrix(p, k); Y: matrix(m, k)", "A B"
)
def gated_network(X, A, B, Y):
    P = softmax(X @ A, axis=1)
    R = 2 * (P @ B - Y)
    G = P * (R @ B.T)
    value = np.sum(R**2) / 4
    gradient_A = X.T @ (G - P * np.sum(G, axis=1, keepdims=True))
    gradient_B = P.T @ R
    return value, gradient_A, gradient_B
