r"""Gives lists their meaning: (a, b)^\top and [u^\top, v^\top]^\top are columns, [x_1, \dots]^\top has rows x_i."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from matcalc.language import syntax
from matcalc.language.latex.latex_scope import Reading, Scope, Value, fault, needed
from matcalc.language.syntax import Ast

COLUMN, ROW, BESIDE = "column", "row", "beside"
"""The kinds of lists: transposed, not transposed, concatenated."""


def stack(reading: Reading, node: Ast, scope: Scope) -> Value:
    """Return the transpose of values side by side: numbers and rows are one column, matrices are below one another.

    Raises: ParseError for vectors, of which a transposed list is a matrix in some papers and one column in others.
    """
    cells = [needed(reading, x) for x in node.args]
    kinds = {x.kind for x in cells}
    if node.value == BESIDE:
        return _concatenated(cells, node)
    if kinds <= {"scalar", "row"}:
        turned = [x.tree if x.kind == "scalar" else syntax.transposed(cast(Ast, x.tree)) for x in cells]
        rows = tuple(Ast("row", (cast(Ast, x),), None, node.span) for x in turned)
        return Value(Ast("block", rows, None, node.span), "vector")
    if "matrix" in kinds and kinds <= {"matrix", "vector"}:
        row = Ast("row", tuple(cast(Ast, x.tree) for x in cells), None, node.span)
        return Value(Ast("transpose", (Ast("block", (row,), None, node.span),), None, node.span, node.caret), "matrix")
    hint = r"write \begin{pmatrix} a \\ b \end{pmatrix} for one column, (a^\top, b^\top)^\top for the same"
    raise fault("this transposed list can be one column, or a matrix with these rows", node, hint)


def _concatenated(cells: Sequence[Value], node: Ast) -> Value:
    """Return vectors one below the other, and matrices beside one another, as features are concatenated.

    Raises: ParseError for other values.
    """
    kinds = {x.kind for x in cells}
    trees = [cast(Ast, x.tree) for x in cells]
    if kinds <= {"scalar", "vector"}:
        return Value(Ast("block", tuple(Ast("row", (x,), None, node.span) for x in trees), None, node.span), "vector")
    if kinds == {"matrix"}:
        return Value(Ast("block", (Ast("row", tuple(trees), None, node.span),), None, node.span), "matrix")
    raise fault("these values cannot be concatenated", node, "write a block matrix")


def listed(reading: Reading, node: Ast, scope: Scope) -> Value:
    r"""Return the vector of numbers, or the matrix of vectors x_1, \dots, x_n: of columns, or of rows if transposed."""
    form = needed(reading, node.args[0])
    entry = needed(reading, node.args[0].args[0].args[0])
    tree = cast(Ast, form.tree)
    turned = Ast("transpose", (tree,), None, node.span, node.caret)
    if entry.kind == "scalar":
        return Value(tree, "vector")
    if entry.kind == "vector":
        return Value(tree if node.value == COLUMN else turned, "matrix")
    if entry.kind == "row" and node.value == COLUMN:
        return Value(syntax.call(reading.names.roles["stacked_columns"], turned), "vector")
    raise fault(f"a list of values of the kind {entry.kind or 'unknown'}", node, "write the matrix by its entries")
