"""Functions of scipy.special on symbols: values and derivatives against SciPy's own values and differences of them."""

import numpy as np
import pytest
from scipy import special

import matcalc as mc

POSITIVE = (1e-17, 1e-9, 1e-3, 0.3, 1.0, 2.5, 30.0, 600.0)
REAL = (*(-x for x in reversed(POSITIVE)), 0.0, *POSITIVE)
ONE = {
    "j0": REAL, "j1": REAL, "i0": REAL, "i0e": (*REAL, 1e5), "i1": REAL, "k0": POSITIVE, "k1": POSITIVE,
    "log_expit": (*REAL, -1e5), "exp10": REAL[:-1], "exprel": REAL, "cosm1": REAL,
}  # fmt: skip
POWERS = (0.0, 1e-12, 0.5, -1.0)
TWO = {
    "powm1": (POSITIVE, POWERS), "boxcox": (POSITIVE, POWERS),
    "boxcox1p": (POSITIVE, POWERS), "inv_boxcox": ((-0.5, 0.0, 0.3, 2.0), (0.0, 1e-12, 0.5, 1.0)),
    "inv_boxcox1p": ((-0.5, 1e-12, 0.3, 2.0), (0.0, 1e-12, 0.5, 1.0)), "huber": ((-1.0, 0.0, 1.3), REAL),
    "pseudo_huber": ((0.2, 1.3), (-30.0, -1e-3, 0.0, 0.3, 2.5)),
}  # fmt: skip


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
    slopes = {k: e.gradient(one) for k, one in enumerate(parameters.split(", "))}
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
@pytest.mark.sampled(6)
def test_functions_of_two_arguments(name):
    first, second = TWO[name]
    check(name, "a, b", [(x, y) for x in first for y in second])


def test_bessel_functions_of_an_integer_order():
    e = mc.expression(lambda x: special.kn(3, x), "x: scalar positive")
    for x in POSITIVE[2:]:
        np.testing.assert_allclose(e(x), special.kn(3, x), rtol=1e-12)
        np.testing.assert_allclose(e.gradient("x")(x), -(special.kn(2, x) + special.kn(4, x)) / 2, rtol=1e-12)
    with pytest.raises(mc.NotSupported, match="takes an integer as its order"):
        mc.expression(called("kn", "n, x"), "n: scalar; x: scalar")


@pytest.mark.parametrize("name", ["y0", "dawsn", "ellipk", "zetac", "exp1"])
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
