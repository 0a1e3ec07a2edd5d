"""TOML tables of facts and rewrites -> records: those that stand beside the operations, and the rewrites of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from matcalc.errors import MatcalcError
from matcalc.language.declare import FACTS, RULE_KINDS, Declaration, read_declarations
from matcalc.rulebook.fields import FACT_FIELDS, REWRITE_FIELDS, REWRITE_WAYS, Report, check_fields, read_rewrite
from matcalc.rulebook.rule import Fact, Rewrite


def fact_from_table(name: str, table: Mapping[str, Any], address: str, report: Report) -> Fact:
    """Return the fact that `table` describes."""
    fields = {field: value for field, value in check_fields(table, FACT_FIELDS, report).items() if field != "kind"}
    given = {field: tuple(value) if isinstance(value, list) else value for field, value in fields.items()}
    follows = tuple(frozenset(map(str.strip, text.split(" and "))) for text in given.pop("follows", ()))
    own: dict[str, Any] = {"transposed": name, "negated": name if "tangent" in given else ""}
    return Fact(name=name, address=address, follows=follows, **{**own, **given})


def rewrite_from_table(
    table: Mapping[str, Any], address: str, report: Report, facts: Mapping[str, str] = FACTS
) -> Rewrite | None:
    """Return the rewrite that a `[[rewrite]]` describes; `facts` are those known, with the shapes that have them."""
    given = check_fields(table, REWRITE_FIELDS, report)
    if "rule" not in table:
        report("", "has no rule")
    if "rule" not in given:
        return None
    try:
        variables = read_declarations(given.get("let", ""), RULE_KINDS, facts)
    except MatcalcError as error:
        report("let", f"let does not parse: {error}")
        return None
    made = rewrite_of(given["rule"], variables, address, report)
    return made and replace(made, **{way: given.get(way, False) for way in REWRITE_WAYS})


def rewrite_of(text: str, variables: tuple[Declaration, ...], address: str, report: Report) -> Rewrite | None:
    """Return the rewrite `left => right`, if any under its condition; None where the text reads otherwise, reported."""
    sides = read_rewrite(text)
    if sides is None:
        report("rule", f"'{text}' does not read  left => right  or  left => right if fact(expression)")
        return None
    return Rewrite(variables, *sides, address)
