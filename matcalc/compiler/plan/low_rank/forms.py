"""Reads `low_rank.toml`: what becomes of operations on a simple matrix plus one of low rank."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from matcalc.compiler.plan.low_rank.split import Split
from matcalc.errors import RuleError
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node, Shape
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import substitute

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


@cache
def forms(folder: Path) -> tuple[Form, ...]:
    """Return the entries of `low_rank.toml` in `folder`, in the order of BASES.

    Raises: RuleError for an entry that lacks a field.
    """
    table = tomllib.loads((folder / "low_rank.toml").read_text(encoding="utf-8"))
    found = []
    for name in BASES:
        entry = table.get(name, {})
        missing = sorted(
            field for field in FIELDS | {"where", "operations", "most", "most_of_several"} if field not in entry
        )
        if missing:
            raise RuleError(f"codegen/low_rank.toml: [{name}] lacks {', '.join(missing)}")
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
