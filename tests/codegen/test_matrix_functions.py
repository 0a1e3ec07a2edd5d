"""Functions of a general matrix against mpmath, with up to two tangents, on both targets.

The derivatives are differences of the function at 60 digits. They share no algorithm with the kernels.
"""

import functools
import itertools

import mpmath as mp
import numpy as np
import pytest

import matcalc as mc

N = 3
RNG = np.random.default_rng(11)
RANDOM = RNG.standard_normal((N, N))
TANGENTS = RNG.standard_normal((2, N, N))
INSIDE = np.eye(N) + 0.4 * RANDOM
# a matrix for each case of the algorithms: its norm, its nearest special matrix, repeated and close eigenvalues
MATRICES = {
    "random": RANDOM,
    "inside": INSIDE,
    "large": 9.0 * INSIDE,
    "Jordan": np.array([[2.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.0, 0.0, 2.0]]),
    "far from normal": np.array([[1.0, 50.0, -30.0], [0.0, 1.1, 80.0], [0.0, 0.0, 3.0]]),
    "rotation": np.array([[0.0, -2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    "left half plane": np.array([[-1.0, -2.0, 0.0], [0.5, -1.0, 0.3], [0.0, 0.0, 1.0]]),
    "close": np.diag([1.0, 1.0 + 1e-9, 2.0]) + 1e-3 * np.tril(RANDOM),
    "identity": np.eye(N),
    "tiny": 1e-100 * INSIDE,
    "huge": 1e100 * INSIDE,
}
ENTIRE = ["random", "inside", "large", "Jordan", "far from normal", "rotation", "close", "identity"]
CUT = [name for name in MATRICES if name != "random"]


def power(p):
    return lambda X: mp.expm(mp.mpf(p) * mp.logm(X))


# text -> its value at 60 digits, the matrices in its domain, tangents
FUNCTIONS = {
    "expm(X)": (lambda X: mp.expm(X, method="taylor"), ENTIRE, 2),
    "cosm(X)": (mp.cosm, ENTIRE, 2),
    "sinm(X)": (mp.sinm, ENTIRE, 2),
    "logm(X)": (mp.logm, CUT, 2),
    "sqrtm(X)": (mp.sqrtm, CUT, 1),
    "powm(X, 0.3)": (power(0.3), CUT, 2),
    "powm(X, -1.75)": (power(-1.75), [m for m in CUT if m not in ("tiny", "huge")], 2),
    "powm(X, 14)": (lambda X: X**14, [m for m in MATRICES if m not in ("tiny", "huge")], 2),
    "powm(X, -13)": (lambda X: mp.inverse(X) ** 13, ["random", "inside", "large", "rotation", "identity"], 2),
}
COUNTED = [(text, k) for text, (_, _, tangents) in FUNCTIONS.items() for k in range(tangents + 1)]
CASES = [pytest.param(text, k, marks=[pytest.mark.whole] if k else []) for text, k in COUNTED]  # slow in mpmath
NAMES = ["E", "F"]


@functools.cache
def exact(text, name, count, direction=None):
    """Return the derivative of a function along tangents by central differences at high precision."""
    function, names, _ = FUNCTIONS[text]
    array = MATRICES[name]
    largest = np.max(np.abs(array))
    tangents = [*TANGENTS[:count], *([] if direction is None else [largest * TANGENTS[direction]])]
    with mp.workdps(64):
        X, step = mp.matrix(array.tolist()), mp.mpf(10) ** -14 * (1 if names is ENTIRE else largest)
        total = mp.zeros(N, N)
        for signs in itertools.product((1, -1), repeat=len(tangents)):
            at = X
            for sign, E in zip(signs, tangents, strict=True):
                at = at + sign * step * mp.matrix(E.tolist())
            total += int(np.prod(signs)) * function(at)
        return (total / (2 * step) ** len(tangents)).apply(mp.re)


def condition(text, name, count):
    """Return the relative change of the derivative for a relative change of X by 1."""
    norm = mp.mnorm(exact(text, name, count), 1)
    return float(max(1, *(mp.mnorm(exact(text, name, count, k), 1) / norm for k in range(2))))


@functools.cache
def compiled(text, count, target):
    e, let = mc.expression(text, "X: matrix(n, n)"), "".join(f"; {t}: matrix(n, n)" for t in NAMES[:count])
    for tangent in NAMES[:count]:
        e = mc.jvp(e, "X", tangent=tangent, declarations="X: matrix(n, n)" + let)
    return mc.compile(e, target=target)


@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize(("text", "count"), CASES)
@pytest.mark.sampled(60)
@pytest.mark.thinned(12)
def test_against_high_precision(text, count, target):
    function = compiled(text, count, target)
    for name in FUNCTIONS[text][1]:
        found = function(X=MATRICES[name], **dict(zip(NAMES, TANGENTS[:count], strict=False)))
        wanted = exact(text, name, count)
        error, bound = mp.mnorm(mp.matrix(found.tolist()) - wanted, 1), 2e-15 * N * mp.mnorm(wanted, 1)
        assert error <= bound or error < bound * condition(text, name, count), (name, float(error / bound))


@pytest.mark.parametrize("power", ["2^63", "2^64 + 1", "1e300", "-1e300"])
def test_a_power_of_more_than_64_bits_is_refused(power):
    with pytest.raises(mc.NotSupported, match="more than 64 bits"):
        mc.compile(f"powm(X, {power})", check=False)


@pytest.mark.whole
def test_the_largest_power():
    found = mc.compile("powm(X, 2^63 - 1)")(np.diag([1.0, -1.0, 0.5]))
    assert np.array_equal(found, np.diag([1.0, -1.0, 0.0]))
