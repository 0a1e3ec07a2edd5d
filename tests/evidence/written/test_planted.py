"""The built-in check rejects results with planted faults and accepts correct results (long runs)."""

import random
from pathlib import Path

import pytest
from evidence.written import campaign, planted
from evidence.written.planted_mutants import of_python, of_rewrites, of_rules

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
    assert all(m.rule == ("log(exp(x))", "x: vector(n)") for m in found)


@pytest.mark.long
@pytest.mark.parametrize("room", planted.ROOMS)
def test_planted_faults_are_refused(room: str, tmp_path: Path) -> None:
    rows = planted.run(tmp_path, [room], 3, random.Random(room).randrange(1000), most=12)
    assert not [(mutant, why) for mutant, how, why in rows if how == "returned"]


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
