"""Losses of medicine, ranking, topics and behaviour, as public projects write them."""

# ruff: noqa: B007, B905, E741, N803, N806, SIM108

import numpy as np
from expressions.public_loss import PublicLosses
from scipy.special import digamma, expit, gammaln, logsumexp, softmax

LOSSES = PublicLosses()
case = LOSSES.case
R = np.random.default_rng(11)
N = R.standard_normal

times = R.random(9) * 3 + 0.2
events = (R.random(9) < 0.7).astype(float)
X93 = N((9, 3))


@case(
    "beta: vector(p); X: matrix(n, p); time: vector(n); event: vector(n)",
    "beta",
    beta=N(3) / 2,
    X=X93,
    time=times,
    event=events,
)
def cox_breslow(beta, X, time, event):
    n = X.shape[0]
    eta = X @ beta
    ll = 0.0
    for i in range(n):
        if event[i] == 1:
            at_risk = time >= time[i]
            ll += eta[i] - np.log(np.sum(np.exp(eta[at_risk])))
    return -ll / n


@case(
    "params: vector(p + 1); X: matrix(n, p); T: vector(n) positive; E: vector(n)",
    "params",
    params=np.array([0.3, -0.2, 0.5, 1.2]),
    X=X93,
    T=times,
    E=events,
)
def weibull_aft(params, X, T, E):
    beta, rho = params[:-1], params[-1]
    if rho <= 0:
        return np.inf
    log_scale = X @ beta
    z = rho * (np.log(T) - log_scale)
    ll = np.zeros(len(T))
    for i in range(len(T)):
        if E[i] > 0:
            ll[i] = np.log(rho) - np.log(T[i]) + z[i] - np.exp(z[i])
        else:
            ll[i] = -np.exp(z[i])
    return -np.sum(ll)


@case("scores: vector(n); y: index(n)", "scores", scores=N(6), y=np.array([2, 0, 1, 2, 0, 1]))
def ranknet(scores, y):
    n = len(scores)
    loss, count = 0.0, 0
    for i in range(n):
        for j in range(n):
            if y[i] > y[j]:
                loss += np.log1p(np.exp(-(scores[i] - scores[j])))
                count += 1
    return loss / count


@case("s: vector(n); rel: vector(n)", "s", s=N(6), rel=np.array([2.0, 0, 1, 3, 0, 1]))
def approx_ndcg(s, rel):
    alpha = 5.0
    diff = s[:, None] - s[None, :]
    ranks = 1 + expit(-alpha * diff).sum(axis=1) - 0.5
    gains = 2.0**rel - 1
    ideal = np.sort(gains)[::-1]
    idcg = np.sum(ideal / np.log2(np.arange(2, len(rel) + 2)))
    return 1 - np.sum(gains / np.log2(1 + ranks)) / idcg


@case(
    "P: matrix(u, k); Q: matrix(v, k); b: vector(v); users: index(m); pos: index(m); neg: index(m); reg: scalar",
    "P Q b",
    P=N((4, 2)),
    Q=N((5, 2)),
    b=N(5),
    users=np.array([0, 1, 1, 3, 2, 0]),
    pos=np.array([1, 0, 4, 2, 2, 3]),
    neg=np.array([2, 3, 0, 1, 4, 0]),
    reg=0.1,
)
def bpr(P, Q, b, users, pos, neg, reg):
    loss = 0
    for u, i, j in zip(users, pos, neg):
        x_uij = b[i] - b[j] + np.dot(P[u], Q[i] - Q[j])
        loss -= np.log(1 / (1 + np.exp(-x_uij)))
        loss += reg * (np.sum(P[u] ** 2) + np.sum(Q[i] ** 2) + np.sum(Q[j] ** 2))
    return loss


@case(
    "w0: scalar; w: vector(n); V: matrix(n, k); X: matrix(m, n); y: vector(m)",
    "w0 w V",
    w0=0.3,
    w=N(4),
    V=N((4, 2)) / 2,
    X=N((7, 4)),
    y=np.sign(N(7)),
)
def factorization_machine(w0, w, V, X, y):
    linear = w0 + X.dot(w)
    pair = 0.5 * np.sum(np.power(np.dot(X, V), 2) - np.dot(np.power(X, 2), np.power(V, 2)), axis=1)
    margin = y * (linear + pair)
    loss = np.where(margin > 0, np.log1p(np.exp(-np.abs(margin))), -margin + np.log1p(np.exp(-np.abs(margin))))
    return loss.mean() + 0.01 * (np.square(w).sum() + np.square(V).sum())


@case(
    "gamma: matrix(d, k) positive; lam: matrix(k, v) positive; C: matrix(d, v); "
    "alpha: scalar positive; eta: scalar positive",
    "gamma lam alpha",
    gamma=R.random((3, 2)) + 0.5,
    lam=R.random((2, 5)) + 0.5,
    C=R.poisson(2.0, (3, 5)).astype(float),
    alpha=0.7,
    eta=0.4,
)
def lda_bound(gamma, lam, C, alpha, eta):
    D, K = gamma.shape
    V = lam.shape[1]
    Elogtheta = digamma(gamma) - digamma(np.sum(gamma, axis=1))[:, np.newaxis]
    Elogbeta = digamma(lam) - digamma(np.sum(lam, axis=1))[:, np.newaxis]
    score = 0.0
    for d in range(D):
        phinorm = logsumexp(Elogtheta[d, :, np.newaxis] + Elogbeta, axis=0)
        score += np.sum(C[d] * phinorm)
    score += np.sum((alpha - gamma) * Elogtheta)
    score += np.sum(gammaln(gamma) - gammaln(alpha))
    score += np.sum(gammaln(alpha * K) - gammaln(np.sum(gamma, axis=1)))
    score += np.sum((eta - lam) * Elogbeta)
    score += np.sum(gammaln(lam) - gammaln(eta))
    score += np.sum(gammaln(eta * V) - gammaln(np.sum(lam, axis=1)))
    return score


@case(
    "theta: matrix(d, k); phi: matrix(k, v); mu: matrix(d, k); docs: index(m); words: index(m); counts: vector(m)",
    "theta phi",
    theta=N((3, 2)),
    phi=N((2, 4)),
    mu=N((3, 2)),
    docs=np.array([0, 0, 1, 2, 2]),
    words=np.array([1, 3, 0, 2, 3]),
    counts=np.array([2.0, 1, 3, 1, 1]),
)
def structural_topics(theta, phi, mu, docs, words, counts):
    t = np.exp(theta - theta.max(axis=1, keepdims=True))
    t /= t.sum(axis=1, keepdims=True)
    b = softmax(phi, axis=1)
    p = np.array([t[d] @ b[:, w] for d, w in zip(docs, words)])
    prior = 0.5 * ((theta - mu) ** 2).sum()
    return -(counts * np.log(p + 1e-12)).sum() + prior


@case(
    "p: vector(3); t: vector(n) positive; y: vector(n); doses: vector(m); td: vector(m)",
    "p",
    p=np.array([0.1, -0.9, 1.2]),
    t=np.linspace(0.4, 6.1, 8),
    y=R.random(8),
    doses=np.array([1.0, 0.5, 0.7]),
    td=np.array([0.0, 2.0, 4.0]),
)
def oral_doses(p, t, y, doses, td):
    ka, ke, V = np.exp(p)
    conc = np.zeros_like(t)
    for i in range(len(t)):
        for j in range(len(doses)):
            if t[i] > td[j]:
                dt = t[i] - td[j]
                conc[i] += doses[j] * ka / (V * (ka - ke)) * (np.exp(-ke * dt) - np.exp(-ka * dt))
    res = y - conc
    return np.sum(res**2)


@case(
    "theta: vector(4) positive; C0: scalar positive; obs: vector(n); dt: scalar positive",
    "theta C0",
    theta=np.array([1.3, 0.8, 0.4, 0.3]),
    C0=2.0,
    obs=R.random(7) + 0.3,
    dt=0.1,
)
def michaelis_menten_elimination(theta, C0, obs, dt):
    Vmax, Km, k12, sigma = theta
    if sigma <= 0 or Km <= 0:
        return 1e10
    C, P = C0, 0.0
    nll = 0.0
    for k in range(len(obs)):
        dC = -Vmax * C / (Km + C) - k12 * C + 0.5 * k12 * P
        dP = k12 * C - 0.5 * k12 * P
        C = C + dt * dC
        P = P + dt * dP
        nll += 0.5 * ((obs[k] - C) / (sigma * C)) ** 2 + np.log(sigma * C)
    return nll


@case(
    "theta: vector(n); a: vector(j); b: vector(j); c: vector(j); U: matrix(n, j)",
    "theta a b c",
    theta=N(5),
    a=R.random(4) + 0.5,
    b=N(4),
    c=R.random(4) * 0.3,
    U=(R.random((5, 4)) < 0.6).astype(float),
)
def three_parameter_logistic(theta, a, b, c, U):
    ll = 0
    for i in range(len(theta)):
        for j in range(len(a)):
            P = c[j] + (1 - c[j]) / (1 + np.exp(-1.7 * a[j] * (theta[i] - b[j])))
            ll += U[i, j] * np.log(P) + (1 - U[i, j]) * np.log(1 - P)
    lp = -0.5 * np.sum(theta**2)
    return -(ll + lp)


@case(
    "theta: vector(n); a: scalar positive; b: vector(k); x: index(n)",
    "theta a b",
    theta=N(5),
    a=1.1,
    b=np.array([-0.8, 0.1, 0.9]),
    x=np.array([0, 3, 1, 2, 2]),
)
def graded_response(theta, a, b, x):
    n, K = len(theta), len(b)
    Pstar = np.ones((n, K + 2))
    Pstar[:, -1] = 0
    for k in range(K):
        Pstar[:, k + 1] = expit(a * (theta - b[k]))
    P = Pstar[:, :-1] - Pstar[:, 1:]
    return -np.sum(np.log(P[np.arange(n), x])) + 0.5 * np.sum(theta**2)


@case(
    "p: vector(3); I0: scalar; cases: vector(n); N: scalar positive",
    "p I0",
    p=np.array([0.1, -1.1, -1.5]),
    I0=5.0,
    cases=R.poisson(8.0, 8).astype(float),
    N=500.0,
)
def seir_poisson(p, I0, cases, N):
    beta, sigma, gamma = np.exp(p)
    S, E, I, Rr = N - I0, 0.0, I0, 0.0
    incidence = []
    for day in range(len(cases)):
        new_exposed = beta * S * I / N
        new_infectious = sigma * E
        recovered = gamma * I
        S -= new_exposed
        E += new_exposed - new_infectious
        I += new_infectious - recovered
        Rr += recovered
        incidence.append(new_exposed)
    mu = np.array(incidence)
    return np.sum(mu - cases * np.log(mu) + gammaln(cases + 1))


@case(
    "logR: vector(n); I: vector(n); w: vector(s); tau: scalar",
    "logR w",
    logR=N(9) / 3,
    I=R.poisson(9.0, 9) + 1.0,
    w=np.array([0.2, 0.5, 0.3]),
    tau=0.2,
)
def renewal(logR, I, w, tau):
    n, S = len(I), len(w)
    nll = 0.0
    for t in range(1, n):
        lam = 0.0
        for s in range(1, min(t, S) + 1):
            lam += I[t - s] * w[s - 1]
        mu = np.exp(logR[t]) * lam
        nll += mu - I[t] * np.log(mu)
        nll += 0.5 * ((logR[t] - logR[t - 1]) / tau) ** 2
    return nll


@case(
    "alpha: scalar; beta: scalar; Q0: vector(k); choices: index(n); rewards: vector(n)",
    "alpha beta Q0",
    alpha=0.3,
    beta=1.7,
    Q0=N(3) / 3,
    choices=np.array([0, 2, 1, 1, 0, 2, 0]),
    rewards=np.array([1.0, 0, 0, 1, 1, 0, 1]),
)
def rescorla_wagner(alpha, beta, Q0, choices, rewards):
    Q = Q0.copy()
    nll = 0
    for t in range(len(choices)):
        p = np.exp(beta * Q) / np.sum(np.exp(beta * Q))
        nll -= np.log(p[choices[t]])
        delta = rewards[t] - Q[choices[t]]
        Q[choices[t]] += alpha * delta
    return nll


@case(
    "w: vector(k); h: vector(l); b: scalar; X: matrix(n, k); y: vector(n); dt: scalar positive",
    "w h b",
    w=N(2) / 2,
    h=N(3) / 3,
    b=-0.4,
    X=N((9, 2)),
    y=R.poisson(1.0, 9).astype(float),
    dt=0.1,
)
def spike_history_glm(w, h, b, X, y, dt):
    n, L = len(y), len(h)
    drive = X @ w + b
    ll = 0.0
    for t in range(n):
        hist = 0.0
        for l in range(1, L + 1):
            if t - l >= 0:
                hist += h[l - 1] * y[t - l]
        lam = np.exp(drive[t] + hist)
        ll += y[t] * np.log(lam * dt) - lam * dt
    return -ll
