"""Formulas over nodes that are there already: what calls, blocks and parts of Python objects mean.

They are syntax trees with leaves for the nodes, so that no name stands in for an object. Text is written only where
something is wrong, to show the place.
"""

from __future__ import annotations

from matcalc.errors import MatcalcError
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.language.syntax import Ast
from matcalc.language.write import placed
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.node import Node
from matcalc.tensor.sizes_from_shapes import Condition


def build_given(tree: Ast) -> tuple[Node, list[Condition]]:
    """Return the node of a tree over given nodes, and the conditions on sizes that are left open.

    Raises: ShapeError, UnknownName, NotSupported, with the place in the tree as it would be written.
    """
    conditions: list[Condition] = []
    try:
        node = build_formula(tree, (), default_rulebook(), {}, conditions=conditions, broadcasts=True, trusted=False)
        return node, conditions
    except MatcalcError as fault:
        raise _located(fault, tree) from None


def _located(fault: MatcalcError, tree: Ast) -> MatcalcError:
    """Return the fault of a tree with its place in the tree's text, which the same tree with places gives."""
    written, located = placed(tree)
    try:
        build_formula(located, (), default_rulebook(), {}, text=written, broadcasts=True, trusted=False)
    except MatcalcError as found:
        return found
    return fault
