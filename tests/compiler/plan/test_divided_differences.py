"""Divided differences against mpmath: two, three and four points, ties and gaps, at small and large scales."""

import itertools

import mpmath
import numpy as np
import pytest

import matcalc as mc

FUNCTIONS = {
    "exp": mpmath.exp,
    "log": mpmath.log,
    "sqrt": mpmath.sqrt,
    "tanh": mpmath.tanh,
    "cos": mpmath.cos,
    "atan": mpmath.atan,
    "x -> 1/x": lambda x: 1 / x,
    "x -> x^(5/2)": lambda x: x**2.5,
    "x -> x^(-1/3)": lambda x: mpmath.mpf(x) ** (-mpmath.mpf(1) / 3),
    "x -> x^3 - 2*x": lambda x: x**3 - 2 * x,
    "x -> log(x)^2": lambda x: mpmath.log(x) ** 2,
    "x -> x*exp(-x)": lambda x: x * mpmath.exp(-x),
    "x -> 1/(1 + x^2)": lambda x: 1 / (1 + x**2),
    "x -> sqrt(1 + exp(x))": lambda x: mpmath.sqrt(1 + mpmath.exp(x)),
    "x -> 1/(1.01 - cos(x))": lambda x: 1 / (mpmath.mpf("1.01") - mpmath.cos(x)),
    "x -> hypot(x, 3)": lambda x: mpmath.sqrt(x**2 + 9),
    "x -> logaddexp(x, 2)": lambda x: mpmath.log(mpmath.exp(x) + mpmath.exp(2)),
    "x -> powr(2, x)": lambda x: mpmath.mpf(2) ** x,
    "x -> clip(x, 1, 2)": lambda x: min(max(x, 1), 2),
}
GAPS = [1.0, 0.3, 1e-1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-12, 1e-15, 0.0]
SCALES = [1e-8, 1e-3, 1.0, 30.0, 1e6]
OWN_LENGTH = ("exp", "cos", "tanh", "logaddexp", "powr")  # relative changes of order 1 over a length of 1
PATTERNS = {2: [(0, 1)], 3: [(0, 1, 2), (0, 0, 1), (0, 1, 1)], 4: [(0, 1, 2, 3), (0, 0, 0, 1), (0, 1, 1, 2)]}
BOUND = 1e-11


def points(count):
    """Return rows of points: ties, gaps of one size, a tie beside a gap, at each relative scale."""
    rows = []
    for scale, gap, steps in itertools.product(SCALES, GAPS, PATTERNS[count]):
        rows.append([scale * (1 + gap * k / count) for k in steps])
        rows.append([scale * (1 + (gap if k == count - 1 else 1e-9 * k)) for k in range(count)])
    return np.array(rows)


def exact(f, row, digits=250):
    """Return the divided difference and its size, the largest near the points; a tie is a gap of 1e-60."""
    with mpmath.workdps(digits):
        xs = [mpmath.mpf(x) * (1 + k * mpmath.mpf(10) ** -60) for k, x in enumerate(sorted(row))]
        table = [f(x) for x in xs]
        for order in range(1, len(xs)):
            table = [(b - a) / (xs[k + order] - xs[k]) for k, (a, b) in enumerate(itertools.pairwise(table))]
        return float(table[0])


def is_representable(f, row):
    with mpmath.workdps(30):
        return all(1e-200 < abs(f(mpmath.mpf(x))) < 1e200 for x in row)


@pytest.mark.thinned(8)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("count", PATTERNS)
@pytest.mark.sampled(72)
def test_numpy(name, count):
    check(name, count, "numpy")


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", ["sqrt", "x -> log(x)^2", "x -> hypot(x, 3)"])
@pytest.mark.parametrize("count", PATTERNS)
@pytest.mark.sampled(9)
def test_numba(name, count):
    check(name, count, "numba")


def check(name, count, target):
    f = FUNCTIONS[name]
    smooth = "clip" not in name
    longest = 3 if any(word in name for word in OWN_LENGTH) else np.inf
    rows = np.array([row for row in points(count) if is_representable(f, row) and min(row) < longest])
    names = "abcd"[:count]
    let = "; ".join(f"{x}: vector(m)" for x in names)
    function = mc.compile(mc.expression(f"dd({name}, {', '.join(names)})", let), target=target)
    for order in (slice(None), slice(None, None, -1)):
        found = function(**dict(zip(names, rows[:, order].T, strict=True)))
        for row, value in zip(rows, found, strict=True):
            if not smooth and len(set(row)) < count:
                continue  # a tie at a kink has no divided difference
            wanted = exact(f, row)
            size = max(abs(wanted), typical(f, row, count) if smooth else 1 / np.ptp(row) ** (count - 2))
            assert abs(value - wanted) <= BOUND * size, (row, value, wanted)


def typical(f, row, count):
    """Return the size of the last term of Taylor's series, or of the value at the scale of the points if larger."""
    with mpmath.workdps(40):
        x = mpmath.mpf(max(row))
        return float(max(abs(mpmath.taylor(f, x, count - 1)[-1]), abs(f(x)) / max(x, 1) ** (count - 1)))
