"""TOML tables of facts and rewrites -> records: those that stand beside the operations, and the rewrites of these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matcalc.errors import MatcalcError
from matcalc.language.declare import FACTS, RULE_KINDS, Declaration, read_declarations
from matcalc.rulebook.fields import FACT_FIELDS, REWRITE_FIELDS, Report, check_fields, read_rewrite
from matcalc.rulebook.rule import Fact, Rewrite


def fact_from_table(name: str, table: Mapping[str, Any], address: str, report: Report) -> Fact:
    """Return the fact that `table` describes."""
    check_fields(table, FACT_FIELDS, report)

    def text(field: str) -> str | None:
        return str(table[field]) if field in table else None

    return Fact(
        name=name,
        of=str(table.get("of", "any")),
        implies=tuple(map(str, table.get("implies", ()))),
        follows=tuple(frozenset(map(str.strip, str(t).split(" and "))) for t in table.get("follows", ())),
        excludes=tuple(map(str, table.get("excludes", ()))),
        products=tuple(map(str, table.get("products", ()))),
        zero=text("zero"),
        nonnegative=text("nonnegative"),
        positive=text("positive"),
        entries=tuple(map(str, table.get("entries", ()))),
        tangent=text("tangent"),
        sample=text("sample"),
        drawn=text("drawn"),
        projection=text("projection"),
        whole=text("whole"),
        near=text("near"),
        transposed=str(table.get("transposed", name)),
        negated=str(table.get("negated", name if "tangent" in table else "")),
        sums=table.get("sums") is True,
        scaled=str(table.get("scaled", "")),
        address=address,
    )


def rewrite_from_table(
    table: Mapping[str, Any], address: str, report: Report, facts: Mapping[str, str] = FACTS
) -> Rewrite | None:
    """Return the rewrite that a `[[rewrite]]` describes; `facts` are those known, with the shapes that have them."""
    check_fields(table, REWRITE_FIELDS, report)
    if "rule" not in table:
        report("", "has no rule")
    if not isinstance(table.get("rule"), str):
        return None
    try:
        variables = read_declarations(str(table.get("let", "")), RULE_KINDS, facts)
    except MatcalcError as error:
        report("let", f"let does not parse: {error}")
        return None
    return rewrite_of(table["rule"], variables, address, report, table.get("splits") is True)


def rewrite_of(
    text: str, variables: tuple[Declaration, ...], address: str, report: Report, splits: bool = False
) -> Rewrite | None:
    """Return the rewrite `left => right`, if any under its condition; None where the text reads otherwise, reported."""
    sides = read_rewrite(text)
    if sides is None:
        report("rule", f"'{text}' does not read  left => right  or  left => right if fact(expression)")
        return None
    return Rewrite(variables, *sides, address, splits)
