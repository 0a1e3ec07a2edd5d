"""The built-in check rejects results with planted faults and accepts correct results (long runs)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from evidence.written import campaign, planted_faults
from evidence.written.planted_mutants import Mutant, of_python, of_rewrites, of_rules, of_texts

SOURCE = """
def f(node, k):
    if k < 3 and node:
        return node.args[1] - k
    return g(node, k)
"""


def test_faults_of_python_are_of_each_kind() -> None:
    found = list(of_python("room", "file.py", SOURCE, None))
    assert {"a sign", "another comparison", "a condition dropped", "off by one", "two operands exchanged"} <= {
        mutant.kind for mutant in found
    }
    for mutant in found:
        changed = mutant.applied(SOURCE)
        assert changed != SOURCE
        compile(changed, "file.py", "exec")


def test_faults_of_formulas_are_of_each_kind() -> None:
    rules = '[inv]\ndifferential = "-Y*dX*Y\'"\n[other]\ndifferential = "-Y"\n'
    assert {m.kind for m in of_rules("rules", "r.toml", rules, {"inv"})} == {
        "a sign", "a transposition", "two operands exchanged",
    }  # fmt: skip
    rewrites = '[[rewrite]]\nlet  = "x: array(s)"\nrule = "log(exp(x)) => x*(x + 1) if positive(x)"\n'
    found = list(of_rewrites("rewrites", "r.toml", rewrites))
    assert {m.kind for m in found} >= {"a sign", "a condition dropped"}
    assert {m.rule for m in found if m.kind == "a sign"} == {("log(exp(x))", "x: vector(n) positive")}


def test_facts_of_a_condition_are_those_of_its_variables() -> None:
    rewrites = '[[rewrite]]\nlet  = "X: matrix(n, n)"\nrule = "inv(X) => X\' if orthogonal(X)"\n'
    declared = {m.kind: m.rule and m.rule[1] for m in of_rewrites("rewrites", "r.toml", rewrites)}
    assert declared["a transposition"] == "X: matrix(n, n) orthogonal"
    assert declared["a condition dropped"] == "X: matrix(n, n)"


def test_faults_of_texts_are_of_each_kind() -> None:
    source = 'lines.append(f"{target} = {body}")\nsign = "+="\n'
    kinds = {m.kind for m in of_texts("emitter", "file.py", source, {1, 2})}
    assert kinds == {"a result with another sign", "a result doubled", "a sign"}


def test_results_that_differ_are_judged_with_the_check() -> None:
    class Fixed(planted_faults.Server):
        """Ends as given: unchanged, with the fault, and with the fault and the check."""

        def __init__(self, *ends: planted_faults.Results) -> None:
            self.ends, self.right = iter(ends), {}

        def panel(
            self, mutant: Mutant | None, labels: Sequence[str], check: bool = False, more: Any = None
        ) -> planted_faults.Results:
            return next(self.ends)

    mutant = Mutant("room", "file.py", 1, "a sign", "x + 1", "x - 1")
    right, wrong = {"f": ("numbers", [1.0])}, {"f": ("numbers", [2.0])}
    ends = {"refused": {"f": ("refused", "")}, "raised": {"f": ("error", "")}, "returned": wrong, "none": {}}
    for how, end in ends.items():
        assert planted_faults.tried(Fixed(right, wrong, end), mutant, ["f"]).how == how
    assert planted_faults.tried(Fixed(right, right), mutant, ["f"]).how == "same"
    assert planted_faults.tried(Fixed(right, {"f": ("error", "")}), mutant, ["f"]).how == "error"


@pytest.mark.long
def test_planted_faults_are_refused(tmp_path: Path) -> None:
    rows = planted_faults.run(tmp_path, list(planted_faults.ROOMS), 2, 7, most=30)
    assert len({mutant.room for mutant, outcome in rows if outcome.how == "refused"}) > 5
    assert not [(mutant, outcome) for mutant, outcome in rows if outcome.how == "returned"]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_right_results_are_not_refused(seed: int) -> None:
    said, refused, _ = campaign.run(campaign.formulas(100, 500 + seed), compiled=seed == 0)
    assert not refused
    assert said["checked"] > 200


@pytest.mark.long
def test_documented_formulas_are_not_refused() -> None:
    said, refused, count = campaign.run(campaign.documented(), compiled=True)
    assert not refused and count > 500 and said["checked"] > 1000
