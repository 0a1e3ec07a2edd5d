"""Functions of scipy.special on symbols: values and derivatives against SciPy's own values and differences of them."""

import numpy as np
import pytest
from scipy import special

import matcalc as mc

POSITIVE = (1e-17, 1e-9, 1e-3, 0.3, 1.0, 2.5, 30.0, 600.0)
REAL = (*(-x for x in reversed(POSITIVE)), 0.0, *POSITIVE)
ONE = {
    "j0": REAL, "j1": REAL, "i0": REAL, "i0e": (*REAL, 1e5), "i1": REAL, "k0": POSITIVE, "k1": POSITIVE,
    "log_expit": (*REAL, -1e5), "exp10": REAL[:-1], "exprel": REAL, "cosm1": REAL, "y0": POSITIVE, "y1": POSITIVE,
    "i1e": (*REAL, 1e5), "k0e": (*POSITIVE, 1e5), "k1e": (*POSITIVE, 1e5), "cbrt": REAL, "dawsn": (*REAL, 7.5, 1e5),
    "erfi": REAL[1:-1], "ndtri": (0.0, 1e-300, 1e-9, 0.3, 0.5, 0.9, 1.0, 1.5), "erfcinv": (1e-300, 1e-9, 0.3, 1.0, 1.9),
}  # fmt: skip
POWERS = (0.0, 1e-12, 0.5, -1.0)
TWO = {
    "powm1": (POSITIVE, POWERS), "boxcox": (POSITIVE, POWERS),
    "boxcox1p": (POSITIVE, POWERS), "inv_boxcox": ((-0.5, 0.0, 0.3, 2.0), (0.0, 1e-12, 0.5, 1.0)),
    "inv_boxcox1p": ((-0.5, 1e-12, 0.3, 2.0), (0.0, 1e-12, 0.5, 1.0)), "huber": ((-1.0, 0.0, 1.3), REAL),
    "xlog1py": ((-1.3, 0.0, 2.0), (-0.5, 0.0, 1e-17, 1e-9, 0.3, 600.0)),
    **{name: ((-2, 0, 0.5, 3), POSITIVE[2:-1]) for name in ("yv", "jve", "yve", "ive", "kve")},
    "pseudo_huber": ((0.2, 1.3), (-30.0, -1e-3, 0.0, 0.3, 2.5)),
}  # fmt: skip
FIXED = {(name, 0) for name in ("yv", "jve", "yve", "ive", "kve")}
"""Arguments in which a function has no derivative: orders."""


def called(name, parameters):
    scope = {"special": special}
    exec(f"def f({parameters}):\n    return special.{name}({parameters})", scope)
    return scope["f"]


def differences(name, arguments, k, h=1e-6):
    """Return central differences of SciPy's function, and those of half the step, which tell the error."""
    step = h * max(1.0, abs(arguments[k]))
    found = []
    for one in (step, step / 2):
        above, below = (tuple(x + s * one * (i == k) for i, x in enumerate(arguments)) for s in (1, -1))
        found.append((getattr(special, name)(*above) - getattr(special, name)(*below)) / (2 * one))
    return found


def check(name, parameters, points):
    function = called(name, parameters)
    e = mc.expression(function, "; ".join(f"{one}: scalar" for one in parameters.split(", ")))
    slopes = {k: e.gradient(one) for k, one in enumerate(parameters.split(", ")) if (name, k) not in FIXED}
    call = mc.compile([e, *slopes.values()])
    assert e.checked.startswith("at ") and "its own node" not in e.checked
    for at in points:
        with np.errstate(all="ignore"):
            expected = getattr(special, name)(*at)
            values = call(*at)
            np.testing.assert_allclose([e(*at), values[0]], expected, rtol=1e-11, atol=1e-300, err_msg=f"{name}{at}")
            for slope, compiled, k in zip(slopes.values(), values[1:], slopes, strict=True):
                one, half = differences(name, at, k)
                if np.isfinite(one) and abs(one - half) < 1e-5 * abs(one):
                    np.testing.assert_allclose(
                        [slope(*at), compiled], one, rtol=1e-4, atol=1e-9, err_msg=f"{name}{at} {k}"
                    )


@pytest.mark.parametrize("name", ONE)
@pytest.mark.sampled(11)
def test_functions_of_one_argument(name):
    check(name, "x", [(x,) for x in ONE[name]])


@pytest.mark.parametrize("name", TWO)
@pytest.mark.whole
def test_functions_of_two_arguments(name):
    first, second = TWO[name]
    check(name, "a, b", [(x, y) for x in first for y in second])


@pytest.mark.whole
@pytest.mark.parametrize(("name", "sign"), [("kn", -1), ("yn", 1)])
def test_bessel_functions_of_an_integer_order(name, sign):
    theirs = getattr(special, name)
    scope = {"special": special}
    exec(f"def f(x):\n    return special.{name}(3, x)", scope)
    e = mc.expression(scope["f"], "x: scalar positive")
    for x in POSITIVE[2:]:
        np.testing.assert_allclose(e(x), theirs(3, x), rtol=1e-12)
        slope = (sign * theirs(2, x) - theirs(4, x)) / 2
        np.testing.assert_allclose(e.gradient("x")(x), slope, rtol=1e-12)
    with pytest.raises(mc.NotSupported, match="takes an integer as its order"):
        mc.expression(called(name, "n, x"), "n: scalar; x: scalar")


MANY_DIGITS = {
    "dawsn": (lambda mp, x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), (-30.0, -7.1, -6.9, 0.3, 0.99, 4.0)),
    "erfi": (lambda mp, x: mp.erfi(x), (-5.0, -1e-9, 0.4, 3.0)),
    "cbrt": (lambda mp, x: mp.sign(x) * mp.cbrt(abs(x)), (-30.0, -1e-9, 0.4, 3e5)),
    "ndtri": (
        lambda mp, x: mp.findroot(lambda z: mp.log(mp.erfc(-z / mp.sqrt(2)) / 2) - mp.log(x), special.ndtri(float(x))),
        (1e-100, 1e-9, 0.4, 0.9),
    ),
    "y0": (lambda mp, x: mp.bessely(0, x), (1e-3, 0.5, 30.0)),
    "k1e": (lambda mp, x: mp.besselk(1, x) * mp.exp(x), (1e-3, 0.5, 30.0)),
    "i0e": (lambda mp, x: mp.besseli(0, x) * mp.exp(-abs(x)), (-2.0, 1e-3, 0.5, 30.0)),
}


@pytest.mark.parametrize("name", MANY_DIGITS)
@pytest.mark.sampled(3)
def test_values_and_two_derivatives_against_many_digits(name):
    mpmath = pytest.importorskip("mpmath")
    function, points = MANY_DIGITS[name]
    x = np.array(points)
    e = mc.expression(called(name, "x"), "x: scalar")
    found = mc.compile([e, e.gradient("x"), e.gradient("x").gradient("x")])
    for one in x:
        with mpmath.workdps(60):
            at = mpmath.mpf(float(one))
            expected = [float(function(mpmath, at))]
            expected += [float(mpmath.diff(lambda t: function(mpmath, t), at, k, h=abs(at) * 1e-15)) for k in (1, 2)]
        np.testing.assert_allclose(found(one), expected, rtol=3e-12, err_msg=f"{name}({one})")


@pytest.mark.parametrize("second", [2.5, "b"])
def test_beta_of_positive_arguments(second):
    given = {"a": np.array([1e-3, 0.7, 40.0])} | ({} if second == 2.5 else {"b": np.array([3.0, 0.2, 300.0])})
    letters = ", ".join(given)
    f = called("beta", "a, b") if "b" in given else lambda a: special.beta(a, 2.5)
    e = mc.expression(f, "; ".join(f"{one}: vector(3) positive" for one in given))
    np.testing.assert_allclose(e(**given), f(*given.values()), rtol=1e-12)
    slope = np.diag(e.jacobian("a")(**given))
    b = given.get("b", 2.5)
    np.testing.assert_allclose(slope, f(*given.values()) * (special.psi(given["a"]) - special.psi(given["a"] + b)))
    with pytest.raises(mc.NotSupported, match="known to be positive"):
        mc.expression(f, "; ".join(f"{one}: vector(3)" for one in letters.split(", ")))


def test_loggamma_of_positive_arguments():
    x = np.array([1e-3, 0.7, 40.0])
    e = mc.expression(called("loggamma", "x"), "x: vector(3) positive")
    np.testing.assert_allclose(e(x=x), special.gammaln(x), rtol=1e-13)
    np.testing.assert_allclose(np.diag(e.jacobian("x")(x=x)), special.psi(x), rtol=1e-13)
    with pytest.raises(mc.NotSupported, match="no real value for an argument below 0"):
        mc.expression(called("loggamma", "x"), "x: vector(3)")


def test_betaincc_of_small_and_large_arguments():
    x = np.array([1e-3, 0.2, 0.7, 1 - 1e-9])
    e = mc.expression(lambda x: special.betaincc(2.3, 1.4, x), "x: vector(4)")
    np.testing.assert_allclose(e(x=x), special.betaincc(2.3, 1.4, x), rtol=1e-13)
    slope = -np.exp(1.3 * np.log(x) + 0.4 * np.log1p(-x) - special.betaln(2.3, 1.4))
    np.testing.assert_allclose(np.diag(e.jacobian("x")(x=x)), slope, rtol=1e-7)


def test_logarithms_of_scaled_bessel_functions_do_not_underflow():
    e = mc.expression(lambda x: np.log(special.i0e(x)), "x: scalar positive")
    np.testing.assert_allclose(e(1e4), np.log(special.i0e(1e4)), rtol=1e-12)
    assert str(e.gradient("x")).startswith("log_besseli_diff(1, 0, x) - 1")


@pytest.mark.parametrize("name", ["rgamma", "spence", "ellipk", "zetac", "exp1"])
def test_another_function_is_refused_by_its_name(name):
    with pytest.raises(mc.NotSupported, match=rf"^scipy\.special\.{name}: this function is not supported on symbols"):
        mc.expression(called(name, "x"), "x: scalar")


@pytest.mark.parametrize("name", ["gammaln", "expit", "entr", "erfinv", "gammainc"])
def test_functions_of_real_numbers_alone_are_compared_by_differences(name):
    """Complex steps fail there; the reference is still the function itself."""
    parameters = "a, x" if name == "gammainc" else "x"
    e = mc.expression(called(name, parameters), "; ".join(f"{one}: scalar positive" for one in parameters.split(", ")))
    found = e.gradient("x").checked
    assert found.startswith("at ") and "its own node" not in found


@pytest.mark.parametrize("delta", [0, 1.0, 0.7, np.array([1.0, 0.5, 2.5, 0.2])], ids=str)
def test_huber_with_numbers_as_threshold(delta):
    x = np.array([0.3, -2.0, 1.5, 0.9])

    def f(x):
        return special.huber(delta, x)

    np.testing.assert_allclose(mc.expression(f, "x: vector(4)")(x=x), f(x), rtol=1e-14)
    slope = np.clip(x, -np.asarray(delta), delta)
    np.testing.assert_allclose(
        mc.gradient(lambda x: np.sum(f(x)), "x", "x: vector(4)")(x=x), slope, rtol=1e-14, atol=1e-16
    )


def test_huber_of_a_negative_threshold_is_refused():
    with pytest.raises(mc.NotSupported, match="threshold of at least 0"):
        mc.expression(lambda x: special.huber(-1.0, x), "x: vector(4)")


@pytest.mark.parametrize("order", [0, 1, 4])
def test_polygamma_against_many_digits(order):
    mpmath = pytest.importorskip("mpmath")
    x = np.array([1e-3, 0.3, 2.5, 30.0])
    with mpmath.workdps(50):
        value, slope = ([float(mpmath.polygamma(n, mpmath.mpf(one))) for one in x] for n in (order, order + 1))
        value, slope = list(value), list(slope)
    e = mc.expression(lambda x: special.polygamma(order, x), "x: vector(4)")
    g = mc.gradient(lambda x: np.sum(special.polygamma(order, x)), "x", "x: vector(4)")
    np.testing.assert_allclose(e(x=x), value, rtol=1e-13)
    np.testing.assert_allclose(g(x=x), slope, rtol=1e-13)


@pytest.mark.parametrize("order", [1.5, -1, [1, 2]], ids=str)
def test_polygamma_of_another_order_is_refused(order):
    with pytest.raises(mc.NotSupported, match="integer from 0"):
        mc.expression(lambda x: special.polygamma(order, x), "x: vector(2)")
