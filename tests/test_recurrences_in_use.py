"""Recurrences in use: scans of tuples and dictionaries, equivalence, functions in machine code, saved files."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matcalc as mc

LET = "A: matrix(n, n); x0, c: vector(n); U: matrix(T, n)"
LINEAR = "c'*x[T] where x[0] = x0, x[t+1] = A*x[t] + U[t, :], t < T"
RNG = np.random.default_rng(6)
DATA: dict[str, Any] = {
    "A": RNG.normal(size=(3, 3)) / 2, "x0": RNG.normal(size=3), "c": RNG.normal(size=3), "U": RNG.normal(size=(4, 3)),
}  # fmt: skip


def leapfrog(make: Any) -> Any:
    """Return the momentum and the outputs of a scan whose carry `make` builds of a place and a momentum."""
    A, x0, U = mc.symbols("A: matrix(n, n); x0: vector(n); U: matrix(T, n)")

    def step(carry: Any, u: Any) -> Any:
        q, p = carry.values() if isinstance(carry, dict) else carry
        p = p - A @ q / 3 + u
        return make(q + p / 2, p), {"energy": p @ p, "place": q}

    states, outputs = mc.scan(step, make(x0, 0 * x0), over=U)
    p = states["p"] if isinstance(states, dict) else states[1]
    return p[-1], outputs["energy"], outputs["place"]


def steps() -> Any:
    q, p, energies, places = DATA["x0"], np.zeros(3), [], []
    for u in DATA["U"]:
        places.append(q)
        p = p - DATA["A"] @ q / 3 + u
        q = q + p / 2
        energies.append(p @ p)
    return p, np.array(energies), np.array(places)


@pytest.mark.parametrize("make", [lambda q, p: (q, p), lambda q, p: {"q": q, "p": p}], ids=["tuple", "dictionary"])
def test_scans_of_containers(make: Any) -> None:
    for found, wanted in zip(leapfrog(make), steps(), strict=True):
        np.testing.assert_allclose(found(**{k: DATA[k] for k in found.symbols}), wanted, rtol=1e-12)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("other", "is_equal"),
    [
        ("c'*z[T] where z[0] = x0, z[s+1] = U[s, :] + A*z[s], s < T", True),
        ("x0'*l[0] + sum{t: l[t+1]'*U[t, :]} where l[T] = c, l[t] = A'*l[t+1], t < T", True),
        ("c'*x[T] where x[0] = x0, x[t+1] = (y[1] where y[0] = x[t], y[s+1] = A*y[s] + U[t, :], s < 1), t < T", True),
        ("c'*x[T] where x[0] = x0, x[t+1] = A'*x[t] + U[t, :], t < T", False),
        ("c'*x[T - 1] where x[0] = A*x0 + U[0, :], x[t+1] = A*x[t] + U[t, :], t < T - 1", False),
    ],
)
def test_equivalence(other: str, is_equal: bool) -> None:
    assert bool(mc.equivalent(LINEAR, other, LET)) is is_equal


@pytest.mark.sampled(2)
@pytest.mark.parametrize("other", ["1 - 2./(exp(2*x[t]) + 1)", "sinh(x[t])./cosh(x[t])"])
def test_steps_are_compared_by_proof(other: str) -> None:
    one, two = (f"c'*x[T] where x[0] = x0, x[t+1] = {step}, t < T" for step in ("tanh(x[t])", other))
    assert "proved" in str(mc.equivalent(one, two, "x0, c: vector(n)"))


@pytest.mark.whole
def test_machine_code_and_files(tmp_path: Path) -> None:
    e = mc.expression(LINEAR, LET)
    fn = mc.value_and_gradient(e, ["A", "U"])
    fn.save(tmp_path / "linear.py")
    spec = importlib.util.spec_from_file_location("linear", tmp_path / "linear.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    states, adjoints = [DATA["x0"]], [DATA["c"]]
    for u in DATA["U"]:
        states.append(DATA["A"] @ states[-1] + u)
        adjoints.append(DATA["A"].T @ adjoints[-1])
    adjoints.reverse()
    arguments = [DATA[k] for k in fn.args]
    for one in (fn, fn.numba, getattr(module, fn.spec.name)):
        value, (by_A, by_U) = one(*arguments)
        assert np.isclose(value, DATA["c"] @ states[-1], rtol=1e-12)
        np.testing.assert_allclose(by_A, sum(map(np.outer, adjoints[1:], states[:-1])), rtol=1e-12)
        np.testing.assert_allclose(by_U, adjoints[1:], rtol=1e-12)
