"""Reads TOML tables of operations as rules; each fault is reported with its field, and none hides another.

This file checks what a table alone decides. `check_names.py` checks formulas, when requested, so that start-up parses
signatures only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, replace
from types import MappingProxyType
from typing import Any

from matcalc.errors import MatcalcError, RuleError
from matcalc.language.declare import FACTS, Signature, read_signature
from matcalc.language.identifiers import identifier, nearest, shown
from matcalc.rulebook.facts_and_rewrites import rewrite_of
from matcalc.rulebook.fields import (
    EDGE_FIELDS,
    EDGE_KINDS,
    RULE_FIELDS,
    Report,
    check_fields,
    read_classes,
    read_degree,
    read_fact_rule,
    read_interval,
    read_latex,
    read_let,
    read_numpy,
    read_point,
)
from matcalc.rulebook.rule import COMPARISONS, RELATIONS, FactRule, Interval, Rewrite, Rule, digest

AS_THEY_STAND = tuple(field.name for field in fields(Rule) if field.default is not MISSING)
"""Fields of an entry that are copied without being read."""


OF_A_USER: Mapping[str, Any] = {"real": True}
"""Fields of entries outside of `rules/`, unless they state them: nobody tested their values at complex numbers."""


def rule_from_table(
    name: str,
    table: Mapping[str, Any],
    address: str,
    facts: Mapping[str, str] = FACTS,
    report: Report | None = None,
) -> Rule:
    """Return the rule that `table` describes; `facts` are those that it may refer to, with their shapes.

    Faults go to `report`; without it they are raised together as one RuleError.
    """
    found: list[str] = []
    fault = report or (lambda field, message: found.append(f"{address}: [{name}] {message}"))
    rule = _Entry(name, table, facts, fault).rule(address)
    if found:
        raise RuleError("\n".join(found))
    return rule


class _Entry:
    """An entry being read: a faulty field is reported and left out, so that it causes no other fault."""

    def __init__(self, name: str, table: Mapping[str, Any], facts: Mapping[str, str], report: Report) -> None:
        faulty: dict[str, None] = {}

        def note(field: str, message: str) -> None:
            faulty[field] = None
            report(field, message)

        self.name, self.facts, self.report = name, facts, note
        self.original, self.faulty = table, faulty
        self.table = check_fields(table, RULE_FIELDS, note)
        self.signatures = self.read_signatures()
        first = self.signatures[0] if self.signatures else Signature(name, (), ())
        self.parameters = tuple(d.name for d in first.parameters)
        self.operands = tuple(d.name for d in first.parameters if d.kind == "entry")
        self.outputs = tuple(d.name for d in first.outputs) or ("",)
        self.is_map = any(d.kind == "entry" for d in first.outputs)

    def rule(self, address: str) -> Rule:
        table = self.table
        aliases, opaque = table.get("aliases", ()), table.get("opaque")
        rule = Rule(
            name=self.name,
            kind=self.kind(),
            address=address,
            digest=digest(self.name, self.original),
            fields=MappingProxyType(dict(self.original)),
            signatures=self.signatures,
            outputs=self.outputs,
            sizes=self.lets("sizes", table.get("sizes", "").split(";") if table.get("sizes") else []),
            differentials=self.by_name("differential", "output", self.outputs),
            where=self.texts("where"),
            derivative=self.by_name("derivative", "operand", self.operands),
            definitions=self.per_signature("definition"),
            linear=self.by_name("linear", "parameter", self.parameters),
            values=self.per_signature("value"),
            transpose_same=table.get("transpose") == "same",
            degree=read_degree(table["degree"]) if "degree" in table else None,
            through=self.through(),
            interval=self.interval(),
            fact_rules=tuple(r for text in self.texts("facts") if (r := self.fact_rule(text))),
            rewrites=self.rewrites(address),
            edges=self.edges(),
            equivariant=self.changes(),
            aliases=() if isinstance(aliases, dict) else self.spellings("aliases", aliases),
            part_aliases=self.part_aliases(aliases),
            overload=self.overload(),
            inside=self.by_name("inside", "parameter", self.parameters),
            opaque=opaque if isinstance(opaque, str) else None,
            opaque_in={} if isinstance(opaque, str) else self.by_name("opaque", "operand", self.operands),
            divided=self.by_parameter("divided"),
            latex=read_latex(table.get("latex", {}), self.report),
            from_latex=read_latex(table.get("from_latex", {}), self.report),
            numpy=read_numpy(table.get("numpy", {}), self.report),
            from_sympy=read_classes(table.get("from_sympy", {}), self.report),
            **{field: table[field] for field in AS_THEY_STAND if field in table},
        )
        self.lets("where", rule.where)
        self.check_complete(rule)
        return rule

    def kind(self) -> str:
        """Return the kind of the entry; an implicit entry solves an equation that is its argument."""
        for field in ("definition", "implicit"):
            if field in self.table:
                return field
        return "map" if self.is_map else "op"

    def knows(self, field: str) -> bool:
        """Return whether `field` was read without fault."""
        return field not in self.faulty

    def texts(self, field: str) -> tuple[str, ...]:
        value = self.table.get(field, ())
        return (value,) if isinstance(value, str) else tuple(value)

    def about(self, field: str, message: str) -> None:
        """Report a fault about parameters or outputs, unless the signature is faulty and they are unknown."""
        if self.knows("signature"):
            self.report(field, message)

    def read_signatures(self) -> tuple[Signature, ...]:
        found: list[Signature] = []
        if "signature" not in self.original or self.table.get("signature") == []:
            self.report("signature", "has no signature")
        for text in self.texts("signature"):
            try:
                signature = read_signature(text, self.facts)
            except MatcalcError as error:
                self.report("signature", f"signature does not parse: {error}")
                continue
            if signature.name != self.name:
                self.about("signature", f"signature is of '{signature.name}', the entry is '{self.name}'")
            found.append(signature)
        return tuple(found)

    def per_signature(self, field: str) -> tuple[str, ...]:
        """Return the texts of a field that has one for each signature; a single value belongs to the first."""
        found, expected = self.texts(field), len(self.texts("signature"))
        alone = field == "value" and isinstance(self.table.get(field), str)
        if found and len(found) != expected and not alone:
            self.about(field, f"{expected} signatures, but {len(found)} of {field}")
        return found

    def lets(self, field: str, texts: list[str] | tuple[str, ...]) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for text in texts:
            let = read_let(text)
            if let is None:
                self.report(field, f"{field} '{text.strip()}' is not of the form  name = formula")
            else:
                found[let[0]] = let[1]
        return MappingProxyType(found)

    def by_name(self, field: str, noun: str, names: tuple[str, ...]) -> Mapping[str, str]:
        """Return the texts of a field by outputs, operands or parameters; a single text belongs to the only one."""
        value = self.table.get(field, {})
        if isinstance(value, str):
            if len(names) > 1:
                self.about(field, f"{field} must be a table by {noun}: {' '.join(names)}")
            return MappingProxyType(dict.fromkeys(names[:1], value))
        for name in value:
            if name not in names:
                self.about(field, f"{field} of '{name}', not among the {noun}s{nearest(name, names)}")
        return MappingProxyType(dict(value))

    def by_parameter(self, field: str) -> Mapping[str, str]:
        """Return texts by values of the number parameter; its name is the key for all other values."""
        value = self.table.get(field, {})
        names = [d.name for s in self.signatures[:1] for d in s.parameters if d.kind == "number"]
        general = names[0] if names else ""
        if isinstance(value, dict) and general not in value and value:
            self.about(field, f"{field} must be a text, or a table with an entry for the number parameter")
        return MappingProxyType({general: value} if isinstance(value, str) else dict(value))

    def through(self) -> tuple[float, float] | None:
        text = self.table.get("through")
        if text is None:
            return (0.0, 0.0) if self.table.get("monotone") and self.table.get("parity") == "odd" else None
        found = read_point(text)
        if found is None or "monotone" not in self.table:
            self.report("through", f"through '{text}' must be  (x, f(x))  of a monotone function")
        return found

    def interval(self) -> Interval | None:
        found = read_interval(self.table["interval"]) if "interval" in self.table else None
        if "interval" in self.table and found is None:
            self.report("interval", f"interval '{self.table['interval']}' is not of the form  (lo, hi)  or  [lo, hi]")
        return found

    def fact_rule(self, text: str) -> FactRule | None:
        found = read_fact_rule(text)
        if found is None:
            self.report("facts", f"'{text}' is not of the form  fact(X) and fact(Z) => fact(Y)")
            return None
        conditions, output, result = found
        for fact in (*(fact for fact, _ in conditions), result):
            if fact not in self.facts:
                self.report("facts", f"unknown fact '{fact}' in '{text}'{nearest(fact, self.facts)}")
        for _, parameter in conditions:
            if parameter not in self.parameters:
                near = nearest(parameter, self.parameters)
                self.about("facts", f"'{parameter}' in '{text}' is not a parameter{near}")
        outputs = [name or "Y" for name in self.outputs]
        if output not in outputs:
            self.about("facts", f"'{output}' in '{text}' is not among the outputs: {' '.join(outputs)}")
        return found

    def rewrites(self, address: str) -> tuple[Rewrite, ...]:
        """Return the entry's own rewrites, each with declarations of the parameters that it uses."""
        plain = [d for s in self.signatures[:1] for d in s.parameters if not d.repeated]
        variables = [replace(d, kind="array", sizes=()) if d.kind == "entry" else d for d in plain]

        def report(_: str, message: str) -> None:
            self.report("rewrites", message)

        found: list[Rewrite | None] = []
        for text in self.texts("rewrites"):
            named = re.findall(r"\w+", text)
            found.append(rewrite_of(text, tuple(d for d in variables if d.name in named), address, report))
        return tuple(rewrite for rewrite in found if rewrite)

    def edges(self) -> tuple[Mapping[str, object], ...]:
        edges = [edge for edge in self.table.get("edge", ()) if self.is_edge(edge)]
        return tuple(MappingProxyType(dict(edge)) for edge in edges)

    def is_edge(self, edge: object) -> bool:
        """Return whether an edge is well-formed, and report its faults."""
        before = len(self.faulty)
        if not isinstance(edge, dict) or not isinstance(edge.get("at"), dict):
            self.report("edge", 'an edge has the form  { at = { x = "0" }, derivative = { x = "1" } }')
            return False
        check_fields(edge, EDGE_FIELDS, lambda _, message: self.report("edge", f"of an edge: {message}"))
        if edge.get("kind", "value") not in EDGE_KINDS:
            self.report("edge", f"kind of edge '{edge['kind']}' is not one of: {' '.join(EDGE_KINDS)}")
        if edge.get("part", "") not in ("", *self.outputs):
            self.about("edge", f"an edge refers to '{edge['part']}', which is not an output")
        tables = [edge.get(field, {}) for field in ("at", "derivative", "pullback", "along", "second")]
        for parameter in (name for table in tables if isinstance(table, dict) for name in table):
            if parameter not in self.parameters:
                self.about("edge", f"an edge refers to '{parameter}', which is not a parameter")
        return len(self.faulty) == before

    def changes(self) -> tuple[Mapping[str, str], ...]:
        """Return the changes of arguments under which results change in a known form."""
        names = [*self.parameters, *(name or "Y" for name in self.outputs)]
        found: list[Mapping[str, str]] = []
        for change in self.table.get("equivariant", ()):
            if not isinstance(change, dict) or not all(isinstance(text, str) for text in change.values()):
                self.report("equivariant", 'a change has the form  { X = "O*X*O\'", Y = "O*Y*O\'" }')
                continue
            for name in change:
                if name not in names:
                    near = nearest(name, names)
                    self.about("equivariant", f"a change of '{name}', neither a parameter nor a result{near}")
            found.append(MappingProxyType(dict(change)))
        return tuple(found)

    def spellings(self, field: str, names: Iterable[object]) -> tuple[str, ...]:
        """Return the spellings of calls in the form that is looked up; report invalid names."""
        found = []
        for name in names:
            try:
                found.append(identifier(name, "the spelling"))
            except MatcalcError as error:
                self.about(field, str(error))
        return tuple(found)

    def overload(self) -> str | None:
        """Return the shared name with the comparison that calls of this entry begin with, `where>`."""
        text = self.table.get("overload")
        if text is None or not self.knows("overload"):
            return None
        name = text.rstrip(RELATIONS)
        relation = text[len(name) :]
        if relation and relation not in COMPARISONS:
            self.about("overload", f"'{shown(relation)}' is not a comparison")
        return next((spelling + relation for spelling in self.spellings("overload", [name])), None)

    def part_aliases(self, aliases: object) -> Mapping[str, str]:
        parts = aliases if isinstance(aliases, dict) else {}
        self.spellings("aliases", parts)
        for spelling, output in parts.items():
            if output not in self.outputs:
                self.about("aliases", f"'{spelling}' stands for '{output}', which is not an output")
        return MappingProxyType(dict(parts))

    def check_complete(self, rule: Rule) -> None:
        """Report missing requirements of its kind: a derivative for each operand, a differential for each output."""
        if rule.implicit is not None:
            self.check_implicit(rule)
        if rule.kind in ("definition", "implicit") or rule.opaque is not None or not self.signatures:
            return
        has = "derivative" if rule.kind == "map" else "differential"
        if has == "differential" and rule.linear and rule.is_linear:
            return
        if not self.knows(has) or not self.knows("definition") or not self.knows("opaque"):
            return
        names, formulas = (self.operands, rule.derivative) if rule.kind == "map" else (self.outputs, rule.differentials)
        for name in names:
            if name not in formulas and name not in rule.opaque_in:
                of = f" of '{name}'" if name else ""
                self.about("", f"has no {has}{of}, no definition, and no `opaque` with the reason")

    def check_implicit(self, rule: Rule) -> None:
        """Report parameters other than an equation, its unknown and the start of the search."""
        if self.signatures and [p.kind for p in rule.parameters] != ["equation", "unknown", "array"]:
            self.about("implicit", "an implicit entry takes an equation, its unknown and an array to start from")
