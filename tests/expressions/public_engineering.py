"""Losses of engineering, surveys, networks and populations, as public projects write them."""

# ruff: noqa: B007, B905, E731, E741, N803, N806, SIM108, E501

import numpy as np
from expressions.public_loss import PublicLosses
from scipy.special import erf, expit, gammaln, softmax

LOSSES = PublicLosses()
case = LOSSES.case
R = np.random.default_rng(77)
N = R.standard_normal


@case(
    "theta: vector(n); V: vector(n); G: matrix(n, n); B: matrix(n, n); P: vector(n); Q: vector(n)",
    "theta V",
    theta=N(4) / 5,
    V=1 + N(4) / 10,
    G=N((4, 4)),
    B=N((4, 4)),
    P=N(4),
    Q=N(4),
)
def power_flow_mismatch(theta, V, G, B, P, Q):
    d = theta[:, None] - theta[None, :]
    VV = np.outer(V, V)
    Pc = (VV * (G * np.cos(d) + B * np.sin(d))).sum(axis=1)
    Qc = (VV * (G * np.sin(d) - B * np.cos(d))).sum(axis=1)
    return np.sum((Pc - P)[1:] ** 2) + np.sum((Qc - Q)[1:] ** 2)


@case(
    "h: vector(p); A: matrix(l, p); t0: vector(l) positive; cap: vector(l) positive",
    "h",
    h=R.random(5) * 3,
    A=(R.random((6, 5)) < 0.5).astype(float),
    t0=R.random(6) + 0.5,
    cap=R.random(6) * 2 + 1,
)
def beckmann(h, A, t0, cap):
    alpha, beta = 0.15, 4
    x = A @ h
    return np.sum(t0 * (x + alpha * cap / (beta + 1) * (x / cap) ** (beta + 1)))


@case(
    "k: vector(3) positive; rain: vector(T); q: vector(T); s0: scalar",
    "k s0",
    k=np.array([0.3, 0.1, 0.2]),
    rain=R.random(10) * 4,
    q=R.random(10) * 2 + 0.5,
    s0=2.0,
)
def two_reservoirs(k, rain, q, s0):
    s1, s2 = s0, s0 / 2
    err = 0.0
    for t in range(len(rain)):
        perc = k[2] * s1
        q1 = k[0] * s1
        q2 = k[1] * s2
        s1 = s1 + rain[t] - perc - q1
        s2 = s2 + perc - q2
        err += (q1 + q2 - q[t]) ** 2
    nse = 1 - err / np.sum((q - q.mean()) ** 2)
    return -nse


@case(
    "p: vector(4); x: vector(n); y: vector(n)",
    "p",
    p=np.array([1.2, 0.1, 0.8, 0.4]),
    x=np.linspace(-2, 2, 9),
    y=R.random(9),
)
def pseudo_voigt(p, x, y):
    amp, mu, w, eta = p
    sigma = w / np.sqrt(2 * np.log(2))
    gauss = np.exp(-((x - mu) ** 2) / (2 * sigma**2))
    lorentz = w**2 / ((x - mu) ** 2 + w**2)
    model = amp * (eta * lorentz + (1 - eta) * gauss)
    return 0.5 * np.sum((y - model) ** 2)


@case(
    "u: vector(2*n); X: matrix(n, 2); i: index(e); j: index(e); EA: vector(e) positive; f: vector(2*n)",
    "u",
    u=N(10) / 10,
    X=N((5, 2)) * 2,
    i=np.array([0, 1, 2, 3, 0, 1]),
    j=np.array([1, 2, 3, 4, 2, 3]),
    EA=R.random(6) + 1,
    f=N(10),
)
def truss_energy(u, X, i, j, EA, f):
    U = u.reshape(-1, 2)
    L0 = np.linalg.norm(X[j] - X[i], axis=1)
    x = X + U
    L = np.linalg.norm(x[j] - x[i], axis=1)
    strain = (L - L0) / L0
    return np.sum(0.5 * EA * L0 * strain**2) - f @ u


@case(
    "D: vector(6); S0: scalar positive; b: vector(n); g: matrix(n, 3); S: vector(n)",
    "D S0",
    D=np.array([1.0, 0.2, 0.1, 0.8, 0.1, 0.6]),
    S0=2.0,
    b=R.random(8),
    g=(lambda v: v / np.linalg.norm(v, axis=1)[:, None])(N((8, 3))),
    S=R.random(8) + 0.5,
)
def diffusion_tensor(D, S0, b, g, S):
    T = np.array([[D[0], D[1], D[2]], [D[1], D[3], D[4]], [D[2], D[4], D[5]]])
    pred = S0 * np.exp(-b * np.einsum("ni,ij,nj->n", g, T, g))
    return np.mean((pred - S) ** 2)


@case(
    "T1: scalar positive; M0: scalar; inv_eff: scalar; TI: vector(n); signal: vector(n)",
    "T1 M0 inv_eff",
    T1=1.1,
    M0=2.0,
    inv_eff=0.9,
    TI=np.array([0.1, 0.3, 0.6, 1.0, 2.0, 3.0]),
    signal=N(6),
)
def inversion_recovery(T1, M0, inv_eff, TI, signal):
    model = np.abs(M0 * (1 - 2 * inv_eff * np.exp(-TI / T1)))
    resid = signal - model
    return np.dot(resid, resid) / len(TI)


@case(
    "V: matrix(n, 3); F: index(f); i: index(f); j: index(f); w: scalar",
    "V",
    V=N((6, 3)),
    F=np.array([0, 1, 2, 3]),
    i=np.array([1, 2, 3, 4]),
    j=np.array([2, 3, 4, 5]),
    w=0.3,
)
def mesh_area(V, F, i, j, w):
    a, b, c = V[F], V[i], V[j]
    n = np.cross(b - a, c - a)
    area = 0.5 * np.sqrt(np.sum(n**2, axis=1))
    centre = V.mean(axis=0)
    return np.sum(area) + w * np.sum((V - centre) ** 2)


@case(
    "x: matrix(n, 3); rest: vector(n - 1) positive; k: scalar positive; g: scalar",
    "x",
    x=N((6, 3)) * 2,
    rest=np.ones(5),
    k=3.0,
    g=9.8,
)
def rope(x, rest, k, g):
    energy = 0.0
    n = x.shape[0]
    for i in range(n - 1):
        d = x[i + 1] - x[i]
        stretch = np.linalg.norm(d) - rest[i]
        energy += 0.5 * k * stretch * stretch
    for i in range(n):
        energy += g * x[i, 2]
    return energy


@case(
    "A: matrix(n, n); Z: matrix(n, d); alpha: scalar",
    "Z alpha",
    A=(lambda a: np.triu(a, 1) + np.triu(a, 1).T)((R.random((6, 6)) < 0.5).astype(float)),
    Z=N((6, 2)),
    alpha=0.5,
)
def latent_space_network(A, Z, alpha):
    n = A.shape[0]
    dist = np.sqrt(((Z[:, None, :] - Z[None, :, :]) ** 2).sum(-1) + 1e-9)
    eta = alpha - dist
    ll = A * eta - np.logaddexp(0, eta)
    return -np.sum(ll[np.triu_indices(n, k=1)])


@case(
    "logits: matrix(n, k); W: matrix(k, k); A: matrix(n, n)",
    "logits W",
    logits=N((6, 3)),
    W=N((3, 3)),
    A=(R.random((6, 6)) < 0.4).astype(float),
)
def block_model_elbo(logits, W, A):
    q = softmax(logits, axis=1)
    P = expit((W + W.T) / 2)
    logp, log1p = np.log(P), np.log(1 - P)
    M = 1 - np.eye(A.shape[0])
    fit = np.sum((q.T @ (A * M) @ q) * logp) + np.sum((q.T @ ((1 - A) * M) @ q) * log1p)
    entropy = -np.sum(q * np.log(q + 1e-12))
    return -(fit + entropy)


@case(
    "params: vector(4); correct: vector(T)",
    "params",
    params=np.array([0.2, -1.0, -1.5, -2.0]),
    correct=(R.random(8) < 0.6).astype(float),
)
def knowledge_tracing(params, correct):
    p_init, p_learn, p_guess, p_slip = expit(params)
    L = p_init
    nll = 0.0
    for c in correct:
        p_c = L * (1 - p_slip) + (1 - L) * p_guess
        nll -= c * np.log(p_c) + (1 - c) * np.log(1 - p_c)
        post_right = L * (1 - p_slip) / p_c
        post_wrong = L * p_slip / (1 - p_c)
        post = np.where(c == 1, post_right, post_wrong)
        L = post + (1 - post) * p_learn
    return nll


@case(
    "theta: vector(3); K: vector(n) positive; L: vector(n) positive; y: vector(n)",
    "theta",
    theta=np.array([0.3, 0.4, 0.6]),
    K=R.random(7) + 1,
    L=R.random(7) + 1,
    y=N(7),
)
def ces_production(theta, K, L, y):
    log_a, delta, rho = theta
    if abs(rho) < 1e-6:
        f = log_a + delta * np.log(K) + (1 - delta) * np.log(L)
    else:
        f = log_a - np.log(delta * K ** (-rho) + (1 - delta) * L ** (-rho)) / rho
    return np.sum((y - f) ** 2)


@case(
    "alpha: vector(a); gamma: vector(d); C: matrix(a, d)",
    "alpha gamma",
    alpha=N(5) + 3,
    gamma=N(4) / 2,
    C=R.poisson(20, (5, 4)).astype(float),
)
def chain_ladder(alpha, gamma, C):
    n_a, n_d = C.shape
    ll = 0.0
    for i in range(n_a):
        for j in range(n_d):
            if i + j < n_a:
                eta = alpha[i] + gamma[j]
                ll += C[i, j] * eta - np.exp(eta)
    return -ll


@case(
    "a: vector(x); b: vector(x); k: vector(t); D: matrix(x, t); E: matrix(x, t) positive",
    "a b k",
    a=N(4) - 3,
    b=R.random(4),
    k=N(5),
    D=R.poisson(5, (4, 5)).astype(float),
    E=R.random((4, 5)) * 50 + 50,
)
def lee_carter(a, b, k, D, E):
    b = b / b.sum()
    k = k - k.mean()
    mu = np.exp(a[:, None] + np.outer(b, k))
    dev = D * np.log(np.maximum(D, 1e-10) / (E * mu)) - (D - E * mu)
    return 2 * dev.sum()


@case(
    "pos: matrix(n, 3); hkl: matrix(r, 3); Fobs: vector(r); f: vector(n); B: scalar",
    "pos B",
    pos=R.random((4, 3)),
    hkl=R.integers(-2, 3, (6, 3)).astype(float),
    Fobs=R.random(6) * 3,
    f=R.random(4) + 1,
    B=0.2,
)
def structure_factors(pos, hkl, Fobs, f, B):
    phase = 2 * np.pi * hkl @ pos.T
    dw = np.exp(-B * np.sum(hkl**2, axis=1) / 4)
    Fc = np.sqrt((dw * (np.cos(phase) @ f)) ** 2 + (dw * (np.sin(phase) @ f)) ** 2 + 1e-12)
    scale = (Fobs @ Fc) / (Fc @ Fc)
    return np.sum((Fobs - scale * Fc) ** 2) / np.sum(Fobs**2)


@case(
    "lens: vector(3); beta: matrix(s, 2); theta: matrix(n, 2); src: index(n); sig: scalar positive",
    "lens beta",
    lens=np.array([1.1, 0.1, -0.2]),
    beta=N((2, 2)) / 3,
    theta=N((6, 2)),
    src=np.array([0, 0, 0, 1, 1, 1]),
    sig=0.1,
)
def lens_source_plane(lens, beta, theta, src, sig):
    b, x0, y0 = lens
    dx = theta[:, 0] - x0
    dy = theta[:, 1] - y0
    r = np.hypot(dx, dy)
    ax, ay = b * dx / r, b * dy / r
    res_x = theta[:, 0] - ax - beta[src, 0]
    res_y = theta[:, 1] - ay - beta[src, 1]
    return 0.5 * np.sum(res_x**2 + res_y**2) / sig**2


@case(
    "r: scalar positive; K: scalar positive; q: scalar positive; B0: scalar positive; catch: vector(T); index: vector(T) positive",
    "r K q B0",
    r=0.3,
    K=50.0,
    q=0.02,
    B0=40.0,
    catch=R.random(8) * 3,
    index=R.random(8) + 0.5,
)
def surplus_production(r, K, q, B0, catch, index):
    B = np.zeros(len(catch))
    B[0] = B0
    for t in range(1, len(catch)):
        B[t] = np.maximum(B[t - 1] + r * B[t - 1] * (1 - B[t - 1] / K) - catch[t - 1], 1e-3)
    resid = np.log(index) - np.log(q * B)
    s2 = np.mean(resid**2)
    return 0.5 * len(catch) * np.log(s2)


@case(
    "m: scalar; w: scalar positive; lam: scalar; gam: scalar; x: vector(n); k: vector(n); n_trials: vector(n)",
    "m w lam gam",
    m=0.2,
    w=0.7,
    lam=0.03,
    gam=0.1,
    x=np.linspace(-2, 2, 6),
    k=np.array([1.0, 2, 5, 6, 9, 10]),
    n_trials=np.full(6, 10.0),
)
def psychometric(m, w, lam, gam, x, k, n_trials):
    z = (x - m) / (w * np.sqrt(2))
    p = gam + (1 - gam - lam) * 0.5 * (1 + erf(z))
    p = np.clip(p, 1e-9, 1 - 1e-9)
    ll = (
        gammaln(n_trials + 1)
        - gammaln(k + 1)
        - gammaln(n_trials - k + 1)
        + k * np.log(p)
        + (n_trials - k) * np.log1p(-p)
    )
    penalty = 0.5 * ((lam - 0.02) / 0.05) ** 2
    return -ll.sum() + penalty


@case(
    "u: vector(T); price: vector(T); soc0: scalar; eta: scalar; cap: scalar",
    "u",
    u=N(8),
    price=R.random(8),
    soc0=0.5,
    eta=0.9,
    cap=3.0,
)
def battery_dispatch(u, price, soc0, eta, cap):
    charge = np.maximum(u, 0)
    discharge = np.maximum(-u, 0)
    soc = soc0 + np.cumsum(eta * charge - discharge / eta)
    cost = np.sum(price * u)
    barrier = np.sum(np.maximum(soc - cap, 0) ** 2 + np.maximum(-soc, 0) ** 2)
    return cost + 100.0 * barrier
