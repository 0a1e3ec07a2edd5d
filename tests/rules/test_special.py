"""Special functions and divided differences against mpmath, compiled by both targets, over broad ranges."""

import mpmath
import numpy as np
import pytest

import matcalc as mc

TARGETS = ("numba", "numpy")
DIVIDED = {
    "exp": (mpmath.exp, -40, 40), "expm1": (mpmath.expm1, -40, 40),
    "sigmoid": (lambda x: 1 / (1 + mpmath.exp(-x)), -40, 40),
    "tanh": (mpmath.tanh, -40, 40), "sinh": (mpmath.sinh, -9, 9), "cosh": (mpmath.cosh, -9, 9),
    "tan": (mpmath.tan, -1.4, 1.4), "atanh": (mpmath.atanh, -0.9, 0.9), "log": (mpmath.log, 1e-12, 1e3),
    "log1p": (mpmath.log1p, -0.9, 1e3),
}  # fmt: skip


def worst(text, let, data, exact, target):
    """Return the worst relative error of an expression at data, against the exact values."""
    found = np.asarray(mc.compile(mc.expression(text, let), target=target)(*data))
    return max(float(abs((mpmath.mpf(f) - e) / e)) for f, e in zip(map(float, found), exact, strict=True))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", DIVIDED)
@pytest.mark.sampled(21)
def test_divided_differences_near_ties_and_across_wide_gaps(name, target):
    function, low, high = DIVIDED[name]
    rng = np.random.default_rng(4)
    a = np.exp(rng.uniform(np.log(low), np.log(high), 40)) if low > 0 else rng.uniform(low, high, 40)
    b = np.concatenate((a[:20] * (1 + 10 ** rng.uniform(-15, -3, 20)), rng.permutation(a[20:])))
    b[0] = a[0]
    fact = " positive" if low > 0 else ""
    with mpmath.workdps(60):
        pairs = [(mpmath.mpf(float(p)), mpmath.mpf(float(q))) for p, q in zip(a, b, strict=True)]
        exact = [(function(p) - function(q)) / (p - q) if p != q else mpmath.diff(function, p) for p, q in pairs]
        text, let = f"dd({name}, a, b)", f"a: vector(n){fact}; b: vector(n){fact}"
        assert worst(text, let, (a, b), exact, target) < 1e-14


@pytest.mark.parametrize("target", TARGETS)
def test_divided_difference_of_exp_across_the_range_of_doubles(target):
    f = mc.compile(mc.expression("dd(exp, a, b)", "a: vector(n); b: vector(n)"), target=target)
    np.testing.assert_allclose(f(np.array([0.0, -2000.0]), np.array([-2000.0, 0.0])), 1 / 2000, rtol=1e-14)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("power", "exact"), [("-1", lambda a, b: -1 / (a * b)), ("1/2", lambda a, b: 1 / (a + b))])
def test_divided_differences_of_powers(power, exact, target):
    """Divided differences of 1/x with arguments of both signs, and of the root at 0."""
    a = np.array([2.0, -2.0, 3.0, 1e-10, 1e-200, 4.0])
    b = np.array([-3.0, -2.0000001, 3.0000001, 1.0, 1e100, 0.5])
    if power == "1/2":
        a, b = np.abs(a), np.array([3.0, 2.0000001, 3.0000001, 1.0, 1e100, 0.0])
    with mpmath.workdps(60):
        pairs = [(mpmath.mpf(float(p)), mpmath.mpf(float(q))) for p, q in zip(a, b, strict=True)]
        values = [exact(*(map(mpmath.sqrt, pair) if power == "1/2" else pair)) for pair in pairs]
        text = f"dd(x -> x.^({power}), a, b)"
        assert worst(text, "a: vector(n); b: vector(n)", (a, b), values, target) < 1e-14


def erfcx(order, x):
    """Return (-2)^k k! exp(x^2) times the k-th integral of erfc, by recurrence in high precision."""
    with mpmath.workdps(250):
        terms = [2 / mpmath.sqrt(mpmath.pi), mpmath.exp(x * x) * mpmath.erfc(x)]
        for n in range(1, order + 1):
            terms.append((terms[-2] - 2 * x * terms[-1]) / (2 * n))
        return (-2) ** order * mpmath.factorial(order) * terms[-1]


def log_ndtr(order, x):
    """Return the k-th derivative by h' = -h*(x + h) in high precision."""
    with mpmath.workdps(250):
        h = [mpmath.npdf(x) / (mpmath.erfc(-x / mpmath.sqrt(2)) / 2)]
        for n in range(order - 1):
            q = [h[0] + x, *(h[m] + (m == 1) for m in range(1, n + 1))]
            h.append(-sum(mpmath.binomial(n, j) * h[j] * q[n - j] for j in range(n + 1)))
        return h[-1]


FAMILIES = {"erfcx_diff": (erfcx, -15, 40), "log_ndtr_diff": (log_ndtr, -40, 12)}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.whole
def test_all_derivatives_of_a_family(name, order, target):
    exact, low, high = FAMILIES[name]
    x = np.random.default_rng(order).uniform(low, high, 80)
    values = [exact(order, mpmath.mpf(float(v))) for v in x]
    with mpmath.workdps(40):
        assert worst(f"{name}({order}, x)", "x: vector(n)", (x,), values, target) < 1e-12


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["erfcx", "sinc", "log_ndtr", "digamma", "lambertw", "erfinv"])
@pytest.mark.whole
def test_nan_comes_out_as_nan(name, target):
    x = np.array([0.5, np.nan])
    for expression in (mc.expression(f"{name}(x)", "x: vector(n)"), mc.gradient(f"sum({name}(x))", "x")):
        found = np.asarray(mc.compile(expression, target=target)(x))
        assert np.isfinite(found[0])
        assert np.isnan(found[1])


def lower_gamma(a, x):
    return mpmath.gammainc(a, 0, x, regularized=True) if x < a else -mpmath.gammainc(a, x, mpmath.inf, regularized=True)


def lower_beta(a, b, x):
    """Compute the value by the series at the nearer end."""
    if x * (a + b) > a:
        return -lower_beta(b, a, 1 - x)
    front = mpmath.exp(a * mpmath.log(x) + b * mpmath.log(1 - x) - logs_of_beta(a, b))
    return front / a * mpmath.hyp2f1(a + b, 1, a + 1, x)


def logs_of_beta(a, b):
    return mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)


INCOMPLETE = {
    "gammainc_diff(1, 0, a, x)": (1, 0), "gammainc_diff(0, 1, a, x)": (0, 1), "gammainc_diff(2, 0, a, x)": (2, 0),
    "gammainc_diff(1, 1, a, x)": (1, 1), "gammainc_diff(0, 2, a, x)": (0, 2),
    "betainc_diff(1, 0, 0, a, b, x)": (1, 0, 0), "betainc_diff(0, 1, 0, a, b, x)": (0, 1, 0),
    "betainc_diff(0, 0, 1, a, b, x)": (0, 0, 1), "betainc_diff(1, 1, 0, a, b, x)": (1, 1, 0),
    "betainc_diff(2, 0, 0, a, b, x)": (2, 0, 0), "betainc_diff(0, 1, 1, a, b, x)": (0, 1, 1),
}  # fmt: skip


@pytest.mark.parametrize("target", TARGETS[::-1])
@pytest.mark.parametrize("text", INCOMPLETE)
@pytest.mark.sampled(30)
def test_incomplete_functions_in_every_argument(text, target):
    """Parameters from 1e-3 to 1e3, in the bulk and far in the tails."""
    orders = INCOMPLETE[text]
    rng = np.random.default_rng(sum(orders))
    a, b, u = 10 ** rng.uniform(-3, 3, 12), 10 ** rng.uniform(-3, 3, 12), rng.uniform(0.02, 0.98, 12)
    given = (a, a * 10 ** rng.uniform(-1, 0.6, 12)) if len(orders) == 2 else (a, b, u)
    function = lower_gamma if len(orders) == 2 else lower_beta
    let = "a: vector(n) positive; b: vector(n) positive; x: vector(n) nonnegative"
    with mpmath.workdps(30):
        points = [tuple(mpmath.mpf(float(v)) for v in row) for row in zip(*given, strict=True)]
        exact = [mpmath.diff(function, point, orders, h=mpmath.mpf(10) ** -12 * min(point)) for point in points]
        kept = [k for k, e in enumerate(exact) if abs(e) > 1e-290]
        data = [v[kept] for v in given]
        assert worst(text, let, data, [exact[k] for k in kept], target) < 5e-12


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.whole
def test_log_of_beta_and_its_derivatives(target):
    rng = np.random.default_rng(7)
    a, b = 10 ** rng.uniform(-8, 8, 40), 10 ** rng.uniform(-8, 8, 40)
    let = "a: vector(n) positive; b: vector(n) positive"
    with mpmath.workdps(60):
        points = [(mpmath.mpf(float(p)), mpmath.mpf(float(q))) for p, q in zip(a, b, strict=True)]
        exact = [logs_of_beta(p, q) for p, q in points]
        assert worst("betaln(a, b)", let, (a, b), exact, target) < 1e-14
        for k in range(3):
            gaps = [mpmath.psi(k, p) - mpmath.psi(k, p + q) for p, q in points]
            assert worst(f"psi_gap({k}, a, b)", let, (a, b), gaps, target) < 1e-13
