"""Samples cover their set: ten formulas of each fact that are no identities on it are refuted, and no identity is."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

import matcalc as mc
from matcalc.evidence.numeric.ends import ends
from matcalc.rulebook import default_rulebook

TABLE = tomllib.loads((Path(__file__).parent / "not_identities.toml").read_text(encoding="utf-8"))
PAIRS = [(fact, *pair.split(" = "), entry["let"]) for fact, entry in TABLE.items() for pair in entry["pairs"]]
INTERNAL = {"orthonormal"}


def test_every_fact_has_ten_formulas_and_ends():
    facts = default_rulebook().facts
    assert set(TABLE) == {*facts, "none"} - INTERNAL
    assert all(len(entry["pairs"]) == len(set(entry["pairs"])) == 10 for entry in TABLE.values())
    assert all(len(fact.ends) >= 4 for fact in facts.values())


def value_at(found, text, let):
    e = mc.expression(text, let)
    known = {**found.at, **found.point.sizes}
    with np.errstate(all="ignore"):
        try:
            return np.asarray(e(**{n: known[n] for n in e.symbols}))
        except np.linalg.LinAlgError:
            return np.asarray(np.nan)


@pytest.mark.parametrize(("fact", "left", "right", "let"), PAIRS, ids=[f"{p[0]}: {p[1]} = {p[2]}" for p in PAIRS])
@pytest.mark.sampled(8)
def test_what_is_no_identity_is_refuted(fact, left, right, let):
    found = mc.equivalent(left, right, let)
    assert not found, str(found)
    a, b = (value_at(found, text, let) for text in (left, right))
    assert np.all(np.isfinite(a))
    assert not np.all(np.isfinite(b)) or np.max(np.abs(a - b)) > 1e-7 * max(np.max(np.abs(a)), np.max(np.abs(b)))
