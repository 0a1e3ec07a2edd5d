"""Losses of ecology and genetics, as public projects write them."""

# ruff: noqa: B007, B905, E741, N803, N806, SIM108

import numpy as np
from expressions.public_clinics import N, R
from expressions.public_loss import PublicLosses

LOSSES = PublicLosses()
case = LOSSES.case


@case(
    "r: vector(n) positive; s: scalar; hr: scalar; dist: vector(n); W: scalar positive",
    "s hr",
    r=R.random(7) + 0.5,
    s=-0.3,
    hr=0.6,
    dist=R.random(7) * 2,
    W=2.5,
)
def ricker_and_detection(r, s, hr, dist, W):
    sigma = np.exp(s)
    if sigma > 100:
        return np.inf
    g = np.exp(-(dist**2) / (2 * sigma**2))
    recruits = r * np.exp(hr * (1 - r))
    grid = np.linspace(0, W, 51)
    area = np.trapezoid(np.exp(-(grid**2) / (2 * sigma**2)), grid)
    return -np.sum(np.log(g / area)) + np.sum((np.log(recruits) - np.log(dist + 1)) ** 2)


@case(
    "psi_logit: scalar; b: vector(k); X: matrix(k, n); Y: matrix(n, j)",
    "psi_logit b",
    psi_logit=0.2,
    b=N(2) / 2,
    X=N((2, 6)),
    Y=np.array([[0, 1, 0], [0, 0, 0], [1, 1, 0], [0, 0, 0], [0, 0, 1], [1, 0, 1]]) * 1.0,
)
def occupancy(psi_logit, b, X, Y):
    n, J = Y.shape
    psi = 1 / (1 + np.exp(-psi_logit))
    p = 1 / (1 + np.exp(-(b @ X)))
    ll = 0.0
    for i in range(n):
        det = np.prod(p[i] ** Y[i] * (1 - p[i]) ** (1 - Y[i]))
        if np.sum(Y[i]) > 0:
            ll += np.log(psi * det)
        else:
            ll += np.log(psi * det + 1 - psi)
    return -ll


@case(
    "theta: vector(2); h2: scalar; y: vector(n); X: matrix(n, 2); U: matrix(n, n); S: vector(n) positive",
    "theta h2",
    theta=N(2),
    h2=0.4,
    y=N(6),
    X=N((6, 2)),
    U=np.linalg.qr(N((6, 6)))[0],
    S=R.random(6) + 0.2,
)
def mixed_model_heritability(theta, h2, y, X, U, S):
    if h2 < 0 or h2 > 1:
        return np.inf
    n = len(y)
    Uy, UX = U.T @ y, U.T @ X
    d = h2 * S + (1 - h2)
    resid = Uy - UX @ theta
    sigma2 = np.sum(resid**2 / d) / n
    return 0.5 * (n * np.log(2 * np.pi * sigma2) + np.sum(np.log(d)) + n)


@case(
    "q: vector(3); n_obs: vector(4)",
    "q",
    q=np.array([0.3, 0.2, 0.5]),
    n_obs=np.array([186.0, 38, 13, 284]),
)
def abo_blood_groups(q, n_obs):
    pA, pB, pO = q / q.sum()
    probs = np.array([pA**2 + 2 * pA * pO, pB**2 + 2 * pB * pO, 2 * pA * pB, pO**2])
    return -np.dot(n_obs, np.log(probs))
