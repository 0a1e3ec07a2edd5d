"""Data that are drawn for a declared fact have it, by a test that does not use the library's own evaluation."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.evidence.numeric import samplers
from matcalc.evidence.numeric.sampling import drawn_for
from matcalc.evidence.written import points
from matcalc.evidence.written.declared import check_drawn
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


def test_a_faulty_sampler_is_no_reason_to_compare_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    e = mc.expression("sum(log(p))", "p: vector(n) positive")
    points._with_facts.cache_clear()  # what was drawn before was drawn without the fault
    monkeypatch.setattr(samplers, "applied", lambda book, text, array, *_: -np.abs(array))
    with pytest.raises(mc.InternalError, match="drawn for p are not positive"):
        e.gradient("p")
