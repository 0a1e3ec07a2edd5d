"""Values, gradients and second derivatives of stable forms on every path, against mpmath, over the whole range."""

import importlib

import numpy as np
import pytest
from stable_forms import CASES, VECTOR_CASES, truths

import matcalc as mc
from matcalc.calculus.simplify.shortest import shortest
from matcalc.expressions.expression import Expression

BOUND = 2e-13
IDS = [case.text for case in CASES]


def outputs(case):
    """Return a formula, the gradient of its sum and the diagonal of the Hessian, each a vector."""
    value = mc.expression(case.text, case.declarations)
    gradient = mc.gradient(f"sum({case.text})", "x", case.declarations)
    return value, gradient, mc.gradient(mc.sum(gradient), "x")


def check(case, found):
    """Check orders 0 to 2: relative to the value, and to its change as x changes by one part."""
    wanted = truths(case)
    for order, values in enumerate(found):
        scale = np.abs(wanted[order]) + np.abs(case.points * wanted[order + 1]) + 1e-290
        with np.errstate(over="ignore"):
            error = np.abs(values - wanted[order]) / scale
        worst = np.argmax(np.where(np.isnan(error), np.inf, error))
        assert error[worst] < BOUND, (order, case.points[worst], values[worst], wanted[order][worst])


@pytest.mark.parametrize("case", CASES, ids=IDS)
@pytest.mark.sampled(24)
def test_plain(case):
    check(case, [f(x=case.points) for f in outputs(case)])


@pytest.mark.whole
@pytest.mark.parametrize("target", ["numba", "numpy"])
@pytest.mark.parametrize("case", CASES, ids=IDS)
@pytest.mark.sampled(60)
@pytest.mark.thinned(8)
def test_compiled(case, target):
    check(case, mc.compile(list(outputs(case)), target=target)(case.points))


@pytest.mark.whole
def test_saved(tmp_path, monkeypatch):
    chosen = CASES[::12]
    for number, case in enumerate(chosen):
        mc.compile(list(outputs(case)), name="stable").save(tmp_path / f"saved_stable_{number}.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    for number, case in enumerate(chosen):
        check(case, importlib.import_module(f"saved_stable_{number}").stable(case.points))


@pytest.mark.parametrize("text", ["sin(a*x)./(a*x)", "sin(x*a)./a./x", "2*a*sin(x*a)./(2*x*a.^2)"])
def test_scalings_cancel(text):
    e = mc.expression(text, "a: scalar; x: vector(n)")
    assert "sinc1(a*x)" in str(Expression(shortest(e.node), e.names))  # the computed form; it prints as written


@pytest.mark.parametrize("text", ["sin(x)./y", "exp(y)./erfc(x)", "exp(y).*erfc(x)", "log(y.*cosh(x))"])
def test_what_does_not_cancel_stays(text):
    e = mc.expression(text, "x: vector(n); y: vector(n)")
    assert e.simplify() == e


@pytest.mark.sampled(40)
@pytest.mark.parametrize(("text", "declarations", "data", "value", "gradient"), VECTOR_CASES)
@pytest.mark.parametrize("compiled", [False, True])
def test_under_sums(text, declarations, data, value, gradient, compiled):
    wrt = next(iter(data))
    if compiled:
        f = mc.value_and_gradient(text, wrt, declarations)
        found = f(**data)
    else:
        found = mc.expression(text, declarations)(**data), mc.gradient(text, wrt, declarations)(**data)
    np.testing.assert_allclose(found[0], value, rtol=1e-13)
    np.testing.assert_allclose(found[1], gradient, rtol=1e-13, atol=1e-15)
