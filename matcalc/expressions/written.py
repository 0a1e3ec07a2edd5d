"""How a node is written where names are in scope: a syntax tree, its index names clear of them, and its LaTeX."""

from __future__ import annotations

from matcalc.formula.notation.write_node import formula_of
from matcalc.language.latex import latex
from matcalc.language.syntax import Ast
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.notations import latex_looks
from matcalc.tensor.node import Node
from matcalc.tensor.symbols import Names

KINDS = ("scalar", "vector", "matrix")


def formula_in(node: Node, names: Names) -> Ast:
    """Return the syntax tree of a node."""
    return formula_of(node, (*names.symbols, *names.size_names))


def latex_in(formula: Ast, names: Names) -> str:
    """Return a formula over the symbols of `names` as LaTeX."""
    kinds = {node.name: KINDS[min(node.rank, 2)] for node in names.symbols.values()}
    return latex(formula, kinds, latex_looks(default_rulebook()))
