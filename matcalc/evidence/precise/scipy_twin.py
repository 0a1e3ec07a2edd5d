"""Defines `sl` and `sp` for values at many digits: the functions of scipy.linalg and scipy.special that values call."""

from __future__ import annotations

import numpy as np

from matcalc.evidence.precise import linear
from matcalc.evidence.precise.arithmetic import (
    ELEMENTWISE,
    Function,
    Precise,
    cbrt,
    divided,
    elementwise,
    log,
    log1p,
    mp,
    number,
    numbers,
    objects,
)
from matcalc.evidence.precise.numpy_twin import LINALG, Twin, matrixwise


def cholesky(S: Precise, lower: bool = False) -> Precise:
    L = linear.cholesky(objects(S) if lower else objects(S).T)
    return numbers(L if lower else L.T)


def lu(X: Precise) -> Precise:
    """Return the result of scipy.linalg.lu: X = P*L*U."""
    F, rows, _ = linear.factored(objects(X))
    m, k = len(F), min(F.shape)
    P = linear.identity(m)[:, rows]
    return numbers((P, objects(np.tril(F[:, :k], -1)) + objects(np.eye(m, k)), objects(np.triu(F[:k]))))


def eig(X: Precise, b: Precise = None, left: bool = False, right: bool = True) -> Precise:
    w, L, R = linear.eig(objects(X) if b is None else linear.solve(objects(b), objects(X)), left)
    vectors = ([numbers(L)] if left else []) + ([numbers(R)] if right else [])
    return (numbers(w), *vectors) if vectors else numbers(w)


def eigh(A: Precise, B: Precise = None, eigvals_only: bool = False) -> Precise:
    if B is None:
        w, V = linear.eigh(objects(A))
    else:
        back = linear.inv(linear.cholesky(objects(B)))
        w, V = linear.eigh(np.dot(np.dot(back, objects(A)), back.T))
        V = np.dot(back.T, V)
    return numbers(w) if eigvals_only else (numbers(w), numbers(V))


def polar(X: Precise, side: str = "right") -> Precise:
    """Return the result of scipy.linalg.polar: X = U*P, or P*U for the left side."""
    W, s, V = linear.svd(objects(X))
    P = np.dot(V * s, V.T) if side == "right" else np.dot(W * s, W.T)
    return numbers(np.dot(W, V.T)), numbers(P)


def solve_triangular(A: Precise, b: Precise, trans: int = 0, lower: bool = False) -> Precise:
    T = objects(np.tril(objects(A)) if lower else np.triu(objects(A)))
    return numbers(linear.solve(T.T if trans else T, objects(b)))


def block_diag(*blocks: Precise) -> Precise:
    made = objects(np.zeros((0, 0)))
    for b in map(np.atleast_2d, map(objects, blocks)):
        right, below = np.zeros((len(made), b.shape[1])), np.zeros((len(b), made.shape[1]))
        made = np.block([[made, objects(right)], [objects(below), b]])
    return numbers(made)


def khatri_rao(A: Precise, B: Precise) -> Precise:
    A, B = objects(A), objects(B)
    return numbers((A[:, None, :] * B[None, :, :]).reshape(len(A) * len(B), -1))


def toeplitz(c: Precise, r: Precise = None) -> Precise:
    """Return the matrix with first column c and first row r, by default c."""
    c, r = objects(c).ravel(), objects(c if r is None else r).ravel()
    i, j = np.indices((len(c), len(r)))
    return numbers(np.concatenate([r[:0:-1], c])[i - j + len(r) - 1])


def circulant(c: Precise) -> Precise:
    return np.array([[c[i - j] for j in range(len(c))] for i in range(len(c))], dtype=object)


def hankel(c: Precise, r: Precise = None) -> Precise:
    """Return the matrix with first column c and last row r; zeros without r."""
    last = c * 0 if r is None else r
    entries = [*c, *last[1:]]
    return np.array([[entries[i + j] for j in range(len(last))] for i in range(len(c))], dtype=object)


OWN: dict[str, Precise] = {
    **LINALG,
    **{
        f.__name__: f
        for f in (cholesky, lu, eig, eigh, polar, solve_triangular, block_diag, khatri_rao, toeplitz, circulant, hankel)
    },
    **{name: matrixwise(getattr(linear, name)) for name in ("expm", "logm", "sqrtm", "cosm", "sinm", "signm")},
    "fractional_matrix_power": lambda X, p: numbers(linear.powm(objects(X), number(p))),
    "solve_sylvester": matrixwise(linear.sylvester),
    "solve_continuous_lyapunov": matrixwise(lambda A, Q: linear.sylvester(A, A.T, Q)),
    "solve_discrete_lyapunov": matrixwise(linear.stein),
    "solve_continuous_are": matrixwise(linear.care),
    "solve_discrete_are": matrixwise(linear.dare),
}

SL = Twin("sl", OWN, None)


GUARD = 15


def guarded(f: Function, extra: int | None = GUARD) -> Function:
    """Return f computed with `extra` more digits, for formulas with cancellation; None doubles the digits."""

    def g(*args: Precise) -> Precise:
        with mp.extradps(mp.dps if extra is None else extra):
            y = f(*args)
        return +y

    return g


def tail(f: Function) -> Function:
    """Return f computed with twice the digits, for subtractions such as 1 - F(x)."""
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
    return mp.gammainc(a, x, mp.inf, regularized=True) if a >= 0 and x >= 0 else mp.nan


def gammainc(a: Precise, x: Precise) -> Precise:
    return mp.gammainc(a, 0, x, regularized=True) if a >= 0 and x >= 0 else mp.nan


def betainc(a: Precise, b: Precise, x: Precise) -> Precise:
    return mp.betainc(a, b, 0, x, regularized=True) if min(a, b, x) >= 0 and x <= 1 else mp.nan


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
    """Return f(k, x) with k converted to an integer, as mpmath requires."""
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
    "ellipk": mp.ellipk, "ellipe": mp.ellipe, "cbrt": cbrt, "exp2": lambda x: mp.mpf(2) ** x,
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


SPECIAL: dict[str, Precise] = {
    **{name: elementwise(f) for name, f in _ONE.items()},
    **{name: elementwise(f, 2) for name, f in _TWO.items()},
    **{name: elementwise(f, 3) for name, f in _THREE.items()},
    "hyp2f1": elementwise(mp.hyp2f1, 4),
    "comb": elementwise(mp.binomial, 2),
    "lambertw": elementwise(mp.lambertw),
    **{f.__name__: f for f in (logsumexp, softmax, log_softmax, multigammaln)},
}

SP = Twin("sp", SPECIAL, None)
