"""Tasks of statisticians: likelihoods, regressions, time series and estimates from data."""

import numpy as np
from first_day.tasks import task


@task(
    "tr(inv(S)*(X .- mu')'*(X .- mu'))/2 + m/2*logdet(S)",
    "X: matrix(m, n); mu: vector(n); S: matrix(n, n) spd",
    mu="inv(S)*(mu .- X')*ones(m)",
    S="(m*inv(S) - inv(S)*(X' .- mu)*(X .- mu')*inv(S))/2",
)
def gaussian_of_rows(X, mu, S):
    return sum((x - mu) @ np.linalg.solve(S, x - mu) for x in X) / 2 + len(X) / 2 * np.linalg.slogdet(S)[1]


@task(
    "logdet(S) + tr(inv(S)*C)",
    "S: matrix(n, n) spd; C: matrix(n, n) symmetric",
    latex=r"\log\det S + \operatorname{tr}(S^{-1} C)",
    traced=True,
    S="inv(S) - inv(S)*C*inv(S)",
)
def gaussian_covariance(S, C):
    return np.linalg.slogdet(S)[1] + np.trace(np.linalg.inv(S) @ C)


@task(
    "K = s^2*exp(-D/(2*l^2)) + t^2*eye(n); y'*inv(K)*y/2 + logdet(K)/2",
    "D: matrix(n, n) symmetric; y: vector(n); s: scalar; l: scalar; t: scalar",
    traced=True,
    s="s*tr(P*(Q - Q*y*y'*Q)) where P = exp(-0.5*D/l^2), K = s^2*P + t^2*eye(n), Q = inv(K)",
    l="0.5*sum(D.*P.*(Q - Q*y*y'*Q))*s^2/l^3 where P = exp(-0.5*D/l^2), K = s^2*P + t^2*eye(n), Q = inv(K)",
    t="t*tr(P - P*y*y'*P) where K = s^2*exp(-0.5*D/l^2) + t^2*eye(n), P = inv(K)",
)
def gaussian_process(D, y, s, l, t):  # noqa: E741 - the length scale's usual name
    K = s**2 * np.exp(-D / (2 * l**2)) + t**2 * np.diag(np.ones_like(y))
    return y @ np.linalg.solve(K, y) / 2 + np.linalg.slogdet(K)[1] / 2


@task(
    "-sum{i: log_softmax(X*W, axis=1)[i, y[i]]}",
    "X: matrix(m, n); W: matrix(n, k); y: index(m)",
    W="X'*(softmax(X*W, axis=1) - eye(k)[:, y]')",
)
def labels(X, W, y):
    Z = X @ W
    return sum(np.log(np.sum(np.exp(z))) - z[c] for z, c in zip(Z, y, strict=True))


@task(
    "-sum(Y .* log_softmax(X*W, axis=1))/m",
    "X: matrix(m, n); W: matrix(n, k); Y: matrix(m, k)",
    traced=True,
    W="X'*(diag(Y*ones(k))*softmax(X*W, axis=1) - Y)/m",
)
def one_hot_labels(X, W, Y):
    Z = X @ W
    return -np.sum(Y * (Z - np.log(np.sum(np.exp(Z), axis=1))[:, None])) / X.shape[0]


@task(
    "norm2(X*w - y)^2 + mu*norm2(w)^2",
    latex=r"\|Xw - y\|_2^2 + \mu \|w\|_2^2",
    traced=True,
    w="2*(X'*(X*w - y) + mu*w)",
)
def ridge(X, w, y, mu):
    return np.sum((X @ w - y) ** 2) + mu * np.sum(w**2)


@task(
    "norm2(X*w - y)^2/2 + mu*sum(sqrt(w.^2 + epsilon^2))", traced=True, w="X'*(X*w - y) + mu*w./sqrt(w.^2 + epsilon^2)"
)
def smooth_lasso(X, w, y, mu, epsilon):
    return np.sum((X @ w - y) ** 2) / 2 + mu * np.sum(np.sqrt(w**2 + epsilon**2))


@task(
    "sum(log(1 + exp(-y .* (X*w))))",
    traced=True,
    latex=r"\sum_{i=1}^{m} \log(1 + \exp(-y_i x_i^\top w))",
    w="-X'*(y.*sigmoid(-y.*(X*w)))",
)
def logistic(X, w, y):
    return np.sum(np.log(1 + np.exp(-y * (X @ w))))


@task("sum(log(1 + exp(X*w))) - y'*X*w", derivative="hessian", traced=True, w="X'*diag(sigmoid(X*w).*sigmoid(-X*w))*X")
def fisher_information(X, w, y):
    return np.sum(np.log(1 + np.exp(X @ w))) - y @ X @ w


@task(
    "sum(exp(X*w) - y .* (X*w))", traced=True, latex=r"\mathbf{1}^\top (\exp(Xw) - y \odot (Xw))", w="X'*(exp(X*w) - y)"
)
def poisson(X, w, y):
    return np.sum(np.exp(X @ w) - y * (X @ w))


@task("sum(huber(X*w - y))", w="-X'*clip(y - X*w, -1, 1)")
def huber(X, w, y):
    r = np.abs(X @ w - y)
    return np.sum(np.where(r <= 1, r**2 / 2, r - 0.5))


@task("sum(max(0, 1 - y .* (X*w))) + lam/2*w'*w", "lam: scalar", traced=True, w="lam*w - X'*(y.*step(1 - y.*(X*w)))")
def hinge(X, w, y, lam):
    return np.sum(np.maximum(0, 1 - y * (X @ w))) + lam / 2 * w @ w


@task(
    "-sum(log(L*q))",
    "L: matrix(m, n) positive; q: vector(n) positive",
    traced=True,
    latex=r"-\sum_{i=1}^{m} \log \sum_{j=1}^{n} q_j L_{ij}",
    q="-L'*(1./(L*q))",
)
def mixture_weights(L, q):
    return -np.sum(np.log(L @ q))


@task(
    "-sum(logsumexp(Z .+ log(q)', axis=1))",
    "Z: matrix(m, n); q: vector(n) positive",
    q="-sum(softmax(Z .+ log(q)', axis=1), axis=0)./q",
    Z="-softmax(Z .+ log(q)', axis=1)",
)
def mixture(Z, q):
    return -np.sum(np.log(np.exp(Z) @ q))


@task(
    "sqrt((x - mu)'*inv(S)*(x - mu))",
    "mu: vector(n); S: matrix(n, n) spd",
    latex=r"\sqrt{(x - \mu)^\top S^{-1} (x - \mu)}",
    traced=True,
    x="inv(S)*(x - mu)/sqrt((mu - x)'*inv(S)*(mu - x))",
    S="-0.5*inv(S)*(mu - x)*(mu - x)'*inv(S)/sqrt((mu - x)'*inv(S)*(mu - x))",
)
def mahalanobis(x, mu, S):
    return np.sqrt((x - mu) @ np.linalg.inv(S) @ (x - mu))


@task(
    "h'*inv(J)*h/2 - logdet(J)/2",
    "J: matrix(n, n) spd",
    latex=r"\frac{1}{2} h^\top J^{-1} h - \frac{1}{2} \log\det J",
    traced=True,
    h="inv(J)*h",
    J="-(inv(J)*h*h'*inv(J) + inv(J))/2",
)
def natural_parameters(J, h):
    return h @ np.linalg.solve(J, h) / 2 - np.linalg.slogdet(J)[1] / 2


@task(
    "tr(inv(S)*C) - n + logdet(S) - logdet(C)",
    "S: matrix(n, n) spd; C: matrix(n, n) spd",
    traced=True,
    S="inv(S) - inv(S)*C*inv(S)",
    C="inv(S) - inv(C)",
)
def divergence_of_gaussians(S, C):
    return np.trace(np.linalg.solve(S, C)) - S.shape[0] + np.linalg.slogdet(S)[1] - np.linalg.slogdet(C)[1]


@task("-sum(p .* log(p))", "p: vector(n) positive", latex=r"-\sum_{i=1}^{n} p_i \log p_i", traced=True, p="-1 - log(p)")
def entropy(p):
    return -np.sum(p * np.log(p))


@task(
    "norm2(y[2:] - a[0]*y[1:-1] - a[1]*y[:-2])^2",
    "y: vector(n + 2); a: vector(2)",
    traced=True,
    a="-2*[(y[2:] - a[0]*y[1:-1] - a[1]*y[:-2])'*y[1:-1]; (y[2:] - a[0]*y[1:-1] - a[1]*y[:-2])'*y[:-2]]",
)
def autoregression(y, a):
    return np.sum((y[2:] - a[0] * y[1:-1] - a[1] * y[:-2]) ** 2)


@task(
    "norm2(p[0]*exp(-p[1]*t) + p[2] - y)^2",
    "p: vector(3); t: vector(m); y: vector(m)",
    traced=True,
    p="-2*[-b'*a; p[0]*sum(t.*a.*b); -sum(b)] where a = exp(-p[1]*t), b = p[0]*a - y + p[2]",
)
def curve_fit(p, t, y):
    return np.sum((p[0] * np.exp(-p[1] * t) + p[2] - y) ** 2)


@task(
    "p[0]*exp(-p[1]*t)",
    "p: vector(2); t: vector(m)",
    derivative="jacobian",
    traced=True,
    p="[exp(-p[1]*t), -p[0]*t.*exp(-p[1]*t)]",
)
def curve_jacobian(p, t):
    return p[0] * np.exp(-p[1] * t)


@task(
    "w'*mu - c/2*w'*S*w",
    "mu: vector(n); c: scalar; S: matrix(n, n) spd",
    traced=True,
    latex=r"w^\top \mu - \frac{c}{2} w^\top S w",
    w="mu - c*S*w",
)
def portfolio(w, mu, c, S):
    return w @ mu - c / 2 * w @ S @ w


@task(
    "w'*mu/sqrt(w'*S*w)",
    "mu: vector(n); S: matrix(n, n) spd",
    traced=True,
    latex=r"\frac{w^\top \mu}{\sqrt{w^\top S w}}",
    w="mu/sqrt(w'*S*w) - (mu'*w)*S*w/(w'*S*w)^1.5",
)
def sharpe_ratio(w, mu, S):
    return w @ mu / np.sqrt(w @ S @ w)


@task(
    "x + P*H'*inv(H*P*H' + R)*(z - H*x)",
    "P: matrix(n, n) spd; R: matrix(p, p) spd; x: vector(n); z: vector(p)",
    derivative="jacobian",
    latex=r"x + P H^\top (H P H^\top + R)^{-1} (z - H x)",
    traced=True,
    x="eye(n) - P*H'*inv(H*P*H' + R)*H",
    z="P*H'*inv(H*P*H' + R)",
)
def kalman_step(P, H, R, x, z):
    K = P @ H.T @ np.linalg.inv(H @ P @ H.T + R)
    return x + K @ (z - H @ x)
