"""Pages of the rulebook: every page is complete, and the table in rules/README.md lists the rules."""

import json
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from matcalc.commands import rule_pages
from matcalc.expressions.expression import Expression
from matcalc.expressions.read_input import expression
from matcalc.rulebook import default_rulebook
from matcalc.rulebook.load import on_trial, shipped_rulebook
from matcalc.store.data_folders import data_folder
from matcalc.tensor.nodes.signature import PLAIN
from rules import readme

BOOK = default_rulebook()


@cache
def page_of(name):
    return rule_pages.page(BOOK.rules[name])


@pytest.mark.whole
def test_the_table_is_fresh():
    shown = (data_folder("rules") / "README.md").read_text(encoding="utf-8")
    assert shown == readme.fresh(shown), "run python tests/rules/readme.py"


@pytest.mark.whole
def test_the_table_has_a_row_for_each_rule_and_equal_cells():
    rows = [line for line in readme.table().splitlines() if line.startswith("| `")]
    assert len(rows) == len(BOOK.rules)
    assert {len(re.split(r"(?<!\\)\|", row)) for row in rows} == {len(readme.COLUMNS) + 2}


@pytest.mark.parametrize("name", BOOK.rules)
@pytest.mark.sampled(96)
def test_the_adjoint_of_each_argument_is_derived(name):
    rule, page = BOOK.rules[name], page_of(name)
    tensors = [p for p in rule.parameters if p.kind not in PLAIN]
    varied = [p for p in tensors if not p.repeated] or tensors
    assert len(page.adjoints) == (0 if rule.opaque else len(varied) * len(rule.outputs))
    missing = {label.partition("bar")[0]: a for label, a in page.adjoints.items() if isinstance(a, str)}
    assert missing.keys() == rule.opaque_in.keys()
    assert all(rule.opaque_in[p] in reason for p, reason in missing.items())


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", BOOK.rules)
@pytest.mark.sampled(192)
def test_what_is_shown_reads_back(name):
    for label, adjoint in page_of(name).adjoints.items():
        if label.partition("bar")[0] in BOOK.rules[name].opaque_in:
            continue
        assert isinstance(adjoint, Expression)
        assert expression(str(adjoint), adjoint.declarations).node is adjoint.node


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", BOOK.rules)
@pytest.mark.sampled(24)
def test_a_page_is_text_and_latex_and_json(name):
    page = page_of(name)
    text = rule_pages.text(page)
    assert page.rule.address in text
    assert all(f"{left} = {right}" in text for left, right in page.adjoints.items())
    latex = re.sub(r"\\\\[{}]", "", rule_pages.as_latex(page))
    assert latex.count("{") == latex.count("}")
    assert json.loads(json.dumps(rule_pages.as_json(page)))["name"] == name


def test_measured_errors_are_shown(monkeypatch):
    monkeypatch.setattr(rule_pages, "measured", lambda: {"inv": {"value": 1e-16, "vjp": 4e-15, "at": "graded"}})
    assert rule_pages.worst(BOOK.rules["inv"]) == "4.0e-15"
    assert "vjp 4e-15" in rule_pages.text(rule_pages.page(BOOK.rules["inv"]))
    assert rule_pages.worst(BOOK.rules["det"]) == ""


VOCABULARY = Path(__file__).parents[1] / "vocabulary.toml"
# Notation outside the table of calls: powers, parts of a matrix, equations, a constant in a derivative, indicators,
# the numbers of indices.
WRITTEN = {"pow", "powr", "powt", "sym", "skew", "root", "stop", "gammaincc", "when", "unless", "iota", "posdef"}


def test_internal_is_what_the_vocabulary_does_not_have():
    calls = tomllib.loads(VOCABULARY.read_text(encoding="utf-8"))["call"]
    texts = " ".join(text for call in calls for text in (call["f"], *call.get("also", ())))
    called = {*re.findall(r"(\w+)\(", texts), *re.findall(r"\b(?:matfun|svdfun)\((\w+)", texts)}
    for rule in BOOK.rules.values():
        names = {
            rule.name,
            rule.spelling,
            *rule.names,
            *rule.aliases,
            *rule.part_aliases,
            *(c.split("(")[0] for c in rule.calls),
        }
        assert rule.internal != bool(names & (called | WRITTEN)), rule


def test_operations_are_listed_by_family_and_those_for_internal_use_last():
    with on_trial(shipped_rulebook()):  # rules defined by other tests are listed as the user's own
        lines = rule_pages.listed().splitlines()
    titles = [line.removeprefix("--- ") for line in lines if line.startswith("--- ")]
    assert len(set(titles)) == len(titles)
    assert {"factorisations", "matrix functions", "norms of the entries"} < set(titles)
    assert rule_pages.OWN not in titles and titles[-1] == rule_pages.INTERNAL
    internal = lines[lines.index(f"--- {rule_pages.INTERNAL}") :]
    assert {line.split()[0] for line in internal if ".toml:" in line} == {
        rule.name for rule in BOOK.rules.values() if rule.internal
    }
    assert lines.index("--- factorisations") < next(k for k, line in enumerate(lines) if line.startswith("chol "))
