"""The shipped table of errors lists existing rules and is true when measured again (most in the long runs)."""

import sys
from pathlib import Path

import numpy as np
import pytest

from matcalc.evidence.precise import doubles
from matcalc.evidence.precise.numpy_twin import TWIN
from matcalc.rulebook import default_rulebook
from matcalc.rulebook.load import measured

sys.path.append(str(Path(__file__).parent.parent))  # benchmarks/ is only in the checkout

from benchmarks.accuracy.__main__ import measurable
from benchmarks.accuracy.__main__ import measured as measure
from benchmarks.accuracy.answers import Answers
from benchmarks.accuracy.cases import cases, conditions
from benchmarks.accuracy.derivatives import orders
from benchmarks.accuracy.inputs import OWN
from benchmarks.accuracy.peer import FORMULAS
from benchmarks.accuracy.store import Store
from benchmarks.accuracy.tables import KINDS, worst

BOOK = default_rulebook()
HANDFUL = ("log1p", "atan2", "sigmoid", "softmax2", "pow", "dd", "inv", "det", "logsumexp", "cumsum")
OTHERS = [rule.name for rule in BOOK.rules.values() if measurable(rule) and rule.name not in HANDFUL]


def test_table_is_of_rules():
    """Every entry is a rule's, with finite errors of the value and at most the four kinds."""
    table = measured()
    assert table
    for name, found in table.items():
        assert name in BOOK.rules
        assert set(found) <= {*KINDS, "at"}
        assert all(isinstance(found[kind], float) for kind in KINDS if kind in found)


def test_every_rule_is_measured():
    """Each entry has a measured error, or a reason in inputs.toml."""
    table = measured()
    for name in BOOK.rules:
        reason = OWN.get(name, {}).get("unmeasured", "")
        assert set(KINDS) & set(table.get(name, ())) or len(reason.split()) > 3, name
        assert not (reason and name in table), f"{name} is measured after all"


def test_words_of_peers_are_of_rules():
    """The formulas for PyTorch and JAX name existing rules, outputs and signatures."""
    for name, words in FORMULAS.items():
        rule = BOOK.get(name)
        for given in words.values():
            assert not isinstance(given, dict) or set(given) <= set(rule.outputs)
            assert not isinstance(given, list) or len(given) <= len(rule.signatures)


def test_truths_are_kept(tmp_path):
    """A second run reads true values and conditions from the file, to the last bit, and computes none."""
    rule = BOOK.get("hypot")
    first = Store(tmp_path / "hypot.json")
    made = next(cases(BOOK, rule, first))
    before = first.condition(made, "vjp", lambda: conditions(made))
    first.save()
    second = Store(tmp_path / "hypot.json")
    again = next(cases(BOOK, rule, second))
    assert second.found == first.found
    for kind in KINDS:
        np.testing.assert_array_equal(again.truth[kind], made.truth[kind])
    np.testing.assert_array_equal(second.condition(again, "vjp", lambda: pytest.fail("computed again")), before)


@pytest.mark.whole
@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", HANDFUL)
@pytest.mark.thinned(3)
def test_bounds_hold(name):
    bounds_hold(name)


@pytest.mark.long
@pytest.mark.parametrize("name", OTHERS)
def test_all_bounds_hold(name):
    bounds_hold(name)


def bounds_hold(name):
    """Measured again, by plain NumPy: no error is above ten times the listed one, or above some roundings."""
    listed = measured()[name]
    records = list(measure(cases(BOOK, BOOK.get(name)), {"numpy": Answers("numpy")}, 60.0))
    for kind in KINDS:
        found = worst(records, kind, "numpy")
        assert found is None or found["beyond"] <= max(10 * listed[kind], 1e-14)


def test_derivatives_at_many_digits():
    """First and second differences against known derivatives, of 1/x^3 and of a determinant."""
    one = np.array(1.0)
    here, first, twice = orders(lambda d: d["x"] ** -3, {"x": np.array(1e-30)}, "x", [one], one)
    for found, wanted in ((here, 1e90), (first[0], -3e120), (twice[0], 12e150)):
        assert abs(float(found / wanted) - 1) < 1e-13
    X = np.diag([1.0, 0.0, 2.0])
    basis = [np.eye(9)[k].reshape(3, 3) for k in range(9)]
    _, gradient, twice = orders(lambda d: TWIN.linalg.det(d["X"]), {"X": X}, "X", basis, basis[8])
    np.testing.assert_allclose(doubles(gradient).reshape(3, 3), np.diag([0.0, 2.0, 0.0]), atol=1e-30)
    np.testing.assert_allclose(doubles(twice).reshape(3, 3), np.diag([0.0, 1.0, 0.0]), atol=1e-30)
