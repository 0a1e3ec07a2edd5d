"""What the Programs of recurrences store: arrays as long as the steps, never as long as their square."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest

import matcalc as mc
from benchmarks.recurrences.models import MODELS

FILTER = (
    "sum{t: logdet(S[t]) + v[t]'*inv(S[t])*v[t]} where x[0] = x0, P[0] = P0, z[t] = A*x[t], M[t] = A*P[t]*A' + Q, "
    "S[t] = H*M[t]*H' + R, v[t] = Y[t, :] - H*z[t], x[t+1] = z[t] + M[t]*H'*inv(S[t])*v[t], "
    "P[t+1] = M[t] - M[t]*H'*inv(S[t])*H*M[t], t < T"
)
"""A filter that predicts before it corrects: four factors of each term vary with the step."""

TEXTS = {
    **{name: (model.text, model.wrt, model.declarations) for name, model in MODELS.items()},
    "filter": (FILTER, MODELS["kalman"].wrt, MODELS["kalman"].declarations),
}


CASES = [pytest.param(name, marks=() if name == "rnn" else pytest.mark.whole) for name in TEXTS]


@cache
def compiled(name: str) -> Any:
    text, wrt, declarations = TEXTS[name]
    return mc.value_and_gradient(text, list(wrt), declarations)


@pytest.mark.whole
@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", CASES)
def test_no_array_has_the_steps_twice(name: str) -> None:
    fn = compiled(name)
    shapes = re.findall(r"\w \(([^()]*)\)", str(fn.plan).partition("\n\n")[0])
    assert any("T" in shape for shape in shapes)
    assert [shape for shape in shapes if len(re.findall(r"\bT\b", shape)) > 1] == []
    assert "T*T" not in fn.source


@pytest.mark.whole
@pytest.mark.parametrize("depth", [33, *(pytest.param(d, marks=pytest.mark.whole) for d in (14, 45, 60, 80))])
@pytest.mark.thinned(4)
def test_deeply_nested_steps_store_arrays_as_long_as_the_steps(depth: int) -> None:
    """The adjoint is a product of many slopes, a part of which may hold no range of the steps without its states."""
    step = "x[t]"
    for k in range(depth):
        step = f"sin({step} + a*e[t])" if k % 2 else f"tanh({step}*b)"
    text, let = f"x[T] where x[0] = s, x[t+1] = {step}, t < T", "a, b, s: scalar; e: vector(T)"
    fn = mc.value_and_gradient(text, ["a", "b"], let, target="numpy")
    shapes = re.findall(r"\w \(([^()]*)\)", str(fn.plan).partition("\n\n")[0])
    assert [shape for shape in shapes if len(re.findall(r"\bT\b", shape)) > 1] == []
    given = {"a": 0.3, "b": 1.2, "s": 0.5, "e": np.array([0.2, -0.1, 0.4])}

    def state(a: complex, b: complex) -> complex:
        x: complex = 0.5
        for e in given["e"]:
            for k in range(depth):
                x = np.sin(x + a * e) if k % 2 else np.tanh(x * b)
        return x

    value, gradients = fn(**given)
    expected = [state(0.3 + 1e-30j, 1.2).imag / 1e-30, state(0.3, 1.2 + 1e-30j).imag / 1e-30]
    assert value == pytest.approx(state(0.3, 1.2).real, rel=1e-12)
    assert gradients == pytest.approx(expected, rel=1e-9)


@pytest.mark.whole
def test_a_filter_has_few_more_products_than_its_adjoint_by_hand() -> None:
    """By hand they are 17 (`benchmarks/recurrences/by_hand.py`); a product of small matrices may be a loop."""
    model = MODELS["kalman"]
    source = mc.value_and_gradient(model.text, list(model.wrt), model.declarations, sizes=model.sizes).source
    calls, loops = (len(re.findall(own, source, re.MULTILINE)) for own in (r"^ +gemm\(", r"^ +for k in range"))
    assert calls + loops <= 17 + 5


@pytest.mark.whole
def test_an_integrator_has_the_products_of_its_adjoint_by_hand() -> None:
    """Four stages have a product each, forward and backward; data in the loss need none of their own."""
    model = MODELS["rk4"]
    source = mc.value_and_gradient(model.text, list(model.wrt), model.declarations, sizes=model.sizes).source
    assert len(re.findall(r"A\[i, j\]\*", source)) == 8


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_differences(name: str) -> None:
    text, wrt, declarations = TEXTS[name]
    fn, value, step = compiled(name), mc.expression(text, declarations), 1e-5
    given = {k: np.asarray(v) for k, v in MODELS.get(name, MODELS["kalman"]).data(3, 4).items() if k in fn.args}
    _, found = fn(**given)
    for own, gradient in zip(wrt, found, strict=True):
        towards = np.cos(np.arange(given[own].size)).reshape(given[own].shape)
        if own in ("Q", "R"):  # declared spd
            towards = towards + towards.T
        low, high = (value(**{**given, own: given[own] + sign * step * towards}) for sign in (-1, 1))
        assert np.sum(gradient * towards) == pytest.approx((high - low) / (2 * step), rel=1e-6, abs=1e-6)


def test_a_loss_of_later_states_takes_checkpoints() -> None:
    model = MODELS["rnn"]
    given = model.data(3, 7)
    fn, few = (
        mc.value_and_gradient(model.text, "c", model.declarations, checkpoints=number, check=False)
        for number in (None, 2)
    )
    (value, by_c), (same, again) = (one(**{name: given[name] for name in one.args}) for one in (fn, few))
    assert same == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(again, by_c, rtol=1e-11)
