"""`sp` for values at many digits: the functions of scipy.special that values call, by mpmath."""

from __future__ import annotations

import numpy as np

from matcalc.evidence.precise.arithmetic import (
    ELEMENTWISE,
    Function,
    Precise,
    divided,
    elementwise,
    log,
    log1p,
    mp,
    number,
    numbers,
)
from matcalc.evidence.precise.numpy_twin import Twin

GUARD = 15


def guarded(f: Function, extra: int | None = GUARD) -> Function:
    """Return f with more digits inside, for formulas that cancel some; twice as many for None."""

    def g(*args: Precise) -> Precise:
        with mp.extradps(mp.dps if extra is None else extra):
            y = f(*args)
        return +y

    return g


def tail(f: Function) -> Function:
    """Return f with twice the digits inside: for 1 - F(x) by subtraction and the like."""
    return guarded(f, None)


def xlogy(x: Precise, y: Precise) -> Precise:
    return mp.mpf(0) if x == 0 and not mp.isnan(y) else x * log(y)


def xlog1py(x: Precise, y: Precise) -> Precise:
    return mp.mpf(0) if x == 0 and not mp.isnan(y) else x * log1p(y)


def entr(x: Precise) -> Precise:
    return mp.mpf(0) if x == 0 else -x * mp.log(x) if x > 0 else -mp.inf


def rel_entr(x: Precise, y: Precise) -> Precise:
    return mp.mpf(0) if x == 0 and y >= 0 else x * log(x / y) if x > 0 and y > 0 else mp.inf


def erfcx(x: Precise) -> Precise:
    return mp.exp(x * x) * mp.erfc(x)


def ndtr(x: Precise) -> Precise:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def log_ndtr(x: Precise) -> Precise:
    return mp.log(ndtr(x)) if x < 0 else mp.log1p(-ndtr(-x))


def ndtri(p: Precise) -> Precise:
    return mp.sqrt(2) * mp.erfinv(2 * p - 1)


def gammaincc(a: Precise, x: Precise) -> Precise:
    return mp.gammainc(a, x, mp.inf, regularized=True)


def gammainc(a: Precise, x: Precise) -> Precise:
    return mp.gammainc(a, 0, x, regularized=True)


def betainc(a: Precise, b: Precise, x: Precise) -> Precise:
    return mp.betainc(a, b, 0, x, regularized=True)


def betaln(a: Precise, b: Precise) -> Precise:
    return (mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)).real


def gammaln(x: Precise) -> Precise:
    return mp.inf if x <= 0 and x == mp.floor(x) else mp.log(abs(mp.gamma(x))) if x < 0 else mp.loggamma(x)


def exprel(x: Precise) -> Precise:
    return mp.mpf(1) if x == 0 else mp.expm1(x) / x


def kve(v: Precise, x: Precise) -> Precise:
    return mp.besselk(v, x) * mp.exp(x)


def ive(v: Precise, x: Precise) -> Precise:
    return mp.besseli(v, x) * mp.exp(-abs(x))


def whole_power(f: Function) -> Function:
    """Return f(k, x) of an integer k that mpmath wants as an integer."""
    return lambda k, x: f(int(k), x)


_ONE: dict[str, Function] = {
    "erf": mp.erf, "erfc": mp.erfc, "erfinv": mp.erfinv, "erfi": mp.erfi, "erfcx": tail(erfcx),
    "erfcinv": lambda x: mp.erfinv(1 - x), "dawsn": tail(lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)),
    "ndtr": ndtr, "log_ndtr": log_ndtr, "ndtri": tail(ndtri),
    "gamma": mp.gamma, "rgamma": mp.rgamma, "gammaln": guarded(gammaln), "loggamma": mp.loggamma,
    "psi": lambda x: mp.psi(0, x), "digamma": lambda x: mp.psi(0, x), "gammasgn": lambda x: mp.sign(mp.gamma(x)),
    "factorial": mp.factorial, "expit": lambda x: 1 / (1 + mp.exp(-x)), "entr": entr, "exprel": guarded(exprel),
    "logit": guarded(lambda x: log(divided(x, 1 - x))), "log_expit": lambda x: -mp.log1p(mp.exp(-x)),
    "expm1": mp.expm1, "log1p": log1p, "cosm1": tail(lambda x: mp.cos(x) - 1),
    "log1pmx": tail(lambda x: mp.log(1 + x) - x), "j0": lambda x: mp.besselj(0, x), "j1": lambda x: mp.besselj(1, x),
    "y0": lambda x: mp.bessely(0, x), "y1": lambda x: mp.bessely(1, x), "i0": lambda x: mp.besseli(0, x),
    "i1": lambda x: mp.besseli(1, x), "k0": lambda x: mp.besselk(0, x), "k1": lambda x: mp.besselk(1, x),
    "i0e": lambda x: ive(0, x), "i1e": lambda x: ive(1, x), "k0e": lambda x: kve(0, x), "k1e": lambda x: kve(1, x),
    "exp1": mp.e1, "expi": mp.ei, "spence": lambda x: mp.polylog(2, 1 - x).real, "zetac": lambda x: mp.zeta(x) - 1,
    "ellipk": mp.ellipk, "ellipe": mp.ellipe, "cbrt": mp.cbrt, "exp2": lambda x: mp.mpf(2) ** x,
    "exp10": lambda x: mp.mpf(10) ** x, "sindg": lambda x: mp.sin(mp.radians(x)),
}  # fmt: skip
_TWO: dict[str, Function] = {
    "xlogy": xlogy, "xlog1py": xlog1py, "rel_entr": rel_entr, "kl_div": lambda x, y: rel_entr(x, y) - x + y,
    "jv": mp.besselj, "yv": mp.bessely, "iv": mp.besseli, "kv": mp.besselk, "kn": mp.besselk, "yn": mp.bessely,
    "ive": ive, "kve": kve, "beta": mp.beta, "betaln": tail(betaln), "binom": mp.binomial, "poch": mp.rf,
    "gammainc": guarded(gammainc), "gammaincc": guarded(gammaincc), "zeta": lambda s, a=1: mp.zeta(s, a),
    "expn": mp.expint, "agm": mp.agm, "boxcox": lambda x, p: log(x) if p == 0 else mp.expm1(p * log(x)) / p,
    "polygamma": whole_power(mp.psi), "huber": lambda d, r: r * r / 2 if abs(r) <= d else d * (abs(r) - d / 2),
    "pseudo_huber": lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1),
}  # fmt: skip
_THREE: dict[str, Function] = {
    "betainc": guarded(betainc), "betaincc": guarded(lambda a, b, x: betainc(b, a, 1 - x)), "hyp1f1": mp.hyp1f1,
    "hyperu": mp.hyperu,
}  # fmt: skip


def logsumexp(x: Precise, axis: int | None = None, b: Precise = None, keepdims: bool = False) -> Precise:
    x = numbers(np.asarray(x, dtype=object))
    top = np.max(x, axis=axis, keepdims=True)
    top = np.where(np.asarray([bool(mp.isfinite(v)) for v in np.ravel(top)]).reshape(np.shape(top)), top, 0)
    terms = ELEMENTWISE["exp"](x - numbers(top)) * (1 if b is None else b)
    total = ELEMENTWISE["log"](np.sum(terms, axis=axis, keepdims=True)) + numbers(top)
    return total if keepdims else numbers(np.sum(total, axis=axis))


def softmax(x: Precise, axis: int | None = None) -> Precise:
    return ELEMENTWISE["exp"](log_softmax(x, axis))


def log_softmax(x: Precise, axis: int | None = None) -> Precise:
    return numbers(np.asarray(x, dtype=object)) - logsumexp(x, axis, keepdims=True)


def multigammaln(a: Precise, d: int) -> Precise:
    a = number(a) if not isinstance(a, np.ndarray) or a.ndim == 0 else a
    half = sum((gammaln(a - mp.mpf(j) / 2) for j in range(int(d))), mp.mpf(0))
    return numbers(mp.log(mp.pi) * d * (d - 1) / 4 + half)


OWN: dict[str, Precise] = {
    **{name: elementwise(f) for name, f in _ONE.items()},
    **{name: elementwise(f, 2) for name, f in _TWO.items()},
    **{name: elementwise(f, 3) for name, f in _THREE.items()},
    "hyp2f1": elementwise(mp.hyp2f1, 4),
    "comb": elementwise(mp.binomial, 2),
    "lambertw": elementwise(mp.lambertw),
    **{f.__name__: f for f in (logsumexp, softmax, log_softmax, multigammaln)},
}

SP = Twin("sp", OWN, None)
