"""Losses of regressions and choices, in the style of public projects, each with its data."""

import numpy as np
import scipy.stats as st
from expressions.public_loss import PublicLosses
from scipy import stats
from scipy.special import expit, gammaln, logsumexp, xlogy
from scipy.stats import binom, norm, poisson
from scipy.stats import t as student

LOSSES = PublicLosses()
case = LOSSES.case
R = np.random.default_rng(3)


N = R.standard_normal


m, n, k = 9, 3, 2


X = N((m, n))
y = N(m)
yb = (R.random(m) < 0.5) * 1.0
cnt = R.poisson(2, m) * 1.0
pos = R.random(m) + 0.5


@case("theta: vector(n+1); X: matrix(m, n); y: vector(m)", "theta", theta=N(n + 1), X=X, y=yb)
def logistic_insert(theta, X, y):
    z = np.insert(X, 0, 1, 1).dot(theta)
    yz = z * y
    log1pexpz = np.log1p(np.exp(z))
    return np.sum(log1pexpz - yz)


@case("param: vector(n+1); X: matrix(m, n); y: vector(m)", "param", param=N(n + 1) / 2, X=X, y=y)
def llf_normal(param, X, y):
    K = X.shape[1]
    Bhat = param[0:K]
    s2hat = np.exp(param[K])
    xb = np.dot(X, Bhat)
    ll = np.log(st.norm.pdf(y - xb, 0, np.sqrt(s2hat)))
    return -sum(ll)


xg = np.linspace(0, 10, 12)
yg = 5 + 0.4 * xg + N(12)


@case("params: vector(3)", "params", params=np.array([1.0, 0.5, 1.5]))
def regressLL(params):
    b0 = params[0]
    b1 = params[1]
    sd = params[2]
    yPred = b0 + b1 * xg
    logLik = -np.sum(stats.norm.logpdf(yg, loc=yPred, scale=sd))
    return logLik


conc = np.linspace(0.1, 5, 11)
resp = 2 * conc**1.2 / (1 + conc**1.2) + 0.1 * N(11)


def hill(x, tp, ga, p):
    return tp / (1 + (ga / x) ** p)


@case("params: vector(4)", "params", params=np.array([2.2, 0.8, 1.3, -0.5]))
def tcpl_hill(params):
    pred = hill(conc, *params[:-1])
    scale = np.exp(params[-1])
    df = 4
    error = resp - pred
    return -np.sum(student.logpdf(error / scale, df) - np.log(scale))


@case("params: vector(n+2); X: matrix(m, n); y: vector(m)", "params", params=N(n + 2) / 3, X=X, y=cnt)
def zigp(params, X, y):
    beta, alpha, g = params[:-2], np.exp(params[-2]), params[-1]
    w = 1 / (1 + np.exp(-g))
    mu = np.exp(np.dot(X, beta))
    mu_p = np.power(mu, 0)
    a1 = 1 + alpha * mu_p
    a2 = mu + (a1 - 1) * y
    llf = np.log(mu) + (y - 1) * np.log(a2) - y * np.log(a1) - gammaln(y + 1) - a2 / a1
    return -np.sum(np.where(y == 0, np.log(w + (1 - w) * np.exp(llf)), np.log(1 - w) + llf))


groups = [np.array([0, 1, 2]), np.array([3, 4, 5, 6]), np.array([7, 8])]


chosen = [1, 5, 7]


@case("b: vector(n); X: matrix(9, n)", "b", b=N(n), X=X)
def conditional_logit(b, X):
    ll = 0
    for g, c in zip(groups, chosen, strict=True):
        u = X[g] @ b
        ll += X[c] @ b - np.log(np.sum(np.exp(u)))
    return -ll


@case(
    "beta: vector(n); ltau: scalar; lsig: scalar; X: matrix(9, n); y: vector(9)",
    "beta ltau lsig",
    beta=N(n),
    ltau=np.array(0.2),
    lsig=np.array(-0.1),
    X=X,
    y=y,
)
def random_intercept(beta, ltau, lsig, X, y):
    total = 0.0
    for idx in groups:
        r = y[idx] - X[idx, :] @ beta
        ni = len(idx)
        V = np.exp(lsig) * np.eye(ni) + np.exp(ltau) * np.ones((ni, ni))
        _, ld = np.linalg.slogdet(V)
        total += ld + r @ np.linalg.solve(V, r)
    return 0.5 * total


uu = R.random((m, 2)) * 0.9 + 0.05


@case("theta: scalar positive", "theta", theta=np.array(1.4))
def clayton(theta):
    u, v = uu[:, 0], uu[:, 1]
    lp = np.log1p(theta) - (1 + theta) * (np.log(u) + np.log(v)) - (2 + 1 / theta) * np.log(u**-theta + v**-theta - 1)
    return -lp.mean()


@case("z: scalar", "z", z=np.array(0.4))
def gaussian_copula(z):
    rho = np.tanh(z)
    x = norm.ppf(uu)
    S = np.array([[1.0, rho], [rho, 1.0]])
    Sinv = np.linalg.inv(S)
    quad = np.einsum("ij,jk,ik->i", x, Sinv - np.eye(2), x)
    return 0.5 * np.sum(quad) + 0.5 * len(x) * np.log(np.linalg.det(S))


home, away = np.array([0, 1, 2, 3, 0, 2]), np.array([1, 2, 3, 0, 2, 1])


sc_h, sc_a = np.array([20, 13, 7, 31, 9, 12.0]), np.array([3, 14, 22, 10, 12, 19.0])


@case(
    "att: vector(4); dfn: vector(4); adv: scalar; b: scalar",
    "att dfn adv b",
    att=N(4) / 3,
    dfn=N(4) / 3,
    adv=np.array(0.2),
    b=np.array(2.5),
)
def rugby(att, dfn, adv, b):
    atts = att - np.mean(att)
    defs = dfn - np.mean(dfn)
    home_theta = np.exp(b + adv + atts[home] + defs[away])
    away_theta = np.exp(b + atts[away] + defs[home])
    return np.sum(poisson.logpmf(sc_h, home_theta)) + np.sum(poisson.logpmf(sc_a, away_theta))


tries, succ = np.array([1443, 694, 455, 353, 272.0]), np.array([1346, 577, 337, 208, 149.0])


dist_ = np.array([2, 3, 4, 5, 6.0])


@case("sigma: scalar positive", "sigma", sigma=np.array(0.03))
def golf_putting(sigma):
    r, Rr = (1.68 / 2) / 12, (4.25 / 2) / 12
    p = 2 * norm.cdf(np.arcsin((Rr - r) / dist_) / sigma) - 1
    return -binom.logpmf(succ, tries, p).sum()


@case(
    "theta: vector(n); X: matrix(m, n); y: vector(m); s: vector(m)",
    "theta",
    theta=N(n),
    X=X,
    y=2 * yb - 1,
    s=yb[::-1].copy(),
)
def fair_logistic(theta, X, y, s):
    scores = np.dot(X, theta)
    cov = np.dot(s - np.mean(s), scores) / float(len(scores))
    out = y * scores
    vals = np.where(out > 0, -np.log(1 + np.exp(-out)), out - np.log(1 + np.exp(out)))
    return -vals.mean() + 10 * max(abs(cov) - 0.05, 0)


sens = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1])


@case("w: vector(n+1); X: matrix(9, n); y: vector(9)", "w", w=N(n + 1), X=X, y=yb)
def equal_opportunity(w, X, y):
    p = 1 / (1 + np.exp(-(np.c_[np.ones(len(X)), X] @ w)))
    ce = -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
    gap = p[sens == 1].mean() - p[sens == 0].mean()
    return ce + gap**2


@case(
    "theta: vector(5); a: vector(4); b: vector(4); c: vector(4)",
    "theta a b c",
    theta=N(5),
    a=R.random(4) + 0.5,
    b=N(4),
    c=N(4),
)
def irt_3pl(theta, a, b, c):
    U = np.array([[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1], [0, 1, 0, 0], [1, 0, 0, 1]])
    guess = expit(c)
    P = guess + (1 - guess) * expit(a * (theta[:, np.newaxis] - b))
    return -np.sum(U * np.log(P) + (1 - U) * np.log1p(-P)) + 0.5 * theta @ theta


@case("beta: vector(n); X: matrix(m, n); Z: matrix(m, 4); y: vector(m)", "beta", beta=N(n), X=X, Z=N((m, 4)), y=y)
def iv_gmm(beta, X, Z, y):
    n = len(y)
    u = y - X.dot(beta)
    g = Z.T.dot(u) / n
    W = np.linalg.inv(Z.T.dot(Z) / n)
    return n * g.dot(W).dot(g)


mkt = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])


@case("delta: vector(9); s0: scalar", "delta s0", delta=N(9), s0=np.array(0.4))
def nested_logit(delta, s0):
    rho = expit(s0)
    ev = np.exp(delta / (1 - rho))
    Dg = np.bincount(mkt, weights=ev)
    share = ev / Dg[mkt] ** rho / (1 + np.sum(Dg ** (1 - rho)))
    return np.sum((np.log(share) + 2) ** 2)


@case("w: vector(5)", "w", w=N(5))
def plackett_luce(w):
    rankings = [[2, 0, 1, 4, 3], [0, 2, 4], [3, 1, 0, 2]]
    ll = 0.0
    for r in rankings:
        s = w[r]
        for i in range(len(r) - 1):
            ll += s[i] - logsumexp(s[i:])
    return -ll


@case(
    "w: vector(n+1); X: matrix(m, n); y: vector(m); sw: vector(m) positive",
    "w",
    w=N(n + 1) / 2,
    X=X,
    y=cnt,
    sw=R.random(m),
)
def sklearn_poisson(w, X, y, sw):
    coef, intercept = w[:-1], w[-1]
    raw = X @ coef + intercept
    dev = 2 * (xlogy(y, y / np.exp(raw)) - y + np.exp(raw))
    return 0.5 * np.average(dev, weights=sw) + 0.05 * coef @ coef


@case(
    "alpha: scalar positive; lam: vector(n) positive; X: matrix(m, n); y: vector(m)",
    "alpha lam",
    alpha=np.array(1.3),
    lam=R.random(n) + 0.4,
    X=X,
    y=y,
)
def ard_evidence(alpha, lam, X, y):
    Sinv = alpha * X.T @ X + np.diag(lam)
    S = np.linalg.pinv(Sinv)
    mu = alpha * S @ X.T @ y
    ev = 0.5 * (np.log(lam).sum() + len(y) * np.log(alpha) - np.linalg.slogdet(Sinv)[1])
    return -(ev - 0.5 * (alpha * np.sum((y - X @ mu) ** 2) + (lam * mu**2).sum()))
