"""Wrong rules are found: some mutants of one entry in three in the whole suite, all of them in the long runs."""

import numpy as np
import pytest
from rules.mutants import changes, mutants, rewritten
from rules.mutation import LISTED, LIVES, PARTS, fates, survivors

from matcalc.rulebook import default_rulebook

EVERY, PART = 12, 3  # of each third entry the first mutant and each twelfth after it
SHARES = 40


@pytest.mark.whole
@pytest.mark.filterwarnings("ignore")
def test_mutants_do_not_live():
    with np.errstate(all="ignore"):
        found = list(fates(every=EVERY, part=PART))
    assert len(found) > 150
    assert not survivors(found)[0]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("share", range(SHARES))
def test_no_mutant_lives(share):
    names = ["rewrites", *default_rulebook().rules][share::SHARES]
    with np.errstate(all="ignore"):
        found = list(fates(names))
    assert not survivors(found)[0]


def test_listed_mutants_have_a_reason_and_exist():
    book = default_rulebook()
    made = {str(m): m for rule in book.rules.values() for m in mutants(rule.name, rule.fields)}
    laws = {str(m) for rewrite in book.rewrites for m in rewritten("rewrite", (), str(rewrite))}
    stale = [mutant for mutant in LISTED if mutant not in made and mutant not in laws]
    assert not stale
    for of, part, _ in PARTS:
        assert any(m.startswith(f"{of}: ") and part in mutant.text for m, mutant in made.items()), part
    assert all(len(reason) > 20 for reason in (*LISTED.values(), *(reason for *_, reason in PARTS)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.whole
def test_a_wrong_entry_is_named():
    """The fault that a mutant causes states what is wrong and where."""
    faults = {str(mutant): fault for mutant, fate, fault in fates(["inv"]) if fate != LIVES}
    assert "the derivative in X" in faults["inv.differential: -Y*dX*Y  ->  Y*dX*Y"]
    assert "`degree`" in faults["inv.degree: -1  ->  0"]


def test_changes_of_a_formula():
    assert set(changes("a*b' - c")) == {
        "-a*b' - c", "-c", "a*b' + c", "a*b'", "b'*a - c", "a*b - c", "a'*b' - c", "a*b' - c'",
    }  # fmt: skip
