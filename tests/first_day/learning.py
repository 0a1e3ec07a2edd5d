"""Tasks of machine learning: networks, factorisations, clusters and norms of data."""

import numpy as np
from first_day.tasks import task


@task(
    "norm2(M .* (Z - U*V'))^2 + lam*(norm2(U)^2 + norm2(V)^2)",
    "M: matrix(m, n); U: matrix(m, k); V: matrix(n, k); lam: scalar",
    traced=True,
    U="2*((M.^2.*(U*V' - Z))*V + lam*U)",
    V="2*((M'.^2.*(V*U' - Z'))*U + lam*V)",
)
def masked_factorisation(M, Z, U, V, lam):
    return np.sum((M * (Z - U @ V.T)) ** 2) + lam * (np.sum(U**2) + np.sum(V**2))


@task(
    "sum{t: (r[t] - U[i[t], a]*V[j[t], a])^2}",
    "U: matrix(m, k); V: matrix(n, k); r: vector(N); i: index(N); j: index(N)",
    traced=True,
    U="2*eye(m)[:, i]*diag((U*V')[i,j] - r)*V[j, :]",
)
def sparse_factorisation(U, V, r, i, j):
    return np.sum((r - np.sum(U[i] * V[j], axis=1)) ** 2)


@task(
    "norm2(S - L*L')^2",
    "S: matrix(n, n) symmetric; L: matrix(n, k)",
    traced=True,
    latex=r"\|S - L L^\top\|_F^2",
    L="4*(L*L' - S)*L",
)
def symmetric_factorisation(S, L):
    return np.sum((S - L @ L.T) ** 2)


@task(
    "sum(C .* (softmax(Q*K'/sqrt(d), axis=1)*V))",
    V="softmax(Q*K'/sqrt(d), axis=1)'*C",
    Q="(P.*(C*V') - diag(diag(P*V*C'))*P)*K/sqrt(d) where P = softmax(Q*K'/sqrt(d), axis=1)",
)
def attention(Q, K, d, V, C):
    P = np.exp(Q @ K.T / np.sqrt(d))
    return np.sum(C * (P / P.sum(axis=1)[:, None] @ V))


@task(
    "sum(C .* (X .- mean(X, axis=1))./std(X, axis=1).*g' .+ b')",
    "X: matrix(m, n); C: matrix(m, n); g: vector(n); b: vector(n)",
    traced=True,
    g="sqrt(n)*diag(C'*normalize(X .- mean(X, axis=1), axis=1))",
    b="m*ones(n)",
    X="sqrt(n)*diag(1./norm2(X .- a, axis=1))*(C*(diag(g) .- g/n) - diag((C.*P)*g)*P) "
    "where a = mean(X, axis=1), P = normalize(X .- a, axis=1)",
)
def layer_norm(X, C, g, b):
    D = X - X.mean(axis=1)[:, None]
    return np.sum(C * D / np.sqrt((D**2).mean(axis=1))[:, None] * g + b)


@task(
    "sum(C .* (X .- mean(X, axis=0)')./std(X, axis=0)')",
    "X: matrix(m, n); C: matrix(m, n)",
    traced=True,
    X="sqrt(m)*(C - P'*diag(diag(P*C)) .- mean(C, axis=0)')*diag(1./norm2(X' .- a, axis=1)) "
    "where a = mean(X, axis=0), P = normalize(X' .- a, axis=1)",
)
def batch_norm(X, C):
    D = X - X.mean(axis=0)
    return np.sum(C * D / np.sqrt((D**2).mean(axis=0)))


@task(
    "c'*((x - mean(x))/sqrt(var(x) + eps))",
    "x: vector(n); c: vector(n); eps: scalar positive",
    traced=True,
    x="(c - (c'*a)*a/(b + eps*n) - mean(c))/sqrt(b/n + eps) where a = x - mean(x), b = norm2(a)^2",
)
def layer_norm_of_one(x, c, eps):
    return c @ ((x - x.mean()) / np.sqrt(x.var() + eps))


@task(
    "c'*(x - mean(x))/std(x)",
    "x: vector(n); c: vector(n)",
    traced=True,
    x="sqrt(n)*(c - (c'*normalize(x - mean(x)))*normalize(x - mean(x)) - mean(c))/norm2(x - mean(x))",
)
def standard_score(x, c):
    return c @ (x - x.mean()) / x.std()


@task(
    "sum(C .* (X .- mean(X, axis=0)')./sqrt(var(X, axis=0) + eps)')",
    "X: matrix(m, n); C: matrix(m, n); eps: scalar positive",
    X="(C - (X .- a')*diag(diag((X' .- a)*C)./(P*ones(m) + eps*m)) .- mean(C, axis=0)')"
    "*diag(1./sqrt(mean(P, axis=1) + eps)) where a = mean(X, axis=0), P = (X' .- a).^2",
)
def batch_norm_with_eps(X, C, eps):
    return np.sum(C * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps))


@task(
    "norm2(tanh(X*A .+ a')*B .+ b' - Y)^2",
    "X: matrix(m, n); A: matrix(n, k); a: vector(k); B: matrix(k, p); b: vector(p)",
    traced=True,
    A="2*X'*(((tanh(X*A .+ a')*B - Y .+ b')*B')./cosh(X*A .+ a').^2)",
    a="2*sum(((tanh(X*A .+ a')*B - Y .+ b')*B')./cosh(X*A .+ a').^2, axis=0)",
    B="2*tanh(X*A .+ a')'*(tanh(X*A .+ a')*B - Y .+ b')",
    b="2*sum(tanh(X*A .+ a')*B - Y .+ b', axis=0)",
)
def two_layers(X, A, a, B, b, Y):
    return np.sum((np.tanh(X @ A + a) @ B + b - Y) ** 2)


@task("sigmoid(W*x + b)", derivative="jacobian", traced=True, x="diag(sigmoid(W*x + b).*sigmoid(-W*x - b))*W")
def one_layer(W, x, b):
    return 1 / (1 + np.exp(-(W @ x + b)))


@task("norm2(X - X*W*W')^2", traced=True, latex=r"\|X - X W W^\top\|_F^2", W="4*sym((X*W*W' - X)'*X)*W")
def pca(X, W):
    return np.sum((X - X @ W @ W.T) ** 2)


@task(
    "x'*A*x/(x'*x)",
    "A: matrix(n, n) symmetric",
    latex=r"\frac{x^\top A x}{x^\top x}",
    traced=True,
    x="2*(A*x - (x'*A*x)*x/(x'*x))/(x'*x)",
)
def rayleigh(x, A):
    return x @ A @ x / (x @ x)


@task(
    "a'*C*b/sqrt(a'*A*a * b'*B*b)",
    "A: matrix(m, m) spd; B: matrix(n, n) spd; C: matrix(m, n)",
    traced=True,
    latex=r"\frac{a^\top C b}{\sqrt{a^\top A a \, b^\top B b}}",
    a="(C*b/sqrt(a'*A*a) - (a'*C*b)*A*a/(a'*A*a)^1.5)/sqrt(b'*B*b)",
)
def cca(a, b, A, B, C):
    return a @ C @ b / np.sqrt(a @ A @ a * (b @ B @ b))


@task("norm(A*Q - B, 'fro')^2", latex=r"\|AQ - B\|_F^2", traced=True, Q="2*A'*(A*Q - B)")
def procrustes(A, Q, B):
    return np.linalg.norm(A @ Q - B) ** 2


@task("norm(L, 'nuc') + lam*norm1(M - L)", "lam: scalar", traced=True, L="polar_U(L) + lam*sign(L - M)")
def robust_pca(L, M, lam):
    return np.linalg.norm(L, "nuc") + lam * np.sum(np.abs(M - L))


@task("norm2(X - R*C)^2", traced=True, latex=r"\|X - RC\|_F^2", C="2*R'*(R*C - X)")
def k_means(X, R, C):
    return np.sum((X - R @ C) ** 2)


@task(
    "D = sum(X.^2, axis=1) .+ sum(C.^2, axis=1)' - 2*X*C'; -sum(logsumexp(-D, axis=1))",
    "X: matrix(m, n); C: matrix(k, n)",
    C="2*(diag(softmax(2*C*X' .- diag(C*C'), axis=0)*ones(m))*C - softmax(2*C*X' .- diag(C*C'), axis=0)*X)",
)
def soft_k_means(X, C):
    D = np.array([[np.sum((x - c) ** 2) for c in C] for x in X])
    return -np.sum(np.log(np.sum(np.exp(-D), axis=1)))


@task(
    "f'*(diag(sum(W, axis=1)) - W)*f",
    "W: matrix(n, n) symmetric",
    traced=True,
    f="2*(diag(W*ones(n)) - W)*f",
    W="f.^2/2 .+ f.^2'/2 - f*f'",
)
def graph_laplacian(f, W):
    return f @ (np.diag(W.sum(axis=1)) - W) @ f


@task(
    "a'*b/(norm(a)*norm(b))",
    traced=True,
    latex=r"\frac{a^\top b}{\|a\| \|b\|}",
    a="(normalize(b) - (normalize(a)'*normalize(b))*normalize(a))/norm2(a)",
)
def cosine_similarity(a, b):
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


@task(
    "y'*inv(K + lam*eye(n))*y",
    "K: matrix(n, n) symmetric; y: vector(n); lam: scalar",
    traced=True,
    lam="-norm2(inv(K + lam*eye(n))*y)^2",
)
def kernel_ridge(K, y, lam):
    return y @ np.linalg.inv(K + lam * np.diag(np.ones_like(y))) @ y


@task("softmax(z)", derivative="jacobian", traced=True, z="diag(softmax(z)) - softmax(z)*softmax(z)'")
def softmax(z):
    return np.exp(z) / np.sum(np.exp(z))


@task(
    "logsumexp(A*x + b)",
    derivative="hessian",
    traced=True,
    x="A'*(diag(softmax(A*x + b)) - softmax(A*x + b)*softmax(A*x + b)')*A",
)
def log_sum_exp(A, x, b):
    return np.log(np.sum(np.exp(A @ x + b)))


@task(
    "norm2(x - y)^2/2 + mu*sum(abs(x[1:] - x[:-1]))",
    traced=True,
    x="mu*(eye(m)[:, 1:] - eye(m)[:, :-1])*sign(x[1:] - x[:-1]) + x - y",
)
def total_variation(x, y, mu):
    return np.sum((x - y) ** 2) / 2 + mu * np.sum(np.abs(x[1:] - x[:-1]))


@task(
    "norm2(conv(h, x) - y)^2",
    "h: vector(p); x: vector(n); y: vector(n + p - 1)",
    traced=True,
    h="{i < p: 2*(conv(h, x) - y)[j]*x[k]*[j == k + i]}",
)
def convolution(h, x, y):
    return np.sum((np.convolve(h, x) - y) ** 2)
