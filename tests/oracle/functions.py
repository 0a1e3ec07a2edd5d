"""The functions of the language in plain NumPy, on two-dimensional arrays, real or complex.

Functions are analytic as written where possible (no conjugates, comparisons by real part), so that a complex step gives
derivatives to the last digit. The others raise NotAnalytic on complex input.
"""

import math

import numpy as np
import scipy.linalg as sl
import scipy.special as sp

from oracle.arrays import column, integer, is_vector, real_only, scalar
from oracle.further import FURTHER
from oracle.linear_algebra import LINEAR_ALGEBRA


def sign(x):
    return np.sign(x.real)


def larger(a, b):
    return np.where(a.real > b.real, a, np.where(a.real < b.real, b, (a + b) / 2))


def clip(x, lo, hi):
    inside = np.where(x.real < lo.real, lo, np.where(x.real > hi.real, hi, x))
    return np.where(lo.real <= hi.real, inside, np.nan)


def softplus(x):
    return np.where(x.real > 0, x, 0) + np.log1p(np.exp(-x * np.where(x.real < 0, -1.0, 1.0)))


def sigmoid(x):
    e = np.exp(-x * np.where(x.real < 0, -1.0, 1.0))
    return np.where(x.real < 0, e, 1.0) / (1 + e)


def huber(x):
    return np.where(np.abs(x.real) <= 1, x * x / 2, x * sign(x) - 0.5)


def softmax(x, axis=None):
    e = np.exp(x - x.real.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def logsumexp(x, axis=None):
    top = x.real.max(axis=axis, keepdims=True)
    return np.log(np.exp(x - top).sum(axis=axis, keepdims=True)) + top


def logaddexp(a, b):
    return larger(a, b) + np.log1p(np.exp(-(a - b) * sign(a - b)))


SAME = ("exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "square", "arcsin", "arccos", "arctan")
SAME += ("sin", "cos", "tan", "sinh", "cosh", "tanh")
INVERSE = ("asin", "acos", "atan", "asinh", "acosh", "atanh")

ELEMENTWISE = {
    **{name: getattr(np, name) for name in SAME},
    **{name: getattr(np, "arc" + name[1:]) for name in INVERSE},
    "sign": sign,
    "abs": lambda x: x * sign(x),
    "step": lambda x: np.heaviside(x.real, 0.5),
    "relu": lambda x: np.where(x.real > 0, x, 0.0),
    "sigmoid": sigmoid,
    "softplus": softplus,
    "huber": huber,
    "logit": lambda x: np.log(x / (1 - x)),
    "erf": sp.erf,
    "erfc": sp.erfc,
    "erfcx": sp.erfcx,
    "erfinv": lambda x: sp.erfinv(real_only(x)),
    "gamma": sp.gamma,
    "gammaln": sp.loggamma,
    "digamma": sp.digamma,
    "psi": sp.digamma,
    "log_ndtr": sp.log_ndtr,
    "entr": lambda x: -x * np.log(x),
    "lambertw": lambda x: np.where(real_only(x) < -np.exp(-1), np.nan, sp.lambertw(x).real),
    "sinc": np.sinc,
    "maximum": larger,
    "minimum": lambda a, b: -larger(-a, -b),
    "clip": clip,
    "hypot": lambda a, b: np.sqrt(a * a + b * b),
    "atan2": lambda y, x: np.arctan(y / (x + 0.0)) + np.where(x.real < 0, np.pi * np.where(y.real < 0, -1, 1), 0),
    "xlogy": lambda a, b: a * np.log(b),
    "logaddexp": logaddexp,
    "where": lambda c, a, b: np.where(c.real > 0, a, b),
    "polygamma": lambda k, x: sp.polygamma(integer(k), real_only(x)),
    "besselj": lambda k, x: sp.jv(k.real, x),
    "besseli": lambda k, x: sp.iv(k.real, x),
    "besselk": lambda k, x: sp.kv(k.real, x),
    "stop": lambda x: x.real,
}


def reduced(f):
    """Return a reduction of all entries to a scalar, or along an axis to a vector (a column)."""

    def reduce(x, axis=None):
        if axis is None:
            return scalar(f(x.reshape(-1), 0))
        return column(f(x, integer(axis)))

    return reduce


def extreme(best):
    def pick(x, axis):
        where = np.expand_dims(best(x.real, axis=axis), axis)
        return np.take_along_axis(x, where, axis).squeeze(axis)

    return pick


def variance(x, axis=None, ddof=None):
    lost = integer(ddof) if ddof is not None else 0

    def along(values, axis):
        centred = values - values.mean(axis=axis, keepdims=True)
        return (centred * centred).sum(axis=axis) / (values.shape[axis] - lost)

    return reduced(along)(x, axis)


REDUCTIONS = {
    "sum": reduced(np.sum),
    "mean": reduced(np.mean),
    "prod": reduced(np.prod),
    "max": reduced(extreme(np.argmax)),
    "min": reduced(extreme(np.argmin)),
    "logsumexp": reduced(lambda x, axis: logsumexp(x, axis).squeeze(axis)),
    "norm1": reduced(lambda x, axis: (x * sign(x)).sum(axis=axis)),
    "norm2": reduced(lambda x, axis: np.sqrt((x * x).sum(axis=axis))),
    "norminf": reduced(lambda x, axis: extreme(np.argmax)(x * sign(x), axis)),
}


def rows_of_scan(f):
    return lambda x, axis=None: f(x, axis=0 if axis is None and x.shape[1] == 1 else integer(axis or 0))


def khatri_rao(A, B):
    return np.stack([np.kron(A[:, j], B[:, j]) for j in range(A.shape[1])], axis=1)


def commutation(m, n):
    m, n = integer(m), integer(n)
    K = np.zeros((m * n, m * n))
    for i in range(m):
        for j in range(n):
            K[i * n + j, j * m + i] = 1.0
    return K


def duplication(n):
    n = integer(n)
    rows, count = np.zeros((n, n), int), 0
    for j in range(n):
        for i in range(j, n):
            rows[i, j] = rows[j, i] = count
            count += 1
    return np.eye(count)[rows.reshape(-1, order="F")]


def blkdiag(*blocks):
    return sl.block_diag(*blocks)


def diag(x, k=None):
    if k is not None:
        raise NotImplementedError
    return np.diag(x.reshape(-1)) if is_vector(x) else column(np.diag(x))


def vech(S):
    return column(np.concatenate([S[j:, j] for j in range(S.shape[0])]))


def reshaped(x, *shape):
    sizes = tuple(integer(s) for s in shape)
    return x.reshape(sizes if len(sizes) > 1 else (*sizes, 1), order="F")


def normp(x, p):
    return scalar(((x * sign(x)) ** p).sum() ** (1 / p))


def norm(x, order=None, axis=None):
    return REDUCTIONS["norm2"](x, axis) if order is None else normp(x, order)


STRUCTURE = {
    "tr": lambda X: scalar(np.trace(X)),
    "diag": diag,
    "unvec": reshaped,
    "reshape": reshaped,
    "vech": vech,
    "tril": lambda X, k=0: np.tril(X, integer(k)),
    "triu": lambda X, k=0: np.triu(X, integer(k)),
    "kron": np.kron,
    "khatri_rao": khatri_rao,
    "blkdiag": blkdiag,
    "outer": lambda x, y: x.reshape(-1, 1) * y.reshape(1, -1),
    "cross": lambda a, b: column(np.cross(a.reshape(-1), b.reshape(-1))),
    "conv": lambda a, b: column(np.convolve(a.reshape(-1), b.reshape(-1))),
    "commutation": commutation,
    "duplication": duplication,
    "eye": lambda n: np.eye(integer(n)),
    "ones": lambda m, n=1: np.ones((integer(m), integer(n))),
    "zeros": lambda m, n=1: np.zeros((integer(m), integer(n))),
    "cumsum": rows_of_scan(np.cumsum),
    "cumprod": rows_of_scan(np.cumprod),
    "softmax": lambda x, axis=None: softmax(x, None if axis is None else integer(axis)),
    "log_softmax": lambda x, axis=None: x - logsumexp(x, None if axis is None else integer(axis)),
    "norm": norm,
    "normp": normp,
    "var": variance,
    "std": lambda x, axis=None, ddof=None: np.sqrt(variance(x, axis, ddof)),
}


ALIASES = {
    "trace": "tr",
    "max_": "maximum",
    "adjugate": "adj",
    "norm_fro": "norm2",
    "eigh_w": "eigvalsh",
    "svdvals": "svd_s",
    "norm_spec": "spectral_norm",
    "norm_nuc": "nuclear_norm",
}
FUNCTIONS = {**ELEMENTWISE, **REDUCTIONS, **STRUCTURE, **LINEAR_ALGEBRA, **FURTHER}
CONSTANTS = {"pi": math.pi}
