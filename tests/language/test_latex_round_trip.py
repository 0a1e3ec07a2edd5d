"""All that `latex` writes is read back to the same node: every formula of tests/cases, and their derivatives."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import matcalc as mc

CASES = Path(__file__).parents[1] / "cases"


def formulas() -> Iterator[tuple[str, str]]:
    """Yield formulas with their declarations: both sides of what tests/cases states."""
    for name in ("identities", "textbook", "rules"):
        for case in json.loads((CASES / f"{name}.json").read_text(encoding="utf-8")):
            yield case["text"], case["let"]
            if "derivative" in case:
                tangent = f"; d{case['wrt']}" + case["let"].split(f"{case['wrt']}", 1)[-1].split(";")[0]
                yield case["derivative"], case["let"] + (tangent if case["kind"] == "differential" else "")
    for name in ("derivatives", "equal", "unequal", "pairs"):
        for line in (CASES / f"{name}.txt").read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                formula, *rest = line.split(" | ")
                left, _, right = formula.partition(" = ")
                if not rest and right.count("[") == right.count("]") == 0:
                    right = right.partition("; ")[0]
                let = rest[0].split(";;")[0].strip() if rest else ""
                if name == "derivatives":
                    left = left.partition(" of ")[2].rpartition(" by ")[0]
                let = "; ".join(part for part in let.split(";") if ":" in part)
                yield left.strip(), let
                if right and name != "derivatives":
                    yield right.strip(), let


FORMULAS = list(dict.fromkeys(formulas()))


def read_back(e: mc.Expression) -> mc.Expression:
    return mc.expression(e.latex(), e.declarations, dialect="latex")


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("text", "let"), FORMULAS, ids=[text for text, _ in FORMULAS])
def test_formula(text, let):
    e = mc.expression(text, let)
    assert read_back(e).node is e.node, e.latex()
