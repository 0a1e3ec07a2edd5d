"""Functions for the values in `spectral.toml`: eigenvalues and singular values, their gaps, functions of them.

A gap within rounding is a tie: a quotient by it is NaN, never a plausible number. A function argument is a callable
f(x, k=0): the k-th derivative of f at the array x.
"""

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from matcalc.rules.divided_differences import dd_
from matcalc.rules.elementwise import EPS
from matcalc.rules.linalg import fault_, finite_, power_of_two_, svdvals_

Array = NDArray[Any]
Function = Callable[..., Array]


def signs_(V: Array) -> Array:
    """Return signs that make the entry of largest magnitude of each column positive."""
    top = V[np.argmax(np.abs(V), 0), np.arange(V.shape[1])] if V.size else np.ones(V.shape[1])
    return np.where(top < 0, -1.0, 1.0)


def svd_(X: Array) -> tuple[Array, Array, Array]:
    U, s, Vt = np.linalg.svd(finite_(X), full_matrices=False)
    signs = signs_(U)
    return U * signs, s, Vt.T * signs


def eigh_(S: Array) -> tuple[Array, Array]:
    w, V = np.linalg.eigh(finite_(S + S.T) / 2)
    return w, V * signs_(V)


def eig_(X: Array) -> tuple[Array, Array]:
    w, V = np.linalg.eig(X)
    if np.any(np.abs(w.imag) > 4 * len(w) * EPS * np.max(np.abs(X), initial=0)):
        raise np.linalg.LinAlgError("eig: complex eigenvalues")
    order = np.argsort(w.real)
    w, V = w.real[order], V.real[:, order]
    return w, V / np.linalg.norm(V, axis=0) * signs_(V)


def eigvalsh_(S: Array) -> Array:
    """Return the eigenvalues of a symmetric matrix, ascending; NaN if an entry is not finite."""
    return np.linalg.eigvalsh((S + S.T) / 2) if np.all(np.isfinite(S)) else np.full(len(S), np.nan)


def gapdiv_(w: Array, K: Array) -> Array:
    gap = w[None, :] - w[:, None]
    rounding = 4 * len(w) * EPS * np.abs(w).max(initial=0)
    gap = np.where(np.abs(gap) <= rounding, np.nan, gap)
    np.fill_diagonal(gap, np.inf)
    return np.where((K == 0) | (gap == np.inf), 0.0, K / gap)


def gapsum_(w: Array, K: Array) -> Array:
    gap = w[:, None] + w[None, :]
    rounding = 8 * len(w) * EPS * np.abs(w).max(initial=0)
    gap = np.where(np.abs(gap) <= rounding, np.nan, gap)
    np.fill_diagonal(gap, np.inf)
    return np.where((K == 0) | (gap == np.inf), 0.0, K / gap)


def columndiv_(w: Array, K: Array) -> Array:
    rounding = 4 * sum(K.shape) * EPS * np.abs(w).max(initial=0)
    return np.where(K == 0, 0.0, K / np.where(np.abs(w) <= rounding, np.nan, w))


def tie_mean_(w: Array, g: Array) -> Array:
    if not np.all(np.isfinite(w)):
        return g * np.nan
    starts = np.abs(np.diff(w, prepend=np.inf)) > 4 * len(w) * EPS * np.abs(w).max(initial=0)
    tie = np.cumsum(starts) if len(w) else np.zeros(0, int)
    return np.array([np.mean(g[tie == t]) for t in tie])


def tie_same_(w: Array, g: Array) -> Array:
    mean = tie_mean_(w, g)
    same = np.abs(g - mean) <= 64 * len(w) * EPS * np.abs(g).max(initial=0)
    return np.where(same, g, np.where(np.abs(g - mean) > 0, np.nan, mean))


def real_values_(y: Array, w: Array) -> Array:
    if np.any(np.isnan(y) & ~np.isnan(w)):
        raise np.linalg.LinAlgError("not real")
    return y


def np_function(value: Callable[[Array], Array]) -> Function:
    """Return a plain NumPy function as a function argument without derivatives."""
    return lambda x, k=0: value(x)


def snapped_(f: Function, w: Array) -> Array:
    """Return w with eigenvalues within rounding of 0 set to 0, where f may have a jump or kink.

    If f is not finite near 0, w is unchanged.
    """
    rounding = 4 * len(w) * EPS * np.abs(w).max(initial=0)
    with np.errstate(all="ignore"):
        finite = np.all(np.isfinite(f(np.array([-rounding, 0.0, rounding]))))
    return np.where(np.abs(w) <= rounding, 0.0, w) if finite else w


def is_still(E: Iterable[Array]) -> bool:
    """Return whether one of several directions is zero: the derivative along them is then 0, also where f jumps."""
    return any(not np.any(e) for e in E)


def matfun_(f: Function, S: Array, *E: Array) -> Array:
    """Return f(S) or its differential along E, by divided differences of f in the eigenvalues (Daleckii and Krein)."""
    w, V = np.linalg.eigh(finite_(S + S.T) / 2)
    w = snapped_(f, w)
    if not E:
        return (V * real_values_(f(w), w)) @ V.T
    if is_still(E):
        return np.zeros(S.shape)
    axes = "abcdef"[: len(E) + 1]
    D = dd_(f, *np.meshgrid(*[w] * (len(E) + 1), indexing="ij"))
    spec = ",".join([axes, *(axes[i : i + 2] for i in range(len(E)))]) + "->" + axes[0] + axes[-1]
    T = [V.T @ e @ V for e in E]
    return V @ sum(np.einsum(spec, D, *order) for order in itertools.permutations(T)) @ V.T


def svdfun_(f: Function, X: Array, t: float, *E: Array) -> Array:
    """Return U*diag(f(s - t))*V' or its differential along E, as a matrix function of the symmetric [0, X; X', 0].

    The function of s - t is continued as an odd function. If X has full rank, the eigenvectors of 0 all belong to its
    longer side, and no E couples two of them. The slope at 0 then multiplies zeros only and is not evaluated; it may
    be infinite, like that of 1/s.
    """

    def odd(x: Array, k: int = 0) -> Array:
        x = np.asarray(x)
        off = np.abs(x) - t
        at_kink = (np.abs(off) <= rounding) & (t > rounding)
        inside, sign = f(np.where(at_kink, 0.0, off), k), np.sign(x)
        inside = np.where((x == 0) & is_one_sided, 0.0, inside)
        return np.where(x == 0, 0.0 if k % 2 == 0 else inside, inside if k % 2 else sign * inside)

    m, n = X.shape
    dilated = [np.block([[np.zeros((m, m)), M], [M.T, np.zeros((n, n))]]) for M in (X, *E)]
    w, V = np.linalg.eigh(finite_(dilated[0]))
    rounding = 4 * len(w) * EPS * np.abs(w).max(initial=0)
    w = np.where(np.abs(w) <= rounding, 0.0, w)
    is_one_sided = np.sum(w == 0) <= abs(m - n)
    if not E:
        return ((V * odd(w)) @ V.T)[:m, m:]
    if is_still(E):
        return np.zeros(X.shape)
    if not is_one_sided and np.abs(odd(np.asarray(1e-300))) > 1e-150:
        null = V[:, w == 0]  # within rounding, a tangent that preserves the rank vanishes on it
        preserves = [np.abs(null.T @ e @ null).max() <= 2.0**-40 * np.abs(e).max() for e in dilated[1:]]
        if len(E) > 1 or not all(preserves):
            return np.full(X.shape, np.nan)
    return matfun_(odd, (V * w) @ V.T, *dilated[1:])[:m, m:]


def along_twice_(w: Array, R: Array, D: Array, T: Array, E: Array, F: Array) -> Array:
    """Return the sum over k of f[w_i, w_k, w_j]*(E_ik*F_kj + F_ik*E_kj), with second divided differences of f.

    They are quotients of the first ones, D, across gaps wider than R, else differences of a polynomial through T.
    """
    n, q = T.shape
    if not np.all(np.isfinite(w)):
        return np.full((n, n), np.nan)
    series = [powers_(np.linalg.solve(cheb_(q), t)) for t in T]
    Y = np.zeros((n, n))
    for i, k, j in itertools.product(range(n), repeat=3):
        low, mid, high = sorted([i, k, j], key=lambda at: w[at])
        if w[high] - w[mid] <= R[mid] and w[mid] - w[low] <= R[mid]:
            x, y = ((w[at] - w[mid]) / (2 * R[mid] or 1.0) for at in (low, high))
            terms = enumerate(series[mid])
            Q = sum(2 * c / ((p + 1) * (p + 2)) * sum(x**r * y ** (p - r) for r in range(p + 1)) for p, c in terms)
        else:
            Q = (D[mid, high] - D[low, mid]) / (w[high] - w[low]) if R[mid] == R[mid] else np.nan
        Y[i, j] += Q * (E[i, k] * F[k, j] + F[i, k] * E[k, j])
    return Y


def cheb_(q: int) -> Array:
    """Return the first q Chebyshev polynomials at the q roots of the next one."""
    return np.cos(np.outer(np.pi * (np.arange(q) + 0.5) / q, np.arange(q)))


def powers_(c: Array) -> Array:
    """Return the coefficients in 1, x, x^2, ... of a Chebyshev series."""
    q = len(c)
    before, now, total = np.zeros(q), np.zeros(q), np.zeros(q)
    now[0] = 1.0
    for k in range(q):
        total = total + c[k] * now
        up = np.concatenate((np.zeros(1), now[:-1]))
        before, now = now, (up if k == 0 else 2 * up - before)
    return total


def signm_(X: Array) -> Array:
    if X.size and np.any(X != X.T) and np.all(np.isfinite(X)):
        w = np.linalg.eigvals(X)
        if np.min(np.abs(np.real(w))) <= len(w) * EPS * np.max(np.abs(w)):
            fault_("signm: X has an eigenvalue on the imaginary axis")
    return np.real(sl.signm(X)) if X.size else X


def psd_part_(S: Array) -> Array:
    w, V = np.linalg.eigh(finite_(S + S.T) / 2)
    return (V * np.maximum(w, 0.0)) @ V.T


def projector_(S: Array, k: int) -> Array:
    V = np.linalg.eigh(finite_(S + S.T) / 2)[1][:, -k:]
    return V @ V.T


def gap_middle_(w: Array, k: int) -> float:
    if not len(w):
        return np.nan
    u, k = np.sort(w)[::-1], min(k, len(w))
    size = np.abs(u).max(initial=0)
    above = u[k - 1] if k > 0 else u[0] + size + 1
    below = u[k] if k < len(u) else u[-1] - size - 1
    return (above + below) / 2 if above - below > 4 * len(u) * EPS * size else np.nan


def svd_gap_(X: Array, k: int) -> float:
    s = svdvals_(X)
    if not len(s):
        return np.nan
    return 0.0 if s[: max(k, 1)][-1] <= 4 * sum(X.shape) * EPS * s[0] else gap_middle_(np.append(s, 0.0), k)


def eig_top_(S: Array, k: int) -> Array:
    if not S.size:
        return S
    w, V = np.linalg.eigh(finite_(S + S.T) / 2)
    k = min(k, len(w))
    if k <= 0:
        return np.zeros(S.shape)
    last = np.sort(w)[::-1][k - 1]
    tied = np.abs(w - last) <= 4 * len(w) * EPS * np.abs(w).max()
    above = (w > last) & ~tied
    return (V * np.where(above, 1.0, np.where(tied, (k - np.sum(above)) / np.sum(tied), 0.0))) @ V.T


def svd_top_(X: Array) -> Array:
    if not X.size:
        return X
    U, s, Vt = np.linalg.svd(finite_(X), full_matrices=False)
    top = s[0] - s <= 4 * len(s) * EPS * s[0]
    return np.zeros_like(X) if s[0] == 0 else U[:, top] @ Vt[top] / np.sum(top)


def svd_bottom_(X: Array) -> Array:
    if not X.size:
        return X
    U, s, Vt = np.linalg.svd(finite_(X), full_matrices=False)
    rounding = 4 * len(s) * EPS * s[0]
    low = s - s[-1] <= rounding
    return np.zeros_like(X) if s[-1] <= rounding else U[:, low] @ Vt[low] / np.sum(low)


def lowrank_(X: Array, k: int) -> Array:
    U, s, Vt = np.linalg.svd(finite_(X), full_matrices=False)
    return (U[:, :k] * s[:k]) @ Vt[:k]


def shrink_(X: Array, t: float) -> Array:
    U, s, Vt = np.linalg.svd(finite_(X), full_matrices=False)
    return (U * np.maximum(s - t, 0.0)) @ Vt


def perron_(X: Array, real: bool = False) -> Array:
    if not X.size:
        return X
    X = X / power_of_two_(X)  # some builds of LAPACK scale the matrix and do not undo it
    w, L, R = sl.eig(X, left=True)
    top = np.argmax(np.abs(w))
    pair = abs(w[top].imag) > EPS * abs(w[top])
    if pair and real:
        fault_("spectral_radius: no second derivative where the eigenvalue of largest modulus is complex")
    others = [v for k, v in enumerate(w) if k != top and not (pair and abs(v - np.conj(w[top])) <= EPS * abs(v))]
    left, right = np.conj(L[:, top]), R[:, top]
    with np.errstate(all="ignore"):
        rounding = 4 * len(w) * EPS * (np.abs(left) @ np.abs(X) @ np.abs(right)) / np.abs(left @ right)
        simple = all(abs(w[top]) - abs(v) > rounding for v in others)
        direction = np.conj(w[top]) / (abs(w[top]) or 1.0)
        return np.real(np.outer(left, right) * (direction / (left @ right) if simple else np.nan))
