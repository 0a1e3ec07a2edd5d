r"""Reads fences in LaTeX with a meaning of their own: \langle a, b \rangle, rounded quotients, norms of a metric."""

from __future__ import annotations

from dataclasses import replace

from matcalc.language import syntax
from matcalc.language.latex.latex_layout import unbraced
from matcalc.language.latex.latex_scope import Reading, Value, fault, needed, value
from matcalc.language.syntax import Ast


def inner_product(reading: Reading, node: Ast) -> Value:
    a, b = (needed(reading, x) for x in node.args)
    kinds = {a.kind, b.kind} - {""}
    if len(kinds) > 1:
        raise fault(f"a {a.kind} and a {b.kind} have no inner product", node)
    product = Ast("product", (a.tree, b.tree), (".*",), node.span, node.caret)  # type: ignore[arg-type]
    return Value(replace(syntax.call(reading.names.roles["total"], product), span=node.span), "scalar")


def is_rounded_quotient(reading: Reading, node: Ast) -> bool:
    """Whether a layout is a fraction of scalars, rounded down: also a size, if they are sizes."""
    if node.head != "fence" or node.value != "floor" or unbraced(node.args[0]).head != "frac":
        return False
    return all(value(reading, x).kind == "scalar" for x in unbraced(node.args[0]).args)


def rounded(reading: Reading, node: Ast) -> Value:
    if not is_rounded_quotient(reading, node):
        raise fault("this cannot be rounded", node, r"write \left\lfloor x \right\rfloor of one value")
    over, under = (needed(reading, x) for x in unbraced(node.args[0]).args)
    tree = Ast("product", (over.tree, under.tree), ("//",), node.span, node.caret)  # type: ignore[arg-type]
    return Value(tree, "scalar")
