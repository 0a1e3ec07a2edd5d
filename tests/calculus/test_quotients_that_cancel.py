"""Gradients and second derivatives of quotients with a removable singularity print without the factor that cancels."""

import mpmath
import pytest

import matcalc as mc

CASES = {
    "expm1(-2*d*t)/d": ("-2*exp(-2*d*t)", lambda d, t: mpmath.expm1(-2 * d * t) / d),
    "(exp(d*t) - 1)/d": ("exp(d*t)", lambda d, t: (mpmath.exp(d * t) - 1) / d),
    "(1 - exp(-d*t))/d": ("exp(-d*t)", lambda d, t: (1 - mpmath.exp(-d * t)) / d),
    "log1p(d*t)/d": ("1/(1 + d*t)", lambda d, t: mpmath.log(1 + d * t) / d),
    "log(1 + d*t)/d": ("1/(1 + d*t)", lambda d, t: mpmath.log(1 + d * t) / d),
    "sin(d*t)/d": ("cos(d*t)", lambda d, t: mpmath.sin(d * t) / d),
    "sin(d*t)/d^2": ("cos(d*t)/d", lambda d, t: mpmath.sin(d * t) / d**2),
    "sinh(d*t)/d": ("cosh(d*t)", lambda d, t: mpmath.sinh(d * t) / d),
    "tanh(d*t)/d": ("1/cosh(d*t)^2", lambda d, t: mpmath.tanh(d * t) / d),
    "3*sin(d*t/2)/(2*d)": ("0.75*cos(d*t/2)", lambda d, t: 3 * mpmath.sin(d * t / 2) / (2 * d)),
    "(1 - cos(d*t))/d^2": ("2*sin(d*t/2)*cos(d*t/2)/d", lambda d, t: (1 - mpmath.cos(d * t)) / d**2),
    "log1p(d*t)/t": ("(d/(1 + d*t) - log1p(d*t)/t)/t", lambda d, t: mpmath.log(1 + d * t) / t),
}
SUMS = {
    "expm1(-2*d*t)./d": "-2*exp(-2*t*d)'*x",
    "(exp(d*t) - 1)./d": "exp(t*d)'*x",
    "log1p(d*t)./d": "sum(x./(1 + t*d))",
    "sin(d*t)./d": "cos(t*d)'*x",
    "sin(d*t)./d.^2": "sum(cos(t*d).*x./d)",
    "tanh(d*t)./d": "sum(x./cosh(t*d).^2)",
    "(1 - cos(d*t))./d": "2*sum(cos(t*d/2).*sin(t*d/2).*x)",
}


@pytest.mark.parametrize("text", CASES)
@pytest.mark.whole
def test_of_scalars(text):
    printed, by_mpmath = CASES[text]
    gradient = mc.gradient(text, "t", "d: scalar; t: scalar")
    assert str(gradient) == printed
    assert mc.expression(str(gradient), gradient.declarations).simplify().equals(gradient.simplify())
    second = mc.hessian(text, "t", declarations="d: scalar; t: scalar")
    compiled = mc.compile([gradient, second])
    with mpmath.workdps(50):
        for d, t in ((0.7, 0.4), (-0.7, 0.4), (1e-9, 0.5), (2.0, 1e-7)):
            of_t = lambda s, d=d: by_mpmath(mpmath.mpf(d), s)  # noqa: E731
            wanted = [float(mpmath.diff(of_t, mpmath.mpf(t), k)) for k in (1, 2)]
            found = compiled(**dict(zip(compiled.args, [{"d": d, "t": t}[n] for n in compiled.args], strict=True)))
            for one, other in zip(found, wanted, strict=True):
                assert float(one) == pytest.approx(other, rel=1e-12, abs=1e-300)
            assert float(gradient(d=d, t=t)) == pytest.approx(wanted[0], rel=1e-12)


@pytest.mark.parametrize("text", CASES)
@pytest.mark.sampled(12)
def test_at_the_singularity(text):
    """Where the quotient has a limit, so has the gradient: at d = 0 or t = 0."""
    gradient = mc.gradient(text, "t", "d: scalar; t: scalar")
    by_mpmath = CASES[text][1]
    at = {"d": 0.8, "t": 0.0} if "/t" in text else {"d": 0.0, "t": 0.8}
    if "d^2" in text and "cos" not in text:
        pytest.skip("it has a pole at d = 0")
    with mpmath.workdps(60):
        near = {name: mpmath.mpf(value) or mpmath.mpf("1e-20") for name, value in at.items()}
        wanted = float(mpmath.diff(lambda s: by_mpmath(near["d"], s), near["t"], h=mpmath.mpf("1e-26")))
    assert float(mc.compile(gradient)(**at)) == pytest.approx(wanted, rel=1e-12, abs=1e-15)
    assert float(gradient(**at)) == pytest.approx(wanted, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("text", SUMS)
@pytest.mark.sampled(8)
def test_of_vectors(text):
    gradient = mc.gradient(f"sum(({text}).*x)", "t", "d: vector(n); t: scalar; x: vector(n)")
    assert str(gradient) == SUMS[text]
    assert "/t" not in gradient.latex() and r"}{t}" not in gradient.latex()
