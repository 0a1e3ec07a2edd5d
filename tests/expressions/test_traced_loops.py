"""Loops over a symbolic number of steps in traced functions: equal to the function on arrays, or refused by name."""

from __future__ import annotations

import re
from inspect import signature
from typing import Any

import numpy as np
import pytest
from expressions.branching_loops import BRANCHING
from expressions.lagging_loops import LAGGING
from expressions.looping_functions import READ
from expressions.loops_by_cases import BY_CASES
from expressions.own_lags import OWN_LAGS, TWO, innovations
from expressions.refused_loops import REFUSED
from expressions.writing_loops import FROM_ONE, FROM_THREE, WRITING

import matcalc as mc
from matcalc.errors import MatcalcError

SIZES = {"T": 5, "n": 3, "m": 2}
CASES = [
    *((f, let, 1 if f.__name__ in ("from_one", "differences") else 0) for f, let in [*READ, *WRITING]),
    *((f, let, 1) for f, let in FROM_ONE),
    *((f, let, 3) for f, let in FROM_THREE),
    *BRANCHING,
    *LAGGING,
    *BY_CASES,
    *OWN_LAGS,
]
"""Functions, declarations, and the least number of steps that the function accepts."""


def data_for(let: str, length: int) -> dict[str, Any]:
    """Return arrays for declarations."""
    rng = np.random.default_rng(1)
    found: dict[str, Any] = {}
    for line in let.split("; "):
        names, kind = line.split(": ")
        sizes = [dict(SIZES, T=length)[word] for word in re.findall(r"\b[Tnm]\b", kind)]
        for name in names.split(", "):
            if kind.startswith("index"):
                found[name] = rng.integers(0, SIZES["n"], size=sizes)
            else:
                found[name] = rng.uniform(0.2, 0.7, size=sizes) * (0.8 if len(sizes) == 2 else 1)
    return found


def difference(function: Any, data: dict[str, Any], name: str) -> Any:
    """Return the gradient of a function by central differences."""
    x = np.asarray(data[name])
    found = np.zeros(x.shape)
    for at in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[at] = 1e-5
        found[at] = (function(**{**data, name: x + step}) - function(**{**data, name: x - step})) / 2e-5
    return found


@pytest.mark.sampled(168)
@pytest.mark.parametrize(("function", "let", "least"), CASES, ids=[f.__name__ for f, *_ in CASES])
@pytest.mark.thinned(5)
def test_loops_are_recurrences(function: Any, let: str, least: int) -> None:
    e = mc.expression(function, let)
    for length in sorted({least, 1 + (least > 0) * least, 5}):
        data = data_for(let, length)
        used = {name: data[name] for name in e.symbols if name in data}
        given = {name: data[name] for name in signature(function).parameters if name in data}
        assert np.allclose(e(**used), function(**given), rtol=1e-12, atol=1e-13)
    wrt = next(name for name in ("A", "W", "a", "x") if name in e.symbols)
    found = np.asarray(mc.gradient(e, wrt)(**used))
    assert np.allclose(found, difference(function, given, wrt), rtol=1e-6, atol=1e-8)


@pytest.mark.whole
@pytest.mark.parametrize(("function", "let", "least"), CASES, ids=[f.__name__ for f, *_ in CASES])
@pytest.mark.thinned(5)
def test_compiled_loops(function: Any, let: str, least: int) -> None:
    e = mc.expression(function, let)
    fn = mc.compile(e, target="numpy")
    for length in (max(least, 1), 4):
        data = data_for(let, length)
        given = {name: data[name] for name in signature(function).parameters if name in data}
        assert np.allclose(fn(**{name: data[name] for name in fn.args}), function(**given), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("function", "let", "line", "message"), REFUSED, ids=[f.__name__ for f, *_ in REFUSED])
@pytest.mark.sampled(8)
def test_other_loops_are_refused(function: Any, let: str, line: int, message: str) -> None:
    with pytest.raises(MatcalcError) as found:
        mc.expression(function, let)
    number = function.__code__.co_firstlineno + line - 1
    text = str(found.value)
    assert message in text
    assert not line or f"line {number} of {function.__name__}" in text or f"line {number}: the loop" in text


@pytest.mark.whole
def test_own_lags_of_an_open_number_are_one_vector_that_shifts() -> None:
    shown = "sum{t: (a'*x[t] - c[m:][t])^2} where x[0] = zeros(m), x[t+1] = [c[m:][t] - a'*x[t]; x[t]][:-1], t < T - m"
    assert str(mc.expression(innovations, TWO)) == shown


def test_a_name_of_another_shape_before_the_loop() -> None:
    def total(a: Any, c: Any) -> Any:
        s, found = np.zeros((2, 2)), 0.0
        for v in c:
            s = a * v
            found = found + np.sum(s)
        return found

    def total_and_last(a: Any, c: Any) -> Any:
        s, found = np.zeros((2, 2)), 0.0
        for v in c:
            s = a * v
            found = found + np.sum(s)
        return found + np.sum(s)

    data = data_for(TWO, 4)
    assert np.isclose(mc.expression(total, TWO)(**data), total(**data))
    with pytest.raises(MatcalcError, match="s has another shape in the loop than before it"):
        mc.expression(total_and_last, TWO)


def test_own_lags_before_the_first_entry_are_refused() -> None:
    def wraps(a: Any, c: Any) -> Any:
        e = np.zeros(len(c))
        for t in range(len(c)):
            e[t] = c[t]
            for j in range(len(a)):
                e[t] -= a[j] * e[t - j - 1]
        return np.sum(e**2)

    with pytest.raises(MatcalcError, match="a step reads entries of e before the first"):
        mc.expression(wraps, TWO)


@pytest.mark.whole
@pytest.mark.parametrize(("function", "let", "least"), OWN_LAGS, ids=[f.__name__ for f, *_ in OWN_LAGS])
def test_compiled_gradients_of_own_lags(function: Any, let: str, least: int) -> None:
    fn = mc.value_and_gradient(mc.expression(function, let), "a")
    for length in (least, 6):
        data = data_for(let, length)
        value, slope = fn(**{name: data[name] for name in fn.args})
        assert np.isclose(value, function(**data), rtol=1e-12)
        assert np.allclose(slope, difference(function, data, "a"), rtol=1e-6, atol=1e-8)


def test_a_scan_inside_a_scan() -> None:
    x, c, r = mc.symbols("x: vector(m); c: vector(n); r: vector(n)")

    def row(before: Any, entry: Any) -> Any:
        sums, _ = mc.scan(lambda s, pair: entry * pair[0] + pair[1] * s, 0.0, over=(c, before))
        return sums[1:]

    rows, _ = mc.scan(row, r, over=x)
    data = {"x": np.array([0.3, 0.5, 0.7]), "c": np.array([1.0, 2.0]), "r": np.array([0.5, 0.6])}
    expected = data["r"]
    for entry in data["x"]:
        s, new = 0.0, []
        for factor, above in zip(data["c"], expected, strict=True):
            s = entry * factor + above * s
            new.append(s)
        expected = np.array(new)
    assert np.allclose(rows[-1](**data), expected, rtol=1e-14)
