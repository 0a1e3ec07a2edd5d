"""Losses of poses, maps, images, markets and speech, as public projects write them."""

# ruff: noqa: B007, B905, E741, N803, N806, SIM108

import numpy as np
from expressions.public_loss import PublicLosses
from scipy.special import logsumexp

LOSSES = PublicLosses()
case = LOSSES.case
R = np.random.default_rng(12)
N = R.standard_normal


@case(
    "rvec: vector(3); tvec: vector(3); f: scalar; pts: matrix(n, 3); uv: matrix(n, 2)",
    "rvec tvec f",
    rvec=N(3) / 2,
    tvec=np.array([0.1, -0.2, 5.0]),
    f=1.4,
    pts=N((6, 3)),
    uv=N((6, 2)),
)
def reprojection(rvec, tvec, f, pts, uv):
    theta = np.linalg.norm(rvec)
    if theta < 1e-8:
        R = np.eye(3)
    else:
        k = rvec / theta
        K = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
        R = np.eye(3) + np.sin(theta) * K + (1 - np.cos(theta)) * K @ K
    cam = pts @ R.T + tvec
    proj = f * cam[:, :2] / cam[:, 2:3]
    r = proj - uv
    sq = np.sum(r**2, axis=1)
    return np.sum(np.where(sq <= 1, sq, 2 * np.sqrt(sq) - 1))


@case(
    "q: vector(4); t: vector(3); P: matrix(n, 3); Q: matrix(n, 3); nrm: matrix(n, 3); w: vector(n)",
    "q t",
    q=np.array([0.9, 0.1, -0.2, 0.3]),
    t=N(3),
    P=N((6, 3)),
    Q=N((6, 3)),
    nrm=N((6, 3)),
    w=R.random(6),
)
def point_to_plane(q, t, P, Q, nrm, w):
    q = q / np.linalg.norm(q)
    qw, qx, qy, qz = q
    Rm = np.array(
        [
            [1 - 2 * (qy * qy + qz * qz), 2 * (qx * qy - qz * qw), 2 * (qx * qz + qy * qw)],
            [2 * (qx * qy + qz * qw), 1 - 2 * (qx * qx + qz * qz), 2 * (qy * qz - qx * qw)],
            [2 * (qx * qz - qy * qw), 2 * (qy * qz + qx * qw), 1 - 2 * (qx * qx + qy * qy)],
        ]
    )
    err = 0.0
    for p, c, n_, w_ in zip(P, Q, nrm, w):
        d = n_ @ (Rm @ p + t - c)
        err += w_ * d**2 / (1 + d**2)
    return err


def wrap(a):
    return (a + np.pi) % (2 * np.pi) - np.pi


@case(
    "x: matrix(n, 3); src: index(m); dst: index(m); z: matrix(m, 3); info: vector(3)",
    "x",
    x=N((5, 3)),
    src=np.array([0, 1, 2, 3, 4, 1]),
    dst=np.array([1, 2, 3, 4, 0, 3]),
    z=N((6, 3)) / 2,
    info=np.array([1.0, 2.0, 5.0]),
)
def pose_graph(x, src, dst, z, info):
    total = 0.0
    for e in range(len(src)):
        i, j = src[e], dst[e]
        dx, dy = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1]
        c, s = np.cos(x[i, 2]), np.sin(x[i, 2])
        ex = c * dx + s * dy - z[e, 0]
        ey = -s * dx + c * dy - z[e, 1]
        et = wrap(x[j, 2] - x[i, 2] - z[e, 2])
        total += info[0] * ex**2 + info[1] * ey**2 + info[2] * et**2
    return 0.5 * total


@case(
    "poses: matrix(T, 3); lm: matrix(l, 2); pid: index(m); lid: index(m); rng_: vector(m); "
    "brg: vector(m); odo: matrix(T - 1, 3)",
    "poses lm",
    poses=N((4, 3)) / 2,
    lm=N((3, 2)) * 3,
    pid=np.array([0, 1, 1, 2, 3]),
    lid=np.array([2, 0, 1, 2, 1]),
    rng_=R.random(5) * 3,
    brg=N(5),
    odo=N((3, 3)) / 3,
)
def range_bearing_slam(poses, lm, pid, lid, rng_, brg, odo):
    d = lm[lid] - poses[pid, :2]
    pred_r = np.hypot(d[:, 0], d[:, 1])
    pred_b = np.arctan2(d[:, 1], d[:, 0]) - poses[pid, 2]
    eb = np.arctan2(np.sin(pred_b - brg), np.cos(pred_b - brg))
    e_odo = np.diff(poses, axis=0) - odo
    cost = np.sum(((pred_r - rng_) / 0.1) ** 2) + np.sum((eb / 0.05) ** 2)
    cost += np.einsum("ti,ti->", e_odo, e_odo)
    cost += 1e3 * np.sum(poses[0] ** 2)
    return cost


@case(
    "u: matrix(m, n); f: matrix(m, n); lam: scalar positive; eps: scalar positive",
    "u",
    u=N((5, 4)),
    f=N((5, 4)),
    lam=0.7,
    eps=0.1,
)
def huber_total_variation(u, f, lam, eps):
    dx = np.zeros_like(u)
    dy = np.zeros_like(u)
    dx[:, :-1] = u[:, 1:] - u[:, :-1]
    dy[:-1, :] = u[1:, :] - u[:-1, :]
    mag = np.sqrt(dx**2 + dy**2 + 1e-12)
    tv = np.where(mag < eps, mag**2 / (2 * eps), mag - eps / 2)
    return 0.5 * np.sum((u - f) ** 2) + lam * tv.sum()


@case("k: scalar; f: matrix(m, n); g: matrix(m, n); steps: scalar", "k f", k=0.8, f=N((5, 4)), g=N((5, 4)), steps=0.2)
def perona_malik(k, f, g, steps):
    img = f.copy()
    for _ in range(3):
        north = np.roll(img, -1, axis=0) - img
        south = np.roll(img, 1, axis=0) - img
        east = np.roll(img, -1, axis=1) - img
        west = np.roll(img, 1, axis=1) - img
        img = img + steps * sum(np.exp(-((d / k) ** 2)) * d for d in (north, south, east, west))
    mse = np.mean((img - g) ** 2)
    return 10 * np.log10(mse)


@case(
    "w: vector(n); S: matrix(n, n) spd; b: vector(n) positive",
    "w",
    w=R.random(4) + 0.1,
    S=np.cov(N((4, 12))) + np.eye(4) / 5,
    b=np.array([0.4, 0.3, 0.2, 0.1]),
)
def risk_budgeting(w, S, b):
    w = w / np.sum(w)
    port_vol = np.sqrt(w @ S @ w)
    mrc = S @ w / port_vol
    rc = w * mrc
    target = b * port_vol
    penalty = 0.0
    for i in range(len(w)):
        penalty += max(-w[i], 0) ** 2
    return np.sum((rc - target) ** 2) * 1e4 + 1e3 * penalty


@case(
    "w: vector(n); var: scalar; R: matrix(T, n); w0: vector(n); alpha: scalar; cost: scalar",
    "w var",
    w=R.random(3),
    var=0.2,
    R=N((8, 3)),
    w0=R.random(3),
    alpha=0.9,
    cost=0.01,
)
def cvar_with_turnover(w, var, R, w0, alpha, cost):
    T = R.shape[0]
    losses = -R.dot(w)
    excess = np.array([max(l - var, 0.0) for l in losses])
    cvar = var + excess.sum() / ((1 - alpha) * T)
    turnover = np.abs(w - w0).sum()
    mean_ret = np.mean(R, axis=0) @ w
    return cvar + cost * turnover - 0.1 * mean_ret


@case(
    "x: vector(5); k: vector(n); w: vector(n); vega: vector(n)",
    "x",
    x=np.array([0.04, 0.1, -0.3, 0.05, 0.2]),
    k=np.linspace(-0.5, 0.5, 7),
    w=R.random(7) * 0.1 + 0.02,
    vega=R.random(7),
)
def svi_calibration(x, k, w, vega):
    a, b, rho, m, sigma = x
    if b < 0 or abs(rho) >= 1 or sigma <= 0:
        return 1e10
    if a + b * sigma * np.sqrt(1 - rho**2) < 0:
        return 1e10
    total = a + b * (rho * (k - m) + np.sqrt((k - m) ** 2 + sigma**2))
    return np.sqrt(np.sum(vega * (total - w) ** 2) / np.sum(vega))


@case(
    "alpha: scalar positive; rho: scalar; nu: scalar positive; F: scalar positive; "
    "K: vector(n) positive; T: scalar positive; vol: vector(n)",
    "alpha rho nu",
    alpha=0.2,
    rho=-0.3,
    nu=0.5,
    F=1.02,
    K=np.array([0.8, 0.9, 1.02, 1.1, 1.25]),
    T=1.5,
    vol=R.random(5) * 0.1 + 0.2,
)
def sabr_lognormal(alpha, rho, nu, F, K, T, vol):
    err = 0.0
    corr = 1 + (rho * nu * alpha / 4 + (2 - 3 * rho**2) / 24 * nu**2) * T
    for i in range(len(K)):
        if np.abs(F - K[i]) < 1e-8:
            iv = alpha * corr
        else:
            z = nu / alpha * np.log(F / K[i])
            x = np.log((np.sqrt(1 - 2 * rho * z + z**2) + z - rho) / (1 - rho))
            iv = alpha * z / x * corr
        err += (iv - vol[i]) ** 2
    return err


@case(
    "logits: matrix(T, v); y: index(l)",
    "logits",
    logits=N((6, 4)),
    y=np.array([1, 0, 2]),
)
def ctc_forward(logits, y):
    T, V = logits.shape
    logp = logits - logsumexp(logits, axis=1, keepdims=True)
    blank = V - 1
    L = len(y)
    a_label = np.full(L, -1e30)
    a_blank = np.full(L + 1, -1e30)
    a_blank[0] = logp[0, blank]
    a_label[0] = logp[0, y[0]]
    for t in range(1, T):
        prev_label, prev_blank = a_label.copy(), a_blank.copy()
        for s in range(L):
            cand = np.logaddexp(prev_label[s], prev_blank[s])
            if s > 0 and y[s] != y[s - 1]:
                cand = np.logaddexp(cand, prev_label[s - 1])
            a_label[s] = cand + logp[t, y[s]]
        a_blank[0] = prev_blank[0] + logp[t, blank]
        for s in range(1, L + 1):
            a_blank[s] = np.logaddexp(prev_blank[s], prev_label[s - 1]) + logp[t, blank]
    return -np.logaddexp(a_label[-1], a_blank[-1])


@case("a: vector(p); x: vector(n); g: scalar", "a g", a=N(3) / 3, x=N(10), g=0.3)
def linear_prediction(a, x, g):
    n, p = len(x), len(a)
    err = np.zeros(n)
    for t in range(n):
        past = x[max(0, t - p) : t][::-1]
        err[t] = x[t] - a[: len(past)] @ past
    return np.sum(err**2) / (2 * np.exp(2 * g)) + n * g


@case(
    "beta: matrix(n, c); theta: vector(c); lam: vector(c); X: matrix(T, c); y: vector(T); b0: scalar",
    "theta lam b0",
    beta=np.ones((2, 2)),
    theta=np.array([0.4, 0.6]),
    lam=np.array([0.8, 1.1]),
    X=R.random((8, 2)) + 0.1,
    y=R.random(8),
    b0=0.1,
)
def marketing_mix(beta, theta, lam, X, y, b0):
    T, C = X.shape
    adstocked = np.zeros((T, C))
    for c in range(C):
        adstocked[0, c] = X[0, c]
        for t in range(1, T):
            adstocked[t, c] = X[t, c] + theta[c] * adstocked[t - 1, c]
    saturated = adstocked**lam / (adstocked**lam + 0.5**lam)
    pred = b0 + saturated @ beta.mean(axis=0)
    return np.mean((y - pred) ** 2)


@case(
    "p: vector(3); spend: vector(T); sales: vector(T)",
    "p",
    p=np.array([0.5, 1.3, 0.2]),
    spend=R.random(9),
    sales=R.random(9),
)
def geometric_adstock_window(p, spend, sales, L=3):
    decay, scale, base = p
    T = len(spend)
    effect = np.zeros(T)
    for t in range(T):
        window = spend[max(0, t - L) : t + 1]
        weights = decay ** np.arange(len(window))[::-1]
        effect[t] = np.sum(weights * window)
    return np.sum((sales - base - scale * np.tanh(effect)) ** 2)
