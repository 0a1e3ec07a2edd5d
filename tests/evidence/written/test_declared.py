"""Data that are drawn for a declared fact have it, by a test that does not use the library's own evaluation."""

from itertools import product

import numpy as np
import pytest

import matcalc as mc
from matcalc.evidence.numeric import samplers
from matcalc.evidence.numeric.samplers import by_node
from matcalc.evidence.numeric.sampling import drawn_for
from matcalc.evidence.written import points
from matcalc.evidence.written.declared import as_written, check_drawn
from matcalc.rulebook.load import default_rulebook

SQUARE = "X: matrix(n, n)"
LACKING = {
    "symmetric": [[1.0, 2.0], [3.0, 4.0]],
    "skew": [[0.0, 2.0], [3.0, 0.0]],
    "lower": [[1.0, 2.0], [3.0, 4.0]],
    "upper": [[1.0, 2.0], [3.0, 4.0]],
    "diagonal": [[1.0, 0.0], [3.0, 4.0]],
    "psd": [[-1.0, 0.0], [0.0, 4.0]],
    "spd": [[0.0, 0.0], [0.0, 4.0]],
    "nonsingular": [[0.0, 0.0], [0.0, 4.0]],
    "orthogonal": [[1.0, 1.0], [1.0, 1.0]],
    "nonnegative": [[1.0, -1.0], [1.0, 1.0]],
    "positive": [[1.0, 0.0], [1.0, 1.0]],
    "integer": [[1.0, 0.5], [1.0, 1.0]],
}


@pytest.mark.parametrize("fact", LACKING)
def test_data_without_the_fact_are_refused(fact: str) -> None:
    x = mc.expression("X", f"{SQUARE} {fact}").names.symbols["X"]
    with pytest.raises(mc.InternalError, match="the data drawn for X are not"):
        check_drawn(x, np.array(LACKING[fact]))
    for n in (1, 2, 3, 10):
        for mode in range(4):
            check_drawn(x, drawn_for(x, {"n": n}, (), mode, 29, n))


def test_places_are_integers() -> None:
    assert mc.compile("x[k]", declarations="x: vector(n); k: index(m)", target="numpy").checked.startswith("at ")


def test_every_fact_with_a_test_is_here() -> None:
    tested = {f.name for f in default_rulebook().facts.values() if f.zero or f.nonnegative or f.positive}
    assert tested - {"orthonormal"} == set(LACKING)


@pytest.mark.parametrize("fact", sorted(default_rulebook().facts))
def test_samplers_and_projections_are_evaluated_as_written(fact: str) -> None:
    record = default_rulebook().facts[fact]
    shapes = {"square": [(3, 3), (1, 1)], "matrix": [(3, 3), (4, 2)]}.get(record.of, [(3, 3), (4, 2), (3,), ()])
    for shape, text in product(shapes, filter(None, (record.sample, record.tangent))):
        drawn = np.random.default_rng(5).standard_normal(shape)
        assert np.allclose(as_written(text, drawn), by_node(text, drawn), rtol=1e-13, atol=1e-13)


def test_a_faulty_sampler_is_no_reason_to_compare_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    e = mc.expression("sum(log(p))", "p: vector(n) positive")
    points._with_facts.cache_clear()  # what was drawn before was drawn without the fault
    monkeypatch.setattr(points, "as_written", lambda text, array: -np.abs(array))
    with pytest.raises(mc.InternalError, match="drawn for p are not positive"):
        e.gradient("p")


def test_data_are_drawn_without_the_evaluation_of_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    e = mc.expression("sum(log(p)) + logdet(S)", "p: vector(n) positive; S: matrix(n, n) spd")
    points._with_facts.cache_clear()
    monkeypatch.setattr(samplers, "applied", lambda book, text, array, *_: -np.abs(array))
    assert e.gradient("S").checked.startswith("at n=2 and n=3")
