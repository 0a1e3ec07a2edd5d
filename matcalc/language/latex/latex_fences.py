r"""Reads fences in LaTeX with a meaning of their own: \langle a, b \rangle, rounded quotients, norms of a metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matcalc.language import syntax
from matcalc.language.latex.latex_scope import Reading, Value, fault, font_of, is_plain_number, key_of, needed, value
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_patterns import without_top
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


def bold_length(reading: Reading, node: Ast, operand: Value) -> Value | None:
    r"""Return the length |\mathbf{r}_i - \mathbf{r}_j| of a vector whose letters are bold, or numbers; else None.

    Bars around other letters of vectors can be absolute values of the entries, and around one name, |\mathbf{y}|, the
    number of its entries.
    """
    inner = unbraced(node.args[0])
    if node.value != "bar" or operand.kind not in ("vector", "row") or inner.head in ("letter", "accent", "script"):
        return None
    waiting, letters = [node.args[0]], []
    while waiting:
        one = waiting.pop()
        is_letter = one.head == "accent" or one.head == "letter"
        letters += [one] if is_letter else []
        waiting += [] if is_letter else one.args[:1] if one.head == "script" else one.args
    kinds = {
        reading.kind_of(x)
        for one in letters
        if font_of(one) != "bold"
        for x in reading.keys.get(key_of(one) or (), ("",))
    }
    if not kinds <= {"scalar"} or all(font_of(one) != "bold" for one in letters):
        return None
    assert operand.tree is not None
    return Value(replace(syntax.call(reading.names.roles["euclidean_length"], operand.tree), span=node.span), "scalar")


def metric_norm(
    reading: Reading, node: Ast, base: Ast, below: Ast, above: Sequence[tuple[str, Ast | None]]
) -> Value | None:
    r"""Return x' inv(S) x for \|x\|_{S^{-1}}^2; None for any other norm.

    The subscript S alone is read by nobody: it means x' S x in some papers and x' inv(S) x in others.
    """
    fence, metric = unbraced(base), unbraced(below)
    squared = above and above[0][1] is not None and is_plain_number(unbraced(above[0][1]))
    if fence.head != "fence" or fence.value != "double_bar" or len(fence.args) != 1 or metric.head != "script":
        return None
    inverse = [unbraced(x) for mark, x in without_top(metric)[1] if mark == "^" and x is not None]
    if len(inverse) != 1 or inverse[0].head != "chain" or inverse[0].value != ((-1,), True) or not squared:
        return None
    power, minus = unbraced(above[0][1]), unbraced(inverse[0].args[0])  # type: ignore[arg-type]
    operand, weight = needed(reading, fence.args[0]), needed(reading, metric)
    if power.value[0] != 2 or not is_plain_number(minus) or minus.value[0] != 1 or operand.kind != "vector":  # type: ignore[index]
        return None
    row = Ast("transpose", (operand.tree,), None, node.span, node.caret)  # type: ignore[arg-type]
    product = Ast("product", (row, weight.tree, operand.tree), ("*", "*"), node.span, node.caret)  # type: ignore[arg-type]
    return Value(product, "scalar")
