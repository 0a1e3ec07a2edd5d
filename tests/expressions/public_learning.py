"""Losses of deep learning, kernels, the earth and chemistry, as public projects write them."""

# ruff: noqa: B007, B905, E731, E741, N803, N806, SIM108, E501

import numpy as np
from expressions.public_loss import PublicLosses
from scipy.spatial.distance import cdist
from scipy.special import gammaln, log_softmax, logsumexp, softmax

LOSSES = PublicLosses()
case = LOSSES.case
R = np.random.default_rng(78)
N = R.standard_normal


@case(
    "x: vector(d); W1: matrix(h, d); b1: vector(h); Wm: matrix(k, h); Ws: matrix(k, h); V1: matrix(h, k); V2: matrix(d, h); eps: vector(k)",
    "W1 Wm Ws V1 V2",
    x=R.random(5),
    W1=N((4, 5)),
    b1=N(4),
    Wm=N((2, 4)),
    Ws=N((2, 4)) / 3,
    V1=N((4, 2)),
    V2=N((5, 4)),
    eps=N(2),
)
def vae_elbo(x, W1, b1, Wm, Ws, V1, V2, eps):
    h = np.tanh(W1 @ x + b1)
    mu = Wm @ h
    log_var = Ws @ h
    z = mu + np.exp(0.5 * log_var) * eps
    logits = V2 @ np.maximum(V1 @ z, 0)
    rec = np.sum(np.maximum(logits, 0) - logits * x + np.log(1 + np.exp(-np.abs(logits))))
    kl = -0.5 * np.sum(1 + log_var - mu**2 - np.exp(log_var))
    return rec + kl


@case("Z: matrix(n, d); w: vector(d); u: vector(d); b: scalar", "w u b", Z=N((6, 3)), w=N(3), u=N(3), b=0.2)
def planar_flow(Z, w, u, b):
    wu = w @ u
    u_hat = u + (np.log1p(np.exp(wu)) - 1 - wu) * w / (w @ w)
    lin = Z @ w + b
    f = Z + np.tanh(lin)[:, None] * u_hat
    psi = (1 - np.tanh(lin) ** 2)[:, None] * w
    log_det = np.log(np.abs(1 + psi @ u_hat) + 1e-8)
    log_p = -0.5 * np.sum(f**2, axis=1) - 0.5 * f.shape[1] * np.log(2 * np.pi)
    return -np.mean(log_p + log_det)


@case(
    "student: matrix(n, k); teacher: matrix(n, k); y: index(n); T: scalar positive; alpha: scalar",
    "student",
    student=N((6, 4)),
    teacher=N((6, 4)),
    y=np.array([0, 1, 2, 3, 1, 2]),
    T=2.0,
    alpha=0.3,
)
def distillation(student, teacher, y, T, alpha):
    p = softmax(teacher / T, axis=1)
    log_q = log_softmax(student / T, axis=1)
    soft = (p * (np.log(p) - log_q)).sum(axis=1).mean() * T**2
    hard = -log_softmax(student, axis=1)[np.arange(len(y)), y].mean()
    return alpha * hard + (1 - alpha) * soft


@case(
    "logits: matrix(n, k); y: index(n); keep: vector(n); eps: scalar",
    "logits",
    logits=N((7, 4)),
    y=np.array([0, 1, 2, 3, 1, 2, 0]),
    keep=np.array([1.0, 1, 0, 1, 1, 0, 1]),
    eps=0.1,
)
def label_smoothing(logits, y, keep, eps):
    n, k = logits.shape
    logp = logits - logsumexp(logits, axis=1, keepdims=True)
    target = np.full((n, k), eps / (k - 1))
    target[np.arange(n), y] = 1.0 - eps
    loss = -(target * logp).sum(1)
    return (loss * keep).sum() / keep.sum()


@case(
    "H: matrix(n, f); W: matrix(f, g); a: vector(2*g); A: matrix(n, n); Y: matrix(n, g)",
    "W a",
    H=N((5, 3)),
    W=N((3, 2)),
    a=N(4),
    A=np.ones((5, 5)) - np.diag([0.0, 0, 0, 0, 0]),
    Y=N((5, 2)),
)
def graph_attention(H, W, a, A, Y):
    Wh = H @ W
    g = Wh.shape[1]
    src = Wh @ a[:g]
    dst = Wh @ a[g:]
    e = src[:, None] + dst[None, :]
    e = np.where(e > 0, e, 0.2 * e)
    e = np.where(A > 0, e, -9e15)
    att = np.exp(e - e.max(axis=1, keepdims=True))
    att = att / att.sum(axis=1, keepdims=True)
    out = att @ Wh
    out = np.where(out > 0, out, np.exp(out) - 1)
    return np.mean((out - Y) ** 2)


@case("x: vector(n); y: vector(m); gamma: scalar positive", "x y", x=N(4), y=N(5), gamma=0.5)
def soft_dtw(x, y, gamma):
    n, m = len(x), len(y)
    D = (x[:, None] - y[None, :]) ** 2
    Rm = np.full((n + 1, m + 1), 1e10)
    Rm[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            r = np.array([Rm[i - 1, j - 1], Rm[i - 1, j], Rm[i, j - 1]])
            softmin = -gamma * logsumexp(-r / gamma)
            Rm[i, j] = D[i - 1, j - 1] + softmin
    return Rm[n, m]


@case("X: matrix(n, d); Y: matrix(m, d); s: scalar positive", "X s", X=N((5, 2)), Y=N((6, 2)), s=1.2)
def unbiased_mmd(X, Y, s):
    def k(A, B):
        return np.exp(-cdist(A, B, "sqeuclidean") / (2 * s**2))

    n, m = len(X), len(Y)
    Kxx, Kyy = k(X, X), k(Y, Y)
    xx = (Kxx.sum() - np.trace(Kxx)) / (n * (n - 1))
    yy = (Kyy.sum() - np.trace(Kyy)) / (m * (m - 1))
    return xx + yy - 2 * k(X, Y).mean()


@case("X: matrix(n, d); Y: matrix(n, q); s: scalar positive", "X", X=N((6, 2)), Y=N((6, 3)), s=0.8)
def hsic(X, Y, s):
    n = X.shape[0]
    sq = np.sum(X**2, axis=1)
    K = np.exp(-(sq[:, None] + sq[None, :] - 2 * X @ X.T) / (2 * s**2))
    L = Y @ Y.T
    H = np.eye(n) - np.ones((n, n)) / n
    return np.trace(K @ H @ L @ H) / (n - 1) ** 2


@case(
    "q: matrix(n, k); target: vector(n); act: index(n); delta: scalar positive",
    "q",
    q=N((6, 3)),
    target=N(6) * 2,
    act=np.array([0, 1, 2, 0, 1, 2]),
    delta=1.0,
)
def dqn_huber(q, target, act, delta):
    td = target - q[np.arange(len(act)), act]
    a = np.abs(td)
    return np.mean(np.where(a <= delta, 0.5 * td**2, delta * (a - 0.5 * delta)))


@case("X: matrix(n, 2); T: vector(n); c: vector(3)", "c X", X=N((5, 2)), T=R.random(5), c=np.array([0.1, -0.2, 1.5]))
def earthquake_location(X, T, c):
    dist = np.sqrt((X[:, 0] - c[0]) ** 2 + (X[:, 1] - c[1]) ** 2 + 0.25)
    tt = dist / c[2]
    res = T - tt
    res = res - np.median(res)
    return np.sum(np.abs(res))


@case(
    "s: vector(c); G: matrix(r, c); t: vector(r); D: matrix(p, c); lam: scalar; mu: scalar",
    "s",
    s=R.random(6),
    G=R.random((8, 6)),
    t=R.random(8),
    D=N((4, 6)),
    lam=0.1,
    mu=0.2,
)
def traveltime_tomography(s, G, t, D, lam, mu):
    m = np.exp(s)
    r = G @ m - t
    rough = D @ s
    return 0.5 * r @ r / t.size + lam * np.linalg.norm(rough) ** 2 + mu * np.abs(s - s.mean()).sum()


@case(
    "q: matrix(T, 2); goal: vector(2); obs: matrix(o, 2); rad: vector(o)",
    "q",
    q=N((6, 2)),
    goal=np.array([1.0, 2.0]),
    obs=N((3, 2)),
    rad=np.array([0.5, 0.4, 0.3]),
)
def trajectory_cost(q, goal, obs, rad):
    vel = np.diff(q, axis=0)
    acc = np.diff(vel, axis=0)
    cost = 0.5 * np.sum(acc**2) + 10 * np.sum((q[-1] - goal) ** 2)
    for t in range(len(q)):
        d = np.linalg.norm(q[t] - obs, axis=1) - rad
        cost += np.sum(np.where(d < 0, -d + 0.05, np.where(d < 0.1, (d - 0.1) ** 2 / 0.2, 0.0)))
    return cost


@case(
    "T: vector(n); S: scalar; a: scalar; b: scalar; C: scalar positive; F: vector(n - 1); dt: scalar",
    "S a b",
    T=15 + N(8),
    S=0.24,
    a=2.0,
    b=0.1,
    C=5.0,
    F=N(7),
    dt=0.5,
)
def energy_balance(T, S, a, b, C, F, dt):
    albedo = 0.3 + 0.1 * np.tanh((12 - T[:-1]) / 5)
    net = S * (1 - albedo) * 100 - (a + b * T[:-1]) + F
    pred = T[:-1] + dt * net / C
    return np.sum((T[1:] - pred) ** 2)


@case(
    "theta: vector(3); p: vector(n) positive; q: vector(n)",
    "theta",
    theta=np.array([2.0, 0.5, 0.8]),
    p=R.random(7) * 3 + 0.1,
    q=R.random(7),
)
def sips_isotherm(theta, p, q):
    qm, K, n = theta
    x = (K * p) ** (1 / n)
    model = qm * x / (1 + x)
    rmse = np.sqrt(np.mean((q - model) ** 2))
    return rmse


@case(
    "z: matrix(n, d); W: matrix(d, d); y: index(n); margin: scalar; scale: scalar",
    "z W",
    z=N((6, 3)),
    W=N((3, 3)),
    y=np.array([0, 1, 2, 0, 1, 2]),
    margin=0.2,
    scale=5.0,
)
def arcface(z, W, y, margin, scale):
    zn = z / np.linalg.norm(z, axis=1, keepdims=True)
    Wn = W / np.linalg.norm(W, axis=0, keepdims=True)
    cos = np.clip(zn @ Wn, -1 + 1e-7, 1 - 1e-7)
    onehot = np.eye(W.shape[1])[y]
    theta = np.arccos(cos)
    logits = scale * np.where(onehot > 0, np.cos(theta + margin), cos)
    return np.mean(logsumexp(logits, axis=1) - np.sum(onehot * logits, axis=1))


@case(
    "alpha: vector(k) positive; X: matrix(n, k)", "alpha", alpha=R.random(4) + 0.5, X=R.poisson(4, (6, 4)).astype(float)
)
def dirichlet_multinomial(alpha, X):
    n = X.sum(axis=1)
    a0 = alpha.sum()
    ll = gammaln(a0) - gammaln(n + a0)
    for k in range(X.shape[1]):
        ll = ll + gammaln(X[:, k] + alpha[k]) - gammaln(alpha[k])
    return -ll.sum()


@case(
    "beta: vector(p); X: matrix(n, p); y: index(n); w: vector(k)",
    "beta w",
    beta=N(3) / 2,
    X=N((6, 3)),
    y=np.array([0, 1, 0, 1, 1, 0]),
    w=np.array([0.7, 1.4]),
)
def class_weighted_hinge(beta, X, y, w):
    sign = 2 * y - 1
    margins = sign * (X @ beta)
    return np.sum(w[y] * np.maximum(0, 1 - margins) ** 2) / w[y].sum() + 0.01 * beta @ beta


@case("img: matrix(h, w); K: matrix(3, 3); Y: matrix(h - 2, w - 2)", "K img", img=N((5, 6)), K=N((3, 3)), Y=N((3, 4)))
def convolution_layer(img, K, Y):
    H, W = img.shape
    out = np.zeros((H - 2, W - 2))
    for i in range(H - 2):
        for j in range(W - 2):
            out[i, j] = np.sum(img[i : i + 3, j : j + 3] * K)
    out = np.maximum(out, 0)
    return 0.5 * np.mean((out - Y) ** 2)


@case(
    "beta: vector(p); X: matrix(n, p); y: vector(n); g: index(n); u: vector(G); s: scalar positive",
    "beta u s",
    beta=N(2),
    X=N((7, 2)),
    y=R.poisson(2, 7).astype(float),
    g=np.array([0, 0, 1, 1, 2, 2, 2]),
    u=N(3),
    s=0.8,
)
def mixed_poisson(beta, X, y, g, u, s):
    eta = X @ beta + u[g]
    ll = y * eta - np.exp(eta) - gammaln(y + 1)
    prior = -0.5 * np.sum(u**2) / s**2 - len(u) * np.log(s)
    return -(ll.sum() + prior)


@case(
    "params: vector(5); x: vector(n); y: vector(n)",
    "params",
    params=np.array([0.3, 1.2, 0.8, -0.2, 0.5]),
    x=np.linspace(0, 3, 8),
    y=N(8),
)
def piecewise_growth(params, x, y):
    k, m, cp, delta, sigma = params
    if sigma <= 0:
        return 1e10
    step = (x > cp).astype(float)
    slope = k + delta * step
    trend = slope * x + m - delta * cp * step
    resid = y - trend
    return 0.5 * np.sum((resid / sigma) ** 2) + len(y) * np.log(sigma)
