"""The table of operations: values, adjoints and degenerate inputs, against NumPy and listed numbers.

Edges where no derivative is defined are in test_operations_compiled.py.
"""

import numpy as np
import pytest

import matcalc as mc
from oracle.cases import operations
from oracle.judging import arguments

CASES = operations()
ADJOINTS = [(case, name) for case in CASES for name in case.vjp]
EDGES = [(case, edge, k) for case in CASES for k, edge in enumerate(case.edge) if "grad" in edge]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.op)
def test_value(case):
    found = mc.expression(case.text, case.let)
    data = case.sample()
    assert_close(at_point(found, data), case.value(data))


@pytest.mark.sampled(48)
@pytest.mark.parametrize(("case", "wrt"), ADJOINTS, ids=[f"{case.op}-{name}" for case, name in ADJOINTS])
def test_adjoint(case, wrt):
    found = pulled_back(case, wrt)
    data, G = case.sample(), case.cotangent()
    assert_close(at_point(found, {**data, "G": G}), case.adjoint(wrt, data, G))


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("case", "edge", "k"), EDGES, ids=[f"{case.op}-{k}" for case, _, k in EDGES])
def test_edge(case, edge, k):
    """At kinks, ties and singular points: the listed gradient (of least norm where there are several)."""
    at = {name: np.asarray(value, float) for name, value in edge["at"].items()}
    there = case.at({name: value.shape for name, value in at.items()})
    for name, listed in edge["grad"].items():
        found = pulled_back(there, name)
        value = at_point(found, {**at, "G": np.asarray(edge["cot"], float)})
        small = {"rtol": edge["rtol"], "atol": 1e-30} if "rtol" in edge else {}
        assert_close(value, np.asarray(listed, float), **small)
    if "d2" in edge:
        second_order(there, at, edge["d2"])


def second_order(case, at, listed):
    """Check the second derivative along E and F against its listed value."""
    product = mc.hvp(case.text, listed["sym"], vector="E", declarations=case.let)
    along = at_point(product, {**at, "E": np.asarray(listed["E"], float)})
    assert_close((along * np.asarray(listed["F"], float)).sum(), listed["value"])


def pulled_back(case, wrt):
    return mc.vjp(case.text, wrt, cotangent="G", declarations=case.let)


def at_point(found, data):
    with np.errstate(all="ignore"):
        return np.asarray(found(**arguments(found.symbols, data)))


def assert_close(found, expected, rtol=1e-8, atol=1e-8):
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


@pytest.mark.parametrize(("text", "rank"), [("adj(X, E)", 12), ("adj(X, E, F)", 11)])
def test_the_adjugate_of_many_rows_is_0_along_directions_where_the_rank_is_low(text, rank):
    rng = np.random.default_rng(3)
    left, right = rng.standard_normal((15, rank)), rng.standard_normal((rank, 15))
    E, F = rng.standard_normal((2, 15, 15))
    e = mc.expression(text, "X: matrix(n, n); E: matrix(n, n); F: matrix(n, n)")
    for far, bound in ((0, 1e-12), (1, None)):  # one rank more, and it is far from 0
        X = left @ right + far * rng.standard_normal((15, 1)) @ rng.standard_normal((1, 15))
        found = np.abs(e(**{name: {"X": X, "E": E, "F": F}[name] for name in e.symbols})).max()
        whole = np.prod(np.linalg.svd(X)[1][: rank + far])
        assert found < bound * whole if bound else found > 1e-3 * whole
