"""Losses of many fields, as public projects write them."""

# ruff: noqa: B007, B905, E741, N803, N806, SIM108

import numpy as np
from expressions.public_loss import PublicLosses
from scipy.special import expit
from scipy.stats import norm

LOSSES = PublicLosses()
case = LOSSES.case
R = np.random.default_rng(21)
N = R.standard_normal


@case(
    "params: vector(p + 2); X: matrix(n, p); T: vector(n); E: vector(n)",
    "params",
    params=np.array([0.3, -0.2, 0.1, 0.4]),
    X=N((7, 2)),
    T=R.random(7) * 2 + 0.3,
    E=np.array([1.0, 0, 1, 1, 0, 1, 0]),
)
def log_logistic_survival(params, X, T, E):
    beta, mu, log_s = params[:-2], params[-2], params[-1]
    s = np.exp(log_s)
    if s < 1e-6 or s > 1e6:
        return np.inf
    eta = mu + X @ beta
    z = (np.log(T) - eta) / s
    observed = E == 1
    ll = np.sum(z[observed] - np.log(s * T[observed]) - 2 * np.log1p(np.exp(z[observed])))
    ll += np.sum(-np.log1p(np.exp(z[~observed])))
    return -ll


@case("scores: vector(n); rel: vector(n)", "scores", scores=N(6), rel=np.array([3.0, 0, 1, 2, 0, 1]))
def lambda_loss(scores, rel):
    n = len(scores)
    gain = 2**rel - 1
    disc = 1 / np.log2(np.arange(n) + 2)
    max_dcg = np.sum(np.sort(gain)[::-1] * disc)
    loss = 0
    for i in range(n):
        for j in range(n):
            if rel[i] <= rel[j]:
                continue
            delta = abs(gain[i] - gain[j]) * abs(disc[i] - disc[j]) / max_dcg
            s_ij = scores[i] - scores[j]
            loss += delta * np.log(1 + np.exp(-s_ij))
    return loss


@case(
    "P: matrix(m, k); Q: matrix(n, k); bu: vector(m); bi: vector(n); R: matrix(m, n); mu: scalar; lam: scalar",
    "P Q bu bi",
    P=N((4, 2)),
    Q=N((5, 2)),
    bu=N(4),
    bi=N(5),
    R=np.where(R.random((4, 5)) < 0.5, R.integers(1, 6, (4, 5)), 0).astype(float),
    mu=3.1,
    lam=0.05,
)
def biased_factorization(P, Q, bu, bi, R, mu, lam):
    pred = mu + bu[:, None] + bi[None, :] + P @ Q.T
    mask = R > 0
    err = R[mask] - pred[mask]
    n_users, n_items = R.shape
    counts = mask.sum(axis=1)
    reg = lam * (np.sum(counts * (bu**2 + np.sum(P**2, axis=1))) + np.sum(bi**2) + np.sum(Q**2))
    return np.sqrt(np.mean(err**2)) + reg / (n_users * n_items)


@case(
    "W: matrix(m, k); H: matrix(k, n); V: matrix(m, n); eps: scalar positive",
    "W H",
    W=R.random((4, 2)) + 0.1,
    H=R.random((2, 5)) + 0.1,
    V=R.poisson(2.0, (4, 5)).astype(float),
    eps=1e-9,
)
def kl_topics(W, H, V, eps):
    WH = W @ H + eps
    div = 0.0
    for i in range(V.shape[0]):
        for j in range(V.shape[1]):
            if V[i, j] > 0:
                div += V[i, j] * np.log(V[i, j] / WH[i, j]) - V[i, j] + WH[i, j]
            else:
                div += WH[i, j]
    return div


def so3_exp(w):
    theta2 = w @ w
    theta = np.sqrt(theta2)
    W = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
    if theta < 1e-6:
        return np.eye(3) + W + 0.5 * W @ W
    return np.eye(3) + np.sin(theta) / theta * W + (1 - np.cos(theta)) / theta2 * W @ W


@case(
    "xi: vector(6); X: matrix(n, 3); Y: matrix(n, 3); delta: scalar positive",
    "xi",
    xi=N(6) / 2,
    X=N((5, 3)),
    Y=N((5, 3)),
    delta=1.3,
)
def pose_alignment(xi, X, Y, delta):
    Rm, t = so3_exp(xi[:3]), xi[3:]
    cost = 0.0
    for x, y in zip(X, Y):
        e = np.linalg.norm(Rm @ x + t - y)
        if e <= delta:
            cost += 0.5 * e**2
        else:
            cost += delta * (e - 0.5 * delta)
    return cost


@case(
    "poses: matrix(T, 3); odom: matrix(T - 1, 3); gps: matrix(T, 2); ok: vector(T); sig: vector(3)",
    "poses",
    poses=N((5, 3)) / 2,
    odom=N((4, 3)) / 2,
    gps=N((5, 2)),
    ok=np.array([1.0, 0, 1, 1, 0]),
    sig=np.array([0.3, 0.3, 0.1]),
)
def fuse_odometry(poses, odom, gps, ok, sig):
    chi2 = 0.0
    for t in range(1, len(poses)):
        x0, y0, th0 = poses[t - 1]
        x1, y1, th1 = poses[t]
        dx = np.cos(th0) * (x1 - x0) + np.sin(th0) * (y1 - y0)
        dy = -np.sin(th0) * (x1 - x0) + np.cos(th0) * (y1 - y0)
        dth = np.arctan2(np.sin(th1 - th0), np.cos(th1 - th0))
        r = np.array([dx, dy, dth]) - odom[t - 1]
        chi2 += np.sum((r / sig) ** 2)
    for t in range(len(poses)):
        if ok[t]:
            d = poses[t, :2] - gps[t]
            chi2 += d @ d / (1 + d @ d)
    return chi2


@case(
    "u: matrix(m, n); f: matrix(m, n); h: scalar positive; lam: scalar", "u", u=N((5, 4)), f=N((5, 4)), h=0.6, lam=0.8
)
def nonlocal_means_energy(u, f, h, lam, r=1):
    m, n = u.shape
    E = 0.0
    for i in range(m):
        for j in range(n):
            patch = f[max(0, i - r) : i + r + 1, j]
            center = f[i, j]
            w = np.exp(-((patch - center) ** 2) / h**2)
            E += np.sum(w * (u[i, j] - patch) ** 2) / np.sum(w)
    return E + lam * np.sum((u - f) ** 2)


@case("w: vector(n); R: matrix(T, n); gamma: scalar positive", "w", w=R.random(3), R=N((8, 3)) / 10, gamma=3.0)
def power_utility_with_drawdown(w, R, gamma):
    wealth = 1.0
    peak = 1.0
    worst = 0.0
    for t in range(R.shape[0]):
        wealth = wealth * (1 + R[t] @ w)
        peak = max(peak, wealth)
        dd = (peak - wealth) / peak
        worst = max(worst, dd)
    if gamma == 1:
        u = np.log(wealth)
    else:
        u = wealth ** (1 - gamma) / (1 - gamma)
    return -u + 0.5 * worst


@case(
    "sigma: scalar; S: scalar positive; r: scalar; K: vector(n) positive; T: vector(n) positive; "
    "price: vector(n); cp: vector(n)",
    "sigma",
    sigma=0.25,
    S=1.0,
    r=0.02,
    K=np.array([0.8, 0.95, 1.0, 1.1]),
    T=np.array([0.5, 1.0, 1.5, 0.7]),
    price=np.array([0.21, 0.1, 0.12, 0.15]),
    cp=np.array([1.0, 1, -1, -1]),
)
def black_scholes_fit(sigma, S, r, K, T, price, cp):
    if sigma <= 0:
        return 1e10
    total = 0.0
    for i in range(len(K)):
        d1 = (np.log(S / K[i]) + (r + 0.5 * sigma**2) * T[i]) / (sigma * np.sqrt(T[i]))
        d2 = d1 - sigma * np.sqrt(T[i])
        if cp[i] > 0:
            model = S * norm.cdf(d1) - K[i] * np.exp(-r * T[i]) * norm.cdf(d2)
        else:
            model = K[i] * np.exp(-r * T[i]) * norm.cdf(-d2) - S * norm.cdf(-d1)
        total += ((model - price[i]) / max(price[i], 0.01)) ** 2
    return np.sqrt(total / len(K))


@case(
    "theta: vector(4); t: vector(n); y: vector(n); dose: scalar; tinf: scalar positive",
    "theta",
    theta=np.array([0.2, -0.5, 0.3, -1.0]),
    t=np.array([0.3, 0.8, 1.4, 2.2, 3.1, 4.5]),
    y=R.random(6) + 0.2,
    dose=2.0,
    tinf=1.1,
)
def infusion_with_residual_error(theta, t, y, dose, tinf):
    CL, V, a, b = np.exp(theta)
    k = CL / V
    rate = dose / tinf
    during = rate / CL * (1 - np.exp(-k * t))
    after = rate / CL * (1 - np.exp(-k * tinf)) * np.exp(-k * (t - tinf))
    pred = np.where(t <= tinf, during, after)
    sd = np.sqrt(a**2 + (b * pred) ** 2)
    return -np.sum(norm.logpdf(y, pred, sd))


@case(
    "lphi: scalar; lp: vector(k - 1); H: matrix(n, k)",
    "lphi lp",
    lphi=0.8,
    lp=N(3) / 2,
    H=np.array([[1, 0, 1, 1], [1, 1, 0, 0], [1, 0, 0, 1], [1, 1, 1, 0]]) * 1.0,
)
def mark_recapture(lphi, lp, H):
    phi = expit(lphi)
    p = expit(lp)
    n, k = H.shape
    ll = 0.0
    for i in range(n):
        alive, dead = 1.0, 0.0
        for t in range(1, k):
            dead = (dead + alive * (1 - phi)) * (1 - H[i, t])
            alive = alive * phi * (p[t - 1] if H[i, t] == 1 else 1 - p[t - 1])
        ll += np.log(alive + dead)
    return -ll


@case(
    "v: scalar; a: scalar; ndt: scalar; z: scalar; rt: vector(n); choice: vector(n)",
    "v a",
    v=0.7,
    a=1.4,
    ndt=0.2,
    z=0.5,
    rt=np.array([0.6, 0.9, 0.5, 1.3]),
    choice=np.array([1.0, 0, 1, 1]),
)
def drift_diffusion(v, a, ndt, z, rt, choice):
    if a <= 0 or ndt < 0 or z <= 0 or z >= 1:
        return np.inf
    nll = 0.0
    for i in range(len(rt)):
        t = rt[i] - ndt
        if choice[i] == 1:
            vv, zz = -v, 1 - z
        else:
            vv, zz = v, z
        tt = t / a**2
        f = 0.0
        for k in range(-3, 4):
            f += (zz + 2 * k) * np.exp(-((zz + 2 * k) ** 2) / (2 * tt))
        f = f / np.sqrt(2 * np.pi * tt**3)
        f = f * np.exp(-vv * a * zz - vv**2 * t / 2) / a**2
        nll -= np.log(np.maximum(f, 1e-12))
    return nll


@case(
    "f0: scalar positive; amps: vector(h); phase: vector(h); x: vector(n); fs: scalar positive",
    "f0 amps phase",
    f0=3.1,
    amps=R.random(3),
    phase=N(3),
    x=N(12),
    fs=40.0,
)
def harmonic_model(f0, amps, phase, x, fs):
    n = np.arange(len(x)) / fs
    y = np.zeros_like(x)
    for h in range(len(amps)):
        if (h + 1) * f0 < fs / 2:
            y += amps[h] * np.cos(2 * np.pi * (h + 1) * f0 * n + phase[h])
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(len(x)) / (len(x) - 1))
    return np.sum(window * (x - y) ** 2)
