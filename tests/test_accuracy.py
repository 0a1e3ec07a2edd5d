"""The measured errors that are shipped: of rules that there are, and true of a handful measured again."""

import sys
from pathlib import Path

import pytest

from matcalc.rulebook import default_rulebook
from matcalc.rulebook.load import measured

sys.path.append(str(Path(__file__).parent.parent))  # benchmarks/ stands in the checkout alone

from benchmarks.accuracy.__main__ import measured as measure
from benchmarks.accuracy.answers import Answers
from benchmarks.accuracy.cases import cases
from benchmarks.accuracy.tables import KINDS, worst

BOOK = default_rulebook()
HANDFUL = ("log1p", "atan2", "inv", "det", "logsumexp", "cumsum")


def test_table_is_of_rules():
    """Every entry is a rule's, with finite errors of the value and at most the four kinds."""
    table = measured()
    assert table
    for name, found in table.items():
        assert name in BOOK.rules
        assert set(found) <= {*KINDS, "at"}
        assert all(isinstance(found[kind], float) for kind in KINDS if kind in found)


@pytest.mark.parametrize("name", HANDFUL)
def test_bounds_hold(name):
    """Measured once more, by plain NumPy: no error is beyond ten times the listed one, nor above some roundings."""
    listed = measured()[name]
    records = list(measure(cases(BOOK, BOOK.get(name)), {"numpy": Answers("numpy")}, 60.0))
    for kind in KINDS:
        found = worst(records, kind, "numpy")
        assert found is None or found["beyond"] <= max(10 * listed[kind], 1e-14)
