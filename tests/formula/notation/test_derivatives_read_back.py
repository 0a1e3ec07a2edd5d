"""Printed derivatives of all cases read back: as text and with named parts, of formulas and of recurrences."""

import json
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

import matcalc as mc
from matcalc.errors import MatcalcError

TESTS = Path(__file__).parents[2]
LINE = re.compile(r"(?P<kind>\w+) of (?P<text>.*) by (?P<wrt>\w+) = .* \| (?P<let>.*)")
KINDS = ("gradient", "jvp", "vjp", "hvp", "hessian")
DIRECTIONS = {"jvp": ("dZ",), "hvp": ("dZ",)}
PARTS = 16


@cache
def formulas():
    """Return text, variable and declarations of all cases, in order."""
    found = set()
    for name in ("identities.json", "textbook.json"):
        cases = json.loads((TESTS / "cases" / name).read_text(encoding="utf-8"))
        found |= {(case["text"], case["wrt"], case["let"]) for case in cases}
    for case in json.loads((TESTS / "cases" / "rules.json").read_text(encoding="utf-8")):
        found |= {(case["text"], wrt, case["let"]) for wrt in case["symbols"]}
    lines = (TESTS / "cases" / "derivatives.txt").read_text(encoding="utf-8").splitlines()
    found |= {(match["text"], match["wrt"], match["let"]) for match in map(LINE.fullmatch, lines) if match}
    entries = tomllib.loads((TESTS.parent / "benchmarks" / "adjoints.toml").read_text(encoding="utf-8"))
    for entry in entries.values():
        of = entries.get(entry["formula"], entry)
        found.add((of["formula"], entry["wrt"], of["let"]))
    return sorted(found)


def check(text, wrt, let):
    """Read back the derivatives of a formula that exist; return how many were read."""
    count = 0
    for kind in KINDS:
        try:
            e = getattr(mc.expression(text, let), kind)(wrt, *DIRECTIONS.get(kind, ()), check=False)
        except MatcalcError:  # a gradient of an array, a variable without a derivative
            continue
        for printed in (str(e), e.named()):
            again = mc.expression(printed, e.declarations)
            same = again.node is e.node
            if not same and "[t+1]" in printed:  # terms of one sum over steps are several sums when read
                same = bool(mc.equivalent(e, again))
            assert same, (kind, printed)
            count += 1
    return count


@pytest.mark.parametrize("text, wrt, let", formulas()[::40])
@pytest.mark.sampled(9)
def test_some_derivatives_read_back(text, wrt, let):
    if "[t+1]" not in text:  # whose Hessians take seconds
        assert check(text, wrt, let)


RECURRENCES = [
    ("c'*x[T] where x[0] = x0, x[t+1] = A*x[t], t < T", "A"),
    ("{i,j: sum{t: {i,j: x[t][i]*Y[t,j]}}[i,k]*A[k,j]} where x[0] = x0, x[t+1] = A*x[t], t < T", "x0"),
]


@pytest.mark.parametrize(("text", "wrt"), RECURRENCES)
@pytest.mark.whole
def test_derivatives_of_recurrences_read_back(text, wrt):
    assert check(text, wrt, "A: matrix(n, n); x0, c: vector(n); Y: matrix(T, n)")


@pytest.mark.whole
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.thinned(16)
def test_all_derivatives_read_back(part):
    assert sum(check(*formula) for formula in formulas()[part::PARTS])
