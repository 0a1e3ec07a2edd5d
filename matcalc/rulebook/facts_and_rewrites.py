"""Reads TOML tables of facts and rewrites, both [[rewrite]] tables and the rewrites inside operations."""

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
    values = {field: tuple(value) if isinstance(value, list) else value for field, value in fields.items()}
    follows = tuple(frozenset(map(str.strip, text.split(" and "))) for text in values.pop("follows", ()))
    own: dict[str, Any] = {"transposed": name, "negated": name if "tangent" in values else ""}
    return Fact(name=name, address=address, follows=follows, **{**own, **values})


def rewrite_from_table(
    table: Mapping[str, Any], address: str, report: Report, facts: Mapping[str, str] = FACTS
) -> Rewrite | None:
    """Return the rewrite that a `[[rewrite]]` describes; `facts` maps known facts to their shapes."""
    values = check_fields(table, REWRITE_FIELDS, report)
    if "rule" not in table:
        report("", "has no rule")
    if "rule" not in values:
        return None
    try:
        variables = read_declarations(values.get("let", ""), RULE_KINDS, facts)
    except MatcalcError as error:
        report("let", f"let does not parse: {error}")
        return None
    made = rewrite_of(values["rule"], variables, address, report)
    return made and replace(made, **{flag: values.get(flag, False) for flag in REWRITE_WAYS})


def rewrite_of(text: str, variables: tuple[Declaration, ...], address: str, report: Report) -> Rewrite | None:
    """Return the rewrite `left => right`, with its condition if any; report a text of another form and return None."""
    sides = read_rewrite(text)
    if sides is None:
        report("rule", f"'{text}' is not of the form  left => right  or  left => right if fact(expression)")
        return None
    return Rewrite(variables, *sides, address)
