"""Recurrences in the steps of others: texts, which read back, values and derivatives, against loops in NumPy."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inner_recurrences import EXAMPLES, LET, data_of

import matcalc as mc
from matcalc.errors import MatcalcError
from matcalc.tensor.substitute import INSTANTIATE

LENGTHS = [(0, 0), (0, 2), (1, 0), (2, 1), (3, 3)]
NAMES = ["A", "x0", "a"]
FASTER = [("plain", "x0"), ("backward", "x0"), ("equal lengths", "a")]
"""Second derivatives of which both forms compile in the least time."""
MOST_MADE = 400
"""The most recurrences that a second derivative through three levels makes; they were 837."""


def given(e: Any, data: dict[str, Any]) -> dict[str, Any]:
    return {name: data[name] for name in e.symbols}


def slope(name: str, data: dict[str, Any], variable: str) -> Any:
    """Return the gradient of the loops by complex steps."""
    f, found = EXAMPLES[name][1], np.zeros(np.shape(data[variable]))
    for at in np.ndindex(found.shape):
        moved = np.array(data[variable], complex)
        moved[at] += 1e-30j
        found[at] = np.imag(f({**data, variable: moved if moved.shape else complex(moved)})) / 1e-30
    return found


def forms(name: str, variable: str) -> list[Any]:
    e = mc.expression(EXAMPLES[name][0], LET)
    if variable not in e.symbols:
        variable = "A"
    return [e, mc.gradient(e, variable, check=False), mc.hvp(e, variable, vector="v", check=False)]


@pytest.mark.whole
@pytest.mark.parametrize("name", EXAMPLES)
def test_values_and_gradients_are_those_of_loops(name: str) -> None:
    e = mc.expression(EXAMPLES[name][0], LET)
    variable = "a" if "a" in e.symbols else "A"
    gradient = mc.gradient(e, variable, check=False)
    again = [mc.expression(str(one), one.declarations) for one in (e, gradient)]
    compiled = mc.compile([e, gradient], target="numpy", check=False)
    for steps, inner in LENGTHS:
        data = data_of(steps, inner)
        wanted = EXAMPLES[name][1](data), slope(name, data, variable)
        ways = [[one(**given(one, data)) for one in forms_] for forms_ in ((e, gradient), again)]
        for found in [*ways, compiled(**{k: data[k] for k in compiled.args})]:
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.whole
@pytest.mark.parametrize("name", EXAMPLES)
def test_texts_read_back(name: str) -> None:
    """The loss as the same node, its gradient as the same node or with the same values."""
    for e in forms(name, "x0")[:2]:
        again = mc.expression(str(e), e.declarations)
        if again.node is not e.node:
            data = data_of(3, 2)
            np.testing.assert_allclose(again(**given(again, data)), e(**given(e, data)), rtol=1e-11, atol=1e-12)
    assert mc.expression(str(forms(name, "x0")[0]), LET).node is forms(name, "x0")[0].node


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        pytest.param(name, own, marks=pytest.mark.whole if (name, own) in FASTER else pytest.mark.long)
        for name in EXAMPLES for own in NAMES
    ],
)  # fmt: skip
def test_second_derivatives_read_back_and_compile(name: str, variable: str) -> None:
    found = forms(name, variable)
    data = data_of(3, 2)
    variable = variable if variable in found[0].symbols else "A"
    data["v"] = np.random.default_rng(8).normal(size=np.shape(data[variable]))
    ahead, behind = (slope(name, {**data, variable: data[variable] + h * data["v"]}, variable) for h in (1e-5, -1e-5))
    wanted = (ahead - behind) / 2e-5
    for e in (found[2], mc.expression(str(found[2]), found[2].declarations)):
        np.testing.assert_allclose(e(**given(e, data)), wanted, rtol=1e-7, atol=1e-8)
    fn = mc.compile(found, target="numba", check=False)
    values = fn(**{k: data[k] for k in fn.args})
    np.testing.assert_allclose(values[1], slope(name, data, variable), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(values[2], wanted, rtol=1e-7, atol=1e-8)


@pytest.mark.whole
def test_a_system_that_reads_another_of_its_step_belongs_to_the_step() -> None:
    """`P` reads no step by itself, but the states `l1` of a step; it was read as the same at each step."""
    e = mc.expression(
        "c'*x[T] where x[0] = x0, x[t+1] = (sum{k: P[k]} where y[0] = x[t], y[s+1] = tanh(A*y[s]), s < S, "
        "P[0] = y[S], P[k+1] = P[k]/2, k < S), t < T",
        LET,
    )
    data = data_of(3, 2)
    x = data["x0"]
    for _ in range(3):
        y = x
        for _ in range(2):
            y = np.tanh(data["A"] @ y)
        x = y + y / 2
    np.testing.assert_allclose(e(**given(e, data)), data["c"] @ x, rtol=1e-13)
    second = forms("thrice", "x0")[2]
    again = mc.expression(str(second), second.declarations)
    assert again.symbols == second.symbols
    np.testing.assert_allclose(again(**given(again, {**data, "v": x})), second(**given(second, {**data, "v": x})))


@pytest.mark.parametrize("entry", ["L[0, t]'*y[t]", "(L[:, t]*y[t])[0]", "L[0, t, :]'*y[t]"])
def test_another_axis_of_a_state_is_read_at_the_step_of_a_sum(entry: str) -> None:
    """A sum over t also reads states of T rows; its `L[0, t]` was refused, as if it were in a step."""
    states = "y[0] = x0, y[t+1] = A*y[t] + a, L[T] = U[:, 0, :], L[t] = sin(L[t+1]), t < T"
    e = mc.expression(f"sum{{t: {entry}}} where {states}", LET)
    assert mc.expression(str(e), e.declarations).node is e.node
    data = data_of(3, 2)
    y, L = [data["x0"]], [data["U"][:, 0, :]]
    for _ in range(3):
        y.append(data["A"] @ y[-1] + data["a"])
        L.insert(0, np.sin(L[0]))
    np.testing.assert_allclose(e(**given(e, data)), sum(L[0][t] @ y[t] for t in range(3)), rtol=1e-13)
    with pytest.raises(MatcalcError, match="is not read at one step"):
        mc.expression(f"c'*y[T] where y[0] = x0, y[t+1] = tanh({entry.replace('L', 'y')}*y[t]), t < T", LET)


@pytest.mark.whole
def test_recurrences_that_stay_the_same_are_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each recurrence made its inner ones several times, and these theirs: the work was a power of the depth."""
    count = [0]
    make = INSTANTIATE["recurrence"]

    def counted(*args: Any) -> Any:
        count[0] += 1
        return make(*args)

    monkeypatch.setitem(INSTANTIATE, "recurrence", counted)
    step = "A*y3[s3]"
    for k in (3, 2, 1):
        start = f"y{k - 1}[s{k - 1}]" if k > 1 else "x0"
        step = f"(tanh(y{k}[S]) where y{k}[0] = {start}, y{k}[s{k}+1] = {step}, s{k} < S)"
    mc.hvp(mc.expression(f"c'*{step}", LET), "x0", vector="v", check=False)
    assert count[0] < MOST_MADE


def test_the_adjoint_of_a_step_has_its_own_adjoint() -> None:
    e = mc.expression(
        "c'*x[T] where x[0] = x0, x[t+1] = (y[S] where y[0] = x[t], y[s+1] = tanh(A*y[s]), s < S), t < T", LET
    )
    assert str(mc.gradient(e, "x0")) == (
        "l[0] where x[0] = x0, x[t+1] = (y[S] where y[0] = x[t], y[s+1] = tanh(A*y[s]), s < S), l[T] = c, "
        "l[t] = (p[0] where z[0] = x[t], z[s+1] = tanh(A*z[s]), p[S] = l[t+1], p[s] = A'*(p[s+1].*(1 - z[s+1].^2)), "
        "s < S), t < T"
    )


def test_objects_and_loops_of_functions_have_this_text() -> None:
    A, x0 = mc.symbols("A: matrix(n, n); x0: vector(n)")
    states, _ = mc.scan(lambda x: mc.scan(lambda y: mc.tanh(A @ y) + x, x, length="S")[0][-1], x0, length="T")
    text = "x where x[0] = x0, x[t+1] = (y[S] where y[0] = x[t], y[s+1] = tanh(A*y[s]) + x[t], s < S), t < T"
    assert str(states) == text

    def loops(A: Any, x0: Any, S: int, T: int) -> Any:
        x = x0
        for _ in range(T):
            y = x
            for _ in range(S):
                y = np.tanh(A @ y) + x
            x = y
        return x

    read = mc.expression(loops, "A: matrix(n, n); x0: vector(n); S, T: size")
    assert read.node is mc.expression(text.replace("x where", "x[T] where", 1), "A: matrix(n, n); x0: vector(n)").node


@pytest.mark.whole
def test_named_parts_derivations_latex_and_files(tmp_path: Path) -> None:
    e = mc.expression(EXAMPLES["plain"][0], LET)
    named = mc.gradient(e, "A").named()
    data = data_of(3, 2)
    again = mc.expression(str(named), mc.gradient(e, "A").declarations)
    np.testing.assert_allclose(again(**given(again, data)), slope("plain", data, "A"), rtol=1e-11)
    assert "[0] = dx[t], " in str(mc.gradient(e, "x0").explain())
    latex = e.latex()
    assert latex.count(r"\text{where }") == 2
    assert r"\mathbf{y}_{0} = \mathbf{x}_{t},\; \mathbf{y}_{s+1} = " in latex
    assert latex.endswith(r",\; s < S\right),\; t < T")
    fn = mc.value_and_gradient(e, "A")
    fn.save(tmp_path / "inner.py")
    spec = importlib.util.spec_from_file_location("inner", tmp_path / "inner.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for one in (fn, getattr(module, fn.spec.name)):
        value, gradient = one(**{k: data[k] for k in fn.args})
        np.testing.assert_allclose(gradient, slope("plain", data, "A"), rtol=1e-11)
        assert np.isclose(value, EXAMPLES["plain"][1](data), rtol=1e-12)


@pytest.mark.whole
@pytest.mark.parametrize("name", ["plain", "summed", "quantity"])
def test_the_check_evaluates_the_text_as_written(name: str) -> None:
    found = mc.check(mc.expression(EXAMPLES[name][0], LET), "A")
    assert found
    assert "complex step" in str(found)


BAD = {
    "a name of the step": ("(x[S] where x[0] = x0, x[s+1] = A*x[s], s < S)", "x is a name of the recurrence over t"),
    "the index of the step": ("(y[S] where y[0] = x[t], y[t+1] = A*y[t], t < S)", "t is a name of the recurrence"),
    "its state at the outer step": ("(y[t] where y[0] = x[t], y[s+1] = A*y[s], s < T)", "at the number of the step"),
    "a value of the step at the step": ("(x[t]*ones(T)')[:, t]", "at the number of the step"),
    "a length that moves": ("(y[-1] where y[0] = x[t], y[s+1] = A*y[s], s < t)", "number of steps is a size"),
    "an end that moves": ("(y[0] where y[t] = x[t], y[s] = A*y[s+1], s < t)", "another number at each step"),
    "two lengths": ("(y[0] where y[t] = x[t], y[s] = A*y[s+1], s < S)", "steps over t and over s"),
    "no start": ("(y[S] where y[s+1] = A*y[s], s < S)", "the state y has no start"),
    "a whole state of the step": ("(y[S] where y[0] = x, y[s+1] = A*y[s], s < S)", "x is read as a whole"),
    "a circle": ("(y[S] where y[0] = x[t+1], y[s+1] = A*y[s], s < S)", "x needs itself in one step"),
    "a part": ("(K*x[t] where K = A*A')", "'K' is not defined at a step"),
    "a symbol": ("(c[S] where c[0] = x[t], c[s+1] = A*c[s], s < S)", "'c' is a symbol and a state"),
    "another relation": ("(y[S] where y[0] = x[t], y[s+1] = A*y[s], s <= S)", "a limit has the sign <"),
    "an index around": ("{i: (y[S] where y[0] = x[t], y[s+1] = A[i,i]*y[s], s < S)[i]}", "cannot read i"),
    "one index twice": (
        "(y[S] where y[0] = x[t], y[s+1] = (z[S] where z[0] = y[s], z[s+1] = A*z[s], s < S), s < S)",
        "s is a name of the recurrence over s",
    ),
    "a limit without steps": (
        "(y[S] where y[0] = x[t], y[s+1] = A*y[s], s < S, q < T)",
        "no equation has the step index",
    ),
    "in an argument": (
        "tanh(y[S] where y[0] = x[t], y[s+1] = A*y[s], s < S)",
        "is only allowed behind the whole formula",
    ),
    "another shape": ("(y[S] where y[0] = x[t], y[s+1] = A, s < S)", "the step of y"),
}


@pytest.mark.sampled(21)
@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_recurrence_is_told(kind: str) -> None:
    step, message = BAD[kind]
    with pytest.raises(MatcalcError) as fault:
        mc.expression(f"c'*x[T] where x[0] = x0, x[t+1] = {step}, t < T", LET)
    assert message in str(fault.value)
    assert "^" in str(fault.value)


def test_deep_nests_are_refused_at_once() -> None:
    step = "x[t]"
    for k in range(40):
        step = f"(y{k}[S] where y{k}[0] = x[t], y{k}[s{k}+1] = A*y{k}[s{k}] + {step}, s{k} < S)"
    with pytest.raises(MatcalcError, match="nest at most 4 deep"):
        mc.expression(f"c'*x[T] where x[0] = x0, x[t+1] = {step}, t < T", LET)


def test_latex_tells_to_write_text() -> None:
    with pytest.raises(MatcalcError, match="is read as text"):
        mc.expression(mc.expression(EXAMPLES["plain"][0], LET).latex(), LET, dialect="latex")
