"""The functions of the language in plain NumPy, on two-dimensional arrays, real or complex.

Where it can be, a function is analytic as written (no conjugates, comparisons by real part), so that a
complex step gives derivatives to the last digit. The others raise NotAnalytic on complex input.
"""

import math

import numpy as np
import scipy.linalg as sl
import scipy.special as sp


class NotAnalytic(TypeError):
    """The function has no complex-differentiable form here: use real differences."""


def real_only(x):
    if np.iscomplexobj(x):
        raise NotAnalytic
    return x


def column(values):
    return np.asarray(values).reshape(-1, 1)


def scalar(value):
    return np.asarray(value).reshape(1, 1)


def integer(value) -> int:
    number = np.asarray(value).reshape(()).item()
    if number != round(number.real):
        raise ValueError(f"{number} is no integer")
    return round(number.real)


def is_vector(x) -> bool:
    return x.ndim == 2 and 1 in x.shape


# Linear algebra


def determinant(X):
    return scalar(np.linalg.det(X)) if X.shape[0] else scalar(1.0)


def logdet(X):
    value = np.linalg.det(X)
    return scalar(np.log(value * np.sign(value.real)))


def adjugate(X):
    n = X.shape[0]
    cofactors = np.ones_like(X)
    for i in range(n):
        for j in range(n):
            minor = np.delete(np.delete(X, i, 0), j, 1)
            cofactors[j, i] = (-1) ** (i + j) * (np.linalg.det(minor) if n > 1 else 1.0)
    return cofactors


def pinv(X):
    if not np.iscomplexobj(X):
        return np.linalg.pinv(X)
    if X.shape[0] >= X.shape[1]:
        return np.linalg.solve(X.T @ X, X.T)
    return np.linalg.solve(X @ X.T, X).T


def cholesky(S):
    L = np.zeros_like(S)
    for j in range(S.shape[0]):
        L[j, j] = np.sqrt(S[j, j] - L[j, :j] @ L[j, :j])
        for i in range(j + 1, S.shape[0]):
            L[i, j] = (S[i, j] - L[i, :j] @ L[j, :j]) / L[j, j]
    return L


def qr(X):
    """Thin QR with positive diagonal of R, from the normal equations of the leading square part."""
    k = min(X.shape)
    if np.iscomplexobj(X):
        R1 = cholesky(X[:, :k].T @ X[:, :k]).T
        Q = np.linalg.solve(R1.T, X[:, :k].T).T
        return Q, Q.T @ X
    Q, R = np.linalg.qr(X)
    signs = np.where(np.diag(R) < 0, -1.0, 1.0)
    return Q * signs, signs[:, None] * R


def eigh(S):
    w, V = np.linalg.eigh(real_only((S + S.T) / 2))
    return w, fix_signs(V)


def fix_signs(V):
    """Make the entry of largest magnitude in each column positive."""
    return V * np.where(V[np.argmax(np.abs(V), 0), np.arange(V.shape[1])] < 0, -1.0, 1.0)


def svd(X):
    U, s, Vt = np.linalg.svd(real_only(X), full_matrices=False)
    signs = np.where(U[np.argmax(np.abs(U), 0), np.arange(U.shape[1])] < 0, -1.0, 1.0)
    return U * signs, s, Vt.T * signs


def sylvester(A, B, C):
    m, n = C.shape
    system = np.kron(np.eye(n), A) + np.kron(B.T, np.eye(m))
    return np.linalg.solve(system, C.reshape(-1, 1, order="F")).reshape(m, n, order="F")


def phi(M):
    return np.tril(M) - np.diag(np.diag(M)) / 2


def spectral(f, S):
    if np.iscomplexobj(S):
        raise NotAnalytic
    w, V = eigh(S)
    return (V * f(w)) @ V.T


def matfun(f, S, *E):
    """A function of a symmetric matrix, or its derivative along E; the eigenvalues are distinct."""
    w, V = eigh(S)
    value = np.asarray(f(w.reshape(1, -1))).reshape(-1)
    if not E:
        return (V * value) @ V.T
    if len(E) > 1:
        raise NotImplementedError("matfun along several directions")
    slope = np.asarray(f(w.reshape(1, -1) + 1e-30j)).imag.reshape(-1) / 1e-30
    gaps = w[:, None] - w
    divided = np.where(gaps == 0, np.diag(slope), (value[:, None] - value) / np.where(gaps == 0, 1.0, gaps))
    return V @ (divided * (V.T @ E[0] @ V)) @ V.T


def divided_difference(f, a, b):
    """(f(a) - f(b))/(a - b), the derivative where a is b."""
    slope = np.asarray(f(a.real + 1e-30j)).imag / 1e-30
    gap = np.where(a == b, 1.0, a - b)
    return np.where(a == b, slope, (f(a) - f(b)) / gap)


def along_block(f):
    """A function of a matrix with its derivative along E: the upper right block of f([X, E; 0, X])."""

    def of(X, *E):
        if not E:
            return f(X)
        if len(E) > 1:
            raise NotImplementedError("along several directions")
        n = X.shape[0]
        return f(np.block([[X, E[0]], [np.zeros_like(X), X]]))[:n, n:]

    return of


def along_step(f):
    """A function with its derivative along E by a complex step."""

    def of(X, *E):
        if len(E) > 1:
            raise NotImplementedError("along several directions")
        return f(real_only(X) + 1e-30j * real_only(E[0])).imag / 1e-30 if E else f(X)

    return of


def gapdiv(w, K):
    gaps = w.reshape(1, -1) - w.reshape(-1, 1)
    return np.where(gaps == 0, 0.0, K / np.where(gaps == 0, 1.0, gaps))


def largest(x):
    """1/k at the k largest entries."""
    top = (x == x.max()).astype(float)
    return top / top.sum()


def prod_others(x):
    flat = x.reshape(-1)
    return np.array([np.prod(np.delete(flat, i)) for i in range(flat.size)]).reshape(x.shape)


def matrix_power(A, p):
    if p == round(p):
        return np.linalg.matrix_power(A, round(p))
    if np.iscomplexobj(A) or not np.allclose(A, A.T):
        return sl.expm(p * sl.logm(A))
    return spectral(lambda w: w**p, A)


# Elementwise


def sign(x):
    return np.sign(x.real)


def larger(a, b):
    return np.where(a.real > b.real, a, np.where(a.real < b.real, b, (a + b) / 2))


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
    "step": lambda x: np.where(x.real > 0, 1.0, 0.0),
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
    "lambertw": lambda x: sp.lambertw(real_only(x)).real,
    "sinc": np.sinc,
    "maximum": larger,
    "minimum": lambda a, b: -larger(-a, -b),
    "clip": lambda x, lo, hi: np.where(x.real < lo.real, lo, np.where(x.real > hi.real, hi, x)),
    "hypot": lambda a, b: np.sqrt(a * a + b * b),
    "atan2": lambda y, x: np.arctan(y / x) + np.where(x.real < 0, np.pi * np.where(y.real < 0, -1, 1), 0),
    "xlogy": lambda a, b: a * np.log(b),
    "logaddexp": logaddexp,
    "where": lambda c, a, b: np.where(c.real != 0, a, b),
    "polygamma": lambda k, x: sp.polygamma(integer(k), real_only(x)),
    "besselj": lambda k, x: sp.jv(k.real, x),
    "besseli": lambda k, x: sp.iv(k.real, x),
    "besselk": lambda k, x: sp.kv(k.real, x),
    "stop": lambda x: x.real,
}


def reduced(f):
    """A reduction of everything to a scalar, or along an axis to a vector (a column)."""

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


def circulated(x, k):
    return np.roll(x, integer(k), axis=0 if x.shape[1] == 1 else 1)


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


def normalize(x):
    return x / np.sqrt((x * x).sum()) if x.any() else x * 0


STRUCTURE = {
    "tr": lambda X: scalar(np.trace(X)),
    "diag": diag,
    "vec": lambda X: column(X.reshape(-1, order="F")),
    "unvec": reshaped,
    "reshape": reshaped,
    "vech": vech,
    "tril": lambda X, k=0: np.tril(X, integer(k)),
    "triu": lambda X, k=0: np.triu(X, integer(k)),
    "kron": np.kron,
    "khatri_rao": khatri_rao,
    "blkdiag": blkdiag,
    "outer": lambda x, y: x.reshape(-1, 1) * y.reshape(1, -1),
    "toeplitz": lambda c: c.reshape(-1)[np.abs(np.subtract.outer(*[np.arange(c.size)] * 2))],
    "vander": lambda x: x.reshape(-1, 1) ** np.arange(x.size - 1, -1, -1),
    "flip": lambda x: x[::-1],
    "circshift": circulated,
    "repmat": lambda A, m, n: np.tile(A, (integer(m), integer(n))),
    "cross": lambda a, b: column(np.cross(a.reshape(-1), b.reshape(-1))),
    "conv": lambda a, b: column(np.convolve(a.reshape(-1), b.reshape(-1))),
    "commutation": commutation,
    "duplication": duplication,
    "eye": lambda n: np.eye(integer(n)),
    "ones": lambda m, n=1: np.ones((integer(m), integer(n))),
    "zeros": lambda m, n=1: np.zeros((integer(m), integer(n))),
    "cumsum": rows_of_scan(np.cumsum),
    "cumprod": rows_of_scan(np.cumprod),
    "sort": lambda x: x[np.argsort(x.real, axis=0).reshape(-1)],
    "softmax": lambda x, axis=None: softmax(x, None if axis is None else integer(axis)),
    "log_softmax": lambda x, axis=None: x - logsumexp(x, None if axis is None else integer(axis)),
    "normp": normp,
    "normalize": normalize,
    "var": variance,
    "std": lambda x, axis=None, ddof=None: np.sqrt(variance(x, axis, ddof)),
}

LINEAR_ALGEBRA = {
    "inv": np.linalg.inv,
    "pinv": pinv,
    "det": determinant,
    "logdet": logdet,
    "adj": along_step(adjugate),
    "solve": np.linalg.solve,
    "sylvester": sylvester,
    "lyapunov": lambda A, Q: sylvester(A, A.T, Q),
    "dlyapunov": lambda A, Q: sl.solve_discrete_lyapunov(real_only(A), real_only(Q)),
    "chol": cholesky,
    "qr_Q": lambda X: qr(X)[0],
    "qr_R": lambda X: qr(X)[1],
    "lu_P": lambda X: sl.lu(real_only(X))[0],
    "lu_L": lambda X: sl.lu(real_only(X))[1],
    "lu_U": lambda X: sl.lu(real_only(X))[2],
    "svd_U": lambda X: svd(X)[0],
    "svd_s": lambda X: column(svd(X)[1]),
    "svd_V": lambda X: svd(X)[2],
    "eigvalsh": lambda S, *B: column(sl.eigvalsh(real_only(S), *map(real_only, B))),
    "eigh_V": lambda S: eigh(S)[1],
    "lambda_max": lambda S: scalar(eigh(S)[0][-1]),
    "lambda_min": lambda S: scalar(eigh(S)[0][0]),
    "spectral_norm": lambda X: scalar(svd(X)[1][0]),
    "nuclear_norm": lambda X: scalar(svd(X)[1].sum()),
    "polar_U": lambda X: svd(X)[0] @ svd(X)[2].T,
    "polar_P": lambda X: (svd(X)[2] * svd(X)[1]) @ svd(X)[2].T,
    "expm": along_block(sl.expm),
    "logm": along_block(lambda X: sl.logm(X) if np.iscomplexobj(X) else sl.logm(X).real),
    "sqrtm": lambda X: sl.sqrtm(X) if np.iscomplexobj(X) else sl.sqrtm(X).real,
    "powm": lambda X, p: matrix_power(X, p.reshape(()).item().real),
    "sinm": along_block(sl.sinm),
    "cosm": along_block(sl.cosm),
    "signm": lambda S: spectral(np.sign, S),
    "phi": phi,
    "gapdiv": gapdiv,
    "gapsum": lambda w, K: np.where(np.eye(len(w)) == 1, 0.0, K / np.add.outer(w.ravel(), w.ravel())),
    "columndiv": lambda w, K: K / w.ravel(),
    "tie_mean": lambda w, g: g,
    "tie_same": lambda w, g: g,
    "tie_share": lambda w, g: g,
    "regular": lambda R: R,
    "real_values": lambda y, w: y,
    "sym": lambda X: (X + X.T) / 2,
    "skew": lambda X: (X - X.T) / 2,
    "eig_top": lambda S, k: eigh(S)[1][:, -integer(k) :] @ eigh(S)[1][:, -integer(k) :].T,
    "max_at": largest,
    "min_at": lambda x: largest(-x),
    "prod_others": along_step(prod_others),
}

ALIASES = {
    "trace": "tr",
    "max_": "maximum",
    "adjugate": "adj",
    "norm": "norm2",
    "norm_fro": "norm2",
    "eigh_w": "eigvalsh",
    "svdvals": "svd_s",
    "norm_spec": "spectral_norm",
    "norm_nuc": "nuclear_norm",
}
FUNCTIONS = {**ELEMENTWISE, **REDUCTIONS, **STRUCTURE, **LINEAR_ALGEBRA}
CONSTANTS = {"pi": math.pi}
