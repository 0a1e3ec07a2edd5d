"""Losses of molecules, games and stars, as public projects write them."""

# ruff: noqa: B007, B905, E741, N803, N806, SIM108

import numpy as np
from expressions.public_loss import PublicLosses
from expressions.public_signals import N, R
from scipy.special import gammaln
from scipy.stats import norm

LOSSES = PublicLosses()
case = LOSSES.case


@case(
    "pos: matrix(n, 3); bi: index(m); bj: index(m); r0: vector(m); D: scalar; a: scalar; q: vector(n)",
    "pos D a q",
    pos=np.arange(15.0).reshape(5, 3) / 3 + N((5, 3)) / 4,
    bi=np.array([0, 1, 2, 3]),
    bj=np.array([1, 2, 3, 4]),
    r0=R.random(4) + 1,
    D=1.2,
    a=0.9,
    q=N(5),
)
def morse_and_coulomb(pos, bi, bj, r0, D, a, q):
    E = 0.0
    for b in range(len(bi)):
        i, j = bi[b], bj[b]
        r = np.linalg.norm(pos[i] - pos[j])
        E += D * (1 - np.exp(-a * (r - r0[b]))) ** 2
    n = len(q)
    for i in range(n):
        for j in range(i + 1, n):
            E += 332.06 * q[i] * q[j] / np.linalg.norm(pos[i] - pos[j])
    return E


@case(
    "pos: matrix(n, 3); box: scalar positive; rc: scalar positive; rho0: scalar",
    "pos",
    pos=R.random((5, 3)) * 4,
    box=4.0,
    rc=1.9,
    rho0=0.7,
)
def embedded_atoms(pos, box, rc, rho0):
    n = pos.shape[0]
    energy = 0.0
    for i in range(n):
        rho = 0.0
        for j in range(n):
            if i == j:
                continue
            d = pos[i] - pos[j]
            d = d - box * np.round(d / box)
            r = np.sqrt(np.sum(d**2))
            if r > rc:
                continue
            rho += (1 - r / rc) ** 3
            energy += 0.5 * np.exp(-2 * (r - 1))
        energy -= np.sqrt(rho + rho0)
    return energy


@case(
    "r0: vector(n); k: scalar; home: index(m); away: index(m); result: vector(m); adv: scalar",
    "r0 k adv",
    r0=N(4),
    k=0.3,
    home=np.array([0, 1, 2, 3, 0, 2]),
    away=np.array([1, 2, 3, 0, 2, 1]),
    result=np.array([1.0, 0, 0.5, 1, 0, 1]),
    adv=0.2,
)
def elo_replay(r0, k, home, away, result, adv):
    ratings = r0.copy()
    loss = 0.0
    for g in range(len(result)):
        h, a = home[g], away[g]
        expected = 1 / (1 + 10 ** (-(ratings[h] + adv - ratings[a]) / 4))
        loss -= result[g] * np.log(expected) + (1 - result[g]) * np.log(1 - expected)
        change = k * (result[g] - expected)
        ratings[h] += change
        ratings[a] -= change
    return loss


@case(
    "att: vector(n); dfc: vector(n); home: scalar; rho: scalar; hi: index(m); ai: index(m); x: vector(m); y: vector(m)",
    "att dfc home rho",
    att=N(4) / 3,
    dfc=N(4) / 3,
    home=0.3,
    rho=-0.1,
    hi=np.array([0, 1, 2, 3, 0]),
    ai=np.array([1, 2, 3, 0, 2]),
    x=np.array([0.0, 1, 0, 1, 3]),
    y=np.array([0.0, 0, 1, 1, 2]),
)
def dixon_coles(att, dfc, home, rho, hi, ai, x, y):
    def tau(x, y, lam, mu):
        if x == 0 and y == 0:
            return 1 - lam * mu * rho
        elif x == 0 and y == 1:
            return 1 + lam * rho
        elif x == 1 and y == 0:
            return 1 + mu * rho
        elif x == 1 and y == 1:
            return 1 - rho
        else:
            return 1.0

    ll = 0.0
    for k in range(len(x)):
        lam = np.exp(att[hi[k]] - dfc[ai[k]] + home)
        mu = np.exp(att[ai[k]] - dfc[hi[k]])
        ll += np.log(tau(x[k], y[k], lam, mu)) + x[k] * np.log(lam) - lam + y[k] * np.log(mu) - mu
        ll -= gammaln(x[k] + 1) + gammaln(y[k] + 1)
    return -ll


@case(
    "p: vector(5); t: vector(n); rv: vector(n); err: vector(n) positive; ljit: scalar",
    "p ljit",
    p=np.array([2.1, 1.4, 0.3, 0.7, 0.2]),
    t=np.linspace(0, 6, 8),
    rv=N(8),
    err=R.random(8) + 0.3,
    ljit=-1.0,
)
def radial_velocity(p, t, rv, err, ljit):
    K, period, e, omega, tp = p
    if e < 0 or e >= 1:
        return np.inf
    M = 2 * np.pi * (t - tp) / period
    E = M.copy()
    for _ in range(8):
        E = E - (E - e * np.sin(E) - M) / (1 - e * np.cos(E))
    nu = 2 * np.arctan(np.sqrt((1 + e) / (1 - e)) * np.tan(E / 2))
    model = K * (np.cos(nu + omega) + e * np.cos(omega))
    s2 = err**2 + np.exp(2 * ljit)
    return 0.5 * np.sum((rv - model) ** 2 / s2 + np.log(2 * np.pi * s2))


@case(
    "t0: scalar; dur: scalar positive; ing: scalar positive; depth: scalar; t: vector(n); "
    "flux: vector(n); sig: scalar positive",
    "t0 dur ing depth sig",
    t0=0.1,
    dur=1.3,
    ing=0.3,
    depth=0.02,
    t=np.linspace(-1.5, 1.6, 12),
    flux=1 + N(12) / 100,
    sig=0.01,
)
def trapezoid_transit(t0, dur, ing, depth, t, flux, sig):
    model = np.ones(len(t))
    for i in range(len(t)):
        x = abs(t[i] - t0)
        if x < dur / 2 - ing:
            model[i] = 1 - depth
        elif x < dur / 2:
            model[i] = 1 - depth * (dur / 2 - x) / ing
    return -np.sum(norm.logpdf(flux, loc=model, scale=sig))
