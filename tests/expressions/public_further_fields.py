"""Losses of inheritance, ratings, epidemics, mixtures and galaxies, as public projects write them."""

# ruff: noqa: B007, B905, E741, N803, N806, SIM108

import numpy as np
from expressions.public_fields import N, R
from expressions.public_loss import PublicLosses
from scipy.special import gammaln, logsumexp
from scipy.stats import norm

LOSSES = PublicLosses()
case = LOSSES.case


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
