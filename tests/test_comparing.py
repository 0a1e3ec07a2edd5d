"""Equal and unequal formulas: proofs, counterexamples that are right, and the mistakes that are named."""

from pathlib import Path

import numpy as np
import pytest

import matcalc as mc

CASES = Path(__file__).parent / "cases"


def pairs(name):
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()
    return [pair(line) for line in lines if not line.startswith("#")]


def pair(line):
    """Return the formulas, their declarations, and the mistake: what follows the last `;` and declares nothing."""
    *rest, last = line.split("; ")
    mistake = last if rest and ":" not in last else ""
    formulas, _, declarations = ("; ".join(rest) if mistake else line).partition(" | ")
    left, right = formulas.split(" = ", 1)
    return left, right, declarations, mistake


EQUAL, UNEQUAL = pairs("equal.txt"), pairs("unequal.txt")


@pytest.mark.parametrize(("left", "right", "declarations", "_"), EQUAL, ids=[f"{a} = {b}" for a, b, *_ in EQUAL])
def test_equal(left, right, declarations, _):
    found = mc.equivalent(left, right, declarations)
    assert found
    assert found.verdict in ("proved", "tested")


def test_most_are_proved():
    proved = [mc.equivalent(a, b, let).verdict == "proved" for a, b, let, _ in EQUAL]
    assert len(EQUAL) >= 100
    assert sum(proved) >= len(EQUAL) - 7


@pytest.mark.parametrize(
    ("left", "right", "declarations", "mistake"), UNEQUAL, ids=[f"{a}|{b}" for a, b, *_ in UNEQUAL]
)
def test_unequal(left, right, declarations, mistake):
    found = mc.equivalent(left, right, declarations)
    assert not found
    assert found.mistake.startswith(mistake)
    if not found.point:
        return
    one, other = (mc.expression(text, declarations) for text in (left, right))
    known = {**found.at, **found.point.sizes}
    values = [e(**{n: known[n] for n in e.symbols}) for e in (one, other)]
    assert np.shape(values[0]) != np.shape(values[1]) or np.max(np.abs(values[0] - values[1])) > 1e-6
