"""Losses of time series and survival, in the style of public projects, each with its data."""

import numpy as np
from expressions.public_loss import PublicLosses
from scipy import stats
from scipy.special import expit, gammaincc, gammaln, logsumexp
from scipy.stats import binom, norm, poisson

LOSSES = PublicLosses()
case = LOSSES.case
R = np.random.default_rng(3)


N = R.standard_normal


m, n, k = 9, 3, 2


T = 7


ll_ = N((T, 3))


@case("log_pi: vector(3); A: matrix(3, 3); ll: matrix(7, 3)", "log_pi A ll", log_pi=N(3), A=N((3, 3)), ll=ll_)
def hmm_forward(log_pi, A, ll):
    log_P = A - logsumexp(A, axis=1, keepdims=True)
    alpha = log_pi - logsumexp(log_pi) + ll[0]
    for t in range(1, ll.shape[0]):
        alpha = logsumexp(alpha[:, None] + log_P, axis=0) + ll[t]
    return logsumexp(alpha)


Tm = R.random(m) * 3 + 0.2
Ev = (R.random(m) < 0.7) * 1.0


@case("params: vector(2); T: vector(m) positive; E: vector(m)", "params", params=np.array([1.3, 0.8]), T=Tm, E=Ev)
def weibull_fitter(params, T, E):
    def cumulative_hazard(params, times):
        lambda_, rho_ = params
        return (times / lambda_) ** rho_

    def log_hazard(params, times):
        lambda_, rho_ = params
        return np.log(rho_) - np.log(lambda_) + (rho_ - 1) * (np.log(times) - np.log(lambda_))

    ll = (E * log_hazard(params, T)).sum() - cumulative_hazard(params, T).sum()
    return -ll / T.shape[0]


@case(
    "params: vector(2); lo: vector(m) positive; hi: vector(m) positive",
    "params",
    params=np.array([0.3, 0.9]),
    lo=Tm,
    hi=Tm + 0.7,
)
def lognormal_interval(params, lo, hi):
    mu_, sigma_ = params
    Zl = (np.log(lo) - mu_) / sigma_
    Zu = (np.log(hi) - mu_) / sigma_
    return -np.log(norm.cdf(Zu) - norm.cdf(Zl)).sum()


bp = np.array([0.5, 1.0, 2.0])


@case(
    "params: vector(3); T: vector(9) positive; E: vector(9)",
    "params",
    params=R.random(3) + 0.5,
    T=np.minimum(Tm, 1.9),
    E=Ev,
)
def piecewise_exponential(params, T, E):
    n = T.shape[0]
    M = np.minimum(np.tile(bp, (n, 1)), T[:, None])
    M = np.hstack([M[:, tuple([0])], np.diff(M, axis=1)])
    ch = np.dot(M, 1 / params)
    return ch.sum() + np.dot(
        E, np.log(params)[np.searchsorted(bp, np.array([0.2, 0.7, 1.5, 0.1, 0.3, 1.2, 1.7, 0.9, 0.4]))]
    )


@case("params: vector(3); T: vector(m) positive", "params", params=np.array([0.2, 0.7, 0.6]), T=Tm)
def generalized_gamma(params, T):
    mu_, sigma_, lambda_ = params
    Z = (np.log(T) - mu_) / sigma_
    ilambda_2 = 1 / lambda_**2
    return -np.sum(np.log(gammaincc(ilambda_2, np.exp(lambda_ * Z) * ilambda_2)))


knots = np.array([-1.0, 0.0, 0.8, 1.5])


@case("phis: vector(4); T: vector(m) positive; E: vector(m)", "phis", phis=np.array([0.1, 1.2, 0.1, -0.05]), T=Tm, E=Ev)
def royston_parmar(phis, T, E):
    def relu(x):
        return np.maximum(0, x)

    def basis(x, knot, min_knot, max_knot):
        lambda_ = (max_knot - knot) / (max_knot - min_knot)
        return relu(x - knot) ** 3 - (lambda_ * relu(x - min_knot) ** 3 + (1 - lambda_) * relu(x - max_knot) ** 3)

    lT = np.log(T)
    log_H = phis[0] + phis[1] * lT
    for i in range(2, len(knots)):
        log_H = log_H + phis[i] * basis(lT, knots[i - 1], knots[0], knots[-1])
    return np.exp(log_H).sum() - (E * log_H).sum()


ts = N(14)


@case("params: vector(4)", "params", params=np.array([0.1, 0.4, 0.3, 0.2]))
def arma_css(params):
    c, phi, theta, logs = params
    e = np.zeros(len(ts))
    for t in range(1, len(ts)):
        e[t] = ts[t] - c - phi * ts[t - 1] - theta * e[t - 1]
    s2 = np.exp(logs)
    return 0.5 * len(ts) * np.log(2 * np.pi * s2) + np.sum(e**2) / (2 * s2)


@case("params: vector(6)", "params", params=np.array([0.5, -0.4, -1.0, 1.0, 0.2, 0.3]))
def markov_switching(params):
    p11, p22 = expit(params[4]), expit(params[5])
    P = np.array([[p11, 1 - p22], [1 - p11, p22]])
    mu, sig = params[:2], np.exp(params[2:4])
    xi = np.array([0.5, 0.5])
    ll = 0.0
    for t in range(5):
        f = norm.pdf(ts[t], mu, sig)
        pred = P @ xi
        lik = np.sum(pred * f)
        ll += np.log(lik)
        xi = pred * f / lik
    return -ll


years = np.arange(1851, 1863)
dis = R.poisson(2, 12) * 1.0


@case(
    "early: scalar positive; late: scalar positive; switch: scalar",
    "early late",
    early=np.array(3.0),
    late=np.array(1.0),
    switch=np.array(1856.5),
)
def coal_switch(early, late, switch):
    rate = np.where(switch >= years, early, late)
    return poisson.logpmf(dis, rate).sum() - early - late


@case("h: vector(14); phi: scalar; ls: scalar", "h phi ls", h=N(14) / 2, phi=np.array(0.8), ls=np.array(-0.3))
def stochastic_volatility(h, phi, ls):
    s = np.exp(ls)
    lp = norm.logpdf(h[0], 0, s / np.sqrt(1 - phi**2))
    lp += norm.logpdf(h[1:], phi * h[:-1], s).sum()
    lp += norm.logpdf(ts, 0.0, np.exp(h / 2)).sum()
    return lp


tt = np.linspace(0, 5, 15)
yd = np.exp(-0.3 * tt) * np.sin(2 * tt) + 0.1 * N(15)


@case(
    "alpha: scalar positive; beta: scalar positive; mu: scalar positive",
    "alpha beta mu",
    alpha=np.array(0.5),
    beta=np.array(1.2),
    mu=np.array(0.7),
)
def hawkes(alpha, beta, mu):
    times = np.array([0.3, 0.8, 1.1, 2.5, 2.7, 4.0])
    Tend = 5.0
    A = np.zeros(len(times))
    for i in range(1, len(times)):
        A[i] = np.exp(-beta * (times[i] - times[i - 1])) * (1 + A[i - 1])
    ll = np.sum(np.log(mu + alpha * A)) - mu * Tend - alpha / beta * np.sum(1 - np.exp(-beta * (Tend - times)))
    return -ll


fx, rx, Tx = np.array([2.0, 0, 5, 1]), np.array([10.0, 0, 30, 4]), np.array([39.0, 38, 38, 20])


@case("params: vector(4)", "params", params=np.array([-0.2, 0.3, 0.1, 0.4]))
def bg_nbd(params):
    r, alpha, a, b = np.exp(params)
    A_1 = gammaln(r + fx) - gammaln(r) + r * np.log(alpha)
    A_2 = gammaln(a + b) + gammaln(b + fx) - gammaln(b) - gammaln(a + b + fx)
    A_3 = -(r + fx) * np.log(alpha + Tx)
    A_4 = np.log(a) - np.log(b + np.maximum(fx, 1) - 1) - (r + fx) * np.log(rx + alpha)
    max_A = np.maximum(A_3, A_4)
    return -(A_1 + A_2 + np.log(np.exp(A_3 - max_A) + np.exp(A_4 - max_A) * (fx > 0)) + max_A).sum()


spend = R.random(15) * 10


@case(
    "decay: scalar; half: scalar positive; beta: vector(2)",
    "decay half beta",
    decay=np.array(0.5),
    half=np.array(3.0),
    beta=np.array([2.0, 1.0]),
)
def media_mix(decay, half, beta):
    ad = [spend[0]]
    for s in spend[1:]:
        ad.append(s + decay * ad[-1])
    ad = np.stack(ad)
    pred = beta[0] + beta[1] * ad / (ad + half)
    return np.mean((pred - yd) ** 2)


det = np.array([[0, 1, 0], [0, 0, 0], [1, 1, 0], [0, 0, 1.0]])


@case("lp: vector(2)", "lp", lp=np.array([0.3, -0.4]))
def occupancy(lp):
    psi, p = expit(lp)
    Kv = det.shape[1]
    ysum = det.sum(1)
    like = psi * p**ysum * (1 - p) ** (Kv - ysum) + (1 - psi) * (ysum == 0)
    return -np.log(like).sum()


@case("lam: scalar positive; p: scalar", "lam p", lam=np.array(3.0), p=np.array(0.4))
def n_mixture(lam, p):
    yy = np.array([[2, 1, 3], [0, 1, 0], [4, 2, 2]])
    ll = 0
    Ns = np.arange(0, 15)
    for row in yy:
        keep = Ns[Ns >= row.max()]
        terms = poisson.logpmf(keep, lam)
        for v in row:
            terms = terms + binom.logpmf(v, keep, p)
        ll += logsumexp(terms)
    return -ll


ex = R.random(10) * 2 + 0.1


@case("xi: scalar; ls: scalar", "xi ls", xi=np.array(0.2), ls=np.array(0.1))
def gpd(xi, ls):
    s = np.exp(ls)
    if abs(0.2) < 1e-8:
        return len(ex) * ls + np.sum(ex) / s
    return len(ex) * ls + (1 + 1 / xi) * np.sum(np.log1p(xi * ex / s))


@case("xi: scalar; mu: scalar; s: scalar positive", "xi mu s", xi=np.array(0.2), mu=np.array(0.1), s=np.array(1.1))
def gev_scipy(xi, mu, s):
    return -stats.genextreme.logpdf(ex, -xi, loc=mu, scale=s).sum()
