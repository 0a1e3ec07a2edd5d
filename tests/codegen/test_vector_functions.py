"""Elementwise functions as vector arithmetic: errors over the whole range, lanes with rare arguments, what is shared.

The oracle is mpmath. Functions run as users call them, in loops that are vectorised.
"""

import tomllib

import mpmath
import numpy as np
import pytest

import matcalc as mc
from benchmarks.whole_range import EXACT, argument, units, whole_range
from matcalc.compiler.runtime.engine import widest
from matcalc.store.data_folders import data_folder

TABLE = tomllib.loads((data_folder("codegen") / "scalars.toml").read_text())
STATED = [name for name in TABLE if "ulp" in TABLE[name] and name != "powr"]
MOST = 2.0
VECTOR = "x: vector(n)"


def test_each_stated_error_is_tested_and_small():
    assert set(STATED) == set(EXACT)
    assert all(TABLE[name]["ulp"] <= MOST for name in STATED)
    assert all(TABLE[name]["ulp"] <= 1.0 for name in ("exp", "log"))


@pytest.mark.parametrize("name", STATED)
@pytest.mark.sampled(10)
def test_error_over_the_whole_range(name):
    x = whole_range(name, 300)
    errors = units(name, x, mc.compile(argument(name), declarations=VECTOR)(x))
    worst = int(np.argmax(errors))
    assert errors[worst] <= TABLE[name]["ulp"], (x[worst], errors[worst])


@pytest.mark.parametrize("name", STATED)
@pytest.mark.whole
def test_error_at_many_points_of_the_whole_range(name):
    function = mc.compile(argument(name), declarations=VECTOR)
    for seed in (1, 2, 3):
        x = whole_range(name, 9_000, seed)
        errors = units(name, x, function(x))
        worst = int(np.argmax(errors))
        assert errors[worst] <= TABLE[name]["ulp"], (x[worst], errors[worst])


@pytest.mark.parametrize("power", [-3.7, -0.3, 1 / 3, 17.25, 400.5])
@pytest.mark.whole
def test_error_of_powers(power):
    x = whole_range("pow", 6_000)
    got = mc.compile(f"x.^({power!r})", declarations=VECTOR)(x)
    with mpmath.workdps(40):
        exact = [mpmath.mpf(v) ** mpmath.mpf(power) for v in x]
        rounded = np.array([float(e) for e in exact])
        inside = (rounded > 0) & (rounded < 8e307)
        np.testing.assert_array_equal(got[~inside & (rounded != 0) & np.isinf(rounded)], np.inf)
        errors = [
            abs((mpmath.mpf(g) - e) / mpmath.mpf(np.spacing(r)))
            for g, e, r, ok in zip(got, exact, rounded, inside, strict=True)
            if ok
        ]
    assert max(errors) <= TABLE["powr"]["ulp"]


FAR = np.array([1e13, -3e15, 6381956970095103.0 * 2.0**797, 1.7e308, np.inf, -np.inf, np.nan])


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 31, 100])
def test_huge_arguments_among_others_in_any_lane(name, size):
    function = mc.compile(f"{name}(x)", declarations=VECTOR)
    for first in range(min(size, 9)):
        x = np.linspace(-4.0, 4.0, size)
        places = np.arange(first, size, 9)
        x[places] = np.resize(FAR, len(places))
        with mpmath.workdps(400):
            want = [float(getattr(mpmath, name)(mpmath.mpf(v))) if np.isfinite(v) else np.nan for v in x]
        got = function(x)
        is_far = np.abs(x) > 2.0**40  # by libm, 8 units off at the argument that is nearest to a multiple of pi/2
        np.testing.assert_allclose(got[~is_far], np.array(want)[~is_far], rtol=4e-16, atol=0)
        np.testing.assert_allclose(got[is_far], np.array(want)[is_far], rtol=3e-15, atol=0)


def test_powers_of_what_is_no_normal_positive_number():
    points = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 5e-324, -3e-310, 1e308, np.inf, -np.inf, np.nan, 0.5, 3.0])
    x, p = (g.ravel() for g in np.meshgrid(points, points))
    with np.errstate(all="ignore"):
        want = np.power(x, p)
    want[np.isneginf(x) & (p != np.rint(p))] = np.nan  # stated: C has a number there
    got = mc.compile("x.^p", declarations="x, p: vector(n)")(x, p)
    np.testing.assert_allclose(got, want, rtol=2e-16, atol=0)


@pytest.mark.parametrize("kind", ["empty", "one", "strided", "read-only", "onto itself"])
def test_layouts(kind):
    function = mc.compile("sin(x) + erf(x)", declarations=VECTOR)
    long = np.linspace(-9.0, 9.0, 40)
    x = {"empty": long[:0], "one": long[:1], "strided": long[::3]}.get(kind, long.copy())
    want = np.array([float(mpmath.sin(v) + mpmath.erf(v)) for v in x])
    if kind == "read-only":
        x.flags.writeable = False
    got = function(x, out=x) if kind == "onto itself" else function(x)
    np.testing.assert_allclose(got, want, rtol=1e-14, atol=1e-15)


def test_widest_vectors_where_they_cost_no_clock():
    assert widest("+avx2,+avx512f,+avx512vbmi2") == "+avx2,+avx512f,+avx512vbmi2,-prefer-256-bit"
    assert widest("+avx2,+avx512f,-avx512vbmi2") == "+avx2,+avx512f,-avx512vbmi2"
    assert widest("+neon") == "+neon"


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "softplus", "sin", "erf"])
def test_derivative_is_right_in_the_tails(name):
    """Value and derivative from one exponential, or one reduction, lose no digits where the derivative is small."""
    x = np.concatenate([np.linspace(-36.0, 36.0, 73), [-300.0, 300.0, 1e-9, 0.0]])
    x = x[np.abs(x) < 26] if name == "erf" else x
    value, slope = mc.compile([f"{name}(x)", mc.gradient(f"sum({name}(x))", "x", declarations=VECTOR)])(x)
    with mpmath.workdps(300):
        exact = EXACT[name]
        np.testing.assert_allclose(value, [float(exact(mpmath.mpf(v))) for v in x], rtol=5e-16)
        slopes = [float(SLOPES[name](mpmath.mpf(v))) for v in x]
    np.testing.assert_allclose(slope, slopes, rtol=2e-13 if name == "erf" else 2e-15)  # exp(-x^2) of a rounded square


SLOPES = {
    "tanh": lambda x: 1 / mpmath.cosh(x) ** 2,
    "sigmoid": lambda x: 1 / ((1 + mpmath.exp(-x)) * (1 + mpmath.exp(x))),
    "softplus": lambda x: 1 / (1 + mpmath.exp(-x)),
    "sin": mpmath.cos,
    "erf": lambda x: 2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-x * x),
}
