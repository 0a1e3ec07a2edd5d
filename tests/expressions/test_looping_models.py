"""Models with loops as people write them: values and gradients are those of the function on arrays."""

from __future__ import annotations

import re
from inspect import signature
from typing import Any

import numpy as np
import pytest
from expressions.looping_models import MODELS
from expressions.looping_solvers import SOLVERS
from expressions.test_traced_loops import difference

import matcalc as mc

SIZES = {"T": 6, "n": 3, "m": 2, "p": 2}
SLOW = ("dtw", "chol", "heat2", "hmm2", "kmat_sym")
"""Models whose gradients take seconds to derive."""
CASES = [*MODELS, *SOLVERS]


def data_for(let: str) -> dict[str, Any]:
    """Return arrays for declarations."""
    rng, found = np.random.default_rng(2), dict[str, Any]()
    for line in let.split("; "):
        names, kind = line.split(": ")
        sizes = [SIZES[word] for word in re.findall(r"\b[Tnmp]\b", kind)]
        for name in names.replace(" ", "").split(","):
            drawn = rng.integers(0, 2, size=sizes) if kind.startswith("index") else rng.uniform(0.2, 0.7, size=sizes)
            found[name] = drawn if sizes else float(drawn)
    return found


@pytest.mark.sampled(24)
@pytest.mark.parametrize(("function", "let"), CASES, ids=[f.__name__ for f, _ in CASES])
@pytest.mark.thinned(2)
def test_models_with_loops(function: Any, let: str) -> None:
    e, data = mc.expression(function, let), data_for(let)
    given = {name: data[name] for name in signature(function).parameters}
    assert np.allclose(e(**{name: data[name] for name in e.symbols}), function(**given), rtol=1e-11)


GRADIENTS = [
    pytest.param(f, let, id=f.__name__, marks=() if f.__name__ == "verlet" else pytest.mark.whole) for f, let in CASES
]
"""Steps of the adjoint of `verlet` share several values with those of the model: the part in the first tier."""


@pytest.mark.whole
@pytest.mark.parametrize(("function", "let"), GRADIENTS)
@pytest.mark.thinned(2)
def test_gradients_of_models_with_loops(function: Any, let: str) -> None:
    if function.__name__ in SLOW:  # their values are tested above
        pytest.skip("slow to derive")
    data = data_for(let)
    given = {name: data[name] for name in signature(function).parameters}
    e = mc.expression(function, let)
    wrt = next(name for name in given if name in e.symbols and np.asarray(given[name]).dtype.kind == "f")
    fn = mc.value_and_gradient(e, wrt, target="numpy")
    value, slope = fn(**{name: data[name] for name in fn.args})
    assert np.allclose(value, function(**given), rtol=1e-11)
    assert np.allclose(slope, difference(function, given, wrt), rtol=1e-5, atol=1e-6)
