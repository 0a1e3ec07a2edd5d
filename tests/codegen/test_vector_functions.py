"""Elementwise functions as vector arithmetic: errors over the whole range, lanes with rare arguments, shared parts.

The oracle is mpmath. Functions run as users call them, in vectorised loops.
"""

import tomllib

import mpmath
import numpy as np
import pytest
from scipy import special

import matcalc as mc
from benchmarks.whole_range import EXACT, argument, units, whole_range
from matcalc.compiler.numba.engine import widest
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
@pytest.mark.sampled(40)
def test_error_over_the_whole_range(name):
    x = whole_range(name, 300)
    errors = units(name, x, mc.compile(argument(name), declarations=VECTOR)(x))
    worst = int(np.argmax(errors))
    assert errors[worst] <= TABLE[name]["ulp"], (x[worst], errors[worst])


@pytest.mark.thinned(21)
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


@pytest.mark.whole
def test_error_of_betaln():
    """In units of the last place of the value, or of 1/4 beside its zeros; for small, large and unlike arguments."""
    rng = np.random.default_rng(0)
    low = np.concatenate([rng.uniform(0, 3, 300), rng.uniform(0, 30, 100), np.exp(rng.uniform(-200, 200, 200))])
    high = np.concatenate([rng.uniform(0, 3, 300), rng.uniform(0, 30, 100), np.exp(rng.uniform(-200, 200, 100))])
    high = np.concatenate([high, low[-100:] * rng.uniform(0.5, 2.0, 100)])
    got = mc.compile("betaln(x, y)", declarations="x, y: vector(n)")(low, high)
    with mpmath.workdps(250):
        exact = [
            mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)
            for a, b in zip(map(mpmath.mpf, low), map(mpmath.mpf, high), strict=True)
        ]
        errors = [
            abs(g - e) / mpmath.mpf(np.spacing(max(abs(float(e)), 0.25))) for g, e in zip(got, exact, strict=True)
        ]
    assert max(errors) < 2.5


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.whole
def test_error_of_modified_bessel_functions(order):
    rng = np.random.default_rng(order)
    x = np.concatenate(
        [rng.uniform(0, 9, 200), np.exp(rng.uniform(-40, 6.5, 200)), [8.0, np.nextafter(8, 0), 713.9, 1e-300]]
    )
    x = np.concatenate([x, -x])
    got = mc.compile(f"besseli({order}, x)", declarations=VECTOR)(x)
    with mpmath.workdps(40):
        exact = [mpmath.besseli(order, mpmath.mpf(v)) for v in x]
        errors = [abs((g - e) / mpmath.mpf(np.spacing(abs(float(e))))) for g, e in zip(got, exact, strict=True)]
    assert max(errors) < 2.0
    other = mc.compile("besseli(k, x)", declarations="k, x: vector(n)")(
        np.resize([0.0, 1.0, 2.5], 30), np.linspace(0.1, 20.0, 30)
    )
    np.testing.assert_allclose(
        other, special.iv(np.resize([0.0, 1.0, 2.5], 30), np.linspace(0.1, 20.0, 30)), rtol=1e-13
    )


FAR = np.array([1e13, -3e15, 6381956970095103.0 * 2.0**797, 1.7e308, np.inf, -np.inf, np.nan])


@pytest.mark.sampled(12)
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
        is_far = np.abs(x) > 2.0**40  # by libm, which is 8 units off at the argument nearest to a multiple of pi/2
        np.testing.assert_allclose(got[~is_far], np.array(want)[~is_far], rtol=4e-16, atol=0)
        np.testing.assert_allclose(got[is_far], np.array(want)[is_far], rtol=3e-15, atol=0)


@pytest.mark.whole
def test_powers_of_what_is_no_normal_positive_number():
    points = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 5e-324, -3e-310, 1e308, np.inf, -np.inf, np.nan, 0.5, 3.0])
    x, p = (g.ravel() for g in np.meshgrid(points, points))
    with np.errstate(all="ignore"):
        want = np.power(x, p)
    want[np.isneginf(x) & (p != np.rint(p))] = np.nan  # documented: C returns a number there
    got = mc.compile("x.^p", declarations="x, p: vector(n)")(x, p)
    np.testing.assert_allclose(got, want, rtol=2e-16, atol=0)


EDGES = np.array(
    [0.0, -0.0, 5e-324, -5e-324, 1e-310, 1e-300, 1.0, -1.0, 2.0, 0.5, 3.0, 1e150, 1.1e150, np.inf, -np.inf, np.nan]
)
AT_EDGES = {
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "tanh": np.tanh, "asin": np.arcsin,
    "acos": np.arccos, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
}  # fmt: skip


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", AT_EDGES)
def test_zeros_ends_and_what_is_outside(name):
    with np.errstate(all="ignore"):
        want = AT_EDGES[name](EDGES)
    got = mc.compile(f"{name}(x)", declarations=VECTOR)(EDGES)
    np.testing.assert_allclose(got, want, rtol=5e-16, atol=0)
    if name not in ("acos", "acosh"):
        np.testing.assert_array_equal(np.signbit(got[EDGES == 0]), np.signbit(want[EDGES == 0]))


@pytest.mark.whole
def test_logarithms_of_powers_are_whole():
    function = mc.compile(["log2(x)", "log10(y)"], declarations="x: vector(n); y: vector(m)")
    twos, tens = np.arange(-1074, 1024), np.arange(-307, 309)
    got = function(2.0**twos, np.array([float(f"1e{k}") for k in tens]))
    np.testing.assert_array_equal(got[0], twos)
    np.testing.assert_array_equal(got[1], tens)


@pytest.mark.whole
@pytest.mark.parametrize("name", ["gammaln", "digamma"])
def test_gamma_next_to_where_its_form_changes(name):
    """Around the zeros, 1, 2.5, 3 and the largest subnormal number, with negative arguments in any lane."""
    ends = np.array([1e-300, 2.2250738585072014e-308, 1.0, 1.4616321449683622, 2.0, 2.5, 3.0, 1e300])
    x = np.concatenate([np.nextafter(ends, 0), ends, np.nextafter(ends, np.inf), ends * (1 + 1e-9), [5e-324, 1e-310]])
    function = mc.compile(f"{name}(x)", declarations=VECTOR)
    assert max(units(name, x, function(x))) <= TABLE[name]["ulp"]
    scipys = {"gammaln": special.gammaln, "digamma": special.psi}[name]
    for lane in range(9):
        x = np.linspace(0.3, 40.0, 19)
        x[lane::9] = [-0.5, [0.0, -3.0, np.inf, np.nan, -7.3, -0.0, 1e305, -1e-320, -41.5][lane], -2.2][
            : len(x[lane::9])
        ]
        np.testing.assert_allclose(function(x), scipys(x), rtol=1e-14, atol=0)


@pytest.mark.whole
def test_roots_of_the_gamma_functions():
    """Where the value is nearly 0, its relative error is at most a few units in the last digit."""
    assert mc.compile("gammaln(x)", declarations=VECTOR)(np.array([1.0, 2.0])).tolist() == [0.0, 0.0]
    root = np.array([1.4616321449683622, 1.4616321449683624])
    with mpmath.workdps(40):
        want = [float(mpmath.digamma(mpmath.mpf(v))) for v in root]
    np.testing.assert_allclose(mc.compile("digamma(x)", declarations=VECTOR)(root), want, rtol=4e-16)


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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["tanh", "sigmoid", "softplus", "sin", "erf"])
def test_derivative_is_right_in_the_tails(name):
    """A value and a derivative that share an exponential or reduction lose no digits where the derivative is small."""
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
