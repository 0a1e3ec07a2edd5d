"""Reads the user's formulas (text, syntax trees, SymPy objects) as nodes with the symbols that they contain.

This module does not depend on `Expression`, which is constructed from its results.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from matcalc.errors import ShapeError
from matcalc.evidence.written.reference import Reference, of_text, of_tree
from matcalc.expressions.sympy_bridge import from_sympy as read_sympy
from matcalc.expressions.sympy_bridge import sizes_in, symbols_in
from matcalc.expressions.sympy_bridge.numbers import numbers_of
from matcalc.expressions.sympy_bridge.sympy_objects import is_sympy
from matcalc.formula.elaborate.equations import names_of
from matcalc.formula.elaborate.texts import elaborate
from matcalc.formula.inference.scope import Scope
from matcalc.language.declare import read_declarations, size_names
from matcalc.language.identifiers import shown
from matcalc.language.kinds import SIZE
from matcalc.language.syntax import Ast
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.raw_nodes import symbol
from matcalc.tensor.symbols import Names, declaration

NUMPY = "numpy"
"""The dialect whose text is also Python."""


class Meaning(NamedTuple):
    """The meaning of a formula: its node, its symbols, and whether it was written as a row.

    `reference` evaluates the formula as written, for comparison with results.
    """

    node: Node
    names: Names
    row: bool
    reference: Reference


def read_formulas(
    formulas: Sequence[object],
    declarations: str = "",
    dialect: str = "matrix",
    known: Mapping[str, Node] | None = None,
    sizes: Collection[str] = (),
    varied: Collection[str] | None = None,
) -> list[Meaning]:
    """Return the meanings of formulas that share one scope; it holds the symbols `known` and `sizes` from the start.

    `varied` are names for differentiation; the formulas are then read as scalars if possible.

    Raises: ParseError, ShapeError, UnknownName, NotSupported, with the text and the position.
    """
    if not formulas and not declarations:
        return []
    scope = dict(known or {})
    all_sizes = {*_sizes(formulas, declarations, scope), *sizes}
    scalars = {d.name for d in read_declarations(declarations) if d.kind == "scalar"}
    prepared = [_prepared(formula, scope, all_sizes, scalars) for formula in formulas]
    made = elaborate(
        prepared, declarations, default_rulebook(), dialect, _declared(scope, declarations), sorted(all_sizes), varied
    )
    found = []
    for formula, tree, node, row, conditions, parts in zip(
        formulas, made.trees, made.nodes, made.rows, made.conditions, made.parts, strict=True
    ):
        names = replace(_names_in(tree, made.scope), conditions=conditions, parts=parts)
        is_numpy = dialect == NUMPY
        written = of_text(tree, is_numpy) if isinstance(formula, str) else of_tree(tree, is_numpy, is_numpy)
        if is_sympy(formula):
            names = replace(names, sympy_symbols=symbols_in(formula))
            written = replace(written, origin=partial(numbers_of, formula))
        found.append(Meaning(node, names, row, written))
    return found


def _sizes(formulas: Sequence[object], declarations: str, known: Mapping[str, Node]) -> set[str]:
    """Return the names that are sizes in some SymPy formula, in the declarations or in known symbols."""
    theirs = [f for f in formulas if is_sympy(f)]
    if not theirs:
        return set()
    listed = read_declarations(declarations)
    declared = {name for d in listed for name in ((d.name,) if d.kind == SIZE else size_names(d))}
    scalars = {d.name for d in listed if d.kind == "scalar"}
    shapes = {name for node in known.values() for size in node.shape for name in size.names}
    return declared.union(shapes, *(sizes_in(formula, scalars) for formula in theirs))


def _prepared(formula: object, known: dict[str, Node], sizes: set[str], scalars: set[str]) -> str | Ast:
    """Return the tree or text of a formula; add the symbols of a SymPy object to `known`, by name."""
    if isinstance(formula, (str, Ast)):
        return formula
    if not is_sympy(formula):
        raise ShapeError(f"{shown(formula)} is no formula: pass text, an expression or a SymPy object")
    tree, symbols = read_sympy(formula, sizes, scalars)
    for name, node in sorted(symbols.items()):
        known[name] = same_symbol(node, known.get(name, node))
    return tree


def same_symbol(theirs: Node, known: Node) -> Node:
    """Return the symbol for a SymPy symbol; a known one of its shape may have facts that SymPy lacks.

    Raises: ShapeError for two shapes or two sets of facts.
    """
    if theirs is known or (theirs.shape == known.shape and not theirs.data[1]):
        return known
    if theirs.shape == known.shape and not known.data[1]:
        return theirs
    raise ShapeError(f"{known.name} is declared twice: {declaration(known)} and {declaration(theirs)}")


def _declared(known: dict[str, Node], declarations: str) -> dict[str, Node]:
    """Return known symbols in the order of the declarations; those without facts get the declared ones."""
    if not known:
        return known
    facts = {d.name: d.facts for d in read_declarations(declarations) if d.name in known}
    found = {name: _with_facts(known[name], facts[name]) for name in facts}
    return {**found, **{name: node for name, node in known.items() if name not in found}}


def _with_facts(node: Node, facts: Sequence[str]) -> Node:
    return node if node.data[1] else symbol(node.name, node.shape, facts)


def _names_in(tree: Ast, scope: Scope) -> Names:
    """Return the names in scope, without those only solved for; `written` are the names in the formula."""
    free, bound = names_of(tree, default_rulebook())
    written = tuple(n for n in dict.fromkeys(free) if n in scope.symbols)
    remaining = {n: s for n, s in scope.symbols.items() if n not in bound or n in written}
    return Names(remaining, written, sizes=scope.sizes, undeclared=frozenset(remaining).intersection(scope.undeclared))
