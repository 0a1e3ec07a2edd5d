"""Reads the contents of a rule file: operations, rewrites, facts and functions; anything else is a fault."""

from __future__ import annotations

from collections.abc import Mapping

from matcalc.rulebook.entry import OF_A_USER, rule_from_table
from matcalc.rulebook.facts_and_rewrites import fact_from_table, rewrite_from_table
from matcalc.rulebook.fields import FACT_FIELDS, RULE_FIELDS
from matcalc.rulebook.files import TABLES, RuleFile
from matcalc.rulebook.rule import Fact, Rewrite, Rule


def prelude_in(file: RuleFile) -> str:
    table, report = file.tables.get("prelude", {}), file.reporter("prelude", "prelude")
    if not isinstance(table, dict):
        file.faults.append(f"{file.address('', 'prelude')}: prelude must be a table")
        return ""
    for key in table.keys() - {"python"}:
        report(key, f"unknown field '{key}': [prelude] has only `python`")
    text = table.get("python", "")
    if not isinstance(text, str):
        report("python", "python must be text")
        return ""
    return text


def rules_in(file: RuleFile, shapes: Mapping[str, str], of_a_user: bool) -> list[Rule]:
    found: list[Rule] = []
    unless_stated = OF_A_USER if of_a_user else {}
    for name, table in file.tables.items():
        if name in TABLES or _is_fact(table):
            continue
        if not isinstance(table, dict):
            advice = ": a field belongs below the [name] of its entry" if name in RULE_FIELDS else ""
            file.faults.append(f"{file.address('', name)}: '{name}' is outside an entry{advice}")
            continue
        before = len(file.faults)
        rule = rule_from_table(name, {**unless_stated, **table}, file.address(name), shapes, file.reporter(name, name))
        if len(file.faults) == before:
            found.append(rule)
    return found


def facts_in(file: RuleFile) -> list[Fact]:
    entries = [(name, table) for name, table in file.tables.items() if _is_fact(table)]
    return [fact_from_table(name, t, file.address(name), file.reporter(name, name)) for name, t in entries]


def _is_fact(table: object) -> bool:
    """Return whether an entry is a fact: it has `kind` and no fields of operations only."""
    return isinstance(table, dict) and "kind" in table and not table.keys() & (RULE_FIELDS.keys() - FACT_FIELDS.keys())


def rewrites_in(file: RuleFile, shapes: Mapping[str, str]) -> list[Rewrite]:
    entries = file.tables.get("rewrite", [])
    if not isinstance(entries, list):
        file.faults.append(f"{file.address('', 'rewrite')}: a rewrite begins with [[rewrite]]")
        return []
    headers = [f"rewrite {number}" for number in range(len(entries))]
    found = [
        rewrite_from_table(table, file.address(header), file.reporter(header, "rewrite"), shapes)
        for header, table in zip(headers, entries, strict=True)
    ]
    return [rewrite for rewrite in found if rewrite is not None]
