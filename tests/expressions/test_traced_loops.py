"""Loops over a symbolic number of steps in traced functions: equal to the function on arrays, or refused by name."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from expressions.looping_functions import READ
from expressions.refused_loops import REFUSED

import matcalc as mc
from matcalc.errors import MatcalcError

SIZES = {"T": 5, "n": 3, "m": 2}


def data_for(let: str, length: int) -> dict[str, Any]:
    """Return arrays for declarations."""
    rng = np.random.default_rng(1)
    found: dict[str, Any] = {}
    for line in let.split("; "):
        names, kind = line.split(": ")
        sizes = [dict(SIZES, T=length)[word] for word in re.findall(r"\b[Tnm]\b", kind)]
        for name in names.split(", "):
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


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("function", "let"), READ, ids=[f.__name__ for f, _ in READ])
def test_loops_are_recurrences(function: Any, let: str) -> None:
    e = mc.expression(function, let)
    for length in (1, 5) if function.__name__ in ("from_one", "differences") else (0, 1, 5):
        data = data_for(let, length)
        used = {name: data[name] for name in e.symbols if name in data}
        assert np.allclose(e(**used), function(**data), rtol=1e-12, atol=1e-13)
    wrt = next(name for name in ("A", "W", "a") if name in e.symbols)
    found = np.asarray(mc.gradient(e, wrt)(**used))
    assert np.allclose(found, difference(function, data, wrt), rtol=1e-6, atol=1e-8)


@pytest.mark.whole
@pytest.mark.parametrize(("function", "let"), READ, ids=[f.__name__ for f, _ in READ])
def test_compiled_loops(function: Any, let: str) -> None:
    e = mc.expression(function, let)
    fn = mc.compile(e, target="numpy")
    for length in (1, 4):
        data = data_for(let, length)
        assert np.allclose(fn(**{name: data[name] for name in fn.args}), function(**data), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("function", "let", "line", "message"), REFUSED, ids=[f.__name__ for f, *_ in REFUSED])
def test_other_loops_are_refused(function: Any, let: str, line: int, message: str) -> None:
    with pytest.raises(MatcalcError) as found:
        mc.expression(function, let)
    number = function.__code__.co_firstlineno + line - 1
    text = str(found.value)
    assert message in text
    assert not line or f"line {number} of {function.__name__}" in text or f"line {number}: the loop" in text
