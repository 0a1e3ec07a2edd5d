"""Twenty losses of as many fields, as public projects write them."""

# ruff: noqa: B007, B905, E741, N803, N806, SIM108

import numpy as np
from expressions.public_loss import PublicLosses
from scipy.special import expit, gammaln, logsumexp
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


@case(
    "b: vector(3); kappa: scalar positive; La: matrix(s, 4); Lb: matrix(s, 4); pi: vector(4)",
    "b kappa",
    b=np.array([0.1, 0.3, 0.2]),
    kappa=2.0,
    La=np.eye(4)[[0, 1, 2, 3, 0]] + 0.01,
    Lb=np.eye(4)[[0, 1, 1, 3, 2]] + 0.01,
    pi=np.array([0.3, 0.2, 0.2, 0.3]),
)
def felsenstein_pruning(b, kappa, La, Lb, pi):
    Q = np.zeros((4, 4))
    for i in range(4):
        for j in range(4):
            if i == j:
                continue
            Q[i, j] = pi[j] * (kappa if abs(i - j) == 2 else 1.0)
    for i in range(4):
        Q[i, i] = -np.sum(Q[i])
    Q = Q / -np.sum(pi * np.diag(Q))
    from scipy.linalg import expm

    Pa, Pb = expm(Q * b[0]), expm(Q * b[1])
    L = (La @ Pa.T) * (Lb @ Pb.T)
    return -np.sum(np.log(L @ pi))


@case(
    "theta: vector(n); delta: vector(j); tau: vector(k); X: matrix(n, j)",
    "theta delta tau",
    theta=N(4),
    delta=N(3),
    tau=np.array([-0.7, 0.2, 0.5]),
    X=R.integers(0, 4, (4, 3)).astype(float),
)
def rating_scale(theta, delta, tau, X):
    K = len(tau)
    ll = 0.0
    for i in range(len(theta)):
        for j in range(len(delta)):
            num = np.zeros(K + 1)
            num[1:] = np.cumsum(theta[i] - delta[j] - tau)
            logZ = logsumexp(num)
            ll += np.sum((np.arange(K + 1) == X[i, j]) * num) - logZ
    return -ll


@case(
    "alpha: vector(c); ec: vector(c); slope: vector(c); beta: vector(c); spend: matrix(T, c); y: vector(T); L: scalar",
    "alpha ec slope beta",
    alpha=np.array([0.3, 0.6]),
    ec=np.array([0.5, 0.8]),
    slope=np.array([1.2, 2.0]),
    beta=np.array([1.0, 0.5]),
    spend=R.random((7, 2)),
    y=R.random(7),
    L=2.0,
)
def delayed_adstock(alpha, ec, slope, beta, spend, y, L):
    T, C = spend.shape
    max_lag = 4
    mu = np.zeros(T)
    for c in range(C):
        w = alpha[c] ** ((np.arange(max_lag) - L) ** 2)
        w = w / w.sum()
        carry = np.convolve(spend[:, c], w)[:T]
        mu += beta[c] * carry ** slope[c] / (ec[c] ** slope[c] + carry ** slope[c])
    return np.mean((y - mu) ** 2)


@case(
    "b0: scalar; amp: scalar; gam: scalar; rep: scalar; cases: vector(n); N: scalar; I0: scalar",
    "b0 amp gam rep",
    b0=0.6,
    amp=0.2,
    gam=0.3,
    rep=0.5,
    cases=R.poisson(6.0, 9).astype(float),
    N=300.0,
    I0=6.0,
)
def seasonal_sir(b0, amp, gam, rep, cases, N, I0):
    if not (0 < rep <= 1) or b0 <= 0 or gam <= 0:
        return 1e12
    S, I = N - I0, I0
    disp = 4.0
    nll = 0.0
    for t in range(len(cases)):
        beta = b0 * (1 + amp * np.cos(2 * np.pi * t / 52))
        new = S * (1 - np.exp(-beta * I / N))
        S, I = S - new, I + new - gam * I
        mu = rep * new
        p = disp / (disp + mu)
        nll -= gammaln(cases[t] + disp) - gammaln(disp) - gammaln(cases[t] + 1)
        nll -= disp * np.log(p) + cases[t] * np.log(1 - p)
    return nll


@case(
    "L: vector(2) positive; x: vector(n); P: vector(n); A: matrix(2, 3); T: scalar positive",
    "L",
    L=np.array([0.4, 0.7]),
    x=np.array([0.1, 0.3, 0.5, 0.8]),
    P=np.array([5.1, 6.3, 7.0, 7.4]),
    A=np.array([[4.2, 1200.0, 220.0], [4.0, 1400.0, 230.0]]),
    T=330.0,
)
def wilson_vle(L, x, P, A, T):
    L12, L21 = L
    if L12 <= 0 or L21 <= 0:
        raise ValueError("Wilson parameters must be positive")
    x1, x2 = x, 1 - x
    c = L12 / (x1 + L12 * x2) - L21 / (L21 * x1 + x2)
    g1 = np.exp(-np.log(x1 + L12 * x2) + x2 * c)
    g2 = np.exp(-np.log(L21 * x1 + x2) - x1 * c)
    Psat = 10 ** (A[:, 0] - A[:, 1] / (A[:, 2] + T)) * 10
    return np.sum(((x1 * g1 * Psat[0] + x2 * g2 * Psat[1] - P) / P) ** 2)


@case(
    "mu0: vector(n); sd0: scalar positive; beta: scalar positive; win: index(m); los: index(m)",
    "mu0 sd0 beta",
    mu0=N(4),
    sd0=1.1,
    beta=0.8,
    win=np.array([0, 2, 1, 3, 0]),
    los=np.array([1, 0, 3, 2, 2]),
)
def skill_updates(mu0, sd0, beta, win, los):
    mu = mu0.copy()
    var = np.full(len(mu0), sd0**2)
    ll = 0.0
    for g in range(len(win)):
        w, l = win[g], los[g]
        c = np.sqrt(2 * beta**2 + var[w] + var[l])
        t = (mu[w] - mu[l]) / c
        ll += norm.logcdf(t)
        v = np.exp(norm.logpdf(t) - norm.logcdf(t))
        mu[w] += var[w] / c * v
        mu[l] -= var[l] / c * v
    return -ll


@case(
    "p: vector(7); img: matrix(h, w)",
    "p",
    p=np.array([2.1, 1.8, 3.0, 1.2, 1.4, 0.3, 0.1]),
    img=R.random((5, 4)),
)
def sersic_profile(p, img):
    x0, y0, amp, reff, n, ell, bg = p
    if reff <= 0 or n <= 0.2 or ell < 0 or ell >= 1:
        return np.inf
    h, w = img.shape
    yy, xx = np.mgrid[:h, :w]
    q = 1 - ell
    r = np.sqrt((xx - x0) ** 2 + ((yy - y0) / q) ** 2)
    bn = 2 * n - 1 / 3 + 4 / (405 * n)
    model = amp * np.exp(-bn * ((r / reff) ** (1 / n) - 1)) + bg
    return np.sum((img - model) ** 2)
