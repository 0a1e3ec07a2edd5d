"""Reads `low_rank.toml`: what becomes of operations on a simple matrix plus one of low rank or a Kronecker product."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from matcalc.compiler.plan.low_rank.kronecker import KroneckerForm
from matcalc.compiler.plan.low_rank.split import Split
from matcalc.errors import RuleError
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node, Shape
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import Batched, instantiate, substitute

BASES = ("number", "vector", "matrix")
"""The entries, by the rank of the simple matrix."""
FIELDS = frozenset(["solved", "by", "both", "right", "left", "alone", "loss"])


@dataclass(frozen=True, eq=False)
class Form:
    """One entry: formulas over the parts of the matrix, in the language, and the largest `loss` at which they hold."""

    name: str
    where: tuple[str, ...]
    formulas: Mapping[str, str]
    operations: Mapping[str, str]
    most: float
    most_of_several: float

    def limit(self, split: Split) -> float:
        """Return the largest loss at which the formulas hold."""
        return self.most if split.terms == 1 else self.most_of_several

    def built(self, formula: str, split: Split, **others: Node) -> Node:
        """Return a formula of the entry over the parts of a matrix, and over `others`."""
        bound = {"b": split.base, "U": split.left, "C": split.middle, "V": split.right, **others}
        shapes = tuple((name, node.shape) for name, node in bound.items())
        template, symbols = _template(formula, self.where, shapes)
        return substitute(template, {symbols[name]: node for name, node in bound.items()})


@lru_cache(maxsize=1024)
def _template(
    formula: str, where: tuple[str, ...], shapes: tuple[tuple[str, Shape], ...]
) -> tuple[Node, Mapping[str, Node]]:
    """Return a formula over symbols of these shapes, and the symbols."""
    symbols = {name: symbol(name, shape) for name, shape in shapes}
    (n, k), (_, last) = symbols["U"].shape, symbols["V"].shape
    sizes: dict[str, Size] = {"n": n, "k": k, "l": last}
    return build_formula(formula, where, default_rulebook(), symbols, sizes=sizes), symbols


@dataclass(frozen=True, eq=False)
class Nonsingular:
    """Operations that have values at singular matrices, by inverses.

    `formulas` are by name for 0, 1, ... tangents E, over the matrix X. They hold up to the loss `most`.
    """

    formulas: Mapping[str, Sequence[str]]
    loss: str
    most: float

    def has(self, node: Node) -> bool:
        """Whether a node is such an operation, on one matrix and with no more tangents than the formulas have."""
        formulas = self.formulas.get(node.rule.name, ())
        return len(node.args) <= len(formulas) and not node.batches[0] and not node.params

    def written(self, node: Node) -> Node:
        """Return an operation by inverses."""
        formulas = self.formulas[node.rule.name]
        names = ("X", "E")[: len(node.args)]
        symbols = [symbol(name, node.args[0].shape) for name in names]
        template = build_formula(
            formulas[len(names) - 1], (), default_rulebook(), dict(zip(names, symbols, strict=True))
        )
        bound = {s: Batched(a, b) for s, a, b in zip(symbols, node.args, node.batches, strict=True)}
        made = instantiate(template, bound, {}, node.shape[: node.batch_rank])
        return made.node if len(made.batch) == node.batch_rank else node


@dataclass(frozen=True, eq=False)
class Table:
    """The entries: `bases` in the order of BASES, `nonsingular`, and `kronecker` for Kronecker products."""

    bases: tuple[Form, ...]
    nonsingular: Nonsingular
    kronecker: KroneckerForm


@cache
def forms(folder: Path) -> Table:
    """Return the entries of `low_rank.toml` in `folder`.

    Raises: RuleError for an entry that lacks a field.
    """
    table = tomllib.loads((folder / "low_rank.toml").read_text(encoding="utf-8"))
    further = _entry(table, "nonsingular", {"loss", "most"})
    fields = {field.name for field in dataclass_fields(KroneckerForm)}
    products = _entry(table, "kronecker", fields)
    operations = {name: tuple(value) for name, value in further.items() if name not in ("loss", "most")}
    return Table(
        _bases(table),
        Nonsingular(operations, str(further["loss"]), float(further["most"])),
        KroneckerForm(**{field: products[field] for field in fields}),
    )


def _entry(table: Mapping[str, Any], name: str, fields: Iterable[str]) -> Mapping[str, Any]:
    entry: Mapping[str, Any] = table.get(name, {})
    missing = sorted(field for field in fields if field not in entry)
    if missing:
        raise RuleError(f"codegen/low_rank.toml: [{name}] lacks {', '.join(missing)}")
    return entry


def _bases(table: Mapping[str, Any]) -> tuple[Form, ...]:
    found = []
    for name in BASES:
        entry = _entry(table, name, FIELDS | {"where", "operations", "most", "most_of_several"})
        formulas = {field: str(entry[field]) for field in FIELDS}
        found.append(
            Form(
                name,
                tuple(entry["where"]),
                formulas,
                dict(entry["operations"]),
                float(entry["most"]),
                float(entry["most_of_several"]),
            )
        )
    return tuple(found)
