"""Builds formulas over existing nodes: calls, blocks and parts of Python objects.

They are syntax trees whose leaves are the nodes, so that no object needs a name. Text is written only to show the
position of an error.
"""

from __future__ import annotations

from matcalc.errors import MatcalcError
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.language.syntax import Ast
from matcalc.language.write import placed
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.sizes_from_shapes import Condition


def build_tree(tree: Ast) -> tuple[Node, list[Condition]]:
    """Return the node of a tree over existing nodes, and the undecided conditions on sizes.

    Raises: ShapeError, UnknownName, NotSupported, with the position in the tree's text.
    """
    conditions: list[Condition] = []
    try:
        node = build_formula(tree, (), default_rulebook(), {}, conditions=conditions, broadcasts=True, trusted=False)
        return node, conditions
    except MatcalcError as fault:
        raise _located(fault, tree) from None


def _located(fault: MatcalcError, tree: Ast) -> MatcalcError:
    """Return the error of a tree with its position in the tree's text, by building a tree that has positions."""
    written, located = placed(tree)
    try:
        build_formula(located, (), default_rulebook(), {}, text=written, broadcasts=True, trusted=False)
    except MatcalcError as found:
        return found
    return fault
